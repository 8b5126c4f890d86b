//! Taking static values apart and putting them together again.
//!
//! A value is a *skeleton* (records, code, primitive types), the sizes in it, and its leaves. [`flatten`] lists the
//! three in a fixed order, [`rebuild`] makes a value of the same skeleton with other sizes and leaves. Branches,
//! loops, functions and maps all work on these lists:
//!
//! ```text
//! Array n (Record (f: xs) (g: ys))     skeleton: array, record f g, f32, i32     sizes: n     leaves: xs, ys
//! ```

use std::rc::Rc;

use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Type};
use dagaz_syntax::Name;

use crate::free::Free;
use crate::index_set::{Constructor, DeclaredSet, ESet};
use crate::value::{
    AccVal, ChoiceVal, Code, DefInst, EArg, EDim, EType, Env, FunVal, Origin, RefStep, RefVal, SVal, SumVal,
    TypeBinding,
};

/// A part of a skeleton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Token {
    Kind(Kind),
    Prim(PrimType),
    Name(Name),
    Number(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Array,
    Record,
    Sum,
    Lambda,
    GlobalDef,
    LocalDef,
    Intrinsic,
    Linear,
    Choice,
    Acc,
    Ref,
    Alias,
    UnboundSize,
    Absent,
    FunType,
    AccType,
    RefType,
    Abstract,
    IndexSet,
    /// How a size of a specialised function is known: as a constant, a global variable, or a parameter.
    ConstSize,
    GlobalSize,
    SizeParam,
}

#[derive(Clone)]
pub(crate) struct Leaf {
    pub ty: Type,
    pub atom: Atom,
}

#[derive(Clone, Default)]
pub(crate) struct Flat {
    pub tokens: Vec<Token>,
    pub dims: Vec<Atom>,
    pub leaves: Vec<Leaf>,
}

impl Flat {
    pub fn atoms(&self) -> Vec<Atom> {
        self.leaves.iter().map(|l| l.atom).collect()
    }

    pub fn types(&self) -> Vec<Type> {
        self.leaves.iter().map(|l| l.ty.clone()).collect()
    }
}

pub(crate) fn flatten(value: &SVal) -> Flat {
    let mut flattener = Flattener::default();
    walk(value, &mut flattener, &mut Path::default());
    flattener.0
}

/// The types that the leaves of a value have once its sizes are `dims`.
pub(crate) fn leaf_types(value: &SVal, dims: &[Atom]) -> Vec<Type> {
    let mut retyper = Retyper { dims: dims.iter(), types: Vec::new() };
    walk(value, &mut retyper, &mut Path::default());
    retyper.types
}

/// The same skeleton with other sizes and leaves, in the order of [`flatten`].
pub(crate) fn rebuild(value: &SVal, dims: &[Atom], leaves: &[Atom]) -> SVal {
    walk(value, &mut Rebuilder { dims: dims.iter(), leaves: leaves.iter() }, &mut Path::default())
}

/// What happens to the sizes and leaves of a value on the way.
pub(crate) trait Walker {
    fn token(&mut self, _token: Token) {}
    fn dim(&mut self, dim: Atom) -> Atom;
    /// `old` has the sizes as they were, `new` as they have become.
    fn leaf(&mut self, old: Type, new: Type, atom: Atom) -> Atom;
}

#[derive(Default)]
struct Flattener(Flat);

impl Walker for Flattener {
    fn token(&mut self, token: Token) {
        self.0.tokens.push(token);
    }

    fn dim(&mut self, dim: Atom) -> Atom {
        self.0.dims.push(dim);
        dim
    }

    fn leaf(&mut self, old: Type, _new: Type, atom: Atom) -> Atom {
        self.0.leaves.push(Leaf { ty: old, atom });
        atom
    }
}

struct Retyper<'a> {
    dims: std::slice::Iter<'a, Atom>,
    types: Vec<Type>,
}

impl Walker for Retyper<'_> {
    fn dim(&mut self, dim: Atom) -> Atom {
        self.dims.next().copied().unwrap_or(dim)
    }

    fn leaf(&mut self, _old: Type, new: Type, atom: Atom) -> Atom {
        self.types.push(new);
        atom
    }
}

struct Rebuilder<'a> {
    dims: std::slice::Iter<'a, Atom>,
    leaves: std::slice::Iter<'a, Atom>,
}

