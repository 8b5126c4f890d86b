//! Reverse mode of loops (thesis, sections 3.3.2 and 3.5.2): the forward sweep saves what each iteration starts with,
//! and the return sweep visits the iterations from the last to the first.
//!
//!     loop (y = y0) for i < n do f(y)     ==>     loop (y = y0, ys = scratch) for i < n do (f(y), ys with [i] = y)
//!                                                 loop (y_adj = ct) for j < n do
//!                                                   adjoint of f at ys[n - 1 - j]
//!
//! An array that the loop updates in place is not saved: the loop logs what it overwrites ([`log`]), and the return
//! sweep takes the array back, iteration by iteration ([`restored`]). What is saved and never read is removed at the
//! end (see [`crate::prune`]). A `while` loop is first run to count its iterations.

mod flow;
mod log;
mod restored;
mod save;

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, Loc, LoopForm, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_body;

use crate::context::{Ad, AdError, Adj, Res};
use crate::rename::Renamer;

use super::Saved;
use save::Saving;

pub(crate) use log::Entries;
pub(crate) use restored::{Plan, Restored, read_again, reads_again};

/// A loop in the forward sweep.
#[derive(Clone)]
pub(crate) struct SavedLoop {
    params: Vec<(Param, Atom)>,
    /// The counter and its type.
    counter: (VarId, PrimType),
    /// How often it runs.
    n: Atom,
    body: Body,
    /// The values that each iteration started with, for the parameters that the body reads.
    saved: HashMap<VarId, VarId>,
    /// The parameters that are restored instead.
    restored: Vec<RestoredParam>,
}

/// An array that the loop updates in place, or leaves as it is.
#[derive(Clone)]
struct RestoredParam {
    var: VarId,
    /// What the loop makes of it.
    result: VarId,
    undo: Option<Undo>,
}

/// What a loop has logged of a parameter.
#[derive(Clone)]
struct Undo {
    entries: Entries,
    /// The number of entries.
    top: Atom,
    marks: Marks,
}

/// Where the entries of an iteration begin.
#[derive(Clone, Copy)]
enum Marks {
    /// Every iteration has as many.
    Every(Atom),
    /// An array has the places.
    Saved(VarId),
}

