//! AUTOMAP: functions applied to arguments of another rank are lifted (001 chapter 4).
//!
//! ```text
//! def shift [n][d] (xs: [n][d]f64) (m: [d]f64) = xs - m
//! ==>
//! def shift [n][d] (xs: [n][d]f64) (m: [d]f64) = map (\x -> map2 (-) x m) xs
//! ```
//!
//! A definition that has a type as it stands needs no lifting: no maps are fewer than any. So only definitions whose
//! types do not match come here. Their applications are walked again with open ranks (`crate::infer`), the fewest maps
//! and reps that make the ranks fit are found (`solve`), and the definition with these written out (`elaborate`) is
//! checked as if the user had written it. Sizes play no part until then.

mod children;
mod elaborate;
mod nest;
mod program;
mod ranks;
mod solve;

use dagaz_syntax::ast::{NodeId, ValBind};
use dagaz_syntax::{Diagnostic, Name, SourceMap, Span};

use crate::context::Context;
use crate::env::Env;
use crate::infer::{Notes, collect_ranks};
use crate::types::VarId;
pub use elaborate::{Edit, edited_file};
pub(crate) use elaborate::{Elaborated, Origin};
use elaborate::{Reps, covers, edited, elaborate};
pub(crate) use ranks::{Linear, RankProblem, RankVar};
use solve::{Ranks, solve};

/// What lifting makes of a definition.
pub(crate) enum Lifted {
    /// Nothing: there is no way, or none is needed.
    No,
    Yes(Box<Elaborated>),
    /// There are several ways, none better than the others.
    Ambiguous(Diagnostic),
}

/// Lift the applications of a definition that has no type as it stands.
pub(crate) fn lift(
    cx: &mut Context,
    frames: &mut Vec<Env>,
    bind: &ValBind,
    reading: (VarId, bool),
    origin: Origin<'_>,
) -> Lifted {
    // Comparing what is not an array comes first. Whole arrays are compared only where nothing else makes sense.
    [true, false]
        .into_iter()
        .find_map(|scalar_equality| {
            let problem = collect_ranks(cx, frames, bind, reading, scalar_equality).ok()?;
            let solutions = solve(&problem)?;
            match &solutions[..] {
                [] => None,
                [ranks] => {
                    let elaborated = elaborate(bind, &problem, ranks, origin, Reps::Fused)?;
                    let found = !elaborated.edits.is_empty();
                    found.then_some(Lifted::Yes(Box::new(elaborated)))
                }
                several => Some(Lifted::Ambiguous(ambiguity(bind, &problem, several, origin)?)),
            }
        })
        .unwrap_or(Lifted::No)
}

/// The first name of the prelude that was put in where it means something else.
pub(crate) fn hidden_name(cx: &Context, elaborated: &Elaborated, notes: &Notes) -> Option<Name> {
    let is_hidden = |(node, name): &&(NodeId, Name)| {
        let meant = notes.uses.get(node).map(|used| &used.target);
        meant.is_some() && meant != cx.prelude_values.get(name)
    };
    elaborated.used.iter().find(is_hidden).map(|(_, name)| *name)
}

/// The message that a definition can be read in several ways, with what to write for each.
fn ambiguity(
    bind: &ValBind,
    problem: &RankProblem,
    solutions: &[Ranks],
    origin: Origin<'_>,
) -> Option<Diagnostic> {
    let readings: Option<Vec<Vec<Edit>>> = solutions
        .iter()
        .map(|ranks| Some(elaborate(bind, problem, ranks, origin, Reps::Written)?.edits))
        .collect();
    let readings = readings?;
    let differs = |edit: &&Edit| !readings.iter().all(|edits| edits.contains(edit));
    let places = readings.iter().flatten().filter(differs).map(|edit| edit.span);
    let hull = places.reduce(Span::to)?;
    let place = innermost(&mut bind.body.clone(), hull);
    let message = "There are several ways to map this over arrays, and none is shorter than the others";
    let mut diagnostic = Diagnostic::error("ambiguous-map", place, message);
    // Which one the solver finds first says nothing.
    let mut texts: Vec<String> =
        readings.iter().map(|edits| one_line(&edited(origin.sources, place, edits))).collect();
    texts.sort();
    for text in texts {
        diagnostic = diagnostic.help(format!("write this to choose it: {text}"));
    }
    Some(diagnostic.help("a type annotation that fixes the rank of a parameter chooses as well"))
}

/// What is changed in a definition, on one line.
pub(crate) fn explicit_text(sources: &SourceMap, bind: &ValBind, edits: &[Edit]) -> String {
    let hull = edits.iter().map(|edit| edit.span).reduce(Span::to).unwrap_or(bind.body.span);
    one_line(&edited(sources, innermost(&mut bind.body.clone(), hull), edits))
}

/// The smallest expression that covers a place.
fn innermost(e: &mut dagaz_syntax::ast::Exp, place: Span) -> Span {
    let mut found = e.span;
    children::visit_children(e, &mut |child, _| {
        if covers(child.span, place) {
            found = innermost(child, place);
        }
    });
    found
}

fn one_line(text: &str) -> String {
    let without_comments = text.lines().map(|line| line.split("--").next().unwrap_or(line));
    without_comments.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
