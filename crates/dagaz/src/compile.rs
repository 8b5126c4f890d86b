//! From source to Core: the stages of the front half of the compiler, one after the other.
//!
//! ```text
//! files ──load──▶ units ──check──▶ typed program ──simplify──▶ Core ──ad──▶ Core ──verify──▶ Compiled
//! ```
//!
//! Verification happens in debug builds, which includes all tests; what it finds is a mistake of the compiler and
//! not of the program. The signatures of entry points are compared in all builds (`promises.rs`).

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dagaz_codegen::CLibrary;
#[cfg(feature = "native")]
use dagaz_core::engine::Making;
use dagaz_core::exp::{Entry, Program, SourceLoc};
use dagaz_core::pass::{self, Rejection, Stage, Step, Stop};
use dagaz_simplify::Parameters;
use dagaz_syntax::{Diagnostic, SourceMap, Span};
use dagaz_types::{Dialect, typed};

use crate::engines::Backend;
use crate::files::{Disk, Files};
use crate::library;
use crate::load::{self, Loaded};
use crate::pipelines;
use crate::render::{self, Style};
use crate::session::{Execution, Session};

/// Syntax trees may be deep, and the passes over them are recursive. The pages of a stack that is never used cost
/// nothing.
const STACK_BYTES: usize = 1 << 30;

/// A program that has passed the checker, and its Core.
#[derive(Clone, Debug)]
pub struct Compiled {
    core: Arc<Program>,
    sources: Arc<SourceMap>,
    warnings: Vec<Diagnostic>,
    signatures: Vec<(String, String)>,
    explicit: String,
}

/// A program that has passed the checker.
#[derive(Debug)]
pub struct Checked {
    pub sources: SourceMap,
    pub warnings: Vec<Diagnostic>,
    /// The names and types of the main file's definitions, in order.
    pub signatures: Vec<(String, String)>,
    /// The main file with all maps and reps written out that it leaves out.
    pub explicit: String,
}

/// How a program is compiled.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which programs are accepted.
    pub dialect: Dialect,
    /// Values for tuning parameters.
    pub parameters: Parameters,
}

impl Settings {
    /// The whole language, and no tuning.
    pub fn plain() -> Settings {
        Settings { dialect: Dialect::Dagaz, parameters: Parameters::new() }
    }
}

/// Why a program could not be compiled.
#[derive(Debug)]
pub enum Failure {
    /// The main file could not be read.
    Unreadable { path: PathBuf, error: std::io::Error },
    /// The program is wrong. There may be warnings among the diagnostics.
    Rejected { sources: Box<SourceMap>, diagnostics: Vec<Diagnostic> },
    /// The compiler is wrong.
    Internal(String),
}

/// Compile a file and all that it imports.
pub fn compile_file(path: &Path) -> Result<Compiled, Failure> {
    compile_file_with(path, &Settings::plain())
}

/// As [`compile_file`], with settings.
pub fn compile_file_with(path: &Path, settings: &Settings) -> Result<Compiled, Failure> {
    on_large_stack(|| compile_loaded(read_file(path)?, None, settings))
}

/// As [`compile_file_with`], with files that need not be on a disk.
pub fn compile_file_in(files: &dyn Files, path: &Path, settings: &Settings) -> Result<Compiled, Failure> {
    on_large_stack(|| compile_loaded(read_from(files, path)?, None, settings))
}

/// As [`compile_file_with`], with one entry point only; with none if there is no such entry point.
pub fn compile_entry(path: &Path, entry: &str, settings: &Settings) -> Result<Compiled, Failure> {
    compile_entries(path, &[entry.to_owned()], settings)
}

/// As [`compile_entry`], with these entry points.
pub fn compile_entries(path: &Path, entries: &[String], settings: &Settings) -> Result<Compiled, Failure> {
    on_large_stack(|| compile_loaded(read_file(path)?, Some(entries), settings))
}

/// Compile a program from text. The name is for messages; imports are looked up in the current directory.
pub fn compile_source(name: &str, text: &str) -> Result<Compiled, Failure> {
    compile_source_in(name, text, Path::new(""))
}

/// As [`compile_source`], with the directory in which imports are looked up.
pub fn compile_source_in(name: &str, text: &str, directory: &Path) -> Result<Compiled, Failure> {
    on_large_stack(|| compile_loaded(load::load_source(name, text, directory), None, &Settings::plain()))
}

