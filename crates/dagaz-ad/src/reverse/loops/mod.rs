//! Reverse mode of loops (thesis, sections 3.3.2 and 3.5.2): the forward sweep saves what each iteration starts with,
//! and the return sweep visits the iterations from the last to the first.
//!
//!     loop (y = y0) for i < n do f(y)     ==>     loop (y = y0, ys = scratch) for i < n do (f(y), ys with [i] = y)
//!                                                 loop (y_adj = ct) for j < n do
//!                                                   adjoint of f at ys[n - 1 - j]
//!
//! An array that the loop updates in place is not saved: the loop logs what it overwrites ([`log`]), and the return
//! sweep takes the array back, iteration by iteration ([`restored`]). Beside what iterations start with, it saves what would
//! take long to compute again ([`costly`]), and what loops inside save ([`taped`]); a loop that only chooses among its numbers
//! saves what it has chosen ([`choices`]). What is saved and never read is removed at the
//! end (see [`crate::prune`]). A `while` loop is first run to count its iterations, unless the user has said how many
//! there are at most; a loop that is to be split was split before ([`stripmine`]).

mod choices;
mod costly;
mod flow;
mod log;
mod recipe;
mod resized;
mod restored;
mod save;
mod saved_results;
mod stripmine;
mod taped;

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_body;

use crate::context::{Ad, Adj, Res, not_yet};
use crate::rename::Renamer;

use super::Saved;
use resized::with_sizes;
use save::Saving;
use taped::{TapedLoop, names_in};

pub(crate) use costly::size_operation;
pub(crate) use flow::Site;
pub(crate) use log::Entries;
pub(crate) use restored::{Restored, SweepFlow, read_again, reads_again};
pub(crate) use taped::SkippableLoop;

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
    saved: HashMap<VarId, SavedValue>,
    /// The parameters that are restored instead.
    restored: Vec<RestoredParam>,
    /// Results of the body that it goes on to use, and what the next iteration started with: the same values.
    known: HashMap<VarId, VarId>,
    /// Values that are kept of every iteration, and the arrays of them.
    kept: Vec<(VarId, VarId)>,
    /// Loops of the body that have run with tapes.
    taped: Vec<TapedLoop>,
}

/// The values of a parameter.
#[derive(Clone, Copy)]
enum SavedValue {
    /// An array with a row for each iteration.
    Rows(VarId),
    /// Arrays of different sizes one after the other, and where they begin.
    Packed { elements: VarId, offsets: VarId },
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
    marks: Marks,
}

/// Where the entries of an iteration begin.
#[derive(Clone, Copy)]
enum Marks {
    /// Every iteration has as many.
    Every(Atom),
    /// An array has the places, and the log this height in the end.
    Saved { marks: VarId, top: Atom },
}

