//! Accumulators that become maps, reductions and concatenations, and what leaves their scope: Core in, Core out.

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, hoist_invariants, read_rows, simplify, simplify_accumulators};
use expect_test::{Expect, expect};

fn check(passes: &[fn(&mut Program)], input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    passes.iter().for_each(|pass| pass(&mut program));
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

fn solve(program: &mut Program) {
    assert!(simplify_accumulators(program), "there are accumulators");
}

const SOLVE: &[fn(&mut Program)] = &[solve, simplify, eliminate_dead_code];

#[test]
fn updates_at_the_own_index_are_results() {
    check(
        SOLVE,
        r"def f (n: i64, xs: [n]f64, base: [n]f64) : (ys: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (ys: [n]f64) = with_acc
              over [n] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [n] (f64)) : (acc [n] (f64)) ->
                let (out: acc [n] (f64)) = map n (is, xs, acc) \(i: i64, x: f64, a: acc [n] (f64)) : (acc [n] (f64)) ->
                  let (y: f64) = f64.sin x
                  let (b: acc [n] (f64)) = update_acc a [i] (y)
                  in (b)
                in (out)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, base_2: [n_0]f64) : (ys_3: [n_0]f64) =
              let (iota_16: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (ys_5: [n_0]f64) =
                map n_0 (iota_16)
                  \(q_17: i64) : (f64) ->
                    let (elem_18: f64) = base_2[q_17] certified
                    let (elem_19: f64) = xs_1[q_17] certified
                    let (y_20: f64) = f64.sin elem_19
                    let (sum_21: f64) = f64.add elem_18 y_20
                    in (sum_21)
              in (ys_5)
        "#]],
    );
}

#[test]
fn expensive_values_are_handed_out_and_not_computed_again() {
    check(
        SOLVE,
        r"def f (n: i64, m: i64, xss: [n][m]f64, zs: [m]f64) : (ys: [m]f64) =
            let (is: [m]i64) = iota i64 m 0i64 1i64
            let (base: [m]f64) = replicate [m] 0.0f64
            let (ys: [m]f64) = with_acc
              over [m] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [m] (f64)) : (acc [m] (f64)) ->
                let (out: acc [m] (f64)) = map n (xss, acc) \(xs: [m]f64, a: acc [m] (f64)) : (acc [m] (f64)) ->
                  let (s: f64) = reduce m (xs) op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.mul p q in (r) neutral (1.0f64)
                  let (b: acc [m] (f64)) = map m (is, zs, a) \(i: i64, z: f64, c: acc [m] (f64)) : (acc [m] (f64)) ->
                    let (y: f64) = f64.mul s z
                    let (d: acc [m] (f64)) = update_acc c [i] (y)
                    in (d)
                  in (b)
                in (out)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xss_2: [n_0][m_1]f64, zs_3: [m_1]f64) : (ys_4: [m_1]f64) =
              let (s_29: [n_0]f64) =
                map n_0 (xss_2)
                  \(xs_13: [m_1]f64) : (f64) ->
                    let (s_15: f64) =
                      reduce m_1 (xs_13)
                        op \(p_16: f64, q_17: f64) : (f64) ->
                          let (r_18: f64) = f64.mul p_16 q_17
                          in (r_18)
                        neutral (1.0f64)
                    in (s_15)
              let (iota_25: [m_1]i64) = iota i64 m_1 0i64 1i64
              let (ys_7: [m_1]f64) =
                map m_1 (iota_25)
                  \(q_26: i64) : (f64) ->
                    let (iota_27: [n_0]i64) = iota i64 n_0 0i64 1i64
                    let (sum_37: f64) =
                      reduce_comm n_0 (iota_27)
                        pre \(p_28: i64) : (f64) ->
                          let (elem_31: f64) = s_29[p_28] certified
                          let (elem_32: f64) = zs_3[q_26] certified
                          let (y_33: f64) = f64.mul elem_31 elem_32
                          in (y_33)
                        op \(x_34: f64, y_35: f64) : (f64) ->
                          let (z_36: f64) = f64.add x_34 y_35
                          in (z_36)
                        neutral (0.0f64)
                    in (sum_37)
              in (ys_7)
        "#]],
    );
}

