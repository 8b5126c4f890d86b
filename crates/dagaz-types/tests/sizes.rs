//! Sizes: source in, diagnostics and types out.

mod common;

use common::check;
use expect_test::expect;

#[test]
fn sizes_are_inferred() {
    check(
        "def dot xs ys = f64.sum (map2 (*) xs ys)",
        expect![[r#"
            dot [n] : [n]f64 -> [n]f64 -> f64
        "#]],
    );
    check(
        "def rows xss = map f64.sum xss",
        expect![[r#"
            rows [n] [m] : [n][m]f64 -> *[n]f64
        "#]],
    );
    check(
        "def grid (n: i64) (m: i64) = tabulate_2d n m (\\i j -> i * j)",
        expect![[r#"
        grid : (n: i64) -> (m: i64) -> *[n][m]i64
    "#]],
    );
    check(
        "def halves [n] (xs: [n]i32) = (take (n / 2) xs, drop (n / 2) xs)",
        expect![[r#"
        halves [n] : [n]i32 -> ([n / 2]i32, [n - (n / 2)]i32)
    "#]],
    );
    check(
        "def twice = map2 (i32.+)",
        expect![[r#"
            twice [n] : [n]i32 -> [n]i32 -> *[n]i32
        "#]],
    );
}

#[test]
fn sizes_must_match() {
    check(
        "def f [n] [m] (xs: [n]i32) (ys: [m]i32) = zip xs ys",
        expect![[r#"
        test.fut:1:50: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
    "#]],
    );
    check(
        "def f = zip [1i32, 2] [true, false, true]",
        expect![[r#"
        test.fut:1:23: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
    "#]],
    );
    check(
        "def f [n] (xs: [n]i32) : [n + 1]i32 = xs",
        expect![[r#"
        test.fut:1:39: error [size-mismatch]: The body of this function does not match its return type
    "#]],
    );
    check(
        "def f [n] (xs: [n]i32) = [xs, take 2 xs]",
        expect![[r#"
        test.fut:1:31: error [size-mismatch]: All elements of an array must have the same size
    "#]],
    );
}

#[test]
fn sizes_may_mention_parameters() {
    check(
        "def ones (n: i64) : [n]i32 = replicate n 1",
        expect![[r#"
        ones : (n: i64) -> [n]i32
    "#]],
    );
    check(
        "def f (n: i64) (xs: [n]i32) = xs\ndef g (ys: [3]i32) = f 3 ys",
        expect![[r#"
        f : (n: i64) -> [n]i32 -> [n]i32
        g : [3]i32 -> [3]i32
    "#]],
    );
    check(
        "def f (n: i64) (xs: [n]i32) = xs\ndef g (ys: [3]i32) = f 4 ys",
        expect![[r#"
        test.fut:2:26: error [size-mismatch]: Cannot apply "f" to this argument (invalid type)
        f : (n: i64) -> [n]i32 -> [n]i32
    "#]],
    );
    check(
        "def f (n: i64, x: i32) : [n]i32 = replicate n x",
        expect![[r#"
        f : (i64, i32) -> ?[k].[k]i32
    "#]],
    );
}

#[test]
fn unknown_sizes_are_equal_only_to_themselves() {
    check(
        "def positive (xs: []i32) = filter (> 0) xs",
        expect![[r#"
            positive [n] : [n]i32 -> ?[k1].*[k1]i32
        "#]],
    );
    check(
        "def f (xs: []i32) = zip (filter (> 0) xs) (filter (< 0) xs)",
        expect![[r#"
        test.fut:1:44: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
    "#]],
    );
    check(
        "def f (xs: []i32) = let ys = filter (> 0) xs in zip ys (map (* 2) ys)",
        expect![[r#"
            f [n] : [n]i32 -> ?[k1].*[k1](i32, i32)
        "#]],
    );
    check(
        "def f (xss: [][]i32) = map (filter (> 0)) xss",
        expect![[r#"
        test.fut:1:29: error [unknown-size]: Cannot apply "map" to this argument (invalid type)
    "#]],
    );
    check(
        "def f (xs: []i32) = xs |> filter (> 0) |> map (* 2)",
        expect![[r#"
            f [n] : [n]i32 -> ?[k1].[k1]i32
        "#]],
    );
}

#[test]
fn sizes_that_leave_their_scope_become_unknown() {
    check(
        "def f (x: i64) = let n = x * 2 in iota n",
        expect![[r#"
        f : (x: i64) -> *[x * 2]i64
    "#]],
    );
    check(
        "def f (x: i64) = let (n, _) = (x * 2, true) in iota n",
        expect![[r#"
        f : i64 -> ?[k1].*[k1]i64
    "#]],
    );
    check(
        "def split (xs: []i32) = let k = length (filter (> 0) xs) in (take k xs, drop k xs)",
        expect![[r#"
            split [n] : [n]i32 -> ?[k2].([k2]i32, [n - k2]i32)
        "#]],
    );
}

#[test]
fn branches_may_differ_in_size() {
    check(
        "def f (b: bool) = if b then [1i32, 2] else [3]",
        expect![[r#"
        f : bool -> ?[k1].*[k1]i32
    "#]],
    );
    check(
        "def f (b: bool) = if b then ([1i32, 2], [true, false]) else ([3], [true])",
        expect![[r#"
        f : bool -> ?[k1].(*[k1]i32, *[k1]bool)
    "#]],
    );
    check(
        "def f [n] (b: bool) (xs: [n]i32) = if b then xs else map (+ 1) xs",
        expect![[r#"
        f [n] : bool -> [n]i32 -> [n]i32
    "#]],
    );
}

#[test]
fn loops_keep_or_change_sizes() {
    check(
        "def f [n] (xs: [n]i32) = loop xs for _i < 3i32 do map (+ 1) xs",
        expect![[r#"
        f [n] : [n]i32 -> [n]i32
    "#]],
    );
    check(
        "def f [n] (xs: [n]i32) = loop xs for _i < 3i32 do xs ++ xs",
        expect![[r#"
        f [n] : [n]i32 -> ?[k1].[k1]i32
    "#]],
    );
    check(
        "def f [n] (xs: [n]i32) (ys: [n]i32) = loop (xs, ys) for _i < 3i32 do (ys, xs)",
        expect![[r#"
        f [n] : [n]i32 -> [n]i32 -> ([n]i32, [n]i32)
    "#]],
    );
    check(
        "def f [n] (xs: [n]i32) = loop (k, ys: [k]i32) = (n, xs) while k > 1 do (k / 2, take (k / 2) ys)",
        expect![[r#"
            f [n] : [n]i32 -> ?[k1].(i64, [k1]i32)
        "#]],
    );
}

#[test]
fn coercions_are_checked_later() {
    check(
        "def f (n: i64) (xs: []i32) = xs :> [n]i32",
        expect![[r#"
            f [m] : (n: i64) -> [m]i32 -> [n]i32
        "#]],
    );
    check(
        "def f (xs: [][]i32) = xs :> [2][]i32",
        expect![[r#"
            f [n] [m] : [n][m]i32 -> [2][m]i32
        "#]],
    );
}

#[test]
fn size_parameters_need_a_value_to_be_read_from() {
    check(
        "def f [n] (x: i32) = n",
        expect![[r#"
        test.fut:1:8: error [unused-size-parameter]: Every size parameter must be used as the size of a parameter or of the result, but "n" is not
    "#]],
    );
    check(
        "def f [n] (xs: [n + 1]i32) = n",
        expect![[r#"
        f [n] : [n + 1]i32 -> i64
    "#]],
    );
}

#[test]
fn results_of_a_function_argument_may_differ_in_size() {
    check(
        "def twice '^a '^b (f: a -> b) (x: a) (y: a) = (f x, f y)\ndef f (n: i64) (m: i64) = twice iota n m",
        expect![[r#"
            twice '^a '^b : (a -> b) -> a -> a -> (b, b)
            f : i64 -> i64 -> ?[k3][k4].([k3]i64, [k4]i64)
        "#]],
    );
}
