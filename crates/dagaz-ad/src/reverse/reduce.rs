//! Reverse mode of `reduce`.
//!
//! Reduction with any operator ⊙ (thesis, section 3.4.1): with `x_i` the combination of the first elements up to `a_i`
//! and `r_i` that of everything after it, both by scans, the result is `x_i ⊙ r_i` for every `i`, so
//!
//!     xs_ct = map (\x r -> adjoint of x in x ⊙ r) xs rs
//!
//! and then see [`super::operator`]. A product is one of these, and not the result divided by the element, because the
//! derivative of that is wrong where an element is zero.
//!
//! A sum passes its cotangent to every element. A minimum or maximum passes it to the element that it is; of equal
//! ones to the first, as the scalar operation does.

use std::collections::HashMap;

use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, Loc};
use dagaz_core::operator::ScalarOperator;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Adj, Res, is_plus};
use crate::rename::Renamer;

use super::one_hot::OneHot;
use super::operator::{Cotangent, Fold, extremum};

impl Ad<'_> {
    pub fn rev_reduce(&mut self, fold: &Fold<'_>, cts: &[Option<Atom>]) -> Res<()> {
        let (n, loc) = (fold.n, fold.loc);
        if let (true, Some(ct)) = (is_plus(fold.op), cts[0]) {
            let exp = Exp::Replicate { dims: vec![n], value: ct };
            let spread = self.let_exp("ct", fold.op.ret[0].with_outer(&[n]), exp, loc);
            self.add_adj(fold.arrays[0], spread, loc);
            return Ok(());
        }
        if let (Some(known), Some(ct)) = (extremum(fold.op), cts[0]) {
            return self.rev_extremum(fold, known, ct);
        }
        let rows = &fold.op.ret;
        let op = Renamer::new(self, HashMap::new()).lambda(fold.op);
        let xs = self.scanned(n, fold.arrays.to_vec(), op, fold.neutral.to_vec(), loc);
        let lefts = self.shifted(n, &xs, rows, fold.neutral, loc);
        let rights = self.combined_after(fold);
        let cts: Vec<Option<Cotangent>> = cts.iter().map(|ct| ct.map(Cotangent::Same)).collect();
        let reached = self.reached(fold, &xs, &rights, &cts)?;
        self.rev_map(n, &[lefts.as_slice(), fold.arrays].concat(), fold.op, &reached, loc)
    }

    /// For each element, the combination of everything after it.
    pub fn combined_after(&mut self, fold: &Fold<'_>) -> Vec<VarId> {
        let (n, rows, loc) = (fold.n, &fold.op.ret, fold.loc);
        let mut op = Renamer::new(self, HashMap::new()).lambda(fold.op);
        op.params.rotate_left(rows.len());
        let turned = self.reversed(n, fold.arrays, rows, loc);
        let scanned = self.scanned(n, turned, op, fold.neutral.to_vec(), loc);
        let before = self.shifted(n, &scanned, rows, fold.neutral, loc);
        self.reversed(n, &before, rows, loc)
    }

    fn rev_extremum(&mut self, fold: &Fold<'_>, known: ScalarOperator, ct: Atom) -> Res<()> {
        let (n, loc, array) = (fold.n, fold.loc, fold.arrays[0]);
        if !self.is_active_var(array) {
            return Ok(());
        }
        let row = Type::Prim(known.ty);
        let at = Atom::from(self.place_of_extremum(fold, known)?);
        let dims = [DimSlice::Fix(at)];
        if let Some(Adj::Acc(_)) = self.sweep.adj.get(&array) {
            // What is out of bounds adds nothing to an accumulator.
            self.add_at(array, &dims, ct, &row, loc);
            return Ok(());
        }
        let is_first = !self.sweep.adj.contains_key(&array);
        let old = self.adjoint(array, loc);
        self.sweep.adj.insert(array, Adj::Value(old));
        let cond = self.b.le(PrimType::I64, Atom::i64(0), at, loc);
        let then = self.body(|ad| {
            ad.add_at(array, &dims, ct, &row, loc);
            Ok(vec![ad.adjoint(array, loc)])
        })?;
        let otherwise = Body { stms: Vec::new(), result: vec![old] };
        let hint = self.hint(array, "_adj");
        let new = self.let_var(&hint, row.with_outer(&[n]), Exp::If { cond, then, otherwise }, loc);
        if is_first {
            self.sweep.one_hots.insert(new, OneHot { at, value: ct });
        }
        self.sweep.adj.insert(array, Adj::Value(new.into()));
        Ok(())
    }

    /// The number of the element that a minimum or maximum is; negative if there is none.
    ///
    /// It is the least (or greatest) number of those that are equal to the minimum or maximum, which vector units find
    /// faster than they carry numbers along, and which the forward sweep has computed already.
    pub fn place_of_extremum(&mut self, fold: &Fold<'_>, known: ScalarOperator) -> Res<VarId> {
        let (n, loc, ty) = (fold.n, fold.loc, known.ty);
        let op = Renamer::new(self, HashMap::new()).lambda(fold.op);
        let exp = Exp::Reduce {
            width: n,
            arrays: vec![fold.arrays[0]],
            pre: None,
            op,
            neutral: vec![fold.neutral[0]],
            commutative: false,
        };
        let extreme = self.let_exp("extreme", ty.into(), exp, loc);
        let (operator, none) = if known.swapped { (BinOp::Max, Atom::i64(-1)) } else { (BinOp::Min, n) };
        let numbers = self.iota(n, loc);
        let params = self.params("x", &[ty.into(), Type::I64]);
        let row: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let pre = self.lambda(params, vec![Type::I64], |ad| {
            let is_extreme = ad.b.eq(ty, row[0], extreme, loc);
            Ok(vec![ad.select(is_extreme, Type::I64, row[1], none, loc)])
        })?;
        let exp = Exp::Reduce {
            width: n,
            arrays: vec![fold.arrays[0], numbers],
            pre: Some(pre),
            op: self.b.binop_lambda(operator, PrimType::I64, loc),
            neutral: vec![none],
            commutative: true,
        };
        let best = self.let_exp("best", Type::I64, exp, loc);
        let is_there = self.b.lt(PrimType::I64, best, n, loc);
        let at = self.select(is_there, Type::I64, best, Atom::i64(-1), loc);
        Ok(self.b.atom_var("at", Type::I64, at, loc))
    }

    /// A minimum or maximum of values with their numbers, where of equal ones that counts which the scalar rule says.
    /// If the operands come in any order, the numbers tell which is the first.
    pub fn numbered(&mut self, known: ScalarOperator, any_order: bool, loc: Loc) -> Res<Lambda> {
        let ret = vec![Type::Prim(known.ty), Type::I64];
        let params = self.params("x", &[ret.clone(), ret.clone()].concat());
        let p: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        self.lambda(params, ret, |ad| {
            let (mut first, mut second) = ((p[0], p[1]), (p[2], p[3]));
            if known.swapped {
                std::mem::swap(&mut first, &mut second);
            }
            let (low, high) = if known.op == BinOp::Min { (first, second) } else { (second, first) };
            let value = ad.b.binop(known.op, known.ty, first.0, second.0, loc);
            let mut counts = ad.b.le(known.ty, low.0, high.0, loc);
            if any_order {
                let equal = ad.b.eq(known.ty, first.0, second.0, loc);
                let mut order = (first.1, second.1);
                if known.swapped {
                    order = (second.1, first.1);
                }
                let earlier = ad.b.le(PrimType::I64, order.0, order.1, loc);
                counts = ad.select(equal, Type::BOOL, earlier, counts, loc);
            }
            let number = ad.select(counts, Type::I64, first.1, second.1, loc);
            Ok(vec![value, number])
        })
    }
}
