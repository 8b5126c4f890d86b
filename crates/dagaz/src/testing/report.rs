//! What came of many tests, as text, Markdown and JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::run::{MessageMatch, ProgramResult, Status};

/// Counts of a folder.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Programs that failed as they should, with the expected words and with others.
    pub same_message: usize,
    pub other_message: usize,
}

impl Tally {
    fn add(&mut self, result: &ProgramResult) {
        match result.status {
            Status::Passed => self.passed += 1,
            Status::Failed => self.failed += 1,
            Status::Skipped => self.skipped += 1,
        }
        match result.message {
            Some(MessageMatch::Same) => self.same_message += 1,
            Some(MessageMatch::Other) => self.other_message += 1,
            None => {}
        }
    }

    pub fn programs(&self) -> usize {
        self.passed + self.failed
    }

    fn percent(&self) -> String {
        match self.programs() {
            0 => "–".to_owned(),
            programs => format!("{:.1} %", 100.0 * self.passed as f64 / programs as f64),
        }
    }
}

/// Counts by folder, and of everything.
pub fn tally(results: &[ProgramResult]) -> (BTreeMap<String, Tally>, Tally) {
    let mut folders: BTreeMap<String, Tally> = BTreeMap::new();
    let mut total = Tally::default();
    for result in results {
        let folder = result.path.parent().unwrap_or(Path::new("")).display().to_string();
        folders.entry(if folder.is_empty() { ".".to_owned() } else { folder }).or_default().add(result);
        total.add(result);
    }
    (folders, total)
}

fn failures(results: &[ProgramResult]) -> impl Iterator<Item = (String, &str)> {
    let failed = results.iter().filter(|result| result.status == Status::Failed);
    failed.map(|r| (r.path.display().to_string(), r.reason.as_deref().unwrap_or("")))
}

/// A table by folder, and then every program that failed.
pub fn text(results: &[ProgramResult]) -> String {
    let (folders, total) = tally(results);
    let width = folders.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("folder".len());
    let mut out = String::new();
    let mut row = |name: &str, cells: [String; 4]| {
        let [programs, passed, failed, percent] = cells;
        let padding = " ".repeat(width - name.chars().count().min(width));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}{padding}  {programs:>8}  {passed:>6}  {failed:>6}  {percent:>8}");
    };
    row("folder", ["programs", "passed", "failed", "%"].map(str::to_owned));
    let cells =
        |t: &Tally| [t.programs().to_string(), t.passed.to_string(), t.failed.to_string(), t.percent()];
    for (folder, tally) in &folders {
        row(folder, cells(tally));
    }
    row("total", cells(&total));
    for (path, reason) in failures(results) {
        out.push_str(&format!("\n{path}: {reason}"));
    }
    if total.failed > 0 {
        out.push('\n');
    }
    out
}

/// The same as a Markdown page.
pub fn markdown(title: &str, results: &[ProgramResult]) -> String {
    let (folders, total) = tally(results);
    let mut out = format!("# {title}\n\n");
    let messages = total.same_message + total.other_message;
    out.push_str(&format!(
        "{} of {} programs ({}) behave as their test blocks say. In {} of the {messages} programs that expect an error \
         or a warning with certain words, ours has these words; in the others it has different ones.\n\n",
        total.passed,
        total.programs(),
        total.percent(),
        total.same_message,
    ));
    out.push_str("| folder | programs | passed | failed | % | same message | other message |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    let named = folders.iter().map(|(name, tally)| (format!("`{name}`"), tally));
    for (name, t) in named.chain(std::iter::once(("**total**".to_owned(), &total))) {
        let (programs, percent) = (t.programs(), t.percent());
        out.push_str(&format!(
            "| {name} | {programs} | {} | {} | {percent} | {} | {} |\n",
            t.passed, t.failed, t.same_message, t.other_message
        ));
    }
    out.push_str("\n## Failing programs\n\n");
    if total.failed == 0 {
        out.push_str("None.\n");
        return out;
    }
    out.push_str("| program | reason |\n|---|---|\n");
    for (path, reason) in failures(results) {
        out.push_str(&format!("| `{path}` | {} |\n", reason.replace('|', "\\|").replace('<', "&lt;")));
    }
    out
}

/// Everything, for machines.
pub fn json(results: &[ProgramResult]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(results)
}
