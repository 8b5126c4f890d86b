//! Walking over expressions: the operands they use directly, and the bodies inside them.

use std::collections::HashSet;

use crate::exp::{AccInput, Body, DimSlice, Exp, Fun, Lambda, LoopForm, MsgPart, Stm};
use crate::types::{Atom, FunId, Param, Type, VarId};

/// Calls `f` with every atom that the expression uses itself, outside of nested bodies; arrays come as
/// variables. Sizes in the types of lambdas and loop parameters are not operands.
pub fn direct_operands(exp: &Exp, f: &mut impl FnMut(Atom)) {
    match exp {
        Exp::Atom(a) | Exp::UnOp(_, _, a) | Exp::Convert(_, _, a) => f(*a),
        Exp::BinOp(_, _, a, b) | Exp::CmpOp(_, _, a, b) => [*a, *b].into_iter().for_each(f),
        Exp::TernOp(_, _, operands) => operands.iter().copied().for_each(f),
        Exp::Index { array, indices, .. } => {
            f((*array).into());
            indices.iter().copied().for_each(f);
        }
        Exp::Slice { array, dims } => {
            f((*array).into());
            dims.iter().for_each(|d| dim_operands(d, f));
        }
        Exp::Update { array, dims, value, .. } => {
            f((*array).into());
            dims.iter().for_each(|d| dim_operands(d, f));
            f(*value);
        }
        Exp::Copy(array) | Exp::Rearrange { array, .. } => f((*array).into()),
        Exp::Iota { n, start, step, .. } => [*n, *start, *step].into_iter().for_each(f),
        Exp::Replicate { dims, value } => {
            dims.iter().copied().for_each(&mut *f);
            f(*value);
        }
        Exp::Reshape { dims, array } => {
            dims.iter().copied().for_each(&mut *f);
            f((*array).into());
        }
        Exp::Concat { arrays } => arrays.iter().for_each(|a| f((*a).into())),
        Exp::Contract { sizes, left, right, plus, .. } => {
            sizes.iter().copied().for_each(&mut *f);
            [left, right].into_iter().for_each(|operand| f(operand.array.into()));
            plus.iter().for_each(|array| f((*array).into()));
        }
        Exp::Scratch { dims, .. } => dims.iter().copied().for_each(f),
        Exp::ArrayLit { elems, .. } => elems.iter().copied().for_each(f),
        Exp::If { cond, .. } => f(*cond),
        Exp::Loop { params, form, .. } => {
            params.iter().for_each(|(_, init)| f(*init));
            if let LoopForm::For { bound, .. } = form {
                f(*bound);
            }
        }
        Exp::Call { args, .. } => args.iter().copied().for_each(f),
        Exp::Assert { cond, message } => {
            f(*cond);
            for part in message {
                if let MsgPart::Value(value) = part {
                    f(*value);
                }
            }
        }
        Exp::Trace { values, .. } => values.iter().copied().for_each(f),
        Exp::Map { width, arrays, .. } => {
            f(*width);
            arrays.iter().for_each(|a| f((*a).into()));
        }
        Exp::Reduce { width, arrays, neutral, .. } | Exp::Scan { width, arrays, neutral, .. } => {
            f(*width);
            arrays.iter().for_each(|a| f((*a).into()));
            neutral.iter().copied().for_each(f);
        }
        Exp::Hist { width, arrays, dests, shape, neutral, .. } => {
            f(*width);
            arrays.iter().chain(dests).for_each(|a| f((*a).into()));
            shape.iter().chain(neutral).copied().for_each(f);
        }
        Exp::Scatter { width, arrays, dests, shape, .. } => {
            f(*width);
            arrays.iter().chain(dests).for_each(|a| f((*a).into()));
            shape.iter().copied().for_each(f);
        }
        Exp::WithAcc { inputs, .. } => {
            inputs.iter().for_each(|i| input_operands(i, f));
        }
        Exp::UpdateAcc { acc, indices, values } => {
            f((*acc).into());
            indices.iter().chain(values).copied().for_each(f);
        }
        Exp::Jvp { args, tangents: seeds, .. } | Exp::Vjp { args, cotangents: seeds, .. } => {
            args.iter().chain(seeds).copied().for_each(f);
        }
        Exp::WithVjp { args, .. } => args.iter().copied().for_each(f),
        Exp::Transpose { cotangents, .. } => cotangents.iter().copied().for_each(f),
        Exp::Detach(a) => f(*a),
    }
}

