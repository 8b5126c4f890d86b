//! Every scalar derivative against arithmetic with 256 bits, over the whole domain: tiny and huge numbers, numbers close
//! to the edges, and many in between. The bar is in units in the last place of the exact derivative.

use astro_float_num::{BigFloat, Consts, Radix, RoundingMode};
use dagaz_ad::DIFFERENTIATE;
use dagaz_core::interp::Interpreter;
use dagaz_core::parse::parse;
use dagaz_core::pass::{self, Stage, Step};
use dagaz_core::prim::{BinOp, Prim, TernOp, UnOp};
use dagaz_core::types::FunId;
use dagaz_core::value::Value;

const BITS: usize = 256;
const NEAREST: RoundingMode = RoundingMode::ToEven;
/// The largest error, in units in the last place.
const FEW: f64 = 5.0;

/// A calculator with many bits.
struct Exact {
    consts: Consts,
}

macro_rules! operations {
    (unary $($name:ident)*) => {
        impl Exact { $(fn $name(&mut self, x: &BigFloat) -> BigFloat { x.$name(BITS, NEAREST, &mut self.consts) })* }
    };
    (binary $($name:ident)*) => {
        impl Exact { $(fn $name(&self, x: &BigFloat, y: &BigFloat) -> BigFloat { x.$name(y, BITS, NEAREST) })* }
    };
}

operations!(unary exp ln sin cos sinh cosh);
operations!(binary add sub mul div);

impl Exact {
    fn new() -> Exact {
        Exact { consts: Consts::new().expect("constants") }
    }

    fn num(&self, x: f64) -> BigFloat {
        BigFloat::from_f64(x, BITS)
    }

    fn pi(&mut self) -> BigFloat {
        self.consts.pi(BITS, NEAREST)
    }

    fn sqrt(&self, x: &BigFloat) -> BigFloat {
        x.sqrt(BITS, NEAREST)
    }

    fn square(&self, x: &BigFloat) -> BigFloat {
        self.mul(x, x)
    }

    fn recip(&self, x: &BigFloat) -> BigFloat {
        self.div(&self.num(1.0), x)
    }

    fn pow(&mut self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        x.pow(y, BITS, NEAREST, &mut self.consts)
    }

    fn rounded(&mut self, x: &BigFloat) -> f64 {
        let shown = x.format(Radix::Dec, NEAREST, &mut self.consts).expect("a number");
        shown.to_lowercase().parse().unwrap_or(f64::NAN)
    }

    /// `1 + s * x²`
    fn quadratic(&self, s: f64, x: &BigFloat) -> BigFloat {
        let square = self.mul(&self.num(s), &self.square(x));
        self.add(&self.num(1.0), &square)
    }

    /// By steps to large numbers and the asymptotic series there.
    fn digamma(&mut self, x: &BigFloat) -> BigFloat {
        let mut z = x.clone();
        let mut sum = self.num(0.0);
        while z.cmp(&self.num(80.0)).is_some_and(|order| order < 0) {
            sum = self.sub(&sum, &self.recip(&z));
            z = self.add(&z, &self.num(1.0));
        }
        let log = self.ln(&z);
        sum = self.add(&sum, &log);
        sum = self.sub(&sum, &self.div(&self.num(0.5), &z));
        let numbers = bernoulli();
        for (k, (numerator, denominator)) in numbers.iter().enumerate().skip(1) {
            let power = z.powi(2 * k, BITS, NEAREST);
            let below = self.mul(&self.num(*denominator * 2.0 * k as f64), &power);
            sum = self.sub(&sum, &self.div(&self.num(*numerator), &below));
        }
        sum
    }

    /// The logarithm of the gamma function of a positive number, likewise.
    fn gamma(&mut self, x: &BigFloat) -> BigFloat {
        let mut z = x.clone();
        let mut below = self.num(1.0);
        while z.cmp(&self.num(80.0)).is_some_and(|order| order < 0) {
            below = self.mul(&below, &z);
            z = self.add(&z, &self.num(1.0));
        }
        let (log, pi) = (self.ln(&z), self.pi());
        let half = self.sub(&z, &self.num(0.5));
        let two_pi = self.mul(&self.num(2.0), &pi);
        let offset = self.ln(&two_pi);
        let mut sum = self.sub(&self.mul(&half, &log), &z);
        sum = self.add(&sum, &self.div(&offset, &self.num(2.0)));
        for (k, (numerator, denominator)) in bernoulli().iter().enumerate().skip(1) {
            let power = z.powi(2 * k - 1, BITS, NEAREST);
            let scale = denominator * (2 * k * (2 * k - 1)) as f64;
            let below = self.mul(&self.num(scale), &power);
            sum = self.add(&sum, &self.div(&self.num(*numerator), &below));
        }
        let whole = self.exp(&sum);
        self.div(&whole, &below)
    }
}

