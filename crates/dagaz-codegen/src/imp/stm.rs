//! Statements of Imp.

use std::sync::Arc;

use dagaz_core::prim::{Prim, PrimType};

use super::{Expr, Operand, Product, Repr, Runtime, Site, Var};

/// The place in the source, for readers of the generated code.
pub type Note = Option<Arc<str>>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stm {
    Declare {
        var: Var,
        value: Option<Expr>,
    },
    /// Declares an array of fixed size, which lives on the stack as long as the statements around it.
    StackArray(StackArray),
    /// Copies constants to where a pointer points.
    CopyTable {
        elem: PrimType,
        values: Vec<Prim>,
        target: Expr,
    },
    Assign(Place, Expr),
    /// Calls what gives no value and cannot fail.
    Do(Runtime, Vec<Expr>),
    /// Calls a function of the run-time library that gives a status, and ends the function with an error if it has failed. The
    /// error has the number of a site, unless the callee has set it.
    Attempt {
        runtime: Runtime,
        operands: Vec<Expr>,
        site: Option<Site>,
    },
    /// Calls a function, with variables that its results are put in, and ends this one if that has failed.
    Call {
        function: Arc<str>,
        operands: Vec<Expr>,
        results: Vec<Var>,
        site: Option<Site>,
    },
    /// Ends the function if an allocation has failed; the error has been set by then.
    Require(Var),
    /// Keeps a value for a message.
    Note(Expr),
    /// Keeps the elements behind a pointer for a message.
    NoteArray {
        elem: PrimType,
        pointer: Expr,
        dims: Vec<Expr>,
    },
    /// Hands the values that were kept to the caller, who prints them.
    Trace(Site),
    Fail(Site),
    /// Ends the function without an error.
    Return,
    /// Leaves the innermost loop.
    Break,
    Product(Box<Product>),
    Block(Vec<Stm>),
    /// `var` from `from` up to `to`.
    Loop {
        kind: LoopKind,
        var: Var,
        from: Expr,
        to: Expr,
        note: Note,
        body: Vec<Stm>,
    },
    Parallel(Box<Parallel>),
    /// A parallel loop whose body has become a task.
    Launch(Box<Launch>),
    /// Until a `break`.
    Forever {
        note: Note,
        body: Vec<Stm>,
    },
    If {
        cond: Expr,
        rate: Rate,
        then: Vec<Stm>,
        otherwise: Vec<Stm>,
    },
}

/// An array of fixed size on the stack, or a table of several of the same size.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StackArray {
    /// A pointer to its first element.
    pub var: Var,
    /// How many arrays there are, if it is a table of them.
    pub rows: Option<usize>,
    pub len: Len,
    /// What all elements are at first; the first elements of a table of constants.
    pub values: Vec<Expr>,
    pub is_aligned: bool,
}

/// The number of elements of an array on the stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Len {
    Fixed(usize),
    /// As many as a vector has lanes, so many times.
    Lanes(usize),
}

/// Where an assignment goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    Var(Var),
    /// Behind a pointer.
    Element(Expr, Expr),
    /// What a function gives to its caller.
    Result(Var),
    /// A top-level constant.
    Global(Var),
    /// What an entry point gives to its caller.
    Output(usize, OutputPart),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OutputPart {
    Scalar,
    Data,
    Block,
    Dim(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LoopKind {
    /// Iterations depend on earlier ones, or are not worth more thought.
    Sequential,
    /// As above, with so many iterations written out in a row.
    Unrolled(usize),
    /// There are so few iterations that setting up vectors would take longer.
    Scalar,
    /// Iterations write to different places and run no other loops. The variables in `sums` are combined over all
    /// iterations, in any order.
    Simd { sums: Vec<(Combine, Var)> },
}

impl LoopKind {
    pub const SIMD: LoopKind = LoopKind::Simd { sums: Vec::new() };

    /// The variables that are combined over all iterations.
    pub fn sums(&self) -> &[(Combine, Var)] {
        match self {
            LoopKind::Simd { sums } => sums,
            LoopKind::Sequential | LoopKind::Unrolled(_) | LoopKind::Scalar => &[],
        }
    }

    pub fn sums_mut(&mut self) -> &mut [(Combine, Var)] {
        match self {
            LoopKind::Simd { sums } => sums,
            LoopKind::Sequential | LoopKind::Unrolled(_) | LoopKind::Scalar => &mut [],
        }
    }
}

/// Operators that iterations can be combined with in any order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    Add,
    Multiply,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// The body for pieces of the numbers below `count`: those from `from` up to `to`, which the body can read. All pieces but the
/// last have `grain` numbers, and they can run at the same time; they begin in any order, unless a piece may wait for the one
/// before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parallel {
    pub count: Expr,
    pub grain: Expr,
    pub in_order: bool,
    pub from: Var,
    pub to: Var,
    pub note: Note,
    pub body: Vec<Stm>,
}

/// A parallel loop that calls a task with what it needs from outside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Launch {
    pub task: usize,
    pub outside: Vec<Var>,
    /// The table of places where something can go wrong, and whether all calls have the same one.
    pub sites: Vec<Site>,
    pub count: Expr,
    pub grain: Expr,
    pub in_order: bool,
    pub note: Note,
}

