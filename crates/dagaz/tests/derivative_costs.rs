//! What reverse derivatives cost, against the functions themselves: redundant execution must not be paid for where its
//! results are not needed.

use dagaz::compile::compile_source;
use dagaz_core::prim::Prim;
use dagaz_core::value::{Array, Value};

fn ones(shape: &[usize]) -> Value {
    Value::Array(Array::filled(shape, Prim::F64(1.0)).expect("an array"))
}

/// The work of `rev`, with a cotangent of the shape of the result, and that of `primal`.
fn work(program: &str, shapes: &[&[usize]], result: &[usize]) -> (f64, f64) {
    let compiled = compile_source("costs.fut", program).unwrap_or_else(|failure| panic!("{failure}"));
    let mut session = compiled.session();
    let mut args: Vec<Value> = shapes.iter().map(|shape| ones(shape)).collect();
    let mut call = |entry: &str, args: Vec<Value>| {
        session.call(entry, args).unwrap_or_else(|error| panic!("{entry}: {error}"));
        session.counters().work as f64
    };
    let primal = call("primal", args.clone());
    args.push(ones(result));
    (call("rev", args), primal)
}

/// A perfect nest of maps over an array of this shape.
fn nest(shape: &[usize]) -> (f64, f64) {
    let sizes: String = (0..shape.len()).map(|i| format!("[n{i}]")).collect();
    let inner = (1..shape.len()).fold("(\\x -> f64.sin x * x)".to_owned(), |f, _| format!("(map {f})"));
    let program = format!(
        "def f {sizes} (a: {sizes}f64) = map {inner} a
         entry primal {sizes} (a: {sizes}f64) = f a
         entry rev {sizes} (a: {sizes}f64) (w: {sizes}f64) = vjp f a w"
    );
    work(&program, &[shape], shape)
}

#[test]
fn deep_nests_of_maps_are_run_again_no_more_often_than_shallow_ones() {
    let (shallow, primal) = nest(&[8, 8]);
    let (deep, deep_primal) = nest(&[2, 2, 2, 2, 2, 2]);
    assert!(shallow <= 4.0 * primal, "{shallow} for {primal}");
    assert!(deep / deep_primal <= shallow / primal, "{deep} for {deep_primal}, {shallow} for {primal}");
}

#[test]
fn products_of_matrices_cost_two_products() {
    let program = "def f [n][k][m] (a: [n][k]f64, b: [k][m]f64) =
                     map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose b)) a
                   entry primal [n][k][m] (a: [n][k]f64) (b: [k][m]f64) = f (a, b)
                   entry rev [n][k][m] (a: [n][k]f64) (b: [k][m]f64) (w: [n][m]f64) = vjp f (a, b) w";
    let (rev, primal) = work(program, &[&[20, 20], &[20, 20]], &[20, 20]);
    assert!(rev <= 4.0 * primal, "{rev} for {primal}");
}

#[test]
fn stencils_cost_a_constant_factor_at_every_size() {
    let program = "def f [n] (x: [n]f64) =
                     tabulate n (\\i -> if i > 0 && i < n - 1 then x[i - 1] * x[i] + x[i + 1] else x[i])
                   entry primal [n] (x: [n]f64) = f x
                   entry rev [n] (x: [n]f64) (w: [n]f64) = vjp f x w";
    let (small, small_primal) = work(program, &[&[100]], &[100]);
    let (large, large_primal) = work(program, &[&[1000]], &[1000]);
    assert!(large / large_primal <= 1.1 * small / small_primal, "{small}, {large}");
    assert!(large <= 8.0 * large_primal, "{large} for {large_primal}");
}
