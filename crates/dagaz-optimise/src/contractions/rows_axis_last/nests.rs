//! What is computed of a row of a product, in a map over its parts.

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Lambda, Loc, Stm};
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars;

use super::Shape;
use crate::columns::rename;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number for each part: a reduction, and what is made of it.
    Sums,
    /// A number for each element.
    Elements,
}

/// A map over the parts of a row.
pub(super) struct Nest {
    pub kind: Kind,
    /// The position of the row among its arrays, and that of the statement that uses a part of it.
    row: usize,
    inner: usize,
    /// Positions of arrays that have numbers for all parts of a row.
    own: Vec<usize>,
}

/// What a statement computes of a row, if it is all that it uses of what is bound around it, but numbers for parts.
pub(super) fn find(shape: Shape, stm: &Stm, row: VarId, bound: &HashSet<VarId>) -> Option<Nest> {
    let Exp::Map { width, arrays, lambda } = &stm.exp else { return None };
    let at = arrays.iter().position(|array| *array == row)?;
    let part = lambda.params[at].var;
    let stms = &lambda.body.stms;
    let users: Vec<usize> = (0..stms.len()).filter(|at| free_vars(&stms[*at].exp).contains(&part)).collect();
    let [inner] = users[..] else { return None };
    let is_scalar = |(at, stm): (usize, &Stm)| {
        at == inner
            || matches!(
                stm.exp,
                Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..)
            )
    };
    let own: Vec<usize> = (0..arrays.len()).filter(|i| *i != at && bound.contains(&arrays[*i])).collect();
    let uses = free_vars(&stm.exp).into_iter().filter(|var| bound.contains(var)).count();
    let (kind, depth) = match &stms[inner].exp {
        Exp::Reduce { width, arrays, .. } if own.is_empty() => {
            (Kind::Sums, (arrays.iter().filter(|a| **a == part).count() == 1).then_some(*width)?)
        }
        Exp::Map { width, arrays, lambda: scalar } => {
            let is_result = lambda.body.result == [Atom::Var(stms[inner].pat.first()?.var)];
            let fits = is_result && scalar.params.iter().all(|p| p.ty.rank() == 0);
            let is_once = arrays.iter().filter(|a| **a == part).count() == 1;
            (Kind::Elements, (fits && is_once).then_some(*width)?)
        }
        _ => return None,
    };
    let fits = *width == shape.parts
        && arrays.iter().filter(|array| **array == row).count() == 1
        && depth == shape.length
        && uses == own.len() + 1
        && own.iter().all(|i| lambda.params[*i].ty.rank() == 0)
        && stms.iter().enumerate().all(is_scalar)
        && stms[inner].pat.len() == 1
        && lambda.ret.len() == 1
        && lambda.ret[0].elem() == Some(shape.elem)
        && lambda.ret[0].rank() == usize::from(kind == Kind::Elements);
    fits.then_some(Nest { kind, row: at, inner, own })
}

/// Whether the numbers that a statement uses for the parts of a row are known for all rows: they are results.
pub(super) fn are_own_results(stm: &Stm, nest: &Nest, results: &[Atom]) -> bool {
    let Exp::Map { arrays, .. } = &stm.exp else { return false };
    nest.own.iter().all(|at| results.contains(&Atom::Var(arrays[*at])))
}

/// The statements that depend on variables, and those that do not.
fn split(stms: &[Stm], on: &[VarId]) -> (Vec<Stm>, Vec<Stm>) {
    let mut known: HashSet<VarId> = on.iter().copied().collect();
    stms.iter().cloned().partition(|stm| {
        let depends = free_vars(&stm.exp).iter().any(|var| known.contains(var));
        if depends {
            known.extend(stm.pat.iter().map(|p| p.var));
        }
        depends
    })
}

/// The sums of all parts and rows, from the turned product.
pub(super) fn sums(b: &mut Builder, shape: Shape, stm: &Stm, nest: &Nest, product: VarId) -> VarId {
    let Exp::Map { width, arrays, lambda } = &stm.exp else { return product };
    let Shape { rows, length, elem, .. } = shape;
    let (mut arrays, mut params) = (arrays.clone(), lambda.params.clone());
    let own = b.fresh_param("own", Type::array(elem, vec![length, rows]));
    arrays[nest.row] = product;
    let part = std::mem::replace(&mut params[nest.row], own.clone());
    let mut inner = lambda.body.stms[nest.inner].clone();
    let mut stms = lambda.body.stms.clone();
    stms.remove(nest.inner);
    let sum = inner.pat[0].clone();
    let (after, before) = split(&stms, &[sum.var]);
    let loc = inner.loc;
    let ret = Type::array(elem, vec![rows]);
    b.push_scope();
    before.into_iter().for_each(|stm| b.push(stm));
    let turned = Exp::Rearrange { perm: vec![1, 0], array: own.var };
    let turned = b.let_var("turned", Type::array(elem, vec![rows, length]), turned, Loc::NONE);
    let fresh = b.fresh_param("sum", sum.ty.clone());
    inner.pat = vec![fresh.clone()];
    let body = Body { stms: vec![inner], result: vec![fresh.var.into()] };
    let of_rows = Lambda { params: vec![part], body, ret: vec![sum.ty.clone()] };
    let exp = Exp::Map { width: rows, arrays: vec![turned], lambda: of_rows };
    let all = Type::array(sum.ty.elem().unwrap_or(elem), vec![rows]);
    let sums = b.let_var("sums", all, exp, loc);
    let body = Body { stms: after, result: lambda.body.result.clone() };
    let of_sums = Lambda { params: vec![sum], body, ret: lambda.ret.clone() };
    let exp = Exp::Map { width: rows, arrays: vec![sums], lambda: of_sums };
    let results = b.let_exp("results", ret.clone(), exp, loc);
    let body = Body { stms: b.pop_scope(), result: vec![results] };
    let exp = Exp::Map { width: *width, arrays, lambda: Lambda { params, body, ret: vec![ret.clone()] } };
    b.let_var("sums", ret.with_outer(&[*width]), exp, stm.loc)
}

