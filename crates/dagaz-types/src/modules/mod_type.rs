//! Module types and specifications.

use std::rc::Rc;

use dagaz_syntax::ast::{
    Ident, Liftedness, ModTypeExp, ModTypeExpKind, QualName, Spec, SpecKind, TypeExp, TypeParam as SynParam,
};
use dagaz_syntax::{Diagnostic, Name};

use super::Checker;
use super::rename::{Renamer, own_argument};
use crate::context::{Res, ValueInfo, error, fail};
use crate::env::{AbstractType, Env, FunctorType, ModType, Module, TypeBinding, ValueBinding};
use crate::infer::{check_distinct, infer_type, lookup_mod_type};
use crate::sizes::size_type;
use crate::subst::{Subst, TypeFun};
use crate::types::{RetType, Scheme, Type, TypeParam, TypeParamKind, VarId};

impl Checker<'_> {
    /// A module type with ids of its own.
    pub(super) fn mod_type(&mut self, e: &ModTypeExp) -> Res<ModType> {
        match &e.kind {
            ModTypeExpKind::Var(name) => {
                let found = lookup_mod_type(&self.frames, name)?;
                Ok(Renamer::new(&mut self.cx, Subst::default()).mod_type(&found))
            }
            ModTypeExpKind::Paren(inner) => self.mod_type(inner),
            ModTypeExpKind::Specs(specs) => self.specs(specs),
            ModTypeExpKind::With { base, name, params, ty } => {
                let base = self.mod_type(base)?;
                self.refine(base, name, params, ty)
            }
            ModTypeExpKind::Arrow { param, from, to } => {
                let from = self.mod_type(from)?;
                let mut frame = Env::default();
                if let Some(param) = param {
                    frame.bind_module(param.name, from.module.clone());
                }
                self.frames.push(frame);
                let to = self.mod_type(to);
                self.frames.pop();
                let first = self.cx.fresh_var(Name::new("first"));
                let functor = FunctorType { id: self.cx.fresh_mod(), first, param: from, result: to? };
                Ok(ModType { abstracts: Vec::new(), module: Module::Functor(Rc::new(functor)) })
            }
        }
    }

    fn specs(&mut self, specs: &[Spec]) -> Res<ModType> {
        // A name may be specified again after an `include`, but not twice here.
        let names =
            |wanted: fn(&SpecKind) -> Option<Ident>| specs.iter().filter_map(move |s| wanted(&s.kind));
        check_distinct(
            "specification of value",
            names(|s| if let SpecKind::Val { name, .. } = s { Some(*name) } else { None }),
        )?;
        check_distinct(
            "specification of type",
            names(|s| if let SpecKind::Type { name, .. } = s { Some(*name) } else { None }),
        )?;
        check_distinct(
            "specification of module",
            names(|s| if let SpecKind::Module { name, .. } = s { Some(*name) } else { None }),
        )?;
        self.frames.push(Env::default());
        let mut env = Env::default();
        let mut abstracts = Vec::new();
        let result = specs.iter().try_for_each(|spec| {
            let mut new = Env::default();
            self.spec(spec, &mut new, &mut abstracts)?;
            if let SpecKind::Include(inner) = &spec.kind {
                for name in new.types.keys().filter(|n| env.types.contains_key(n)) {
                    self.cx.warn(Diagnostic::warning(
                        "shadowed-type",
                        inner.span,
                        format!("Inclusion shadows type \"{name}\""),
                    ));
                }
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.extend(&new);
            }
            env.extend(&new);
            Ok(())
        });
        self.frames.pop();
        result.map(|()| ModType { abstracts, module: Module::Struct(Rc::new(env)) })
    }

    fn spec(&mut self, spec: &Spec, env: &mut Env, abstracts: &mut Vec<AbstractType>) -> Res<()> {
        match &spec.kind {
            SpecKind::Val { name, type_params, ty } => {
                let scheme = self.value_scheme(type_params, ty)?;
                let var = self.cx.fresh_var(name.name);
                let info = ValueInfo { name: name.name, scheme: Rc::new(scheme), span: name.span };
                self.cx.values.insert(var, info);
                env.bind_value(name.name, ValueBinding::Def(var));
            }
            SpecKind::Type { name, liftedness, params, body } => {
                let binding = match body {
                    None => {
                        let (binding, abstract_type) = self.abstract_type(*name, *liftedness, params)?;
                        abstracts.push(abstract_type);
                        binding
                    }
                    Some(body) => {
                        let (params, ret) = self.type_expression(params, body)?;
                        TypeBinding { params, liftedness: *liftedness, exts: ret.exts, ty: ret.ty }
                    }
                };
                env.types.insert(name.name, Rc::new(binding));
            }
            SpecKind::Module { name, ty } => {
                let inner = self.mod_type(ty)?;
                abstracts.extend(inner.abstracts.into_iter().map(|mut a| {
                    a.path.insert(0, name.name);
                    a
                }));
                env.bind_module(name.name, inner.module);
            }
            SpecKind::Include(inner) => {
                let inner_type = self.mod_type(inner)?;
                let Module::Struct(inner_env) = &inner_type.module else {
                    return error(
                        "parametric-module",
                        inner.span,
                        "A parametric module type cannot be included",
                    );
                };
                abstracts.extend(inner_type.abstracts);
                env.extend(inner_env);
            }
        }
        Ok(())
    }

    /// A type expression outside of any definition.
    pub(super) fn type_expression(
        &mut self,
        params: &[SynParam],
        te: &TypeExp,
    ) -> Res<(Vec<TypeParam>, RetType)> {
        let (params, notes) = infer_type(&mut self.cx, &mut self.frames, params, te)?;
        let ret = size_type(&mut self.cx, notes, te, &params)?;
        Ok((params, ret))
    }

    pub(super) fn value_scheme(&mut self, type_params: &[SynParam], te: &TypeExp) -> Res<Scheme> {
        let (params, ret) = self.type_expression(type_params, te)?;
        // Open sizes to the left of an arrow have no value to be read from.
        let mut left = Vec::new();
        sizes_left_of_arrows(&ret.ty, &mut left);
        if ret.exts.iter().any(|v| left.contains(v)) {
            return fail(
                Diagnostic::error("anonymous-size", te.span, "Anonymous sizes are not allowed in parameter types of a value specification: all sizes there must be non-anonymous")
                    .help("name the size: val f [n] : [n]t -> t"),
            );
        }
        for (syntax, param) in type_params.iter().zip(&params) {
            if let TypeParamKind::Size(v) = param.kind
                && !ret.ty.size_vars().contains(&v)
            {
                return error(
                    "unused-size-parameter",
                    syntax.name.span,
                    format!("The size parameter \"{}\" is not used in the type", param.name),
                );
            }
        }
        let overloads = Vec::new();
        Ok(Scheme { params, overloads, ty: ret.ty })
    }

    pub(super) fn abstract_type(
        &mut self,
        name: Ident,
        liftedness: Liftedness,
        params: &[SynParam],
    ) -> Res<(TypeBinding, AbstractType)> {
        let params: Vec<TypeParam> = params
            .iter()
            .map(|p| {
                use dagaz_syntax::ast::TypeParamKind as Syntax;
                let kind = match p.kind {
                    Syntax::Size => TypeParamKind::Size(self.cx.fresh_var(p.name.name)),
                    Syntax::Type(l) => TypeParamKind::Type(self.cx.fresh_type(p.name.name), l),
                };
                TypeParam { name: p.name.name, kind }
            })
            .collect();
        let id = self.cx.fresh_type(name.name);
        self.cx.liftedness.insert(id, liftedness);
        self.cx.type_params.insert(id, params.clone());
        let args = params.iter().map(own_argument).collect();
        let ty = Type::Named { unique: false, id, args };
        let binding = TypeBinding { params: params.clone(), liftedness, exts: Vec::new(), ty };
        Ok((binding, AbstractType { id, path: vec![name.name], params, liftedness }))
    }

    /// `base with name params = ty`
    fn refine(
        &mut self,
        mut base: ModType,
        name: &QualName,
        params: &[SynParam],
        te: &TypeExp,
    ) -> Res<ModType> {
        let path: Vec<Name> = name.quals.iter().map(|q| q.name).chain([name.name]).collect();
        let Some(at) = base.abstracts.iter().position(|a| a.path == path) else {
            return error(
                "cannot-refine",
                name.span,
                format!("\"{}\" is not an abstract type in the module type", name.name),
            );
        };
        let (params, ret) = self.type_expression(params, te)?;
        let target = base.abstracts.remove(at);
        let kinds = |ps: &[TypeParam]| {
            ps.iter().map(|p| matches!(p.kind, TypeParamKind::Size(_))).collect::<Vec<_>>()
        };
        if kinds(&params) != kinds(&target.params) {
            return error(
                "cannot-refine",
                name.span,
                format!(
                    "Cannot refine a type having {} parameters with a type having {} parameters, or of another kind",
                    target.params.len(),
                    params.len()
                ),
            );
        }
        if ret.ty.has_function() && target.liftedness != Liftedness::Lifted {
            return error(
                "lifted-type",
                te.span,
                "Cannot refine a non-lifted type with a type that contains functions",
            );
        }
        let mut subst = Subst::default();
        subst.types.insert(target.id, TypeFun { params, exts: ret.exts, body: ret.ty });
        Ok(Renamer::new(&mut self.cx, subst).mod_type(&base))
    }
}

fn sizes_left_of_arrows(ty: &Type, vars: &mut Vec<VarId>) {
    if let Type::Arrow(arrow) = ty {
        vars.extend(arrow.from.size_vars());
        sizes_left_of_arrows(&arrow.to.ty, vars);
    }
}
