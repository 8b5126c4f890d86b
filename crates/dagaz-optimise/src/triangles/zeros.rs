//! Where values are known to be zero.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Program, Stm};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{bodies, lambdas};

use super::orders::{Order, Side, in_row, in_rows, intersection, moved, union};

/// Conditions are looked into so deep.
const DEPTH: u32 = 8;

/// Where a value is zero, or all elements of an array are.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Everywhere,
    /// Wherever one of the orders does not hold.
    Outside(Vec<Order>),
}

/// What a condition is made of.
#[derive(Clone, Copy, Debug)]
enum Condition {
    Compare(CmpOp, VarId, VarId),
    And(Atom, Atom),
    Or(Atom, Atom),
    Not(Atom),
}

#[derive(Default)]
pub(super) struct Zeros {
    pub known: HashMap<VarId, Known>,
    /// The levels whose iterations variables are.
    pub counters: HashMap<VarId, VarId>,
    /// Arrays of the numbers from zero on.
    numbers: HashSet<VarId>,
    conditions: HashMap<VarId, Condition>,
}

impl Known {
    fn nothing() -> Known {
        Known::Outside(Vec::new())
    }

    /// Where a product is zero.
    fn times(self, other: Known) -> Known {
        match (self, other) {
            (Known::Everywhere, _) | (_, Known::Everywhere) => Known::Everywhere,
            (Known::Outside(own), Known::Outside(others)) => Known::Outside(union(own, &others)),
        }
    }

    /// Where a sum is zero.
    fn plus(self, other: Known) -> Known {
        match (self, other) {
            (Known::Everywhere, known) | (known, Known::Everywhere) => known,
            (Known::Outside(own), Known::Outside(others)) => Known::Outside(intersection(own, &others)),
        }
    }

    fn moved(self, place: impl Fn(Side) -> Option<Side>) -> Known {
        match self {
            Known::Everywhere => Known::Everywhere,
            Known::Outside(orders) => Known::Outside(moved(&orders, place)),
        }
    }
}

