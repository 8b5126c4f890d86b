//! The interpreter: the meaning of the language. Slow and simple; arrays are values of Core, which share their elements until one
//! of them changes.

mod arrays;
mod folds;
mod scalars;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dagaz_core::argument::Argument;
use dagaz_core::engine::Engine;
use dagaz_core::exp::{Loc, MsgPart};
use dagaz_core::formats;
use dagaz_core::interp::{Limits, RuntimeError, bare, entry_sizes};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, FunId, VarId};
use dagaz_core::value::{Array, Value, live};

use crate::term::{Body, LoopForm, Op, Program, Stm};
use crate::visit;

pub(crate) type Fallible<T> = Result<T, Box<RuntimeError>>;

/// A program ready to run. Top-level constants are evaluated when a call first needs them, and kept.
pub struct Interpreter {
    program: Arc<Program>,
    globals: HashMap<VarId, Value>,
    limits: Limits,
}

impl Interpreter {
    pub fn new(program: Arc<Program>) -> Interpreter {
        Interpreter { program, globals: HashMap::new(), limits: Limits::generous() }
    }

    /// Runs a function on all of its parameters, sizes included, and gives all of its results.
    pub fn call_fun(&mut self, fun: FunId, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        let program = self.program.clone();
        let globals = std::mem::take(&mut self.globals);
        let mut machine = Machine { program: &program, limits: &self.limits, globals, depth: 0, ticks: 0 };
        let result = machine.constants(fun).and_then(|()| machine.call(fun, args));
        self.globals = machine.globals;
        result.map_err(|error| *error)
    }

    /// Runs an entry point, as the interpreter of Core does.
    pub fn call_entry(&mut self, name: &str, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        let program = self.program.clone();
        let Some(entry) = program.entries.iter().find(|e| e.name == name) else {
            return Err(RuntimeError::new(format!("no entry point '{name}'")));
        };
        let Some(fun) = program.fun(entry.fun) else {
            return Err(*internal("an entry point has no function"));
        };
        let args: Vec<Argument<'_>> = args.into_iter().map(Argument::from).collect();
        let sizes = entry_sizes(entry, &signature(fun), &args).map_err(RuntimeError::new)?;
        let mut all: Vec<Value> = sizes.into_iter().map(Value::Prim).collect();
        all.extend(args.into_iter().map(Argument::into_value));
        let mut results = self.call_fun(entry.fun, all)?;
        Ok(results.split_off(entry.size_results.min(results.len())))
    }
}

/// The parameters and results of a function, as those of a function of Core.
fn signature(fun: &crate::term::Fun) -> dagaz_core::exp::Fun {
    dagaz_core::exp::Fun {
        name: fun.name.clone(),
        params: fun.params.clone(),
        ret: fun.ret.clone(),
        body: dagaz_core::exp::Body::default(),
        loc: fun.loc,
    }
}

impl Engine for Interpreter {
    fn call(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<Vec<Value>, RuntimeError> {
        self.call_entry(entry, args.into_iter().map(Argument::into_value).collect())
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }
}

pub(crate) fn fault(message: impl Into<String>) -> Box<RuntimeError> {
    Box::new(RuntimeError::new(message))
}

/// Something that cannot happen to a program that the verifier accepts.
pub(crate) fn internal(message: impl std::fmt::Display) -> Box<RuntimeError> {
    fault(format!("internal error: {message}"))
}

/// The variables of one call of a function.
pub(crate) type Frame = HashMap<VarId, Value>;

pub(crate) struct Machine<'p> {
    program: &'p Program,
    limits: &'p Limits,
    globals: HashMap<VarId, Value>,
    depth: u32,
    ticks: u32,
}

/// How many statements run between two looks at the clock.
const TICKS: u32 = 64;

