//! Scalar operations as C expressions.
//!
//! What the C library computes as the interpreter does becomes C; the rest, and all of `f16`, is a call of the host.

use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};

use super::expr::{Level, Text, infix};
use crate::scalar::{is_call_of_host, type_code};

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

/// A call, of which the operands need no parentheses.
fn call(function: &str, operands: &[&Text]) -> Text {
    let operands: Vec<&str> = operands.iter().map(|operand| operand.text.as_str()).collect();
    Text::primary(format!("{function}({})", operands.join(", ")))
}

fn cast(ty: PrimType, x: &Text) -> Text {
    Text::unary(format!("({ty}){}", x.at(Level::Unary)))
}

/// The bits of a value, as the host takes it.
fn bits(ty: PrimType, x: &Text) -> Text {
    call(&format!("dz_bits_{ty}"), &[x])
}

/// An operation of the host, by the numbers of the operation and of the type.
fn by_host(name: &str, op: usize, ty: PrimType, operands: &[Text], result: PrimType) -> Text {
    let numbers = [op.to_string(), type_code(ty).to_string()];
    let operands: Vec<String> = numbers.into_iter().chain(operands.iter().map(|x| x.text.clone())).collect();
    Text::primary(format!("dz_from_{result}(ctx->host->{name}({}))", operands.join(", ")))
}

