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
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::bodies;

use super::folds::components;
use super::{Lower, Lowered, OpenAcc, elem};
use crate::SiteKind;
use crate::imp::{Stm, Variable};

/// There must be so much else to do for each addition: to write it down and to read that takes longer than the addition.
const WORTH: f64 = 12.0;
/// How often loops run, for a guess of that.
const OFTEN: f64 = 32.0;

impl Lower<'_> {
    /// Whether what iterations add to some accumulators can be logged: single floats.
    pub(super) fn can_be_logged(&self, numbers: &[usize], arrays: &[VarId], lambda: &Lambda) -> bool {
        let is_sum = |acc: &OpenAcc| {
            let operations = acc.op.as_ref().and_then(|(op, _)| components(op)).unwrap_or_default();
            let is_scalar = acc.arrays.iter().all(|array| array.ty.rank() == acc.shape.len());
            is_scalar && matches!(operations.as_slice(), [(BinOp::Add, PrimType::F32 | PrimType::F64)])
        };
        let are_sums = numbers.iter().all(|number| is_sum(&self.open[*number]));
        let (work, additions) = weight(&lambda.body);
        are_sums && !self.has_no_loops(arrays, lambda) && work >= WORTH * additions
    }

    /// A map on threads, whose pieces make their additions in turn.
    pub(super) fn map_with_logs(
        &mut self,
        pat: &[Param],
        (bound, arrays, lambda): (&str, &[VarId], &Lambda),
        numbers: &[usize],
    ) -> Lowered<()> {
        let cost = self.cost(&[lambda]);
        let (grain, pieces) = (self.temp("grain"), self.temp("pieces"));
        self.set("i64", grain.as_str(), format!("dz_log_grain({bound}, {cost})"));
        self.set("i64", pieces.as_str(), format!("({bound} + {grain} - 1) / {grain}"));
        let length = format!("dz_times({pieces} + 1, {} * DZ_PARTS)", numbers.len());
        let turns = self.scratch_memory(PrimType::I8, &length)?;
        self.line(format!("dz_begin_turns({turns}, {} * DZ_PARTS, {pieces});", numbers.len()));
        let outside: Vec<OpenAcc> = numbers.iter().map(|number| self.open[*number].clone()).collect();
        let built = self.pieces_in_order(bound, &grain, |l, from, to| {
            let mut logs = Vec::new();
            for (position, number) in numbers.iter().enumerate() {
                let own = format!("(char *){turns} + {position} * DZ_PARTS * ({pieces} + 1)");
                logs.extend(l.open_log(*number, &format!("{own}, {pieces}, {from} / {grain}"))?);
            }
            l.iterations_in_order(pat, (from, to), arrays, lambda)?;
            for (ty, log) in logs {
                l.line(format!("if (DZ_UNLIKELY(dz_close_log_{ty}(ctx, &{log}))) return 1;"));
            }
            Ok(())
        });
        for (number, acc) in numbers.iter().zip(outside) {
            self.open[*number] = acc;
        }
        self.line(format!("dz_release(ctx, {turns}_mem);"));
        built
    }

    /// Opens the logs of a piece for an accumulator.
    fn open_log(&mut self, number: usize, turn: &str) -> Lowered<Vec<(PrimType, String)>> {
        let mut logs = Vec::new();
        for array in self.open[number].arrays.clone() {
            let (ty, log, site) = (elem(&array.ty)?, self.temp("log"), self.site(SiteKind::Memory));
            self.module.logs.insert(ty);
            let (target, size) = (self.name(array.var), self.product(array.ty.dims()));
            let var = Variable { ty: format!("dz_log_{ty}"), name: log.clone() };
            self.out.push(Stm::Declare { var, value: None });
            let opened = format!("dz_open_log_{ty}(ctx, {site}, &{log}, {target}, {size}, {turn})");
            self.line(format!("if (DZ_UNLIKELY({opened})) return 1;"));
            self.open[number].log = Some(log.clone());
            logs.push((ty, log));
        }
        Ok(logs)
    }

    pub(super) fn log_addition(
        &mut self,
        log: &str,
        array: &Param,
        (indices, bounds): (Vec<String>, Vec<String>),
        value: Atom,
    ) -> Lowered<()> {
        self.within(bounds, &[], |l| {
            let (ty, place) = (elem(&array.ty)?, l.offset(&indices, array.ty.dims()));
            let added = format!("dz_add_{ty}(ctx, &{log}, {place}, {})", l.atom(value));
            l.line(format!("if (DZ_UNLIKELY({added})) return 1;"));
            Ok(())
        })
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
                Atom::Var(_) => OFTEN,
            },
            Exp::Loop { .. } => OFTEN,
            _ => 1.0,
        };
        let own = if matches!(stm.exp, Exp::UpdateAcc { .. }) { 1.0 } else { 0.0 };
        let parts = bodies(&stm.exp).into_iter().map(weight);
        let (inner, added) = parts.fold((1.0, own), |(w, a), (work, additions)| (w + work, a + additions));
        (work + times * inner, additions + times * added)
    })
}
