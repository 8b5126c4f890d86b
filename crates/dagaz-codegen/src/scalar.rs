//! Scalar operations as C expressions.
//!
//! What the C library computes as the interpreter does becomes C; the rest, and all of `f16`, is a call of the host.

use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};

/// The number of a type, as the host knows it.
pub(crate) fn type_code(ty: PrimType) -> usize {
    PrimType::ALL.iter().position(|t| *t == ty).unwrap_or(0)
}

fn code<T: PartialEq>(all: &[T], op: &T) -> usize {
    all.iter().position(|o| o == op).unwrap_or(0)
}

/// A constant.
pub(crate) fn literal(prim: Prim) -> String {
    match prim {
        Prim::Bool(b) => b.to_string(),
        Prim::I64(i64::MIN) => "INT64_MIN".to_string(),
        Prim::I64(n) => negative(n, format!("{n}L")),
        Prim::U64(n) => format!("{n}UL"),
        Prim::U32(n) => format!("{n}U"),
        Prim::I32(i32::MIN) => "INT32_MIN".to_string(),
        Prim::I32(n) => negative(n.into(), n.to_string()),
        Prim::I8(_) | Prim::I16(_) | Prim::U8(_) | Prim::U16(_) => {
            let n = prim.as_i64().unwrap_or(0);
            format!("({}){}", prim.ty(), negative(n, n.to_string()))
        }
        Prim::F16(x) => format!("(f16)0x{:04x}", x.to_bits()),
        Prim::F32(x) if x.is_finite() => parenthesised(format!("{x:?}f")),
        Prim::F64(x) if x.is_finite() => parenthesised(format!("{x:?}")),
        Prim::F32(x) => format!("dz_from_f32(0x{:08x}UL)", x.to_bits()),
        Prim::F64(x) => format!("dz_from_f64(0x{:016x}UL)", x.to_bits()),
    }
}

fn negative(n: i64, text: String) -> String {
    if n < 0 { format!("({text})") } else { text }
}

