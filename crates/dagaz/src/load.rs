//! Find, read and parse a program with everything that it imports.
//!
//! `main.fut` says `import "lib/sort"`, and `lib/sort.fut` says `import "bits"`. The units come out in this order:
//!
//! ```text
//! /prelude/intrinsics.fut … /prelude/prelude.fut, lib/bits.fut, lib/sort.fut, main.fut
//! ```
//!
//! A file is read once, however many files import it. What goes wrong with an import is reported at the place of
//! the import.
//!
//! `import "std/sort"` means the file `std/sort.fut` in the folder of the file that imports, as any other import would. Only
//! where there is no such file does it mean the module of the standard library (`library.rs`), whose unit is called
//! `/prelude/std/sort.fut`: that path, written out, always means the library's.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use dagaz_syntax::ast::{self, DecKind, ModExp, ModExpKind};
use dagaz_syntax::{Diagnostic, FileId, SourceMap, Span, parse_program};
use dagaz_types::{CheckedPrelude, Role, Unit};

use crate::files::{Disk, Files};
use crate::library;

/// The files of the prelude by name, without the extension. The last one opens the others.
const PRELUDE: &[(&str, &str)] = &[
    ("functional", include_str!("../../../prelude/functional.fut")),
    ("zip", include_str!("../../../prelude/zip.fut")),
    ("soacs", include_str!("../../../prelude/soacs.fut")),
    ("numeric", include_str!("../../../prelude/numeric.fut")),
    ("integers", include_str!("../../../prelude/integers.fut")),
    ("floats", include_str!("../../../prelude/floats.fut")),
    ("math", include_str!("../../../prelude/math.fut")),
    ("array", include_str!("../../../prelude/array.fut")),
    ("ad", include_str!("../../../prelude/ad.fut")),
    ("effects", include_str!("../../../prelude/effects.fut")),
    ("older", include_str!("../../../prelude/older.fut")),
    ("prelude", include_str!("../../../prelude/prelude.fut")),
];

/// The files of the prelude that plain Futhark does not have.
const BEYOND_FUTHARK: [&str; 2] = ["effects", "older"];

const INTRINSICS: &str = include_str!("../../../prelude/intrinsics.fut");

/// The endings of source files, in the order in which they are tried.
pub const EXTENSIONS: [&str; 2] = ["fut", "dz"];

/// Parsed files in dependency order, and what was wrong with them.
#[derive(Debug)]
pub struct Loaded {
    pub prelude: Rc<Prelude>,
    /// The files after the prelude's.
    pub units: Vec<Unit>,
    pub sources: SourceMap,
    /// The user's program among the sources.
    pub main: FileId,
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a file of this name is one of the prelude's, or of the standard library's.
pub fn is_prelude(file: &str) -> bool {
    file.starts_with("/prelude/")
}

/// The prelude, parsed and checked once per thread.
#[derive(Debug)]
pub struct Prelude {
    pub checked: CheckedPrelude,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    /// The number of every file, by name.
    files: HashMap<&'static str, usize>,
    /// How many files there are.
    count: usize,
}

thread_local! {
    static PRELUDE_OF_THREAD: OnceCell<Rc<Prelude>> = const { OnceCell::new() };
}

impl Prelude {
    fn get() -> Rc<Prelude> {
        PRELUDE_OF_THREAD.with(|cell| cell.get_or_init(|| Rc::new(Prelude::load())).clone())
    }

