//! Expressions of Imp: trees without effects.

use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};

use super::{Access, Repr, Runtime, Var};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    Const(Const),
    /// No block, or a pointer to nothing.
    Null,
    Var(Var),
    /// A top-level constant of the program, or whether it is known already.
    Global(Var),
    /// A part of an argument of an entry point.
    Input(usize, InputPart),
    UnOp(UnOp, PrimType, Box<Expr>),
    BinOp(BinOp, PrimType, Box<[Expr; 2]>),
    TernOp(TernOp, PrimType, Box<[Expr; 3]>),
    CmpOp(CmpOp, PrimType, Box<[Expr; 2]>),
    Convert(PrimType, PrimType, Box<Expr>),
    /// Of sizes and counters, towards zero. The divisor is not zero.
    Quotient(Box<[Expr; 2]>),
    Remainder(Box<[Expr; 2]>),
    /// The second one is not computed if the first one does not hold.
    Both(Box<[Expr; 2]>),
    /// The second one is not computed if the first one holds.
    Either(Box<[Expr; 2]>),
    /// The second one if the first one holds, and else the third one. The other one is not computed.
    Select(Box<[Expr; 3]>),
    /// The element at a place behind a pointer.
    Load(Box<[Expr; 2]>),
    /// The pointer to that element.
    Offset(Box<[Expr; 2]>),
    /// The pointer to the elements of a block.
    Data(PrimType, Box<Expr>),
    Site(Site),
    Call(Runtime, Vec<Expr>),
}

/// A constant. Those that have the same bits are the same.
#[derive(Clone, Copy, Debug)]
pub struct Const(pub Prim);

impl PartialEq for Const {
    fn eq(&self, other: &Const) -> bool {
        self.0.ty() == other.0.ty() && self.0.bits() == other.0.bits()
    }
}

impl Eq for Const {}

impl std::hash::Hash for Const {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0.ty(), self.0.bits()).hash(state);
    }
}

/// The number of a place where something can go wrong ([`super::Module::sites`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    Number(usize),
    /// In the table that a task has: the same loop may be run from several places.
    OfTask(usize),
}

/// What an argument of an entry point consists of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputPart {
    Scalar(PrimType),
    Data(PrimType),
    Block,
}

/// The operands of an expression, to be read or to be changed.
macro_rules! operands {
    ($expr:expr, $one:ident, $all:ident $(, $mut:tt)?) => {
        match $expr {
            Expr::Const(_)
            | Expr::Null
            | Expr::Var(_)
            | Expr::Global(_)
            | Expr::Input(..)
            | Expr::Site(_) => &$($mut)? [],
            Expr::UnOp(_, _, x) | Expr::Convert(_, _, x) | Expr::Data(_, x) => std::slice::$one(x),
            Expr::BinOp(_, _, operands)
            | Expr::CmpOp(_, _, operands)
            | Expr::Quotient(operands)
            | Expr::Remainder(operands)
            | Expr::Both(operands)
            | Expr::Either(operands)
            | Expr::Load(operands)
            | Expr::Offset(operands) => operands.$all(),
            Expr::TernOp(_, _, operands) | Expr::Select(operands) => operands.$all(),
            Expr::Call(_, operands) => operands,
        }
    };
}

impl Expr {
    pub fn call(runtime: Runtime, operands: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::Call(runtime, operands.into_iter().collect())
    }

    /// What the value of the expression is. Nobody asks for that of no block.
    pub fn repr(&self) -> Repr {
        match self {
            Expr::Const(Const(prim)) => prim.ty().into(),
            Expr::Null => Repr::Block,
            Expr::Var(var) | Expr::Global(var) => var.repr,
            Expr::Input(_, InputPart::Scalar(ty)) => (*ty).into(),
            Expr::Input(_, InputPart::Data(elem)) | Expr::Data(elem, _) => Repr::pointer(*elem),
            Expr::Input(_, InputPart::Block) => Repr::Block,
            Expr::UnOp(op, ty, _) => op.result(*ty).into(),
            Expr::BinOp(_, ty, operands) => match operands[0].repr() {
                lanes @ Repr::Lanes(_) => lanes,
                _ => (*ty).into(),
            },
            Expr::TernOp(_, ty, _) | Expr::Convert(_, ty, _) => (*ty).into(),
            Expr::CmpOp(..) | Expr::Both(_) | Expr::Either(_) => Repr::BOOL,
            Expr::Quotient(_) | Expr::Remainder(_) => Repr::I64,
            Expr::Select(operands) => operands[1].repr(),
            Expr::Load(operands) => match operands[0].repr() {
                Repr::Pointer(elem, _) => elem.into(),
                other => other,
            },
            Expr::Offset(operands) => match operands[0].repr() {
                Repr::Pointer(elem, Access::Unaliased) => Repr::pointer(elem),
                other => other,
            },
            Expr::Site(_) => PrimType::I32.into(),
            Expr::Call(runtime, _) => runtime.result(),
        }
    }

    pub fn operands(&self) -> &[Expr] {
        operands!(self, from_ref, as_slice)
    }

    pub fn operands_mut(&mut self) -> &mut [Expr] {
        operands!(self, from_mut, as_mut_slice, mut)
    }

    /// Whether memory is read.
    pub fn has_load(&self) -> bool {
        matches!(self, Expr::Load(_)) || self.operands().iter().any(Expr::has_load)
    }

    pub fn as_var(&self) -> Option<&Var> {
        match self {
            Expr::Var(var) => Some(var),
            _ => None,
        }
    }

    /// The number, if it is an integer that is known.
    pub fn as_number(&self) -> Option<i64> {
        match self {
            Expr::Const(Const(prim)) => prim.as_i64().filter(|_| prim.ty() == PrimType::I64),
            _ => None,
        }
    }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Expr {
        Expr::Var(var)
    }
}
