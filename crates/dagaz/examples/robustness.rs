//! The compiler against programs with random damage.
//!
//! ```text
//! cargo run --release -p dagaz --example robustness -- --cases 1000000 --seed 1 examples prelude/tests DIR…
//! cargo run --release -p dagaz --example robustness -- --show --seed 4711 examples prelude/tests DIR…
//! ```
//!
//! Every number stands for a program of the folders with a few tokens, characters or lines changed. All must end in a
//! diagnostic or in a program that becomes C and runs, without a panic or an error that is called internal, within five
//! seconds. `--show` prints the program of a number instead. The exit code is 1 if something goes wrong.

#[path = "../tests/damage/mod.rs"]
mod damage;
mod isolated;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use damage::{find, problem_with, random};

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let mut options = isolated::Options::read(100_000);
    let is_shown = options.rest.iter().any(|arg| arg == "--show");
    options.rest.retain(|arg| arg != "--show");
    let mut files: Vec<PathBuf> = Vec::new();
    options.rest.iter().for_each(|folder| find(Path::new(folder), &mut files));
    files.sort();
    let read = |file: PathBuf| std::fs::read_to_string(&file).ok().map(|text| (file, text));
    let (files, corpus): (Vec<PathBuf>, Vec<String>) = files.into_iter().filter_map(read).unzip();
    if corpus.is_empty() {
        eprintln!("usage: robustness [--cases N] [--seed N] [--show] DIR…");
        return ExitCode::from(2);
    }
    if is_shown {
        let (chosen, text) = random::damaged(&corpus, options.first);
        println!("-- {}\n{text}", files[chosen].display());
        return ExitCode::SUCCESS;
    }
    let wrong = isolated::run(&options, |seed| {
        let (chosen, text) = random::damaged(&corpus, seed);
        let directory = files[chosen].parent().unwrap_or(Path::new(""));
        match problem_with(&text, directory, LIMIT) {
            Some(problem) => Err(format!("{}: {problem}", files[chosen].display())),
            None => Ok(()),
        }
    });
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
