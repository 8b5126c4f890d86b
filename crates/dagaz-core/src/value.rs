//! Values at run time: scalars, and arrays in row-major order.
//!
//! An array is a contiguous part of a shared buffer, so a row, or a slice along the outermost dimension, is
//! a view without copying. An update happens in place when nobody else holds the buffer.
//!
//! Every buffer is counted while it lives (see [`live`]), so that an interpreter can bound its memory.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use half::f16;
use smallvec::SmallVec;

use crate::argument::Element;
use crate::prim::{Prim, PrimType};

pub type Shape = SmallVec<[usize; 4]>;

#[derive(Clone, Debug)]
pub enum Value {
    Prim(Prim),
    Array(Array),
}

#[derive(Clone, Debug)]
pub struct Array {
    buffer: Arc<Buffer>,
    offset: usize,
    shape: Shape,
}

/// Elements of one type.
#[derive(Clone, Debug)]
pub enum Elems {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F16(Vec<f16>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
}

/// Runs the expression with `$v` bound to the vector, whatever its type.
#[macro_export]
#[doc(hidden)]
macro_rules! with_elems {
    ($elems:expr, $v:ident => $body:expr) => {
        match $elems {
            $crate::value::Elems::I8($v) => $body,
            $crate::value::Elems::I16($v) => $body,
            $crate::value::Elems::I32($v) => $body,
            $crate::value::Elems::I64($v) => $body,
            $crate::value::Elems::U8($v) => $body,
            $crate::value::Elems::U16($v) => $body,
            $crate::value::Elems::U32($v) => $body,
            $crate::value::Elems::U64($v) => $body,
            $crate::value::Elems::F16($v) => $body,
            $crate::value::Elems::F32($v) => $body,
            $crate::value::Elems::F64($v) => $body,
            $crate::value::Elems::Bool($v) => $body,
        }
    };
}

/// Runs the expression with `$a` and `$b` bound to vectors of the same type, or the other one.
macro_rules! with_both {
    ($x:expr, $y:expr, ($a:ident, $b:ident) => $body:expr, else $other:expr) => {
        match ($x, $y) {
            (Elems::I8($a), Elems::I8($b)) => $body,
            (Elems::I16($a), Elems::I16($b)) => $body,
            (Elems::I32($a), Elems::I32($b)) => $body,
            (Elems::I64($a), Elems::I64($b)) => $body,
            (Elems::U8($a), Elems::U8($b)) => $body,
            (Elems::U16($a), Elems::U16($b)) => $body,
            (Elems::U32($a), Elems::U32($b)) => $body,
            (Elems::U64($a), Elems::U64($b)) => $body,
            (Elems::F16($a), Elems::F16($b)) => $body,
            (Elems::F32($a), Elems::F32($b)) => $body,
            (Elems::F64($a), Elems::F64($b)) => $body,
            (Elems::Bool($a), Elems::Bool($b)) => $body,
            _ => $other,
        }
    };
}

/// As [`with_both`], for a vector and a scalar.
macro_rules! with_prim {
    ($x:expr, $y:expr, ($a:ident, $b:ident) => $body:expr, else $other:expr) => {
        match ($x, $y) {
            (Elems::I8($a), Prim::I8($b)) => $body,
            (Elems::I16($a), Prim::I16($b)) => $body,
            (Elems::I32($a), Prim::I32($b)) => $body,
            (Elems::I64($a), Prim::I64($b)) => $body,
            (Elems::U8($a), Prim::U8($b)) => $body,
            (Elems::U16($a), Prim::U16($b)) => $body,
            (Elems::U32($a), Prim::U32($b)) => $body,
            (Elems::U64($a), Prim::U64($b)) => $body,
            (Elems::F16($a), Prim::F16($b)) => $body,
            (Elems::F32($a), Prim::F32($b)) => $body,
            (Elems::F64($a), Prim::F64($b)) => $body,
            (Elems::Bool($a), Prim::Bool($b)) => $body,
            _ => $other,
        }
    };
}

impl Elems {
    pub fn with_capacity(ty: PrimType, n: usize) -> Elems {
        match ty {
            PrimType::I8 => Elems::I8(Vec::with_capacity(n)),
            PrimType::I16 => Elems::I16(Vec::with_capacity(n)),
            PrimType::I32 => Elems::I32(Vec::with_capacity(n)),
            PrimType::I64 => Elems::I64(Vec::with_capacity(n)),
            PrimType::U8 => Elems::U8(Vec::with_capacity(n)),
            PrimType::U16 => Elems::U16(Vec::with_capacity(n)),
            PrimType::U32 => Elems::U32(Vec::with_capacity(n)),
            PrimType::U64 => Elems::U64(Vec::with_capacity(n)),
            PrimType::F16 => Elems::F16(Vec::with_capacity(n)),
            PrimType::F32 => Elems::F32(Vec::with_capacity(n)),
            PrimType::F64 => Elems::F64(Vec::with_capacity(n)),
            PrimType::Bool => Elems::Bool(Vec::with_capacity(n)),
        }
    }

