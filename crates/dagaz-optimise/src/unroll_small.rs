//! Writes maps and reductions over a few scalars out, so that small vectors are scalars.
//!
//! ```text
//! let (ys: [2]f64) =                               let (a: f64) = xs[0] certified
//!   map 2 (xs) \(x: f64) : (f64) ->                let (b: f64) = f64.mul a a
//!     let (y: f64) = f64.mul x x            ==>    let (c: f64) = xs[1] certified
//!     in (y)                                       let (d: f64) = f64.mul c c
//! let (s: f64) = reduce 2 (ys) op (+) …            let (s: f64) = f64.add b d
//! ```
//!
//! A map leaves an array literal. [`crate::simplify`] then reads the elements of literals directly, and the literal is dead
//! if nothing else needs it; otherwise it costs as much as the map did. Reductions combine from the left, as ever.
//!
//! Whole nests are written out where nothing but scalars is left of the body of a longer map, which is then a loop for vector
//! units: the product of a small matrix and a point, for many points. Not if the longer map has large rows, unless much is
//! computed for each element: lanes would read and write elements far from each other, where the small maps have neighbours.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Program, Stm, Vars};
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, Prim};
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::bodies_mut;

pub const UNROLL_SMALL: Pass =
    Pass::always("unroll-small", "Maps and reductions over a few scalars are written out.", unroll_small);

pub fn unroll_small(program: &mut Program) {
    let mut pass = Unroller { vars: std::mem::take(&mut program.vars), columns: HashSet::new() };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.vars;
}

struct Unroller {
    vars: Vars,
    /// Matrices that were transposed: elements of neighbouring rows are neighbours.
    columns: HashSet<VarId>,
}

impl Unroller {
    fn body(&mut self, body: &mut Body) {
        let mut all = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            match &mut stm.exp {
                Exp::Rearrange { perm, .. } if perm.first() == perm.iter().max() => {
                    self.columns.insert(stm.pat[0].var);
                }
                Exp::Map { width, arrays, lambda } if self.becomes_scalars(*width, arrays, lambda) => {
                    self.write_out(&mut lambda.body);
                }
                exp => bodies_mut(exp).into_iter().for_each(|inner| self.body(inner)),
            }
            let mut unrolled = Unrolled { stms: Vec::new(), vars: &mut self.vars, loc: stm.loc };
            match few_rows(&stm.exp).and_then(|rows| unrolled.stm(&stm, rows)) {
                Some(()) => all.append(&mut unrolled.stms),
                None => all.push(stm),
            }
        }
        body.stms = all;
    }

    /// Whether a longer map is one of scalars when the nests in it are written out.
    fn becomes_scalars(&self, width: Atom, arrays: &[VarId], lambda: &Lambda) -> bool {
        let has_few = |ty: &Type| elements(ty).is_some_and(|count| count <= machine::UNROLLED_ELEMENTS);
        let is_column = |array: &VarId, ty: &Type| self.columns.contains(array) && elements(ty).is_some();
        let mut params = arrays.iter().zip(&lambda.params);
        let fits = rows_of(width).is_none()
            && lambda.body.stms.iter().any(|stm| rows_inside(&stm.exp).is_some())
            && params.all(|(array, param)| has_few(&param.ty) || is_column(array, &param.ty));
        let written: Option<i64> = lambda.ret.iter().map(elements).sum();
        let Some(written) = written.and_then(|count| usize::try_from(count).ok()).filter(|_| fits) else {
            return false;
        };
        let is_worth_it = |count: usize| {
            lambda.ret.iter().all(has_few)
                || (written <= machine::MOST_ELEMENTS_OF_ROWS
                    && count >= machine::STATEMENTS_WORTH_AN_ELEMENT * written)
        };
        scalars(&lambda.body)
            .is_some_and(|count| count <= machine::UNROLLED_BODY_STATEMENTS && is_worth_it(count))
    }

    /// Writes everything out, from the inside.
    fn write_out(&mut self, body: &mut Body) {
        let mut all = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.write_out(inner));
            let mut unrolled = Unrolled { stms: Vec::new(), vars: &mut self.vars, loc: stm.loc };
            match rows_inside(&stm.exp).and_then(|rows| unrolled.stm(&stm, rows)) {
                Some(()) => all.append(&mut unrolled.stms),
                None => all.push(stm),
            }
        }
        body.stms = all;
    }
}