    fn load() -> Prelude {
        let mut sources = SourceMap::default();
        let mut diagnostics = Vec::new();
        let mut parse = |name: &str, text: &str| {
            let path = format!("/prelude/{name}.fut");
            let (program, found) = parse_program(sources.add(path, text), text);
            diagnostics.extend(found);
            program
        };
        let program = parse("intrinsics", INTRINSICS);
        let mut units = vec![Unit { program, imports: HashMap::new(), role: Role::Intrinsics }];
        let mut files: HashMap<&'static str, usize> = HashMap::new();
        for (position, (name, text)) in PRELUDE.iter().enumerate() {
            let program = parse(name, text);
            let mut imports = HashMap::new();
            for site in import_sites(&program) {
                if let Some(&unit) = files.get(site.path.as_str()) {
                    imports.insert(site.path, unit);
                }
            }
            let last = position + 1 == PRELUDE.len();
            let role = match *name {
                name if BEYOND_FUTHARK.contains(&name) => Role::Extension,
                _ if last => Role::PreludeRoot,
                _ => Role::Prelude,
            };
            files.insert(name, units.len());
            units.push(Unit { program, imports, role });
        }
        let checked = dagaz_types::check_prelude(&units, &sources);
        Prelude { checked, sources, diagnostics, files, count: units.len() }
    }
}

impl Loaded {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Read a program from a file.
pub fn load_file(files: &dyn Files, path: &Path) -> std::io::Result<Loaded> {
    let text = files.read(path)?;
    let directory = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let mut loader = Loader::new(files, directory.clone());
    loader.states.insert(files.canonical(path), State::Open);
    loader.main(&path.display().to_string(), &text, &directory);
    Ok(loader.loaded)
}

/// Read a program from text. Its imports are looked up in the given directory.
pub fn load_source(name: &str, text: &str, directory: &Path) -> Loaded {
    let mut loader = Loader::new(&Disk, directory.to_path_buf());
    loader.main(name, text, directory);
    loader.loaded
}

/// What is known about a file that was asked for.
#[derive(Clone, Copy)]
enum State {
    /// Its imports are being read: to import it now would be a cycle.
    Open,
    /// The unit with this number.
    Done(usize),
    /// It cannot be read, which has been reported.
    Failed,
}

struct Loader<'f> {
    loaded: Loaded,
    files: &'f dyn Files,
    /// By canonical paths.
    states: HashMap<PathBuf, State>,
    /// The units of the standard library that were loaded, by name.
    library: HashMap<&'static str, usize>,
    /// Where imports that start with a slash are looked up: beside the main file.
    root: PathBuf,
}

/// Where a file comes from, which decides what its imports mean.
#[derive(Clone, Copy)]
enum Origin<'p> {
    Folder(&'p Path),
    Library,
}

/// An import in a file.
struct ImportSite {
    path: String,
    span: Span,
}

impl<'f> Loader<'f> {
    fn new(files: &'f dyn Files, root: PathBuf) -> Loader<'f> {
        let prelude = Prelude::get();
        let (sources, diagnostics) = (prelude.sources.clone(), prelude.diagnostics.clone());
        let loaded = Loaded { prelude, units: Vec::new(), sources, main: Span::NONE.file, diagnostics };
        Loader { loaded, files, states: HashMap::new(), library: HashMap::new(), root }
    }

    fn main(&mut self, name: &str, text: &str, directory: &Path) {
        let (file, program) = self.parse(name, text);
        self.loaded.main = file;
        let imports = self.imports(&program, Origin::Folder(directory));
        self.push(program, imports, Role::Main);
    }

    fn parse(&mut self, name: &str, text: &str) -> (FileId, ast::Program) {
        let file = self.loaded.sources.add(name, text);
        let (program, diagnostics) = parse_program(file, text);
        self.loaded.diagnostics.extend(diagnostics);
        (file, program)
    }

    fn push(&mut self, program: ast::Program, imports: HashMap<String, usize>, role: Role) -> usize {
        self.loaded.units.push(Unit { program, imports, role });
        self.loaded.prelude.count + self.loaded.units.len() - 1
    }

    /// Load all files that a program imports.
    fn imports(&mut self, program: &ast::Program, origin: Origin) -> HashMap<String, usize> {
        let mut imports = HashMap::new();
        for site in import_sites(program) {
            let unit = self.import_built_in(&site.path, origin).or_else(|| match origin {
                Origin::Folder(directory) => self.import(&site, directory),
                Origin::Library => self.missing(&site, Vec::new()),
            });
            if let Some(unit) = unit {
                imports.insert(site.path, unit);
            }
        }
        imports
    }

    /// The file of the prelude, or of the standard library, that a path means whatever files there are.
    fn import_built_in(&mut self, path: &str, origin: Origin) -> Option<usize> {
        if let Some(name) = path.strip_prefix("/prelude/") {
            let of_prelude = self.loaded.prelude.files.get(name.trim_end_matches(".fut")).copied();
            return of_prelude.or_else(|| self.import_library(name.strip_prefix("std/")?));
        }
        match origin {
            Origin::Folder(_) => None,
            Origin::Library => self.import_library(path),
        }
    }

    fn import_library(&mut self, name: &str) -> Option<usize> {
        let (name, text) = library::module(name)?;
        if let Some(&unit) = self.library.get(name) {
            return Some(unit);
        }
        let (_, program) = self.parse(&format!("/prelude/std/{name}.fut"), text);
        let imports = self.imports(&program, Origin::Library);
        let unit = self.push(program, imports, Role::Import);
        self.library.insert(name, unit);
        Some(unit)
    }

    /// Reports that there is nothing of the name that is imported.
    fn missing(&mut self, site: &ImportSite, help: Vec<String>) -> Option<usize> {
        let message = format!("there is no file to import as \"{}\"", site.path);
        let diagnostic = Diagnostic::error("missing-import", site.span, message);
        self.loaded.diagnostics.push(help.into_iter().fold(diagnostic, Diagnostic::help));
        None
    }

    fn import(&mut self, site: &ImportSite, directory: &Path) -> Option<usize> {
        let wanted = match site.path.strip_prefix('/') {
            Some(from_root) => self.root.join(from_root),
            None => directory.join(&site.path),
        };
        let Some(path) = find_source(self.files, &wanted) else {
            let of_library = site.path.strip_prefix("std/");
            if let Some(unit) = of_library.and_then(|name| self.import_library(name)) {
                return Some(unit);
            }
            let shown = wanted.display();
            let mut help = vec![format!(
                "looked for {shown}.fut and {shown}.dz; a path is relative to the file that imports"
            )];
            if of_library.is_some() {
                help.push(format!("the standard library has {}", library::names()));
            }
            return self.missing(site, help);
        };
        let key = self.files.canonical(&path);
        match self.states.get(&key) {
            Some(State::Done(unit)) => return Some(*unit),
            Some(State::Failed) => return None,
            Some(State::Open) => {
                self.loaded.diagnostics.push(
                    Diagnostic::error(
                        "import-cycle",
                        site.span,
                        format!("importing \"{}\" leads back to this file", site.path),
                    )
                    .help("move what both files need into a third one that imports neither"),
                );
                return None;
            }
            None => {}
        }
        self.import_file(site, &path, key)
    }

    fn import_file(&mut self, site: &ImportSite, path: &Path, key: PathBuf) -> Option<usize> {
        let text = match self.files.read(path) {
            Ok(text) => text,
            Err(error) => {
                self.loaded.diagnostics.push(Diagnostic::error(
                    "missing-import",
                    site.span,
                    format!("cannot read {}: {error}", path.display()),
                ));
                self.states.insert(key, State::Failed);
                return None;
            }
        };
        self.states.insert(key.clone(), State::Open);
        let (_, program) = self.parse(&path.display().to_string(), &text);
        let directory = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let imports = self.imports(&program, Origin::Folder(&directory));
        let unit = self.push(program, imports, Role::Import);
        self.states.insert(key, State::Done(unit));
        Some(unit)
    }
}

/// The source file that an import means, if there is one.
fn find_source(files: &dyn Files, wanted: &Path) -> Option<PathBuf> {
    let has_extension = wanted.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known));
    if has_extension && files.is_file(wanted) {
        return Some(wanted.to_path_buf());
    }
    EXTENSIONS.iter().find_map(|extension| {
        let mut name = wanted.file_name()?.to_os_string();
        name.push(".");
        name.push(extension);
        let path = wanted.with_file_name(name);
        files.is_file(&path).then_some(path)
    })
}

