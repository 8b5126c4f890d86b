//! Products with rows of zeros but for one element become sums at the places of those elements.
//!
//! The gradient of a minimum is zero but for the element that was the least one, and where the elements were products,
//! reverse mode multiplies with all those zeros:
//!
//! ```text
//! let (adjs: [n][m]f64) =                              let (places: [n]i64, values: [n]f64) =
//!   map n (…) \… ->                                      map n (…) \… -> (i, v)
//!     let (row: [m]f64) = zeros with [i] = v       ==>   let (w: [m][k]f64) =
//!     in (row)                                             with_acc over [m, k] zeros (+)
//! let (w: [m][k]f64) =                                       map n (places, values, x) \(i, v, row) ->
//!   contract [m, k] sum [n] adjs (2, 0) x (2, 1)               map k (row) \e -> acc[i, …] += v * e
//! ```
//!
//! A row with no such element has the place -1, which the accumulator ignores. The rows themselves are not made.

use dagaz_core::build::Builder;
use dagaz_core::exp::{AccInput, AxesOf, Body, Check, DimSlice, Exp, Loc, Program, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::replace_stms;

use super::facts::Definitions;

/// Whether there was such a product.
pub(super) fn add_single_elements(program: &mut Program) -> bool {
    let facts = Definitions::of(program);
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut changer = Changer { facts, b, has_changed: false };
    replace_stms(&mut program.funs, &mut |stm, done| changer.stm(stm, done));
    program.vars = changer.b.finish().0;
    changer.has_changed
}

struct Changer {
    facts: Definitions,
    b: Builder,
    has_changed: bool,
}

/// The one element of a row that is not zero.
enum Single {
    At {
        place: Atom,
        value: Atom,
    },
    /// All of an array from a place on, whose length is zero or one.
    AtMostOne {
        place: Atom,
        values: VarId,
        length: Atom,
    },
}

/// A product of an array of such rows and another one.
struct Sum {
    elem: PrimType,
    /// The number of rows.
    width: Atom,
    /// The sizes of the result, and which of them the rows have.
    sizes: Vec<Atom>,
    along: usize,
    other: AxesOf,
}

impl Changer {
    fn stm(&mut self, mut stm: Stm, done: &mut Vec<Stm>) {
        if let Some((sum, rows)) = self.sum(&stm)
            && let Some(singles) = done.iter_mut().rev().find_map(|stm| self.singled(stm, rows))
        {
            self.has_changed = true;
            self.b.push_scope();
            stm.exp = self.added(&sum, singles, stm.loc);
            done.extend(self.b.pop_scope());
        }
        done.push(stm);
    }

    /// A product that sums over the first axis of an array of rows, which is used for nothing else.
    fn sum(&self, stm: &Stm) -> Option<(Sum, VarId)> {
        let Exp::Contract { sizes, rank, left, right, plus: None, .. } = &stm.exp else { return None };
        let [width] = sizes[*rank..] else { return None };
        let elem = stm.pat.first()?.ty.elem()?;
        let of = |rows: &AxesOf, other: &AxesOf| {
            let [number, along] = rows.axes[..] else { return None };
            let is_only_here = self.facts.uses.get(&rows.array) == Some(&1);
            if number != *rank || other.axes.contains(&along) || !is_only_here {
                return None;
            }
            let sizes = sizes[..*rank].to_vec();
            Some((Sum { elem, width, sizes, along, other: other.clone() }, rows.array))
        };
        of(left, right).or_else(|| of(right, left))
    }

    /// If a statement gives the rows, it gives their places and values instead, in these variables.
    fn singled(&mut self, stm: &mut Stm, rows: VarId) -> Option<[VarId; 2]> {
        let position = stm.pat.iter().position(|p| p.var == rows)?;
        let elem = stm.pat[position].ty.elem()?;
        let width = *stm.pat[position].ty.dims().first()?;
        let types = [PrimType::I64, elem].map(Type::Prim);
        let all = types.clone().map(|ty| ty.with_outer(&[width]));
        match &mut stm.exp {
            Exp::Map { lambda, .. } => {
                let single = single(&lambda.body, lambda.body.result[position].as_var()?)?;
                let given = self.give(&mut lambda.body, single, elem);
                lambda.body.result.splice(position..=position, given);
                lambda.ret.splice(position..=position, types);
            }
            Exp::WithAcc { lambda, .. } => {
                let result = lambda.body.result[position].as_var()?;
                if self.facts.uses.get(&result) != Some(&1) {
                    return None;
                }
                let inner = lambda.body.stms.iter_mut().find_map(|stm| self.singled(stm, result))?;
                lambda.body.result.splice(position..=position, inner.map(Atom::Var));
                lambda.ret.splice(position..=position, all.clone());
            }
            _ => return None,
        }
        let [places, values] = all;
        let params = [self.b.fresh_param("places", places), self.b.fresh_param("values", values)];
        let vars = [params[0].var, params[1].var];
        stm.pat.splice(position..=position, params);
        Some(vars)
    }

    /// The place and the value, computed at the end of a body.
    fn give(&mut self, body: &mut Body, single: Single, elem: PrimType) -> [Atom; 2] {
        let (place, values, length) = match single {
            Single::At { place, value } => return [place, value],
            Single::AtMostOne { place, values, length } => (place, values, length),
        };
        self.b.push_scope();
        let cond = self.b.lt(PrimType::I64, Atom::i64(0), length, Loc::NONE);
        let then = self.b.body(|b| {
            let first = Exp::Index { array: values, indices: vec![Atom::i64(0)], check: Check::Certified };
            vec![place, b.let_exp("value", elem.into(), first, Loc::NONE)]
        });
        let nowhere = vec![Atom::i64(-1), Atom::Const(Prim::zero(elem))];
        let chosen = Exp::If { cond, then, otherwise: Body { stms: Vec::new(), result: nowhere } };
        let given = self.b.let_exps("single", &[PrimType::I64.into(), elem.into()], chosen, Loc::NONE);
        body.stms.extend(self.b.pop_scope());
        [given[0].into(), given[1].into()]
    }

    /// The sum, by an accumulator.
    fn added(&mut self, sum: &Sum, [places, values]: [VarId; 2], loc: Loc) -> Exp {
        let Sum { elem, width, sizes, other, .. } = sum;
        let (elem, b) = (*elem, &mut self.b);
        let zero = Atom::Const(Prim::zero(elem));
        let whole = Type::array(elem, sizes.clone());
        let zeros = Exp::Replicate { dims: sizes.clone(), value: zero };
        let zeros = b.let_var("zeros", whole, zeros, loc);
        // The rows of the other array come first in it.
        let first = other.axes.iter().position(|axis| *axis == sizes.len()).unwrap_or_default();
        let mut perm: Vec<usize> = (0..other.axes.len()).collect();
        perm.remove(first);
        perm.insert(0, first);
        let axes: Vec<usize> = perm[1..].iter().map(|at| other.axes[*at]).collect();
        let dims = axes.iter().map(|axis| sizes[*axis]);
        let row_ty = Type::array(elem, dims.collect());
        let rows = match first {
            0 => other.array,
            _ => {
                let turned = Exp::Rearrange { perm, array: other.array };
                b.let_var("turned", row_ty.with_outer(&[*width]), turned, loc)
            }
        };
        let op = b.binop_lambda(BinOp::Add, elem, loc);
        let acc_ty = Type::Acc { index_dims: sizes.clone(), elems: vec![elem.into()] };
        let lambda = b.lambda(&[("acc", acc_ty.clone())], vec![acc_ty.clone()], |b, acc| {
            let params = [
                ("place", PrimType::I64.into()),
                ("value", elem.into()),
                ("row", row_ty),
                ("acc", acc_ty.clone()),
            ];
            let each = b.lambda(&params, vec![acc_ty.clone()], |b, of| {
                let mut indices = vec![None; sizes.len()];
                indices[sum.along] = Some(of[0]);
                vec![add_row(b, sum, &axes, indices, [of[1], of[2], of[3]], loc)]
            });
            let arrays = [places, values, rows].into_iter().chain(acc[0].as_var()).collect();
            vec![b.let_exp("acc", acc_ty.clone(), Exp::Map { width: *width, arrays, lambda: each }, loc)]
        });
        let input = AccInput { shape: sizes.clone(), arrays: vec![zeros], op: Some((op, vec![zero])) };
        Exp::WithAcc { inputs: vec![input], lambda }
    }
}

/// Adds the products of a value with all elements of a row, whose axes are given, to an accumulator.
fn add_row(
    b: &mut Builder,
    sum: &Sum,
    axes: &[usize],
    indices: Vec<Option<Atom>>,
    [value, row, acc]: [Atom; 3],
    loc: Loc,
) -> Atom {
    let (sizes, elem) = (&sum.sizes, sum.elem);
    let acc_ty = Type::Acc { index_dims: sizes.clone(), elems: vec![elem.into()] };
    let (Some((axis, rest)), Some(array)) = (axes.split_first(), row.as_var()) else {
        let product = b.mul(elem, row, value, loc);
        let indices = indices.into_iter().flatten().collect();
        let Some(acc) = acc.as_var() else { return acc };
        return b.let_exp("acc", acc_ty, Exp::UpdateAcc { acc, indices, values: vec![product] }, loc);
    };
    let width = sizes[*axis];
    let numbers = Exp::Iota { ty: PrimType::I64, n: width, start: Atom::i64(0), step: Atom::i64(1) };
    let numbers = b.let_var("numbers", Type::array(PrimType::I64, vec![width]), numbers, loc);
    let row_ty = Type::array(elem, rest.iter().map(|axis| sizes[*axis]).collect());
    let params = [("i", PrimType::I64.into()), ("row", row_ty), ("acc", acc_ty.clone())];
    let lambda = b.lambda(&params, vec![acc_ty.clone()], |b, of| {
        let mut indices = indices;
        indices[*axis] = Some(of[0]);
        vec![add_row(b, sum, rest, indices, [value, of[1], of[2]], loc)]
    });
    let arrays = [numbers, array].into_iter().chain(acc.as_var()).collect();
    b.let_exp("acc", acc_ty, Exp::Map { width, arrays, lambda }, loc)
}

/// What a row is, if it is zeros but for one element.
fn single(body: &Body, row: VarId) -> Option<Single> {
    let made = |var: VarId| body.stms.iter().find(|stm| matches!(&stm.pat[..], [p] if p.var == var));
    let Exp::Update { array, dims, value, check: Check::Certified } = &made(row)?.exp else { return None };
    match &made(*array)?.exp {
        Exp::Replicate { value: Atom::Const(zero), .. } if *zero == Prim::zero(zero.ty()) => {}
        _ => return None,
    }
    match &dims[..] {
        [DimSlice::Fix(place)] => Some(Single::At { place: *place, value: *value }),
        [DimSlice::Range { start, len, .. }] => {
            let Exp::If { then, otherwise, .. } = &made(len.as_var()?)?.exp else { return None };
            let is_short = |body: &Body| matches!(body.result[..], [Atom::Const(Prim::I64(0 | 1))]);
            let single = Single::AtMostOne { place: *start, values: value.as_var()?, length: *len };
            (is_short(then) && is_short(otherwise)).then_some(single)
        }
        _ => None,
    }
}
