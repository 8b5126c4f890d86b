//! Maps of which one element matters: those whose least or greatest result is all that is used of them.
//!
//! The adjoint of the results is then zero but in one place, and the adjoint of the map (thesis, section 3.4.5) is needed
//! for that iteration alone:
//!
//!     m = minimum (map f xs)        xs[i: i + w] gets the adjoint of map f (xs[i: i + w]) at (replicate w m_ct)
//!
//! where `i` is the place of the minimum and `w` is one, or zero if there is none.

use dagaz_core::exp::{DimSlice, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Res};

use super::whole;

/// An adjoint that is zero but in one place, or everywhere if the place is negative.
#[derive(Clone, Copy)]
pub(crate) struct OneHot {
    pub at: Atom,
    pub value: Atom,
}

impl Ad<'_> {
    /// What is known of the only cotangent that there is.
    pub fn one_hot(&self, arrays: &[VarId], cts: &[Option<Atom>]) -> Option<OneHot> {
        let mut given = cts.iter().flatten();
        let (Some(Atom::Var(ct)), None) = (given.next(), given.next()) else { return None };
        let are_arrays = arrays.iter().all(|array| self.ty_var(*array).is_array());
        self.one_hots.get(ct).copied().filter(|_| are_arrays)
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
                self.active.insert(part);
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
                self.add_at(*array, std::slice::from_ref(&range), ct, &ty, loc);
            }
        }
        Ok(())
    }
}
