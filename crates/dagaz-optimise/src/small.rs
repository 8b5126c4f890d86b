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

use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Program, Stm, Vars};
use dagaz_core::prim::{BinOp, Prim};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::walk::{Substitution, for_each_body};

/// The largest width that is written out.
const MOST_ROWS: i64 = 8;
/// The most statements that one operation may become.
const MOST_STATEMENTS: usize = 48;

pub fn unroll_small(program: &mut Program) {
    for fun in &mut program.funs {
        body(&mut fun.body, &mut program.vars);
    }
}

fn body(body: &mut Body, vars: &mut Vars) {
    let mut all = Vec::with_capacity(body.stms.len());
    for mut stm in std::mem::take(&mut body.stms) {
        for_each_body(&mut stm.exp, &mut |_, _, inner| self::body(inner, vars));
        let mut unrolled = Unrolled { stms: Vec::new(), vars, loc: stm.loc };
        match unrolled.stm(&stm) {
            Some(()) => all.append(&mut unrolled.stms),
            None => all.push(stm),
        }
    }
    body.stms = all;
}

struct Unrolled<'p> {
    stms: Vec<Stm>,
    vars: &'p mut Vars,
    loc: Loc,
}

impl Unrolled<'_> {
    /// `None` if the statement stays as it is.
    fn stm(&mut self, stm: &Stm) -> Option<()> {
        match &stm.exp {
            Exp::Map { width, arrays, lambda } => {
                let rows = small(*width, &[lambda])?;
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
            Exp::Reduce { width, arrays, pre, op, neutral, .. } => {
                let lambdas: Vec<&Lambda> = pre.iter().chain([op]).collect();
                let rows = small(*width, &lambdas)?;
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

/// The width of an operation that is to be written out: few rows of few scalar operations.
fn small(width: Atom, lambdas: &[&Lambda]) -> Option<i64> {
    let rows = width.as_const().and_then(Prim::as_i64).filter(|rows| (1..=MOST_ROWS).contains(rows))?;
    let statements: usize = lambdas.iter().map(|lambda| lambda.body.stms.len()).sum();
    let is_small = usize::try_from(rows).is_ok_and(|rows| rows * statements <= MOST_STATEMENTS);
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
