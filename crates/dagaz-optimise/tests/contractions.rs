//! Sums of products become contractions: Core in, Core out.

mod common;

use dagaz_optimise::{eliminate_dead_code, insert_copies, raise_contractions, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    common::check(&[raise_contractions, simplify, eliminate_dead_code, insert_copies], input, expected);
}

#[test]
fn rows_and_columns() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, y: [k][m]f64) : (z: [n][m]f64) =
            let (t: [m][k]f64) = rearrange (1, 0) y
            let (z: [n][m]f64) =
              map n (x)
                \(row: [k]f64) : ([m]f64) ->
                  let (zs: [m]f64) =
                    map m (t)
                      \(col: [k]f64) : (f64) ->
                        let (s: f64) =
                          reduce k (row, col)
                            pre \(a: f64, b: f64) : (f64) ->
                              let (p: f64) = f64.mul a b
                              in (p)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (zs)
            in (z)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, y_4: [k_2][m_1]f64) : (z_5: [n_0][m_1]f64) =
              let (product_19: [n_0][m_1]f64) = contract [n_0, m_1] sum [k_2] x_3 (0, 2) y_4 (2, 1)
              in (product_19)
        "#]],
    );
}

#[test]
fn indices() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [k][n]f32, y: [k][m]f32) : (z: [n][m]f32) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (ps: [k]i64) = iota i64 k 0i64 1i64
            let (z: [n][m]f32) =
              map n (is)
                \(i: i64) : ([m]f32) ->
                  let (zs: [m]f32) =
                    map m (js)
                      \(j: i64) : (f32) ->
                        let (s: f32) =
                          reduce k (ps)
                            pre \(p: i64) : (f32) ->
                              let (a: f32) = x[p, i] certified
                              let (b: f32) = y[p, j] certified
                              let (c: f32) = f32.mul a b
                              in (c)
                            op \(u: f32, v: f32) : (f32) ->
                              let (w: f32) = f32.add u v
                              in (w)
                            neutral (0.0f32)
                        in (s)
                  in (zs)
            in (z)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [k_2][n_0]f32, y_4: [k_2][m_1]f32) : (z_5: [n_0][m_1]f32) =
              let (product_22: [n_0][m_1]f32) = contract [n_0, m_1] sum [k_2] x_3 (2, 0) y_4 (2, 1)
              in (product_22)
        "#]],
    );
}

#[test]
fn what_else_the_maps_do_stays() {
    check(
        r"def f (n: i64, m: i64, k: i64, c: [n]f64, x: [n][k]f64, y: [m][k]f64, z: [m][k]f64) : (r: [n][m]f64) =
            let (r: [n][m]f64) =
              map n (x, c)
                \(row: [k]f64, factor: f64) : ([m]f64) ->
                  let (rs: [m]f64) =
                    map m (y, z)
                      \(one: [k]f64, two: [k]f64) : (f64) ->
                        let (s: f64) =
                          reduce k (row, one, two)
                            pre \(a: f64, b: f64, d: f64) : (f64) ->
                              let (p: f64) = f64.mul a b
                              let (q: f64) = f64.mul factor p
                              let (t: f64) = f64.mul a d
                              let (e: f64) = f64.sub q t
                              in (e)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (1.0f64)
                        let (g: f64) = f64.tanh s
                        in (g)
                  in (rs)
            in (r)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, c_3: [n_0]f64, x_4: [n_0][k_2]f64, y_5: [m_1][k_2]f64, z_6: [m_1][k_2]f64) : (r_7: [n_0][m_1]f64) =
              let (product_33: [n_0][m_1]f64) = contract [n_0, m_1] sum [k_2] x_4 (0, 2) y_5 (1, 2)
              let (product_34: [n_0][m_1]f64) = contract [n_0, m_1] sum [k_2] x_4 (0, 2) z_6 (1, 2)
              let (r_8: [n_0][m_1]f64) =
                map n_0 (c_3, product_33, product_34)
                  \(factor_10: f64, product_31: [m_1]f64, product_32: [m_1]f64) : ([m_1]f64) ->
                    let (rs_11: [m_1]f64) =
                      map m_1 (product_31, product_32)
                        \(product_26: f64, product_29: f64) : (f64) ->
                          let (mul_27: f64) = f64.mul factor_10 product_26
                          let (add_28: f64) = f64.add 1.0f64 mul_27
                          let (sub_30: f64) = f64.sub add_28 product_29
                          let (g_25: f64) = f64.tanh sub_30
                          in (g_25)
                    in (rs_11)
              in (r_8)
        "#]],
    );
}

