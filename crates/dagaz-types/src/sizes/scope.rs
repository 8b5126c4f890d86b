//! Leaving scopes: sizes that mention what is no longer there.

use dagaz_syntax::Span;

use super::{SizeKind, Sizer};
use crate::subst::{Subst, size_of_exp};
use crate::typed::{Exp, ExpKind, SliceIndex};
use crate::types::{RetType, Size, Type, TypeArg, VarId};

impl Sizer<'_> {
    /// Dress a type of the first pass with flexible sizes of the given level.
    pub(super) fn dress(&mut self, ty: &Type, level: u32, lifted: bool) -> Type {
        let dressed = self.dress_numbers(ty, level, lifted);
        self.open_numbers(&dressed, level)
    }

    /// As [`Sizer::dress`], where numbers are no indices.
    pub(super) fn dress_numbers(&mut self, ty: &Type, level: u32, lifted: bool) -> Type {
        // Types of definitions may bring sizes of their own along; they say nothing about this use.
        // Nor does the uniqueness of whatever the type was inferred from.
        self.map_sizes(&without_open_sizes(ty).with_uniqueness(false), &mut |sizer, _| {
            sizer.flexible(level, lifted)
        })
    }

    /// Rebuild a type with every size replaced.
    pub(super) fn map_sizes(&mut self, ty: &Type, f: &mut dyn FnMut(&mut Self, &Size) -> Size) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array { unique, dim, elem } => {
                let dim = self.map_size(dim, f);
                Type::Array { unique: *unique, dim, elem: self.map_sizes(elem, f).into() }
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (*n, self.map_sizes(t, f))).collect())
            }
            Type::Sum(cs) => Type::Sum(
                cs.iter().map(|(c, ts)| (*c, ts.iter().map(|t| self.map_sizes(t, f)).collect())).collect(),
            ),
            Type::Arrow(a) => {
                let from = self.map_sizes(&a.from, f);
                let to = self.map_sizes(&a.to.ty, f);
                Type::arrow(a.param, from, RetType { exts: a.to.exts.clone(), ty: to })
            }
            Type::Named { unique, id, args } => {
                let args = args
                    .iter()
                    .map(|a| match a {
                        TypeArg::Size(s) => TypeArg::Size(self.map_size(s, f)),
                        TypeArg::Type(t) => TypeArg::Type(self.map_sizes(t, f)),
                    })
                    .collect();
                Type::Named { unique: *unique, id: *id, args }
            }
        }
    }

    fn map_size(&mut self, size: &Size, f: &mut dyn FnMut(&mut Self, &Size) -> Size) -> Size {
        match size {
            Size::Set(ty) => Size::of_index(self.map_sizes(ty, f)),
            Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => f(self, size),
        }
    }

    /// Replace every size in `ty` that mentions a variable chosen by `hidden` by an unknown size of the current level.
    pub(super) fn hide(
        &mut self,
        ty: &Type,
        hidden: &dyn Fn(&Self, VarId) -> bool,
        why: &'static str,
        span: Span,
    ) -> (Type, Vec<VarId>) {
        self.solve_leaving(ty, hidden);
        let ty = self.zonk(ty);
        let mut seen: Vec<(Size, VarId)> = Vec::new();
        let mut bound = Vec::new();
        bound_in_arrows(&ty, &mut bound);
        let hidden = |s: &Self, v: VarId| hidden(s, v) && !bound.contains(&v);
        if !ty.size_vars().iter().any(|v| hidden(self, *v)) {
            return (ty, Vec::new());
        }
        // Smaller sizes first, so that in `([c]t, [n - c]t)` the second becomes `n - k` once `c` is `k`.
        let mut sizes = Vec::new();
        ty.each_size(&mut |size| {
            if size.mentions(&|v| hidden(self, v)) && !sizes.iter().any(|s| same_size(s, size)) {
                sizes.push(size.clone());
            }
        });
        sizes.sort_by_key(weight);
        for size in sizes {
            let reduced = seen.iter().fold(size.clone(), |s, (old, var)| replace_part(&s, old, *var));
            if reduced.mentions(&|v| hidden(self, v)) {
                let var = self.unknown(why, span);
                seen.push((size, var));
            }
        }
        let ty = self.map_sizes(&ty, &mut |_, size| {
            if !size.mentions(&|_| true) {
                return size.clone();
            }
            seen.iter().fold(size.clone(), |s, (old, var)| replace_part(&s, old, *var))
        });
        (ty, seen.into_iter().map(|(_, v)| v).collect())
    }

    /// Hide everything that came into being above the current level. Flexible sizes stay, but may from now on only
    /// become what is in scope here.
    pub(super) fn hide_inner(&mut self, ty: &Type, why: &'static str, span: Span) -> (Type, Vec<VarId>) {
        let level = self.level;
        self.lower_flexible(ty);
        self.hide(ty, &|s, v| s.level_of(v) > level, why, span)
    }

    /// Flexible sizes in `ty` belong to the current level from now on.
    pub(super) fn lower_flexible(&mut self, ty: &Type) {
        for v in self.zonk(ty).size_vars() {
            if self.is_flexible(v)
                && let Some(info) = self.vars.get_mut(&v)
            {
                info.level = info.level.min(self.level);
            }
        }
    }

    /// Unknown sizes in `ty` belong to the current level from now on: they exist once the value does.
    pub(super) fn lower_unknown(&mut self, ty: &Type) {
        for v in ty.size_vars() {
            if let Some(info) = self.vars.get_mut(&v)
                && matches!(info.kind, SizeKind::Unknown(..))
            {
                info.level = info.level.min(self.level);
            }
        }
    }

    /// Leave the scope of some variables: `known` ones are replaced by what they are, others make sizes unknown.
    pub(super) fn unscope(
        &mut self,
        ty: &Type,
        gone: &[VarId],
        known: &Subst,
        span: Span,
    ) -> (Type, Vec<VarId>) {
        self.solve_leaving(ty, &|_, v| gone.contains(&v));
        let mut ty = self.zonk(ty);
        if ty.size_vars().is_empty() {
            return (ty, Vec::new());
        }
        if !known.is_empty() {
            ty = self.zonk(&known.ty(&ty));
        }
        self.lower_flexible(&ty);
        self.lower_unknown(&ty);
        self.hide(&ty, &|_, v| gone.contains(&v), "a size that went out of scope", span)
    }
}

