//! Loops inside of a loop that save what their return sweeps need while the outer loop runs forwards, so that its return
//! sweep need not run them again.
//!
//!     loop (s = s0) for i < n do              loop (s = s0, tapes = scratch) for i < n do
//!       loop (y = s) for j < m do      ==>      let (y, ys) = loop (y = s, ys = scratch) for j < m do (f(y), ys with [j] = y)
//!         f(y)                                  in (y, tapes with [i] = ys)
//!                                             loop (s_adj = ct) for i' < n do
//!                                               let (ys) = tapes[n - 1 - i']
//!                                               loop (y_adj = s_adj) for j' < m do adjoint of f at ys[m - 1 - j']
//!
//! Such tapes are kept if they are not much larger than what the outer loop saves anyway of each iteration.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::bound;

use crate::context::{Ad, Res};
use crate::rename::Renamer;

use super::super::Saved;
use super::costly::Extent;
use super::flow::{Flow, Site};
use super::log::IndexOf;
use super::{Marks, RestoredParam, SavedLoop, SavedValue, State, Undo};

/// A loop that has run with tapes, in the names of the forward sweep.
#[derive(Clone)]
pub(super) struct TapedLoop {
    job: SavedLoop,
    /// What the loop gives, by its names in the body, and where that comes from.
    results: Vec<(VarId, Source)>,
    /// What is kept of it, in the body of the outer loop, and the arrays of that.
    pub tapes: Vec<(VarId, VarId)>,
}

/// Where the return sweep has a result of an inner loop from.
#[derive(Clone, Copy)]
enum Source {
    Tape,
    /// It is what the outer loop makes of this parameter, which it restores.
    State(VarId),
}

/// A loop in the return sweep that need not run, with what it would give.
pub(crate) struct SkippableLoop {
    job: SavedLoop,
    results: Vec<VarId>,
}

/// What the outer loop knows of its body.
pub(super) struct Around<'a> {
    pub params: &'a [(Param, Atom)],
    pub inside: &'a HashSet<VarId>,
    /// What is saved of each iteration.
    pub extents: &'a [Extent],
}

impl Around<'_> {
    fn is_outside(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|var| !self.inside.contains(&var))
    }
}

