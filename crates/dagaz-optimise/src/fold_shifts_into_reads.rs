//! Reads elements at other places instead of making arrays in which they have moved.
//!
//! An array that begins with a number, and goes on with all but the last element of another one, is read one place before:
//!
//! ```text
//! let (first: [1]f64) = array f64 (c)                let (is: [n]i64) = iota i64 n 0 1
//! let (longer: [m]f64) = concat (first, xs)    ==>   let (ys: [n]f64) = map n (is) \(i: i64) : (f64) ->
//! let (ys: [n]f64) = slice longer [0 :+ n * 1]         if 0 < i then xs[i - 1] else c
//! ```
//!
//! A map whose results are only read the other way round goes over its arrays that way:
//!
//! ```text
//! let (ys: [n]f64) = map n (xs) f                    let (zs: [n]f64) = slice xs [k :+ n * -1]
//! let (rs: [n]f64) = slice ys [k :+ n * -1]    ==>   let (rs: [n]f64) = map n (zs) f
//! ```
//!
//! Derivatives of scans and reductions do both with all that they take. The maps then go into the operations that take their
//! rows. Last, columns of short rows that are read a few times, once by each operation, are read where they are:
//!
//! ```text
//! let (xs: [n]f64, ys: [n]f64) = map n (rows)        let (xs: [n]f64) = slice rows [0 :+ n * 1, 0]
//!   \(row: [2]f64) : (f64, f64) ->             ==>   let (ys: [n]f64) = slice rows [0 :+ n * 1, 1]
//!     let (x: f64) = row[0]
//!     let (y: f64) = row[1]
//!     in (x, y)
//! ```
//!
//! Expects arrays to be plain values; leaves what is dead to [`crate::eliminate_dead_code`].

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Program, Stm};
use dagaz_core::facts::uses;
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use dagaz_core::effects::Effects;
use dagaz_core::visit::{bodies_mut, lambdas};

pub const FOLD_SHIFTS_INTO_READS: Pass = Pass::reporting(
    "fold-shifts-into-reads",
    "Elements are read at other places instead of from arrays in which they have moved.",
    fold_shifts_into_reads,
);

/// Whether there was something to read at another place.
pub fn fold_shifts_into_reads(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let uses = uses(program);
    let b = Builder::new(std::mem::take(&mut program.vars));
    let (numbers, longer) = (HashMap::new(), HashMap::new());
    let mut reader = Reader { b, effects, uses, numbers, longer, has_changed: false };
    program.funs.iter_mut().for_each(|fun| reader.body(&mut fun.body));
    program.vars = reader.b.finish().0;
    reader.has_changed
}

struct Reader {
    b: Builder,
    effects: Effects,
    uses: HashMap<VarId, usize>,
    /// Arrays of one number.
    numbers: HashMap<VarId, Atom>,
    /// Arrays of a number and then the elements of another array.
    longer: HashMap<VarId, (Atom, VarId)>,
    has_changed: bool,
}

