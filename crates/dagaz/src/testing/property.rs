//! Properties: entry points that must give true, whatever they are given.
//!
//! ```text
//! -- ==
//! -- property: same_twice_reversed
//!
//! #[prop(size(20))]
//! entry same_twice_reversed (xs: []i32) = and (map2 (==) (reverse (reverse xs)) xs)
//! ```
//!
//! They get many values of their type. What `#[prop(…)]` may say besides: `gen(f)`, an entry point that makes values from a
//! size and a seed, and `shrink(f)`, one that makes a smaller value of a value and a random number. Values are the same at
//! every run.

use dagaz_core::exp::{Entry, EntryType, OpaqueKind};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::Type;
use dagaz_core::value::Value;
use dagaz_syntax::FileId;
use dagaz_syntax::ast::{Attr, AttrKind, BindKeyword, DecKind};

use super::random::{self, Generator, SplitMix};
use crate::data;
use crate::session::{Session, show_arguments};

/// With how many values a property is tried.
const CANDIDATES: usize = 100;

/// The size of arrays, unless the property has one of its own.
const SIZE: i64 = 50;

/// How often in a row a function may fail to make a smaller value for which the property is false.
const PATIENCE: usize = 20;

/// What stands before a property.
struct Property {
    generator: Option<String>,
    shrinker: Option<String>,
    size: i64,
}

/// Looks for values for which a property of the program with this text is false.
pub(super) fn check(session: &mut Session, text: &str, name: &str) -> Result<(), String> {
    let property = property(text, name)?;
    let entry = session.entry(name).cloned().ok_or_else(|| format!("there is no entry point '{name}'"))?;
    if !matches!(&entry.results[..], [EntryType::Value { ty: Type::Prim(PrimType::Bool), .. }]) {
        return Err("a property must give one bool".to_owned());
    }
    let mut trial = Trial { session, entry, property, source: SplitMix::new() };
    for _ in 0..CANDIDATES {
        let seed = trial.source.next();
        let candidate = trial.candidate(trial.property.size, seed)?;
        if trial.is_true(&candidate)? {
            continue;
        }
        let least = match trial.property.shrinker.clone() {
            Some(shrinker) => trial.shrink(&shrinker, candidate)?,
            None => trial.smaller(candidate, seed)?,
        };
        return Err(format!("false for {}", shown(&trial.entry, &least)));
    }
    Ok(())
}

struct Trial<'s> {
    session: &'s mut Session,
    entry: Entry,
    property: Property,
    source: SplitMix,
}

impl Trial<'_> {
    fn is_true(&mut self, candidate: &[Value]) -> Result<bool, String> {
        let failed = |error| format!("run-time error: {error}, for {}", shown(&self.entry, candidate));
        let results = self.session.call(&self.entry.name, candidate.to_vec()).map_err(failed)?;
        Ok(results.first().and_then(Value::as_prim) == Some(Prim::Bool(true)))
    }

    /// A value of a size.
    fn candidate(&mut self, size: i64, seed: u64) -> Result<Vec<Value>, String> {
        let Some(generator) = self.property.generator.clone() else {
            return automatic(&self.entry, size, &mut SplitMix::from_seed(seed));
        };
        let arguments = vec![Value::Prim(Prim::I64(size)), Value::Prim(Prim::U64(seed))];
        self.call(&generator, arguments)
    }

    fn call(&mut self, function: &str, arguments: Vec<Value>) -> Result<Vec<Value>, String> {
        self.session
            .call(function, arguments)
            .map_err(|error| format!("run-time error in '{function}': {error}"))
    }

    /// What the property's own function makes of a value, as long as the property is false.
    fn shrink(&mut self, shrinker: &str, mut least: Vec<Value>) -> Result<Vec<Value>, String> {
        let mut failures = 0;
        for _ in 0..CANDIDATES * PATIENCE {
            let mut arguments = least.clone();
            arguments.push(Value::Prim(Prim::U64(self.source.next())));
            let smaller = self.call(shrinker, arguments)?;
            if self.is_true(&smaller)? {
                failures += 1;
            } else {
                (least, failures) = (smaller, 0);
            }
            if failures == PATIENCE {
                break;
            }
        }
        Ok(least)
    }

    /// The value of the smallest size for which the property is false.
    fn smaller(&mut self, found: Vec<Value>, seed: u64) -> Result<Vec<Value>, String> {
        for size in 0..self.property.size {
            // Sizes that the property or the generator cannot do with are none.
            let Ok(candidate) = self.candidate(size, seed) else { continue };
            if self.is_true(&candidate) == Ok(false) {
                return Ok(candidate);
            }
        }
        Ok(found)
    }
}