#[test]
fn products_with_vectors_become_one_with_a_matrix() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, w: [m][k]f64) : (r: [n][m]f64) =
            let (r: [n][m]f64) =
              map n (x)
                \(row: [k]f64) : ([m]f64) ->
                  let (e: [k]f64) =
                    map k (row)
                      \(a: f64) : (f64) ->
                        let (b: f64) = f64.exp a
                        in (b)
                  let (rs: [m]f64) =
                    map m (w)
                      \(own: [k]f64) : (f64) ->
                        let (s: f64) =
                          reduce k (e, own)
                            pre \(a: f64, b: f64) : (f64) ->
                              let (p: f64) = f64.mul a b
                              in (p)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (rs)
            in (r)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, w_4: [m_1][k_2]f64) : (r_5: [n_0][m_1]f64) =
              let (rows_21: [n_0][k_2]f64) =
                map n_0 (x_3)
                  \(row_7: [k_2]f64) : ([k_2]f64) ->
                    let (e_8: [k_2]f64) =
                      map k_2 (row_7)
                        \(a_9: f64) : (f64) ->
                          let (b_10: f64) = f64.exp a_9
                          in (b_10)
                    in (e_8)
              let (r_6: [n_0][m_1]f64) = contract [n_0, m_1] sum [k_2] rows_21 (0, 2) w_4 (1, 2)
              in (r_6)
        "#]],
    );
}

#[test]
fn distances_and_dots_of_rows_stay() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, y: [m][k]f64) : (r: [n][m]f64, t: [n]f64) =
            let (r: [n][m]f64) =
              map n (x)
                \(row: [k]f64) : ([m]f64) ->
                  let (rs: [m]f64) =
                    map m (y)
                      \(other: [k]f64) : (f64) ->
                        let (s: f64) =
                          reduce k (row, other)
                            pre \(a: f64, b: f64) : (f64) ->
                              let (d: f64) = f64.sub a b
                              let (p: f64) = f64.mul d d
                              in (p)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (rs)
            let (t: [n]f64) =
              map n (x)
                \(row: [k]f64) : (f64) ->
                  let (s: f64) =
                    reduce k (row)
                      pre \(a: f64) : (f64) ->
                        let (p: f64) = f64.mul a a
                        in (p)
                      op \(u: f64, v: f64) : (f64) ->
                        let (w: f64) = f64.add u v
                        in (w)
                      neutral (0.0f64)
                  in (s)
            in (r, t)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, y_4: [m_1][k_2]f64) : (r_5: [n_0][m_1]f64, t_6: [n_0]f64) =
              let (r_7: [n_0][m_1]f64) =
                map n_0 (x_3)
                  \(row_8: [k_2]f64) : ([m_1]f64) ->
                    let (rs_9: [m_1]f64) =
                      map m_1 (y_4)
                        \(other_10: [k_2]f64) : (f64) ->
                          let (s_11: f64) =
                            reduce k_2 (row_8, other_10)
                              pre \(a_12: f64, b_13: f64) : (f64) ->
                                let (d_14: f64) = f64.sub a_12 b_13
                                let (p_15: f64) = f64.mul d_14 d_14
                                in (p_15)
                              op \(u_16: f64, v_17: f64) : (f64) ->
                                let (w_18: f64) = f64.add u_16 v_17
                                in (w_18)
                              neutral (0.0f64)
                          in (s_11)
                    in (rs_9)
              let (t_19: [n_0]f64) =
                map n_0 (x_3)
                  \(row_20: [k_2]f64) : (f64) ->
                    let (s_21: f64) =
                      reduce k_2 (row_20)
                        pre \(a_22: f64) : (f64) ->
                          let (p_23: f64) = f64.mul a_22 a_22
                          in (p_23)
                        op \(u_24: f64, v_25: f64) : (f64) ->
                          let (w_26: f64) = f64.add u_24 v_25
                          in (w_26)
                        neutral (0.0f64)
                    in (s_21)
              in (r_7, t_19)
        "#]],
    );
}

