//! Maps and reps that were left out: source in, source with all of them out.

mod common;

use common::check_maps;
use expect_test::expect;

#[test]
fn operators_are_lifted() {
    check_maps(
        r"def shift [n][d] (xs: [n][d]f64) (m: [d]f64) = xs - m",
        expect![[r#"def shift [n][d] (xs: [n][d]f64) (m: [d]f64) = map (\x -> map2 (-) x m) xs"#]],
    );
    check_maps(
        r"def two [n] (xs: [n]f64) = 2 * xs + 1",
        expect!["def two [n] (xs: [n]f64) = map (+ 1) (map (2 *) xs)"],
    );
    check_maps(
        r"def negate [n][m] (xs: [n][m]f64) = -xs",
        expect![[r#"def negate [n][m] (xs: [n][m]f64) = map (map (\x -> -x)) xs"#]],
    );
    check_maps(
        r"def not [n] (xs: [n]bool) = !xs",
        expect![[r#"def not [n] (xs: [n]bool) = map (\x -> !x) xs"#]],
    );
    check_maps(
        r"def between [n] (xs: [n]f64) = xs > 0 && xs < 3",
        expect!["def between [n] (xs: [n]f64) = map2 (&&) (map (> 0) xs) (map (< 3) xs)"],
    );
    check_maps(
        r"def left [n][m] (k: [m]f64) (x: [n][m]f64) = k * x",
        expect!["def left [n][m] (k: [m]f64) (x: [n][m]f64) = map (map2 (*) k) x"],
    );
    check_maps(
        r"def right [n][m] (k: [m]f64) (x: [n][m]f64) = x * (k + 1)",
        expect![[
            r#"def right [n][m] (k: [m]f64) (x: [n][m]f64) = let y = map (+ 1) k in map (\z -> map2 (*) z y) x"#
        ]],
    );
}

#[test]
fn functions_are_lifted() {
    check_maps(
        r"def roots [n] (xs: [n]f64) = f64.sqrt (xs * xs)",
        expect!["def roots [n] (xs: [n]f64) = map f64.sqrt (map2 (*) xs xs)"],
    );
    check_maps(
        r"def lerp (v: f64) (w: f64) (t: f64) = v + (w - v) * t
def a [n] (v: [n]f64) (w: [n]f64) (t: f64) = lerp v w t
def b [n] (v: [n]f64) (w: [n]f64) (t: [n]f64) = lerp v w t
def c [n] (v: f64) (w: f64) (t: [n]f64) = lerp v w t",
        expect![[r#"
            def lerp (v: f64) (w: f64) (t: f64) = v + (w - v) * t
            def a [n] (v: [n]f64) (w: [n]f64) (t: f64) = map2 (\x y -> lerp x y t) v w
            def b [n] (v: [n]f64) (w: [n]f64) (t: [n]f64) = map3 lerp v w t
            def c [n] (v: f64) (w: f64) (t: [n]f64) = map (lerp v w) t"#]],
    );
    check_maps(
        r"def outer [n][m] (xs: [n]f64) (ys: [m]f64) = map (\x -> x * ys) xs",
        expect![[r#"def outer [n][m] (xs: [n]f64) (ys: [m]f64) = map (\x -> map (x *) ys) xs"#]],
    );
    check_maps(
        r"def rows [n][m] (xss: [n][m]i64) = i64.sum xss",
        expect!["def rows [n][m] (xss: [n][m]i64) = map i64.sum xss"],
    );
    check_maps(
        r"def partial [n] (f: i64 -> i64 -> i64) (xs: [n]i64) (ys: [n]i64) = (f xs) ys",
        expect!["def partial [n] (f: i64 -> i64 -> i64) (xs: [n]i64) (ys: [n]i64) = map2 f xs ys"],
    );
    check_maps(
        r"def inner [n] (xs: [n]i64) = let f (x: i64) = x + 1 in f xs",
        expect!["def inner [n] (xs: [n]i64) = let f (x: i64) = x + 1 in map f xs"],
    );
}

#[test]
fn lambdas_do_not_repeat_work() {
    check_maps(
        r"def a [n] (xs: [n]f64) (ys: [n]f64) = xs - f64.sum ys",
        expect![[r#"def a [n] (xs: [n]f64) (ys: [n]f64) = let x = f64.sum ys in map (\y -> y - x) xs"#]],
    );
    check_maps(
        r"def b [n] (f: f64 -> f64 -> f64) (xs: [n]f64) (ys: [n]f64) = f xs (f64.sum ys)",
        expect![[
            r#"def b [n] (f: f64 -> f64 -> f64) (xs: [n]f64) (ys: [n]f64) = let x = f64.sum ys in map (\y -> f y x) xs"#
        ]],
    );
    check_maps(
        r"def x [n] (f: f64 -> f64 -> f64) (y: [n]f64) = f y (f64.sum y)",
        expect![[
            r#"def x [n] (f: f64 -> f64 -> f64) (y: [n]f64) = let z = f64.sum y in map (\x1 -> f x1 z) y"#
        ]],
    );
}

#[test]
fn sections() {
    check_maps(
        r"def a [n][m] (xss: [n][m]i64) = map (+ 1) xss",
        expect!["def a [n][m] (xss: [n][m]i64) = map (map (+ 1)) xss"],
    );
    check_maps(
        r"def b [n][m] (k: [m]i64) (xss: [n][m]i64) = map (+ k) xss",
        expect![[r#"def b [n][m] (k: [m]i64) (xss: [n][m]i64) = map (\x -> map2 (+) x k) xss"#]],
    );
    check_maps(
        r"def c [n][m] (k: [m]i64) (xss: [n][m]i64) = map (k +) xss",
        expect!["def c [n][m] (k: [m]i64) (xss: [n][m]i64) = map (map2 (+) k) xss"],
    );
}

#[test]
fn pipes_are_applications() {
    check_maps(
        r"def a [n] (xs: [n]f64) = xs |> f64.sqrt |> (+ 1) |> f64.sum",
        expect!["def a [n] (xs: [n]f64) = xs |> map f64.sqrt |> map (+ 1) |> f64.sum"],
    );
    check_maps(
        r"def b [n] (xs: [n]f64) (ys: [n]f64) = xs |> (+) ys",
        expect!["def b [n] (xs: [n]f64) (ys: [n]f64) = xs |> map2 (+) ys"],
    );
    check_maps(
        r"def c [n] (xs: [n]f64) = f64.sqrt <| xs",
        expect!["def c [n] (xs: [n]f64) = map f64.sqrt <| xs"],
    );
    check_maps(
        r"def d 'a [n] (A: [n]a) = let f (x: i64) = x + 1 in indices A |> f",
        expect!["def d 'a [n] (A: [n]a) = let f (x: i64) = x + 1 in indices A |> map f"],
    );
    check_maps(
        r"def pipe 'a 'b (x: a) (f: a -> b) = f x
def e 'a [n] (f: i64 -> i64) (A: [n]a) = pipe (indices A) f",
        expect![[r#"
            def pipe 'a 'b (x: a) (f: a -> b) = f x
            def e 'a [n] (f: i64 -> i64) (A: [n]a) = map (\x -> pipe x f) (indices A)"#]],
    );
}

#[test]
fn compositions_are_applications_too() {
    check_maps(
        r"def a [n] (f: [n]i64 -> [n]i64) = f >-> i64.abs",
        expect!["def a [n] (f: [n]i64 -> [n]i64) = f >-> map i64.abs"],
    );
    check_maps(
        r"def b [n] (f: [n]i64 -> [n]i64) = i64.abs <-< f",
        expect!["def b [n] (f: [n]i64 -> [n]i64) = map i64.abs <-< f"],
    );
    check_maps(
        r"def c (f: i64 -> i64) : i64 -> [3]i64 = f >-> (\(xs: [3]i64) -> reverse xs)",
        expect![[r#"def c (f: i64 -> i64) : i64 -> [3]i64 = f >-> (rep >-> (\(xs: [3]i64) -> reverse xs))"#]],
    );
}

#[test]
fn any_number_of_arrays() {
    check_maps(
        r"def f a b c d e f : i64 = a + b + c + d + e + f
def g [n] (xs: [n]i64) = f xs xs xs xs xs xs",
        expect![[r#"
            def f a b c d e f : i64 = a + b + c + d + e + f
            def g [n] (xs: [n]i64) = map (\(((((x, y), z), x1), x2), x3) -> f x y z x1 x2 x3) (zip (zip (zip (zip (zip xs xs) xs) xs) xs) xs)"#]],
    );
}

/// Lambdas whose parameters have no types leave much to the solver.
#[test]
fn long_definitions() {
    let steps: String = (1..40)
        .map(|i| format!("  let a{i} = map (\\p -> p * y + a{}) ys |> map f64.sum\n", i - 1))
        .collect();
    let source = format!("def f [n] (a0: [n]f64) (ys: [n]f64) (y: f64) =\n{steps}  in a39 - 1");
    let lifted: String = (1..40)
        .map(|i| format!("  let a{i} = map (\\p -> map ((p * y) +) a{}) ys |> map f64.sum\n", i - 1))
        .collect();
    let head = "def f [n] (a0: [n]f64) (ys: [n]f64) (y: f64) =";
    let expected = format!("{head}\n{lifted}  in map (\\x -> x - 1) a39");
    assert_eq!(common::with_maps(&source), expected);
}

#[test]
fn names_of_the_prelude_may_be_hidden() {
    check_maps(
        r"def f [n] (xs: [n]i64) (map: i64) = xs + map",
        expect![[r#"
            test.fut:1:37: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
              test.fut:1:37: has type "[]i64"
              expected type: a number type
              The type "[]i64" is not a number type
              with maps this is "map (+ map) xs", but then: Cannot apply "map" to this argument: it is not a function, or has too many arguments
        "#]],
    );
    check_maps(
        r"def rep (x: i64) = x
def f [n] (xs: [n]i64) (y: i64) = rep xs + y",
        expect![[r#"
            def rep (x: i64) = x
            def f [n] (xs: [n]i64) (y: i64) = map (+ y) (map rep xs)"#]],
    );
}

#[test]
fn arrays_by_their_indices() {
    check_maps(
        r"def f [n][m] (xs: [n][m]f64) (ys: [m]f64) = for i -> xs[i] + ys",
        expect!["def f [n][m] (xs: [n][m]f64) (ys: [m]f64) = for i -> map2 (+) xs[i] ys"],
    );
    check_maps(
        r"def f [n][m] (xs: [n][m]f64) : [(n, m)]f64 = for (i, j) -> f64.sum (xs[i] * xs[i, j])",
        expect![
            "def f [n][m] (xs: [n][m]f64) : [(n, m)]f64 = for (i, j) -> f64.sum (map (* xs[i, j]) xs[i])"
        ],
    );
}

#[test]
fn readings_without_sizes_are_none() {
    check_maps(
        r"def f [n][m] (xss: [n][m]i64) = i64.sum (length xss)",
        expect!["def f [n][m] (xss: [n][m]i64) = i64.sum (map length xss)"],
    );
    check_maps(
        r"def softmax [n][m] (a: [n][m]f32) =
  map (\l -> let m = f32.maximum l in l - m - f32.log (f32.sum (f32.exp (l - m)))) a",
        expect![[r#"
            def softmax [n][m] (a: [n][m]f32) =
              map (\l -> let m = f32.maximum l in let x = f32.log (f32.sum (map f32.exp (map (\x -> x - m) l))) in map (\y -> y - x) (map (\x -> x - m) l)) a"#]],
    );
    check_maps(
        r"def shares [n][m] (a: [n][m]f32) = map (\l -> l / f32.sum l) a",
        expect![[r#"def shares [n][m] (a: [n][m]f32) = map (\l -> map (/ f32.sum l) l) a"#]],
    );
    check_maps(
        r"def norms [n][m] (a: [n][m]f32) = a |> map (\l -> l * l) |> map f32.sum |> map f32.sqrt",
        expect![[
            r#"def norms [n][m] (a: [n][m]f32) = a |> map (\l -> map2 (*) l l) |> map f32.sum |> map f32.sqrt"#
        ]],
    );
    check_maps(
        r"def centred [n][m] (a: [n][m]f32) = map (\l -> l - f32.sum l / f32.i64 m) a",
        expect![[
            r#"def centred [n][m] (a: [n][m]f32) = map (\l -> let x = f32.sum l / f32.i64 m in map (\y -> y - x) l) a"#
        ]],
    );
}

#[test]
fn readings_of_one_meaning_are_one() {
    check_maps(
        r"def f [n] (xs: [n]i64) = (\x -> x + 1) xs",
        expect![[r#"def f [n] (xs: [n]i64) = (\x -> map (+ 1) x) xs"#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) (y: f64) = (\x y -> x + y) xs y",
        expect![[r#"def f [n] (xs: [n]f64) (y: f64) = map (\z -> (\x y -> x + y) z y) xs"#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) (ys: [n]f64) = (\x y -> x * y + 1) xs ys",
        expect![[r#"def f [n] (xs: [n]f64) (ys: [n]f64) = map2 (\x y -> x * y + 1) xs ys"#]],
    );
}

#[test]
fn ambiguity_lists_all_readings() {
    check_maps(
        r"def f [n] (xs: [n]f64) = let g = \x -> f64.sqrt x in (\x -> (g x, x)) xs",
        expect![[r#"
        test.fut:1:26: error [ambiguous-map]: There are several ways to map this over arrays, and none is shorter than the others
          write this to choose it: let g = \x -> f64.sqrt x in map (\x -> (g x, x)) xs
          write this to choose it: let g = \x -> map f64.sqrt x in (\x -> (g x, x)) xs
          a type annotation that fixes the rank of a parameter chooses as well
          without maps: Cannot apply "anonymous function" to this argument (invalid type)
    "#]],
    );
    check_maps(
        r"def f [n][m] (xss: [n][m]i64) = (\x -> length x * x) xss",
        expect![[r#"
        test.fut:1:33: error [ambiguous-map]: There are several ways to map this over arrays, and none is shorter than the others
          write this to choose it: (\x -> map2 (map2 (*)) (rep (rep (length x))) x) xss
          write this to choose it: map (\x -> map2 (*) (rep (length x)) x) xss
          a type annotation that fixes the rank of a parameter chooses as well
          without maps: Cannot apply "*" to this argument (invalid type)
    "#]],
    );
}

/// Only what differs is shown of a long definition.
#[test]
fn ambiguity_in_long_definitions() {
    let sums: String = (0..60).map(|i| format!("  let a{i} = i64.sum (map i64.sum xss) + {i}\n")).collect();
    let head = "def f [n][m] (xss: [n][m]i64) =\n  let g = \\x -> length x * x\n";
    check_maps(
        &format!("{head}{sums}  let b = g xss\n  in b"),
        expect![[r#"
        test.fut:2:17: error [ambiguous-map]: There are several ways to map this over arrays, and none is shorter than the others
          write this for "g xss" in line 63 to choose it: map g xss
          write this to choose it: map (map (length x *)) x
          a type annotation that fixes the rank of a parameter chooses as well
          without maps: Cannot apply "*" to this argument (invalid type)
    "#]],
    );
    let head = "def f [n][m] (xss: [n][m]i64) = ";
    let sum: String = (0..60).map(|i| format!("i64.sum (map i64.sum xss) + {i} + ")).collect();
    check_maps(
        &format!("{head}(\\x -> ({sum} length x) * x) xss"),
        expect![[r#"
        test.fut:1:33: error [ambiguous-map]: There are several ways to map this over arrays, and none is shorter than the others
          write this for "(i64.sum (map i64.sum xss) + 0 + i64.sum (map i64.sum xss) + 1 + i64.sum (map i64.sum xss) + 2 + i64 …  i64.sum xss) + 57 + i64.sum (map i64.sum xss) + 58 + i64.sum (map i64.sum xss) + 59 + length x) * x" in line 1 to choose it: map (map ((i64.sum (map i64.sum xss) + 0 + i64.sum (map i64.sum xss) + 1 + i64.sum (map i64.sum xss) … 64.sum xss) + 57 + i64.sum (map i64.sum xss) + 58 + i64.sum (map i64.sum xss) + 59 + length x) *)) x
          write this to choose it: map (\x -> map ((i64.sum (map i64.sum xss) + 0 + i64.sum (map i64.sum xss) + 1 + i64.sum (map i64.su … um xss) + 57 + i64.sum (map i64.sum xss) + 58 + i64.sum (map i64.sum xss) + 59 + length x) *) x) xss
          a type annotation that fixes the rank of a parameter chooses as well
          without maps: Cannot apply "*" to this argument (invalid type)
    "#]],
    );
}

#[test]
fn other_mistakes_are_reported_as_themselves() {
    check_maps(
        r"def f [n] (xs: [n]f64) : [n]i32 = xs + 1",
        expect![[r#"
        test.fut:1:35: error [type-mismatch]: The body of this function does not match its return type
          test.fut:1:35: has type "f64"
          expected type: []i32
          Types "i32" and "f64" do not match
    "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) = f32.sqrt (xs + 1)",
        expect![[r#"
        test.fut:1:35: error [type-mismatch]: Cannot apply "sqrt" to this argument (invalid type)
          test.fut:1:35: has type "f64"
          expected type: f32
          Types "f32" and "f64" do not match
    "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) (i: f64) = xs[i] + xs",
        expect![[r#"
        test.fut:1:38: error [type-mismatch]: An index must be of an integer type
          test.fut:1:38: has type "f64"
          test.fut:1:35: this array is indexed by a size
          The type "f64" is not an integer type
    "#]],
    );
    check_maps(
        r#"def f [n] (xs: [n]f64) = if f64.sum (xs + 1) > 0 then "yes" else f64.sum xs"#,
        expect![[r#"
        test.fut:1:66: error [type-mismatch]: This branch does not have the type of the branches before it
          test.fut:1:66: has type "f64"
          expected type: []u8
          Types "u8" and "f64" do not match
    "#]],
    );
    check_maps(
        r"def f [n] (bs: [n]i32) (xs: [n]f64) = if bs then xs else 0",
        expect![[r#"
        test.fut:1:42: error [type-mismatch]: The condition of "if" must be a bool
          test.fut:1:42: has type "[]i32"
          expected type: bool
          Types "bool" and "[]i32" do not match
    "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) = xs - misspelt",
        expect![[r#"
        test.fut:1:31: error [unknown-name]: Unknown variable "misspelt"
    "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) (b: bool) = let ys = xs + 1 in ys + b",
        expect![[r#"
        test.fut:1:60: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
          test.fut:1:60: has type "bool"
          expected type: f64
          Types "f64" and "bool" do not match
    "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) = let ys = xs * 2 in f64.sum ys.0",
        expect![[r#"
        test.fut:1:56: error [type-mismatch]: There is no record field "0" here
          test.fut:1:56: Attempt to access field "0" of a value of type "f64", with type that must be a record
    "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) = let ys = xs * 2 in ys 3",
        expect![[r#"
            test.fut:1:48: error [not-a-function]: Cannot apply "ys" to this argument: it is not a function, or has too many arguments
              test.fut:1:48: superfluous argument
              what is applied here has type f64
        "#]],
    );
    check_maps(
        r#"def f [n] (xs: [n]f64) = let ys = xs * 2 in ys ++ "no""#,
        expect![[r#"
            test.fut:1:51: error [type-mismatch]: Cannot apply "++" to this argument (invalid type)
              test.fut:1:51: has type "[]u8"
              expected type: []f64
              Types "f64" and "u8" do not match
        "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) = let ys = xs * 2 in if ys[0] then 1 else 2",
        expect![[r#"
        test.fut:1:48: error [type-mismatch]: The condition of "if" must be a bool
          test.fut:1:48: has type "f64"
          expected type: bool
          Types "bool" and "f64" do not match
    "#]],
    );
    check_maps(
        r"def f [n][m] (xs: [n]f64) (ys: [m]f64) = let zs = xs * 2 in zip zs ys",
        expect![[r#"
            test.fut:1:68: error [size-mismatch]: Cannot apply "zip" to this argument (invalid type)
              test.fut:1:68: has type "[m]f64"
              expected type: [n]f64
              Sizes "n" and "m" do not match
        "#]],
    );
    check_maps(
        r"def f [n] (xs: *[n]f64) = let ys = xs with [0] = 1 in ys + xs",
        expect![[r#"
        test.fut:1:60: error [use-after-consume]: Using variable "xs", but this was consumed
          test.fut:1:60: used here, possibly through an alias
          test.fut:1:36: consumed here
    "#]],
    );
}

#[test]
fn names_that_were_meant() {
    check_maps(
        r"def f (x: f64) = exp x",
        expect![[r#"
        test.fut:1:18: error [unknown-name]: Unknown variable "exp"
          did you mean "f64.exp"?
    "#]],
    );
    check_maps(
        r"def f (x: f64) = later x
def later (x: f64) = x",
        expect![[r#"
            test.fut:1:18: error [unknown-name]: Unknown variable "later"
              test.fut:2:5: defined here
              "later" is defined further down, and a definition can only be used after it
        "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]f64) = lenght xs",
        expect![[r#"
        test.fut:1:26: error [unknown-name]: Unknown variable "lenght"
          did you mean "length"?
    "#]],
    );
    check_maps(
        r"def f (value: f64) = vlaue",
        expect![[r#"
        test.fut:1:22: error [unknown-name]: Unknown variable "vlaue"
          did you mean "value"?
    "#]],
    );
    check_maps(
        r"def f (x: f64) = f64.sqr x",
        expect![[r#"
        test.fut:1:18: error [unknown-name]: Unknown variable "sqr" in module "f64"
          did you mean "f64.sqrt"?
    "#]],
    );
    check_maps(
        r"def f (x: f64) = frobnicate x",
        expect![[r#"
        test.fut:1:18: error [unknown-name]: Unknown variable "frobnicate"
    "#]],
    );
    check_maps(
        r"def f (x: f64) = qx x",
        expect![[r#"
        test.fut:1:18: error [unknown-name]: Unknown variable "qx"
    "#]],
    );
}

#[test]
fn x_matrix() {
    check_maps(
        r"def outerprod f xs ys = map (\x -> f x ys) xs
def bidd A = outerprod (\x y -> map (== x) y) (indices A) (indices A)
def xmat A = bidd A || reverse (bidd A)
def check A = xmat A == (A != 0) |> flatten |> and",
        expect![[r#"
            def outerprod f xs ys = map (\x -> f x ys) xs
            def bidd A = outerprod (\x y -> map (== x) y) (indices A) (indices A)
            def xmat A = map2 (map2 (||)) (bidd A) (reverse (bidd A))
            def check A = (let x = map (!= 0) A in map (\y -> map2 (==) y x) (xmat A)) |> flatten |> and"#]],
    );
    check_maps(
        r"def outerprod f xs ys = map (\x -> f x ys) xs
def bidd A = outerprod (==) (indices A) (indices A)
def xmat A = bidd A || reverse (bidd A)
def check (A: [][]i32) = xmat A == (A != 0) |> flatten |> and",
        expect![[r#"
            def outerprod f xs ys = map (\x -> f x ys) xs
            def bidd A = map (outerprod (==) (indices A)) (indices A)
            def xmat A = map2 (map2 (||)) (bidd A) (reverse (bidd A))
            def check (A: [][]i32) = map2 (map2 (==)) (xmat A) (map (map (!= 0)) A) |> flatten |> and"#]],
    );
}

#[test]
fn comments_stay() {
    check_maps(
        r"def f [n] (xs: [n]f64) =
  xs -- the values
  + 1 -- the offset
",
        expect![[r#"
            def f [n] (xs: [n]f64) =
              -- the values
              map (+ 1) xs -- the offset
        "#]],
    );
}

#[test]
fn own_names_are_avoided() {
    check_maps(
        r"def f [n] (x: [n]f64) (y: f64) = let z = y in x - y * z",
        expect![[
            r#"def f [n] (x: [n]f64) (y: f64) = let z = y in let x1 = y * z in map (\x2 -> x2 - x1) x"#
        ]],
    );
}

#[test]
fn errors_stay_what_they_are() {
    check_maps(
        r"def f (x: i32) (y: f64) = x * y",
        expect![[r#"
            test.fut:1:31: error [type-mismatch]: Cannot apply "*" to this argument (invalid type)
              test.fut:1:31: has type "f64"
              expected type: i32
              Types "i32" and "f64" do not match
        "#]],
    );
    check_maps(
        r"def f [n] (xs: [n]i32) : i32 = xs + 1",
        expect![[r#"
            test.fut:1:32: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
              test.fut:1:32: has type "[]i32"
              expected type: a number type
              The type "[]i32" is not a number type
        "#]],
    );
    check_maps(
        r"def f [n][m] (xs: [n]i32) (ys: [m]i32) = xs + ys",
        expect![[r#"
            test.fut:1:47: error [size-mismatch]: Cannot apply "map2" to this argument (invalid type)
              test.fut:1:47: has type "[m]i32"
              expected type: [n]i32
              Sizes "n" and "m" do not match
              with maps this is "map2 (+) xs ys"
        "#]],
    );
}

#[test]
fn projections_are_lifted() {
    check_maps(
        r"def f [n] (xys: [n](f64, f64)) = xys.0 + xys.1",
        expect!["def f [n] (xys: [n](f64, f64)) = map2 (+) (map (.0) xys) (map (.1) xys)"],
    );
    check_maps(
        r"def f [n] (ps: [n]{x: f64, y: f64}) = f64.sum (ps.x * ps.y)",
        expect!["def f [n] (ps: [n]{x: f64, y: f64}) = f64.sum (map2 (*) (map (.x) ps) (map (.y) ps))"],
    );
    check_maps(
        r"def f [n][m] (ps: [n][m]{a: {b: i64}}) = ps.a.b",
        expect!["def f [n][m] (ps: [n][m]{a: {b: i64}}) = map (map (.b)) (map (map (.a)) ps)"],
    );
    check_maps(
        r"def f [n][m] (ps: [n]{a: [m]{b: i64}}) = ps.a.b",
        expect!["def f [n][m] (ps: [n]{a: [m]{b: i64}}) = map (map (.b)) (map (.a) ps)"],
    );
    check_maps(
        r"def f [n] (ps: [n](i64, i64)) = (map (\p -> p) ps).0",
        expect![[r#"def f [n] (ps: [n](i64, i64)) = map (.0) (map (\p -> p) ps)"#]],
    );
    check_maps(
        r"def f [n] (ps: [n](i64, f64)) = map (\p -> p.1 * 2) ps + ps.1",
        expect![[r#"def f [n] (ps: [n](i64, f64)) = map2 (+) (map (\p -> p.1 * 2) ps) (map (.1) ps)"#]],
    );
}

#[test]
fn conditions_are_lifted() {
    check_maps(
        r"def f [n] (bs: [n]bool) (xs: [n]f64) (ys: [n]f64) = if bs then xs else ys",
        expect![[
            r#"def f [n] (bs: [n]bool) (xs: [n]f64) (ys: [n]f64) = map3 (\x y z -> if x then y else z) bs xs ys"#
        ]],
    );
    check_maps(
        r"def relu [n] (xs: [n]f64) = if xs > 0 then xs else 0",
        expect![[r#"def relu [n] (xs: [n]f64) = map2 (\x y -> if x then y else 0) (map (> 0) xs) xs"#]],
    );
    check_maps(
        r"def relu [n][m] (xss: [n][m]f64) = if xss > 0 then xss else 0",
        expect![[
            r#"def relu [n][m] (xss: [n][m]f64) = map2 (map2 (\x y -> if x then y else 0)) (map (map (> 0)) xss) xss"#
        ]],
    );
    check_maps(
        r"def sign [n] (xs: [n]f64) = if xs > 0 then 1 else if xs < 0 then -1 else 0 : f64",
        expect![[
            r#"def sign [n] (xs: [n]f64) = map2 (\x y -> if x then 1 else y) (map (> 0) xs) (map (\x -> if x then -1 else 0 : f64) (map (< 0) xs))"#
        ]],
    );
    check_maps(
        r"def rows [n][m] (bs: [n]bool) (xss: [n][m]f64) (ys: [m]f64) = if bs then xss else ys",
        expect![[
            r#"def rows [n][m] (bs: [n]bool) (xss: [n][m]f64) (ys: [m]f64) = map2 (\x y -> if x then y else ys) bs xss"#
        ]],
    );
    check_maps(
        r"def f [n] (b: bool) (xs: [n]f64) = if b then xs + 1 else xs",
        expect!["def f [n] (b: bool) (xs: [n]f64) = if b then map (+ 1) xs else xs"],
    );
    check_maps(
        r"def f [n] (bs: [n]bool) (xs: [n]f64) = if bs then f64.sqrt (xs * xs) else f64.sum xs",
        expect![[
            r#"def f [n] (bs: [n]bool) (xs: [n]f64) = let x = f64.sum xs in map2 (\y z -> if y then z else x) bs (map f64.sqrt (map2 (*) xs xs))"#
        ]],
    );
}

#[test]
fn reads_are_lifted() {
    check_maps(
        r"def f [n][m] (xs: [n]f64) (is: [m]i64) = xs[is]",
        expect![[r#"def f [n][m] (xs: [n]f64) (is: [m]i64) = map (\x -> xs[x]) is"#]],
    );
    check_maps(
        r"def f [n][m] (xs: [n]f64) (is: [m]i64) = (map f64.sqrt xs)[is + 1]",
        expect![[
            r#"def f [n][m] (xs: [n]f64) (is: [m]i64) = let x = map f64.sqrt xs in map (\y -> x[y]) (map (+ 1) is)"#
        ]],
    );
    check_maps(
        r"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) (js: [k]i64) = xss[is, js]",
        expect![[
            r#"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) (js: [k]i64) = map2 (\x y -> xss[x, y]) is js"#
        ]],
    );
    check_maps(
        r"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = xss[is, 0]",
        expect![[r#"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = map (\x -> xss[x, 0]) is"#]],
    );
    check_maps(
        r"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = f64.sum xss[is]",
        expect![[r#"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = map f64.sum (map (\x -> xss[x]) is)"#]],
    );
    check_maps(
        r"def f [n][m][k] (xs: [n]f64) (iss: [m][k]i32) = xs[iss] * 2",
        expect![[
            r#"def f [n][m][k] (xs: [n]f64) (iss: [m][k]i32) = map (map (* 2)) (map (map (\x -> xs[x])) iss)"#
        ]],
    );
}
