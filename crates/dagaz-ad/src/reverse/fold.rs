//! Reverse mode of `reduce` and `scan`.
//!
//! Reduction with any operator ⊙ (thesis, section 3.4.1): with `l_i` the reduction of everything left of `x_i` and
//! `r_i` of everything right of it, both by exclusive scans, the result is `(l_i ⊙ x_i) ⊙ r_i` for every `i`, so
//!
//!     xs_adj += map (\l x r -> adjoint of x in (l ⊙ x) ⊙ r) ls xs rs
//!
//! What ⊙ reads from outside is differentiated in the first application only: it is the `i`-th of the reduction.
//!
//! Scan: `y_i = y_{i-1} ⊙ x_i`, so the cotangents are carried from the last element to the first, in order. Sums
//! need neither: a reduction passes its cotangent to every element, a scan the sum of all later ones.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_lambda;

use crate::context::{Ad, Adj, Res, is_plus};
use crate::rename::Renamer;

impl Ad<'_> {
    pub fn rev_reduce(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let mut spread = Vec::new();
        for (ct, ty) in cts.iter().zip(&op.ret) {
            spread.push(ct.map(|ct| {
                let exp = Exp::Replicate { dims: vec![width], value: ct };
                self.let_exp("ct", ty.with_outer(&[width]), exp, loc)
            }));
        }
        if is_plus(op) {
            self.add_to(arrays[0].into(), spread[0], loc);
            return Ok(());
        }
        let lefts = self.exclusive_scan(width, arrays, op, neutral, false, loc)?;
        let rights = self.exclusive_scan(width, arrays, op, neutral, true, loc)?;
        let frozen = self.frozen_free(op, loc);
        let rows = op.ret.clone();
        let params = |ad: &mut Self, hint: &str| -> Vec<Param> {
            rows.iter().map(|t| ad.param(hint, t.clone())).collect()
        };
        let (ls, xs, rs) = (params(self, "l"), params(self, "x"), params(self, "r"));
        for (param, array) in xs.iter().zip(arrays) {
            if self.is_active_var(*array) {
                self.active.insert(param.var);
            }
        }
        let body = self.body(|ad| {
            let first = ad.apply(op, &ls, &atoms(&xs), HashMap::new());
            first.stms.into_iter().for_each(|s| ad.push(s));
            let map = op.params.iter().map(|p| p.var).zip(first.result.into_iter().chain(atoms(&rs)));
            let second = Renamer::new(ad, map.chain(frozen).collect()).body(&op.body);
            second.stms.into_iter().for_each(|s| ad.push(s));
            Ok(second.result)
        })?;
        let all = [ls, xs, rs].concat();
        let lambda = Lambda { params: all, body, ret: rows };
        let inputs = [lefts.as_slice(), arrays, &rights].concat();
        self.rev_map(width, &inputs, &lambda, &spread, loc)
    }

    /// The operator's body with new names, at the given operands.
    fn apply(&mut self, op: &Lambda, xs: &[Param], ys: &[Atom], more: HashMap<VarId, Atom>) -> Body {
        let operands = atoms(xs).into_iter().chain(ys.iter().copied());
        let map = op.params.iter().map(|p| p.var).zip(operands).chain(more).collect();
        Renamer::new(self, map).body(&op.body)
    }

    /// Copies of the operator's active free variables that are not differentiated.
    fn frozen_free(&mut self, op: &Lambda, loc: Loc) -> Vec<(VarId, Atom)> {
        let free = self.active_among(free_vars_lambda(op));
        let freeze = |var: VarId| {
            let ty = self.ty_var(var);
            (var, self.let_exp("frozen", ty, Exp::Atom(var.into()), loc))
        };
        free.into_iter().map(freeze).collect()
    }

    /// At each place, the reduction of everything before it, or of everything after it.
    fn exclusive_scan(
        &mut self,
        n: Atom,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
        from_right: bool,
        loc: Loc,
    ) -> Res<Vec<VarId>> {
        let mut op = Renamer::new(self, HashMap::new()).lambda(op);
        let rows = op.ret.clone();
        let types: Vec<Type> = rows.iter().map(|t| t.with_outer(&[n])).collect();
        let mut arrays = arrays.to_vec();
        if from_right {
            op.params.rotate_left(rows.len());
            arrays = self.reversed(n, &arrays, &rows, loc)?;
        }
        let neutral_atoms = neutral.to_vec();
        let scan = Exp::Scan { width: n, arrays, pre: None, op, neutral: neutral_atoms };
        let scanned = self.let_exps("scanned", &types, scan, loc);
        let numbers = self.iota(n, loc);
        let i = self.param("i", Type::I64);
        let lambda = self.lambda(vec![i.clone()], rows.clone(), |ad| {
            let place = if from_right { ad.mirrored(n, i.var, loc) } else { i.var.into() };
            let first = ad.b.eq(PrimType::I64, place, Atom::i64(0), loc);
            let otherwise = ad.body(|ad| {
                let before = ad.i64_op(BinOp::Sub, place, Atom::i64(1), loc);
                Ok(ad.elements(&scanned, &rows, before, loc))
            })?;
            let then = Body { stms: Vec::new(), result: neutral.to_vec() };
            let vars = ad.let_exps("before", &rows, Exp::If { cond: first, then, otherwise }, loc);
            Ok(vars.into_iter().map(Atom::from).collect())
        })?;
        Ok(self.let_exps("before", &types, Exp::Map { width: n, arrays: vec![numbers], lambda }, loc))
    }

    /// `n - 1 - i`
    fn mirrored(&mut self, n: Atom, i: VarId, loc: Loc) -> Atom {
        let last = self.i64_op(BinOp::Sub, n, Atom::i64(1), loc);
        self.i64_op(BinOp::Sub, last, i.into(), loc)
    }

    fn elements(&mut self, arrays: &[VarId], rows: &[Type], i: Atom, loc: Loc) -> Vec<Atom> {
        let pairs = arrays.iter().zip(rows);
        pairs
            .map(|(array, row)| {
                let exp = Exp::Index { array: *array, indices: vec![i], check: Check::Certified };
                self.let_exp("elem", row.clone(), exp, loc)
            })
            .collect()
    }

    fn reversed(&mut self, n: Atom, arrays: &[VarId], rows: &[Type], loc: Loc) -> Res<Vec<VarId>> {
        let numbers = self.iota(n, loc);
        let i = self.param("i", Type::I64);
        let lambda = self.lambda(vec![i.clone()], rows.to_vec(), |ad| {
            let place = ad.mirrored(n, i.var, loc);
            Ok(ad.elements(arrays, rows, place, loc))
        })?;
        let types: Vec<Type> = rows.iter().map(|t| t.with_outer(&[n])).collect();
        Ok(self.let_exps("reversed", &types, Exp::Map { width: n, arrays: vec![numbers], lambda }, loc))
    }

    #[allow(clippy::too_many_arguments)]
    pub fn rev_scan(
        &mut self,
        n: Atom,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
        results: &[VarId],
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let rows = op.ret.clone();
        let mut ct_arrays = Vec::new();
        for (ct, row) in cts.iter().zip(&rows) {
            let ct = self.or_zero(*ct, &row.with_outer(&[n]), loc);
            ct_arrays.push(self.as_var("ct", ct, loc));
        }
        if is_plus(op) {
            let back = self.reversed(n, &ct_arrays, &rows, loc)?;
            let op = self.plus_lambda(&rows[0], loc);
            let neutral = vec![self.zero(&rows[0], loc)];
            let scan = Exp::Scan { width: n, arrays: back, pre: None, op, neutral };
            let sums = self.let_var("sums", rows[0].with_outer(&[n]), scan, loc);
            let sums = self.reversed(n, &[sums], &rows, loc)?;
            self.add_adj(arrays[0], sums[0].into(), loc);
            return Ok(());
        }
        let free = self.active_among(free_vars_lambda(op));
        let mut params = Vec::new();
        for row in &rows {
            let init = self.zero(row, loc);
            params.push((self.param("carried", row.clone()), init));
        }
        for row in &rows {
            let ty = row.with_outer(&[n]);
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
        let outer = std::mem::replace(&mut self.adj, slots);
        let counter = self.b.fresh("j");
        self.types.insert(counter, Type::I64);
        let k = rows.len();
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let body = self.body(|ad| {
            let i = ad.mirrored(n, counter, loc);
            let mut row_cts = Vec::new();
            for (ct, (row, carried)) in
                ad.elements(&ct_arrays, &rows, i, loc).into_iter().zip(rows.iter().zip(&own))
            {
                row_cts.push(Some(ad.sum(row, ct, carried.var.into(), loc)));
            }
            let first = ad.b.eq(PrimType::I64, i, Atom::i64(0), loc);
            let otherwise = ad.body(|ad| {
                let before = ad.i64_op(BinOp::Sub, i, Atom::i64(1), loc);
                Ok(ad.elements(results, &rows, before, loc))
            })?;
            let then = Body { stms: Vec::new(), result: neutral.to_vec() };
            let lefts = ad.let_exps("left", &rows, Exp::If { cond: first, then, otherwise }, loc);
            let elems = ad.elements(arrays, &rows, i, loc);
            let elems: Vec<VarId> = elems.into_iter().map(|e| ad.as_var("x", e, loc)).collect();
            ad.active.extend(lefts.iter().chain(&elems));
            let operands = lefts.iter().chain(&elems).map(|v| Atom::from(*v));
            let map = op.params.iter().map(|p| p.var).zip(operands).collect();
            let copy = Renamer::new(ad, map).body(&op.body);
            ad.sweep(&copy, &row_cts, loc)?;
            let mut next: Vec<Atom> = lefts.iter().map(|v| ad.adjoint(*v, loc)).collect();
            for (elem, out) in elems.iter().zip(&own[k..]) {
                let value = ad.adjoint(*elem, loc);
                let dims = vec![DimSlice::Fix(i)];
                let exp = Exp::Update { array: out.var, dims, value, check: Check::Certified };
                next.push(ad.let_exp("adj", out.ty.clone(), exp, loc));
            }
            next.extend(free.iter().map(|v| ad.adjoint(*v, loc)));
            Ok(next)
        })?;
        self.adj = outer;
        let types: Vec<Type> = own.iter().map(|p| p.ty.clone()).collect();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: n };
        let vars = self.let_exps("adj", &types, Exp::Loop { params, form, body }, loc);
        for (var, adjoint) in free.iter().zip(&vars[2 * k..]) {
            self.move_adj(*var, *adjoint);
        }
        for (array, adjoint) in arrays.iter().zip(&vars[k..]) {
            self.add_adj(*array, (*adjoint).into(), loc);
        }
        Ok(())
    }
}

fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}
