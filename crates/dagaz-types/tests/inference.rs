//! Names and types: source in, diagnostics and types out.

mod common;

use common::check;
use expect_test::expect;

#[test]
fn definitions_are_generalised() {
    check(
        "def pair x y = (x, y)",
        expect![[r#"
        pair '^t0 '^t1 : t0 -> t1 -> (t0, t1)
    "#]],
    );
    check(
        "def compose f g x = g (f x)",
        expect![[r#"
        compose '^t0 '^t1 '^t2 : (t0 -> t1) -> (t1 -> t2) -> t0 -> t2
    "#]],
    );
    check(
        "def first 'a (x: a) y = x",
        expect![[r#"
        first 'a '^t0 : a -> t0 -> a
    "#]],
    );
}

#[test]
fn local_functions_are_not_generalised_unless_they_say_so() {
    check(
        "def f = let id x = x in (id 1i32, id true)",
        expect![[r#"
        test.fut:1:38: error [type-mismatch]: Cannot apply "id" to this argument (invalid type)
    "#]],
    );
    check(
        "def f = let id 't (x: t) = x in (id 1i32, id true)",
        expect![[r#"
        f : (i32, bool)
    "#]],
    );
}

#[test]
fn literals_and_operators_are_overloaded() {
    check(
        "def f (x: f32) = x * 2 + 1",
        expect![[r#"
        f : f32 -> f32
    "#]],
    );
    check(
        "def f (x: i64) = x + 1.5",
        expect![[r#"
        test.fut:1:22: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
    "#]],
    );
    check(
        "def plus x y = x + y",
        expect![[r#"
        test.fut:1:5: warning [defaulted-type]: The type of "plus" is ambiguous: numbers in it default to i32 or f64
        plus : i32 -> i32 -> i32
    "#]],
    );
    check(
        "def f (x: bool) = x + x",
        expect![[r#"
        test.fut:1:19: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
    "#]],
    );
}

#[test]
fn fields_and_constructors_may_be_used_before_their_type_is_known() {
    check(
        "def norms (ps: []{x: f64, y: f64}) = map (\\p -> p.x * p.x + p.y * p.y) ps",
        expect![[r#"
            norms [n] : [n]{x: f64, y: f64} -> *[n]f64
        "#]],
    );
    check(
        "def f p = p.x",
        expect![[r#"
        test.fut:1:7: error [ambiguous-type]: The type of this expression is ambiguous
    "#]],
    );
    check(
        "def f (b: bool) : #some i32 | #none = if b then #some 2 else #none",
        expect![[r#"
        f : bool -> #none | #some i32
    "#]],
    );
    check(
        "def f (b: bool) = if b then #some 2i32 else #none",
        expect![[r#"
        test.fut:1:19: error [ambiguous-type]: The type of this expression is ambiguous
    "#]],
    );
    check(
        "def f (r: {a: i32}) = r.b",
        expect![[r#"
        test.fut:1:23: error [type-mismatch]: There is no record field "b" here
    "#]],
    );
}

#[test]
fn mismatches_say_what_was_expected() {
    check(
        "def f (x: i32) = x && true",
        expect![[r#"
        test.fut:1:18: error [type-mismatch]: Cannot apply "&&" to this argument (invalid type)
    "#]],
    );
    check(
        "def f (b: bool) = if b then 1i32 else 2.0f32",
        expect![[r#"
        test.fut:1:39: error [type-mismatch]: This branch does not have the type of the branches before it
    "#]],
    );
    check(
        "def f (xs: []i32) = map (+ 1f32) xs",
        expect![[r#"
        test.fut:1:34: error [type-mismatch]: Cannot apply "map" to this argument (invalid type)
    "#]],
    );
    check(
        "def f (x: i32) : bool = x",
        expect![[r#"
        test.fut:1:25: error [type-mismatch]: The body of this function does not match its return type
    "#]],
    );
    check(
        "def f x = x x",
        expect![[r#"
        test.fut:1:13: error [type-mismatch]: Cannot apply "x" to this argument
    "#]],
    );
    check(
        "def f (x: i32) = x 1",
        expect![[r#"
        test.fut:1:20: error [not-a-function]: Cannot apply "x" to this argument: it is not a function, or has too many arguments
    "#]],
    );
}

#[test]
fn unknown_names_come_with_a_suggestion() {
    check(
        "def f (value: i32) = valeu + 1",
        expect![[r#"
        test.fut:1:22: error [unknown-name]: Unknown variable "valeu"
    "#]],
    );
    check(
        "def f (x: int32) = x",
        expect![[r#"
        test.fut:1:11: error [unknown-name]: Unknown type "int32"
    "#]],
    );
    check(
        "def f = f32.sqroot 2",
        expect![[r#"
        test.fut:1:9: error [unknown-name]: Unknown variable "sqroot" in module "f32"
    "#]],
    );
    check(
        "def f = i32",
        expect![[r#"
        test.fut:1:9: error [not-a-value]: "i32" is a module, not a value
    "#]],
    );
}

#[test]
fn one_wrong_definition_does_not_hide_another() {
    check(
        "def f = 1i32 + true\ndef g = f\ndef h = 2i32 + false",
        expect![[r#"
        test.fut:1:16: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
        test.fut:3:16: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
    "#]],
    );
}

#[test]
fn a_function_may_call_itself() {
    check(
        "def fact (n: i32) : i32 = if n == 0 then 1 else n * fact (n - 1)",
        expect![[r#"
        fact : i32 -> i32
    "#]],
    );
    check(
        "def even [n] (xs: [n]i32) : bool = if n == 0 then true else !(even (tail xs))",
        expect![[r#"
        even [n] : [n]i32 -> bool
    "#]],
    );
}

#[test]
fn a_name_that_makes_no_sense_recursively_is_the_earlier_one() {
    check(
        "def size (x: i32) = x\nmodule m = { def size (x: {s: i32}) = size x.s }\ndef f = m.size {s = 2}",
        expect![[r#"
            size : i32 -> i32
            f : i32
        "#]],
    );
}

#[test]
fn a_type_parameter_stays_inside_its_function() {
    check(
        "def f x = let g 'b (y: b) = if true then y else x in g",
        expect![[r#"
        test.fut:1:15: error [scope-violation]: The type parameter "b" would be needed outside this function, where it is not in scope (scope-violation)
    "#]],
    );
}

#[test]
fn names_are_bound_once() {
    check(
        "def f (x: i32) (x: i32) = x",
        expect![[r#"
        test.fut:1:17: error [duplicate-name]: Duplicate name "x", which is also bound here
    "#]],
    );
    check(
        "def f = 1i32\ndef f = 2i32",
        expect![[r#"
        test.fut:2:5: error [duplicate-definition]: Duplicate definition of value "f"
    "#]],
    );
    check(
        "type t = {a: i32, a: bool}",
        expect![[r#"
        test.fut:1:19: error [duplicate-name]: Duplicate field "a", which is also bound here
    "#]],
    );
}
