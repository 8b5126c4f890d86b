//! Any text is rejected by diagnostics, or becomes verified Core.
#![no_main]

use std::path::Path;

use dagaz::Failure;
use dagaz::compile::{compile_source_in, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match compile_source_in("fuzzed.fut", text, Path::new("nowhere")) {
        Ok(compiled) => {
            if let Err(failure) = verify(compiled.core()) {
                panic!("{}", failure.summary());
            }
        }
        Err(Failure::Internal(message)) => panic!("{message}"),
        Err(Failure::Rejected { .. } | Failure::Unreadable { .. }) => {}
    }
});
