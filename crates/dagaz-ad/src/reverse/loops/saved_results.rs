//! Values that the return sweep of a loop need not compute again.
//!
//! What an iteration gives for a parameter is what the next one starts with, and that is saved. If the body goes on to use
//! it, the return sweep reads it:
//!
//!     loop (y = y0) for i < n do              loop (y_adj = ct) for j < n do
//!       let (z) = f(y)                 ==>      let (z) = ys[n - j]
//!       let (e) = g(z)                          adjoint of g at z, then of f at ys[n - 1 - j]
//!       in (z)
//!
//! The array of saved values has one more row for that, the result of the loop.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, Stm};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::free_vars;

use crate::context::Ad;

use super::SavedLoop;
use super::costly::is_linear;

impl Ad<'_> {
    /// The result of a body, if it is an array that the body makes and then uses.
    pub(super) fn used_result(&self, body: &Body, result: Atom) -> Option<VarId> {
        let var = result.as_var()?;
        let is_made = body.stms.iter().any(|stm| stm.pat.iter().any(|p| p.var == var && p.ty.is_array()));
        (is_made && is_used(body, var) && self.is_active_var(var)).then_some(var)
    }

    /// The saved values of a parameter, with the result of the loop after that of the last iteration.
    pub(super) fn save_result(&mut self, saved: VarId, n: Atom, result: VarId, loc: Loc) -> VarId {
        let (dims, ty) = (vec![DimSlice::Fix(n)], self.ty_var(saved));
        let exp = Exp::Update { array: saved, dims, value: result.into(), check: Check::Certified };
        self.let_var("saved", ty, exp, loc)
    }

    /// Binds results of iteration `i` to what was saved. Their adjoints are still those of the statements that make them.
    pub(super) fn use_known_results(&mut self, job: &SavedLoop, copy: &mut Body, i: Atom, loc: Loc) {
        if job.known.is_empty() {
            return;
        }
        let next = self.i64_op(BinOp::Add, i, Atom::i64(1), loc);
        let mut done = HashSet::new();
        for (original, result) in job.body.result.iter().zip(copy.result.clone()) {
            let saved = original.as_var().and_then(|var| job.known.get(&var));
            let (Some(saved), Some(var)) = (saved, result.as_var()) else { continue };
            let place = copy.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == var));
            if let Some(place) = place.filter(|_| done.insert(var)) {
                let stm = self.known_value(&mut copy.stms[place], var, *saved, next, loc);
                copy.stms.insert(place + 1, stm);
            }
        }
    }

    /// Binds values of iteration `i` to what was kept of them.
    pub(super) fn use_kept_values(&mut self, kept: &[(VarId, VarId)], copy: &mut Body, i: Atom, loc: Loc) {
        for (var, saved) in kept {
            let place = copy.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == *var));
            if let Some(place) = place {
                let stm = self.known_value(&mut copy.stms[place], *var, *saved, i, loc);
                copy.stms.insert(place + 1, stm);
            }
        }
    }

    /// What a statement makes gets another name, and the variable the known value.
    fn known_value(&mut self, stm: &mut Stm, var: VarId, saved: VarId, index: Atom, loc: Loc) -> Stm {
        let ty = self.ty_var(var);
        let exp = Exp::Index { array: saved, indices: vec![index], check: Check::Certified };
        let row = self.ty_var(saved).row().unwrap_or_else(|| ty.clone());
        let known = self.let_var("known", row.clone(), exp, loc);
        // The sizes may be called otherwise where the value is used.
        let value = match row == ty {
            true => Exp::Atom(known.into()),
            false => Exp::Reshape { dims: ty.dims().to_vec(), array: known },
        };
        let made = self.like(var.into());
        stm.pat.iter_mut().filter(|p| p.var == var).for_each(|p| p.var = made.var);
        self.sweep.recomputed.insert(made.var);
        let pat = vec![Param { var, ty: ty.clone() }];
        if !self.is_active_var(var) {
            return Stm { pat, exp: value, loc };
        }
        self.forward.active.insert(made.var);
        let function = |params: Vec<Param>, stms: Vec<Stm>, result: VarId| Lambda {
            params,
            body: Body { stms, result: vec![result.into()] },
            ret: vec![ty.clone()],
        };
        let [arg, result, ct, shaped] = [(); 4].map(|()| self.like(var.into()));
        let (back, forth) = (ct.var, shaped.var);
        let lambda = function(vec![arg], vec![Stm { pat: vec![shaped], exp: value, loc }], forth);
        let rule = function(vec![result, ct], Vec::new(), back);
        Stm { pat, exp: Exp::WithVjp { lambda, rule, args: vec![made.var.into()] }, loc }
    }
}

/// Whether statements need the value of a variable for their derivatives: what moves numbers, and adds them, does not.
fn is_used(body: &Body, var: VarId) -> bool {
    let mut names = HashSet::from([var]);
    for stm in &body.stms {
        if free_vars(&stm.exp).iter().any(|used| names.contains(used)) {
            if !is_linear(&stm.exp) {
                return true;
            }
            names.extend(stm.pat.iter().map(|p| p.var));
        }
    }
    false
}
