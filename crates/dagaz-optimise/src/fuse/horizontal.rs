//! Two maps, or two reductions, of the same width that read the same array become one with the results of both.
//!
//! ```text
//! let (s: f64) = reduce n (xs) op (+) …             let (s: f64, m: f64) =
//! let (m: f64) = reduce n (xs) op (max) …     ==>     reduce n (xs, xs) op ((+), (max)) …
//! ```
//!
//! Only where both do nothing but scalar operations on rows that are scalars, for then the pass over memory is what costs; or
//! where both are maps with reductions inside that compute the same elementary functions, or reductions that compute much of
//! their terms alike. The first one must not be able to
//! stop the program, and nothing between the two may need its results.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::machine;
use dagaz_core::operator::components;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::together::Together;
use super::{Fuser, Seen, rows, uses_any};

impl Fuser<'_> {
    /// An earlier operation that the statement can be joined with.
    pub(super) fn sibling(&self, stm: &Stm, seen: &Seen) -> Option<usize> {
        let (width, arrays) = rows(&stm.exp)?;
        seen.readers_of(arrays).find(|position| {
            let first = &seen.stms[*position];
            let results: HashSet<VarId> = first.pat.iter().map(|p| p.var).collect();
            rows(&first.exp).is_some_and(|(own, read)| {
                own == width && self.are_better_as_one((&first.exp, read), (&stm.exp, arrays), seen)
            }) && !seen.stms[position + 1..].iter().chain([stm]).any(|later| uses_any(later, &results))
                && self.can_move(*position, stm, seen)
        })
    }

    /// As [`Fuser::sibling`], where results of the earlier operation are needed before the statement, but nothing that the
    /// statement needs comes after it, so that both can be done there.
    pub(super) fn early_sibling(&self, stm: &Stm, seen: &Seen) -> Option<usize> {
        let (width, arrays) = rows(&stm.exp)?;
        let mut consumed = HashSet::new();
        self.consumed_in(&stm.exp, &mut consumed);
        if !consumed.is_empty() || !self.effects.is_removable(stm) {
            return None;
        }
        seen.readers_of(arrays).find(|position| {
            let first = &seen.stms[*position];
            let later: HashSet<VarId> =
                seen.stms[*position..].iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
            let sizes = stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var);
            rows(&first.exp).is_some_and(|(own, read)| {
                own == width && self.are_better_as_one((&first.exp, read), (&stm.exp, arrays), seen)
            }) && !uses_any(stm, &later)
                && !sizes.into_iter().any(|size| later.contains(&size))
        })
    }
}

impl Fuser<'_> {
    fn are_better_as_one(
        &self,
        (first, read): (&Exp, &[VarId]),
        (second, arrays): (&Exp, &[VarId]),
        seen: &Seen,
    ) -> bool {
        let is_known = || {
            self.belong_together(read, arrays, seen)
                && (is_worthwhile(first, second) || repeats_functions(first, second))
        };
        can_be_one(first, second) && (is_known() || repeats_work(first, second))
    }

    /// Whether two operations read the same array, or between them all results of one map, which can go into both as one.
    fn belong_together(&self, first: &[VarId], second: &[VarId], seen: &Seen) -> bool {
        let is_shared = |array: &VarId| second.contains(array) && !self.numbers.contains(array);
        let maker = |array: &VarId| seen.maps.get(array).copied();
        let is_read = |p: &Param| first.contains(&p.var) || second.contains(&p.var);
        first.iter().any(is_shared)
            || first.iter().filter_map(maker).any(|position| {
                second.iter().filter_map(maker).any(|other| other == position)
                    && seen.stms[position].pat.iter().all(is_read)
            })
    }
}

fn can_be_one(first: &Exp, second: &Exp) -> bool {
    match (first, second) {
        (Exp::Map { .. }, Exp::Map { lambda, .. }) => !lambda.ret.iter().any(Type::is_acc),
        (Exp::Reduce { op, .. }, Exp::Reduce { op: second, .. }) => is_sum(op) == is_sum(second),
        _ => false,
    }
}

/// Whether an operator combines its operands one by one by operations that vector units do in any order: beside another
/// kind of operator, it could not run there any more.
fn is_sum(op: &Lambda) -> bool {
    components(op).is_some_and(|all| {
        all.iter().all(|own| match own.op {
            BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => true,
            BinOp::Min | BinOp::Max => own.ty != PrimType::F16,
            _ => false,
        })
    })
}

/// Whether one operation for two is a good exchange: both are scalar throughout, or neither is.
pub(super) fn is_worthwhile(first: &Exp, second: &Exp) -> bool {
    let all = || [first, second].into_iter().flat_map(dagaz_core::visit::lambdas);
    let size: usize = all().map(|lambda| lambda.body.stms.len()).sum();
    all().all(is_scalar)
        && (size <= machine::JOINED_STATEMENTS
            || Together::of(first, second).statements <= machine::JOINED_STATEMENTS)
}

