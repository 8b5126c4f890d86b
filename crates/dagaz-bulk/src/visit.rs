//! Walking over operations: their operands, the bodies inside them, free variables, and copies with other variables.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{MsgPart, Vars};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Body, Combine, Lambda, LoopForm, Op, Span, Stm};

/// Calls `f` with every atom that an operation uses itself, outside of the bodies inside of it.
pub fn operands_mut(op: &mut Op, f: &mut impl FnMut(&mut Atom)) {
    match op {
        Op::Atom(a) | Op::UnOp(_, _, a) | Op::Convert(_, _, a) => f(a),
        Op::BinOp(_, _, a, b) | Op::CmpOp(_, _, a, b) => [a, b].into_iter().for_each(f),
        Op::TernOp(_, _, operands) => operands.iter_mut().for_each(f),
        Op::Select { cond, yes, no } => [cond, yes, no].into_iter().for_each(f),
        Op::If { cond, .. } => f(cond),
        Op::Loop { params, form, .. } => {
            params.iter_mut().for_each(|(_, init)| f(init));
            if let LoopForm::For { bound, .. } = form {
                f(bound);
            }
        }
        Op::Call { args, .. } => args.iter_mut().for_each(f),
        Op::Assert { cond, message } => {
            f(cond);
            for part in message {
                if let MsgPart::Value(value) = part {
                    f(value);
                }
            }
        }
        Op::Iota { .. } | Op::Broadcast { .. } | Op::Transpose { .. } | Op::Reshape { .. } => {
            array_operands_mut(op, f)
        }
        Op::Slice { .. } | Op::Update { .. } | Op::Concat { .. } | Op::Stack { .. } => {
            array_operands_mut(op, f)
        }
        Op::Gather { .. } | Op::Scatter { .. } | Op::Fold { .. } | Op::Reduce { .. } => {
            array_operands_mut(op, f)
        }
        Op::Scan { .. } | Op::Dot { .. } => array_operands_mut(op, f),
    }
}

/// The operands of operations that move elements or combine them.
fn array_operands_mut(op: &mut Op, f: &mut impl FnMut(&mut Atom)) {
    match op {
        Op::Iota { n, .. } => f(n),
        Op::Broadcast { dims, value, .. } => {
            dims.iter_mut().for_each(&mut *f);
            f(value);
        }
        Op::Transpose { array, .. } | Op::Fold { array, .. } => var(array, f),
        Op::Reshape { dims, array } => {
            dims.iter_mut().for_each(&mut *f);
            var(array, f);
        }
        Op::Slice { array, dims } => {
            var(array, f);
            spans(dims, f);
        }
        Op::Update { array, dims, value } => {
            var(array, f);
            spans(dims, f);
            var(value, f);
        }
        Op::Concat { arrays, .. } => arrays.iter_mut().for_each(|a| var(a, f)),
        Op::Stack { row, elems } => {
            dagaz_core::visit::type_mut(row, f);
            elems.iter_mut().for_each(f);
        }
        Op::Gather { array, indices } => {
            var(array, f);
            indices.iter_mut().for_each(f);
        }
        Op::Scatter { dests, indices, values, combine } => {
            dests.iter_mut().for_each(|a| var(a, f));
            indices.iter_mut().chain(values).for_each(&mut *f);
            if let Combine::Op(_, neutral) = combine {
                neutral.iter_mut().for_each(f);
            }
        }
        Op::Reduce { arrays, neutral, .. } | Op::Scan { arrays, neutral, .. } => {
            arrays.iter_mut().for_each(|a| var(a, f));
            neutral.iter_mut().for_each(f);
        }
        Op::Dot { sizes, left, right, .. } => {
            sizes.iter_mut().for_each(&mut *f);
            var(&mut left.array, f);
            var(&mut right.array, f);
        }
        // These are the caller's.
        Op::Atom(_) | Op::UnOp(..) | Op::BinOp(..) | Op::TernOp(..) | Op::CmpOp(..) | Op::Convert(..) => {}
        Op::Select { .. } | Op::If { .. } | Op::Loop { .. } | Op::Call { .. } | Op::Assert { .. } => {}
    }
}