/// Variables that the function types in a type bind themselves.
fn bound_in_arrows(ty: &Type, bound: &mut Vec<VarId>) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array { elem, .. } => bound_in_arrows(elem, bound),
        Type::Record(fields) => fields.iter().for_each(|(_, t)| bound_in_arrows(t, bound)),
        Type::Sum(cs) => cs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| bound_in_arrows(t, bound))),
        Type::Arrow(a) => {
            bound.extend(a.param);
            bound.extend(&a.to.exts);
            bound_in_arrows(&a.from, bound);
            bound_in_arrows(&a.to.ty, bound);
        }
        Type::Named { args, .. } => args.iter().for_each(|a| match a {
            TypeArg::Size(_) => {}
            TypeArg::Type(t) => bound_in_arrows(t, bound),
        }),
    }
}

/// The same type with functions that leave no size open.
fn without_open_sizes(ty: &Type) -> Type {
    match ty {
        Type::Arrow(a) => {
            Type::arrow(None, without_open_sizes(&a.from), RetType::plain(without_open_sizes(&a.to.ty)))
        }
        Type::Record(fields) => {
            Type::Record(fields.iter().map(|(f, t)| (*f, without_open_sizes(t))).collect())
        }
        Type::Sum(cs) => {
            Type::Sum(cs.iter().map(|(c, ts)| (*c, ts.iter().map(without_open_sizes).collect())).collect())
        }
        Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Named { .. } => ty.clone(),
    }
}