/// Whether two maps with reductions inside compute the same elementary function of the same elements, as the sums for the
/// adjoints of several arrays do: the reductions will be one, too, and have the function once.
fn repeats_functions(first: &Exp, second: &Exp) -> bool {
    let (Exp::Map { lambda: one, .. }, Exp::Map { lambda: other, .. }) = (first, second) else {
        return false;
    };
    if !is_around_reductions(one) || !is_around_reductions(other) {
        return false;
    }
    let together = Together::of(first, second);
    together.has_function_twice && together.statements <= machine::JOINED_STATEMENTS
}

/// Whether two reductions compute much of their terms alike, as the sums for the coordinates of a point over all other points do.
fn repeats_work(first: &Exp, second: &Exp) -> bool {
    let (Exp::Reduce { pre: Some(_), .. }, Exp::Reduce { pre: Some(_), .. }) = (first, second) else {
        return false;
    };
    if ![first, second].into_iter().flat_map(dagaz_core::visit::lambdas).all(is_scalar) {
        return false;
    }
    let together = Together::of(first, second);
    together.operations_twice >= machine::SHARED_OPERATIONS
        && together.statements <= machine::JOINED_STATEMENTS
}

/// Whether a lambda has reductions of scalars inside, and otherwise nothing but scalar operations.
fn is_around_reductions(lambda: &Lambda) -> bool {
    let is_reduction = |stm: &Stm| match &stm.exp {
        Exp::Reduce { .. } => dagaz_core::visit::lambdas(&stm.exp).into_iter().all(is_scalar),
        _ => false,
    };
    let (reductions, rest): (Vec<&Stm>, Vec<&Stm>) =
        lambda.body.stms.iter().partition(|stm| is_reduction(stm));
    !reductions.is_empty()
        && lambda.ret.iter().all(|ty| matches!(ty, Type::Prim(_)))
        && rest.into_iter().all(is_scalar_stm)
}

fn is_scalar(lambda: &Lambda) -> bool {
    lambda.params.iter().all(|p| matches!(p.ty, Type::Prim(_))) && is_scalar_body(&lambda.body)
}

fn is_scalar_body(body: &Body) -> bool {
    body.stms.iter().all(is_scalar_stm)
}

pub(super) fn is_scalar_stm(stm: &Stm) -> bool {
    let inside = match &stm.exp {
        Exp::If { then, otherwise, .. } => is_scalar_body(then) && is_scalar_body(otherwise),
        exp => dagaz_core::visit::bodies(exp).is_empty(),
    };
    inside && stm.pat.iter().all(|p| matches!(p.ty, Type::Prim(_)))
}

impl Fuser<'_> {
    /// Joins an operation to a later one, which takes its results over.
    pub(super) fn join(&mut self, mut first: Stm, stm: &mut Stm) {
        let has_pre = |exp: &Exp| matches!(exp, Exp::Reduce { pre: Some(_), .. });
        if has_pre(&first.exp) || has_pre(&stm.exp) {
            self.row_function(&mut first.exp);
            self.row_function(&mut stm.exp);
        }
        join(first, stm);
    }
}

fn join(first: Stm, stm: &mut Stm) {
    match (first.exp, &mut stm.exp) {
        (Exp::Map { arrays, lambda, .. }, Exp::Map { arrays: others, lambda: second, .. }) => {
            others.splice(0..0, arrays);
            beside(lambda, second);
        }
        (
            Exp::Reduce { arrays, pre, op, neutral, commutative, .. },
            Exp::Reduce {
                arrays: others,
                pre: other_pre,
                op: second,
                neutral: neutrals,
                commutative: both_commute,
                ..
            },
        ) => {
            others.splice(0..0, arrays);
            if let (Some(pre), Some(other)) = (pre, other_pre) {
                beside(pre, other);
            }
            let (own, theirs) = (op.ret.len(), second.ret.len());
            let rows = beside(op, second);
            // The operator takes all of one side, and then all of the other.
            second.params = [0..own, rows..rows + theirs, own..rows, rows + theirs..2 * (own + theirs)]
                .into_iter()
                .flat_map(|range| second.params[range].to_vec())
                .collect();
            neutrals.splice(0..0, neutral);
            *both_commute &= commutative;
        }
        _ => return,
    }
    stm.pat.splice(0..0, first.pat);
}

/// Puts a lambda before another one, and gives how many parameters it has.
pub(super) fn beside(first: Lambda, second: &mut Lambda) -> usize {
    let count = first.params.len();
    second.params.splice(0..0, first.params);
    second.body.stms.splice(0..0, first.body.stms);
    second.body.result.splice(0..0, first.body.result);
    second.ret.splice(0..0, first.ret);
    count
}
