//! Whether the functions of entry points take and give what the entry points promise to their callers.
//!
//! This is cheap, and what it finds would otherwise be seen as a program that lost its parameters or results. So it is checked in
//! every build, and not only where the whole program is verified.

use crate::exp::{Body, Entry, EntryType, Fun, Loc, Program};
use crate::types::{Param, Type};
use crate::verify::VerifyError;

/// What is wrong with the signatures of entry points. Sizes are left to the verifier: they have names of their own here.
pub fn entry_points(program: &Program) -> Vec<VerifyError> {
    let error = |entry: &Entry, message: String| VerifyError {
        message,
        fun: format!("entry point {}", entry.name),
        stm: String::new(),
        loc: Loc::NONE,
    };
    let mut errors = Vec::new();
    for entry in &program.entries {
        let Some(fun) = program.fun(entry.fun) else {
            errors.push(error(entry, "there is no such function".to_owned()));
            continue;
        };
        errors.extend(signature(entry, fun).into_iter().map(|message| error(entry, message)));
    }
    errors
}

fn signature(entry: &Entry, fun: &Fun) -> Vec<String> {
    let mut errors = Vec::new();
    let params = entry.params.iter().flat_map(|param| core_types(&param.ty)).collect();
    compare("parameters", entry.size_params, params, &fun.params, &mut errors);
    let results = entry.results.iter().flat_map(core_types).collect();
    compare("results", entry.size_results, results, &fun.ret, &mut errors);
    let Body { result, .. } = &fun.body;
    if result.len() != fun.ret.len() {
        errors.push(format!("{} values for {} results", result.len(), fun.ret.len()));
    }
    errors
}

fn core_types(ty: &EntryType) -> Vec<&Type> {
    match ty {
        EntryType::Value { ty, .. } => vec![ty],
        EntryType::Opaque { types, .. } => types.iter().collect(),
    }
}

/// Sizes come first, and then values of the element types and ranks that were promised.
fn compare(what: &str, sizes: usize, promised: Vec<&Type>, own: &[Param], errors: &mut Vec<String>) {
    if sizes + promised.len() != own.len() {
        errors.push(format!("{} values for {} {what}", promised.len(), own.len()));
        return;
    }
    let wrong_sizes = own[..sizes].iter().filter(|param| param.ty != Type::I64);
    errors.extend(wrong_sizes.map(|_| format!("a size among the {what} that is not an i64")));
    for (i, (promised, own)) in promised.into_iter().zip(&own[sizes..]).enumerate() {
        if (promised.elem(), promised.rank()) != (own.ty.elem(), own.ty.rank()) {
            errors.push(format!("another type than was promised for value {i} of the {what}"));
        }
    }
}
