//! Does a module have a module type, and what does each name of the type stand for?

use std::rc::Rc;

use dagaz_syntax::{Diagnostic, Name, Span};

use super::Checker;
use super::rename::{Renamer, type_fun};
use crate::context::{Error, Res, error, fail};
use crate::env::{AbstractType, Env, FunctorType, ModType, Module, TypeBinding, ValueBinding};
use crate::sizes::{Variance, hides_indices, types_in};
use crate::subst::{Opener, Subst, close_over, constructive_sizes};
use crate::typed::{Alias, Apply, Dec, Functor, TypeDef};
use crate::types::{
    Liftedness, ModId, RetType, Scheme, Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId, lifts_to,
};

/// The ids of a module type in terms of the module that matches it.
#[derive(Default)]
pub(super) struct Matched {
    pub types: Vec<TypeDef>,
    pub values: Vec<Alias>,
    /// The module type's id, and the id by which it is known where the match is made.
    pub mods: Vec<(ModId, ModId)>,
    /// Parametric modules, seen through the module type. To be declared before the rest is used.
    pub functors: Vec<Rc<Dec>>,
    pub subst: Subst,
}

impl Checker<'_> {
    pub(super) fn match_module(&mut self, have: &Module, want: &ModType, span: Span) -> Res<Matched> {
        self.match_under(have, want, Subst::default(), span)
    }

    /// As [`Checker::match_module`], where some types of the module type have been found already.
    fn match_under(&mut self, have: &Module, want: &ModType, subst: Subst, span: Span) -> Res<Matched> {
        let mut matched = Matched { subst, ..Matched::default() };
        for a in &want.abstracts {
            let def = self.match_abstract(have, a, span)?;
            matched.subst.types.insert(a.id, type_fun(&def));
            matched.types.push(def);
        }
        pair_values(have, &want.module, &mut matched.subst);
        self.match_parts(have, &want.module, span, &mut Vec::new(), &mut matched)?;
        Ok(matched)
    }

    fn match_abstract(&mut self, have: &Module, want: &AbstractType, span: Span) -> Res<TypeDef> {
        let shown = show_path(&want.path);
        let Some(binding) = find_type(have, &want.path) else {
            return error(
                "missing-type",
                span,
                format!("Module does not define type \"{shown}\", but the module type requires it"),
            );
        };
        if param_kinds(&binding.params) != param_kinds(&want.params) {
            return error(
                "module-mismatch",
                span,
                format!(
                    "Module defines type \"{shown}\" with other parameters than the module type requires"
                ),
            );
        }
        let sized = if binding.exts.is_empty() { Liftedness::Unlifted } else { Liftedness::SizeLifted };
        let needed = crate::types::most_lifted(self.liftedness_of(&binding.ty), sized);
        let needed = crate::types::most_lifted(needed, binding.liftedness);
        if !lifts_to(needed, want.liftedness) {
            return fail(
                Diagnostic::error(
                    "module-mismatch",
                    span,
                    format!(
                        "Module defines type \"{shown}\" as a lifted type, but the module type requires it to be non-lifted"
                    ),
                )
                .help(format!("type {shown} = {}", self.cx.show_type(&binding.ty))),
            );
        }
        let constructive = constructive_sizes(&binding.ty);
        for param in &binding.params {
            if let TypeParamKind::Size(v) = param.kind
                && !constructive.contains(&v)
            {
                return fail(
                    Diagnostic::error(
                        "not-constructive",
                        span,
                        format!("Type \"{shown}\" cannot be abstract, because its size parameter \"{}\" is not used constructively", param.name),
                    )
                    .help("the size of some array in the type must be exactly that parameter"),
                );
            }
        }
        let indices = hides_indices(&self.cx, &binding.ty);
        if indices {
            self.cx.sealed_indices.insert(want.id);
        }
        if self.cx.number_params.contains(&want.id) {
            let inner = types_in(&binding.ty);
            self.cx.number_params.extend(inner);
        }
        if indices && self.cx.number_params.contains(&want.id) {
            return fail(
                Diagnostic::error(
                    "module-mismatch",
                    span,
                    format!("Type \"{shown}\" is computed with, so that it cannot be a type of indices"),
                )
                .help(format!("type {shown} = {}", self.cx.show_type(&binding.ty))),
            );
        }
        Ok(TypeDef {
            id: want.id,
            params: binding.params.clone(),
            exts: binding.exts.clone(),
            body: binding.ty.clone(),
            index: None,
        })
    }

    /// The abstract types of an applied parametric module hide index types if they did before, or if an argument may be what
    /// they hide.
    pub(super) fn seal_indices(&mut self, given: &[TypeDef], made: &[(TypeId, TypeId)]) {
        let any = given.iter().any(|def| hides_indices(&self.cx, &def.body));
        for (new, old) in made {
            if any || self.cx.sealed_indices.contains(old) {
                self.cx.sealed_indices.insert(*new);
            }
        }
    }

    fn match_parts(
        &mut self,
        have: &Module,
        want: &Module,
        span: Span,
        path: &mut Vec<Name>,
        matched: &mut Matched,
    ) -> Res<()> {
        match (have, want) {
            (Module::Poisoned, _) | (_, Module::Poisoned) => Err(Error::Silenced),
            (Module::Struct(have), Module::Struct(want)) => self.match_envs(have, want, span, path, matched),
            (Module::Functor(have), Module::Functor(want)) => {
                let dec = self.coerce_functor(have, want, &matched.subst.clone(), span)?;
                matched.functors.push(dec);
                matched.mods.push((want.id, want.id));
                Ok(())
            }
            (Module::Functor(_), Module::Struct(_)) => error(
                "module-mismatch",
                span,
                format!("A parametric module is given where a plain module is needed{}", at_path(path)),
            ),
            (Module::Struct(_), Module::Functor(_)) => error(
                "module-mismatch",
                span,
                format!("A plain module is given where a parametric module is needed{}", at_path(path)),
            ),
        }
    }

    fn match_envs(
        &mut self,
        have: &Env,
        want: &Env,
        span: Span,
        path: &mut Vec<Name>,
        matched: &mut Matched,
    ) -> Res<()> {
        for (name, want_type) in sorted(&want.types) {
            // Abstract types have been seen to already.
            let abstract_here =
                matches!(&want_type.ty, Type::Named { id, .. } if matched.subst.types.contains_key(id));
            if !abstract_here {
                self.match_abbreviation(have, *name, want_type, span, matched)?;
            }
        }
        let mut values: Vec<_> = want
            .values
            .iter()
            .filter_map(|(name, v)| match v {
                ValueBinding::Def(v) => Some((*v, *name)),
                ValueBinding::Intrinsic(_) | ValueBinding::Poisoned => None,
            })
            .collect();
        values.sort();
        for (var, name) in values {
            let alias = self.match_value(have, name, var, span, path, matched)?;
            matched.subst.vars.insert(var, alias.target);
            matched.values.push(alias);
        }
        for (name, want_module) in sorted(&want.modules) {
            let Some(have_module) = have.modules.get(name) else {
                return error(
                    "missing-module",
                    span,
                    format!("Module does not define module \"{name}\", but the module type requires it"),
                );
            };
            path.push(*name);
            self.match_parts(have_module, want_module, span, path, matched)?;
            path.pop();
        }
        Ok(())
    }

    fn match_abbreviation(
        &mut self,
        have: &Env,
        name: Name,
        want: &TypeBinding,
        span: Span,
        matched: &Matched,
    ) -> Res<()> {
        let Some(found) = have.types.get(&name).cloned() else {
            return error(
                "missing-type",
                span,
                format!("Module does not define type \"{name}\", but the module type requires it"),
            );
        };
        let wanted = matched.subst.ty(&want.ty);
        let same_params = param_kinds(&found.params) == param_kinds(&want.params);
        let args: Vec<TypeArg> = want.params.iter().map(super::rename::own_argument).collect();
        let given = Subst::instantiate(&found.params, &args).ty(&found.ty);
        let scheme = Scheme { params: Vec::new(), overloads: Vec::new(), ty: given.clone() };
        let same = same_params && found.exts.len() == want.exts.len() && {
            let mut open = Subst::default();
            for (a, b) in found.exts.iter().zip(&want.exts) {
                open.vars.insert(*b, *a);
            }
            self.match_types(&scheme, &open.ty(&wanted), Variance::Invariant).is_ok()
        };
        if same {
            return Ok(());
        }
        fail(Diagnostic::error(
            "module-mismatch",
            span,
            format!(
                "Module defines \"type {name} = {}\", but the module type requires \"type {name} = {}\"",
                self.cx.show_type(&given),
                self.cx.show_type(&wanted)
            ),
        ))
    }

    fn match_value(
        &mut self,
        have: &Env,
        name: Name,
        want: VarId,
        span: Span,
        path: &[Name],
        matched: &Matched,
    ) -> Res<Alias> {
        let want_scheme = self.cx.values[&want].scheme.clone();
        let target = match have.values.get(&name) {
            Some(ValueBinding::Def(v)) => *v,
            Some(ValueBinding::Poisoned) => return Err(Error::Silenced),
            Some(ValueBinding::Intrinsic(_)) | None => {
                return fail(
                    Diagnostic::error(
                        "missing-value",
                        span,
                        format!("Module does not define a value named \"{name}\"{}, but the module type requires it", at_path(path)),
                    )
                    .help(format!("val {name} {}", self.cx.show_scheme(&want_scheme))),
                );
            }
        };
        let have_scheme = self.cx.values[&target].scheme.clone();
        let mut subst = matched.subst.clone();
        let opener = Opener::new(self.cx.var_names());
        subst.opener = Some(opener.clone());
        let opened_type = subst.ty(&want_scheme.ty);
        let wanted = close_over(&opened_type, &opener.take(), &mut Vec::new(), |v| self.cx.var_name(v));
        let inst = self.match_types(&have_scheme, &wanted, Variance::Covariant).map_err(|why| {
            let shown = Scheme { ty: wanted.clone(), ..(*want_scheme).clone() };
            let mut d = Diagnostic::error(
                "module-mismatch",
                span,
                format!("Module type requires \"val {name} {}\"", self.cx.show_scheme(&shown)),
            )
            .help(format!("the module has \"val {name} {}\"", self.cx.show_scheme(&have_scheme)));
            if let Some(why) = why {
                d = d.help(why);
            }
            Error::from(d)
        })?;
        let alias = Alias { var: want, params: want_scheme.params.clone(), target, inst };
        self.cx.aliases.insert(want, alias.clone());
        Ok(alias)
    }

    /// Is a value of this scheme usable at this type? Gives the type arguments.
    fn match_types(
        &mut self,
        have: &Scheme,
        want: &Type,
        variance: Variance,
    ) -> Result<Vec<TypeArg>, Option<String>> {
        let types = crate::infer::match_scheme(&mut self.cx, &mut self.frames, have, want)?;
        let inst = crate::sizes::match_sizes(&mut self.cx, have, &types, want, variance)?;
        let given = Subst::instantiate(&have.params, &inst).ty(&have.ty);
        match uniqueness_fits(&given, want) {
            true => Ok(inst),
            false => Err(Some("they differ in what is consumed or unique".to_owned())),
        }
    }

    /// A parametric module of the type `want` that applies `have`.
    fn coerce_functor(
        &mut self,
        have: &FunctorType,
        want: &FunctorType,
        subst: &Subst,
        span: Span,
    ) -> Res<Rc<Dec>> {
        let given = self.match_module(&want.param.module, &have.param, span)?;
        let mut renamer = Renamer::new(&mut self.cx, given.subst);
        renamer.own_from = Some(have.first);
        for a in &have.result.abstracts {
            renamer.fresh_type(a);
        }
        let result = renamer.module(&have.result.module);
        let renamed = renamer.finish();
        self.seal_indices(&given.types, &renamed.types);
        let mut body = given.functors;
        body.push(Rc::new(Dec::Apply(Apply {
            functor: have.id,
            types: given.types,
            values: given.values,
            mods: given.mods,
            result_types: renamed.types,
            result_values: renamed.values,
            result_mods: renamed.mods,
            span,
        })));
        body.extend(renamed.functors);
        let seen = self.match_under(&result, &want.result, subst.clone(), span)?;
        body.extend(seen.types.into_iter().map(|t| Rc::new(Dec::Abstract(t))));
        body.extend(seen.functors);
        body.extend(seen.values.into_iter().map(|v| Rc::new(Dec::Alias(v))));
        Ok(Rc::new(Dec::Functor(Rc::new(Functor { id: want.id, body }))))
    }
}

