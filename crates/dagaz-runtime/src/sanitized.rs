//! Programs under the sanitizers of the C compiler, which find memory errors and undefined behaviour while a program runs.
//!
//! They need a process of their own: each call runs an executable, with the arguments as its standard input and the results
//! as its output, in the binary format.

use std::fs::File;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dagaz_core::argument::Argument;
use dagaz_core::engine::{Engine, Making};
use dagaz_core::exp::Program;
use dagaz_core::formats::binary;
use dagaz_core::interp::{Limits, RuntimeError, entry_sizes};
use dagaz_core::value::Value;

use crate::{cache, compiler, find_entry};

/// What the sanitizers end a process with.
const FINDING: i32 = 97;

pub struct Sanitized {
    program: Arc<Program>,
    /// Holds the executable, and what goes in and out.
    folder: tempfile::TempDir,
    threads: usize,
    limits: Limits,
}

impl Sanitized {
    /// The error says in one sentence why there is no machine code.
    pub fn load(program: Arc<Program>, making: &Making) -> Result<Sanitized, String> {
        let folder = cache::workspace(None)?;
        let text = dagaz_codegen::generate_executable(&program)?;
        compiler::executable(&text, &folder.path().join("program"), true, making)?;
        Ok(Sanitized { program, folder, threads: 2, limits: Limits::generous() })
    }

    fn is_over(&self) -> bool {
        let is_set = self.limits.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        is_set || self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Engine for Sanitized {
    /// What the sanitizers find is an internal error.
    fn call(&mut self, name: &str, args: Vec<Argument<'_>>) -> Result<Vec<Value>, RuntimeError> {
        let (_, entry, fun) = find_entry(&self.program, name)?;
        entry_sizes(entry, fun, &args).map_err(RuntimeError::new)?;
        let cannot =
            |error: std::io::Error| RuntimeError::new(format!("cannot run the sanitized program: {error}"));
        let file = |name: &str| self.folder.path().join(name);
        let mut input = Vec::new();
        args.into_iter().for_each(|arg| binary::write(&arg.into_value(), &mut input));
        std::fs::write(file("input"), input).map_err(cannot)?;
        let mut command = Command::new(file("program"));
        command.args(["-b", "-e", name, "--threads", &self.threads.to_string()]);
        // Memory that there is not is an answer, not an error; and there are no leaks at the end of a failed program.
        let options = format!("exitcode={FINDING}:allocator_may_return_null=1:detect_leaks=0");
        command.env("UBSAN_OPTIONS", &options).env("ASAN_OPTIONS", &options);
        command.stdin(File::open(file("input")).map_err(cannot)?);
        command.stdout(File::create(file("output")).map_err(cannot)?);
        command.stderr(File::create(file("messages")).map_err(cannot)?);
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt;
            command.process_group(0);
        }
        let child = command.spawn().map_err(cannot)?;
        let status = compiler::wait(child, || self.is_over()).map_err(cannot)?;
        if status.success() {
            return read_all(&std::fs::read(file("output")).map_err(cannot)?);
        }
        let messages = std::fs::read(file("messages")).unwrap_or_default();
        let messages = String::from_utf8_lossy(&messages);
        let first = messages.lines().next().unwrap_or_default();
        // Our own messages begin with this word.
        match (status.code(), first.strip_prefix("error: ")) {
            (Some(1), Some(message)) => Err(RuntimeError::new(message)),
            _ => Err(RuntimeError::new(format!("internal error: {}", finding(&messages, status)))),
        }
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn set_threads(&mut self, count: usize) {
        self.threads = count.max(1);
    }
}

fn finding(messages: &str, status: std::process::ExitStatus) -> String {
    let tells = |line: &&str| line.contains("runtime error") || line.contains("ERROR");
    match messages.lines().find(tells).or_else(|| messages.lines().next()) {
        Some(line) => line.to_owned(),
        None => status.to_string(),
    }
}

fn read_all(mut bytes: &[u8]) -> Result<Vec<Value>, RuntimeError> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let (value, length) = binary::read(bytes)
            .map_err(|error| RuntimeError::new(format!("internal error: results cannot be read: {error}")))?;
        values.push(value);
        bytes = bytes.get(length..).unwrap_or_default();
    }
    Ok(values)
}
