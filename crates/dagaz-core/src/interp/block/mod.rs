//! Scalar lambdas by the block: many rows at once, one operation after the other.
//!
//! A statement of the ordinary path costs tens of nanoseconds, whatever it computes. Here a statement runs on
//! a block of rows, its *lanes*, as one loop over columns:
//!
//! ```text
//! map n (xs, ys) \(x, y) ->             for each block of rows:
//!   let (p) = f64.mul x y        ==>      p[..] = xs[at..] * ys[at..]
//!   let (q) = f64.add p c                 q[..] = p[..] + c
//!   in (q)                                append q[..] to the result
//! ```
//!
//! What does not depend on the row stays a scalar. A reduction, or a loop, inside of the lambda runs for all
//! lanes in step, so that its operations are loops over columns too. Where lanes part, at an `if` or a
//! `while`, a mask says which of them are active, and each lane keeps count of its own span.
//!
//! The block path never reports an error. When an operation fails in an active lane, or something turns up
//! that has no columnar form, the block counts for nothing, and the ordinary path runs its rows: it finds the
//! error, its message and its place, or the result. Results are the same bits (but for the sign and payload of
//! a NaN, which no operation promises), and work, span and peak the same numbers, as on the ordinary path.

mod columns;
mod compile;
mod known;
mod lanes;
mod nested;
mod run;

use crate::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};

use super::code::Operand;

pub(super) use compile::{compile_fold, compile_map};
pub(super) use lanes::Lanes;

/// How many rows run at once, at most. The columns of a few dozen variables then fit in a core's own cache.
pub(super) const LANES: usize = 1024;

/// A lambda, or the two of a reduction, over registers.
#[derive(Debug)]
pub(super) struct BlockCode {
    /// The number of the register file, which is kept from one run to the next.
    pub(super) file: usize,
    registers: usize,
    /// Registers of variables from outside.
    imports: Vec<(u32, Operand)>,
    /// What is mapped over the rows, if anything.
    lambda: Option<BlockLambda>,
    op: Option<BlockOp>,
    /// Whether a reduction runs inside.
    nests: bool,
}

/// The operator of a reduction or scan.
#[derive(Debug)]
struct BlockOp {
    lambda: BlockLambda,
    /// One operation per component, if that is all there is to the operator.
    known: Option<Vec<KnownOp>>,
    /// Registers for the rows where nothing is mapped over them.
    rows: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct KnownOp {
    op: BinOp,
    /// The new value comes first.
    swapped: bool,
}

#[derive(Debug)]
struct BlockLambda {
    params: Vec<u32>,
    body: BlockBody,
}

#[derive(Debug)]
struct BlockBody {
    stms: Vec<BlockStm>,
    result: Vec<BlockResult>,
}

#[derive(Clone, Copy, Debug)]
struct BlockResult {
    arg: Arg,
    /// Nobody reads the register after this, so its column can be taken.
    movable: bool,
}

#[derive(Debug)]
struct BlockStm {
    targets: Vec<u32>,
    op: Op,
}

#[derive(Clone, Copy, Debug)]
enum Arg {
    Const(Prim),
    Reg(u32),
}

/// The instructions that have a columnar form.
#[derive(Debug)]
enum Op {
    Atom(Arg),
    Un(UnOp, Arg),
    Bin(BinOp, Arg, Arg),
    Tern(TernOp, [Arg; 3]),
    Cmp(CmpOp, Arg, Arg),
    Convert(PrimType, Arg),
    Index { array: u32, indices: Vec<Arg> },
    Assert(Arg),
    If { cond: Arg, then: BlockBody, otherwise: BlockBody },
    Loop(Box<BlockLoop>),
    Reduce(Box<BlockReduce>),
}

#[derive(Debug)]
struct BlockLoop {
    params: Vec<u32>,
    init: Vec<Arg>,
    form: BlockForm,
    body: BlockBody,
}

#[derive(Debug)]
enum BlockForm {
    For { var: u32, ty: PrimType, bound: Arg },
    While { cond: BlockBody },
}

#[derive(Debug)]
struct BlockReduce {
    width: Arg,
    arrays: Vec<u32>,
    pre: Option<BlockLambda>,
    op: BlockLambda,
    neutral: Vec<Arg>,
}
