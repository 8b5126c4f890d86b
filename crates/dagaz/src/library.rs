//! The standard library: the files of `std/`, in the language itself, compiled into the command as the prelude is.
//!
//! A program has of it what it imports: `import "std/sort"` reads and checks one file and what that file imports, and a
//! program without such an import reads none.

use dagaz_syntax::ast::DecKind;
use dagaz_syntax::{Diagnostic, SourceMap, Span, parse_program};

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

/// Names that are unknown, but defined by a module of the library, get told where they are.
pub(crate) fn suggest(diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Vec<Diagnostic> {
    let with_help = |diagnostic: Diagnostic| {
        let unknown = diagnostic.labels.first().filter(|_| diagnostic.code == "unknown-name");
        let name = unknown.map(|label| sources.snippet(label.span).to_owned());
        match name.as_deref().and_then(definer) {
            Some(module) => {
                let name = name.unwrap_or_default();
                diagnostic.help(format!("the standard library has \"{name}\": import \"std/{module}\""))
            }
            None => diagnostic,
        }
    };
    diagnostics.into_iter().map(with_help).collect()
}

/// The module that defines a name at its top level.
fn definer(name: &str) -> Option<&'static str> {
    let defines = |text: &str| {
        let (program, _) = parse_program(Span::NONE.file, text);
        program.decs.iter().any(|dec| match &dec.kind {
            DecKind::Val(bind) => bind.name.name.to_string() == name,
            DecKind::Module(bind) => bind.name.name.to_string() == name,
            DecKind::Type(_) | DecKind::IndexType(_) | DecKind::ModuleType { .. } => false,
            DecKind::Open(_) | DecKind::Import { .. } | DecKind::Local(_) => false,
        })
    };
    MODULES.iter().find(|(_, text)| text.contains(name) && defines(text)).map(|(module, _)| *module)
}
