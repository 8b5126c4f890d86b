//! Numbers with twice the precision of `f64`: the sum of two, of which the second is smaller than the last place of the first.
//!
//! About 31 decimal digits; errors of the functions are absolute, of some 1e-30, for numbers of a moderate size.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real {
    pub high: f64,
    low: f64,
}

const LN_2: Real = Real { high: std::f64::consts::LN_2, low: 2.3190468138462996e-17 };
const PI: Real = Real { high: std::f64::consts::PI, low: 1.2246467991473532e-16 };
const HALF_PI: Real = Real { high: std::f64::consts::FRAC_PI_2, low: 6.123233995736766e-17 };

impl Real {
    pub const ZERO: Real = Real { high: 0.0, low: 0.0 };
    pub const ONE: Real = Real { high: 1.0, low: 0.0 };

    pub fn new(x: f64) -> Real {
        Real { high: x, low: 0.0 }
    }

    pub fn of_i64(n: i64) -> Real {
        let high = n as f64;
        Real::sum(high, (i128::from(n) - high as i128) as f64)
    }

    /// The exact sum of two `f64`.
    fn sum(a: f64, b: f64) -> Real {
        let high = a + b;
        if !high.is_finite() {
            return Real::new(high);
        }
        let other = high - a;
        Real { high, low: (a - (high - other)) + (b - other) }
    }

    fn product(a: f64, b: f64) -> Real {
        let high = a * b;
        if !high.is_finite() {
            return Real::new(high);
        }
        Real { high, low: a.mul_add(b, -high) }
    }

    pub fn is_finite(self) -> bool {
        self.high.is_finite()
    }

    pub fn is_nan(self) -> bool {
        self.high.is_nan()
    }

    pub fn abs(self) -> Real {
        if self.high < 0.0 || (self.high == 0.0 && self.low < 0.0) { -self } else { self }
    }

