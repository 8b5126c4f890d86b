//! The loop of the forward sweep: the original with arrays that it saves values in, and logs of what it overwrites.
//!
//!     loop (s = 0, a = a0) for i < n do              loop (s = 0, a = a0, ss = scratch, vs = scratch) for i < n do
//!       let (s') = s * a[i]                   ==>      let (ss') = ss with [i] = s
//!       let (a') = a with [i] = s                      let (s') = s * a[i]
//!       in (s', a')                                    let (vs') = vs with [i] = a[i]
//!                                                      let (a') = a with [i] = s
//!                                                      in (s', a', ss', vs')

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, LoopHints, MsgPart, Stm};
use dagaz_core::prim::{BinOp, CmpOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bound, free_vars_body};

use crate::context::{Ad, Res, not_yet};
use crate::rename::Renamer;

use super::flow::Flow;
use super::log::{Log, Logs, common_form, count};
use super::recipe::recipe;
use super::resized::is_resized;
use super::taped::Around;
use super::{Marks, RestoredParam, SavedLoop, SavedValue, Undo};

/// The loop while it is built.
pub(super) struct Saving {
    pat: Vec<Param>,
    params: Vec<(Param, Atom)>,
    /// Values to be saved, and the arrays for them, inside.
    saves: Vec<(VarId, VarId)>,
    /// The same for values that the body computes.
    kept: Vec<(VarId, VarId)>,
    logs: Vec<SavingLog>,
    /// Arrays to be packed, with the elements so far and their number, inside.
    pub packed: Vec<(VarId, VarId, VarId)>,
    /// Codes that the body computes of its choices.
    pub codes: Vec<VarId>,
    /// The user says that there are no more iterations than this.
    pub limit: Option<i64>,
}

/// The log of an array, inside and outside of the loop.
struct SavingLog {
    root: VarId,
    /// What the loop makes of the array.
    result: VarId,
    inside: Log,
    outside: Log,
    marks: Marks,
}

impl Saving {
    pub fn new(pat: Vec<Param>, params: Vec<(Param, Atom)>) -> Saving {
        Saving {
            pat,
            params,
            saves: Vec::new(),
            kept: Vec::new(),
            logs: Vec::new(),
            packed: Vec::new(),
            codes: Vec::new(),
            limit: None,
        }
    }

    /// The parameters of the original.
    pub fn own_params(&self, run: &Body) -> Vec<(Param, Atom)> {
        self.params[..run.result.len()].to_vec()
    }

    /// Another parameter: its names inside and outside.
    pub fn carry(&mut self, ad: &mut Ad<'_>, init: Atom) -> (VarId, VarId) {
        let (inside, outside) = (ad.like(init), ad.like(init));
        let vars = (inside.var, outside.var);
        self.params.push((inside, init));
        self.pat.push(outside);
        vars
    }
}

