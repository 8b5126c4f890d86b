//! Reductions, scans and scatters: operations that apply a function again and again.

use dagaz_core::prim::Prim;
use dagaz_core::prim_eval::eval_binop;
use dagaz_core::types::{Atom, VarId};
use dagaz_core::value::{Array, Elems, Value};

use crate::term::{Combine, Lambda};

use super::arrays::{element, indices, offset, strides};
use super::{Fallible, Frame, Machine, internal};

/// Slice `j` along an axis.
fn slice_at(array: &Array, axis: usize, j: usize) -> Fallible<Value> {
    let missing = || internal("a slice misses the array");
    if axis == 0 {
        return array.row(j).ok_or_else(missing);
    }
    let mut shape = array.shape().to_vec();
    if axis >= shape.len() {
        return Err(missing());
    }
    shape.remove(axis);
    let steps = strides(array.shape());
    let positions = indices(&shape).map(|index| {
        let (outer, inner) = index.split_at(axis);
        outer.iter().chain(&[j]).chain(inner).zip(&steps).map(|(i, step)| i * step).sum()
    });
    array.gather(&shape, positions).map(Value::Array).ok_or_else(missing)
}

fn length(arrays: &[Array], axis: usize) -> Fallible<usize> {
    let n = arrays.first().and_then(|a| a.shape().get(axis)).copied();
    n.filter(|n| arrays.iter().all(|a| a.shape().get(axis) == Some(n)))
        .ok_or_else(|| internal("arrays of different sizes along an axis"))
}

