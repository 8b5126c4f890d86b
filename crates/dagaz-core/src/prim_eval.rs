//! What the scalar operations compute.
//!
//! Integers wrap. `f16` is computed in `f32` and rounded. An operation applied at a type it does not have
//! is reported, not a panic, because Core can be written by hand.

use std::fmt;

use half::f16;

use crate::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use crate::special::polygamma;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrimError {
    /// With the dividend.
    DivisionByZero(Prim),
    /// With the base and the exponent.
    NegativeExponent(Prim, Prim),
    /// The operation does not exist at this type, or the operands have different types.
    IllTyped,
}

impl fmt::Display for PrimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrimError::DivisionByZero(x) => write!(f, "division by zero: {x} divided by 0"),
            PrimError::NegativeExponent(x, y) => write!(f, "negative exponent: {x} to the power {y}"),
            PrimError::IllTyped => f.write_str("internal error: ill-typed scalar operation"),
        }
    }
}

impl std::error::Error for PrimError {}

type PrimResult = Result<Prim, PrimError>;

#[inline]
pub fn eval_unop(op: UnOp, x: Prim) -> PrimResult {
    macro_rules! int {
        ($con:ident, $x:expr, $signum:expr, $abs:expr) => {
            match op {
                UnOp::Neg => Ok(Prim::$con($x.wrapping_neg())),
                UnOp::Not => Ok(Prim::$con(!$x)),
                UnOp::Abs => Ok(Prim::$con($abs)),
                UnOp::Signum => Ok(Prim::$con($signum)),
                UnOp::Popc => Ok(Prim::I32($x.count_ones() as i32)),
                UnOp::Clz => Ok(Prim::I32($x.leading_zeros() as i32)),
                UnOp::Ctz => Ok(Prim::I32($x.trailing_zeros() as i32)),
                _ => Err(PrimError::IllTyped),
            }
        };
    }
    match x {
        Prim::I8(x) => int!(I8, x, x.signum(), x.wrapping_abs()),
        Prim::I16(x) => int!(I16, x, x.signum(), x.wrapping_abs()),
        Prim::I32(x) => int!(I32, x, x.signum(), x.wrapping_abs()),
        Prim::I64(x) => int!(I64, x, x.signum(), x.wrapping_abs()),
        Prim::U8(x) => int!(U8, x, x.min(1), x),
        Prim::U16(x) if op == UnOp::FromBits => Ok(Prim::F16(f16::from_bits(x))),
        Prim::U16(x) => int!(U16, x, x.min(1), x),
        Prim::U32(x) if op == UnOp::FromBits => Ok(Prim::F32(f32::from_bits(x))),
        Prim::U32(x) => int!(U32, x, x.min(1), x),
        Prim::U64(x) if op == UnOp::FromBits => Ok(Prim::F64(f64::from_bits(x))),
        Prim::U64(x) => int!(U64, x, x.min(1), x),
        Prim::F16(x) => match op {
            UnOp::Neg => Ok(Prim::F16(-x)),
            UnOp::ToBits => Ok(Prim::U16(x.to_bits())),
            UnOp::IsNan => Ok(Prim::Bool(x.is_nan())),
            UnOp::IsInf => Ok(Prim::Bool(x.is_infinite())),
            _ => Ok(Prim::F16(f16::from_f32(unop_f32(op, x.to_f32())?))),
        },
        Prim::F32(x) => match op {
            UnOp::ToBits => Ok(Prim::U32(x.to_bits())),
            UnOp::IsNan => Ok(Prim::Bool(x.is_nan())),
            UnOp::IsInf => Ok(Prim::Bool(x.is_infinite())),
            _ => Ok(Prim::F32(unop_f32(op, x)?)),
        },
        Prim::F64(x) => match op {
            UnOp::ToBits => Ok(Prim::U64(x.to_bits())),
            UnOp::IsNan => Ok(Prim::Bool(x.is_nan())),
            UnOp::IsInf => Ok(Prim::Bool(x.is_infinite())),
            _ => Ok(Prim::F64(unop_f64(op, x)?)),
        },
        Prim::Bool(b) => match op {
            UnOp::Not => Ok(Prim::Bool(!b)),
            _ => Err(PrimError::IllTyped),
        },
    }
}

