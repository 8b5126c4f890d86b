//! Removes statements that nobody needs, the constants included.
//!
//! ```text
//! let (a: i64) = n + 1
//! let (b: i64) = n * 2     ==>     let (b: i64) = n * 2
//! in (b)                           in (b)
//! ```
//!
//! Statements that may stop the program stay.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Check, Exp, Lambda, LoopForm, Program, Stm};
use dagaz_core::prim::{BinOp, Prim};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::direct_operands;

pub(crate) fn remove_dead_code(program: &mut Program) {
    let mut used: HashSet<VarId> = HashSet::new();
    for fun in &mut program.funs {
        fun.ret.iter().for_each(|p| use_type(&p.ty, &mut used));
        fun.params.iter().for_each(|p| use_type(&p.ty, &mut used));
        remove_dead(&mut fun.body, &mut used);
    }
    remove_dead_stms(&mut program.consts, &mut used);
}

fn remove_dead(body: &mut Body, used: &mut HashSet<VarId>) {
    body.result.iter().for_each(|atom| use_atom(*atom, used));
    remove_dead_stms(&mut body.stms, used);
}

/// From the last statement to the first, so that all uses of a variable are seen before its binding.
fn remove_dead_stms(stms: &mut Vec<Stm>, used: &mut HashSet<VarId>) {
    let mut kept = Vec::with_capacity(stms.len());
    for mut stm in std::mem::take(stms).into_iter().rev() {
        if !stm.pat.iter().any(|p| used.contains(&p.var)) && is_removable(&stm.exp) {
            continue;
        }
        stm.pat.iter().for_each(|p| use_type(&p.ty, used));
        direct_operands(&stm.exp, &mut |atom| use_atom(atom, used));
        if let Exp::ArrayLit { row, .. } = &stm.exp {
            use_type(row, used);
        }
        for_each_body(&mut stm.exp, &mut |params, ret, body| {
            ret.iter().for_each(|ty| use_type(ty, used));
            remove_dead(body, used);
            params.iter().for_each(|p| use_type(&p.ty, used));
        });
        kept.push(stm);
    }
    kept.reverse();
    *stms = kept;
}

fn use_atom(atom: Atom, used: &mut HashSet<VarId>) {
    if let Atom::Var(var) = atom {
        used.insert(var);
    }
}

fn use_type(ty: &Type, used: &mut HashSet<VarId>) {
    ty.all_dims().into_iter().for_each(|dim| use_atom(dim, used));
}

/// Calls `f` for every body inside an expression, with the parameters and result types of lambdas.
pub(crate) fn for_each_body(exp: &mut Exp, f: &mut impl FnMut(&[Param], &[Type], &mut Body)) {
    let mut lambda = |l: &mut Lambda| f(&l.params, &l.ret, &mut l.body);
    match exp {
        Exp::Map { lambda: l, .. } => lambda(l),
        Exp::Reduce { pre, op, .. } | Exp::Scan { pre, op, .. } | Exp::Hist { pre, op, .. } => {
            pre.iter_mut().for_each(&mut lambda);
            lambda(op);
        }
        Exp::Scatter { pre, .. } => pre.iter_mut().for_each(lambda),
        Exp::WithAcc { inputs, lambda: l } => {
            inputs.iter_mut().filter_map(|i| i.op.as_mut()).for_each(|(op, _)| lambda(op));
            lambda(l);
        }
        Exp::Jvp { lambda: l, .. } | Exp::Vjp { lambda: l, .. } => lambda(l),
        Exp::Linearize { lambda: l, .. } | Exp::Transpose { lambda: l, .. } => lambda(l),
        Exp::WithVjp { lambda: l, rule, .. } => {
            lambda(l);
            lambda(rule);
        }
        Exp::If { then, otherwise, .. } => {
            f(&[], &[], then);
            f(&[], &[], otherwise);
        }
        Exp::Loop { params, form, body, .. } => {
            f(&[], &[], body);
            if let LoopForm::While { cond } = form {
                f(&[], &[], cond);
            }
            let params: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
            f(&params, &[], &mut Body::default());
        }
        Exp::Atom(_)
        | Exp::UnOp(..)
        | Exp::BinOp(..)
        | Exp::TernOp(..)
        | Exp::CmpOp(..)
        | Exp::Convert(..) => {}
        Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } => {}
        Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Concat { .. } => {}
        Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::Call { .. } => {}
        Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => {}
        Exp::ApplyLinear { .. } | Exp::Detach(_) => {}
    }
}

/// Whether an expression does nothing but give its value.
fn is_removable(exp: &Exp) -> bool {
    let body = |body: &Body| body.stms.iter().all(|stm| is_removable(&stm.exp));
    let lambda = |l: &Lambda| body(&l.body);
    match exp {
        Exp::BinOp(op, ty, _, divisor) => match op {
            BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem => ty.is_float() || is_nonzero(*divisor),
            BinOp::Pow => ty.is_float(),
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => true,
            BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::Min | BinOp::Max | BinOp::MulHi => true,
            BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot | BinOp::NextAfter => true,
            BinOp::CopySign | BinOp::Ldexp | BinOp::Polygamma => true,
        },
        Exp::Atom(_) | Exp::UnOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
        Exp::Slice { .. } | Exp::Copy(_) | Exp::Rearrange { .. } | Exp::Reshape { .. } => true,
        Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => true,
        Exp::Iota { n, .. } => is_nonnegative(*n),
        Exp::Replicate { dims, .. } => dims.iter().all(|dim| is_nonnegative(*dim)),
        Exp::Index { check, .. } | Exp::Update { check, .. } => *check == Check::Certified,
        Exp::If { then, otherwise, .. } => body(then) && body(otherwise),
        Exp::Loop { form: LoopForm::For { .. }, body: inner, .. } => body(inner),
        Exp::Loop { form: LoopForm::While { .. }, .. } => false,
        Exp::Map { lambda: l, .. } => lambda(l),
        Exp::Reduce { pre, op, .. } | Exp::Scan { pre, op, .. } | Exp::Hist { pre, op, .. } => {
            pre.iter().all(lambda) && lambda(op)
        }
        Exp::Scatter { pre, .. } => pre.iter().all(lambda),
        Exp::WithAcc { lambda: l, .. } => lambda(l),
        Exp::Jvp { lambda: l, .. } | Exp::Vjp { lambda: l, .. } | Exp::WithVjp { lambda: l, .. } => lambda(l),
        Exp::Linearize { lambda: l, .. } | Exp::Transpose { lambda: l, .. } => lambda(l),
        Exp::UpdateAcc { .. } | Exp::ApplyLinear { .. } | Exp::Detach(_) => true,
        Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => false,
    }
}

fn is_nonzero(atom: Atom) -> bool {
    matches!(atom, Atom::Const(prim) if prim != Prim::zero(prim.ty()))
}

fn is_nonnegative(size: Atom) -> bool {
    matches!(size, Atom::Const(Prim::I64(value)) if value >= 0)
}
