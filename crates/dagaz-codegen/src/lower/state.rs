//! What the lowering knows while it goes through a function: of variables, of memory, and of what is around the statement at hand.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::Lambda;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

use super::masked_checks::Deferred;
use super::placing::Destination;
use super::symbols::Symbols;
use super::{cache_blocking, joining, packed_operands, scans, turned};
use crate::imp::{Expr, Var};

#[derive(Clone)]
pub(super) struct VarInfo {
    pub(super) ty: Type,
    /// The innermost repeated body around the binding.
    pub(super) region: u32,
    pub(super) form: Form,
}

/// Where the elements of an array are.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Form {
    /// In a block, contiguous. `owned`: the variable has a reference of its own.
    Block { owned: bool },
    /// In the block of a variable that lives longer; one stride per dimension.
    View { strides: Vec<Expr> },
    /// Nowhere: `start + step * i`, in the arithmetic of `i64`.
    Range { start: Expr, step: Expr },
    /// Nowhere: all are this scalar.
    Fill { value: Expr },
}

/// A body that is being lowered.
pub(super) struct Frame {
    pub(super) last_use: HashMap<VarId, usize>,
    /// The statement at hand; after the last one, the results.
    pub(super) index: usize,
    pub(super) region: u32,
    /// Variables that the statement at hand uses several times.
    pub(super) repeated: HashSet<VarId>,
}

/// An accumulator between the beginning and the end of its `with_acc`.
#[derive(Clone)]
pub(super) struct OpenAcc {
    pub(super) shape: Vec<Atom>,
    pub(super) arrays: Vec<Param>,
    /// With its neutral element.
    pub(super) op: Option<(Lambda, Vec<Atom>)>,
    /// The arrays are copies that a piece of a map has.
    pub(super) is_copy: bool,
    /// The variable of the log that additions go to instead.
    pub(super) log: Option<Var>,
}

/// What is known of the variables in scope.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) vars: HashMap<VarId, VarInfo>,
    /// Top-level constants, and which statement makes each.
    pub(super) consts: HashMap<VarId, usize>,
    pub(super) symbols: Symbols,
    /// Variables that are numbers of rows, and how many of these there are.
    pub(super) below: HashMap<VarId, Atom>,
}

/// Where arrays are, as far as that is not said by their form.
#[derive(Default)]
pub(super) struct Memory {
    /// Where the result of a statement belongs.
    pub(super) dests: HashMap<VarId, Destination>,
    /// Arrays that have their memory before their parts are made.
    pub(super) joined: HashMap<VarId, joining::Joined>,
    /// Arrays that nobody else uses the memory of, though they have no reference to it.
    pub(super) placed: HashSet<VarId>,
    /// Arrays that their variables are the only owners of, until they are consumed.
    pub(super) alone: HashSet<VarId>,
    /// Arrays that are views, and have a reference to what they look at.
    pub(super) sharing: HashSet<VarId>,
    /// Arrays that live as long as the C block around them.
    pub(super) on_stack: HashSet<VarId>,
    /// Arrays whose first values nobody reads.
    pub(super) unread: HashSet<VarId>,
    /// Updates of these have nothing to copy: a map has written the elements.
    pub(super) written: HashSet<VarId>,
    /// The variables of the function at hand that need blocks.
    pub(super) blocks: HashSet<VarId>,
    /// The array that a view looks at.
    pub(super) bases: HashMap<VarId, VarId>,
    /// The array whose elements the pointer of a view is among, and where.
    pub(super) pointers: HashMap<VarId, (VarId, Expr)>,
}

/// What is around the statement at hand.
#[derive(Default)]
pub(super) struct Around {
    /// The innermost body that runs many times.
    pub(super) region: u32,
    /// How many parallel loops there are.
    pub(super) parallel: u32,
    /// The loops of Core, the innermost last.
    pub(super) loops: Vec<packed_operands::LoopAround>,
    /// The functions that stand where they are called.
    pub(super) inlined: Vec<FunId>,
    /// In a loop for vector units.
    pub(super) deferred: Option<Deferred>,
    /// In branches that are computed whether they are wanted or not: the variable that says if they are.
    pub(super) guard: Option<Var>,
    /// In iterations that ran before: what they write counts only if this holds.
    pub(super) only_if: Option<Expr>,
    /// In blocks of rows: where their elements are, place by place.
    pub(super) turned: HashMap<VarId, turned::Room>,
    /// Lists of numbers, and arrays whose rows with these numbers have been fetched.
    pub(super) fetched: HashSet<(VarId, VarId)>,
    /// How many maps there are for their checks.
    pub(super) checking: usize,
    pub(super) part: LoopPart,
}

/// The part of a loop that the statement at hand is in, if the loop is split.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LoopPart {
    #[default]
    Whole,
    /// In the middle of a loop of scalar operations.
    Middle,
    /// Next to the middle: what is inside is not split again.
    Border,
    /// There, around a loop of scalar operations.
    OuterBorder,
}

impl LoopPart {
    pub(super) fn is_border(self) -> bool {
        matches!(self, LoopPart::Border | LoopPart::OuterBorder)
    }
}

/// Operations that happen together.
#[derive(Default)]
pub(super) struct Groups {
    /// What is made of the results of the scan at hand, if it is one in pieces.
    pub(super) following: Option<scans::epilogues::Group>,
    /// What the group of operations at hand does in parts.
    pub(super) part: Option<cache_blocking::Part>,
}

/// What has been counted.
#[derive(Default)]
pub(super) struct Fresh {
    pub(super) temps: u32,
    /// Variables that Core has no names for.
    pub(super) extra: u32,
    /// Bodies that run many times.
    pub(super) regions: u32,
    /// Whether statements count their time.
    pub(super) is_profiled: bool,
}
