//! Core in, Core out: what the tests of passes have in common.

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use expect_test::Expect;

/// Runs passes over a program, which must verify then, and compares its text.
pub fn check(passes: &[fn(&mut Program)], input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    passes.iter().for_each(|pass| pass(&mut program));
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}
