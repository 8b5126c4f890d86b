//! Every error code has a page, and the examples on the pages are right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dagaz::compile::compile_source;
use dagaz::{Failure, explain};
use regex::Regex;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// The codes that the crates use.
fn codes_in_sources() -> BTreeSet<String> {
    let calls = r#"\b(?:error|warning|misuse)\(\s*"([a-z]+(?:-[a-z]+)*)"\s*,|\bcode: "([a-z-]+)""#;
    let calls = Regex::new(calls).expect("a regular expression");
    let mut codes = BTreeSet::new();
    for krate in ["dagaz", "dagaz-ad", "dagaz-simplify", "dagaz-syntax", "dagaz-types"] {
        let mut files = Vec::new();
        rust_files(&crates().join(krate).join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            for found in calls.captures_iter(&text) {
                let code = found.get(1).or(found.get(2)).expect("a code");
                codes.insert(code.as_str().to_owned());
            }
        }
    }
    codes
}

#[test]
fn every_code_has_a_page() {
    let codes = codes_in_sources();
    assert!(codes.contains("type-mismatch"), "the search finds nothing: {codes:?}");
    let missing: Vec<&String> = codes.iter().filter(|code| explain::explain(code).is_none()).collect();
    assert!(missing.is_empty(), "write docs/errors/CODE.md and list it in explain.rs for: {missing:?}");
}

#[test]
fn every_page_in_the_folder_is_listed() {
    let folder = crates().join("../docs/errors");
    for entry in std::fs::read_dir(folder).expect("the folder of pages") {
        let path = entry.expect("an entry").path();
        let code = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let page = explain::explain(&code).unwrap_or_else(|| panic!("{code} is not listed in explain.rs"));
        assert!(page.starts_with(&format!("# {code}\n")), "the page of {code} has another title");
    }
}

/// The example after a heading line of a page.
fn example<'p>(page: &'p str, heading: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("\n{heading}:\n\n```futhark\n"))?;
    rest.split_once("\n```").map(|(example, _)| example)
}

#[test]
fn examples_are_right() {
    let mut mistakes = Vec::new();
    for code in explain::codes() {
        let page = explain::explain(code).expect("a page");
        if let Some(wrong) = example(page, "Wrong") {
            match compile_source("wrong.fut", wrong) {
                Err(Failure::Rejected { diagnostics, .. }) if diagnostics.iter().any(|d| d.code == code) => {}
                Err(failure) => mistakes.push(format!("{code}: the wrong example gives {failure}")),
                Ok(compiled) if compiled.warnings().iter().any(|d| d.code == code) => {}
                Ok(_) => mistakes.push(format!("{code}: the wrong example is accepted")),
            }
        }
        if let Some(right) = example(page, "Right")
            && let Err(failure) = compile_source("right.fut", right)
        {
            mistakes.push(format!("{code}: the right example gives {failure}"));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}
