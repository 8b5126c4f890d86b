//! Where source files come from: the disk, or memory where there is no disk, as in a browser.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A place that has source files by their paths.
pub trait Files {
    fn read(&self, path: &Path) -> io::Result<String>;

    fn is_file(&self, path: &Path) -> bool;

    /// The one path of a file that may be named in several ways.
    fn canonical(&self, path: &Path) -> PathBuf;
}

/// The files of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }
}

/// Texts by their paths.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    texts: BTreeMap<PathBuf, String>,
}

impl InMemory {
    pub fn new() -> InMemory {
        InMemory::default()
    }

    /// The same with one more file.
    pub fn with(mut self, path: impl AsRef<Path>, text: impl Into<String>) -> InMemory {
        self.texts.insert(normal(path.as_ref()), text.into());
        self
    }
}

impl Files for InMemory {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.texts.get(&normal(path)).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.texts.contains_key(&normal(path))
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        normal(path)
    }
}

/// A path without `.` and, as far as that is possible, without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => drop(normal.pop()),
            Component::ParentDir | Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                normal.push(part);
            }
        }
    }
    normal
}
