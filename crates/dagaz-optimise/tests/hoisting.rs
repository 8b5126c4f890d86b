//! Folds that leave iterations in which they are always the same.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::hoist_invariants;
use expect_test::{Expect, expect};

fn check(core: &str, expected: Expect) {
    let mut program = parse(core).expect("the program is Core");
    hoist_invariants(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

/// The sum of a row is the same for all columns, and so are all of them for all matrices.
#[test]
fn sums_leave_the_maps_that_they_do_not_depend_on() {
    check(
        r#"def f (k: i64, n: i64, m: i64, xss: [n][m]f64) : (ysss: [k][n][m]f64) =
            let (ns: [n]i64) = iota i64 n 0i64 1i64
            let (ms: [m]i64) = iota i64 m 0i64 1i64
            let (ysss: [k][n][m]f64) = map k ()
              \() : ([n][m]f64) ->
                let (yss: [n][m]f64) = map n (ns)
                  \(i: i64) : ([m]f64) ->
                    let (ys: [m]f64) = map m ()
                      \() : (f64) ->
                        let (s: f64) = reduce_comm m (ms)
                          pre \(p: i64) : (f64) ->
                            let (next: i64) = i64.add p i
                            let (j: i64) = i64.mod next m
                            let (x: f64) = xss[i, j] certified
                            in (x)
                          op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
                          neutral (0.0f64)
                        in (s)
                    in (ys)
                in (yss)
            in (ysss)"#,
        expect![[r#"
            def f (k_0: i64, n_1: i64, m_2: i64, xss_3: [n_1][m_2]f64) : (ysss_4: [k_0][n_1][m_2]f64) =
              let (ns_5: [n_1]i64) = iota i64 n_1 0i64 1i64
              let (ms_6: [m_2]i64) = iota i64 m_2 0i64 1i64
              let (yss_8: [n_1][m_2]f64) =
                map n_1 (ns_5)
                  \(i_9: i64) : ([m_2]f64) ->
                    let (s_11: f64) =
                      reduce_comm m_2 (ms_6)
                        pre \(p_12: i64) : (f64) ->
                          let (next_13: i64) = i64.add p_12 i_9
                          let (j_14: i64) = i64.mod next_13 m_2
                          let (x_15: f64) = xss_3[i_9, j_14] certified
                          in (x_15)
                        op \(a_16: f64, b_17: f64) : (f64) ->
                          let (c_18: f64) = f64.add a_16 b_17
                          in (c_18)
                        neutral (0.0f64)
                    let (ys_10: [m_2]f64) =
                      map m_2 ()
                        \() : (f64) ->
                          in (s_11)
                    in (ys_10)
              let (ysss_7: [k_0][n_1][m_2]f64) =
                map k_0 ()
                  \() : ([n_1][m_2]f64) ->
                    in (yss_8)
              in (ysss_7)
        "#]],
    );
}

/// The place exists only where there is an iteration.
#[test]
fn sums_of_what_may_not_exist_stay() {
    check(
        r#"def f (n: i64, m: i64, xss: [n][m]f64) : (ys: [n]f64) =
            let (ms: [m]i64) = iota i64 m 0i64 1i64
            let (ys: [n]f64) = map n ()
              \() : (f64) ->
                let (s: f64) = reduce_comm m (ms)
                  pre \(p: i64) : (f64) -> let (x: f64) = xss[0i64, p] certified in (x)
                  op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
                  neutral (0.0f64)
                in (s)
            in (ys)"#,
        expect![[r#"
            def f (n_0: i64, m_1: i64, xss_2: [n_0][m_1]f64) : (ys_3: [n_0]f64) =
              let (ms_4: [m_1]i64) = iota i64 m_1 0i64 1i64
              let (ys_5: [n_0]f64) =
                map n_0 ()
                  \() : (f64) ->
                    let (s_6: f64) =
                      reduce_comm m_1 (ms_4)
                        pre \(p_7: i64) : (f64) ->
                          let (x_8: f64) = xss_2[0i64, p_7] certified
                          in (x_8)
                        op \(a_9: f64, b_10: f64) : (f64) ->
                          let (c_11: f64) = f64.add a_9 b_10
                          in (c_11)
                        neutral (0.0f64)
                    in (s_6)
              in (ys_5)
        "#]],
    );
}

/// An array whose size is that of another one can be made anywhere. A read stays behind the check of its index, and an array whose
/// size may be negative behind the check that would have stopped the program before.
#[test]
fn only_what_cannot_fail_leaves_an_accumulation_in_front_of_its_checks() {
    check(
        r#"def f (n: i64, xs: [n]f64, i: i64, k: i64) : (hs: [n]f64, zs: [n]f64, x: f64, ys: [k]f64) =
            let (zeros: [n]f64) = replicate [n] 0.0f64
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (hs: [n]f64, zs: [n]f64, x: f64, ys: [k]f64) =
              with_acc
                over [n] (zeros)
                  op \(a: f64, b: f64) : (f64) ->
                    let (c: f64) = f64.add a b
                    in (c)
                  neutral (0.0f64)
                body \(h: acc [n] (f64)) : (acc [n] (f64), [n]f64, f64, [k]f64) ->
                  let (next: acc [n] (f64)) = map n (is, h)
                    \(j: i64, own: acc [n] (f64)) : (acc [n] (f64)) ->
                      let (low: bool) = i64.lt i j
                      let () = assert low ("too large")
                      let (added: acc [n] (f64)) = update_acc own [j] (1.0f64)
                      in (added)
                  let (zs: [n]f64) = replicate [n] 0.0f64
                  let (x: f64) = xs[i] certified
                  let (ys: [k]f64) = replicate [k] 0.0f64
                  in (next, zs, x, ys)
            in (hs, zs, x, ys)"#,
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, i_2: i64, k_3: i64) : (hs_4: [n_0]f64, zs_5: [n_0]f64, x_6: f64, ys_7: [k_3]f64) =
              let (zeros_8: [n_0]f64) = replicate [n_0] 0.0f64
              let (is_9: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (zs_23: [n_0]f64) = replicate [n_0] 0.0f64
              let (hs_10: [n_0]f64, zs_11: [n_0]f64, x_12: f64, ys_13: [k_3]f64) =
                with_acc
                  over [n_0] (zeros_8)
                    op \(a_14: f64, b_15: f64) : (f64) ->
                      let (c_16: f64) = f64.add a_14 b_15
                      in (c_16)
                    neutral (0.0f64)
                  body \(h_17: acc [n_0] (f64)) : (acc [n_0] (f64), [n_0]f64, f64, [k_3]f64) ->
                    let (next_18: acc [n_0] (f64)) =
                      map n_0 (is_9, h_17)
                        \(j_19: i64, own_20: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                          let (low_21: bool) = i64.lt i_2 j_19
                          let () = assert low_21 ("too large")
                          let (added_22: acc [n_0] (f64)) = update_acc own_20 [j_19] (1.0f64)
                          in (added_22)
                    let (x_24: f64) = xs_1[i_2] certified
                    let (ys_25: [k_3]f64) = replicate [k_3] 0.0f64
                    in (next_18, zs_23, x_24, ys_25)
              in (hs_10, zs_11, x_12, ys_13)
        "#]],
    );
}
