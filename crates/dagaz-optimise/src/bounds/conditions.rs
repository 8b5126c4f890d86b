//! Conditions as facts, and facts as proofs of conditions.

use dagaz_core::prim::{BinOp, CmpOp, Prim};
use dagaz_core::types::Atom;

use super::Form;
use super::facts::{Def, Inequalities};

/// Conditions are looked into so deep.
const DEPTH: u32 = 12;

impl Inequalities {
    /// Learns that the condition holds, or that it does not.
    pub fn assume(&mut self, cond: Atom, holds: bool) {
        self.assume_within(cond, holds, DEPTH);
    }

    fn assume_within(&mut self, cond: Atom, holds: bool, depth: u32) {
        let Some(def) = cond.as_var().and_then(|var| self.defs.get(&var)).cloned() else { return };
        if depth == 0 {
            return;
        }
        match def {
            Def::Compare { op, left, right } => self.assume_comparison(op, left, right, holds),
            Def::BinOp(BinOp::And, a, b) if holds => {
                self.assume_within(a, true, depth - 1);
                self.assume_within(b, true, depth - 1);
            }
            Def::BinOp(BinOp::Or, a, b) if !holds => {
                self.assume_within(a, false, depth - 1);
                self.assume_within(b, false, depth - 1);
            }
            Def::Not(a) => self.assume_within(a, !holds, depth - 1),
            Def::Branch { cond, then, otherwise } => {
                // One branch cannot have been taken, since it gives the opposite.
                let opposite = Atom::Const(Prim::Bool(!holds));
                if otherwise == opposite {
                    self.assume_within(cond, true, depth - 1);
                    self.assume_within(then, holds, depth - 1);
                } else if then == opposite {
                    self.assume_within(cond, false, depth - 1);
                    self.assume_within(otherwise, holds, depth - 1);
                }
            }
            Def::BinOp(..) | Def::Wrapped(_) | Def::Abs(_) => {}
        }
    }

    fn assume_comparison(&mut self, op: CmpOp, left: Atom, right: Atom, holds: bool) {
        let Some(difference) = self.difference(left, right) else { return };
        let negated = difference.times(-1);
        match (op, holds) {
            (CmpOp::Lt, true) => self.learn(difference.offset(-1)),
            (CmpOp::Le, true) => self.learn(Some(difference)),
            (CmpOp::Lt, false) => self.learn(negated),
            (CmpOp::Le, false) => self.learn(negated.and_then(|n| n.offset(-1))),
            (CmpOp::Eq, true) => {
                self.learn(Some(difference));
                self.learn(negated);
            }
            (CmpOp::Eq, false) => {
                if self.is_nonnegative(Some(difference.clone())) {
                    self.learn(difference.offset(-1));
                } else if self.is_nonnegative(negated.clone()) {
                    self.learn(negated.and_then(|n| n.offset(-1)));
                }
            }
        }
    }

    /// Learns from a division that did not fail.
    pub fn learn_nonzero(&mut self, divisor: Atom) {
        self.assume_comparison(CmpOp::Eq, Atom::i64(0), divisor, false);
    }

    /// `right - left`
    fn difference(&self, left: Atom, right: Atom) -> Option<Form> {
        self.form(right)?.minus(&self.form(left)?)
    }

    /// Whether the condition surely holds, or surely does not.
    pub fn is_certain(&mut self, cond: Atom, holds: bool) -> bool {
        self.is_certain_within(cond, holds, DEPTH)
    }

    fn is_certain_within(&mut self, cond: Atom, holds: bool, depth: u32) -> bool {
        let var = match cond {
            Atom::Const(prim) => return prim == Prim::Bool(holds),
            Atom::Var(var) => var,
        };
        let Some(def) = self.defs.get(&var).cloned() else { return false };
        if depth == 0 {
            return false;
        }
        match def {
            Def::Compare { op, left, right } => self.is_certain_comparison(op, left, right, holds),
            Def::BinOp(op @ (BinOp::And | BinOp::Or), a, b) => {
                let first = self.is_certain_within(a, holds, depth - 1);
                if (op == BinOp::And) == holds {
                    return first && self.is_certain_within(b, holds, depth - 1);
                }
                // One is enough, and the second one need only be certain where the first one fails.
                first || {
                    let mark = self.mark();
                    self.assume_within(a, !holds, depth - 1);
                    let second = self.is_certain_within(b, holds, depth - 1);
                    self.leave(mark);
                    second
                }
            }
            Def::Not(a) => self.is_certain_within(a, !holds, depth - 1),
            Def::Branch { cond, then, otherwise } => {
                [(then, true), (otherwise, false)].into_iter().all(|(result, is_taken)| {
                    if result == Atom::Const(Prim::Bool(!holds)) {
                        return self.is_certain_within(cond, !is_taken, depth - 1);
                    }
                    let mark = self.mark();
                    self.assume_within(cond, is_taken, depth - 1);
                    let is_certain = self.is_certain_within(result, holds, depth - 1);
                    self.leave(mark);
                    is_certain
                })
            }
            Def::BinOp(..) | Def::Wrapped(_) | Def::Abs(_) => false,
        }
    }

    fn is_certain_comparison(&mut self, op: CmpOp, left: Atom, right: Atom, holds: bool) -> bool {
        let Some(difference) = self.difference(left, right) else { return false };
        let Some(negated) = difference.times(-1) else { return false };
        match (op, holds) {
            (CmpOp::Lt, true) => self.is_nonnegative(difference.offset(-1)),
            (CmpOp::Le, true) => self.is_nonnegative(Some(difference)),
            (CmpOp::Lt, false) => self.is_nonnegative(Some(negated)),
            (CmpOp::Le, false) => self.is_nonnegative(negated.offset(-1)),
            (CmpOp::Eq, true) => self.is_nonnegative(Some(difference)) && self.is_nonnegative(Some(negated)),
            (CmpOp::Eq, false) => {
                self.is_nonnegative(difference.offset(-1)) || self.is_nonnegative(negated.offset(-1))
            }
        }
    }
}
