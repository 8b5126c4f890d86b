//! Evaluation of expressions to static values, emitting Core for what must happen at run time.

mod application;
mod attribute;
mod control;
mod index;
mod literal;
mod pattern;
mod range;
mod update;

pub(crate) use index::{Position, below_sizes};
pub(crate) use literal::{float_literal, int_literal};
pub(crate) use update::Step;

use std::rc::Rc;

use dagaz_core::exp::{Exp as CoreExp, MsgPart};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Type as CoreType};
use dagaz_syntax::Name;
use dagaz_types::typed::{Exp, ExpKind};
use dagaz_types::types::{Type, TypeArg, VarId};

use crate::context::{Res, Simplifier};
use crate::merge::{common_skeleton, same_skeleton};
use crate::shape::{sizes_of, targets};
use crate::value::{AliasInst, Code, ConstState, DefInst, EArg, EType, Env, Origin, SVal};
use crate::walk::{flatten, rebuild};

impl Simplifier<'_> {
    /// Sizes that come into being are bound in `env`, as are all local names: ids are unique, so that
    /// nothing needs to be taken out again.
    pub fn eval(&mut self, env: &mut Env, exp: &Exp) -> Res<SVal> {
        let mut exp = exp;
        let mut with_sizes: Vec<&Exp> = Vec::new();
        // Chains of `let` may be very long, and are followed without recursion.
        loop {
            if !exp.exts.is_empty() {
                with_sizes.push(exp);
            }
            match &exp.kind {
                ExpKind::Let { sizes, pat, value, body } => {
                    let value = self.eval(env, value)?;
                    if !sizes.is_empty() {
                        sizes.iter().for_each(|size| drop(env.vars.remove(size)));
                        self.bind_sizes(env, &pat.ty, &value)?;
                    }
                    self.bind_pattern(env, pat, &value)?;
                    exp = body;
                }
                ExpKind::LetFun { def, body } => {
                    let free = self.free_of_def(def);
                    let inst = DefInst::local(def.clone(), env.clone(), free);
                    env.vars.insert(def.var, SVal::Def(Rc::new(inst)));
                    exp = body;
                }
                ExpKind::Ascript(inner) => exp = inner,
                _ => break,
            }
        }
        let value = self.eval_kind(env, exp)?;
        for exp in with_sizes.into_iter().rev() {
            exp.exts.iter().for_each(|ext| drop(env.vars.remove(ext)));
            let ty = self.eval_type(env, &exp.ty)?;
            for (var, atom) in sizes_of(&value, &targets(&value, &ty)) {
                env.vars.insert(var, SVal::i64(atom));
            }
        }
        Ok(value)
    }

    fn eval_kind(&mut self, env: &mut Env, exp: &Exp) -> Res<SVal> {
        match &exp.kind {
            ExpKind::Int(value) => {
                let prim = self.prim_type(env, &exp.ty)?;
                Ok(SVal::Scalar(prim, Atom::Const(int_literal(prim, *value))))
            }
            ExpKind::Float(value) => {
                let prim = self.prim_type(env, &exp.ty)?;
                Ok(SVal::Scalar(prim, Atom::Const(float_literal(prim, *value))))
            }
            ExpKind::Bool(value) => Ok(SVal::bool(Atom::bool(*value))),
            ExpKind::Str(bytes) => Ok(self.string(bytes)),
            ExpKind::Var { var, name, inst } => self.eval_var(env, *var, *name, inst),
            ExpKind::Intrinsic { name, inst } => {
                let type_args = self.eval_args(env, inst)?;
                Ok(SVal::fun(Code::Intrinsic { name: *name, type_args }))
            }
            ExpKind::Hole => self.hole(env, exp),
            ExpKind::Record(fields) => self.record(env, fields),
            ExpKind::Array(elems) => self.array_literal(env, exp, elems),
            ExpKind::Project(record, field) => {
                let record = self.eval(env, record)?;
                self.project(&record, *field)
            }
            ExpKind::Index { array, slice } => {
                let array = self.eval(env, array)?;
                let slice = self.eval_slice(env, slice)?;
                self.at(exp.span);
                self.index(&array, slice)
            }
            ExpKind::App { fun, args } => self.application(env, exp, fun, args),
            ExpKind::And(a, b) => {
                let cond = self.eval_scalar(env, a)?;
                self.branch(cond, |s| s.eval(&mut env.clone(), b), |_| Ok(SVal::bool(Atom::bool(false))))
            }
            ExpKind::Or(a, b) => {
                let cond = self.eval_scalar(env, a)?;
                self.branch(cond, |_| Ok(SVal::bool(Atom::bool(true))), |s| s.eval(&mut env.clone(), b))
            }
            ExpKind::Constr { name, args } => {
                let payload = args.iter().map(|arg| self.eval(env, arg)).collect::<Res<_>>()?;
                match self.eval_type(env, &exp.ty)? {
                    EType::Sum(constrs) => self.constructed(&constrs, *name, payload),
                    _ => self.bug("a constructor of a type that is not a sum"),
                }
            }
            ExpKind::Coerce(inner) => self.coerce(env, exp, inner),
            ExpKind::Range { start, second, end, kind } => {
                self.range(env, exp, start, second.as_deref(), end, *kind)
            }
            ExpKind::If { cond, then, otherwise } => self.if_exp(env, exp, cond, then, otherwise),
            ExpKind::Lambda(lambda) => {
                let free = self.free_of_lambda(lambda);
                Ok(SVal::fun(Code::Lambda { lambda: lambda.clone(), free, env: env.clone() }))
            }
            ExpKind::Loop { sizes, pat, init, form, body } => {
                self.loop_exp(env, exp, sizes, pat, init, form, body)
            }
            ExpKind::Match { scrutinee, cases } => self.match_exp(env, exp, scrutinee, cases),
            ExpKind::With { target, path, value } => self.with_exp(env, exp, target, path, value),
            ExpKind::Assert { cond, body } => self.assertion(env, exp, cond, body),
            ExpKind::Attr(attr, inner) => self.attributed(env, exp, attr, inner),
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::Ascript(_) => self.eval(env, exp),
        }
    }

    fn record(&mut self, env: &mut Env, fields: &[(Name, Exp)]) -> Res<SVal> {
        let mut values = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            values.push((*name, self.eval(env, field)?));
        }
        values.sort_by_key(|(name, _)| *name);
        Ok(SVal::Record(values.into()))
    }

    fn assertion(&mut self, env: &mut Env, exp: &Exp, cond: &Exp, body: &Exp) -> Res<SVal> {
        if env.unchecked {
            return self.eval(env, body);
        }
        let holds = self.eval_scalar(env, cond)?;
        self.at(exp.span);
        let text = format!("Assertion is false: {}", self.sources.snippet(cond.span));
        let mut message = vec![MsgPart::Text(text)];
        let mut scalars = Vec::new();
        scalar_variables(cond, &mut scalars);
        for (i, (name, variable)) in scalars.into_iter().enumerate() {
            let joint = if i == 0 { ", where" } else { "," };
            message.push(MsgPart::Text(format!("{joint} {name} = ")));
            message.push(MsgPart::Value(self.eval_scalar(env, variable)?));
        }
        self.assert(holds, message);
        self.eval(env, body)
    }

    /// An expression whose value is a scalar.
    pub fn eval_scalar(&mut self, env: &mut Env, exp: &Exp) -> Res<Atom> {
        match self.eval(env, exp)? {
            SVal::Scalar(_, atom) => Ok(atom),
            _ => self.bug("a scalar was expected"),
        }
    }

    fn prim_type(&mut self, env: &mut Env, ty: &Type) -> Res<PrimType> {
        match self.eval_type(env, ty)? {
            EType::Prim(prim) => Ok(prim),
            _ => self.bug("a literal of a type that is not primitive"),
        }
    }

    fn string(&mut self, bytes: &[u8]) -> SVal {
        let dim = Atom::i64(bytes.len() as i64);
        let elems = bytes.iter().map(|b| Atom::Const(Prim::U8(*b))).collect();
        let ty = CoreType::Array { elem: PrimType::U8, dims: vec![dim] };
        let exp = CoreExp::ArrayLit { row: CoreType::Prim(PrimType::U8), elems };
        SVal::array(dim, SVal::Scalar(PrimType::U8, self.emit("text", ty, exp)))
    }

    fn hole(&mut self, env: &mut Env, exp: &Exp) -> Res<SVal> {
        self.at(exp.span);
        self.assert(Atom::bool(false), vec![MsgPart::Text("Reached a hole in the program.".into())]);
        let ty = self.eval_type(env, &exp.ty)?;
        Ok(self.zero(&ty, &[]))
    }

    pub fn project(&mut self, record: &SVal, field: Name) -> Res<SVal> {
        if let SVal::Ref(reference) = record {
            return self.project_reference(reference, field);
        }
        if let SVal::Record(fields) = record
            && let Some((_, value)) = fields.iter().find(|(name, _)| *name == field)
        {
            return Ok(value.clone());
        }
        self.bug(format!("there is no field {field}"))
    }

    fn array_literal(&mut self, env: &mut Env, exp: &Exp, elems: &[Exp]) -> Res<SVal> {
        let mut values: Vec<SVal> = elems.iter().map(|e| self.eval(env, e)).collect::<Res<_>>()?;
        self.at(exp.span);
        let template = match values.first() {
            None => match self.eval_type(env, &exp.ty)? {
                EType::Array(_, elem) => self.zero(&elem, &[]),
                _ => return self.bug("an array literal of another type"),
            },
            Some(first) => {
                let mut skeleton = first.clone();
                for value in &values {
                    match common_skeleton(&skeleton, value) {
                        Some(common) => skeleton = common,
                        None => return self.bug("array elements of different types"),
                    }
                }
                if values.iter().any(|v| !same_skeleton(v, &skeleton)) {
                    let mark = self.mark();
                    let adapted = values.iter().map(|v| self.adapt(v, &skeleton, mark));
                    values = adapted.collect::<Res<_>>()?;
                }
                values[0].clone()
            }
        };
        let flat = flatten(&template);
        let rows: Vec<Vec<Atom>> =
            values.iter().map(|v| flatten(&self.redim(v, &flat.dims)).atoms()).collect();
        let dim = Atom::i64(values.len() as i64);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for (i, leaf) in flat.leaves.iter().enumerate() {
            let elems = rows.iter().map(|row| row[i]).collect();
            let ty = outer_type(dim, &leaf.ty);
            leaves.push(self.emit("array", ty, CoreExp::ArrayLit { row: leaf.ty.clone(), elems }));
        }
        Ok(SVal::array(dim, rebuild(&template, &flat.dims, &leaves)))
    }

    fn coerce(&mut self, env: &mut Env, exp: &Exp, inner: &Exp) -> Res<SVal> {
        let value = self.eval(env, inner)?;
        self.at(exp.span);
        exp.exts.iter().for_each(|ext| drop(env.vars.remove(ext)));
        let ty = self.eval_type(env, &exp.ty)?;
        self.assert_shape(&value, &ty);
        let value = self.match_type(&value, &ty).0;
        self.checked_indices(env, &exp.ty, &value)
    }
}

