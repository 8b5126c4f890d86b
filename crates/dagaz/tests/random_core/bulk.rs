//! Random programs of Core as bulk operations: before and after the passes, interpreted as they are and as Core again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use dagaz_bulk::term::Program as Bulk;
use dagaz_core::engine::Engine;
use dagaz_core::exp::Program;
use dagaz_core::interp::Interpreter;
use dagaz_core::pass::{self, Stage, Step};
use dagaz_core::print::print;
use dagaz_optimise::pipelines::{BEFORE_DERIVATIVES, CLEAN_UP, FOR_CPU};

use super::dice::Dice;
use super::{Outcome, SIZES, arguments, generate, is_limit, limits, same, show, shrink};

/// What became of the programs.
#[derive(Clone, Default, Debug)]
pub struct Compared {
    pub transformed: usize,
    pub results: usize,
    /// Calls that need more memory when all iterations of a map run at once, or take too long.
    pub left_out: usize,
    /// Why the others have no bulk form, and how many there are of each kind.
    pub reasons: BTreeMap<String, usize>,
}

/// Compares the programs of some seeds, or shows one for which something differs.
pub fn compare(seeds: Range<u64>) -> Result<Compared, String> {
    let mut compared = Compared::default();
    for seed in seeds {
        let program = generate::program(std::iter::once(seed));
        if compare_program(&program, seed, &mut compared).is_err() {
            let fails = |program: &Program| compare_program(program, seed, &mut Compared::default()).is_err();
            let small = shrink::shrink(program, fails);
            let why = compare_program(&small, seed, &mut Compared::default()).err().unwrap_or_default();
            return Err(format!("seed {seed}: {why}\n{}", print(&small)));
        }
    }
    Ok(compared)
}

fn compare_program(program: &Program, seed: u64, compared: &mut Compared) -> Result<(), String> {
    compare_form(program, program, seed, compared)?;
    let mut optimised = program.clone();
    pass::run(&[Step::All(BEFORE_DERIVATIVES), Step::All(FOR_CPU)], &mut optimised, Stage::VALUES)
        .map_err(|stop| stop.to_string())?;
    compare_form(program, &optimised, seed, compared)
}

/// `program` is what `reference` was made into.
fn compare_form(
    reference: &Program,
    program: &Program,
    seed: u64,
    compared: &mut Compared,
) -> Result<(), String> {
    let bulk = match dagaz_bulk::transform::transform(program) {
        Ok(bulk) => bulk,
        Err(unsupported) => {
            *compared.reasons.entry(unsupported.reason).or_default() += 1;
            return Ok(());
        }
    };
    compared.transformed += 1;
    run(reference, &bulk, seed, compared)?;
    run(reference, &dagaz_bulk::simplify::simplify(bulk), seed, compared)
}

fn run(reference: &Program, bulk: &Bulk, seed: u64, compared: &mut Compared) -> Result<(), String> {
    let bulk = read_back(bulk)?;
    let mut again = Interpreter::new(&core_again(&bulk)?);
    let mut plain = Interpreter::new(reference);
    let mut whole = dagaz_bulk::interp::Interpreter::new(Arc::new(bulk.clone()));
    for sizes in SIZES {
        let args = arguments(&mut Dice::new(!seed), sizes);
        plain.limits = limits(2);
        let expected = plain.call_entry("main0", args.clone()).map_err(|error| error.message);
        let is_wrong = |error: &String| is_limit(error) || error.starts_with("internal error");
        if expected.as_ref().is_err_and(is_wrong) {
            continue;
        }
        whole.set_limits(limits(2));
        let got = whole.call_entry("main0", args.clone()).map_err(|error| error.message);
        if got.as_ref().is_err_and(|error| is_limit(error)) {
            compared.left_out += 1;
            continue;
        }
        let shown = |why: String| {
            format!("n = {}, m = {}: {why}\n{}", sizes.0, sizes.1, dagaz_bulk::print::print(&bulk))
        };
        check("the program of bulk operations", &expected, &got).map_err(shown)?;
        compared.results += 1;
        again.limits = limits(10);
        let got = again.call_entry("main0", args).map_err(|error| error.message);
        if !got.as_ref().is_err_and(|error| is_limit(error)) {
            check("the same as Core again", &expected, &got).map_err(shown)?;
        }
    }
    Ok(())
}

/// Results are equal to the bit, and messages to the letter.
fn check(what: &str, expected: &Outcome, got: &Outcome) -> Result<(), String> {
    let agree = match (expected, got) {
        (Err(expected), Err(got)) => expected == got,
        _ => same(expected, got),
    };
    if agree { Ok(()) } else { Err(format!("{what} gives\n{}, not\n{}", show(got), show(expected))) }
}

/// The program, verified, as its text says.
fn read_back(bulk: &Bulk) -> Result<Bulk, String> {
    let text = dagaz_bulk::print::print(bulk);
    if let Some(error) = dagaz_bulk::verify::verify(bulk).first() {
        return Err(format!("a wrong program of bulk operations: {error}\n{text}"));
    }
    let read = dagaz_bulk::parse::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    if dagaz_bulk::print::print(&read) != text {
        return Err(format!("the text is read as another program:\n{text}"));
    }
    Ok(read)
}

/// The program as Core, verified, with the copies that updates need.
fn core_again(bulk: &Bulk) -> Result<Program, String> {
    let mut core = dagaz_bulk::to_core::to_core(bulk);
    if let Some(error) = dagaz_core::verify::verify_at(&core, Stage::VALUES).first() {
        return Err(format!("wrong Core comes back: {error}\n{}", print(&core)));
    }
    pass::run(&[Step::All(CLEAN_UP)], &mut core, Stage::VALUES).map_err(|stop| stop.to_string())?;
    Ok(core)
}