impl Walker for Rebuilder<'_> {
    fn dim(&mut self, dim: Atom) -> Atom {
        self.dims.next().copied().unwrap_or(dim)
    }

    fn leaf(&mut self, _old: Type, _new: Type, atom: Atom) -> Atom {
        self.leaves.next().copied().unwrap_or(atom)
    }
}

/// The sizes of the arrays above the current node.
#[derive(Default)]
pub(crate) struct Path {
    old: Vec<Atom>,
    new: Vec<Atom>,
}

pub(crate) fn array_type(elem: PrimType, dims: &[Atom]) -> Type {
    if dims.is_empty() { Type::Prim(elem) } else { Type::Array { elem, dims: dims.to_vec() } }
}

pub(crate) fn walk(value: &SVal, w: &mut dyn Walker, path: &mut Path) -> SVal {
    match value {
        SVal::Scalar(prim, atom) => {
            w.token(Token::Prim(*prim));
            SVal::Scalar(*prim, w.leaf(array_type(*prim, &path.old), array_type(*prim, &path.new), *atom))
        }
        SVal::Array(array) => {
            w.token(Token::Kind(Kind::Array));
            let dim = w.dim(array.dim);
            path.old.push(array.dim);
            path.new.push(dim);
            let elem = walk(&array.elem, w, path);
            path.old.pop();
            path.new.pop();
            SVal::array(dim, elem)
        }
        SVal::Record(fields) => {
            w.token(Token::Kind(Kind::Record));
            w.token(Token::Number(fields.len() as u64));
            let field = |(name, v): &(Name, SVal)| {
                w.token(Token::Name(*name));
                (*name, walk(v, w, path))
            };
            SVal::Record(fields.iter().map(field).collect())
        }
        SVal::Sum(sum) => walk_sum(sum, w, path),
        SVal::Fun(fun) => SVal::Fun(Rc::new(walk_fun(fun, w, path))),
        SVal::Choice(choice) => {
            w.token(Token::Kind(Kind::Choice));
            w.token(Token::Number(choice.alts.len() as u64));
            let tag = walk_leaf(PrimType::I8, choice.tag, w, path);
            let alts = choice.alts.iter().map(|v| walk(v, w, path)).collect();
            SVal::Choice(Rc::new(ChoiceVal { tag, alts }))
        }
        SVal::Acc(acc) => walk_acc(acc, w),
        SVal::Ref(reference) => walk_ref(reference, w, path),
        SVal::Def(def) => SVal::Def(walk_def(def, w, path)),
        SVal::Alias(alias) => {
            w.token(Token::Kind(Kind::Alias));
            w.token(Token::Number(alias.id));
            value.clone()
        }
        SVal::SizeOf(def, var) => {
            walk_def(def, w, path);
            w.token(Token::Number(var.0.into()));
            value.clone()
        }
        SVal::UnboundSize(var) => {
            w.token(Token::Kind(Kind::UnboundSize));
            w.token(Token::Number(var.0.into()));
            value.clone()
        }
        SVal::Absent => {
            w.token(Token::Kind(Kind::Absent));
            SVal::Absent
        }
    }
}

fn walk_leaf(prim: PrimType, atom: Atom, w: &mut dyn Walker, path: &Path) -> Atom {
    w.leaf(array_type(prim, &path.old), array_type(prim, &path.new), atom)
}

fn walk_sum(sum: &SumVal, w: &mut dyn Walker, path: &mut Path) -> SVal {
    w.token(Token::Kind(Kind::Sum));
    w.token(Token::Number(sum.constrs.len() as u64));
    let tag = walk_leaf(PrimType::I8, sum.tag, w, path);
    let mut constrs = Vec::with_capacity(sum.constrs.len());
    for (name, payload) in &sum.constrs {
        w.token(Token::Name(*name));
        constrs.push((*name, payload.iter().map(|v| walk(v, w, path)).collect()));
    }
    SVal::Sum(Rc::new(SumVal { tag, constrs }))
}

fn walk_acc(acc: &AccVal, w: &mut dyn Walker) -> SVal {
    w.token(Token::Kind(Kind::Acc));
    w.token(Token::Number(acc.dims.len() as u64));
    let dims: Vec<Atom> = acc.dims.iter().map(|dim| w.dim(*dim)).collect();
    let elem = walk_type(&acc.elem, w);
    let core =
        |dims: &[Atom], elem: &EType| Type::Acc { index_dims: dims.to_vec(), elems: type_leaves(elem, &[]) };
    let atom = w.leaf(core(&acc.dims, &acc.elem), core(&dims, &elem), acc.acc);
    SVal::Acc(Rc::new(AccVal { acc: atom, dims, elem }))
}

