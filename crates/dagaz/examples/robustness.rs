//! The front end against damaged programs, at full size.
//!
//!     cargo run --release -p dagaz --example robustness -- DIR…
//!
//! Samples 200 programs of the folders and compiles every prefix of each, and each with every single token left out
//! or written twice. All must end in a diagnostic or in verified Core within a second. The exit code is 1 if one
//! does not. Stack overflows and runaway memory end this process, and the last program named is the culprit.

#[path = "../tests/damage/mod.rs"]
mod damage;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use damage::{mutations, problem_with};

const SAMPLE: usize = 200;

fn main() {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        eprintln!("usage: robustness DIR…");
        std::process::exit(2);
    }
    std::panic::set_hook(Box::new(|_| {}));
    let mut files = Vec::new();
    folders.iter().for_each(|folder| find(folder, &mut files));
    files.sort();
    let count = files.len().min(SAMPLE);
    let sample: Vec<PathBuf> = (0..count).map(|i| files[i * files.len() / count].clone()).collect();
    let start = Instant::now();
    let (next, cases) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(path) = sample.get(next.fetch_add(1, Ordering::Relaxed)) {
                    eprintln!("{}", path.display());
                    let count = attack(path, &failures);
                    cases.fetch_add(count, Ordering::Relaxed);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.iter().for_each(|failure| println!("{failure}"));
    let (cases, seconds) = (cases.into_inner(), start.elapsed().as_secs_f64());
    println!("{} programs, {cases} cases, {} failures, {seconds:.0} s", sample.len(), failures.len());
    std::process::exit(i32::from(!failures.is_empty()));
}

fn find(path: &Path, files: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        entries.flatten().for_each(|entry| find(&entry.path(), files));
    } else if path.extension().is_some_and(|e| e == "fut" || e == "dz") {
        files.push(path.to_path_buf());
    }
}

/// Tries all mutations of a program and says how many there were. The first failure of each kind is kept.
fn attack(path: &Path, failures: &Mutex<Vec<String>>) -> usize {
    let Ok(text) = std::fs::read_to_string(path) else { return 0 };
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut seen: Vec<String> = Vec::new();
    let mut count = 0;
    for mutation in mutations(&text) {
        count += 1;
        let Some(problem) = problem_with(&mutation.text, directory) else { continue };
        let kind: String = problem.chars().filter(|c| !c.is_ascii_digit()).collect();
        if !seen.contains(&kind) {
            seen.push(kind);
            let line = format!("{}: {}: {problem}", path.display(), mutation.what);
            failures.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }
    count
}
