//! Types of expressions.

use dagaz_syntax::ast::{
    Access, Case, Exp, ExpKind, Field, Ident, LoopForm, NodeId, Pat, PatKind, QualName, SliceIndex,
};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::pattern::size_params;
use super::ranks::{Pipe, rank_of_dim};
use super::resolve::binding_of;
use super::unify::{Constraint, Meta, PrimSet};
use super::{ANY_SIZE, Infer, Local, Use};
use crate::Dialect;
use crate::context::{Error, Res, fail};
use crate::env::{Module, ValueBinding};
use crate::types::{
    Liftedness, PrimType, RetType, Scheme, Size, Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId,
};

impl Infer<'_> {
    pub(crate) fn exp(&mut self, e: &Exp) -> Res<Type> {
        let ty = self.exp_type(e)?;
        self.notes.types.insert(e.id, ty.clone());
        Ok(ty)
    }

    fn exp_type(&mut self, e: &Exp) -> Res<Type> {
        match &e.kind {
            ExpKind::Lit(literal) => Ok(self.literal(*literal, e.span)),
            ExpKind::Str(_) => Ok(Type::array(ANY_SIZE, Type::Prim(PrimType::U8))),
            ExpKind::Var(name) => self.variable(e.id, name),
            ExpKind::Hole => Ok(self.fresh(e.span)),
            ExpKind::Error => Err(Error::Silenced),
            ExpKind::Paren(inner) | ExpKind::Attr(_, inner) => self.exp(inner),
            ExpKind::Tuple(parts) => {
                let parts: Res<Vec<_>> = parts.iter().map(|p| self.exp(p)).collect();
                Ok(Type::tuple(parts?))
            }
            ExpKind::Record(fields) => self.record(fields),
            ExpKind::Array(elems) => self.array_literal(elems, e.span),
            ExpKind::Project(inner, field) => {
                let ty = self.exp(inner)?;
                self.project_lifted(e.id, &ty, *field)
            }
            ExpKind::Index(array, slice) => {
                let ty = self.exp(array)?;
                self.index_lifted(e.id, &ty, slice, array.span)
            }
            ExpKind::LocalOpen { module, body } => self.local_open(module, body),
            ExpKind::BinOp { op, lhs, rhs } => self.binary(e, op, lhs, rhs),
            ExpKind::Neg(inner) => self.prefix(e.id, "neg", inner, e.span),
            ExpKind::Not(inner) => self.prefix(e.id, "not", inner, e.span),
            ExpKind::App { fun, args } => self.application(e.id, fun, args),
            ExpKind::Constr { name, args } => {
                let args: Res<Vec<_>> = args.iter().map(|a| self.exp(a)).collect();
                let constrs = vec![(name.name, args?)];
                Ok(self.fresh_with(e.span, Constraint { constrs, ..Constraint::default() }))
            }
            ExpKind::SectionLeft { op, lhs } => {
                let op_ty = self.variable(e.id, op)?;
                if self.ranks.is_some() {
                    return self.lifted_section(e, (&op_ty, op.name.as_str()), lhs, true);
                }
                let lhs_ty = self.exp(lhs)?;
                self.apply(e.id, &op_ty, &lhs_ty, lhs.span, &op.name.to_string())
            }
            ExpKind::SectionRight { op, rhs } => self.section_right(e, op, rhs),
            ExpKind::SectionAccess(path) => {
                let param = self.fresh(e.span);
                let result = self.access(&param, path, e.span)?;
                Ok(Type::arrow(None, param, RetType::plain(result)))
            }
            ExpKind::Ascript(inner, te) | ExpKind::Coerce(inner, te) => {
                self.expect_array_of(inner, te)?;
                let actual = self.exp(inner)?;
                let expected = self.type_exp(te)?;
                // A coercion may also change what the elements are numbered by.
                self.any_index_set = matches!(e.kind, ExpKind::Coerce(..));
                let ok = self.unify(&expected, &actual);
                self.any_index_set = false;
                let what =
                    format!("This expression does not have expected type \"{}\"", self.show(&expected));
                self.expect(ok, inner.span, &what, &expected, &actual)?;
                Ok(expected)
            }
            ExpKind::Range { start, second, end, .. } => {
                let elem = self.fresh_with(e.span, Constraint::prims(PrimSet::INTEGRAL));
                for part in [Some(start), second.as_ref(), Some(end)].into_iter().flatten() {
                    let ty = self.exp(part)?;
                    let ok = self.unify(&elem, &ty);
                    self.expect(
                        ok,
                        part.span,
                        "The parts of a range must be of the same integer type",
                        &elem,
                        &ty,
                    )?;
                }
                Ok(Type::array(ANY_SIZE, elem))
            }
            ExpKind::If { .. } if self.ranks.is_some() => self.conditional_lifted(e),
            ExpKind::If { .. } => self.conditional(e),
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => self.let_chain(e),
            ExpKind::Lambda { params, ret, body } => {
                let mark = self.mark();
                let expected = self.expected.take();
                let ty = self.function(params, ret.as_ref(), body, expected)?;
                self.leave(mark);
                Ok(ty)
            }
            ExpKind::Loop { pat, init, form, body } => {
                self.loop_exp(e.span, pat, init.as_deref(), form, body)
            }
            ExpKind::Seq { first, second } => {
                self.only_here("A sequence", e.span)?;
                self.exp_of(
                    first,
                    &Type::tuple([]),
                    "What stands before a semicolon must be of type \"()\"",
                )?;
                self.exp(second)
            }
            ExpKind::For { binders, body } => self.for_exp(e, binders, body),
            ExpKind::Match { scrutinee, cases } => self.match_exp(scrutinee, cases),
            ExpKind::With { target, path, value } => {
                let ty = self.exp(target)?;
                self.update(&ty, path, value, target.span)?;
                Ok(ty)
            }
            ExpKind::Assert { cond, body } => {
                self.exp_of(cond, &Type::BOOL, "The condition of an assertion must be a bool")?;
                self.exp(body)
            }
        }
    }

    /// Check that an expression has a given type.
    fn exp_of(&mut self, e: &Exp, expected: &Type, what: &str) -> Res<()> {
        let actual = self.exp(e)?;
        let ok = self.unify(expected, &actual);
        self.expect(ok, e.span, what, expected, &actual)
    }

    // -----------------------------------------------------------------------------------------------
    // Variables and application

    fn variable(&mut self, id: NodeId, name: &QualName) -> Res<Type> {
        let resolved = self.resolve_value(name)?;
        let scheme = match resolved.local {
            Local::Var(v) => self.schemes[&v].clone(),
            Local::Global(ValueBinding::Def(v)) => self.cx.values[&v].scheme.clone(),
            Local::Global(ValueBinding::Intrinsic(name)) => self.cx.intrinsics[&name].clone(),
            Local::Global(ValueBinding::Poisoned) => return Err(Error::Silenced),
        };
        let (inst, mut ty) = self.instantiate(&scheme, name.span);
        let target = binding_of(resolved.local);
        let root = match target {
            ValueBinding::Def(v) => self.cx.var_name(v),
            ValueBinding::Intrinsic(n) => n,
            ValueBinding::Poisoned => name.name,
        };
        for field in &resolved.fields {
            ty = self.project_lifted(id, &ty, Ident { name: *field, span: name.span })?;
        }
        self.notes.uses.insert(id, Use { target, name: root, inst, fields: resolved.fields });
        Ok(ty)
    }

    fn intrinsic(&mut self, id: NodeId, name: &str, span: Span) -> Type {
        let name = Name::new(name);
        let scheme = self.cx.intrinsics[&name].clone();
        let (inst, ty) = self.instantiate(&scheme, span);
        self.notes
            .uses
            .insert(id, Use { target: ValueBinding::Intrinsic(name), name, inst, fields: Vec::new() });
        ty
    }

    fn prefix(&mut self, id: NodeId, intrinsic: &str, operand: &Exp, span: Span) -> Res<Type> {
        let op = self.intrinsic(id, intrinsic, span);
        let arg = self.exp(operand)?;
        self.apply(id, &op, &arg, operand.span, if intrinsic == "neg" { "-" } else { "!" })
    }

    fn binary(&mut self, e: &Exp, op: &QualName, lhs: &Exp, rhs: &Exp) -> Res<Type> {
        if self.ranks.is_some()
            && let Some(pipe) = self.pipe(op)
        {
            return match pipe {
                Pipe::Right => self.piped(e, rhs, lhs),
                Pipe::Left => self.piped(e, lhs, rhs),
                Pipe::ThenRight => self.composed(e, lhs, rhs),
                Pipe::ThenLeft => self.composed(e, rhs, lhs),
            };
        }
        let op_ty = self.variable(e.id, op)?;
        let name = op.name.to_string();
        let lhs_ty = self.exp(lhs)?;
        let partial = self.apply(e.id, &op_ty, &lhs_ty, lhs.span, &name)?;
        let rhs_ty = self.exp(rhs)?;
        self.apply(e.id, &partial, &rhs_ty, rhs.span, &name)
    }

    fn section_right(&mut self, e: &Exp, op: &QualName, rhs: &Exp) -> Res<Type> {
        let op_ty = self.variable(e.id, op)?;
        if self.ranks.is_some() {
            return self.lifted_section(e, (&op_ty, op.name.as_str()), rhs, false);
        }
        let lhs_ty = self.fresh(e.span);
        let partial = self.apply(e.id, &op_ty, &lhs_ty, op.span, &op.name.to_string())?;
        let rhs_ty = self.exp(rhs)?;
        let result = self.apply(e.id, &partial, &rhs_ty, rhs.span, &op.name.to_string())?;
        Ok(Type::arrow(None, lhs_ty, RetType::plain(result)))
    }

    fn application(&mut self, node: NodeId, fun: &Exp, args: &[Exp]) -> Res<Type> {
        let mut ty = match self.older_function(fun, args.len()) {
            Some((name, var)) => self.prelude_function(fun.id, name, var, fun.span),
            None => self.applied(fun)?,
        };
        let name = function_name(fun);
        for arg in args {
            let arg_ty = self.argument(&ty, arg)?;
            ty = self.apply(node, &ty, &arg_ty, arg.span, &name)?;
        }
        Ok(ty)
    }

    /// What a function meant in older versions of the language, where it had more arguments than it can be given now.
    fn older_function(&self, fun: &Exp, args: usize) -> Option<(Name, VarId)> {
        let ExpKind::Var(name) = &fun.kind else { return None };
        if name.name.as_str() != "unflatten" || args < 3 || self.cx.dialect != Dialect::Dagaz {
            return None;
        }
        let meant = binding_of(self.resolve_value(name).ok()?.local);
        let older = Name::new("unflatten_to");
        match (self.cx.prelude_values.get(&name.name) == Some(&meant), self.cx.prelude_values.get(&older)) {
            (true, Some(ValueBinding::Def(var))) => Some((older, *var)),
            _ => None,
        }
    }

    fn prelude_function(&mut self, id: NodeId, name: Name, var: VarId, span: Span) -> Type {
        let scheme = self.cx.values[&var].scheme.clone();
        let (inst, ty) = self.instantiate(&scheme, span);
        self.notes.uses.insert(id, Use { target: ValueBinding::Def(var), name, inst, fields: Vec::new() });
        self.notes.types.insert(id, ty.clone());
        ty
    }

    /// The type of an argument. What a reference in a lambda refers to cannot be found from how it is used, since what
    /// is indexed could be an array as well; so it comes from the function that the lambda is given to.
    fn argument(&mut self, fun: &Type, arg: &Exp) -> Res<Type> {
        if let Type::Arrow(arrow) = self.base(fun)
            && is_lambda(arg)
        {
            self.expected = Some(arrow.from.clone());
        }
        let ty = self.exp(arg);
        self.expected = None;
        ty
    }

    /// Whether a reference occurs in a type.
    fn mentions_reference(&self, ty: &Type) -> bool {
        match self.shallow(ty) {
            Type::Named { id, .. } => self.cx.references.kind(id).is_some(),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.mentions_reference(t)),
            Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Sum(_) | Type::Arrow(_) => false,
        }
    }

    /// The type of applying a function to one argument, at some node of the tree.
    fn apply(&mut self, node: NodeId, fun: &Type, arg: &Type, arg_span: Span, name: &str) -> Res<Type> {
        if self.ranks.is_some() {
            return self.apply_lifted(node, fun, (arg, arg_span), name);
        }
        match self.shallow(fun) {
            Type::Arrow(arrow) => {
                let ok = self.unify(&arrow.from, arg);
                self.expect(ok, arg_span, &cannot_apply(name), &arrow.from, arg)?;
                Ok(arrow.to.ty.clone())
            }
            Type::Meta(_) => {
                let result = self.fresh(arg_span);
                let ok = self.unify(
                    fun,
                    &Type::arrow(None, arg.with_uniqueness(false), RetType::plain(result.clone())),
                );
                self.demand(ok, arg_span, &format!("Cannot apply \"{name}\" to this argument"))?;
                Ok(result)
            }
            other => Err(self.not_a_function(&other, arg_span, name)),
        }
    }

    pub(super) fn not_a_function(&self, ty: &Type, arg: Span, name: &str) -> Error {
        let message = format!(
            "Cannot apply \"{name}\" to this argument: it is not a function, or has too many arguments"
        );
        Diagnostic::error("not-a-function", arg, message)
            .at("superfluous argument")
            .help(format!("what is applied here has type {}", self.show(ty)))
            .into()
    }

    // -----------------------------------------------------------------------------------------------
    // Records and arrays

    fn record(&mut self, fields: &[Field]) -> Res<Type> {
        let name = |f: &Field| match f {
            Field::Explicit(ident, _) | Field::Implicit(ident, _) => *ident,
        };
        super::type_exp::check_distinct("field", fields.iter().map(name))?;
        let mut types = Vec::new();
        for field in fields {
            types.push(match field {
                Field::Explicit(ident, e) => (ident.name, self.exp(e)?),
                Field::Implicit(ident, id) => {
                    let q = QualName { quals: Vec::new(), name: ident.name, span: ident.span };
                    let ty = self.variable(*id, &q)?;
                    self.notes.types.insert(*id, ty.clone());
                    (ident.name, ty)
                }
            });
        }
        Ok(Type::record(types))
    }

    fn array_literal(&mut self, elems: &[Exp], span: Span) -> Res<Type> {
        let elem =
            self.fresh_with(span, Constraint { liftedness: Liftedness::Unlifted, ..Constraint::default() });
        for e in elems {
            let ty = self.exp(e)?;
            let ok = self.unify(&elem, &ty);
            self.expect(
                ok,
                e.span,
                "The array element does not have the type of the elements before it",
                &elem,
                &ty,
            )?;
        }
        Ok(Type::array(ANY_SIZE, elem))
    }

    pub(super) fn project(&mut self, ty: &Type, field: Ident) -> Res<Type> {
        if let Some((id, content)) = self.cx.references.content(&self.base(ty)) {
            return Ok(Type::reference(id, self.project(content, field)?));
        }
        if let Type::Record(fields) = self.shallow(ty)
            && let Some((_, t)) = fields.iter().find(|(f, _)| *f == field.name)
        {
            return Ok(t.clone());
        }
        let result = self.fresh(field.span);
        let fields = vec![(field.name, result.clone())];
        let ok = self.constrain(ty, Constraint { fields, ..Constraint::default() });
        self.demand(ok, field.span, &format!("There is no record field \"{}\" here", field.name))?;
        Ok(result)
    }

    /// The type of indexing or slicing.
    pub(super) fn index(&mut self, ty: &Type, slice: &[SliceIndex], array_span: Span) -> Res<Type> {
        if let Some((id, content)) = self.cx.references.content(&self.base(ty)) {
            let range = slice.iter().find_map(|dim| match dim {
                SliceIndex::Index(_) => None,
                SliceIndex::Slice { span, .. } => Some(*span),
            });
            if let Some(span) = range {
                return fail(
                    Diagnostic::error("reference-range", span, "A reference cannot be sliced by a range")
                        .help("write an index: the reference is then to that element"),
                );
            }
            return Ok(Type::reference(id, self.index(content, slice, array_span)?));
        }
        let mut ty = ty.clone();
        let mut kept = Vec::new();
        for dim in slice {
            let mut index = None;
            match dim {
                SliceIndex::Index(i) => index = Some((self.exp(i)?, i.span)),
                SliceIndex::Slice { start, end, stride, .. } => {
                    for part in [start, end, stride].into_iter().flatten() {
                        self.exp_of(part, &Type::I64, "The parts of a slice must be of type \"i64\"")?;
                    }
                }
            }
            let (size, elem) = self.element(&ty, array_span)?;
            match index {
                Some((actual, span)) => self.check_index(&size, &actual, span, array_span)?,
                None => kept.push(size),
            }
            ty = elem;
        }
        Ok(kept.into_iter().rev().fold(ty, |t, size| Type::array(size, t)))
    }

    /// The outer dimension of an array, and the type of its elements.
    pub(super) fn element(&mut self, ty: &Type, array_span: Span) -> Res<(Size, Type)> {
        match self.shallow(ty) {
            Type::Array { dim, elem, .. } if rank_of_dim(&dim).is_none() => Ok((dim, (*elem).clone())),
            t => {
                let elem = self.fresh(array_span);
                let size = self.open_dim(array_span);
                let array = Type::array(size.clone(), elem.clone());
                let ok = self.unify(&t, &array);
                let what = "This is indexed with more dimensions than it has";
                self.expect(ok, array_span, what, &array, &t)?;
                Ok((size, elem))
            }
        }
    }

    fn access(&mut self, ty: &Type, path: &[Access], span: Span) -> Res<Type> {
        let mut ty = ty.clone();
        for step in path {
            ty = match step {
                Access::Field(field) => self.project(&ty, *field)?,
                Access::Index(slice, _) => self.index(&ty, slice, span)?,
            };
        }
        Ok(ty)
    }

    fn update(&mut self, target: &Type, path: &[Access], value: &Exp, span: Span) -> Res<()> {
        let part = self.access(target, path, span)?;
        let actual = self.exp(value)?;
        let ok = self.unify(&part, &actual);
        self.expect(
            ok,
            value.span,
            "The new value does not have the type of what it replaces",
            &part,
            &actual,
        )
    }

    fn local_open(&mut self, module: &QualName, body: &Exp) -> Res<Type> {
        let env = match self.resolve_module(module)? {
            Module::Struct(env) => env,
            Module::Functor(_) => {
                return fail(Diagnostic::error(
                    "parametric-module",
                    module.span,
                    format!("\"{}\" is a parametric module, which cannot be opened", module.name),
                ));
            }
            Module::Poisoned => return Err(Error::Silenced),
        };
        let mark = self.mark();
        for (name, value) in &env.values {
            self.bind_local(*name, Local::Global(*value));
        }
        self.frames.push((*env).clone());
        let ty = self.exp(body);
        self.frames.pop();
        self.leave(mark);
        ty
    }

    // -----------------------------------------------------------------------------------------------
    // Binding and control

    /// A chain of `let`s, walked with a loop so that its length does not matter.
    fn let_chain(&mut self, e: &Exp) -> Res<Type> {
        let mark = self.mark();
        let mut chain = Vec::new();
        let mut e = e;
        let ty = loop {
            let body = match &e.kind {
                ExpKind::Let { sizes, pat, value, body } => {
                    if let (PatKind::Ascript(_, te), true) = (&pat.kind, sizes.is_empty()) {
                        self.expect_array_of(value, te)?;
                    }
                    let ty = self.exp(value)?;
                    self.check_size_names(sizes.iter().copied(), std::slice::from_ref(pat))?;
                    for size in sizes {
                        self.bind_var(*size, Type::I64);
                    }
                    self.pat(pat, &ty)?;
                    body
                }
                ExpKind::LetFun { name, type_params, params, ret, def, body } => {
                    let inner = self.mark();
                    let outer_metas = self.metas.len();
                    self.check_size_names(size_params(type_params), params)?;
                    let type_params = self.enter_type_params(type_params)?;
                    let ty = self.function(params, ret.as_ref(), def, None)?;
                    self.leave_type_params();
                    self.leave(inner);
                    self.check_type_scope(&type_params, outer_metas, name.span)?;
                    let ty = self.zonk(&ty);
                    self.bind_poly(*name, Scheme { params: type_params, overloads: Vec::new(), ty });
                    body
                }
                ExpKind::LetWith { name, path, value, body } => {
                    let q = QualName { quals: Vec::new(), name: name.name, span: name.span };
                    let ty = self.variable(e.id, &q)?;
                    self.update(&ty, path, value, name.span)?;
                    self.bind_var(*name, ty);
                    body
                }
                _ => break self.exp(e)?,
            };
            chain.push(e.id);
            e = body;
        };
        self.leave(mark);
        for id in chain {
            self.notes.types.insert(id, ty.clone());
        }
        Ok(ty)
    }

    /// A type from outside a local function must not turn out to be one of the function's type parameters.
    fn check_type_scope(&self, params: &[TypeParam], outer_metas: usize, span: Span) -> Res<()> {
        for param in params {
            let TypeParamKind::Type(id, _) = param.kind else { continue };
            let escapes = |m: usize| {
                let Meta { bound, constraint, .. } = &self.metas[m];
                bound
                    .iter()
                    .chain(constraint.fields.iter().map(|(_, t)| t))
                    .any(|t| self.mentions_type(t, id))
            };
            if (0..outer_metas).any(escapes) {
                return fail(
                    Diagnostic::error(
                        "scope-violation",
                        span,
                        format!(
                            "The type parameter \"{}\" would be needed outside this function, where it is not in scope (scope-violation)",
                            param.name
                        ),
                    )
                    .help("a value from outside the function cannot be of the function's own type parameter"),
                );
            }
        }
        Ok(())
    }

    fn mentions_type(&self, ty: &Type, id: TypeId) -> bool {
        match self.shallow(ty) {
            Type::Prim(_) | Type::Meta(_) => false,
            Type::Array { elem, .. } => self.mentions_type(&elem, id),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.mentions_type(t, id)),
            Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(|t| self.mentions_type(t, id))),
            Type::Arrow(a) => self.mentions_type(&a.from, id) || self.mentions_type(&a.to.ty, id),
            Type::Named { id: other, args, .. } => {
                other == id
                    || args.iter().any(|a| match a {
                        TypeArg::Size(_) => false,
                        TypeArg::Type(t) => self.mentions_type(t, id),
                    })
            }
        }
    }

    /// The type of a function from its parameters (which stay bound), optional result type and body.
    pub(super) fn function(
        &mut self,
        params: &[Pat],
        ret: Option<&dagaz_syntax::ast::TypeExp>,
        body: &Exp,
        mut expected_type: Option<Type>,
    ) -> Res<Type> {
        self.check_pat_names(&params.iter().collect::<Vec<_>>())?;
        let mut types = Vec::new();
        for p in params {
            let mut ty = self.fresh(p.span);
            if let Some(Type::Arrow(arrow)) = expected_type.take().map(|ty| self.base(&ty)) {
                if self.mentions_reference(&arrow.from) {
                    ty = arrow.from.clone();
                }
                expected_type = Some(arrow.to.ty.clone());
            }
            self.bind_pat(p, &ty)?;
            types.push(ty);
        }
        let expected = ret.map(|te| self.type_exp(te)).transpose()?;
        if let Some(expected) = &expected {
            self.expect_array(body, expected);
        }
        let actual = self.exp(body)?;
        if let Some(expected) = &expected {
            let ok = self.unify(expected, &actual);
            self.expect(
                ok,
                body.span,
                "The body of this function does not match its return type",
                expected,
                &actual,
            )?;
        }
        let result = expected.unwrap_or(actual);
        Ok(types.into_iter().rev().fold(result, |to, from| Type::arrow(None, from, RetType::plain(to))))
    }

    /// `if`s in a row: `if a then x else if b then y else z` is walked with a loop.
    fn conditional(&mut self, e: &Exp) -> Res<Type> {
        let result = self.fresh(e.span);
        let mut e = e;
        while let ExpKind::If { cond, then, otherwise } = &e.kind {
            self.exp_of(cond, &Type::BOOL, "The condition of \"if\" must be a bool")?;
            self.branch(&result, then)?;
            self.notes.types.insert(e.id, result.clone());
            e = otherwise;
        }
        self.branch(&result, e)?;
        let ok = self.restrict(&result, Liftedness::SizeLifted);
        self.demand(ok, e.span, "A branch of \"if\" cannot give a value of this type")?;
        Ok(result)
    }

    fn branch(&mut self, result: &Type, e: &Exp) -> Res<()> {
        let ty = self.exp(e)?;
        let ok = self.unify(result, &ty);
        self.expect(ok, e.span, "This branch does not have the type of the branches before it", result, &ty)
    }

    fn match_exp(&mut self, scrutinee: &Exp, cases: &[Case]) -> Res<Type> {
        let matched = self.exp(scrutinee)?;
        let result = self.fresh(scrutinee.span);
        for case in cases {
            let mark = self.mark();
            self.pat(&case.pat, &matched)?;
            self.branch(&result, &case.body)?;
            self.leave(mark);
        }
        let ok = self.restrict(&result, Liftedness::SizeLifted);
        self.demand(ok, scrutinee.span, "A case of \"match\" cannot give a value of this type")?;
        Ok(result)
    }

    fn loop_exp(
        &mut self,
        span: Span,
        pat: &Pat,
        init: Option<&Exp>,
        form: &LoopForm,
        body: &Exp,
    ) -> Res<Type> {
        let ty = match init {
            Some(init) => self.exp(init)?,
            None => self.pattern_value(pat)?,
        };
        let mark = self.mark();
        match form {
            LoopForm::For { var, bound } => {
                let index = self.fresh_with(bound.span, Constraint::prims(PrimSet::INTEGRAL));
                self.exp_of(bound, &index, "The bound of a loop must be of an integer type")?;
                self.pat(pat, &ty)?;
                self.bind_var(*var, index);
            }
            LoopForm::ForIn { pat: elem_pat, array } => {
                let elem = self.fresh(array.span);
                let size = self.open_dim(array.span);
                self.exp_of(array, &Type::array(size, elem.clone()), "\"for … in\" needs an array")?;
                self.pat(pat, &ty)?;
                self.pat(elem_pat, &elem)?;
            }
            LoopForm::While(cond) => {
                self.pat(pat, &ty)?;
                self.exp_of(cond, &Type::BOOL, "The condition of a loop must be a bool")?;
            }
        }
        let result = self.exp(body)?;
        let ok = self.unify(&ty, &result);
        self.expect(
            ok,
            body.span,
            "The loop body does not have the type of the loop parameter",
            &ty,
            &result,
        )?;
        self.leave(mark);
        let ok = self.restrict(&ty, Liftedness::SizeLifted);
        self.demand(ok, span, "A loop parameter may not be of function type")?;
        Ok(ty)
    }

    /// The type of a loop pattern read as an expression, for loops without initial values.
    fn pattern_value(&mut self, pat: &Pat) -> Res<Type> {
        match &pat.kind {
            PatKind::Var(ident) => {
                let q = QualName { quals: Vec::new(), name: ident.name, span: ident.span };
                self.variable(pat.id, &q)
            }
            PatKind::Paren(p) | PatKind::Attr(_, p) => self.pattern_value(p),
            PatKind::Ascript(p, _) => self.pattern_value(p),
            PatKind::Tuple(ps) => {
                let types: Res<Vec<_>> = ps.iter().map(|p| self.pattern_value(p)).collect();
                Ok(Type::tuple(types?))
            }
            PatKind::Record(fields) => {
                let mut types = Vec::new();
                for (field, p) in fields {
                    types.push(match p {
                        Some(p) => (field.name, self.pattern_value(p)?),
                        None => {
                            return fail(
                                Diagnostic::error(
                                    "loop-without-init",
                                    field.span,
                                    "This loop needs initial values",
                                )
                                .help(format!(
                                    "write {{{0} = {0}}} or give the initial value with =",
                                    field.name
                                )),
                            );
                        }
                    });
                }
                Ok(Type::record(types))
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr { .. } => fail(
                Diagnostic::error("loop-without-init", pat.span, "This loop needs initial values")
                    .help("the pattern cannot be read as an expression; write `loop pattern = value …`"),
            ),
        }
    }
}

fn is_lambda(e: &Exp) -> bool {
    match &e.kind {
        ExpKind::Lambda { .. } => true,
        ExpKind::Paren(inner) | ExpKind::Attr(_, inner) => is_lambda(inner),
        _ => false,
    }
}

pub(super) fn cannot_apply(name: &str) -> String {
    format!("Cannot apply \"{name}\" to this argument (invalid type)")
}

/// How an applied function is called in messages.
pub(super) fn function_name(fun: &Exp) -> String {
    match &fun.kind {
        ExpKind::Var(q) => q.name.to_string(),
        ExpKind::Paren(e) | ExpKind::Attr(_, e) => function_name(e),
        _ => "anonymous function".to_owned(),
    }
}
