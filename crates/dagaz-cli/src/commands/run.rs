//! `dagaz run`: call an entry point and print its results.

use std::io::Read;

use dagaz::session::show_results;
use dagaz::{Backend, Compiled, Effort, Execution, Limits, Session, Value, data};
use dagaz_core::exp::Entry;

use super::{compile_call, print_out, style, write_out};
use crate::interrupt::Interrupt;
use crate::options::{ExecutionOptions, RunOnOptions, RunOptions};
use crate::{Outcome, Stop};

pub fn run(options: &RunOnOptions, interrupt: &Interrupt) -> Outcome {
    let call_options = &options.call;
    let program = compile_call(call_options)?;
    let execution = execution(&options.execution, Effort::Full, interrupt);
    let (_, entry, results) = call(&program, call_options, &execution)?;
    match &options.picture {
        Some(path) => crate::picture::draw(path, &results).map_err(Stop::Misuse),
        None => print_results(&entry, &results, call_options.binary),
    }
}

/// Call the entry point with the values that the options name.
pub fn call(
    program: &Compiled,
    options: &RunOptions,
    execution: &Execution,
) -> Result<(Session, Entry, Vec<Value>), Stop> {
    let entry = entry_point(program, options)?;
    let args = arguments(program, &entry, options).map_err(Stop::Misuse)?;
    let mut session = session(program, execution);
    let results = session.call(&entry.name, args).map_err(|error| Stop::Program(error.render(style())))?;
    Ok((session, entry, results))
}

/// The entry point that the options name.
pub fn entry_point(program: &Compiled, options: &RunOptions) -> Result<Entry, Stop> {
    program.entry(&options.entry).cloned().ok_or_else(|| {
        let known: Vec<&str> = program.entry_points().iter().map(|e| e.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Stop::Misuse(format!("there is no entry point '{}'; there are: {known}", options.entry))
    })
}

/// What the options and an interruption mean for a program.
pub fn execution(options: &ExecutionOptions, effort: Effort, interrupt: &Interrupt) -> Execution {
    let mut limits = Limits { cancel: interrupt.flag(), ..Limits::generous() };
    if let Some(bytes) = options.memory {
        limits.memory = Some(bytes);
    }
    let threads = options.threads.map(usize::from);
    let backend = if options.sanitize { Backend::Sanitized } else { options.backend.into() };
    Execution { backend, effort, threads, profile: false, limits }
}

/// Something to call entry points with. Says so if it is not what was asked for.
pub fn session(program: &Compiled, execution: &Execution) -> Session {
    let session = program.session_with(execution);
    if let Some(reason) = session.notice() {
        eprintln!("The interpreter runs this program: {reason}");
    }
    session
}

/// Print results as text, one per line, or in the binary format.
pub fn print_results(entry: &Entry, results: &[Value], binary: bool) -> Outcome {
    if binary {
        return write_out(&data::write_binary(results));
    }
    let lines: Vec<String> = show_results(entry, results).into_iter().map(|text| text + "\n").collect();
    print_out(&lines.concat())
}

/// The values that the options name, and standard input if there are too few of them.
pub fn arguments(program: &Compiled, entry: &Entry, options: &RunOptions) -> Result<Vec<Value>, String> {
    let mut arguments = data::Arguments::new(program.core(), entry)?;
    for text in &options.args {
        arguments.read(text.as_bytes()).map_err(|error| format!("--arg '{text}': {error}"))?;
    }
    for path in &options.inputs {
        arguments.read_file(path)?;
    }
    if !arguments.is_complete() && options.inputs.is_empty() {
        let mut input = Vec::new();
        let read = std::io::stdin().read_to_end(&mut input);
        read.map_err(|error| format!("cannot read standard input: {error}"))?;
        arguments.read(&input).map_err(|error| format!("standard input: {error}"))?;
    }
    arguments.finish()
}
