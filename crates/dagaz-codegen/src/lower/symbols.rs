//! What is known about sizes and indices: sums of variables with numbers as factors.
//!
//!     let a = n - k          a: n - k
//!     let b = a - 1          b: n - k - 1
//!     let c = k + 1          c: k + 1
//!     let d = n - c          d: n - k - 1, the same as b
//!
//! The arithmetic is that of `i64`, which wraps. Two indices into one array that differ by a number in it differ by that
//! number, for both are between zero and the size of the array.

use std::collections::{BTreeMap, HashMap, HashSet};

use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, LoopForm};
use dagaz_core::prim::{BinOp, CmpOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

/// Definitions are looked through so often.
const DEPTH: usize = 16;

/// A number, plus variables times numbers other than zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum {
    constant: i64,
    terms: BTreeMap<VarId, i64>,
}

impl Sum {
    fn plus(&self, other: &Sum, factor: i64) -> Sum {
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (var, times) in &other.terms {
            let entry = sum.terms.entry(*var).or_default();
            *entry = entry.wrapping_add(times.wrapping_mul(factor));
        }
        sum.terms.retain(|_, times| *times != 0);
        sum
    }

    fn number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The difference, if it is a number.
    fn minus(&self, other: &Sum) -> Option<i64> {
        self.plus(other, -1).number()
    }
}

/// The indices along one dimension that a view selects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Indices {
    One(Sum),
    /// From the start, one after the other.
    Range {
        start: Sum,
        len: Sum,
    },
    Unknown,
}

impl Indices {
    /// Whether they have nothing in common, for all that is known.
    fn is_apart(&self, other: &Indices) -> bool {
        match (self, other) {
            (Indices::One(a), Indices::One(b)) => a.minus(b).is_some_and(|d| d != 0),
            (Indices::One(one), Indices::Range { start, len })
            | (Indices::Range { start, len }, Indices::One(one)) => {
                one.minus(start).is_some_and(|d| d < 0)
                    || one.minus(&start.plus(len, 1)).is_some_and(|d| d >= 0)
            }
            (Indices::Range { start: a, len: a_len }, Indices::Range { start: b, len: b_len }) => {
                b.minus(&a.plus(a_len, 1)).is_some_and(|d| d >= 0)
                    || a.minus(&b.plus(b_len, 1)).is_some_and(|d| d >= 0)
            }
            (Indices::Unknown, _) | (_, Indices::Unknown) => false,
        }
    }
}

/// A part of an array, dimension by dimension.
pub(super) type Region = Vec<Indices>;

pub(super) fn are_apart(left: &Region, right: &Region) -> bool {
    left.iter().zip(right).any(|(a, b)| a.is_apart(b))
}

/// The scalars and the types of a function.
#[derive(Default)]
pub(super) struct Symbols {
    scalars: HashMap<VarId, Exp>,
    types: HashMap<VarId, Type>,
    /// Reshapes that give sizes other names, and change nothing else.
    pub(super) renames: HashSet<VarId>,
}

impl Symbols {
    pub(super) fn of(params: &[Param], body: &Body) -> Symbols {
        let mut symbols = Symbols::default();
        symbols.params(params);
        symbols.collect(body);
        let mut renames = HashSet::new();
        symbols.find_renames(body, &mut renames);
        symbols.renames = renames;
        symbols
    }

    fn params(&mut self, params: &[Param]) {
        self.types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
    }

    fn collect(&mut self, body: &Body) {
        for stm in &body.stms {
            self.params(&stm.pat);
            if let ([param], true) = (stm.pat.as_slice(), is_known(&stm.exp)) {
                self.scalars.insert(param.var, stm.exp.clone());
            }
            each_body(&stm.exp, &mut |params, body| {
                self.params(params);
                self.collect(body);
            });
        }
    }

    fn find_renames(&self, body: &Body, found: &mut HashSet<VarId>) {
        for stm in &body.stms {
            if let ([param], Exp::Reshape { array, dims }) = (stm.pat.as_slice(), &stm.exp)
                && let Some(Type::Array { dims: old, .. }) = self.types.get(array)
                && dims.len() == old.len()
                && (dims.len() == 1 || dims.iter().zip(old).all(|(a, b)| self.sum(*a) == self.sum(*b)))
            {
                found.insert(param.var);
            }
            each_body(&stm.exp, &mut |_, body| self.find_renames(body, found));
        }
    }

    pub(super) fn dims(&self, array: VarId) -> &[Atom] {
        self.types.get(&array).map_or(&[], |ty| ty.dims())
    }

