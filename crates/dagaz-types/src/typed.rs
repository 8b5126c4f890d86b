//! The typed program: what the checker hands to the simplifier.
//!
//! Names are resolved to [`VarId`]s, overloading to intrinsics at a type, operators and sections to
//! applications and lambdas, and modules to flat lists of declarations. Every use of a polymorphic
//! definition carries the sizes and types that it is used at, in the order of the definition's parameters.
//!
//! *Unknown sizes.* An expression may bring sizes into existence that have no name in the source, such as
//! the size of `filter p xs`. They are listed in [`Exp::exts`], occur in [`Exp::ty`], and get their values
//! by matching that type with the shape of the value once it is there. They are in scope in everything
//! that is evaluated later.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_syntax::ast::{AttrKind, RangeKind};
use dagaz_syntax::{Name, Span};

use crate::types::{ModId, PrimType, References, RetType, Type, TypeArg, TypeId, TypeParam, VarId};

/// A whole program, the prelude and all imported files first.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub decs: Vec<Rc<Dec>>,
    /// Entry points of the main file, in order.
    pub entries: Vec<VarId>,
    pub index_checks: Vec<IndexCheck>,
    /// Which types are references.
    pub references: References,
    /// The order in which types declare the constructors of a sum, by the constructors sorted.
    pub constructor_orders: HashMap<Vec<Name>, Vec<Name>>,
}

/// A function that looks for a fault in a declared index type: from its sizes to the first number `k` whose index has
/// another number, and that number; or -1 and the size of the set.
#[derive(Clone, Debug)]
pub struct IndexCheck {
    pub entry: VarId,
    pub name: Name,
    /// The type's size parameters.
    pub sizes: Vec<Name>,
    pub span: Span,
    /// Where its functions are written.
    pub functions: Vec<(Name, Span)>,
}

#[derive(Clone, Debug)]
pub enum Dec {
    Def(Rc<Def>),
    /// `var` is `target` at the type arguments `inst`, which may mention the parameters `params` of `var`. This
    /// is how a module's value is seen through a module type.
    Alias(Alias),
    /// What an abstract type really is, here.
    Abstract(TypeDef),
    Functor(Rc<Functor>),
    Apply(Apply),
}

#[derive(Clone, Debug)]
pub struct Alias {
    pub var: VarId,
    pub params: Vec<TypeParam>,
    pub target: VarId,
    pub inst: Vec<TypeArg>,
}

#[derive(Clone, Debug)]
pub struct TypeDef {
    pub id: TypeId,
    pub params: Vec<TypeParam>,
    /// Sizes that the type leaves open; every value of the type has its own.
    pub exts: Vec<VarId>,
    pub body: Type,
    /// The functions of a declared index type.
    pub index: Option<VarId>,
}

/// A parametric module. Its body mentions the values, types and parametric modules of its parameter by
/// their ids, which every application binds.
#[derive(Clone, Debug)]
pub struct Functor {
    pub id: ModId,
    pub body: Vec<Rc<Dec>>,
}

/// Application of a parametric module: bind the parameter's ids (`types`, `values`, `mods`, understood in the scope of
/// the application), run the body in the functor's scope, then copy from there what the result exports: pairs of the
/// new id and the id inside.
#[derive(Clone, Debug)]
pub struct Apply {
    pub functor: ModId,
    pub types: Vec<TypeDef>,
    pub values: Vec<Alias>,
    /// Parameter's id, argument's id.
    pub mods: Vec<(ModId, ModId)>,
    pub result_types: Vec<(TypeId, TypeId)>,
    pub result_values: Vec<(VarId, VarId)>,
    pub result_mods: Vec<(ModId, ModId)>,
    pub span: Span,
}

/// A definition: a function, or a constant if there are no parameters (then it may still be polymorphic, or
/// have a function as its value). Also used for local functions. A function may refer to itself.
#[derive(Clone, Debug)]
pub struct Def {
    pub var: VarId,
    pub name: Name,
    pub type_params: Vec<TypeParam>,
    pub params: Vec<Pat>,
    /// Of the body, with all parameters applied.
    pub ret: RetType,
    pub body: Exp,
    pub attrs: Vec<AttrKind>,
    /// What an entry point's types are called in the source: parameters, then results. Empty otherwise.
    pub entry: Option<EntryTypes>,
    pub span: Span,
}

/// The types of an entry point as written, where they were written: for naming opaque types.
#[derive(Clone, Debug, Default)]
pub struct EntryTypes {
    pub params: Vec<Option<String>>,
    pub results: Vec<Option<String>>,
}

