//! The adjoints so far: reading them, and adding to them as values or through accumulators.

use dagaz_core::exp::{AccInput, Body, Check, DimSlice, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, Prim};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Adj};

use super::whole;

impl Ad<'_> {
    /// The adjoint of a variable, or its accumulator.
    pub fn adjoint(&mut self, var: VarId, loc: Loc) -> Atom {
        match self.sweep.adj.get(&var) {
            Some(Adj::Value(atom)) => *atom,
            Some(Adj::Acc(acc)) => (*acc).into(),
            None => {
                let ty = self.ty_var(var);
                self.zero(&ty, loc)
            }
        }
    }

    /// The type of what [`Ad::adjoint`] gives.
    pub fn adjoint_type(&self, var: VarId) -> Type {
        let ty = self.ty_var(var);
        match self.sweep.adj.get(&var) {
            Some(Adj::Acc(_)) => acc_type(&ty),
            Some(Adj::Value(_)) | None => ty,
        }
    }

    /// The adjoint is now somewhere else; a value stays a value, an accumulator an accumulator.
    pub fn move_adj(&mut self, var: VarId, to: VarId) {
        let adj = match self.sweep.adj.get(&var) {
            Some(Adj::Acc(_)) => Adj::Acc(to),
            Some(Adj::Value(_)) | None => Adj::Value(to.into()),
        };
        self.sweep.adj.insert(var, adj);
    }

    /// The adjoint of a variable whose binding the return sweep has reached; none if it is zero.
    pub fn take_adj(&mut self, var: VarId) -> Option<Atom> {
        match self.sweep.adj.remove(&var)? {
            Adj::Value(atom) => Some(atom),
            Adj::Acc(_) => None,
        }
    }

    pub fn or_zero(&mut self, ct: Option<Atom>, ty: &Type, loc: Loc) -> Atom {
        match ct {
            Some(ct) => ct,
            None => self.zero(ty, loc),
        }
    }

    /// Adds to the adjoint of an atom, if it has one.
    pub fn add_to(&mut self, atom: Atom, ct: Option<Atom>, loc: Loc) {
        if let (Atom::Var(var), Some(ct)) = (atom, ct) {
            self.add_adj(var, ct, loc);
        }
    }

    pub fn add_adj(&mut self, var: VarId, ct: Atom, loc: Loc) {
        let ty = self.ty_var(var);
        let is_zero = matches!(ct, Atom::Const(prim) if prim == Prim::zero(prim.ty()));
        if !self.is_active_var(var) || is_zero {
            return;
        }
        let adj = match self.sweep.adj.get(&var).copied() {
            None => Adj::Value(ct),
            Some(Adj::Value(old)) => Adj::Value(self.sum(&ty, old, ct, loc)),
            Some(Adj::Acc(acc)) => {
                let dims: Vec<DimSlice> = ty.dims().iter().map(|d| whole(*d)).collect();
                Adj::Acc(self.acc_add(acc, &acc_type(&ty), Vec::new(), &dims, ct, &ty, loc))
            }
        };
        self.sweep.adj.insert(var, adj);
    }

    /// Adds to a part of the adjoint of an array. `ty` is the type of the part.
    pub fn add_at(&mut self, array: VarId, dims: &[DimSlice], ct: Atom, ty: &Type, loc: Loc) {
        if !self.is_active_var(array) {
            return;
        }
        let array_ty = self.ty_var(array);
        if let Some(Adj::Acc(acc)) = self.sweep.adj.get(&array).copied() {
            let rest = array_ty.dims().iter().skip(dims.len()).map(|d| whole(*d));
            let dims: Vec<DimSlice> = dims.iter().cloned().chain(rest).collect();
            let acc = self.acc_add(acc, &acc_type(&array_ty), Vec::new(), &dims, ct, ty, loc);
            self.sweep.adj.insert(array, Adj::Acc(acc));
            return;
        }
        let old = self.adjoint(array, loc);
        let old = self.as_var("adj", old, loc);
        let before = self.read_at(old, dims, ty, loc);
        let value = self.sum(ty, before, ct, loc);
        let exp = Exp::Update { array: old, dims: dims.to_vec(), value, check: Check::Certified };
        let hint = self.hint(array, "_adj");
        let new = self.let_exp(&hint, array_ty, exp, loc);
        self.sweep.adj.insert(array, Adj::Value(new));
    }

    /// A part of an array: an element, a row, or a slice.
    pub fn read_at(&mut self, array: VarId, dims: &[DimSlice], ty: &Type, loc: Loc) -> Atom {
        let fixed: Option<Vec<Atom>> = dims
            .iter()
            .map(|d| match d {
                DimSlice::Fix(i) => Some(*i),
                DimSlice::Range { .. } => None,
            })
            .collect();
        let exp = match fixed {
            Some(indices) => Exp::Index { array, indices, check: Check::Certified },
            None => {
                let rest =
                    self.ty_var(array).dims().iter().skip(dims.len()).map(|d| whole(*d)).collect::<Vec<_>>();
                Exp::Slice { array, dims: dims.iter().cloned().chain(rest).collect() }
            }
        };
        self.let_exp("part", ty.clone(), exp, loc)
    }

    /// Adds `ct` to the part `dims` of an accumulator below the indices `done`, one element at a time.
    #[allow(clippy::too_many_arguments)]
    fn acc_add(
        &mut self,
        acc: VarId,
        acc_ty: &Type,
        mut done: Vec<Atom>,
        dims: &[DimSlice],
        ct: Atom,
        ty: &Type,
        loc: Loc,
    ) -> VarId {
        match dims.split_first() {
            None => {
                let exp = Exp::UpdateAcc { acc, indices: done, values: vec![ct] };
                self.let_var("acc", acc_ty.clone(), exp, loc)
            }
            Some((DimSlice::Fix(i), rest)) => {
                done.push(*i);
                self.acc_add(acc, acc_ty, done, rest, ct, ty, loc)
            }
            Some((DimSlice::Range { start, len, stride }, rest)) => {
                let row = ty.row().unwrap_or_else(|| ty.clone());
                let numbers = self.iota(*len, loc);
                let cts = self.as_var("ct", ct, loc);
                let params = vec![
                    self.param("i", Type::I64),
                    self.param("ct", row.clone()),
                    self.param("acc", acc_ty.clone()),
                ];
                self.b.push_scope();
                let offset = self.i64_op(BinOp::Mul, params[0].var.into(), *stride, loc);
                done.push(self.i64_op(BinOp::Add, *start, offset, loc));
                let new = self.acc_add(params[2].var, acc_ty, done, rest, params[1].var.into(), &row, loc);
                let body = Body { stms: self.b.pop_scope(), result: vec![new.into()] };
                let lambda = Lambda { params, body, ret: vec![acc_ty.clone()] };
                let exp = Exp::Map { width: *len, arrays: vec![numbers, cts, acc], lambda };
                self.let_var("acc", acc_ty.clone(), exp, loc)
            }
        }
    }

    /// An input of `with_acc` that sums into the array.
    pub fn sum_input(&mut self, array: VarId, ty: &Type, loc: Loc) -> AccInput {
        let elem = Type::Prim(ty.elem().unwrap_or(dagaz_core::prim::PrimType::F64));
        let op = self.plus_lambda(&elem, loc);
        let zero = self.zero(&elem, loc);
        AccInput { shape: ty.dims().to_vec(), arrays: vec![array], op: Some((op, vec![zero])) }
    }

    /// Active variables among these; accumulators have no adjoints of this kind.
    pub fn active_among(&self, vars: impl IntoIterator<Item = VarId>) -> Vec<VarId> {
        let mut found: Vec<VarId> = Vec::new();
        for var in vars {
            if self.is_active_var(var) && !self.ty_var(var).is_acc() && !found.contains(&var) {
                found.push(var);
            }
        }
        found
    }
}

/// An accumulator of single elements of an array.
pub(crate) fn acc_type(ty: &Type) -> Type {
    let elem = Type::Prim(ty.elem().unwrap_or(dagaz_core::prim::PrimType::F64));
    Type::Acc { index_dims: ty.dims().to_vec(), elems: vec![elem] }
}
