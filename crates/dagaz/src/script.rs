//! The small expression language of `script input { … }` blocks: literals, calls of entry points, tuples, records,
//! projections, `let`, and `$loaddata "file"`, `$loadbytes "file"`, which read files.
//!
//! ```text
//! let (xs, n) = mk_input 100i64 in (n, scale 2 xs, $loaddata "weights.in")
//! ```
//!
//! Integer literals adapt to the parameter they are given to. A tuple given alone to an entry point with as many
//! parameters is taken apart.

use std::path::Path;

use dagaz_core::exp::{Entry, EntryType, OpaqueKind};
use dagaz_core::formats::literal::is_tuple;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::Type;
use dagaz_core::value::{Array, Elems, Value};

use crate::data;
use crate::session::Session;

mod parse;

pub use parse::parse;

/// An expression.
#[derive(Clone, Debug)]
pub enum Exp {
    Literal(Value),
    String(String),
    Call { name: String, args: Vec<Exp> },
    Builtin { name: String, args: Vec<Exp> },
    Tuple(Vec<Exp>),
    Record(Vec<(String, Exp)>),
    Project(Box<Exp>, String),
    Let { names: Vec<String>, value: Box<Exp>, body: Box<Exp> },
}

/// What an expression gives: values of the program's types, and tuples and records of them.
#[derive(Clone, Debug)]
pub enum ScriptValue {
    Value(Value),
    /// A value of a type that only the program knows, as its Core values.
    Opaque(EntryType, Vec<Value>),
    Tuple(Vec<ScriptValue>),
    Record(Vec<(String, ScriptValue)>),
}

type Scope = Vec<(String, ScriptValue)>;

/// Evaluate an expression and turn the result into arguments for an entry point.
pub fn arguments(
    exp: &Exp,
    session: &mut Session,
    directory: &Path,
    entry: &Entry,
) -> Result<Vec<Value>, String> {
    let value = Evaluator { session, directory }.eval(&mut Vec::new(), exp)?;
    fit_arguments(entry, vec![value])
}

struct Evaluator<'a> {
    session: &'a mut Session,
    /// Where files are read.
    directory: &'a Path,
}

impl Evaluator<'_> {
    fn eval(&mut self, scope: &mut Scope, exp: &Exp) -> Result<ScriptValue, String> {
        match exp {
            Exp::Literal(value) => Ok(ScriptValue::Value(value.clone())),
            Exp::String(text) => Ok(ScriptValue::Value(bytes_value(text.as_bytes().to_vec()))),
            Exp::Call { name, args } => self.call(scope, name, args),
            Exp::Builtin { name, args } => self.builtin(name, args),
            Exp::Tuple(parts) => {
                let parts: Result<_, _> = parts.iter().map(|part| self.eval(scope, part)).collect();
                Ok(ScriptValue::Tuple(parts?))
            }
            Exp::Record(fields) => {
                let fields: Result<_, String> =
                    fields.iter().map(|(name, field)| Ok((name.clone(), self.eval(scope, field)?))).collect();
                Ok(ScriptValue::Record(fields?))
            }
            Exp::Project(record, field) => project(self.eval(scope, record)?, field),
            Exp::Let { names, value, body } => {
                let value = self.eval(scope, value)?;
                let depth = scope.len();
                bind(scope, names, value)?;
                let result = self.eval(scope, body);
                scope.truncate(depth);
                result
            }
        }
    }

    fn call(&mut self, scope: &mut Scope, name: &str, args: &[Exp]) -> Result<ScriptValue, String> {
        if let Some((_, value)) = scope.iter().rev().find(|(known, _)| known == name) {
            return match args {
                [] => Ok(value.clone()),
                _ => Err(format!("'{name}' is a value and cannot be called")),
            };
        }
        let Some(entry) = self.session.entry(name).cloned() else {
            return Err(format!("there is no entry point '{name}'"));
        };
        let args: Result<Vec<_>, _> = args.iter().map(|arg| self.eval(scope, arg)).collect();
        let args = fit_arguments(&entry, args?)?;
        let results = self.session.call(name, args).map_err(|error| error.to_string())?;
        Ok(script_results(&entry.results, results))
    }

    fn builtin(&mut self, name: &str, args: &[Exp]) -> Result<ScriptValue, String> {
        let [Exp::String(file)] = args else {
            let count = args.len();
            return Err(format!("${name} takes the name of a file, but is given {count} arguments"));
        };
        let path = self.directory.join(file);
        match name {
            "loaddata" => {
                let mut values: Vec<ScriptValue> =
                    data::read_file(&path)?.into_iter().map(ScriptValue::Value).collect();
                Ok(if values.len() == 1 { values.remove(0) } else { ScriptValue::Tuple(values) })
            }
            "loadbytes" => Ok(ScriptValue::Value(bytes_value(data::read_bytes(&path)?))),
            _ => Err(format!("there is no built-in function '${name}'")),
        }
    }
}

fn bytes_value(bytes: Vec<u8>) -> Value {
    Value::vector(Elems::U8(bytes))
}

fn bind(scope: &mut Scope, names: &[String], value: ScriptValue) -> Result<(), String> {
    if let [name] = names {
        scope.push((name.clone(), value));
        return Ok(());
    }
    let parts = parts_of(&value).unwrap_or_else(|| vec![value]);
    if parts.len() != names.len() {
        return Err(format!("{} names are bound to {} values", names.len(), parts.len()));
    }
    scope.extend(names.iter().cloned().zip(parts));
    Ok(())
}