    /// `n` times the same scalar.
    pub fn filled(prim: Prim, n: usize) -> Elems {
        match prim {
            Prim::I8(x) => Elems::I8(vec![x; n]),
            Prim::I16(x) => Elems::I16(vec![x; n]),
            Prim::I32(x) => Elems::I32(vec![x; n]),
            Prim::I64(x) => Elems::I64(vec![x; n]),
            Prim::U8(x) => Elems::U8(vec![x; n]),
            Prim::U16(x) => Elems::U16(vec![x; n]),
            Prim::U32(x) => Elems::U32(vec![x; n]),
            Prim::U64(x) => Elems::U64(vec![x; n]),
            Prim::F16(x) => Elems::F16(vec![x; n]),
            Prim::F32(x) => Elems::F32(vec![x; n]),
            Prim::F64(x) => Elems::F64(vec![x; n]),
            Prim::Bool(x) => Elems::Bool(vec![x; n]),
        }
    }

    pub fn ty(&self) -> PrimType {
        match self {
            Elems::I8(_) => PrimType::I8,
            Elems::I16(_) => PrimType::I16,
            Elems::I32(_) => PrimType::I32,
            Elems::I64(_) => PrimType::I64,
            Elems::U8(_) => PrimType::U8,
            Elems::U16(_) => PrimType::U16,
            Elems::U32(_) => PrimType::U32,
            Elems::U64(_) => PrimType::U64,
            Elems::F16(_) => PrimType::F16,
            Elems::F32(_) => PrimType::F32,
            Elems::F64(_) => PrimType::F64,
            Elems::Bool(_) => PrimType::Bool,
        }
    }

    pub fn len(&self) -> usize {
        with_elems!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, i: usize) -> Option<Prim> {
        match self {
            Elems::I8(v) => v.get(i).map(|x| Prim::I8(*x)),
            Elems::I16(v) => v.get(i).map(|x| Prim::I16(*x)),
            Elems::I32(v) => v.get(i).map(|x| Prim::I32(*x)),
            Elems::I64(v) => v.get(i).map(|x| Prim::I64(*x)),
            Elems::U8(v) => v.get(i).map(|x| Prim::U8(*x)),
            Elems::U16(v) => v.get(i).map(|x| Prim::U16(*x)),
            Elems::U32(v) => v.get(i).map(|x| Prim::U32(*x)),
            Elems::U64(v) => v.get(i).map(|x| Prim::U64(*x)),
            Elems::F16(v) => v.get(i).map(|x| Prim::F16(*x)),
            Elems::F32(v) => v.get(i).map(|x| Prim::F32(*x)),
            Elems::F64(v) => v.get(i).map(|x| Prim::F64(*x)),
            Elems::Bool(v) => v.get(i).map(|x| Prim::Bool(*x)),
        }
    }

