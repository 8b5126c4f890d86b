//! Damaged programs, and what the front end makes of them.

use std::path::Path;
use std::time::{Duration, Instant};

use dagaz::Failure;
use dagaz_syntax::{FileId, token_spans};

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(1);

/// A program with something wrong, and what that is.
pub struct Mutation {
    pub what: String,
    pub text: String,
}

#[derive(Debug)]
pub enum Verdict {
    /// It was compiled, or a diagnostic says why not.
    Fine,
    Slow(Duration),
    /// The compiler made a mistake.
    Broken(String),
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

/// Compiles and verifies.
pub fn try_program(text: &str, directory: &Path) -> Verdict {
    let start = Instant::now();
    let outcome = dagaz::compile::compile_source_in("damaged.fut", text, directory);
    let verified = match &outcome {
        Ok(compiled) => dagaz::compile::verify(compiled.core()),
        Err(Failure::Internal(message)) => return Verdict::Broken(message.clone()),
        Err(failure) if failure.summary().contains("internal") => {
            return Verdict::Broken(failure.summary());
        }
        Err(Failure::Rejected { .. } | Failure::Unreadable { .. }) => Ok(()),
    };
    let time = start.elapsed();
    match verified {
        Err(failure) => Verdict::Broken(failure.summary()),
        Ok(()) if time > LIMIT => Verdict::Slow(time),
        Ok(()) => Verdict::Fine,
    }
}
