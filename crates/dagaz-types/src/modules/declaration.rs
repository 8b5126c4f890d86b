//! Declarations.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use dagaz_syntax::ast::{
    AttrKind, BindKeyword, Dec as SynDec, DecKind, Ident, TypeBind, TypeExp, TypeExpKind, ValBind,
};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::Checker;
use super::mod_type::sizes_left_of_arrows;
use crate::Role;
use crate::automap::{Elaborated, Lifted, Lifting, Origin, covers, explicit_text, lift};
use crate::context::{Dialect, Error, Res, ValueInfo, error, fail};
use crate::env::{Env, Module, TypeBinding, ValueBinding};
use crate::infer::infer_definition;
use crate::sizes::{Checked, entry_types, size_definition};
use crate::subst::constructive_sizes;
use crate::typed::{Dec, Def, Exp, ExpKind, Pat, PatKind};
use crate::types::{Liftedness, Overload, Type, TypeParam, TypeParamKind, VarId};

const OPEN_RESULT: &str = "Entry point functions must not be size-polymorphic in their return type, but nothing says what a size of the result is";

/// Why a definition was not accepted, and by which pass.
struct Failure {
    error: Error,
    pass: Pass,
}

enum Pass {
    Types,
    Sizes,
}

/// Names that one list of declarations defines, for finding duplicates.
#[derive(Default)]
struct Defined {
    terms: HashMap<Name, Span>,
    types: HashMap<Name, Span>,
    mod_types: HashMap<Name, Span>,
}

/// The name of the value that a declaration defines.
fn defined_value(dec: &SynDec) -> Option<(Name, Span)> {
    match &dec.kind {
        DecKind::Val(bind) => Some((bind.name.name, bind.name.span)),
        DecKind::Local(inner) => defined_value(inner),
        DecKind::Type(_)
        | DecKind::IndexType(_)
        | DecKind::Module(_)
        | DecKind::ModuleType { .. }
        | DecKind::Open(_)
        | DecKind::Import { .. } => None,
    }
}