/// What replaces an array is a variable, too; if it is not, the operand stays as it is.
fn var(array: &mut VarId, f: &mut impl FnMut(&mut Atom)) {
    let mut atom = Atom::Var(*array);
    f(&mut atom);
    if let Atom::Var(new) = atom {
        *array = new;
    }
}

fn spans(dims: &mut [Span], f: &mut impl FnMut(&mut Atom)) {
    dims.iter_mut()
        .for_each(|span| [&mut span.start, &mut span.len, &mut span.stride].into_iter().for_each(&mut *f));
}

/// The operands of an operation, outside of the bodies inside of it.
pub fn operands(op: &Op) -> Vec<Atom> {
    let mut found = Vec::new();
    let mut collect = |op: &mut Op| {
        operands_mut(op, &mut |atom| found.push(*atom));
    };
    match op {
        // Bodies can be large, and are not looked at.
        Op::If { cond, .. } => found.push(*cond),
        Op::Loop { params, form, .. } => {
            found.extend(params.iter().map(|(_, init)| *init));
            if let LoopForm::For { bound, .. } = form {
                found.push(*bound);
            }
        }
        _ => collect(&mut op.clone()),
    }
    found
}

/// The operator of an operation that has one. All other bodies are those of branches and loops.
pub fn lambda_of(op: &Op) -> Option<&Lambda> {
    match op {
        Op::Reduce { op, .. } | Op::Scan { op, .. } => Some(op),
        Op::Scatter { combine, .. } => match combine {
            Combine::Op(op, _) => Some(op),
            Combine::Replace | Combine::By(_) => None,
        },
        Op::Atom(_) | Op::UnOp(..) | Op::BinOp(..) | Op::TernOp(..) | Op::CmpOp(..) | Op::Convert(..) => None,
        Op::Select { .. } | Op::Iota { .. } | Op::Broadcast { .. } | Op::Transpose { .. } => None,
        Op::Reshape { .. } | Op::Slice { .. } | Op::Update { .. } | Op::Concat { .. } => None,
        Op::Stack { .. } | Op::Gather { .. } | Op::Fold { .. } | Op::Dot { .. } => None,
        Op::If { .. } | Op::Loop { .. } | Op::Call { .. } | Op::Assert { .. } => None,
    }
}

pub fn lambda_mut(op: &mut Op) -> Option<&mut Lambda> {
    lambda_of(op)?;
    match op {
        Op::Reduce { op, .. } | Op::Scan { op, .. } | Op::Scatter { combine: Combine::Op(op, _), .. } => {
            Some(op)
        }
        _ => None,
    }
}

/// The bodies inside of an operation.
pub fn bodies(op: &Op) -> Vec<&Body> {
    match op {
        Op::If { then, otherwise, .. } => vec![then, otherwise],
        Op::Loop { form: LoopForm::While { cond }, body, .. } => vec![cond, body],
        Op::Loop { body, .. } => vec![body],
        _ => lambda_of(op).map(|lambda| &lambda.body).into_iter().collect(),
    }
}

pub fn bodies_mut(op: &mut Op) -> Vec<&mut Body> {
    match op {
        Op::If { then, otherwise, .. } => vec![then, otherwise],
        Op::Loop { form: LoopForm::While { cond }, body, .. } => vec![cond, body],
        Op::Loop { body, .. } => vec![body],
        _ => lambda_mut(op).map(|lambda| &mut lambda.body).into_iter().collect(),
    }
}

/// Whether some statement, also inside of others, satisfies a predicate.
pub fn any_stm(body: &Body, holds: &impl Fn(&Stm) -> bool) -> bool {
    body.stms.iter().any(|stm| holds(stm) || bodies(&stm.op).into_iter().any(|inner| any_stm(inner, holds)))
}

/// Whether a body can stop the program.
pub fn can_stop(body: &Body) -> bool {
    any_stm(body, &|stm| matches!(stm.op, Op::Assert { .. } | Op::Call { .. }))
}

