//! Damaged programs, and what the compiler makes of them.

#[path = "../random/dice.rs"]
mod dice;
pub mod random;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dagaz::data::read_arguments;
use dagaz::testing::spec::{self, Expectation, Input};
use dagaz::{Compiled, Failure, Limits};

/// How long a call of an accepted program may take before it is stopped, and how many bytes of arrays it may have.
const CALL: (Duration, u64) = (Duration::from_millis(500), 1 << 28);

/// What goes wrong with a program, unless it is rejected by a diagnostic or becomes C and runs, in time.
pub fn problem_with(text: &str, directory: &Path, limit: Duration) -> Option<String> {
    let (start, before) = (Instant::now(), busy());
    match dagaz::compile::compile_source_in("damaged.fut", text, directory) {
        Ok(compiled) => {
            if let Err(failure) = dagaz::compile::verify(compiled.core()) {
                return Some(failure.summary());
            }
            if let Err(reason) = compiled.c_library("damaged") {
                return Some(reason);
            }
            if let Some(problem) = call_entries(&compiled, text) {
                return Some(problem);
            }
        }
        Err(Failure::Internal(message)) => return Some(message),
        Err(Failure::Rejected { diagnostics, .. }) => {
            if let Some(ours) = diagnostics.iter().find(|d| d.code.starts_with("internal")) {
                return Some(ours.message.clone());
            }
        }
        Err(Failure::Unreadable { .. }) => {}
    }
    let time = busy().zip(before).map_or(start.elapsed(), |(now, before)| now - before);
    (time > limit).then(|| format!("took {:.1} s", time.as_secs_f64()))
}

/// For how long this thread has had a processor, where the system says so: other work on the machine must not count.
fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Runs the test cases of a program, whose results do not matter. What the interpreter calls internal is our mistake.
fn call_entries(compiled: &Compiled, text: &str) -> Option<String> {
    let Ok(Some(spec)) = spec::parse(text) else { return None };
    let Expectation::Accepted { cases, .. } = spec.expectation else { return None };
    let mut session = compiled.session();
    for case in cases.iter().take(2) {
        let Input::Values(text) = &case.input else { continue };
        let Some(entry) = compiled.entry(&case.entry) else { continue };
        let read = read_arguments(compiled.core(), entry, text.as_bytes());
        let Ok(values) = read else { continue };
        let deadline = Some(Instant::now() + CALL.0);
        session.set_limits(Limits { memory: Some(CALL.1), deadline, ..Limits::generous() });
        let outcome = session.call(&case.entry, values);
        if let Err(error) = outcome
            && error.message().starts_with("internal error")
        {
            return Some(error.message().to_owned());
        }
    }
    None
}

/// All programs in a folder.
pub fn find(path: &Path, files: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        entries.flatten().for_each(|entry| find(&entry.path(), files));
    } else if path.extension().is_some_and(|e| e == "fut" || e == "dz") {
        files.push(path.to_path_buf());
    }
}