#[test]
fn small_constant_sizes_stay() {
    check(
        r"def f (n: i64, x: [n][3]f64, y: [3][3]f64) : (z: [n][3]f64) =
            let (z: [n][3]f64) =
              map n (x)
                \(row: [3]f64) : ([3]f64) ->
                  let (zs: [3]f64) =
                    map 3i64 (y)
                      \(other: [3]f64) : (f64) ->
                        let (s: f64) =
                          reduce 3i64 (row, other)
                            pre \(a: f64, b: f64) : (f64) ->
                              let (p: f64) = f64.mul a b
                              in (p)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (zs)
            in (z)",
        expect![[r#"
            def f (n_0: i64, x_1: [n_0][3i64]f64, y_2: [3i64][3i64]f64) : (z_3: [n_0][3i64]f64) =
              let (z_4: [n_0][3i64]f64) =
                map n_0 (x_1)
                  \(row_5: [3i64]f64) : ([3i64]f64) ->
                    let (zs_6: [3i64]f64) =
                      map 3i64 (y_2)
                        \(other_7: [3i64]f64) : (f64) ->
                          let (s_8: f64) =
                            reduce 3i64 (row_5, other_7)
                              pre \(a_9: f64, b_10: f64) : (f64) ->
                                let (p_11: f64) = f64.mul a_9 b_10
                                in (p_11)
                              op \(u_12: f64, v_13: f64) : (f64) ->
                                let (w_14: f64) = f64.add u_12 v_13
                                in (w_14)
                              neutral (0.0f64)
                          in (s_8)
                    in (zs_6)
              in (z_4)
        "#]],
    );
}

#[test]
fn negated_numbers_that_are_a_factor_too_are_stored_once_and_summed_along_rows() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][m][k]f64) : (s: [m][k]f64, t: [n][m][k]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (ks: [k]i64) = iota i64 k 0i64 1i64
            let (minus: [n][m][k]f64, plus: [n][m][k]f64) =
              map n (x)
                \(xss: [m][k]f64) : ([m][k]f64, [m][k]f64) ->
                  let (ass: [m][k]f64, bss: [m][k]f64) =
                    map m (xss)
                      \(xs: [k]f64) : ([k]f64, [k]f64) ->
                        let (as: [k]f64, bs: [k]f64) =
                          map k (xs)
                            \(v: f64) : (f64, f64) ->
                              let (e: f64) = f64.exp v
                              let (o: f64) = f64.neg e
                              in (o, e)
                        in (as, bs)
                  in (ass, bss)
            let (s: [m][k]f64) =
              map m (js)
                \(j: i64) : ([k]f64) ->
                  let (row: [k]f64) =
                    map k (ks)
                      \(l: i64) : (f64) ->
                        let (sum: f64) =
                          reduce_comm n (is)
                            pre \(i: i64) : (f64) ->
                              let (q: f64) = minus[i, j, l] certified
                              in (q)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (sum)
                  let (r: [k]f64) =
                    map k (row)
                      \(y: f64) : (f64) ->
                        let (z: f64) = f64.sqrt y
                        in (z)
                  in (r)
            in (s, plus)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][m_1][k_2]f64) : (s_4: [m_1][k_2]f64, t_5: [n_0][m_1][k_2]f64) =
              let (plus_10: [n_0][m_1][k_2]f64) =
                map n_0 (x_3)
                  \(xss_11: [m_1][k_2]f64) : ([m_1][k_2]f64) ->
                    let (bss_13: [m_1][k_2]f64) =
                      map m_1 (xss_11)
                        \(xs_14: [k_2]f64) : ([k_2]f64) ->
                          let (bs_16: [k_2]f64) =
                            map k_2 (xs_14)
                              \(v_17: f64) : (f64) ->
                                let (e_18: f64) = f64.exp v_17
                                in (e_18)
                          in (bs_16)
                    in (bss_13)
              let (mul_38: i64) = i64.mul m_1 k_2
              let (flat_39: [n_0][mul_38]f64) = reshape [n_0, mul_38] plus_10
              let (iota_40: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (iota_41: [mul_38]i64) = iota i64 mul_38 0i64 1i64
              let (sums_49: [mul_38]f64) =
                map mul_38 (iota_41)
                  \(column_42: i64) : (f64) ->
                    let (sum_48: f64) =
                      reduce_comm n_0 (iota_40)
                        pre \(row_43: i64) : (f64) ->
                          let (elem_44: f64) = flat_39[row_43, column_42] certified
                          in (elem_44)
                        op \(x_45: f64, y_46: f64) : (f64) ->
                          let (z_47: f64) = f64.add x_45 y_46
                          in (z_47)
                        neutral (0.0f64)
                    in (sum_48)
              let (sums_50: [m_1][k_2]f64) = reshape [m_1, k_2] sums_49
              let (s_20: [m_1][k_2]f64) =
                map m_1 (sums_50)
                  \(product_36: [k_2]f64) : ([k_2]f64) ->
                    let (row_22: [k_2]f64) =
                      map k_2 (product_36)
                        \(product_34: f64) : (f64) ->
                          let (neg_35: f64) = f64.neg product_34
                          in (neg_35)
                    let (r_30: [k_2]f64) =
                      map k_2 (row_22)
                        \(y_31: f64) : (f64) ->
                          let (z_32: f64) = f64.sqrt y_31
                          in (z_32)
                    in (r_30)
              in (s_20, plus_10)
        "#]],
    );
}