/// The operations that exist natively at single precision; the rest round the double-precision result,
/// which is at least as accurate.
fn unop_f32(op: UnOp, x: f32) -> Result<f32, PrimError> {
    match op {
        UnOp::Neg => Ok(-x),
        UnOp::Abs => Ok(x.abs()),
        UnOp::Sqrt => Ok(x.sqrt()),
        UnOp::Rsqrt => Ok(1.0 / x.sqrt()),
        UnOp::Exp => Ok(x.exp()),
        UnOp::Log => Ok(x.ln()),
        UnOp::Sin => Ok(x.sin()),
        UnOp::Cos => Ok(x.cos()),
        UnOp::Tan => Ok(x.tan()),
        UnOp::Tanh => Ok(x.tanh()),
        _ => Ok(unop_f64(op, x.into())? as f32),
    }
}

fn unop_f64(op: UnOp, x: f64) -> Result<f64, PrimError> {
    use std::f64::consts::PI;
    Ok(match op {
        UnOp::Neg => -x,
        UnOp::Abs => x.abs(),
        UnOp::Signum => {
            if x.is_nan() || x == 0.0 {
                x
            } else {
                x.signum()
            }
        }
        UnOp::Sqrt => x.sqrt(),
        UnOp::Rsqrt => 1.0 / x.sqrt(),
        UnOp::Cbrt => libm::cbrt(x),
        UnOp::Exp => x.exp(),
        UnOp::Log => x.ln(),
        UnOp::Log2 => x.log2(),
        UnOp::Log10 => x.log10(),
        UnOp::Log1p => x.ln_1p(),
        UnOp::Sin => x.sin(),
        UnOp::Cos => x.cos(),
        UnOp::Tan => x.tan(),
        UnOp::SinPi => sinpi(x),
        UnOp::CosPi => cospi(x),
        UnOp::TanPi => sinpi(x) / cospi(x),
        UnOp::Asin => x.asin(),
        UnOp::Acos => x.acos(),
        UnOp::Atan => x.atan(),
        UnOp::AsinPi => x.asin() / PI,
        UnOp::AcosPi => x.acos() / PI,
        UnOp::AtanPi => x.atan() / PI,
        UnOp::Sinh => x.sinh(),
        UnOp::Cosh => x.cosh(),
        UnOp::Tanh => x.tanh(),
        UnOp::Asinh => libm::asinh(x),
        UnOp::Acosh => libm::acosh(x),
        UnOp::Atanh => libm::atanh(x),
        UnOp::Gamma => libm::tgamma(x),
        UnOp::Lgamma => libm::lgamma(x),
        UnOp::Erf => libm::erf(x),
        UnOp::Erfc => libm::erfc(x),
        UnOp::Ceil => x.ceil(),
        UnOp::Floor => x.floor(),
        UnOp::Trunc => x.trunc(),
        UnOp::Round => x.round_ties_even(),
        UnOp::Not | UnOp::Popc | UnOp::Clz | UnOp::Ctz | UnOp::FromBits => return Err(PrimError::IllTyped),
        UnOp::IsNan | UnOp::IsInf | UnOp::ToBits => return Err(PrimError::IllTyped),
    })
}

/// `sin (pi * x)`, exact where the result is 0, 1 or -1. The reduction modulo 2 is exact.
fn sinpi(x: f64) -> f64 {
    let r = x % 2.0;
    let a = r.abs();
    let y = if a <= 0.25 {
        (a * std::f64::consts::PI).sin()
    } else if a < 0.75 {
        ((a - 0.5) * std::f64::consts::PI).cos()
    } else if a <= 1.25 {
        ((1.0 - a) * std::f64::consts::PI).sin()
    } else if a < 1.75 {
        -((a - 1.5) * std::f64::consts::PI).cos()
    } else {
        ((a - 2.0) * std::f64::consts::PI).sin()
    };
    if r.is_sign_negative() { -y } else { y }
}

fn cospi(x: f64) -> f64 {
    let a = (x % 2.0).abs();
    if a <= 0.25 {
        (a * std::f64::consts::PI).cos()
    } else if a < 0.75 {
        ((0.5 - a) * std::f64::consts::PI).sin()
    } else if a <= 1.25 {
        -((a - 1.0) * std::f64::consts::PI).cos()
    } else if a < 1.75 {
        ((a - 1.5) * std::f64::consts::PI).sin()
    } else {
        ((2.0 - a) * std::f64::consts::PI).cos()
    }
}

