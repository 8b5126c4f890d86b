//! `if` and `match`.

use dagaz_syntax::ast::{Case as SynCase, Exp as SynExp, ExpKind as Syn};
use dagaz_syntax::{Name, Span};

use super::scope::same_size;
use super::unify::pair_sizes;
use super::{SizeKind, SizeVar, Sizer};
use crate::context::Res;
use crate::typed::{Case, Exp, ExpKind};
use crate::types::{Size, Type, TypeArg, VarId};

impl Sizer<'_> {
    /// Check something that may not run, so that sizes made in it are unknown outside.
    fn branch(&mut self, check: impl FnOnce(&mut Self) -> Res<Exp>, span: Span) -> Res<(Exp, Type)> {
        self.level += 1;
        let e = check(self);
        self.level -= 1;
        let e = e?;
        let (ty, _) = self.hide_inner(&e.ty, "made in a branch", span);
        Ok((e, ty))
    }

    /// A chain of `else if`s is walked with a loop: conditions and branches first, then built up from the last. Each
    /// condition but the first is itself in a branch.
    pub(super) fn conditional(
        &mut self,
        e: &SynExp,
        cond: &SynExp,
        then: &SynExp,
        otherwise: &SynExp,
    ) -> Res<Exp> {
        let level = self.level;
        let mut arms = Vec::new();
        let (mut cond, mut then, mut otherwise, mut span) = (cond, then, otherwise, e.span);
        let tail = loop {
            let typed_cond = self.exp(cond)?;
            let first = self.cx.fresh_var(Name::new("d"));
            arms.push((typed_cond, self.branch(|s| s.exp(then), then.span)?, first, span));
            match &otherwise.kind {
                Syn::If { cond: c, then: t, otherwise: o } => {
                    self.level += 1;
                    (cond, then, span, otherwise) = (c, t, otherwise.span, o);
                }
                _ => break self.branch(|s| s.exp(otherwise), otherwise.span)?,
            }
        };
        let (mut result, mut result_ty) = tail;
        for (cond, (then, then_ty), first, span) in arms.into_iter().rev() {
            let ty = self.common_type(&then_ty, &result_ty, span);
            let exts = self.unknowns_since(&ty, first);
            let kind =
                ExpKind::If { cond: Box::new(cond), then: Box::new(then), otherwise: Box::new(result) };
            result = Exp { kind, ty: ty.clone(), exts, span };
            result_ty = ty;
            if self.level > level {
                self.level -= 1;
                result_ty = self.hide_inner(&result_ty, "made in a branch", span).0;
            }
        }
        Ok(result)
    }

    pub(super) fn match_exp(&mut self, e: &SynExp, scrutinee: &SynExp, cases: &[SynCase]) -> Res<Exp> {
        let scrutinee = self.exp(scrutinee)?;
        let first = self.cx.fresh_var(Name::new("d"));
        let mut typed = Vec::new();
        let mut result: Option<Type> = None;
        for case in cases {
            let mut pat = None;
            let matched = scrutinee.ty.clone();
            let check = |s: &mut Self| {
                pat = Some(s.pat(&case.pat, &matched, s.level)?);
                s.exp(&case.body)
            };
            let (body, ty) = self.branch(check, case.span)?;
            result = Some(match result {
                None => ty,
                Some(before) => self.common_type(&before, &ty, case.span),
            });
            typed.extend(pat.map(|pat| Case { pat, body }));
        }
        let ty = result.unwrap_or_else(|| Type::tuple([]));
        let exts = self.unknowns_since(&ty, first);
        let kind = ExpKind::Match { scrutinee: Box::new(scrutinee), cases: typed };
        Ok(Exp { kind, ty, exts, span: e.span })
    }

    /// Unknown sizes in a type that were made after the variable `first`.
    pub(super) fn unknowns_since(&self, ty: &Type, first: VarId) -> Vec<VarId> {
        let unknown =
            |v: &VarId| matches!(self.vars.get(v), Some(SizeVar { kind: SizeKind::Unknown(..), .. }));
        self.zonk(ty).size_vars().into_iter().filter(|v| *v > first && unknown(v)).collect()
    }

    /// The type of a branching expression: where sizes of the branches differ, it is unknown.
    pub(super) fn common_type(&mut self, a: &Type, b: &Type, span: Span) -> Type {
        let (a, b) = &self.joined(a, b);
        let mut pairs = Vec::new();
        pair_sizes(a, b, &mut pairs);
        // A branch says nothing about the size of a parameter, so what has no other size differs from it.
        self.fixed_parameters = true;
        for (x, y) in &pairs {
            // What cannot be settled differs, which is seen below.
            let _ = self.unify_size(x, y);
        }
        self.fixed_parameters = false;
        let mut pairs = Vec::new();
        pair_sizes(&self.zonk(a), &self.zonk(b), &mut pairs);
        let mut made: Vec<(usize, VarId)> = Vec::new();
        let mut at = 0;
        let a = self.zonk(a);
        self.map_value_sizes(&a, &mut |sizer, size| {
            let here = at;
            at += 1;
            let differ =
                |x: &Size, y: &Size| !same_size(&sizer.computed(x.clone()), &sizer.computed(y.clone()));
            let Some((x, y)) = pairs.get(here).filter(|(x, y)| differ(x, y)) else { return size.clone() };
            // Sizes that differ in the same way are the same.
            let same = |i: usize| same_size(&pairs[i].0, x) && same_size(&pairs[i].1, y);
            if let Some((_, var)) = made.iter().find(|(i, _)| same(*i)) {
                return Size::Var(*var);
            }
            let var = sizer.unknown("the size of branches that differ", span);
            made.push((here, var));
            Size::Var(var)
        })
    }

    /// As [`Sizer::map_sizes`], but leaves function types alone, in the order of [`pair_sizes`].
    fn map_value_sizes(&mut self, ty: &Type, f: &mut dyn FnMut(&mut Self, &Size) -> Size) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) => ty.clone(),
            Type::Array { unique, dim, elem } => {
                let dim = match dim {
                    Size::Set(ty) => Size::of_index(self.map_value_sizes(ty, f)),
                    Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => f(self, dim),
                };
                Type::Array { unique: *unique, dim, elem: self.map_value_sizes(elem, f).into() }
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (*n, self.map_value_sizes(t, f))).collect())
            }
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(c, ts)| (*c, ts.iter().map(|t| self.map_value_sizes(t, f)).collect()))
                    .collect(),
            ),
            Type::Named { unique, id, args } => {
                let args = args
                    .iter()
                    .map(|a| match a {
                        TypeArg::Size(s) => TypeArg::Size(f(self, s)),
                        TypeArg::Type(t) => TypeArg::Type(self.map_value_sizes(t, f)),
                    })
                    .collect();
                Type::Named { unique: *unique, id: *id, args }
            }
        }
    }
}
