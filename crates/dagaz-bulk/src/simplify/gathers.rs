//! Gathers whose indices are affine in the indices of the result.
//!
//! ```text
//! gather x [lane, i]   with lane = broadcast [n, k] (0) (iota i64 n)     ==>   slice x [0 :+ n * 1, 3 :+ k * 2]
//!                           i = 3 + 2 * broadcast [n, k] (1) (iota i64 k)
//! gather x [i]         with i: [n, k]i64 the same along the first axis   ==>   broadcast [n, k] (1) (slice x …)
//! ```
//!
//! What a slice and what a gather read outside of an array is zero alike, so nothing has to be known of the indices.

use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::term::{Combine, Op, Span};

use super::{Simpler, Simplifier};

/// `start + stride * i` for the index `i` along an axis; without an axis, `start`.
#[derive(Clone, Copy)]
struct Affine {
    start: Atom,
    axis: Option<(usize, Atom)>,
}

impl Simplifier {
    fn i64(&mut self, op: BinOp, x: Atom, y: Atom) -> Atom {
        self.emit("at", Type::I64, Op::BinOp(op, PrimType::I64, x, y))
    }

    /// An index as a function of its place in the array of indices.
    fn affine(&mut self, index: Atom) -> Option<Affine> {
        let constant = |start| Some(Affine { start, axis: None });
        if self.b.type_of(index).rank() == 0 {
            return constant(index);
        }
        match self.def(index)?.clone() {
            Op::Iota { ty: PrimType::I64, .. } => {
                Some(Affine { start: Atom::i64(0), axis: Some((0, Atom::i64(1))) })
            }
            Op::Broadcast { axes, value, .. } => {
                let Affine { start, axis } = self.affine(value)?;
                Some(Affine { start, axis: axis.map(|(axis, stride)| (axes[axis], stride)) })
            }
            Op::BinOp(op @ (BinOp::Add | BinOp::Sub), PrimType::I64, x, y) => {
                let (x, y) = (self.affine(x)?, self.affine(y)?);
                let axis = match (x.axis, y.axis) {
                    (axis, None) => axis,
                    (None, Some((axis, stride))) if op == BinOp::Sub => {
                        Some((axis, self.i64(BinOp::Sub, Atom::i64(0), stride)))
                    }
                    (None, axis) => axis,
                    (Some((i, a)), Some((j, b))) if i == j => Some((i, self.i64(op, a, b))),
                    (Some(_), Some(_)) => return None,
                };
                Some(Affine { start: self.i64(op, x.start, y.start), axis })
            }
            Op::BinOp(BinOp::Mul, PrimType::I64, x, y) => {
                let (x, y) = (self.affine(x)?, self.affine(y)?);
                let (varying, factor) = if y.axis.is_none() { (x, y.start) } else { (y, x.start) };
                if x.axis.is_some() && y.axis.is_some() {
                    return None;
                }
                let start = self.i64(BinOp::Mul, varying.start, factor);
                let axis = varying.axis.map(|(axis, stride)| (axis, self.i64(BinOp::Mul, stride, factor)));
                Some(Affine { start, axis })
            }
            _ => None,
        }
    }

    pub(super) fn gather(&mut self, array: VarId, indices: &[Atom], ty: &Type) -> Option<Simpler> {
        let outer = ty.rank() + indices.len() - self.b.dims_of(array).len();
        if outer == 0 {
            return None;
        }
        // Nothing is emitted for indices of which it is clear that they are not affine.
        if !indices.iter().all(|index| self.may_be_affine(*index)) {
            return None;
        }
        let mut affine = Vec::new();
        for index in indices {
            affine.push(self.affine(*index)?);
        }
        let axes: Vec<usize> = affine.iter().filter_map(|a| a.axis).map(|(axis, _)| axis).collect();
        let differ = axes.iter().enumerate().all(|(i, axis)| !axes[..i].contains(axis));
        if !differ {
            return None;
        }
        Some(Simpler::Op(self.sliced(array, &affine, ty, outer)))
    }

