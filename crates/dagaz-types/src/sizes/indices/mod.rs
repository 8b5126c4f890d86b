//! Which numbers are indices.
//!
//! An index may stand wherever its number may, so `idx [n]` is a subtype of `i64`: results of functions and elements of
//! arrays vary with it, parameters of functions against it, and what a reference refers to not at all. The first pass
//! takes all of them for `i64`. This one puts an *index variable* (`Type::Meta`) wherever a number's type was inferred and
//! not written, and notes which type flows into which.
//!
//! ```text
//! map (\i -> xs[i]) is    ==>    map at 'a = t1, \(i: t2) -> xs[i]    idx [n] flows into t1, t1 into t2
//! ```
//!
//! At the end of a definition, a variable is the one index type that flows into it, or else `i64`. Where a number flows
//! into a type that was written as an index type, the program is wrong. Definitions that have nothing to do with indices
//! have no such variables.

mod solve;

use std::rc::Rc;

use dagaz_syntax::{Diagnostic, Span};

use super::pointful::variable_of;
use super::scope::same_type;
use super::{SizeMismatch, Sizer};
use crate::context::{Context, Dialect, Res};
use crate::env::ValueBinding;
use crate::infer::Notes;
use crate::typed::Exp;
use crate::types::{
    Arrow, IDX, Overload, PrimType, RetType, Scheme, Size, Type, TypeArg, TypeId, TypeParamKind, VarId,
};

/// How a part of a type varies with the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variance {
    /// What is found must be usable as what is expected.
    Covariant,
    /// The other way round: the parameter of a function.
    Contravariant,
    /// Both ways: what a reference refers to.
    Invariant,
}

impl Variance {
    pub fn flipped(self) -> Variance {
        match self {
            Variance::Covariant => Variance::Contravariant,
            Variance::Contravariant => Variance::Covariant,
            Variance::Invariant => Variance::Invariant,
        }
    }
}

/// A number that may be an index.
struct IndexVar {
    /// That of the scope in which its index set must be known.
    level: u32,
    solution: Option<Type>,
}

/// A value of one type is used as one of the other.
struct Flow {
    from: Type,
    to: Type,
    at: Span,
}

/// An array is indexed by a number that may be an index.
struct IndexUse {
    index: Type,
    dim: Size,
    at: Span,
    name: Option<VarId>,
    array: Span,
}

/// What flows into an index variable.
#[derive(Clone)]
enum Bound {
    Nothing,
    Index(Size),
    /// Indices of sets that may yet turn out to be the same.
    Indices(Size),
    Number,
}

/// The index variables of a definition, and what is known about them.
#[derive(Default)]
pub(super) struct Indices {
    /// Whether the definition can meet an index at all.
    pub tracked: bool,
    /// The expression that is being looked at.
    pub at: Option<Span>,
    vars: Vec<IndexVar>,
    flows: Vec<Flow>,
    uses: Vec<IndexUse>,
}

impl Indices {
    pub fn new(tracked: bool) -> Indices {
        Indices { tracked, ..Indices::default() }
    }
}

/// Whether a definition can meet an index: it writes an array by `for`, names an index type, or uses something that does.
pub(super) fn meets_indices(cx: &Context, notes: &Notes) -> bool {
    if cx.dialect == Dialect::Strict {
        return false;
    }
    let in_scheme = |scheme: &Scheme| {
        let of_index = |id| cx.index_params.contains(&id);
        let params =
            scheme.params.iter().any(|p| matches!(p.kind, TypeParamKind::Type(id, _) if of_index(id)));
        params || mentions_index(cx, &scheme.ty)
    };
    let in_use = |target: &ValueBinding, inst: &[TypeArg]| {
        let scheme = match target {
            ValueBinding::Intrinsic(name) => cx.intrinsics.get(name).cloned(),
            ValueBinding::Def(var) => cx.values.get(var).map(|v| v.scheme.clone()),
            ValueBinding::Poisoned => None,
        };
        let in_inst = |arg: &TypeArg| matches!(arg, TypeArg::Type(t) if mentions_index(cx, t));
        scheme.is_some_and(|s| in_scheme(&s)) || inst.iter().any(in_inst)
    };
    notes.pointful
        || notes.type_names.values().any(|binding| mentions_index(cx, &binding.ty))
        || notes.uses.values().any(|used| in_use(&used.target, &used.inst))
}

