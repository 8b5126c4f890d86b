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
    "alias-free-variable",
    "aliases-previously-returned",
    "ambiguous-index",
    "ambiguous-map",
    "ambiguous-size",
    "ambiguous-type",
    "anonymous-size",
    "argument-aliases",
    "array-equality",
    "bad-entry-point",
    "bad-literal",
    "bad-size",
    "cannot-refine",
    "causality",
    "chain-too-long",
    "consuming-argument",
    "consuming-function",
    "consuming-loop-param-aliases",
    "contains-consumption",
    "defaulted-type",
    "duplicate-definition",
    "duplicate-name",
    "entry-in-module",
    "file-too-large",
    "functional-derivative",
    "gradient-of-many",
    "import-cycle",
    "index-type-in-functor",
    "internal",
    "internal-error",
    "intrinsics",
    "irregular-array",
    "lifted-type",
    "literal-out-of-range",
    "loop-parameter-aliases-other",
    "loop-uses-consumed",
    "loop-without-init",
    "missing-import",
    "missing-module",
    "missing-type",
    "missing-value",
    "module-mismatch",
    "nested-too-deeply",
    "not-a-bijection",
    "not-a-function",
    "not-a-parametric-module",
    "not-a-type-constructor",
    "not-a-value",
    "not-an-index",
    "not-constructive",
    "not-consumable",
    "not-futhark",
    "not-linear",
    "not-yet",
    "parametric-module",
    "recursion-higher-order",
    "refutable-pattern",
    "reserved-operator",
    "return-aliased",
    "scope-violation",
    "self-aliasing-arg",
    "shadowed-type",
    "size-expression-bind",
    "size-mismatch",
    "slice-of-index-set",
    "split-index",
    "syntax-error",
    "too-many-constructors",
    "two-dots-range",
    "type-mismatch",
    "unclear-sequence",
    "underscore-use",
    "unique-return-aliased",
    "unknown-character",
    "unknown-import",
    "unknown-name",
    "unknown-size",
    "unmatched-cases",
    "unreachable-case",
    "unterminated-string",
    "unused-size",
    "unused-size-parameter",
    "update-value-aliases",
    "use-after-consume",
    "useless-uniqueness",
    "wrong-index",
    "wrong-type-arguments",
];
