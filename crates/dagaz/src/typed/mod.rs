//! Programs as Rust functions: entry points with Rust types, and their derivatives.
//!
//! ```
//! use ndarray::{Array1, Array2, array};
//!
//! # fn main() -> Result<(), dagaz::Error> {
//! let program = dagaz::compile(
//!     "entry loss [n][m] (xs: [n][m]f64) (w: [m]f64) : f64 =
//!        f64.sum (map (\\x -> (f64.sum (map2 (*) x w) - 1) ** 2) xs)",
//! )?;
//! let loss = program.entry::<fn(Array2<f64>, Array1<f64>) -> f64>("loss")?;
//! let (xs, w) = (array![[1.0, 2.0], [3.0, 4.0]], array![0.5, 0.25]);
//! assert_eq!(loss.call(&xs, &w)?, 2.25);
//!
//! let slope = loss.grad_at::<1>()?;
//! assert_eq!(slope.call(&xs, w.view())?, array![9.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The types in `fn(…) -> …` own what they hold; a call takes references, views, slices or owned values, and copies nothing
//! that is contiguous. A type that does not fit is an error when the entry point is asked for, in the terms of both languages.
//! Programs and entry points can be cloned, sent to other threads and called from several at once.

mod data;
mod derivatives;
mod embedded;
mod entry;
mod error;
mod give;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compile::{self, Failure, Lowered, Settings};
use crate::engines::Backend;
use crate::files::{Disk, Files, InMemory};
use crate::session::Execution;

pub use dagaz_core::argument::{Argument, Element};
pub use dagaz_core::exp::EntryType;
pub use data::{Data, RecordField, is_enumeration, is_record};
pub use derivatives::At;
pub use embedded::{EntryTypes, SourceText};
pub use entry::{Entry, Signature};
pub use error::Error;
pub use give::Give;

/// Compiles a program from text. Imports are looked up in the current directory.
pub fn compile(source: &str) -> Result<Program, Error> {
    Program::open(Source::Text(source.to_owned()))
}

/// Compiles a file and all that it imports.
pub fn load(path: impl AsRef<Path>) -> Result<Program, Error> {
    Program::open(Source::File(path.as_ref().to_owned()))
}

/// A program that has passed the checker.
#[derive(Clone, Debug)]
pub struct Program {
    source: Arc<Source>,
    entries: Arc<Vec<String>>,
    execution: Execution,
}

#[derive(Debug)]
enum Source {
    Text(String),
    File(PathBuf),
    Files(InMemory, PathBuf),
}

/// The name of a program from text in messages.
const NAME: &str = "program";

impl Program {
    fn open(source: Source) -> Result<Program, Error> {
        Program::open_in(source, &Disk)
    }

    /// A program whose files are somewhere.
    fn open_in(source: Source, files: &dyn Files) -> Result<Program, Error> {
        let lowered = source.lower_from(files, None)?;
        let entries = lowered.core.entries.iter().map(|entry| entry.name.clone()).collect();
        let execution = Execution::on(Backend::C);
        Ok(Program { source: Arc::new(source), entries: Arc::new(entries), execution })
    }

    /// The names of the entry points.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// The same program, whose entry points run in another way.
    #[must_use]
    pub fn with(&self, execution: Execution) -> Program {
        Program { execution, ..self.clone() }
    }

    /// An entry point with its Rust type, `fn(A, B) -> R`. Several results are a tuple.
    pub fn entry<F: Signature>(&self, name: &str) -> Result<Entry<F>, Error> {
        if !self.entries.iter().any(|known| known == name) {
            let known = self.entries.join(", ");
            return Err(Error::Signature(format!("there is no entry point `{name}`; there are: {known}")));
        }
        let lowered = self.source.lower(Some(&[name.to_owned()]))?;
        Entry::new(name, lowered, self.execution.clone())
    }
}

impl Source {
    fn lower(&self, only: Option<&[String]>) -> Result<Lowered, Failure> {
        self.lower_from(&Disk, only)
    }

    fn lower_from(&self, disk: &dyn Files, only: Option<&[String]>) -> Result<Lowered, Failure> {
        let settings = Settings::plain();
        match self {
            Source::Text(text) => compile::lower_source(NAME, text, Path::new(""), only, &settings),
            Source::File(path) => compile::lower_entries(disk, path, only, &settings),
            Source::Files(files, path) => compile::lower_entries(files, path, only, &settings),
        }
    }
}
