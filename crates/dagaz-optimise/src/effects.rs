//! What an expression does besides giving its value: stopping the program, or printing.
//!
//! Sizes are facts: a variable that is the size of an array which exists is not negative, so that
//! `iota n` beside `xs: [n]f64` cannot stop the program.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Check, Exp, Lambda, LoopForm, Program, Stm};
use dagaz_core::prim::{BinOp, Prim, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::lambdas;

/// Arrays that can be made whatever the sizes are: those bound by the `iota`s and `replicate`s whose sizes are
/// sizes of arrays that exist before.
#[derive(Default)]
pub(crate) struct Effects {
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

    /// There is an array of this type.
    fn exists(&mut self, ty: &Type) {
        for var in ty.all_dims().into_iter().filter_map(Atom::as_var) {
            if self.known.insert(var) {
                self.log.push(var);
            }
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
        let body = |body: &Body| body.stms.iter().all(|stm| self.is_removable(stm));
        let lambda = |l: &Lambda| body(&l.body);
        match &stm.exp {
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
            Exp::Contract { .. } => true,
            Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => true,
            Exp::Iota { .. } | Exp::Replicate { .. } => {
                stm.pat.iter().all(|p| self.makeable.contains(&p.var))
            }
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
            Exp::Jvp { lambda: l, .. } | Exp::Vjp { lambda: l, .. } | Exp::WithVjp { lambda: l, .. } => {
                lambda(l)
            }
            Exp::Transpose { lambda: l, .. } => lambda(l),
            Exp::UpdateAcc { .. } | Exp::Detach(_) => true,
            Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => false,
        }
    }
}

fn is_nonzero(atom: Atom) -> bool {
    matches!(atom, Atom::Const(prim) if prim != Prim::zero(prim.ty()))
}

/// Whether this is a scalar operation that never stops the program, whatever its operands are.
pub(crate) fn cannot_fail(exp: &Exp) -> bool {
    match exp {
        Exp::BinOp(op, ty, _, divisor) => match op {
            BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem => {
                ty.is_float() || matches!(divisor, Atom::Const(c) if *c != Prim::zero(c.ty()))
            }
            BinOp::Pow => ty.is_float(),
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => true,
            BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::Min | BinOp::Max | BinOp::MulHi => true,
            BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot | BinOp::NextAfter => true,
            BinOp::CopySign | BinOp::Ldexp | BinOp::Polygamma => true,
        },
        Exp::UnOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
        _ => false,
    }
}

/// Whether this is a scalar operation that takes many times as long as an addition.
pub(crate) fn is_elementary_function(exp: &Exp) -> bool {
    match exp {
        Exp::UnOp(op, ..) => match op {
            UnOp::Neg | UnOp::Not | UnOp::Abs | UnOp::Signum | UnOp::Sqrt | UnOp::Rsqrt => false,
            UnOp::Ceil | UnOp::Floor | UnOp::Trunc | UnOp::Round | UnOp::IsNan | UnOp::IsInf => false,
            UnOp::Popc | UnOp::Clz | UnOp::Ctz | UnOp::ToBits | UnOp::FromBits => false,
            UnOp::Cbrt | UnOp::Exp | UnOp::Log | UnOp::Log2 | UnOp::Log10 | UnOp::Log1p => true,
            UnOp::Sin | UnOp::Cos | UnOp::Tan | UnOp::SinPi | UnOp::CosPi | UnOp::TanPi => true,
            UnOp::Asin | UnOp::Acos | UnOp::Atan | UnOp::AsinPi | UnOp::AcosPi | UnOp::AtanPi => true,
            UnOp::Sinh | UnOp::Cosh | UnOp::Tanh | UnOp::Asinh | UnOp::Acosh | UnOp::Atanh => true,
            UnOp::Gamma | UnOp::Lgamma | UnOp::Erf | UnOp::Erfc => true,
        },
        Exp::BinOp(op, ty, ..) => {
            ty.is_float() && matches!(op, BinOp::Pow | BinOp::Mod | BinOp::Atan2 | BinOp::Hypot)
        }
        _ => false,
    }
}
