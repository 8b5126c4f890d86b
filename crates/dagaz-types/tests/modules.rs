//! Modules and module types: source in, diagnostics and types out.

mod common;

use common::check;
use expect_test::expect;

#[test]
fn names_of_a_module() {
    check(
        "module m = { def x = 2i32 local def y = 3i32 def z = x + y }\ndef a = m.z",
        expect![[r#"
        a : i32
    "#]],
    );
    check(
        "module m = { def x = 2i32 local def y = 3i32 }\ndef a = m.y",
        expect![[r#"
        test.fut:2:9: error [unknown-name]: Unknown variable "y" in module "m"
    "#]],
    );
    check(
        "module m = { def x = 2i32 }\ndef a = m.(x + 1)\nopen m\ndef b = x",
        expect![[r#"
        x : i32
        a : i32
        b : i32
    "#]],
    );
}

#[test]
fn ascription_hides() {
    check(
        "module m : { type t val make : i32 -> t val get : t -> i32 } = {\n\
         type t = i32 def make (x: i32) = x def get (x: i32) = x def secret = 1i32 }\n\
         def ok = m.get (m.make 2)\n\
         def wrong = m.make 2 + 1",
        expect![[r#"
            test.fut:4:13: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
            ok : i32
        "#]],
    );
}

#[test]
fn a_module_must_have_what_its_type_says() {
    check(
        "module m : { val x : i32 } = { def y = 1i32 }",
        expect![[r#"
        test.fut:1:30: error [missing-value]: Module does not define a value named "x", but the module type requires it
    "#]],
    );
    check(
        "module m : { val x : i32 } = { def x = true }",
        expect![[r#"
        test.fut:1:30: error [module-mismatch]: Module type requires "val x : i32"
    "#]],
    );
    check(
        "module m : { type t } = { type u = i32 }",
        expect![[r#"
        test.fut:1:25: error [missing-type]: Module does not define type "t", but the module type requires it
    "#]],
    );
    check(
        "module m : { type t = i64 } = { type t = i32 }",
        expect![[r#"
        test.fut:1:31: error [module-mismatch]: Module defines "type t = i32", but the module type requires "type t = i64"
    "#]],
    );
    check(
        "module m : { val f 't : t -> t } = { def f (x: i32) = x }",
        expect![[r#"
        test.fut:1:36: error [module-mismatch]: Module type requires "val f 't : t -> t"
    "#]],
    );
    check(
        "module m : { val f : i32 -> i32 } = { def f 't (x: t) = x }\ndef a = m.f 1",
        expect![[r#"
        a : i32
    "#]],
    );
}

#[test]
fn parametric_modules() {
    check(
        "module type monoid = { type t val zero : t val add : t -> t -> t }\n\
         module sums (M: monoid) = { def sum (xs: []M.t) = reduce M.add M.zero xs }\n\
         module ints = sums { type t = i32 def zero = 0i32 def add (x: i32) y = x + y }\n\
         def total = ints.sum [1, 2, 3]",
        expect![[r#"
            total : i32
        "#]],
    );
    check(
        "module f (P: { val n : i64 }) = { def xs : [P.n]i64 = iota P.n }\nmodule a = f { def n = 3i64 }\ndef b = a.xs",
        expect![[r#"
            b : [n]i64
        "#]],
    );
    check(
        "module f (P: { type t }) = { type u = P.t }\nmodule m = f { def x = 1i32 }",
        expect![[r#"
        test.fut:2:14: error [missing-type]: Module does not define type "t", but the module type requires it
    "#]],
    );
    check(
        "module f (P: { type t }) = { type u = P.t }\nopen f",
        expect![[r#"
        test.fut:2:6: error [parametric-module]: A parametric module cannot be opened
    "#]],
    );
}

#[test]
fn parametric_modules_of_parametric_modules() {
    check(
        "module type has_t = { type t val x : t }\n\
         module apply (F: (P: has_t) -> { val y : P.t }) (A: has_t) = { module r = F A def y = r.y }\n\
         module m = apply (\\(P: has_t) -> { def y = P.x }) { type t = i32 def x = 7i32 }\n\
         def z = m.y",
        expect![[r#"
            z : i32
        "#]],
    );
}

#[test]
fn refinement() {
    check(
        "module type s = { type t val x : t }\nmodule m : s with t = i32 = { type t = i32 def x = 1i32 }\ndef a = m.x + 1",
        expect![[r#"
            a : i32
        "#]],
    );
    check(
        "module type s = { type t }\nmodule type r = s with u = i32",
        expect![[r#"
        test.fut:2:24: error [cannot-refine]: "u" is not an abstract type in the module type
    "#]],
    );
}

#[test]
fn types_with_open_sizes_can_be_hidden() {
    check(
        "module m : { type~ t val make : i64 -> t val size : t -> i64 } = {\n\
         type~ t = []i64 def make (n: i64) : t = iota n def size (x: t) = length x }\n\
         def f (n: i64) = m.size (m.make n)",
        expect![[r#"
            f : i64 -> i64
        "#]],
    );
    check(
        "type t = []i32",
        expect![[r#"
        test.fut:1:10: error [lifted-type]: A non-lifted type abbreviation may not stand for a type containing anonymous sizes or functions, but this one contains anonymous sizes
    "#]],
    );
    check(
        "type^ t = i32 -> i32\ntype u = t",
        expect![[r#"
        test.fut:2:10: error [lifted-type]: A non-lifted type abbreviation may not stand for a type containing anonymous sizes or functions, but this one contains a function
    "#]],
    );
}
