//! Exhaustiveness, causality, recursion, literals, and rules about sizes and names: source in, diagnostics out.

mod common;

use common::{check, check_as, check_with_help};
use dagaz_types::Dialect;
use expect_test::expect;

#[test]
fn a_match_covers_all_cases() {
    check(
        "type opt 't = #none | #some t\n\
         def f (x: opt (opt bool)) = match x case #none -> 0i32 case #some (#some true) -> 1",
        expect![[r#"
            test.fut:2:29: error [unmatched-cases]: Unmatched cases in match expression: #some #none
        "#]],
    );
    check(
        "def f (x: (bool, bool)) = match x case (true, _) -> 1i32 case (_, true) -> 2",
        expect![[r#"
        test.fut:1:27: error [unmatched-cases]: Unmatched cases in match expression: (false, false)
    "#]],
    );
    check(
        "def f (x: i32) = match x case 1 -> 1i32 case 2 -> 2",
        expect![[r#"
        test.fut:1:18: error [unmatched-cases]: Unmatched cases in match expression: _
    "#]],
    );
    check(
        "def f (r: {a: bool, b: i32}) = match r case {a = true, b} -> b case {a = false, b = 0} -> 0",
        expect![[r#"
            test.fut:1:32: error [unmatched-cases]: Unmatched cases in match expression: {a = false, b = _}
        "#]],
    );
}

#[test]
fn an_unreachable_case_is_a_warning() {
    check(
        "def f (x: bool) = match x case true -> 1i32 case false -> 2 case _ -> 3",
        expect![[r#"
        test.fut:1:66: warning [unreachable-case]: This case is never reached, because the cases before it match everything that it does
        f : bool -> i32
    "#]],
    );
}

#[test]
fn patterns_elsewhere_cannot_fail() {
    check(
        "def f (1: i32) = 2i32\ndef g (x: #a i32 | #b) = let #a y = x in y\ndef h (x: #only i32) = let #only y = x in y",
        expect![[r#"
            test.fut:1:8: error [refutable-pattern]: Refutable pattern not allowed here
            test.fut:2:30: error [refutable-pattern]: Refutable pattern not allowed here
            h : (#only i32) -> i32
        "#]],
    );
}

#[test]
fn sizes_are_known_before_they_are_needed() {
    check(
        "def f [n] (_: [n]i32 -> i32) : [n]i32 -> i64 = \\_ -> n\n\
         def bad (xs: []i32) = f (\\_ -> 0) <| filter (> 0) xs\n\
         def good (xs: []i32) = let ys = filter (> 0) xs in f (\\_ -> 0) ys",
        expect![[r#"
            test.fut:2:27: error [causality]: Causality check: the size "k" needed for the type of this parameter is computed later
            test.fut:2:23: error [causality]: Causality check: the size "k" needed for the type of "f" is computed later
            f [n] : ([n]i32 -> i32) -> [n]i32 -> i64
            good [n] : [n]i32 -> i64
        "#]],
    );
}

#[test]
fn arguments_are_evaluated_before_the_function_and_from_the_last() {
    check(
        "def f (xs: []i32) = map (\\x -> x + 1) (filter (> 0) xs)",
        expect![[r#"
            f [n] : [n]i32 -> ?[k1].*[k1]i32
        "#]],
    );
}

#[test]
fn recursive_functions_pass_their_functions_on() {
    check(
        "def good (n: i64) (f: i64 -> i64) (x: i64) : i64 = if n == 0 then x else good (n - 1) f (f x)\n\
         def changed (f: i64 -> i64) (n: i64) : i64 = if n == 0 then f 0 else changed (\\x -> f x) (n - 1)\n\
         def partial (f: i64 -> i64) (n: i64) : i64 = if n == 0 then f 0 else (partial f) |> (\\g -> g (n - 1))\n\
         def named (f: i64 -> i64) (n: i64) : i64 = if n == 0 then f 0 else let g = named in g f (n - 1)\n\
         def result (n: i64) : i64 -> i64 = \\x -> if n == 0 then x else result (n - 1) x",
        expect![[r#"
            test.fut:2:79: error [recursion-higher-order]: Higher-order arguments must be passed unchanged in the recursive application of "changed"
            test.fut:3:71: error [recursion-higher-order]: The recursive application of "partial" is not fully saturated: it has a higher-order parameter, so all arguments must be given
            test.fut:4:76: error [recursion-higher-order]: The recursive function "named" has a higher-order parameter, so it may be used in its own definition only by applying it to all arguments
            test.fut:5:5: error [recursion-higher-order]: The result of the recursive function "result" is not first-order, but i64 -> i64
            good : i64 -> (i64 -> i64) -> i64 -> i64
        "#]],
    );
}

#[test]
fn literals_fit_their_types() {
    check(
        "def a : i8 = 127\ndef b : i8 = -128\ndef c : i8 = 128\ndef d : i8 = -129\ndef e : u8 = -1",
        expect![[r#"
            test.fut:3:14: error [literal-out-of-range]: Literal 128 out of bounds for type i8: -128 to 127
            test.fut:4:14: error [literal-out-of-range]: Literal -129 out of bounds for type i8: -128 to 127
            test.fut:5:14: error [literal-out-of-range]: Literal -1 out of bounds for type u8: 0 to 255
            a : i8
            b : i8
        "#]],
    );
    check(
        "def a : f32 = 3.4e38\ndef b : f32 = 1e40\ndef c : f32 = -1e40",
        expect![[r#"
        test.fut:2:15: error [literal-out-of-range]: Literal out of bounds for type f32: it would be infinite
        test.fut:3:16: error [literal-out-of-range]: Literal out of bounds for type f32: it would be infinite
        a : f32
    "#]],
    );
    check(
        "def a = 128i8",
        expect![[r#"
        a : i8
    "#]],
    );
}

#[test]
fn entry_points_take_their_sizes_from_arrays() {
    check(
        "entry f [n] (xs: [n]i32) = n",
        expect![[r#"
        f [n] : [n]i32 -> i64
    "#]],
    );
    check(
        "entry f [n] (xs: [n + 1]i32) = n",
        expect![[r#"
        test.fut:1:7: error [bad-entry-point]: Entry point functions may not be size-polymorphic in this way: [n] is not used constructively in the parameters
    "#]],
    );
    check(
        "entry f [n] (x: i32) : [n]i32 = replicate n x",
        expect![[r#"
        test.fut:1:7: error [bad-entry-point]: Entry point functions may not be size-polymorphic in this way: [n] is used in the result alone
    "#]],
    );
}

#[test]
fn sizes_are_bound_by_values() {
    check(
        "def f = let [n] (g: [n]bool -> bool) = (\\(xs: [2]bool) -> xs[0]) in n",
        expect![[r#"
        test.fut:1:17: error [not-constructive]: Cannot bind [n], because "n" is used non-constructively: it is never the size of an array in a value
    "#]],
    );
    check(
        "def f [n] (g: [n]i64 -> i64) : i64 = n\ndef h = f (\\xs -> xs[0])",
        expect![[r#"
        test.fut:2:9: error [ambiguous-size]: Ambiguous size: nothing says what the instantiated size parameter of "f" is
        f [n] : ([n]i64 -> i64) -> i64
    "#]],
    );
    check(
        "def f [n] = (iota n, filter (> 5) (iota n))",
        expect![[r#"
            test.fut:1:8: error [unknown-size]: A size-polymorphic value binding may not have a type with unknown sizes, such as ?[k1].([n]i64, [k1]i64)
        "#]],
    );
    check(
        "type^ t = []bool -> bool",
        expect![[r#"
        test.fut:1:11: error [anonymous-size]: The parameter of a function type may not have an anonymous size
    "#]],
    );
}

#[test]
fn abstract_types_have_sizes_that_can_be_read_off() {
    check(
        "module m : {type t [n]} = {type t [n] = [n + 1]i32}",
        expect![[r#"
        test.fut:1:27: error [not-constructive]: Type "t" cannot be abstract, because its size parameter "n" is not used constructively
    "#]],
    );
    check("module m : {type t [n]} = {type t [n] = [n]i32}", expect![[""]]);
}

#[test]
fn names_are_bound_once_and_underscored_ones_not_used() {
    check(
        "def f (_x: i32) = _x",
        expect![[r#"
        test.fut:1:19: error [underscore-use]: "_x" cannot be used: variables prefixed with an underscore are for values that are not
    "#]],
    );
    check(
        "def f [n] (n: [n]i32) = n",
        expect![[r#"
        test.fut:1:12: error [duplicate-name]: Duplicate name "n", which is also bound here
    "#]],
    );
    check(
        "module type t = {val f : (x: i32) -> (x: i32) -> i32}",
        expect![[r#"
        test.fut:1:39: error [duplicate-name]: Duplicate parameter "x", which is also bound here
    "#]],
    );
    check(
        "module type t = {type t 'a 'a}",
        expect![[r#"
        test.fut:1:29: error [duplicate-name]: Duplicate type parameter "a", which is also bound here
    "#]],
    );
}

#[test]
fn lifted_types_are_not_put_into_arrays() {
    check(
        "type^ t = [2]i32\ntype u = [3]t",
        expect![[r#"
        test.fut:2:13: error [lifted-type]: Cannot create array with elements of the lifted type "t"
    "#]],
    );
    check(
        "module type s = {type~ t}\nmodule m : s = {type^ t = i32}",
        expect![[r#"
        test.fut:2:16: error [module-mismatch]: Module defines type "t" as a lifted type, but the module type requires it to be non-lifted
    "#]],
    );
}

#[test]
fn the_intrinsics_are_not_a_module_to_build_on() {
    check(
        "module m = intrinsics",
        expect![[r#"
        test.fut:1:12: error [intrinsics]: The 'intrinsics' module may not be used in module expressions
    "#]],
    );
}

#[test]
fn sizes_that_nothing_settles_are_ambiguous() {
    check(
        "type opt 't = #some t | #none\ndef f (x: bool) = let v: opt ([]i32) = #none in x",
        expect![[r##"
            test.fut:2:40: error [ambiguous-size]: Ambiguous size in the type of "#none"
        "##]],
    );
    check(
        "def f = let [n][m] (xss: [n][m]i64) = [] in (n, m)",
        expect![[r#"
        test.fut:1:39: error [ambiguous-size]: Ambiguous size in the type of this empty array
    "#]],
    );
    check(
        "entry f (b: bool) : []i32 = ???",
        expect![[r#"
        test.fut:1:7: error [bad-entry-point]: Entry point functions must not be size-polymorphic in their return type, but nothing says what a size of the result is
    "#]],
    );
}

#[test]
fn sizes_without_a_name_are_read_off_the_result() {
    check_with_help(
        "def f (x: i64, _: bool) : [0][x]i32 = []",
        expect![[r#"
        test.fut:1:39: error [unknown-size]: The size "x" is a part of a parameter, and the result has no elements that it could be read off
          test.fut:1:39: is of type "[0][x]i32"
          make "x" a parameter of its own
    "#]],
    );
    check(
        "def f (n: i64, x: i32) : [n]i32 = replicate n x",
        expect![[r#"
        f : (i64, i32) -> ?[k].[k]i32
    "#]],
    );
    check(
        "def f (x: i64) (_: bool) : [0][x]i32 = []",
        expect![[r#"
        f : (x: i64) -> bool -> [0][x]i32
    "#]],
    );
}

#[test]
fn size_lifted_types_have_size_lifted_names() {
    check_with_help(
        "module type key = {type~ t}
module table (k: key) = {
  type~ keys = k.t
  type row 't = {key: t}
  type rows = row keys
}",
        expect![[r#"
            test.fut:5:15: error [lifted-type]: A non-lifted type abbreviation may not contain size-lifted types, whose values may differ in size
              declare it with "type~" instead of "type"
        "#]],
    );
}

#[test]
fn sections_of_plain_futhark_are_made_before_their_operand() {
    let source = "def f (xs: []i32) (mat: [][]i32) = map (filter (> 0) xs ++) mat";
    check_as(
        Dialect::Strict,
        source,
        expect![[r#"
        test.fut:1:40: error [causality]: Causality check: the size "k" needed for the type of this operator section is computed later
    "#]],
    );
    check(
        source,
        expect![[r#"
        f [n] [m] [p] : [n]i32 -> [m][p]i32 -> ?[k1].*[m][k1]i32
    "#]],
    );
}

#[test]
fn an_unknown_size_may_have_been_meant_as_a_parameter() {
    check_with_help(
        "def f [n] (xs: [n]f64) (ys: [m]f64) : f64 = xs[0] + ys[0]",
        expect![[r#"
        test.fut:1:30: error [unknown-name]: Unknown variable "m"
          a size that the arguments determine is written in front of the parameters: [m]
    "#]],
    );
}
