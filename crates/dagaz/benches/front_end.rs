//! How long the front end takes, on one thread.
//!
//!     cargo bench -p dagaz --bench front_end -- [DIR…]
//!
//! Checks every program of the folders (by default our examples), and brings it to Core. Prints the median of several
//! runs for every program, the slowest ones, and the total. A program that is rejected counts with the time that takes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const REPEATS: usize = 5;
const SLOWEST: usize = 10;

struct Measured {
    path: PathBuf,
    check: Duration,
    /// Checking included.
    core: Duration,
    accepted: bool,
}

fn main() {
    let mut folders: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|arg| arg != "--bench").map(PathBuf::from).collect();
    if folders.is_empty() {
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
    }
    let mut files = Vec::new();
    folders.iter().for_each(|folder| find(folder, &mut files));
    files.sort();
    // The prelude is loaded once per thread.
    drop(dagaz::compile_source("warm-up.fut", "entry main = 1"));
    let mut measured: Vec<Measured> = files.into_iter().map(measure).collect();
    for one in &measured {
        print_line(one);
    }
    let total = |time: fn(&Measured) -> Duration| measured.iter().map(time).sum::<Duration>().as_secs_f64();
    let (check, core) = (total(|m| m.check), total(|m| m.core));
    let accepted = measured.iter().filter(|m| m.accepted).count();
    measured.sort_by_key(|one| std::cmp::Reverse(one.core));
    println!("\nslowest:");
    measured.iter().take(SLOWEST).for_each(print_line);
    println!("\n{} programs, {accepted} of them accepted", measured.len());
    println!("total: {check:.3} s to check, {core:.3} s to check and reach Core");
}

fn print_line(one: &Measured) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let note = if one.accepted { "" } else { "  (rejected)" };
    println!("{:9.2} ms check {:9.2} ms core  {}{note}", ms(one.check), ms(one.core), one.path.display());
}

fn measure(path: PathBuf) -> Measured {
    let accepted = dagaz::compile_file(&path).is_ok();
    let check = median(|| drop(dagaz::check_file(&path, dagaz::Dialect::Dagaz)));
    let core = median(|| drop(dagaz::compile_file(&path)));
    Measured { path, check, core, accepted }
}

fn median(job: impl Fn()) -> Duration {
    let once = |_| {
        let start = Instant::now();
        job();
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..REPEATS).map(once).collect();
    times.sort();
    times[REPEATS / 2]
}

fn find(path: &Path, files: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        entries.flatten().for_each(|entry| find(&entry.path(), files));
    } else if path.extension().is_some_and(|e| e == "fut" || e == "dz") {
        files.push(path.to_path_buf());
    }
}
