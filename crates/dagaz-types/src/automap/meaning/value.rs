//! The values of which a normal form is made.

use std::rc::Rc;

use dagaz_syntax::Name;

use crate::context::Context;
use crate::env::ValueBinding;
use crate::typed::{Exp, Pat, PatKind, SliceIndex};
use crate::types::VarId;

/// What is known about functions of the prelude.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// `map`, `map2`, …, by the number of arrays.
    Map(usize),
    Zip,
    /// The function that makes a pair of its arguments.
    Pair,
    Rep,
    PipeRight,
    PipeLeft,
    ThenRight,
    ThenLeft,
}

impl Special {
    pub fn arity(self) -> usize {
        match self {
            Special::Map(arrays) => arrays + 1,
            Special::Rep => 1,
            Special::Zip | Special::Pair | Special::PipeRight | Special::PipeLeft => 2,
            Special::ThenRight | Special::ThenLeft => 3,
        }
    }
}

pub(super) fn special_functions(cx: &Context) -> Vec<(ValueBinding, Special)> {
    let named = [
        ("map", Special::Map(1)),
        ("map2", Special::Map(2)),
        ("map3", Special::Map(3)),
        ("map4", Special::Map(4)),
        ("map5", Special::Map(5)),
        ("zip", Special::Zip),
        ("rep", Special::Rep),
        ("|>", Special::PipeRight),
        ("<|", Special::PipeLeft),
        (">->", Special::ThenRight),
        ("<-<", Special::ThenLeft),
    ];
    let meant = |(name, special)| cx.prelude_values.get(&Name::new(name)).map(|binding| (*binding, special));
    named.into_iter().filter_map(meant).collect()
}

pub(super) type Shared<'a> = Rc<Value<'a>>;

pub(super) enum Value<'a> {
    /// A parameter that a function around it was applied to, by how many there are around that.
    Bound(usize),
    /// What is not looked into, made of some parts.
    Stuck(String, Vec<Shared<'a>>),
    Apply(Shared<'a>, Vec<Shared<'a>>),
    Record(Vec<(Name, Shared<'a>)>),
    Function {
        params: Vec<Param<'a>>,
        env: Env<'a>,
        body: &'a Exp,
        given: Vec<Shared<'a>>,
    },
    Special(Special, Vec<Shared<'a>>),
    Map(Shared<'a>, Vec<Shared<'a>>),
}

#[derive(Clone, Copy)]
pub(super) enum Param<'a> {
    Pattern(&'a Pat),
    Variable(VarId),
}

pub(super) fn stuck<'a>(head: impl Into<String>, parts: Vec<Shared<'a>>) -> Shared<'a> {
    Rc::new(Value::Stuck(head.into(), parts))
}

/// The values of variables, the innermost first.
#[derive(Clone, Default)]
pub(super) struct Env<'a>(Option<Rc<(VarId, Shared<'a>, Env<'a>)>>);

impl<'a> Env<'a> {
    pub fn with(&self, var: VarId, value: Shared<'a>) -> Env<'a> {
        Env(Some(Rc::new((var, value, self.clone()))))
    }

    pub fn get(&self, var: VarId) -> Option<Shared<'a>> {
        let mut env = self;
        while let Some(entry) = &env.0 {
            if entry.0 == var {
                return Some(entry.1.clone());
            }
            env = &entry.2;
        }
        None
    }
}

/// The elements of an array that are all the same.
pub(super) fn repeated<'a>(array: &Shared<'a>) -> Option<Shared<'a>> {
    match &**array {
        Value::Apply(fun, args) if matches!(&**fun, Value::Special(Special::Rep, _)) => args.first().cloned(),
        _ => None,
    }
}

/// How many arguments a function waits for.
pub(super) fn missing_arguments(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::Function { params, given, .. } => Some(params.len() - given.len()),
        Value::Special(Special::Rep, _) => None,
        Value::Special(special, given) => Some(special.arity() - given.len()),
        Value::Bound(_) | Value::Stuck(..) | Value::Apply(..) | Value::Record(_) | Value::Map(..) => None,
    }
}

pub(super) fn function<'a>(params: Vec<Param<'a>>, body: &'a Exp, env: &Env<'a>) -> Shared<'a> {
    Rc::new(Value::Function { params, env: env.clone(), body, given: Vec::new() })
}

pub(super) fn project<'a>(value: &Shared<'a>, field: Name) -> Shared<'a> {
    if let Value::Record(fields) = &**value
        && let Some((_, part)) = fields.iter().find(|(name, _)| *name == field)
    {
        return part.clone();
    }
    stuck(format!(".{field}"), vec![value.clone()])
}

pub(super) fn bind<'a>(pat: &'a Pat, value: Shared<'a>, env: Env<'a>) -> Env<'a> {
    match &pat.kind {
        PatKind::Var(var, _) => env.with(*var, value),
        PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => env,
        PatKind::Record(fields) => {
            fields.iter().fold(env, |env, (field, pat)| bind(pat, project(&value, *field), env))
        }
        PatKind::Constr(name, pats) => pats
            .iter()
            .enumerate()
            .fold(env, |env, (i, pat)| bind(pat, stuck(format!("#{name}.{i}"), vec![value.clone()]), env)),
    }
}

/// What a pattern matches, without the names in it.
pub(super) fn shape(pat: &Pat) -> String {
    match &pat.kind {
        PatKind::Var(..) | PatKind::Wildcard => "_".to_owned(),
        PatKind::Int(n) => n.to_string(),
        PatKind::Float(x) => format!("{:x}", x.to_bits()),
        PatKind::Bool(b) => b.to_string(),
        PatKind::Record(fields) => {
            let fields: String = fields.iter().map(|(f, p)| format!("{f}={},", shape(p))).collect();
            format!("{{{fields}}}")
        }
        PatKind::Constr(name, pats) => {
            format!("#{name}({})", pats.iter().map(shape).collect::<Vec<_>>().join(","))
        }
    }
}

pub(super) fn slice_shape(slice: &[SliceIndex]) -> String {
    let index = |index: &SliceIndex| match index {
        SliceIndex::Index(_) => "i".to_owned(),
        SliceIndex::Slice { start, end, stride } => {
            format!("{}:{}:{}", start.is_some(), end.is_some(), stride.is_some())
        }
    };
    format!("[{}]", slice.iter().map(index).collect::<Vec<_>>().join(","))
}
