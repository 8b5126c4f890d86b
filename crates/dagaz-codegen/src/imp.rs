//! Imp: programs with loops, variables and memory, close to C and to CUDA.
//!
//! Expressions are text that both languages read alike; statements are a tree, so that what a loop is (in order, for
//! vector units, or parallel) stays known until it is printed.

use std::collections::BTreeSet;

use dagaz_core::prim::PrimType;

use crate::Site;

#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Top-level constants: declarations inside of the context.
    pub globals: Vec<String>,
    pub functions: Vec<Function>,
    pub entries: Vec<String>,
    pub sites: Vec<Site>,
    /// The types of elements that there are matrix products of.
    pub products: BTreeSet<PrimType>,
}

/// Gives a status: zero, or one for an error.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub params: Vec<String>,
    pub body: Vec<Stm>,
    /// Called from outside.
    pub exported: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopKind {
    /// Iterations depend on earlier ones, or call functions that do.
    Sequential,
    /// Iterations write to different places and run no other loops.
    Simd,
    /// Iterations write to different places.
    Parallel,
}

#[derive(Clone, Debug)]
pub enum Stm {
    /// A declaration, an assignment or a call.
    Line(String),
    Block(Vec<Stm>),
    /// `var` from 0 up to `bound`; `note` says where in the source.
    Loop {
        kind: LoopKind,
        var: String,
        bound: String,
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