fn import_sites(program: &ast::Program) -> Vec<ImportSite> {
    let mut sites = Vec::new();
    program.decs.iter().for_each(|dec| sites_of_dec(&dec.kind, &mut sites));
    sites
}

fn sites_of_dec(dec: &DecKind, sites: &mut Vec<ImportSite>) {
    match dec {
        DecKind::Import { path, path_span } => {
            sites.push(ImportSite { path: path.clone(), span: *path_span });
        }
        DecKind::Open(module) => sites_of_module(module, sites),
        DecKind::Module(bind) => sites_of_module(&bind.body, sites),
        DecKind::Local(inner) => sites_of_dec(&inner.kind, sites),
        DecKind::Val(_) | DecKind::Type(_) | DecKind::IndexType(_) | DecKind::ModuleType { .. } => {}
    }
}

fn sites_of_module(module: &ModExp, sites: &mut Vec<ImportSite>) {
    match &module.kind {
        ModExpKind::Import { path, path_span } => {
            sites.push(ImportSite { path: path.clone(), span: *path_span });
        }
        ModExpKind::Ascript(inner, _) | ModExpKind::Paren(inner) => sites_of_module(inner, sites),
        ModExpKind::Lambda { body, .. } => sites_of_module(body, sites),
        ModExpKind::Apply(function, argument) => {
            sites_of_module(function, sites);
            sites_of_module(argument, sites);
        }
        ModExpKind::Decs(decs) => decs.iter().for_each(|dec| sites_of_dec(&dec.kind, sites)),
        ModExpKind::Var(_) => {}
    }
}