/// Division rounding towards negative infinity.
macro_rules! signed_floor {
    ($ty:ty) => {
        |x: $ty, y: $ty| {
            let q = x.wrapping_div(y);
            if x.wrapping_rem(y) != 0 && (x < 0) != (y < 0) { q - 1 } else { q }
        }
    };
}

#[inline]
pub fn eval_binop(op: BinOp, x: Prim, y: Prim) -> PrimResult {
    macro_rules! int {
        ($con:ident, $x:expr, $y:expr, $unsigned:ty, $signed:ty, $wide:ty, $floor_div:expr) => {{
            let (x, y) = ($x, $y);
            match op {
                BinOp::Add => Ok(Prim::$con(x.wrapping_add(y))),
                BinOp::Sub => Ok(Prim::$con(x.wrapping_sub(y))),
                BinOp::Mul => Ok(Prim::$con(x.wrapping_mul(y))),
                BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem if y == 0 => {
                    Err(PrimError::DivisionByZero(Prim::$con(x)))
                }
                BinOp::Div => Ok(Prim::$con($floor_div(x, y))),
                BinOp::Mod => Ok(Prim::$con(x.wrapping_sub(y.wrapping_mul($floor_div(x, y))))),
                BinOp::Quot => Ok(Prim::$con(x.wrapping_div(y))),
                BinOp::Rem => Ok(Prim::$con(x.wrapping_rem(y))),
                #[allow(unused_comparisons)]
                BinOp::Pow if y < 0 => Err(PrimError::NegativeExponent(Prim::$con(x), Prim::$con(y))),
                BinOp::Pow => {
                    let (mut base, mut rest, mut power) = (x, y, 1);
                    while rest != 0 {
                        if rest & 1 != 0 {
                            power = base.wrapping_mul(power);
                        }
                        base = base.wrapping_mul(base);
                        rest >>= 1;
                    }
                    Ok(Prim::$con(power))
                }
                BinOp::And => Ok(Prim::$con(x & y)),
                BinOp::Or => Ok(Prim::$con(x | y)),
                BinOp::Xor => Ok(Prim::$con(x ^ y)),
                BinOp::Shl => {
                    Ok(Prim::$con(shift_amount(y as i64).and_then(|s| x.checked_shl(s)).unwrap_or(0)))
                }
                BinOp::Lshr => {
                    let shifted = shift_amount(y as i64).and_then(|s| (x as $unsigned).checked_shr(s));
                    Ok(Prim::$con(shifted.unwrap_or(0) as _))
                }
                BinOp::Ashr => {
                    let shift = shift_amount(y as i64).unwrap_or(u32::MAX).min(<$signed>::BITS - 1);
                    Ok(Prim::$con(((x as $signed) >> shift) as _))
                }
                BinOp::Min => Ok(Prim::$con(x.min(y))),
                BinOp::Max => Ok(Prim::$con(x.max(y))),
                BinOp::MulHi => Ok(Prim::$con(((x as $wide * y as $wide) >> <$signed>::BITS) as _)),
                _ => Err(PrimError::IllTyped),
            }
        }};
    }
    match (x, y) {
        (Prim::I8(x), Prim::I8(y)) => int!(I8, x, y, u8, i8, i16, signed_floor!(i8)),
        (Prim::I16(x), Prim::I16(y)) => int!(I16, x, y, u16, i16, i32, signed_floor!(i16)),
        (Prim::I32(x), Prim::I32(y)) => int!(I32, x, y, u32, i32, i64, signed_floor!(i32)),
        (Prim::I64(x), Prim::I64(y)) => int!(I64, x, y, u64, i64, i128, signed_floor!(i64)),
        (Prim::U8(x), Prim::U8(y)) => int!(U8, x, y, u8, i8, u16, |x: u8, y: u8| x / y),
        (Prim::U16(x), Prim::U16(y)) => int!(U16, x, y, u16, i16, u32, |x: u16, y: u16| x / y),
        (Prim::U32(x), Prim::U32(y)) => int!(U32, x, y, u32, i32, u64, |x: u32, y: u32| x / y),
        (Prim::U64(x), Prim::U64(y)) => int!(U64, x, y, u64, i64, u128, |x: u64, y: u64| x / y),
        (Prim::F64(x), Prim::F64(y)) => Ok(Prim::F64(binop_f64(op, x, y)?)),
        (Prim::F32(x), Prim::F32(y)) => Ok(Prim::F32(binop_f32(op, x, y)?)),
        (Prim::F16(x), Prim::F16(y)) if op == BinOp::NextAfter => Ok(Prim::F16(next_after_f16(x, y))),
        (Prim::F16(x), Prim::F16(y)) => Ok(Prim::F16(f16::from_f32(binop_f32(op, x.to_f32(), y.to_f32())?))),
        (Prim::F64(x), Prim::I32(y)) if op == BinOp::Ldexp => Ok(Prim::F64(libm::ldexp(x, y))),
        (Prim::F32(x), Prim::I32(y)) if op == BinOp::Ldexp => Ok(Prim::F32(libm::ldexpf(x, y))),
        (Prim::F16(x), Prim::I32(y)) if op == BinOp::Ldexp => {
            Ok(Prim::F16(f16::from_f64(libm::ldexp(x.to_f64(), y))))
        }
        (Prim::F64(x), Prim::I32(y)) if op == BinOp::Polygamma => Ok(Prim::F64(polygamma(y, x))),
        (Prim::F32(x), Prim::I32(y)) if op == BinOp::Polygamma => {
            Ok(Prim::F32(polygamma(y, x.into()) as f32))
        }
        (Prim::F16(x), Prim::I32(y)) if op == BinOp::Polygamma => {
            Ok(Prim::F16(f16::from_f64(polygamma(y, x.to_f64()))))
        }
        (Prim::Bool(x), Prim::Bool(y)) => match op {
            BinOp::And | BinOp::Min => Ok(Prim::Bool(x & y)),
            BinOp::Or | BinOp::Max => Ok(Prim::Bool(x | y)),
            BinOp::Xor => Ok(Prim::Bool(x ^ y)),
            _ => Err(PrimError::IllTyped),
        },
        _ => Err(PrimError::IllTyped),
    }
}

