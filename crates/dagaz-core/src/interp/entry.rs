//! Calling entry points: sizes are read off the arguments, and every other size is checked.

use std::collections::HashMap;

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
        let mut all = entry_sizes(entry, fun, &args).map_err(RuntimeError::new)?;
        all.extend(args);
        let mut results = self.call_fun(entry.fun, all)?;
        Ok(results.split_off(entry.size_results.min(results.len())))
    }
}

/// The values of the leading size parameters, read off the arguments. Every other size is checked.
pub fn entry_sizes(entry: &Entry, fun: &Fun, args: &[Value]) -> Result<Vec<Value>, String> {
    let (size_params, params) = fun.params.split_at(entry.size_params.min(fun.params.len()));
    if params.len() != args.len() {
        return Err(format!(
            "entry point '{}' takes {} values but got {}",
            entry.name,
            params.len(),
            args.len()
        ));
    }
    let mut known: HashMap<VarId, i64> = HashMap::new();
    for (position, (param, arg)) in params.iter().zip(args).enumerate() {
        let name = param_name(entry, position);
        check_kind(&name, &param.ty, arg)?;
        for (axis, (dim, &actual)) in param.ty.dims().iter().zip(arg.shape()).enumerate() {
            let actual = actual as i64;
            let expected = match dim {
                Atom::Const(prim) => prim.as_i64(),
                Atom::Var(var) if size_params.iter().any(|p| p.var == *var) => {
                    Some(*known.entry(*var).or_insert(actual))
                }
                // A size that is an explicit argument.
                Atom::Var(var) => params
                    .iter()
                    .position(|p| p.var == *var)
                    .and_then(|at| args[at].as_prim())
                    .and_then(Prim::as_i64),
            };
            if expected.is_some_and(|expected| expected != actual) {
                let shape = arg.type_text();
                let expected = expected.unwrap_or(0);
                return Err(format!(
                    "{name} has type {shape}, but dimension {axis} must have size {expected}"
                ));
            }
        }
    }
    let read = size_params.iter().map(|p| {
        let size = known.get(&p.var).copied();
        let missing =
            || format!("entry point '{}' has a size that its arguments do not determine", entry.name);
        size.map(|n| Value::Prim(Prim::I64(n))).ok_or_else(missing)
    });
    read.collect()
}

fn check_kind(name: &str, ty: &Type, arg: &Value) -> Result<(), String> {
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
    Err(format!("{name} has type {}, but {wanted} is expected", arg.type_text()))
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
