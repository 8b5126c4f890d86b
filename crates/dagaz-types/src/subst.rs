//! Substitution of sizes and types, and free variables.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use dagaz_syntax::Name;

use crate::context::VarNames;
use crate::typed::{Exp, ExpKind, SliceIndex};
use crate::types::{Arrow, RetType, Size, Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId};

/// What a type name stands for: `params` are replaced by the arguments it is applied to.
#[derive(Clone, Debug)]
pub struct TypeFun {
    pub params: Vec<TypeParam>,
    /// Sizes that the type leaves open: every use has its own.
    pub exts: Vec<VarId>,
    pub body: Type,
}

/// Makes the open sizes of types that are substituted, and remembers them.
#[derive(Clone, Debug)]
pub struct Opener {
    names: VarNames,
    made: Rc<RefCell<Vec<VarId>>>,
}

impl Opener {
    pub fn new(names: VarNames) -> Opener {
        Opener { names, made: Rc::default() }
    }

    /// What was made since the last call.
    pub fn take(&self) -> Vec<VarId> {
        self.made.take()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Subst {
    pub sizes: HashMap<VarId, Size>,
    pub types: HashMap<TypeId, TypeFun>,
    /// Types that are known under another id.
    pub renamed_types: HashMap<TypeId, TypeId>,
    /// Definitions that other definitions stand for, where they occur in sizes.
    pub vars: HashMap<VarId, VarId>,
    /// Without it, uses of a type with open sizes share them.
    pub opener: Option<Opener>,
}

impl Subst {
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
            && self.types.is_empty()
            && self.renamed_types.is_empty()
            && self.vars.is_empty()
    }

    /// Bind type parameters to arguments.
    pub fn instantiate(params: &[TypeParam], args: &[TypeArg]) -> Subst {
        let mut subst = Subst::default();
        for (param, arg) in params.iter().zip(args) {
            match (param.kind, arg) {
                (TypeParamKind::Size(v), TypeArg::Size(s)) => {
                    subst.sizes.insert(v, s.clone());
                }
                (TypeParamKind::Type(id, _), TypeArg::Type(t)) => {
                    subst.types.insert(id, TypeFun { params: Vec::new(), exts: Vec::new(), body: t.clone() });
                }
                (TypeParamKind::Size(_), TypeArg::Type(_)) | (TypeParamKind::Type(..), TypeArg::Size(_)) => {}
            }
        }
        subst
    }

    pub fn ty(&self, ty: &Type) -> Type {
        if self.is_empty() {
            return ty.clone();
        }
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array { unique, dim, elem } => {
                Type::Array { unique: *unique, dim: self.size(dim), elem: Rc::new(self.ty(elem)) }
            }
            Type::Record(fields) => Type::Record(fields.iter().map(|(f, t)| (*f, self.ty(t))).collect()),
            Type::Sum(constrs) => Type::Sum(
                constrs.iter().map(|(c, ts)| (*c, ts.iter().map(|t| self.ty(t)).collect())).collect(),
            ),
            Type::Arrow(arrow) => Type::Arrow(Rc::new(Arrow {
                param: arrow.param,
                from: self.ty(&arrow.from),
                to: self.ret(&arrow.to),
            })),
            Type::Named { unique, id, args } => {
                let args: Rc<[TypeArg]> = args.iter().map(|a| self.arg(a)).collect();
                match self.types.get(id) {
                    None => {
                        let id = self.renamed_types.get(id).copied().unwrap_or(*id);
                        Type::Named { unique: *unique, id, args }
                    }
                    Some(fun) => {
                        let mut inner = Subst::instantiate(&fun.params, &args);
                        if let Some(opener) = &self.opener {
                            for ext in &fun.exts {
                                let var = opener.names.fresh(Name::new("k"));
                                opener.made.borrow_mut().push(var);
                                inner.sizes.insert(*ext, Size::Var(var));
                            }
                        }
                        let body = inner.ty(&fun.body);
                        if *unique { body.with_uniqueness(true) } else { body }
                    }
                }
            }
        }
    }

