//! Values outside of programs: the text format, literals of the language, the binary format, and NumPy's `.npy`.

pub mod binary;
pub mod compare;
pub mod literal;
pub mod npy;
pub mod text;

use std::fmt;

/// What is wrong with an input, and at which byte of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatError {
    pub message: String,
    pub offset: usize,
}

impl FormatError {
    pub fn new(message: impl Into<String>, offset: usize) -> FormatError {
        FormatError { message: message.into(), offset }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for FormatError {}
