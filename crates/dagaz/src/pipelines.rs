//! From Core with derivative forms to Core that is run or read: the passes of all crates, one after the other.

use dagaz_ad::DIFFERENTIATE;
use dagaz_core::pass::Step::{self, All, Pass};
use dagaz_core::pass::{self, passes_of};
use dagaz_optimise::pipelines::{self as optimise, BEFORE_DERIVATIVES, CLEAN_UP};

/// To be run by CPUs.
pub const FOR_CPU: &[Step] = &[All(BEFORE_DERIVATIVES), Pass(&DIFFERENTIATE), All(optimise::FOR_CPU)];

/// To be read by people.
pub const FOR_PEOPLE: &[Step] = &[All(BEFORE_DERIVATIVES), Pass(&DIFFERENTIATE), All(optimise::FOR_PEOPLE)];

/// To become operations on whole arrays.
pub const FOR_WHOLE_ARRAYS: &[Step] =
    &[All(BEFORE_DERIVATIVES), Pass(&DIFFERENTIATE), All(optimise::FOR_WHOLE_ARRAYS)];

/// A pipeline that has a name.
pub struct Pipeline {
    pub name: &'static str,
    pub about: &'static str,
    pub steps: &'static [Step],
}

/// All pipelines.
pub const PIPELINES: &[Pipeline] = &[
    Pipeline { name: "clean-up", about: "programs fresh from the simplifier", steps: CLEAN_UP },
    Pipeline { name: "cpu", about: "programs that CPUs run", steps: FOR_CPU },
    Pipeline {
        name: "bulk",
        about: "programs that become operations on whole arrays",
        steps: FOR_WHOLE_ARRAYS,
    },
    Pipeline { name: "people", about: "programs that people read", steps: FOR_PEOPLE },
];

/// All passes, each once.
pub fn passes() -> Vec<&'static pass::Pass> {
    let all: Vec<Step> = PIPELINES.iter().map(|pipeline| All(pipeline.steps)).collect();
    passes_of(&all)
}
