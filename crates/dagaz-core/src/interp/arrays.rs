//! Operations on whole arrays that run nothing inside.

use smallvec::SmallVec;

use crate::exp::Check;
use crate::prim::{Prim, PrimType};
use crate::value::{Array, Elems, Shape, Value, elements_of};

use super::code::{CodeDim, CodeType, Operand, Slot};
use super::error::{Fallible, fault, internal};
use super::exec::{Frame, Machine};

/// One dimension of a slice, evaluated.
struct Dim {
    start: i64,
    stride: i64,
    len: usize,
    /// A fixed index: the dimension disappears.
    fixed: bool,
}

/// Appends values of equal shape, whatever they are, to one array.
pub(super) struct Collector {
    elems: Elems,
    row: Shape,
    rows: usize,
}

impl Collector {
    pub(super) fn new(ty: PrimType, row: &[usize], rows: usize) -> Collector {
        let capacity = elements_of(row).unwrap_or(0).saturating_mul(rows);
        Collector { elems: Elems::with_capacity(ty, capacity), row: Shape::from_slice(row), rows: 0 }
    }

    pub(super) fn push(&mut self, value: &Slot) -> Fallible<()> {
        self.rows += 1;
        let done = match value {
            Slot::Prim(prim) => self.row.is_empty() && self.elems.push(*prim),
            Slot::Array(array) => {
                if array.shape() != self.row.as_slice() {
                    let (got, wanted) = (array.shape(), self.row.as_slice());
                    return Err(internal(format!("rows of different shapes: {got:?} and {wanted:?}")));
                }
                let (elems, part) = array.elems();
                self.elems.extend_from(elems, part.start, part.len())
            }
            Slot::Acc(_) | Slot::Empty => false,
        };
        if done { Ok(()) } else { Err(internal("a row has another type than the array")) }
    }

    /// Whether scalars of the type can be appended.
    pub(super) fn takes(&self, ty: PrimType) -> bool {
        self.row.is_empty() && self.elems.ty() == ty
    }

    /// Appends scalars.
    pub(super) fn extend(&mut self, elems: &Elems, from: usize, len: usize) -> Fallible<()> {
        self.rows += len;
        if self.elems.extend_from(elems, from, len) {
            Ok(())
        } else {
            Err(internal("elements of another type than the array"))
        }
    }

    pub(super) fn finish(self) -> Fallible<Array> {
        let mut shape = Shape::from_slice(&[self.rows]);
        shape.extend_from_slice(&self.row);
        Array::new(&shape, self.elems).ok_or_else(|| internal("rows do not fill the array"))
    }
}

impl<'c> Machine<'c> {
    /// The element offset of the indices, if they are within bounds.
    fn offset(&self, frame: &Frame, array: &Array, indices: &[Operand]) -> Fallible<Option<usize>> {
        let shape = array.shape();
        if indices.len() > shape.len() {
            return Err(internal("more indices than dimensions"));
        }
        let mut offset = 0usize;
        for (operand, &size) in indices.iter().zip(shape) {
            let i = self.i64(frame, *operand)?;
            if i < 0 || i as usize >= size {
                return Ok(None);
            }
            offset = offset * size + i as usize;
        }
        Ok(Some(offset * array.stride_after(indices.len())))
    }

    /// `Index [4] out of bounds for array of shape [3].`
    fn out_of_bounds(&self, frame: &Frame, array: &Array, indices: &[Operand], check: Check) -> Fallible<()> {
        let mut shown = Vec::new();
        for operand in indices {
            shown.push(self.i64(frame, *operand)?.to_string());
        }
        let shape: String = array.shape().iter().map(|d| format!("[{d}]")).collect();
        let message = format!("Index [{}] out of bounds for array of shape {shape}.", shown.join(", "));
        match check {
            Check::Checked => Err(fault(message)),
            Check::Certified => Err(internal(format!("certified index: {message}"))),
        }
    }

    pub(super) fn index(
        &mut self,
        frame: &mut Frame,
        operand: Operand,
        indices: &[Operand],
        check: Check,
    ) -> Fallible<Slot> {
        self.count(1);
        let array = self.array_ref(frame, operand)?;
        let Some(offset) = self.offset(frame, array, indices)? else {
            self.out_of_bounds(frame, array, indices, check)?;
            return Ok(Slot::Empty);
        };
        let value = array.at(indices.len(), offset).ok_or_else(|| internal("an index misses the array"))?;
        self.release(frame, operand);
        Ok(value.into())
    }

