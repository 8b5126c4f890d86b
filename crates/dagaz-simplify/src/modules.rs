//! Declarations: definitions become closures over the environment of their module, and the body of a parametric
//! module is run once for each application.

use std::cell::RefCell;
use std::rc::Rc;

use dagaz_types::typed::{Alias, Apply, Dec, TypeDef};

use crate::context::{Res, Simplifier};
use crate::shape::mentions_sizes;
use crate::value::{
    AliasInst, ConstState, DefInst, Env, FunctorInst, Origin, SVal, TypeBinding, TypeClosure,
};

impl Simplifier<'_> {
    pub fn declare(&mut self, env: &mut Env, decs: &[Rc<Dec>]) -> Res<()> {
        for dec in decs {
            match dec.as_ref() {
                Dec::Def(def) => {
                    let inst = DefInst {
                        origin: Origin::Global(self.fresh_id()),
                        def: def.clone(),
                        env: env.clone(),
                        value: RefCell::new(ConstState::Unused),
                    };
                    let inst = Rc::new(inst);
                    if def.params.is_empty() && def.type_params.is_empty() {
                        // A function has no shape that would tell sizes: those wait for its arguments.
                        let has_shape = mentions_sizes(&def.ret.ty);
                        for size in &def.ret.exts {
                            let value = match has_shape {
                                true => SVal::SizeOf(inst.clone(), *size),
                                false => SVal::UnboundSize(*size),
                            };
                            env.vars.insert(*size, value);
                        }
                    }
                    env.vars.insert(def.var, SVal::Def(inst));
                }
                Dec::Alias(alias) => {
                    let value = self.alias(alias, env.clone());
                    env.vars.insert(alias.var, value);
                }
                Dec::Abstract(def) => {
                    let binding = self.type_closure(def, env.clone());
                    env.types.insert(def.id, binding);
                }
                Dec::Functor(functor) => {
                    let inst = FunctorInst { functor: functor.clone(), env: env.clone() };
                    env.mods.insert(functor.id, Rc::new(inst));
                }
                Dec::Apply(apply) => self.apply_functor(env, apply)?,
            }
        }
        Ok(())
    }

    fn alias(&mut self, alias: &Alias, env: Env) -> SVal {
        SVal::Alias(Rc::new(AliasInst { id: self.fresh_id(), alias: alias.clone(), env }))
    }

    fn type_closure(&mut self, def: &TypeDef, env: Env) -> TypeBinding {
        let (params, body) = (def.params.clone(), def.body.clone());
        TypeBinding::Closure(Rc::new(TypeClosure {
            id: self.fresh_id(),
            params,
            body,
            env,
            index: def.index,
        }))
    }

    fn apply_functor(&mut self, env: &mut Env, apply: &Apply) -> Res<()> {
        self.at(apply.span);
        let Some(functor) = env.mods.get(&apply.functor).cloned() else {
            return self.bug("a parametric module without a definition");
        };
        let mut inner = functor.env.clone();
        for def in &apply.types {
            let binding = self.type_closure(def, env.clone());
            inner.types.insert(def.id, binding);
        }
        for alias in &apply.values {
            let value = self.alias(alias, env.clone());
            inner.vars.insert(alias.var, value);
        }
        for (param, arg) in &apply.mods {
            match env.mods.get(arg) {
                Some(module) => drop(inner.mods.insert(*param, module.clone())),
                None => return self.bug("a parametric module without a definition"),
            }
        }
        self.declare(&mut inner, &functor.functor.body)?;
        for (new, inside) in &apply.result_types {
            if let Some(binding) = inner.types.get(inside) {
                env.types.insert(*new, binding.clone());
            }
        }
        for (new, inside) in &apply.result_values {
            match inner.vars.get(inside) {
                Some(value) => drop(env.vars.insert(*new, value.clone())),
                None => return self.bug("a module that lacks a value"),
            }
        }
        for (new, inside) in &apply.result_mods {
            match inner.mods.get(inside) {
                Some(module) => drop(env.mods.insert(*new, module.clone())),
                None => return self.bug("a module that lacks a parametric module"),
            }
        }
        Ok(())
    }
}
