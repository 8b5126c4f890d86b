//! `dagaz bench`, `profile` and `explain`, and the sanitizers.

use std::path::Path;
use std::process::{Command, Output};

use expect_test::{Expect, expect};
use tempfile::TempDir;

const PROGRAM: &str = "\
-- ==
-- entry: squares
-- random input { [1000]f64 }
-- input { [1.0, 2.0] } output { 5.0 }
-- input { [3.0, 4.0] } output { 25.0 }
entry squares [n] (xs: [n]f64) = f64.sum (map (\\x -> x * x) xs)

entry smooth [n] (steps: i64) (xs: *[n]f64) =
  loop xs for i < steps do
    xs with [i % n] = f64.sum xs / f64.i64 n

entry sorted [n] (is: [n]i64) (xs: [n]f64) =
  let ys = scan (+) 0 xs
  in map (\\i -> ys[i]) is
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("program.fut"), PROGRAM).expect("a program");
    folder
}

fn dagaz(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagaz"));
    command.args(words).current_dir(folder).env("NO_COLOR", "1").output().expect("it starts")
}

fn text(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

fn check(words: &[&str], expected: Expect) {
    expected.assert_eq(&text(&dagaz(folder().path(), words)));
}

#[test]
fn lines_are_explained() {
    check(
        &["explain", "program.fut", "-e", "squares"],
        expect![[r#"
        entry squares
        program.fut
            6 | entry squares [n] (xs: [n]f64) = f64.sum (map (\x -> x * x) xs)
              threads: pieces run on threads where there are enough iterations
              SIMD: a loop for vector units, which adds up in any order
              fused: what is computed for each element is used at once, and never stored

    "#]],
    );
    check(
        &["explain", "program.fut", "-e", "smooth"],
        expect![[r#"
            entry smooth
            program.fut
               10 |     xs with [i % n] = f64.sum xs / f64.i64 n
                  threads: pieces run on threads where there are enough iterations
                  SIMD: a loop for vector units, which adds up in any order
                  in place: 'xs' changes where the result belongs
                  check: a divisor must not be zero

        "#]],
    );
    check(
        &["explain", "program.fut", "-e", "sorted"],
        expect![[r#"
        entry sorted
        program.fut
           13 |   let ys = scan (+) 0 xs
              threads: pieces run on threads where there are enough iterations
              SIMD: a loop for vector units, which adds up in any order
              memory: for [n]f64
           14 |   in map (\i -> ys[i]) is
              threads: pieces run on threads where there are enough iterations
              SIMD: a loop for vector units; after a failed check it runs again in order
              memory: for [n]f64
              check: an index must be within bounds

    "#]],
    );
    check(
        &["explain", "program.fut", "-e", "nowhere"],
        expect![[r#"
        error: there is no such entry point
    "#]],
    );
}

#[test]
fn cases_are_measured_and_compared() {
    let folder = folder();
    let first = text(&dagaz(folder.path(), &["bench", "program.fut", "--runs", "5", "--json", "all.json"]));
    let cases: Vec<&str> = first.lines().skip(2).map(|line| line[..26].trim()).collect();
    assert_eq!(cases, ["squares [1000]f64", "squares [2]f64", "squares [2]f64 #2"], "{first}");
    // The same cases, if they had taken a quarter of an hour or half an hour.
    let json = std::fs::read_to_string(folder.path().join("all.json")).expect("a file");
    let is_time = |line: &str| line.trim().trim_end_matches(',').parse::<f64>().is_ok();
    let slower: Vec<String> = json
        .lines()
        .enumerate()
        .map(|(i, line)| {
            if is_time(line) {
                format!("{}e9{}", 1 + i % 2, if line.ends_with(',') { "," } else { "" })
            } else {
                line.to_owned()
            }
        })
        .collect();
    std::fs::write(folder.path().join("slow.json"), slower.join("\n")).expect("a file");
    let words = ["bench", "program.fut", "--runs", "5", "--compare", "slow.json"];
    let second = text(&dagaz(folder.path(), &words));
    assert_eq!(second.matches("times as fast").count(), 3, "{second}");
    let none = dagaz(folder.path(), &["bench", "program.fut", "-e", "smooth"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none).contains("there are no inputs"), "{}", text(&none));
}

#[test]
fn time_is_counted_by_line() {
    let folder = folder();
    let words = ["profile", "program.fut", "-e", "smooth", "-a", "50", "-a", "[1, 2, 3]", "--runs", "3"];
    let shown = text(&dagaz(folder.path(), &words));
    let runs = |line: &str| {
        let row = shown.lines().find(|row| row.contains(line)).unwrap_or_else(|| panic!("{shown}"));
        row.split_whitespace().nth(4).map(str::to_owned)
    };
    assert_eq!(runs("program.fut:9:").as_deref(), Some("3"), "{shown}");
    assert_eq!(runs("program.fut:10:").as_deref(), Some("150"), "{shown}");
    let words = ["profile", "program.fut", "-e", "squares", "-a", "[1, 2]", "--backend", "interpreter"];
    assert_eq!(dagaz(folder.path(), &words).status.code(), Some(2));
}

#[test]
fn sanitized_programs_give_the_same() {
    let folder = folder();
    let sanitized = dagaz(folder.path(), &["test", "program.fut", "--sanitize"]);
    assert!(sanitized.status.success(), "{}", text(&sanitized));
    check(
        &["run", "program.fut", "-e", "sorted", "-a", "[2]", "-a", "[1.0]", "--sanitize"],
        expect![[r#"
        error: Index [2] out of bounds for array of shape [1].
    "#]],
    );
}

#[test]
fn sanitizers_find_something() {
    let folder = folder();
    let bug = "__attribute__((constructor)) static void bug(void) { volatile int i = 3; volatile int a[2]; a[i] = 1; }";
    std::fs::write(folder.path().join("bug.h"), bug).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagaz"));
    command.args(["run", "program.fut", "-e", "squares", "-a", "[1.0]", "--sanitize"]).env("NO_COLOR", "1");
    command.env("CC", format!("cc -include {}", folder.path().join("bug.h").display()));
    let output = command.current_dir(folder.path()).output().expect("it starts");
    let shown = text(&output);
    assert!(shown.contains("internal error") && shown.contains("out of bounds"), "{shown}");
    assert_eq!(output.status.code(), Some(1));
}

/// All programs of the repository that have inputs, under the sanitizers.
#[test]
fn examples_and_prelude_are_clean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let words = ["test", "--sanitize", "--timeout", "120", "examples", "prelude/tests"];
    let output = dagaz(&root, &words);
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn inputs_come_from_files() {
    let folder = folder();
    std::fs::write(folder.path().join("values.in"), "[0i64, 1i64] [3.0, 4.0]").expect("values");
    let words =
        ["bench", "program.fut", "-e", "sorted", "--input", "values.in", "--runs", "2", "--json", "out.json"];
    let measured = dagaz(folder.path(), &words);
    assert!(measured.status.success(), "{}", text(&measured));
    let json = std::fs::read_to_string(folder.path().join("out.json")).expect("measurements");
    let all = dagaz::bench::from_json(&json).expect("measurements");
    let shown: Vec<String> =
        all.iter().map(|m| format!("{} {} {}", m.entry, m.input, m.microseconds.len())).collect();
    assert_eq!(shown, ["sorted [2]i64 [2]f64 2"]);
    let nothing = dagaz(folder.path(), &["bench", "program.fut", "-e", "sorted", "--input", "nowhere.in"]);
    assert_eq!(nothing.status.code(), Some(1), "{}", text(&nothing));
    let unnamed = dagaz(folder.path(), &["bench", "program.fut", "--input", "values.in"]);
    assert_eq!(unnamed.status.code(), Some(2), "{}", text(&unnamed));
}
