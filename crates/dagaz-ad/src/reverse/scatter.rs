//! Reverse mode of `scatter` (thesis, section 3.4.4).
//!
//!     ys = scatter dest is vs     vs_adj += map (\i -> ys_ct[i]) is     dest_adj += scatter ys_ct is zeros
//!
//! Of several writes to one place only one has an adjoint. Indices out of bounds write nothing and read zero. The
//! work is that of the writes, however large the destination is.

use dagaz_core::exp::{Body, Check, Exp, Loc};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res};

/// Places in arrays of an index space.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub width: Atom,
    pub indices: &'a [VarId],
    pub shape: &'a [Atom],
    pub loc: Loc,
}

impl Ad<'_> {
    pub fn rev_scatter(
        &mut self,
        places: &Places<'_>,
        values: &[VarId],
        dests: &[VarId],
        cts: &[Option<Atom>],
    ) -> Res<()> {
        let loc = places.loc;
        let mut winners = None;
        for ((value, dest), ct) in values.iter().zip(dests).zip(cts) {
            let Some(ct) = ct else { continue };
            let ct = self.as_var("ct", *ct, loc);
            if self.is_active_var(*value) {
                let winners = *winners.get_or_insert_with(|| self.winners(places));
                let read = self.gather(places, ct, *value, Some(winners))?;
                self.add_adj(*value, read, loc);
            }
            if self.is_active_var(*dest) {
                let value_ty = self.ty_var(*value);
                let zeros = self.zero(&value_ty, loc);
                let zeros = self.as_var("zeros", zeros, loc);
                let arrays = places.indices.iter().copied().chain([zeros]).collect();
                let shape = places.shape.to_vec();
                let exp = Exp::Scatter { width: places.width, arrays, pre: None, dests: vec![ct], shape };
                let ty = self.ty_var(*dest);
                let rest = self.let_exp("ct", ty, exp, loc);
                self.add_adj(*dest, rest, loc);
            }
        }
        Ok(())
    }

    /// The number of the write that each place keeps. What is at other places is not specified.
    fn winners(&mut self, places: &Places<'_>) -> VarId {
        let (shape, loc) = (places.shape.to_vec(), places.loc);
        let ty = Type::array(PrimType::I64, shape.clone());
        let exp = Exp::Scratch { elem: PrimType::I64, dims: shape.clone() };
        let dest = self.let_var("winners", ty.clone(), exp, loc);
        let numbers = self.iota(places.width, loc);
        let arrays = places.indices.iter().copied().chain([numbers]).collect();
        let exp = Exp::Scatter { width: places.width, arrays, pre: None, dests: vec![dest], shape };
        self.let_var("winners", ty, exp, loc)
    }

    /// The rows of `source` at the places, like the array `values`; where there are winners, only for those.
    pub fn gather(
        &mut self,
        places: &Places<'_>,
        source: VarId,
        values: VarId,
        winners: Option<VarId>,
    ) -> Res<Atom> {
        let loc = places.loc;
        let ty = self.ty_var(values);
        let row = ty.row().unwrap_or_else(|| ty.clone());
        let mut params: Vec<Param> = places.indices.iter().map(|_| self.param("i", Type::I64)).collect();
        let at: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let mut arrays = places.indices.to_vec();
        let number = self.param("number", Type::I64);
        if winners.is_some() {
            arrays.push(self.iota(places.width, loc));
            params.push(number.clone());
        }
        let lambda = self.lambda(params, vec![row.clone()], |ad| {
            let mut cond = ad.in_bounds(&at, places.shape, loc);
            if let Some(winners) = winners {
                let then = ad.body(|ad| {
                    let winner = ad.rows_at(&[winners], &[Type::I64], &at, loc)[0];
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
        Ok(self.let_exp("read", ty, Exp::Map { width: places.width, arrays, lambda }, loc))
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
}
