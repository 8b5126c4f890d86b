//! Types still to be inferred, what is known about them, and unification. Sizes play no part here.

use dagaz_syntax::{Diagnostic, Name, Span};

use super::Infer;
use crate::context::{Res, fail};
use crate::print::prim_name;
use crate::types::{IDX, Liftedness, Overload, PrimType, RetType, Size, Type, TypeArg};

/// The size of an array whose size does not matter yet.
pub(crate) const ANY_SIZE: Size = Size::Meta(0);

/// A set of primitive types, by bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PrimSet(pub(super) u16);

impl PrimSet {
    pub const INTEGRAL: PrimSet = PrimSet(0x0ff);
    pub const FLOAT: PrimSet = PrimSet(0x700);
    pub const NUMERIC: PrimSet = PrimSet(0x7ff);
    pub const BITS: PrimSet = PrimSet(0x8ff);
    pub const ALL: PrimSet = PrimSet(0xfff);

    pub fn of(overload: Overload) -> Option<PrimSet> {
        match overload {
            Overload::Numeric => Some(PrimSet::NUMERIC),
            Overload::Integral => Some(PrimSet::INTEGRAL),
            Overload::Float => Some(PrimSet::FLOAT),
            Overload::Prim => Some(PrimSet::ALL),
            Overload::Bits => Some(PrimSet::BITS),
            Overload::Equality | Overload::Data | Overload::ElementOfPrevious => None,
        }
    }

    pub(super) fn contains(self, p: PrimType) -> bool {
        self.0 & (1 << p as u16) != 0
    }

    pub(super) fn intersect(self, other: PrimSet) -> PrimSet {
        PrimSet(self.0 & other.0)
    }

    fn default_type(self) -> Option<PrimType> {
        [PrimType::I32, PrimType::F64, PrimType::Bool].into_iter().find(|p| self.contains(*p))
    }

    pub(super) fn describe(self) -> String {
        match self {
            PrimSet::INTEGRAL => "an integer type".to_owned(),
            PrimSet::FLOAT => "a floating-point type".to_owned(),
            PrimSet::NUMERIC => "a number type".to_owned(),
            PrimSet::BITS => "an integer type or bool".to_owned(),
            PrimSet::ALL => "a primitive type".to_owned(),
            set => {
                let names: Vec<_> =
                    PrimType::ALL.iter().filter(|p| set.contains(**p)).map(|p| prim_name(*p)).collect();
                format!("one of {}", names.join(", "))
            }
        }
    }
}

/// What is known about a type before the type itself is.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    pub prims: Option<PrimSet>,
    pub equality: bool,
    /// No functions, in any dialect.
    pub data: bool,
    pub fields: Vec<(Name, Type)>,
    pub constrs: Vec<(Name, Vec<Type>)>,
    /// Its values number the elements of arrays.
    pub index: bool,
    /// The most it may be.
    pub liftedness: Liftedness,
}

impl Default for Constraint {
    fn default() -> Constraint {
        Constraint {
            prims: None,
            equality: false,
            data: false,
            fields: Vec::new(),
            constrs: Vec::new(),
            index: false,
            liftedness: Liftedness::Lifted,
        }
    }
}

impl Constraint {
    pub fn prims(set: PrimSet) -> Constraint {
        Constraint { prims: Some(set), ..Constraint::default() }
    }

    pub fn overload(overload: Overload) -> Constraint {
        Constraint {
            prims: PrimSet::of(overload),
            equality: overload == Overload::Equality,
            data: overload == Overload::Data,
            ..Constraint::default()
        }
    }

