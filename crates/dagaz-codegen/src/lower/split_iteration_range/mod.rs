//! Iteration ranges that are split where conditions on the iteration's number change.
//!
//! In the middle of a stencil no index leaves the array, so that its checks and branches go ([`interior`]); of a sum in
//! which only a few rows count, the others are skipped ([`narrowing`]).

mod interior;
mod narrowing;

pub(super) use interior::{Interior, interior, specialise};
