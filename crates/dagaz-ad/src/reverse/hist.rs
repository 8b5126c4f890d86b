//! Reverse mode of `hist` with the operators that need no sorting (thesis, section 3.4.2); for the others see
//! [`super::sorted`].
//!
//!     ys = hist (+) dest is vs      vs_adj += map (\i -> ys_ct[i]) is      dest_adj += ys_ct
//!
//! - A minimum or maximum passes its cotangent to the value, or to what was in the bin before, that it is; of equal
//!   ones to the first, which another histogram finds.
//! - A product divides the result of the bin by the value. Where the result is zero, not finite or too small to be exact,
//!   this says nothing, and its derivative is wrong; if there are such bins, their values are sorted.
//!
//! Indices out of bounds write nothing and read zero.

use dagaz_core::exp::{Body, Exp, Lambda, Loc};
use dagaz_core::operator::{ScalarOperator, scalar_operator};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Res, is_plus};

use super::operator::{Cotangent, Fold, extremum, vars};
use super::scatter::Places;
use super::sorted::FlatBins;

/// A histogram in the return sweep.
pub(crate) struct Bins<'a> {
    pub places: Places<'a>,
    pub values: &'a [VarId],
    pub dests: &'a [VarId],
    pub results: &'a [VarId],
    pub op: &'a Lambda,
    pub neutral: &'a [Atom],
}

