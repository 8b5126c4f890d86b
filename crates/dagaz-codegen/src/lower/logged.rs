//! Maps that add to large accumulators, on threads.
//!
//! Copies of a large accumulator would take longer than there is to gain. Pieces of the iterations therefore write down what
//! they add where, and make these additions when all pieces before them have made theirs. The order of additions is that of
//! the iterations, and so the result does not depend on pieces and threads; one thread adds at once.
//!
//!     map n (acc, xs) \(acc, x) -> …acc[i] += y…
//!     ==>  if threads > 1 { for each piece { …log (i, y)…; wait for the piece before; for (i, y) in log { acc[i] += y } } }
//!          else { …acc[i] += y… }
//!
//! A log has several parts, by places, each with turns of its own: pieces add to different parts at the same time. If a part
//! is full, its piece waits for its turn. Where additions are most of the work, they are not logged, nor where iterations are
//! scalar operations alone.

use dagaz_core::exp::{Body, Exp, Lambda, LoopForm};
use dagaz_core::machine;
use dagaz_core::operator::{ScalarOperator, components};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::bodies;

use super::emit::block_of;

use super::{Lower, Lowered, OpenAcc, elem};
use crate::SiteKind;
use crate::imp::{Expr, Operand, Repr, Runtime, Stm, Var};

impl Lower<'_> {
    /// Whether what iterations add to some accumulators can be logged: single floats.
    pub(super) fn can_be_logged(&self, numbers: &[usize], arrays: &[VarId], lambda: &Lambda) -> bool {
        let is_sum = |acc: &OpenAcc| {
            let operations = acc.op.as_ref().and_then(|(op, _)| components(op)).unwrap_or_default();
            let is_scalar = acc.arrays.iter().all(|array| array.ty.rank() == acc.shape.len());
            is_scalar
                && matches!(
                    operations.as_slice(),
                    [ScalarOperator { op: BinOp::Add, ty: PrimType::F32 | PrimType::F64, .. }]
                )
        };
        let are_sums = numbers.iter().all(|number| is_sum(&self.open[*number]));
        let (work, additions) = weight(&lambda.body);
        are_sums && !self.has_no_loops(arrays, lambda) && work >= machine::LOGGING_COST * additions
    }

    /// A map on threads, whose pieces make their additions in turn.
    pub(super) fn map_with_logs(
        &mut self,
        pat: &[Param],
        (bound, arrays, lambda): (&Expr, &[VarId], &Lambda),
        numbers: &[usize],
    ) -> Lowered<()> {
        let cost = self.cost(&[lambda]);
        let grain = self.int("grain", Expr::call(Runtime::LogGrain, [bound.clone(), cost]));
        let pieces = self.int("pieces", bound.parts_of(&grain));
        let parts = || Expr::call(Runtime::CountLogParts, []);
        let all_parts = numbers.len().times(parts());
        let length = Expr::call(Runtime::SaturatingProduct, [&pieces + 1, all_parts.clone()]);
        let turns = self.scratch_memory(PrimType::I8, length);
        self.run(Runtime::BeginTurns, [turns.expr(), all_parts, pieces.expr()]);
        let outside: Vec<OpenAcc> = numbers.iter().map(|number| self.open[*number].clone()).collect();
        let built = self.pieces_in_order(bound, &grain, |l, from, to| {
            let mut logs = Vec::new();
            for (position, number) in numbers.iter().enumerate() {
                let own = &turns + position.times(parts()).times(&pieces + 1);
                logs.extend(l.open_log(*number, [own, pieces.expr(), from / &grain])?);
            }
            l.iterations_in_order(pat, (from, to), arrays, lambda)?;
            for (ty, log) in logs {
                l.attempt(Runtime::CloseLog(ty), [log.expr()]);
            }
            Ok(())
        });
        for (number, acc) in numbers.iter().zip(outside) {
            self.open[*number] = acc;
        }
        self.release(&block_of(&turns.name));
        built
    }

    /// Opens the logs of a piece for an accumulator.
    fn open_log(&mut self, number: usize, turn: [Expr; 3]) -> Lowered<Vec<(PrimType, Var)>> {
        let mut logs = Vec::new();
        for array in self.open[number].arrays.clone() {
            let (ty, site) = (elem(&array.ty)?, self.site(SiteKind::Memory));
            self.module.logs.insert(ty);
            let log = self.temp(Repr::Log(ty), "log");
            self.unset(&log);
            let (target, size) = (self.var_of(&array)?, self.product(array.ty.dims()));
            let [turns, pieces, piece] = turn.clone();
            let operands = [Expr::Site(site), log.expr(), target.expr(), size, turns, pieces, piece];
            self.attempt(Runtime::OpenLog(ty), operands);
            self.open[number].log = Some(log.clone());
            logs.push((ty, log));
        }
        Ok(logs)
    }

    pub(super) fn log_addition(
        &mut self,
        log: &Var,
        array: &Param,
        (indices, bounds): (Vec<Expr>, Vec<Expr>),
        value: Atom,
    ) -> Lowered<()> {
        self.within(bounds, &[], |l| {
            let (ty, place) = (elem(&array.ty)?, l.offset(&indices, array.ty.dims()));
            l.attempt(Runtime::AddToLog(ty), [log.expr(), place, l.atom(value)]);
            Ok(())
        })
    }

    /// Calls what says whether it has failed, which it has told then.
    pub(super) fn attempt<const N: usize>(&mut self, runtime: Runtime, operands: [Expr; N]) {
        self.out.push(Stm::Attempt { runtime, operands: operands.into(), site: None });
    }
}

/// Whether iterations do something that could run on threads by itself.
pub(super) fn has_parallel_parts(body: &Body) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Map { .. }
        | Exp::Reduce { .. }
        | Exp::Scan { .. }
        | Exp::Hist { .. }
        | Exp::Scatter { .. }
        | Exp::Contract { .. }
        | Exp::Copy(_)
        | Exp::Concat { .. }
        | Exp::Call { .. } => true,
        exp => bodies(exp).into_iter().any(has_parallel_parts),
    })
}

/// About how many statements run, and how many of them add to accumulators.
fn weight(body: &Body) -> (f64, f64) {
    body.stms.iter().fold((0.0, 0.0), |(work, additions), stm| {
        let times = match &stm.exp {
            Exp::Map { width: bound, .. }
            | Exp::Reduce { width: bound, .. }
            | Exp::Scan { width: bound, .. }
            | Exp::Loop { form: LoopForm::For { bound, .. }, .. } => match bound {
                Atom::Const(number) => number.as_i64().unwrap_or(1) as f64,
                Atom::Var(_) => machine::UNKNOWN_TIMES,
            },
            Exp::Loop { .. } => machine::UNKNOWN_TIMES,
            _ => 1.0,
        };
        let own = if matches!(stm.exp, Exp::UpdateAcc { .. }) { 1.0 } else { 0.0 };
        let parts = bodies(&stm.exp).into_iter().map(weight);
        let (inner, added) = parts.fold((1.0, own), |(w, a), (work, additions)| (w + work, a + additions));
        (work + times * inner, additions + times * added)
    })
}