/// Reads `#[prop(…)]` before an entry point of a program.
fn property(text: &str, name: &str) -> Result<Property, String> {
    let (program, _) = dagaz_syntax::parse_program(FileId(0), text);
    let is_it = |kind: &DecKind| match kind {
        DecKind::Val(bind) => bind.keyword == BindKeyword::Entry && bind.name.name.as_str() == name,
        _ => false,
    };
    let dec = program.decs.iter().find(|dec| is_it(&dec.kind));
    let dec = dec.ok_or_else(|| format!("there is no entry point '{name}'"))?;
    let parts = dec.attrs.iter().find_map(|attr| match &attr.kind {
        AttrKind::Name(name) if name.as_str() == "prop" => Some(&[][..]),
        AttrKind::Compound(name, parts) if name.as_str() == "prop" => Some(&parts[..]),
        _ => None,
    });
    let parts = parts.ok_or_else(|| format!("'{name}' is no property: '#[prop]' must stand before it"))?;
    let mut property = Property { generator: None, shrinker: None, size: SIZE };
    for part in parts {
        match setting(part) {
            Some(("gen", AttrKind::Name(function))) => property.generator = Some(function.to_string()),
            Some(("shrink", AttrKind::Name(function))) => property.shrinker = Some(function.to_string()),
            Some(("size", AttrKind::Int(size))) => {
                property.size = i64::try_from(*size).map_err(|_| format!("{size} is no size"))?;
            }
            _ => {
                return Err(
                    "'#[prop(…)]' may have 'gen(function)', 'shrink(function)' and 'size(number)'".to_owned()
                );
            }
        }
    }
    Ok(property)
}

/// `name(value)`.
fn setting(part: &Attr) -> Option<(&str, &AttrKind)> {
    match &part.kind {
        AttrKind::Compound(name, values) => match &values[..] {
            [value] => Some((name.as_str(), &value.kind)),
            _ => None,
        },
        AttrKind::Name(_) | AttrKind::Int(_) => None,
    }
}

/// Arguments as text, and what those consist of that have none.
fn shown(entry: &Entry, candidate: &[Value]) -> String {
    let text = show_arguments(entry, candidate).join(" ");
    if entry.params.iter().all(|param| plain_types(&param.ty, &mut Vec::new()).is_ok()) {
        return text;
    }
    let values: Vec<String> = candidate.iter().map(data::print).collect();
    format!("{text}, which consists of {}", values.join(" "))
}

/// Arguments of which all sizes are this one, unless they are written in the type.
fn automatic(entry: &Entry, size: i64, source: &mut SplitMix) -> Result<Vec<Value>, String> {
    let mut types = Vec::new();
    for param in &entry.params {
        plain_types(&param.ty, &mut types)
            .map_err(|name| format!("values of type {name} are made by 'gen(function)' in '#[prop(…)]'"))?;
    }
    let size = usize::try_from(size).map_err(|_| format!("{size} is no size"))?;
    let make = |(name, ty): (&str, &Type)| {
        let mut shape: Vec<usize> = written_sizes(name).map(|known| known.unwrap_or(size)).collect();
        shape.resize(ty.rank(), size);
        let elem = ty.elem().ok_or_else(|| format!("type {name} has no values"))?;
        random::generate_one(&Generator::Random { shape, elem }, source)
    };
    types.into_iter().map(make).collect()
}

/// The sizes at the beginning of a type as it is written, where they are numbers.
fn written_sizes(ty: &str) -> impl Iterator<Item = Option<usize>> {
    let mut rest = ty;
    std::iter::from_fn(move || {
        let (size, after) = rest.strip_prefix('[')?.split_once(']')?;
        rest = after;
        Some(size.trim_end_matches("i64").parse().ok())
    })
}

/// The values that a type consists of, with their names, if any such values are one of it; else its name.
fn plain_types<'t>(ty: &'t EntryType, types: &mut Vec<(&'t str, &'t Type)>) -> Result<(), &'t str> {
    match ty {
        EntryType::Value { name, ty } => types.push((name, ty)),
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            fields.iter().try_for_each(|(_, field)| plain_types(field, types))?;
        }
        EntryType::Opaque {
            kind: OpaqueKind::Sum(_) | OpaqueKind::Array(_) | OpaqueKind::Other,
            name,
            ..
        } => return Err(name),
    }
    Ok(())
}
