//! Solves the indices of every `+=` for the iterations they come from.
//!
//! For the element `q` of the array and an update at index `i + c` in iteration `i`, that iteration is `q - c`. An
//! iteration that no index mentions is summed over. Conditions on the way are conditions of the contribution; an index
//! `min a b`, `max a b` or `if c then a else b` is two contributions under opposite conditions.

use std::collections::BTreeSet;

use dagaz_core::exp::{Exp, Loc};
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::Atom;

use super::affine::{Affine, Made, affine, iterations, without};
use super::collect::{Collected, Def, ScopeId, ScopeKind, Update};

/// A condition and the value it must have.
#[derive(Clone)]
pub(super) enum Guard {
    Is(Atom, bool),
    Less(Atom, Atom, bool),
}

impl Guard {
    pub fn atoms(&self) -> Vec<Atom> {
        match self {
            Guard::Is(a, _) => vec![*a],
            Guard::Less(a, b, _) => vec![*a, *b],
        }
    }
}

/// An index: a sum, or its remainder.
#[derive(Clone)]
struct IndexForm {
    sum: Affine,
    modulus: Option<Atom>,
}

/// An iteration that follows from an index: `sign * (q - rest)`; or from an equation, with zero for `q`.
#[derive(Clone)]
pub(super) struct Solved {
    pub scope: ScopeId,
    pub dim: Option<usize>,
    pub sign: i128,
    pub rest: Affine,
    /// Of this the iteration is the remainder: as many iterations as there are indices only change places.
    pub modulus: Option<Atom>,
}

/// What becomes of the value of an update.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    /// It is computed again where it is wanted.
    Again,
    /// It has something expensive in common with others, and is better read than computed again.
    Shared,
    /// It is a result of the maps already.
    Handed,
}

/// One summand of every element.
#[derive(Clone)]
pub(super) struct Contribution {
    pub value: Atom,
    /// Whether the value is to be read from a further result of the maps, and not computed again.
    pub is_handed: bool,
    pub loc: Loc,
    /// An iteration that is the number of the row, in the dimension that is built next.
    pub tile: Option<ScopeId>,
    /// Iterations that are known already.
    pub known: Vec<(ScopeId, Atom)>,
    pub solved: Vec<Solved>,
    /// Dimensions whose index is known from the iterations: the element must be there.
    pub checked: Vec<(usize, Affine)>,
    pub guards: Vec<Guard>,
    /// Iterations to sum over, from the outside in.
    pub summed: Vec<ScopeId>,
    /// The iterations that the update is inside of, from the outside in.
    pub around: Vec<ScopeId>,
}

impl Contribution {
    /// Whether the iterations cover the dimensions of the array, so that the nest costs no more than the updates did.
    pub fn covers(&self, found: &Collected<'_>, shape: &[Atom]) -> bool {
        self.checked.is_empty()
            && self.solved.iter().all(|s| s.dim.is_none_or(|dim| width(found, s.scope) == Some(shape[dim])))
            && self.solved.iter().filter(|s| s.dim.is_some()).count() == shape.len()
    }

    /// Whether each element is the sum of many values.
    pub fn is_sum(&self) -> bool {
        !self.summed.is_empty()
    }

    /// In a tile, the number of the row is that of an iteration.
    pub fn enter(&mut self, number: Atom) {
        if let Some(scope) = self.tile.take() {
            self.known.push((scope, number));
        }
    }
}

pub(super) fn width(found: &Collected<'_>, scope: ScopeId) -> Option<Atom> {
    match found.scopes[scope].kind {
        ScopeKind::Iteration { width, .. } => Some(width),
        ScopeKind::WithAcc | ScopeKind::Branch { .. } => None,
    }
}

