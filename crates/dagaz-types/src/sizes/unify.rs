//! Unification of sizes. The types themselves are known to agree.

use std::rc::Rc;

use dagaz_syntax::Span;

use super::indices::Variance;
use super::scope::same_args;
use super::{SizeKind, SizeMismatch, SizeVar, Sizer};
use crate::subst::{Subst, exp_of_size, size_of_exp};
use crate::typed::{Exp, ExpKind, SliceIndex};
use crate::types::{Arrow, RetType, Size, Type, TypeArg, VarId};

type Unified = Result<(), SizeMismatch>;

impl Sizer<'_> {
    /// Replace settled flexible sizes in a size.
    pub(super) fn zonk_size(&self, size: &Size) -> Size {
        match size {
            Size::Var(v) => match self.settled(*v) {
                Some(s) => self.zonk_size(s),
                None => size.clone(),
            },
            Size::Exp(e) if self.has_settled(size) => size_of_exp(self.zonk_exp(e)),
            Size::Set(ty) => Size::of_index(self.zonk(ty)),
            Size::Exp(_) | Size::Const(_) | Size::Meta(_) => size.clone(),
        }
    }

    fn settled(&self, v: VarId) -> Option<&Size> {
        match &self.vars.get(&v)?.kind {
            SizeKind::Flexible { value, .. } => value.as_ref(),
            SizeKind::Named | SizeKind::Unknown(..) => None,
        }
    }

    fn has_settled(&self, size: &Size) -> bool {
        size.mentions(&|v| self.settled(v).is_some())
    }

    fn zonk_exp(&self, e: &Exp) -> Exp {
        let mut subst = Subst::default();
        crate::subst::each_var_in_exp(e, &mut |v| {
            if let Some(s) = self.settled(v) {
                subst.sizes.insert(v, self.zonk_size(s));
            }
        });
        subst.exp(e)
    }

    pub(super) fn zonk(&self, ty: &Type) -> Type {
        match ty {
            Type::Prim(_) => ty.clone(),
            Type::Meta(var) => self.index_solution(*var).map_or_else(|| ty.clone(), |t| self.zonk(t)),
            Type::Array { unique, dim, elem } => {
                Type::Array { unique: *unique, dim: self.zonk_size(dim), elem: Rc::new(self.zonk(elem)) }
            }
            Type::Record(fields) => Type::Record(fields.iter().map(|(f, t)| (*f, self.zonk(t))).collect()),
            Type::Sum(cs) => {
                Type::Sum(cs.iter().map(|(c, ts)| (*c, ts.iter().map(|t| self.zonk(t)).collect())).collect())
            }
            Type::Arrow(a) => Type::Arrow(Rc::new(Arrow {
                param: self.settled_parameter(a.param),
                from: self.zonk(&a.from),
                to: RetType { exts: a.to.exts.clone(), ty: self.zonk(&a.to.ty) },
            })),
            Type::Named { unique, id, args } => Type::Named {
                unique: *unique,
                id: *id,
                args: args.iter().map(|a| self.zonk_arg(a)).collect(),
            },
        }
    }

    pub(super) fn zonk_arg(&self, arg: &TypeArg) -> TypeArg {
        match arg {
            TypeArg::Size(s) => TypeArg::Size(self.zonk_size(s)),
            TypeArg::Type(t) => TypeArg::Type(self.zonk(t)),
        }
    }

    /// Is this an unsettled flexible size?
    pub(super) fn is_flexible(&self, v: VarId) -> bool {
        let is_open =
            matches!(self.vars.get(&v).map(|i| &i.kind), Some(SizeKind::Flexible { value: None, .. }));
        is_open && !(self.fixed_parameters && self.parameter_sizes.contains(&v))
    }

    pub(super) fn is_lifted(&self, v: VarId) -> bool {
        matches!(self.vars.get(&v).map(|i| &i.kind), Some(SizeKind::Flexible { lifted: true, .. }))
    }

    pub(super) fn level_of(&self, v: VarId) -> u32 {
        self.vars.get(&v).map_or(0, |i| i.level)
    }

    pub(super) fn unify_size(&mut self, a: &Size, b: &Size) -> Unified {
        let (a, b) = (self.zonk_size(a), self.zonk_size(b));
        // As they are written first: `3 * 4` says what `n` and `m` are in `n * m`, and `12` does not.
        if let Some(result) = self.unify_written(&a, &b) {
            return result;
        }
        let (x, y) = (self.computed(a.clone()), self.computed(b.clone()));
        self.unify_written(&x, &y).unwrap_or(Err(SizeMismatch::Differ(a, b)))
    }

    /// Unify two sizes by structure; `None` if their structure differs.
    fn unify_written(&mut self, a: &Size, b: &Size) -> Option<Unified> {
        match (a, b) {
            (Size::Meta(_), _) | (_, Size::Meta(_)) => Some(Ok(())),
            (Size::Const(x), Size::Const(y)) if x == y => Some(Ok(())),
            (Size::Var(x), Size::Var(y)) if x == y => Some(Ok(())),
            (Size::Var(x), Size::Var(y)) if self.is_flexible(*x) && self.is_flexible(*y) => {
                // Keep the outer one.
                let is_inner = self.level_of(*x) >= self.level_of(*y);
                Some(if is_inner { self.settle(*x, b) } else { self.settle(*y, a) })
            }
            (Size::Var(x), _) if self.is_flexible(*x) => Some(self.settle(*x, b)),
            (_, Size::Var(y)) if self.is_flexible(*y) => Some(self.settle(*y, a)),
            (Size::Set(x), Size::Set(y)) => Some(self.unify_sets(x, y)),
            (Size::Exp(x), Size::Exp(y)) => self.unify_exps(x, y),
            _ => None,
        }
    }

    /// Let a flexible size be `size`, if everything in it is in scope there.
    fn settle(&mut self, v: VarId, size: &Size) -> Unified {
        let level = self.level_of(v);
        let mut inner = None;
        let mut occurs = false;
        let mut lower = Vec::new();
        size.each_var(&mut |w| {
            occurs |= w == v;
            if self.level_of(w) > level {
                if self.is_flexible(w) { lower.push(w) } else { inner = Some(w) }
            }
        });
        if occurs {
            return Err(SizeMismatch::Differ(Size::Var(v), size.clone()));
        }
        if let Some(w) = inner {
            return Err(SizeMismatch::Escapes(w, size.clone()));
        }
        let lifted = self.is_lifted(v);
        // What has to be known for this size has to be known for those in it, too.
        if !lifted {
            size.each_var(&mut |w| {
                if let Some(SizeVar { kind: SizeKind::Flexible { value: None, lifted }, .. }) =
                    self.vars.get_mut(&w)
                {
                    *lifted = false;
                }
            });
        }
        if let Size::Var(w) = size
            && (self.parameter_sizes.contains(&v) || self.parameter_sizes.contains(w))
        {
            self.parameter_sizes.extend([v, *w]);
        }
        for w in lower {
            if let Some(info) = self.vars.get_mut(&w) {
                info.level = level;
            }
        }
        if let Some(info) = self.vars.get_mut(&v) {
            info.kind = SizeKind::Flexible { value: Some(size.clone()), lifted };
        }
        Ok(())
    }

    /// What a variable in a size was found to be by now.
    fn settled_part(&self, e: &Exp) -> Option<Exp> {
        match &e.kind {
            ExpKind::Var { var, .. } if self.settled(*var).is_some() => {
                Some(exp_of_size(&self.zonk_size(&Size::Var(*var)), e))
            }
            _ => None,
        }
    }

    /// Unify two size expressions by structure; `None` if their structure differs. What one part settles holds for those
    /// after it.
    fn unify_exps(&mut self, a: &Exp, b: &Exp) -> Option<Unified> {
        if let Some(a) = self.settled_part(a) {
            return self.unify_exps(&a, b);
        }
        if let Some(b) = self.settled_part(b) {
            return self.unify_exps(a, &b);
        }
        match (&a.kind, &b.kind) {
            (ExpKind::Ascript(x) | ExpKind::Attr(_, x), _) => self.unify_exps(x, b),
            (_, ExpKind::Ascript(y) | ExpKind::Attr(_, y)) => self.unify_exps(a, y),
            (ExpKind::Var { var: x, .. }, ExpKind::Var { var: y, .. }) if x == y => Some(Ok(())),
            (ExpKind::Var { var, .. }, _) if self.is_flexible(*var) => {
                Some(self.unify_size(&Size::Var(*var), &size_of_exp(b.clone())))
            }
            (_, ExpKind::Var { var, .. }) if self.is_flexible(*var) => {
                Some(self.unify_size(&Size::Var(*var), &size_of_exp(a.clone())))
            }
            (ExpKind::Int(x), ExpKind::Int(y)) => (x == y).then_some(Ok(())),
            (ExpKind::Float(x), ExpKind::Float(y)) => (x.to_bits() == y.to_bits()).then_some(Ok(())),
            (ExpKind::Bool(x), ExpKind::Bool(y)) => (x == y).then_some(Ok(())),
            (ExpKind::Str(x), ExpKind::Str(y)) => (x == y).then_some(Ok(())),
            (ExpKind::Intrinsic { name: x, inst: xs }, ExpKind::Intrinsic { name: y, inst: ys }) => {
                (x == y && same_args(xs, ys)).then_some(Ok(()))
            }
            (ExpKind::App { fun: f, args: xs }, ExpKind::App { fun: g, args: ys })
                if xs.len() == ys.len() =>
            {
                let mut result = self.unify_exps(f, g)?;
                for (x, y) in xs.iter().zip(ys) {
                    let next = self.unify_exps(x, y)?;
                    result = result.and(next);
                }
                Some(result)
            }
            (ExpKind::Project(x, f), ExpKind::Project(y, g)) if f == g => self.unify_exps(x, y),
            (ExpKind::Record(xs), ExpKind::Record(ys)) if xs.len() == ys.len() => {
                let mut result = Ok(());
                for ((_, x), (_, y)) in xs.iter().zip(ys) {
                    let next = self.unify_exps(x, y)?;
                    result = result.and(next);
                }
                Some(result)
            }
            (ExpKind::Array(xs), ExpKind::Array(ys)) if xs.len() == ys.len() => {
                let mut result = Ok(());
                for (x, y) in xs.iter().zip(ys) {
                    let next = self.unify_exps(x, y)?;
                    result = result.and(next);
                }
                Some(result)
            }
            (ExpKind::Index { array: x, slice: xs }, ExpKind::Index { array: y, slice: ys })
                if xs.len() == ys.len() =>
            {
                let mut result = self.unify_exps(x, y)?;
                for (i, j) in xs.iter().zip(ys) {
                    let (SliceIndex::Index(i), SliceIndex::Index(j)) = (i, j) else { return None };
                    let next = self.unify_exps(i, j)?;
                    result = result.and(next);
                }
                Some(result)
            }
            _ => None,
        }
    }

    /// Unify the sizes of two types of the same structure, where what is found is used as what is expected.
    pub(super) fn unify(&mut self, expected: &Type, actual: &Type) -> Unified {
        let mut exts = Vec::new();
        self.fit(expected, actual, &mut exts)
    }

    /// As [`Sizer::unify`], but where a function is expected, one with results of unknown size may be given if the
    /// expected result size is open to that. The sizes that come into being when it is applied are added to `exts`.
    pub(super) fn fit(&mut self, expected: &Type, actual: &Type, exts: &mut Vec<VarId>) -> Unified {
        self.fit_in(expected, actual, Variance::Covariant, exts)
    }

    /// As [`Sizer::fit`], for a part of a type. Sizes have to be the same whatever the variance; it tells which of the two
    /// may be an index where the other is a number.
    pub(super) fn fit_in(
        &mut self,
        expected: &Type,
        actual: &Type,
        variance: Variance,
        exts: &mut Vec<VarId>,
    ) -> Unified {
        match (expected, actual) {
            (Type::Array { dim: d, elem: x, .. }, Type::Array { dim: e, elem: y, .. }) => {
                self.unify_size(d, e)?;
                self.fit_in(x, y, variance, exts)
            }
            (Type::Record(xs), Type::Record(ys)) => {
                xs.iter().zip(ys.iter()).try_for_each(|((_, x), (_, y))| self.fit_in(x, y, variance, exts))
            }
            (Type::Sum(xs), Type::Sum(ys)) => xs.iter().zip(ys.iter()).try_for_each(|((_, xs), (_, ys))| {
                xs.iter().zip(ys).try_for_each(|(x, y)| self.fit_in(x, y, variance, exts))
            }),
            (Type::Arrow(x), Type::Arrow(y)) => self.fit_arrows(x, y, variance, exts),
            _ if self.is_index_number(expected) || self.is_index_number(actual) => {
                self.relate_numbers(expected, actual, variance)
            }
            (Type::Named { id: x, args: xs, .. }, Type::Named { id: y, args: ys, .. }) if x == y => {
                for (x, y) in xs.iter().zip(ys.iter()) {
                    match (x, y) {
                        (TypeArg::Size(x), TypeArg::Size(y)) => self.unify_size(x, y)?,
                        // What a reference refers to is both read and written; of other types nothing is known.
                        (TypeArg::Type(x), TypeArg::Type(y)) => {
                            self.fit_in(x, y, Variance::Invariant, exts)?;
                        }
                        (TypeArg::Size(_), TypeArg::Type(_)) | (TypeArg::Type(_), TypeArg::Size(_)) => {}
                    }
                }
                Ok(())
            }
            (Type::Named { id, args, .. }, _) if self.cx.index_types.contains_key(id) => match variance {
                // An index may stand where its representation is wanted, but not the other way round.
                Variance::Contravariant => {
                    let representation = self.representation(*id, args);
                    self.fit_in(&representation, actual, variance, exts)
                }
                Variance::Covariant | Variance::Invariant => Err(self.not_an_index(expected, actual)),
            },
            (_, Type::Named { id, args, .. }) if self.cx.index_types.contains_key(id) => match variance {
                Variance::Covariant => {
                    let representation = self.representation(*id, args);
                    self.fit_in(expected, &representation, variance, exts)
                }
                Variance::Contravariant | Variance::Invariant => Err(self.not_an_index(actual, expected)),
            },
            // The first pass has made sure that the structure agrees.
            (
                Type::Prim(_)
                | Type::Meta(_)
                | Type::Array { .. }
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Named { .. }
                | Type::Arrow(_),
                _,
            ) => Ok(()),
        }
    }

    /// As [`Sizer::fit_in`] for functions. The result of the one that is given is used as what is wanted; in a parameter, where a
    /// function is handed the other way, the expected one is given.
    fn fit_arrows(
        &mut self,
        expected: &Arrow,
        actual: &Arrow,
        variance: Variance,
        exts: &mut Vec<VarId>,
    ) -> Unified {
        self.fit_in(&expected.from, &actual.from, variance.flipped(), exts)?;
        let param = self.common_parameter(expected, actual)?;
        let is_expected_given = match variance {
            Variance::Contravariant => true,
            Variance::Covariant | Variance::Invariant => false,
        };
        let (wanted, given) = if is_expected_given { (actual, expected) } else { (expected, actual) };
        let (mut given_ret, mut given_exts) = (self.result_with(given, param), given.to.exts.clone());
        if wanted.param.is_none() && self.settled_parameter(given.param).is_some_and(|p| !self.is_flexible(p))
        {
            // Nothing can be said about the argument where the function will be applied.
            let (hidden, exts) = self.hide(&given_ret, &|_, v| v == param, "an argument's value", Span::NONE);
            given_ret = hidden;
            given_exts.extend(exts);
        }
        let mut open = Subst::default();
        // What the wanted function leaves open may be anything.
        for ext in &wanted.to.exts {
            let any = self.flexible(u32::MAX, true);
            open.sizes.insert(*ext, any);
        }
        let wanted_ret = open.ty(&self.result_with(wanted, param));
        if wanted.to.exts.is_empty() && !given_exts.is_empty() {
            let mut fresh = Subst::default();
            let mut made = Vec::new();
            for ext in &given_exts {
                let var = self.unknown("the size of a function's result", Span::NONE);
                fresh.sizes.insert(*ext, Size::Var(var));
                made.push(var);
            }
            given_ret = fresh.ty(&given_ret);
            self.check_open_results(&wanted_ret, &given_ret, &made)?;
            exts.extend(made);
        }
        match is_expected_given {
            true => self.fit_in(&given_ret, &wanted_ret, variance, exts),
            false => self.fit_in(&wanted_ret, &given_ret, variance, exts),
        }
    }

    /// The result type of a function whose parameter has this name.
    fn result_with(&self, function: &Arrow, param: VarId) -> Type {
        let mut subst = Subst::default();
        subst.sizes.extend(self.settled_parameter(function.param).map(|p| (p, Size::Var(param))));
        subst.ty(&self.zonk(&function.to.ty))
    }

    /// Unknown sizes of a function's result may only go where the expected size is a lifted flexible one.
    fn check_open_results(&mut self, expected: &Type, actual: &Type, made: &[VarId]) -> Unified {
        let mut pairs = Vec::new();
        pair_sizes(expected, actual, &mut pairs);
        for (want, have) in pairs {
            let unknown = have.mentions(&|v| made.contains(&v));
            let open = match self.zonk_size(&want) {
                Size::Var(v) => self.is_flexible(v) && self.is_lifted(v),
                Size::Const(_) | Size::Exp(_) | Size::Set(_) | Size::Meta(_) => false,
            };
            if unknown && !open {
                return Err(SizeMismatch::UnknownResult(actual.clone()));
            }
        }
        Ok(())
    }
}