/// Whether an expression can stand in a type as a size: nothing is bound in it, and nothing happens.
pub(super) fn can_be_size(e: &Exp) -> bool {
    if !e.exts.is_empty() {
        return false;
    }
    match &e.kind {
        ExpKind::Int(_) | ExpKind::Float(_) | ExpKind::Bool(_) => true,
        ExpKind::Var { .. } | ExpKind::Intrinsic { .. } => true,
        ExpKind::Str(_) | ExpKind::Hole => false,
        ExpKind::Record(fields) => fields.iter().all(|(_, e)| can_be_size(e)),
        ExpKind::Array(elems) => elems.iter().all(can_be_size),
        ExpKind::Project(e, _) | ExpKind::Ascript(e) | ExpKind::Attr(_, e) => can_be_size(e),
        ExpKind::Index { array, slice } => {
            can_be_size(array)
                && slice.iter().all(|s| match s {
                    SliceIndex::Index(i) => can_be_size(i),
                    SliceIndex::Slice { .. } => false,
                })
        }
        ExpKind::App { fun, args } => can_be_size(fun) && args.iter().all(can_be_size),
        ExpKind::And(..)
        | ExpKind::Or(..)
        | ExpKind::Constr { .. }
        | ExpKind::Coerce(_)
        | ExpKind::Range { .. }
        | ExpKind::If { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::Lambda(_)
        | ExpKind::Loop { .. }
        | ExpKind::Match { .. }
        | ExpKind::With { .. }
        | ExpKind::Assert { .. } => false,
    }
}

/// How large a size is as an expression.
fn weight(size: &Size) -> usize {
    match size {
        Size::Const(_) | Size::Var(_) | Size::Set(_) | Size::Meta(_) => 1,
        Size::Exp(e) => exp_weight(e),
    }
}

fn exp_weight(e: &Exp) -> usize {
    1 + match &e.kind {
        ExpKind::App { fun, args } => exp_weight(fun) + args.iter().map(exp_weight).sum::<usize>(),
        ExpKind::Project(e, _) | ExpKind::Ascript(e) | ExpKind::Attr(_, e) => exp_weight(e),
        ExpKind::Index { array, slice } => {
            let index = |s: &SliceIndex| match s {
                SliceIndex::Index(i) => exp_weight(i),
                SliceIndex::Slice { .. } => 1,
            };
            exp_weight(array) + slice.iter().map(index).sum::<usize>()
        }
        ExpKind::Record(fields) => fields.iter().map(|(_, e)| exp_weight(e)).sum(),
        ExpKind::Array(elems) => elems.iter().map(exp_weight).sum(),
        _ => 0,
    }
}

/// Replace every occurrence of the size `old` in `size` by a variable.
fn replace_part(size: &Size, old: &Size, new: VarId) -> Size {
    if same_size(size, old) {
        return Size::Var(new);
    }
    match size {
        Size::Exp(e) => size_of_exp(replace_in_exp(e, old, new)),
        // Sizes in an index set are replaced one by one.
        Size::Const(_) | Size::Var(_) | Size::Set(_) | Size::Meta(_) => size.clone(),
    }
}

fn replace_in_exp(e: &Exp, old: &Size, new: VarId) -> Exp {
    let here = match (&e.kind, old) {
        (ExpKind::Var { var, .. }, Size::Var(v)) => var == v,
        (_, Size::Exp(o)) => same_exp(e, o),
        _ => false,
    };
    if here {
        return crate::subst::exp_of_size(&Size::Var(new), e);
    }
    let mut e = e.clone();
    match &mut e.kind {
        ExpKind::App { args, .. } => args.iter_mut().for_each(|a| *a = replace_in_exp(a, old, new)),
        ExpKind::Project(inner, _) | ExpKind::Ascript(inner) | ExpKind::Attr(_, inner) => {
            **inner = replace_in_exp(inner, old, new);
        }
        _ => {}
    }
    e
}

/// Whether two sizes are the same by structure.
pub(super) fn same_size(a: &Size, b: &Size) -> bool {
    match (a, b) {
        (Size::Const(x), Size::Const(y)) => x == y,
        (Size::Var(x), Size::Var(y)) => x == y,
        (Size::Exp(x), Size::Exp(y)) => same_exp(x, y),
        (Size::Set(x), Size::Set(y)) => same_type(x, y),
        (Size::Meta(_), Size::Meta(_)) => true,
        _ => false,
    }
}

/// Whether two index types are the same by structure.
pub(super) fn same_type(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Prim(x), Type::Prim(y)) => x == y,
        (Type::Record(xs), Type::Record(ys)) => {
            xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|((f, x), (g, y))| f == g && same_type(x, y))
        }
        (Type::Sum(xs), Type::Sum(ys)) => {
            let same_payload = |xs: &[Type], ys: &[Type]| {
                xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same_type(x, y))
            };
            xs.len() == ys.len()
                && xs.iter().zip(ys.iter()).all(|((c, x), (d, y))| c == d && same_payload(x, y))
        }
        (Type::Named { id: x, args: xs, .. }, Type::Named { id: y, args: ys, .. }) => {
            x == y && same_args(xs, ys)
        }
        (Type::Array { dim: d, elem: x, .. }, Type::Array { dim: e, elem: y, .. }) => {
            same_size(d, e) && same_type(x, y)
        }
        _ => false,
    }
}

