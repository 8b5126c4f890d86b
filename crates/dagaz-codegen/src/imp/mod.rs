//! Imp: programs with loops, variables and memory, close to C and to CUDA.
//!
//! Expressions are trees, and so are statements: what a loop is (in order, for vector units, or parallel), which variables
//! there are and what is read and written stays known until it is printed. Names of types, calls and notation are the printer's.

mod expr;
mod operand;
mod product;
mod repr;
mod runtime;
mod stm;
mod verify;
mod visit;

use std::collections::BTreeSet;
use std::sync::Arc;

use dagaz_core::exp::Loc;
use dagaz_core::prim::PrimType;

pub use expr::{Const, Expr, InputPart, Site};
pub use operand::{Operand, all, any};
pub use product::{Product, Side, TriangleBounds};
pub use repr::{Access, Repr, Var};
pub use runtime::Runtime;
pub(crate) use stm::lines;
pub use stm::{Combine, Launch, Len, LoopKind, Note, OutputPart, Parallel, Place, Rate, StackArray, Stm};
pub use visit::Part;

pub use verify::verify;

use crate::Remark;

#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Top-level constants: declarations inside of the program's state.
    pub globals: Vec<Var>,
    pub functions: Vec<Function>,
    pub entries: Vec<String>,
    pub sites: Vec<crate::Site>,
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
    pub name: Arc<str>,
    pub signature: Signature,
    pub body: Vec<Stm>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Signature {
    /// Called from other functions: what it takes, and what it gives.
    Internal { params: Vec<Var>, results: Vec<Var> },
    /// Called from outside, with all values in one form.
    Entry,
}

impl Signature {
    /// The variables that a function has from its caller, but for results.
    pub fn vars(&self) -> impl Iterator<Item = &Var> {
        match self {
            Signature::Internal { params, .. } => params.iter(),
            Signature::Entry => [].iter(),
        }
    }
}
