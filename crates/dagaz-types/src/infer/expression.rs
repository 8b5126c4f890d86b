//! Types of expressions.

use dagaz_syntax::ast::{Case, Exp, ExpKind, Ident, LoopForm, NodeId, Pat, QualName};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::ranks::Pipe;
use super::resolve::binding_of;
use super::unify::{Constraint, PrimSet};
use super::{ANY_SIZE, Infer, Local, Use};
use crate::Dialect;
use crate::context::{Error, Res, fail};
use crate::env::{Module, ValueBinding};
use crate::types::{Liftedness, PrimType, RetType, Type, VarId};

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
    pub(super) fn exp_of(&mut self, e: &Exp, expected: &Type, what: &str) -> Res<()> {
        let actual = self.exp(e)?;
        let ok = self.unify(expected, &actual);
        self.expect(ok, e.span, what, expected, &actual)
    }

    // -----------------------------------------------------------------------------------------------
    // Variables and application

    pub(super) fn variable(&mut self, id: NodeId, name: &QualName) -> Res<Type> {
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
