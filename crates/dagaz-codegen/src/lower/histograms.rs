//! Histograms and scatters: many writes into arrays.
//!
//! In order, every value is combined with what is at its place. With many values and few places, pieces of the values have
//! copies of the places, which are combined in order; how many there are depends on the sizes alone, and so the result
//! does not depend on the number of threads. The values of a scatter go to their places in pieces: where two different
//! ones go to the same place, the language does not say which stays.

use dagaz_core::exp::Lambda;
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::fetching::{Fetch, Prefetched};
use super::folds::piece_start;
use super::parallel::{can_fail, statements};
use super::{Lower, Lowered};
use crate::RemarkKind;
use crate::imp::Stm;

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
        let (count, places): (String, Vec<String>) =
            (self.atom(writes.width), pat.iter().map(|p| self.name(p.var)).collect());
        let in_order = |l: &mut Self| l.repeatedly(|l| l.scalar_writes(pat, writes, ("0", &count), &places));
        if !self.is_outermost() {
            return in_order(self);
        }
        let Some((op, neutral)) = writes.op else {
            let cost = self.cost(&writes.pre.into_iter().collect::<Vec<_>>());
            return self.pieces(&count, &format!("4.0 + {cost}"), false, |l, from, to| {
                l.scalar_writes(pat, writes, (from, to), &places)
            });
        };
        // An error is found in order, before anything has gone to a place.
        if op.body.stms.iter().any(|stm| can_fail(&stm.exp)) {
            return in_order(self);
        }
        self.block(|l| {
            let (bins, copies, product) = (l.temp("bins"), l.temp("copies"), l.product(writes.shape));
            l.set("i64", bins.as_str(), product);
            l.set("i64", copies.as_str(), format!("dz_copies({count}, {bins})"));
            let (then, ()) = l.nested(|l| l.writes_to_copies(pat, writes, (op, neutral), &bins, &copies))?;
            let (otherwise, ()) = l.nested(in_order)?;
            l.out.push(Stm::If { cond: format!("{copies} > 1"), then, otherwise });
            Ok(())
        })
    }

    /// Copies of the places for pieces of the values.
    fn writes_to_copies(
        &mut self,
        pat: &[Param],
        writes: &Writes<'_>,
        (op, neutral): (&Lambda, &[Atom]),
        bins: &str,
        copies: &str,
    ) -> Lowered<()> {
        let mut own = Vec::new();
        for (param, value) in pat.iter().zip(piece_start(op, neutral)) {
            let name =
                self.scratch_memory(super::elem(&param.ty)?, &format!("dz_times({copies}, {bins})"))?;
            let value = self.atom(value);
            self.simple_loop("0", &format!("{copies} * {bins}"), &[], &|l, i| {
                l.line(format!("{name}[{i}] = {value};"));
                Ok(())
            })?;
            own.push(name);
        }
        let (grain, count) = (self.temp("grain"), self.atom(writes.width));
        self.set("i64", grain.as_str(), format!("({count} + {copies} - 1) / {copies}"));
        self.pieces_of(&count, &grain, |l, from, to| {
            let mut places = Vec::new();
            for (param, own) in pat.iter().zip(&own) {
                let mine = l.temp("mine");
                let place = format!("{own} + {from} / {grain} * {bins}");
                l.set(format!("{} *restrict ", super::elem(&param.ty)?), mine.as_str(), place);
                l.line(format!("DZ_IN_REGISTER({mine});"));
                places.push(mine);
            }
            l.scalar_writes(pat, writes, (from, to), &places)
        })?;
        let (left, right) = op.params.split_at(pat.len().min(op.params.len()));
        let cost = format!("(f64){copies} * 2.0");
        self.pieces(bins, &cost, false, |l, from, to| {
            l.iterate("0", copies, |l, copy| {
                l.simple_loop(from, to, &[], &|l, bin| {
                    for (((sum, value), target), own) in left.iter().zip(right).zip(pat).zip(&own) {
                        l.bind(sum, true);
                        l.bind(value, true);
                        let ty = super::elem(&sum.ty)?.to_string();
                        let (sum, value, target) = (l.name(sum.var), l.name(value.var), l.name(target.var));
                        l.set(ty.as_str(), sum, format!("{target}[{bin}]"));
                        l.set(ty, value, format!("{own}[{copy} * {bins} + {bin}]"));
                    }
                    l.combine(op)?;
                    for (sum, target) in left.iter().zip(pat) {
                        let (sum, target) = (l.name(sum.var), l.name(target.var));
                        l.line(format!("{target}[{bin}] = {sum};"));
                    }
                    Ok(())
                })
            })
        })?;
        own.iter().for_each(|name| self.line(format!("dz_release(ctx, {name}_mem);")));
        Ok(())
    }

    /// The writes of scalars that nothing but their indices can go wrong with.
    fn scalar_writes(
        &mut self,
        pat: &[Param],
        writes: &Writes<'_>,
        (from, to): (&str, &str),
        places: &[String],
    ) -> Lowered<()> {
        let fetch = self.fetch_writes(pat, writes, places)?;
        let lambdas = writes.pre.into_iter().chain(writes.op.map(|(op, _)| op));
        let count = lambdas.map(|lambda| statements(&lambda.body)).sum();
        self.short_loop(from, to, count, |l, i| {
            l.fetch_ahead(fetch.as_ref(), i, to)?;
            let (indices, values) = l.next_write(pat, writes, i)?;
            let flat = l.offset(&indices, writes.shape);
            let inside: Vec<String> = indices
                .iter()
                .zip(writes.shape)
                .map(|(i, d)| format!("(u64){i} < (u64){}", l.atom(*d)))
                .collect();
            let (then, ()) = l.nested(|l| {
                match writes.op {
                    Some((op, _)) => {
                        let left = &op.params[..pat.len().min(op.params.len())];
                        for (param, place) in left.iter().zip(places) {
                            l.bind(param, true);
                            let name = l.name(param.var);
                            l.set(super::elem(&param.ty)?.to_string(), name, format!("{place}[{flat}]"));
                        }
                        l.combine(op)?;
                        for (param, place) in left.iter().zip(places) {
                            let name = l.name(param.var);
                            l.line(format!("{place}[{flat}] = {name};"));
                        }
                    }
                    None => {
                        for (value, place) in values.iter().zip(places) {
                            let name = l.name(value.var);
                            l.line(format!("{place}[{flat}] = {name};"));
                        }
                    }
                }
                Ok(())
            })?;
            let cond = if inside.is_empty() { "true".to_string() } else { inside.join(" && ") };
            l.out.push(Stm::If { cond, then, otherwise: Vec::new() });
            Ok(())
        })
    }

    /// What later writes will need.
    fn fetch_writes(
        &mut self,
        pat: &[Param],
        writes: &Writes<'_>,
        places: &[String],
    ) -> Lowered<Option<Fetch>> {
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
        i: &str,
    ) -> Lowered<(Vec<String>, Vec<Param>)> {
        let mut targets = self.unnamed(&vec![Type::I64; writes.shape.len()]);
        let indices: Vec<String> = targets.iter().map(|p| self.name(p.var)).collect();
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
            l.iterate("0", &bound, |l, i| {
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
