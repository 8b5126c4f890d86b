//! Loops that compute states where they are kept, as text: Core before and after, with the clean-up that follows.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, insert_copies, simplify, tape_in_place};
use expect_test::{Expect, expect};

/// A loop that keeps its states, of which these are used afterwards. `step` makes `next` of `now`.
fn check(step: &str, result: &str, expected: Expect) {
    let ty = if result == "kept" { "r: [k][n]f64" } else { "r: [n]f64, q: [k][n]f64" };
    let input = format!(
        r"def f (k: i64, n: i64, xs: [n]f64) : ({ty}) =
            let (room: [k][n]f64) = scratch f64 [k, n]
            let (state: [n]f64, kept: [k][n]f64) =
              loop (now: [n]f64 = xs, saved: [k][n]f64 = room) for i: i64 < k do
                let (more: [k][n]f64) = saved with [i] = now certified
                {step}
                in (next, more)
            in ({result})"
    );
    check_program(&input, expected);
}

fn check_program(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    eliminate_dead_code(&mut program);
    tape_in_place(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    let shown = |line: &&str| {
        ["loop", "with", " map ", "now", "copy", "if ", "let (state", "let (kept"]
            .iter()
            .any(|word| line.contains(word))
    };
    let lines: Vec<&str> = text.lines().filter(shown).map(str::trim).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

const SQUARES: &str = r"let (next: [n]f64) = map n (now) \(x: f64) : (f64) ->
                  let (y: f64) = f64.mul x x
                  in (y)";

#[test]
fn states_that_are_kept_are_computed_there() {
    check(
        SQUARES,
        "kept",
        expect![[r#"
            if lt_15 then
            let (saved_17: [k_0][n_1]f64) = room_4 with [0i64] = xs_2 certified
            let (kept_6: [k_0][n_1]f64) =
            loop (saved_8: [k_0][n_1]f64 = saved_18) for i_9: i64 < sub_16 do
            let (now_7: [n_1]f64) = saved_8[i_9] certified
            map n_1 (now_7)
            let (more_10: [k_0][n_1]f64) = saved_8 with [add_19] = next_11 certified
        "#]],
    );
}

#[test]
fn a_state_that_is_used_after_the_loop_gets_a_row_of_its_own() {
    check(
        SQUARES,
        "state, kept",
        expect![[r#"
            let (saved_18: [add_16][n_1]f64) = saved_17 with [0i64] = xs_2 certified
            loop (saved_9: [add_16][n_1]f64 = saved_18) for i_10: i64 < k_0 do
            let (now_8: [n_1]f64) = saved_9[i_10] certified
            map n_1 (now_8)
            let (more_11: [add_16][n_1]f64) = saved_9 with [add_20] = next_12 certified
            let (state_6: [n_1]f64) = saved_19[max_15] certified
            let (kept_7: [k_0][n_1]f64) = slice saved_19 [0i64 :+ k_0 * 1i64, 0i64 :+ n_1 * 1i64]
        "#]],
    );
}

#[test]
fn what_can_stop_the_program_runs_in_the_last_iteration_too() {
    let read = r"let (next: [n]f64) = map n (now) \(x: f64) : (f64) ->
                  let (at: i64) = f64.to_i64 x
                  let (y: f64) = now[at]
                  in (y)";
    check(
        read,
        "kept",
        expect![[r#"
            let (saved_18: [add_16][n_1]f64) = saved_17 with [0i64] = xs_2 certified
            loop (saved_8: [add_16][n_1]f64 = saved_18) for i_9: i64 < k_0 do
            let (now_7: [n_1]f64) = saved_8[i_9] certified
            map n_1 (now_7)
            let (y_14: f64) = now_7[at_13]
            let (more_10: [add_16][n_1]f64) = saved_8 with [add_20] = next_11 certified
            let (kept_6: [k_0][n_1]f64) = slice saved_19 [0i64 :+ k_0 * 1i64, 0i64 :+ n_1 * 1i64]
        "#]],
    );
}

#[test]
fn what_no_map_makes_is_copied_as_before() {
    check(
        "let (next: [n]f64) = copy now",
        "kept",
        expect![[r#"
            let (state_5: [n_1]f64, kept_6: [k_0][n_1]f64) =
            loop (now_7: [n_1]f64 = xs_2, saved_8: [k_0][n_1]f64 = room_4) for i_9: i64 < k_0 do
            let (more_10: [k_0][n_1]f64) = saved_8 with [i_9] = now_7 certified
            let (next_11: [n_1]f64) = copy now_7
        "#]],
    );
}

#[test]
fn the_program_may_keep_the_last_state_itself() {
    let input = r"def f (k: i64, n: i64, xs: [n]f64) : (m: i64, r: [m][n]f64) =
            let (end: i64) = i64.max k 0i64
            let (rows: i64) = i64.add end 1i64
            let (room: [rows][n]f64) = scratch f64 [rows, n]
            let (state: [n]f64, kept: [rows][n]f64) =
              loop (now: [n]f64 = xs, saved: [rows][n]f64 = room) for i: i64 < k do
                let (more: [rows][n]f64) = saved with [i] = now certified
                let (next: [n]f64) = map n (now) \(x: f64) : (f64) ->
                  let (y: f64) = f64.mul x x
                  in (y)
                in (next, more)
            let (all: [rows][n]f64) = kept with [end] = state certified
            in (rows, all)";
    check_program(
        input,
        expect![[r#"
        let (saved_19: [rows_6][n_1]f64) = room_7 with [0i64] = xs_2 certified
        let (kept_9: [rows_6][n_1]f64) =
        loop (saved_11: [rows_6][n_1]f64 = saved_19) for i_12: i64 < k_0 do
        let (now_10: [n_1]f64) = saved_11[i_12] certified
        map n_1 (now_10)
        let (more_13: [rows_6][n_1]f64) = saved_11 with [add_20] = next_14 certified
    "#]],
    );
}
