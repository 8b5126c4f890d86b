//! Core: the first-order intermediate language of Dagaz.
//!
//! First-order, typed, A-normal form, pure. There are no functions as values, tuples, records or sums
//! here; arrays of tuples have become tuples of arrays, and sizes are `i64` atoms in types. Core knows no
//! surface syntax: programs reach it through `dagaz-simplify`, or through its own text form.
//!
//! - Data: [`prim`] (scalars and their operations), [`types`], [`exp`] (programs, statements, expressions).
//! - Making and walking it: [`build`] collects statements, [`visit`] finds operands and free variables.
//! - Facts: [`effects`] says what an expression does besides giving its value, [`cost`] how long that takes, [`operator`] what
//!   folds combine by, [`dead`] what nobody needs, [`facts`] what is known of variables, and [`index`] computes with indices.
//! - Text: [`mod@print`] writes a program, [`parse`] reads it back.
//! - Checking: [`verify`] finds everything that is wrong with a program.
//! - Passes: [`pass`] says what a pass is, at which stages programs are between them, and runs pipelines of them.
//! - Meaning: [`prim_eval`] computes scalar operations, [`interp`] runs programs and counts what they cost.
//! - Running: [`engine`] is the trait of all that runs programs.
//! - Values: [`value`] holds them, [`formats`] reads, writes and compares them.
//!
//! ```
//! use dagaz_core::{formats::text, interp::Interpreter, parse::parse, types::FunId, verify::verify};
//!
//! let program = parse(
//!     "def twice (n: i64, xs: [n]f64) : (ys: [n]f64) =
//!        let (ys: [n]f64) =
//!          map n (xs) \\(x: f64) : (f64) ->
//!            let (y: f64) = f64.add x x
//!            in (y)
//!        in (ys)",
//! )?;
//! assert!(verify(&program).is_empty());
//! let args = text::read_values(b"2i64 [1.5f64, 2.0f64]")?;
//! let mut interpreter = Interpreter::new(&program);
//! let results = interpreter.call_fun(FunId(0), args)?;
//! assert_eq!(text::print(&results[0]), "[3.0f64, 4.0f64]");
//! assert_eq!(interpreter.counters().work, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod argument;
pub mod build;
pub mod calls;
pub mod cost;
pub mod dead;
pub mod effects;
pub mod engine;
pub mod exp;
pub mod facts;
pub mod formats;
pub mod index;
pub mod interp;
pub mod machine;
pub mod operator;
pub mod parse;
pub mod pass;
pub mod prim;
pub mod prim_eval;
pub mod print;
pub mod rename;
mod special;
pub mod types;
pub mod value;
pub mod verify;
pub mod visit;
