//! Random programs of Core on everything that can run them: the interpreter as they are, the interpreter after all passes,
//! and machine code on several numbers of threads.

mod arrays;
pub mod bulk;
#[path = "../random/dice.rs"]
mod dice;
mod folds;
pub mod generate;
mod shrink;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dagaz_core::argument::Argument;
use dagaz_core::engine::{Effort, Engine, Making};
use dagaz_core::exp::Program;
use dagaz_core::interp::{Interpreter, Limits};
use dagaz_core::pass::{self, Stage, Step, Verified};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::print::print;
use dagaz_core::value::{Array, Elems, Value};
use dagaz_optimise::pipelines::{BEFORE_DERIVATIVES, FOR_CPU};
use dagaz_runtime::Native;

use dice::Dice;

/// Numbers of threads.
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// The sizes `n` and `m` of arguments.
const SIZES: [(usize, usize); 4] = [(0, 2), (1, 3), (6, 0), (150, 7)];

/// What is said of a program that relies on what is not so, as on an index out of bounds that has a certificate. The
/// generator makes none, but a program that is made smaller can become one.
const WRONG_PROGRAM: &str = "the program itself is wrong";

/// How many results were compared.
#[derive(Clone, Copy, Default)]
pub struct Compared {
    pub results: usize,
    /// Those that were errors, on both sides.
    pub errors: usize,
    /// Calls that took too long to be worth it.
    pub left_out: usize,
}

/// Compares the programs of some seeds, or shows one for which something differs.
pub fn compare(seeds: std::ops::Range<u64>) -> Result<Compared, String> {
    let program = generate::program(seeds.clone());
    let (i, why) = match compare_program(&program, seeds.start) {
        Ok(compared) => return Ok(compared),
        Err(fault) => fault,
    };
    let seed = seeds.start + i as u64;
    let one = generate::program(std::iter::once(seed));
    let is_wrong = |why: &str| why.contains(WRONG_PROGRAM);
    let small = shrink::shrink(one, |program| {
        compare_program(program, seed).is_err_and(|(_, found)| is_wrong(&found) == is_wrong(&why))
    });
    let why = compare_program(&small, seed).map_or_else(|(_, why)| why, |_| why);
    Err(format!("seed {seed}: {why}\n{}", print(&small)))
}

/// Compares all entry points of a program. A fault has the number of the entry point.
fn compare_program(program: &Program, first: u64) -> Result<Compared, (usize, String)> {
    verify(program, "the generator").map_err(|why| (0, why))?;
    let mut optimised = program.clone();
    let passes = [Step::All(BEFORE_DERIVATIVES), Step::All(FOR_CPU)];
    pass::run_watched(&passes, &mut optimised, Stage::VALUES, &mut Verified::default())
        .map_err(|stop| (0, stop.to_string()))?;
    let optimised = Arc::new(optimised);
    let making = Making { effort: Effort::Quick, profile: false, cancel: None };
    let mut native = Native::load(optimised.clone(), &making).map_err(|why| (0, why))?;
    let mut plain = Interpreter::new(program);
    let mut after = Interpreter::shared(optimised);
    let mut compared = Compared::default();
    for i in 0..program.entries.len() {
        for sizes in SIZES {
            let args = arguments(&mut Dice::new(!(first + i as u64)), sizes);
            let engines = (&mut plain, &mut after, &mut native);
            compare_call(engines, &format!("main{i}"), &args, &mut compared)
                .map_err(|why| (i, format!("n = {}, m = {}: {why}", sizes.0, sizes.1)))?;
        }
    }
    Ok(compared)
}

/// Compares one call. The reference is the interpreter with the program as it is.
fn compare_call(
    (plain, after, native): (&mut Interpreter, &mut Interpreter, &mut Native),
    name: &str,
    args: &[Value],
    compared: &mut Compared,
) -> Result<(), String> {
    plain.limits = limits(2);
    let expected = plain.call_entry(name, args.to_vec()).map_err(|error| error.message);
    if expected.as_ref().is_err_and(|error| is_limit(error)) {
        compared.left_out += 1;
        return Ok(());
    }
    if let Err(error) = &expected
        && error.starts_with("internal error")
    {
        return Err(format!("{WRONG_PROGRAM}: {error}"));
    }
    compared.errors += usize::from(expected.is_err());
    let check = |what: &str, got: &Outcome| match same(&expected, got) {
        true => Ok(()),
        false => Err(format!("{what} gives\n{}, not\n{}", show(got), show(&expected))),
    };
    // The expected results may be views of larger arrays, which stay alive beside what this one makes.
    after.limits = Limits { memory: Some(2 << 30), ..limits(60) };
    let got = after.call_entry(name, args.to_vec()).map_err(|error| error.message);
    check("the optimised program", &got)?;
    for threads in THREADS {
        native.set_threads(threads);
        native.set_limits(limits(60));
        let got = native
            .call(name, args.iter().cloned().map(Argument::from).collect())
            .map_err(|error| error.message);
        // Each thread has memory of its own for its iterations, so that many need more than one.
        if got.as_ref().is_err_and(|error| is_limit(error)) {
            compared.left_out += 1;
            continue;
        }
        check(&format!("machine code on {threads} threads"), &got)?;
        compared.results += 1;
    }
    Ok(())
}

type Outcome = Result<Vec<Value>, String>;

fn verify(program: &Program, what: &str) -> Result<(), String> {
    match dagaz_core::verify::verify(program).first() {
        Some(error) => Err(format!("{what} makes wrong Core: {error}")),
        None => Ok(()),
    }
}

fn limits(seconds: u64) -> Limits {
    let deadline = Some(Instant::now() + Duration::from_secs(seconds));
    Limits { memory: Some(1 << 30), deadline, ..Limits::generous() }
}

fn is_limit(error: &str) -> bool {
    error.contains("time limit") || error.starts_with("out of memory")
}

fn show(outcome: &Outcome) -> String {
    match outcome {
        Ok(values) => {
            values.iter().map(|value| start(&dagaz::data::print(value))).collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("error: {error}"),
    }
}

/// A text that is no longer than a few lines.
fn start(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// Both fail, or give the same numbers.
fn same(expected: &Outcome, got: &Outcome) -> bool {
    match (expected, got) {
        (Ok(expected), Ok(got)) => {
            let equal = |(x, y): (&Value, &Value)| dagaz::data::first_difference(x, y, 0.0).is_none();
            expected.len() == got.len() && expected.iter().zip(got).all(equal)
        }
        (Err(_), Err(got)) => !got.starts_with("internal error"),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

/// Arguments for an entry point.
fn arguments(dice: &mut Dice, (n, m): (usize, usize)) -> Vec<Value> {
    let make = |(elem, dims): (PrimType, &[usize])| {
        let shape: Vec<usize> = dims.iter().map(|i| [n, m][*i]).collect();
        let count: usize = shape.iter().product();
        let mut elems = Elems::with_capacity(elem, count);
        for _ in 0..count {
            elems.push(Prim::of_i64(elem, dice.below(41) as i64 - 20));
        }
        match Array::new(&shape, elems) {
            Some(array) if !dims.is_empty() => Value::Array(array),
            Some(_) | None => Value::Prim(Prim::of_i64(elem, dice.below(20) as i64)),
        }
    };
    generate::PARAMS.into_iter().map(make).collect()
}
