//! `for`, and what numbers the elements of arrays.
//!
//! A dimension in this pass is either any size, or the type of the values that number its elements, which may still have
//! to be found: a type that a size parameter is used at, or the `i` of `for i -> …`. The numbers below a size are taken
//! for what represents them, so their type is `i64`; the second pass is more precise.

use std::rc::Rc;

use dagaz_syntax::ast::{Exp, ExpKind, ForBinder, QualName, TypeExp};
use dagaz_syntax::{Diagnostic, Span};

use super::resolve::lookup_type;
use super::unify::{Constraint, PrimSet, Unified, mismatch};
use super::{ANY_SIZE, Infer};
use crate::context::{Dialect, Res, fail};
use crate::env::TypeBinding;
use crate::subst::Subst;
use crate::types::{IDX, Liftedness, PrimType, Size, Type, TypeArg, TypeId, TypeParam, TypeParamKind, VarId};

impl Infer<'_> {
    /// Say that something is not plain Futhark.
    pub(super) fn only_here(&self, what: &str, span: Span) -> Res<()> {
        if self.cx.dialect == Dialect::Strict {
            return fail(
                Diagnostic::error("not-futhark", span, format!("{what} is not part of plain Futhark"))
                    .help("leave out \"--strict\" to use the whole language"),
            );
        }
        Ok(())
    }

    pub(super) fn for_exp(&mut self, e: &Exp, binders: &[ForBinder], body: &Exp) -> Res<Type> {
        self.only_here("An array written with \"for\"", e.span)?;
        self.notes.pointful = true;
        let pats: Vec<_> = binders.iter().map(|b| &b.pat).collect();
        self.check_pat_names(&pats)?;
        let index = Constraint { index: true, ..Constraint::default() };
        let mut types = Vec::new();
        let mut expected = self.expected_arrays.remove(&e.id);
        for binder in binders {
            let ty = self.fresh_with(binder.pat.span, index.clone());
            if let Some(bound) = &binder.bound {
                self.size_exp(bound)?;
                let ok = self.unify(&ty, &Type::I64);
                self.demand(ok, bound.span, "Only a number has a bound")?;
            }
            if let Some(Type::Array { dim, elem, .. }) = expected.map(|t| self.shallow(&t)) {
                // If this fails, so will the comparison with the whole type, which is reported.
                if let Size::Set(index) = &dim {
                    let _ = self.unify(&ty, index);
                }
                expected = Some((*elem).clone());
            } else {
                expected = None;
            }
            types.push(ty);
        }
        if let Some(elem) = &expected {
            self.expect_array(body, elem);
        }
        let mark = self.mark();
        for (binder, ty) in binders.iter().zip(&types) {
            self.bind_pat(&binder.pat, ty)?;
        }
        let elem = self.exp(body)?;
        self.leave(mark);
        let ok = self.restrict(&elem, Liftedness::Unlifted);
        self.demand(ok, body.span, "Cannot create array with elements of this type")?;
        let array = |elem, index: &Type| Type::array(Size::Set(Rc::new(index.clone())), elem);
        Ok(types.iter().rev().fold(elem, array))
    }

    /// As [`Infer::expect_array`], for an array written with `for` that a type is written to.
    pub(super) fn expect_array_of(&mut self, e: &Exp, te: &TypeExp) -> Res<()> {
        match &e.kind {
            ExpKind::For { .. } => {
                let expected = self.type_exp(te)?;
                self.expect_array(e, &expected);
                Ok(())
            }
            ExpKind::Paren(inner) | ExpKind::Attr(_, inner) => self.expect_array_of(inner, te),
            _ => Ok(()),
        }
    }

    /// Remember what is expected of the arrays written with `for` that an expression may be the value of.
    pub(super) fn expect_array(&mut self, e: &Exp, expected: &Type) {
        match &e.kind {
            ExpKind::For { .. } => drop(self.expected_arrays.insert(e.id, expected.clone())),
            ExpKind::Paren(inner) | ExpKind::Attr(_, inner) => self.expect_array(inner, expected),
            ExpKind::Let { body, .. }
            | ExpKind::LetFun { body, .. }
            | ExpKind::LetWith { body, .. }
            | ExpKind::Assert { body, .. }
            | ExpKind::Seq { second: body, .. } => self.expect_array(body, expected),
            ExpKind::If { then, otherwise, .. } => {
                self.expect_array(then, expected);
                self.expect_array(otherwise, expected);
            }
            ExpKind::Match { cases, .. } => {
                cases.iter().for_each(|case| self.expect_array(&case.body, expected));
            }
            _ => {}
        }
    }

    /// A dimension of which nothing is known yet.
    pub(super) fn open_dim(&mut self, span: Span) -> Size {
        match self.cx.dialect {
            Dialect::Strict => ANY_SIZE,
            Dialect::Dagaz if self.ranks.is_some() => ANY_SIZE,
            Dialect::Dagaz => {
                let index = Constraint { index: true, ..Constraint::default() };
                Size::Set(Rc::new(self.fresh_with(span, index)))
            }
        }
    }

    /// The dimension that an expression in an array type means: a size, or an index set.
    pub(super) fn dim_exp(&mut self, e: &Exp) -> Res<Size> {
        match &e.kind {
            ExpKind::Paren(inner) => return self.dim_exp(inner),
            ExpKind::Tuple(parts) if self.cx.dialect == Dialect::Dagaz => {
                let mut types = Vec::new();
                for part in parts {
                    types.push(match self.dim_exp(part)? {
                        Size::Set(ty) => (*ty).clone(),
                        Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => Type::I64,
                    });
                }
                return Ok(Size::Set(Rc::new(Type::tuple(types))));
            }
            ExpKind::Var(name) => {
                if let Some(binding) = self.index_set_named(name) {
                    return self.named_set(e, binding, &[]);
                }
            }
            ExpKind::App { fun, args } => {
                if let ExpKind::Var(name) = &fun.kind
                    && let Some(binding) = self.index_set_named(name)
                {
                    return self.named_set(fun, binding, args);
                }
            }
            _ => {}
        }
        self.size_exp(e)?;
        Ok(ANY_SIZE)
    }

    /// The type of this name, if it is a declared index type, or there is no value of the name.
    fn index_set_named(&mut self, name: &QualName) -> Option<Rc<TypeBinding>> {
        if self.cx.dialect == Dialect::Strict {
            return None;
        }
        let binding = lookup_type(self.frames, name).ok()?;
        let declared = matches!(&binding.ty, Type::Named { id, .. } if self.cx.index_types.contains_key(id));
        (declared || self.resolve_value(name).is_err()).then_some(binding)
    }

    fn named_set(&mut self, name: &Exp, binding: Rc<TypeBinding>, args: &[Exp]) -> Res<Size> {
        self.notes.type_names.insert(name.id, binding.clone());
        let sizes: Vec<_> = args
            .iter()
            .filter_map(|arg| match &arg.kind {
                ExpKind::Array(size) if size.len() == 1 => size.first(),
                _ => None,
            })
            .collect();
        if sizes.len() != args.len() || sizes.len() != binding.params.len() {
            return fail(
                Diagnostic::error(
                    "wrong-type-arguments",
                    name.span,
                    format!("This type takes {} sizes as arguments", binding.params.len()),
                )
                .help("an array over a declared index type is written [t [n]]f64"),
            );
        }
        for size in &sizes {
            self.size_exp(size)?;
        }
        let args: Vec<_> = sizes.iter().map(|_| TypeArg::Size(ANY_SIZE)).collect();
        let ty = Subst::instantiate(&binding.params, &args).ty(&binding.ty);
        // Any number is none below some size.
        let ok = match &ty {
            Type::Prim(PrimType::I64) => {
                mismatch("The numbers of type \"i64\" are not those below some size")
            }
            ty => self.constrain_index(ty),
        };
        self.demand(ok, name.span, "The elements of an array cannot be numbered by this type")?;
        Ok(match self.shallow(&ty) {
            Type::Prim(PrimType::I64) => ANY_SIZE,
            ty => Size::Set(Rc::new(ty)),
        })
    }

    /// Check the type of an index against the dimension that it is used in, of the array at `array`.
    pub(super) fn check_index(&mut self, dim: &Size, actual: &Type, span: Span, array: Span) -> Res<()> {
        if self.ranks.is_some() {
            // What numbers the elements of arrays is looked at when ranks are known.
            self.scalar_root(actual);
            return Ok(());
        }
        let set = match dim {
            Size::Set(ty) => self.shallow(ty),
            Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => Type::I64,
        };
        let number = match self.shallow(actual) {
            Type::Prim(prim) => prim != PrimType::Bool,
            Type::Meta(m) => {
                let c = &self.metas[m as usize].constraint;
                !c.index && c.fields.is_empty() && c.constrs.is_empty()
            }
            Type::Array { .. } | Type::Record(_) | Type::Sum(_) | Type::Arrow(_) | Type::Named { .. } => {
                false
            }
        };
        let ok = match &set {
            Type::Prim(PrimType::I64) => self.constrain(actual, Constraint::prims(PrimSet::INTEGRAL)),
            Type::Meta(_) if number => {
                let plain = self.unify(&set, &Type::I64);
                plain.and_then(|()| self.constrain(actual, Constraint::prims(PrimSet::INTEGRAL)))
            }
            _ => self.unify(&set, actual),
        };
        ok.map_err(|mismatch| {
            let plain = matches!(set, Type::Prim(PrimType::I64) | Type::Meta(_));
            let (code, message, indexed) = match plain {
                true => {
                    ("type-mismatch", "An index must be of an integer type".to_owned(), "a size".to_owned())
                }
                false => {
                    let set = format!("\"{}\"", self.show(&set));
                    let message =
                        format!("This is not an index of the set {set} that the array is indexed by");
                    ("wrong-index", message, set)
                }
            };
            let d = Diagnostic::error(code, span, message)
                .at(self.has_type(actual))
                .label(array, format!("this array is indexed by {indexed}"));
            mismatch.note.into_iter().fold(d, Diagnostic::help).into()
        })
    }

    /// What represents the values of an index type.
    pub(super) fn representation(&self, id: TypeId, args: &[TypeArg]) -> Type {
        let declared = &self.cx.index_types[&id];
        Subst::instantiate(&declared.params, args).ty(&declared.representation)
    }

    /// Demand that the values of a type number the elements of arrays.
    pub(super) fn constrain_index(&mut self, ty: &Type) -> Unified {
        match self.shallow(ty) {
            Type::Prim(PrimType::I64 | PrimType::Bool) => Ok(()),
            Type::Meta(m) => match self.metas[m as usize].constraint.prims {
                Some(_) => self.unify(ty, &Type::I64),
                None => {
                    self.metas[m as usize].constraint.index = true;
                    Ok(())
                }
            },
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.constrain_index(t)),
            Type::Sum(constrs) => {
                if !self.cx.constructor_orders.number(constrs.iter().map(|(c, _)| *c).collect()) {
                    return mismatch(format!(
                        "Types declare the constructors of \"{}\" in different orders, so that nothing says which comes first",
                        self.show(&Type::Sum(constrs))
                    ));
                }
                constrs.iter().try_for_each(|(_, ts)| ts.iter().try_for_each(|t| self.constrain_index(t)))
            }
            Type::Named { id, .. }
                if self.cx.index_types.contains_key(&id) || self.cx.index_params.contains(&id) =>
            {
                Ok(())
            }
            // A type parameter that is used as an index set stands for one.
            Type::Named { id, .. } if self.is_own_parameter(id) => {
                self.cx.index_params.insert(id);
                Ok(())
            }
            t @ (Type::Prim(_) | Type::Array { .. } | Type::Arrow(_) | Type::Named { .. }) => {
                mismatch(format!(
                    "The type \"{}\" is not an index set: those are sizes, bool, tuples and sums of index sets, and declared index types",
                    self.show(&t)
                ))
            }
        }
    }

    fn is_own_parameter(&self, id: TypeId) -> bool {
        let own = |p: &TypeParam| matches!(p.kind, TypeParamKind::Type(param, _) if param == id);
        self.notes.type_params.values().any(own)
    }

    pub(super) fn unify_dims(&mut self, a: &Size, b: &Size) -> Unified {
        if self.any_index_set {
            return Ok(());
        }
        match (a, b) {
            (Size::Set(x), Size::Set(y)) => self.unify(x, y),
            (Size::Set(x), _) | (_, Size::Set(x)) => self.unify(x, &Type::I64),
            _ => Ok(()),
        }
    }

    /// A dimension as the second pass wants it: any size, or an index set without open types.
    pub(super) fn zonk_dim(&self, dim: &Size) -> Size {
        match dim {
            Size::Set(ty) => match self.zonk(ty) {
                Type::Prim(PrimType::I64) => ANY_SIZE,
                ty => Size::Set(Rc::new(index_form(&ty))),
            },
            Size::Const(_) | Size::Var(_) | Size::Exp(_) | Size::Meta(_) => dim.clone(),
        }
    }
}