fn input_operands(input: &AccInput, f: &mut impl FnMut(Atom)) {
    input.shape.iter().copied().for_each(&mut *f);
    input.arrays.iter().for_each(|a| f((*a).into()));
    if let Some((_, neutral)) = &input.op {
        neutral.iter().copied().for_each(f);
    }
}

fn dim_operands(dim: &DimSlice, f: &mut impl FnMut(Atom)) {
    match dim {
        DimSlice::Fix(i) => f(*i),
        DimSlice::Range { start, len, stride } => [*start, *len, *stride].into_iter().for_each(f),
    }
}

/// The lambdas directly inside an expression.
pub fn lambdas(exp: &Exp) -> Vec<&Lambda> {
    match exp {
        Exp::Map { lambda, .. } => vec![lambda],
        Exp::Reduce { pre, op, .. } | Exp::Scan { pre, op, .. } | Exp::Hist { pre, op, .. } => {
            pre.iter().chain([op]).collect()
        }
        Exp::Scatter { pre, .. } => pre.iter().collect(),
        Exp::WithAcc { inputs, lambda } => {
            inputs.iter().filter_map(|i| i.op.as_ref().map(|(op, _)| op)).chain([lambda]).collect()
        }
        Exp::Jvp { lambda, .. } | Exp::Vjp { lambda, .. } => vec![lambda],
        Exp::Transpose { lambda, .. } => vec![lambda],
        Exp::WithVjp { lambda, rule, .. } => vec![lambda, rule],
        Exp::Atom(_)
        | Exp::UnOp(..)
        | Exp::BinOp(..)
        | Exp::TernOp(..)
        | Exp::CmpOp(..)
        | Exp::Convert(..) => vec![],
        Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } => {
            vec![]
        }
        Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => vec![],
        Exp::Concat { .. } | Exp::Contract { .. } => vec![],
        Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => {
            vec![]
        }
        Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => vec![],
        Exp::Detach(_) => vec![],
    }
}

/// The bodies directly inside an expression.
pub fn bodies(exp: &Exp) -> Vec<&Body> {
    let mut found: Vec<&Body> = lambdas(exp).into_iter().map(|l| &l.body).collect();
    if let Exp::If { then, otherwise, .. } = exp {
        found.extend([then, otherwise]);
    }
    if let Exp::Loop { form, body, .. } = exp {
        if let LoopForm::While { cond } = form {
            found.push(cond);
        }
        found.push(body);
    }
    found
}

/// As [`lambdas`], to change them.
pub fn lambdas_mut(exp: &mut Exp) -> Vec<&mut Lambda> {
    match exp {
        Exp::Map { lambda, .. } => vec![lambda],
        Exp::Reduce { pre, op, .. } | Exp::Scan { pre, op, .. } | Exp::Hist { pre, op, .. } => {
            pre.iter_mut().chain([op]).collect()
        }
        Exp::Scatter { pre, .. } => pre.iter_mut().collect(),
        Exp::WithAcc { inputs, lambda } => {
            inputs.iter_mut().filter_map(|i| i.op.as_mut().map(|(op, _)| op)).chain([lambda]).collect()
        }
        Exp::Jvp { lambda, .. } | Exp::Vjp { lambda, .. } => vec![lambda],
        Exp::Transpose { lambda, .. } => vec![lambda],
        Exp::WithVjp { lambda, rule, .. } => vec![lambda, rule],
        Exp::Atom(_)
        | Exp::UnOp(..)
        | Exp::BinOp(..)
        | Exp::TernOp(..)
        | Exp::CmpOp(..)
        | Exp::Convert(..) => vec![],
        Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } => {
            vec![]
        }
        Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => vec![],
        Exp::Concat { .. } | Exp::Contract { .. } => vec![],
        Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => {
            vec![]
        }
        Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => vec![],
        Exp::Detach(_) => vec![],
    }
}

/// As [`bodies`], to change them.
pub fn bodies_mut(exp: &mut Exp) -> Vec<&mut Body> {
    match exp {
        Exp::If { then, otherwise, .. } => vec![then, otherwise],
        Exp::Loop { form: LoopForm::While { cond }, body, .. } => vec![cond, body],
        Exp::Loop { form: LoopForm::For { .. }, body, .. } => vec![body],
        _ => lambdas_mut(exp).into_iter().map(|lambda| &mut lambda.body).collect(),
    }
}

