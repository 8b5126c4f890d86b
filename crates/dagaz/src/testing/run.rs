//! Run the tests of one program.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dagaz_core::value::Value;
use regex::Regex;
use serde::Serialize;

use super::spec::{Case, Expectation, Input, Outcome, Spec};
use super::{property, random};
use dagaz_types::Dialect;

use crate::compile::{self, Compiled, Failure, compile_file_with};
use crate::data::Tolerance;
use crate::engines::Backend;
use crate::render::{self, Style};
use crate::session::{Execution, Session};
use crate::{Effort, Limits, Parameters, data, laws, parse_parameter, script};

/// What tests may cost, and which are left out.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For compiling, and for every case.
    pub timeout: Duration,
    /// Bytes of arrays alive at once.
    pub memory: u64,
    /// Programs and cases with one of these tags are not run.
    pub exclude: Vec<String>,
    /// Which programs are accepted.
    pub dialect: Dialect,
    /// Whether operators must obey their laws.
    pub laws: bool,
    /// How programs run; the limits are those above.
    pub execution: Execution,
}

impl Settings {
    /// For tests that run at the same time as others: a thread for each program, which is optimised a little.
    pub fn new(backend: Backend) -> Settings {
        let execution = Execution { effort: Effort::Quick, threads: Some(1), ..Execution::on(backend) };
        Settings {
            timeout: Duration::from_secs(60),
            memory: 1 << 30,
            exclude: Vec::new(),
            dialect: Dialect::Dagaz,
            laws: false,
            execution,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Passed,
    Failed,
    /// Left out because of a tag.
    Skipped,
}

/// Whether an expected error came with the expected words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageMatch {
    Same,
    Other,
}

/// What came of the tests of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramResult {
    pub path: PathBuf,
    pub status: Status,
    /// Why it failed, in one line.
    pub reason: Option<String>,
    pub seconds: f64,
    pub cases: usize,
    pub failed_cases: usize,
    /// Only where the tests expect a certain message.
    pub message: Option<MessageMatch>,
}

impl ProgramResult {
    pub fn failed(path: &Path, reason: impl Into<String>, seconds: f64) -> ProgramResult {
        ProgramResult {
            path: path.to_path_buf(),
            status: Status::Failed,
            reason: Some(one_line(&reason.into())),
            seconds,
            cases: 0,
            failed_cases: 0,
            message: None,
        }
    }
}

/// Run all tests of a program; it is compiled once.
pub fn run_program(path: &Path, spec: &Spec, settings: &Settings) -> ProgramResult {
    let start = Instant::now();
    let mut result = ProgramResult {
        path: path.to_path_buf(),
        status: Status::Passed,
        reason: None,
        seconds: 0.0,
        cases: 0,
        failed_cases: 0,
        message: None,
    };
    if is_excluded(&spec.tags, settings) {
        result.status = Status::Skipped;
        return result;
    }
    let outcome = match &spec.expectation {
        Expectation::Rejected(pattern) => run_rejected(path, pattern, settings, &mut result),
        Expectation::Accepted { cases, warnings } => {
            run_accepted(path, cases, warnings, settings, &mut result)
        }
    };
    if let Err(reason) = outcome {
        result.status = Status::Failed;
        result.reason = Some(one_line(&reason));
    }
    result.seconds = start.elapsed().as_secs_f64();
    result
}

fn is_excluded(tags: &[String], settings: &Settings) -> bool {
    tags.iter().any(|tag| settings.exclude.contains(tag))
}

fn run_rejected(
    path: &Path,
    pattern: &str,
    settings: &Settings,
    result: &mut ProgramResult,
) -> Result<(), String> {
    let wanted = compile::Settings { dialect: settings.dialect, parameters: Parameters::new() };
    match compile_file_with(path, &wanted) {
        Ok(_) => Err(format!("accepted, but must be rejected with: {pattern}")),
        Err(Failure::Rejected { sources, diagnostics }) => {
            let text = render::diagnostics(Style::Plain, &sources, &diagnostics);
            note_message(result, pattern, &text);
            Ok(())
        }
        Err(failure @ (Failure::Unreadable { .. } | Failure::Internal(_))) => Err(failure.summary()),
    }
}

