//! Scalar operations: constants are computed, and identities that hold for every value are used.
//!
//! `x + 0.0` is not `x` for `-0.0`, and `x * 0.0` not `0.0` for NaN, so both stay, but a sum with `0.0` in it is not `-0.0`.
//! `x ** 2` is `x * x`, which is rounded correctly. Signs of floats, of which derivatives are full, go into sums and constants,
//! where they cost nothing.

use dagaz_core::build::fold_binop;
use dagaz_core::exp::Exp;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::prim_eval::{convert, eval_binop, eval_cmpop, eval_ternop, eval_unop};
use dagaz_core::types::Atom;

use super::{Rewrite, Simplifier};

/// So deep a sum is looked into.
const MOST_TERMS: usize = 6;

impl Simplifier {
    pub(super) fn scalar(&mut self, exp: &Exp) -> Option<Rewrite> {
        let atom = match exp {
            Exp::UnOp(op, _, x) => match x {
                Atom::Const(x) => eval_unop(*op, *x).ok()?.into(),
                Atom::Var(_) => self.twice(*op, *x)?,
            },
            Exp::BinOp(BinOp::Max, PrimType::I64, x, y) if self.is_at_least(*x, *y) => *x,
            Exp::BinOp(op, ty, x, y) => match fold_binop(*op, *ty, *x, *y) {
                Some(atom) => atom,
                None => return self.binop(*op, *ty, *x, *y),
            },
            Exp::TernOp(op, _, [Atom::Const(a), Atom::Const(b), Atom::Const(c)]) => {
                eval_ternop(*op, *a, *b, *c).ok()?.into()
            }
            Exp::CmpOp(op, _, Atom::Const(x), Atom::Const(y)) => Atom::bool(eval_cmpop(*op, *x, *y).ok()?),
            Exp::CmpOp(CmpOp::Lt, PrimType::I64, x, y) if self.is_at_least(*x, *y) => Atom::bool(false),
            Exp::CmpOp(CmpOp::Le, PrimType::I64, x, y) if self.is_at_least(*y, *x) => Atom::bool(true),
            Exp::CmpOp(op, ty, x, y) if x == y && !ty.is_float() => Atom::bool(*op != CmpOp::Lt),
            Exp::CmpOp(CmpOp::Eq, ty, x, Atom::Const(c)) if ty.is_int() => {
                return self.shifted_equality(*ty, *x, *c);
            }
            Exp::Convert(from, to, x) if from == to => *x,
            Exp::Convert(_, to, Atom::Const(x)) => convert(*to, *x).into(),
            _ => return None,
        };
        Some(Rewrite::Alias(vec![atom]))
    }

    /// Sizes are not negative.
    fn is_at_least(&self, size: Atom, bound: Atom) -> bool {
        let is_size = size.as_var().is_some_and(|var| self.sizes.contains(&var));
        is_size && bound.as_const().and_then(Prim::as_i64).is_some_and(|bound| bound <= 0)
    }

    /// `a ± b = c` is `a = c ∓ b`; integers wrap.
    fn shifted_equality(&self, ty: PrimType, x: Atom, c: Prim) -> Option<Rewrite> {
        let (back, a, b) = match self.def(x)? {
            Exp::BinOp(BinOp::Add, _, a, Atom::Const(b)) => (BinOp::Sub, *a, *b),
            Exp::BinOp(BinOp::Sub, _, a, Atom::Const(b)) => (BinOp::Add, *a, *b),
            _ => return None,
        };
        let c = eval_binop(back, c, b).ok()?;
        Some(Rewrite::Become(Box::new(Exp::CmpOp(CmpOp::Eq, ty, a, c.into()))))
    }

    /// `-(-x) = x`, `not (not x) = x`
    fn twice(&self, op: UnOp, x: Atom) -> Option<Atom> {
        match self.def(x)? {
            Exp::UnOp(inner, _, y) if *inner == op && matches!(op, UnOp::Neg | UnOp::Not) => Some(*y),
            _ => None,
        }
    }

