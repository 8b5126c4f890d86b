//! Random programs that try to bring a number to where an index is taken without a check.
//!
//! Indices, numbers, and arrays and functions of them go through everything that hands values on: functions, branches,
//! loops, states, records, sums, coercions, derivatives. At the end an array is read with what comes of it. The checker may
//! reject the program, or it may stop; that a certified index is outside of its array must not happen.

#[path = "../random/dice.rs"]
mod dice;
mod program;

use dagaz::{Backend, Failure, Session, Value, compile_source, data};
use dagaz_core::prim::Prim;

pub use program::program;

/// Arguments of all programs: those of the last line are not what their types say.
const ARGUMENTS: [&str; 5] = [
    "[1.0, 2.0, 3.0] [1.5, 2.5, 3.5, 4.5, 5.5] 2i64 4i64 1i64 [0i64, 2i64] [1i64, 0i64] true",
    "[1.0, 2.0, 3.0] [1.5, 2.5] 0i64 1i64 70000000000i64 [2i64, 1i64, 0i64] [4i64, 70000000000i64] false",
    "[1.0] [1.5, 2.5, 3.5, 4.5, 5.5] 0i64 4i64 -1i64 [0i64] [-3i64] true",
    "[1.0, 2.0] [1.5] 1i64 0i64 3i64 [0i64, 0i64, 1i64, 1i64] [2i64, 1i64, 0i64, 3i64] false",
    "[1.0, 2.0, 3.0] [1.5, 2.5] 0i64 1i64 0i64 [0i64, 3i64] [1i64] true",
];

/// How many programs were made, and how many of those the checker took.
#[derive(Default)]
pub struct Tally {
    pub made: usize,
    pub accepted: usize,
}

/// A program that was accepted, and what it gives for each of the arguments: a number, or a message.
pub struct Accepted {
    pub text: String,
    pub results: Vec<(&'static str, Result<f64, String>)>,
}

/// Runs the program of a seed. An error says how it came to an index that is none.
pub fn try_seed(seed: u64, tally: &mut Tally) -> Result<Option<Accepted>, String> {
    let text = program(seed);
    tally.made += 1;
    let compiled = match compile_source("smuggling.dz", &text) {
        Ok(compiled) => compiled,
        Err(failure @ (Failure::Internal(_) | Failure::Unreadable { .. })) => {
            return Err(format!("seed {seed}: {}\n{text}", failure.summary()));
        }
        Err(failure) if failure.summary().contains("bug in Dagaz") => {
            return Err(format!("seed {seed}: {}\n{text}", failure.summary()));
        }
        Err(_) => return Ok(None),
    };
    tally.accepted += 1;
    let mut session = compiled.session_on(Backend::Interpreter);
    let mut results = Vec::new();
    for (i, args) in ARGUMENTS.iter().enumerate() {
        let result = call(&mut session, args).map_err(|why| format!("seed {seed}: {why}\n{text}"))?;
        let wrong = i + 1 == ARGUMENTS.len();
        if wrong && !result.as_ref().is_err_and(|message| message.contains("is not an index")) {
            return Err(format!("seed {seed}: an argument that is no index gives {result:?}\n{text}"));
        }
        results.push((*args, result));
    }
    Ok(Some(Accepted { text, results }))
}

/// The result of a program or its message. An error is one of ours.
pub fn call(session: &mut Session, args: &str) -> Result<Result<f64, String>, String> {
    let args = data::read_values(args.as_bytes()).map_err(|error| format!("{error:?}"))?;
    match session.call("main", args).as_deref() {
        Ok([Value::Prim(Prim::F64(number))]) => Ok(Ok(*number)),
        Ok(results) => Err(format!("{} results", results.len())),
        Err(error) => {
            let message = error.message().to_owned();
            let is_ours = message.contains("certified") || message.contains("internal");
            if is_ours { Err(message) } else { Ok(Err(message)) }
        }
    }
}

/// Enough programs must be accepted, or nothing is tried.
pub fn check_share(tally: &Tally) -> Result<(), String> {
    if tally.accepted * 4 >= tally.made {
        Ok(())
    } else {
        Err(format!("only {} of {} programs were accepted", tally.accepted, tally.made))
    }
}
