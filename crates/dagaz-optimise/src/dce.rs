//! Removes what nobody needs: statements, the constants included, and single results of parallel operations, branches
//! and loops.
//!
//! ```text
//! let (a: [n]i64, b: [n]i64) =               let (b: [n]i64) =
//!   map n (xs) \(x: i64) : (i64, i64) ->       map n (xs) \(x: i64) : (i64) ->
//!     let (c: i64) = i64.add x 1i64     ==>      let (d: i64) = i64.mul x 2i64
//!     let (d: i64) = i64.mul x 2i64              in (d)
//!     in (c, d)                              in (b)
//! in (b)
//! ```
//!
//! Statements that may stop the program stay. A parameter of a loop goes if only itself, and others that go, need it, and so
//! does a component of a reduction or scan.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, Lambda, LoopForm, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{direct_operands, free_vars, free_vars_body};

use crate::walk::{for_each_body, keep};
use dagaz_core::effects::Effects;

pub const ELIMINATE_DEAD_CODE: Pass = Pass::always(
    "eliminate-dead-code",
    "What nobody needs is removed: statements, single results, parameters of loops.",
    eliminate_dead_code,
)
.before_derivatives();

pub fn eliminate_dead_code(program: &mut Program) {
    let effects = Effects::of(program);
    let mut dead = Dead { effects, used: HashSet::new() };
    for fun in &mut program.funs {
        fun.ret.iter().for_each(|p| dead.use_type(&p.ty));
        fun.params.iter().for_each(|p| dead.use_type(&p.ty));
        dead.body(&mut fun.body);
    }
    dead.stms(&mut program.consts);
}

struct Dead {
    effects: Effects,
    /// Variables that are used after the point that was reached, going backwards.
    used: HashSet<VarId>,
}

impl Dead {
    fn use_atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            self.used.insert(var);
        }
    }

    fn use_type(&mut self, ty: &Type) {
        ty.all_dims().into_iter().for_each(|dim| self.use_atom(dim));
    }

    fn is_used(&self, param: &Param) -> bool {
        self.used.contains(&param.var)
    }

    fn body(&mut self, body: &mut Body) {
        body.result.iter().for_each(|atom| self.use_atom(*atom));
        self.stms(&mut body.stms);
    }

    /// From the last statement to the first, so that all uses of a variable are seen before its binding.
    fn stms(&mut self, stms: &mut Vec<Stm>) {
        let mut kept = Vec::with_capacity(stms.len());
        for mut stm in std::mem::take(stms).into_iter().rev() {
            if !stm.pat.iter().any(|p| self.is_used(p)) && self.effects.is_removable(&stm) {
                continue;
            }
            self.remove_results(&mut stm);
            stm.pat.iter().for_each(|p| self.use_type(&p.ty));
            if let Exp::ArrayLit { row, .. } = &stm.exp {
                self.use_type(row);
            }
            for_each_body(&mut stm.exp, &mut |params, ret, body| {
                ret.iter().for_each(|ty| self.use_type(ty));
                self.body(body);
                params.iter().for_each(|p| self.use_type(&p.ty));
            });
            self.remove_inputs(&mut stm.exp);
            direct_operands(&stm.exp, &mut |atom| self.use_atom(atom));
            kept.push(stm);
        }
        kept.reverse();
        *stms = kept;
    }

    /// Removes the results that nobody uses, where they can go one by one. Accumulators always stay.
    fn remove_results(&self, stm: &mut Stm) {
        let mut live: Vec<bool> = stm.pat.iter().map(|p| self.is_used(p) || p.ty.is_acc()).collect();
        // Sizes of other results of the same pattern are used, too.
        for i in (0..live.len()).rev().filter(|i| stm.pat[*i].ty.rank() > 0).collect::<Vec<_>>() {
            if live[i] {
                for dim in stm.pat[i].ty.dims() {
                    let size = stm.pat.iter().position(|p| *dim == Atom::Var(p.var));
                    size.into_iter().for_each(|j| live[j] = true);
                }
            }
        }
        if live.iter().all(|l| *l) {
            return;
        }
        match &mut stm.exp {
            Exp::Map { lambda, .. } => keep_results(lambda, &live),
            Exp::WithAcc { inputs, lambda } => {
                let arrays: usize = inputs.iter().map(|i| i.arrays.len()).sum();
                live[..arrays].fill(true);
                let own: Vec<bool> = vec![true; inputs.len()];
                keep_results(lambda, &[&own, &live[arrays..]].concat());
            }
            Exp::If { then, otherwise, .. } => {
                keep(&mut then.result, &live);
                keep(&mut otherwise.result, &live);
            }
            Exp::Loop { params, form, body, .. } => {
                needed_params(&self.effects, params, form, body, &mut live);
                keep(params, &live);
                keep(&mut body.result, &live);
            }
            // These have one result, or results that belong together.
            Exp::Atom(_)
            | Exp::UnOp(..)
            | Exp::BinOp(..)
            | Exp::TernOp(..)
            | Exp::CmpOp(..)
            | Exp::Convert(..) => return,
            Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) => return,
            Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => return,
            Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::Call { .. } => return,
            Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => return,
            Exp::Contract { .. } => return,
            Exp::Reduce { arrays, pre, op, neutral, .. } | Exp::Scan { arrays, pre, op, neutral, .. } => {
                needed_components(&self.effects, op, &mut live);
                if live.iter().all(|l| !l) {
                    return;
                }
                keep(neutral, &live);
                keep(&mut op.params, &[live.as_slice(), &live].concat());
                keep_results(op, &live);
                match pre {
                    Some(pre) => keep_results(pre, &live),
                    None => keep(arrays, &live),
                }
            }
            Exp::Hist { .. } | Exp::Scatter { .. } => return,
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => return,
            Exp::Transpose { .. } | Exp::Detach(_) => {
                return;
            }
        }
        keep(&mut stm.pat, &live);
    }

    /// Removes the arrays of a parallel operation whose rows are not used.
    fn remove_inputs(&self, exp: &mut Exp) {
        let (arrays, lambda) = match exp {
            Exp::Map { arrays, lambda, .. } => (arrays, lambda),
            Exp::Reduce { arrays, pre: Some(pre), .. } | Exp::Scan { arrays, pre: Some(pre), .. } => {
                (arrays, pre)
            }
            Exp::Hist { arrays, pre: Some(pre), .. } | Exp::Scatter { arrays, pre: Some(pre), .. } => {
                (arrays, pre)
            }
            _ => return,
        };
        let live: Vec<bool> = lambda.params.iter().map(|p| self.is_used(p) || p.ty.is_acc()).collect();
        keep(arrays, &live);
        keep(&mut lambda.params, &live);
    }
}

