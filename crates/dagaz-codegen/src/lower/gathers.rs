//! Sums of elements from anywhere.
//!
//! Vector units read elements that are not neighbours one by one, and more slowly than other code does. Where there is little
//! else to do, several sums are added up at the same time without them, and a wrong index stops the program at once:
//!
//!     for i < m { sum += f(xs[is[i]]) }   ==>   for i < m / 8 { for k < 8 { sums[k] += f(xs[is[8 * i + k]]) } }
//!
//! Elements of large arrays are fetched some iterations ahead (`fetching.rs`).

use dagaz_core::exp::{Check, Exp, Lambda};
use dagaz_core::machine;

use super::fetching::Fetch;
use super::folds::{Fold, cheap_statements, piece_start};
use super::{Lower, Lowered, elem};
use crate::RemarkKind;
use crate::imp::{Expr, LoopKind, Operand, Repr, StackArray, Stm, Var};

/// Whether an iteration reads elements from anywhere, and does little else.
pub(super) fn gathers(pre: &Lambda) -> bool {
    let mut body = pre.body.clone();
    let mut has_gathers = false;
    for stm in &mut body.stms {
        if let Exp::Index { check: check @ Check::Checked, .. } = &mut stm.exp {
            has_gathers = true;
            *check = Check::Certified;
        }
    }
    has_gathers && cheap_statements(&body).is_some_and(|count| count <= machine::SCALAR_GATHER_STATEMENTS)
}

impl Lower<'_> {
    /// Adds the rows from `from` up to `to` to the left parameters of an operator whose order does not matter. `each` can use
    /// every row.
    pub(super) fn sum_of_gathers(
        &mut self,
        fold: &Fold<'_>,
        (from, to): (&Expr, &Expr),
        each: &mut dyn FnMut(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        self.remark(RemarkKind::InOrder, "elements from anywhere are added up, without vector units");
        let (left, right) = fold.sides();
        let mut sums = Vec::new();
        for (param, start) in left.iter().zip(piece_start(fold.op, fold.neutral)) {
            let sum = self.temp(Repr::pointer(elem(&param.ty)?), "sums");
            let values = vec![self.atom(start); machine::SUMS_AT_ONCE];
            self.out
                .push(Stm::StackArray(StackArray { values, ..StackArray::of(&sum, machine::SUMS_AT_ONCE) }));
            sums.push(sum);
        }
        let fetch = fold.pre.and_then(|pre| self.fetch((fold.arrays, &pre.params), &pre.body, Vec::new()));
        let blocks = self.int("blocks", (to - from) / machine::SUMS_AT_ONCE);
        let places = (from, &blocks, to);
        match &fetch {
            None => self.blocks_of_gathers(fold, places, &sums, None, each)?,
            Some(fetch) => {
                // The loop without it has all registers for itself.
                let (then, ()) =
                    self.nested(|l| l.blocks_of_gathers(fold, places, &sums, Some(fetch), each))?;
                let (otherwise, ()) =
                    self.nested(|l| l.blocks_of_gathers(fold, places, &sums, None, each))?;
                self.out.push(Stm::branch(fetch.is_worth.clone(), then, otherwise));
            }
        }
        left.iter().for_each(|param| self.bind(param, true));
        self.for_loop(LoopKind::Sequential, machine::SUMS_AT_ONCE, |l, lane| {
            for (sum, param) in sums.iter().zip(right) {
                l.bind(param, true);
                l.set(&l.var_of(param)?, sum.at(lane));
            }
            l.combine(fold.op)
        })?;
        self.loop_from(LoopKind::Sequential, from + &blocks * machine::SUMS_AT_ONCE, to, |l, i| {
            l.next_row(fold.arrays, fold.pre, right, i)?;
            each(l, i)?;
            left.iter().for_each(|param| l.bind(param, true));
            l.combine(fold.op)
        })
    }

    /// Adds up all blocks of rows, each lane in its own sums.
    fn blocks_of_gathers(
        &mut self,
        fold: &Fold<'_>,
        (from, blocks, to): (&Expr, &Var, &Expr),
        sums: &[Var],
        fetch: Option<&Fetch>,
        each: &mut dyn FnMut(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        let (left, right) = fold.sides();
        let totals: Vec<Var> = left.iter().map(|param| self.var_of(param)).collect::<Lowered<_>>()?;
        self.for_loop(LoopKind::Sequential, blocks, |l, block| {
            l.for_loop(LoopKind::Unrolled(machine::SUMS_AT_ONCE), machine::SUMS_AT_ONCE, |l, lane| {
                let i = l.int("at", from + block * machine::SUMS_AT_ONCE + lane);
                if let Some(fetch) = fetch {
                    l.block(|l| l.fetch_later(fetch, &i, to))?;
                }
                l.next_row(fold.arrays, fold.pre, right, &i)?;
                each(l, &i)?;
                for ((sum, param), total) in sums.iter().zip(left).zip(&totals) {
                    l.bind(param, true);
                    l.set(total, sum.at(lane));
                }
                l.combine(fold.op)?;
                for (sum, total) in sums.iter().zip(&totals) {
                    l.write(sum, lane, total);
                }
                Ok(())
            })
        })
    }
}
