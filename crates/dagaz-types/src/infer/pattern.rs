//! Patterns: bind variables and find the type.

use dagaz_syntax::Span;
use dagaz_syntax::ast::{Ident, Literal, Pat, PatKind, TypeParam, TypeParamKind};

use super::{Infer, duplicate};
use crate::context::Res;
use crate::types::{PrimType, Type};

use super::unify::{Constraint, PrimSet};

impl Infer<'_> {
    /// Check a pattern against the type of what it matches, and bind its variables. A later part of a pattern sees
    /// the variables of an earlier one in its sizes.
    pub(super) fn pat(&mut self, pat: &Pat, expected: &Type) -> Res<()> {
        self.check_pat_names(&[pat])?;
        self.bind_pat(pat, expected)
    }

    /// No name may be bound twice in one pattern, or in the parameters of one function.
    pub(super) fn check_pat_names(&self, pats: &[&Pat]) -> Res<()> {
        let mut names = Vec::new();
        pats.iter().for_each(|p| collect_names(p, &mut names));
        for (i, ident) in names.iter().enumerate() {
            if let Some(old) = names[..i].iter().find(|o| o.name == ident.name) {
                return Err(duplicate("name", *ident, old.span));
            }
        }
        Ok(())
    }

    /// Nor may it be both a size and a variable.
    pub(super) fn check_size_names(&self, sizes: impl Iterator<Item = Ident>, pats: &[Pat]) -> Res<()> {
        let mut names = Vec::new();
        pats.iter().for_each(|p| collect_names(p, &mut names));
        for size in sizes {
            if let Some(other) = names.iter().find(|o| o.name == size.name) {
                return Err(duplicate("name", *other, size.span));
            }
        }
        Ok(())
    }

    pub(super) fn bind_pat(&mut self, pat: &Pat, expected: &Type) -> Res<()> {
        self.notes.types.insert(pat.id, expected.clone());
        match &pat.kind {
            PatKind::Var(ident) => {
                self.bind_var(*ident, expected.clone());
                Ok(())
            }
            PatKind::Wildcard => Ok(()),
            PatKind::Paren(inner) | PatKind::Attr(_, inner) => self.bind_pat(inner, expected),
            PatKind::Lit(literal) => {
                let ty = self.literal(*literal, pat.span);
                self.expect_pat(&ty, expected, pat.span)
            }
            PatKind::Ascript(inner, te) => {
                let ty = self.type_exp(te)?;
                self.expect_pat(&ty, expected, te.span)?;
                self.bind_pat(inner, expected)
            }
            PatKind::Tuple(parts) => {
                let types: Vec<_> = parts.iter().map(|p| self.fresh(p.span)).collect();
                self.expect_pat(&Type::tuple(types.clone()), expected, pat.span)?;
                parts.iter().zip(&types).try_for_each(|(p, t)| self.bind_pat(p, t))
            }
            PatKind::Record(fields) => {
                super::type_exp::check_distinct("field", fields.iter().map(|(f, _)| *f))?;
                let types: Vec<_> = fields.iter().map(|(f, _)| (f.name, self.fresh(f.span))).collect();
                self.expect_pat(&Type::record(types.clone()), expected, pat.span)?;
                for ((field, p), (_, t)) in fields.iter().zip(&types) {
                    match p {
                        Some(p) => self.bind_pat(p, t)?,
                        None => {
                            self.bind_var(*field, t.clone());
                        }
                    }
                }
                Ok(())
            }
            PatKind::Constr { name, args } => {
                let types: Vec<_> = args.iter().map(|p| self.fresh(p.span)).collect();
                let ok = self.constrain_constr(expected, name.name, types.clone());
                self.demand(ok, pat.span, &format!("The pattern #{} does not fit the value", name.name))?;
                args.iter().zip(&types).try_for_each(|(p, t)| self.bind_pat(p, t))
            }
        }
    }

    fn expect_pat(&mut self, pat_ty: &Type, expected: &Type, span: Span) -> Res<()> {
        let ok = self.unify(pat_ty, expected);
        let what = format!("This pattern does not have expected type \"{}\"", self.show(expected));
        self.expect(ok, span, &what, expected, pat_ty)
    }

    /// The type of a literal: its suffix, or open within the numbers.
    pub(super) fn literal(&mut self, literal: Literal, span: Span) -> Type {
        match literal {
            Literal::Bool(_) => Type::Prim(PrimType::Bool),
            Literal::Int(_, Some(p)) | Literal::Float(_, Some(p)) => Type::Prim(p),
            Literal::Int(_, None) => self.fresh_with(span, Constraint::prims(PrimSet::NUMERIC)),
            Literal::Float(_, None) => self.fresh_with(span, Constraint::prims(PrimSet::FLOAT)),
        }
    }
}

/// The size parameters among type parameters.
pub(super) fn size_params(params: &[TypeParam]) -> impl Iterator<Item = Ident> {
    params.iter().filter(|p| matches!(p.kind, TypeParamKind::Size)).map(|p| p.name)
}

/// All names that a pattern binds.
pub(crate) fn collect_names(pat: &Pat, names: &mut Vec<Ident>) {
    match &pat.kind {
        PatKind::Var(ident) => names.push(*ident),
        PatKind::Wildcard | PatKind::Lit(_) => {}
        PatKind::Paren(p) | PatKind::Attr(_, p) | PatKind::Ascript(p, _) => collect_names(p, names),
        PatKind::Tuple(ps) | PatKind::Constr { args: ps, .. } => {
            ps.iter().for_each(|p| collect_names(p, names))
        }
        PatKind::Record(fields) => fields.iter().for_each(|(f, p)| match p {
            Some(p) => collect_names(p, names),
            None => names.push(*f),
        }),
    }
}
