//! Records, array literals, and the elements and fields of values.

use dagaz_syntax::ast::{Access, Exp, Field, Ident, QualName, SliceIndex};
use dagaz_syntax::{Diagnostic, Span};

use super::ranks::rank_of_dim;
use super::unify::Constraint;
use super::{ANY_SIZE, Infer};
use crate::context::{Res, fail};
use crate::types::{Liftedness, Size, Type};

impl Infer<'_> {
    pub(super) fn record(&mut self, fields: &[Field]) -> Res<Type> {
        let name = |f: &Field| match f {
            Field::Explicit(ident, _) | Field::Implicit(ident, _) => *ident,
        };
        super::type_exp::check_distinct("field", fields.iter().map(name))?;
        let mut types = Vec::new();
        for field in fields {
            types.push(match field {
                Field::Explicit(ident, e) => (ident.name, self.exp(e)?),
                Field::Implicit(ident, id) => {
                    let q = QualName { quals: Vec::new(), name: ident.name, span: ident.span };
                    let ty = self.variable(*id, &q)?;
                    self.notes.types.insert(*id, ty.clone());
                    (ident.name, ty)
                }
            });
        }
        Ok(Type::record(types))
    }

    pub(super) fn array_literal(&mut self, elems: &[Exp], span: Span) -> Res<Type> {
        let elem =
            self.fresh_with(span, Constraint { liftedness: Liftedness::Unlifted, ..Constraint::default() });
        for e in elems {
            let ty = self.exp(e)?;
            let ok = self.unify(&elem, &ty);
            self.expect(
                ok,
                e.span,
                "The array element does not have the type of the elements before it",
                &elem,
                &ty,
            )?;
        }
        Ok(Type::array(ANY_SIZE, elem))
    }

    pub(super) fn project(&mut self, ty: &Type, field: Ident) -> Res<Type> {
        if let Some((id, content)) = self.cx.references.content(&self.base(ty)) {
            return Ok(Type::reference(id, self.project(content, field)?));
        }
        if let Type::Record(fields) = self.shallow(ty)
            && let Some((_, t)) = fields.iter().find(|(f, _)| *f == field.name)
        {
            return Ok(t.clone());
        }
        let result = self.fresh(field.span);
        let fields = vec![(field.name, result.clone())];
        let ok = self.constrain(ty, Constraint { fields, ..Constraint::default() });
        self.demand(ok, field.span, &format!("There is no record field \"{}\" here", field.name))?;
        Ok(result)
    }

    /// The type of indexing or slicing.
    pub(super) fn index(&mut self, ty: &Type, slice: &[SliceIndex], array_span: Span) -> Res<Type> {
        if let Some((id, content)) = self.cx.references.content(&self.base(ty)) {
            let range = slice.iter().find_map(|dim| match dim {
                SliceIndex::Index(_) => None,
                SliceIndex::Slice { span, .. } => Some(*span),
            });
            if let Some(span) = range {
                return fail(
                    Diagnostic::error("reference-range", span, "A reference cannot be sliced by a range")
                        .help("write an index: the reference is then to that element"),
                );
            }
            return Ok(Type::reference(id, self.index(content, slice, array_span)?));
        }
        let mut ty = ty.clone();
        let mut kept = Vec::new();
        for dim in slice {
            let mut index = None;
            match dim {
                SliceIndex::Index(i) => index = Some((self.exp(i)?, i.span)),
                SliceIndex::Slice { start, end, stride, .. } => {
                    for part in [start, end, stride].into_iter().flatten() {
                        self.exp_of(part, &Type::I64, "The parts of a slice must be of type \"i64\"")?;
                    }
                }
            }
            let (size, elem) = self.element(&ty, array_span)?;
            match index {
                Some((actual, span)) => self.check_index(&size, &actual, span, array_span)?,
                None => kept.push(size),
            }
            ty = elem;
        }
        Ok(kept.into_iter().rev().fold(ty, |t, size| Type::array(size, t)))
    }

    /// The outer dimension of an array, and the type of its elements.
    pub(super) fn element(&mut self, ty: &Type, array_span: Span) -> Res<(Size, Type)> {
        match self.shallow(ty) {
            Type::Array { dim, elem, .. } if rank_of_dim(&dim).is_none() => Ok((dim, (*elem).clone())),
            t => {
                let elem = self.fresh(array_span);
                let size = self.open_dim(array_span);
                let array = Type::array(size.clone(), elem.clone());
                let ok = self.unify(&t, &array);
                let what = "This is indexed with more dimensions than it has";
                self.expect(ok, array_span, what, &array, &t)?;
                Ok((size, elem))
            }
        }
    }

    pub(super) fn access(&mut self, ty: &Type, path: &[Access], span: Span) -> Res<Type> {
        let mut ty = ty.clone();
        for step in path {
            ty = match step {
                Access::Field(field) => self.project(&ty, *field)?,
                Access::Index(slice, _) => self.index(&ty, slice, span)?,
            };
        }
        Ok(ty)
    }

    pub(super) fn update(&mut self, target: &Type, path: &[Access], value: &Exp, span: Span) -> Res<()> {
        let part = self.access(target, path, span)?;
        let actual = self.exp(value)?;
        let ok = self.unify(&part, &actual);
        self.expect(
            ok,
            value.span,
            "The new value does not have the type of what it replaces",
            &part,
            &actual,
        )
    }
}
