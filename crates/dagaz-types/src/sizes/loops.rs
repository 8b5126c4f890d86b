//! Loops: which sizes vary from iteration to iteration.
//!
//! Every size of the initial value is replaced by a fresh flexible one, and the body is checked with those. Where the
//! body demanded that such a size be something, it is that. Otherwise, where the body gives back the same size, or
//! that of another parameter which started with the same size and does not vary itself, it is the initial size.
//! All other sizes vary: they are parameters of the loop, and unknown in its result.

use dagaz_syntax::ast::{Exp as SynExp, LoopForm as SynForm, Pat as SynPat, PatKind as SynKind};
use dagaz_syntax::{Name, Span};

use super::application::is_i64;
use super::expression::record;
use super::pattern::pat_vars;
use super::scope::{can_be_size, same_size};
use super::unify::pair_sizes;
use super::{Sizer, internal};
use crate::context::Res;
use crate::subst::{Subst, size_of_exp};
use crate::typed::{Exp, ExpKind, LoopForm, Pat, PatKind};
use crate::types::{PrimType, Size, Type, VarId};

impl Sizer<'_> {
    pub(super) fn loop_exp(
        &mut self,
        e: &SynExp,
        pat: &SynPat,
        init: Option<&SynExp>,
        form: &SynForm,
        body: &SynExp,
    ) -> Res<Exp> {
        let init = match init {
            Some(init) => self.exp(init)?,
            None => self.pattern_value(pat)?,
        };
        let form_value = match form {
            SynForm::For { bound: e, .. } | SynForm::ForIn { array: e, .. } => Some(self.exp(e)?),
            SynForm::While(_) => None,
        };
        let outer = self.level;
        let init_ty = self.zonk(&init.ty).with_uniqueness(false);
        let first = self.cx.fresh_var(Name::new("d"));
        let loop_ty = self.dress(&init_ty, outer + 1, false);
        let loop_ty = self.open_indices(&loop_ty, outer + 1);
        let mut pairs = Vec::new();
        pair_sizes(&loop_ty, &init_ty, &mut pairs);

        self.level = outer + 2;
        let own_names = self.self_sized(pat);
        self.note_declared(pat, false);
        let pat = self.loop_pat(pat, &loop_ty, &own_names)?;
        let form = self.loop_form(form, form_value, e.span)?;
        let body = self.exp(body)?;
        self.level = outer + 1;
        let body_ty = self.hide_inner_of_loop(&body.ty, &pat, e.span);
        self.classify(&pairs, &loop_ty, &body_ty);
        self.level = outer;

        let sizes: Vec<VarId> = pairs
            .iter()
            .filter_map(|(fresh, _)| match self.zonk_size(fresh) {
                Size::Var(v) if self.is_flexible(v) && v > first => Some(v),
                _ => None,
            })
            .collect();
        for v in &sizes {
            // Linked to something outside, it would have to be one size and cannot vary.
            if self.level_of(*v) <= outer {
                return crate::context::error(
                    "scope-violation",
                    e.span,
                    "Loop-variant size would be needed outside the loop: a value from outside is used at a size that changes from iteration to iteration",
                );
            }
            self.make_rigid(*v);
        }
        let pat = self.zonk_pat(pat);
        self.check_loop_value(
            &pat,
            &sizes,
            &body,
            &body_ty,
            "The loop body does not match the loop parameter",
        )?;
        self.check_loop_value(
            &pat,
            &sizes,
            &init,
            &init_ty,
            "The initial value does not match the loop parameter",
        )?;

        let mut gone = sizes.clone();
        pat_vars(&pat, &mut gone);
        let ty = pat.ty.with_uniqueness(false);
        let (ty, exts) = self.hide(&ty, &|_, v| gone.contains(&v), "the size of a loop's result", e.span);
        let kind = ExpKind::Loop { sizes, pat, init: Box::new(init), form, body: Box::new(body) };
        Ok(Exp { kind, ty, exts, span: e.span })
    }

    /// Sizes made in the body are new in every iteration.
    fn hide_inner_of_loop(&mut self, ty: &Type, pat: &Pat, span: Span) -> Type {
        let mut own = Vec::new();
        pat_vars(pat, &mut own);
        let level = self.level;
        self.lower_flexible(ty);
        self.hide(ty, &|s, v| s.level_of(v) > level && !own.contains(&v), "made in the loop body", span).0
    }

    /// Settle the sizes that do not vary.
    fn classify(&mut self, pairs: &[(Size, Size)], loop_ty: &Type, body_ty: &Type) {
        let mut results = Vec::new();
        pair_sizes(loop_ty, body_ty, &mut results);
        // What the body demands holds for the initial value, too. If it does not, that is reported later.
        for (fresh, initial) in pairs {
            let settled = self.zonk_size(fresh);
            if !matches!(settled, Size::Var(v) if self.is_flexible(v)) {
                let _ = self.unify_size(&settled, initial);
            }
        }
        // For each open size: its initial size, and the size that the body gives back in its place.
        let mut open: Vec<(VarId, Size, Size)> = Vec::new();
        for ((fresh, initial), (_, result)) in pairs.iter().zip(&results) {
            if let Size::Var(v) = self.zonk_size(fresh)
                && self.is_flexible(v)
            {
                let (initial, result) = (self.zonk_size(initial), self.zonk_size(result));
                let (initial, result) = (self.computed(initial), self.computed(result));
                // A result of a size still to be inferred can be made to fit.
                if let Size::Var(w) = &result
                    && self.is_flexible(*w)
                    && !self.parameter_sizes.contains(w)
                    && !pairs.iter().any(|(f, _)| same_size(&self.zonk_size(f), &result))
                {
                    let _ = self.unify_size(&result, &Size::Var(v));
                }
                open.push((v, initial, self.zonk_size(&result)));
            }
        }
        // The sizes that do not vary are the largest set closed under "gives back".
        let mut invariant: Vec<bool> = vec![true; open.len()];
        loop {
            let before = invariant.clone();
            for (i, (v, initial, result)) in open.iter().enumerate() {
                let stays = |result: &Size| match result {
                    Size::Var(w) if w == v => true,
                    _ if same_size(result, initial) => true,
                    Size::Var(w) => open
                        .iter()
                        .enumerate()
                        .any(|(j, (u, other, _))| u == w && invariant[j] && same_size(other, initial)),
                    Size::Const(_) | Size::Exp(_) | Size::Set(_) | Size::Meta(_) => false,
                };
                // One size may be open in several places with different initial sizes; then it varies.
                let agrees = open.iter().all(|(u, other, _)| u != v || same_size(other, initial));
                if !stays(result) || !agrees {
                    invariant[i] = false;
                }
            }
            if before == invariant {
                break;
            }
        }
        let varying: Vec<VarId> =
            open.iter().zip(&invariant).filter(|(_, same)| !**same).map(|((v, ..), _)| *v).collect();
        for (v, initial, _) in &open {
            if !varying.contains(v) {
                // The initial size is known outside, so this cannot fail.
                let _ = self.unify_size(&Size::Var(*v), initial);
            }
        }
    }

    /// Check the initial value or the body's result against the pattern, in which `sizes` and the pattern's own variables
    /// may be anything.
    fn check_loop_value(
        &mut self,
        pat: &Pat,
        sizes: &[VarId],
        value: &Exp,
        ty: &Type,
        what: &str,
    ) -> Res<()> {
        let mut any = Subst::default();
        for v in sizes {
            let size = self.flexible(u32::MAX, true);
            any.sizes.insert(*v, size);
        }
        self.pattern_parts(pat, value, &mut any);
        let expected = any.ty(&self.zonk(&pat.ty));
        self.placed(value.span, |s| s.unify(&expected, ty))
            .map_err(|m| self.size_error(m, value.span, what, &expected, ty))
    }

    /// What the `i64` variables of a pattern are for a given value, as far as that can be said.
    fn pattern_parts(&mut self, pat: &Pat, value: &Exp, subst: &mut Subst) {
        match (&pat.kind, &value.kind) {
            (PatKind::Var(v, _), _) if is_i64(&pat.ty) => {
                let size = if can_be_size(value) {
                    size_of_exp(value.clone())
                } else {
                    self.flexible(u32::MAX, true)
                };
                subst.sizes.insert(*v, size);
            }
            (PatKind::Record(fields), ExpKind::Record(values)) => {
                for (f, p) in fields {
                    if let Some((_, value)) = values.iter().find(|(g, _)| f == g) {
                        self.pattern_parts(p, value, subst);
                    }
                }
            }
            (PatKind::Record(_), ExpKind::Let { body, .. } | ExpKind::LetFun { body, .. }) => {
                self.pattern_parts(pat, body, subst)
            }
            _ => {
                let mut vars = Vec::new();
                pat_vars(pat, &mut vars);
                for v in vars {
                    let size = self.flexible(u32::MAX, true);
                    subst.sizes.insert(v, size);
                }
            }
        }
    }

    /// Note which variables of a loop pattern have their type written.
    fn note_declared(&mut self, pat: &SynPat, written: bool) {
        match &pat.kind {
            SynKind::Var(_) => {
                if written {
                    self.declared.loop_params.insert(pat.span);
                }
            }
            SynKind::Wildcard | SynKind::Lit(_) => {}
            SynKind::Paren(p) | SynKind::Attr(_, p) => self.note_declared(p, written),
            SynKind::Ascript(p, _) => self.note_declared(p, true),
            SynKind::Tuple(parts) | SynKind::Constr { args: parts, .. } => {
                parts.iter().for_each(|p| self.note_declared(p, written));
            }
            SynKind::Record(parts) => {
                parts.iter().flat_map(|(_, p)| p).for_each(|p| self.note_declared(p, written));
            }
        }
    }

    /// The variables of a loop pattern, whose annotations may mention them as sizes.
    fn self_sized(&self, pat: &SynPat) -> Vec<VarId> {
        let mut names = Vec::new();
        crate::infer::collect_names(pat, &mut names);
        names.iter().filter_map(|i| self.notes.binders.get(&i.span).copied()).collect()
    }

    fn loop_pat(&mut self, pat: &SynPat, ty: &Type, own: &[VarId]) -> Res<Pat> {
        // Sizes of the parameter may be the pattern's own variables, so those count as being outside the body.
        self.level -= 1;
        let level = self.level;
        let typed = self.pat(pat, ty, level);
        self.level += 1;
        for v in own {
            if let Some(info) = self.vars.get_mut(v) {
                info.level = level;
            }
        }
        typed
    }

    fn loop_form(&mut self, form: &SynForm, value: Option<Exp>, span: Span) -> Res<LoopForm> {
        match (form, value) {
            (SynForm::For { var, .. }, Some(bound)) => {
                let ty = match self.zonk(&bound.ty) {
                    Type::Prim(ty) => ty,
                    ty if self.is_index_number(&ty) => PrimType::I64,
                    _ => return Err(internal(span, "a loop bound that is no integer")),
                };
                let id = self.binder(var.span)?;
                self.bind_var(id, Type::Prim(ty));
                Ok(LoopForm::For { var: id, name: var.name, ty, bound: Box::new(bound) })
            }
            (SynForm::ForIn { pat, .. }, Some(array)) => {
                let Type::Array { elem, .. } = self.zonk(&array.ty) else {
                    return Err(internal(span, "a loop over something that is no array"));
                };
                let pat = self.pat(pat, &elem, self.level)?;
                Ok(LoopForm::ForIn { pat, array: Box::new(array) })
            }
            (SynForm::While(cond), _) => Ok(LoopForm::While(Box::new(self.exp(cond)?))),
            (SynForm::For { .. } | SynForm::ForIn { .. }, None) => {
                Err(internal(span, "a loop without a bound"))
            }
        }
    }

    /// A loop pattern read as an expression.
    fn pattern_value(&mut self, pat: &SynPat) -> Res<Exp> {
        match &pat.kind {
            SynKind::Var(_) => self.variable(pat.id, pat.span),
            SynKind::Paren(p) | SynKind::Attr(_, p) | SynKind::Ascript(p, _) => self.pattern_value(p),
            SynKind::Tuple(parts) => {
                let mut fields = Vec::new();
                for (i, p) in parts.iter().enumerate() {
                    fields.push((Name::tuple_field(i), self.pattern_value(p)?));
                }
                Ok(record(fields, pat.span))
            }
            SynKind::Record(parts) => {
                let mut fields = Vec::new();
                for (f, p) in parts {
                    let Some(p) = p else { return Err(internal(f.span, "a loop without initial values")) };
                    fields.push((f.name, self.pattern_value(p)?));
                }
                Ok(record(fields, pat.span))
            }
            SynKind::Wildcard | SynKind::Lit(_) | SynKind::Constr { .. } => {
                Err(internal(pat.span, "a loop without initial values"))
            }
        }
    }
}
