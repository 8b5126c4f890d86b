//! Programs, statements and expressions of Core: plain data.

use std::sync::Arc;

use crate::prim::{BinOp, CmpOp, PrimType, TernOp, UnOp};
use crate::types::{Atom, FunId, Param, Type, VarId};

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Top-level constants, in order; in scope in every function.
    pub consts: Vec<Stm>,
    pub funs: Vec<Fun>,
    pub entries: Vec<Entry>,
    pub vars: Vars,
    /// Source places; a [`Loc`] is an index.
    pub locs: Vec<SourceLoc>,
}

/// The hint of every variable, by number.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Vars {
    pub hints: Vec<Box<str>>,
}

/// A place in the source, or none (`Loc::NONE`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Loc(pub u32);

impl Loc {
    pub const NONE: Loc = Loc(u32::MAX);
}

impl Vars {
    /// A new variable.
    pub fn fresh(&mut self, hint: &str) -> VarId {
        let number = u32::try_from(self.hints.len()).expect("fewer than 2^32 variables");
        self.hints.push(hint.into());
        VarId(number)
    }

    /// What people read of a variable; the compiler reads only the number.
    pub fn hint(&self, var: VarId) -> &str {
        self.hints.get(var.0 as usize).map_or("v", |hint| hint)
    }
}

impl Program {
    pub fn fun(&self, id: FunId) -> Option<&Fun> {
        self.funs.get(id.0 as usize)
    }

    /// The place in the source, unless it is unknown.
    pub fn source(&self, loc: Loc) -> Option<&SourceLoc> {
        self.locs.get(loc.0 as usize)
    }

    /// Remembers a place in the source.
    pub fn add_loc(&mut self, place: SourceLoc) -> Loc {
        let number = u32::try_from(self.locs.len()).expect("fewer than 2^32 places");
        self.locs.push(place);
        Loc(number)
    }
}

impl EntryType {
    /// How many Core values there are to one value of the user's.
    pub fn arity(&self) -> usize {
        self.types().len()
    }

    /// The type as written in the source.
    pub fn name(&self) -> &str {
        match self {
            EntryType::Value { name, .. } | EntryType::Opaque { name, .. } => name,
        }
    }

    pub fn types(&self) -> &[Type] {
        match self {
            EntryType::Value { ty, .. } => std::slice::from_ref(ty),
            EntryType::Opaque { types, .. } => types,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    pub file: Arc<str>,
    /// One-based.
    pub line: u32,
    /// One-based, in characters.
    pub col: u32,
    /// The call that brought this code here, when its function was inlined.
    pub inlined_at: Option<Loc>,
}

/// A function. Sizes of array parameters and results are parameters and results themselves:
/// `def f (n: i64, xs: [n]f64) : (k: i64, ys: [k]f64) = …`
#[derive(Clone, PartialEq, Debug)]
pub struct Fun {
    pub name: String,
    pub params: Vec<Param>,
    /// Results are named so that later types can mention earlier results.
    pub ret: Vec<Param>,
    pub body: Body,
    pub loc: Loc,
}

/// What the user calls, and how the user's values correspond to the function's parameters and results.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub name: String,
    pub fun: FunId,
    /// The first so many parameters of the function are sizes, to be read off the shapes of the others.
    pub size_params: usize,
    pub params: Vec<EntryParam>,
    /// The first so many results of the function are sizes, which the user does not see.
    pub size_results: usize,
    pub results: Vec<EntryType>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EntryParam {
    pub name: String,
    pub ty: EntryType,
    /// The function consumes it.
    pub unique: bool,
}

/// How the user sees a parameter or result. `name` is the type as written in the source.
#[derive(Clone, PartialEq, Debug)]
pub enum EntryType {
    /// One Core value: a scalar or an array of scalars.
    Value { name: String, ty: Type },
    /// Several Core values under one name: a record, tuple, sum, or an array of those.
    Opaque { name: String, types: Vec<Type>, kind: OpaqueKind },
}

#[derive(Clone, PartialEq, Debug)]
pub enum OpaqueKind {
    /// The fields, in the order of their Core values. A tuple has fields "0", "1", ….
    Record(Vec<(String, EntryType)>),
    /// The constructors with what they hold. The first Core value is the number of the constructor, an `i8`; then come the
    /// contents of all constructors, of which those of the others mean nothing.
    Sum(Vec<(String, Vec<EntryType>)>),
    /// An array of what is no scalar: the Core values of its rows, each with one more dimension.
    Array(Box<EntryType>),
    /// An abstract type.
    Other,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    pub stms: Vec<Stm>,
    pub result: Vec<Atom>,
}

/// `let (x: t, …) = e`. Types in the pattern may mention earlier variables of the same pattern, when the
/// expression is an `if`, `loop` or `call` that returns sizes before the arrays that have them.
#[derive(Clone, PartialEq, Debug)]
pub struct Stm {
    pub pat: Vec<Param>,
    pub exp: Exp,
    pub loc: Loc,
}

/// An anonymous function under a parallel operation. Result types mention only variables from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Lambda {
    pub params: Vec<Param>,
    pub body: Body,
    pub ret: Vec<Type>,
}

/// Whether an index is checked when it is used, or known to be within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    Checked,
    Certified,
}

