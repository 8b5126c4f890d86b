//! The language guide is a program that reproduces itself, and the README's program is right too.
//!
//! Every block of a page that is marked `futhark` is compiled on its own. What follows `> ` is an
//! expression, evaluated with the block's definitions in scope; the lines below it are its value, or the error that
//! evaluation ends with. Test blocks inside are run. A block marked `futhark rejected: CODE` must be rejected with that
//! code. `UPDATE_EXPECT=1 cargo test -p dagaz --test guide` writes the values anew.

use std::fmt::Write as _;
use std::path::Path;

use dagaz::testing::run::{Settings, Status, run_program};
use dagaz::testing::spec;
use dagaz::{Failure, compile_source};
use literate::{PROMPT, value};

mod literate;

/// A page must have at least so many blocks.
fn check(name: &str, least: usize) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = std::fs::read_to_string(&page).expect("a page");
    let mut blocks = 0;
    let mut out = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let _ = writeln!(out, "{line}");
        let Some(mark) = line.strip_prefix("```futhark") else { continue };
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        blocks += 1;
        let place = format!("{name}, block at line {}", number + 1);
        match mark.trim().strip_prefix("rejected: ") {
            Some(code) => {
                check_rejected(&place, code, &block.join("\n"));
                block.iter().for_each(|line| writeln!(out, "{line}").expect("writes"));
            }
            None => out.push_str(&evaluated(&place, &block)),
        }
        out.push_str("```\n");
    }
    assert!(blocks >= least, "there are only {blocks} blocks of code");
    expect_test::expect_file![page].assert_eq(&out);
}

#[test]
fn the_language_guide_is_right() {
    check("docs/language.md", 20);
}

#[test]
fn the_differentiation_guide_is_right() {
    check("docs/differentiation.md", 4);
}

#[test]
fn the_readme_is_right() {
    check("README.md", 1);
}

fn check_rejected(place: &str, code: &str, program: &str) {
    match compile_source("block.fut", program) {
        Ok(_) => panic!("{place}: accepted, but must be rejected with {code}"),
        Err(Failure::Rejected { diagnostics, .. }) if diagnostics.iter().any(|d| d.code == code) => {}
        Err(failure) => panic!("{place}: must be rejected with {code}, but: {failure}"),
    }
}

/// The block with the values of its expressions as they are now.
fn evaluated(place: &str, block: &[&str]) -> String {
    let first = block.iter().position(|line| line.starts_with(PROMPT)).unwrap_or(block.len());
    let (definitions, session) = block.split_at(first);
    let definitions: String = definitions.iter().map(|line| format!("{line}\n")).collect();
    run_test_blocks(place, &definitions);

    let expressions = session.iter().filter_map(|line| line.strip_prefix(PROMPT)).enumerate();
    let mut program = definitions.clone();
    for (number, expression) in expressions.clone() {
        let _ = writeln!(program, "entry result_{number} =\n  {expression}");
    }
    let compiled =
        compile_source("block.fut", &program).unwrap_or_else(|failure| panic!("{place}: {failure}"));
    let mut out = definitions;
    for (number, expression) in expressions {
        let _ = writeln!(out, "{PROMPT}{expression}\n{}", value(&compiled, &format!("result_{number}")));
    }
    out
}

/// Run the tests among the definitions, if there are any.
fn run_test_blocks(place: &str, program: &str) {
    let spec = spec::parse(program).unwrap_or_else(|error| panic!("{place}: {error}"));
    let Some(spec) = spec else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("block.fut");
    std::fs::write(&path, program).expect("a file");
    let settings = Settings::new(dagaz::Backend::Interpreter);
    let result = run_program(&path, &spec, &settings);
    assert_eq!(result.status, Status::Passed, "{place}: {}", result.reason.unwrap_or_default());
}
