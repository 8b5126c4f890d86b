//! `dagaz dev`: passes one by one.

use std::fmt::Write as _;

use dagaz::dev::{Observer, PassTime, Subject, Unreadable};
use dagaz::pipelines::{PIPELINES, Pipeline, passes};
use dagaz::render::message;
use dagaz_core::pass::{Step, filetest, passes_of};

use super::{print_out, stop, style};
use crate::options::DevOptions;
use crate::{Outcome, Stop};

pub fn run(options: &DevOptions) -> Outcome {
    let Some(file) = options.file.as_deref().filter(|_| !options.list) else {
        return print_out(&list());
    };
    for name in &options.print_after {
        if passes().iter().all(|pass| pass.name != name) {
            return Err(unknown(format!("there is no pass '{name}'")));
        }
    }
    let steps = steps(options)?;
    let mut subject = Subject::read(file).map_err(|unreadable| match unreadable {
        Unreadable::Failure(failure) => stop(failure),
        Unreadable::IllFormed(what) => Stop::Program(message(style(), &what)),
    })?;
    let mut observer = Observer::new(&options.print_after);
    let outcome = subject.run(&steps, &mut observer).map_err(stop);
    let mut text = String::new();
    for (name, program) in &observer.printed {
        let _ = writeln!(text, "-- after {name}\n{program}");
    }
    if options.time_passes {
        text.push_str(&times(&observer));
    } else if options.print_after.is_empty() && outcome.is_ok() {
        text.push_str(&subject.text());
    }
    print_out(&text)?;
    outcome
}

/// What to run: some passes, a pipeline, or nothing.
fn steps(options: &DevOptions) -> Result<Vec<Step>, Stop> {
    if let Some(names) = &options.passes {
        return filetest::steps(names, &passes()).map_err(unknown);
    }
    let Some(name) = &options.pipeline else { return Ok(Vec::new()) };
    let pipeline = PIPELINES.iter().find(|pipeline| pipeline.name == name);
    let steps = pipeline.map(|pipeline| vec![Step::All(pipeline.steps)]);
    steps.ok_or_else(|| unknown(format!("there is no pipeline '{name}'")))
}

fn unknown(what: String) -> Stop {
    Stop::Misuse(format!("{what}; 'dagaz dev --list' shows all passes and pipelines"))
}

/// All passes and pipelines.
fn list() -> String {
    let mut text = String::from("Passes\n");
    for pass in passes() {
        let _ = writeln!(text, "  {:32} {}", pass.name, pass.about);
    }
    text.push_str("\nPipelines\n");
    for Pipeline { name, about, steps } in PIPELINES {
        let _ = writeln!(text, "  {name:32} {about}, {} passes", passes_of(steps).len());
    }
    text
}

/// How often each pass ran and changed the program, and how long that took.
fn times(observer: &Observer) -> String {
    let mut text = String::from("      time  runs  changes  pass\n");
    for (name, PassTime { runs, changes, time }) in observer.times() {
        let _ = writeln!(text, "{:7.2} ms  {runs:4}  {changes:7}  {name}", time.as_secs_f64() * 1e3);
    }
    text
}
