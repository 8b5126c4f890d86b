//! The commands, and what they share.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use dagaz::render::{self, Style};
use dagaz::{Compiled, Diagnostic, Dialect, Failure, Settings, SourceMap};

use crate::options::RunOptions;
use crate::{Outcome, Stop};

pub mod automap;
pub mod bench;
pub mod bulk;
pub mod cache;
pub mod check;
pub mod compile;
pub mod core;
pub mod cost;
pub mod dev;
pub mod eval;
pub mod explain;
pub mod explain_error;
pub mod grad;
pub mod profile;
pub mod run;
pub mod test;

/// Colours only for a person at a terminal who did not turn them off.
pub fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && std::io::stderr().is_terminal() { Style::Coloured } else { Style::Plain }
}

/// What `--strict` means.
fn dialect(strict: bool) -> Dialect {
    if strict { Dialect::Strict } else { Dialect::Dagaz }
}

/// Compile a program and print its warnings.
fn compile(file: &Path, parameters: &[(String, i64)]) -> Result<Compiled, Stop> {
    let program = dagaz::compile_file_with(file, &settings(parameters)).map_err(stop)?;
    print_warnings(program.sources(), program.warnings());
    Ok(program)
}

/// The same, without the entry points that are not called; with all of them if there is none of that name.
fn compile_call(options: &RunOptions) -> Result<Compiled, Stop> {
    let RunOptions { file, entry, parameters, .. } = options;
    let program = dagaz::compile::compile_entry(file, entry, &settings(parameters)).map_err(stop)?;
    if program.entry(entry).is_none() {
        return compile(file, parameters);
    }
    print_warnings(program.sources(), program.warnings());
    Ok(program)
}

fn settings(parameters: &[(String, i64)]) -> Settings {
    Settings { dialect: Dialect::Dagaz, parameters: parameters.iter().cloned().collect() }
}

fn print_warnings(sources: &SourceMap, warnings: &[Diagnostic]) {
    if !warnings.is_empty() {
        eprint!("{}", render::diagnostics(style(), sources, warnings));
    }
}

/// A file that cannot be read is a wrong use; everything else is the program's (or our) fault.
fn stop(failure: Failure) -> Stop {
    match failure {
        Failure::Unreadable { .. } => Stop::Misuse(failure.summary()),
        Failure::Rejected { .. } | Failure::Internal(_) => Stop::Program(failure.render(style())),
    }
}

/// Print the results of a command.
fn print_out(text: &str) -> Outcome {
    write_out(text.as_bytes())
}

/// Write bytes to standard output. A reader that has seen enough, such as `head`, is no error.
fn write_out(bytes: &[u8]) -> Outcome {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Stop::Misuse(format!("cannot write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