fn parenthesised(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
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

/// Whether an operation is a call of the host.
pub(crate) fn is_call_of_host(op: UnOp, ty: PrimType) -> bool {
    unop(op, ty, "x").contains("ctx->host")
}

pub(crate) fn unop(op: UnOp, ty: PrimType, x: &str) -> String {
    let result = op.result(ty);
    let host = || {
        let call = format!("ctx->host->unop({}, {}, dz_bits_{ty}({x}))", code(UnOp::ALL, &op), type_code(ty));
        format!("dz_from_{result}({call})")
    };
    if ty == PrimType::F16 {
        return host();
    }
    let single = ty == PrimType::F32;
    // At single precision, only these have functions of their own; the rest rounds the result at double precision.
    let native = |name: &str| if single { format!("{name}f({x})") } else { format!("{name}({x})") };
    let rounded = |name: &str| if single { format!("(f32){name}((f64){x})") } else { format!("{name}({x})") };
    match op {
        UnOp::Neg if ty.is_float() => format!("-{x}"),
        UnOp::Neg => format!("({ty})(0 - {x})"),
        UnOp::Not if ty == PrimType::Bool => format!("!{x}"),
        UnOp::Not => format!("({ty})~{x}"),
        UnOp::Abs if ty.is_float() => native("fabs"),
        UnOp::Abs | UnOp::Signum | UnOp::Popc | UnOp::Clz | UnOp::Ctz => format!("{ty}_{}({x})", op.name()),
        UnOp::Sqrt => native("sqrt"),
        UnOp::Rsqrt if single => format!("1.0f / sqrtf({x})"),
        UnOp::Rsqrt => format!("1.0 / sqrt({x})"),
        UnOp::Exp => native("exp"),
        UnOp::Log => native("log"),
        UnOp::Sin => native("sin"),
        UnOp::Cos => native("cos"),
        UnOp::Tan => native("tan"),
        UnOp::Tanh => native("tanh"),
        UnOp::Log2
        | UnOp::Log10
        | UnOp::Log1p
        | UnOp::Asin
        | UnOp::Acos
        | UnOp::Atan
        | UnOp::Sinh
        | UnOp::Cosh
        | UnOp::Ceil
        | UnOp::Floor
        | UnOp::Trunc => rounded(op.name()),
        UnOp::Round => rounded("rint"),
        UnOp::IsNan => format!("({x} != {x})"),
        UnOp::IsInf => format!("(isinf({x}) != 0)"),
        UnOp::ToBits | UnOp::FromBits => format!("dz_from_{result}(dz_bits_{ty}({x}))"),
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
        | UnOp::Erfc => host(),
    }
}

pub(crate) fn binop(op: BinOp, ty: PrimType, x: &str, y: &str) -> String {
    let second = op.second(ty);
    let host = || {
        let call = format!(
            "ctx->host->binop({}, {}, dz_bits_{ty}({x}), dz_bits_{second}({y}))",
            code(BinOp::ALL, &op),
            type_code(ty)
        );
        format!("dz_from_{ty}({call})")
    };
    if ty == PrimType::F16 {
        return host();
    }
    if ty == PrimType::Bool {
        return match op {
            BinOp::And | BinOp::Min => format!("({x} & {y})"),
            BinOp::Or | BinOp::Max => format!("({x} | {y})"),
            _ => format!("({x} ^ {y})"),
        };
    }
    let infix = |sign: &str| match ty.is_float() || ty.bits() >= 32 {
        true => format!("{x} {sign} {y}"),
        false => format!("({ty})({x} {sign} {y})"),
    };
    let suffix = if ty == PrimType::F32 { "f" } else { "" };
    match op {
        BinOp::Add => infix("+"),
        BinOp::Sub => infix("-"),
        BinOp::Mul => infix("*"),
        BinOp::Div if ty.is_float() => infix("/"),
        BinOp::Mod if ty.is_float() => format!("fmod{suffix}({x}, {y})"),
        BinOp::Pow if ty.is_float() => format!("pow{suffix}({x}, {y})"),
        BinOp::And => infix("&"),
        BinOp::Or => infix("|"),
        BinOp::Xor => infix("^"),
        BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem | BinOp::Pow => {
            format!("{ty}_{}({x}, {y})", op.name())
        }
        BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::Min | BinOp::Max => {
            format!("{ty}_{}({x}, {y})", op.name())
        }
        BinOp::MulHi => format!("{ty}_mulhi({x}, {y})"),
        BinOp::Atan2 if ty == PrimType::F32 => format!("(f32)atan2((f64){x}, (f64){y})"),
        BinOp::Atan2 => format!("atan2({x}, {y})"),
        BinOp::CopySign => format!("copysign{suffix}({x}, {y})"),
        BinOp::Atan2Pi | BinOp::Hypot | BinOp::NextAfter | BinOp::Ldexp | BinOp::Polygamma => host(),
    }
}

pub(crate) fn ternop(op: TernOp, ty: PrimType, [x, y, z]: [&str; 3]) -> String {
    if ty == PrimType::F16 {
        let call = format!(
            "ctx->host->ternop({}, {}, dz_bits_f16({x}), dz_bits_f16({y}), dz_bits_f16({z}))",
            code(TernOp::ALL, &op),
            type_code(ty)
        );
        return format!("dz_from_f16({call})");
    }
    let of = |op: BinOp, x: &str, y: &str| format!("({})", binop(op, ty, x, y));
    match op {
        TernOp::Fma if ty == PrimType::F32 => format!("fmaf({x}, {y}, {z})"),
        TernOp::Fma => format!("fma({x}, {y}, {z})"),
        TernOp::Mad => of(BinOp::Add, &of(BinOp::Mul, x, y), z),
        TernOp::MadHi => of(BinOp::Add, &of(BinOp::MulHi, x, y), z),
        TernOp::Lerp => of(BinOp::Add, x, &of(BinOp::Mul, &of(BinOp::Sub, y, x), z)),
    }
}

pub(crate) fn cmpop(op: CmpOp, ty: PrimType, x: &str, y: &str) -> String {
    let sign = match op {
        CmpOp::Eq => "==",
        CmpOp::Lt => "<",
        CmpOp::Le => "<=",
    };
    if ty == PrimType::F16 {
        let (x, y) = (convert(PrimType::F16, PrimType::F32, x), convert(PrimType::F16, PrimType::F32, y));
        return format!("{x} {sign} {y}");
    }
    format!("{x} {sign} {y}")
}

pub(crate) fn convert(from: PrimType, to: PrimType, x: &str) -> String {
    if from == to {
        return x.to_string();
    }
    if from == PrimType::F16 || to == PrimType::F16 {
        let (from_code, to_code) = (type_code(from), type_code(to));
        return format!("dz_from_{to}(ctx->host->convert({from_code}, {to_code}, dz_bits_{from}({x})))");
    }
    if to == PrimType::Bool {
        return format!("({x} != 0)");
    }
    if from.is_float() && to.is_int() {
        return format!("{to}_of_f64({x})");
    }
    format!("({to}){x}")
}
