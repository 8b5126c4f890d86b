//! The syntax tree: what was written, before names and types mean anything.
//!
//! Every expression, pattern and type expression has a [`NodeId`], unique within its file, by which the
//! type checker remembers what it found out about the node.

use crate::{Name, Span};

/// Identifies an expression, pattern or type expression within its file. Numbered from 0 without gaps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A parsed file.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The documentation comment at the head of the file, if any.
    pub doc: Option<DocComment>,
    pub decs: Vec<Dec>,
    /// Every comment of the file in order, documentation comments and test blocks included.
    pub comments: Vec<Comment>,
    /// One more than the largest [`NodeId`] used.
    pub node_count: u32,
}

/// A line comment, with its `--`.
#[derive(Clone, Debug)]
pub struct Comment {
    pub span: Span,
    pub text: String,
}

/// The text of a `-- |` block, without the dashes.
#[derive(Clone, Debug)]
pub struct DocComment {
    pub text: String,
    pub span: Span,
}

/// A name where it is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// A possibly qualified name: `a.b.x` has `quals = [a, b]`. In expressions the trailing part may turn
/// out to be record fields; the type checker decides.
#[derive(Clone, Debug)]
pub struct QualName {
    pub quals: Vec<Ident>,
    pub name: Name,
    /// Covers the whole qualified name.
    pub span: Span,
}

// ---------------------------------------------------------------------------------------------------
// Declarations

#[derive(Clone, Debug)]
pub struct Dec {
    pub kind: DecKind,
    pub span: Span,
    pub doc: Option<DocComment>,
    pub attrs: Vec<Attr>,
}

