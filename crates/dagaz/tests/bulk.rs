//! Programs as operations on whole arrays.

use std::path::Path;

use dagaz::testing::run::{Settings, Status};
use dagaz::testing::{report, suite};

/// The programs of a folder that do not do as operations on whole arrays what their test blocks say, with the reason.
fn failures(folder: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let tests = suite::find_tests(&[path]).expect("a folder of programs");
    assert!(!tests.is_empty(), "there are no tests in {folder}");
    let results = suite::run_tests(tests, &Settings::new(dagaz::Backend::Bulk), 2, &|_| {});
    println!("{}", report::text(&results));
    let failed = results.iter().filter(|result| result.status != Status::Passed);
    let name = |path: &Path| path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    failed.map(|r| format!("{}: {}", name(&r.path), r.reason.clone().unwrap_or_default())).collect()
}

#[test]
fn examples() {
    assert_eq!(failures("examples"), Vec::<String>::new());
}

#[test]
fn programs() {
    assert_eq!(failures("crates/dagaz/tests/programs"), Vec::<String>::new());
}

#[test]
fn prelude() {
    assert_eq!(failures("prelude/tests"), Vec::<String>::new());
}
