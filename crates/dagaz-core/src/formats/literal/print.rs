//! Printing of literals.

use crate::exp::{EntryType, OpaqueKind};
use crate::formats::text;
use crate::prim::PrimType;
use crate::value::{Array, Value};

use super::{element_of, is_tuple, rank_of};

/// A value as text, from its Core values. What is abstract has its type's name alone.
pub fn print(ty: &EntryType, values: &[Value]) -> String {
    match ty {
        EntryType::Value { .. } => values.iter().map(text::print).collect::<Vec<_>>().join(" "),
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => print_record(fields, values),
        EntryType::Opaque { kind: OpaqueKind::Sum(constrs), name, .. } => {
            print_sum(constrs, values).unwrap_or_else(|| format!("#<{name}>"))
        }
        EntryType::Opaque { kind: OpaqueKind::Array(row), .. } => print_array(row, values),
        EntryType::Opaque { kind: OpaqueKind::Other, name, .. } => format!("#<{name}>"),
    }
}

fn print_record(fields: &[(String, EntryType)], values: &[Value]) -> String {
    let mut rest = values;
    let shown: Vec<String> = fields
        .iter()
        .map(|(name, ty)| {
            let shown = print(ty, split(&mut rest, ty.arity()));
            if is_tuple(fields) { shown } else { format!("{name} = {shown}") }
        })
        .collect();
    let shown = shown.join(", ");
    if is_tuple(fields) { format!("({shown})") } else { format!("{{{shown}}}") }
}

/// The first so many of what is left.
fn split<'v, T>(rest: &mut &'v [T], count: usize) -> &'v [T] {
    let (first, others) = rest.split_at(count.min(rest.len()));
    *rest = others;
    first
}

fn print_sum(constrs: &[(String, Vec<EntryType>)], values: &[Value]) -> Option<String> {
    let (tag, mut rest) = values.split_first()?;
    let active = usize::try_from(tag.as_prim()?.as_i64()?).ok()?;
    let mut shown = format!("#{}", constrs.get(active)?.0);
    for (i, (_, payload)) in constrs.iter().enumerate() {
        for ty in payload {
            let values = split(&mut rest, ty.arity());
            if i == active {
                let text = print(ty, values);
                let is_compound = text.starts_with('-') || text.starts_with('#') && text.contains(' ');
                shown += &if is_compound { format!(" ({text})") } else { format!(" {text}") };
            }
        }
    }
    Some(shown)
}

fn print_array(row: &EntryType, values: &[Value]) -> String {
    let arrays: Vec<&Array> = values.iter().filter_map(Value::as_array).collect();
    let shapes: Vec<&[usize]> = arrays.iter().map(|array| array.shape()).collect();
    let rank = 1 + rank_of(row);
    let outer = shapes.first().map_or(&[][..], |shape| &shape[..rank.min(shape.len())]);
    if outer.contains(&0) {
        let dims: String = outer.iter().map(|d| format!("[{d}]")).collect();
        let inner: Vec<&[usize]> = shapes.iter().map(|shape| &shape[outer.len()..]).collect();
        return format!("empty({dims}{})", type_text(element_of(row), &inner));
    }
    let size = outer.first().copied().unwrap_or(0);
    let rows = (0..size).map(|i| {
        let values: Vec<Value> = arrays.iter().filter_map(|array| array.row(i)).collect();
        print(row, &values)
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}

/// A type with the sizes that Core values have.
fn type_text(ty: &EntryType, shapes: &[&[usize]]) -> String {
    let mut rest = shapes;
    let mut part = |ty: &EntryType| type_text(ty, split(&mut rest, ty.arity()));
    match ty {
        EntryType::Value { ty, .. } => {
            let shape = shapes.first().copied().unwrap_or_default();
            let dims: String = shape.iter().map(|d| format!("[{d}]")).collect();
            format!("{dims}{}", ty.elem().map_or("", PrimType::name))
        }
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            let is_tuple = is_tuple(fields);
            let field = |(name, ty): &(String, EntryType)| match is_tuple {
                true => part(ty),
                false => format!("{name}: {}", part(ty)),
            };
            let shown = fields.iter().map(field).collect::<Vec<_>>().join(", ");
            if is_tuple { format!("({shown})") } else { format!("{{{shown}}}") }
        }
        EntryType::Opaque { kind: OpaqueKind::Sum(constrs), .. } => {
            rest = rest.get(1..).unwrap_or_default();
            let mut shown = Vec::with_capacity(constrs.len());
            for (name, payload) in constrs {
                let payload =
                    payload.iter().map(|ty| format!(" {}", type_text(ty, split(&mut rest, ty.arity()))));
                shown.push(format!("#{name}{}", payload.collect::<String>()));
            }
            format!("({})", shown.join(" | "))
        }
        EntryType::Opaque { kind: OpaqueKind::Array(row), .. } => {
            let size = shapes.first().and_then(|shape| shape.first()).copied().unwrap_or(0);
            let inner: Vec<&[usize]> =
                shapes.iter().map(|shape| shape.get(1..).unwrap_or_default()).collect();
            format!("[{size}]{}", type_text(row, &inner))
        }
        EntryType::Opaque { kind: OpaqueKind::Other, name, .. } => name.clone(),
    }
}
