//! Any text is Core or an error. Core that is read prints as text that is read as the same Core, and the verifier does not
//! panic.
#![no_main]

use dagaz_core::parse::parse;
use dagaz_core::print::print;
use dagaz_core::verify::verify;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(program) = parse(text) else { return };
    let _ = verify(&program);
    let printed = print(&program);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(print(&again), printed);
});
