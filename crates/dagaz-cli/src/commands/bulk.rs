//! `dagaz bulk`: print a program as operations on whole arrays.

use dagaz::bulk::{NoBulk, whole_arrays};

use super::{print_out, stop};
use crate::options::BulkOptions;
use crate::{Outcome, Stop};

pub fn run(options: &BulkOptions) -> Outcome {
    let program = match whole_arrays(&options.file, options.entry.as_deref()) {
        Ok(program) => program,
        Err(NoBulk::Failure(failure)) => return Err(stop(failure)),
        Err(NoBulk::Unsupported(why)) => return Err(Stop::Misuse(why)),
    };
    if let Some(entry) = &options.entry
        && !program.entries.iter().any(|known| known.name == *entry)
    {
        return Err(Stop::Misuse(format!("there is no entry point '{entry}'")));
    }
    print_out(&dagaz::bulk::print(&program))
}
