//! How variables are bound, as far as contractions want to know.

use std::collections::HashMap;

use dagaz_core::exp::{Check, Exp, Program};
use dagaz_core::facts::Facts;
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::each_stm;

/// What a variable is, in terms of others.
#[derive(Clone, Debug)]
pub(super) enum Def {
    Alias(VarId),
    Rearranged {
        perm: Vec<usize>,
        array: VarId,
    },
    Read {
        array: VarId,
        indices: Vec<Atom>,
        /// Nothing is checked.
        is_certain: bool,
    },
    /// `0, 1, …` up to the number.
    Numbers(Atom),
    Scalar(BinOp, Atom, Atom),
    Negated(Atom),
}

pub(super) struct Definitions {
    pub defs: HashMap<VarId, Def>,
    pub types: HashMap<VarId, Type>,
    /// How often variables are used, as operands or results.
    pub uses: HashMap<VarId, usize>,
}

impl Definitions {
    pub fn of(program: &Program) -> Definitions {
        let Facts { types, uses, .. } = Facts::of(program);
        let mut defs = HashMap::new();
        for stms in program.funs.iter().map(|fun| &fun.body.stms).chain([&program.consts]) {
            each_stm(stms, &mut |stm| {
                if let [param] = stm.pat.as_slice() {
                    defs.extend(definition(&stm.exp).map(|def| (param.var, def)));
                }
            });
        }
        Definitions { defs, types, uses }
    }

    /// Whether an array has the numbers from zero up to a given one.
    pub fn is_numbers(&self, array: VarId, bound: Atom) -> bool {
        matches!(self.defs.get(&array), Some(Def::Numbers(n)) if *n == bound)
    }

    pub fn is_used(&self, var: VarId) -> bool {
        self.uses.get(&var).is_some_and(|count| *count > 0)
    }
}

fn definition(exp: &Exp) -> Option<Def> {
    match exp {
        Exp::Atom(Atom::Var(var)) => Some(Def::Alias(*var)),
        Exp::Rearrange { perm, array } => Some(Def::Rearranged { perm: perm.clone(), array: *array }),
        Exp::Index { array, indices, check } => Some(Def::Read {
            array: *array,
            indices: indices.clone(),
            is_certain: *check == Check::Certified,
        }),
        Exp::Iota { n, .. } => exp.is_counting().then_some(Def::Numbers(*n)),
        Exp::BinOp(op, ty, x, y) if ty.is_float() => Some(Def::Scalar(*op, *x, *y)),
        Exp::UnOp(dagaz_core::prim::UnOp::Neg, ty, x) if ty.is_float() => Some(Def::Negated(*x)),
        _ => None,
    }
}