/// B0, B2, B4, … as fractions that are exact.
fn bernoulli() -> Vec<(f64, f64)> {
    let fractions = [
        (1, 1),
        (1, 6),
        (-1, 30),
        (1, 42),
        (-1, 30),
        (5, 66),
        (-691, 2730),
        (7, 6),
        (-3617, 510),
        (43867, 798),
        (-174611, 330),
        (854513, 138),
        (-236364091, 2730),
        (8553103, 6),
        (-23749461029, 870),
        (8615841276005i64, 14322),
    ];
    fractions.iter().map(|(n, d)| (*n as f64, *d as f64)).collect()
}

/// Numbers of all sizes between the two, and some that are as close as possible to them.
fn samples(low: f64, high: f64) -> Vec<f64> {
    let mut found = Vec::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as f64 / u64::MAX as f64
    };
    let (near_low, near_high) = (low.max(-1e300), high.min(1e300));
    for i in 0..400 {
        found.push(near_low + (near_high - near_low) * random());
        // Every size, on both sides of zero, and close to either end.
        let size = 10f64.powf(-300.0 + 600.0 * random());
        let small = 10f64.powf(-17.0 * random());
        found.extend([size, -size, near_low + small, near_high - small]);
        let moderate = 40.0 * random() - 20.0;
        found.extend([moderate, f64::from(i) / 40.0, -f64::from(i) / 40.0]);
    }
    found.retain(|x| x.is_finite() && *x > low && *x < high);
    found
}

