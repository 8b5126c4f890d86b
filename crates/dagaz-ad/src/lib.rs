//! Derivatives of Core programs: the forms `jvp`, `vjp`, `transpose` and `with_vjp` go, ordinary Core stays.
//!
//!     let (y: f64, y_tan: f64) =                       let (y: f64) = f64.mul x x
//!       jvp (x) (x_tan) \(z: f64) : (f64) ->    ==>    let (a: f64) = f64.mul x x_tan
//!         let (y: f64) = f64.mul z z                   let (b: f64) = f64.mul x x_tan
//!         in (y)                                       let (y_tan: f64) = f64.add a b
//!
//! The innermost form goes first, so that forms can be nested in any order. Functions called under a form are
//! inlined, but for those that call themselves: see [`recursive`]. Names: primal `x`, tangent `x_tan`, adjoint `x_adj`, incoming cotangent `ct`, saved values `saved`.
//! There are three answers and never a mixture: a derivative, a zero (see [`scalar`] for where the derivative is
//! zero by convention), or a [`Rejection`].
//!
//! Every type has tangents and adjoints of its own type; those of integers and truth values are what the table of
//! scalar operations makes of them, and zero wherever a value does not depend on what is differentiated.
//!
//! The result may use arrays after it has consumed them, as if every update were of a copy: whoever calls this must
//! insert copies where they are needed. Forward mode leaves dead statements.

mod activity;
mod components;
mod context;
mod forward;
mod histograms;
mod linear;
mod numbered;
mod prune;
mod recursive;
mod rename;
mod reverse;
mod scalar;
mod table;
mod vectorised;

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Fun, Lambda, Loc, LoopForm, Program, Stm};
use dagaz_core::pass::{Leaves, Pass, Rejection, Run, Stage};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};
use dagaz_core::visit::{bodies_mut, each_bound};

use crate::context::{Ad, Res, not_yet};
pub use crate::histograms::accumulators_to_histograms;
pub use crate::linear::{Linearised, linearize};
use crate::rename::Renamer;
pub use crate::table::derivatives_page;

pub const DIFFERENTIATE: Pass = Pass {
    name: "differentiate",
    about: "Derivative forms become ordinary Core.",
    run: Run::Rejecting(differentiate),
    expects: Stage::WITH_FORMS,
    leaves: Leaves::NoForms,
};

fn differentiate(program: &mut Program) -> Result<(), Vec<Rejection>> {
    *program = without_forms(std::mem::take(program))?;
    Ok(())
}

