//! Primitive types, constants and scalar operations.

use std::fmt;
use std::hash::{Hash, Hasher};

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
    /// Integers: sign of the divisor; see `Div`. Floats: the remainder of truncating division, as C's `fmod`.
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
    /// The derivative of the digamma function whose order is the second operand, an `i32`.
    Polygamma,
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

impl PrimType {
    pub const ALL: [PrimType; 12] = [
        PrimType::I8,
        PrimType::I16,
        PrimType::I32,
        PrimType::I64,
        PrimType::U8,
        PrimType::U16,
        PrimType::U32,
        PrimType::U64,
        PrimType::F16,
        PrimType::F32,
        PrimType::F64,
        PrimType::Bool,
    ];

    pub fn name(self) -> &'static str {
        match self {
            PrimType::I8 => "i8",
            PrimType::I16 => "i16",
            PrimType::I32 => "i32",
            PrimType::I64 => "i64",
            PrimType::U8 => "u8",
            PrimType::U16 => "u16",
            PrimType::U32 => "u32",
            PrimType::U64 => "u64",
            PrimType::F16 => "f16",
            PrimType::F32 => "f32",
            PrimType::F64 => "f64",
            PrimType::Bool => "bool",
        }
    }

    pub fn from_name(name: &str) -> Option<PrimType> {
        PrimType::ALL.into_iter().find(|t| t.name() == name)
    }

    pub fn is_float(self) -> bool {
        matches!(self, PrimType::F16 | PrimType::F32 | PrimType::F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64)
    }

    pub fn is_unsigned(self) -> bool {
        matches!(self, PrimType::U8 | PrimType::U16 | PrimType::U32 | PrimType::U64)
    }

    pub fn is_int(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    pub fn bits(self) -> u32 {
        match self {
            PrimType::Bool | PrimType::I8 | PrimType::U8 => 8,
            PrimType::I16 | PrimType::U16 | PrimType::F16 => 16,
            PrimType::I32 | PrimType::U32 | PrimType::F32 => 32,
            PrimType::I64 | PrimType::U64 | PrimType::F64 => 64,
        }
    }

    /// The size of a stored element.
    pub fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
}

impl fmt::Display for PrimType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Prim {
    pub fn ty(self) -> PrimType {
        match self {
            Prim::I8(_) => PrimType::I8,
            Prim::I16(_) => PrimType::I16,
            Prim::I32(_) => PrimType::I32,
            Prim::I64(_) => PrimType::I64,
            Prim::U8(_) => PrimType::U8,
            Prim::U16(_) => PrimType::U16,
            Prim::U32(_) => PrimType::U32,
            Prim::U64(_) => PrimType::U64,
            Prim::F16(_) => PrimType::F16,
            Prim::F32(_) => PrimType::F32,
            Prim::F64(_) => PrimType::F64,
            Prim::Bool(_) => PrimType::Bool,
        }
    }

    /// The number in the given type, wrapping for integers; for `bool`, whether it is not zero.
    pub fn of_i64(ty: PrimType, n: i64) -> Prim {
        match ty {
            PrimType::I8 => Prim::I8(n as i8),
            PrimType::I16 => Prim::I16(n as i16),
            PrimType::I32 => Prim::I32(n as i32),
            PrimType::I64 => Prim::I64(n),
            PrimType::U8 => Prim::U8(n as u8),
            PrimType::U16 => Prim::U16(n as u16),
            PrimType::U32 => Prim::U32(n as u32),
            PrimType::U64 => Prim::U64(n as u64),
            PrimType::F16 => Prim::F16(f16::from_f64(n as f64)),
            PrimType::F32 => Prim::F32(n as f32),
            PrimType::F64 => Prim::F64(n as f64),
            PrimType::Bool => Prim::Bool(n != 0),
        }
    }

    /// The number rounded to the given float type; `None` for the other types.
    pub fn of_f64(ty: PrimType, x: f64) -> Option<Prim> {
        match ty {
            PrimType::F16 => Some(Prim::F16(f16::from_f64(x))),
            PrimType::F32 => Some(Prim::F32(x as f32)),
            PrimType::F64 => Some(Prim::F64(x)),
            PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => None,
            PrimType::U8 | PrimType::U16 | PrimType::U32 | PrimType::U64 | PrimType::Bool => None,
        }
    }

    pub fn zero(ty: PrimType) -> Prim {
        Prim::of_i64(ty, 0)
    }

    pub fn one(ty: PrimType) -> Prim {
        Prim::of_i64(ty, 1)
    }