impl Machine<'_> {
    fn apply(
        &mut self,
        frame: &mut Frame,
        op: &Lambda,
        values: impl Iterator<Item = Value>,
    ) -> Fallible<Vec<Value>> {
        frame.extend(op.params.iter().map(|p| p.var).zip(values));
        self.body(frame, &op.body)
    }

    /// Calls `each` with what the slices up to and including each one combine to.
    fn accumulate(
        &mut self,
        frame: &mut Frame,
        (axis, arrays): (usize, &[Array]),
        op: &Lambda,
        neutral: &[Atom],
        mut each: impl FnMut(usize, &[Value]) -> Fallible<()>,
    ) -> Fallible<Vec<Value>> {
        let mut totals: Vec<Value> =
            neutral.iter().map(|atom| self.value(frame, *atom)).collect::<Fallible<_>>()?;
        for j in 0..length(arrays, axis)? {
            self.tick()?;
            let next: Vec<Value> = arrays.iter().map(|a| slice_at(a, axis, j)).collect::<Fallible<_>>()?;
            totals = self.apply(frame, op, totals.into_iter().chain(next))?;
            each(j, &totals)?;
        }
        Ok(totals)
    }

    pub(super) fn reduce(
        &mut self,
        frame: &mut Frame,
        axis: usize,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
    ) -> Fallible<Vec<Value>> {
        let arrays = self.arrays(frame, arrays)?;
        self.accumulate(frame, (axis, &arrays), op, neutral, |_, _| Ok(()))
    }

    pub(super) fn scan(
        &mut self,
        frame: &mut Frame,
        axis: usize,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
    ) -> Fallible<Vec<Value>> {
        let arrays = self.arrays(frame, arrays)?;
        let blank = |a: &Array| {
            self.reserve(a.shape(), a.elem_type())?;
            Array::filled(a.shape(), Prim::zero(a.elem_type()))
                .ok_or_else(|| internal("a shape is too large"))
        };
        let mut results: Vec<Array> = arrays.iter().map(blank).collect::<Fallible<_>>()?;
        self.accumulate(frame, (axis, &arrays), op, neutral, |j, totals| {
            for (result, total) in results.iter_mut().zip(totals) {
                write_slice(result, axis, j, total)?;
            }
            Ok(())
        })?;
        Ok(results.into_iter().map(Value::Array).collect())
    }

    pub(super) fn scatter(
        &mut self,
        frame: &mut Frame,
        dests: &[VarId],
        atoms: &[Atom],
        values: &[Atom],
        combine: &Combine,
    ) -> Fallible<Vec<Value>> {
        let mut arrays = self.arrays(frame, dests)?;
        let (outer, places) = self.index_values(frame, atoms)?;
        let values: Vec<Value> = values.iter().map(|v| self.value(frame, *v)).collect::<Fallible<_>>()?;
        let count: usize = outer.iter().product();
        let rank = places.len();
        for at in 0..count {
            self.tick()?;
            let index: Vec<i64> =
                places.iter().map(|v| element(v, at).and_then(Prim::as_i64).unwrap_or(-1)).collect();
            let Some(place) = arrays.first().and_then(|a| offset(a.shape(), index)) else { continue };
            let (mut old, mut new) = (Vec::new(), Vec::new());
            for (array, value) in arrays.iter().zip(&values) {
                let size = array.stride_after(rank);
                old.push(row(array, array.shape(), rank, place * size)?);
                let shape = array.shape();
                new.push(match value {
                    Value::Prim(prim) if outer.is_empty() && shape.len() == rank => Value::Prim(*prim),
                    Value::Prim(prim) => filled(*prim, &shape[rank.min(shape.len())..])?,
                    Value::Array(value) => row(value, value.shape(), outer.len(), at * size)?,
                });
            }
            let rows = self.combined(frame, combine, old, new)?;
            for (array, row) in arrays.iter_mut().zip(rows) {
                let at = place * array.stride_after(rank);
                if array.shape()[rank..] != *row.shape() || !array.write(at, &row) {
                    return Err(internal("a scattered row has another type than the destination"));
                }
            }
        }
        Ok(arrays.into_iter().map(Value::Array).collect())
    }

    fn combined(
        &mut self,
        frame: &mut Frame,
        combine: &Combine,
        old: Vec<Value>,
        new: Vec<Value>,
    ) -> Fallible<Vec<Value>> {
        match combine {
            Combine::Replace => Ok(new),
            Combine::Op(op, _) => self.apply(frame, op, old.into_iter().chain(new)),
            Combine::By(op) => {
                let both = old.into_iter().zip(new).map(|(x, y)| {
                    let ty = x.elem_type();
                    let mut elems = Elems::with_capacity(ty, x.elements());
                    for i in 0..x.elements() {
                        let (Some(a), Some(b)) = (element(&x, i), element(&y, i)) else {
                            return Err(internal("rows of different shapes"));
                        };
                        elems.push(super::scalars::total(eval_binop(*op, a, b), ty)?);
                    }
                    match x {
                        Value::Prim(_) => elems.get(0).map(Value::Prim),
                        Value::Array(x) => Array::new(x.shape(), elems).map(Value::Array),
                    }
                    .ok_or_else(|| internal("a row of another shape"))
                });
                both.collect()
            }
        }
    }
}

/// What is left after indexing so many dimensions. A row is copied, so that the array it comes from can change in place.
fn row(array: &Array, shape: &[usize], rank: usize, at: usize) -> Fallible<Value> {
    let missing = || internal("an index misses the array");
    if rank > shape.len() {
        return Err(missing());
    }
    match array.at(rank, at).ok_or_else(missing)? {
        Value::Array(row) => Ok(Value::Array(row.deep_copy())),
        prim @ Value::Prim(_) => Ok(prim),
    }
}

fn filled(prim: Prim, shape: &[usize]) -> Fallible<Value> {
    if shape.is_empty() {
        return Ok(Value::Prim(prim));
    }
    Array::filled(shape, prim).map(Value::Array).ok_or_else(|| internal("a row is too large"))
}

fn write_slice(result: &mut Array, axis: usize, j: usize, total: &Value) -> Fallible<()> {
    let mut shape = result.shape().to_vec();
    shape.remove(axis);
    if shape != total.shape() {
        return Err(internal("a scan whose operator gives another shape"));
    }
    let steps = strides(result.shape());
    for (i, index) in indices(&shape).enumerate() {
        let (outer, inner) = index.split_at(axis);
        let at = outer.iter().chain(&[j]).chain(inner).zip(&steps).map(|(i, step)| i * step).sum();
        if !element(total, i).is_some_and(|prim| result.set(at, prim)) {
            return Err(internal("a scan whose operator gives another type"));
        }
    }
    Ok(())
}
