//! `let`, local functions and lambdas.

use std::rc::Rc;

use dagaz_syntax::ast::{
    Access, Exp as SynExp, ExpKind as Syn, Ident, Pat as SynPat, PatKind as SynPatKind, TypeExp,
    TypeParam as SynParam,
};
use dagaz_syntax::{Name, Span};

use super::application::is_i64;
use super::expression::plain;
use super::pattern::pat_vars;
use super::scope::can_be_size;
use super::unify::pair_sizes;
use super::{Sizer, internal};
use crate::context::Res;
use crate::subst::{Subst, constructive_sizes, size_of_exp};
use crate::typed::{Def, Exp, ExpKind, Lambda, Pat, PatKind};
use crate::types::{RetType, Scheme, Size, Type, TypeParam, TypeParamKind, VarId};

/// A `let` whose body is still to come: how to wrap the body, and what goes out of scope.
struct OpenLet {
    wrap: Wrap,
    gone: Vec<VarId>,
    known: Subst,
    span: Span,
}

enum Wrap {
    Let { sizes: Vec<VarId>, pat: Pat, value: Exp },
    Fun(Def),
}

/// How a function is used.
pub(super) enum Uses<'t> {
    /// In many places, perhaps with arguments of different sizes.
    Several,
    /// In one place, where a function of this type is wanted, if that is known.
    One(Option<&'t Type>),
}

/// A function after checking.
pub(super) struct Function {
    pub params: Vec<Pat>,
    pub ret: RetType,
    pub body: Exp,
    /// The whole type, from the first parameter on.
    pub ty: Type,
}

