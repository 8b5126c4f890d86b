//! Which variables depend on what is differentiated: only those have tangents and adjoints.
//!
//! An index, a size, a condition, a comparison or a conversion to an integer passes nothing on. A loop is looked at until nothing changes.

use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::prim::{PrimType, UnOp};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::free_vars;

use crate::context::Ad;

impl Ad<'_> {
    pub fn is_active(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(var) if self.forward.active.contains(&var))
    }

    pub fn is_active_var(&self, var: VarId) -> bool {
        self.forward.active.contains(&var)
    }

    fn mark(&mut self, param: &Param, active: bool) {
        if active {
            self.forward.active.insert(param.var);
        }
    }

    fn any_var(&self, vars: &[VarId]) -> bool {
        vars.iter().any(|v| self.is_active_var(*v))
    }

    /// Marks what is active in a body, and says which results are.
    pub fn analyse(&mut self, body: &Body) -> Vec<bool> {
        body.stms.iter().for_each(|s| self.analyse_stm(s));
        body.result.iter().map(|a| self.is_active(*a)).collect()
    }

    fn analyse_stm(&mut self, stm: &Stm) {
        let results = self.analyse_exp(stm);
        for (param, active) in stm.pat.iter().zip(results) {
            self.mark(param, active);
        }
    }

    fn analyse_lambda(&mut self, lambda: &Lambda, args: &[bool]) -> Vec<bool> {
        for (param, active) in lambda.params.iter().zip(args) {
            self.mark(param, *active);
        }
        self.analyse(&lambda.body)
    }

    /// The components of an operator that become active when those given are, looked at until nothing changes.
    fn analyse_operator(&mut self, op: &Lambda, mut active: Vec<bool>) -> Vec<bool> {
        loop {
            let results = self.analyse_lambda(op, &[active.clone(), active.clone()].concat());
            if results.iter().zip(&active).all(|(result, known)| *known || !*result) {
                return active;
            }
            active.iter_mut().zip(results).for_each(|(known, result)| *known |= result);
        }
    }

    /// Rounding is piecewise constant. But of a function that has only integers as results, the derivative is asked for in
    /// integers, and so a conversion converts tangents as it converts the value.
    fn conversion_passes_on(&self, from: PrimType, to: PrimType) -> bool {
        let rounds = from.is_float() && to.is_int();
        from != PrimType::Bool && to != PrimType::Bool && (!rounds || self.forward.integer_results)
    }

    fn analyse_exp(&mut self, stm: &Stm) -> Vec<bool> {
        let all = |active: bool| vec![active; stm.pat.len()];
        match &stm.exp {
            Exp::CmpOp(..) | Exp::Scratch { .. } | Exp::Assert { .. } => all(false),
            Exp::UnOp(op, _, a) => all(passes_on(*op) && self.is_active(*a)),
            Exp::Convert(from, to, a) => all(self.conversion_passes_on(*from, *to) && self.is_active(*a)),
            Exp::Atom(a) | Exp::Replicate { value: a, .. } => all(self.is_active(*a)),
            Exp::BinOp(_, _, a, b) => all(self.is_active(*a) || self.is_active(*b)),
            Exp::Iota { ty, n, start, step } => {
                let counted = *ty == PrimType::I64 && self.is_active(*n);
                all(counted || self.is_active(*start) || self.is_active(*step))
            }
            Exp::TernOp(_, _, operands) => all(operands.iter().any(|a| self.is_active(*a))),
            Exp::ArrayLit { elems, .. } => all(elems.iter().any(|a| self.is_active(*a))),
            Exp::Index { array, .. } | Exp::Slice { array, .. } | Exp::Copy(array) => {
                all(self.is_active_var(*array))
            }
            Exp::Rearrange { array, .. } | Exp::Reshape { array, .. } => all(self.is_active_var(*array)),
            Exp::Update { array, value, .. } => all(self.is_active_var(*array) || self.is_active(*value)),
            Exp::Concat { arrays } => all(self.any_var(arrays)),
            Exp::Trace { values, .. } => values.iter().map(|a| self.is_active(*a)).collect(),
            Exp::UpdateAcc { acc, .. } => all(self.is_active_var(*acc)),
            Exp::WithVjp { args, .. } => all(args.iter().any(|a| self.is_active(*a))),
            Exp::If { then, otherwise, .. } => {
                let (then, otherwise) = (self.analyse(then), self.analyse(otherwise));
                then.into_iter().zip(otherwise).map(|(a, b)| a || b).collect()
            }
            Exp::Loop { params, body, .. } => {
                params.iter().for_each(|(p, init)| {
                    let active = self.is_active(*init);
                    self.mark(p, active);
                });
                loop {
                    let results = self.analyse(body);
                    let news =
                        params.iter().zip(&results).filter(|((p, _), r)| **r && !self.is_active_var(p.var));
                    let news: Vec<VarId> = news.map(|((p, _), _)| p.var).collect();
                    if news.is_empty() {
                        break params.iter().map(|(p, _)| self.is_active_var(p.var)).collect();
                    }
                    self.forward.active.extend(news);
                }
            }
            Exp::Map { arrays, lambda, .. } => {
                let args: Vec<bool> = arrays.iter().map(|a| self.is_active_var(*a)).collect();
                self.analyse_lambda(lambda, &args)
            }
            Exp::Reduce { arrays, op, neutral, .. } | Exp::Scan { arrays, op, neutral, .. } => {
                let pairs = arrays.iter().zip(neutral);
                let active = pairs.map(|(a, ne)| self.is_active_var(*a) || self.is_active(*ne)).collect();
                self.analyse_operator(op, active)
            }
            Exp::Hist { arrays, dests, shape, op, .. } => {
                let pairs = arrays[shape.len()..].iter().zip(dests);
                let active = pairs.map(|(v, d)| self.is_active_var(*v) || self.is_active_var(*d)).collect();
                self.analyse_operator(op, active)
            }
            Exp::Scatter { arrays, dests, shape, .. } => (arrays[shape.len()..].iter().zip(dests))
                .map(|(value, dest)| self.is_active_var(*value) || self.is_active_var(*dest))
                .collect(),
            Exp::WithAcc { inputs, lambda } => {
                let active = free_vars(&stm.exp).iter().any(|v| self.is_active_var(*v));
                for (op, _) in inputs.iter().filter_map(|i| i.op.as_ref()) {
                    self.analyse_operator(op, vec![active; op.ret.len()]);
                }
                let args = vec![active; lambda.params.len()];
                self.analyse_lambda(lambda, &args);
                all(active)
            }
            Exp::Call { args, .. } => all(args.iter().any(|a| self.is_active(*a))),
            // Expanded before.
            Exp::Jvp { .. } | Exp::Vjp { .. } => all(false),
            // Refused before.
            Exp::Contract { .. } => all(false),
            Exp::Transpose { .. } => all(false),
            // By definition.
            Exp::Detach(_) => all(false),
        }
    }
}

/// Operations that give truth values or counts have the derivative zero everywhere.
fn passes_on(op: UnOp) -> bool {
    !matches!(op, UnOp::IsNan | UnOp::IsInf | UnOp::Popc | UnOp::Clz | UnOp::Ctz | UnOp::Signum)
}
