//! Histograms and scatters: many writes into arrays.
//!
//! In order, every value is combined with what is at its place. With many values and few places, pieces of the values have
//! copies of the places, which are combined in order; how many there are depends on the sizes alone, and so the result
//! does not depend on the number of threads. The values of a scatter go to their places in pieces: where two different
//! ones go to the same place, the language does not say which stays.

use dagaz_core::effects::can_fail;
use dagaz_core::exp::Lambda;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::emit::block_of;
use super::fetching::{Fetch, Prefetched};
use super::folds::piece_start;
use super::maps::statements;
use super::{Lower, Lowered};
use crate::RemarkKind;
use crate::imp::{Access, Expr, Operand, Repr, Runtime, Stm, Var, all};

/// Values on their way to places of arrays.
pub(super) struct Writes<'a> {
    pub(super) width: Atom,
    pub(super) arrays: &'a [VarId],
    pub(super) pre: Option<&'a Lambda>,
    pub(super) shape: &'a [Atom],
    /// With its neutral element; without, the last value stays.
    pub(super) op: Option<(&'a Lambda, &'a [Atom])>,
}

impl Lower<'_> {
    pub(super) fn many_writes(&mut self, pat: &[Param], dests: &[VarId], writes: &Writes<'_>) -> Lowered<()> {
        self.remark_fused(writes.pre);
        for (param, dest) in pat.iter().zip(dests) {
            self.take_unique(param, *dest)?;
        }
        let is_scalar = pat.iter().all(|p| p.ty.rank() == writes.shape.len());
        let is_simple = writes.pre.is_none_or(|pre| self.is_simple(pre))
            && writes.op.is_none_or(|(op, _)| self.is_simple(op));
        if !(is_scalar && is_simple) {
            self.remark(RemarkKind::InOrder, "writes whole arrays, or computes with arrays");
            return self.writes_in_order(pat, writes);
        }
        let count = self.atom(writes.width);
        let places = pat.iter().map(|param| self.var_of(param)).collect::<Lowered<Vec<Var>>>()?;
        let in_order =
            |l: &mut Self| l.repeatedly(|l| l.scalar_writes(pat, writes, (&0.expr(), &count), &places));
        if !self.is_outermost() {
            return in_order(self);
        }
        let Some((op, neutral)) = writes.op else {
            let cost = self.cost(&writes.pre.into_iter().collect::<Vec<_>>());
            return self.pieces(&count, 4.0.plus(cost), false, |l, from, to| {
                l.scalar_writes(pat, writes, (from, to), &places)
            });
        };
        // An error is found in order, before anything has gone to a place.
        if op.body.stms.iter().any(|stm| can_fail(&stm.exp)) {
            return in_order(self);
        }
        self.block(|l| {
            let bins = l.int("bins", l.product(writes.shape));
            let copies = l.int("copies", Expr::call(Runtime::CountCopies, [count.clone(), bins.expr()]));
            let (then, ()) = l.nested(|l| l.writes_to_copies(pat, writes, (op, neutral), &bins, &copies))?;
            let (otherwise, ()) = l.nested(in_order)?;
            l.out.push(Stm::branch(copies.is_above(1), then, otherwise));
            Ok(())
        })
    }

    /// Copies of the places for pieces of the values.
    fn writes_to_copies(
        &mut self,
        pat: &[Param],
        writes: &Writes<'_>,
        (op, neutral): (&Lambda, &[Atom]),
        bins: &Var,
        copies: &Var,
    ) -> Lowered<()> {
        let mut own = Vec::new();
        for (param, value) in pat.iter().zip(piece_start(op, neutral)) {
            let size = Expr::call(Runtime::SaturatingProduct, [copies.expr(), bins.expr()]);
            let memory = self.scratch_memory(super::elem(&param.ty)?, size);
            self.fill(&memory, self.atom(value), &(copies * bins))?;
            own.push(memory);
        }
        let count = self.atom(writes.width);
        let grain = self.int("grain", count.parts_of(copies));
        self.pieces_of(&count, &grain, |l, from, to| {
            let mut places = Vec::new();
            for (param, own) in pat.iter().zip(&own) {
                let repr = Repr::Pointer(super::elem(&param.ty)?, Access::Unaliased);
                let mine = l.temp_with(repr, "mine", own + from / &grain * bins);
                l.run(Runtime::InRegister, [mine.expr()]);
                places.push(mine);
            }
            l.scalar_writes(pat, writes, (from, to), &places)
        })?;
        let (left, right) = op.params.split_at(pat.len().min(op.params.len()));
        let cost = copies.cast(PrimType::F64).times(2.0);
        let targets = pat.iter().map(|param| self.var_of(param)).collect::<Lowered<Vec<Var>>>()?;
        self.pieces(bins, cost, false, |l, from, to| {
            l.iterate(0, copies, |l, copy| {
                l.simple_loop(from, to, &[], &|l, bin| {
                    l.bind_elements(left, &targets, bin)?;
                    l.bind_elements(right, &own, copy * bins + bin)?;
                    l.combine(op)?;
                    l.write_elements_to(&targets, bin, left)
                })
            })
        })?;
        own.iter().for_each(|memory| self.release(&block_of(&memory.name)));
        Ok(())
    }

    /// Makes so many elements the same.
    pub(super) fn fill(&mut self, target: &Var, value: Expr, count: &Expr) -> Lowered<()> {
        self.simple_loop(&0.expr(), count, &[], &|l, i| {
            l.write(target, i, &value);
            Ok(())
        })
    }

    /// The writes of scalars that nothing but their indices can go wrong with.
    fn scalar_writes(
        &mut self,
        pat: &[Param],
        writes: &Writes<'_>,
        (from, to): (&Expr, &Expr),
        places: &[Var],
    ) -> Lowered<()> {
        let fetch = self.fetch_writes(pat, writes, places)?;
        let lambdas = writes.pre.into_iter().chain(writes.op.map(|(op, _)| op));
        let count = lambdas.map(|lambda| statements(&lambda.body)).sum();
        self.short_loop(from, to, count, |l, i| {
            l.fetch_ahead(fetch.as_ref(), i, to)?;
            let (indices, values) = l.next_write(pat, writes, i)?;
            let flat = l.offset(&indices, writes.shape);
            let inside = all(l.bounds(&indices, writes.shape)).unwrap_or_else(|| true.expr());
            let (then, ()) = l.nested(|l| match writes.op {
                Some((op, _)) => {
                    let left = &op.params[..pat.len().min(op.params.len())];
                    l.bind_elements(left, places, &flat)?;
                    l.combine(op)?;
                    l.write_elements_to(places, &flat, left)
                }
                None => l.write_elements_to(places, &flat, &values),
            })?;
            l.out.push(Stm::when(inside, then));
            Ok(())
        })
    }

    /// What later writes will need.
    fn fetch_writes(&mut self, pat: &[Param], writes: &Writes<'_>, places: &[Var]) -> Lowered<Option<Fetch>> {
        let Some(pre) = writes.pre else { return Ok(None) };
        let mut used = Vec::new();
        for (param, place) in pat.iter().zip(places) {
            let (array, elem, shape) = (place.clone(), super::elem(&param.ty)?, writes.shape.to_vec());
            let indices = pre.body.result[..shape.len().min(pre.body.result.len())].to_vec();
            used.push(Prefetched { array, elem, shape, indices, is_written: true });
        }
        Ok(self.fetch((writes.arrays, &pre.params), &pre.body, used))
    }

    /// Declares the indices and values of one write.
    fn next_write(
        &mut self,
        pat: &[Param],
        writes: &Writes<'_>,
        i: &Var,
    ) -> Lowered<(Vec<Expr>, Vec<Param>)> {
        let mut targets = self.unnamed(&vec![Type::I64; writes.shape.len()]);
        let indices = targets.iter().map(|param| Ok(self.var_of(param)?.expr())).collect::<Lowered<_>>()?;
        match writes.op {
            Some((op, _)) => targets.extend(op.params[pat.len().min(op.params.len())..].iter().cloned()),
            None => {
                let rows: Vec<Type> = pat.iter().filter_map(|p| p.ty.peel(writes.shape.len())).collect();
                targets.extend(self.unnamed(&rows));
            }
        }
        self.next_row(writes.arrays, writes.pre, &targets, i)?;
        let values = targets.split_off(writes.shape.len());
        Ok((indices, values))
    }

    fn writes_in_order(&mut self, pat: &[Param], writes: &Writes<'_>) -> Lowered<()> {
        let (bound, shape) = (self.atom(writes.width), writes.shape);
        self.repeatedly(|l| {
            l.iterate(0, &bound, |l, i| {
                let (indices, values) = l.next_write(pat, writes, i)?;
                let unused: &[Param] = if writes.op.is_some() { &values } else { &[] };
                l.within(l.bounds(&indices, shape), unused, |l| match writes.op {
                    Some((op, _)) => l.combine_into(pat, shape, &indices, op),
                    None => {
                        for (param, value) in pat.iter().zip(&values) {
                            l.write_row(param, shape, &indices, value.var.into())?;
                        }
                        Ok(())
                    }
                })?;
                // An operator releases its parameters itself.
                if writes.op.is_none() {
                    values.iter().for_each(|v| l.release_owned(v.var));
                }
                Ok(())
            })
        })
    }
}
