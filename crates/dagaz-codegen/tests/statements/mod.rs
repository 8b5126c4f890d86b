//! The statements of generated code that are about memory.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::Expect;

/// Compares the statements that allocate or copy, or write elements.
pub fn check(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let matters = |line: &&str| {
        ["dz_alloc(", "dz_unique(", "dz_copy(", "memcpy(", "memset(", "_room[", "if (dz_is_unique("]
            .iter()
            .any(|word| line.contains(word))
            || line.contains("] = ") && !line.contains("dims[") && !line.contains("i32 sites_")
    };
    let lines: Vec<String> =
        text.lines().map(str::trim).filter(matters).map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&lines.concat());
}
