//! `dagaz bench`: how long the test cases of programs take.

use std::path::Path;
use std::time::Duration;

use dagaz::Effort;
use dagaz::bench::{Measurement, Plan, measure};

use super::print_out;
use super::run::execution;
use crate::interrupt::Interrupt;
use crate::options::BenchOptions;
use crate::{Outcome, Stop};

pub fn run(options: &BenchOptions, interrupt: &Interrupt) -> Outcome {
    let time = Duration::try_from_secs_f64(options.time)
        .map_err(|error| Stop::Misuse(format!("--time {}: {error}", options.time)))?;
    let inputs = options.inputs.iter().map(std::path::absolute).collect::<Result<_, _>>();
    let inputs = inputs.map_err(|error| Stop::Misuse(format!("cannot find the input: {error}")))?;
    let plan = Plan {
        runs: options.runs.map(usize::from),
        time,
        entries: options.entries.clone(),
        inputs,
        execution: execution(&options.execution, Effort::Full, interrupt),
    };
    let before = options.compare.as_deref().map(read).transpose()?;
    let mut all = Vec::new();
    let mut has_failed = false;
    for file in &options.files {
        match measure(file, &plan) {
            Ok(measured) => {
                print_out(&table(file, &measured, before.as_deref()))?;
                all.extend(measured);
            }
            Err(reason) => {
                eprintln!("{}: {reason}", file.display());
                has_failed = true;
            }
        }
        if interrupt.has_come() {
            return Ok(());
        }
    }
    if let Some(path) = &options.json {
        let text = dagaz::bench::to_json(&all).map_err(Stop::Misuse)?;
        std::fs::write(path, text)
            .map_err(|error| Stop::Misuse(format!("cannot write {}: {error}", path.display())))?;
    }
    if has_failed { Err(Stop::Program(String::new())) } else { Ok(()) }
}

fn read(path: &Path) -> Result<Vec<Measurement>, Stop> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::Misuse(format!("cannot read {}: {error}", path.display())))?;
    dagaz::bench::from_json(&text).map_err(|error| Stop::Misuse(format!("{}: {error}", path.display())))
}

fn table(file: &Path, measured: &[Measurement], before: Option<&[Measurement]>) -> String {
    let compiling = measured.first().map_or(0.0, |m| m.compile_seconds);
    let mut out = format!("{} (compiled in {compiling:.2} s)\n", file.display());
    let name = |m: &Measurement| format!("{} {}", m.entry, m.input);
    let width = measured.iter().map(|m| name(m).chars().count()).max().unwrap_or(0).clamp(4, 60);
    let [case, median, error, spread, runs, rate, peak] =
        ["case", "median", "±", "spread", "runs", "GB/s", "peak"];
    out.push_str(&format!(
        "  {case:<width$}  {median:>12}  {error:>7}  {spread:>7}  {runs:>6}  {rate:>7}  {peak:>9}\n"
    ));
    for m in measured {
        let (error, spread) = (100.0 * m.uncertainty(), 100.0 * m.spread());
        let peak = m
            .peak_bytes
            .map_or_else(|| "–".to_owned(), |b| format!("{:.1} MiB", b as f64 / f64::from(1 << 20)));
        let (time, runs, rate) = (duration(m.median()), m.microseconds.len(), m.gigabytes_per_second());
        out.push_str(&format!(
            "  {:<width$}  {time:>12}  {error:>5.1} %  {spread:>5.1} %  {runs:>6}  {rate:>7.2}  {peak:>9}",
            name(m)
        ));
        if let Some(before) = before {
            out.push_str(&format!("  {}", comparison(m, before)));
        }
        out.push('\n');
    }
    out
}

fn comparison(m: &Measurement, before: &[Measurement]) -> String {
    let Some(old) = before.iter().find(|old| m.is_of_same_case(old)) else { return "new".to_owned() };
    match m.speedup_over(old) {
        Some(ratio) if ratio >= 1.0 => format!("{ratio:.2} times as fast"),
        Some(ratio) => format!("{:.2} times as slow", 1.0 / ratio),
        None => "no difference".to_owned(),
    }
}

fn duration(microseconds: f64) -> String {
    match microseconds {
        t if t >= 1e6 => format!("{:.3} s", t / 1e6),
        t if t >= 1e3 => format!("{:.3} ms", t / 1e3),
        t => format!("{t:.2} µs"),
    }
}
