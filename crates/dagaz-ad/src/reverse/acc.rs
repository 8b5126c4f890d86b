//! Reverse mode of accumulators that sum: `with_acc` and `+=`.
//!
//!     acc' = acc[i] += v     v_adj += ct[i]          where ct is the cotangent of the array behind acc
//!
//! The cotangent of the array is the same before and after every `+=`, so the return sweep needs no accumulator:
//! it reads `ct`. The forward sweep computes what else the body computes, and leaves the accumulators out.

use std::collections::HashMap;

use dagaz_core::exp::{AccInput, Body, Check, Exp, Lambda, Loc, Stm};
use dagaz_core::types::{Atom, Param, VarId};

use crate::context::{Ad, Res, is_plus, not_yet};
use crate::rename::Renamer;

impl Ad<'_> {
    fn is_left_out(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(var) if self.sweep.acc_adj.contains_key(&var))
    }

    /// The two are the same accumulator at different times.
    fn same_acc(&mut self, new: VarId, old: Atom) {
        if let Some(cts) = old.as_var().and_then(|v| self.sweep.acc_adj.get(&v)).cloned() {
            self.sweep.acc_adj.insert(new, cts);
        }
    }

    /// The statement without accumulators whose arrays have cotangents; none if nothing is left of it.
    pub fn without_accs(&mut self, stm: &Stm) -> Option<Stm> {
        if self.sweep.acc_adj.is_empty() {
            return Some(stm.clone());
        }
        let mut stm = stm.clone();
        let dropped: Vec<bool> = match &mut stm.exp {
            Exp::UpdateAcc { acc, .. } if self.sweep.acc_adj.contains_key(acc) => {
                self.same_acc(stm.pat[0].var, (*acc).into());
                return None;
            }
            Exp::Atom(a) if self.is_left_out(*a) => {
                self.same_acc(stm.pat[0].var, *a);
                return None;
            }
            Exp::Map { arrays, lambda, .. } => {
                for (array, param) in arrays.iter().zip(&lambda.params) {
                    self.same_acc(param.var, (*array).into());
                }
                arrays.retain(|a| !self.sweep.acc_adj.contains_key(a));
                lambda.params.retain(|p| !self.sweep.acc_adj.contains_key(&p.var));
                let dropped = self.strip(&mut lambda.body, &stm.pat);
                retain(&mut lambda.ret, &dropped);
                dropped
            }
            Exp::If { then, otherwise, .. } => {
                self.strip(then, &stm.pat);
                self.strip(otherwise, &stm.pat)
            }
            Exp::Loop { params, body, .. } => self.strip_loop(params, body, &stm.pat),
            Exp::WithAcc { inputs, lambda } => {
                let arrays: usize = inputs.iter().map(|i| i.arrays.len()).sum();
                let rest: Vec<Param> = stm.pat[arrays..].to_vec();
                // The accumulators of this form are results that are never left out.
                let own = lambda.params.clone();
                let dropped = self.strip(&mut lambda.body, &[own.clone(), rest].concat());
                retain(&mut lambda.ret, &dropped);
                [vec![false; arrays], dropped[own.len()..].to_vec()].concat()
            }
            _ => return Some(stm),
        };
        retain(&mut stm.pat, &dropped);
        (!stm.pat.is_empty()).then_some(stm)
    }

    /// Leaves accumulators out of a body, and says which of its results are gone.
    fn strip(&mut self, body: &mut Body, pat: &[Param]) -> Vec<bool> {
        body.stms = std::mem::take(&mut body.stms).iter().filter_map(|s| self.without_accs(s)).collect();
        let dropped: Vec<bool> = body.result.iter().map(|a| self.is_left_out(*a)).collect();
        for (param, result) in pat.iter().zip(&body.result) {
            self.same_acc(param.var, *result);
        }
        retain(&mut body.result, &dropped);
        dropped
    }

    /// As [`Self::strip`], for the parameters of a loop and its body.
    pub fn strip_loop(
        &mut self,
        params: &mut Vec<(Param, Atom)>,
        body: &mut Body,
        pat: &[Param],
    ) -> Vec<bool> {
        for (param, init) in params.iter() {
            self.same_acc(param.var, *init);
        }
        params.retain(|(p, _)| !self.sweep.acc_adj.contains_key(&p.var));
        self.strip(body, pat)
    }

    pub fn rev_with_acc(
        &mut self,
        inputs: &[AccInput],
        lambda: &Lambda,
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let copy = Renamer::new(self, HashMap::new()).lambda(lambda);
        let mut next = 0;
        for (input, param) in inputs.iter().zip(&copy.params) {
            if !input.op.as_ref().is_some_and(|(op, _)| is_plus(op)) {
                return Err(not_yet(loc, "the reverse derivative of an accumulator that does not sum"));
            }
            let own = cts[next..next + input.arrays.len()].to_vec();
            next += input.arrays.len();
            for (array, ct) in input.arrays.iter().zip(&own) {
                self.add_to((*array).into(), *ct, loc);
            }
            self.sweep.acc_adj.insert(param.var, own);
        }
        let mut body_cts = vec![None; inputs.len()];
        body_cts.extend_from_slice(&cts[next..]);
        self.sweep(&copy.body, &body_cts, loc)
    }

    pub fn rev_update_acc(&mut self, acc: VarId, indices: &[Atom], values: &[Atom], loc: Loc) -> Res<()> {
        let cts = self.sweep.acc_adj.get(&acc).cloned().unwrap_or_default();
        for (value, ct) in values.iter().zip(cts) {
            let Some(ct) = ct.filter(|_| self.is_active(*value)) else { continue };
            let ty = self.ty(*value);
            let array = self.as_var("ct", ct, loc);
            let shape = self.ty_var(array).dims()[..indices.len()].to_vec();
            let cond = self.in_bounds(indices, &shape, loc);
            let then = self.body(|ad| {
                let exp = Exp::Index { array, indices: indices.to_vec(), check: Check::Certified };
                Ok(vec![ad.let_exp("elem", ty.clone(), exp, loc)])
            })?;
            let otherwise = self.body(|ad| Ok(vec![ad.zero(&ty, loc)]))?;
            let read = self.let_exp("read", ty.clone(), Exp::If { cond, then, otherwise }, loc);
            self.add_to(*value, Some(read), loc);
        }
        Ok(())
    }

    /// Whether a loop keeps an accumulator that the return sweep reads from.
    pub fn loop_has_other_accs(&self, params: &[(Param, Atom)]) -> bool {
        params.iter().any(|(p, init)| p.ty.is_acc() && !self.is_left_out(*init))
    }
}

fn retain<T>(items: &mut Vec<T>, dropped: &[bool]) {
    let mut flags = dropped.iter();
    items.retain(|_| !flags.next().copied().unwrap_or(false));
}