    /// Appends a scalar; false if it has another type.
    #[inline]
    pub fn push(&mut self, prim: Prim) -> bool {
        with_prim!(self, prim, (v, x) => {
            v.push(x);
            true
        }, else false)
    }

    /// Overwrites one element; false if it has another type or does not exist.
    pub fn set(&mut self, i: usize, prim: Prim) -> bool {
        with_prim!(self, prim, (v, x) => match v.get_mut(i) {
            Some(place) => {
                *place = x;
                true
            }
            None => false,
        }, else false)
    }

    /// Appends a part of others of the same type; false otherwise.
    pub fn extend_from(&mut self, other: &Elems, from: usize, len: usize) -> bool {
        with_both!(self, other, (v, w) => match w.get(from..from + len) {
            Some(part) => {
                v.extend_from_slice(part);
                true
            }
            None => false,
        }, else false)
    }

    /// Overwrites a part with a part of others of the same type; false otherwise.
    pub fn copy_from(&mut self, at: usize, other: &Elems, from: usize, len: usize) -> bool {
        with_both!(self, other, (v, w) => match (v.get_mut(at..at + len), w.get(from..from + len)) {
            (Some(place), Some(part)) => {
                place.copy_from_slice(part);
                true
            }
            _ => false,
        }, else false)
    }

    fn part(&self, from: usize, len: usize) -> Elems {
        let mut part = Elems::with_capacity(self.ty(), len);
        part.extend_from(self, from, len);
        part
    }
}

thread_local! {
    static LIVE: Cell<Live> = const { Cell::new(Live { elements: 0, bytes: 0, peak_elements: 0 }) };
}

/// How much the buffers made on this thread hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live {
    pub elements: i64,
    pub bytes: i64,
    /// The greatest `elements` since the last [`reset_peak`].
    pub peak_elements: i64,
}

/// What lives now.
pub fn live() -> Live {
    LIVE.with(Cell::get)
}

/// Starts a new measurement of the peak.
pub fn reset_peak() {
    LIVE.with(|cell| {
        let live = cell.get();
        cell.set(Live { peak_elements: live.elements, ..live });
    });
}

fn count(elements: i64, bytes: i64) {
    // A buffer can be dropped while its thread ends and the counter is gone, which then does not matter.
    let _ = LIVE.try_with(|cell| {
        let mut live = cell.get();
        live.elements += elements;
        live.bytes += bytes;
        live.peak_elements = live.peak_elements.max(live.elements);
        cell.set(live);
    });
}

/// Elements that are counted as long as they live.
#[derive(Debug)]
struct Buffer {
    elems: Elems,
}

impl Buffer {
    fn new(elems: Elems) -> Buffer {
        let n = elems.len() as i64;
        count(n, n * elems.ty().bytes() as i64);
        Buffer { elems }
    }

    /// The elements, which are not counted any more.
    fn take(&mut self) -> Elems {
        let n = self.elems.len() as i64;
        count(-n, -n * self.elems.ty().bytes() as i64);
        std::mem::replace(&mut self.elems, Elems::Bool(Vec::new()))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let n = self.elems.len() as i64;
        count(-n, -n * self.elems.ty().bytes() as i64);
    }
}

/// The number of elements of a shape, unless it cannot be represented.
pub fn elements_of(shape: &[usize]) -> Option<usize> {
    let mut nonzero = 1usize;
    let mut any_zero = false;
    for &d in shape {
        any_zero |= d == 0;
        nonzero = nonzero.checked_mul(d.max(1))?;
    }
    Some(if any_zero { 0 } else { nonzero })
}

impl Array {
    /// `None` if the number of elements is not that of the shape.
    pub fn new(shape: &[usize], elems: Elems) -> Option<Array> {
        (elements_of(shape)? == elems.len()).then(|| Array {
            buffer: Arc::new(Buffer::new(elems)),
            offset: 0,
            shape: Shape::from_slice(shape),
        })
    }