/// The statements directly inside an expression.
pub fn stms_inside(exp: &Exp) -> impl Iterator<Item = &Stm> {
    bodies(exp).into_iter().flat_map(|body| &body.stms)
}

/// Calls `f` with every statement, at any depth, and with those inside of it after it.
pub fn each_stm<'a>(stms: impl IntoIterator<Item = &'a Stm>, f: &mut impl FnMut(&'a Stm)) {
    for stm in stms {
        f(stm);
        bodies(&stm.exp).into_iter().for_each(|body| each_stm(&body.stms, f));
    }
}

/// How many statements there are, at any depth.
pub fn count_stms<'a>(stms: impl IntoIterator<Item = &'a Stm>) -> usize {
    let mut size = 0;
    each_stm(stms, &mut |_| size += 1);
    size
}

/// Calls `f` with everything that statements use, at any depth: operands, and results of bodies inside.
pub fn each_use<'a>(stms: impl IntoIterator<Item = &'a Stm>, f: &mut impl FnMut(Atom)) {
    each_stm(stms, &mut |stm| {
        direct_operands(&stm.exp, f);
        bodies(&stm.exp).into_iter().flat_map(|body| &body.result).copied().for_each(&mut *f);
    });
}

/// The functions that statements call, at any depth, once for every call.
pub fn calls<'a>(stms: impl IntoIterator<Item = &'a Stm>) -> Vec<FunId> {
    let mut calls = Vec::new();
    each_stm(stms, &mut |stm| {
        if let Exp::Call { fun, .. } = &stm.exp {
            calls.push(*fun);
        }
    });
    calls
}

/// Calls `f` with the parameters of the lambdas and loops that an expression is, counters included.
pub fn own_params(exp: &Exp, f: &mut impl FnMut(VarId, &Type)) {
    lambdas(exp).into_iter().flat_map(|lambda| &lambda.params).for_each(|p| f(p.var, &p.ty));
    if let Exp::Loop { params, form, .. } = exp {
        params.iter().for_each(|(p, _)| f(p.var, &p.ty));
        if let LoopForm::For { var, ty, .. } = form {
            f(*var, &Type::Prim(*ty));
        }
    }
}

/// Calls `f` with every variable that statements bind, at any depth.
pub fn each_bound<'a>(stms: impl IntoIterator<Item = &'a Stm>, f: &mut impl FnMut(VarId, &Type)) {
    each_stm(stms, &mut |stm| {
        stm.pat.iter().for_each(|p| f(p.var, &p.ty));
        own_params(&stm.exp, f);
    });
}

/// The variables that statements bind, at any depth.
pub fn bound<'a>(stms: impl IntoIterator<Item = &'a Stm>) -> HashSet<VarId> {
    let mut bound = HashSet::new();
    each_bound(stms, &mut |var, _| bound.extend([var]));
    bound
}

/// The variables that an expression binds inside of itself, at any depth.
pub fn bound_inside(exp: &Exp) -> HashSet<VarId> {
    let mut inside = bound(stms_inside(exp));
    own_params(exp, &mut |var, _| inside.extend([var]));
    inside
}

/// Lets `f` put others for every statement of functions, at any depth, inside before outside: it gets the statement and adds to
/// those that come before it in its body.
pub fn replace_stms(funs: &mut [Fun], f: &mut impl FnMut(Stm, &mut Vec<Stm>)) {
    funs.iter_mut().for_each(|fun| replace_in(&mut fun.body, f));
}

fn replace_in(body: &mut Body, f: &mut impl FnMut(Stm, &mut Vec<Stm>)) {
    let mut done = Vec::with_capacity(body.stms.len());
    for mut stm in std::mem::take(&mut body.stms) {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| replace_in(inner, f));
        f(stm, &mut done);
    }
    body.stms = done;
}

/// The variables that an expression uses and does not bind, each once, in the order of their first use.
pub fn free_vars(exp: &Exp) -> Vec<VarId> {
    let mut free = FreeVars::default();
    free.exp(exp);
    free.order
}

