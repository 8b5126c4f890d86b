//! Readings of definitions that leave out maps: which of them count, and what is said if there are several or none.

mod common;

use common::check_maps;
use expect_test::expect;

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
