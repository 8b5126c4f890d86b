//! Takes the maps of programs out, one at a time, and shows what becomes of them.
//!
//! ```text
//! cargo run --release -p dagaz --example consistency -- examples benches
//! ```

#[path = "../tests/consistency/mod.rs"]
mod consistency;

use std::collections::BTreeMap;
use std::path::PathBuf;

use consistency::{Verdict, programs, remove_maps};

fn main() {
    let paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let mut tally: BTreeMap<Verdict, usize> = BTreeMap::new();
    let (mut accepted, mut skipped) = (0, 0);
    for path in programs(&paths) {
        let Some(removals) = remove_maps(&path) else {
            skipped += 1;
            continue;
        };
        accepted += 1;
        for removal in removals {
            *tally.entry(removal.verdict).or_default() += 1;
            if matches!(removal.verdict, Verdict::Plain | Verdict::Different | Verdict::NotExplicit) {
                println!("{}:{}: {:?}: {}", path.display(), removal.line, removal.verdict, removal.text);
            }
        }
    }
    println!("{accepted} programs, {skipped} left out");
    for (verdict, count) in tally {
        println!("{count:6} {verdict:?}");
    }
}
