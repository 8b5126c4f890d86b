//! Scalar operations of Core with floats of all types as real numbers. Integers and truth values are as everywhere.

use std::cmp::Ordering;

use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::prim_eval;

use super::gamma;
use super::real::Real;

#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    Real(Real),
    /// No float.
    Other(Prim),
}

pub type Fallible<T> = Result<T, String>;

impl Scalar {
    pub fn of_prim(prim: Prim) -> Scalar {
        prim.as_f64().map_or(Scalar::Other(prim), |x| Scalar::Real(Real::new(x)))
    }

    pub fn i64(self) -> Fallible<i64> {
        let number = if let Scalar::Other(prim) = self { prim.as_i64() } else { None };
        number.ok_or_else(|| "an integer is expected".to_owned())
    }

    pub fn bool(self) -> Fallible<bool> {
        let truth = if let Scalar::Other(prim) = self { prim.as_bool() } else { None };
        truth.ok_or_else(|| "a truth value is expected".to_owned())
    }
}

fn beyond<T>(name: &str) -> Fallible<T> {
    Err(format!("there is no {name} in extended precision"))
}

pub fn unop(op: UnOp, x: Scalar) -> Fallible<Scalar> {
    match x {
        Scalar::Other(prim) => {
            prim_eval::eval_unop(op, prim).map(Scalar::of_prim).map_err(|e| format!("{e:?}"))
        }
        Scalar::Real(x) => match op {
            UnOp::IsNan => Ok(Scalar::Other(Prim::Bool(x.is_nan()))),
            UnOp::IsInf => Ok(Scalar::Other(Prim::Bool(x.high.is_infinite()))),
            _ => real_unop(op, x).map(Scalar::Real),
        },
    }
}

fn real_unop(op: UnOp, x: Real) -> Fallible<Real> {
    let one = Real::ONE;
    Ok(match op {
        UnOp::Neg => -x,
        UnOp::Abs => x.abs(),
        UnOp::Signum => Real::new(if x.high == 0.0 || x.is_nan() { x.high } else { x.high.signum() }),
        UnOp::Sqrt => x.sqrt(),
        UnOp::Rsqrt => one / x.sqrt(),
        UnOp::Cbrt => x.cbrt(),
        UnOp::Exp => x.exp(),
        UnOp::Log => x.log(),
        UnOp::Log2 => x.log() / Real::new(2.0).log(),
        UnOp::Log10 => x.log() / Real::new(10.0).log(),
        UnOp::Log1p => (x + one).log(),
        UnOp::Sin => x.sin_cos().0,
        UnOp::Cos => x.sin_cos().1,
        UnOp::Tan => tan(x),
        UnOp::SinPi => x.times_pi().sin_cos().0,
        UnOp::CosPi => x.times_pi().sin_cos().1,
        UnOp::TanPi => tan(x.times_pi()),
        UnOp::Asin => asin(x),
        UnOp::Acos => acos(x),
        UnOp::Atan => x.atan2(one),
        UnOp::AsinPi => asin(x).over_pi(),
        UnOp::AcosPi => acos(x).over_pi(),
        UnOp::AtanPi => x.atan2(one).over_pi(),
        UnOp::Sinh => (x.exp_m1() - (-x).exp_m1()) * Real::new(0.5),
        UnOp::Cosh => (x.exp() + (-x).exp()) * Real::new(0.5),
        UnOp::Tanh => x.tanh(),
        UnOp::Asinh => x.asinh(),
        UnOp::Acosh => (x + (x * x - one).sqrt()).log(),
        UnOp::Atanh => ((one + x) / (one - x)).log() * Real::new(0.5),
        UnOp::Erf => x.erf().map_or_else(|| beyond(op.name()), Ok)?,
        UnOp::Erfc => one - x.erf().map_or_else(|| beyond(op.name()), Ok)?,
        UnOp::Ceil => -(-x).floor(),
        UnOp::Floor => x.floor(),
        UnOp::Trunc => x.trunc(),
        UnOp::Round => x.round(),
        UnOp::Lgamma => gamma::log_gamma(x).map_or_else(|| beyond(op.name()), Ok)?,
        UnOp::Gamma => gamma::log_gamma(x).map_or_else(|| beyond(op.name()), Ok)?.exp(),
        UnOp::ToBits | UnOp::FromBits => return beyond(op.name()),
        UnOp::Not | UnOp::Popc | UnOp::Clz | UnOp::Ctz | UnOp::IsNan | UnOp::IsInf => {
            return beyond(op.name());
        }
    })
}

fn tan(x: Real) -> Real {
    let (sin, cos) = x.sin_cos();
    sin / cos
}

fn asin(x: Real) -> Real {
    x.atan2((Real::ONE - x * x).sqrt())
}

