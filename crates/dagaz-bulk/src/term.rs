//! Programs, statements and operations on whole arrays: plain data.
//!
//! Types, atoms, variables, scalar operations, places and entry points are those of Core. There are no accumulators, and no
//! function is applied to elements: a scalar operation applies to all elements of its operands at once.
//!
//! Every operation but [`Op::Assert`] gives a value whatever its operands are, so that it can be computed where a branch was
//! not taken: integer division by zero and negative integer powers give zero, what is read outside of an array is zero, and
//! what is written there is dropped. A negative size counts as zero.

use dagaz_core::exp::{AxesOf, Entry, Loc, LoopHints, MsgPart, SourceLoc, Vars};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Top-level constants, in order; in scope in every function.
    pub consts: Vec<Stm>,
    pub funs: Vec<Fun>,
    pub entries: Vec<Entry>,
    pub vars: Vars,
    pub locs: Vec<SourceLoc>,
}

/// A function. Sizes of array parameters and results are parameters and results themselves, as in Core.
#[derive(Clone, PartialEq, Debug)]
pub struct Fun {
    pub name: String,
    pub params: Vec<Param>,
    pub ret: Vec<Param>,
    pub body: Body,
    pub loc: Loc,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    pub stms: Vec<Stm>,
    pub result: Vec<Atom>,
}

/// `let (x: t, …) = op`. Types in the pattern may mention earlier variables of the same pattern, where the operation is an
/// `if`, `loop` or `call`.
#[derive(Clone, PartialEq, Debug)]
pub struct Stm {
    pub pat: Vec<Param>,
    pub op: Op,
    pub loc: Loc,
}

/// The operator of a reduction, scan or scatter.
#[derive(Clone, PartialEq, Debug)]
pub struct Lambda {
    pub params: Vec<Param>,
    pub body: Body,
    pub ret: Vec<Type>,
}

/// Part of one dimension: `start + i * stride` for `i < len`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    pub start: Atom,
    pub len: Atom,
    pub stride: Atom,
}

/// How a scatter combines what is there with what comes.
#[derive(Clone, PartialEq, Debug)]
pub enum Combine {
    /// What comes last stays.
    Replace,
    /// By a scalar operation; for one destination.
    By(BinOp),
    /// By a function of the rows that are there, one for each destination, and then those that come; with its neutral elements.
    Op(Lambda, Vec<Atom>),
}

