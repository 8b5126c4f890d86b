//! `dagaz check`: look for errors, and show types.

use super::{print_out, print_warnings, stop};
use crate::Outcome;
use crate::options::CheckOptions;

pub fn run(options: &CheckOptions) -> Outcome {
    let checked = dagaz::check_file(&options.file).map_err(stop)?;
    print_warnings(&checked.sources, &checked.warnings);
    if !options.types {
        return Ok(());
    }
    let lines: Vec<String> =
        checked.signatures.iter().map(|(name, ty)| format!("val {name} {ty}\n")).collect();
    print_out(&lines.concat())
}
