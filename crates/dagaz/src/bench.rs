//! How long the test cases of programs take.
//!
//! A case is called until the mean is known well enough, or until time is up; the first calls, which fill caches, do not
//! count. Times are those of the machine code alone, without the values that go in and out.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dagaz_core::value::Value;
use serde::{Deserialize, Serialize};

use crate::compile::{Settings, compile_entries, compile_file_with};
use crate::session::{Execution, Session};
use crate::testing::run;
use crate::testing::spec::{self, Case, Expectation, Input, Outcome};
use crate::{Dialect, Parameters, data};

/// The mean is known well enough if 95 % of all such runs would have given it within this share of it.
const PRECISION: f64 = 0.01;
/// At least so many calls are measured, and so many before them are not.
const LEAST_RUNS: usize = 10;
const WARM_UP: usize = 2;
/// Cases with one of these tags are not for measurements.
const EXCLUDED: [&str; 3] = ["disable", "nobench", "notest"];

/// How long and how often to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Exactly so many calls, instead of as many as it takes.
    pub runs: Option<usize>,
    /// For each case.
    pub time: Duration,
    /// Only these entry points, if there are any.
    pub entries: Vec<String>,
    /// Absolute paths of values to call these entry points with, instead of the cases of test blocks.
    pub inputs: Vec<PathBuf>,
    pub execution: Execution,
}

/// What was measured about one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measurement {
    pub program: String,
    pub entry: String,
    /// The types of the arguments, or the file they are from.
    pub input: String,
    /// Of each call.
    pub microseconds: Vec<f64>,
    /// The most bytes of arrays in use at once, those of the arguments not counted.
    pub peak_bytes: Option<u64>,
    /// Of arguments and results.
    pub bytes: u64,
    /// For the whole program, from source to machine code; little if it was compiled before.
    pub compile_seconds: f64,
}

impl Measurement {
    pub fn median(&self) -> f64 {
        let mut times = self.microseconds.clone();
        times.sort_by(f64::total_cmp);
        match (times.get(times.len() / 2), times.get(times.len().saturating_sub(1) / 2)) {
            (Some(upper), Some(lower)) => (upper + lower) / 2.0,
            _ => f64::NAN,
        }
    }

    /// Half of the 95 % confidence interval of the mean, as a share of it.
    pub fn uncertainty(&self) -> f64 {
        uncertainty(&self.microseconds)
    }

    /// The standard deviation, as a share of the mean.
    pub fn spread(&self) -> f64 {
        let (mean, variance) = moments(&self.microseconds);
        variance.sqrt() / mean
    }

    /// Arguments and results that pass through in a second.
    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.median() / 1e3
    }

    /// How much faster this is than another measurement; nothing if that may be chance.
    pub fn speedup_over(&self, before: &Measurement) -> Option<f64> {
        let ((mean, variance), (old_mean, old_variance)) =
            (moments(&self.microseconds), moments(&before.microseconds));
        let (count, old_count) = (self.microseconds.len() as f64, before.microseconds.len() as f64);
        // Welch's test. Less than one in a hundred would be so far apart by chance; and no machine repeats itself to
        // within less than the precision that we ask for.
        let error = (variance / count + old_variance / old_count).sqrt();
        let is_far = (mean - old_mean).abs() > 2.576 * error;
        let ratio = before.median() / self.median();
        (is_far && (ratio - 1.0).abs() > 2.0 * PRECISION).then_some(ratio)
    }

    /// Whether both are about the same call.
    pub fn is_of_same_case(&self, other: &Measurement) -> bool {
        (&self.program, &self.entry, &self.input) == (&other.program, &other.entry, &other.input)
    }
}

fn moments(times: &[f64]) -> (f64, f64) {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0))
}

fn uncertainty(times: &[f64]) -> f64 {
    let (mean, variance) = moments(times);
    1.96 * (variance / times.len() as f64).sqrt() / mean
}

