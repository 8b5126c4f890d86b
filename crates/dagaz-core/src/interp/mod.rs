//! The interpreter: the meaning of Core.
//!
//! Slow, simple, exact about errors. Programs are first resolved to slots (`compile`), then run one
//! statement after the other; scalar lambdas on many rows at once (`block`). Updates happen in place. Work,
//! span and memory are counted on the way.

mod arrays;
mod block;
mod bulk;
mod code;
mod compile;
mod contract;
mod entry;
mod error;
mod exec;
mod parallel;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::exp::Program;
use crate::types::FunId;
use crate::value::{Value, live, reset_peak};

use code::{Code, Slot};
pub use entry::entry_sizes;
pub use error::RuntimeError;
use error::{Fallible, internal};
use exec::Machine;
pub use exec::bare;

/// What a call cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Scalar operations and element moves.
    pub work: u64,
    /// The longest chain of them: a map takes the maximum over its iterations, a reduction, scan or histogram
    /// its operator's times the logarithm of the width.
    pub span: u64,
    /// The greatest number of elements of arrays that existed at once, beyond those that existed before the call.
    pub peak_elements: u64,
}

/// What a call may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of arrays alive at once.
    pub memory: Option<u64>,
    pub deadline: Option<Instant>,
    /// Set from elsewhere to stop the program.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Calls inside calls.
    pub depth: u32,
}

impl Limits {
    /// No deadline, 16 GiB of arrays and a recursion depth of 100,000.
    pub fn generous() -> Limits {
        Limits { memory: Some(16 << 30), deadline: None, cancel: None, depth: 100_000 }
    }
}

/// A program ready to run. Top-level constants are evaluated when a call first needs them, and kept.
pub struct Interpreter {
    program: Arc<Program>,
    code: Result<Arc<Code>, RuntimeError>,
    globals: Vec<Slot>,
    const_done: Vec<bool>,
    pub limits: Limits,
    counters: Counters,
    blockwise: bool,
}

impl Interpreter {
    /// A program with unbound variables is only reported when something is called.
    pub fn new(program: &Program) -> Interpreter {
        Interpreter::shared(Arc::new(program.clone()))
    }

    /// As [`Interpreter::new`], without a copy of the program.
    pub fn shared(program: Arc<Program>) -> Interpreter {
        let code = compile::compile(&program).map(Arc::new).map_err(|compile::Unbound(var)| {
            *internal(format!("variable {}_{} is not bound", program.vars.hint(var), var.0))
        });
        let (globals, consts) = code.as_ref().map_or((0, 0), |c| (c.globals, c.consts.len()));
        Interpreter {
            program,
            code,
            globals: vec![Slot::Empty; globals],
            const_done: vec![false; consts],
            limits: Limits::generous(),
            counters: Counters::default(),
            blockwise: true,
        }
    }

    pub fn with_limits(mut self, limits: Limits) -> Interpreter {
        self.limits = limits;
        self
    }

    /// Runs every lambda row by row. Nothing else changes, which is what tests are to see.
    #[doc(hidden)]
    pub fn row_by_row(mut self) -> Interpreter {
        self.blockwise = false;
        self
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What the last call cost, including the constants it was the first to need.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Runs a function on all of its parameters, sizes included, and gives all of its results.
    pub fn call_fun(&mut self, fun: FunId, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        let code = self.code.as_ref().map_err(Clone::clone)?.clone();
        let before = live().elements;
        reset_peak();
        let mut machine = Machine::new(&code, &mut self.globals, &self.limits, self.blockwise);
        let result = run(&mut machine, &mut self.const_done, fun, args);
        self.counters = Counters {
            work: machine.work,
            span: machine.span,
            peak_elements: u64::try_from(live().peak_elements - before).unwrap_or(0),
        };
        result.map_err(|error| *error)
    }
}

fn run(machine: &mut Machine<'_>, done: &mut [bool], fun: FunId, args: Vec<Value>) -> Fallible<Vec<Value>> {
    let code = machine.code;
    let entry = code.funs.get(fun.0 as usize).ok_or_else(|| internal("no such function"))?;
    for &index in &entry.consts {
        if !done[index] {
            machine.eval_const(&code.consts[index])?;
            done[index] = true;
        }
    }
    let args = args.into_iter().map(Slot::from).collect();
    machine.call(fun, args)?.into_iter().map(Slot::into_value).collect()
}

impl From<Value> for Slot {
    fn from(value: Value) -> Slot {
        match value {
            Value::Prim(prim) => Slot::Prim(prim),
            Value::Array(array) => Slot::Array(array),
        }
    }
}

impl Slot {
    fn into_value(self) -> Fallible<Value> {
        match self {
            Slot::Prim(prim) => Ok(Value::Prim(prim)),
            Slot::Array(array) => Ok(Value::Array(array)),
            Slot::Acc(_) => Err(internal("an accumulator escapes")),
            Slot::Empty => Err(internal("a variable is used before it is bound, or after it was consumed")),
        }
    }
}
