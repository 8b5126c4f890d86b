//! Reverse mode of `scatter` and `hist` (thesis, sections 3.4.2 and 3.4.4).
//!
//!     ys = scatter dest is vs     vs_adj += map (\i -> ys_ct[i]) is     dest_adj += scatter ys_ct is zeros
//!     ys = hist (+) dest is vs    vs_adj += map (\i -> ys_ct[i]) is     dest_adj += ys_ct
//!
//! A histogram with another operator is run again in order, keeping what each bin held before each write, and
//! then backwards. Indices out of bounds write nothing and read zero.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm, LoopHints};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_lambda;

use crate::context::{Ad, Adj, Res, is_plus};
use crate::rename::Renamer;

/// A histogram with any operator.
struct Bins<'a> {
    width: Atom,
    indices: &'a [VarId],
    values: &'a [VarId],
    dests: &'a [VarId],
    shape: &'a [Atom],
    op: &'a Lambda,
}

impl Ad<'_> {
    pub fn rev_scatter(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        dests: &[VarId],
        shape: &[Atom],
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let (indices, values) = arrays.split_at(shape.len());
        for ((value, dest), ct) in values.iter().zip(dests).zip(cts) {
            let Some(ct) = ct else { continue };
            let ct = self.as_var("ct", *ct, loc);
            if self.is_active_var(*value) {
                let winners = self.winners(width, indices, shape, loc);
                let read = self.gather(width, indices, shape, ct, *value, Some(winners), loc)?;
                self.add_adj(*value, read, loc);
            }
            if self.is_active_var(*dest) {
                let value_ty = self.ty_var(*value);
                let zeros = self.zero(&value_ty, loc);
                let zeros = self.as_var("zeros", zeros, loc);
                let arrays = indices.iter().copied().chain([zeros]).collect();
                let exp = Exp::Scatter { width, arrays, pre: None, dests: vec![ct], shape: shape.to_vec() };
                let ty = self.ty_var(*dest);
                let rest = self.let_exp("ct", ty, exp, loc);
                self.add_adj(*dest, rest, loc);
            }
        }
        Ok(())
    }

    /// The number of the last write to each place; only that one has an adjoint.
    fn winners(&mut self, width: Atom, indices: &[VarId], shape: &[Atom], loc: Loc) -> VarId {
        let ty = Type::array(PrimType::I64, shape.to_vec());
        let nobody = Atom::i64(-1);
        let exp = Exp::Replicate { dims: shape.to_vec(), value: nobody };
        let dest = self.let_var("winners", ty.clone(), exp, loc);
        let numbers = self.iota(width, loc);
        let exp = Exp::Hist {
            width,
            arrays: indices.iter().copied().chain([numbers]).collect(),
            pre: None,
            dests: vec![dest],
            shape: shape.to_vec(),
            op: self.b.binop_lambda(BinOp::Max, PrimType::I64, loc),
            neutral: vec![nobody],
        };
        self.let_var("winners", ty, exp, loc)
    }

    /// The rows of `source` at the indices, like the array `values`; where there are winners, only for those.
    #[allow(clippy::too_many_arguments)]
    fn gather(
        &mut self,
        width: Atom,
        indices: &[VarId],
        shape: &[Atom],
        source: VarId,
        values: VarId,
        winners: Option<VarId>,
        loc: Loc,
    ) -> Res<Atom> {
        let ty = self.ty_var(values);
        let row = ty.row().unwrap_or_else(|| ty.clone());
        let mut params: Vec<Param> = indices.iter().map(|_| self.param("i", Type::I64)).collect();
        let at: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let mut arrays = indices.to_vec();
        let number = self.param("number", Type::I64);
        if winners.is_some() {
            arrays.push(self.iota(width, loc));
            params.push(number.clone());
        }
        let lambda = self.lambda(params, vec![row.clone()], |ad| {
            let mut cond = ad.in_bounds(&at, shape, loc);
            if let Some(winners) = winners {
                let then = ad.body(|ad| {
                    let exp = Exp::Index { array: winners, indices: at.clone(), check: Check::Certified };
                    let winner = ad.let_exp("winner", Type::I64, exp, loc);
                    Ok(vec![ad.b.eq(PrimType::I64, winner, number.var.into(), loc)])
                })?;
                let otherwise = Body { stms: Vec::new(), result: vec![Atom::bool(false)] };
                cond = ad.let_exp("won", Type::BOOL, Exp::If { cond, then, otherwise }, loc);
            }
            let then = ad.body(|ad| {
                let exp = Exp::Index { array: source, indices: at.clone(), check: Check::Certified };
                Ok(vec![ad.let_exp("elem", row.clone(), exp, loc)])
            })?;
            let otherwise = ad.body(|ad| Ok(vec![ad.zero(&row, loc)]))?;
            Ok(vec![ad.let_exp("read", row.clone(), Exp::If { cond, then, otherwise }, loc)])
        })?;
        Ok(self.let_exp("read", ty, Exp::Map { width, arrays, lambda }, loc))
    }

    pub fn in_bounds(&mut self, indices: &[Atom], shape: &[Atom], loc: Loc) -> Atom {
        let mut all = Atom::bool(true);
        for (i, size) in indices.iter().zip(shape) {
            let low = self.b.le(PrimType::I64, Atom::i64(0), *i, loc);
            let high = self.less(*i, *size, loc);
            let both = self.b.and(low, high, loc);
            all = self.b.and(all, both, loc);
        }
        all
    }

    pub fn rev_hist(&mut self, exp: &Exp, cts: &[Option<Atom>], loc: Loc) -> Res<()> {
        let Exp::Hist { width, arrays, dests, shape, op, .. } = exp else { return Ok(()) };
        let (indices, values) = arrays.split_at(shape.len());
        if let (true, Some(ct)) = (is_plus(op), cts[0]) {
            let source = self.as_var("ct", ct, loc);
            if self.is_active_var(values[0]) {
                let read = self.gather(*width, indices, shape, source, values[0], None, loc)?;
                self.add_adj(values[0], read, loc);
            }
            self.add_adj(dests[0], ct, loc);
            return Ok(());
        }
        let bins = Bins { width: *width, indices, values, dests, shape, op };
        let olds = self.run_bins(&bins, loc)?;
        self.unrun_bins(&bins, &olds, cts, loc)
    }

    fn bin_indices(&mut self, bins: &Bins<'_>, i: Atom, loc: Loc) -> Vec<Atom> {
        let index = |array: &VarId| {
            let exp = Exp::Index { array: *array, indices: vec![i], check: Check::Certified };
            self.let_exp("bin", Type::I64, exp, loc)
        };
        bins.indices.iter().map(index).collect()
    }

    fn rows_at(&mut self, arrays: &[VarId], rows: &[Type], at: &[Atom], loc: Loc) -> Vec<VarId> {
        let pairs = arrays.iter().zip(rows);
        pairs
            .map(|(array, row)| {
                let exp = Exp::Index { array: *array, indices: at.to_vec(), check: Check::Certified };
                self.let_var("elem", row.clone(), exp, loc)
            })
            .collect()
    }

    fn write_at(&mut self, array: &Param, at: &[Atom], value: Atom, loc: Loc) -> Atom {
        let dims = at.iter().map(|i| DimSlice::Fix(*i)).collect();
        let exp = Exp::Update { array: array.var, dims, value, check: Check::Certified };
        self.let_exp("written", array.ty.clone(), exp, loc)
    }

    /// What the bins held before each write.
    fn run_bins(&mut self, bins: &Bins<'_>, loc: Loc) -> Res<Vec<VarId>> {
        let rows = bins.op.ret.clone();
        let mut params = Vec::new();
        for dest in bins.dests {
            params.push((self.param("bins", self.ty_var(*dest)), Atom::from(*dest)));
        }
        for row in &rows {
            let ty = row.with_outer(&[bins.width]);
            let init = self.zero(&ty, loc);
            params.push((self.param("before", ty), init));
        }
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let types: Vec<Type> = own.iter().map(|p| p.ty.clone()).collect();
        let counter = self.param("i", Type::I64).var;
        let body = self.body(|ad| {
            let i = Atom::from(counter);
            let at = ad.bin_indices(bins, i, loc);
            let cond = ad.in_bounds(&at, bins.shape, loc);
            let then = ad.body(|ad| {
                let held: Vec<VarId> = own[..rows.len()].iter().map(|p| p.var).collect();
                let before = ad.rows_at(&held, &rows, &at, loc);
                let values = ad.rows_at(bins.values, &rows, &[i], loc);
                let operands = before.iter().chain(&values).map(|v| Atom::from(*v));
                let map = bins.op.params.iter().map(|p| p.var).zip(operands).collect();
                let copy = Renamer::new(ad, map).body(&bins.op.body);
                copy.stms.into_iter().for_each(|s| ad.push(s));
                // What was there is copied before it is overwritten.
                let mut kept = Vec::new();
                for (param, old) in own[rows.len()..].iter().zip(&before) {
                    kept.push(ad.write_at(param, &[i], (*old).into(), loc));
                }
                let mut result = Vec::new();
                for (param, new) in own.iter().zip(copy.result) {
                    result.push(ad.write_at(param, &at, new, loc));
                }
                Ok(result.into_iter().chain(kept).collect())
            })?;
            let otherwise = Body { stms: Vec::new(), result: own.iter().map(|p| p.var.into()).collect() };
            let vars = ad.let_exps("bins", &types, Exp::If { cond, then, otherwise }, loc);
            Ok(vars.into_iter().map(Atom::from).collect())
        })?;
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: bins.width };
        let vars =
            self.let_exps("bins", &types, Exp::Loop { params, form, body, hints: LoopHints::NONE }, loc);
        Ok(vars[rows.len()..].to_vec())
    }

    /// From the last write to the first: the adjoints of the bins, the values and the free variables.
    fn unrun_bins(&mut self, bins: &Bins<'_>, olds: &[VarId], cts: &[Option<Atom>], loc: Loc) -> Res<()> {
        let rows = bins.op.ret.clone();
        let k = rows.len();
        let free = self.active_among(free_vars_lambda(bins.op));
        let mut params = Vec::new();
        for (dest, ct) in bins.dests.iter().zip(cts) {
            let ty = self.ty_var(*dest);
            let init = self.or_zero(*ct, &ty, loc);
            params.push((self.param("bins_adj", ty), init));
        }
        for row in &rows {
            let ty = row.with_outer(&[bins.width]);
            let init = self.zero(&ty, loc);
            params.push((self.param("adj", ty), init));
        }
        let mut slots = HashMap::new();
        for var in &free {
            let init = self.adjoint(*var, loc);
            let slot = self.param("adj", self.adjoint_type(*var));
            let kind = if slot.ty.is_acc() { Adj::Acc(slot.var) } else { Adj::Value(slot.var.into()) };
            slots.insert(*var, kind);
            params.push((slot, init));
        }
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let types: Vec<Type> = own.iter().map(|p| p.ty.clone()).collect();
        let outer = std::mem::replace(&mut self.adj, slots);
        let counter = self.param("j", Type::I64).var;
        let body = self.body(|ad| {
            let last = ad.i64_op(BinOp::Sub, bins.width, Atom::i64(1), loc);
            let i = ad.i64_op(BinOp::Sub, last, counter.into(), loc);
            let at = ad.bin_indices(bins, i, loc);
            let cond = ad.in_bounds(&at, bins.shape, loc);
            let before = ad.adj.clone();
            let then = ad.body(|ad| {
                let held: Vec<VarId> = own[..k].iter().map(|p| p.var).collect();
                let cts = ad.rows_at(&held, &rows, &at, loc);
                let cts: Vec<Option<Atom>> = cts.into_iter().map(|v| Some(v.into())).collect();
                let olds = ad.rows_at(olds, &rows, &[i], loc);
                let values = ad.rows_at(bins.values, &rows, &[i], loc);
                ad.active.extend(olds.iter().chain(&values));
                let operands = olds.iter().chain(&values).map(|v| Atom::from(*v));
                let map = bins.op.params.iter().map(|p| p.var).zip(operands).collect();
                let copy = Renamer::new(ad, map).body(&bins.op.body);
                ad.sweep(&copy, &cts, loc)?;
                let mut result = Vec::new();
                for (param, old) in own[..k].iter().zip(&olds) {
                    let adjoint = ad.adjoint(*old, loc);
                    result.push(ad.write_at(param, &at, adjoint, loc));
                }
                for (param, value) in own[k..].iter().zip(&values) {
                    let adjoint = ad.adjoint(*value, loc);
                    result.push(ad.write_at(param, &[i], adjoint, loc));
                }
                result.extend(free.iter().map(|v| ad.adjoint(*v, loc)));
                Ok(result)
            })?;
            ad.adj = before;
            let otherwise = Body { stms: Vec::new(), result: own.iter().map(|p| p.var.into()).collect() };
            let vars = ad.let_exps("adj", &types, Exp::If { cond, then, otherwise }, loc);
            Ok(vars.into_iter().map(Atom::from).collect())
        })?;
        self.adj = outer;
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: bins.width };
        let vars =
            self.let_exps("adj", &types, Exp::Loop { params, form, body, hints: LoopHints::NONE }, loc);
        for (var, adjoint) in free.iter().zip(&vars[2 * k..]) {
            self.move_adj(*var, *adjoint);
        }
        for (array, adjoint) in bins.dests.iter().chain(bins.values).zip(&vars) {
            self.add_adj(*array, (*adjoint).into(), loc);
        }
        Ok(())
    }
}
