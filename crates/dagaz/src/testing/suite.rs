//! Run the tests of many programs at once.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::run::{ProgramResult, Settings, run_program};
use super::spec::{self, Expectation, Spec};
use crate::compile::panic_message;
use crate::load::EXTENSIONS;

/// A stack for the thread of a program. Deep recursion happens on stacks of the front end's and interpreter's own.
const STACK_BYTES: usize = 64 << 20;

/// What may pass, beyond all time limits, before a program is given up.
const GRACE: Duration = Duration::from_secs(5);

/// A program and its tests, or why they cannot be read.
pub type Test = (PathBuf, Result<Spec, String>);

/// All programs with tests under the given files and folders, in order. Files without test blocks are left out.
pub fn find_tests(paths: &[PathBuf]) -> Result<Vec<Test>, String> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    }
    let mut tests = Vec::new();
    for file in files {
        let text = match std::fs::read(&file) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
        };
        if let Some(spec) = spec::parse(&text).transpose() {
            tests.push((file, spec));
        }
    }
    Ok(tests)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        path.metadata()?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries: std::io::Result<Vec<_>> = std::fs::read_dir(path)?.collect();
    let mut paths: Vec<PathBuf> = entries?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_source = path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known));
        if path.is_dir() || is_source {
            collect(&path, files)?;
        }
    }
    Ok(())
}

/// Run all tests on so many threads. `progress` is told about every program that is done. After `cancel` in the limits was
/// set, those that have not started are left out.
pub fn run_tests(
    tests: Vec<Test>,
    settings: &Settings,
    workers: usize,
    progress: &(dyn Fn(&ProgramResult) + Sync),
) -> Vec<ProgramResult> {
    let queue: Mutex<VecDeque<(usize, Test)>> = Mutex::new(tests.into_iter().enumerate().collect());
    let results: Mutex<Vec<(usize, ProgramResult)>> = Mutex::new(Vec::new());
    let cancel = &settings.execution.limits.cancel;
    let is_stopped = || cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let next = || queue.lock().ok().filter(|_| !is_stopped()).and_then(|mut queue| queue.pop_front());
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            scope.spawn(|| {
                while let Some((position, (path, spec))) = next() {
                    let result = match spec {
                        Ok(spec) => run_guarded(&path, spec, settings),
                        Err(error) => ProgramResult::failed(&path, error, 0.0),
                    };
                    progress(&result);
                    if let Ok(mut results) = results.lock() {
                        results.push((position, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Run a program's tests on a thread of their own. A panic is a failure. A thread that is stuck cannot be stopped; it
/// is left behind, which ends with the process.
fn run_guarded(path: &Path, spec: Spec, settings: &Settings) -> ProgramResult {
    let start = Instant::now();
    let cases = match &spec.expectation {
        Expectation::Accepted { cases, .. } => cases.len(),
        Expectation::Rejected(_) => 0,
    };
    let patience = settings.timeout * (u32::try_from(cases).unwrap_or(u32::MAX).saturating_add(1)) + GRACE;
    let (sender, receiver) = channel();
    let (own_path, own_settings) = (path.to_path_buf(), settings.clone());
    let thread =
        std::thread::Builder::new().name("test".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            // Nobody listens any more if this took too long.
            let _ = sender.send(run_program(&own_path, &spec, &own_settings));
        });
    let thread = match thread {
        Ok(thread) => thread,
        Err(error) => return ProgramResult::failed(path, format!("cannot start a thread: {error}"), 0.0),
    };
    let outcome = receiver.recv_timeout(patience);
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => {
            ProgramResult::failed(path, "time-out: stuck outside of a call", seconds)
        }
        Err(RecvTimeoutError::Disconnected) => {
            let message = thread.join().err().map_or_else(String::new, |panic| panic_message(&*panic));
            ProgramResult::failed(path, format!("internal error: {message}"), seconds)
        }
    }
}
