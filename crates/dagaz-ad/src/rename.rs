//! Copies of code with new binders: a variable is bound once in a program, and redundant execution runs code twice.
//!
//!     let (y: f64) = f64.sin x     ==>     let (y_1: f64) = f64.sin z          where x is to become z

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, Lambda};
use dagaz_core::rename;
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::bodies_mut;

use crate::context::{Ad, Forward};

/// When a copy is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Instead of the original.
    Instead,
    /// Before the original, to find something out. What is not needed for that may go.
    Before,
    /// After the original, which has not stopped the program: nothing has to be checked.
    After,
}

/// What the variables of the original have become.
pub(crate) struct Renamer<'a, 'p> {
    ad: &'a mut Ad<'p>,
    map: HashMap<VarId, Atom>,
    when: When,
}

impl<'a, 'p> Renamer<'a, 'p> {
    pub fn new(ad: &'a mut Ad<'p>, map: HashMap<VarId, Atom>) -> Renamer<'a, 'p> {
        Renamer { ad, map, when: When::Instead }
    }

    /// For code that is run before the original.
    pub fn before(ad: &'a mut Ad<'p>, map: HashMap<VarId, Atom>) -> Renamer<'a, 'p> {
        Renamer { ad, map, when: When::Before }
    }

    /// For code that is run again.
    pub fn again(ad: &'a mut Ad<'p>, map: HashMap<VarId, Atom>) -> Renamer<'a, 'p> {
        Renamer { ad, map, when: When::After }
    }

    pub fn atom(&self, atom: Atom) -> Atom {
        atom.as_var().and_then(|var| self.map.get(&var)).copied().unwrap_or(atom)
    }

    /// Arrays and accumulators are never constants.
    pub fn var(&self, var: VarId) -> VarId {
        self.atom(var.into()).as_var().unwrap_or(var)
    }

    pub fn param(&mut self, param: &Param) -> Param {
        self.copied(|copy| copy.param(param)).0
    }

    pub fn body(&mut self, body: &Body) -> Body {
        let mut copy = self.recomputed(|copy| copy.body(body));
        self.drop_checks(&mut copy);
        copy
    }

    pub fn lambda(&mut self, lambda: &Lambda) -> Lambda {
        let mut copy = self.recomputed(|copy| copy.lambda(lambda));
        self.drop_checks(&mut copy.body);
        copy
    }

    pub fn exp(&mut self, exp: &Exp) -> Exp {
        let mut copy = self.recomputed(|copy| copy.exp(exp));
        self.drop_checks_of(&mut copy);
        copy
    }

    /// A copy and what it binds. Variables have the types of the original, and are as active.
    fn copied<T>(&mut self, make: impl FnOnce(&mut rename::Copy<'_>) -> T) -> (T, Vec<VarId>) {
        let mut copy = rename::Copy::with(&mut self.ad.b.vars, std::mem::take(&mut self.map));
        let made = make(&mut copy);
        let (map, bound) = copy.finish();
        self.map = map;
        for (old, new) in &bound {
            let Forward { active, sums, .. } = &mut self.ad.forward;
            for set in [active, sums] {
                if set.contains(old) {
                    set.insert(new.var);
                }
            }
            self.ad.note(new);
        }
        (made, bound.into_iter().map(|(_, new)| new.var).collect())
    }

    fn recomputed<T>(&mut self, make: impl FnOnce(&mut rename::Copy<'_>) -> T) -> T {
        let (made, bound) = self.copied(make);
        if self.when != When::Instead {
            self.ad.sweep.recomputed.extend(bound);
        }
        made
    }

    fn drop_checks(&self, body: &mut Body) {
        if self.when == When::After {
            body.stms.retain(|stm| !matches!(stm.exp, Exp::Assert { .. }));
            body.stms.iter_mut().for_each(|stm| self.drop_checks_of(&mut stm.exp));
        }
    }

    fn drop_checks_of(&self, exp: &mut Exp) {
        if let (When::After, Exp::Index { check, .. } | Exp::Update { check, .. }) = (self.when, &mut *exp) {
            *check = Check::Certified;
        }
        bodies_mut(exp).into_iter().for_each(|body| self.drop_checks(body));
    }
}
