//! Accumulators: `scatter_stream`, `hist_stream` and `acc_write`.
//!
//! ```text
//! scatter_stream dest f bs
//! ==>     with_acc (dest) (\acc -> map (\acc b -> f acc b) acc bs)
//! ```

use std::rc::Rc;

use dagaz_core::exp::{AccInput, Body, Exp, Lambda};
use dagaz_core::types::{Atom, Type};

use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::value::{AccVal, ArrayVal, EDim, EType, SVal, as_var};
use crate::walk::{flatten, rebuild, type_leaves};

impl Simplifier<'_> {
    pub(super) fn acc_write(&mut self, acc: &AccVal, index: Atom, value: &SVal) -> Res<SVal> {
        let (value, _) = self.match_type(value, &acc.elem);
        let values = flatten(&value).atoms();
        let Some(var) = as_var(acc.acc) else { return self.bug("an accumulator that is a constant") };
        let ty = Type::Acc { index_dims: acc.dims.clone(), elems: type_leaves(&acc.elem, &[]) };
        let new = self.emit("acc", ty, Exp::UpdateAcc { acc: var, indices: vec![index], values });
        Ok(SVal::Acc(Rc::new(AccVal { acc: new, ..acc.clone() })))
    }

    pub(super) fn stream(
        &mut self,
        dest: &ArrayVal,
        op: Option<(&SVal, &SVal)>,
        f: &SVal,
        inputs: &ArrayVal,
    ) -> Res<SVal> {
        let flat = flatten(&dest.elem);
        let elem = self.type_of(&dest.elem)?;
        let acc_ty = Type::Acc { index_dims: vec![dest.dim], elems: flat.types() };
        let op = match op {
            None => None,
            Some((op, neutral)) => {
                let neutral = flatten(&self.conform(neutral, &dest.elem)).atoms();
                Some((self.operator(op, &dest.elem)?, neutral))
            }
        };
        let outer = self.param("acc", acc_ty.clone());
        let inner = self.param("acc", acc_ty.clone());
        let (rows, row) = self.row_params("x", &inputs.elem);
        let acc = AccVal { acc: inner.var.into(), dims: vec![dest.dim], elem };
        let body = self.without_effects("what writes to a stream", |s| {
            s.body(|s| match s.apply(f, vec![SVal::Acc(Rc::new(acc)), row])? {
                SVal::Acc(acc) => Ok(vec![acc.acc]),
                _ => s.bug("a stream that does not give an accumulator"),
            })
        })?;
        let params = [vec![inner], rows].concat();
        let lambda = Lambda { params, body, ret: vec![acc_ty.clone()] };
        let mut arrays = vec![outer.var];
        arrays.extend(self.array_vars(&flatten(&inputs.elem).leaves)?);
        let (stms, result) = self.scope(|s| {
            let map = Exp::Map { width: inputs.dim, arrays, lambda };
            Ok(vec![s.emit("acc", acc_ty.clone(), map)])
        })?;
        let lambda = Lambda { params: vec![outer], body: Body { stms, result }, ret: vec![acc_ty] };
        let input = AccInput { shape: vec![dest.dim], arrays: self.array_vars(&flat.leaves)?, op };
        let types: Vec<Type> = flat.leaves.iter().map(|leaf| outer_type(dest.dim, &leaf.ty)).collect();
        let leaves = self.emit_all("streamed", &types, Exp::WithAcc { inputs: vec![input], lambda });
        Ok(SVal::array(dest.dim, rebuild(&dest.elem, &flat.dims, &leaves)))
    }

    /// The type of a value without functions.
    pub fn type_of(&self, value: &SVal) -> Res<EType> {
        Ok(match value {
            SVal::Scalar(prim, _) => EType::Prim(*prim),
            SVal::Array(array) => EType::Array(EDim::Known(array.dim), Rc::new(self.type_of(&array.elem)?)),
            SVal::Record(fields) => {
                let fields: Res<Vec<_>> = fields.iter().map(|(n, v)| Ok((*n, self.type_of(v)?))).collect();
                EType::Record(fields?.into())
            }
            SVal::Sum(sum) => {
                let constr = |(name, payload): &(dagaz_syntax::Name, Vec<SVal>)| {
                    Ok((*name, payload.iter().map(|v| self.type_of(v)).collect::<Res<Vec<_>>>()?))
                };
                EType::Sum(sum.constrs.iter().map(constr).collect::<Res<Vec<_>>>()?.into())
            }
            SVal::Fun(_) | SVal::Choice(_) | SVal::Absent => {
                return self.unsupported("an accumulator of functions");
            }
            SVal::Acc(_)
            | SVal::Ref(_)
            | SVal::Def(_)
            | SVal::Alias(_)
            | SVal::SizeOf(..)
            | SVal::UnboundSize(_) => {
                return self.bug("an accumulator of something that is not a value");
            }
        })
    }
}