/// Check a file and all that it imports, and go no further.
pub fn check_file(path: &Path, dialect: Dialect) -> Result<Checked, Failure> {
    on_large_stack(|| check_loaded(read_file(path)?, dialect))
}

/// As [`check_file`], for a program from text.
pub fn check_source(name: &str, text: &str) -> Result<Checked, Failure> {
    on_large_stack(|| check_loaded(load::load_source(name, text, Path::new("")), Dialect::Dagaz))
}

/// A tuning parameter as written: `name=value`.
pub fn parse_parameter(text: &str) -> Result<(String, i64), String> {
    let parsed = text.split_once('=').and_then(|(name, value)| {
        let value = value.trim().parse().ok()?;
        Some((name.trim().to_owned(), value))
    });
    parsed.ok_or_else(|| format!("'{text}' is not of the form name=value, with an integer as value"))
}

fn read_file(path: &Path) -> Result<Loaded, Failure> {
    read_from(&Disk, path)
}

fn read_from(files: &dyn Files, path: &Path) -> Result<Loaded, Failure> {
    load::load_file(files, path).map_err(|error| Failure::Unreadable { path: path.to_path_buf(), error })
}

/// Run a function on a stack of its own, and turn a panic into a failure.
pub(crate) fn on_large_stack<T>(job: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let guarded = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
    stacker::grow(STACK_BYTES, guarded).unwrap_or_else(|panic| Err(Failure::from_panic(&*panic)))
}

/// What a panic says.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

fn reject(sources: SourceMap, diagnostics: Vec<Diagnostic>) -> Failure {
    Failure::Rejected { sources: Box::new(sources), diagnostics }
}

/// The typed program and the diagnostics, among which there is no error.
fn check(loaded: Loaded, dialect: Dialect) -> Result<(SourceMap, dagaz_types::CheckedProgram), Failure> {
    if loaded.has_errors() {
        return Err(reject(loaded.sources, loaded.diagnostics));
    }
    let mut checked =
        dagaz_types::check_after(&loaded.prelude.checked, &loaded.units, &loaded.sources, dialect);
    let found = std::mem::replace(&mut checked.diagnostics, loaded.diagnostics);
    checked.diagnostics.extend(found);
    if checked.diagnostics.iter().any(Diagnostic::is_error) {
        let diagnostics = library::suggest(checked.diagnostics, &loaded.sources);
        return Err(reject(loaded.sources, diagnostics));
    }
    let faults = crate::index_sets::check(&checked.program, &loaded.sources);
    if !faults.is_empty() {
        return Err(reject(loaded.sources, checked.diagnostics.into_iter().chain(faults).collect()));
    }
    Ok((loaded.sources, checked))
}

fn check_loaded(loaded: Loaded, dialect: Dialect) -> Result<Checked, Failure> {
    let main = loaded.main;
    let (sources, checked) = check(loaded, dialect)?;
    let explicit = dagaz_types::edited_file(&sources, main, &checked.edits);
    Ok(Checked { sources, warnings: checked.diagnostics, signatures: checked.signatures, explicit })
}

fn compile_loaded(loaded: Loaded, only: Option<&[String]>, settings: &Settings) -> Result<Compiled, Failure> {
    lower(loaded, only, settings)?.finish()
}

/// A program in Core before derivatives are expanded.
#[derive(Clone)]
pub(crate) struct Lowered {
    pub core: Program,
    sources: SourceMap,
    warnings: Vec<Diagnostic>,
    signatures: Vec<(String, String)>,
    explicit: String,
}

/// One entry point of a file, in Core.
pub(crate) fn lower_file(path: &Path, entry: &str, settings: &Settings) -> Result<Lowered, Failure> {
    lower_entries(&Disk, path, Some(&[entry.to_owned()]), settings)
}

/// The entry points of a file that are named, or all of them, in Core.
pub(crate) fn lower_entries(
    files: &dyn Files,
    path: &Path,
    only: Option<&[String]>,
    settings: &Settings,
) -> Result<Lowered, Failure> {
    on_large_stack(|| lower(read_from(files, path)?, only, settings))
}

