//! Functions: what they may return, and what is inferred about it.

use std::collections::HashMap;

use dagaz_syntax::{Diagnostic, Span};

use super::Checker;
use super::aliases::{AliasSet, Aliases, all_unique, has_unique};
use crate::sizes::{pat_vars, with_result};
use crate::typed::{Def, Exp, Lambda, Pat, PatKind};
use crate::types::{RetType, Size, Type, VarId};

/// What is known about a function's parameters, variable by variable.
#[derive(Default)]
struct Parameters {
    vars: Vec<VarId>,
    /// Those that may be consumed, in part at least.
    consuming: Vec<VarId>,
    /// Those of which every part may be consumed.
    consumable: Vec<VarId>,
}

impl Checker<'_> {
    pub(super) fn definition(&mut self, def: &Def) -> RetType {
        let (ret, _) = self.function(&def.params, &def.ret, &def.body);
        ret
    }

    pub(super) fn lambda(&mut self, e: &Exp, lambda: &Lambda) -> Aliases {
        let (ret, free) = self.function(&lambda.params, &lambda.ret, &lambda.body);
        let set = self.aliases_of(&free);
        Aliases::all_of(&with_result(&e.ty, lambda.params.len(), &ret), &set)
    }

    pub(super) fn local_function(&mut self, def: &Def) {
        let (ret, free) = self.function(&def.params, &def.ret, &def.body);
        let set = self.aliases_of(&free);
        let ty =
            def.params.iter().rev().fold(ret, |to, p| RetType::plain(Type::arrow(None, p.ty.clone(), to)));
        let depth = self.depth;
        let aliases = Aliases::all_of(&ty.ty, &set);
        self.scope.insert(def.var, super::Entry { aliases, consumable: false, depth });
    }

    /// Check a function; gives its result type and the variables from outside that it mentions.
    fn function(&mut self, params: &[Pat], ret: &RetType, body: &Exp) -> (RetType, Vec<VarId>) {
        self.inside(|c| {
            let parameters = c.bind_parameters(params);
            params.iter().for_each(|p| c.check_sizes(&p.ty));
            let (aliases, _) = c.contain(|c| c.exp(body));
            c.check_function(&ret.ty, &aliases, body.span);
            c.check_result(&ret.ty, &aliases, &parameters, body.span);
            if !params.is_empty() {
                c.check_global_result(&aliases, body.span);
            }
            let ty = if c.declared.results.contains(&body.span) || has_unique(&ret.ty) {
                ret.ty.clone()
            } else if params.is_empty() {
                ret.ty.with_uniqueness(false)
            } else {
                let shared = shared_aliases(&aliases);
                c.infer_uniqueness(&ret.ty, &aliases, &parameters, &shared)
            };
            c.leave(&parameters.vars);
            RetType { exts: ret.exts.clone(), ty }
        })
    }

    fn bind_parameters(&mut self, params: &[Pat]) -> Parameters {
        let mut found = Parameters::default();
        for p in params {
            self.bind_parameter(p, &mut found);
        }
        found
    }

    /// Expressions that occur as sizes consume nothing.
    fn check_sizes(&mut self, ty: &Type) {
        let mut sizes = Vec::new();
        ty.each_size(&mut |s| {
            if let Size::Exp(e) = s {
                sizes.push(e.clone());
            }
        });
        for size in sizes {
            self.inside(|c| c.contain(|c| c.exp(&size)));
        }
    }

    fn bind_parameter(&mut self, p: &Pat, found: &mut Parameters) {
        match &p.kind {
            PatKind::Var(var, _) => {
                let consumable = has_unique(&p.ty);
                self.bind(*var, Aliases::none_of(&p.ty), consumable);
                found.vars.push(*var);
                if consumable {
                    found.consuming.push(*var);
                }
                if all_unique(&p.ty) {
                    found.consumable.push(*var);
                }
            }
            PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.bind_parameter(p, found)),
            PatKind::Constr(_, args) => args.iter().for_each(|p| self.bind_parameter(p, found)),
        }
    }

    /// The unique parts of a result may alias neither each other nor anything that the caller still has.
    fn check_result(&mut self, ret: &Type, aliases: &Aliases, parameters: &Parameters, span: Span) {
        let mut parts = Vec::new();
        result_parts(ret, aliases, &mut parts);
        let (mut seen_unique, mut seen) = (AliasSet::default(), AliasSet::default());
        for (unique, set) in parts {
            if set.meets(if unique { &seen } else { &seen_unique }) {
                self.error(Diagnostic::error(
                    "unique-return-aliased",
                    span,
                    "A unique-typed component of the return value is aliased to some other component",
                ));
            }
            if unique {
                let not_ours = set.iter().find(|a| {
                    self.is_bound(a.var)
                        && !parameters.consumable.contains(&a.var)
                        && self.scope.contains_key(&a.var)
                });
                if let Some(alias) = not_ours {
                    let name = self.cx.var_name(alias.var);
                    self.error(
                        Diagnostic::error(
                            "return-aliased",
                            span,
                            format!(
                                "Unique-typed return value is aliased to \"{name}\", which is not consumable"
                            ),
                        )
                        .help("use \"copy\" to break the aliasing"),
                    );
                }
                seen_unique = seen_unique.union(&set);
            }
            seen = seen.union(&set);
        }
    }

    fn check_global_result(&mut self, aliases: &Aliases, span: Span) {
        let arrays = aliases.of_arrays();
        if let Some(alias) = arrays.iter().find(|a| self.is_global(a.var)) {
            let name = self.cx.var_name(alias.var);
            self.error(
                Diagnostic::error(
                    "alias-free-variable",
                    span,
                    format!("Function result aliases the free variable \"{name}\""),
                )
                .help("use \"copy\" to break the aliasing"),
            );
        }
    }

    /// Mark the parts of a result that alias nothing but what the function consumes.
    fn infer_uniqueness(
        &self,
        ret: &Type,
        aliases: &Aliases,
        parameters: &Parameters,
        shared: &[VarId],
    ) -> Type {
        match (ret, aliases) {
            (Type::Record(types), Aliases::Record(parts)) if types.len() == parts.len() => Type::Record(
                types
                    .iter()
                    .zip(parts.iter())
                    .map(|((f, t), (_, a))| (*f, self.infer_uniqueness(t, a, parameters, shared)))
                    .collect(),
            ),
            (Type::Sum(types), Aliases::Sum(parts)) if types.len() == parts.len() => Type::Sum(
                types
                    .iter()
                    .zip(parts.iter())
                    .map(|((c, ts), (_, parts))| {
                        let types = ts.iter().zip(parts);
                        (*c, types.map(|(t, a)| self.infer_uniqueness(t, a, parameters, shared)).collect())
                    })
                    .collect(),
            ),
            (
                Type::Prim(_)
                | Type::Meta(_)
                | Type::Array { .. }
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Arrow(_)
                | Type::Named { .. },
                _,
            ) => {
                let ours = aliases
                    .of_arrays()
                    .iter()
                    .all(|a| !self.is_bound(a.var) || parameters.consuming.contains(&a.var));
                let alone = aliases.all().iter().all(|a| !shared.contains(&a.var));
                ret.with_uniqueness(ours && alone)
            }
        }
    }
}