/// A shift by a negative amount shifts everything out, as one by too much.
fn shift_amount(by: i64) -> Option<u32> {
    u32::try_from(by).ok()
}

#[inline]
fn binop_f64(op: BinOp, x: f64, y: f64) -> Result<f64, PrimError> {
    Ok(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div => x / y,
        BinOp::Mod => x % y,
        BinOp::Pow => x.powf(y),
        BinOp::Min => x.min(y),
        BinOp::Max => x.max(y),
        BinOp::Atan2 => x.atan2(y),
        BinOp::Atan2Pi => x.atan2(y) / std::f64::consts::PI,
        BinOp::Hypot => libm::hypot(x, y),
        BinOp::NextAfter => libm::nextafter(x, y),
        BinOp::CopySign => x.copysign(y),
        BinOp::Quot | BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor => return Err(PrimError::IllTyped),
        BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::Ldexp | BinOp::Polygamma | BinOp::MulHi => {
            return Err(PrimError::IllTyped);
        }
    })
}

#[inline]
fn binop_f32(op: BinOp, x: f32, y: f32) -> Result<f32, PrimError> {
    match op {
        BinOp::Add => Ok(x + y),
        BinOp::Sub => Ok(x - y),
        BinOp::Mul => Ok(x * y),
        BinOp::Div => Ok(x / y),
        BinOp::Mod => Ok(x % y),
        BinOp::Pow => Ok(x.powf(y)),
        BinOp::Min => Ok(x.min(y)),
        BinOp::Max => Ok(x.max(y)),
        BinOp::NextAfter => Ok(libm::nextafterf(x, y)),
        _ => Ok(binop_f64(op, x.into(), y.into())? as f32),
    }
}

fn next_after_f16(x: f16, y: f16) -> f16 {
    if x.is_nan() || y.is_nan() {
        f16::NAN
    } else if x == y {
        y
    } else if x == f16::ZERO {
        f16::from_bits(1).copysign(y)
    } else if (x < y) == (x > f16::ZERO) {
        f16::from_bits(x.to_bits() + 1)
    } else {
        f16::from_bits(x.to_bits() - 1)
    }
}

