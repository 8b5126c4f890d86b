//! Takes the maps of programs out, one at a time, and looks at what becomes of them.
//!
//! A program that is accepted without one of its maps must give the same results as before (001 4.7.2), and the program
//! with all its maps written out again must be the same program (4.7.3).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dagaz::data::{TOLERANCE, first_difference};
use dagaz::testing::spec::{Expectation, Input};
use dagaz::testing::{spec, suite};
use dagaz::{Backend, Compiled, Failure, Value};
use dagaz_core::print::print_without_locs;
use dagaz_syntax::{FileId, token_spans};

/// What a program is without one of its maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The same Core.
    SameCore,
    /// Another way to the same results, on all values in the program's tests.
    SameResults,
    /// Rejected, because there are several ways to put maps in.
    Ambiguous,
    /// Rejected for another reason.
    Rejected,
    /// Accepted, with other results, or with other Core and no values to try it with.
    Different,
    /// Written out, it is not the same program.
    NotExplicit,
}

/// A map that was taken out.
pub struct Removal {
    pub line: usize,
    /// What is left of the line.
    pub text: String,
    pub verdict: Verdict,
}

/// All programs in files and folders.
pub fn programs(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        match std::fs::read_dir(path) {
            Ok(entries) => {
                let inner: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                found.extend(programs(&inner));
            }
            Err(_) if path.extension().is_some_and(|extension| extension == "fut") => {
                found.push(path.clone());
            }
            Err(_) => {}
        }
    }
    found.sort();
    found
}

/// Take out every map of a program in turn. None if the program is not accepted as it is.
pub fn remove_maps(path: &Path) -> Option<Vec<Removal>> {
    let text = std::fs::read_to_string(path).ok()?;
    let compile = |text: &str| {
        let folder = path.parent().unwrap_or(Path::new(""));
        dagaz::compile::compile_source_in(&path.display().to_string(), text, folder)
    };
    let original = compile(&text).ok()?;
    let core = shape(&original);
    let removals = maps(&text).into_iter().map(|(start, end)| {
        let without = format!("{}{}", &text[..start], text[end..].trim_start_matches(' '));
        let line = text[..start].matches('\n').count();
        let verdict = match compile(&without) {
            Err(Failure::Rejected { diagnostics, .. }) => {
                let ambiguous = diagnostics.iter().any(|d| d.code == "ambiguous-map");
                if ambiguous { Verdict::Ambiguous } else { Verdict::Rejected }
            }
            Err(Failure::Unreadable { .. } | Failure::Internal(_)) => Verdict::Different,
            Ok(changed) => {
                let again = compile(changed.explicit()).map(|explicit| shape(&explicit));
                match again {
                    Ok(again) if again == shape(&changed) => judge(path, &original, &core, &changed),
                    _ => Verdict::NotExplicit,
                }
            }
        };
        let text = without.lines().nth(line).unwrap_or_default().trim().to_owned();
        Removal { line: line + 1, text, verdict }
    });
    Some(removals.collect())
}

fn judge(path: &Path, original: &Compiled, core: &str, changed: &Compiled) -> Verdict {
    if shape(changed) == core {
        return Verdict::SameCore;
    }
    match same_results(path, original, changed) {
        Some(true) => Verdict::SameResults,
        Some(false) | None => Verdict::Different,
    }
}

/// Whether two programs give the same for all values in a program's tests. None if there are no values.
fn same_results(path: &Path, a: &Compiled, b: &Compiled) -> Option<bool> {
    let tests = suite::find_tests(&[path.to_path_buf()]).ok()?;
    let specs = tests.into_iter().filter_map(|(_, spec): (_, Result<spec::Spec, _>)| spec.ok());
    let mut same = None;
    for spec in specs {
        let Expectation::Accepted { cases, .. } = spec.expectation else { continue };
        for case in cases {
            let Input::Values(args) = &case.input else { continue };
            let agree = match (call(a, &case.entry, args), call(b, &case.entry, args)) {
                (Ok(x), Ok(y)) => {
                    x.len() == y.len()
                        && x.iter().zip(&y).all(|(x, y)| first_difference(x, y, TOLERANCE).is_none())
                }
                (Err(_), Err(_)) => true,
                (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
            };
            same = Some(same.unwrap_or(true) && agree);
        }
    }
    same
}

fn call(program: &Compiled, entry: &str, args: &[Value]) -> Result<Vec<Value>, String> {
    let mut session = program.session_on(Backend::Interpreter);
    session.call(entry, args.to_vec()).map_err(|error| error.to_string())
}

/// The places of all maps that are applied to something.
fn maps(text: &str) -> Vec<(usize, usize)> {
    let spans = token_spans(FileId(0), text);
    let token = |i: usize| spans.get(i).map_or("", |s| &text[s.start as usize..s.end as usize]);
    let is_map = |i: &usize| matches!(token(*i), "map" | "map1" | "map2" | "map3" | "map4" | "map5");
    let is_use = |i: &usize| {
        let before = if *i == 0 { "" } else { token(i - 1) };
        let starts_atom = |c: char| c.is_alphanumeric() || matches!(c, '(' | '_' | '[' | '{');
        !matches!(before, "def" | "entry" | "let" | "val" | ".") && token(i + 1).starts_with(starts_atom)
    };
    (0..spans.len())
        .filter(|i| is_map(i) && is_use(i))
        .map(|i| (spans[i].start as usize, spans[i].end as usize))
        .collect()
}

/// The Core of a program, with variables numbered as they come.
fn shape(program: &Compiled) -> String {
    let text = print_without_locs(program.core());
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut result = String::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    for word in text.split_inclusive(|c| !is_word(c)) {
        let name = word.trim_end_matches(|c| !is_word(c));
        let numbered = name.rsplit_once('_').is_some_and(|(_, n)| n.parse::<u32>().is_ok());
        if numbered {
            let count = names.len();
            let number = *names.entry(name).or_insert(count);
            result.push_str(&format!("v{number}{}", &word[name.len()..]));
        } else {
            result.push_str(word);
        }
    }
    result
}