/// As [`free_vars`], for a body.
pub fn free_vars_body(body: &Body) -> Vec<VarId> {
    let mut free = FreeVars::default();
    free.body(body);
    free.order
}

/// As [`free_vars`], for a lambda.
pub fn free_vars_lambda(lambda: &Lambda) -> Vec<VarId> {
    let mut free = FreeVars::default();
    free.lambda(lambda);
    free.order
}

/// Variables are unique within a program, so what is bound anywhere inside is not free.
#[derive(Default)]
struct FreeVars {
    bound: HashSet<VarId>,
    seen: HashSet<VarId>,
    order: Vec<VarId>,
}

impl FreeVars {
    fn atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom
            && !self.bound.contains(&var)
            && self.seen.insert(var)
        {
            self.order.push(var);
        }
    }

    fn ty(&mut self, ty: &Type) {
        ty.all_dims().into_iter().for_each(|d| self.atom(d));
    }

    fn param(&mut self, param: &Param) {
        self.ty(&param.ty);
        self.bound.insert(param.var);
    }

    fn stm(&mut self, stm: &Stm) {
        self.exp(&stm.exp);
        stm.pat.iter().for_each(|p| self.param(p));
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|s| self.stm(s));
        body.result.iter().for_each(|a| self.atom(*a));
    }

    fn lambda(&mut self, lambda: &Lambda) {
        lambda.params.iter().for_each(|p| self.param(p));
        self.body(&lambda.body);
        lambda.ret.iter().for_each(|t| self.ty(t));
    }

    fn exp(&mut self, exp: &Exp) {
        direct_operands(exp, &mut |a| self.atom(a));
        lambdas(exp).into_iter().for_each(|l| self.lambda(l));
        match exp {
            Exp::If { then, otherwise, .. } => {
                self.body(then);
                self.body(otherwise);
            }
            Exp::Loop { params, form, body, .. } => {
                params.iter().for_each(|(p, _)| self.param(p));
                match form {
                    LoopForm::For { var, .. } => {
                        self.bound.insert(*var);
                    }
                    LoopForm::While { cond } => self.body(cond),
                }
                self.body(body);
            }
            Exp::ArrayLit { row, .. } => self.ty(row),
            Exp::Atom(_)
            | Exp::UnOp(..)
            | Exp::BinOp(..)
            | Exp::TernOp(..)
            | Exp::CmpOp(..)
            | Exp::Convert(..) => {}
            Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } => {}
            Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Concat { .. } => {}
            Exp::Contract { .. } => {}
            Exp::Scratch { .. } | Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => {}
            // Their lambdas are done.
            Exp::Map { .. }
            | Exp::Reduce { .. }
            | Exp::Scan { .. }
            | Exp::Hist { .. }
            | Exp::Scatter { .. } => {}
            Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => {}
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => {}
            Exp::Transpose { .. } | Exp::Detach(_) => {}
        }
    }
}

