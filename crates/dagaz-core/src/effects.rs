//! What an expression does besides giving its value: stopping the program, running for ever, or printing. This is the only place
//! that decides it, for derivatives, the optimiser and the code generator alike.
//!
//! Sizes are facts: a variable that is the size of an array which exists is not negative, so that
//! `iota n` beside `xs: [n]f64` cannot stop the program.

use std::collections::HashSet;

use crate::exp::{Body, Check, Exp, LoopForm, Program, Stm};
use crate::prim::{BinOp, Prim, PrimType};
use crate::types::{Atom, Param, Type, VarId};
use crate::visit::{bodies, lambdas};

/// What an expression does itself, whatever the bodies inside of it do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It gives its values, and that is all.
    None,
    /// It stops the program where its operands are wrong.
    MayFail,
    /// It stops the program where a size is negative.
    MakesArray,
    /// It may run for ever.
    MayNotEnd,
    /// It does something else than giving values, or nobody knows.
    Acts,
}

/// The effect of an expression without that of the bodies inside.
pub fn own_effect(exp: &Exp) -> Effect {
    let may_fail = |fails: bool| if fails { Effect::MayFail } else { Effect::None };
    match exp {
        Exp::BinOp(op, ty, _, right) => may_fail(may_fail_at(*op, *ty, *right)),
        Exp::Index { check, .. } | Exp::Update { check, .. } => may_fail(*check == Check::Checked),
        Exp::Iota { .. } | Exp::Replicate { .. } => Effect::MakesArray,
        Exp::Loop { form: LoopForm::While { .. }, .. } => Effect::MayNotEnd,
        Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => Effect::Acts,
        Exp::Atom(_) | Exp::UnOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => Effect::None,
        Exp::Slice { .. } | Exp::Copy(_) | Exp::Rearrange { .. } | Exp::Reshape { .. } => Effect::None,
        Exp::Concat { .. } | Exp::Contract { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => {
            Effect::None
        }
        Exp::If { .. } | Exp::Loop { form: LoopForm::For { .. }, .. } | Exp::Map { .. } => Effect::None,
        Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } | Exp::Scatter { .. } => Effect::None,
        Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => Effect::None,
        Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Transpose { .. } => Effect::None,
        Exp::Detach(_) => Effect::None,
    }
}

/// Whether there are left operands at which an operation stops the program.
pub fn may_fail_at(op: BinOp, ty: PrimType, right: Atom) -> bool {
    let known = right.as_const();
    match op {
        BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem => {
            ty.is_int() && known.is_none_or(|n| n == Prim::zero(n.ty()))
        }
        BinOp::Pow => ty.is_signed() && known.and_then(Prim::as_i64).is_none_or(|n| n < 0),
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => false,
        BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::Min | BinOp::Max | BinOp::MulHi => false,
        BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot | BinOp::NextAfter => false,
        BinOp::CopySign | BinOp::Ldexp | BinOp::Polygamma => false,
    }
}

/// Whether this is a scalar operation that never stops the program, whatever its other operands are.
pub fn cannot_fail(exp: &Exp) -> bool {
    let is_scalar =
        matches!(exp, Exp::BinOp(..) | Exp::UnOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..));
    is_scalar && own_effect(exp) == Effect::None
}

/// Whether an expression, or something inside of it, can stop the program for other reasons than a negative size.
pub fn can_fail(exp: &Exp) -> bool {
    matches!(own_effect(exp), Effect::MayFail | Effect::Acts)
        || bodies_that_run(exp).into_iter().flat_map(|body| &body.stms).any(|stm| can_fail(&stm.exp))
}

/// The array that the value of an expression is, or is a part or another view of.
pub fn viewed(exp: &Exp) -> Option<VarId> {
    match exp {
        Exp::Index { array, .. } | Exp::Slice { array, .. } => Some(*array),
        Exp::Rearrange { array, .. } | Exp::Reshape { array, .. } => Some(*array),
        Exp::Atom(atom) | Exp::Detach(atom) => atom.as_var(),
        // Branches, loops and calls may give several arrays, which existed before.
        Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Trace { .. } => None,
        Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => None,
        Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } | Exp::Replicate { .. } => None,
        Exp::Concat { .. } | Exp::Contract { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => None,
        Exp::Assert { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => None,
        Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => None,
        Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Transpose { .. } => None,
    }
}

/// Whether a statement gives its values and does nothing else, wherever the checks around it are.
pub fn only_gives_values(stm: &Stm) -> bool {
    own_effect(&stm.exp) == Effect::None && all_inside(&stm.exp, only_gives_values)
}

/// Whether a statement is right only behind the checks that stand before it: it reads, writes or reshapes what they have
/// found to be so.
pub fn relies_on_checks(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Index { .. } | Exp::Update { .. } | Exp::Slice { .. } | Exp::Reshape { .. })
        || !all_inside(&stm.exp, |inner| !relies_on_checks(inner))
}

