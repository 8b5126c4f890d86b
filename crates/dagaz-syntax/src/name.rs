//! Interned names: a [`Name`] is a 32-bit handle to a string that lives as long as the process.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, RwLock};

/// An identifier, operator, field or constructor name. Copying and comparing are free.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(u32);

#[derive(Default)]
struct Interner {
    ids: HashMap<&'static str, u32>,
    strings: Vec<&'static str>,
}

static INTERNER: LazyLock<RwLock<Interner>> = LazyLock::new(Default::default);

impl Name {
    pub fn new(text: &str) -> Name {
        if let Some(&id) = INTERNER.read().expect("interner lock").ids.get(text) {
            return Name(id);
        }
        let mut interner = INTERNER.write().expect("interner lock");
        if let Some(&id) = interner.ids.get(text) {
            return Name(id);
        }
        let id = interner.strings.len() as u32;
        // Names are few (one per distinct identifier of all programs seen), so leaking them is fine.
        let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
        interner.strings.push(text);
        interner.ids.insert(text, id);
        Name(id)
    }

    pub fn as_str(self) -> &'static str {
        INTERNER.read().expect("interner lock").strings[self.0 as usize]
    }

    /// The field name of the `i`-th component of a tuple: tuples are records with fields 0, 1, ….
    pub fn tuple_field(i: usize) -> Name {
        Name::new(&i.to_string())
    }

    /// Whether this is an operator symbol such as `+^` rather than an identifier.
    pub fn is_symbol(self) -> bool {
        let first = self.as_str().chars().next().unwrap_or('_');
        !(first.is_alphanumeric() || first == '_')
    }
}

/// Alphabetical, except that numbers compare as numbers, so that tuple field 10 follows field 9.
impl Ord for Name {
    fn cmp(&self, other: &Name) -> std::cmp::Ordering {
        if self.0 == other.0 {
            return std::cmp::Ordering::Equal;
        }
        let (a, b) = (self.as_str(), other.as_str());
        match (a.parse::<u64>(), b.parse::<u64>()) {
            (Ok(x), Ok(y)) => x.cmp(&y).then(a.cmp(b)),
            _ => a.cmp(b),
        }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}