impl Ad<'_> {
    pub fn save_loop(
        &mut self,
        stm: &Stm,
        params: &[(Param, Atom)],
        form: &LoopForm,
        body: &Body,
        hints: LoopHints,
    ) -> Res<Saved> {
        let loc = stm.loc;
        if self.loop_has_other_accs(params) {
            return Err(not_yet(loc, "the reverse derivative of an accumulator"));
        }
        let (counter, ty, bound) = match form {
            LoopForm::For { var, ty, bound } => (*var, *ty, *bound),
            LoopForm::While { cond } => match hints.bound {
                Some(bound) if params.iter().all(|(p, _)| !p.ty.is_acc()) => {
                    return self.save_bounded(stm, params, cond, body, bound);
                }
                _ => {
                    let n = self.count_iterations(params, cond, body, loc)?;
                    let counter = self.b.fresh("i");
                    self.b.types.insert(counter, Type::I64);
                    (counter, PrimType::I64, n)
                }
            },
        };
        let n = self.b.convert(ty, PrimType::I64, bound, loc);
        let n = self.i64_op(BinOp::Max, n, Atom::i64(0), loc);
        let chosen = self.with_choices(params, body)?;
        let body = chosen.as_ref().map_or(body, |chosen| &chosen.run);
        let mut job = SavedLoop {
            params: params.to_vec(),
            counter: (counter, ty),
            n,
            body: chosen.as_ref().map_or(body, |chosen| &chosen.again).clone(),
            saved: HashMap::new(),
            restored: Vec::new(),
            known: HashMap::new(),
            kept: Vec::new(),
            taped: Vec::new(),
        };
        let form = LoopForm::For { var: counter, ty, bound };
        let params = params.to_vec();
        let plain = Exp::Loop { params, form: form.clone(), body: body.clone(), hints: LoopHints::NONE };
        let plain = self.without_accs(&Stm { pat: stm.pat.clone(), exp: plain, loc });
        if let Some(Stm { pat, exp: Exp::Loop { params, body: run, .. }, .. }) = plain {
            let mut saving = Saving::new(pat, params);
            saving.codes = chosen.map_or(Vec::new(), |chosen| chosen.codes);
            self.saving_loop(saving, form, &run, n, &mut job, loc)?;
        }
        // Otherwise it does nothing but accumulate, and needs nothing for that but its counter.
        Ok(Saved::Loop(Box::new(job)))
    }

    /// A `while` loop that runs at most `bound` times counts while it runs.
    fn save_bounded(
        &mut self,
        stm: &Stm,
        params: &[(Param, Atom)],
        cond: &Body,
        body: &Body,
        bound: i64,
    ) -> Res<Saved> {
        let loc = stm.loc;
        let room = Atom::i64(bound.max(0));
        let (counter, n) = (self.param("i", Type::I64), self.param("n", Type::I64));
        let mut job = SavedLoop {
            params: params.to_vec(),
            counter: (counter.var, PrimType::I64),
            n: n.var.into(),
            body: body.clone(),
            saved: HashMap::new(),
            restored: Vec::new(),
            known: HashMap::new(),
            kept: Vec::new(),
            taped: Vec::new(),
        };
        let run = self.body(|ad| {
            body.stms.iter().for_each(|s| ad.push(s.clone()));
            let next = ad.i64_op(BinOp::Add, counter.var.into(), Atom::i64(1), loc);
            Ok([body.result.clone(), vec![next]].concat())
        })?;
        let pat = [stm.pat.clone(), vec![n]].concat();
        let params = [params.to_vec(), vec![(counter, Atom::i64(0))]].concat();
        let form = LoopForm::While { cond: cond.clone() };
        let mut saving = Saving::new(pat, params);
        saving.limit = Some(bound.max(0));
        self.saving_loop(saving, form, &run, room, &mut job, loc)?;
        Ok(Saved::Loop(Box::new(job)))
    }

    fn has_adjoint(&self, param: &Param) -> bool {
        self.is_active_var(param.var) && !param.ty.is_acc()
    }

    /// Runs a `while` loop only to count. Accumulators have no say in that.
    pub fn count_iterations(
        &mut self,
        params: &[(Param, Atom)],
        cond: &Body,
        body: &Body,
        loc: Loc,
    ) -> Res<Atom> {
        let form = LoopForm::While { cond: cond.clone() };
        let (mut params, mut body) = (params.to_vec(), body.clone());
        let results: Vec<Param> = params.iter().map(|(param, _)| param.clone()).collect();
        self.strip_loop(&mut params, &mut body, &results);
        let exp = Exp::Loop { params, form, body, hints: LoopHints::NONE };
        let copy = Renamer::before(self, HashMap::new()).exp(&exp);
        let Exp::Loop { mut params, form, mut body, .. } = copy else {
            return Err(not_yet(loc, "this loop"));
        };
        let count = self.param("count", Type::I64);
        let (more, next) = self.scope(|ad| Ok(ad.i64_op(BinOp::Add, count.var.into(), Atom::i64(1), loc)))?;
        body.stms.extend(more);
        body.result.push(next);
        params.push((count, Atom::i64(0)));
        let results = self.let_loop(params, form, body, loc);
        self.sweep.recomputed.extend(results.iter().copied());
        Ok(results.last().map_or(Atom::i64(0), |v| (*v).into()))
    }

    pub fn rev_loop(&mut self, stm: &Stm, job: &SavedLoop, cts: &[Option<Atom>]) -> Res<()> {
        let loc = stm.loc;
        let own: Vec<VarId> = job.params.iter().map(|(p, _)| p.var).collect();
        let free = free_vars_body(&job.body).into_iter().filter(|v| !own.contains(v));
        let free = self.active_among(free);
        let mut params = Vec::new();
        let sizes = self.size_params(stm, job, &mut params);
        let mut inner_cts = Vec::new();
        for (k, ((param, _), ct)) in job.params.iter().zip(cts).enumerate() {
            inner_cts.push(if self.has_adjoint(param) {
                let init = self.or_zero(*ct, &stm.pat[k].ty, loc);
                let hint = self.hint(param.var, "_adj");
                let adjoint = self.param(&hint, with_sizes(&param.ty, &sizes));
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
        let outer = std::mem::replace(&mut self.sweep.adj, slots);
        let known = self.sweep.restored.clone();
        let counter = self.b.fresh("j");
        self.b.types.insert(counter, Type::I64);
        let body = self.body(|ad| ad.rev_iteration(job, counter, &inner_cts, &free, &states, loc))?;
        self.sweep.adj = outer;
        self.sweep.restored = known;
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: job.n };
        let vars = self.let_loop(params, form, body, loc);
        let undone = job.restored.iter().filter(|restored| restored.undo.is_some());
        for (restored, var) in undone.zip(&vars[adjoints..]) {
            if let Some(root) = self.sweep.restored.root(restored.result) {
                self.sweep.restored.hold(root, *var);
            }
        }
        let active = job.params.iter().filter(|(p, _)| self.has_adjoint(p));
        let active: Vec<Atom> = active.map(|(_, init)| *init).collect();
        let vars = &vars[sizes.len()..];
        for (var, adjoint) in free.iter().zip(&vars[active.len()..]) {
            self.move_adj(*var, *adjoint);
        }
        for (init, adjoint) in active.iter().zip(vars) {
            let adjoint = self.shaped_as((*adjoint).into(), *init, loc);
            self.add_to(*init, Some(adjoint), loc);
        }
        Ok(())
    }

    /// The loop of the return sweep carries the restored arrays, and how far their logs are undone.
    fn state_params(&mut self, job: &SavedLoop, params: &mut Vec<(Param, Atom)>) -> Vec<State> {
        let mut states = Vec::new();
        let mut tops = Vec::new();
        for restored in &job.restored {
            let root = self.sweep.restored.root(restored.result);
            let init = root.and_then(|r| self.sweep.restored.now(r)).unwrap_or(restored.result);
            let Some(undo) = &restored.undo else {
                states.push(State { array: init, top: None });
                continue;
            };
            let hint = self.b.vars.hint(restored.var).to_owned();
            let array = self.param(&hint, self.ty_var(restored.var));
            let top = match undo.marks {
                Marks::Saved { top, .. } => {
                    let param = self.param("top", Type::I64);
                    tops.push((param.clone(), top));
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
            self.sweep.restored.hold(array, array);
            if restored.undo.is_some() {
                roots.push(array);
            }
        }
        let mut values = Vec::new();
        for (param, _) in &job.params {
            if let Some(saved) = job.saved.get(&param.var) {
                let value = self.saved_value(*saved, param, i, &map, loc);
                map.insert(param.var, value.into());
            }
            if self.has_adjoint(param) {
                // A parameter that the body does not read is not restored: its adjoint is zero.
                let value = map.get(&param.var).and_then(|a| a.as_var()).unwrap_or(param.var);
                self.forward.active.insert(value);
                values.push(value);
            }
        }
        let mut results: Vec<Atom> =
            job.sizes().iter().filter_map(|(_, var)| map.get(var)).copied().collect();
        let mut renamer = Renamer::again(self, map);
        let mut copy = renamer.body(&job.body);
        let names = names_in(&renamer, job);
        let kept = job.kept.iter().filter_map(|(var, saved)| names.get(var).map(|name| (*name, *saved)));
        let kept: Vec<(VarId, VarId)> = kept.collect();
        self.use_kept_values(&kept, &mut copy, i, loc);
        self.use_known_results(job, &mut copy, i, loc);
        self.note_skippable_loops(job, &copy, &names, states, i, loc);
        self.sweep(&copy, cts, loc)?;
        results.extend(values.iter().chain(free).map(|v| self.adjoint(*v, loc)));
        results.extend(roots.iter().filter_map(|root| self.sweep.restored.now(*root)).map(Atom::from));
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
            (Marks::Saved { marks, top: end }, top) => {
                let exp = Exp::Index { array: marks, indices: vec![i], check: Check::Certified };
                let bottom = self.let_exp("bottom", Type::I64, exp, loc);
                tops.push(bottom);
                (top.map_or(end, Atom::from), bottom)
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
            if let (Some(undo), Some(root)) = (&restored.undo, self.sweep.restored.root(restored.result)) {
                let top = match undo.marks {
                    Marks::Every(every) => self.i64_op(BinOp::Mul, job.n, every, loc),
                    Marks::Saved { top, .. } => top,
                };
                self.undo_all(root, &undo.entries, top, loc)?;
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
