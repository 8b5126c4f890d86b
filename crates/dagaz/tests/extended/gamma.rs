//! The gamma function and the derivatives of its logarithm, of positive numbers, by asymptotic series for large ones.

use super::real::Real;

/// The Bernoulli numbers B2, B4, … as fractions.
const BERNOULLI: [(f64, f64); 12] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174611.0, 330.0),
    (854513.0, 138.0),
    (-236364091.0, 2730.0),
];

/// From here on, the series has more than thirty digits.
const LARGE: f64 = 45.0;

/// The Bernoulli numbers with twice their numbers.
fn bernoulli() -> impl Iterator<Item = (i64, Real)> {
    BERNOULLI.iter().zip(1..).map(|((above, below), k)| (2 * k, Real::new(*above) / Real::new(*below)))
}

fn factorial(n: i64) -> Real {
    (1..=n).fold(Real::ONE, |product, i| product * Real::of_i64(i))
}

pub fn log_gamma(x: Real) -> Option<Real> {
    if x.high <= 0.0 {
        return None;
    }
    let (mut large, mut factors) = (x, Real::ONE);
    while large.high < LARGE {
        factors = factors * large;
        large = large + Real::ONE;
    }
    let half = Real::new(0.5);
    let mut sum = (large - half) * large.log() - large + half * Real::new(2.0).times_pi().log();
    for (k, number) in bernoulli() {
        sum = sum + number / (Real::of_i64(k * (k - 1)) * large.powi(k - 1));
    }
    Some(sum - factors.log())
}

/// The derivative of the given order of the digamma function.
pub fn polygamma(order: i64, x: Real) -> Option<Real> {
    if x.high <= 0.0 || order < 0 {
        return None;
    }
    let sign = Real::new(if order % 2 == 0 { -1.0 } else { 1.0 });
    let (mut large, mut sum) = (x, Real::ZERO);
    while large.high < LARGE {
        sum = sum + factorial(order) / large.powi(order + 1);
        large = large + Real::ONE;
    }
    sum = sum + factorial(order) / (Real::new(2.0) * large.powi(order + 1));
    sum = sum + if order == 0 { -large.log() } else { factorial(order - 1) / large.powi(order) };
    for (k, number) in bernoulli() {
        sum = sum + number * factorial(k + order - 1) / (factorial(k) * large.powi(k + order));
    }
    Some(sign * sum)
}
