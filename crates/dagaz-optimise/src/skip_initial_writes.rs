//! Rows that a loop writes once need no value before, and have the one they were given before until then.
//!
//! The adjoint of an array of which a loop reads one row in each iteration begins with zeros, to which rows are added:
//!
//! ```text
//! let (zs: [n][m]f64) = replicate [n, m] 0.0               let (zs: [n][m]f64) = scratch f64 [n, m]
//! let (ys: [n][m]f64) =                                    …zeros in the rows before and after those of the loop…
//!   loop (xs: [n][m]f64 = zs) for j < k do                 let (ys: [n][m]f64) =
//!     let (i: i64) = i64.sub last j                  ==>     loop (xs: [n][m]f64 = zs) for j < k do
//!     let (row: [m]f64) = map m … xs[i, q] …                   let (i: i64) = i64.sub last j
//!     let (later: [n][m]f64) = xs with [i] = row               let (row: [m]f64) = map m … 0.0 …
//!     in (later)                                               let (later: [n][m]f64) = xs with [i] = row
//!                                                              in (later)
//! ```
//!
//! Only where iterations write to whole rows, of which the index is the counter, or something minus it, plus what is the same in
//! all iterations: no two of them have the same row, as integers wrap. Expects arrays to be plain values.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, Program, Stm};
use dagaz_core::facts::uses;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, direct_operands, replace_stms};

pub const SKIP_INITIAL_WRITES: Pass = Pass::reporting(
    "skip-initial-writes",
    "Rows that a loop writes once are not written before it.",
    skip_initial_writes,
);

pub fn skip_initial_writes(program: &mut Program) -> bool {
    let uses = uses(program);
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = InitialWrites { b, uses, has_changed: false };
    replace_stms(&mut program.funs, &mut |stm, done| pass.stm(stm, done));
    program.vars = pass.b.finish().0;
    pass.has_changed
}

struct InitialWrites {
    b: Builder,
    uses: HashMap<VarId, usize>,
    has_changed: bool,
}

/// What a loop does to an array that it carries: iteration `j` writes row `first + j`, or `first - j`.
struct Rows {
    param: Param,
    /// What it begins with: a value, repeated. The place of the statement, and the value.
    start: (usize, Atom),
    index: Atom,
    is_upwards: bool,
}

impl InitialWrites {
    fn stm(&mut self, mut stm: Stm, stms: &mut Vec<Stm>) {
        for number in 0..stm.pat.len() {
            let Some(rows) = rows(&stm, number, stms) else { continue };
            self.has_changed = true;
            if let Exp::Loop { body, .. } = &mut stm.exp {
                read_start(body, &rows);
            }
            self.leave_out_start(&stm, &rows, stms);
        }
        stms.push(stm);
    }

    /// Gives the rows that the loop does not write their value, and no others, if nothing else needs them.
    fn leave_out_start(&mut self, stm: &Stm, rows: &Rows, stms: &mut Vec<Stm>) -> Option<()> {
        let (position, value) = rows.start;
        let [array] = stms[position].pat.as_slice() else { return None };
        let Type::Array { elem, dims } = &rows.param.ty else { return None };
        if self.uses.get(&array.var) != Some(&1) || dims.len() < 2 {
            return None;
        }
        let Exp::Loop { form: LoopForm::For { var, bound, .. }, body, .. } = &stm.exp else { return None };
        let (array, loc, n) = (array.clone(), stm.loc, *dims.first()?);
        self.b.push_scope();
        let first = self.at_start(rows.index, *var, body, loc);
        let count = self.b.binop(BinOp::Max, PrimType::I64, *bound, Atom::i64(0), loc);
        let low = match rows.is_upwards {
            true => first,
            false => {
                let last = self.b.sub(PrimType::I64, first, count, loc);
                self.b.add(PrimType::I64, last, Atom::i64(1), loc)
            }
        };
        let high = self.b.add(PrimType::I64, low, count, loc);
        let low = self.between(low, Atom::i64(0), n, loc);
        let high = self.between(high, low, n, loc);
        let rest = self.b.sub(PrimType::I64, n, high, loc);
        let scratch = Exp::Scratch { elem: *elem, dims: dims.clone() };
        let scratch = self.b.let_var("fresh", array.ty.clone(), scratch, loc);
        let before = self.fill(scratch, (Atom::i64(0), low), value, &array.ty, loc);
        let whole = self.fill(before, (high, rest), value, &array.ty, loc);
        self.b.push(Stm { pat: vec![array], exp: Exp::Atom(whole.into()), loc });
        let new = self.b.pop_scope();
        // Bounds may be known later than the array.
        stms.remove(position);
        stms.extend(new);
        Some(())
    }

    /// The greater of a number and the least, but no more than the greatest.
    fn between(&mut self, number: Atom, least: Atom, greatest: Atom, loc: Loc) -> Atom {
        let number = self.b.binop(BinOp::Min, PrimType::I64, number, greatest, loc);
        self.b.binop(BinOp::Max, PrimType::I64, number, least, loc)
    }

