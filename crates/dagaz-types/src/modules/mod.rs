//! Files, declarations, modules and module types.
//!
//! Modules disappear here: a module is an environment that maps names to ids, and everything that has to be known
//! at run time becomes a flat list of [`Dec`]s. Only parametric modules stay, as lists of declarations that each
//! application runs with other values for the ids of the parameter.

mod declaration;
mod intrinsics;
mod matching;
mod mod_exp;
mod mod_type;
mod rename;

use std::rc::Rc;

use dagaz_syntax::{Name, SourceMap};

use crate::context::{Context, Dialect};
use crate::env::{Env, Module, TypeBinding, ValueBinding};
use crate::print::prim_name;
use crate::typed::{Dec, Program};
use crate::types::{Liftedness, PrimType, Type, TypeId, VarId};
use crate::{CheckedProgram, Role, Unit};

pub(crate) struct Checker<'a> {
    cx: Context,
    sources: &'a SourceMap,
    units: &'a [Unit],
    /// What each file that was checked so far defines.
    unit_envs: Vec<Rc<Env>>,
    unit: usize,
    /// Scopes, outermost first.
    frames: Vec<Env>,
    /// Declarations of the module that is being checked.
    decs: Vec<Rc<Dec>>,
    /// Abstract types that came into being, for functors to list.
    generative: Vec<TypeId>,
    entries: Vec<VarId>,
    /// How many modules deep we are; entry points are at 0.
    depth: usize,
}

pub(crate) fn check_units(units: &[Unit], sources: &SourceMap, dialect: Dialect) -> CheckedProgram {
    let mut checker = Checker {
        cx: Context::new(dialect),
        sources,
        units,
        unit_envs: Vec::new(),
        unit: 0,
        frames: Vec::new(),
        decs: Vec::new(),
        generative: Vec::new(),
        entries: Vec::new(),
        depth: 0,
    };
    let mut base = primitive_types();
    let mut prelude = Rc::new(Env::default());
    let mut signatures = Vec::new();
    for (i, unit) in units.iter().enumerate() {
        checker.unit = i;
        checker.frames = vec![base.clone()];
        let env = match unit.role {
            Role::Intrinsics => {
                let env = checker.intrinsics(&unit.program);
                for (name, value) in &env.values {
                    if name.is_symbol() {
                        base.values.insert(*name, *value);
                    }
                }
                let env = Rc::new(env);
                base.modules.insert(Name::new("intrinsics"), Module::Struct(env.clone()));
                env
            }
            Role::Prelude | Role::PreludeRoot => {
                let env = Rc::new(checker.declarations(&unit.program.decs));
                if unit.role == Role::PreludeRoot {
                    prelude = env.clone();
                }
                env
            }
            Role::Import | Role::Main => {
                checker.frames.push((*prelude).clone());
                Rc::new(checker.declarations(&unit.program.decs))
            }
        };
        if unit.role == Role::Main {
            signatures = checker.signatures(&env);
        }
        checker.unit_envs.push(env);
    }
    let program = Program { decs: checker.decs, entries: checker.entries };
    CheckedProgram { program, diagnostics: checker.cx.diagnostics, signatures }
}

impl Checker<'_> {
    /// Names and types of a file's values, in the order they were defined.
    fn signatures(&self, env: &Env) -> Vec<(String, String)> {
        let mut values: Vec<_> = env
            .values
            .iter()
            .filter_map(|(name, value)| match value {
                ValueBinding::Def(v) => Some((*v, *name)),
                ValueBinding::Intrinsic(_) | ValueBinding::Poisoned => None,
            })
            .collect();
        values.sort();
        values
            .into_iter()
            .filter_map(|(v, name)| {
                let info = self.cx.values.get(&v)?;
                let name = if name.is_symbol() { format!("({name})") } else { name.to_string() };
                Some((name, self.cx.show_scheme(&info.scheme)))
            })
            .collect()
    }
}

fn primitive_types() -> Env {
    let mut env = Env::default();
    for p in [
        PrimType::I8,
        PrimType::I16,
        PrimType::I32,
        PrimType::I64,
        PrimType::U8,
        PrimType::U16,
        PrimType::U32,
        PrimType::U64,
        PrimType::F16,
        PrimType::F32,
        PrimType::F64,
        PrimType::Bool,
    ] {
        let binding = TypeBinding {
            params: Vec::new(),
            liftedness: Liftedness::Unlifted,
            exts: Vec::new(),
            ty: Type::Prim(p),
        };
        env.types.insert(Name::new(prim_name(p)), Rc::new(binding));
    }
    env
}