impl Zeros {
    pub fn of(program: &Program) -> Zeros {
        let mut zeros = Zeros::default();
        program.consts.iter().for_each(|stm| zeros.stm(stm));
        program.funs.iter().for_each(|fun| zeros.body(&fun.body));
        zeros
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Map { arrays, lambda, .. } => {
                self.rows(arrays, lambda);
                for (param, result) in stm.pat.iter().zip(&lambda.body.result) {
                    let known = match lambda.params.first() {
                        Some(level) => self.of_atom(*result).moved(|p| Some(in_rows(level.var, p))),
                        None => Known::nothing(),
                    };
                    self.learn(param.var, known);
                }
            }
            Exp::Reduce { arrays, pre: Some(pre), .. } | Exp::Scan { arrays, pre: Some(pre), .. } => {
                self.rows(arrays, pre);
                lambdas(&stm.exp).into_iter().skip(1).for_each(|op| self.body(&op.body));
            }
            Exp::If { cond, then, otherwise } => {
                self.body(then);
                self.body(otherwise);
                for (i, param) in stm.pat.iter().enumerate() {
                    let branch = |body: &Body, holds: bool| match body.result.get(i) {
                        Some(result) => {
                            self.of_atom(*result).times(Known::Outside(self.implied(*cond, holds)))
                        }
                        None => Known::nothing(),
                    };
                    let known = branch(then, true).plus(branch(otherwise, false));
                    self.learn(param.var, known);
                }
            }
            exp => {
                bodies(exp).into_iter().for_each(|body| self.body(body));
                if let [param] = stm.pat.as_slice() {
                    self.single(param.var, exp);
                }
            }
        }
    }

    /// The function of an operation on rows.
    fn rows(&mut self, arrays: &[VarId], lambda: &Lambda) {
        let Some(level) = lambda.params.first().map(|p| p.var) else { return };
        for (param, array) in lambda.params.iter().zip(arrays) {
            if self.numbers.contains(array) {
                self.counters.insert(param.var, level);
            }
            let known = self.of_atom((*array).into()).moved(|place| Some(in_row(level, place)));
            self.learn(param.var, known);
        }
        self.body(&lambda.body);
    }

    /// An expression with one result.
    fn single(&mut self, var: VarId, exp: &Exp) {
        let condition = match exp {
            Exp::CmpOp(op, PrimType::I64, a, b) => {
                a.as_var().zip(b.as_var()).map(|(a, b)| Condition::Compare(*op, a, b))
            }
            Exp::BinOp(BinOp::And, PrimType::Bool, a, b) => Some(Condition::And(*a, *b)),
            Exp::BinOp(BinOp::Or, PrimType::Bool, a, b) => Some(Condition::Or(*a, *b)),
            Exp::UnOp(UnOp::Not, PrimType::Bool, a) => Some(Condition::Not(*a)),
            _ => None,
        };
        self.conditions.extend(condition.map(|condition| (var, condition)));
        let known = match exp {
            Exp::Iota { ty: PrimType::I64, start, step, .. } => {
                if *start == Atom::i64(0) && *step == Atom::i64(1) {
                    self.numbers.insert(var);
                }
                Known::nothing()
            }
            Exp::Atom(atom) | Exp::UnOp(UnOp::Neg, _, atom) => self.of_atom(*atom),
            Exp::Copy(array) => self.of_atom((*array).into()),
            Exp::BinOp(BinOp::Mul, ty, a, b) if ty.is_float() => self.of_atom(*a).times(self.of_atom(*b)),
            Exp::BinOp(BinOp::Div, ty, a, _) if ty.is_float() => self.of_atom(*a),
            Exp::BinOp(BinOp::Add | BinOp::Sub, ty, a, b) if ty.is_float() => {
                self.of_atom(*a).plus(self.of_atom(*b))
            }
            Exp::Convert(PrimType::Bool, to, cond) if to.is_float() => {
                Known::Outside(self.implied(*cond, true))
            }
            Exp::Rearrange { perm, array } => {
                let known = self.of_atom((*array).into());
                known.moved(|place| match place {
                    Side::Dim(dim) => perm.iter().position(|from| *from == dim).map(Side::Dim),
                    Side::Level(_) => Some(place),
                })
            }
            Exp::Index { array, indices, .. } => {
                let known = self.of_atom((*array).into());
                known.moved(|place| match place {
                    Side::Dim(dim) => match indices.get(dim) {
                        Some(index) => self.counters.get(&index.as_var()?).map(|level| Side::Level(*level)),
                        None => Some(Side::Dim(dim - indices.len())),
                    },
                    Side::Level(_) => Some(place),
                })
            }
            Exp::Replicate { dims, value } => {
                let known = self.of_atom(*value);
                known.moved(|place| match place {
                    Side::Dim(dim) => Some(Side::Dim(dim + dims.len())),
                    Side::Level(_) => Some(place),
                })
            }
            // The others give something else than zeros where their operands are zero, or are seldom given such ones.
            _ => Known::nothing(),
        };
        self.learn(var, known);
    }

    fn learn(&mut self, var: VarId, known: Known) {
        if !matches!(&known, Known::Outside(orders) if orders.is_empty()) {
            self.known.insert(var, known);
        }
    }

    fn of_atom(&self, atom: Atom) -> Known {
        match atom {
            Atom::Var(var) => self.known.get(&var).cloned().unwrap_or_else(Known::nothing),
            Atom::Const(value) if value.ty().is_float() && value == Prim::zero(value.ty()) => {
                Known::Everywhere
            }
            Atom::Const(_) => Known::nothing(),
        }
    }

    /// The orders that hold if a condition does, or does not.
    pub fn implied(&self, cond: Atom, holds: bool) -> Vec<Order> {
        self.implied_within(cond, holds, DEPTH)
    }

    fn implied_within(&self, cond: Atom, holds: bool, depth: u32) -> Vec<Order> {
        let condition = cond.as_var().and_then(|var| self.conditions.get(&var)).filter(|_| depth > 0);
        let inside = |cond: Atom, holds: bool| self.implied_within(cond, holds, depth - 1);
        match condition {
            Some(Condition::Compare(op, a, b)) => {
                let (Some(a), Some(b)) = (self.counters.get(a), self.counters.get(b)) else {
                    return Vec::new();
                };
                let (a, b) = (Side::Level(*a), Side::Level(*b));
                match (op, holds) {
                    (CmpOp::Lt | CmpOp::Le, true) => vec![Order { low: a, high: b }],
                    (CmpOp::Lt | CmpOp::Le, false) => vec![Order { low: b, high: a }],
                    (CmpOp::Eq, true) => vec![Order { low: a, high: b }, Order { low: b, high: a }],
                    (CmpOp::Eq, false) => Vec::new(),
                }
            }
            Some(Condition::Not(a)) => inside(*a, !holds),
            Some(Condition::And(a, b)) if holds => union(inside(*a, true), &inside(*b, true)),
            Some(Condition::Or(a, b)) if !holds => union(inside(*a, false), &inside(*b, false)),
            Some(Condition::And(a, b) | Condition::Or(a, b)) => {
                intersection(inside(*a, holds), &inside(*b, holds))
            }
            None => Vec::new(),
        }
    }
}
