//! Sums of what products give become products with sums: Core in, Core out.

mod common;

use dagaz_optimise::{eliminate_dead_code, insert_copies, raise_contractions, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    common::check(&[raise_contractions, simplify, eliminate_dead_code, insert_copies], input, expected);
}

/// A program that makes a product, `p`, of which the given text computes `z`.
fn with_product(left: &str, right: &str, rest: &str) -> String {
    format!(
        r"def f (b: i64, n: i64, m: i64, k: i64, c: f64, x: {left}, y: {right}) : (z: [n]f64) =
            {rest}
            in (z)"
    )
}

#[test]
fn along_the_last_dimension() {
    check(
        &with_product(
            "[n][k]f64",
            "[m][k]f64",
            r"let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) y (1, 2)
              let (z: [n]f64) =
                map n (p)
                  \(row: [m]f64) : (f64) ->
                    let (s: f64) =
                      reduce m (row)
                        pre \(e: f64) : (f64) ->
                          let (d: f64) = f64.neg e
                          let (g: f64) = f64.mul d c
                          in (g)
                        op \(u: f64, v: f64) : (f64) ->
                          let (w: f64) = f64.add u v
                          in (w)
                        neutral (0.0f64)
                    let (r: f64) = f64.sqrt s
                    in (r)",
        ),
        expect![[r#"
            def f (b_0: i64, n_1: i64, m_2: i64, k_3: i64, c_4: f64, x_5: [n_1][k_3]f64, y_6: [m_2][k_3]f64) : (z_7: [n_1]f64) =
              let (iota_20: [m_2]i64) = iota i64 m_2 0i64 1i64
              let (iota_21: [k_3]i64) = iota i64 k_3 0i64 1i64
              let (sums_29: [k_3]f64) =
                map k_3 (iota_21)
                  \(column_22: i64) : (f64) ->
                    let (sum_28: f64) =
                      reduce_comm m_2 (iota_20)
                        pre \(row_23: i64) : (f64) ->
                          let (elem_24: f64) = y_6[row_23, column_22] certified
                          in (elem_24)
                        op \(x_25: f64, y_26: f64) : (f64) ->
                          let (z_27: f64) = f64.add x_25 y_26
                          in (z_27)
                        neutral (0.0f64)
                    in (sum_28)
              let (product_31: [n_1]f64) = contract [n_1] sum [k_3] x_5 (0, 1) sums_29 (1)
              let (z_9: [n_1]f64) =
                map n_1 (product_31)
                  \(row_10: f64) : (f64) ->
                    let (d_13: f64) = f64.neg row_10
                    let (g_14: f64) = f64.mul d_13 c_4
                    let (r_18: f64) = f64.sqrt g_14
                    in (r_18)
              in (z_9)
        "#]],
    );
}

#[test]
fn in_maps_of_maps() {
    check(
        r"def f (b: i64, n: i64, m: i64, k: i64, x: [b][n][k]f64, y: [b][k][m]f64) : (z: [b][n]f64) =
            let (p: [b][n][m]f64) = contract [b, n, m] sum [k] x (0, 1, 3) y (0, 3, 2)
            let (z: [b][n]f64) =
              map b (p)
                \(matrix: [n][m]f64) : ([n]f64) ->
                  let (zs: [n]f64) =
                    map n (matrix)
                      \(row: [m]f64) : (f64) ->
                        let (s: f64) =
                          reduce m (row)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (zs)
            in (z)",
        expect![[r#"
            def f (b_0: i64, n_1: i64, m_2: i64, k_3: i64, x_4: [b_0][n_1][k_3]f64, y_5: [b_0][k_3][m_2]f64) : (z_6: [b_0][n_1]f64) =
              let (sums_23: [b_0][k_3]f64) =
                map b_0 (y_5)
                  \(row_16: [k_3][m_2]f64) : ([k_3]f64) ->
                    let (sums_22: [k_3]f64) =
                      map k_3 (row_16)
                        \(row_17: [m_2]f64) : (f64) ->
                          let (sum_21: f64) =
                            reduce_comm m_2 (row_17)
                              op \(x_18: f64, y_19: f64) : (f64) ->
                                let (z_20: f64) = f64.add x_18 y_19
                                in (z_20)
                              neutral (0.0f64)
                          in (sum_21)
                    in (sums_22)
              let (product_24: [b_0][n_1]f64) = contract [b_0, n_1] sum [k_3] x_4 (0, 1, 2) sums_23 (0, 2)
              in (product_24)
        "#]],
    );
}

#[test]
fn along_the_first_dimension() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, y: [m][k]f64) : (z: [m]f64) =
            let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) y (1, 2)
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (z: [m]f64) =
              map m (js)
                \(j: i64) : (f64) ->
                  let (s: f64) =
                    reduce n (is)
                      pre \(i: i64) : (f64) ->
                        let (e: f64) = p[i, j] certified
                        in (e)
                      op \(u: f64, v: f64) : (f64) ->
                        let (w: f64) = f64.add u v
                        in (w)
                      neutral (0.0f64)
                  in (s)
            in (z)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, y_4: [m_1][k_2]f64) : (z_5: [m_1]f64) =
              let (iota_18: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (iota_19: [k_2]i64) = iota i64 k_2 0i64 1i64
              let (sums_27: [k_2]f64) =
                map k_2 (iota_19)
                  \(column_20: i64) : (f64) ->
                    let (sum_26: f64) =
                      reduce_comm n_0 (iota_18)
                        pre \(row_21: i64) : (f64) ->
                          let (elem_22: f64) = x_3[row_21, column_20] certified
                          in (elem_22)
                        op \(x_23: f64, y_24: f64) : (f64) ->
                          let (z_25: f64) = f64.add x_23 y_24
                          in (z_25)
                        neutral (0.0f64)
                    in (sum_26)
              let (product_29: [m_1]f64) = contract [m_1] sum [k_2] sums_27 (1) y_4 (0, 1)
              in (product_29)
        "#]],
    );
}