/// As [`lower_entries`], for a program from text. The name is for messages; imports are looked up in the directory.
pub(crate) fn lower_source(
    name: &str,
    text: &str,
    directory: &Path,
    only: Option<&[String]>,
    settings: &Settings,
) -> Result<Lowered, Failure> {
    on_large_stack(|| lower(load::load_source(name, text, directory), only, settings))
}

/// The Core of a file before derivatives are expanded.
pub(crate) fn lower_whole_file(path: &Path, settings: &Settings) -> Result<(Program, SourceMap), Failure> {
    on_large_stack(|| {
        let lowered = lower(read_file(path)?, None, settings)?;
        Ok((lowered.core, lowered.sources))
    })
}

/// Looks at the Core of a file before derivatives are expanded.
pub(crate) fn with_core<T>(
    path: &Path,
    settings: &Settings,
    look: impl FnOnce(&Program, &SourceMap) -> T,
) -> Result<T, Failure> {
    let (core, sources) = lower_whole_file(path, settings)?;
    on_large_stack(|| Ok(look(&core, &sources)))
}

fn lower(loaded: Loaded, only: Option<&[String]>, settings: &Settings) -> Result<Lowered, Failure> {
    let main = loaded.main;
    let (sources, mut checked) = check(loaded, settings.dialect)?;
    let explicit = dagaz_types::edited_file(&sources, main, &checked.edits);
    if let Some(only) = only {
        keep_entries(&mut checked.program, only);
    }
    let core = match dagaz_simplify::simplify_with(&checked.program, &sources, &settings.parameters) {
        Ok(simplified) => {
            checked.diagnostics.extend(simplified.warnings);
            simplified.core
        }
        Err(errors) => {
            let diagnostics = checked.diagnostics.into_iter().chain(errors).collect();
            return Err(reject(sources, diagnostics));
        }
    };
    keep_promise(crate::promises::broken(&checked.program, &core))?;
    if cfg!(debug_assertions) {
        verify(&core)?;
    }
    Ok(Lowered { core, sources, warnings: checked.diagnostics, signatures: checked.signatures, explicit })
}

impl Lowered {
    pub fn with_core(self, core: Program) -> Lowered {
        Lowered { core, ..self }
    }

    /// Expands derivatives and optimises the program, to be run.
    pub fn finish(self) -> Result<Compiled, Failure> {
        self.optimised(pipelines::FOR_CPU)
    }

    /// Expands derivatives and cleans up after them, to be read.
    pub fn expand(self) -> Result<Compiled, Failure> {
        self.optimised(pipelines::FOR_PEOPLE)
    }

    /// Expands derivatives and leaves maps as they are, to become operations on whole arrays.
    pub fn spread(self) -> Result<Compiled, Failure> {
        self.optimised(pipelines::FOR_WHOLE_ARRAYS)
    }

    fn optimised(self, pipeline: &[Step]) -> Result<Compiled, Failure> {
        let Lowered { mut core, sources, warnings, signatures, explicit } = self;
        on_large_stack(|| {
            let locs = core.locs.clone();
            match pass::run(pipeline, &mut core, Stage::WITH_FORMS) {
                Ok(_) => {}
                Err(Stop::Rejected(rejections)) => {
                    let errors = rejections.iter().map(|error| rejection(error, &locs, &sources));
                    let diagnostics = warnings.into_iter().chain(errors).collect();
                    return Err(reject(sources, diagnostics));
                }
                Err(Stop::Fault(fault)) => return Err(Failure::Internal(fault.to_string())),
            }
            keep_promise(crate::promises::broken_by_passes(&core))?;
            let (core, sources) = (Arc::new(core), Arc::new(sources));
            Ok(Compiled { core, sources, warnings, signatures, explicit })
        })
    }
}

/// A program that has lost something on its way is never run.
fn keep_promise(broken: Option<String>) -> Result<(), Failure> {
    let lost = |broken| Failure::Internal(format!("Core is not what the checker promised: {broken}"));
    broken.map_or(Ok(()), |broken| Err(lost(broken)))
}

/// What the verifier finds is a mistake of the compiler.
pub fn verify(core: &Program) -> Result<(), Failure> {
    let errors = dagaz_core::verify::verify(core);
    match errors.first() {
        None => Ok(()),
        Some(first) => {
            let count = errors.len();
            Err(Failure::Internal(format!("Core does not verify ({count} errors): {first}")))
        }
    }
}

