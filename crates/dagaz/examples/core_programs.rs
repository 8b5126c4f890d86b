//! Compares machine code and bulk operations with the interpreter on random programs of Core.
//!
//! ```text
//! cargo run --release -p dagaz --example core_programs -- --cases 1000 --seed 1
//! cargo run --release -p dagaz --example core_programs -- --show --seed 4711
//! ```
//!
//! A case is a number that stands for twenty programs, which the C compiler gets at once. With `CC="cc -DDZ_PIECE=64.0"` in the
//! environment, threads take turns after few iterations already, so that small arrays are enough for them. `--show` prints the
//! program of a seed.

mod isolated;
#[path = "../tests/random_core/mod.rs"]
mod random_core;

use std::process::ExitCode;

/// How many programs the C compiler gets at once.
const BATCH: u64 = 20;

fn main() -> ExitCode {
    let options = isolated::Options::read(100);
    if options.rest.iter().any(|arg| arg == "--show") {
        let program = random_core::generate::program(std::iter::once(options.first));
        print!("{}", dagaz_core::print::print(&program));
        return ExitCode::SUCCESS;
    }
    let wrong = isolated::run(&options, |case| {
        let compared = random_core::compare(case * BATCH..(case + 1) * BATCH)?;
        random_core::bulk::compare(case * BATCH..(case + 1) * BATCH)?;
        eprintln!("{} results, {} errors, {} left out", compared.results, compared.errors, compared.left_out);
        Ok(())
    });
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