    /// An array with a value in some rows.
    fn fill(&mut self, array: VarId, (start, len): (Atom, Atom), value: Atom, ty: &Type, loc: Loc) -> VarId {
        let Type::Array { elem, dims } = ty else { return array };
        let one = Atom::i64(1);
        let mut sizes = dims.clone();
        sizes[0] = len;
        let whole = |len: &Atom| DimSlice::Range { start: Atom::i64(0), len: *len, stride: one };
        let rows = DimSlice::Range { start, len, stride: one };
        let slice = [rows].into_iter().chain(dims[1..].iter().map(whole)).collect();
        let same = Exp::Replicate { dims: sizes.clone(), value };
        let same = self.b.let_exp("same", Type::Array { elem: *elem, dims: sizes }, same, loc);
        let update = Exp::Update { array, dims: slice, value: same, check: Check::Certified };
        self.b.let_var("fresh", ty.clone(), update, loc)
    }

    /// An index of the first iteration.
    fn at_start(&mut self, index: Atom, counter: VarId, body: &Body, loc: Loc) -> Atom {
        match definition(index, body) {
            _ if index == counter.into() => Atom::i64(0),
            Some(Exp::BinOp(op, ty, a, b)) => {
                let (a, b) = (self.at_start(*a, counter, body, loc), self.at_start(*b, counter, body, loc));
                self.b.binop(*op, *ty, a, b, loc)
            }
            _ => index,
        }
    }
}

fn definition(atom: Atom, body: &Body) -> Option<&Exp> {
    let var = atom.as_var()?;
    body.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == var)).map(|stm| &stm.exp)
}

/// What a loop does to the array that gives the result with this number.
fn rows(stm: &Stm, number: usize, before: &[Stm]) -> Option<Rows> {
    let Exp::Loop { params, form: LoopForm::For { var, ty: PrimType::I64, .. }, body, .. } = &stm.exp else {
        return None;
    };
    let (param, init) = params.get(number)?;
    let position = before.iter().position(|stm| stm.pat.iter().any(|p| Atom::Var(p.var) == *init))?;
    let value = match &before[position].exp {
        Exp::Replicate { dims, value: value @ Atom::Const(_) } if dims.len() == param.ty.rank() => *value,
        _ => return None,
    };
    let result = body.result.get(number)?.as_var()?;
    let update = body.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == result))?;
    let Exp::Update { array, dims, .. } = &update.exp else { return None };
    let index = whole_row(dims, &param.ty).filter(|_| *array == param.var)?;
    let slope = slope(index, *var, params, body).filter(|slope| slope.abs() == 1)?;
    let mut other = Uses { array: param.var, later: result, index, reads: 0, others: 0 };
    other.body(body);
    // Those that are not reads are the update, and its result, which the loop gives.
    (other.others == 2).then_some(Rows {
        param: param.clone(),
        start: (position, value),
        index,
        is_upwards: slope > 0,
    })
}

/// The index of the row that an update is to, if it is to all of it.
fn whole_row(dims: &[DimSlice], ty: &Type) -> Option<Atom> {
    let (DimSlice::Fix(index), rest) = dims.split_first()? else { return None };
    let is_whole = |(slice, dim): (&DimSlice, &Atom)| {
        matches!(slice, DimSlice::Range { start, len, stride }
            if (*start, *len, *stride) == (Atom::i64(0), *dim, Atom::i64(1)))
    };
    rest.iter().zip(ty.dims().iter().skip(1)).all(is_whole).then_some(*index)
}

/// How much an index of a loop changes from one iteration to the next, if that is known.
fn slope(index: Atom, counter: VarId, params: &[(Param, Atom)], body: &Body) -> Option<i64> {
    let of = |atom: &Atom| slope(*atom, counter, params, body);
    match definition(index, body) {
        _ if index == counter.into() => Some(1),
        None => (!params.iter().any(|(p, _)| Atom::Var(p.var) == index)).then_some(0),
        Some(Exp::BinOp(BinOp::Add, _, a, b)) => of(a)?.checked_add(of(b)?),
        Some(Exp::BinOp(BinOp::Sub, _, a, b)) => of(a)?.checked_sub(of(b)?),
        _ => None,
    }
}

/// Looks for uses of an array, and of the array after its update.
struct Uses {
    array: VarId,
    later: VarId,
    index: Atom,
    /// Reads of the row that is written, and everything else.
    reads: usize,
    others: usize,
}

impl Uses {
    fn body(&mut self, body: &Body) {
        for stm in &body.stms {
            if is_read(&stm.exp, self.array, self.index) {
                self.reads += 1;
                continue;
            }
            direct_operands(&stm.exp, &mut |atom| self.operand(atom));
            bodies(&stm.exp).into_iter().for_each(|body| self.body(body));
        }
        body.result.iter().for_each(|atom| self.operand(*atom));
    }

    fn operand(&mut self, atom: Atom) {
        self.others += usize::from(atom == self.array.into() || atom == self.later.into());
    }
}

fn is_read(exp: &Exp, from: VarId, row: Atom) -> bool {
    matches!(exp, Exp::Index { array, indices, check: Check::Certified }
        if *array == from && indices.first() == Some(&row))
}

/// Reads of the row are what the array began with.
fn read_start(body: &mut Body, rows: &Rows) {
    for stm in &mut body.stms {
        if is_read(&stm.exp, rows.param.var, rows.index) {
            let value = rows.start.1;
            stm.exp = match stm.pat.first().map(|p| &p.ty) {
                Some(Type::Array { dims, .. }) => Exp::Replicate { dims: dims.clone(), value },
                _ => Exp::Atom(value),
            };
            continue;
        }
        bodies_mut(&mut stm.exp).into_iter().for_each(|body| read_start(body, rows));
    }
}
