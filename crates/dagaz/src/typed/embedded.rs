//! Programs that are part of Rust programs: which files they consist of, and which Rust types their entry points have.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use dagaz_core::exp::{Entry, EntryType};

use super::data::rust_type;
use super::entry::tuple;
use super::{Error, Program, Source};
use crate::files::{Disk, Files, InMemory};

/// A file of a program.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// Its path from the folder of the program's main file, if it is below that.
    pub name: String,
    /// Where it is on the disk.
    pub path: PathBuf,
}

/// The Rust types of an entry point.
#[derive(Clone, Debug)]
pub struct EntryTypes {
    pub name: String,
    /// The names and the types of the parameters.
    pub params: Vec<(String, String)>,
    pub result: String,
    /// As the program has it: `norm (xs: [n]f64) : f64`.
    pub signature: String,
}

impl Program {
    /// A program from texts by their names, of which one is that of the main file.
    pub fn of_files(texts: &[(&str, &str)], main: &str) -> Result<Program, Error> {
        let files = texts.iter().fold(InMemory::new(), |files, (name, text)| files.with(name, *text));
        Program::open(Source::Files(files, PathBuf::from(main)))
    }

    /// A program from a file, and which files it consists of.
    pub fn with_its_files(path: &Path) -> Result<(Program, Vec<SourceText>), Error> {
        let files = Noting { read: RefCell::new(BTreeSet::new()) };
        let program = Program::open_in(Source::File(path.to_owned()), &files)?;
        let folder = Disk.canonical(path);
        let folder = folder.parent().unwrap_or(Path::new(""));
        let texts = files.read.into_inner().into_iter().map(|path| {
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            SourceText { name, path }
        });
        let texts = texts.collect();
        Ok((program, texts))
    }

    /// The Rust types of all entry points. The error names what has no counterpart.
    pub fn entry_types(&self) -> Result<Vec<EntryTypes>, Error> {
        self.source.lower(None)?.core.entries.iter().map(types).collect()
    }
}

fn types(entry: &Entry) -> Result<EntryTypes, Error> {
    let rust = |ty: &EntryType| {
        rust_type(ty).ok_or_else(|| {
            let (name, ty) = (&entry.name, ty.name());
            Error::Signature(format!(
                "the entry point `{name}` has the type {ty}, which has no counterpart in Rust"
            ))
        })
    };
    let mut params = Vec::new();
    for param in &entry.params {
        params.push((param.name.clone(), rust(&param.ty)?));
    }
    let results = entry.results.iter().map(rust).collect::<Result<Vec<_>, _>>()?;
    let own: Vec<String> = entry.params.iter().map(|p| format!(" ({}: {})", p.name, p.ty.name())).collect();
    let own_results: Vec<String> = entry.results.iter().map(|ty| ty.name().to_owned()).collect();
    let signature = format!("{}{} : {}", entry.name, own.concat(), tuple(&own_results));
    Ok(EntryTypes { name: entry.name.clone(), params, result: tuple(&results), signature })
}

/// The disk, and which files were read.
struct Noting {
    read: RefCell<BTreeSet<PathBuf>>,
}

impl Files for Noting {
    fn read(&self, path: &Path) -> io::Result<String> {
        let text = Disk.read(path)?;
        self.read.borrow_mut().insert(Disk.canonical(path));
        Ok(text)
    }

    fn is_file(&self, path: &Path) -> bool {
        Disk.is_file(path)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        Disk.canonical(path)
    }
}
