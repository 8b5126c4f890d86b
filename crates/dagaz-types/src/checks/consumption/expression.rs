//! Expressions, in the order of their evaluation.

use std::rc::Rc;

use dagaz_syntax::Diagnostic;

use super::Checker;
use super::aliases::Aliases;
use crate::typed::{Access, Case, Exp, ExpKind, SliceIndex};
use crate::types::{Type, VarId};

impl Checker<'_> {
    /// Check an expression; gives what its value aliases.
    pub(super) fn exp(&mut self, e: &Exp) -> Aliases {
        match &e.kind {
            ExpKind::Int(_) | ExpKind::Float(_) | ExpKind::Bool(_) => Aliases::Scalar,
            ExpKind::Str(_) | ExpKind::Hole | ExpKind::Intrinsic { .. } => Aliases::none_of(&e.ty),
            ExpKind::Var { var, inst, .. } => self.variable(e, *var, inst.is_empty()),
            ExpKind::Record(fields) => {
                let mut parts: Vec<_> = fields.iter().map(|(f, e)| (*f, self.exp(e))).collect();
                parts.sort_by_key(|x| x.0);
                Aliases::Record(parts.into())
            }
            ExpKind::Array(elems) => {
                elems.iter().for_each(|e| {
                    self.exp(e);
                });
                Aliases::none_of(&e.ty)
            }
            ExpKind::Project(inner, field) => self.exp(inner).field(*field, &e.ty),
            ExpKind::Index { array, slice } => {
                let array = self.exp(array);
                self.slice(slice);
                Aliases::all_of(&e.ty, &array.all())
            }
            ExpKind::App { fun, args } => self.application(e, fun, args),
            ExpKind::And(l, r) | ExpKind::Or(l, r) => {
                self.exp(l);
                self.exp(r);
                Aliases::Scalar
            }
            ExpKind::Constr { name, args } => {
                let parts: Vec<_> = args.iter().map(|a| self.exp(a)).collect();
                match Aliases::none_of(&e.ty) {
                    Aliases::Sum(cs) => Aliases::Sum(
                        cs.iter()
                            .map(|(c, old)| (*c, if c == name { parts.clone() } else { old.clone() }))
                            .collect(),
                    ),
                    other => other,
                }
            }
            ExpKind::Ascript(inner) => {
                let aliases = self.exp(inner);
                self.check_function(&e.ty, &aliases, e.span);
                aliases
            }
            ExpKind::Coerce(inner) | ExpKind::Attr(_, inner) => self.exp(inner),
            ExpKind::Range { start, second, end, .. } => {
                self.exp(start);
                if let Some(second) = second {
                    self.exp(second);
                }
                self.exp(end);
                Aliases::none_of(&e.ty)
            }
            ExpKind::If { cond, then, otherwise } => self.conditional(cond, then, otherwise),
            ExpKind::Let { .. } | ExpKind::LetFun { .. } => self.let_chain(e),
            ExpKind::Lambda(lambda) => self.lambda(e, lambda),
            ExpKind::Loop { pat, init, form, body, .. } => self.loop_exp(e, pat, init, form, body),
            ExpKind::Match { scrutinee, cases } => self.match_exp(scrutinee, cases),
            ExpKind::With { target, path, value } => self.with(e, target, path, value),
            ExpKind::Assert { cond, body } => {
                self.exp(cond);
                self.exp(body)
            }
        }
    }

    fn variable(&mut self, e: &Exp, var: VarId, monomorphic: bool) -> Aliases {
        if matches!(e.ty, Type::Prim(_)) {
            return Aliases::Scalar;
        }
        match self.observe(var, e.span) {
            // The type of a local function may have been instantiated here.
            Some(Aliases::Function(set, arrow)) if !monomorphic => match &e.ty {
                Type::Arrow(used) => {
                    let ty = with_inferred_results(&Type::Arrow(used.clone()), &Type::Arrow(arrow));
                    Aliases::all_of(&ty, &set)
                }
                other => Aliases::all_of(other, &set),
            },
            Some(aliases) => aliases,
            // A constant that is polymorphic in its sizes is made anew by each use.
            None if e.ty.size_vars().iter().any(|v| !self.cx.values.contains_key(v)) => {
                Aliases::none_of(&e.ty)
            }
            None => self.global(&e.ty, var, super::Path::ROOT),
        }
    }

    /// The arrays in a global alias it; its functions have nothing to close over.
    fn global(&mut self, ty: &Type, var: VarId, path: super::Path) -> Aliases {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) | Type::Named { .. } => Aliases::none_of(ty),
            Type::Array { .. } | Type::Sum(_) => Aliases::all_of(ty, &super::AliasSet::one(var, path)),
            Type::Record(fields) => {
                let parts: Vec<_> = fields
                    .iter()
                    .map(|(f, t)| {
                        let path = self.paths.field(path, *f);
                        (*f, self.global(t, var, path))
                    })
                    .collect();
                Aliases::Record(parts.into())
            }
        }
    }

    fn slice(&mut self, slice: &[SliceIndex]) {
        for index in slice {
            match index {
                SliceIndex::Index(i) => {
                    self.exp(i);
                }
                SliceIndex::Slice { start, end, stride } => {
                    for part in [start, end, stride].into_iter().flatten() {
                        self.exp(part);
                    }
                }
            }
        }
    }

    /// A chain of `let`s is walked with a loop, so that its length does not matter.
    fn let_chain(&mut self, e: &Exp) -> Aliases {
        let mut bound = Vec::new();
        let mut e = e;
        let result = loop {
            match &e.kind {
                ExpKind::Let { pat, value, body, .. } => {
                    let before = self.trail.len();
                    let aliases = self.exp(value);
                    if self.trail.len() > before && value.ty.has_function() {
                        self.error(Diagnostic::error(
                            "contains-consumption",
                            value.span,
                            "A let-bound expression of higher-order type contains consumption, which is not allowed",
                        ));
                    }
                    self.check_function(&pat.ty, &aliases, value.span);
                    self.bind_pat(pat, &aliases, true, &mut bound);
                    e = body;
                }
                ExpKind::LetFun { def, body } => {
                    self.local_function(def);
                    bound.push(def.var);
                    e = body;
                }
                ExpKind::Int(_)
                | ExpKind::Float(_)
                | ExpKind::Bool(_)
                | ExpKind::Str(_)
                | ExpKind::Var { .. }
                | ExpKind::Intrinsic { .. }
                | ExpKind::Hole
                | ExpKind::Record(_)
                | ExpKind::Array(_)
                | ExpKind::Project(..)
                | ExpKind::Index { .. }
                | ExpKind::App { .. }
                | ExpKind::And(..)
                | ExpKind::Or(..)
                | ExpKind::Constr { .. }
                | ExpKind::Ascript(_)
                | ExpKind::Coerce(_)
                | ExpKind::Range { .. }
                | ExpKind::If { .. }
                | ExpKind::Lambda(_)
                | ExpKind::Loop { .. }
                | ExpKind::Match { .. }
                | ExpKind::With { .. }
                | ExpKind::Assert { .. }
                | ExpKind::Attr(..) => break self.exp(e),
            }
        };
        self.leave(&bound);
        result
    }

    fn conditional(&mut self, cond: &Exp, then: &Exp, otherwise: &Exp) -> Aliases {
        self.exp(cond);
        let (then, mut consumed) = self.contain(|c| c.exp(then));
        let (otherwise, more) = self.contain(|c| c.exp(otherwise));
        consumed.extend(more);
        self.join(then.combine(&otherwise), &consumed)
    }

    fn match_exp(&mut self, scrutinee: &Exp, cases: &[Case]) -> Aliases {
        let scrutinee = self.exp(scrutinee);
        let mut consumed = Vec::new();
        let mut result: Option<Aliases> = None;
        for case in cases {
            let (aliases, more) = self.contain(|c| {
                let mut bound = Vec::new();
                c.bind_pat(&case.pat, &scrutinee, true, &mut bound);
                let aliases = c.exp(&case.body);
                c.leave(&bound);
                aliases
            });
            consumed.extend(more);
            result = Some(match result {
                None => aliases,
                Some(before) => before.combine(&aliases),
            });
        }
        self.join(result.unwrap_or(Aliases::Scalar), &consumed)
    }

    /// After branching: a value that a branch has consumed is not what the result aliases.
    fn join(&mut self, result: Aliases, consumed: &[(VarId, dagaz_syntax::Span)]) -> Aliases {
        self.mark_all_consumed(consumed);
        if consumed.is_empty() {
            return result;
        }
        result.map(&|set| set.without(&|v| consumed.iter().any(|(w, _)| v == *w)))
    }

    fn with(&mut self, e: &Exp, target: &Exp, path: &[Access], value: &Exp) -> Aliases {
        let mut updates = false;
        for step in path {
            if let Access::Index(slice, _) = step {
                self.slice(slice);
                updates = true;
            }
        }
        let value_aliases = self.exp(value);
        let old = self.exp(target);
        if !updates {
            return with_field(&old, path, &value_aliases);
        }
        if old.all().meets(&value_aliases.all()) {
            self.error(
                Diagnostic::error(
                    "update-value-aliases",
                    value.span,
                    "Source array for in-place update might alias update value",
                )
                .at("the value")
                .label(target.span, "the source array")
                .help("use \"copy\" to remove aliases from the value"),
            );
        }
        self.consume(&old.all(), e.span);
        Aliases::none_of(&e.ty)
    }
}

