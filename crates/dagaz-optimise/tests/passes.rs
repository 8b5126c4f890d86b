//! Each pass as text: Core in, Core out. The result must verify and, where that is asked, copies are inserted before.

mod common;

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_optimise::{
    after_derivatives, eliminate_common_subexpressions, eliminate_dead_code, fuse_operations,
    hoist_invariants, insert_copies, nest_flat_maps, precompute_functions, read_rows, replace_by_scalars,
    simplify,
};
use expect_test::expect;

use common::check;

fn fused(program: &mut Program) {
    fuse_operations(program);
}

const CLEAN: &[fn(&mut Program)] = &[simplify, eliminate_dead_code];

#[test]
fn errors_stay() {
    check(
        CLEAN,
        r"def f (n: i64, m: i64, xs: [n]f64) : (r: i64) =
            let (a: i64) = i64.div 1i64 0i64
            let (b: f64) = xs[m]
            let (c: [m]i64) = iota i64 m 0i64 1i64
            let (d: [n]i64) = iota i64 n 0i64 1i64
            in (n)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64) : (r_3: i64) =
              let (a_4: i64) = i64.div 1i64 0i64
              let (b_5: f64) = xs_2[m_1]
              let (c_6: [m_1]i64) = iota i64 m_1 0i64 1i64
              in (n_0)
        "#]],
    );
}

