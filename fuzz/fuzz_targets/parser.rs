//! Any text is a program, an expression and a type, or ends in diagnostics whose places are within it.
#![no_main]

use dagaz_syntax::{FileId, parse_expression, parse_program, parse_type_expression};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (_, diagnostics) = parse_program(FileId(0), text);
    for span in diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels).map(|label| label.span) {
        assert!(span.start <= span.end, "a place that ends before it starts");
    }
    let _ = parse_expression(FileId(0), text);
    let _ = parse_type_expression(FileId(0), text);
});
