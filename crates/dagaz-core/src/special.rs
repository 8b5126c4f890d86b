//! The derivatives of the logarithm of the gamma function: `polygamma 0` is the first, the digamma function.
//!
//! For positive numbers the error is a few units in the last place. For negative ones, two large numbers may cancel near
//! the zeros of even orders; the error is small compared with those.

use std::f64::consts::PI;
use std::sync::LazyLock;

/// The Bernoulli numbers B2, B4, …
const BERNOULLI: [f64; 12] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
    854513.0 / 138.0,
    -236364091.0 / 2730.0,
];

/// The positive zero of the digamma function, as the sum of two numbers.
const DIGAMMA_ZERO: (f64, f64) = (1.4616321449683622, 9.549995429965697e-17);

/// The coefficients of the digamma function around its zero, from the first power on.
static AROUND_ZERO: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut factorial = 1.0;
    let coefficient = |k: u32| {
        factorial *= f64::from(k);
        polygamma_positive(k, DIGAMMA_ZERO.0) / factorial
    };
    (1..=48).map(coefficient).collect()
});

/// The derivative of the given order of the digamma function. Negative orders have no meaning and give NaN.
pub fn polygamma(order: i32, x: f64) -> f64 {
    let Ok(order) = u32::try_from(order) else { return f64::NAN };
    let odd = order % 2 == 1;
    if x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return if order == 0 { x } else { 0.0 };
    }
    if x > 0.0 {
        return if order == 0 { digamma_positive(x) } else { polygamma_positive(order, x) };
    }
    if x == x.trunc() {
        // From both sides of a pole, odd orders go to the same infinity.
        return if odd { f64::INFINITY } else { f64::NAN };
    }
    if x > -1.0 {
        let pole = factorial(order) / x.powi(order as i32 + 1);
        return polygamma(order as i32, x + 1.0) - if odd { -pole } else { pole };
    }
    let mirrored = polygamma(order as i32, 1.0 - x);
    (if odd { -mirrored } else { mirrored }) - PI * cotangent_derivative(order, x)
}

fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

fn digamma_positive(x: f64) -> f64 {
    if x >= 10.0 {
        let square = 1.0 / (x * x);
        let terms = BERNOULLI.iter().enumerate().rev();
        let series = terms.fold(0.0, |sum, (i, b)| (sum + b / (2 * i + 2) as f64) * square);
        return x.ln() - (0.5 / x + series);
    }
    if x < 1.0 {
        return digamma_positive(x + 1.0) - 1.0 / x;
    }
    let mut near = x;
    let mut steps = Sum::default();
    while near > 2.0 {
        near -= 1.0;
        steps.add(1.0 / near);
    }
    let distance = (near - DIGAMMA_ZERO.0) - DIGAMMA_ZERO.1;
    steps.add(AROUND_ZERO.iter().rev().fold(0.0, |sum, c| (sum + c) * distance));
    steps.total()
}

/// Orders from 1 on: a sum of terms of one sign, and an asymptotic series for the rest of it.
fn polygamma_positive(order: u32, x: f64) -> f64 {
    let power = order as i32 + 1;
    let mut sum = Sum::default();
    let mut z = x;
    while z < 12.0 + f64::from(order) {
        sum.add(z.powi(-power));
        z += 1.0;
    }
    // Everything is divided by the factorial of the order.
    let mut rest = z.powi(-power) * (0.5 + z / f64::from(order));
    let mut weight = z.powi(-power);
    for (b, k) in BERNOULLI.iter().zip(1u32..) {
        // (2k + order - 1)! / ((2k)! order!), from the one before.
        let (low, high) = (2 * k + order - 2, 2 * k + order - 1);
        let grown = if k == 1 {
            f64::from(order + 1) / 2.0
        } else {
            f64::from(low) * f64::from(high) / (f64::from(2 * k) * f64::from(2 * k - 1))
        };
        weight *= grown / if k == 1 { z } else { z * z };
        rest += b * weight;
    }
    sum.add(rest);
    let value = factorial(order) * sum.total();
    if order % 2 == 1 { value } else { -value }
}

/// The derivative of the given order of cot(πx): a polynomial in it.
fn cotangent_derivative(order: u32, x: f64) -> f64 {
    let rest = x - x.round();
    let cot = (PI * rest).cos() / (PI * rest).sin();
    let mut polynomial = vec![0.0, 1.0];
    for _ in 0..order {
        // The derivative by cot, times 1 + cot², and -π.
        let mut next = vec![0.0; polynomial.len() + 1];
        for (power, c) in polynomial.iter().enumerate().skip(1) {
            let c = -PI * c * power as f64;
            next[power - 1] += c;
            next[power + 1] += c;
        }
        polynomial = next;
    }
    polynomial.iter().rev().fold(0.0, |sum, c| sum * cot + c)
}

/// A sum that keeps what rounding loses.
#[derive(Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.high + x;
        self.low += if self.high.abs() >= x.abs() { (self.high - sum) + x } else { (x - sum) + self.high };
        self.high = sum;
    }

    fn total(&self) -> f64 {
        self.high + self.low
    }
}
