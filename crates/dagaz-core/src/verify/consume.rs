//! What is consumed, and what shares elements with what.

use std::collections::{BTreeSet, HashSet};

use crate::pass::Arrays;
use crate::types::{Atom, Param, VarId};

use super::Verifier;

impl Verifier<'_> {
    /// The array, and all that may share its elements, must not be used any more.
    pub(super) fn consume(&mut self, var: VarId) {
        if self.stage.arrays == Arrays::AreValues {
            return;
        }
        let roots = self.roots.get(&var).cloned().unwrap_or_default();
        self.consumed.extend(roots);
    }

    pub(super) fn consume_atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            self.consume(var);
        }
    }

    pub(super) fn roots_of(&self, atom: Atom) -> BTreeSet<VarId> {
        match atom {
            Atom::Var(var) if self.scope.get(&var).is_some_and(|t| t.is_array()) => {
                self.roots.get(&var).cloned().unwrap_or_default()
            }
            Atom::Var(_) | Atom::Const(_) => BTreeSet::new(),
        }
    }

    /// Whether an array that is changed and a value that is read meanwhile may have elements in common.
    pub(super) fn may_share(&self, changed: VarId, read: Atom) -> bool {
        self.stage.arrays == Arrays::AreConsumed
            && !self.roots_of(changed.into()).is_disjoint(&self.roots_of(read))
    }

    /// The bound variable may share the elements of these.
    pub(super) fn share(&mut self, param: &Param, roots: BTreeSet<VarId>) {
        if param.ty.is_array() {
            self.roots.entry(param.var).or_default().extend(roots);
        }
    }

    pub(super) fn newly_consumed(&self, before: &HashSet<VarId>) -> Vec<VarId> {
        let mut new: Vec<VarId> = self.consumed.difference(before).copied().collect();
        new.sort_unstable();
        new
    }

    /// After a body that runs many times: whatever it consumed must have been bound in it.
    pub(super) fn forbid_outer_consumption(&mut self, before: &HashSet<VarId>, what: &str) {
        for var in self.newly_consumed(before) {
            if self.scope.contains_key(&var) {
                self.error(format!("{what} consumes {}, which is bound outside of it", self.name(var)));
            }
        }
    }
}