impl Ad<'_> {
    pub(super) fn saving_loop(
        &mut self,
        mut saving: Saving,
        form: LoopForm,
        run: &Body,
        room: Atom,
        job: &mut SavedLoop,
        loc: Loc,
    ) -> Res<()> {
        let own = saving.params.clone();
        let mut inside: HashSet<VarId> = own.iter().map(|(p, _)| p.var).collect();
        inside.insert(job.counter.0);
        inside.extend(bound(&run.stms));
        let read: HashSet<VarId> = free_vars_body(&job.body).into_iter().collect();
        let extents = self.saved_extents(&own, run, &read, &inside);
        let mut run = run.clone();
        let around = Around { params: &own, inside: &inside, extents: &extents };
        job.taped = self.tape_loops(&mut run, &around)?;
        let run = &run;
        inside.extend(bound(&run.stms));
        let mut flow = Flow::default();
        let arrays = saving.params.iter().filter(|(p, _)| p.ty.is_array());
        arrays.for_each(|(p, _)| flow.enter(p.var, p.var, false));
        let results = flow.body(run);
        let mut known_results = Vec::new();
        for (k, (param, _)) in own.iter().enumerate() {
            let (var, result) = (param.var, saving.pat[k].var);
            let resized = is_resized(param, &own);
            let in_place = results[k] == Some(var) && !flow.is_broken(var) && !resized;
            match flow.sites.get(&var).filter(|sites| !sites.is_empty()) {
                None if in_place => {
                    job.restored.push(RestoredParam { var, result, undo: None });
                    continue;
                }
                Some(sites) if in_place => {
                    if let Some(parts) = common_form(sites, &inside) {
                        let every = count(run, var, &flow, &inside);
                        let every = every.map(|c| (self.emit_count(&c, loc), c.is_exact()));
                        let entries = match every {
                            Some((every, _)) => self.i64_op(BinOp::Mul, room, every, loc),
                            None => self.count_entries(&own, &form, run, var, &flow, loc)?,
                        };
                        let every = every.filter(|(_, exact)| *exact).map(|(every, _)| every);
                        let once = every == Some(Atom::i64(1)) && sites.len() == 1;
                        let find = |atom| recipe(atom, run, job.counter, &inside).filter(|_| once);
                        let recipes = parts.indices().into_iter().map(find).collect();
                        let log = self.new_log(&param.ty, &parts, recipes, entries, loc);
                        self.carry_log(&mut saving, (var, result), &log, every, room, loc);
                        continue;
                    }
                }
                Some(_) | None => {}
            }
            if resized && param.ty.is_array() {
                let saved = self.pack_value(&mut saving, &form, run, var, room, loc)?;
                job.saved.insert(var, saved);
            } else if resized || read.contains(&var) {
                let known = self.used_result(run, run.result[k]).filter(|_| !resized);
                let rows = match known {
                    Some(_) => self.i64_op(BinOp::Add, room, Atom::i64(1), loc),
                    None => room,
                };
                let saved = self.save_value(&mut saving, var, rows, loc);
                job.saved.insert(var, SavedValue::Rows(saved));
                known_results.extend(known.map(|known| (known, var, saved, result)));
            }
        }
        let costly = self.costly_values(&own, run, &extents).into_iter();
        for value in costly.chain(saving.codes.clone()).collect::<Vec<_>>() {
            let saved = self.keep_value(&mut saving, value, room, &inside, loc);
            job.kept.push((value, saved));
        }
        for (tape, saved) in job.taped.iter_mut().flat_map(|taped| &mut taped.tapes) {
            *saved = self.keep_value(&mut saving, *tape, room, &inside, loc);
        }
        let body = self.saving_body(&saving, run, &flow, job.counter, loc)?;
        self.end_saving(saving, form, body, known_results, job, loc);
        Ok(())
    }

    /// The loop itself, and what is known after it; a known result has a parameter, the array for its values, and the
    /// result of the loop.
    fn end_saving(
        &mut self,
        saving: Saving,
        form: LoopForm,
        body: Body,
        known_results: Vec<(VarId, VarId, VarId, VarId)>,
        job: &mut SavedLoop,
        loc: Loc,
    ) {
        for log in &saving.logs {
            let Some(entries) = log.outside.entries.clone() else { continue };
            let undo = Some(Undo { entries, marks: log.marks });
            job.restored.push(RestoredParam { var: log.root, result: log.result, undo });
        }
        let Saving { pat, params, .. } = saving;
        self.push(Stm { pat, exp: Exp::Loop { params, form, body, hints: LoopHints::NONE }, loc });
        for (known, param, saved, result) in known_results {
            let saved = self.save_result(saved, job.n, result, loc);
            job.saved.insert(param, SavedValue::Rows(saved));
            job.known.insert(known, saved);
        }
    }

    /// An array of a value for each iteration; its name outside.
    pub(super) fn save_value(&mut self, saving: &mut Saving, value: VarId, n: Atom, loc: Loc) -> VarId {
        let init = self.new_rows(&self.ty_var(value), n, loc);
        let (inside, outside) = saving.carry(self, init);
        saving.saves.push((value, inside));
        outside
    }

    /// The same for a value that the body computes; `inside` is all that the loop binds.
    fn keep_value(
        &mut self,
        saving: &mut Saving,
        value: VarId,
        n: Atom,
        inside: &HashSet<VarId>,
        loc: Loc,
    ) -> VarId {
        let ty = self.ty_var(value).map_dims(&mut |size| self.size_before(size, inside, loc));
        let init = self.new_rows(&ty, n, loc);
        let (within, outside) = saving.carry(self, init);
        saving.kept.push((value, within));
        outside
    }

    /// An array for `n` values of a type.
    fn new_rows(&mut self, row: &Type, n: Atom, loc: Loc) -> Atom {
        let ty = row.with_outer(&[n]);
        let exp = Exp::Scratch { elem: ty.elem().unwrap_or(PrimType::F64), dims: ty.dims().to_vec() };
        self.let_exp("saved", ty, exp, loc)
    }

    fn carry_log(
        &mut self,
        saving: &mut Saving,
        (root, result): (VarId, VarId),
        log: &Log,
        every: Option<Atom>,
        n: Atom,
        loc: Loc,
    ) {
        let atoms = log.atoms();
        // The height of the log is only a parameter where it cannot be computed.
        let first = usize::from(every.is_some());
        let carried: Vec<(VarId, VarId)> = atoms[first..].iter().map(|a| saving.carry(self, *a)).collect();
        let (inside, outside): (Vec<VarId>, Vec<VarId>) = carried.into_iter().unzip();
        let (inside, outside, marks) = match every {
            Some(every) => {
                (log.entries_moved_to(&inside), log.entries_moved_to(&outside), Marks::Every(every))
            }
            None => {
                let marks = self.save_value(saving, inside[0], n, loc);
                let top = outside[0].into();
                (log.moved_to(&inside), log.moved_to(&outside), Marks::Saved { marks, top })
            }
        };
        saving.logs.push(SavingLog { root, result, inside, outside, marks });
    }

    fn saving_body(
        &mut self,
        saving: &Saving,
        run: &Body,
        flow: &Flow,
        counter: (VarId, PrimType),
        loc: Loc,
    ) -> Res<Body> {
        self.body(|ad| {
            let i = ad.b.convert(counter.1, PrimType::I64, counter.0.into(), loc);
            if let Some(limit) = saving.limit {
                let cond = ad.b.cmp(CmpOp::Lt, PrimType::I64, i, Atom::i64(limit), loc);
                let text = format!("a loop runs more often than its attribute says, which is {limit}");
                let message = vec![MsgPart::Text(text)];
                ad.push(Stm { pat: Vec::new(), exp: Exp::Assert { cond, message }, loc });
            }
            let mut after: HashMap<VarId, Atom> = HashMap::new();
            ad.save_rows(&saving.saves, i, &mut after, loc);
            for (value, elements, offset) in &saving.packed {
                let [more, end] = ad.packed(*value, *elements, *offset, loc);
                after.extend([(*elements, more), (*offset, end)]);
            }
            let mut logs = Logs::default();
            for log in &saving.logs {
                let mut inside = log.inside.clone();
                if let Marks::Every(every) = log.marks {
                    inside.top = ad.i64_op(BinOp::Mul, i, every, loc);
                }
                logs.add(log.root, inside);
            }
            let mut results = ad.logged(run, flow, &mut logs)?;
            ad.save_rows(&saving.kept, i, &mut after, loc);
            for (log, new) in saving.logs.iter().zip(&logs.all) {
                let pairs = log.inside.atoms().into_iter().zip(new.atoms());
                after.extend(pairs.filter_map(|(old, new)| Some((old.as_var()?, new))));
            }
            let own = results.len();
            results.extend(saving.params[own..].iter().filter_map(|(p, _)| after.get(&p.var)));
            Ok(results)
        })
    }

    /// Writes values into the rows `i` of arrays.
    fn save_rows(&mut self, saves: &[(VarId, VarId)], i: Atom, after: &mut HashMap<VarId, Atom>, loc: Loc) {
        for (value, array) in saves {
            let (dims, ty) = (vec![DimSlice::Fix(i)], self.ty_var(*array));
            let value = match ty.row() {
                Some(row) => self.with_type((*value).into(), row, loc),
                None => (*value).into(),
            };
            let exp = Exp::Update { array: *array, dims, value, check: Check::Certified };
            after.insert(*array, self.let_exp("saved", ty, exp, loc));
        }
    }

    /// Runs a loop only to count the entries of the log of an array.
    fn count_entries(
        &mut self,
        params: &[(Param, Atom)],
        form: &LoopForm,
        run: &Body,
        root: VarId,
        flow: &Flow,
        loc: Loc,
    ) -> Res<Atom> {
        self.inspect(params, form, loc, |ad, top| {
            let mut logs = Logs::default();
            logs.add(root, Log { top, entries: None });
            let mut results = ad.logged(run, flow, &mut logs)?;
            results.push(logs.all[0].top);
            Ok(results)
        })
    }

    /// Runs a loop before the loop proper, to count something; `build` makes its body, given the number so far, which
    /// is the last of its results.
    pub(super) fn inspect(
        &mut self,
        params: &[(Param, Atom)],
        form: &LoopForm,
        loc: Loc,
        build: impl FnOnce(&mut Self, Atom) -> Res<Vec<Atom>>,
    ) -> Res<Atom> {
        let top = self.param("count", Type::I64);
        let body = self.body(|ad| build(ad, top.var.into()))?;
        let params = [params.to_vec(), vec![(top, Atom::i64(0))]].concat();
        let exp = Exp::Loop { params, form: form.clone(), body, hints: LoopHints::NONE };
        let Exp::Loop { params, form, body, .. } = Renamer::before(self, HashMap::new()).exp(&exp) else {
            return Err(not_yet(loc, "this loop"));
        };
        let vars = self.let_loop(params, form, body, loc);
        self.sweep.recomputed.extend(vars.iter().copied());
        Ok(vars.last().map_or(Atom::i64(0), |var| (*var).into()))
    }
}
