//! The derivative of an entry point as a program of its own: what `dagaz grad` does.
//!
//! ```text
//! entry f [n] (xs: [n]f64) : f64     ==>     entry f_grad [n] (xs: [n]f64) : [n]f64
//! ```
//!
//! For a result that is not one floating-point number, the new entry point takes how much each part of it
//! matters, too.

use std::path::Path;

use dagaz_core::exp::{Entry, EntryParam, EntryType, Program};
use dagaz_core::types::Type;

use crate::compile::{self, Failure, Settings};
use crate::derived::{self, Derivative, is_float};
use crate::source;

/// Why there is no such program.
pub enum NoGradient {
    Failure(Failure),
    /// A sentence about the question itself.
    Refused(String),
}

impl From<Failure> for NoGradient {
    fn from(failure: Failure) -> NoGradient {
        NoGradient::Failure(failure)
    }
}

/// The derivative of an entry point with respect to the parameters of these names; without any, to all that contain
/// floating-point numbers.
pub fn gradient(path: &Path, entry: &str, wrt: &[String]) -> Result<String, NoGradient> {
    let lowered = compile::lower_file(path, entry, &Settings::plain())?;
    let question = |core: &Program| add_gradient(core, entry, wrt);
    let core = question(&lowered.core).map_err(NoGradient::Refused)?;
    let core = lowered.with_core(core).expand()?;
    let title = match wrt {
        [] => format!("The derivative of {entry}."),
        _ => format!("The derivative of {entry} with respect to {}.", wrt.join(", ")),
    };
    let program = Program::clone(core.core());
    source::print(program, &title).map_err(|what| {
        NoGradient::Refused(format!(
            "the derivative of {entry} contains {what}, and cannot be shown as a program"
        ))
    })
}

/// What the user calls a parameter, and its leaves among the parameters of the Core function.
struct Given<'a> {
    name: &'a str,
    leaves: Vec<usize>,
}

fn add_gradient(core: &Program, name: &str, wrt: &[String]) -> Result<Program, String> {
    let mut core = core.clone();
    let (entry, fun) = derived::find(&core, name)?;
    let mut next = entry.size_params;
    let mut given = Vec::new();
    for param in &entry.params {
        let leaves = (next..next + param.ty.arity()).collect();
        next += param.ty.arity();
        given.push(Given { name: &param.name, leaves });
    }
    if !fun.ret.iter().any(|p| is_float(&p.ty)) {
        return Err(format!("the result of {name} contains no floating-point numbers"));
    }
    let mut chosen = Vec::new();
    for wanted in wrt {
        let param = given.iter().find(|g| g.name == wanted).ok_or_else(|| {
            let names: Vec<&str> = given.iter().map(|g| g.name).collect();
            format!("{name} has no parameter {wanted}; its parameters are {}", names.join(", "))
        })?;
        let floats: Vec<usize> =
            param.leaves.iter().copied().filter(|i| is_float(&fun.params[*i].ty)).collect();
        if floats.is_empty() {
            return Err(format!("the parameter {wanted} contains no floating-point numbers"));
        }
        chosen.extend(floats);
    }
    if wrt.is_empty() {
        let all = given.iter().flat_map(|g| &g.leaves).copied();
        chosen = all.filter(|i| is_float(&fun.params[*i].ty)).collect();
        if chosen.is_empty() {
            return Err(format!("{name} has no parameter that contains floating-point numbers"));
        }
    }
    let kind = if derived::is_single(&fun) { Derivative::Gradient } else { Derivative::Vjp };
    let mut derivative = derived::function(&mut core, entry.fun, &fun, &chosen, kind);
    derivative.name = format!("{}_grad", entry.name);
    let value = |ty: &Type| EntryType::Value { name: String::new(), ty: ty.clone() };
    let weights = derivative.params[fun.params.len()..].iter();
    let weights =
        weights.map(|p| EntryParam { name: "result_ct".to_owned(), ty: value(&p.ty), unique: false });
    core.entries = vec![Entry {
        name: derivative.name.clone(),
        fun: derived::next_fun(&core),
        params: entry.params.iter().cloned().chain(weights).collect(),
        results: derivative.ret.iter().map(|p| value(&p.ty)).collect(),
        ..entry
    }];
    core.funs.push(derivative);
    Ok(core)
}
