//! Imports, and how errors look.

use std::path::Path;

use dagaz::files::InMemory;
use dagaz::render::Style;
use dagaz::{Compiled, Failure, Settings, compile_file, compile_file_in};
use expect_test::{Expect, expect};

/// Compile the first one of some files, on the disk and in memory, and show its entry points or what is wrong.
fn check(files: &[(&str, &str)], expected: Expect) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let shown = outcome(compile_file(&folder.path().join(files[0].0)));
    let shown = shown.replace(&format!("{}/", folder.path().display()), "");
    expected.assert_eq(&shown);

    let in_memory = files.iter().fold(InMemory::new(), |all, (name, text)| all.with(name, *text));
    let shown = outcome(compile_file_in(&in_memory, Path::new(files[0].0), &Settings::plain()));
    expected.assert_eq(&shown);
}

fn outcome(result: Result<Compiled, Failure>) -> String {
    match result {
        Ok(program) => program.entry_points().iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(" "),
        Err(failure) => failure.render(Style::Plain),
    }
}

#[test]
fn imports_are_relative_and_read_once() {
    check(
        &[
            ("main.fut", "import \"lib/a\"\nimport \"lib/b\"\nentry f (x: i32) = from_a x + from_b x"),
            ("lib/a.fut", "import \"common\"\ndef from_a (x: i32) = shared x"),
            ("lib/b.dz", "import \"/lib/common\"\ndef from_b (x: i32) = shared x"),
            ("lib/common.fut", "def shared (x: i32) = x"),
        ],
        expect!["f"],
    );
}

#[test]
fn a_missing_import_is_shown_where_it_is() {
    check(
        &[("main.fut", "def x = 1\nimport \"nowhere\"\n")],
        expect![[r#"
        error[missing-import]: there is no file to import as "nowhere"
         --> main.fut:2:8
          |
        2 | import "nowhere"
          |        ^^^^^^^^^
          |
          = help: looked for nowhere.fut and nowhere.dz; a path is relative to the file that imports
    "#]],
    );
}

#[test]
fn a_cycle_is_shown_where_it_closes() {
    check(
        &[
            ("main.fut", "import \"a\"\n"),
            ("a.fut", "import \"b\"\n"),
            ("b.fut", "module m = import \"a\"\n"),
        ],
        expect![[r#"
            error[import-cycle]: importing "a" leads back to this file
             --> b.fut:1:19
              |
            1 | module m = import "a"
              |                   ^^^
              |
              = help: move what both files need into a third one that imports neither
        "#]],
    );
}

#[test]
fn several_errors_and_labels() {
    check(
        &[("main.fut", "def f (x: i32) : bool = x\ndef g = unknown\n")],
        expect![[r#"
        error[type-mismatch]: The body of this function does not match its return type
         --> main.fut:1:25
          |
        1 | def f (x: i32) : bool = x
          |                         ^ has type "i32"
          |
          = help: expected type: bool
          = help: Types "bool" and "i32" do not match

        error[unknown-name]: Unknown variable "unknown"
         --> main.fut:2:9
          |
        2 | def g = unknown
          |         ^^^^^^^
    "#]],
    );
}

#[test]
fn the_standard_library_is_read_once_and_under_any_name() {
    check(
        &[
            (
                "main.fut",
                "import \"std/sort\"\nmodule r = import \"std/random\"\nmodule s = import \"/prelude/std/sort\"\n\
                 import \"lib/a\"\nentry f (xs: []i32) = from_a (s.sort_i32.sort (sort_i32.sort xs))\n",
            ),
            ("lib/a.fut", "open import \"std/sort.fut\"\ndef from_a (xs: []i32) = sort_i32.sort xs"),
        ],
        expect!["f"],
    );
}

#[test]
fn a_file_of_the_user_comes_before_the_standard_library() {
    check(
        &[
            ("main.fut", "import \"std/sort\"\nimport \"lib/a\"\nentry f (x: i32) = own (from_a x)"),
            ("std/sort.fut", "def own (x: i32) = x"),
            (
                "lib/a.fut",
                "import \"std/sort\"\nmodule s = import \"../std/sort\"\n\
                 def from_a (x: i32) = s.own (sort_i32.lower_median [x])",
            ),
        ],
        expect!["f"],
    );
}

#[test]
fn what_the_standard_library_has_is_said_where_it_has_not() {
    check(
        &[("main.fut", "import \"std/sorting\"\n")],
        expect![[r#"
            error[missing-import]: there is no file to import as "std/sorting"
             --> main.fut:1:8
              |
            1 | import "std/sorting"
              |        ^^^^^^^^^^^^^
              |
              = help: looked for std/sorting.fut and std/sorting.dz; a path is relative to the file that imports
              = help: the standard library has std/linalg, std/nn, std/random, std/search, std/segmented, std/sort, std/special, std/stats
        "#]],
    );
}

#[test]
fn names_of_the_standard_library_are_told_apart_from_unknown_ones() {
    check(
        &[("main.fut", "entry f = linalg_f64.det [[1, 2], [3, 4]]\n")],
        expect![[r#"
            error[unknown-name]: Unknown variable "linalg_f64"
             --> main.fut:1:11
              |
            1 | entry f = linalg_f64.det [[1, 2], [3, 4]]
              |           ^^^^^^^^^^
              |
              = help: the standard library has "linalg_f64": import "std/linalg"
        "#]],
    );
}

#[test]
fn errors_of_the_standard_library_are_shown_where_it_is_used() {
    let program = "module random = import \"std/random\"\n\
                   entry main (n: i64) = random.random.integer (n, 0) (random.random.key 1)\n";
    let compiled = dagaz::compile_source("main.fut", program).expect("a program");
    let argument = dagaz::data::read_values(b"3i64").expect("a value");
    let error = compiled.session().call("main", argument).expect_err("fails");
    expect![[r#"
        error: Assertion is false: from < to, where from = 3, to = 0
         --> main.fut:2:23
          |
        2 | entry main (n: i64) = random.random.integer (n, 0) (random.random.key 1)
          |                       ^"#]]
    .assert_eq(&error.render(Style::Plain));
}
