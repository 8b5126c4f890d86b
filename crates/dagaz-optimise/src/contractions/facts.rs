//! How variables are bound, as far as contractions want to know.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, Program, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{direct_operands, lambdas};

use crate::walk::bodies;

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

#[derive(Default)]
pub(super) struct Definitions {
    pub defs: HashMap<VarId, Def>,
    pub types: HashMap<VarId, Type>,
    /// How often variables are used, as operands or results.
    pub uses: HashMap<VarId, usize>,
}

impl Definitions {
    pub fn of(program: &Program) -> Definitions {
        let mut facts = Definitions::default();
        program.consts.iter().for_each(|stm| facts.stm(stm));
        for fun in &program.funs {
            facts.types.extend(fun.params.iter().map(|p| (p.var, p.ty.clone())));
            facts.body(&fun.body);
        }
        facts
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.stm(stm));
        body.result.iter().for_each(|atom| self.note_use(*atom));
    }

    fn note_use(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            *self.uses.entry(var).or_default() += 1;
        }
    }

    fn stm(&mut self, stm: &Stm) {
        self.types.extend(stm.pat.iter().map(|p| (p.var, p.ty.clone())));
        direct_operands(&stm.exp, &mut |atom| self.note_use(atom));
        if let Exp::Loop { params, .. } = &stm.exp {
            self.types.extend(params.iter().map(|(p, _)| (p.var, p.ty.clone())));
        }
        for lambda in lambdas(&stm.exp) {
            self.types.extend(lambda.params.iter().map(|p| (p.var, p.ty.clone())));
        }
        bodies(&stm.exp).into_iter().for_each(|body| self.body(body));
        if let ([param], Some(def)) = (stm.pat.as_slice(), definition(&stm.exp)) {
            self.defs.insert(param.var, def);
        }
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
        Exp::Iota { ty: PrimType::I64, n, start, step } => {
            (*start == Atom::i64(0) && *step == Atom::i64(1)).then_some(Def::Numbers(*n))
        }
        Exp::BinOp(op, ty, x, y) if ty.is_float() => Some(Def::Scalar(*op, *x, *y)),
        Exp::UnOp(dagaz_core::prim::UnOp::Neg, ty, x) if ty.is_float() => Some(Def::Negated(*x)),
        _ => None,
    }
}
