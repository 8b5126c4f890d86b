//! Simplification: one walk from the first statement to the last, in which every statement sees what its operands are.
//!
//! ```text
//! let (a: i64) = i64.add n 1i64
//! let (b: i64) = i64.sub a 1i64     ==>     let (c: f64) = xs[i] certified
//! let (ys: [b]f64) = reshape [b] xs         in (c)
//! let (c: f64) = ys[i] certified
//! in (c)
//! ```
//!
//! Rules are exact: they hold for every value, NaN and wrapping included, and no error is lost or added. Leaves the
//! statements that have become dead to [`crate::eliminate_dead_code`].

mod array;
mod control;
mod scalar;
mod units;

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Lambda, Loc, LoopForm, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies, lambdas_mut, operands_mut};

pub const SIMPLIFY: Pass =
    Pass::always("simplify", "What is known is computed, and what changes nothing is left out.", simplify)
        .before_derivatives();

pub fn simplify(program: &mut Program) {
    let mut simplifier = Simplifier {
        b: Builder::new(std::mem::take(&mut program.vars)),
        subst: Substitution::default(),
        defs: HashMap::new(),
        types: HashMap::new(),
        level: 0,
        levels: HashMap::new(),
        broadcast: HashMap::new(),
        sizes: HashSet::new(),
    };
    let consts = Body { stms: std::mem::take(&mut program.consts), result: Vec::new() };
    program.consts = simplifier.body(consts).stms;
    for fun in &mut program.funs {
        fun.params.iter().for_each(|p| simplifier.note(p));
        let sizes = fun.params.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var);
        simplifier.sizes = sizes.collect();
        let body = std::mem::take(&mut fun.body);
        fun.body = simplifier.body(body);
        simplifier.subst.params(&mut fun.ret);
    }
    program.vars = simplifier.b.finish().0;
}

/// What becomes of a statement.
enum Rewrite {
    /// Its results are these; it goes.
    Alias(Vec<Atom>),
    /// It computes the same by another expression, which may be simplified further.
    Become(Box<Exp>),
    /// It is what this body does.
    Splice(Body),
}

struct Simplifier {
    b: Builder,
    subst: Substitution,
    /// What variables are bound to, for expressions with one result and no bodies.
    defs: HashMap<VarId, Exp>,
    types: HashMap<VarId, Type>,
    /// How many loops and functions there are around, and around what binds each variable.
    level: usize,
    levels: HashMap<VarId, usize>,
    /// Arrays whose rows are each full of an element of another array, and the sizes of these rows.
    broadcast: HashMap<VarId, (VarId, Vec<Atom>)>,
    /// The sizes of the function's parameters, none of which is negative.
    sizes: HashSet<VarId>,
}

impl Simplifier {
    fn note(&mut self, param: &Param) {
        self.types.insert(param.var, param.ty.clone());
        self.levels.insert(param.var, self.level);
    }

    fn def(&self, atom: Atom) -> Option<&Exp> {
        self.defs.get(&atom.as_var()?)
    }

    fn body(&mut self, body: Body) -> Body {
        self.b.push_scope();
        body.stms.into_iter().for_each(|stm| self.stm(stm));
        let result = body.result.into_iter().map(|a| self.subst.of(a)).collect();
        Body { stms: self.b.pop_scope(), result }
    }

    fn lambda(&mut self, lambda: &mut Lambda) {
        self.level += 1;
        self.subst.params(&mut lambda.params);
        lambda.params.iter().for_each(|p| self.note(p));
        let body = std::mem::take(&mut lambda.body);
        lambda.body = self.body(body);
        self.level -= 1;
        self.subst.types(&mut lambda.ret);
    }

    fn stm(&mut self, mut stm: Stm) {
        operands_mut(&mut stm.exp, &mut |a| self.subst.apply(a));
        if self.only_row(&stm) {
            return;
        }
        self.before(&mut stm);
        self.inside(&mut stm.exp);
        self.subst.params(&mut stm.pat);
        // A rule may give an expression to which another one applies; chains are short.
        for _ in 0..8 {
            match self.rule(&stm) {
                None => break,
                Some(Rewrite::Become(exp)) => stm.exp = *exp,
                Some(Rewrite::Alias(atoms)) => return self.alias(&stm.pat, &atoms),
                Some(Rewrite::Splice(body)) => {
                    body.stms.into_iter().for_each(|stm| self.b.push(stm));
                    return self.alias(&stm.pat, &body.result);
                }
            }
        }
        self.after(&mut stm);
        let behind = self.results_without_units(&mut stm);
        stm.pat.iter().for_each(|p| self.note(p));
        if let ([param], true) = (&stm.pat[..], bodies(&stm.exp).is_empty()) {
            self.defs.insert(param.var, stm.exp.clone());
        }
        self.b.push(stm);
        behind.into_iter().for_each(|stm| self.stm(stm));
    }

