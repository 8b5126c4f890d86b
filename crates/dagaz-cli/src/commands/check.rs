//! `dagaz check`: look for errors, and show types.

use super::{print_warnings, stop};
use crate::Outcome;
use crate::options::CheckOptions;

pub fn run(options: &CheckOptions) -> Outcome {
    let checked = dagaz::check_file(&options.file).map_err(stop)?;
    print_warnings(&checked.sources, &checked.warnings);
    if options.types {
        for (name, ty) in &checked.signatures {
            println!("{name} : {ty}");
        }
    }
    Ok(())
}
