//! Values that the forward sweep of a loop keeps, because the return sweep would need long to compute them again.
//!
//!     loop (y = y0) for i < n do              loop (y = y0, ys, zs = scratch) for i < n do
//!       let (z) = w · y                ==>      let (z) = w · y
//!       in (tanh z)                             in (tanh z, ys with [i] = y, zs with [i] = z)
//!                                             loop (y_adj = ct) for j < n do
//!                                               let (z) = zs[n - 1 - j]
//!                                               adjoint of tanh at z, then of the product at ys[n - 1 - j]
//!
//! An element of such a value takes more than constant time: it is the result of a fold. Values are kept if they are not
//! much larger than what is saved anyway of each iteration, so that memory grows by no more than a constant factor. Of values
//! that are needed for their sum alone, the sum is kept; and of those of which nobody knows how large they are, what is read and
//! summed of them.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Loc};
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::free_vars;

use crate::context::Ad;

use super::flow::Flow;
use super::log::{common_form, count};

/// A product of sizes: what is known of it, and variables in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    known: i64,
    vars: Vec<VarId>,
}

impl Extent {
    /// Whether it is at most a few times as large as the other, whatever the variables are.
    fn is_near(&self, other: &Extent) -> bool {
        let mut left = other.vars.clone();
        let within = self.vars.iter().all(|var| {
            let place = left.iter().position(|v| v == var);
            place.map(|k| left.remove(k)).is_some()
        });
        within && self.known <= other.known.saturating_mul(machine::MOST_TAPE_GROWTH)
    }
}

impl Ad<'_> {
    /// The number of elements of an array with these dimensions.
    pub(super) fn extent(&self, dims: &[Atom]) -> Extent {
        let mut extent = Extent { known: 1, vars: Vec::new() };
        let mut todo = dims.to_vec();
        while let Some(dim) = todo.pop() {
            match dim {
                Atom::Const(Prim::I64(size)) => extent.known = extent.known.saturating_mul(size.max(1)),
                Atom::Const(_) => {}
                Atom::Var(var) => match self.program.sizes.get(&var) {
                    Some((BinOp::Mul, a, b)) => todo.extend([*a, *b]),
                    Some((BinOp::Max, a, Atom::Const(Prim::I64(0 | 1)))) => todo.push(*a),
                    Some((BinOp::Add, a, Atom::Const(Prim::I64(1)))) => {
                        extent.known = extent.known.saturating_mul(2);
                        todo.push(*a);
                    }
                    Some(_) | None => extent.vars.push(var),
                },
            }
        }
        extent.vars.sort_unstable();
        extent
    }

    /// Whether an array with these dimensions is not much larger than what is saved.
    pub(super) fn is_near(&self, dims: &[Atom], saved: &[Extent]) -> bool {
        let extent = self.extent(dims);
        saved.iter().any(|other| extent.is_near(other))
    }

    /// What a loop saves of each iteration.
    pub(super) fn saved_extents(
        &self,
        params: &[(Param, Atom)],
        run: &Body,
        read: &HashSet<VarId>,
        inside: &HashSet<VarId>,
    ) -> Vec<Extent> {
        let mut flow = Flow::default();
        let arrays = params.iter().filter(|(p, _)| p.ty.is_array());
        arrays.for_each(|(p, _)| flow.enter(p.var, p.var, false));
        let ends = flow.body(run);
        let mut extents = Vec::new();
        for ((param, _), end) in params.iter().zip(ends) {
            let is_in_place = end == Some(param.var) && !flow.is_broken(param.var);
            let sites = flow.sites.get(&param.var).filter(|_| is_in_place);
            match sites.and_then(|sites| common_form(sites, inside)) {
                Some(part) => {
                    let turns = count(run, param.var, &flow, inside).and_then(|count| count.turns());
                    let part = part.part(&param.ty);
                    extents.extend(turns.map(|turns| self.extent(&[&turns, part.dims()].concat())));
                }
                None if is_in_place || !read.contains(&param.var) => {}
                None => extents.push(self.extent(param.ty.dims())),
            }
        }
        extents
    }

    /// The values to be kept of each iteration, where `saved` is what is saved anyway.
    pub(super) fn costly_values(&self, params: &[(Param, Atom)], run: &Body, saved: &[Extent]) -> Vec<VarId> {
        let carried = carried_on(params, run);
        let results: HashSet<VarId> = run.result.iter().filter_map(|a| a.as_var()).collect();
        let mut values = Vec::new();
        for stm in &run.stms {
            let [pat] = stm.pat.as_slice() else { continue };
            if !is_costly(&stm.exp) || !carried.contains(&pat.var) || results.contains(&pat.var) {
                continue;
            }
            if self.is_near(pat.ty.dims(), saved) {
                values.push(pat.var);
            } else {
                let readers = self.readers(pat.var, run, saved).unwrap_or_default().into_iter();
                let new: Vec<VarId> = readers.filter(|var| !results.contains(var)).collect();
                values.extend(new.into_iter().filter(|var| !values.contains(var)).collect::<Vec<_>>());
            }
        }
        keep_sums(&mut values, run, &results);
        values
    }

    /// What is made of parts of a value and sums of them, if nothing else is, and if that can be kept instead.
    fn readers(&self, value: VarId, run: &Body, saved: &[Extent]) -> Option<Vec<VarId>> {
        let readers = run.stms.iter().filter(|stm| free_vars(&stm.exp).contains(&value));
        let kept = readers.map(|stm| match stm.pat.as_slice() {
            [pat] if is_linear(&stm.exp) && self.is_near(pat.ty.dims(), saved) => Some(pat.var),
            _ => None,
        });
        kept.collect()
    }

    /// A size that a loop may compute inside, before the loop.
    pub(super) fn size_before(&mut self, size: Atom, inside: &HashSet<VarId>, loc: Loc) -> Atom {
        let operation =
            size.as_var().filter(|var| inside.contains(var)).and_then(|var| self.program.sizes.get(&var));
        let Some((op, a, b)) = operation.copied() else { return size };
        let (a, b) = (self.size_before(a, inside, loc), self.size_before(b, inside, loc));
        self.i64_op(op, a, b, loc)
    }
}

