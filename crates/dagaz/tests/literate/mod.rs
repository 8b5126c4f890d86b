//! Expressions in pages and comments, with their values below them.

use dagaz::Compiled;
use dagaz::session::show_results;

/// What an expression starts with.
pub const PROMPT: &str = "> ";

/// The value of an entry point, or the error that its evaluation ends with.
pub fn value(program: &Compiled, entry: &str) -> String {
    let results = program.session().call(entry, Vec::new());
    let entry = program.entry(entry).expect("the entry point of an expression");
    match results {
        Ok(results) => show_results(entry, &results).join("\n"),
        Err(error) => format!("error: {}", error.message()),
    }
}
