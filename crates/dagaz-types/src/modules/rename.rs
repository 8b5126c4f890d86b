//! Fresh copies of modules: for every use of a module type, and for the result of applying a parametric module.

use std::collections::HashMap;
use std::rc::Rc;

use crate::context::{Context, ValueInfo};
use crate::env::{AbstractType, Env, FunctorType, ModType, Module, TypeBinding, ValueBinding};
use crate::subst::{Opener, Subst, TypeFun, close_over};
use crate::typed::{Alias, Apply, Dec, Functor, TypeDef};
use crate::types::{ModId, Scheme, Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId};

/// What was renamed: pairs of the new id and the old one.
#[derive(Default)]
pub(super) struct Renamed {
    pub types: Vec<(TypeId, TypeId)>,
    pub values: Vec<(VarId, VarId)>,
    pub mods: Vec<(ModId, ModId)>,
    /// Parametric modules in terms of the new ids, for the ones in `mods`.
    pub functors: Vec<Rc<Dec>>,
}

/// Copies modules, giving every value, abstract type and parametric module in them a new id.
pub(super) struct Renamer<'a> {
    cx: &'a mut Context,
    subst: Subst,
    renamed: Renamed,
    done: HashMap<VarId, VarId>,
    /// Sizes of constants are values that no name refers to. They are copied if they were made after this one.
    pub own_from: Option<VarId>,
}

