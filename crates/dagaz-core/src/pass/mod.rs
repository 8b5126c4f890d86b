//! Passes as data, and pipelines as lists of them.
//!
//! A [`Pass`] is a function on a program with a name, a sentence, and the [`Stage`]s that it expects and leaves. A pipeline is a
//! list of [`Step`]s, which reads as a table of contents:
//!
//! ```text
//! const CLEAN_UP: &[Step] = &[Step::Pass(&DCE), Step::Pass(&INSERT_COPIES)];
//! ```
//!
//! [`run`] runs a pipeline; who wants to know what happens on the way gives a [`Watch`] to [`run_watched`]. In debug builds, and so in all tests,
//! the verifier looks at the program after every pass ([`Verified`]), and a fault names the pass.

pub mod filetest;
mod watch;

use std::fmt;

use crate::exp::{Loc, Program};
use crate::verify::{VerifyError, verify_at};

pub use watch::{Unwatched, Verified, Watch};

/// What holds of a program between two passes, and so what passes may rely on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stage {
    pub forms: Forms,
    pub arrays: Arrays,
}

/// The derivative forms `jvp`, `vjp`, `with_vjp`, `transpose` and `detach`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Forms {
    MayOccur,
    /// Derivatives have been taken.
    AreGone,
}

/// What an array is after an update in place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Arrays {
    /// A plain value, which may still be used, as if every update were of a copy.
    AreValues,
    /// Consumed: nothing uses it, nor what may share its elements.
    AreConsumed,
}

impl Stage {
    /// Fresh from the simplifier.
    pub const WITH_FORMS: Stage = Stage { forms: Forms::MayOccur, arrays: Arrays::AreValues };
    /// Between derivatives and the last pass.
    pub const VALUES: Stage = Stage { forms: Forms::AreGone, arrays: Arrays::AreValues };
    /// What engines run.
    pub const CONSUMING: Stage = Stage { forms: Forms::AreGone, arrays: Arrays::AreConsumed };

    /// Whether all that the other stage promises holds.
    pub fn has(self, wanted: Stage) -> bool {
        self.forms >= wanted.forms && self.arrays >= wanted.arrays
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forms = match self.forms {
            Forms::MayOccur => "derivative forms",
            Forms::AreGone => "no forms",
        };
        let arrays = match self.arrays {
            Arrays::AreValues => "arrays as values",
            Arrays::AreConsumed => "arrays consumed",
        };
        write!(f, "{forms}, {arrays}")
    }
}

/// The stage after a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaves {
    /// Arrays are values, and forms are where they were: what most passes leave.
    Values,
    /// Arrays are values, and forms are gone.
    NoForms,
    /// What is consumed is not used again; forms are where they were.
    Consumed,
}

impl Leaves {
    /// The stage that follows the given one.
    pub fn after(self, found: Stage) -> Stage {
        match self {
            Leaves::Values => Stage { arrays: Arrays::AreValues, ..found },
            Leaves::NoForms => Stage { forms: Forms::AreGone, arrays: Arrays::AreValues },
            Leaves::Consumed => Stage { arrays: Arrays::AreConsumed, ..found },
        }
    }
}

/// A function on programs, and what is to be known about it.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What it is called in pipelines, reports and on the command line.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    pub run: Run,
    /// The least that must hold before it.
    pub expects: Stage,
    pub leaves: Leaves,
}

impl Pass {
    /// A pass between derivatives and copies that does not tell whether it has changed anything.
    pub const fn always(name: &'static str, about: &'static str, run: fn(&mut Program)) -> Pass {
        Pass { name, about, run: Run::Always(run), expects: Stage::VALUES, leaves: Leaves::Values }
    }

    /// As [`Pass::always`], for one that tells it.
    pub const fn reporting(name: &'static str, about: &'static str, run: fn(&mut Program) -> bool) -> Pass {
        Pass { name, about, run: Run::Reporting(run), expects: Stage::VALUES, leaves: Leaves::Values }
    }

    /// The pass, which knows derivative forms.
    pub const fn before_derivatives(self) -> Pass {
        Pass { expects: Stage::WITH_FORMS, ..self }
    }

    pub const fn leaving(self, leaves: Leaves) -> Pass {
        Pass { leaves, ..self }
    }
}

/// The function of a pass.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// It does not tell whether it has changed anything, and no step waits for that.
    Always(fn(&mut Program)),
    /// It tells whether there is something for passes after it.
    Reporting(fn(&mut Program) -> bool),
    /// It may find out that a program asks for what there is not.
    Rejecting(fn(&mut Program) -> Result<(), Vec<Rejection>>),
}

/// Why a program cannot be compiled any further, though the checker has accepted it.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The code of the diagnostic.
    pub code: &'static str,
    pub message: String,
    pub loc: Loc,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rejection {}

/// An entry of a pipeline.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Pass(&'static Pass),
    /// The steps of another pipeline.
    All(&'static [Step]),
    /// The second steps, if the first ones report a change.
    IfChanged(&'static [Step], &'static [Step]),
    /// The steps again until they report no change, and at most so often.
    UntilStable(usize, &'static [Step]),
}

/// Why a pipeline has ended early.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The program asks for what there is not.
    Rejected(Vec<Rejection>),
    /// The compiler is wrong.
    Fault(Box<Fault>),
}

