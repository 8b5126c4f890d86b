//! Core in, Core out: what differentiation makes of a program.

use dagaz_ad::differentiate;
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use expect_test::Expect;

pub fn check(input: &str, expected: Expect) {
    let program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}", errors[0]);
    let shown = match differentiate(program) {
        Ok(program) => print_without_locs(&program),
        Err(errors) => errors.iter().map(|e| format!("{}: {e}\n", e.code)).collect(),
    };
    expected.assert_eq(&shown);
}
