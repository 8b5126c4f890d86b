//! Walking over expressions with the right to change them: operands, sizes in types, and nested bodies.
//!
//! The reading counterparts are in `dagaz_core::visit`.

use std::collections::HashMap;

use dagaz_core::exp::{AccInput, Body, DimSlice, Exp, LoopForm, MsgPart};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::lambdas_mut;

/// Calls `f` for every atom that the expression uses itself, outside of nested bodies. Where Core wants a variable,
/// a constant that `f` gives is ignored.
pub(crate) fn operands_mut(exp: &mut Exp, f: &mut impl FnMut(&mut Atom)) {
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
        Exp::Contract { sizes, left, right, .. } => {
            sizes.iter_mut().for_each(&mut *f);
            [left, right].into_iter().for_each(|operand| var_mut(&mut operand.array, f));
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
        Exp::WithVjp { args, .. } | Exp::Linearize { args, .. } => args.iter_mut().for_each(f),
        Exp::ApplyLinear { handle, tangents, ret } => {
            f(handle);
            tangents.iter_mut().for_each(&mut *f);
            ret.iter_mut().for_each(|t| type_mut(t, f));
        }
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
pub(crate) fn type_mut(ty: &mut Type, f: &mut impl FnMut(&mut Atom)) {
    match ty {
        Type::Prim(_) => {}
        Type::Array { dims, .. } => dims.iter_mut().for_each(f),
        Type::Acc { index_dims, elems } => {
            index_dims.iter_mut().for_each(&mut *f);
            elems.iter_mut().for_each(|t| type_mut(t, f));
        }
    }
}

/// Calls `f` for every body inside an expression, with the parameters and result types of lambdas.
pub(crate) fn for_each_body(exp: &mut Exp, f: &mut impl FnMut(&[Param], &[Type], &mut Body)) {
    match exp {
        Exp::If { then, otherwise, .. } => {
            f(&[], &[], then);
            f(&[], &[], otherwise);
        }
        Exp::Loop { params, form, body, .. } => {
            f(&[], &[], body);
            if let LoopForm::While { cond } = form {
                f(&[], &[], cond);
            }
            let params: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
            f(&params, &[], &mut Body::default());
        }
        _ => lambdas_mut(exp).into_iter().for_each(|l| f(&l.params, &l.ret, &mut l.body)),
    }
}

/// The bodies directly inside an expression.
pub(crate) fn bodies(exp: &Exp) -> Vec<&Body> {
    match exp {
        Exp::If { then, otherwise, .. } => vec![then, otherwise],
        Exp::Loop { form: LoopForm::While { cond }, body, .. } => vec![cond, body],
        Exp::Loop { form: LoopForm::For { .. }, body, .. } => vec![body],
        _ => dagaz_core::visit::lambdas(exp).into_iter().map(|l| &l.body).collect(),
    }
}

/// What variables are to become, followed to the end.
#[derive(Default)]
pub(crate) struct Substitution {
    map: HashMap<VarId, Atom>,
}

impl Substitution {
    pub fn insert(&mut self, var: VarId, atom: Atom) {
        let atom = self.of(atom);
        self.map.insert(var, atom);
    }

    pub fn of(&self, mut atom: Atom) -> Atom {
        while let Atom::Var(var) = atom
            && let Some(to) = self.map.get(&var)
        {
            atom = *to;
        }
        atom
    }

    pub fn apply(&self, atom: &mut Atom) {
        *atom = self.of(*atom);
    }

    pub fn params<'a>(&self, params: impl IntoIterator<Item = &'a mut Param>) {
        params.into_iter().for_each(|p| type_mut(&mut p.ty, &mut |a| self.apply(a)));
    }

    pub fn types<'a>(&self, types: impl IntoIterator<Item = &'a mut Type>) {
        types.into_iter().for_each(|t| type_mut(t, &mut |a| self.apply(a)));
    }
}

/// Keeps the items whose flag is set.
pub(crate) fn keep<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}
