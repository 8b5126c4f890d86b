//! `dagaz profile`: where the time of a call goes.

use std::time::Duration;

use dagaz::{Effort, remarks};

use super::run::{arguments, entry_point, execution, session};
use super::{compile_call, print_out, style};
use crate::interrupt::Interrupt;
use crate::options::ProfileOptions;
use crate::{Outcome, Stop};

pub fn run(options: &ProfileOptions, interrupt: &Interrupt) -> Outcome {
    let call_options = &options.call.call;
    let program = compile_call(call_options)?;
    let entry = entry_point(&program, call_options)?;
    let args = arguments(&program, &entry, call_options).map_err(Stop::Misuse)?;
    let mut execution = execution(&options.call.execution, Effort::Full, interrupt);
    execution.profile = true;
    let mut session = session(&program, &execution);
    if session.elapsed().is_none() {
        return Err(Stop::Misuse("only machine code is measured".to_owned()));
    }
    let mut total = Duration::ZERO;
    for _ in 0..options.runs.get() {
        let called = session.call(&entry.name, args.clone());
        called.map_err(|error| Stop::Program(error.render(style())))?;
        total += session.elapsed().unwrap_or_default();
    }
    print_out(&remarks::profile(&program, &session, total))
}
