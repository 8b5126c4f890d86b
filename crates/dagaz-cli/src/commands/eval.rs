//! `dagaz eval`: evaluate an expression.
//!
//! The expression becomes the only entry point of a program that opens the given one.

use std::path::Path;

use dagaz::Effort;
use dagaz::compile::compile_source_in;

use super::run::{execution, print_results, session};
use super::{print_warnings, stop, style};
use crate::interrupt::Interrupt;
use crate::options::EvalOptions;
use crate::{Outcome, Stop};

/// No definition that a user writes has this name.
const ENTRY: &str = "eval_result";

pub fn run(options: &EvalOptions, interrupt: &Interrupt) -> Outcome {
    let (import, directory) = match &options.file {
        Some(file) => (import_of(file)?, file.parent().unwrap_or(Path::new(""))),
        None => (String::new(), Path::new("")),
    };
    let text = format!("{import}entry {ENTRY} =\n  {}\n", options.expression);
    let program = compile_source_in("expression", &text, directory).map_err(stop)?;
    print_warnings(program.sources(), program.warnings());
    let Some(entry) = program.entry(ENTRY).cloned() else {
        return Err(Stop::Program("the expression has no value".to_owned()));
    };
    let execution = execution(&options.execution, Effort::Quick, interrupt);
    let results = session(&program, &execution).call(ENTRY, Vec::new());
    let results = results.map_err(|error| Stop::Program(error.render(style())))?;
    print_results(&entry, &results, false)
}

fn import_of(file: &Path) -> Result<String, Stop> {
    if let Err(error) = file.metadata() {
        return Err(Stop::Misuse(format!("cannot read {}: {error}", file.display())));
    }
    match file.file_name().and_then(|name| name.to_str()) {
        Some(name) => Ok(format!("open import \"{name}\" ")),
        None => Err(Stop::Misuse(format!("{} is not a program", file.display()))),
    }
}
