//! Reverse mode of branches and loops (thesis, sections 3.3.1 and 3.3.2).
//!
//! A branch is run again. A loop saves what each iteration starts with, and the return sweep visits the iterations
//! from the last to the first; a `while` loop is first run to count its iterations.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_body;

use crate::context::{Ad, AdError, Adj, Res};
use crate::rename::Renamer;

use super::Saved;

/// A loop in the forward sweep.
pub(crate) struct SavedLoop {
    params: Vec<(Param, Atom)>,
    /// The counter and its type.
    counter: (VarId, PrimType),
    /// How often it runs.
    n: Atom,
    body: Body,
    /// The values that each iteration started with, for the parameters that the body reads.
    saved: HashMap<VarId, VarId>,
}

impl Ad<'_> {
    pub fn rev_if(
        &mut self,
        cond: Atom,
        then: &Body,
        otherwise: &Body,
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let free = free_vars_body(then).into_iter().chain(free_vars_body(otherwise));
        let free = self.active_among(free);
        let types: Vec<Type> = free.iter().map(|v| self.adjoint_type(*v)).collect();
        let outer = self.adj.clone();
        let then = self.rev_branch(then, &free, cts, loc)?;
        self.adj = outer.clone();
        let otherwise = self.rev_branch(otherwise, &free, cts, loc)?;
        self.adj = outer;
        let vars = self.let_exps("adj", &types, Exp::If { cond, then, otherwise }, loc);
        for (var, adjoint) in free.iter().zip(vars) {
            self.move_adj(*var, adjoint);
        }
        Ok(())
    }

    fn rev_branch(&mut self, body: &Body, free: &[VarId], cts: &[Option<Atom>], loc: Loc) -> Res<Body> {
        self.body(|ad| {
            let copy = Renamer::again(ad, HashMap::new()).body(body);
            ad.sweep(&copy, cts, loc)?;
            Ok(free.iter().map(|v| ad.adjoint(*v, loc)).collect())
        })
    }

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
        let read = free_vars_body(body);
        let form = LoopForm::For { var: counter, ty, bound };
        let plain = Exp::Loop { params: params.to_vec(), form: form.clone(), body: body.clone() };
        let plain = self.without_accs(&Stm { pat: stm.pat.clone(), exp: plain, loc });
        let Some(Stm { mut pat, exp: Exp::Loop { params: mut all, body: run, .. }, .. }) = plain else {
            // It does nothing but accumulate, and needs nothing for that but its counter.
            let (params, body, saved) = (params.to_vec(), body.clone(), HashMap::new());
            return Ok(Saved::Loop(Box::new(SavedLoop { params, counter: (counter, ty), n, body, saved })));
        };
        let needed: Vec<Param> =
            all.iter().map(|(p, _)| p.clone()).filter(|p| read.contains(&p.var)).collect();
        let (mut saves, mut saved) = (Vec::new(), HashMap::new());
        for param in needed {
            let row = self.ty_var(param.var);
            let ty = row.with_outer(&[n]);
            let exp = Exp::Scratch { elem: row.elem().unwrap_or(PrimType::F64), dims: ty.dims().to_vec() };
            let init = self.let_exp("saved", ty.clone(), exp, loc);
            let inside = self.param("saved", ty.clone());
            let outside = self.param("saved", ty);
            saved.insert(param.var, outside.var);
            saves.push((param.var, inside.clone()));
            all.push((inside, init));
            pat.push(outside);
        }
        let looped = self.body(|ad| {
            let i = ad.b.convert(ty, PrimType::I64, counter.into(), loc);
            let mut results = run.result.clone();
            for (value, save) in saves {
                let dims = vec![DimSlice::Fix(i)];
                let value = value.into();
                let exp = Exp::Update { array: save.var, dims, value, check: Check::Certified };
                results.push(ad.let_exp("saved", save.ty, exp, loc));
            }
            run.stms.iter().for_each(|s| ad.push(s.clone()));
            Ok(results)
        })?;
        self.push(Stm { pat, exp: Exp::Loop { params: all, form, body: looped }, loc });
        let (params, body) = (params.to_vec(), body.clone());
        Ok(Saved::Loop(Box::new(SavedLoop { params, counter: (counter, ty), n, body, saved })))
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
        let copy = Renamer::new(self, HashMap::new()).exp(&exp);
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
        let outer = std::mem::replace(&mut self.adj, slots);
        let counter = self.b.fresh("j");
        self.types.insert(counter, Type::I64);
        let body = self.body(|ad| ad.rev_iteration(job, counter, &inner_cts, &free, loc))?;
        self.adj = outer;
        let types: Vec<Type> = params.iter().map(|(p, _)| p.ty.clone()).collect();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: job.n };
        let vars = self.let_exps("adj", &types, Exp::Loop { params, form, body }, loc);
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

    /// One iteration backwards: the adjoints of the active parameters, then of the free variables.
    fn rev_iteration(
        &mut self,
        job: &SavedLoop,
        counter: VarId,
        cts: &[Option<Atom>],
        free: &[VarId],
        loc: Loc,
    ) -> Res<Vec<Atom>> {
        let last = self.i64_op(BinOp::Sub, job.n, Atom::i64(1), loc);
        let i = self.i64_op(BinOp::Sub, last, counter.into(), loc);
        let (var, ty) = job.counter;
        let mut map = HashMap::from([(var, self.b.convert(PrimType::I64, ty, i, loc))]);
        let mut restored = Vec::new();
        for (param, _) in &job.params {
            let active = self.has_adjoint(param);
            if let Some(saved) = job.saved.get(&param.var) {
                let hint = self.b.vars.hint(param.var).to_owned();
                let exp = Exp::Index { array: *saved, indices: vec![i], check: Check::Certified };
                let value = self.let_var(&hint, param.ty.clone(), exp, loc);
                map.insert(param.var, value.into());
                if active {
                    self.active.insert(value);
                    restored.push(value);
                }
            } else if active {
                // The body does not read it: its adjoint is zero.
                restored.push(param.var);
            }
        }
        let copy = Renamer::again(self, map).body(&job.body);
        self.sweep(&copy, cts, loc)?;
        Ok(restored.iter().chain(free).map(|v| self.adjoint(*v, loc)).collect())
    }
}
