//! Sums of products of two arrays.

use std::ops::{Add, Mul};

use crate::exp::Triangle;
use crate::value::{Array, Elems, Shape, elements_of};

use super::arrays::Positions;
use super::code::{Operand, Slot};
use super::error::{Fallible, fault, internal};
use super::exec::{Frame, Machine};
use super::parallel::levels;

impl Machine<'_> {
    pub(super) fn contract(
        &mut self,
        frame: &mut Frame,
        (sizes, rank): (&[Operand], usize),
        left: &(Operand, Vec<usize>),
        right: &(Operand, Vec<usize>),
        plus: Option<Operand>,
        triangles: &[Triangle],
    ) -> Fallible<Slot> {
        let sizes = self.shape(frame, sizes, "a dimension")?;
        let (Some(shape), Some(summed)) = (sizes.get(..rank), sizes.get(rank..)) else {
            return Err(internal("a contraction with more axes in its result than it has"));
        };
        let (x, y) = (self.array(frame, left.0)?, self.array(frame, right.0)?);
        let too_large = || fault("a contraction is too large");
        let elements = elements_of(shape).ok_or_else(too_large)?;
        let depth = elements_of(summed).ok_or_else(too_large)?;
        self.reserve(elements, x.elem_type())?;
        self.work += (elements as u64).saturating_mul(2 * depth as u64 + 1);
        self.span += 2 + levels(depth);
        let (x_dims, y_dims) = (strides(&x, &left.1, &sizes)?, strides(&y, &right.1, &sizes)?);
        let mut elems = Elems::with_capacity(x.elem_type(), elements);
        let (x_elems, x_part) = x.elems();
        let (y_elems, y_part) = y.elems();
        let starts = Positions::new(0, x_dims[..rank].into()).zip(Positions::new(0, y_dims[..rank].into()));
        let mut triangles: Vec<_> = triangles.iter().map(|t| inside(*t, &sizes)).collect();
        for (x_start, y_start) in starts {
            self.tick()?;
            let pairs = Positions::new((x_part.start + x_start) as i64, x_dims[rank..].into())
                .zip(Positions::new((y_part.start + y_start) as i64, y_dims[rank..].into()))
                .filter(|_| {
                    triangles.iter_mut().map(Iterator::next).filter(|inside| *inside != Some(true)).count()
                        == 0
                });
            match (&mut elems, x_elems, y_elems) {
                (Elems::F32(sums), Elems::F32(x), Elems::F32(y)) => sums.push(sum(x, y, pairs)),
                (Elems::F64(sums), Elems::F64(x), Elems::F64(y)) => sums.push(sum(x, y, pairs)),
                _ => return Err(internal("a contraction of other elements than floats")),
            }
        }
        if let Some(plus) = plus {
            let start = self.array(frame, plus)?;
            let (start, part) = start.elems();
            match (&mut elems, start) {
                (Elems::F32(sums), Elems::F32(start)) => add(&start[part], sums),
                (Elems::F64(sums), Elems::F64(start)) => add(&start[part], sums),
                _ => return Err(internal("a contraction that is added to other elements")),
            }
        }
        Array::new(shape, elems).map(Slot::Array).ok_or_else(|| internal("a contraction has another size"))
    }
}

fn add<T: Copy + Add<Output = T>>(start: &[T], sums: &mut [T]) {
    sums.iter_mut().zip(start).for_each(|(sum, start)| *sum = *start + *sum);
}

/// Adds in order, from zero.
fn sum<T: Copy + Default + Add<Output = T> + Mul<Output = T>>(
    x: &[T],
    y: &[T],
    pairs: impl Iterator<Item = (usize, usize)>,
) -> T {
    pairs.fold(T::default(), |total, (i, j)| match (x.get(i), y.get(j)) {
        (Some(a), Some(b)) => total + *a * *b,
        _ => total,
    })
}

/// Whether the terms of a contraction are in the triangle, in order.
fn inside(triangle: Triangle, sizes: &Shape) -> impl Iterator<Item = bool> + use<> {
    let start = sizes.get(triangle.low).copied().unwrap_or(0);
    let mut dims: Vec<(usize, i64)> = sizes.iter().map(|n| (*n, 0)).collect();
    for (axis, step) in [(triangle.low, -1), (triangle.high, 1)] {
        if let Some(dim) = dims.get_mut(axis) {
            dim.1 = step;
        }
    }
    Positions::new(start as i64, dims.into()).map(move |place| place >= start)
}

/// For every axis, its size and how far apart its elements are in the array: nothing, if the array does not have it.
fn strides(array: &Array, axes: &[usize], sizes: &Shape) -> Fallible<Vec<(usize, i64)>> {
    let mut strides: Vec<(usize, i64)> = sizes.iter().map(|n| (*n, 0)).collect();
    if axes.len() != array.shape().len() {
        return Err(internal("a contraction of an array of another rank"));
    }
    for (dim, axis) in axes.iter().enumerate() {
        match strides.get_mut(*axis) {
            Some((size, stride)) if *size == array.shape()[dim] => {
                *stride = array.stride_after(dim + 1) as i64;
            }
            _ => return Err(internal("a contraction of an array of another size")),
        }
    }
    Ok(strides)
}
