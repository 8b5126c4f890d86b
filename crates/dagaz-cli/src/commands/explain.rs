//! `dagaz explain`: what became of a program, line by line.

use dagaz::Settings;
use dagaz::compile::compile_entry;
use dagaz::remarks;

use super::{compile, print_out, stop};
use crate::options::ExplainOptions;
use crate::{Outcome, Stop};

pub fn run(options: &ExplainOptions) -> Outcome {
    let program = compile(&options.file, &[])?;
    let all = program.entry_points().iter().map(|entry| entry.name.clone());
    let wanted: Vec<String> =
        all.filter(|name| options.entries.is_empty() || options.entries.contains(name)).collect();
    if wanted.is_empty() {
        return Err(Stop::Misuse("there is no such entry point".to_owned()));
    }
    for entry in wanted {
        let alone = compile_entry(&options.file, &entry, &Settings::plain()).map_err(stop)?;
        let text = remarks::explain(&alone).map_err(Stop::Program)?;
        let text = if text.is_empty() { "only scalar operations\n".to_owned() } else { text };
        print_out(&format!("entry {entry}\n{text}\n"))?;
    }
    Ok(())
}
