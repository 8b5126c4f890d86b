//! Contractions of which a triangle is enough: Core in, the contractions of the result out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::note_triangles;
use expect_test::{Expect, expect};

/// `TRIANGLE` in the input is a lower triangle of parts of `s`.
fn check(input: &str, expected: Expect) {
    let input = input.replace(
        "TRIANGLE",
        r"map d (is)
            \(i: i64) : ([d]f64) ->
              let (row: [d]f64) =
                map d (is)
                  \(j: i64) : (f64) ->
                    let (above: bool) = i64.lt i j
                    let (entry: f64) =
                      if above then
                        in (0.0f64)
                      else
                        let (part: f64) = s[i] certified
                        in (part)
                    in (entry)
              in (row)",
    );
    let mut program = parse(&input).unwrap_or_else(|error| panic!("{error}"));
    note_triangles(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    let found: String = text
        .lines()
        .filter(|line| line.contains("= contract "))
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    expected.assert_eq(&found);
}

#[test]
fn an_operand_that_is_a_triangle() {
    check(
        r"def f (n: i64, d: i64, s: [d]f64, x: [n][d]f64) : (y: [n][d]f64, z: [n][d]f64) =
            let (is: [d]i64) = iota i64 d 0i64 1i64
            let (q: [d][d]f64) = TRIANGLE
            let (y: [n][d]f64) = contract [n, d] sum [d] x (0, 2) q (1, 2)
            let (z: [n][d]f64) = contract [n, d] sum [d] x (0, 2) q (2, 1)
            in (y, z)",
        expect![[r#"
            let (y_14: [n_0][d_1]f64) = contract [n_0, d_1] sum [d_1] x_3 (0, 2) q_7 (1, 2) where 2 <= 1
            let (z_15: [n_0][d_1]f64) = contract [n_0, d_1] sum [d_1] x_3 (0, 2) q_7 (2, 1) where 1 <= 2
        "#]],
    );
}

#[test]
fn zeros_survive_transposes_products_and_rows() {
    check(
        r"def f (n: i64, d: i64, s: [d]f64, x: [n][d]f64, w: [d][d]f64) : (y: [n][d]f64, z: [n][d]f64) =
            let (is: [d]i64) = iota i64 d 0i64 1i64
            let (q: [d][d]f64) = TRIANGLE
            let (t: [d][d]f64) = rearrange (1, 0) q
            let (scaled: [d][d]f64) =
              map d (w, t)
                \(u: [d]f64, v: [d]f64) : ([d]f64) ->
                  let (r: [d]f64) =
                    map d (u, v)
                      \(a: f64, b: f64) : (f64) ->
                        let (ab: f64) = f64.mul a b
                        in (ab)
                  in (r)
            let (moved: [d][d]f64) =
              map d (w, t)
                \(u: [d]f64, v: [d]f64) : ([d]f64) ->
                  let (r: [d]f64) =
                    map d (u, v)
                      \(a: f64, b: f64) : (f64) ->
                        let (ab: f64) = f64.add a b
                        in (ab)
                  in (r)
            let (y: [n][d]f64) = contract [n, d] sum [d] x (0, 2) scaled (1, 2)
            let (z: [n][d]f64) = contract [n, d] sum [d] x (0, 2) moved (1, 2)
            in (y, z)",
        expect![[r#"
            let (y_30: [n_0][d_1]f64) = contract [n_0, d_1] sum [d_1] x_3 (0, 2) scaled_16 (1, 2) where 1 <= 2
            let (z_31: [n_0][d_1]f64) = contract [n_0, d_1] sum [d_1] x_3 (0, 2) moved_23 (1, 2)
        "#]],
    );
}

/// The first is read under the condition alone, also after an addition; the second is a result, too.
#[test]
fn results_that_are_read_in_a_triangle() {
    check(
        r"def f (n: i64, d: i64, x: [n][d]f64, y: [n][d]f64) : (z: [d][d]f64, q: [d][d]f64) =
            let (is: [d]i64) = iota i64 d 0i64 1i64
            let (p: [d][d]f64) = contract [d, d] sum [n] x (2, 0) y (2, 1)
            let (q: [d][d]f64) = contract [d, d] sum [n] x (2, 1) y (2, 0)
            let (z: [d][d]f64) =
              map d (is, p, q)
                \(i: i64, u: [d]f64, v: [d]f64) : ([d]f64) ->
                  let (sums: [d]f64) =
                    map d (u, v)
                      \(a: f64, b: f64) : (f64) ->
                        let (ab: f64) = f64.add a b
                        in (ab)
                  let (row: [d]f64) =
                    map d (is, sums)
                      \(j: i64, sum: f64) : (f64) ->
                        let (above: bool) = i64.lt i j
                        let (entry: f64) =
                          if above then
                            in (1.0f64)
                          else
                            in (sum)
                        in (entry)
                  in (row)
            in (z, q)",
        expect![[r#"
            let (p_7: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] x_2 (2, 0) y_3 (2, 1) where 1 <= 0
            let (q_8: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] x_2 (2, 1) y_3 (2, 0)
        "#]],
    );
}

/// A diagonal is part of both triangles.
#[test]
fn results_that_are_read_in_a_triangle_and_along_the_diagonal() {
    check(
        r"def f (n: i64, d: i64, x: [n][d]f64, y: [n][d]f64) : (z: [d][d]f64, w: [d]f64) =
            let (is: [d]i64) = iota i64 d 0i64 1i64
            let (p: [d][d]f64) = contract [d, d] sum [n] x (2, 0) y (2, 1)
            let (z: [d][d]f64) =
              map d (is, p)
                \(i: i64, u: [d]f64) : ([d]f64) ->
                  let (row: [d]f64) =
                    map d (is, u)
                      \(j: i64, a: f64) : (f64) ->
                        let (below: bool) = i64.le j i
                        let (entry: f64) =
                          if below then
                            in (0.0f64)
                          else
                            in (a)
                        in (entry)
                  in (row)
            let (w: [d]f64) =
              map d (is)
                \(i1: i64) : (f64) ->
                  let (a1: f64) = p[i1, i1] certified
                  in (a1)
            in (z, w)",
        expect![[r#"
            let (p_7: [d_1][d_1]f64) = contract [d_1, d_1] sum [n_0] x_2 (2, 0) y_3 (2, 1) where 0 <= 1
        "#]],
    );
}
