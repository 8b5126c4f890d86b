//! Sums of which one or two terms count are written out.
//!
//! The gradient of a stencil whose indices stop at the border adds up, at the border, what all places beyond it would have
//! got. A condition on the number of the term says which these are:
//!
//! ```text
//! let (last: i64) = i64.sub n 1                         let (p: i64) = i64.add n -1
//! let (s: f64) = reduce n (is)                          let (ok: bool) = i64.le 0 p
//!   pre \(p: i64) : (f64) ->                            let (s: f64) = if ok then f p else 0.0
//!     let (next: i64) = i64.add p 1            ==>
//!     let (beyond: bool) = i64.lt last next
//!     let (x: f64) = if beyond then f p else 0.0
//!     in (x)
//!   op (+) neutral 0.0
//! ```
//!
//! Sums and differences of a size and a small number do not wrap. Leaves copies to [`crate::simplify`].

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Program, Stm, Vars};
use dagaz_core::index::{exchanged, limits, offset};
use dagaz_core::machine;
use dagaz_core::operator::scalar_operator;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, CmpOp, PrimType, UnOp};
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::bodies_mut;

/// Larger numbers are not looked at.
const GREATEST: i64 = 1 << 40;

pub const ENUMERATE_NONZERO_TERMS: Pass = Pass::reporting(
    "enumerate-nonzero-terms",
    "Sums of which one or two terms can be other than zero are written out.",
    enumerate_nonzero_terms,
);

/// Whether a sum was written out.
pub fn enumerate_nonzero_terms(program: &mut Program) -> bool {
    let mut writer =
        Writer { vars: &mut program.vars, sums: HashMap::new(), numbers: HashSet::new(), has_changed: false };
    program.funs.iter_mut().for_each(|fun| writer.body(&mut fun.body));
    writer.has_changed
}

/// A variable, if there is one, plus a number.
type Linear = (Option<VarId>, i64);

/// The terms of a sum that count, where they exist.
struct Terms {
    numbers: Vec<Linear>,
    /// Whether a number can be less than zero, or too great.
    may_be_negative: bool,
    may_be_great: bool,
}

struct Writer<'p> {
    vars: &'p mut Vars,
    /// Variables that are another one plus a number.
    sums: HashMap<VarId, (VarId, i64)>,
    /// Arrays `0, 1, 2, …`.
    numbers: HashSet<VarId>,
    has_changed: bool,
}

impl Writer<'_> {
    fn body(&mut self, body: &mut Body) {
        for mut stm in std::mem::take(&mut body.stms) {
            self.note(&stm);
            bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.body(body));
            match self.terms(&stm) {
                Some(terms) => {
                    self.has_changed = true;
                    self.write_out(stm, &terms, &mut body.stms);
                }
                None => body.stms.push(stm),
            }
        }
    }

    fn note(&mut self, stm: &Stm) {
        let [param] = stm.pat.as_slice() else { return };
        if stm.exp.is_counting() {
            self.numbers.insert(param.var);
        }
        if let Some((operand, number)) = sum_with_number(&stm.exp)
            && let Some((Some(root), more)) = self.linear(operand.into())
            && let Some(number) = small(number.checked_add(more))
        {
            self.sums.insert(param.var, (root, number));
        }
    }

    fn linear(&self, atom: Atom) -> Option<Linear> {
        match atom {
            Atom::Const(prim) => Some((None, small(prim.as_i64())?)),
            Atom::Var(var) => {
                let (root, number) = self.sums.get(&var).copied().unwrap_or((var, 0));
                Some((Some(root), number))
            }
        }
    }

    /// The terms of a sum that count, if it is known which, and that they are few.
    fn terms(&self, stm: &Stm) -> Option<Terms> {
        let Exp::Reduce { width, arrays, pre: Some(pre), op, neutral, .. } = &stm.exp else { return None };
        let ([array], [param], [start]) = (arrays.as_slice(), pre.params.as_slice(), neutral.as_slice())
        else {
            return None;
        };
        let (choice, before) = pre.body.stms.split_last()?;
        let Exp::If { cond, otherwise, .. } = &choice.exp else { return None };
        let is_result = choice.pat.iter().map(|p| Atom::Var(p.var)).eq(pre.body.result.iter().copied());
        let is_sum = float_type(op).is_some() && is_zero(*start) && self.numbers.contains(array);
        let counts_for_nothing =
            otherwise.stms.is_empty() && otherwise.result.iter().all(|result| is_zero(*result));
        if !is_sum || !is_result || !counts_for_nothing {
            return None;
        }
        let mut condition = Condition::default();
        condition.offsets.insert(param.var, 0);
        before.iter().try_for_each(|stm| condition.note(stm))?;
        let (from, to) = condition.limits(cond.as_var()?, self)?;
        let (width_root, width) = self.linear(*width)?;
        let (first, count) = match (from, to) {
            (Some(from), Some(to)) if from == to => (from, 1),
            (Some((root, from)), None) if root == width_root => ((root, from), width - from),
            (None, Some((None, to))) => ((None, 0), to + 1),
            _ => return None,
        };
        if !(1..=machine::NONZERO_TERMS).contains(&count) {
            return None;
        }
        let numbers = (0..count).map(|i| (first.0, first.1 + i)).collect();
        Some(Terms { numbers, may_be_negative: from.is_some(), may_be_great: to.is_some() })
    }

    fn write_out(&mut self, sum: Stm, terms: &Terms, out: &mut Vec<Stm>) {
        let Stm { pat, exp, loc } = sum;
        let Exp::Reduce { width, pre: Some(pre), op, neutral, .. } = exp else { return };
        let mut let_exp = |vars: &mut Vars, hint: &str, ty: Type, exp: Exp| {
            let param = Param { var: vars.fresh(hint), ty };
            let var = param.var;
            out.push(Stm { pat: vec![param], exp, loc });
            Atom::Var(var)
        };
        let mut parts = Vec::new();
        for (root, number) in &terms.numbers {
            let place = match root {
                Some(root) => {
                    let exp = Exp::BinOp(BinOp::Add, PrimType::I64, Atom::Var(*root), Atom::i64(*number));
                    let_exp(self.vars, "place", Type::Prim(PrimType::I64), exp)
                }
                None => Atom::i64(*number),
            };
            let mut conditions = Vec::new();
            let bool_type = || Type::Prim(PrimType::Bool);
            if terms.may_be_negative {
                let exp = Exp::CmpOp(CmpOp::Le, PrimType::I64, Atom::i64(0), place);
                conditions.push(let_exp(self.vars, "exists", bool_type(), exp));
            }
            if terms.may_be_great {
                let exp = Exp::CmpOp(CmpOp::Lt, PrimType::I64, place, width);
                conditions.push(let_exp(self.vars, "exists", bool_type(), exp));
            }
            let exists = conditions.into_iter().reduce(|a, b| {
                let_exp(self.vars, "exists", bool_type(), Exp::BinOp(BinOp::And, PrimType::Bool, a, b))
            });
            let then = self.term(&pre, place, loc);
            let otherwise = Body { stms: Vec::new(), result: neutral.clone() };
            let cond = exists.unwrap_or(Atom::bool(true));
            let exp = Exp::If { cond, then, otherwise };
            parts.push(let_exp(self.vars, "part", pat[0].ty.clone(), exp));
        }
        let exp = match (parts.as_slice(), float_type(&op)) {
            ([first, second], Some(ty)) => Exp::BinOp(BinOp::Add, ty, *first, *second),
            _ => Exp::Atom(parts[0]),
        };
        out.push(Stm { pat, exp, loc });
    }

    /// The term with a given number, which counts.
    fn term(&mut self, pre: &Lambda, number: Atom, loc: dagaz_core::exp::Loc) -> Body {
        let mut stms = vec![Stm { pat: vec![pre.params[0].clone()], exp: Exp::Atom(number), loc }];
        let (choice, before) = match pre.body.stms.split_last() {
            Some((choice, before)) => (Some(&choice.exp), before),
            None => (None, [].as_slice()),
        };
        stms.extend_from_slice(before);
        let mut result = Vec::new();
        if let Some(Exp::If { then, .. }) = choice {
            stms.extend_from_slice(&then.stms);
            result.clone_from(&then.result);
        }
        renamed(self.vars, &Body { stms, result })
    }
}

