//! Away from the border, stencils need no tests.
//!
//! Where a loop compares its counter with something that stays the same, or takes the lesser or greater of both, there is
//! a middle part of the iterations in which the answer is known:
//!
//!     for j { a = max(0, j - 1); b = min(n - 1, j + 1); … }
//!     ==>
//!     for j in [0, 1) and [n - 1, n) { as before }    for j in [1, n - 1) { a = j - 1; b = j + 1; … }
//!
//! Numbers are near the beginning, and what differs from the number of iterations by a number is near their end; so
//! `n - 1 < j`, like `j == n - 1`, is false in the middle. Zeros that come from the other side of a condition are not added
//! there.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, LoopForm, Stm};
use dagaz_core::index::offset;
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit;

use super::super::symbols::Symbols;

/// The middle of a loop: the least and the first too great value of the counter are the greatest of `from` and the least
/// of `to`, each an atom and a number to be added.
pub(in crate::lower) struct Interior {
    pub(in crate::lower) from: Vec<(Atom, i64)>,
    pub(in crate::lower) to: Vec<(Atom, i64)>,
    pub(in crate::lower) lambda: Lambda,
}

impl Interior {
    /// Whether it is known that few iterations are outside of the middle part.
    pub(in crate::lower) fn has_narrow_border(&self, symbols: &Symbols, width: Atom) -> bool {
        let is_narrow =
            |limit: Option<i64>| limit.is_some_and(|iterations| iterations <= machine::NARROW_BORDER as i64);
        let zero = Atom::i64(0);
        self.from.iter().all(|(atom, number)| {
            is_narrow(symbols.difference(*atom, zero).and_then(|start| start.checked_add(*number)))
        }) && self.to.iter().all(|(atom, number)| {
            is_narrow(symbols.difference(width, *atom).and_then(|rest| rest.checked_sub(*number)))
        })
    }
}

/// The lambda of a loop, where some variables are known.
pub(in crate::lower) fn specialise(
    symbols: &Symbols,
    width: Atom,
    lambda: &Lambda,
    known: HashMap<VarId, Atom>,
) -> Lambda {
    let mut finder = Finder { known, ..Finder::new(symbols, width) };
    Lambda { body: finder.body(&lambda.body), ..lambda.clone() }
}

/// The middle part, if there is anything to gain. `counters` are the parameters that hold the number of the iteration, of
/// which there are `width`.
pub(in crate::lower) fn interior(
    symbols: &Symbols,
    width: Atom,
    lambda: &Lambda,
    counters: &HashSet<VarId>,
) -> Option<Interior> {
    let mut finder = Finder::new(symbols, width);
    finder.affine.extend(counters.iter().map(|counter| (*counter, 0)));
    finder.bound.extend(lambda.params.iter().map(|p| p.var));
    let body = finder.body(&lambda.body);
    let Finder { mut from, mut to, .. } = finder;
    if from.is_empty() && to.is_empty() {
        return None;
    }
    strictest(&mut from, |a, b| a > b);
    strictest(&mut to, |a, b| a < b);
    let lambda = Lambda { body, ..lambda.clone() };
    Some(Interior { from, to, lambda })
}

/// Of limits that differ by a number, only one is needed.
fn strictest(limits: &mut Vec<(Atom, i64)>, is_stricter: fn(i64, i64) -> bool) {
    let all = std::mem::take(limits);
    for (atom, number) in all {
        match limits.iter_mut().find(|(other, _)| *other == atom) {
            Some((_, known)) if is_stricter(number, *known) => *known = number,
            Some(_) => {}
            None => limits.push((atom, number)),
        }
    }
}

/// The border that something is near to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
    Unknown,
}

struct Finder<'a> {
    symbols: &'a Symbols,
    /// How many iterations there are.
    width: Atom,
    /// Variables that are the counter plus a number.
    affine: HashMap<VarId, i64>,
    /// Variables that can differ between iterations.
    bound: HashSet<VarId>,
    from: Vec<(Atom, i64)>,
    to: Vec<(Atom, i64)>,
    /// What variables are in the middle part.
    known: HashMap<VarId, Atom>,
    /// Floats that are not `-0.0`, to which adding `0.0` changes nothing.
    sums: HashSet<VarId>,
}

