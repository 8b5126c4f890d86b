//! Maps of which one element matters: those whose least or greatest result is all that is used of them.
//!
//! The adjoint of the results is then zero but in one place, and the adjoint of the map (thesis, section 3.4.5) is needed
//! for that iteration alone:
//!
//!     m = minimum (map f xs)        xs[i: i + w] gets the adjoint of map f (xs[i: i + w]) at (replicate w m_ct)
//!
//! where `i` is the place of the minimum and `w` is one, or zero if there is none. What is known of an adjoint goes on to what
//! the array was made of. If that is the row of another array, its adjoint is known by rows: the map that made the rows gets
//! places and values instead of adjoints with many zeros.
//!
//!     rows = map g xs
//!     ms = map (\row -> minimum row) rows      map (\x i ct -> adjoint of g x at (zeros with [i] = ct)) xs is ms_ct

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Adj, Res};

use super::whole;

/// An adjoint that is zero but in one place, or everywhere if the place is negative.
#[derive(Clone, Copy)]
pub(crate) struct OneHot {
    pub at: Atom,
    pub value: Atom,
}

/// An adjoint whose rows are like that: the places and the values.
#[derive(Clone, Copy)]
pub(crate) struct OneHotRows {
    pub at: VarId,
    pub values: VarId,
}

impl Ad<'_> {
    /// What is known of the only cotangent that there is.
    pub fn one_hot(&self, arrays: &[VarId], cts: &[Option<Atom>]) -> Option<OneHot> {
        let mut given = cts.iter().flatten();
        let (Some(Atom::Var(ct)), None) = (given.next(), given.next()) else { return None };
        let are_arrays = arrays.iter().all(|array| self.ty_var(*array).is_array());
        self.sweep.one_hots.get(ct).copied().filter(|_| are_arrays)
    }

    /// As [`Ad::rev_map`], for the one iteration that matters.
    pub fn rev_map_once(
        &mut self,
        arrays: &[VarId],
        lambda: &Lambda,
        cts: &[Option<Atom>],
        hot: OneHot,
        loc: Loc,
    ) -> Res<()> {
        let is_there = self.b.le(PrimType::I64, Atom::i64(0), hot.at, loc);
        let width = self.select(is_there, Type::I64, Atom::i64(1), Atom::i64(0), loc);
        let start = self.i64_op(BinOp::Max, hot.at, Atom::i64(0), loc);
        let range = DimSlice::Range { start, len: width, stride: Atom::i64(1) };
        let mut parts = Vec::with_capacity(arrays.len());
        for array in arrays {
            let ty = self.ty_var(*array);
            let rest = ty.dims().iter().skip(1).map(|d| whole(*d));
            let dims: Vec<DimSlice> = [range.clone()].into_iter().chain(rest).collect();
            let row = ty.row().unwrap_or(ty);
            let part =
                self.let_var("part", row.with_outer(&[width]), Exp::Slice { array: *array, dims }, loc);
            if self.is_active_var(*array) {
                self.forward.active.insert(part);
            }
            parts.push(part);
        }
        let mut here = Vec::with_capacity(cts.len());
        for (ct, ty) in cts.iter().zip(&lambda.ret) {
            here.push(ct.map(|_| {
                let exp = Exp::Replicate { dims: vec![width], value: hot.value };
                self.let_exp("ct", ty.with_outer(&[width]), exp, loc)
            }));
        }
        self.rev_map(width, &parts, lambda, &here, loc)?;
        for (array, part) in arrays.iter().zip(parts) {
            if let Some(ct) = self.take_adj(part) {
                let ty = self.ty_var(part);
                let is_first = !self.sweep.adj.contains_key(array);
                self.add_at(*array, std::slice::from_ref(&range), ct, &ty, loc);
                if let (true, Some(Adj::Value(Atom::Var(adj)))) =
                    (is_first, self.sweep.adj.get(array).copied())
                {
                    self.note_one_hot(adj, hot.at, (is_there, ct), loc)?;
                }
            }
        }
        Ok(())
    }

    /// Notes that an adjoint is zero but for the element of a vector that has at most one.
    fn note_one_hot(&mut self, adj: VarId, at: Atom, (is_there, ct): (Atom, Atom), loc: Loc) -> Res<()> {
        let (Type::Array { elem, dims }, Atom::Var(ct)) = (self.ty_var(adj), ct) else { return Ok(()) };
        if dims.len() > 1 {
            return Ok(());
        }
        let then = self.body(|ad| {
            let exp = Exp::Index { array: ct, indices: vec![Atom::i64(0)], check: Check::Certified };
            Ok(vec![ad.let_exp("value", elem.into(), exp, loc)])
        })?;
        let otherwise = Body { stms: Vec::new(), result: vec![Prim::zero(elem).into()] };
        let value = self.let_exp("value", elem.into(), Exp::If { cond: is_there, then, otherwise }, loc);
        self.sweep.one_hots.insert(adj, OneHot { at, value });
        Ok(())
    }

    /// A vector that is zero but in one place.
    pub fn one_hot_vector(&mut self, at: Atom, value: Atom, ty: &Type, loc: Loc) -> Res<Atom> {
        let zeros = self.zero(ty, loc);
        let zeros = self.as_var("zeros", zeros, loc);
        let cond = self.b.le(PrimType::I64, Atom::i64(0), at, loc);
        let then = self.body(|ad| {
            let dims = vec![DimSlice::Fix(at)];
            let exp = Exp::Update { array: zeros, dims, value, check: Check::Certified };
            Ok(vec![ad.let_exp("ct", ty.clone(), exp, loc)])
        })?;
        let otherwise = Body { stms: Vec::new(), result: vec![zeros.into()] };
        let vector = self.let_var("ct", ty.clone(), Exp::If { cond, then, otherwise }, loc);
        self.sweep.one_hots.insert(vector, OneHot { at, value });
        Ok(vector.into())
    }

    /// What is known of adjoints: the positions of those that are zero but in one place, and these places.
    pub fn known_one_hots(&self, adjoints: &[Atom]) -> Vec<(usize, OneHot)> {
        let known =
            adjoints.iter().enumerate().map(|(k, adj)| Some((k, *self.sweep.one_hots.get(&adj.as_var()?)?)));
        known.flatten().collect()
    }

    /// A vector in other words is zero in the same places.
    pub fn same_one_hot(&mut self, from: VarId, to: Atom) {
        let are_vectors = self.ty_var(from).rank() == 1 && self.ty(to).rank() == 1;
        if let (true, Some(hot), Atom::Var(to)) = (are_vectors, self.sweep.one_hots.get(&from).copied(), to) {
            self.sweep.one_hots.insert(to, hot);
        }
    }
}
