//! Folds of a column by one operation, from left to right, as the ordinary path does.

use crate::prim::{BinOp, Prim};
use crate::prim_eval::eval_binop;

use super::KnownOp;
use super::columns::{Element, Failed, Operand, Side};

/// The fold of a column, beginning with `start`.
pub(super) fn fold(known: KnownOp, start: Prim, column: Operand<'_>, lanes: usize) -> Result<Prim, Failed> {
    macro_rules! by {
        ($con:ident, $start:expr, $f:expr) => {
            run(column.side(lanes)?, lanes, $start, known.swapped, $f).map(Prim::$con)
        };
    }
    match (known.op, start) {
        (BinOp::Add, Prim::F32(start)) => by!(F32, start, |x: f32, y: f32| x + y),
        (BinOp::Add, Prim::F64(start)) => by!(F64, start, |x: f64, y: f64| x + y),
        (BinOp::Add, Prim::I32(start)) => by!(I32, start, i32::wrapping_add),
        (BinOp::Add, Prim::I64(start)) => by!(I64, start, i64::wrapping_add),
        (BinOp::Mul, Prim::F32(start)) => by!(F32, start, |x: f32, y: f32| x * y),
        (BinOp::Mul, Prim::F64(start)) => by!(F64, start, |x: f64, y: f64| x * y),
        (BinOp::Mul, Prim::I32(start)) => by!(I32, start, i32::wrapping_mul),
        (BinOp::Mul, Prim::I64(start)) => by!(I64, start, i64::wrapping_mul),
        (BinOp::Min, Prim::F32(start)) => by!(F32, start, f32::min),
        (BinOp::Min, Prim::F64(start)) => by!(F64, start, f64::min),
        (BinOp::Min, Prim::I32(start)) => by!(I32, start, |x: i32, y: i32| x.min(y)),
        (BinOp::Min, Prim::I64(start)) => by!(I64, start, |x: i64, y: i64| x.min(y)),
        (BinOp::Max, Prim::F32(start)) => by!(F32, start, f32::max),
        (BinOp::Max, Prim::F64(start)) => by!(F64, start, f64::max),
        (BinOp::Max, Prim::I32(start)) => by!(I32, start, |x: i32, y: i32| x.max(y)),
        (BinOp::Max, Prim::I64(start)) => by!(I64, start, |x: i64, y: i64| x.max(y)),
        (BinOp::Xor, Prim::I32(start)) => by!(I32, start, |x: i32, y: i32| x ^ y),
        (BinOp::And, Prim::Bool(start)) => by!(Bool, start, |x: bool, y: bool| x & y),
        (BinOp::Or, Prim::Bool(start)) => by!(Bool, start, |x: bool, y: bool| x | y),
        (op, start) => {
            let mut total = start;
            for lane in 0..lanes {
                let x = column.get(lane).ok_or(Failed)?;
                let (a, b) = if known.swapped { (x, total) } else { (total, x) };
                total = eval_binop(op, a, b).map_err(|_| Failed)?;
            }
            Ok(total)
        }
    }
}

#[inline]
fn run<T: Element>(
    column: Side<'_, T>,
    lanes: usize,
    start: T,
    swapped: bool,
    f: impl Fn(T, T) -> T,
) -> Result<T, Failed> {
    Ok(match (column, swapped) {
        (Side::Many(xs), false) => xs.iter().fold(start, |a, x| f(a, *x)),
        (Side::Many(xs), true) => xs.iter().fold(start, |a, x| f(*x, a)),
        (Side::One(x), false) => (0..lanes).fold(start, |a, _| f(a, x)),
        (Side::One(x), true) => (0..lanes).fold(start, |a, _| f(x, a)),
    })
}
