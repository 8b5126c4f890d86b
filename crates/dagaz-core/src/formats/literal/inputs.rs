//! The values of several types, from several inputs.

use std::collections::{HashMap, VecDeque};

use crate::exp::{Entry, EntryType, Fun, OpaqueKind};
use crate::formats::text::Reader;
use crate::prim::{Prim, PrimType};
use crate::types::{Atom, Type, VarId};
use crate::value::{Array, Elems, Shape, Value, elements_of};

use super::read::{Part, is_literal, literal, sized};

/// What was not written has no more elements than this. More would not fit, which a wrong size tells as well.
const MOST: usize = 1 << 30;

/// What is still to be read.
#[derive(Clone, Copy)]
enum Wanted<'e> {
    Value(&'e EntryType),
    /// The number of a constructor, of so many, in an array of this type.
    Tag(&'e Type, usize),
}

/// Reads the values of some types, from several inputs one after the other.
pub struct Inputs<'e> {
    wanted: VecDeque<Wanted<'e>>,
    found: Vec<(&'e Type, Part)>,
    /// Parameters whose values are sizes.
    sizes: HashMap<VarId, usize>,
}

impl<'e> Inputs<'e> {
    pub fn new(types: impl Iterator<Item = &'e EntryType>) -> Inputs<'e> {
        Inputs { wanted: types.map(Wanted::Value).collect(), found: Vec::new(), sizes: HashMap::new() }
    }

    /// How many Core values are still missing.
    pub fn missing(&self) -> usize {
        let count = |wanted: &Wanted| match wanted {
            Wanted::Value(ty) => ty.arity(),
            Wanted::Tag(..) => 1,
        };
        self.wanted.iter().map(count).sum()
    }

    /// How many Core values there are.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Reads all values of an input.
    pub fn read(&mut self, input: &[u8]) -> Result<(), String> {
        let mut reader = Reader::new(input);
        while !reader.at_end() {
            self.next(&mut reader)?;
        }
        Ok(())
    }

    fn next(&mut self, reader: &mut Reader) -> Result<(), String> {
        let Some(wanted) = self.wanted.pop_front() else {
            return Err("there are more values than the entry point takes".to_owned());
        };
        match wanted {
            Wanted::Value(ty) if is_literal(reader, ty) => {
                let parts = literal(reader, ty).map_err(|error| error.to_string())?;
                self.found.extend(ty.types().iter().zip(parts));
                Ok(())
            }
            Wanted::Value(EntryType::Value { ty, .. }) | Wanted::Tag(ty, _) => {
                let value = reader.value(ty.elem()).map_err(|error| error.to_string())?;
                if let Wanted::Tag(_, count) = wanted {
                    check_tags(&value, count)?;
                }
                self.found.push((ty, sized(ty, value)));
                Ok(())
            }
            Wanted::Value(ty) => {
                self.take_apart(ty);
                // Nothing is left of a type without values.
                if reader.at_end() { Ok(()) } else { self.next(reader) }
            }
        }
    }

    /// The values that one consists of are read instead.
    fn take_apart(&mut self, ty: &'e EntryType) {
        let mut parts = Vec::new();
        components(ty, ty.types(), &mut parts);
        parts.into_iter().rev().for_each(|part| self.wanted.push_front(part));
    }

    /// Takes a value that was read by others.
    pub fn push(&mut self, value: Value) -> Result<(), String> {
        loop {
            let Some(wanted) = self.wanted.pop_front() else {
                return Err("there are more values than the entry point takes".to_owned());
            };
            match wanted {
                Wanted::Value(EntryType::Value { ty, .. }) => {
                    self.found.push((ty, Part::Known(value)));
                    return Ok(());
                }
                Wanted::Tag(ty, count) => {
                    check_tags(&value, count)?;
                    self.found.push((ty, Part::Known(value)));
                    return Ok(());
                }
                Wanted::Value(ty) => self.take_apart(ty),
            }
        }
    }

    /// All arguments of an entry point, whose function tells which of them are sizes.
    pub fn finish_arguments(mut self, entry: &Entry, fun: &Fun) -> Vec<Value> {
        let params = fun.params.get(entry.size_params..).unwrap_or_default();
        for (param, (_, part)) in params.iter().zip(&self.found) {
            if let Part::Known(value) = part
                && let Some(size) = value.as_prim().and_then(Prim::as_i64)
            {
                self.sizes.insert(param.var, usize::try_from(size).unwrap_or(0));
            }
        }
        self.finish()
    }

    /// All values.
    pub fn finish(mut self) -> Vec<Value> {
        for (ty, part) in &self.found {
            let shape = match part {
                Part::Known(value) => value.shape(),
                Part::Unknown(outer) => outer,
            };
            for (dim, size) in ty.dims().iter().zip(shape) {
                if let Atom::Var(var) = dim {
                    self.sizes.entry(*var).or_insert(*size);
                }
            }
        }
        let sizes = self.sizes;
        self.found.into_iter().map(|(ty, part)| resolve(ty, part, &sizes)).collect()
    }
}

/// The Core values of a type, each by itself.
fn components<'e>(ty: &'e EntryType, types: &'e [Type], out: &mut Vec<Wanted<'e>>) {
    match ty {
        EntryType::Value { .. } => out.push(Wanted::Value(ty)),
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            fields.iter().for_each(|(_, field)| out.push(Wanted::Value(field)));
        }
        EntryType::Opaque { kind: OpaqueKind::Sum(_) | OpaqueKind::Array(_) | OpaqueKind::Other, .. } => {
            leaves(ty, types, out);
        }
    }
}