/// A mistake of a pass, or of who called it.
#[derive(Clone, Debug)]
pub struct Fault {
    pub pass: &'static str,
    pub what: Wrong,
    /// The program as the pass found it and as it left it, printed; empty where nobody kept them.
    pub before: String,
    pub after: String,
}

#[derive(Clone, Debug)]
pub enum Wrong {
    /// What the pass has left does not verify.
    Verifier(Vec<VerifyError>),
    /// The pass was called at a stage at which it must not be.
    Stage { found: Stage, expected: Stage },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Wrong::Verifier(errors) => {
                let count = errors.len();
                write!(f, "Core does not verify after the pass {} ({count} errors)", self.pass)?;
                errors.first().map_or(Ok(()), |first| write!(f, ": {first}"))?;
            }
            Wrong::Stage { found, expected } => {
                write!(f, "the pass {} expects {expected}, and not {found}", self.pass)?;
            }
        }
        match self.before.is_empty() && self.after.is_empty() {
            true => Ok(()),
            false => write!(f, "\nbefore:\n{}\nafter:\n{}", self.before, self.after),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Rejected(rejections) => {
                let sentences: Vec<String> = rejections.iter().map(ToString::to_string).collect();
                f.write_str(&sentences.join("; "))
            }
            Stop::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Stop {}

/// Runs steps from a stage to another one, which is the result. The verifier looks at every pass in debug builds.
pub fn run(steps: &[Step], program: &mut Program, stage: Stage) -> Result<Stage, Stop> {
    match cfg!(debug_assertions) {
        true => run_watched(steps, program, stage, &mut Verified::default()),
        false => run_watched(steps, program, stage, &mut Unwatched),
    }
}

/// Runs steps that reject nothing on a program with derivative forms, of which the verifier need not know everything.
pub fn run_on_part(steps: &[Step], program: &mut Program) {
    run_watched(steps, program, Stage::WITH_FORMS, &mut Unwatched).unwrap_or_else(|stop| panic!("{stop}"));
}

/// As [`run`], with somebody who looks at the program before and after every pass.
pub fn run_watched(
    steps: &[Step],
    program: &mut Program,
    stage: Stage,
    watch: &mut dyn Watch,
) -> Result<Stage, Stop> {
    let mut runner = Runner { program, stage, watch };
    runner.steps(steps)?;
    Ok(runner.stage)
}

struct Runner<'r> {
    program: &'r mut Program,
    stage: Stage,
    watch: &'r mut dyn Watch,
}

impl Runner<'_> {
    /// Whether one of the steps has reported a change.
    fn steps(&mut self, steps: &[Step]) -> Result<bool, Stop> {
        let mut has_changed = false;
        for step in steps {
            has_changed |= self.step(step)?;
        }
        Ok(has_changed)
    }

    fn step(&mut self, step: &Step) -> Result<bool, Stop> {
        match step {
            Step::Pass(pass) => self.pass(pass),
            Step::All(steps) => self.steps(steps),
            Step::IfChanged(steps, then) => {
                let has_changed = self.steps(steps)?;
                if has_changed {
                    self.steps(then)?;
                }
                Ok(has_changed)
            }
            Step::UntilStable(at_most, steps) => {
                for round in 0..*at_most {
                    if !self.steps(steps)? {
                        return Ok(round > 0);
                    }
                }
                Ok(true)
            }
        }
    }

    fn pass(&mut self, pass: &'static Pass) -> Result<bool, Stop> {
        if !self.stage.has(pass.expects) {
            let what = Wrong::Stage { found: self.stage, expected: pass.expects };
            let (before, after) = (String::new(), String::new());
            return Err(Stop::Fault(Box::new(Fault { pass: pass.name, what, before, after })));
        }
        self.watch.before(pass, self.program);
        let has_changed = match pass.run {
            Run::Always(run) => {
                run(self.program);
                false
            }
            Run::Reporting(run) => run(self.program),
            Run::Rejecting(run) => {
                run(self.program).map_err(Stop::Rejected)?;
                false
            }
        };
        self.stage = pass.leaves.after(self.stage);
        self.watch.after(pass, self.program, self.stage)?;
        Ok(has_changed)
    }
}

/// All passes of a pipeline, each once, in the order in which they are named first.
pub fn passes_of(steps: &[Step]) -> Vec<&'static Pass> {
    let mut found: Vec<&'static Pass> = Vec::new();
    collect(steps, &mut found);
    found
}

fn collect(steps: &[Step], found: &mut Vec<&'static Pass>) {
    for step in steps {
        match step {
            Step::Pass(pass) if found.iter().all(|other| other.name != pass.name) => found.push(pass),
            Step::Pass(_) => {}
            Step::All(steps) | Step::UntilStable(_, steps) => collect(steps, found),
            Step::IfChanged(steps, then) => {
                collect(steps, found);
                collect(then, found);
            }
        }
    }
}