/// A derivative that cannot be made, shown where the user asked for it: at the outermost of the inlined calls. A step
/// that is not linear is shown itself: at the innermost place that is not in the prelude.
pub(crate) fn rejection(error: &Rejection, locs: &[SourceLoc], sources: &SourceMap) -> Diagnostic {
    let outer = |place: &SourceLoc| place.inlined_at.and_then(|loc| locs.get(loc.0 as usize));
    let innermost = locs.get(error.loc.0 as usize);
    let places: Vec<&SourceLoc> = std::iter::successors(innermost, |place| outer(place)).collect();
    let place = match error.code {
        "not-linear" => places.iter().find(|place| !load::is_prelude(&place.file)).or(places.last()),
        _ => places.last(),
    };
    let span = place.and_then(|p| sources.span_at(&p.file, p.line, p.col)).unwrap_or(Span::NONE);
    Diagnostic::error(error.code, span, error.message.clone())
}

fn keep_entries(program: &mut typed::Program, names: &[String]) {
    let definitions = program
        .decs
        .iter()
        .filter_map(|dec| if let typed::Dec::Def(def) = &**dec { Some(def) } else { None });
    let named = definitions.filter(|def| names.contains(&def.name.to_string()));
    let named: Vec<_> = named.map(|def| def.var).collect();
    program.entries.retain(|entry| named.contains(entry));
}

impl Compiled {
    pub fn core(&self) -> &Arc<Program> {
        &self.core
    }

    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The names and types of the main file's definitions, in order.
    pub fn signatures(&self) -> &[(String, String)] {
        &self.signatures
    }

    /// The main file with all maps and reps written out that it leaves out.
    pub fn explicit(&self) -> &str {
        &self.explicit
    }

    pub fn entry_points(&self) -> &[Entry] {
        &self.core.entries
    }

    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.core.entries.iter().find(|entry| entry.name == name)
    }

    /// The program as a C library of its own. `name` is that of the header file, without `.h`.
    pub fn c_library(&self, name: &str) -> Result<CLibrary, String> {
        dagaz_codegen::generate_library(&self.core, name)
    }

    #[cfg(feature = "native")]
    /// Write the program as an executable, made by the C compiler of this machine.
    pub fn make_executable(&self, path: &Path, making: &Making) -> Result<(), String> {
        dagaz_runtime::make_executable(&self.core, path, making)
    }

    /// Something to call entry points with, on the reference interpreter.
    pub fn session(&self) -> Session {
        self.session_on(Backend::Interpreter)
    }

    /// Something to call entry points with.
    pub fn session_on(&self, backend: Backend) -> Session {
        self.session_with(&Execution::on(backend))
    }

    /// As [`Compiled::session_on`], with everything that can be chosen.
    pub fn session_with(&self, execution: &Execution) -> Session {
        Session::new(self.core.clone(), self.sources.clone(), execution)
    }
}

impl Failure {
    /// A mistake of the compiler that ended in a panic.
    pub fn from_panic(panic: &(dyn std::any::Any + Send)) -> Failure {
        Failure::Internal(panic_message(panic))
    }

    /// All messages with source lines.
    pub fn render(&self, style: Style) -> String {
        match self {
            Failure::Unreadable { path, error } => {
                render::message(style, &format!("cannot read {}: {error}", path.display()))
            }
            Failure::Rejected { sources, diagnostics } => render::diagnostics(style, sources, diagnostics),
            Failure::Internal(message) => render::message(
                style,
                &format!(
                    "internal error: {message}\nThis is a mistake in the compiler, not in your program."
                ),
            ),
        }
    }

    /// The errors alone, one sentence each.
    pub fn summary(&self) -> String {
        match self {
            Failure::Unreadable { path, error } => format!("cannot read {}: {error}", path.display()),
            Failure::Rejected { diagnostics, .. } => {
                let errors = diagnostics.iter().filter(|d| d.is_error());
                errors.map(|d| format!("{} [{}]", d.message, d.code)).collect::<Vec<_>>().join("; ")
            }
            Failure::Internal(message) => format!("internal error: {message}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())
    }
}

impl std::error::Error for Failure {}
