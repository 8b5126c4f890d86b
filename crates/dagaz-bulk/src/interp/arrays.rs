//! Operations that move elements.

use dagaz_core::exp::AxesOf;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::prim_eval::eval_binop;
use dagaz_core::types::Atom;
use dagaz_core::value::{Array, Elems, Value, elements_of};

use crate::term::{Op, Span};

use super::{Fallible, Frame, Machine, internal};

/// How far apart elements along each dimension are, in row-major order.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|i| shape[i + 1..].iter().product()).collect()
}

/// Every index of an array of the shape, in row-major order.
pub(super) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.to_vec();
    let count = elements_of(&shape).unwrap_or(0);
    (0..count).map(move |mut at| {
        let mut index = vec![0; shape.len()];
        for (i, size) in index.iter_mut().zip(&shape).rev() {
            *i = at % size;
            at /= size;
        }
        index
    })
}

/// An array of elements by their index; what is not there is zero.
fn build(
    machine: &Machine<'_>,
    shape: &[usize],
    ty: PrimType,
    mut at: impl FnMut(&[usize]) -> Option<Prim>,
) -> Fallible<Value> {
    let mut elems = Elems::with_capacity(ty, machine.reserve(shape, ty)?);
    for index in indices(shape) {
        if !elems.push(at(&index).unwrap_or(Prim::zero(ty))) {
            return Err(internal("an element of another type"));
        }
    }
    match shape {
        [] => elems.get(0).map(Value::Prim).ok_or_else(|| internal("a scalar is missing")),
        _ => Array::new(shape, elems).map(Value::Array).ok_or_else(|| internal("a shape is too large")),
    }
}

pub(super) fn element(value: &Value, offset: usize) -> Option<Prim> {
    match value {
        Value::Prim(prim) => Some(*prim),
        Value::Array(array) => array.get(offset),
    }
}

/// The offset of an index; none outside of the array.
pub(super) fn offset(shape: &[usize], index: impl IntoIterator<Item = i64>) -> Option<usize> {
    let mut offset = 0;
    for (i, size) in index.into_iter().zip(shape) {
        let i = usize::try_from(i).ok().filter(|i| i < size)?;
        offset = offset * size + i;
    }
    Some(offset)
}

/// The part of an array that a slice names, evaluated.
struct Part {
    start: i64,
    len: usize,
    stride: i64,
}

