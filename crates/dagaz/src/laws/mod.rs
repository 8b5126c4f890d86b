//! Laws that the operators of reductions, scans, histograms and accumulators must obey, tried with random values.
//!
//! Parallel code combines elements in any grouping. An operator that is not associative, or a neutral element that is not
//! neutral, gives other results with other sizes of pieces, and nobody says so. Histograms and accumulators combine in any order,
//! too, and so need commutative operators.
//!
//! The operators are those of Core before derivatives, where every function is applied. Operands are small random values; floats
//! are multiples of 1/8, of which sums and products are exact, and what remains is compared up to rounding. Of what an operator
//! captures, scalar computations are made again from what they need, and everything else is random as well. Values for which
//! the operator fails, or gives something infinite, say nothing.

mod operators;
mod trial;

use std::collections::HashSet;
use std::path::Path;

use dagaz_core::exp::{Program, SourceLoc};
use dagaz_syntax::{Diagnostic, SourceMap, Span};

use crate::compile::{self, Failure, Settings};
use crate::load;

/// What was found wrong with operators of a program, each as a warning with a counterexample, and where they are.
pub fn check_file(path: &Path, settings: &Settings) -> Result<(SourceMap, Vec<Diagnostic>), Failure> {
    compile::with_core(path, settings, |core, sources| {
        let violations = check(core, sources);
        (sources.clone(), violations)
    })
}

/// The same for a program in Core.
fn check(core: &Program, sources: &SourceMap) -> Vec<Diagnostic> {
    let (program, operators) = operators::collect(core);
    let mut trials = trial::Trials::new(program);
    let mut found = Vec::new();
    let mut seen: HashSet<(Span, String)> = HashSet::new();
    for operator in &operators {
        let Some(violation) = trials.violation(operator) else { continue };
        let span = place(core, operator.loc.0, sources);
        if seen.insert((span, violation.law.to_owned())) {
            let mut warning = Diagnostic::warning("operator-law", span, violation.law);
            warning.help = violation.example;
            found.push(warning);
        }
    }
    found
}

/// Where the user wrote an operation: at the innermost of the inlined calls that is not in the prelude.
fn place(core: &Program, loc: u32, sources: &SourceMap) -> Span {
    let outer = |place: &SourceLoc| place.inlined_at.and_then(|loc| core.locs.get(loc.0 as usize));
    let places: Vec<&SourceLoc> = std::iter::successors(core.locs.get(loc as usize), |p| outer(p)).collect();
    let place = places.iter().find(|place| !load::is_prelude(&place.file)).or(places.last());
    place.and_then(|p| sources.span_at(&p.file, p.line, p.col)).unwrap_or(Span::NONE)
}
