//! Reverse mode of `scan`.
//!
//! `x_i = x_{i-1} ⊙ a_i`, so what reaches `x_i` from all later results is `c_i = ct_i + D_{i+1} c_{i+1}`, where `D_i` is the
//! transposed derivative of `x_{i-1} ⊙ a_i` with respect to `x_{i-1}`; from there on see [`super::operator`]. That is a linear
//! recurrence from the right, and so a scan itself. There are two ways:
//!
//! - If one component has adjoints and is a number, `D_i` is a number, too, and the scan is over pairs (thesis, section
//!   3.4.3):
//!
//!       (c1, d1) ⊕ (c2, d2) = (d2 * c1 + c2, d2 * d1)
//!
//! - Otherwise matrices would be needed. Instead the scan carries where to take the derivative (paper 004, section
//!   3.3): as ⊙ is associative, `D` over a stretch of elements is that of one application to their combination.
//!
//!       (x1, a1, c1) ⊕ (x2, a2, c2) = (x2, a2 ⊙ a1, c2 + adjoint of x2 in x2 ⊙ a2 for the cotangent c1)
//!
//!   Here later elements are on the left. The neutral element `(ne, ne, 0)` is one on the left only, which is where a
//!   scan needs it. A component of `x` that the adjoint does not read is not carried.
//!
//! For a sum, `c` is a sum. A component counts as active where its `c` is not zero for certain: one whose results are not used,
//! and which no other one depends on, is left out.

use dagaz_core::exp::{Body, Lambda};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_body;

use crate::context::{Ad, Res, is_plus};

use super::operator::{Fold, atoms, by_component, needed};

