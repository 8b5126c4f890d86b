//! Maps that update accumulators, on threads.
//!
//! Where an accumulator is small, given the work of the map, pieces of the iterations have copies of it, which begin with
//! neutral elements and are combined in order afterwards. How many pieces there are depends on sizes alone, and so the
//! result does not depend on the number of threads. There is memory for as many copies as there are threads, and for more
//! if they are small: so many pieces run at once, and are combined before the next ones.
//!
//!     map n (acc, is) \(acc, i) -> …acc[i] += x…
//!     ==>  for pieces of the iterations, some at once {
//!            for each piece { copies[piece] = neutral; …copies[piece][i] += x… }; for each piece { acc += copies[piece] }
//!          }
//!
//! The first piece of all needs no copy, as nothing comes before it: it updates the accumulator itself. If the accumulator is
//! too large for copies, there may be logs (`logged.rs`).

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Exp, Lambda};
use dagaz_core::machine;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::accumulators::elementwise;
use super::emit::block_of;
use super::logged::has_parallel_parts;
use super::maps::statements;
use super::{Form, Lower, Lowered, OpenAcc, elem};
use crate::RemarkKind;
use crate::imp::{Access, Expr, Operand, Repr, Runtime, Stm, Var};

/// The copies of one array of an accumulator.
struct Copies {
    target: Param,
    /// What stands for the array in the iterations of a piece.
    mine: Param,
    /// The memory of all copies, and how many elements one of them has.
    own: Var,
    size: Expr,
}

