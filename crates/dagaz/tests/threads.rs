//! Machine code gives the same bits, and the same errors, whatever the number of threads.

use std::path::{Path, PathBuf};

use dagaz::data::{TOLERANCE, first_difference, read_arguments, read_values};
use dagaz::render::Style;
use dagaz::testing::spec::{Expectation, Input};
use dagaz::testing::suite;
use dagaz::{Backend, Compiled, Session, Value, compile_file};

type Outcome = Result<Vec<Value>, String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn compiled(path: &Path) -> Compiled {
    compile_file(path).unwrap_or_else(|failure| panic!("{}: {}", path.display(), failure.summary()))
}

/// The results of a call, or its error with the place in the source.
fn outcome(session: &mut Session, entry: &str, args: &[Value]) -> Outcome {
    session.call(entry, args.to_vec()).map_err(|error| error.render(Style::Plain))
}

/// What a call gives with several numbers of threads, if they agree.
fn agreed(session: &mut Session, name: &str, entry: &str, args: &[Value]) -> Outcome {
    assert_eq!(session.notice(), None, "{name}");
    session.set_threads(1);
    let expected = outcome(session, entry, args);
    for threads in [2, 3, 8] {
        session.set_threads(threads);
        let found = outcome(session, entry, args);
        assert!(found == expected, "{name}, {entry}: {threads} threads do not give what one gives");
    }
    expected
}

/// Calls all entry points of a program with sizes. The interpreter says the same, up to the rounding of sums.
fn check_sizes(name: &str, sizes: &[i64], interpreted: &[i64]) {
    let program = compiled(&root().join("crates/dagaz/tests/parallel").join(name));
    let mut session = program.session_on(Backend::C);
    let mut interpreter = program.session_on(Backend::Interpreter);
    for entry in program.entry_points() {
        for size in sizes.iter().chain(interpreted) {
            let args = read_values(format!("{size}i64").as_bytes()).expect("a number");
            let found = agreed(&mut session, name, &entry.name, &args);
            if !interpreted.contains(size) {
                continue;
            }
            match (found, outcome(&mut interpreter, &entry.name, &args)) {
                (Ok(found), Ok(expected)) => {
                    for (found, expected) in found.iter().zip(&expected) {
                        let difference = first_difference(expected, found, TOLERANCE);
                        assert_eq!(difference, None, "{}, {size}", entry.name);
                    }
                }
                (found, expected) => assert_eq!(found, expected, "{}, {size}", entry.name),
            }
        }
    }
}

/// Calls the programs of a folder with the values in their test blocks.
fn check_folder(folder: &str) {
    let tests = suite::find_tests(&[root().join(folder)]).expect("a folder of programs");
    let mut calls = 0;
    for (path, spec) in tests {
        let Expectation::Accepted { cases, .. } = spec.expect("test blocks").expectation else { continue };
        let program = compiled(&path);
        let mut session = program.session_on(Backend::C);
        for case in cases {
            let (Input::Values(text), Some(entry)) = (&case.input, program.entry(&case.entry)) else {
                continue;
            };
            // A case may be about arguments that are wrong.
            let Ok(args) = read_arguments(program.core(), entry, text.as_bytes()) else { continue };
            // What comes of it is another test.
            let _ = agreed(&mut session, &path.display().to_string(), &case.entry, &args);
            calls += 1;
        }
    }
    assert!(calls > 0, "nothing is called in {folder}");
}

#[test]
fn loops_that_are_split() {
    check_sizes("loops.fut", &[100_000, 654_321], &[0, 1, 1000, 40_000]);
}

#[test]
fn scans_whose_results_are_used_at_once() {
    check_sizes("scans.fut", &[100_000, 654_321], &[0, 1, 2, 3, 5, 1000, 40_000]);
}

#[test]
fn matrices_that_are_used_while_the_caches_have_them() {
    check_sizes("matrices.fut", &[200, 401], &[1, 3]);
}

/// The first error in order is the one that is told.
#[test]
fn errors_in_loops_that_are_split() {
    check_sizes("errors.fut", &[500_000], &[100_000]);
}

#[test]
fn prelude() {
    check_folder("prelude/tests");
}

#[test]
fn examples() {
    check_folder("examples");
}

#[test]
fn programs() {
    check_folder("crates/dagaz/tests/programs");
}