/// Whether a type has an index type in it.
pub(super) fn mentions_index(cx: &Context, ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) => false,
        Type::Array { dim, elem, .. } => {
            matches!(dim, Size::Set(set) if mentions_index(cx, set)) || mentions_index(cx, elem)
        }
        Type::Record(fields) => fields.iter().any(|(_, t)| mentions_index(cx, t)),
        Type::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(|t| mentions_index(cx, t))),
        Type::Arrow(arrow) => mentions_index(cx, &arrow.from) || mentions_index(cx, &arrow.to.ty),
        Type::Named { id, args, .. } => {
            cx.index_types.contains_key(id)
                || args.iter().any(|arg| matches!(arg, TypeArg::Type(t) if mentions_index(cx, t)))
        }
    }
}

impl Sizer<'_> {
    // -----------------------------------------------------------------------------------------------
    // Index variables

    fn index_var(&mut self, level: u32) -> Type {
        self.indices.vars.push(IndexVar { level, solution: None });
        Type::Meta(self.indices.vars.len() as u32 - 1)
    }

    pub(super) fn index_solution(&self, var: u32) -> Option<&Type> {
        self.indices.vars.get(var as usize)?.solution.as_ref()
    }

    /// A type that was inferred: every `i64` in it may be an index.
    pub(super) fn open_numbers(&mut self, ty: &Type, level: u32) -> Type {
        if !self.indices.tracked {
            return ty.clone();
        }
        self.map_numbers(ty, &mut |s, leaf| match leaf {
            Type::Prim(PrimType::I64) => s.index_var(level),
            _ => leaf.clone(),
        })
    }

    /// A type in which every number may be one of any set: that of something which takes values from several places.
    pub(super) fn open_indices(&mut self, ty: &Type, level: u32) -> Type {
        if !self.indices.tracked {
            return ty.clone();
        }
        let ty = self.zonk(ty);
        self.map_numbers(&ty, &mut |s, _| s.index_var(level))
    }

    /// The type of something that takes the value of an expression, and may take others later.
    pub(super) fn reopened(&mut self, e: &Exp) -> Res<Type> {
        if !self.indices.tracked {
            return Ok(e.ty.clone());
        }
        let ty = self.open_indices(&e.ty, self.level);
        self.expect(e, &ty, "This value cannot be used here")?;
        Ok(ty)
    }

    /// Rebuild a type with every number in it replaced: `i64`, `idx [n]`, or an index variable.
    fn map_numbers(&mut self, ty: &Type, f: &mut dyn FnMut(&mut Self, &Type) -> Type) -> Type {
        match ty {
            Type::Prim(PrimType::I64) | Type::Meta(_) | Type::Named { id: IDX, .. } => f(self, ty),
            Type::Prim(_) => ty.clone(),
            Type::Array { unique, dim, elem } => {
                Type::Array { unique: *unique, dim: dim.clone(), elem: self.map_numbers(elem, f).into() }
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (*n, self.map_numbers(t, f))).collect())
            }
            Type::Sum(constrs) => {
                let mut all = |ts: &[Type]| ts.iter().map(|t| self.map_numbers(t, f)).collect();
                Type::Sum(constrs.iter().map(|(c, ts)| (*c, all(ts))).collect())
            }
            Type::Arrow(arrow) => {
                let from = self.map_numbers(&arrow.from, f);
                let to = RetType { exts: arrow.to.exts.clone(), ty: self.map_numbers(&arrow.to.ty, f) };
                Type::arrow(arrow.param, from, to)
            }
            Type::Named { unique, id, args } => {
                let args = args.iter().map(|arg| match arg {
                    TypeArg::Size(_) => arg.clone(),
                    TypeArg::Type(t) => TypeArg::Type(self.map_numbers(t, f)),
                });
                Type::Named { unique: *unique, id: *id, args: args.collect() }
            }
        }
    }

    /// Whether a definition computes with values of one of its type parameters, which is used at a type here. The type
    /// parameters in that type are then computed with, too.
    pub(super) fn is_computed_with(
        &mut self,
        param: TypeParamKind,
        overload: Option<Overload>,
        at: &Type,
    ) -> bool {
        let TypeParamKind::Type(id, _) = param else { return false };
        let computed = match overload {
            Some(
                Overload::Numeric
                | Overload::Integral
                | Overload::Float
                | Overload::Prim
                | Overload::Bits
                | Overload::Data,
            ) => true,
            Some(Overload::Equality | Overload::ElementOfPrevious) | None => {
                self.cx.number_params.contains(&id)
            }
        };
        if computed {
            let own = types_in(at);
            if own.iter().any(|id| self.cx.sealed_indices.contains(id)) && self.ambiguous.is_none() {
                self.ambiguous = Some(self.computed_indices(at));
            }
            self.cx.number_params.extend(own);
        }
        computed
    }

    fn computed_indices(&self, ty: &Type) -> Diagnostic {
        let at = self.indices.at.unwrap_or(Span::NONE);
        let shown = self.show_type(ty);
        Diagnostic::error("not-an-index", at, "Values of an abstract type that may hold indices are computed with here")
            .at(format!("at the type \"{shown}\""))
            .help("an index that was computed may be none of its set; let the module that has the type compute with it")
    }

    // -----------------------------------------------------------------------------------------------
    // Flows

    /// Whether this is the type of a number that is, or may be, an index.
    pub(super) fn is_index_number(&self, ty: &Type) -> bool {
        matches!(ty, Type::Named { id: IDX, .. } | Type::Meta(_))
    }

    /// One number is used as another one.
    pub(super) fn relate_numbers(
        &mut self,
        expected: &Type,
        actual: &Type,
        variance: Variance,
    ) -> Result<(), SizeMismatch> {
        match variance {
            Variance::Covariant => self.flow(actual, expected),
            Variance::Contravariant => self.flow(expected, actual),
            Variance::Invariant => {
                self.flow(actual, expected)?;
                self.flow(expected, actual)
            }
        }
    }

    fn flow(&mut self, from: &Type, to: &Type) -> Result<(), SizeMismatch> {
        let (from, to) = (self.zonk(from), self.zonk(to));
        match (&from, &to) {
            (Type::Meta(x), Type::Meta(y)) if x == y => Ok(()),
            (Type::Meta(_), Type::Prim(_)) => Ok(()),
            (Type::Meta(_), _) | (_, Type::Meta(_)) => {
                let at = self.indices.at.unwrap_or(Span::NONE);
                self.indices.flows.push(Flow { from, to, at });
                Ok(())
            }
            (Type::Named { id: IDX, .. }, Type::Named { id: IDX, .. }) => {
                self.unify_size(&Size::of_index(to.clone()), &Size::of_index(from.clone()))
            }
            (_, Type::Named { id: IDX, .. }) => Err(self.not_an_index(&to, &from)),
            // A number may be an index, and what is no number was found to agree by the first pass.
            _ => Ok(()),
        }
    }

    /// An array is indexed by a number that may be an index.
    pub(super) fn index_use(&mut self, index: &Exp, dim: &Size, array: Span) {
        let (index, at, name) = (index.ty.clone(), index.span, variable_of(index));
        let used = IndexUse { index, dim: dim.clone(), at, name, array };
        self.indices.uses.push(used);
    }

    /// Two types that meet: what is an index in one of them only, or of different sets, is none in what comes of it.
    pub(super) fn joined(&mut self, a: &Type, b: &Type) -> (Type, Type) {
        let (a, b) = (self.zonk(a), self.zonk(b));
        if self.indices.tracked { self.join(&a, &b, Variance::Covariant) } else { (a, b) }
    }

    fn join(&mut self, a: &Type, b: &Type, variance: Variance) -> (Type, Type) {
        match (a, b) {
            (Type::Array { unique: u, dim: d, elem: x }, Type::Array { unique: v, dim: e, elem: y }) => {
                let (x, y) = self.join(x, y, variance);
                let array = |unique: bool, dim: &Size, elem: Type| Type::Array {
                    unique,
                    dim: dim.clone(),
                    elem: Rc::new(elem),
                };
                (array(*u, d, x), array(*v, e, y))
            }
            (Type::Record(xs), Type::Record(ys)) => {
                let fields = xs.iter().zip(ys.iter()).map(|((f, x), (g, y))| {
                    let (x, y) = self.join(x, y, variance);
                    ((*f, x), (*g, y))
                });
                let (xs, ys): (Vec<_>, Vec<_>) = fields.unzip();
                (Type::Record(xs.into()), Type::Record(ys.into()))
            }
            (Type::Sum(xs), Type::Sum(ys)) => {
                let constrs = xs.iter().zip(ys.iter()).map(|((c, xs), (d, ys))| {
                    let (xs, ys): (Vec<_>, Vec<_>) =
                        xs.iter().zip(ys).map(|(x, y)| self.join(x, y, variance)).unzip();
                    ((*c, xs), (*d, ys))
                });
                let (xs, ys): (Vec<_>, Vec<_>) = constrs.unzip();
                (Type::Sum(xs.into()), Type::Sum(ys.into()))
            }
            (Type::Arrow(x), Type::Arrow(y)) => self.join_arrows(x, y, variance),
            _ if same_type(a, b) => (a.clone(), b.clone()),
            _ if self.is_index_number(a) || self.is_index_number(b) => {
                let var = self.index_var(self.level);
                // A fresh variable takes everything.
                let _ = self.relate_numbers(&var, a, variance);
                let _ = self.relate_numbers(&var, b, variance);
                (var.clone(), var)
            }
            (Type::Named { id, args, .. }, _) if self.cx.index_types.contains_key(id) => {
                let a = self.representation(*id, args);
                self.join(&a, b, variance)
            }
            (_, Type::Named { id, args, .. }) if self.cx.index_types.contains_key(id) => {
                let b = self.representation(*id, args);
                self.join(a, &b, variance)
            }
            _ => (a.clone(), b.clone()),
        }
    }

    fn join_arrows(&mut self, x: &Arrow, y: &Arrow, variance: Variance) -> (Type, Type) {
        let (from_x, from_y) = self.join(&x.from, &y.from, variance.flipped());
        let (to_x, to_y) = self.join(&x.to.ty, &y.to.ty, variance);
        let arrow =
            |of: &Arrow, from, ty| Type::arrow(of.param, from, RetType { exts: of.to.exts.clone(), ty });
        (arrow(x, from_x, to_x), arrow(y, from_y, to_y))
    }

    /// A coercion `:>` checks what is an index when the program runs; that a function takes what it will be given, it cannot.
    pub(super) fn coerce_indices(&mut self, wanted: &Type, given: &Type) -> Result<(), SizeMismatch> {
        match (wanted, given) {
            (Type::Array { elem: x, .. }, Type::Array { elem: y, .. }) => self.coerce_indices(x, y),
            (Type::Record(xs), Type::Record(ys)) => {
                xs.iter().zip(ys.iter()).try_for_each(|((_, x), (_, y))| self.coerce_indices(x, y))
            }
            (Type::Sum(xs), Type::Sum(ys)) => {
                let pairs = xs.iter().zip(ys.iter());
                let mut types = pairs.flat_map(|((_, xs), (_, ys))| xs.iter().zip(ys));
                types.try_for_each(|(x, y)| self.coerce_indices(x, y))
            }
            (Type::Arrow(x), Type::Arrow(y)) => self.same_indices(x, y, Variance::Covariant),
            _ => Ok(()),
        }
    }

    /// Relate the numbers in two function types, whatever their other sizes are.
    fn same_indices(&mut self, x: &Arrow, y: &Arrow, variance: Variance) -> Result<(), SizeMismatch> {
        let pairs = [(&x.from, &y.from, variance.flipped()), (&x.to.ty, &y.to.ty, variance)];
        for (expected, actual, variance) in pairs {
            let mut numbers = Vec::new();
            pair_numbers(expected, actual, variance, &mut numbers);
            for (expected, actual, variance) in numbers {
                self.relate_numbers(&expected, &actual, variance)?;
            }
        }
        Ok(())
    }
}

