//! Rust types for parameters and results.

use dagaz_core::argument::Element;
use dagaz_core::exp::{EntryType, OpaqueKind};
use dagaz_core::types::Type;
use dagaz_core::value::Value;
use half::f16;
use ndarray::{Array, Dimension, IxDyn};

/// A Rust type that owns what a parameter or a result holds.
pub trait Data: Sized + 'static {
    /// The type as it is written in Rust.
    fn rust_name() -> String;

    /// Whether it is the type that the program has.
    fn fits(ty: &EntryType) -> bool;

    /// Whether it is what an entry point with these results gives.
    fn fits_results(results: &[EntryType]) -> bool {
        matches!(results, [result] if Self::fits(result))
    }

    /// What a result holds, from its values.
    fn receive(values: &mut dyn Iterator<Item = Value>) -> Option<Self>;
}

macro_rules! scalars {
    ($($ty:ty),*) => {
        $(impl Data for $ty {
            fn rust_name() -> String {
                stringify!($ty).to_owned()
            }

            fn fits(ty: &EntryType) -> bool {
                matches!(ty, EntryType::Value { ty: Type::Prim(ty), .. } if *ty == <$ty as Element>::TYPE)
            }

            fn receive(values: &mut dyn Iterator<Item = Value>) -> Option<$ty> {
                <$ty>::of_prim(values.next()?.as_prim()?)
            }
        })*
    };
}

scalars!(i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bool);

fn is_array<T: Element>(ty: &EntryType, rank: Option<usize>) -> bool {
    match ty {
        EntryType::Value { ty: Type::Array { elem, dims }, .. } => {
            *elem == T::TYPE && rank.is_none_or(|rank| rank == dims.len())
        }
        EntryType::Value { .. } | EntryType::Opaque { .. } => false,
    }
}

impl<T: Element, D: Dimension + 'static> Data for Array<T, D> {
    fn rust_name() -> String {
        match D::NDIM {
            Some(rank) => format!("Array{rank}<{}>", T::TYPE),
            None => format!("ArrayD<{}>", T::TYPE),
        }
    }

    fn fits(ty: &EntryType) -> bool {
        is_array::<T>(ty, D::NDIM)
    }

    fn receive(values: &mut dyn Iterator<Item = Value>) -> Option<Array<T, D>> {
        let Value::Array(array) = values.next()? else { return None };
        let shape = IxDyn(array.shape());
        Array::from_shape_vec(shape, array.into_vec()?).ok()?.into_dimensionality().ok()
    }
}

impl<T: Element> Data for Vec<T> {
    fn rust_name() -> String {
        format!("Vec<{}>", T::TYPE)
    }

    fn fits(ty: &EntryType) -> bool {
        is_array::<T>(ty, Some(1))
    }

    fn receive(values: &mut dyn Iterator<Item = Value>) -> Option<Vec<T>> {
        match values.next()? {
            Value::Array(array) => array.into_vec(),
            Value::Prim(_) => None,
        }
    }
}

/// The fields of a tuple, if a type is one.
fn tuple_fields(ty: &EntryType) -> Option<&[(String, EntryType)]> {
    let EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } = ty else { return None };
    let is_tuple = fields.iter().enumerate().all(|(number, (name, _))| *name == number.to_string());
    is_tuple.then_some(fields)
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $number:tt),*;)*) => {
        $(impl<$($name: Data),*> Data for ($($name,)*) {
            fn rust_name() -> String {
                format!("({})", [$($name::rust_name()),*].join(", "))
            }

            fn fits(ty: &EntryType) -> bool {
                tuple_fields(ty).is_some_and(|fields| fields.len() == $count $(&& $name::fits(&fields[$number].1))*)
            }

            fn fits_results(results: &[EntryType]) -> bool {
                match results {
                    [result] => Self::fits(result),
                    _ => results.len() == $count $(&& $name::fits(&results[$number]))*,
                }
            }

            fn receive(values: &mut dyn Iterator<Item = Value>) -> Option<Self> {
                Some(($($name::receive(values)?,)*))
            }
        })*
    };
}

tuples! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
}

/// An entry point without results.
impl Data for () {
    fn rust_name() -> String {
        "()".to_owned()
    }

    fn fits(ty: &EntryType) -> bool {
        ty.arity() == 0
    }

    fn fits_results(results: &[EntryType]) -> bool {
        results.iter().all(Self::fits)
    }

    fn receive(_: &mut dyn Iterator<Item = Value>) -> Option<()> {
        Some(())
    }
}

/// A field that a struct has.
pub struct RecordField {
    pub name: &'static str,
    pub fits: fn(&EntryType) -> bool,
}

/// Whether a type is a record with these fields, which are in the order of their names.
pub fn is_record(ty: &EntryType, fields: &[RecordField]) -> bool {
    let EntryType::Opaque { kind: OpaqueKind::Record(own), .. } = ty else { return false };
    let mut pairs = own.iter().zip(fields);
    own.len() == fields.len() && pairs.all(|((name, ty), field)| name == field.name && (field.fits)(ty))
}

/// Whether a type is a sum type with these constructors, which hold nothing and are in the order of their names.
pub fn is_enumeration(ty: &EntryType, constructors: &[&str]) -> bool {
    let EntryType::Opaque { kind: OpaqueKind::Sum(own), .. } = ty else { return false };
    let is_constructor =
        |(own, name): (&(String, Vec<EntryType>), &&str)| own.0 == **name && own.1.is_empty();
    own.len() == constructors.len() && own.iter().zip(constructors).all(is_constructor)
}

/// The Rust type for a type of a program, as far as there is one.
pub(super) fn rust_type(ty: &EntryType) -> Option<String> {
    match ty {
        EntryType::Value { ty: Type::Prim(ty), .. } => Some(ty.to_string()),
        EntryType::Value { ty: Type::Array { elem, dims }, .. } => match dims.len() {
            rank @ 1..=6 => Some(format!("Array{rank}<{elem}>")),
            _ => Some(format!("ArrayD<{elem}>")),
        },
        EntryType::Value { ty: Type::Acc { .. }, .. } => None,
        EntryType::Opaque { .. } => {
            let fields = tuple_fields(ty)?.iter().map(|(_, ty)| rust_type(ty)).collect::<Option<Vec<_>>>()?;
            Some(format!("({})", fields.join(", ")))
        }
    }
}