/// Types may mention values as sizes, so all values are paired before any type is looked at.
fn pair_values(have: &Module, want: &Module, subst: &mut Subst) {
    let (Module::Struct(have), Module::Struct(want)) = (have, want) else { return };
    for (name, value) in &want.values {
        if let (ValueBinding::Def(w), Some(ValueBinding::Def(h))) = (value, have.values.get(name)) {
            subst.vars.insert(*w, *h);
        }
    }
    for (name, inner) in &want.modules {
        if let Some(have_inner) = have.modules.get(name) {
            pair_values(have_inner, inner, subst);
        }
    }
}

fn sorted<V>(map: &std::collections::HashMap<Name, V>) -> Vec<(&Name, &V)> {
    let mut items: Vec<_> = map.iter().collect();
    items.sort_by_key(|(name, _)| **name);
    items
}

fn find_type(module: &Module, path: &[Name]) -> Option<Rc<TypeBinding>> {
    let Module::Struct(env) = module else { return None };
    match path {
        [] => None,
        [name] => env.types.get(name).cloned(),
        [first, rest @ ..] => find_type(env.modules.get(first)?, rest),
    }
}

fn param_kinds(params: &[TypeParam]) -> Vec<bool> {
    params.iter().map(|p| matches!(p.kind, TypeParamKind::Size(_))).collect()
}

