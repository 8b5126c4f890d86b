//! Reductions along columns as maps of their own.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::split_off_columns;
use expect_test::{Expect, expect};

fn check(index: &str, expected: Expect) {
    let core = format!(
        r"def f (n: i64, xss: [n][n]f64) : (zs: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (zs: [n]f64) = map n (is)
              \(j: i64) : (f64) ->
                let (s: f64) = reduce_comm n (is)
                  pre \(i: i64) : (f64) ->
                    let (x: f64) = xss[{index}] certified
                    let (y: f64) = f64.sin x
                    in (y)
                  op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
                  neutral (0.0f64)
                let (w: f64) = xss[0i64, j] certified
                let (z: f64) = f64.add s w
                in (z)
            in (zs)"
    );
    let mut program = parse(&core).unwrap_or_else(|error| panic!("{error}"));
    split_off_columns(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn sums_of_columns_are_split_off() {
    check(
        "i, j",
        expect![[r#"
        def f (n_0: i64, xss_1: [n_0][n_0]f64) : (zs_2: [n_0]f64) =
          let (is_3: [n_0]i64) = iota i64 n_0 0i64 1i64
          let (s_17: [n_0]f64) =
            map n_0 (is_3)
              \(j_15: i64) : (f64) ->
                let (s_16: f64) =
                  reduce_comm n_0 (is_3)
                    pre \(i_7: i64) : (f64) ->
                      let (x_8: f64) = xss_1[i_7, j_15] certified
                      let (y_9: f64) = f64.sin x_8
                      in (y_9)
                    op \(a_10: f64, b_11: f64) : (f64) ->
                      let (c_12: f64) = f64.add a_10 b_11
                      in (c_12)
                    neutral (0.0f64)
                in (s_16)
          let (zs_4: [n_0]f64) =
            map n_0 (is_3, s_17)
              \(j_5: i64, s_6: f64) : (f64) ->
                let (w_13: f64) = xss_1[0i64, j_5] certified
                let (z_14: f64) = f64.add s_6 w_13
                in (z_14)
          in (zs_4)
    "#]],
    );
}

#[test]
fn sums_of_rows_stay() {
    check(
        "j, i",
        expect![[r#"
        def f (n_0: i64, xss_1: [n_0][n_0]f64) : (zs_2: [n_0]f64) =
          let (is_3: [n_0]i64) = iota i64 n_0 0i64 1i64
          let (zs_4: [n_0]f64) =
            map n_0 (is_3)
              \(j_5: i64) : (f64) ->
                let (s_6: f64) =
                  reduce_comm n_0 (is_3)
                    pre \(i_7: i64) : (f64) ->
                      let (x_8: f64) = xss_1[j_5, i_7] certified
                      let (y_9: f64) = f64.sin x_8
                      in (y_9)
                    op \(a_10: f64, b_11: f64) : (f64) ->
                      let (c_12: f64) = f64.add a_10 b_11
                      in (c_12)
                    neutral (0.0f64)
                let (w_13: f64) = xss_1[0i64, j_5] certified
                let (z_14: f64) = f64.add s_6 w_13
                in (z_14)
          in (zs_4)
    "#]],
    );
}