/// Put `i64` for all index variables.
pub(super) fn replace_vars(ty: &mut Type) {
    match ty {
        Type::Meta(_) => *ty = Type::I64,
        Type::Prim(_) => {}
        Type::Array { elem, .. } => replace_vars(Rc::make_mut(elem)),
        Type::Record(fields) => *fields = fields.iter().map(|(f, t)| (*f, without_vars(t))).collect(),
        Type::Sum(constrs) => {
            *constrs = constrs.iter().map(|(c, ts)| (*c, ts.iter().map(without_vars).collect())).collect();
        }
        Type::Arrow(arrow) => {
            let arrow = Rc::make_mut(arrow);
            replace_vars(&mut arrow.from);
            replace_vars(&mut arrow.to.ty);
        }
        Type::Named { args, .. } => {
            *args = args
                .iter()
                .map(|arg| match arg {
                    TypeArg::Size(_) => arg.clone(),
                    TypeArg::Type(t) => TypeArg::Type(without_vars(t)),
                })
                .collect();
        }
    }
}

fn without_vars(ty: &Type) -> Type {
    let mut ty = ty.clone();
    replace_vars(&mut ty);
    ty
}

fn each_number(ty: &Type, f: &mut dyn FnMut(&Type)) {
    match ty {
        Type::Meta(_) | Type::Prim(PrimType::I64) | Type::Named { id: IDX, .. } => f(ty),
        Type::Prim(_) => {}
        Type::Array { elem, .. } => each_number(elem, f),
        Type::Record(fields) => fields.iter().for_each(|(_, t)| each_number(t, f)),
        Type::Sum(constrs) => constrs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| each_number(t, f))),
        Type::Arrow(arrow) => {
            each_number(&arrow.from, f);
            each_number(&arrow.to.ty, f);
        }
        Type::Named { args, .. } => args.iter().for_each(|arg| match arg {
            TypeArg::Size(_) => {}
            TypeArg::Type(t) => each_number(t, f),
        }),
    }
}