/// Calls `f` for every atom that the expression uses itself, outside of nested bodies. Where Core wants a variable,
/// a constant that `f` gives is ignored.
pub fn operands_mut(exp: &mut Exp, f: &mut impl FnMut(&mut Atom)) {
    match exp {
        Exp::Atom(a) | Exp::UnOp(_, _, a) | Exp::Convert(_, _, a) => f(a),
        Exp::BinOp(_, _, a, b) | Exp::CmpOp(_, _, a, b) => [a, b].into_iter().for_each(f),
        Exp::TernOp(_, _, operands) => operands.iter_mut().for_each(f),
        Exp::Index { array, indices, .. } => {
            var_mut(array, f);
            indices.iter_mut().for_each(f);
        }
        Exp::Slice { array, dims } => {
            var_mut(array, f);
            dims.iter_mut().for_each(|d| dim_mut(d, f));
        }
        Exp::Update { array, dims, value, .. } => {
            var_mut(array, f);
            dims.iter_mut().for_each(|d| dim_mut(d, f));
            f(value);
        }
        Exp::Copy(array) | Exp::Rearrange { array, .. } => var_mut(array, f),
        Exp::Iota { n, start, step, .. } => [n, start, step].into_iter().for_each(f),
        Exp::Replicate { dims, value } => {
            dims.iter_mut().for_each(&mut *f);
            f(value);
        }
        Exp::Reshape { dims, array } => {
            dims.iter_mut().for_each(&mut *f);
            var_mut(array, f);
        }
        Exp::Contract { sizes, left, right, plus, .. } => {
            sizes.iter_mut().for_each(&mut *f);
            [left, right].into_iter().for_each(|operand| var_mut(&mut operand.array, f));
            plus.iter_mut().for_each(|array| var_mut(array, f));
        }
        Exp::Concat { arrays } => arrays.iter_mut().for_each(|a| var_mut(a, f)),
        Exp::Scratch { dims, .. } => dims.iter_mut().for_each(f),
        Exp::ArrayLit { row, elems } => {
            type_mut(row, f);
            elems.iter_mut().for_each(f);
        }
        Exp::If { cond, .. } => f(cond),
        Exp::Loop { params, form, .. } => {
            params.iter_mut().for_each(|(_, init)| f(init));
            if let LoopForm::For { bound, .. } = form {
                f(bound);
            }
        }
        Exp::Call { args, .. } => args.iter_mut().for_each(f),
        Exp::Assert { cond, message } => {
            f(cond);
            for part in message {
                if let MsgPart::Value(value) = part {
                    f(value);
                }
            }
        }
        Exp::Trace { values, .. } => values.iter_mut().for_each(f),
        Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } | Exp::Scatter { .. } => {
            bulk_operands_mut(exp, f);
        }
        Exp::WithAcc { inputs, .. } => inputs.iter_mut().for_each(|i| input_mut(i, f)),
        Exp::UpdateAcc { acc, indices, values } => {
            var_mut(acc, f);
            indices.iter_mut().chain(values).for_each(f);
        }
        Exp::Jvp { args, tangents: seeds, .. } | Exp::Vjp { args, cotangents: seeds, .. } => {
            args.iter_mut().chain(seeds).for_each(f);
        }
        Exp::WithVjp { args, .. } => args.iter_mut().for_each(f),
        Exp::Transpose { cotangents, .. } => cotangents.iter_mut().for_each(f),
        Exp::Detach(a) => f(a),
    }
}

fn bulk_operands_mut(exp: &mut Exp, f: &mut impl FnMut(&mut Atom)) {
    match exp {
        Exp::Map { width, arrays, .. } => {
            f(width);
            arrays.iter_mut().for_each(|a| var_mut(a, f));
        }
        Exp::Reduce { width, arrays, neutral, .. } | Exp::Scan { width, arrays, neutral, .. } => {
            f(width);
            arrays.iter_mut().for_each(|a| var_mut(a, f));
            neutral.iter_mut().for_each(f);
        }
        Exp::Hist { width, arrays, dests, shape, neutral, .. } => {
            f(width);
            arrays.iter_mut().chain(dests).for_each(|a| var_mut(a, f));
            shape.iter_mut().chain(neutral).for_each(f);
        }
        Exp::Scatter { width, arrays, dests, shape, .. } => {
            f(width);
            arrays.iter_mut().chain(dests).for_each(|a| var_mut(a, f));
            shape.iter_mut().for_each(f);
        }
        _ => {}
    }
}

fn var_mut(var: &mut VarId, f: &mut impl FnMut(&mut Atom)) {
    let mut atom = Atom::Var(*var);
    f(&mut atom);
    if let Atom::Var(new) = atom {
        *var = new;
    }
}

fn dim_mut(dim: &mut DimSlice, f: &mut impl FnMut(&mut Atom)) {
    match dim {
        DimSlice::Fix(i) => f(i),
        DimSlice::Range { start, len, stride } => [start, len, stride].into_iter().for_each(f),
    }
}

fn input_mut(input: &mut AccInput, f: &mut impl FnMut(&mut Atom)) {
    input.shape.iter_mut().for_each(&mut *f);
    input.arrays.iter_mut().for_each(|a| var_mut(a, f));
    if let Some((_, neutral)) = &mut input.op {
        neutral.iter_mut().for_each(f);
    }
}

/// Calls `f` for every size in a type.
pub fn type_mut(ty: &mut Type, f: &mut impl FnMut(&mut Atom)) {
    match ty {
        Type::Prim(_) => {}
        Type::Array { dims, .. } => dims.iter_mut().for_each(f),
        Type::Acc { index_dims, elems } => {
            index_dims.iter_mut().for_each(&mut *f);
            elems.iter_mut().for_each(|t| type_mut(t, f));
        }
    }
}