fn keep_results(lambda: &mut Lambda, live: &[bool]) {
    keep(&mut lambda.ret, live);
    keep(&mut lambda.body.result, live);
}

/// Marks the components that the operator needs for live ones, or for effects.
fn needed_components(effects: &Effects, op: &Lambda, live: &mut [bool]) {
    let mut needed: HashSet<VarId> = HashSet::new();
    let results = op.body.result.iter().zip(&*live).filter(|(_, live)| **live);
    needed.extend(results.filter_map(|(atom, _)| atom.as_var()));
    loop {
        for stm in op.body.stms.iter().rev() {
            if !effects.is_removable(stm) || stm.pat.iter().any(|p| needed.contains(&p.var)) {
                needed.extend(stm_uses(stm));
            }
        }
        let count = live.len();
        let more = |i: &usize, live: &[bool]| {
            let is_needed = |j: usize| op.params.get(j).is_some_and(|p| needed.contains(&p.var));
            !live[*i] && (is_needed(*i) || is_needed(count + *i))
        };
        let Some(next) = (0..count).find(|i| more(i, live)) else { return };
        live[next] = true;
        needed.extend(op.body.result[next].as_var());
    }
}

/// Marks the parameters that live ones, effects, sizes or the condition of the loop need.
fn needed_params(
    effects: &Effects,
    params: &[(Param, Atom)],
    form: &LoopForm,
    body: &Body,
    live: &mut [bool],
) {
    let mut needed: HashSet<VarId> = HashSet::new();
    if let LoopForm::While { cond } = form {
        needed.extend(free_vars_body(cond));
    }
    let uses: Vec<Vec<VarId>> = body.stms.iter().map(stm_uses).collect();
    let mut taken: Vec<bool> = body.stms.iter().map(|stm| !effects.is_removable(stm)).collect();
    // Of a loop inside, what the needed results need.
    let mut wanted: Vec<Vec<bool>> = vec![Vec::new(); body.stms.len()];
    for (uses, taken) in uses.iter().zip(&taken) {
        if *taken {
            needed.extend(uses);
        }
    }
    loop {
        let before = (needed.len(), live.iter().filter(|l| **l).count());
        for (i, (param, _)) in params.iter().enumerate() {
            live[i] |= needed.contains(&param.var);
            if live[i] {
                needed.extend(body.result[i].as_var());
                needed.extend(param.ty.all_dims().into_iter().filter_map(Atom::as_var));
            }
        }
        for (i, stm) in body.stms.iter().enumerate().rev() {
            if taken[i] || !stm.pat.iter().any(|p| needed.contains(&p.var)) {
                continue;
            }
            if let Exp::Loop { params, form, body, .. } = &stm.exp {
                let live: Vec<bool> = stm.pat.iter().map(|p| needed.contains(&p.var)).collect();
                if wanted[i] != live {
                    needed.extend(loop_uses(effects, params, form, body, &live));
                    let types = stm.pat.iter().zip(&live).filter(|(_, live)| **live).map(|(p, _)| &p.ty);
                    needed.extend(types.flat_map(Type::all_dims).filter_map(Atom::as_var));
                    wanted[i] = live;
                }
            } else {
                taken[i] = true;
                needed.extend(&uses[i]);
            }
        }
        if before == (needed.len(), live.iter().filter(|l| **l).count()) {
            return;
        }
    }
}

/// What a loop needs for some of its results.
fn loop_uses(
    effects: &Effects,
    params: &[(Param, Atom)],
    form: &LoopForm,
    body: &Body,
    results: &[bool],
) -> Vec<VarId> {
    let is_acc = params.iter().map(|(p, _)| p.ty.is_acc());
    let mut live: Vec<bool> = results.iter().zip(is_acc).map(|(live, is_acc)| *live || is_acc).collect();
    needed_params(effects, params, form, body, &mut live);
    let mut uses = free_vars_body(body);
    match form {
        LoopForm::For { bound, .. } => uses.extend(bound.as_var()),
        LoopForm::While { cond } => uses.extend(free_vars_body(cond)),
    }
    for ((param, init), _) in params.iter().zip(live).filter(|(_, live)| *live) {
        uses.extend(init.as_var());
        uses.extend(param.ty.all_dims().into_iter().filter_map(Atom::as_var));
    }
    uses
}

fn stm_uses(stm: &Stm) -> Vec<VarId> {
    let mut uses = free_vars(&stm.exp);
    uses.extend(stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var));
    uses
}
