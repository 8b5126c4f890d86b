//! Array literals, ranges, indexing, updates and coercions.

use dagaz_syntax::ast::{Access as SynAccess, Exp as SynExp, RangeKind, SliceIndex as SynIndex, TypeExp};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::application::is_i64;
use super::expression::plain;
use super::scope::can_be_size;
use super::type_exp::Anonymous;
use super::{Sizer, internal};
use crate::context::{Res, fail};
use crate::subst::{exp_of_size, size_of_exp};
use crate::typed::{Access, Exp, ExpKind, SliceIndex};
use crate::types::{Size, Type, TypeArg, VarId};

/// `a op b` on `i64`s.
fn arithmetic(op: &str, a: Exp, b: Exp) -> Exp {
    let span = a.span;
    let binary = Type::arrow(
        None,
        Type::I64,
        crate::types::RetType::plain(Type::arrow(None, Type::I64, crate::types::RetType::plain(Type::I64))),
    );
    let inst = vec![TypeArg::Type(Type::I64)];
    let fun = plain(ExpKind::Intrinsic { name: Name::new(op), inst }, binary, span);
    plain(ExpKind::App { fun: Box::new(fun), args: vec![a, b] }, Type::I64, span)
}

fn literal(e: &Exp) -> Option<i128> {
    match &e.kind {
        ExpKind::Int(n) => Some(*n),
        ExpKind::Ascript(e) | ExpKind::Attr(_, e) => literal(e),
        ExpKind::App { fun, args } => match (&fun.kind, &args[..]) {
            (ExpKind::Intrinsic { name, .. }, [arg]) if name.as_str() == "neg" => literal(arg).map(|n| -n),
            _ => None,
        },
        _ => None,
    }
}

