//! The parts of an expression that are expressions, each with how tightly its surroundings bind: what is written in
//! its stead may need parentheses.

use dagaz_syntax::ast::{Access, Exp, ExpKind, Field, LoopForm, SliceIndex};

/// What fits in a place without parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Anything,
    /// What is on the left of `|>`, where another `|>` may stand.
    Chain,
    /// An operand: applications fit, but no operators.
    Operand,
    /// An argument.
    Atom,
}

/// How an expression is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Atom,
    Application,
    /// `x |> f`
    Pipe,
    Other,
}

impl Place {
    pub fn fits(self, shape: Shape) -> bool {
        match (self, shape) {
            (Place::Anything, _) | (_, Shape::Atom) => true,
            (Place::Chain, Shape::Application | Shape::Pipe) => true,
            (Place::Operand, Shape::Application) => true,
            (Place::Chain, Shape::Other) => false,
            (Place::Operand, Shape::Pipe | Shape::Other) => false,
            (Place::Atom, Shape::Application | Shape::Pipe | Shape::Other) => false,
        }
    }
}

pub(super) fn shape(e: &Exp) -> Shape {
    match &e.kind {
        ExpKind::Lit(_)
        | ExpKind::Str(_)
        | ExpKind::Var(_)
        | ExpKind::Hole
        | ExpKind::Paren(_)
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Project(..)
        | ExpKind::Index(..)
        | ExpKind::LocalOpen { .. }
        | ExpKind::SectionLeft { .. }
        | ExpKind::SectionRight { .. }
        | ExpKind::SectionAccess(_)
        | ExpKind::Error => Shape::Atom,
        ExpKind::App { .. } | ExpKind::Constr { .. } => Shape::Application,
        ExpKind::BinOp { op, .. } if op.name.as_str() == "|>" => Shape::Pipe,
        ExpKind::BinOp { .. }
        | ExpKind::Neg(_)
        | ExpKind::Not(_)
        | ExpKind::Ascript(..)
        | ExpKind::Coerce(..)
        | ExpKind::Range { .. }
        | ExpKind::If { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::LetWith { .. }
        | ExpKind::Lambda { .. }
        | ExpKind::Loop { .. }
        | ExpKind::For { .. }
        | ExpKind::Seq { .. }
        | ExpKind::Match { .. }
        | ExpKind::With { .. }
        | ExpKind::Assert { .. }
        | ExpKind::Attr(..) => Shape::Other,
    }
}

/// Whether an expression may be computed more often than it is written without harm.
pub(super) fn is_cheap(e: &Exp) -> bool {
    match &e.kind {
        ExpKind::Lit(_)
        | ExpKind::Var(_)
        | ExpKind::Lambda { .. }
        | ExpKind::SectionAccess(_)
        | ExpKind::Hole
        | ExpKind::Error => true,
        ExpKind::Paren(inner) | ExpKind::Attr(_, inner) | ExpKind::Project(inner, _) => is_cheap(inner),
        ExpKind::Neg(inner) | ExpKind::Not(inner) => is_cheap(inner),
        ExpKind::Ascript(inner, _) => is_cheap(inner),
        ExpKind::SectionLeft { lhs: operand, .. } | ExpKind::SectionRight { rhs: operand, .. } => {
            is_cheap(operand)
        }
        ExpKind::Str(_)
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Index(..)
        | ExpKind::LocalOpen { .. }
        | ExpKind::BinOp { .. }
        | ExpKind::App { .. }
        | ExpKind::Constr { .. }
        | ExpKind::Coerce(..)
        | ExpKind::Range { .. }
        | ExpKind::If { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::LetWith { .. }
        | ExpKind::Loop { .. }
        | ExpKind::For { .. }
        | ExpKind::Seq { .. }
        | ExpKind::Match { .. }
        | ExpKind::With { .. }
        | ExpKind::Assert { .. } => false,
    }
}

type Visit<'v> = dyn FnMut(&mut Exp, Place) + 'v;

/// Call a function on all parts of an expression, in the order of the source. Sizes in types are left out.
pub(super) fn visit_children(e: &mut Exp, visit: &mut Visit<'_>) {
    match &mut e.kind {
        ExpKind::Lit(_) | ExpKind::Str(_) | ExpKind::Var(_) | ExpKind::Hole | ExpKind::Error => {}
        ExpKind::Paren(inner) | ExpKind::LocalOpen { body: inner, .. } => visit(inner, Place::Anything),
        ExpKind::Tuple(parts) | ExpKind::Array(parts) => {
            parts.iter_mut().for_each(|part| visit(part, Place::Anything));
        }
        ExpKind::Record(fields) => fields.iter_mut().for_each(|field| match field {
            Field::Explicit(_, value) => visit(value, Place::Anything),
            Field::Implicit(..) => {}
        }),
        ExpKind::Project(inner, _) | ExpKind::Neg(inner) | ExpKind::Not(inner) => visit(inner, Place::Atom),
        ExpKind::Index(array, slice) => {
            visit(array, Place::Atom);
            slice.iter_mut().for_each(|index| visit_index(index, visit));
        }
        ExpKind::BinOp { op, lhs, rhs } => {
            visit(lhs, if op.name.as_str() == "|>" { Place::Chain } else { Place::Operand });
            visit(rhs, Place::Operand);
        }
        ExpKind::App { fun, args } => {
            visit(fun, Place::Atom);
            args.iter_mut().for_each(|arg| visit(arg, Place::Atom));
        }
        ExpKind::Constr { args, .. } => args.iter_mut().for_each(|arg| visit(arg, Place::Atom)),
        ExpKind::SectionLeft { lhs: operand, .. } | ExpKind::SectionRight { rhs: operand, .. } => {
            visit(operand, Place::Operand);
        }
        ExpKind::SectionAccess(path) => visit_path(path, visit),
        ExpKind::Ascript(inner, _) | ExpKind::Coerce(inner, _) => visit(inner, Place::Operand),
        ExpKind::Range { start, second, end, .. } => {
            visit(start, Place::Operand);
            second.iter_mut().for_each(|second| visit(second, Place::Operand));
            visit(end, Place::Operand);
        }
        ExpKind::Attr(_, inner) => visit(inner, Place::Atom),
        ExpKind::If { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::LetWith { .. }
        | ExpKind::Lambda { .. }
        | ExpKind::Loop { .. }
        | ExpKind::For { .. }
        | ExpKind::Seq { .. }
        | ExpKind::Match { .. }
        | ExpKind::With { .. }
        | ExpKind::Assert { .. } => visit_binding(&mut e.kind, visit),
    }
}

/// The same for what binds names or directs control.
fn visit_binding(kind: &mut ExpKind, visit: &mut Visit<'_>) {
    match kind {
        ExpKind::If { cond, then, otherwise } => {
            [cond, then, otherwise].into_iter().for_each(|part| visit(part, Place::Anything));
        }
        ExpKind::Let { value, body, .. } | ExpKind::LetFun { def: value, body, .. } => {
            visit(value, Place::Anything);
            visit(body, Place::Anything);
        }
        ExpKind::LetWith { path, value, body, .. } => {
            visit_path(path, visit);
            visit(value, Place::Anything);
            visit(body, Place::Anything);
        }
        ExpKind::Lambda { body, .. } => visit(body, Place::Anything),
        ExpKind::Loop { init, form, body, .. } => {
            init.iter_mut().for_each(|init| visit(init, Place::Anything));
            match form {
                LoopForm::For { bound, .. } => visit(bound, Place::Anything),
                LoopForm::ForIn { array, .. } => visit(array, Place::Anything),
                LoopForm::While(cond) => visit(cond, Place::Anything),
            }
            visit(body, Place::Anything);
        }
        ExpKind::For { binders, body } => {
            binders.iter_mut().filter_map(|b| b.bound.as_mut()).for_each(|b| visit(b, Place::Operand));
            visit(body, Place::Anything);
        }
        ExpKind::Seq { first, second } => {
            visit(first, Place::Operand);
            visit(second, Place::Anything);
        }
        ExpKind::Match { scrutinee, cases } => {
            visit(scrutinee, Place::Anything);
            cases.iter_mut().for_each(|case| visit(&mut case.body, Place::Anything));
        }
        ExpKind::With { target, path, value } => {
            visit(target, Place::Operand);
            visit_path(path, visit);
            visit(value, Place::Operand);
        }
        ExpKind::Assert { cond, body } => {
            visit(cond, Place::Atom);
            visit(body, Place::Anything);
        }
        ExpKind::Lit(_)
        | ExpKind::Str(_)
        | ExpKind::Var(_)
        | ExpKind::Hole
        | ExpKind::Error
        | ExpKind::Paren(_)
        | ExpKind::LocalOpen { .. }
        | ExpKind::Tuple(_)
        | ExpKind::Array(_)
        | ExpKind::Record(_)
        | ExpKind::Project(..)
        | ExpKind::Neg(_)
        | ExpKind::Not(_)
        | ExpKind::Index(..)
        | ExpKind::BinOp { .. }
        | ExpKind::App { .. }
        | ExpKind::Constr { .. }
        | ExpKind::SectionLeft { .. }
        | ExpKind::SectionRight { .. }
        | ExpKind::SectionAccess(_)
        | ExpKind::Ascript(..)
        | ExpKind::Coerce(..)
        | ExpKind::Range { .. }
        | ExpKind::Attr(..) => {}
    }
}

fn visit_index(index: &mut SliceIndex, visit: &mut Visit<'_>) {
    match index {
        SliceIndex::Index(i) => visit(i, Place::Anything),
        SliceIndex::Slice { start, end, stride, .. } => {
            [start, end, stride].into_iter().flatten().for_each(|part| visit(part, Place::Operand));
        }
    }
}

fn visit_path(path: &mut [Access], visit: &mut Visit<'_>) {
    for step in path {
        match step {
            Access::Field(_) => {}
            Access::Index(slice, _) => slice.iter_mut().for_each(|index| visit_index(index, visit)),
        }
    }
}
