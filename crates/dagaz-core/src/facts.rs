//! What is known of the variables of a whole program: their types, how often they are used, and which arrays are ranges.

use std::collections::HashMap;

use crate::exp::{Exp, Program, Stm};
use crate::types::{Atom, Type, VarId};
use crate::visit::{each_bound, each_stm, each_use};

#[derive(Default)]
pub struct Facts {
    pub types: HashMap<VarId, Type>,
    /// How often variables are used, as operands or results.
    pub uses: HashMap<VarId, usize>,
    /// Arrays `start, start + step, …`.
    pub ranges: HashMap<VarId, (Atom, Atom)>,
}

impl Facts {
    pub fn of(program: &Program) -> Facts {
        let mut facts = Facts { uses: uses(program), ..Facts::default() };
        facts.stms(&program.consts);
        for fun in &program.funs {
            facts.types.extend(fun.params.iter().map(|p| (p.var, p.ty.clone())));
            facts.stms(&fun.body.stms);
        }
        facts
    }

    fn stms(&mut self, stms: &[Stm]) {
        each_bound(stms, &mut |var, ty| drop(self.types.insert(var, ty.clone())));
        each_stm(stms, &mut |stm| {
            if let (Exp::Iota { start, step, .. }, [param]) = (&stm.exp, &stm.pat[..]) {
                self.ranges.insert(param.var, (*start, *step));
            }
        });
    }

    /// Whether an array is `0, 1, …`.
    pub fn is_counting(&self, array: VarId) -> bool {
        self.ranges.get(&array) == Some(&(Atom::i64(0), Atom::i64(1)))
    }

    pub fn is_used(&self, var: VarId) -> bool {
        self.uses.get(&var).is_some_and(|count| *count > 0)
    }

    /// The sizes of an array.
    pub fn dims(&self, array: VarId) -> &[Atom] {
        self.types.get(&array).map_or(&[], Type::dims)
    }
}

/// How often the variables of a program are used, as operands or results.
pub fn uses(program: &Program) -> HashMap<VarId, usize> {
    let mut uses = HashMap::new();
    count_uses(&mut uses, &program.consts, &[]);
    program.funs.iter().for_each(|fun| count_uses(&mut uses, &fun.body.stms, &fun.body.result));
    uses
}

/// Counts what statements use, at any depth, and results.
pub fn count_uses<'a>(
    uses: &mut HashMap<VarId, usize>,
    stms: impl IntoIterator<Item = &'a Stm>,
    results: &[Atom],
) {
    let mut count = |atom: Atom| atom.as_var().into_iter().for_each(|var| *uses.entry(var).or_default() += 1);
    each_use(stms, &mut count);
    results.iter().copied().for_each(count);
}
