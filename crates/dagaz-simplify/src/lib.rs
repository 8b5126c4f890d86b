//! From typed Dagaz programs to Core by partial evaluation.
//!
//! The simplifier evaluates a program over static values ([`value`]), whose leaves are Core atoms, and emits Core
//! for everything that must wait for run time. Functions, modules, polymorphism, records and sums are static, so
//! that none of them is left:
//!
//! ```text
//! def compose 'a 'b 'c (f: b -> c) (g: a -> b) (x: a) = f (g x)
//! entry main (p: (f32, f32)) = compose (+1) (\(a, b) -> a * b) p
//! ==>
//! def main (a: f32, b: f32) : (f32) =
//!   let (c: f32) = a * b
//!   let (d: f32) = c + 1
//!   in (d)
//! ```
//!
//! Expects a checked program. Leaves no dead statements, and copies arrays where an update would
//! otherwise destroy something that is still used.

mod checked_indices;
mod context;
mod effects;
mod entry;
mod etype;
mod eval;
mod free;
mod index_set;
mod intrinsics;
mod loc;
mod merge;
mod modules;
mod shape;
mod specialise;
mod tabulate;
mod value;
mod walk;

use std::collections::BTreeMap;

use dagaz_core::exp::Program as CoreProgram;
use dagaz_core::pass::{self, Stage};
use dagaz_optimise::pipelines::CLEAN_UP;
use dagaz_syntax::{Diagnostic, SourceMap};
use dagaz_types::typed::Program;

use crate::context::Simplifier;
use crate::value::Env;

/// Values of tuning parameters by name: `#[param(name)] e` is the value where there is one, and `e` otherwise.
pub type Parameters = BTreeMap<String, i64>;

/// The Core program of all entry points, without tuning parameters.
pub fn simplify(program: &Program, sources: &SourceMap) -> Result<CoreProgram, Vec<Diagnostic>> {
    Ok(simplify_with(program, sources, &Parameters::new())?.core)
}

/// Core, and what the user has asked to be told about it.
pub struct Simplified {
    pub core: CoreProgram,
    pub warnings: Vec<Diagnostic>,
}

/// The Core program of all entry points.
pub fn simplify_with(
    program: &Program,
    sources: &SourceMap,
    parameters: &Parameters,
) -> Result<Simplified, Vec<Diagnostic>> {
    let mut simplifier = Simplifier::new(sources, program, parameters);
    let mut env = Env::default();
    simplifier.declare(&mut env, &program.decs).map_err(|diagnostic| vec![*diagnostic])?;
    let mut entries = Vec::new();
    let mut diagnostics = Vec::new();
    for var in &program.entries {
        match simplifier.entry(&env, *var) {
            Ok(entry) => entries.push(entry),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let warnings = std::mem::take(&mut simplifier.warnings);
    let mut core = simplifier.finish();
    core.entries = entries;
    pass::run(CLEAN_UP, &mut core, Stage::WITH_FORMS).unwrap_or_else(|stop| panic!("{stop}"));
    Ok(Simplified { core, warnings })
}
