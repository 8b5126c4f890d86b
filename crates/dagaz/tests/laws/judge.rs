//! The laws of derivatives, for one program at one point.
//!
//! The forward derivative is the limit of differences, the reverse derivative is its transpose, the linearised function
//! and its transpose are both of these once more, and second derivatives agree in every order of nesting. These laws
//! are checked with extended precision, where a difference of two values is as good as a limit and rounding
//! hides nothing. What the interpreter computes, with and without optimisation, is then compared with that.

#[path = "../extended/mod.rs"]
mod extended;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use dagaz::Failure;
use dagaz_ad::DIFFERENTIATE;
use dagaz_core::exp::Program;
use dagaz_core::interp::Interpreter;
use dagaz_core::pass::{self, Stage, Step, Verified};
use dagaz_core::value::{Elems, Value};
use dagaz_optimise::pipelines::{CLEAN_UP, FOR_CPU};
use extended::real::Real;

/// The derivatives of `f`, a function from `[4]f64` to `[m]f64`, that the laws are about.
pub const ENTRIES: &str = "
entry primal (x: [4]f64) = f x
entry fwd (x: [4]f64) (v: [4]f64) = jvp f x v
entry rev [m] (x: [4]f64) (w: [m]f64) = vjp (\\x -> f x :> [m]f64) x w
entry linear (x: [4]f64) (v: [4]f64) = (linearize f x).1 v
entry transposed [m] (x: [4]f64) (w: [m]f64) = linear_transpose (linearize (\\x -> f x :> [m]f64) x).1 w
entry fwd_rev [m] (x: [4]f64) (v: [4]f64) (w: [m]f64) = jvp (\\x -> vjp (\\x -> f x :> [m]f64) x w) x v
entry rev_fwd [m] (x: [4]f64) (v: [4]f64) (w: [m]f64) = vjp (\\x -> jvp (\\x -> f x :> [m]f64) x v) x w
entry rev_rev [m] (x: [4]f64) (v: [4]f64) (w: [m]f64) = vjp (\\x -> vjp (\\x -> f x :> [m]f64) x w) x v
";

/// How far to both sides differences look: with 31 digits, the error of the derivative is in the 20th.
const STEP: f64 = 1e-10;

/// What laws leave for rounding in extended precision.
const EXACT: f64 = 1e-13;

/// What rounding may do to a derivative that the interpreter computes.
const ROUNDED: f64 = 1e-7;

/// Where and in which direction derivatives are taken.
#[derive(Clone, Debug)]
pub struct Place {
    pub point: Vec<f64>,
    pub tangent: Vec<f64>,
}

#[derive(Debug)]
pub enum Verdict {
    Holds,
    /// The function has no derivative there, or one too large to say anything about.
    NotSmooth(String),
    /// Which law is broken.
    Broken(String),
}

/// Why a program was not judged to the end, or which law it breaks.
enum Stop {
    NotSmooth(String),
    Broken(String),
}

type Law<T = ()> = Result<T, Stop>;

fn broken<T>(message: impl Into<String>) -> Law<T> {
    Err(Stop::Broken(message.into()))
}

/// Judges a definition of `f` in the source language.
pub fn judge_source(definition: &str, place: &Place) -> Verdict {
    guarded(|| {
        let core = lower(&format!("{definition}\n{ENTRIES}")).map_err(Stop::Broken)?;
        laws(core, place)
    })
}

/// With a stack that is large enough for all passes; a panic breaks the law that there are none.
fn guarded(job: impl FnOnce() -> Law) -> Verdict {
    let result = stacker::grow(1 << 28, || catch_unwind(AssertUnwindSafe(job)));
    match result {
        Ok(Ok(())) => Verdict::Holds,
        Ok(Err(Stop::NotSmooth(why))) => Verdict::NotSmooth(why),
        Ok(Err(Stop::Broken(why))) => Verdict::Broken(why),
        Err(panic) => Verdict::Broken(format!("the compiler panics: {}", Failure::from_panic(&*panic))),
    }
}

