//! Modules, names, type and size inference, and consumption checking for Dagaz.
//!
//! Parsed files go in, a [`typed::Program`] and diagnostics come out. This crate reads no files: whoever calls
//! [`check_program`] has found and parsed all imports.
//!
//! A definition is checked in two passes: `infer` finds names and types, `sizes` then finds sizes and builds the
//! typed tree. The typed tree is checked for consumption and exhaustiveness by passes of their own.

mod automap;
mod checks;
mod context;
pub mod env;
mod infer;
mod modules;
mod print;
mod sizes;
pub mod subst;
pub mod typed;
pub mod types;

use std::collections::HashMap;

use dagaz_syntax::{Diagnostic, SourceMap, ast};

pub use automap::{Edit, edited_file};
pub use context::{Context, Dialect, Error, Res};

/// A parsed file.
#[derive(Debug)]
pub struct Unit {
    pub program: ast::Program,
    /// For every path in an `import` of this file, the file that it means: an index into the units.
    pub imports: HashMap<String, usize>,
    pub role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// `prelude/intrinsics.fut`: the module type of the operations that the compiler provides. Comes first.
    Intrinsics,
    /// A file of the prelude; only the intrinsics are in scope.
    Prelude,
    /// A file of the prelude whose names are in scope in all other files, but not in plain Futhark.
    Extension,
    /// The last file of the prelude, whose names are in scope in all other files.
    PreludeRoot,
    /// A file that the user's program imports.
    Import,
    /// The user's program; comes last.
    Main,
}

/// What checking a program gives.
#[derive(Debug)]
pub struct CheckedProgram {
    pub program: typed::Program,
    /// Errors and warnings, in the order they were found. If there is an error, the program is incomplete.
    pub diagnostics: Vec<Diagnostic>,
    /// The names and types of the main file's definitions, in order, as they would be shown to a user.
    pub signatures: Vec<(String, String)>,
    /// The maps and reps that were left out, as changes to the source.
    pub edits: Vec<Edit>,
}

/// A prelude that was checked once, to come before many programs.
#[derive(Clone, Debug)]
pub struct CheckedPrelude(modules::Progress);

/// Check the files of a prelude, which come before all others.
pub fn check_prelude(units: &[Unit], sources: &SourceMap) -> CheckedPrelude {
    let mut progress = modules::Progress::start();
    units.iter().for_each(|unit| progress.check_unit(unit, sources));
    CheckedPrelude(progress)
}

/// Check a program without its prelude. `units` are in dependency order: a file comes after all that it imports.
/// Imports count the files of the prelude first.
pub fn check_after(
    prelude: &CheckedPrelude,
    units: &[Unit],
    sources: &SourceMap,
    dialect: Dialect,
) -> CheckedProgram {
    let mut progress = prelude.0.fork(dialect);
    units.iter().for_each(|unit| progress.check_unit(unit, sources));
    progress.finish()
}

/// Check a program with its prelude.
pub fn check_program(units: &[Unit], sources: &SourceMap, dialect: Dialect) -> CheckedProgram {
    check_after(&check_prelude(&[], sources), units, sources, dialect)
}
