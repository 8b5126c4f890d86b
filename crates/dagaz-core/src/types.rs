//! Types and atoms of Core.

use crate::prim::{Prim, PrimType};

/// A variable. Unique within a program: no variable is bound twice. It prints as a hint and this number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// A function of the program: an index into `Program::funs`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FunId(pub u32);

/// A constant or a variable: what operations take.
#[derive(Clone, Copy, Debug)]
pub enum Atom {
    Var(VarId),
    Const(Prim),
}

/// The type of a variable. Every atom in it is an `i64`.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct Param {
    pub var: VarId,
    pub ty: Type,
}
