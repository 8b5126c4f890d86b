//! `for`, and what numbers the elements of arrays.
//!
//! The first pass takes an index for its representation, which is `i64` for the numbers below a size. This pass tells
//! them apart: `idx [n]` is the type of the numbers below `n`, and the `i` of `for i -> x[i]` is of type `idx [d]` with
//! a flexible size `d`, which becomes the size of `x`. So an array is indexed without a check by an index of its own
//! set, and one of another set is an error.
//!
//! ```text
//! for i -> x[i]   ==>   pointful (\(i: idx [n]) -> x[i])      if x has n elements
//! ```

use std::rc::Rc;

use dagaz_syntax::ast::{Exp as SynExp, ExpKind as Syn, ForBinder, TypeArg as SynArg};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::expression::plain;
use super::type_exp::Anonymous;
use super::{SizeMismatch, Sizer, internal};
use crate::context::{Error, Res, fail};
use crate::subst::Subst;
use crate::typed::{Exp, ExpKind, Lambda};
use crate::types::{IDX, PrimType, RetType, Size, Type, TypeArg, VarId};

impl Sizer<'_> {
    pub(super) fn for_exp(&mut self, e: &SynExp, binders: &[ForBinder], body: &SynExp) -> Res<Exp> {
        let level = self.level;
        let mut bound = Vec::new();
        for binder in binders {
            let index = match &binder.bound {
                Some(size) => self.size_exp(size)?.index_type(),
                None => {
                    let noted = self.noted_type(binder.pat.id, binder.pat.span)?;
                    self.index_type(&noted, level)
                }
            };
            self.index_arguments.push((index.clone(), binder.pat.span));
            bound.push(index);
        }
        let mut pats = Vec::new();
        for (binder, index) in binders.iter().zip(&bound) {
            self.level += 1;
            pats.push(self.pat(&binder.pat, index, level)?);
        }
        let body = self.exp(body);
        self.level = level;
        let body = body?;
        self.lower_flexible(&body.ty.clone());
        let inner = |s: &Self, v| s.level_of(v) > level;
        let (mut ty, unknown) = self.hide(&body.ty.clone(), &inner, "made by this expression", body.span);
        if !unknown.is_empty() {
            return fail(
                Diagnostic::error(
                    "irregular-array",
                    body.span,
                    "The elements of this array may differ in size from index to index",
                )
                .at(format!("has type \"{}\"", self.show_type(&body.ty)))
                .label(e.span, "the array of these values"),
            );
        }
        ty = ty.with_uniqueness(false);
        let mut result = body;
        for (pat, index) in pats.into_iter().zip(bound).rev() {
            let ret = RetType::plain(ty.clone());
            let fun_ty = Type::arrow(None, index.clone(), ret.clone());
            let lambda = Lambda { sizes: Vec::new(), params: vec![pat], ret, body: result };
            let lambda = plain(ExpKind::Lambda(Rc::new(lambda)), fun_ty.clone(), e.span);
            let inst = vec![TypeArg::Type(index.clone()), TypeArg::Type(ty.clone())];
            ty = Type::array(Size::of_index(index), ty);
            let fun_ty = Type::arrow(None, fun_ty, RetType::plain(ty.with_uniqueness(true)));
            let fun = plain(ExpKind::Intrinsic { name: Name::new("pointful"), inst }, fun_ty, e.span);
            result = plain(ExpKind::App { fun: Box::new(fun), args: vec![lambda] }, ty.clone(), e.span);
        }
        Ok(result)
    }

    /// The index type that the first pass saw as `ty`, with sizes still to be found.
    pub(super) fn index_type(&mut self, ty: &Type, level: u32) -> Type {
        match ty {
            Type::Prim(PrimType::Bool) => Type::BOOL,
            Type::Prim(_) => {
                self.has_open_indices = true;
                self.flexible(level, false).index_type()
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(f, t)| (*f, self.index_type(t, level))).collect())
            }
            Type::Sum(constrs) => {
                let all = |s: &mut Self, ts: &[Type]| ts.iter().map(|t| s.index_type(t, level)).collect();
                Type::Sum(constrs.iter().map(|(c, payload)| (*c, all(self, payload))).collect())
            }
            Type::Named { .. } | Type::Array { .. } | Type::Arrow(_) | Type::Meta(_) => {
                self.dress(ty, level, false)
            }
        }
    }

    /// Whether a type of the first pass can be that of an index.
    pub(super) fn is_index_shaped(&self, ty: &Type) -> bool {
        match ty {
            Type::Prim(prim) => matches!(prim, PrimType::I64 | PrimType::Bool),
            Type::Record(fields) => fields.iter().all(|(_, t)| self.is_index_shaped(t)),
            Type::Sum(constrs) => constrs.iter().all(|(_, ts)| ts.iter().all(|t| self.is_index_shaped(t))),
            Type::Named { .. } => true,
            Type::Array { .. } | Type::Arrow(_) | Type::Meta(_) => false,
        }
    }

    /// A dimension of an array type: a size, or an index set, which the first pass has told from a size.
    pub(super) fn dim_exp(&mut self, e: &SynExp, anonymous: &mut Anonymous<'_>) -> Res<Size> {
        match &e.kind {
            Syn::Paren(inner) => self.dim_exp(inner, anonymous),
            Syn::Tuple(parts) => {
                let parts: Res<Vec<_>> =
                    parts.iter().map(|p| Ok(self.dim_exp(p, anonymous)?.index_type())).collect();
                Ok(Size::Set(Rc::new(Type::tuple(parts?))))
            }
            Syn::Var(_) if self.notes.type_names.contains_key(&e.id) => self.named_set(e, &[], anonymous),
            Syn::App { fun, args } if self.notes.type_names.contains_key(&fun.id) => {
                self.named_set(fun, args, anonymous)
            }
            _ => self.size_exp(e),
        }
    }

    fn named_set(&mut self, name: &SynExp, args: &[SynExp], anonymous: &mut Anonymous<'_>) -> Res<Size> {
        let Some(binding) = self.notes.type_names.get(&name.id).cloned() else {
            return Err(internal(name.span, "an unresolved type name"));
        };
        let mut sizes = Vec::new();
        for (param, arg) in binding.params.iter().zip(args) {
            let Syn::Array(size) = &arg.kind else {
                return Err(internal(arg.span, "a size argument that is none"));
            };
            let arg = SynArg::Size { dim: size.first().cloned().map(Box::new), span: arg.span };
            sizes.push(self.type_argument(param.kind, &arg, anonymous, name.span)?);
        }
        Ok(Size::of_index(Subst::instantiate(&binding.params, &sizes).ty(&binding.ty)))
    }

    /// The type itself, or what represents its values if it is an index type.
    pub(super) fn represented(&self, ty: &Type) -> Type {
        match ty {
            Type::Named { id, args, .. } if self.cx.index_types.contains_key(id) => {
                self.representation(*id, args)
            }
            _ => ty.clone(),
        }
    }

    /// A type in which values of index types are no more than what represents them.
    pub(super) fn without_index_types(&self, ty: &Type) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array { unique, dim, elem } => {
                Type::Array { unique: *unique, dim: dim.clone(), elem: self.without_index_types(elem).into() }
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(f, t)| (*f, self.without_index_types(t))).collect())
            }
            Type::Sum(constrs) => {
                let all = |ts: &[Type]| ts.iter().map(|t| self.without_index_types(t)).collect();
                Type::Sum(constrs.iter().map(|(c, ts)| (*c, all(ts))).collect())
            }
            Type::Arrow(arrow) => {
                let to = RetType { exts: arrow.to.exts.clone(), ty: self.without_index_types(&arrow.to.ty) };
                Type::arrow(arrow.param, self.without_index_types(&arrow.from), to)
            }
            Type::Named { id, args, .. } if self.cx.index_types.contains_key(id) => {
                self.representation(*id, args)
            }
            Type::Named { .. } => ty.clone(),
        }
    }

    pub(super) fn not_an_index(&self, expected: &Type, actual: &Type) -> SizeMismatch {
        SizeMismatch::NotAnIndex(expected.clone(), actual.clone())
    }

    /// Unify the index types of two dimensions.
    pub(super) fn unify_sets(&mut self, a: &Rc<Type>, b: &Rc<Type>) -> Result<(), SizeMismatch> {
        match (&**a, &**b) {
            (Type::Record(xs), Type::Record(ys)) if xs.len() == ys.len() => {
                xs.iter().zip(ys.iter()).try_for_each(|((_, x), (_, y))| self.unify_indices(x, y))
            }
            (Type::Sum(xs), Type::Sum(ys)) if xs.len() == ys.len() => {
                let pairs = xs.iter().zip(ys.iter());
                let mut types = pairs.flat_map(|((_, xs), (_, ys))| xs.iter().zip(ys));
                types.try_for_each(|(x, y)| self.unify_indices(x, y))
            }
            (Type::Named { id: x, args: xs, .. }, Type::Named { id: y, args: ys, .. }) if x == y => {
                for (x, y) in xs.iter().zip(ys.iter()) {
                    if let (TypeArg::Size(x), TypeArg::Size(y)) = (x, y) {
                        self.unify_size(x, y)?;
                    }
                }
                Ok(())
            }
            (Type::Prim(x), Type::Prim(y)) if x == y => Ok(()),
            _ => Err(SizeMismatch::Differ(Size::Set(a.clone()), Size::Set(b.clone()))),
        }
    }

    fn unify_indices(&mut self, a: &Type, b: &Type) -> Result<(), SizeMismatch> {
        self.unify_size(&Size::of_index(a.clone()), &Size::of_index(b.clone()))
    }

    /// Check an index into a dimension. One of an index type has to be of the dimension's own set; a number may be any, and
    /// is checked when the program runs.
    pub(super) fn check_index(&mut self, index: &Exp, dim: &Size, array: Span) -> Res<()> {
        let ty = self.zonk(&index.ty);
        let dim = self.zonk_size(dim);
        let wrong = |s: &Self| s.wrong_index(index.span, variable_of(index), &ty, &dim, array);
        match (&dim, &ty) {
            (Size::Set(set), _) => {
                let mut exts = Vec::new();
                self.placed(index.span, |s| s.fit(&set.clone(), &ty, &mut exts)).map_err(|_| wrong(self))
            }
            (_, Type::Meta(_)) => {
                self.index_use(index, &dim, array);
                Ok(())
            }
            (_, Type::Prim(prim)) if *prim != PrimType::Bool => Ok(()),
            (Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_), _) => {
                let open = matches!(&dim, Size::Var(v) if self.is_flexible(*v));
                let numbered = matches!(ty, Type::Named { id: IDX, .. });
                if !(numbered || open && self.is_index(&ty)) {
                    return Err(wrong(self));
                }
                self.unify_size(&dim, &Size::of_index(ty.clone())).map_err(|_| wrong(self))
            }
        }
    }

    /// Whether every value of a type numbers an element of an array.
    fn is_index(&self, ty: &Type) -> bool {
        match ty {
            Type::Named { id, .. } => {
                self.cx.index_types.contains_key(id) || self.cx.index_params.contains(id)
            }
            Type::Record(fields) => fields.iter().all(|(_, t)| self.is_index(t)),
            Type::Sum(constrs) => constrs.iter().all(|(_, ts)| ts.iter().all(|t| self.is_index(t))),
            Type::Prim(prim) => *prim == PrimType::Bool,
            Type::Array { .. } | Type::Arrow(_) | Type::Meta(_) => false,
        }
    }

    pub(super) fn wrong_index(
        &self,
        at: Span,
        name: Option<VarId>,
        ty: &Type,
        dim: &Size,
        array: Span,
    ) -> Error {
        let shown = self.cx.show_size(dim);
        let mut d = Diagnostic::error(
            "wrong-index",
            at,
            format!("This is not an index of the set \"{shown}\" that the array is indexed by"),
        )
        .at(format!("has type \"{}\"", self.show_type(ty)))
        .label(array, format!("this array is indexed by \"{shown}\""));
        if let Some(var) = name
            && let Some((place, _)) = self.notes.binders.iter().find(|(_, v)| **v == var)
        {
            d = d.label(*place, format!("this index is of type \"{}\"", self.show_type(ty)));
        }
        if matches!(ty, Type::Named { id: IDX, .. }) && !matches!(dim, Size::Set(_)) {
            d = d.help("to use its number, which is checked when the program runs, write \"ordinal\" before the index");
        }
        d.into()
    }
}

pub(super) fn variable_of(e: &Exp) -> Option<VarId> {
    match &e.kind {
        ExpKind::Var { var, .. } => Some(*var),
        _ => None,
    }
}
