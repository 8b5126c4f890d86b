//! Any bytes are values or an error. Values that are read print as text that is read as the same values, and so do their
//! bytes in the binary format.
#![no_main]

use dagaz::data::{print, read_values, write_binary};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(values) = read_values(input) else { return };
    let shown: Vec<String> = values.iter().map(print).collect();
    let shown = shown.join(" ");
    let again = read_values(shown.as_bytes()).unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(again.iter().map(print).collect::<Vec<_>>().join(" "), shown);
    let again = read_values(&write_binary(&values)).unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert_eq!(again.iter().map(print).collect::<Vec<_>>().join(" "), shown);
});
