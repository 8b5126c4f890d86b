//! Powers with small constant exponents: Core in, Core out, and how precise the products are.

use dagaz_core::exp::Program;
use dagaz_core::interp::Interpreter;
use dagaz_core::parse::parse;
use dagaz_core::prim::Prim;
use dagaz_core::print::print_without_locs;
use dagaz_core::types::FunId;
use dagaz_core::value::Value;
use dagaz_core::verify::verify;
use dagaz_optimise::expand_powers;
use expect_test::{Expect, expect};

fn multiplied(input: &str) -> Program {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    expand_powers(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    program
}

fn check(input: &str, expected: Expect) {
    expected.assert_eq(&print_without_locs(&multiplied(input)));
}

/// `x ** k` as the pass has it.
fn power(k: i32, x: f64) -> f64 {
    let text = format!(
        "def f (x: f64) : (y: f64) =
           let (y: f64) = f64.pow x {k}.0f64
           in (y)"
    );
    let program = multiplied(&text);
    let results = Interpreter::new(&program).call_fun(FunId(0), vec![Value::Prim(Prim::F64(x))]);
    match results.as_deref() {
        Ok([Value::Prim(Prim::F64(y))]) => *y,
        other => panic!("{other:?}"),
    }
}

#[test]
fn squares_are_multiplied() {
    check(
        r"def f (x: f64) : (a: f64, b: f64, c: f64) =
            let (a: f64) = f64.pow x 6.0f64
            let (b: f64) = f64.pow x -3.0f64
            let (c: f64) = f64.pow x 0.0f64
            in (a, b, c)",
        expect![[r#"
            def f (x_0: f64) : (a_1: f64, b_2: f64, c_3: f64) =
              let (power_7: f64) = f64.mul x_0 x_0
              let (power_8: f64) = f64.mul power_7 x_0
              let (a_4: f64) = f64.mul power_8 power_8
              let (power_9: f64) = f64.mul x_0 x_0
              let (power_10: f64) = f64.mul power_9 x_0
              let (b_5: f64) = f64.div 1.0f64 power_10
              let (c_6: f64) = 1.0f64
              in (a_4, b_5, c_6)
        "#]],
    );
}

#[test]
fn integers_are_multiplied_too() {
    check(
        r"def f (x: i64) : (a: i64) =
            let (a: i64) = i64.pow x 5i64
            in (a)",
        expect![[r#"
            def f (x_0: i64) : (a_1: i64) =
              let (power_3: i64) = i64.mul x_0 x_0
              let (power_4: i64) = i64.mul power_3 power_3
              let (a_2: i64) = i64.mul power_4 x_0
              in (a_2)
        "#]],
    );
}

#[test]
fn other_powers_stay() {
    check(
        r"def f (x: f64, y: f64, h: f16) : (a: f64, b: f64, c: f64, d: f16) =
            let (a: f64) = f64.pow x 17.0f64
            let (b: f64) = f64.pow x 0.5f64
            let (c: f64) = f64.pow x y
            let (d: f16) = f16.pow h 3.0f16
            in (a, b, c, d)",
        expect![[r#"
            def f (x_0: f64, y_1: f64, h_2: f16) : (a_3: f64, b_4: f64, c_5: f64, d_6: f16) =
              let (a_7: f64) = f64.pow x_0 17.0f64
              let (b_8: f64) = f64.pow x_0 0.5f64
              let (c_9: f64) = f64.pow x_0 y_1
              let (d_10: f16) = f16.pow h_2 3.0f16
              in (a_7, b_8, c_9, d_10)
        "#]],
    );
}

#[test]
fn as_many_roundings_as_factors() {
    for k in -16i32..=16 {
        for x in [0.1f64, -0.3, 0.7, 1.1, -1.3, 2.9, 17.3, -1234.5678, 1e10, -1e-9] {
            let (product, reference) = (power(k, x), x.powf(k.into()));
            // The reference is rounded itself, by less than two.
            let within = f64::from(k.abs() + 2) * f64::EPSILON / 2.0;
            assert!((product - reference).abs() <= within * reference.abs(), "{x} ** {k} = {product}");
        }
    }
}

#[test]
fn edges_are_those_of_powers() {
    for k in -16..=16 {
        for x in [0.0f64, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e200, 1e-200] {
            let (product, reference) = (power(k, x), x.powf(k.into()));
            let are_equal =
                product == reference && product.is_sign_negative() == reference.is_sign_negative();
            let are_nan = product.is_nan() && reference.is_nan();
            let are_close = (product - reference).abs() <= 1e-14 * reference.abs();
            assert!(are_equal || are_nan || are_close, "{x} ** {k} is {product}, not {reference}");
        }
    }
}
