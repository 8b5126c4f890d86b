//! `dagaz test`: run the tests that programs contain.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dagaz::testing::run::{ProgramResult, Settings, Status};
use dagaz::testing::{report, suite};
use dagaz::{Backend, Effort, Execution};
use indicatif::{ProgressBar, ProgressStyle};

use super::print_out;
use crate::interrupt::Interrupt;
use crate::options::TestOptions;
use crate::{Outcome, Stop};

/// Programs with these tags say themselves that they are not to be run.
const ALWAYS_EXCLUDED: [&str; 2] = ["disable", "notest"];

/// Bytes of arrays that a program may have alive at once unless the user says otherwise.
const MEMORY: u64 = 4 << 30;

pub fn run(options: &TestOptions, interrupt: &Interrupt) -> Outcome {
    let timeout = Duration::try_from_secs_f64(options.timeout)
        .map_err(|error| Stop::Misuse(format!("--timeout {}: {error}", options.timeout)))?;
    let exclude = ALWAYS_EXCLUDED.iter().map(|tag| (*tag).to_owned()).chain(options.exclude.iter().cloned());
    let settings = Settings {
        timeout,
        memory: options.execution.memory.unwrap_or(MEMORY),
        exclude: exclude.collect(),
        dialect: super::dialect(options.strict),
        laws: options.laws,
        execution: execution(options, interrupt),
    };
    let mut tests = suite::find_tests(&options.paths).map_err(Stop::Misuse)?;
    if let Some(filter) = &options.filter {
        tests.retain(|(path, _)| path.display().to_string().contains(filter));
    }
    if tests.is_empty() {
        return Err(Stop::Misuse("there are no programs with tests here".to_owned()));
    }
    let workers = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));

    let bar = progress_bar(tests.len() as u64);
    let mut results = suite::run_tests(tests, &settings, workers, &|result| advance(&bar, result));
    bar.finish_and_clear();
    if interrupt.has_come() {
        return Ok(());
    }

    if let Some(base) = &options.relative_to {
        // Reasons name places in the programs, too.
        let prefix = format!("{}/", base.display().to_string().trim_end_matches('/'));
        for result in &mut results {
            result.path = shortened(&result.path, base);
            result.reason = result.reason.take().map(|reason| reason.replace(&prefix, ""));
        }
    }
    print_out(&report::text(&results))?;
    write_reports(options, &results)?;
    match results.iter().any(|result| result.status == Status::Failed) {
        true => Err(Stop::Program(String::new())),
        false => Ok(()),
    }
}

/// Several programs run at once, so that each has one thread unless the user wants more. They run on little data, and
/// are optimised a little.
fn execution(options: &TestOptions, interrupt: &Interrupt) -> Execution {
    let mut execution = super::run::execution(&options.execution, Effort::Quick, interrupt);
    execution.threads = execution.threads.or(Some(1));
    if !matches!(execution.backend, Backend::Interpreter | Backend::Bulk)
        && let Err(reason) = dagaz::c_compiler()
    {
        eprintln!("The interpreter runs the programs: {reason}");
        execution.backend = Backend::Interpreter;
    }
    execution
}

/// A bar on a terminal, and nothing anywhere else.
fn progress_bar(length: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn advance(bar: &ProgressBar, result: &ProgramResult) {
    if result.status == Status::Failed {
        bar.set_message(format!("last failure: {}", result.path.display()));
    }
    bar.inc(1);
}

fn shortened(path: &Path, base: &Path) -> PathBuf {
    path.strip_prefix(base).map_or_else(|_| path.to_path_buf(), Path::to_path_buf)
}

fn write_reports(options: &TestOptions, results: &[ProgramResult]) -> Outcome {
    if let Some(path) = &options.json {
        let text =
            report::json(results).map_err(|error| Stop::Misuse(format!("cannot write JSON: {error}")))?;
        write(path, &text)?;
    }
    if let Some(path) = &options.report {
        write(path, &report::markdown("Conformance", results))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text)
        .map_err(|error| Stop::Misuse(format!("cannot write {}: {error}", path.display())))
}
