//! The variables and types that a function takes from its environment.
//!
//! Ids are unique, so that what is free in a function is what it mentions, less what it binds.

use std::collections::BTreeSet;

use dagaz_types::typed::{Access, Def, Exp, ExpKind, Lambda, LoopForm, Pat, PatKind, SliceIndex};
use dagaz_types::types::{Arrow, RetType, Size, Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId};

/// Sorted, so that two closures of the same code list their captured values in the same order.
#[derive(Default, Debug)]
pub(crate) struct Free {
    pub vars: Vec<VarId>,
    pub types: Vec<TypeId>,
    /// How many expressions there are: what inlining would cost.
    pub size: usize,
}

pub(crate) fn free_in_lambda(lambda: &Lambda) -> Free {
    let mut c = Collector::default();
    c.lambda(lambda);
    c.finish()
}

pub(crate) fn free_in_def(def: &Def) -> Free {
    let mut c = Collector::default();
    c.def(def);
    c.finish()
}

/// The variables whose values an expression uses; those that only its types mention are left out.
pub(crate) fn values_in_exp(exp: &Exp) -> Free {
    let mut c = Collector { values_only: true, ..Collector::default() };
    c.exp(exp);
    c.finish()
}

#[derive(Default)]
struct Collector {
    values_only: bool,
    vars: BTreeSet<VarId>,
    types: BTreeSet<TypeId>,
    bound: BTreeSet<VarId>,
    bound_types: BTreeSet<TypeId>,
    size: usize,
}

impl Collector {
    fn finish(self) -> Free {
        Free {
            vars: self.vars.difference(&self.bound).copied().collect(),
            types: self.types.difference(&self.bound_types).copied().collect(),
            size: self.size,
        }
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.bound.extend(&lambda.sizes);
        lambda.params.iter().for_each(|p| self.pat(p));
        self.ret(&lambda.ret);
        self.exp(&lambda.body);
    }

    /// The definition's own variable stays free: a recursive function refers to itself.
    fn def(&mut self, def: &Def) {
        self.type_params(&def.type_params);
        def.params.iter().for_each(|p| self.pat(p));
        self.ret(&def.ret);
        self.exp(&def.body);
    }

    fn type_params(&mut self, params: &[TypeParam]) {
        for p in params {
            match p.kind {
                TypeParamKind::Size(v) => drop(self.bound.insert(v)),
                TypeParamKind::Type(t, _) => drop(self.bound_types.insert(t)),
            }
        }
    }

    fn ret(&mut self, ret: &RetType) {
        self.bound.extend(&ret.exts);
        self.ty(&ret.ty);
    }

