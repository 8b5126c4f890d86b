//! Damaged programs and extreme ones end in a diagnostic or success: no panic, no overflow, not much time.
//!
//! `examples/robustness.rs` tries as many programs with random damage as one has time for.

mod damage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dagaz_syntax::{FileId, token_spans};
use damage::{find, problem_with, random};

/// How long a program may take in an unoptimised build on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// A program with something wrong, and what that is.
struct Mutation {
    what: String,
    text: String,
}

/// All prefixes, and each token left out or written twice.
fn mutations(text: &str) -> impl Iterator<Item = Mutation> + '_ {
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

fn assert_fine(what: &str, text: &str) {
    assert_eq!(problem_with(text, Path::new(""), LIMIT), None, "{what}");
}

/// Every 7th of the mutations, which meets prefixes, omissions and repetitions alike.
fn attack(text: &str) {
    for mutation in mutations(text).step_by(7) {
        assert_fine(&mutation.what, &mutation.text);
    }
}

#[test]
fn damaged_functions() {
    attack(
        "def dot [n] (xs: [n]f64) (ys: [n]f64) : f64 = reduce (+) 0 (map2 (*) xs ys)\n\
         entry main [n][m] (a: [n][m]f64) (v: [m]f64) : [n]f64 = map (dot v) a\n",
    );
}

#[test]
fn damaged_modules() {
    attack(
        "module type monoid = { type t val zero : t val add : t -> t -> t }\n\
         module Sum (M: monoid) = { def sum [n] (xs: [n]M.t) = reduce M.add M.zero xs }\n\
         module S = Sum { type t = i32 def zero = 0i32 def add (x: t) (y: t) = x + y }\n\
         entry main (xs: []i32) = S.sum xs\n",
    );
}

#[test]
fn damaged_control() {
    attack(
        "type shape = #circle f32 | #square {side: f32}\n\
         def area (s: shape) = match s case #circle r -> r * r * 3 case #square {side} -> side * side\n\
         entry main (n: i64) (xs: *[n]f32) =\n\
         let ys = loop xs for i < n do xs with [i] = if i % 2 == 0 then area (#circle xs[i]) else 0\n\
         let (a, b) = (ys[0:n/2], ys[::-1])\n\
         in (length a, b, assert (n >= 0) (#[unsafe] ys[0]))\n",
    );
}

/// Programs of this repository with random damage.
#[test]
fn random_damage() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["examples", "prelude/tests", "crates/dagaz/tests/programs"] {
        find(&root.join(folder), &mut files);
    }
    files.sort();
    let corpus: Vec<String> = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    assert_eq!(corpus.len(), files.len());
    for seed in 0..300 {
        let (chosen, text) = random::damaged(&corpus, seed);
        let directory = files[chosen].parent().unwrap_or(Path::new(""));
        assert_eq!(problem_with(&text, directory, LIMIT), None, "seed {seed}:\n{text}");
    }
}

/// Programs that nest or repeat without end. They may be rejected.
#[test]
fn extreme_programs() {
    let n = 100_000;
    for (what, text) in [
        ("parentheses", format!("entry main = {}1{}", "(".repeat(n), ")".repeat(n))),
        ("open parentheses", format!("entry main = {}", "(".repeat(n))),
        ("brackets", format!("entry main = {}1{}", "[".repeat(n), "]".repeat(n))),
        ("negations", format!("entry main (x: bool) = {}x", "!".repeat(n))),
        ("minus signs", format!("entry main (x: i32) = {}x", "-".repeat(n))),
        ("array types", format!("entry main (x: {}i32) = x", "[]".repeat(n))),
        ("tuple types", format!("entry main (x: {}i32{}) = x", "(".repeat(n), ")".repeat(n))),
        ("additions", format!("entry main (x: i32) = x{}", " + x".repeat(n))),
        ("conditions", format!("entry main (x: bool) = {}x", "if x then x else ".repeat(n))),
        ("lambdas", format!("def f = {}1", "\\x -> ".repeat(n))),
        ("lets", format!("entry main (x: i32) ={} x", " let x = x + 1 in".repeat(n / 10))),
        ("records", format!("def f = {}1{}", "{a = ".repeat(n), "}".repeat(n))),
        ("modules", format!("module m = {}{}", "{ module m = ".repeat(n / 10), "}".repeat(n / 10))),
        ("attributes", format!("entry main = {}1", "#[a] ".repeat(n))),
        ("definitions", "def f x = x\n".repeat(n / 100)),
    ] {
        assert_fine(what, &text);
    }
}
