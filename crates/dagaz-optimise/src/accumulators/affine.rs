//! Indices as sums: of the numbers of enclosing iterations, of values from outside, and a constant.
//!
//!     i - 1  is  1 * iteration + (-1)

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dagaz_core::exp::Exp;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::free_vars;

use super::collect::{Collected, Def, ScopeId};

#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Affine {
    /// How often each iteration number is counted; never zero times.
    pub iterations: BTreeMap<ScopeId, i64>,
    /// How often each variable that depends on no iteration is counted.
    pub invariants: Vec<(VarId, i64)>,
    pub constant: i64,
}

impl Affine {
    pub fn constant(constant: i64) -> Affine {
        Affine { constant, ..Affine::default() }
    }

    fn iteration(scope: ScopeId) -> Affine {
        Affine { iterations: BTreeMap::from([(scope, 1)]), ..Affine::default() }
    }

    fn invariant(var: VarId) -> Affine {
        Affine { invariants: vec![(var, 1)], ..Affine::default() }
    }

    fn scaled(mut self, factor: i64) -> Option<Affine> {
        for times in self.iterations.values_mut() {
            *times = times.checked_mul(factor)?;
        }
        for (_, times) in &mut self.invariants {
            *times = times.checked_mul(factor)?;
        }
        self.iterations.retain(|_, times| *times != 0);
        self.invariants.retain(|(_, times)| *times != 0);
        self.constant = self.constant.checked_mul(factor)?;
        Some(self)
    }

    pub fn minus(self, other: Affine) -> Option<Affine> {
        self.plus(other.scaled(-1)?)
    }

    pub fn plus(mut self, other: Affine) -> Option<Affine> {
        for (scope, times) in other.iterations {
            let own = self.iterations.entry(scope).or_default();
            *own = own.checked_add(times)?;
        }
        self.iterations.retain(|_, times| *times != 0);
        for (var, times) in other.invariants {
            match self.invariants.iter_mut().find(|(v, _)| *v == var) {
                Some((_, own)) => *own = own.checked_add(times)?,
                None => self.invariants.push((var, times)),
            }
        }
        self.invariants.retain(|(_, times)| *times != 0);
        self.constant = self.constant.checked_add(other.constant)?;
        Some(self)
    }
}

/// What is known of arrays and sizes that are bound outside.
pub(super) type Made = HashMap<VarId, Exp>;

impl Affine {
    /// The sum in terms of what its invariants are sums of, in an order of their own: equal sums are then equal.
    pub fn expanded(&self, made: &Made) -> Option<Affine> {
        let mut fuel = MOST_SUMMANDS;
        let mut total = Affine { invariants: Vec::new(), ..self.clone() };
        for (var, times) in &self.invariants {
            total = total.plus(size(made, (*var).into(), &mut fuel)?.scaled(*times)?)?;
        }
        total.invariants.sort();
        Some(total)
    }

    /// A size that is known outside.
    pub fn of_size(made: &Made, atom: Atom) -> Option<Affine> {
        let mut total = size(made, atom, &mut { MOST_SUMMANDS })?;
        total.invariants.sort();
        Some(total)
    }
}

fn size(made: &Made, atom: Atom, fuel: &mut usize) -> Option<Affine> {
    *fuel = fuel.checked_sub(1)?;
    let var = match atom {
        Atom::Const(prim) => return prim.as_i64().map(Affine::constant),
        Atom::Var(var) => var,
    };
    let sum = match made.get(&var) {
        Some(Exp::BinOp(BinOp::Add, _, a, b)) => size(made, *a, fuel)?.plus(size(made, *b, fuel)?),
        Some(Exp::BinOp(BinOp::Sub, _, a, b)) => size(made, *a, fuel)?.minus(size(made, *b, fuel)?),
        Some(Exp::BinOp(BinOp::Mul, _, a, Atom::Const(Prim::I64(c)))) => size(made, *a, fuel)?.scaled(*c),
        Some(Exp::BinOp(BinOp::Mul, _, Atom::Const(Prim::I64(c)), a)) => size(made, *a, fuel)?.scaled(*c),
        _ => None,
    };
    sum.or_else(|| Some(Affine::invariant(var)))
}

/// An index as a sum; none if it is something else, such as an element of an array.
pub(super) fn affine(found: &Collected<'_>, made: &Made, atom: Atom) -> Option<Affine> {
    sum_of(found, made, atom, &mut { MOST_SUMMANDS })
}

/// Sums of sums may share their parts many times over.
const MOST_SUMMANDS: usize = 200;

fn sum_of(found: &Collected<'_>, made: &Made, atom: Atom, fuel: &mut usize) -> Option<Affine> {
    *fuel = fuel.checked_sub(1)?;
    let var = match atom {
        Atom::Const(Prim::I64(c)) => return Some(Affine::constant(c)),
        Atom::Const(_) => return None,
        Atom::Var(var) => var,
    };
    match found.defs.get(&var) {
        None => Some(Affine::invariant(var)),
        Some(Def::Counter { scope }) => Some(Affine::iteration(*scope)),
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
            sum_of(found, made, *start, fuel)?.plus(Affine::iteration(*scope).scaled(*step)?)
        }
        Some(Def::Stm { exp, .. }) => {
            let sum = match exp {
                Exp::Atom(a) => sum_of(found, made, *a, fuel),
                Exp::BinOp(BinOp::Add, PrimType::I64, a, b) => {
                    sum_of(found, made, *a, fuel).and_then(|a| a.plus(sum_of(found, made, *b, fuel)?))
                }
                Exp::BinOp(BinOp::Sub, PrimType::I64, a, b) => {
                    sum_of(found, made, *a, fuel).and_then(|a| a.minus(sum_of(found, made, *b, fuel)?))
                }
                Exp::BinOp(BinOp::Mul, PrimType::I64, a, Atom::Const(Prim::I64(c))) => {
                    sum_of(found, made, *a, fuel).and_then(|a| a.scaled(*c))
                }
                _ => None,
            };
            sum.or_else(|| is_invariant(found, var).then(|| Affine::invariant(var)))
        }
    }
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
