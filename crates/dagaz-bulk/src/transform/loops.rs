//! Branches and loops for all iterations of a map at once.
//!
//! A condition that is the same in all iterations stays a branch. Otherwise both branches run, and what they give is selected;
//! what they add to shared accumulators and where they fail is masked.
//!
//! ```text
//! if c then x else y               ==>   select cs xs ys
//! loop (x = x0) for i < n do …     ==>   loop (xs = xs0) for i < max ns do … select (i < ns) … xs
//! loop (x = x0) while c do …       ==>   loop (xs = xs0, go = cs) while any go do … select go … xs
//! ```

use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Body, LoopForm, Op, Span, Stm};
use crate::visit::can_stop;

use super::failures::Failure;
use super::lanes::Lanes;
use super::{Transform, Transformed};

/// What a loop carries: variables with their initial values.
type Carried = Vec<(Param, Atom)>;

impl Transform<'_> {
    fn pat_differs(&self, lanes: &Lanes, pat: &[Param]) -> Vec<bool> {
        pat.iter().map(|p| lanes.differs.contains(&p.var)).collect()
    }

    /// One branch is taken by all iterations.
    pub(super) fn lane_if(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        cond: Atom,
        then: &Body,
        otherwise: &Body,
    ) -> Transformed<()> {
        let differ = self.pat_differs(lanes, &stm.pat);
        let (mask, before) = (lanes.mask, lanes.failures.len());
        let mut branches = Vec::new();
        let mut failures = Vec::new();
        for body in [then, otherwise] {
            let current = lanes.current.clone();
            self.b.open();
            let result = self.lane_results(lanes, body, &differ);
            self.lift_messages(lanes, before);
            branches.push(Body { stms: self.b.close(), result: result? });
            failures.push(lanes.failures.split_off(before));
            lanes.mask = mask;
            lanes.current = current;
        }
        self.b.loc = stm.loc;
        for (branch, body) in branches.iter_mut().enumerate() {
            self.b.reopen(std::mem::take(&mut body.stms));
            for (from, failures) in failures.iter().enumerate() {
                for failure in failures {
                    let parts = match from == branch {
                        true => Self::failure_parts(failure),
                        false => self.no_failure(lanes, failure),
                    };
                    body.result.extend(parts);
                }
            }
            body.stms = self.b.close();
        }
        let mut pat = self.lane_pat(lanes, &stm.pat, &differ)?;
        self.export(lanes, failures.into_iter().flatten().collect(), &mut pat);
        let mut branches = branches.into_iter();
        let (then, otherwise) = (branches.next().unwrap_or_default(), branches.next().unwrap_or_default());
        self.b.push(pat, Op::If { cond, then, otherwise });
        self.without_failed(lanes, before);
        Ok(())
    }

    /// Adds variables for failures inside of a body to the pattern of the statement around it.
    fn export(&mut self, lanes: &mut Lanes, failures: Vec<Failure>, pat: &mut Vec<Param>) {
        for failure in failures {
            let types = self.failure_types(lanes, &failure);
            let vars: Vec<Param> = types.into_iter().map(|ty| self.b.param("fail", ty)).collect();
            lanes.failures.extend(Self::renamed(&failure, &vars));
            pat.extend(vars);
        }
    }

    /// Iterations take different branches.
    pub(super) fn lane_select(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        cond: Atom,
        then: &Body,
        otherwise: &Body,
    ) -> Transformed<()> {
        let cond = self.lifted(lanes, cond);
        let (mask, before) = (lanes.mask, lanes.failures.len());
        let shared: Vec<bool> = stm.pat.iter().map(|p| self.shared.contains_key(&p.var)).collect();
        let differ: Vec<bool> = shared.iter().map(|shared| !shared).collect();
        lanes.mask = Some(self.masked(lanes, cond));
        let yes = self.lane_results(lanes, then, &differ)?;
        self.b.loc = stm.loc;
        lanes.mask = mask;
        let other = self.b.not(cond.into());
        let other = self.b.as_var(other);
        lanes.mask = Some(self.masked(lanes, other));
        let no = self.lane_results(lanes, otherwise, &differ)?;
        self.b.loc = stm.loc;
        lanes.mask = mask;
        self.without_failed(lanes, before);
        for (i, param) in stm.pat.iter().enumerate() {
            // An accumulator has gone through both branches.
            if shared[i] {
                continue;
            }
            let ty = self.lane_type(lanes, &param.ty)?.with_outer(&[lanes.width]);
            let (yes, no) = (self.fitted(yes[i], &ty), self.fitted(no[i], &ty));
            let value = self.select_lanes(&ty, cond, yes, no);
            lanes.names.insert(param.var, (value, true));
            self.note_size(lanes, param.var);
        }
        for (i, param) in stm.pat.iter().enumerate().filter(|(i, _)| shared[*i]) {
            // Both branches have gone on from the same accumulator, which is known by its own name from now on.
            let key = self.shared[&param.var];
            let last = lanes.current.get(&key).copied().or_else(|| no.get(i).and_then(|a| a.as_var()));
            lanes.current.extend(last.map(|last| (key, last)));
        }
        Ok(())
    }

    /// The initial values and the variables of a loop.
    fn lane_params(
        &mut self,
        lanes: &mut Lanes,
        params: &[(Param, Atom)],
    ) -> Transformed<(Vec<bool>, Carried)> {
        let old: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let differ = self.pat_differs(lanes, &old);
        let mut inits = Vec::new();
        for ((_, init), differs) in params.iter().zip(&differ) {
            inits.push(if *differs { self.lifted(lanes, *init).into() } else { self.now(lanes, *init).0 });
        }
        let new = self.lane_pat(lanes, &old, &differ)?;
        Ok((differ, new.into_iter().zip(inits).collect()))
    }

    /// Loops carry what is known of failures inside of them: an iteration of the map that has failed does not fail again.
    fn carry_failures(
        &mut self,
        lanes: &mut Lanes,
        before: usize,
        results: &mut Vec<Atom>,
    ) -> Vec<(Failure, Vec<Param>)> {
        self.lift_messages(lanes, before);
        let mut carried = Vec::new();
        for failure in lanes.failures.split_off(before) {
            let types = self.failure_types(lanes, &failure);
            let params: Vec<Param> = types.into_iter().map(|ty| self.b.param("fail", ty)).collect();
            let Some((failed, values)) = params.split_first() else { continue };
            let any = self.b.binop(BinOp::Or, PrimType::Bool, failed.var.into(), failure.failed.into());
            results.push(any);
            for (old, new) in values.iter().zip(&failure.values) {
                results.push(self.select_lanes(&old.ty, failure.failed, *new, old.var.into()));
            }
            carried.push((failure, params));
        }
        carried
    }

    /// The loop with all that it carries, and its results.
    fn finish_loop(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        mut params: Vec<(Param, Atom)>,
        carried: Vec<(Failure, Vec<Param>)>,
        (form, body): (LoopForm, Body),
    ) -> Transformed<()> {
        let Op::Loop { hints, .. } = &stm.op else { return Ok(()) };
        let before = lanes.failures.len();
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let differ = self.pat_differs(lanes, &stm.pat);
        let mut pat = self.lane_pat(lanes, &stm.pat, &differ)?;
        // What the loop carries besides, as its mask, is of no use behind it.
        pat.extend(own[stm.pat.len()..].iter().map(|p| self.b.param("mask", p.ty.clone())));
        let mut failures = Vec::new();
        for (failure, vars) in carried {
            let none = self.no_failure(lanes, &failure);
            params.extend(vars.into_iter().zip(none));
            failures.push(failure);
        }
        self.export(lanes, failures, &mut pat);
        self.b.push(pat, Op::Loop { params, form, body, hints: *hints });
        self.without_failed(lanes, before);
        Ok(())
    }

    pub(super) fn lane_for(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<()> {
        let Op::Loop { params, form: LoopForm::For { var, ty, bound }, body, .. } = &stm.op else {
            return Ok(());
        };
        let (mask, before) = (lanes.mask, lanes.failures.len());
        let (own_bound, bounds) = self.lane_bound(lanes, *bound, *ty);
        let (differ, mut new) = self.lane_params(lanes, params)?;
        if can_stop(body) {
            let init = mask.unwrap_or_else(|| self.all_true(lanes));
            let alive = self.b.param("alive", Self::lane_scalar(lanes, PrimType::Bool));
            lanes.mask = Some(alive.var);
            new.push((alive, init.into()));
        }
        let index = self.b.param_like(*var, (*ty).into());
        lanes.names.insert(*var, (index.var.into(), false));
        self.b.open();
        let alive = lanes.mask;
        let active = bounds.map(|bounds| {
            let wide = self.b.replicate(&[lanes.width], index.var.into());
            let active = self.b.cmp(CmpOp::Lt, *ty, wide.into(), bounds.into());
            self.b.as_var(active)
        });
        if let Some(active) = active {
            lanes.mask = Some(self.masked(lanes, active));
        }
        let mut results = self.lane_results(lanes, body, &differ)?;
        self.b.loc = stm.loc;
        if let Some(active) = active {
            self.keep_where_left(active, &new, &differ, &mut results);
        }
        if can_stop(body) {
            lanes.mask = alive;
            self.without_failed(lanes, before);
            results.extend(lanes.mask.map(Atom::Var));
        }
        let carried = self.carry_failures(lanes, before, &mut results);
        let body = Body { stms: self.b.close(), result: results };
        lanes.mask = mask;
        let form = LoopForm::For { var: index.var, ty: *ty, bound: own_bound };
        self.finish_loop(lanes, stm, new, carried, (form, body))
    }

    /// How often a loop runs, and, if that differs, how often it does for each iteration of the map.
    fn lane_bound(&mut self, lanes: &mut Lanes, bound: Atom, ty: PrimType) -> (Atom, Option<VarId>) {
        let (now, differs) = self.now(lanes, bound);
        if !differs {
            return (now, None);
        }
        let mut bounds = self.lifted(lanes, bound);
        if let Some(mask) = lanes.mask {
            let zero = Atom::Const(Prim::zero(ty));
            let lane = Self::lane_scalar(lanes, ty);
            let masked = self.select_lanes(&lane, mask, bounds.into(), zero);
            bounds = self.b.as_var(masked);
        }
        (self.b.fold(BinOp::Max, ty, 0, bounds), Some(bounds))
    }

    /// Iterations of the map that have left the loop keep what they have.
    fn keep_where_left(
        &mut self,
        active: VarId,
        params: &[(Param, Atom)],
        differ: &[bool],
        results: &mut [Atom],
    ) {
        for ((param, _), (differs, result)) in params.iter().zip(differ.iter().zip(results)) {
            if *differs {
                *result = self.select_lanes(&param.ty, active, *result, param.var.into());
            }
        }
    }

    pub(super) fn lane_while(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<()> {
        let Op::Loop { params, form: LoopForm::While { cond }, body, .. } = &stm.op else { return Ok(()) };
        let start = lanes.failures.len();
        let mask = lanes.mask;
        let (differ, mut new) = self.lane_params(lanes, params)?;
        let inits: Vec<Atom> = new.iter().map(|(_, init)| *init).collect();
        let go = self.lane_cond(lanes, params, &differ, &inits, cond)?;
        self.b.loc = stm.loc;
        // The initial condition may have failed already.
        lanes.mask = mask;
        self.without_failed(lanes, start);
        let (outer, before) = (lanes.mask, lanes.failures.len());
        let going = self.b.param("go", Self::lane_scalar(lanes, PrimType::Bool));
        for ((old, _), ((param, _), differs)) in params.iter().zip(new.iter().zip(&differ)) {
            self.rebind(lanes, old.var, param.var.into(), *differs);
        }
        let any = self.b.body(|b| vec![b.fold(BinOp::Or, PrimType::Bool, 0, going.var)]);
        self.b.open();
        lanes.mask = Some(going.var);
        let mut results = self.lane_results(lanes, body, &differ)?;
        self.b.loc = stm.loc;
        self.keep_where_left(going.var, &new, &differ, &mut results);
        let still = self.lane_cond(lanes, params, &differ, &results, cond)?;
        self.b.loc = stm.loc;
        // What the condition adds to the mask is that it did not fail.
        results.push(still.into());
        new.push((going, go.into()));
        let carried = self.carry_failures(lanes, before, &mut results);
        let body = Body { stms: self.b.close(), result: results };
        lanes.mask = outer;
        self.finish_loop(lanes, stm, new, carried, (LoopForm::While { cond: any }, body))
    }

    fn rebind(&mut self, lanes: &mut Lanes, var: VarId, value: Atom, differs: bool) {
        match (self.shared.get(&var).copied(), value) {
            (Some(key), Atom::Var(value)) => drop(lanes.current.insert(key, value)),
            _ => drop(lanes.names.insert(var, (value, differs))),
        }
    }

    /// In which iterations, of those that run, the condition of a loop holds for the given values of its variables.
    fn lane_cond(
        &mut self,
        lanes: &mut Lanes,
        params: &[(Param, Atom)],
        differ: &[bool],
        values: &[Atom],
        cond: &Body,
    ) -> Transformed<VarId> {
        for ((param, _), (value, differs)) in params.iter().zip(values.iter().zip(differ)) {
            self.rebind(lanes, param.var, *value, *differs);
        }
        let holds = self.lane_results(lanes, cond, &[true])?;
        let holds = self.b.as_var(holds.first().copied().unwrap_or(Atom::bool(false)));
        Ok(self.masked(lanes, holds))
    }

    /// A reduction or scan as a loop over the slices, for operators that may stop the program.
    pub(super) fn fold_as_loop(&mut self, stm: &Stm) {
        let (axis, arrays, op, neutral) = match &stm.op {
            Op::Reduce { axis, arrays, op, neutral } | Op::Scan { axis, arrays, op, neutral } => {
                (*axis, arrays, op, neutral)
            }
            _ => return,
        };
        let is_scan = matches!(stm.op, Op::Scan { .. });
        let Some(n) = arrays.first().and_then(|a| self.b.dims_of(*a).get(axis).copied()) else { return };
        let (totals, nexts) = op.params.split_at(neutral.len().min(op.params.len()));
        let mut params: Vec<(Param, Atom)> = totals.iter().cloned().zip(neutral.iter().copied()).collect();
        let outputs = if is_scan { self.scan_outputs(arrays) } else { Vec::new() };
        params.extend(outputs.iter().cloned());
        let index = self.b.param("j", Type::I64);
        self.b.open();
        for (next, array) in nexts.iter().zip(arrays) {
            let slice = self.b.slice_at(*array, axis, index.var.into());
            self.b.push(vec![next.clone()], Op::Atom(slice));
        }
        for inner in &op.body.stms {
            self.b.loc = inner.loc;
            self.b.push(inner.pat.clone(), inner.op.clone());
        }
        self.b.loc = stm.loc;
        let mut result = op.body.result.clone();
        for ((output, _), total) in outputs.iter().zip(&op.body.result) {
            result.push(self.write_at(output, axis, index.var.into(), *total));
        }
        let body = Body { stms: self.b.close(), result };
        let form = LoopForm::For { var: index.var, ty: PrimType::I64, bound: n };
        let mut pat = stm.pat.clone();
        if is_scan {
            let unused: Vec<Param> = totals.iter().map(|p| self.b.param("last", p.ty.clone())).collect();
            pat.splice(0..0, unused);
        }
        self.b.push(pat, Op::Loop { params, form, body, hints: dagaz_core::exp::LoopHints::NONE });
    }

    fn scan_outputs(&mut self, arrays: &[VarId]) -> Vec<(Param, Atom)> {
        let each = arrays.iter().map(|array| {
            let ty = self.b.type_of((*array).into());
            let zero = Prim::zero(ty.elem().unwrap_or(PrimType::I64));
            let blank = self.b.replicate(ty.dims(), zero.into());
            (self.b.param("scanned", ty), blank.into())
        });
        each.collect()
    }

    /// The array with slice `j` along an axis overwritten.
    fn write_at(&mut self, output: &Param, axis: usize, j: Atom, value: Atom) -> Atom {
        let span = |(i, len): (usize, &Atom)| if i == axis { Span::at(j) } else { Span::all(*len) };
        let dims: Vec<Span> = output.ty.dims().iter().enumerate().map(span).collect();
        let lens: Vec<Atom> = dims.iter().map(|span| span.len).collect();
        let value = match self.b.type_of(value).is_array() {
            true => {
                let value = self.b.as_var(value);
                self.b.reshape(value, lens)
            }
            false => self.b.replicate(&lens, value),
        };
        self.b.op("scanned", output.ty.clone(), Op::Update { array: output.var, dims, value })
    }
}
