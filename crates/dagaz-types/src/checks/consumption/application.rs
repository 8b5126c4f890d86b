//! Application of functions.

use dagaz_syntax::{Diagnostic, Name, Span};

use super::aliases::{AliasSet, Aliases, has_unique};
use super::{Checker, Origin};
use crate::checks::walk::is_operator;
use crate::typed::{Exp, ExpKind};
use crate::types::Type;

/// An argument that has been checked.
struct Argument {
    span: Span,
    aliases: AliasSet,
}

impl Checker<'_> {
    pub(super) fn application(&mut self, e: &Exp, fun: &Exp, args: &[Exp]) -> Aliases {
        let name = function_name(fun);
        let function = self.exp(fun);
        let params = parameters(&function, args.len());
        let mut checked: Vec<Argument> = Vec::new();
        let operands = is_operator(fun);
        let order: Vec<usize> =
            if operands { (0..args.len()).collect() } else { (0..args.len()).rev().collect() };
        for i in order {
            let param = params.get(i);
            let aliases = self.argument(&args[i], param.is_some_and(has_unique), &checked);
            if let Some(param) = param {
                self.check_function(param, &aliases, args[i].span);
            }
            checked.push(Argument { span: args[i].span, aliases: aliases.all() });
        }
        if !operands {
            checked.reverse();
        }
        if matches!(e.ty, Type::Prim(_)) {
            return Aliases::Scalar;
        }
        let own = self.result(Origin::Application(name), e.span);
        let mut result = function.map(&|set| set.union(&own));
        for arg in &checked {
            result = match result {
                Aliases::Function(closure, arrow) => {
                    result_of(&closure, &arrow.to.ty, has_unique(&arrow.from), &arg.aliases)
                }
                // The function is of a parametric type, which is all that we know about its result.
                other => Aliases::all_of(&e.ty, &other.all().union(&arg.aliases)),
            };
        }
        result
    }

    fn argument(&mut self, e: &Exp, consumed: bool, previous: &[Argument]) -> Aliases {
        let before = self.trail.len();
        let aliases = self.exp(e);
        if self.trail.len() > before && e.ty.has_function() {
            self.error(Diagnostic::error(
                "consuming-argument",
                e.span,
                "An argument of functional type contains consumption, which is not allowed",
            ));
        }
        if consumed {
            self.check_self_aliases(&aliases, e.span);
            let all = aliases.all();
            self.consume(&all, e.span);
            for arg in previous {
                let shared = all
                    .iter()
                    .find(|a| self.is_bound(a.var) && arg.aliases.iter().any(|other| a.var == other.var));
                if let Some(shared) = shared {
                    let what = self.describe(shared.var);
                    self.error(
                        Diagnostic::error(
                            "argument-aliases",
                            e.span,
                            format!("Argument is consumed, but aliases {what}, which is also aliased by another argument"),
                        )
                        .label(arg.span, "the other argument"),
                    );
                }
            }
        }
        aliases
    }

    /// What is passed to a consuming parameter must not contain the same thing twice.
    pub(super) fn check_self_aliases(&mut self, aliases: &Aliases, span: Span) {
        let mut parts = Vec::new();
        aliases.parts(&mut parts);
        let mut seen = AliasSet::default();
        for part in parts {
            if part.meets(&seen) {
                self.error(Diagnostic::error(
                    "self-aliasing-arg",
                    span,
                    "Argument passed for consuming parameter is self-aliased",
                ));
            }
            seen = seen.union(&part);
        }
    }

    /// A function given where one of type `expected` is wanted may consume no more, and its result must be as free of
    /// aliases.
    pub(super) fn check_function(&mut self, expected: &Type, given: &Aliases, span: Span) {
        match (expected, given) {
            (Type::Arrow(_), Aliases::Function(_, arrow)) => {
                let given = Type::Arrow(arrow.clone());
                let Some(why) = unfit(expected, &given) else { return };
                self.error(
                    Diagnostic::error("consuming-function", span, why)
                        .help(format!("expected type: {}", self.cx.show_type(expected)))
                        .help(format!(
                            "this function does not have expected type, but {}",
                            self.cx.show_type(&given)
                        )),
                );
            }
            (Type::Record(types), Aliases::Record(parts)) => {
                for ((_, t), (_, part)) in types.iter().zip(parts.iter()) {
                    self.check_function(t, part, span);
                }
            }
            (
                Type::Prim(_)
                | Type::Meta(_)
                | Type::Array { .. }
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Arrow(_)
                | Type::Named { .. },
                _,
            ) => {}
        }
    }
}

/// What the result of a function aliases: what the function and an argument that is not consumed do, unless the part
/// is unique.
pub(super) fn result_of(closure: &AliasSet, result: &Type, consumed: bool, arg: &AliasSet) -> Aliases {
    let set = if consumed { closure.clone() } else { closure.union(arg) };
    result_parts(result, &set)
}

fn result_parts(result: &Type, set: &AliasSet) -> Aliases {
    match result {
        Type::Array { unique: true, .. } | Type::Named { unique: true, .. } => Aliases::none_of(result),
        Type::Record(fields) => {
            Aliases::Record(fields.iter().map(|(f, t)| (*f, result_parts(t, set))).collect())
        }
        Type::Sum(cs) => Aliases::Sum(
            cs.iter().map(|(c, ts)| (*c, ts.iter().map(|t| result_parts(t, set)).collect())).collect(),
        ),
        Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Named { .. } | Type::Arrow(_) => {
            Aliases::all_of(result, set)
        }
    }
}

fn function_name(fun: &Exp) -> Option<Name> {
    match &fun.kind {
        ExpKind::Var { name, .. } | ExpKind::Intrinsic { name, .. } => Some(*name),
        ExpKind::App { fun, .. } | ExpKind::Attr(_, fun) => function_name(fun),
        _ => None,
    }
}

/// The types of the first `count` parameters.
fn parameters(function: &Aliases, count: usize) -> Vec<Type> {
    let mut params = Vec::new();
    let Aliases::Function(_, arrow) = function else { return params };
    let mut arrow = arrow;
    while params.len() < count {
        params.push(arrow.from.clone());
        match &arrow.to.ty {
            Type::Arrow(next) => arrow = next,
            _ => break,
        }
    }
    params
}

/// Why a function of type `given` may not stand where `expected` is wanted.
fn unfit(expected: &Type, given: &Type) -> Option<String> {
    match (expected, given) {
        (Type::Arrow(want), Type::Arrow(have)) => {
            if has_unique(&have.from) && !has_unique(&want.from) {
                return Some(
                    "A consuming function is given where its argument must not be consumed".to_owned(),
                );
            }
            unfit(&have.from, &want.from).or_else(|| unfit(&want.to.ty, &have.to.ty))
        }
        (Type::Record(wants), Type::Record(haves)) => {
            wants.iter().zip(haves.iter()).find_map(|((_, want), (_, have))| unfit(want, have))
        }
        (
            Type::Array { unique: true, .. } | Type::Named { unique: true, .. },
            Type::Array { unique: false, .. } | Type::Named { unique: false, .. },
        ) => {
            Some("A function whose result is not unique is given where the result must be unique".to_owned())
        }
        (
            Type::Prim(_)
            | Type::Meta(_)
            | Type::Array { .. }
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Arrow(_)
            | Type::Named { .. },
            _,
        ) => None,
    }
}