    fn alias(&mut self, pat: &[Param], atoms: &[Atom]) {
        for (param, atom) in pat.iter().zip(atoms) {
            self.subst.insert(param.var, *atom);
        }
    }

    fn inside(&mut self, exp: &mut Exp) {
        match exp {
            Exp::If { then, otherwise, .. } => {
                *then = self.body(std::mem::take(then));
                *otherwise = self.body(std::mem::take(otherwise));
            }
            Exp::Loop { params, form, body, .. } => {
                self.level += 1;
                self.subst.params(params.iter_mut().map(|(p, _)| p));
                params.iter().for_each(|(p, _)| self.note(p));
                match form {
                    LoopForm::For { var, ty, .. } => {
                        self.types.insert(*var, Type::Prim(*ty));
                    }
                    LoopForm::While { cond } => *cond = self.body(std::mem::take(cond)),
                }
                *body = self.body(std::mem::take(body));
                self.level -= 1;
            }
            _ => lambdas_mut(exp).into_iter().for_each(|l| self.lambda(l)),
        }
    }

    /// Changes of parameters, before the bodies are looked at.
    fn before(&mut self, stm: &mut Stm) {
        let loc = stm.loc;
        match &mut stm.exp {
            Exp::Map { arrays, lambda, .. }
            | Exp::Reduce { arrays, pre: Some(lambda), .. }
            | Exp::Scan { arrays, pre: Some(lambda), .. } => {
                self.known_rows(arrays, lambda, loc);
                self.rows_without_units(arrays, lambda, loc);
            }
            Exp::Hist { arrays, pre: Some(pre), .. } | Exp::Scatter { arrays, pre: Some(pre), .. } => {
                self.known_rows(arrays, pre, loc);
            }
            Exp::Loop { .. } => self.invariant_params(stm),
            _ => {}
        }
    }

    /// Results that are known although the statement has to stay.
    fn after(&mut self, stm: &mut Stm) {
        match &stm.exp {
            Exp::If { .. } => self.same_in_both(stm),
            Exp::Map { .. } => self.plain_results(stm),
            Exp::WithAcc { .. } => self.results_from_outside(stm),
            _ => {}
        }
    }

    fn rule(&mut self, stm: &Stm) -> Option<Rewrite> {
        match &stm.exp {
            Exp::Atom(atom) => Some(Rewrite::Alias(vec![*atom])),
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
                self.scalar(&stm.exp)
            }
            Exp::Index { .. } | Exp::Slice { .. } => self.read(stm),
            Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Replicate { .. } => self.shape(stm),
            Exp::ArrayLit { elems, .. } => self.only_elem(elems),
            Exp::If { cond, then, otherwise } => self.branch(*cond, then, otherwise, stm.loc),
            Exp::Assert { cond, .. } if *cond == Atom::bool(true) => Some(Rewrite::Alias(Vec::new())),
            // A copy says which one of two arrays is to be copied, the row that is kept or the array that is updated.
            Exp::Copy(_) => None,
            Exp::Assert { .. } | Exp::Update { .. } | Exp::Iota { .. } | Exp::Concat { .. } => None,
            Exp::Contract { .. } => None,
            Exp::Scratch { .. } | Exp::Loop { .. } | Exp::Call { .. } => None,
            Exp::Trace { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => None,
            Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => None,
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => None,
            Exp::Transpose { .. } | Exp::Detach(_) => None,
        }
    }

    fn emit(&mut self, hint: &str, ty: Type, exp: Exp, loc: Loc) -> Atom {
        let var = self.b.fresh(hint);
        self.stm(Stm { pat: vec![Param { var, ty }], exp, loc });
        self.subst.of(var.into())
    }
}
