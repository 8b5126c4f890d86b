//! What became of a program, line by line: what runs on threads and vector units, what is copied, which checks remain;
//! and, after a run that counted, where the time went.

use std::collections::{BTreeMap, BTreeSet};

use dagaz_codegen::{RemarkKind, SiteKind};
use dagaz_core::exp::{Loc, Program, SourceLoc};
use dagaz_syntax::{FileId, SourceMap};

use crate::compile::Compiled;
use crate::session::Session;

/// A file and a line.
type Place = (String, u32);

/// A line about every decision, below the line of the source that it is about. The program should have one entry point.
pub fn explain(program: &Compiled) -> Result<String, String> {
    let core = program.core();
    let source = dagaz_codegen::generate(core)?;
    let mut lines: BTreeMap<Place, BTreeSet<(u8, String)>> = BTreeMap::new();
    let mut add = |loc: Loc, order: u8, text: String| {
        if let Some(place) = place(core, loc) {
            lines.entry(place).or_default().insert((order, text));
        }
    };
    for remark in source.remarks {
        add(remark.loc, remark.kind as u8, format!("{}: {}", remark.kind.name(), remark.text));
    }
    for site in source.sites {
        if let Some(text) = check(&site.kind) {
            add(site.loc, RemarkKind::Memory as u8 + 1, format!("check: {text}"));
        }
    }
    let mut out = String::new();
    let mut file = None;
    for ((name, line), remarks) in lines {
        if file.as_ref() != Some(&name) {
            out.push_str(&format!("{name}\n"));
            file = Some(name.clone());
        }
        out.push_str(&format!("{line:>5} | {}\n", text_of(program.sources(), &name, line).trim_end()));
        for (_, remark) in remarks {
            out.push_str(&format!("      {remark}\n"));
        }
    }
    Ok(out)
}

/// What a place in the generated code looks at, if it is a check that the user can do something about.
fn check(kind: &SiteKind) -> Option<&'static str> {
    match kind {
        SiteKind::Assert(_) => Some("an assertion, or sizes that must agree"),
        SiteKind::DivisionByZero => Some("a divisor must not be zero"),
        SiteKind::NegativeExponent => Some("an exponent must not be negative"),
        SiteKind::OutOfBounds { .. } => Some("an index must be within bounds"),
        SiteKind::NegativeSize(_) => Some("a size must not be negative"),
        SiteKind::Memory | SiteKind::TooDeep | SiteKind::Stopped | SiteKind::Call | SiteKind::Trace(_) => {
            None
        }
    }
}

/// The innermost place outside of the prelude, or the innermost one of all.
fn place(core: &Program, loc: Loc) -> Option<Place> {
    let mut next = core.source(loc);
    let first = next?;
    let is_users = |place: &SourceLoc| !place.file.starts_with("/prelude/");
    while let Some(place) = next {
        if is_users(place) {
            return Some((place.file.to_string(), place.line));
        }
        next = place.inlined_at.and_then(|loc| core.source(loc));
    }
    Some((first.file.to_string(), first.line))
}

fn text_of(sources: &SourceMap, name: &str, line: u32) -> String {
    let file = (0..).map(FileId).map_while(|id| sources.get(id)).find(|file| *file.name == *name);
    let text = file.and_then(|file| file.text.lines().nth(line.saturating_sub(1) as usize));
    text.unwrap_or_default().to_owned()
}

/// A table of the lines that took time, the slowest first. `total` is what all calls took.
pub fn profile(program: &Compiled, session: &Session, total: std::time::Duration) -> String {
    let mut lines: BTreeMap<Place, (u64, u64)> = BTreeMap::new();
    for (loc, nanoseconds, runs) in session.profile() {
        if let Some(place) = place(program.core(), loc) {
            let (time, most) = lines.entry(place).or_default();
            *time += nanoseconds;
            *most = (*most).max(runs);
        }
    }
    let all = u64::try_from(total.as_nanos()).unwrap_or(u64::MAX).max(1);
    let counted: u64 = lines.values().map(|(time, _)| time).sum();
    let mut rows: Vec<(Place, (u64, u64))> = lines.into_iter().filter(|(_, (_, runs))| *runs > 0).collect();
    rows.sort_by(|(a, (time, _)), (b, (other, _))| other.cmp(time).then_with(|| a.cmp(b)));
    let mut out = format!("{:>12}  {:>7}  {:>10}  line\n", "time", "share", "runs");
    let mut row = |time: u64, runs: &str, line: &str| {
        let (milliseconds, share) = (time as f64 / 1e6, 100.0 * time as f64 / all as f64);
        out.push_str(&format!("{milliseconds:>9.3} ms  {share:>5.1} %  {runs:>10}  {line}\n"));
    };
    for ((name, line), (time, runs)) in &rows {
        let text = text_of(program.sources(), name, *line);
        row(*time, &runs.to_string(), &format!("{name}:{line}: {}", text.trim()));
    }
    row(all.saturating_sub(counted), "", "everything else");
    out
}
