//! Maps that are taken out of the programs of this repository come back, or the program is rejected.

mod consistency;

use std::collections::BTreeMap;
use std::path::Path;

use consistency::{Verdict, programs, remove_maps};
use expect_test::{Expect, expect};

/// Takes out all maps, one at a time, of all programs in some folders: how often each thing happens, and every program that
/// becomes another one.
fn check(folders: &[&str], expect: Expect) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths: Vec<_> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut tally: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut out = String::new();
    let mut accepted = 0;
    for path in programs(&paths) {
        let Some(removals) = remove_maps(&path) else { continue };
        accepted += 1;
        for removal in removals {
            *tally.entry(removal.verdict).or_default() += 1;
            if matches!(removal.verdict, Verdict::Plain | Verdict::Different | Verdict::NotExplicit) {
                let name = path.strip_prefix(&root).unwrap_or(&path);
                out.push_str(&format!("{}: {:?}: {}\n", name.display(), removal.verdict, removal.text));
            }
        }
    }
    out.push_str(&format!("{accepted} programs\n"));
    out.extend(tally.iter().map(|(verdict, count)| format!("{count:4} {verdict:?}\n")));
    expect.assert_eq(&out);
}

#[test]
fn examples_and_benchmarks() {
    check(
        &["examples", "benches"],
        expect![[r#"
        51 programs
         145 SameCore
           1 SameResults
          12 Ambiguous
           3 Rejected
    "#]],
    );
}

#[test]
fn tests_of_the_prelude() {
    check(
        &["prelude/tests"],
        expect![[r#"
        8 programs
          18 SameCore
           1 Ambiguous
    "#]],
    );
}
