//! `docs/ARCHITECTURE.md` says what is there: the crates and who uses whom, the dependencies, files and functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn page() -> String {
    read(&root().join("docs/ARCHITECTURE.md"))
}

fn captures(pattern: &str, text: &str) -> Vec<Vec<String>> {
    let regex = Regex::new(pattern).expect("a regular expression");
    let groups = |found: regex::Captures<'_>| {
        found.iter().skip(1).map(|g| g.map_or(String::new(), |g| g.as_str().to_owned())).collect()
    };
    regex.captures_iter(text).map(groups).collect()
}

/// The section of the page below a heading.
fn section(heading: &str) -> String {
    let page = page();
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no '{heading}'"));
    rest.split("\n## ").next().unwrap_or("").to_owned()
}

/// The dependencies of every crate, those for tests alone left out.
fn manifests() -> BTreeMap<String, BTreeSet<String>> {
    let mut crates = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let manifest = read(&path.join("Cargo.toml"));
        let (_, rest) = manifest.split_once("[dependencies]\n").expect("dependencies");
        let lines = rest.lines().take_while(|line| !line.starts_with('['));
        let names =
            lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|name| !name.is_empty());
        crates.insert(name, names.map(str::to_owned).collect());
    }
    crates
}

/// The crates named in a cell of a table.
fn names(cell: &str) -> BTreeSet<String> {
    captures("`([a-z-]+)`", cell).into_iter().map(|groups| groups[0].clone()).collect()
}

#[test]
fn crates_and_who_uses_whom() {
    let mut described = BTreeMap::new();
    for row in captures(r"(?m)^\| `(dagaz[a-z-]*)` \|[^|]*\|([^|]*)\|$", &section("The crates")) {
        described.insert(row[0].clone(), names(&row[1]));
    }
    let manifests = manifests();
    let known: BTreeSet<&String> = manifests.keys().collect();
    let inner = |all: &BTreeSet<String>| all.iter().filter(|name| known.contains(name)).cloned().collect();
    let actual: BTreeMap<String, BTreeSet<String>> =
        manifests.iter().map(|(name, all)| (name.clone(), inner(all))).collect();
    assert_eq!(described, actual, "the table of crates (left) against crates/*/Cargo.toml (right)");
    for name in manifests.keys() {
        assert!(page().contains(&format!("\n### `{name}`\n")), "no paragraph about {name}");
    }
}

#[test]
fn dependencies_and_their_reasons() {
    let mut described = BTreeMap::new();
    for row in captures(r"(?m)^\| `([a-z0-9_-]+)` \|([^|]*)\|[^|]+\|$", &section("Dependencies")) {
        described.insert(row[0].clone(), names(&row[1]));
    }
    let manifests = manifests();
    let mut actual: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, dependencies) in &manifests {
        for dependency in dependencies.iter().filter(|dependency| !manifests.contains_key(*dependency)) {
            actual.entry(dependency.clone()).or_default().insert(name.clone());
        }
    }
    assert_eq!(described, actual, "the table of dependencies (left) against crates/*/Cargo.toml (right)");
}

#[test]
fn files_exist() {
    let paths = captures(r"`((?:crates|prelude|docs|examples|\.ci)/[A-Za-z0-9_./-]*)`", &page());
    assert!(paths.len() > 20, "the page names only {} files", paths.len());
    for path in paths {
        assert!(root().join(&path[0]).exists(), "{} does not exist", path[0]);
    }
}

/// After a file, the names in parentheses are to be found in it: `file.rs` (`name`, `name`).
#[test]
fn names_are_in_the_files_that_are_said_to_have_them() {
    let mentions = captures(r"`((?:crates|prelude)/[A-Za-z0-9_./-]*)`\s+\((`[^)]*`)\)", &page());
    assert!(mentions.len() > 10, "the page has only {} places with names", mentions.len());
    for mention in mentions {
        let text = read(&root().join(&mention[0]));
        for name in captures("`([^`]+)`", &mention[1]) {
            assert!(text.contains(&name[0]), "there is no {} in {}", name[0], mention[0]);
        }
    }
}
