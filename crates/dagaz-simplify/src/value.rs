//! Static values: what the simplifier computes with.
//!
//! An [`SVal`] is a tree that mirrors the source type, with Core atoms at its leaves. An array is a node with a
//! size above the tree of its *elements*, in which every leaf is an array over all the sizes above it:
//!
//! ```text
//! [n](f32, [k]i32)     is     Array n (Record (xs: [n]f32) (Array k (ys: [n][k]i32)))
//! ```
//!
//! So arrays of records are records of arrays, and an array of functions is a function whose captured leaves are
//! arrays (a table of captured data). The Core type of a leaf is always its primitive type under exactly the sizes
//! on the path above it, atom for atom.

use std::cell::RefCell;
use std::rc::Rc;

use dagaz_core::exp::{Check, LoopHints};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, FunId, VarId as CoreVar};
use dagaz_syntax::{Name, Span};
use dagaz_types::typed::{Alias, Def, Functor, Lambda};
use dagaz_types::types::{ModId, Type, TypeId, TypeParam, VarId};

use crate::effects::CellId;
use crate::free::Free;
use crate::index_set::ESet;

#[derive(Clone)]
pub(crate) enum SVal {
    /// A leaf: a scalar, or an array of scalars below [`SVal::Array`] nodes.
    Scalar(PrimType, Atom),
    Array(Rc<ArrayVal>),
    /// Sorted by field.
    Record(Rc<[(Name, SVal)]>),
    Sum(Rc<SumVal>),
    Fun(Rc<FunVal>),
    /// One of several functions with different code.
    Choice(Rc<ChoiceVal>),
    Acc(Rc<AccVal>),
    Ref(Rc<RefVal>),
    /// A definition that is not instantiated yet. Only in environments.
    Def(Rc<DefInst>),
    /// A value seen through a module type. Only in environments.
    Alias(Rc<AliasInst>),
    /// A size that comes into being with the value of a constant. Only in environments.
    SizeOf(Rc<DefInst>, VarId),
    /// A size that has no value yet. Only in environments.
    UnboundSize(VarId),
    /// A function inside a constructor that is not the active one.
    Absent,
}

pub(crate) struct ArrayVal {
    pub dim: Atom,
    pub elem: SVal,
}

pub(crate) struct SumVal {
    /// An `i8`: the position of the active constructor.
    pub tag: Atom,
    /// Sorted by constructor; the payloads of inactive constructors hold zeros.
    pub constrs: Vec<(Name, Vec<SVal>)>,
}

/// Code applied to fewer arguments than it takes.
#[derive(Clone)]
pub(crate) struct FunVal {
    pub code: Code,
    pub args: Vec<SVal>,
}

#[derive(Clone)]
pub(crate) enum Code {
    Lambda {
        lambda: Rc<Lambda>,
        free: Rc<Free>,
        env: Env,
    },
    Def {
        def: Rc<DefInst>,
        type_args: Rc<[EArg]>,
    },
    Intrinsic {
        name: Name,
        type_args: Rc<[EArg]>,
    },
    /// A derivative at a point: see [`crate::intrinsics`].
    Linear(Rc<LinearFun>),
}

/// A linear function of Core. Its arguments, before the tangent, are a tuple of residuals, the point, and the result there.
pub(crate) struct LinearFun {
    pub fun: FunId,
    /// Of each size in the arguments, in the order of [`crate::walk::flatten`], what the function knows it as.
    pub sizes: Vec<LinearSize>,
}

#[derive(Clone, Copy)]
pub(crate) enum LinearSize {
    /// A constant, or a variable that is in scope everywhere.
    Known(Atom),
    /// This parameter.
    Param(usize),
}

pub(crate) struct ChoiceVal {
    /// An `i8`: the position of the chosen alternative.
    pub tag: Atom,
    pub alts: Vec<SVal>,
}

/// An accumulator for an array of the sizes `dims`.
#[derive(Clone)]
pub(crate) struct AccVal {
    pub acc: Atom,
    pub dims: Vec<Atom>,
    pub elem: EType,
}

