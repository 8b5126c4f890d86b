//! Operations on whole arrays: a first-order language without functions of elements, and the way there from Core and back.
//!
//! - Data: [`term`] (programs, statements, operations), with the types, atoms and scalar operations of Core; [`visit`] walks it.
//! - Text: [`mod@print`] writes a program, [`parse`] reads it back.
//! - Checking: [`mod@verify`] finds everything that is wrong with a program.
//! - Meaning: [`interp`] runs programs.
//! - From Core: [`transform`](mod@transform) makes all maps operations on whole arrays, [`simplify`](mod@simplify) makes them simple ones.
//! - Back: [`mod@to_core`], for all that runs Core.

mod build;
pub mod interp;
pub mod parse;
pub mod print;
pub mod simplify;
pub mod term;
pub mod to_core;
pub mod transform;
pub mod verify;
pub mod visit;

use dagaz_core::exp;

/// The program as operations on whole arrays, simplified.
pub fn from_core(core: &exp::Program) -> Result<term::Program, transform::Unsupported> {
    transform::transform(core).map(simplify::simplify)
}