impl<'a> Renamer<'a> {
    pub fn new(cx: &'a mut Context, mut subst: Subst) -> Renamer<'a> {
        subst.opener = Some(Opener::new(cx.var_names()));
        Renamer { cx, subst, renamed: Renamed::default(), done: HashMap::new(), own_from: None }
    }

    pub fn finish(self) -> Renamed {
        self.renamed
    }

    pub fn fresh_type(&mut self, old: &AbstractType) -> TypeId {
        let new = self.cx.fresh_type(self.cx.type_name(old.id));
        self.cx.liftedness.insert(new, old.liftedness);
        if let Some(params) = self.cx.type_params.get(&old.id).cloned() {
            self.cx.type_params.insert(new, params);
        }
        self.renamed.types.push((new, old.id));
        // `old a b` becomes `new a b`, whatever its parameters are.
        self.subst.renamed_types.insert(old.id, new);
        new
    }

    pub fn module(&mut self, module: &Module) -> Module {
        self.fresh_values(module);
        self.copy(module)
    }

    /// Make ids for all values first: types may mention any of them as sizes.
    fn fresh_values(&mut self, module: &Module) {
        let Module::Struct(env) = module else { return };
        // In the order of definition, so that the same program always gets the same ids.
        let mut values: Vec<VarId> = env
            .values
            .values()
            .filter_map(|value| match value {
                ValueBinding::Def(old) => Some(*old),
                ValueBinding::Intrinsic(_) | ValueBinding::Poisoned => None,
            })
            .collect();
        values.sort();
        for old in values {
            self.fresh_value(old);
            if let Some(info) = self.cx.values.get(&old).cloned() {
                self.fresh_sizes(&info.scheme);
            }
        }
        let mut inner: Vec<_> = env.modules.iter().collect();
        inner.sort_by_key(|(name, _)| **name);
        for (_, module) in inner {
            self.fresh_values(module);
        }
    }

    fn fresh_value(&mut self, old: VarId) {
        if self.done.contains_key(&old) || !self.cx.values.contains_key(&old) {
            return;
        }
        let new = self.cx.fresh_var(self.cx.var_name(old));
        self.renamed.values.push((new, old));
        self.done.insert(old, new);
        self.subst.vars.insert(old, new);
    }

    fn copy(&mut self, module: &Module) -> Module {
        match module {
            Module::Struct(env) => Module::Struct(Rc::new(self.env(env))),
            Module::Functor(functor) => Module::Functor(self.functor(functor)),
            Module::Poisoned => Module::Poisoned,
        }
    }

    fn env(&mut self, env: &Env) -> Env {
        let mut result = Env::default();
        for (name, value) in &env.values {
            let value = match value {
                ValueBinding::Def(v) => ValueBinding::Def(self.value(*v)),
                ValueBinding::Intrinsic(_) | ValueBinding::Poisoned => *value,
            };
            result.values.insert(*name, value);
        }
        for (name, ty) in &env.types {
            result.types.insert(*name, Rc::new(self.type_binding(ty)));
        }
        for (name, module) in &env.modules {
            let module = self.copy(module);
            result.modules.insert(*name, module);
        }
        for (name, mod_type) in &env.mod_types {
            result.mod_types.insert(*name, Rc::new(self.inner_mod_type(mod_type)));
        }
        result
    }

    /// A copy of a value: a new id of the substituted type.
    fn value(&mut self, old: VarId) -> VarId {
        let Some(new) = self.done.get(&old).copied() else { return old };
        let Some(info) = self.cx.values.get(&old).cloned() else { return old };
        let mut params = info.scheme.params.clone();
        let ty = self.subst.ty(&info.scheme.ty);
        let opened = self.subst.opener.as_ref().map(Opener::take).unwrap_or_default();
        let ty = close_over(&ty, &opened, &mut params, |v| self.cx.var_name(v));
        let scheme = Scheme { params, overloads: info.scheme.overloads.clone(), ty };
        self.cx.values.insert(new, ValueInfo { name: info.name, scheme: Rc::new(scheme), span: info.span });
        new
    }

    /// Make ids for the sizes of constants that occur in a type, too.
    fn fresh_sizes(&mut self, scheme: &Scheme) {
        for v in scheme.ty.size_vars() {
            let bound = scheme.params.iter().any(|p| p.kind == TypeParamKind::Size(v));
            let own = self.own_from.is_some_and(|first| v > first) && !self.subst.vars.contains_key(&v);
            if !bound && own && self.cx.values.contains_key(&v) {
                self.fresh_value(v);
                self.value(v);
            }
        }
    }

    fn type_binding(&mut self, ty: &TypeBinding) -> TypeBinding {
        let new = self.subst.ty(&ty.ty);
        let mut exts = ty.exts.clone();
        exts.extend(self.subst.opener.as_ref().map(Opener::take).unwrap_or_default());
        TypeBinding { params: ty.params.clone(), liftedness: ty.liftedness, exts, ty: new }
    }

    /// A module type inside a module: its ids are its own, so they are not exported.
    fn inner_mod_type(&mut self, mod_type: &ModType) -> ModType {
        let mut inner = Renamer::new(self.cx, self.subst.clone());
        inner.mod_type(mod_type)
    }

    pub fn mod_type(&mut self, mod_type: &ModType) -> ModType {
        let abstracts = mod_type
            .abstracts
            .iter()
            .map(|a| AbstractType {
                id: self.fresh_type(a),
                path: a.path.clone(),
                params: a.params.clone(),
                liftedness: a.liftedness,
            })
            .collect();
        ModType { abstracts, module: self.module(&mod_type.module) }
    }

    /// A parametric module under new ids. The declaration that makes it applies the old one, which is known as
    /// `outside` once the renamed module is there.
    fn functor(&mut self, old: &FunctorType) -> Rc<FunctorType> {
        let outside = self.cx.fresh_mod();
        self.renamed.mods.push((outside, old.id));
        let mut inner = Renamer::new(self.cx, self.subst.clone());
        let param = inner.mod_type(&old.param);
        let param_renamed = std::mem::take(&mut inner.renamed);
        let result = inner.mod_type(&old.result);
        let result_renamed = inner.finish();
        let id = self.cx.fresh_mod();
        let apply = Apply {
            functor: outside,
            types: param_renamed.types.iter().map(|(new, old)| self.type_alias(*old, *new)).collect(),
            values: param_renamed.values.iter().map(|(new, old)| self.value_alias(*old, *new)).collect(),
            mods: param_renamed.mods.iter().map(|(new, old)| (*old, *new)).collect(),
            result_types: result_renamed.types,
            result_values: result_renamed.values,
            result_mods: result_renamed.mods,
            span: dagaz_syntax::Span::NONE,
        };
        let mut body = param_renamed.functors;
        body.push(Rc::new(Dec::Apply(apply)));
        body.extend(result_renamed.functors);
        self.renamed.functors.push(Rc::new(Dec::Functor(Rc::new(Functor { id, body }))));
        Rc::new(FunctorType { id, first: old.first, param, result })
    }

    /// `type old params = new params`
    fn type_alias(&self, old: TypeId, new: TypeId) -> TypeDef {
        let params = self.cx.type_params.get(&new).cloned().unwrap_or_default();
        let args = params.iter().map(own_argument).collect();
        let body = Type::Named { unique: false, id: new, args };
        TypeDef { id: old, params, exts: Vec::new(), body, index: None }
    }

    /// `old` is `new`, at the same type arguments.
    fn value_alias(&self, old: VarId, new: VarId) -> Alias {
        let params = self.cx.values.get(&new).map_or_else(Vec::new, |i| i.scheme.params.clone());
        let inst = params.iter().map(own_argument).collect();
        Alias { var: old, params, target: new, inst }
    }
}

/// A type parameter as an argument for itself.
pub(super) fn own_argument(p: &TypeParam) -> TypeArg {
    match p.kind {
        TypeParamKind::Size(v) => TypeArg::Size(crate::types::Size::Var(v)),
        TypeParamKind::Type(id, _) => TypeArg::Type(Type::Named { unique: false, id, args: [].into() }),
    }
}

/// What a type definition means when substituted.
pub(super) fn type_fun(def: &TypeDef) -> TypeFun {
    TypeFun { params: def.params.clone(), exts: def.exts.clone(), body: def.body.clone() }
}
