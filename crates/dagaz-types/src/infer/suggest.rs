//! What a name that means nothing was perhaps meant to be.

use std::collections::BTreeSet;

use dagaz_syntax::Name;

use super::Infer;
use crate::env::{Env, Module};

/// Modules of numbers, the usual ones first: what several modules have is proposed from the first of these.
const USUAL_MODULES: [&str; 3] = ["f64", "i64", "f32"];

impl Infer<'_> {
    /// What to write in place of a variable that is not in scope: the same name where it is defined, or one in scope that
    /// is close to it.
    pub(super) fn suggestion(&self, name: Name) -> Option<String> {
        if self.cx.later.iter().any(|(later, _)| *later == name) {
            return Some(format!(
                "\"{name}\" is defined further down, and a definition can only be used after it"
            ));
        }
        if let Some(path) = self.in_module(name) {
            return Some(format!("did you mean \"{path}\"?"));
        }
        let globals = self.frames.iter().flat_map(|f| f.values.keys());
        let locals = self.locals.iter().filter(|(_, s)| !s.is_empty()).map(|(n, _)| n);
        let similar = most_similar(name, globals.chain(locals).copied())?;
        Some(format!("did you mean \"{similar}\"?"))
    }

    /// The name in a module that is in scope and has it.
    fn in_module(&self, name: Name) -> Option<String> {
        let has = |module: &Module| match module {
            Module::Struct(env) => env.values.contains_key(&name),
            Module::Functor(_) | Module::Poisoned => false,
        };
        let modules = |frame: &Env| -> Vec<String> {
            frame.modules.iter().filter(|(_, m)| has(m)).map(|(n, _)| n.to_string()).collect()
        };
        let found: BTreeSet<String> = self.frames.iter().flat_map(modules).collect();
        let usual = USUAL_MODULES.iter().find(|usual| found.contains(**usual)).map(|usual| usual.to_string());
        let module = usual.or_else(|| found.into_iter().next())?;
        let name = if name.is_symbol() { format!("({name})") } else { name.to_string() };
        Some(format!("{module}.{name}"))
    }
}

/// The candidate closest to a misspelt name, if one is close.
pub(super) fn most_similar(name: Name, candidates: impl Iterator<Item = Name>) -> Option<Name> {
    let text = name.as_str();
    // One letter in three may be wrong, but not the only two.
    let limit = match text.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    candidates
        .filter(|c| !c.is_symbol() && !name.is_symbol() && *c != name)
        .map(|c| (edit_distance(text, c.as_str()), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, c)| (*d, c.as_str().to_owned()))
        .map(|(_, c)| c)
}

/// How many letters have to be put in, left out, replaced or swapped with their neighbours.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
