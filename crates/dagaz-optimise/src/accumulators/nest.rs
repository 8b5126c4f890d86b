//! Solves the indices of every `+=` for the iterations they come from, and builds the nest that computes each element
//! from the iterations that would have added to it.
//!
//! For the element `q` of the array and an update at index `i + c` in iteration `i`, that iteration is `q - c`. An
//! iteration that no index mentions is summed over. Conditions on the way are conditions of the contribution; an index
//! `min a b`, `max a b` or `if c then a else b` is two contributions under opposite conditions.

use std::collections::BTreeSet;

use dagaz_core::exp::{Check, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use super::affine::{Affine, Made, affine, dependencies};
use super::collect::{Collected, Def, ScopeId, ScopeKind, Update};
use super::emit::Emitter;
use super::tiles::tiles;

/// A condition and the value it must have.
#[derive(Clone)]
enum Guard {
    Is(Atom, bool),
    Less(Atom, Atom, bool),
}

impl Guard {
    fn atoms(&self) -> Vec<Atom> {
        match self {
            Guard::Is(a, _) => vec![*a],
            Guard::Less(a, b, _) => vec![*a, *b],
        }
    }
}

/// An index: a sum, or its remainder.
#[derive(Clone)]
struct Place {
    sum: Affine,
    modulus: Option<Atom>,
}

/// An iteration that follows from an index: `sign * (q - rest)`; or from an equation, with zero for `q`.
#[derive(Clone)]
pub(super) struct Solved {
    pub scope: ScopeId,
    pub dim: Option<usize>,
    pub sign: i64,
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
    value: Atom,
    /// Whether the value is to be read from a further result of the maps, and not computed again.
    is_handed: bool,
    loc: Loc,
    /// An iteration that is the number of the row, in the dimension that is built next.
    pub tile: Option<ScopeId>,
    /// Iterations that are known already.
    pub known: Vec<(ScopeId, Atom)>,
    pub solved: Vec<Solved>,
    /// Dimensions whose index is known from the iterations: the element must be there.
    checked: Vec<(usize, Affine)>,
    guards: Vec<Guard>,
    /// Iterations to sum over, from the outside in.
    summed: Vec<ScopeId>,
    /// How many iterations the update is inside of.
    depth: usize,
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
    fn enter(&mut self, number: Atom) {
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

/// More alternatives than this are not worth their code.
const MOST_ALTERNATIVES: usize = 8;

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
    let mut all: Vec<(Vec<Guard>, Vec<Place>)> = vec![(path, Vec::new())];
    for index in update.indices {
        let choices = alternatives(found, made, *index)?;
        let extend = |(guards, indices): &(Vec<Guard>, Vec<Place>)| {
            let with = |(more, index): &(Vec<Guard>, Place)| {
                ([&guards[..], more].concat(), [&indices[..], std::slice::from_ref(index)].concat())
            };
            choices.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
        if all.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    all.into_iter()
        .map(|(guards, indices)| solve(found, made, &chain, guards, indices, (update, wanted, shape)))
        .collect()
}

fn alternatives<'a>(found: &mut Collected<'a>, made: &Made, index: Atom) -> Option<Vec<(Vec<Guard>, Place)>> {
    if let Some(sum) = affine(found, made, index) {
        return Some(vec![(Vec::new(), Place { sum, modulus: None })]);
    }
    let Def::Stm { exp, position, scope, .. } = found.defs.get(&index.as_var()?)? else { return None };
    let (exp, position, scope): (&'a Exp, usize, ScopeId) = (exp, *position, *scope);
    if let Exp::BinOp(BinOp::Mod, PrimType::I64, a, n) = exp {
        let sum = affine(found, made, *a)?;
        return Some(vec![(Vec::new(), Place { sum, modulus: Some(*n) })]);
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
    affine(found, made, *a)?.minus(affine(found, made, *b)?)
}

fn solve(
    found: &Collected<'_>,
    made: &Made,
    chain: &[ScopeId],
    guards: Vec<Guard>,
    indices: Vec<Place>,
    (update, wanted, shape): (&Update<'_>, Wanted, &[Atom]),
) -> Option<Contribution> {
    let iterations: Vec<ScopeId> = chain.iter().copied().filter(|s| width(found, *s).is_some()).collect();
    let mut known: BTreeSet<ScopeId> = BTreeSet::new();
    let (mut solved, mut checked) = (Vec::new(), Vec::new());
    // Small constant widths may be summed over although an index mentions them, as the taps of a convolution.
    let is_small = |scope: &ScopeId| {
        let size = width(found, *scope).and_then(Atom::as_const).and_then(Prim::as_i64);
        size.is_some_and(|size| size <= 64)
    };
    let mut open: Vec<(usize, Place)> = indices.into_iter().enumerate().collect();
    for allow_small in [false, true] {
        loop {
            let before = open.len();
            open.retain(|(dim, place)| {
                let index = &place.sum;
                let unknown: Vec<(ScopeId, i64)> = (index.iterations.iter())
                    .filter(|(s, _)| !known.contains(s))
                    .filter(|(s, _)| !(allow_small && index.iterations.len() > 1 && is_small(s)))
                    .map(|(s, times)| (*s, *times))
                    .collect();
                let fits =
                    |scope| place.modulus.is_none_or(|n| width(found, scope) == Some(n) && shape[*dim] == n);
                match unknown[..] {
                    [] if place.modulus.is_none() => checked.push((*dim, index.clone())),
                    [(scope, sign @ (1 | -1))] if fits(scope) => {
                        let mut rest = index.clone();
                        rest.iterations.remove(&scope);
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
        let unknown: Vec<(ScopeId, i64)> = (equation.iterations.iter())
            .filter(|(s, _)| !known.contains(s))
            .map(|(s, times)| (*s, *times))
            .collect();
        if let [(scope, sign @ (1 | -1))] = unknown[..] {
            let mut rest = equation;
            rest.iterations.remove(&scope);
            solved.push(Solved { scope, dim: None, sign, rest, modulus: None });
            known.insert(scope);
        }
    }
    let depth = iterations.len();
    let summed: Vec<ScopeId> = iterations.into_iter().filter(|s| !known.contains(s)).collect();
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
        depth,
    })
}

/// The nest over the dimensions of the array, as statements in the open scope of the builder; the last one binds `name`.
pub(super) struct Nest<'n> {
    pub shape: &'n [Atom],
    pub elem: PrimType,
    /// The array that is added to; none if it is all zeros.
    pub base: Option<VarId>,
    pub loc: Loc,
    pub made: &'n Made,
}

impl Nest<'_> {
    /// The expression that computes the array.
    pub fn build(&self, e: &mut Emitter<'_, '_>, all: &[Contribution]) -> Option<Exp> {
        match self.base {
            Some(base) if self.is_tiled(e.found, all) => {
                let tiled = Nest { base: None, ..*self };
                let exp = tiled.dimension(e, all, &mut Vec::new())?;
                let sums = e.b.let_var("sums", self.row(0), exp, self.loc);
                let lambda = e.b.binop_lambda(BinOp::Add, self.elem, self.loc);
                Some(Exp::Map { width: self.shape[0], arrays: vec![base, sums], lambda })
            }
            _ => self.dimension(e, all, &mut Vec::new()),
        }
    }

    /// Whether the contributions are tiles that cover the only dimension.
    pub fn is_tiled(&self, found: &Collected<'_>, all: &[Contribution]) -> bool {
        self.shape.len() == 1 && tiles(found, all, self, 0).is_some()
    }

    fn dimension(&self, e: &mut Emitter<'_, '_>, all: &[Contribution], place: &mut Vec<Atom>) -> Option<Exp> {
        let depth = place.len();
        let size = *self.shape.get(depth)?;
        let tiles = if self.base.is_none() { tiles(e.found, all, self, depth) } else { None };
        let Some(tiles) = tiles else { return self.rows(e, all, place, size) };
        let mut arrays = Vec::with_capacity(tiles.len());
        for tile in &tiles {
            let exp = self.rows(e, &tile.contributions, place, tile.width)?;
            let ty = self.row(depth + 1).with_outer(&[tile.width]);
            arrays.push(e.b.let_var("part", ty, exp, self.loc));
        }
        Some(Exp::Concat { arrays })
    }

    fn row(&self, depth: usize) -> Type {
        Type::array(self.elem, self.shape[depth..].to_vec())
    }

    /// A map over so many rows of a dimension.
    fn rows(
        &self,
        e: &mut Emitter<'_, '_>,
        all: &[Contribution],
        place: &mut Vec<Atom>,
        width: Atom,
    ) -> Option<Exp> {
        let numbers = iota(e, width);
        let param = e.b.fresh_param("q", Type::I64);
        let row = self.row(place.len() + 1);
        place.push(param.var.into());
        let mut all = all.to_vec();
        for contribution in &mut all {
            contribution.enter(param.var.into());
        }
        let body = e.body(|e| {
            let result = if place.len() == self.shape.len() {
                self.element(e, &all, place)?
            } else {
                let exp = self.dimension(e, &all, place)?;
                e.push("row", row.clone(), exp)
            };
            Some(vec![result])
        })?;
        place.pop();
        let lambda = Lambda { params: vec![param], body, ret: vec![row] };
        Some(Exp::Map { width, arrays: vec![numbers], lambda })
    }

    fn element(&self, e: &mut Emitter<'_, '_>, all: &[Contribution], place: &[Atom]) -> Option<Atom> {
        let mut sum = self.base.map(|array| {
            let exp = Exp::Index { array, indices: place.to_vec(), check: Check::Certified };
            e.push("elem", Type::Prim(self.elem), exp)
        });
        for contribution in all {
            e.start_again(contribution.depth, &contribution.known);
            e.loc = contribution.loc;
            let value = self.level(e, place, contribution.clone())?;
            sum = Some(match sum {
                None => value,
                Some(sum) => e.push("sum", self.elem.into(), Exp::BinOp(BinOp::Add, self.elem, sum, value)),
            });
        }
        e.loc = self.loc;
        Some(sum.unwrap_or(Prim::zero(self.elem).into()))
    }

    /// What is left of a contribution, once some of its iterations are known.
    fn level(&self, e: &mut Emitter<'_, '_>, place: &[Atom], mut rest: Contribution) -> Option<Atom> {
        let is_known =
            |e: &Emitter<'_, '_>, sum: &Affine| sum.iterations.keys().all(|s| e.at.contains_key(s));
        if let Some(i) = rest.solved.iter().position(|s| is_known(e, &s.rest)) {
            let solved = rest.solved.remove(i);
            let cond = self.bind(e, place, &solved)?;
            return self.guarded(e, place, cond, rest);
        }
        if let Some(i) = rest.checked.iter().position(|(_, sum)| is_known(e, sum)) {
            let (dim, sum) = rest.checked.remove(i);
            let index = value_of(e, &sum)?;
            let cond = e.b.eq(PrimType::I64, place[dim], index, self.loc);
            return self.guarded(e, place, cond, rest);
        }
        let is_ready = |e: &Emitter<'_, '_>, atom: Atom| {
            dependencies(e.found, atom).iter().all(|s| e.at.contains_key(s))
        };
        if let Some(guard) = rest.guards.first()
            && guard.atoms().iter().all(|a| is_ready(e, *a))
        {
            let guard = rest.guards.remove(0);
            let cond = condition(e, &guard)?;
            return self.guarded(e, place, cond, rest);
        }
        if rest.summed.is_empty() {
            let is_done = rest.solved.is_empty() && rest.checked.is_empty() && rest.guards.is_empty();
            let handed = match rest.value {
                Atom::Var(value) if is_done && rest.is_handed => e.hand_out(value, Vec::new()),
                Atom::Var(_) | Atom::Const(_) => None,
            };
            return if is_done { handed.or_else(|| e.atom(rest.value)) } else { None };
        }
        let scope = rest.summed.remove(0);
        let size = width(e.found, scope).filter(|w| is_ready(e, *w))?;
        let mut size = e.atom(size)?;
        if let ScopeKind::Iteration { is_loop: true, .. } = e.found.scopes[scope].kind {
            // A loop to a negative bound is one without iterations.
            size = e.b.binop(BinOp::Max, PrimType::I64, size, Atom::i64(0), self.loc);
        }
        let numbers = iota(e, size);
        let param = e.b.fresh_param("p", Type::I64);
        let ty = Type::Prim(self.elem);
        let body = e.body(|e| {
            e.at.insert(scope, param.var.into());
            Some(vec![self.level(e, place, rest)?])
        })?;
        let pre = Lambda { params: vec![param], body, ret: vec![ty.clone()] };
        let op = e.b.binop_lambda(BinOp::Add, self.elem, self.loc);
        let exp = Exp::Reduce {
            width: size,
            arrays: vec![numbers],
            pre: Some(pre),
            op,
            neutral: vec![Prim::zero(self.elem).into()],
            commutative: true,
        };
        Some(e.push("sum", ty, exp))
    }

    fn guarded(
        &self,
        e: &mut Emitter<'_, '_>,
        place: &[Atom],
        cond: Atom,
        rest: Contribution,
    ) -> Option<Atom> {
        let zero = Atom::from(Prim::zero(self.elem));
        if cond == Atom::bool(true) {
            return self.level(e, place, rest);
        }
        if cond == Atom::bool(false) {
            return Some(zero);
        }
        let then = e.body(|e| Some(vec![self.level(e, place, rest)?]))?;
        let otherwise = e.body(|_| Some(vec![zero]))?;
        Some(e.push("part", self.elem.into(), Exp::If { cond, then, otherwise }))
    }

    /// Computes the iteration, and says whether there is one.
    fn bind(&self, e: &mut Emitter<'_, '_>, place: &[Atom], solved: &Solved) -> Option<Atom> {
        let q = solved.dim.map_or(Atom::i64(0), |dim| place[dim]);
        let size = width(e.found, solved.scope)?;
        let is_whole = solved.dim.is_some_and(|dim| size == self.shape[dim]);
        let offset = value_of(e, &solved.rest)?;
        let loc = self.loc;
        let i = match solved.sign {
            1 => e.b.sub(PrimType::I64, q, offset, loc),
            _ => e.b.sub(PrimType::I64, offset, q, loc),
        };
        if let Some(n) = solved.modulus {
            // There is an element, so that its number is not zero.
            let i = e.b.binop(BinOp::Mod, PrimType::I64, i, n, loc);
            e.at.insert(solved.scope, i);
            return Some(Atom::bool(true));
        }
        e.at.insert(solved.scope, i);
        // The width may itself be known only now.
        let size = e.atom(size)?;
        let constant = offset.as_const().and_then(Prim::as_i64).filter(|_| is_whole && solved.sign == 1);
        let is_low_enough = match constant {
            Some(c) if c >= 0 => Atom::bool(true),
            _ => e.b.lt(PrimType::I64, i, size, loc),
        };
        let is_high_enough = match constant {
            Some(c) if c <= 0 => Atom::bool(true),
            _ => e.b.le(PrimType::I64, Atom::i64(0), i, loc),
        };
        Some(e.b.and(is_high_enough, is_low_enough, loc))
    }
}

fn iota(e: &mut Emitter<'_, '_>, n: Atom) -> VarId {
    let ty = Type::array(PrimType::I64, vec![n]);
    let exp = Exp::Iota { ty: PrimType::I64, n, start: Atom::i64(0), step: Atom::i64(1) };
    e.b.let_var("iota", ty, exp, e.loc)
}

fn value_of(e: &mut Emitter<'_, '_>, sum: &Affine) -> Option<Atom> {
    let loc = e.loc;
    let mut total = Atom::i64(0);
    for (scope, times) in &sum.iterations {
        let i = *e.at.get(scope)?;
        total = plus_times(e, total, i, *times);
    }
    for (var, times) in &sum.invariants {
        let value = e.atom((*var).into())?;
        total = plus_times(e, total, value, *times);
    }
    Some(e.b.add(PrimType::I64, total, Atom::i64(sum.constant), loc))
}

fn plus_times(e: &mut Emitter<'_, '_>, total: Atom, value: Atom, times: i64) -> Atom {
    let scaled = e.b.mul(PrimType::I64, value, Atom::i64(times), e.loc);
    e.b.add(PrimType::I64, total, scaled, e.loc)
}

fn condition(e: &mut Emitter<'_, '_>, guard: &Guard) -> Option<Atom> {
    let loc = e.loc;
    let (cond, wanted) = match guard {
        Guard::Is(cond, wanted) => (e.atom(*cond)?, *wanted),
        Guard::Less(a, b, wanted) => {
            let (a, b) = (e.atom(*a)?, e.atom(*b)?);
            (e.b.lt(PrimType::I64, a, b, loc), *wanted)
        }
    };
    Some(if wanted { cond } else { e.b.not(cond, loc) })
}