fn run_accepted(
    path: &Path,
    cases: &[Case],
    warnings: &[String],
    settings: &Settings,
    result: &mut ProgramResult,
) -> Result<(), String> {
    let wanted = compile::Settings { dialect: settings.dialect, parameters: tuning(path)? };
    let program = compile_file_with(path, &wanted).map_err(|failure| match &failure {
        Failure::Rejected { .. } => format!("rejected: {}", failure.summary()),
        Failure::Unreadable { .. } | Failure::Internal(_) => failure.summary(),
    })?;
    if !warnings.is_empty() {
        let text = render::diagnostics(Style::Plain, program.sources(), program.warnings());
        warnings.iter().for_each(|pattern| note_message(result, pattern, &text));
        check_warnings(warnings, &text)?;
    }
    let mut session = program.session_with(&settings.execution);
    if let Some(reason) = session.notice() {
        return Err(match settings.execution.backend {
            Backend::Bulk => format!("no form as operations on whole arrays: {reason}"),
            Backend::Interpreter | Backend::C | Backend::Sanitized => format!("no machine code: {reason}"),
        });
    }
    if settings.laws {
        check_laws(path, &wanted)?;
    }
    let mut first_reason = None;
    for case in cases.iter().filter(|case| !is_excluded(&case.tags, settings)) {
        result.cases += 1;
        if let Err(reason) = run_case(&program, &mut session, path, case, settings, result) {
            result.failed_cases += 1;
            first_reason.get_or_insert(format!("{}: {reason}", case.entry));
        }
    }
    first_reason.map_or(Ok(()), Err)
}

fn check_laws(path: &Path, wanted: &compile::Settings) -> Result<(), String> {
    let (sources, violations) = laws::check_file(path, wanted).map_err(|failure| failure.summary())?;
    match violations.first() {
        None => Ok(()),
        Some(first) => Err(render::diagnostics(Style::Plain, &sources, std::slice::from_ref(first))),
    }
}

/// The tuning parameters of a program, which stand beside it: lines `name=value` in `program.fut.tuning`.
fn tuning(path: &Path) -> Result<Parameters, String> {
    let mut file = path.as_os_str().to_owned();
    file.push(".tuning");
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(Parameters::new()) };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| parse_parameter(line).map_err(|error| format!("tuning file: {error}"))).collect()
}

/// Some warning is wanted, in whatever words; but a pattern that the empty text matches wants none.
fn check_warnings(patterns: &[String], text: &str) -> Result<(), String> {
    for pattern in patterns {
        match (matches(pattern, ""), text.is_empty()) {
            (true, true) | (false, false) => {}
            (true, false) => return Err(format!("there must be no warning, but there is: {text}")),
            (false, true) => return Err(format!("no warning, but there must be one: {pattern}")),
        }
    }
    Ok(())
}

fn run_case(
    program: &Compiled,
    session: &mut Session,
    path: &Path,
    case: &Case,
    settings: &Settings,
    result: &mut ProgramResult,
) -> Result<(), String> {
    let start = Instant::now();
    session.set_limits(Limits {
        memory: Some(settings.memory),
        deadline: Some(start + settings.timeout),
        ..settings.execution.limits.clone()
    });
    if let Input::Property = case.input {
        let text = data::read_bytes(path)?;
        return property::check(session, &String::from_utf8_lossy(&text), &case.entry);
    }
    let tolerance = match (settings.dialect, case.tolerance) {
        (Dialect::Strict, None) => Tolerance::OfLargest(data::TOLERANCE),
        (Dialect::Strict, Some(_)) => return Err("plain Futhark has no 'tolerance:'".to_owned()),
        (Dialect::Dagaz, stated) => Tolerance::OfEach(stated.unwrap_or(data::TOLERANCE)),
    };
    let directory = path.parent().unwrap_or(Path::new(""));
    let args = input_values(program, session, directory, case, settings.dialect)?;
    let expected = expected_values(program, directory, case, settings.dialect)?;
    let outcome = session.call(&case.entry, args);
    match (outcome, &case.outcome) {
        (Err(_), _) if start.elapsed() >= settings.timeout => {
            Err(format!("time-out after {} s", settings.timeout.as_secs_f64()))
        }
        (Err(error), Outcome::Failure(_)) if error.message().starts_with("internal error") => {
            Err(error.to_string())
        }
        (Err(error), Outcome::Failure(pattern)) => {
            note_message(result, pattern, &error.render(Style::Plain));
            Ok(())
        }
        (Err(error), Outcome::Success | Outcome::Values(_) | Outcome::File(_)) => {
            Err(format!("run-time error: {error}"))
        }
        (Ok(_), Outcome::Failure(pattern)) => Err(format!("succeeds, but must fail with: {pattern}")),
        (Ok(results), Outcome::Success | Outcome::Values(_) | Outcome::File(_)) => {
            expected.map_or(Ok(()), |expected| compare(&expected, &results, tolerance))
        }
    }
}

