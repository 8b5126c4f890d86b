//! Indices and sizes as sums of products of variables: `i*m + j - 1` is the terms `i*m` and `j` with the factors 1 and 1, and
//! the constant -1.
//!
//! ```text
//! let a = n - k          a: n - k
//! let b = a - 1          b: n - k - 1
//! let c = k + 1          c: k + 1
//! let d = n - c          d: n - k - 1, the same as b
//! ```
//!
//! What a variable is, is for the user to say: one of Core or of another language, or the counter of a loop. Factors are exact.
//! The integers of programs wrap, and two of them that have the same polynomial are equal all the same; to go from a polynomial to
//! an order, one has to know that nothing wraps. Operations give `None` where a factor would not fit or a sum would become too large
//! to be of use.

use std::collections::{BTreeMap, HashMap};

use crate::exp::Exp;
use crate::prim::{BinOp, CmpOp, UnOp};
use crate::types::{Atom, VarId};

const MOST_TERMS: usize = 10;
const MOST_FACTORS: usize = 3;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Polynomial<V> {
    /// Products of variables in ascending order. No factor is zero.
    pub terms: BTreeMap<Vec<V>, i128>,
    pub constant: i128,
}

impl<V> Default for Polynomial<V> {
    fn default() -> Polynomial<V> {
        Polynomial::constant(0)
    }
}

impl<V> Polynomial<V> {
    pub fn constant(constant: i128) -> Polynomial<V> {
        Polynomial { terms: BTreeMap::new(), constant }
    }

    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The number that it is, if that is one.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_constant().and_then(|constant| i64::try_from(constant).ok())
    }
}

impl<V: Ord + Clone> Polynomial<V> {
    pub fn var(var: V) -> Polynomial<V> {
        Polynomial { terms: BTreeMap::from([(vec![var], 1)]), constant: 0 }
    }

    /// A constant, or what a variable is.
    pub fn of_atom(atom: Atom, of: impl FnOnce(VarId) -> Option<Self>) -> Option<Self> {
        match atom {
            Atom::Const(prim) => prim.as_i64().map(|n| Polynomial::constant(n.into())),
            Atom::Var(var) => of(var),
        }
    }

    /// The value of an operation on integers, given its operands. `None` for what is no sum or product.
    pub fn of_exp(exp: &Exp, mut of: impl FnMut(Atom) -> Option<Self>) -> Option<Self> {
        match exp {
            Exp::Atom(a) => of(*a),
            Exp::BinOp(BinOp::Add, _, a, b) => of(*a)?.plus(1, &of(*b)?),
            Exp::BinOp(BinOp::Sub, _, a, b) => of(*a)?.minus(&of(*b)?),
            Exp::BinOp(BinOp::Mul, _, a, b) => of(*a)?.product(&of(*b)?),
            Exp::BinOp(BinOp::Shl, ty, a, Atom::Const(bits)) => {
                let bits = bits.as_i64().and_then(|b| u32::try_from(b).ok()).filter(|b| *b + 1 < ty.bits());
                of(*a)?.times(1 << bits?)
            }
            Exp::UnOp(UnOp::Neg, _, a) => of(*a)?.times(-1),
            _ => None,
        }
    }