    /// The elements as a vector of a Rust type; none if they are of another type. They are not copied if nobody else has them.
    pub fn into_vec<T: Element>(mut self) -> Option<Vec<T>> {
        let part = self.offset..self.offset + self.len();
        match Arc::get_mut(&mut self.buffer) {
            Some(buffer) => T::of_elems(Cow::Owned(buffer.take()), part),
            None => T::of_elems(Cow::Borrowed(&self.buffer.elems), part),
        }
    }

    pub fn filled(shape: &[usize], prim: Prim) -> Option<Array> {
        Array::new(shape, Elems::filled(prim, elements_of(shape)?))
    }

    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn elem_type(&self) -> PrimType {
        self.buffer.elems.ty()
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the outermost dimension.
    pub fn outer(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// The number of elements of what is left after indexing `n` dimensions.
    #[inline]
    pub fn stride_after(&self, n: usize) -> usize {
        self.shape.iter().skip(n).product()
    }

    /// The element at a position in row-major order.
    #[inline]
    pub fn get(&self, i: usize) -> Option<Prim> {
        if i < self.len() { self.buffer.elems.get(self.offset + i) } else { None }
    }

    pub fn prims(&self) -> impl Iterator<Item = Prim> + '_ {
        (0..self.len()).filter_map(|i| self.buffer.elems.get(self.offset + i))
    }

    /// All elements, with the part of them that belongs to this array.
    pub fn elems(&self) -> (&Elems, std::ops::Range<usize>) {
        (&self.buffer.elems, self.offset..self.offset + self.len())
    }

    /// What is left after indexing `n` dimensions, at the given element offset: an element or a view.
    #[inline]
    pub fn at(&self, n: usize, offset: usize) -> Option<Value> {
        if n == self.shape.len() {
            return self.get(offset).map(Value::Prim);
        }
        let shape = Shape::from_slice(self.shape.get(n..)?);
        let len: usize = shape.iter().product();
        (offset + len <= self.len()).then(|| {
            Value::Array(Array { buffer: Arc::clone(&self.buffer), offset: self.offset + offset, shape })
        })
    }

    /// Row `i` of the outermost dimension.
    #[inline]
    pub fn row(&self, i: usize) -> Option<Value> {
        if let [size] = self.shape.as_slice() {
            return if i < *size { self.buffer.elems.get(self.offset + i).map(Value::Prim) } else { None };
        }
        if i < self.outer() { self.at(1, i * self.stride_after(1)) } else { None }
    }

    /// Rows `from..from + len`, as a view.
    pub fn rows(&self, from: usize, len: usize) -> Option<Array> {
        if from.checked_add(len)? > self.outer() {
            return None;
        }
        let mut shape = self.shape.clone();
        *shape.first_mut()? = len;
        let offset = self.offset + from * self.stride_after(1);
        Some(Array { buffer: Arc::clone(&self.buffer), offset, shape })
    }

    /// The same elements under another shape; `None` if that has another number of elements.
    pub fn reshaped(mut self, shape: &[usize]) -> Option<Array> {
        if elements_of(shape)? != self.len() {
            return None;
        }
        self.shape = Shape::from_slice(shape);
        Some(self)
    }

    /// An array that shares nothing.
    pub fn deep_copy(&self) -> Array {
        let elems = self.buffer.elems.part(self.offset, self.len());
        Array { buffer: Arc::new(Buffer::new(elems)), offset: 0, shape: self.shape.clone() }
    }

    /// Whether an update would happen in place.
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.buffer) == 1
    }

    /// The elements, copied first if they are shared, and where this array begins in them.
    fn elems_mut(&mut self) -> (&mut Elems, usize) {
        if Arc::get_mut(&mut self.buffer).is_none() {
            *self = self.deep_copy();
        }
        let offset = self.offset;
        match Arc::get_mut(&mut self.buffer) {
            Some(buffer) => (&mut buffer.elems, offset),
            None => unreachable!("a buffer that was just copied has one owner"),
        }
    }

    /// Overwrites one element, given by position; false if it has another type or does not exist.
    pub fn set(&mut self, i: usize, prim: Prim) -> bool {
        if i >= self.len() {
            return false;
        }
        let (elems, offset) = self.elems_mut();
        elems.set(offset + i, prim)
    }

    /// Overwrites elements from a position on with all of `value`; false if the type differs or they
    /// do not fit.
    pub fn write(&mut self, at: usize, value: &Value) -> bool {
        match value {
            Value::Prim(prim) => self.set(at, *prim),
            Value::Array(source) => {
                let len = source.len();
                if at + len > self.len() {
                    return false;
                }
                let (elems, offset) = self.elems_mut();
                elems.copy_from(offset + at, &source.buffer.elems, source.offset, len)
            }
        }
    }

    /// The elements at the given positions, in order.
    pub fn gather(&self, shape: &[usize], positions: impl Iterator<Item = usize>) -> Option<Array> {
        let elems = match &self.buffer.elems {
            Elems::I8(v) => Elems::I8(self.pick(v, positions)?),
            Elems::I16(v) => Elems::I16(self.pick(v, positions)?),
            Elems::I32(v) => Elems::I32(self.pick(v, positions)?),
            Elems::I64(v) => Elems::I64(self.pick(v, positions)?),
            Elems::U8(v) => Elems::U8(self.pick(v, positions)?),
            Elems::U16(v) => Elems::U16(self.pick(v, positions)?),
            Elems::U32(v) => Elems::U32(self.pick(v, positions)?),
            Elems::U64(v) => Elems::U64(self.pick(v, positions)?),
            Elems::F16(v) => Elems::F16(self.pick(v, positions)?),
            Elems::F32(v) => Elems::F32(self.pick(v, positions)?),
            Elems::F64(v) => Elems::F64(self.pick(v, positions)?),
            Elems::Bool(v) => Elems::Bool(self.pick(v, positions)?),
        };
        Array::new(shape, elems)
    }

    fn pick<T: Copy>(&self, all: &[T], positions: impl Iterator<Item = usize>) -> Option<Vec<T>> {
        let own = all.get(self.offset..self.offset + self.len())?;
        positions.map(|i| own.get(i).copied()).collect()
    }
}

