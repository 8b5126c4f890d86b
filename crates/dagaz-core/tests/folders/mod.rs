//! Tests of passes as files: every `.core` file in the folders beside a test, which are named after what they are about
//! ([`dagaz_core::pass::filetest`]). `UPDATE_EXPECT=1 cargo test` rewrites expectations.

use std::path::{Path, PathBuf};

use dagaz_core::pass::{Pass, filetest};

/// Runs all files below a folder, of which there are so many at least.
pub fn check(root: &Path, at_least: usize, passes: &[&'static Pass]) {
    let folders = entries(root).into_iter().filter(|path| path.is_dir());
    let files: Vec<PathBuf> = folders.flat_map(|folder| entries(&folder)).collect();
    assert!(files.len() >= at_least, "the folders have test files");
    let mut faults = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a readable test file");
        match filetest::answered(&text, passes) {
            Ok(answered) => expect_test::expect_file![&path].assert_eq(&answered),
            Err(fault) => {
                faults.push(format!("{}: {fault}", path.strip_prefix(root).unwrap_or(&path).display()))
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).expect("a folder of tests");
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.expect("an entry of the folder").path()).collect();
    paths.sort();
    paths
}