/// Whether a type has an index type in it, or an abstract type that may hide one.
pub(crate) fn hides_indices(cx: &Context, ty: &Type) -> bool {
    mentions_index(cx, ty) || types_in(ty).iter().any(|id| cx.sealed_indices.contains(id))
}

/// Type parameters and abstract types in a type.
pub(crate) fn types_in(ty: &Type) -> Vec<TypeId> {
    let mut found = Vec::new();
    collect_types(ty, &mut found);
    found
}

fn collect_types(ty: &Type, found: &mut Vec<TypeId>) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array { elem, .. } => collect_types(elem, found),
        Type::Record(fields) => fields.iter().for_each(|(_, t)| collect_types(t, found)),
        Type::Sum(constrs) => {
            constrs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| collect_types(t, found)));
        }
        Type::Arrow(arrow) => {
            collect_types(&arrow.from, found);
            collect_types(&arrow.to.ty, found);
        }
        Type::Named { id, args, .. } => {
            found.push(*id);
            for arg in args.iter() {
                if let TypeArg::Type(t) = arg {
                    collect_types(t, found);
                }
            }
        }
    }
}

/// The numbers of two types of the same structure, side by side.
fn pair_numbers(a: &Type, b: &Type, variance: Variance, pairs: &mut Vec<(Type, Type, Variance)>) {
    match (a, b) {
        (Type::Array { elem: x, .. }, Type::Array { elem: y, .. }) => pair_numbers(x, y, variance, pairs),
        (Type::Record(xs), Type::Record(ys)) => {
            xs.iter().zip(ys.iter()).for_each(|((_, x), (_, y))| pair_numbers(x, y, variance, pairs));
        }
        (Type::Sum(xs), Type::Sum(ys)) => {
            for ((_, xs), (_, ys)) in xs.iter().zip(ys.iter()) {
                xs.iter().zip(ys).for_each(|(x, y)| pair_numbers(x, y, variance, pairs));
            }
        }
        (Type::Arrow(x), Type::Arrow(y)) => {
            pair_numbers(&x.from, &y.from, variance.flipped(), pairs);
            pair_numbers(&x.to.ty, &y.to.ty, variance, pairs);
        }
        (Type::Named { id: x, args: xs, .. }, Type::Named { id: y, args: ys, .. }) if x == y && *x != IDX => {
            for (x, y) in xs.iter().zip(ys.iter()) {
                if let (TypeArg::Type(x), TypeArg::Type(y)) = (x, y) {
                    pair_numbers(x, y, Variance::Invariant, pairs);
                }
            }
        }
        _ => pairs.push((a.clone(), b.clone(), variance)),
    }
}
