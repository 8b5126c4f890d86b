//! The second route to reverse mode (Dex, section 5): `linearize` runs the primal once and keeps what the derivative
//! needs of it; the derivative is then a linear program, which can be applied any number of times and transposed.
//!
//!     \x ->                            \x ->                               -- the primal
//!       let (s) = sin x                  let (s) = sin x
//!       let (y) = x * s      ==>         let (y) = x * s
//!       in (y)                           let (c) = cos x
//!                                        in (y)
//!                                      \x_tan ->                           -- the derivative, with the residuals s, x, c
//!                                        let (y_tan) = s * x_tan + x * (c * x_tan)
//!                                        in (y_tan)
//!
//! Whoever asks for the two decides how the residuals travel from one to the other. [`split`] takes the program of forward mode apart, [`check`] makes sure that what is transposed is linear.

mod check;
mod folds;
mod split;

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Fun, Lambda, Loc, Vars};
use dagaz_core::pass::Rejection;
use dagaz_core::types::{Atom, Param, VarId};

use crate::context::{Ad, Res, not_yet};
use crate::histograms;
use crate::rename::Renamer;

/// A function, taken apart into a run that keeps what the derivative needs, and the derivative.
#[derive(Clone, Debug)]
pub struct Linearised {
    /// Of the function.
    pub params: Vec<Param>,
    /// What to run at the arguments; its results are those of the function.
    pub primal: Body,
    /// The linear function of tangents. Its free variables are residuals, bound by the outermost statements of the primal, and
    /// those of the function.
    pub derivative: Lambda,
    /// What is a copy of something else in the primal, and has the name of that in the derivative.
    pub copies: HashMap<VarId, Atom>,
}

/// The linearised function, whose free variables have the types that `known` says. It may call `funs`.
pub fn linearize(
    vars: &mut Vars,
    funs: &[Fun],
    known: &[Param],
    lambda: &Lambda,
) -> Result<Linearised, Rejection> {
    let mut ad = Ad::new(std::mem::take(vars), funs);
    for param in funs.iter().flat_map(|fun| &fun.params).chain(known) {
        ad.note(param);
    }
    let result = match ad.linearised(lambda) {
        Ok(_) if ad.program.recursive.is_used() => {
            let loc = lambda.body.stms.first().map_or(Loc::NONE, |stm| stm.loc);
            Err(not_yet(loc, "the linear function of a recursive function"))
        }
        result => result,
    };
    *vars = std::mem::replace(&mut ad.b, Builder::new(Vars::default())).finish().0;
    result
}

impl Ad<'_> {
    fn linearised(&mut self, lambda: &Lambda) -> Res<Linearised> {
        let lambda = &Renamer::new(self, HashMap::new()).lambda(lambda);
        let mut lambda = self.without_fused_maps(lambda)?;
        let loc = lambda.body.stms.first().map_or(Loc::NONE, |stm| stm.loc);
        histograms::rewrite_all_but_sums(&mut self.b.vars, &mut lambda.body)
            .map_err(|what| not_yet(loc, format!("the derivative of {what}")))?;
        // Zeros of derivatives that were expanded inside of the function are values like any other here.
        self.forward.linear_vars.clear();
        let mut params = Vec::new();
        let mut tangents = Vec::new();
        for param in &lambda.params {
            params.push(self.param(&self.b.hint(param.var), param.ty.clone()));
            let hint = self.hint(param.var, "_tan");
            tangents.push(self.param(&hint, param.ty.clone()));
        }
        let args: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let seeds: Vec<Atom> = tangents.iter().map(|p| p.var.into()).collect();
        self.forward.linear_ahead = true;
        let (stms, results) = self.scope(|ad| ad.jvp(&lambda, &args, &seeds, loc))?;
        self.forward.linear_ahead = false;
        let (now, linear) = self.scope(|ad| ad.split(stms, &tangents))?;
        let (primals, result) = results.split_at(lambda.ret.len());
        let body = Body { stms: linear, result: result.to_vec() };
        let copies = split::copies(&now);
        let body = Renamer::new(self, copies.clone()).body(&body);
        let primal = Body { stms: now, result: primals.to_vec() };
        let derivative = Lambda { params: tangents, body, ret: lambda.ret.clone() };
        Ok(Linearised { params, primal, derivative, copies })
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
}
