//! `dagaz compile`: make an executable or a C library.

use std::path::{Path, PathBuf};

use dagaz::{Effort, Making};

use super::{compile, style};
use crate::interrupt::Interrupt;
use crate::options::CompileOptions;
use crate::{Outcome, Stop};

pub fn run(options: &CompileOptions, interrupt: &Interrupt) -> Outcome {
    let program = compile(&options.file, &[])?;
    let output = match &options.output {
        Some(output) => output.clone(),
        None => PathBuf::from(options.file.file_stem().unwrap_or_default()),
    };
    let name = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.is_empty() {
        return Err(Stop::Misuse("the output needs a name".to_owned()));
    }
    let cannot = |reason: String| Stop::Program(dagaz::render::message(style(), &reason));
    if !options.lib {
        let making = Making { effort: Effort::Full, profile: false, cancel: interrupt.flag() };
        return program.make_executable(&output, &making).map_err(cannot);
    }
    let library = program.c_library(&name).map_err(cannot)?;
    write(&with_extension(&output, "c"), &library.source)?;
    write(&with_extension(&output, "h"), &library.header)
}

/// A name may have dots of its own.
fn with_extension(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text)
        .map_err(|error| Stop::Misuse(format!("cannot write {}: {error}", path.display())))
}
