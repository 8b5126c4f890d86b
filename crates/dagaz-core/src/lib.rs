//! Core: the first-order intermediate language of Dagaz.
//!
//! First-order, typed, A-normal form, pure. There are no functions as values, tuples, records or sums
//! here; arrays of tuples have become tuples of arrays, and sizes are `i64` atoms in types. Core knows no
//! surface syntax: programs reach it through `dagaz-simplify`, or through its own text form.

pub mod build;
pub mod exp;
pub mod formats;
pub mod interp;
pub mod parse;
pub mod prim;
pub mod prim_eval;
pub mod print;
pub mod types;
pub mod value;
pub mod verify;
pub mod visit;
