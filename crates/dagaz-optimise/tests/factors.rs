//! Factors that a map need not multiply in each of its iterations.

mod common;

use dagaz_optimise::{eliminate_dead_code, insert_copies, raise_contractions, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    common::check(&[raise_contractions, simplify, eliminate_dead_code, insert_copies], input, expected);
}

/// All columns with all columns, with a weight for each row: `body` is what is added up.
fn columns(body: &str) -> String {
    format!(
        r"def f (n: i64, d: i64, x: [d][n]f64, w: [n]f64) : (z: [d][d]f64) =
            let (z: [d][d]f64) =
              map d (x)
                \(c1: [n]f64) : ([d]f64) ->
                  let (zs: [d]f64) =
                    map d (x)
                      \(c2: [n]f64) : (f64) ->
                        let (s: f64) =
                          reduce n (c1, w, c2)
                            pre \(a: f64, b: f64, c: f64) : (f64) ->
                              {body}
                            op \(u: f64, v: f64) : (f64) ->
                              let (t: f64) = f64.add u v
                              in (t)
                            neutral (0.0f64)
                        in (s)
                  in (zs)
            in (z)"
    )
}

#[test]
fn weights_of_rows() {
    check(
        &columns("let (p: f64) = f64.mul a b let (q: f64) = f64.mul p c in (q)"),
        expect![[r#"
            def f (n_0: i64, d_1: i64, x_2: [d_1][n_0]f64, w_3: [n_0]f64) : (z_4: [d_1][d_1]f64) =
              let (rows_24: [d_1][n_0]f64) =
                map d_1 (x_2)
                  \(c1_6: [n_0]f64) : ([n_0]f64) ->
                    let (factors_21: [n_0]f64) =
                      map n_0 (c1_6, w_3)
                        \(a_18: f64, b_19: f64) : (f64) ->
                          let (mul_20: f64) = f64.mul a_18 b_19
                          in (mul_20)
                    in (factors_21)
              let (z_5: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] rows_24 (0, 2) x_2 (1, 2)
              in (z_5)
        "#]],
    );
}

#[test]
fn factors_in_another_order_and_functions_of_elements() {
    check(
        &columns(
            "let (p: f64) = f64.mul a c let (e: f64) = f64.sub b 1.0f64 let (q: f64) = f64.mul p e in (q)",
        ),
        expect![[r#"
            def f (n_0: i64, d_1: i64, x_2: [d_1][n_0]f64, w_3: [n_0]f64) : (z_4: [d_1][d_1]f64) =
              let (rows_26: [d_1][n_0]f64) =
                map d_1 (x_2)
                  \(c1_6: [n_0]f64) : ([n_0]f64) ->
                    let (factors_23: [n_0]f64) =
                      map n_0 (c1_6, w_3)
                        \(a_19: f64, b_20: f64) : (f64) ->
                          let (e_21: f64) = f64.sub b_20 1.0f64
                          let (mul_22: f64) = f64.mul a_19 e_21
                          in (mul_22)
                    in (factors_23)
              let (z_5: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] rows_26 (0, 2) x_2 (1, 2)
              in (z_5)
        "#]],
    );
}

#[test]
fn of_two_terms_one_has_two_factors() {
    check(
        &columns(
            "let (p: f64) = f64.mul a c let (q: f64) = f64.mul b p let (r: f64) = f64.mul b c
             let (t: f64) = f64.sub q r in (t)",
        ),
        expect![[r#"
            def f (n_0: i64, d_1: i64, x_2: [d_1][n_0]f64, w_3: [n_0]f64) : (z_4: [d_1][d_1]f64) =
              let (product_29: [d_1]f64) = contract [d_1] sum [n_0] w_3 (1) x_2 (0, 1)
              let (rows_36: [d_1][n_0]f64) =
                map d_1 (x_2)
                  \(c1_30: [n_0]f64) : ([n_0]f64) ->
                    let (factors_35: [n_0]f64) =
                      map n_0 (c1_30, w_3)
                        \(a_32: f64, b_33: f64) : (f64) ->
                          let (mul_34: f64) = f64.mul b_33 a_32
                          in (mul_34)
                    in (factors_35)
              let (product_37: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] rows_36 (0, 2) x_2 (1, 2)
              let (z_5: [d_1][d_1]f64) =
                map d_1 (product_37)
                  \(product_28: [d_1]f64) : ([d_1]f64) ->
                    let (zs_7: [d_1]f64) =
                      map d_1 (product_28, product_29)
                        \(product_25: f64, product_26: f64) : (f64) ->
                          let (sub_27: f64) = f64.sub product_25 product_26
                          in (sub_27)
                    in (zs_7)
              in (z_5)
        "#]],
    );
}

#[test]
fn two_factors_that_change_with_the_map_stay() {
    check(
        &columns(
            "let (e: f64) = f64.exp c let (p: f64) = f64.mul a b let (q: f64) = f64.mul p c
             let (r: f64) = f64.mul q e in (r)",
        ),
        expect![[r#"
            def f (n_0: i64, d_1: i64, x_2: [d_1][n_0]f64, w_3: [n_0]f64) : (z_4: [d_1][d_1]f64) =
              let (z_5: [d_1][d_1]f64) =
                map d_1 (x_2)
                  \(c1_6: [n_0]f64) : ([d_1]f64) ->
                    let (zs_7: [d_1]f64) =
                      map d_1 (x_2)
                        \(c2_8: [n_0]f64) : (f64) ->
                          let (s_9: f64) =
                            reduce n_0 (c1_6, w_3, c2_8)
                              pre \(a_10: f64, b_11: f64, c_12: f64) : (f64) ->
                                let (e_13: f64) = f64.exp c_12
                                let (p_14: f64) = f64.mul a_10 b_11
                                let (q_15: f64) = f64.mul p_14 c_12
                                let (r_16: f64) = f64.mul q_15 e_13
                                in (r_16)
                              op \(u_17: f64, v_18: f64) : (f64) ->
                                let (t_19: f64) = f64.add u_17 v_18
                                in (t_19)
                              neutral (0.0f64)
                          in (s_9)
                    in (zs_7)
              in (z_5)
        "#]],
    );
}

#[test]
fn what_may_fail_stays() {
    check(
        r"def f (n: i64, m: i64, x: [n]f64, is: [n]i64, y: [m][n]f64) : (z: [m]f64) =
            let (z: [m]f64) =
              map m (y)
                \(row: [n]f64) : (f64) ->
                  let (s: f64) =
                    reduce n (is, x, row)
                      pre \(i: i64, a: f64, c: f64) : (f64) ->
                        let (b: f64) = x[i]
                        let (p: f64) = f64.mul a b
                        let (q: f64) = f64.mul p c
                        in (q)
                      op \(u: f64, v: f64) : (f64) ->
                        let (t: f64) = f64.add u v
                        in (t)
                      neutral (0.0f64)
                  in (s)
            in (z)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, x_2: [n_0]f64, is_3: [n_0]i64, y_4: [m_1][n_0]f64) : (z_5: [m_1]f64) =
              let (z_6: [m_1]f64) =
                map m_1 (y_4)
                  \(row_7: [n_0]f64) : (f64) ->
                    let (s_8: f64) =
                      reduce n_0 (is_3, x_2, row_7)
                        pre \(i_9: i64, a_10: f64, c_11: f64) : (f64) ->
                          let (b_12: f64) = x_2[i_9]
                          let (p_13: f64) = f64.mul a_10 b_12
                          let (q_14: f64) = f64.mul p_13 c_11
                          in (q_14)
                        op \(u_15: f64, v_16: f64) : (f64) ->
                          let (t_17: f64) = f64.add u_15 v_16
                          in (t_17)
                        neutral (0.0f64)
                    in (s_8)
              in (z_6)
        "#]],
    );
}

#[test]
fn a_matrix_for_each_of_many() {
    // The products of an iteration of the outermost map are matrices already, and there is no need for all at once.
    check(
        r"def f (m: i64, n: i64, k: i64, v: [m][k]f64, x: [n][k]f64, y: [n][k]f64) : (z: [m][n][n]f64) =
            let (z: [m][n][n]f64) =
              map m (v)
                \(one: [k]f64) : ([n][n]f64) ->
                  let (zss: [n][n]f64) =
                    map n (x)
                      \(row: [k]f64) : ([n]f64) ->
                        let (zs: [n]f64) =
                          map n (y)
                            \(col: [k]f64) : (f64) ->
                              let (s: f64) =
                                reduce k (one, row, col)
                                  pre \(a: f64, b: f64, c: f64) : (f64) ->
                                    let (p: f64) = f64.mul a b
                                    let (q: f64) = f64.mul p c
                                    in (q)
                                  op \(u: f64, v: f64) : (f64) ->
                                    let (t: f64) = f64.add u v
                                    in (t)
                                  neutral (0.0f64)
                              let (r: f64) = f64.add s 1.0f64
                              in (r)
                        in (zs)
                  in (zss)
            in (z)",
        expect![[r#"
            def f (m_0: i64, n_1: i64, k_2: i64, v_3: [m_0][k_2]f64, x_4: [n_1][k_2]f64, y_5: [n_1][k_2]f64) : (z_6: [m_0][n_1][n_1]f64) =
              let (z_7: [m_0][n_1][n_1]f64) =
                map m_0 (v_3)
                  \(one_8: [k_2]f64) : ([n_1][n_1]f64) ->
                    let (rows_35: [n_1][k_2]f64) =
                      map n_1 (x_4)
                        \(row_29: [k_2]f64) : ([k_2]f64) ->
                          let (factors_34: [k_2]f64) =
                            map k_2 (one_8, row_29)
                              \(a_31: f64, b_32: f64) : (f64) ->
                                let (mul_33: f64) = f64.mul a_31 b_32
                                in (mul_33)
                          in (factors_34)
                    let (product_36: [n_1][n_1]f64) = contract [n_1, n_1] sum [k_2] rows_35 (0, 2) y_5 (1, 2)
                    let (zss_9: [n_1][n_1]f64) =
                      map n_1 (product_36)
                        \(product_28: [n_1]f64) : ([n_1]f64) ->
                          let (zs_11: [n_1]f64) =
                            map n_1 (product_28)
                              \(s_13: f64) : (f64) ->
                                let (r_22: f64) = f64.add s_13 1.0f64
                                in (r_22)
                          in (zs_11)
                    in (zss_9)
              in (z_7)
        "#]],
    );
}
