//! When a computed value is the expected one.

use crate::prim::Prim;
use crate::value::Value;

/// The tolerance of the tests of the reference implementation.
pub const TOLERANCE: f64 = 0.002;

/// By how much floats may differ from those expected. A NaN equals a NaN, and everything that is no float is exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// Relative to the largest of the expected numbers, and at least absolute, as in the tests of the reference
    /// implementation.
    OfLargest(f64),
    /// Relative to the expected number itself. What cancels out to nearly nothing may differ by a thousandth of what the largest
    /// number may.
    OfEach(f64),
}

/// What is left to small numbers.
const CANCELLED: f64 = 1e-3;

impl Tolerance {
    /// By how much a number may differ among others.
    fn allowed(self, expected: f64, largest: f64) -> f64 {
        let size = if expected.is_finite() { expected.abs() } else { 0.0 };
        match self {
            Tolerance::OfLargest(tolerance) => tolerance * largest.max(1.0),
            Tolerance::OfEach(tolerance) => tolerance * size.max(CANCELLED * largest.max(1.0)),
        }
    }
}

/// What differs first, as a sentence; floats within a tolerance of the largest are equal.
pub fn first_difference(expected: &Value, got: &Value, tolerance: f64) -> Option<String> {
    difference(expected, got, Tolerance::OfLargest(tolerance))
}

/// What differs first, as a sentence.
pub fn difference(expected: &Value, got: &Value, tolerance: Tolerance) -> Option<String> {
    if expected.elem_type() != got.elem_type() || expected.shape() != got.shape() {
        return Some(format!("expected a value of type {}, got {}", expected.type_text(), got.type_text()));
    }
    let size = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
    match (expected, got) {
        (Value::Prim(x), Value::Prim(y)) => {
            let largest = x.as_f64().map_or(0.0, size);
            (!prims_equal(*x, *y, tolerance, largest)).then(|| format!("expected {x}, got {y}"))
        }
        (Value::Array(xs), Value::Array(ys)) => {
            let largest = xs.prims().filter_map(Prim::as_f64).map(size).fold(0.0, f64::max);
            let mut pairs = xs.prims().zip(ys.prims()).enumerate();
            let (position, (x, y)) = pairs.find(|(_, (x, y))| !prims_equal(*x, *y, tolerance, largest))?;
            Some(format!("at index {}: expected {x}, got {y}", index_text(xs.shape(), position)))
        }
        (Value::Prim(_), Value::Array(_)) | (Value::Array(_), Value::Prim(_)) => {
            Some(format!("expected a value of type {}, got {}", expected.type_text(), got.type_text()))
        }
    }
}

fn prims_equal(x: Prim, y: Prim, tolerance: Tolerance, largest: f64) -> bool {
    match (x.as_f64(), y.as_f64()) {
        (Some(x), Some(y)) => {
            x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance.allowed(x, largest)
        }
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
