//! The partial derivatives of scalar operations, one line each, shared by both modes.
//!
//! Conventions where there is no derivative: `abs` and `signum` have 0 at 0; rounding has 0 everywhere; of two equal
//! operands of `min` and `max` the first is the one that counts; `sqrt` has infinity at 0; `pow x 0` has 0
//! with respect to `x`, and `pow 0 y` with respect to `y`. The bits of a number and the number are the same
//! thing seen differently, and so are their tangents. Integers are treated as numbers that happen to be whole, with the operations of their own
//! type; bits have the derivative 0. Truth values form a ring with "or" as sum and "and" as product.

use std::f64::consts::{LN_2, LN_10, PI};

use dagaz_core::exp::{Body, Exp, Loc};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::types::Atom;

use crate::context::{Ad, Res, not_yet};

/// The calculator of one rule: operations at one type.
struct At<'a, 'p> {
    ad: &'a mut Ad<'p>,
    ty: PrimType,
    loc: Loc,
}

impl At<'_, '_> {
    fn num(&self, x: f64) -> Atom {
        Prim::of_f64(self.ty, x).unwrap_or_else(|| Prim::of_i64(self.ty, x as i64)).into()
    }

    fn un(&mut self, op: UnOp, x: Atom) -> Atom {
        self.ad.b.unop(op, self.ty, x, self.loc)
    }

    fn bin(&mut self, op: BinOp, x: Atom, y: Atom) -> Atom {
        self.ad.b.binop(op, self.ty, x, y, self.loc)
    }

    fn add(&mut self, x: Atom, y: Atom) -> Atom {
        self.bin(BinOp::Add, x, y)
    }

    fn sub(&mut self, x: Atom, y: Atom) -> Atom {
        self.bin(BinOp::Sub, x, y)
    }

    fn mul(&mut self, x: Atom, y: Atom) -> Atom {
        self.bin(BinOp::Mul, x, y)
    }

    fn div(&mut self, x: Atom, y: Atom) -> Atom {
        self.bin(BinOp::Div, x, y)
    }

    fn neg(&mut self, x: Atom) -> Atom {
        self.un(UnOp::Neg, x)
    }

    fn scale(&mut self, k: f64, x: Atom) -> Atom {
        let k = self.num(k);
        self.mul(k, x)
    }

    /// `k / x`
    fn over(&mut self, k: f64, x: Atom) -> Atom {
        let k = self.num(k);
        self.div(k, x)
    }

    /// `1 + x * x`
    fn one_plus_square(&mut self, x: Atom) -> Atom {
        let square = self.mul(x, x);
        let one = self.num(1.0);
        self.add(one, square)
    }

    /// `x - 1` and `x + 1`
    fn around(&mut self, x: Atom) -> (Atom, Atom) {
        let one = self.num(1.0);
        (self.sub(x, one), self.add(x, one))
    }

    /// `1 - x * x`, without the rounding error of the square.
    fn one_minus_square(&mut self, x: Atom) -> Atom {
        let one = self.num(1.0);
        let (less, more) = (self.sub(one, x), self.add(one, x));
        self.mul(less, more)
    }

    /// `c / sqrt(1 - x * x)`
    fn circle(&mut self, c: f64, x: Atom) -> Atom {
        let inside = self.one_minus_square(x);
        let root = self.un(UnOp::Sqrt, inside);
        self.over(c, root)
    }

    fn polygamma(&mut self, x: Atom, order: i32) -> Atom {
        self.bin(BinOp::Polygamma, x, Prim::I32(order).into())
    }

    /// One if the condition holds, otherwise zero.
    fn indicator(&mut self, cond: Atom) -> Atom {
        let (one, zero) = (self.num(1.0), self.num(0.0));
        self.ad.select(cond, self.ty.into(), one, zero, self.loc)
    }

