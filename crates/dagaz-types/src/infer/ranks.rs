//! The first pass in the mode in which applications may be lifted.
//!
//! Here a type is a rank and a base, which is not an array. An open type is an open rank and an open base, written as
//! the array type `[]^q base`, whose dimension is the number of the rank variable `q`. Bases are unified as ever, and
//! ranks give equations (001 4.6.2, but functions, records and sums are taken apart, so that their parts count as
//! well). Where the mode is off, everything here does nothing.

use dagaz_syntax::Span;
use dagaz_syntax::ast::{Exp, ExpKind, NodeId, QualName};

use super::Infer;
use super::expression::{cannot_apply, function_name};
use super::resolve::binding_of;
use super::unify::{Constraint, Unified};
use crate::automap::{Linear, RankProblem, RankVar};
use crate::context::Res;
use crate::types::{RetType, Size, Type};

/// `[]^q elem`
fn rank_power(q: RankVar, elem: Type) -> Type {
    // Number 0 is a dimension of any size.
    Type::array(Size::Meta(q.0 + 1), elem)
}

/// The rank variable that a dimension stands for, if it is not just one dimension.
pub(super) fn rank_of_dim(dim: &Size) -> Option<RankVar> {
    match dim {
        Size::Meta(0) | Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Set(_) => None,
        Size::Meta(q) => Some(RankVar(q - 1)),
    }
}

/// An operator of the prelude that stands for an application.
pub(super) enum Pipe {
    /// `x |> f`
    Right,
    /// `f <| x`
    Left,
    /// `f >-> g`
    ThenRight,
    /// `g <-< f`
    ThenLeft,
}

