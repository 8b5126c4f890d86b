//! Tests written as comments in the programs they test.
//!
//! ```text
//! -- Sums are right, also of nothing.
//! -- ==
//! -- tags { sums }
//! -- entry: sum
//! -- input { [1, 2, 3] } output { 6 }
//! -- input { empty([0]i32) } output { 0 }
//! -- input { [1] 2 } error: takes 1 value
//! ```
//!
//! [`spec`] reads such blocks, [`run`] runs the tests of a program, [`suite`] those of whole folders, and [`report`]
//! shows what came of it. Blocks with `property: name` are for [`property`].

mod property;
pub(crate) mod random;
pub mod report;
pub mod run;
pub mod spec;
pub mod suite;
