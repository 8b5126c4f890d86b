//! `dagaz automap`: write out the maps and reps that a program leaves out.

use dagaz::Dialect;

use super::{print_out, print_warnings, stop};
use crate::Outcome;
use crate::options::AutomapOptions;

pub fn run(options: &AutomapOptions) -> Outcome {
    let checked = dagaz::check_file(&options.file, Dialect::Dagaz).map_err(stop)?;
    print_warnings(&checked.sources, &checked.warnings);
    print_out(&checked.explicit)
}
