//! Chooses between the ways in which a definition can be lifted.
//!
//! Solutions are tried from the best one on, until a definition with its maps has types and sizes. All other solutions that
//! are as good and have types and sizes must mean the same.

use std::collections::BTreeSet;

use dagaz_syntax::ast::{Exp, ValBind};
use dagaz_syntax::{Diagnostic, Span};

use super::advice::{Alternative, ambiguity};
use super::elaborate::{Elaborated, Origin, Reps, covers, elaborate};
use super::meaning::same_meaning;
use super::ranks::RankProblem;
use super::solve::Solutions;
use super::{children, hidden_name};
use crate::context::{Context, Error, Res, error};
use crate::env::Env;
use crate::infer::{collect_ranks, infer_definition};
use crate::sizes::{Checked, size_definition};
use crate::types::VarId;

/// How many solutions are tried before the search for one that has sizes is given up.
const TRIED: usize = 24;

/// What lifting makes of a definition.
pub(crate) enum Lifted {
    /// Nothing: there is no way, or none is needed.
    No,
    /// Whatever is lifted, this is wrong.
    Wrong(Error),
    Yes(Box<Elaborated>, Box<Checked>),
    /// With its maps the definition has this error.
    Failed(Box<Elaborated>, Error),
    /// There are several ways, none better than the others.
    Ambiguous(Diagnostic),
}

/// A definition on its way to being lifted.
pub(crate) struct Lifting<'a> {
    pub cx: &'a mut Context,
    pub frames: &'a mut Vec<Env>,
    pub bind: &'a ValBind,
    /// What the definition will be known as, and whether it is in scope of itself.
    pub reading: (VarId, bool),
    pub origin: Origin<'a>,
    /// Whether the definition is not what was written, but what may be proposed to write.
    pub is_proposal: bool,
}

/// A solution that has types and sizes.
struct Reading {
    chosen: Vec<usize>,
    elaborated: Elaborated,
    checked: Checked,
}

/// What came of trying solutions.
enum Search {
    Found(Box<Reading>),
    Failed(Box<Elaborated>, Error),
    Nothing,
}

/// Lift the applications of a definition that has no type as it stands.
pub(crate) fn lift(mut lifting: Lifting<'_>) -> Lifted {
    let mut failed = Lifted::No;
    // Comparing what is not an array comes first. Whole arrays are compared only where nothing else makes sense.
    for scalar_equality in [true, false] {
        let lifting = &mut lifting;
        let problem =
            collect_ranks(lifting.cx, lifting.frames, lifting.bind, lifting.reading, scalar_equality);
        let problem = match problem {
            Ok(problem) => problem,
            Err(error) => return Lifted::Wrong(error),
        };
        let Some(mut solutions) = Solutions::of(&problem) else { continue };
        match lifting.first(&problem, &mut solutions) {
            Search::Found(first) => return lifting.only(*first, &problem, &mut solutions),
            Search::Failed(elaborated, error) if matches!(failed, Lifted::No) => {
                failed = Lifted::Failed(elaborated, error);
            }
            Search::Failed(..) | Search::Nothing => {}
        }
    }
    failed
}

