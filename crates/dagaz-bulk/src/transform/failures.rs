//! Iterations that fail. A map stops the program with the message of the first iteration that fails, which is only known when
//! all of them have run; so an assertion inside of a map notes where it failed and with which values, and takes the iteration out
//! of the mask.
//!
//! ```text
//! map n (xs) \(x: i64) : (i64) ->          let (bad: [n]bool) = i64.le xs 0
//!   let (ok: bool) = i64.lt 0 x            … the first index where `bad` holds, the value of `xs` there …
//!   let () = assert ok ("got ", x)   ==>   let () = assert ok_1 ("got ", x_1)
//!   in (x)
//! ```

use dagaz_core::exp::{Loc, MsgPart};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Op, neutral};

use super::lanes::Lanes;
use super::{Transform, Transformed, unsupported};

/// An assertion that some iterations may have failed. An iteration fails at most once.
pub(super) struct Failure {
    /// For each iteration, whether it has failed.
    pub failed: VarId,
    /// For each value of the message, what it was in each iteration, or in all of them.
    pub values: Vec<Atom>,
    pub message: Vec<MsgPart>,
    pub loc: Loc,
}

impl Transform<'_> {
    pub(super) fn lane_assert(
        &mut self,
        lanes: &mut Lanes,
        cond: Atom,
        message: &[MsgPart],
    ) -> Transformed<()> {
        if self.now(lanes, cond).0 == Atom::bool(true) {
            return Ok(());
        }
        let cond = self.lifted(lanes, cond);
        let wrong = self.b.not(cond.into());
        let wrong = self.b.as_var(wrong);
        let failed = self.masked(lanes, wrong);
        let mut values = Vec::new();
        for part in message {
            if let MsgPart::Value(value) = part {
                if self.b.type_of(*value).is_array() {
                    return unsupported("a message inside of a map that shows an array", self.b.loc);
                }
                values.push(self.now(lanes, *value).0);
            }
        }
        lanes.mask = Some(self.masked(lanes, cond));
        let (message, loc) = (message.to_vec(), self.b.loc);
        lanes.failures.push(Failure { failed, values, message, loc });
        Ok(())
    }

    /// Takes those that have failed out of the mask.
    pub(super) fn without_failed(&mut self, lanes: &mut Lanes, from: usize) {
        let failed: Vec<VarId> = lanes.failures[from..].iter().map(|failure| failure.failed).collect();
        for failed in failed {
            let alive = self.b.not(failed.into());
            let alive = self.b.as_var(alive);
            lanes.mask = Some(self.masked(lanes, alive));
        }
    }

    /// What leaves a branch or loop differs between iterations of the map, as it was not for those that did not fail there.
    pub(super) fn lift_messages(&mut self, lanes: &mut Lanes, from: usize) {
        for failure in &mut lanes.failures[from..] {
            for value in &mut failure.values {
                if self.b.type_of(*value).rank() == 0 {
                    *value = self.b.replicate(&[lanes.width], *value).into();
                }
            }
        }
    }

    /// What a failure is where it did not happen, as new variables of the open scope.
    pub(super) fn no_failure(&mut self, lanes: &Lanes, failure: &Failure) -> Vec<Atom> {
        let types = self.failure_types(lanes, failure);
        let zero = |ty: &Type| Prim::zero(ty.elem().unwrap_or(PrimType::Bool));
        types.iter().map(|ty| self.b.replicate(&[lanes.width], zero(ty).into()).into()).collect()
    }

    pub(super) fn failure_types(&self, lanes: &Lanes, failure: &Failure) -> Vec<Type> {
        let value = |value: &Atom| self.b.type_of(*value);
        let failed = Self::lane_scalar(lanes, PrimType::Bool);
        std::iter::once(failed).chain(failure.values.iter().map(value)).collect()
    }

    pub(super) fn failure_parts(failure: &Failure) -> Vec<Atom> {
        std::iter::once(failure.failed.into()).chain(failure.values.iter().copied()).collect()
    }

    /// The same failure, known by other variables: where it failed, then the values.
    pub(super) fn renamed(failure: &Failure, vars: &[Param]) -> Option<Failure> {
        let (failed, values) = vars.split_first()?;
        let values = values.iter().map(|p| p.var.into()).collect();
        Some(Failure { failed: failed.var, values, message: failure.message.clone(), loc: failure.loc })
    }

    /// Asserts, behind a map, that no iteration has failed.
    pub(super) fn raise(&mut self, lanes: &Lanes) {
        if lanes.failures.is_empty() {
            return;
        }
        let none = neutral(BinOp::Min, PrimType::I64).map_or(Atom::i64(i64::MAX), Atom::Const);
        let numbers = self.b.iota(PrimType::I64, lanes.width);
        let ty = Self::lane_scalar(lanes, PrimType::I64);
        let mut first = none;
        for failure in &lanes.failures {
            self.b.loc = failure.loc;
            let own = self.b.select(&ty, failure.failed.into(), numbers.into(), none);
            let own = self.b.as_var(own);
            let own = self.b.fold(BinOp::Min, PrimType::I64, 0, own);
            first = if first == none { own } else { self.b.binop(BinOp::Min, PrimType::I64, first, own) };
        }
        for failure in &lanes.failures {
            self.b.loc = failure.loc;
            // Beyond all iterations, where none has failed, there is nothing but zeros.
            let bad = self.b.gather("bad", failure.failed, vec![first]);
            let cond = self.b.not(bad);
            let mut values = failure.values.iter();
            let mut message = Vec::new();
            for part in &failure.message {
                message.push(match (part, values.len()) {
                    (MsgPart::Value(_), 1..) => {
                        let value = values.next().copied().unwrap_or(Atom::i64(0));
                        MsgPart::Value(match value.as_var().filter(|_| self.b.type_of(value).is_array()) {
                            Some(values) => self.b.gather("shown", values, vec![first]),
                            None => value,
                        })
                    }
                    _ => part.clone(),
                });
            }
            self.b.push(Vec::new(), Op::Assert { cond, message });
        }
    }
}