#[test]
fn along_the_first_of_three_dimensions() {
    check(
        r"def f (b: i64, n: i64, m: i64, k: i64, x: [b][n][k]f64, y: [m][k]f64) : (z: [n][m]f64) =
            let (p: [b][n][m]f64) = contract [b, n, m] sum [k] x (0, 1, 3) y (2, 3)
            let (bs: [b]i64) = iota i64 b 0i64 1i64
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (z: [n][m]f64) =
              map n (is)
                \(i: i64) : ([m]f64) ->
                  let (zs: [m]f64) =
                    map m (js)
                      \(j: i64) : (f64) ->
                        let (s: f64) =
                          reduce b (bs)
                            pre \(l: i64) : (f64) ->
                              let (e: f64) = p[l, i, j] certified
                              in (e)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (zs)
            in (z)",
        expect![[r#"
            def f (b_0: i64, n_1: i64, m_2: i64, k_3: i64, x_4: [b_0][n_1][k_3]f64, y_5: [m_2][k_3]f64) : (z_6: [n_1][m_2]f64) =
              let (mul_36: i64) = i64.mul n_1 k_3
              let (flat_37: [b_0][mul_36]f64) = reshape [b_0, mul_36] x_4
              let (iota_38: [b_0]i64) = iota i64 b_0 0i64 1i64
              let (iota_39: [mul_36]i64) = iota i64 mul_36 0i64 1i64
              let (sums_47: [mul_36]f64) =
                map mul_36 (iota_39)
                  \(column_40: i64) : (f64) ->
                    let (sum_46: f64) =
                      reduce_comm b_0 (iota_38)
                        pre \(row_41: i64) : (f64) ->
                          let (elem_42: f64) = flat_37[row_41, column_40] certified
                          in (elem_42)
                        op \(x_43: f64, y_44: f64) : (f64) ->
                          let (z_45: f64) = f64.add x_43 y_44
                          in (z_45)
                        neutral (0.0f64)
                    in (sum_46)
              let (sums_48: [n_1][k_3]f64) = reshape [n_1, k_3] sums_47
              let (product_49: [n_1][m_2]f64) = contract [n_1, m_2] sum [k_3] sums_48 (0, 2) y_5 (1, 2)
              in (product_49)
        "#]],
    );
}

/// A square is no multiple.
#[test]
fn sums_of_functions_of_products_stay() {
    check(
        &with_product(
            "[n][k]f64",
            "[m][k]f64",
            r"let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) y (1, 2)
              let (z: [n]f64) =
                map n (p)
                  \(row: [m]f64) : (f64) ->
                    let (s: f64) =
                      reduce m (row)
                        pre \(e: f64) : (f64) ->
                          let (d: f64) = f64.mul e e
                          in (d)
                        op \(u: f64, v: f64) : (f64) ->
                          let (w: f64) = f64.add u v
                          in (w)
                        neutral (0.0f64)
                    in (s)",
        ),
        expect![[r#"
            def f (b_0: i64, n_1: i64, m_2: i64, k_3: i64, c_4: f64, x_5: [n_1][k_3]f64, y_6: [m_2][k_3]f64) : (z_7: [n_1]f64) =
              let (p_8: [n_1][m_2]f64) = contract [n_1, m_2] sum [k_3] x_5 (0, 2) y_6 (1, 2)
              let (z_9: [n_1]f64) =
                map n_1 (p_8)
                  \(row_10: [m_2]f64) : (f64) ->
                    let (s_11: f64) =
                      reduce m_2 (row_10)
                        pre \(e_12: f64) : (f64) ->
                          let (d_13: f64) = f64.mul e_12 e_12
                          in (d_13)
                        op \(u_14: f64, v_15: f64) : (f64) ->
                          let (w_16: f64) = f64.add u_14 v_15
                          in (w_16)
                        neutral (0.0f64)
                    in (s_11)
              in (z_9)
        "#]],
    );
}

/// Both operands have the dimension that is added up.
#[test]
fn sums_of_products_row_by_row_stay() {
    check(
        &with_product(
            "[m][n][k]f64",
            "[m][k]f64",
            r"let (p: [n][m]f64) = contract [n, m] sum [k] x (1, 0, 2) y (1, 2)
              let (z: [n]f64) =
                map n (p)
                  \(row: [m]f64) : (f64) ->
                    let (s: f64) =
                      reduce m (row)
                        op \(u: f64, v: f64) : (f64) ->
                          let (w: f64) = f64.add u v
                          in (w)
                        neutral (0.0f64)
                    in (s)",
        ),
        expect![[r#"
            def f (b_0: i64, n_1: i64, m_2: i64, k_3: i64, c_4: f64, x_5: [m_2][n_1][k_3]f64, y_6: [m_2][k_3]f64) : (z_7: [n_1]f64) =
              let (p_8: [n_1][m_2]f64) = contract [n_1, m_2] sum [k_3] x_5 (1, 0, 2) y_6 (1, 2)
              let (z_9: [n_1]f64) =
                map n_1 (p_8)
                  \(row_10: [m_2]f64) : (f64) ->
                    let (s_11: f64) =
                      reduce m_2 (row_10)
                        op \(u_12: f64, v_13: f64) : (f64) ->
                          let (w_14: f64) = f64.add u_12 v_13
                          in (w_14)
                        neutral (0.0f64)
                    in (s_11)
              in (z_9)
        "#]],
    );
}
