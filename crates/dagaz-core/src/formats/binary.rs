//! The binary format of values: `b`, version 2, rank, type, dimensions, elements, all little endian.

use half::f16;

use crate::prim::{Prim, PrimType};
use crate::value::{Array, Elems, Shape, Value, elements_of};
use crate::with_elems;

use super::FormatError;

const VERSION: u8 = 2;

/// The value that the input begins with, and how many bytes it takes.
pub fn read(input: &[u8]) -> Result<(Value, usize), FormatError> {
    let short = || FormatError::new("the binary value ends too early", input.len());
    let header = input.get(..7).ok_or_else(short)?;
    if header[0] != b'b' {
        return Err(FormatError::new("a binary value begins with 'b'", 0));
    }
    if header[1] != VERSION {
        return Err(FormatError::new(format!("binary format version {} is not known", header[1]), 1));
    }
    let rank = usize::from(header[2]);
    let name = String::from_utf8_lossy(&header[3..7]).trim_start().to_string();
    let ty = PrimType::from_name(&name)
        .ok_or_else(|| FormatError::new(format!("no type is called '{name}'"), 3))?;
    let mut pos = 7;
    let mut shape = Shape::new();
    for _ in 0..rank {
        let bytes = input.get(pos..pos + 8).ok_or_else(short)?;
        let size = u64::from_le_bytes(bytes.try_into().map_err(|_| short())?);
        let size = usize::try_from(size).map_err(|_| FormatError::new("a dimension is too large", pos))?;
        shape.push(size);
        pos += 8;
    }
    let elements = elements_of(&shape).ok_or_else(|| FormatError::new("the array is too large", 7))?;
    let len =
        elements.checked_mul(ty.bytes()).ok_or_else(|| FormatError::new("the array is too large", 7))?;
    let data = pos.checked_add(len).and_then(|end| input.get(pos..end)).ok_or_else(|| {
        let left = input.len() - pos;
        FormatError::new(
            format!("{elements} elements of {ty} are announced, but only {left} bytes are left"),
            pos,
        )
    })?;
    let elems = decode(ty, data, Endian::Little);
    let value =
        if rank == 0 { elems.get(0).map(Value::Prim) } else { Array::new(&shape, elems).map(Value::Array) };
    Ok((value.ok_or_else(short)?, pos + len))
}

pub fn write(value: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'b', VERSION, value.shape().len() as u8]);
    out.extend_from_slice(format!("{:>4}", value.elem_type().name()).as_bytes());
    for size in value.shape() {
        out.extend_from_slice(&(*size as u64).to_le_bytes());
    }
    encode(value, out);
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// Elements from exactly as many bytes as they take.
pub(super) fn decode(ty: PrimType, data: &[u8], endian: Endian) -> Elems {
    macro_rules! numbers {
        ($con:ident, $ty:ty, $size:literal) => {{
            let (chunks, _) = data.as_chunks::<$size>();
            Elems::$con(match endian {
                Endian::Little => chunks.iter().map(|c| <$ty>::from_le_bytes(*c)).collect(),
                Endian::Big => chunks.iter().map(|c| <$ty>::from_be_bytes(*c)).collect(),
            })
        }};
    }
    match ty {
        PrimType::I8 => numbers!(I8, i8, 1),
        PrimType::I16 => numbers!(I16, i16, 2),
        PrimType::I32 => numbers!(I32, i32, 4),
        PrimType::I64 => numbers!(I64, i64, 8),
        PrimType::U8 => numbers!(U8, u8, 1),
        PrimType::U16 => numbers!(U16, u16, 2),
        PrimType::U32 => numbers!(U32, u32, 4),
        PrimType::U64 => numbers!(U64, u64, 8),
        PrimType::F16 => numbers!(F16, f16, 2),
        PrimType::F32 => numbers!(F32, f32, 4),
        PrimType::F64 => numbers!(F64, f64, 8),
        PrimType::Bool => Elems::Bool(data.iter().map(|b| *b != 0).collect()),
    }
}

/// The elements, little endian, in row-major order.
pub(super) fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Prim(prim) => encode_prim(*prim, out),
        Value::Array(array) => {
            let (elems, part) = array.elems();
            if let Elems::Bool(v) = elems {
                out.extend(v[part].iter().map(|b| u8::from(*b)));
                return;
            }
            out.reserve(part.len() * elems.ty().bytes());
            with_elems!(elems, v => {
                for prim in &v[part] {
                    encode_prim(Prim::from(*prim), out);
                }
            });
        }
    }
}

fn encode_prim(prim: Prim, out: &mut Vec<u8>) {
    out.extend_from_slice(&prim.bits().to_le_bytes()[..prim.ty().bytes()]);
}