    pub fn ret(&self, ret: &RetType) -> RetType {
        RetType { exts: ret.exts.clone(), ty: self.ty(&ret.ty) }
    }

    pub fn arg(&self, arg: &TypeArg) -> TypeArg {
        match arg {
            TypeArg::Size(s) => TypeArg::Size(self.size(s)),
            TypeArg::Type(t) => TypeArg::Type(self.ty(t)),
        }
    }

    pub fn size(&self, size: &Size) -> Size {
        match size {
            Size::Const(_) | Size::Meta(_) => size.clone(),
            Size::Var(v) => match (self.sizes.get(v), self.vars.get(v)) {
                (Some(s), _) => s.clone(),
                (None, Some(w)) => Size::Var(*w),
                (None, None) => size.clone(),
            },
            Size::Exp(e) => size_of_exp(self.exp(e)),
            Size::Set(ty) => Size::of_index(self.ty(ty)),
        }
    }

    /// Substitute in an expression that occurs as a size.
    pub fn exp(&self, e: &Exp) -> Exp {
        let kind = match &e.kind {
            ExpKind::Var { var, name, inst } => {
                if let Some(size) = self.sizes.get(var) {
                    return exp_of_size(size, e);
                }
                let var = self.vars.get(var).copied().unwrap_or(*var);
                ExpKind::Var { var, name: *name, inst: inst.iter().map(|a| self.arg(a)).collect() }
            }
            ExpKind::Intrinsic { name, inst } => {
                ExpKind::Intrinsic { name: *name, inst: inst.iter().map(|a| self.arg(a)).collect() }
            }
            ExpKind::App { fun, args } => ExpKind::App {
                fun: Box::new(self.exp(fun)),
                args: args.iter().map(|a| self.exp(a)).collect(),
            },
            ExpKind::Project(e, f) => ExpKind::Project(Box::new(self.exp(e)), *f),
            ExpKind::Index { array, slice } => ExpKind::Index {
                array: Box::new(self.exp(array)),
                slice: slice
                    .iter()
                    .map(|s| match s {
                        SliceIndex::Index(i) => SliceIndex::Index(self.exp(i)),
                        SliceIndex::Slice { .. } => s.clone(),
                    })
                    .collect(),
            },
            ExpKind::Record(fields) => {
                ExpKind::Record(fields.iter().map(|(f, e)| (*f, self.exp(e))).collect())
            }
            ExpKind::Array(elems) => ExpKind::Array(elems.iter().map(|e| self.exp(e)).collect()),
            ExpKind::Ascript(e) => ExpKind::Ascript(Box::new(self.exp(e))),
            ExpKind::Coerce(e) => ExpKind::Coerce(Box::new(self.exp(e))),
            ExpKind::Attr(a, e) => ExpKind::Attr(a.clone(), Box::new(self.exp(e))),
            // Nothing else occurs in sizes; see `Size::Exp`.
            other => other.clone(),
        };
        Exp { kind, ty: self.ty(&e.ty), exts: e.exts.clone(), span: e.span }
    }
}

/// Close the type of a value over sizes that substitution has opened: those that it takes become parameters, those that
/// it gives are left open in the result.
pub fn close_over(
    ty: &Type,
    opened: &[VarId],
    params: &mut Vec<TypeParam>,
    names: impl Fn(VarId) -> Name,
) -> Type {
    let add = |v: VarId, params: &mut Vec<TypeParam>| {
        let kind = TypeParamKind::Size(v);
        if !params.iter().any(|p| p.kind == kind) {
            params.push(TypeParam { name: names(v), kind });
        }
    };
    let mut spine = Vec::new();
    let mut last = RetType::plain(ty.clone());
    while let Type::Arrow(arrow) = &last.ty {
        for v in arrow.from.size_vars() {
            if opened.contains(&v) {
                add(v, params);
            }
        }
        let next = arrow.to.clone();
        spine.push((arrow.param, arrow.from.clone(), std::mem::take(&mut last.exts)));
        last = next;
    }
    for v in last.ty.size_vars() {
        let taken = params.iter().any(|p| p.kind == TypeParamKind::Size(v));
        if opened.contains(&v) && !taken {
            if spine.is_empty() { add(v, params) } else { last.exts.push(v) }
        }
    }
    spine
        .into_iter()
        .rev()
        .fold(last, |to, (param, from, exts)| RetType { exts, ty: Type::arrow(param, from, to) })
        .ty
}

