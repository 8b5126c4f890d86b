//! Reverse mode of `scan` (thesis, section 3.4.3).
//!
//! `y_i = y_{i-1} ⊙ x_i`, so what reaches `y_i` from all later results is `c_i = ct_i + M_{i+1} c_{i+1}`, where `M_i`
//! is the transposed derivative of `y_{i-1} ⊙ x_i` with respect to `y_{i-1}`. That is a linear recurrence from the
//! right, and so a scan itself, over pairs of a vector and a matrix; then
//!
//!     xs_adj += map (\l x c -> adjoint of x in l ⊙ x) ls xs cs
//!
//! Matrices are small for few numbers; elements that are arrays or many numbers are gone through in order instead.
//! For a sum, `c` is a sum.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm, LoopHints};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_lambda;

use crate::context::{Ad, Adj, Res, is_plus};
use crate::rename::Renamer;

/// The most numbers in an element for which matrices pay.
const MAX_MATRIX: usize = 4;

/// A scan in the return sweep.
pub(crate) struct ScanReturn<'a> {
    pub n: Atom,
    pub arrays: &'a [VarId],
    pub op: &'a Lambda,
    pub neutral: &'a [Atom],
    pub results: &'a [VarId],
    pub loc: Loc,
}

impl Ad<'_> {
    pub fn rev_scan(&mut self, job: &ScanReturn<'_>, cts: &[Option<Atom>]) -> Res<()> {
        let (n, loc, rows) = (job.n, job.loc, &job.op.ret);
        let mut ct_arrays = Vec::new();
        for (ct, row) in cts.iter().zip(rows) {
            let ct = self.or_zero(*ct, &row.with_outer(&[n]), loc);
            ct_arrays.push(self.as_var("ct", ct, loc));
        }
        if is_plus(job.op) {
            let back = self.reversed(n, &ct_arrays, rows, loc)?;
            let op = self.plus_lambda(&rows[0], loc);
            let neutral = vec![self.zero(&rows[0], loc)];
            let scan = Exp::Scan { width: n, arrays: back, pre: None, op, neutral };
            let sums = self.let_var("sums", rows[0].with_outer(&[n]), scan, loc);
            let sums = self.reversed(n, &[sums], rows, loc)?;
            self.add_adj(job.arrays[0], sums[0].into(), loc);
            return Ok(());
        }
        let lefts = self.shifted(n, job.results, rows, job.neutral, false, loc)?;
        match rows[0] {
            Type::Prim(ty)
                if rows.len() <= MAX_MATRIX && ty.is_float() && rows.iter().all(|t| *t == rows[0]) =>
            {
                let inputs = [lefts.as_slice(), job.arrays].concat();
                let matrices = self.left_derivatives(job, &inputs, ty)?;
                let reached = self.recurrence(job, &ct_arrays, &matrices, ty)?;
                let cts: Vec<Option<Atom>> = reached.into_iter().map(|v| Some(v.into())).collect();
                self.rev_map(n, &inputs, job.op, &cts, loc)
            }
            Type::Prim(_) | Type::Array { .. } | Type::Acc { .. } => {
                self.scan_in_order(job, &lefts, &ct_arrays)
            }
        }
    }

    /// The matrices `M_i`, by rows: the entry at `(p, q)` is the derivative of result `q` by left operand `p`.
    fn left_derivatives(&mut self, job: &ScanReturn<'_>, inputs: &[VarId], ty: PrimType) -> Res<Vec<VarId>> {
        let loc = job.loc;
        let k = job.op.ret.len();
        let frozen: HashMap<VarId, Atom> = self.frozen_free(job.op, loc).into_iter().collect();
        let outer = std::mem::take(&mut self.adj);
        let params: Vec<Param> = job.op.params.iter().map(|p| self.param("x", p.ty.clone())).collect();
        self.active.extend(params[..k].iter().map(|p| p.var));
        let ret = vec![Type::Prim(ty); k * k];
        let lambda = self.lambda(params.clone(), ret.clone(), |ad| {
            let mut columns = Vec::new();
            for q in 0..k {
                ad.adj.clear();
                let operands = params.iter().map(|p| Atom::from(p.var));
                let map = job.op.params.iter().map(|p| p.var).zip(operands).chain(frozen.clone()).collect();
                let copy = Renamer::new(ad, map).body(&job.op.body);
                let unit = |i| (i == q).then_some(Atom::from(Prim::one(ty)));
                ad.sweep(&copy, &(0..k).map(unit).collect::<Vec<_>>(), loc)?;
                let column: Vec<Atom> = params[..k].iter().map(|p| ad.adjoint(p.var, loc)).collect();
                columns.push(column);
            }
            Ok((0..k * k).map(|entry| columns[entry % k][entry / k]).collect())
        })?;
        self.adj = outer;
        let types: Vec<Type> = ret.iter().map(|t| t.with_outer(&[job.n])).collect();
        let exp = Exp::Map { width: job.n, arrays: inputs.to_vec(), lambda };
        Ok(self.let_exps("slope", &types, exp, loc))
    }

    /// `c_i = ct_i + M_{i+1} c_{i+1}` for all `i`.
    fn recurrence(
        &mut self,
        job: &ScanReturn<'_>,
        cts: &[VarId],
        matrices: &[VarId],
        ty: PrimType,
    ) -> Res<Vec<VarId>> {
        let (n, loc, k) = (job.n, job.loc, cts.len());
        let (zero, one): (Atom, Atom) = (Prim::zero(ty).into(), Prim::one(ty).into());
        let vector = vec![Type::Prim(ty); k];
        let matrix = vec![Type::Prim(ty); k * k];
        let back = self.reversed(n, cts, &vector, loc)?;
        let turned = self.reversed(n, matrices, &matrix, loc)?;
        let before = self.shifted(n, &turned, &matrix, &vec![zero; k * k], false, loc)?;
        let rows = [vector.clone(), matrix].concat();
        let params: Vec<Param> = (0..2 * rows.len()).map(|_| self.param("m", Type::Prim(ty))).collect();
        let operand: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let op = self.lambda(params, rows.clone(), |ad| {
            let (first, second) = operand.split_at(rows.len());
            let (b1, m1) = first.split_at(k);
            let (b2, m2) = second.split_at(k);
            let mut result = Vec::new();
            for p in 0..k {
                let product = ad.inner_product(ty, &m2[p * k..(p + 1) * k], b1, loc);
                result.push(ad.b.add(ty, product, b2[p], loc));
            }
            for entry in 0..k * k {
                let (p, q) = (entry / k, entry % k);
                let column: Vec<Atom> = (0..k).map(|r| m1[r * k + q]).collect();
                result.push(ad.inner_product(ty, &m2[p * k..(p + 1) * k], &column, loc));
            }
            Ok(result)
        })?;
        let unit = |entry: usize| if entry / k == entry % k { one } else { zero };
        let neutral = vec![zero; k].into_iter().chain((0..k * k).map(unit)).collect();
        let types: Vec<Type> = rows.iter().map(|t| t.with_outer(&[n])).collect();
        let scan = Exp::Scan { width: n, arrays: [back, before].concat(), pre: None, op, neutral };
        let scanned = self.let_exps("reached", &types, scan, loc);
        self.reversed(n, &scanned[..k], &vector, loc)
    }

    fn inner_product(&mut self, ty: PrimType, xs: &[Atom], ys: &[Atom], loc: Loc) -> Atom {
        let products: Vec<Atom> = xs.iter().zip(ys).map(|(x, y)| self.b.mul(ty, *x, *y, loc)).collect();
        let mut sum = products[0];
        for product in &products[1..] {
            sum = self.b.add(ty, sum, *product, loc);
        }
        sum
    }

    /// From the last element to the first, carrying the cotangent.
    fn scan_in_order(&mut self, job: &ScanReturn<'_>, lefts: &[VarId], cts: &[VarId]) -> Res<()> {
        let (n, loc, rows, k) = (job.n, job.loc, &job.op.ret, job.op.ret.len());
        let free = self.active_among(free_vars_lambda(job.op));
        let mut params = Vec::new();
        let outs: Vec<Type> = rows.iter().map(|row| row.with_outer(&[n])).collect();
        for ty in rows.iter().chain(&outs) {
            let init = self.zero(ty, loc);
            params.push((self.param("adj", ty.clone()), init));
        }
        let mut slots = HashMap::new();
        for var in &free {
            let init = self.adjoint(*var, loc);
            let slot = self.param("adj", self.adjoint_type(*var));
            let kind = if slot.ty.is_acc() { Adj::Acc(slot.var) } else { Adj::Value(slot.var.into()) };
            slots.insert(*var, kind);
            params.push((slot, init));
        }
        let outer = std::mem::replace(&mut self.adj, slots);
        let counter = self.param("j", Type::I64).var;
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let body = self.body(|ad| {
            let i = ad.mirrored(n, counter, loc);
            let mut next = ad.scan_step(job, lefts, cts, &own, i)?;
            next.extend(free.iter().map(|v| ad.adjoint(*v, loc)));
            Ok(next)
        })?;
        self.adj = outer;
        let types: Vec<Type> = own.iter().map(|p| p.ty.clone()).collect();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: n };
        let vars =
            self.let_exps("adj", &types, Exp::Loop { params, form, body, hints: LoopHints::NONE }, loc);
        for (var, adjoint) in free.iter().zip(&vars[2 * k..]) {
            self.move_adj(*var, *adjoint);
        }
        for (array, adjoint) in job.arrays.iter().zip(&vars[k..]) {
            self.add_adj(*array, (*adjoint).into(), loc);
        }
        Ok(())
    }

    /// What is carried on, and the adjoints of the elements with one more written.
    fn scan_step(
        &mut self,
        job: &ScanReturn<'_>,
        lefts: &[VarId],
        cts: &[VarId],
        own: &[Param],
        i: Atom,
    ) -> Res<Vec<Atom>> {
        let (loc, rows) = (job.loc, &job.op.ret);
        let mut row_cts = Vec::new();
        for (ct, (row, carried)) in self.elements(cts, rows, i, loc).into_iter().zip(rows.iter().zip(own)) {
            row_cts.push(Some(self.sum(row, ct, carried.var.into(), loc)));
        }
        let operands = [self.elements(lefts, rows, i, loc), self.elements(job.arrays, rows, i, loc)].concat();
        let operands: Vec<VarId> = operands.into_iter().map(|e| self.as_var("x", e, loc)).collect();
        self.active.extend(&operands);
        let atoms = operands.iter().map(|v| Atom::from(*v));
        let map = job.op.params.iter().map(|p| p.var).zip(atoms).collect();
        let copy: Body = Renamer::new(self, map).body(&job.op.body);
        self.sweep(&copy, &row_cts, loc)?;
        let (left, elems) = operands.split_at(rows.len());
        let mut next: Vec<Atom> = left.iter().map(|v| self.adjoint(*v, loc)).collect();
        for (elem, out) in elems.iter().zip(&own[rows.len()..]) {
            let value = self.adjoint(*elem, loc);
            let dims = vec![DimSlice::Fix(i)];
            let exp = Exp::Update { array: out.var, dims, value, check: Check::Certified };
            next.push(self.let_exp("adj", out.ty.clone(), exp, loc));
        }
        Ok(next)
    }
}
