//! Passes one by one, for people who work on the compiler: any passes on any program, and what happens on the way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dagaz_core::exp::Program;
use dagaz_core::pass::{self, Pass, Step, Stop, Verified, Watch, filetest};
use dagaz_core::print::print_without_locs;
use dagaz_core::rename::renumbered;
use dagaz_core::verify::verify_at;
use dagaz_syntax::SourceMap;

use crate::compile::{Failure, Settings, lower_whole_file, on_large_stack, rejection};

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It is a program, and does not compile; or there is no such file.
    Failure(Failure),
    /// It is not Core, or not well-formed.
    IllFormed(String),
}

/// A program on its way through passes.
pub struct Subject {
    core: Program,
    sources: SourceMap,
}

impl Subject {
    /// A file with Core, or a program as the simplifier leaves it.
    pub fn read(path: &Path) -> Result<Subject, Unreadable> {
        if path.extension().is_none_or(|extension| extension != "core") {
            let lowered = lower_whole_file(path, &Settings::plain());
            let (core, sources) = lowered.map_err(Unreadable::Failure)?;
            return Ok(Subject { core, sources });
        }
        let ill_formed = |error: &dyn std::fmt::Display| {
            Unreadable::IllFormed(format!("{} is not well-formed Core: {error}", path.display()))
        };
        let text = std::fs::read_to_string(path)
            .map_err(|error| Unreadable::Failure(Failure::Unreadable { path: PathBuf::from(path), error }))?;
        let core = dagaz_core::parse::parse(&text).map_err(|error| ill_formed(&error))?;
        match verify_at(&core, filetest::stage_of(&core)).first() {
            Some(error) => Err(ill_formed(error)),
            None => Ok(Subject { core, sources: SourceMap::default() }),
        }
    }

    pub fn run(&mut self, steps: &[Step], observer: &mut Observer) -> Result<(), Failure> {
        let Subject { core, sources } = self;
        on_large_stack(|| {
            let (locs, stage) = (core.locs.clone(), filetest::stage_of(core));
            match pass::run_watched(steps, core, stage, observer) {
                Ok(_) => Ok(()),
                Err(Stop::Rejected(rejections)) => {
                    let diagnostics = rejections.iter().map(|r| rejection(r, &locs, sources)).collect();
                    Err(Failure::Rejected { sources: Box::new(sources.clone()), diagnostics })
                }
                Err(Stop::Fault(fault)) => Err(Failure::Internal(fault.to_string())),
            }
        })
    }

    /// The program as it is now, with its variables numbered in order.
    pub fn text(&self) -> String {
        print_without_locs(&renumbered(&self.core))
    }
}

/// Sees what passes do: verifies it, prints it, and counts the time.
#[derive(Default)]
pub struct Observer {
    /// The passes to print the program after.
    print_after: Vec<String>,
    /// What was printed, by pass.
    pub printed: Vec<(&'static str, String)>,
    verified: Verified,
    before: String,
    began: Option<Instant>,
    times: HashMap<&'static str, PassTime>,
}

/// How often a pass has run and has changed the program, and how long that took.
#[derive(Clone, Copy, Default)]
pub struct PassTime {
    pub runs: usize,
    pub changes: usize,
    pub time: Duration,
}

impl Observer {
    pub fn new(print_after: &[String]) -> Observer {
        Observer { print_after: print_after.to_vec(), ..Observer::default() }
    }

    /// The time of all passes, the longest first.
    pub fn times(&self) -> Vec<(&'static str, PassTime)> {
        let mut times: Vec<_> = self.times.iter().map(|(name, time)| (*name, *time)).collect();
        times.sort_by(|(a, x), (b, y)| y.time.cmp(&x.time).then(a.cmp(b)));
        times
    }
}

impl Watch for Observer {
    fn before(&mut self, pass: &'static Pass, program: &Program) {
        self.verified.before(pass, program);
        self.before = print_without_locs(&renumbered(program));
        self.began = Some(Instant::now());
    }

    fn after(&mut self, pass: &'static Pass, program: &Program, stage: pass::Stage) -> Result<(), Stop> {
        let took = self.began.take().map_or(Duration::ZERO, |began| began.elapsed());
        let entry = self.times.entry(pass.name).or_default();
        entry.runs += 1;
        entry.time += took;
        let text = print_without_locs(&renumbered(program));
        entry.changes += usize::from(text != self.before);
        if self.print_after.iter().any(|name| name == pass.name) {
            self.printed.push((pass.name, text));
        }
        self.verified.after(pass, program, stage)
    }
}