/// Names.
impl Simplifier<'_> {
    fn eval_var(&mut self, env: &mut Env, var: VarId, name: Name, inst: &[TypeArg]) -> Res<SVal> {
        match env.vars.get(&var).cloned() {
            Some(SVal::Def(def)) => {
                let args = self.eval_args(env, inst)?;
                self.instantiate(&def, args)
            }
            Some(SVal::Alias(alias)) => {
                let args = self.eval_args(env, inst)?;
                self.resolve_alias(&alias, &args)
            }
            Some(SVal::SizeOf(def, size)) => match self.constant_size(&def, size)? {
                Some(atom) => Ok(SVal::i64(atom)),
                None => self.bug(format!("the size {name} is not known")),
            },
            Some(SVal::UnboundSize(other)) => match env.vars.get(&other) {
                Some(value @ SVal::Scalar(..)) => Ok(value.clone()),
                _ => self.bug(format!("the size {name} is not known")),
            },
            Some(value) => Ok(value),
            None => self.bug(format!("{name} has no value")),
        }
    }

    /// The value of something in an environment.
    pub fn value_of(&mut self, value: &SVal) -> Res<SVal> {
        match value {
            SVal::Def(def) => self.instantiate(def, [].into()),
            SVal::Alias(alias) => self.resolve_alias(alias, &[]),
            value => Ok(value.clone()),
        }
    }

    fn instantiate(&mut self, def: &Rc<DefInst>, type_args: Rc<[EArg]>) -> Res<SVal> {
        if !def.def.params.is_empty() {
            return Ok(SVal::fun(Code::Def { def: def.clone(), type_args }));
        }
        if def.def.type_params.is_empty() && matches!(def.origin, Origin::Global(_)) {
            return self.constant(def);
        }
        let mut env = def.env.clone();
        self.bind_type_params(&mut env, &def.def.type_params, &type_args);
        self.eval(&mut env, &def.def.body)
    }

    pub fn resolve_alias(&mut self, alias: &AliasInst, args: &[EArg]) -> Res<SVal> {
        let mut env = alias.env.clone();
        self.bind_type_params(&mut env, &alias.alias.params, args);
        self.eval_var(&mut env, alias.alias.target, Name::new("a value of a module"), &alias.alias.inst)
    }

    /// The value of a constant, which is computed once, ahead of everything that uses it.
    pub fn constant(&mut self, def: &Rc<DefInst>) -> Res<SVal> {
        match &*def.value.borrow() {
            ConstState::Done(value) => return Ok(value.clone()),
            ConstState::Running => return self.bug("a constant that depends on itself"),
            ConstState::Unused => {}
        }
        def.value.replace(ConstState::Running);
        let (stms, value) = self.separate_scope(|s| {
            s.at(def.def.span);
            s.eval(&mut def.env.clone(), &def.def.body)
        })?;
        self.globals.extend(stms.iter().flat_map(|stm| stm.pat.iter().map(|p| p.var)));
        self.consts.extend(stms);
        def.value.replace(ConstState::Done(value.clone()));
        Ok(value)
    }

    /// A size of a constant that its type does not tell; nor does its value, if it belongs to a function.
    pub fn constant_size(&mut self, def: &Rc<DefInst>, size: VarId) -> Res<Option<Atom>> {
        let value = self.constant(def)?;
        let ty = self.eval_ret(&def.env, &def.def.ret)?;
        Ok(sizes_of(&value, &targets(&value, &ty)).get(&size).copied())
    }
}

