//! Causality: a size must be known before it is needed.
//!
//! ```text
//! def main (xs: []i32) = f (\_ -> 0) <| filter (> 0) xs
//!                        ^ needs the size of the filtered array, which is computed later
//! ```
//!
//! Where a polymorphic function, an empty array or a constructor is used, its size arguments must have values. Sizes
//! that expressions bring into being (`Exp::exts`) have values once those expressions are evaluated: the value of a
//! `let` before its body, arguments before the function and from the last to the first, and the left operand of an
//! operator before the right one.

use std::collections::HashSet;

use dagaz_syntax::{Diagnostic, Span};

use super::walk::{each_child, is_operator};
use crate::context::{Context, Dialect};
use crate::typed::{Def, Exp, ExpKind, Pat};
use crate::types::{Size, Type, TypeArg, VarId};

/// Check a definition.
pub(super) fn check(cx: &Context, def: &Def) -> Vec<Diagnostic> {
    let mut made = HashSet::new();
    collect_made(&def.body, &mut made);
    if made.is_empty() {
        return Vec::new();
    }
    let mut checker = Checker { cx, made, known: HashSet::new(), log: Vec::new(), found: Vec::new() };
    checker.exp(&def.body);
    checker.found
}

fn collect_made(e: &Exp, made: &mut HashSet<VarId>) {
    made.extend(&e.exts);
    each_child(e, &mut |child| collect_made(child, made));
}

struct Checker<'a> {
    cx: &'a Context,
    /// Sizes that come into being somewhere in the definition.
    made: HashSet<VarId>,
    /// Those that have a value by now.
    known: HashSet<VarId>,
    /// The elements of `known`, in order.
    log: Vec<VarId>,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn learn(&mut self, sizes: &[VarId]) {
        for size in sizes {
            if self.known.insert(*size) {
                self.log.push(*size);
            }
        }
    }

    /// Do something, then forget the sizes that came into being.
    fn forgetting(&mut self, act: impl FnOnce(&mut Self)) {
        let before = self.log.len();
        act(self);
        for size in self.log.split_off(before) {
            self.known.remove(&size);
        }
    }

    fn need(&mut self, ty: &Type, inst: &[TypeArg], what: &str, span: Span) {
        let mut bound = HashSet::new();
        let mut missing = None;
        let mut see = |size: &Size, bound: &HashSet<VarId>| {
            size.each_var(&mut |v| {
                if self.made.contains(&v) && !self.known.contains(&v) && !bound.contains(&v) {
                    missing.get_or_insert(v);
                }
            });
        };
        sizes_of(ty, &mut bound, &mut see);
        for arg in inst {
            match arg {
                TypeArg::Size(size) => see(size, &bound),
                TypeArg::Type(ty) => sizes_of(ty, &mut bound, &mut see),
            }
        }
        let Some(size) = missing else { return };
        let name = self.cx.var_name(size);
        self.found.push(
            Diagnostic::error(
                "causality",
                span,
                format!(
                    "Causality check: the size \"{name}\" needed for the type of {what} is computed later"
                ),
            )
            .at(format!("has type {}", self.cx.show_type(ty)))
            .help("bind the expression that the size comes from with \"let\" first"),
        );
    }

    fn parameters(&mut self, params: &[Pat]) {
        for p in params {
            self.need(&p.ty, &[], "this parameter", p.span);
        }
    }

    fn exp(&mut self, e: &Exp) {
        let mut e = e;
        let mut later: Vec<&[VarId]> = Vec::new();
        loop {
            match &e.kind {
                ExpKind::Let { value, body, .. } => {
                    self.exp(value);
                    later.push(&e.exts);
                    e = body;
                }
                ExpKind::LetFun { def, body } => {
                    self.forgetting(|c| c.exp(&def.body));
                    later.push(&e.exts);
                    e = body;
                }
                _ => break self.simple(e),
            }
        }
        later.into_iter().rev().for_each(|exts| self.learn(exts));
    }

    fn simple(&mut self, e: &Exp) {
        match &e.kind {
            ExpKind::Var { name, inst, .. } | ExpKind::Intrinsic { name, inst } => {
                self.need(&e.ty, inst, &format!("\"{name}\""), e.span);
            }
            ExpKind::Hole => self.need(&e.ty, &[], "this hole", e.span),
            ExpKind::Array(elems) if elems.is_empty() => {
                self.need(&e.ty, &[], "this empty array", e.span);
            }
            ExpKind::Constr { name, args } => {
                args.iter().for_each(|a| self.exp(a));
                self.need(&e.ty, &[], &format!("\"#{name}\""), e.span);
            }
            ExpKind::Lambda(lambda) => {
                self.parameters(&lambda.params);
                self.forgetting(|c| c.exp(&lambda.body));
            }
            ExpKind::App { fun, args } => {
                // In plain Futhark a section is made before its operand is evaluated.
                if self.cx.dialect == Dialect::Strict && args.len() == 1 && is_operator(fun) {
                    self.need(&e.ty, &[], "this operator section", e.span);
                }
                if is_operator(fun) {
                    args.iter().for_each(|a| self.exp(a));
                } else {
                    args.iter().rev().for_each(|a| self.exp(a));
                }
                // What the application itself makes may occur in the type that its function is used at.
                self.learn(&e.exts);
                self.exp(fun);
            }
            _ => each_child(e, &mut |child| self.exp(child)),
        }
        self.learn(&e.exts);
    }
}

/// Call `f` on all sizes in a type, with the variables that function types around them bind.
fn sizes_of(ty: &Type, bound: &mut HashSet<VarId>, f: &mut dyn FnMut(&Size, &HashSet<VarId>)) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array { dim, elem, .. } => {
            f(dim, bound);
            sizes_of(elem, bound, f);
        }
        Type::Record(fields) => fields.iter().for_each(|(_, t)| sizes_of(t, bound, f)),
        Type::Sum(cs) => cs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| sizes_of(t, bound, f))),
        Type::Arrow(arrow) => {
            sizes_of(&arrow.from, bound, f);
            let fresh: Vec<VarId> =
                arrow.param.iter().chain(&arrow.to.exts).copied().filter(|v| bound.insert(*v)).collect();
            sizes_of(&arrow.to.ty, bound, f);
            fresh.iter().for_each(|v| {
                bound.remove(v);
            });
        }
        Type::Named { args, .. } => args.iter().for_each(|a| match a {
            TypeArg::Size(size) => f(size, bound),
            TypeArg::Type(t) => sizes_of(t, bound, f),
        }),
    }
}
