//! Copies of code with new binders: a variable is bound once in a program, and redundant execution runs code twice.
//!
//!     let (y: f64) = f64.sin x     ==>     let (y_1: f64) = f64.sin z          where x is to become z

use std::collections::HashMap;

use dagaz_core::exp::{AccInput, AxesOf, Body, Check, DimSlice, Exp, Lambda, LoopForm, MsgPart, Stm};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::Ad;

/// When a copy is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Instead of the original.
    Instead,
    /// Before the original, to find something out. What is not needed for that may go.
    Before,
    /// After the original, which has not stopped the program: nothing has to be checked.
    After,
}

/// What the variables of the original have become.
pub(crate) struct Renamer<'a, 'p> {
    ad: &'a mut Ad<'p>,
    map: HashMap<VarId, Atom>,
    when: When,
}

impl<'a, 'p> Renamer<'a, 'p> {
    pub fn new(ad: &'a mut Ad<'p>, map: HashMap<VarId, Atom>) -> Renamer<'a, 'p> {
        Renamer { ad, map, when: When::Instead }
    }

    /// For code that is run before the original.
    pub fn before(ad: &'a mut Ad<'p>, map: HashMap<VarId, Atom>) -> Renamer<'a, 'p> {
        Renamer { ad, map, when: When::Before }
    }

    /// For code that is run again.
    pub fn again(ad: &'a mut Ad<'p>, map: HashMap<VarId, Atom>) -> Renamer<'a, 'p> {
        Renamer { ad, map, when: When::After }
    }

    fn check(&self, check: Check) -> Check {
        match self.when {
            When::Instead | When::Before => check,
            When::After => Check::Certified,
        }
    }

    pub fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.map.get(&var).copied().unwrap_or(atom),
            Atom::Const(_) => atom,
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// Arrays and accumulators are never constants.
    pub fn var(&self, var: VarId) -> VarId {
        self.atom(var.into()).as_var().unwrap_or(var)
    }

    fn vars(&self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().map(|v| self.var(*v)).collect()
    }

    fn ty(&self, ty: &Type) -> Type {
        ty.map_dims(&mut |d| self.atom(d))
    }

    fn fresh(&mut self, var: VarId) -> VarId {
        let hint = self.ad.b.vars.hint(var).to_owned();
        let new = self.ad.b.fresh(&hint);
        if self.ad.forward.active.contains(&var) {
            self.ad.forward.active.insert(new);
        }
        if self.ad.forward.sums.contains(&var) {
            self.ad.forward.sums.insert(new);
        }
        self.map.insert(var, new.into());
        new
    }

    pub fn param(&mut self, param: &Param) -> Param {
        let ty = self.ty(&param.ty);
        let var = self.fresh(param.var);
        self.ad.b.types.insert(var, ty.clone());
        Param { var, ty }
    }

    fn params(&mut self, params: &[Param]) -> Vec<Param> {
        params.iter().map(|p| self.param(p)).collect()
    }

    pub fn body(&mut self, body: &Body) -> Body {
        let stms = body.stms.iter().filter_map(|s| self.stm(s)).collect();
        Body { stms, result: self.atoms(&body.result) }
    }

    fn stm(&mut self, stm: &Stm) -> Option<Stm> {
        if self.when == When::After && matches!(stm.exp, Exp::Assert { .. }) {
            return None;
        }
        let exp = self.exp(&stm.exp);
        let pat = self.params(&stm.pat);
        if self.when != When::Instead {
            self.ad.sweep.recomputed.extend(pat.iter().map(|p| p.var));
        }
        Some(Stm { pat, exp, loc: stm.loc })
    }

    pub fn lambda(&mut self, lambda: &Lambda) -> Lambda {
        let ret = lambda.ret.iter().map(|t| self.ty(t)).collect();
        let params = self.params(&lambda.params);
        Lambda { params, body: self.body(&lambda.body), ret }
    }

    fn pre(&mut self, pre: &Option<Lambda>) -> Option<Lambda> {
        pre.as_ref().map(|l| self.lambda(l))
    }

