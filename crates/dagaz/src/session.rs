//! Calls of entry points, on the reference interpreter or as machine code.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dagaz_core::argument::Argument;
use dagaz_core::engine::{Effort, Engine, Making};
use dagaz_core::exp::{Entry, EntryType, Loc, Program};
use dagaz_core::formats::literal;
use dagaz_core::interp::{Counters, Limits, RuntimeError};
use dagaz_core::value::Value;
use dagaz_syntax::SourceMap;

use crate::engines::{self, Backend};
use crate::render::{self, Style};

/// A program that is being used. Top-level constants are evaluated once and kept between calls.
pub struct Session {
    core: Arc<Program>,
    sources: Arc<SourceMap>,
    engine: Box<dyn Engine>,
    notice: Option<String>,
}

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Execution {
    pub backend: Backend,
    /// How well machine code is optimised.
    pub effort: Effort,
    /// How many threads machine code runs on; as many as the machine has if not given. Results do not depend on it.
    pub threads: Option<usize>,
    /// Whether machine code counts the time of its statements.
    pub profile: bool,
    /// For every call; `cancel` also stops the C compiler.
    pub limits: Limits,
}

impl Execution {
    /// As fast as can be, with generous limits.
    pub fn on(backend: Backend) -> Execution {
        Execution { backend, effort: Effort::Full, threads: None, profile: false, limits: Limits::generous() }
    }
}

/// Why a call did not end with a result.
#[derive(Debug)]
pub struct RunError {
    error: RuntimeError,
    core: Arc<Program>,
    sources: Arc<SourceMap>,
}

impl Session {
    pub(crate) fn new(core: Arc<Program>, sources: Arc<SourceMap>, execution: &Execution) -> Session {
        let cancel = execution.limits.cancel.clone();
        let making = Making { effort: execution.effort, profile: execution.profile, cancel };
        let (engine, notice) = engines::engine(execution.backend, &core, &making);
        let mut session = Session { core, sources, engine, notice };
        session.set_limits(execution.limits.clone());
        if let Some(count) = execution.threads {
            session.set_threads(count);
        }
        session
    }

    /// Why the interpreter runs the program although machine code was asked for.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// Bound the time and memory of the calls that follow.
    pub fn set_limits(&mut self, limits: Limits) {
        self.engine.set_limits(limits);
    }

    /// How many threads machine code runs on, instead of as many as the machine has. Results do not depend on it.
    pub fn set_threads(&mut self, count: usize) {
        self.engine.set_threads(count);
    }

    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.core.entries.iter().find(|entry| entry.name == name)
    }

    /// Call an entry point. A parameter that is a tuple or a record takes its components one after the other,
    /// and results come in the same way.
    pub fn call(&mut self, entry: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
        self.call_with(entry, args.into_iter().map(Argument::from).collect())
    }

    /// The same, where arrays may stay the caller's.
    pub fn call_with(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<Vec<Value>, RunError> {
        self.engine.call(entry, args).map_err(|error| self.run_error(error))
    }

    /// The same, for what a call takes: nobody reads the results.
    pub fn run(&mut self, entry: &str, args: Vec<Value>) -> Result<(), RunError> {
        self.engine
            .run(entry, args.into_iter().map(Argument::from).collect())
            .map_err(|error| self.run_error(error))
    }

    fn run_error(&self, error: RuntimeError) -> RunError {
        RunError { error, core: self.core.clone(), sources: self.sources.clone() }
    }

    /// How long the last call took in machine code, without the values that went in and out.
    pub fn elapsed(&self) -> Option<Duration> {
        self.engine.measured().elapsed
    }

    /// The most bytes of arrays that machine code had in use at once, arguments not counted.
    pub fn peak(&self) -> Option<u64> {
        self.engine.measured().peak
    }

    /// Where the time of all calls went, if machine code was told to count it: places, nanoseconds, and how often.
    pub fn profile(&self) -> Vec<(Loc, u64, u64)> {
        self.engine.profile()
    }

    /// What the last call cost; nothing is counted in machine code.
    pub fn counters(&self) -> Counters {
        self.engine.measured().counters.unwrap_or_default()
    }
}

impl RunError {
    /// The sentence alone.
    pub fn message(&self) -> &str {
        &self.error.message
    }

    /// The message with the source line and the calls that led there.
    pub fn render(&self, style: Style) -> String {
        render::runtime_error(style, &self.sources, &self.core, &self.error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.error.render(&self.core))
    }
}

impl std::error::Error for RunError {}

/// The results of a call as text: one literal of the language per result of the entry point.
pub fn show_results(entry: &Entry, values: &[Value]) -> Vec<String> {
    let mut rest = values;
    entry.results.iter().map(|ty| show(ty, &mut rest)).collect()
}

/// Arguments of a call as text, in the same way.
pub(crate) fn show_arguments(entry: &Entry, values: &[Value]) -> Vec<String> {
    let mut rest = values;
    entry.params.iter().map(|param| show(&param.ty, &mut rest)).collect()
}

fn show(ty: &EntryType, values: &mut &[Value]) -> String {
    let all = *values;
    let (mine, rest) = all.split_at(ty.arity().min(all.len()));
    *values = rest;
    literal::print(ty, mine)
}
