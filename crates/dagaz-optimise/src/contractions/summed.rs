//! Sums of what a product gives become products with sums.
//!
//! ```text
//! let (p: [n][m]f64) =                                     let (s: [k]f64) = sums of the columns of y
//!   contract [n, m] sum [k] x (0, 2) y (1, 2)              let (p: [n]f64) =
//! let (z: [n]f64) =                                 ==>      contract [n] sum [k] x (0, 1) s (1)
//!   map n (p) \(row: [m]f64) : (f64) ->                    let (z: [n]f64) =
//!     reduce m (row) op (+) neutral (0.0f64)                 map n (p) \(row: f64) : (f64) -> row
//! ```
//!
//! One dimension less, for the time of reading an operand. Derivatives by what is the same for many rows, such as the means in
//! `map (\x -> q · (x - mean)) xs`, are such sums. They may be of the elements or of multiples of them.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{AxesOf, Body, Check, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies_mut, operands_mut};

use super::dot::is_sum;
use super::facts::Definitions;

pub(super) fn multiply_sums(program: &mut Program) {
    let facts = Definitions::of(program);
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = SumsOfProducts { facts, b };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
}

struct SumsOfProducts {
    facts: Definitions,
    b: Builder,
}

/// Statements of a body whose results are used once.
#[derive(Default)]
struct Made {
    products: HashMap<VarId, Exp>,
    /// Products as matrices, whose second dimension has all but the first of theirs.
    flat: HashMap<VarId, VarId>,
}

impl Made {
    fn note(&mut self, stm: &Stm) {
        let [param] = stm.pat.as_slice() else { return };
        match &stm.exp {
            Exp::Contract { rank, plus: None, .. } if *rank > 1 => {
                self.products.insert(param.var, stm.exp.clone());
            }
            Exp::Reshape { dims, array } => {
                let is_flat = dims.len() == 2 && sizes_of(self.products.get(array)).first() == dims.first();
                self.flat.extend(is_flat.then_some((param.var, *array)));
            }
            _ => {}
        }
    }

    /// A product that is read as a matrix.
    fn matrix(&self, var: VarId) -> Option<&Exp> {
        let product = self.products.get(self.flat.get(&var).unwrap_or(&var))?;
        (self.flat.contains_key(&var) || sizes_of(Some(product)).len() == 2).then_some(product)
    }
}

/// The sizes of the array that a contraction gives.
fn sizes_of(contract: Option<&Exp>) -> &[Atom] {
    match contract {
        Some(Exp::Contract { sizes, rank, .. }) => &sizes[..*rank],
        _ => &[],
    }
}

