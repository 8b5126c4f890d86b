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
//! checked as if the user had written it (`choose`). Sizes play no part until then; readings in which a `rep` has a size that
//! nothing says are none.

mod advice;
mod children;
mod choose;
mod elaborate;
mod meaning;
mod nest;
mod program;
mod ranks;
mod solve;

use dagaz_syntax::ast::{NodeId, ValBind};
use dagaz_syntax::{Name, SourceMap, Span};

use crate::context::Context;
use crate::infer::Notes;
pub(crate) use choose::{Lifted, Lifting, lift};
pub(crate) use elaborate::covers;
use elaborate::edited;
pub use elaborate::{Edit, edited_file};
pub(crate) use elaborate::{Elaborated, Origin};
pub(crate) use ranks::{Linear, RankProblem, RankVar};

/// The first name of the prelude that was put in where it means something else.
pub(crate) fn hidden_name(cx: &Context, elaborated: &Elaborated, notes: &Notes) -> Option<Name> {
    let is_hidden = |(node, name): &&(NodeId, Name)| {
        let meant = notes.uses.get(node).map(|used| &used.target);
        meant.is_some() && meant != cx.prelude_values.get(name)
    };
    elaborated.used.iter().find(is_hidden).map(|(_, name)| *name)
}

/// What is changed in a definition, on one line.
pub(crate) fn explicit_text(sources: &SourceMap, bind: &ValBind, edits: &[Edit]) -> String {
    let hull = edits.iter().map(|edit| edit.span).reduce(Span::to).unwrap_or(bind.body.span);
    advice::shortened(&one_line(&edited(sources, choose::innermost(&mut bind.body.clone(), hull), edits)))
}

fn one_line(text: &str) -> String {
    let without_comments = text.lines().map(|line| line.split("--").next().unwrap_or(line));
    without_comments.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
