//! What runs programs.
//!
//! The interpreter, machine code and whatever else runs a program stand behind one trait, [`Engine`], so that all that calls programs
//! is written once. An engine is made from a program without derivative forms, at the stage
//! [`Stage::CONSUMING`](crate::pass::Stage::CONSUMING), and keeps the values of top-level constants between calls.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::argument::Argument;
use crate::exp::Loc;
use crate::interp::{Counters, Interpreter, Limits, RuntimeError};
use crate::value::Value;

/// Something that calls the entry points of one program. The same arguments give the same results on all engines, up to the order
/// in which floating-point sums are added up.
pub trait Engine: Send {
    /// Calls an entry point with as many values per parameter as [`crate::exp::EntryType::arity`] says. The results are flat in the same
    /// way.
    fn call(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<Vec<Value>, RuntimeError>;

    /// The same, for what a call takes: nobody reads the results, so that an engine need not copy them.
    fn run(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<(), RuntimeError> {
        self.call(entry, args).map(drop)
    }

    /// Bounds the calls that follow.
    fn set_limits(&mut self, limits: Limits);

    /// How many threads calls run on, where an engine has threads.
    fn set_threads(&mut self, _count: usize) {}

    /// What is known of the last call.
    fn measured(&self) -> Measured {
        Measured::default()
    }

    /// Where the time of all calls went, if the engine was told to count it: places, nanoseconds, and how often.
    fn profile(&self) -> Vec<(Loc, u64, u64)> {
        Vec::new()
    }
}

/// What an engine knows of its last call. Nothing is known of what it does not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Without the values that went in and out.
    pub elapsed: Option<Duration>,
    /// The most bytes of arrays in use at once, arguments not counted.
    pub peak: Option<u64>,
    pub counters: Option<Counters>,
}

/// How well machine code is optimised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effort {
    /// For programs that run once, on little data.
    Quick,
    Full,
}

/// How machine code is made.
#[derive(Clone, Debug)]
pub struct Making {
    pub effort: Effort,
    /// Whether the program counts the time of its statements.
    pub profile: bool,
    /// Set from elsewhere to stop the compiler.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Engine for Interpreter {
    fn call(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<Vec<Value>, RuntimeError> {
        self.call_entry(entry, args.into_iter().map(Argument::into_value).collect())
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn measured(&self) -> Measured {
        Measured { counters: Some(self.counters()), ..Measured::default() }
    }
}
