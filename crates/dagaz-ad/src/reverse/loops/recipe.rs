//! Indices that need not be logged, because they follow from the number of the iteration.
//!
//!     loop (a = …) for i < n do                        the index of iteration i is
//!       let (j: i64) = i64.add i 1i64          ==>       let (j: i64) = i64.add i 1i64
//!       let (b: [n]f64) = a with [j] = x

use std::collections::{HashMap, HashSet};

use dagaz_core::cost::{Cost, scalar_cost};
use dagaz_core::exp::{Body, Exp, Loc, Stm};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{direct_operands, free_vars_body};

use crate::context::Ad;
use crate::rename::Renamer;

/// Statements that compute an atom from the counter of a loop and what is known outside of the loop.
#[derive(Clone)]
pub(crate) struct Recipe {
    counter: (VarId, PrimType),
    body: Body,
}

impl Recipe {
    /// Whether it can be followed where nothing of this is known.
    pub(super) fn needs_nothing_of(&self, inside: &HashSet<VarId>) -> bool {
        let needed = free_vars_body(&self.body);
        needed.iter().all(|var| *var == self.counter.0 || !inside.contains(var))
    }
}

/// How the body of a loop computes an atom, if it needs nothing for that but scalar operations on the counter;
/// `inside` is all that the loop binds.
pub(super) fn recipe(
    atom: Atom,
    run: &Body,
    counter: (VarId, PrimType),
    inside: &HashSet<VarId>,
) -> Option<Recipe> {
    let mut needed: HashSet<VarId> = atom.as_var().into_iter().collect();
    let mut stms: Vec<Stm> = Vec::new();
    for stm in run.stms.iter().rev() {
        let [pat] = stm.pat.as_slice() else { continue };
        let is_cheap = scalar_cost(&stm.exp) == Some(Cost::Simple);
        if needed.contains(&pat.var) && (is_cheap || matches!(stm.exp, Exp::Atom(Atom::Const(_)))) {
            needed.remove(&pat.var);
            direct_operands(&stm.exp, &mut |operand| needed.extend(operand.as_var()));
            stms.push(stm.clone());
        }
    }
    stms.reverse();
    let known = needed.iter().all(|var| *var == counter.0 || !inside.contains(var));
    known.then(|| Recipe { counter, body: Body { stms, result: vec![atom] } })
}

impl Ad<'_> {
    /// The atom in iteration `i`.
    pub(super) fn follow(&mut self, recipe: &Recipe, i: Atom, loc: Loc) -> Atom {
        let (counter, ty) = recipe.counter;
        let i = self.b.convert(PrimType::I64, ty, i, loc);
        let copy = Renamer::again(self, HashMap::from([(counter, i)])).body(&recipe.body);
        copy.stms.into_iter().for_each(|stm| self.push(stm));
        copy.result[0]
    }
}
