//! Arrays of which a loop writes each row once, as text: Core before and after.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, insert_copies, simplify, skip_initial_writes};
use expect_test::{Expect, expect};

fn result(input: &str) -> (bool, String) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    let has_changed = skip_initial_writes(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    (has_changed, text)
}

fn check(input: &str, expected: Expect) {
    expected.assert_eq(&result(input).1);
}

/// A loop over an array that begins with zeros, with what it does in an iteration.
fn program(body: &str) -> String {
    format!(
        r"def f (n: i64, m: i64, k: i64, last: i64, as: [m]f64, bs: [n][m]f64) : (r: [n][m]f64, c: i64) =
            let (zs: [n][m]f64) = replicate [n, m] 0.0f64
            let (r: [n][m]f64, c: i64) =
              loop (xs: [n][m]f64 = zs, p: i64 = 0i64) for j: i64 < k do
                let (next: i64) = i64.add p 2i64
                {body}
                in (ys, next)
            in (r, c)"
    )
}

const ADDED: &str = r"let (row: [m]f64) = map m (is, as) \(q: i64, a: f64) : (f64) ->
                  let (x: f64) = xs[i, q] certified
                  let (y: f64) = f64.add x a
                  in (y)
                let (ys: [n][m]f64) = xs with [i, 0i64 :+ m * 1i64] = row certified";