/// The same without regard to what belongs together, for values that are rows of the given types.
fn leaves<'e>(ty: &'e EntryType, types: &'e [Type], out: &mut Vec<Wanted<'e>>) {
    let mut tags = Vec::new();
    tags_of(ty, &mut tags);
    // A leaf without a number of constructors takes any number.
    out.extend(types.iter().zip(tags).map(|(ty, tag)| Wanted::Tag(ty, tag.unwrap_or(usize::MAX))));
}

/// For each Core value the number of constructors, if it is the number of one.
fn tags_of(ty: &EntryType, out: &mut Vec<Option<usize>>) {
    match ty {
        EntryType::Value { .. } => out.push(None),
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            fields.iter().for_each(|(_, field)| tags_of(field, out));
        }
        EntryType::Opaque { kind: OpaqueKind::Sum(constrs), .. } => {
            out.push(Some(constrs.len()));
            constrs.iter().flat_map(|(_, payload)| payload).for_each(|ty| tags_of(ty, out));
        }
        EntryType::Opaque { kind: OpaqueKind::Array(row), .. } => tags_of(row, out),
        EntryType::Opaque { kind: OpaqueKind::Other, types, .. } => out.extend(types.iter().map(|_| None)),
    }
}

fn check_tags(value: &Value, count: usize) -> Result<(), String> {
    if count == usize::MAX {
        return Ok(());
    }
    let is_tag = |prim: Prim| prim.as_i64().and_then(|n| usize::try_from(n).ok()).is_some_and(|n| n < count);
    let wrong = match value {
        Value::Prim(prim) => Some(*prim).filter(|prim| !is_tag(*prim)),
        Value::Array(array) => array.prims().find(|prim| !is_tag(*prim)),
    };
    match wrong {
        Some(wrong) => Err(format!("{wrong} is not the number of one of {count} constructors")),
        None => Ok(()),
    }
}

/// What was not written is zero, with the sizes that are known from elsewhere.
fn resolve(ty: &Type, part: Part, sizes: &HashMap<VarId, usize>) -> Value {
    let outer = match part {
        Part::Known(value) => return value,
        Part::Unknown(outer) => outer,
    };
    let elem = ty.elem().unwrap_or(PrimType::I64);
    let size = |(i, dim): (usize, &Atom)| match (outer.get(i), dim) {
        (Some(size), _) => *size,
        (None, Atom::Var(var)) => sizes.get(var).copied().unwrap_or(0),
        (None, Atom::Const(prim)) => prim.as_i64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
    };
    let shape: Shape = ty.dims().iter().enumerate().map(size).collect();
    if shape.is_empty() {
        return Prim::zero(elem).into();
    }
    let count = elements_of(&shape).filter(|count| *count <= MOST);
    match count.and_then(|_| Array::filled(&shape, Prim::zero(elem))) {
        Some(array) => array.into(),
        None => Value::vector(Elems::with_capacity(elem, 0)),
    }
}
