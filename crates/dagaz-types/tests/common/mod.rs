//! Checking a program from a string, with the prelude.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dagaz_syntax::ast::{Dec, DecKind, ModExp, ModExpKind};
use dagaz_syntax::{Severity, SourceMap, parse_program};
use dagaz_types::{Dialect, Role, Unit, check_program};
use expect_test::Expect;

#[derive(Default)]
struct Loader {
    sources: SourceMap,
    units: Vec<Unit>,
    loaded: HashMap<PathBuf, usize>,
}

impl Loader {
    fn prelude_file(&mut self, path: &Path, role: Role) -> usize {
        if let Some(unit) = self.loaded.get(path) {
            return *unit;
        }
        let text = std::fs::read_to_string(path).expect("the prelude is there");
        let unit = self.unit(&path.display().to_string(), &text, role, path.parent());
        self.loaded.insert(path.to_owned(), unit);
        unit
    }

    fn unit(&mut self, name: &str, text: &str, role: Role, folder: Option<&Path>) -> usize {
        let file = self.sources.add(name, text);
        let (program, diagnostics) = parse_program(file, text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let mut paths = Vec::new();
        program.decs.iter().for_each(|d| imports(d, &mut paths));
        let mut found = HashMap::new();
        for path in paths {
            let folder = folder.expect("only the prelude imports files");
            let unit = self.prelude_file(&folder.join(format!("{path}.fut")), Role::Prelude);
            found.insert(path, unit);
        }
        self.units.push(Unit { program, imports: found, role });
        self.units.len() - 1
    }
}

fn imports(dec: &Dec, paths: &mut Vec<String>) {
    match &dec.kind {
        DecKind::Import { path, .. } => paths.push(path.clone()),
        DecKind::Local(inner) => imports(inner, paths),
        DecKind::Open(e) => module_imports(e, paths),
        DecKind::Module(bind) => module_imports(&bind.body, paths),
        DecKind::Val(_) | DecKind::Type(_) | DecKind::IndexType(_) | DecKind::ModuleType { .. } => {}
    }
}

fn module_imports(e: &ModExp, paths: &mut Vec<String>) {
    match &e.kind {
        ModExpKind::Import { path, .. } => paths.push(path.clone()),
        ModExpKind::Paren(inner) | ModExpKind::Ascript(inner, _) => module_imports(inner, paths),
        ModExpKind::Decs(decs) => decs.iter().for_each(|d| imports(d, paths)),
        ModExpKind::Apply(f, x) => {
            module_imports(f, paths);
            module_imports(x, paths);
        }
        ModExpKind::Lambda { body, .. } => module_imports(body, paths),
        ModExpKind::Var(_) => {}
    }
}

/// Check a program: the diagnostics, one per line, then the types of its definitions.
pub fn check(source: &str, expect: Expect) {
    let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prelude");
    let mut loader = Loader::default();
    loader.prelude_file(&prelude.join("intrinsics.fut"), Role::Intrinsics);
    loader.prelude_file(&prelude.join("effects.fut"), Role::Extension);
    loader.prelude_file(&prelude.join("prelude.fut"), Role::PreludeRoot);
    loader.unit("test.fut", source, Role::Main, None);
    let checked = check_program(&loader.units, &loader.sources, Dialect::Dagaz);
    let mut out = String::new();
    for d in &checked.diagnostics {
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = loader.sources.describe(d.span());
        out.push_str(&format!("{place}: {severity} [{}]: {}\n", d.code, d.message));
    }
    for (name, ty) in &checked.signatures {
        out.push_str(&format!("{name} {ty}\n"));
    }
    expect.assert_eq(&out);
}
