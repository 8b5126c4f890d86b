//! Maps and reductions of the results of a scan, fused with it: each row goes to them as soon as it is there.

use std::collections::HashSet;

use dagaz_core::exp::Lambda;
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit;

use super::epilogues::{Follower, Input, RowState, Work};
use super::{Following, PARTS, RowPosition, Scan, for_row};
use crate::imp::{Expr, LoopKind, Operand, Var};
use crate::lower::folds::piece_start;
use crate::lower::split_iteration_range::{Interior, interior};
use crate::lower::{Lower, Lowered};

impl Lower<'_> {
    /// The function of an operation that follows, away from the border.
    pub(super) fn middle_of_follower(&self, width: Atom, follower: &Follower) -> Option<Interior> {
        let lambda = match &follower.work {
            Work::Map(lambda) => lambda,
            Work::Reduce { pre, .. } => pre.as_ref()?,
        };
        interior(&self.scope.symbols, width, lambda, &self.counters_of_follower(follower, lambda))
    }

    /// The parameters of the function of an operation that follows which hold the number of its row.
    pub(in crate::lower) fn counters_of_follower(
        &self,
        follower: &Follower,
        lambda: &Lambda,
    ) -> HashSet<VarId> {
        let mut counters = HashSet::new();
        for (input, param) in follower.inputs.iter().zip(&lambda.params) {
            if let Input::Array(array) = input {
                counters.extend(self.counters(&[*array], std::slice::from_ref(param)));
            }
        }
        counters
    }

    /// Sets up what reductions of the rows have so far.
    pub(super) fn start_following(&mut self, scan: &mut Scan<'_>) -> Lowered<()> {
        for following in &mut scan.followers {
            let Work::Reduce { op, neutral, .. } = &following.follower.work else { continue };
            following.sums = self.chain_arrays(&op.params[..neutral.len().min(op.params.len())])?;
            self.start_chains(&following.sums, &piece_start(op, neutral))?;
        }
        Ok(())
    }

    /// Hands row `i` of a scan to an operation that follows.
    pub(super) fn follow_row(
        &mut self,
        scan: &Scan<'_>,
        following: &Following<'_>,
        (i, part): (&Var, &Expr),
        place: RowPosition,
    ) -> Lowered<()> {
        let follower = following.follower;
        let i = match follower.is_backwards {
            true => self.int("back", &scan.bound - 1 - i),
            false => i.clone(),
        };
        match &follower.work {
            Work::Map(lambda) => {
                let lambda = match (place, &following.at_edge) {
                    (RowPosition::Edge, Some(at_edge)) => at_edge,
                    _ => for_row(lambda, following.middle.as_ref(), place),
                };
                if place == RowPosition::Edge {
                    self.load_edges(scan, part)?;
                }
                self.load_following(scan, follower, &lambda.params, &i)?;
                self.body(&lambda.body, &lambda.params, |l| l.write_results(&follower.pat, lambda, &i, &[]))
            }
            Work::Reduce { pre, op, neutral } => {
                let (left, right) = op.params.split_at(neutral.len().min(op.params.len()));
                let pre = pre.as_ref().map(|pre| for_row(pre, following.middle.as_ref(), place));
                self.next_row_by(pre, right, |l, params| l.load_following(scan, follower, params, &i))?;
                self.bind_elements(left, &following.sums, part)?;
                self.combine(op)?;
                self.write_elements_to(&following.sums, part, left)
            }
        }
    }

    fn load_edges(&mut self, scan: &Scan<'_>, part: &Expr) -> Lowered<()> {
        for (edge, rows) in &scan.edges {
            self.bind(&edge.param, false);
            self.set(&self.var_of(&edge.param)?, rows.at(part));
        }
        Ok(())
    }

    fn load_following(
        &mut self,
        scan: &Scan<'_>,
        follower: &Follower,
        params: &[Param],
        i: &Var,
    ) -> Lowered<()> {
        let (left, _) = scan.fold.sides();
        for (input, param) in follower.inputs.iter().zip(params) {
            match input {
                Input::Array(array) => self.load_row(&[*array], std::slice::from_ref(param), i)?,
                Input::Component(component) => {
                    self.bind(param, false);
                    self.set(&self.var_of(param)?, self.var_of(&left[*component])?);
                }
            }
        }
        Ok(())
    }

    /// The totals of a piece, for reductions of the rows.
    pub(super) fn finish_following(&mut self, scan: &Scan<'_>, piece: &Var) -> Lowered<()> {
        for following in &scan.followers {
            let Work::Reduce { op, neutral, .. } = &following.follower.work else { continue };
            let (left, right) = op.params.split_at(neutral.len().min(op.params.len()));
            self.block(|l| {
                l.bind_elements(left, &following.sums, 0)?;
                l.loop_from(LoopKind::Sequential, 1, PARTS, |l, part| {
                    l.bind_elements(right, &following.sums, part)?;
                    l.combine(op)
                })?;
                l.write_elements_to(&following.totals, piece, left)
            })?;
        }
        Ok(())
    }
}

/// Which components of a scan its results depend on: those that are kept or used, and what these are computed from.
pub(super) fn needed_components(op: &Lambda, kept: &[RowState], followers: &[Follower]) -> Vec<bool> {
    let is_used = |component: usize| {
        let inputs = followers.iter().flat_map(|follower| &follower.inputs);
        !matches!(kept[component], RowState::Nowhere)
            || inputs.into_iter().any(|input| matches!(input, Input::Component(used) if *used == component))
    };
    let mut needed: Vec<bool> = (0..kept.len()).map(is_used).collect();
    loop {
        let results = op.body.result.iter().zip(&needed).filter(|(_, is_needed)| **is_needed);
        let mut read: HashSet<VarId> = results.filter_map(|(result, _)| result.as_var()).collect();
        for stm in op.body.stms.iter().rev() {
            if stm.pat.iter().any(|param| read.contains(&param.var)) {
                read.extend(visit::free_vars(&stm.exp));
            }
        }
        let now: Vec<bool> = op
            .params
            .iter()
            .zip(&needed)
            .map(|(param, is_needed)| *is_needed || read.contains(&param.var))
            .collect();
        if now == needed {
            return needed;
        }
        needed = now;
    }
}