    /// The least value: negative infinity for floats.
    pub fn lowest(ty: PrimType) -> Prim {
        match ty {
            PrimType::I8 => Prim::I8(i8::MIN),
            PrimType::I16 => Prim::I16(i16::MIN),
            PrimType::I32 => Prim::I32(i32::MIN),
            PrimType::I64 => Prim::I64(i64::MIN),
            PrimType::U8 | PrimType::U16 | PrimType::U32 | PrimType::U64 | PrimType::Bool => Prim::zero(ty),
            PrimType::F16 => Prim::F16(f16::NEG_INFINITY),
            PrimType::F32 => Prim::F32(f32::NEG_INFINITY),
            PrimType::F64 => Prim::F64(f64::NEG_INFINITY),
        }
    }

    /// The greatest value: infinity for floats.
    pub fn highest(ty: PrimType) -> Prim {
        match ty {
            PrimType::I8 => Prim::I8(i8::MAX),
            PrimType::I16 => Prim::I16(i16::MAX),
            PrimType::I32 => Prim::I32(i32::MAX),
            PrimType::I64 => Prim::I64(i64::MAX),
            PrimType::U8 => Prim::U8(u8::MAX),
            PrimType::U16 => Prim::U16(u16::MAX),
            PrimType::U32 => Prim::U32(u32::MAX),
            PrimType::U64 => Prim::U64(u64::MAX),
            PrimType::F16 => Prim::F16(f16::INFINITY),
            PrimType::F32 => Prim::F32(f32::INFINITY),
            PrimType::F64 => Prim::F64(f64::INFINITY),
            PrimType::Bool => Prim::Bool(true),
        }
    }

    /// An integer as an `i64` (a large `u64` wraps); `None` for floats and `bool`.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Prim::I8(x) => Some(x.into()),
            Prim::I16(x) => Some(x.into()),
            Prim::I32(x) => Some(x.into()),
            Prim::I64(x) => Some(x),
            Prim::U8(x) => Some(x.into()),
            Prim::U16(x) => Some(x.into()),
            Prim::U32(x) => Some(x.into()),
            Prim::U64(x) => Some(x as i64),
            Prim::F16(_) | Prim::F32(_) | Prim::F64(_) | Prim::Bool(_) => None,
        }
    }

    /// A float as an `f64`; `None` for the other types.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Prim::F16(x) => Some(x.to_f64()),
            Prim::F32(x) => Some(x.into()),
            Prim::F64(x) => Some(x),
            Prim::I8(_) | Prim::I16(_) | Prim::I32(_) | Prim::I64(_) => None,
            Prim::U8(_) | Prim::U16(_) | Prim::U32(_) | Prim::U64(_) | Prim::Bool(_) => None,
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        match self {
            Prim::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The bits of the value, zero-extended. Two values are equal when their types and bits are.
    pub fn bits(self) -> u64 {
        match self {
            Prim::I8(x) => x as u8 as u64,
            Prim::I16(x) => x as u16 as u64,
            Prim::I32(x) => x as u32 as u64,
            Prim::I64(x) => x as u64,
            Prim::U8(x) => x.into(),
            Prim::U16(x) => x.into(),
            Prim::U32(x) => x.into(),
            Prim::U64(x) => x,
            Prim::F16(x) => x.to_bits().into(),
            Prim::F32(x) => x.to_bits().into(),
            Prim::F64(x) => x.to_bits(),
            Prim::Bool(b) => b.into(),
        }
    }
}

macro_rules! from_scalar {
    ($($scalar:ty => $con:ident),*) => {
        $(impl From<$scalar> for Prim {
            fn from(x: $scalar) -> Prim {
                Prim::$con(x)
            }
        })*
    };
}

from_scalar!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
             f16 => F16, f32 => F32, f64 => F64, bool => Bool);

/// By type and bits: a NaN equals itself, and `-0.0` is not `0.0`.
impl PartialEq for Prim {
    fn eq(&self, other: &Prim) -> bool {
        self.ty() == other.ty() && self.bits() == other.bits()
    }
}

impl Eq for Prim {}

impl Hash for Prim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty().hash(state);
        self.bits().hash(state);
    }
}

/// As the value text format writes it: `1i32`, `-0.5f64`, `f32.nan`, `-f32.inf`, `true`.
impl fmt::Display for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Prim::Bool(b) => write!(f, "{b}"),
            Prim::U64(x) => write!(f, "{x}u64"),
            Prim::F16(x) => display_float(f, x.to_f64(), &shortest_f16(x), self.ty()),
            Prim::F32(x) => display_float(f, x.into(), &format!("{x:?}"), self.ty()),
            Prim::F64(x) => display_float(f, x, &format!("{x:?}"), self.ty()),
            Prim::I8(_)
            | Prim::I16(_)
            | Prim::I32(_)
            | Prim::I64(_)
            | Prim::U8(_)
            | Prim::U16(_)
            | Prim::U32(_) => {
                write!(f, "{}{}", self.as_i64().unwrap_or(0), self.ty())
            }
        }
    }
}

