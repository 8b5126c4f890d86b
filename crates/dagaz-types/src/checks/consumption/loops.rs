//! Loops, whose parameters are consumed if the body consumes them.
//!
//! The body is checked as if it might consume all parameters. Those that it does consume must get new values that
//! alias neither each other nor anything from outside, and their initial values are consumed.

use std::collections::HashSet;

use dagaz_syntax::{Diagnostic, Name, Span};

use super::aliases::{AliasSet, Aliases, has_unique};
use super::application::result_of;
use super::function::variables;
use super::{Checker, Origin};
use crate::typed::{Exp, LoopForm, Pat, PatKind};
use crate::types::{Type, VarId};

/// A loop parameter and what its next value aliases.
struct Parameter<'a> {
    var: VarId,
    name: Name,
    ty: &'a Type,
    next: Aliases,
}

impl Checker<'_> {
    pub(super) fn loop_exp(
        &mut self,
        e: &Exp,
        pat: &Pat,
        init: &Exp,
        form: &LoopForm,
        body: &Exp,
    ) -> Aliases {
        let elements = match form {
            LoopForm::For { bound, .. } => self.exp(bound),
            LoopForm::ForIn { array, .. } => self.exp(array),
            LoopForm::While(_) => Aliases::Scalar,
        };
        let (((next, consumed), condition_free), free) = self.inside(|c| {
            let mut bound = Vec::new();
            c.bind_loop_pat(pat, &mut bound);
            match form {
                LoopForm::For { var, .. } => {
                    c.bind(*var, Aliases::Scalar, false);
                    bound.push(*var);
                }
                LoopForm::ForIn { pat, .. } => {
                    let element = Aliases::all_of(&pat.ty, &elements.all());
                    c.bind_pat(pat, &element, false, &mut bound);
                }
                LoopForm::While(_) => {}
            }
            let condition_free = match form {
                LoopForm::While(cond) => c.inside(|c| c.contain(|c| c.exp(cond))).1,
                LoopForm::For { .. } | LoopForm::ForIn { .. } => Vec::new(),
            };
            let result = c.contain(|c| c.exp(body));
            c.leave(&bound);
            (result, condition_free)
        });
        let consumed = self.consumed_parameters(pat, &next, &consumed, e.span);
        let (initial, consumed_by_init) = self.contain(|c| {
            let before = c.trail.len();
            let initial = c.exp(init);
            if c.trail.len() > before && init.ty.has_function() {
                c.error(Diagnostic::error(
                    "consuming-argument",
                    init.span,
                    "An initial value of functional type contains consumption, which is not allowed",
                ));
            }
            let mut taken = AliasSet::default();
            taken_by(pat, &initial, &consumed, &mut taken);
            if !consumed.is_empty() {
                c.check_self_aliases(&initial, init.span);
            }
            c.consume(&taken, init.span);
            initial
        });
        self.mark_all_consumed(&consumed_by_init);
        self.check_free("Loop body", &free, &consumed_by_init, e.span);
        self.check_free("Loop condition", &condition_free, &consumed_by_init, e.span);
        let own = self.result(Origin::Loop, e.span);
        loop_result(pat, &initial, &consumed, &own).combine(&next)
    }

    fn bind_loop_pat(&mut self, pat: &Pat, bound: &mut Vec<VarId>) {
        match &pat.kind {
            PatKind::Var(var, _) => {
                let consumable = has_unique(&pat.ty) || !self.declared.loop_params.contains(&pat.span);
                self.bind(*var, Aliases::none_of(&pat.ty), consumable);
                bound.push(*var);
            }
            PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.bind_loop_pat(p, bound)),
            PatKind::Constr(_, args) => args.iter().for_each(|p| self.bind_loop_pat(p, bound)),
        }
    }

    /// Which parameters are consumed: those that the body consumes, and those whose value becomes that of a consumed
    /// one. Those that are declared unique count as consumed at first, and stay so if anything they get aliases them.
    /// Checks what the new values of consumed parameters alias.
    fn consumed_parameters(
        &mut self,
        pat: &Pat,
        next: &Aliases,
        consumed: &[(VarId, Span)],
        span: Span,
    ) -> HashSet<VarId> {
        let own = variables(pat);
        let mut parameters = Vec::new();
        loop_parameters(pat, next, &mut parameters);
        let declared: HashSet<VarId> =
            parameters.iter().filter(|p| has_unique(p.ty)).map(|p| p.var).collect();
        let mut gone: HashSet<VarId> = consumed.iter().map(|(v, _)| *v).collect();
        let mut result: HashSet<VarId> = own.iter().copied().filter(|v| gone.contains(v)).collect();
        result.extend(&declared);
        let mut settled = result == declared;
        loop {
            self.check_next_values(&parameters, &result, &own, span);
            let before = gone.len();
            for p in parameters.iter().filter(|p| result.contains(&p.var)) {
                gone.extend(p.next.all().iter().map(|a| a.var));
            }
            if gone.len() == before && settled {
                return result;
            }
            settled = true;
            result = own.iter().copied().filter(|v| gone.contains(v)).collect();
        }
    }

    fn check_next_values(
        &mut self,
        parameters: &[Parameter],
        consumed: &HashSet<VarId>,
        own: &[VarId],
        span: Span,
    ) {
        let (mut seen_consumed, mut seen) = (AliasSet::default(), AliasSet::default());
        for p in parameters {
            let set = p.next.all();
            let is_consumed = consumed.contains(&p.var);
            let outside = set.iter().find(|a| self.is_bound(a.var) && !own.contains(&a.var));
            if is_consumed && let Some(alias) = outside {
                let other = self.cx.var_name(alias.var);
                self.error(Diagnostic::error(
                    "consuming-loop-param-aliases",
                    span,
                    format!("Return value for consuming loop parameter \"{}\" aliases \"{other}\"", p.name),
                ));
            }
            if set.meets(&seen_consumed) {
                self.error(Diagnostic::error(
                    "loop-parameter-aliases-other",
                    span,
                    format!(
                        "Return value for loop parameter \"{}\" aliases other consumed loop parameter",
                        p.name
                    ),
                ));
            } else if is_consumed && set.meets(&seen) {
                self.error(Diagnostic::error(
                    "aliases-previously-returned",
                    span,
                    format!(
                        "Return value for consuming loop parameter \"{}\" aliases previously returned value",
                        p.name
                    ),
                ));
            }
            if is_consumed {
                seen_consumed = seen_consumed.union(&set);
            }
            seen = seen.union(&set);
        }
    }

    /// What the initial value consumes is gone in the first iteration.
    fn check_free(&mut self, what: &str, free: &[VarId], consumed: &[(VarId, Span)], span: Span) {
        for var in free {
            let Some(entry) = self.scope.get(var) else { continue };
            let gone = entry
                .aliases
                .all()
                .iter()
                .any(|a| self.is_bound(a.var) && consumed.iter().any(|(w, _)| a.var == *w));
            if gone {
                let name = self.describe(*var);
                self.error(Diagnostic::error(
                    "loop-uses-consumed",
                    span,
                    format!(
                        "{what} uses {name} (or an alias), but this is consumed by the initial loop argument"
                    ),
                ));
            }
        }
    }
}

