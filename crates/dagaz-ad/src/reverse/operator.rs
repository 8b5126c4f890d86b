//! Operators of reductions, scans and histograms: which are known, and the adjoint of their left operand.
//!
//! With `x_i` the combination of the first elements, `x_i = x_{i-1} ⊙ a_i`, all rules have the same two steps: find the
//! adjoints of the `x_i`, then those of the `a_i` (paper 004, section 3.3):
//!
//!     as_adj += map (\l a x_ct -> adjoint of a in l ⊙ a) ls as xs_ct          where ls are the xs before
//!
//! The second step is the rule of `map`, which also serves what ⊙ reads from outside. The first step uses copies of
//! such variables that are not differentiated.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Loc, Stm};
use dagaz_core::operator::{ScalarOperator, scalar_operator};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{free_vars_body, free_vars_lambda};

use crate::context::{Ad, Res};
use crate::rename::Renamer;

/// Elements combined by an operator with a neutral element.
#[derive(Clone, Copy)]
pub(crate) struct Fold<'a> {
    pub n: Atom,
    pub arrays: &'a [VarId],
    pub op: &'a Lambda,
    pub neutral: &'a [Atom],
    pub loc: Loc,
}

/// The cotangents of combinations: one for all of them, or an array of them.
#[derive(Clone, Copy)]
pub(crate) enum Cotangent {
    Same(Atom),
    Each(VarId),
}

/// The scalar operation that an operator is, if it is a minimum or maximum.
pub(crate) fn extremum(op: &Lambda) -> Option<ScalarOperator> {
    scalar_operator(op).filter(|known| matches!(known.op, BinOp::Min | BinOp::Max))
}

pub(crate) fn vars(atoms: &[Atom]) -> Vec<VarId> {
    atoms.iter().filter_map(|a| a.as_var()).collect()
}

pub(crate) fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}

