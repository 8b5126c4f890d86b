//! Which numbers of a nest of maps another nest, in the loop that keeps states, has computed before.
//!
//! Equal expressions of equal operands are equal, also in branches of equal conditions. A row of a kept state is the state in
//! the iteration of that row. What a map takes of an array is its element or row with the number of the iteration: whether a nest
//! takes rows or reads elements makes no difference.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Stm};
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::bodies_mut;

use crate::columns::rename;
use crate::cse::{Key, key};

use super::Reads;

/// The levels of a nest of maps, from the outside in: arrays and functions.
pub(super) type Levels<'a> = Vec<(&'a [VarId], &'a Lambda)>;

/// A branch: the first result of its statement, and whether it is the one that is taken if the condition holds.
pub(super) type Step = (VarId, bool);

pub(super) struct Matching<'a> {
    reads: &'a Reads,
    /// What the first nest calls the numbers of the second.
    names: Substitution,
    /// The rows that both nests take, by the arrays that they are rows of, and their numbers there.
    rows: HashMap<VarId, (VarId, Vec<Atom>)>,
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
    /// Compares a nest with one in a loop before it, whose iterations have this number. `counters` are arrays `0, 1, …`.
    pub fn of(
        reads: &'a Reads,
        counters: &HashSet<VarId>,
        number: VarId,
        first: &Levels<'a>,
        second: &Levels<'a>,
    ) -> Matching<'a> {
        let mut names = Substitution::default();
        for (row, state) in &reads.rows {
            names.insert(*row, (*state).into());
        }
        if let Atom::Var(row) = reads.row {
            names.insert(row, number.into());
        }
        let (rows, paths) = (HashMap::new(), HashMap::new());
        let mut matching = Matching { reads, names, rows, scopes: vec![Scope::default()], paths };
        let deepest = first.len() - 1;
        for (depth, ((arrays, lambda), (others, other))) in first.iter().zip(second).enumerate() {
            let counts = |(array, param): (&VarId, &Param)| counters.contains(array).then_some(param.var);
            let counter = arrays.iter().zip(&lambda.params).find_map(counts);
            // A number that no variable has stands for a counter without a name.
            let counter = counter.unwrap_or(VarId(u32::MAX - depth as u32));
            let path: Option<&[Step]> = (depth == deepest).then_some(&[]);
            for (array, param) in arrays.iter().zip(&lambda.params) {
                if let Some(stm) = matching.taken(counters, *array, param, counter) {
                    matching.compute(&stm, path);
                }
            }
            let (own, later) = (&lambda.body.stms, &other.body.stms);
            let but_next = |stms: &'a [Stm]| if depth < deepest { &stms[..stms.len() - 1] } else { stms };
            matching.offer(but_next(own), path);
            for (array, param) in others.iter().zip(&other.params) {
                if let Some(stm) = matching.taken(counters, *array, param, counter) {
                    matching.compare(&stm);
                }
            }
            matching.take(but_next(later));
        }
        matching
    }

    /// Notes what a nest takes of an array in each iteration; a number as a statement that reads it.
    fn taken(
        &mut self,
        counters: &HashSet<VarId>,
        array: VarId,
        param: &Param,
        counter: VarId,
    ) -> Option<Stm> {
        if counters.contains(&array) {
            if param.var != counter {
                self.names.insert(param.var, counter.into());
            }
            return None;
        }
        let whole = self.names.of(array.into()).as_var()?;
        let (array, mut indices) = self.rows.get(&array).cloned().unwrap_or((whole, Vec::new()));
        indices.push(counter.into());
        match &param.ty {
            Type::Prim(_) => {
                let exp = Exp::Index { array, indices, check: Check::Certified };
                Some(Stm { pat: vec![param.clone()], exp, loc: Loc::NONE })
            }
            Type::Array { .. } => {
                self.rows.insert(param.var, (array, indices));
                None
            }
            Type::Acc { .. } => None,
        }
    }

    /// What the first nest calls a number, and the branches around it there.
    pub fn first(&self, var: VarId) -> Option<(VarId, &[Step])> {
        let name = self.names.of(var.into()).as_var().filter(|name| *name != var)?;
        Some((name, self.paths.get(&name)?))
    }

    /// The first nest computes this. Numbers that have a path can be kept.
    fn offer(&mut self, stms: &'a [Stm], path: Option<&[Step]>) {
        for stm in stms {
            if let (Exp::If { .. }, Some(scope)) = (&stm.exp, self.scopes.last_mut()) {
                scope.branches.push((stm, path.map(<[Step]>::to_vec)));
            }
            self.compute(stm, path);
        }
    }

    fn compute(&mut self, stm: &Stm, path: Option<&[Step]>) {
        let vars: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
        if let Some(path) = path {
            self.paths.extend(vars.iter().map(|var| (*var, path.to_vec())));
        }
        let Some(key) = key(&self.translated(stm)) else { return };
        match (self.computed(&key), self.scopes.last_mut()) {
            // What it computes twice has the first name.
            (Some(before), _) => {
                let others = vars.into_iter().zip(before).filter(|(var, name)| var != name);
                others.for_each(|(var, name)| self.names.insert(var, name.into()));
            }
            (None, Some(scope)) => {
                scope.computed.insert(key, vars);
            }
            (None, None) => {}
        }
    }

    /// The second nest computes this: what is the same as before?
    fn take(&mut self, stms: &'a [Stm]) {
        for stm in stms {
            if let (false, Exp::If { cond, then, otherwise }) = (self.compare(stm), &stm.exp) {
                self.branches(stm, *cond, then, otherwise);
            }
        }
    }

    fn compare(&mut self, stm: &Stm) -> bool {
        let before = key(&self.translated(stm)).and_then(|key| self.computed(&key));
        for (param, var) in stm.pat.iter().zip(before.iter().flatten()) {
            self.names.insert(param.var, (*var).into());
        }
        before.is_some()
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
        if let Exp::Index { array, indices, .. } = exp {
            if let Some((whole, numbers)) = self.rows.get(array) {
                *array = *whole;
                indices.splice(0..0, numbers.iter().copied());
            }
            if let Some(state) = self.reads.state(*array)
                && indices.first() == Some(&self.reads.row)
            {
                *array = state;
                indices.remove(0);
            }
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
        // Both branches may give the same.
        for (k, param) in stm.pat.iter().enumerate() {
            let (one, other) = (self.names.of(then.result[k]), self.names.of(otherwise.result[k]));
            if one == other {
                self.names.insert(param.var, one);
            }
        }
        for (own, _) in &same {
            let Exp::If { then: own_then, otherwise: own_otherwise, .. } = &own.exp else { continue };
            let results = own_then.result.iter().zip(&own_otherwise.result);
            let results: Vec<(Atom, Atom)> =
                results.map(|(one, other)| (self.names.of(*one), self.names.of(*other))).collect();
            for (k, param) in stm.pat.iter().enumerate() {
                let (one, other) = (self.names.of(then.result[k]), self.names.of(otherwise.result[k]));
                if let Some(place) = results.iter().position(|pair| *pair == (one, other) && one != other) {
                    self.names.insert(param.var, own.pat[place].var.into());
                }
            }
        }
    }
}
