//! Finds indices, updates and assertions that cannot fail, and takes their checks away.
//!
//! ```text
//! let (s: f64) = loop (s: f64 = 0.0f64) for i: i64 < n do       let (s: f64) = loop … for i: i64 < n do
//!   let (c: bool) = i64.lt 0i64 i                                 …
//!   let (x: f64) = if c then                              ==>     let (x: f64) = if c then
//!     let (j: i64) = i64.sub i 1i64                                 let (j: i64) = i64.sub i 1i64
//!     let (y: f64) = xs[j]                                          let (y: f64) = xs[j] certified
//! ```
//!
//! The walk keeps facts, linear inequalities between products of variables, in [`facts::Inequalities`]: counters are within their
//! bounds, branches and assertions tell what their conditions say, sizes are not negative, and an index that was checked is
//! within bounds from there on. Branch conditions are in `conditions`.
//!
//! Inequalities are about integers that do not wrap. `c = a + b` is a fact only if the facts in scope bound the sum by the range
//! of its type; else `c` is an unknown. What bounds most sums is that no array has 2^60 elements, since it could not be
//! stored: so the product of its sizes is less, and so is a size where no other one can be zero, as inside of a map over the
//! other one. `iota` and `replicate` may
//! take no memory and are not bounded by it, nor is the number of iterations of a loop.

mod conditions;
mod facts;
mod loops;

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{AccInput, Body, Check, DimSlice, Exp, Lambda, Program, Stm};
use dagaz_core::index::Polynomial;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::lambdas_mut;

use crate::accumulators::{leading_index, widths_of_others};

use facts::{Def, Inequalities};

/// The value of an integer as the prover sees it, without wrapping.
type Form = Polynomial<VarId>;

pub const PROVE_BOUNDS: Pass =
    Pass::always("prove-bounds", "Checks that cannot fail are taken away.", prove_bounds);

pub fn prove_bounds(program: &mut Program) {
    Walk::over(program);
}

/// What those accumulators become of which only one row is updated, and that row exists.
pub(crate) fn rows_that_exist(program: &mut Program) -> HashSet<VarId> {
    Walk::over(program).rows_that_exist
}

struct Walk {
    facts: Inequalities,
    arrays: HashMap<VarId, Vec<Atom>>,
    /// Arrays `start, start + step, …`.
    numbers: HashMap<VarId, (Atom, Atom)>,
    /// The number of the next variable that stands for the number of an iteration.
    next: u32,
    rows_that_exist: HashSet<VarId>,
}

impl Walk {
    fn over(program: &mut Program) -> Walk {
        let next = u32::try_from(program.vars.hints.len()).unwrap_or(u32::MAX);
        let mut walk = Walk {
            facts: Inequalities::default(),
            arrays: HashMap::new(),
            numbers: HashMap::new(),
            next,
            rows_that_exist: HashSet::new(),
        };
        walk.stms(&mut program.consts);
        for fun in &mut program.funs {
            let mark = walk.facts.mark();
            fun.params.iter().for_each(|p| walk.bind(p));
            walk.stms(&mut fun.body.stms);
            walk.facts.leave(mark);
        }
        walk
    }

    fn bind(&mut self, param: &Param) {
        match &param.ty {
            Type::Prim(prim) => {
                self.facts.types.insert(param.var, *prim);
            }
            Type::Array { dims, .. } => {
                self.arrays.insert(param.var, dims.clone());
                self.facts.exists(dims);
            }
            Type::Acc { index_dims, .. } => self.facts.exists(index_dims),
        }
    }

    fn stms(&mut self, stms: &mut [Stm]) {
        stms.iter_mut().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &mut Stm) {
        match &mut stm.exp {
            Exp::Index { array, indices, check } => self.access(*array, indices, check),
            Exp::Update { array, dims, check, .. } => {
                let fixed = dims.iter().map(|dim| match dim {
                    DimSlice::Fix(i) => Some(*i),
                    DimSlice::Range { .. } => None,
                });
                if let Some(indices) = fixed.collect::<Option<Vec<Atom>>>() {
                    self.access(*array, &indices, check);
                }
            }
            Exp::Assert { cond, .. } => {
                if self.facts.is_certain(*cond, true) {
                    *cond = Atom::bool(true);
                } else {
                    self.facts.assume(*cond, true);
                }
            }
            Exp::If { cond, then, otherwise } => {
                self.branch(*cond, true, then);
                self.branch(*cond, false, otherwise);
            }
            Exp::Loop { .. } => self.iterate(stm),
            Exp::WithAcc { inputs, lambda } => {
                self.note_rows(inputs, lambda, &stm.pat);
                self.inside(&mut stm.exp);
            }
            exp => self.inside(exp),
        }
        match (&stm.exp, &stm.pat[..]) {
            // These may take no memory, and be as large as they like.
            (Exp::Iota { .. } | Exp::Replicate { .. }, [Param { var, ty }]) => {
                self.arrays.insert(*var, ty.dims().to_vec());
                self.facts.learn_sizes(ty.dims());
            }
            _ => stm.pat.iter().for_each(|p| self.bind(p)),
        }
        self.define(stm);
    }

