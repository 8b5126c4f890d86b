//! The folder of compiled programs.

use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The oldest files go when there is more than this.
const MAX_BYTES: u64 = 1 << 30;

/// Folders of compilers start with this.
const WORKSPACE: &str = "work-";
/// One that is older than this belongs to nobody any more.
const STALE: Duration = Duration::from_secs(3600);

/// What there is in the cache.
#[derive(Clone, Debug)]
pub struct CacheUse {
    pub folder: PathBuf,
    pub programs: usize,
    pub bytes: u64,
}

fn location() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = |below: &'static str| move || set("HOME").map(|home| home.join(below));
    let base = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("XDG_CACHE_HOME").or_else(home("Library/Caches"))
    } else {
        set("XDG_CACHE_HOME").or_else(home(".cache"))
    };
    Some(base?.join("dagaz"))
}

/// The folder, made if need be; none if it cannot be written, or if others could write to it.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = location()?;
    if !folder.is_dir() {
        make(&folder).ok()?;
    }
    is_private(&folder).then_some(folder)
}

#[cfg(unix)]
fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Whether it is a folder that others cannot write to.
fn is_private(folder: &Path) -> bool {
    let Ok(data) = std::fs::metadata(folder) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        data.is_dir() && data.permissions().mode() & 0o022 == 0
    }
    #[cfg(not(unix))]
    data.is_dir()
}

/// A new folder for a compiler to work in: in the cache, so that what it makes can be moved there in one step, or where
/// the system keeps temporary files.
pub(crate) fn workspace(cache: Option<&Path>) -> Result<tempfile::TempDir, String> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(WORKSPACE);
    let in_cache = cache.and_then(|folder| builder.tempdir_in(folder).ok());
    let in_system = || builder.prefix("dagaz-").tempdir();
    in_cache
        .map_or_else(in_system, Ok)
        .map_err(|error| format!("cannot make a folder for the C compiler: {error}"))
}

fn check_sum(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish().to_le_bytes()
}

/// Appends the check sum of a file, which loaders do not look at.
pub(crate) fn seal(path: &Path) -> Result<(), String> {
    let sealed = std::fs::read(path).and_then(|bytes| {
        let mut file = std::fs::OpenOptions::new().append(true).open(path)?;
        file.write_all(&check_sum(&bytes))
    });
    sealed.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Whether a file is there and as it was sealed.
pub(crate) fn is_whole(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else { return false };
    bytes.split_last_chunk().is_some_and(|(contents, sum)| check_sum(contents) == *sum)
}

fn files(folder: &Path) -> Vec<(SystemTime, u64, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let with_data = entries.filter_map(|entry| {
        let data = entry.metadata().ok().filter(|data| data.is_file())?;
        Some((data.modified().ok()?, data.len(), entry.path()))
    });
    with_data.collect()
}

/// Removes the oldest files until the rest is small enough, and what compilers have left that were killed.
pub(crate) fn shrink(folder: &Path) {
    let mut files = files(folder);
    files.sort();
    let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in files {
        if total <= MAX_BYTES {
            break;
        }
        if std::fs::remove_file(path).is_ok() {
            total -= size;
        }
    }
    remove_workspaces(folder, STALE);
}

fn remove_workspaces(folder: &Path, age: Duration) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_old = || {
            let modified = entry.metadata().and_then(|data| data.modified()).ok();
            modified.and_then(|time| time.elapsed().ok()).is_some_and(|passed| passed >= age)
        };
        if entry.file_name().to_string_lossy().starts_with(WORKSPACE) && is_old() {
            // Somebody else may have been faster.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes all compiled programs, and says how many there were.
pub fn clear() -> std::io::Result<usize> {
    let Some(folder) = location().filter(|folder| folder.is_dir()) else { return Ok(0) };
    let files = files(&folder);
    for (_, _, path) in &files {
        std::fs::remove_file(path)?;
    }
    remove_workspaces(&folder, STALE);
    Ok(files.len())
}

/// Where compiled programs are kept and how much room they take; nothing where there is no such place.
pub fn usage() -> Option<CacheUse> {
    let folder = location()?;
    let files = files(&folder);
    let bytes = files.iter().map(|(_, size, _)| size).sum();
    Some(CacheUse { folder, programs: files.len(), bytes })
}