fn loop_parameters<'a>(pat: &'a Pat, next: &Aliases, out: &mut Vec<Parameter<'a>>) {
    match &pat.kind {
        PatKind::Var(var, name) => {
            out.push(Parameter { var: *var, name: *name, ty: &pat.ty, next: next.clone() });
        }
        PatKind::Record(fields) => {
            fields.iter().for_each(|(f, p)| loop_parameters(p, &next.field(*f, &p.ty), out));
        }
        PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) | PatKind::Constr(..) => {}
    }
}

/// The aliases of the parts of the initial value that are consumed.
fn taken_by(pat: &Pat, initial: &Aliases, consumed: &HashSet<VarId>, taken: &mut AliasSet) {
    match &pat.kind {
        PatKind::Var(var, _) => {
            if consumed.contains(var) {
                *taken = taken.union(&initial.all());
            }
        }
        PatKind::Record(fields) => {
            fields.iter().for_each(|(f, p)| taken_by(p, &initial.field(*f, &p.ty), consumed, taken));
        }
        PatKind::Constr(..) => {
            if variables(pat).iter().any(|v| consumed.contains(v)) {
                *taken = taken.union(&initial.all());
            }
        }
        PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
    }
}

/// A loop is like a function of its initial value that returns consumed parameters as unique.
fn loop_result(pat: &Pat, initial: &Aliases, consumed: &HashSet<VarId>, own: &AliasSet) -> Aliases {
    match &pat.kind {
        PatKind::Record(fields) => {
            let mut parts: Vec<_> = fields
                .iter()
                .map(|(f, p)| (*f, loop_result(p, &initial.field(*f, &p.ty), consumed, own)))
                .collect();
            parts.sort_by_key(|x| x.0);
            Aliases::Record(parts.into())
        }
        PatKind::Var(..)
        | PatKind::Wildcard
        | PatKind::Int(_)
        | PatKind::Float(_)
        | PatKind::Bool(_)
        | PatKind::Constr(..) => {
            let consumed = variables(pat).iter().any(|v| consumed.contains(v));
            let ty = pat.ty.with_uniqueness(consumed);
            result_of(own, &ty, consumed, &initial.all())
        }
    }
}
