//! Small arrays that loops carry and branches give become scalars.
//!
//! ```text
//! let (v: [2]f64) =                                      let (a: f64, b: f64) =
//!   loop (u: [2]f64 = zeros) for i < n do                  loop (c: f64 = 0.0, d: f64 = 0.0) for i < n do
//!     let (x: f64) = u[0] certified               ==>        let (u: [2]f64) = array f64 (c, d)
//!     let (y: f64) = f64.add x 1.0                           let (x: f64) = u[0] certified
//!     let (w: [2]f64) = array f64 (x, y)                     let (y: f64) = f64.add x 1.0
//!     in (w)                                                 in (x, y)
//!                                                        let (v: [2]f64) = array f64 (a, b)
//! ```
//!
//! [`crate::simplify`] then reads the elements of literals directly, and the literals are dead. That is worth it where the
//! body reads single elements of the array only, and makes the next one of elements.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, Program, Stm, Vars};
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, direct_operands, free_vars_body};

pub const REPLACE_BY_SCALARS: Pass = Pass::always(
    "replace-by-scalars",
    "Small arrays that loops carry and branches give become scalars.",
    replace_by_scalars,
);

pub fn replace_by_scalars(program: &mut Program) {
    let mut pass = Replacer { vars: std::mem::take(&mut program.vars), known: HashMap::new() };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.vars;
}

struct Replacer {
    vars: Vars,
    /// The elements of small arrays, where they are known.
    known: HashMap<VarId, Vec<Atom>>,
}

/// The type of the elements of an array, and how many there are, if it has one dimension and is small.
fn small(ty: &Type) -> Option<(PrimType, usize)> {
    let [size] = ty.dims() else { return None };
    let count =
        size.as_const().and_then(Prim::as_i64).filter(|n| (1..=machine::REPLACED_ELEMENTS).contains(n))?;
    Some((ty.elem()?, usize::try_from(count).ok()?))
}

fn constant(atom: Atom) -> Option<usize> {
    atom.as_const().and_then(Prim::as_i64).and_then(|i| usize::try_from(i).ok())
}

