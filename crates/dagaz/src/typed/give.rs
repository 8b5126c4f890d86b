//! What calls can be given: references, views, slices and owned values.

use dagaz_core::argument::{Argument, Element};
use dagaz_core::value::{Array as Owned, Value};
use half::f16;
use ndarray::{Array, ArrayView, ArrayViewMut, Dimension, Ix1};

/// Something that a call can be given for a parameter of the type `T`.
pub trait Give<T> {
    /// Adds the values that it consists of. Elements in row-major order are not copied.
    fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>);
}

impl<T, G: Give<T> + ?Sized> Give<T> for &G {
    fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
        (**self).give(to);
    }
}

macro_rules! scalars {
    ($($ty:ty),*) => {
        $(impl Give<$ty> for $ty {
            fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
                to.push(self.prim().into());
            }
        })*
    };
}

scalars!(i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bool);

impl<T: Element, D: Dimension> Give<Array<T, D>> for Array<T, D> {
    fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
        to.push(array(self.view()));
    }
}

impl<T: Element, D: Dimension> Give<Array<T, D>> for ArrayView<'_, T, D> {
    fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
        to.push(array(self.view()));
    }
}

impl<T: Element, D: Dimension> Give<Array<T, D>> for ArrayViewMut<'_, T, D> {
    fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
        to.push(array(self.view()));
    }
}

fn array<T: Element, D: Dimension>(view: ArrayView<'_, T, D>) -> Argument<'_> {
    let borrowed = view.to_slice().and_then(|elems| Argument::borrowed(view.shape(), elems));
    borrowed.unwrap_or_else(|| owned(view.shape(), view.iter().copied().collect()))
}

fn owned<T: Element>(shape: &[usize], elems: Vec<T>) -> Argument<'static> {
    let value = Owned::new(shape, T::slice(&elems).to_elems()).map(Value::Array);
    // A view has as many elements as its shape says.
    value.map_or(Argument::Prim(false.prim()), Argument::from)
}

macro_rules! slices {
    ($($target:ty),*) => {
        $(
            impl<T: Element> Give<$target> for [T] {
                fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
                    to.extend(Argument::borrowed(&[self.len()], self));
                }
            }

            impl<T: Element, const N: usize> Give<$target> for [T; N] {
                fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
                    to.extend(Argument::borrowed(&[N], self));
                }
            }

            impl<T: Element> Give<$target> for Vec<T> {
                fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
                    to.extend(Argument::borrowed(&[self.len()], self));
                }
            }
        )*
    };
}

slices!(Vec<T>, Array<T, Ix1>);

macro_rules! tuples {
    ($($($name:ident $given:ident $number:tt),*;)*) => {
        $(impl<$($name, $given: Give<$name>),*> Give<($($name,)*)> for ($($given,)*) {
            fn give<'a>(&'a self, to: &mut Vec<Argument<'a>>) {
                $(self.$number.give(to);)*
            }
        })*
    };
}

tuples! {
    A X 0, B Y 1;
    A X 0, B Y 1, C Z 2;
    A X 0, B Y 1, C Z 2, D U 3;
    A X 0, B Y 1, C Z 2, D U 3, E V 4;
    A X 0, B Y 1, C Z 2, D U 3, E V 4, F W 5;
}
