//! Which operations on the way to an array can be run for some places of a dimension only.
//!
//! Statements are visited from the last to the first, so that all uses of a variable are known before its definition. A
//! variable that is wanted at the places only is narrow, if its operation can do that; one that is also used otherwise is
//! not, and is read at the places where that is wanted.

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::Effects;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, LoopForm, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::{bodies, bound, free_vars};

use super::knows;

#[derive(Clone)]
pub(super) struct Demand<'f> {
    facts: &'f Facts,
    effects: &'f Effects,
    /// The dimension of which only the places are wanted.
    at: HashMap<VarId, usize>,
    /// What is wanted as it is.
    plain: HashSet<VarId>,
    /// How many maps have fewer iterations.
    saved: usize,
}

impl<'f> Demand<'f> {
    /// For arrays of a body, given the dimension of each that the consumers read at the places only. None if no map would
    /// have fewer iterations.
    pub fn of(
        (facts, effects): (&'f Facts, &'f Effects),
        body: &Body,
        consumers: &[usize],
        roots: &HashMap<VarId, usize>,
    ) -> Option<Demand<'f>> {
        let mut demand = Demand { facts, effects, at: roots.clone(), plain: HashSet::new(), saved: 0 };
        demand.plain.extend(body.result.iter().filter_map(|a| a.as_var()));
        for (i, stm) in body.stms.iter().enumerate().rev() {
            if consumers.contains(&i) {
                demand.plain.extend(stm.pat.iter().map(|p| p.var));
                demand.plain.extend(free_vars(&stm.exp).into_iter().filter(|var| !roots.contains_key(var)));
            } else {
                demand.stm(stm);
            }
        }
        let own = bound(&body.stms);
        demand.at.retain(|var, _| own.contains(var));
        (demand.saved > 0).then_some(demand)
    }

    pub fn are_narrow<'v>(&self, roots: impl IntoIterator<Item = &'v VarId>) -> bool {
        roots.into_iter().all(|root| self.axis(*root).is_some())
    }

    /// The dimension of a variable that has the places only.
    pub fn axis(&self, var: VarId) -> Option<usize> {
        self.at.get(&var).copied().filter(|_| !self.plain.contains(&var))
    }

    pub fn is_narrow_stm(&self, stm: &Stm) -> bool {
        !stm.pat.is_empty() && stm.pat.iter().all(|p| self.axis(p.var).is_some())
    }

    fn want(&mut self, var: VarId, axis: usize) {
        if *self.at.entry(var).or_insert(axis) != axis {
            self.plain.insert(var);
        }
    }

    fn want_atom(&mut self, atom: Atom, axis: usize) {
        atom.as_var().into_iter().for_each(|var| self.want(var, axis));
    }

    fn stms(&mut self, body: &Body) {
        body.stms.iter().rev().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        let before = self.is_narrow_stm(stm).then(|| self.clone());
        let axes: Option<Vec<usize>> = stm.pat.iter().map(|p| self.axis(p.var)).collect();
        if let Some(before) = before
            && let Some(axes) = axes
        {
            if self.operands(stm, &axes).is_some() {
                return;
            }
            *self = before;
        }
        self.plain.extend(stm.pat.iter().map(|p| p.var));
        self.plain.extend(free_vars(&stm.exp));
    }

    /// What a statement wants of its operands, if its results are to have the places only.
    fn operands(&mut self, stm: &Stm, axes: &[usize]) -> Option<()> {
        if !bodies(&stm.exp).into_iter().all(|body| knows(self.facts, &body.stms)) {
            return None;
        }
        match (&stm.exp, axes) {
            (Exp::Map { arrays, lambda, .. }, _) if axes.iter().all(|axis| *axis == 0) => {
                self.shorter_map(stm, arrays, lambda)
            }
            (Exp::Map { arrays, lambda, .. }, _) if axes.iter().all(|axis| *axis > 0) => {
                self.map_of_narrow_rows(arrays, lambda, axes)
            }
            (Exp::If { then, otherwise, cond }, _) => {
                self.plain.extend(cond.as_var());
                for body in [then, otherwise] {
                    body.result.iter().zip(axes).for_each(|(atom, axis)| self.want_atom(*atom, *axis));
                    self.stms(body);
                }
                Some(())
            }
            (Exp::Loop { params, form: LoopForm::For { .. }, body, .. }, _) => self.loop_(params, body, axes),
            (exp, [axis]) => self.operands_of_one(stm, exp, *axis),
            _ => None,
        }
    }

    fn operands_of_one(&mut self, stm: &Stm, exp: &Exp, axis: usize) -> Option<()> {
        match exp {
            Exp::Atom(Atom::Var(var)) => self.want(*var, axis),
            Exp::Copy(array) => self.want(*array, axis),
            Exp::Rearrange { perm, array } => self.want(*array, *perm.get(axis)?),
            Exp::Reshape { dims, array } => {
                let from = same_axis(self.facts.dims(*array), dims, axis)?;
                self.want(*array, from);
            }
            Exp::Index { array, indices, check: Check::Certified } => {
                self.plain.extend(indices.iter().filter_map(|a| a.as_var()));
                self.want(*array, axis + indices.len());
            }
            Exp::Slice { array, dims } => {
                let from = whole_axis(self.facts.dims(*array), dims, axis)?;
                self.plain.extend(free_vars(exp).into_iter().filter(|var| var != array));
                self.want(*array, from);
            }
            Exp::Update { array, dims, value, check: Check::Certified } => {
                let is_fixed = |dim: &DimSlice| matches!(dim, DimSlice::Fix(_));
                if !dims.iter().all(is_fixed) || dims.len() > axis {
                    return None;
                }
                let others = free_vars(exp).into_iter().filter(|v| v != array && value.as_var() != Some(*v));
                self.plain.extend(others);
                self.want(*array, axis);
                self.want_atom(*value, axis - dims.len());
            }
            Exp::Replicate { dims, value } => match axis.checked_sub(dims.len()) {
                Some(inner) => self.want_atom(*value, inner),
                None => self.plain.extend(value.as_var()),
            },
            Exp::ArrayLit { elems, .. } => {
                let inner = axis.checked_sub(1)?;
                elems.iter().for_each(|elem| self.want_atom(*elem, inner));
            }
            Exp::Concat { arrays } if axis > 0 => arrays.iter().for_each(|array| self.want(*array, axis)),
            _ => return None,
        }
        debug_assert_eq!(stm.pat.len(), 1);
        Some(())
    }

    /// A map over the dimension itself. The elements that nobody wants must not stop the program.
    fn shorter_map(&mut self, stm: &Stm, arrays: &[VarId], lambda: &Lambda) -> Option<()> {
        if !self.effects.is_removable(stm) || lambda.params.iter().any(|p| p.ty.is_acc()) {
            return None;
        }
        self.saved += usize::from(!lambda.body.stms.is_empty());
        let rows: Vec<VarId> = lambda.params.iter().map(|p| p.var).collect();
        self.plain
            .extend(free_vars(&stm.exp).into_iter().filter(|v| !arrays.contains(v) && !rows.contains(v)));
        let mut inside = HashSet::new();
        lambda.body.stms.iter().for_each(|stm| inside.extend(free_vars(&stm.exp)));
        for array in arrays {
            if inside.contains(array) {
                self.plain.insert(*array);
            }
            self.want(*array, 0);
        }
        Some(())
    }

    fn map_of_narrow_rows(&mut self, arrays: &[VarId], lambda: &Lambda, axes: &[usize]) -> Option<()> {
        for (atom, axis) in lambda.body.result.iter().zip(axes) {
            self.want_atom(*atom, axis - 1);
        }
        self.stms(&lambda.body);
        for (param, array) in lambda.params.iter().zip(arrays) {
            match self.axis(param.var) {
                Some(axis) => self.want(*array, axis + 1),
                None => {
                    self.plain.insert(*array);
                }
            }
        }
        Some(())
    }

    /// A loop whose parameters have the places only.
    fn loop_(&mut self, params: &[(Param, Atom)], body: &Body, axes: &[usize]) -> Option<()> {
        for (((param, _), result), axis) in params.iter().zip(&body.result).zip(axes) {
            self.want(param.var, *axis);
            self.want_atom(*result, *axis);
        }
        self.stms(body);
        for ((param, init), axis) in params.iter().zip(axes) {
            if self.axis(param.var) != Some(*axis) {
                return None;
            }
            self.want_atom(*init, *axis);
        }
        Some(())
    }
}

/// The dimension of an array that becomes the given one of the new dimensions: all before or all after are the same.
pub(super) fn same_axis(old: &[Atom], new: &[Atom], axis: usize) -> Option<usize> {
    if old.get(..=axis).is_some_and(|old| new.get(..=axis) == Some(old)) {
        return Some(axis);
    }
    let from = (axis + old.len()).checked_sub(new.len())?;
    (old.get(from..)? == new.get(axis..)?).then_some(from)
}

/// The dimension of an array of which a slice takes all in order.
pub(super) fn whole_axis(sizes: &[Atom], dims: &[DimSlice], axis: usize) -> Option<usize> {
    let ranges = dims.iter().enumerate().filter_map(|(i, dim)| match dim {
        DimSlice::Fix(_) => None,
        DimSlice::Range { start, len, stride } => Some((i, *start, *len, *stride)),
    });
    let (from, start, len, stride) = ranges.into_iter().nth(axis)?;
    (start == Atom::i64(0) && stride == Atom::i64(1) && sizes.get(from) == Some(&len)).then_some(from)
}
