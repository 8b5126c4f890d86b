//! What lives as long as a whole compilation: fresh ids, the names and types of everything defined at the
//! top level or in modules, and the diagnostics found so far.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use dagaz_syntax::{Diagnostic, Name, Span};

use crate::automap::Edit;
use crate::checks::EffectScheme;
use crate::env::ValueBinding;
use crate::typed::Alias;
use crate::types::{IDX, Liftedness, References, Scheme, Type, TypeId, TypeParam, TypeParamKind, VarId};

/// Why a definition could not be checked.
#[derive(Debug)]
pub enum Error {
    Diagnostic(Box<Diagnostic>),
    /// It depends on a definition that has an error itself; nothing more is said.
    Silenced,
}

pub type Res<T> = Result<T, Error>;

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error::Diagnostic(Box::new(diagnostic))
    }
}

pub(crate) fn fail<T>(diagnostic: Diagnostic) -> Res<T> {
    Err(diagnostic.into())
}

/// Shorthand for an error without labels or help.
pub(crate) fn error<T>(code: &'static str, span: Span, message: impl Into<String>) -> Res<T> {
    fail(Diagnostic::error(code, span, message))
}

#[derive(Clone, Debug)]
pub struct ValueInfo {
    pub name: Name,
    pub scheme: Rc<Scheme>,
    pub span: Span,
}

/// A type whose values number the elements of arrays, and are represented by values of another type.
#[derive(Clone, Debug)]
pub struct IndexType {
    pub params: Vec<TypeParam>,
    pub representation: Type,
    /// The function from the sizes to `{size, ordinal, from_ordinal}`. The numbers below a size have none.
    pub functions: Option<VarId>,
}

/// The name of every [`VarId`], by number.
#[derive(Clone, Default, Debug)]
pub struct VarNames(Rc<RefCell<Vec<Name>>>);

impl VarNames {
    pub fn fresh(&self, name: Name) -> VarId {
        let mut names = self.0.borrow_mut();
        names.push(name);
        VarId(names.len() as u32 - 1)
    }
}

/// Which programs are accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// The whole language.
    #[default]
    Dagaz,
    /// Plain Futhark: functions may not be put in arrays, carried by loops, or be the result of branches.
    Strict,
}

#[derive(Clone, Default, Debug)]
pub struct Context {
    pub dialect: Dialect,
    var_names: VarNames,
    /// The name of every [`TypeId`], by number.
    type_names: Vec<Name>,
    mod_count: u32,
    /// Types of definitions that can be named from elsewhere.
    pub values: HashMap<VarId, ValueInfo>,
    /// Types of the intrinsics.
    pub intrinsics: HashMap<Name, Rc<Scheme>>,
    /// Of abstract types and type parameters; those not listed are unlifted.
    pub liftedness: HashMap<TypeId, Liftedness>,
    /// Parameters of abstract types; those not listed have none.
    pub type_params: HashMap<TypeId, Vec<TypeParam>>,
    /// What the names of the prelude mean there, for code that the compiler writes itself.
    pub prelude_values: Rc<HashMap<Name, ValueBinding>>,
    pub references: References,
    /// The effects of definitions, and their rows as they are shown, where there are any.
    pub(crate) effects: HashMap<VarId, Rc<EffectScheme>>,
    pub(crate) effect_rows: HashMap<VarId, Vec<String>>,
    /// Values that are others seen through a module type, or from outside of a parametric module.
    pub aliases: HashMap<VarId, Alias>,
    /// Whether a file of the prelude is being checked.
    pub in_prelude: bool,
    /// Types whose values number the elements of arrays.
    pub index_types: HashMap<TypeId, IndexType>,
    /// Type parameters that stand for index types.
    pub index_params: HashSet<TypeId>,
    /// Type parameters that stand for vector spaces: values are computed of them, so that they are no index types.
    pub number_params: HashSet<TypeId>,
    /// In which order types declare their constructors.
    pub constructor_orders: ConstructorOrders,
    /// Abstract types that may hide index types.
    pub sealed_indices: HashSet<TypeId>,
    /// Definitions that are still to come, with their places.
    pub later: Vec<(Name, Span)>,
    pub diagnostics: Vec<Diagnostic>,
    /// The maps and reps that were left out so far.
    pub edits: Vec<Edit>,
}

