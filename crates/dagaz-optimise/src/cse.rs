//! Computes equal expressions once, also when the first one is further out.
//!
//! ```text
//! let (a: f64) = f64.sin x                     let (a: f64) = f64.sin x
//! let (ys: [n]f64) =                           let (ys: [n]f64) =
//!   map n (xs) \(y: f64) : (f64) ->     ==>      map n (xs) \(y: f64) : (f64) ->
//!     let (b: f64) = f64.sin x                     let (c: f64) = f64.mul a y
//!     let (c: f64) = f64.mul b y                   in (c)
//!     in (c)
//! ```
//!
//! Sums and products are equal whatever the order of their operands, and an even function of `x - y` is that of `y - x`.
//! Expressions with bodies are equal up to the names of what they bind. Whether an index is checked makes no difference:
//! where the first read went well, the second one does. Expects arrays to be plain values; what is consumed later gets its
//! copy from [`crate::insert_copies`].

use std::collections::HashMap;

use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, LoopForm, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{direct_operands, lambdas, lambdas_mut, operands_mut};

use crate::opposites::Opposites;

pub const ELIMINATE_COMMON_SUBEXPRESSIONS: Pass = Pass::always(
    "eliminate-common-subexpressions",
    "Equal expressions are computed once.",
    eliminate_common_subexpressions,
);

pub fn eliminate_common_subexpressions(program: &mut Program) {
    let mut sharer = Sharer::default();
    sharer.stms(&mut program.consts);
    for fun in &mut program.funs {
        let mark = sharer.log.len();
        sharer.body(&mut fun.body);
        sharer.leave(mark);
    }
}

/// The structure of an expression as numbers: equal keys are equal expressions.
pub(crate) type Key = Vec<u64>;

#[derive(Default)]
struct Sharer {
    subst: Substitution,
    opposites: Opposites,
    available: HashMap<Key, Vec<VarId>>,
    /// What became available, in order, so that a scope can be left.
    log: Vec<Key>,
}

impl Sharer {
    fn leave(&mut self, mark: usize) {
        for key in self.log.drain(mark..) {
            self.available.remove(&key);
        }
    }

    fn body(&mut self, body: &mut Body) {
        self.stms(&mut body.stms);
        body.result.iter_mut().for_each(|a| self.subst.apply(a));
    }

    fn scope(&mut self, body: &mut Body) {
        let mark = self.log.len();
        self.body(body);
        self.leave(mark);
    }

    fn stms(&mut self, stms: &mut Vec<Stm>) {
        stms.retain_mut(|stm| {
            operands_mut(&mut stm.exp, &mut |a| self.subst.apply(a));
            self.opposites.take_first(stm, &self.available);
            self.inside(&mut stm.exp);
            self.subst.params(&mut stm.pat);
            self.equal_results(stm);
            let Some(key) = key(stm) else { return true };
            self.opposites.note(stm, &self.available);
            if let Some(earlier) = self.available.get(&key) {
                for (param, var) in stm.pat.iter().zip(earlier) {
                    self.subst.insert(param.var, (*var).into());
                }
                return false;
            }
            self.available.insert(key.clone(), stm.pat.iter().map(|p| p.var).collect());
            self.log.push(key);
            true
        });
    }

    fn lambda(&mut self, lambda: &mut Lambda) {
        self.subst.params(&mut lambda.params);
        self.scope(&mut lambda.body);
        self.subst.types(&mut lambda.ret);
    }

    fn inside(&mut self, exp: &mut Exp) {
        match exp {
            Exp::If { then, otherwise, .. } => {
                self.scope(then);
                self.scope(otherwise);
            }
            Exp::Loop { params, form, body, .. } => {
                self.subst.params(params.iter_mut().map(|(p, _)| p));
                if let LoopForm::While { cond } = form {
                    self.scope(cond);
                }
                self.scope(body);
            }
            _ => {
                if let Exp::Map { arrays, lambda, .. } = exp {
                    self.equal_inputs(arrays, &lambda.params);
                }
                lambdas_mut(exp).into_iter().for_each(|l| self.lambda(l));
            }
        }
    }

