//! What passes make of a program, as files with Core in and Core out, in a folder for each pass.

use std::path::Path;

use dagaz_core::pass::Step::All;
use dagaz_core::pass::passes_of;
use dagaz_optimise::pipelines::{BEFORE_DERIVATIVES, CLEAN_UP, FOR_CPU, FOR_PEOPLE};

#[path = "../../dagaz-core/tests/folders/mod.rs"]
mod folders;

#[test]
fn core_files() {
    let passes = passes_of(&[All(CLEAN_UP), All(BEFORE_DERIVATIVES), All(FOR_PEOPLE), All(FOR_CPU)]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    folders::check(&root, 190, &passes);
    for pass in passes {
        let has_tests = std::fs::read_dir(root.join(pass.name)).is_ok_and(|mut files| files.next().is_some());
        assert!(has_tests, "the pass {} has a folder of tests", pass.name);
    }
}
