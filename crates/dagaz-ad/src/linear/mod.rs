//! The second route to reverse mode (Dex, section 5): `linearize` runs the primal once and keeps what the derivative
//! needs of it; the derivative is then a linear program, which can be applied any number of times and transposed.
//!
//!     let (y, h) = linearize (x) \x -> x * sin x        let (s) = sin x
//!     let (y_tan) = apply_linear h (x_tan)       ==>    let (y) = x * s
//!                                                       let (c) = cos x        residuals: s, x, c
//!
//!                                                       let (y_tan) = s * x_tan + x * (c * x_tan)
//!
//! [`split`] takes the program of forward mode apart, [`check`] makes sure that what is transposed is linear.

mod check;
mod folds;
mod split;

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Fun, Lambda, Loc, Stm};
use dagaz_core::types::{Atom, FunId, Param, VarId};
use dagaz_core::visit::bodies;

use crate::context::{Ad, AdError, Res};
use crate::rename::Renamer;

impl Ad<'_> {
    /// Runs the function and remembers its derivative under the handle, the last variable of the pattern.
    pub fn linearize(&mut self, stm: &Stm, lambda: &Lambda, args: &[Atom]) -> Res<()> {
        let loc = stm.loc;
        // Zeros of derivatives that were expanded inside of the function are values like any other here.
        self.linear_vars.clear();
        let mut tangents = Vec::new();
        for param in &lambda.params {
            let hint = self.hint(param.var, "_tan");
            tangents.push(self.param(&hint, param.ty.clone()));
        }
        let seeds: Vec<Atom> = tangents.iter().map(|p| p.var.into()).collect();
        let before = std::mem::replace(&mut self.linear_ahead, true);
        let parts = self.scope(|ad| ad.jvp(lambda, args, &seeds, loc));
        self.linear_ahead = before;
        let (stms, results) = parts?;
        let linear = self.split(stms, &tangents)?;
        let (primals, result) = results.split_at(lambda.ret.len());
        let (pat, handle) = stm.pat.split_at(lambda.ret.len());
        self.bind(pat, primals, loc);
        self.bind(handle, &[Atom::bool(true)], loc);
        let body = Body { stms: linear, result: result.to_vec() };
        let derivative = Lambda { params: tangents, body, ret: lambda.ret.clone() };
        if let Some(handle) = handle.first() {
            self.linear_funs.insert(handle.var, derivative);
        }
        Ok(())
    }

    /// The results of the linear function behind the handle.
    pub fn apply_linear(&mut self, handle: Atom, tangents: &[Atom], loc: Loc) -> Res<Vec<Atom>> {
        let Some(lambda) = handle.as_var().and_then(|h| self.linear_funs.get(&h)).cloned() else {
            let what = "a linearised function that is chosen when the program runs";
            return Err(AdError::not_yet(loc, what));
        };
        let params = lambda.params.iter().map(|p| p.var);
        let map: HashMap<VarId, Atom> = params.zip(tangents.iter().copied()).collect();
        let body = Renamer::new(self, map).body(&lambda.body);
        body.stms.into_iter().for_each(|s| self.push(s));
        Ok(body.result)
    }

    /// The adjoints of the arguments of a linear function: those of reverse mode, which are the same at every point.
    pub fn transpose(&mut self, lambda: &Lambda, cotangents: &[Atom], loc: Loc) -> Res<Vec<Atom>> {
        self.check_linear(lambda)?;
        let mut zeros = Vec::new();
        for param in &lambda.params {
            zeros.push(self.zero(&param.ty, loc));
        }
        let mut results = self.vjp(lambda, &zeros, cotangents, loc)?;
        Ok(results.split_off(lambda.ret.len()))
    }

    /// Whether a function must be inlined to know the linear functions that it applies.
    pub fn is_open(&self, fun: FunId) -> bool {
        self.open.get(fun.0 as usize).is_some_and(|open| *open)
    }

    /// A copy of a handle is the handle.
    pub fn note_handle(&mut self, pat: &[Param], exp: &Exp) {
        if let (Exp::Atom(Atom::Var(from)), [to]) = (exp, pat)
            && let Some(lambda) = self.linear_funs.get(from).cloned()
        {
            self.linear_funs.insert(to.var, lambda);
        }
    }
}

/// Whether each function applies linear functions that it did not make itself; such functions are inlined, so that the
/// handles meet what they stand for.
pub(crate) fn open_functions(funs: &[Fun]) -> Vec<bool> {
    let mut open = vec![false; funs.len()];
    loop {
        let next: Vec<bool> = funs.iter().map(|fun| is_open(&fun.body, &open)).collect();
        if next == open {
            return open;
        }
        open = next;
    }
}

fn is_open(body: &Body, open: &[bool]) -> bool {
    let mut made = Vec::new();
    let mut applied = Vec::new();
    let mut calls_open = false;
    collect(body, &mut |stm| match &stm.exp {
        Exp::Linearize { .. } => made.extend(stm.pat.last().map(|p| Atom::from(p.var))),
        Exp::ApplyLinear { handle, .. } => applied.push(*handle),
        Exp::Call { fun: FunId(id), .. } => calls_open |= open.get(*id as usize).is_some_and(|o| *o),
        _ => {}
    });
    calls_open || applied.iter().any(|handle| !made.contains(handle))
}

fn collect(body: &Body, f: &mut impl FnMut(&Stm)) {
    for stm in &body.stms {
        f(stm);
        bodies(&stm.exp).into_iter().for_each(|inner| collect(inner, f));
    }
}
