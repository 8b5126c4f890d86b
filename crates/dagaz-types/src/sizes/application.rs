//! Function application, operators and sections.

use std::rc::Rc;

use dagaz_syntax::ast::{Access, Exp as SynExp, ExpKind as Syn};
use dagaz_syntax::{Diagnostic, Name, Span};

use super::binding::Uses;
use super::expression::plain;
use super::scope::can_be_size;
use super::{Sizer, internal};
use crate::context::Res;
use crate::subst::{Subst, constructive_sizes, size_of_exp};
use crate::typed::{Exp, ExpKind, Lambda, Pat, PatKind};
use crate::types::{RetType, Scheme, Size, Type, TypeArg, TypeId, TypeParamKind, VarId};

impl Sizer<'_> {
    /// The application of a function. If the result is a function itself, `wanted` is the type that it is wanted at.
    pub(super) fn application(
        &mut self,
        fun: Exp,
        args: &[SynExp],
        wanted: Option<&Type>,
        span: Span,
    ) -> Res<Exp> {
        if let Some(wanted) = wanted {
            self.expect_result(&fun.ty, args.len(), wanted);
        }
        let mut exts = Vec::new();
        let args: Vec<&SynExp> = args.iter().collect();
        let (typed, ty) = self.arguments(&fun, &args, &function_name(&fun), &mut exts)?;
        let ty = self.split_sizes(&fun, typed.len(), &ty, &mut exts);
        let ty = self.defer_sizes(&ty, &mut exts);
        Ok(Exp { kind: ExpKind::App { fun: Box::new(fun), args: typed }, ty, exts, span })
    }

    /// Arguments, and the type of the result. Lambdas come after all others, which say what sizes their parameters have.
    fn arguments(
        &mut self,
        fun: &Exp,
        args: &[&SynExp],
        name: &str,
        exts: &mut Vec<VarId>,
    ) -> Res<(Vec<Exp>, Type)> {
        let result = self.arguments_in_turn(&fun.ty, args, name, exts);
        if result.is_err() {
            self.note_existential_instances(fun);
        }
        result
    }

    fn arguments_in_turn(
        &mut self,
        fun: &Type,
        args: &[&SynExp],
        name: &str,
        exts: &mut Vec<VarId>,
    ) -> Res<(Vec<Exp>, Type)> {
        let mut ty = fun.clone();
        let mut typed: Vec<Option<Exp>> = args.iter().map(|_| None).collect();
        let mut lambdas = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            match self.zonk(&ty) {
                // The value of a function is no size, so the result does not mention it.
                Type::Arrow(arrow) if is_lambda(arg) && arrow.to.exts.is_empty() => {
                    lambdas.push((i, arrow.from.clone()));
                    ty = arrow.to.ty.clone();
                }
                Type::Arrow(arrow) => {
                    let arg = self.wanted(arg, &arrow.from)?;
                    ty = self.apply(&ty, &arg, name, exts)?;
                    typed[i] = Some(arg);
                }
                _ => return Err(internal(arg.span, "an application of a non-function")),
            }
        }
        for (i, from) in lambdas {
            let arg = self.wanted(args[i], &from)?;
            self.pass(&from, &arg, name, exts)?;
            typed[i] = Some(arg);
        }
        Ok((typed.into_iter().flatten().collect(), ty))
    }

    /// An expression where a value of some type is wanted.
    fn wanted(&mut self, e: &SynExp, wanted: &Type) -> Res<Exp> {
        match &e.kind {
            Syn::Paren(inner) => self.wanted(inner, wanted),
            Syn::Lambda { params, ret, body } => {
                self.lambda(e, params, ret.as_ref(), body, Uses::One(Some(wanted)))
            }
            Syn::App { fun, args } => {
                let fun = self.exp(fun)?;
                self.application(fun, args, Some(wanted), e.span)
            }
            _ => self.exp(e),
        }
    }

    /// Let the result of applying a function to some arguments have parameters of the sizes that are wanted.
    fn expect_result(&mut self, fun: &Type, args: usize, wanted: &Type) {
        let mut result = self.zonk(fun);
        let mut names = Vec::new();
        for _ in 0..args {
            let Type::Arrow(arrow) = &result else { return };
            names.extend(arrow.param);
            result = arrow.to.ty.clone();
        }
        let mut params = Vec::new();
        while let Type::Arrow(arrow) = &result {
            params.push(arrow.from.clone());
            names.extend(arrow.param);
            result = arrow.to.ty.clone();
        }
        // Sizes that arguments give are known once these are there.
        if params.iter().all(|p| !p.size_vars().iter().any(|v| names.contains(v))) {
            self.expect_parameters(params.iter(), wanted);
        }
    }

    /// The polymorphic type of a function, and what its type parameters stand for in this use.
    pub(super) fn instance_of<'e>(&self, fun: &'e Exp) -> Option<(Rc<Scheme>, &'e [TypeArg])> {
        match &fun.kind {
            ExpKind::Var { var, inst, .. } => {
                let local = self.schemes.get(var).cloned();
                Some((local.or_else(|| self.cx.values.get(var).map(|v| v.scheme.clone()))?, inst))
            }
            ExpKind::Intrinsic { name, inst } => Some((self.cx.intrinsics.get(name).cloned()?, inst)),
            _ => None,
        }
    }

    /// A function argument may be applied several times, with results of another size each time. In
    /// `def twice '^a '^b (f: a -> b) (x: a) (y: a) : (b, b)`, the two results of `twice iota 1 2` differ in size.
    fn split_sizes(&mut self, fun: &Exp, args: usize, ty: &Type, exts: &mut Vec<VarId>) -> Type {
        if exts.is_empty() {
            return ty.clone();
        }
        let Some((scheme, inst)) = self.instance_of(fun) else { return ty.clone() };
        let mut result = scheme.ty.clone();
        for _ in 0..args {
            let Type::Arrow(arrow) = &result else { return ty.clone() };
            result = arrow.to.ty.clone();
        }
        let mut repeated = Vec::new();
        for (param, arg) in scheme.params.iter().zip(inst) {
            if let (TypeParamKind::Type(id, _), TypeArg::Type(t)) = (param.kind, arg)
                && occurrences(&result, id) > 1
            {
                repeated.extend(self.zonk(t).size_vars().into_iter().filter(|v| exts.contains(v)));
            }
        }
        if repeated.is_empty() {
            return ty.clone();
        }
        let ty = self.zonk(ty);
        let mut seen = Vec::new();
        self.map_sizes(&ty, &mut |sizer, size| match size {
            Size::Var(v) if repeated.contains(v) && seen.contains(v) => {
                let var = sizer.unknown("the size of a function's result", Span::NONE);
                exts.push(var);
                Size::Var(var)
            }
            Size::Var(v) => {
                seen.push(*v);
                size.clone()
            }
            Size::Const(_) | Size::Exp(_) | Size::Set(_) | Size::Meta(_) => size.clone(),
        })
    }

    /// Unknown sizes that only the result of a function has come into being when that function is applied.
    fn defer_sizes(&self, ty: &Type, exts: &mut Vec<VarId>) -> Type {
        let ty = self.zonk(ty);
        let Type::Arrow(arrow) = &ty else { return ty };
        let taken = arrow.from.size_vars();
        let given = constructive_sizes(&arrow.to.ty);
        let (later, now): (Vec<_>, Vec<_>) =
            exts.iter().copied().partition(|e| given.contains(e) && !taken.contains(e));
        *exts = now;
        let mut to = arrow.to.clone();
        to.exts.extend(later);
        if matches!(to.ty, Type::Arrow(_)) && exts.iter().all(|e| !taken.contains(e)) {
            to.ty = self.defer_sizes(&to.ty, exts);
        }
        Type::arrow(arrow.param, arrow.from.clone(), to)
    }

    /// The type of applying a function of type `fun` to one argument; `exts` receives the sizes that come into being.
    pub(super) fn apply(&mut self, fun: &Type, arg: &Exp, name: &str, exts: &mut Vec<VarId>) -> Res<Type> {
        let fun = self.zonk(fun);
        let Type::Arrow(arrow) = &fun else {
            return Err(internal(arg.span, "an application of a non-function"));
        };
        self.pass(&arrow.from, arg, name, exts)?;
        self.instantiate_result(arrow.param, &arrow.to, arg, exts)
    }

    /// Give an argument to a parameter.
    fn pass(&mut self, param: &Type, arg: &Exp, name: &str, exts: &mut Vec<VarId>) -> Res<()> {
        self.placed(arg.span, |s| s.fit(param, &arg.ty, exts)).map_err(|m| {
            let what = format!("Cannot apply \"{name}\" to this argument (invalid type)");
            self.size_error(m, arg.span, &what, param, &arg.ty)
        })
    }

    pub(super) fn warn_of_binding(&mut self, span: Span) {
        self.cx.warn(
            Diagnostic::warning(
                "size-expression-bind",
                span,
                "Size expression with binding is replaced by unknown size",
            )
            .help("bind it to a name with \"let\" before to keep the size known"),
        );
    }

    /// The result type of a function: its parameter is the argument, and its open sizes come into being.
    fn instantiate_result(
        &mut self,
        param: Option<VarId>,
        to: &RetType,
        arg: &Exp,
        exts: &mut Vec<VarId>,
    ) -> Res<Type> {
        let mut subst = Subst::default();
        let mut ty = to.ty.clone();
        if let Some(param) = param
            && ty.size_vars().contains(&param)
        {
            if can_be_size(arg) {
                subst.sizes.insert(param, size_of_exp(arg.clone()));
            } else {
                self.warn_of_binding(arg.span);
                let (hidden, unknown) =
                    self.hide(&ty, &|_, v| v == param, "the value of this argument", arg.span);
                ty = hidden;
                exts.extend(unknown);
            }
        }
        for ext in &to.exts {
            let var = self.unknown("the size of a function's result", arg.span);
            exts.push(var);
            subst.sizes.insert(*ext, Size::Var(var));
        }
        Ok(subst.ty(&ty))
    }

    pub(super) fn prefix(&mut self, e: &SynExp, operand: &SynExp) -> Res<Exp> {
        // The literal of the most negative number is out of range by itself.
        let fun = self.variable(e.id, e.span)?;
        self.application(fun, std::slice::from_ref(operand), None, e.span)
    }

    pub(super) fn binary(&mut self, e: &SynExp, lhs: &SynExp, rhs: &SynExp) -> Res<Exp> {
        let Syn::BinOp { op, .. } = &e.kind else { return Err(internal(e.span, "an operator that is none")) };
        let fun = self.variable(e.id, op.span)?;
        if let ExpKind::Intrinsic { name, .. } = &fun.kind
            && matches!(name.as_str(), "&&" | "||")
        {
            let and = name.as_str() == "&&";
            let (l, r) = (Box::new(self.exp(lhs)?), Box::new(self.exp(rhs)?));
            let kind = if and { ExpKind::And(l, r) } else { ExpKind::Or(l, r) };
            return Ok(plain(kind, Type::BOOL, e.span));
        }
        let name = op.name.to_string();
        let mut exts = Vec::new();
        let (args, ty) = self.arguments(&fun, &[lhs, rhs], &name, &mut exts)?;
        if let ExpKind::Intrinsic { name, .. } = &fun.kind
            && matches!(name.as_str(), "==" | "!=")
            && matches!(args[0].ty, Type::Array { .. })
        {
            self.cx.warn(
                Diagnostic::warning("array-equality", e.span, "Comparing arrays for equality is deprecated")
                    .help("compare the elements with \"map2\" and \"and\""),
            );
        }
        let ty = self.defer_sizes(&ty, &mut exts);
        Ok(Exp { kind: ExpKind::App { fun: Box::new(fun), args }, ty, exts, span: e.span })
    }

    /// `(op r)` is `let y = r in \x -> x op y`.
    pub(super) fn section_right(&mut self, e: &SynExp, op_span: Span, rhs: &SynExp) -> Res<Exp> {
        let fun = self.variable(e.id, op_span)?;
        let r = self.exp(rhs)?;
        let Type::Arrow(arrow) = self.zonk(&fun.ty) else {
            return Err(internal(op_span, "an operator that is not a function"));
        };
        let (x, y) = (self.cx.fresh_var(Name::new("x")), self.cx.fresh_var(Name::new("y")));
        let level = self.level;
        self.level += 1;
        self.bind_var(y, r.ty.clone());
        self.bind_var(x, arrow.from.clone());
        let x_exp = variable(x, "x", arrow.from.clone(), op_span);
        let y_exp = variable(y, "y", r.ty.clone(), rhs.span);
        let mut exts = Vec::new();
        let name = function_name(&fun);
        let partial = self.apply(&fun.ty, &x_exp, &name, &mut exts)?;
        let ret = self.apply(&partial, &y_exp, &name, &mut exts)?;
        let body = Exp {
            kind: ExpKind::App { fun: Box::new(fun), args: vec![x_exp, y_exp] },
            ty: ret.clone(),
            exts,
            span: e.span,
        };
        // `y` is bound to the operand, so sizes may mention what it is.
        let mut known = Subst::default();
        if can_be_size(&r) {
            known.sizes.insert(y, size_of_exp(r.clone()));
        }
        self.level = level;
        let (ret, _) = self.unscope(&ret, &[y], &known, e.span);
        let (ret, open) =
            self.hide(&ret, &|s, v| s.level_of(v) > level && v != x, "made by the section", e.span);
        let param = is_i64(&arrow.from).then_some(x);
        let to = RetType { exts: open, ty: ret };
        let ty = Type::arrow(param, arrow.from.clone(), to.clone());
        let pat = Pat { kind: PatKind::Var(x, Name::new("x")), ty: arrow.from.clone(), span: op_span };
        let lambda = Lambda { sizes: Vec::new(), params: vec![pat], ret: to, body };
        let lambda = plain(ExpKind::Lambda(Rc::new(lambda)), ty.clone(), e.span);
        let pat = Pat { kind: PatKind::Var(y, Name::new("y")), ty: r.ty.clone(), span: rhs.span };
        let kind = ExpKind::Let { sizes: Vec::new(), pat, value: Box::new(r), body: Box::new(lambda) };
        Ok(plain(kind, ty, e.span))
    }

    /// `(.f[i])` is `\x -> x.f[i]`.
    pub(super) fn section_access(&mut self, e: &SynExp, path: &[Access]) -> Res<Exp> {
        let Type::Arrow(arrow) = self.noted_type(e.id, e.span)? else {
            return Err(internal(e.span, "a section that is not a function"));
        };
        let from = self.dress(&arrow.from, self.level, false);
        let from = self.with_open_parameters(&from, self.level);
        let x = self.cx.fresh_var(Name::new("x"));
        let level = self.level;
        self.level += 1;
        self.bind_var(x, from.clone());
        let mut body = variable(x, "x", from.clone(), e.span);
        for step in path {
            body = match step {
                Access::Field(field) => self.project(body, field.name, e.span)?,
                Access::Index(slice, span) => self.index(body, slice, *span)?,
            };
        }
        self.level = level;
        let (ret, open) =
            self.hide(&body.ty.clone(), &|s, v| s.level_of(v) > level, "made by the section", e.span);
        let to = RetType { exts: open, ty: ret };
        let ty = Type::arrow(None, from.clone(), to.clone());
        let pat = Pat { kind: PatKind::Var(x, Name::new("x")), ty: from, span: e.span };
        let lambda = Lambda { sizes: Vec::new(), params: vec![pat], ret: to, body };
        Ok(plain(ExpKind::Lambda(Rc::new(lambda)), ty, e.span))
    }
}

