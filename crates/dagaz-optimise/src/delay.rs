//! Updates in place wait until their results are needed, so that operations around them come together.
//!
//! ```text
//! let (a, b) = map n (xs) …                       let (a, b) = map n (xs) …
//! let (rows1) = rows with [0] = b         ==>     let (c) = map n (a) …
//! let (c) = map n (a) …                           let (rows1) = rows with [0] = b
//! let (rows2) = rows1 with [1] = c                let (rows2) = rows1 with [1] = c
//! ```
//!
//! Reverse mode adds to one row after another. An update that needs no check may wait past whatever does not consume what it
//! takes.

use std::collections::HashMap;

use dagaz_core::effects::viewed;
use dagaz_core::exp::{Body, Check, Exp, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{bodies_mut, free_vars};

pub const DELAY_UPDATES: Pass = Pass::always(
    "delay-updates",
    "Updates in place move down to where their results are needed.",
    delay_updates,
);

pub fn delay_updates(program: &mut Program) {
    program.funs.iter_mut().for_each(|fun| delay(&mut fun.body));
}

fn delay(body: &mut Body) {
    for stm in &mut body.stms {
        bodies_mut(&mut stm.exp).into_iter().for_each(delay);
    }
    let views: HashMap<VarId, VarId> = body.stms.iter().filter_map(view).collect();
    for at in (0..body.stms.len()).rev() {
        let Some(taken) = taken(&body.stms[at]) else { continue };
        let taken: Vec<VarId> = taken.into_iter().map(|var| root(var, &views)).collect();
        let made = body.stms[at].pat.first().map(|p| p.var);
        let later = &body.stms[at + 1..];
        let stop = later.iter().position(|stm| {
            let free = free_vars(&stm.exp);
            let needs = made.is_some_and(|var| free.contains(&var));
            needs || (!only_reads(&stm.exp) && free.iter().any(|var| taken.contains(&root(*var, &views))))
        });
        let distance = stop.unwrap_or(later.len());
        body.stms[at..=at + distance].rotate_left(1);
    }
}

/// A part of an array, and the array.
fn view(stm: &Stm) -> Option<(VarId, VarId)> {
    let [param] = stm.pat.as_slice() else { return None };
    Some((param.var, viewed(&stm.exp)?))
}

fn root(var: VarId, views: &HashMap<VarId, VarId>) -> VarId {
    let mut root = var;
    while let Some(array) = views.get(&root) {
        root = *array;
    }
    root
}

/// What an update that cannot fail takes: the array, and what is put there.
fn taken(stm: &Stm) -> Option<Vec<VarId>> {
    match &stm.exp {
        Exp::Update { array, value, check: Check::Certified, .. } => {
            Some([*array].into_iter().chain(value.as_var()).collect())
        }
        _ => None,
    }
}

/// Whether an expression consumes nothing.
fn only_reads(exp: &Exp) -> bool {
    match exp {
        Exp::Atom(Atom::Const(_)) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) => true,
        Exp::Convert(..) | Exp::Index { .. } | Exp::Copy(_) | Exp::Iota { .. } | Exp::Replicate { .. } => {
            true
        }
        Exp::Map { lambda, .. } => lambda.params.iter().all(|p| !p.ty.is_acc()),
        Exp::Reduce { .. } | Exp::Scan { .. } => true,
        _ => false,
    }
}