impl Sizer<'_> {
    /// A chain of `let`s, walked with a loop so that its length does not matter.
    pub(super) fn let_chain(&mut self, e: &SynExp) -> Res<Exp> {
        let level = self.level;
        let mut open = Vec::new();
        let mut e = e;
        let mut result = loop {
            e = match &e.kind {
                Syn::Let { sizes, pat, value, body } => {
                    open.push(self.open_let(sizes, pat, value, e.span)?);
                    body
                }
                Syn::LetFun { name, type_params, params, ret, def, body } => {
                    open.push(self.open_fun(*name, type_params, params, ret.as_ref(), def, e.span)?);
                    body
                }
                Syn::LetWith { name, path, value, body } => {
                    open.push(self.open_with(e, *name, path, value)?);
                    body
                }
                _ => break self.exp(e)?,
            };
        };
        for item in open.into_iter().rev() {
            self.level -= 1;
            let (ty, exts) = self.unscope(&result.ty, &item.gone, &item.known, item.span);
            let body = Box::new(result);
            let kind = match item.wrap {
                Wrap::Let { sizes, pat, value } => ExpKind::Let { sizes, pat, value: Box::new(value), body },
                Wrap::Fun(def) => ExpKind::LetFun { def: Rc::new(def), body },
            };
            result = Exp { kind, ty, exts, span: item.span };
        }
        debug_assert_eq!(self.level, level);
        Ok(result)
    }

    fn open_let(&mut self, sizes: &[Ident], pat: &SynPat, value: &SynExp, span: Span) -> Res<OpenLet> {
        let value = self.named_value(value)?;
        let outer = self.level;
        self.level += 1;
        let mut size_vars = Vec::new();
        for size in sizes {
            let var = self.binder(size.span)?;
            self.bind_size(var);
            size_vars.push(var);
        }
        let mut known = Subst::default();
        let value_ty = value.ty.clone();
        let pat = if size_vars.is_empty() {
            self.pat(pat, &value_ty, outer)?
        } else {
            self.sized_pat(pat, &value_ty, &size_vars, &mut known)?
        };
        let mut gone = size_vars.clone();
        pat_vars(&pat, &mut gone);
        if let PatKind::Var(v, _) = &pat.kind
            && is_i64(&pat.ty)
            && can_be_size(&value)
        {
            known.sizes.insert(*v, size_of_exp(value.clone()));
        }
        Ok(OpenLet { wrap: Wrap::Let { sizes: size_vars, pat, value }, gone, known, span })
    }

    /// The pattern of `let [n] pat = value`: it may say that sizes are `n`, whatever they are.
    fn sized_pat(&mut self, pat: &SynPat, ty: &Type, sizes: &[VarId], known: &mut Subst) -> Res<Pat> {
        let outer = self.level - 1;
        let skeleton = self.dress(ty, outer, false);
        let typed = self.pat_with_sizes(pat, &skeleton, sizes, outer)?;
        for v in sizes {
            let any = self.flexible(outer, false);
            known.sizes.insert(*v, any);
        }
        let instance = known.ty(&self.zonk(&typed.ty));
        self.unify(&instance, ty).map_err(|m| {
            self.size_error(m, pat.span, "This pattern does not match the value", &instance, ty)
        })?;
        let constructive = constructive_sizes(&typed.ty);
        if let Some(unused) =
            sizes.iter().find(|v| typed.ty.size_vars().contains(v) && !constructive.contains(v))
        {
            return crate::context::error(
                "not-constructive",
                pat.span,
                format!(
                    "Cannot bind [{0}], because \"{0}\" is used non-constructively: it is never the size of an array in a value",
                    self.cx.var_name(*unused)
                ),
            );
        }
        if let Some(unused) = sizes.iter().find(|v| !typed.ty.size_vars().contains(v)) {
            return crate::context::error(
                "unused-size",
                pat.span,
                format!("The size \"{}\" is not used in the pattern", self.cx.var_name(*unused)),
            );
        }
        for size in known.sizes.values_mut() {
            *size = self.zonk_size(size);
        }
        Ok(typed)
    }

    /// A pattern whose annotations may mention `sizes` where the value's sizes are still open.
    fn pat_with_sizes(&mut self, pat: &SynPat, ty: &Type, sizes: &[VarId], outer: u32) -> Res<Pat> {
        // The flexible sizes of the skeleton may become the new sizes, so for now those count as being outside.
        for v in sizes {
            if let Some(info) = self.vars.get_mut(v) {
                info.level = outer;
            }
        }
        let typed = self.pat(pat, ty, outer);
        for v in sizes {
            if let Some(info) = self.vars.get_mut(v) {
                info.level = outer + 1;
            }
        }
        let typed = typed?;
        Ok(self.zonk_pat(typed))
    }

    fn open_with(&mut self, e: &SynExp, name: Ident, path: &[Access], value: &SynExp) -> Res<OpenLet> {
        let old = self.variable(e.id, name.span)?;
        let updated = self.update(old, path, value, e.span)?;
        self.level += 1;
        let var = self.binder(name.span)?;
        self.bind_var(var, updated.ty.clone());
        let pat = Pat { kind: PatKind::Var(var, name.name), ty: updated.ty.clone(), span: name.span };
        let wrap = Wrap::Let { sizes: Vec::new(), pat, value: updated };
        Ok(OpenLet { wrap, gone: vec![var], known: Subst::default(), span: e.span })
    }

    fn open_fun(
        &mut self,
        name: Ident,
        type_params: &[SynParam],
        params: &[SynPat],
        ret: Option<&TypeExp>,
        def: &SynExp,
        span: Span,
    ) -> Res<OpenLet> {
        let (type_params, function) = self.polymorphic(type_params, params, ret, def)?;
        self.level += 1;
        let var = self.binder(name.span)?;
        self.bind_scheme(
            var,
            Scheme { params: type_params.clone(), overloads: Vec::new(), ty: function.ty.clone() },
        );
        let def = Def {
            var,
            name: name.name,
            type_params,
            params: function.params,
            ret: function.ret,
            body: function.body,
            attrs: Vec::new(),
            entry: None,
            span,
        };
        Ok(OpenLet { wrap: Wrap::Fun(def), gone: vec![var], known: Subst::default(), span })
    }

    /// A function with type parameters: explicit ones, and a size parameter for every size of a parameter that is left
    /// open and belongs to the function.
    pub(super) fn polymorphic(
        &mut self,
        type_params: &[SynParam],
        params: &[SynPat],
        ret: Option<&TypeExp>,
        body: &SynExp,
    ) -> Res<(Vec<TypeParam>, Function)> {
        self.level += 1;
        let mut explicit = Vec::new();
        for p in type_params {
            let Some(param) = self.notes.type_params.get(&p.name.span).cloned() else {
                return Err(internal(p.name.span, "an unbound type parameter"));
            };
            if let TypeParamKind::Size(v) = param.kind {
                self.bind_size(v);
            }
            explicit.push(param);
        }
        let own_level = self.level;
        let mut function = self.function(params, ret, body, Uses::Several)?;
        self.level -= 1;
        self.solve_inner(&function.ty.clone())?;
        function.params = function.params.into_iter().map(|p| self.zonk_pat(p)).collect();
        function.ty = self.zonk(&function.ty);
        let mut taken = Vec::new();
        sizes_taken(&function.ty, &mut taken);
        if !params.is_empty() {
            // Who uses the function says what those sizes of its result are that nothing else settles.
            taken.extend(self.zonk(&function.ret.ty).size_vars());
        }
        let mut sizes = Vec::new();
        for v in taken {
            if self.is_flexible(v) && self.level_of(v) >= own_level && !sizes.contains(&v) {
                sizes.push(v);
            }
        }
        for v in &sizes {
            if self.is_lifted(*v) {
                self.open_params.insert(*v);
            }
            self.make_rigid(*v);
            let name = unused_size_name(&explicit, &function.params);
            self.cx.rename_var(*v, name);
            explicit.push(TypeParam { name, kind: TypeParamKind::Size(*v) });
        }
        Ok((explicit, function))
    }

    /// The value of a name. A function that has a name can be used in several ways, whether it is written as a lambda or
    /// not.
    fn named_value(&mut self, e: &SynExp) -> Res<Exp> {
        match &e.kind {
            Syn::Paren(inner) => self.named_value(inner),
            Syn::Lambda { params, ret, body } => self.lambda(e, params, ret.as_ref(), body, Uses::Several),
            _ => self.exp(e),
        }
    }

    pub(super) fn lambda(
        &mut self,
        e: &SynExp,
        params: &[SynPat],
        ret: Option<&TypeExp>,
        body: &SynExp,
        uses: Uses<'_>,
    ) -> Res<Exp> {
        let f = self.function(params, ret, body, uses)?;
        for p in &f.params {
            self.lower_flexible(&p.ty);
        }
        let lambda = Lambda { sizes: Vec::new(), params: f.params, ret: f.ret, body: f.body };
        Ok(plain(ExpKind::Lambda(Rc::new(lambda)), f.ty, e.span))
    }

    /// Parameters, result and body of a function. Sizes of parameters that are not written are flexible; they may
    /// turn out to be other parameters.
    fn function(
        &mut self,
        params: &[SynPat],
        ret: Option<&TypeExp>,
        body: &SynExp,
        uses: Uses<'_>,
    ) -> Res<Function> {
        let outer = self.level;
        self.level += 1;
        let first = self.level;
        let functions = match &uses {
            Uses::One(Some(wanted)) => self.functions_taken(wanted, params.len()),
            Uses::One(None) | Uses::Several => Vec::new(),
        };
        let mut typed = Vec::new();
        for (i, p) in params.iter().enumerate() {
            // One level for each parameter, so that its sizes may be earlier parameters, but not itself.
            let flexible_level = self.level;
            self.level += 1;
            typed.push(match functions.get(i).and_then(Option::as_ref).filter(|_| is_bare_name(p)) {
                Some(function) => self.pat(p, function, flexible_level)?,
                None => self.parameter(p, flexible_level)?,
            });
        }
        self.note_uses(&typed, uses);
        let declared = ret.map(|te| self.ret_type_exp(te)).transpose()?;
        let own = self.level;
        self.level += 1;
        let own_result = match &declared {
            Some(declared) => declared.clone(),
            None => {
                let ty = self.noted_type(body.id, body.span)?;
                RetType::plain(self.dress(&ty, first, true))
            }
        };
        let recursive = self.prepare_recursion(&typed, &own_result);
        let body = self.named_value(body);
        self.level -= 1;
        let body = body?;
        if declared.is_some() {
            self.declared.results.insert(body.span);
        }
        if recursive && declared.is_none() {
            self.expect(&body, &own_result.ty, "The sizes of a recursive function must be declared")?;
        }
        let ret = match declared {
            Some(declared) => self.check_result(&body, declared, &parameter_names(&typed), first + 1)?,
            None => {
                // Unknown sizes and local names make the result's size unknown; parameters may be mentioned.
                let nameable = parameter_names(&typed);
                let hidden =
                    |s: &Self, v: VarId| s.level_of(v) > first && !nameable.contains(&v) && !s.is_flexible(v);
                self.level = outer;
                self.lower_flexible(&body.ty.clone());
                let (ty, exts) = self.hide(&body.ty.clone(), &hidden, "made in the function", body.span);
                self.level = own;
                RetType { exts, ty: ty.with_uniqueness(false) }
            }
        };
        self.level = outer;
        let ty = typed
            .iter()
            .rev()
            .fold(ret.clone(), |to, p| RetType::plain(Type::arrow(parameter_name(p), p.ty.clone(), to)));
        // A constant keeps its open sizes in `ret`.
        Ok(Function { params: typed, ty: ty.ty, ret, body })
    }

    /// What is known about the sizes of parameters from how the function is used.
    fn note_uses(&mut self, params: &[Pat], uses: Uses<'_>) {
        match uses {
            Uses::Several => {
                // A function that is a parameter may well be wanted to give what a branch beside it gives.
                let mut sizes = Vec::new();
                for p in params {
                    let ty = self.zonk(&p.ty);
                    pair_sizes(&ty, &ty, &mut sizes);
                }
                let mut open = Vec::new();
                sizes.iter().for_each(|(size, _)| size.each_var(&mut |v| open.push(v)));
                open.retain(|v| self.is_flexible(*v));
                self.parameter_sizes.extend(open);
            }
            Uses::One(None) => {}
            Uses::One(Some(wanted)) => self.expect_parameters(params.iter().map(|p| &p.ty), wanted),
        }
    }

    /// Let parameters have the sizes of those of a wanted function. What does not fit is found when the function is given to
    /// whoever wants it.
    pub(super) fn expect_parameters<'t>(&mut self, params: impl Iterator<Item = &'t Type>, wanted: &Type) {
        let mut wanted = self.zonk(wanted);
        let mut names = Vec::new();
        for ty in params {
            let Type::Arrow(arrow) = &wanted else { return };
            let mut pairs = Vec::new();
            pair_sizes(ty, &arrow.from, &mut pairs);
            for (own, wanted) in pairs {
                // The value of a parameter is known in its function alone.
                if !wanted.mentions(&|v| names.contains(&v)) {
                    let _ = self.unify_size(&own, &wanted);
                }
            }
            names.extend(arrow.param);
            wanted = arrow.to.ty.clone();
        }
    }

    /// Replace settled sizes in a pattern.
    pub(super) fn zonk_pat(&self, pat: Pat) -> Pat {
        let kind = match pat.kind {
            PatKind::Record(fields) => {
                PatKind::Record(fields.into_iter().map(|(f, p)| (f, self.zonk_pat(p))).collect())
            }
            PatKind::Constr(c, args) => {
                PatKind::Constr(c, args.into_iter().map(|p| self.zonk_pat(p)).collect())
            }
            kind @ (PatKind::Var(..)
            | PatKind::Wildcard
            | PatKind::Int(_)
            | PatKind::Float(_)
            | PatKind::Bool(_)) => kind,
        };
        Pat { kind, ty: self.zonk(&pat.ty), span: pat.span }
    }
}