    /// What a map or a use of accumulators gives twice is the same.
    fn equal_results(&mut self, stm: &Stm) {
        let (Exp::Map { lambda, .. } | Exp::WithAcc { lambda, .. }) = &stm.exp else { return };
        // Accumulators come first, and each may give several arrays.
        let from_last = stm.pat.iter().rev().zip(lambda.body.result.iter().zip(&lambda.ret).rev());
        let plain: Vec<(&Param, Atom)> = from_last
            .filter(|(_, (result, ty))| result.as_var().is_some() && !ty.is_acc())
            .map(|(param, (result, _))| (param, *result))
            .collect();
        for (i, (param, result)) in plain.iter().enumerate() {
            if let Some((first, _)) = plain[i + 1..].iter().rev().find(|(_, other)| other == result) {
                self.subst.insert(param.var, first.var.into());
            }
        }
    }

    /// Elements of an array that a map takes twice are the same.
    fn equal_inputs(&mut self, arrays: &[VarId], params: &[Param]) {
        for (i, (array, param)) in arrays.iter().zip(params).enumerate() {
            if let Some(first) = arrays[..i].iter().position(|earlier| earlier == array)
                && !param.ty.is_acc()
            {
                self.subst.insert(param.var, params[first].var.into());
            }
        }
    }
}

/// None where the expression is not to be shared: because of what it does, or because it is not worth it.
pub(crate) fn key(stm: &Stm) -> Option<Key> {
    let mut encoder = Encoder::default();
    encoder.stm(stm)?;
    Some(encoder.key)
}

#[derive(Default)]
struct Encoder {
    key: Key,
    /// Variables that the expression binds, by the order in which it does.
    local: HashMap<VarId, u64>,
}

impl Encoder {
    fn number(&mut self, number: usize) {
        self.key.push(number as u64);
    }

    fn atom(&mut self, atom: Atom) {
        match atom {
            Atom::Var(var) => match self.local.get(&var) {
                Some(number) => self.key.extend([1, *number]),
                None => self.key.extend([2, u64::from(var.0)]),
            },
            Atom::Const(prim) => self.key.extend([3, prim_type(prim.ty()), prim.bits()]),
        }
    }

    fn ty(&mut self, ty: &Type) {
        self.number(ty.rank());
        self.key.push(ty.elem().map_or(99, prim_type));
        ty.all_dims().into_iter().for_each(|d| self.atom(d));
    }

    fn bind(&mut self, var: VarId) {
        let number = self.local.len() as u64;
        self.local.insert(var, number);
    }

    fn params(&mut self, params: &[Param]) -> Option<()> {
        for param in params {
            if param.ty.is_acc() {
                return None;
            }
            self.bind(param.var);
            self.ty(&param.ty);
        }
        Some(())
    }

    fn body(&mut self, body: &Body) -> Option<()> {
        self.number(body.stms.len());
        body.stms.iter().try_for_each(|stm| self.stm(stm))?;
        self.number(body.result.len());
        body.result.iter().for_each(|a| self.atom(*a));
        Some(())
    }

    fn stm(&mut self, stm: &Stm) -> Option<()> {
        self.head(&stm.exp)?;
        let before = self.key.len();
        self.number(0);
        direct_operands(&stm.exp, &mut |a| self.atom(a));
        self.key[before] = (self.key.len() - before) as u64;
        if commutes(&stm.exp) {
            self.order_operands(before + 1);
        }
        for lambda in lambdas(&stm.exp) {
            self.number(lambda.params.len());
            self.params(&lambda.params)?;
            self.body(&lambda.body)?;
            lambda.ret.iter().for_each(|t| self.ty(t));
        }
        if let Exp::If { then, otherwise, .. } = &stm.exp {
            self.body(then)?;
            self.body(otherwise)?;
        }
        if let Exp::Loop { params, form, body, .. } = &stm.exp {
            params.iter().try_for_each(|(param, _)| self.params(std::slice::from_ref(param)))?;
            match form {
                LoopForm::While { cond } => self.body(cond)?,
                LoopForm::For { var, .. } => self.bind(*var),
            }
            self.body(body)?;
        }
        self.params(&stm.pat)
    }

