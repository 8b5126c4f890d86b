//! Reductions along columns become maps of their own, which can run along rows, for all columns at once.
//!
//! ```text
//! let (zs: [m]f64) =                                   let (ss: [m]f64) =
//!   map m (js) \(j: i64) : (f64) ->                      map m (js) \(j: i64) : (f64) ->
//!     let (s: f64) = reduce n (is)                         let (s: f64) = reduce n (is)
//!       pre \(i: i64) : (f64) ->                             pre \(i: i64) : (f64) ->
//!         let (x: f64) = xss[i, j] certified      ==>          let (x: f64) = xss[i, j] certified
//!         in (x)                                               in (x)
//!       op (+) …                                             op (+) …
//!     let (z: f64) = f64.sqrt s                            in (s)
//!     in (z)                                           let (zs: [m]f64) =
//!                                                        map m (ss) \(s: f64) : (f64) ->
//!                                                          let (z: f64) = f64.sqrt s
//!                                                          in (z)
//! ```
//!
//! Fusion would undo this, so it comes after it.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Check, Exp, Lambda, Program, Stm, Vars};
use dagaz_core::pass::Pass;
use dagaz_core::types::{Atom, Param, Type, VarId};

use dagaz_core::effects::cannot_fail;
use dagaz_core::rename::Substitution;
use dagaz_core::visit::{bodies_mut, free_vars, operands_mut};

pub const SPLIT_OFF_COLUMNS: Pass = Pass::always(
    "split-off-columns",
    "Reductions along columns inside of other work become maps of their own.",
    split_off_columns,
);

pub fn split_off_columns(program: &mut Program) {
    let Program { vars, funs, .. } = program;
    funs.iter_mut().for_each(|fun| body(vars, &mut fun.body));
}

fn body(vars: &mut Vars, own: &mut Body) {
    let mut done = Vec::with_capacity(own.stms.len());
    for mut stm in std::mem::take(&mut own.stms) {
        done.extend(split(vars, &mut stm));
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| body(vars, inner));
        done.push(stm);
    }
    own.stms = done;
}

/// Takes the reductions along columns out of a map that does something else, too.
fn split(vars: &mut Vars, stm: &mut Stm) -> Vec<Stm> {
    let loc = stm.loc;
    let Exp::Map { width, arrays, lambda } = &mut stm.exp else { return Vec::new() };
    let bound: HashSet<VarId> =
        lambda.body.stms.iter().flat_map(|stm| &stm.pat).map(|param| param.var).collect();
    let is_apart = |stm: &Stm| {
        is_along_columns(&stm.exp, lambda) && free_vars(&stm.exp).iter().all(|var| !bound.contains(var))
    };
    let are_apart: Vec<bool> = lambda.body.stms.iter().map(is_apart).collect();
    if lambda.body.stms.len() < 2 || lambda.ret.iter().any(Type::is_acc) {
        return Vec::new();
    }
    let mut new = Vec::new();
    let (columns, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut lambda.body.stms).into_iter().zip(are_apart).partition(|(_, is_apart)| *is_apart);
    lambda.body.stms = rest.into_iter().map(|(stm, _)| stm).collect();
    for (mut column, _) in columns {
        let Some((result, elem)) = column.pat.first().cloned().and_then(|p| Some((p.clone(), p.ty.elem()?)))
        else {
            continue;
        };
        let mut names = Substitution::default();
        let free = free_vars(&column.exp);
        let needed = lambda.params.iter().zip(&*arrays).filter(|(param, _)| free.contains(&param.var));
        let (mut params, arrays): (Vec<Param>, Vec<VarId>) =
            needed.map(|(param, array)| (param.clone(), *array)).unzip();
        for param in &mut params {
            let fresh = fresh_like(vars, param.var);
            names.insert(param.var, fresh.into());
            param.var = fresh;
        }
        rename(&names, &mut column.exp);
        let (sum, all) = (fresh_like(vars, result.var), fresh_like(vars, result.var));
        column.pat[0].var = sum;
        let inner = Body { stms: vec![column], result: vec![sum.into()] };
        let exp = Exp::Map {
            width: *width,
            arrays,
            lambda: Lambda { params, body: inner, ret: vec![result.ty.clone()] },
        };
        let ty = Type::array(elem, vec![*width]);
        new.push((Stm { pat: vec![Param { var: all, ty }], exp, loc }, result));
    }
    for (stm, result) in &new {
        arrays.push(stm.pat[0].var);
        lambda.params.push(result.clone());
    }
    new.into_iter().map(|(stm, _)| stm).collect()
}

pub(crate) fn fresh_like(vars: &mut Vars, var: VarId) -> VarId {
    let hint = vars.hint(var).to_owned();
    vars.fresh(&hint)
}

/// Whether this is a reduction of scalars that reads a column for every iteration of a map, and cannot fail.
fn is_along_columns(exp: &Exp, map: &Lambda) -> bool {
    let Exp::Reduce { width, arrays, pre: Some(pre), op, neutral, .. } = exp else { return false };
    let is_own = |atom: &Atom| atom.as_var().is_some_and(|v| map.params.iter().any(|p| p.var == v));
    let depends =
        is_own(width) || neutral.iter().any(is_own) || arrays.iter().any(|array| is_own(&Atom::Var(*array)));
    let stms = || pre.body.stms.iter().chain(&op.body.stms);
    let is_plain = |stm: &Stm| match &stm.exp {
        Exp::Index { check, .. } => *check == Check::Certified && stm.pat.iter().all(|p| p.ty.rank() == 0),
        exp => cannot_fail(exp),
    };
    let is_column = |stm: &Stm| match &stm.exp {
        Exp::Index { indices, .. } => indices.len() > 1 && indices.last().is_some_and(is_own),
        _ => false,
    };
    neutral.len() == 1 && !depends && stms().all(is_plain) && stms().any(is_column)
}

/// Gives variables new names in all of an expression whose types do not depend on them.
pub(crate) fn rename(names: &Substitution, exp: &mut Exp) {
    operands_mut(exp, &mut |atom| names.apply(atom));
    for body in bodies_mut(exp) {
        body.stms.iter_mut().for_each(|stm| rename(names, &mut stm.exp));
        body.result.iter_mut().for_each(|atom| names.apply(atom));
    }
}