/// Pair the parts of a result with whether they are unique.
fn result_parts(ret: &Type, aliases: &Aliases, parts: &mut Vec<(bool, AliasSet)>) {
    match (ret, aliases) {
        (Type::Record(types), Aliases::Record(fields)) if types.len() == fields.len() => {
            types.iter().zip(fields.iter()).for_each(|((_, t), (_, a))| result_parts(t, a, parts));
        }
        (
            Type::Prim(_)
            | Type::Meta(_)
            | Type::Array { .. }
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Arrow(_)
            | Type::Named { .. },
            _,
        ) => parts.push((has_unique(ret), aliases.all())),
    }
}

/// Variables that several parts of a value alias. Nothing is known about the parts of an abstract type, so that what it
/// aliases counts twice.
fn shared_aliases(aliases: &Aliases) -> Vec<VarId> {
    fn count(aliases: &Aliases, counts: &mut HashMap<VarId, u32>) {
        match aliases {
            Aliases::Record(fields) => fields.iter().for_each(|(_, a)| count(a, counts)),
            Aliases::Scalar | Aliases::Value(_) | Aliases::Sum(_) | Aliases::Function(..) => {
                let mut vars: Vec<VarId> = aliases.all().iter().map(|a| a.var).collect();
                vars.dedup();
                for var in vars {
                    *counts.entry(var).or_default() += 1;
                }
            }
        }
    }
    let mut counts = HashMap::new();
    count(aliases, &mut counts);
    counts.into_iter().filter(|(_, n)| *n > 1).map(|(v, _)| v).collect()
}

/// The variables of a pattern.
pub(super) fn variables(pat: &Pat) -> Vec<VarId> {
    let mut vars = Vec::new();
    pat_vars(pat, &mut vars);
    vars
}
