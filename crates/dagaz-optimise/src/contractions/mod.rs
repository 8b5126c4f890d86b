//! Sums of products in nests of maps become contractions, which run as matrix products.
//!
//! ```text
//! map n (x)                                      let (c: [n][m]f64) =
//!   \(row: [k]f64) : ([m]f64) ->                   contract [n, m] sum [k] x (0, 2) y (2, 1)
//!     map m (columns of y)
//!       \(col: [k]f64) : (f64) ->        ==>
//!         reduce k (row, col)
//!           pre (*) op (+) neutral (0.0f64)
//! ```
//!
//! First ([`raise`]), a sum leaves the maps around it, as far as its operands exist outside of them: the innermost map
//! makes it a product with a vector, the next one a product of matrices. What else the maps compute stays in them, and
//! reads the contraction row by row. Then ([`sink`]), a product with a vector that is the result of a map, and whose
//! operand the map computes, moves behind the map, which gives all those vectors; and ([`distribute`]) a map that needs
//! such a product itself is split in two.
//!
//! A product with rows that are zero but for one element adds at the places of these elements instead ([`sparse`]).
//!
//! In the end ([`settle`]), a contraction that is transposed or added to an array at once does that itself,
//! and one that is only added up along one of its dimensions becomes one with sums ([`summed`]).
//!
//! Before all that, sums of outer products that are arrays get to see the factors ([`outer`]), and of several factors two are
//! made ([`factors`]).
//!
//! Sums are added in another order than before. Arrays are plain values here; copies come later.

mod blocks;
mod distribute;
mod dot;
mod factors;
mod facts;
mod outer;
mod raise;
mod rows_axis_last;
mod settle;
mod sink;
mod sparse;
mod summed;

use dagaz_core::exp::Program;
use dagaz_core::pass::Pass;

pub use self::blocks::COMPUTE_IN_BLOCKS;
pub use self::rows_axis_last::PUT_ROWS_AXIS_LAST;

pub const RAISE_CONTRACTIONS: Pass = Pass::always(
    "raise-contractions",
    "Sums of products in nests of maps become contractions.",
    raise_contractions,
);

pub fn raise_contractions(program: &mut Program) {
    outer::multiply_after_reading(program);
    factors::multiply_before(program);
    raise::raise(program);
    crate::simplify::simplify(program);
    sink::sink(program);
    if distribute::distribute(program) {
        crate::simplify::simplify(program);
    }
    if sparse::add_single_elements(program) {
        crate::dce::eliminate_dead_code(program);
    }
    settle::settle(program);
    crate::dce::eliminate_dead_code(program);
    summed::multiply_sums(program);
}
