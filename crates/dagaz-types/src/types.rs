//! Types, sizes and type schemes.

use std::rc::Rc;

use dagaz_syntax::Name;
pub use dagaz_syntax::ast::{Liftedness, PrimType};

use crate::typed::Exp;

/// A value or a size: parameters, local and global variables, size parameters, and unknown sizes. Unique
/// within a whole compilation, the prelude and all files included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// An abstract type or a type parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// The type of the numbers below a size, `idx [n]`: it is made before all others.
pub const IDX: TypeId = TypeId(0);

/// A parametric module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ModId(pub u32);

/// Uniqueness is a flag on the parts that can be arrays: in a parameter type it means "consumed", in a
/// result type "free of aliases", elsewhere nothing.
#[derive(Clone, Debug)]
pub enum Type {
    Prim(PrimType),
    Array {
        unique: bool,
        dim: Size,
        elem: Rc<Type>,
    },
    /// Sorted by field. A tuple has the fields 0, 1, ….
    Record(Rc<[(Name, Type)]>),
    /// Sorted by constructor.
    Sum(Rc<[(Name, Vec<Type>)]>),
    Arrow(Rc<Arrow>),
    /// An abstract type or a type parameter, applied.
    Named {
        unique: bool,
        id: TypeId,
        args: Rc<[TypeArg]>,
    },
    /// A type still to be inferred. Not in finished programs.
    Meta(u32),
}

/// `(param: from) -> to`; `to` may mention `param` in sizes when it is an `i64`.
#[derive(Clone, Debug)]
pub struct Arrow {
    pub param: Option<VarId>,
    pub from: Type,
    pub to: RetType,
}

/// `?[exts].ty`
#[derive(Clone, Debug)]
pub struct RetType {
    pub exts: Vec<VarId>,
    pub ty: Type,
}

#[derive(Clone, Debug)]
pub enum Size {
    Const(i64),
    /// A size parameter, an `i64` variable, or an unknown size.
    Var(VarId),
    /// Any other expression of type `i64`; compared by structure. Only literals, variables,
    /// applications, projections and indexing occur in it.
    Exp(Rc<Exp>),
    /// The elements are numbered by the values of this type: a tuple, a sum or a declared index type. For the numbers
    /// below a size, that size itself stands here.
    Set(Rc<Type>),
    /// A size still to be inferred. Not in finished programs.
    Meta(u32),
}

#[derive(Clone, Debug)]
pub enum TypeArg {
    Size(Size),
    Type(Type),
}

#[derive(Clone, Debug)]
pub struct TypeParam {
    pub name: Name,
    pub kind: TypeParamKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeParamKind {
    Size(VarId),
    Type(TypeId, Liftedness),
}

/// Which types an overloaded intrinsic works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overload {
    Numeric,
    Integral,
    Float,
    Prim,
    /// Integers and `bool`.
    Bits,
    /// Any type without functions in it.
    Equality,
    /// Any type but that of a function, or of what contains one.
    Data,
    /// What the type of the parameter before it is, or is an array of.
    ElementOfPrevious,
}

/// The type of a definition: `forall params. ty`. `overloads` is parallel to `params`, or empty.
#[derive(Clone, Debug)]
pub struct Scheme {
    pub params: Vec<TypeParam>,
    pub overloads: Vec<Option<Overload>>,
    pub ty: Type,
}

fn lift_rank(l: Liftedness) -> u8 {
    match l {
        Liftedness::Unlifted => 0,
        Liftedness::SizeLifted => 1,
        Liftedness::Lifted => 2,
    }
}

/// Whether a type of liftedness `have` may stand where up to `max` is allowed.
pub fn lifts_to(have: Liftedness, max: Liftedness) -> bool {
    lift_rank(have) <= lift_rank(max)
}

pub fn most_lifted(a: Liftedness, b: Liftedness) -> Liftedness {
    if lifts_to(a, b) { b } else { a }
}

/// What a reference is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefKind {
    /// Read and written in order.
    State,
    /// Added to, in any order.
    Accum,
}

/// The types of references, which the compiler provides: `state t` and `accum t`.
#[derive(Clone, Copy, Default, Debug)]
pub struct References {
    pub state: Option<TypeId>,
    pub accum: Option<TypeId>,
}

impl References {
    pub fn kind(&self, id: TypeId) -> Option<RefKind> {
        match Some(id) {
            state if state == self.state => Some(RefKind::State),
            accum if accum == self.accum => Some(RefKind::Accum),
            _ => None,
        }
    }

    /// What a reference refers to.
    pub fn content<'t>(&self, ty: &'t Type) -> Option<(TypeId, &'t Type)> {
        match ty {
            Type::Named { id, args, .. } if self.kind(*id).is_some() => match args.as_ref() {
                [TypeArg::Type(content)] => Some((*id, content)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Type {
    /// A reference to a part of what another reference refers to.
    pub fn reference(id: TypeId, content: Type) -> Type {
        Type::Named { unique: false, id, args: [TypeArg::Type(content)].into() }
    }

    pub const I64: Type = Type::Prim(PrimType::I64);
    pub const BOOL: Type = Type::Prim(PrimType::Bool);

    pub fn record(mut fields: Vec<(Name, Type)>) -> Type {
        fields.sort_by_key(|x| x.0);
        Type::Record(fields.into())
    }

    pub fn tuple(types: impl IntoIterator<Item = Type>) -> Type {
        Type::Record(types.into_iter().enumerate().map(|(i, t)| (Name::tuple_field(i), t)).collect())
    }

    pub fn array(dim: Size, elem: Type) -> Type {
        Type::Array { unique: false, dim, elem: Rc::new(elem) }
    }

    pub fn arrow(param: Option<VarId>, from: Type, to: RetType) -> Type {
        Type::Arrow(Rc::new(Arrow { param, from, to }))
    }
}

impl Size {
    /// The dimension whose elements are numbered by the values of a type.
    pub fn of_index(ty: Type) -> Size {
        match &ty {
            Type::Named { id: IDX, args, .. } => match args.first() {
                Some(TypeArg::Size(size)) => size.clone(),
                _ => Size::Set(Rc::new(ty)),
            },
            _ => Size::Set(Rc::new(ty)),
        }
    }

    /// The type of the values that number the elements of a dimension.
    pub fn index_type(&self) -> Type {
        match self {
            Size::Set(ty) => (**ty).clone(),
            Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => {
                Type::Named { unique: false, id: IDX, args: [TypeArg::Size(self.clone())].into() }
            }
        }
    }
}

impl RetType {
    pub fn plain(ty: Type) -> RetType {
        RetType { exts: Vec::new(), ty }
    }
}
