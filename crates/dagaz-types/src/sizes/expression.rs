//! Expressions: from syntax and notes to the typed tree.

use dagaz_syntax::Span;
use dagaz_syntax::ast::{Exp as SynExp, ExpKind as Syn, Field, Literal, NodeId};

use super::binding::Uses;
use super::type_exp::Anonymous;
use super::{Sizer, internal};
use crate::context::{Res, error};
use crate::env::ValueBinding;
use crate::subst::Subst;
use crate::typed::{Exp, ExpKind, Pat, PatKind};
use crate::types::{Scheme, Size, Type, TypeArg, TypeParamKind};

/// An expression that brings no sizes into being.
pub(super) fn plain(kind: ExpKind, ty: Type, span: Span) -> Exp {
    Exp { kind, ty, exts: Vec::new(), span }
}

impl Sizer<'_> {
    pub(super) fn exp(&mut self, e: &SynExp) -> Res<Exp> {
        self.placed(e.span, |s| s.expression(e))
    }

    fn expression(&mut self, e: &SynExp) -> Res<Exp> {
        match &e.kind {
            Syn::Lit(literal) => self.literal(*literal, e),
            Syn::Str(bytes) => {
                let ty = Type::array(Size::Const(bytes.len() as i64), Type::Prim(crate::types::PrimType::U8));
                Ok(plain(ExpKind::Str(bytes.clone()), ty, e.span))
            }
            Syn::Var(_) => self.variable(e.id, e.span),
            Syn::Hole => {
                let ty = self.noted_type(e.id, e.span)?;
                let ty = self.dress(&ty, self.level, false);
                Ok(plain(ExpKind::Hole, ty, e.span))
            }
            Syn::Error => Err(crate::context::Error::Silenced),
            Syn::Paren(inner) => self.exp(inner),
            Syn::Attr(attr, inner) => {
                let inner = self.exp(inner)?;
                let ty = inner.ty.clone();
                Ok(plain(ExpKind::Attr(attr.kind.clone(), Box::new(inner)), ty, e.span))
            }
            Syn::Tuple(parts) => {
                let mut fields = Vec::new();
                for (i, part) in parts.iter().enumerate() {
                    fields.push((dagaz_syntax::Name::tuple_field(i), self.exp(part)?));
                }
                Ok(record(fields, e.span))
            }
            Syn::Record(parts) => {
                let mut fields = Vec::new();
                for part in parts {
                    fields.push(match part {
                        Field::Explicit(f, e) => (f.name, self.exp(e)?),
                        Field::Implicit(f, id) => (f.name, self.variable(*id, f.span)?),
                    });
                }
                Ok(record(fields, e.span))
            }
            Syn::Array(elems) => self.array_literal(e, elems),
            Syn::Project(inner, field) => {
                let inner = self.exp(inner)?;
                self.project(inner, field.name, e.span)
            }
            Syn::Index(array, slice) => {
                let array = self.exp(array)?;
                self.index(array, slice, e.span)
            }
            Syn::LocalOpen { body, .. } => self.exp(body),
            Syn::BinOp { lhs, rhs, .. } => self.binary(e, lhs, rhs),
            Syn::Neg(inner) => self.prefix(e, inner),
            Syn::Not(inner) => self.prefix(e, inner),
            Syn::App { fun, args } => {
                let fun = self.exp(fun)?;
                self.application(fun, args, None, e.span)
            }
            Syn::Constr { name, args } => self.constructor(e, name.name, args),
            Syn::SectionLeft { op, lhs } => {
                let fun = self.variable(e.id, op.span)?;
                self.application(fun, std::slice::from_ref(lhs), None, e.span)
            }
            Syn::SectionRight { op, rhs } => self.section_right(e, op.span, rhs),
            Syn::SectionAccess(path) => self.section_access(e, path),
            Syn::Ascript(inner, te) => {
                let inner = self.exp(inner)?;
                let ty = self.type_exp(te, &mut Anonymous::Flexible(self.level))?;
                self.expect(&inner, &ty, "This expression does not have the type that it is said to have")?;
                Ok(plain(ExpKind::Ascript(Box::new(inner)), ty, e.span))
            }
            Syn::Coerce(inner, te) => self.coerce(e, inner, te),
            Syn::Range { start, second, end, kind } => self.range(e, start, second.as_deref(), end, *kind),
            Syn::If { cond, then, otherwise } => self.conditional(e, cond, then, otherwise),
            Syn::Let { .. } | Syn::LetFun { .. } | Syn::LetWith { .. } => self.let_chain(e),
            Syn::Lambda { params, ret, body } => self.lambda(e, params, ret.as_ref(), body, Uses::One(None)),
            Syn::Loop { pat, init, form, body } => self.loop_exp(e, pat, init.as_deref(), form, body),
            Syn::Seq { first, second } => {
                let value = Box::new(self.exp(first)?);
                let body = Box::new(self.exp(second)?);
                let pat = Pat { kind: PatKind::Wildcard, ty: value.ty.clone(), span: first.span };
                let (ty, exts) = (body.ty.clone(), body.exts.clone());
                Ok(Exp { kind: ExpKind::Let { sizes: Vec::new(), pat, value, body }, ty, exts, span: e.span })
            }
            Syn::For { binders, body } => self.for_exp(e, binders, body),
            Syn::Match { scrutinee, cases } => self.match_exp(e, scrutinee, cases),
            Syn::With { target, path, value } => {
                let target = self.exp(target)?;
                self.update(target, path, value, e.span)
            }
            Syn::Assert { cond, body } => {
                let cond = self.exp(cond)?;
                let body = self.exp(body)?;
                let ty = body.ty.clone();
                Ok(plain(ExpKind::Assert { cond: Box::new(cond), body: Box::new(body) }, ty, e.span))
            }
        }
    }

    /// The type that the first pass found for an expression.
    pub(super) fn noted_type(&self, id: NodeId, span: Span) -> Res<Type> {
        self.notes.types.get(&id).cloned().ok_or_else(|| internal(span, "an expression without a type"))
    }

    fn literal(&mut self, literal: Literal, e: &SynExp) -> Res<Exp> {
        let ty = self.noted_type(e.id, e.span)?;
        let kind = match literal {
            Literal::Bool(b) => ExpKind::Bool(b),
            Literal::Int(n, suffix) => {
                // A literal with a suffix says itself what it is, and wraps.
                if suffix.is_none() {
                    self.declared.bare_literals.insert(e.span);
                }
                ExpKind::Int(n)
            }
            Literal::Float(x, _) => ExpKind::Float(x),
        };
        Ok(plain(kind, ty, e.span))
    }

    /// A variable or operator at the types that the first pass found, with sizes still to be inferred.
    pub(super) fn variable(&mut self, id: NodeId, span: Span) -> Res<Exp> {
        let Some(used) = self.notes.uses.get(&id).cloned() else {
            return Err(internal(span, "an unresolved name"));
        };
        let mut e = match used.target {
            ValueBinding::Intrinsic(name) => {
                let scheme = self.cx.intrinsics[&name].clone();
                let (inst, ty) = self.instantiate(&scheme, &used.inst, span);
                plain(ExpKind::Intrinsic { name, inst }, ty, span)
            }
            ValueBinding::Def(var) => {
                let own = self.own.clone().filter(|(own, _)| *own == var).map(|(_, params)| params);
                let scheme = match (self.schemes.get(&var), self.cx.values.get(&var)) {
                    (Some(local), _) => local.clone(),
                    (None, Some(global)) => global.scheme.clone(),
                    (None, None) => return Err(internal(span, "a variable without a type")),
                };
                let (inst, ty) = match own {
                    Some(params) => self.instantiate_own(&params, &scheme),
                    None => self.instantiate(&scheme, &used.inst, span),
                };
                plain(ExpKind::Var { var, name: used.name, inst }, ty, span)
            }
            ValueBinding::Poisoned => return Err(crate::context::Error::Silenced),
        };
        self.note_references(&e.ty.clone(), span);
        for field in used.fields {
            e = self.project(e, field, span)?;
        }
        Ok(e)
    }

    pub(super) fn instantiate(
        &mut self,
        scheme: &Scheme,
        types: &[TypeArg],
        span: Span,
    ) -> (Vec<TypeArg>, Type) {
        use crate::types::Liftedness;
        if scheme.params.is_empty() {
            return (Vec::new(), scheme.ty.clone());
        }
        let level = self.level;
        let mut inst = Vec::with_capacity(scheme.params.len());
        // Size parameters that this pass added to a local function come last and have no counterpart in `types`.
        for (i, param) in scheme.params.iter().enumerate() {
            inst.push(match (param.kind, types.get(i)) {
                (TypeParamKind::Type(id, _), Some(TypeArg::Type(t)))
                    if self.cx.index_params.contains(&id) && self.is_index_shaped(t) =>
                {
                    let index = self.index_type(t, level);
                    self.index_arguments.push((index.clone(), span));
                    TypeArg::Type(index)
                }
                (TypeParamKind::Type(_, liftedness), Some(TypeArg::Type(t))) => {
                    let lifted = liftedness != Liftedness::Unlifted;
                    let overload = scheme.overloads.get(i).copied().flatten();
                    let dressed = match self.is_computed_with(param.kind, overload, t) {
                        true => self.dress_numbers(&self.without_index_types(t), level, lifted),
                        false => self.dress(t, level, lifted),
                    };
                    TypeArg::Type(self.with_open_parameters(&dressed, level))
                }
                (TypeParamKind::Size(v), _) => {
                    let open = self.open_params.contains(&v);
                    TypeArg::Size(self.flexible_named(param.name, level, open))
                }
                (TypeParamKind::Type(..), _) => TypeArg::Size(self.flexible(level, false)),
            });
        }
        let scheme_ty = self.with_existential_instances(scheme, &mut inst, span);
        let ty = Subst::instantiate(&scheme.params, &inst).ty(&scheme_ty);
        (inst, ty)
    }

    /// A recursive use: the same types, but sizes of its own.
    fn instantiate_own(
        &mut self,
        params: &[crate::types::TypeParam],
        scheme: &Scheme,
    ) -> (Vec<TypeArg>, Type) {
        let level = self.level;
        let inst: Vec<_> = params
            .iter()
            .map(|p| match p.kind {
                TypeParamKind::Size(_) => TypeArg::Size(self.flexible(level, false)),
                TypeParamKind::Type(id, _) => {
                    TypeArg::Type(Type::Named { unique: false, id, args: [].into() })
                }
            })
            .collect();
        let ty = Subst::instantiate(params, &inst).ty(&scheme.ty);
        (inst, ty)
    }

    fn constructor(&mut self, e: &SynExp, name: dagaz_syntax::Name, args: &[SynExp]) -> Res<Exp> {
        let ty = self.noted_type(e.id, e.span)?;
        let ty = self.dress(&ty, self.level, false);
        let payload = match &ty {
            Type::Sum(cs) => cs.iter().find(|(c, _)| *c == name).map(|(_, ts)| ts.clone()),
            _ => None,
        };
        let Some(payload) = payload else { return Err(internal(e.span, "a constructor of another type")) };
        let mut typed = Vec::new();
        for (arg, t) in args.iter().zip(&payload) {
            let arg = self.exp(arg)?;
            self.expect(&arg, t, "The constructor's payload does not have the right size")?;
            typed.push(arg);
        }
        Ok(plain(ExpKind::Constr { name, args: typed }, ty, e.span))
    }

    pub(super) fn project(&mut self, e: Exp, field: dagaz_syntax::Name, span: Span) -> Res<Exp> {
        let reference = self.cx.references.content(&e.ty).map(|(id, content)| (id, content.clone()));
        let content = reference.as_ref().map_or(&e.ty, |(_, content)| content);
        let ty = match &self.represented(content) {
            Type::Record(fields) => fields.iter().find(|(f, _)| *f == field).map(|(_, t)| t.clone()),
            _ => None,
        };
        let ty = match (reference, ty) {
            (Some((id, _)), Some(part)) => Some(Type::reference(id, part)),
            (_, ty) => ty,
        };
        match ty {
            Some(ty) => Ok(plain(ExpKind::Project(Box::new(e), field), ty, span)),
            None => error("type-mismatch", span, format!("There is no field \"{field}\" here")),
        }
    }
}

pub(super) fn record(fields: Vec<(dagaz_syntax::Name, Exp)>, span: Span) -> Exp {
    let ty = Type::record(fields.iter().map(|(f, e)| (*f, e.ty.clone())).collect());
    plain(ExpKind::Record(fields), ty, span)
}
