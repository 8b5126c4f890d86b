//! How precise the products are that powers with small constant exponents become.

use dagaz_core::exp::Program;
use dagaz_core::interp::Interpreter;
use dagaz_core::parse::parse;
use dagaz_core::pass::{self, Stage, Step};
use dagaz_core::prim::Prim;
use dagaz_core::types::FunId;
use dagaz_core::value::Value;
use dagaz_optimise::EXPAND_POWERS;

fn multiplied(input: &str) -> Program {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    pass::run(&[Step::Pass(&EXPAND_POWERS)], &mut program, Stage::VALUES).expect("the pass is right");
    program
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