    fn dims(&self, dims: &[DimSlice]) -> Vec<DimSlice> {
        let dim = |dim: &DimSlice| match dim {
            DimSlice::Fix(i) => DimSlice::Fix(self.atom(*i)),
            DimSlice::Range { start, len, stride } => {
                DimSlice::Range { start: self.atom(*start), len: self.atom(*len), stride: self.atom(*stride) }
            }
        };
        dims.iter().map(dim).collect()
    }

    pub fn exp(&mut self, exp: &Exp) -> Exp {
        match exp {
            Exp::Atom(a) => Exp::Atom(self.atom(*a)),
            Exp::UnOp(op, ty, a) => Exp::UnOp(*op, *ty, self.atom(*a)),
            Exp::BinOp(op, ty, a, b) => Exp::BinOp(*op, *ty, self.atom(*a), self.atom(*b)),
            Exp::TernOp(op, ty, [a, b, c]) => {
                Exp::TernOp(*op, *ty, [self.atom(*a), self.atom(*b), self.atom(*c)])
            }
            Exp::CmpOp(op, ty, a, b) => Exp::CmpOp(*op, *ty, self.atom(*a), self.atom(*b)),
            Exp::Convert(from, to, a) => Exp::Convert(*from, *to, self.atom(*a)),
            Exp::Index { array, indices, check } => Exp::Index {
                array: self.var(*array),
                indices: self.atoms(indices),
                check: self.check(*check),
            },
            Exp::Slice { array, dims } => Exp::Slice { array: self.var(*array), dims: self.dims(dims) },
            Exp::Update { array, dims, value, check } => Exp::Update {
                array: self.var(*array),
                dims: self.dims(dims),
                value: self.atom(*value),
                check: self.check(*check),
            },
            Exp::Copy(array) => Exp::Copy(self.var(*array)),
            Exp::Iota { ty, n, start, step } => {
                Exp::Iota { ty: *ty, n: self.atom(*n), start: self.atom(*start), step: self.atom(*step) }
            }
            Exp::Replicate { dims, value } => {
                Exp::Replicate { dims: self.atoms(dims), value: self.atom(*value) }
            }
            Exp::Rearrange { perm, array } => Exp::Rearrange { perm: perm.clone(), array: self.var(*array) },
            Exp::Reshape { dims, array } => Exp::Reshape { dims: self.atoms(dims), array: self.var(*array) },
            Exp::Contract { sizes, rank, left, right, plus, triangles } => {
                let operand = |o: &AxesOf| AxesOf { array: self.var(o.array), axes: o.axes.clone() };
                let (left, right) = (operand(left), operand(right));
                let plus = plus.map(|array| self.var(array));
                let triangles = triangles.clone();
                Exp::Contract { sizes: self.atoms(sizes), rank: *rank, left, right, plus, triangles }
            }
            Exp::Concat { arrays } => Exp::Concat { arrays: self.vars(arrays) },
            Exp::Scratch { elem, dims } => Exp::Scratch { elem: *elem, dims: self.atoms(dims) },
            Exp::ArrayLit { row, elems } => Exp::ArrayLit { row: self.ty(row), elems: self.atoms(elems) },
            Exp::Call { fun, args } => Exp::Call { fun: *fun, args: self.atoms(args) },
            Exp::Assert { cond, message } => {
                let part = |part: &MsgPart| match part {
                    MsgPart::Text(text) => MsgPart::Text(text.clone()),
                    MsgPart::Value(a) => MsgPart::Value(self.atom(*a)),
                };
                Exp::Assert { cond: self.atom(*cond), message: message.iter().map(part).collect() }
            }
            Exp::Trace { tag, values } => Exp::Trace { tag: tag.clone(), values: self.atoms(values) },
            Exp::UpdateAcc { acc, indices, values } => Exp::UpdateAcc {
                acc: self.var(*acc),
                indices: self.atoms(indices),
                values: self.atoms(values),
            },
            Exp::If { .. } | Exp::Loop { .. } | Exp::WithAcc { .. } => self.control(exp),
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => self.bulk(exp),
            Exp::Hist { .. } | Exp::Scatter { .. } => self.bulk(exp),
            Exp::Jvp { lambda, args, tangents } => Exp::Jvp {
                args: self.atoms(args),
                tangents: self.atoms(tangents),
                lambda: self.lambda(lambda),
            },
            Exp::Vjp { lambda, args, cotangents } => Exp::Vjp {
                args: self.atoms(args),
                cotangents: self.atoms(cotangents),
                lambda: self.lambda(lambda),
            },
            Exp::WithVjp { lambda, rule, args } => {
                Exp::WithVjp { args: self.atoms(args), lambda: self.lambda(lambda), rule: self.lambda(rule) }
            }
            Exp::Transpose { lambda, cotangents } => {
                Exp::Transpose { cotangents: self.atoms(cotangents), lambda: self.lambda(lambda) }
            }
            Exp::Detach(a) => Exp::Detach(self.atom(*a)),
        }
    }