/// The contributions of an update; none if an index depends on data.
pub(super) fn contributions<'a>(
    found: &mut Collected<'a>,
    made: &Made,
    (update, wanted): (&Update<'a>, Wanted),
    shape: &[Atom],
) -> Option<Vec<Contribution>> {
    let chain = found.chain(update.scope);
    let mut path = Vec::new();
    for scope in &chain {
        if let ScopeKind::Branch { cond, taken } = found.scopes[*scope].kind {
            path.push(Guard::Is(cond, taken));
        }
    }
    let mut all: Vec<(Vec<Guard>, Vec<IndexForm>)> = vec![(path, Vec::new())];
    for index in update.indices {
        let choices = alternatives(found, made, *index)?;
        let extend = |(guards, indices): &(Vec<Guard>, Vec<IndexForm>)| {
            let with = |(more, index): &(Vec<Guard>, IndexForm)| {
                ([&guards[..], more].concat(), [&indices[..], std::slice::from_ref(index)].concat())
            };
            choices.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
        if all.len() > machine::MOST_ALTERNATIVES {
            return None;
        }
    }
    all.into_iter()
        .map(|(guards, indices)| solve(found, made, &chain, guards, indices, (update, wanted, shape)))
        .collect()
}

fn alternatives<'a>(
    found: &mut Collected<'a>,
    made: &Made,
    index: Atom,
) -> Option<Vec<(Vec<Guard>, IndexForm)>> {
    if let Some(sum) = affine(found, made, index) {
        return Some(vec![(Vec::new(), IndexForm { sum, modulus: None })]);
    }
    let Def::Stm { exp, position, scope, .. } = found.defs.get(&index.as_var()?)? else { return None };
    let (exp, position, scope): (&'a Exp, usize, ScopeId) = (exp, *position, *scope);
    if let Exp::BinOp(BinOp::Mod, PrimType::I64, a, n) = exp {
        let sum = affine(found, made, *a)?;
        return Some(vec![(Vec::new(), IndexForm { sum, modulus: Some(*n) })]);
    }
    let (yes, no) = match exp {
        Exp::BinOp(op @ (BinOp::Min | BinOp::Max), PrimType::I64, a, b) => {
            let (less, more) = if *op == BinOp::Min { (*a, *b) } else { (*b, *a) };
            ((Guard::Less(*a, *b, true), less), (Guard::Less(*a, *b, false), more))
        }
        Exp::If { cond, then, otherwise } => {
            found.note_inner(then, scope);
            found.note_inner(otherwise, scope);
            let (then, otherwise) = (then.result[position], otherwise.result[position]);
            ((Guard::Is(*cond, true), then), (Guard::Is(*cond, false), otherwise))
        }
        _ => return None,
    };
    let mut all = Vec::new();
    for (guard, index) in [yes, no] {
        for (more, sum) in alternatives(found, made, index)? {
            all.push(([vec![guard.clone()], more].concat(), sum));
        }
    }
    Some(all)
}

/// The sum that is zero where the guard holds, if it says that.
fn equation(found: &Collected<'_>, made: &Made, guard: &Guard) -> Option<Affine> {
    let Guard::Is(Atom::Var(cond), true) = guard else { return None };
    let Def::Stm { exp: Exp::CmpOp(CmpOp::Eq, PrimType::I64, a, b), .. } = found.defs.get(cond)? else {
        return None;
    };
    affine(found, made, *a)?.minus(&affine(found, made, *b)?)
}

fn solve(
    found: &Collected<'_>,
    made: &Made,
    chain: &[ScopeId],
    guards: Vec<Guard>,
    indices: Vec<IndexForm>,
    (update, wanted, shape): (&Update<'_>, Wanted, &[Atom]),
) -> Option<Contribution> {
    let around: Vec<ScopeId> = chain.iter().copied().filter(|s| width(found, *s).is_some()).collect();
    let mut known: BTreeSet<ScopeId> = BTreeSet::new();
    let (mut solved, mut checked) = (Vec::new(), Vec::new());
    // Small constant widths may be summed over although an index mentions them, as the taps of a convolution.
    let is_small = |scope: &ScopeId| {
        let size = width(found, *scope).and_then(Atom::as_const).and_then(Prim::as_i64);
        size.is_some_and(|size| size <= 64)
    };
    let mut open: Vec<(usize, IndexForm)> = indices.into_iter().enumerate().collect();
    for allow_small in [false, true] {
        loop {
            let before = open.len();
            open.retain(|(dim, place)| {
                let index = &place.sum;
                let mut unknown = iterations(index);
                let is_many = unknown.len() > 1;
                unknown.retain(|(s, _)| !(known.contains(s) || allow_small && is_many && is_small(s)));
                let fits =
                    |scope| place.modulus.is_none_or(|n| width(found, scope) == Some(n) && shape[*dim] == n);
                match unknown[..] {
                    [] if place.modulus.is_none() => checked.push((*dim, index.clone())),
                    [(scope, sign @ (1 | -1))] if fits(scope) => {
                        let rest = without(index.clone(), scope);
                        let modulus = place.modulus;
                        solved.push(Solved { scope, dim: Some(*dim), sign, rest, modulus });
                        known.insert(scope);
                    }
                    _ => return true,
                }
                false
            });
            if open.len() == before {
                break;
            }
        }
    }
    if !open.is_empty() {
        return None;
    }
    // A condition `i = c` leaves one iteration to sum over. The condition itself stays, for it may be one of many.
    for equation in guards.iter().filter_map(|guard| equation(found, made, guard)) {
        let mut unknown = iterations(&equation);
        unknown.retain(|(s, _)| !known.contains(s));
        if let [(scope, sign @ (1 | -1))] = unknown[..] {
            let rest = without(equation, scope);
            solved.push(Solved { scope, dim: None, sign, rest, modulus: None });
            known.insert(scope);
        }
    }
    let summed: Vec<ScopeId> = around.iter().copied().filter(|s| !known.contains(s)).collect();
    // What is summed is more than the array itself.
    let is_handed = wanted == Wanted::Handed || (wanted == Wanted::Shared && summed.is_empty());
    let (value, loc) = (update.value, update.loc);
    Some(Contribution {
        value,
        is_handed,
        loc,
        tile: None,
        known: Vec::new(),
        solved,
        checked,
        guards,
        summed,
        around,
    })
}