/// The sizes of two types of the same structure, side by side; functions are left out.
pub(super) fn pair_sizes(a: &Type, b: &Type, pairs: &mut Vec<(Size, Size)>) {
    match (a, b) {
        (Type::Array { dim: d, elem: x, .. }, Type::Array { dim: e, elem: y, .. }) => {
            match (d, e) {
                (Size::Set(d), Size::Set(e)) => pair_sizes(d, e, pairs),
                _ => pairs.push((d.clone(), e.clone())),
            }
            pair_sizes(x, y, pairs);
        }
        (Type::Record(xs), Type::Record(ys)) => {
            xs.iter().zip(ys.iter()).for_each(|((_, x), (_, y))| pair_sizes(x, y, pairs))
        }
        (Type::Sum(xs), Type::Sum(ys)) => xs
            .iter()
            .zip(ys.iter())
            .for_each(|((_, xs), (_, ys))| xs.iter().zip(ys).for_each(|(x, y)| pair_sizes(x, y, pairs))),
        (Type::Named { args: xs, .. }, Type::Named { args: ys, .. }) => {
            for (x, y) in xs.iter().zip(ys.iter()) {
                match (x, y) {
                    (TypeArg::Size(x), TypeArg::Size(y)) => pairs.push((x.clone(), y.clone())),
                    (TypeArg::Type(x), TypeArg::Type(y)) => pair_sizes(x, y, pairs),
                    (TypeArg::Size(_), TypeArg::Type(_)) | (TypeArg::Type(_), TypeArg::Size(_)) => {}
                }
            }
        }
        _ => {}
    }
}