pub(super) fn unop(op: UnOp, ty: PrimType, x: &Text) -> Text {
    let result = op.result(ty);
    let host = || by_host("unop", code(UnOp::ALL, &op), ty, &[bits(ty, x)], result);
    if is_call_of_host(op, ty) {
        return host();
    }
    let single = ty == PrimType::F32;
    // At single precision, only these have functions of their own; the rest rounds the result at double precision.
    let native = |name: &str| if single { call(&format!("{name}f"), &[x]) } else { call(name, &[x]) };
    let rounded = |name: &str| match single {
        true => cast(PrimType::F32, &call(name, &[&cast(PrimType::F64, x)])),
        false => call(name, &[x]),
    };
    match op {
        UnOp::Neg if ty.is_float() => Text::unary(format!("-{}", x.at(Level::Primary))),
        UnOp::Neg => Text::unary(format!("({ty})(0 - {})", x.above(Level::Sum))),
        UnOp::Not if ty == PrimType::Bool => Text::unary(format!("!{}", x.at(Level::Unary))),
        UnOp::Not => Text::unary(format!("({ty})~{}", x.at(Level::Unary))),
        UnOp::Abs if ty.is_float() => native("fabs"),
        UnOp::Abs | UnOp::Signum | UnOp::Popc | UnOp::Clz | UnOp::Ctz => {
            call(&format!("{ty}_{}", op.name()), &[x])
        }
        UnOp::Sqrt => native("sqrt"),
        UnOp::Rsqrt if single => Text::new(Level::Product, format!("1.0f / sqrtf({})", x.text)),
        UnOp::Rsqrt => Text::new(Level::Product, format!("1.0 / sqrt({})", x.text)),
        UnOp::Exp | UnOp::Log | UnOp::Sin | UnOp::Cos | UnOp::Tan | UnOp::Tanh => native(op.name()),
        UnOp::Round => rounded("rint"),
        UnOp::IsNan => {
            Text::new(Level::Equality, format!("{} != {}", x.at(Level::Primary), x.at(Level::Primary)))
        }
        UnOp::IsInf => Text::new(Level::Equality, format!("isinf({}) != 0", x.text)),
        UnOp::ToBits | UnOp::FromBits => call(&format!("dz_from_{result}"), &[&bits(ty, x)]),
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

pub(super) fn binop(op: BinOp, ty: PrimType, x: &Text, y: &Text) -> Text {
    let host = || {
        let operands = [bits(ty, x), bits(op.second(ty), y)];
        by_host("binop", code(BinOp::ALL, &op), ty, &operands, ty)
    };
    if ty == PrimType::F16 {
        return host();
    }
    if ty == PrimType::Bool {
        return match op {
            BinOp::And | BinOp::Min => infix(Level::BitAnd, "&", x, y),
            BinOp::Or | BinOp::Max => infix(Level::BitOr, "|", x, y),
            _ => infix(Level::BitXor, "^", x, y),
        };
    }
    let infix = |level: Level, sign: &str| match ty.is_float() || ty.bits() >= 32 {
        true => infix(level, sign, x, y),
        false => Text::unary(format!("({ty})({})", infix(level, sign, x, y).text)),
    };
    let suffix = if ty == PrimType::F32 { "f" } else { "" };
    match op {
        BinOp::Add => infix(Level::Sum, "+"),
        BinOp::Sub => infix(Level::Sum, "-"),
        BinOp::Mul => infix(Level::Product, "*"),
        BinOp::Div if ty.is_float() => infix(Level::Product, "/"),
        BinOp::Mod if ty.is_float() => call(&format!("fmod{suffix}"), &[x, y]),
        BinOp::Pow if ty.is_float() => call(&format!("pow{suffix}"), &[x, y]),
        BinOp::And => infix(Level::BitAnd, "&"),
        BinOp::Or => infix(Level::BitOr, "|"),
        BinOp::Xor => infix(Level::BitXor, "^"),
        BinOp::Div
        | BinOp::Mod
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::Pow
        | BinOp::Shl
        | BinOp::Ashr
        | BinOp::Lshr
        | BinOp::Min
        | BinOp::Max => call(&format!("{ty}_{}", op.name()), &[x, y]),
        BinOp::MulHi => call(&format!("{ty}_mulhi"), &[x, y]),
        BinOp::Atan2 if ty == PrimType::F32 => {
            let [x, y] = [x, y].map(|operand| cast(PrimType::F64, operand));
            cast(PrimType::F32, &call("atan2", &[&x, &y]))
        }
        BinOp::Atan2 => call("atan2", &[x, y]),
        BinOp::CopySign => call(&format!("copysign{suffix}"), &[x, y]),
        BinOp::Atan2Pi | BinOp::Hypot | BinOp::NextAfter | BinOp::Ldexp | BinOp::Polygamma => host(),
    }
}

pub(super) fn ternop(op: TernOp, ty: PrimType, [x, y, z]: [&Text; 3]) -> Text {
    if ty == PrimType::F16 {
        let operands = [bits(ty, x), bits(ty, y), bits(ty, z)];
        return by_host("ternop", code(TernOp::ALL, &op), ty, &operands, ty);
    }
    match op {
        TernOp::Fma if ty == PrimType::F32 => call("fmaf", &[x, y, z]),
        TernOp::Fma => call("fma", &[x, y, z]),
        TernOp::Mad => binop(BinOp::Add, ty, &binop(BinOp::Mul, ty, x, y), z),
        TernOp::MadHi => binop(BinOp::Add, ty, &binop(BinOp::MulHi, ty, x, y), z),
        TernOp::Lerp => {
            let scaled = binop(BinOp::Mul, ty, &binop(BinOp::Sub, ty, y, x), z);
            binop(BinOp::Add, ty, x, &scaled)
        }
    }
}

pub(super) fn cmpop(op: CmpOp, ty: PrimType, x: &Text, y: &Text) -> Text {
    let (level, sign) = match op {
        CmpOp::Eq => (Level::Equality, "=="),
        CmpOp::Lt => (Level::Relation, "<"),
        CmpOp::Le => (Level::Relation, "<="),
    };
    match ty {
        PrimType::F16 => {
            let [x, y] = [x, y].map(|operand| convert(PrimType::F16, PrimType::F32, operand));
            infix(level, sign, &x, &y)
        }
        _ => infix(level, sign, x, y),
    }
}

pub(super) fn convert(from: PrimType, to: PrimType, x: &Text) -> Text {
    if from == to {
        return x.clone();
    }
    if from == PrimType::F16 || to == PrimType::F16 {
        let codes = (type_code(from), type_code(to));
        let host = format!("ctx->host->convert({}, {}, {})", codes.0, codes.1, bits(from, x).text);
        return Text::primary(format!("dz_from_{to}({host})"));
    }
    match to {
        PrimType::Bool => Text::new(Level::Equality, format!("{} != 0", x.at(Level::Relation))),
        _ if from.is_float() && to.is_int() => call(&format!("{to}_of_f64"), &[x]),
        _ => cast(to, x),
    }
}
