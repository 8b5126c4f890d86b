//! Which numbers of a nest of maps another nest, in the loop that keeps states, has computed before.
//!
//! Equal expressions of equal operands are equal, also in branches of equal conditions. A row of a kept state is the state in
//! the iteration of that row.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::bodies_mut;

use crate::columns::rename;
use crate::common::{Key, key};
use crate::walk::Substitution;

use super::Reads;

/// The levels of a nest of maps, from the outside in: arrays and functions.
pub(super) type Levels<'a> = Vec<(&'a [VarId], &'a Lambda)>;

/// A branch: the first result of its statement, and whether it is the one that is taken if the condition holds.
pub(super) type Step = (VarId, bool);

pub(super) struct Matching<'a> {
    reads: &'a Reads,
    /// What the first nest calls the numbers of the second.
    names: Substitution,
    /// What the first nest has computed, from scope to scope.
    scopes: Vec<Scope<'a>>,
    /// The branches around the numbers that the first nest computes at its innermost level.
    paths: HashMap<VarId, Vec<Step>>,
}

#[derive(Default)]
struct Scope<'a> {
    computed: HashMap<Key, Vec<VarId>>,
    branches: Vec<(&'a Stm, Option<Vec<Step>>)>,
}

impl<'a> Matching<'a> {
    /// Compares a nest with one in a loop before it, whose iterations have this number.
    pub fn of(reads: &'a Reads, number: VarId, first: &Levels<'a>, second: &Levels<'a>) -> Matching<'a> {
        let mut names = Substitution::default();
        for (row, state) in &reads.rows {
            names.insert(*row, (*state).into());
        }
        if let Atom::Var(row) = reads.row {
            names.insert(row, number.into());
        }
        let mut matching = Matching { reads, names, scopes: vec![Scope::default()], paths: HashMap::new() };
        let deepest = first.len() - 1;
        for (depth, ((arrays, lambda), (others, other))) in first.iter().zip(second).enumerate() {
            for (array, param) in others.iter().zip(&other.params) {
                let array = matching.names.of((*array).into());
                if let Some(place) = arrays.iter().position(|own| array == (*own).into()) {
                    matching.names.insert(param.var, lambda.params[place].var.into());
                }
            }
            let (own, later) = (&lambda.body.stms, &other.body.stms);
            if depth < deepest {
                matching.offer(&own[..own.len() - 1], None);
                matching.take(&later[..later.len() - 1]);
            } else {
                matching.offer(own, Some(&[]));
                matching.take(later);
            }
        }
        matching
    }

    /// What the first nest calls a number, and the branches around it there.
    pub fn first(&self, var: VarId) -> Option<(VarId, &[Step])> {
        let name = self.names.of(var.into()).as_var().filter(|name| *name != var)?;
        Some((name, self.paths.get(&name)?))
    }

    /// The first nest computes this. Numbers that have a path can be kept.
    fn offer(&mut self, stms: &'a [Stm], path: Option<&[Step]>) {
        for stm in stms {
            let vars: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
            if let Some(path) = path {
                self.paths.extend(vars.iter().map(|var| (*var, path.to_vec())));
            }
            let Some(scope) = self.scopes.last_mut() else { return };
            if let Exp::If { .. } = stm.exp {
                scope.branches.push((stm, path.map(<[Step]>::to_vec)));
            }
            if let Some(key) = key(stm) {
                scope.computed.entry(key).or_insert(vars);
            }
        }
    }

    /// The second nest computes this: what is the same as before?
    fn take(&mut self, stms: &'a [Stm]) {
        for stm in stms {
            let before = key(&self.translated(stm)).and_then(|key| self.computed(&key));
            match (before, &stm.exp) {
                (Some(vars), _) => {
                    for (param, var) in stm.pat.iter().zip(vars) {
                        self.names.insert(param.var, var.into());
                    }
                }
                (None, Exp::If { cond, then, otherwise }) => self.branches(stm, *cond, then, otherwise),
                (None, _) => {}
            }
        }
    }

    fn computed(&self, key: &Key) -> Option<Vec<VarId>> {
        self.scopes.iter().rev().find_map(|scope| scope.computed.get(key)).cloned()
    }

    /// The statement in the names of the first nest.
    fn translated(&self, stm: &Stm) -> Stm {
        let mut stm = stm.clone();
        self.read_states(&mut stm.exp);
        rename(&self.names, &mut stm.exp);
        stm
    }

    fn read_states(&self, exp: &mut Exp) {
        if let Exp::Index { array, indices, .. } = exp
            && let Some(state) = self.reads.state(*array)
            && indices.first() == Some(&self.reads.row)
        {
            *array = state;
            indices.remove(0);
        }
        for body in bodies_mut(exp) {
            body.stms.iter_mut().for_each(|stm| self.read_states(&mut stm.exp));
        }
    }

    fn branches(&mut self, stm: &'a Stm, cond: Atom, then: &'a Body, otherwise: &'a Body) {
        let cond = self.names.of(cond);
        let all = self.scopes.iter().flat_map(|scope| &scope.branches);
        let is_same = |own: &Stm| matches!(own.exp, Exp::If { cond: other, .. } if other == cond);
        let same: Vec<(&'a Stm, Option<Vec<Step>>)> = all.filter(|(own, _)| is_same(own)).cloned().collect();
        for (body, is_then) in [(then, true), (otherwise, false)] {
            self.scopes.push(Scope::default());
            for (own, path) in &same {
                let (Exp::If { then, otherwise, .. }, Some(first)) = (&own.exp, own.pat.first()) else {
                    continue;
                };
                let path = path.as_ref().map(|path| [path.as_slice(), &[(first.var, is_then)]].concat());
                self.offer(if is_then { &then.stms } else { &otherwise.stms }, path.as_deref());
            }
            self.take(&body.stms);
            self.scopes.pop();
        }
        for (own, _) in &same {
            let Exp::If { then: own_then, otherwise: own_otherwise, .. } = &own.exp else { continue };
            let results = own_then.result.iter().zip(&own_otherwise.result);
            let results: Vec<(&Atom, &Atom)> = results.collect();
            for (k, param) in stm.pat.iter().enumerate() {
                let (one, other) = (self.names.of(then.result[k]), self.names.of(otherwise.result[k]));
                if let Some(place) = results.iter().position(|pair| *pair == (&one, &other)) {
                    self.names.insert(param.var, own.pat[place].var.into());
                }
            }
        }
    }
}
