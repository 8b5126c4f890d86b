//! The standard library: the files of `std/`, in the language itself, compiled into the command as the prelude is.
//!
//! A program has of it what it imports: `import "std/sort"` reads and checks one file and what that file imports, and a
//! program without such an import reads none.

/// All modules by the names that follow `std/`, in alphabetical order, with their texts.
pub const MODULES: &[(&str, &str)] = &[
    ("linalg", include_str!("../../../std/linalg.fut")),
    ("nn", include_str!("../../../std/nn.fut")),
    ("random", include_str!("../../../std/random.fut")),
    ("search", include_str!("../../../std/search.fut")),
    ("segmented", include_str!("../../../std/segmented.fut")),
    ("sort", include_str!("../../../std/sort.fut")),
    ("special", include_str!("../../../std/special.fut")),
    ("stats", include_str!("../../../std/stats.fut")),
];

/// The module that `std/NAME` stands for.
pub fn module(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.strip_suffix(".fut").unwrap_or(name);
    MODULES.iter().find(|(known, _)| *known == name).copied()
}

/// The names of all modules, as they are imported.
pub fn names() -> String {
    MODULES.iter().map(|(name, _)| format!("std/{name}")).collect::<Vec<_>>().join(", ")
}
