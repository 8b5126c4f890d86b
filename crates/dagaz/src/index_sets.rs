//! Declared index types are tried out when they are declared: for some small sizes, the index of every number must have
//! that number.

use std::sync::Arc;

use dagaz_core::interp::Interpreter;
use dagaz_core::prim::Prim;
use dagaz_core::value::Value;
use dagaz_simplify::Parameters;
use dagaz_syntax::{Diagnostic, Name, SourceMap, Span};
use dagaz_types::typed::{IndexCheck, Program};

/// Sizes to try, by the number of parameters.
fn sizes_to_try(parameters: usize) -> Vec<Vec<i64>> {
    let some: &[i64] = match parameters {
        0 | 1 => &[0, 1, 2, 3, 5, 8, 12],
        2 => &[0, 1, 2, 3, 5],
        _ => &[1, 2, 3],
    };
    (0..parameters.min(6)).fold(vec![Vec::new()], |all, _| {
        all.iter().flat_map(|sizes| some.iter().map(move |n| [sizes.as_slice(), &[*n]].concat())).collect()
    })
}

/// What is wrong with the index types that a program declares.
pub(crate) fn check(program: &Program, sources: &SourceMap) -> Vec<Diagnostic> {
    if program.index_checks.is_empty() {
        return Vec::new();
    }
    let entries = program.index_checks.iter().map(|check| check.entry).collect();
    let checks = Program { entries, ..program.clone() };
    let core = match dagaz_simplify::simplify_with(&checks, sources, &Parameters::new()) {
        Ok(simplified) => Arc::new(simplified.core),
        Err(errors) => return errors,
    };
    let mut found = Vec::new();
    for (check, entry) in program.index_checks.iter().zip(&core.entries) {
        let fault = sizes_to_try(check.sizes.len()).into_iter().find_map(|sizes| {
            let args = sizes.iter().map(|n| Value::Prim(Prim::I64(*n))).collect();
            let result = Interpreter::shared(core.clone()).call_fun(entry.fun, args);
            match result.as_deref() {
                Ok([Value::Prim(Prim::I64(-1)), _]) => None,
                Ok([Value::Prim(Prim::I64(number)), Value::Prim(Prim::I64(other))]) => {
                    Some(not_a_bijection(check, &sizes, *number, *other))
                }
                Ok(_) => None,
                Err(error) => Some(failing(check, &sizes, &error.to_string())),
            }
        });
        found.extend(fault);
    }
    found
}

/// `with n = 2 and m = 3, `
fn with_sizes(check: &IndexCheck, sizes: &[i64]) -> String {
    let parts: Vec<String> =
        check.sizes.iter().zip(sizes).map(|(name, value)| format!("{name} = {value}")).collect();
    if parts.is_empty() { String::new() } else { format!("with {}, ", parts.join(" and ")) }
}

fn place(check: &IndexCheck, function: &str) -> Option<Span> {
    check.functions.iter().find(|(name, _)| *name == Name::new(function)).map(|(_, span)| *span)
}

fn not_a_bijection(check: &IndexCheck, sizes: &[i64], number: i64, other: i64) -> Diagnostic {
    let with = with_sizes(check, sizes);
    if number == 0 && other < 0 {
        let message = format!("\"{}\" is not an index type: {with}its size is {other}", check.name);
        let diagnostic = Diagnostic::error("not-a-bijection", check.span, message);
        return place(check, "size").into_iter().fold(diagnostic, |d, span| d.label(span, "the size"));
    }
    let message = format!(
        "\"{}\" is not an index type: {with}\"from_ordinal {number}\" is an index whose ordinal is {other}",
        check.name
    );
    let mut diagnostic = Diagnostic::error("not-a-bijection", check.span, message);
    for (function, what) in
        [("from_ordinal", "makes the index"), ("ordinal", "should undo that, and give back the number")]
    {
        if let Some(span) = place(check, function) {
            diagnostic = diagnostic.label(span, what);
        }
    }
    diagnostic.help("every number below the size needs an index of its own, and every index its number")
}

fn failing(check: &IndexCheck, sizes: &[i64], error: &str) -> Diagnostic {
    let with = with_sizes(check, sizes);
    let message = format!("\"{}\" is not an index type: {with}its functions fail", check.name);
    Diagnostic::error("not-a-bijection", check.span, message).help(error.to_owned())
}
