//! The last pass: removes statements that nobody needs, and copies arrays that are consumed and used again.
//!
//!     let (a: i64) = n + 1                          let (ys': [n]f32) = copy ys
//!     let (zs: [n]f32) = ys with [0] = 1     ==>    let (zs: [n]f32) = ys' with [0] = 1
//!     in (ys, zs)                                   in (ys, zs)
//!
//! Statements that may stop the program stay. Copies are needed where values of the source that are separate share
//! a variable in Core, such as the components of `zip xs ys`, or where a constant is updated.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, Exp, Lambda, LoopForm, Program, Stm, Vars};
use dagaz_core::prim::{BinOp, Prim};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{direct_operands, free_vars};

pub(crate) fn clean_up(program: &mut Program) {
    let mut cleaner = Cleaner { live: Live::default(), types: HashMap::new(), vars: &mut program.vars };
    program.consts.iter().for_each(|stm| cleaner.record(&stm.pat));
    let consts: Vec<VarId> = program.consts.iter().flat_map(|stm| stm.pat.iter().map(|p| p.var)).collect();
    let mut used: HashSet<VarId> = HashSet::new();
    for fun in &mut program.funs {
        cleaner.live = Live::default();
        consts.iter().for_each(|var| cleaner.live.insert(*var));
        cleaner.record(&fun.params);
        remove_dead(&mut fun.body, &mut used);
        fun.ret.iter().for_each(|p| use_type(&p.ty, &mut used));
        cleaner.body(&mut fun.body);
    }
    let mut body = Body { stms: std::mem::take(&mut program.consts), result: Vec::new() };
    remove_dead_stms(&mut body.stms, &mut used);
    cleaner.live = Live::default();
    consts.iter().for_each(|var| cleaner.live.insert(*var));
    cleaner.body(&mut body);
    program.consts = body.stms;
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
fn for_each_body(exp: &mut Exp, f: &mut impl FnMut(&[Param], &[Type], &mut Body)) {
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
        Exp::If { then, otherwise, .. } => {
            f(&[], &[], then);
            f(&[], &[], otherwise);
        }
        Exp::Loop { params, form, body } => {
            f(&[], &[], body);
            if let LoopForm::While { cond } = form {
                f(&[], &[], cond);
            }
            let params: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
            f(&params, &[], &mut Body::default());
        }
        Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {}
        Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } => {}
        Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Concat { .. } => {}
        Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::Call { .. } => {}
        Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => {}
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
            BinOp::CopySign | BinOp::Ldexp => true,
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
        Exp::UpdateAcc { .. } => true,
        Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => false,
    }
}

fn is_nonzero(atom: Atom) -> bool {
    matches!(atom, Atom::Const(prim) if prim != Prim::zero(prim.ty()))
}

fn is_nonnegative(size: Atom) -> bool {
    matches!(size, Atom::Const(Prim::I64(value)) if value >= 0)
}

/// A set that can go back to an earlier state.
#[derive(Default)]
struct Live {
    set: HashSet<VarId>,
    log: Vec<VarId>,
}

impl Live {
    fn insert(&mut self, var: VarId) {
        if self.set.insert(var) {
            self.log.push(var);
        }
    }

    fn roll_back(&mut self, mark: usize) -> Vec<VarId> {
        let added = self.log.split_off(mark);
        added.iter().for_each(|var| drop(self.set.remove(var)));
        added
    }
}

struct Cleaner<'a> {
    /// What is used after the current statement.
    live: Live,
    types: HashMap<VarId, Type>,
    vars: &'a mut Vars,
}

impl Cleaner<'_> {
    fn record(&mut self, params: &[Param]) {
        for param in params {
            self.types.insert(param.var, param.ty.clone());
        }
    }

    fn body(&mut self, body: &mut Body) {
        for stm in &body.stms {
            self.record(&stm.pat);
        }
        body.result.iter().for_each(|atom| self.use_atom(*atom));
        let mut result = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms).into_iter().rev() {
            let copies = self.statement(&mut stm);
            result.push(stm);
            result.extend(copies);
        }
        result.reverse();
        body.stms = result;
    }

    fn use_atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            self.live.insert(var);
        }
    }

    /// The copies that a statement needs before it.
    fn statement(&mut self, stm: &mut Stm) -> Vec<Stm> {
        let mark = self.live.log.len();
        self.inner_bodies(&mut stm.exp);
        // What the inner bodies use is live for them, but the statement's own operands are consumed at its end.
        let inner = self.live.roll_back(mark);
        let mut copies = Vec::new();
        for var in consumed(&mut stm.exp) {
            if self.live.set.contains(var) || inner.contains(var) {
                let ty = self.types.get(var).cloned();
                let copy = self.vars.fresh("copy");
                if let Some(ty) = ty {
                    let pat = vec![Param { var: copy, ty }];
                    copies.push(Stm { pat, exp: Exp::Copy(*var), loc: stm.loc });
                    self.live.insert(*var);
                    *var = copy;
                }
            }
        }
        inner.into_iter().for_each(|var| self.live.insert(var));
        direct_operands(&stm.exp, &mut |atom| self.use_atom(atom));
        copies
    }

    fn inner_bodies(&mut self, exp: &mut Exp) {
        if let Exp::If { then, otherwise, .. } = exp {
            let mark = self.live.log.len();
            self.body(then);
            let used_by_then = self.live.roll_back(mark);
            self.body(otherwise);
            used_by_then.into_iter().for_each(|var| self.live.insert(var));
            return;
        }
        let repeated = !matches!(exp, Exp::WithAcc { .. });
        let mut has_bodies = false;
        for_each_body(exp, &mut |_, _, _| has_bodies = true);
        if !has_bodies {
            return;
        }
        if let Exp::Loop { params, .. } = exp {
            let params: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
            self.record(&params);
        }
        // A body that is run again uses what it has from outside again.
        if repeated {
            let mut outer: HashSet<VarId> = free_vars(exp).into_iter().collect();
            direct_operands(exp, &mut |atom| {
                if let Atom::Var(var) = atom {
                    outer.remove(&var);
                }
            });
            outer.into_iter().for_each(|var| self.live.insert(var));
        }
        for_each_body(exp, &mut |params, _, body| {
            self.record(params);
            self.body(body);
        });
    }
}

/// The arrays that an expression consumes.
fn consumed(exp: &mut Exp) -> Vec<&mut VarId> {
    match exp {
        Exp::Update { array, .. } => vec![array],
        Exp::Hist { dests, .. } | Exp::Scatter { dests, .. } => dests.iter_mut().collect(),
        Exp::WithAcc { inputs, .. } => inputs.iter_mut().flat_map(|input| &mut input.arrays).collect(),
        Exp::Loop { params, body, .. } => {
            let mut inside = HashSet::new();
            consumed_inside(body, &mut inside);
            let is_consumed = |p: &Param| matches!(p.ty, Type::Array { .. }) && inside.contains(&p.var);
            params
                .iter_mut()
                .filter(|(p, _)| is_consumed(p))
                .filter_map(|(_, init)| match init {
                    Atom::Var(var) => Some(var),
                    Atom::Const(_) => None,
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn consumed_inside(body: &mut Body, found: &mut HashSet<VarId>) {
    for stm in &mut body.stms {
        found.extend(consumed(&mut stm.exp).into_iter().map(|var| *var));
        for_each_body(&mut stm.exp, &mut |_, _, body| consumed_inside(body, found));
    }
}
