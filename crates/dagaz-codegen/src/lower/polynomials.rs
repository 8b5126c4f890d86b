//! Integer expressions of Imp as polynomials, so that those that differ by a number are seen to.
//!
//!     at * (-1 * 4) + 1                  -4 at + 1
//!     (n - 1 - (at - 1)) * 4             4 n - 4 at
//!
//! The arithmetic of Imp is that of `i64`, which wraps.

use std::collections::HashMap;
use std::sync::Arc;

use dagaz_core::index;
use dagaz_core::prim::{BinOp, PrimType, UnOp};

use crate::imp::{Expr, Operand, Repr, Var};

pub(super) type Polynomial = index::Polynomial<Arc<str>>;

/// The sum, term by term.
pub(super) fn expr_of(sum: &Polynomial) -> Expr {
    // Factors are those of a program whose integers wrap.
    let number = |number: i128| (number as i64).expr();
    let variable = |name: &Arc<str>| Var::new(PrimType::I64, name.clone()).expr();
    let term = |(variables, times): (&Vec<Arc<str>>, &i128)| {
        variables.iter().map(variable).fold(number(*times), |product, factor| product * factor)
    };
    sum.terms.iter().map(term).fold(number(sum.constant), |sum, term| sum + term)
}

/// Sums, differences and products of numbers and variables, of which some have values.
pub(super) fn polynomial(expr: &Expr, values: &HashMap<Arc<str>, Polynomial>) -> Option<Polynomial> {
    match expr {
        Expr::Const(_) => expr.as_number().map(|number| Polynomial::constant(number.into())),
        Expr::Var(var) if var.repr == Repr::I64 => {
            Some(values.get(&var.name).cloned().unwrap_or_else(|| Polynomial::var(var.name.clone())))
        }
        Expr::UnOp(UnOp::Neg, PrimType::I64, x) => polynomial(x, values)?.times(-1),
        Expr::BinOp(op, PrimType::I64, operands) => {
            let [x, y] = [&operands[0], &operands[1]].map(|operand| polynomial(operand, values));
            match op {
                BinOp::Add => x?.plus(1, &y?),
                BinOp::Sub => x?.minus(&y?),
                BinOp::Mul => x?.product(&y?),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(name: &str) -> Var {
        Var::new(PrimType::I64, name)
    }

    fn read(expr: &Expr) -> Option<Polynomial> {
        let back = &int("n") - 1 - int("at");
        let back = polynomial(&back, &HashMap::new())?;
        polynomial(expr, &HashMap::from([(Arc::from("back"), back)]))
    }

    #[track_caller]
    fn check(expr: Expr, same: Expr) {
        let sum = read(&expr).unwrap();
        assert_eq!(Some(&sum), read(&same).as_ref());
        assert_eq!(read(&expr_of(&sum)), Some(sum));
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
        let [x, y] = [&at * 4 + 3, &at * 4].map(|expr| read(&expr).unwrap());
        assert_eq!(x.difference(&y), Some(3));
        assert_eq!(x.difference(&read(&n.expr()).unwrap()), None);
        assert_eq!(x.factor_of(&at.name), 4);
    }

    #[test]
    fn what_is_neither_sum_nor_product_is_not_read() {
        let at = int("at");
        let xs = Var::new(Repr::pointer(PrimType::I64), "xs");
        for expr in [at.maximum(0), xs.at(&at), at.cast(PrimType::I32), &at / 4] {
            assert_eq!(read(&expr), None);
        }
    }
}