    fn unop(&mut self, op: UnOp, x: Atom, y: Atom) -> Option<Atom> {
        Some(match op {
            UnOp::Neg => self.num(-1.0),
            UnOp::Not if self.ty == PrimType::Bool => Atom::bool(true),
            UnOp::Not => self.num(-1.0),
            UnOp::Abs => self.un(UnOp::Signum, x),
            UnOp::Sqrt => self.over(0.5, y),
            UnOp::Rsqrt => {
                let ratio = self.div(y, x);
                self.scale(-0.5, ratio)
            }
            UnOp::Cbrt => {
                let square = self.mul(y, y);
                let three = self.scale(3.0, square);
                self.over(1.0, three)
            }
            UnOp::Exp => y,
            UnOp::Log => self.over(1.0, x),
            UnOp::Log2 => self.over(1.0 / LN_2, x),
            UnOp::Log10 => self.over(1.0 / LN_10, x),
            UnOp::Log1p => {
                let one = self.num(1.0);
                let inside = self.add(one, x);
                self.over(1.0, inside)
            }
            UnOp::Sin => self.un(UnOp::Cos, x),
            UnOp::Cos => {
                let sin = self.un(UnOp::Sin, x);
                self.neg(sin)
            }
            UnOp::Tan => self.one_plus_square(y),
            UnOp::SinPi => {
                let cos = self.un(UnOp::CosPi, x);
                self.scale(PI, cos)
            }
            UnOp::CosPi => {
                let sin = self.un(UnOp::SinPi, x);
                self.scale(-PI, sin)
            }
            UnOp::TanPi => {
                let inside = self.one_plus_square(y);
                self.scale(PI, inside)
            }
            UnOp::Asin => self.circle(1.0, x),
            UnOp::Acos => self.circle(-1.0, x),
            UnOp::Atan => {
                let inside = self.one_plus_square(x);
                self.over(1.0, inside)
            }
            UnOp::AsinPi => self.circle(1.0 / PI, x),
            UnOp::AcosPi => self.circle(-1.0 / PI, x),
            UnOp::AtanPi => {
                let inside = self.one_plus_square(x);
                self.over(1.0 / PI, inside)
            }
            UnOp::Sinh => self.un(UnOp::Cosh, x),
            UnOp::Cosh => self.un(UnOp::Sinh, x),
            UnOp::Tanh => self.tanh_slope(x),
            // The hypotenuse does not overflow where a square would.
            UnOp::Asinh => {
                let one = self.num(1.0);
                let root = self.bin(BinOp::Hypot, one, x);
                self.over(1.0, root)
            }
            UnOp::Acosh => {
                let (less, more) = self.around(x);
                let (less, more) = (self.un(UnOp::Sqrt, less), self.un(UnOp::Sqrt, more));
                let root = self.mul(less, more);
                self.over(1.0, root)
            }
            UnOp::Atanh => {
                let product = self.one_minus_square(x);
                self.over(1.0, product)
            }
            UnOp::Erf => self.gauss(2.0 / PI.sqrt(), x),
            UnOp::Erfc => self.gauss(-2.0 / PI.sqrt(), x),
            UnOp::Signum | UnOp::Ceil | UnOp::Floor | UnOp::Trunc | UnOp::Round => self.num(0.0),
            UnOp::IsNan | UnOp::IsInf | UnOp::Popc | UnOp::Clz | UnOp::Ctz => self.num(0.0),
            UnOp::Gamma => {
                let digamma = self.polygamma(x, 0);
                self.mul(y, digamma)
            }
            UnOp::Lgamma => self.polygamma(x, 0),
            // Not products: both modes treat them as conversions.
            UnOp::ToBits | UnOp::FromBits => return None,
        })
    }

    /// `4 * t * r * r` with `r = 1 / (1 + t)` and `t = exp(-2 |x|)`. Not `1 - y * y`, which is all rounding error where `y`
    /// is close to 1, and nothing that overflows, so that it can be differentiated again everywhere.
    fn tanh_slope(&mut self, x: Atom) -> Atom {
        let (zero, one) = (self.num(0.0), self.num(1.0));
        let negative = self.ad.b.cmp(CmpOp::Lt, self.ty, x, zero, self.loc);
        let (down, up) = (self.scale(2.0, x), self.scale(-2.0, x));
        let inside = self.ad.select(negative, self.ty.into(), down, up, self.loc);
        let t = self.un(UnOp::Exp, inside);
        let more = self.add(one, t);
        let share = self.over(1.0, more);
        let square = self.mul(share, share);
        let four = self.scale(4.0, t);
        self.mul(four, square)
    }

    /// `k * exp(-x * x)`. The rounding error of the square would be one of the result, many times larger; so the result
    /// is corrected by it, except where both are zero.
    fn gauss(&mut self, k: f64, x: Atom) -> Atom {
        let square = self.mul(x, x);
        let inside = self.neg(square);
        let lost = Exp::TernOp(TernOp::Fma, self.ty, [x, x, inside]);
        let lost = self.ad.let_exp("lost", self.ty.into(), lost, self.loc);
        let (zero, large) = (self.num(0.0), self.num(1000.0));
        let small = self.ad.b.cmp(CmpOp::Lt, self.ty, square, large, self.loc);
        let lost = self.ad.select(small, self.ty.into(), lost, zero, self.loc);
        let bell = self.un(UnOp::Exp, inside);
        let correction = self.mul(bell, lost);
        let bell = self.sub(bell, correction);
        self.scale(k, bell)
    }