fn acos(x: Real) -> Real {
    (Real::ONE - x * x).sqrt().atan2(x)
}

pub fn binop(op: BinOp, x: Scalar, y: Scalar) -> Fallible<Scalar> {
    match (x, y) {
        (Scalar::Other(x), Scalar::Other(y)) => {
            prim_eval::eval_binop(op, x, y).map(Scalar::of_prim).map_err(|e| format!("{e:?}"))
        }
        (Scalar::Real(x), Scalar::Real(y)) => real_binop(op, x, y).map(Scalar::Real),
        (Scalar::Real(x), Scalar::Other(n)) if op == BinOp::Ldexp => {
            let n = n.as_i64().unwrap_or(0);
            Ok(Scalar::Real(x * Real::new(2.0).powi(n)))
        }
        (Scalar::Real(x), Scalar::Other(n)) if op == BinOp::Polygamma => {
            let value = gamma::polygamma(n.as_i64().unwrap_or(-1), x);
            value.map_or_else(|| beyond(op.name()), |value| Ok(Scalar::Real(value)))
        }
        (Scalar::Real(_), Scalar::Other(_)) | (Scalar::Other(_), Scalar::Real(_)) => beyond(op.name()),
    }
}

fn real_binop(op: BinOp, x: Real, y: Real) -> Fallible<Real> {
    Ok(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div => x / y,
        BinOp::Mod | BinOp::Rem => x - (x / y).trunc() * y,
        BinOp::Pow => x.pow(y),
        BinOp::Min if x.is_nan() => y,
        BinOp::Min => {
            if y.less(x) {
                y
            } else {
                x
            }
        }
        BinOp::Max if x.is_nan() => y,
        BinOp::Max => {
            if x.less(y) {
                y
            } else {
                x
            }
        }
        BinOp::Atan2 => x.atan2(y),
        BinOp::Atan2Pi => x.atan2(y).over_pi(),
        BinOp::Hypot => (x * x + y * y).sqrt(),
        BinOp::CopySign => {
            if x.high.is_sign_negative() == y.high.is_sign_negative() {
                x
            } else {
                -x
            }
        }
        BinOp::Quot | BinOp::And | BinOp::Or | BinOp::Xor => return beyond(op.name()),
        BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::MulHi => return beyond(op.name()),
        BinOp::NextAfter | BinOp::Ldexp | BinOp::Polygamma => return beyond(op.name()),
    })
}

pub fn ternop(op: TernOp, [a, b, c]: [Scalar; 3]) -> Fallible<Scalar> {
    match (a, b, c) {
        (Scalar::Real(a), Scalar::Real(b), Scalar::Real(c)) => match op {
            TernOp::Fma | TernOp::Mad => Ok(Scalar::Real(a * b + c)),
            TernOp::Lerp => Ok(Scalar::Real(a + (b - a) * c)),
            TernOp::MadHi => beyond(op.name()),
        },
        (Scalar::Other(a), Scalar::Other(b), Scalar::Other(c)) => {
            prim_eval::eval_ternop(op, a, b, c).map(Scalar::of_prim).map_err(|e| format!("{e:?}"))
        }
        (Scalar::Real(_) | Scalar::Other(_), _, _) => beyond(op.name()),
    }
}

pub fn compare(op: CmpOp, x: Scalar, y: Scalar) -> Fallible<bool> {
    match (x, y) {
        (Scalar::Real(x), Scalar::Real(y)) => {
            let order = x.order(y);
            Ok(match op {
                CmpOp::Eq => order == Some(Ordering::Equal),
                CmpOp::Lt => order == Some(Ordering::Less),
                CmpOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            })
        }
        (Scalar::Other(x), Scalar::Other(y)) => prim_eval::eval_cmpop(op, x, y).map_err(|e| format!("{e:?}")),
        (Scalar::Real(_), Scalar::Other(_)) | (Scalar::Other(_), Scalar::Real(_)) => beyond(op.name()),
    }
}

/// Between floats nothing happens, not even rounding.
pub fn convert(to: PrimType, x: Scalar) -> Scalar {
    match x {
        Scalar::Real(_) if to.is_float() => x,
        Scalar::Real(x) if to == PrimType::Bool => Scalar::Other(Prim::Bool(x.high != 0.0)),
        Scalar::Real(x) => Scalar::Other(Prim::of_i64(to, x.to_i64())),
        Scalar::Other(prim) if to.is_float() => match prim.as_i64() {
            Some(n) => Scalar::Real(Real::of_i64(n)),
            None => Scalar::Real(Real::new(f64::from(u8::from(prim.as_bool() == Some(true))))),
        },
        Scalar::Other(prim) => Scalar::of_prim(prim_eval::convert(to, prim)),
    }
}