/// A program in Core, with its derivative forms.
fn lower(text: &str) -> Result<Program, String> {
    let loaded = dagaz::load::load_source("laws.fut", text, Path::new(""));
    let mut found = loaded.diagnostics;
    let prelude = &loaded.prelude.checked;
    let checked =
        dagaz_types::check_after(prelude, &loaded.units, &loaded.sources, dagaz_types::Dialect::Dagaz);
    found.extend(checked.diagnostics);
    if let Some(error) = found.iter().find(|d| d.is_error()) {
        return Err(format!("not well-typed, {}: {error:?}", error.code));
    }
    let core = dagaz_simplify::simplify(&checked.program, &loaded.sources);
    core.map_err(|errors| format!("no Core: {errors:?}"))
}

/// A program without derivative forms, as it comes and as it is optimised.
struct Both {
    plain: Program,
    optimised: Program,
}

fn expand(core: Program) -> Law<Both> {
    verify("before derivatives", &core)?;
    let mut plain = core;
    run("no derivative", &[Step::Pass(&DIFFERENTIATE)], &mut plain, Stage::WITH_FORMS)?;
    let mut optimised = plain.clone();
    run("cleaning up", CLEAN_UP, &mut plain, Stage::VALUES)?;
    run("optimisation", FOR_CPU, &mut optimised, Stage::VALUES)?;
    Ok(Both { plain, optimised })
}

/// Runs passes, after each of which the program verifies.
fn run(what: &str, steps: &[Step], program: &mut Program, stage: Stage) -> Law {
    match pass::run_watched(steps, program, stage, &mut Verified::default()) {
        Ok(_) => Ok(()),
        Err(stop) => broken(format!("{what}: {stop}")),
    }
}

fn verify(stage: &str, program: &Program) -> Law {
    match dagaz_core::verify::verify(program).first() {
        None => Ok(()),
        Some(error) => broken(format!("{stage}, Core does not verify: {error}")),
    }
}

fn reals(numbers: &[f64]) -> Vec<Real> {
    numbers.iter().map(|x| Real::new(*x)).collect()
}

fn dot(x: &[Real], y: &[Real]) -> Real {
    x.iter().zip(y).fold(Real::ZERO, |sum, (a, b)| sum + *a * *b)
}

/// The magnitude that errors are compared with.
fn scale(numbers: &[Real]) -> f64 {
    numbers.iter().fold(1.0, |largest, x| largest.max(x.high.abs()))
}

fn close(law: &str, x: &[Real], y: &[Real], tolerance: f64) -> Law {
    let scale = scale(x).max(scale(y));
    let near = |(a, b): (&Real, &Real)| (*a - *b).abs().high <= tolerance * scale;
    if x.len() == y.len() && x.iter().zip(y).all(near) {
        return Ok(());
    }
    let shown = |numbers: &[Real]| numbers.iter().map(|x| x.high).collect::<Vec<_>>();
    broken(format!("{law}: {:?} and {:?}", shown(x), shown(y)))
}

struct Judge {
    both: Both,
    point: Vec<Real>,
    tangent: Vec<Real>,
}

impl Judge {
    fn exact(&self, entry: &str, args: &[&[Real]]) -> Law<Vec<Real>> {
        exact_in(&self.both.optimised, entry, args)
    }

    fn moved(&self, by: f64) -> Vec<Real> {
        let step = Real::new(by);
        self.point.iter().zip(&self.tangent).map(|(x, v)| *x + step * *v).collect()
    }

