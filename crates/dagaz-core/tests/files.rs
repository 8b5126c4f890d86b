//! Every `.core` file beside this one is run. Comments say what to do, and what came of it:
//!
//! ```text
//! -- run f 3i64 [1.0f64]      calls the function on values
//! -- call f [1.0f64]          calls the entry point
//! -- cost f 3i64              calls the function and shows the counters
//! -- verify                   shows the errors of the verifier
//! -- print                    shows the program as it is printed
//! ```
//!
//! The lines `--   => …` below are expectations; `UPDATE_EXPECT=1 cargo test` rewrites them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dagaz_core::exp::Program;
use dagaz_core::formats::text;
use dagaz_core::interp::{Interpreter, RuntimeError};
use dagaz_core::parse::parse;
use dagaz_core::print::{print, print_without_locs};
use dagaz_core::types::FunId;
use dagaz_core::value::Value;
use dagaz_core::verify::verify;

const ANSWER: &str = "--   => ";

#[test]
fn core_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of tests")
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "core"))
        .collect();
    files.sort();
    assert!(files.len() > 3, "the folder has test files");
    for path in files {
        let input = std::fs::read_to_string(&path).expect("a readable test file");
        expect_test::expect_file![&path].assert_eq(&answered(&input));
    }
}

/// The file with the answers to its directives as they are now.
fn answered(input: &str) -> String {
    let program = parse(input);
    if let Ok(program) = &program {
        round_trip(program);
    }
    let mut out = String::new();
    for line in input.lines().filter(|line| !line.starts_with(ANSWER.trim_end())) {
        let _ = writeln!(out, "{line}");
        let Some(directive) = line.strip_prefix("-- ") else { continue };
        let answer = match &program {
            Err(error) => matches!(directive, "parse").then(|| error.to_string()),
            Ok(program) => answer(program, directive),
        };
        for line in answer.iter().flat_map(|a| a.lines()) {
            let _ = writeln!(out, "{}", format!("{ANSWER}{line}").trim_end());
        }
    }
    out
}

fn round_trip(program: &Program) {
    let printed = print(program);
    let again = parse(&printed).unwrap_or_else(|e| panic!("cannot parse what was printed: {e}\n{printed}"));
    assert_eq!(print(&again), printed);
}

fn answer(program: &Program, directive: &str) -> Option<String> {
    let (command, rest) = directive.split_once(' ').unwrap_or((directive, ""));
    let (name, args) = rest.split_once(' ').unwrap_or((rest, ""));
    match command {
        "run" | "call" | "cost" => {
            let args = text::read_values(args.as_bytes()).expect("arguments");
            let mut interpreter = Interpreter::new(program);
            let results = if command == "call" {
                interpreter.call_entry(name, args)
            } else {
                let fun = program.funs.iter().position(|f| f.name == name).expect("a function of that name");
                interpreter.call_fun(FunId(fun as u32), args)
            };
            let counters = interpreter.counters();
            Some(match (results, command) {
                (Ok(_), "cost") => {
                    format!("work {}, span {}, peak {}", counters.work, counters.span, counters.peak_elements)
                }
                (results, _) => show(program, results),
            })
        }
        "verify" => {
            let errors: Vec<String> = verify(program).iter().map(ToString::to_string).collect();
            Some(if errors.is_empty() { "ok".to_string() } else { errors.join("\n") })
        }
        "print" => Some(print_without_locs(program)),
        _ => None,
    }
}

fn show(program: &Program, results: Result<Vec<Value>, RuntimeError>) -> String {
    match results {
        Ok(values) => values.iter().map(text::print).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("error: {}", error.render(program)),
    }
}