#[test]
fn rows_from_the_last_on_are_fresh() {
    let index = "let (is: [m]i64) = iota i64 m 0i64 1i64 let (i: i64) = i64.sub last j";
    check(
        &program(&format!("{index} {ADDED}")),
        expect![[r#"
        def f (n_0: i64, m_1: i64, k_2: i64, last_3: i64, as_4: [m_1]f64, bs_5: [n_0][m_1]f64) : (r_6: [n_0][m_1]f64, c_7: i64) =
          let (max_23: i64) = i64.max k_2 0i64
          let (sub_24: i64) = i64.sub last_3 max_23
          let (add_25: i64) = i64.add sub_24 1i64
          let (add_26: i64) = i64.add add_25 max_23
          let (min_27: i64) = i64.min add_25 n_0
          let (max_28: i64) = i64.max min_27 0i64
          let (min_29: i64) = i64.min add_26 n_0
          let (max_30: i64) = i64.max min_29 max_28
          let (sub_31: i64) = i64.sub n_0 max_30
          let (fresh_32: [n_0][m_1]f64) = scratch f64 [n_0, m_1]
          let (same_33: [max_28][m_1]f64) = replicate [max_28, m_1] 0.0f64
          let (fresh_34: [n_0][m_1]f64) = fresh_32 with [0i64 :+ max_28 * 1i64, 0i64 :+ m_1 * 1i64] = same_33 certified
          let (same_35: [sub_31][m_1]f64) = replicate [sub_31, m_1] 0.0f64
          let (fresh_36: [n_0][m_1]f64) = fresh_34 with [max_30 :+ sub_31 * 1i64, 0i64 :+ m_1 * 1i64] = same_35 certified
          let (r_9: [n_0][m_1]f64, c_10: i64) =
            loop (xs_11: [n_0][m_1]f64 = fresh_36, p_12: i64 = 0i64) for j_13: i64 < k_2 do
              let (next_14: i64) = i64.add p_12 2i64
              let (i_16: i64) = i64.sub last_3 j_13
              let (row_17: [m_1]f64) =
                map m_1 (as_4)
                  \(a_19: f64) : (f64) ->
                    let (y_21: f64) = f64.add 0.0f64 a_19
                    in (y_21)
              let (ys_22: [n_0][m_1]f64) = xs_11 with [i_16, 0i64 :+ m_1 * 1i64] = row_17 certified
              in (ys_22, next_14)
          in (r_9, c_10)
    "#]],
    );
}

#[test]
fn rows_from_the_first_on_are_fresh_and_may_be_read_as_a_whole() {
    let body = r"let (i: i64) = i64.add j 1i64
                let (old: [m]f64) = xs[i] certified
                let (row: [m]f64) = map m (old, as) \(x: f64, a: f64) : (f64) ->
                  let (y: f64) = f64.add x a
                  in (y)
                let (ys: [n][m]f64) = xs with [i] = row certified";
    check(
        &program(body),
        expect![[r#"
        def f (n_0: i64, m_1: i64, k_2: i64, last_3: i64, as_4: [m_1]f64, bs_5: [n_0][m_1]f64) : (r_6: [n_0][m_1]f64, c_7: i64) =
          let (max_22: i64) = i64.max k_2 0i64
          let (add_23: i64) = i64.add 1i64 max_22
          let (min_24: i64) = i64.min 1i64 n_0
          let (max_25: i64) = i64.max min_24 0i64
          let (min_26: i64) = i64.min add_23 n_0
          let (max_27: i64) = i64.max min_26 max_25
          let (sub_28: i64) = i64.sub n_0 max_27
          let (fresh_29: [n_0][m_1]f64) = scratch f64 [n_0, m_1]
          let (same_30: [max_25][m_1]f64) = replicate [max_25, m_1] 0.0f64
          let (fresh_31: [n_0][m_1]f64) = fresh_29 with [0i64 :+ max_25 * 1i64, 0i64 :+ m_1 * 1i64] = same_30 certified
          let (same_32: [sub_28][m_1]f64) = replicate [sub_28, m_1] 0.0f64
          let (fresh_33: [n_0][m_1]f64) = fresh_31 with [max_27 :+ sub_28 * 1i64, 0i64 :+ m_1 * 1i64] = same_32 certified
          let (r_9: [n_0][m_1]f64, c_10: i64) =
            loop (xs_11: [n_0][m_1]f64 = fresh_33, p_12: i64 = 0i64) for j_13: i64 < k_2 do
              let (next_14: i64) = i64.add p_12 2i64
              let (i_15: i64) = i64.add j_13 1i64
              let (row_17: [m_1]f64) =
                map m_1 (as_4)
                  \(a_19: f64) : (f64) ->
                    let (y_20: f64) = f64.add 0.0f64 a_19
                    in (y_20)
              let (ys_21: [n_0][m_1]f64) = xs_11 with [i_15] = row_17 certified
              in (ys_21, next_14)
          in (r_9, c_10)
    "#]],
    );
}

#[test]
fn rows_that_may_have_been_written_are_not_fresh() {
    let stays = |body: &str| {
        let (has_changed, text) = result(&program(body));
        assert!(!has_changed, "{text}");
    };
    let numbers = "let (is: [m]i64) = iota i64 m 0i64 1i64";
    // The same row again and again, one that something else counts, and every other one.
    stays(&format!("{numbers} let (i: i64) = i64.sub last 1i64 {ADDED}"));
    stays(&format!("{numbers} let (i: i64) = i64.sub last p {ADDED}"));
    stays(&format!("{numbers} let (i: i64) = i64.add j j {ADDED}"));
    // Other rows are read, too, or the whole array.
    stays(&format!(
        "{numbers} let (i: i64) = i64.sub last j let (o: f64) = xs[last, 0i64] certified
        let (as: [m]f64) = replicate [m] o {ADDED}"
    ));
    // A part of a row is written.
    stays(
        r"let (one: [1]f64) = replicate [1i64] 1.0f64
        let (ys: [n][m]f64) = xs with [j, 0i64 :+ 1i64 * 1i64] = one certified",
    );
    // What is written is not what the next iteration has.
    stays(
        r"let (zs: [n][m]f64) = xs with [j] = as certified
        let (w: f64) = zs[0i64, 0i64] certified
        let (vs: [m]f64) = replicate [m] w
        let (ys: [n][m]f64) = bs with [j] = vs certified",
    );
}