impl Machine<'_> {
    /// Operations that give one value and run nothing inside.
    pub(super) fn array_op(&self, frame: &Frame, op: &Op) -> Fallible<Value> {
        if let Some(value) = self.elementwise(frame, op) {
            return value;
        }
        match op {
            Op::Atom(atom) => self.value(frame, *atom),
            Op::Iota { ty, n } => {
                let n = self.size(frame, *n)?;
                build(self, &[n], *ty, |index| Some(Prim::of_i64(*ty, index[0] as i64)))
            }
            Op::Broadcast { dims, axes, value } => self.broadcast(frame, dims, axes, *value),
            Op::Transpose { perm, array } => {
                let array = self.array(frame, *array)?;
                let (old, steps) = (array.shape(), strides(array.shape()));
                if perm.len() != old.len() || perm.iter().any(|p| *p >= old.len()) {
                    return Err(internal("not a permutation of the dimensions"));
                }
                let shape: Vec<usize> = perm.iter().map(|p| old[*p]).collect();
                build(self, &shape, array.elem_type(), |index| {
                    array.get(index.iter().zip(perm).map(|(i, p)| i * steps[*p]).sum())
                })
            }
            Op::Reshape { dims, array } => {
                let (shape, array) = (self.sizes(frame, dims)?, self.array(frame, *array)?);
                let got = array.shape().to_vec();
                let wrong = || internal(format!("an array of shape {got:?} has another size than {shape:?}"));
                array.reshaped(&shape).map(Value::Array).ok_or_else(wrong)
            }
            Op::Slice { array, dims } => self.slice(frame, &self.array(frame, *array)?, dims),
            Op::Update { array, dims, value } => {
                let (array, value) = (self.array(frame, *array)?, self.array(frame, *value)?);
                self.update(frame, array, dims, &value)
            }
            Op::Concat { axis, arrays } => self.concat(*axis, &self.arrays(frame, arrays)?),
            Op::Stack { row, elems } => {
                let rows: Vec<Value> =
                    elems.iter().map(|e| self.value(frame, *e)).collect::<Fallible<_>>()?;
                let mut shape = vec![rows.len()];
                shape.extend(self.sizes(frame, row.dims())?);
                let ty = row.elem().ok_or_else(|| internal("rows that are no values"))?;
                let size: usize = shape[1..].iter().product();
                let steps = strides(&shape[1..]);
                if rows.iter().any(|row| row.elements() != size) {
                    return Err(internal("rows of different shapes"));
                }
                build(self, &shape, ty, |index| {
                    element(&rows[index[0]], index[1..].iter().zip(&steps).map(|(i, s)| i * s).sum())
                })
            }
            Op::Gather { array, indices } => self.gather(frame, &self.array(frame, *array)?, indices),
            Op::Fold { op, ty, axis, array } => self.fold_by(&self.array(frame, *array)?, *op, *ty, *axis),
            Op::Dot { sizes, rank, left, right } => self.dot(frame, sizes, *rank, left, right),
            _ => Err(internal("an operation with another number of results")),
        }
    }

    fn broadcast(&self, frame: &Frame, dims: &[Atom], axes: &[usize], value: Atom) -> Fallible<Value> {
        let (shape, value) = (self.sizes(frame, dims)?, self.value(frame, value)?);
        let fits = axes.len() == value.shape().len()
            && axes.iter().zip(value.shape()).all(|(axis, size)| shape.get(*axis) == Some(size));
        if !fits {
            let own = value.shape();
            return Err(internal(format!("a broadcast of shape {own:?} to {shape:?} along {axes:?}")));
        }
        let steps = strides(value.shape());
        build(self, &shape, value.elem_type(), |index| {
            element(&value, axes.iter().zip(&steps).map(|(axis, step)| index[*axis] * step).sum())
        })
    }

    fn parts(&self, frame: &Frame, dims: &[Span], rank: usize) -> Fallible<Vec<Part>> {
        if dims.len() != rank {
            return Err(internal(format!("a slice of {} dimensions of an array with {rank}", dims.len())));
        }
        let part = |span: &Span| {
            let (start, stride) = (self.i64(frame, span.start)?, self.i64(frame, span.stride)?);
            Ok(Part { start, len: self.size(frame, span.len)?, stride })
        };
        dims.iter().map(part).collect()
    }

    fn slice(&self, frame: &Frame, array: &Array, dims: &[Span]) -> Fallible<Value> {
        let parts = self.parts(frame, dims, array.shape().len())?;
        let shape: Vec<usize> = parts.iter().map(|part| part.len).collect();
        build(self, &shape, array.elem_type(), |index| {
            let index = index.iter().zip(&parts).map(place);
            array.get(offset(array.shape(), index)?)
        })
    }

    fn update(&self, frame: &Frame, mut array: Array, dims: &[Span], value: &Array) -> Fallible<Value> {
        let parts = self.parts(frame, dims, array.shape().len())?;
        let shape: Vec<usize> = parts.iter().map(|part| part.len).collect();
        if shape != value.shape() || array.elem_type() != value.elem_type() {
            return Err(internal(format!("an update of shape {shape:?} by {:?}", value.shape())));
        }
        for (index, prim) in indices(&shape).zip(value.prims()) {
            if let Some(at) = offset(array.shape(), index.iter().zip(&parts).map(place)) {
                array.set(at, prim);
            }
        }
        Ok(Value::Array(array))
    }

    fn concat(&self, axis: usize, arrays: &[Array]) -> Fallible<Value> {
        let first = arrays.first().ok_or_else(|| internal("a concatenation of nothing"))?;
        let mut shape = first.shape().to_vec();
        let others = |array: &Array| {
            let rest = |shape: &[usize]| [&shape[..axis], &shape[axis + 1..]].concat();
            array.shape().len() == shape.len() && rest(array.shape()) == rest(&shape)
        };
        if axis >= shape.len() || !arrays.iter().all(others) {
            return Err(internal("a concatenation of different shapes"));
        }
        shape[axis] = arrays.iter().map(|array| array.shape()[axis]).sum();
        build(self, &shape, first.elem_type(), |index| {
            let mut index = index.to_vec();
            let array = arrays.iter().find(|array| {
                let size = array.shape()[axis];
                let is_here = index[axis] < size;
                index[axis] -= if is_here { 0 } else { size };
                is_here
            })?;
            array.get(offset(array.shape(), index.into_iter().map(|i| i as i64))?)
        })
    }

    /// The shape that indices have in common, and their values.
    pub(super) fn index_values(&self, frame: &Frame, atoms: &[Atom]) -> Fallible<(Vec<usize>, Vec<Value>)> {
        let values: Vec<Value> = atoms.iter().map(|a| self.value(frame, *a)).collect::<Fallible<_>>()?;
        let shape = values.iter().find_map(Value::as_array).map_or(Vec::new(), |a| a.shape().to_vec());
        if values.iter().any(|v| v.as_array().is_some_and(|a| a.shape() != shape)) {
            return Err(internal("indices of different shapes"));
        }
        Ok((shape, values))
    }

    fn gather(&self, frame: &Frame, array: &Array, atoms: &[Atom]) -> Fallible<Value> {
        let (outer, values) = self.index_values(frame, atoms)?;
        let Some(row) = array.shape().get(values.len()..) else {
            return Err(internal("more indices than dimensions"));
        };
        let (shape, row_size) = ([&outer, row].concat(), row.iter().product::<usize>());
        let (outer_steps, row_steps) = (strides(&outer), strides(row));
        build(self, &shape, array.elem_type(), |index| {
            let (at, rest) = index.split_at(outer.len());
            let at: usize = at.iter().zip(&outer_steps).map(|(i, s)| i * s).sum();
            let index = values.iter().map(|v| element(v, at).and_then(Prim::as_i64).unwrap_or(-1));
            let inner: usize = rest.iter().zip(&row_steps).map(|(i, s)| i * s).sum();
            array.get(offset(array.shape(), index)? * row_size + inner)
        })
    }

    fn fold_by(&self, array: &Array, op: BinOp, ty: PrimType, axis: usize) -> Fallible<Value> {
        let neutral =
            crate::term::neutral(op, ty).ok_or_else(|| internal("a fold without neutral element"))?;
        let mut shape = array.shape().to_vec();
        if axis >= shape.len() {
            return Err(internal("a fold along no axis"));
        }
        let (n, step) = (shape.remove(axis), strides(array.shape())[axis]);
        let mut ill_typed = false;
        let folded = build(self, &shape, ty, |index| {
            let (outer, inner) = index.split_at(axis);
            let index = outer.iter().chain(&[0]).chain(inner).map(|i| *i as i64);
            // The first element may not exist, but then there is nothing to fold.
            let start = offset(array.shape(), index).unwrap_or(0);
            (0..n).try_fold(neutral, |total, i| {
                let next = eval_binop(op, total, array.get(start + i * step)?).ok();
                ill_typed |= next.is_none();
                next
            })
        })?;
        if ill_typed { Err(internal("ill-typed fold")) } else { Ok(folded) }
    }

    fn dot(&self, frame: &Frame, sizes: &[Atom], rank: usize, x: &AxesOf, y: &AxesOf) -> Fallible<Value> {
        let sizes = self.sizes(frame, sizes)?;
        let (Some(shape), Some(summed)) = (sizes.get(..rank), sizes.get(rank..)) else {
            return Err(internal("a product with more axes in its result than it has"));
        };
        let operand = |o: &AxesOf| {
            let array = self.array(frame, o.array)?;
            let fits = array.shape().len() == o.axes.len()
                && array.shape().iter().zip(&o.axes).all(|(n, axis)| sizes.get(*axis) == Some(n));
            if fits { Ok((array, o.axes.clone())) } else { Err(internal("a product of other sizes")) }
        };
        let ((x, x_axes), (y, y_axes)) = (operand(x)?, operand(y)?);
        let (x_steps, y_steps) = (strides(x.shape()), strides(y.shape()));
        let place = |steps: &[usize], axes: &[usize], index: &[usize]| -> usize {
            axes.iter().zip(steps).map(|(axis, step)| index[*axis] * step).sum()
        };
        let ty = x.elem_type();
        build(self, shape, ty, |outer| {
            let mut index = outer.to_vec();
            indices(summed).try_fold(Prim::zero(ty), |total, inner| {
                index.truncate(rank);
                index.extend(inner);
                let (a, b) =
                    (x.get(place(&x_steps, &x_axes, &index))?, y.get(place(&y_steps, &y_axes, &index))?);
                eval_binop(BinOp::Add, total, eval_binop(BinOp::Mul, a, b).ok()?).ok()
            })
        })
    }
}

fn place((i, part): (&usize, &Part)) -> i64 {
    part.start.wrapping_add((*i as i64).wrapping_mul(part.stride))
}