fn all_inside(exp: &Exp, holds: impl Fn(&Stm) -> bool) -> bool {
    bodies_that_run(exp).into_iter().flat_map(|body| &body.stms).all(holds)
}

/// The bodies inside of an expression that run where it does. The rule of a derivative runs somewhere else.
pub fn bodies_that_run(exp: &Exp) -> Vec<&Body> {
    match exp {
        Exp::WithVjp { lambda, .. } => vec![&lambda.body],
        _ => bodies(exp),
    }
}

/// Arrays that can be made whatever the sizes are: those bound by the `iota`s and `replicate`s whose sizes are
/// sizes of arrays that exist before.
#[derive(Default)]
pub struct Effects {
    makeable: HashSet<VarId>,
    /// Sizes that are known not to be negative at the point that was reached, and the order they were found in.
    known: HashSet<VarId>,
    log: Vec<VarId>,
}

impl Effects {
    pub fn of(program: &Program) -> Effects {
        let mut effects = Effects::default();
        effects.stms(&program.consts);
        for fun in &program.funs {
            let mark = effects.log.len();
            fun.params.iter().for_each(|p| effects.exists(&p.ty));
            effects.stms(&fun.body.stms);
            effects.leave(mark);
        }
        effects
    }

    /// Of statements, where arrays of the given types exist.
    pub fn within<'t>(stms: &[Stm], outside: impl IntoIterator<Item = &'t Type>) -> Effects {
        let mut effects = Effects::default();
        outside.into_iter().for_each(|ty| effects.exists(ty));
        effects.stms(stms);
        effects
    }

    /// There is an array of this type.
    fn exists(&mut self, ty: &Type) {
        ty.all_dims().into_iter().filter_map(Atom::as_var).for_each(|var| self.is_size(var));
    }

    fn is_size(&mut self, var: VarId) {
        if self.known.insert(var) {
            self.log.push(var);
        }
    }

    fn leave(&mut self, mark: usize) {
        for var in self.log.drain(mark..) {
            self.known.remove(&var);
        }
    }

    fn stms(&mut self, stms: &[Stm]) {
        for stm in stms {
            let sizes: &[Atom] = match &stm.exp {
                Exp::Iota { n, .. } => std::slice::from_ref(n),
                Exp::Replicate { dims, .. } => dims,
                _ => &[],
            };
            if sizes.iter().all(|size| self.is_nonnegative(*size)) {
                self.makeable.extend(stm.pat.iter().map(|p| p.var));
            }
            self.inside(&stm.exp);
            stm.pat.iter().for_each(|p| self.exists(&p.ty));
            if let (Exp::BinOp(BinOp::Max, PrimType::I64, x, y), [p]) = (&stm.exp, stm.pat.as_slice())
                && (self.is_nonnegative(*x) || self.is_nonnegative(*y))
            {
                self.is_size(p.var);
            }
        }
    }

    fn inside(&mut self, exp: &Exp) {
        match exp {
            Exp::If { then, otherwise, .. } => {
                self.scope([], then);
                self.scope([], otherwise);
            }
            Exp::Loop { params, form, body, .. } => {
                if let LoopForm::While { cond } = form {
                    self.scope(params.iter().map(|(p, _)| p), cond);
                }
                self.scope(params.iter().map(|(p, _)| p), body);
            }
            _ => lambdas(exp).into_iter().for_each(|l| self.scope(&l.params, &l.body)),
        }
    }

    fn scope<'a>(&mut self, params: impl IntoIterator<Item = &'a Param>, body: &Body) {
        let mark = self.log.len();
        params.into_iter().for_each(|p| self.exists(&p.ty));
        self.stms(&body.stms);
        self.leave(mark);
    }

    fn is_nonnegative(&self, size: Atom) -> bool {
        match size {
            Atom::Var(var) => self.known.contains(&var),
            Atom::Const(Prim::I64(value)) => value >= 0,
            Atom::Const(_) => false,
        }
    }

    /// Whether a statement does nothing but give its values.
    pub fn is_removable(&self, stm: &Stm) -> bool {
        self.is_harmless(stm) && all_inside(&stm.exp, |inner| self.is_removable(inner))
    }

    /// As [`Effects::is_removable`], whatever the bodies inside do.
    pub fn is_harmless(&self, stm: &Stm) -> bool {
        match own_effect(&stm.exp) {
            Effect::None => true,
            Effect::MakesArray => self.is_makeable(stm),
            Effect::MayFail | Effect::MayNotEnd | Effect::Acts => false,
        }
    }

    /// Whether the sizes of an array that a statement makes are known not to be negative.
    pub fn is_makeable(&self, stm: &Stm) -> bool {
        stm.pat.iter().all(|p| self.makeable.contains(&p.var))
    }
}
