//! Walking over expressions with the right to change them: operands, sizes in types, and nested bodies.
//!
//! The reading counterparts are in `dagaz_core::visit`.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, LoopForm, Stm, Vars};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::lambdas_mut;
pub(crate) use dagaz_core::visit::{operands_mut, type_mut};

/// Calls `f` for every body inside an expression, with the parameters and result types of lambdas.
pub(crate) fn for_each_body(exp: &mut Exp, f: &mut impl FnMut(&[Param], &[Type], &mut Body)) {
    match exp {
        Exp::If { then, otherwise, .. } => {
            f(&[], &[], then);
            f(&[], &[], otherwise);
        }
        Exp::Loop { params, form, body, .. } => {
            f(&[], &[], body);
            if let LoopForm::While { cond } = form {
                f(&[], &[], cond);
            }
            let params: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
            f(&params, &[], &mut Body::default());
        }
        _ => lambdas_mut(exp).into_iter().for_each(|l| f(&l.params, &l.ret, &mut l.body)),
    }
}

/// The bodies directly inside an expression.
pub(crate) fn bodies(exp: &Exp) -> Vec<&Body> {
    match exp {
        Exp::If { then, otherwise, .. } => vec![then, otherwise],
        Exp::Loop { form: LoopForm::While { cond }, body, .. } => vec![cond, body],
        Exp::Loop { form: LoopForm::For { .. }, body, .. } => vec![body],
        _ => dagaz_core::visit::lambdas(exp).into_iter().map(|l| &l.body).collect(),
    }
}

/// What variables are to become, followed to the end.
#[derive(Default)]
pub(crate) struct Substitution {
    map: HashMap<VarId, Atom>,
}

impl Substitution {
    pub fn insert(&mut self, var: VarId, atom: Atom) {
        let atom = self.of(atom);
        self.map.insert(var, atom);
    }

    pub fn of(&self, mut atom: Atom) -> Atom {
        while let Atom::Var(var) = atom
            && let Some(to) = self.map.get(&var)
        {
            atom = *to;
        }
        atom
    }

    pub fn apply(&self, atom: &mut Atom) {
        *atom = self.of(*atom);
    }

    /// The statements, which have no bodies but branches, once more: what they bind gets new names.
    pub fn copies(&mut self, vars: &mut Vars, stms: &[Stm]) -> Vec<Stm> {
        let mut copies = stms.to_vec();
        for stm in &mut copies {
            operands_mut(&mut stm.exp, &mut |atom| self.apply(atom));
            if let Exp::If { then, otherwise, .. } = &mut stm.exp {
                for branch in [then, otherwise] {
                    branch.stms = self.copies(vars, &branch.stms);
                    branch.result.iter_mut().for_each(|atom| self.apply(atom));
                }
            }
            for param in &mut stm.pat {
                let hint = vars.hint(param.var).to_owned();
                let fresh = vars.fresh(&hint);
                self.insert(param.var, fresh.into());
                param.var = fresh;
            }
        }
        copies
    }

    pub fn params<'a>(&self, params: impl IntoIterator<Item = &'a mut Param>) {
        params.into_iter().for_each(|p| type_mut(&mut p.ty, &mut |a| self.apply(a)));
    }

    pub fn types<'a>(&self, types: impl IntoIterator<Item = &'a mut Type>) {
        types.into_iter().for_each(|t| type_mut(t, &mut |a| self.apply(a)));
    }
}

/// Keeps the items whose flag is set.
pub(crate) fn keep<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}
