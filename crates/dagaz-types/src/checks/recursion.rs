//! Recursive functions: those of higher order must pass their functions on unchanged, so that all functions can be
//! compiled away.
//!
//! ```text
//! def repeat (n: i64) (f: i64 -> i64) (x: i64) : i64 =
//!   if n == 0 then x else repeat (n - 1) f (f x)         -- fine: f stays f
//! def go (f: i64 -> i64) (n: i64) : i64 =
//!   if n == 0 then f 0 else go (\x -> f x * 2) (n - 1)   -- error: must be passed unchanged
//! ```

use dagaz_syntax::{Diagnostic, Span};

use super::walk::each_child;
use crate::context::Context;
use crate::typed::{Def, Exp, ExpKind, Pat, PatKind};
use crate::types::{Liftedness, Type};

/// Check the recursive uses in a definition.
pub(super) fn check(cx: &Context, def: &Def) -> Vec<Diagnostic> {
    let mut checker = Checker {
        def,
        higher_order: def.params.iter().map(|p| is_higher_order(cx, &p.ty)).collect(),
        first_use: None,
        found: Vec::new(),
    };
    checker.exp(&def.body);
    let mut found = checker.found;
    if let Some(span) = checker.first_use
        && is_higher_order(cx, &def.ret.ty)
    {
        found.push(
            Diagnostic::error(
                "recursion-higher-order",
                def.span,
                format!(
                    "The result of the recursive function \"{}\" is not first-order, but {}",
                    def.name,
                    cx.show_ret(&def.ret)
                ),
            )
            .label(span, "the recursive use")
            .help("make it take the parameters of the function that it returns"),
        );
    }
    found
}

struct Checker<'a> {
    def: &'a Def,
    /// For each parameter, whether it is or contains a function.
    higher_order: Vec<bool>,
    first_use: Option<Span>,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn is_self(&self, e: &Exp) -> bool {
        matches!(&e.kind, ExpKind::Var { var, .. } if *var == self.def.var)
    }

    fn exp(&mut self, e: &Exp) {
        match &e.kind {
            ExpKind::App { fun, args } if self.is_self(fun) => {
                self.first_use.get_or_insert(fun.span);
                self.application(fun, args);
                args.iter().for_each(|a| self.exp(a));
            }
            ExpKind::Var { .. } if self.is_self(e) => {
                self.first_use.get_or_insert(e.span);
                if self.higher_order.contains(&true) {
                    self.found.push(Diagnostic::error(
                        "recursion-higher-order",
                        e.span,
                        format!(
                            "The recursive function \"{}\" has a higher-order parameter, so it may be used in its own definition only by applying it to all arguments",
                            self.def.name
                        ),
                    ));
                }
            }
            _ => each_child(e, &mut |child| self.exp(child)),
        }
    }

    fn application(&mut self, fun: &Exp, args: &[Exp]) {
        if !self.higher_order.contains(&true) {
            return;
        }
        let name = self.def.name;
        if args.len() < self.def.params.len() {
            self.found.push(Diagnostic::error(
                "recursion-higher-order",
                fun.span,
                format!("The recursive application of \"{name}\" is not fully saturated: it has a higher-order parameter, so all arguments must be given"),
            ));
        }
        for ((arg, param), higher_order) in args.iter().zip(&self.def.params).zip(&self.higher_order) {
            if *higher_order && !is_same(arg, param) {
                self.found.push(
                    Diagnostic::error(
                        "recursion-higher-order",
                        arg.span,
                        format!("Higher-order arguments must be passed unchanged in the recursive application of \"{name}\""),
                    )
                    .label(param.span, "must be exactly this parameter"),
                );
            }
        }
    }
}

/// Whether an argument is just what a parameter was given.
fn is_same(arg: &Exp, param: &Pat) -> bool {
    match (&arg.kind, &param.kind) {
        (ExpKind::Ascript(inner) | ExpKind::Attr(_, inner), _) => is_same(inner, param),
        (ExpKind::Var { var, .. }, PatKind::Var(p, _)) => var == p,
        (ExpKind::Record(args), PatKind::Record(params)) => {
            args.iter().all(|(f, arg)| params.iter().any(|(g, param)| f == g && is_same(arg, param)))
        }
        _ => false,
    }
}

/// Whether a type is or contains a function, or may stand for one.
fn is_higher_order(cx: &Context, ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) => false,
        Type::Array { elem, .. } => is_higher_order(cx, elem),
        Type::Record(fields) => fields.iter().any(|(_, t)| is_higher_order(cx, t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(|t| is_higher_order(cx, t))),
        Type::Arrow(_) => true,
        Type::Named { id, .. } => cx.liftedness.get(id) == Some(&Liftedness::Lifted),
    }
}
