//! Reads at the number of the iteration are rows of the array.
//!
//! ```text
//! let (is: [n]i64) = iota i64 n 0i64 1i64
//! let (ys: [n]f64) =                               let (ys: [n]f64) =
//!   map n (is) \(i: i64) : (f64) ->                  map n (xs) \(x: f64) : (f64) ->
//!     let (x: f64) = xs[i] certified        ==>        let (y: f64) = f64.sin x
//!     let (y: f64) = f64.sin x                         in (y)
//!     in (y)
//! ```
//!
//! Elements always; rows only where the array is read in no other way inside, and where the further indices are those of
//! iterations further in: else the row would be made only to be indexed. Leaves the numbers, which are then often dead,
//! to [`crate::eliminate_dead_code`].

use std::collections::HashSet;

use dagaz_core::exp::{Body, Check, Exp, Lambda, Program, Stm, Vars};
use dagaz_core::facts::Facts;
use dagaz_core::pass::Pass;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, bound, direct_operands};

pub const READ_ROWS: Pass =
    Pass::always("read-rows", "Reads at the number of the iteration become rows of the map.", read_rows);

pub fn read_rows(program: &mut Program) {
    let facts = Facts::of(program);
    let mut pass = Rows { vars: &mut program.vars, facts };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
}

struct Rows<'p> {
    vars: &'p mut Vars,
    facts: Facts,
}

impl Rows<'_> {
    fn body(&mut self, body: &mut Body) {
        for stm in &mut body.stms {
            self.stm(stm);
        }
    }

    fn stm(&mut self, stm: &mut Stm) {
        match &mut stm.exp {
            Exp::Map { width, arrays, lambda } => self.lambda(*width, arrays, lambda),
            Exp::Reduce { width, arrays, pre: Some(pre), .. }
            | Exp::Scan { width, arrays, pre: Some(pre), .. } => {
                self.lambda(*width, arrays, pre);
            }
            Exp::Hist { width, arrays, pre: Some(pre), .. }
            | Exp::Scatter { width, arrays, pre: Some(pre), .. } => self.lambda(*width, arrays, pre),
            _ => {}
        }
        bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.body(body));
    }

    fn lambda(&mut self, width: Atom, arrays: &mut Vec<VarId>, lambda: &mut Lambda) {
        let number = arrays.iter().position(|a| self.facts.is_counting(*a));
        let Some(number) = number.map(|i| lambda.params[i].var) else { return };
        let inside = bound(&lambda.body.stms);
        let mut reads = Vec::new();
        note_reads(&lambda.body, number, &inside, &mut reads);
        for (array, reads) in reads {
            let Some(ty) = self.facts.types.get(&array) else { continue };
            let is_outside = !inside.contains(&array) && !lambda.params.iter().any(|p| p.var == array);
            if !reads.by_row || !is_outside || ty.dims().first() != Some(&width) {
                continue;
            }
            let Some(row) = ty.row() else { continue };
            if reads.otherwise && !matches!(row, Type::Prim(_)) {
                continue;
            }
            let hint = self.vars.hint(array).to_owned();
            let param = Param { var: self.vars.fresh(&hint), ty: row };
            self.facts.types.insert(param.var, param.ty.clone());
            replace_reads(&mut lambda.body, (array, number), param.var);
            arrays.push(array);
            lambda.params.push(param);
        }
    }
}

/// How an array is read in a body.
#[derive(Default)]
struct Reads {
    /// At the number of the iteration, followed by indices from further in.
    by_row: bool,
    otherwise: bool,
}

/// All variables that are used, in the order of their first uses, and how.
fn note_reads(body: &Body, number: VarId, inside: &HashSet<VarId>, all: &mut Vec<(VarId, Reads)>) {
    let mut note = |var: VarId, is_by_row: bool| {
        let at = all.iter().position(|(array, _)| *array == var).unwrap_or_else(|| {
            all.push((var, Reads::default()));
            all.len() - 1
        });
        let reads = &mut all[at].1;
        *(if is_by_row { &mut reads.by_row } else { &mut reads.otherwise }) = true;
    };
    for stm in &body.stms {
        match &stm.exp {
            Exp::Index { array, indices, check: Check::Certified } => {
                let is_inner = |i: &Atom| matches!(i, Atom::Var(var) if inside.contains(var));
                let is_by_row =
                    indices.first() == Some(&Atom::Var(number)) && indices[1..].iter().all(is_inner);
                note(*array, is_by_row);
                indices.iter().filter_map(|i| i.as_var()).for_each(|var| note(var, false));
            }
            _ => direct_operands(&stm.exp, &mut |a| a.as_var().into_iter().for_each(|var| note(var, false))),
        }
    }
    body.result.iter().filter_map(|a| a.as_var()).for_each(|var| note(var, false));
    for stm in &body.stms {
        bodies(&stm.exp).into_iter().for_each(|body| note_reads(body, number, inside, all));
    }
}

/// `array[number, j, …]` becomes `row[j, …]`.
fn replace_reads(body: &mut Body, (from, number): (VarId, VarId), row: VarId) {
    for stm in &mut body.stms {
        match &mut stm.exp {
            Exp::Index { array, indices, check: Check::Certified }
                if *array == from && indices.first() == Some(&Atom::Var(number)) =>
            {
                indices.remove(0);
                *array = row;
                if indices.is_empty() {
                    stm.exp = Exp::Atom(row.into());
                }
            }
            exp => bodies_mut(exp).into_iter().for_each(|body| replace_reads(body, (from, number), row)),
        }
    }
}
