//! About how many operations one iteration takes, computed from the sizes that are known outside of it.
//!
//! What happens at the border of a loop alone, such as a sum in a branch that only the first iteration takes, does not
//! count: it would make every iteration seem to be worth a thread.

use std::collections::HashSet;

use dagaz_core::cost::{self, unop_cost};
use dagaz_core::exp::{Body, Exp, Lambda, LoopForm};
use dagaz_core::machine;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit;

use super::Lower;
use super::split_iteration_range::interior;
use crate::imp::{Expr, Operand};

/// A constant, and terms that sizes are factors of.
#[derive(Default)]
struct Cost {
    constant: f64,
    terms: Vec<Expr>,
}

impl Lower<'_> {
    /// As [`Lower::cost`], for an iteration of a map that is not at its border.
    pub(super) fn cost_of_map(&self, width: Atom, arrays: &[VarId], lambda: &Lambda) -> Expr {
        match self.away_from_border(width, arrays, lambda) {
            Some(middle) => self.cost(&[&middle]),
            None => self.cost(&[lambda]),
        }
    }

    /// The function of a map in the middle of its iterations, if there is less to do there.
    fn away_from_border(&self, width: Atom, arrays: &[VarId], lambda: &Lambda) -> Option<Lambda> {
        if !has_loops_in_branches(&lambda.body) {
            return None;
        }
        let counters = self.counters(arrays, &lambda.params);
        interior(&self.scope.symbols, width, lambda, &counters).map(|middle| middle.lambda)
    }

    pub(super) fn cost(&self, lambdas: &[&Lambda]) -> Expr {
        let mut inside = HashSet::new();
        let mut total = Cost::default();
        for lambda in lambdas {
            let cost = self.lambda_cost(lambda, &mut inside);
            total.constant += cost.constant;
            total.terms.extend(cost.terms);
        }
        total.sum()
    }

    /// As [`Lower::cost`], of a function without loops.
    pub(super) fn cost_of_scalars(&self, lambda: &Lambda) -> f64 {
        self.lambda_cost(lambda, &mut HashSet::new()).constant
    }

    fn lambda_cost(&self, lambda: &Lambda, inside: &mut HashSet<VarId>) -> Cost {
        inside.extend(lambda.params.iter().map(|p| p.var));
        let mut cost = self.body_cost(&lambda.body, inside);
        cost.constant += lambda.params.len() as f64;
        cost
    }

    fn body_cost(&self, body: &Body, inside: &mut HashSet<VarId>) -> Cost {
        let mut total = Cost::default();
        for stm in &body.stms {
            inside.extend(stm.pat.iter().map(|p| p.var));
            let cost = self.exp_cost(&stm.exp, inside);
            total.constant += cost.constant;
            total.terms.extend(cost.terms);
        }
        total
    }

    fn exp_cost(&self, exp: &Exp, inside: &mut HashSet<VarId>) -> Cost {
        if let Exp::Map { width, arrays, lambda } = exp
            && let Some(middle) = self.away_from_border(*width, arrays, lambda)
        {
            let arrays = arrays.clone();
            return self.exp_cost(&Exp::Map { width: *width, arrays, lambda: middle }, inside);
        }
        let mut parts = Cost { constant: 1.0, terms: Vec::new() };
        for lambda in visit::lambdas(exp) {
            inside.extend(lambda.params.iter().map(|p| p.var));
            parts.constant += lambda.params.len() as f64;
        }
        if let Exp::Loop { params, form, .. } = exp {
            inside.extend(params.iter().map(|(param, _)| param.var));
            if let LoopForm::For { var, .. } = form {
                inside.insert(*var);
            }
        }
        let mut costs: Vec<Cost> =
            visit::bodies(exp).into_iter().map(|body| self.body_cost(body, inside)).collect();
        if let Exp::If { .. } = exp {
            // One of them is taken: the longer one, as far as that can be told.
            costs.sort_by(|a, b| a.terms.len().cmp(&b.terms.len()).then(a.constant.total_cmp(&b.constant)));
            costs.drain(..costs.len() - 1);
        }
        for cost in costs {
            parts.constant += cost.constant;
            parts.terms.extend(cost.terms);
        }
        match exp {
            Exp::Map { width, .. }
            | Exp::Reduce { width, .. }
            | Exp::Scan { width, .. }
            | Exp::Hist { width, .. }
            | Exp::Scatter { width, .. } => self.times(&[*width], parts, inside),
            Exp::Loop { form: LoopForm::For { bound, .. }, .. } => self.times(&[*bound], parts, inside),
            Exp::Loop { form: LoopForm::While { .. }, .. } => {
                Cost { constant: machine::UNKNOWN_TIMES * parts.constant, terms: parts.terms }
            }
            Exp::Replicate { dims: sizes, .. } | Exp::Contract { sizes, .. } => {
                self.times(sizes, parts, inside)
            }
            Exp::UnOp(op, ..) if unop_cost(*op) >= cost::Cost::Long => {
                Cost { constant: machine::FUNCTION_COST, ..parts }
            }
            Exp::Call { .. } => Cost { constant: machine::FUNCTION_COST * machine::UNKNOWN_TIMES, ..parts },
            _ => parts,
        }
    }

    fn times(&self, sizes: &[Atom], parts: Cost, inside: &HashSet<VarId>) -> Cost {
        let mut constant = 1.0;
        let mut factors = Vec::new();
        for size in sizes {
            match size {
                Atom::Const(prim) => constant *= prim.as_i64().unwrap_or(1).max(0) as f64,
                Atom::Var(var) if inside.contains(var) => constant *= machine::UNKNOWN_TIMES,
                Atom::Var(_) => factors.push(self.atom(*size).cast(PrimType::F64)),
            }
        }
        let parts = Cost { constant: constant * parts.constant, terms: scaled(parts.terms, constant) };
        match factors.into_iter().reduce(|product, factor| product.times(factor)) {
            Some(factor) => Cost { constant: 1.0, terms: vec![factor.times(parts.sum())] },
            None => parts,
        }
    }
}

/// Whether there are branches whose work is more than some scalar operations.
fn has_loops_in_branches(body: &Body) -> bool {
    let has_loops = |exp: &Exp| !matches!(exp, Exp::If { .. }) && !visit::bodies(exp).is_empty();
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::If { then, otherwise, .. } => [then, otherwise]
            .into_iter()
            .any(|branch| branch.stms.iter().any(|stm| has_loops(&stm.exp)) || has_loops_in_branches(branch)),
        exp => visit::bodies(exp).into_iter().any(has_loops_in_branches),
    })
}

fn scaled(terms: Vec<Expr>, factor: f64) -> Vec<Expr> {
    if factor == 1.0 { terms } else { terms.into_iter().map(|term| factor.times(term)).collect() }
}

impl Cost {
    fn sum(self) -> Expr {
        self.terms.into_iter().fold(self.constant.expr(), |sum, term| sum.plus(term))
    }
}