/// The results that a case wants, if it says which. In plain Futhark, a number without a suffix is an `i32` or `f64`.
fn expected_values(
    program: &Compiled,
    directory: &Path,
    case: &Case,
    dialect: Dialect,
) -> Result<Option<Vec<Value>>, String> {
    let entry = || program.entry(&case.entry).ok_or_else(|| format!("no entry point '{}'", case.entry));
    let in_text = |text: &str, error: String| format!("in '{}': {error}", text.trim());
    match (&case.outcome, dialect) {
        (Outcome::Success | Outcome::Failure(_), _) => Ok(None),
        (Outcome::Values(text), Dialect::Strict) => {
            let values = data::read_values(text.as_bytes());
            values.map(Some).map_err(|error| in_text(text, error.to_string()))
        }
        (Outcome::Values(text), Dialect::Dagaz) => {
            data::read_results(entry()?, text.as_bytes()).map(Some).map_err(|error| in_text(text, error))
        }
        (Outcome::File(file), Dialect::Strict) => data::read_file(&directory.join(file)).map(Some),
        (Outcome::File(file), Dialect::Dagaz) => {
            data::read_result_file(entry()?, &directory.join(file)).map(Some)
        }
    }
}

pub(crate) fn input_values(
    program: &Compiled,
    session: &mut Session,
    directory: &Path,
    case: &Case,
    dialect: Dialect,
) -> Result<Vec<Value>, String> {
    let entry = || program.entry(&case.entry).ok_or_else(|| format!("no entry point '{}'", case.entry));
    let run_script =
        |session: &mut Session, exp: &script::Exp| script::arguments(exp, session, directory, entry()?);
    match &case.input {
        Input::Values(text) => {
            let in_text = |error: String| format!("in '{}': {error}", text.trim());
            if dialect == Dialect::Strict {
                return data::read_values(text.as_bytes()).map_err(|error| in_text(error.to_string()));
            }
            data::read_arguments(program.core(), entry()?, text.as_bytes()).map_err(in_text)
        }
        Input::File(file) => {
            let mut arguments = data::Arguments::new(program.core(), entry()?)?;
            arguments.read_file(&directory.join(file))?;
            arguments.finish()
        }
        Input::Random(generators) => random::generate(generators),
        Input::Property => Err("a property has no input of its own".to_owned()),
        Input::Script(exp) => run_script(session, exp),
        Input::ScriptFile(file) => {
            let bytes = data::read_bytes(&directory.join(file))?;
            run_script(session, &script::parse(&String::from_utf8_lossy(&bytes))?)
        }
    }
}

fn compare(expected: &[Value], got: &[Value], tolerance: Tolerance) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("expected {} results, got {}", expected.len(), got.len()));
    }
    for (position, (expected, got)) in expected.iter().zip(got).enumerate() {
        if let Some(difference) = data::difference(expected, got, tolerance) {
            return Err(format!("result {position}: {difference}"));
        }
    }
    Ok(())
}

/// Remember whether a message has the expected words. One that has not outweighs those that have.
fn note_message(result: &mut ProgramResult, pattern: &str, text: &str) {
    let same = matches(pattern, text);
    result.message = match (result.message, same) {
        (None | Some(MessageMatch::Same), true) => Some(MessageMatch::Same),
        (Some(MessageMatch::Other), _) | (_, false) => Some(MessageMatch::Other),
    };
}

/// A pattern that is no regular expression is taken by its letters.
fn matches(pattern: &str, text: &str) -> bool {
    match Regex::new(&format!("(?s){pattern}")) {
        Ok(regex) => regex.is_match(text),
        Err(_) => text.contains(pattern),
    }
}

/// The words of a message in one line of bounded length.
fn one_line(text: &str) -> String {
    const MOST: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
