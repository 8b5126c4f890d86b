//! When a computed value is the expected one.

use crate::prim::Prim;
use crate::value::Value;

/// The tolerance of the tests of the reference implementation.
pub const TOLERANCE: f64 = 0.002;

/// Floats within a tolerance, relative to the largest expected number and at least absolute; a NaN equals
/// a NaN. Everything else is exact.
pub fn values_equal(expected: &Value, got: &Value, tolerance: f64) -> bool {
    first_difference(expected, got, tolerance).is_none()
}

/// What differs first, as a sentence.
pub fn first_difference(expected: &Value, got: &Value, tolerance: f64) -> Option<String> {
    if expected.elem_type() != got.elem_type() || expected.shape() != got.shape() {
        return Some(format!("expected a value of type {}, got {}", expected.type_text(), got.type_text()));
    }
    match (expected, got) {
        (Value::Prim(x), Value::Prim(y)) => {
            let allowed = tolerance * x.as_f64().filter(|x| x.is_finite()).map_or(1.0, |x| x.abs().max(1.0));
            (!prims_equal(*x, *y, allowed)).then(|| format!("expected {x}, got {y}"))
        }
        (Value::Array(xs), Value::Array(ys)) => {
            let finite = xs.prims().filter_map(Prim::as_f64).filter(|x| x.is_finite());
            let allowed = tolerance * finite.fold(1.0, |largest: f64, x| largest.max(x.abs()));
            let mut pairs = xs.prims().zip(ys.prims()).enumerate();
            let (position, (x, y)) = pairs.find(|(_, (x, y))| !prims_equal(*x, *y, allowed))?;
            Some(format!("at index {}: expected {x}, got {y}", index_text(xs.shape(), position)))
        }
        (Value::Prim(_), Value::Array(_)) | (Value::Array(_), Value::Prim(_)) => {
            Some(format!("expected a value of type {}, got {}", expected.type_text(), got.type_text()))
        }
    }
}

fn prims_equal(x: Prim, y: Prim, allowed: f64) -> bool {
    match (x.as_f64(), y.as_f64()) {
        (Some(x), Some(y)) => x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= allowed,
        _ => x == y,
    }
}

fn index_text(shape: &[usize], position: usize) -> String {
    let mut rest = position;
    let mut indices: Vec<String> = Vec::new();
    for &size in shape.iter().rev() {
        indices.push((rest % size.max(1)).to_string());
        rest /= size.max(1);
    }
    indices.reverse();
    format!("[{}]", indices.join(", "))
}
