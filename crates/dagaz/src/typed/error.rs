//! What can go wrong between Rust and a program.

use std::fmt;

use crate::compile::Failure;
use crate::render::Style;
use crate::session::RunError;

/// Why a program is not compiled, has no such entry point, or did not end with a result.
#[derive(Debug)]
pub enum Error {
    /// The program could not be compiled.
    Compile(Box<Failure>),
    /// An entry point is not what Rust takes it for, or has no such derivative.
    Signature(String),
    /// The program stopped with an error.
    Run(Box<RunError>),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::Compile(Box::new(failure))
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Error {
        Error::Run(Box::new(error))
    }
}

impl fmt::Display for Error {
    /// With the lines of the program that a message is about.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Compile(failure) => f.write_str(failure.render(Style::Plain).trim_end()),
            Error::Signature(message) => f.write_str(message),
            Error::Run(error) => f.write_str(error.render(Style::Plain).trim_end()),
        }
    }
}

impl std::error::Error for Error {}
