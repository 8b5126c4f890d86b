//! `dagaz check`: look for errors, and show types.

use super::{dialect, print_out, print_warnings, stop};
use dagaz::Settings;

use crate::Outcome;
use crate::options::CheckOptions;

pub fn run(options: &CheckOptions) -> Outcome {
    let checked = dagaz::check_file(&options.file, dialect(options.strict)).map_err(stop)?;
    print_warnings(&checked.sources, &checked.warnings);
    if options.laws {
        let settings = Settings { dialect: dialect(options.strict), ..Settings::plain() };
        let (sources, warnings) = dagaz::laws::check_file(&options.file, &settings).map_err(stop)?;
        print_warnings(&sources, &warnings);
    }
    if !options.types {
        return Ok(());
    }
    let lines: Vec<String> =
        checked.signatures.iter().map(|(name, ty)| format!("val {name} {ty}\n")).collect();
    print_out(&lines.concat())
}
