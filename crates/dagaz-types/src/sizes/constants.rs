//! Arithmetic on constant sizes: `6 - 3` is the size `3`.
//!
//! Plain Futhark compares sizes as they are written, so there `9 + 3` and `12` differ, and nothing is computed here.

use super::Sizer;
use crate::context::Dialect;
use crate::subst::{exp_of_size, size_of_exp};
use crate::typed::{Exp, ExpKind};
use crate::types::{PrimType, Size, Type};

impl Sizer<'_> {
    /// A size in which all arithmetic on constants is done.
    pub(super) fn computed(&self, size: Size) -> Size {
        match &size {
            Size::Exp(e) if self.cx.dialect == Dialect::Dagaz && computes(e) => size_of_exp(compute(e)),
            Size::Exp(_) | Size::Const(_) | Size::Var(_) | Size::Set(_) | Size::Meta(_) => size,
        }
    }
}

/// Whether there is arithmetic on constants in an expression.
fn computes(e: &Exp) -> bool {
    value(e).is_some_and(|n| n >= 0) && !matches!(e.kind, ExpKind::Int(_)) || parts(e).any(computes)
}

fn parts(e: &Exp) -> impl Iterator<Item = &Exp> {
    let (inner, args): (Option<&Exp>, &[Exp]) = match &e.kind {
        ExpKind::App { args, .. } => (None, args),
        ExpKind::Ascript(inner) | ExpKind::Attr(_, inner) => (Some(inner), &[]),
        _ => (None, &[]),
    };
    inner.into_iter().chain(args)
}

/// A negative number is no size, and stays what it was written as.
fn compute(e: &Exp) -> Exp {
    if let Some(n) = value(e).filter(|n| *n >= 0) {
        return exp_of_size(&Size::Const(n), e);
    }
    let mut e = e.clone();
    match &mut e.kind {
        ExpKind::App { args, .. } => args.iter_mut().for_each(|arg| *arg = compute(arg)),
        ExpKind::Ascript(inner) | ExpKind::Attr(_, inner) => **inner = compute(inner),
        _ => {}
    }
    e
}

/// The value of an expression of literals, if it has one that fits.
fn value(e: &Exp) -> Option<i64> {
    if !matches!(e.ty, Type::Prim(PrimType::I64)) {
        return None;
    }
    match &e.kind {
        ExpKind::Int(n) => i64::try_from(*n).ok(),
        ExpKind::Ascript(inner) | ExpKind::Attr(_, inner) => value(inner),
        ExpKind::App { fun, args } => {
            let ExpKind::Intrinsic { name, .. } = &fun.kind else { return None };
            match (name.as_str(), &args[..]) {
                ("neg", [x]) => value(x)?.checked_neg(),
                (op, [x, y]) => operation(op, value(x)?, value(y)?),
                _ => None,
            }
        }
        _ => None,
    }
}

fn operation(op: &str, x: i64, y: i64) -> Option<i64> {
    match op {
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        // Both kinds of division agree where nothing is negative.
        "/" | "//" if x >= 0 && y > 0 => Some(x / y),
        "%" | "%%" if x >= 0 && y > 0 => Some(x % y),
        "**" => x.checked_pow(u32::try_from(y).ok()?),
        _ => None,
    }
}
