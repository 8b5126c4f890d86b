//! Last iterations as text: Core before and after, with the clean-up that follows.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, insert_copies, peel_last_iterations, simplify};
use expect_test::{Expect, expect};

/// A loop that keeps its states, of which these are used afterwards.
fn check(result: &str, ty: &str, expected: Expect) {
    let input = format!(
        r"def f (k: i64, n: i64, xs: [n]f64) : (r: {ty}) =
            let (room: [k][n]f64) = scratch f64 [k, n]
            let (state: [n]f64, kept: [k][n]f64) =
              loop (now: [n]f64 = xs, saved: [k][n]f64 = room) for i: i64 < k do
                let (more: [k][n]f64) = saved with [i] = now certified
                let (next: [n]f64) = map n (now) \(x: f64) : (f64) ->
                  let (y: f64) = f64.mul x x
                  in (y)
                in (next, more)
            in ({result})"
    );
    let mut program = parse(&input).unwrap_or_else(|error| panic!("{error}"));
    peel_last_iterations(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn states_after_the_last_one_that_is_kept_are_not_computed() {
    check(
        "kept",
        "[k][n]f64",
        expect![[r#"
        def f (k_0: i64, n_1: i64, xs_2: [n_1]f64) : (r_3: [k_0][n_1]f64) =
          let (room_4: [k_0][n_1]f64) = scratch f64 [k_0, n_1]
          let (max_14: i64) = i64.max k_0 1i64
          let (sub_15: i64) = i64.sub max_14 1i64
          let (state_16: [n_1]f64, kept_17: [k_0][n_1]f64) =
            loop (now_7: [n_1]f64 = xs_2, saved_8: [k_0][n_1]f64 = room_4) for i_9: i64 < sub_15 do
              let (more_10: [k_0][n_1]f64) = saved_8 with [i_9] = now_7 certified
              let (next_11: [n_1]f64) =
                map n_1 (now_7)
                  \(x_12: f64) : (f64) ->
                    let (y_13: f64) = f64.mul x_12 x_12
                    in (y_13)
              in (next_11, more_10)
          let (lt_19: bool) = i64.lt 0i64 k_0
          let (kept_6: [k_0][n_1]f64) =
            if lt_19 then
              let (more_18: [k_0][n_1]f64) = kept_17 with [sub_15] = state_16 certified
              in (more_18)
            else
              in (kept_17)
          in (kept_6)
    "#]],
    );
}

#[test]
fn states_that_are_used_are_computed() {
    check(
        "state",
        "[n]f64",
        expect![[r#"
        def f (k_0: i64, n_1: i64, xs_2: [n_1]f64) : (r_3: [n_1]f64) =
          let (state_5: [n_1]f64) =
            loop (now_7: [n_1]f64 = xs_2) for i_9: i64 < k_0 do
              let (next_11: [n_1]f64) =
                map n_1 (now_7)
                  \(x_12: f64) : (f64) ->
                    let (y_13: f64) = f64.mul x_12 x_12
                    in (y_13)
              in (next_11)
          in (state_5)
    "#]],
    );
}
