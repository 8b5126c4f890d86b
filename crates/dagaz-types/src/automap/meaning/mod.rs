//! Whether two definitions mean the same, as far as that can be seen from how they are written.
//!
//! ```text
//! (\x y -> map (+ y) x) xs y        map (\x -> (\x y -> x + y) x y) xs        ==>        map (\x -> x + y) xs
//! ```
//!
//! Both are brought to a normal form, by evaluation: functions are applied to what they are given, names stand for their
//! values, and a map over the result of a map is one map. Definitions of one normal form mean the same, up to what is
//! computed how often. The opposite does not hold; so this errs on the safe side.

mod value;

use std::rc::Rc;

use dagaz_syntax::Name;

use crate::checks::each_child;
use crate::context::Context;
use crate::env::ValueBinding;
use crate::sizes::{Checked, sizes_taken};
use crate::typed::{Exp, ExpKind, LoopForm};
use crate::types::{Size, Type, TypeArg, TypeParamKind};
use value::{
    Env, Param, Shared, Special, Value, bind, function, missing_arguments, project, repeated, shape,
    slice_shape, special_functions, stuck,
};

/// How many steps an evaluation may take, and how long a normal form may be. What needs more is not compared.
const STEPS: usize = 100_000;
const LONGEST: usize = 100_000;