impl Ad<'_> {
    pub fn rev_hist(&mut self, bins: &Bins<'_>, cts: &[Option<Atom>]) -> Res<()> {
        let loc = bins.places.loc;
        if let Some(ct) = cts[0] {
            let source = self.as_var("ct", ct, loc);
            if is_plus(bins.op) {
                if self.is_active_var(bins.values[0]) {
                    let read = self.gather(&bins.places, source, bins.values[0], None)?;
                    self.add_adj(bins.values[0], read, loc);
                }
                self.add_adj(bins.dests[0], ct, loc);
                return Ok(());
            }
            if let Some(known) = extremum(bins.op) {
                return self.rev_extremum_bins(bins, known, source);
            }
            let product = scalar_operator(bins.op).filter(|known| known.op == BinOp::Mul);
            if let Some(ScalarOperator { ty, .. }) = product.filter(|known| known.ty.is_float()) {
                return self.rev_product_bins(bins, ty, source);
            }
        }
        let flat = self.flat_bins(bins)?;
        let cts: Vec<Option<VarId>> = self.flat_cts(bins, cts);
        let sorted = self.sort_bins(&flat, &cts)?;
        for (value, adjoint) in bins.values.iter().zip(&sorted.adjoints) {
            self.add_to((*value).into(), *adjoint, loc);
        }
        if bins.dests.iter().any(|d| self.is_active_var(*d)) {
            self.rev_contents(bins, &flat, &sorted.totals, &cts)?;
        }
        Ok(())
    }

    fn rev_extremum_bins(&mut self, bins: &Bins<'_>, known: ScalarOperator, ct: VarId) -> Res<()> {
        let (places, loc) = (&bins.places, bins.places.loc);
        let (value, dest) = (bins.values[0], bins.dests[0]);
        let nobody = Exp::Replicate { dims: places.shape.to_vec(), value: Atom::i64(-1) };
        let numbers_ty = Type::array(PrimType::I64, places.shape.to_vec());
        let nobody = self.let_var("nobody", numbers_ty.clone(), nobody, loc);
        let numbers = self.iota(places.width, loc);
        let op = self.numbered(known, true, loc)?;
        let exp = Exp::Hist {
            width: places.width,
            arrays: places.indices.iter().copied().chain([value, numbers]).collect(),
            pre: None,
            dests: vec![dest, nobody],
            shape: places.shape.to_vec(),
            op,
            neutral: vec![bins.neutral[0], Atom::i64(-1)],
        };
        let dest_ty = self.ty_var(dest);
        let best = self.let_exps("best", &[dest_ty.clone(), numbers_ty], exp, loc);
        let ty = Type::Prim(known.ty);
        let m = self.b.product(places.shape, loc);
        let best = self.flattened(best[1], m, &Type::I64, loc);
        let ct = self.flattened(ct, m, &ty, loc);
        if self.is_active_var(value) {
            let value_ty = self.ty_var(value);
            let zeros = self.zero(&value_ty, loc);
            let dests = vec![self.as_var("zeros", zeros, loc)];
            let (arrays, shape) = (vec![best, ct], vec![places.width]);
            let exp = Exp::Scatter { width: m, arrays, pre: None, dests, shape };
            let adjoint = self.let_exp("adj", value_ty, exp, loc);
            self.add_adj(value, adjoint, loc);
        }
        if self.is_active_var(dest) {
            let params = self.params("x", &[Type::I64, ty.clone()]);
            let (number, own) = (params[0].var.into(), params[1].var.into());
            let lambda = self.lambda(params, vec![ty.clone()], |ad| {
                let taken = ad.b.le(PrimType::I64, Atom::i64(0), number, loc);
                let zero = ad.zero(&ty, loc);
                Ok(vec![ad.select(taken, ty.clone(), zero, own, loc)])
            })?;
            let kept = self.mapped(m, vec![best, ct], lambda, loc)[0];
            let kept = self.reshaped(kept, &dest_ty, loc);
            self.add_adj(dest, kept, loc);
        }
        Ok(())
    }

    fn rev_product_bins(&mut self, bins: &Bins<'_>, ty: PrimType, ct: VarId) -> Res<()> {
        let loc = bins.places.loc;
        let row = Type::Prim(ty);
        let mut flat = self.flat_bins(bins)?;
        let ct = self.flattened(ct, flat.m, &row, loc);
        let product = self.flattened(bins.results[0], flat.m, &row, loc);
        let exact = self.exact_bins(flat.m, product, ty, loc)?;
        let (n, keys) = (flat.n, flat.keys);
        let counts = self.keep_inexact(&mut flat, exact, ty)?;
        if self.is_active_var(bins.values[0]) {
            self.forward.active.insert(flat.values[0]);
        }
        let sorted = self.sort_bins(&flat, &[Some(ct)])?;
        let others = [product, ct, exact];
        if let (true, Some(Atom::Var(slow))) = (self.is_active_var(bins.values[0]), sorted.adjoints[0]) {
            let params = self.params("x", &[Type::I64, row.clone(), Type::I64]);
            let (key, value, count): (Atom, Atom, Atom) =
                (params[0].var.into(), params[1].var.into(), params[2].var.into());
            let lambda = self.lambda(params, vec![row.clone()], |ad| {
                let cond = ad.less(key, flat.m, loc);
                let then = ad.body(|ad| {
                    ad.product_without(value, ty, &others, key, loc, |ad| {
                        let place = ad.i64_op(BinOp::Sub, count, Atom::i64(1), loc);
                        Ok(ad.rows_at(&[slow], &[Type::Prim(ty)], &[place], loc))
                    })
                })?;
                let otherwise = Body { stms: Vec::new(), result: vec![Prim::zero(ty).into()] };
                Ok(vec![ad.let_exp("adj", ty.into(), Exp::If { cond, then, otherwise }, loc)])
            })?;
            let adjoint = self.mapped(n, vec![keys, bins.values[0], counts], lambda, loc)[0];
            self.add_adj(bins.values[0], adjoint.into(), loc);
        }
        if self.is_active_var(bins.dests[0]) {
            let numbers = self.iota(flat.m, loc);
            let params = self.params("x", &[Type::I64, row.clone(), row.clone()]);
            let (key, dest, total): (Atom, Atom, Atom) =
                (params[0].var.into(), params[1].var.into(), params[2].var.into());
            let lambda = self.lambda(params, vec![row], |ad| {
                ad.product_without(dest, ty, &others, key, loc, |ad| {
                    let ct = ad.rows_at(&[ct], &[Type::Prim(ty)], &[key], loc)[0];
                    Ok(vec![ad.b.mul(ty, total, ct, loc)])
                })
            })?;
            let arrays = vec![numbers, flat.dests[0], sorted.totals[0]];
            let adjoint = self.mapped(flat.m, arrays, lambda, loc)[0];
            let dest_ty = self.ty_var(bins.dests[0]);
            let adjoint = self.reshaped(adjoint, &dest_ty, loc);
            self.add_adj(bins.dests[0], adjoint, loc);
        }
        Ok(())
    }

    /// The cotangent times the product in a bin divided by a factor of it; `slowly` where that is not exact.
    fn product_without(
        &mut self,
        factor: Atom,
        ty: PrimType,
        [product, ct, exact]: &[VarId; 3],
        bin: Atom,
        loc: Loc,
        slowly: impl FnOnce(&mut Self) -> Res<Vec<Atom>>,
    ) -> Res<Vec<Atom>> {
        let cond = self.rows_at(&[*exact], &[Type::BOOL], &[bin], loc)[0];
        let then = self.body(|ad| {
            let read = ad.rows_at(&[*product, *ct], &[ty.into(), ty.into()], &[bin], loc);
            let others = ad.b.binop(BinOp::Div, ty, read[0], factor, loc);
            Ok(vec![ad.b.mul(ty, read[1], others, loc)])
        })?;
        let otherwise = self.body(slowly)?;
        Ok(vec![self.let_exp("adj", ty.into(), Exp::If { cond, then, otherwise }, loc)])
    }

    /// Which products are so far from zero and infinity that no factor or part of them is there.
    fn exact_bins(&mut self, m: Atom, product: VarId, ty: PrimType, loc: Loc) -> Res<VarId> {
        let least = match ty.bits() {
            16 => 2f64.powi(-14),
            32 => f64::from(f32::MIN_POSITIVE),
            _ => f64::MIN_POSITIVE,
        };
        let least: Atom = Prim::of_f64(ty, least).unwrap_or(Prim::one(ty)).into();
        let param = self.param("x", ty.into());
        let x = param.var.into();
        let lambda = self.lambda(vec![param], vec![Type::BOOL], |ad| {
            let size = ad.b.unop(UnOp::Abs, ty, x, loc);
            let large = ad.b.le(ty, least, size, loc);
            let finite = ad.b.lt(ty, size, Prim::highest(ty).into(), loc);
            Ok(vec![ad.b.and(large, finite, loc)])
        })?;
        Ok(self.mapped(m, vec![product], lambda, loc)[0])
    }

    /// Leaves only the values of bins that are not exact; for each of the others, how many of them there are up to it.
    fn keep_inexact(&mut self, flat: &mut FlatBins<'_>, exact: VarId, ty: PrimType) -> Res<VarId> {
        let (n, loc) = (flat.n, flat.loc);
        let numbers = Type::array(PrimType::I64, vec![n]);
        let op = self.b.binop_lambda(BinOp::And, PrimType::Bool, loc);
        let (arrays, neutral) = (vec![exact], vec![Atom::bool(true)]);
        let all = Exp::Reduce { width: flat.m, arrays, pre: None, op, neutral, commutative: true };
        let all = self.let_exp("all_exact", Type::BOOL, all, loc);
        let empty = self.b.eq(PrimType::I64, n, Atom::i64(0), loc);
        let cond = self.b.or(all, empty, loc);
        let scratch = |ad: &mut Self, elem: PrimType, n: Atom| {
            let ty = Type::array(elem, vec![n]);
            ad.let_exp("scratch", ty, Exp::Scratch { elem, dims: vec![n] }, loc)
        };
        let then = self.body(|ad| {
            Ok(vec![scratch(ad, PrimType::I64, n), scratch(ad, PrimType::I64, n), Atom::i64(0)])
        })?;
        let otherwise = self.body(|ad| ad.count_inexact(flat, exact))?;
        let types = [numbers.clone(), numbers, Type::I64];
        let counted = self.let_exps("counted", &types, Exp::If { cond, then, otherwise }, loc);
        let few = Atom::from(counted[2]);
        let types = [Type::array(PrimType::I64, vec![few]), Type::array(ty, vec![few])];
        let then = self.body(|ad| Ok(vec![scratch(ad, PrimType::I64, few), scratch(ad, ty, few)]))?;
        let otherwise = self.body(|ad| {
            let dests = [scratch(ad, PrimType::I64, few), scratch(ad, ty, few)];
            let dests = vars(&dests);
            let arrays = vec![counted[1], flat.keys, flat.values[0]];
            let exp = Exp::Scatter { width: n, arrays, pre: None, dests, shape: vec![few] };
            let kept = ad.let_exps("kept", &types, exp, loc);
            Ok(kept.into_iter().map(Atom::from).collect())
        })?;
        let kept = self.let_exps("kept", &types, Exp::If { cond, then, otherwise }, loc);
        (flat.n, flat.keys, flat.values) = (few, kept[0], vec![kept[1]]);
        Ok(counted[0])
    }

    /// For each value, how many up to it are in bins that are not exact, and its place among them or -1; then how many
    /// there are. There are values.
    fn count_inexact(&mut self, flat: &FlatBins<'_>, exact: VarId) -> Res<Vec<Atom>> {
        let (n, loc) = (flat.n, flat.loc);
        let param = self.param("key", Type::I64);
        let key = param.var.into();
        let constant = |n: i64| Body { stms: Vec::new(), result: vec![Atom::i64(n)] };
        let lambda = self.lambda(vec![param], vec![Type::I64], |ad| {
            let cond = ad.less(key, flat.m, loc);
            let then = ad.body(|ad| {
                let cond = ad.rows_at(&[exact], &[Type::BOOL], &[key], loc)[0];
                let exp = Exp::If { cond, then: constant(0), otherwise: constant(1) };
                Ok(vec![ad.let_exp("counts", Type::I64, exp, loc)])
            })?;
            Ok(vec![ad.let_exp("counts", Type::I64, Exp::If { cond, then, otherwise: constant(0) }, loc)])
        })?;
        let flags = self.mapped(n, vec![flat.keys], lambda, loc)[0];
        let op = self.b.binop_lambda(BinOp::Add, PrimType::I64, loc);
        let counts = self.scanned(n, vec![flags], op, vec![Atom::i64(0)], loc)[0];
        let params = self.params("x", &[Type::I64, Type::I64]);
        let (flag, count) = (params[0].var.into(), params[1].var.into());
        let lambda = self.lambda(params, vec![Type::I64], |ad| {
            let product = ad.i64_op(BinOp::Mul, flag, count, loc);
            Ok(vec![ad.i64_op(BinOp::Sub, product, Atom::i64(1), loc)])
        })?;
        let places = self.mapped(n, vec![flags, counts], lambda, loc)[0];
        let last = self.i64_op(BinOp::Sub, n, Atom::i64(1), loc);
        let few = self.rows_at(&[counts], &[Type::I64], &[last], loc)[0];
        Ok(vec![counts.into(), places.into(), few])
    }

    /// The adjoints of what was in the bins before.
    fn rev_contents(
        &mut self,
        bins: &Bins<'_>,
        flat: &FlatBins<'_>,
        totals: &[VarId],
        cts: &[Option<VarId>],
    ) -> Res<()> {
        let loc = bins.places.loc;
        let fold = Fold { n: flat.m, arrays: &flat.dests, ..flat.fold() };
        let cts: Vec<_> = cts.iter().map(|ct| ct.map(Cotangent::Each)).collect();
        let reached = self.reached(&fold, &flat.dests, totals, &cts)?;
        for (dest, adjoint) in bins.dests.iter().zip(reached) {
            let Some(adjoint) = adjoint.and_then(Atom::as_var) else { continue };
            let ty = self.ty_var(*dest);
            let adjoint = self.reshaped(adjoint, &ty, loc);
            self.add_adj(*dest, adjoint, loc);
        }
        Ok(())
    }

    fn flat_cts(&mut self, bins: &Bins<'_>, cts: &[Option<Atom>]) -> Vec<Option<VarId>> {
        let loc = bins.places.loc;
        let m = self.b.product(bins.places.shape, loc);
        let mut flat = Vec::new();
        for (ct, row) in cts.iter().zip(&bins.op.ret) {
            flat.push(ct.map(|ct| {
                let ct = self.as_var("ct", ct, loc);
                self.flattened(ct, m, row, loc)
            }));
        }
        flat
    }

    /// The histogram with one dimension of bins, and the number of bins for what is out of bounds.
    fn flat_bins<'a>(&mut self, bins: &Bins<'a>) -> Res<FlatBins<'a>> {
        let (places, loc) = (&bins.places, bins.places.loc);
        let m = self.b.product(places.shape, loc);
        let params = self.params("i", &vec![Type::I64; places.indices.len()]);
        let at: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let lambda = self.lambda(params, vec![Type::I64], |ad| {
            let cond = ad.in_bounds(&at, places.shape, loc);
            let then = ad.body(|ad| {
                let mut bin = at[0];
                for (i, size) in at.iter().zip(places.shape).skip(1) {
                    let before = ad.i64_op(BinOp::Mul, bin, *size, loc);
                    bin = ad.i64_op(BinOp::Add, before, *i, loc);
                }
                Ok(vec![bin])
            })?;
            let otherwise = Body { stms: Vec::new(), result: vec![m] };
            Ok(vec![ad.let_exp("bin", Type::I64, Exp::If { cond, then, otherwise }, loc)])
        })?;
        let keys = self.mapped(places.width, places.indices.to_vec(), lambda, loc)[0];
        let mut dests = Vec::new();
        for (dest, row) in bins.dests.iter().zip(&bins.op.ret) {
            dests.push(self.flattened(*dest, m, row, loc));
        }
        let values = bins.values.to_vec();
        Ok(FlatBins { n: places.width, m, keys, values, dests, op: bins.op, neutral: bins.neutral, loc })
    }

    /// The array with one dimension of `m` rows.
    fn flattened(&mut self, array: VarId, m: Atom, row: &Type, loc: Loc) -> VarId {
        let ty = row.with_outer(&[m]);
        if self.ty_var(array).rank() == ty.rank() {
            return array;
        }
        let exp = Exp::Reshape { dims: ty.dims().to_vec(), array };
        self.let_var("flat", ty, exp, loc)
    }

    fn reshaped(&mut self, array: VarId, ty: &Type, loc: Loc) -> Atom {
        if self.ty_var(array).rank() == ty.rank() {
            return array.into();
        }
        self.let_exp("shaped", ty.clone(), Exp::Reshape { dims: ty.dims().to_vec(), array }, loc)
    }
}