/// An index type in which numbers are those below some size.
fn index_form(ty: &Type) -> Type {
    match ty {
        Type::Prim(PrimType::Bool) => Type::BOOL,
        Type::Prim(_) => ANY_SIZE.index_type(),
        Type::Record(fields) => Type::Record(fields.iter().map(|(f, t)| (*f, index_form(t))).collect()),
        Type::Sum(constrs) => {
            Type::Sum(constrs.iter().map(|(c, ts)| (*c, ts.iter().map(index_form).collect())).collect())
        }
        Type::Named { .. } | Type::Meta(_) | Type::Array { .. } | Type::Arrow(_) => ty.clone(),
    }
}

/// Whether a type mentions `idx [v]`: then only sizes can be put for `v`, since an index of another set is not
/// represented by a number.
pub(super) fn names_indices(ty: &Type, v: VarId) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) => false,
        Type::Array { elem, .. } => names_indices(elem, v),
        Type::Record(fields) => fields.iter().any(|(_, t)| names_indices(t, v)),
        Type::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(|t| names_indices(t, v))),
        Type::Arrow(arrow) => names_indices(&arrow.from, v) || names_indices(&arrow.to.ty, v),
        Type::Named { id, args, .. } => args.iter().any(|arg| match arg {
            TypeArg::Size(size) => *id == IDX && size.mentions(&|w| w == v),
            TypeArg::Type(t) => names_indices(t, v),
        }),
    }
}
