//! Reading of literals.

use crate::exp::{EntryType, OpaqueKind};
use crate::formats::FormatError;
use crate::formats::text::Reader;
use crate::prim::{Prim, PrimType};
use crate::types::Type;
use crate::value::{Array, Elems, Shape, Value, elements_of};

use super::{element_of, is_tuple, rank_of};

/// A Core value, as far as what was read says what it is.
pub(super) enum Part {
    Known(Value),
    /// No element of it was written, only so many of its outermost sizes.
    Unknown(Shape),
}

/// An empty array may have been written without its inner sizes.
pub(super) fn sized(ty: &Type, value: Value) -> Part {
    let shape = value.shape();
    if shape.len() < ty.rank() && shape.contains(&0) {
        return Part::Unknown(shape.into());
    }
    Part::Known(value)
}

/// Whether a literal of the type comes next, and not its first Core value.
pub(super) fn is_literal(reader: &mut Reader, ty: &EntryType) -> bool {
    reader.skip_blanks();
    let rest = reader.rest();
    match ty {
        EntryType::Value { .. } => false,
        EntryType::Opaque { kind: OpaqueKind::Record(_), .. } => matches!(rest.first(), Some(b'(' | b'{')),
        EntryType::Opaque { kind: OpaqueKind::Sum(_), .. } => rest.first() == Some(&b'#'),
        EntryType::Opaque { kind: OpaqueKind::Array(_), .. } => {
            let is_plain = |c: &u8| c.is_ascii_whitespace() || matches!(c, b'[' | b']') || c.is_ascii_digit();
            match rest.strip_prefix(b"empty") {
                Some(dims) => {
                    let dims = dims.trim_ascii_start().strip_prefix(b"(").unwrap_or_default();
                    let after = dims.iter().find(|c| !is_plain(c));
                    matches!(after, Some(b'(' | b'{' | b'#'))
                }
                None => {
                    let is_open = |c: &u8| c.is_ascii_whitespace() || *c == b'[';
                    let after = rest.iter().find(|c| !is_open(c));
                    rest.first() == Some(&b'[') && matches!(after, Some(b'(' | b'{' | b'#' | b']' | b'e'))
                }
            }
        }
        EntryType::Opaque { kind: OpaqueKind::Other, .. } => false,
    }
}

/// The Core values of a literal, which may stand in parentheses.
pub(super) fn literal(reader: &mut Reader, ty: &EntryType) -> Result<Vec<Part>, FormatError> {
    let is_tuple_type =
        matches!(ty, EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } if is_tuple(fields));
    let mut open = 0;
    while !is_tuple_type && reader.eat(b"(") {
        open += 1;
    }
    reader.skip_blanks();
    let parts = bare_literal(reader, ty)?;
    for _ in 0..open {
        reader.expect(")")?;
    }
    Ok(parts)
}

fn bare_literal(reader: &mut Reader, ty: &EntryType) -> Result<Vec<Part>, FormatError> {
    match ty {
        EntryType::Value { ty, .. } => {
            let start = reader.error("");
            let value = reader.value(ty.elem())?;
            let found = value.type_text();
            match sized(ty, value) {
                Part::Known(value) if value.shape().len() != ty.rank() => {
                    let dims = "[]".repeat(ty.rank());
                    let wanted = ty.elem().map_or("", PrimType::name);
                    let message = format!("a value of type {dims}{wanted} is expected, not {found}");
                    Err(FormatError { message, ..start })
                }
                part => Ok(vec![part]),
            }
        }
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } if is_tuple(fields) => {
            tuple(reader, fields)
        }
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => record(reader, fields),
        EntryType::Opaque { kind: OpaqueKind::Sum(constrs), .. } => sum(reader, constrs),
        EntryType::Opaque { kind: OpaqueKind::Array(row), types, .. } => array(reader, row, types),
        EntryType::Opaque { kind: OpaqueKind::Other, name, .. } => {
            Err(reader.error(format!("nothing can be written for the abstract type {name}")))
        }
    }
}

fn tuple(reader: &mut Reader, fields: &[(String, EntryType)]) -> Result<Vec<Part>, FormatError> {
    let mut parts = Vec::new();
    reader.expect("(")?;
    for (i, (_, ty)) in fields.iter().enumerate() {
        if i > 0 {
            reader.expect(",")?;
        }
        parts.extend(literal(reader, ty)?);
    }
    reader.expect(")")?;
    Ok(parts)
}

