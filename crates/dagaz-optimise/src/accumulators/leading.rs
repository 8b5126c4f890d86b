//! Accumulators of which only one row is updated: the row is an accumulator of its own.
//!
//! ```text
//! let (ys: [n][m]f64) =                              let (row: [m]f64) = xs[i, 0:m]
//!   with_acc over [n, m] (xs) …                      let (sums: [m]f64) =
//!     map m (iota m, vs, acc) \(j, v, acc) ->    ==>   with_acc over [m] (row) …
//!       update_acc acc [i, j] (v)                        map m (iota m, vs, acc) \(j, v, acc) ->
//!                                                          update_acc acc [j] (v)
//!                                                    let (ys: [n][m]f64) = update xs[i, 0:m] (sums)
//! ```
//!
//! This is how the adjoint of an array is written that a loop reads row by row. An update out of bounds is ignored, but a
//! row out of bounds does not exist, so it has to be certain that it does. And the row must not be much longer than the
//! maps that update it, since all of it is written.

use std::collections::HashSet;

use dagaz_core::build::Builder;
use dagaz_core::exp::{AccInput, Body, Check, DimSlice, Exp, Lambda, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies_mut, lambdas_mut, replace_stms};

use super::collect::{Def, ScopeKind, collect};
use super::has_accumulators;
use crate::bounds::rows_that_exist;

pub const SINGLE_OUT_ROWS: Pass = Pass::reporting(
    "single-out-rows",
    "An accumulator of which one row is updated becomes an accumulator of that row.",
    single_out_rows,
);

/// Says whether there was anything to do.
pub fn single_out_rows(program: &mut Program) -> bool {
    if !program.funs.iter().any(|fun| has_accumulators(&fun.body)) {
        return false;
    }
    let rows = rows_that_exist(program);
    if rows.is_empty() {
        return false;
    }
    let mut pass = RowFinder { b: Builder::new(std::mem::take(&mut program.vars)), rows };
    replace_stms(&mut program.funs, &mut |stm, done| pass.stm(stm, done));
    program.vars = pass.b.finish().0;
    true
}

/// The first index of all updates of an accumulator, if that is the same one for all.
pub(crate) fn leading_index(lambda: &Lambda, which: usize, input: &AccInput) -> Option<Atom> {
    if input.shape.len() < 2 || input.arrays.len() != 1 {
        return None;
    }
    let found = collect(lambda, which)?;
    let row = *found.updates.first()?.indices.first()?;
    let is_outside = row.as_var().is_none_or(|var| !found.defs.contains_key(&var) && !binds(lambda, var));
    let is_same = found.updates.iter().all(|update| update.indices.first() == Some(&row));
    (is_outside && is_same).then_some(row)
}

/// The widths of the maps whose own indices, or those moved by something, are the other indices of the updates; none if
/// there are other indices.
pub(crate) fn widths_of_others(
    lambda: &Lambda,
    which: usize,
    counts: impl Fn(VarId) -> bool,
) -> Option<Vec<Vec<Atom>>> {
    let found = collect(lambda, which)?;
    let own = |atom: Atom| match found.defs.get(&atom.as_var()?)? {
        Def::Row { array, scope, .. } if counts(*array) => match found.scopes[*scope].kind {
            ScopeKind::Iteration { width, is_loop: false } => Some(width),
            ScopeKind::Iteration { .. } | ScopeKind::Branch { .. } | ScopeKind::WithAcc => None,
        },
        Def::Row { .. } | Def::Stm { .. } | Def::Counter { .. } | Def::Carried { .. } => None,
    };
    let is_outside = |atom: Atom| atom.as_var().is_none_or(|var| !found.defs.contains_key(&var));
    let width =
        |index: Atom| match found.defs.get(&index.as_var()?)? {
            Def::Stm { exp: Exp::BinOp(BinOp::Add | BinOp::Sub, PrimType::I64, a, b), .. } => {
                if is_outside(*b) { own(*a) } else { own(*b).filter(|_| is_outside(*a)) }
            }
            Def::Stm { .. } | Def::Row { .. } | Def::Counter { .. } | Def::Carried { .. } => own(index),
        };
    found.updates.iter().map(|update| update.indices.iter().skip(1).map(|i| width(*i)).collect()).collect()
}

