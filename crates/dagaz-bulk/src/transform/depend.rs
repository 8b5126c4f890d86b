//! Which variables of a body differ between the iterations of a map around it.
//!
//! What a statement reads decides, and for the variables of a loop also what its iterations give; so the answer grows until it no
//! longer changes. Arrays of accumulators are the same for all iterations. All that a `while` changes differs, because
//! iterations leave it one by one.

use std::collections::{HashMap, HashSet};

use dagaz_core::types::{Atom, VarId};

use crate::term::{Body, LoopForm, Op, Stm};
use crate::visit::{free_vars, operands};

pub(super) fn differing(
    body: &Body,
    rows: impl Iterator<Item = VarId>,
    shared: &HashMap<VarId, (usize, usize)>,
) -> HashSet<VarId> {
    let mut found = Found { vars: rows.collect(), shared };
    loop {
        let before = found.vars.len();
        found.body(body);
        if found.vars.len() == before {
            return found.vars;
        }
    }
}

struct Found<'s> {
    vars: HashSet<VarId>,
    shared: &'s HashMap<VarId, (usize, usize)>,
}

impl Found<'_> {
    fn differs(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|var| self.vars.contains(&var))
    }

    fn add(&mut self, var: VarId) {
        if !self.shared.contains_key(&var) {
            self.vars.insert(var);
        }
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.op {
            Op::If { cond, then, otherwise } => {
                self.body(then);
                self.body(otherwise);
                for (i, param) in stm.pat.iter().enumerate() {
                    let results = [then, otherwise].map(|body| body.result.get(i).copied());
                    if self.differs(*cond) || results.into_iter().flatten().any(|atom| self.differs(atom)) {
                        self.add(param.var);
                    }
                }
            }
            Op::Loop { .. } => self.loop_op(stm),
            Op::Reduce { op, .. } | Op::Scan { op, .. } => {
                self.body(&op.body);
                if free_vars(&stm.op).into_iter().any(|var| self.vars.contains(&var)) {
                    op.params.iter().chain(&stm.pat).for_each(|p| self.add(p.var));
                }
            }
            op => {
                if operands(op).into_iter().any(|atom| self.differs(atom)) {
                    stm.pat.iter().for_each(|p| self.add(p.var));
                }
            }
        }
    }

    fn loop_op(&mut self, stm: &Stm) {
        let Op::Loop { params, form, body, .. } = &stm.op else { return };
        let leaves_early = match form {
            LoopForm::For { bound, .. } => self.differs(*bound),
            LoopForm::While { cond } => {
                self.body(cond);
                true
            }
        };
        self.body(body);
        for (i, (param, init)) in params.iter().enumerate() {
            let result = body.result.get(i).copied();
            let changes = result != Some(Atom::Var(param.var));
            let differs = self.differs(*init)
                || changes && (leaves_early || result.is_some_and(|atom| self.differs(atom)));
            if differs {
                self.add(param.var);
                stm.pat.get(i).into_iter().for_each(|p| self.add(p.var));
            }
        }
    }
}