/// The simplest size that means the same as an expression.
pub fn size_of_exp(e: Exp) -> Size {
    match e.kind {
        ExpKind::Int(n) => Size::Const(n as i64),
        ExpKind::Var { var, .. } => Size::Var(var),
        ExpKind::Ascript(e) | ExpKind::Attr(_, e) => size_of_exp(*e),
        _ => Size::Exp(Rc::new(e)),
    }
}

/// The expression for a size, standing in place of `old`.
pub fn exp_of_size(size: &Size, old: &Exp) -> Exp {
    match size {
        Size::Const(n) => {
            Exp { kind: ExpKind::Int(i128::from(*n)), ty: Type::I64, exts: Vec::new(), span: old.span }
        }
        Size::Var(v) => {
            let name = match &old.kind {
                ExpKind::Var { name, .. } => *name,
                _ => dagaz_syntax::Name::new("n"),
            };
            Exp {
                kind: ExpKind::Var { var: *v, name, inst: Vec::new() },
                ty: Type::I64,
                exts: Vec::new(),
                span: old.span,
            }
        }
        Size::Exp(e) => (**e).clone(),
        Size::Set(ty) => cardinality(ty, old.span),
        Size::Meta(_) => old.clone(),
    }
}

/// How many values an index type has, as an expression.
fn cardinality(ty: &Rc<Type>, span: dagaz_syntax::Span) -> Exp {
    let unit = Type::tuple([]);
    let fun_ty = Type::arrow(None, unit.clone(), RetType::plain(Type::I64));
    let inst = vec![TypeArg::Type((**ty).clone())];
    let plain = |kind, ty| Exp { kind, ty, exts: Vec::new(), span };
    let fun = plain(ExpKind::Intrinsic { name: Name::new("cardinality"), inst }, fun_ty);
    let arg = plain(ExpKind::Record(Vec::new()), unit);
    plain(ExpKind::App { fun: Box::new(fun), args: vec![arg] }, Type::I64)
}

impl Type {
    /// Set or clear the uniqueness of everything in a type that is not under an arrow.
    pub fn with_uniqueness(&self, unique: bool) -> Type {
        match self {
            Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) => self.clone(),
            Type::Array { dim, elem, .. } => Type::Array { unique, dim: dim.clone(), elem: elem.clone() },
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(f, t)| (*f, t.with_uniqueness(unique))).collect())
            }
            Type::Sum(constrs) => Type::Sum(
                constrs
                    .iter()
                    .map(|(c, ts)| (*c, ts.iter().map(|t| t.with_uniqueness(unique)).collect()))
                    .collect(),
            ),
            Type::Named { id, args, .. } => Type::Named { unique, id: *id, args: args.clone() },
        }
    }

    /// Whether there is a function anywhere in the type.
    pub fn has_function(&self) -> bool {
        match self {
            Type::Prim(_) | Type::Meta(_) | Type::Named { .. } => false,
            Type::Array { elem, .. } => elem.has_function(),
            Type::Record(fields) => fields.iter().any(|(_, t)| t.has_function()),
            Type::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(Type::has_function)),
            Type::Arrow(_) => true,
        }
    }

    /// Call `f` on every size in the type, those in types of functions and in index sets included.
    pub fn each_size(&self, f: &mut dyn FnMut(&Size)) {
        match self {
            Type::Prim(_) | Type::Meta(_) => {}
            Type::Array { dim, elem, .. } => {
                dim.each_plain(f);
                elem.each_size(f);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| t.each_size(f)),
            Type::Sum(constrs) => constrs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| t.each_size(f))),
            Type::Arrow(arrow) => {
                arrow.from.each_size(f);
                arrow.to.ty.each_size(f);
            }
            Type::Named { args, .. } => args.iter().for_each(|a| match a {
                TypeArg::Size(s) => s.each_plain(f),
                TypeArg::Type(t) => t.each_size(f),
            }),
        }
    }

    /// Variables that occur in sizes, in order of appearance.
    pub fn size_vars(&self) -> Vec<VarId> {
        let mut seen = HashSet::new();
        let mut vars = Vec::new();
        self.each_size(&mut |s| {
            s.each_var(&mut |v| {
                if seen.insert(v) {
                    vars.push(v);
                }
            })
        });
        vars
    }
}