    /// The derivative of an entry point along the tangent, by differences of values before optimisation.
    fn differences(&self, entry: &str, rest: &[&[Real]]) -> Law<Vec<Real>> {
        let at = |point: &[Real]| {
            let args: Vec<&[Real]> = std::iter::once(point).chain(rest.iter().copied()).collect();
            exact_in(&self.both.plain, entry, &args)
        };
        let (down, here, up) = (at(&self.moved(-STEP))?, at(&self.point)?, at(&self.moved(STEP))?);
        let slope = |a: &[Real], b: &[Real], step: f64| -> Vec<Real> {
            a.iter().zip(b).map(|(a, b)| (*b - *a) / Real::new(step)).collect()
        };
        let (left, right) = (slope(&down, &here, STEP), slope(&here, &up, STEP));
        let steep = here.iter().chain(&left).chain(&right).any(|x| !x.is_finite() || x.high.abs() > 1e5);
        if steep || close("", &left, &right, 1e-4).is_err() {
            let shown: Vec<f64> = left.iter().map(|x| x.high).collect();
            return Err(Stop::NotSmooth(format!("{entry} is not smooth: {shown:?}")));
        }
        Ok(slope(&down, &up, 2.0 * STEP))
    }

    /// The interpreter agrees with extended precision.
    fn rounded(&self, entry: &str, args: &[&[Real]]) -> Law {
        let exact = self.exact(entry, args)?;
        for (name, program) in [("plain", &self.both.plain), ("optimised", &self.both.optimised)] {
            let values = args.iter().map(|arg| vector(arg)).collect();
            let results = match Interpreter::new(program).call_entry(entry, values) {
                Ok(results) => results,
                Err(error) => return broken(format!("{name} {entry} fails: {}", error.message)),
            };
            close(
                &format!("{name} {entry} on the interpreter"),
                &reals(&numbers(&results[0])),
                &exact,
                ROUNDED,
            )?;
        }
        Ok(())
    }
}

fn exact_in(program: &Program, entry: &str, args: &[&[Real]]) -> Law<Vec<Real>> {
    let args: Vec<Vec<Real>> = args.iter().map(|arg| arg.to_vec()).collect();
    match extended::call(program, entry, &args) {
        Ok(mut results) => Ok(results.swap_remove(0)),
        Err(error) => broken(format!("{entry} in extended precision: {error}")),
    }
}

fn vector(numbers: &[Real]) -> Value {
    Value::vector(Elems::F64(numbers.iter().map(|x| x.high).collect()))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(array) => array.prims().filter_map(|p| p.as_f64()).collect(),
        Value::Prim(prim) => prim.as_f64().into_iter().collect(),
    }
}

fn laws(core: Program, place: &Place) -> Law {
    let both = expand(core)?;
    let judge = Judge { both, point: reals(&place.point), tangent: reals(&place.tangent) };
    let (x, v) = (&judge.point[..], &judge.tangent[..]);
    let differences = judge.differences("primal", &[])?;
    let w: Vec<Real> = (0..differences.len()).map(|i| Real::new(0.4 + 0.3 * (i % 7) as f64)).collect();
    let tangent = judge.exact("fwd", &[x, v])?;
    close("the limit of differences", &tangent, &differences, EXACT)?;
    let adjoint = judge.exact("rev", &[x, &w])?;
    close("the transpose", &[dot(&w, &tangent)], &[dot(&adjoint, v)], EXACT)?;
    close("the linearised function", &tangent, &judge.exact("linear", &[x, v])?, EXACT)?;
    close("the second route", &adjoint, &judge.exact("transposed", &[x, &w])?, EXACT)?;
    let differences = judge.differences("rev", &[&w])?;
    close("forward over reverse", &judge.exact("fwd_rev", &[x, v, &w])?, &differences, EXACT)?;
    close("reverse over forward", &judge.exact("rev_fwd", &[x, v, &w])?, &differences, EXACT)?;
    close("reverse over reverse", &judge.exact("rev_rev", &[x, v, &w])?, &differences, EXACT)?;
    judge.rounded("primal", &[x])?;
    for entry in ["fwd", "linear"] {
        judge.rounded(entry, &[x, v])?;
    }
    for entry in ["rev", "transposed"] {
        judge.rounded(entry, &[x, &w])?;
    }
    for entry in ["fwd_rev", "rev_fwd", "rev_rev"] {
        judge.rounded(entry, &[x, v, &w])?;
    }
    Ok(())
}
