//! Scans from the last row on that write over the array that they go along.
//!
//! The return sweep of a scan reads the states of the sweep before, and makes adjoints of the same shape:
//!
//!     for i from n - 1 { c = c * a[i + 1] + x[i]; d[i] = c * x[i - 1] }          d is where x was
//!
//! Row `i` of the array is read by step `i`, and by the step before, for row `i + 1`. Those steps are in order within a part of
//! a piece; the last step of a part would find that the next part has begun. What it reads there, the *edge*, is read before
//! results are written, and before the next piece may write them.

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, Stm};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::epilogues::{Follower, Group, Input, RowState, Work};
use crate::lower::folds::{Fold, keeps_rows};
use crate::lower::{Form, Lower};

/// A result that is written over arrays that are read for the last time.
pub(in crate::lower) struct Over {
    pub(in crate::lower) target: VarId,
    /// One array, or all of several that are next to each other, row by row.
    pub(in crate::lower) sources: Vec<VarId>,
    pub(in crate::lower) edges: Vec<Edge>,
}

/// An array of which steps read the row of the next step.
pub(in crate::lower) struct Edge {
    pub(in crate::lower) source: VarId,
    /// That row, in the last step of a part.
    pub(in crate::lower) param: Param,
}

impl Lower<'_> {
    /// Has a scan, with what follows it, write over what it can.
    pub(in crate::lower) fn in_place(&mut self, body: &Body, scan: usize, group: Group) -> Group {
        let over = self.scan_over(body, scan, &group);
        Group { over, ..group }
    }

    fn scan_over(&mut self, body: &Body, scan: usize, group: &Group) -> Option<Over> {
        let Group { covered, kept, followers, .. } = group;
        let Exp::Scan { width, arrays, pre, op, neutral } = &body.stms[scan].exp else { return None };
        let fold = Fold { width: *width, arrays, pre: pre.as_ref(), op, neutral };
        let fails = |lambda: &Lambda| lambda.body.stms.iter().any(|stm| can_fail(&stm.exp));
        if keeps_rows(&fold) || visit::lambdas(&body.stms[scan].exp).into_iter().any(fails) {
            return None;
        }
        let backwards = turned_round(body, scan, *width);
        let candidates: Vec<VarId> = arrays.iter().filter_map(|a| backwards.get(a)).copied().collect();
        let is_free = |var: VarId| {
            self.is_read_last(body, scan, covered, var)
                && arrays.iter().all(|a| self.base_of(*a) != var || backwards.get(a) == Some(&var))
                && self.goes_along_scan(followers, var)
        };
        let free: Vec<VarId> = candidates.into_iter().filter(|var| is_free(*var)).collect();
        let kept = kept.iter().filter_map(|kept| match kept {
            RowState::Backwards(array) => Some(array),
            RowState::Nowhere | RowState::Forwards(_) => None,
        });
        let made = followers.iter().filter(|f| f.is_backwards && matches!(f.work, Work::Map(_)));
        let targets: Vec<&Param> = kept.chain(made.flat_map(|f| &f.pat)).collect();
        let (target, sources) = targets.into_iter().find_map(|target| {
            let is_plain = !self.memory.dests.contains_key(&target.var);
            let sources = self.sources_of(body, target, &free).filter(|_| is_plain)?;
            Some((target.var, sources))
        })?;
        let lambdas = || followers.iter().flat_map(|f| f.work.lambdas());
        let read: Vec<VarId> = sources
            .iter()
            .filter(|var| lambdas().any(|l| visit::free_vars_lambda(l).contains(var)))
            .copied()
            .collect();
        let mut edges = Vec::new();
        for source in read {
            let row = self.scope.vars.get(&source)?.ty.row()?;
            edges.extend(self.unnamed(&[row]).into_iter().map(|param| Edge { source, param }));
        }
        Some(Over { target, sources, edges })
    }

    /// The arrays that have the place of a result.
    fn sources_of(&self, body: &Body, target: &Param, free: &[VarId]) -> Option<Vec<VarId>> {
        let is_same = |var: &&VarId| {
            self.scope
                .vars
                .get(var)
                .is_some_and(|info| info.ty == target.ty && info.form == Form::Block { owned: true })
        };
        if let Some(source) = free.iter().find(is_same) {
            return Some(vec![*source]);
        }
        let Type::Array { dims, elem } = &target.ty else { return None };
        let [_, count] = dims.as_slice() else { return None };
        let first = free.iter().find(|var| self.memory.sharing.contains(var))?;
        let maker = body.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == *first))?;
        let all: Vec<VarId> = maker.pat.iter().map(|p| p.var).collect();
        let fits = *count == Atom::i64(all.len() as i64)
            && maker.pat.iter().all(|p| p.ty.elem() == Some(*elem))
            && all.iter().all(|var| free.contains(var) && self.memory.sharing.contains(var));
        fits.then_some(all)
    }

    /// Whether an array of this body is used by a scan and what follows it, and not after that.
    fn is_read_last(&self, body: &Body, scan: usize, covered: &HashSet<usize>, var: VarId) -> bool {
        let shows = |mut view: VarId| {
            while let Some(base) = self.memory.bases.get(&view).filter(|_| view != var) {
                view = *base;
            }
            view == var
        };
        let is_bound = body.stms[..scan].iter().any(|stm| stm.pat.iter().any(|p| p.var == var));
        let mut later = body.stms.iter().enumerate().skip(scan + 1).filter(|(i, _)| !covered.contains(i));
        let results = body.result.iter().filter_map(|atom| atom.as_var());
        is_bound
            && !later.any(|(_, stm)| visit::free_vars(&stm.exp).into_iter().any(shows))
            && !results.into_iter().any(shows)
            && !visit::lambdas(&body.stms[scan].exp).into_iter().flat_map(visit::free_vars_lambda).any(shows)
            && !body.stms.iter().enumerate().any(|(index, stm)| {
                let inside = visit::bodies(&stm.exp).into_iter().flat_map(visit::free_vars_body);
                covered.contains(&index) && inside.into_iter().any(|v| v != var && shows(v))
            })
    }

    /// Whether what follows a scan reads an array at the row of the next step, and nowhere else.
    fn goes_along_scan(&self, followers: &[Follower], var: VarId) -> bool {
        followers.iter().all(|follower| {
            let inputs = &follower.inputs;
            if inputs.iter().any(|input| matches!(input, Input::Array(a) if self.base_of(*a) == var)) {
                return false;
            }
            if !follower.work.lambdas().into_iter().any(|l| visit::free_vars_lambda(l).contains(&var)) {
                return true;
            }
            let (Work::Map(lambda), true) = (&follower.work, follower.is_backwards) else { return false };
            let counters = self.counters_of_follower(follower, lambda);
            self.reads_row_before(&lambda.body, var, &counters)
        })
    }

    fn base_of(&self, mut var: VarId) -> VarId {
        while let Some(base) = self.memory.bases.get(&var) {
            var = *base;
        }
        var
    }

    /// Whether a body reads an array at the counter less one, and nowhere else.
    fn reads_row_before(&self, body: &Body, var: VarId, counters: &HashSet<VarId>) -> bool {
        let is_before = |index: Atom| {
            counters.iter().any(|counter| self.scope.symbols.difference(index, (*counter).into()) == Some(-1))
        };
        let fits = |stm: &Stm| match &stm.exp {
            Exp::Index { array, indices, .. } if *array == var => {
                matches!(indices.as_slice(), [index] if is_before(*index))
            }
            exp => {
                let mut is_operand = false;
                visit::direct_operands(exp, &mut |atom| is_operand |= atom == Atom::Var(var));
                let inside = visit::bodies(exp);
                !is_operand && inside.into_iter().all(|body| self.reads_row_before(body, var, counters))
            }
        };
        body.stms.iter().all(fits) && !body.result.contains(&Atom::Var(var))
    }
}

