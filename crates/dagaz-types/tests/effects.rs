//! Effects: rows in types, and what may not be done with references.

mod common;

use common::{check, check_as};
use dagaz_types::Dialect;
use expect_test::expect;

#[test]
fn rows_name_the_references() {
    check(
        r"
        def bump (s: state i64) : () = s := get s + 1
        def add [n] (h: accum ([n]f64)) (i: i64) (x: f64) : () = h[i] += x
        def both (s: state i64) (h: accum i64) : () = (bump s; h += get s)
        def closed (x: i64) : i64 = yield_state x (\s -> bump s)
        ",
        expect![[r#"
            bump : state i64 -> {State s} ()
            add [n] : accum [n]f64 -> i64 -> f64 -> {Accum h} ()
            both : state i64 -> accum i64 -> {Accum h, State s} ()
            closed : i64 -> i64
        "#]],
    );
}

#[test]
fn definitions_are_polymorphic_in_effects() {
    check(
        r"
        def twice (f: () -> ()) : () = (f (); f ())
        def count (s: state i64) : () = twice (\() -> s := get s + 1)
        def for_each 'a [n] (f: a -> ()) (xs: [n]a) : () = loop () for x in xs do f x
        def total [n] (xs: [n]i64) : i64 = yield_state 0 (\s -> for_each (\x -> s := get s + x) xs)
        def sums [n] (xs: [n]i64) : [n]i64 = map (\x -> total [x]) xs
        def logged 'a (log: accum i64) (f: i64 -> a) : a = (log += 1; f 2)
        ",
        expect![[r#"
            twice : (() -> ()) -> ()
            count : state i64 -> {State s} ()
            for_each 'a [n] : (a -> ()) -> [n]a -> ()
            total [n] : [n]i64 -> i64
            sums [n] : [n]i64 -> [n]i64
            logged 'a : accum i64 -> (i64 -> {e} a) -> {Accum log, e} a
        "#]],
    );
}

#[test]
fn state_is_not_for_many_at_once() {
    check(
        r"
        def f [n] (xs: [n]i64) = run_state 0 (\s -> map (\x -> (s := get s + x; x)) xs)
        ",
        expect![[r#"
            test.fut:2:70: error [state-in-parallel]: State is used in a function that is applied to many elements at once, in no order
        "#]],
    );
    check(
        r"
        def everywhere 'a [n] (f: a -> ()) (xs: [n]a) : () = let _ = map f xs in ()
        def g [n] (xs: [n]i64) = yield_state 0 (\s -> everywhere (\x -> s := x) xs)
        ",
        expect![[r#"
            test.fut:3:75: error [state-in-parallel]: State is used in a function that is applied to many elements at once, in no order
            everywhere 'a [n] : (a -> ()) -> [n]a -> ()
        "#]],
    );
    check(
        r"
        def h [n] (s: state i64) (xs: [n]i64) : [n]i64 = map (\x -> x + get s) xs
        ",
        expect![[r#"
            test.fut:2:73: error [state-in-parallel]: State is used in a function that is applied to many elements at once, in no order
        "#]],
    );
}

#[test]
fn accumulators_are() {
    check(
        r"
        def f [n] (xs: [n]i64) : i64 = yield_accum (\h -> map (\x -> h += x) xs)
        def g [n] (h: accum i64) (xs: [n]i64) : [n]() = for i -> h += xs[i]
        def prefix [n] (xs: [n]f64) : [n]f64 = (run_state 0 (\s -> for i -> (s := get s + xs[i]; get s))).0
        ",
        expect![[r#"
            f [n] : [n]i64 -> i64
            g [n] : accum i64 -> [n]i64 -> {Accum h} [n]()
            prefix [n] : [n]f64 -> [n]f64
        "#]],
    );
}

#[test]
fn operators_and_derivatives_have_no_effects() {
    check(
        r"
        def f [n] (xs: [n]i64) = yield_accum (\h -> h += reduce (\x y -> (h += 1; x + y)) 0 xs)
        ",
        expect![[r#"
            test.fut:2:77: error [effect-inside]: A reference from outside is used in an operator that combines two values, which must have no effects
        "#]],
    );
    check(
        r"
        def g (s: state f64) (x: f64) : f64 = vjp (\y -> (s := y; y * y)) x 1
        ",
        expect![[r#"
            test.fut:2:61: error [effect-inside]: A reference from outside is used in a function that is differentiated, which must have no effects
        "#]],
    );
    check(
        r"
        def inside (x: f64) : f64 = vjp (\y -> yield_state y (\s -> s := get s * y)) x 1
        ",
        expect![[r#"
            inside : f64 -> f64
        "#]],
    );
}

#[test]
fn references_do_not_escape() {
    check(
        r"
        def f = (run_state 0i64 (\s -> s)).1
        ",
        expect![[r#"
            test.fut:2:33: error [type-mismatch]: Cannot apply "run_state" to this argument (invalid type)
        "#]],
    );
    check(
        r"
        def g = let (f, _) = run_state 0i64 (\s -> \x -> s := x) in f 1
        ",
        expect![[r#"
            test.fut:2:30: error [reference-escape]: The result still needs the reference that this handler makes, which is gone when the handler ends
        "#]],
    );
    check(
        r"
        def keep = run_state 0i64 (\s -> run_state (\() -> get s) (\t -> t := \() -> 1))
        def branch (c: bool) = run_state 0i64 (\s -> run_state 1 (\t -> (if c then s else t) := 3))
        def array = run_state 0i64 (\s -> [s])
        ",
        expect![[r#"
            test.fut:2:20: error [reference-escape]: The result still needs the reference that this handler makes, which is gone when the handler ends
            test.fut:3:91: error [type-mismatch]: A branch of "if" cannot give a value of this type
            test.fut:4:44: error [type-mismatch]: The array element does not have the type of the elements before it
        "#]],
    );
}

#[test]
fn an_accumulator_is_only_added_to() {
    check(
        r"
        def f : i64 = yield_accum (\h -> h := 2)
        ",
        expect![[r#"
            test.fut:2:42: error [type-mismatch]: Cannot apply ":=" to this argument (invalid type)
        "#]],
    );
    check(
        r"
        def g : i64 = yield_accum (\h -> h += get h)
        ",
        expect![[r#"
            test.fut:2:51: error [type-mismatch]: Cannot apply "get" to this argument (invalid type)
        "#]],
    );
}

#[test]
fn parts_of_references() {
    check(
        r"
        def f [n] (s: state {a: [n](i64, f64), b: bool}) (i: i64) : i64 = (s.b := true; s.a[i].1 := 2; get s.a[i].0)
        def range [n] (s: state ([n]i64)) : () = s[1:2] := [3]
        ",
        expect![[r#"
            test.fut:3:52: error [reference-range]: A reference cannot be sliced by a range
            f [n] : state {a: [n](i64, f64), b: bool} -> i64 -> {State s} i64
        "#]],
    );
}

#[test]
fn elements_of_accumulators() {
    check(
        r"
        def largest [n] (is: [n]i64) (xs: [n]f64) : [3]f64 =
          yield_accum_with f64.max (-f64.inf) (\h -> map2 (\i x -> h[i] += x) is xs)
        def product [n] (xs: [n]f64) : f64 = yield_accum_with (*) 1 (\h -> map (\x -> h += x) xs)
        def wrong [n] (xs: [n]f64) : f64 = yield_accum_with (&&) true (\h -> map (\x -> h += x) xs)
        ",
        expect![[r#"
            test.fut:5:44: error [type-mismatch]: The accumulator must hold what the operator combines, or an array of that
            largest [n] : [n]i64 -> [n]f64 -> [3]f64
            product [n] : [n]f64 -> f64
        "#]],
    );
}

#[test]
fn the_size_of_an_accumulator_must_be_known() {
    check(
        r"
        def f [n] (is: [n]i64) = let h = yield_accum (\h -> map (\i -> h[i] += 1i64) is) in h[0]
        ",
        expect![[r#"
            test.fut:2:42: error [ambiguous-size]: Ambiguous size in the type of what this handler keeps
        "#]],
    );
}

#[test]
fn a_definition_of_the_user_comes_first() {
    check(
        r"
        def (+=) (x: i64) (y: i64) = x + y
        def get (x: i64) = x
        def f = get 3 += 4
        ",
        expect![[r#"
            (+=) : i64 -> i64 -> i64
            get : i64 -> i64
            f : i64
        "#]],
    );
}

#[test]
fn functions_used_in_several_handlers() {
    check(
        r"
        def f [n] (xs: [n]i64) : [n]i64 =
          map (\x ->
            let set (r: state i64) (y: i64) = r := y
            let add = \(r: state i64) -> r := get r + 1
            in yield_state 0 (\s -> (set s x; add s)) + yield_state 1 (\t -> (add t; set t x))) xs
        ",
        expect![[r#"
            f [n] : [n]i64 -> [n]i64
        "#]],
    );
}

#[test]
fn modules_hide_no_effects() {
    check(
        r"
        module type each = { val each [n] 'a : (a -> ()) -> [n]a -> () }
        module in_order : each = { def each [n] 'a (f: a -> ()) (xs: [n]a) : () = loop () for x in xs do f x }
        module at_once : each = { def each [n] 'a (f: a -> ()) (xs: [n]a) : () = let _ = map f xs in () }
        module nothing (x: {}) = { def each [n] 'a (f: a -> ()) (xs: [n]a) : () = let _ = map f xs in () }
        module applied = nothing {}
        def right [n] (xs: [n]i64) = yield_state 0 (\s -> in_order.each (\x -> s := x) xs)
        def wrong [n] (xs: [n]i64) = yield_state 0 (\s -> at_once.each (\x -> s := x) xs)
        def wrong_too [n] (xs: [n]i64) = yield_state 0 (\s -> applied.each (\x -> s := x) xs)
        ",
        expect![[r#"
            test.fut:8:81: error [state-in-parallel]: State is used in a function that is applied to many elements at once, in no order
            test.fut:9:85: error [state-in-parallel]: State is used in a function that is applied to many elements at once, in no order
            right [n] : [n]i64 -> i64
        "#]],
    );
}

#[test]
fn lifted_applications_have_the_effects_of_what_is_lifted() {
    check(
        r"
        def f [n] (xs: [n]i64) : [n]() = (run_accum (\(h: accum i64) -> h += xs)).0
        def g [n] (s: state i64) (xs: [n]i64) : [n]() = s := xs
        ",
        expect![[r#"
            test.fut:3:59: error [state-in-parallel]: State is used in a function that is applied to many elements at once, in no order
            f [n] : [n]i64 -> [n]()
        "#]],
    );
}

#[test]
fn plain_futhark_has_none() {
    check_as(
        Dialect::Strict,
        r"
        def f : i64 = yield_state 0 (\s -> s := 1)
        def g (h: accum i64) : () = ()
        def (+=) (x: i64) (y: i64) = x + y
        def get = 2 += 3
        ",
        expect![[r#"
            test.fut:2:23: error [unknown-name]: Unknown variable "yield_state"
            test.fut:3:19: error [unknown-name]: Unknown type "accum"
            (+=) : i64 -> i64 -> i64
            get : i64
        "#]],
    );
}