impl Infer<'_> {
    /// An open type whose base is the given meta.
    pub(super) fn open_rank(&mut self, base: Type, constraint_is_scalar: bool) -> Type {
        match &mut self.ranks {
            Some(problem) if !constraint_is_scalar => rank_power(problem.fresh(), base),
            _ => base,
        }
    }

    /// Whether a type with this constraint is not an array.
    pub(super) fn is_scalar(&self, constraint: &Constraint) -> bool {
        let scalar_equality = self.ranks.as_ref().is_some_and(|problem| problem.scalar_equality);
        constraint.prims.is_some()
            || constraint.index
            || !constraint.fields.is_empty()
            || !constraint.constrs.is_empty()
            || (constraint.equality && scalar_equality)
    }

    /// Take a type apart into rank and base.
    pub(super) fn split(&self, ty: &Type) -> (Linear, Type) {
        let mut rank = Linear::default();
        let mut ty = self.shallow(ty);
        while let Type::Array { dim, elem, .. } = &ty {
            match rank_of_dim(dim) {
                Some(q) => rank.add_term(q, 1),
                None => rank.constant += 1,
            }
            ty = self.shallow(elem);
        }
        (rank, ty)
    }

    /// A type without the dimensions that stand for open ranks.
    pub(super) fn without_open_ranks(&self, ty: &Type) -> Type {
        match ty {
            Type::Array { dim, elem, .. } if rank_of_dim(dim).is_some() => self.without_open_ranks(elem),
            Type::Array { unique, dim, elem } => {
                let elem = self.without_open_ranks(elem).into();
                Type::Array { unique: *unique, dim: dim.clone(), elem }
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(f, t)| (*f, self.without_open_ranks(t))).collect())
            }
            Type::Sum(constrs) => {
                let all = |ts: &[Type]| ts.iter().map(|t| self.without_open_ranks(t)).collect();
                Type::Sum(constrs.iter().map(|(c, ts)| (*c, all(ts))).collect())
            }
            Type::Arrow(arrow) => {
                let to = RetType::plain(self.without_open_ranks(&arrow.to.ty));
                Type::arrow(arrow.param, self.without_open_ranks(&arrow.from), to)
            }
            Type::Prim(_) | Type::Meta(_) | Type::Named { .. } => ty.clone(),
        }
    }

    /// An array of some rank; the rank has no negative part.
    pub(super) fn lift(rank: &Linear, base: Type) -> Type {
        let known = (0..rank.constant).fold(base, |ty, _| Type::array(super::ANY_SIZE, ty));
        rank.terms.iter().fold(known, |ty, (q, count)| (0..*count).fold(ty, |ty, _| rank_power(*q, ty)))
    }

    /// What two types have in common before they are unified: in this mode their ranks are equated and the bases are
    /// left.
    pub(super) fn roots(&mut self, a: &Type, b: &Type) -> (Type, Type) {
        if self.ranks.is_none() {
            return (self.shallow(a), self.shallow(b));
        }
        let ((a_rank, a), (b_rank, b)) = (self.split(a), self.split(b));
        if let Some(problem) = &mut self.ranks {
            problem.equate(a_rank, &b_rank);
        }
        (a, b)
    }

    /// The root of a type that cannot be an array.
    pub(super) fn scalar_root(&mut self, ty: &Type) -> Type {
        if self.ranks.is_none() {
            return self.shallow(ty);
        }
        let (rank, base) = self.split(ty);
        if let Some(problem) = &mut self.ranks {
            problem.equate(rank, &Linear::default());
        }
        base
    }

    /// A type without the dimensions around it, where these do not count.
    pub(super) fn base(&self, ty: &Type) -> Type {
        match &self.ranks {
            None => self.shallow(ty),
            Some(_) => self.split(ty).1,
        }
    }

    /// Of each pair in `elements`, the first type is of at least the rank of the second, and has the same base.
    pub(super) fn relate_elements(&mut self) -> Res<()> {
        for (whole, element, span) in std::mem::take(&mut self.elements) {
            let ((whole_rank, whole), (rank, element)) = (self.split(&whole), self.split(&element));
            if let Some(problem) = &mut self.ranks {
                let more = Linear::variable(problem.fresh());
                problem.equate(rank.plus(&more), &whole_rank);
            }
            let ok = self.unify(&whole, &element);
            self.demand(ok, span, "The accumulator must hold what the operator combines")?;
        }
        Ok(())
    }

    /// A function that is applied here. Only applications have a frame; anything else must not be an array.
    pub(super) fn applied(&mut self, fun: &Exp) -> Res<Type> {
        let ty = self.exp(fun)?;
        if self.ranks.is_some() && !has_frame(fun) {
            self.scalar_root(&ty);
        }
        Ok(ty)
    }

    /// The type of applying a function to one argument, lifted as often as it turns out (C-APP in 001 4.5.2). The
    /// rank of the function is its frame.
    pub(super) fn apply_lifted(
        &mut self,
        node: NodeId,
        fun: &Type,
        (arg, span): (&Type, Span),
        name: &str,
    ) -> Res<Type> {
        let (frame, from, to) = self.lifted_function(fun, span, name)?;
        let ((param_rank, param), (arg_rank, base)) = (self.split(&from), self.split(arg));
        let ok = self.unify(&param, &base);
        self.expect(ok, span, &cannot_apply(name), &from, arg)?;
        let Some(problem) = &mut self.ranks else { return Ok(to) };
        let excess = arg_rank.minus(&frame).minus(&param_rank);
        let maps = problem.site(node, frame.clone(), excess);
        Ok(Infer::lift(&maps.plus(&frame), to))
    }

    /// Frame, parameter and result of a function that is applied to something at a place.
    fn lifted_function(&mut self, fun: &Type, span: Span, name: &str) -> Res<(Linear, Type, Type)> {
        let (frame, base) = self.split(fun);
        match base {
            Type::Arrow(arrow) => Ok((frame, arrow.from.clone(), arrow.to.ty.clone())),
            Type::Meta(_) => {
                let (from, to) = (self.fresh(span), self.fresh(span));
                let arrow = Type::arrow(None, from.clone(), RetType::plain(to.clone()));
                let bound: Unified = self.unify(&base, &arrow);
                match bound {
                    Ok(()) => Ok((frame, from, to)),
                    Err(_mismatch) => Err(self.not_a_function(fun, span, name)),
                }
            }
            Type::Prim(_) | Type::Array { .. } | Type::Record(_) | Type::Sum(_) | Type::Named { .. } => {
                Err(self.not_a_function(fun, span, name))
            }
        }
    }

    /// The type of a section in this mode, which has one operand of two: the other one is lifted as often as the one
    /// that is there, as if both were of the same rank.
    pub(super) fn lifted_section(
        &mut self,
        e: &Exp,
        (op, name): (&Type, &str),
        operand: &Exp,
        is_left: bool,
    ) -> Res<Type> {
        let operand_ty = self.exp(operand)?;
        let (_, first, rest) = self.lifted_function(op, e.span, name)?;
        let (_, second, result) = self.lifted_function(&rest, e.span, name)?;
        let (given, missing) = if is_left { (first, second) } else { (second, first) };
        let ((given_rank, given_base), (operand_rank, operand_base)) =
            (self.split(&given), self.split(&operand_ty));
        let ok = self.unify(&given_base, &operand_base);
        self.expect(ok, operand.span, &cannot_apply(name), &given, &operand_ty)?;
        let Some(problem) = &mut self.ranks else { return Ok(result) };
        let maps = problem.site(e.id, Linear::default(), operand_rank.minus(&given_rank));
        let (missing, result) = (Infer::lift(&maps, missing), Infer::lift(&maps, result));
        Ok(Type::arrow(None, missing, RetType::plain(result)))
    }

    /// Whether an operator is one of the prelude's pipes or compositions.
    pub(super) fn pipe(&self, op: &QualName) -> Option<Pipe> {
        let pipe = match op.name.as_str() {
            "|>" => Pipe::Right,
            "<|" => Pipe::Left,
            ">->" => Pipe::ThenRight,
            "<-<" => Pipe::ThenLeft,
            _ => return None,
        };
        let meant = binding_of(self.resolve_value(op).ok()?.local);
        (self.cx.prelude_values.get(&op.name) == Some(&meant)).then_some(pipe)
    }

    /// A pipe is the application that it stands for.
    pub(super) fn piped(&mut self, e: &Exp, fun: &Exp, arg: &Exp) -> Res<Type> {
        let fun_ty = self.applied(fun)?;
        let arg_ty = self.exp(arg)?;
        if let Some(problem) = &mut self.ranks {
            problem.pipes.insert(e.id);
        }
        self.apply_lifted(e.id, &fun_ty, (&arg_ty, arg.span), &function_name(fun))
    }

    /// A composition is the function `\x -> second (first x)`; the second function may be lifted.
    pub(super) fn composed(&mut self, e: &Exp, first: &Exp, second: &Exp) -> Res<Type> {
        let (first_ty, second_ty) = (self.exp(first)?, self.exp(second)?);
        self.scalar_root(&first_ty);
        self.scalar_root(&second_ty);
        let (_, from, between) = self.lifted_function(&first_ty, first.span, &function_name(first))?;
        if let Some(problem) = &mut self.ranks {
            problem.pipes.insert(e.id);
        }
        let to = self.apply_lifted(e.id, &second_ty, (&between, second.span), &function_name(second))?;
        Ok(Type::arrow(None, from, RetType::plain(to)))
    }

    /// Sizes are taken as they are.
    pub(super) fn without_lifting<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.set_rigid(true);
        let result = walk(self);
        self.set_rigid(before);
        result
    }

    fn set_rigid(&mut self, rigid: bool) -> bool {
        self.ranks.as_mut().is_some_and(|problem| std::mem::replace(&mut problem.rigid, rigid))
    }

    /// Start to collect.
    pub(super) fn start_ranks(&mut self, scalar_equality: bool) {
        self.ranks = Some(Box::new(RankProblem { scalar_equality, ..RankProblem::default() }));
    }
}

/// Whether an expression is an application, which may have been lifted and still waits for arguments.
pub(crate) fn has_frame(e: &Exp) -> bool {
    match &e.kind {
        ExpKind::App { .. } | ExpKind::BinOp { .. } | ExpKind::Neg(_) | ExpKind::Not(_) => true,
        ExpKind::Paren(inner) | ExpKind::Attr(_, inner) => has_frame(inner),
        ExpKind::Lit(_)
        | ExpKind::Str(_)
        | ExpKind::Var(_)
        | ExpKind::Hole
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Project(..)
        | ExpKind::Index(..)
        | ExpKind::LocalOpen { .. }
        | ExpKind::Constr { .. }
        | ExpKind::SectionLeft { .. }
        | ExpKind::SectionRight { .. }
        | ExpKind::SectionAccess(_)
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
        | ExpKind::Error => false,
    }
}
