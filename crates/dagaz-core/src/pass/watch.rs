//! Those who look at a program between passes.

use super::{Fault, Pass, Stage, Stop, VerifyError, Wrong, verify_at};
use crate::exp::Program;
use crate::print::print_without_locs;

/// Somebody who sees the program before and after every pass.
pub trait Watch {
    fn before(&mut self, pass: &'static Pass, program: &Program);

    /// The stage is the one after the pass.
    fn after(&mut self, pass: &'static Pass, program: &Program, stage: Stage) -> Result<(), Stop>;
}

/// Nobody.
pub struct Unwatched;

impl Watch for Unwatched {
    fn before(&mut self, _: &'static Pass, _: &Program) {}

    fn after(&mut self, _: &'static Pass, _: &Program, _: Stage) -> Result<(), Stop> {
        Ok(())
    }
}

/// The verifier, after every pass that changes something.
#[derive(Default)]
pub struct Verified {
    /// The program before the pass, to be shown if that is wrong.
    before: Program,
    /// The stage that it verifies at, as far as that is known.
    verified: Option<Stage>,
}

impl Watch for Verified {
    fn before(&mut self, _: &'static Pass, program: &Program) {
        if self.verified.is_none() {
            self.before = program.clone();
        }
    }

    fn after(&mut self, pass: &'static Pass, program: &Program, stage: Stage) -> Result<(), Stop> {
        if self.verified == Some(stage) && *program == self.before {
            return Ok(());
        }
        let errors: Vec<VerifyError> = verify_at(program, stage);
        if errors.is_empty() {
            self.before.clone_from(program);
            self.verified = Some(stage);
            return Ok(());
        }
        let (before, after) = (print_without_locs(&self.before), print_without_locs(program));
        let fault = Fault { pass: pass.name, what: Wrong::Verifier(errors), before, after };
        Err(Stop::Fault(Box::new(fault)))
    }
}