fn show_path(path: &[Name]) -> String {
    path.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(".")
}

fn at_path(path: &[Name]) -> String {
    if path.is_empty() { String::new() } else { format!(" in \"{}\"", show_path(path)) }
}

/// A function may consume no more than its specification says, and must be as free of aliases.
fn uniqueness_fits(have: &Type, want: &Type) -> bool {
    match (have, want) {
        (Type::Arrow(h), Type::Arrow(w)) => consumes_no_more(&h.from, &w.from) && result_fits(&h.to, &w.to),
        _ => true,
    }
}

fn result_fits(have: &RetType, want: &RetType) -> bool {
    match (&have.ty, &want.ty) {
        (Type::Arrow(_), Type::Arrow(_)) => uniqueness_fits(&have.ty, &want.ty),
        // A result is as unique as any part of it.
        (h, w) => !has_unique_part(w) || has_unique_part(h),
    }
}

fn has_unique_part(ty: &Type) -> bool {
    match ty {
        Type::Array { unique, .. } | Type::Named { unique, .. } => *unique,
        Type::Record(fields) => fields.iter().any(|(_, t)| has_unique_part(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(has_unique_part)),
        Type::Prim(_) | Type::Arrow(_) | Type::Meta(_) => false,
    }
}

/// Is everything that is unique in `a` unique in `b`?
fn consumes_no_more(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Array { unique: x, .. }, Type::Array { unique: y, .. })
        | (Type::Named { unique: x, .. }, Type::Named { unique: y, .. }) => !x || *y,
        (Type::Record(xs), Type::Record(ys)) => {
            xs.iter().zip(ys.iter()).all(|((_, x), (_, y))| consumes_no_more(x, y))
        }
        (Type::Sum(xs), Type::Sum(ys)) => xs
            .iter()
            .zip(ys.iter())
            .all(|((_, xs), (_, ys))| xs.iter().zip(ys).all(|(x, y)| consumes_no_more(x, y))),
        _ => true,
    }
}