impl Sizer<'_> {
    pub(super) fn array_literal(&mut self, e: &SynExp, elems: &[SynExp]) -> Res<Exp> {
        let Type::Array { elem, .. } = self.noted_type(e.id, e.span)? else {
            return Err(internal(e.span, "an array literal of another type"));
        };
        let elem = self.dress(&elem, self.level, false);
        let mut typed = Vec::with_capacity(elems.len());
        let mut elem_ty = elem.clone();
        for (i, item) in elems.iter().enumerate() {
            let item = self.exp(item)?;
            if i == 0 {
                elem_ty = self.open_indices(&item.ty, self.level).with_uniqueness(false);
            }
            self.expect(&item, &elem_ty, "All elements of an array must have the same size")?;
            typed.push(item);
        }
        let ty = Type::array(Size::Const(elems.len() as i64), elem_ty);
        Ok(plain(ExpKind::Array(typed), ty, e.span))
    }

    /// A size given by an expression, if it can be one.
    fn size_from(&self, e: Option<Exp>) -> Option<Size> {
        e.filter(can_be_size).map(size_of_exp)
    }

    pub(super) fn range(
        &mut self,
        e: &SynExp,
        start: &SynExp,
        second: Option<&SynExp>,
        end: &SynExp,
        kind: RangeKind,
    ) -> Res<Exp> {
        let start = self.exp(start)?;
        let second = second.map(|s| self.exp(s)).transpose()?;
        let end = self.exp(end)?;
        // What is counted up from an index may be none.
        let elem = if self.is_index_number(&self.zonk(&start.ty)) { Type::I64 } else { start.ty.clone() };
        let known = if !is_i64(&elem) {
            None
        } else {
            match (literal(&start), second.as_ref().map(literal), kind) {
                (Some(0), None | Some(Some(1)), RangeKind::UpTo) => Some(end.clone()),
                (_, None, RangeKind::UpTo) => Some(arithmetic("-", end.clone(), start.clone())),
                (Some(1), Some(Some(2)), RangeKind::Inclusive) => Some(end.clone()),
                (_, None, RangeKind::Inclusive) => {
                    let one = plain(ExpKind::Int(1), Type::I64, e.span);
                    Some(arithmetic("+", arithmetic("-", end.clone(), start.clone()), one))
                }
                _ => None,
            }
        };
        let mut exts = Vec::new();
        let dim = self.size_from(known).unwrap_or_else(|| {
            let var = self.unknown("the unknown length of range", e.span);
            exts.push(var);
            Size::Var(var)
        });
        let kind =
            ExpKind::Range { start: Box::new(start), second: second.map(Box::new), end: Box::new(end), kind };
        Ok(Exp { kind, ty: Type::array(dim, elem), exts, span: e.span })
    }

    pub(super) fn index(&mut self, array: Exp, slice: &[SynIndex], span: Span) -> Res<Exp> {
        let mut exts = Vec::new();
        let reference = self.cx.references.content(&array.ty).map(|(id, content)| (id, content.clone()));
        let whole = reference.as_ref().map_or(&array.ty, |(_, content)| content).clone();
        let (slice, part) = self.slice(&whole, slice, span, Some(&mut exts))?;
        let ty = match reference {
            Some((id, _)) => Type::reference(id, part),
            None => part,
        };
        Ok(Exp { kind: ExpKind::Index { array: Box::new(array), slice }, ty, exts, span })
    }

    /// Check indices into an array of type `ty`: the typed indices, and the type of the part. Without `exts`, sizes that are
    /// not obvious are flexible.
    fn slice(
        &mut self,
        ty: &Type,
        slice: &[SynIndex],
        span: Span,
        mut exts: Option<&mut Vec<VarId>>,
    ) -> Res<(Vec<SliceIndex>, Type)> {
        let mut ty = self.zonk(ty);
        let mut typed = Vec::new();
        let mut dims = Vec::new();
        for index in slice {
            let Type::Array { dim, elem, .. } = &ty else {
                return Err(internal(span, "an index into a scalar"));
            };
            match index {
                SynIndex::Index(i) => {
                    let index = self.exp(i)?;
                    self.check_index(&index, dim, span)?;
                    typed.push(SliceIndex::Index(index));
                }
                SynIndex::Slice { start, end, stride, span }
                    if matches!(self.zonk_size(dim), Size::Set(_)) =>
                {
                    if [start, end, stride].iter().any(|part| part.is_some()) {
                        return fail(
                            Diagnostic::error(
                                "slice-of-index-set",
                                *span,
                                "Only arrays indexed by a size have slices",
                            )
                            .at(format!("this dimension is indexed by \"{}\"", self.cx.show_size(dim))),
                        );
                    }
                    dims.push(dim.clone());
                    typed.push(SliceIndex::Slice { start: None, end: None, stride: None });
                }
                SynIndex::Slice { start, end, stride, span } => {
                    let mut part = |e: &Option<SynExp>| e.as_ref().map(|e| self.exp(e)).transpose();
                    let (start, end, stride) = (part(start)?, part(end)?, part(stride)?);
                    let size = match exts.as_deref_mut() {
                        Some(exts) => {
                            self.slice_size(dim, [&start, &end, &stride], *span).unwrap_or_else(|| {
                                if [&start, &end].into_iter().flatten().any(|e| !can_be_size(e)) {
                                    self.warn_of_binding(*span);
                                }
                                let var = self.unknown("the size of a slice", *span);
                                exts.push(var);
                                Size::Var(var)
                            })
                        }
                        None => self.flexible(self.level, false),
                    };
                    dims.push(size);
                    typed.push(SliceIndex::Slice {
                        start: start.map(Box::new),
                        end: end.map(Box::new),
                        stride: stride.map(Box::new),
                    });
                }
            }
            ty = (**elem).clone();
        }
        let ty = dims.into_iter().rev().fold(ty, |t, d| Type::array(d, t));
        Ok((typed, ty))
    }

    /// The size of `a[start:end:stride]`, where it can be said.
    fn slice_size(&self, dim: &Size, [start, end, stride]: [&Option<Exp>; 3], span: Span) -> Option<Size> {
        let whole = || exp_of_size(dim, &plain(ExpKind::Int(0), Type::I64, span));
        let step = match stride {
            None => Some(1),
            Some(e) => literal(e),
        };
        match (step, start, end) {
            (Some(1), None, None) => Some(dim.clone()),
            (Some(1), None, Some(end)) => self.size_from(Some(end.clone())),
            (Some(1), Some(start), end) if literal(start) == Some(0) => match end {
                None => Some(dim.clone()),
                Some(end) => self.size_from(Some(end.clone())),
            },
            (Some(1), Some(start), end) => {
                let end = end.clone().unwrap_or_else(whole);
                self.size_from(Some(arithmetic("-", end, start.clone())))
            }
            (Some(-1), None, None) => Some(dim.clone()),
            (Some(-1), Some(start), Some(end)) => {
                self.size_from(Some(arithmetic("-", start.clone(), end.clone())))
            }
            _ => None,
        }
    }

    pub(super) fn update(&mut self, target: Exp, path: &[SynAccess], value: &SynExp, span: Span) -> Res<Exp> {
        let whole = self.reopened(&target)?;
        let mut part = whole.clone();
        let mut typed = Vec::new();
        for step in path {
            part = match step {
                SynAccess::Field(field) => {
                    let Type::Record(fields) = &part else {
                        return Err(internal(span, "a field of a non-record"));
                    };
                    let Some((_, t)) = fields.iter().find(|(f, _)| *f == field.name) else {
                        return Err(internal(span, "a field of another record"));
                    };
                    typed.push(Access::Field(field.name));
                    t.clone()
                }
                SynAccess::Index(slice, at) => {
                    let (slice, ty) = self.slice(&part, slice, *at, None)?;
                    typed.push(Access::Index(slice, *at));
                    ty
                }
            };
        }
        let value = self.exp(value)?;
        let only_fields = path.iter().all(|s| matches!(s, SynAccess::Field(_)));
        let ty = if only_fields {
            // A record field may get a value of another size.
            let names: Vec<_> = typed
                .iter()
                .filter_map(|a| match a {
                    Access::Field(f) => Some(*f),
                    Access::Index(..) => None,
                })
                .collect();
            replace_field(&whole, &names, &value.ty)
        } else {
            self.expect(&value, &part, "The new value does not have the size of what it replaces")?;
            whole
        };
        let kind = ExpKind::With { target: Box::new(target), path: typed, value: Box::new(value) };
        Ok(plain(kind, ty, span))
    }

    pub(super) fn coerce(&mut self, e: &SynExp, inner: &SynExp, te: &TypeExp) -> Res<Exp> {
        let inner = self.exp(inner)?;
        // Sizes that are left out stay what they are; the others are checked at run time.
        let first = self.cx.fresh_var(Name::new("d"));
        let ty = self.type_exp(te, &mut Anonymous::Flexible(self.level))?;
        let mut pairs = Vec::new();
        super::unify::pair_sizes(&ty, &inner.ty, &mut pairs);
        for (wanted, given) in pairs {
            if let Size::Var(v) = self.zonk_size(&wanted)
                && v > first
                && self.is_flexible(v)
            {
                self.unify_size(&wanted, &given).map_err(|m| {
                    self.size_error(m, e.span, "This coercion cannot succeed", &ty, &inner.ty)
                })?;
            }
        }
        self.coerce_indices(&ty, &inner.ty)
            .map_err(|m| self.size_error(m, e.span, "This coercion cannot succeed", &ty, &inner.ty))?;
        Ok(plain(ExpKind::Coerce(Box::new(inner)), ty, e.span))
    }
}

fn replace_field(ty: &Type, path: &[Name], new: &Type) -> Type {
    let (Some((first, rest)), Type::Record(fields)) = (path.split_first(), ty) else { return new.clone() };
    Type::Record(
        fields
            .iter()
            .map(|(f, t)| (*f, if f == first { replace_field(t, rest, new) } else { t.clone() }))
            .collect(),
    )
}
