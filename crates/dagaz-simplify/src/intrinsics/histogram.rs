//! `scatter` and `hist`, of one to three dimensions.

use dagaz_core::exp::Exp;
use dagaz_core::types::{Atom, Type, VarId as CoreVar};

use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::value::SVal;
use crate::walk::{flatten, rebuild};

/// Destinations and inputs of a scatter or histogram.
struct Writes {
    width: Atom,
    arrays: Vec<CoreVar>,
    dests: Vec<CoreVar>,
    shape: Vec<Atom>,
    types: Vec<Type>,
    /// What is below the indexed dimensions of the destination.
    elem: SVal,
}

impl Simplifier<'_> {
    fn writes(&mut self, rank: usize, dest: &SVal, indices: &SVal, values: &SVal) -> Res<Writes> {
        let (elem, shape) = self.below(dest, rank)?;
        let SVal::Array(index_array) = indices else { return self.bug("indices that are not an array") };
        let width = index_array.dim;
        let flat = flatten(&elem);
        let values = self.redim(values, &[&[width], flat.dims.as_slice()].concat());
        let mut arrays = self.array_vars(&flatten(indices).leaves)?;
        arrays.extend(self.array_vars(&flatten(&values).leaves)?);
        let dests = self.array_vars(&flat.leaves)?;
        let whole = |ty: &Type| shape.iter().rev().fold(ty.clone(), |ty, dim| outer_type(*dim, &ty));
        let types = flat.leaves.iter().map(|leaf| whole(&leaf.ty)).collect();
        Ok(Writes { width, arrays, dests, shape, types, elem })
    }

    fn written(&self, shape: &[Atom], elem: &SVal, leaves: &[Atom]) -> SVal {
        let elem = rebuild(elem, &flatten(elem).dims, leaves);
        shape.iter().rev().fold(elem, |elem, dim| SVal::array(*dim, elem))
    }

    pub(super) fn scatter(&mut self, rank: usize, dest: &SVal, indices: &SVal, values: &SVal) -> Res<SVal> {
        let Writes { width, arrays, dests, shape, types, elem } = self.writes(rank, dest, indices, values)?;
        let exp = Exp::Scatter { width, arrays, pre: None, dests, shape: shape.clone() };
        let leaves = self.emit_all("scattered", &types, exp);
        Ok(self.written(&shape, &elem, &leaves))
    }

    pub(super) fn hist(
        &mut self,
        rank: usize,
        dest: &SVal,
        op: &SVal,
        neutral: &SVal,
        indices: &SVal,
        values: &SVal,
    ) -> Res<SVal> {
        let Writes { width, arrays, dests, shape, types, elem } = self.writes(rank, dest, indices, values)?;
        let neutral = flatten(&self.conform(neutral, &elem)).atoms();
        let op = self.operator(op, &elem)?;
        let exp = Exp::Hist { width, arrays, pre: None, dests, shape: shape.clone(), op, neutral };
        let leaves = self.emit_all("histogram", &types, exp);
        Ok(self.written(&shape, &elem, &leaves))
    }
}
