//! What the interpreter runs: Core with every variable resolved to a slot of its function's frame.

use crate::exp::{Check, Loc, Triangle};
use crate::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use crate::types::FunId;
use crate::value::Array;

use super::block::BlockCode;

/// The contents of a variable.
#[derive(Clone, Debug, Default)]
pub(super) enum Slot {
    /// Not bound yet, or moved out by the last use.
    #[default]
    Empty,
    Prim(Prim),
    Array(Array),
    /// An index into the machine's open accumulators.
    Acc(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Slot(u32),
    /// The last use: the value moves out, so that an update of it can happen in place.
    Take(u32),
    Global(u32),
    Const(Prim),
}

#[derive(Debug, Default)]
pub(super) struct CodeBody {
    /// Slots that only the other branch of an `if` uses.
    pub(super) unused: Vec<u32>,
    pub(super) stms: Vec<CodeStm>,
    pub(super) result: Vec<Operand>,
}

#[derive(Debug)]
pub(super) struct CodeStm {
    pub(super) pat: Vec<u32>,
    pub(super) op: Instr,
    pub(super) loc: Loc,
    /// Slots not used after this statement and not moved out by it.
    pub(super) drops: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct CodeLambda {
    pub(super) params: Vec<u32>,
    pub(super) body: CodeBody,
    pub(super) ret: Vec<CodeType>,
    /// Whether no result is a parameter, so that results can be written to parameters one by one.
    pub(super) independent: bool,
}

#[derive(Debug)]
pub(super) enum CodeType {
    Value(PrimType, Vec<Operand>),
    Acc,
}

#[derive(Debug)]
pub(super) enum CodeDim {
    Fix(Operand),
    Range { start: Operand, len: Operand, stride: Operand },
}

impl CodeDim {
    pub(super) fn fixed(&self) -> Option<Operand> {
        match self {
            CodeDim::Fix(i) => Some(*i),
            CodeDim::Range { .. } => None,
        }
    }
}

#[derive(Debug)]
pub(super) enum CodePart {
    Text(String),
    Value(Operand),
}

/// As [`crate::exp::Exp`]; large ones are boxed to keep the scalar ones small.
#[derive(Debug)]
pub(super) enum Instr {
    Atom(Operand),
    UnOp(UnOp, Operand),
    BinOp(BinOp, Operand, Operand),
    TernOp(TernOp, [Operand; 3]),
    CmpOp(CmpOp, Operand, Operand),
    Convert(PrimType, Operand),
    Index {
        array: Operand,
        indices: Vec<Operand>,
        check: Check,
    },
    Slice {
        array: Operand,
        dims: Vec<CodeDim>,
    },
    /// An update of one element or row.
    UpdateAt {
        array: Operand,
        indices: Vec<Operand>,
        value: Operand,
        check: Check,
    },
    Update {
        array: Operand,
        dims: Vec<CodeDim>,
        value: Operand,
    },
    Copy(Operand),
    Iota {
        ty: PrimType,
        n: Operand,
        start: Operand,
        step: Operand,
    },
    Replicate {
        dims: Vec<Operand>,
        value: Operand,
    },
    Rearrange {
        perm: Vec<usize>,
        array: Operand,
    },
    Reshape {
        dims: Vec<Operand>,
        array: Operand,
    },
    Concat {
        arrays: Vec<Operand>,
    },
    Contract {
        sizes: Vec<Operand>,
        rank: usize,
        /// Arrays with their axes.
        left: (Operand, Vec<usize>),
        right: (Operand, Vec<usize>),
        plus: Option<Operand>,
        triangles: Vec<Triangle>,
    },
    Scratch {
        elem: PrimType,
        dims: Vec<Operand>,
    },
    ArrayLit {
        row: CodeType,
        elems: Vec<Operand>,
    },
    If {
        cond: Operand,
        then: Box<CodeBody>,
        otherwise: Box<CodeBody>,
    },
    Loop(Box<CodeLoop>),
    Call {
        fun: FunId,
        args: Vec<Operand>,
    },
    Assert {
        cond: Operand,
        message: Vec<CodePart>,
    },
    Trace {
        tag: String,
        values: Vec<Operand>,
    },
    Map(Box<CodeRows>),
    Reduce(Box<CodeFold>),
    Scan(Box<CodeFold>),
    Hist {
        fold: Box<CodeFold>,
        dests: Vec<Operand>,
        shape: Vec<Operand>,
    },
    Scatter {
        rows: Box<CodeRows>,
        dests: Vec<Operand>,
        shape: Vec<Operand>,
    },
    WithAcc {
        inputs: Vec<CodeAcc>,
        lambda: Box<CodeLambda>,
    },
    UpdateAcc {
        acc: Operand,
        indices: Vec<Operand>,
        values: Vec<Operand>,
    },
}

/// The rows that a parallel operation takes, and what is mapped over them, if anything.
#[derive(Debug)]
pub(super) struct CodeRows {
    pub(super) width: Operand,
    pub(super) arrays: Vec<Operand>,
    pub(super) lambda: Option<CodeLambda>,
    /// The map by the block, where it has that form.
    pub(super) block: Option<BlockCode>,
}

#[derive(Debug)]
pub(super) struct CodeFold {
    pub(super) rows: CodeRows,
    pub(super) op: CodeLambda,
    pub(super) neutral: Vec<Operand>,
    /// The reduction or scan by the block, where it has that form.
    pub(super) block: Option<BlockCode>,
}

#[derive(Debug)]
pub(super) struct CodeLoop {
    pub(super) params: Vec<u32>,
    pub(super) init: Vec<Operand>,
    pub(super) form: CodeForm,
    pub(super) body: CodeBody,
    pub(super) independent: bool,
}

#[derive(Debug)]
pub(super) enum CodeForm {
    For { var: u32, ty: PrimType, bound: Operand },
    While { cond: CodeBody },
}

#[derive(Debug)]
pub(super) struct CodeAcc {
    pub(super) shape: Vec<Operand>,
    pub(super) arrays: Vec<Operand>,
    pub(super) op: Option<CodeAccOp>,
}

/// The operator of an accumulator, with a frame of its own.
#[derive(Debug)]
pub(super) struct CodeAccOp {
    pub(super) lambda: CodeLambda,
    pub(super) slots: usize,
    /// Variables from outside: the slot here, and what to copy there.
    pub(super) captures: Vec<(u32, Operand)>,
}

#[derive(Debug)]
pub(super) struct CodeFun {
    pub(super) params: Vec<u32>,
    pub(super) body: CodeBody,
    pub(super) slots: usize,
    /// The constants that the function and those it calls need, in order.
    pub(super) consts: Vec<usize>,
}

/// A top-level constant: a function without parameters whose results are stored.
#[derive(Debug)]
pub(super) struct CodeConst {
    pub(super) globals: Vec<u32>,
    pub(super) body: CodeBody,
    pub(super) slots: usize,
    /// The constants and functions it needs, not yet closed under needing.
    pub(super) needs: Needs,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    pub(super) consts: Vec<usize>,
    pub(super) funs: Vec<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) funs: Vec<CodeFun>,
    pub(super) consts: Vec<CodeConst>,
    pub(super) globals: usize,
    /// How many operations have a block form.
    pub(super) blocks: usize,
}
