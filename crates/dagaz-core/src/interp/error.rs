//! Errors at run time, and how they are shown.

use std::fmt;

use crate::exp::{Loc, Program};
use crate::prim_eval::PrimError;

/// Why a program stopped. `stack` holds the places of the calls around `loc`, the innermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeError {
    pub message: String,
    pub loc: Loc,
    pub stack: Vec<Loc>,
}

/// How many inlined calls are shown for one place; a chain that never ends would be a mistake.
const MAX_CHAIN: usize = 64;

/// Boxed, to keep the results of scalar operations small.
pub(super) type Fallible<T> = Result<T, Box<RuntimeError>>;

impl RuntimeError {
    pub fn new(message: impl Into<String>) -> RuntimeError {
        RuntimeError { message: message.into(), loc: Loc::NONE, stack: Vec::new() }
    }

    /// The message, then the place and the calls that led there, one per line, by `file:line:col`.
    pub fn render(&self, program: &Program) -> String {
        let mut text = self.message.clone();
        let mut lead = "at";
        for loc in std::iter::once(&self.loc).chain(&self.stack) {
            let mut place = *loc;
            for _ in 0..MAX_CHAIN {
                let Some(source) = program.source(place) else { break };
                text.push_str(&format!("\n  {lead} {}:{}:{}", source.file, source.line, source.col));
                lead = "called from";
                let Some(outer) = source.inlined_at else { break };
                place = outer;
            }
        }
        text
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuntimeError {}

impl From<PrimError> for Box<RuntimeError> {
    fn from(error: PrimError) -> Box<RuntimeError> {
        fault(error.to_string())
    }
}

pub(super) fn fault(message: impl Into<String>) -> Box<RuntimeError> {
    Box::new(RuntimeError::new(message))
}

/// Something that cannot happen to a program that the verifier accepts.
pub(super) fn internal(message: impl fmt::Display) -> Box<RuntimeError> {
    fault(format!("internal error: {message}"))
}
