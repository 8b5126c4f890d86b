//! Updates wait for those who need them: Core in, Core out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{delay_updates, insert_copies};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    delay_updates(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

#[test]
fn operations_between_updates_come_first() {
    check(
        r"def f (n: i64, xs: [n]f64) : (r: [2][n]f64) =
            let (rows: [2][n]f64) = replicate [2, n] 0.0f64
            let (a: [n]f64) =
              map n (xs) \(x: f64) : (f64) -> let (y: f64) = f64.exp x in (y)
            let (rows1: [2][n]f64) = rows with [0i64] = a certified
            let (b: [n]f64) =
              map n (a) \(x: f64) : (f64) -> let (y: f64) = f64.mul x x in (y)
            let (rows2: [2][n]f64) = rows1 with [1i64] = b certified
            in (rows2)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (r_2: [2i64][n_0]f64) =
              let (rows_3: [2i64][n_0]f64) = replicate [2i64, n_0] 0.0f64
              let (a_4: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_5: f64) : (f64) ->
                    let (y_6: f64) = f64.exp x_5
                    in (y_6)
              let (b_8: [n_0]f64) =
                map n_0 (a_4)
                  \(x_9: f64) : (f64) ->
                    let (y_10: f64) = f64.mul x_9 x_9
                    in (y_10)
              let (rows1_7: [2i64][n_0]f64) = rows_3 with [0i64] = a_4 certified
              let (rows2_11: [2i64][n_0]f64) = rows1_7 with [1i64] = b_8 certified
              in (rows2_11)
        "#]],
    );
}

#[test]
fn updates_come_before_those_who_read_them_or_consume_what_they_take() {
    check(
        r"def f (n: i64, x: f64, i: i64) : (r: [2][n]f64, a: [n]f64, ys: [n]f64) =
            let (rows: [2][n]f64) = replicate [2, n] 0.0f64
            let (xs: [n]f64) = replicate [n] x
            let (rows1: [2][n]f64) = rows with [0i64] = xs certified
            let (j: i64) = i64.add i 1i64
            let (ys: [n]f64) = xs with [j] = 1.0f64 certified
            let (rows2: [2][n]f64) = rows1 with [i] = ys
            let (rows3: [2][n]f64) = rows2 with [1i64] = ys certified
            let (k: i64) = i64.add j 1i64
            let (a: [n]f64) = rows3[k]
            in (rows3, a, ys)",
        expect![[r#"
            def f (n_0: i64, x_1: f64, i_2: i64) : (r_3: [2i64][n_0]f64, a_4: [n_0]f64, ys_5: [n_0]f64) =
              let (rows_6: [2i64][n_0]f64) = replicate [2i64, n_0] 0.0f64
              let (xs_7: [n_0]f64) = replicate [n_0] x_1
              let (j_9: i64) = i64.add i_2 1i64
              let (rows1_8: [2i64][n_0]f64) = rows_6 with [0i64] = xs_7 certified
              let (ys_10: [n_0]f64) = xs_7 with [j_9] = 1.0f64 certified
              let (rows2_11: [2i64][n_0]f64) = rows1_8 with [i_2] = ys_10
              let (k_13: i64) = i64.add j_9 1i64
              let (rows3_12: [2i64][n_0]f64) = rows2_11 with [1i64] = ys_10 certified
              let (a_14: [n_0]f64) = rows3_12[k_13]
              in (rows3_12, a_14, ys_10)
        "#]],
    );
}