#[test]
fn a_product_is_transposed_and_added_as_it_is_made() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, y: [k][m]f64, z: [m][n]f64) : (s: [m][n]f64) =
            let (t: [m][k]f64) = rearrange (1, 0) y
            let (p: [n][m]f64) =
              map n (x)
                \(row: [k]f64) : ([m]f64) ->
                  let (ps: [m]f64) =
                    map m (t)
                      \(col: [k]f64) : (f64) ->
                        let (s: f64) =
                          reduce k (row, col)
                            pre \(a: f64, b: f64) : (f64) ->
                              let (p: f64) = f64.mul a b
                              in (p)
                            op \(u: f64, v: f64) : (f64) ->
                              let (w: f64) = f64.add u v
                              in (w)
                            neutral (0.0f64)
                        in (s)
                  in (ps)
            let (q: [m][n]f64) = rearrange (1, 0) p
            let (s: [m][n]f64) =
              map m (z, q)
                \(zs: [n]f64, qs: [n]f64) : ([n]f64) ->
                  let (ss: [n]f64) =
                    map n (zs, qs)
                      \(a: f64, b: f64) : (f64) ->
                        let (c: f64) = f64.add a b
                        in (c)
                  in (ss)
            in (s)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, y_4: [k_2][m_1]f64, z_5: [m_1][n_0]f64) : (s_6: [m_1][n_0]f64) =
              let (s_20: [m_1][n_0]f64) = contract [m_1, n_0] sum [k_2] x_3 (1, 2) y_4 (2, 0) plus z_5
              in (s_20)
        "#]],
    );
}

