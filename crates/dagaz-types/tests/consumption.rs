//! Consumption, aliases and uniqueness: source in, diagnostics and types out.

mod common;

use common::check;
use expect_test::expect;

#[test]
fn a_consumed_variable_is_not_used_again() {
    check(
        "def f (xs: *[]i32) = let ys = xs with [0] = 1 in xs[0]",
        expect![[r#"
        test.fut:1:50: error [use-after-consume]: Using variable "xs", but this was consumed
    "#]],
    );
}

#[test]
fn consumption_reaches_aliases() {
    check(
        "def f (xs: *[]i32) = let ys = xs let zs = ys with [0] = 1 in (zs, xs[1])",
        expect![[r#"
        test.fut:1:67: error [use-after-consume]: Using variable "xs", but this was consumed
    "#]],
    );
}

#[test]
fn a_branch_consumes_for_what_follows() {
    check(
        "def f (c: bool) (xs: *[]i32) =\n  let ys = if c then xs with [0] = 1 else copy xs\n  in (ys, xs[0])",
        expect![[r#"
            test.fut:3:11: error [use-after-consume]: Using variable "xs", but this was consumed
        "#]],
    );
}

#[test]
fn branches_do_not_see_what_the_other_consumes() {
    check(
        "def f (c: bool) (xs: *[]i32) = if c then xs with [0] = 1 else xs with [1] = 2",
        expect![[r#"
            f [n] : bool -> *[n]i32 -> *[n]i32
        "#]],
    );
}

#[test]
fn observed_parameters_are_not_consumable() {
    check(
        "def f (xs: []i32) = xs with [0] = 1",
        expect![[r#"
        test.fut:1:21: error [not-consumable]: Consuming variable "xs", which is not consumable
    "#]],
    );
}

#[test]
fn free_variables_of_a_lambda_are_not_consumable() {
    check(
        "def f (xs: *[]i32) = map (\\i -> (xs with [0] = i)[0]) [1, 2]",
        expect![[r#"
        test.fut:1:34: error [not-consumable]: Consuming variable "xs", which is not consumable
    "#]],
    );
}

#[test]
fn globals_are_neither_consumed_nor_returned() {
    check(
        "def table = [1, 2, 3i32]\ndef f (i: i64) = table with [i] = 0\ndef g (i: i64) = table",
        expect![[r#"
            test.fut:2:18: error [not-consumable]: Consuming variable "table", which is not consumable
            test.fut:3:18: error [alias-free-variable]: Function result aliases the free variable "table"
            table : [3]i32
        "#]],
    );
}

#[test]
fn an_update_value_must_not_alias_the_target() {
    check(
        "def f [n] (xs: *[n][n]i32) = xs with [0] = xs[1]",
        expect![[r#"
        test.fut:1:44: error [update-value-aliases]: Source array for in-place update might alias update value
    "#]],
    );
}

#[test]
fn results_that_alias_nothing_are_unique() {
    check(
        "def fresh (n: i64) = replicate n 0i32\ndef same (xs: []i32) = xs\ndef pair (n: i64) = let a = iota n in (a, a)",
        expect![[r#"
            fresh : (n: i64) -> *[n]i32
            same [n] : [n]i32 -> [n]i32
            pair : (n: i64) -> ([n]i64, [n]i64)
        "#]],
    );
}

#[test]
fn a_declared_result_is_what_it_is_declared_to_be() {
    check(
        "def fresh (n: i64) : [n]i32 = replicate n 0\ndef f (n: i64) : *[n]i32 = fresh n",
        expect![[r#"
        fresh : (n: i64) -> [n]i32
        f : (n: i64) -> *[n]i32
    "#]],
    );
}

#[test]
fn unique_results_alias_nothing() {
    check(
        "def f (xs: []i32) : *[]i32 = xs\ndef g (n: i64) : (*[]i64, *[]i64) = let a = iota n in (a, a)",
        expect![[r#"
            test.fut:1:30: error [return-aliased]: Unique-typed return value is aliased to "xs", which is not consumable
            test.fut:2:37: error [unique-return-aliased]: A unique-typed component of the return value is aliased to some other component
        "#]],
    );
}

#[test]
fn what_is_consumed_must_not_contain_itself_twice() {
    check(
        "def f (x: *([]i32, []i32)) = x.0\ndef g (x: *[]i32) = f (x, x)\ndef h (x: *[]i64) = scatter x x x",
        expect![[r#"
            test.fut:2:23: error [self-aliasing-arg]: Argument passed for consuming parameter is self-aliased
            test.fut:3:29: error [argument-aliases]: Argument is consumed, but aliases variable "x", which is also aliased by another argument
            f [n] [m] : (*[n]i32, *[m]i32) -> *[n]i32
        "#]],
    );
}

#[test]
fn loop_parameters_are_consumed_when_the_body_consumes_them() {
    check(
        "def f (n: i64) (xs: []i64) = loop ys = xs for i < n do ys with [i] = i\n\
         def g (n: i64) (xs: *[]i64) = loop ys = xs for i < n do ys with [i] = i",
        expect![[r#"
            test.fut:1:40: error [not-consumable]: Consuming variable "xs", which is not consumable
            g [m] : i64 -> *[m]i64 -> *[m]i64
        "#]],
    );
}

#[test]
fn loops_do_not_consume_what_is_outside() {
    check(
        "def f (n: i64) (xs: *[]i64) (ys: *[]i64) =\n  loop zs = ys for i < n do let xs[i] = i in zs\n\
         def g (n: i64) (xs: *[]i64) (ys: *[]i64) =\n  loop zs = ys for i < n do let zs[i] = i in xs",
        expect![[r#"
            test.fut:2:29: error [not-consumable]: Consuming variable "xs", which is not consumable
            test.fut:4:3: error [consuming-loop-param-aliases]: Return value for consuming loop parameter "zs" aliases "xs"
        "#]],
    );
}

#[test]
fn a_loop_body_does_not_use_what_its_initial_value_consumes() {
    check(
        "def f (n: i64) (xs: *[]i64) = loop ys = xs for i < n do ys with [i] = xs[0]",
        expect![[r#"
        test.fut:1:31: error [loop-uses-consumed]: Loop body uses variable "xs" (or an alias), but this is consumed by the initial loop argument
    "#]],
    );
}

#[test]
fn consuming_functions_are_not_passed_around() {
    check(
        "def zero (xs: *[]i32) = xs with [0] = 0\ndef twice 'a 'b (f: a -> b) (x: a) = (f x, f x)\n\
         def main (xs: *[]i32) = twice zero xs",
        expect![[r#"
            test.fut:3:31: error [consuming-function]: A consuming function is given where its argument must not be consumed
            zero [n] : *[n]i32 -> *[n]i32
            twice 'a 'b : (a -> b) -> a -> (b, b)
        "#]],
    );
}

#[test]
fn closures_do_not_consume() {
    check(
        "def set (xs: *[]i32) (i: i64) = xs with [i] = 0\ndef f (xs: *[]i32) = let g = set xs in (g 0, g 1)",
        expect![[r#"
            test.fut:2:30: error [contains-consumption]: A let-bound expression of higher-order type contains consumption, which is not allowed
            set [n] : *[n]i32 -> i64 -> *[n]i32
        "#]],
    );
}

#[test]
fn record_fields_can_be_replaced_without_consuming() {
    check(
        "def f (r: {a: []i32, b: i32}) = r with b = 2\n\
         def g (xs: []i32) (ys: *[]i32) = let t = (xs, ys) with 0 = xs let ys[0] = 0 in t",
        expect![[r#"
            test.fut:2:80: error [use-after-consume]: Using variable "ys", but this was consumed
            f [n] : {a: [n]i32, b: i32} -> {a: [n]i32, b: i32}
        "#]],
    );
}

#[test]
fn payloads_of_constructors_are_aliased() {
    check(
        "type t = #some ([2]i32) | #none\n\
         def take (x: *t) : *[2]i32 = match x case #some a -> a with [0] = 1 case #none -> [0, 0]\n\
         def f (x: *t) = let a = take x let b = take x in (a, b)",
        expect![[r#"
            test.fut:3:45: error [use-after-consume]: Using variable "x", but this was consumed
            take : (#none | #some *[2]i32) -> *[2]i32
        "#]],
    );
}
