//! Takes contractions of what a map computes behind the map.
//!
//! ```text
//! let (ys: [n][m]f64) =                                   let (vs: [n][k]f64) =
//!   map n (xs) \(x: [k]f64) : ([m]f64) ->                   map n (xs) \(x: [k]f64) : ([k]f64) ->
//!     let (v: [k]f64) = … x …                      ==>        let (v: [k]f64) = … x …
//!     let (y: [m]f64) =                                       in (v)
//!       contract [m] sum [k] w (0, 1) v (1)               let (ys: [n][m]f64) =
//!     in (y)                                                contract [n, m] sum [k] w (1, 2) vs (0, 2)
//! ```
//!
//! That needs memory for all `v`, and is done where it makes a product of matrices of products with vectors.

use std::collections::HashSet;

use dagaz_core::exp::{AxesOf, Exp, Lambda, Program, Stm, Vars};
use dagaz_core::types::{Atom, Param, VarId};

use super::facts::{Def, Definitions};
use dagaz_core::effects::Effects;
use dagaz_core::visit::replace_stms;

pub(super) fn sink(program: &mut Program) {
    let (facts, effects) = (Definitions::of(program), Effects::of(program));
    let mut sinker = Sinker { facts, effects, vars: &mut program.vars };
    replace_stms(&mut program.funs, &mut |stm, done| sinker.stm(stm, done));
}

struct Sinker<'p> {
    facts: Definitions,
    effects: Effects,
    vars: &'p mut Vars,
}

/// An operand outside of a map.
pub(super) struct Moved {
    pub array: Source,
    /// Without that of the map, which is the first one where `by_row` says so.
    axes: Vec<usize>,
    by_row: bool,
}

pub(super) enum Source {
    Outside(VarId),
    /// Bound in the map, which has to give it.
    Inside(Param),
}

impl Sinker<'_> {
    fn stm(&mut self, mut stm: Stm, done: &mut Vec<Stm>) {
        let behind = self.map(&mut stm);
        // A map without results may be there for its checks.
        if !stm.pat.is_empty() || !self.effects.is_removable(&stm) {
            done.push(stm);
        }
        done.extend(behind);
    }

    /// The contractions that can go behind a map.
    fn map(&mut self, stm: &mut Stm) -> Vec<Stm> {
        let Stm { pat, exp: Exp::Map { width, arrays, lambda }, .. } = stm else { return Vec::new() };
        let mut behind = Vec::new();
        let mut at = 0;
        while at < lambda.body.stms.len() {
            match self.moved(*width, arrays, lambda, &lambda.body.stms[at]) {
                Some((position, operands)) => {
                    let inner = lambda.body.stms.remove(at);
                    lambda.body.result.remove(position);
                    lambda.ret.remove(position);
                    let param = pat.remove(position);
                    let operands = operands.map(|o| self.outside(o, *width, pat, lambda));
                    let Some(exp) = outer_contract(inner.exp, *width, operands) else { continue };
                    behind.push(Stm { pat: vec![param], exp, loc: inner.loc });
                }
                None => at += 1,
            }
        }
        behind
    }

    /// The position of a contraction among the results, and its operands outside of the map.
    fn moved(
        &self,
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
        stm: &Stm,
    ) -> Option<(usize, [Moved; 2])> {
        let Exp::Contract { sizes, rank, left, right, plus: None, .. } = &stm.exp else { return None };
        let [param] = stm.pat.as_slice() else { return None };
        let position = lambda.body.result.iter().position(|a| *a == Atom::Var(param.var))?;
        let bound: HashSet<VarId> = lambda
            .params
            .iter()
            .chain(lambda.body.stms.iter().flat_map(|stm| &stm.pat))
            .map(|p| p.var)
            .collect();
        let is_outside = |atom: &Atom| atom.as_var().is_none_or(|v| !bound.contains(&v));
        if self.facts.uses.get(&param.var) != Some(&1) || !sizes.iter().all(is_outside) || !is_outside(&width)
        {
            return None;
        }
        let rows: Vec<(VarId, VarId)> =
            lambda.params.iter().map(|p| p.var).zip(arrays.iter().copied()).collect();
        let (left, right) =
            (self.facts.operand(left, &rows, &bound)?, self.facts.operand(right, &rows, &bound)?);
        let is_movable = |moved: &Moved| match &moved.array {
            Source::Outside(_) => true,
            Source::Inside(param) => param.ty.dims().iter().all(is_outside),
        };
        if !is_movable(&left) || !is_movable(&right) {
            return None;
        }
        let was_matrix = is_matrix(*rank, &left, &right, false);
        (!was_matrix && is_matrix(*rank, &left, &right, true)).then_some((position, [left, right]))
    }

    /// An operand behind the map, which gives what it has to.
    fn outside(
        &mut self,
        moved: Moved,
        width: Atom,
        pat: &mut Vec<Param>,
        lambda: &mut Lambda,
    ) -> (AxesOf, bool) {
        let array = match &moved.array {
            Source::Outside(array) => *array,
            Source::Inside(Param { var, ty }) => {
                let (var, ty) = (*var, ty.clone());
                match lambda.body.result.iter().position(|a| *a == Atom::Var(var)) {
                    Some(position) => pat[position].var,
                    None => {
                        let all = self.vars.fresh("rows");
                        pat.push(Param { var: all, ty: ty.with_outer(&[width]) });
                        lambda.body.result.push(var.into());
                        lambda.ret.push(ty);
                        all
                    }
                }
            }
        };
        moved.at(array)
    }
}