impl Checker<'_> {
    /// Check declarations in a scope of their own; gives what they export.
    pub(super) fn declarations(&mut self, decs: &[SynDec]) -> Env {
        self.frames.push(Env::default());
        let mut exported = Env::default();
        let mut defined = Defined::default();
        let outer = self.cx.later.len();
        self.cx.later.extend(decs.iter().rev().filter_map(defined_value));
        for dec in decs {
            let mut env = Env::default();
            if defined_value(dec).is_some() {
                self.cx.later.pop();
            }
            if let Err(e) = self.declaration(dec, &mut env, &mut defined) {
                self.cx.report(e);
                poison(dec, &mut env);
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.extend(&env);
            }
            if !matches!(dec.kind, DecKind::Local(_) | DecKind::Import { .. }) {
                exported.extend(&env);
            }
        }
        self.cx.later.truncate(outer);
        self.frames.pop();
        exported
    }

    fn declaration(&mut self, dec: &SynDec, env: &mut Env, defined: &mut Defined) -> Res<()> {
        match &dec.kind {
            DecKind::Val(bind) => {
                check_new(&mut defined.terms, bind.name, "value")?;
                let binding = self.value(bind, dec)?;
                env.bind_value(bind.name.name, binding);
            }
            DecKind::Type(bind) => {
                check_new(&mut defined.types, bind.name, "type")?;
                let binding = self.type_abbreviation(bind)?;
                env.types.insert(bind.name.name, Rc::new(binding));
            }
            DecKind::IndexType(bind) => {
                check_new(&mut defined.types, bind.ty.name, "type")?;
                check_new(&mut defined.terms, bind.ty.name, "value")?;
                self.index_type(bind, dec, env)?;
            }
            DecKind::Module(bind) => {
                check_new(&mut defined.terms, bind.name, "module")?;
                let module = self.module_binding(bind)?;
                env.bind_module(bind.name.name, module);
            }
            DecKind::ModuleType { name, body } => {
                check_new(&mut defined.mod_types, *name, "module type")?;
                let mod_type = self.mod_type(body)?;
                env.mod_types.insert(name.name, Rc::new(mod_type));
            }
            DecKind::Open(exp) => match self.mod_exp(exp)? {
                Module::Struct(inner) => env.extend(&inner),
                Module::Functor(_) => {
                    return fail(
                        Diagnostic::error(
                            "parametric-module",
                            exp.span,
                            "A parametric module cannot be opened",
                        )
                        .help("apply it to a module first"),
                    );
                }
                Module::Poisoned => return Err(Error::Silenced),
            },
            DecKind::Import { path, path_span } => {
                let imported = self.import(path, *path_span)?;
                env.extend(&imported);
            }
            DecKind::Local(inner) => self.declaration(inner, env, defined)?,
        }
        Ok(())
    }

    pub(super) fn import(&self, path: &str, span: Span) -> Res<Rc<Env>> {
        let found = self.unit.imports.get(path).and_then(|i| self.unit_envs.get(*i));
        match found {
            Some(env) => Ok(env.clone()),
            None => error("unknown-import", span, format!("Cannot find the file \"{path}\"")),
        }
    }

    pub(super) fn value(&mut self, bind: &ValBind, dec: &SynDec) -> Res<ValueBinding> {
        if matches!(bind.name.name.as_str(), "&&" | "||") {
            return error(
                "reserved-operator",
                bind.name.span,
                format!("The operator \"{}\" may not be redefined", bind.name.name),
            );
        }
        let var = self.cx.fresh_var(bind.name.name);
        let mut checked = match self.infer_value(bind, var) {
            Ok(checked) => checked,
            Err(failure) => self.lifted_value(bind, var, failure)?,
        };
        crate::checks::check_definition(&mut self.cx, &mut checked)?;
        let Checked { mut def, mut scheme, sizes, declared } = checked;
        if dec.attrs.iter().any(|a| matches!(&a.kind, AttrKind::Name(name) if name.as_str() == "data")) {
            let class = |p: &TypeParam| matches!(p.kind, TypeParamKind::Type(..)).then_some(Overload::Data);
            scheme.overloads = scheme.params.iter().map(class).collect();
        }
        if dec.attrs.iter().any(|a| matches!(&a.kind, AttrKind::Name(name) if name.as_str() == "elements")) {
            scheme.overloads = vec![None, Some(Overload::ElementOfPrevious), None];
        }
        def.attrs = dec.attrs.iter().map(|a| a.kind.clone()).collect();
        let is_entry = bind.keyword == BindKeyword::Entry || bind.name.name.as_str() == "main";
        if is_entry && self.depth == 0 && self.unit.role == Role::Main {
            if declared.open_result {
                return error("bad-entry-point", bind.name.span, OPEN_RESULT);
            }
            self.check_entry(bind, &def)?;
            self.expand_entry(&mut def);
            def.entry = Some(entry_types(bind, &|span| self.sources.snippet(span).to_owned()));
            self.entries.push(var);
        } else if bind.keyword == BindKeyword::Entry && self.depth > 0 {
            return error(
                "entry-in-module",
                bind.name.span,
                "Entry points may not be declared inside modules",
            );
        }
        let info = ValueInfo { name: bind.name.name, scheme: Rc::new(scheme), span: bind.name.span };
        self.cx.values.insert(var, info);
        for size in sizes {
            let scheme = crate::types::Scheme { params: Vec::new(), overloads: Vec::new(), ty: Type::I64 };
            let info =
                ValueInfo { name: self.cx.var_name(size), scheme: Rc::new(scheme), span: bind.name.span };
            self.cx.values.insert(size, info);
        }
        self.decs.push(Rc::new(Dec::Def(Rc::new(def))));
        Ok(ValueBinding::Def(var))
    }

    /// A function is in scope of itself. But where that makes no sense, and an earlier definition has the same name, it
    /// refers to that one.
    fn infer_value(&mut self, bind: &ValBind, var: VarId) -> Result<Checked, Failure> {
        let said = self.cx.diagnostics.len();
        let first = self.infer_reading(bind, var, true);
        if first.is_ok() || bind.params.is_empty() {
            return first;
        }
        if !self.is_known(bind.name.name) {
            return first;
        }
        let warnings = self.cx.diagnostics.split_off(said);
        self.infer_reading(bind, var, false).or_else(|_| {
            self.cx.diagnostics.truncate(said);
            self.cx.diagnostics.extend(warnings);
            first
        })
    }

    fn infer_reading(&mut self, bind: &ValBind, var: VarId, recursive: bool) -> Result<Checked, Failure> {
        let notes = infer_definition(&mut self.cx, &mut self.frames, bind, var, recursive)
            .map_err(|error| Failure { error, pass: Pass::Types })?;
        size_definition(&mut self.cx, notes, bind, var).map_err(|error| Failure { error, pass: Pass::Sizes })
    }

    fn is_known(&self, name: Name) -> bool {
        self.frames.iter().any(|f| f.values.contains_key(&name))
    }

    /// A definition whose types do not match may have left out maps. If they cannot be found, what is wrong with it as
    /// it stands is reported.
    fn lifted_value(&mut self, bind: &ValBind, var: VarId, failure: Failure) -> Res<Checked> {
        let Failure { error: Error::Diagnostic(strict), pass: Pass::Types } = failure else {
            return Err(failure.error);
        };
        if self.cx.dialect == Dialect::Strict || strict.code != "type-mismatch" {
            return Err(Error::Diagnostic(strict));
        }
        let program = &self.unit.program;
        let origin =
            Origin { sources: self.sources, comments: &program.comments, node_count: program.node_count };
        let readings: &[bool] =
            if !bind.params.is_empty() && self.is_known(bind.name.name) { &[true, false] } else { &[true] };
        let mut wrong = None;
        for recursive in readings {
            let lifting = Lifting {
                cx: &mut self.cx,
                frames: &mut self.frames,
                bind,
                reading: (var, *recursive),
                origin,
                is_proposal: false,
            };
            match lift(lifting) {
                Lifted::No => {}
                Lifted::Ambiguous(ambiguity) => {
                    return Err(ambiguity.help(format!("without maps: {}", strict.message)).into());
                }
                Lifted::Yes(elaborated, checked) => {
                    self.cx.edits.extend(elaborated.edits);
                    return Ok(*checked);
                }
                Lifted::Wrong(error) => {
                    wrong.get_or_insert_with(|| self.wrong_anyway(&strict, error));
                }
                Lifted::Failed(elaborated, error) => {
                    wrong.get_or_insert_with(|| self.wrong_with_maps(&strict, bind, &elaborated, error));
                }
            }
        }
        Err(wrong.unwrap_or(Error::Diagnostic(strict)))
    }

    /// What to say of a definition that is wrong whatever is lifted. If that is where it is wrong as it stands, what is said
    /// there without ranks is clearer.
    fn wrong_anyway(&self, strict: &Diagnostic, error: Error) -> Error {
        match &error {
            Error::Diagnostic(d) if d.span() == strict.span() && d.code == strict.code => {
                strict.clone().into()
            }
            Error::Diagnostic(_) | Error::Silenced => error,
        }
    }

    /// What to say of a definition that is wrong with the maps that make its ranks fit.
    fn wrong_with_maps(
        &self,
        strict: &Diagnostic,
        bind: &ValBind,
        elaborated: &Elaborated,
        error: Error,
    ) -> Error {
        let Error::Diagnostic(d) = error else { return error };
        if d.span() == strict.span() && d.message == strict.message {
            return strict.clone().into();
        }
        let text = explicit_text(self.sources, bind, &elaborated.edits);
        if d.code == "type-mismatch" || d.code == "not-a-function" {
            let help = format!("with maps this is \"{text}\", but then: {}", d.message);
            return strict.clone().help(help).into();
        }
        let is_inside = elaborated.edits.iter().any(|edit| covers(edit.span, d.span()));
        if is_inside { d.help(format!("with maps this is \"{text}\"")).into() } else { Error::Diagnostic(d) }
    }

    /// Entry points are called from outside: their types must be first-order and fixed.
    fn check_entry(&self, bind: &ValBind, def: &Def) -> Res<()> {
        let span = bind.name.span;
        let polymorphic = def.type_params.iter().find(|p| matches!(p.kind, TypeParamKind::Type(..)));
        if let Some(param) = polymorphic {
            return fail(
                Diagnostic::error("bad-entry-point", span, "Entry point functions may not be polymorphic")
                    .at(format!("has the type parameter '{}", param.name))
                    .help("give all parameters and the result a type"),
            );
        }
        // A constant that is a function is an entry point with that function's parameters.
        let mut result = def.ret.ty.clone();
        let mut parameters: Vec<Type> = def.params.iter().map(|p| p.ty.clone()).collect();
        while let Type::Arrow(arrow) = &result {
            parameters.push(arrow.from.clone());
            result = arrow.to.ty.clone();
        }
        let higher_order = |t: &Type| t.has_function() || self.liftedness_of(t) == Liftedness::Lifted;
        let constructive: HashSet<_> = parameters.iter().flat_map(constructive_sizes).collect();
        let taken: HashSet<_> = parameters.iter().flat_map(Type::size_vars).collect();
        for param in &def.type_params {
            if let TypeParamKind::Size(v) = param.kind
                && !constructive.contains(&v)
            {
                let written = bind.type_params.iter().any(|p| p.name.name == param.name);
                if !written && !taken.contains(&v) {
                    return error("bad-entry-point", span, OPEN_RESULT);
                }
                let why = if taken.contains(&v) {
                    "is not used constructively in the parameters"
                } else {
                    "is used in the result alone"
                };
                return fail(
                    Diagnostic::error(
                        "bad-entry-point",
                        span,
                        format!(
                            "Entry point functions may not be size-polymorphic in this way: [{}] {why}",
                            param.name
                        ),
                    )
                    .help("some array in the parameters must have exactly that size"),
                );
            }
        }
        if parameters.iter().any(higher_order) || higher_order(&result) {
            return error("bad-entry-point", span, "Entry point functions may not be higher-order");
        }
        Ok(())
    }

    /// Give an entry point that is a function by its value the parameters of that function:
    /// `entry f = map g` becomes `entry f xs = map g xs`.
    fn expand_entry(&mut self, def: &mut Def) {
        let mut args = Vec::new();
        while let Type::Arrow(arrow) = def.ret.ty.clone() {
            let name = arrow.param.map_or_else(|| Name::new("arg"), |p| self.cx.var_name(p));
            let var = arrow.param.unwrap_or_else(|| self.cx.fresh_var(name));
            let span = def.span;
            def.params.push(Pat { kind: PatKind::Var(var, name), ty: arrow.from.clone(), span });
            let kind = ExpKind::Var { var, name, inst: Vec::new() };
            args.push(Exp { kind, ty: arrow.from.clone(), exts: Vec::new(), span });
            def.ret = arrow.to.clone();
        }
        if !args.is_empty() {
            let fun = Box::new(def.body.clone());
            let (ty, span) = (def.ret.ty.clone(), fun.span);
            let exts = def.ret.exts.clone();
            def.body = Exp { kind: ExpKind::App { fun, args }, ty, exts, span };
        }
    }

    fn type_abbreviation(&mut self, bind: &TypeBind) -> Res<TypeBinding> {
        let (params, ret) = self.type_expression(&bind.params, &bind.body)?;
        self.declare_constructors(&bind.body)?;
        let needed = match (self.liftedness_of(&ret.ty), ret.exts.is_empty()) {
            (Liftedness::Lifted, _) => Liftedness::Lifted,
            (Liftedness::SizeLifted, _) | (Liftedness::Unlifted, false) => Liftedness::SizeLifted,
            (Liftedness::Unlifted, true) => Liftedness::Unlifted,
        };
        if !crate::types::lifts_to(needed, bind.liftedness) {
            let (what, fix) = match needed {
                Liftedness::Lifted => ("contains a function", "type^"),
                Liftedness::SizeLifted | Liftedness::Unlifted if ret.exts.is_empty() => {
                    return fail(
                        Diagnostic::error(
                            "lifted-type",
                            bind.body.span,
                            "A non-lifted type abbreviation may not contain size-lifted types, whose values may differ in size",
                        )
                        .help("declare it with \"type~\" instead of \"type\""),
                    );
                }
                Liftedness::SizeLifted | Liftedness::Unlifted => ("contains anonymous sizes", "type~"),
            };
            return fail(
                Diagnostic::error(
                    "lifted-type",
                    bind.body.span,
                    format!("A non-lifted type abbreviation may not stand for a type containing anonymous sizes or functions, but this one {what}"),
                )
                .help(format!("declare it with \"{fix}\" instead of \"type\"")),
            );
        }
        let mut left = Vec::new();
        sizes_left_of_arrows(&ret.ty, &mut left);
        if ret.exts.iter().any(|v| left.contains(v)) {
            return fail(
                Diagnostic::error(
                    "anonymous-size",
                    bind.body.span,
                    "The parameter of a function type may not have an anonymous size",
                )
                .help("make the size a parameter of the type: type^ t [n] = [n]i32 -> i32"),
            );
        }
        let used = ret.ty.size_vars();
        for (syntax, param) in bind.params.iter().zip(&params) {
            if let TypeParamKind::Size(v) = param.kind
                && !used.contains(&v)
            {
                return error(
                    "unused-size-parameter",
                    syntax.name.span,
                    format!("The size parameter \"{}\" is not used in the type", param.name),
                );
            }
        }
        Ok(TypeBinding { params, liftedness: bind.liftedness, exts: ret.exts, ty: ret.ty })
    }

    /// A declared sum type says in which order its constructors come.
    fn declare_constructors(&mut self, body: &TypeExp) -> Res<()> {
        match &body.kind {
            TypeExpKind::Paren(inner) => self.declare_constructors(inner),
            TypeExpKind::Sum(constrs) => {
                let order = constrs.iter().map(|(c, _)| c.name).collect();
                if !self.cx.constructor_orders.declare(order) {
                    return Ok(());
                }
                fail(
                    Diagnostic::error(
                        "constructor-order",
                        body.span,
                        "These constructors number the elements of an array already, in another order",
                    )
                    .help("give them the same order in all types, or other names"),
                )
            }
            _ => Ok(()),
        }
    }

    /// The least liftedness that a type needs.
    pub(super) fn liftedness_of(&self, ty: &Type) -> Liftedness {
        let all = |types: &mut dyn Iterator<Item = &Type>| {
            types.map(|t| self.liftedness_of(t)).fold(Liftedness::Unlifted, crate::types::most_lifted)
        };
        match ty {
            Type::Prim(_) | Type::Meta(_) => Liftedness::Unlifted,
            Type::Array { elem, .. } => self.liftedness_of(elem),
            Type::Record(fields) => all(&mut fields.iter().map(|(_, t)| t)),
            Type::Sum(cs) => all(&mut cs.iter().flat_map(|(_, ts)| ts)),
            Type::Arrow(_) => Liftedness::Lifted,
            Type::Named { id, .. } => self.cx.liftedness.get(id).copied().unwrap_or(Liftedness::Unlifted),
        }
    }
}

fn check_new(seen: &mut HashMap<Name, Span>, ident: Ident, what: &str) -> Res<()> {
    match seen.insert(ident.name, ident.span) {
        None => Ok(()),
        Some(old) => fail(
            Diagnostic::error(
                "duplicate-definition",
                ident.span,
                format!("Duplicate definition of {what} \"{}\"", ident.name),
            )
            .label(old, "previously defined here"),
        ),
    }
}

/// Bind what a declaration with an error would have bound, so that its uses are not reported too.
fn poison(dec: &SynDec, env: &mut Env) {
    match &dec.kind {
        DecKind::Val(bind) => env.bind_value(bind.name.name, ValueBinding::Poisoned),
        DecKind::Module(bind) => env.bind_module(bind.name.name, Module::Poisoned),
        DecKind::Local(inner) => poison(inner, env),
        DecKind::Type(_)
        | DecKind::IndexType(_)
        | DecKind::ModuleType { .. }
        | DecKind::Open(_)
        | DecKind::Import { .. } => {}
    }
}
