//! The sizes of parameters, and of results that may depend on them.

use std::rc::Rc;

use dagaz_syntax::ast::{Pat as SynPat, PatKind as SynPatKind};
use dagaz_syntax::{Name, Span};

use super::Sizer;
use super::binding::{parameter_name, sizes_of_nothing};
use super::pattern::record_pat;
use super::scope::same_size;
use super::type_exp::Anonymous;
use crate::context::Res;
use crate::env::ValueBinding;
use crate::subst::Subst;
use crate::typed::{Exp, Pat};
use crate::types::{RetType, Scheme, Size, Type, VarId};

impl Sizer<'_> {
    /// The pattern of a parameter. A type that is written is what it is, so its sizes may mention earlier parameters.
    pub(super) fn parameter(&mut self, p: &SynPat, flexible_level: u32) -> Res<Pat> {
        match &p.kind {
            SynPatKind::Paren(inner) | SynPatKind::Attr(_, inner) => self.parameter(inner, flexible_level),
            SynPatKind::Ascript(inner, te) => {
                let ty = self.type_exp(te, &mut Anonymous::Flexible(flexible_level))?;
                self.pat(inner, &ty, flexible_level)
            }
            SynPatKind::Tuple(parts) => {
                let mut fields = Vec::new();
                for (i, part) in parts.iter().enumerate() {
                    fields.push((Name::tuple_field(i), self.parameter(part, flexible_level)?));
                }
                Ok(record_pat(fields, p.span))
            }
            SynPatKind::Record(parts) if parts.iter().all(|(_, part)| part.is_some()) => {
                let mut fields = Vec::new();
                for (field, part) in parts {
                    if let Some(part) = part {
                        fields.push((field.name, self.parameter(part, flexible_level)?));
                    }
                }
                Ok(record_pat(fields, p.span))
            }
            SynPatKind::Record(_)
            | SynPatKind::Var(_)
            | SynPatKind::Wildcard
            | SynPatKind::Lit(_)
            | SynPatKind::Constr { .. } => {
                let ty = self.noted_type(p.id, p.span)?;
                let ty = self.dress_parameter(&ty, flexible_level);
                self.pat(p, &ty, flexible_level)
            }
        }
    }

    /// The type of a parameter that is a function may leave the size of its result open, unless the body needs to know it.
    fn dress_parameter(&mut self, ty: &Type, level: u32) -> Type {
        match ty {
            Type::Arrow(arrow) => {
                let from = self.dress(&arrow.from, level, false);
                let to = match &arrow.to.ty {
                    inner @ Type::Arrow(_) => self.dress_parameter(inner, level),
                    other => self.dress(other, level, true),
                };
                Type::arrow(None, from, RetType::plain(to))
            }
            Type::Prim(_)
            | Type::Meta(_)
            | Type::Array { .. }
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Named { .. } => self.dress(ty, level, false),
        }
    }

    /// The body of a function must have its declared result type, with any size where that leaves one open.
    /// An anonymous size is the size of the body, where that can be said outside.
    pub(super) fn check_result(
        &mut self,
        body: &Exp,
        declared: RetType,
        nameable: &[VarId],
        own: u32,
    ) -> Res<RetType> {
        let mut open = Subst::default();
        for ext in &declared.exts {
            let any = self.flexible(u32::MAX, true);
            open.sizes.insert(*ext, any);
        }
        let expected = open.ty(&declared.ty);
        let mut exts = Vec::new();
        self.placed(body.span, |s| s.fit(&expected, &body.ty, &mut exts)).map_err(|m| {
            let what = "The body of this function does not match its return type";
            self.size_error(m, body.span, what, &declared.ty, &body.ty)
        })?;
        let mut known = Subst::default();
        for ext in &declared.exts {
            let size = self.zonk_size(&open.sizes[ext]);
            // A flexible size will be a size parameter of the function.
            let local = |v: VarId| self.level_of(v) >= own && !nameable.contains(&v) && !self.is_flexible(v);
            if !size.mentions(&local) {
                known.sizes.insert(*ext, size);
                continue;
            }
            // Sizes that are the same inside are the same outside, even if they cannot be named there.
            let before = declared.exts.iter().take_while(|e| *e != ext);
            let same = before.clone().find(|e| same_size(&self.zonk_size(&open.sizes[*e]), &size));
            if let Some(first) = same {
                known.sizes.insert(*ext, Size::Var(*first));
            }
        }
        let mut exts: Vec<VarId> =
            declared.exts.iter().copied().filter(|e| !known.sizes.contains_key(e)).collect();
        // A part of a parameter, as in `f (n: i64, x: t) : [n]t`, has no name outside.
        let open = exts.clone();
        let part = |s: &Self, v: VarId| {
            s.level_of(v) >= own && !nameable.contains(&v) && !s.is_flexible(v) && !open.contains(&v)
        };
        let whole = known.ty(&declared.ty);
        let (ty, hidden) = self.hide(&whole, &part, "a part of a parameter", body.span);
        if !hidden.is_empty() {
            self.check_present(&whole, &part, body.span)?;
        }
        exts.extend(hidden);
        Ok(RetType { exts, ty })
    }

    /// Sizes that have no name outside of a function are read off its result, so there must be elements that have them.
    fn check_present(&self, ty: &Type, is_hidden: &dyn Fn(&Self, VarId) -> bool, span: Span) -> Res<()> {
        let absent = sizes_of_nothing(ty).into_iter().find(|v| is_hidden(self, *v));
        let Some(v) = absent else { return Ok(()) };
        let name = self.cx.var_name(v);
        let message = format!(
            "The size \"{name}\" is a part of a parameter, and the result has no elements that it could be read off"
        );
        crate::context::fail(
            dagaz_syntax::Diagnostic::error("unknown-size", span, message)
                .at(format!("is of type \"{}\"", self.cx.show_type(ty)))
                .help(format!("make \"{name}\" a parameter of its own")),
        )
    }

    /// Let the definition that is being checked be known in its own body. Says whether this is that definition, and it
    /// mentions itself.
    pub(super) fn prepare_recursion(&mut self, params: &[Pat], ret: &RetType) -> bool {
        let Some((var, _)) = self.own.clone() else { return false };
        if self.schemes.contains_key(&var) {
            return false;
        }
        let ty = params
            .iter()
            .rev()
            .fold(ret.clone(), |to, p| RetType::plain(Type::arrow(parameter_name(p), p.ty.clone(), to)));
        let scheme = Scheme { params: Vec::new(), overloads: Vec::new(), ty: ty.ty };
        self.schemes.insert(var, Rc::new(scheme));
        self.notes.uses.values().any(|u| u.target == ValueBinding::Def(var))
    }

    /// A flexible size becomes a parameter.
    pub(super) fn make_rigid(&mut self, v: VarId) {
        if let Some(info) = self.vars.get_mut(&v) {
            info.kind = super::SizeKind::Named;
        }
    }
}
