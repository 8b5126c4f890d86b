//! Products whose rows are used up at once are computed in blocks of rows, which stay in the caches.
//!
//! ```text
//! let (p: [n][m]f64) =                                  let (s: f64) =
//!   contract [n, m] sum [k] x (0, 2) w (2, 1)             loop (s = 0.0f64) for b < blocks do
//! let (s: f64) =                                            let (x': [len][k]f64) = slice x [b * block :+ len * 1, …]
//!   reduce n (p)                                  ==>       let (p: [len][m]f64) =
//!     pre \(row: [m]f64) : (f64) -> …                         contract [len, m] sum [k] x' (0, 2) w (2, 1)
//!     op (+) neutral (0.0f64)                               let (part: f64) = reduce len (p) …
//!                                                           let (sum: f64) = f64.add s part
//!                                                           in (sum)
//! ```
//!
//! What depends on the rows may go on through maps and further products, as long as it ends in sums: a reduction, a product
//! that sums over the rows, sums of columns, or an accumulator ([`chain`]). Then no array with as many rows is left, but
//! vectors. All of it happens block by block, each in parallel, and the sums go from block to block ([`emit`]).
//!
//! The gradient of a mixture model, for example, needs no memory for the products of all points with all matrices.

mod chain;
mod emit;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Program};
use dagaz_core::pass::Pass;

use super::facts::Definitions;
use dagaz_core::effects::Effects;
use dagaz_core::visit::bodies_mut;

pub const COMPUTE_IN_BLOCKS: Pass = Pass::reporting(
    "compute-in-blocks",
    "Products whose rows are used up at once are computed in blocks of rows.",
    compute_in_blocks,
);

/// Whether there was such a product.
pub fn compute_in_blocks(program: &mut Program) -> bool {
    let (facts, effects) = (Definitions::of(program), Effects::of(program));
    let mut b = Builder::new(std::mem::take(&mut program.vars));
    let mut has_changed = false;
    for fun in &mut program.funs {
        has_changed |= body(&facts, &effects, &mut b, &mut fun.body);
    }
    program.vars = b.finish().0;
    has_changed
}

fn body(facts: &Definitions, effects: &Effects, b: &mut Builder, own: &mut Body) -> bool {
    let mut has_changed = false;
    for stm in &mut own.stms {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| has_changed |= body(facts, effects, b, inner));
    }
    while let Some(chain) = chain::find(facts, effects, own) {
        emit::emit(facts, b, own, chain);
        has_changed = true;
    }
    has_changed
}