    pub(super) fn is_trivial(&self) -> bool {
        let simple = self.prims.is_none() && !self.equality && !self.data && !self.index;
        simple && self.fields.is_empty() && self.constrs.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Meta {
    pub bound: Option<Type>,
    pub constraint: Constraint,
    /// Where it came from.
    pub span: Span,
}

/// Why two types do not go together; says something about a part of them, or nothing.
#[derive(Debug, Default)]
pub(crate) struct Mismatch {
    pub note: Option<String>,
}

pub(crate) type Unified = Result<(), Mismatch>;

pub(super) fn mismatch<T>(note: impl Into<String>) -> Result<T, Mismatch> {
    Err(Mismatch { note: Some(note.into()) })
}

impl Infer<'_> {
    pub(crate) fn fresh(&mut self, span: Span) -> Type {
        self.fresh_with(span, Constraint::default())
    }

    pub(crate) fn fresh_with(&mut self, span: Span, constraint: Constraint) -> Type {
        let scalar = self.is_scalar(&constraint);
        self.metas.push(Meta { bound: None, constraint, span });
        self.open_rank(Type::Meta(self.metas.len() as u32 - 1), scalar)
    }

    /// Follow solved metas at the root of a type.
    pub(crate) fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Meta(m) = ty {
            match &self.metas[*m as usize].bound {
                Some(t) => ty = t,
                None => break,
            }
        }
        match ty {
            // This pass takes the numbers below a size for what represents them.
            Type::Named { id: IDX, .. } => Type::I64,
            ty => ty.clone(),
        }
    }

    /// Replace all solved metas in a type.
    pub(crate) fn zonk(&self, ty: &Type) -> Type {
        match self.shallow(ty) {
            t @ (Type::Prim(_) | Type::Meta(_)) => t,
            Type::Array { unique, dim, elem } => {
                Type::Array { unique, dim: self.zonk_dim(&dim), elem: self.zonk(&elem).into() }
            }
            Type::Record(fields) => Type::Record(fields.iter().map(|(f, t)| (*f, self.zonk(t))).collect()),
            Type::Sum(cs) => {
                Type::Sum(cs.iter().map(|(c, ts)| (*c, ts.iter().map(|t| self.zonk(t)).collect())).collect())
            }
            Type::Arrow(a) => Type::arrow(
                a.param,
                self.zonk(&a.from),
                RetType { exts: a.to.exts.clone(), ty: self.zonk(&a.to.ty) },
            ),
            Type::Named { unique, id, args } => {
                let args = args
                    .iter()
                    .map(|a| match a {
                        TypeArg::Size(s) => TypeArg::Size(self.zonk_dim(s)),
                        TypeArg::Type(t) => TypeArg::Type(self.zonk(t)),
                    })
                    .collect();
                Type::Named { unique, id, args }
            }
        }
    }

    /// What the user is told about the type of an expression.
    pub(crate) fn has_type(&self, ty: &Type) -> String {
        match self.zonk(ty) {
            Type::Meta(m) if self.metas[m as usize].constraint.prims.is_some() => {
                format!("has {}", self.show(ty))
            }
            _ => format!("has type \"{}\"", self.show(ty)),
        }
    }

    /// The type as shown to the user.
    pub(crate) fn show(&self, ty: &Type) -> String {
        let ty = self.without_open_ranks(&self.zonk(ty));
        if let Type::Meta(m) = ty {
            let c = &self.metas[m as usize].constraint;
            if let Some(set) = c.prims {
                return set.describe();
            }
            if !c.fields.is_empty() {
                let fields: Vec<_> = c
                    .fields
                    .iter()
                    .map(|(f, t)| format!("{f}: {}", self.cx.show_type(&self.zonk(t))))
                    .collect();
                return format!("{{..., {}}}", fields.join(", "));
            }
            if !c.constrs.is_empty() {
                let constrs: Vec<_> = c.constrs.iter().map(|(n, _)| format!("#{n}")).collect();
                return format!("... | {}", constrs.join(" | "));
            }
        }
        self.cx.show_type(&ty)
    }

