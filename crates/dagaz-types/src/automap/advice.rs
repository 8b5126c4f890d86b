//! What to write to choose one of several readings of a definition.
//!
//! Nothing is proposed that has not been tried: with it the definition must have exactly one reading, which means the same
//! as the one that is to be chosen.

use dagaz_syntax::ast::{Dec, DecKind, ModExp, ModExpKind, Program, ValBind};
use dagaz_syntax::{Diagnostic, SourceMap, Span, parse_program};

use super::choose::{Lifted, Lifting, innermost, lift};
use super::elaborate::{Edit, Origin, Reps, edited, elaborate};
use super::meaning::same_meaning;
use super::one_line;
use super::ranks::RankProblem;
use super::solve::Solutions;
use crate::infer::infer_definition;
use crate::sizes::{Checked, size_definition};

/// The longest text that is shown as a whole.
const LONGEST: usize = 200;

/// How many proposals are tried for one reading.
const TRIED: usize = 8;

/// How many readings are shown.
const SHOWN: usize = 4;

/// A reading, and what it means.
pub(super) struct Alternative {
    pub chosen: Vec<usize>,
    pub checked: Checked,
}

/// What to write at a place.
#[derive(Clone, PartialEq, Eq)]
struct Proposal {
    place: Span,
    text: String,
}

/// The message that a definition can be read in several ways, with what to write for each.
pub(super) fn ambiguity(
    lifting: &mut Lifting<'_>,
    problem: &RankProblem,
    solutions: &Solutions<'_>,
    alternatives: &[Alternative],
) -> Option<Diagnostic> {
    let edits = |reps| -> Option<Vec<Vec<Edit>>> {
        let of = |alternative: &Alternative| {
            let ranks = solutions.ranks(&alternative.chosen)?;
            Some(elaborate(lifting.bind, problem, &ranks, lifting.origin, reps)?.edits)
        };
        alternatives.iter().map(of).collect()
    };
    let ways = [edits(Reps::Written)?, edits(Reps::Fused)?];
    let differing = |way: &[Vec<Edit>], i: usize| -> Vec<Edit> {
        let in_all = |edit: &&Edit| way.iter().all(|edits| edits.contains(edit));
        way[i].iter().filter(|edit| !in_all(edit)).cloned().collect()
    };
    let all = (0..alternatives.len()).flat_map(|i| differing(&ways[0], i));
    let hull = all.map(|edit| edit.span).reduce(Span::to)?;
    let whole = innermost(&mut lifting.bind.body.clone(), hull);
    let is_short = lifting.origin.sources.snippet(whole).len() <= LONGEST;
    let mut found: Vec<Proposal> = Vec::new();
    for (i, alternative) in alternatives.iter().enumerate() {
        let at_whole = |way: &[Vec<Edit>]| {
            let text = one_line(&edited(lifting.origin.sources, whole, &way[i]));
            Proposal { place: whole, text }
        };
        let at_edit = |edit: Edit| Proposal { place: edit.span, text: one_line(&edit.text) };
        let mut parts: Vec<Proposal> = ways.iter().flat_map(|way| differing(way, i)).map(at_edit).collect();
        parts.sort_by_key(|part| part.text.len());
        let wholes = ways.iter().map(|way| at_whole(way));
        let proposals: Vec<Proposal> =
            if is_short { wholes.chain(parts).collect() } else { parts.into_iter().chain(wholes).collect() };
        found.extend(proposals.into_iter().take(TRIED).find(|p| lifting.is_accepted(p, alternative)));
    }
    let first = found.iter().map(|proposal| proposal.place).min_by_key(|place| place.start);
    let place = if is_short { whole } else { first.unwrap_or(hull) };
    Some(message(lifting.origin.sources, place, found))
}