    /// Decides about a check, and learns from it what it says.
    fn access(&mut self, array: VarId, indices: &[Atom], check: &mut Check) {
        let Some(dims) = self.arrays.get(&array).cloned() else { return };
        let mut is_within = true;
        for (index, dim) in indices.iter().zip(&dims) {
            let (Some(index), Some(dim)) = (self.facts.form(*index), self.facts.form(*dim)) else { return };
            let rest = dim.minus(&index).and_then(|rest| rest.offset(-1));
            if *check == Check::Checked {
                is_within &=
                    self.facts.is_nonnegative(Some(index.clone())) && self.facts.is_nonnegative(rest.clone());
            }
            if *check == Check::Certified || !is_within {
                self.facts.learn(Some(index));
                self.facts.learn(rest);
            }
        }
        if is_within {
            *check = Check::Certified;
        }
    }

    fn note_rows(&mut self, inputs: &[AccInput], lambda: &Lambda, pat: &[Param]) {
        let mut position = 0;
        for (which, input) in inputs.iter().enumerate() {
            if let Some(row) = leading_index(lambda, which, input)
                && let (Some(row), Some(dim)) = (self.facts.form(row), self.facts.form(input.shape[0]))
                && self.facts.is_nonnegative(dim.minus(&row).and_then(|rest| rest.offset(-1)))
                && self.facts.is_nonnegative(Some(row))
                && self.is_dense(lambda, which, &input.shape[1..])
            {
                self.rows_that_exist.extend(pat.get(position).map(|p| p.var));
            }
            position += input.arrays.len();
        }
    }

    /// Whether updates reach about as many elements of a row as there are, whose sizes are given.
    fn is_dense(&mut self, lambda: &Lambda, which: usize, sizes: &[Atom]) -> bool {
        let counts = |array: VarId| self.numbers.get(&array).is_some_and(|(_, step)| *step == Atom::i64(1));
        let Some(widths) = widths_of_others(lambda, which, counts) else { return false };
        let mut is_wide = |width: Atom, size: Atom| {
            let (Some(width), Some(size)) = (self.facts.form(width), self.facts.form(size)) else {
                return false;
            };
            let rest = width.times(4).and_then(|w| w.minus(&size)).and_then(|rest| rest.offset(64));
            self.facts.is_nonnegative(rest)
        };
        widths.iter().all(|widths| widths.iter().zip(sizes).all(|(width, size)| is_wide(*width, *size)))
    }

    fn branch(&mut self, cond: Atom, is_taken: bool, body: &mut Body) {
        let mark = self.facts.mark();
        self.facts.assume(cond, is_taken);
        self.stms(&mut body.stms);
        self.facts.leave(mark);
    }

    /// The lambdas of an expression.
    fn inside(&mut self, exp: &mut Exp) {
        match exp {
            Exp::Map { width, arrays, lambda } => self.rows(*width, arrays, lambda),
            Exp::Reduce { width, arrays, pre, op, .. }
            | Exp::Scan { width, arrays, pre, op, .. }
            | Exp::Hist { width, arrays, pre, op, .. } => {
                pre.iter_mut().for_each(|pre| self.rows(*width, arrays, pre));
                self.lambda(op);
            }
            Exp::Scatter { width, arrays, pre, .. } => {
                pre.iter_mut().for_each(|pre| self.rows(*width, arrays, pre));
            }
            _ => lambdas_mut(exp).into_iter().for_each(|lambda| self.lambda(lambda)),
        }
    }

    fn lambda(&mut self, lambda: &mut Lambda) {
        let mark = self.facts.mark();
        lambda.params.iter().for_each(|p| self.bind(p));
        self.stms(&mut lambda.body.stms);
        self.facts.leave(mark);
    }

