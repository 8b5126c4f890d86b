//! The walk over the typed tree: shapes of expressions, and the constraints that they bring.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_syntax::{Name, Span};

use super::graph::{Constraint, Place};
use super::shape::{Node, Shape};
use super::{Checker, EffectScheme, intrinsic};
use crate::subst::Subst;
use crate::typed::{Access, Def, Exp, ExpKind, Lambda, LoopForm, Pat, PatKind, SliceIndex};
use crate::types::{Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId};

/// What is known about a variable.
pub(super) enum Binding {
    One(Shape),
    /// A function, which may have other effects wherever it is used.
    Many(Rc<EffectScheme>),
}

/// The shapes of type parameters.
type Params = HashMap<TypeId, Shape>;

impl Checker<'_> {
    pub(super) fn shape(&mut self, ty: &Type) -> Shape {
        self.shape_with(ty, &Params::new())
    }

    fn shape_with(&mut self, ty: &Type, params: &Params) -> Shape {
        match ty {
            Type::Prim(_) | Type::Meta(_) => Shape::Data,
            Type::Array { elem, .. } => Shape::array(self.shape_with(elem, params)),
            Type::Record(fields) => {
                Shape::record(fields.iter().map(|(f, t)| (*f, self.shape_with(t, params))).collect())
            }
            Type::Sum(constrs) => Shape::sum(
                constrs
                    .iter()
                    .map(|(c, ts)| (*c, ts.iter().map(|t| self.shape_with(t, params)).collect()))
                    .collect(),
            ),
            Type::Arrow(arrow) => {
                let param = self.shape_with(&arrow.from, params);
                let result = self.shape_with(&arrow.to.ty, params);
                Shape::fun(param, self.graph.fresh(), result)
            }
            Type::Named { id, .. } => match (self.cx.references.kind(*id), params.get(id)) {
                (Some(kind), _) => Shape::Ref(kind, self.graph.fresh()),
                (None, Some(shape)) => shape.clone(),
                (None, None) => Shape::Param(*id),
            },
        }
    }

    fn place(&self, span: Span) -> Place {
        (!self.cx.in_prelude).then_some(span)
    }

    fn params(&mut self, params: &[TypeParam], inst: &[TypeArg]) -> Params {
        let mut shapes = Params::new();
        for (param, arg) in params.iter().zip(inst) {
            if let (TypeParamKind::Type(id, _), TypeArg::Type(ty)) = (param.kind, arg) {
                shapes.insert(id, self.shape(ty));
            }
        }
        shapes
    }

    fn instantiate(&mut self, scheme: &EffectScheme, inst: &[TypeArg], span: Span) -> Shape {
        let params = self.params(&scheme.type_params, inst);
        let first = self.graph.mark();
        for _ in scheme.nodes.clone() {
            self.graph.fresh();
        }
        let own = scheme.nodes.clone();
        let rename = |node: Node| if own.contains(&node.0) { Node(node.0 - own.start + first) } else { node };
        let place = self.place(span);
        let copies: Vec<Constraint> =
            scheme.constraints.iter().map(|c| c.rename(&rename, &params, place)).collect();
        self.graph.constraints.extend(copies);
        scheme.shape.rename(&rename, &params)
    }

    fn variable(&mut self, var: VarId, inst: &[TypeArg], e: &Exp) -> Shape {
        let scheme = match self.scope.get(&var) {
            Some(Binding::One(shape)) => return shape.clone(),
            Some(Binding::Many(scheme)) => Some(scheme.clone()),
            None => self.cx.effects.get(&var).cloned(),
        };
        match (scheme, self.cx.aliases.get(&var)) {
            (Some(scheme), _) => self.instantiate(&scheme, inst, e.span),
            (None, Some(alias)) => {
                let subst = Subst::instantiate(&alias.params, inst);
                let inst: Vec<TypeArg> = alias.inst.iter().map(|arg| subst.arg(arg)).collect();
                self.variable(alias.target, &inst, e)
            }
            (None, None) => {
                let shape = self.shape(&e.ty);
                self.assume_called(&shape, self.place(e.span));
                shape
            }
        }
    }

    /// Of a function whose definition is not known, as in a parametric module: it may call and use what it is given.
    fn assume_called(&mut self, shape: &Shape, at: Place) {
        let (params, Some(row)) = intrinsic::parameters(shape) else { return };
        for param in params {
            match param {
                Shape::Fun(_) => {
                    if let Some(own) = intrinsic::last_row(&param) {
                        self.graph.flow(own, row);
                    }
                }
                Shape::Ref(kind, region) => {
                    self.graph.constraints.push(Constraint::Effect { kind, region, row, at });
                }
                Shape::Data | Shape::Array(_) | Shape::Record(_) | Shape::Sum(_) | Shape::Param(_) => {}
            }
        }
    }

    fn intrinsic(&mut self, name: Name, inst: &[TypeArg], e: &Exp) -> Shape {
        let Some(scheme) = self.cx.intrinsics.get(&name).cloned() else { return self.shape(&e.ty) };
        let params = self.params(&scheme.params, inst);
        let shape = self.shape_with(&scheme.ty, &params);
        let place = self.place(e.span);
        intrinsic::constrain(&mut self.graph, name.as_str(), &shape, place);
        shape
    }

    pub(super) fn bind(&mut self, pat: &Pat, shape: &Shape) {
        match &pat.kind {
            PatKind::Var(var, _) => drop(self.scope.insert(*var, Binding::One(shape.clone()))),
            PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
            PatKind::Record(fields) => {
                for (name, part) in fields {
                    let shape = shape.field(*name).unwrap_or_else(|| self.shape(&part.ty));
                    self.bind(part, &shape);
                }
            }
            PatKind::Constr(name, parts) => {
                let known = match shape {
                    Shape::Sum(constrs) => constrs.iter().find(|(c, _)| c == name).map(|(_, ss)| ss.clone()),
                    _ => None,
                };
                for (i, part) in parts.iter().enumerate() {
                    let shape = known.as_ref().and_then(|ss| ss.get(i)).cloned();
                    let shape = shape.unwrap_or_else(|| self.shape(&part.ty));
                    self.bind(part, &shape);
                }
            }
        }
    }

    /// A function of these parameters.
    pub(super) fn function(&mut self, params: &[Pat], body: &Exp) -> Shape {
        let mut shapes = Vec::with_capacity(params.len());
        for pat in params {
            let shape = self.shape(&pat.ty);
            self.bind(pat, &shape);
            shapes.push(shape);
        }
        let row = self.graph.fresh();
        let result = self.exp(body, row);
        self.curried(shapes, row, result)
    }

    /// Only the last of several arguments makes a function run.
    pub(super) fn curried(&mut self, params: Vec<Shape>, row: Node, result: Shape) -> Shape {
        let mut shape = result;
        for (i, param) in params.into_iter().rev().enumerate() {
            let row = if i == 0 { row } else { self.graph.fresh() };
            shape = Shape::fun(param, row, shape);
        }
        shape
    }

    /// A local function, which every use has a copy of.
    fn local(
        &mut self,
        type_params: &[TypeParam],
        build: impl FnOnce(&mut Self) -> Shape,
    ) -> Rc<EffectScheme> {
        let (first, before) = (self.graph.mark(), self.graph.constraints.len());
        let shape = build(self);
        Rc::new(EffectScheme {
            type_params: type_params.to_vec(),
            shape,
            constraints: self.graph.constraints[before..].to_vec(),
            nodes: first..self.graph.mark(),
        })
    }

    fn local_def(&mut self, def: &Def) {
        let scheme = self.local(&def.type_params, |c| {
            if def.params.is_empty() {
                let row = c.graph.fresh();
                return c.exp(&def.body, row);
            }
            c.function(&def.params, &def.body)
        });
        self.scope.insert(def.var, Binding::Many(scheme));
    }

    fn lambda(&mut self, lambda: &Lambda) -> Shape {
        self.function(&lambda.params, &lambda.body)
    }

    pub(super) fn exp(&mut self, e: &Exp, row: Node) -> Shape {
        let mut e = e;
        // Chains of `let` may be very long, and are followed without recursion.
        loop {
            e = match &e.kind {
                ExpKind::Let { pat, value, body, .. } => {
                    match (&pat.kind, &value.kind) {
                        (PatKind::Var(var, _), ExpKind::Lambda(lambda)) => {
                            let scheme = self.local(&[], |c| c.lambda(lambda));
                            self.scope.insert(*var, Binding::Many(scheme));
                        }
                        _ => {
                            let shape = self.exp(value, row);
                            self.bind(pat, &shape);
                        }
                    }
                    body
                }
                ExpKind::LetFun { def, body } => {
                    self.local_def(def);
                    body
                }
                ExpKind::Ascript(inner) | ExpKind::Coerce(inner) | ExpKind::Attr(_, inner) => inner,
                ExpKind::Assert { cond, body } => {
                    self.exp(cond, row);
                    body
                }
                _ => return self.exp_kind(e, row),
            };
        }
    }

    fn exp_kind(&mut self, e: &Exp, row: Node) -> Shape {
        match &e.kind {
            ExpKind::Int(_) | ExpKind::Float(_) | ExpKind::Bool(_) | ExpKind::Str(_) => Shape::Data,
            ExpKind::Hole => self.shape(&e.ty),
            ExpKind::Var { var, inst, .. } => self.variable(*var, inst, e),
            ExpKind::Intrinsic { name, inst } => self.intrinsic(*name, inst, e),
            ExpKind::Record(fields) => {
                let mut shapes: Vec<_> = fields.iter().map(|(f, e)| (*f, self.exp(e, row))).collect();
                shapes.sort_by_key(|(f, _)| *f);
                Shape::record(shapes)
            }
            ExpKind::Array(elems) => {
                let all: Vec<Shape> = elems.iter().map(|e| self.exp(e, row)).collect();
                self.joined(&e.ty, all.into_iter().map(Shape::array))
            }
            ExpKind::Project(inner, field) => {
                let shape = self.exp(inner, row);
                shape.field(*field).unwrap_or_else(|| self.shape(&e.ty))
            }
            ExpKind::Index { array, slice } => {
                let shape = self.exp(array, row);
                self.slice(slice, row);
                let fixed = slice.iter().filter(|i| matches!(i, SliceIndex::Index(_))).count();
                shape.element(fixed)
            }
            ExpKind::App { fun, args } => self.application(e, fun, args, row),
            ExpKind::And(l, r) | ExpKind::Or(l, r) => {
                self.exp(l, row);
                self.exp(r, row)
            }
            ExpKind::Constr { name, args } => self.constructor(e, *name, args, row),
            ExpKind::Range { start, second, end, .. } => {
                self.exp(start, row);
                second.iter().for_each(|e| drop(self.exp(e, row)));
                self.exp(end, row);
                Shape::Data
            }
            ExpKind::If { cond, then, otherwise } => {
                self.exp(cond, row);
                let both = [self.exp(then, row), self.exp(otherwise, row)];
                self.joined(&e.ty, both)
            }
            ExpKind::Lambda(lambda) => self.lambda(lambda),
            ExpKind::Loop { pat, init, form, body, .. } => self.loop_exp(pat, init, form, body, row),
            ExpKind::Match { scrutinee, cases } => {
                let matched = self.exp(scrutinee, row);
                let mut all = Vec::with_capacity(cases.len());
                for case in cases {
                    self.bind(&case.pat, &matched);
                    all.push(self.exp(&case.body, row));
                }
                self.joined(&e.ty, all)
            }
            ExpKind::With { target, path, value } => self.update(e, target, path, value, row),
            ExpKind::Let { .. }
            | ExpKind::LetFun { .. }
            | ExpKind::Ascript(_)
            | ExpKind::Coerce(_)
            | ExpKind::Attr(..)
            | ExpKind::Assert { .. } => self.exp(e, row),
        }
    }

    fn constructor(&mut self, e: &Exp, name: Name, args: &[Exp], row: Node) -> Shape {
        let whole = self.shape(&e.ty);
        for (i, arg) in args.iter().enumerate() {
            let shape = self.exp(arg, row);
            if let Shape::Sum(constrs) = &whole
                && let Some((_, payload)) = constrs.iter().find(|(c, _)| *c == name)
            {
                self.graph.flow_shape(&shape, &payload[i]);
            }
        }
        whole
    }

    fn update(&mut self, e: &Exp, target: &Exp, path: &[Access], value: &Exp, row: Node) -> Shape {
        let old = self.exp(target, row);
        for step in path {
            match step {
                Access::Field(_) => {}
                Access::Index(slice, _) => self.slice(slice, row),
            }
        }
        let new = self.exp(value, row);
        let whole = self.joined(&e.ty, [old]);
        let part = path.iter().try_fold(whole.clone(), |shape, step| match step {
            Access::Field(field) => shape.field(*field),
            Access::Index(slice, _) => Some(shape.element(slice.len())),
        });
        if let Some(part) = part {
            self.graph.flow_shape(&new, &part);
        }
        whole
    }

    /// One of several values.
    fn joined(&mut self, ty: &Type, shapes: impl IntoIterator<Item = Shape>) -> Shape {
        let whole = self.shape(ty);
        for shape in shapes {
            self.graph.flow_shape(&shape, &whole);
        }
        whole
    }

    fn slice(&mut self, slice: &[SliceIndex], row: Node) {
        for index in slice {
            match index {
                SliceIndex::Index(i) => drop(self.exp(i, row)),
                SliceIndex::Slice { start, end, stride } => {
                    [start, end, stride].into_iter().flatten().for_each(|e| drop(self.exp(e, row)));
                }
            }
        }
    }

    fn application(&mut self, e: &Exp, fun: &Exp, args: &[Exp], row: Node) -> Shape {
        let mut shape = self.exp(fun, row);
        for arg in args {
            let given = self.exp(arg, row);
            shape = match &shape {
                Shape::Fun(fun) => {
                    self.graph.flow_shape(&given, &fun.param);
                    self.graph.flow(fun.row, row);
                    fun.result.clone()
                }
                _ => return self.shape(&e.ty),
            };
        }
        shape
    }

    fn loop_exp(&mut self, pat: &Pat, init: &Exp, form: &LoopForm, body: &Exp, row: Node) -> Shape {
        let init = self.exp(init, row);
        let carried = self.joined(&pat.ty, [init]);
        self.bind(pat, &carried);
        match form {
            LoopForm::For { bound, .. } => drop(self.exp(bound, row)),
            LoopForm::ForIn { pat, array } => {
                let shape = self.exp(array, row);
                self.bind(pat, &shape.element(1));
            }
            LoopForm::While(cond) => drop(self.exp(cond, row)),
        }
        let result = self.exp(body, row);
        self.graph.flow_shape(&result, &carried);
        carried
    }
}