impl Replacer {
    fn body(&mut self, body: &mut Body) {
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            let scalars = self.scalars_of_params(&stm.exp);
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(inner));
            let after = match &stm.exp {
                Exp::Loop { .. } => self.carried(&mut stm, scalars, &mut done),
                Exp::If { .. } => self.chosen(&mut stm),
                _ => Vec::new(),
            };
            self.note(&mut stm);
            done.push(stm);
            for mut stm in after {
                self.note(&mut stm);
                done.push(stm);
            }
        }
        body.stms = done;
    }

    /// Names for the elements of the small parameters of a loop, by which its body knows them.
    fn scalars_of_params(&mut self, exp: &Exp) -> HashMap<VarId, Vec<Param>> {
        let Exp::Loop { params, form, .. } = exp else { return HashMap::new() };
        let in_condition = match form {
            LoopForm::While { cond } => free_vars_body(cond),
            LoopForm::For { .. } => Vec::new(),
        };
        let mut all = HashMap::new();
        for (param, _) in params.iter().filter(|(param, _)| !in_condition.contains(&param.var)) {
            let Some((elem, count)) = small(&param.ty) else { continue };
            let scalars: Vec<Param> = (0..count).map(|_| self.fresh_like(param.var, elem)).collect();
            self.known.insert(param.var, scalars.iter().map(|p| p.var.into()).collect());
            all.insert(param.var, scalars);
        }
        all
    }

    /// Remembers the elements that a statement gives; an update of a known array is a literal.
    fn note(&mut self, stm: &mut Stm) {
        let [param] = stm.pat.as_slice() else { return };
        let Some((elem, count)) = small(&param.ty) else { return };
        let elements = match &stm.exp {
            Exp::ArrayLit { elems, .. } => Some(elems.clone()),
            Exp::Replicate { dims, value } if dims.len() == 1 => Some(vec![*value; count]),
            Exp::Atom(Atom::Var(other)) => self.known.get(other).cloned(),
            Exp::Update { array, dims, value, .. } => match (self.known.get(array), dims.as_slice()) {
                (Some(old), [DimSlice::Fix(i)]) => constant(*i).filter(|i| *i < count).map(|i| {
                    let mut elements = old.clone();
                    elements[i] = *value;
                    elements
                }),
                _ => None,
            },
            _ => None,
        };
        let Some(elements) = elements else { return };
        if let Exp::Update { .. } = &stm.exp {
            stm.exp = Exp::ArrayLit { row: elem.into(), elems: elements.clone() };
        }
        self.known.insert(param.var, elements);
    }

    /// Takes the small parameters of a loop apart. Gives what puts the results together again.
    fn carried(
        &mut self,
        stm: &mut Stm,
        mut scalars: HashMap<VarId, Vec<Param>>,
        before: &mut Vec<Stm>,
    ) -> Vec<Stm> {
        let loc = stm.loc;
        let Exp::Loop { params, body, .. } = &mut stm.exp else { return Vec::new() };
        let mut after = Vec::new();
        for k in (0..params.len()).rev() {
            let (param, init) = params[k].clone();
            let (Some(inside), Some((elem, count))) = (scalars.remove(&param.var), small(&param.ty)) else {
                continue;
            };
            let results = body.result[k].as_var().and_then(|result| self.known.get(&result).cloned());
            let results = results.filter(|_| only_elements_are_read(body, param.var));
            let (Some(results), Atom::Var(init)) = (results, init) else {
                // It stays an array, and its elements are read from it.
                let numbers = (0..).map(Atom::i64);
                let reads = inside.into_iter().zip(numbers).map(|(scalar, i)| {
                    let (array, indices) = (param.var, vec![i]);
                    let exp = Exp::Index { array, indices, check: Check::Certified };
                    Stm { pat: vec![scalar], exp, loc }
                });
                body.stms.splice(0..0, reads);
                continue;
            };
            let starts = self.elements_of(init, (elem, count), before, loc);
            let outside: Vec<Param> = (0..count).map(|_| self.fresh_like(stm.pat[k].var, elem)).collect();
            let literal = |params: &[Param], of: Param| {
                let elems = params.iter().map(|p| p.var.into()).collect();
                Stm { pat: vec![of], exp: Exp::ArrayLit { row: elem.into(), elems }, loc }
            };
            body.result.splice(k..=k, results);
            body.stms.insert(0, literal(&inside, param));
            params.splice(k..=k, inside.into_iter().zip(starts));
            after.push(literal(&outside, stm.pat[k].clone()));
            stm.pat.splice(k..=k, outside);
        }
        after
    }

    /// Takes the small results of branches apart.
    fn chosen(&mut self, stm: &mut Stm) -> Vec<Stm> {
        let loc = stm.loc;
        let Exp::If { then, otherwise, .. } = &mut stm.exp else { return Vec::new() };
        let mut after = Vec::new();
        for k in (0..stm.pat.len()).rev() {
            let Some((elem, count)) = small(&stm.pat[k].ty) else { continue };
            let of = |body: &Body| self.known.get(&body.result[k].as_var()?).cloned();
            let (Some(left), Some(right)) = (of(then), of(otherwise)) else { continue };
            then.result.splice(k..=k, left);
            otherwise.result.splice(k..=k, right);
            let outside: Vec<Param> = (0..count).map(|_| self.fresh_like(stm.pat[k].var, elem)).collect();
            let elems = outside.iter().map(|p| p.var.into()).collect();
            let exp = Exp::ArrayLit { row: elem.into(), elems };
            after.push(Stm { pat: vec![stm.pat[k].clone()], exp, loc });
            stm.pat.splice(k..=k, outside);
        }
        after
    }

    fn fresh_like(&mut self, var: VarId, elem: PrimType) -> Param {
        let hint = self.vars.hint(var).to_owned();
        Param { var: self.vars.fresh(&hint), ty: elem.into() }
    }

    fn elements_of(
        &mut self,
        array: VarId,
        (elem, count): (PrimType, usize),
        before: &mut Vec<Stm>,
        loc: Loc,
    ) -> Vec<Atom> {
        if let Some(elements) = self.known.get(&array) {
            return elements.clone();
        }
        let numbers = 0..i64::try_from(count).unwrap_or(0);
        let read = numbers.map(|i| {
            let param = self.fresh_like(array, elem);
            let var = param.var;
            let exp = Exp::Index { array, indices: vec![Atom::i64(i)], check: Check::Certified };
            before.push(Stm { pat: vec![param], exp, loc });
            var.into()
        });
        read.collect()
    }
}

/// Whether all uses of an array in a body, but those as a result of the body itself, are reads of elements at known places.
fn only_elements_are_read(body: &Body, array: VarId) -> bool {
    let is_it = |atom: &Atom| *atom == Atom::Var(array);
    body.stms.iter().all(|stm| {
        let mut is_used = false;
        direct_operands(&stm.exp, &mut |atom| is_used |= is_it(&atom));
        let reads = match &stm.exp {
            Exp::Index { indices, .. } => indices.len() == 1 && constant(indices[0]).is_some(),
            // Another name for it, of which the elements are known.
            Exp::Atom(_) => true,
            _ => false,
        };
        let inner = |body: &&Body| only_elements_are_read(body, array) && !body.result.iter().any(is_it);
        (!is_used || reads) && bodies(&stm.exp).iter().all(inner)
    })
}
