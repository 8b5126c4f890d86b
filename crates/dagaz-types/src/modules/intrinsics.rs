//! The module of intrinsics, from the module type that describes it.

use std::rc::Rc;

use dagaz_syntax::Name;
use dagaz_syntax::ast::{AttrKind, DecKind, ModTypeExpKind, Program, SpecKind};

use super::Checker;
use crate::context::Res;
use crate::env::{Env, ValueBinding};
use crate::types::{Overload, Type, TypeParamKind};

impl Checker<'_> {
    /// What `prelude/intrinsics.fut` specifies. Problems in it are reported like a user's.
    pub(super) fn intrinsics(&mut self, program: &Program) -> Env {
        let mut env = Env::default();
        for dec in &program.decs {
            let DecKind::ModuleType { body, .. } = &dec.kind else { continue };
            let ModTypeExpKind::Specs(specs) = &body.kind else { continue };
            self.frames.push(Env::default());
            for spec in specs {
                if let Err(e) = self.intrinsic(spec, &mut env) {
                    self.cx.report(e);
                }
            }
            self.frames.pop();
        }
        env
    }

    fn intrinsic(&mut self, spec: &dagaz_syntax::ast::Spec, env: &mut Env) -> Res<()> {
        match &spec.kind {
            SpecKind::Val { name, type_params, ty } => {
                let mut scheme = self.value_scheme(type_params, ty)?;
                scheme.overloads = overloads(&spec.attrs);
                for param in &scheme.params {
                    let TypeParamKind::Type(id, _) = param.kind else { continue };
                    if names_param(&spec.attrs, "index", param.name) {
                        self.cx.index_params.insert(id);
                    }
                    if names_param(&spec.attrs, "vector", param.name) {
                        self.cx.number_params.insert(id);
                    }
                }
                self.cx.intrinsics.insert(name.name, Rc::new(scheme));
                let binding = ValueBinding::Intrinsic(name.name);
                if let Some(frame) = self.frames.last_mut() {
                    frame.values.insert(name.name, binding);
                }
                env.values.insert(name.name, binding);
            }
            SpecKind::Type { name, liftedness, params, .. } => {
                let (binding, _) = self.abstract_type(*name, *liftedness, params)?;
                let binding = Rc::new(binding);
                if let Type::Named { id, .. } = &binding.ty {
                    match name.name.as_str() {
                        "state" => self.cx.references.state = Some(*id),
                        "accum" => self.cx.references.accum = Some(*id),
                        _ => {}
                    }
                }
                if let Some(frame) = self.frames.last_mut() {
                    frame.types.insert(name.name, binding.clone());
                }
                env.types.insert(name.name, binding);
            }
            SpecKind::Module { .. } | SpecKind::Include(_) => {}
        }
        Ok(())
    }
}

/// Whether an attribute says something of a type parameter: `#[index(k)]` of `'k`.
fn names_param(attrs: &[dagaz_syntax::ast::Attr], what: &str, param: Name) -> bool {
    attrs.iter().any(|attr| match &attr.kind {
        AttrKind::Compound(name, args) if name.as_str() == what => {
            args.iter().any(|arg| matches!(&arg.kind, AttrKind::Name(name) if *name == param))
        }
        AttrKind::Compound(..) | AttrKind::Name(_) | AttrKind::Int(_) => false,
    })
}

fn overloads(attrs: &[dagaz_syntax::ast::Attr]) -> Vec<Option<Overload>> {
    let class = |kind: &AttrKind| match kind {
        AttrKind::Name(name) => match name.as_str() {
            "numeric" => Some(Overload::Numeric),
            "integral" => Some(Overload::Integral),
            "float" => Some(Overload::Float),
            "prim" => Some(Overload::Prim),
            "bits" => Some(Overload::Bits),
            "equality" => Some(Overload::Equality),
            _ => None,
        },
        AttrKind::Int(_) | AttrKind::Compound(..) => None,
    };
    attrs
        .iter()
        .find_map(|a| match &a.kind {
            AttrKind::Compound(name, args) if name.as_str() == "overload" => {
                Some(args.iter().map(|a| class(&a.kind)).collect())
            }
            AttrKind::Compound(..) | AttrKind::Name(_) | AttrKind::Int(_) => None,
        })
        .unwrap_or_default()
}
