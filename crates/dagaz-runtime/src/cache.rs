//! The folder of compiled programs.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The oldest files go when there is more than this.
const MAX_BYTES: u64 = 1 << 30;

fn location() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("dagaz"))
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

/// Whether we alone can write there, and can.
fn is_private(folder: &Path) -> bool {
    let Ok(data) = std::fs::metadata(folder) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if data.permissions().mode() & 0o022 != 0 {
            return false;
        }
    }
    let probe = folder.join(format!("{}.probe", std::process::id()));
    let is_writable = data.is_dir() && std::fs::write(&probe, b"").is_ok();
    let _ = std::fs::remove_file(probe);
    is_writable
}

fn files(folder: &Path) -> Vec<(SystemTime, u64, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let with_data = entries.filter_map(|entry| {
        let data = entry.metadata().ok().filter(|data| data.is_file())?;
        Some((data.modified().ok()?, data.len(), entry.path()))
    });
    with_data.collect()
}

/// Removes the oldest files until the rest is small enough.
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
}

/// Removes all compiled programs, and says how many there were.
pub fn clear() -> std::io::Result<usize> {
    let Some(folder) = location().filter(|folder| folder.is_dir()) else { return Ok(0) };
    let files = files(&folder);
    for (_, _, path) in &files {
        std::fs::remove_file(path)?;
    }
    Ok(files.len())
}
