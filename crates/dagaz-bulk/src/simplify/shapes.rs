//! Operations that change shapes.
//!
//! ```text
//! broadcast [k, n, m] (1, 2) (broadcast [n, m] (1) x)   ==>   broadcast [k, n, m] (2) x
//! transpose (1, 0) (broadcast [n, m] (0) x)             ==>   broadcast [m, n] (1) x
//! transpose (1, 0) (transpose (1, 0) x)                 ==>   x
//! ```

use dagaz_core::types::{Atom, Type, VarId};

use crate::term::{Op, Span};

use super::{Simpler, Simplifier};

impl Simplifier {
    pub(super) fn shape(&mut self, op: &Op) -> Option<Simpler> {
        match op {
            Op::Broadcast { dims, axes, value } => self.broadcast(dims, axes, *value),
            Op::Transpose { perm, array } => self.transpose(perm, *array),
            Op::Reshape { dims, array } => self.reshape(dims, *array),
            Op::Slice { array, dims } => {
                let own = self.b.dims_of(*array);
                let is_whole = dims.len() == own.len()
                    && dims.iter().zip(&own).all(|(span, size)| *span == Span::all(*size));
                is_whole.then_some(Simpler::Atom((*array).into()))
            }
            _ => None,
        }
    }

    fn broadcast(&self, dims: &[Atom], axes: &[usize], value: Atom) -> Option<Simpler> {
        if axes.len() == dims.len() {
            return Some(Simpler::Atom(value));
        }
        let Some(Op::Broadcast { axes: inner, value, .. }) = self.def(value) else { return None };
        let axes = inner.iter().filter_map(|axis| axes.get(*axis)).copied().collect();
        Some(Simpler::Op(Op::Broadcast { dims: dims.to_vec(), axes, value: *value }))
    }

    fn transpose(&mut self, perm: &[usize], array: VarId) -> Option<Simpler> {
        if perm.iter().copied().eq(0..perm.len()) {
            return Some(Simpler::Atom(array.into()));
        }
        match self.def(array.into())? {
            Op::Transpose { perm: inner, array } => {
                let perm = perm.iter().filter_map(|p| inner.get(*p)).copied().collect();
                Some(Simpler::Op(Op::Transpose { perm, array: *array }))
            }
            Op::Broadcast { dims, axes, value } => {
                // Where each dimension of the value goes, and in which order they then are.
                let dims: Vec<Atom> = perm.iter().map(|p| dims[*p]).collect();
                let places: Vec<usize> =
                    axes.iter().filter_map(|axis| perm.iter().position(|p| p == axis)).collect();
                let mut order: Vec<usize> = (0..places.len()).collect();
                order.sort_by_key(|i| places[*i]);
                let axes = order.iter().map(|i| places[*i]).collect();
                let value = *value;
                let value = match value {
                    Atom::Var(var) if order.len() > 1 => {
                        let own = self.b.type_of(value);
                        let turned = order.iter().map(|i| own.dims()[*i]).collect();
                        let ty = Type::array(own.elem()?, turned);
                        self.emit("turned", ty, Op::Transpose { perm: order, array: var })
                    }
                    _ => value,
                };
                Some(Simpler::Op(Op::Broadcast { dims, axes, value }))
            }
            _ => None,
        }
    }

    fn reshape(&self, dims: &[Atom], array: VarId) -> Option<Simpler> {
        if self.b.dims_of(array) == dims {
            return Some(Simpler::Atom(array.into()));
        }
        match self.def(array.into())? {
            Op::Reshape { array, .. } => {
                Some(Simpler::Op(Op::Reshape { dims: dims.to_vec(), array: *array }))
            }
            Op::Broadcast { axes, value, .. } if axes.is_empty() => {
                Some(Simpler::Op(Op::Broadcast { dims: dims.to_vec(), axes: Vec::new(), value: *value }))
            }
            _ => None,
        }
    }
}