    fn binop(&mut self, op: BinOp, x: Atom, y: Atom, r: Atom) -> [Atom; 2] {
        let (one, zero) = (self.num(1.0), self.num(0.0));
        match op {
            BinOp::Add => [one, one],
            BinOp::Sub => [one, self.num(-1.0)],
            BinOp::Mul => [y, x],
            // A product is faster than a second division.
            BinOp::Div if self.ty.is_float() && x == one => {
                let square = self.mul(r, r);
                [r, self.neg(square)]
            }
            BinOp::Div | BinOp::Quot => {
                let ratio = self.bin(op, r, y);
                [self.bin(op, one, y), self.neg(ratio)]
            }
            BinOp::Mod | BinOp::Rem if self.ty.is_float() => {
                let ratio = self.div(x, y);
                let whole = self.un(UnOp::Trunc, ratio);
                [one, self.neg(whole)]
            }
            BinOp::Mod => {
                let whole = self.div(x, y);
                [one, self.neg(whole)]
            }
            BinOp::Rem => {
                let whole = self.bin(BinOp::Quot, x, y);
                [one, self.neg(whole)]
            }
            BinOp::Pow => self.pow(x, y, r),
            BinOp::And if self.ty == PrimType::Bool => [y, x],
            BinOp::Or if self.ty == PrimType::Bool => [self.un(UnOp::Not, y), self.un(UnOp::Not, x)],
            BinOp::Xor if self.ty == PrimType::Bool => [one, one],
            BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Ashr | BinOp::Lshr => [zero, zero],
            BinOp::MulHi => [zero, zero],
            // The operand that is the result counts; a NaN never is, unless both are.
            BinOp::Min | BinOp::Max => {
                let first = self.ad.b.eq(self.ty, r, x, self.loc);
                self.choice(first)
            }
            BinOp::Atan2 => self.atan2(1.0, x, y),
            BinOp::Atan2Pi => self.atan2(1.0 / PI, x, y),
            BinOp::Hypot => {
                let at_zero = self.ad.b.eq(self.ty, r, zero, self.loc);
                let slopes = [self.div(x, r), self.div(y, r)];
                slopes.map(|slope| self.ad.select(at_zero, self.ty.into(), zero, slope, self.loc))
            }
            BinOp::Polygamma => {
                let next = self.ad.b.binop(BinOp::Add, PrimType::I32, y, Prim::I32(1).into(), self.loc);
                [self.bin(BinOp::Polygamma, x, next), Prim::I32(0).into()]
            }
            BinOp::NextAfter => [one, zero],
            BinOp::CopySign => {
                let (a, b) = (self.bin(BinOp::CopySign, one, x), self.bin(BinOp::CopySign, one, y));
                [self.mul(a, b), zero]
            }
            BinOp::Ldexp => {
                let power = Exp::BinOp(BinOp::Ldexp, self.ty, one, y);
                [self.ad.let_exp("power", self.ty.into(), power, self.loc), Prim::I32(0).into()]
            }
        }
    }

    fn choice(&mut self, first: Atom) -> [Atom; 2] {
        let second = self.ad.b.not(first, self.loc);
        [self.indicator(first), self.indicator(second)]
    }

    /// `k * x / r / r` and `-k * y / r / r`, where `r` is the hypotenuse: its square might overflow.
    fn atan2(&mut self, k: f64, y: Atom, x: Atom) -> [Atom; 2] {
        let r = self.bin(BinOp::Hypot, x, y);
        let (towards, across) = (self.div(x, r), self.div(y, r));
        let across = self.neg(across);
        [towards, across].map(|side| {
            let slope = self.div(side, r);
            if k == 1.0 { slope } else { self.scale(k, slope) }
        })
    }

    /// An integer has no logarithm: the exponent then has the derivative 0.
    fn pow(&mut self, x: Atom, y: Atom, r: Atom) -> [Atom; 2] {
        let (one, zero) = (self.num(1.0), self.num(0.0));
        let less = self.sub(y, one);
        if !self.ty.is_float() {
            let less = self.bin(BinOp::Max, less, zero);
            let power = self.bin(BinOp::Pow, x, less);
            return [self.mul(y, power), zero];
        }
        let slope = self.pow_slope(x, y, r, less);
        let constant = self.ad.b.eq(self.ty, y, zero, self.loc);
        let slope = self.ad.select(constant, self.ty.into(), zero, slope, self.loc);
        let log = self.un(UnOp::Log, x);
        let growth = self.mul(r, log);
        let at_zero = self.ad.b.eq(self.ty, x, zero, self.loc);
        [slope, self.ad.select(at_zero, self.ty.into(), zero, growth, self.loc)]
    }

