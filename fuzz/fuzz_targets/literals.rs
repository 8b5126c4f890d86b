//! Any bytes are literals of given types or an error. What is read prints as text that is read as the same values.
#![no_main]

use std::sync::LazyLock;

use dagaz::data::read_arguments;
use dagaz::{Compiled, compile_source};
use dagaz_core::formats::literal::print;
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = "\
type~ tree = #leaf | #number f64 | #pair (i32, bool) {name: []u8, sizes: [3]i64}
entry one [n] (t: tree) (xs: [n](i8, #a | #b ([2]u16))) (f: f16) (m: [n][]bool) = length xs
";

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| match compile_source("types.fut", PROGRAM) {
    Ok(compiled) => compiled,
    Err(failure) => panic!("{}", failure.summary()),
});

fuzz_target!(|input: &[u8]| {
    let entry = COMPILED.entry("one").expect("an entry point");
    let Ok(values) = read_arguments(COMPILED.core(), entry, input) else { return };
    let text = |values: &[dagaz::Value]| {
        let mut rest = values;
        let mut shown = Vec::new();
        for param in &entry.params {
            let (own, others) = rest.split_at(param.ty.arity());
            rest = others;
            shown.push(print(&param.ty, own));
        }
        shown.join(" ")
    };
    let shown = text(&values);
    let again = read_arguments(COMPILED.core(), entry, shown.as_bytes());
    let again = again.unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(text(&again), shown);
});