pub(super) fn same_meaning(cx: &Context, a: &Checked, b: &Checked) -> bool {
    match (normal_form(cx, a), normal_form(cx, b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// None if a definition has effects, whose order counts, or takes too long.
fn normal_form(cx: &Context, checked: &Checked) -> Option<String> {
    let def = &checked.def;
    if has_references(cx, &def.body) {
        return None;
    }
    let mut normaliser = Normaliser { cx, special: special_functions(cx), steps: STEPS };
    let mut env = Env::default();
    for (i, param) in def.type_params.iter().enumerate() {
        if let TypeParamKind::Size(v) = param.kind {
            env = env.with(v, stuck(format!("size {i}"), Vec::new()));
        }
    }
    let params: Vec<Param> = def.params.iter().map(Param::Pattern).collect();
    let value = match params.is_empty() {
        true => normaliser.eval(&def.body, &env)?,
        false => Rc::new(Value::Function { params, env, body: &def.body, given: Vec::new() }),
    };
    normaliser.quote(&value, 0)
}

fn has_references(cx: &Context, e: &Exp) -> bool {
    let mut found = cx.references.content(&e.ty).is_some();
    each_child(e, &mut |child| found = found || has_references(cx, child));
    found
}

struct Normaliser<'c> {
    cx: &'c Context,
    special: Vec<(ValueBinding, Special)>,
    steps: usize,
}

impl<'c> Normaliser<'c> {
    fn eval<'a>(&mut self, e: &'a Exp, env: &Env<'a>) -> Option<Shared<'a>> {
        self.steps = self.steps.checked_sub(1)?;
        let mut env = env.clone();
        let mut e = e;
        loop {
            match &e.kind {
                ExpKind::Let { sizes, pat, value, body } => {
                    let value = self.eval(value, &env)?;
                    for (i, size) in sizes.iter().enumerate() {
                        env = env.with(*size, stuck(format!("size {i} of"), vec![value.clone()]));
                    }
                    env = bind(pat, value, env);
                    e = body;
                }
                ExpKind::LetFun { def, body } => {
                    let params = def.params.iter().map(Param::Pattern).collect();
                    let function =
                        Value::Function { params, env: env.clone(), body: &def.body, given: Vec::new() };
                    env = env.with(def.var, Rc::new(function));
                    e = body;
                }
                ExpKind::Ascript(inner) | ExpKind::Attr(_, inner) => e = inner,
                _ => break self.simple(e, &env),
            }
        }
    }

    fn simple<'a>(&mut self, e: &'a Exp, env: &Env<'a>) -> Option<Shared<'a>> {
        match &e.kind {
            ExpKind::Var { var, inst, .. } => match env.get(*var) {
                Some(value) => Some(value),
                None => self.global(ValueBinding::Def(*var), inst, &e.ty, env),
            },
            ExpKind::Intrinsic { name, inst } => {
                self.global(ValueBinding::Intrinsic(*name), inst, &e.ty, env)
            }
            ExpKind::App { fun, args } => {
                let fun = self.eval(fun, env)?;
                let args = args.iter().map(|arg| self.eval(arg, env)).collect::<Option<Vec<_>>>()?;
                self.apply(&fun, args)
            }
            ExpKind::Lambda(lambda) => {
                let params = lambda.params.iter().map(Param::Pattern).collect();
                let given = Vec::new();
                Some(Rc::new(Value::Function { params, env: env.clone(), body: &lambda.body, given }))
            }
            ExpKind::Record(fields) => {
                let field = |(name, e)| Some((name, self.eval(e, env)?));
                let fields = fields.iter().map(|(name, e)| (*name, e)).map(field);
                Some(Rc::new(Value::Record(fields.collect::<Option<_>>()?)))
            }
            ExpKind::Project(inner, field) => Some(project(&self.eval(inner, env)?, *field)),
            ExpKind::Loop { sizes, pat, init, form, body } => {
                let mut params: Vec<Param> = sizes.iter().map(|v| Param::Variable(*v)).collect();
                params.push(Param::Pattern(pat));
                self.loop_parts(init, params, form, body, env)
            }
            ExpKind::Match { scrutinee, cases } => {
                let mut parts = vec![self.eval(scrutinee, env)?];
                let mut head = "match".to_owned();
                for case in cases {
                    head.push_str(&shape(&case.pat));
                    parts.push(function(vec![Param::Pattern(&case.pat)], &case.body, env));
                }
                Some(stuck(head, parts))
            }
            _ => {
                let mut children = Vec::new();
                each_child(e, &mut |child| children.push(child));
                let parts = children.into_iter().map(|child| self.eval(child, env));
                let parts = parts.collect::<Option<Vec<_>>>()?;
                Some(stuck(self.head(e), parts))
            }
        }
    }

    /// A definition from outside. A size that it is not given by its arguments is part of it.
    fn global<'a>(
        &mut self,
        binding: ValueBinding,
        inst: &'a [TypeArg],
        ty: &Type,
        env: &Env<'a>,
    ) -> Option<Shared<'a>> {
        let special = self.special.iter().find(|(meant, _)| *meant == binding).map(|(_, special)| *special);
        if let Some(special) = special.filter(|special| *special != Special::Rep) {
            return Some(Rc::new(Value::Special(special, Vec::new())));
        }
        let mut taken = Vec::new();
        sizes_taken(ty, &mut taken);
        let mut sizes = Vec::new();
        for arg in inst {
            if let TypeArg::Size(size) = arg
                && !size.mentions(&|v| taken.contains(&v))
            {
                sizes.push(self.size(size, env)?);
            }
        }
        if special == Some(Special::Rep) {
            return Some(Rc::new(Value::Special(Special::Rep, sizes)));
        }
        let name = match binding {
            ValueBinding::Def(var) => format!("v{}", var.0),
            ValueBinding::Intrinsic(name) => format!("i{name}"),
            ValueBinding::Poisoned => return None,
        };
        Some(stuck(name, sizes))
    }

    fn size<'a>(&mut self, size: &'a Size, env: &Env<'a>) -> Option<Shared<'a>> {
        match size {
            Size::Const(n) => Some(stuck(n.to_string(), Vec::new())),
            Size::Var(v) => {
                Some(env.get(*v).unwrap_or_else(|| stuck(self.cx.var_name(*v).to_string(), Vec::new())))
            }
            Size::Exp(e) => self.eval(e, env),
            Size::Set(_) => Some(stuck(self.cx.show_size(size), Vec::new())),
            Size::Meta(_) => None,
        }
    }

    fn loop_parts<'a>(
        &mut self,
        init: &'a Exp,
        mut params: Vec<Param<'a>>,
        form: &'a LoopForm,
        body: &'a Exp,
        env: &Env<'a>,
    ) -> Option<Shared<'a>> {
        let init = self.eval(init, env)?;
        let (head, range) = match form {
            LoopForm::For { var, bound, .. } => {
                let bound = self.eval(bound, env)?;
                params.push(Param::Variable(*var));
                ("for", bound)
            }
            LoopForm::ForIn { pat, array } => {
                let array = self.eval(array, env)?;
                params.push(Param::Pattern(pat));
                ("for in", array)
            }
            LoopForm::While(cond) => ("while", function(params.clone(), cond, env)),
        };
        Some(stuck(head, vec![init, range, function(params, body, env)]))
    }

    /// What an expression is, without its parts.
    fn head(&self, e: &Exp) -> String {
        match &e.kind {
            ExpKind::Int(n) => format!("{n}{}", self.cx.show_type(&e.ty)),
            ExpKind::Float(x) => format!("{:x}{}", x.to_bits(), self.cx.show_type(&e.ty)),
            ExpKind::Bool(b) => b.to_string(),
            ExpKind::Str(bytes) => format!("{bytes:?}"),
            ExpKind::Constr { name, .. } => format!("#{name}"),
            ExpKind::Coerce(_) => format!(":> {}", self.cx.show_type(&e.ty)),
            ExpKind::Range { second, kind, .. } => format!("range {} {kind:?}", second.is_some()),
            ExpKind::Index { slice, .. } => format!("index {}", slice_shape(slice)),
            ExpKind::With { path, .. } => {
                let step = |access: &crate::typed::Access| match access {
                    crate::typed::Access::Field(field) => format!(".{field}"),
                    crate::typed::Access::Index(slice, _) => slice_shape(slice),
                };
                format!("with {}", path.iter().map(step).collect::<String>())
            }
            ExpKind::If { .. } => "if".to_owned(),
            ExpKind::And(..) => "&&".to_owned(),
            ExpKind::Or(..) => "||".to_owned(),
            ExpKind::Array(_) => "array".to_owned(),
            ExpKind::Assert { .. } => "assert".to_owned(),
            // Each hole is an error of its own. The others are looked into.
            ExpKind::Hole
            | ExpKind::Var { .. }
            | ExpKind::Intrinsic { .. }
            | ExpKind::Record(_)
            | ExpKind::Project(..)
            | ExpKind::App { .. }
            | ExpKind::Ascript(_)
            | ExpKind::Attr(..)
            | ExpKind::Let { .. }
            | ExpKind::LetFun { .. }
            | ExpKind::Lambda(_)
            | ExpKind::Loop { .. }
            | ExpKind::Match { .. } => format!("at {:?}", e.span),
        }
    }

    fn apply<'a>(&mut self, fun: &Shared<'a>, args: Vec<Shared<'a>>) -> Option<Shared<'a>> {
        self.steps = self.steps.checked_sub(1)?;
        if args.is_empty() {
            return Some(fun.clone());
        }
        match &**fun {
            Value::Function { params, env, body, given } => {
                let mut given: Vec<Shared> = given.iter().cloned().chain(args).collect();
                if given.len() < params.len() {
                    let (params, env) = (params.clone(), env.clone());
                    return Some(Rc::new(Value::Function { params, env, body, given }));
                }
                let rest = given.split_off(params.len());
                let mut env = env.clone();
                for (param, value) in params.iter().zip(given) {
                    env = match param {
                        Param::Pattern(pat) => bind(pat, value, env),
                        Param::Variable(var) => env.with(*var, value),
                    };
                }
                let result = self.eval(body, &env)?;
                self.apply(&result, rest)
            }
            Value::Special(Special::Rep, _) | Value::Bound(_) | Value::Stuck(..) => {
                Some(Rc::new(Value::Apply(fun.clone(), args)))
            }
            Value::Special(special, given) => {
                let mut given: Vec<Shared> = given.iter().cloned().chain(args).collect();
                if given.len() < special.arity() {
                    return Some(Rc::new(Value::Special(*special, given)));
                }
                let rest = given.split_off(special.arity());
                let result = self.apply_special(*special, given)?;
                self.apply(&result, rest)
            }
            Value::Apply(inner, before) => {
                let args = before.iter().cloned().chain(args).collect();
                Some(Rc::new(Value::Apply(inner.clone(), args)))
            }
            Value::Record(_) | Value::Map(..) => Some(Rc::new(Value::Apply(fun.clone(), args))),
        }
    }

    fn apply_special<'a>(&mut self, special: Special, args: Vec<Shared<'a>>) -> Option<Shared<'a>> {
        let one = |arg: &Shared<'a>| vec![arg.clone()];
        match (special, &args[..]) {
            (Special::Map(_), [fun, arrays @ ..]) => Some(Rc::new(Value::Map(fun.clone(), arrays.to_vec()))),
            (Special::Zip, arrays) => {
                let pair = Rc::new(Value::Special(Special::Pair, Vec::new()));
                Some(Rc::new(Value::Map(pair, arrays.to_vec())))
            }
            (Special::Pair, parts) => {
                let fields = parts.iter().enumerate().map(|(i, p)| (Name::tuple_field(i), p.clone()));
                Some(Rc::new(Value::Record(fields.collect())))
            }
            (Special::PipeRight, [x, f]) | (Special::PipeLeft, [f, x]) => self.apply(f, one(x)),
            (Special::ThenRight, [f, g, x]) | (Special::ThenLeft, [g, f, x]) => {
                let between = self.apply(f, one(x))?;
                self.apply(g, vec![between])
            }
            _ => None,
        }
    }

    /// The text of a value under `depth` parameters.
    fn quote<'a>(&mut self, value: &Shared<'a>, depth: usize) -> Option<String> {
        self.steps = self.steps.checked_sub(1)?;
        let text = match &**value {
            Value::Bound(level) => format!("#{level};"),
            Value::Stuck(head, parts) => format!("{head}({})", self.quote_all(parts, depth)?),
            Value::Apply(fun, args) => {
                format!("({} {})", self.quote(fun, depth)?, self.quote_all(args, depth)?)
            }
            Value::Record(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(name, _)| *name);
                let mut text = "{".to_owned();
                for (name, value) in fields {
                    text.push_str(&format!("{name}={},", self.quote(value, depth)?));
                }
                text + "}"
            }
            Value::Special(Special::Rep, sizes) => format!("rep({})", self.quote_all(sizes, depth)?),
            Value::Function { .. } | Value::Special(..) => self.quote_function(value, depth)?,
            Value::Map(fun, arrays) => self.quote_map(fun, arrays, depth)?,
        };
        (text.len() <= LONGEST).then_some(text)
    }

    fn quote_all<'a>(&mut self, values: &[Shared<'a>], depth: usize) -> Option<String> {
        let texts = values.iter().map(|value| self.quote(value, depth)).collect::<Option<Vec<_>>>()?;
        Some(texts.join(","))
    }

    /// `\x -> f x` is `f`.
    fn quote_function<'a>(&mut self, value: &Shared<'a>, depth: usize) -> Option<String> {
        let mut value = value.clone();
        let mut params = 0;
        while let Some(missing) = missing_arguments(&value) {
            let args = (0..missing).map(|i| Rc::new(Value::Bound(depth + params + i))).collect();
            value = self.apply(&value, args)?;
            params += missing;
        }
        while let Value::Apply(fun, args) = &*value {
            let Some((last, before)) = args.split_last().filter(|_| params > 0) else { break };
            let level = depth + params - 1;
            let rest = self.apply(fun, before.to_vec())?;
            let is_last = matches!(&**last, Value::Bound(l) if *l == level);
            if !is_last || self.quote(&rest, depth + params)?.contains(&format!("#{level};")) {
                break;
            }
            value = rest;
            params -= 1;
        }
        let body = self.quote(&value, depth + params)?;
        Some(if params == 0 { body } else { format!("\\{params}.{body}") })
    }

    /// One map over arrays that are no maps themselves, each of them once and in the order of their texts.
    fn quote_map<'a>(&mut self, fun: &Shared<'a>, arrays: &[Shared<'a>], depth: usize) -> Option<String> {
        let mut sources = Vec::new();
        for array in arrays {
            self.sources(array, depth, &mut sources)?;
        }
        sources.sort();
        sources.dedup();
        // Where all elements are the same, no array needs to be mapped over, but one.
        let varying: Vec<(bool, String)> = sources.iter().filter(|(is_rep, _)| !is_rep).cloned().collect();
        if !varying.is_empty() {
            sources = varying;
        }
        loop {
            let elements =
                arrays.iter().map(|a| self.element(a, depth, &sources)).collect::<Option<Vec<_>>>()?;
            let result = self.apply(fun, elements)?;
            let body = self.quote(&result, depth + sources.len())?;
            let used = |i: usize| body.contains(&format!("#{};", depth + i));
            if let Some(unused) = (0..sources.len()).find(|i| !used(*i)).filter(|_| sources.len() > 1) {
                sources.remove(unused);
                continue;
            }
            let texts: Vec<&str> = sources.iter().map(|(_, text)| text.as_str()).collect();
            return match &texts[..] {
                [array] if body == format!("#{depth};") => Some((*array).to_owned()),
                _ => Some(format!("map[{}]({body})", texts.join(","))),
            };
        }
    }

    /// The arrays that a map over an array goes over in the end, and whether all of their elements are the same.
    fn sources<'a>(
        &mut self,
        array: &Shared<'a>,
        depth: usize,
        found: &mut Vec<(bool, String)>,
    ) -> Option<()> {
        match &**array {
            Value::Map(_, arrays) => arrays.iter().try_for_each(|a| self.sources(a, depth, found)),
            _ => {
                found.push((repeated(array).is_some(), self.quote(array, depth)?));
                Some(())
            }
        }
    }

    /// An element of an array, where those of the sources are the parameters from `depth` on.
    fn element<'a>(
        &mut self,
        array: &Shared<'a>,
        depth: usize,
        sources: &[(bool, String)],
    ) -> Option<Shared<'a>> {
        if let Value::Map(fun, arrays) = &**array {
            let elements = arrays.iter().map(|a| self.element(a, depth, sources));
            let elements = elements.collect::<Option<Vec<_>>>()?;
            return self.apply(fun, elements);
        }
        let text = self.quote(array, depth)?;
        match (sources.iter().position(|(_, source)| *source == text), repeated(array)) {
            (_, Some(value)) => Some(value),
            (Some(i), None) => Some(Rc::new(Value::Bound(depth + i))),
            // It was found not to be used.
            (None, None) => Some(stuck("unused", Vec::new())),
        }
    }
}
