//! Scalar operations on all elements at once.

use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::prim_eval::{PrimError, convert, eval_binop, eval_cmpop, eval_ternop, eval_unop};
use dagaz_core::types::Atom;
use dagaz_core::value::{Array, Elems, Value};

use crate::term::Op;

use super::{Fallible, Frame, Machine, internal};

/// What an operation gives that has no result.
pub(super) fn total(result: Result<Prim, PrimError>, ty: PrimType) -> Fallible<Prim> {
    match result {
        Ok(prim) => Ok(prim),
        Err(PrimError::DivisionByZero(_) | PrimError::NegativeExponent(..)) => Ok(Prim::zero(ty)),
        Err(PrimError::IllTyped) => Err(internal("ill-typed scalar operation")),
    }
}

impl Machine<'_> {
    /// A scalar operation or selection; none if it is another operation.
    pub(super) fn elementwise(&self, frame: &Frame, op: &Op) -> Option<Fallible<Value>> {
        Some(match op {
            Op::UnOp(op, ty, a) => {
                self.each(frame, op.result(*ty), [*a], |[x]| total(eval_unop(*op, x), *ty))
            }
            Op::BinOp(op, ty, a, b) => {
                self.each(frame, *ty, [*a, *b], |[x, y]| total(eval_binop(*op, x, y), *ty))
            }
            Op::TernOp(op, ty, operands) => {
                self.each(frame, *ty, *operands, |[x, y, z]| total(eval_ternop(*op, x, y, z), *ty))
            }
            Op::CmpOp(op, _, a, b) => self.each(frame, PrimType::Bool, [*a, *b], |[x, y]| {
                total(eval_cmpop(*op, x, y).map(Prim::Bool), PrimType::Bool)
            }),
            Op::Convert(_, to, a) => self.each(frame, *to, [*a], |[x]| Ok(convert(*to, x))),
            Op::Select { cond, yes, no } => {
                let ty = match self.value(frame, *yes) {
                    Ok(value) => value.elem_type(),
                    Err(error) => return Some(Err(error)),
                };
                self.each(frame, ty, [*cond, *yes, *no], |[c, x, y]| match c {
                    Prim::Bool(true) => Ok(x),
                    Prim::Bool(false) => Ok(y),
                    _ => Err(internal("a selection by something else than a bool")),
                })
            }
            _ => return None,
        })
    }

    fn each<const N: usize>(
        &self,
        frame: &Frame,
        ty: PrimType,
        operands: [Atom; N],
        f: impl Fn([Prim; N]) -> Fallible<Prim>,
    ) -> Fallible<Value> {
        let mut values = Vec::with_capacity(N);
        for operand in operands {
            values.push(self.value(frame, operand)?);
        }
        let Some(first) = values.iter().find_map(Value::as_array) else {
            let scalar = |i: usize| values.get(i).and_then(Value::as_prim).unwrap_or(Prim::Bool(false));
            return f(std::array::from_fn(scalar)).map(Value::Prim);
        };
        let shape = first.shape().to_vec();
        if let Some(other) = values.iter().find(|v| v.as_array().is_some_and(|a| a.shape() != shape)) {
            return Err(internal(format!("operands of shapes {shape:?} and {:?}", other.shape())));
        }
        let mut elems = Elems::with_capacity(ty, self.reserve(&shape, ty)?);
        for i in 0..first.len() {
            let operand = |at: usize| match values.get(at) {
                Some(Value::Array(array)) => array.get(i).unwrap_or(Prim::Bool(false)),
                Some(Value::Prim(prim)) => *prim,
                None => Prim::Bool(false),
            };
            if !elems.push(f(std::array::from_fn(operand))?) {
                return Err(internal("a scalar operation gives another type"));
            }
        }
        Array::new(&shape, elems).map(Value::Array).ok_or_else(|| internal("elements do not fill the array"))
    }
}