/// The variables that an operation uses, also in the bodies inside of it, and does not bind.
pub fn free_vars(op: &Op) -> HashSet<VarId> {
    let mut free: HashSet<VarId> = operands(op).into_iter().filter_map(Atom::as_var).collect();
    let mut bound = HashSet::new();
    match op {
        Op::Loop { params, form, .. } => {
            params.iter().for_each(|(p, _)| bind(p, &mut bound, &mut free));
            if let LoopForm::For { var, .. } = form {
                bound.insert(*var);
            }
        }
        _ => {
            if let Some(lambda) = lambda_of(op) {
                lambda.params.iter().for_each(|p| bind(p, &mut bound, &mut free));
                free.extend(lambda.ret.iter().flat_map(Type::all_dims).filter_map(Atom::as_var));
            }
        }
    }
    for body in bodies(op) {
        free.extend(free_vars_body(body));
    }
    free.retain(|var| !bound.contains(var));
    free
}

fn bind(param: &Param, bound: &mut HashSet<VarId>, free: &mut HashSet<VarId>) {
    free.extend(param.ty.all_dims().into_iter().filter_map(Atom::as_var));
    bound.insert(param.var);
}

pub fn free_vars_body(body: &Body) -> HashSet<VarId> {
    let mut free: HashSet<VarId> = body.result.iter().filter_map(|atom| atom.as_var()).collect();
    let mut bound = HashSet::new();
    for stm in &body.stms {
        free.extend(free_vars(&stm.op));
        stm.pat.iter().for_each(|p| bind(p, &mut bound, &mut free));
    }
    free.retain(|var| !bound.contains(var));
    free
}

/// Copies with new variables, in which others have values.
pub struct Copy<'v> {
    pub vars: &'v mut Vars,
    pub names: HashMap<VarId, Atom>,
}

impl Copy<'_> {
    fn atom(&self, atom: &mut Atom) {
        if let Atom::Var(var) = atom
            && let Some(new) = self.names.get(var)
        {
            *atom = *new;
        }
    }

    fn var(&mut self, var: VarId) -> VarId {
        let hint = self.vars.hint(var).to_owned();
        let new = self.vars.fresh(&hint);
        self.names.insert(var, new.into());
        new
    }

    fn param(&mut self, param: &Param) -> Param {
        let ty = param.ty.map_dims(&mut |mut dim| {
            self.atom(&mut dim);
            dim
        });
        Param::new(self.var(param.var), ty)
    }

    pub fn lambda(&mut self, lambda: &Lambda) -> Lambda {
        let ret = lambda.ret.iter().map(|ty| {
            ty.map_dims(&mut |mut dim| {
                self.atom(&mut dim);
                dim
            })
        });
        let ret = ret.collect();
        let params = lambda.params.iter().map(|p| self.param(p)).collect();
        Lambda { params, body: self.body(&lambda.body), ret }
    }

    pub fn body(&mut self, body: &Body) -> Body {
        let stms = body.stms.iter().map(|stm| self.stm(stm)).collect();
        let mut result = body.result.clone();
        result.iter_mut().for_each(|atom| self.atom(atom));
        Body { stms, result }
    }

    pub fn stm(&mut self, stm: &Stm) -> Stm {
        let mut op = stm.op.clone();
        operands_mut(&mut op, &mut |atom| self.atom(atom));
        match &mut op {
            Op::Loop { params, form, body, .. } => {
                params.iter_mut().for_each(|(p, _)| *p = self.param(p));
                match form {
                    LoopForm::For { var, .. } => *var = self.var(*var),
                    LoopForm::While { cond } => *cond = self.body(cond),
                }
                *body = self.body(body);
            }
            op => match lambda_mut(op) {
                Some(lambda) => *lambda = self.lambda(lambda),
                None => bodies_mut(op).into_iter().for_each(|body| *body = self.body(body)),
            },
        }
        Stm { pat: stm.pat.iter().map(|p| self.param(p)).collect(), op, loc: stm.loc }
    }
}
