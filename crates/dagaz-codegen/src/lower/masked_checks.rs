//! Checks in loops for vector units, which do not leave the loop: an iteration goes on after what has failed, reads other
//! elements than those that are not there, and the loop remembers that it has to run again in order to find out what failed.
//!
//!     const f64 *readable = n == 0 ? nothing : xs;
//!     for i { bad = -(is[i] >= n); stop |= bad; safe = is[i] & ~bad; ys[i] = readable[safe] }
//!
//! There are no branches in that, and what is known to be safe is not checked again. A mask has as many bits as an index, so
//! that vector units need not convert it.

use std::collections::HashSet;

use dagaz_core::types::{Atom, VarId};

use super::{Lower, Lowered};

/// What is known of the checks of an iteration.
pub(super) struct Deferred {
    /// The variable that remembers whether something has failed.
    pub(super) flag: String,
    pub(super) is_used: bool,
    /// The masks of what may have failed so far.
    bad: Vec<String>,
    /// What the iteration binds.
    pub(super) inside: HashSet<VarId>,
    /// Variables that are in bounds whatever has failed: each instead of an index, for a dimension of some size.
    safe: Vec<(Atom, Atom, String)>,
    /// Pointers that can be read from, even if the array is empty, with their types and values. They are set before the loop.
    pub(super) readable: Vec<Readable>,
}

pub(super) struct Readable {
    array: VarId,
    pub(super) ty: String,
    pub(super) name: String,
    pub(super) value: String,
}

impl Deferred {
    pub(super) fn new(flag: String) -> Deferred {
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
    pub(super) fn note_failure(&mut self, cond: &str) -> Option<String> {
        let flag = self.deferred.as_mut().map(|deferred| {
            deferred.is_used = true;
            deferred.flag.clone()
        })?;
        let bad = self.temp("bad");
        let cond = self.guard.as_ref().map_or(cond.to_string(), |guard| format!("({guard}) & ({cond})"));
        self.set("i64", bad.as_str(), format!("-(i64)({cond})"));
        self.line(format!("{flag} |= {bad};"));
        if let Some(deferred) = &mut self.deferred {
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
        bad: Option<&str>,
    ) -> (Vec<String>, bool) {
        let mut are_others = bad.is_some();
        let mut texts = Vec::new();
        for (index, dim) in indices.iter().zip(dims) {
            let safe = match bad {
                Some(bad) => self.mask_index(*index, *dim, bad),
                None => {
                    self.known_to_be_safe(*index, *dim).or_else(|| self.mask_after_failures(*index, *dim))
                }
            };
            are_others |= safe.is_some();
            texts.push(safe.unwrap_or_else(|| self.atom(*index)));
        }
        (texts, are_others)
    }

    fn known_to_be_safe(&self, index: Atom, dim: Atom) -> Option<String> {
        let known = |deferred: &Deferred| {
            deferred.safe.iter().find(|(i, d, _)| (*i, *d) == (index, dim)).map(|(_, _, name)| name.clone())
        };
        self.deferred.as_ref().and_then(known)
    }

    /// An index that was certified by a check is wrong if the check has failed.
    fn mask_after_failures(&mut self, index: Atom, dim: Atom) -> Option<String> {
        let deferred = self.deferred.as_ref().filter(|deferred| !deferred.bad.is_empty())?;
        let may_be_wrong = match index {
            Atom::Var(var) => deferred.inside.contains(&var) && !self.below.contains_key(&var),
            Atom::Const(_) => !is_within(index, dim),
        };
        let bad = deferred.bad.join(" | ");
        may_be_wrong.then(|| self.mask_index(index, dim, &format!("({bad})"))).flatten()
    }

    /// The index, or zero if something is bad.
    fn mask_index(&mut self, index: Atom, dim: Atom, bad: &str) -> Option<String> {
        if is_within(index, dim) {
            return None;
        }
        if index == Atom::i64(0) {
            return Some(self.atom(index));
        }
        let (safe, own) = (self.temp("safe"), self.atom(index));
        self.set("i64", safe.as_str(), format!("{own} & ~{bad}"));
        if let Some(deferred) = &mut self.deferred {
            deferred.safe.push((index, dim, safe.clone()));
        }
        Some(safe)
    }

    /// A pointer to an array that its first element can be read from, be it there or not.
    pub(super) fn readable(&mut self, array: VarId) -> Lowered<String> {
        let (elem, dims) = self.array(array)?;
        let name = self.name(array);
        let is_positive = |dim: &Atom| dim.as_const().and_then(|p| p.as_i64()).is_some_and(|n| n > 0);
        let sizes: Vec<String> =
            dims.iter().filter(|dim| !is_positive(dim)).map(|dim| self.atom(*dim)).collect();
        if sizes.is_empty() {
            return Ok(name);
        }
        let is_empty: Vec<String> = sizes.iter().map(|size| format!("{size} == 0")).collect();
        let value = format!("({} ? (const {elem} *)dz_nothing : {name})", is_empty.join(" || "));
        let Some(deferred) = self.deferred.as_ref().filter(|deferred| !deferred.inside.contains(&array))
        else {
            return Ok(value);
        };
        if let Some(known) = deferred.readable.iter().find(|known| known.array == array) {
            return Ok(known.name.clone());
        }
        let name = self.temp("readable");
        let readable = Readable { array, ty: format!("const {elem} *"), name: name.clone(), value };
        if let Some(deferred) = &mut self.deferred {
            deferred.readable.push(readable);
        }
        Ok(name)
    }
}

/// Whether an index is in bounds for all to see.
fn is_within(index: Atom, dim: Atom) -> bool {
    let number = |atom: Atom| atom.as_const().and_then(|p| p.as_i64());
    number(index).zip(number(dim)).is_some_and(|(i, n)| 0 <= i && i < n)
}
