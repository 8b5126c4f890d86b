//! What becomes of programs of Core, as files: every `.core` file in the folders beside this test.
//!
//! ```text
//! -- What it is about.
//! -- run: transform, simplify
//! -- on: 2 [1.0, 2.0]
//! def f (n: i64, xs: [n]f64) : (ys: [n]f64) = …
//! -- expect:
//! -- …
//! ```
//!
//! After `on` are arguments of the first function, for which Core, the bulk program as it is and as its text says, and the Core made
//! of it must do the same. Variables are numbered in the order in which they appear. Instead of a program, `expect: unsupported: …`
//! says why there is none. `UPDATE_EXPECT=1 cargo test` rewrites expectations.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dagaz_bulk::term::Program as Bulk;
use dagaz_bulk::{interp, parse, print, simplify, to_core, transform, verify};
use dagaz_core::exp::Program;
use dagaz_core::formats::text::read_values;
use dagaz_core::interp::{Interpreter, RuntimeError};
use dagaz_core::pass::Stage;
use dagaz_core::types::FunId;
use dagaz_core::value::Value;

const EXPECT: &str = "-- expect:";

#[test]
fn core_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut faults = Vec::new();
    let mut count = 0;
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        for path in entries(&folder) {
            count += 1;
            let text = std::fs::read_to_string(&path).expect("a readable test file");
            match answered(&text) {
                Ok(answered) => expect_test::expect_file![&path].assert_eq(&answered),
                Err(fault) => {
                    faults.push(format!("{}: {fault}", path.strip_prefix(&root).unwrap_or(&path).display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 30, "only {count} files");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).expect("a folder of tests");
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.expect("an entry of the folder").path()).collect();
    paths.sort();
    paths
}

/// The text with the expectation as it is now, or what is wrong.
fn answered(text: &str) -> Result<String, String> {
    let given: String =
        text.lines().take_while(|line| !line.starts_with(EXPECT)).flat_map(|line| [line, "\n"]).collect();
    let core = dagaz_core::parse::parse(&given).map_err(|error| error.to_string())?;
    if let Some(error) = dagaz_core::verify::verify(&core).first() {
        return Err(format!("the program does not verify: {error}"));
    }
    let run =
        given.lines().find_map(|line| line.strip_prefix("-- run: ")).ok_or("there is no line '-- run: …'")?;
    let bulk = match transform::transform(&core) {
        Ok(bulk) => bulk,
        Err(why) => return Ok(format!("{}\n{EXPECT} unsupported: {why}\n", given.trim_end())),
    };
    let simple = simplify::simplify(bulk.clone());
    for line in given.lines().filter_map(|line| line.strip_prefix("-- on: ")) {
        let args = read_values(line.as_bytes()).map_err(|error| format!("{error:?}"))?;
        agree(&core, &bulk, &args)?;
        agree(&core, &simple, &args)?;
    }
    let shown = match run {
        "transform" => bulk,
        "transform, simplify" => simple,
        _ => return Err(format!("there is no step '{run}'")),
    };
    let mut out = format!("{}\n{EXPECT}\n", given.trim_end());
    for line in renumbered(&print::print_without_locs(&read_back(&shown)?)).lines() {
        let _ = writeln!(out, "{}", format!("-- {line}").trim_end());
    }
    Ok(out)
}

/// The program, verified, as its text says.
fn read_back(bulk: &Bulk) -> Result<Bulk, String> {
    let text = print::print(bulk);
    if let Some(error) = verify::verify(bulk).first() {
        return Err(format!("a wrong program: {error}\n{text}"));
    }
    let read = parse::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    match print::print(&read) == text {
        true => Ok(read),
        false => Err(format!("the text is read as another program:\n{text}")),
    }
}

type Outcome = Result<Vec<Value>, RuntimeError>;

fn agree(core: &Program, bulk: &Bulk, args: &[Value]) -> Result<(), String> {
    let again = to_core::to_core(bulk);
    if let Some(error) = dagaz_core::verify::verify_at(&again, Stage::VALUES).first() {
        return Err(format!("wrong Core comes back: {error}"));
    }
    let expected = Interpreter::new(core).call_fun(FunId(0), args.to_vec());
    let got = interp::Interpreter::new(Arc::new(read_back(bulk)?)).call_fun(FunId(0), args.to_vec());
    same("the bulk program", &expected, &got)?;
    same("the Core made of it", &expected, &Interpreter::new(&again).call_fun(FunId(0), args.to_vec()))
}

fn same(what: &str, expected: &Outcome, got: &Outcome) -> Result<(), String> {
    let agree = match (expected, got) {
        (Ok(expected), Ok(got)) => expected == got,
        (Err(expected), Err(got)) => expected.message == got.message,
        _ => false,
    };
    if agree { Ok(()) } else { Err(format!("{what} gives {got:?}, not {expected:?}")) }
}

/// The text with other numbers of variables: in the order in which they appear.
fn renumbered(text: &str) -> String {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut out = String::new();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, tail) = rest.split_at(end);
        rest = tail;
        let numbered = word.rsplit_once('_').filter(|(hint, n)| {
            !hint.is_empty() && !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()) && !hint.contains('.')
        });
        match numbered {
            Some((hint, number)) => {
                let next = numbers.len();
                let _ = write!(out, "{hint}_{}", numbers.entry(number.to_owned()).or_insert(next));
            }
            None => out.push_str(word),
        }
    }
    out
}
