//! Sums of rows that data choose become maps of sums of elements, which can run for many columns at once, in registers.
//!
//! ```text
//! let (s: [d]f64) = reduce m (is)                       let () = map m (is) \(i: i64) : () -> xss[i]
//!   pre \(i: i64) : ([d]f64) ->                         let (s: [d]f64) = map d (iota d) \(q: i64) : (f64) ->
//!     let (xs: [d]f64) = xss[i]              ==>          let (t: f64) = reduce m (is)
//!     in (xs)                                               pre \(i: i64) : (f64) ->
//!   op (map2 (+)) …                                           let (x: f64) = xss[i, q] certified
//!   neutral (replicate d 0)                                   in (x)  op (+) …  neutral (0)
//! ```
//!
//! Only inside of other operations: the outermost ones have threads to share the rows out to.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::precompute::is_iteration;
use dagaz_core::effects::cannot_fail;
use dagaz_core::visit::bodies_mut;

pub const SUM_ROWS_BY_COLUMNS: Pass = Pass::always(
    "sum-rows-by-columns",
    "Sums of rows that data choose become maps of sums of elements.",
    sum_rows_by_columns,
);

pub fn sum_rows_by_columns(program: &mut Program) {
    let mut pass =
        RowSums { b: Builder::new(std::mem::take(&mut program.vars)), copies: HashMap::new(), depth: 0 };
    program.consts.iter().for_each(|stm| pass.note(stm));
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
}

struct RowSums {
    b: Builder,
    /// Vectors that are one scalar many times.
    copies: HashMap<VarId, Atom>,
    /// The number of iterations around.
    depth: usize,
}

/// What a sum of rows is made of.
struct Rows<'e> {
    /// How many there are, and of what.
    width: Atom,
    arrays: &'e [VarId],
    pre: &'e Lambda,
    /// The number of the statement that reads a row.
    read: usize,
    length: Atom,
    /// What happens to elements.
    scalar: &'e Lambda,
    neutral: Atom,
    commutative: bool,
}

impl RowSums {
    fn note(&mut self, stm: &Stm) {
        if let (Exp::Replicate { dims, value }, [copies]) = (&stm.exp, &stm.pat[..])
            && dims.len() == 1
            && copies.ty.rank() == 1
        {
            self.copies.insert(copies.var, *value);
        }
    }

    fn body(&mut self, body: &mut Body) {
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            self.note(&stm);
            if self.depth > 0
                && let Some(rows) = self.rows(&stm.exp)
            {
                let new = by_columns(&mut self.b, &rows, &stm.pat, stm.loc);
                done.extend(new);
                continue;
            }
            let own = usize::from(is_iteration(&stm.exp));
            self.depth += own;
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(inner));
            self.depth -= own;
            done.push(stm);
        }
        body.stms = done;
    }

    fn rows<'e>(&self, exp: &'e Exp) -> Option<Rows<'e>> {
        let Exp::Reduce { width, arrays, pre: Some(pre), op, neutral, commutative } = exp else {
            return None;
        };
        let ([vector], [read]) = (&neutral[..], &pre.body.result[..]) else { return None };
        let neutral = *self.copies.get(&vector.as_var()?)?;
        let ([x, y], [Stm { pat, exp: Exp::Map { width: length, arrays: both, lambda: scalar }, .. }]) =
            (&op.params[..], &op.body.stms[..])
        else {
            return None;
        };
        let is_result = matches!(pat[..], [ref p] if op.body.result[..] == [Atom::Var(p.var)]);
        let is_by_element = both[..] == [x.var, y.var] && matches!(scalar.ret[..], [Type::Prim(_)]);
        let is_safe = |stm: &Stm| match &stm.exp {
            Exp::Index { check, .. } => {
                *check == Check::Certified && stm.pat.iter().all(|p| p.ty.rank() == 0)
            }
            exp => cannot_fail(exp),
        };
        let read = pre.body.stms.iter().position(|stm| stm.pat.iter().any(|p| Atom::Var(p.var) == *read))?;
        let is_row = |stm: &Stm| {
            matches!(stm.exp, Exp::Index { .. })
                && matches!(stm.pat[..], [ref p] if p.ty.rank() == 1 && p.ty.dims()[0] == *length)
        };
        let fits = is_result
            && is_by_element
            && scalar.body.stms.iter().all(|stm| cannot_fail(&stm.exp))
            && pre.params.iter().all(|p| p.ty.rank() == 0)
            && pre
                .body
                .stms
                .iter()
                .enumerate()
                .all(|(i, stm)| if i == read { is_row(stm) } else { is_safe(stm) });
        let (width, length, commutative) = (*width, *length, *commutative);
        fits.then_some(Rows { width, arrays, pre, read, length, scalar, neutral, commutative })
    }
}

/// The checks of all rows, and the map of sums.
fn by_columns(b: &mut Builder, rows: &Rows<'_>, pat: &[Param], loc: Loc) -> Vec<Stm> {
    let mut stms = Vec::new();
    let Rows { width, arrays, pre, read, length, scalar, neutral, commutative } = rows;
    let is_checked = matches!(pre.body.stms[*read].exp, Exp::Index { check: Check::Checked, .. });
    if is_checked {
        let body = Body { stms: pre.body.stms[..=*read].to_vec(), result: Vec::new() };
        let lambda = Lambda { params: pre.params.clone(), body, ret: Vec::new() };
        let exp = Exp::Map { width: *width, arrays: arrays.to_vec(), lambda };
        let map = Body { stms: vec![Stm { pat: Vec::new(), exp, loc }], result: Vec::new() };
        stms.extend(renamed(&mut b.vars, &map).stms);
    }
    b.push_scope();
    let numbers = Exp::Iota { ty: PrimType::I64, n: *length, start: Atom::i64(0), step: Atom::i64(1) };
    let numbers = b.let_var("columns", Type::array(PrimType::I64, vec![*length]), numbers, loc);
    let column = b.fresh_param("column", Type::I64);
    let mut pre = (*pre).clone();
    let stm = &mut pre.body.stms[*read];
    if let Exp::Index { indices, check, .. } = &mut stm.exp {
        indices.push(column.var.into());
        *check = Check::Certified;
    }
    stm.pat.iter_mut().for_each(|p| p.ty = scalar.ret[0].clone());
    pre.ret = scalar.ret.clone();
    let sum = b.fresh_param("sum", scalar.ret[0].clone());
    let exp = Exp::Reduce {
        width: *width,
        arrays: arrays.to_vec(),
        pre: Some(pre),
        op: (*scalar).clone(),
        neutral: vec![*neutral],
        commutative: *commutative,
    };
    let body = Body { stms: vec![Stm { pat: vec![sum.clone()], exp, loc }], result: vec![sum.var.into()] };
    let lambda = Lambda { params: vec![column], body, ret: scalar.ret.clone() };
    b.push(Stm { pat: pat.to_vec(), exp: Exp::Map { width: *length, arrays: vec![numbers], lambda }, loc });
    stms.extend(b.pop_scope());
    stms
}
