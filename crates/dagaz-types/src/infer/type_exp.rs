//! Type expressions: names are resolved and sizes are checked to be of type `i64`.

use dagaz_syntax::ast::{Exp, ExpKind, Ident, QualName, TypeArg as SynArg, TypeExp, TypeExpKind};
use dagaz_syntax::{Diagnostic, Name};

use super::{ANY_SIZE, Infer, duplicate};
use crate::context::{Error, Res, error, fail};
use crate::subst::Subst;
use crate::types::{Liftedness, RetType, Type, TypeArg, TypeParamKind};

/// Constructors are told apart by a byte at run time.
const MAX_CONSTRUCTORS: usize = 256;

impl Infer<'_> {
    /// The type that a type expression denotes, with all sizes [`ANY_SIZE`].
    pub(crate) fn type_exp(&mut self, te: &TypeExp) -> Res<Type> {
        match &te.kind {
            TypeExpKind::Var(_) => self.type_application(te, &[]),
            TypeExpKind::Apply { fun, args } => self.type_application(fun, args),
            TypeExpKind::Paren(inner) => self.type_exp(inner),
            TypeExpKind::Unique(inner) => {
                let ty = self.type_exp(inner)?;
                if !may_have_arrays(&ty) {
                    self.cx.warn(Diagnostic::warning(
                        "useless-uniqueness",
                        te.span,
                        "Uniqueness has no effect on this type, which contains no arrays",
                    ));
                }
                Ok(ty)
            }
            TypeExpKind::Tuple(parts) => {
                let parts: Res<Vec<_>> = parts.iter().map(|p| self.type_exp(p)).collect();
                Ok(Type::tuple(parts?))
            }
            TypeExpKind::Record(fields) => {
                check_distinct("field", fields.iter().map(|(f, _)| *f))?;
                let fields: Res<Vec<_>> =
                    fields.iter().map(|(f, t)| Ok((f.name, self.type_exp(t)?))).collect();
                Ok(Type::record(fields?))
            }
            TypeExpKind::Array { dim, elem } => {
                let size = match dim {
                    Some(dim) => self.dim_exp(dim)?,
                    None => self.open_dim(te.span),
                };
                let ty = self.type_exp(elem)?;
                let ok = self.restrict(&ty, Liftedness::Unlifted);
                self.demand(ok, elem.span, "Cannot create array with elements of this type")?;
                self.check_element(elem)?;
                Ok(Type::array(size, ty))
            }
            TypeExpKind::Arrow { param, from, to } => {
                let from = self.type_exp(from)?;
                let mark = self.mark();
                let param = param.map(|p| self.bind_var(p, from.clone()));
                let to = self.type_exp(to)?;
                self.leave(mark);
                Ok(Type::arrow(param, from, RetType::plain(to)))
            }
            TypeExpKind::Sum(constrs) => {
                check_distinct("constructor", constrs.iter().map(|(c, _)| *c))?;
                if constrs.len() > MAX_CONSTRUCTORS {
                    return error(
                        "too-many-constructors",
                        te.span,
                        format!("A sum type may have at most {MAX_CONSTRUCTORS} constructors"),
                    );
                }
                let mut result = Vec::new();
                for (c, args) in constrs {
                    let args: Res<Vec<_>> = args.iter().map(|a| self.type_exp(a)).collect();
                    result.push((c.name, args?));
                }
                result.sort_by_key(|x| x.0);
                Ok(Type::Sum(result.into()))
            }
            TypeExpKind::Exists { sizes, body } => {
                check_distinct("size", sizes.iter().copied())?;
                let mark = self.mark();
                for size in sizes {
                    self.bind_var(*size, Type::I64);
                }
                let ty = self.type_exp(body)?;
                self.leave(mark);
                Ok(ty)
            }
        }
    }

    /// A type that is declared to be lifted may not be the element of an array, whatever it stands for.
    fn check_element(&self, elem: &TypeExp) -> Res<()> {
        let name = match &elem.kind {
            TypeExpKind::Paren(inner) | TypeExpKind::Unique(inner) => return self.check_element(inner),
            TypeExpKind::Apply { fun, .. } => fun,
            _ => elem,
        };
        match (self.notes.type_names.get(&name.id), &name.kind) {
            (Some(binding), TypeExpKind::Var(q)) if binding.liftedness != Liftedness::Unlifted => error(
                "lifted-type",
                elem.span,
                format!("Cannot create array with elements of the lifted type \"{}\"", q.name),
            ),
            _ => Ok(()),
        }
    }

    /// A size: an expression of type `i64`.
    pub(crate) fn size_exp(&mut self, e: &Exp) -> Res<()> {
        let ty = self.without_lifting(|infer| infer.exp(e)).map_err(|error| with_size_help(e, error))?;
        let ok = self.unify(&Type::I64, &ty);
        self.expect(ok, e.span, "A size must be of type \"i64\"", &Type::I64, &ty)
    }

    fn type_application(&mut self, fun: &TypeExp, args: &[SynArg]) -> Res<Type> {
        let name = match &fun.kind {
            TypeExpKind::Var(name) => name,
            TypeExpKind::Paren(inner) => return self.type_application(inner, args),
            _ => return error("not-a-type-constructor", fun.span, "This type does not take arguments"),
        };
        let binding = self.resolve_type(name)?;
        self.notes.type_names.insert(fun.id, binding.clone());
        if binding.params.len() != args.len() {
            return fail(
                Diagnostic::error(
                    "wrong-type-arguments",
                    fun.span,
                    format!(
                        "Type constructor \"{}\" requires {} arguments, but provided {}",
                        name.name,
                        binding.params.len(),
                        args.len()
                    ),
                )
                .help("size arguments are written [n], an array type as an argument needs parentheses"),
            );
        }
        let mut types = Vec::new();
        for (param, arg) in binding.params.iter().zip(args) {
            types.push(self.type_argument(name.name, param, arg)?);
        }
        Ok(Subst::instantiate(&binding.params, &types).ty(&binding.ty))
    }

    fn type_argument(&mut self, fun: Name, param: &crate::types::TypeParam, arg: &SynArg) -> Res<TypeArg> {
        match (param.kind, arg) {
            (TypeParamKind::Size(_), SynArg::Size { dim, .. }) => {
                if let Some(dim) = dim {
                    self.size_exp(dim)?;
                }
                Ok(TypeArg::Size(ANY_SIZE))
            }
            (TypeParamKind::Type(_, liftedness), SynArg::Type(te)) => {
                let ty = self.type_exp(te)?;
                // A type with open sizes is fine as an argument; whether it may be in an array is seen where it is.
                let ok = if ty.has_function() { self.restrict(&ty, liftedness) } else { Ok(()) };
                self.demand(ok, te.span, "This type cannot be an argument here")?;
                Ok(TypeArg::Type(ty))
            }
            (TypeParamKind::Size(_), SynArg::Type(te)) => error(
                "wrong-type-arguments",
                te.span,
                format!("\"{fun}\" takes a size for its parameter [{}], not a type", param.name),
            ),
            (TypeParamKind::Type(..), SynArg::Size { span, .. }) => error(
                "wrong-type-arguments",
                *span,
                format!("\"{fun}\" takes a type for its parameter '{}, not a size", param.name),
            ),
        }
    }
}

fn may_have_arrays(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Arrow(_) => false,
        Type::Array { .. } | Type::Named { .. } | Type::Meta(_) => true,
        Type::Record(fields) => fields.iter().any(|(_, t)| may_have_arrays(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(may_have_arrays)),
    }
}

pub(crate) fn check_distinct(what: &str, names: impl Iterator<Item = Ident>) -> Res<()> {
    let mut seen: Vec<Ident> = Vec::new();
    for ident in names {
        if let Some(old) = seen.iter().find(|i| i.name == ident.name) {
            return Err(duplicate(what, ident, old.span));
        }
        seen.push(ident);
    }
    Ok(())
}

/// A name that is not known as a size may have been meant as one that arguments determine.
fn with_size_help(size: &Exp, error: Error) -> Error {
    let ExpKind::Var(QualName { quals, name, .. }) = &size.kind else { return error };
    match error {
        Error::Diagnostic(d) if d.code == "unknown-name" && quals.is_empty() && d.help.is_empty() => {
            let help = format!(
                "a size that the arguments determine is written in front of the parameters: [{name}]"
            );
            d.help(help).into()
        }
        other => other,
    }
}
