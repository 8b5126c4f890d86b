//! Contractions with a transposed result, or added to an array.
//!
//! ```text
//! let (p: [n][m]f64) =
//!   contract [n, m] sum [k] x (0, 2) y (2, 1)               let (s: [m][n]f64) =
//! let (t: [m][n]f64) = rearrange (1, 0) p            ==>      contract [m, n] sum [k] x (1, 2) y (2, 0) plus z
//! let (s: [m][n]f64) =
//!   map m (z, t) \(a: [n]f64, b: [n]f64) -> map n (a, b) (+)
//! ```
//!
//! A product writes in any order at the same cost, and adds to what is there in the time of writing it. The array is consumed;
//! [`crate::insert_copies`] copies it if it is needed again.

use std::collections::HashMap;

use dagaz_core::exp::{AxesOf, Body, Exp, Program, Stm, Triangle};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::bodies_mut;

use super::dot::{Level, Nest, View};
use super::facts::Definitions;

pub(super) fn settle(program: &mut Program) {
    // What was transposed may then be added.
    for _ in 0..2 {
        let facts = Definitions::of(program);
        program.funs.iter_mut().for_each(|fun| body(&facts, &mut fun.body));
    }
}

/// Contractions that are used once, by a later statement of the same body, move there.
fn body(facts: &Definitions, own: &mut Body) {
    let mut done: Vec<Option<Stm>> = Vec::with_capacity(own.stms.len());
    let mut made: HashMap<VarId, usize> = HashMap::new();
    for mut stm in std::mem::take(&mut own.stms) {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| body(facts, inner));
        let new = match &stm.exp {
            Exp::Rearrange { perm, array } => {
                product(&made, &done, *array).and_then(|(place, exp)| Some((place, transposed(exp, perm)?)))
            }
            Exp::Map { .. } => added(facts, &stm).and_then(|(x, y)| {
                let of = |product: VarId, other: VarId| {
                    let (place, exp) = self::product(&made, &done, product)?;
                    Some((place, plus(exp, other)?))
                };
                of(y, x).or_else(|| of(x, y))
            }),
            _ => None,
        };
        let fits = |(_, exp): &(usize, Exp)| match exp {
            Exp::Contract { sizes, rank, plus, .. } => {
                let of_plus = plus.and_then(|array| facts.types.get(&array)).map(|ty| ty.dims());
                stm.pat[0].ty.dims() == &sizes[..*rank] && of_plus.is_none_or(|dims| dims == &sizes[..*rank])
            }
            _ => false,
        };
        if let Some((place, exp)) = new.filter(fits) {
            done[place] = None;
            stm.exp = exp;
        }
        if let (Exp::Contract { .. }, [param]) = (&stm.exp, stm.pat.as_slice())
            && facts.uses.get(&param.var) == Some(&1)
        {
            made.insert(param.var, done.len());
        }
        done.push(Some(stm));
    }
    own.stms = done.into_iter().flatten().collect();
}

fn product<'d>(
    made: &HashMap<VarId, usize>,
    done: &'d [Option<Stm>],
    var: VarId,
) -> Option<(usize, &'d Exp)> {
    let place = *made.get(&var)?;
    Some((place, &done[place].as_ref()?.exp))
}

fn transposed(exp: &Exp, perm: &[usize]) -> Option<Exp> {
    let Exp::Contract { sizes, rank, left, right, plus: None, triangles } = exp else { return None };
    let order: Vec<usize> = perm.iter().copied().chain(*rank..sizes.len()).collect();
    let place = |axis: &usize| order.iter().position(|old| old == axis);
    let moved = |operand: &AxesOf| {
        let axes = operand.axes.iter().map(place);
        Some(AxesOf { array: operand.array, axes: axes.collect::<Option<_>>()? })
    };
    let sizes = order.iter().map(|old| sizes[*old]).collect();
    let triangle = |t: &Triangle| Some(Triangle { low: place(&t.low)?, high: place(&t.high)? });
    let triangles = triangles.iter().map(triangle).collect::<Option<_>>()?;
    let (left, right) = (moved(left)?, moved(right)?);
    Some(Exp::Contract { sizes, rank: *rank, left, right, plus: None, triangles })
}

fn plus(exp: &Exp, array: VarId) -> Option<Exp> {
    let Exp::Contract { sizes, rank, left, right, plus: None, triangles } = exp else { return None };
    let (left, right) = (left.clone(), right.clone());
    let (sizes, triangles) = (sizes.clone(), triangles.clone());
    Some(Exp::Contract { sizes, rank: *rank, left, right, plus: Some(array), triangles })
}

/// The two arrays that a nest of maps adds, element by element, if it does nothing else.
fn added(facts: &Definitions, stm: &Stm) -> Option<(VarId, VarId)> {
    let mut levels = Vec::new();
    let mut exp = &stm.exp;
    let (x, y) = loop {
        let Exp::Map { width, arrays, lambda } = exp else { return None };
        levels.push(Level::new(*width, arrays, lambda));
        let [result] = lambda.body.result.as_slice() else { return None };
        let (last, before) = lambda.body.stms.split_last()?;
        let reads = before.iter().all(|stm| matches!(stm.exp, Exp::Index { .. } | Exp::Rearrange { .. }));
        if last.pat.len() != 1 || Atom::Var(last.pat[0].var) != *result || !reads {
            return None;
        }
        match &last.exp {
            Exp::BinOp(BinOp::Add, _, x, y) => break (x.as_var()?, y.as_var()?),
            inner => exp = inner,
        }
    };
    let nest = Nest { facts, levels: &levels };
    let whole = |var: VarId| {
        let View { root, fixed, labels } = nest.view(var, 0)?;
        (fixed.is_empty() && labels.into_iter().eq(0..levels.len())).then_some(root)
    };
    Some((whole(x)?, whole(y)?))
}