#[test]
fn updates_side_by_side_are_computed_once_and_concatenated() {
    check(
        &[solve, simplify, read_rows, simplify, eliminate_dead_code],
        r"def f (n: i64, xs: [n]f64) : (m: i64, ys: [m]f64, zs: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (m: i64) = i64.mul 2i64 n
            let (pair: [m]f64) = replicate [m] 0.0f64
            let (base: [n]f64) = replicate [n] 0.0f64
            let (ys: [m]f64, zs: [n]f64) = with_acc
              over [m] (pair)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              over [n] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(one: acc [m] (f64), two: acc [n] (f64)) : (acc [m] (f64), acc [n] (f64)) ->
                let (left: acc [m] (f64), right: acc [n] (f64)) = map n (is, xs, one, two)
                  \(i: i64, x: f64, a: acc [m] (f64), b: acc [n] (f64)) : (acc [m] (f64), acc [n] (f64)) ->
                  let (y: f64) = f64.exp x
                  let (u: f64) = f64.mul y x
                  let (v: f64) = f64.mul y y
                  let (w: f64) = f64.add y x
                  let (j: i64) = i64.add n i
                  let (c: acc [m] (f64)) = update_acc a [j] (u)
                  let (d: acc [m] (f64)) = update_acc c [i] (v)
                  let (e: acc [n] (f64)) = update_acc b [i] (w)
                  in (d, e)
                in (left, right)
            in (m, ys, zs)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (m_2: i64, ys_3: [m_2]f64, zs_4: [n_0]f64) =
              let (m_6: i64) = i64.mul 2i64 n_0
              let (pair_7: [m_6]f64) = replicate [m_6] 0.0f64
              let (v_35: [n_0]f64, u_41: [n_0]f64, w_47: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_22: f64) : (f64, f64, f64) ->
                    let (y_25: f64) = f64.exp x_22
                    let (u_26: f64) = f64.mul y_25 x_22
                    let (v_27: f64) = f64.mul y_25 y_25
                    let (w_28: f64) = f64.add y_25 x_22
                    in (v_27, u_26, w_28)
              let (ys_9: [m_6]f64) = concat (v_35, u_41)
              in (m_6, ys_9, w_47)
        "#]],
    );
}

#[test]
fn indices_that_depend_on_data_stay() {
    check(
        SOLVE,
        r"def f (n: i64, m: i64, ks: [n]i64, xs: [n]f64, base: [m]f64) : (ys: [m]f64) =
            let (ys: [m]f64) = with_acc
              over [m] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [m] (f64)) : (acc [m] (f64)) ->
                let (out: acc [m] (f64)) = map n (ks, xs, acc) \(k: i64, x: f64, a: acc [m] (f64)) : (acc [m] (f64)) ->
                  let (b: acc [m] (f64)) = update_acc a [k] (x)
                  in (b)
                in (out)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, ks_2: [n_0]i64, xs_3: [n_0]f64, base_4: [m_1]f64) : (ys_5: [m_1]f64) =
              let (ys_6: [m_1]f64) =
                with_acc
                  over [m_1] (base_4)
                    op \(p_7: f64, q_8: f64) : (f64) ->
                      let (r_9: f64) = f64.add p_7 q_8
                      in (r_9)
                    neutral (0.0f64)
                  body \(acc_10: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                    let (out_11: acc [m_1] (f64)) =
                      map n_0 (ks_2, xs_3, acc_10)
                        \(k_12: i64, x_13: f64, a_14: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                          let (b_15: acc [m_1] (f64)) = update_acc a_14 [k_12] (x_13)
                          in (b_15)
                    in (out_11)
              in (ys_6)
        "#]],
    );
}

