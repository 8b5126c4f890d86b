//! Scalar operations: one line for each.

use dagaz_core::exp::Exp;
use dagaz_core::prim::{BinOp, CmpOp, PrimType, TernOp, UnOp};
use dagaz_core::types::{Atom, Type};

use crate::context::{Res, Simplifier};
use crate::value::{EArg, EType, SVal};

/// What a scalar intrinsic is in Core.
enum Op {
    Un(UnOp),
    Bin(BinOp),
    /// One operation for signed numbers, another for unsigned ones.
    BySign(BinOp, BinOp),
    Tern(TernOp),
    Cmp(CmpOp),
    /// A comparison with its operands exchanged.
    CmpSwapped(CmpOp),
    Convert,
}

fn op(name: &str) -> Option<Op> {
    if let Some(op) = unop(name) {
        return Some(Op::Un(op));
    }
    Some(match name {
        "+" => Op::Bin(BinOp::Add),
        "-" => Op::Bin(BinOp::Sub),
        "*" => Op::Bin(BinOp::Mul),
        "/" => Op::Bin(BinOp::Div),
        "%" => Op::Bin(BinOp::Mod),
        "**" => Op::Bin(BinOp::Pow),
        "//" => Op::Bin(BinOp::Quot),
        "%%" => Op::Bin(BinOp::Rem),
        "min" => Op::Bin(BinOp::Min),
        "max" => Op::Bin(BinOp::Max),
        "&" => Op::Bin(BinOp::And),
        "|" => Op::Bin(BinOp::Or),
        "^" => Op::Bin(BinOp::Xor),
        "<<" => Op::Bin(BinOp::Shl),
        ">>" => Op::BySign(BinOp::Ashr, BinOp::Lshr),
        ">>>" => Op::Bin(BinOp::Lshr),
        "mul_hi" => Op::Bin(BinOp::MulHi),
        "atan2" => Op::Bin(BinOp::Atan2),
        "atan2pi" => Op::Bin(BinOp::Atan2Pi),
        "hypot" => Op::Bin(BinOp::Hypot),
        "nextafter" => Op::Bin(BinOp::NextAfter),
        "copysign" => Op::Bin(BinOp::CopySign),
        "ldexp" => Op::Bin(BinOp::Ldexp),
        "mad_hi" => Op::Tern(TernOp::MadHi),
        "lerp" => Op::Tern(TernOp::Lerp),
        "mad" => Op::Tern(TernOp::Mad),
        "fma" => Op::Tern(TernOp::Fma),
        "<" => Op::Cmp(CmpOp::Lt),
        "<=" => Op::Cmp(CmpOp::Le),
        ">" => Op::CmpSwapped(CmpOp::Lt),
        ">=" => Op::CmpSwapped(CmpOp::Le),
        "convert" => Op::Convert,
        _ => return None,
    })
}

fn unop(name: &str) -> Option<UnOp> {
    Some(match name {
        "neg" => UnOp::Neg,
        "abs" => UnOp::Abs,
        "sgn" => UnOp::Signum,
        "!" | "not" => UnOp::Not,
        "popc" => UnOp::Popc,
        "clz" => UnOp::Clz,
        "ctz" => UnOp::Ctz,
        "sqrt" => UnOp::Sqrt,
        "rsqrt" => UnOp::Rsqrt,
        "cbrt" => UnOp::Cbrt,
        "exp" => UnOp::Exp,
        "log" => UnOp::Log,
        "log2" => UnOp::Log2,
        "log10" => UnOp::Log10,
        "log1p" => UnOp::Log1p,
        "sin" => UnOp::Sin,
        "cos" => UnOp::Cos,
        "tan" => UnOp::Tan,
        "sinpi" => UnOp::SinPi,
        "cospi" => UnOp::CosPi,
        "tanpi" => UnOp::TanPi,
        "asin" => UnOp::Asin,
        "acos" => UnOp::Acos,
        "atan" => UnOp::Atan,
        "asinpi" => UnOp::AsinPi,
        "acospi" => UnOp::AcosPi,
        "atanpi" => UnOp::AtanPi,
        "sinh" => UnOp::Sinh,
        "cosh" => UnOp::Cosh,
        "tanh" => UnOp::Tanh,
        "asinh" => UnOp::Asinh,
        "acosh" => UnOp::Acosh,
        "atanh" => UnOp::Atanh,
        "gamma" => UnOp::Gamma,
        "lgamma" => UnOp::Lgamma,
        "erf" => UnOp::Erf,
        "erfc" => UnOp::Erfc,
        "ceil" => UnOp::Ceil,
        "floor" => UnOp::Floor,
        "trunc" => UnOp::Trunc,
        "round" => UnOp::Round,
        "isnan" => UnOp::IsNan,
        "isinf" => UnOp::IsInf,
        "to_bits_f16" | "to_bits_f32" | "to_bits_f64" => UnOp::ToBits,
        "from_bits_f16" | "from_bits_f32" | "from_bits_f64" => UnOp::FromBits,
        _ => return None,
    })
}

pub(super) fn arity(name: &str) -> Option<usize> {
    Some(match op(name)? {
        Op::Un(_) | Op::Convert => 1,
        Op::Bin(_) | Op::BySign(..) | Op::Cmp(_) | Op::CmpSwapped(_) => 2,
        Op::Tern(_) => 3,
    })
}

impl Simplifier<'_> {
    pub(super) fn scalar_intrinsic(&mut self, name: &str, type_args: &[EArg], args: &[SVal]) -> Res<SVal> {
        let mut scalars = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                SVal::Scalar(prim, atom) => scalars.push((*prim, *atom)),
                _ => return self.bug(format!("{name} of something that is not a scalar")),
            }
        }
        match (op(name), scalars.as_slice()) {
            (Some(Op::Un(op)), [(ty, x)]) => Ok(SVal::Scalar(op.result(*ty), self.unop(op, *ty, *x))),
            (Some(Op::Convert), [(from, x)]) => match type_args {
                [_, EArg::Type(EType::Prim(to))] => Ok(SVal::Scalar(*to, self.convert(*from, *to, *x))),
                _ => self.bug("a conversion to a type that is not primitive"),
            },
            (Some(Op::Bin(op)), [(ty, x), (_, y)]) => Ok(SVal::Scalar(*ty, self.binop(op, *ty, *x, *y))),
            (Some(Op::BySign(signed, unsigned)), [(ty, x), (_, y)]) => {
                let op = if is_unsigned(*ty) { unsigned } else { signed };
                Ok(SVal::Scalar(*ty, self.binop(op, *ty, *x, *y)))
            }
            (Some(Op::Cmp(op)), [(ty, x), (_, y)]) => Ok(SVal::bool(self.cmp(op, *ty, *x, *y))),
            (Some(Op::CmpSwapped(op)), [(ty, x), (_, y)]) => Ok(SVal::bool(self.cmp(op, *ty, *y, *x))),
            (Some(Op::Tern(op)), [(ty, x), (_, y), (_, z)]) => Ok(self.ternop(op, *ty, [*x, *y, *z])),
            _ => self.bug(format!("{name} with another number of arguments")),
        }
    }

    fn ternop(&mut self, op: TernOp, ty: PrimType, operands: [Atom; 3]) -> SVal {
        SVal::Scalar(ty, self.emit("t", Type::Prim(ty), Exp::TernOp(op, ty, operands)))
    }
}

fn is_unsigned(ty: PrimType) -> bool {
    matches!(ty, PrimType::U8 | PrimType::U16 | PrimType::U32 | PrimType::U64)
}