/// Sizes that can be read off a value of the type: those that are exactly the size of an array in it.
pub fn constructive_sizes(ty: &Type) -> HashSet<VarId> {
    fn collect(ty: &Type, found: &mut HashSet<VarId>) {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) => {}
            Type::Array { dim, elem, .. } => {
                if let Size::Var(v) = dim {
                    found.insert(*v);
                }
                collect(elem, found);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| collect(t, found)),
            Type::Sum(constrs) => {
                constrs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| collect(t, found)))
            }
            // Nothing is known about where the type arguments occur.
            Type::Named { args, .. } => found.extend(args.iter().filter_map(|a| match a {
                TypeArg::Size(Size::Var(v)) => Some(*v),
                TypeArg::Size(_) | TypeArg::Type(_) => None,
            })),
        }
    }
    let mut found = HashSet::new();
    collect(ty, &mut found);
    found
}

impl Size {
    /// Call `f` on this size, or on those in this index set.
    fn each_plain(&self, f: &mut dyn FnMut(&Size)) {
        match self {
            Size::Set(ty) => ty.each_size(f),
            Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => f(self),
        }
    }

    pub fn each_var(&self, f: &mut dyn FnMut(VarId)) {
        match self {
            Size::Const(_) | Size::Meta(_) => {}
            Size::Var(v) => f(*v),
            Size::Exp(e) => each_var_in_exp(e, f),
            Size::Set(ty) => ty.size_vars().into_iter().for_each(f),
        }
    }

    pub fn mentions(&self, pred: &dyn Fn(VarId) -> bool) -> bool {
        let mut found = false;
        self.each_var(&mut |v| found |= pred(v));
        found
    }
}

/// Variables of an expression that occurs as a size.
pub fn each_var_in_exp(e: &Exp, f: &mut dyn FnMut(VarId)) {
    match &e.kind {
        ExpKind::Var { var, .. } => f(*var),
        ExpKind::Intrinsic { inst, .. } => inst.iter().for_each(|a| match a {
            TypeArg::Size(s) => s.each_var(f),
            TypeArg::Type(t) => t.size_vars().into_iter().for_each(&mut *f),
        }),
        ExpKind::App { fun, args } => {
            each_var_in_exp(fun, f);
            args.iter().for_each(|a| each_var_in_exp(a, f));
        }
        ExpKind::Project(e, _) | ExpKind::Ascript(e) | ExpKind::Coerce(e) | ExpKind::Attr(_, e) => {
            each_var_in_exp(e, f)
        }
        ExpKind::Index { array, slice } => {
            each_var_in_exp(array, f);
            for s in slice {
                if let SliceIndex::Index(i) = s {
                    each_var_in_exp(i, f);
                }
            }
        }
        ExpKind::Record(fields) => fields.iter().for_each(|(_, e)| each_var_in_exp(e, f)),
        ExpKind::Array(elems) => elems.iter().for_each(|e| each_var_in_exp(e, f)),
        // Nothing else with variables occurs in sizes; see `Size::Exp`.
        _ => {}
    }
}