#[derive(Clone, Debug)]
pub enum DecKind {
    Val(ValBind),
    Type(TypeBind),
    IndexType(IndexBind),
    Module(ModBind),
    ModuleType {
        name: Ident,
        body: ModTypeExp,
    },
    Open(ModExp),
    /// `import "path"`, which is `local open import "path"`.
    Import {
        path: String,
        path_span: Span,
    },
    Local(Box<Dec>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BindKeyword {
    Def,
    Entry,
    /// The deprecated spelling of `def`.
    Let,
}

/// `def name type_params params : ret = body`, or the infix form, which has exactly two parameters.
#[derive(Clone, Debug)]
pub struct ValBind {
    pub keyword: BindKeyword,
    /// An identifier or an operator symbol.
    pub name: Ident,
    pub type_params: Vec<TypeParam>,
    pub params: Vec<Pat>,
    pub ret: Option<TypeExp>,
    pub body: Exp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Liftedness {
    /// `'t`, `type`
    Unlifted,
    /// `'~t`, `type~`
    SizeLifted,
    /// `'^t`, `type^`
    Lifted,
}

#[derive(Clone, Debug)]
pub struct TypeParam {
    pub name: Ident,
    pub kind: TypeParamKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeParamKind {
    /// `[n]`
    Size,
    /// `'t`, `'~t`, `'^t`
    Type(Liftedness),
}

#[derive(Clone, Debug)]
pub struct TypeBind {
    pub name: Ident,
    pub liftedness: Liftedness,
    pub params: Vec<TypeParam>,
    pub body: TypeExp,
}

/// `index type name [n]… of representation = {size = …, ordinal = …, from_ordinal = …}`: a type whose values number
/// the elements of arrays.
#[derive(Clone, Debug)]
pub struct IndexBind {
    /// The type: its size parameters, and what represents its values.
    pub ty: TypeBind,
    /// The record, as a function of the sizes with the type's name.
    pub functions: ValBind,
}

/// `#[attr]` and its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr {
    pub kind: AttrKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AttrKind {
    Name(Name),
    Int(i128),
    Compound(Name, Vec<Attr>),
}

// ---------------------------------------------------------------------------------------------------
// Modules

#[derive(Clone, Debug)]
pub struct ModBind {
    pub name: Ident,
    pub params: Vec<ModParam>,
    pub sig: Option<ModTypeExp>,
    pub body: ModExp,
}

#[derive(Clone, Debug)]
pub struct ModParam {
    pub name: Ident,
    pub ty: ModTypeExp,
}

#[derive(Clone, Debug)]
pub struct ModExp {
    pub kind: ModExpKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ModExpKind {
    Var(QualName),
    Ascript(Box<ModExp>, ModTypeExp),
    Lambda { param: ModParam, sig: Option<ModTypeExp>, body: Box<ModExp> },
    Apply(Box<ModExp>, Box<ModExp>),
    Paren(Box<ModExp>),
    Decs(Vec<Dec>),
    Import { path: String, path_span: Span },
}

#[derive(Clone, Debug)]
pub struct ModTypeExp {
    pub kind: ModTypeExpKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ModTypeExpKind {
    Var(QualName),
    Specs(Vec<Spec>),
    /// `mt with t params = type`
    With {
        base: Box<ModTypeExp>,
        name: QualName,
        params: Vec<TypeParam>,
        ty: TypeExp,
    },
    Paren(Box<ModTypeExp>),
    /// `(p : mt1) -> mt2` or `mt1 -> mt2`
    Arrow {
        param: Option<Ident>,
        from: Box<ModTypeExp>,
        to: Box<ModTypeExp>,
    },
}

#[derive(Clone, Debug)]
pub struct Spec {
    pub kind: SpecKind,
    pub span: Span,
    pub doc: Option<DocComment>,
    pub attrs: Vec<Attr>,
}

#[derive(Clone, Debug)]
pub enum SpecKind {
    Val {
        name: Ident,
        type_params: Vec<TypeParam>,
        ty: TypeExp,
    },
    /// `type t params` (abstract) or `type t params = ty`.
    Type {
        name: Ident,
        liftedness: Liftedness,
        params: Vec<TypeParam>,
        body: Option<TypeExp>,
    },
    Module {
        name: Ident,
        ty: ModTypeExp,
    },
    Include(ModTypeExp),
}

// ---------------------------------------------------------------------------------------------------
// Type expressions

#[derive(Clone, Debug)]
pub struct TypeExp {
    pub id: NodeId,
    pub kind: TypeExpKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypeExpKind {
    Var(QualName),
    Paren(Box<TypeExp>),
    Tuple(Vec<TypeExp>),
    Record(Vec<(Ident, TypeExp)>),
    /// `[dim]elem`; `None` is the anonymous size `[]`.
    Array {
        dim: Option<Box<Exp>>,
        elem: Box<TypeExp>,
    },
    /// `*t`
    Unique(Box<TypeExp>),
    /// `t a1 … an`
    Apply {
        fun: Box<TypeExp>,
        args: Vec<TypeArg>,
    },
    /// `(p : from) -> to` or `from -> to`
    Arrow {
        param: Option<Ident>,
        from: Box<TypeExp>,
        to: Box<TypeExp>,
    },
    /// `#a t1 t2 | #b`
    Sum(Vec<(Ident, Vec<TypeExp>)>),
    /// `?[n][m].t`
    Exists {
        sizes: Vec<Ident>,
        body: Box<TypeExp>,
    },
}

#[derive(Clone, Debug)]
pub enum TypeArg {
    /// `[e]`, or `[]` for `None`
    Size {
        dim: Option<Box<Exp>>,
        span: Span,
    },
    Type(TypeExp),
}

// ---------------------------------------------------------------------------------------------------
// Patterns

#[derive(Clone, Debug)]
pub struct Pat {
    pub id: NodeId,
    pub kind: PatKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PatKind {
    /// An identifier, or an operator symbol in parentheses.
    Var(Ident),
    Wildcard,
    /// A literal with an optional minus sign already applied.
    Lit(Literal),
    Paren(Box<Pat>),
    Tuple(Vec<Pat>),
    /// `{f = p, g}`; `None` binds a variable of the field's name.
    Record(Vec<(Ident, Option<Pat>)>),
    Constr {
        name: Ident,
        args: Vec<Pat>,
    },
    Ascript(Box<Pat>, TypeExp),
    Attr(Attr, Box<Pat>),
}

// ---------------------------------------------------------------------------------------------------
// Expressions

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PrimType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    Bool,
}

impl PrimType {
    pub const ALL: [PrimType; 12] = [
        PrimType::I8,
        PrimType::I16,
        PrimType::I32,
        PrimType::I64,
        PrimType::U8,
        PrimType::U16,
        PrimType::U32,
        PrimType::U64,
        PrimType::F16,
        PrimType::F32,
        PrimType::F64,
        PrimType::Bool,
    ];
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Literal {
    Bool(bool),
    /// An integer (decimal, hexadecimal, binary, or a character) with its suffix, which may also be a
    /// float type: `1f32`. The value is within `-2^64 ..= 2^64`; whether it fits its type is checked later.
    Int(i128, Option<PrimType>),
    /// A number with a fraction or an exponent.
    Float(f64, Option<PrimType>),
}

#[derive(Clone, Debug)]
pub struct Exp {
    pub id: NodeId,
    pub kind: ExpKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExpKind {
    Lit(Literal),
    /// A string literal: its UTF-8 bytes after escapes.
    Str(Vec<u8>),
    /// Also an operator in parentheses, `(+)` or `(m.+)`.
    Var(QualName),
    /// `???`
    Hole,
    Paren(Box<Exp>),
    /// `()` or two and more components.
    Tuple(Vec<Exp>),
    Record(Vec<Field>),
    Array(Vec<Exp>),
    /// `e.f`, where `e` is not a plain qualified name (those stay [`ExpKind::Var`]).
    Project(Box<Exp>, Ident),
    /// `e[i, a:b:s]`
    Index(Box<Exp>, Vec<SliceIndex>),
    /// `m.(e)`
    LocalOpen {
        module: QualName,
        body: Box<Exp>,
    },
    /// `l op r`, including `&&`, `||` and backquoted names; precedence is already resolved.
    BinOp {
        op: QualName,
        lhs: Box<Exp>,
        rhs: Box<Exp>,
    },
    /// `-e`
    Neg(Box<Exp>),
    /// `!e`
    Not(Box<Exp>),
    /// `f a1 … an`, n ≥ 1
    App {
        fun: Box<Exp>,
        args: Vec<Exp>,
    },
    /// `#c a1 … an`
    Constr {
        name: Ident,
        args: Vec<Exp>,
    },
    /// `(l op)`
    SectionLeft {
        op: QualName,
        lhs: Box<Exp>,
    },
    /// `(op r)`
    SectionRight {
        op: QualName,
        rhs: Box<Exp>,
    },
    /// `(.f.g)`, `(.[i])`, `(.f[i].g)`
    SectionAccess(Vec<Access>),
    /// `e : t`
    Ascript(Box<Exp>, TypeExp),
    /// `e :> t`
    Coerce(Box<Exp>, TypeExp),
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
    /// `let [n] pat = value in body`
    Let {
        sizes: Vec<Ident>,
        pat: Pat,
        value: Box<Exp>,
        body: Box<Exp>,
    },
    /// `let f type_params params : ret = def in body`, with at least one parameter (or type parameter).
    LetFun {
        name: Ident,
        type_params: Vec<TypeParam>,
        params: Vec<Pat>,
        ret: Option<TypeExp>,
        def: Box<Exp>,
        body: Box<Exp>,
    },
    /// `let x[i].f = value in body`
    LetWith {
        name: Ident,
        path: Vec<Access>,
        value: Box<Exp>,
        body: Box<Exp>,
    },
    Lambda {
        params: Vec<Pat>,
        ret: Option<TypeExp>,
        body: Box<Exp>,
    },
    /// `loop pat = init form do body`; without `init`, the pattern read as an expression.
    Loop {
        pat: Pat,
        init: Option<Box<Exp>>,
        form: LoopForm,
        body: Box<Exp>,
    },
    /// `for i (j, k) l < n -> body`: the array of the body's values, a dimension for each binder.
    For {
        binders: Vec<ForBinder>,
        body: Box<Exp>,
    },
    /// `first; second`
    Seq {
        first: Box<Exp>,
        second: Box<Exp>,
    },
    Match {
        scrutinee: Box<Exp>,
        cases: Vec<Case>,
    },
    /// `e with [i].f = value`
    With {
        target: Box<Exp>,
        path: Vec<Access>,
        value: Box<Exp>,
    },
    Assert {
        cond: Box<Exp>,
        body: Box<Exp>,
    },
    Attr(Attr, Box<Exp>),
    /// Stands where the parser could not read an expression; an error was reported.
    Error,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "most fields are explicit")]
pub enum Field {
    /// `f = e`
    Explicit(Ident, Exp),
    /// `f`, which is `f = f`; the node is the variable's.
    Implicit(Ident, NodeId),
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few of them, and matching without boxes is simpler")]
pub enum SliceIndex {
    Index(Exp),
    /// `i:j:s`, each part optional; `a[:]` and `a[::]` have none.
    Slice {
        start: Option<Exp>,
        end: Option<Exp>,
        stride: Option<Exp>,
        span: Span,
    },
}

/// A step into a value: `.f` or `[i, j]`.
#[derive(Clone, Debug)]
pub enum Access {
    Field(Ident),
    Index(Vec<SliceIndex>, Span),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeKind {
    /// `...`
    Inclusive,
    /// `..<`
    UpTo,
    /// `..>`
    DownTo,
}

#[derive(Clone, Debug)]
pub enum LoopForm {
    /// `for i < bound`
    For {
        var: Ident,
        bound: Box<Exp>,
    },
    /// `for pat in array`
    ForIn {
        pat: Pat,
        array: Box<Exp>,
    },
    While(Box<Exp>),
}

/// An index of `for`, with the number of its values if that was written.
#[derive(Clone, Debug)]
pub struct ForBinder {
    pub pat: Pat,
    pub bound: Option<Exp>,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub pat: Pat,
    pub body: Exp,
    pub span: Span,
}