fn message(sources: &SourceMap, place: Span, proposals: Vec<Proposal>) -> Diagnostic {
    let text = "There are several ways to map this over arrays, and none is shorter than the others";
    let mut diagnostic = Diagnostic::error("ambiguous-map", place, text);
    let show = |proposal: &Proposal| {
        let text = shortened(&proposal.text);
        if proposal.place == place {
            return format!("write this to choose it: {text}");
        }
        let line = sources.line_col(proposal.place).map_or(0, |(line, _)| line);
        let old = shortened(&one_line(sources.snippet(proposal.place)));
        format!("write this for \"{old}\" in line {line} to choose it: {text}")
    };
    // Which one the solver finds first says nothing.
    let mut helps: Vec<String> = proposals.iter().map(show).collect();
    helps.sort();
    helps.dedup();
    let more = helps.len().saturating_sub(SHOWN);
    helps.truncate(SHOWN);
    for help in helps {
        diagnostic = diagnostic.help(help);
    }
    if more > 0 {
        diagnostic = diagnostic.help(format!("there are {more} more"));
    }
    diagnostic.help("a type annotation that fixes the rank of a parameter chooses as well")
}

/// A text that fits in a message, without its middle if it is too long.
pub(super) fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    let half = LONGEST / 2;
    let (start, end) = (text.chars().take(half), text.chars().skip(count - half));
    format!("{} … {}", start.collect::<String>(), end.collect::<String>())
}

impl Lifting<'_> {
    /// Whether the definition is read in a certain way if a proposal is followed.
    fn is_accepted(&mut self, proposal: &Proposal, alternative: &Alternative) -> bool {
        let said = self.cx.diagnostics.len();
        let read = self.read_with(proposal);
        self.cx.diagnostics.truncate(said);
        read.is_some_and(|checked| same_meaning(self.cx, &checked, &alternative.checked))
    }

    /// The definition with a part of its text replaced.
    fn read_with(&mut self, proposal: &Proposal) -> Option<Checked> {
        let file = self.origin.sources.get(proposal.place.file)?;
        let (start, end) = (proposal.place.start as usize, proposal.place.end as usize);
        let text = format!("{}{}{}", file.text.get(..start)?, proposal.text, file.text.get(end..)?);
        let mut sources = SourceMap::default();
        let id = sources.add(file.name.clone(), text.clone());
        let (program, errors) = parse_program(id, &text);
        if !errors.is_empty() {
            return None;
        }
        let bind = definition_at(&program, self.bind)?;
        let (var, recursive) = self.reading;
        let plain = infer_definition(self.cx, self.frames, bind, var, recursive)
            .and_then(|notes| size_definition(self.cx, notes, bind, var));
        if let Ok(checked) = plain {
            return Some(checked);
        }
        let (comments, node_count) = (&program.comments[..], program.node_count);
        let lifting = Lifting {
            cx: self.cx,
            frames: self.frames,
            bind,
            reading: self.reading,
            origin: Origin { sources: &sources, comments, node_count },
            is_proposal: true,
        };
        match lift(lifting) {
            Lifted::Yes(_, checked) => Some(*checked),
            Lifted::No | Lifted::Wrong(_) | Lifted::Failed(..) | Lifted::Ambiguous(_) => None,
        }
    }
}

/// The definition that stands where another one stood before its body changed.
fn definition_at<'p>(program: &'p Program, old: &ValBind) -> Option<&'p ValBind> {
    fn in_decs<'p>(decs: &'p [Dec], old: &ValBind) -> Option<&'p ValBind> {
        decs.iter().find_map(|dec| in_dec(dec, old))
    }
    fn in_dec<'p>(dec: &'p Dec, old: &ValBind) -> Option<&'p ValBind> {
        match &dec.kind {
            DecKind::Val(bind) => (bind.name.span.start == old.name.span.start).then_some(bind),
            DecKind::Local(inner) => in_dec(inner, old),
            DecKind::Module(bind) => in_module(&bind.body, old),
            DecKind::Open(module) => in_module(module, old),
            DecKind::Type(_)
            | DecKind::IndexType(_)
            | DecKind::ModuleType { .. }
            | DecKind::Import { .. } => None,
        }
    }
    fn in_module<'p>(module: &'p ModExp, old: &ValBind) -> Option<&'p ValBind> {
        match &module.kind {
            ModExpKind::Decs(decs) => in_decs(decs, old),
            ModExpKind::Paren(inner) | ModExpKind::Ascript(inner, _) => in_module(inner, old),
            ModExpKind::Apply(f, x) => in_module(f, old).or_else(|| in_module(x, old)),
            ModExpKind::Lambda { body, .. } => in_module(body, old),
            ModExpKind::Var(_) | ModExpKind::Import { .. } => None,
        }
    }
    in_decs(&program.decs, old)
}