/// The components of a tuple, whether it was made here or by the program.
fn parts_of(value: &ScriptValue) -> Option<Vec<ScriptValue>> {
    match value {
        ScriptValue::Tuple(parts) => Some(parts.clone()),
        ScriptValue::Opaque(EntryType::Opaque { kind: OpaqueKind::Record(fields), .. }, values)
            if is_tuple(fields) =>
        {
            let types: Vec<EntryType> = fields.iter().map(|(_, ty)| ty.clone()).collect();
            Some(split_by_type(&types, values.clone()))
        }
        ScriptValue::Value(_) | ScriptValue::Opaque(..) | ScriptValue::Record(_) => None,
    }
}

fn split_by_type(types: &[EntryType], mut values: Vec<Value>) -> Vec<ScriptValue> {
    let mut parts = Vec::new();
    for ty in types {
        let rest = values.split_off(ty.arity().min(values.len()));
        let mut mine = std::mem::replace(&mut values, rest);
        parts.push(match ty {
            EntryType::Value { .. } if mine.len() == 1 => ScriptValue::Value(mine.remove(0)),
            EntryType::Value { .. } | EntryType::Opaque { .. } => ScriptValue::Opaque(ty.clone(), mine),
        });
    }
    parts
}

fn script_results(types: &[EntryType], values: Vec<Value>) -> ScriptValue {
    let mut parts = split_by_type(types, values);
    if parts.len() == 1 { parts.remove(0) } else { ScriptValue::Tuple(parts) }
}

fn project(value: ScriptValue, field: &str) -> Result<ScriptValue, String> {
    let found = match &value {
        ScriptValue::Record(fields) => fields.iter().find(|(name, _)| name == field).map(|(_, v)| v.clone()),
        ScriptValue::Tuple(parts) => field.parse().ok().and_then(|i: usize| parts.get(i).cloned()),
        ScriptValue::Opaque(EntryType::Opaque { kind: OpaqueKind::Record(fields), .. }, values) => {
            let types: Vec<EntryType> = fields.iter().map(|(_, ty)| ty.clone()).collect();
            let position = fields.iter().position(|(name, _)| name == field);
            position.and_then(|at| split_by_type(&types, values.clone()).into_iter().nth(at))
        }
        ScriptValue::Value(_) | ScriptValue::Opaque(..) => None,
    };
    found.ok_or_else(|| format!("there is no field '{field}'"))
}

/// Values for all parameters of an entry point, in the order of its Core values.
fn fit_arguments(entry: &Entry, args: Vec<ScriptValue>) -> Result<Vec<Value>, String> {
    let args = match &args[..] {
        [single] if entry.params.len() != 1 => parts_of(single).unwrap_or(args),
        _ => args,
    };
    if args.len() != entry.params.len() {
        let (wanted, given) = (entry.params.len(), args.len());
        return Err(format!("'{}' takes {wanted} arguments, but is given {given}", entry.name));
    }
    let mut values = Vec::new();
    for (param, arg) in entry.params.iter().zip(args) {
        fit(&param.ty, arg, &mut values).map_err(|found| {
            format!("'{}' wants {} for '{}', but is given {found}", entry.name, param.ty.name(), param.name)
        })?;
    }
    Ok(values)
}

/// Append a value as the given type, or say what it is instead.
fn fit(ty: &EntryType, value: ScriptValue, out: &mut Vec<Value>) -> Result<(), String> {
    match (ty, value) {
        (EntryType::Value { ty, .. }, ScriptValue::Value(value)) => {
            let found = value.type_text();
            out.push(coerce(ty, value).ok_or(found)?);
            Ok(())
        }
        (EntryType::Opaque { kind: OpaqueKind::Record(fields), .. }, ScriptValue::Tuple(parts))
            if is_tuple(fields) && fields.len() == parts.len() =>
        {
            fields.iter().zip(parts).try_for_each(|((_, ty), part)| fit(ty, part, out))
        }
        (EntryType::Opaque { kind: OpaqueKind::Record(fields), .. }, ScriptValue::Record(given)) => {
            for (name, ty) in fields {
                let field = given.iter().find(|(known, _)| known == name);
                let (_, field) = field.ok_or_else(|| format!("a record without '{name}'"))?;
                fit(ty, field.clone(), out)?;
            }
            Ok(())
        }
        (EntryType::Opaque { .. }, ScriptValue::Opaque(found, values)) if found.arity() == ty.arity() => {
            out.extend(values);
            Ok(())
        }
        (_, ScriptValue::Opaque(found, _)) => Err(found.name().to_owned()),
        (_, ScriptValue::Value(value)) => Err(value.type_text()),
        (_, ScriptValue::Tuple(_)) => Err("a tuple".to_owned()),
        (_, ScriptValue::Record(_)) => Err("a record".to_owned()),
    }
}

/// A signed integer becomes whatever number is wanted; everything else must have the right type.
fn coerce(ty: &Type, value: Value) -> Option<Value> {
    let wanted = ty.elem()?;
    if value.elem_type() == wanted {
        return Some(value);
    }
    if !value.elem_type().is_signed() || wanted == PrimType::Bool {
        return None;
    }
    let convert = |prim: Prim| {
        let n = prim.as_i64()?;
        if wanted.is_float() { Prim::of_f64(wanted, n as f64) } else { Some(Prim::of_i64(wanted, n)) }
    };
    match &value {
        Value::Prim(prim) => convert(*prim).map(Value::Prim),
        Value::Array(array) => {
            let mut elems = Elems::with_capacity(wanted, array.len());
            for prim in array.prims() {
                elems.push(convert(prim)?);
            }
            Array::new(array.shape(), elems).map(Value::Array)
        }
    }
}