/// Whether a function has this parameter, or a function inside of it.
fn binds(lambda: &Lambda, var: VarId) -> bool {
    let inside = |stm: &Stm| dagaz_core::visit::lambdas(&stm.exp).into_iter().any(|l| binds(l, var));
    lambda.params.iter().any(|p| p.var == var) || lambda.body.stms.iter().any(inside)
}

struct RowFinder {
    b: Builder,
    /// What the accumulators become whose row exists.
    rows: HashSet<VarId>,
}

impl RowFinder {
    fn stm(&mut self, mut stm: Stm, done: &mut Vec<Stm>) {
        let mut after = Vec::new();
        for position in 0..stm.pat.len() {
            if self.rows.contains(&stm.pat[position].var) {
                self.single_out(&mut stm, position, done, &mut after);
            }
        }
        done.push(stm);
        done.append(&mut after);
    }

    fn single_out(&mut self, stm: &mut Stm, position: usize, before: &mut Vec<Stm>, after: &mut Vec<Stm>) {
        let (loc, whole) = (stm.loc, stm.pat[position].clone());
        let Exp::WithAcc { inputs, lambda } = &mut stm.exp else { return };
        let Some(which) = input_of(inputs, position) else { return };
        let Some(row) = leading_index(lambda, which, &inputs[which]) else { return };
        let Some(accs) = collect(lambda, which).map(|found| found.accs) else { return };
        let Type::Array { elem, dims } = &whole.ty else { return };
        let row_ty = Type::Array { elem: *elem, dims: dims[1..].to_vec() };
        let range = |len: &Atom| DimSlice::Range { start: Atom::i64(0), len: *len, stride: Atom::i64(1) };
        let place: Vec<DimSlice> =
            std::iter::once(DimSlice::Fix(row)).chain(dims[1..].iter().map(range)).collect();
        let base = inputs[which].arrays[0];
        let old_row = self.b.fresh_param("row", row_ty.clone());
        let slice = Exp::Slice { array: base, dims: place.clone() };
        before.push(Stm { pat: vec![old_row.clone()], exp: slice, loc });
        inputs[which].arrays[0] = old_row.var;
        inputs[which].shape.remove(0);
        drop_leading(lambda, &accs);
        let new_row = self.b.fresh_param("row", row_ty);
        let exp =
            Exp::Update { array: base, dims: place, value: new_row.var.into(), check: Check::Certified };
        stm.pat[position] = new_row;
        after.push(Stm { pat: vec![whole], exp, loc });
    }
}

/// The accumulator that this result is the array of.
fn input_of(inputs: &[AccInput], position: usize) -> Option<usize> {
    let mut first = 0;
    inputs.iter().position(|input| {
        first += input.arrays.len();
        position < first
    })
}

fn without_leading(ty: &mut Type) {
    if let Type::Acc { index_dims, .. } = ty {
        index_dims.remove(0);
    }
}

/// The accumulator has a dimension less, wherever it goes.
fn drop_leading(lambda: &mut Lambda, accs: &HashSet<VarId>) {
    lambda.params.iter_mut().filter(|p| accs.contains(&p.var)).for_each(|p| without_leading(&mut p.ty));
    for (atom, ty) in lambda.body.result.iter().zip(&mut lambda.ret) {
        if atom.as_var().is_some_and(|var| accs.contains(&var)) {
            without_leading(ty);
        }
    }
    drop_leading_in(&mut lambda.body, accs);
}

fn drop_leading_in(body: &mut Body, accs: &HashSet<VarId>) {
    for stm in &mut body.stms {
        stm.pat.iter_mut().filter(|p| accs.contains(&p.var)).for_each(|p| without_leading(&mut p.ty));
        match &mut stm.exp {
            Exp::UpdateAcc { acc, indices, .. } if accs.contains(acc) => drop(indices.remove(0)),
            Exp::Loop { params, body, .. } => {
                let own = params.iter_mut().filter(|(p, _)| accs.contains(&p.var));
                own.for_each(|(p, _)| without_leading(&mut p.ty));
                drop_leading_in(body, accs);
            }
            Exp::If { .. } => bodies_mut(&mut stm.exp).into_iter().for_each(|b| drop_leading_in(b, accs)),
            exp => lambdas_mut(exp).into_iter().for_each(|lambda| drop_leading(lambda, accs)),
        }
    }
}
