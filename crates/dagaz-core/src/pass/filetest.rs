//! Programs with what passes make of them, as text: how passes are tested.
//!
//! ```text
//! -- Sums of zeros are zero.
//! -- run: simplify, eliminate-dead-code
//! def f (x: f64) : (y: f64) =
//!   let (z: f64) = f64.mul x 0.0f64
//!   …
//! -- expect:
//! -- def f (x_0: f64) : (y_1: f64) =
//! --   …
//! ```
//!
//! Variables are numbered in the order in which they are bound. Instead of a program, `-- expect: unchanged` says that the
//! passes leave it as it is, and `-- expect: error: …` that one of them rejects it.

use std::fmt::Write as _;

use super::{Pass, Stage, Step, Stop, Verified, run_watched};
use crate::exp::Program;
use crate::parse::parse;
use crate::print::print_without_locs;
use crate::rename::renumbered;
use crate::verify::verify_at;

const RUN: &str = "-- run:";
const EXPECT: &str = "-- expect:";

/// The text with the expectation as it is now, or what is wrong with the test itself. `passes` are those that it can name.
pub fn answered(text: &str, passes: &[&'static Pass]) -> Result<String, String> {
    let given = text.lines().take_while(|line| !line.starts_with(EXPECT));
    let given: String = given.flat_map(|line| [line, "\n"]).collect();
    let program = parse(&given).map_err(|error| error.to_string())?;
    let run = given.lines().find_map(|line| line.strip_prefix(RUN)).ok_or("there is no line '-- run: …'")?;
    let steps = steps(run, passes)?;
    Ok(format!("{}\n{}", given.trim_end(), expectation(program, &steps)?))
}

/// The passes with these names, with commas between them.
pub fn steps(names: &str, passes: &[&'static Pass]) -> Result<Vec<Step>, String> {
    let named = |name: &str| {
        let name = name.trim();
        let found = passes.iter().find(|pass| pass.name == name);
        found.map(|pass| Step::Pass(pass)).ok_or_else(|| format!("there is no pass '{name}'"))
    };
    names.split(',').map(named).collect()
}

/// The stage that a program from a file is at: with derivative forms if it has any.
pub fn stage_of(program: &Program) -> Stage {
    match verify_at(program, Stage::VALUES).is_empty() {
        true => Stage::VALUES,
        false => Stage::WITH_FORMS,
    }
}

fn expectation(mut program: Program, steps: &[Step]) -> Result<String, String> {
    let stage = stage_of(&program);
    if let Some(error) = verify_at(&program, stage).first() {
        return Err(format!("the program does not verify: {error}"));
    }
    let before = print_without_locs(&renumbered(&program));
    match run_watched(steps, &mut program, stage, &mut Verified::default()) {
        Ok(_) => {}
        Err(Stop::Fault(fault)) => return Err(fault.to_string()),
        Err(stop) => return Ok(format!("{EXPECT} error: {stop}\n")),
    }
    let after = print_without_locs(&renumbered(&program));
    if before == after {
        return Ok(format!("{EXPECT} unchanged\n"));
    }
    let mut out = format!("{EXPECT}\n");
    for line in after.lines() {
        let _ = writeln!(out, "{}", format!("-- {line}").trim_end());
    }
    Ok(out)
}