#[derive(Clone, Debug)]
pub struct Exp {
    pub kind: ExpKind,
    pub ty: Type,
    /// Sizes that come into being with the value of this expression; see the module's documentation.
    pub exts: Vec<VarId>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExpKind {
    /// An integer of `Exp::ty`, which may be a float type.
    Int(i128),
    /// A number of `Exp::ty`.
    Float(f64),
    Bool(bool),
    /// A `[n]u8`.
    Str(Vec<u8>),
    /// A variable, size or definition.
    Var {
        var: VarId,
        name: Name,
        inst: Vec<TypeArg>,
    },
    /// An operation of `prelude/intrinsics.fut`, including the operators.
    Intrinsic {
        name: Name,
        inst: Vec<TypeArg>,
    },
    /// `???`: a run-time error.
    Hole,
    /// Evaluated in this order; not sorted.
    Record(Vec<(Name, Exp)>),
    Array(Vec<Exp>),
    Project(Box<Exp>, Name),
    Index {
        array: Box<Exp>,
        slice: Vec<SliceIndex>,
    },
    /// At least one argument; there may be fewer or more than the function has parameters.
    App {
        fun: Box<Exp>,
        args: Vec<Exp>,
    },
    And(Box<Exp>, Box<Exp>),
    Or(Box<Exp>, Box<Exp>),
    Constr {
        name: Name,
        args: Vec<Exp>,
    },
    /// `e : t`, whose sizes are known to be right, so that nothing is checked.
    Ascript(Box<Exp>),
    /// `e :> t`: the shape is checked against `Exp::ty`.
    Coerce(Box<Exp>),
    Range {
        start: Box<Exp>,
        second: Option<Box<Exp>>,
        end: Box<Exp>,
        kind: RangeKind,
    },
    If {
        cond: Box<Exp>,
        then: Box<Exp>,
        otherwise: Box<Exp>,
    },
    /// `sizes` get their values from the shape of the value, by matching it with `pat.ty`.
    Let {
        sizes: Vec<VarId>,
        pat: Pat,
        value: Box<Exp>,
        body: Box<Exp>,
    },
    LetFun {
        def: Rc<Def>,
        body: Box<Exp>,
    },
    Lambda(Rc<Lambda>),
    /// `sizes` vary from iteration to iteration: they get their values by matching `pat.ty` with the shape of the
    /// initial value, and of each iteration's result.
    Loop {
        sizes: Vec<VarId>,
        pat: Pat,
        init: Box<Exp>,
        form: LoopForm,
        body: Box<Exp>,
    },
    /// Exhaustive.
    Match {
        scrutinee: Box<Exp>,
        cases: Vec<Case>,
    },
    /// `target with path = value`
    With {
        target: Box<Exp>,
        path: Vec<Access>,
        value: Box<Exp>,
    },
    Assert {
        cond: Box<Exp>,
        body: Box<Exp>,
    },
    Attr(AttrKind, Box<Exp>),
}

/// `sizes` occur in the types of the parameters and nowhere outside: they get their values from the arguments' shapes.
#[derive(Clone, Debug)]
pub struct Lambda {
    pub sizes: Vec<VarId>,
    pub params: Vec<Pat>,
    pub ret: RetType,
    pub body: Exp,
}

#[derive(Clone, Debug)]
pub struct Pat {
    pub kind: PatKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PatKind {
    Var(VarId, Name),
    Wildcard,
    /// Of the pattern's type.
    Int(i128),
    Float(f64),
    Bool(bool),
    Record(Vec<(Name, Pat)>),
    Constr(Name, Vec<Pat>),
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most indices are not slices")]
pub enum SliceIndex {
    /// Of any integer type.
    Index(Exp),
    /// All of type `i64`.
    Slice { start: Option<Box<Exp>>, end: Option<Box<Exp>>, stride: Option<Box<Exp>> },
}

#[derive(Clone, Debug)]
pub enum Access {
    Field(Name),
    Index(Vec<SliceIndex>, Span),
}

#[derive(Clone, Debug)]
pub enum LoopForm {
    /// `ty` is the type of the variable and the bound.
    For {
        var: VarId,
        name: Name,
        ty: PrimType,
        bound: Box<Exp>,
    },
    ForIn {
        pat: Pat,
        array: Box<Exp>,
    },
    While(Box<Exp>),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub pat: Pat,
    pub body: Exp,
}
