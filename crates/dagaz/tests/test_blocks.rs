//! Reading test blocks.

use std::fmt::Write;

use dagaz::testing::spec::{self, Case, Expectation, Input, Outcome};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let shown = match spec::parse(text) {
        Ok(None) => "no tests".to_owned(),
        Err(error) => error,
        Ok(Some(spec)) => {
            let mut out = format!("tags: {}\n", spec.tags.join(" "));
            match &spec.expectation {
                Expectation::Rejected(pattern) => writeln!(out, "rejected: {pattern}").expect("writes"),
                Expectation::Accepted { cases, warnings } => {
                    warnings.iter().for_each(|w| writeln!(out, "warning: {w}").expect("writes"));
                    cases.iter().for_each(|case| writeln!(out, "{}", show(case)).expect("writes"));
                }
            }
            out
        }
    };
    expected.assert_eq(&shown);
}

fn show(case: &Case) -> String {
    let input = match &case.input {
        Input::Values(given) => given.trim().to_owned(),
        Input::File(path) | Input::ScriptFile(path) => format!("@ {}", path.display()),
        Input::Random(generators) => format!("{generators:?}"),
        Input::Script(exp) => format!("{exp:?}"),
        Input::Property => "any values".to_owned(),
    };
    let outcome = match &case.outcome {
        Outcome::Success => "success".to_owned(),
        Outcome::Values(expected) => expected.trim().to_owned(),
        Outcome::File(path) => format!("@ {}", path.display()),
        Outcome::Failure(pattern) => format!("failure: {pattern}"),
    };
    let tolerance = case.tolerance.map_or(String::new(), |tolerance| format!(" within {tolerance}"));
    format!("{} [{}]: {input} => {outcome}{tolerance}", case.entry, case.tags.join(" "))
}

#[test]
fn properties() {
    check(
        "-- ==\n-- property: ordered  same_length\n-- input { 1 } output { 2 }\n",
        expect![[r#"
            tags: 
            ordered []: any values => success
            same_length []: any values => success
            main []: 1 => 2
        "#]],
    );
}

#[test]
fn tolerances_and_braces_in_strings() {
    check(
        "-- ==\n-- input { \"a } \\\" {\" } output { 2 }\n-- tolerance: 1e-9\n-- input { 1 } output { 2.0 }\n",
        expect![[r#"
            tags: 
            main []: "a } \" {" => 2
            main []: 1 => 2.0 within 0.000000001
        "#]],
    );
    check(
        "-- ==\n-- tolerance: small\n-- input { 1 } output { 2 }\n",
        expect!["test block at line 1: 'small' is no tolerance: a number such as 1e-6 is wanted, or 0"],
    );
}

#[test]
fn a_program_without_tests() {
    check("-- A comment.\ndef x = 1\n", expect!["no tests"]);
}

#[test]
fn inputs_and_outputs() {
    check(
        "-- What it does.\n-- ==\n-- tags { slow odd-one }\n-- input { [1, 2] 3i64 } output { 4.0 }\n-- compiled nobench input {\n--   [1,\n--    2]\n-- }\n-- output {\n--   5 }\n-- input { } \n",
        expect![[r#"
            tags: slow odd-one
            main []: [1, 2] 3i64 => 4.0
            main [compiled nobench]: [1,
                2] => 5
            main []:  => success
        "#]],
    );
}

#[test]
fn entries_in_several_blocks() {
    check(
        "-- ==\n-- entry: f g\n-- input { 1 } output { 2 }\ndef x = 1\n\n-- About h.\n-- ==\n-- entry: h\n-- \"a name\" input @ data/h.in.gz auto output\n-- input @ a.in output @ a.out\n",
        expect![[r#"
            tags: 
            f []: 1 => 2
            g []: 1 => 2
            h []: @ data/h.in.gz => success
            h []: @ a.in => @ a.out
        "#]],
    );
}

#[test]
fn errors_of_both_kinds() {
    check(
        "-- ==\n-- error: expected \"i32\".*found\ndef x = 1\n",
        expect![[r#"
            tags: 
            rejected: expected "i32".*found
        "#]],
    );
    check(
        "-- ==\n-- input { 0 } error: out of bounds\n-- input { 1 }\n-- error:\n",
        expect![[r#"
            tags: 
            main []: 0 => failure: out of bounds
            main []: 1 => failure: 
        "#]],
    );
}

#[test]
fn structure_is_passed_over_and_warnings_are_kept() {
    check(
        "-- ==\n-- input { 1 } output { 1 }\n-- structure gpu-mem { Alloc 2 }\n-- structure { Screma 1 Map/Reduce 2 }\n-- warning: unused\n",
        expect![[r#"
            tags: 
            warning: unused
            main []: 1 => 1
        "#]],
    );
}

#[test]
fn random_and_script_inputs() {
    check(
        "-- ==\n-- random input { [10][2]i32 5i64 f32 } auto output\n-- script input { (f 1, {x = 2}) }\n",
        expect![[r#"
            tags: 
            main [random]: [Random { shape: [10, 2], elem: I32 }, Constant(Prim(I64(5))), Random { shape: [], elem: F32 }] => success
            main [script]: Tuple([Call { name: "f", args: [Literal(Prim(I32(1)))] }, Record([("x", Literal(Prim(I32(2))))])]) => success
        "#]],
    );
}

#[test]
fn mistakes() {
    check("-- ==\n-- input { 1\n", expect!["test block at line 1: a brace is not closed"]);
    check(
        "def x = 1\n-- ==\n-- output { 1 }\n",
        expect!["test block at line 2: 'input' is expected at '{ 1 }'"],
    );
    check(
        "-- ==\n-- input { 1x }\n",
        expect![[r#"
            tags: 
            main []: 1x => success
        "#]],
    );
}