#[test]
fn accumulators_that_zeros_are_added_to_go() {
    check(
        SOLVE,
        r"def f (n: i64, m: i64, ks: [n]i64, xs: [n]f64, base: [m]f64, others: [m]f64) : (ys: [m]f64, zs: [m]f64) =
            let (ys: [m]f64, zs: [m]f64) = with_acc
              over [m] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              over [m] (others)
                op \(p2: f64, q2: f64) : (f64) -> let (r2: f64) = f64.add p2 q2 in (r2)
                neutral (0.0f64)
              body \(acc: acc [m] (f64), other: acc [m] (f64)) : (acc [m] (f64), acc [m] (f64)) ->
                let (out: acc [m] (f64), last: acc [m] (f64)) =
                  map n (ks, xs, acc, other)
                    \(k: i64, x: f64, a: acc [m] (f64), o: acc [m] (f64)) : (acc [m] (f64), acc [m] (f64)) ->
                      let (b: acc [m] (f64)) = update_acc a [k] (x)
                      let (u: acc [m] (f64)) = update_acc o [k] (0.0f64)
                      in (b, u)
                in (out, last)
            in (ys, zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, ks_2: [n_0]i64, xs_3: [n_0]f64, base_4: [m_1]f64, others_5: [m_1]f64) : (ys_6: [m_1]f64, zs_7: [m_1]f64) =
              let (ys_8: [m_1]f64) =
                with_acc
                  over [m_1] (base_4)
                    op \(p_10: f64, q_11: f64) : (f64) ->
                      let (r_12: f64) = f64.add p_10 q_11
                      in (r_12)
                    neutral (0.0f64)
                  body \(acc_16: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                    let (out_18: acc [m_1] (f64)) =
                      map n_0 (ks_2, xs_3, acc_16)
                        \(k_20: i64, x_21: f64, a_22: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                          let (b_24: acc [m_1] (f64)) = update_acc a_22 [k_20] (x_21)
                          in (b_24)
                    in (out_18)
              in (ys_8, others_5)
        "#]],
    );
}

#[test]
fn accumulators_that_nobody_reads_go() {
    check(
        SOLVE,
        r"def f (n: i64, m: i64, ks: [n]i64, xs: [n]f64, base: [m]f64) : (zs: [n]f64) =
            let (ys: [m]f64, zs: [n]f64) = with_acc
              over [m] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [m] (f64)) : (acc [m] (f64), [n]f64) ->
                let (out: acc [m] (f64), vs: [n]f64) =
                  map n (ks, xs, acc) \(k: i64, x: f64, a: acc [m] (f64)) : (acc [m] (f64), f64) ->
                    let (b: acc [m] (f64)) = update_acc a [k] (x)
                    let (v: f64) = f64.sin x
                    in (b, v)
                in (out, vs)
            in (zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, ks_2: [n_0]i64, xs_3: [n_0]f64, base_4: [m_1]f64) : (zs_5: [n_0]f64) =
              let (vs_13: [n_0]f64) =
                map n_0 (xs_3)
                  \(x_15: f64) : (f64) ->
                    let (v_18: f64) = f64.sin x_15
                    in (v_18)
              in (vs_13)
        "#]],
    );
}

#[test]
fn what_has_nothing_to_do_with_accumulators_moves_out() {
    check(
        &[hoist_invariants, simplify, eliminate_dead_code],
        r"def f (n: i64, xs: [n]f64, is: [n]i64) : (s: [n]f64, w: [n]f64) =
            let (zeros: [n]f64) = replicate [n] 0.0f64
            let (s: [n]f64, w: [n]f64) =
              with_acc
                over [n] (zeros)
                  op \(x: f64, y: f64) : (f64) ->
                    let (z: f64) = f64.add x y
                    in (z)
                  neutral (0.0f64)
                body \(acc: acc [n] (f64)) : (acc [n] (f64), [n]f64) ->
                  let (w: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                    let (y: f64) = f64.sin x
                    in (y)
                  let (more: acc [n] (f64)) = map n (is, w, acc) \(i: i64, y: f64, a: acc [n] (f64)) : (acc [n] (f64)) ->
                    let (b: acc [n] (f64)) = update_acc a [i] (y)
                    in (b)
                  in (more, w)
            in (s, w)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, is_2: [n_0]i64) : (s_3: [n_0]f64, w_4: [n_0]f64) =
              let (zeros_5: [n_0]f64) = replicate [n_0] 0.0f64
              let (w_12: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_13: f64) : (f64) ->
                    let (y_14: f64) = f64.sin x_13
                    in (y_14)
              let (s_6: [n_0]f64) =
                with_acc
                  over [n_0] (zeros_5)
                    op \(x_8: f64, y_9: f64) : (f64) ->
                      let (z_10: f64) = f64.add x_8 y_9
                      in (z_10)
                    neutral (0.0f64)
                  body \(acc_11: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                    let (more_15: acc [n_0] (f64)) =
                      map n_0 (is_2, w_12, acc_11)
                        \(i_16: i64, y_17: f64, a_18: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                          let (b_19: acc [n_0] (f64)) = update_acc a_18 [i_16] (y_17)
                          in (b_19)
                    in (more_15)
              in (s_6, w_12)
        "#]],
    );
}
