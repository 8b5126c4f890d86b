//! What callers hand to entry points: scalars, and arrays that may stay theirs.

use std::borrow::Cow;
use std::ops::Range;

use half::f16;

use crate::prim::{Prim, PrimType};
use crate::value::{Array, Elems, Shape, Value};

/// A scalar or an array. Nothing is copied to make one.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    Prim(Prim),
    Array(Array),
    /// An array in row-major order that is somebody else's. There are as many elements as the shape says.
    Borrowed(Borrowed<'a>),
}

/// An array in row-major order that is somebody else's.
#[derive(Clone, Debug)]
pub struct Borrowed<'a> {
    shape: Shape,
    elems: Slice<'a>,
}

macro_rules! slices {
    ($($name:ident $ty:ty),*) => {
        /// Elements of one type.
        #[derive(Clone, Copy, Debug)]
        pub enum Slice<'a> {
            $($name(&'a [$ty]),)*
        }

        impl<'a> Slice<'a> {
            pub fn ty(self) -> PrimType {
                match self {
                    $(Slice::$name(_) => PrimType::$name,)*
                }
            }

            fn len(self) -> usize {
                match self {
                    $(Slice::$name(all) => all.len(),)*
                }
            }

            fn part(all: &'a Elems, part: Range<usize>) -> Slice<'a> {
                match all {
                    $(Elems::$name(all) => Slice::$name(&all[part]),)*
                }
            }

            /// A copy.
            pub fn to_elems(self) -> Elems {
                match self {
                    $(Slice::$name(all) => Elems::$name(all.to_vec()),)*
                }
            }

            /// The address of the first element.
            pub fn address(self) -> *const u8 {
                match self {
                    $(Slice::$name(all) => all.as_ptr().cast(),)*
                }
            }
        }

        $(impl Element for $ty {
            const TYPE: PrimType = PrimType::$name;

            fn slice(all: &[$ty]) -> Slice<'_> {
                Slice::$name(all)
            }

            fn prim(self) -> Prim {
                Prim::$name(self)
            }

            fn of_prim(prim: Prim) -> Option<$ty> {
                match prim {
                    Prim::$name(x) => Some(x),
                    _ => None,
                }
            }

            fn of_elems(elems: Cow<'_, Elems>, part: Range<usize>) -> Option<Vec<$ty>> {
                match elems {
                    Cow::Owned(Elems::$name(all)) if part == (0..all.len()) => Some(all),
                    Cow::Owned(Elems::$name(all)) => all.get(part).map(<[$ty]>::to_vec),
                    Cow::Borrowed(Elems::$name(all)) => all.get(part).map(<[$ty]>::to_vec),
                    _ => None,
                }
            }
        })*
    };
}

/// A Rust type that is a type of scalars.
pub trait Element: Copy + Send + Sync + 'static {
    const TYPE: PrimType;

    fn slice(all: &[Self]) -> Slice<'_>;

    fn prim(self) -> Prim;

    /// None if the scalar is of another type.
    fn of_prim(prim: Prim) -> Option<Self>;

    /// A part of some elements; none if they are of another type. All of what is owned is not copied.
    fn of_elems(elems: Cow<'_, Elems>, part: Range<usize>) -> Option<Vec<Self>>;
}

slices!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, F32 f32, F64 f64, Bool bool);

impl<'a> Argument<'a> {
    /// An array of somebody else's elements. None unless there are as many as the shape says.
    pub fn borrowed<T: Element>(shape: &[usize], elems: &'a [T]) -> Option<Argument<'a>> {
        let fits = crate::value::elements_of(shape) == Some(elems.len());
        fits.then(|| Argument::Borrowed(Borrowed { shape: Shape::from_slice(shape), elems: T::slice(elems) }))
    }

    pub fn shape(&self) -> &[usize] {
        match self {
            Argument::Prim(_) => &[],
            Argument::Array(array) => array.shape(),
            Argument::Borrowed(Borrowed { shape, .. }) => shape,
        }
    }

    pub fn elem_type(&self) -> PrimType {
        match self {
            Argument::Prim(prim) => prim.ty(),
            Argument::Array(array) => array.elem_type(),
            Argument::Borrowed(Borrowed { elems, .. }) => elems.ty(),
        }
    }

    pub fn as_prim(&self) -> Option<Prim> {
        match self {
            Argument::Prim(prim) => Some(*prim),
            Argument::Array(_) | Argument::Borrowed(_) => None,
        }
    }

    /// The elements of an array.
    pub fn elems(&self) -> Option<Slice<'_>> {
        match self {
            Argument::Prim(_) => None,
            Argument::Array(array) => {
                let (elems, part) = array.elems();
                Some(Slice::part(elems, part))
            }
            Argument::Borrowed(Borrowed { elems, .. }) => Some(*elems),
        }
    }

    /// How many bytes the elements of an array take.
    pub fn bytes(&self) -> usize {
        self.elems().map_or(0, |elems| elems.len() * elems.ty().bytes())
    }

    /// How the type would be written: `[2][3]f64`.
    pub fn type_text(&self) -> String {
        let dims: String = self.shape().iter().map(|d| format!("[{d}]")).collect();
        format!("{dims}{}", self.elem_type())
    }

    /// A value of its own, for which somebody else's elements are copied.
    pub fn into_value(self) -> Value {
        match self {
            Argument::Prim(prim) => Value::Prim(prim),
            Argument::Array(array) => Value::Array(array),
            Argument::Borrowed(Borrowed { shape, elems }) => {
                let elems = elems.to_elems();
                // There are as many elements as the shape says, so the second case does not happen.
                Array::new(&shape, elems).map_or(Value::Prim(Prim::Bool(false)), Value::Array)
            }
        }
    }
}

impl From<Value> for Argument<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Prim(prim) => Argument::Prim(prim),
            Value::Array(array) => Argument::Array(array),
        }
    }
}

impl From<Prim> for Argument<'_> {
    fn from(prim: Prim) -> Self {
        Argument::Prim(prim)
    }
}