/// The elements for all parts and rows, from the turned product. `whole` has what the variables of a row are for all rows.
pub(super) fn elements(
    b: &mut Builder,
    shape: Shape,
    stm: &Stm,
    nest: &Nest,
    product: VarId,
    whole: &HashMap<VarId, VarId>,
) -> VarId {
    let Exp::Map { width, arrays, lambda } = &stm.exp else { return product };
    let Shape { rows, parts, length, elem } = shape;
    let (mut arrays, mut params) = (arrays.clone(), lambda.params.clone());
    let own = b.fresh_param("own", Type::array(elem, vec![length, rows]));
    arrays[nest.row] = product;
    let part = std::mem::replace(&mut params[nest.row], own.clone()).var;
    // Numbers of a row become vectors with the numbers of all rows.
    let mut numbers = Vec::new();
    for at in &nest.own {
        let Some(array) = whole.get(&arrays[*at]) else { continue };
        let of = params[*at].ty.elem().unwrap_or(elem);
        let exp = Exp::Rearrange { perm: vec![1, 0], array: *array };
        arrays[*at] = b.let_var("turned", Type::array(of, vec![parts, rows]), exp, Loc::NONE);
        let vector = b.fresh_param("all", Type::array(of, vec![rows]));
        numbers.push((std::mem::replace(&mut params[*at], vector.clone()), vector.var));
    }
    let inner = lambda.body.stms[nest.inner].clone();
    let mut stms = lambda.body.stms.clone();
    stms.remove(nest.inner);
    let on: Vec<VarId> = numbers.iter().map(|(p, _)| p.var).collect();
    let (own_stms, before) = split(&stms, &on);
    b.push_scope();
    before.into_iter().for_each(|stm| b.push(stm));
    let needed = vectors(b, rows, numbers, own_stms, &inner);
    let result = rows_of_elements(b, (rows, length), inner, (part, own.var), needed);
    let body = Body { stms: b.pop_scope(), result: vec![result] };
    let ret = Type::array(lambda.ret[0].elem().unwrap_or(elem), vec![length, rows]);
    let exp = Exp::Map { width: *width, arrays, lambda: Lambda { params, body, ret: vec![ret.clone()] } };
    b.let_var("turned", ret.with_outer(&[parts]), exp, stm.loc)
}

/// What a statement uses of the numbers of a row, and of what follows from them, for all rows.
fn vectors(
    b: &mut Builder,
    rows: Atom,
    numbers: Vec<(Param, VarId)>,
    stms: Vec<Stm>,
    user: &Stm,
) -> Vec<(Param, VarId)> {
    let used = free_vars(&user.exp);
    let is_used = |p: &&Param| used.contains(&p.var);
    let found: Vec<Param> = numbers
        .iter()
        .map(|(p, _)| p)
        .chain(stms.iter().flat_map(|stm| &stm.pat))
        .filter(is_used)
        .cloned()
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    let types: Vec<Type> = found.iter().map(|p| p.ty.with_outer(&[rows])).collect();
    let (params, arrays): (Vec<Param>, Vec<VarId>) = numbers.into_iter().unzip();
    let body = Body { stms, result: found.iter().map(|p| p.var.into()).collect() };
    let lambda = Lambda { params, body, ret: found.iter().map(|p| p.ty.clone()).collect() };
    let all = b.let_exps("factors", &types, Exp::Map { width: rows, arrays, lambda }, user.loc);
    found.into_iter().zip(all).collect()
}

/// The map along the elements of a part, for all rows at once.
fn rows_of_elements(
    b: &mut Builder,
    (rows, length): (Atom, Atom),
    inner: Stm,
    (part, own): (VarId, VarId),
    needed: Vec<(Param, VarId)>,
) -> Atom {
    let Exp::Map { arrays, lambda, .. } = inner.exp else { return own.into() };
    let (mut arrays, mut params) = (arrays, lambda.params);
    let Some(at) = arrays.iter().position(|array| *array == part) else { return own.into() };
    arrays[at] = own;
    let vector = b.fresh_param("row", params[at].ty.with_outer(&[rows]));
    let element = std::mem::replace(&mut params[at], vector.clone());
    let mut names = Substitution::default();
    let (mut own_params, mut own_arrays) = (vec![element], vec![vector.var]);
    for (param, array) in needed {
        let fresh = b.fresh_param("factor", param.ty.clone());
        names.insert(param.var, fresh.var.into());
        own_params.push(fresh);
        own_arrays.push(array);
    }
    let mut body = lambda.body;
    body.stms.iter_mut().for_each(|stm| rename(&names, &mut stm.exp));
    body.result.iter_mut().for_each(|atom| names.apply(atom));
    let ret: Vec<Type> = lambda.ret.iter().map(|ty| ty.with_outer(&[rows])).collect();
    b.push_scope();
    let along = Lambda { params: own_params, body, ret: lambda.ret };
    let exp = Exp::Map { width: rows, arrays: own_arrays, lambda: along };
    let results = b.let_exp("elements", ret[0].clone(), exp, inner.loc);
    let body = Body { stms: b.pop_scope(), result: vec![results] };
    let ty = ret[0].with_outer(&[length]);
    let exp = Exp::Map { width: length, arrays, lambda: Lambda { params, body, ret } };
    b.let_exp("elements", ty, exp, inner.loc)
}
