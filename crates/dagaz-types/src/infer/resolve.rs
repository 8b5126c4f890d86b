//! Finding what a name means.

use std::rc::Rc;

use dagaz_syntax::ast::{Ident, QualName};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::suggest::most_similar;
use super::{Infer, Local};
use crate::context::{Error, Res, fail};
use crate::env::{Env, Module, TypeBinding, ValueBinding};

/// A value, and the fields of it that are projected.
pub(super) struct Resolved {
    pub local: Local,
    pub fields: Vec<Name>,
}

/// What the first part of a qualified name is.
enum Root {
    Value(Local),
    Module(Module),
}

impl Infer<'_> {
    pub(super) fn resolve_value(&self, q: &QualName) -> Res<Resolved> {
        if q.quals.is_empty() && q.name.as_str().starts_with('_') && q.name.as_str().len() > 1 {
            return fail(Diagnostic::error(
                "underscore-use",
                q.span,
                format!(
                    "\"{}\" cannot be used: variables prefixed with an underscore are for values that are not",
                    q.name
                ),
            ));
        }
        let Some((first, rest)) = q.quals.split_first() else {
            let local = self.lookup_value(q.name).ok_or_else(|| self.unknown_value(q.name, q.span))?;
            return Ok(Resolved { local, fields: Vec::new() });
        };
        let mut names: Vec<Ident> = rest.to_vec();
        names.push(Ident { name: q.name, span: q.span });
        match self.lookup_root(*first)? {
            Root::Value(local) => Ok(Resolved { local, fields: names.iter().map(|i| i.name).collect() }),
            Root::Module(module) => self.descend(module, *first, &names),
        }
    }

    fn descend(&self, mut module: Module, mut at: Ident, names: &[Ident]) -> Res<Resolved> {
        for (i, name) in names.iter().enumerate() {
            let env = structure(&module, at)?;
            if let Some(value) = env.values.get(&name.name) {
                let fields = names[i + 1..].iter().map(|i| i.name).collect();
                return Ok(Resolved { local: Local::Global(*value), fields });
            }
            match env.modules.get(&name.name) {
                Some(inner) if i + 1 < names.len() => (module, at) = (inner.clone(), *name),
                Some(_) => {
                    return fail(Diagnostic::error(
                        "not-a-value",
                        name.span,
                        format!("\"{}\" is a module, not a value", name.name),
                    ));
                }
                None => {
                    let message = format!("Unknown variable \"{}\" in module \"{}\"", name.name, at.name);
                    let mut d = Diagnostic::error("unknown-name", name.span, message);
                    if let Some(other) = most_similar(name.name, env.values.keys().copied()) {
                        d = d.help(format!("did you mean \"{}.{other}\"?", at.name));
                    }
                    return fail(d);
                }
            }
        }
        unreachable_name(at)
    }

    fn lookup_value(&self, name: Name) -> Option<Local> {
        if let Some(local) = self.locals.get(&name).and_then(|s| s.last()) {
            return Some(*local);
        }
        self.frames.iter().rev().find_map(|f| f.values.get(&name)).map(|v| Local::Global(*v))
    }

    fn lookup_root(&self, first: Ident) -> Res<Root> {
        if let Some(local) = self.locals.get(&first.name).and_then(|s| s.last()) {
            return Ok(Root::Value(*local));
        }
        for frame in self.frames.iter().rev() {
            if let Some(value) = frame.values.get(&first.name) {
                return Ok(Root::Value(Local::Global(*value)));
            }
            if let Some(module) = frame.modules.get(&first.name) {
                return Ok(Root::Module(module.clone()));
            }
        }
        Err(self.unknown_value(first.name, first.span))
    }

    fn unknown_value(&self, name: Name, span: Span) -> Error {
        let is_module = self.frames.iter().any(|f| f.modules.contains_key(&name));
        if is_module {
            let message = format!("\"{name}\" is a module, not a value");
            return Diagnostic::error("not-a-value", span, message).into();
        }
        let mut d = Diagnostic::error("unknown-name", span, format!("Unknown variable \"{name}\""));
        if let Some((_, place)) = self.cx.later.iter().find(|(later, _)| *later == name) {
            d = d.label(*place, "defined here");
        }
        if let Some(suggestion) = self.suggestion(name) {
            d = d.help(suggestion);
        }
        d.into()
    }

    pub(super) fn resolve_module(&self, q: &QualName) -> Res<Module> {
        lookup_module(self.frames, q)
    }

    pub(super) fn resolve_type(&self, q: &QualName) -> Res<Rc<TypeBinding>> {
        lookup_type(self.frames, q)
    }
}

