//! Runs many random programs that try to smuggle numbers to where indices are taken without a check.
//!
//! ```text
//! cargo run --release -p dagaz --example indices -- --cases 100000 --seed 1 --write FOLDER
//! ```
//!
//! With `--write`, some of the accepted programs become files with test blocks, for `dagaz test --sanitize FOLDER`.

#[path = "../tests/smuggling/mod.rs"]
mod smuggling;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use smuggling::{Accepted, Tally, check_share, try_seed};

/// How many programs one file holds, each in a module of its own.
const BATCH: usize = 25;

/// One in so many accepted programs is written.
const WRITTEN: usize = 20;

/// How many faults are shown before the run ends.
const ENOUGH: usize = 12;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let option = |name: &str, default: u64| value(name).and_then(|v| v.parse().ok()).unwrap_or(default);
    let (cases, first) = (option("--cases", 10000), option("--seed", 1));
    let folder = value("--write").map(Path::new);
    let started = Instant::now();
    let mut tally = Tally::default();
    let (mut faults, mut batch, mut files) = (0, Vec::new(), 0);
    for seed in first..first + cases {
        match try_seed(seed, &mut tally) {
            Ok(Some(accepted)) if folder.is_some() && tally.accepted % WRITTEN == 0 => batch.push(accepted),
            Ok(_) => {}
            Err(why) => {
                println!("{why}");
                faults += 1;
            }
        }
        if let Some(folder) = folder
            && batch.len() == BATCH
        {
            files += 1;
            let path = folder.join(format!("indices_{files}.dz"));
            if let Err(error) = std::fs::write(&path, test_file(&std::mem::take(&mut batch))) {
                println!("{}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
        if tally.made.is_multiple_of(5000) || faults == ENOUGH {
            let seconds = started.elapsed().as_secs();
            println!("{} programs, {} accepted, {faults} faults, {seconds} s", tally.made, tally.accepted);
        }
        if faults == ENOUGH {
            break;
        }
    }
    if let Err(why) = check_share(&tally) {
        println!("{why}");
        return ExitCode::FAILURE;
    }
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Programs with what the interpreter says of them as test blocks.
fn test_file(programs: &[Accepted]) -> String {
    let mut text = String::new();
    for (i, program) in programs.iter().enumerate() {
        text.push_str(&format!("-- ==\n-- entry: main_{i}\n"));
        for (args, result) in &program.results {
            let outcome = match result {
                Ok(number) => format!("output {{ {number:?}f64 }}"),
                Err(_) => "error:".to_owned(),
            };
            text.push_str(&format!("-- input {{ {args} }} {outcome}\n"));
        }
        text.push_str(&program.text.replacen("entry main ", &format!("entry main_{i} "), 1));
        text.push('\n');
    }
    text
}
