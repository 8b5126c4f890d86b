//! Wrong uses of derivatives are errors at the user's line.

use dagaz::compile::compile_source;
use dagaz::render::Style;
use expect_test::{Expect, expect};

fn check(source: &str, expected: Expect) {
    let failure = match compile_source("wrong.fut", source) {
        Ok(_) => panic!("the program is accepted"),
        Err(failure) => failure,
    };
    expected.assert_eq(&failure.render(Style::Plain));
}

#[test]
fn functions_as_results() {
    check(
        "entry main (x: f64) = (jvp (\\x y -> x + y) x 1.0) x",
        expect![[r#"
            error[type-mismatch]: Cannot apply "jvp" to this argument (invalid type)
             --> wrong.fut:1:28
              |
            1 | entry main (x: f64) = (jvp (\x y -> x + y) x 1.0) x
              |                            ^^^^^^^^^^^^^^^ has type "t2 -> t2 -> t2"
              |
              = help: expected type: t2 -> t3
              = help: The type "t2 -> t2" is functional: there are derivatives of functions between data only; is an argument missing?
        "#]],
    );
}

#[test]
fn functions_as_arguments() {
    check(
        "entry main (x: f64) = (vjp (\\f -> f x) (\\y -> y * y) 1.0) x",
        expect![[r#"
            error[type-mismatch]: Cannot apply "vjp" to this argument (invalid type)
             --> wrong.fut:1:28
              |
            1 | entry main (x: f64) = (vjp (\f -> f x) (\y -> y * y) 1.0) x
              |                            ^^^^^^^^^^^ has type "(f64 -> t5) -> t5"
              |
              = help: expected type: t2 -> t3
              = help: The type "f64 -> t5" is functional: there are derivatives of functions between data only; is an argument missing?
        "#]],
    );
}

#[test]
fn functions_behind_a_wrapper() {
    check(
        "def slope 'a (f: f64 -> a) (x: f64) : a = jvp f x 1\nentry main (x: f64) = (slope (\\x y -> x * y) x) 2",
        expect![[r#"
            error[functional-derivative]: a function with functions among its arguments or results has no derivative
             --> wrong.fut:2:24
              |
            2 | entry main (x: f64) = (slope (\x y -> x * y) x) 2
              |                        ^
        "#]],
    );
}

#[test]
fn seeds_of_another_shape() {
    check(
        "entry main [n][m] (xs: [n]f64) (ys: [m]f64) = vjp (\\(xs: [n]f64) -> map (* 2) xs) xs ys",
        expect![[r#"
            error[size-mismatch]: Cannot apply "vjp" to this argument (invalid type)
             --> wrong.fut:1:52
              |
            1 | entry main [n][m] (xs: [n]f64) (ys: [m]f64) = vjp (\(xs: [n]f64) -> map (* 2) xs) xs ys
              |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ has type "[n]f64 -> [n]f64"
              |
              = help: expected type: [n]f64 -> [m]f64
              = help: Sizes "m" and "n" do not match
        "#]],
    );
}

#[test]
fn seeds_of_another_type() {
    check(
        "entry main (x: f64) = jvp (\\x -> (x, x)) x (1f32, 2f32)",
        expect![[r#"
        error[type-mismatch]: Cannot apply "jvp" to this argument (invalid type)
         --> wrong.fut:1:44
          |
        1 | entry main (x: f64) = jvp (\x -> (x, x)) x (1f32, 2f32)
          |                                            ^^^^^^^^^^^^ has type "(f32, f32)"
          |
          = help: expected type: f64
          = help: Types "f64" and "(f32, f32)" do not match
    "#]],
    );
}

#[test]
fn gradients_of_many_numbers() {
    check(
        "entry main (xs: []f64) = grad (map (* 2)) xs",
        expect![[r#"
        error[gradient-of-many]: a gradient needs single floating-point numbers here: the result of the function, and for matrices of derivatives the elements of its argument; use vjp or jvp with a seed for other types
         --> wrong.fut:1:26
          |
        1 | entry main (xs: []f64) = grad (map (* 2)) xs
          |                          ^
    "#]],
    );
}

#[test]
fn transposes_of_what_is_not_linear() {
    check(
        "def f (x: f64) = x * 2 + 1\nentry main (y: f64) : f64 =\n  linear_transpose f y",
        expect![[r#"
        error[not-linear]: this function is not linear and cannot be transposed: here is a constant added to or mixed with what depends on the argument
         --> wrong.fut:1:18
          |
        1 | def f (x: f64) = x * 2 + 1
          |                  ^
    "#]],
    );
}

#[test]
fn linear_functions_of_recursive_ones() {
    check(
        "def power (x: f64) (n: i64) : f64 = if n == 0 then 1 else x * power x (n - 1)\nentry main (x: f64) =\n  (linearize (\\x -> power x 5) x).1 1",
        expect![[r#"
            error[not-yet]: the linear function of a recursive function is not available yet
             --> wrong.fut:3:4
              |
            3 |   (linearize (\x -> power x 5) x).1 1
              |    ^
        "#]],
    );
}