impl Lower<'_> {
    /// A map that takes accumulators.
    pub(super) fn map_with_accumulators(
        &mut self,
        pat: &[Param],
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
    ) -> Lowered<()> {
        let bound = self.atom(width);
        let mut numbers: Vec<usize> =
            arrays.iter().filter_map(|array| self.accs.get(array).copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let is_logged = numbers.iter().any(|number| self.open[*number].log.is_some());
        let is_along_row = !is_logged && self.is_along_row(arrays, lambda);
        let in_order = |l: &mut Self| {
            l.repeatedly(|l| match is_along_row {
                true => l.loop_of_whole_vectors(&0.expr(), &bound, lambda, &|l, i| {
                    l.load_row(arrays, &lambda.params, i)?;
                    l.body(&lambda.body, &lambda.params, |l| l.write_wanted_results(pat, lambda, i))
                }),
                false => l.iterations_in_order(pat, (&0.expr(), &bound), arrays, lambda),
            })
        };
        let can_be_copied = numbers.iter().all(|number| self.can_be_copied(&self.open[*number]));
        if !self.is_outermost() || !can_be_copied {
            self.remark(RemarkKind::InOrder, "iterations add to the same places");
            return in_order(self);
        }
        self.block(|l| {
            let arrays_of = |number: &usize| l.open[*number].arrays.iter();
            let sizes = numbers.iter().flat_map(arrays_of).map(|array| l.product(array.ty.dims()));
            let elements = sizes.fold(0.expr(), |sum, size| sum + size);
            let can_be_logged = l.can_be_logged(&numbers, arrays, lambda);
            let work = [bound.clone(), l.cost(&[lambda]), elements.clone()];
            let count = Expr::call(Runtime::CountAccCopies, work.clone());
            let count = match can_be_logged {
                true => elements.is_above(machine::COPIED_ACCUMULATOR_ELEMENTS).select(1, count),
                false => count,
            };
            let copies = l.int("copies", count);
            let loops = (&bound, arrays, lambda);
            let with_copies = |l: &mut Self| l.map_with_copies(pat, loops, &numbers, (&copies, &elements));
            if !can_be_logged {
                let (then, ()) = l.nested(with_copies)?;
                let (otherwise, ()) = l.nested(in_order)?;
                l.out.push(Stm::branch(copies.is_above(1), then, otherwise));
                return Ok(());
            }
            let enough = copies.equals(1).both(Expr::call(Runtime::IsLogged, work));
            let pays = l.temp_with(PrimType::Bool, "pays", enough);
            let (then, ()) = l.nested(|l| l.map_with_logs(pat, loops, &numbers))?;
            // With one thread, or copies, or without anything else for threads to do, all is one piece, or several with
            // copies.
            let (mut otherwise, ()) = l.nested(with_copies)?;
            if has_parallel_parts(&lambda.body) {
                let (in_order, ()) = l.nested(in_order)?;
                otherwise = vec![Stm::branch(copies.is_above(1).either(&pays), otherwise, in_order)];
            }
            let has_threads = Expr::call(Runtime::CountThreads, []).is_above(1);
            l.out.push(Stm::branch(pays.both(has_threads), then, otherwise));
            Ok(())
        })
    }

    /// Whether every iteration adds to a place of its own, one after the other in memory, and does nothing else but scalar
    /// operations that cannot fail.
    fn is_along_row(&self, arrays: &[VarId], lambda: &Lambda) -> bool {
        let numbers = Some(Form::Range { start: 0.expr(), step: 1.expr() });
        let is_count = |array: &VarId| self.scope.vars.get(array).map(|info| info.form.clone()) == numbers;
        let counters = arrays.iter().zip(&lambda.params).filter(|(array, _)| is_count(array));
        let counters: Vec<Atom> = counters.map(|(_, param)| param.var.into()).collect();
        let bound = lambda.params.iter().chain(lambda.body.stms.iter().flat_map(|stm| &stm.pat));
        let bound: HashSet<VarId> = bound.map(|p| p.var).collect();
        let is_invariant = |atom: &Atom| atom.as_var().is_none_or(|var| !bound.contains(&var));
        // All updates of an accumulator are at the place of the iteration, whatever it is called by then.
        let mut names: HashMap<VarId, VarId> = HashMap::new();
        for stm in &lambda.body.stms {
            if let (Exp::UpdateAcc { acc, .. }, [param]) = (&stm.exp, stm.pat.as_slice()) {
                names.insert(param.var, names.get(acc).copied().unwrap_or(*acc));
            }
        }
        let is_sum_of_scalars = |acc: &VarId| {
            let first = names.get(acc).unwrap_or(acc);
            let mut rows = arrays.iter().zip(&lambda.params).filter(|(_, p)| p.var == *first);
            let number = rows.next().and_then(|(array, _)| self.accs.get(array));
            number.map(|number| &self.open[*number]).is_some_and(|open| {
                let is_scalar = open.arrays.iter().all(|array| array.ty.rank() == open.shape.len());
                let op = open.op.as_ref().map(|(op, _)| op);
                let is_safe = |op: &Lambda| op.body.stms.iter().all(|stm| !can_fail(&stm.exp));
                is_scalar && op.is_some_and(|op| self.is_simple(op) && is_safe(op))
            })
        };
        let are_plain = lambda.params.iter().all(|p| !p.ty.is_array());
        are_plain
            && lambda.body.stms.iter().all(|stm| match &stm.exp {
                Exp::UpdateAcc { acc, indices, .. } => {
                    let Some((last, outer)) = indices.split_last() else { return false };
                    is_sum_of_scalars(acc) && counters.contains(last) && outer.iter().all(is_invariant)
                }
                exp => self.is_simple_stm(stm) && !can_fail(exp),
            })
    }

    /// A loop over iterations. One that is a few scalar operations does not ask whether to go on: that would take as long.
    pub(super) fn iterations_in_order(
        &mut self,
        pat: &[Param],
        (from, to): (&Expr, &Expr),
        arrays: &[VarId],
        lambda: &Lambda,
    ) -> Lowered<()> {
        if !self.has_no_loops(arrays, lambda) {
            let fetch = self.fetch_rows_updated(arrays, lambda)?;
            self.fetch_first(fetch.as_ref(), from, to)?;
            return self.iterate(from, to, |l, i| {
                l.fetch_ahead(fetch.as_ref(), i, to)?;
                l.iteration_of_map(pat, arrays, lambda, i)
            });
        }
        let used = self.places_updated(arrays, lambda)?;
        let fetch = self.fetch((arrays, &lambda.params), &lambda.body, used);
        self.short_loop(from, to, statements(&lambda.body), |l, i| {
            l.fetch_ahead(fetch.as_ref(), i, to)?;
            l.iteration_of_map(pat, arrays, lambda, i)
        })
    }

    /// Whether an iteration is scalar operations, and updates of accumulators by scalars.
    pub(super) fn has_no_loops(&self, arrays: &[VarId], lambda: &Lambda) -> bool {
        let numbers = arrays.iter().filter_map(|array| self.accs.get(array));
        let are_scalar = numbers.map(|number| &self.open[*number]).all(|open| {
            let has_scalars = open.arrays.iter().all(|array| array.ty.rank() == open.shape.len());
            has_scalars && open.op.as_ref().is_none_or(|(op, _)| self.is_simple(op))
        });
        let is_plain =
            |stm: &dagaz_core::exp::Stm| matches!(stm.exp, Exp::UpdateAcc { .. }) || self.is_simple_stm(stm);
        let has_rows = lambda.params.iter().any(|p| p.ty.is_array());
        are_scalar && !has_rows && lambda.body.stms.iter().all(is_plain)
    }

    /// Whether copies of an accumulator can be combined, element by element.
    fn can_be_copied(&self, acc: &OpenAcc) -> bool {
        let rank = acc.shape.len();
        acc.op.as_ref().is_some_and(|(op, _)| {
            let is_scalar = acc.arrays.iter().all(|array| array.ty.rank() == rank) && self.is_simple(op);
            // An error is found in order, before anything has gone to a place.
            let fails = op.body.stms.iter().any(|stm| can_fail(&stm.exp));
            !acc.is_copy && !fails && (is_scalar || elementwise(op).is_some())
        })
    }

    fn map_with_copies(
        &mut self,
        pat: &[Param],
        (bound, arrays, lambda): (&Expr, &[VarId], &Lambda),
        numbers: &[usize],
        (copies, elements): (&Var, &Expr),
    ) -> Lowered<()> {
        let outside: Vec<OpenAcc> = numbers.iter().map(|number| self.open[*number].clone()).collect();
        let grain = self.int("grain", bound.parts_of(copies).maximum(1));
        let threads = || Expr::call(Runtime::CountThreads, []);
        let small = threads()
            .is_above(1)
            .select(machine::COPIED_ACCUMULATOR_ELEMENTS.quotient(elements.maximum(1)), 1);
        let at_once = self.int("at_once", copies.minimum(threads().maximum(small)));
        let mut all = Vec::new();
        for acc in &outside {
            let others = copies.is_above(1).select(&at_once, 0);
            all.push(self.memory_for_copies(acc, &others)?);
        }
        self.iterate(0, copies.parts_of(&at_once), |l, round| {
            let first = l.int("first", round * &at_once * &grain);
            let count = l.int("count", (bound - &first).minimum(&at_once * &grain).maximum(0));
            // The last pieces may have no iterations.
            let here = l.int("here", count.parts_of(&grain));
            l.pieces_with_copies(pat, [&first, &count, &grain], (arrays, lambda), (numbers, &all))?;
            for (acc, copied) in outside.iter().zip(&all) {
                l.combine_copies(acc, copied, (first.equals(0).cast(PrimType::I64), &here))?;
            }
            Ok(())
        })?;
        all.iter().flatten().for_each(|copies| self.release(&block_of(&copies.own.name)));
        Ok(())
    }

    /// The pieces of some of the iterations, each with copies of its own.
    fn pieces_with_copies(
        &mut self,
        pat: &[Param],
        [first, count, grain]: [&Var; 3],
        (arrays, lambda): (&[VarId], &Lambda),
        (numbers, all): (&[usize], &[Vec<Copies>]),
    ) -> Lowered<()> {
        let outside: Vec<OpenAcc> = numbers.iter().map(|number| self.open[*number].clone()).collect();
        for (number, copied) in numbers.iter().zip(all) {
            let acc = &mut self.open[*number];
            (acc.arrays, acc.is_copy) = (copied.iter().map(|c| c.mine.clone()).collect(), true);
        }
        let built = self.pieces_of(count, grain, |l, from, to| {
            let has_no_loops = l.has_no_loops(arrays, lambda);
            let is_first = l.temp_with(PrimType::Bool, "is_first", (first + from).equals(0));
            for Copies { target, mine, own, size } in all.iter().flatten() {
                l.bind(mine, false);
                // Nothing else in the loop reads the copy, which the C compiler would not know.
                let access = if has_no_loops { Access::Unaliased } else { Access::Any };
                let var = Var::new(Repr::Pointer(elem(&mine.ty)?, access), l.name(mine.var));
                l.set(&var, is_first.select(l.var_of(target)?, own + from / grain * size));
                if has_no_loops {
                    l.run(Runtime::InRegister, [var.expr()]);
                }
            }
            let (fill, ()) = l.nested(|l| {
                outside.iter().zip(all).try_for_each(|(acc, copied)| l.neutral_copy(acc, copied))
            })?;
            l.out.push(Stm::when(is_first.not(), fill));
            l.iterations_in_order(pat, (&(first + from), &(first + to)), arrays, lambda)
        });
        for (number, acc) in numbers.iter().zip(outside) {
            self.open[*number] = acc;
        }
        built
    }

    fn memory_for_copies(&mut self, acc: &OpenAcc, copies: &Expr) -> Lowered<Vec<Copies>> {
        let mut all = Vec::new();
        for array in &acc.arrays {
            let size = self.product(array.ty.dims());
            let all_sizes = Expr::call(Runtime::SaturatingProduct, [copies.clone(), size.clone()]);
            let own = self.scratch_memory(elem(&array.ty)?, all_sizes);
            let mine = self.unnamed(std::slice::from_ref(&array.ty)).remove(0);
            all.push(Copies { target: array.clone(), mine, own, size });
        }
        Ok(all)
    }

    /// Fills the copy of a piece with neutral elements.
    fn neutral_copy(&mut self, acc: &OpenAcc, copied: &[Copies]) -> Lowered<()> {
        let Some((_, neutral)) = &acc.op else { return Err("internal error: no operator".into()) };
        for (Copies { target: array, mine, .. }, neutral) in copied.iter().zip(neutral) {
            let row = array.ty.peel(acc.shape.len()).ok_or("internal error: an accumulator without rows")?;
            let (rows, mine) = (self.product(&acc.shape), self.var_of(mine)?);
            let length = self.product(row.dims());
            match row {
                Type::Prim(_) => self.fill(&mine, self.atom(*neutral), &rows)?,
                Type::Array { .. } | Type::Acc { .. } => {
                    self.iterate(0, rows, |l, i| l.store(&mine, i * &length, &row, *neutral))?;
                }
            }
        }
        Ok(())
    }

    /// Adds the copies from number `first_copy` on to the accumulator, one after the other.
    fn combine_copies(
        &mut self,
        acc: &OpenAcc,
        copied: &[Copies],
        (first_copy, copies): (Expr, &Var),
    ) -> Lowered<()> {
        let Some((op, _)) = &acc.op else { return Err("internal error: no operator".into()) };
        let scalar = elementwise(op).map_or(op, |(_, scalar)| scalar);
        let (left, right) = scalar.params.split_at(copied.len().min(scalar.params.len()));
        let Some(first) = copied.first() else { return Ok(()) };
        let cost = copies.cast(PrimType::F64).times(2.0);
        let targets = copied.iter().map(|c| self.var_of(&c.target)).collect::<Lowered<Vec<Var>>>()?;
        let own: Vec<Var> = copied.iter().map(|c| c.own.clone()).collect();
        self.pieces(&first.size, cost, false, |l, from, to| {
            l.iterate(&first_copy, copies, |l, copy| {
                l.simple_loop(from, to, &[], &|l, i| {
                    l.bind_elements(left, &targets, i)?;
                    l.bind_elements(right, &own, copy * &first.size + i)?;
                    l.combine(scalar)?;
                    l.write_elements_to(&targets, i, left)
                })
            })
        })
    }
}
