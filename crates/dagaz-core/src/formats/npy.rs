//! NumPy's `.npy` files: one array each, in C or Fortran order, of either byte order.

use crate::prim::PrimType;
use crate::value::{Array, Shape, Value, elements_of};

use super::FormatError;
use super::binary::{Endian, decode, encode};

const MAGIC: &[u8] = b"\x93NUMPY";

struct Header {
    ty: PrimType,
    endian: Endian,
    fortran: bool,
    shape: Shape,
}

pub fn read(input: &[u8]) -> Result<Value, FormatError> {
    if !input.starts_with(MAGIC) {
        return Err(FormatError::new("not an .npy file", 0));
    }
    let short = || FormatError::new("the .npy file ends too early", input.len());
    let version = *input.get(6).ok_or_else(short)?;
    let (start, len) = match version {
        1 => (10, input.get(8..10).map(|b| usize::from(b[0]) | usize::from(b[1]) << 8)),
        2 | 3 => (12, input.get(8..12).map(|b| b.iter().rev().fold(0, |n, x| n << 8 | usize::from(*x)))),
        _ => return Err(FormatError::new(format!(".npy version {version} is not known"), 6)),
    };
    let end = start + len.ok_or_else(short)?;
    let header = String::from_utf8_lossy(input.get(start..end).ok_or_else(short)?).to_string();
    let header = parse_header(&header).map_err(|message| FormatError::new(message, start))?;
    let too_large = || FormatError::new("the array is too large", start);
    let elements = elements_of(&header.shape).ok_or_else(too_large)?;
    let len = elements.checked_mul(header.ty.bytes()).ok_or_else(too_large)?;
    let data = end.checked_add(len).and_then(|e| input.get(end..e)).ok_or_else(|| {
        let left = input.len() - end;
        FormatError::new(format!("{len} bytes are announced, but only {left} are left"), end)
    })?;
    let elems = decode(header.ty, data, header.endian);
    if header.shape.is_empty() {
        return elems.get(0).map(Value::Prim).ok_or_else(short);
    }
    let array = Array::new(&header.shape, elems).ok_or_else(short)?;
    let array = if header.fortran { from_fortran(&array).ok_or_else(short)? } else { array };
    Ok(Value::Array(array))
}

pub fn write(value: &Value, out: &mut Vec<u8>) {
    let descr = match value.elem_type() {
        PrimType::I8 => "|i1",
        PrimType::I16 => "<i2",
        PrimType::I32 => "<i4",
        PrimType::I64 => "<i8",
        PrimType::U8 => "|u1",
        PrimType::U16 => "<u2",
        PrimType::U32 => "<u4",
        PrimType::U64 => "<u8",
        PrimType::F16 => "<f2",
        PrimType::F32 => "<f4",
        PrimType::F64 => "<f8",
        PrimType::Bool => "|b1",
    };
    let shape: String = value.shape().iter().map(|d| format!("{d}, ")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    // The elements begin at a multiple of 64 bytes.
    while !(MAGIC.len() + 6 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[2, 0]);
    out.extend_from_slice(&(header.len() as u32).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    encode(value, out);
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`
fn parse_header(text: &str) -> Result<Header, String> {
    let descr = field(text, "descr")?;
    let descr = descr.strip_prefix(['\'', '"']).and_then(|d| d.split(['\'', '"']).next());
    let descr = descr.ok_or("the header names no element type")?;
    let (order, name) = descr.split_at_checked(1).ok_or("the header names no element type")?;
    let endian = match order {
        "<" | "|" | "=" => Endian::Little,
        ">" => Endian::Big,
        _ => return Err(format!("element type '{descr}' is not supported")),
    };
    let ty = match name {
        "i1" => PrimType::I8,
        "i2" => PrimType::I16,
        "i4" => PrimType::I32,
        "i8" => PrimType::I64,
        "u1" => PrimType::U8,
        "u2" => PrimType::U16,
        "u4" => PrimType::U32,
        "u8" => PrimType::U64,
        "f2" => PrimType::F16,
        "f4" => PrimType::F32,
        "f8" => PrimType::F64,
        "b1" => PrimType::Bool,
        _ => return Err(format!("element type '{descr}' is not supported")),
    };
    let fortran = field(text, "fortran_order")?.starts_with("True");
    let shape = field(text, "shape")?.strip_prefix('(').and_then(|s| s.split_once(')')).map(|(s, _)| s);
    let sizes = shape.ok_or("the header has no shape")?.split(',').map(str::trim).filter(|s| !s.is_empty());
    let shape = sizes.map(|s| s.parse::<usize>().map_err(|_| format!("'{s}' is not a size")));
    Ok(Header { ty, endian, fortran, shape: shape.collect::<Result<_, _>>()? })
}

fn field<'t>(text: &'t str, name: &str) -> Result<&'t str, String> {
    let missing = || format!("the header has no '{name}'");
    let at = text.find(&format!("'{name}'")).ok_or_else(missing)?;
    let (_, value) = text[at..].split_once(':').ok_or_else(missing)?;
    Ok(value.trim_start())
}

/// Elements stored with the first dimension innermost.
fn from_fortran(array: &Array) -> Option<Array> {
    let shape = array.shape();
    let positions = (0..array.len()).map(|position| {
        let (mut rest, mut offset) = (position, 0);
        for axis in (0..shape.len()).rev() {
            let stride: usize = shape[..axis].iter().product();
            offset += rest % shape[axis] * stride;
            rest /= shape[axis];
        }
        offset
    });
    array.gather(shape, positions)
}