    /// A function that is applied to the rows of arrays: its parameters may be numbers that are known.
    fn rows(&mut self, width: Atom, arrays: &[VarId], lambda: &mut Lambda) {
        let mark = self.facts.mark();
        let number = self.number();
        self.within(number, PrimType::I64, width);
        lambda.params.iter().for_each(|p| self.bind(p));
        for (array, param) in arrays.iter().zip(&lambda.params) {
            if let (Some((start, step)), Type::Prim(ty)) = (self.numbers.get(array).copied(), &param.ty)
                && let (Some(start), Some(step)) = (self.facts.form(start), self.facts.form(step))
                && let Some(offset) = step.product(&Form::var(number))
                && let Some(value) = start.plus(1, &offset)
            {
                self.facts.define(param.var, *ty, value);
            }
        }
        self.stms(&mut lambda.body.stms);
        self.facts.leave(mark);
    }

    /// A variable that stands for the number of an iteration.
    fn number(&mut self) -> VarId {
        let number = VarId(self.next);
        self.next = self.next.saturating_add(1);
        number
    }

    /// Learns that `0 <= number < bound`.
    fn within(&mut self, number: VarId, ty: PrimType, bound: Atom) {
        self.facts.types.insert(number, ty);
        self.facts.learn_nonempty(bound);
        let number = Form::var(number);
        let rest = self.facts.form(bound).and_then(|bound| bound.minus(&number)?.offset(-1));
        self.facts.learn_below(&number, bound);
        self.facts.learn(rest);
        self.facts.learn(Some(number));
    }

    /// What later statements are to know of the variables of this one.
    fn define(&mut self, stm: &Stm) {
        if let Exp::If { cond, then, otherwise } = &stm.exp {
            for (param, (a, b)) in stm.pat.iter().zip(then.result.iter().zip(&otherwise.result)) {
                if matches!(param.ty, Type::Prim(ty) if ty.is_int() || ty == PrimType::Bool) {
                    let def = Def::Branch { cond: *cond, then: *a, otherwise: *b };
                    self.facts.defs.insert(param.var, def);
                }
            }
        }
        let [Param { var, ty }] = &stm.pat[..] else { return };
        match (&stm.exp, ty) {
            (Exp::Iota { start, step, .. }, _) => {
                self.numbers.insert(*var, (*start, *step));
            }
            (Exp::CmpOp(op, operands, left, right), _) if operands.is_int() => {
                self.facts.defs.insert(*var, Def::Compare { op: *op, left: *left, right: *right });
            }
            (Exp::UnOp(UnOp::Not, PrimType::Bool, a), _) => {
                self.facts.defs.insert(*var, Def::Not(*a));
            }
            (Exp::BinOp(op, PrimType::Bool, a, b), _) => {
                self.facts.defs.insert(*var, Def::BinOp(*op, *a, *b));
            }
            (exp, Type::Prim(ty)) if ty.is_int() => self.define_integer(*var, *ty, exp),
            _ => {}
        }
    }

    fn define_integer(&mut self, var: VarId, ty: PrimType, exp: &Exp) {
        let facts = &self.facts;
        let form = match exp {
            Exp::Convert(from, _, a) if from.is_int() => facts.form(*a),
            exp => Form::of_exp(exp, |atom| facts.form(atom)),
        };
        if let Some(form) = form {
            return self.facts.define(var, ty, form);
        }
        let def = match exp {
            Exp::UnOp(UnOp::Abs, _, a) => Def::Abs(*a),
            Exp::BinOp(op @ (BinOp::Ashr | BinOp::Lshr), _, a, bits) => {
                let is_plain = constant(*bits).is_some_and(|bits| (0..ty.bits().into()).contains(&bits));
                if !is_plain || (*op == BinOp::Ashr && !ty.is_signed()) {
                    return;
                }
                Def::BinOp(*op, *a, *bits)
            }
            Exp::BinOp(op, _, a, b) => {
                if matches!(op, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem) {
                    self.facts.learn_nonzero(*b);
                }
                Def::BinOp(*op, *a, *b)
            }
            _ => return,
        };
        self.facts.defs.insert(var, def);
    }
}

/// The number that an atom is.
fn constant(atom: Atom) -> Option<i64> {
    atom.as_const().and_then(Prim::as_i64)
}