/// Which cell a reference is to is static; where in it, is not.
fn walk_ref(reference: &RefVal, w: &mut dyn Walker, path: &Path) -> SVal {
    w.token(Token::Kind(Kind::Ref));
    w.token(Token::Number(reference.cell.0.into()));
    w.token(Token::Number(reference.path.len() as u64));
    let ty = walk_type(&reference.ty, w);
    let step = |step: &RefStep| match step {
        RefStep::Field(name) => {
            w.token(Token::Name(*name));
            *step
        }
        RefStep::Index(index, check) => {
            w.token(Token::Kind(Kind::Array));
            RefStep::Index(walk_leaf(PrimType::I64, *index, w, path), *check)
        }
    };
    SVal::Ref(Rc::new(RefVal { cell: reference.cell, path: reference.path.iter().map(step).collect(), ty }))
}

fn walk_fun(fun: &FunVal, w: &mut dyn Walker, path: &mut Path) -> FunVal {
    let code = match &fun.code {
        Code::Lambda { lambda, free, env } => {
            w.token(Token::Kind(Kind::Lambda));
            w.token(Token::Number(Rc::as_ptr(lambda) as u64));
            let env = walk_env(env, free, w, path);
            Code::Lambda { lambda: lambda.clone(), free: free.clone(), env }
        }
        Code::Def { def, type_args } => {
            let def = walk_def(def, w, path);
            Code::Def { def, type_args: walk_args(type_args, w) }
        }
        Code::Intrinsic { name, type_args } => {
            w.token(Token::Kind(Kind::Intrinsic));
            w.token(Token::Name(*name));
            Code::Intrinsic { name: *name, type_args: walk_args(type_args, w) }
        }
        Code::Linear(linear) => {
            w.token(Token::Kind(Kind::Linear));
            w.token(Token::Number(linear.fun.0.into()));
            Code::Linear(linear.clone())
        }
    };
    w.token(Token::Number(fun.args.len() as u64));
    FunVal { code, args: fun.args.iter().map(|v| walk(v, w, path)).collect() }
}

/// A global definition is known by its number; a local one captures values.
fn walk_def(def: &Rc<DefInst>, w: &mut dyn Walker, path: &mut Path) -> Rc<DefInst> {
    match &def.origin {
        Origin::Global(id) => {
            w.token(Token::Kind(Kind::GlobalDef));
            w.token(Token::Number(*id));
            def.clone()
        }
        Origin::Local(free) => {
            w.token(Token::Kind(Kind::LocalDef));
            w.token(Token::Number(Rc::as_ptr(&def.def) as u64));
            let env = walk_env(&def.env, free, w, path);
            Rc::new(DefInst::local(def.def.clone(), env, free.clone()))
        }
    }
}

fn walk_env(env: &Env, free: &Free, w: &mut dyn Walker, path: &mut Path) -> Env {
    let mut result = env.clone();
    for id in &free.types {
        match env.types.get(id) {
            None => {}
            Some(TypeBinding::Type(ty)) => {
                w.token(Token::Number(id.0.into()));
                result.types.insert(*id, TypeBinding::Type(walk_type(ty, w)));
            }
            Some(TypeBinding::Index(ty, set)) => {
                w.token(Token::Number(id.0.into()));
                let (ty, set) = (walk_type(ty, w), Rc::new(walk_set(set, w)));
                result.types.insert(*id, TypeBinding::Index(ty, set));
            }
            Some(TypeBinding::Closure(closure)) => {
                w.token(Token::Kind(Kind::Abstract));
                w.token(Token::Number(closure.id));
            }
        }
    }
    for var in &free.vars {
        if let Some(value) = env.vars.get(var) {
            w.token(Token::Number(var.0.into()));
            result.vars.insert(*var, walk(value, w, path));
        }
    }
    result
}

fn walk_args(args: &[EArg], w: &mut dyn Walker) -> Rc<[EArg]> {
    let arg = |arg: &EArg| match arg {
        EArg::Size(dim) => EArg::Size(walk_dim(*dim, w)),
        EArg::Type(ty) => EArg::Type(walk_type(ty, w)),
        EArg::Index(ty, set) => EArg::Index(walk_type(ty, w), Rc::new(walk_set(set, w))),
    };
    args.iter().map(arg).collect()
}

