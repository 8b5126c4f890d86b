//! Scalar operations.
//!
//! ```text
//! f64.add (broadcast [n] () 1.0) xs                        ==>   f64.add 1.0 xs
//! f64.mul (broadcast [n, m] (0) x) (broadcast [n, m] (0) y)  ==>   broadcast [n, m] (0) (f64.mul x y)
//! bool.and true x  ==>  x        select true x y  ==>  x        i64.lt (iota i64 n) n  ==>  true
//! ```

use dagaz_core::build::fold_binop;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::prim_eval::{convert, eval_cmpop, eval_ternop, eval_unop};
use dagaz_core::types::{Atom, Type};

use crate::term::Op;
use crate::visit::{operands, operands_mut};

use super::{Simpler, Simplifier};

impl Simplifier {
    pub(super) fn scalar(&mut self, op: &Op, ty: &Type) -> Option<Simpler> {
        if let Some(atom) = self.folded(op) {
            return Some(self.as_value(atom, ty));
        }
        self.narrower(op, ty)
    }

    /// A value of the type: what is the same everywhere has its shape.
    fn as_value(&self, atom: Atom, ty: &Type) -> Simpler {
        if self.b.type_of(atom).rank() == ty.rank() {
            return Simpler::Atom(atom);
        }
        Simpler::Op(Op::Broadcast { dims: ty.dims().to_vec(), axes: Vec::new(), value: atom })
    }

    /// What is the result, where the operands say so.
    fn folded(&self, op: &Op) -> Option<Atom> {
        let constant = |result: Result<Prim, dagaz_core::prim_eval::PrimError>| result.ok().map(Atom::Const);
        match op {
            Op::UnOp(op, _, Atom::Const(x)) => constant(eval_unop(*op, *x)),
            Op::UnOp(UnOp::Not, _, x) => match self.def(*x) {
                Some(Op::UnOp(UnOp::Not, _, y)) => Some(*y),
                _ => None,
            },
            Op::Convert(from, to, x) if from == to => Some(*x),
            Op::Convert(_, to, Atom::Const(x)) => Some(convert(*to, *x).into()),
            Op::BinOp(op, ty, x, y) => fold_binop(*op, *ty, *x, *y).or(match op {
                BinOp::And | BinOp::Or if x == y => Some(*x),
                _ => None,
            }),
            Op::TernOp(op, _, [Atom::Const(a), Atom::Const(b), Atom::Const(c)]) => {
                constant(eval_ternop(*op, *a, *b, *c))
            }
            Op::CmpOp(op, _, Atom::Const(x), Atom::Const(y)) => {
                constant(eval_cmpop(*op, *x, *y).map(Prim::Bool))
            }
            Op::CmpOp(op, ty, x, y) if x == y && !ty.is_float() => Some(Atom::bool(*op != CmpOp::Lt)),
            // Narrower integers of an iota may have wrapped.
            Op::CmpOp(CmpOp::Le, PrimType::I64, Atom::Const(x), y) => {
                let least =
                    matches!(self.def(*y), Some(Op::Iota { .. })) && x.as_i64().is_some_and(|x| x <= 0);
                least.then_some(Atom::bool(true))
            }
            Op::CmpOp(CmpOp::Lt, PrimType::I64, x, y) => {
                let bound = match self.def(*y) {
                    Some(Op::Broadcast { axes, value, .. }) if axes.is_empty() => *value,
                    _ => *y,
                };
                let below = matches!(self.def(*x), Some(Op::Iota { n, .. }) if *n == bound);
                below.then_some(Atom::bool(true))
            }
            Op::Select { cond: Atom::Const(Prim::Bool(c)), yes, no } => Some(if *c { *yes } else { *no }),
            Op::Select { yes, no, .. } if yes == no => Some(*yes),
            _ => None,
        }
    }

    /// The operation on what its operands are broadcast from, if they are the same along some axis.
    fn narrower(&mut self, op: &Op, ty: &Type) -> Option<Simpler> {
        let mut parts = Vec::new();
        let mut kept = vec![false; ty.rank()];
        let mut found = false;
        for atom in operands(op) {
            match self.def(atom) {
                _ if atom.as_const().is_some() => parts.push((atom, Vec::new())),
                Some(Op::Broadcast { axes, value, .. }) => {
                    found = true;
                    axes.iter().for_each(|axis| kept[*axis] = true);
                    parts.push((*value, axes.clone()));
                }
                _ => {
                    kept.fill(true);
                    parts.push((atom, (0..ty.rank()).collect()));
                }
            }
        }
        if !found {
            return None;
        }
        let union: Vec<usize> = (0..ty.rank()).filter(|axis| kept[*axis]).collect();
        let dims: Vec<Atom> = union.iter().map(|axis| ty.dims()[*axis]).collect();
        let is_narrower = union.len() < ty.rank();
        let mut changed = is_narrower;
        let mut now = Vec::new();
        for (old, (value, axes)) in operands(op).into_iter().zip(parts) {
            let is_constant = value.as_const().is_some();
            changed |= is_constant && old.as_const().is_none();
            if is_constant || axes == union {
                now.push(value);
            } else if is_narrower {
                let places = axes.iter().filter_map(|axis| union.iter().position(|u| u == axis)).collect();
                let elem = self.b.type_of(value).elem()?;
                let wide = Op::Broadcast { dims: dims.clone(), axes: places, value };
                now.push(self.emit("same", Type::array(elem, dims.clone()), wide));
            } else {
                now.push(old);
            }
        }
        if !changed {
            return None;
        }
        let mut new = op.clone();
        let mut operands = now.into_iter();
        operands_mut(&mut new, &mut |atom| *atom = operands.next().unwrap_or(*atom));
        if !is_narrower {
            return Some(Simpler::Op(new));
        }
        let value = self.emit("once", Type::array(ty.elem()?, dims), new);
        Some(Simpler::Op(Op::Broadcast { dims: ty.dims().to_vec(), axes: union, value }))
    }
}
