//! What the code generator knows of scalar operations.

use dagaz_core::prim::{PrimType, UnOp};

/// The number of a type, as the host knows it.
pub(crate) fn type_code(ty: PrimType) -> usize {
    PrimType::ALL.iter().position(|t| *t == ty).unwrap_or(0)
}

/// Whether the C library computes a function for several numbers at once.
pub(crate) fn has_vector_variant(op: UnOp) -> bool {
    matches!(
        op,
        UnOp::Exp
            | UnOp::Log
            | UnOp::Sin
            | UnOp::Cos
            | UnOp::Tan
            | UnOp::Tanh
            | UnOp::Log2
            | UnOp::Log10
            | UnOp::Log1p
            | UnOp::Asin
            | UnOp::Acos
            | UnOp::Atan
            | UnOp::Sinh
            | UnOp::Cosh
    )
}

/// Whether an operation is a call of the host: the C library has no function that gives the interpreter's result.
pub(crate) fn is_call_of_host(op: UnOp, ty: PrimType) -> bool {
    ty == PrimType::F16
        || matches!(
            op,
            UnOp::Cbrt
                | UnOp::SinPi
                | UnOp::CosPi
                | UnOp::TanPi
                | UnOp::AsinPi
                | UnOp::AcosPi
                | UnOp::AtanPi
                | UnOp::Asinh
                | UnOp::Acosh
                | UnOp::Atanh
                | UnOp::Gamma
                | UnOp::Lgamma
                | UnOp::Erf
                | UnOp::Erfc
        )
}
