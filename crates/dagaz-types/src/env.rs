//! What names mean: environments of values, types, modules and module types.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_syntax::Name;

use crate::types::{Liftedness, ModId, Type, TypeId, TypeParam, VarId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueBinding {
    Def(VarId),
    Intrinsic(Name),
    /// A definition with an error; uses of it are not reported.
    Poisoned,
}

/// A type abbreviation `type name params = ?[exts].ty`. An abstract type abbreviates the [`Type::Named`]
/// of itself.
#[derive(Clone, Debug)]
pub struct TypeBinding {
    pub params: Vec<TypeParam>,
    pub liftedness: Liftedness,
    pub exts: Vec<VarId>,
    pub ty: Type,
}

#[derive(Clone, Debug)]
pub enum Module {
    Struct(Rc<Env>),
    Functor(Rc<FunctorType>),
    /// A module with an error.
    Poisoned,
}

/// A parametric module: what it takes and gives, in terms of the ids that its body mentions. Abstract types of the
/// parameter and those that are made anew by each application are listed.
#[derive(Debug)]
pub struct FunctorType {
    pub id: ModId,
    /// Variables after this one were made in the body.
    pub first: VarId,
    pub param: ModType,
    pub result: ModType,
}

/// A module type: what a module of this type looks like, with its abstract types, outermost first.
#[derive(Clone, Debug)]
pub struct ModType {
    pub abstracts: Vec<AbstractType>,
    pub module: Module,
}

#[derive(Clone, Debug)]
pub struct AbstractType {
    pub id: TypeId,
    /// Where it is, from the module type's root: `["M", "t"]`.
    pub path: Vec<Name>,
    pub params: Vec<TypeParam>,
    pub liftedness: Liftedness,
}

#[derive(Clone, Default, Debug)]
pub struct Env {
    pub values: HashMap<Name, ValueBinding>,
    pub types: HashMap<Name, Rc<TypeBinding>>,
    pub modules: HashMap<Name, Module>,
    pub mod_types: HashMap<Name, Rc<ModType>>,
}

impl Env {
    /// Add all of `other`'s names, which hide ours.
    pub fn extend(&mut self, other: &Env) {
        self.values.extend(other.values.iter().map(|(k, v)| (*k, *v)));
        self.types.extend(other.types.iter().map(|(k, v)| (*k, v.clone())));
        self.modules.extend(other.modules.iter().map(|(k, v)| (*k, v.clone())));
        self.mod_types.extend(other.mod_types.iter().map(|(k, v)| (*k, v.clone())));
        // Values and modules share a name space: the later one wins.
        for name in other.values.keys() {
            if !other.modules.contains_key(name) {
                self.modules.remove(name);
            }
        }
        for name in other.modules.keys() {
            if !other.values.contains_key(name) {
                self.values.remove(name);
            }
        }
    }

    pub fn bind_value(&mut self, name: Name, binding: ValueBinding) {
        self.modules.remove(&name);
        self.values.insert(name, binding);
    }

    pub fn bind_module(&mut self, name: Name, module: Module) {
        self.values.remove(&name);
        self.modules.insert(name, module);
    }
}