    fn ty(&mut self, ty: &Type) {
        if self.values_only {
            return;
        }
        match ty {
            Type::Prim(_) | Type::Meta(_) => {}
            Type::Array { dim, elem, .. } => {
                self.dim(dim);
                self.ty(elem);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.ty(t)),
            Type::Sum(constrs) => constrs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| self.ty(t))),
            Type::Arrow(arrow) => self.arrow(arrow),
            Type::Named { id, args, .. } => {
                self.types.insert(*id);
                self.inst(args);
            }
        }
    }

    /// The names of parameters in the type of a recursive function are those of its own parameters, which a
    /// local function inside of it may capture. So they are bound in the type alone.
    fn arrow(&mut self, arrow: &Arrow) {
        let outside = std::mem::take(&mut self.vars);
        self.ty(&arrow.from);
        self.ty(&arrow.to.ty);
        let inside = std::mem::replace(&mut self.vars, outside);
        let is_bound = |var: &VarId| arrow.param == Some(*var) || arrow.to.exts.contains(var);
        self.vars.extend(inside.into_iter().filter(|var| !is_bound(var)));
    }

    fn dim(&mut self, size: &Size) {
        match size {
            Size::Const(_) | Size::Meta(_) => {}
            Size::Var(v) => drop(self.vars.insert(*v)),
            Size::Exp(e) => self.exp(e),
            Size::Set(ty) => self.ty(ty),
        }
    }

    fn inst(&mut self, args: &[TypeArg]) {
        if self.values_only {
            return;
        }
        for arg in args {
            match arg {
                TypeArg::Size(s) => self.dim(s),
                TypeArg::Type(t) => self.ty(t),
            }
        }
    }

    fn pat(&mut self, pat: &Pat) {
        self.ty(&pat.ty);
        match &pat.kind {
            PatKind::Var(v, _) => drop(self.bound.insert(*v)),
            PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.pat(p)),
            PatKind::Constr(_, pats) => pats.iter().for_each(|p| self.pat(p)),
        }
    }

    fn slice(&mut self, slice: &[SliceIndex]) {
        for index in slice {
            match index {
                SliceIndex::Index(e) => self.exp(e),
                SliceIndex::Slice { start, end, stride } => {
                    [start, end, stride].into_iter().flatten().for_each(|e| self.exp(e));
                }
            }
        }
    }

    fn exp(&mut self, mut e: &Exp) {
        // Chains of `let` are followed without recursion, as they may be very long.
        loop {
            self.size += 1;
            self.bound.extend(&e.exts);
            self.ty(&e.ty);
            match &e.kind {
                ExpKind::Let { sizes, pat, value, body } => {
                    self.bound.extend(sizes);
                    self.pat(pat);
                    self.exp(value);
                    e = body;
                }
                ExpKind::LetFun { def, body } => {
                    self.bound.insert(def.var);
                    self.def(def);
                    e = body;
                }
                _ => return self.exp_kind(&e.kind),
            }
        }
    }

    fn exp_kind(&mut self, kind: &ExpKind) {
        match kind {
            ExpKind::Int(_) | ExpKind::Float(_) | ExpKind::Bool(_) | ExpKind::Str(_) | ExpKind::Hole => {}
            ExpKind::Var { var, inst, .. } => {
                self.vars.insert(*var);
                self.inst(inst);
            }
            ExpKind::Intrinsic { inst, .. } => self.inst(inst),
            ExpKind::Record(fields) => fields.iter().for_each(|(_, e)| self.exp(e)),
            ExpKind::Array(es) | ExpKind::Constr { args: es, .. } => es.iter().for_each(|e| self.exp(e)),
            ExpKind::Project(e, _) | ExpKind::Ascript(e) | ExpKind::Coerce(e) | ExpKind::Attr(_, e) => {
                self.exp(e);
            }
            ExpKind::Index { array, slice } => {
                self.exp(array);
                self.slice(slice);
            }
            ExpKind::App { fun, args } => {
                self.exp(fun);
                args.iter().for_each(|e| self.exp(e));
            }
            ExpKind::And(a, b) | ExpKind::Or(a, b) => [a, b].into_iter().for_each(|e| self.exp(e)),
            ExpKind::Assert { cond, body } => [cond, body].into_iter().for_each(|e| self.exp(e)),
            ExpKind::Range { start, second, end, .. } => {
                self.exp(start);
                second.iter().for_each(|e| self.exp(e));
                self.exp(end);
            }
            ExpKind::If { cond, then, otherwise } => {
                [cond, then, otherwise].into_iter().for_each(|e| self.exp(e));
            }
            ExpKind::Let { value, body, .. } => [value, body].into_iter().for_each(|e| self.exp(e)),
            ExpKind::LetFun { def, body } => {
                self.def(def);
                self.exp(body);
            }
            ExpKind::Lambda(lambda) => self.lambda(lambda),
            ExpKind::Loop { sizes, pat, init, form, body } => {
                self.bound.extend(sizes);
                self.pat(pat);
                self.exp(init);
                self.loop_form(form);
                self.exp(body);
            }
            ExpKind::Match { scrutinee, cases } => {
                self.exp(scrutinee);
                for case in cases {
                    self.pat(&case.pat);
                    self.exp(&case.body);
                }
            }
            ExpKind::With { target, path, value } => {
                self.exp(target);
                for access in path {
                    match access {
                        Access::Field(_) => {}
                        Access::Index(slice, _) => self.slice(slice),
                    }
                }
                self.exp(value);
            }
        }
    }

    fn loop_form(&mut self, form: &LoopForm) {
        match form {
            LoopForm::For { var, bound, .. } => {
                self.bound.insert(*var);
                self.exp(bound);
            }
            LoopForm::ForIn { pat, array } => {
                self.pat(pat);
                self.exp(array);
            }
            LoopForm::While(cond) => self.exp(cond),
        }
    }
}