    pub(super) fn sum(&self, atom: Atom) -> Sum {
        self.sum_of(atom, DEPTH)
    }

    /// The difference, if it is a number.
    pub(super) fn difference(&self, left: Atom, right: Atom) -> Option<i64> {
        self.sum(left).minus(&self.sum(right))
    }

    fn sum_of(&self, atom: Atom, depth: usize) -> Sum {
        let var = match atom {
            Atom::Const(prim) => {
                return Sum { constant: prim.as_i64().unwrap_or(0), terms: BTreeMap::new() };
            }
            Atom::Var(var) => var,
        };
        let itself = || Sum { constant: 0, terms: BTreeMap::from([(var, 1)]) };
        if depth == 0 {
            return itself();
        }
        match self.scalars.get(&var) {
            Some(Exp::Atom(atom)) => self.sum_of(*atom, depth - 1),
            Some(Exp::BinOp(op, PrimType::I64, x, y)) => {
                let (x, y) = (self.sum_of(*x, depth - 1), self.sum_of(*y, depth - 1));
                match (op, x.number(), y.number()) {
                    (BinOp::Add, ..) => x.plus(&y, 1),
                    (BinOp::Sub, ..) => x.plus(&y, -1),
                    (BinOp::Mul, Some(factor), _) => Sum::default().plus(&y, factor),
                    (BinOp::Mul, _, Some(factor)) => Sum::default().plus(&x, factor),
                    _ => itself(),
                }
            }
            _ => itself(),
        }
    }

    /// The start of a range of some length: `if len == 0 then 0 else start` is `start`, for where there are no
    /// elements, it does not matter.
    fn start(&self, start: Atom, len: &Sum) -> Sum {
        if let Some(Exp::If { cond: Atom::Var(cond), then, otherwise }) =
            start.as_var().and_then(|v| self.scalars.get(&v))
            && let Some(Exp::CmpOp(CmpOp::Eq, PrimType::I64, x, y)) = self.scalars.get(cond)
            && then.stms.is_empty()
            && otherwise.stms.is_empty()
            && self.sum(*y).number() == Some(0)
            && self.sum(*x) == *len
            && let [other] = otherwise.result.as_slice()
        {
            return self.sum(*other);
        }
        self.sum(start)
    }

    /// All of an array.
    pub(super) fn whole(&self, array: VarId) -> Region {
        let all = |dim: &Atom| Indices::Range { start: Sum::default(), len: self.sum(*dim) };
        self.dims(array).iter().map(all).collect()
    }

    /// What a slice selects of an array, of which a view has selected a region before.
    pub(super) fn select(&self, region: &Region, slice: &[DimSlice]) -> Region {
        if region.contains(&Indices::Unknown) {
            return vec![Indices::Unknown; region.len()];
        }
        let mut parts = slice.iter();
        let mut selected = Vec::new();
        for indices in region {
            // One index was selected before; the view does not have that dimension.
            let Indices::Range { start: base, .. } = indices else {
                selected.push(indices.clone());
                continue;
            };
            selected.push(match parts.next() {
                Some(DimSlice::Fix(i)) => Indices::One(base.plus(&self.sum(*i), 1)),
                Some(DimSlice::Range { start, len, stride }) if *stride == Atom::i64(1) => {
                    let len = self.sum(*len);
                    Indices::Range { start: base.plus(&self.start(*start, &len), 1), len }
                }
                Some(DimSlice::Range { .. }) => Indices::Unknown,
                None => indices.clone(),
            });
        }
        selected
    }
}

/// Calls a function for every body right inside of an expression, with its parameters.
fn each_body(exp: &Exp, each: &mut impl FnMut(&[Param], &Body)) {
    if let Exp::Loop { params, form, body, .. } = exp {
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        each(&own, body);
        if let LoopForm::While { cond } = form {
            each(&[], cond);
        }
        return;
    }
    if let Exp::If { then, otherwise, .. } = exp {
        each(&[], then);
        each(&[], otherwise);
    }
    visit::lambdas(exp).into_iter().for_each(|lambda: &Lambda| each(&lambda.params, &lambda.body));
}

/// Whether something can be learnt from a definition.
fn is_known(exp: &Exp) -> bool {
    matches!(
        exp,
        Exp::Atom(_) | Exp::BinOp(_, PrimType::I64, ..) | Exp::CmpOp(_, PrimType::I64, ..) | Exp::If { .. }
    )
}