/// One dimension of a slice.
#[derive(Clone, PartialEq, Debug)]
pub enum DimSlice {
    /// One index; the dimension disappears.
    Fix(Atom),
    /// Elements `start + i * stride` for `i < len`.
    Range { start: Atom, len: Atom, stride: Atom },
}

#[derive(Clone, PartialEq, Debug)]
pub enum MsgPart {
    Text(String),
    Value(Atom),
}

/// The parallel operations take rows of `arrays`, all of outer size `width`. `pre`, where present, is a
/// fused `map`: it is applied to the rows, and the operation proper works on its results.
#[derive(Clone, PartialEq, Debug)]
pub enum Exp {
    Atom(Atom),
    /// The type is that of the operand.
    UnOp(UnOp, PrimType, Atom),
    /// The type is that of the first operand.
    BinOp(BinOp, PrimType, Atom, Atom),
    TernOp(TernOp, PrimType, [Atom; 3]),
    CmpOp(CmpOp, PrimType, Atom, Atom),
    /// From the first type to the second, as a C cast that saturates for float to integer and maps NaN to 0;
    /// to `bool`: not zero.
    Convert(PrimType, PrimType, Atom),

    /// An element or, with fewer indices than dimensions, a row.
    Index {
        array: VarId,
        indices: Vec<Atom>,
        check: Check,
    },
    /// One [`DimSlice`] per dimension; at least one is a range. Always within bounds: the program asserts that before.
    Slice {
        array: VarId,
        dims: Vec<DimSlice>,
    },
    /// `array with slice = value`; consumes `array`. If all dimensions are fixed, `value` is a row or element,
    /// and fewer indices than dimensions may be given, as for `Index`.
    Update {
        array: VarId,
        dims: Vec<DimSlice>,
        value: Atom,
        check: Check,
    },
    Copy(VarId),
    /// `start, start + step, …`, `n` elements of the given integer type.
    Iota {
        ty: PrimType,
        n: Atom,
        start: Atom,
        step: Atom,
    },
    /// `value` (scalar or array) repeated along new outer dimensions.
    Replicate {
        dims: Vec<Atom>,
        value: Atom,
    },
    /// Result dimension `i` is dimension `perm[i]` of the array.
    Rearrange {
        perm: Vec<usize>,
        array: VarId,
    },
    /// The same elements in row-major order with new dimensions, whose product is unchanged. Also used to
    /// give a dimension another name for the same number.
    Reshape {
        dims: Vec<Atom>,
        array: VarId,
    },
    /// Along the outermost dimension; the pattern's type gives the sum of the sizes.
    Concat {
        arrays: Vec<VarId>,
    },
    /// A sum of products of elements of two float arrays. Axes are numbers into `sizes`, and those of an array differ.
    /// The first `rank` axes are those of the result; the sum is over the others, in row-major order, from zero.
    /// Axes of the result belong to an operand or to both, axes of the sum to both. `contract [n, m] sum [k] x (0, 2) y (2, 1)` is the matrix product of
    /// `x: [n][k]` and `y: [k][m]`. With `plus`, the sums are added to an array, which is consumed. Terms outside of the
    /// triangles may be left out: they are zero, or nobody reads their sums. Made by the optimiser, after derivatives are gone.
    Contract {
        sizes: Vec<Atom>,
        rank: usize,
        left: AxesOf,
        right: AxesOf,
        plus: Option<VarId>,
        triangles: Vec<Triangle>,
    },
    /// An array with unspecified contents.
    Scratch {
        elem: PrimType,
        dims: Vec<Atom>,
    },
    /// `[a, b, …]` of scalars or of equally shaped arrays; `row` is the type of an element.
    ArrayLit {
        row: Type,
        elems: Vec<Atom>,
    },

    If {
        cond: Atom,
        then: Body,
        otherwise: Body,
    },
    /// Types of parameters may mention earlier parameters. Consumes the initial values of parameters
    /// that the body consumes.
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
    /// Binds nothing. Stops the program with the message if `cond` is false.
    Assert {
        cond: Atom,
        message: Vec<MsgPart>,
    },
    /// Prints the values with the tag on standard error and gives them back.
    Trace {
        tag: String,
        values: Vec<Atom>,
    },