    /// `y * x ** (y - 1)`. The rounding error of `y - 1` would count for many; so it is `y * r / x`, except where
    /// `r` has no precision left or `x` is zero.
    fn pow_slope(&mut self, x: Atom, y: Atom, r: Atom, less: Atom) -> Atom {
        if let (Atom::Const(exponent), Atom::Const(less)) = (y, less)
            && let (Some(whole), Some(part)) = (exponent.as_f64(), less.as_f64())
            && part + 1.0 == whole
        {
            return self.constant_power(x, exponent, less);
        }
        let least = match self.ty {
            PrimType::F16 => 6.2e-5,
            PrimType::F32 => f32::MIN_POSITIVE.into(),
            _ => f64::MIN_POSITIVE,
        };
        let (least, most) = (self.num(least), self.num(f64::INFINITY));
        let size = self.un(UnOp::Abs, r);
        let normal = self.ad.b.cmp(CmpOp::Lt, self.ty, least, size, self.loc);
        let finite = self.ad.b.cmp(CmpOp::Lt, self.ty, size, most, self.loc);
        let precise = self.ad.b.and(normal, finite, self.loc);
        let mut branch = |build: &mut dyn FnMut(&mut Self) -> Atom| {
            self.ad.b.push_scope();
            let result = build(self);
            Body { stms: self.ad.b.pop_scope(), result: vec![result] }
        };
        let then = branch(&mut |at| {
            let slope = at.div(r, x);
            at.mul(y, slope)
        });
        let otherwise = branch(&mut |at| {
            let power = at.bin(BinOp::Pow, x, less);
            at.mul(y, power)
        });
        self.ad.let_exp("slope", self.ty.into(), Exp::If { cond: precise, then, otherwise }, self.loc)
    }

    /// As [`Self::pow_slope`], for an exponent that is known.
    fn constant_power(&mut self, x: Atom, exponent: Prim, less: Prim) -> Atom {
        let power = match less.as_f64() {
            Some(0.0) => return exponent.into(),
            Some(1.0) => x,
            Some(2.0) => self.mul(x, x),
            _ => self.bin(BinOp::Pow, x, less.into()),
        };
        self.mul(exponent.into(), power)
    }

    fn ternop(&mut self, op: TernOp, [x, y, z]: [Atom; 3]) -> [Atom; 3] {
        let (one, zero) = (self.num(1.0), self.num(0.0));
        match op {
            TernOp::Fma | TernOp::Mad => [y, x, one],
            TernOp::MadHi => [zero, zero, one],
            TernOp::Lerp => [self.sub(one, z), z, self.sub(y, x)],
        }
    }
}

impl<'p> Ad<'p> {
    /// For each active operand of a scalar operation with result `r`, the partial derivative.
    pub fn partials(&mut self, exp: &Exp, r: Atom, loc: Loc) -> Res<Vec<(Atom, Atom)>> {
        let pairs: Vec<(Atom, Atom)> = match exp {
            Exp::UnOp(op, ty, x) => {
                let mut at = At { ad: self, ty: *ty, loc };
                match at.unop(*op, *x, r) {
                    Some(partial) => vec![(*x, partial)],
                    None => {
                        return Err(not_yet(loc, format!("the derivative of {}", op.name())));
                    }
                }
            }
            Exp::BinOp(op, ty, x, y) => {
                let partials = At { ad: self, ty: *ty, loc }.binop(*op, *x, *y, r);
                vec![(*x, partials[0]), (*y, partials[1])]
            }
            Exp::TernOp(op, ty, operands) => {
                let partials = At { ad: self, ty: *ty, loc }.ternop(*op, *operands);
                operands.iter().copied().zip(partials).collect()
            }
            _ => Vec::new(),
        };
        Ok(pairs.into_iter().filter(|(x, _)| self.is_active(*x)).collect())
    }

    /// The product of a partial derivative with a tangent or cotangent.
    pub fn times(&mut self, ty: PrimType, partial: Atom, seed: Atom, loc: Loc) -> Atom {
        match ty {
            PrimType::Bool => self.b.and(partial, seed, loc),
            _ if partial == Prim::of_i64(ty, -1).into() => self.b.unop(UnOp::Neg, ty, seed, loc),
            _ => self.b.mul(ty, partial, seed, loc),
        }
    }

    pub fn plus(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.b.binop(plus_op(ty), ty, x, y, loc)
    }

    /// A comparison used by rules.
    pub fn less(&mut self, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.b.cmp(CmpOp::Lt, PrimType::I64, x, y, loc)
    }
}

/// The sum of tangents or adjoints.
pub(crate) fn plus_op(ty: PrimType) -> BinOp {
    if ty == PrimType::Bool { BinOp::Or } else { BinOp::Add }
}
