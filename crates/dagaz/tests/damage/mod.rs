//! Damaged programs, and what the front end makes of them.

use std::path::Path;
use std::time::{Duration, Instant};

use dagaz::Failure;
use dagaz_syntax::{FileId, token_spans};

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(20);

/// A program with something wrong, and what that is.
pub struct Mutation {
    pub what: String,
    pub text: String,
}

/// All prefixes, and each token left out or written twice.
pub fn mutations(text: &str) -> impl Iterator<Item = Mutation> + '_ {
    let prefixes = text
        .char_indices()
        .map(|(end, _)| Mutation { what: format!("the first {end} bytes"), text: text[..end].to_owned() });
    let tokens = token_spans(FileId(0), text);
    let damaged = tokens.into_iter().flat_map(move |token| {
        let (start, end) = (token.start as usize, token.end as usize);
        let (before, itself, after) = (&text[..start], &text[start..end], &text[end..]);
        [
            Mutation { what: format!("without '{itself}' at {start}"), text: format!("{before}{after}") },
            Mutation {
                what: format!("'{itself}' twice at {start}"),
                text: format!("{before}{itself} {itself}{after}"),
            },
        ]
    });
    prefixes.chain(damaged)
}

/// What goes wrong with a program, unless it reaches verified Core or is rejected by a diagnostic, in time.
pub fn problem_with(text: &str, directory: &Path) -> Option<String> {
    let start = Instant::now();
    match dagaz::compile::compile_source_in("damaged.fut", text, directory) {
        Ok(compiled) => {
            if let Err(failure) = dagaz::compile::verify(compiled.core()) {
                return Some(failure.summary());
            }
        }
        Err(Failure::Internal(message)) => return Some(message),
        Err(Failure::Rejected { diagnostics, .. }) => {
            if let Some(ours) = diagnostics.iter().find(|d| d.code.starts_with("internal")) {
                return Some(ours.message.clone());
            }
        }
        Err(Failure::Unreadable { .. }) => {}
    }
    let time = start.elapsed();
    (time > LIMIT).then(|| format!("took {:.1} s", time.as_secs_f64()))
}
