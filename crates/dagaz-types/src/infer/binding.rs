//! Names that expressions bind.

use dagaz_syntax::ast::{Exp, ExpKind, Pat, PatKind, QualName};
use dagaz_syntax::{Diagnostic, Span};

use super::Infer;
use super::pattern::size_params;
use super::unify::Meta;
use crate::context::{Res, fail};
use crate::types::{Scheme, Type, TypeArg, TypeId, TypeParam, TypeParamKind};

impl Infer<'_> {
    /// A chain of `let`s, walked with a loop so that its length does not matter.
    pub(super) fn let_chain(&mut self, e: &Exp) -> Res<Type> {
        let mark = self.mark();
        let mut chain = Vec::new();
        let mut e = e;
        let ty = loop {
            let body = match &e.kind {
                ExpKind::Let { sizes, pat, value, body } => {
                    if let (PatKind::Ascript(_, te), true) = (&pat.kind, sizes.is_empty()) {
                        self.expect_array_of(value, te)?;
                    }
                    let ty = self.exp(value)?;
                    self.check_size_names(sizes.iter().copied(), std::slice::from_ref(pat))?;
                    for size in sizes {
                        self.bind_var(*size, Type::I64);
                    }
                    self.pat(pat, &ty)?;
                    body
                }
                ExpKind::LetFun { name, type_params, params, ret, def, body } => {
                    let inner = self.mark();
                    let outer_metas = self.metas.len();
                    self.check_size_names(size_params(type_params), params)?;
                    let type_params = self.enter_type_params(type_params)?;
                    let ty = self.function(params, ret.as_ref(), def, None)?;
                    self.leave_type_params();
                    self.leave(inner);
                    self.check_type_scope(&type_params, outer_metas, name.span)?;
                    let ty = self.zonk(&ty);
                    self.bind_poly(*name, Scheme { params: type_params, overloads: Vec::new(), ty });
                    body
                }
                ExpKind::LetWith { name, path, value, body } => {
                    let q = QualName { quals: Vec::new(), name: name.name, span: name.span };
                    let ty = self.variable(e.id, &q)?;
                    self.update(&ty, path, value, name.span)?;
                    self.bind_var(*name, ty);
                    body
                }
                _ => break self.exp(e)?,
            };
            chain.push(e.id);
            e = body;
        };
        self.leave(mark);
        for id in chain {
            self.notes.types.insert(id, ty.clone());
        }
        Ok(ty)
    }

    /// A type from outside a local function must not turn out to be one of the function's type parameters.
    fn check_type_scope(&self, params: &[TypeParam], outer_metas: usize, span: Span) -> Res<()> {
        for param in params {
            let TypeParamKind::Type(id, _) = param.kind else { continue };
            let escapes = |m: usize| {
                let Meta { bound, constraint, .. } = &self.metas[m];
                bound
                    .iter()
                    .chain(constraint.fields.iter().map(|(_, t)| t))
                    .any(|t| self.mentions_type(t, id))
            };
            if (0..outer_metas).any(escapes) {
                return fail(
                    Diagnostic::error(
                        "scope-violation",
                        span,
                        format!(
                            "The type parameter \"{}\" would be needed outside this function, where it is not in scope (scope-violation)",
                            param.name
                        ),
                    )
                    .help("a value from outside the function cannot be of the function's own type parameter"),
                );
            }
        }
        Ok(())
    }

    fn mentions_type(&self, ty: &Type, id: TypeId) -> bool {
        match self.shallow(ty) {
            Type::Prim(_) | Type::Meta(_) => false,
            Type::Array { elem, .. } => self.mentions_type(&elem, id),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.mentions_type(t, id)),
            Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(|t| self.mentions_type(t, id))),
            Type::Arrow(a) => self.mentions_type(&a.from, id) || self.mentions_type(&a.to.ty, id),
            Type::Named { id: other, args, .. } => {
                other == id
                    || args.iter().any(|a| match a {
                        TypeArg::Size(_) => false,
                        TypeArg::Type(t) => self.mentions_type(t, id),
                    })
            }
        }
    }

    /// The type of a loop pattern read as an expression, for loops without initial values.
    pub(super) fn pattern_value(&mut self, pat: &Pat) -> Res<Type> {
        match &pat.kind {
            PatKind::Var(ident) => {
                let q = QualName { quals: Vec::new(), name: ident.name, span: ident.span };
                self.variable(pat.id, &q)
            }
            PatKind::Paren(p) | PatKind::Attr(_, p) => self.pattern_value(p),
            PatKind::Ascript(p, _) => self.pattern_value(p),
            PatKind::Tuple(ps) => {
                let types: Res<Vec<_>> = ps.iter().map(|p| self.pattern_value(p)).collect();
                Ok(Type::tuple(types?))
            }
            PatKind::Record(fields) => {
                let mut types = Vec::new();
                for (field, p) in fields {
                    types.push(match p {
                        Some(p) => (field.name, self.pattern_value(p)?),
                        None => {
                            return fail(
                                Diagnostic::error(
                                    "loop-without-init",
                                    field.span,
                                    "This loop needs initial values",
                                )
                                .help(format!(
                                    "write {{{0} = {0}}} or give the initial value with =",
                                    field.name
                                )),
                            );
                        }
                    });
                }
                Ok(Type::record(types))
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr { .. } => fail(
                Diagnostic::error("loop-without-init", pat.span, "This loop needs initial values")
                    .help("the pattern cannot be read as an expression; write `loop pattern = value …`"),
            ),
        }
    }
}
