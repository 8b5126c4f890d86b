//! Types and atoms of Core.

use crate::prim::{Prim, PrimType};

/// A variable. Unique within a program: no variable is bound twice. It prints as a hint and this number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A function of the program: an index into `Program::funs`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunId(pub u32);

/// A constant or a variable: what operations take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    Var(VarId),
    Const(Prim),
}

/// The type of a variable. Every atom in it is an `i64`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Prim(PrimType),
    /// `[d1]…[dn]p`, n ≥ 1.
    Array {
        elem: PrimType,
        dims: Vec<Atom>,
    },
    /// A write-only accumulator of arrays of shape `index_dims` (the part that `+=` indexes) by the rows
    /// `elems`. Used linearly: every `+=` and `map` gives a new one.
    Acc {
        index_dims: Vec<Atom>,
        elems: Vec<Type>,
    },
}

/// A variable where it is bound.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    pub var: VarId,
    pub ty: Type,
}

impl Atom {
    pub fn i64(n: i64) -> Atom {
        Atom::Const(Prim::I64(n))
    }

    pub fn bool(b: bool) -> Atom {
        Atom::Const(Prim::Bool(b))
    }

    pub fn as_var(self) -> Option<VarId> {
        match self {
            Atom::Var(var) => Some(var),
            Atom::Const(_) => None,
        }
    }

    pub fn as_const(self) -> Option<Prim> {
        match self {
            Atom::Var(_) => None,
            Atom::Const(prim) => Some(prim),
        }
    }
}

impl From<VarId> for Atom {
    fn from(var: VarId) -> Atom {
        Atom::Var(var)
    }
}

impl From<Prim> for Atom {
    fn from(prim: Prim) -> Atom {
        Atom::Const(prim)
    }
}

impl Param {
    pub fn new(var: VarId, ty: Type) -> Param {
        Param { var, ty }
    }
}

impl Type {
    pub const I64: Type = Type::Prim(PrimType::I64);
    pub const BOOL: Type = Type::Prim(PrimType::Bool);

    /// `[d1]…[dn]elem`, or the scalar type where there are no dimensions.
    pub fn array(elem: PrimType, dims: Vec<Atom>) -> Type {
        if dims.is_empty() { Type::Prim(elem) } else { Type::Array { elem, dims } }
    }

    /// The dimensions of an array; none for a scalar or an accumulator.
    pub fn dims(&self) -> &[Atom] {
        match self {
            Type::Array { dims, .. } => dims,
            Type::Prim(_) | Type::Acc { .. } => &[],
        }
    }

    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The type of the scalars in it; `None` for an accumulator.
    pub fn elem(&self) -> Option<PrimType> {
        match self {
            Type::Prim(prim) => Some(*prim),
            Type::Array { elem, .. } => Some(*elem),
            Type::Acc { .. } => None,
        }
    }

    pub fn is_acc(&self) -> bool {
        matches!(self, Type::Acc { .. })
    }

    pub fn is_array(&self) -> bool {
        matches!(self, Type::Array { .. })
    }

    /// The type after indexing `n` dimensions; an accumulator is its own row type. `None` if there are
    /// fewer dimensions.
    pub fn peel(&self, n: usize) -> Option<Type> {
        match self {
            Type::Prim(prim) => (n == 0).then_some(Type::Prim(*prim)),
            Type::Array { elem, dims } => dims.get(n..).map(|rest| Type::array(*elem, rest.to_vec())),
            Type::Acc { .. } => Some(self.clone()),
        }
    }

    /// The type of a row; an accumulator is its own row type.
    pub fn row(&self) -> Option<Type> {
        self.peel(1)
    }

    /// Arrays of this type along new outer dimensions; an accumulator stays itself.
    pub fn with_outer(&self, outer: &[Atom]) -> Type {
        match self {
            Type::Prim(elem) => Type::array(*elem, outer.to_vec()),
            Type::Array { elem, dims } => Type::array(*elem, outer.iter().chain(dims).copied().collect()),
            Type::Acc { .. } => self.clone(),
        }
    }

    /// The same type with each size replaced.
    pub fn map_dims(&self, f: &mut impl FnMut(Atom) -> Atom) -> Type {
        match self {
            Type::Prim(prim) => Type::Prim(*prim),
            Type::Array { elem, dims } => {
                Type::Array { elem: *elem, dims: dims.iter().map(|d| f(*d)).collect() }
            }
            Type::Acc { index_dims, elems } => Type::Acc {
                index_dims: index_dims.iter().map(|d| f(*d)).collect(),
                elems: elems.iter().map(|t| t.map_dims(f)).collect(),
            },
        }
    }

    /// Every size mentioned, from the outside in.
    pub fn all_dims(&self) -> Vec<Atom> {
        let mut all = Vec::new();
        self.map_dims(&mut |d| {
            all.push(d);
            d
        });
        all
    }
}

impl From<PrimType> for Type {
    fn from(prim: PrimType) -> Type {
        Type::Prim(prim)
    }
}
