//! Script expressions as inputs of tests.

use std::path::Path;

use dagaz::data::print;
use dagaz::{compile_source, script};
use expect_test::{Expect, expect};

const PROGRAM: &str = "\
type point = {x: f64, y: f64}
entry numbers (n: i64) : [n]i64 = iota n
entry pair (n: i32) : (i32, [2]f32) = (n, replicate 2 (f32.i32 n))
entry point (x: f64) (y: f64) : point = {x, y}
entry middle (a: point) (b: point) : point = {x = (a.x + b.x) / 2, y = (a.y + b.y) / 2}
entry abscissa (p: point) : f64 = p.x
entry both (n: i32) (xs: []f32) : i32 = n
entry bytes (xs: []u8) : []u8 = xs
";

/// The arguments that a script gives to an entry point.
fn check(entry: &str, text: &str, expected: Expect) {
    let program = compile_source("program.fut", PROGRAM).expect("a program");
    let entry = program.entry(entry).expect("an entry point");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let values =
        script::parse(text).and_then(|exp| script::arguments(&exp, &mut program.session(), &folder, entry));
    let shown = match values {
        Ok(values) => values.iter().map(print).collect::<Vec<_>>().join(" "),
        Err(error) => error,
    };
    expected.assert_eq(&shown);
}

#[test]
fn literals_adapt_to_parameters() {
    check("numbers", "3", expect!["3i64"]);
    check("point", "(1, 2.5)", expect!["1.0f64 2.5f64"]);
    check("numbers", "2.5", expect!["'numbers' wants i64 for 'n', but is given f64"]);
}

#[test]
fn calls() {
    check("both", "pair 7", expect!["7i32 [7.0f32, 7.0f32]"]);
    check("both", "let (n, xs) = pair 7 in (1, xs)", expect!["1i32 [7.0f32, 7.0f32]"]);
    check("abscissa", "middle (point 1 2) (point 3 4)", expect!["2.0f64 3.0f64"]);
    check("abscissa", "{y = 1.0, x = 2.0}", expect!["2.0f64 1.0f64"]);
    check("numbers", "missing 1", expect!["there is no entry point 'missing'"]);
    check("abscissa", "point 1", expect!["'point' takes 2 arguments, but is given 1"]);
}

#[test]
fn projections() {
    check("point", "let p = point 1 2 in (p.y, p.x)", expect!["2.0f64 1.0f64"]);
    check("point", "let p = point 1 2 in (p.z, p.x)", expect!["there is no field 'z'"]);
}

#[test]
fn files() {
    check(
        "bytes",
        "$loadbytes \"numbers.in\"",
        expect!["[49u8, 32u8, 91u8, 50u8, 46u8, 53u8, 102u8, 51u8, 50u8, 93u8, 10u8]"],
    );
    check("both", "$loaddata \"numbers.in\"", expect!["1i32 [2.5f32]"]);
    check("both", "$loadall \"numbers.in\"", expect!["there is no built-in function '$loadall'"]);
}

#[test]
fn mistakes() {
    check("numbers", "(1, 2", expect!["')' is expected at 'the end'"]);
    check("numbers", "let x 2 in x", expect!["'=' is expected at '2'"]);
    check("numbers", "1 2", expect!["only an entry point can be applied to arguments"]);
}