/// An array of `dim` values of a type.
pub(crate) fn outer_type(dim: Atom, ty: &CoreType) -> CoreType {
    match ty {
        CoreType::Prim(elem) => CoreType::Array { elem: *elem, dims: vec![dim] },
        CoreType::Array { elem, dims } => {
            CoreType::Array { elem: *elem, dims: [&[dim], dims.as_slice()].concat() }
        }
        CoreType::Acc { .. } => ty.clone(),
    }
}

/// The variables of primitive type that a condition mentions, each once: their values tell why it is false.
fn scalar_variables<'e>(exp: &'e Exp, found: &mut Vec<(Name, &'e Exp)>) {
    match &exp.kind {
        ExpKind::Var { name, .. }
            if matches!(exp.ty, Type::Prim(_)) && !found.iter().any(|(known, _)| known == name) =>
        {
            found.push((*name, exp));
        }
        ExpKind::App { args, .. } => args.iter().for_each(|arg| scalar_variables(arg, found)),
        ExpKind::And(l, r) | ExpKind::Or(l, r) => {
            scalar_variables(l, found);
            scalar_variables(r, found);
        }
        ExpKind::Ascript(inner) | ExpKind::Coerce(inner) | ExpKind::Attr(_, inner) => {
            scalar_variables(inner, found);
        }
        // What is bound inside, or an array, is not shown.
        _ => {}
    }
}