/// The aliases of a record after a field has been replaced.
fn with_field(old: &Aliases, path: &[Access], value: &Aliases) -> Aliases {
    match (path, old) {
        ([], _) => value.clone(),
        ([Access::Field(f), rest @ ..], Aliases::Record(fields)) => Aliases::Record(
            fields
                .iter()
                .map(|(g, a)| (*g, if f == g { with_field(a, rest, value) } else { a.clone() }))
                .collect::<Rc<[_]>>(),
        ),
        (
            [Access::Field(_) | Access::Index(..), ..],
            Aliases::Scalar
            | Aliases::Value(_)
            | Aliases::Record(_)
            | Aliases::Sum(_)
            | Aliases::Function(..),
        ) => old.combine(value),
    }
}

/// The type of a use of a local function, with what was inferred about the results of its definition.
fn with_inferred_results(used: &Type, defined: &Type) -> Type {
    match (used, defined) {
        (Type::Arrow(u), Type::Arrow(d)) => {
            let to = crate::types::RetType {
                exts: u.to.exts.clone(),
                ty: with_inferred_results(&u.to.ty, &d.to.ty),
            };
            Type::arrow(u.param, u.from.clone(), to)
        }
        (Type::Record(us), Type::Record(ds)) if us.len() == ds.len() => Type::Record(
            us.iter().zip(ds.iter()).map(|((f, u), (_, d))| (*f, with_inferred_results(u, d))).collect(),
        ),
        (_, Type::Array { unique: true, .. } | Type::Named { unique: true, .. }) => {
            used.with_uniqueness(true)
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
        ) => used.clone(),
    }
}