fn is_lambda(e: &SynExp) -> bool {
    match &e.kind {
        Syn::Paren(inner) => is_lambda(inner),
        Syn::Lambda { .. } => true,
        _ => false,
    }
}

/// How often a type parameter occurs in a type.
pub(super) fn occurrences(ty: &Type, id: TypeId) -> usize {
    match ty {
        Type::Prim(_) | Type::Meta(_) => 0,
        Type::Array { elem, .. } => occurrences(elem, id),
        Type::Record(fields) => fields.iter().map(|(_, t)| occurrences(t, id)).sum(),
        Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts).map(|t| occurrences(t, id)).sum(),
        Type::Arrow(a) => occurrences(&a.from, id) + occurrences(&a.to.ty, id),
        Type::Named { id: other, args, .. } => {
            let inner = args.iter().map(|a| match a {
                TypeArg::Size(_) => 0,
                TypeArg::Type(t) => occurrences(t, id),
            });
            usize::from(*other == id) + inner.sum::<usize>()
        }
    }
}

pub(super) fn is_i64(ty: &Type) -> bool {
    matches!(ty, Type::Prim(crate::types::PrimType::I64) | Type::Meta(_))
}

pub(super) fn variable(var: VarId, name: &str, ty: Type, span: Span) -> Exp {
    plain(ExpKind::Var { var, name: Name::new(name), inst: Vec::new() }, ty, span)
}

fn function_name(fun: &Exp) -> String {
    match &fun.kind {
        ExpKind::Var { name, .. } | ExpKind::Intrinsic { name, .. } => name.to_string(),
        ExpKind::App { fun, .. } | ExpKind::Attr(_, fun) => function_name(fun),
        _ => "anonymous function".to_owned(),
    }
}
