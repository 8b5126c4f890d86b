//! Names for variables: what the source called them, with a number where several have one name.

use std::collections::{HashMap, HashSet};

use dagaz_core::prim::{BinOp, CmpOp, TernOp, UnOp};
use dagaz_core::types::VarId;

#[derive(Default)]
pub(crate) struct Names {
    known: HashMap<VarId, String>,
    used: HashSet<String>,
}

/// Words of the language, and names that the printed program uses itself.
const TAKEN: &[&str] = &[
    "assert",
    "case",
    "def",
    "do",
    "else",
    "entry",
    "false",
    "for",
    "if",
    "import",
    "in",
    "include",
    "let",
    "local",
    "loop",
    "match",
    "module",
    "open",
    "then",
    "true",
    "type",
    "val",
    "while",
    "with",
    "map",
    "map2",
    "map3",
    "map4",
    "map5",
    "reduce",
    "reduce_comm",
    "scan",
    "scatter",
    "scatter_2d",
    "scatter_3d",
    "reduce_by_index",
    "reduce_by_index_2d",
    "reduce_by_index_3d",
    "iota",
    "replicate",
    "copy",
    "transpose",
    "flatten",
    "unflatten",
    "flatten_3d",
    "unflatten_3d",
    "flatten_4d",
    "unflatten_4d",
    "concat",
    "zip",
    "zip2",
    "zip3",
    "zip4",
    "zip5",
    "unzip",
    "unzip2",
    "unzip3",
    "unzip4",
    "unzip5",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "bool",
];

/// Names that the compiler gives to steps, beside those of scalar operations.
const STEPS: &[&str] =
    &["ct", "part", "chosen", "elem", "x", "y", "element", "convert", "slope", "seed", "power", "row"];

impl Names {
    pub fn of(&mut self, var: VarId, hint: &str) -> String {
        if let Some(name) = self.known.get(&var) {
            return name.clone();
        }
        let name = self.unused(hint);
        self.known.insert(var, name.clone());
        name
    }

    /// A name like the hint that nothing else has.
    pub fn unused(&mut self, hint: &str) -> String {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let mut base: String = hint.chars().filter(|c| is_word(*c)).collect();
        if !base.starts_with(|c: char| c.is_alphabetic()) {
            base.insert(0, 'v');
        }
        let free = |name: &str, used: &HashSet<String>| !TAKEN.contains(&name) && !used.contains(name);
        let mut name = base.clone();
        let mut number = 2;
        while !free(&name, &self.used) {
            name = format!("{base}_{number}");
            number += 1;
        }
        self.used.insert(name.clone());
        name
    }
}

/// Whether a hint is the compiler's and not the user's.
pub(crate) fn is_anonymous(hint: &str) -> bool {
    STEPS.contains(&hint)
        || UnOp::from_name(hint).is_some()
        || BinOp::from_name(hint).is_some()
        || TernOp::from_name(hint).is_some()
        || CmpOp::from_name(hint).is_some()
}