    /// An accumulator among `arrays` is passed to every iteration as it is, and comes back as a result.
    Map {
        width: Atom,
        arrays: Vec<VarId>,
        lambda: Lambda,
    },
    Reduce {
        width: Atom,
        arrays: Vec<VarId>,
        pre: Option<Lambda>,
        op: Lambda,
        neutral: Vec<Atom>,
        commutative: bool,
    },
    /// Inclusive.
    Scan {
        width: Atom,
        arrays: Vec<VarId>,
        pre: Option<Lambda>,
        op: Lambda,
        neutral: Vec<Atom>,
    },
    /// Combines values into `dests` (consumed), of index space `shape`. What is combined is, per row,
    /// `shape.len()` indices (`i64`), then one value per destination. Indices out of bounds are ignored.
    Hist {
        width: Atom,
        arrays: Vec<VarId>,
        pre: Option<Lambda>,
        dests: Vec<VarId>,
        shape: Vec<Atom>,
        op: Lambda,
        neutral: Vec<Atom>,
    },
    /// As `Hist`, but the last value written (of equal ones; otherwise any) stays.
    Scatter {
        width: Atom,
        arrays: Vec<VarId>,
        pre: Option<Lambda>,
        dests: Vec<VarId>,
        shape: Vec<Atom>,
    },
    /// Runs `lambda` with accumulators over the arrays of `inputs` (consumed). Its results are those
    /// accumulators, then anything else; the results of the expression are the arrays, then the rest.
    WithAcc {
        inputs: Vec<AccInput>,
        lambda: Lambda,
    },
    /// `acc[i, …] += values`; out of bounds is ignored. The result is the new accumulator.
    UpdateAcc {
        acc: VarId,
        indices: Vec<Atom>,
        values: Vec<Atom>,
    },

    /// The results of `lambda` at `args`, then the tangents of all results, given those of the arguments.
    /// Tangents have the types of what they belong to, integers and booleans included. Gone once `ad` has run,
    /// as is all that follows.
    Jvp {
        lambda: Lambda,
        args: Vec<Atom>,
        tangents: Vec<Atom>,
    },
    /// The results of `lambda` at `args`, then the adjoints of all arguments, given the cotangents of the results.
    Vjp {
        lambda: Lambda,
        args: Vec<Atom>,
        cotangents: Vec<Atom>,
    },
    /// The results of `lambda` at `args`. In reverse mode, `rule` gives the adjoints of the arguments from
    /// the results and then their cotangents.
    WithVjp {
        lambda: Lambda,
        rule: Lambda,
        args: Vec<Atom>,
    },
    /// `lambda` is linear, and this is its transpose: what it takes has the types of its results.
    Transpose {
        lambda: Lambda,
        cotangents: Vec<Atom>,
    },
    /// The value, which is a constant to all derivatives.
    Detach(Atom),
}

/// An operand of a contraction: an array, and which axis each of its dimensions is.
#[derive(Clone, PartialEq, Debug)]
pub struct AxesOf {
    pub array: VarId,
    pub axes: Vec<usize>,
}

/// Two axes of a contraction. Those terms count whose index along the first is at most that along the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triangle {
    pub low: usize,
    pub high: usize,
}

impl Exp {
    /// Whether this is the array `0, 1, …`.
    pub fn is_counting(&self) -> bool {
        matches!(self, Exp::Iota { start, step, .. } if (*start, *step) == (Atom::i64(0), Atom::i64(1)))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum LoopForm {
    /// `for var < bound`; `ty` is the integer type of both.
    For { var: VarId, ty: PrimType, bound: Atom },
    /// The condition sees the loop parameters and has one `bool` result.
    While { cond: Body },
}

/// What the user has said about the reverse derivative of a loop. The meaning of the loop does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LoopHints {
    /// How often the loop is to be split into nested loops, to save memory at the price of running parts of it again.
    pub stripmine: u32,
    /// A `while` loop runs at most so often.
    pub bound: Option<i64>,
}

impl LoopHints {
    pub const NONE: LoopHints = LoopHints { stripmine: 0, bound: None };
}

#[derive(Clone, PartialEq, Debug)]
pub struct AccInput {
    /// The dimensions that `+=` indexes.
    pub shape: Vec<Atom>,
    pub arrays: Vec<VarId>,
    /// The combining operator with its neutral element, on rows; without it, `+=` overwrites.
    pub op: Option<(Lambda, Vec<Atom>)>,
}
