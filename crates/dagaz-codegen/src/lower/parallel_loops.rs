//! The loops that all parallel operations are made of: pieces for threads, loops for vector units, and loops in order.

use dagaz_core::machine;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::Atom;

use super::masked_checks::Deferred;
use super::{Lower, Lowered};
use crate::RemarkKind;
use crate::imp::{Combine, Expr, LoopKind, Operand, Parallel, Runtime, Stm, Var, lines};

impl Lower<'_> {
    /// Runs a body for pieces of the numbers below `count`, by threads where that pays: in the outermost loops, and, if
    /// there is enough to do, in maps just inside of them that have loops themselves.
    pub(super) fn pieces(
        &mut self,
        count: impl Operand,
        cost: impl Operand,
        has_loops: bool,
        build: impl Fn(&mut Self, &Expr, &Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        let (count, cost) = (&count.expr(), cost.expr());
        let in_order = |l: &mut Self| l.repeatedly(|l| build(l, &0.expr(), count));
        let grain = Expr::call(Runtime::Grain, [count.clone(), cost.clone()]);
        if self.is_outermost() {
            return self.pieces_of(count, grain, build);
        }
        if self.around.parallel > 1 || !has_loops {
            return in_order(self);
        }
        let work = self.temp_with(PrimType::F64, "work", count.cast(PrimType::F64).times(cost));
        // A function of its own has the registers for itself; the call pays from some work on.
        let grain = work.is_above(machine::NESTED_WORK).select(grain, count.maximum(1));
        let (then, ()) = self.nested(|l| l.pieces_of(count, grain, &build))?;
        if lines(&then) > machine::MOST_LINES_TWICE {
            self.out.extend(then);
            return Ok(());
        }
        let (otherwise, ()) = self.nested(|l| {
            // Nothing further inside is worth threads then.
            l.around.parallel += 1;
            let built = in_order(l);
            l.around.parallel -= 1;
            built
        })?;
        self.out.push(Stm::branch(work.is_above(machine::CALL_WORK), then, otherwise));
        Ok(())
    }

    /// Whether there is no parallel loop around the statement at hand.
    pub(super) fn is_outermost(&self) -> bool {
        self.around.parallel == 0
    }

    /// As [`Lower::pieces`], for pieces of a given size.
    pub(super) fn pieces_of(
        &mut self,
        count: impl Operand,
        grain: impl Operand,
        build: impl FnOnce(&mut Self, &Expr, &Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        self.all_pieces(count.expr(), grain.expr(), false, build)
    }

    /// As [`Lower::pieces_of`], where a piece may wait for the one before it.
    pub(super) fn pieces_in_order(
        &mut self,
        count: impl Operand,
        grain: impl Operand,
        build: impl FnOnce(&mut Self, &Expr, &Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        self.all_pieces(count.expr(), grain.expr(), true, build)
    }

    fn all_pieces(
        &mut self,
        count: Expr,
        grain: Expr,
        in_order: bool,
        build: impl FnOnce(&mut Self, &Expr, &Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        let (from, to) = (self.temp(PrimType::I64, "from"), self.temp(PrimType::I64, "to"));
        let note = self.note();
        self.remark(RemarkKind::Threads, "pieces run on threads where there are enough iterations");
        self.around.parallel += 1;
        let built = self.nested(|l| l.repeatedly(|l| build(l, &from.clone().expr(), &to.clone().expr())));
        self.around.parallel -= 1;
        let (body, ()) = built?;
        self.out.push(Stm::Parallel(Box::new(Parallel { count, grain, in_order, from, to, note, body })));
        Ok(())
    }

    /// A loop in order, which can be interrupted.
    pub(super) fn iterate(
        &mut self,
        from: impl Operand,
        to: impl Operand,
        build: impl FnOnce(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        self.loop_from(LoopKind::Sequential, from, to, |l, i| {
            l.tick();
            build(l, i)
        })
    }

    /// A loop of scalar operations, for vector units. What can fail is noted, and if something did, the same loop
    /// runs again in order to find out what:
    ///
    ///     for i { bad = -(is[i] >= n); stop |= bad; ys[i] = xs[is[i] & ~bad] }
    ///     if (stop) for i { if (is[i] >= n) fail; … }
    pub(super) fn simple_loop(
        &mut self,
        from: &Expr,
        to: &Expr,
        sums: &[(Combine, Var)],
        build: &dyn Fn(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        let flag = self.temp(PrimType::I64, "stop");
        let outside = self.around.deferred.replace(Deferred::new(flag.clone()));
        let built = self.nested(|l| l.loop_from(LoopKind::SIMD, from, to, build));
        let inside = std::mem::replace(&mut self.around.deferred, outside);
        let (mut vectors, ()) = built?;
        let can_fail = inside.as_ref().is_some_and(|deferred| deferred.is_used);
        self.remark(
            RemarkKind::Simd,
            match (can_fail, sums.is_empty()) {
                (true, _) => "a loop for vector units; after a failed check it runs again in order",
                (false, true) => "a loop for vector units",
                (false, false) => "a loop for vector units, which adds up in any order",
            },
        );
        let mut combined = sums.to_vec();
        if can_fail {
            combined.push((Combine::Or, flag.clone()));
            self.set(&flag, 0);
        }
        for known in inside.into_iter().flat_map(|deferred| deferred.readable) {
            self.set(&known.pointer, known.value);
        }
        for stm in &mut vectors {
            if let Stm::Loop { kind, .. } = stm {
                *kind = LoopKind::Simd { sums: combined.clone() };
            }
        }
        self.out.append(&mut vectors);
        if can_fail {
            let outside = self.around.deferred.take();
            let again = self.nested(|l| l.loop_from(LoopKind::Sequential, from, to, build));
            self.around.deferred = outside;
            let (then, ()) = again?;
            self.out.push(Stm::when_rarely(flag.equals(0).not(), then));
        }
        Ok(())
    }

    /// A loop of scalar operations in order, of which there are so many. If they are few, counting and jumping would take as
    /// long: several iterations are written out.
    pub(super) fn short_loop(
        &mut self,
        from: &Expr,
        to: &Expr,
        statements: usize,
        build: impl FnOnce(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        let kind = if statements <= machine::UNROLLED_STATEMENTS {
            LoopKind::Unrolled(machine::UNROLLED_ITERATIONS)
        } else {
            LoopKind::Sequential
        };
        self.loop_from(kind, from, to, build)
    }

    /// A new variable with the least or the greatest of a number and some sums.
    pub(super) fn limit(&mut self, hint: &str, start: &Expr, op: BinOp, sums: &[(Atom, i64)]) -> Var {
        let limit = self.int(hint, start);
        for (atom, number) in sums {
            let sum = Expr::call(Runtime::SaturatingSum, [self.atom(*atom), number.expr()]);
            self.put(&limit, limit.op(op, sum));
        }
        limit
    }
}