impl SumsOfProducts {
    fn body(&mut self, body: &mut Body) {
        let mut made = Made::default();
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            self.b.push_scope();
            if !self.columns(&mut stm, &made) {
                self.rows(&mut stm, &made);
            }
            done.extend(self.b.pop_scope());
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(inner));
            if stm.pat.iter().all(|p| self.facts.uses.get(&p.var) == Some(&1)) {
                made.note(&stm);
            }
            done.push(stm);
        }
        body.stms = done;
    }

    /// A map over products that adds up what is in their last dimension takes sums instead.
    fn rows(&mut self, stm: &mut Stm, made: &Made) {
        let Exp::Map { arrays, lambda, .. } = &mut stm.exp else { return };
        for (k, array) in arrays.iter_mut().enumerate() {
            let Some(product) = made.products.get(array) else { continue };
            let Some(axis) = sizes_of(Some(product)).len().checked_sub(1) else { continue };
            let Some(operand) = only_operand_with(product, axis) else { continue };
            let mut changed = lambda.clone();
            if self.take_sums(&mut changed, k)
                && let Some(product) = self.product_of_sums(product, axis, operand, stm.loc)
            {
                *lambda = changed;
                *array = product;
            }
        }
    }

    /// Has a function take the sum of the numbers that a parameter contains, which it only adds up in rows.
    fn take_sums(&mut self, lambda: &mut Lambda, k: usize) -> bool {
        let param = &mut lambda.params[k];
        if self.facts.uses.get(&param.var) != Some(&1) {
            return false;
        }
        let Some((elem, [dims @ .., _])) = param.ty.elem().map(|elem| (elem, param.ty.dims())) else {
            return false;
        };
        let (var, is_row) = (param.var, dims.is_empty());
        param.ty = if is_row { Type::Prim(elem) } else { Type::array(elem, dims.to_vec()) };
        let stms = &mut lambda.body.stms;
        for at in 0..stms.len() {
            match &mut stms[at].exp {
                Exp::Map { arrays, lambda, .. } if !is_row => {
                    if let Some(k) = arrays.iter().position(|array| *array == var) {
                        return self.take_sums(lambda, k);
                    }
                }
                Exp::Reduce { arrays, pre, op, neutral, .. } if is_row && arrays == &[var] => {
                    let is_zero = neutral.as_slice() == [Prim::zero(elem).into()];
                    if is_sum(op).is_none() || !is_zero || !pre.as_ref().is_none_or(is_multiple) {
                        return false;
                    }
                    let pre = pre.take();
                    let (loc, pat) = (stms[at].loc, stms[at].pat.clone());
                    let (mut new, value) = applied(pre, var.into());
                    new.push(Stm { pat, exp: Exp::Atom(value), loc });
                    stms.splice(at..=at, new);
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// Sums of the columns of a product, one by one, are one product.
    fn columns(&mut self, stm: &mut Stm, made: &Made) -> bool {
        let Some(matrix) = column_sums_of(&self.facts, &stm.exp) else { return false };
        let Some(product) = made.matrix(matrix) else { return false };
        let Some(operand) = only_operand_with(product, 0) else { return false };
        let Some(array) = self.product_of_sums(product, 0, operand, stm.loc) else { return false };
        stm.exp = Exp::Reshape { dims: stm.pat[0].ty.dims().to_vec(), array };
        true
    }

    /// A product without one of its axes, of which all are added.
    fn product_of_sums(&mut self, product: &Exp, axis: usize, side: usize, loc: Loc) -> Option<VarId> {
        let Exp::Contract { sizes, rank, left, right, .. } = product else { return None };
        let mut operands = [left.clone(), right.clone()];
        let AxesOf { array, axes } = &mut operands[side];
        let place = axes.iter().position(|own| *own == axis)?;
        axes.remove(place);
        let ty = self.facts.types.get(array)?.clone();
        let elem = ty.elem()?;
        *array = sums_along(&mut self.b, *array, (elem, ty.dims()), place, loc);
        self.facts.types.insert(*array, without(&ty, place));
        for own in operands.iter_mut().flat_map(|operand| &mut operand.axes).filter(|own| **own > axis) {
            *own -= 1;
        }
        let mut sizes = sizes.clone();
        sizes.remove(axis);
        let [left, right] = operands;
        let (rank, ty) = (rank - 1, Type::array(elem, sizes[..rank - 1].to_vec()));
        let exp = Exp::Contract { sizes, rank, left, right, plus: None, triangles: Vec::new() };
        let product = self.b.let_var("product", ty.clone(), exp, loc);
        self.facts.types.insert(product, ty);
        Some(product)
    }
}

/// The operand of a product that has an axis, if the other one has it not.
fn only_operand_with(product: &Exp, axis: usize) -> Option<usize> {
    let Exp::Contract { left, right, triangles, .. } = product else { return None };
    match (left.axes.contains(&axis), right.axes.contains(&axis)) {
        (true, false) if triangles.is_empty() => Some(0),
        (false, true) if triangles.is_empty() => Some(1),
        _ => None,
    }
}

/// Whether a function gives a multiple of its argument.
fn is_multiple(pre: &Lambda) -> bool {
    let ([param], [result]) = (pre.params.as_slice(), pre.body.result.as_slice()) else { return false };
    let (mut value, mut before) = (Atom::Var(param.var), vec![Atom::Var(param.var)]);
    for stm in &pre.body.stms {
        let is_next = match &stm.exp {
            Exp::UnOp(UnOp::Neg, _, x) => *x == value,
            Exp::BinOp(BinOp::Mul, _, x, y) => {
                (*x == value && !before.contains(y)) || (*y == value && !before.contains(x))
            }
            _ => false,
        };
        let [next] = stm.pat.as_slice() else { return false };
        if !is_next {
            return false;
        }
        value = next.var.into();
        before.push(value);
    }
    value == *result
}

/// What a function does to an argument.
fn applied(function: Option<Lambda>, argument: Atom) -> (Vec<Stm>, Atom) {
    let Some(Lambda { params, mut body, .. }) = function else { return (Vec::new(), argument) };
    let mut substitution = Substitution::default();
    substitution.insert(params[0].var, argument);
    for stm in &mut body.stms {
        operands_mut(&mut stm.exp, &mut |atom| substitution.apply(atom));
    }
    (body.stms, substitution.of(body.result[0]))
}

/// The matrix whose columns a map adds up, one after the other.
fn column_sums_of(facts: &Definitions, exp: &Exp) -> Option<VarId> {
    let Exp::Map { width, arrays, lambda } = exp else { return None };
    let ([columns], [column], [stm]) = (&arrays[..], &lambda.params[..], &lambda.body.stms[..]) else {
        return None;
    };
    let Exp::Reduce { width: height, arrays, pre: Some(pre), op, neutral, .. } = &stm.exp else {
        return None;
    };
    let ([rows], [row], [read]) = (&arrays[..], &pre.params[..], &pre.body.stms[..]) else { return None };
    let Exp::Index { array, indices, check: Check::Certified } = &read.exp else { return None };
    let zero: Atom = Prim::zero(is_sum(op)?).into();
    let is_sum = indices == &[row.var.into(), column.var.into()] && neutral == &[zero];
    let is_result = lambda.body.result == [stm.pat[0].var.into()]
        && pre.body.result == [read.pat[0].var.into()]
        && facts.uses.get(array) == Some(&1);
    let is_all = facts.is_numbers(*columns, *width) && facts.is_numbers(*rows, *height);
    (is_sum && is_result && is_all).then_some(*array)
}

/// The type of an array with one dimension less.
fn without(ty: &Type, place: usize) -> Type {
    let mut dims = ty.dims().to_vec();
    dims.remove(place);
    Type::array(ty.elem().unwrap_or(PrimType::F64), dims)
}

/// Sums along any dimension of an array.
fn sums_along(
    b: &mut Builder,
    array: VarId,
    (elem, dims): (PrimType, &[Atom]),
    place: usize,
    loc: Loc,
) -> VarId {
    let ty = Type::array(elem, dims.to_vec());
    match (dims, place) {
        ([n, columns @ ..], 0) => column_sums(b, array, elem, (*n, columns), loc),
        ([_, n], _) => {
            let row = Type::array(elem, vec![*n]);
            let lambda = b.lambda(&[("row", row)], vec![elem.into()], |b, row| {
                let op = b.binop_lambda(BinOp::Add, elem, loc);
                let (arrays, neutral) =
                    (row[0].as_var().into_iter().collect(), vec![Prim::zero(elem).into()]);
                let exp = Exp::Reduce { width: *n, arrays, pre: None, op, neutral, commutative: true };
                vec![b.let_exp("sum", elem.into(), exp, loc)]
            });
            let exp = Exp::Map { width: dims[0], arrays: vec![array], lambda };
            b.let_var("sums", without(&ty, place), exp, loc)
        }
        (_, _) => {
            let sums = without(&ty, place);
            let (row, ret) = (ty.row().unwrap_or(ty), vec![sums.row().unwrap_or_else(|| sums.clone())]);
            let lambda = b.lambda(&[("row", row)], ret, |b, row| {
                let rows = row[0].as_var().map(|row| sums_along(b, row, (elem, &dims[1..]), place - 1, loc));
                rows.into_iter().map(Atom::from).collect()
            });
            b.let_var("sums", sums, Exp::Map { width: dims[0], arrays: vec![array], lambda }, loc)
        }
    }
}

/// Sums along the first dimension, with the others as one: then all of them are added row by row.
pub(super) fn column_sums(
    b: &mut Builder,
    array: VarId,
    elem: PrimType,
    (rows, columns): (Atom, &[Atom]),
    loc: Loc,
) -> VarId {
    let count = b.product(columns, loc);
    let flat_ty = Type::array(elem, vec![rows, count]);
    let flat = b.let_var("flat", flat_ty, Exp::Reshape { dims: vec![rows, count], array }, loc);
    let numbers = |b: &mut Builder, n: Atom| {
        let exp = Exp::Iota { ty: PrimType::I64, n, start: Atom::i64(0), step: Atom::i64(1) };
        b.let_var("iota", Type::array(PrimType::I64, vec![n]), exp, loc)
    };
    let (all_rows, all_columns) = (numbers(b, rows), numbers(b, count));
    let lambda = b.lambda(&[("column", PrimType::I64.into())], vec![elem.into()], |b, column| {
        let pre = b.lambda(&[("row", PrimType::I64.into())], vec![elem.into()], |b, row| {
            let indices = vec![row[0], column[0]];
            let exp = Exp::Index { array: flat, indices, check: Check::Certified };
            vec![b.let_exp("elem", elem.into(), exp, loc)]
        });
        let op = b.binop_lambda(BinOp::Add, elem, loc);
        let neutral = vec![Prim::zero(elem).into()];
        let arrays = vec![all_rows];
        let exp = Exp::Reduce { width: rows, arrays, pre: Some(pre), op, neutral, commutative: true };
        vec![b.let_exp("sum", elem.into(), exp, loc)]
    });
    let exp = Exp::Map { width: count, arrays: vec![all_columns], lambda };
    let sums = b.let_var("sums", Type::array(elem, vec![count]), exp, loc);
    let exp = Exp::Reshape { dims: columns.to_vec(), array: sums };
    b.let_var("sums", Type::array(elem, columns.to_vec()), exp, loc)
}
