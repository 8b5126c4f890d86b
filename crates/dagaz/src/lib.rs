//! Dagaz as a library: compile programs and call their entry points.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let program = dagaz::compile_source("double.fut", "entry double (x: i32) = 2 * x")?;
//! let mut session = program.session();
//! let results = session.call("double", dagaz::data::read_values(b"21")?)?;
//! assert_eq!(dagaz::data::print(&results[0]), "42i32");
//! # Ok(())
//! # }
//! ```
//!
//! The stages of the pipeline are called in [`compile`], one after the other, as in a table of contents.

pub mod bench;
pub mod bulk;
pub mod compile;
pub mod data;
mod derived;
pub mod dev;
mod engines;
pub mod explain;
pub mod files;
pub mod gradient;
mod index_sets;
pub mod laws;
pub mod library;
pub mod load;
pub mod pipelines;
mod promises;
pub mod remarks;
pub mod render;
pub mod script;
pub mod session;
mod source;
pub mod testing;
pub mod typed;

pub use compile::{
    Compiled, Failure, Settings, check_file, check_source, compile_file, compile_file_in, compile_file_with,
    compile_source, parse_parameter,
};
pub use dagaz_codegen::CLibrary;
pub use dagaz_core::engine::{Effort, Making};
pub use dagaz_core::interp::{Counters, Limits};
pub use dagaz_core::value::Value;
#[cfg(feature = "native")]
pub use dagaz_runtime::{CacheUse, LargePages, c_compiler, cache_usage, clear_cache};
pub use dagaz_simplify::Parameters;
pub use dagaz_syntax::{Diagnostic, Severity, SourceMap};
pub use dagaz_types::Dialect;
pub use engines::Backend;
pub use session::{Execution, RunError, Session};
pub use typed::{Entry, Error, Program, compile, load};
pub use {half, ndarray};
