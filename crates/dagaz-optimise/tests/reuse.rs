//! Loops whose results are kept for a later map.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::reuse_sweeps;
use expect_test::{Expect, expect};

/// Two maps over the same numbers with a loop, the second of which begins at `start`.
fn check(start: &str, expected: Expect) {
    let core = format!(
        r"def f (n: i64, m: i64, xs: [n]i64, ys: [m]f64) : (zs: [n]f64) =
            let () = map n (xs)
              \(x: i64) : () ->
                let (l: i64) = loop (l: i64 = 0i64) while
                    let (c: bool) = i64.lt l x
                    in (c)
                  do
                    let (k: i64) = i64.add l 7i64
                    in (k)
                let (y: f64) = ys[l]
                in ()
            let (zs: [n]f64) = map n (xs)
              \(x: i64) : (f64) ->
                let (l: i64) = loop (l: i64 = {start}) while
                    let (c: bool) = i64.lt l x
                    in (c)
                  do
                    let (k: i64) = i64.add l 7i64
                    in (k)
                let (y: f64) = ys[l] certified
                in (y)
            in (zs)"
    );
    let mut program = parse(&core).unwrap_or_else(|error| panic!("{error}"));
    reuse_sweeps(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn the_same_loop_runs_once() {
    check(
        "0i64",
        expect![[r#"
        def f (n_0: i64, m_1: i64, xs_2: [n_0]i64, ys_3: [m_1]f64) : (zs_4: [n_0]f64) =
          let (l_18: [n_0]i64) =
            map n_0 (xs_2)
              \(x_5: i64) : (i64) ->
                let (l_6: i64) =
                  loop (l_7: i64 = 0i64) while
                    let (c_8: bool) = i64.lt l_7 x_5
                    in (c_8)
                  do
                    let (k_9: i64) = i64.add l_7 7i64
                    in (k_9)
                let (y_10: f64) = ys_3[l_6]
                in (l_6)
          let (zs_11: [n_0]f64) =
            map n_0 (xs_2, l_18)
              \(x_12: i64, l_13: i64) : (f64) ->
                let (y_17: f64) = ys_3[l_13] certified
                in (y_17)
          in (zs_11)
    "#]],
    );
}

#[test]
fn another_loop_stays() {
    check(
        "1i64",
        expect![[r#"
        def f (n_0: i64, m_1: i64, xs_2: [n_0]i64, ys_3: [m_1]f64) : (zs_4: [n_0]f64) =
          let () =
            map n_0 (xs_2)
              \(x_5: i64) : () ->
                let (l_6: i64) =
                  loop (l_7: i64 = 0i64) while
                    let (c_8: bool) = i64.lt l_7 x_5
                    in (c_8)
                  do
                    let (k_9: i64) = i64.add l_7 7i64
                    in (k_9)
                let (y_10: f64) = ys_3[l_6]
                in ()
          let (zs_11: [n_0]f64) =
            map n_0 (xs_2)
              \(x_12: i64) : (f64) ->
                let (l_13: i64) =
                  loop (l_14: i64 = 1i64) while
                    let (c_15: bool) = i64.lt l_14 x_12
                    in (c_15)
                  do
                    let (k_16: i64) = i64.add l_14 7i64
                    in (k_16)
                let (y_17: f64) = ys_3[l_13] certified
                in (y_17)
          in (zs_11)
    "#]],
    );
}