impl Ad<'_> {
    pub fn rev_scan(&mut self, fold: &Fold<'_>, results: &[VarId], cts: &[Option<Atom>]) -> Res<()> {
        let (n, loc, rows) = (fold.n, fold.loc, &fold.op.ret);
        let active = self.reached_components(fold.op, cts);
        if active.is_empty() {
            return Ok(());
        }
        let mut ct_arrays = Vec::new();
        for i in &active {
            let ct = self.or_zero(cts[*i], &rows[*i].with_outer(&[n]), loc);
            ct_arrays.push(self.as_var("ct", ct, loc));
        }
        if is_plus(fold.op) {
            let back = self.reversed(n, &ct_arrays, rows, loc);
            let op = self.plus_lambda(&rows[0], loc);
            let neutral = vec![self.zero(&rows[0], loc)];
            let sums = self.scanned(n, back, op, neutral, loc);
            let sums = self.reversed(n, &sums, rows, loc);
            self.add_adj(fold.arrays[0], sums[0].into(), loc);
            return Ok(());
        }
        let lefts = self.shifted(n, results, rows, fold.neutral, loc);
        let inputs = [lefts.as_slice(), fold.arrays].concat();
        let number = match active.as_slice() {
            [i] => match rows[*i] {
                Type::Prim(ty) if ty != PrimType::Bool => Some(ty),
                Type::Prim(_) | Type::Array { .. } | Type::Acc { .. } => None,
            },
            _ => None,
        };
        let reached = match number {
            Some(ty) => {
                let slopes = self.slopes(fold, &active, &inputs, ty)?;
                vec![self.recurrence(fold, ct_arrays[0], slopes, ty)?]
            }
            None => self.reached_from_right(fold, &active, results, &ct_arrays)?,
        };
        let reached = by_component(fold.op, &active, &reached);
        self.rev_map(n, &inputs, fold.op, &reached, loc)
    }

    /// The numbers `D_i`.
    fn slopes(&mut self, fold: &Fold<'_>, active: &[usize], inputs: &[VarId], ty: PrimType) -> Res<VarId> {
        let (rows, loc) = (&fold.op.ret, fold.loc);
        let frozen = self.frozen_free(fold.op, loc);
        let (x, a) = (self.params("x", rows), self.params("a", rows));
        let one: Atom = Prim::one(ty).into();
        let units: Vec<Option<Atom>> = (0..rows.len()).map(|i| active.contains(&i).then_some(one)).collect();
        let lambda = self.lambda([x.clone(), a.clone()].concat(), vec![ty.into()], |ad| {
            ad.left_adjoints((fold.op, active), &x, &atoms(&a), &units, &frozen, loc)
        })?;
        Ok(self.mapped(fold.n, inputs.to_vec(), lambda, loc)[0])
    }

    /// `c_i = ct_i + D_{i+1} c_{i+1}` for all `i`.
    fn recurrence(&mut self, fold: &Fold<'_>, cts: VarId, slopes: VarId, ty: PrimType) -> Res<VarId> {
        let (n, loc) = (fold.n, fold.loc);
        let (zero, one): (Atom, Atom) = (Prim::zero(ty).into(), Prim::one(ty).into());
        let rows = vec![Type::Prim(ty); 2];
        let back = self.reversed(n, &[cts, slopes], &rows, loc);
        let later = self.shifted(n, &back[1..], &rows[1..], &[zero], loc);
        let params = self.params("m", &[rows.clone(), rows.clone()].concat());
        let p = atoms(&params);
        let op = self.lambda(params, rows.clone(), |ad| {
            let carried = ad.b.mul(ty, p[3], p[0], loc);
            Ok(vec![ad.b.add(ty, carried, p[2], loc), ad.b.mul(ty, p[3], p[1], loc)])
        })?;
        let scanned = self.scanned(n, vec![back[0], later[0]], op, vec![zero, one], loc);
        Ok(self.reversed(n, &scanned[..1], &rows[..1], loc)[0])
    }

    /// `c_i` for each active component.
    fn reached_from_right(
        &mut self,
        fold: &Fold<'_>,
        active: &[usize],
        results: &[VarId],
        cts: &[VarId],
    ) -> Res<Vec<VarId>> {
        let (n, rows, loc) = (fold.n, &fold.op.ret, fold.loc);
        let ct_rows: Vec<Type> = active.iter().map(|i| rows[*i].clone()).collect();
        let (op, carried) = self.suffix_operator(fold, active, &ct_rows)?;
        let x_rows: Vec<Type> = carried.iter().map(|i| rows[*i].clone()).collect();
        let xs: Vec<VarId> = carried.iter().map(|i| results[*i]).collect();
        let xs = self.reversed(n, &xs, &x_rows, loc);
        let elems = self.reversed(n, fold.arrays, rows, loc);
        let elems = self.shifted(n, &elems, rows, fold.neutral, loc);
        let cts = self.reversed(n, cts, &ct_rows, loc);
        let mut neutral: Vec<Atom> = carried.iter().map(|i| fold.neutral[*i]).collect();
        neutral.extend_from_slice(fold.neutral);
        for row in &ct_rows {
            neutral.push(self.zero(row, loc));
        }
        let scanned = self.scanned(n, [xs, elems, cts].concat(), op, neutral, loc);
        Ok(self.reversed(n, &scanned[carried.len() + rows.len()..], &ct_rows, loc))
    }

    /// The operator ⊕ on points, elements and cotangents, and the components of the points that it carries.
    fn suffix_operator(
        &mut self,
        fold: &Fold<'_>,
        active: &[usize],
        ct_rows: &[Type],
    ) -> Res<(Lambda, Vec<usize>)> {
        let (rows, loc) = (&fold.op.ret, fold.loc);
        let frozen = self.frozen_free(fold.op, loc);
        let (a1, c1) = (self.params("a", rows), self.params("c", ct_rows));
        let (x2, a2, c2) = (self.params("x", rows), self.params("a", rows), self.params("c", ct_rows));
        let mut cts = vec![None; rows.len()];
        for (i, c) in active.iter().zip(&c1) {
            cts[*i] = Some(Atom::from(c.var));
        }
        let body = self.body(|ad| {
            let mut results = ad.applied(fold.op, &atoms(&a2), &atoms(&a1));
            let adjoints = ad.left_adjoints((fold.op, active), &x2, &atoms(&a2), &cts, &frozen, loc)?;
            for ((adjoint, c), row) in adjoints.into_iter().zip(&c2).zip(ct_rows) {
                results.push(ad.sum(row, adjoint, c.var.into(), loc));
            }
            Ok(results)
        })?;
        let body = Body { stms: needed(body.stms, &body.result), result: body.result };
        let read = free_vars_body(&body);
        let carried: Vec<usize> = (0..rows.len()).filter(|i| read.contains(&x2[*i].var)).collect();
        let x_rows: Vec<Type> = carried.iter().map(|i| rows[*i].clone()).collect();
        let x1 = self.params("x", &x_rows);
        let x2: Vec<Param> = carried.iter().map(|i| x2[*i].clone()).collect();
        let result = [atoms(&x2), body.result].concat();
        let ret = [x_rows.as_slice(), rows, ct_rows].concat();
        let params = [x1, a1, c1, x2, a2, c2].concat();
        let op = Lambda { params, body: Body { stms: body.stms, result }, ret };
        Ok((op, carried))
    }
}
