//! Integer expressions of C as polynomials, so that those that differ by a number are seen to.
//!
//!     at * ((-1L) * 4L) + 1L                  -4 at + 1
//!     (n - 1L - (at - 1L)) * 4L               4 n - 4 at
//!
//! The arithmetic is that of `i64`, which wraps, and so are the coefficients.

use std::collections::{BTreeMap, HashMap};

/// Sums of products of variables, by the variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Polynomial {
    terms: BTreeMap<Vec<String>, i64>,
}

impl Polynomial {
    fn number(value: i64) -> Self {
        Polynomial::default().plus(&Polynomial { terms: BTreeMap::from([(Vec::new(), value)]) }, 1)
    }

    fn variable(name: &str) -> Self {
        Polynomial { terms: BTreeMap::from([(vec![name.to_string()], 1)]) }
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
                let mut variables: Vec<String> = left.iter().chain(right).cloned().collect();
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

    pub(super) fn variables(&self) -> impl Iterator<Item = &String> {
        self.terms.keys().flatten()
    }

    /// What a variable by itself is multiplied by.
    pub(super) fn factor_of(&self, variable: &str) -> i64 {
        self.terms.iter().find(|(variables, _)| *variables == &[variable]).map_or(0, |(_, times)| *times)
    }

    /// As C writes it.
    pub(super) fn text(&self) -> String {
        let term = |(variables, times): (&Vec<String>, &i64)| {
            let times = (*times != 1 || variables.is_empty()).then(|| format!("({times}L)"));
            times.into_iter().chain(variables.iter().cloned()).collect::<Vec<_>>().join(" * ")
        };
        let terms: Vec<String> = self.terms.iter().map(term).collect();
        if terms.is_empty() { "0".to_string() } else { terms.join(" + ") }
    }

    /// Reads sums, differences and products of numbers and variables, of which some have values.
    pub(super) fn parse(text: &str, values: &HashMap<String, Polynomial>) -> Option<Self> {
        let mut reader = Reader { rest: text.trim_start(), values };
        let sum = reader.sum()?;
        reader.rest.is_empty().then_some(sum)
    }
}

struct Reader<'a> {
    rest: &'a str,
    values: &'a HashMap<String, Polynomial>,
}

impl Reader<'_> {
    fn skip(&mut self, symbol: char) -> bool {
        match self.rest.strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<Polynomial> {
        let mut sum = self.product()?;
        loop {
            if self.skip('+') {
                sum = sum.plus(&self.product()?, 1);
            } else if self.skip('-') {
                sum = sum.plus(&self.product()?, -1);
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<Polynomial> {
        let mut product = self.factor()?;
        while self.skip('*') {
            product = product.times(&self.factor()?);
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<Polynomial> {
        if self.skip('-') {
            return Some(Polynomial::default().plus(&self.factor()?, -1));
        }
        if self.skip('(') {
            let sum = self.sum()?;
            return self.skip(')').then_some(sum);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        // Calls, casts and elements of arrays are something else.
        if self.rest.starts_with(['(', '[']) {
            return None;
        }
        match word.chars().next()? {
            '0'..='9' => Some(Polynomial::number(word.strip_suffix('L').unwrap_or(word).parse().ok()?)),
            _ => Some(self.values.get(word).cloned().unwrap_or_else(|| Polynomial::variable(word))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let values =
            HashMap::from([("back".to_string(), Polynomial::parse("n - 1L - at", &HashMap::new()).unwrap())]);
        let read = Polynomial::parse(text, &values).map(|polynomial| polynomial.text());
        assert_eq!(read.as_deref(), expected);
    }

    #[test]
    fn sums_and_products_are_put_in_order() {
        check("at * ((-1L) * 4L) + 1L", Some("(1L) + (-4L) * at"));
        check("back * 4L + at * 4L", Some("(-4L) + (4L) * n"));
        check("first + chain * length + j - 0", Some("chain * length + first + j"));
        check("length * chain - chain * length", Some("0"));
    }

    #[test]
    fn what_is_neither_sum_nor_product_is_not_read() {
        check("i64_max(at, 0)", None);
        check("xs[at]", None);
        check("(i64)at", None);
        check("at / 4L", None);
        check("", None);
    }
}