fn name<'i>(reader: &mut Reader<'i>) -> &'i [u8] {
    reader.skip_blanks();
    let rest = reader.rest();
    // Words have no primes, which names may have.
    let length = rest
        .iter()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'\'') || **c >= 128)
        .count();
    reader.eat(&rest[..length]);
    &rest[..length]
}

fn record(reader: &mut Reader, fields: &[(String, EntryType)]) -> Result<Vec<Part>, FormatError> {
    let mut found: Vec<Option<Vec<Part>>> = fields.iter().map(|_| None).collect();
    reader.expect("{")?;
    while !reader.eat(b"}") {
        if found.iter().any(Option::is_some) {
            reader.expect(",")?;
        }
        let start = reader.error("");
        let name = String::from_utf8_lossy(name(reader)).into_owned();
        let complain =
            |what: &str| FormatError { message: format!("{what} field '{name}'"), ..start.clone() };
        let position = fields.iter().position(|(field, _)| *field == name);
        let position = position.ok_or_else(|| complain("there is no"))?;
        if found[position].is_some() {
            return Err(complain("there is another"));
        }
        reader.expect("=")?;
        found[position] = Some(literal(reader, &fields[position].1)?);
    }
    let mut parts = Vec::new();
    for (found, (name, _)) in found.into_iter().zip(fields) {
        parts.extend(found.ok_or_else(|| reader.error(format!("field '{name}' is missing")))?);
    }
    Ok(parts)
}

fn sum(reader: &mut Reader, constrs: &[(String, Vec<EntryType>)]) -> Result<Vec<Part>, FormatError> {
    reader.expect("#")?;
    let start = reader.error("");
    let name = String::from_utf8_lossy(name(reader)).into_owned();
    let Some(active) = constrs.iter().position(|(constr, _)| *constr == name) else {
        let known: Vec<String> = constrs.iter().map(|(constr, _)| format!("#{constr}")).collect();
        let message = format!("there is no constructor #{name}; there are: {}", known.join(", "));
        return Err(FormatError { message, ..start });
    };
    let tag = Prim::of_i64(PrimType::I8, active as i64);
    let mut parts = vec![Part::Known(tag.into())];
    for (i, (_, payload)) in constrs.iter().enumerate() {
        for ty in payload {
            match i == active {
                true => parts.extend(literal(reader, ty)?),
                false => parts.extend(ty.types().iter().map(|_| Part::Unknown(Shape::new()))),
            }
        }
    }
    Ok(parts)
}

fn array(reader: &mut Reader, row: &EntryType, types: &[Type]) -> Result<Vec<Part>, FormatError> {
    let start = reader.error("");
    if reader.rest().starts_with(b"empty") {
        return empty(reader, row, types);
    }
    // For each Core value its rows.
    let mut columns: Vec<Vec<Part>> = types.iter().map(|_| Vec::new()).collect();
    reader.expect("[")?;
    let mut count = 0;
    while reader.another(count)? {
        let parts = literal(reader, row)?;
        columns.iter_mut().zip(parts).for_each(|(column, part)| column.push(part));
        count += 1;
    }
    let stacked = types.iter().zip(columns).map(|(ty, column)| stack(ty, column));
    stacked.collect::<Result<_, String>>().map_err(|message| FormatError { message, ..start })
}

/// An array of rows, whose shapes must agree as far as they are known.
fn stack(ty: &Type, rows: Vec<Part>) -> Result<Part, String> {
    let mut shape = Shape::new();
    for row in &rows {
        let own = match row {
            Part::Known(value) => value.shape(),
            Part::Unknown(outer) => outer,
        };
        let shared = own.len().min(shape.len());
        if own[..shared] != shape[..shared] {
            return Err(format!("rows of shapes {} and {}", shape_text(&shape), shape_text(own)));
        }
        if own.len() > shape.len() {
            shape = own.into();
        }
    }
    let mut whole = Shape::from_slice(&[rows.len()]);
    whole.extend_from_slice(&shape);
    if rows.iter().all(|row| matches!(row, Part::Unknown(_))) {
        return Ok(Part::Unknown(whole));
    }
    let too_large = || "an array that is too large".to_owned();
    let count = elements_of(&shape).ok_or_else(too_large)?;
    let elem = ty.elem().unwrap_or(PrimType::I64);
    let mut elems = Elems::with_capacity(elem, 0);
    for row in rows {
        match row {
            Part::Known(Value::Prim(prim)) => drop(elems.push(prim)),
            Part::Known(Value::Array(array)) => {
                let (all, range) = array.elems();
                elems.extend_from(all, range.start, range.len());
            }
            Part::Unknown(_) => drop(elems.extend_from(&Elems::filled(Prim::zero(elem), count), 0, count)),
        }
    }
    Array::new(&whole, elems).map(|array| Part::Known(array.into())).ok_or_else(too_large)
}

