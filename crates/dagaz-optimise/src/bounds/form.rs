//! Sums of products of variables: the values of integers as the prover sees them, without wrapping.
//!
//! `i*m + j - 1` is the terms `i*m` and `j` with the factors 1 and 1, and the constant -1. Operations give `None` where a
//! number would not fit or a form would become too large to be of use.

use std::collections::BTreeMap;

use dagaz_core::types::VarId;

/// A product of variables, in ascending order.
pub(super) type Product = Vec<VarId>;

const MOST_TERMS: usize = 10;
const MOST_FACTORS: usize = 3;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Form {
    /// No factor is zero.
    pub terms: BTreeMap<Product, i128>,
    pub constant: i128,
}

impl Form {
    pub fn constant(constant: i128) -> Form {
        Form { terms: BTreeMap::new(), constant }
    }

    pub fn var(var: VarId) -> Form {
        Form { terms: BTreeMap::from([(vec![var], 1)]), constant: 0 }
    }

    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + factor * other`
    pub fn plus(&self, factor: i128, other: &Form) -> Option<Form> {
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

    pub fn minus(&self, other: &Form) -> Option<Form> {
        self.plus(-1, other)
    }

    pub fn offset(&self, by: i128) -> Option<Form> {
        Some(Form { terms: self.terms.clone(), constant: self.constant.checked_add(by)? })
    }

    pub fn times(&self, factor: i128) -> Option<Form> {
        Form::default().plus(factor, self)
    }

    /// The product of two forms.
    pub fn product(&self, other: &Form) -> Option<Form> {
        let mut sum = self.times(other.constant)?;
        for (product, factor) in &other.terms {
            let mut part = Form::default();
            for (own, own_factor) in &self.terms {
                let mut all: Product = own.iter().chain(product).copied().collect();
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

    /// The same form with a variable replaced, if it occurs on its own only.
    pub fn replace(&self, var: VarId, by: &Form) -> Option<Form> {
        let mut rest = self.clone();
        let factor = rest.terms.remove(&vec![var])?;
        rest.plus(factor, by)
    }

    /// For integers, `2x + 2y - 3 >= 0` is `x + y - 2 >= 0`.
    pub fn tightened(mut self) -> Form {
        let divisor = self.terms.values().fold(0, |a, b| gcd(a, b.unsigned_abs()));
        if let Ok(divisor @ 2..) = i128::try_from(divisor) {
            self.terms.values_mut().for_each(|factor| *factor /= divisor);
            self.constant = self.constant.div_euclid(divisor);
        }
        self
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