    fn control(&mut self, exp: &Exp) -> Exp {
        match exp {
            Exp::If { cond, then, otherwise } => {
                let cond = self.atom(*cond);
                Exp::If { cond, then: self.body(then), otherwise: self.body(otherwise) }
            }
            Exp::Loop { params, form, body, hints } => {
                let inits: Vec<Atom> = params.iter().map(|(_, init)| self.atom(*init)).collect();
                let params = params.iter().map(|(p, _)| self.param(p)).zip(inits).collect();
                let form = match form {
                    LoopForm::For { var, ty, bound } => {
                        let bound = self.atom(*bound);
                        let new = self.fresh(*var);
                        self.ad.b.types.insert(new, Type::Prim(*ty));
                        LoopForm::For { var: new, ty: *ty, bound }
                    }
                    LoopForm::While { cond } => LoopForm::While { cond: self.body(cond) },
                };
                Exp::Loop { params, form, body: self.body(body), hints: *hints }
            }
            Exp::WithAcc { inputs, lambda } => {
                let input = |input: &AccInput| AccInput {
                    shape: self.atoms(&input.shape),
                    arrays: self.vars(&input.arrays),
                    op: input.op.as_ref().map(|(op, ne)| (self.lambda(op), self.atoms(ne))),
                };
                let inputs = inputs.iter().map(input).collect();
                Exp::WithAcc { inputs, lambda: self.lambda(lambda) }
            }
            _ => exp.clone(),
        }
    }

    fn bulk(&mut self, exp: &Exp) -> Exp {
        match exp {
            Exp::Map { width, arrays, lambda } => {
                Exp::Map { width: self.atom(*width), arrays: self.vars(arrays), lambda: self.lambda(lambda) }
            }
            Exp::Reduce { width, arrays, pre, op, neutral, commutative } => Exp::Reduce {
                width: self.atom(*width),
                arrays: self.vars(arrays),
                pre: self.pre(pre),
                neutral: self.atoms(neutral),
                op: self.lambda(op),
                commutative: *commutative,
            },
            Exp::Scan { width, arrays, pre, op, neutral } => Exp::Scan {
                width: self.atom(*width),
                arrays: self.vars(arrays),
                pre: self.pre(pre),
                neutral: self.atoms(neutral),
                op: self.lambda(op),
            },
            Exp::Hist { width, arrays, pre, dests, shape, op, neutral } => Exp::Hist {
                width: self.atom(*width),
                arrays: self.vars(arrays),
                pre: self.pre(pre),
                dests: self.vars(dests),
                shape: self.atoms(shape),
                neutral: self.atoms(neutral),
                op: self.lambda(op),
            },
            Exp::Scatter { width, arrays, pre, dests, shape } => Exp::Scatter {
                width: self.atom(*width),
                arrays: self.vars(arrays),
                pre: self.pre(pre),
                dests: self.vars(dests),
                shape: self.atoms(shape),
            },
            _ => exp.clone(),
        }
    }
}
