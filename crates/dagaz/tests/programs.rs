//! The programs of this repository do what their test blocks say.

use std::path::Path;

use dagaz::testing::run::{Settings, Status};
use dagaz::testing::{report, suite};

fn check(folder: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let tests = suite::find_tests(&[path]).expect("a folder of programs");
    assert!(!tests.is_empty(), "there are no tests in {folder}");
    let settings = Settings::new(dagaz::Backend::Interpreter);
    let results = suite::run_tests(tests, &settings, 2, &|_| {});
    let all_passed = results.iter().all(|result| result.status == Status::Passed);
    assert!(all_passed, "{}", report::text(&results));
}

#[test]
fn prelude() {
    check("prelude/tests");
}

#[test]
fn standard_library() {
    check("std/tests");
}

#[test]
fn examples() {
    check("examples");
}

/// One program for each corner of the language that needs several stages of the compiler to get right.
#[test]
fn programs() {
    check("crates/dagaz/tests/programs");
}
