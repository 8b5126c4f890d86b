//! Builds the nest that computes each element of an array from the iterations that would have added to it, as
//! [`super::solve`] found them.

use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use super::affine::{Affine, Made, Unknown, dependencies, iterations};
use super::collect::{Collected, ScopeKind};
use super::emit::{Emitter, is_few};
use super::solve::{Contribution, Guard, Solved, width};
use super::tiles::tiles;

/// Which elements are computed: one, or all of the last dimension.
struct Target<'p> {
    place: &'p [Atom],
    elements: Option<i64>,
}

impl Target<'_> {
    fn places(&self) -> Vec<Vec<Atom>> {
        match self.elements {
            None => vec![self.place.to_vec()],
            Some(count) => (0..count).map(|i| [self.place, &[Atom::i64(i)]].concat()).collect(),
        }
    }
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

    /// The rows of a dimension; the elements of a short one together, where that saves an array.
    fn rows(
        &self,
        e: &mut Emitter<'_, '_>,
        all: &[Contribution],
        place: &mut Vec<Atom>,
        width: Atom,
    ) -> Option<Exp> {
        let is_row = place.len() + 1 == self.shape.len() && all.iter().all(|c| c.tile.is_none());
        if !is_row || !is_few(width) {
            return self.each_row(e, all, place, width);
        }
        let (handed, outside, wanted) = (e.handed.len(), e.outside.clone(), e.wants_together);
        e.b.push_scope();
        e.wants_together = false;
        let each = self.each_row(e, all, place, width);
        let stms = e.b.pop_scope();
        if std::mem::replace(&mut e.wants_together, wanted) {
            let handed_by_each = e.handed.split_off(handed);
            let outside_by_each = std::mem::replace(&mut e.outside, outside);
            e.is_together = true;
            let together = self.elements(e, all, place, width);
            e.is_together = false;
            if let Some(elems) = together {
                return Some(Exp::ArrayLit { row: self.elem.into(), elems });
            }
            e.handed.truncate(handed);
            e.handed.extend(handed_by_each);
            e.outside = outside_by_each;
        }
        stms.into_iter().for_each(|stm| e.b.push(stm));
        each
    }

    /// A map over so many rows of a dimension.
    fn each_row(
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
        self.sums(e, all, &Target { place, elements: None })?.pop()
    }

    /// All elements of the last dimension, which has so few.
    fn elements(
        &self,
        e: &mut Emitter<'_, '_>,
        all: &[Contribution],
        place: &[Atom],
        width: Atom,
    ) -> Option<Vec<Atom>> {
        let elements = width.as_const().and_then(Prim::as_i64);
        self.sums(e, all, &Target { place, elements })
    }

    fn sums(&self, e: &mut Emitter<'_, '_>, all: &[Contribution], target: &Target<'_>) -> Option<Vec<Atom>> {
        let mut sums: Option<Vec<Atom>> = self.base.map(|array| {
            let read = |e: &mut Emitter<'_, '_>, indices: Vec<Atom>| {
                e.push("elem", Type::Prim(self.elem), Exp::Index { array, indices, check: Check::Certified })
            };
            target.places().into_iter().map(|place| read(e, place)).collect()
        });
        for contribution in all {
            e.start_again(&contribution.around, &contribution.summed, &contribution.known);
            e.loc = contribution.loc;
            let values = self.level(e, target, contribution.clone())?;
            let mut add = |(sum, value): (Atom, Atom)| {
                e.push("sum", self.elem.into(), Exp::BinOp(BinOp::Add, self.elem, sum, value))
            };
            sums = Some(match sums {
                None => values,
                Some(sums) => sums.into_iter().zip(values).map(&mut add).collect(),
            });
        }
        e.loc = self.loc;
        Some(sums.unwrap_or_else(|| vec![Prim::zero(self.elem).into(); target.places().len()]))
    }

    /// What is left of a contribution, once some of its iterations are known.
    fn level(
        &self,
        e: &mut Emitter<'_, '_>,
        target: &Target<'_>,
        mut rest: Contribution,
    ) -> Option<Vec<Atom>> {
        let place = target.place;
        let is_known =
            |e: &Emitter<'_, '_>, sum: &Affine| iterations(sum).iter().all(|(s, _)| e.at.contains_key(s));
        let has_index = |dim: usize| dim < place.len();
        let is_next = |s: &Solved| s.dim.is_none_or(has_index) && is_known(e, &s.rest);
        if let Some(i) = rest.solved.iter().position(is_next) {
            let solved = rest.solved.remove(i);
            let cond = self.bind(e, place, &solved)?;
            return self.guarded(e, target, cond, rest);
        }
        let is_next = |(dim, sum): &(usize, Affine)| has_index(*dim) && is_known(e, sum);
        if let Some(i) = rest.checked.iter().position(is_next) {
            let (dim, sum) = rest.checked.remove(i);
            let index = value_of(e, &sum)?;
            let cond = e.b.eq(PrimType::I64, place[dim], index, self.loc);
            return self.guarded(e, target, cond, rest);
        }
        let is_ready = |e: &Emitter<'_, '_>, atom: Atom| {
            dependencies(e.found, atom).iter().all(|s| e.at.contains_key(s))
        };
        if let Some(guard) = rest.guards.first()
            && guard.atoms().iter().all(|a| is_ready(e, *a))
        {
            let guard = rest.guards.remove(0);
            let cond = condition(e, &guard)?;
            return self.guarded(e, target, cond, rest);
        }
        if rest.summed.is_empty() && target.elements.is_some() {
            let element = |place: Vec<Atom>| {
                let target = Target { place: &place, elements: None };
                e.apart(|e| self.level(e, &target, rest.clone()))?.pop()
            };
            return target.places().into_iter().map(element).collect();
        }
        if rest.summed.is_empty() {
            let is_done = rest.solved.is_empty() && rest.checked.is_empty() && rest.guards.is_empty();
            let handed = match rest.value {
                Atom::Var(value) if is_done && rest.is_handed => e.hand_out(value, Vec::new()),
                Atom::Var(_) | Atom::Const(_) => None,
            };
            let value = if is_done { handed.or_else(|| e.atom(rest.value)) } else { None };
            return value.map(|value| vec![value]);
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
        let body = e.body(|e| {
            e.at.insert(scope, param.var.into());
            self.level(e, target, rest)
        })?;
        let count = body.result.len();
        let types = vec![Type::Prim(self.elem); count];
        let pre = Lambda { params: vec![param], body, ret: types.clone() };
        let exp = Exp::Reduce {
            width: size,
            arrays: vec![numbers],
            pre: Some(pre),
            op: self.sums_lambda(e, count),
            neutral: vec![Prim::zero(self.elem).into(); count],
            commutative: true,
        };
        Some(e.b.let_exps("sum", &types, exp, e.loc).into_iter().map(Atom::from).collect())
    }

    /// `\xs ys -> xs + ys`, one by one.
    fn sums_lambda(&self, e: &mut Emitter<'_, '_>, count: usize) -> Lambda {
        let mut both = Lambda { params: Vec::new(), body: Body::default(), ret: Vec::new() };
        let mut right = Vec::with_capacity(count);
        for _ in 0..count {
            let Lambda { params, body, ret } = e.b.binop_lambda(BinOp::Add, self.elem, self.loc);
            let mut params = params.into_iter();
            both.params.extend(params.next());
            right.extend(params);
            both.body.stms.extend(body.stms);
            both.body.result.extend(body.result);
            both.ret.extend(ret);
        }
        both.params.extend(right);
        both
    }

    fn guarded(
        &self,
        e: &mut Emitter<'_, '_>,
        target: &Target<'_>,
        cond: Atom,
        rest: Contribution,
    ) -> Option<Vec<Atom>> {
        let zeros = vec![Atom::from(Prim::zero(self.elem)); target.places().len()];
        if cond == Atom::bool(true) {
            return self.level(e, target, rest);
        }
        if cond == Atom::bool(false) {
            return Some(zeros);
        }
        let types = vec![Type::Prim(self.elem); zeros.len()];
        let then = e.body(|e| self.level(e, target, rest))?;
        let otherwise = e.body(|_| Some(zeros))?;
        let exp = Exp::If { cond, then, otherwise };
        Some(e.b.let_exps("part", &types, exp, e.loc).into_iter().map(Atom::from).collect())
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
    for (unknown, times) in sum.linear()? {
        let value = match unknown {
            Unknown::Iteration(scope) => *e.at.get(scope)?,
            Unknown::Invariant(var) => e.atom((*var).into())?,
        };
        let scaled = e.b.mul(PrimType::I64, value, Atom::i64(i64::try_from(times).ok()?), loc);
        total = e.b.add(PrimType::I64, total, scaled, loc);
    }
    Some(e.b.add(PrimType::I64, total, Atom::i64(i64::try_from(sum.constant).ok()?), loc))
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
