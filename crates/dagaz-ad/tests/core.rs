//! What differentiation makes of a program, as files with Core in and Core out. Forward mode leaves dead statements.

use std::path::Path;

use dagaz_ad::DIFFERENTIATE;

#[path = "../../dagaz-core/tests/folders/mod.rs"]
mod folders;

#[test]
fn core_files() {
    folders::check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), 40, &[&DIFFERENTIATE]);
}