    fn may_be_affine(&self, index: Atom) -> bool {
        if self.b.type_of(index).rank() == 0 {
            return true;
        }
        match self.def(index) {
            Some(Op::Iota { ty: PrimType::I64, .. }) => true,
            Some(Op::Broadcast { value, .. }) => self.may_be_affine(*value),
            Some(Op::BinOp(BinOp::Add | BinOp::Sub | BinOp::Mul, PrimType::I64, x, y)) => {
                self.may_be_affine(*x) && self.may_be_affine(*y)
            }
            _ => false,
        }
    }

    /// The slice that indices read, with its dimensions in the order of the result, and those that it lacks.
    fn sliced(&mut self, array: VarId, affine: &[Affine], ty: &Type, outer: usize) -> Op {
        let own = self.b.dims_of(array);
        let elem = ty.elem().unwrap_or(PrimType::I64);
        let rest = &own[affine.len()..];
        let axes: Vec<usize> = affine.iter().filter_map(|a| a.axis).map(|(axis, _)| axis).collect();
        let value = if axes.is_empty() {
            let indices = affine.iter().map(|a| a.start).collect();
            self.emit("row", Type::array(elem, rest.to_vec()), Op::Gather { array, indices })
        } else {
            let spans: Vec<Span> = affine
                .iter()
                .map(|a| match a.axis {
                    Some((axis, stride)) => Span { start: a.start, len: ty.dims()[axis], stride },
                    None => Span::at(a.start),
                })
                .chain(rest.iter().map(|size| Span::all(*size)))
                .collect();
            let lens = spans.iter().map(|span| span.len).collect();
            let part = self.emit("part", Type::array(elem, lens), Op::Slice { array, dims: spans });
            let kept: Vec<Atom> =
                axes.iter().map(|axis| ty.dims()[*axis]).chain(rest.iter().copied()).collect();
            self.turned(part, &axes, kept, elem)
        };
        let mut sorted = axes;
        sorted.sort_unstable();
        let axes = sorted.into_iter().chain(outer..ty.rank()).collect();
        Op::Broadcast { dims: ty.dims().to_vec(), axes, value }
    }

    /// A part of shape `kept` up to dimensions of size one, with its first dimensions in the order of `axes`.
    fn turned(&mut self, part: Atom, axes: &[usize], kept: Vec<Atom>, elem: PrimType) -> Atom {
        let Atom::Var(part) = part else { return part };
        let part = self.emit(
            "part",
            Type::array(elem, kept.clone()),
            Op::Reshape { dims: kept.clone(), array: part },
        );
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.sort_by_key(|i| axes[*i]);
        let perm: Vec<usize> = order.into_iter().chain(axes.len()..kept.len()).collect();
        let Atom::Var(array) = part else { return part };
        let ty = Type::array(elem, perm.iter().map(|p| kept[*p]).collect());
        self.emit("turned", ty, Op::Transpose { perm, array })
    }

    /// An operator on rows that is one scalar operation, and values that are the same everywhere.
    pub(super) fn scatter(
        &self,
        dests: &[VarId],
        indices: &[Atom],
        values: &[Atom],
        combine: &Combine,
    ) -> Option<Simpler> {
        let by = match combine {
            Combine::Op(op, _) => crate::build::as_binop(op).map(Combine::By),
            Combine::Replace | Combine::By(_) => None,
        };
        let same = values.iter().map(|value| self.constant(*value).map_or(*value, Atom::Const));
        let same: Vec<Atom> = same.collect();
        if by.is_none() && same == values {
            return None;
        }
        let (dests, indices, combine) = (dests.to_vec(), indices.to_vec(), by.unwrap_or(combine.clone()));
        Some(Simpler::Op(Op::Scatter { dests, indices, values: same, combine }))
    }
}
