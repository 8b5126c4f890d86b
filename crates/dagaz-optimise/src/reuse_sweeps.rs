//! What a loop has found for the rows of some arrays is kept for a later map over the same rows.
//!
//! ```text
//! let () = map n (xs) \(x: f64) : () ->             let (ls: [n]i64) = map n (xs) \(x: f64) : (i64) ->
//!   let (l: i64) = loop … while … x …                 let (l: i64) = loop … while … x …
//!   let (y: f64) = ys[l]                              let (y: f64) = ys[l]
//!   in ()                                    ==>      in (l)
//! let (zs: [n]f64) = map n (xs)                     let (zs: [n]f64) = map n (ls)
//!   \(x: f64) : (f64) ->                              \(l: i64) : (f64) ->
//!     let (l: i64) = loop … while … x …                 …
//!     …
//! ```
//!
//! The sweeps of a derivative have such loops, a binary search for instance, which takes longer than a number that is read.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, Lambda, LoopForm, Program, Stm, Vars};
use dagaz_core::pass::Pass;
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies_mut, free_vars};

use crate::columns::{fresh_like, rename};
use crate::cse::key;

pub const REUSE_SWEEPS: Pass = Pass::always(
    "reuse-sweeps",
    "What a loop has found for each row is kept for a later map over the same rows.",
    reuse_sweeps,
);

pub fn reuse_sweeps(program: &mut Program) {
    let Program { vars, funs, .. } = program;
    funs.iter_mut().for_each(|fun| body(vars, &mut fun.body));
}

fn body(vars: &mut Vars, own: &mut Body) {
    for stm in &mut own.stms {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| body(vars, inner));
    }
    for number in 0..own.stms.len() {
        let (before, after) = own.stms.split_at_mut(number + 1);
        let Some(first) = before.last_mut().filter(|stm| has_loops(stm)) else { continue };
        for stm in after {
            let later = match &mut stm.exp {
                Exp::WithAcc { lambda, .. } => lambda.body.stms.first_mut(),
                _ => Some(stm),
            };
            if let Some(later) = later {
                reuse(vars, first, later);
            }
        }
    }
}

fn has_loops(stm: &Stm) -> bool {
    matches!(&stm.exp, Exp::Map { lambda, .. } if lambda.body.stms.iter().any(is_long))
}

/// Whether this is a loop of scalars that may take long.
fn is_long(stm: &Stm) -> bool {
    let is_long = match &stm.exp {
        Exp::Loop { form: LoopForm::While { .. }, .. } => true,
        Exp::Loop { form: LoopForm::For { bound, .. }, .. } => bound.as_var().is_some(),
        _ => false,
    };
    is_long && stm.pat.iter().all(|p| matches!(p.ty, Type::Prim(_)))
}

/// Gives the results of loops in one map to another one that has the same loops.
fn reuse(vars: &mut Vars, first: &mut Stm, later: &mut Stm) {
    let (Exp::Map { width, arrays, lambda }, Exp::Map { width: same, arrays: others, lambda: other }) =
        (&mut first.exp, &mut later.exp)
    else {
        return;
    };
    if width != same {
        return;
    }
    let mut names = Substitution::default();
    for (array, param) in arrays.iter().zip(&lambda.params) {
        if let Some(place) = others.iter().position(|other| other == array) {
            names.insert(param.var, other.params[place].var.into());
        }
    }
    let mut found = Vec::new();
    for stm in &lambda.body.stms {
        let mut exp = stm.exp.clone();
        rename(&names, &mut exp);
        let own = key(&Stm { pat: stm.pat.clone(), exp, loc: stm.loc });
        let place =
            own.and_then(|own| other.body.stms.iter().position(|stm| key(stm).as_ref() == Some(&own)));
        let Some(place) = place else { continue };
        for (param, same) in stm.pat.iter().zip(&other.body.stms[place].pat) {
            names.insert(param.var, same.var.into());
        }
        if is_long(stm) && !found.iter().any(|(_, known)| *known == place) {
            found.push((stm.pat.clone(), place));
        }
    }
    let used = used_in(other);
    for (results, place) in &found {
        for (result, param) in results.iter().zip(&other.body.stms[*place].pat.clone()) {
            if !used.contains(&param.var) {
                continue;
            }
            let all = fresh_like(vars, result.var);
            lambda.body.result.push(result.var.into());
            lambda.ret.push(result.ty.clone());
            first.pat.push(Param { var: all, ty: result.ty.with_outer(&[*width]) });
            others.push(all);
            other.params.push(param.clone());
        }
    }
    let mut number = 0;
    other.body.stms.retain(|_| {
        number += 1;
        !found.iter().any(|(_, place)| *place == number - 1)
    });
}

/// What the statements and results of a lambda need.
fn used_in(lambda: &Lambda) -> HashSet<VarId> {
    let stms = lambda.body.stms.iter().flat_map(|stm| free_vars(&stm.exp));
    stms.chain(lambda.body.result.iter().filter_map(|atom: &Atom| atom.as_var())).collect()
}
