//! Where the elements of arrays are read.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Lambda, Program, Stm};
use dagaz_core::types::{Atom, Param, VarId};

use super::orders::{Order, Side, in_row, in_rows, intersection, moved, union};
use super::zeros::Zeros;
use dagaz_core::effects::cannot_fail;
use dagaz_core::visit::{bodies, direct_operands, lambdas};

/// Programs are walked from their end to their beginning, so that all that reads a variable comes before it.
pub(super) struct Needs<'z> {
    zeros: &'z Zeros,
    /// Orders that hold wherever a value is looked at. Nobody looks at one that is not here.
    needed: HashMap<VarId, Vec<Order>>,
    /// Those that hold at the place that is looked at, because of the branches around it.
    here: Vec<Order>,
    /// The maps around it.
    levels: Vec<VarId>,
}

impl<'z> Needs<'z> {
    pub fn of(program: &Program, zeros: &'z Zeros) -> Needs<'z> {
        let mut needs = Needs { zeros, needed: HashMap::new(), here: Vec::new(), levels: Vec::new() };
        program.funs.iter().for_each(|fun| needs.body(&fun.body, None));
        needs
    }

    /// The orders of the dimensions of an array wherever it is read.
    pub fn of_result(&self, array: VarId) -> &[Order] {
        self.needed.get(&array).map_or(&[], Vec::as_slice)
    }

    fn look_at(&mut self, atom: Atom, orders: Vec<Order>) {
        if let Atom::Var(var) = atom {
            let all = match self.needed.remove(&var) {
                Some(known) => intersection(known, &orders),
                None => orders,
            };
            self.needed.insert(var, all);
        }
    }

    /// Something that needs all of a value.
    fn look_at_all(&mut self, atom: Atom) {
        self.look_at(atom, self.here.clone());
    }

    /// Orders that hold wherever a variable is looked at that is bound here.
    fn wanted(&self, param: &Param) -> Vec<Order> {
        // Integers and booleans can decide what is computed, and how much.
        if !param.ty.elem().is_some_and(|ty| ty.is_float()) {
            return self.here.clone();
        }
        let orders = self.needed.get(&param.var).map_or(&[][..], Vec::as_slice);
        union(moved(orders, |place| self.is_here(place).then_some(place)), &self.here)
    }

    fn is_here(&self, place: Side) -> bool {
        match place {
            Side::Level(level) => self.levels.contains(&level),
            Side::Dim(_) => true,
        }
    }

    /// A body, and what is wanted of its results, unless it is all.
    fn body(&mut self, body: &Body, wanted: Option<Vec<Vec<Order>>>) {
        for (i, result) in body.result.iter().enumerate() {
            let orders = wanted.as_ref().and_then(|w| w.get(i)).map_or(&[][..], Vec::as_slice);
            self.look_at(*result, union(orders.to_vec(), &self.here));
        }
        body.stms.iter().rev().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        let wanted: Vec<Vec<Order>> = stm.pat.iter().map(|param| self.wanted(param)).collect();
        let first = || wanted.first().cloned().unwrap_or_default();
        match &stm.exp {
            Exp::Atom(atom) => self.look_at(*atom, first()),
            Exp::Copy(array) => self.look_at((*array).into(), first()),
            exp if cannot_fail(exp) => direct_operands(exp, &mut |atom| self.look_at(atom, first())),
            Exp::Rearrange { perm, array } => {
                let place = |place: Side| match place {
                    Side::Dim(dim) => perm.get(dim).map(|from| Side::Dim(*from)),
                    Side::Level(_) => Some(place),
                };
                self.look_at((*array).into(), moved(&first(), place));
            }
            Exp::Index { array, indices, .. } => {
                let counters = &self.zeros.counters;
                let counts = |index: &Atom, level: VarId| {
                    index.as_var().is_some_and(|var| counters.get(&var) == Some(&level))
                };
                let place = |place: Side| match place {
                    Side::Dim(dim) => Some(Side::Dim(dim + indices.len())),
                    Side::Level(level) => {
                        let dim = indices.iter().position(|index| counts(index, level));
                        Some(dim.map_or(place, Side::Dim))
                    }
                };
                let orders = union(moved(&first(), place), &diagonal(indices));
                self.look_at((*array).into(), orders);
                indices.iter().for_each(|index| self.look_at_all(*index));
            }
            Exp::Contract { sizes, left, right, plus, .. } => {
                [left, right].into_iter().for_each(|operand| self.look_at_all(operand.array.into()));
                sizes.iter().for_each(|size| self.look_at_all(*size));
                plus.iter().for_each(|array| self.look_at((*array).into(), first()));
            }
            Exp::If { cond, then, otherwise } => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let inside = union(self.here.clone(), &self.zeros.implied(*cond, holds));
                    let outside = std::mem::replace(&mut self.here, inside);
                    self.body(branch, Some(wanted.clone()));
                    self.here = outside;
                }
                self.look_at_all(*cond);
            }
            Exp::Map { width, arrays, lambda } => {
                let level = lambda.params.first().map(|p| p.var);
                let row = |place: Side| level.map(|level| in_row(level, place));
                let wanted = wanted.iter().map(|orders| moved(orders, row)).collect();
                self.rows(arrays, lambda, Some(wanted));
                self.look_at_all(*width);
            }
            Exp::Reduce { width, arrays, pre: Some(pre), neutral, .. } => {
                lambdas(&stm.exp).into_iter().skip(1).for_each(|op| self.body(&op.body, None));
                self.rows(arrays, pre, None);
                neutral.iter().chain([width]).for_each(|atom| self.look_at_all(*atom));
            }
            exp => {
                bodies(exp).into_iter().for_each(|body| self.body(body, None));
                direct_operands(exp, &mut |atom| self.look_at_all(atom));
            }
        }
    }

    /// A function that is applied to rows.
    fn rows(&mut self, arrays: &[VarId], lambda: &Lambda, wanted: Option<Vec<Vec<Order>>>) {
        let Some(level) = lambda.params.first().map(|p| p.var) else {
            return self.body(&lambda.body, None);
        };
        self.levels.push(level);
        self.body(&lambda.body, wanted);
        self.levels.pop();
        for (param, array) in lambda.params.iter().zip(arrays) {
            let Some(orders) = self.needed.get(&param.var) else { continue };
            let orders = moved(orders, |place| {
                let outside = in_rows(level, place);
                self.is_here(outside).then_some(outside)
            });
            self.look_at((*array).into(), orders);
        }
    }
}

/// The orders of dimensions that are read at the same index.
fn diagonal(indices: &[Atom]) -> Vec<Order> {
    let numbered = || indices.iter().enumerate();
    let equal = numbered().flat_map(|(low, a)| numbered().map(move |(high, b)| (low, high, a == b)));
    let orders = equal.filter(|(low, high, is_equal)| low != high && *is_equal);
    orders.map(|(low, high, _)| Order { low: Side::Dim(low), high: Side::Dim(high) }).collect()
}