impl Ad<'_> {
    pub fn save_loop(
        &mut self,
        stm: &Stm,
        params: &[(Param, Atom)],
        form: &LoopForm,
        body: &Body,
    ) -> Res<Saved> {
        let loc = stm.loc;
        let own: Vec<VarId> = params.iter().map(|(p, _)| p.var).collect();
        let dependent =
            |p: &Param| p.ty.all_dims().iter().any(|d| d.as_var().is_some_and(|v| own.contains(&v)));
        if params.iter().any(|(p, _)| dependent(p)) {
            return Err(AdError::not_yet(
                loc,
                "the reverse derivative of a loop over arrays that change their size",
            ));
        }
        if self.loop_has_other_accs(params, form) {
            return Err(AdError::not_yet(loc, "the reverse derivative of an accumulator"));
        }
        let (counter, ty, bound) = match form {
            LoopForm::For { var, ty, bound } => (*var, *ty, *bound),
            LoopForm::While { cond } => {
                let n = self.count_iterations(params, cond, body, loc)?;
                let counter = self.b.fresh("i");
                self.types.insert(counter, Type::I64);
                (counter, PrimType::I64, n)
            }
        };
        let n = self.b.convert(ty, PrimType::I64, bound, loc);
        let n = self.i64_op(BinOp::Max, n, Atom::i64(0), loc);
        let form = LoopForm::For { var: counter, ty, bound };
        let plain = Exp::Loop { params: params.to_vec(), form: form.clone(), body: body.clone() };
        let plain = self.without_accs(&Stm { pat: stm.pat.clone(), exp: plain, loc });
        let mut job = SavedLoop {
            params: params.to_vec(),
            counter: (counter, ty),
            n,
            body: body.clone(),
            saved: HashMap::new(),
            restored: Vec::new(),
        };
        if let Some(Stm { pat, exp: Exp::Loop { params, body: run, .. }, .. }) = plain {
            self.saving_loop(Saving::new(pat, params), form, &run, &mut job, loc)?;
        }
        // Otherwise it does nothing but accumulate, and needs nothing for that but its counter.
        Ok(Saved::Loop(Box::new(job)))
    }

    fn has_adjoint(&self, param: &Param) -> bool {
        self.is_active_var(param.var) && !param.ty.is_acc()
    }

    /// Runs a `while` loop only to count.
    fn count_iterations(
        &mut self,
        params: &[(Param, Atom)],
        cond: &Body,
        body: &Body,
        loc: Loc,
    ) -> Res<Atom> {
        let form = LoopForm::While { cond: cond.clone() };
        let exp = Exp::Loop { params: params.to_vec(), form, body: body.clone() };
        let copy = Renamer::before(self, HashMap::new()).exp(&exp);
        let Exp::Loop { mut params, form, mut body } = copy else {
            return Err(AdError::not_yet(loc, "this loop"));
        };
        let count = self.param("count", Type::I64);
        let (more, next) = self.scope(|ad| Ok(ad.i64_op(BinOp::Add, count.var.into(), Atom::i64(1), loc)))?;
        body.stms.extend(more);
        body.result.push(next);
        params.push((count, Atom::i64(0)));
        let types: Vec<Type> = params.iter().map(|(p, _)| p.ty.clone()).collect();
        let results = self.let_exps("count", &types, Exp::Loop { params, form, body }, loc);
        Ok(results.last().map_or(Atom::i64(0), |v| (*v).into()))
    }

    pub fn rev_loop(&mut self, stm: &Stm, job: &SavedLoop, cts: &[Option<Atom>]) -> Res<()> {
        let loc = stm.loc;
        let own: Vec<VarId> = job.params.iter().map(|(p, _)| p.var).collect();
        let free = free_vars_body(&job.body).into_iter().filter(|v| !own.contains(v));
        let free = self.active_among(free);
        let mut params = Vec::new();
        let mut inner_cts = Vec::new();
        for ((param, _), ct) in job.params.iter().zip(cts) {
            inner_cts.push(if self.has_adjoint(param) {
                let init = self.or_zero(*ct, &param.ty, loc);
                let hint = self.hint(param.var, "_adj");
                let adjoint = self.param(&hint, param.ty.clone());
                let atom = adjoint.var.into();
                params.push((adjoint, init));
                Some(atom)
            } else {
                None
            });
        }
        let mut slots = HashMap::new();
        for var in &free {
            let init = self.adjoint(*var, loc);
            let slot = self.param("adj", self.adjoint_type(*var));
            let kind = if slot.ty.is_acc() { Adj::Acc(slot.var) } else { Adj::Value(slot.var.into()) };
            slots.insert(*var, kind);
            params.push((slot, init));
        }
        let adjoints = params.len();
        let states = self.state_params(job, &mut params);
        let outer = std::mem::replace(&mut self.adj, slots);
        let known = self.restored.clone();
        let counter = self.b.fresh("j");
        self.types.insert(counter, Type::I64);
        let body = self.body(|ad| ad.rev_iteration(job, counter, &inner_cts, &free, &states, loc))?;
        self.adj = outer;
        self.restored = known;
        let types: Vec<Type> = params.iter().map(|(p, _)| p.ty.clone()).collect();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: job.n };
        let vars = self.let_exps("adj", &types, Exp::Loop { params, form, body }, loc);
        let undone = job.restored.iter().filter(|restored| restored.undo.is_some());
        for (restored, var) in undone.zip(&vars[adjoints..]) {
            if let Some(root) = self.restored.root(restored.result) {
                self.restored.hold(root, *var);
            }
        }
        let active = job.params.iter().filter(|(p, _)| self.has_adjoint(p));
        let active: Vec<Atom> = active.map(|(_, init)| *init).collect();
        for (var, adjoint) in free.iter().zip(&vars[active.len()..]) {
            self.move_adj(*var, *adjoint);
        }
        for (init, adjoint) in active.iter().zip(&vars) {
            self.add_to(*init, Some((*adjoint).into()), loc);
        }
        Ok(())
    }

    /// The loop of the return sweep carries the restored arrays, and how far their logs are undone.
    fn state_params(&mut self, job: &SavedLoop, params: &mut Vec<(Param, Atom)>) -> Vec<State> {
        let mut states = Vec::new();
        let mut tops = Vec::new();
        for restored in &job.restored {
            let root = self.restored.root(restored.result);
            let init = root.and_then(|r| self.restored.now(r)).unwrap_or(restored.result);
            let Some(undo) = &restored.undo else {
                states.push(State { array: init, top: None });
                continue;
            };
            let hint = self.b.vars.hint(restored.var).to_owned();
            let array = self.param(&hint, self.ty_var(restored.var));
            let top = match undo.marks {
                Marks::Saved(_) => {
                    let param = self.param("top", Type::I64);
                    tops.push((param.clone(), undo.top));
                    Some(param.var)
                }
                Marks::Every(_) => None,
            };
            states.push(State { array: array.var, top });
            params.push((array, init.into()));
        }
        params.extend(tops);
        states
    }

    /// One iteration backwards: the adjoints of the active parameters, then of the free variables, then the restored
    /// arrays and the heights of their logs.
    fn rev_iteration(
        &mut self,
        job: &SavedLoop,
        counter: VarId,
        cts: &[Option<Atom>],
        free: &[VarId],
        states: &[State],
        loc: Loc,
    ) -> Res<Vec<Atom>> {
        let last = self.i64_op(BinOp::Sub, job.n, Atom::i64(1), loc);
        let i = self.i64_op(BinOp::Sub, last, counter.into(), loc);
        let (var, ty) = job.counter;
        let mut map = HashMap::from([(var, self.b.convert(PrimType::I64, ty, i, loc))]);
        let mut tops = Vec::new();
        let mut roots = Vec::new();
        for (restored, state) in job.restored.iter().zip(states) {
            let array = self.undo_iteration(restored, state, i, &mut tops, loc)?;
            map.insert(restored.var, array.into());
            self.restored.hold(array, array);
            if restored.undo.is_some() {
                roots.push(array);
            }
        }
        let mut values = Vec::new();
        for (param, _) in &job.params {
            if let Some(saved) = job.saved.get(&param.var) {
                let hint = self.b.vars.hint(param.var).to_owned();
                let exp = Exp::Index { array: *saved, indices: vec![i], check: Check::Certified };
                let value = self.let_var(&hint, param.ty.clone(), exp, loc);
                map.insert(param.var, value.into());
            }
            if self.has_adjoint(param) {
                // A parameter that the body does not read is not restored: its adjoint is zero.
                let value = map.get(&param.var).and_then(|a| a.as_var()).unwrap_or(param.var);
                self.active.insert(value);
                values.push(value);
            }
        }
        let copy = Renamer::again(self, map).body(&job.body);
        self.sweep(&copy, cts, loc)?;
        let mut results: Vec<Atom> = values.iter().chain(free).map(|v| self.adjoint(*v, loc)).collect();
        results.extend(roots.iter().filter_map(|root| self.restored.now(*root)).map(Atom::from));
        results.extend(tops);
        Ok(results)
    }

    /// The array as it was before iteration `i`, given how it was after it.
    fn undo_iteration(
        &mut self,
        restored: &RestoredParam,
        state: &State,
        i: Atom,
        tops: &mut Vec<Atom>,
        loc: Loc,
    ) -> Res<VarId> {
        let Some(undo) = &restored.undo else { return Ok(state.array) };
        let (top, bottom) = match (undo.marks, state.top) {
            (Marks::Every(every), _) => {
                let bottom = self.i64_op(BinOp::Mul, i, every, loc);
                (self.i64_op(BinOp::Add, bottom, every, loc), bottom)
            }
            (Marks::Saved(marks), top) => {
                let exp = Exp::Index { array: marks, indices: vec![i], check: Check::Certified };
                let bottom = self.let_exp("bottom", Type::I64, exp, loc);
                tops.push(bottom);
                (top.map_or(undo.top, Atom::from), bottom)
            }
        };
        if let Marks::Every(every) = undo.marks {
            return self.undo(state.array, &undo.entries, top, bottom, every, loc);
        }
        let turns = self.i64_op(BinOp::Sub, top, bottom, loc);
        self.undo(state.array, &undo.entries, top, bottom, turns, loc)
    }

    /// A loop whose results have no cotangents only goes back.
    pub fn undo_loop(&mut self, job: &SavedLoop, loc: Loc) -> Res<()> {
        for restored in &job.restored {
            if let (Some(undo), Some(root)) = (&restored.undo, self.restored.root(restored.result)) {
                self.undo_all(root, &undo.entries, undo.top, loc)?;
            }
        }
        Ok(())
    }

    /// The names of this time in a loop.
    pub fn loop_at_present(&mut self, job: &SavedLoop, map: &HashMap<VarId, Atom>) -> SavedLoop {
        let rename = |atom: &Atom| atom.as_var().and_then(|v| map.get(&v).copied()).unwrap_or(*atom);
        let params = job.params.iter().map(|(p, init)| (p.clone(), rename(init))).collect();
        let body = Renamer::new(self, map.clone()).body(&job.body);
        SavedLoop { params, body, ..job.clone() }
    }
}

/// A restored array in the loop of the return sweep.
struct State {
    array: VarId,
    /// The height of its log, where it varies.
    top: Option<VarId>,
}