    /// `self + factor * other`
    pub fn plus(&self, factor: i128, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(factor.checked_mul(other.constant)?)?;
        for (product, own) in &other.terms {
            let more = factor.checked_mul(*own)?;
            let entry = sum.terms.entry(product.clone()).or_default();
            *entry = entry.checked_add(more)?;
            if *entry == 0 {
                sum.terms.remove(product);
            }
        }
        (sum.terms.len() <= MOST_TERMS).then_some(sum)
    }

    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(-1, other)
    }

    pub fn offset(&self, by: i128) -> Option<Self> {
        Some(Polynomial { terms: self.terms.clone(), constant: self.constant.checked_add(by)? })
    }

    pub fn times(&self, factor: i128) -> Option<Self> {
        Polynomial::default().plus(factor, self)
    }

    pub fn product(&self, other: &Self) -> Option<Self> {
        let mut sum = self.times(other.constant)?;
        for (product, factor) in &other.terms {
            let mut part = Polynomial::default();
            for (own, own_factor) in &self.terms {
                let mut all: Vec<V> = own.iter().chain(product).cloned().collect();
                if all.len() > MOST_FACTORS {
                    return None;
                }
                all.sort_unstable();
                part.terms.insert(all, own_factor.checked_mul(*factor)?);
            }
            if self.constant != 0 {
                part.terms.insert(product.clone(), self.constant.checked_mul(*factor)?);
            }
            sum = sum.plus(1, &part)?;
        }
        Some(sum)
    }

    /// How much more this is than the other one, if that is a number.
    pub fn difference(&self, other: &Self) -> Option<i64> {
        self.minus(other)?.as_i64()
    }

    /// What a variable by itself is multiplied by.
    pub fn factor_of(&self, var: &V) -> i128 {
        self.terms.get(std::slice::from_ref(var)).copied().unwrap_or(0)
    }

    pub fn variables(&self) -> impl Iterator<Item = &V> {
        self.terms.keys().flatten()
    }

    /// The variables with their factors, if there are no products of variables.
    pub fn linear(&self) -> Option<Vec<(&V, i128)>> {
        let single = |(product, factor): (&'_ Vec<V>, &i128)| match product.as_slice() {
            [_] => Some(*factor),
            _ => None,
        };
        let factors: Option<Vec<i128>> = self.terms.iter().map(single).collect();
        Some(self.variables().zip(factors?).collect())
    }

    /// With something else in place of a variable, if it occurs on its own only.
    pub fn replace(&self, var: V, by: &Self) -> Option<Self> {
        let mut rest = self.clone();
        let factor = rest.terms.remove(&vec![var])?;
        rest.plus(factor, by)
    }

    /// For integers, `2x + 2y - 3 >= 0` is `x + y - 2 >= 0`.
    pub fn tightened(mut self) -> Self {
        let divisor = self.terms.values().fold(0, |a, b| gcd(a, b.unsigned_abs()));
        if let Ok(divisor @ 2..) = i128::try_from(divisor) {
            self.terms.values_mut().for_each(|factor| *factor /= divisor);
            self.constant = self.constant.div_euclid(divisor);
        }
        self
    }
}

/// What an expression adds to a counter, given the variables that are the counter plus a number; not if that could be too great for
/// the type.
pub fn offset(counters: &HashMap<VarId, i64>, exp: &Exp) -> Option<i64> {
    const GREATEST: u64 = 1 << 40;
    // The counter is the only variable.
    let of = |atom: Atom| {
        Polynomial::of_atom(atom, |var| Polynomial::var(()).offset(i128::from(*counters.get(&var)?)))
    };
    let sum = Polynomial::of_exp(exp, of)?.difference(&Polynomial::var(()));
    sum.filter(|sum| sum.unsigned_abs() <= GREATEST)
}

/// The least and the greatest `x - y` for which `x op y` holds, or does not, as far as it says so.
pub fn limits(op: CmpOp, holds: bool) -> (Option<i64>, Option<i64>) {
    match (op, holds) {
        (CmpOp::Eq, true) => (Some(0), Some(0)),
        (CmpOp::Eq, false) => (None, None),
        (CmpOp::Lt, true) => (None, Some(-1)),
        (CmpOp::Lt, false) => (Some(0), None),
        (CmpOp::Le, true) => (None, Some(0)),
        (CmpOp::Le, false) => (Some(1), None),
    }
}

/// The limits of `y - x`, given those of `x - y`.
pub fn exchanged((least, greatest): (Option<i64>, Option<i64>)) -> (Option<i64>, Option<i64>) {
    (greatest.map(|n| -n), least.map(|n| -n))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
