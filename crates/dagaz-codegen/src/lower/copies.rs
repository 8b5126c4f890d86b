//! Elements on their way from one layout to another.
//!
//! Where elements that are next to each other here are far apart there, they go in tiles, so that what is fetched from
//! memory is used before it has to go:
//!
//!     for tiles of j { for tiles of i { for i in the tile { for j in the tile { to[i * n + j] = from[j * m + i] } } } }
//!
//! Large copies are shared out among threads.

use dagaz_core::machine;
use dagaz_core::prim::PrimType;
use dagaz_core::types::Atom;

use super::{Lower, Lowered};
use crate::imp::{Expr, LoopKind, Operand, Var};

/// Copies the element at some indices.
type Each<'e> = dyn Fn(&mut Lower<'_>, &[Expr]) -> Lowered<()> + 'e;

impl Lower<'_> {
    /// Calls `each` for all indices below some sizes. `near` is the dimension along which elements are next to each
    /// other where they come from; where they go to, that is the last one.
    pub(super) fn for_all_indices(&mut self, sizes: &[Atom], near: usize, each: &Each<'_>) -> Lowered<()> {
        let Some(last) = sizes.len().checked_sub(1) else { return each(self, &[]) };
        let sizes: Vec<Expr> = sizes.iter().map(|size| self.atom(*size)).collect();
        if near >= last {
            let cost = sizes[1..].iter().fold(1.0.expr(), |cost, size| cost.times(size.cast(PrimType::F64)));
            return self.pieces(&sizes[0], cost, false, |l, from, to| {
                let kind = if last == 0 { LoopKind::SIMD } else { LoopKind::Sequential };
                l.loop_from(kind, from, to, |l, i| l.inner_indices(&sizes, vec![i.expr()], each))
            });
        }
        let outer: Vec<usize> = (0..last).filter(|axis| *axis != near).collect();
        let counters = vec![0.expr(); sizes.len()];
        self.outer_indices(&sizes, near, &outer, counters, each)
    }

    fn inner_indices(&mut self, sizes: &[Expr], counters: Vec<Expr>, each: &Each<'_>) -> Lowered<()> {
        let Some(size) = sizes.get(counters.len()) else { return each(self, &counters) };
        let kind = if counters.len() + 1 == sizes.len() { LoopKind::SIMD } else { LoopKind::Sequential };
        self.for_loop(kind, size, |l, i| {
            let mut counters = counters;
            counters.push(i.expr());
            l.inner_indices(sizes, counters, each)
        })
    }

    /// Loops over the dimensions that are no part of tiles, and then over tiles.
    fn outer_indices(
        &mut self,
        sizes: &[Expr],
        near: usize,
        outer: &[usize],
        mut counters: Vec<Expr>,
        each: &Each<'_>,
    ) -> Lowered<()> {
        if let Some((axis, rest)) = outer.split_first() {
            return self.for_loop(LoopKind::Sequential, &sizes[*axis], |l, i| {
                counters[*axis] = i.expr();
                l.outer_indices(sizes, near, rest, counters, each)
            });
        }
        let last = sizes.len() - 1;
        let tiles = |axis: usize| sizes[axis].parts_of(machine::COPY_TILE);
        let cost = sizes[near].cast(PrimType::F64).times(machine::COPY_TILE as f64);
        self.pieces(tiles(last), cost, false, |l, from, to| {
            l.loop_from(LoopKind::Sequential, from, to, |l, column| {
                let columns = l.tile(column, &sizes[last]);
                l.for_loop(LoopKind::Sequential, tiles(near), |l, row| {
                    let rows = l.tile(row, &sizes[near]);
                    l.loop_from(LoopKind::Sequential, &rows.0, &rows.1, |l, i| {
                        l.loop_from(LoopKind::Sequential, &columns.0, &columns.1, |l, j| {
                            let mut counters = counters.clone();
                            (counters[near], counters[last]) = (i.expr(), j.expr());
                            each(l, &counters)
                        })
                    })
                })
            })
        })
    }

    /// Variables for the first index of a tile, and the one after the last.
    fn tile(&mut self, number: &Var, size: &Expr) -> (Var, Var) {
        let first = self.int("first", number * machine::COPY_TILE);
        let end = self.int("end", (&first + machine::COPY_TILE).minimum(size));
        (first, end)
    }
}
