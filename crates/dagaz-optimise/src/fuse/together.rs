//! What two operations over the same rows would be if they were one: how many statements, where those that both have count
//! once, and whether there is an elementary function among these.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::rename::Substitution;
use dagaz_core::types::VarId;
use dagaz_core::visit::{lambdas, operands_mut};

use crate::cse::{Key, key};
use crate::opposites::Opposites;
use dagaz_core::cost::is_elementary_function;

#[derive(Default)]
pub(super) struct Together {
    pub statements: usize,
    pub has_function_twice: bool,
    /// Operations on scalars that both have.
    pub operations_twice: usize,
    /// Later names of what has one already.
    same: Substitution,
    opposites: Opposites,
    /// The elements of arrays, by how many operations they are inside of.
    elements: HashMap<(usize, VarId), VarId>,
    results: HashMap<Key, Vec<VarId>>,
}

impl Together {
    pub fn of(first: &Exp, second: &Exp) -> Together {
        let mut together = Together::default();
        together.operation(first, 0);
        together.operation(second, 0);
        together
    }

    fn operation(&mut self, exp: &Exp, depth: usize) {
        match exp {
            Exp::Map { arrays, lambda, .. } => self.lambda(arrays, lambda, depth),
            Exp::Reduce { arrays, pre, op, .. } => {
                if let Some(pre) = pre {
                    self.lambda(arrays, pre, depth);
                }
                self.body(&op.body, depth + 1);
            }
            _ => lambdas(exp).into_iter().for_each(|lambda| self.body(&lambda.body, depth + 1)),
        }
    }

    fn lambda(&mut self, arrays: &[VarId], lambda: &Lambda, depth: usize) {
        for (array, param) in arrays.iter().zip(&lambda.params) {
            let array = self.same.of((*array).into()).as_var().unwrap_or(*array);
            let element = *self.elements.entry((depth, array)).or_insert(param.var);
            if element != param.var {
                self.same.insert(param.var, element.into());
            }
        }
        self.body(&lambda.body, depth + 1);
    }

    fn body(&mut self, body: &Body, depth: usize) {
        body.stms.iter().for_each(|stm| self.stm(stm, depth));
    }

    fn stm(&mut self, stm: &Stm, depth: usize) {
        if !lambdas(&stm.exp).is_empty() {
            return self.operation(&stm.exp, depth);
        }
        let mut stm = stm.clone();
        operands_mut(&mut stm.exp, &mut |atom| self.same.apply(atom));
        self.opposites.take_first(&mut stm, &self.results);
        self.opposites.note(&stm, &self.results);
        let Some(key) = key(&stm) else {
            self.statements += 1;
            return;
        };
        match self.results.get(&key) {
            Some(earlier) => {
                let is_operation = matches!(stm.exp, Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..));
                self.operations_twice += usize::from(is_operation);
                self.has_function_twice |= is_elementary_function(&stm.exp);
                for (param, var) in stm.pat.iter().zip(earlier.clone()) {
                    self.same.insert(param.var, var.into());
                }
            }
            None => {
                self.statements += 1;
                self.results.insert(key, stm.pat.iter().map(|p| p.var).collect());
            }
        }
    }
}