pub fn eval_ternop(op: TernOp, a: Prim, b: Prim, c: Prim) -> PrimResult {
    match (op, a, b, c) {
        (TernOp::Fma, Prim::F64(a), Prim::F64(b), Prim::F64(c)) => Ok(Prim::F64(a.mul_add(b, c))),
        (TernOp::Fma, Prim::F32(a), Prim::F32(b), Prim::F32(c)) => Ok(Prim::F32(a.mul_add(b, c))),
        (TernOp::Fma, Prim::F16(a), Prim::F16(b), Prim::F16(c)) => {
            Ok(Prim::F16(f16::from_f64(a.to_f64().mul_add(b.to_f64(), c.to_f64()))))
        }
        (TernOp::Fma, ..) => Err(PrimError::IllTyped),
        (TernOp::Mad, ..) => eval_binop(BinOp::Add, eval_binop(BinOp::Mul, a, b)?, c),
        (TernOp::MadHi, ..) => eval_binop(BinOp::Add, eval_binop(BinOp::MulHi, a, b)?, c),
        (TernOp::Lerp, ..) => {
            let scaled = eval_binop(BinOp::Mul, eval_binop(BinOp::Sub, b, a)?, c)?;
            eval_binop(BinOp::Add, a, scaled)
        }
    }
}

#[inline]
pub fn eval_cmpop(op: CmpOp, x: Prim, y: Prim) -> Result<bool, PrimError> {
    macro_rules! compare {
        ($x:expr, $y:expr) => {
            Ok(match op {
                CmpOp::Eq => $x == $y,
                CmpOp::Lt => $x < $y,
                CmpOp::Le => $x <= $y,
            })
        };
    }
    match (x, y) {
        (Prim::I8(x), Prim::I8(y)) => compare!(x, y),
        (Prim::I16(x), Prim::I16(y)) => compare!(x, y),
        (Prim::I32(x), Prim::I32(y)) => compare!(x, y),
        (Prim::I64(x), Prim::I64(y)) => compare!(x, y),
        (Prim::U8(x), Prim::U8(y)) => compare!(x, y),
        (Prim::U16(x), Prim::U16(y)) => compare!(x, y),
        (Prim::U32(x), Prim::U32(y)) => compare!(x, y),
        (Prim::U64(x), Prim::U64(y)) => compare!(x, y),
        (Prim::F16(x), Prim::F16(y)) => compare!(x, y),
        (Prim::F32(x), Prim::F32(y)) => compare!(x, y),
        (Prim::F64(x), Prim::F64(y)) => compare!(x, y),
        (Prim::Bool(x), Prim::Bool(y)) => compare!(x, y),
        _ => Err(PrimError::IllTyped),
    }
}

/// Conversion, total. Integers wrap. From a float to an integer: NaN and the infinities give 0, numbers out
/// of range saturate, and a negative number reaches an unsigned type through the signed one of its width.
pub fn convert(to: PrimType, x: Prim) -> Prim {
    match x {
        Prim::U64(n) if to.is_float() => convert_f64(to, n as f64, n as f32),
        Prim::I64(n) if to.is_float() => convert_f64(to, n as f64, n as f32),
        Prim::Bool(b) => Prim::of_i64(to, b.into()),
        Prim::F64(v) => convert_f64(to, v, v as f32),
        Prim::F32(v) => convert_f64(to, v.into(), v),
        Prim::F16(v) => convert_f64(to, v.to_f64(), v.to_f32()),
        Prim::I8(_) | Prim::I16(_) | Prim::I32(_) | Prim::I64(_) => Prim::of_i64(to, x.as_i64().unwrap_or(0)),
        Prim::U8(_) | Prim::U16(_) | Prim::U32(_) | Prim::U64(_) => Prim::of_i64(to, x.as_i64().unwrap_or(0)),
    }
}

/// `single` is the number rounded once to `f32`.
fn convert_f64(to: PrimType, v: f64, single: f32) -> Prim {
    let finite = if v.is_finite() { v } else { 0.0 };
    match to {
        PrimType::I8 => Prim::I8(finite as i8),
        PrimType::I16 => Prim::I16(finite as i16),
        PrimType::I32 => Prim::I32(finite as i32),
        PrimType::I64 => Prim::I64(finite as i64),
        PrimType::U8 => Prim::U8(if finite < 0.0 { finite as i8 as u8 } else { finite as u8 }),
        PrimType::U16 => Prim::U16(if finite < 0.0 { finite as i16 as u16 } else { finite as u16 }),
        PrimType::U32 => Prim::U32(if finite < 0.0 { finite as i32 as u32 } else { finite as u32 }),
        PrimType::U64 => Prim::U64(if finite < 0.0 { finite as i64 as u64 } else { finite as u64 }),
        PrimType::F16 => Prim::F16(f16::from_f64(v)),
        PrimType::F32 => Prim::F32(single),
        PrimType::F64 => Prim::F64(v),
        PrimType::Bool => Prim::Bool(v != 0.0),
    }
}
