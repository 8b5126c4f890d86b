//! A page for every error code.
pub fn explain(_code: &str) -> Option<&'static str> { None }
