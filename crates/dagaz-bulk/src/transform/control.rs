//! Branches, loops, calls and accumulators of Core, outside of maps or as if there were none around.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_core::exp::{self, AccInput, Exp};
use dagaz_core::rename;
use dagaz_core::types::{Atom, FunId, Param, VarId};

use crate::term::{Body, Combine, Lambda, LoopForm, Op};

use super::{Acc, Bound, Transform, Transformed, unsupported};

/// How deep calls are replaced by bodies inside of each other.
const MOST_INLINED: usize = 200;

impl Transform<'_> {
    pub(super) fn if_exp(
        &mut self,
        pat: &[Param],
        cond: Atom,
        then: &exp::Body,
        otherwise: &exp::Body,
    ) -> Transformed<()> {
        let cond = self.atom(cond);
        let yes = self.scope(then)?;
        let accs = self.accs_of(&then.result);
        let no = self.scope(otherwise)?;
        self.bind_op(pat, &accs, Op::If { cond, then: yes, otherwise: no });
        Ok(())
    }

    pub(super) fn loop_exp(&mut self, stm: &exp::Stm) -> Transformed<()> {
        let Exp::Loop { params, form, body, hints } = &stm.exp else { return Ok(()) };
        let inits: Vec<Atom> = params.iter().map(|(_, init)| *init).collect();
        let accs = self.accs_of(&inits);
        let mut flat = Vec::new();
        for ((param, init), acc) in params.iter().zip(&accs) {
            match acc {
                None => {
                    let init = self.atom(*init);
                    flat.push((self.param(param), init));
                }
                Some(acc) => {
                    let fresh: Vec<Param> = acc.arrays.iter().map(|var| self.like(*var)).collect();
                    let arrays = fresh.iter().map(|p| p.var).collect();
                    flat.extend(fresh.into_iter().zip(acc.arrays.iter().map(|var| Atom::Var(*var))));
                    self.bind_acc(param.var, Acc { arrays, ..acc.clone() });
                }
            }
        }
        let form = match form {
            exp::LoopForm::For { var, ty, bound } => {
                self.b.note(&Param::new(*var, (*ty).into()));
                LoopForm::For { var: *var, ty: *ty, bound: self.atom(*bound) }
            }
            exp::LoopForm::While { cond } => LoopForm::While { cond: self.scope(cond)? },
        };
        let body = self.scope(body)?;
        self.b.loc = stm.loc;
        self.bind_op(&stm.pat, &accs, Op::Loop { params: flat, form, body, hints: *hints });
        Ok(())
    }

    /// Inside of functions of Core, and where accumulators are passed, the body takes the place of the call.
    pub(super) fn call(&mut self, stm: &exp::Stm, fun: FunId, args: &[Atom]) -> Transformed<()> {
        let Some(callee) = self.core.fun(fun) else { return unsupported("a call of no function", stm.loc) };
        let has_accs = self.accs_of(args).iter().any(Option::is_some);
        if self.depth == 0 && !has_accs {
            let op = Op::Call { fun, args: self.atoms(args) };
            self.bind_op(&stm.pat, &vec![None; stm.pat.len()], op);
            return Ok(());
        }
        if self.recursive.contains(&fun) || self.inlining.len() >= MOST_INLINED {
            let reason =
                format!("the function '{}', which may call itself, is called inside of a map", callee.name);
            return unsupported(reason, stm.loc);
        }
        let names: HashMap<VarId, Atom> =
            callee.params.iter().map(|p| p.var).zip(args.iter().copied()).collect();
        let body = rename::Copy::at_call(&mut self.b.vars, &mut self.locs, names, stm.loc).body(&callee.body);
        self.inlining.push(fun);
        for inner in &body.stms {
            self.stm(inner)?;
        }
        self.inlining.pop();
        let accs = self.accs_of(&body.result);
        let values: Vec<Bound> = body
            .result
            .iter()
            .zip(accs)
            .map(|(atom, acc)| acc.map_or_else(|| Bound::Value(self.atom(*atom)), Bound::Acc))
            .collect();
        self.bind(&stm.pat, &values);
        Ok(())
    }

    pub(super) fn with_acc(
        &mut self,
        pat: &[Param],
        inputs: &[AccInput],
        lambda: &exp::Lambda,
    ) -> Transformed<()> {
        let first = self.next_acc;
        for (input, param) in inputs.iter().zip(&lambda.params) {
            let combine = match &input.op {
                None => Combine::Replace,
                Some((op, neutral)) => self.combine(op, neutral)?,
            };
            // A shared array has a name of its own, as others may be the same before anything was added.
            let mut arrays = Vec::new();
            for var in &input.arrays {
                let var = self.array(*var);
                let own = self.like(var);
                arrays.push(own.var);
                self.b.push(vec![own], Op::Atom(var.into()));
            }
            let id = self.next_acc;
            self.next_acc += 1;
            self.bind_acc(param.var, Acc { id, arrays, combine: Rc::new(combine) });
        }
        self.body(&lambda.body)?;
        self.shared.retain(|_, (id, _)| *id < first);
        // In front are accumulators, whose arrays are the results of the expression.
        let (own, rest) = lambda.body.result.split_at(inputs.len().min(lambda.body.result.len()));
        let mut values: Vec<Bound> = self.flat(own).into_iter().map(Bound::Value).collect();
        let accs = self.accs_of(rest);
        let others = rest.iter().zip(accs);
        values
            .extend(others.map(|(atom, acc)| acc.map_or_else(|| Bound::Value(self.atom(*atom)), Bound::Acc)));
        self.bind(pat, &values);
        Ok(())
    }

    /// The operator of a histogram or accumulator.
    pub(super) fn combine(&mut self, op: &exp::Lambda, neutral: &[Atom]) -> Transformed<Combine> {
        let op = self.lambda(op)?;
        let neutral = self.atoms(neutral);
        Ok(match crate::build::as_binop(&op) {
            Some(binop) => Combine::By(binop),
            None => Combine::Op(op, neutral),
        })
    }

    /// An operator, which runs on rows as it does in Core.
    pub(super) fn lambda(&mut self, lambda: &exp::Lambda) -> Transformed<Lambda> {
        let params = lambda.params.iter().map(|p| self.param(p)).collect();
        self.depth += 1;
        let body = self.scope(&lambda.body);
        self.depth -= 1;
        let ret = lambda.ret.iter().map(|ty| self.ty(ty)).collect();
        Ok(Lambda { params, body: body?, ret })
    }

    pub(super) fn update_acc(&mut self, pat: &[Param], acc: VarId, indices: &[Atom], values: &[Atom]) {
        let Some(acc) = self.accs.get(&acc).cloned() else { return };
        let (indices, values) = (self.atoms(indices), self.atoms(values));
        // Every place where an operator is has variables of its own.
        let combine = match acc.combine.as_ref() {
            Combine::Op(op, neutral) => {
                let names = HashMap::new();
                let op = crate::visit::Copy { vars: &mut self.b.vars, names }.lambda(op);
                Combine::Op(op, neutral.clone())
            }
            other => other.clone(),
        };
        if let Combine::Op(op, _) = &combine {
            self.note_all(op);
        }
        let op = Op::Scatter { dests: acc.arrays.clone(), indices, values, combine };
        self.bind_op(pat, &[Some(acc)], op);
    }

    /// Notes the types of what a copied function binds.
    pub(super) fn note_all(&mut self, lambda: &Lambda) {
        lambda.params.iter().for_each(|p| self.b.note(p));
        self.note_body(&lambda.body);
    }

    fn note_body(&mut self, body: &Body) {
        for stm in &body.stms {
            stm.pat.iter().for_each(|p| self.b.note(p));
            if let Op::Loop { params, .. } = &stm.op {
                params.iter().for_each(|(p, _)| self.b.note(p));
            }
            if let Some(lambda) = crate::visit::lambda_of(&stm.op) {
                lambda.params.iter().for_each(|p| self.b.note(p));
            }
            crate::visit::bodies(&stm.op).into_iter().for_each(|inner| self.note_body(inner));
        }
    }
}
