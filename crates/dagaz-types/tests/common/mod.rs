//! Checking a program from a string, with the prelude.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dagaz_syntax::ast::{Dec, DecKind, ModExp, ModExpKind};
use dagaz_syntax::{Diagnostic, FileId, Severity, SourceMap, parse_program};
use dagaz_types::{CheckedProgram, Dialect, Role, Unit, check_after, check_prelude, edited_file};
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

/// Check a program that follows the prelude; gives the number of its file as well.
fn check_main(source: &str, dialect: Dialect) -> (Loader, FileId, CheckedProgram) {
    let prelude = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prelude");
    let mut loader = Loader::default();
    loader.prelude_file(&prelude.join("intrinsics.fut"), Role::Intrinsics);
    loader.prelude_file(&prelude.join("effects.fut"), Role::Extension);
    loader.prelude_file(&prelude.join("older.fut"), Role::Extension);
    loader.prelude_file(&prelude.join("prelude.fut"), Role::PreludeRoot);
    loader.unit("test.fut", source, Role::Main, None);
    let file = FileId(loader.units.len() as u32 - 1);
    let (prelude, main) = loader.units.split_at(loader.units.len() - 1);
    let checked = check_after(&check_prelude(prelude, &loader.sources), main, &loader.sources, dialect);
    (loader, file, checked)
}

/// Check a program: the diagnostics, one per line, then the types of its definitions.
#[allow(dead_code, reason = "some test files are about maps alone")]
pub fn check(source: &str, expect: Expect) {
    check_as(Dialect::Dagaz, source, expect);
}

/// As [`check`], in either dialect.
#[allow(dead_code, reason = "some test files are about maps alone")]
pub fn check_as(dialect: Dialect, source: &str, expect: Expect) {
    let (loader, _, checked) = check_main(source, dialect);
    let mut out = String::new();
    for d in &checked.diagnostics {
        out.push_str(&line(&loader.sources, d));
    }
    for (name, ty) in &checked.signatures {
        out.push_str(&format!("{name} {ty}\n"));
    }
    expect.assert_eq(&out);
}

/// Check a program: the errors, with all that is said to help.
#[allow(dead_code, reason = "not all test files are about whole messages")]
pub fn check_with_help(source: &str, expect: Expect) {
    let (loader, _, checked) = check_main(source, Dialect::Dagaz);
    expect.assert_eq(&errors_with_help(&loader.sources, &checked.diagnostics));
}

/// Errors with their labels and help, a line for each.
fn errors_with_help(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for d in diagnostics.iter().filter(|d| d.is_error()) {
        out.push_str(&line(sources, d));
        let labels = d.labels.iter().filter(|label| !label.message.is_empty());
        out.extend(labels.map(|label| format!("  {}: {}\n", sources.describe(label.span), label.message)));
        out.extend(d.help.iter().map(|help| format!("  {help}\n")));
    }
    out
}

/// Check a program whose maps may be left out.
#[allow(dead_code, reason = "not all test files are about maps")]
pub fn check_maps(source: &str, expect: Expect) {
    expect.assert_eq(&with_maps(source));
}

/// The program with its maps, or the diagnostics with all help. What is written out must be accepted without any maps
/// put in, and say the same.
#[allow(dead_code, reason = "not all test files are about maps")]
pub fn with_maps(source: &str) -> String {
    let (loader, file, checked) = check_main(source, Dialect::Dagaz);
    let mut out = errors_with_help(&loader.sources, &checked.diagnostics);
    checked.diagnostics.iter().for_each(|d| follow_proposals(&loader, file, d));
    if out.is_empty() {
        out = edited_file(&loader.sources, file, &checked.edits);
        let (again, _, explicit) = check_main(&out, Dialect::Dagaz);
        let complaints: String = explicit.diagnostics.iter().map(|d| line(&again.sources, d)).collect();
        assert!(explicit.edits.is_empty(), "maps are missing in\n{out}");
        assert_eq!(explicit.signatures, checked.signatures, "\n{out}\n{complaints}");
    }
    out
}

/// What a message proposes to write must be accepted.
fn follow_proposals(loader: &Loader, file: FileId, d: &Diagnostic) {
    let text = &loader.sources.get(file).expect("the program is there").text;
    for help in d.help.iter().filter(|help| help.starts_with("write this ") && !help.contains('…')) {
        let (place, new) = help.split_once(" to choose it: ").expect("a proposal says what to write");
        let (start, end) = match place.strip_prefix("write this for \"") {
            None => (d.span().start as usize, d.span().end as usize),
            Some(place) => {
                let (old, line) = place.rsplit_once("\" in line ").expect("a proposal says where");
                let before: usize = text
                    .lines()
                    .take(line.parse::<usize>().expect("a number") - 1)
                    .map(|l| l.len() + 1)
                    .sum();
                let start = before + text[before..].find(old).expect("the old text is there");
                (start, start + old.len())
            }
        };
        let proposed = format!("{}{new}{}", &text[..start], &text[end..]);
        let (again, _, checked) = check_main(&proposed, Dialect::Dagaz);
        let errors = errors_with_help(&again.sources, &checked.diagnostics);
        assert!(errors.is_empty(), "following a proposal gives\n{proposed}\n{errors}");
    }
}

fn line(sources: &SourceMap, d: &Diagnostic) -> String {
    let severity = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    format!("{}: {severity} [{}]: {}\n", sources.describe(d.span()), d.code, d.message)
}
