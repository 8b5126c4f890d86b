//! Laws that derivatives keep: the forward derivative is the limit of differences, the reverse derivative is its
//! transpose, the linearised function and its transpose are both of these once more, and second derivatives agree
//! in every order of nesting.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::value::Value;

const POINT: &str = "[0.7f64, -1.2f64, 0.3f64, 1.9f64]";
const TANGENT: &str = "[0.5f64, 0.25f64, -1.0f64, 0.75f64]";

/// The derivatives of `f`, a function from `[4]f64` to `[m]f64`, that the laws are about.
const ENTRIES: &str = "
entry primal (x: [4]f64) = f x
entry fwd (x: [4]f64) (v: [4]f64) = jvp f x v
entry rev [m] (x: [4]f64) (w: [m]f64) = vjp (\\x -> f x :> [m]f64) x w
entry linear (x: [4]f64) (v: [4]f64) = (linearize f x).1 v
entry transposed [m] (x: [4]f64) (w: [m]f64) = linear_transpose (linearize (\\x -> f x :> [m]f64) x).1 w
entry fwd_rev [m] (x: [4]f64) (v: [4]f64) (w: [m]f64) = jvp (\\x -> vjp (\\x -> f x :> [m]f64) x w) x v
entry rev_fwd [m] (x: [4]f64) (v: [4]f64) (w: [m]f64) = vjp (\\x -> jvp (\\x -> f x :> [m]f64) x v) x w
entry rev_rev [m] (x: [4]f64) (v: [4]f64) (w: [m]f64) = vjp (\\x -> vjp (\\x -> f x :> [m]f64) x w) x v
";

fn value(numbers: &[f64]) -> Value {
    let shown: Vec<String> = numbers.iter().map(|x| format!("{x:?}f64")).collect();
    read(&format!("[{}]", shown.join(", ")))
}

fn read(shown: &str) -> Value {
    text::read_values(shown.as_bytes()).expect("a value").remove(0)
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(array) => array.prims().filter_map(|p| p.as_f64()).collect(),
        Value::Prim(prim) => prim.as_f64().into_iter().collect(),
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

fn assert_close(law: &str, x: &[f64], y: &[f64], tolerance: f64) {
    assert_eq!(x.len(), y.len(), "{law}: {x:?} and {y:?}");
    for (a, b) in x.iter().zip(y) {
        let scale = 1.0 + a.abs().max(b.abs());
        assert!((a - b).abs() <= tolerance * scale, "{law}: {x:?} and {y:?}");
    }
}

/// Checks all laws for a definition of `f`.
pub fn check(definition: &str) {
    let compiled = compile_source("laws.fut", &format!("{definition}\n{ENTRIES}"));
    let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}"));
    let mut session = compiled.session();
    let mut call = |entry: &str, args: &[&[f64]]| -> Vec<f64> {
        let args = args.iter().map(|arg| value(arg)).collect();
        let results = session.call(entry, args).unwrap_or_else(|error| panic!("{entry}: {error}"));
        numbers(&results[0])
    };
    let (x, v) = (numbers(&read(POINT)), numbers(&read(TANGENT)));
    let step = 1e-5;
    let moved = |by: f64| -> Vec<f64> { x.iter().zip(&v).map(|(x, v)| x + by * v).collect() };
    let (up, down) = (call("primal", &[&moved(step)]), call("primal", &[&moved(-step)]));
    let differences: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * step)).collect();
    let tangent = call("fwd", &[&x, &v]);
    assert_close("the limit of differences", &tangent, &differences, 1e-6);
    let w: Vec<f64> = (0..tangent.len()).map(|i| 0.4 + 0.3 * i as f64).collect();
    let adjoint = call("rev", &[&x, &w]);
    assert_close("the transpose", &[dot(&w, &tangent)], &[dot(&adjoint, &v)], 1e-10);
    assert_close("the linearised function", &tangent, &call("linear", &[&x, &v]), 1e-12);
    assert_close("the second route", &adjoint, &call("transposed", &[&x, &w]), 1e-12);
    let second = call("fwd_rev", &[&x, &v, &w]);
    let (up, down) = (call("rev", &[&moved(step), &w]), call("rev", &[&moved(-step), &w]));
    let differences: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * step)).collect();
    assert_close("forward over reverse", &second, &differences, 1e-5);
    assert_close("reverse over forward", &second, &call("rev_fwd", &[&x, &v, &w]), 1e-8);
    assert_close("reverse over reverse", &second, &call("rev_rev", &[&x, &v, &w]), 1e-8);
}

/// A test for each definition.
#[macro_export]
macro_rules! laws {
    ($($name:ident: $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            laws::check($definition);
        })*
    };
}