    fn dims(&self, frame: &Frame, dims: &[CodeDim]) -> Fallible<SmallVec<[Dim; 4]>> {
        dims.iter()
            .map(|dim| match dim {
                CodeDim::Fix(i) => Ok(Dim { start: self.i64(frame, *i)?, stride: 1, len: 1, fixed: true }),
                CodeDim::Range { start, len, stride } => Ok(Dim {
                    start: self.i64(frame, *start)?,
                    stride: self.i64(frame, *stride)?,
                    len: self.size(frame, *len, "the length of a slice")?,
                    fixed: false,
                }),
            })
            .collect()
    }

    pub(super) fn slice(&mut self, frame: &mut Frame, operand: Operand, dims: &[CodeDim]) -> Fallible<Slot> {
        let dims = self.dims(frame, dims)?;
        let array = self.array(frame, operand)?;
        check_slice(&array, &dims)?;
        if let Some(view) = contiguous(&array, &dims) {
            self.count(1);
            return Ok(view);
        }
        let shape: Shape =
            dims.iter().filter(|d| !d.fixed).map(|d| d.len).chain(rest(&array, &dims)).collect();
        let elements = elements_of(&shape).ok_or_else(|| fault("a slice is too large"))?;
        self.reserve(elements, array.elem_type())?;
        self.count(elements);
        let positions = slice_positions(&array, &dims);
        let gathered = array.gather(&shape, positions).ok_or_else(|| internal("a slice misses the array"))?;
        Ok(if shape.is_empty() {
            gathered.get(0).map_or(Slot::Empty, Slot::Prim)
        } else {
            Slot::Array(gathered)
        })
    }

    pub(super) fn update(
        &mut self,
        frame: &mut Frame,
        operand: Operand,
        dims: &[CodeDim],
        value: Operand,
    ) -> Fallible<Slot> {
        let dims = self.dims(frame, dims)?;
        let value = self.array(frame, value)?;
        let mut array = self.array(frame, operand)?;
        check_slice(&array, &dims)?;
        let shape: Shape =
            dims.iter().filter(|d| !d.fixed).map(|d| d.len).chain(rest(&array, &dims)).collect();
        if shape.as_slice() != value.shape() || array.elem_type() != value.elem_type() {
            return Err(internal(format!(
                "update of a slice of shape {shape:?} by shape {:?}",
                value.shape()
            )));
        }
        self.count(value.len());
        let positions: Vec<usize> = slice_positions(&array, &dims).collect();
        for (position, prim) in positions.into_iter().zip(value.prims()) {
            array.set(position, prim);
        }
        Ok(Slot::Array(array))
    }

    pub(super) fn update_at(
        &mut self,
        frame: &mut Frame,
        operand: Operand,
        indices: &[Operand],
        value: Operand,
        check: Check,
    ) -> Fallible<Slot> {
        let value = self.read(frame, value).into_value()?;
        let mut array = self.array(frame, operand)?;
        let Some(offset) = self.offset(frame, &array, indices)? else {
            self.out_of_bounds(frame, &array, indices, check)?;
            return Ok(Slot::Empty);
        };
        self.count(value.elements());
        if let Value::Prim(prim) = value
            && array.shape().len() == indices.len()
            && array.set(offset, prim)
        {
            return Ok(Slot::Array(array));
        }
        if array.shape()[indices.len()..] != *value.shape() || !array.write(offset, &value) {
            let (wanted, got) = (&array.shape()[indices.len()..], value.type_text());
            return Err(internal(format!("update of a row of shape {wanted:?} by {got}")));
        }
        Ok(Slot::Array(array))
    }

    pub(super) fn copy(&mut self, frame: &mut Frame, operand: Operand) -> Fallible<Slot> {
        let array = self.array(frame, operand)?;
        self.count(array.len());
        if array.is_unique() {
            return Ok(Slot::Array(array));
        }
        self.reserve(array.len(), array.elem_type())?;
        Ok(Slot::Array(array.deep_copy()))
    }

    pub(super) fn iota(
        &mut self,
        frame: &mut Frame,
        ty: PrimType,
        n: Operand,
        start: Operand,
        step: Operand,
    ) -> Fallible<Slot> {
        let n = self.size(frame, n, "the size of an iota")?;
        let (start, step) = (self.prim(frame, start)?.as_i64(), self.prim(frame, step)?.as_i64());
        let (Some(start), Some(step)) = (start, step) else { return Err(internal("iota of integers only")) };
        self.reserve(n, ty)?;
        self.count(n);
        let numbers = (0..n as i64).map(|i| start.wrapping_add(step.wrapping_mul(i)));
        let elems = match ty {
            PrimType::I8 => Elems::I8(numbers.map(|x| x as i8).collect()),
            PrimType::I16 => Elems::I16(numbers.map(|x| x as i16).collect()),
            PrimType::I32 => Elems::I32(numbers.map(|x| x as i32).collect()),
            PrimType::I64 => Elems::I64(numbers.collect()),
            PrimType::U8 => Elems::U8(numbers.map(|x| x as u8).collect()),
            PrimType::U16 => Elems::U16(numbers.map(|x| x as u16).collect()),
            PrimType::U32 => Elems::U32(numbers.map(|x| x as u32).collect()),
            PrimType::U64 => Elems::U64(numbers.map(|x| x as u64).collect()),
            PrimType::F16 | PrimType::F32 | PrimType::F64 | PrimType::Bool => {
                return Err(internal("iota of integers only"));
            }
        };
        Ok(Value::vector(elems).into())
    }

