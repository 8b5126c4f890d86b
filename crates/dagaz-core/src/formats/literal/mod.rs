//! Values of the user's types as literals of the language: tuples, records, sums, and arrays of them.
//!
//! ```text
//! (1i32, true)   {re = 0.5f64, im = -1.0f64}   #circle 2.0f32   #none   [(1, [2, 3]), (4, [5, 6])]   empty([0](i32, [3]bool))
//! ```
//!
//! What a type is made of comes from an entry point ([`EntryType`]), and a value is its Core values. What is printed is read
//! back as the same value. Instead of a literal, the Core values may be given one after the other.
//!
//! A literal does not say everything: `#none` of `#none | #some ([n]f32)` has a hidden array, and `[]` of type `[n][m]i32` rows.
//! Sizes that are not known then are those that other arguments give to the names, or zero.

mod inputs;
mod print;
mod read;

use crate::exp::{EntryType, OpaqueKind};

pub use inputs::Inputs;
pub use print::print;

/// Whether the fields are those of a tuple.
pub fn is_tuple(fields: &[(String, EntryType)]) -> bool {
    fields.len() != 1 && fields.iter().enumerate().all(|(i, (name, _))| *name == i.to_string())
}

/// How many dimensions an array of no scalars has around its elements, seen from its rows.
fn rank_of(ty: &EntryType) -> usize {
    match ty {
        EntryType::Opaque { kind: OpaqueKind::Array(row), .. } => 1 + rank_of(row),
        EntryType::Opaque { .. } | EntryType::Value { .. } => 0,
    }
}

fn element_of(ty: &EntryType) -> &EntryType {
    match ty {
        EntryType::Opaque { kind: OpaqueKind::Array(row), .. } => element_of(row),
        EntryType::Opaque { .. } | EntryType::Value { .. } => ty,
    }
}