fn unreachable_name<T>(at: Ident) -> Res<T> {
    fail(Diagnostic::error("unknown-name", at.span, format!("Unknown name \"{}\"", at.name)))
}

fn structure(module: &Module, at: Ident) -> Res<Rc<Env>> {
    match module {
        Module::Struct(env) => Ok(env.clone()),
        Module::Functor(_) => fail(
            Diagnostic::error(
                "parametric-module",
                at.span,
                format!("\"{}\" is a parametric module", at.name),
            )
            .help("apply it to a module first"),
        ),
        Module::Poisoned => Err(Error::Silenced),
    }
}

/// Find a module by its qualified name.
pub(crate) fn lookup_module(frames: &[Env], q: &QualName) -> Res<Module> {
    let path: Vec<Ident> = q.quals.iter().copied().chain([Ident { name: q.name, span: q.span }]).collect();
    let mut module = frames
        .iter()
        .rev()
        .find_map(|f| f.modules.get(&path[0].name))
        .cloned()
        .ok_or_else(|| unknown_in(frames, "module", path[0], |f| Box::new(f.modules.keys().copied())))?;
    for pair in path.windows(2) {
        let env = structure(&module, pair[0])?;
        module = env
            .modules
            .get(&pair[1].name)
            .cloned()
            .ok_or_else(|| unknown_in(&[], "module", pair[1], |_| Box::new(std::iter::empty())))?;
    }
    Ok(module)
}

/// The environment that the qualifiers of a name lead to.
fn qualified_env(frames: &[Env], q: &QualName) -> Res<Option<Rc<Env>>> {
    let Some((last, init)) = q.quals.split_last() else { return Ok(None) };
    let module = lookup_module(frames, &QualName { quals: init.to_vec(), name: last.name, span: last.span })?;
    structure(&module, *last).map(Some)
}

pub(crate) fn lookup_type(frames: &[Env], q: &QualName) -> Res<Rc<TypeBinding>> {
    let found = match qualified_env(frames, q)? {
        Some(env) => env.types.get(&q.name).cloned(),
        None => frames.iter().rev().find_map(|f| f.types.get(&q.name)).cloned(),
    };
    let ident = Ident { name: q.name, span: q.span };
    found.ok_or_else(|| unknown_in(frames, "type", ident, |f| Box::new(f.types.keys().copied())))
}

pub(crate) fn lookup_mod_type(frames: &[Env], q: &QualName) -> Res<Rc<crate::env::ModType>> {
    let found = match qualified_env(frames, q)? {
        Some(env) => env.mod_types.get(&q.name).cloned(),
        None => frames.iter().rev().find_map(|f| f.mod_types.get(&q.name)).cloned(),
    };
    let ident = Ident { name: q.name, span: q.span };
    found.ok_or_else(|| unknown_in(frames, "module type", ident, |f| Box::new(f.mod_types.keys().copied())))
}

type Names<'f> = Box<dyn Iterator<Item = Name> + 'f>;

fn unknown_in(frames: &[Env], what: &str, ident: Ident, names: fn(&Env) -> Names<'_>) -> Error {
    let mut d = Diagnostic::error("unknown-name", ident.span, format!("Unknown {what} \"{}\"", ident.name));
    if let Some(other) = most_similar(ident.name, frames.iter().flat_map(names)) {
        d = d.help(format!("did you mean \"{other}\"?"));
    }
    d.into()
}

/// What a resolved name refers to.
pub(super) fn binding_of(local: Local) -> ValueBinding {
    match local {
        Local::Var(v) => ValueBinding::Def(v),
        Local::Global(binding) => binding,
    }
}
