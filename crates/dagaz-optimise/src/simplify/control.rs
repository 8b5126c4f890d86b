//! Branches, loops and maps whose results or parameters are known without running them.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::prim::{Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, VarId};

use crate::walk::keep;

use super::{Rewrite, Simplifier};

impl Simplifier {
    pub(super) fn branch(&mut self, cond: Atom, then: &Body, otherwise: &Body) -> Option<Rewrite> {
        if let Atom::Const(Prim::Bool(cond)) = cond {
            return Some(Rewrite::Splice(if cond { then.clone() } else { otherwise.clone() }));
        }
        if !then.stms.is_empty() || !otherwise.stms.is_empty() {
            return None;
        }
        if then.result == otherwise.result {
            return Some(Rewrite::Alias(then.result.clone()));
        }
        let (yes, no) = (Atom::bool(true), Atom::bool(false));
        match (&then.result[..], &otherwise.result[..]) {
            ([a], [b]) if (*a, *b) == (yes, no) => Some(Rewrite::Alias(vec![cond])),
            ([a], [b]) if (*a, *b) == (no, yes) => {
                Some(Rewrite::Become(Box::new(Exp::UnOp(UnOp::Not, PrimType::Bool, cond))))
            }
            _ => None,
        }
    }

    /// Results that are the same atom whichever branch is taken.
    pub(super) fn same_in_both(&mut self, stm: &mut Stm) {
        let Exp::If { then, otherwise, .. } = &mut stm.exp else { return };
        let differs: Vec<bool> = then.result.iter().zip(&otherwise.result).map(|(a, b)| a != b).collect();
        if differs.iter().all(|d| *d) {
            return;
        }
        for (param, (atom, differs)) in stm.pat.iter().zip(then.result.iter().zip(&differs)) {
            if !differs {
                self.subst.insert(param.var, *atom);
            }
        }
        keep(&mut then.result, &differs);
        keep(&mut otherwise.result, &differs);
        keep(&mut stm.pat, &differs);
        self.subst.params(&mut stm.pat);
    }

    /// Parameters of a loop that every iteration passes on as they are.
    pub(super) fn invariant_params(&mut self, stm: &mut Stm) {
        let Exp::Loop { params, body, .. } = &mut stm.exp else { return };
        let own: Vec<VarId> = params.iter().map(|(p, _)| p.var).collect();
        let mut changes = Vec::with_capacity(params.len());
        for ((param, init), result) in params.iter().zip(&body.result) {
            // The type of the parameter may name other parameters, where that of the initial value has their values.
            let is_plain = !param.ty.is_acc()
                && param.ty.dims().iter().all(|d| !own.iter().any(|var| *d == Atom::Var(*var)));
            let is_invariant = *result == Atom::Var(param.var) && is_plain && self.same_type(param, *init);
            changes.push(!is_invariant);
        }
        if changes.iter().all(|c| *c) {
            return;
        }
        for (((param, init), bound), changes) in params.iter().zip(&stm.pat).zip(&changes) {
            if !changes {
                self.subst.insert(param.var, *init);
                self.subst.insert(bound.var, *init);
            }
        }
        keep(params, &changes);
        keep(&mut body.result, &changes);
        keep(&mut stm.pat, &changes);
    }

    fn same_type(&self, param: &Param, atom: Atom) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(var) => self.types.get(&var).is_some_and(|ty| {
                let own = param.ty.map_dims(&mut |d| self.subst.of(d));
                *ty == own
            }),
        }
    }

    /// Rows that are the same in every iteration, or the same as those of another array.
    pub(super) fn known_rows(&mut self, arrays: &mut Vec<VarId>, lambda: &mut Lambda) {
        let mut needed = Vec::with_capacity(arrays.len());
        for (i, (array, param)) in arrays.iter().zip(&lambda.params).enumerate() {
            let row = match self.defs.get(array) {
                _ if param.ty.is_acc() => None,
                Some(Exp::Replicate { dims, value }) if dims.len() == 1 => Some(*value),
                _ => arrays[..i].iter().position(|a| a == array).map(|j| lambda.params[j].var.into()),
            };
            needed.push(row.is_none());
            if let Some(row) = row {
                self.subst.insert(param.var, row);
            }
        }
        keep(arrays, &needed);
        keep(&mut lambda.params, &needed);
    }

    /// Results of a map that are rows as they came, or the same in every iteration.
    pub(super) fn plain_results(&mut self, stm: &mut Stm) {
        let Exp::Map { width, arrays, lambda } = &mut stm.exp else { return };
        let mut computed = Vec::with_capacity(stm.pat.len());
        let mut replicated = Vec::new();
        let stms = lambda.body.stms.iter().flat_map(|stm| &stm.pat);
        let bound: HashSet<VarId> = lambda.params.iter().chain(stms).map(|p| p.var).collect();
        let is_bound = |atom: Atom| atom.as_var().is_some_and(|var| bound.contains(&var));
        for (param, result) in stm.pat.iter().zip(&lambda.body.result) {
            let own = lambda.params.iter().position(|p| *result == Atom::Var(p.var));
            let same_array = own.map(|i| arrays[i]).filter(|a| self.types.get(a) == Some(&param.ty));
            let is_known = match (param.ty.is_acc(), same_array, result) {
                (true, ..) => false,
                (false, Some(array), _) => {
                    self.subst.insert(param.var, array.into());
                    true
                }
                (false, None, _) if !is_bound(*result) => {
                    replicated.push((param.clone(), *result));
                    true
                }
                (false, None, _) => false,
            };
            computed.push(!is_known);
        }
        if computed.iter().all(|c| *c) {
            return;
        }
        let width = *width;
        keep(&mut lambda.ret, &computed);
        keep(&mut lambda.body.result, &computed);
        keep(&mut stm.pat, &computed);
        for (param, value) in replicated {
            let exp = Exp::Replicate { dims: vec![width], value };
            self.stm(Stm { pat: vec![param], exp, loc: stm.loc });
        }
    }
}