/// How often a condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rate {
    Unknown,
    /// Errors and the like.
    Rarely,
}

/// The statements inside of a statement, to be read or to be changed.
macro_rules! bodies {
    ($stm:expr $(, $mut:tt)?) => {
        match $stm {
            Stm::Block(body) | Stm::Loop { body, .. } | Stm::Forever { body, .. } => [body, &$($mut)? []],
            Stm::Parallel(parallel) => [&$($mut)? parallel.body, &$($mut)? []],
            Stm::If { then, otherwise, .. } => [then, otherwise],
            Stm::Declare { .. }
            | Stm::StackArray(_)
            | Stm::CopyTable { .. }
            | Stm::Assign(..)
            | Stm::Do(..)
            | Stm::Attempt { .. }
            | Stm::Call { .. }
            | Stm::Require(_)
            | Stm::Note(_)
            | Stm::NoteArray { .. }
            | Stm::Trace(_)
            | Stm::Fail(_)
            | Stm::Return
            | Stm::Break
            | Stm::Product(_)
            | Stm::Launch(_) => [&$($mut)? [], &$($mut)? []],
        }
    };
}

impl Stm {
    pub fn declare(var: &Var, value: impl Operand) -> Stm {
        Stm::Declare { var: var.clone(), value: Some(value.expr()) }
    }

    pub fn assign(var: &Var, value: impl Operand) -> Stm {
        Stm::Assign(Place::Var(var.clone()), value.expr())
    }

    pub fn write(pointer: impl Operand, place: impl Operand, value: impl Operand) -> Stm {
        Stm::Assign(Place::Element(pointer.expr(), place.expr()), value.expr())
    }

    pub fn run<const N: usize>(runtime: Runtime, operands: [Expr; N]) -> Stm {
        Stm::Do(runtime, operands.into())
    }

    pub fn branch(cond: impl Operand, then: Vec<Stm>, otherwise: Vec<Stm>) -> Stm {
        Stm::If { cond: cond.expr(), rate: Rate::Unknown, then, otherwise }
    }

    pub fn when(cond: impl Operand, then: Vec<Stm>) -> Stm {
        Stm::branch(cond, then, Vec::new())
    }

    pub fn when_rarely(cond: impl Operand, then: Vec<Stm>) -> Stm {
        Stm::If { cond: cond.expr(), rate: Rate::Rarely, then, otherwise: Vec::new() }
    }

    /// The statements inside.
    pub fn bodies(&self) -> [&[Stm]; 2] {
        bodies!(self)
    }

    pub fn bodies_mut(&mut self) -> [&mut [Stm]; 2] {
        bodies!(self, mut)
    }

    /// Leaves out the places in the source.
    pub fn remove_notes(&mut self) {
        match self {
            Stm::Loop { note, .. } | Stm::Forever { note, .. } => *note = None,
            Stm::Parallel(parallel) => parallel.note = None,
            Stm::Launch(launch) => launch.note = None,
            _ => {}
        }
        self.bodies_mut().into_iter().flatten().for_each(Stm::remove_notes);
    }
}

/// How many lines the statements take, about.
pub(crate) fn lines(stms: &[Stm]) -> usize {
    let of = |stm: &Stm| match stm {
        Stm::If { then, otherwise, .. } => 2 + lines(then) + lines(otherwise),
        Stm::Block(_) | Stm::Loop { .. } | Stm::Parallel(_) | Stm::Forever { .. } => {
            2 + lines(stm.bodies()[0])
        }
        _ => 1,
    };
    stms.iter().map(of).sum()
}

impl StackArray {
    /// One array without first values.
    pub fn of(var: &Var, len: usize) -> StackArray {
        StackArray {
            var: var.clone(),
            rows: None,
            len: Len::Fixed(len),
            values: Vec::new(),
            is_aligned: false,
        }
    }

    pub fn elem(&self) -> Option<PrimType> {
        match self.var.repr {
            Repr::Pointer(elem, _) => Some(elem),
            _ => None,
        }
    }
}
