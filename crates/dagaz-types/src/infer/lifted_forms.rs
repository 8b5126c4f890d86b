//! Forms other than applications that are lifted: projections, conditions, and reads of arrays.
//!
//! ```text
//! xys.0                      ==>        map (.0) xys                                   if xys: [n](a, b)
//! if bs then xs else 0       ==>        map2 (\x y -> if x then y else 0) bs xs        if bs: [n]bool
//! xs[is]                     ==>        map (\x -> xs[x]) is                           if is: [n]i64
//! ```

use dagaz_syntax::Span;
use dagaz_syntax::ast::{Exp, ExpKind, Ident, NodeId, SliceIndex};

use super::Infer;
use super::unify::{Constraint, PrimSet};
use crate::automap::Linear;
use crate::context::Res;
use crate::types::{Liftedness, Type};

/// An `if` of a chain: its condition's rank, and what it gives if that holds.
struct Arm<'e> {
    node: &'e Exp,
    rank: Linear,
    then: Type,
}

impl Infer<'_> {
    /// A field of a record, or of every record in an array.
    pub(super) fn project_lifted(&mut self, node: NodeId, ty: &Type, field: Ident) -> Res<Type> {
        if self.ranks.is_none() || self.cx.references.content(&self.base(ty)).is_some() {
            return self.project(ty, field);
        }
        let (rank, base) = self.split(ty);
        let part = self.project(&base, field)?;
        let Some(problem) = &mut self.ranks else { return Ok(part) };
        let maps = problem.site(node, Linear::default(), rank);
        Ok(Infer::lift(&maps, part))
    }

    /// A chain of `if`s whose conditions may be arrays.
    pub(super) fn conditional_lifted(&mut self, e: &Exp) -> Res<Type> {
        let mut arms = Vec::new();
        let mut e = e;
        while let ExpKind::If { cond, then, otherwise } = &e.kind {
            let ty = self.exp(cond)?;
            let (rank, base) = self.split(&ty);
            let ok = self.unify(&Type::BOOL, &base);
            self.expect(ok, cond.span, "The condition of \"if\" must be a bool", &Type::BOOL, &ty)?;
            arms.push(Arm { node: e, rank, then: self.exp(then)? });
            e = otherwise;
        }
        let mut result = self.exp(e)?;
        let mut last = e.span;
        for arm in arms.into_iter().rev() {
            let span = arm.node.span;
            result = self.chosen(arm, &result, last)?;
            last = span;
        }
        let ok = self.restrict(&result, Liftedness::SizeLifted);
        self.demand(ok, e.span, "A branch of \"if\" cannot give a value of this type")?;
        Ok(result)
    }

    /// Where a condition is mapped over, so are its branches, which may have fewer dimensions. They have no others than those
    /// that they need.
    fn chosen(&mut self, arm: Arm<'_>, otherwise: &Type, span: Span) -> Res<Type> {
        let what = "This branch does not have the type of the branches before it";
        if arm.rank.known() == Some(0) {
            let ok = self.unify(&arm.then, otherwise);
            self.expect(ok, span, what, &arm.then, otherwise)?;
            return Ok(arm.then);
        }
        let ((then_rank, then), (other_rank, other)) = (self.split(&arm.then), self.split(otherwise));
        let ok = self.unify(&then, &other);
        self.expect(ok, span, what, &arm.then, otherwise)?;
        let Some(problem) = &mut self.ranks else { return Ok(then) };
        let maps = problem.site(arm.node.id, Linear::default(), arm.rank);
        let whole = maps.clone().plus(&Linear::variable(problem.fresh()));
        for rank in [then_rank, other_rank] {
            problem.captured(arm.node.id, maps.clone(), whole.clone().minus(&rank));
        }
        Ok(Infer::lift(&whole, then))
    }

    /// The elements of an array at some indices, each of which may be an array.
    pub(super) fn index_lifted(
        &mut self,
        node: NodeId,
        ty: &Type,
        slice: &[SliceIndex],
        array: Span,
    ) -> Res<Type> {
        let is_plain = self.cx.references.content(&self.base(ty)).is_none()
            && slice.iter().all(|index| matches!(index, SliceIndex::Index(_)));
        let Some(problem) = self.ranks.as_mut().filter(|_| is_plain) else {
            return self.index(ty, slice, array);
        };
        problem.site(node, Linear::default(), Linear::default());
        let mut ty = ty.clone();
        let mut frame = Linear::default();
        for index in slice {
            let SliceIndex::Index(index) = index else { continue };
            let span = index.span;
            let index = self.exp(index)?;
            ty = self.element(&ty, array)?.1;
            let (rank, base) = self.split(&index);
            if let Type::Prim(_) = base {
                let ok = self.constrain(&base, Constraint::prims(PrimSet::INTEGRAL));
                self.demand(ok, span, "An index must be of an integer type")?;
            }
            if let Some(problem) = &mut self.ranks {
                let maps = problem.site(node, frame.clone(), rank.minus(&frame));
                frame = frame.plus(&maps);
            }
        }
        Ok(Infer::lift(&frame, ty))
    }
}
