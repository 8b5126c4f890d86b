//! Literals at a primitive type.

use dagaz_core::prim::{Prim, PrimType};
use half::f16;

/// An integer literal, which may be of a float type.
pub(crate) fn int_literal(ty: PrimType, value: i128) -> Prim {
    match ty {
        PrimType::I8 => Prim::I8(value as i8),
        PrimType::I16 => Prim::I16(value as i16),
        PrimType::I32 => Prim::I32(value as i32),
        PrimType::I64 => Prim::I64(value as i64),
        PrimType::U8 => Prim::U8(value as u8),
        PrimType::U16 => Prim::U16(value as u16),
        PrimType::U32 => Prim::U32(value as u32),
        PrimType::U64 => Prim::U64(value as u64),
        PrimType::F16 | PrimType::F32 | PrimType::F64 => float_literal(ty, value as f64),
        PrimType::Bool => Prim::Bool(value != 0),
    }
}

pub(crate) fn float_literal(ty: PrimType, value: f64) -> Prim {
    match ty {
        PrimType::F16 => Prim::F16(f16::from_f64(value)),
        PrimType::F32 => Prim::F32(value as f32),
        PrimType::F64 => Prim::F64(value),
        PrimType::I8
        | PrimType::I16
        | PrimType::I32
        | PrimType::I64
        | PrimType::U8
        | PrimType::U16
        | PrimType::U32
        | PrimType::U64
        | PrimType::Bool => int_literal(ty, value as i128),
    }
}
