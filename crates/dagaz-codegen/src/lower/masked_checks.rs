//! Checks in loops for vector units, which do not leave the loop: an iteration goes on after what has failed, reads other
//! elements than those that are not there, and the loop remembers that it has to run again in order to find out what failed.
//!
//!     const f64 *readable = n == 0 ? nothing : xs;
//!     for i { bad = -(is[i] >= n); stop |= bad; safe = is[i] & ~bad; ys[i] = readable[safe] }
//!
//! There are no branches in that, and what is known to be safe is not checked again. A mask has as many bits as an index, so
//! that vector units need not convert it.

use std::collections::HashSet;

use dagaz_core::prim::{BinOp, PrimType, UnOp};
use dagaz_core::types::{Atom, VarId};

use super::access::complement;
use super::{Lower, Lowered};
use crate::imp::{Access, Expr, Operand, Repr, Runtime, Var, any};

/// What is known of the checks of an iteration.
pub(super) struct Deferred {
    /// The variable that remembers whether something has failed.
    pub(super) flag: Var,
    pub(super) is_used: bool,
    /// The masks of what may have failed so far.
    bad: Vec<Var>,
    /// What the iteration binds.
    pub(super) inside: HashSet<VarId>,
    /// Variables that are in bounds whatever has failed: each instead of an index, for a dimension of some size.
    safe: Vec<(Atom, Atom, Var)>,
    /// Pointers that can be read from, even if the array is empty, with their types and values. They are set before the loop.
    pub(super) readable: Vec<Readable>,
}

pub(super) struct Readable {
    array: VarId,
    pub(super) pointer: Var,
    pub(super) value: Expr,
}

impl Deferred {
    pub(super) fn new(flag: Var) -> Deferred {
        let (bad, safe, readable) = (Vec::new(), Vec::new(), Vec::new());
        Deferred { flag, is_used: false, bad, inside: HashSet::new(), safe, readable }
    }

    /// How much has been declared.
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.bad.len(), self.safe.len())
    }

    /// Forgets what was declared since then.
    pub(super) fn forget(&mut self, (bad, safe): (usize, usize)) {
        self.bad.truncate(bad);
        self.safe.truncate(safe);
    }
}

impl Lower<'_> {
    /// A variable with a mask of the iterations in which the condition holds, all of which have failed then. None if the
    /// program can stop at once.
    pub(super) fn note_failure(&mut self, cond: Expr) -> Option<Var> {
        let flag = self.around.deferred.as_mut().map(|deferred| {
            deferred.is_used = true;
            deferred.flag.clone()
        })?;
        let cond = match &self.around.guard {
            Some(guard) => guard.op(BinOp::And, cond),
            None => cond,
        };
        let bad = self.int("bad", Expr::UnOp(UnOp::Neg, PrimType::I64, Box::new(cond.cast(PrimType::I64))));
        self.put(&flag, flag.op(BinOp::Or, &bad));
        if let Some(deferred) = &mut self.around.deferred {
            deferred.bad.push(bad.clone());
        }
        Some(bad)
    }

    /// Indices that are in bounds, whatever has failed, and whether they may be others than those that are given. `bad` is the
    /// mask of a check of all of them, if there was one just now.
    pub(super) fn safe_indices(
        &mut self,
        indices: &[Atom],
        dims: &[Atom],
        bad: Option<&Var>,
    ) -> (Vec<Expr>, bool) {
        let mut are_others = bad.is_some();
        let mut found = Vec::new();
        for (index, dim) in indices.iter().zip(dims) {
            let safe = match bad {
                Some(bad) => self.mask_index(*index, *dim, bad.expr()),
                None => {
                    self.known_to_be_safe(*index, *dim).or_else(|| self.mask_after_failures(*index, *dim))
                }
            };
            are_others |= safe.is_some();
            found.push(safe.unwrap_or_else(|| self.atom(*index)));
        }
        (found, are_others)
    }

    fn known_to_be_safe(&self, index: Atom, dim: Atom) -> Option<Expr> {
        let known = |deferred: &Deferred| {
            deferred.safe.iter().find(|(i, d, _)| (*i, *d) == (index, dim)).map(|(_, _, safe)| safe.expr())
        };
        self.around.deferred.as_ref().and_then(known)
    }

    /// An index that was certified by a check is wrong if the check has failed.
    fn mask_after_failures(&mut self, index: Atom, dim: Atom) -> Option<Expr> {
        let deferred = self.around.deferred.as_ref().filter(|deferred| !deferred.bad.is_empty())?;
        let may_be_wrong = match index {
            Atom::Var(var) => deferred.inside.contains(&var) && !self.scope.below.contains_key(&var),
            Atom::Const(_) => !is_within(index, dim),
        };
        let bad = deferred.bad.iter().map(|bad| bad.expr()).reduce(|all, bad| all.op(BinOp::Or, bad))?;
        may_be_wrong.then(|| self.mask_index(index, dim, bad)).flatten()
    }

    /// The index, or zero if something is bad.
    fn mask_index(&mut self, index: Atom, dim: Atom, bad: Expr) -> Option<Expr> {
        if is_within(index, dim) {
            return None;
        }
        if index == Atom::i64(0) {
            return Some(self.atom(index));
        }
        let safe = self.int("safe", self.atom(index).op(BinOp::And, complement(bad)));
        if let Some(deferred) = &mut self.around.deferred {
            deferred.safe.push((index, dim, safe.clone()));
        }
        Some(safe.expr())
    }

    /// A pointer to an array that its first element can be read from, be it there or not.
    pub(super) fn readable(&mut self, array: VarId) -> Lowered<Expr> {
        let (elem, dims) = self.array(array)?;
        let pointer = self.var(array)?;
        let is_positive = |dim: &Atom| dim.as_const().and_then(|p| p.as_i64()).is_some_and(|n| n > 0);
        let sizes = dims.iter().filter(|dim| !is_positive(dim));
        let Some(is_empty) = any(sizes.map(|dim| self.atom(*dim).equals(0))) else {
            return Ok(pointer.expr());
        };
        let value = is_empty.select(Expr::call(Runtime::Nothing(elem), []), pointer);
        let Some(deferred) =
            self.around.deferred.as_ref().filter(|deferred| !deferred.inside.contains(&array))
        else {
            return Ok(value);
        };
        if let Some(known) = deferred.readable.iter().find(|known| known.array == array) {
            return Ok(known.pointer.expr());
        }
        let pointer = self.temp(Repr::Pointer(elem, Access::ReadOnly), "readable");
        if let Some(deferred) = &mut self.around.deferred {
            deferred.readable.push(Readable { array, pointer: pointer.clone(), value });
        }
        Ok(pointer.expr())
    }
}

/// Whether an index is in bounds for all to see.
fn is_within(index: Atom, dim: Atom) -> bool {
    let number = |atom: Atom| atom.as_const().and_then(|p| p.as_i64());
    number(index).zip(number(dim)).is_some_and(|(i, n)| 0 <= i && i < n)
}
