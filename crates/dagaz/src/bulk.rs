//! Programs as operations on whole arrays: what `dagaz bulk` prints.
//!
//! ```text
//! def f [n] (xs: [n]f64) = map (\\x -> x * x) xs     ==>     let (ys: [n]f64) = f64.mul xs xs
//! ```

use std::path::Path;

use dagaz_bulk::term::Program;
use dagaz_bulk::transform::Unsupported;
use dagaz_core::exp;

use crate::compile::{self, Failure, Settings};
use crate::files::Disk;

/// How many inlined calls are looked through for one place.
const MAX_CHAIN: usize = 64;

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
    let compiled = compile::lower_entries(&Disk, path, only.as_deref(), &Settings::plain())?.spread()?;
    from_core(compiled.core())?.map_err(|why| NoBulk::Unsupported(located(compiled.core(), &why)))
}

/// The transform, which is recursive, on a stack of its own.
pub(crate) fn from_core(core: &exp::Program) -> Result<Result<Program, Unsupported>, Failure> {
    compile::on_large_stack(|| Ok(dagaz_bulk::from_core(core)))
}

/// The reason with its place; for what was inlined, with that of the outermost call, which is the user's.
fn located(core: &exp::Program, why: &Unsupported) -> String {
    let mut found = None;
    let mut next = Some(why.loc);
    // A chain of calls is short; the bound is for chains that never end.
    for _ in 0..MAX_CHAIN {
        let Some(place) = next.and_then(|loc| core.source(loc)) else { break };
        found = Some(place);
        next = place.inlined_at;
    }
    match found {
        Some(place) => format!("{}:{}:{}: {}", place.file, place.line, place.col, why.reason),
        None => why.reason.clone(),
    }
}

/// The text of a program, without places in the source.
pub fn print(program: &Program) -> String {
    dagaz_bulk::print::print_without_locs(program)
}
