//! Reductions.
//!
//! ```text
//! f64.reduce_add 2 (f64.mul (broadcast [n, m, k] (0, 2) x) (broadcast [n, m, k] (1, 2) y))
//!   ==>   dot [n, m] sum [k] x (0, 2) y (1, 2)
//! f64.reduce_add 1 (broadcast [n, m] (1) x)   ==>   broadcast [n] () (f64.reduce_add 0 x)
//! reduce 0 (xs) (0.0) \(x, y) -> f64.add x y  ==>   f64.reduce_add 0 xs
//! ```

use dagaz_core::exp::AxesOf;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::build::as_binop;
use crate::term::{Lambda, Op, neutral};

use super::{Simpler, Simplifier};

impl Simplifier {
    pub(super) fn reduce(
        &mut self,
        axis: usize,
        arrays: &[VarId],
        op: &Lambda,
        start: &[Atom],
    ) -> Option<Simpler> {
        let ([array], [start], Some(binop)) = (arrays, start, as_binop(op)) else { return None };
        let start = self.constant(*start)?;
        (neutral(binop, start.ty()) == Some(start)).then_some(Simpler::Op(Op::Fold {
            op: binop,
            ty: start.ty(),
            axis,
            array: *array,
        }))
    }

    /// What a value is that is the same everywhere.
    pub(super) fn constant(&self, atom: Atom) -> Option<Prim> {
        match (atom, self.def(atom)) {
            (Atom::Const(prim), _) => Some(prim),
            (_, Some(Op::Broadcast { value, axes, .. })) if axes.is_empty() => value.as_const(),
            _ => None,
        }
    }

    pub(super) fn fold(
        &mut self,
        op: BinOp,
        elem: PrimType,
        axis: usize,
        array: VarId,
        ty: &Type,
    ) -> Option<Simpler> {
        match self.def(array.into())?.clone() {
            Op::BinOp(BinOp::Mul, _, Atom::Var(x), Atom::Var(y))
                if op == BinOp::Add && matches!(elem, PrimType::F32 | PrimType::F64) =>
            {
                self.dot(axis, array, x, y)
            }
            Op::Broadcast { axes, value: Atom::Var(value), .. } => {
                let inner = axes.iter().position(|own| *own == axis)?;
                let left = axes.iter().filter(|own| **own != axis);
                let axes: Vec<usize> = left.map(|own| own - usize::from(*own > axis)).collect();
                let dims: Vec<Atom> = axes.iter().map(|own| ty.dims()[*own]).collect();
                let folded = Op::Fold { op, ty: elem, axis: inner, array: value };
                let value = self.emit(op.name(), Type::array(elem, dims), folded);
                Some(Simpler::Op(Op::Broadcast { dims: ty.dims().to_vec(), axes, value }))
            }
            _ => None,
        }
    }

    /// A product reads dimensions in any order.
    pub(super) fn dot_of_transposed(
        &self,
        sizes: &[Atom],
        rank: usize,
        operands: [&AxesOf; 2],
    ) -> Option<Simpler> {
        let mut changed = false;
        let [left, right] = operands.map(|operand| match self.def(operand.array.into()) {
            Some(Op::Transpose { perm, array }) => {
                changed = true;
                let mut axes = operand.axes.clone();
                perm.iter().zip(&operand.axes).for_each(|(own, axis)| axes[*own] = *axis);
                AxesOf { array: *array, axes }
            }
            _ => operand.clone(),
        });
        changed.then(|| Simpler::Op(Op::Dot { sizes: sizes.to_vec(), rank, left, right }))
    }

    fn dot(&mut self, axis: usize, product: VarId, x: VarId, y: VarId) -> Option<Simpler> {
        let dims = self.b.dims_of(product);
        let rank = dims.len() - 1;
        // The axis of the sum comes last.
        let number = |own: usize| match own.cmp(&axis) {
            std::cmp::Ordering::Less => own,
            std::cmp::Ordering::Equal => rank,
            std::cmp::Ordering::Greater => own - 1,
        };
        let operand = |var: VarId| match self.def(var.into()) {
            Some(Op::Broadcast { axes, value: Atom::Var(array), .. }) => {
                AxesOf { array: *array, axes: axes.iter().map(|own| number(*own)).collect() }
            }
            _ => AxesOf { array: var, axes: (0..=rank).map(number).collect() },
        };
        let (left, right) = (operand(x), operand(y));
        if ![&left, &right].into_iter().all(|o| o.axes.contains(&rank)) {
            return None;
        }
        let mut sizes: Vec<Atom> = dims;
        let summed = sizes.remove(axis);
        sizes.push(summed);
        Some(Simpler::Op(Op::Dot { sizes, rank, left, right }))
    }
}