#[test]
fn one_element_in_every_row() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, is: [n]i64, vs: [n]f64) : (w: [m][k]f64) =
            let (rows: [n][m]f64) =
              map n (is, vs)
                \(i: i64, v: f64) : ([m]f64) ->
                  let (zeros: [m]f64) = replicate [m] 0.0f64
                  let (row: [m]f64) = zeros with [i] = v certified
                  in (row)
            let (w: [m][k]f64) = contract [m, k] sum [n] x (2, 1) rows (2, 0)
            in (w)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, is_4: [n_0]i64, vs_5: [n_0]f64) : (w_6: [m_1][k_2]f64) =
              let (rows_7: [n_0][m_1]f64) =
                map n_0 (is_4, vs_5)
                  \(i_8: i64, v_9: f64) : ([m_1]f64) ->
                    let (zeros_10: [m_1]f64) = replicate [m_1] 0.0f64
                    let (row_11: [m_1]f64) = zeros_10 with [i_8] = v_9 certified
                    in (row_11)
              let (w_12: [m_1][k_2]f64) = contract [m_1, k_2] sum [n_0] x_3 (2, 1) rows_7 (2, 0)
              in (w_12)
        "#]],
    );
}

/// As differentiation writes the gradient of a minimum, where there may be none. The other operand has its rows last.
#[test]
fn at_most_one_element_beside_an_accumulator() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [k][n]f64, is: [n]i64, start: [m]f64) : (counts: [m]f64, w: [k][m]f64) =
            let (counts: [m]f64, rows: [n][m]f64) =
              with_acc
                over [m] (start)
                  op \(a: f64, b: f64) : (f64) ->
                    let (c: f64) = f64.add a b
                    in (c)
                  neutral (0.0f64)
                body \(acc: acc [m] (f64)) : (acc [m] (f64), [n][m]f64) ->
                  let (acc1: acc [m] (f64), all: [n][m]f64) =
                    map n (is, acc)
                      \(i: i64, acc2: acc [m] (f64)) : (acc [m] (f64), [m]f64) ->
                        let (acc3: acc [m] (f64)) = update_acc acc2 [i] (1.0f64)
                        let (ok: bool) = i64.le 0i64 i
                        let (length: i64) =
                          if ok then
                            in (1i64)
                          else
                            in (0i64)
                        let (from: i64) = i64.max i 0i64
                        let (values: [length]f64) = replicate [length] 2.0f64
                        let (zeros: [m]f64) = replicate [m] 0.0f64
                        let (row: [m]f64) = zeros with [from :+ length * 1i64] = values certified
                        in (acc3, row)
                  in (acc1, all)
            let (w: [k][m]f64) = contract [k, m] sum [n] x (0, 2) rows (2, 1)
            in (counts, w)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [k_2][n_0]f64, is_4: [n_0]i64, start_5: [m_1]f64) : (counts_6: [m_1]f64, w_7: [k_2][m_1]f64) =
              let (counts_8: [m_1]f64, places_32: [n_0]i64, values_33: [n_0]f64) =
                with_acc
                  over [m_1] (start_5)
                    op \(a_10: f64, b_11: f64) : (f64) ->
                      let (c_12: f64) = f64.add a_10 b_11
                      in (c_12)
                    neutral (0.0f64)
                  body \(acc_13: acc [m_1] (f64)) : (acc [m_1] (f64), [n_0]i64, [n_0]f64) ->
                    let (acc1_14: acc [m_1] (f64), places_30: [n_0]i64, values_31: [n_0]f64) =
                      map n_0 (is_4, acc_13)
                        \(i_16: i64, acc2_17: acc [m_1] (f64)) : (acc [m_1] (f64), i64, f64) ->
                          let (acc3_18: acc [m_1] (f64)) = update_acc acc2_17 [i_16] (1.0f64)
                          let (ok_19: bool) = i64.le 0i64 i_16
                          let (length_20: i64) =
                            if ok_19 then
                              in (1i64)
                            else
                              in (0i64)
                          let (from_21: i64) = i64.max i_16 0i64
                          let (values_22: [length_20]f64) = replicate [length_20] 2.0f64
                          let (lt_26: bool) = i64.lt 0i64 length_20
                          let (single_28: i64, single_29: f64) =
                            if lt_26 then
                              in (from_21, 2.0f64)
                            else
                              in (-1i64, 0.0f64)
                          in (acc3_18, single_28, single_29)
                    in (acc1_14, places_30, values_31)
              let (zeros_34: [k_2][m_1]f64) = replicate [k_2, m_1] 0.0f64
              let (turned_35: [n_0][k_2]f64) = rearrange (1, 0) x_3
              let (w_25: [k_2][m_1]f64) =
                with_acc
                  over [k_2, m_1] (zeros_34)
                    op \(x_36: f64, y_37: f64) : (f64) ->
                      let (z_38: f64) = f64.add x_36 y_37
                      in (z_38)
                    neutral (0.0f64)
                  body \(acc_39: acc [k_2, m_1] (f64)) : (acc [k_2, m_1] (f64)) ->
                    let (acc_51: acc [k_2, m_1] (f64)) =
                      map n_0 (places_32, values_33, turned_35, acc_39)
                        \(place_40: i64, value_41: f64, row_42: [k_2]f64, acc_43: acc [k_2, m_1] (f64)) : (acc [k_2, m_1] (f64)) ->
                          let (numbers_44: [k_2]i64) = iota i64 k_2 0i64 1i64
                          let (acc_50: acc [k_2, m_1] (f64)) =
                            map k_2 (numbers_44, row_42, acc_43)
                              \(i_45: i64, row_46: f64, acc_47: acc [k_2, m_1] (f64)) : (acc [k_2, m_1] (f64)) ->
                                let (mul_48: f64) = f64.mul row_46 value_41
                                let (acc_49: acc [k_2, m_1] (f64)) = update_acc acc_47 [i_45, place_40] (mul_48)
                                in (acc_49)
                          in (acc_50)
                    in (acc_51)
              in (counts_8, w_25)
        "#]],
    );
}