    fn binop(&self, op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Option<Rewrite> {
        if matches!(op, BinOp::Min | BinOp::Max | BinOp::And | BinOp::Or) && x == y {
            return Some(Rewrite::Alias(vec![x]));
        }
        if let (BinOp::Pow, true, Some(power)) = (op, ty.is_float(), y.as_const().and_then(Prim::as_f64)) {
            return match power {
                1.0 => Some(Rewrite::Alias(vec![x])),
                2.0 => Some(Rewrite::Become(Box::new(Exp::BinOp(BinOp::Mul, ty, x, x)))),
                _ => None,
            };
        }
        if ty.is_float() {
            return match float_zero(op, x, y).or_else(|| self.zero_in_sum(op, x, y)) {
                Some(atom) => Some(Rewrite::Alias(vec![atom])),
                None => self.float_sign(op, ty, x, y).map(|exp| Rewrite::Become(Box::new(exp))),
            };
        }
        if !ty.is_int() {
            return None;
        }
        // Integers wrap, so that sums can be regrouped.
        match (op, y) {
            (BinOp::Add | BinOp::Sub, Atom::Const(c)) => self.sum_of_constants(op, ty, x, c),
            (BinOp::Sub, Atom::Var(_)) => match self.def(x)? {
                Exp::BinOp(BinOp::Add, _, a, b) if *b == y => Some(Rewrite::Alias(vec![*a])),
                Exp::BinOp(BinOp::Add, _, a, b) if *a == y => Some(Rewrite::Alias(vec![*b])),
                _ => None,
            },
            (BinOp::Add, Atom::Var(_)) => match (self.def(x), self.def(y)) {
                (Some(Exp::BinOp(BinOp::Sub, _, a, b)), _) if *b == y => Some(Rewrite::Alias(vec![*a])),
                (_, Some(Exp::BinOp(BinOp::Sub, _, a, b))) if *b == x => Some(Rewrite::Alias(vec![*a])),
                _ => None,
            },
            _ => None,
        }
    }

    /// `(a + 0.0) + b + 0.0 = (a + 0.0) + b`
    fn zero_in_sum(&self, op: BinOp, x: Atom, y: Atom) -> Option<Atom> {
        match op {
            BinOp::Add if is_zero(y, false) && self.is_not_negative_zero(x, MOST_TERMS) => Some(x),
            BinOp::Add if is_zero(x, false) && self.is_not_negative_zero(y, MOST_TERMS) => Some(y),
            _ => None,
        }
    }

    /// A sum is `-0.0` only if both of its terms are.
    fn is_not_negative_zero(&self, atom: Atom, terms: usize) -> bool {
        let is_other = |atom: Atom| is_zero(atom, false) || self.is_not_negative_zero(atom, terms - 1);
        let sum = self.def(atom).filter(|_| terms > 0);
        matches!(sum, Some(Exp::BinOp(BinOp::Add, _, a, b)) if is_other(*a) || is_other(*b))
    }

    /// `a + -b = a - b`, `-a + b = b - a`, `a - -b = a + b`, and `c * -a = -c * a` for a constant `c`: rounding is symmetric, and
    /// so are the rules of zeros.
    fn float_sign(&self, op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Option<Exp> {
        let negated = |atom: Atom| match self.def(atom)? {
            Exp::UnOp(UnOp::Neg, _, inner) => Some(*inner),
            _ => None,
        };
        let opposite = |atom: Atom| eval_unop(UnOp::Neg, atom.as_const()?).ok().map(Atom::from);
        match op {
            BinOp::Add => match (negated(x), negated(y)) {
                (_, Some(b)) => Some(Exp::BinOp(BinOp::Sub, ty, x, b)),
                (Some(a), None) => Some(Exp::BinOp(BinOp::Sub, ty, y, a)),
                (None, None) => None,
            },
            BinOp::Sub => Some(Exp::BinOp(BinOp::Add, ty, x, negated(y)?)),
            BinOp::Mul => match (negated(x), negated(y)) {
                (Some(a), Some(b)) => Some(Exp::BinOp(BinOp::Mul, ty, a, b)),
                (Some(a), None) => Some(Exp::BinOp(BinOp::Mul, ty, a, opposite(y)?)),
                (None, Some(b)) => Some(Exp::BinOp(BinOp::Mul, ty, opposite(x)?, b)),
                (None, None) => None,
            },
            _ => None,
        }
    }

    /// `(a ± b) ± c` for constants `b` and `c` is one sum, and a negative constant changes the sign.
    fn sum_of_constants(&self, op: BinOp, ty: PrimType, x: Atom, c: Prim) -> Option<Rewrite> {
        let Some(Exp::BinOp(inner @ (BinOp::Add | BinOp::Sub), _, a, Atom::Const(b))) = self.def(x) else {
            let negated = eval_binop(BinOp::Sub, Prim::zero(ty), c).ok()?;
            let other = if op == BinOp::Add { BinOp::Sub } else { BinOp::Add };
            let is_negative = ty.is_signed() && c.as_i64() < Some(0) && negated.as_i64() > Some(0);
            return is_negative.then(|| Rewrite::Become(Box::new(Exp::BinOp(other, ty, x, negated.into()))));
        };
        let signed = |op: BinOp, c: Prim| eval_binop(op, Prim::zero(ty), c).ok();
        let sum = eval_binop(BinOp::Add, signed(*inner, *b)?, signed(op, c)?).ok()?;
        if sum == Prim::zero(ty) {
            return Some(Rewrite::Alias(vec![*a]));
        }
        let negated = eval_binop(BinOp::Sub, Prim::zero(ty), sum).ok()?;
        let is_negative = ty.is_signed() && sum.as_i64().is_some_and(|s| s < 0 && negated.as_i64() > Some(0));
        Some(Rewrite::Become(Box::new(match is_negative {
            true => Exp::BinOp(BinOp::Sub, ty, *a, negated.into()),
            false => Exp::BinOp(BinOp::Add, ty, *a, sum.into()),
        })))
    }
}

/// `x - 0.0 = x` and `x + -0.0 = x`, zeros and NaN included.
fn float_zero(op: BinOp, x: Atom, y: Atom) -> Option<Atom> {
    match op {
        BinOp::Sub if is_zero(y, false) => Some(x),
        BinOp::Add if is_zero(y, true) => Some(x),
        BinOp::Add if is_zero(x, true) => Some(y),
        _ => None,
    }
}

fn is_zero(atom: Atom, negative: bool) -> bool {
    let value = atom.as_const().and_then(Prim::as_f64);
    value.is_some_and(|v| v == 0.0 && v.is_sign_negative() == negative)
}
