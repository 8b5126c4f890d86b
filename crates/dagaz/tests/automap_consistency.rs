//! Maps that are taken out of the programs of this repository come back, or the program is rejected.

mod consistency;

use std::path::Path;

use consistency::{Removal, Verdict, programs, remove_maps};
use expect_test::{Expect, expect};

/// Takes out all maps, one at a time, of all programs in some folders, and lists those that become another program. There
/// must be at least so many programs, and so many maps that come back.
fn check(folders: &[&str], at_least: (usize, usize), expect: Expect) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths: Vec<_> = folders.iter().map(|folder| root.join(folder)).collect();
    let (mut accepted, mut found) = (0, 0);
    let mut out = String::new();
    for path in programs(&paths) {
        let Some(removals) = remove_maps(&path) else { continue };
        accepted += 1;
        for removal in removals {
            match removal.verdict {
                Verdict::SameCore | Verdict::SameResults => found += 1,
                Verdict::Ambiguous | Verdict::Rejected => {}
                Verdict::Plain | Verdict::Different | Verdict::NotExplicit => {
                    let name = path.strip_prefix(&root).unwrap_or(&path);
                    let Removal { line, text, verdict } = removal;
                    out.push_str(&format!("{}:{line}: {verdict:?}: {text}\n", name.display()));
                }
            }
        }
    }
    assert!(
        accepted >= at_least.0 && found >= at_least.1,
        "{accepted} programs, {found} maps that come back"
    );
    expect.assert_eq(&out);
}

#[test]
fn examples_and_benchmarks() {
    check(&["examples", "benches"], (50, 140), expect![""]);
}

#[test]
fn tests_of_the_prelude() {
    check(&["prelude/tests"], (8, 15), expect![""]);
}