/// Measures all cases of a program. The error says why there is nothing to measure, or which call has failed.
pub fn measure(path: &Path, plan: &Plan) -> Result<Vec<Measurement>, String> {
    let cases = cases(path, plan)?;
    let start = Instant::now();
    let settings = Settings { dialect: Dialect::Dagaz, parameters: Parameters::new() };
    // Test blocks may call other entry points to make their inputs.
    let program = match plan.inputs.is_empty() {
        true => compile_file_with(path, &settings),
        false => compile_entries(path, &plan.entries, &settings),
    };
    let program = program.map_err(|failure| failure.summary())?;
    let mut session = program.session_with(&plan.execution);
    if let Some(reason) = session.notice() {
        return Err(format!("no machine code: {reason}"));
    }
    let compile_seconds = start.elapsed().as_secs_f64();
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut all: Vec<Measurement> = Vec::new();
    for case in &cases {
        let args = run::input_values(&program, &mut session, directory, case, settings.dialect)?;
        let mut measured = Measurement {
            program: path.display().to_string(),
            entry: case.entry.clone(),
            input: describe(&args),
            microseconds: Vec::new(),
            peak_bytes: None,
            bytes: args.iter().map(bytes).sum(),
            compile_seconds,
        };
        let namesakes = all.iter().filter(|other| other.entry == measured.entry);
        let same = namesakes.filter(|other| other.input.split(" #").next() == Some(&measured.input)).count();
        if same > 0 {
            measured.input.push_str(&format!(" #{}", same + 1));
        }
        repeat(&mut session, &args, plan, &mut measured)
            .map_err(|error| format!("{}: {error}", case.entry))?;
        all.push(measured);
    }
    Ok(all)
}

/// Those of the test blocks that are wanted, or those that the plan has inputs for.
fn cases(path: &Path, plan: &Plan) -> Result<Vec<Case>, String> {
    if !plan.inputs.is_empty() {
        let call = |entry: &String, input: &PathBuf| Case {
            entry: entry.clone(),
            tags: Vec::new(),
            input: Input::File(input.clone()),
            outcome: Outcome::Success,
            tolerance: None,
        };
        let calls =
            plan.inputs.iter().flat_map(|input| plan.entries.iter().map(move |entry| call(entry, input)));
        return Ok(calls.collect());
    }
    let text = data::read_bytes(path)?;
    let spec = spec::parse(&String::from_utf8_lossy(&text))?;
    let cases = match spec.map(|spec| spec.expectation) {
        Some(Expectation::Accepted { cases, .. }) => cases,
        Some(Expectation::Rejected(_)) | None => Vec::new(),
    };
    let is_wanted = |case: &Case| {
        let is_named = plan.entries.is_empty() || plan.entries.contains(&case.entry);
        let is_excluded = case.tags.iter().any(|tag| EXCLUDED.contains(&tag.as_str()));
        let has_input = !matches!(case.input, Input::Property);
        is_named && !is_excluded && has_input && !matches!(case.outcome, Outcome::Failure(_))
    };
    let cases: Vec<Case> = cases.into_iter().filter(is_wanted).collect();
    if cases.is_empty() {
        return Err(
            "there are no inputs: test blocks (`-- ==`) with `input` or `random input` give them".to_owned()
        );
    }
    Ok(cases)
}

fn repeat(
    session: &mut Session,
    args: &[Value],
    plan: &Plan,
    measured: &mut Measurement,
) -> Result<(), String> {
    let start = Instant::now();
    let entry = measured.entry.clone();
    for warm_up in 0..WARM_UP {
        let results = session.call(&entry, args.to_vec()).map_err(|error| error.to_string())?;
        if warm_up == 0 {
            measured.bytes += results.iter().map(bytes).sum::<u64>();
        }
        if start.elapsed() > plan.time / 4 {
            break;
        }
    }
    loop {
        let count = measured.microseconds.len();
        let is_done = match plan.runs {
            Some(runs) => count >= runs.max(1),
            None => {
                count >= LEAST_RUNS && uncertainty(&measured.microseconds) <= PRECISION
                    || count >= 2 && start.elapsed() >= plan.time
            }
        };
        if is_done {
            break;
        }
        let start = Instant::now();
        session.run(&entry, args.to_vec()).map_err(|error| error.to_string())?;
        let passed = session.elapsed().unwrap_or_else(|| start.elapsed());
        measured.microseconds.push(passed.as_secs_f64() * 1e6);
    }
    measured.peak_bytes = session.peak();
    Ok(())
}

/// Shapes and types of arrays, and scalars as they are.
fn describe(values: &[Value]) -> String {
    let shown = values.iter().map(|value| match value {
        Value::Prim(_) => data::print(value),
        Value::Array(array) => {
            let sizes: String = array.shape().iter().map(|size| format!("[{size}]")).collect();
            format!("{sizes}{}", array.elem_type())
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn bytes(value: &Value) -> u64 {
    let count: usize = value.shape().iter().product();
    (count * value.elem_type().bytes()) as u64
}

/// Measurements as text, to be kept.
pub fn to_json(measurements: &[Measurement]) -> Result<String, String> {
    serde_json::to_string_pretty(measurements).map_err(|error| error.to_string())
}

/// The inverse of [`to_json`].
pub fn from_json(text: &str) -> Result<Vec<Measurement>, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