fn shape_text(shape: &[usize]) -> String {
    shape.iter().map(|d| format!("[{d}]")).collect()
}

/// `empty([2][0](i32, [3]bool))`
fn empty(reader: &mut Reader, row: &EntryType, types: &[Type]) -> Result<Vec<Part>, FormatError> {
    let start = reader.error("an empty array has a dimension of size 0");
    reader.expect("empty")?;
    reader.expect("(")?;
    let outer = reader.sizes()?;
    if outer.len() != 1 + rank_of(row) {
        return Err(reader.error(format!("{} dimensions are expected", 1 + rank_of(row))));
    }
    let mut shapes = Vec::new();
    type_sizes(reader, element_of(row), &mut shapes)?;
    reader.expect(")")?;
    if !outer.contains(&0) {
        return Err(start);
    }
    let part = |(ty, inner): (&Type, Shape)| {
        let mut shape = outer.clone();
        shape.extend_from_slice(&inner);
        let elems = Elems::with_capacity(ty.elem().unwrap_or(PrimType::I64), 0);
        Array::new(&shape, elems).map_or(Part::Unknown(shape), |array| Part::Known(array.into()))
    };
    Ok(types.iter().zip(shapes).map(part).collect())
}

/// Reads a type as [`type_text`] writes it: for each Core value its sizes.
fn type_sizes(reader: &mut Reader, ty: &EntryType, out: &mut Vec<Shape>) -> Result<(), FormatError> {
    match ty {
        EntryType::Value { ty, .. } => {
            let sizes = reader.sizes()?;
            let start = reader.error("");
            let elem = reader.scalar_type()?;
            if Some(elem) != ty.elem() || sizes.len() != ty.rank() {
                let wanted = format!("{}{}", "[]".repeat(ty.rank()), ty.elem().map_or("", PrimType::name));
                let message = format!("type {wanted} is expected, not {}{elem}", shape_text(&sizes));
                return Err(FormatError { message, ..start });
            }
            out.push(sizes);
        }
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            let is_tuple = is_tuple(fields);
            reader.expect(if is_tuple { "(" } else { "{" })?;
            for (i, (name, field)) in fields.iter().enumerate() {
                if i > 0 {
                    reader.expect(",")?;
                }
                if !is_tuple {
                    reader.expect(name)?;
                    reader.expect(":")?;
                }
                type_sizes(reader, field, out)?;
            }
            reader.expect(if is_tuple { ")" } else { "}" })?;
        }
        EntryType::Opaque { kind: OpaqueKind::Sum(constrs), .. } => {
            out.push(Shape::new());
            reader.expect("(")?;
            for (i, (name, payload)) in constrs.iter().enumerate() {
                if i > 0 {
                    reader.expect("|")?;
                }
                reader.expect("#")?;
                reader.expect(name)?;
                payload.iter().try_for_each(|ty| type_sizes(reader, ty, out))?;
            }
            reader.expect(")")?;
        }
        EntryType::Opaque { kind: OpaqueKind::Array(row), .. } => {
            reader.expect("[")?;
            reader.skip_blanks();
            let size = std::str::from_utf8(reader.word()).ok().and_then(|word| word.parse::<usize>().ok());
            let size = size.ok_or_else(|| reader.error("a size is expected"))?;
            reader.expect("]")?;
            let first = out.len();
            type_sizes(reader, row, out)?;
            out.iter_mut().skip(first).for_each(|shape| shape.insert(0, size));
        }
        EntryType::Opaque { kind: OpaqueKind::Other, name, .. } => {
            return Err(reader.error(format!("nothing can be written for the abstract type {name}")));
        }
    }
    Ok(())
}
