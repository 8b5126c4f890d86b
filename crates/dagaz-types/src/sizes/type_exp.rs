//! Type expressions with their sizes.

use dagaz_syntax::ast::{Exp as SynExp, TypeArg as SynArg, TypeExp, TypeExpKind};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::scope::can_be_size;
use super::{SizeKind, SizeVar, Sizer, internal};
use crate::context::{Res, fail};
use crate::subst::{Subst, size_of_exp};
use crate::types::{RetType, Size, Type, TypeArg, TypeParamKind, VarId};

/// What an anonymous size `[]` means.
pub(super) enum Anonymous<'e> {
    /// A size to be inferred, of this level.
    Flexible(u32),
    /// A size that the type leaves open; they are collected here.
    Open(&'e mut Vec<VarId>),
}

impl Anonymous<'_> {
    fn size(&mut self, sizer: &mut Sizer<'_>) -> Size {
        match self {
            Anonymous::Flexible(level) => sizer.flexible(*level, false),
            Anonymous::Open(exts) => {
                let var = sizer.open_size(Name::new("k"));
                exts.push(var);
                Size::Var(var)
            }
        }
    }
}

impl Sizer<'_> {
    /// A variable for a size that a type leaves open.
    fn open_size(&mut self, name: Name) -> VarId {
        let var = self.cx.fresh_var(name);
        self.vars.insert(var, SizeVar { level: self.level, kind: SizeKind::Named });
        var
    }

    /// A type in a place where sizes left open are existential: a return type.
    pub(super) fn ret_type_exp(&mut self, te: &TypeExp) -> Res<RetType> {
        let mut exts = Vec::new();
        let ty = self.type_exp(te, &mut Anonymous::Open(&mut exts))?;
        // Only sizes that occur can be left open.
        let used = ty.size_vars();
        exts.retain(|e| used.contains(e));
        Ok(RetType { exts, ty })
    }

    pub(super) fn type_exp(&mut self, te: &TypeExp, anonymous: &mut Anonymous<'_>) -> Res<Type> {
        match &te.kind {
            TypeExpKind::Var(_) => self.type_application(te, &[], anonymous),
            TypeExpKind::Apply { fun, args } => self.type_application(fun, args, anonymous),
            TypeExpKind::Paren(inner) => self.type_exp(inner, anonymous),
            TypeExpKind::Unique(inner) => Ok(self.type_exp(inner, anonymous)?.with_uniqueness(true)),
            TypeExpKind::Tuple(parts) => {
                let parts: Res<Vec<_>> = parts.iter().map(|p| self.type_exp(p, anonymous)).collect();
                Ok(Type::tuple(parts?))
            }
            TypeExpKind::Record(fields) => {
                let fields: Res<Vec<_>> =
                    fields.iter().map(|(f, t)| Ok((f.name, self.type_exp(t, anonymous)?))).collect();
                Ok(Type::record(fields?))
            }
            TypeExpKind::Array { dim, elem } => {
                let dim = match dim {
                    Some(dim) => self.dim_exp(dim, anonymous)?,
                    None => anonymous.size(self),
                };
                Ok(Type::array(dim, self.type_exp(elem, anonymous)?))
            }
            TypeExpKind::Arrow { param, from, to } => {
                let from = self.type_exp(from, anonymous)?;
                self.level += 1;
                let mut var = None;
                if let Some(param) = param {
                    let v = self.binder(param.span)?;
                    self.bind_var(v, from.clone());
                    var = Some(v);
                }
                let to = self.ret_type_exp(to);
                self.level -= 1;
                Ok(Type::arrow(var, from, to?))
            }
            TypeExpKind::Sum(constrs) => {
                let mut result = Vec::new();
                for (c, args) in constrs {
                    let args: Res<Vec<_>> = args.iter().map(|a| self.type_exp(a, anonymous)).collect();
                    result.push((c.name, args?));
                }
                result.sort_by_key(|x| x.0);
                Ok(Type::Sum(result.into()))
            }
            TypeExpKind::Exists { sizes, body } => self.exists(sizes, body, anonymous),
        }
    }

    fn exists(
        &mut self,
        sizes: &[dagaz_syntax::ast::Ident],
        body: &TypeExp,
        anonymous: &mut Anonymous<'_>,
    ) -> Res<Type> {
        let mut subst = Subst::default();
        let mut vars = Vec::new();
        for size in sizes {
            let var = self.binder(size.span)?;
            self.bind_size(var);
            vars.push((var, size));
            subst.sizes.insert(var, anonymous.size(self));
        }
        let ty = self.type_exp(body, anonymous)?;
        let used = crate::subst::constructive_sizes(&ty);
        if let Some((_, size)) = vars.iter().find(|(v, _)| !used.contains(v)) {
            return fail(
                Diagnostic::error(
                    "unused-size",
                    size.span,
                    format!("Existential size \"{}\" is not used as the size of an array", size.name),
                )
                .help("use it in the type after the dot, or remove it"),
            );
        }
        Ok(subst.ty(&ty))
    }

    /// A size written in a type.
    pub(super) fn size_exp(&mut self, e: &SynExp) -> Res<Size> {
        let typed = self.exp(e)?;
        if !can_be_size(&typed) {
            return fail(
                Diagnostic::error("bad-size", e.span, "This expression cannot be a size")
                    .help("bind it to a name with \"let\" and use the name"),
            );
        }
        Ok(size_of_exp(typed))
    }

    fn type_application(
        &mut self,
        fun: &TypeExp,
        args: &[SynArg],
        anonymous: &mut Anonymous<'_>,
    ) -> Res<Type> {
        if let TypeExpKind::Paren(inner) = &fun.kind {
            return self.type_application(inner, args, anonymous);
        }
        let Some(binding) = self.notes.type_names.get(&fun.id).cloned() else {
            return Err(internal(fun.span, "an unresolved type name"));
        };
        let mut types = Vec::new();
        for (param, arg) in binding.params.iter().zip(args) {
            types.push(self.type_argument(param.kind, arg, anonymous, fun.span)?);
        }
        let mut subst = Subst::instantiate(&binding.params, &types);
        for ext in &binding.exts {
            subst.sizes.insert(*ext, anonymous.size(self));
        }
        Ok(subst.ty(&binding.ty))
    }

    pub(super) fn type_argument(
        &mut self,
        param: TypeParamKind,
        arg: &SynArg,
        anonymous: &mut Anonymous<'_>,
        span: Span,
    ) -> Res<TypeArg> {
        match (param, arg) {
            (TypeParamKind::Size(_), SynArg::Size { dim: Some(dim), .. }) => {
                Ok(TypeArg::Size(self.size_exp(dim)?))
            }
            (TypeParamKind::Size(_), SynArg::Size { dim: None, .. }) => {
                Ok(TypeArg::Size(anonymous.size(self)))
            }
            (TypeParamKind::Type(..), SynArg::Type(te)) => Ok(TypeArg::Type(self.type_exp(te, anonymous)?)),
            (TypeParamKind::Size(_), SynArg::Type(_)) | (TypeParamKind::Type(..), SynArg::Size { .. }) => {
                Err(internal(span, "a type argument of the wrong kind"))
            }
        }
    }
}
