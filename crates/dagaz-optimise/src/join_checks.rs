//! Where a map is there for its checks, and an operation after it reads the same elements, that makes the checks.
//!
//! ```text
//! let () = map n (is) \(i: i64) : () ->
//!   let (x: f64) = xs[i]
//!   in ()                                       let (ys: [n]f64) = map n (is) \(i: i64) : (f64) ->
//! let (ys: [n]f64) = map n (is)          ==>      let (x: f64) = xs[i]
//!   \(i: i64) : (f64) ->                          in (x)
//!     let (x: f64) = xs[i] certified
//!     in (x)
//! ```
//!
//! Derivatives leave such maps, of what ran before the reverse sweep. Nothing up to the operation may stop the program, nor may
//! the operation itself; and nothing may read what the checks have certified before they are made. Only for operations on
//! scalars: others have loops inside, for which checks are better made before.

use dagaz_core::exp::{Body, Check, Exp, Lambda, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::types::{Type, VarId};

use crate::cse::key;
use dagaz_core::effects::{Effects, cannot_fail, relies_on_checks};
use dagaz_core::rename::Substitution;
use dagaz_core::visit::{bodies, bodies_mut, direct_operands, operands_mut};

pub const JOIN_CHECKS: Pass = Pass::always(
    "join-checks",
    "An operation that reads what a map before it checks makes the checks itself.",
    join_checks,
);

pub fn join_checks(program: &mut Program) {
    let effects = Effects::of(program);
    program.funs.iter_mut().for_each(|fun| body(&effects, &mut fun.body));
}

fn body(effects: &Effects, own: &mut Body) {
    for stm in &mut own.stms {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| body(effects, inner));
    }
    let mut number = 0;
    while number < own.stms.len() {
        let (before, after) = own.stms.split_at_mut(number + 1);
        match before.last().is_some_and(|stm| is_for_checks(stm) && join(effects, stm, after)) {
            true => drop(own.stms.remove(number)),
            false => number += 1,
        }
    }
}

/// Whether a map does nothing but read elements at indices that may be wrong, and compute these.
fn is_for_checks(stm: &Stm) -> bool {
    let Exp::Map { lambda, .. } = &stm.exp else { return false };
    let mut used: Vec<VarId> = Vec::new();
    lambda.body.stms.iter().for_each(|stm| direct_operands(&stm.exp, &mut |a| used.extend(a.as_var())));
    lambda.ret.is_empty()
        && lambda.body.stms.iter().all(|stm| match &stm.exp {
            Exp::Index { .. } => stm.pat.iter().all(|p| p.ty.rank() == 0 && !used.contains(&p.var)),
            exp => cannot_fail(exp),
        })
}

/// Whether one of the statements after a map could take its checks over.
fn join(effects: &Effects, checks: &Stm, after: &mut [Stm]) -> bool {
    for stm in after {
        if !effects.is_removable(stm) {
            return false;
        }
        let relies_on_checks = relies_on_checks(stm);
        let reader = match &mut stm.exp {
            Exp::WithAcc { lambda, .. } => lambda.body.stms.first_mut(),
            _ => Some(stm),
        };
        if reader.is_some_and(|reader| take_over(checks, reader)) {
            return true;
        }
        if relies_on_checks {
            return false;
        }
    }
    false
}

/// Makes an operation check what the map checks, if it reads all of that.
fn take_over(checks: &Stm, reader: &mut Stm) -> bool {
    let (Exp::Map { width, arrays, lambda }, Exp::Map { width: same, arrays: others, lambda: other }) =
        (&checks.exp, &mut reader.exp)
    else {
        return false;
    };
    if width != same || !is_scalar(other) {
        return false;
    }
    let mut names = Substitution::default();
    for (array, param) in arrays.iter().zip(&lambda.params) {
        let Some(place) = others.iter().position(|other| other == array) else { return false };
        names.insert(param.var, other.params[place].var.into());
    }
    let mut found = Vec::new();
    for stm in &lambda.body.stms {
        let Some(place) = same_statement(stm, &names, &other.body.stms) else { return false };
        for (param, same) in stm.pat.iter().zip(&other.body.stms[place].pat) {
            names.insert(param.var, same.var.into());
        }
        found.push(place);
    }
    let last = found.iter().copied().max().unwrap_or(0);
    let is_early = |(place, stm): (usize, &Stm)| relies_on_checks(stm) && !found.contains(&place);
    if other.body.stms.iter().take(last).enumerate().any(is_early) {
        return false;
    }
    for place in found {
        if let Exp::Index { check, .. } = &mut other.body.stms[place].exp {
            *check = Check::Checked;
        }
    }
    true
}

/// The number of the statement that computes or reads the same, as things are called there.
fn same_statement(stm: &Stm, names: &Substitution, others: &[Stm]) -> Option<usize> {
    let mut exp = stm.exp.clone();
    operands_mut(&mut exp, &mut |atom| names.apply(atom));
    if let Exp::Index { array, indices, .. } = &exp {
        return others.iter().position(|other| {
            matches!(&other.exp, Exp::Index { array: own, indices: at, .. } if own == array && at == indices)
        });
    }
    let own = key(&Stm { pat: stm.pat.clone(), exp, loc: stm.loc })?;
    others.iter().position(|other| key(other).as_ref() == Some(&own))
}

fn is_scalar(lambda: &Lambda) -> bool {
    let is_plain = |ty: &Type| matches!(ty, Type::Prim(_) | Type::Acc { .. });
    lambda.params.iter().all(|p| is_plain(&p.ty))
        && lambda
            .body
            .stms
            .iter()
            .all(|stm| bodies(&stm.exp).is_empty() && stm.pat.iter().all(|p| is_plain(&p.ty)))
}
