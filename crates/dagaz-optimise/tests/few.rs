//! Sums of which few terms count, as text.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, enumerate_nonzero_terms, simplify};
use expect_test::{Expect, expect};

/// The sum of `xs` at those `p` for which `condition` defines that it is `wanted`.
fn check(condition: &str, expected: Expect) {
    let input = format!(
        r"def f (n: i64, k: i64, xs: [n]f64) : (s: f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (last: i64) = i64.sub n 1i64
            let (s: f64) = reduce_comm n (is)
              pre \(p: i64) : (f64) ->
                {condition}
                let (part: f64) =
                  if wanted then let (x: f64) = xs[p] certified in (x) else in (0.0f64)
                in (part)
              op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
              neutral (0.0f64)
            in (s)"
    );
    let mut program = parse(&input).unwrap_or_else(|error| panic!("{error}"));
    enumerate_nonzero_terms(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn the_last_term() {
    check(
        "let (next: i64) = i64.add p 1i64
         let (wanted: bool) = i64.lt last next",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [n_0]f64) : (s_3: f64) =
              let (place_15: i64) = i64.sub n_0 1i64
              let (exists_16: bool) = i64.le 0i64 place_15
              let (part_21: f64) =
                if exists_16 then
                  let (x_20: f64) = xs_2[place_15] certified
                  in (x_20)
                else
                  in (0.0f64)
              in (part_21)
        "#]],
    );
}

#[test]
fn the_first_two_terms() {
    check(
        "let (before: i64) = i64.sub p 1i64
         let (later: bool) = i64.lt 0i64 before
         let (wanted: bool) = bool.not later",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [n_0]f64) : (s_3: f64) =
              let (exists_16: bool) = i64.lt 0i64 n_0
              let (part_22: f64) =
                if exists_16 then
                  let (x_21: f64) = xs_2[0i64] certified
                  in (x_21)
                else
                  in (0.0f64)
              let (exists_23: bool) = i64.lt 1i64 n_0
              let (part_29: f64) =
                if exists_23 then
                  let (x_28: f64) = xs_2[1i64] certified
                  in (x_28)
                else
                  in (0.0f64)
              let (s_6: f64) = f64.add part_22 part_29
              in (s_6)
        "#]],
    );
}

#[test]
fn the_term_with_a_number() {
    check(
        "let (wanted: bool) = i64.eq p k",
        expect![[r#"
        def f (n_0: i64, k_1: i64, xs_2: [n_0]f64) : (s_3: f64) =
          let (exists_15: bool) = i64.le 0i64 k_1
          let (exists_16: bool) = i64.lt k_1 n_0
          let (exists_17: bool) = bool.and exists_15 exists_16
          let (part_21: f64) =
            if exists_17 then
              let (x_20: f64) = xs_2[k_1] certified
              in (x_20)
            else
              in (0.0f64)
          in (part_21)
    "#]],
    );
}

/// How many there are depends on `k`.
#[test]
fn any_number_of_terms() {
    check(
        "let (wanted: bool) = i64.lt p k",
        expect![[r#"
        def f (n_0: i64, k_1: i64, xs_2: [n_0]f64) : (s_3: f64) =
          let (is_4: [n_0]i64) = iota i64 n_0 0i64 1i64
          let (s_6: f64) =
            reduce_comm n_0 (is_4)
              pre \(p_7: i64) : (f64) ->
                let (wanted_8: bool) = i64.lt p_7 k_1
                let (part_9: f64) =
                  if wanted_8 then
                    let (x_10: f64) = xs_2[p_7] certified
                    in (x_10)
                  else
                    in (0.0f64)
                in (part_9)
              op \(a_11: f64, b_12: f64) : (f64) ->
                let (c_13: f64) = f64.add a_11 b_12
                in (c_13)
              neutral (0.0f64)
          in (s_6)
    "#]],
    );
}

#[test]
fn three_terms() {
    check(
        "let (wanted: bool) = i64.lt p 3i64",
        expect![[r#"
        def f (n_0: i64, k_1: i64, xs_2: [n_0]f64) : (s_3: f64) =
          let (is_4: [n_0]i64) = iota i64 n_0 0i64 1i64
          let (s_6: f64) =
            reduce_comm n_0 (is_4)
              pre \(p_7: i64) : (f64) ->
                let (wanted_8: bool) = i64.lt p_7 3i64
                let (part_9: f64) =
                  if wanted_8 then
                    let (x_10: f64) = xs_2[p_7] certified
                    in (x_10)
                  else
                    in (0.0f64)
                in (part_9)
              op \(a_11: f64, b_12: f64) : (f64) ->
                let (c_13: f64) = f64.add a_11 b_12
                in (c_13)
              neutral (0.0f64)
          in (s_6)
    "#]],
    );
}
