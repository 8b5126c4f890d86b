//! Maps that are there for their checks alone.

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{hoist_uniform_checks, join_checks};
use expect_test::{Expect, expect};

fn check(pass: fn(&mut Program), core: &str, expected: Expect) {
    let mut program = parse(core).unwrap_or_else(|error| panic!("{error}"));
    pass(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

/// Checks of an array of `rows` rows, for all numbers of rows.
fn check_rows(rows: &str, expected: Expect) {
    let core = format!(
        r"def f (n: i64, m: i64, i: i64, xss: [{rows}][m]f64) : (z: i64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let () = map n (is)
              \(row: i64) : () ->
                let (x: f64) = xss[row, i]
                in ()
            in (i)"
    );
    check(hoist_uniform_checks, &core, expected);
}

#[test]
fn the_first_row_is_enough() {
    check_rows(
        "n",
        expect![[r#"
        def f (n_0: i64, m_1: i64, i_2: i64, xss_3: [n_0][m_1]f64) : (z_4: i64) =
          let (is_5: [n_0]i64) = iota i64 n_0 0i64 1i64
          let (min_8: i64) = i64.min n_0 1i64
          let (first_9: [min_8]i64) = slice is_5 [0i64 :+ min_8 * 1i64]
          let () =
            map min_8 (first_9)
              \(row_6: i64) : () ->
                let (x_7: f64) = xss_3[row_6, i_2]
                in ()
          in (i_2)
    "#]],
    );
}

#[test]
fn rows_that_may_not_be_there_are_all_checked() {
    check_rows(
        "m",
        expect![[r#"
        def f (n_0: i64, m_1: i64, i_2: i64, xss_3: [m_1][m_1]f64) : (z_4: i64) =
          let (is_5: [n_0]i64) = iota i64 n_0 0i64 1i64
          let () =
            map n_0 (is_5)
              \(row_6: i64) : () ->
                let (x_7: f64) = xss_3[row_6, i_2]
                in ()
          in (i_2)
    "#]],
    );
}

/// A check of all indices before some are read, with something in between.
fn check_joined(between: &str, index: &str, expected: Expect) {
    let core = format!(
        r"def f (n: i64, m: i64, is: [n]i32, xs: [m]f64) : (ys: [n]f64) =
            let () = map n (is)
              \(i: i32) : () ->
                let (j: i64) = i32.to_i64 i
                let (x: f64) = xs[j]
                in ()
            {between}
            let (ys: [n]f64) = map n (is)
              \(i: i32) : (f64) ->
                let (j: i64) = i32.to_i64 i
                let (k: i64) = i64.sub m 1i64
                let (x: f64) = xs[{index}] certified
                in (x)
            in (ys)"
    );
    check(join_checks, &core, expected);
}

#[test]
fn a_later_read_makes_the_check() {
    check_joined(
        "let (a: i64) = i64.add n m",
        "j",
        expect![[r#"
        def f (n_0: i64, m_1: i64, is_2: [n_0]i32, xs_3: [m_1]f64) : (ys_4: [n_0]f64) =
          let (a_8: i64) = i64.add n_0 m_1
          let (ys_9: [n_0]f64) =
            map n_0 (is_2)
              \(i_10: i32) : (f64) ->
                let (j_11: i64) = i32.to_i64 i_10
                let (k_12: i64) = i64.sub m_1 1i64
                let (x_13: f64) = xs_3[j_11]
                in (x_13)
          in (ys_9)
    "#]],
    );
}

#[test]
fn checks_stay_before_what_may_fail() {
    check_joined(
        "let (x: f64) = xs[n]",
        "j",
        expect![[r#"
        def f (n_0: i64, m_1: i64, is_2: [n_0]i32, xs_3: [m_1]f64) : (ys_4: [n_0]f64) =
          let () =
            map n_0 (is_2)
              \(i_5: i32) : () ->
                let (j_6: i64) = i32.to_i64 i_5
                let (x_7: f64) = xs_3[j_6]
                in ()
          let (x_8: f64) = xs_3[n_0]
          let (ys_9: [n_0]f64) =
            map n_0 (is_2)
              \(i_10: i32) : (f64) ->
                let (j_11: i64) = i32.to_i64 i_10
                let (k_12: i64) = i64.sub m_1 1i64
                let (x_13: f64) = xs_3[j_11] certified
                in (x_13)
          in (ys_9)
    "#]],
    );
}

#[test]
fn checks_stay_before_what_relies_on_them() {
    check_joined(
        "let (x: f64) = xs[0i64] certified",
        "j",
        expect![[r#"
            def f (n_0: i64, m_1: i64, is_2: [n_0]i32, xs_3: [m_1]f64) : (ys_4: [n_0]f64) =
              let () =
                map n_0 (is_2)
                  \(i_5: i32) : () ->
                    let (j_6: i64) = i32.to_i64 i_5
                    let (x_7: f64) = xs_3[j_6]
                    in ()
              let (x_8: f64) = xs_3[0i64] certified
              let (ys_9: [n_0]f64) =
                map n_0 (is_2)
                  \(i_10: i32) : (f64) ->
                    let (j_11: i64) = i32.to_i64 i_10
                    let (k_12: i64) = i64.sub m_1 1i64
                    let (x_13: f64) = xs_3[j_11] certified
                    in (x_13)
              in (ys_9)
        "#]],
    );
}

#[test]
fn checks_of_other_indices_stay() {
    check_joined(
        "let (a: i64) = i64.add n m",
        "k",
        expect![[r#"
        def f (n_0: i64, m_1: i64, is_2: [n_0]i32, xs_3: [m_1]f64) : (ys_4: [n_0]f64) =
          let () =
            map n_0 (is_2)
              \(i_5: i32) : () ->
                let (j_6: i64) = i32.to_i64 i_5
                let (x_7: f64) = xs_3[j_6]
                in ()
          let (a_8: i64) = i64.add n_0 m_1
          let (ys_9: [n_0]f64) =
            map n_0 (is_2)
              \(i_10: i32) : (f64) ->
                let (j_11: i64) = i32.to_i64 i_10
                let (k_12: i64) = i64.sub m_1 1i64
                let (x_13: f64) = xs_3[k_12] certified
                in (x_13)
          in (ys_9)
    "#]],
    );
}