impl Ad<'_> {
    /// Puts loops with tapes in place of the loops of a body.
    pub(super) fn tape_loops(&mut self, run: &mut Body, around: &Around<'_>) -> Res<Vec<TapedLoop>> {
        let mut taped = Vec::new();
        if !self.sweep.may_tape || !self.sweep.acc_adj.is_empty() {
            return Ok(taped);
        }
        let mut flow = Flow::default();
        let arrays = around.params.iter().filter(|(p, _)| p.ty.is_array());
        arrays.for_each(|(p, _)| flow.enter(p.var, p.var, false));
        let ends = flow.body(run);
        let mut place = 0;
        while place < run.stms.len() {
            let stm = run.stms[place].clone();
            place += 1;
            let Some(results) = self.sources(&stm, run, &flow, &ends, around) else { continue };
            self.sweep.may_tape = false;
            let built = self.scope(|ad| ad.forward_sweep(&stm));
            self.sweep.may_tape = true;
            let (stms, Saved::Loop(job)) = built? else { continue };
            let Some(mut tapes) = self.tapes(&job, around) else { continue };
            let kept = results.iter().filter(|(_, source)| matches!(source, Source::Tape));
            tapes.extend(kept.map(|(var, _)| *var));
            if tapes.iter().all(|tape| self.is_near(self.ty_var(*tape).dims(), around.extents)) {
                let tapes = tapes.into_iter().map(|tape| (tape, tape)).collect();
                taped.push(TapedLoop { job: *job, results, tapes });
                place += stms.len() - 1;
                run.stms.splice(place - stms.len()..=place - stms.len(), stms);
            }
        }
        Ok(taped)
    }

    /// Where the results of a statement come from, if it is a loop that can have tapes.
    fn sources(
        &self,
        stm: &Stm,
        run: &Body,
        flow: &Flow,
        ends: &[Option<VarId>],
        around: &Around<'_>,
    ) -> Option<Vec<(VarId, Source)>> {
        let Exp::Loop { form: LoopForm::For { bound, .. }, .. } = &stm.exp else { return None };
        let is_active = stm.pat.iter().any(|p| self.is_active_var(p.var));
        if !is_active || !self.is_near(&[*bound], around.extents) {
            return None;
        }
        let changes = |root: VarId| {
            let all = run.stms.iter().flat_map(|stm| &stm.pat);
            all.filter(|p| flow.changed(p.var) == Some(root)).count()
        };
        let mut sources = Vec::new();
        for pat in &stm.pat {
            let source = match (flow.changed(pat.var), flow.root(pat.var)) {
                (Some(root), _) => {
                    let is_restored = ends.contains(&Some(root)) && !flow.is_broken(root);
                    if !is_restored || changes(root) != 1 {
                        return None;
                    }
                    Source::State(root)
                }
                (None, Some(_)) => return None,
                (None, None) if pat.ty.is_acc() => return None,
                (None, None) => Source::Tape,
            };
            sources.push((pat.var, source));
        }
        Some(sources)
    }

    /// The arrays that the return sweep of a loop reads, if the rest of what it needs is known outside of the outer loop.
    fn tapes(&self, job: &SavedLoop, around: &Around<'_>) -> Option<Vec<VarId>> {
        let mut tapes = Vec::new();
        for saved in job.saved.values() {
            match saved {
                SavedValue::Rows(array) => tapes.push(*array),
                SavedValue::Packed { .. } => return None,
            }
        }
        tapes.extend(job.kept.iter().map(|(_, saved)| *saved));
        for undo in job.restored.iter().filter_map(|restored| restored.undo.as_ref()) {
            let Marks::Every(every) = undo.marks else { return None };
            let Site::Part(dims) = &undo.entries.form else { return None };
            let is_steady = |dim: &DimSlice| match dim {
                DimSlice::Fix(_) => true,
                DimSlice::Range { len, stride, .. } => around.is_outside(*len) && around.is_outside(*stride),
            };
            if !around.is_outside(every) || !dims.iter().all(is_steady) {
                return None;
            }
            for index in &undo.entries.indices {
                match index {
                    IndexOf::Logged(indices) => tapes.push(*indices),
                    IndexOf::Computed(recipe) if recipe.needs_nothing_of(around.inside) => {}
                    IndexOf::Computed(_) => return None,
                }
            }
            tapes.push(undo.entries.values);
        }
        tapes.sort_unstable();
        tapes.dedup();
        Some(tapes)
    }

    /// Before the return sweep of iteration `i`: the loops of its body need not run.
    pub(super) fn note_skippable_loops(
        &mut self,
        outer: &SavedLoop,
        copy: &Body,
        names: &HashMap<VarId, VarId>,
        states: &[State],
        i: Atom,
        loc: Loc,
    ) {
        for taped in &outer.taped {
            let name = |var: VarId| names.get(&var).copied().unwrap_or(var);
            let Some((first, _)) = taped.results.first() else { continue };
            let Some(stm) = copy.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == name(*first))) else {
                continue;
            };
            let mut rows = HashMap::new();
            for (tape, saved) in &taped.tapes {
                let exp = Exp::Index { array: *saved, indices: vec![i], check: Check::Certified };
                let row = self.ty_var(*saved).row().unwrap_or_else(|| self.ty_var(*tape));
                rows.insert(*tape, self.let_var("tape", row, exp, loc));
            }
            let row = |var: VarId| rows.get(&var).copied().unwrap_or(var);
            let state = |root: VarId| {
                let mut all = outer.restored.iter().zip(states);
                all.find(|(restored, _)| restored.var == root).map(|(_, state)| state.array)
            };
            let results = taped.results.iter().map(|(var, source)| match source {
                Source::Tape => Some(row(*var)),
                Source::State(root) => state(*root),
            });
            let results: Option<Vec<VarId>> = results.collect();
            if let (Some(job), Some(results)) = (taped.job.renamed(stm, &name, &row), results) {
                self.sweep.skippable_loops.insert(stm.pat[0].var, SkippableLoop { job, results });
            }
        }
    }

    /// A loop of the return sweep that need not run: what it gives.
    pub(crate) fn use_skippable(&mut self, stm: &Stm) -> Option<Saved> {
        let SkippableLoop { mut job, results } = self.sweep.skippable_loops.remove(&stm.pat.first()?.var)?;
        let Exp::Loop { form: LoopForm::For { ty, bound, .. }, .. } = &stm.exp else { return None };
        let n = self.b.convert(*ty, PrimType::I64, *bound, stm.loc);
        job.n = self.i64_op(BinOp::Max, n, Atom::i64(0), stm.loc);
        for (pat, result) in stm.pat.iter().zip(results) {
            let exp = match self.ty_var(result) == pat.ty || !pat.ty.is_array() {
                true => Exp::Atom(result.into()),
                false => Exp::Reshape { dims: pat.ty.dims().to_vec(), array: result },
            };
            self.push(Stm { pat: vec![pat.clone()], exp, loc: stm.loc });
        }
        Some(Saved::Loop(Box::new(job)))
    }
}

impl SavedLoop {
    /// The same for a copy of the loop, given the names in the copy, and what there is for each tape.
    fn renamed(
        &self,
        stm: &Stm,
        name: &impl Fn(VarId) -> VarId,
        row: &impl Fn(VarId) -> VarId,
    ) -> Option<SavedLoop> {
        let Exp::Loop { params, form: LoopForm::For { var, ty, .. }, body, .. } = &stm.exp else {
            return None;
        };
        let saved = self.saved.iter().map(|(param, saved)| match saved {
            SavedValue::Rows(array) => (name(*param), SavedValue::Rows(row(*array))),
            SavedValue::Packed { .. } => (name(*param), *saved),
        });
        let restored = self.restored.iter().map(|restored| RestoredParam {
            var: name(restored.var),
            result: name(restored.result),
            undo: restored
                .undo
                .as_ref()
                .map(|undo| Undo { entries: undo.entries.at(row), marks: undo.marks }),
        });
        Some(SavedLoop {
            params: params.clone(),
            counter: (*var, *ty),
            n: self.n,
            body: body.clone(),
            saved: saved.collect(),
            restored: restored.collect(),
            known: self.known.iter().map(|(value, saved)| (name(*value), row(*saved))).collect(),
            kept: self.kept.iter().map(|(value, saved)| (name(*value), row(*saved))).collect(),
            taped: Vec::new(),
        })
    }
}

/// The names that a copy has for variables.
pub(super) fn names_in(renamer: &Renamer<'_, '_>, job: &SavedLoop) -> HashMap<VarId, VarId> {
    bound(&job.body.stms).into_iter().map(|var| (var, renamer.var(var))).collect()
}