/// A part of what a handler keeps: see [`crate::effects`].
pub(crate) struct RefVal {
    pub cell: CellId,
    pub path: Vec<RefStep>,
    /// Of the part.
    pub ty: EType,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum RefStep {
    Field(Name),
    Index(Atom, Check),
}

/// A definition with the environment that it was made in.
pub(crate) struct DefInst {
    pub origin: Origin,
    pub def: Rc<Def>,
    pub env: Env,
    pub value: RefCell<ConstState>,
}

/// What tells two instances of a definition apart.
pub(crate) enum Origin {
    /// A number, different for each instance of a module.
    Global(u64),
    /// What a local function captured.
    Local(Rc<Free>),
}

/// The value of a constant, computed when it is first used.
pub(crate) enum ConstState {
    Unused,
    Running,
    Done(SVal),
}

pub(crate) struct AliasInst {
    pub id: u64,
    pub alias: Alias,
    pub env: Env,
}

#[derive(Clone, Default)]
pub(crate) struct Env {
    pub vars: imbl::HashMap<VarId, SVal>,
    pub types: imbl::HashMap<TypeId, TypeBinding>,
    pub mods: imbl::HashMap<ModId, Rc<FunctorInst>>,
    /// Beneath `#[unsafe]`: the user's assertions are left out.
    pub unchecked: bool,
    /// What attributes have said about the loop that comes next.
    pub loop_hints: LoopHints,
    /// The place of the attribute that wants the next loop to be unrolled.
    pub unroll: Option<Span>,
}

#[derive(Clone)]
pub(crate) enum TypeBinding {
    Type(EType),
    /// An index type, which is more than what represents it.
    Index(EType, Rc<ESet>),
    Closure(Rc<TypeClosure>),
}

pub(crate) struct TypeClosure {
    pub id: u64,
    pub params: Vec<TypeParam>,
    pub body: Type,
    pub env: Env,
    /// The functions of a declared index type.
    pub index: Option<VarId>,
}

pub(crate) struct FunctorInst {
    pub functor: Rc<Functor>,
    pub env: Env,
}

/// An evaluated type: parameters and abstract types are gone, and sizes are atoms.
#[derive(Clone)]
pub(crate) enum EType {
    Prim(PrimType),
    Array(EDim, Rc<EType>),
    Record(Rc<[(Name, EType)]>),
    Sum(Rc<[(Name, Vec<EType>)]>),
    Fun,
    Acc(Rc<EType>),
    /// A reference, to a value of the type.
    Ref(Rc<EType>),
}

#[derive(Clone, Copy)]
pub(crate) enum EDim {
    Known(Atom),
    /// To be found by looking at a value.
    Free(VarId),
}

#[derive(Clone)]
pub(crate) enum EArg {
    Size(EDim),
    Type(EType),
    /// An index type, which is more than what represents it.
    Index(EType, Rc<ESet>),
}

impl SVal {
    pub fn i64(atom: Atom) -> SVal {
        SVal::Scalar(PrimType::I64, atom)
    }

    pub fn bool(atom: Atom) -> SVal {
        SVal::Scalar(PrimType::Bool, atom)
    }

    pub fn array(dim: Atom, elem: SVal) -> SVal {
        SVal::Array(Rc::new(ArrayVal { dim, elem }))
    }

    pub fn tuple(vals: impl IntoIterator<Item = SVal>) -> SVal {
        SVal::Record(vals.into_iter().enumerate().map(|(i, v)| (Name::tuple_field(i), v)).collect())
    }

    /// The parts of a tuple or record.
    pub fn tuple_parts(&self) -> Vec<SVal> {
        match self {
            SVal::Record(parts) => parts.iter().map(|(_, value)| value.clone()).collect(),
            _ => Vec::new(),
        }
    }

    pub fn fun(code: Code) -> SVal {
        SVal::Fun(Rc::new(FunVal { code, args: Vec::new() }))
    }
}

impl DefInst {
    pub fn local(def: Rc<Def>, env: Env, free: Rc<Free>) -> DefInst {
        DefInst { origin: Origin::Local(free), def, env, value: RefCell::new(ConstState::Unused) }
    }
}

impl EType {
    pub fn contains_fun(&self) -> bool {
        match self {
            EType::Prim(_) | EType::Acc(_) | EType::Ref(_) => false,
            EType::Fun => true,
            EType::Array(_, t) => t.contains_fun(),
            EType::Record(fields) => fields.iter().any(|(_, t)| t.contains_fun()),
            EType::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(EType::contains_fun)),
        }
    }
}

pub(crate) fn tag(value: usize) -> Atom {
    Atom::Const(Prim::I8(value as i8))
}

pub(crate) fn as_var(atom: Atom) -> Option<CoreVar> {
    match atom {
        Atom::Var(v) => Some(v),
        Atom::Const(_) => None,
    }
}
