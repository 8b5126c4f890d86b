//! What variables of Imp hold.

use std::sync::Arc;

use dagaz_core::prim::PrimType;

/// How a variable is represented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Repr {
    Scalar(PrimType),
    /// To elements.
    Pointer(PrimType, Access),
    /// To a reference-counted block of memory.
    Block,
    /// A byte of memory that loops for vector units write a mask to.
    Flags,
    /// One number for each lane of a vector.
    Lanes(PrimType),
    /// To additions that are logged.
    Log(PrimType),
}

/// What a pointer may be used for, and what is known of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    Any,
    ReadOnly,
    /// No other pointer leads to what is written through this one.
    Unaliased,
}

impl Repr {
    pub const I64: Repr = Repr::Scalar(PrimType::I64);
    pub const F64: Repr = Repr::Scalar(PrimType::F64);
    pub const BOOL: Repr = Repr::Scalar(PrimType::Bool);

    pub fn pointer(elem: PrimType) -> Repr {
        Repr::Pointer(elem, Access::Any)
    }
}

impl From<PrimType> for Repr {
    fn from(ty: PrimType) -> Repr {
        Repr::Scalar(ty)
    }
}

/// A variable, which its name tells apart from all others of its function.
#[derive(Clone, Debug)]
pub struct Var {
    pub repr: Repr,
    pub name: Arc<str>,
}

impl Var {
    pub fn new(repr: impl Into<Repr>, name: impl Into<Arc<str>>) -> Var {
        Var { repr: repr.into(), name: name.into() }
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.name == other.name
    }
}

impl Eq for Var {}

impl std::hash::Hash for Var {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl std::fmt::Display for Var {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}
