//! Arrays turned round, moved by one place, or read at a place: what the rules for neighbours are made of.
//!
//!     reversed [a, b, c] = [c, b, a]          shifted ne [a, b, c] = [ne, a, b]

use dagaz_core::exp::{Check, DimSlice, Exp, Lambda, Loc};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::Ad;

use super::whole;

impl Ad<'_> {
    /// The arrays from the last row to the first.
    pub fn reversed(&mut self, n: Atom, arrays: &[VarId], rows: &[Type], loc: Loc) -> Vec<VarId> {
        let start = self.i64_op(BinOp::Sub, n, Atom::i64(1), loc);
        let backwards = DimSlice::Range { start, len: n, stride: Atom::i64(-1) };
        let each = arrays.iter().zip(rows);
        each.map(|(array, row)| {
            let dims = [backwards.clone()].into_iter().chain(row.dims().iter().map(|d| whole(*d))).collect();
            self.let_var("reversed", row.with_outer(&[n]), Exp::Slice { array: *array, dims }, loc)
        })
        .collect()
    }

    /// The arrays moved towards the end by one place, with `first` in front and without their last row.
    pub fn shifted(
        &mut self,
        n: Atom,
        arrays: &[VarId],
        rows: &[Type],
        first: &[Atom],
        loc: Loc,
    ) -> Vec<VarId> {
        let more = self.i64_op(BinOp::Add, n, Atom::i64(1), loc);
        let mut results = Vec::new();
        for ((array, row), first) in arrays.iter().zip(rows).zip(first) {
            let lit = Exp::ArrayLit { row: row.clone(), elems: vec![*first] };
            let one = self.let_var("first", row.with_outer(&[Atom::i64(1)]), lit, loc);
            let exp = Exp::Concat { arrays: vec![one, *array] };
            let longer = self.let_var("longer", row.with_outer(&[more]), exp, loc);
            let dims = [n].iter().chain(row.dims()).map(|d| whole(*d)).collect();
            let ty = row.with_outer(&[n]);
            results.push(self.let_var("before", ty, Exp::Slice { array: longer, dims }, loc));
        }
        results
    }

    /// The arrays moved towards the beginning by one place, with `last` at the end and without their first row.
    pub fn advanced(
        &mut self,
        n: Atom,
        arrays: &[VarId],
        rows: &[Type],
        last: &[Atom],
        loc: Loc,
    ) -> Vec<VarId> {
        let more = self.i64_op(BinOp::Add, n, Atom::i64(1), loc);
        let mut results = Vec::new();
        for ((array, row), last) in arrays.iter().zip(rows).zip(last) {
            let lit = Exp::ArrayLit { row: row.clone(), elems: vec![*last] };
            let one = self.let_var("last", row.with_outer(&[Atom::i64(1)]), lit, loc);
            let exp = Exp::Concat { arrays: vec![*array, one] };
            let longer = self.let_var("longer", row.with_outer(&[more]), exp, loc);
            let later = DimSlice::Range { start: Atom::i64(1), len: n, stride: Atom::i64(1) };
            let dims = [later].into_iter().chain(row.dims().iter().map(|d| whole(*d))).collect();
            let ty = row.with_outer(&[n]);
            results.push(self.let_var("after", ty, Exp::Slice { array: longer, dims }, loc));
        }
        results
    }

    /// The rows at the indices, which are within bounds.
    pub fn rows_at(&mut self, arrays: &[VarId], rows: &[Type], at: &[Atom], loc: Loc) -> Vec<Atom> {
        let each = arrays.iter().zip(rows);
        each.map(|(array, row)| {
            let exp = Exp::Index { array: *array, indices: at.to_vec(), check: Check::Certified };
            self.let_exp("elem", row.clone(), exp, loc)
        })
        .collect()
    }

    /// An inclusive scan.
    pub fn scanned(
        &mut self,
        n: Atom,
        arrays: Vec<VarId>,
        op: Lambda,
        neutral: Vec<Atom>,
        loc: Loc,
    ) -> Vec<VarId> {
        let types: Vec<Type> = op.ret.iter().map(|t| t.with_outer(&[n])).collect();
        let scan = Exp::Scan { width: n, arrays, pre: None, op, neutral };
        self.let_exps("scanned", &types, scan, loc)
    }

    /// A map whose results are new arrays.
    pub fn mapped(&mut self, n: Atom, arrays: Vec<VarId>, lambda: Lambda, loc: Loc) -> Vec<VarId> {
        let types: Vec<Type> = lambda.ret.iter().map(|t| t.with_outer(&[n])).collect();
        self.let_exps("mapped", &types, Exp::Map { width: n, arrays, lambda }, loc)
    }
}
