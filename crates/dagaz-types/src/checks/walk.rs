//! Walking the typed tree.

use crate::typed::{Access, Exp, ExpKind, LoopForm, Pat, SliceIndex};

fn each_in_slice<'a>(slice: &'a [SliceIndex], f: &mut dyn FnMut(&'a Exp)) {
    for index in slice {
        match index {
            SliceIndex::Index(i) => f(i),
            SliceIndex::Slice { start, end, stride } => {
                [start, end, stride].into_iter().flatten().for_each(|e| f(e));
            }
        }
    }
}

/// Whether a function is an operator, whose operands are evaluated from left to right; other arguments are evaluated
/// from right to left.
pub(super) fn is_operator(fun: &Exp) -> bool {
    match &fun.kind {
        ExpKind::Var { name, .. } | ExpKind::Intrinsic { name, .. } => name.is_symbol(),
        ExpKind::Attr(_, inner) => is_operator(inner),
        _ => false,
    }
}

/// Call `f` on the expressions directly inside an expression, in the order of their evaluation, bodies of functions
/// included.
pub(crate) fn each_child<'a>(e: &'a Exp, f: &mut dyn FnMut(&'a Exp)) {
    match &e.kind {
        ExpKind::Int(_)
        | ExpKind::Float(_)
        | ExpKind::Bool(_)
        | ExpKind::Str(_)
        | ExpKind::Var { .. }
        | ExpKind::Intrinsic { .. }
        | ExpKind::Hole => {}
        ExpKind::Record(fields) => fields.iter().for_each(|(_, e)| f(e)),
        ExpKind::Array(elems) | ExpKind::Constr { args: elems, .. } => elems.iter().for_each(f),
        ExpKind::Project(inner, _)
        | ExpKind::Ascript(inner)
        | ExpKind::Coerce(inner)
        | ExpKind::Attr(_, inner) => f(inner),
        ExpKind::Index { array, slice } => {
            f(array);
            each_in_slice(slice, f);
        }
        ExpKind::App { fun, args } => {
            if is_operator(fun) {
                args.iter().for_each(&mut *f);
            } else {
                args.iter().rev().for_each(&mut *f);
            }
            f(fun);
        }
        ExpKind::And(l, r) | ExpKind::Or(l, r) => {
            f(l);
            f(r);
        }
        ExpKind::Range { start, second, end, .. } => {
            f(start);
            second.iter().for_each(|e| f(e));
            f(end);
        }
        ExpKind::If { cond, then, otherwise } => {
            f(cond);
            f(then);
            f(otherwise);
        }
        ExpKind::Let { value, body, .. } => {
            f(value);
            f(body);
        }
        ExpKind::LetFun { def, body } => {
            f(&def.body);
            f(body);
        }
        ExpKind::Lambda(lambda) => f(&lambda.body),
        ExpKind::Loop { init, form, body, .. } => {
            f(init);
            match form {
                LoopForm::For { bound: e, .. } | LoopForm::ForIn { array: e, .. } | LoopForm::While(e) => {
                    f(e)
                }
            }
            f(body);
        }
        ExpKind::Match { scrutinee, cases } => {
            f(scrutinee);
            cases.iter().for_each(|c| f(&c.body));
        }
        ExpKind::With { target, path, value } => {
            f(target);
            for step in path {
                match step {
                    Access::Field(_) => {}
                    Access::Index(slice, _) => each_in_slice(slice, f),
                }
            }
            f(value);
        }
        ExpKind::Assert { cond, body } => {
            f(cond);
            f(body);
        }
    }
}

/// Call `f` on the patterns directly inside an expression that must not fail: all but those of `match`.
pub(super) fn each_pattern<'a>(e: &'a Exp, f: &mut dyn FnMut(&'a Pat)) {
    match &e.kind {
        ExpKind::Let { pat, .. } => f(pat),
        ExpKind::LetFun { def, .. } => def.params.iter().for_each(f),
        ExpKind::Lambda(lambda) => lambda.params.iter().for_each(f),
        ExpKind::Loop { pat, form, .. } => {
            f(pat);
            match form {
                LoopForm::ForIn { pat, .. } => f(pat),
                LoopForm::For { .. } | LoopForm::While(_) => {}
            }
        }
        ExpKind::Int(_)
        | ExpKind::Float(_)
        | ExpKind::Bool(_)
        | ExpKind::Str(_)
        | ExpKind::Var { .. }
        | ExpKind::Intrinsic { .. }
        | ExpKind::Hole
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Project(..)
        | ExpKind::Index { .. }
        | ExpKind::App { .. }
        | ExpKind::And(..)
        | ExpKind::Or(..)
        | ExpKind::Constr { .. }
        | ExpKind::Ascript(_)
        | ExpKind::Coerce(_)
        | ExpKind::Range { .. }
        | ExpKind::If { .. }
        | ExpKind::Match { .. }
        | ExpKind::With { .. }
        | ExpKind::Assert { .. }
        | ExpKind::Attr(..) => {}
    }
}