impl<'a> Finder<'a> {
    fn new(symbols: &'a Symbols, width: Atom) -> Finder<'a> {
        Finder {
            symbols,
            width,
            affine: HashMap::new(),
            bound: HashSet::new(),
            from: Vec::new(),
            to: Vec::new(),
            known: HashMap::new(),
            sums: HashSet::new(),
        }
    }

    fn resolve(&self, atom: Atom) -> Atom {
        atom.as_var().and_then(|v| self.known.get(&v).copied()).unwrap_or(atom)
    }

    fn affine(&self, atom: Atom) -> Option<i64> {
        atom.as_var().and_then(|v| self.affine.get(&v).copied())
    }

    fn is_invariant(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|v| !self.bound.contains(&v))
    }

    fn body(&mut self, body: &Body) -> Body {
        let mut stms = Vec::new();
        for stm in &body.stms {
            self.stm(stm, &mut stms);
        }
        let result = body.result.iter().map(|atom| self.resolve(*atom)).collect();
        Body { stms, result }
    }

    fn stm(&mut self, stm: &Stm, out: &mut Vec<Stm>) {
        let mut stm = stm.clone();
        visit::operands_mut(&mut stm.exp, &mut |atom| *atom = self.resolve(*atom));
        self.types(stm.pat.iter_mut().map(|p| &mut p.ty));
        if let Exp::If { cond: Atom::Const(Prim::Bool(is_so)), then, otherwise } = &stm.exp {
            let branch = if *is_so { then } else { otherwise };
            let branch = self.body(branch);
            out.extend(branch.stms);
            for (param, result) in stm.pat.iter().zip(branch.result) {
                self.know(param.var, result);
            }
            return;
        }
        self.inside(&mut stm.exp);
        self.bound.extend(stm.pat.iter().map(|p| p.var));
        match (stm.pat.as_slice(), self.answer(&stm.exp)) {
            ([param], Some(answer)) => self.know(param.var, answer),
            ([param], None) => {
                if let Some(offset) = offset(&self.affine, &stm.exp) {
                    self.affine.insert(param.var, offset);
                }
                if self.is_sum(&stm.exp) {
                    self.sums.insert(param.var);
                }
                out.push(stm);
            }
            _ => out.push(stm),
        }
    }

