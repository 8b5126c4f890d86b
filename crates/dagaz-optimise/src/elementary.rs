//! Which scalar operations are worth some effort to run them less often.

use dagaz_core::exp::Exp;
use dagaz_core::prim::{BinOp, UnOp};

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
