//! `dagaz core`: print a program as Core.

use dagaz::Settings;
use dagaz::compile::compile_entry;
use dagaz_core::print::print_without_locs;

use super::{compile, print_out, stop};
use crate::options::CoreOptions;
use crate::{Outcome, Stop};

pub fn run(options: &CoreOptions) -> Outcome {
    let program = match &options.entry {
        Some(entry) => compile_entry(&options.file, entry, &Settings::plain()).map_err(stop)?,
        None => compile(&options.file, &[])?,
    };
    if let Some(entry) = &options.entry
        && program.entry(entry).is_none()
    {
        return Err(Stop::Misuse(format!("there is no entry point '{entry}'")));
    }
    print_out(&print_without_locs(program.core()))
}
