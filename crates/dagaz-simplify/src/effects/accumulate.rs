//! Adding to an accumulator: `r += e`.
//!
//! ```text
//! h[i] += row     with h: accum ([n][m]f64)
//! ==>     map (iota m, row, acc) \j x acc -> acc[i, j] += x
//! ```

use std::rc::Rc;

use dagaz_core::exp::{Exp, Lambda};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Type, VarId as CoreVar};

use crate::context::{Res, Simplifier};
use crate::eval::below_sizes;
use crate::value::{AccVal, RefStep, RefVal, SVal, as_var};
use crate::walk::{array_type, flatten, type_leaves};

/// What is added to an accumulator, and where.
struct Addend {
    acc: CoreVar,
    ty: Type,
    indices: Vec<Atom>,
    /// The dimensions of the accumulator that are not indexed; the values are arrays over these.
    rest: Vec<Atom>,
    values: Vec<Atom>,
}

impl Simplifier<'_> {
    pub fn accumulate(&mut self, reference: &RefVal, value: &SVal) -> Res<SVal> {
        let cell = self.cell_to_change(reference.cell)?;
        let mut like = cell.like;
        let (mut indices, mut fields) = (Vec::new(), Vec::new());
        for step in &reference.path {
            like = match (step, &like) {
                (RefStep::Field(field), _) => {
                    fields.push(*field);
                    self.project(&like, *field)?
                }
                (RefStep::Index(index, _), SVal::Array(array)) => {
                    indices.push(*index);
                    array.elem.clone()
                }
                (RefStep::Index(..), _) => return self.bug("an index into something else than an array"),
            };
        }
        let value = self.conform(value, &like);
        let SVal::Record(accs) = &cell.value else { return self.bug("accumulators that are not a tuple") };
        let mut values = flatten(&value).atoms().into_iter();
        let mut new = accs.to_vec();
        for ((_, slot), place) in new.iter_mut().zip(cell.places.iter()) {
            let SVal::Acc(acc) = &*slot else { return self.bug("an accumulator that is none") };
            if !place.fields.starts_with(&fields) && !fields.starts_with(&place.fields) {
                continue;
            }
            if fields.len() > place.fields.len() || indices.len() > place.rank {
                return self.misuse(
                    "accumulator-part",
                    "this refers to a part of an element, but the operator of the accumulator combines whole elements",
                );
            }
            let Some(var) = as_var(acc.acc) else { return self.bug("an accumulator that is a constant") };
            let types = type_leaves(&acc.elem, &[]);
            let single = place.rank == 0;
            let addend = Addend {
                acc: var,
                ty: Type::Acc { index_dims: acc.dims.clone(), elems: types.clone() },
                indices: if single { vec![Atom::i64(0)] } else { indices.clone() },
                rest: if single { Vec::new() } else { acc.dims[indices.len()..].to_vec() },
                values: values.by_ref().take(types.len()).collect(),
            };
            let updated = self.add_to_accumulator(addend)?;
            *slot = SVal::Acc(Rc::new(AccVal { acc: updated, ..acc.as_ref().clone() }));
        }
        self.set_cell(reference.cell, SVal::Record(new.into()));
        Ok(SVal::tuple([]))
    }

    fn add_to_accumulator(&mut self, addend: Addend) -> Res<Atom> {
        let Addend { acc, ty, indices, rest, values } = addend;
        let Some((&width, rest)) = rest.split_first() else {
            return Ok(self.emit("acc", ty, Exp::UpdateAcc { acc, indices, values }));
        };
        let elems = match &ty {
            Type::Acc { elems, .. } => elems.clone(),
            Type::Prim(_) | Type::Array { .. } => return self.bug("an accumulator that is none"),
        };
        let mut arrays = vec![acc];
        let numbers = array_type(PrimType::I64, &[width]);
        let iota = Exp::Iota { n: width, start: Atom::i64(0), step: Atom::i64(1), ty: PrimType::I64 };
        arrays.push(self.emit_var("range", numbers, iota));
        for value in values {
            let Some(array) = as_var(value) else { return self.bug("an array that is a constant") };
            arrays.push(array);
        }
        let own = self.param("acc", ty.clone());
        let position = self.param("i", Type::Prim(PrimType::I64));
        let row = |elem: &Type| below_sizes(rest, elem);
        let rows = self.params("x", &elems.iter().map(row).collect::<Vec<_>>());
        let inner = Addend {
            acc: own.var,
            ty: ty.clone(),
            indices: [indices.as_slice(), &[position.var.into()]].concat(),
            rest: rest.to_vec(),
            values: rows.iter().map(|p| p.var.into()).collect(),
        };
        let body = self.body(|s| Ok(vec![s.add_to_accumulator(inner)?]))?;
        let params = [vec![own, position], rows].concat();
        let lambda = Lambda { params, body, ret: vec![ty.clone()] };
        Ok(self.emit("acc", ty, Exp::Map { width, arrays, lambda }))
    }
}
