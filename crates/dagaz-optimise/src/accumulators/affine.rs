//! Indices as sums: of the numbers of enclosing iterations, of values from outside, and a constant.
//!
//!     i - 1  is  1 * iteration + (-1)

use std::collections::{BTreeSet, HashMap};

use dagaz_core::exp::Exp;
use dagaz_core::index::Polynomial;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::free_vars;

use super::collect::{Collected, Def, ScopeId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Unknown {
    Iteration(ScopeId),
    /// It depends on no iteration.
    Invariant(VarId),
}

/// An index, in which nothing is multiplied but by numbers.
pub(super) type Affine = Polynomial<Unknown>;

/// How often the number of each iteration is counted.
pub(super) fn iterations(sum: &Affine) -> Vec<(ScopeId, i128)> {
    let of = |(unknown, factor): (&Unknown, i128)| match unknown {
        Unknown::Iteration(scope) => Some((*scope, factor)),
        Unknown::Invariant(_) => None,
    };
    sum.linear().into_iter().flatten().filter_map(of).collect()
}

/// The rest of the sum.
pub(super) fn without(mut sum: Affine, scope: ScopeId) -> Affine {
    sum.terms.remove(&vec![Unknown::Iteration(scope)]);
    sum
}

/// What is known of arrays and sizes that are bound outside.
pub(super) type Made = HashMap<VarId, Exp>;

/// The sum in terms of what its invariants are sums of: equal sums are then equal.
pub(super) fn expanded(made: &Made, sum: &Affine) -> Option<Affine> {
    let mut fuel = MOST_SUMMANDS;
    let mut total = Affine::constant(sum.constant);
    for (unknown, times) in sum.linear()? {
        let own = match unknown {
            Unknown::Iteration(_) => Affine::var(*unknown),
            Unknown::Invariant(var) => size(made, (*var).into(), &mut fuel)?,
        };
        total = total.plus(times, &own)?;
    }
    Some(total)
}

/// A size that is known outside.
pub(super) fn size_of(made: &Made, atom: Atom) -> Option<Affine> {
    size(made, atom, &mut { MOST_SUMMANDS })
}

fn size(made: &Made, atom: Atom, fuel: &mut usize) -> Option<Affine> {
    *fuel = fuel.checked_sub(1)?;
    Affine::of_atom(atom, |var| {
        let sum = made.get(&var).and_then(|exp| Affine::of_exp(exp, |atom| size(made, atom, fuel)));
        sum.or_else(|| Some(Affine::var(Unknown::Invariant(var))))
    })
}

/// An index as a sum; none if it is something else, such as an element of an array.
pub(super) fn affine(found: &Collected<'_>, made: &Made, atom: Atom) -> Option<Affine> {
    sum_of(found, made, atom, &mut { MOST_SUMMANDS })
}

/// Sums of sums may share their parts many times over.
const MOST_SUMMANDS: usize = 200;

fn sum_of(found: &Collected<'_>, made: &Made, atom: Atom, fuel: &mut usize) -> Option<Affine> {
    *fuel = fuel.checked_sub(1)?;
    Affine::of_atom(atom, |var| match found.defs.get(&var) {
        None => Some(Affine::var(Unknown::Invariant(var))),
        Some(Def::Counter { scope }) => Some(Affine::var(Unknown::Iteration(*scope))),
        Some(Def::Carried { .. }) => None,
        Some(Def::Row { array, scope, .. }) => {
            let own = match found.defs.get(array) {
                Some(Def::Stm { exp, .. }) => Some(*exp),
                Some(Def::Row { .. } | Def::Counter { .. } | Def::Carried { .. }) => None,
                None => made.get(array),
            };
            let Some(Exp::Iota { ty: PrimType::I64, start, step: Atom::Const(Prim::I64(step)), .. }) = own
            else {
                return None;
            };
            sum_of(found, made, *start, fuel)?.plus((*step).into(), &Affine::var(Unknown::Iteration(*scope)))
        }
        Some(Def::Stm { exp, .. }) => {
            let sum = Affine::of_exp(exp, |atom| sum_of(found, made, atom, fuel));
            sum.filter(|sum| sum.linear().is_some())
                .or_else(|| is_invariant(found, var).then(|| Affine::var(Unknown::Invariant(var))))
        }
    })
}

/// Whether a variable depends on no iteration, and can be computed anywhere without fear of an error.
fn is_invariant(found: &Collected<'_>, var: VarId) -> bool {
    match found.defs.get(&var) {
        None => true,
        Some(Def::Counter { .. } | Def::Row { .. } | Def::Carried { .. }) => false,
        Some(Def::Stm { exp, .. }) => {
            let is_safe = match exp {
                Exp::BinOp(op, ..) => {
                    matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Min | BinOp::Max)
                }
                Exp::Atom(_) | Exp::UnOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
                _ => false,
            };
            is_safe && free_vars(exp).into_iter().all(|v| is_invariant(found, v))
        }
    }
}

/// The iterations that an atom depends on.
pub(super) fn dependencies(found: &Collected<'_>, atom: Atom) -> BTreeSet<ScopeId> {
    let mut scopes = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work: Vec<VarId> = atom.as_var().into_iter().collect();
    while let Some(var) = work.pop() {
        if !seen.insert(var) {
            continue;
        }
        match found.defs.get(&var) {
            None => {}
            Some(Def::Counter { scope } | Def::Carried { scope }) => drop(scopes.insert(*scope)),
            Some(Def::Row { array, scope, .. }) => {
                scopes.insert(*scope);
                work.push(*array);
            }
            Some(Def::Stm { exp, .. }) => work.extend(free_vars(exp)),
        }
    }
    scopes
}
