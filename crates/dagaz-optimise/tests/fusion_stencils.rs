//! Stencils and other nests of maps in one pass: Core before and after fusion.

mod common;

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, fuse_operations, insert_copies, simplify};
use expect_test::{Expect, expect};

fn fused(program: &mut Program) {
    fuse_operations(program);
}

fn check(input: &str, expected: Expect) {
    common::check(&[fused, simplify, eliminate_dead_code, insert_copies], input, expected);
}

#[test]
fn nests_of_maps_join_a_stencil_that_reads_the_same_array() {
    check(
        r"def f (n: i64, m: i64, xs: [n][m]f64, as: [n][m]f64) : (ys: [n][m]f64, zs: [n][m]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (ys: [n][m]f64) = map n (is) \(i: i64) : ([m]f64) ->
              let (up: i64) = i64.sub i 1i64
              let (up: i64) = i64.max 0i64 up
              let (row: [m]f64) = map m (js) \(j: i64) : (f64) ->
                let (a: f64) = xs[up, j] certified
                let (b: f64) = xs[i, j] certified
                let (c: f64) = f64.add a b
                in (c)
              in (row)
            let (zs: [n][m]f64) = map n (as, xs) \(a: [m]f64, x: [m]f64) : ([m]f64) ->
              let (row: [m]f64) = map m (a, x) \(a: f64, x: f64) : (f64) ->
                let (c: f64) = f64.mul a x
                in (c)
              in (row)
            in (ys, zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0][m_1]f64, as_3: [n_0][m_1]f64) : (ys_4: [n_0][m_1]f64, zs_5: [n_0][m_1]f64) =
              let (is_6: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (js_7: [m_1]i64) = iota i64 m_1 0i64 1i64
              let (ys_8: [n_0][m_1]f64, zs_17: [n_0][m_1]f64) =
                map n_0 (is_6, as_3)
                  \(i_9: i64, a_18: [m_1]f64) : ([m_1]f64, [m_1]f64) ->
                    let (up_10: i64) = i64.sub i_9 1i64
                    let (up_11: i64) = i64.max 0i64 up_10
                    let (row_12: [m_1]f64, row_20: [m_1]f64) =
                      map m_1 (js_7, a_18)
                        \(j_13: i64, a_21: f64) : (f64, f64) ->
                          let (x_22: f64) = xs_2[i_9, j_13] certified
                          let (a_14: f64) = xs_2[up_11, j_13] certified
                          let (b_15: f64) = xs_2[i_9, j_13] certified
                          let (c_16: f64) = f64.add a_14 b_15
                          let (c_23: f64) = f64.mul a_21 x_22
                          in (c_16, c_23)
                    in (row_12, row_20)
              in (ys_8, zs_17)
        "#]],
    );
}

/// A stencil, some statements, and another map, which becomes one with the stencil only if nothing is in the way.
fn check_stencil(between: &str, other: &str, is_joined: bool) {
    let text = format!(
        r"def f (n: i64, xs: [n]f64, as: [n]f64, ks: [n]i64) : (ys: [n]f64, s: f64, zs: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (ys: [n]f64) = map n (is) \(i: i64) : (f64) ->
              let (left: i64) = i64.sub i 1i64
              let (left: i64) = i64.max 0i64 left
              let (a: f64) = xs[left] certified
              let (b: f64) = xs[i] certified
              let (c: f64) = f64.add a b
              in (c)
            {between}
            let (zs: [n]f64) = {other}
            in (ys, s, zs)"
    );
    let mut program = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    fuse_operations(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    assert_eq!(text.matches("map n").count(), if is_joined { 1 } else { 2 }, "{text}");
}

#[test]
fn stencils_stay_apart_where_they_must() {
    let nothing = "let (s: f64) = f64.add 1.0f64 2.0f64";
    let rows = r"map n (as, xs) \(a: f64, x: f64) : (f64) ->
                let (c: f64) = f64.mul a x
                in (c)";
    check_stencil(nothing, rows, true);
    let around = r"map n (is, as) \(i: i64, a: f64) : (f64) ->
                let (k: i64) = i64.add i 1i64
                let (k: i64) = i64.min k i
                let (x: f64) = xs[k] certified
                let (c: f64) = f64.mul a x
                in (c)";
    check_stencil(nothing, around, true);
    // Another array.
    let others = r"map n (as) \(a: f64) : (f64) ->
                let (c: f64) = f64.mul a a
                in (c)";
    check_stencil(nothing, others, false);
    // Places that data tell.
    let anywhere = r"map n (ks) \(k: i64) : (f64) ->
                let (x: f64) = xs[k] certified
                in (x)";
    check_stencil(nothing, anywhere, false);
    // The result of the stencil is needed before, or by the map itself.
    check_stencil("let (s: f64) = ys[0i64] certified", rows, false);
    let of_result = r"map n (is, xs) \(i: i64, x: f64) : (f64) ->
                let (k: i64) = i64.max 0i64 i
                let (y: f64) = ys[k] certified
                let (c: f64) = f64.mul y x
                in (c)";
    check_stencil(nothing, of_result, false);
    // What the stencil reads is overwritten before the map.
    let update = r"let (ws: [n]f64) = xs with [0i64] = 5.0f64 certified
            let (s: f64) = ws[0i64] certified";
    let after = r"map n (as, as) \(a: f64, x: f64) : (f64) ->
                let (k: f64) = xs[0i64] certified
                let (c: f64) = f64.mul a k
                in (c)";
    check_stencil(update, after, false);
}