pub(super) fn same_args(xs: &[TypeArg], ys: &[TypeArg]) -> bool {
    let same = |x: &TypeArg, y: &TypeArg| match (x, y) {
        (TypeArg::Size(x), TypeArg::Size(y)) => same_size(x, y),
        (TypeArg::Type(x), TypeArg::Type(y)) => same_type(x, y),
        _ => false,
    };
    xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same(x, y))
}

/// Whether two size expressions are the same by structure.
pub(crate) fn same_exp(a: &Exp, b: &Exp) -> bool {
    match (&a.kind, &b.kind) {
        (ExpKind::Ascript(x) | ExpKind::Attr(_, x), _) => same_exp(x, b),
        (_, ExpKind::Ascript(y) | ExpKind::Attr(_, y)) => same_exp(a, y),
        (ExpKind::Int(x), ExpKind::Int(y)) => x == y,
        (ExpKind::Float(x), ExpKind::Float(y)) => x.to_bits() == y.to_bits(),
        (ExpKind::Bool(x), ExpKind::Bool(y)) => x == y,
        (ExpKind::Var { var: x, .. }, ExpKind::Var { var: y, .. }) => x == y,
        (ExpKind::Intrinsic { name: x, inst: xs }, ExpKind::Intrinsic { name: y, inst: ys }) => {
            x == y && same_args(xs, ys)
        }
        (ExpKind::App { fun: f, args: xs }, ExpKind::App { fun: g, args: ys }) => {
            same_exp(f, g) && xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same_exp(x, y))
        }
        (ExpKind::Project(x, f), ExpKind::Project(y, g)) => f == g && same_exp(x, y),
        (ExpKind::Record(xs), ExpKind::Record(ys)) => {
            xs.len() == ys.len() && xs.iter().zip(ys).all(|((f, x), (g, y))| f == g && same_exp(x, y))
        }
        (ExpKind::Array(xs), ExpKind::Array(ys)) => {
            xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same_exp(x, y))
        }
        (ExpKind::Index { array: x, slice: xs }, ExpKind::Index { array: y, slice: ys }) => {
            same_exp(x, y)
                && xs.len() == ys.len()
                && xs.iter().zip(ys).all(|(i, j)| match (i, j) {
                    (SliceIndex::Index(i), SliceIndex::Index(j)) => same_exp(i, j),
                    _ => false,
                })
        }
        _ => false,
    }
}
