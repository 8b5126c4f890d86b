//! Loops whose arrays change their size from one iteration to the next.
//!
//!     loop (n = 1, a: [n]f64 = [x]) for i < k do (2 * n, concat a a)
//!
//! Rows of one array cannot hold the values: they are packed, one after the other, into an array that a first run of
//! the loop has measured. The loop of the return sweep carries the sizes backwards, because the adjoints have them.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res};
use crate::rename::Renamer;

use super::save::Saving;
use super::{SavedLoop, SavedValue};

impl SavedLoop {
    /// The parameters that are sizes of others, with their positions.
    pub(super) fn sizes(&self) -> Vec<(usize, VarId)> {
        size_positions(&self.params)
    }
}

fn size_positions(params: &[(Param, Atom)]) -> Vec<(usize, VarId)> {
    let mentioned: Vec<Atom> = params.iter().flat_map(|(p, _)| p.ty.all_dims()).collect();
    let vars = params.iter().map(|(p, _)| p.var).enumerate();
    vars.filter(|(_, var)| mentioned.contains(&Atom::from(*var))).collect()
}

/// Whether a parameter is a size of another, or an array whose size is a parameter.
pub(super) fn is_resized(param: &Param, params: &[(Param, Atom)]) -> bool {
    let sizes = size_positions(params);
    let is_size = |atom: Atom| sizes.iter().any(|(_, var)| Atom::from(*var) == atom);
    is_size(param.var.into()) || param.ty.all_dims().into_iter().any(is_size)
}

/// The type with other sizes.
pub(super) fn with_sizes(ty: &Type, sizes: &HashMap<VarId, Atom>) -> Type {
    ty.map_dims(&mut |d| d.as_var().and_then(|v| sizes.get(&v).copied()).unwrap_or(d))
}

impl Ad<'_> {
    /// Binds the results of a loop, whose types may mention each other.
    pub(super) fn let_loop(
        &mut self,
        params: Vec<(Param, Atom)>,
        form: LoopForm,
        body: Body,
        loc: Loc,
    ) -> Vec<VarId> {
        let mut renamer = Renamer::new(self, HashMap::new());
        let pat: Vec<Param> = params.iter().map(|(p, _)| renamer.param(p)).collect();
        let vars = pat.iter().map(|p| p.var).collect();
        self.push(Stm { pat, exp: Exp::Loop { params, form, body, hints: LoopHints::NONE }, loc });
        vars
    }

    /// Parameters of the loop of the return sweep for the sizes after an iteration.
    pub(super) fn size_params(
        &mut self,
        stm: &Stm,
        job: &SavedLoop,
        params: &mut Vec<(Param, Atom)>,
    ) -> HashMap<VarId, Atom> {
        let mut sizes = HashMap::new();
        for (k, var) in job.sizes() {
            let hint = self.b.vars.hint(var).to_owned();
            let size = self.param(&hint, Type::I64);
            sizes.insert(var, size.var.into());
            params.push((size, stm.pat[k].var.into()));
        }
        sizes
    }

    /// The value of a parameter at the start of iteration `i`; `map` has those of earlier parameters.
    pub(super) fn saved_value(
        &mut self,
        saved: SavedValue,
        param: &Param,
        i: Atom,
        map: &HashMap<VarId, Atom>,
        loc: Loc,
    ) -> VarId {
        let hint = self.b.vars.hint(param.var).to_owned();
        let ty = with_sizes(&param.ty, map);
        match saved {
            SavedValue::Rows(array) => {
                let exp = Exp::Index { array, indices: vec![i], check: Check::Certified };
                self.let_var(&hint, ty, exp, loc)
            }
            SavedValue::Packed { elements, offsets } => {
                let exp = Exp::Index { array: offsets, indices: vec![i], check: Check::Certified };
                let start = self.let_exp("offset", Type::I64, exp, loc);
                let len = self.b.product(ty.dims(), loc);
                let flat = Type::array(ty.elem().unwrap_or(dagaz_core::prim::PrimType::F64), vec![len]);
                let dims = vec![DimSlice::Range { start, len, stride: Atom::i64(1) }];
                let part = self.let_var("part", flat, Exp::Slice { array: elements, dims }, loc);
                let exp = Exp::Reshape { dims: ty.dims().to_vec(), array: part };
                self.let_var(&hint, ty, exp, loc)
            }
        }
    }

    /// An array with the sizes of another by name; they are the same numbers.
    pub fn shaped_as(&mut self, array: Atom, like: Atom, loc: Loc) -> Atom {
        let ty = self.ty(like);
        self.with_type(array, ty, loc)
    }

    /// An array with a type that has the same sizes by other names.
    pub(super) fn with_type(&mut self, array: Atom, ty: Type, loc: Loc) -> Atom {
        let Atom::Var(var) = array else { return array };
        if !ty.is_array() || ty == self.ty_var(var) {
            return array;
        }
        let exp = Exp::Reshape { dims: ty.dims().to_vec(), array: var };
        let hint = self.b.vars.hint(var).to_owned();
        self.let_exp(&hint, ty, exp, loc)
    }

    /// Packs the values of a parameter.
    pub(super) fn pack_value(
        &mut self,
        saving: &mut Saving,
        form: &LoopForm,
        run: &Body,
        value: VarId,
        n: Atom,
        loc: Loc,
    ) -> Res<SavedValue> {
        let own = saving.own_params(run);
        let total = self.inspect(&own, form, loc, |ad, top| {
            let dims = ad.ty_var(value).dims().to_vec();
            let len = ad.b.product(&dims, loc);
            let top = ad.i64_op(BinOp::Add, top, len, loc);
            run.stms.iter().for_each(|s| ad.push(s.clone()));
            Ok([run.result.clone(), vec![top]].concat())
        })?;
        let elem = self.ty_var(value).elem().unwrap_or(dagaz_core::prim::PrimType::F64);
        let exp = Exp::Scratch { elem, dims: vec![total] };
        let elements = self.let_exp("saved", Type::array(elem, vec![total]), exp, loc);
        let (inside, elements) = saving.carry(self, elements);
        let (offset, _) = saving.carry(self, Atom::i64(0));
        let offsets = self.save_value(saving, offset, n, loc);
        saving.packed.push((value, inside, offset));
        Ok(SavedValue::Packed { elements, offsets })
    }

    /// The elements and the offset after a value was packed.
    pub(super) fn packed(&mut self, value: VarId, elements: VarId, offset: VarId, loc: Loc) -> [Atom; 2] {
        let ty = self.ty_var(value);
        let len = self.b.product(ty.dims(), loc);
        let flat = Type::array(ty.elem().unwrap_or(dagaz_core::prim::PrimType::F64), vec![len]);
        let flat = self.let_exp("flat", flat, Exp::Reshape { dims: vec![len], array: value }, loc);
        let dims = vec![DimSlice::Range { start: offset.into(), len, stride: Atom::i64(1) }];
        let exp = Exp::Update { array: elements, dims, value: flat, check: Check::Certified };
        let elements = self.let_exp("saved", self.ty_var(elements), exp, loc);
        [elements, self.i64_op(BinOp::Add, offset.into(), len, loc)]
    }
}
