//! Files, declarations, modules and module types.
//!
//! Modules disappear here: a module is an environment that maps names to ids, and everything that has to be known
//! at run time becomes a flat list of [`Dec`]s. Only parametric modules stay, as lists of declarations that each
//! application runs with other values for the ids of the parameter.

mod declaration;
mod index_type;
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
use crate::typed::{Dec, IndexCheck, Program, TypeDef};
use crate::types::{IDX, Liftedness, PrimType, Size, Type, TypeArg, TypeId, TypeParamKind, VarId};
use crate::{CheckedProgram, Role, Unit};

pub(crate) struct Checker<'a> {
    cx: Context,
    sources: &'a SourceMap,
    unit: &'a Unit,
    /// What each file that was checked so far defines.
    unit_envs: Vec<Rc<Env>>,
    /// Scopes, outermost first.
    frames: Vec<Env>,
    /// Declarations of the module that is being checked.
    decs: Vec<Rc<Dec>>,
    /// Abstract types that came into being, for functors to list.
    generative: Vec<TypeId>,
    entries: Vec<VarId>,
    index_checks: Vec<IndexCheck>,
    /// How many modules deep we are; entry points are at 0.
    depth: usize,
    /// How many of them are parametric.
    functors: usize,
}

/// What is known after some files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    cx: Context,
    unit_envs: Vec<Rc<Env>>,
    decs: Vec<Rc<Dec>>,
    generative: Vec<TypeId>,
    entries: Vec<VarId>,
    index_checks: Vec<IndexCheck>,
    /// The scope around all files.
    base: Env,
    prelude: Rc<Env>,
    /// What the prelude adds to plain Futhark.
    extensions: Vec<Rc<Env>>,
    signatures: Vec<(String, String)>,
}

impl Progress {
    pub fn start() -> Progress {
        let cx = Context::start();
        let mut base = primitive_types();
        let idx = &cx.index_types[&IDX];
        let args = idx.params.iter().map(|p| match p.kind {
            TypeParamKind::Size(n) => TypeArg::Size(Size::Var(n)),
            TypeParamKind::Type(id, _) => TypeArg::Type(Type::Named { unique: false, id, args: [].into() }),
        });
        let binding = TypeBinding {
            params: idx.params.clone(),
            liftedness: Liftedness::Unlifted,
            exts: Vec::new(),
            ty: Type::Named { unique: false, id: IDX, args: args.collect() },
        };
        base.types.insert(Name::new("idx"), Rc::new(binding));
        let definition =
            TypeDef { id: IDX, params: idx.params.clone(), exts: Vec::new(), body: Type::I64, index: None };
        Progress { cx, base, decs: vec![Rc::new(Dec::Abstract(definition))], ..Progress::default() }
    }

    /// Go on from here with a program of its own.
    pub fn fork(&self, dialect: Dialect) -> Progress {
        Progress { cx: self.cx.fork(dialect), ..self.clone() }
    }

    pub fn finish(self) -> CheckedProgram {
        let program = Program {
            decs: self.decs,
            entries: self.entries,
            index_checks: self.index_checks,
            references: self.cx.references,
            constructor_orders: self.cx.constructor_orders.into_declared(),
        };
        CheckedProgram {
            program,
            diagnostics: self.cx.diagnostics,
            signatures: self.signatures,
            edits: self.cx.edits,
        }
    }

    /// Check one more file.
    pub fn check_unit(&mut self, unit: &Unit, sources: &SourceMap) {
        let mut checker = Checker {
            cx: std::mem::take(&mut self.cx),
            sources,
            unit,
            unit_envs: std::mem::take(&mut self.unit_envs),
            frames: vec![self.base.clone()],
            decs: std::mem::take(&mut self.decs),
            generative: std::mem::take(&mut self.generative),
            entries: std::mem::take(&mut self.entries),
            index_checks: std::mem::take(&mut self.index_checks),
            depth: 0,
            functors: 0,
        };
        checker.cx.in_prelude = !matches!(unit.role, Role::Import | Role::Main);
        let env = match unit.role {
            Role::Intrinsics => {
                let env = checker.intrinsics(&unit.program);
                let symbols = env.values.iter().filter(|(name, _)| name.is_symbol());
                self.base.values.extend(symbols.map(|(name, value)| (*name, *value)));
                let env = Rc::new(env);
                self.base.modules.insert(Name::new("intrinsics"), Module::Struct(env.clone()));
                env
            }
            Role::Prelude | Role::Extension | Role::PreludeRoot => {
                let env = Rc::new(checker.declarations(&unit.program.decs));
                match unit.role {
                    Role::PreludeRoot => {
                        self.prelude = env.clone();
                        let all = self.extensions.iter().chain([&env]).flat_map(|env| env.values.iter());
                        checker.cx.prelude_values =
                            Rc::new(all.map(|(name, value)| (*name, *value)).collect());
                    }
                    Role::Extension => self.extensions.push(env.clone()),
                    Role::Intrinsics | Role::Prelude | Role::Import | Role::Main => {}
                }
                env
            }
            Role::Import | Role::Main => {
                if checker.cx.dialect == Dialect::Dagaz {
                    checker.frames.extend(self.extensions.iter().map(|env| (**env).clone()));
                }
                checker.frames.push((*self.prelude).clone());
                Rc::new(checker.declarations(&unit.program.decs))
            }
        };
        if unit.role == Role::Main {
            self.signatures = checker.signatures(&env);
        }
        checker.unit_envs.push(env);
        self.cx = checker.cx;
        self.unit_envs = checker.unit_envs;
        self.decs = checker.decs;
        self.generative = checker.generative;
        self.entries = checker.entries;
        self.index_checks = checker.index_checks;
    }
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
                let ty = self.cx.show_scheme(&info.scheme);
                let rows = self.cx.effect_rows.get(&v).map_or(&[][..], Vec::as_slice);
                Some((name, crate::checks::with_rows(&ty, rows)))
            })
            .collect()
    }
}

fn primitive_types() -> Env {
    let mut env = Env::default();
    for p in PrimType::ALL {
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