/// Operands.
impl Machine<'_> {
    fn value(&self, frame: &Frame, atom: Atom) -> Fallible<Value> {
        match atom {
            Atom::Const(prim) => Ok(Value::Prim(prim)),
            Atom::Var(var) => match frame.get(&var).or_else(|| self.globals.get(&var)) {
                Some(value) => Ok(value.clone()),
                None => Err(internal(format!("variable {} is not bound", self.program.vars.hint(var)))),
            },
        }
    }

    fn array(&self, frame: &Frame, var: VarId) -> Fallible<Array> {
        match self.value(frame, var.into())? {
            Value::Array(array) => Ok(array),
            Value::Prim(_) => Err(internal("an array is expected")),
        }
    }

    fn arrays(&self, frame: &Frame, vars: &[VarId]) -> Fallible<Vec<Array>> {
        vars.iter().map(|var| self.array(frame, *var)).collect()
    }

    fn i64(&self, frame: &Frame, atom: Atom) -> Fallible<i64> {
        let value = self.value(frame, atom)?;
        value.as_prim().and_then(Prim::as_i64).ok_or_else(|| internal("an integer is expected"))
    }

    fn bool(&self, frame: &Frame, atom: Atom) -> Fallible<bool> {
        let value = self.value(frame, atom)?;
        value.as_prim().and_then(Prim::as_bool).ok_or_else(|| internal("a scalar bool is expected"))
    }

    /// A size; a negative one counts as zero.
    fn size(&self, frame: &Frame, atom: Atom) -> Fallible<usize> {
        Ok(usize::try_from(self.i64(frame, atom)?).unwrap_or(0))
    }

    fn sizes(&self, frame: &Frame, atoms: &[Atom]) -> Fallible<Vec<usize>> {
        atoms.iter().map(|atom| self.size(frame, *atom)).collect()
    }

    /// Refuses memory beyond the limit. To be called before every allocation.
    fn reserve(&self, shape: &[usize], ty: PrimType) -> Fallible<usize> {
        let elements = dagaz_core::value::elements_of(shape).ok_or_else(|| fault("an array is too large"))?;
        let bytes = (elements as u64).saturating_mul(ty.bytes() as u64);
        let limit = self.limits.memory.unwrap_or(isize::MAX as u64);
        let alive = u64::try_from(live().bytes).unwrap_or(0);
        if alive.saturating_add(bytes) > limit {
            return Err(fault(format!(
                "out of memory: {elements} elements of {ty} do not fit in {limit} bytes"
            )));
        }
        Ok(elements)
    }
}