/// Whether a pattern is a name without a type.
fn is_bare_name(p: &SynPat) -> bool {
    match &p.kind {
        SynPatKind::Var(_) => true,
        SynPatKind::Paren(inner) | SynPatKind::Attr(_, inner) => is_bare_name(inner),
        SynPatKind::Ascript(..)
        | SynPatKind::Tuple(_)
        | SynPatKind::Record(_)
        | SynPatKind::Wildcard
        | SynPatKind::Lit(_)
        | SynPatKind::Constr { .. } => false,
    }
}

/// A name for an inferred size parameter that no other parameter has.
fn unused_size_name(type_params: &[TypeParam], params: &[Pat]) -> Name {
    let mut taken: Vec<Name> = type_params.iter().map(|p| p.name).collect();
    taken.extend(params.iter().filter_map(|p| match &p.kind {
        PatKind::Var(_, name) => Some(*name),
        _ => None,
    }));
    let common = ["n", "m", "p", "q"].into_iter().map(Name::new);
    let mut names = common.chain((0..).map(|i| Name::new(&format!("d{i}"))));
    names.find(|n| !taken.contains(n)).unwrap_or_else(|| Name::new("d"))
}

/// The sizes inside of arrays that are known to be empty.
pub(super) fn sizes_of_nothing(ty: &Type) -> Vec<VarId> {
    match ty {
        Type::Array { dim: Size::Const(0), elem, .. } => elem.size_vars(),
        Type::Array { elem, .. } => sizes_of_nothing(elem),
        Type::Record(fields) => fields.iter().flat_map(|(_, t)| sizes_of_nothing(t)).collect(),
        Type::Sum(constrs) => constrs.iter().flat_map(|(_, ts)| ts).flat_map(sizes_of_nothing).collect(),
        Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) | Type::Named { .. } => Vec::new(),
    }
}

/// The sizes that a function takes from its arguments: those to the left of an arrow.
pub(crate) fn sizes_taken(ty: &Type, vars: &mut Vec<VarId>) {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Sum(_) | Type::Named { .. } => {}
        Type::Record(fields) => fields.iter().for_each(|(_, t)| sizes_taken(t, vars)),
        Type::Arrow(arrow) => {
            vars.extend(arrow.from.size_vars());
            sizes_taken(&arrow.to.ty, vars);
        }
    }
}

/// Parameters that a result type may mention.
fn parameter_names(params: &[Pat]) -> Vec<VarId> {
    params.iter().filter_map(parameter_name).collect()
}

pub(super) fn parameter_name(p: &Pat) -> Option<VarId> {
    match &p.kind {
        PatKind::Var(v, _) => Some(*v),
        PatKind::Wildcard
        | PatKind::Int(_)
        | PatKind::Float(_)
        | PatKind::Bool(_)
        | PatKind::Record(_)
        | PatKind::Constr(..) => None,
    }
}