fn walk_set(set: &ESet, w: &mut dyn Walker) -> ESet {
    w.token(Token::Kind(Kind::IndexSet));
    match set {
        ESet::Size(dim) => ESet::Size(walk_dim(*dim, w)),
        ESet::Bool => {
            w.token(Token::Prim(PrimType::Bool));
            ESet::Bool
        }
        ESet::Record(fields) => {
            w.token(Token::Number(fields.len() as u64));
            ESet::Record(fields.iter().map(|(name, set)| (*name, walk_set(set, w))).collect())
        }
        ESet::Sum(constrs) => {
            let mut result = Vec::with_capacity(constrs.len());
            for constr in constrs {
                w.token(Token::Name(constr.name));
                w.token(Token::Number(constr.payload.len() as u64));
                let payload = constr.payload.iter().map(|set| walk_set(set, w)).collect();
                result.push(Constructor { payload, ..*constr });
            }
            ESet::Sum(result)
        }
        ESet::Declared(declared) => {
            w.token(Token::Number(declared.id));
            let sizes = declared.sizes.iter().map(|dim| walk_dim(*dim, w)).collect();
            ESet::Declared(DeclaredSet { sizes, ..declared.clone() })
        }
    }
}

fn walk_dim(dim: EDim, w: &mut dyn Walker) -> EDim {
    match dim {
        EDim::Known(atom) => {
            w.token(Token::Kind(Kind::Array));
            EDim::Known(w.dim(atom))
        }
        EDim::Free(var) => {
            w.token(Token::Kind(Kind::UnboundSize));
            w.token(Token::Number(var.0.into()));
            dim
        }
    }
}

fn walk_type(ty: &EType, w: &mut dyn Walker) -> EType {
    match ty {
        EType::Prim(prim) => {
            w.token(Token::Prim(*prim));
            EType::Prim(*prim)
        }
        EType::Array(dim, elem) => EType::Array(walk_dim(*dim, w), Rc::new(walk_type(elem, w))),
        EType::Record(fields) => {
            w.token(Token::Kind(Kind::Record));
            w.token(Token::Number(fields.len() as u64));
            let field = |(name, t): &(Name, EType)| {
                w.token(Token::Name(*name));
                (*name, walk_type(t, w))
            };
            EType::Record(fields.iter().map(field).collect())
        }
        EType::Sum(constrs) => {
            w.token(Token::Kind(Kind::Sum));
            w.token(Token::Number(constrs.len() as u64));
            let constr = |(name, types): &(Name, Vec<EType>)| {
                w.token(Token::Name(*name));
                w.token(Token::Number(types.len() as u64));
                (*name, types.iter().map(|t| walk_type(t, w)).collect())
            };
            EType::Sum(constrs.iter().map(constr).collect())
        }
        EType::Fun => {
            w.token(Token::Kind(Kind::FunType));
            EType::Fun
        }
        EType::Acc(elem) => {
            w.token(Token::Kind(Kind::AccType));
            EType::Acc(Rc::new(walk_type(elem, w)))
        }
        EType::Ref(content) => {
            w.token(Token::Kind(Kind::RefType));
            EType::Ref(Rc::new(walk_type(content, w)))
        }
    }
}

/// The Core types of the leaves of a type below arrays of sizes `dims`.
pub(crate) fn type_leaves(ty: &EType, dims: &[Atom]) -> Vec<Type> {
    match ty {
        EType::Prim(prim) => vec![array_type(*prim, dims)],
        EType::Array(dim, elem) => {
            let dim = match dim {
                EDim::Known(atom) => *atom,
                EDim::Free(_) => Atom::i64(0),
            };
            type_leaves(elem, &[dims, &[dim]].concat())
        }
        EType::Record(fields) => fields.iter().flat_map(|(_, t)| type_leaves(t, dims)).collect(),
        EType::Sum(constrs) => {
            let payloads = constrs.iter().flat_map(|(_, ts)| ts).flat_map(|t| type_leaves(t, dims));
            std::iter::once(array_type(PrimType::I8, dims)).chain(payloads).collect()
        }
        EType::Fun | EType::Acc(_) | EType::Ref(_) => Vec::new(),
    }
}
