//! A page for every error code, as `dagaz explain-error` shows it.

/// The page of a code.
pub fn explain(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(_, page)| *page)
}

/// All codes that have a page.
pub fn codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}

/// The page of a code, which lies in a file of that name.
macro_rules! pages {
    ($($code:literal),* $(,)?) => {
        &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages![
    "ambiguous-type",
    "anonymous-size",
    "bad-entry-point",
    "bad-literal",
    "bad-size",
    "cannot-refine",
    "chain-too-long",
    "duplicate-definition",
    "duplicate-name",
    "entry-in-module",
    "file-too-large",
    "import-cycle",
    "internal",
    "internal-error",
    "lifted-type",
    "literal-out-of-range",
    "loop-without-init",
    "missing-import",
    "missing-module",
    "missing-type",
    "missing-value",
    "module-mismatch",
    "nested-too-deeply",
    "not-a-function",
    "not-a-parametric-module",
    "not-a-type-constructor",
    "not-a-value",
    "not-yet",
    "parametric-module",
    "reserved-operator",
    "scope-violation",
    "size-mismatch",
    "split-index",
    "syntax-error",
    "two-dots-range",
    "type-mismatch",
    "unknown-character",
    "unknown-import",
    "unknown-name",
    "unknown-size",
    "unterminated-string",
    "unused-size",
    "unused-size-parameter",
    "wrong-type-arguments",
];