    pub(crate) fn unify(&mut self, a: &Type, b: &Type) -> Unified {
        let (a, b) = self.roots(a, b);
        match (&a, &b) {
            (Type::Meta(x), Type::Meta(y)) if x == y => Ok(()),
            (Type::Meta(x), Type::Meta(y)) => self.merge_metas(*x, *y),
            (Type::Meta(m), t) | (t, Type::Meta(m)) => self.bind_meta(*m, t),
            (Type::Prim(p), Type::Prim(q)) if p == q => Ok(()),
            (Type::Array { dim: d, elem: x, .. }, Type::Array { dim: e, elem: y, .. }) => {
                self.unify_dims(d, e)?;
                self.unify(x, y)
            }
            (Type::Record(xs), Type::Record(ys)) => self.unify_records(xs, ys),
            (Type::Sum(xs), Type::Sum(ys)) => self.unify_sums(xs, ys),
            (Type::Arrow(x), Type::Arrow(y)) => {
                self.unify(&x.from, &y.from)?;
                self.unify(&x.to.ty, &y.to.ty)
            }
            (Type::Named { id: x, args: xs, .. }, Type::Named { id: y, args: ys, .. }) if x == y => {
                for (x, y) in xs.iter().zip(ys.iter()) {
                    if let (TypeArg::Type(x), TypeArg::Type(y)) = (x, y) {
                        self.unify(x, y)?;
                    }
                }
                Ok(())
            }
            (Type::Named { id, args, .. }, other) | (other, Type::Named { id, args, .. })
                if self.cx.index_types.contains_key(id) =>
            {
                let representation = self.representation(*id, args);
                self.unify(&representation, other)
            }
            (Type::Named { id: x, .. }, Type::Named { id: y, .. })
                if self.cx.references.kind(*x).is_some() && self.cx.references.kind(*y).is_some() =>
            {
                mismatch(
                    "an accumulator can only be added to, with \"+=\", and be neither read nor written; state can be read and written, with \"get\" and \":=\"",
                )
            }
            _ => Err(Mismatch {
                note: Some(format!("Types \"{}\" and \"{}\" do not match", self.show(&a), self.show(&b))),
            }),
        }
    }

    fn unify_records(&mut self, xs: &[(Name, Type)], ys: &[(Name, Type)]) -> Unified {
        let missing = |from: &[(Name, Type)], of: &[(Name, Type)]| -> Vec<String> {
            of.iter().filter(|(f, _)| !from.iter().any(|(g, _)| f == g)).map(|(f, _)| f.to_string()).collect()
        };
        let mut unshared = missing(xs, ys);
        unshared.extend(missing(ys, xs));
        if !unshared.is_empty() {
            return mismatch(format!("The record types have unshared fields: {}.", unshared.join(", ")));
        }
        xs.iter().zip(ys).try_for_each(|((_, x), (_, y))| self.unify(x, y))
    }

    fn unify_sums(&mut self, xs: &[(Name, Vec<Type>)], ys: &[(Name, Vec<Type>)]) -> Unified {
        let names = |cs: &[(Name, Vec<Type>)]| cs.iter().map(|(c, _)| *c).collect::<Vec<_>>();
        if names(xs) != names(ys) {
            let unshared: Vec<_> = names(xs)
                .iter()
                .filter(|c| !names(ys).contains(c))
                .chain(names(ys).iter().filter(|c| !names(xs).contains(c)))
                .map(|c| format!("#{c}"))
                .collect();
            return mismatch(format!("The sum types have unshared constructors: {}.", unshared.join(", ")));
        }
        for ((c, x), (_, y)) in xs.iter().zip(ys) {
            self.unify_payloads(*c, x, y)?;
        }
        Ok(())
    }

    pub(super) fn unify_payloads(&mut self, constr: Name, xs: &[Type], ys: &[Type]) -> Unified {
        if xs.len() != ys.len() {
            return mismatch(format!(
                "Uses of the constructor #{constr} differ in arity: {} and {}.",
                xs.len(),
                ys.len()
            ));
        }
        xs.iter().zip(ys).try_for_each(|(x, y)| self.unify(x, y))
    }

    fn merge_metas(&mut self, keep: u32, gone: u32) -> Unified {
        let constraint = std::mem::take(&mut self.metas[gone as usize].constraint);
        self.bind_and_constrain(gone, Type::Meta(keep), constraint)
    }

