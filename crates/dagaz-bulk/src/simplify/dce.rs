//! What nobody reads goes: statements that only give values, and what loops carry for nothing.

use std::collections::HashSet;

use dagaz_core::types::{Atom, VarId};

use crate::term::{Body, LoopForm, Op, Program, Stm};
use crate::visit::{any_stm, bodies, bodies_mut, free_vars, free_vars_body};

pub(super) fn remove_dead(program: &mut Program) {
    let mut used: HashSet<VarId> = HashSet::new();
    for fun in &mut program.funs {
        fun.body = body(std::mem::take(&mut fun.body));
        used.extend(free_vars_body(&fun.body));
    }
    let mut kept = Vec::new();
    for stm in std::mem::take(&mut program.consts).into_iter().rev() {
        keep(stm, &mut used, &mut kept);
    }
    kept.reverse();
    program.consts = kept;
}

fn body(body: Body) -> Body {
    let mut used: HashSet<VarId> = body.result.iter().filter_map(|atom| atom.as_var()).collect();
    let mut kept = Vec::new();
    for stm in body.stms.into_iter().rev() {
        keep(stm, &mut used, &mut kept);
    }
    kept.reverse();
    Body { stms: kept, result: body.result }
}

/// Keeps a statement if it is used or does something; statements come last first.
fn keep(mut stm: Stm, used: &mut HashSet<VarId>, kept: &mut Vec<Stm>) {
    if !stm.pat.iter().any(|p| used.contains(&p.var)) && !acts(&stm) {
        return;
    }
    without_dead_results(&mut stm, used);
    bodies_mut(&mut stm.op).into_iter().for_each(|inner| *inner = body(std::mem::take(inner)));
    used.extend(free_vars(&stm.op));
    used.extend(stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var));
    kept.push(stm);
}

/// Whether a statement can do something else than giving values: stop the program, or not end.
fn acts(stm: &Stm) -> bool {
    let acts_itself = |stm: &Stm| {
        matches!(stm.op, Op::Assert { .. } | Op::Call { .. } | Op::Loop { form: LoopForm::While { .. }, .. })
    };
    acts_itself(stm) || bodies(&stm.op).into_iter().any(|inner| any_stm(inner, &acts_itself))
}

/// Branches and loops without the results that nobody reads.
fn without_dead_results(stm: &mut Stm, used: &HashSet<VarId>) {
    let sizes: HashSet<VarId> =
        stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var).collect();
    let mut is_used: Vec<bool> =
        stm.pat.iter().map(|p| used.contains(&p.var) || sizes.contains(&p.var)).collect();
    match &mut stm.op {
        Op::If { then, otherwise, .. } => {
            retain(&mut then.result, &is_used);
            retain(&mut otherwise.result, &is_used);
        }
        Op::Loop { params, form, body, .. } => {
            mark_carried(params.iter().map(|(p, _)| p), form, body, &mut is_used);
            retain(&mut body.result, &is_used);
            retain(params, &is_used);
        }
        // The results of all others stay or go together.
        Op::Atom(_) | Op::UnOp(..) | Op::BinOp(..) | Op::TernOp(..) | Op::CmpOp(..) | Op::Convert(..) => {
            return;
        }
        Op::Select { .. } | Op::Iota { .. } | Op::Broadcast { .. } | Op::Transpose { .. } => return,
        Op::Reshape { .. } | Op::Slice { .. } | Op::Update { .. } | Op::Concat { .. } => return,
        Op::Stack { .. } | Op::Gather { .. } | Op::Scatter { .. } | Op::Fold { .. } | Op::Reduce { .. } => {
            return;
        }
        Op::Scan { .. } | Op::Dot { .. } | Op::Call { .. } | Op::Assert { .. } => return,
    }
    retain(&mut stm.pat, &is_used);
}

/// Marks the variables of a loop that its condition, what it does, or another marked one needs.
fn mark_carried<'p>(
    params: impl Iterator<Item = &'p dagaz_core::types::Param>,
    form: &LoopForm,
    body: &Body,
    is_used: &mut [bool],
) {
    let params: Vec<_> = params.collect();
    let mut needed: HashSet<VarId> =
        params.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var).collect();
    if let LoopForm::While { cond } = form {
        needed.extend(free_vars_body(cond));
    }
    loop {
        let mut results = body.result.iter().zip(is_used.iter()).filter(|(_, used)| **used);
        let live: HashSet<VarId> = results.by_ref().filter_map(|(atom, _)| atom.as_var()).collect();
        let reads = needed_in(body, &live);
        let mut changed = false;
        for (param, used) in params.iter().zip(is_used.iter_mut()) {
            let now = *used || needed.contains(&param.var) || reads.contains(&param.var);
            changed |= now != *used;
            *used = now;
        }
        if !changed {
            return;
        }
    }
}

/// The variables that a body reads for the given ones, and for what it does.
fn needed_in(body: &Body, live: &HashSet<VarId>) -> HashSet<VarId> {
    let mut needed = live.clone();
    for stm in body.stms.iter().rev() {
        if stm.pat.iter().any(|p| needed.contains(&p.var)) || acts(stm) {
            needed.extend(free_vars(&stm.op));
            needed.extend(stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var));
        }
    }
    needed
}

fn retain<T>(all: &mut Vec<T>, is_used: &[bool]) {
    let mut flags = is_used.iter();
    all.retain(|_| *flags.next().unwrap_or(&true));
}