/// The decimal number with the fewest digits that rounds to `x`, except that integers are exact. Five digits
/// tell all halves apart.
fn shortest_f16(x: f16) -> String {
    if x.to_f32().fract() == 0.0 {
        return format!("{:?}", x.to_f32());
    }
    let candidates = (0..5).filter_map(|digits| format!("{:.digits$e}", x.to_f64()).parse::<f64>().ok());
    let shortest = candidates.into_iter().find(|y| f16::from_f64(*y) == x);
    format!("{:?}", shortest.unwrap_or(x.to_f64()))
}

fn display_float(f: &mut fmt::Formatter<'_>, x: f64, finite: &str, ty: PrimType) -> fmt::Result {
    if x.is_nan() {
        write!(f, "{ty}.nan")
    } else if x == f64::INFINITY {
        write!(f, "{ty}.inf")
    } else if x == f64::NEG_INFINITY {
        write!(f, "-{ty}.inf")
    } else {
        write!(f, "{finite}{ty}")
    }
}

/// Names in the text form of Core, and the other way round.
macro_rules! op_names {
    ($op:ident { $($variant:ident => $name:literal),* $(,)? }) => {
        impl $op {
            pub const ALL: &'static [$op] = &[$($op::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $($op::$variant => $name),* }
            }

            pub fn from_name(name: &str) -> Option<$op> {
                match name { $($name => Some($op::$variant),)* _ => None }
            }
        }
    };
}

op_names!(UnOp {
    Neg => "neg", Not => "not", Abs => "abs", Signum => "signum", Sqrt => "sqrt", Rsqrt => "rsqrt",
    Cbrt => "cbrt", Exp => "exp", Log => "log", Log2 => "log2", Log10 => "log10", Log1p => "log1p",
    Sin => "sin", Cos => "cos", Tan => "tan", SinPi => "sinpi", CosPi => "cospi", TanPi => "tanpi",
    Asin => "asin", Acos => "acos", Atan => "atan", AsinPi => "asinpi", AcosPi => "acospi",
    AtanPi => "atanpi", Sinh => "sinh", Cosh => "cosh", Tanh => "tanh", Asinh => "asinh",
    Acosh => "acosh", Atanh => "atanh", Gamma => "gamma", Lgamma => "lgamma", Erf => "erf",
    Erfc => "erfc", Ceil => "ceil", Floor => "floor", Trunc => "trunc", Round => "round",
    IsNan => "isnan", IsInf => "isinf", Popc => "popc", Clz => "clz", Ctz => "ctz",
    ToBits => "to_bits", FromBits => "from_bits",
});

op_names!(BinOp {
    Add => "add", Sub => "sub", Mul => "mul", Div => "div", Mod => "mod", Quot => "quot", Rem => "rem",
    Pow => "pow", And => "and", Or => "or", Xor => "xor", Shl => "shl", Ashr => "ashr", Lshr => "lshr",
    Min => "min", Max => "max", Atan2 => "atan2", Atan2Pi => "atan2pi", Hypot => "hypot",
    NextAfter => "nextafter", CopySign => "copysign", Ldexp => "ldexp", Polygamma => "polygamma", MulHi => "mul_hi",
});

op_names!(TernOp { Fma => "fma", Mad => "mad", MadHi => "mad_hi", Lerp => "lerp" });

op_names!(CmpOp { Eq => "eq", Lt => "lt", Le => "le" });

impl UnOp {
    /// The type of the result, given that of the operand.
    pub fn result(self, operand: PrimType) -> PrimType {
        match self {
            UnOp::IsNan | UnOp::IsInf => PrimType::Bool,
            UnOp::Popc | UnOp::Clz | UnOp::Ctz => PrimType::I32,
            UnOp::ToBits => match operand {
                PrimType::F16 => PrimType::U16,
                PrimType::F32 => PrimType::U32,
                PrimType::F64 => PrimType::U64,
                _ => operand,
            },
            UnOp::FromBits => match operand {
                PrimType::U16 => PrimType::F16,
                PrimType::U32 => PrimType::F32,
                PrimType::U64 => PrimType::F64,
                _ => operand,
            },
            _ => operand,
        }
    }
}

impl BinOp {
    /// The type of the second operand, given that of the first.
    pub fn second(self, first: PrimType) -> PrimType {
        if matches!(self, BinOp::Ldexp | BinOp::Polygamma) { PrimType::I32 } else { first }
    }
}
