//! Operations on whole arrays.

mod build;
pub mod interp;
pub mod parse;
pub mod print;
pub mod term;
pub mod to_core;
pub mod transform;
pub mod verify;
pub mod visit;
