//! Dimensions of one element go: Core in, Core out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    simplify(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

#[test]
fn columns_of_one_element_come_and_go() {
    check(
        r"def f (n: i64, xs: [n][1]f64) : (zs: [n]f64) =
            let (ys: [n][1]f64) =
              map n (xs)
                \(x: [1]f64) : ([1]f64) ->
                  let (y: [1]f64) =
                    map 1i64 (x)
                      \(a: f64) : (f64) ->
                        let (b: f64) = f64.mul a a
                        in (b)
                  in (y)
            let (t: [1][n]f64) = rearrange (1, 0) ys
            let (zs: [n]f64) = reshape [n] t
            in (zs)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0][1i64]f64) : (zs_2: [n_0]f64) =
              let (rows_10: [n_0]f64) = reshape [n_0] xs_1
              let (ys_12: [n_0]f64) =
                map n_0 (rows_10)
                  \(x_11: f64) : (f64) ->
                    let (b_7: f64) = f64.mul x_11 x_11
                    in (b_7)
              in (ys_12)
        "#]],
    );
}

#[test]
fn a_row_of_an_array_of_one_row_is_the_row() {
    check(
        r"def f (n: i64, m: i64, i: i64, xs: [n][m]f64) : (a: [m]f64, b: [m][1]f64, c: f64, d: [1][m]f64, e: [1]f64) =
            let (whole: [1][n][m]f64) = array [n][m]f64 (xs)
            let (moved: [n][1][m]f64) = rearrange (1, 0, 2) whole
            let (one: [1][m]f64) = moved[0i64] certified
            let (a: [m]f64) = one[0i64] certified
            let (back: [n][m][1]f64) = rearrange (0, 2, 1) moved
            let (b: [m][1]f64) = back[i]
            let (c: f64) = back[0i64, 1i64, 0i64] certified
            let (e: [1]f64) = back[0i64, 2i64] certified
            in (a, b, c, one, e)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, i_2: i64, xs_3: [n_0][m_1]f64) : (a_4: [m_1]f64, b_5: [m_1][1i64]f64, c_6: f64, d_7: [1i64][m_1]f64, e_8: [1i64]f64) =
              let (row_17: [m_1]f64) = xs_3[0i64] certified
              let (one_11: [1i64][m_1]f64) = reshape [1i64, m_1] row_17
              let (back_13: [n_0][m_1][1i64]f64) = reshape [n_0, m_1, 1i64] xs_3
              let (b_14: [m_1][1i64]f64) = back_13[i_2]
              let (c_15: f64) = xs_3[0i64, 1i64] certified
              let (row_18: f64) = xs_3[0i64, 2i64] certified
              let (e_16: [1i64]f64) = replicate [1i64] row_18
              in (row_17, b_14, c_15, one_11, e_16)
        "#]],
    );
}

#[test]
fn other_dimensions_stay_where_they_are() {
    check(
        r"def f (n: i64, m: i64, xs: [n][1][m]f64) : (a: [m][1][n]f64, s: f64) =
            let (a: [m][1][n]f64) = rearrange (2, 1, 0) xs
            let (s: f64) =
              reduce n (xs)
                pre \(row: [1][m]f64) : (f64) ->
                  let (x: f64) = row[0i64, 2i64]
                  in (x)
                op \(u: f64, v: f64) : (f64) ->
                  let (w: f64) = f64.add u v
                  in (w)
                neutral (0.0f64)
            in (a, s)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0][1i64][m_1]f64) : (a_3: [m_1][1i64][n_0]f64, s_4: f64) =
              let (a_5: [m_1][1i64][n_0]f64) = rearrange (2, 1, 0) xs_2
              let (rows_12: [n_0][m_1]f64) = reshape [n_0, m_1] xs_2
              let (s_6: f64) =
                reduce n_0 (rows_12)
                  pre \(row_13: [m_1]f64) : (f64) ->
                    let (row_7: [1i64][m_1]f64) = reshape [1i64, m_1] row_13
                    let (x_8: f64) = row_7[0i64, 2i64]
                    in (x_8)
                  op \(u_9: f64, v_10: f64) : (f64) ->
                    let (w_11: f64) = f64.add u_9 v_10
                    in (w_11)
                  neutral (0.0f64)
              in (a_5, s_6)
        "#]],
    );
}