/// Sum types are the same if they have the same constructors. What numbers these, where a sum is an index set, is the
/// order in which a type declares them, so that there must be only one.
#[derive(Clone, Debug, Default)]
pub struct ConstructorOrders {
    /// By the constructors, sorted.
    declared: HashMap<Vec<Name>, Vec<Name>>,
    /// Declared in several orders.
    ambiguous: HashSet<Vec<Name>>,
    /// Sums that are index sets.
    used: HashSet<Vec<Name>>,
}

impl ConstructorOrders {
    /// A type declares its constructors. Says whether that changes the order of a sum that numbers elements already.
    pub fn declare(&mut self, order: Vec<Name>) -> bool {
        let mut sorted = order.clone();
        sorted.sort();
        let other = match self.declared.get(&sorted) {
            Some(before) => *before != order,
            None => sorted != order,
        };
        let late = other && self.used.contains(&sorted);
        if self.declared.get(&sorted).is_some_and(|before| *before != order) {
            self.ambiguous.insert(sorted);
        } else {
            self.declared.insert(sorted, order);
        }
        late
    }

    /// A sum numbers the elements of arrays. Says whether it is known how.
    pub fn number(&mut self, constructors: Vec<Name>) -> bool {
        let known = !self.ambiguous.contains(&constructors);
        self.used.insert(constructors);
        known
    }

    pub fn into_declared(self) -> HashMap<Vec<Name>, Vec<Name>> {
        self.declared
    }
}

impl Context {
    /// A context that knows nothing but `idx [n]`.
    pub fn start() -> Context {
        let mut cx = Context::default();
        let idx = cx.fresh_type(Name::new("idx"));
        debug_assert_eq!(idx, IDX);
        let name = Name::new("n");
        let params = vec![TypeParam { name, kind: TypeParamKind::Size(cx.fresh_var(name)) }];
        cx.type_params.insert(idx, params.clone());
        cx.index_types.insert(idx, IndexType { params, representation: Type::I64, functions: None });
        cx
    }

    /// A copy that shares nothing with this one, for going on with another program.
    pub fn fork(&self, dialect: Dialect) -> Context {
        let names = self.var_names.0.borrow().clone();
        Context { dialect, var_names: VarNames(Rc::new(RefCell::new(names))), ..self.clone() }
    }

    pub fn fresh_var(&mut self, name: Name) -> VarId {
        self.var_names.fresh(name)
    }

    pub fn fresh_type(&mut self, name: Name) -> TypeId {
        self.type_names.push(name);
        TypeId(self.type_names.len() as u32 - 1)
    }

    pub fn fresh_mod(&mut self) -> crate::types::ModId {
        self.mod_count += 1;
        crate::types::ModId(self.mod_count - 1)
    }

    pub fn var_name(&self, var: VarId) -> Name {
        self.var_names.0.borrow()[var.0 as usize]
    }

    /// Give an inferred size a name that can be shown.
    pub fn rename_var(&self, var: VarId, name: Name) {
        self.var_names.0.borrow_mut()[var.0 as usize] = name;
    }

    /// A handle for making fresh variables where the context itself is not at hand.
    pub fn var_names(&self) -> VarNames {
        self.var_names.clone()
    }

    pub fn type_name(&self, id: TypeId) -> Name {
        self.type_names[id.0 as usize]
    }

    /// Give a type a better name, such as the path of the module that it lives in.
    pub fn rename_type(&mut self, id: TypeId, name: Name) {
        self.type_names[id.0 as usize] = name;
    }

    pub fn report(&mut self, error: Error) {
        match error {
            Error::Diagnostic(d) => self.diagnostics.push(*d),
            Error::Silenced => {}
        }
    }

    pub fn warn(&mut self, warning: Diagnostic) {
        self.diagnostics.push(warning);
    }

    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