impl Reader {
    fn body(&mut self, body: &mut Body) {
        for mut stm in std::mem::take(&mut body.stms) {
            bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.body(body));
            self.note(&stm);
            self.b.push_scope();
            let is_replaced = self.shift(&stm);
            let new = self.b.pop_scope();
            self.has_changed |= is_replaced;
            match is_replaced {
                true => body.stms.extend(new),
                false => body.stms.push(stm),
            }
        }
        while let Some((map, slices)) = self.sliced_map(&body.stms) {
            self.has_changed = true;
            self.slice_before(&mut body.stms, map, &slices);
        }
        let mut reads = HashMap::new();
        body.stms.iter().for_each(|stm| count_reads(&stm.exp, &mut reads));
        for stm in std::mem::take(&mut body.stms) {
            self.b.push_scope();
            let is_replaced = self.columns(&stm, &reads);
            let new = self.b.pop_scope();
            self.has_changed |= is_replaced;
            match is_replaced {
                true => body.stms.extend(new),
                false => body.stms.push(stm),
            }
        }
    }

    fn note(&mut self, stm: &Stm) {
        let [param] = &stm.pat[..] else { return };
        match &stm.exp {
            Exp::ArrayLit { row: Type::Prim(_), elems } => {
                if let [number] = elems[..] {
                    self.numbers.insert(param.var, number);
                }
            }
            Exp::Concat { arrays } => {
                if let [first, rest] = arrays[..]
                    && let Some(number) = self.numbers.get(&first)
                {
                    self.longer.insert(param.var, (*number, rest));
                }
            }
            _ => {}
        }
    }

    /// Everything but the last element of a number and an array.
    fn shift(&mut self, stm: &Stm) -> bool {
        let (Exp::Slice { array, dims }, loc) = (&stm.exp, stm.loc) else { return false };
        let Some((number, rest)) = self.longer.get(array).copied() else { return false };
        let [DimSlice::Range { start, len: n, stride }] = dims[..] else { return false };
        let Type::Array { elem, .. } = &stm.pat[0].ty else { return false };
        // One that is used more than once is better made.
        if start != Atom::i64(0) || stride != Atom::i64(1) || self.uses.get(&stm.pat[0].var) != Some(&1) {
            return false;
        }
        let ty = *elem;
        let iota = Exp::Iota { ty: PrimType::I64, n, start: Atom::i64(0), step: Atom::i64(1) };
        let places = self.b.let_var("places", Type::I64.with_outer(&[n]), iota, loc);
        let lambda = self.b.lambda(&[("i", Type::I64)], vec![ty.into()], |b, i| {
            let is_later = b.lt(PrimType::I64, Atom::i64(0), i[0], loc);
            let then = b.body(|b| {
                let before = b.sub(PrimType::I64, i[0], Atom::i64(1), loc);
                let read = Exp::Index { array: rest, indices: vec![before], check: Check::Certified };
                vec![b.let_exp("elem", ty.into(), read, loc)]
            });
            let otherwise = Body { stms: Vec::new(), result: vec![number] };
            vec![b.let_exp("before", ty.into(), Exp::If { cond: is_later, then, otherwise }, loc)]
        });
        let exp = Exp::Map { width: n, arrays: vec![places], lambda };
        self.b.push(Stm { pat: stm.pat.clone(), exp, loc });
        true
    }

    /// A map of scalars whose results are only used by slices that are all alike, and these.
    fn sliced_map(&self, stms: &[Stm]) -> Option<(usize, Vec<usize>)> {
        let mut slices: HashMap<VarId, usize> = HashMap::new();
        for (position, stm) in stms.iter().enumerate().rev() {
            match &stm.exp {
                Exp::Slice { array, dims } if strided(dims).is_some() && self.uses.get(array) == Some(&1) => {
                    slices.insert(*array, position);
                }
                Exp::Map { width, lambda, .. } => {
                    let found: Option<Vec<usize>> =
                        stm.pat.iter().map(|p| slices.get(&p.var).copied()).collect();
                    let Some(mut found) = found.filter(|found| !found.is_empty()) else { continue };
                    found.sort_unstable();
                    let dims = strided_of(&stms[found[0]]);
                    let are_alike = dims.is_some_and(|(_, len, _)| len == *width)
                        && found.iter().all(|other| strided_of(&stms[*other]) == dims);
                    let is_scalar = lambda.params.iter().all(|p| matches!(p.ty, Type::Prim(_)))
                        && lambda.ret.iter().all(|ty| matches!(ty, Type::Prim(_)));
                    if are_alike && is_scalar && self.effects.is_removable(stm) {
                        return Some((position, found));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Lets the map go over slices of its arrays, where the first slice of a result is.
    fn slice_before(&mut self, stms: &mut Vec<Stm>, map: usize, slices: &[usize]) {
        let first = slices[0];
        let Exp::Slice { dims, .. } = stms[first].exp.clone() else { return };
        let mut moved = stms[map].clone();
        let Exp::Map { arrays, lambda, .. } = &mut moved.exp else { return };
        self.b.push_scope();
        for (array, param) in arrays.iter_mut().zip(&lambda.params) {
            let ty = param.ty.with_outer(moved.pat[0].ty.dims());
            let slice = Exp::Slice { array: *array, dims: dims.clone() };
            *array = self.b.let_var("sliced", ty, slice, moved.loc);
            self.uses.insert(*array, 1);
        }
        let of = |array: VarId| {
            let slice =
                slices.iter().find(|s| matches!(&stms[**s].exp, Exp::Slice { array: a, .. } if *a == array));
            slice.map(|slice| stms[*slice].pat[0].clone())
        };
        let pat: Option<Vec<Param>> = moved.pat.iter().map(|p| of(p.var)).collect();
        let mut new = self.b.pop_scope();
        let Some(pat) = pat else { return };
        moved.pat = pat;
        new.push(moved);
        for slice in slices.iter().rev() {
            stms.remove(*slice);
        }
        stms.splice(first..first, new);
        stms.remove(map);
    }
}

impl Reader {
    /// Columns of short rows.
    fn columns(&mut self, stm: &Stm, reads: &HashMap<VarId, usize>) -> bool {
        let Exp::Map { width, arrays, lambda } = &stm.exp else { return false };
        let ([array], [row]) = (&arrays[..], &lambda.params[..]) else { return false };
        let [Atom::Const(Prim::I64(length))] = row.ty.dims() else { return false };
        let is_short =
            (1..=machine::NUMBERS_OF_A_LINE).contains(length) && lambda.ret.len() as i64 == *length;
        let are_reads = stm.pat.iter().all(|p| reads.get(&p.var) == self.uses.get(&p.var));
        let columns: Option<Vec<Atom>> = lambda.body.result.iter().map(|x| column(lambda, *x)).collect();
        let Some(columns) = columns.filter(|_| is_short && are_reads) else { return false };
        let whole = DimSlice::Range { start: Atom::i64(0), len: *width, stride: Atom::i64(1) };
        for (param, at) in stm.pat.iter().zip(columns) {
            let dims = vec![whole.clone(), DimSlice::Fix(at)];
            self.b.push(Stm {
                pat: vec![param.clone()],
                exp: Exp::Slice { array: *array, dims },
                loc: stm.loc,
            });
        }
        true
    }
}

/// The place in the row that a result is read from, if that is certain to exist.
fn column(lambda: &Lambda, result: Atom) -> Option<Atom> {
    let made = lambda.body.stms.iter().find(|stm| stm.pat.iter().any(|p| result == p.var.into()))?;
    let Exp::Index { array, indices, check: Check::Certified } = &made.exp else { return None };
    let ([at @ Atom::Const(_)], true) = (&indices[..], lambda.params.iter().any(|p| p.var == *array)) else {
        return None;
    };
    Some(*at)
}

/// How often operations go over arrays, or read one element of them in every iteration.
fn count_reads(exp: &Exp, reads: &mut HashMap<VarId, usize>) {
    match exp {
        Exp::Map { arrays, .. } | Exp::Reduce { arrays, .. } | Exp::Scan { arrays, .. } => {
            arrays.iter().for_each(|array| *reads.entry(*array).or_default() += 1);
            lambdas(exp).into_iter().for_each(|lambda| count_elements(&lambda.body, reads));
        }
        _ => {}
    }
}

fn count_elements(body: &Body, reads: &mut HashMap<VarId, usize>) {
    for stm in &body.stms {
        match &stm.exp {
            Exp::Index { array, .. } => *reads.entry(*array).or_default() += 1,
            Exp::If { then, otherwise, .. } => {
                count_elements(then, reads);
                count_elements(otherwise, reads);
            }
            _ => {}
        }
    }
}

/// The start, length and stride of a slice of a vector that is not merely a part of it: one as long as the vector turns it
/// round.
fn strided(dims: &[DimSlice]) -> Option<(Atom, Atom, Atom)> {
    match dims {
        [DimSlice::Range { start, len, stride }] if *stride != Atom::i64(1) => Some((*start, *len, *stride)),
        _ => None,
    }
}

fn strided_of(stm: &Stm) -> Option<(Atom, Atom, Atom)> {
    match &stm.exp {
        Exp::Slice { dims, .. } => strided(dims),
        _ => None,
    }
}