/// How many elements a value has, if that is known.
fn elements(ty: &Type) -> Option<i64> {
    match ty {
        Type::Prim(_) => Some(1),
        Type::Array { dims, .. } => dims.iter().map(|dim| dim.as_const()?.as_i64()).product(),
        Type::Acc { .. } => None,
    }
}

/// The width of an operation that can be written out.
fn rows_of(width: Atom) -> Option<i64> {
    width.as_const().and_then(Prim::as_i64).filter(|rows| (1..=machine::UNROLLED_ROWS).contains(rows))
}

fn rows_inside(exp: &Exp) -> Option<i64> {
    match exp {
        Exp::Map { width, .. } | Exp::Reduce { width, .. } => rows_of(*width),
        _ => None,
    }
}

/// How many statements a body becomes when everything in it is written out; none if not only scalars would be left.
fn scalars(body: &Body) -> Option<usize> {
    body.stms.iter().map(scalars_of).sum()
}

fn scalars_of(stm: &Stm) -> Option<usize> {
    let is_prim = stm.pat.iter().all(|param| matches!(param.ty, Type::Prim(_)));
    let is_known = stm.pat.iter().all(|param| elements(&param.ty).is_some());
    match &stm.exp {
        Exp::Map { width, lambda, .. } if is_known => {
            let rows = usize::try_from(rows_of(*width)?).ok()?;
            Some(rows * scalars(&lambda.body)?)
        }
        Exp::Reduce { width, pre, op, .. } if is_prim => {
            let rows = usize::try_from(rows_of(*width)?).ok()?;
            let each: Option<usize> = pre.iter().chain([op]).map(|lambda| scalars(&lambda.body)).sum();
            Some(rows * each?)
        }
        Exp::If { then, otherwise, .. } if is_prim => Some(scalars(then)? + scalars(otherwise)?),
        // Elements of these are read where they come from.
        Exp::Index { .. }
        | Exp::Slice { .. }
        | Exp::Rearrange { .. }
        | Exp::Replicate { .. }
        | Exp::Iota { .. }
        | Exp::ArrayLit { .. }
            if is_known =>
        {
            Some(1)
        }
        exp => (is_prim && dagaz_core::visit::bodies(exp).is_empty()).then_some(1),
    }
}

struct Unrolled<'p> {
    stms: Vec<Stm>,
    vars: &'p mut Vars,
    loc: Loc,
}