impl Definitions {
    /// An operand of a contraction in a map, seen from outside, given the map's rows and all that is bound in it.
    pub(super) fn operand(
        &self,
        operand: &AxesOf,
        rows: &[(VarId, VarId)],
        bound: &HashSet<VarId>,
    ) -> Option<Moved> {
        let (mut array, mut axes) = (operand.array, operand.axes.clone());
        loop {
            if let Some((_, whole)) = rows.iter().find(|(row, _)| *row == array) {
                return Some(Moved { array: Source::Outside(*whole), axes, by_row: true });
            }
            if !bound.contains(&array) {
                return Some(Moved { array: Source::Outside(array), axes, by_row: false });
            }
            match self.defs.get(&array) {
                Some(Def::Rearranged { perm, array: inner }) => {
                    let mut permuted = axes.clone();
                    perm.iter().zip(&axes).for_each(|(dim, axis)| permuted[*dim] = *axis);
                    (array, axes) = (*inner, permuted);
                }
                Some(Def::Alias(other)) => array = *other,
                _ => {
                    let ty = self.types.get(&array)?.clone();
                    let array = Source::Inside(Param { var: array, ty });
                    return Some(Moved { array, axes, by_row: true });
                }
            }
        }
    }
}

impl Source {
    /// What the map has to give.
    pub fn inside(&self) -> Option<VarId> {
        match self {
            Source::Outside(_) => None,
            Source::Inside(param) => Some(param.var),
        }
    }
}

impl Moved {
    /// The operand and whether it is by row, if the rows that the map has to give are in this array.
    pub fn at(self, array: VarId) -> (AxesOf, bool) {
        (AxesOf { array, axes: self.axes }, self.by_row)
    }
}

/// Whether both operands have axes of their own in the result, of the map's own or not.
fn is_matrix(rank: usize, left: &Moved, right: &Moved, with_map: bool) -> bool {
    let has = |one: &Moved, other: &Moved| {
        one.axes.iter().any(|axis| *axis < rank && !other.axes.contains(axis))
            || (with_map && one.by_row && !other.by_row)
    };
    has(left, right) && has(right, left)
}

/// The same contraction for all iterations of a map.
pub(super) fn outer_contract(exp: Exp, width: Atom, operands: [(AxesOf, bool); 2]) -> Option<Exp> {
    let Exp::Contract { mut sizes, rank, mut triangles, .. } = exp else { return None };
    sizes.insert(0, width);
    let [left, right] = operands.map(|(operand, by_row)| {
        let own = by_row.then_some(0);
        let axes = own.into_iter().chain(operand.axes.iter().map(|axis| axis + 1)).collect();
        AxesOf { array: operand.array, axes }
    });
    triangles.iter_mut().for_each(|t| (t.low, t.high) = (t.low + 1, t.high + 1));
    Some(Exp::Contract { sizes, rank: rank + 1, left, right, plus: None, triangles })
}