    fn types<'t>(&self, types: impl Iterator<Item = &'t mut Type>) {
        types.for_each(|ty| visit::type_mut(ty, &mut |atom| *atom = self.resolve(*atom)));
    }

    /// The bodies inside of an expression.
    fn inside(&mut self, exp: &mut Exp) {
        if let Exp::Loop { params, form, .. } = exp {
            self.types(params.iter_mut().map(|(p, _)| &mut p.ty));
            self.bound.extend(params.iter().map(|(p, _)| p.var));
            if let LoopForm::For { var, .. } = form {
                self.bound.insert(*var);
            }
        }
        for lambda in visit::lambdas_mut(exp) {
            self.types(lambda.params.iter_mut().map(|p| &mut p.ty));
            self.types(lambda.ret.iter_mut());
            self.bound.extend(lambda.params.iter().map(|p| p.var));
        }
        for body in visit::bodies_mut(exp) {
            *body = self.body(body);
        }
    }

    /// A sum of floats is `-0.0` only if both are.
    fn is_sum(&self, exp: &Exp) -> bool {
        let is_other =
            |atom: &Atom| is_zero(*atom) || atom.as_var().is_some_and(|var| self.sums.contains(&var));
        matches!(exp, Exp::BinOp(BinOp::Add, ty, a, b) if ty.is_float() && (is_other(a) || is_other(b)))
    }

    fn know(&mut self, var: VarId, answer: Atom) {
        self.bound.insert(var);
        let answer = self.resolve(answer);
        self.known.insert(var, answer);
    }

    /// The border where the counter plus a number is `fixed`.
    fn side(&self, fixed: Atom, offset: i64) -> Side {
        let number = |atom: Atom| atom.as_const().and_then(|p| p.as_i64());
        match (number(fixed), number(self.width)) {
            (Some(fixed), Some(width)) if fixed.saturating_sub(offset) >= width / 2 => Side::Upper,
            (Some(_), _) => Side::Lower,
            (None, _) if self.symbols.difference(fixed, self.width).is_some() => Side::Upper,
            (None, _) => Side::Unknown,
        }
    }

    /// What an expression is in the middle part, which becomes smaller for it.
    fn answer(&mut self, exp: &Exp) -> Option<Atom> {
        match exp {
            Exp::UnOp(UnOp::Not, PrimType::Bool, Atom::Const(Prim::Bool(is_so))) => Some(Atom::bool(!is_so)),
            Exp::BinOp(BinOp::And, PrimType::Bool, a, b) => match (a, b) {
                (Atom::Const(Prim::Bool(true)), other) | (other, Atom::Const(Prim::Bool(true))) => {
                    Some(*other)
                }
                (no @ Atom::Const(Prim::Bool(false)), _) | (_, no @ Atom::Const(Prim::Bool(false))) => {
                    Some(*no)
                }
                _ => None,
            },
            Exp::BinOp(BinOp::Or, PrimType::Bool, a, b) => match (a, b) {
                (Atom::Const(Prim::Bool(false)), other) | (other, Atom::Const(Prim::Bool(false))) => {
                    Some(*other)
                }
                (yes @ Atom::Const(Prim::Bool(true)), _) | (_, yes @ Atom::Const(Prim::Bool(true))) => {
                    Some(*yes)
                }
                _ => None,
            },
            Exp::BinOp(op @ (BinOp::Max | BinOp::Min), PrimType::I64, a, b) => {
                let (moving, offset, fixed) = match (self.affine(*a), self.affine(*b)) {
                    (Some(offset), None) if self.is_invariant(*b) => (*a, offset, *b),
                    (None, Some(offset)) if self.is_invariant(*a) => (*b, offset, *a),
                    _ => return None,
                };
                match op {
                    BinOp::Max => self.from.push((fixed, offset.checked_neg()?)),
                    _ => self.to.push((fixed, 1i64.checked_sub(offset)?)),
                }
                Some(moving)
            }
            Exp::BinOp(BinOp::Add, ty, a, b) if ty.is_float() => {
                let is_sum = |atom: &Atom| atom.as_var().is_some_and(|var| self.sums.contains(&var));
                match (is_zero(*a), is_zero(*b)) {
                    (true, _) if is_sum(b) => Some(*b),
                    (_, true) if is_sum(a) => Some(*a),
                    _ => None,
                }
            }
            Exp::CmpOp(op, PrimType::I64, a, b) => self.comparison(*op, *a, *b),
            _ => None,
        }
    }

    fn comparison(&mut self, op: CmpOp, a: Atom, b: Atom) -> Option<Atom> {
        let strict = i64::from(op == CmpOp::Lt);
        match (self.affine(a), self.affine(b), op) {
            // The counter is below something that is not at the beginning.
            (Some(offset), None, CmpOp::Lt | CmpOp::Le) if self.is_invariant(b) => {
                let is_so = self.side(b, offset) != Side::Lower;
                let border = (b, (1 - strict).checked_sub(offset)?);
                if is_so {
                    self.to.push(border)
                } else {
                    self.from.push(border)
                }
                Some(Atom::bool(is_so))
            }
            // It is above something that is not at the end.
            (None, Some(offset), CmpOp::Lt | CmpOp::Le) if self.is_invariant(a) => {
                let is_so = self.side(a, offset) != Side::Upper;
                let border = (a, strict.checked_sub(offset)?);
                if is_so {
                    self.from.push(border)
                } else {
                    self.to.push(border)
                }
                Some(Atom::bool(is_so))
            }
            (Some(offset), None, CmpOp::Eq) | (None, Some(offset), CmpOp::Eq) => {
                let fixed = if self.affine(a).is_some() { b } else { a };
                if !self.is_invariant(fixed) {
                    return None;
                }
                match self.side(fixed, offset) {
                    Side::Lower => self.from.push((fixed, 1i64.checked_sub(offset)?)),
                    Side::Upper | Side::Unknown => self.to.push((fixed, offset.checked_neg()?)),
                }
                Some(Atom::bool(false))
            }
            _ => None,
        }
    }
}

/// Whether this is `0.0`, and not `-0.0`.
fn is_zero(atom: Atom) -> bool {
    let value = atom.as_const().and_then(Prim::as_f64);
    value.is_some_and(|value| value == 0.0 && value.is_sign_positive())
}