    pub(super) fn shape(&self, frame: &Frame, dims: &[Operand], what: &str) -> Fallible<Shape> {
        dims.iter().map(|d| self.size(frame, *d, what)).collect()
    }

    pub(super) fn replicate(
        &mut self,
        frame: &mut Frame,
        dims: &[Operand],
        value: Operand,
    ) -> Fallible<Slot> {
        let mut shape = self.shape(frame, dims, "the size of a replicate")?;
        let value = self.read(frame, value).into_value()?;
        let copies = elements_of(&shape).ok_or_else(|| fault("a replicate is too large"))?;
        shape.extend_from_slice(value.shape());
        let elements = elements_of(&shape).ok_or_else(|| fault("a replicate is too large"))?;
        self.reserve(elements, value.elem_type())?;
        self.count(elements);
        let elems = match &value {
            Value::Prim(prim) => Elems::filled(*prim, elements),
            Value::Array(row) => {
                let mut elems = Elems::with_capacity(row.elem_type(), elements);
                let (all, part) = row.elems();
                // With empty rows there may be very many copies of nothing.
                if elements > 0 {
                    (0..copies).for_each(|_| {
                        elems.extend_from(all, part.start, part.len());
                    });
                }
                elems
            }
        };
        Array::new(&shape, elems).map(Slot::Array).ok_or_else(|| internal("replicate has another size"))
    }

    pub(super) fn rearrange(
        &mut self,
        frame: &mut Frame,
        perm: &[usize],
        operand: Operand,
    ) -> Fallible<Slot> {
        let array = self.array(frame, operand)?;
        let old = array.shape();
        let mut sorted: SmallVec<[usize; 4]> = SmallVec::from_slice(perm);
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..old.len()) {
            return Err(internal("not a permutation of the dimensions"));
        }
        self.reserve(array.len(), array.elem_type())?;
        self.count(array.len());
        let shape: Shape = perm.iter().map(|&p| old[p]).collect();
        let dims = perm.iter().map(|&p| (old[p], array.stride_after(p + 1) as i64)).collect();
        let rearranged = array.gather(&shape, Positions::new(0, dims));
        rearranged.map(Slot::Array).ok_or_else(|| internal("rearrange misses the array"))
    }

    pub(super) fn reshape(
        &mut self,
        frame: &mut Frame,
        dims: &[Operand],
        operand: Operand,
    ) -> Fallible<Slot> {
        let shape = self.shape(frame, dims, "a dimension")?;
        let array = self.array(frame, operand)?;
        self.count(1);
        if shape.is_empty() && array.len() == 1 {
            return array.get(0).map(Slot::Prim).ok_or_else(|| internal("an element is missing"));
        }
        let old = Shape::from_slice(array.shape());
        let reshaped = array.reshaped(&shape);
        reshaped.map(Slot::Array).ok_or_else(|| internal(format!("cannot reshape {old:?} to {shape:?}")))
    }

    pub(super) fn concat(&mut self, frame: &mut Frame, operands: &[Operand]) -> Fallible<Slot> {
        let arrays: SmallVec<[Array; 4]> =
            operands.iter().map(|a| self.array(frame, *a)).collect::<Fallible<_>>()?;
        let first = arrays.first().ok_or_else(|| internal("concat of nothing"))?;
        let elements = arrays.iter().map(Array::len).sum();
        self.reserve(elements, first.elem_type())?;
        self.count(elements);
        let mut elems = Elems::with_capacity(first.elem_type(), elements);
        let mut shape = Shape::from_slice(first.shape());
        shape[0] = 0;
        for array in &arrays {
            let (all, part) = array.elems();
            if array.shape()[1..] != shape[1..] || !elems.extend_from(all, part.start, part.len()) {
                return Err(internal("concat of arrays with different rows"));
            }
            shape[0] += array.outer();
        }
        Array::new(&shape, elems).map(Slot::Array).ok_or_else(|| internal("concat has another size"))
    }

    /// Unspecified contents are zeros here.
    pub(super) fn scratch(&mut self, frame: &mut Frame, elem: PrimType, dims: &[Operand]) -> Fallible<Slot> {
        let shape = self.shape(frame, dims, "a dimension")?;
        let elements = elements_of(&shape).ok_or_else(|| fault("an array is too large"))?;
        self.reserve(elements, elem)?;
        self.count(1);
        Array::filled(&shape, Prim::zero(elem)).map(Slot::Array).ok_or_else(|| internal("scratch"))
    }

    pub(super) fn array_lit(
        &mut self,
        frame: &mut Frame,
        row: &CodeType,
        elems: &[Operand],
    ) -> Fallible<Slot> {
        let CodeType::Value(ty, dims) = row else { return Err(internal("an array of accumulators")) };
        let shape = self.shape(frame, dims, "a dimension")?;
        let mut collector = Collector::new(*ty, &shape, elems.len());
        for operand in elems {
            let value = self.read(frame, *operand);
            collector.push(&value)?;
        }
        self.count(elems.len() * elements_of(&shape).unwrap_or(1));
        Ok(Slot::Array(collector.finish()?))
    }
}

