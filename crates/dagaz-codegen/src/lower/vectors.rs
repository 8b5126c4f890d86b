//! Reductions of vectors, element by element and in place:
//!
//!     reduce (map2 (+)) zeros rows    ==>    out = zeros; for row { for q { out[q] += row[q] } }
//!
//! Long vectors are shared out among threads; else pieces of the rows are, each with a vector of its own.

use dagaz_core::exp::Lambda;
use dagaz_core::types::{Atom, Param, VarId};

use super::folds::Fold;
use super::{Lower, Lowered};
use crate::SiteKind;
use crate::imp::Stm;
use crate::scalar::type_code;

/// From so many elements on, a vector is shared out.
const LONG: usize = 1024;

impl Lower<'_> {
    /// `scalar` is what happens to each of `width` elements.
    pub(super) fn reduce_vectors(
        &mut self,
        pat: &[Param],
        fold: &Fold<'_>,
        (width, scalar): (Atom, &Lambda),
    ) -> Lowered<()> {
        for (param, value) in pat.iter().zip(fold.neutral) {
            self.allocate(param)?;
            let target = self.name(param.var);
            self.store(&target, "0", &param.ty, *value)?;
        }
        let targets: Vec<String> = pat.iter().map(|p| self.name(p.var)).collect();
        let (rows, length) = (self.atom(fold.width), self.atom(width));
        if !self.may_be_parallel(true) {
            return self.repeatedly(|l| l.add_rows(fold, ("0", &rows), &targets, (width, scalar)));
        }
        let (then, ()) = self.nested(|l| l.pieces_of_vectors(fold, &rows, &length, &targets, scalar))?;
        let (otherwise, ()) =
            self.nested(|l| l.vectors_for_pieces(pat, fold, &rows, &targets, (width, scalar)))?;
        if fold.pre.is_some() {
            self.out.push(Stm::Block(otherwise));
        } else {
            self.out.push(Stm::If { cond: format!("{length} >= {LONG}"), then, otherwise });
        }
        Ok(())
    }

    /// Every thread has a part of the vector and adds all rows to it.
    fn pieces_of_vectors(
        &mut self,
        fold: &Fold<'_>,
        rows: &str,
        length: &str,
        targets: &[String],
        scalar: &Lambda,
    ) -> Lowered<()> {
        let cost = format!("(f64){rows} * ({})", self.cost(&[scalar]));
        let (_, values) = fold.sides();
        let (left, right) = scalar.params.split_at(targets.len().min(scalar.params.len()));
        self.pieces(length, &cost, true, |l, from, to| {
            l.iterate("0", rows, |l, i| {
                l.next_row(fold.arrays, fold.pre, values, i)?;
                let vectors: Vec<VarId> = values.iter().map(|p| p.var).collect();
                l.simple_loop(from, to, &[], &|l, q| {
                    for (param, target) in left.iter().zip(targets) {
                        l.bind(param, true);
                        let name = l.name(param.var);
                        l.set(super::elem(&param.ty)?.to_string(), name, format!("{target}[{q}]"));
                    }
                    l.load_row(&vectors, right, q)?;
                    l.combine(scalar)?;
                    for (param, target) in left.iter().zip(targets) {
                        let name = l.name(param.var);
                        l.line(format!("{target}[{q}] = {name};"));
                    }
                    Ok(())
                })
            })
        })
    }

    /// Pieces of the rows have vectors of their own, which are added up in order.
    fn vectors_for_pieces(
        &mut self,
        pat: &[Param],
        fold: &Fold<'_>,
        rows: &str,
        targets: &[String],
        (width, scalar): (Atom, &Lambda),
    ) -> Lowered<()> {
        let (grain, pieces, length) = (self.temp("grain"), self.temp("pieces"), self.atom(width));
        let lambdas: Vec<&Lambda> = fold.pre.into_iter().chain([fold.op]).collect();
        let cost = self.cost(&lambdas);
        self.set("i64", grain.as_str(), format!("i64_max(dz_grain({rows}, {cost}), ({rows} + 63) / 64)"));
        self.set("i64", pieces.as_str(), format!("({rows} + {grain} - 1) / {grain}"));
        let mut own = Vec::new();
        for param in pat {
            let (elem, name) = (super::elem(&param.ty)?, self.temp("own"));
            let (site, code) = (self.site(SiteKind::Memory), type_code(elem));
            let block = format!("{name}_mem");
            let size = format!("dz_times({pieces}, {length})");
            self.set(
                "dz_block *",
                block.as_str(),
                format!("dz_alloc(ctx, {site}, {size}, sizeof({elem}), {code})"),
            );
            self.line(format!("if (DZ_UNLIKELY(!{block})) return 1;"));
            self.set(format!("{elem} *"), name.as_str(), format!("{block}->data"));
            own.push(name);
        }
        self.pieces_of(rows, &grain, |l, from, to| {
            let mut mine = Vec::new();
            for ((param, own), value) in pat.iter().zip(&own).zip(fold.neutral) {
                let name = l.temp("mine");
                let place = format!("{own} + {from} / {grain} * {length}");
                l.set(format!("{} *", super::elem(&param.ty)?), name.as_str(), place);
                l.store(&name, "0", &param.ty, *value)?;
                mine.push(name);
            }
            l.add_rows(fold, (from, to), &mine, (width, scalar))
        })?;
        let (left, right) = scalar.params.split_at(targets.len().min(scalar.params.len()));
        self.repeatedly(|l| {
            l.iterate("0", &pieces, |l, piece| {
                l.simple_loop("0", &length, &[], &|l, q| {
                    for (((sum, value), target), own) in left.iter().zip(right).zip(targets).zip(&own) {
                        l.bind(sum, true);
                        l.bind(value, true);
                        let ty = super::elem(&sum.ty)?.to_string();
                        let (sum, value) = (l.name(sum.var), l.name(value.var));
                        l.set(ty.as_str(), sum, format!("{target}[{q}]"));
                        l.set(ty, value, format!("{own}[{piece} * {length} + {q}]"));
                    }
                    l.combine(scalar)?;
                    for (param, target) in left.iter().zip(targets) {
                        let name = l.name(param.var);
                        l.line(format!("{target}[{q}] = {name};"));
                    }
                    Ok(())
                })
            })
        })?;
        own.iter().for_each(|name| self.line(format!("dz_release(ctx, {name}_mem);")));
        Ok(())
    }

    fn add_rows(
        &mut self,
        fold: &Fold<'_>,
        (from, to): (&str, &str),
        targets: &[String],
        scalar: (Atom, &Lambda),
    ) -> Lowered<()> {
        let (_, values) = fold.sides();
        let places: Vec<(String, String)> = targets.iter().map(|t| (t.clone(), "0".to_string())).collect();
        self.iterate(from, to, |l, i| {
            l.next_row(fold.arrays, fold.pre, values, i)?;
            l.combine_rows(&places, fold.op, scalar)
        })
    }
}
