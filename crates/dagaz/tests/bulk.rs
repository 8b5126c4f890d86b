//! Programs as operations on whole arrays: what they compute, and how many there are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dagaz::bulk::{NoBulk, whole_arrays};
use dagaz::testing::run::{Settings, Status};
use dagaz::testing::spec::{self, Expectation, Input};
use dagaz::testing::{report, suite};
use dagaz_core::interp::{Interpreter, RuntimeError};
use dagaz_core::pass::{self, Stage, Step};
use dagaz_core::value::Value;
use dagaz_optimise::pipelines::CLEAN_UP;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn name(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// The programs of a folder that do not do as operations on whole arrays what their test blocks say, with the reason.
fn failures(folder: &str) -> Vec<String> {
    let tests = suite::find_tests(&[root().join(folder)]).expect("a folder of programs");
    assert!(!tests.is_empty(), "there are no tests in {folder}");
    let results = suite::run_tests(tests, &Settings::new(dagaz::Backend::Bulk), 2, &|_| {});
    println!("{}", report::text(&results));
    let failed = results.iter().filter(|result| result.status != Status::Passed);
    failed.map(|r| format!("{}: {}", name(&r.path), r.reason.clone().unwrap_or_default())).collect()
}

#[test]
fn test_blocks_of_examples() {
    assert_eq!(failures("examples"), Vec::<String>::new());
}

#[test]
fn test_blocks_of_programs() {
    let expected = [
        "recursive_derivatives: no form as operations on whole arrays: the function 'total_2_jvp', which may call \
         itself, is called inside of a map",
        "sizes_that_loops_change: no form as operations on whole arrays: the size of an array differs between the \
         iterations of a map",
    ];
    assert_eq!(failures("crates/dagaz/tests/programs"), expected);
}

/// Every case of the examples with its values in the block, before fusion, and as Core again.
#[test]
fn there_and_back() {
    let mut cases = 0;
    for path in programs(&["examples"]) {
        let text = std::fs::read_to_string(&path).expect("a program");
        let Ok(Some(spec)) = spec::parse(&text) else { continue };
        let Expectation::Accepted { cases: stated, .. } = spec.expectation else { continue };
        let Ok(bulk) = whole_arrays(&path, None) else { continue };
        let errors = dagaz_bulk::verify::verify(&bulk);
        assert!(errors.is_empty(), "{}: {}", path.display(), errors[0]);
        let compiled = dagaz::compile::compile_file(&path).expect("a program that compiles");
        let mut again = dagaz_bulk::to_core::to_core(&bulk);
        pass::run(&[Step::All(CLEAN_UP)], &mut again, Stage::VALUES).expect("Core that can be cleaned up");
        let mut core = Interpreter::shared(compiled.core().clone());
        let mut whole = dagaz_bulk::interp::Interpreter::new(Arc::new(bulk));
        let mut again = Interpreter::new(&again);
        for case in stated {
            let (Input::Values(text), Some(entry)) = (&case.input, compiled.entry(&case.entry)) else {
                continue;
            };
            let Ok(args) = dagaz::data::read_arguments(compiled.core(), entry, text.as_bytes()) else {
                continue;
            };
            let expected = core.call_entry(&case.entry, args.clone());
            same(&path, &expected, &whole.call_entry(&case.entry, args.clone()));
            same(&path, &expected, &again.call_entry(&case.entry, args));
            cases += 1;
        }
    }
    assert!(cases > 100, "only {cases} cases");
}

type Outcome = Result<Vec<Value>, RuntimeError>;

fn same(path: &Path, expected: &Outcome, got: &Outcome) {
    match (expected, got) {
        (Ok(expected), Ok(got)) => {
            for (x, y) in expected.iter().zip(got) {
                let difference = dagaz::data::first_difference(x, y, 1e-9);
                assert!(difference.is_none(), "{}: {difference:?}", path.display());
            }
            assert_eq!(expected.len(), got.len(), "{}", path.display());
        }
        (Err(expected), Err(got)) => assert_eq!(expected.message, got.message, "{}", path.display()),
        _ => panic!("{}: {got:?}, not {expected:?}", path.display()),
    }
}

/// The programs in folders and the folders inside of them, in order.
fn programs(folders: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|ext| ext == "fut" || ext == "dz") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// How many entry points of the examples and benchmarks have a form as operations on whole arrays, and why the others have not.
#[test]
fn coverage() {
    let (mut transformed, mut reasons) = (0, BTreeMap::<String, Vec<String>>::new());
    for path in programs(&["examples", "benches"]) {
        if let Ok(program) = whole_arrays(&path, None) {
            transformed += program.entries.len();
            continue;
        }
        // Some are programs that must be rejected.
        let Ok(compiled) = dagaz::compile::compile_file(&path) else { continue };
        for entry in compiled.entry_points() {
            match whole_arrays(&path, Some(&entry.name)) {
                Ok(_) => transformed += 1,
                Err(NoBulk::Unsupported(why)) => {
                    let reason = why.splitn(4, ':').last().unwrap_or(&why).trim().to_owned();
                    reasons.entry(reason).or_default().push(format!("{}/{}", name(&path), entry.name));
                }
                Err(NoBulk::Failure(failure)) => panic!("{}: {failure:?}", path.display()),
            }
        }
    }
    println!("{transformed} entry points\n{reasons:#?}");
    assert_eq!(reasons, BTreeMap::new());
    assert!(transformed >= 199, "only {transformed} entry points");
}