/// The program without derivative forms.
fn without_forms(program: Program) -> Result<Program, Vec<Rejection>> {
    let Program { consts, funs, entries, vars, locs } = program;
    let mut ad = Ad::new(vars, &funs);
    for fun in &funs {
        fun.params.iter().for_each(|p| ad.note(p));
    }
    let mut errors = Vec::new();
    let consts = Body { stms: consts, result: Vec::new() };
    let consts = ad.expand(&consts, false).unwrap_or_else(|error| {
        errors.push(error);
        Body::default()
    });
    let mut done = Vec::with_capacity(funs.len());
    for fun in &funs {
        match ad.expand(&fun.body, false) {
            Ok(body) => done.push(Fun { body, ..fun.clone() }),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        errors.extend(ad.make_derivatives().err());
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    done.append(&mut ad.program.recursive.made);
    let (vars, _) = ad.b.finish();
    let mut program = Program { consts: consts.stms, funs: done, entries, vars, locs };
    attach(&mut program.consts);
    program.funs.iter_mut().for_each(|fun| attach(&mut fun.body.stms));
    Ok(program)
}

/// Where nothing is left to differentiate, a detached value is the value, and a function with a rule of its own the function.
fn attach(stms: &mut Vec<Stm>) {
    for mut stm in std::mem::take(stms) {
        bodies_mut(&mut stm.exp).into_iter().for_each(|body| attach(&mut body.stms));
        let loc = stm.loc;
        let alias =
            |(param, value): (&Param, &Atom)| Stm { pat: vec![param.clone()], exp: Exp::Atom(*value), loc };
        match stm.exp {
            Exp::Detach(a) => stms.push(Stm { exp: Exp::Atom(a), ..stm }),
            Exp::WithVjp { lambda, args, .. } => {
                stms.extend(lambda.params.iter().zip(&args).map(alias));
                stms.extend(lambda.body.stms);
                stms.extend(stm.pat.iter().zip(&lambda.body.result).map(alias));
            }
            _ => stms.push(stm),
        }
    }
}

/// Expansion of forms and, below them, of calls.
impl Ad<'_> {
    fn expand(&mut self, body: &Body, below_form: bool) -> Res<Body> {
        self.body(|ad| {
            body.stms.iter().try_for_each(|stm| ad.expand_stm(stm, below_form))?;
            Ok(body.result.clone())
        })
    }

    fn expand_lambda(&mut self, lambda: &Lambda, below_form: bool) -> Res<Lambda> {
        lambda.params.iter().for_each(|p| self.note(p));
        let body = self.expand(&lambda.body, below_form)?;
        Ok(Lambda { params: lambda.params.clone(), body, ret: lambda.ret.clone() })
    }

    /// The function without derivative forms, calls and fused maps. Reverse mode of a form inside leaves fused maps, which
    /// go when its code is expanded once more.
    fn without_fused_maps(&mut self, lambda: &Lambda) -> Res<Lambda> {
        let expanded = self.expand_lambda(lambda, true)?;
        self.expand_lambda(&expanded, true)
    }

    /// The function as reverse mode wants it.
    fn expand_for_derivative(&mut self, lambda: &Lambda) -> Res<Lambda> {
        let lambda = self.expand_lambda(lambda, true)?;
        self.simpler_folds(&lambda)
    }

    /// The function with reductions, scans and histograms that have cheaper rules in reverse mode.
    fn simpler_folds(&mut self, lambda: &Lambda) -> Res<Lambda> {
        let before = std::mem::replace(&mut self.reverse_ahead, true);
        let simpler = self.expand_lambda(lambda, true);
        self.reverse_ahead = before;
        simpler
    }

    pub(crate) fn expand_stm(&mut self, stm: &Stm, below: bool) -> Res<()> {
        let loc = stm.loc;
        match &stm.exp {
            Exp::Jvp { lambda, args, tangents } => {
                let lambda = self.without_fused_maps(lambda)?;
                let results = self.jvp(&lambda, args, tangents, loc)?;
                self.bind(&stm.pat, &results, loc);
                Ok(())
            }
            Exp::Vjp { lambda, args, cotangents } => {
                let lambda = self.expand_for_derivative(lambda)?;
                let results = self.vjp(&lambda, args, cotangents, loc)?;
                self.bind(&stm.pat, &results, loc);
                Ok(())
            }
            Exp::Transpose { lambda, cotangents } => {
                let lambda = self.without_fused_maps(lambda)?;
                let results = self.transpose(&lambda, cotangents, loc)?;
                self.bind(&stm.pat, &results, loc);
                Ok(())
            }
            Exp::WithVjp { lambda, args, .. } if !below => {
                self.bind(&lambda.params, args, loc);
                let body = self.expand(&lambda.body, below)?;
                body.stms.into_iter().for_each(|s| self.push(s));
                self.bind(&stm.pat, &body.result, loc);
                Ok(())
            }
            Exp::Call { fun, args } if below && !self.program.recursive.contains(*fun) => {
                let results = self.inline(*fun, args, below, loc)?;
                self.bind(&stm.pat, &results, loc);
                Ok(())
            }
            _ => {
                if self.reverse_ahead && (self.expand_components(stm)? || self.expand_columns(stm)?) {
                    return Ok(());
                }
                let mut stm = stm.clone();
                self.expand_inside(&mut stm.exp, below, loc)?;
                if self.reverse_ahead && histograms::is_other_than_sum(&stm.exp) {
                    let stms = histograms::rewrite_with_acc(&mut self.b.vars, &stm);
                    let stms = stms.map_err(|what| not_yet(loc, format!("the derivative of {what}")))?;
                    stms.into_iter().for_each(|s| self.push(s));
                    return Ok(());
                }
                if below {
                    return self.push_stripmined(stm);
                }
                self.push(stm);
                Ok(())
            }
        }
    }

    /// A variable for each atom.
    fn bind(&mut self, pat: &[Param], atoms: &[Atom], loc: Loc) {
        for (param, atom) in pat.iter().zip(atoms) {
            self.push(Stm { pat: vec![param.clone()], exp: Exp::Atom(*atom), loc });
        }
    }

    /// The statements of a function, with new names, and its results.
    fn inline(&mut self, id: FunId, args: &[Atom], below: bool, loc: Loc) -> Res<Vec<Atom>> {
        let Some(fun) = self.program.funs.get(id.0 as usize) else {
            return Err(not_yet(loc, "a call of an unknown function"));
        };
        let map: HashMap<_, _> = fun.params.iter().map(|p| p.var).zip(args.iter().copied()).collect();
        let body = Renamer::new(self, map).body(&fun.body);
        let expanded = self.expand(&body, below)?;
        expanded.stms.into_iter().for_each(|s| self.push(s));
        Ok(expanded.result)
    }

    fn expand_inside(&mut self, exp: &mut Exp, below: bool, loc: Loc) -> Res<()> {
        match exp {
            Exp::If { then, otherwise, .. } => {
                *then = self.expand(then, below)?;
                *otherwise = self.expand(otherwise, below)?;
            }
            Exp::Loop { params, form, body, .. } => {
                params.iter().for_each(|(p, _)| self.note(p));
                match form {
                    LoopForm::For { var, ty, .. } => {
                        self.b.types.insert(*var, Type::Prim(*ty));
                    }
                    LoopForm::While { cond } => *cond = self.expand(cond, below)?,
                }
                *body = self.expand(body, below)?;
                results_as_made(body);
            }
            Exp::Map { lambda, .. } => *lambda = self.expand_lambda(lambda, below)?,
            Exp::Reduce { width, arrays, pre, op, .. } | Exp::Scan { width, arrays, pre, op, .. } => {
                *op = self.expand_lambda(op, below)?;
                self.expand_pre(*width, arrays, pre, below, loc)?;
            }
            Exp::Hist { width, arrays, pre, op, .. } => {
                *op = self.expand_lambda(op, below)?;
                self.expand_pre(*width, arrays, pre, below, loc)?;
            }
            Exp::Scatter { width, arrays, pre, .. } => self.expand_pre(*width, arrays, pre, below, loc)?,
            Exp::WithAcc { inputs, lambda } => {
                for (op, _) in inputs.iter_mut().filter_map(|i| i.op.as_mut()) {
                    *op = self.expand_lambda(op, below)?;
                }
                *lambda = self.expand_lambda(lambda, below)?;
            }
            Exp::WithVjp { lambda, rule, .. } => {
                *lambda = self.expand_lambda(lambda, below)?;
                *rule = self.expand_lambda(rule, below)?;
            }
            Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) => {}
            Exp::Convert(..) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) => {}
            Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => {}
            Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::Call { .. } => {}
            Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => {}
            // The optimiser makes these once all derivatives are gone.
            Exp::Contract { .. } if below => {
                return Err(not_yet(loc, "the derivative of a contraction"));
            }
            Exp::Contract { .. } => {}
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::Detach(_) => {}
            Exp::Transpose { .. } => {}
        }
        Ok(())
    }

    /// Below a form, a fused map is a map of its own, so that rules need not know of it.
    fn expand_pre(
        &mut self,
        width: Atom,
        arrays: &mut Vec<VarId>,
        pre: &mut Option<Lambda>,
        below: bool,
        loc: Loc,
    ) -> Res<()> {
        let Some(lambda) = pre.take() else { return Ok(()) };
        let lambda = self.expand_lambda(&lambda, below)?;
        if !below {
            *pre = Some(lambda);
            return Ok(());
        }
        let types: Vec<Type> = lambda.ret.iter().map(|t| t.with_outer(&[width])).collect();
        let map = Exp::Map { width, arrays: arrays.clone(), lambda };
        *arrays = self.let_exps("mapped", &types, map, loc);
        Ok(())
    }

    /// Binds the parameters of a differentiated function, and finds out what depends on them.
    fn enter(&mut self, lambda: &Lambda, args: &[Atom], loc: Loc) {
        each_bound(&lambda.body.stms, &mut |var, ty| drop(self.b.types.insert(var, ty.clone())));
        self.bind(&lambda.params, args, loc);
        self.forward.active.clear();
        self.forward.active.extend(lambda.params.iter().map(|p| p.var));
        self.forward.integer_results = has_integer_results(lambda);
        self.analyse(&lambda.body);
    }
}

/// Whether there are integers among the results of a function, and no floats.
pub(crate) fn has_integer_results(lambda: &Lambda) -> bool {
    let elems = || lambda.ret.iter().filter_map(Type::elem);
    elems().any(PrimType::is_int) && !elems().any(PrimType::is_float)
}

/// Results of a body that only rename what it has made, as those of an inlined call do, become what was made: so the rules
/// for loops see that the body goes on to use it.
fn results_as_made(body: &mut Body) {
    let made: HashMap<VarId, (&Type, &Exp)> = body
        .stms
        .iter()
        .filter_map(|stm| match &stm.pat[..] {
            [param] => Some((param.var, (&param.ty, &stm.exp))),
            _ => None,
        })
        .collect();
    let types: HashMap<VarId, &Type> =
        body.stms.iter().flat_map(|stm| &stm.pat).map(|param| (param.var, &param.ty)).collect();
    for result in &mut body.result {
        while let Some((ty, Exp::Atom(Atom::Var(original)))) = result.as_var().and_then(|var| made.get(&var))
        {
            // Sizes may have other names there.
            if types.get(original) != Some(ty) {
                break;
            }
            *result = Atom::Var(*original);
        }
    }
}