impl Value {
    pub fn elem_type(&self) -> PrimType {
        match self {
            Value::Prim(prim) => prim.ty(),
            Value::Array(array) => array.elem_type(),
        }
    }

    /// Empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        match self {
            Value::Prim(_) => &[],
            Value::Array(array) => array.shape(),
        }
    }

    /// The number of scalars in it.
    pub fn elements(&self) -> usize {
        match self {
            Value::Prim(_) => 1,
            Value::Array(array) => array.len(),
        }
    }

    pub fn as_prim(&self) -> Option<Prim> {
        match self {
            Value::Prim(prim) => Some(*prim),
            Value::Array(_) => None,
        }
    }

    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Prim(_) => None,
            Value::Array(array) => Some(array),
        }
    }

    /// A vector of scalars.
    pub fn vector(elems: Elems) -> Value {
        let shape = Shape::from_slice(&[elems.len()]);
        Value::Array(Array { buffer: Arc::new(Buffer::new(elems)), offset: 0, shape })
    }

    /// As the user reads a type: `[3][4]f64`.
    pub fn type_text(&self) -> String {
        let dims: String = self.shape().iter().map(|d| format!("[{d}]")).collect();
        format!("{dims}{}", self.elem_type())
    }
}

impl From<Prim> for Value {
    fn from(prim: Prim) -> Value {
        Value::Prim(prim)
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Value {
        Value::Array(array)
    }
}

/// Equal bit by bit: same type, same shape, same elements.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Prim(x), Value::Prim(y)) => x == y,
            (Value::Array(x), Value::Array(y)) => {
                x.elem_type() == y.elem_type() && x.shape() == y.shape() && x.prims().eq(y.prims())
            }
            (Value::Prim(_), Value::Array(_)) | (Value::Array(_), Value::Prim(_)) => false,
        }
    }
}
