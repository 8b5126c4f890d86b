//! `dagaz cache`: look after the folder of compiled programs.

use super::print_out;
use crate::options::{CacheCommand, CacheOptions};
use crate::{Outcome, Stop};

pub fn run(options: &CacheOptions) -> Outcome {
    match options.command {
        CacheCommand::Clear => {
            let count = dagaz::clear_cache();
            let count = count.map_err(|error| Stop::Program(format!("cannot clear the cache: {error}")))?;
            print_out(&format!("removed {count} files\n"))
        }
    }
}
