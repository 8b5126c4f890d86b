//! Programs as operations on whole arrays: what `dagaz bulk` prints.
//!
//! ```text
//! def f [n] (xs: [n]f64) = map (\\x -> x * x) xs     ==>     let (ys: [n]f64) = f64.mul xs xs
//! ```

use std::path::Path;

use dagaz_bulk::term::Program;

use crate::compile::{self, Compiled, Failure};

/// Why a program has no such form.
#[derive(Debug)]
pub enum NoBulk {
    Failure(Failure),
    /// A sentence with the place, about what cannot be said of whole arrays.
    Unsupported(String),
}

impl From<Failure> for NoBulk {
    fn from(failure: Failure) -> NoBulk {
        NoBulk::Failure(failure)
    }
}

/// The program of a file, or one entry point of it, with derivatives expanded. There may be no such entry point; then nothing is left.
pub fn whole_arrays(path: &Path, entry: Option<&str>) -> Result<Program, NoBulk> {
    let only = entry.map(|entry| vec![entry.to_owned()]);
    let compiled = compile::lower_entries(path, only.as_deref())?.spread()?;
    dagaz_bulk::from_core(compiled.core()).map_err(|why| NoBulk::Unsupported(located(&compiled, &why)))
}

fn located(compiled: &Compiled, why: &dagaz_bulk::transform::Unsupported) -> String {
    match compiled.core().source(why.loc) {
        Some(place) => format!("{}:{}:{}: {}", place.file, place.line, place.col, why.reason),
        None => why.reason.clone(),
    }
}

/// The text of a program, without places in the source.
pub fn print(program: &Program) -> String {
    dagaz_bulk::print::print_without_locs(program)
}