    /// Binds a meta to a type that has to fulfil its constraint. If it does not, the meta is free again, so that an error can
    /// tell what was known of it.
    fn bind_and_constrain(&mut self, m: u32, ty: Type, constraint: Constraint) -> Unified {
        // Uniqueness belongs to the parameter or result that it is written for, not to what is inferred from it.
        self.metas[m as usize].bound = Some(ty.with_uniqueness(false));
        let fulfilled = self.constrain(&ty, constraint.clone());
        if fulfilled.is_err() {
            let meta = &mut self.metas[m as usize];
            (meta.bound, meta.constraint) = (None, constraint);
        }
        fulfilled
    }

    fn bind_meta(&mut self, m: u32, ty: &Type) -> Unified {
        if self.occurs(m, ty) {
            return mismatch(format!(
                "Occurs check: cannot make the infinite type {} = {}",
                self.show(&Type::Meta(m)),
                self.show(ty)
            ));
        }
        let constraint = std::mem::take(&mut self.metas[m as usize].constraint);
        let ty = match ty {
            // An operator that works on numbers works on what represents an index, and gives a number.
            Type::Named { id, args, .. }
                if constraint.prims.is_some() && self.cx.index_types.contains_key(id) =>
            {
                self.representation(*id, args)
            }
            ty => ty.clone(),
        };
        self.bind_and_constrain(m, ty, constraint)
    }

    fn occurs(&self, m: u32, ty: &Type) -> bool {
        match self.shallow(ty) {
            Type::Prim(_) => false,
            Type::Meta(n) => n == m,
            Type::Array { dim, elem, .. } => {
                let in_dim = matches!(&dim, Size::Set(index) if self.occurs(m, index));
                in_dim || self.occurs(m, &elem)
            }
            Type::Record(fields) => fields.iter().any(|(_, t)| self.occurs(m, t)),
            Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(|t| self.occurs(m, t))),
            Type::Arrow(a) => self.occurs(m, &a.from) || self.occurs(m, &a.to.ty),
            Type::Named { args, .. } => args.iter().any(|a| match a {
                TypeArg::Size(_) => false,
                TypeArg::Type(t) => self.occurs(m, t),
            }),
        }
    }

    /// Give every type that is still open but constrained its default, or say that it is ambiguous.
    pub(crate) fn apply_defaults(&mut self) -> Res<()> {
        for m in 0..self.metas.len() {
            let meta = &self.metas[m];
            if meta.bound.is_some() {
                continue;
            }
            let (span, c) = (meta.span, &meta.constraint);
            if let Some(set) = c.prims {
                let Some(p) = set.default_type() else {
                    return fail(
                        Diagnostic::error("ambiguous-type", span, "The type of this expression is ambiguous")
                            .help(format!("it must be {}; add a type annotation", set.describe())),
                    );
                };
                self.metas[m].bound = Some(Type::Prim(p));
            } else if c.index && c.fields.is_empty() && c.constrs.is_empty() {
                self.metas[m].bound = Some(Type::I64);
            } else if let Some((field, _)) = c.fields.first() {
                return fail(
                    Diagnostic::error("ambiguous-type", span, "The type of this expression is ambiguous")
                        .at(format!("must be a record with at least the field \"{field}\""))
                        .help("add a type annotation where the record is bound"),
                );
            } else if let Some((constr, _)) = c.constrs.first() {
                return fail(
                    Diagnostic::error("ambiguous-type", span, "The type of this expression is ambiguous")
                        .at(format!("must be a sum type with at least the constructor #{constr}"))
                        .help("add a type annotation that lists all constructors"),
                );
            } else if c.equality {
                return fail(
                    Diagnostic::error("ambiguous-type", span, "The type of this expression is ambiguous")
                        .at("must be a type that supports equality")
                        .help("add a type annotation"),
                );
            }
        }
        Ok(())
    }
}
