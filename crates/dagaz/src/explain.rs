//! A page for every error code, as `dagaz explain-error` shows it.

/// The page of a code.
pub fn explain(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(_, page)| *page)
}

/// All codes that have a page.
pub fn codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}

const PAGES: &[(&str, &str)] = &[];