/// Bodies, statements and calls.
impl Machine<'_> {
    /// Evaluates the constants that a function needs and that were not evaluated before.
    fn constants(&mut self, fun: FunId) -> Fallible<()> {
        let program = self.program;
        let mut needed = HashSet::new();
        let mut funs = HashSet::new();
        needs_of_fun(program, fun, &mut needed, &mut funs);
        for stm in program.consts.iter().rev() {
            if stm.pat.iter().any(|p| needed.contains(&p.var)) {
                needed.extend(visit::free_vars(&stm.op));
                called(&stm.op).into_iter().for_each(|f| needs_of_fun(program, f, &mut needed, &mut funs));
            }
        }
        for stm in &program.consts {
            let is_new = stm.pat.iter().any(|p| !self.globals.contains_key(&p.var));
            if is_new && stm.pat.iter().any(|p| needed.contains(&p.var)) {
                let mut frame = Frame::new();
                self.stm(&mut frame, stm)?;
                self.globals.extend(frame);
            }
        }
        Ok(())
    }

    fn call(&mut self, fun: FunId, args: Vec<Value>) -> Fallible<Vec<Value>> {
        let callee = self.program.fun(fun).ok_or_else(|| internal("no such function"))?;
        if callee.params.len() != args.len() {
            return Err(internal(format!("{} arguments for {} parameters", args.len(), callee.params.len())));
        }
        if self.depth >= self.limits.depth {
            return Err(fault(format!("recursion too deep: {} calls", self.depth)));
        }
        self.depth += 1;
        let mut frame: Frame = callee.params.iter().map(|p| p.var).zip(args).collect();
        let results = self.body(&mut frame, &callee.body);
        self.depth -= 1;
        results
    }

    pub(crate) fn body(&mut self, frame: &mut Frame, body: &Body) -> Fallible<Vec<Value>> {
        // Deep recursion must not overflow the stack.
        stacker::maybe_grow(128 << 10, 4 << 20, || {
            body.stms.iter().try_for_each(|stm| self.stm(frame, stm))
        })?;
        body.result.iter().map(|atom| self.value(frame, *atom)).collect()
    }

    fn stm(&mut self, frame: &mut Frame, stm: &Stm) -> Fallible<()> {
        self.tick()?;
        let results = self.op(frame, &stm.op).map_err(|mut error| {
            match error.loc {
                Loc::NONE => error.loc = stm.loc,
                _ if matches!(stm.op, Op::Call { .. }) => error.stack.push(stm.loc),
                _ => {}
            }
            error
        })?;
        if results.len() != stm.pat.len() {
            return Err(internal(format!("{} results for {} variables", results.len(), stm.pat.len())));
        }
        frame.extend(stm.pat.iter().map(|p| p.var).zip(results));
        Ok(())
    }

    fn tick(&mut self) -> Fallible<()> {
        self.ticks += 1;
        if self.ticks < TICKS {
            return Ok(());
        }
        self.ticks = 0;
        if self.limits.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(fault("cancelled"));
        }
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(fault("the time limit is reached"));
        }
        Ok(())
    }

    fn op(&mut self, frame: &mut Frame, op: &Op) -> Fallible<Vec<Value>> {
        Ok(match op {
            Op::If { cond, then, otherwise } => {
                let taken = if self.bool(frame, *cond)? { then } else { otherwise };
                self.body(frame, taken)?
            }
            Op::Loop { params, form, body, .. } => {
                for (param, init) in params {
                    let value = self.value(frame, *init)?;
                    frame.insert(param.var, value);
                }
                let vars: Vec<VarId> = params.iter().map(|(p, _)| p.var).collect();
                self.run_loop(frame, &vars, form, body)?;
                vars.into_iter().map(|var| self.value(frame, var.into())).collect::<Fallible<_>>()?
            }
            Op::Call { fun, args } => {
                let args = args.iter().map(|arg| self.value(frame, *arg)).collect::<Fallible<_>>()?;
                self.call(*fun, args)?
            }
            Op::Assert { cond, message } => {
                self.assert(frame, *cond, message)?;
                Vec::new()
            }
            Op::Reduce { axis, arrays, op, neutral } => self.reduce(frame, *axis, arrays, op, neutral)?,
            Op::Scan { axis, arrays, op, neutral } => self.scan(frame, *axis, arrays, op, neutral)?,
            Op::Scatter { dests, indices, values, combine } => {
                self.scatter(frame, dests, indices, values, combine)?
            }
            _ => vec![self.array_op(frame, op)?],
        })
    }

    fn run_loop(&mut self, frame: &mut Frame, vars: &[VarId], form: &LoopForm, body: &Body) -> Fallible<()> {
        let iterate = |machine: &mut Self, frame: &mut Frame| -> Fallible<()> {
            machine.tick()?;
            let results = machine.body(frame, body)?;
            frame.extend(vars.iter().copied().zip(results));
            Ok(())
        };
        match form {
            LoopForm::For { var, ty, bound } => {
                let bound = self.i64(frame, *bound)?;
                for i in 0..bound.max(0) {
                    frame.insert(*var, Value::Prim(Prim::of_i64(*ty, i)));
                    iterate(self, frame)?;
                }
            }
            LoopForm::While { cond } => loop {
                let go = self.body(frame, cond)?;
                match go.first().and_then(Value::as_prim).and_then(Prim::as_bool) {
                    Some(true) => iterate(self, frame)?,
                    Some(false) => break,
                    None => return Err(internal("a condition is a scalar bool")),
                }
            },
        }
        Ok(())
    }

    fn assert(&mut self, frame: &Frame, cond: Atom, message: &[MsgPart]) -> Fallible<()> {
        if self.bool(frame, cond)? {
            return Ok(());
        }
        let mut text = String::new();
        for part in message {
            match part {
                MsgPart::Text(part) => text.push_str(part),
                MsgPart::Value(atom) => match self.value(frame, *atom)? {
                    Value::Prim(prim) => text.push_str(&bare(prim)),
                    array @ Value::Array(_) => text.push_str(&formats::text::print(&array)),
                },
            }
        }
        Err(fault(text))
    }
}

fn called(op: &Op) -> Vec<FunId> {
    let inner =
        visit::bodies(op).into_iter().flat_map(|body| body.stms.iter().flat_map(|stm| called(&stm.op)));
    let own = if let Op::Call { fun, .. } = op { Some(*fun) } else { None };
    inner.chain(own).collect()
}

fn needs_of_fun(program: &Program, fun: FunId, needed: &mut HashSet<VarId>, funs: &mut HashSet<FunId>) {
    let Some(found) = program.fun(fun).filter(|_| funs.insert(fun)) else { return };
    needed.extend(visit::free_vars_body(&found.body));
    for stm in &found.body.stms {
        called(&stm.op).into_iter().for_each(|callee| needs_of_fun(program, callee, needed, funs));
    }
}
