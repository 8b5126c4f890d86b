//! Operations that move whole arrays, component by component.

use dagaz_core::exp::Exp;
use dagaz_core::types::{Atom, Type, VarId as CoreVar};

use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::value::{ArrayVal, SVal, as_var};
use crate::walk::{Leaf, flatten, rebuild};

impl Simplifier<'_> {
    /// The variable of a leaf below an array.
    pub(super) fn array_var(&self, leaf: &Leaf) -> Res<CoreVar> {
        match as_var(leaf.atom) {
            Some(var) => Ok(var),
            None => self.bug("an array that is a constant"),
        }
    }

    pub(crate) fn array_vars(&self, leaves: &[Leaf]) -> Res<Vec<CoreVar>> {
        leaves.iter().map(|leaf| self.array_var(leaf)).collect()
    }

    pub fn replicate(&mut self, n: Atom, value: &SVal) -> SVal {
        let flat = flatten(value);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            let exp = Exp::Replicate { dims: vec![n], value: leaf.atom };
            leaves.push(self.emit("copies", outer_type(n, &leaf.ty), exp));
        }
        SVal::array(n, rebuild(value, &flat.dims, &leaves))
    }

    pub fn concat(&mut self, a: &ArrayVal, b: &ArrayVal) -> Res<SVal> {
        let flat = flatten(&a.elem);
        // The second array gets the row sizes of the first.
        let whole = SVal::array(b.dim, b.elem.clone());
        let dims = [&[b.dim], flat.dims.as_slice()].concat();
        let SVal::Array(b) = self.redim(&whole, &dims) else { return self.bug("an array that is none") };
        let n = self.add(a.dim, b.dim);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for (x, y) in flat.leaves.iter().zip(flatten(&b.elem).leaves) {
            let exp = Exp::Concat { arrays: vec![self.array_var(x)?, self.array_var(&y)?] };
            leaves.push(self.emit("concat", outer_type(n, &x.ty), exp));
        }
        Ok(SVal::array(n, rebuild(&a.elem, &flat.dims, &leaves)))
    }

    /// The two outer dimensions of an array, and what is below them.
    fn two_dimensions(&self, array: &SVal) -> Res<(Atom, Atom, SVal)> {
        let (elem, sizes) = self.below(array, 2)?;
        Ok((sizes[0], sizes[1], elem))
    }

    pub fn flatten_array(&mut self, array: &SVal) -> Res<SVal> {
        let (n, m, elem) = self.two_dimensions(array)?;
        let size = self.mul(n, m);
        self.reshape_outer(&elem, &[size])
    }

    pub(super) fn unflatten(&mut self, n: Atom, m: Atom, array: &ArrayVal) -> Res<SVal> {
        let size = self.mul(n, m);
        let whole = SVal::array(array.dim, array.elem.clone());
        let dims = [&[size], flatten(&array.elem).dims.as_slice()].concat();
        let SVal::Array(array) = self.redim(&whole, &dims) else { return self.bug("an array that is none") };
        self.reshape_outer(&array.elem, &[n, m])
    }

    /// Other outer sizes for the leaves of `elem`, which has the same number of elements as before.
    pub(super) fn reshape_outer(&mut self, elem: &SVal, outer: &[Atom]) -> Res<SVal> {
        let flat = flatten(elem);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            let ty = outer.iter().rev().fold(leaf.ty.clone(), |ty, dim| outer_type(*dim, &ty));
            let Type::Array { dims, .. } = &ty else { return self.bug("an array that is none") };
            let exp = Exp::Reshape { dims: dims.clone(), array: self.array_var(leaf)? };
            leaves.push(self.emit("reshaped", ty, exp));
        }
        let elem = rebuild(elem, &flat.dims, &leaves);
        Ok(outer.iter().rev().fold(elem, |elem, dim| SVal::array(*dim, elem)))
    }

    pub(super) fn transpose(&mut self, array: &SVal) -> Res<SVal> {
        let (n, m, elem) = self.two_dimensions(array)?;
        let flat = flatten(&elem);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            let ty = outer_type(m, &outer_type(n, &leaf.ty));
            let Type::Array { dims, .. } = &ty else { return self.bug("an array that is none") };
            let mut perm: Vec<usize> = (0..dims.len()).collect();
            perm.swap(0, 1);
            let exp = Exp::Rearrange { perm, array: self.array_var(leaf)? };
            leaves.push(self.emit("transposed", ty, exp));
        }
        let elem = rebuild(&elem, &flat.dims, &leaves);
        Ok(SVal::array(m, SVal::array(n, elem)))
    }

    /// Costs nothing: an array of pairs is a pair of arrays.
    pub(super) fn zip(&mut self, a: &ArrayVal, b: &ArrayVal) -> SVal {
        let dims = [&[a.dim], flatten(&b.elem).dims.as_slice()].concat();
        let b = match self.redim(&SVal::array(b.dim, b.elem.clone()), &dims) {
            SVal::Array(b) => b.elem.clone(),
            other => other,
        };
        SVal::array(a.dim, SVal::tuple([a.elem.clone(), b]))
    }

    pub(super) fn unzip(&mut self, array: &ArrayVal) -> Res<SVal> {
        match &array.elem {
            SVal::Record(fields) => {
                Ok(SVal::tuple(fields.iter().map(|(_, v)| SVal::array(array.dim, v.clone()))))
            }
            _ => self.bug("unzip of something that is not an array of pairs"),
        }
    }

    pub(super) fn manifest(&mut self, value: &SVal) -> SVal {
        let flat = flatten(value);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            leaves.push(match (&leaf.ty, as_var(leaf.atom)) {
                (Type::Array { .. }, Some(array)) => self.emit("copy", leaf.ty.clone(), Exp::Copy(array)),
                _ => leaf.atom,
            });
        }
        rebuild(value, &flat.dims, &leaves)
    }
}
