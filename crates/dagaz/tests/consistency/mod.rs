//! Takes the maps of programs out, one at a time, and looks at what becomes of them.
//!
//! A program that is accepted without one of its maps must give the same results as before (001 4.7.2), and the program
//! with all its maps written out again must be the same program (4.7.3).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dagaz::data::{TOLERANCE, first_difference, read_arguments, read_values};
use dagaz::testing::spec::{Expectation, Input};
use dagaz::testing::{spec, suite};
use dagaz::{Backend, Compiled, Failure, Limits, Value};
use dagaz_core::exp::EntryType;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::print::print_without_locs;
use dagaz_core::types::{Atom, Type};
use dagaz_syntax::{FileId, token_spans};

/// How long a call may take: values that nobody chose may need for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a program is without one of its maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// The same Core.
    SameCore,
    /// Another way to the same results, on the values in the program's tests, or on some made-up values.
    SameResults,
    /// Accepted as it stands, without any map put in, and with other results: another program, in plain Futhark as well.
    Plain,
    /// Rejected, because there are several ways to put maps in.
    Ambiguous,
    /// Rejected for another reason.
    Rejected,
    /// Accepted with other maps than the one taken out, and with other results, or no values to try it with.
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
                    Ok(again) if again == shape(&changed) => {
                        let judged = judge(path, &original, &core, &changed);
                        let is_plain = judged == Verdict::Different && changed.explicit() == without;
                        if is_plain { Verdict::Plain } else { judged }
                    }
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
    let on_tests = same_results(path, original, changed);
    match on_tests.or_else(|| same_on_made_up_values(original, changed)) {
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
            let Input::Values(text) = &case.input else { continue };
            let Some(entry) = a.entry(&case.entry) else { continue };
            let Ok(args) = read_arguments(a.core(), entry, text.as_bytes()) else { continue };
            let agree = match (call(a, &case.entry, &args), call(b, &case.entry, &args)) {
                (Ok(x), Ok(y)) => equal(&x, &y),
                (Err(_), Err(_)) => true,
                (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
            };
            same = Some(same.unwrap_or(true) && agree);
        }
    }
    same
}

/// Whether all entry points give the same for some values. None if there is an entry point for which none are found.
fn same_on_made_up_values(a: &Compiled, b: &Compiled) -> Option<bool> {
    let mut same = None;
    for entry in a.entry_points() {
        let args: Option<Vec<String>> = entry.params.iter().map(|param| made_up(&param.ty)).collect();
        let args = read_values(args?.join(" ").as_bytes()).ok()?;
        let agree = match (call(a, &entry.name, &args), call(b, &entry.name, &args)) {
            (Ok(x), Ok(y)) => equal(&x, &y),
            (Ok(_), Err(_)) => false,
            // Values that are no good say nothing.
            (Err(_), _) => return None,
        };
        same = Some(same.unwrap_or(true) && agree);
    }
    same
}

fn equal(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| first_difference(x, y, TOLERANCE).is_none())
}

/// Some value of a type, as text. All sizes are 3.
fn made_up(ty: &EntryType) -> Option<String> {
    let EntryType::Value { ty, .. } = ty else { return None };
    match ty {
        Type::Prim(prim) => Some(scalar(*prim, 2)),
        Type::Array { elem, dims } => {
            let sizes: Vec<usize> = dims.iter().map(size).collect();
            Some(array(*elem, &sizes, 1))
        }
        Type::Acc { .. } => None,
    }
}

fn size(dim: &Atom) -> usize {
    match dim {
        Atom::Const(Prim::I64(n)) => *n as usize,
        Atom::Const(_) | Atom::Var(_) => 3,
    }
}

fn array(elem: PrimType, sizes: &[usize], seed: usize) -> String {
    match sizes {
        [] => scalar(elem, seed),
        [n, rest @ ..] if sizes.contains(&0) => {
            let dims: String = [*n].iter().chain(rest).map(|n| format!("[{n}]")).collect();
            format!("empty({dims}{elem})")
        }
        [n, rest @ ..] => {
            let rows: Vec<String> = (0..*n).map(|i| array(elem, rest, seed * 5 + i)).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}

fn scalar(prim: PrimType, seed: usize) -> String {
    match prim {
        PrimType::Bool => seed.is_multiple_of(2).to_string(),
        PrimType::F16 | PrimType::F32 | PrimType::F64 => format!("{}.{}{prim}", seed % 3, seed % 7 + 1),
        PrimType::I8
        | PrimType::I16
        | PrimType::I32
        | PrimType::I64
        | PrimType::U8
        | PrimType::U16
        | PrimType::U32
        | PrimType::U64 => format!("{}{prim}", seed % 3),
    }
}

fn call(program: &Compiled, entry: &str, args: &[Value]) -> Result<Vec<Value>, String> {
    let mut session = program.session_on(Backend::Interpreter);
    let deadline = Some(Instant::now() + PATIENCE);
    session.set_limits(Limits { deadline, ..Limits::generous() });
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
