//! Bounds proofs as text: each program is shown by its accesses and assertions after the pass.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::prove_bounds;
use expect_test::{Expect, expect};

/// The lines that read, update or assert.
fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    prove_bounds(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    let is_shown = |line: &&str| line.contains("s_") && line.contains("] ") && line.contains(" = ");
    let is_access = |line: &&str| line.trim_end().ends_with(['d', ']']) && line.contains(" = ");
    let shown = text.lines().skip(1).map(str::trim).filter(|line| {
        line.contains("assert") || line.contains(" with ") || is_access(line) || is_shown(line)
    });
    let shown: Vec<&str> = shown.filter(|line| !line.contains("iota")).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn counters_with_offsets() {
    check(
        r"def f (n: i64, xs: [n]f64) : (r: f64) =
            let (m: i64) = i64.sub n 1i64
            let (r: f64) = loop (s: f64 = 0.0f64) for i: i64 < m do
              let (j: i64) = i64.add i 1i64
              let (a: f64) = xs[j]
              let (k: i64) = i64.sub m i
              let (b: f64) = xs[k]
              let (l: i64) = i64.sub i 1i64
              let (c: f64) = xs[l]
              let (t: f64) = f64.add a b
              let (u: f64) = f64.add t c
              in (u)
            in (r)",
        expect![[r#"
            let (a_8: f64) = xs_1[j_7] certified
            let (b_10: f64) = xs_1[k_9] certified
            let (c_12: f64) = xs_1[l_11]
        "#]],
    );
}

#[test]
fn neighbours_that_are_guarded_clamped_or_wrapped() {
    check(
        r"def f (n: i64, xs: [n]f64) : (ys: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (ys: [n]f64) = map n (is) \(i: i64) : (f64) ->
              let (left: i64) = i64.sub i 1i64
              let (right: i64) = i64.add i 1i64
              let (low: i64) = i64.max 0i64 left
              let (last: i64) = i64.sub n 1i64
              let (high: i64) = i64.min last right
              let (a: f64) = xs[low]
              let (b: f64) = xs[high]
              let (next: i64) = i64.mod right n
              let (c: f64) = xs[next]
              let (p: bool) = i64.lt 0i64 i
              let (q: bool) = i64.lt i last
              let (inner: bool) = bool.and p q
              let (d: f64) = if inner then
                let (e: f64) = xs[left]
                let (f: f64) = xs[right]
                let (g: f64) = f64.add e f
                in (g)
              else
                let (e: f64) = xs[left]
                in (e)
              let (s: f64) = f64.add a b
              let (t: f64) = f64.add c d
              let (u: f64) = f64.add s t
              in (u)
            in (ys)",
        expect![[r#"
            let (a_11: f64) = xs_1[low_8] certified
            let (b_12: f64) = xs_1[high_10] certified
            let (c_14: f64) = xs_1[next_13] certified
            let (e_19: f64) = xs_1[left_6] certified
            let (f_20: f64) = xs_1[right_7] certified
            let (e_22: f64) = xs_1[left_6]
        "#]],
    );
}

#[test]
fn flat_indices() {
    check(
        r"def f (n: i64, m: i64, xs: [n][m]f64) : (ys: [n][m]f64) =
            let (k: i64) = i64.mul n m
            let (flat: [k]f64) = reshape [k] xs
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (ks: [k]i64) = iota i64 k 0i64 1i64
            let (zs: [k]f64) = map k (ks) \(i: i64) : (f64) ->
              let (q: i64) = i64.div i m
              let (r: i64) = i64.mod i m
              let (z: f64) = xs[q, r]
              in (z)
            let (ys: [n][m]f64) = map n (is) \(i: i64) : ([m]f64) ->
              let (row: [m]f64) = map m (js) \(j: i64) : (f64) ->
                let (p: i64) = i64.mul i m
                let (q: i64) = i64.add p j
                let (y: f64) = flat[q]
                let (z: f64) = zs[q]
                let (w: f64) = xs[j, i]
                let (s: f64) = f64.add y z
                let (t: f64) = f64.add s w
                in (t)
              in (row)
            in (ys)",
        expect![[r#"
            let (flat_5: [k_4]f64) = reshape [k_4] xs_2
            let (z_13: f64) = xs_2[q_11, r_12] certified
            let (y_20: f64) = flat_5[q_19] certified
            let (z_21: f64) = zs_9[q_19] certified
            let (w_22: f64) = xs_2[j_17, i_15]
        "#]],
    );
}

#[test]
fn numbers_that_may_wrap_prove_nothing() {
    check(
        r"def f (n: i64, k: i64, xs: [n]f64) : (a: f64, b: f64) =
            let (j: i64) = i64.add k 1i64
            let (p: bool) = i64.lt k n
            let (q: bool) = i64.lt 0i64 j
            let (both: bool) = bool.and p q
            let (a: f64) = if both then
              let (x: f64) = xs[k]
              in (x)
            else
              in (0.0f64)
            let (d: i64) = i64.mul k 4i64
            let (r: bool) = i64.le 0i64 d
            let (s: bool) = i64.lt k n
            let (t: bool) = bool.and r s
            let (b: f64) = if t then
              let (x: f64) = xs[k]
              in (x)
            else
              in (0.0f64)
            in (a, b)",
        expect![[r#"
            let (x_10: f64) = xs_2[k_1]
            let (x_16: f64) = xs_2[k_1]
        "#]],
    );
}

#[test]
fn checks_and_assertions_tell_what_follows() {
    check(
        r#"def f (n: i64, k: i64, xs: [n]f64, is: [n]i64) : (ys: [n]f64) =
            let (i: i64) = is[k]
            let (a: f64) = xs[k]
            let (b: f64) = xs[i]
            let (c: bool) = i64.le 0i64 i
            let (d: bool) = i64.lt i n
            let (e: bool) = bool.and c d
            let () = assert e ("always")
            let (g: bool) = i64.lt 2i64 n
            let () = assert g ("sometimes")
            let (h: f64) = xs[1i64]
            let (s: f64) = f64.add a b
            let (t: f64) = f64.add s h
            let (ys: [n]f64) = xs with [i] = t
            let (zs: [n]f64) = ys with [3i64] = t
            in (zs)"#,
        expect![[r#"
            let (i_5: i64) = is_3[k_1]
            let (a_6: f64) = xs_2[k_1] certified
            let (b_7: f64) = xs_2[i_5]
            let () = assert true ("always")
            let () = assert g_11 ("sometimes")
            let (h_12: f64) = xs_2[1i64] certified
            let (ys_15: [n_0]f64) = xs_2 with [i_5] = t_14 certified
            let (zs_16: [n_0]f64) = ys_15 with [3i64] = t_14
        "#]],
    );
}

#[test]
fn parts_of_a_row_that_are_side_by_side() {
    // Only inside of the map over the rows is it known that there is one, so that the width of rows is bounded by memory.
    check(
        r"def f (n: i64, h: i64, m: i64, cells: [n][h]f64, parts: [n][m]f64) : (ys: [n][h]f64) =
            let (w: i64) = i64.mul 2i64 h
            let (c: bool) = i64.eq m w
            let () = assert c ()
            let (gates: [n][w]f64) = reshape [n, w] parts
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [h]i64) = iota i64 h 0i64 1i64
            let (ys: [n][h]f64) = map n (is, cells) \(i: i64, cell: [h]f64) : ([h]f64) ->
              let (zs: [h]f64) = map h (js, cell) \(j: i64, x: f64) : (f64) ->
                let (k: i64) = i64.add h j
                let (a: f64) = gates[i, k]
                let (l: i64) = i64.add w j
                let (b: f64) = gates[i, l]
                let (d: f64) = f64.add a b
                in (d)
              in (zs)
            in (ys)",
        expect![[r#"
            let () = assert c_7 ()
            let (gates_8: [n_0][w_6]f64) = reshape [n_0, w_6] parts_4
            let (a_18: f64) = gates_8[i_12, k_17] certified
            let (b_20: f64) = gates_8[i_12, l_19]
        "#]],
    );
}
