//! Imp: programs with loops, variables and memory, close to C and to CUDA.
//!
//! Expressions are text that both languages read alike; statements are a tree, so that what a loop is (in order, for
//! vector units, or parallel) and which variables there are stays known until it is printed.

use std::collections::BTreeSet;

use dagaz_core::exp::Loc;
use dagaz_core::prim::PrimType;

use crate::{Remark, Site};

#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Top-level constants: declarations inside of the program's state.
    pub globals: Vec<String>,
    pub functions: Vec<Function>,
    pub entries: Vec<String>,
    pub sites: Vec<Site>,
    pub remarks: Vec<Remark>,
    /// The places of statements whose time is counted; none unless that is wanted.
    pub profiled: Vec<Loc>,
    /// The types of elements that there are matrix products of.
    pub products: BTreeSet<PrimType>,
    /// Those of them that there are products of triangles of.
    pub triangles: BTreeSet<PrimType>,
    /// The types of elements whose additions are logged (`log.c`).
    pub logs: BTreeSet<PrimType>,
    /// Whether rows are written in a detour (`turn.c`).
    pub turns_rows: bool,
}

/// Gives a status: zero, or one for an error.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub params: Vec<Variable>,
    pub body: Vec<Stm>,
    /// Called from outside.
    pub exported: bool,
}

/// A variable with its type as C writes it: `f64`, `f64 *`, `dz_block *`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    pub ty: String,
    pub name: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoopKind {
    /// Iterations depend on earlier ones, or are not worth more thought.
    Sequential,
    /// Iterations write to different places and run no other loops. The variables in `sums` are combined over all
    /// iterations by an operator of C, in any order.
    Simd { sums: Vec<(&'static str, String)> },
}

impl LoopKind {
    pub const SIMD: LoopKind = LoopKind::Simd { sums: Vec::new() };
}

#[derive(Clone, Debug)]
pub enum Stm {
    Declare {
        var: Variable,
        value: Option<String>,
    },
    /// An assignment or a call.
    Line(String),
    Block(Vec<Stm>),
    /// `var` from `from` up to `to`; `note` says where in the source.
    Loop {
        kind: LoopKind,
        var: String,
        from: String,
        to: String,
        note: String,
        body: Vec<Stm>,
    },
    /// The body for pieces of the numbers below `count`: those from `from` up to `to`, which the body can read. All
    /// pieces but the last have `grain` numbers, and they can run at the same time; they begin in any order, unless a
    /// piece may wait for the one before it.
    Parallel {
        count: String,
        grain: String,
        in_order: bool,
        from: String,
        to: String,
        note: String,
        body: Vec<Stm>,
    },
    /// Until a `break`.
    Forever {
        note: String,
        body: Vec<Stm>,
    },
    If {
        cond: String,
        then: Vec<Stm>,
        otherwise: Vec<Stm>,
    },
}

/// What stands in statements for the number of a place where something can go wrong ([`Module::sites`]): the same loop may
/// be run from several places, which then tell it their numbers.
pub(crate) fn site_word(number: usize) -> String {
    format!("site_{number}")
}

/// The number that a word stands for, if it is such a word.
pub(crate) fn site_number(word: &str) -> Option<&str> {
    word.strip_prefix("site_").filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How many lines the statements take, about.
pub(crate) fn lines(stms: &[Stm]) -> usize {
    let of = |stm: &Stm| match stm {
        Stm::Declare { .. } | Stm::Line(_) => 1,
        Stm::Block(body)
        | Stm::Loop { body, .. }
        | Stm::Parallel { body, .. }
        | Stm::Forever { body, .. } => 2 + lines(body),
        Stm::If { then, otherwise, .. } => 2 + lines(then) + lines(otherwise),
    };
    stms.iter().map(of).sum()
}