/// The derivative of an operation by each operand, as the compiler computes it.
fn derivatives(call: &str, arity: usize) -> impl Fn(&[f64]) -> Vec<f64> + use<> {
    let names = ["a", "b", "c"];
    let params = |suffix: &str| {
        names[..arity].iter().map(|n| format!("{n}{suffix}: f64")).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("def f ({}) : ({}) =\n", params(""), params("_adj"));
    let args = names[..arity].join(", ");
    text += &format!(
        "let (r: f64, {}) = vjp ({args}) (1.0f64) \\({}) : (f64) ->\n",
        params("_adj"),
        params("_in")
    );
    text += &format!("let (r_in: f64) = f64.{call}\nin (r_in)\n");
    let results: Vec<String> = names[..arity].iter().map(|n| format!("{n}_adj")).collect();
    text += &format!("in ({})", results.join(", "));
    let mut program = parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    pass::run(&[Step::Pass(&DIFFERENTIATE)], &mut program, Stage::WITH_FORMS)
        .unwrap_or_else(|stop| panic!("{stop}"));
    move |point| {
        let args = point.iter().map(|x| Value::Prim(Prim::F64(*x))).collect();
        let results = Interpreter::new(&program).call_fun(FunId(0), args);
        let results = results.unwrap_or_else(|error| panic!("{error}"));
        let number = |value: &Value| match value {
            Value::Prim(Prim::F64(x)) => *x,
            other => panic!("not a number: {other:?}"),
        };
        results.iter().map(number).collect()
    }
}

/// How far `got` is from the exact number, in units in the last place; numbers below the smallest normal one count as
/// zero, and those above the largest as infinity.
fn error_in_ulps(exact: &mut Exact, expected: &BigFloat, got: f64) -> f64 {
    let nearest = exact.rounded(expected);
    if nearest == got || (nearest.abs() < f64::MIN_POSITIVE && got.abs() < 2.0 * f64::MIN_POSITIVE) {
        return 0.0;
    }
    if nearest.is_infinite() || nearest.abs() > 1e308 {
        return if got.abs() > 1e307 { 0.0 } else { f64::INFINITY };
    }
    let ulp = f64::from_bits(nearest.abs().to_bits() + 1) - nearest.abs();
    let difference = exact.sub(expected, &exact.num(got));
    exact.rounded(&exact.div(&difference, &exact.num(ulp))).abs()
}

/// The worst error of an operation of one number on an interval.
fn worst(
    op: UnOp,
    low: f64,
    high: f64,
    reference: &mut dyn FnMut(&mut Exact, &BigFloat) -> BigFloat,
) -> (f64, f64) {
    let mut exact = Exact::new();
    let derivative = derivatives(&format!("{} a_in", op.name()), 1);
    let mut worst = (0.0, 0.0);
    for x in samples(low, high) {
        let point = exact.num(x);
        let expected = reference(&mut exact, &point);
        let error = error_in_ulps(&mut exact, &expected, derivative(&[x])[0]);
        if error.is_nan() || error > worst.0 {
            worst = (error, x);
        }
    }
    worst
}

fn check(op: UnOp, low: f64, high: f64, mut reference: impl FnMut(&mut Exact, &BigFloat) -> BigFloat) {
    let (error, at) = worst(op, low, high, &mut reference);
    assert!(error <= FEW, "{}: {error} units at {at:e}", op.name());
}

const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

#[test]
fn powers_and_logarithms() {
    check(UnOp::Neg, ALL.0, ALL.1, |e, _| e.num(-1.0));
    check(UnOp::Abs, 0.0, ALL.1, |e, _| e.num(1.0));
    check(UnOp::Abs, ALL.0, 0.0, |e, _| e.num(-1.0));
    check(UnOp::Sqrt, 0.0, ALL.1, |e, x| e.div(&e.num(0.5), &e.sqrt(x)));
    check(UnOp::Rsqrt, 0.0, ALL.1, |e, x| {
        let root = e.sqrt(x);
        e.div(&e.num(-0.5), &e.mul(x, &root))
    });
    check(UnOp::Cbrt, 0.0, ALL.1, |e, x| {
        let root = x.cbrt(BITS, NEAREST);
        let below = e.mul(&e.num(3.0), &e.square(&root));
        e.recip(&below)
    });
    check(UnOp::Exp, ALL.0, ALL.1, |e, x| e.exp(x));
    check(UnOp::Log, 0.0, ALL.1, |e, x| e.recip(x));
    check(UnOp::Log2, 0.0, ALL.1, |e, x| {
        let two = e.num(2.0);
        let log = e.ln(&two);
        e.recip(&e.mul(x, &log))
    });
    check(UnOp::Log10, 0.0, ALL.1, |e, x| {
        let ten = e.num(10.0);
        let log = e.ln(&ten);
        e.recip(&e.mul(x, &log))
    });
    check(UnOp::Log1p, -1.0, ALL.1, |e, x| e.recip(&e.add(&e.num(1.0), x)));
}

#[test]
fn trigonometry() {
    // Larger arguments are as good as the sine and cosine of the platform.
    check(UnOp::Sin, -1e6, 1e6, |e, x| e.cos(x));
    check(UnOp::Cos, -1e6, 1e6, |e, x| {
        let sin = e.sin(x);
        e.mul(&e.num(-1.0), &sin)
    });
    check(UnOp::Tan, -1e6, 1e6, |e, x| {
        let cos = e.cos(x);
        e.recip(&e.square(&cos))
    });
    check(UnOp::Atan, ALL.0, ALL.1, |e, x| e.recip(&e.quadratic(1.0, x)));
    check(UnOp::Asin, -1.0, 1.0, |e, x| e.recip(&e.sqrt(&e.quadratic(-1.0, x))));
    check(UnOp::Acos, -1.0, 1.0, |e, x| e.div(&e.num(-1.0), &e.sqrt(&e.quadratic(-1.0, x))));
}

#[test]
fn trigonometry_of_half_turns() {
    // The functions themselves, and so their derivatives, multiply by a rounded π near their zeros.
    let interior = |reference: fn(&mut Exact, &BigFloat) -> BigFloat| {
        move |e: &mut Exact, x: &BigFloat| {
            let pi = e.pi();
            let turned = e.mul(x, &pi);
            let inner = reference(e, &turned);
            e.mul(&pi, &inner)
        }
    };
    check(UnOp::SinPi, -0.45, 0.45, interior(|e, x| e.cos(x)));
    check(
        UnOp::CosPi,
        -0.45,
        0.45,
        interior(|e, x| {
            let sin = e.sin(x);
            e.mul(&e.num(-1.0), &sin)
        }),
    );
    check(
        UnOp::TanPi,
        -0.45,
        0.45,
        interior(|e, x| {
            let cos = e.cos(x);
            e.recip(&e.square(&cos))
        }),
    );
    let divided = |reference: fn(&Exact, &BigFloat) -> BigFloat| {
        move |e: &mut Exact, x: &BigFloat| {
            let pi = e.pi();
            e.div(&reference(e, x), &pi)
        }
    };
    check(UnOp::AtanPi, ALL.0, ALL.1, divided(|e, x| e.recip(&e.quadratic(1.0, x))));
    check(UnOp::AsinPi, -1.0, 1.0, divided(|e, x| e.recip(&e.sqrt(&e.quadratic(-1.0, x)))));
    check(UnOp::AcosPi, -1.0, 1.0, divided(|e, x| e.div(&e.num(-1.0), &e.sqrt(&e.quadratic(-1.0, x)))));
}

#[test]
fn hyperbolic_functions() {
    check(UnOp::Sinh, -700.0, 700.0, |e, x| e.cosh(x));
    check(UnOp::Cosh, -700.0, 700.0, |e, x| e.sinh(x));
    check(UnOp::Tanh, -700.0, 700.0, |e, x| {
        let cosh = e.cosh(x);
        e.recip(&e.square(&cosh))
    });
    check(UnOp::Asinh, ALL.0, ALL.1, |e, x| e.recip(&e.sqrt(&e.quadratic(1.0, x))));
    check(UnOp::Acosh, 1.0, ALL.1, |e, x| {
        let inside = e.sub(&e.square(x), &e.num(1.0));
        e.recip(&e.sqrt(&inside))
    });
    check(UnOp::Atanh, -1.0, 1.0, |e, x| e.recip(&e.quadratic(-1.0, x)));
}

#[test]
fn error_functions() {
    fn bell(e: &mut Exact, x: &BigFloat) -> BigFloat {
        let inside = e.mul(&e.num(-1.0), &e.square(x));
        let (bell, pi) = (e.exp(&inside), e.pi());
        let scale = e.div(&e.num(2.0), &e.sqrt(&pi));
        e.mul(&scale, &bell)
    }
    check(UnOp::Erf, -30.0, 30.0, bell);
    check(UnOp::Erfc, -30.0, 30.0, |e, x| {
        let bell = bell(e, x);
        e.mul(&e.num(-1.0), &bell)
    });
}

#[test]
fn gamma_functions() {
    check(UnOp::Lgamma, 0.0, 1e15, |e, x| e.digamma(x));
    // The gamma function of the platform has errors of its own.
    let (error, at) = worst(UnOp::Gamma, 0.0, 170.0, &mut |e, x| {
        let (gamma, digamma) = (e.gamma(x), e.digamma(x));
        e.mul(&gamma, &digamma)
    });
    assert!(error <= 12.0, "gamma: {error} units at {at}");
}

#[test]
fn flat_functions_have_the_derivative_zero() {
    for op in [UnOp::Signum, UnOp::Ceil, UnOp::Floor, UnOp::Trunc, UnOp::Round] {
        check(op, ALL.0, ALL.1, |e, _| e.num(0.0));
    }
}

/// Both partial derivatives of an operation of two numbers.
fn check_two(
    op: BinOp,
    bounds: [(f64, f64); 2],
    mut reference: impl FnMut(&mut Exact, &BigFloat, &BigFloat) -> [BigFloat; 2],
) {
    let mut exact = Exact::new();
    let derivative = derivatives(&format!("{} a_in b_in", op.name()), 2);
    let (xs, ys) = (samples(bounds[0].0, bounds[0].1), samples(bounds[1].0, bounds[1].1));
    for (x, y) in xs.iter().zip(ys.iter().rev()) {
        let (point, other) = (exact.num(*x), exact.num(*y));
        let expected = reference(&mut exact, &point, &other);
        let got = derivative(&[*x, *y]);
        for (expected, got) in expected.iter().zip(got) {
            let error = error_in_ulps(&mut exact, expected, got);
            assert!(error <= FEW, "{}: {error} units at {x:e}, {y:e}: {got:e}", op.name());
        }
    }
}

#[test]
fn operations_of_two_numbers() {
    let modest = (-1e70, 1e70);
    check_two(BinOp::Add, [ALL, ALL], |e, _, _| [e.num(1.0), e.num(1.0)]);
    check_two(BinOp::Sub, [ALL, ALL], |e, _, _| [e.num(1.0), e.num(-1.0)]);
    check_two(BinOp::Mul, [ALL, ALL], |_, x, y| [y.clone(), x.clone()]);
    check_two(BinOp::Div, [modest, modest], |e, x, y| {
        let slope = e.div(x, &e.square(y));
        [e.recip(y), e.mul(&e.num(-1.0), &slope)]
    });
    check_two(BinOp::Hypot, [modest, modest], |e, x, y| {
        let r = e.sqrt(&e.add(&e.square(x), &e.square(y)));
        [e.div(x, &r), e.div(y, &r)]
    });
    check_two(BinOp::Atan2, [modest, modest], |e, y, x| {
        let square = e.add(&e.square(x), &e.square(y));
        let slope = e.div(y, &square);
        [e.div(x, &square), e.mul(&e.num(-1.0), &slope)]
    });
    check_two(BinOp::Pow, [(0.0, 50.0), (-20.0, 20.0)], |e, x, y| {
        let less = e.sub(y, &e.num(1.0));
        let power = e.pow(x, &less);
        let whole = e.pow(x, y);
        let log = e.ln(x);
        [e.mul(y, &power), e.mul(&whole, &log)]
    });
}

#[test]
fn operations_of_three_numbers() {
    for op in [TernOp::Fma, TernOp::Mad, TernOp::Lerp] {
        let derivative = derivatives(&format!("{} a_in b_in c_in", op.name()), 3);
        let expected = match op {
            TernOp::Lerp => vec![1.0 - 7.0, 7.0, 5.0 - 3.0],
            TernOp::Fma | TernOp::Mad | TernOp::MadHi => vec![5.0, 3.0, 1.0],
        };
        assert_eq!(derivative(&[3.0, 5.0, 7.0]), expected, "{}", op.name());
    }
}