#[test]
fn rows_that_are_needed_otherwise_stay() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, is: [n]i64) : (w: [m][k]f64, rows: [n][m]f64) =
            let (rows: [n][m]f64) =
              map n (is)
                \(i: i64) : ([m]f64) ->
                  let (zeros: [m]f64) = replicate [m] 0.0f64
                  let (row: [m]f64) = zeros with [i] = 1.0f64 certified
                  in (row)
            let (w: [m][k]f64) = contract [m, k] sum [n] x (2, 1) rows (2, 0)
            in (w, rows)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, is_4: [n_0]i64) : (w_5: [m_1][k_2]f64, rows_6: [n_0][m_1]f64) =
              let (rows_7: [n_0][m_1]f64) =
                map n_0 (is_4)
                  \(i_8: i64) : ([m_1]f64) ->
                    let (zeros_9: [m_1]f64) = replicate [m_1] 0.0f64
                    let (row_10: [m_1]f64) = zeros_9 with [i_8] = 1.0f64 certified
                    in (row_10)
              let (w_11: [m_1][k_2]f64) = contract [m_1, k_2] sum [n_0] x_3 (2, 1) rows_7 (2, 0)
              in (w_11, rows_7)
        "#]],
    );
}

/// Terms that nobody needs, and reads beside the terms, may stop the program.
#[test]
fn checks_beside_the_terms() {
    let sum = |read: &str, result: &str| {
        format!(
            r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, y: [m][k]f64) : (z: [n][m]f64) =
                let (z: [n][m]f64) =
                  map n (x)
                    \(row: [k]f64) : ([m]f64) ->
                      let (zs: [m]f64) =
                        map m (y)
                          \(col: [k]f64) : (f64) ->
                            let (s: f64) =
                              reduce k (row, col)
                                pre \(a: f64, b: f64) : (f64) ->
                                  let (p: f64) = f64.mul a b
                                  let (q: f64) = x[7i64, 7i64]{read}
                                  in (p)
                                op \(u: f64, v: f64) : (f64) ->
                                  let (w: f64) = f64.add u v
                                  in (w)
                                neutral (0.0f64)
                            in ({result})
                      in (zs)
                in (z)"
        )
    };
    let has_sum = |read: &str, result: &str| {
        let program = dagaz_core::parse::parse(&sum(read, result)).expect("a program");
        let mut raised = program.clone();
        raise_contractions(&mut raised);
        dagaz_core::print::print(&raised).contains("reduce")
    };
    assert!(!has_sum(" certified", "s"));
    assert!(has_sum("", "s"));
    assert!(has_sum("", "1.0f64"));
}
