//! What is known about sizes and indices.
//!
//! The arithmetic of Core wraps. Two indices into one array that differ by a number in it differ by that
//! number, for both are between zero and the size of the array.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, DimSlice, Exp, Stm};
use dagaz_core::index::Polynomial;
use dagaz_core::prim::{CmpOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{each_bound, each_stm};

/// Definitions are looked through so often.
const DEPTH: usize = 16;

pub(super) type Sum = Polynomial<VarId>;

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
            (Indices::One(a), Indices::One(b)) => a.difference(b).is_some_and(|d| d != 0),
            (Indices::One(one), Indices::Range { start, len })
            | (Indices::Range { start, len }, Indices::One(one)) => {
                one.difference(start).is_some_and(|d| d < 0) || is_behind(one, start, len)
            }
            (Indices::Range { start: a, len: a_len }, Indices::Range { start: b, len: b_len }) => {
                is_behind(b, a, a_len) || is_behind(a, b, b_len)
            }
            (Indices::Unknown, _) | (_, Indices::Unknown) => false,
        }
    }
}

/// Whether an index comes after all that begin at `start`.
fn is_behind(index: &Sum, start: &Sum, len: &Sum) -> bool {
    start.plus(1, len).and_then(|end| index.difference(&end)).is_some_and(|distance| distance >= 0)
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
        symbols.types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
        symbols.collect(body);
        let mut renames = HashSet::new();
        each_stm(&body.stms, &mut |stm| {
            if symbols.renames(stm) {
                renames.extend(stm.pat.iter().map(|p| p.var));
            }
        });
        Symbols { renames, ..symbols }
    }

    fn collect(&mut self, body: &Body) {
        each_bound(&body.stms, &mut |var, ty| drop(self.types.insert(var, ty.clone())));
        each_stm(&body.stms, &mut |stm| {
            if let ([param], true) = (stm.pat.as_slice(), is_known(&stm.exp)) {
                self.scalars.insert(param.var, stm.exp.clone());
            }
        });
    }

    /// Whether a statement is a reshape that gives sizes other names, and changes nothing else.
    fn renames(&self, stm: &Stm) -> bool {
        let Exp::Reshape { array, dims } = &stm.exp else { return false };
        let Some(Type::Array { dims: old, .. }) = self.types.get(array) else { return false };
        dims.len() == old.len()
            && (dims.len() == 1 || dims.iter().zip(old).all(|(a, b)| self.sum(*a) == self.sum(*b)))
    }

    pub(super) fn dims(&self, array: VarId) -> &[Atom] {
        self.types.get(&array).map_or(&[], |ty| ty.dims())
    }

    pub(super) fn sum(&self, atom: Atom) -> Sum {
        self.sum_of(atom, DEPTH)
    }

    /// The difference, if it is a number.
    pub(super) fn difference(&self, left: Atom, right: Atom) -> Option<i64> {
        self.sum(left).difference(&self.sum(right))
    }

    fn sum_of(&self, atom: Atom, depth: usize) -> Sum {
        let of_var = |var: VarId| {
            let exp = self.scalars.get(&var).filter(|_| depth > 0);
            exp.and_then(|exp| Sum::of_exp(exp, |atom| Some(self.sum_of(atom, depth - 1))))
                .or_else(|| Some(Sum::var(var)))
        };
        Sum::of_atom(atom, of_var).unwrap_or_default()
    }

    /// The start of a range of some length: `if len == 0 then 0 else start` is `start`, for where there are no
    /// elements, it does not matter.
    fn start(&self, start: Atom, len: &Sum) -> Sum {
        if let Some(Exp::If { cond: Atom::Var(cond), then, otherwise }) =
            start.as_var().and_then(|v| self.scalars.get(&v))
            && let Some(Exp::CmpOp(CmpOp::Eq, PrimType::I64, x, y)) = self.scalars.get(cond)
            && then.stms.is_empty()
            && otherwise.stms.is_empty()
            && self.sum(*y).as_i64() == Some(0)
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
                Some(DimSlice::Fix(i)) => base.plus(1, &self.sum(*i)).map_or(Indices::Unknown, Indices::One),
                Some(DimSlice::Range { start, len, stride }) if *stride == Atom::i64(1) => {
                    let len = self.sum(*len);
                    let start = base.plus(1, &self.start(*start, &len));
                    start.map_or(Indices::Unknown, |start| Indices::Range { start, len })
                }
                Some(DimSlice::Range { .. }) => Indices::Unknown,
                None => indices.clone(),
            });
        }
        selected
    }
}

/// Whether something can be learnt from a definition.
fn is_known(exp: &Exp) -> bool {
    matches!(
        exp,
        Exp::Atom(_) | Exp::BinOp(_, PrimType::I64, ..) | Exp::CmpOp(_, PrimType::I64, ..) | Exp::If { .. }
    )
}
