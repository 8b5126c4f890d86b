//! Tokens, parser and syntax tree of the Dagaz language.
//!
//! Text goes in, an [`ast::Program`] and a list of [`Diagnostic`]s come out. The tree keeps a span on
//! every node and all comments, so that a formatter can be built on it. This crate knows nothing about
//! types or names: `x.y` is a qualified name here, whether `x` is a module or a record.

pub mod ast;
mod diagnostic;
mod name;
mod source;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use name::Name;
pub use source::{FileId, SourceFile, SourceMap, Span};
