//! Reverse mode of `reduce`.
//!
//! Reduction with any operator ⊙ (thesis, section 3.4.1): with `l_i` the reduction of everything left of `x_i` and
//! `r_i` of everything right of it, both by exclusive scans, the result is `(l_i ⊙ x_i) ⊙ r_i` for every `i`, so
//!
//!     xs_adj += map (\l x r -> adjoint of x in (l ⊙ x) ⊙ r) ls xs rs
//!
//! What ⊙ reads from outside is differentiated in the first application only: it is the `i`-th of the reduction.
//! A sum needs none of this: it passes its cotangent to every element.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_lambda;

use crate::context::{Ad, Res, is_plus};
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
    pub fn frozen_free(&mut self, op: &Lambda, loc: Loc) -> Vec<(VarId, Atom)> {
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
        self.shifted(n, &scanned, &rows, neutral, from_right, loc)
    }

    /// The arrays moved by one place, with `first` at the place that becomes free; from the right, also reversed.
    pub fn shifted(
        &mut self,
        n: Atom,
        arrays: &[VarId],
        rows: &[Type],
        first: &[Atom],
        from_right: bool,
        loc: Loc,
    ) -> Res<Vec<VarId>> {
        let numbers = self.iota(n, loc);
        let i = self.param("i", Type::I64);
        let lambda = self.lambda(vec![i.clone()], rows.to_vec(), |ad| {
            let place = if from_right { ad.mirrored(n, i.var, loc) } else { i.var.into() };
            let at_first = ad.b.eq(PrimType::I64, place, Atom::i64(0), loc);
            let otherwise = ad.body(|ad| {
                let before = ad.i64_op(BinOp::Sub, place, Atom::i64(1), loc);
                Ok(ad.elements(arrays, rows, before, loc))
            })?;
            let then = Body { stms: Vec::new(), result: first.to_vec() };
            let vars = ad.let_exps("before", rows, Exp::If { cond: at_first, then, otherwise }, loc);
            Ok(vars.into_iter().map(Atom::from).collect())
        })?;
        let types: Vec<Type> = rows.iter().map(|t| t.with_outer(&[n])).collect();
        Ok(self.let_exps("before", &types, Exp::Map { width: n, arrays: vec![numbers], lambda }, loc))
    }

    /// `n - 1 - i`
    pub fn mirrored(&mut self, n: Atom, i: VarId, loc: Loc) -> Atom {
        let last = self.i64_op(BinOp::Sub, n, Atom::i64(1), loc);
        self.i64_op(BinOp::Sub, last, i.into(), loc)
    }

    pub fn elements(&mut self, arrays: &[VarId], rows: &[Type], i: Atom, loc: Loc) -> Vec<Atom> {
        let pairs = arrays.iter().zip(rows);
        pairs
            .map(|(array, row)| {
                let exp = Exp::Index { array: *array, indices: vec![i], check: Check::Certified };
                self.let_exp("elem", row.clone(), exp, loc)
            })
            .collect()
    }

    pub fn reversed(&mut self, n: Atom, arrays: &[VarId], rows: &[Type], loc: Loc) -> Res<Vec<VarId>> {
        let numbers = self.iota(n, loc);
        let i = self.param("i", Type::I64);
        let lambda = self.lambda(vec![i.clone()], rows.to_vec(), |ad| {
            let place = ad.mirrored(n, i.var, loc);
            Ok(ad.elements(arrays, rows, place, loc))
        })?;
        let types: Vec<Type> = rows.iter().map(|t| t.with_outer(&[n])).collect();
        Ok(self.let_exps("reversed", &types, Exp::Map { width: n, arrays: vec![numbers], lambda }, loc))
    }
}

fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}
