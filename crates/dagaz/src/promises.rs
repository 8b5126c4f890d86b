//! What the checker promised of entry points, compared with what Core takes and gives, after every stage and in every build: no
//! program is ever lost without a word.
//!
//! The simplifier writes the types of an entry point down from the values that it has made, and the passes after it change
//! functions. So there are two comparisons: of the types that the checker has found with those of the entry point, and of those
//! with the function's.

use dagaz_core::exp::{Entry, EntryType, Program};
use dagaz_core::types::Type as CoreType;
use dagaz_syntax::Name;
use dagaz_types::typed::{self, Dec, Def};
use dagaz_types::types::Type;

/// The first promise that is broken, by the simplifier or later.
pub(crate) fn broken(checked: &typed::Program, core: &Program) -> Option<String> {
    if checked.entries.len() != core.entries.len() {
        return Some(format!("{} entry points for {}", core.entries.len(), checked.entries.len()));
    }
    let definitions =
        || checked.decs.iter().filter_map(|dec| if let Dec::Def(def) = &**dec { Some(def) } else { None });
    let of_types = checked.entries.iter().zip(&core.entries).find_map(|(var, entry)| {
        let def = definitions().find(|def| def.var == *var)?;
        Some(format!("entry point {}: {}", entry.name, entry_point(def, entry)?))
    });
    of_types.or_else(|| broken_by_passes(core))
}

/// The first promise that a pass over Core has broken.
pub(crate) fn broken_by_passes(core: &Program) -> Option<String> {
    let errors = dagaz_core::verify::entry_points(core);
    errors.first().map(|error| format!("{}: {}", error.fun, error.message))
}

fn entry_point(def: &Def, entry: &Entry) -> Option<String> {
    let params: Vec<&Type> = def.params.iter().map(|pat| &pat.ty).collect();
    let own: Vec<&EntryType> = entry.params.iter().map(|param| &param.ty).collect();
    let results: Vec<&Type> = match &def.ret.ty {
        Type::Record(fields) if is_tuple(fields) => fields.iter().map(|(_, ty)| ty).collect(),
        ty => vec![ty],
    };
    let given: Vec<&EntryType> = entry.results.iter().collect();
    compare("parameters", &params, &own).or_else(|| compare("results", &results, &given))
}

fn compare(what: &str, promised: &[&Type], own: &[&EntryType]) -> Option<String> {
    if promised.len() != own.len() {
        return Some(format!("{} {what} where {} were promised", own.len(), promised.len()));
    }
    let fits = |(promised, own): &(&&Type, &&EntryType)| fits(promised, own);
    let wrong = promised.iter().zip(own).position(|pair| !fits(&pair))?;
    Some(format!("another type than was promised for number {wrong} of the {what}"))
}

/// Whether values of the type can be those of the entry point. Types with names are known to the simplifier alone.
fn fits(promised: &Type, own: &EntryType) -> bool {
    match own {
        EntryType::Value { ty, .. } => leaves(promised, 0).is_none_or(|leaves| match leaves.as_slice() {
            [leaf] => leaf.is_like(ty),
            _ => false,
        }),
        EntryType::Opaque { types, .. } => leaves(promised, 0).is_none_or(|leaves| {
            leaves.len() == types.len() && leaves.iter().zip(types).all(|(leaf, ty)| leaf.is_like(ty))
        }),
    }
}

/// A number, or an array of numbers, that a value of some type consists of.
struct Leaf {
    elem: String,
    rank: usize,
}

impl Leaf {
    fn is_like(&self, ty: &CoreType) -> bool {
        ty.rank() == self.rank && ty.elem().is_some_and(|elem| elem.name() == self.elem)
    }
}

/// All of them in the order of Core; none if that depends on types with names.
fn leaves(ty: &Type, rank: usize) -> Option<Vec<Leaf>> {
    let all = |types: &mut dyn Iterator<Item = &Type>| {
        types
            .map(|ty| leaves(ty, rank))
            .collect::<Option<Vec<_>>>()
            .map(|found| found.into_iter().flatten().collect())
    };
    match ty {
        Type::Prim(prim) => Some(vec![Leaf { elem: format!("{prim:?}").to_lowercase(), rank }]),
        Type::Array { elem, .. } => leaves(elem, rank + 1),
        Type::Record(fields) => all(&mut fields.iter().map(|(_, ty)| ty)),
        Type::Sum(constrs) => {
            let payloads: Vec<Leaf> = all(&mut constrs.iter().flat_map(|(_, types)| types))?;
            Some(std::iter::once(Leaf { elem: "i8".to_owned(), rank }).chain(payloads).collect())
        }
        Type::Arrow(_) | Type::Named { .. } | Type::Meta(_) => None,
    }
}

fn is_tuple(fields: &[(Name, Type)]) -> bool {
    fields.len() != 1 && fields.iter().enumerate().all(|(i, (name, _))| *name == Name::tuple_field(i))
}
