//! Loops that keep numbers for a return sweep instead of states, as text: Core before and after, with the clean-up that follows.

mod common;

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_optimise::{eliminate_dead_code, shrink_tapes, simplify};
use expect_test::{Expect, expect};

/// A loop that keeps two states, and one that goes back. `step` makes `z` of `x` and `y`, elements of the states, and
/// `back` makes the result `e` of these and a cotangent `d`. What else is read is made of `more`.
fn program(step: &str, back: &str, row: &str, more: &str) -> String {
    format!(
        r"def f (k: i64, n: i64, as: [n]f64, bs: [n]f64, cs: [n]bool) : (r: [n]f64, s: f64) =
            let (js: [n]i64) = iota i64 n 0i64 1i64
            let (room: [k][n]f64) = scratch f64 [k, n]
            let (place: [k][n]f64) = scratch f64 [k, n]
            let (c: [n]f64, d: [n]f64, xss: [k][n]f64, yss: [k][n]f64) =
              loop (a: [n]f64 = as, b: [n]f64 = bs, own: [k][n]f64 = room, other: [k][n]f64 = place) for i: i64 < k do
                let (a': [n]f64, b': [n]f64) = map n (js, cs) \(j: i64, c: bool) : (f64, f64) ->
                  let (x: f64) = a[j] certified
                  let (y: f64) = b[j] certified
                  {step}
                  let (v: f64) = f64.add x z
                  let (w: f64) = f64.mul z z
                  in (v, w)
                let (own': [k][n]f64) = own with [i] = a certified
                let (other': [k][n]f64) = other with [i] = b certified
                in (a', b', own', other')
            let (last: i64) = i64.sub k 1i64
            let (r: [n]f64) =
              loop (ds: [n]f64 = c) for i: i64 < k do
                let (at: i64) = i64.sub last i
                {row}
                let (es: [n]f64) = map n (js, cs, ds) \(j: i64, c: bool, d: f64) : (f64) ->
                  let (x: f64) = xss[at, j] certified
                  let (y: f64) = yss[there, j] certified
                  {back}
                  in (e)
                in (es)
            {more}
            in (r, s)"
    )
}

const ROW: &str = "let (there: i64) = i64.sub last i";
const NO_MORE: &str = "let (s: f64) = f64.add 1.0f64 2.0f64";
const PRODUCT: &str = "let (z: f64) = f64.mul x y";
const BACK: &str = "let (z: f64) = f64.mul x y
                    let (e: f64) = f64.mul z d";

fn keep(program: &mut Program) {
    // Equal indices have one name.
    dagaz_optimise::eliminate_common_subexpressions(program);
    assert!(shrink_tapes(program));
}

fn check(step: &str, back: &str, expected: Expect) {
    common::check(&[keep, simplify, eliminate_dead_code], &program(step, back, ROW, NO_MORE), expected);
}

#[track_caller]
fn stays(step: &str, back: &str, row: &str, more: &str) {
    unchanged(&program(step, back, row, more));
}

#[track_caller]
fn unchanged(text: &str) {
    let mut program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    dagaz_optimise::eliminate_common_subexpressions(&mut program);
    assert!(!shrink_tapes(&mut program));
}

#[test]
fn one_number_is_kept_instead_of_two_states() {
    check(
        PRODUCT,
        BACK,
        expect![[r#"
        def f (k_0: i64, n_1: i64, as_2: [n_1]f64, bs_3: [n_1]f64, cs_4: [n_1]bool) : (r_5: [n_1]f64, s_6: f64) =
          let (js_7: [n_1]i64) = iota i64 n_1 0i64 1i64
          let (kept_49: [k_0][n_1]f64) = scratch f64 [k_0, n_1]
          let (c_10: [n_1]f64, d_11: [n_1]f64, kept_45: [k_0][n_1]f64) =
            loop (a_14: [n_1]f64 = as_2, b_15: [n_1]f64 = bs_3, kept_50: [k_0][n_1]f64 = kept_49) for i_18: i64 < k_0 do
              let (a'_19: [n_1]f64, b'_20: [n_1]f64, kept_48: [n_1]f64) =
                map n_1 (js_7)
                  \(j_21: i64) : (f64, f64, f64) ->
                    let (x_23: f64) = a_14[j_21] certified
                    let (y_24: f64) = b_15[j_21] certified
                    let (z_25: f64) = f64.mul x_23 y_24
                    let (v_26: f64) = f64.add x_23 z_25
                    let (w_27: f64) = f64.mul z_25 z_25
                    in (v_26, w_27, z_25)
              let (kept_51: [k_0][n_1]f64) = kept_50 with [i_18] = kept_48 certified
              in (a'_19, b'_20, kept_51)
          let (last_30: i64) = i64.sub k_0 1i64
          let (r_31: [n_1]f64) =
            loop (ds_32: [n_1]f64 = c_10) for i_33: i64 < k_0 do
              let (at_34: i64) = i64.sub last_30 i_33
              let (kept_46: [n_1]f64) = kept_45[at_34] certified
              let (es_36: [n_1]f64) =
                map n_1 (ds_32, kept_46)
                  \(d_39: f64, kept_47: f64) : (f64) ->
                    let (e_43: f64) = f64.mul kept_47 d_39
                    in (e_43)
              in (es_36)
          in (r_31, 3.0f64)
    "#]],
    );
}

#[test]
fn numbers_leave_the_branches_that_compute_them() {
    let step = "let (u: f64, z: f64) =
                    if c then
                      let (p: f64) = f64.mul x y
                      let (q: f64) = f64.sin p
                      in (q, q)
                    else
                      in (x, y)";
    let back = "let (e: f64) =
                    if c then
                      let (p: f64) = f64.mul x y
                      let (o: f64) = f64.cos p
                      let (e: f64) = f64.mul o d
                      in (e)
                    else
                      in (d)";
    check(
        step,
        back,
        expect![[r#"
        def f (k_0: i64, n_1: i64, as_2: [n_1]f64, bs_3: [n_1]f64, cs_4: [n_1]bool) : (r_5: [n_1]f64, s_6: f64) =
          let (js_7: [n_1]i64) = iota i64 n_1 0i64 1i64
          let (kept_55: [k_0][n_1]f64) = scratch f64 [k_0, n_1]
          let (c_10: [n_1]f64, d_11: [n_1]f64, kept_50: [k_0][n_1]f64) =
            loop (a_14: [n_1]f64 = as_2, b_15: [n_1]f64 = bs_3, kept_56: [k_0][n_1]f64 = kept_55) for i_18: i64 < k_0 do
              let (a'_19: [n_1]f64, b'_20: [n_1]f64, kept_54: [n_1]f64) =
                map n_1 (js_7, cs_4)
                  \(j_21: i64, c_22: bool) : (f64, f64, f64) ->
                    let (x_23: f64) = a_14[j_21] certified
                    let (y_24: f64) = b_15[j_21] certified
                    let (z_26: f64, p_53: f64) =
                      if c_22 then
                        let (p_27: f64) = f64.mul x_23 y_24
                        let (q_28: f64) = f64.sin p_27
                        in (q_28, p_27)
                      else
                        in (y_24, 0.0f64)
                    let (v_29: f64) = f64.add x_23 z_26
                    let (w_30: f64) = f64.mul z_26 z_26
                    in (v_29, w_30, p_53)
              let (kept_57: [k_0][n_1]f64) = kept_56 with [i_18] = kept_54 certified
              in (a'_19, b'_20, kept_57)
          let (last_33: i64) = i64.sub k_0 1i64
          let (r_34: [n_1]f64) =
            loop (ds_35: [n_1]f64 = c_10) for i_36: i64 < k_0 do
              let (at_37: i64) = i64.sub last_33 i_36
              let (kept_51: [n_1]f64) = kept_50[at_37] certified
              let (es_39: [n_1]f64) =
                map n_1 (cs_4, ds_35, kept_51)
                  \(c_41: bool, d_42: f64, kept_52: f64) : (f64) ->
                    let (e_45: f64) =
                      if c_41 then
                        let (o_47: f64) = f64.cos kept_52
                        let (e_48: f64) = f64.mul o_47 d_42
                        in (e_48)
                      else
                        in (d_42)
                    in (e_45)
              in (es_39)
          in (r_34, 3.0f64)
    "#]],
    );
}

#[test]
fn states_stay_where_as_many_numbers_are_needed() {
    let back = "let (z: f64) = f64.mul x y
                let (p: f64) = f64.mul x d
                let (e: f64) = f64.mul z p";
    stays(PRODUCT, back, ROW, NO_MORE);
}

#[test]
fn states_stay_where_numbers_are_computed_in_another_way() {
    stays("let (z: f64) = f64.add x y", BACK, ROW, NO_MORE);
}

#[test]
fn states_stay_that_something_else_reads() {
    stays(PRODUCT, BACK, ROW, "let (s: f64) = xss[0i64, 0i64] certified");
}

#[test]
fn states_of_different_iterations_stay() {
    stays(PRODUCT, BACK, "let (there: i64) = i64.sub k i", NO_MORE);
}

#[test]
fn states_stay_that_may_not_be_there() {
    let back = "let (z: f64) = f64.mul x y
                    let (e: f64) = f64.mul z d";
    let text = program(PRODUCT, back, ROW, NO_MORE);
    let reads = "let (x: f64) = xss[at, j] certified
                  let (y: f64) = yss[there, j] certified";
    let branch = "let (x: f64, y: f64) =
                    if c then
                      let (p: f64) = xss[at, j] certified
                      let (q: f64) = yss[there, j] certified
                      in (p, q)
                    else
                      in (d, d)";
    assert!(text.contains(reads));
    unchanged(&text.replace(reads, branch));
}

#[test]
fn rows_and_elements_are_the_same() {
    let text = r"def f (k: i64, n: i64, m: i64, as: [n][m]f64, bs: [n][m]f64) : (r: [n][m]f64) =
            let (js: [n]i64) = iota i64 n 0i64 1i64
            let (is: [m]i64) = iota i64 m 0i64 1i64
            let (room: [k][n][m]f64) = scratch f64 [k, n, m]
            let (place: [k][n][m]f64) = scratch f64 [k, n, m]
            let (c: [n][m]f64, d: [n][m]f64, xss: [k][n][m]f64, yss: [k][n][m]f64) =
              loop (a: [n][m]f64 = as, b: [n][m]f64 = bs, own: [k][n][m]f64 = room, other: [k][n][m]f64 = place) for i: i32 < 9i32 do
                let (row: i64) = i32.to_i64 i
                let (a': [n][m]f64, b': [n][m]f64) = map n (a, js) \(xs: [m]f64, j: i64) : ([m]f64, [m]f64) ->
                  let (vs: [m]f64, ws: [m]f64) = map m (xs, is) \(x: f64, l: i64) : (f64, f64) ->
                    let (y: f64) = b[j, l] certified
                    let (z: f64) = f64.mul x y
                    let (w: f64) = f64.mul z z
                    in (z, w)
                  in (vs, ws)
                let (own': [k][n][m]f64) = own with [row] = a certified
                let (other': [k][n][m]f64) = other with [row] = b certified
                in (a', b', own', other')
            let (r: [n][m]f64) =
              loop (ds: [n][m]f64 = c) for i: i64 < 9i64 do
                let (at: i64) = i64.sub 8i64 i
                let (yss': [n][m]f64) = yss[at] certified
                let (es: [n][m]f64) = map n (ds, js, yss') \(ds': [m]f64, j: i64, ys: [m]f64) : ([m]f64) ->
                  let (es': [m]f64) = map m (ds', is, ys) \(d: f64, l: i64, y: f64) : (f64) ->
                    let (even: bool) = f64.lt d 1.0f64
                    let (x: f64) =
                      if even then
                        let (p: f64) = xss[at, j, l] certified
                        in (p)
                      else
                        let (q: f64) = xss[at, j, l] certified
                        in (q)
                    let (z: f64) = f64.mul x y
                    let (e: f64) = f64.mul z d
                    in (e)
                  in (es')
                in (es)
            in (r)";
    common::check(
        &[keep, simplify, eliminate_dead_code],
        text,
        expect![[r#"
        def f (k_0: i64, n_1: i64, m_2: i64, as_3: [n_1][m_2]f64, bs_4: [n_1][m_2]f64) : (r_5: [n_1][m_2]f64) =
          let (js_6: [n_1]i64) = iota i64 n_1 0i64 1i64
          let (is_7: [m_2]i64) = iota i64 m_2 0i64 1i64
          let (kept_58: [k_0][n_1][m_2]f64) = scratch f64 [k_0, n_1, m_2]
          let (c_10: [n_1][m_2]f64, d_11: [n_1][m_2]f64, kept_52: [k_0][n_1][m_2]f64) =
            loop (a_14: [n_1][m_2]f64 = as_3, b_15: [n_1][m_2]f64 = bs_4, kept_59: [k_0][n_1][m_2]f64 = kept_58) for i_18: i32 < 9i32 do
              let (row_19: i64) = i32.to_i64 i_18
              let (a'_20: [n_1][m_2]f64, b'_21: [n_1][m_2]f64) =
                map n_1 (a_14, js_6)
                  \(xs_22: [m_2]f64, j_23: i64) : ([m_2]f64, [m_2]f64) ->
                    let (vs_24: [m_2]f64, ws_25: [m_2]f64) =
                      map m_2 (xs_22, is_7)
                        \(x_26: f64, l_27: i64) : (f64, f64) ->
                          let (y_28: f64) = b_15[j_23, l_27] certified
                          let (z_29: f64) = f64.mul x_26 y_28
                          let (w_30: f64) = f64.mul z_29 z_29
                          in (z_29, w_30)
                    in (vs_24, ws_25)
              let (kept_60: [k_0][n_1][m_2]f64) = kept_59 with [row_19] = a'_20 certified
              in (a'_20, b'_21, kept_60)
          let (r_33: [n_1][m_2]f64) =
            loop (ds_34: [n_1][m_2]f64 = c_10) for i_35: i64 < 9i64 do
              let (at_36: i64) = i64.sub 8i64 i_35
              let (kept_53: [n_1][m_2]f64) = kept_52[at_36] certified
              let (es_38: [n_1][m_2]f64) =
                map n_1 (ds_34, kept_53)
                  \(ds'_39: [m_2]f64, kept_54: [m_2]f64) : ([m_2]f64) ->
                    let (es'_42: [m_2]f64) =
                      map m_2 (ds'_39, kept_54)
                        \(d_43: f64, kept_55: f64) : (f64) ->
                          let (e_51: f64) = f64.mul kept_55 d_43
                          in (e_51)
                    in (es'_42)
              in (es_38)
          in (r_33)
    "#]],
    );
}
