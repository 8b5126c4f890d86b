//! Dagaz programs inside of Rust programs, checked when these are compiled.
//!
//! ```
//! dagaz_macros::program!(
//!     "-- The sum of squares.
//!      entry norm [n] (xs: [n]f64) : f64 = f64.sum (map (** 2) xs)"
//! );
//!
//! # fn main() -> Result<(), dagaz::Error> {
//! assert_eq!(norm([3.0, 4.0])?, 25.0);
//! assert_eq!(entry::norm()?.grad()?.call([3.0, 4.0])?, ndarray::array![6.0, 8.0]);
//! # Ok(())
//! # }
//! ```
//!
//! [`include!`] does the same for a file. Every entry point becomes a function with Rust types, and a function of the module
//! `entry` that gives it as a [`dagaz::Entry`], for derivatives. [`Value`] makes records and enumerations of Rust types.

#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
mod guide {}

mod derive;
mod programs;

use std::path::Path;

use proc_macro::TokenStream;
use syn::{DeriveInput, LitStr, parse_macro_input};

/// Makes functions of the entry points of a file, whose path is relative to the folder of the package.
#[proc_macro]
pub fn include(input: TokenStream) -> TokenStream {
    let path = parse_macro_input!(input as LitStr);
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let made = programs::of_file(&Path::new(&folder).join(path.value()));
    made.unwrap_or_else(|message| syn::Error::new(path.span(), message).to_compile_error()).into()
}

/// Makes functions of the entry points of a program.
#[proc_macro]
pub fn program(input: TokenStream) -> TokenStream {
    let text = parse_macro_input!(input as LitStr);
    let made = programs::of_text(&text.value());
    made.unwrap_or_else(|message| syn::Error::new(text.span(), message).to_compile_error()).into()
}

/// Makes a struct a record with the same fields, or an enumeration a sum type whose constructors have the same names in lower case.
#[proc_macro_derive(Value)]
pub fn value(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive::value(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
