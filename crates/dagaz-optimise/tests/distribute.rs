//! Maps are split around the products that they need: Core in, Core out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, insert_copies, raise_contractions, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    raise_contractions(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

/// A sum over points and matrices of the squares of a matrix applied to a difference; `{more}` is done with the difference too.
fn distances(more: &str, result: &str) -> String {
    format!(
        r"def f (n: i64, k: i64, d: i64, xs: [n][d]f64, qs: [k][d][d]f64, ms: [k][d]f64) : (s: f64) =
            let (s: f64) =
              reduce n (xs)
                pre \(x: [d]f64) : (f64) ->
                  let (ts: [k]f64) =
                    map k (qs, ms)
                      \(q: [d][d]f64, m: [d]f64) : (f64) ->
                        let (v: [d]f64) =
                          map d (x, m)
                            \(a: f64, b: f64) : (f64) ->
                              let (c: f64) = f64.sub a b
                              in (c)
                        let (y: [d]f64) =
                          map d (q)
                            \(row: [d]f64) : (f64) ->
                              let (z: f64) =
                                reduce d (row, v)
                                  pre \(a: f64, b: f64) : (f64) ->
                                    let (p: f64) = f64.mul a b
                                    in (p)
                                  op \(u: f64, w: f64) : (f64) ->
                                    let (t: f64) = f64.add u w
                                    in (t)
                                  neutral (0.0f64)
                              in (z)
                        let (e: f64) = y[0i64]
                        {more}
                        in ({result})
                  let (t: f64) = ts[1i64]
                  in (t)
                op \(u: f64, w: f64) : (f64) ->
                  let (t: f64) = f64.add u w
                  in (t)
                neutral (0.0f64)
            in (s)"
    )
}

