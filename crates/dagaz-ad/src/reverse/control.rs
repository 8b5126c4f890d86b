//! Reverse mode of branches (thesis, section 3.3.1): the branch that was taken is run again, and gives the adjoints
//! of all variables that either branch reads.
//!
//!     y = if c then x * x else z     ==>     (x_adj, z_adj) = if c then (2 * x * ct, 0) else (0, ct)

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Loc};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::free_vars_body;

use crate::context::{Ad, Res};
use crate::rename::Renamer;

impl Ad<'_> {
    pub fn rev_if(
        &mut self,
        cond: Atom,
        then: &Body,
        otherwise: &Body,
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let free = free_vars_body(then).into_iter().chain(free_vars_body(otherwise));
        let free = self.active_among(free);
        let mut types: Vec<Type> = free.iter().map(|v| self.adjoint_type(*v)).collect();
        let (outer, known) = (self.adj.clone(), self.restored.clone());
        let mut then = self.rev_branch(then, &free, cts, loc)?;
        self.adj = outer.clone();
        let after_then = std::mem::replace(&mut self.restored, known.clone());
        let mut otherwise = self.rev_branch(otherwise, &free, cts, loc)?;
        self.adj = outer;
        let after_otherwise = std::mem::replace(&mut self.restored, known.clone());
        // Arrays that a branch has updated and restored are in other variables now.
        let mut moved = after_then.moved_since(&known);
        moved.extend(after_otherwise.moved_since(&known));
        moved.sort_unstable();
        moved.dedup();
        for root in &moved {
            then.result.extend(after_then.now(*root).map(Atom::from));
            otherwise.result.extend(after_otherwise.now(*root).map(Atom::from));
            types.extend(known.now(*root).map(|v| self.ty_var(v)));
        }
        let vars = self.let_exps("adj", &types, Exp::If { cond, then, otherwise }, loc);
        for (var, adjoint) in free.iter().zip(&vars) {
            self.move_adj(*var, *adjoint);
        }
        for (root, var) in moved.iter().zip(&vars[free.len()..]) {
            self.restored.hold(*root, *var);
        }
        Ok(())
    }

    fn rev_branch(&mut self, body: &Body, free: &[VarId], cts: &[Option<Atom>], loc: Loc) -> Res<Body> {
        self.body(|ad| {
            let copy = Renamer::again(ad, HashMap::new()).body(body);
            ad.sweep(&copy, cts, loc)?;
            Ok(free.iter().map(|v| ad.adjoint(*v, loc)).collect())
        })
    }
}
