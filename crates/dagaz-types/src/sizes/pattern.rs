//! Patterns with their sizes.

use dagaz_syntax::ast::{Literal, Pat as SynPat, PatKind as SynKind};
use dagaz_syntax::{Diagnostic, Span};

use super::type_exp::Anonymous;
use super::{Sizer, internal};
use crate::checks::{check_float, check_int};
use crate::context::{Res, fail};
use crate::typed::{Pat, PatKind};
use crate::types::{Type, VarId};

impl Sizer<'_> {
    /// Check a pattern against a type and bind its variables at the current level. Anonymous sizes in annotations are
    /// flexible at `flexible_level`. The type of the result carries the uniqueness that was written.
    pub(super) fn pat(&mut self, pat: &SynPat, ty: &Type, flexible_level: u32) -> Res<Pat> {
        let made = |kind, ty| Pat { kind, ty, span: pat.span };
        match &pat.kind {
            SynKind::Var(ident) => {
                let var = self.binder(ident.span)?;
                self.bind_var(var, ty.clone());
                Ok(made(PatKind::Var(var, ident.name), ty.clone()))
            }
            SynKind::Wildcard => Ok(made(PatKind::Wildcard, ty.clone())),
            SynKind::Paren(inner) | SynKind::Attr(_, inner) => self.pat(inner, ty, flexible_level),
            SynKind::Lit(literal) => Ok(made(self.literal_pat(*literal, ty, pat.span)?, ty.clone())),
            SynKind::Ascript(inner, te) => {
                let annotated = self.type_exp(te, &mut Anonymous::Flexible(flexible_level))?;
                self.placed(te.span, |s| s.unify(&annotated, ty)).map_err(|m| {
                    self.size_error(m, te.span, "This pattern does not match the value", &annotated, ty)
                })?;
                self.pat(inner, &annotated, flexible_level)
            }
            SynKind::Tuple(parts) => {
                let ty = self.represented(ty);
                let Type::Record(types) = &ty else {
                    return Err(internal(pat.span, "a tuple of another type"));
                };
                let mut fields = Vec::new();
                for (p, (name, t)) in parts.iter().zip(types.iter()) {
                    fields.push((*name, self.pat(p, t, flexible_level)?));
                }
                Ok(record_pat(fields, pat.span))
            }
            SynKind::Record(parts) => {
                let ty = self.represented(ty);
                let Type::Record(types) = &ty else {
                    return Err(internal(pat.span, "a record of another type"));
                };
                let mut fields = Vec::new();
                for (field, p) in parts {
                    let Some((_, t)) = types.iter().find(|(f, _)| *f == field.name) else {
                        return Err(internal(pat.span, "a field of another record"));
                    };
                    let p = match p {
                        Some(p) => self.pat(p, t, flexible_level)?,
                        None => {
                            let var = self.binder(field.span)?;
                            self.bind_var(var, t.clone());
                            Pat { kind: PatKind::Var(var, field.name), ty: t.clone(), span: field.span }
                        }
                    };
                    fields.push((field.name, p));
                }
                Ok(record_pat(fields, pat.span))
            }
            SynKind::Constr { name, args } => {
                let ty = &self.represented(ty);
                let payload = match ty {
                    Type::Sum(cs) => cs.iter().find(|(c, _)| *c == name.name),
                    _ => None,
                };
                let Some((_, types)) = payload else {
                    return Err(internal(pat.span, "a constructor of another type"));
                };
                let types = types.clone();
                let args: Res<Vec<_>> =
                    args.iter().zip(&types).map(|(p, t)| self.pat(p, t, flexible_level)).collect();
                Ok(made(PatKind::Constr(name.name, args?), ty.clone()))
            }
        }
    }

    fn literal_pat(&mut self, literal: Literal, ty: &Type, span: Span) -> Res<PatKind> {
        Ok(match literal {
            Literal::Bool(b) => PatKind::Bool(b),
            Literal::Int(n, suffix) => {
                if suffix.is_none() {
                    in_range(check_int(n, ty, span))?;
                }
                PatKind::Int(n)
            }
            Literal::Float(x, _) => {
                in_range(check_float(x, ty, span))?;
                PatKind::Float(x)
            }
        })
    }
}

fn in_range(out_of_range: Option<Diagnostic>) -> Res<()> {
    out_of_range.map_or(Ok(()), fail)
}

pub(super) fn record_pat(fields: Vec<(dagaz_syntax::Name, Pat)>, span: Span) -> Pat {
    let ty = Type::record(fields.iter().map(|(f, p)| (*f, p.ty.clone())).collect());
    Pat { kind: PatKind::Record(fields), ty, span }
}

/// Variables bound by a pattern.
pub(crate) fn pat_vars(pat: &Pat, vars: &mut Vec<VarId>) {
    match &pat.kind {
        PatKind::Var(v, _) => vars.push(*v),
        PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
        PatKind::Record(fields) => fields.iter().for_each(|(_, p)| pat_vars(p, vars)),
        PatKind::Constr(_, args) => args.iter().for_each(|p| pat_vars(p, vars)),
    }
}
