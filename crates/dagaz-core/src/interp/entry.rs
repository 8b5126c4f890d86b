//! Calling entry points: sizes are read off the arguments, and every other size is checked.

use crate::argument::Argument;
use crate::exp::{Entry, Fun};
use crate::prim::Prim;
use crate::types::{Atom, Type, VarId};
use crate::value::Value;

use super::{Interpreter, RuntimeError};

impl Interpreter {
    /// Runs an entry point on Core values: as many per parameter as [`crate::exp::EntryType::arity`] says.
    /// The result is flat in the same way.
    pub fn call_entry(&mut self, name: &str, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        let program = self.program.clone();
        let Some(entry) = program.entries.iter().find(|e| e.name == name) else {
            let known: Vec<&str> = program.entries.iter().map(|e| e.name.as_str()).collect();
            return Err(RuntimeError::new(format!(
                "no entry point '{name}'; there are: {}",
                known.join(", ")
            )));
        };
        let Some(fun) = program.fun(entry.fun) else {
            return Err(RuntimeError::new(format!("internal error: entry point '{name}' has no function")));
        };
        let args: Vec<Argument<'_>> = args.into_iter().map(Argument::from).collect();
        let sizes = entry_sizes(entry, fun, &args).map_err(RuntimeError::new)?;
        let sizes = sizes.into_iter().map(Value::Prim);
        let all = sizes.chain(args.into_iter().map(Argument::into_value)).collect();
        let mut results = self.call_fun(entry.fun, all)?;
        Ok(results.split_off(entry.size_results.min(results.len())))
    }
}

/// The values of the leading size parameters, read off the arguments. Every other size is checked.
pub fn entry_sizes(entry: &Entry, fun: &Fun, args: &[Argument<'_>]) -> Result<Vec<Prim>, String> {
    let (size_params, params) = fun.params.split_at(entry.size_params.min(fun.params.len()));
    if params.len() != args.len() {
        return Err(format!(
            "entry point '{}' takes {} values but got {}",
            entry.name,
            params.len(),
            args.len()
        ));
    }
    let mut known: Vec<Option<i64>> = vec![None; size_params.len()];
    let number = |var: VarId| size_params.iter().position(|p| p.var == var);
    for (position, (param, arg)) in params.iter().zip(args).enumerate() {
        let name = || param_name(entry, position);
        check_kind(name, &param.ty, arg)?;
        for (axis, (dim, &actual)) in param.ty.dims().iter().zip(arg.shape()).enumerate() {
            let actual = actual as i64;
            let expected = match dim {
                Atom::Const(prim) => prim.as_i64(),
                Atom::Var(var) => match number(*var) {
                    Some(number) => Some(*known[number].get_or_insert(actual)),
                    // A size that is an explicit argument.
                    None => params
                        .iter()
                        .position(|p| p.var == *var)
                        .and_then(|at| args[at].as_prim())
                        .and_then(Prim::as_i64),
                },
            };
            if expected.is_some_and(|expected| expected != actual) {
                let shape = arg.type_text();
                let expected = expected.unwrap_or(0);
                return Err(format!(
                    "{} has type {shape}, but dimension {axis} must have size {expected}",
                    name()
                ));
            }
        }
    }
    let read = known.into_iter().map(|size| {
        let missing =
            || format!("entry point '{}' has a size that its arguments do not determine", entry.name);
        size.map(Prim::I64).ok_or_else(missing)
    });
    read.collect()
}

fn check_kind(name: impl Fn() -> String, ty: &Type, arg: &Argument<'_>) -> Result<(), String> {
    let matches = match ty {
        Type::Prim(prim) => arg.as_prim().is_some_and(|p| p.ty() == *prim),
        Type::Array { elem, dims } => arg.elem_type() == *elem && arg.shape().len() == dims.len(),
        Type::Acc { .. } => false,
    };
    if matches {
        return Ok(());
    }
    let wanted = match ty.elem() {
        Some(elem) => format!("{}{elem}", "[]".repeat(ty.rank())),
        None => "an accumulator".to_string(),
    };
    Err(format!("{} has type {}, but {wanted} is expected", name(), arg.type_text()))
}

/// How messages call the Core value at a position: by the user's parameter that it belongs to.
fn param_name(entry: &Entry, position: usize) -> String {
    let mut end = 0;
    for param in &entry.params {
        end += param.ty.arity();
        if position < end {
            return format!("argument '{}'", param.name);
        }
    }
    format!("argument {position}")
}