/// What is known of the statements before a choice.
#[derive(Default)]
struct Condition {
    /// Variables that are the number of the term, plus a number.
    offsets: HashMap<VarId, i64>,
    comparisons: HashMap<VarId, (CmpOp, Atom, Atom)>,
    negations: HashMap<VarId, VarId>,
}

impl Condition {
    /// Nothing, if the statement could be anything else than sums with numbers, comparisons and negations.
    fn note(&mut self, stm: &Stm) -> Option<()> {
        let [param] = stm.pat.as_slice() else { return None };
        match &stm.exp {
            Exp::CmpOp(op, PrimType::I64, a, b) => {
                self.comparisons.insert(param.var, (*op, *a, *b));
            }
            Exp::UnOp(UnOp::Not, PrimType::Bool, operand) => {
                self.negations.insert(param.var, operand.as_var()?);
            }
            exp => {
                self.offsets.insert(param.var, offset(&self.offsets, exp)?);
            }
        }
        Some(())
    }

    /// The first and the last term for which a condition holds, as far as it says so.
    fn limits(&self, cond: VarId, writer: &Writer<'_>) -> Option<(Option<Linear>, Option<Linear>)> {
        let (holds, comparison) = match self.negations.get(&cond) {
            Some(operand) => (false, self.comparisons.get(operand)?),
            None => (true, self.comparisons.get(&cond)?),
        };
        let (op, a, b) = *comparison;
        let limits = limits(op, holds);
        let offset = |atom: Atom| atom.as_var().and_then(|var| self.offsets.get(&var).copied());
        let ((least, greatest), offset, fixed) = match (offset(a), offset(b)) {
            (Some(offset), None) => (limits, offset, b),
            (None, Some(offset)) => (exchanged(limits), offset, a),
            _ => return None,
        };
        let (root, number) = writer.linear(fixed)?;
        let at = |more: Option<i64>| more.map(|more| (root, number - offset + more));
        Some((at(least), at(greatest)))
    }
}

/// A variable plus a number.
fn sum_with_number(exp: &Exp) -> Option<(VarId, i64)> {
    let Exp::BinOp(op, PrimType::I64, a, b) = exp else { return None };
    let number = |atom: &Atom| small(atom.as_const().and_then(|prim| prim.as_i64()));
    match (op, a.as_var(), b.as_var()) {
        (BinOp::Add, Some(var), None) => Some((var, number(b)?)),
        (BinOp::Add, None, Some(var)) => Some((var, number(a)?)),
        (BinOp::Sub, Some(var), None) => Some((var, -number(b)?)),
        _ => None,
    }
}

fn small(number: Option<i64>) -> Option<i64> {
    number.filter(|number| number.abs() <= GREATEST)
}

fn is_zero(atom: Atom) -> bool {
    atom.as_const().and_then(|prim| prim.as_f64()) == Some(0.0)
}

/// The type of the numbers that an operator adds, if they are floats.
fn float_type(op: &Lambda) -> Option<PrimType> {
    scalar_operator(op).filter(|own| own.op == BinOp::Add && own.ty.is_float()).map(|own| own.ty)
}