impl Lifting<'_> {
    /// The first of the best solutions that have types and sizes. Those in which nothing says the size of some `rep` do not
    /// count, so that worse ones come after them; any other error is what is wrong with the definition, unless a solution
    /// that is as good has none.
    fn first(&mut self, problem: &RankProblem, solutions: &mut Solutions<'_>) -> Search {
        let mut open = BTreeSet::from([(0, vec![0; solutions.parts()])]);
        let mut failed: Option<(i64, Elaborated, Error)> = None;
        let mut unsettled: Option<(Elaborated, Error)> = None;
        for _ in 0..TRIED {
            let Some((cost, chosen)) = open.pop_first() else { break };
            if failed.as_ref().is_some_and(|(best, ..)| *best < cost) {
                break;
            }
            match self.try_out(problem, solutions, &chosen) {
                Some((elaborated, Ok(checked))) => {
                    return Search::Found(Box::new(Reading { chosen, elaborated, checked }));
                }
                Some((elaborated, Err(Error::Diagnostic(d)))) if d.code == "ambiguous-size" => {
                    unsettled.get_or_insert((elaborated, Error::Diagnostic(d)));
                }
                Some((elaborated, Err(error))) => {
                    failed.get_or_insert((cost, elaborated, error));
                }
                None => {}
            }
            for part in 0..solutions.parts() {
                let mut next = chosen.clone();
                next[part] += 1;
                let costs = (solutions.cost(part, chosen[part]), solutions.cost(part, next[part]));
                if let (Some(here), Some(there)) = costs {
                    open.insert((cost + there - here, next));
                }
            }
        }
        match (failed, unsettled) {
            (Some((_, elaborated, error)), _) | (None, Some((elaborated, error))) => {
                Search::Failed(Box::new(elaborated), error)
            }
            (None, None) => Search::Nothing,
        }
    }

    /// Check the definition with the maps of a solution. None if these cannot be written, or there are none.
    fn try_out(
        &mut self,
        problem: &RankProblem,
        solutions: &Solutions<'_>,
        chosen: &[usize],
    ) -> Option<(Elaborated, Res<Checked>)> {
        let ranks = solutions.ranks(chosen)?;
        let elaborated = elaborate(self.bind, problem, &ranks, self.origin, Reps::Fused)?;
        if elaborated.edits.is_empty() {
            return None;
        }
        let said = self.cx.diagnostics.len();
        let checked = self.check(&elaborated);
        if checked.is_err() {
            self.cx.diagnostics.truncate(said);
        }
        Some((elaborated, checked))
    }

    /// Check a definition with the maps that it left out.
    fn check(&mut self, elaborated: &Elaborated) -> Res<Checked> {
        let (var, recursive) = self.reading;
        let notes = infer_definition(self.cx, self.frames, &elaborated.bind, var, recursive)?;
        if let Some(name) = hidden_name(self.cx, elaborated, &notes) {
            let message = format!("\"{name}\" is not that of the prelude here");
            return error("type-mismatch", elaborated.bind.name.span, message);
        }
        size_definition(self.cx, notes, &elaborated.bind, var)
    }

    /// A solution, if all others that are as good and have types and sizes mean the same.
    fn only(&mut self, first: Reading, problem: &RankProblem, solutions: &mut Solutions<'_>) -> Lifted {
        let mut others: Vec<Alternative> = Vec::new();
        for part in 0..solutions.parts() {
            let Some(best) = solutions.cost(part, first.chosen[part]) else { continue };
            let (same_cost, all) = solutions.of_cost(part, best);
            for number in same_cost {
                let mut chosen = first.chosen.clone();
                chosen[part] = number;
                if chosen == first.chosen {
                    continue;
                }
                let said = self.cx.diagnostics.len();
                let tried = self.try_out(problem, solutions, &chosen);
                self.cx.diagnostics.truncate(said);
                // If there are too many to be looked at, any of the others may mean something else.
                if let Some((_, Ok(checked))) = tried
                    && !(all && same_meaning(self.cx, &first.checked, &checked))
                {
                    others.push(Alternative { chosen, checked });
                }
            }
            if !others.is_empty() {
                break;
            }
        }
        if others.is_empty() {
            return Lifted::Yes(Box::new(first.elaborated), Box::new(first.checked));
        }
        if self.is_proposal {
            return Lifted::No;
        }
        others.insert(0, Alternative { chosen: first.chosen, checked: first.checked });
        match ambiguity(self, problem, solutions, &others) {
            Some(diagnostic) => Lifted::Ambiguous(diagnostic),
            None => Lifted::No,
        }
    }
}

/// The smallest expression that covers a place.
pub(super) fn innermost(e: &mut Exp, place: Span) -> Span {
    let mut found = e.span;
    children::visit_children(e, &mut |child, _| {
        if covers(child.span, place) {
            found = innermost(child, place);
        }
    });
    found
}