#[test]
fn reads_of_known_arrays() {
    check(
        CLEAN,
        r"def f (n: i64, i: i64, x: f64, xss: [n][n]f64) : (a: f64, b: i64, c: f64, d: f64, e: f64) =
            let (r: [n][n]f64) = replicate [n, n] x
            let (a: f64) = r[i, i] certified
            let (s: [n]i64) = iota i64 n 5i64 2i64
            let (b: i64) = s[i] certified
            let (t: [n][n]f64) = rearrange (1, 0) xss
            let (c: f64) = t[i, 3i64] certified
            let (u: [n]f64) = slice xss [i, 0i64 :+ n * 1i64]
            let (d: f64) = u[2i64] certified
            let (v: [2]f64) = array f64 (x, c)
            let (e: f64) = v[1i64]
            in (a, b, c, d, e)",
        expect![[r#"
            def f (n_0: i64, i_1: i64, x_2: f64, xss_3: [n_0][n_0]f64) : (a_4: f64, b_5: i64, c_6: f64, d_7: f64, e_8: f64) =
              let (index_19: i64) = i64.mul i_1 2i64
              let (index_20: i64) = i64.add 5i64 index_19
              let (c_14: f64) = xss_3[3i64, i_1] certified
              let (d_16: f64) = xss_3[i_1, 2i64] certified
              in (x_2, index_20, c_14, d_16, c_14)
        "#]],
    );
}

#[test]
fn rows_that_no_update_has_changed_are_as_they_were_made() {
    check(
        CLEAN,
        r"def f (n: i64, i: i64, xs: [n]f64) : (a: [n]f64, b: f64, c: [n]f64, d: [n]f64, ys: [3][n]f64) =
            let (zeros: [3][n]f64) = replicate [3, n] 0.0f64
            let (one: [3][n]f64) = zeros with [1i64] = xs certified
            let (two: [3][n]f64) = one with [2i64] = xs certified
            let (a: [n]f64) = two[0i64] certified
            let (b: f64) = two[0i64, i] certified
            let (c: [n]f64) = two[1i64] certified
            let (d: [n]f64) = two[i] certified
            in (a, b, c, d, two)",
        expect![[r#"
            def f (n_0: i64, i_1: i64, xs_2: [n_0]f64) : (a_3: [n_0]f64, b_4: f64, c_5: [n_0]f64, d_6: [n_0]f64, ys_7: [3i64][n_0]f64) =
              let (zeros_8: [3i64][n_0]f64) = replicate [3i64, n_0] 0.0f64
              let (one_9: [3i64][n_0]f64) = zeros_8 with [1i64] = xs_2 certified
              let (two_10: [3i64][n_0]f64) = one_9 with [2i64] = xs_2 certified
              let (a_11: [n_0]f64) = replicate [n_0] 0.0f64
              let (c_13: [n_0]f64) = two_10[1i64] certified
              let (d_14: [n_0]f64) = two_10[i_1] certified
              in (a_11, 0.0f64, c_13, d_14, two_10)
        "#]],
    );
}

#[test]
fn branches_loops_and_maps_with_known_results() {
    check(
        CLEAN,
        r"def f (n: i64, c: bool, x: f64, xs: [n]f64) : (a: f64, b: f64, d: [n]f64, e: [n]f64) =
            let (a: f64, p: f64) = if c then
              let (y: f64) = f64.sin x
              in (x, y)
            else
              in (x, 0.0f64)
            let (b: f64, q: f64) = loop (s: f64 = p, t: f64 = x) for i: i64 < n do
              let (u: f64) = f64.mul s t
              in (u, t)
            let (r: [n]f64) = replicate [n] q
            let (d: [n]f64, e: [n]f64) = map n (xs, r) \(y: f64, z: f64) : (f64, f64) ->
              let (w: f64) = f64.mul y z
              in (w, y)
            in (a, b, d, e)",
        expect![[r#"
            def f (n_0: i64, c_1: bool, x_2: f64, xs_3: [n_0]f64) : (a_4: f64, b_5: f64, d_6: [n_0]f64, e_7: [n_0]f64) =
              let (p_9: f64) =
                if c_1 then
                  let (y_10: f64) = f64.sin x_2
                  in (y_10)
                else
                  in (0.0f64)
              let (b_11: f64) =
                loop (s_13: f64 = p_9) for i_15: i64 < n_0 do
                  let (u_16: f64) = f64.mul s_13 x_2
                  in (u_16)
              let (d_18: [n_0]f64) =
                map n_0 (xs_3)
                  \(y_20: f64) : (f64) ->
                    let (w_22: f64) = f64.mul y_20 x_2
                    in (w_22)
              in (x_2, b_11, d_18, xs_3)
        "#]],
    );
}

#[test]
fn dead_results_parameters_and_inputs() {
    check(
        &[eliminate_dead_code],
        r"def f (n: i64, xs: [n]f64, ys: [n]f64) : (a: [n]f64, b: f64) =
            let (a: [n]f64, c: [n]f64) = map n (xs, ys) \(x: f64, y: f64) : (f64, f64) ->
              let (p: f64) = f64.sin x
              let (q: f64) = f64.cos y
              in (p, q)
            let (b: f64, d: f64, e: f64) = loop (s: f64 = 0.0f64, t: f64 = 1.0f64, u: f64 = 2.0f64) for i: i64 < n do
              let (v: f64) = f64.add s 1.0f64
              let (w: f64) = f64.mul t u
              let (z: f64) = f64.add u t
              in (v, w, z)
            in (a, b)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64) : (a_3: [n_0]f64, b_4: f64) =
              let (a_5: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_7: f64) : (f64) ->
                    let (p_9: f64) = f64.sin x_7
                    in (p_9)
              let (b_11: f64) =
                loop (s_14: f64 = 0.0f64) for i_17: i64 < n_0 do
                  let (v_18: f64) = f64.add s_14 1.0f64
                  in (v_18)
              in (a_5, b_11)
        "#]],
    );
}

#[test]
fn common_expressions_across_scopes() {
    check(
        &[eliminate_common_subexpressions],
        r"def f (n: i64, x: f64, xs: [n]f64) : (a: f64, ys: [n]f64, zs: [n]f64, ws: [n]f64) =
            let (a: f64) = f64.sin x
            let (ys: [n]f64) = map n (xs) \(y: f64) : (f64) ->
              let (b: f64) = f64.sin x
              let (c: f64) = f64.mul b y
              in (c)
            let (zs: [n]f64) = map n (xs) \(z: f64) : (f64) ->
              let (d: f64) = f64.mul a z
              in (d)
            let (ws: [n]f64) = map n (xs) \(w: f64) : (f64) ->
              let (e: f64) = f64.mul w a
              in (e)
            in (a, ys, zs, ws)",
        expect![[r#"
            def f (n_0: i64, x_1: f64, xs_2: [n_0]f64) : (a_3: f64, ys_4: [n_0]f64, zs_5: [n_0]f64, ws_6: [n_0]f64) =
              let (a_7: f64) = f64.sin x_1
              let (ys_8: [n_0]f64) =
                map n_0 (xs_2)
                  \(y_9: f64) : (f64) ->
                    let (c_11: f64) = f64.mul a_7 y_9
                    in (c_11)
              let (ws_15: [n_0]f64) =
                map n_0 (xs_2)
                  \(w_16: f64) : (f64) ->
                    let (e_17: f64) = f64.mul w_16 a_7
                    in (e_17)
              in (a_7, ys_8, ys_8, ws_15)
        "#]],
    );
}

#[test]
fn elements_of_an_array_that_is_given_twice_are_the_same() {
    check(
        &[eliminate_common_subexpressions, eliminate_dead_code],
        r"def f (n: i64, xs: [n]f64) : (ys: [n]f64) =
            let (ys: [n]f64) = map n (xs, xs) \(x: f64, y: f64) : (f64) ->
              let (a: f64) = f64.sin x
              let (b: f64) = f64.sin y
              let (c: f64) = f64.mul a b
              in (c)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (ys_2: [n_0]f64) =
              let (ys_3: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_4: f64) : (f64) ->
                    let (a_6: f64) = f64.sin x_4
                    let (c_8: f64) = f64.mul a_6 a_6
                    in (c_8)
              in (ys_3)
        "#]],
    );
}

#[test]
fn what_is_shared_and_consumed_is_copied() {
    check(
        &[eliminate_common_subexpressions, insert_copies],
        r"def f (n: i64) : (a: [n]i64, b: [n]i64) =
            let (p: [n]i64) = iota i64 n 0i64 1i64
            let (a: [n]i64) = p with [0i64] = 1i64
            let (q: [n]i64) = iota i64 n 0i64 1i64
            let (b: [n]i64) = q with [1i64] = 2i64
            in (a, b)",
        expect![[r#"
            def f (n_0: i64) : (a_1: [n_0]i64, b_2: [n_0]i64) =
              let (p_3: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (copy_7: [n_0]i64) = copy p_3
              let (a_4: [n_0]i64) = copy_7 with [0i64] = 1i64
              let (b_6: [n_0]i64) = p_3 with [1i64] = 2i64
              in (a_4, b_6)
        "#]],
    );
}

#[test]
fn invariants_that_cannot_fail_move_out() {
    check(
        &[hoist_invariants],
        r"def f (n: i64, k: i64, x: f64, xs: [n]f64) : (ys: [n]f64) =
            let (ys: [n]f64) = map n (xs) \(y: f64) : (f64) ->
              let (a: f64) = f64.sin x
              let (b: i64) = i64.div 6i64 k
              let (c: [n]i64) = iota i64 n 0i64 1i64
              let (d: i64) = c[b]
              let (e: f64) = f64.mul a y
              in (e)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, x_2: f64, xs_3: [n_0]f64) : (ys_4: [n_0]f64) =
              let (a_7: f64) = f64.sin x_2
              let (c_9: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (ys_5: [n_0]f64) =
                map n_0 (xs_3)
                  \(y_6: f64) : (f64) ->
                    let (b_8: i64) = i64.div 6i64 k_1
                    let (d_10: i64) = c_9[b_8]
                    let (e_11: f64) = f64.mul a_7 y_6
                    in (e_11)
              in (ys_5)
        "#]],
    );
}

#[test]
fn maps_are_fused_into_what_takes_their_results() {
    check(
        &[fused, simplify],
        r"def f (n: i64, xs: [n]f64, ys: [n]f64) : (s: f64, zs: [n]f64, vs: [n]f64) =
            let (as: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (p: f64) = f64.sin x
              in (p)
            let (bs: [n]f64) = map n (as, ys) \(a: f64, y: f64) : (f64) ->
              let (q: f64) = f64.mul a y
              in (q)
            let (s: f64) = reduce n (bs) op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r) neutral (0.0f64)
            let (vs: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (t: f64) = f64.cos x
              in (t)
            let (zs: [n]f64) = map n (vs) \(v: f64) : (f64) ->
              let (u: f64) = f64.mul v 2.0f64
              in (u)
            in (s, zs, vs)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64) : (s_3: f64, zs_4: [n_0]f64, vs_5: [n_0]f64) =
              let (s_13: f64) =
                reduce n_0 (xs_1, ys_2)
                  pre \(x_7: f64, y_11: f64) : (f64) ->
                    let (p_8: f64) = f64.sin x_7
                    let (q_12: f64) = f64.mul p_8 y_11
                    in (q_12)
                  op \(p_14: f64, q_15: f64) : (f64) ->
                    let (r_16: f64) = f64.add p_14 q_15
                    in (r_16)
                  neutral (0.0f64)
              let (vs_17: [n_0]f64, zs_20: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_18: f64) : (f64, f64) ->
                    let (t_19: f64) = f64.cos x_18
                    let (u_22: f64) = f64.mul t_19 2.0f64
                    in (t_19, u_22)
              in (s_13, zs_20, vs_17)
        "#]],
    );
}

#[test]
fn arrays_that_a_loop_carries_have_rows_too() {
    check(
        &[read_rows, simplify, eliminate_dead_code],
        r"def f (n: i64, k: i64, xs: [n]f64) : (ys: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (ys: [n]f64) = loop (old: [n]f64 = xs) for s: i64 < k do
              let (new: [n]f64) = map n (is) \(i: i64) : (f64) ->
                let (x: f64) = old[i] certified
                let (y: f64) = f64.sin x
                in (y)
              in (new)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [n_0]f64) : (ys_3: [n_0]f64) =
              let (ys_5: [n_0]f64) =
                loop (old_6: [n_0]f64 = xs_2) for s_7: i64 < k_1 do
                  let (new_8: [n_0]f64) =
                    map n_0 (old_6)
                      \(old_12: f64) : (f64) ->
                        let (y_11: f64) = f64.sin old_12
                        in (y_11)
                  in (new_8)
              in (ys_5)
        "#]],
    );
}

#[test]
fn reads_at_the_number_of_the_iteration_are_rows() {
    check(
        &[read_rows, simplify, eliminate_dead_code],
        r"def f (n: i64, m: i64, xs: [n]f64, yss: [n][m]f64, zss: [m][n]f64) : (ws: [n][m]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (ws: [n][m]f64) = map n (is) \(i: i64) : ([m]f64) ->
              let (x: f64) = xs[i] certified
              let (w: [m]f64) = map m (js) \(j: i64) : (f64) ->
                let (y: f64) = yss[i, j] certified
                let (z: f64) = zss[j, i] certified
                let (a: f64) = f64.mul x y
                let (b: f64) = f64.mul a z
                in (b)
              in (w)
            in (ws)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, yss_3: [n_0][m_1]f64, zss_4: [m_1][n_0]f64) : (ws_5: [n_0][m_1]f64) =
              let (is_6: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (js_7: [m_1]i64) = iota i64 m_1 0i64 1i64
              let (ws_8: [n_0][m_1]f64) =
                map n_0 (is_6, xs_2, yss_3)
                  \(i_9: i64, xs_17: f64, yss_18: [m_1]f64) : ([m_1]f64) ->
                    let (w_11: [m_1]f64) =
                      map m_1 (js_7, yss_18)
                        \(j_12: i64, yss_19: f64) : (f64) ->
                          let (z_14: f64) = zss_4[j_12, i_9] certified
                          let (a_15: f64) = f64.mul xs_17 yss_19
                          let (b_16: f64) = f64.mul a_15 z_14
                          in (b_16)
                    in (w_11)
              in (ws_8)
        "#]],
    );
}

#[test]
fn the_whole_pipeline_on_a_shifted_read() {
    check(
        &[after_derivatives],
        r"def f (n: i64, cts: [n]f64) : (ys: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (base: [n]f64) = replicate [n] 0.0f64
            let (ys: [n]f64) = with_acc
              over [n] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [n] (f64)) : (acc [n] (f64)) ->
                let (out: acc [n] (f64)) = map n (is, cts, acc) \(i: i64, ct: f64, a: acc [n] (f64)) : (acc [n] (f64)) ->
                  let (c: bool) = i64.lt 0i64 i
                  let (b: acc [n] (f64)) = if c then
                    let (j: i64) = i64.sub i 1i64
                    let (d: acc [n] (f64)) = update_acc a [j] (ct)
                    in (d)
                  else
                    in (a)
                  in (b)
                in (out)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, cts_1: [n_0]f64) : (ys_2: [n_0]f64) =
              let (is_3: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (ys_5: [n_0]f64) =
                map n_0 (is_3)
                  \(q_19: i64) : (f64) ->
                    let (sub_20: i64) = i64.add q_19 1i64
                    let (lt_21: bool) = i64.lt sub_20 n_0
                    let (part_26: f64) =
                      if lt_21 then
                        let (c_23: bool) = i64.lt 0i64 sub_20
                        let (part_25: f64) =
                          if c_23 then
                            let (elem_24: f64) = cts_1[sub_20] certified
                            in (elem_24)
                          else
                            in (0.0f64)
                        in (part_25)
                      else
                        in (0.0f64)
                    in (part_26)
              in (ys_5)
        "#]],
    );
}

fn nested(program: &mut Program) {
    assert!(nest_flat_maps(program), "there are flat maps");
}

#[test]
fn maps_over_flattened_arrays_are_nests() {
    check(
        &[nested, simplify, eliminate_dead_code, fused, simplify],
        r"def f (n: i64, m: i64, k: i64, xss: [n][m]f64) : (yss: [n][m]f64, zs: [k]f64) =
            let (uss: [n][m]f64) = map n (xss) \(xs: [m]f64) : ([m]f64) ->
              let (us: [m]f64) = map m (xs) \(x: f64) : (f64) -> let (u: f64) = f64.exp x in (u)
              in (us)
            let (us: [k]f64) = reshape [k] uss
            let (ys: [k]f64, zs: [k]f64) = map k (us) \(u: f64) : (f64, f64) ->
              let (y: f64) = f64.mul u u
              let (z: f64) = f64.add u u
              in (y, z)
            let (yss: [n][m]f64) = reshape [n, m] ys
            in (yss, zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, xss_3: [n_0][m_1]f64) : (yss_4: [n_0][m_1]f64, zs_5: [k_2]f64) =
              let (ys_21: [n_0][m_1]f64, zs_22: [n_0][m_1]f64) =
                map n_0 (xss_3)
                  \(xs_7: [m_1]f64) : ([m_1]f64, [m_1]f64) ->
                    let (us_8: [m_1]f64) =
                      map m_1 (xs_7)
                        \(x_9: f64) : (f64) ->
                          let (u_10: f64) = f64.exp x_9
                          in (u_10)
                    let (row_19: [m_1]f64, row_20: [m_1]f64) =
                      map m_1 (us_8)
                        \(u_14: f64) : (f64, f64) ->
                          let (y_15: f64) = f64.mul u_14 u_14
                          let (z_16: f64) = f64.add u_14 u_14
                          in (y_15, z_16)
                    in (row_19, row_20)
              let (zs_13: [k_2]f64) = reshape [k_2] zs_22
              in (ys_21, zs_13)
        "#]],
    );
}

#[test]
fn maps_over_flattened_parameters_stay_flat() {
    let input = r"def f (n: i64, m: i64, k: i64, xss: [n][m]f64) : (ys: [k]f64) =
            let (xs: [k]f64) = reshape [k] xss
            let (ys: [k]f64) = map k (xs) \(x: f64) : (f64) -> let (y: f64) = f64.exp x in (y)
            in (ys)";
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    assert!(!nest_flat_maps(&mut program), "there is nothing to fuse with");
}

#[test]
fn functions_of_elements_are_computed_before_the_iteration_that_repeats_them() {
    check(
        &[precompute_functions, eliminate_dead_code],
        r"def f (n: i64, m: i64, k: i64, xs: [n]f64, yss: [k][m]f64) : (zss: [n][k]f64, ws: [n]f64) =
            let (zss: [n][k]f64, ws: [n]f64) = map n (xs) \(x: f64) : ([k]f64, f64) ->
              let (w: f64) = f64.exp x
              let (zs: [k]f64) = map k (yss) \(ys: [m]f64) : (f64) ->
                let (z: f64) = reduce m (ys)
                  pre \(y: f64) : (f64) ->
                    let (a: f64) = f64.neg y
                    let (b: f64) = f64.exp a
                    let (c: f64) = f64.add b b
                    let (d: f64) = f64.mul c x
                    let (e: f64) = f64.exp d
                    in (e)
                  op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                  neutral (0.0f64)
                in (z)
              in (zs, w)
            in (zss, ws)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, xs_3: [n_0]f64, yss_4: [k_2][m_1]f64) : (zss_5: [n_0][k_2]f64, ws_6: [n_0]f64) =
              let (b_28: [k_2][m_1]f64) =
                map k_2 (yss_4)
                  \(y_26: [m_1]f64) : ([m_1]f64) ->
                    let (row_27: [m_1]f64) =
                      map m_1 (y_26)
                        \(y_23: f64) : (f64) ->
                          let (a_24: f64) = f64.neg y_23
                          let (b_25: f64) = f64.exp a_24
                          in (b_25)
                    in (row_27)
              let (zss_7: [n_0][k_2]f64, ws_8: [n_0]f64) =
                map n_0 (xs_3)
                  \(x_9: f64) : ([k_2]f64, f64) ->
                    let (w_10: f64) = f64.exp x_9
                    let (zs_11: [k_2]f64) =
                      map k_2 (b_28)
                        \(b_29: [m_1]f64) : (f64) ->
                          let (z_13: f64) =
                            reduce m_1 (b_29)
                              pre \(b_16: f64) : (f64) ->
                                let (c_17: f64) = f64.add b_16 b_16
                                let (d_18: f64) = f64.mul c_17 x_9
                                let (e_19: f64) = f64.exp d_18
                                in (e_19)
                              op \(p_20: f64, q_21: f64) : (f64) ->
                                let (r_22: f64) = f64.add p_20 q_21
                                in (r_22)
                              neutral (0.0f64)
                          in (z_13)
                    in (zs_11, w_10)
              in (zss_7, ws_8)
        "#]],
    );
}

#[test]
fn functions_before_reductions_along_columns_are_maps_of_their_own() {
    check(
        &[precompute_functions, eliminate_dead_code],
        r"def f (n: i64, m: i64, xs: [n]f64, yss: [m][n]f64) : (zs: [n]f64) =
            let (is: [m]i64) = iota i64 m 0i64 1i64
            let (js: [n]i64) = iota i64 n 0i64 1i64
            let (zs: [n]f64) = map n (xs, js) \(x: f64, j: i64) : (f64) ->
              let (w: f64) = f64.exp x
              let (z: f64) = reduce m (is)
                pre \(i: i64) : (f64) ->
                  let (y: f64) = yss[i, j] certified
                  let (p: f64) = f64.mul w y
                  in (p)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              in (z)
            in (zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, yss_3: [m_1][n_0]f64) : (zs_4: [n_0]f64) =
              let (is_5: [m_1]i64) = iota i64 m_1 0i64 1i64
              let (js_6: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (w_20: [n_0]f64) =
                map n_0 (xs_2)
                  \(x_18: f64) : (f64) ->
                    let (w_19: f64) = f64.exp x_18
                    in (w_19)
              let (zs_7: [n_0]f64) =
                map n_0 (js_6, w_20)
                  \(j_9: i64, w_10: f64) : (f64) ->
                    let (z_11: f64) =
                      reduce m_1 (is_5)
                        pre \(i_12: i64) : (f64) ->
                          let (y_13: f64) = yss_3[i_12, j_9] certified
                          let (p_14: f64) = f64.mul w_10 y_13
                          in (p_14)
                        op \(p_15: f64, q_16: f64) : (f64) ->
                          let (r_17: f64) = f64.add p_15 q_16
                          in (r_17)
                        neutral (0.0f64)
                    in (z_11)
              in (zs_7)
        "#]],
    );
}

#[test]
fn small_arrays_in_loops_and_branches_are_scalars() {
    check(
        &[replace_by_scalars, simplify, eliminate_dead_code],
        r"def f (n: i64, c: bool, s: [2]f64) : (r: f64, w: [2]f64) =
            let (v: [2]f64, w: [2]f64) =
              loop (u: [2]f64 = s, t: [2]f64 = s) for i: i64 < n do
                let (x: f64) = u[0i64] certified
                let (y: f64) = u[1i64] certified
                let (z: f64) = f64.add x y
                let (o: [2]f64) = if c then
                    let (p: [2]f64) = array f64 (z, x)
                    in (p)
                  else
                    let (q: [2]f64) = u with [1i64] = z
                    in (q)
                let (a: [2]f64) = t with [0i64] = z
                let (b: [2]f64) = a with [1i64] = y
                in (o, b)
            let (r: f64) = v[1i64] certified
            in (r, w)",
        expect![[r#"
            def f (n_0: i64, c_1: bool, s_2: [2i64]f64) : (r_3: f64, w_4: [2i64]f64) =
              let (s_25: f64) = s_2[0i64] certified
              let (s_26: f64) = s_2[1i64] certified
              let (s_29: f64) = s_2[0i64] certified
              let (s_30: f64) = s_2[1i64] certified
              let (v_31: f64, v_32: f64, w_27: f64, w_28: f64) =
                loop (u_19: f64 = s_29, u_20: f64 = s_30, t_21: f64 = s_25, t_22: f64 = s_26) for i_9: i64 < n_0 do
                  let (z_12: f64) = f64.add u_19 u_20
                  let (o_23: f64, o_24: f64) =
                    if c_1 then
                      in (z_12, u_19)
                    else
                      in (u_19, z_12)
                  in (o_23, o_24, z_12, u_20)
              let (w_6: [2i64]f64) = array f64 (w_27, w_28)
              in (v_32, w_6)
        "#]],
    );
}

#[test]
fn components_of_folds_that_nobody_needs_go() {
    check(
        &[eliminate_dead_code],
        r"def f (n: i64, xs: [n]f64, ys: [n]f64, zs: [n]f64) : (a: f64, c: [n]f64) =
            let (a: f64, b: f64) =
              reduce n (xs, ys)
                op \(p: f64, q: f64, r: f64, s: f64) : (f64, f64) ->
                  let (t: f64) = f64.add p r
                  let (u: f64) = f64.mul q s
                  in (t, u)
                neutral (0.0f64, 1.0f64)
            let (c: [n]f64, d: [n]f64, e: [n]f64) =
              scan n (xs, ys, zs)
                pre \(x: f64, y: f64, z: f64) : (f64, f64, f64) ->
                  let (w: f64) = f64.mul x x
                  let (v: f64) = f64.mul z z
                  in (w, y, v)
                op \(p: f64, q: f64, k: f64, r: f64, s: f64, l: f64) : (f64, f64, f64) ->
                  let (t: f64) = f64.mul p s
                  let (u: f64) = f64.mul q s
                  let (m: f64) = f64.add k r
                  let (o: f64) = f64.add m l
                  in (t, u, o)
                neutral (0.0f64, 1.0f64, 0.0f64)
            in (a, c)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64, zs_3: [n_0]f64) : (a_4: f64, c_5: [n_0]f64) =
              let (a_6: f64) =
                reduce n_0 (xs_1)
                  op \(p_8: f64, r_10: f64) : (f64) ->
                    let (t_12: f64) = f64.add p_8 r_10
                    in (t_12)
                  neutral (0.0f64)
              let (c_14: [n_0]f64, d_15: [n_0]f64) =
                scan n_0 (xs_1, ys_2)
                  pre \(x_17: f64, y_18: f64) : (f64, f64) ->
                    let (w_20: f64) = f64.mul x_17 x_17
                    in (w_20, y_18)
                  op \(p_22: f64, q_23: f64, r_25: f64, s_26: f64) : (f64, f64) ->
                    let (t_28: f64) = f64.mul p_22 s_26
                    let (u_29: f64) = f64.mul q_23 s_26
                    in (t_28, u_29)
                  neutral (0.0f64, 1.0f64)
              in (a_6, c_14)
        "#]],
    );
}

#[test]
fn what_was_just_written_is_read_from_where_it_came_from() {
    // The rows come from outside of the loops, and nothing reads the state any more, which both loops only hand on.
    check(
        CLEAN,
        r"def f (n: i64, m: i64, k: i64, tape: [n][m][k]f64, start: [m][k]f64) : (r: f64) =
            let (state: [m][k]f64, total: f64) =
              loop (s: [m][k]f64 = start, t: f64 = 0.0f64) for i: i64 < n do
                let (end: [m][k]f64, sum: f64) =
                  loop (z: [m][k]f64 = s, u: f64 = t) for j: i64 < m do
                    let (row: [k]f64) = tape[i, j] certified
                    let (y: [m][k]f64) = z with [j] = row certified
                    let (a: f64) = y[j, 0i64] certified
                    let (v: f64) = f64.add u a
                    in (y, v)
                in (end, sum)
            in (total)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, tape_3: [n_0][m_1][k_2]f64, start_4: [m_1][k_2]f64) : (r_5: f64) =
              let (total_7: f64) =
                loop (t_9: f64 = 0.0f64) for i_10: i64 < n_0 do
                  let (sum_12: f64) =
                    loop (u_14: f64 = t_9) for j_15: i64 < m_1 do
                      let (a_18: f64) = tape_3[i_10, j_15, 0i64] certified
                      let (v_19: f64) = f64.add u_14 a_18
                      in (v_19)
                  in (sum_12)
              in (total_7)
        "#]],
    );
}

#[test]
fn a_row_made_here_is_read_where_it_was_put() {
    check(
        CLEAN,
        r"def f (m: i64, k: i64, i: i64, z: [m][k]f64, x: f64) : (y: [m][k]f64, a: f64, b: f64) =
            let (row: [k]f64) = scratch f64 [k]
            let (made: [k]f64) = row with [0i64] = x certified
            let (b: f64) = made[0i64] certified
            let (y: [m][k]f64) = z with [i] = made certified
            let (a: f64) = y[i, 1i64] certified
            in (y, a, b)",
        expect![[r#"
            def f (m_0: i64, k_1: i64, i_2: i64, z_3: [m_0][k_1]f64, x_4: f64) : (y_5: [m_0][k_1]f64, a_6: f64, b_7: f64) =
              let (row_8: [k_1]f64) = scratch f64 [k_1]
              let (made_9: [k_1]f64) = row_8 with [0i64] = x_4 certified
              let (y_11: [m_0][k_1]f64) = z_3 with [i_2] = made_9 certified
              let (a_12: f64) = y_11[i_2, 1i64] certified
              in (y_11, a_12, x_4)
        "#]],
    );
}