impl Ad<'_> {
    pub fn params(&mut self, hint: &str, types: &[Type]) -> Vec<Param> {
        types.iter().map(|ty| self.param(hint, ty.clone())).collect()
    }

    /// The components of an operator that have adjoints.
    pub fn active_components(&self, op: &Lambda) -> Vec<usize> {
        (0..op.ret.len()).filter(|i| self.is_active_var(op.params[*i].var)).collect()
    }

    /// The components whose combinations have adjoints that are not zero for certain, where those of the results with
    /// cotangents are not: an adjoint comes to a component of `x` from the components of `x ⊙ y` that depend on it.
    pub fn reached_components(&self, op: &Lambda, cts: &[Option<Atom>]) -> Vec<usize> {
        let mut active = self.active_components(op);
        let mut reached: HashSet<usize> = active.iter().copied().filter(|i| cts[*i].is_some()).collect();
        let mut open: Vec<usize> = reached.iter().copied().collect();
        while let Some(i) = open.pop() {
            let result = op.body.result[i];
            let stms = needed(op.body.stms.clone(), &[result]);
            let read = free_vars_body(&Body { stms, result: vec![result] });
            let before = active.iter().copied().filter(|j| read.contains(&op.params[*j].var));
            open.extend(before.filter(|j| reached.insert(*j)));
        }
        active.retain(|i| reached.contains(i));
        active
    }

    /// Copies of the operator's active free variables that are not differentiated.
    pub fn frozen_free(&mut self, op: &Lambda, loc: Loc) -> HashMap<VarId, Atom> {
        let free = self.active_among(free_vars_lambda(op));
        let freeze = |var: VarId| {
            let ty = self.ty_var(var);
            (var, self.let_exp("frozen", ty, Exp::Atom(var.into()), loc))
        };
        free.into_iter().map(freeze).collect()
    }

    /// `x ⊙ y`, in the scope that is open.
    pub fn applied(&mut self, op: &Lambda, xs: &[Atom], ys: &[Atom]) -> Vec<Atom> {
        let map = op.params.iter().map(|p| p.var).zip(xs.iter().chain(ys).copied()).collect();
        let copy = Renamer::new(self, map).body(&op.body);
        copy.stms.into_iter().for_each(|s| self.push(s));
        copy.result
    }

    /// The adjoints of the wanted components of `x` in `x ⊙ y`, in the scope that is open.
    pub fn left_adjoints(
        &mut self,
        (op, wanted): (&Lambda, &[usize]),
        xs: &[Param],
        ys: &[Atom],
        cts: &[Option<Atom>],
        frozen: &HashMap<VarId, Atom>,
        loc: Loc,
    ) -> Res<Vec<Atom>> {
        self.forward.active.extend(wanted.iter().map(|i| xs[*i].var));
        let operands = atoms(xs).into_iter().chain(ys.iter().copied());
        let map = op.params.iter().map(|p| p.var).zip(operands);
        let map = map.chain(frozen.iter().map(|(var, atom)| (*var, *atom))).collect();
        let copy = Renamer::new(self, map).body(&op.body);
        let outer = std::mem::take(&mut self.sweep.adj);
        self.sweep(&copy, cts, loc)?;
        let adjoints = wanted.iter().map(|i| self.adjoint(xs[*i].var, loc)).collect();
        self.sweep.adj = outer;
        Ok(adjoints)
    }

    /// For combinations `xs` of the first elements and `rs` of those after them, the adjoints of `xs` in `xs ⊙ rs`;
    /// one for each component of the operator, none where it is not active.
    pub fn reached(
        &mut self,
        fold: &Fold<'_>,
        xs: &[VarId],
        rs: &[VarId],
        cts: &[Option<Cotangent>],
    ) -> Res<Vec<Option<Atom>>> {
        let (rows, loc) = (&fold.op.ret, fold.loc);
        let frozen = self.frozen_free(fold.op, loc);
        let (x, r) = (self.params("x", rows), self.params("r", rows));
        let mut params = [x.clone(), r.clone()].concat();
        let mut arrays = [xs, rs].concat();
        let mut row_cts = Vec::new();
        for (ct, row) in cts.iter().zip(rows) {
            row_cts.push(match ct {
                None => None,
                Some(Cotangent::Same(ct)) => Some(*ct),
                Some(Cotangent::Each(array)) => {
                    let param = self.param("ct", row.clone());
                    params.push(param.clone());
                    arrays.push(*array);
                    Some(param.var.into())
                }
            });
        }
        let active = self.active_components(fold.op);
        let ret = active.iter().map(|i| rows[*i].clone()).collect();
        let lambda = self.lambda(params, ret, |ad| {
            ad.left_adjoints((fold.op, &active), &x, &atoms(&r), &row_cts, &frozen, loc)
        })?;
        let reached = self.mapped(fold.n, arrays, lambda, loc);
        Ok(by_component(fold.op, &active, &reached))
    }
}

/// What belongs to some components, among all of them.
pub(crate) fn by_component(op: &Lambda, components: &[usize], values: &[VarId]) -> Vec<Option<Atom>> {
    let mut all = vec![None; op.ret.len()];
    for (i, var) in components.iter().zip(values) {
        all[*i] = Some(Atom::from(*var));
    }
    all
}

/// The statements that the results need, and those that may stop the program.
pub(crate) fn needed(stms: Vec<Stm>, results: &[Atom]) -> Vec<Stm> {
    let mut used: HashSet<VarId> = vars(results).into_iter().collect();
    let mut kept = Vec::new();
    for stm in stms.into_iter().rev() {
        let stays = matches!(stm.exp, Exp::Assert { .. } | Exp::Trace { .. });
        if stays || stm.pat.iter().any(|p| used.contains(&p.var)) {
            used.extend(dagaz_core::visit::free_vars(&stm.exp));
            used.extend(stm.pat.iter().flat_map(|p| vars(&p.ty.all_dims())));
            kept.push(stm);
        }
    }
    kept.reverse();
    kept
}
