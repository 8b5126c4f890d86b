//! What a value may share its memory with.
//!
//! An alias is a variable and a path of fields in it: in `let t = (xs, ys)`, the value of `t.0` aliases `xs` and
//! `t.0`. Sets of aliases hang on the parts of a type that can be arrays; scalars have none.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_syntax::Name;

use crate::types::{Arrow, Type, VarId};

/// A path of fields, see [`Paths`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Path(u32);

impl Path {
    pub const ROOT: Path = Path(0);
}

/// Numbers for paths of fields, so that aliases are small and quickly compared.
#[derive(Default)]
pub(super) struct Paths {
    numbers: HashMap<(Path, Name), Path>,
}

impl Paths {
    pub fn field(&mut self, parent: Path, field: Name) -> Path {
        let next = Path(self.numbers.len() as u32 + 1);
        *self.numbers.entry((parent, field)).or_insert(next)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Alias {
    pub var: VarId,
    pub path: Path,
}

/// A sorted set of aliases, shared where it does not change.
#[derive(Clone, Default, Debug)]
pub(super) struct AliasSet(Option<Rc<[Alias]>>);

impl AliasSet {
    pub fn one(var: VarId, path: Path) -> AliasSet {
        AliasSet(Some([Alias { var, path }].into()))
    }

    pub fn iter(&self) -> impl Iterator<Item = Alias> {
        self.0.iter().flat_map(|items| items.iter().copied())
    }

    pub fn union(&self, other: &AliasSet) -> AliasSet {
        let (a, b) = match (&self.0, &other.0) {
            (None, _) => return other.clone(),
            (_, None) => return self.clone(),
            (Some(a), Some(b)) => (a, b),
        };
        if Rc::ptr_eq(a, b) {
            return self.clone();
        }
        let mut all: Vec<Alias> = a.iter().chain(b.iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        if all.len() == a.len() { self.clone() } else { AliasSet(Some(all.into())) }
    }

    pub fn without(&self, gone: &dyn Fn(VarId) -> bool) -> AliasSet {
        if !self.iter().any(|a| gone(a.var)) {
            return self.clone();
        }
        let rest: Vec<Alias> = self.iter().filter(|a| !gone(a.var)).collect();
        AliasSet((!rest.is_empty()).then(|| rest.into()))
    }

    pub fn contains(&self, alias: Alias) -> bool {
        self.0.as_ref().is_some_and(|items| items.binary_search(&alias).is_ok())
    }

    pub fn meets(&self, other: &AliasSet) -> bool {
        self.iter().any(|a| other.contains(a))
    }
}

/// The aliases of a value, by the parts of its type.
#[derive(Clone, Debug)]
pub(super) enum Aliases {
    Scalar,
    /// An array, or a value of an abstract type.
    Value(AliasSet),
    Record(Rc<[(Name, Aliases)]>),
    Sum(Rc<[(Name, Vec<Aliases>)]>),
    /// A function, which aliases what it has closed over, and its type.
    Function(AliasSet, Rc<Arrow>),
}

impl Aliases {
    /// Every part of a value of this type aliases `set`.
    pub fn all_of(ty: &Type, set: &AliasSet) -> Aliases {
        match ty {
            Type::Prim(_) | Type::Meta(_) => Aliases::Scalar,
            Type::Array { .. } | Type::Named { .. } => Aliases::Value(set.clone()),
            Type::Record(fields) => {
                Aliases::Record(fields.iter().map(|(f, t)| (*f, Aliases::all_of(t, set))).collect())
            }
            Type::Sum(cs) => Aliases::Sum(
                cs.iter().map(|(c, ts)| (*c, ts.iter().map(|t| Aliases::all_of(t, set)).collect())).collect(),
            ),
            Type::Arrow(arrow) => Aliases::Function(set.clone(), arrow.clone()),
        }
    }

    pub fn none_of(ty: &Type) -> Aliases {
        Aliases::all_of(ty, &AliasSet::default())
    }

    /// The aliases of all parts together.
    pub fn all(&self) -> AliasSet {
        let mut set = AliasSet::default();
        self.each_set(true, &mut |s| set = set.union(s));
        set
    }

    /// As [`Aliases::all`], but leaving out functions.
    pub fn of_arrays(&self) -> AliasSet {
        let mut set = AliasSet::default();
        self.each_set(false, &mut |s| set = set.union(s));
        set
    }

    fn each_set(&self, functions: bool, f: &mut dyn FnMut(&AliasSet)) {
        match self {
            Aliases::Scalar => {}
            Aliases::Value(set) => f(set),
            Aliases::Record(fields) => fields.iter().for_each(|(_, a)| a.each_set(functions, f)),
            Aliases::Sum(cs) => {
                cs.iter().for_each(|(_, parts)| parts.iter().for_each(|a| a.each_set(functions, f)));
            }
            Aliases::Function(set, _) => {
                if functions {
                    f(set);
                }
            }
        }
    }

    pub fn map(&self, f: &dyn Fn(&AliasSet) -> AliasSet) -> Aliases {
        match self {
            Aliases::Scalar => Aliases::Scalar,
            Aliases::Value(set) => Aliases::Value(f(set)),
            Aliases::Record(fields) => Aliases::Record(fields.iter().map(|(n, a)| (*n, a.map(f))).collect()),
            Aliases::Sum(cs) => Aliases::Sum(
                cs.iter().map(|(c, parts)| (*c, parts.iter().map(|a| a.map(f)).collect())).collect(),
            ),
            Aliases::Function(set, arrow) => Aliases::Function(f(set), arrow.clone()),
        }
    }

    /// The aliases of a value that may be either of two. Where they differ in structure, which happens to values of
    /// parametric types, the parts alias everything.
    pub fn combine(&self, other: &Aliases) -> Aliases {
        match (self, other) {
            (Aliases::Scalar, _) => Aliases::Scalar,
            (_, Aliases::Scalar) => self.clone(),
            (Aliases::Record(xs), Aliases::Record(ys)) if xs.len() == ys.len() => {
                Aliases::Record(xs.iter().zip(ys.iter()).map(|((f, x), (_, y))| (*f, x.combine(y))).collect())
            }
            (Aliases::Sum(xs), Aliases::Sum(ys)) if xs.len() == ys.len() => Aliases::Sum(
                xs.iter()
                    .zip(ys.iter())
                    .map(|((c, xs), (_, ys))| (*c, xs.iter().zip(ys).map(|(x, y)| x.combine(y)).collect()))
                    .collect(),
            ),
            (Aliases::Value(_) | Aliases::Record(_) | Aliases::Sum(_) | Aliases::Function(..), _) => {
                let others = other.all();
                self.map(&|set| set.union(&others))
            }
        }
    }

    /// A field of a record of the given type.
    pub fn field(&self, field: Name, ty: &Type) -> Aliases {
        if let Aliases::Record(fields) = self
            && let Some((_, part)) = fields.iter().find(|(f, _)| *f == field)
        {
            return part.clone();
        }
        Aliases::all_of(ty, &self.all())
    }

    /// The payload of a constructor, with the given types.
    pub fn payload(&self, constructor: Name, types: &[&Type]) -> Vec<Aliases> {
        if let Aliases::Sum(cs) = self
            && let Some((_, parts)) = cs.iter().find(|(c, _)| *c == constructor)
            && parts.len() == types.len()
        {
            return parts.clone();
        }
        let set = self.all();
        types.iter().map(|t| Aliases::all_of(t, &set)).collect()
    }

    /// The parts of a record, and of the records in it, or the value itself.
    pub fn parts(&self, out: &mut Vec<AliasSet>) {
        match self {
            Aliases::Record(fields) => fields.iter().for_each(|(_, a)| a.parts(out)),
            Aliases::Scalar | Aliases::Value(_) | Aliases::Sum(_) | Aliases::Function(..) => {
                out.push(self.all());
            }
        }
    }

    /// Let every part also alias the variable that the value is bound to.
    pub fn bound_to(&self, var: VarId, path: Path, paths: &mut Paths) -> Aliases {
        let own = AliasSet::one(var, path);
        match self {
            Aliases::Scalar => Aliases::Scalar,
            Aliases::Value(set) => Aliases::Value(set.union(&own)),
            Aliases::Record(fields) => Aliases::Record(
                fields.iter().map(|(f, a)| (*f, a.bound_to(var, paths.field(path, *f), paths))).collect(),
            ),
            Aliases::Sum(cs) => Aliases::Sum(
                cs.iter()
                    .map(|(c, parts)| (*c, parts.iter().map(|a| a.bound_to(var, path, paths)).collect()))
                    .collect(),
            ),
            Aliases::Function(set, arrow) => Aliases::Function(set.union(&own), arrow.clone()),
        }
    }
}

/// Whether anything in a type, functions left aside, is unique.
pub(super) fn has_unique(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) => false,
        Type::Array { unique, .. } | Type::Named { unique, .. } => *unique,
        Type::Record(fields) => fields.iter().any(|(_, t)| has_unique(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(has_unique)),
    }
}

/// Whether everything in a parameter's type is consumed.
pub(super) fn all_unique(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) => true,
        Type::Arrow(_) => false,
        Type::Array { unique, .. } | Type::Named { unique, .. } => *unique,
        Type::Record(fields) => fields.iter().all(|(_, t)| all_unique(t)),
        Type::Sum(cs) => cs.iter().all(|(_, ts)| ts.iter().all(all_unique)),
    }
}
