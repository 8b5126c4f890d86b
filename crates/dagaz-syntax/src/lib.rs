//! Tokens, parser and syntax tree of the Dagaz language.
//!
//! Text goes in ([`parse_program`]), an [`ast::Program`] and a list of [`Diagnostic`]s come out. The tree keeps a span on
//! every node and all comments, so that a formatter can be built on it. This crate knows nothing about
//! types or names: `x.y` is a qualified name here, whether `x` is a module or a record.

pub mod ast;
mod brackets;
mod diagnostic;
pub mod dump;
mod lexer;
mod literal;
mod name;
mod parser;
mod source;
mod token;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use name::Name;
pub use source::{FileId, SourceFile, SourceMap, Span};

/// Read a file. The tree holds whatever could be read; errors are among the diagnostics.
pub fn parse_program(file: FileId, text: &str) -> (ast::Program, Vec<Diagnostic>) {
    parser::program(file, text)
}

/// The places of the tokens of a file, in order.
pub fn token_spans(file: FileId, text: &str) -> Vec<Span> {
    let tokens = lexer::lex(file, text).tokens;
    tokens.iter().map(|t| Span { file, start: t.start, end: t.end }).filter(|s| s.start < s.end).collect()
}

/// Read one expression and nothing else. The number is one more than the largest node used.
pub fn parse_expression(file: FileId, text: &str) -> (ast::Exp, u32, Vec<Diagnostic>) {
    parser::expression(file, text)
}

/// Read one type and nothing else; there is none if it could not be read. The number is one more than the
/// largest node used.
pub fn parse_type_expression(file: FileId, text: &str) -> (Option<ast::TypeExp>, u32, Vec<Diagnostic>) {
    parser::type_expression(file, text)
}