    /// Puts the two operands that stand from a place on into an order of their own.
    fn order_operands(&mut self, from: usize) {
        // A variable takes two numbers and a constant three.
        let length = if self.key[from] == 3 { 3 } else { 2 };
        if self.key[from..from + length] > self.key[from + length..] {
            self.key[from..].rotate_left(length);
        }
    }

    /// What the expression is, but for its operands and bodies.
    fn head(&mut self, exp: &Exp) -> Option<()> {
        match exp {
            Exp::Atom(_) => self.number(0),
            Exp::UnOp(op, ty, _) => self.key.extend([1, *op as u64, prim_type(*ty)]),
            Exp::BinOp(op, ty, ..) => self.key.extend([2, *op as u64, prim_type(*ty)]),
            Exp::TernOp(op, ty, _) => self.key.extend([3, *op as u64, prim_type(*ty)]),
            Exp::CmpOp(op, ty, ..) => self.key.extend([4, *op as u64, prim_type(*ty)]),
            Exp::Convert(from, to, _) => self.key.extend([5, prim_type(*from), prim_type(*to)]),
            Exp::Index { .. } => self.number(6),
            Exp::Slice { dims, .. } => {
                self.number(7);
                for dim in dims {
                    self.number(match dim {
                        DimSlice::Fix(_) => 0,
                        DimSlice::Range { .. } => 1,
                    });
                }
            }
            Exp::Iota { ty, .. } => self.key.extend([8, prim_type(*ty)]),
            Exp::Rearrange { perm, .. } => {
                self.number(10);
                perm.iter().for_each(|p| self.number(*p));
            }
            Exp::Reshape { dims, .. } => self.key.extend([11, dims.len() as u64]),
            Exp::Concat { .. } => self.number(12),
            Exp::Contract { plus: Some(_), .. } => return None,
            Exp::Contract { sizes, rank, left, right, plus: None, triangles } => {
                self.key.extend([18, sizes.len() as u64, *rank as u64]);
                left.axes.iter().chain(&right.axes).for_each(|axis| self.number(*axis));
                triangles.iter().flat_map(|t| [t.low, t.high]).for_each(|axis| self.number(axis));
            }
            Exp::ArrayLit { row, .. } => {
                self.number(13);
                self.ty(row);
            }
            Exp::If { .. } => self.number(14),
            Exp::Map { arrays, .. } => self.key.extend([15, arrays.len() as u64]),
            Exp::Reduce { arrays, pre, commutative, .. } => {
                let flags = u64::from(pre.is_some()) + 2 * u64::from(*commutative);
                self.key.extend([16, arrays.len() as u64, flags]);
            }
            Exp::Scan { arrays, pre, .. } => {
                self.key.extend([17, arrays.len() as u64, u64::from(pre.is_some())]);
            }
            // An array that is made at once to be consumed would only have to be copied.
            Exp::Replicate { .. } => return None,
            // These change or consume arrays, have effects, or are seldom equal.
            Exp::Update { .. } | Exp::Copy(_) | Exp::Scratch { .. } => return None,
            Exp::Loop { params, .. } if !params.iter().all(|(p, _)| matches!(p.ty, Type::Prim(_))) => {
                return None;
            }
            Exp::Loop { params, form: LoopForm::While { .. }, .. } => {
                self.key.extend([19, params.len() as u64]);
            }
            Exp::Loop { params, form: LoopForm::For { ty, .. }, .. } => {
                self.key.extend([20, params.len() as u64, prim_type(*ty)]);
            }
            Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => return None,
            Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => {
                return None;
            }
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => return None,
            Exp::Transpose { .. } | Exp::Detach(_) => {
                return None;
            }
        }
        Some(())
    }
}

/// Whether the order of the operands makes no difference, not even to the sign of a zero.
fn commutes(exp: &Exp) -> bool {
    match exp {
        Exp::BinOp(op, ty, ..) => match op {
            BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => true,
            BinOp::Min | BinOp::Max => !ty.is_float(),
            _ => false,
        },
        _ => false,
    }
}

fn prim_type(ty: PrimType) -> u64 {
    ty as u64
}
