//! Primitive types, constants and scalar operations.

use half::f16;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PrimType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    Bool,
}

/// A scalar constant or value.
#[derive(Clone, Copy, Debug)]
pub enum Prim {
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F16(f16),
    F32(f32),
    F64(f64),
    Bool(bool),
}

/// Operations of one operand. The result has the operand's type unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Numeric negation, wrapping for integers.
    Neg,
    /// Logical negation of a `bool`, bitwise complement of an integer.
    Not,
    Abs,
    /// -1, 0 or 1; for floats the sign of a zero and NaN are kept.
    Signum,
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    SinPi,
    CosPi,
    TanPi,
    Asin,
    Acos,
    Atan,
    AsinPi,
    AcosPi,
    AtanPi,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Gamma,
    Lgamma,
    Erf,
    Erfc,
    Ceil,
    Floor,
    Trunc,
    /// To the nearest integer, ties to even.
    Round,
    /// Result `bool`.
    IsNan,
    /// Result `bool`.
    IsInf,
    /// Number of one bits; result `i32`.
    Popc,
    /// Leading zero bits; result `i32`.
    Clz,
    /// Trailing zero bits; result `i32`.
    Ctz,
    /// The bits of a float as the unsigned integer of the same width.
    ToBits,
    /// The float of the same width as the unsigned operand.
    FromBits,
}

/// Operations of two operands of the same type, which is also the result's, unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    /// Integers round towards negative infinity; division by zero is an error.
    Div,
    /// Sign of the divisor; see `Div`.
    Mod,
    /// Integer division rounding towards zero; division by zero is an error.
    Quot,
    /// Remainder of `Quot`.
    Rem,
    /// A negative integer exponent is an error.
    Pow,
    And,
    Or,
    Xor,
    Shl,
    /// Arithmetic shift right.
    Ashr,
    /// Logical shift right.
    Lshr,
    Min,
    Max,
    Atan2,
    Atan2Pi,
    Hypot,
    NextAfter,
    CopySign,
    /// The second operand is an `i32`.
    Ldexp,
    /// The high half of the double-width product.
    MulHi,
}

/// Operations of three operands of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TernOp {
    /// `a * b + c` with one rounding.
    Fma,
    /// `a * b + c` with either one or two roundings.
    Mad,
    /// `mul_hi a b + c`
    MadHi,
    /// `a + (b - a) * c`
    Lerp,
}

/// Comparisons; the result is a `bool`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CmpOp {
    Eq,
    Lt,
    Le,
}
