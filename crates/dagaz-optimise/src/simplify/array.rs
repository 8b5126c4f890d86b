//! Reads of arrays whose making is known, and changes of shape.

use dagaz_core::exp::{Check, DimSlice, Exp, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use super::{Rewrite, Simplifier};

impl Simplifier {
    /// Indices and slices.
    pub(super) fn read(&mut self, stm: &Stm) -> Option<Rewrite> {
        match &stm.exp {
            Exp::Index { array, indices, .. } if indices.is_empty() => {
                Some(Rewrite::Alias(vec![(*array).into()]))
            }
            Exp::Index { array, indices, check: Check::Certified } => self.index(*array, indices, stm),
            Exp::Index { array, indices, check: Check::Checked } => self.checked(*array, indices),
            Exp::Slice { array, dims } => self.slice(*array, dims),
            _ => None,
        }
    }

    /// An index that is known to be within bounds of a known array needs no check.
    fn checked(&self, array: VarId, indices: &[Atom]) -> Option<Rewrite> {
        let ty = self.types.get(&array)?;
        let within = |(i, dim): (&Atom, &Atom)| match (i.as_const(), dim.as_const()) {
            (Some(i), Some(dim)) => i.as_i64() >= Some(0) && i.as_i64() < dim.as_i64(),
            _ => false,
        };
        let is_within = indices.iter().zip(ty.dims()).all(within);
        is_within.then(|| {
            Rewrite::Become(Box::new(Exp::Index {
                array,
                indices: indices.to_vec(),
                check: Check::Certified,
            }))
        })
    }

    fn index(&mut self, array: VarId, indices: &[Atom], stm: &Stm) -> Option<Rewrite> {
        let again = |array: VarId, indices: Vec<Atom>| {
            Some(Rewrite::Become(Box::new(Exp::Index { array, indices, check: Check::Certified })))
        };
        if let Some((source, dims)) = self.broadcast.get(&array)
            && indices.len() == 1 + dims.len()
        {
            return again(*source, indices[..1].to_vec());
        }
        match self.defs.get(&array)?.clone() {
            Exp::Index { array: outer, indices: first, check: Check::Certified } => {
                again(outer, first.iter().chain(indices).copied().collect())
            }
            Exp::Replicate { dims, value } if dims.len() <= indices.len() => match value {
                Atom::Var(row) if dims.len() < indices.len() => again(row, indices[dims.len()..].to_vec()),
                Atom::Var(_) | Atom::Const(_) => Some(Rewrite::Alias(vec![value])),
            },
            Exp::Replicate { dims, value: Atom::Const(value) } => {
                let dims = dims[indices.len()..].to_vec();
                Some(Rewrite::Become(Box::new(Exp::Replicate { dims, value: value.into() })))
            }
            Exp::Update { dims, value, .. } => match self.what_was_written(&dims, value, indices) {
                Some(written) => Some(written),
                None => again(self.before_updates(array, indices)?, indices.to_vec()),
            },
            Exp::Iota { ty: PrimType::I64, start, step, .. } => {
                let offset = self.int(BinOp::Mul, indices[0], step, stm);
                let value = self.int(BinOp::Add, start, offset, stm);
                Some(Rewrite::Alias(vec![value]))
            }
            Exp::ArrayLit { elems, .. } => {
                let i = usize::try_from(indices[0].as_const()?.as_i64()?).ok()?;
                let elem = *elems.get(i)?;
                match elem {
                    Atom::Var(row) if indices.len() > 1 => again(row, indices[1..].to_vec()),
                    Atom::Var(_) | Atom::Const(_) => Some(Rewrite::Alias(vec![elem])),
                }
            }
            Exp::Slice { array: outer, dims } => {
                let indices = self.through_slice(&dims, indices, stm)?;
                again(outer, indices)
            }
            Exp::Rearrange { perm, array: outer } if perm.len() == indices.len() => {
                let mut back = indices.to_vec();
                perm.iter().zip(indices).for_each(|(p, i)| back[*p] = *i);
                again(outer, back)
            }
            Exp::Reshape { dims, array: outer } if dims.len() == 1 && self.types.get(&outer)?.rank() == 1 => {
                again(outer, indices.to_vec())
            }
            Exp::Reshape { dims, array: outer } => self.without_unit_indices(&dims, outer, indices, stm),
            _ => None,
        }
    }

    /// A read of the part that an update has just written. A row is read from where it came from only if that is an array
    /// from outside of the loop or the function, which nothing here overwrites.
    fn what_was_written(&self, dims: &[DimSlice], value: Atom, indices: &[Atom]) -> Option<Rewrite> {
        let is_same = |(dim, i): (&DimSlice, &Atom)| matches!(dim, DimSlice::Fix(at) if at == i);
        if dims.len() > indices.len() || !dims.iter().zip(indices).all(is_same) {
            return None;
        }
        let Atom::Var(row) = value else { return Some(Rewrite::Alias(vec![value])) };
        let is_scalar = !self.types.get(&row)?.is_array();
        let is_from_outside = || match self.defs.get(&row) {
            Some(Exp::Index { array, .. }) => self.levels.get(array) < self.levels.get(&row),
            _ => false,
        };
        if !is_scalar && !is_from_outside() {
            return None;
        }
        let rest = indices[dims.len()..].to_vec();
        Some(match rest.is_empty() {
            true => Rewrite::Alias(vec![value]),
            false => {
                let read = Exp::Index { array: row, indices: rest, check: Check::Certified };
                Rewrite::Become(Box::new(read))
            }
        })
    }

    /// The array before it was updated elsewhere, if that is a number everywhere: another one would have to be copied to be
    /// read after the update.
    fn before_updates(&self, mut array: VarId, indices: &[Atom]) -> Option<VarId> {
        let differs = |(dim, index): (&DimSlice, &Atom)| match dim {
            DimSlice::Fix(i) => i.as_const().is_some() && index.as_const().is_some() && i != index,
            DimSlice::Range { .. } => false,
        };
        loop {
            match self.defs.get(&array)? {
                Exp::Update { array: older, dims, .. } if dims.iter().zip(indices).any(differs) => {
                    array = *older;
                }
                Exp::Replicate { value: Atom::Const(_), .. } => return Some(array),
                _ => return None,
            }
        }
    }

    /// The indices into the array that was sliced; none if a range before the last index is left whole.
    fn through_slice(&mut self, dims: &[DimSlice], indices: &[Atom], stm: &Stm) -> Option<Vec<Atom>> {
        let mut rest = indices.iter();
        let mut all = Vec::with_capacity(dims.len());
        for dim in dims {
            match dim {
                DimSlice::Fix(i) => all.push(*i),
                DimSlice::Range { start, stride, .. } => {
                    let offset = self.int(BinOp::Mul, *rest.next()?, *stride, stm);
                    all.push(self.int(BinOp::Add, *start, offset, stm));
                }
            }
        }
        Some(all)
    }

    fn int(&mut self, op: BinOp, x: Atom, y: Atom, stm: &Stm) -> Atom {
        self.emit("index", Type::I64, Exp::BinOp(op, PrimType::I64, x, y), stm.loc)
    }

    fn slice(&self, array: VarId, dims: &[DimSlice]) -> Option<Rewrite> {
        let ty = self.types.get(&array)?;
        let is_whole = |(dim, size): (&DimSlice, &Atom)| match dim {
            DimSlice::Fix(_) => false,
            DimSlice::Range { start, len, stride } => {
                *start == Atom::i64(0) && *stride == Atom::i64(1) && len == size
            }
        };
        if dims.iter().zip(ty.dims()).all(is_whole) {
            return Some(Rewrite::Alias(vec![array.into()]));
        }
        None
    }

    /// Changes of shape that change nothing, or that come after one another.
    pub(super) fn shape(&mut self, stm: &Stm) -> Option<Rewrite> {
        match &stm.exp {
            Exp::Rearrange { perm, array } => {
                if perm.iter().enumerate().all(|(i, p)| i == *p) {
                    return Some(Rewrite::Alias(vec![(*array).into()]));
                }
                if let Some(reshaped) = self.moved_units(perm, *array) {
                    return Some(reshaped);
                }
                match self.defs.get(array)? {
                    Exp::Rearrange { perm: first, array } => {
                        let perm = perm.iter().map(|p| first[*p]).collect();
                        Some(Rewrite::Become(Box::new(Exp::Rearrange { perm, array: *array })))
                    }
                    Exp::Replicate { dims, value } if dims.len() == perm.len() => {
                        let dims = perm.iter().map(|p| dims[*p]).collect();
                        Some(Rewrite::Become(Box::new(Exp::Replicate { dims, value: *value })))
                    }
                    _ => None,
                }
            }
            Exp::Reshape { dims, array } => {
                if self.types.get(array)?.dims() == dims {
                    return Some(Rewrite::Alias(vec![(*array).into()]));
                }
                match self.defs.get(array)? {
                    Exp::Reshape { array, .. } => {
                        Some(Rewrite::Become(Box::new(Exp::Reshape { dims: dims.clone(), array: *array })))
                    }
                    Exp::Replicate { value, dims: old } if old.len() == self.types.get(array)?.rank() => {
                        Some(Rewrite::Become(Box::new(Exp::Replicate { dims: dims.clone(), value: *value })))
                    }
                    _ => None,
                }
            }
            Exp::Replicate { dims, value } => {
                if dims.is_empty() {
                    return Some(Rewrite::Alias(vec![*value]));
                }
                match self.def(*value)? {
                    Exp::Replicate { dims: inner, value } => {
                        let dims = dims.iter().chain(inner).copied().collect();
                        Some(Rewrite::Become(Box::new(Exp::Replicate { dims, value: *value })))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
