//! Fuses a map into the one operation that takes its results: another map, or a reduction or scan, which applies it first.
//! A histogram or scatter that applies a function already takes a map, too.
//!
//! ```text
//! let (ys: [n]f64) =                               let (s: f64) =
//!   map n (xs) \(x: f64) : (f64) ->                  reduce n (xs)
//!     let (y: f64) = f64.sin x                         pre \(x: f64) : (f64) ->
//!     in (y)                               ==>           let (y: f64) = f64.sin x
//! let (s: f64) = reduce n (ys) op (+) ...                in (y)
//!                                                      op (+) ...
//! ```
//!
//! No work is done twice: all results of the first map must go to that operation and nowhere else. A map that may stop the
//! program stays where it is, so that errors come in the same order. Expects that dead results are gone; leaves
//! `let (x: t) = a` to [`crate::simplify`].

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Lambda, Program, Stm, Vars};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::direct_operands;

use crate::effects::Effects;
use crate::walk::{bodies, for_each_body};

pub fn fuse_maps(program: &mut Program) {
    let effects = Effects::of(program);
    let mut uses = HashMap::new();
    for fun in &program.funs {
        count_body(&fun.body, &mut uses);
    }
    let mut fuser = Fuser { effects, uses, vars: &mut program.vars };
    program.funs.iter_mut().for_each(|fun| fuser.body(&mut fun.body));
}

/// How often each variable is used, as an operand or as a result.
fn count_body(body: &Body, uses: &mut HashMap<VarId, usize>) {
    let mut count = |atom: Atom| {
        if let Atom::Var(var) = atom {
            *uses.entry(var).or_default() += 1;
        }
    };
    body.result.iter().for_each(|a| count(*a));
    for stm in &body.stms {
        direct_operands(&stm.exp, &mut count);
    }
    for stm in &body.stms {
        bodies(&stm.exp).into_iter().for_each(|body| count_body(body, uses));
    }
}

struct Fuser<'p> {
    effects: Effects,
    uses: HashMap<VarId, usize>,
    vars: &'p mut Vars,
}

impl Fuser<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut done: Vec<Stm> = Vec::with_capacity(body.stms.len());
        // Where the maps are that may be fused, by each of their results.
        let mut maps: HashMap<VarId, usize> = HashMap::new();
        for mut stm in std::mem::take(&mut body.stms) {
            for_each_body(&mut stm.exp, &mut |_, _, body| self.body(body));
            while let Some(position) = self.producer(&stm.exp, &maps, &done) {
                let empty = Stm { pat: Vec::new(), exp: Exp::Atom(Atom::bool(false)), loc: stm.loc };
                let first = std::mem::replace(&mut done[position], empty);
                self.fuse(first, &mut stm.exp);
            }
            if matches!(&stm.exp, Exp::Map { lambda, .. } if !lambda.params.iter().any(|p| p.ty.is_acc()))
                && self.effects.is_removable(&stm)
            {
                maps.extend(stm.pat.iter().map(|p| (p.var, done.len())));
            }
            done.push(stm);
        }
        body.stms = done;
        body.stms.retain(|stm| !(stm.pat.is_empty() && matches!(stm.exp, Exp::Atom(_))));
    }

    /// A map all of whose results the expression takes, and nobody else.
    fn producer(&self, exp: &Exp, maps: &HashMap<VarId, usize>, done: &[Stm]) -> Option<usize> {
        let (width, arrays) = rows(exp)?;
        let is_fusible = |position: usize| {
            let Stm { pat, exp: Exp::Map { width: own, .. }, .. } = &done[position] else { return false };
            *own == width
                && pat.iter().all(|p| {
                    let here = arrays.iter().filter(|a| **a == p.var).count();
                    here > 0 && self.uses.get(&p.var) == Some(&here)
                })
        };
        arrays.iter().filter_map(|array| maps.get(array)).copied().find(|position| is_fusible(*position))
    }

    fn fuse(&mut self, first: Stm, exp: &mut Exp) {
        let Exp::Map { arrays: inputs, lambda, .. } = first.exp else { return };
        let loc = first.loc;
        let made: HashMap<VarId, Atom> =
            first.pat.iter().map(|p| p.var).zip(lambda.body.result.iter().copied()).collect();
        let rest = self.row_function(exp);
        let Some((arrays, second)) = rest else { return };
        let mut all = inputs;
        let (mut params, mut stms) = (lambda.params, lambda.body.stms);
        for (array, param) in std::mem::take(arrays).into_iter().zip(std::mem::take(&mut second.params)) {
            match made.get(&array) {
                Some(row) => stms.push(Stm { pat: vec![param], exp: Exp::Atom(*row), loc }),
                None => {
                    all.push(array);
                    params.push(param);
                }
            }
        }
        stms.append(&mut second.body.stms);
        second.body.stms = stms;
        second.params = params;
        *arrays = all;
    }

    /// The arrays of the operation, and the function that it applies to their rows first.
    fn row_function<'e>(&mut self, exp: &'e mut Exp) -> Option<(&'e mut Vec<VarId>, &'e mut Lambda)> {
        match exp {
            Exp::Map { arrays, lambda, .. } => Some((arrays, lambda)),
            Exp::Reduce { arrays, pre, op, .. } | Exp::Scan { arrays, pre, op, .. } => {
                let types = op.ret.clone();
                let identity = || self.identity(types);
                Some((arrays, pre.get_or_insert_with(identity)))
            }
            Exp::Hist { arrays, pre, .. } | Exp::Scatter { arrays, pre, .. } => {
                pre.as_mut().map(|pre| (arrays, pre))
            }
            _ => None,
        }
    }

    fn identity(&mut self, types: Vec<Type>) -> Lambda {
        let params: Vec<Param> =
            types.iter().map(|ty| Param { var: self.vars.fresh("row"), ty: ty.clone() }).collect();
        let result = params.iter().map(|p| p.var.into()).collect();
        Lambda { params, body: Body { stms: Vec::new(), result }, ret: types }
    }
}

/// The width and the arrays of a parallel operation that can apply a function to rows first.
fn rows(exp: &Exp) -> Option<(Atom, &[VarId])> {
    match exp {
        Exp::Map { width, arrays, .. } => Some((*width, arrays)),
        Exp::Reduce { width, arrays, .. } | Exp::Scan { width, arrays, .. } => Some((*width, arrays)),
        Exp::Hist { width, arrays, pre: Some(_), .. } | Exp::Scatter { width, arrays, pre: Some(_), .. } => {
            Some((*width, arrays))
        }
        _ => None,
    }
}
