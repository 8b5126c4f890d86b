//! Module expressions.

use std::rc::Rc;

use dagaz_syntax::ast::{ModBind, ModExp, ModExpKind, ModParam, ModTypeExp};
use dagaz_syntax::{Diagnostic, Span};

use super::Checker;
use super::rename::{Renamer, own_argument};
use crate::Role;
use crate::context::{Error, Res, error, fail};
use crate::env::{AbstractType, Env, FunctorType, ModType, Module};
use crate::infer::lookup_module;
use crate::typed::{Alias, Apply, Dec, Functor};
use crate::types::Liftedness;

impl Checker<'_> {
    pub(super) fn module_binding(&mut self, bind: &ModBind) -> Res<Module> {
        self.parametric(&bind.params, bind.sig.as_ref(), &bind.body)
    }

    /// `\params : sig -> body`
    fn parametric(&mut self, params: &[ModParam], sig: Option<&ModTypeExp>, body: &ModExp) -> Res<Module> {
        let Some((first, rest)) = params.split_first() else {
            let module = self.mod_exp(body)?;
            return match sig {
                Some(sig) => self.ascribe(&module, sig, body.span),
                None => Ok(module),
            };
        };
        let param = self.mod_type(&first.ty)?;
        self.functor(first, param, |checker| checker.parametric(rest, sig, body))
    }

    fn functor(
        &mut self,
        param: &ModParam,
        ty: ModType,
        body: impl FnOnce(&mut Self) -> Res<Module>,
    ) -> Res<Module> {
        let first = self.cx.fresh_var(param.name.name);
        let outer_decs = std::mem::take(&mut self.decs);
        let outer_generative = std::mem::take(&mut self.generative);
        let mut frame = Env::default();
        frame.bind_module(param.name.name, ty.module.clone());
        self.frames.push(frame);
        self.depth += 1;
        self.functors += 1;
        let result = body(self);
        self.functors -= 1;
        self.depth -= 1;
        self.frames.pop();
        let decs = std::mem::replace(&mut self.decs, outer_decs);
        let made = std::mem::replace(&mut self.generative, outer_generative);
        let result = result?;
        let id = self.cx.fresh_mod();
        self.decs.push(Rc::new(Dec::Functor(Rc::new(Functor { id, body: decs }))));
        let abstracts = made
            .into_iter()
            .map(|id| AbstractType {
                id,
                path: Vec::new(),
                params: Vec::new(),
                liftedness: self.cx.liftedness.get(&id).copied().unwrap_or(Liftedness::Unlifted),
            })
            .collect();
        Ok(Module::Functor(Rc::new(FunctorType {
            id,
            first,
            param: ty,
            result: ModType { abstracts, module: result },
        })))
    }

    pub(super) fn mod_exp(&mut self, e: &ModExp) -> Res<Module> {
        match &e.kind {
            ModExpKind::Var(name)
                if name.quals.is_empty()
                    && name.name.as_str() == "intrinsics"
                    && matches!(self.unit.role, Role::Import | Role::Main) =>
            {
                error("intrinsics", e.span, "The 'intrinsics' module may not be used in module expressions")
            }
            ModExpKind::Var(name) => match lookup_module(&self.frames, name)? {
                Module::Poisoned => Err(Error::Silenced),
                module => Ok(module),
            },
            ModExpKind::Paren(inner) => self.mod_exp(inner),
            ModExpKind::Decs(decs) => {
                self.depth += 1;
                let env = self.declarations(decs);
                self.depth -= 1;
                Ok(Module::Struct(Rc::new(env)))
            }
            ModExpKind::Import { path, path_span } => Ok(Module::Struct(self.import(path, *path_span)?)),
            ModExpKind::Ascript(inner, sig) => {
                let module = self.mod_exp(inner)?;
                self.ascribe(&module, sig, inner.span)
            }
            ModExpKind::Lambda { param, sig, body } => {
                let ty = self.mod_type(&param.ty)?;
                self.functor(param, ty, |checker| checker.parametric(&[], sig.as_ref(), body))
            }
            ModExpKind::Apply(fun, arg) => {
                let fun_module = self.mod_exp(fun)?;
                let arg_module = self.mod_exp(arg)?;
                self.apply(&fun_module, &arg_module, fun.span, arg.span, e.span)
            }
        }
    }

    fn ascribe(&mut self, module: &Module, sig: &ModTypeExp, span: Span) -> Res<Module> {
        // A fresh copy: every ascription makes abstract types of its own.
        let sig = self.mod_type(sig)?;
        let matched = self.match_module(module, &sig, span)?;
        self.generative.extend(sig.abstracts.iter().map(|a| a.id));
        for ty in matched.types {
            self.decs.push(Rc::new(Dec::Abstract(ty)));
        }
        for alias in matched.values {
            self.decs.push(Rc::new(Dec::Alias(alias)));
        }
        self.decs.extend(matched.functors);
        Ok(sig.module)
    }

    fn apply(
        &mut self,
        fun: &Module,
        arg: &Module,
        fun_span: Span,
        arg_span: Span,
        span: Span,
    ) -> Res<Module> {
        let functor = match fun {
            Module::Functor(functor) => functor.clone(),
            Module::Struct(_) => {
                return fail(Diagnostic::error(
                    "not-a-parametric-module",
                    fun_span,
                    "Cannot apply this module: it is not a parametric module",
                ));
            }
            Module::Poisoned => return Err(Error::Silenced),
        };
        let matched = self.match_module(arg, &functor.param, arg_span)?;
        let mut renamer = Renamer::new(&mut self.cx, matched.subst);
        renamer.own_from = Some(functor.first);
        for a in &functor.result.abstracts {
            renamer.fresh_type(a);
        }
        let module = renamer.module(&functor.result.module);
        let renamed = renamer.finish();
        self.seal_indices(&matched.types, &renamed.types);
        self.generative.extend(renamed.types.iter().map(|(new, _)| *new));
        for (new, inside) in &renamed.values {
            let params = self.cx.values.get(new).map_or_else(Vec::new, |info| info.scheme.params.clone());
            let inst = params.iter().map(own_argument).collect();
            self.cx.aliases.insert(*new, Alias { var: *new, params, target: *inside, inst });
        }
        // Coerced functors of the argument have ids of the parameter already.
        self.decs.extend(matched.functors);
        self.decs.push(Rc::new(Dec::Apply(Apply {
            functor: functor.id,
            types: matched.types,
            values: matched.values,
            mods: matched.mods,
            result_types: renamed.types,
            result_values: renamed.values,
            result_mods: renamed.mods,
            span,
        })));
        self.decs.extend(renamed.functors);
        Ok(module)
    }
}
