//! `dagaz cache`: show the folder of compiled programs, or look after it.

use super::print_out;
use crate::options::{CacheCommand, CacheOptions};
use crate::{Outcome, Stop};

pub fn run(options: &CacheOptions) -> Outcome {
    match options.command {
        Some(CacheCommand::Clear) => {
            let count = dagaz::clear_cache();
            let count = count.map_err(|error| Stop::Program(format!("cannot clear the cache: {error}")))?;
            print_out(&format!("removed {count} files\n"))
        }
        None => print_out(&match dagaz::cache_usage() {
            Some(usage) => {
                let (folder, mib) = (usage.folder.display(), usage.bytes as f64 / f64::from(1 << 20));
                format!("{folder}: {} programs, {mib:.1} MiB\n", usage.programs)
            }
            None => "there is no folder for compiled programs on this machine\n".to_owned(),
        }),
    }
}
