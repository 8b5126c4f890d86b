//! About how long scalar operations take.

use crate::exp::Exp;
use crate::prim::{BinOp, PrimType, UnOp};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cost {
    /// As long as an addition.
    Simple,
    /// A few additions.
    Short,
    /// Many additions: divisions and roots.
    Long,
    /// An elementary function, worth some effort to run it less often.
    Function,
}

/// The cost of a scalar operation; none for everything else.
pub fn scalar_cost(exp: &Exp) -> Option<Cost> {
    match exp {
        Exp::UnOp(op, ..) => Some(unop_cost(*op)),
        Exp::BinOp(op, ty, ..) => Some(binop_cost(*op, *ty)),
        Exp::CmpOp(..) | Exp::Convert(..) => Some(Cost::Simple),
        Exp::TernOp(..) => Some(Cost::Short),
        Exp::Atom(_) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) => None,
        Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => None,
        Exp::Concat { .. } | Exp::Contract { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => None,
        Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => None,
        Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } => None,
        Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => None,
        Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Transpose { .. } | Exp::Detach(_) => {
            None
        }
    }
}

/// Whether this is a scalar operation that takes many times as long as an addition.
pub fn is_elementary_function(exp: &Exp) -> bool {
    scalar_cost(exp) == Some(Cost::Function)
}

pub fn unop_cost(op: UnOp) -> Cost {
    match op {
        UnOp::Neg | UnOp::Not | UnOp::Abs => Cost::Simple,
        UnOp::Signum | UnOp::Ceil | UnOp::Floor | UnOp::Trunc | UnOp::Round => Cost::Short,
        UnOp::IsNan | UnOp::IsInf | UnOp::ToBits | UnOp::FromBits => Cost::Short,
        UnOp::Popc | UnOp::Clz | UnOp::Ctz => Cost::Short,
        UnOp::Sqrt | UnOp::Rsqrt => Cost::Long,
        UnOp::Cbrt | UnOp::Exp | UnOp::Log | UnOp::Log2 | UnOp::Log10 | UnOp::Log1p => Cost::Function,
        UnOp::Sin | UnOp::Cos | UnOp::Tan | UnOp::SinPi | UnOp::CosPi | UnOp::TanPi => Cost::Function,
        UnOp::Asin | UnOp::Acos | UnOp::Atan | UnOp::AsinPi | UnOp::AcosPi => Cost::Function,
        UnOp::AtanPi | UnOp::Sinh | UnOp::Cosh | UnOp::Tanh => Cost::Function,
        UnOp::Asinh | UnOp::Acosh | UnOp::Atanh => Cost::Function,
        UnOp::Gamma | UnOp::Lgamma | UnOp::Erf | UnOp::Erfc => Cost::Function,
    }
}

fn binop_cost(op: BinOp, ty: PrimType) -> Cost {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Min | BinOp::Max => Cost::Simple,
        BinOp::And | BinOp::Or | BinOp::Xor => Cost::Simple,
        BinOp::Shl | BinOp::Ashr | BinOp::Lshr => Cost::Short,
        BinOp::MulHi | BinOp::NextAfter | BinOp::CopySign | BinOp::Ldexp => Cost::Short,
        BinOp::Div | BinOp::Quot | BinOp::Rem => Cost::Long,
        BinOp::Mod | BinOp::Pow if !ty.is_float() => Cost::Long,
        BinOp::Mod | BinOp::Pow | BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot => Cost::Function,
        BinOp::Polygamma => Cost::Function,
    }
}
