//! Any bytes are a compressed file or a NumPy file of values, or an error.
#![no_main]

use std::path::Path;

use dagaz::data::{print, read_named};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    for name in ["input.gz", "input.npy", "input.in"] {
        if let Ok(values) = read_named(Path::new(name), input.to_vec()) {
            values.iter().for_each(|value| drop(print(value)));
        }
    }
});
