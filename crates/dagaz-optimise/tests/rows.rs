//! Accumulators of which one row is updated, as text.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{insert_copies, single_out_rows};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    single_out_rows(&mut program);
    insert_copies(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

/// Adds a vector to row `row` of a matrix, for every `k` below `bound`.
fn rows_of_a_loop(bound: &str, row: &str, columns: &str) -> String {
    format!(
        r"def f (n: i64, m: i64, xs: [n][m]f64, vs: [m]f64, is: [m]i64) : (r: [n][m]f64) =
            let (zs: [n][m]f64) = copy xs
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (r: [n][m]f64) = loop (ys: [n][m]f64 = zs) for k: i64 < {bound} do
              let (new: [n][m]f64) =
                with_acc
                  over [n, m] (ys)
                    op \(x: f64, y: f64) : (f64) ->
                      let (z: f64) = f64.add x y
                      in (z)
                    neutral (0.0f64)
                  body \(acc: acc [n, m] (f64)) : (acc [n, m] (f64)) ->
                    let (done: acc [n, m] (f64)) =
                      map m ({columns}, vs, acc)
                        \(j: i64, v: f64, inner: acc [n, m] (f64)) : (acc [n, m] (f64)) ->
                          let (after: acc [n, m] (f64)) = update_acc inner [{row}, j] (v)
                          in (after)
                    in (done)
              in (new)
            in (r)"
    )
}

#[test]
fn a_row_that_exists() {
    check(
        &rows_of_a_loop("n", "k", "js"),
        expect![[r#"
        def f (n_0: i64, m_1: i64, xs_2: [n_0][m_1]f64, vs_3: [m_1]f64, is_4: [m_1]i64) : (r_5: [n_0][m_1]f64) =
          let (zs_6: [n_0][m_1]f64) = copy xs_2
          let (js_7: [m_1]i64) = iota i64 m_1 0i64 1i64
          let (r_8: [n_0][m_1]f64) =
            loop (ys_9: [n_0][m_1]f64 = zs_6) for k_10: i64 < n_0 do
              let (row_21: [m_1]f64) = slice ys_9 [k_10, 0i64 :+ m_1 * 1i64]
              let (copy_23: [m_1]f64) = copy row_21
              let (row_22: [m_1]f64) =
                with_acc
                  over [m_1] (copy_23)
                    op \(x_12: f64, y_13: f64) : (f64) ->
                      let (z_14: f64) = f64.add x_12 y_13
                      in (z_14)
                    neutral (0.0f64)
                  body \(acc_15: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                    let (done_16: acc [m_1] (f64)) =
                      map m_1 (js_7, vs_3, acc_15)
                        \(j_17: i64, v_18: f64, inner_19: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                          let (after_20: acc [m_1] (f64)) = update_acc inner_19 [j_17] (v_18)
                          in (after_20)
                    in (done_16)
              let (new_11: [n_0][m_1]f64) = ys_9 with [k_10, 0i64 :+ m_1 * 1i64] = row_22 certified
              in (new_11)
          in (r_8)
    "#]],
    );
}

#[test]
fn rows_that_may_not_exist_or_are_updated_here_and_there() {
    let same = |text: String| {
        let mut program = parse(&text).unwrap_or_else(|error| panic!("{error}"));
        assert!(!single_out_rows(&mut program), "{}", print_without_locs(&program));
    };
    same(rows_of_a_loop("m", "k", "js"));
    same(rows_of_a_loop("n", "m", "js"));
    same(rows_of_a_loop("n", "j", "js"));
    same(rows_of_a_loop("n", "k", "is"));
}