/// The arrays that statements before a scan turn round, by what they are then.
fn turned_round(body: &Body, scan: usize, width: Atom) -> HashMap<VarId, VarId> {
    let mut found = HashMap::new();
    for stm in &body.stms[..scan] {
        if let (Exp::Slice { array, dims }, [param]) = (&stm.exp, stm.pat.as_slice())
            && let [DimSlice::Range { len, stride, .. }] = dims.as_slice()
            && *len == width
            && *stride == Atom::i64(-1)
        {
            found.insert(param.var, *array);
        }
    }
    found
}

/// The function of a follower in the last step of a part, which finds the rows of the next one in the edges.
pub(in crate::lower) fn with_edges(lambda: &Lambda, edges: &[Edge]) -> Lambda {
    Lambda { body: body_with_edges(&lambda.body, edges), ..lambda.clone() }
}

fn body_with_edges(body: &Body, edges: &[Edge]) -> Body {
    let mut body = body.clone();
    for stm in &mut body.stms {
        if let Exp::Index { array, .. } = &stm.exp
            && let Some(edge) = edges.iter().find(|edge| edge.source == *array)
        {
            stm.exp = Exp::Atom(edge.param.var.into());
        }
        for inside in visit::bodies_mut(&mut stm.exp) {
            *inside = body_with_edges(inside, edges);
        }
    }
    body
}