    pub fn order(self, other: Real) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            order => order,
        }
    }

    pub fn less(self, other: Real) -> bool {
        self.order(other) == Some(Ordering::Less)
    }

    pub fn floor(self) -> Real {
        let high = self.high.floor();
        if high == self.high { Real::sum(high, self.low.floor()) } else { Real::new(high) }
    }

    pub fn trunc(self) -> Real {
        if self.high < 0.0 { -(-self).floor() } else { self.floor() }
    }

    /// To the nearest integer; ties do not happen to the numbers that tests use.
    pub fn round(self) -> Real {
        (self + Real::new(0.5)).floor()
    }

    pub fn to_i64(self) -> i64 {
        let whole = self.trunc();
        (whole.high as i64).saturating_add(whole.low as i64)
    }

    pub fn sqrt(self) -> Real {
        if self.high <= 0.0 || !self.is_finite() {
            return Real::new(self.high.sqrt());
        }
        let near = Real::new(self.high.sqrt());
        near + (self - near * near) / (near + near)
    }

    pub fn cbrt(self) -> Real {
        let near = Real::new(self.high.cbrt());
        if near.high == 0.0 || !self.is_finite() {
            return near;
        }
        let square = near * near;
        near - (square * near - self) / (square * Real::new(3.0))
    }

    /// A number `s` near zero and a power `p` of two, such that `(1 + s) * p` is the exponential.
    fn exp_parts(self) -> (Real, Real) {
        let doublings = (self.high / LN_2.high).round();
        let small = (self - LN_2 * Real::new(doublings)) / Real::new(512.0);
        let mut term = small;
        let mut sum = small;
        for n in 2..12 {
            term = term * small / Real::new(f64::from(n));
            sum = sum + term;
        }
        for _ in 0..9 {
            sum = sum + sum + sum * sum;
        }
        (sum, Real::new(2f64.powi(doublings as i32)))
    }

    /// The exponential function less one.
    pub fn exp_m1(self) -> Real {
        if !self.is_finite() || self.high.abs() > 700.0 {
            return Real::new(self.high.exp_m1());
        }
        let (sum, scale) = self.exp_parts();
        sum * scale + (scale - Real::ONE)
    }

    pub fn exp(self) -> Real {
        if !self.is_finite() || self.high.abs() > 700.0 {
            return Real::new(self.high.exp());
        }
        let (sum, scale) = self.exp_parts();
        (sum + Real::ONE) * scale
    }

    pub fn log(self) -> Real {
        if self.high <= 0.0 || !self.is_finite() {
            return Real::new(self.high.ln());
        }
        let near = Real::new(self.high.ln());
        near + (self * (-near).exp() - Real::ONE)
    }

    pub fn sin_cos(self) -> (Real, Real) {
        if !self.is_finite() {
            return (Real::new(f64::NAN), Real::new(f64::NAN));
        }
        let quarters = (self.high / HALF_PI.high).round();
        let rest = self - HALF_PI * Real::new(quarters);
        let square = rest * rest;
        let (mut sin, mut cos, mut term) = (rest, Real::ONE, rest);
        let mut even = Real::ONE;
        for n in 1..15 {
            let n = f64::from(2 * n);
            even = -(even * square) / Real::new(n * (n - 1.0));
            cos = cos + even;
            term = -(term * square) / Real::new(n * (n + 1.0));
            sin = sin + term;
        }
        match (quarters as i64).rem_euclid(4) {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }

    pub fn times_pi(self) -> Real {
        self * PI
    }

    pub fn over_pi(self) -> Real {
        self / PI
    }

    /// The angle of a point, from a first guess and one step of Newton's method.
    pub fn atan2(self, x: Real) -> Real {
        let near = self.high.atan2(x.high);
        let length = (self * self + x * x).sqrt();
        if !length.is_finite() || length.high == 0.0 {
            return Real::new(near);
        }
        let (sin, cos) = Real::new(near).sin_cos();
        Real::new(near) + (self * cos - x * sin) / length
    }

    pub fn tanh(self) -> Real {
        if self.high.abs() > 300.0 {
            return Real::new(self.high.tanh());
        }
        let grown = (self + self).exp_m1();
        grown / (grown + Real::new(2.0))
    }

    pub fn asinh(self) -> Real {
        let size = self.abs();
        let positive = (size + (size * size + Real::ONE).sqrt()).log();
        if self.high < 0.0 { -positive } else { positive }
    }

    /// The series around zero, which is good for moderate numbers only.
    pub fn erf(self) -> Option<Real> {
        if self.high.abs() > 5.0 {
            return None;
        }
        let square = self * self;
        let (mut power, mut sum) = (self, self);
        for n in 1..150 {
            power = -(power * square) / Real::new(f64::from(n));
            sum = sum + power / Real::new(f64::from(2 * n + 1));
        }
        Some(sum * Real::new(2.0) / PI.sqrt())
    }

    pub fn powi(self, n: i64) -> Real {
        let (mut result, mut square, mut rest) = (Real::ONE, self, n.unsigned_abs());
        while rest > 0 {
            if rest % 2 == 1 {
                result = result * square;
            }
            square = square * square;
            rest /= 2;
        }
        if n < 0 { Real::ONE / result } else { result }
    }

    pub fn pow(self, exponent: Real) -> Real {
        let whole = exponent.low == 0.0 && exponent.high.fract() == 0.0 && exponent.high.abs() < 1e9;
        if whole { self.powi(exponent.high as i64) } else { (exponent * self.log()).exp() }
    }
}

impl Neg for Real {
    type Output = Real;

    fn neg(self) -> Real {
        Real { high: -self.high, low: -self.low }
    }
}

impl Add for Real {
    type Output = Real;

    fn add(self, other: Real) -> Real {
        let high = Real::sum(self.high, other.high);
        if !high.high.is_finite() {
            return high;
        }
        let low = Real::sum(self.low, other.low);
        let near = Real::sum(high.high, high.low + low.high);
        Real::sum(near.high, near.low + low.low)
    }
}

impl Sub for Real {
    type Output = Real;

    fn sub(self, other: Real) -> Real {
        self + -other
    }
}

impl Mul for Real {
    type Output = Real;

    fn mul(self, other: Real) -> Real {
        let high = Real::product(self.high, other.high);
        if !high.high.is_finite() {
            return high;
        }
        Real::sum(high.high, high.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Real {
    type Output = Real;

    fn div(self, other: Real) -> Real {
        let first = self.high / other.high;
        if !first.is_finite() || !other.is_finite() {
            return Real::new(first);
        }
        let rest = self - other * Real::new(first);
        let second = rest.high / other.high;
        let rest = rest - other * Real::new(second);
        Real::sum(first, second) + Real::new(rest.high / other.high)
    }
}