/// Puts sums in the place of their terms, where these are used for nothing else. The derivative of a sum needs no terms.
fn keep_sums(values: &mut Vec<VarId>, run: &Body, results: &HashSet<VarId>) {
    let mut uses: HashMap<VarId, usize> = HashMap::new();
    let free = run.stms.iter().flat_map(|stm| free_vars(&stm.exp));
    free.for_each(|var| *uses.entry(var).or_default() += 1);
    for stm in &run.stms {
        let ([pat], Exp::Map { arrays, lambda, .. }) = (stm.pat.as_slice(), &stm.exp) else { continue };
        let is_term = |var: &VarId| values.contains(var) && uses.get(var) == Some(&1);
        let terms: Vec<VarId> = arrays.iter().copied().filter(is_term).collect();
        if terms.len() > 1 && is_sum(lambda) && !results.contains(&pat.var) {
            values.retain(|var| !terms.contains(var));
            values.push(pat.var);
        }
    }
}

/// Whether a function adds its arguments, element by element.
fn is_sum(lambda: &Lambda) -> bool {
    let ([stm], [result]) = (lambda.body.stms.as_slice(), lambda.body.result.as_slice()) else {
        return false;
    };
    let is_result = matches!(stm.pat.as_slice(), [pat] if Atom::Var(pat.var) == *result);
    let adds = match &stm.exp {
        Exp::Map { lambda, .. } => is_sum(lambda),
        Exp::BinOp(BinOp::Add | BinOp::Sub, ..) => true,
        _ => false,
    };
    is_result && adds
}

/// Whether derivatives of an expression need no values of numbers: it moves, adds and subtracts them.
pub(super) fn is_linear(exp: &Exp) -> bool {
    match exp {
        Exp::Map { lambda, .. } => lambda.body.stms.iter().all(|stm| is_linear(&stm.exp)),
        Exp::BinOp(op, ty, ..) => !ty.is_float() || matches!(op, BinOp::Add | BinOp::Sub),
        Exp::UnOp(op, ty, _) => !ty.is_float() || *op == UnOp::Neg,
        Exp::Atom(_) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Rearrange { .. } => true,
        Exp::Reshape { .. } | Exp::Copy(_) | Exp::ArrayLit { .. } | Exp::Concat { .. } => true,
        Exp::Update { .. } | Exp::Replicate { .. } | Exp::Assert { .. } => true,
        Exp::CmpOp(_, ty, ..) => !ty.is_float(),
        _ => false,
    }
}

/// What the iterations that follow depend on. A parameter to which the body only adds is a result of the loop at most.
fn carried_on(params: &[(Param, Atom)], run: &Body) -> HashSet<VarId> {
    let mut needed = HashSet::new();
    for ((param, _), result) in params.iter().zip(&run.result) {
        if !is_only_added_to(param.var, *result, run) {
            needed.extend(result.as_var());
        }
    }
    for stm in run.stms.iter().rev() {
        if stm.pat.iter().any(|p| needed.contains(&p.var)) {
            needed.extend(free_vars(&stm.exp));
        }
    }
    needed
}

fn is_only_added_to(param: VarId, result: Atom, run: &Body) -> bool {
    let mut users = run.stms.iter().filter(|stm| free_vars(&stm.exp).contains(&param));
    let (Some(user), None) = (users.next(), users.next()) else { return false };
    let [pat] = user.pat.as_slice() else { return false };
    matches!(user.exp, Exp::BinOp(BinOp::Add | BinOp::Sub, ..)) && result == Atom::from(pat.var)
}

/// Whether an element of the result takes more than constant time.
fn is_costly(exp: &Exp) -> bool {
    let inside = |lambda: &Lambda| lambda.body.stms.iter().any(|stm| is_costly(&stm.exp));
    match exp {
        Exp::Map { lambda, .. } => inside(lambda),
        Exp::Reduce { width, .. } => !is_few(*width),
        _ => false,
    }
}

fn is_few(width: Atom) -> bool {
    matches!(width, Atom::Const(Prim::I64(n)) if n < machine::RECOMPUTED_FOLD_ROWS)
}

/// The operation that computes a size, if an expression is one.
pub(crate) fn size_operation(exp: &Exp) -> Option<(BinOp, Atom, Atom)> {
    match exp {
        Exp::BinOp(op @ (BinOp::Mul | BinOp::Max | BinOp::Add), PrimType::I64, a, b) => Some((*op, *a, *b)),
        _ => None,
    }
}
