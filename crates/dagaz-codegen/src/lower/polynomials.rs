//! Integer expressions of Imp as polynomials, so that those that differ by a number are seen to.
//!
//!     at * (-1 * 4) + 1                  -4 at + 1
//!     (n - 1 - (at - 1)) * 4             4 n - 4 at
//!
//! The arithmetic is that of `i64`, which wraps, and so are the coefficients.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dagaz_core::prim::{BinOp, PrimType, UnOp};

use crate::imp::{Expr, Operand, Repr, Var};

/// Sums of products of variables, by the variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Polynomial {
    terms: BTreeMap<Vec<Arc<str>>, i64>,
}

impl Polynomial {
    fn number(value: i64) -> Self {
        Polynomial::default().plus(&Polynomial { terms: BTreeMap::from([(Vec::new(), value)]) }, 1)
    }

    fn variable(name: &Arc<str>) -> Self {
        Polynomial { terms: BTreeMap::from([(vec![name.clone()], 1)]) }
    }

    pub(super) fn plus(&self, other: &Self, factor: i64) -> Self {
        let mut sum = self.clone();
        for (variables, times) in &other.terms {
            let entry = sum.terms.entry(variables.clone()).or_default();
            *entry = entry.wrapping_add(times.wrapping_mul(factor));
        }
        sum.terms.retain(|_, times| *times != 0);
        sum
    }

    fn times(&self, other: &Self) -> Self {
        let mut product = Polynomial::default();
        for (left, a) in &self.terms {
            for (right, b) in &other.terms {
                let mut variables: Vec<Arc<str>> = left.iter().chain(right).cloned().collect();
                variables.sort();
                let term = Polynomial { terms: BTreeMap::from([(variables, 1)]) };
                product = product.plus(&term, a.wrapping_mul(*b));
            }
        }
        product
    }

    /// How much more this is than the other one, if that is a number.
    pub(super) fn minus(&self, other: &Self) -> Option<i64> {
        let difference = self.plus(other, -1).terms;
        match difference.len() {
            0 => Some(0),
            1 => difference.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &Arc<str>> {
        self.terms.keys().flatten()
    }

    /// What a variable by itself is multiplied by.
    pub(super) fn factor_of(&self, variable: &Var) -> i64 {
        self.terms.get(std::slice::from_ref(&variable.name)).copied().unwrap_or(0)
    }

    /// The sum, term by term.
    pub(super) fn expr(&self) -> Expr {
        let variable = |name: &Arc<str>| Var::new(PrimType::I64, name.clone()).expr();
        let term = |(variables, times): (&Vec<Arc<str>>, &i64)| {
            variables.iter().map(variable).fold(times.expr(), |product, factor| product * factor)
        };
        self.terms.iter().map(term).fold(0.expr(), |sum, term| sum + term)
    }

    /// Sums, differences and products of numbers and variables, of which some have values.
    pub(super) fn of(expr: &Expr, values: &HashMap<Arc<str>, Polynomial>) -> Option<Self> {
        match expr {
            Expr::Const(_) => expr.as_number().map(Polynomial::number),
            Expr::Var(var) if var.repr == Repr::I64 => {
                Some(values.get(&var.name).cloned().unwrap_or_else(|| Polynomial::variable(&var.name)))
            }
            Expr::UnOp(UnOp::Neg, PrimType::I64, x) => {
                Some(Polynomial::default().plus(&Polynomial::of(x, values)?, -1))
            }
            Expr::BinOp(op, PrimType::I64, operands) => {
                let [x, y] = [&operands[0], &operands[1]].map(|operand| Polynomial::of(operand, values));
                match op {
                    BinOp::Add => Some(x?.plus(&y?, 1)),
                    BinOp::Sub => Some(x?.plus(&y?, -1)),
                    BinOp::Mul => Some(x?.times(&y?)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(name: &str) -> Var {
        Var::new(PrimType::I64, name)
    }

    fn polynomial(expr: &Expr) -> Option<Polynomial> {
        let back = &int("n") - 1 - int("at");
        let back = Polynomial::of(&back, &HashMap::new())?;
        Polynomial::of(expr, &HashMap::from([(Arc::from("back"), back)]))
    }

    #[track_caller]
    fn check(expr: Expr, same: Expr) {
        let read = polynomial(&expr).unwrap();
        assert_eq!(Some(&read), polynomial(&same).as_ref());
        assert_eq!(polynomial(&read.expr()), Some(read));
    }

    #[test]
    fn sums_and_products_are_put_in_order() {
        let [at, n, back, chain, length, first] = ["at", "n", "back", "chain", "length", "first"].map(int);
        check(&at * Expr::times(&(-1).expr(), 4) + 1, 1.plus(at.times(-4)));
        check(&back * 4 + &at * 4, &n * 4 - 4);
        check(&first + &chain * &length + &n, &n + &length * &chain + &first);
        check(&length * &chain - &chain * &length, 0.expr());
    }

    #[test]
    fn differences_are_numbers_where_variables_agree() {
        let (at, n) = (int("at"), int("n"));
        let [x, y] = [&at * 4 + 3, &at * 4].map(|expr| polynomial(&expr).unwrap());
        assert_eq!(x.minus(&y), Some(3));
        assert_eq!(x.minus(&polynomial(&n.expr()).unwrap()), None);
        assert_eq!(x.factor_of(&at), 4);
    }

    #[test]
    fn what_is_neither_sum_nor_product_is_not_read() {
        let at = int("at");
        let xs = Var::new(Repr::pointer(PrimType::I64), "xs");
        for expr in [at.maximum(0), xs.at(&at), at.cast(PrimType::I32), &at / 4] {
            assert_eq!(polynomial(&expr), None);
        }
    }
}
