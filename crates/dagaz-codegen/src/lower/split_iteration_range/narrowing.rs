//! Sums in which most rows count for nothing.
//!
//! The gradient of a stencil adds up, at its border, what all places beyond the border would have got. These are few, and
//! a condition on the number of the row tells which:
//!
//!     sum (for p < n -> if n - 1 < p + 1 then f p else 0)    ==>    for p in [n - 1, n) { as before }

use std::collections::HashMap;

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Exp, Lambda};
use dagaz_core::index::{exchanged, limits, offset};
use dagaz_core::operator::{ScalarOperator, components};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, VarId};

use super::super::Lower;
use super::super::folds::Fold;
use crate::imp::{Expr, Operand};

/// The rows that can count: from the greatest of `from` to before the least of `to`, each an atom and a number to be added.
#[derive(Default)]
struct Rows {
    from: Vec<(Atom, i64)>,
    to: Vec<(Atom, i64)>,
}

impl Lower<'_> {
    /// The first row of a fold that counts, and the one after the last, where that is known.
    pub(in crate::lower) fn narrow(&mut self, fold: &Fold<'_>, from: &Expr, to: &Expr) -> (Expr, Expr) {
        let Some(rows) = self.rows_that_count(fold) else { return (from.clone(), to.clone()) };
        let first = self.limit("first", from, BinOp::Max, &rows.from);
        let last = self.limit("last", to, BinOp::Min, &rows.to);
        (first.expr(), last.expr())
    }

    fn rows_that_count(&self, fold: &Fold<'_>) -> Option<Rows> {
        let pre = fold.pre.filter(|_| self.is_simple_fold(fold))?;
        let (choice, before) = pre.body.stms.split_last()?;
        let Exp::If { cond, otherwise, .. } = &choice.exp else { return None };
        let is_result = choice.pat.iter().map(|p| Atom::Var(p.var)).eq(pre.body.result.iter().copied());
        let operations = components(fold.op)?;
        let is_nothing = |(result, own): (&Atom, &ScalarOperator)| match own.op {
            BinOp::Add => is_zero(*result, own.ty),
            _ => false,
        };
        // Zero changes a negative zero, which a sum that begins with zero never is.
        let counts_for_nothing = otherwise.stms.is_empty()
            && otherwise.result.len() == operations.len()
            && otherwise.result.iter().zip(&operations).all(is_nothing)
            && fold.neutral.iter().zip(&operations).all(is_nothing);
        if !is_result || !counts_for_nothing || before.iter().any(|stm| can_fail(&stm.exp)) {
            return None;
        }
        let mut affine: HashMap<VarId, i64> =
            self.counters(fold.arrays, &pre.params).into_iter().map(|counter| (counter, 0)).collect();
        let mut definitions = HashMap::new();
        for stm in before {
            if let [param] = stm.pat.as_slice() {
                affine.extend(offset(&affine, &stm.exp).map(|number| (param.var, number)));
                definitions.insert(param.var, &stm.exp);
            }
        }
        let mut rows = Rows::default();
        Conditions { pre, affine, definitions }.require(*cond, true, &mut rows);
        (!rows.from.is_empty() || !rows.to.is_empty()).then_some(rows)
    }
}

fn is_zero(atom: Atom, ty: PrimType) -> bool {
    atom == Atom::Const(Prim::zero(ty))
}

struct Conditions<'a> {
    pre: &'a Lambda,
    /// Variables that are the number of the row plus a number.
    affine: HashMap<VarId, i64>,
    definitions: HashMap<VarId, &'a Exp>,
}

impl Conditions<'_> {
    fn is_invariant(&self, atom: Atom) -> bool {
        atom.as_var()
            .is_none_or(|v| !self.definitions.contains_key(&v) && self.pre.params.iter().all(|p| p.var != v))
    }

    /// Adds what must hold of the number of the row if a condition is to be `is_so`.
    fn require(&self, cond: Atom, is_so: bool, rows: &mut Rows) {
        let Some(exp) = cond.as_var().and_then(|v| self.definitions.get(&v)) else { return };
        match exp {
            Exp::UnOp(UnOp::Not, PrimType::Bool, a) => self.require(*a, !is_so, rows),
            Exp::BinOp(BinOp::And, PrimType::Bool, a, b) if is_so => {
                [a, b].into_iter().for_each(|part| self.require(*part, true, rows));
            }
            Exp::BinOp(BinOp::Or, PrimType::Bool, a, b) if !is_so => {
                [a, b].into_iter().for_each(|part| self.require(*part, false, rows));
            }
            Exp::CmpOp(op, PrimType::I64, a, b) => {
                let limits = limits(*op, is_so);
                let right = || self.counter_and(*b, *a).map(|found| (found, exchanged(limits)));
                let left = self.counter_and(*a, *b).map(|found| (found, limits));
                if let Some(((fixed, offset), (least, greatest))) = left.or_else(right) {
                    rows.from.extend(least.map(|n| (fixed, n - offset)));
                    rows.to.extend(greatest.map(|n| (fixed, n + 1 - offset)));
                }
            }
            _ => {}
        }
    }

    /// What is the same in all rows, and the number that the counter has been increased by.
    fn counter_and(&self, moving: Atom, fixed: Atom) -> Option<(Atom, i64)> {
        let offset = moving.as_var().and_then(|v| self.affine.get(&v).copied())?;
        self.is_invariant(fixed).then_some((fixed, offset))
    }
}