/// The dimensions that a slice does not mention.
fn rest<'a>(array: &'a Array, dims: &[Dim]) -> impl Iterator<Item = usize> + 'a {
    array.shape().iter().skip(dims.len()).copied()
}

fn check_slice(array: &Array, dims: &[Dim]) -> Fallible<()> {
    if dims.len() > array.shape().len() {
        return Err(internal("a slice of more dimensions than the array has"));
    }
    for (dim, &size) in dims.iter().zip(array.shape()) {
        let last = (dim.len as i64).checked_sub(1).and_then(|n| n.checked_mul(dim.stride));
        let last = last.and_then(|n| n.checked_add(dim.start));
        let inside = |i: i64| i >= 0 && (i as usize) < size;
        if dim.len > 0 && !(inside(dim.start) && last.is_some_and(inside)) {
            let Dim { start, stride, len, .. } = dim;
            let what = format!("slice from {start} by {stride}, {len} elements");
            return Err(internal(format!("{what}, out of bounds for a dimension of size {size}")));
        }
    }
    Ok(())
}

/// Fixed indices, then at most one range of stride 1, then whole dimensions: a view.
fn contiguous(array: &Array, dims: &[Dim]) -> Option<Slot> {
    let mut current = array.clone();
    let fixed = dims.iter().take_while(|d| d.fixed).count();
    for dim in &dims[..fixed] {
        current = match current.row(usize::try_from(dim.start).ok()?)? {
            Value::Array(row) => row,
            Value::Prim(prim) => return Some(Slot::Prim(prim)),
        };
    }
    let mut ranges = dims[fixed..].iter();
    if let Some(range) = ranges.next() {
        if range.stride != 1 && range.len > 1 {
            return None;
        }
        let whole = ranges.zip(&current.shape()[1..]);
        if whole.into_iter().any(|(d, &size)| d.fixed || d.start != 0 || d.stride != 1 || d.len != size) {
            return None;
        }
        let start = if range.len == 0 { 0 } else { usize::try_from(range.start).ok()? };
        current = current.rows(start, range.len)?;
    }
    Some(Slot::Array(current))
}

/// The positions that a slice selects.
fn slice_positions(array: &Array, dims: &[Dim]) -> Positions {
    let mut base = 0i64;
    let mut strides: SmallVec<[(usize, i64); 4]> = SmallVec::new();
    for (axis, dim) in dims.iter().enumerate() {
        let stride = array.stride_after(axis + 1) as i64;
        base += dim.start * stride;
        strides.push((dim.len, dim.stride * stride));
    }
    for axis in dims.len()..array.shape().len() {
        strides.push((array.shape()[axis], array.stride_after(axis + 1) as i64));
    }
    Positions::new(base, strides)
}

/// The positions of a strided part of an array, in row-major order.
pub(super) struct Positions {
    dims: SmallVec<[(usize, i64); 4]>,
    counter: SmallVec<[usize; 4]>,
    position: i64,
    left: usize,
}

impl Positions {
    pub(super) fn new(base: i64, dims: SmallVec<[(usize, i64); 4]>) -> Positions {
        let left = dims.iter().map(|(n, _)| n).product();
        Positions { counter: SmallVec::from_elem(0, dims.len()), dims, position: base, left }
    }
}

impl Iterator for Positions {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let position = self.position;
        for axis in (0..self.dims.len()).rev() {
            let (size, stride) = self.dims[axis];
            self.counter[axis] += 1;
            self.position += stride;
            if self.counter[axis] < size {
                break;
            }
            self.counter[axis] = 0;
            self.position -= stride * size as i64;
        }
        usize::try_from(position).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