impl Unrolled<'_> {
    /// `None` if the statement stays as it is.
    fn stm(&mut self, stm: &Stm, rows: i64) -> Option<()> {
        match &stm.exp {
            Exp::Map { arrays, lambda, .. } => {
                let mut columns: Vec<Vec<Atom>> = vec![Vec::new(); stm.pat.len()];
                // Accumulators go from one row to the next.
                let mut arrays = arrays.clone();
                for i in 0..rows {
                    let row = self.row(&arrays, &lambda.params, i);
                    let results = self.apply(lambda, &row);
                    let is_acc = |param: &Param| param.ty.is_acc();
                    let accs = results.iter().zip(&lambda.ret).filter(|(_, ty)| ty.is_acc());
                    let places = arrays.iter_mut().zip(&lambda.params).filter(|(_, param)| is_acc(param));
                    for ((place, _), (acc, _)) in places.zip(accs) {
                        *place = acc.as_var()?;
                    }
                    columns.iter_mut().zip(results).for_each(|(column, result)| column.push(result));
                }
                for ((param, elems), row) in stm.pat.iter().zip(columns).zip(&lambda.ret) {
                    let exp = match row.is_acc() {
                        true => Exp::Atom(*elems.last()?),
                        false => Exp::ArrayLit { row: row.clone(), elems },
                    };
                    self.stms.push(Stm { pat: vec![param.clone()], exp, loc: self.loc });
                }
            }
            Exp::Reduce { arrays, pre, op, neutral, .. } => {
                let mut sums = if starts_with_zero(op, neutral) { Vec::new() } else { neutral.clone() };
                for i in 0..rows {
                    let row = match pre {
                        Some(pre) => {
                            let row = self.row(arrays, &pre.params, i);
                            self.apply(pre, &row)
                        }
                        None => self.row(arrays, &op.params[neutral.len()..], i),
                    };
                    let is_first = sums.is_empty();
                    sums.extend(row);
                    if !is_first {
                        sums = self.apply(op, &sums);
                    }
                }
                for (param, sum) in stm.pat.iter().zip(sums) {
                    self.stms.push(Stm { pat: vec![param.clone()], exp: Exp::Atom(sum), loc: self.loc });
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The elements at a position.
    fn row(&mut self, arrays: &[VarId], params: &[Param], i: i64) -> Vec<Atom> {
        let pairs = arrays.iter().zip(params);
        pairs
            .map(|(array, param)| {
                if param.ty.is_acc() {
                    return (*array).into();
                }
                let hint = self.vars.hint(param.var).to_owned();
                let var = self.vars.fresh(&hint);
                let indices = vec![Atom::i64(i)];
                let exp = Exp::Index { array: *array, indices, check: Check::Certified };
                self.stms.push(Stm { pat: vec![Param::new(var, param.ty.clone())], exp, loc: self.loc });
                var.into()
            })
            .collect()
    }

    /// A copy of the statements of a lambda, for these arguments.
    fn apply(&mut self, lambda: &Lambda, arguments: &[Atom]) -> Vec<Atom> {
        let mut copy = Substitution::default();
        lambda.params.iter().zip(arguments).for_each(|(param, argument)| copy.insert(param.var, *argument));
        self.stms.extend(copy.copies(self.vars, &lambda.body.stms));
        lambda.body.result.iter().map(|result| copy.of(*result)).collect()
    }
}

/// The width of an operation that is written out wherever it is: few rows of few scalar operations.
fn few_rows(exp: &Exp) -> Option<i64> {
    let rows = rows_inside(exp)?;
    let lambdas = dagaz_core::visit::lambdas(exp);
    let statements: usize = lambdas.iter().map(|lambda| lambda.body.stms.len()).sum();
    let is_small =
        usize::try_from(rows).is_ok_and(|rows| rows * statements <= machine::UNROLLED_OPERATION_STATEMENTS);
    (is_small && lambdas.iter().all(|lambda| is_scalar(lambda))).then_some(rows)
}

/// Whether a reduction adds to zero, so that the first row is a sum already.
fn starts_with_zero(op: &Lambda, neutral: &[Atom]) -> bool {
    match (op.body.stms.as_slice(), neutral) {
        ([Stm { exp: Exp::BinOp(BinOp::Add, ty, ..), .. }], [start]) => *start == Prim::zero(*ty).into(),
        _ => false,
    }
}

fn is_scalar(lambda: &Lambda) -> bool {
    let is_prim = |ty: &Type| matches!(ty, Type::Prim(_) | Type::Acc { .. });
    lambda.params.iter().all(|p| is_prim(&p.ty))
        && lambda.ret.iter().all(is_prim)
        && lambda.body.stms.iter().all(|stm| {
            dagaz_core::visit::bodies(&stm.exp).is_empty() && stm.pat.iter().all(|p| is_prim(&p.ty))
        })
}