/// Operations. The operands of scalar operations and of [`Op::Select`] are arrays of the shape of the result, or constants, which
/// stand for arrays that are the same everywhere. So do indices of [`Op::Gather`] and [`Op::Scatter`] and values of the latter.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    Atom(Atom),
    UnOp(UnOp, PrimType, Atom),
    BinOp(BinOp, PrimType, Atom, Atom),
    TernOp(TernOp, PrimType, [Atom; 3]),
    CmpOp(CmpOp, PrimType, Atom, Atom),
    Convert(PrimType, PrimType, Atom),
    /// Elements of `yes` where `cond` holds, of `no` elsewhere.
    Select {
        cond: Atom,
        yes: Atom,
        no: Atom,
    },

    /// `0, 1, … n - 1` of the given integer type.
    Iota {
        ty: PrimType,
        n: Atom,
    },
    /// An array of shape `dims` which is the same along all dimensions but `axes`: dimension `i` of the value is dimension
    /// `axes[i]` of the result, and `axes` increases.
    Broadcast {
        dims: Vec<Atom>,
        axes: Vec<usize>,
        value: Atom,
    },
    /// Dimension `i` of the result is dimension `perm[i]` of the array.
    Transpose {
        perm: Vec<usize>,
        array: VarId,
    },
    /// The same elements in row-major order.
    Reshape {
        dims: Vec<Atom>,
        array: VarId,
    },
    /// A part of each dimension.
    Slice {
        array: VarId,
        dims: Vec<Span>,
    },
    /// The array, with `value` in place of the slice.
    Update {
        array: VarId,
        dims: Vec<Span>,
        value: VarId,
    },
    Concat {
        axis: usize,
        arrays: Vec<VarId>,
    },
    /// Values of type `row` along a new outermost dimension.
    Stack {
        row: Type,
        elems: Vec<Atom>,
    },
    /// The rows at the given indices, of which there may be fewer than dimensions. All indices have one shape, which comes
    /// first in that of the result; where all are scalars, the result is one row or element.
    Gather {
        array: VarId,
        indices: Vec<Atom>,
    },
    /// Writes the rows of `values` to the places of `dests` that the indices, all of one shape, say, in row-major order.
    Scatter {
        dests: Vec<VarId>,
        indices: Vec<Atom>,
        values: Vec<Atom>,
        combine: Combine,
    },
    /// All elements along an axis combined by an operation with a neutral element ([`neutral`]).
    Fold {
        op: BinOp,
        ty: PrimType,
        axis: usize,
        array: VarId,
    },
    /// All slices along an axis combined by an operator, whose parameters are the slices so far and then the next ones.
    /// `neutral` is what it starts from.
    Reduce {
        axis: usize,
        arrays: Vec<VarId>,
        op: Lambda,
        neutral: Vec<Atom>,
    },
    /// As `Reduce`, with all that was so far, the last one included, along the axis.
    Scan {
        axis: usize,
        arrays: Vec<VarId>,
        op: Lambda,
        neutral: Vec<Atom>,
    },
    /// A sum of products, as `contract` of Core: axes are numbers into `sizes`, the first `rank` of them are those of the result.
    Dot {
        sizes: Vec<Atom>,
        rank: usize,
        left: AxesOf,
        right: AxesOf,
    },

    /// The condition is a scalar.
    If {
        cond: Atom,
        then: Body,
        otherwise: Body,
    },
    Loop {
        params: Vec<(Param, Atom)>,
        form: LoopForm,
        body: Body,
        hints: LoopHints,
    },
    Call {
        fun: FunId,
        args: Vec<Atom>,
    },
    /// Binds nothing. Stops the program with the message if the condition, a scalar, is false.
    Assert {
        cond: Atom,
        message: Vec<MsgPart>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub enum LoopForm {
    /// `for var < bound`; `ty` is the integer type of both.
    For { var: VarId, ty: PrimType, bound: Atom },
    /// The condition sees the loop parameters and has one scalar `bool` result.
    While { cond: Body },
}

impl Program {
    pub fn fun(&self, id: FunId) -> Option<&Fun> {
        self.funs.get(id.0 as usize)
    }

    /// The place in the source, unless it is unknown.
    pub fn source(&self, loc: Loc) -> Option<&SourceLoc> {
        self.locs.get(loc.0 as usize)
    }
}

impl Span {
    /// All of a dimension.
    pub fn all(len: Atom) -> Span {
        Span { start: Atom::i64(0), len, stride: Atom::i64(1) }
    }

    /// One index.
    pub fn at(start: Atom) -> Span {
        Span { start, len: Atom::i64(1), stride: Atom::i64(1) }
    }
}

/// The neutral element of the operations that [`Op::Fold`] takes.
pub fn neutral(op: BinOp, ty: PrimType) -> Option<Prim> {
    match op {
        BinOp::Add | BinOp::Or | BinOp::Xor => Some(Prim::zero(ty)),
        BinOp::Mul => Some(Prim::one(ty)),
        BinOp::And => (ty == PrimType::Bool).then_some(Prim::one(ty)),
        BinOp::Min => (ty != PrimType::Bool).then_some(Prim::highest(ty)),
        BinOp::Max => (ty != PrimType::Bool).then_some(Prim::lowest(ty)),
        BinOp::Sub | BinOp::MulHi | BinOp::Quot | BinOp::Rem | BinOp::Div | BinOp::Mod | BinOp::Pow => None,
        BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot | BinOp::CopySign | BinOp::NextAfter => None,
        BinOp::Ldexp | BinOp::Polygamma | BinOp::Shl | BinOp::Ashr | BinOp::Lshr => None,
    }
}
