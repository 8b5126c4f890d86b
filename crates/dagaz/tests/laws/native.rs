//! Machine code computes the derivatives that the interpreter computes.
//!
//! Many definitions of `f` go into one program, so that the C compiler runs once: definition 3 becomes the module `p3`,
//! and its derivatives the entry points `fwd_3`, `rev_3`, and so on.

use dagaz::session::Execution;
use dagaz::{Backend, Effort, Session, Value, compile_source};
use dagaz_core::value::Elems;

use super::judge::{ENTRIES, Place, numbers};

/// Numbers of threads.
const THREADS: [usize; 4] = [1, 2, 3, 8];

/// What another order of a sum may change, beside the largest of the results.
const ROUNDED: f64 = 1e-9;

/// Checks the values of definitions, which have names for messages, and those of their derivatives that are wanted. Gives
/// the number of results compared.
pub fn agree(definitions: &[(String, String)], wanted: &[&str], place: &Place) -> Result<usize, String> {
    let entries: Vec<(&str, &str)> = ENTRIES.lines().filter_map(entry).collect();
    let entries: Vec<(&str, &str)> =
        entries.into_iter().filter(|(name, _)| *name == "primal" || wanted.contains(name)).collect();
    let parts = definitions.iter().enumerate().map(|(i, (_, text))| part(i, text, &entries));
    let program =
        compile_source("native.fut", &parts.collect::<String>()).map_err(|failure| failure.summary())?;
    let mut native = program.session_with(&Execution { effort: Effort::Quick, ..Execution::on(Backend::C) });
    if let Some(reason) = native.notice() {
        return Err(reason.to_string());
    }
    let mut interpreter = program.session_on(Backend::Interpreter);
    let mut compared = 0;
    for (i, (name, text)) in definitions.iter().enumerate() {
        let mut weights = Vec::new();
        for (entry, rest) in &entries {
            let given = [("(x:", &place.point), ("(v:", &place.tangent), ("(w:", &weights)];
            let args: Vec<&Vec<f64>> =
                given.iter().filter(|(param, _)| rest.contains(param)).map(|(_, arg)| *arg).collect();
            let entry_i = format!("{entry}_{i}");
            let found = on_all_threads(&mut native, &entry_i, &args)
                .map_err(|why| format!("{name}, {entry}: {why}\n{text}"))?;
            let expected = call(&mut interpreter, &entry_i, &args);
            if !are_close(&found, &expected) {
                return Err(format!("{name}, {entry}: {found:?}, interpreted {expected:?}\n{text}"));
            }
            compared += 1;
            if *entry == "primal" {
                let size = expected.map_or(0, |results| results.len());
                weights = (0..size).map(|i| 0.4 + 0.3 * (i % 7) as f64).collect();
            }
        }
    }
    Ok(compared)
}

/// The name of an entry point, and what comes after it.
fn entry(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("entry ").and_then(|line| line.split_once(' '))
}

/// The module and the entry points of a definition.
fn part(i: usize, definition: &str, entries: &[(&str, &str)]) -> String {
    let mut text = format!("module p{i} = {{\n{definition}\n}}\n");
    for (name, rest) in entries {
        text += &format!("entry {name}_{i} {}\n", rest.replace(" f x", &format!(" p{i}.f x")));
    }
    text
}

/// What machine code gives, which must not depend on the number of threads, to the bit.
fn on_all_threads(
    native: &mut Session,
    entry: &str,
    args: &[&Vec<f64>],
) -> Result<Result<Vec<f64>, String>, String> {
    let mut first: Option<Result<Vec<f64>, String>> = None;
    let bits = |found: &Result<Vec<f64>, String>| -> Result<Vec<u64>, String> {
        found.clone().map(|numbers| numbers.into_iter().map(f64::to_bits).collect())
    };
    for threads in THREADS {
        native.set_threads(threads);
        let found = call(native, entry, args);
        match &first {
            Some(before) if bits(before) != bits(&found) => {
                return Err(format!("{found:?} on {threads} threads, {before:?} on one"));
            }
            Some(_) => {}
            None => first = Some(found),
        }
    }
    first.ok_or_else(|| "no number of threads".to_owned())
}

fn call(session: &mut Session, entry: &str, args: &[&Vec<f64>]) -> Result<Vec<f64>, String> {
    let args = args.iter().map(|arg| Value::vector(Elems::F64((*arg).clone()))).collect();
    let results = session.call(entry, args).map_err(|error| error.to_string())?;
    Ok(results.iter().flat_map(numbers).collect())
}

fn are_close(found: &Result<Vec<f64>, String>, expected: &Result<Vec<f64>, String>) -> bool {
    let (Ok(found), Ok(expected)) = (found, expected) else { return found == expected };
    let finite = expected.iter().filter(|x| x.is_finite());
    let scale = finite.fold(1.0f64, |largest, x| largest.max(x.abs()));
    let is_near =
        |(x, y): (&f64, &f64)| (x - y).abs() <= ROUNDED * scale || x == y || (x.is_nan() && y.is_nan());
    found.len() == expected.len() && found.iter().zip(expected).all(is_near)
}