#[test]
fn a_product_with_computed_vectors_leaves_both_maps() {
    check(
        &distances("", "e"),
        expect![[r#"
        def f (n_0: i64, k_1: i64, d_2: i64, xs_3: [n_0][d_2]f64, qs_4: [k_1][d_2][d_2]f64, ms_5: [k_1][d_2]f64) : (s_6: f64) =
          let (rows_48: [n_0][k_1][d_2]f64) =
            map n_0 (xs_3)
              \(x_39: [d_2]f64) : ([k_1][d_2]f64) ->
                let (rows_47: [k_1][d_2]f64) =
                  map k_1 (ms_5)
                    \(m_41: [d_2]f64) : ([d_2]f64) ->
                      let (v_46: [d_2]f64) =
                        map d_2 (x_39, m_41)
                          \(a_43: f64, b_44: f64) : (f64) ->
                            let (c_45: f64) = f64.sub a_43 b_44
                            in (c_45)
                      in (v_46)
                in (rows_47)
          let (product_49: [n_0][k_1][d_2]f64) = contract [n_0, k_1, d_2] sum [d_2] qs_4 (1, 2, 3) rows_48 (0, 1, 3)
          let (s_7: f64) =
            reduce n_0 (product_49)
              pre \(product_38: [k_1][d_2]f64) : (f64) ->
                let (ts_9: [k_1]f64) =
                  map k_1 (product_38)
                    \(product_30: [d_2]f64) : (f64) ->
                      let (e_25: f64) = product_30[0i64]
                      in (e_25)
                let (t_26: f64) = ts_9[1i64]
                in (t_26)
              op \(u_27: f64, w_28: f64) : (f64) ->
                let (t_29: f64) = f64.add u_27 w_28
                in (t_29)
              neutral (0.0f64)
          in (s_7)
    "#]],
    );
}

#[test]
fn what_both_halves_need_is_kept() {
    check(
        &distances("let (g: f64) = v[0i64]\n let (h: f64) = f64.mul e g", "h"),
        expect![[r#"
        def f (n_0: i64, k_1: i64, d_2: i64, xs_3: [n_0][d_2]f64, qs_4: [k_1][d_2][d_2]f64, ms_5: [k_1][d_2]f64) : (s_6: f64) =
          let (rows_50: [n_0][k_1][d_2]f64) =
            map n_0 (xs_3)
              \(x_41: [d_2]f64) : ([k_1][d_2]f64) ->
                let (rows_49: [k_1][d_2]f64) =
                  map k_1 (ms_5)
                    \(m_43: [d_2]f64) : ([d_2]f64) ->
                      let (v_48: [d_2]f64) =
                        map d_2 (x_41, m_43)
                          \(a_45: f64, b_46: f64) : (f64) ->
                            let (c_47: f64) = f64.sub a_45 b_46
                            in (c_47)
                      in (v_48)
                in (rows_49)
          let (product_51: [n_0][k_1][d_2]f64) = contract [n_0, k_1, d_2] sum [d_2] qs_4 (1, 2, 3) rows_50 (0, 1, 3)
          let (s_7: f64) =
            reduce n_0 (rows_50, product_51)
              pre \(rows_39: [k_1][d_2]f64, product_40: [k_1][d_2]f64) : (f64) ->
                let (ts_9: [k_1]f64) =
                  map k_1 (rows_39, product_40)
                    \(v_12: [d_2]f64, product_32: [d_2]f64) : (f64) ->
                      let (e_25: f64) = product_32[0i64]
                      let (g_26: f64) = v_12[0i64]
                      let (h_27: f64) = f64.mul e_25 g_26
                      in (h_27)
                let (t_28: f64) = ts_9[1i64]
                in (t_28)
              op \(u_29: f64, w_30: f64) : (f64) ->
                let (t_31: f64) = f64.add u_29 w_30
                in (t_31)
              neutral (0.0f64)
          in (s_7)
    "#]],
    );
}

#[test]
fn matrices_that_change_with_the_vectors_stay() {
    check(
        r"def f (n: i64, d: i64, qs: [n][d][d]f64, vs: [n][d]f64) : (s: [n]f64) =
            let (s: [n]f64) =
              map n (qs, vs)
                \(q: [d][d]f64, v: [d]f64) : (f64) ->
                  let (w: [d]f64) =
                    map d (v)
                      \(a: f64) : (f64) ->
                        let (c: f64) = f64.exp a
                        in (c)
                  let (y: [d]f64) = contract [d] sum [d] q (0, 1) w (1)
                  let (e: f64) = y[0i64]
                  in (e)
            in (s)",
        expect![[r#"
            def f (n_0: i64, d_1: i64, qs_2: [n_0][d_1][d_1]f64, vs_3: [n_0][d_1]f64) : (s_4: [n_0]f64) =
              let (s_5: [n_0]f64) =
                map n_0 (qs_2, vs_3)
                  \(q_6: [d_1][d_1]f64, v_7: [d_1]f64) : (f64) ->
                    let (w_8: [d_1]f64) =
                      map d_1 (v_7)
                        \(a_9: f64) : (f64) ->
                          let (c_10: f64) = f64.exp a_9
                          in (c_10)
                    let (y_11: [d_1]f64) = contract [d_1] sum [d_1] q_6 (0, 1) w_8 (1)
                    let (e_12: f64) = y_11[0i64]
                    in (e_12)
              in (s_5)
        "#]],
    );
}

#[test]
fn sums_of_outer_products_of_what_maps_compute_are_products_of_matrices() {
    check(
        r"def f (n: i64, d: i64, xs: [n][d]f64, c: f64) : (s: [d][d]f64) =
            let (outer: [n][d][d]f64) =
              map n (xs)
                \(x: [d]f64) : ([d][d]f64) ->
                  let (v: [d]f64) =
                    map d (x)
                      \(a: f64) : (f64) ->
                        let (b: f64) = f64.exp a
                        in (b)
                  let (o: [d][d]f64) =
                    map d (x)
                      \(a: f64) : ([d]f64) ->
                        let (b: f64) = f64.mul a c
                        let (row: [d]f64) =
                          map d (v)
                            \(e: f64) : (f64) ->
                              let (p: f64) = f64.mul e b
                              in (p)
                        in (row)
                  in (o)
            let (is: [d]i64) = iota i64 d 0i64 1i64
            let (ps: [n]i64) = iota i64 n 0i64 1i64
            let (s: [d][d]f64) =
              map d (is)
                \(i: i64) : ([d]f64) ->
                  let (row: [d]f64) =
                    map d (is)
                      \(j: i64) : (f64) ->
                        let (z: f64) =
                          reduce n (ps)
                            pre \(p: i64) : (f64) ->
                              let (e: f64) = outer[p, i, j] certified
                              in (e)
                            op \(u: f64, w: f64) : (f64) ->
                              let (t: f64) = f64.add u w
                              in (t)
                            neutral (0.0f64)
                        in (z)
                  in (row)
            in (s)",
        expect![[r#"
            def f (n_0: i64, d_1: i64, xs_2: [n_0][d_1]f64, c_3: f64) : (s_4: [d_1][d_1]f64) =
              let (factor_28: [n_0][d_1]f64, factor_30: [n_0][d_1]f64) =
                map n_0 (xs_2)
                  \(x_6: [d_1]f64) : ([d_1]f64, [d_1]f64) ->
                    let (v_7: [d_1]f64) =
                      map d_1 (x_6)
                        \(a_8: f64) : (f64) ->
                          let (b_9: f64) = f64.exp a_8
                          in (b_9)
                    let (factor_29: [d_1]f64) =
                      map d_1 (x_6)
                        \(a_11: f64) : (f64) ->
                          let (b_12: f64) = f64.mul a_11 c_3
                          in (b_12)
                    in (v_7, factor_29)
              let (product_34: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] factor_28 (2, 1) factor_30 (2, 0)
              in (product_34)
        "#]],
    );
}
