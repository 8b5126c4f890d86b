//! Copies of matrices that loops keep for their products.
//!
//! A product copies a matrix into the order in which its kernel reads elements. If the matrix is the same in every iteration of a
//! loop, the first iteration makes the copy, and it stays until the loop is left:
//!
//! ```text
//!                                          dz_block *kept = NULL;
//! for (t = 0; t < n; t++)                  for (t = 0; t < n; t++)
//!   dz_product_f32(…, x, w, y);     ==>      if (dz_product_with_copy_f32(…, x, w, y, &kept)) return 1;
//!                                          dz_release(ctx, kept);
//! ```

use std::collections::HashSet;

use dagaz_core::types::{Atom, Param, VarId};

use super::{Lower, Lowered};
use crate::imp::{Expr, Repr, TriangleBounds, Var};

/// A loop that is being lowered.
pub(super) struct LoopAround {
    /// Variables with other values in every iteration, though they are bound before the loop.
    carried: HashSet<VarId>,
    /// The last repeated body before that of the loop.
    region: u32,
    parallel: u32,
    /// What is copied, and the block of the copy.
    copies: Vec<((VarId, CopyOrder), Var)>,
}

/// The order of the elements in a copy.
#[derive(Clone, PartialEq)]
pub(super) struct CopyOrder {
    /// How far apart rows and columns are in the matrix.
    pub(super) strides: [Expr; 2],
    /// The elements that are left out.
    pub(super) triangle: Option<Box<TriangleBounds>>,
}

impl LoopAround {
    /// Whether an array that is bound in a repeated body is the same in every iteration, for one thread.
    fn has_same(&self, array: VarId, bound: u32, parallel: u32) -> bool {
        bound <= self.region && self.parallel == parallel && !self.carried.contains(&array)
    }
}

impl Lower<'_> {
    /// The statements of a loop that `build` makes, with the copies around them that are made inside.
    pub(super) fn with_copies(
        &mut self,
        params: &[(Param, Atom)],
        build: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let carried = params.iter().map(|(param, _)| param.var).collect();
        let (region, parallel) = (self.fresh.regions, self.around.parallel);
        self.around.loops.push(LoopAround { carried, region, parallel, copies: Vec::new() });
        let built = self.nested(build);
        let copies = self.around.loops.pop().map_or(Vec::new(), |around| around.copies);
        let (inside, ()) = built?;
        copies.iter().for_each(|(_, block)| self.set(block, Expr::Null));
        self.out.extend(inside);
        copies.iter().for_each(|(_, block)| self.release(block));
        Ok(())
    }

    /// Whether an array is the same in every iteration of the loop around the statement at hand.
    pub(super) fn is_kept(&self, array: VarId) -> bool {
        let bound = self.scope.vars.get(&array).map(|info| info.region);
        self.around.loops.last().is_some_and(|around| {
            bound.is_some_and(|bound| around.has_same(array, bound, self.around.parallel))
        })
    }

    /// The block for a copy of an array in some order, which the outermost loop keeps that the array is the same in. Threads
    /// of a parallel loop have loops of their own.
    pub(super) fn kept_copy(&mut self, array: VarId, order: CopyOrder) -> Option<Var> {
        let (bound, parallel) = (self.scope.vars.get(&array)?.region, self.around.parallel);
        // From the inside out, as far as all loops have the same array.
        let inner = self
            .around
            .loops
            .iter()
            .rev()
            .take_while(|around| around.has_same(array, bound, parallel))
            .count();
        let at = self.around.loops.len() - inner;
        let what = (array, order);
        let block = match self.around.loops.get(at)?.copies.iter().find(|(own, _)| *own == what) {
            Some((_, block)) => block.clone(),
            None => self.temp(Repr::Block, "kept"),
        };
        let copies = &mut self.around.loops.get_mut(at)?.copies;
        if copies.iter().all(|(own, _)| *own != what) {
            copies.push((what, block.clone()));
        }
        Some(block)
    }
}
