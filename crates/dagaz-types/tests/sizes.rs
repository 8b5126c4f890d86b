//! Sizes: source in, diagnostics and types out.

mod common;

use common::{check, check_as, check_with_help};
use dagaz_types::Dialect;
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

#[test]
fn sizes_inside_of_sizes_are_found() {
    check(
        "def g [m] (a: [(m * m) * m]f64) = m
def f [n] (_: [n]f64) (b: [((n * 2) * (n * 2)) * (n * 2)]f64) = g b",
        expect![[r#"
            g [m] : [(m * m) * m]f64 -> i64
            f [n] : [n]f64 -> [((n * 2) * (n * 2)) * (n * 2)]f64 -> i64
        "#]],
    );
    check(
        "def g [t] [r] (a: [t * t][r * r + 1]f32) = (t, r)
def f [n] (_: [n]f64) (a: [n * n][n * n + 1]f32) = g a",
        expect![[r#"
            g [t] [r] : [t * t][(r * r) + 1]f32 -> (i64, i64)
            f [n] : [n]f64 -> [n * n][(n * n) + 1]f32 -> (i64, i64)
        "#]],
    );
    check_with_help(
        "def g [m] (a: [m * m]f64) = m
def f [n] [k] (_: [n]f64) (_: [k]f64) (a: [n * k]f64) = g a",
        expect![[r#"
            test.fut:2:59: error [size-mismatch]: Cannot apply "g" to this argument (invalid type)
              test.fut:2:59: has type "[n * k]f64"
              expected type: [n * n]f64
              Sizes "n * n" and "n * k" do not match
        "#]],
    );
}

#[test]
fn different_sizes_never_look_the_same() {
    check_with_help(
        "def f [n] (a: [n]i64) = let n = n + 1 in zip a (iota n)",
        expect![[r#"
        test.fut:1:49: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
          test.fut:1:49: has type "*[n]i64"
          test.fut:1:8: "n" is bound here
          test.fut:1:29: "n'" is bound here
          expected type: [n]i64
          Sizes "n" and "n'" do not match; "n'" is another "n"
    "#]],
    );
    check_with_help(
        "def f [n] (a: [n + 1]i64) = let g (n: i64) (b: [n + 1]i64) = zip a b in g",
        expect![[r#"
            test.fut:1:68: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
              test.fut:1:68: has type "[n + 1]i64"
              test.fut:1:8: "n" is bound here
              test.fut:1:36: "n'" is bound here
              expected type: [n + 1]i64
              Sizes "n + 1" and "n' + 1" do not match; "n'" is another "n"
        "#]],
    );
    check_with_help(
        "def k : i64 = 5
def f (a: [k]i64) = let g (k: i64) (b: [k]i64) = zip a b in g",
        expect![[r#"
            test.fut:2:56: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
              test.fut:2:56: has type "[k]i64"
              test.fut:1:5: "k" is bound here
              test.fut:2:28: "k'" is bound here
              expected type: [k]i64
              Sizes "k" and "k'" do not match; "k'" is another "k"
        "#]],
    );
    check_with_help(
        "def f (k: i64) (a: [k]i64) (xs: []i64) = zip a (filter (> 0) xs)",
        expect![[r#"
            test.fut:1:49: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
              test.fut:1:49: has type "*[k]i64"
              test.fut:1:8: "k" is bound here
              test.fut:1:62: the unknown size "k" is the size of a function's result
              expected type: [k]i64
              Sizes "k" and "k'" do not match; "k'" is another "k", "k'" is the size of a function's result
        "#]],
    );
}

#[test]
fn constant_sizes_are_computed() {
    let source = "def slice (c: [9]f64) : [3]f64 = c[3:6]
def add (c: [9 + 3]f64) : [12]f64 = c
def partly (n: i64) (c: [n + (6 - 2)]f64) : [n + 4]f64 = c
def bound (c: [9]f64) : [4]f64 = let k = 3 in c[k:k + 4]
def negative (n: i64) (c: [n - (2 - 3)]f64) = c
def halves (c: [9 / 2]f64) : [4]f64 = c";
    check(
        source,
        expect![[r#"
            slice : [9]f64 -> [3]f64
            add : [9 + 3]f64 -> [12]f64
            partly : (n: i64) -> [n + (6 - 2)]f64 -> [n + 4]f64
            bound : [9]f64 -> [4]f64
            negative : (n: i64) -> [n - (2 - 3)]f64 -> [n - (2 - 3)]f64
            halves : [9 / 2]f64 -> [4]f64
        "#]],
    );
    check_as(
        Dialect::Strict,
        "def slice (c: [9]f64) : [3]f64 = c[3:6]",
        expect![[r#"
        test.fut:1:34: error [size-mismatch]: The body of this function does not match its return type
    "#]],
    );
    check_as(
        Dialect::Strict,
        "def add (c: [9 + 3]f64) : [12]f64 = c",
        expect![[r#"
        test.fut:1:37: error [size-mismatch]: The body of this function does not match its return type
    "#]],
    );
}

#[test]
fn branches_say_nothing_about_parameters() {
    check(
        r#"def greet (name: []u8) = let n = if null name then "you" else name in "One for " ++ n
def inner (b: bool) = let f (xs: []i32) = if b then xs else [1] in (f [1, 2], f [3])
def lambda = \b (xs: []i32) -> if b then xs else [1]
def either (b: bool) (xs: []i32) (ys: []i32) = if b then xs else ys
def same (b: bool) (xs: []i32) = if b then xs else map (+ 1) xs
def cases (n: i32) (xs: []i32) = match n case 0 -> [1, 2] case _ -> xs
def again (xs: []i32) (ys: []i32) = loop zs = xs for _i < 3i32 do ys
def shorter (xs: []i32) = loop zs = xs for _i < 3i32 do [1, 2]
def made (b: bool) (xs: []i32) : []i32 = if b then rep 0 else xs"#,
        expect![[r#"
            greet [n] : [n]u8 -> ?[k1].*[k1]u8
            inner : bool -> ?[k4][k5].(*[k4]i32, *[k5]i32)
            lambda [n] : bool -> [n]i32 -> ?[k1].[k1]i32
            either [n] [m] : bool -> [n]i32 -> [m]i32 -> ?[k1].[k1]i32
            same [n] : bool -> [n]i32 -> [n]i32
            cases [m] : i32 -> [m]i32 -> ?[k1].[k1]i32
            again [n] [m] : [n]i32 -> [m]i32 -> ?[k1].[k1]i32
            shorter [n] : [n]i32 -> ?[k1].[k1]i32
            made [n] : bool -> [n]i32 -> [n]i32
        "#]],
    );
    check(
        "def f (c: bool) (xss: [][]i32) (ys: []i32) = map (\\xs -> if c then xs else ys) xss",
        expect![[r#"
            test.fut:1:51: error [unknown-size]: Cannot apply "map" to this argument (invalid type)
        "#]],
    );
    check(
        "def f (c: bool) (xss: [][3]i32) = map (\\xs -> if c then xs else [1, 2, 3]) xss
def g [n] (c: bool) (xss: [][n]i32) (yss: [][n]i32) = map2 (\\xs ys -> if c then xs else ys) xss yss
def h [n] (c: bool) (xss: [][n]i32) (yss: [][n]i32) = zip xss yss |> map (\\(xs, ys) -> if c then xs else ys)",
        expect![[r#"
            f [n] : bool -> [n][3]i32 -> *[n][3]i32
            g [n] [m] : bool -> [m][n]i32 -> [m][n]i32 -> *[m][n]i32
            h [n] [m] : bool -> [m][n]i32 -> [m][n]i32 -> *[m][n]i32
        "#]],
    );
}

#[test]
fn copies_need_a_number() {
    check_with_help(
        "def f (x: i32) = length (rep x)",
        expect![[r#"
        test.fut:1:26: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
    check_with_help(
        "def f (x: i32) = x |> rep |> length",
        expect![[r#"
        test.fut:1:23: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
    check_with_help(
        "def f (x: f64) = f64.sum (map f64.sqrt (rep x))",
        expect![[r#"
        test.fut:1:41: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
    check(
        "def f (x: i32) = rep x\ndef g (x: i32) (y: [3]i32) = zip (f x) y",
        expect![[r#"
        f [n] : i32 -> *[n]i32
        g : i32 -> [3]i32 -> *[3](i32, i32)
    "#]],
    );
    check_with_help(
        "def f (x: i32) : []i32 = rep x\ndef g (x: i32) = i32.sum (f x)",
        expect![[r#"
        test.fut:2:27: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "f" is
          add an explicit type ascription with a size
    "#]],
    );
}

#[test]
fn copies_for_a_function_need_a_number() {
    // A lambda that takes an array of any size does not say how many copies there are.
    check_with_help(
        "def f (x: i32) = (.[0:2]) (rep x)",
        expect![[r#"
        test.fut:1:28: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
    check_with_help(
        "def f (x: i32) = (.[0:2]) <| rep x",
        expect![[r#"
        test.fut:1:30: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
    check_with_help(
        "def f (x: i32) = let first = (.[0:2]) in first (rep x)",
        expect![[r#"
        test.fut:1:49: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
    check_with_help(
        "def f (x: i32) = (\\(xs: []i32) -> i32.sum xs) (rep x)",
        expect![[r#"
        test.fut:1:48: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "rep" is
          add an explicit type ascription with a size
    "#]],
    );
}

#[test]
fn functions_as_parameters_of_parameters() {
    // The results of such a function differ in size, so that who takes it must not rely on one.
    check_with_help(
        "def apply (f: (i64 -> []i32) -> i32) : i32 = f (\\n -> replicate n 1)\ndef g = apply (\\(p: i64 -> [3]i32) -> (p 3)[2])",
        expect![[r#"
            test.fut:2:16: error [unknown-size]: Cannot apply "apply" to this argument (invalid type)
              test.fut:2:16: has type "(i64 -> [3]i32) -> i32"
              expected type: (i64 -> ?[k].[k]i32) -> i32
              The function returns a value of type "[k]i32", whose size is unknown, but it must be the same for every application
        "#]],
    );
    check_with_help(
        "def apply (f: (i64 -> []i32) -> i32) : i32 = f (\\n -> replicate n 1)\ndef g = apply (\\p -> i32.sum (map2 (+) (p 2) (p 3)))",
        expect![[r#"
            test.fut:2:47: error [size-mismatch]: Cannot apply "map2" to this argument (invalid type)
              test.fut:2:47: has type "[k1]i32"
              test.fut:2:43: the unknown size "k" is the size of a function's result
              test.fut:2:49: the unknown size "k1" is the size of a function's result
              expected type: [k]i32
              Sizes "k" and "k1" do not match
        "#]],
    );
    check(
        "def apply (f: (i64 -> []i32) -> i32) : i32 = f (\\n -> replicate n 1)\ndef g = apply (\\p -> i32.sum (p 2) + i32.sum (p 3))",
        expect![[r#"
            apply : ((i64 -> ?[k].[k]i32) -> i32) -> i32
            g : i32
        "#]],
    );
    check(
        "def apply (f: ((n: i64) -> [n]i32) -> i32) : i32 = f (\\n -> replicate n 1)\ndef g = apply (\\p -> i32.sum (map2 (+) (p 2) [1, 2]))",
        expect![[r#"
            apply : (((n: i64) -> [n]i32) -> i32) -> i32
            g : i32
        "#]],
    );
}

#[test]
fn functions_of_sizes_through_type_parameters() {
    check(
        "type^ sums = {of: (k: i64) -> [k]f64 -> f64}\ndef make (_: bool) : (sums, i32) = ({of = \\(k: i64) (xs: [k]f64) -> f64.sum xs}, 0)\ndef use (s: sums) = s.of 3 [1, 2, 3]\ndef f = make true |> (.0) |> use\ndef id '^a (x: a) : a = x\ndef g = (id (\\(k: i64) -> replicate k 1i32)) 3",
        expect![[r#"
            make : bool -> ({of: (k: i64) -> [k]f64 -> f64}, i32)
            use : {of: (k: i64) -> [k]f64 -> f64} -> f64
            f : f64
            id '^a : a -> a
            g : [3]i32
        "#]],
    );
}

#[test]
fn lifted_type_parameters_of_values_that_differ_in_size() {
    let pick = "def pick '~a (b: bool) (x: () -> a) (y: () -> a) : a = if b then x () else y ()";
    let both = "def both '~a 'b (x: () -> a) (y: () -> a) (f: (() -> a) -> (() -> a) -> b) : b = f x y";
    check(
        &format!("{pick}\ndef f (b: bool) (xs: []i32) = pick b (\\() -> xs) (\\() -> xs ++ [1])"),
        expect![[r#"
            pick '~a : bool -> (() -> a) -> (() -> a) -> a
            f [n] : bool -> [n]i32 -> ?[k1].[k1]i32
        "#]],
    );
    check(
        &format!("{pick}\ndef f [n] (b: bool) (xs: [n]i32) (ys: [n]i32) = pick b (\\() -> xs) (\\() -> ys)"),
        expect![[r#"
            pick '~a : bool -> (() -> a) -> (() -> a) -> a
            f [n] : bool -> [n]i32 -> [n]i32 -> [n]i32
        "#]],
    );
    check(
        &format!(
            "{both}\ndef f [n] [m] (xs: [n]i32) (ys: [m]i32) = both (\\() -> xs) (\\() -> ys) (\\x y -> length (x ()) + length (y ()))"
        ),
        expect![[r#"
            both '~a 'b : (() -> a) -> (() -> a) -> ((() -> a) -> (() -> a) -> b) -> b
            f [n] [m] : [n]i32 -> [m]i32 -> i64
        "#]],
    );
    check_with_help(
        &format!(
            "{both}\ndef f [n] [m] (xs: [n]i32) (ys: [m]i32) = both (\\() -> xs) (\\() -> ys) (\\x y -> map2 (+) (x ()) (y ()))"
        ),
        expect![[r#"
            test.fut:2:61: error [size-mismatch]: Cannot apply "both" to this argument (invalid type)
              test.fut:2:61: has type "() -> [m]i32"
              expected type: () -> [n]i32
              Sizes "n" and "m" do not match
        "#]],
    );
    // Where a value is a parameter, too, nothing is applied that could give another size.
    check_with_help(
        "def twice '~a (f: a -> a) (x: a) : a = f (f x)\ndef f (xs: []i32) = twice (\\ys -> ys ++ [1]) xs",
        expect![[r#"
            test.fut:2:28: error [size-mismatch]: Cannot apply "twice" to this argument (invalid type)
              test.fut:2:28: has type "[d]i32 -> [d + 1]i32"
              expected type: [d]i32 -> [d]i32
              Sizes "d" and "d + 1" do not match
        "#]],
    );
}
