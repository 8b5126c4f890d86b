//! The derivative of an entry point as a program of its own: what `dagaz grad` does.
//!
//! ```text
//! entry f [n] (xs: [n]f64) : f64     ==>     entry f_grad [n] (xs: [n]f64) : [n]f64
//! ```
//!
//! For a result that is not one floating-point number, the new entry point takes how much each part of it
//! matters, too.

use std::collections::HashMap;
use std::path::Path;

use dagaz_core::exp::{Body, Entry, EntryParam, EntryType, Exp, Fun, Lambda, Loc, Program, Stm};
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

use crate::compile::{self, Failure, Settings};
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
    let entry = core.entries.iter().find(|e| e.name == name).cloned();
    let entry = entry.ok_or_else(|| format!("there is no entry point {name}"))?;
    let fun = core.fun(entry.fun).cloned().ok_or_else(|| format!("there is no function {name}"))?;
    if entry.size_results > 0 {
        return Err(format!("the sizes of the result of {name} are known only when it is computed"));
    }
    let mut next = entry.size_params;
    let mut given = Vec::new();
    for param in &entry.params {
        let leaves = (next..next + param.ty.arity()).collect();
        next += param.ty.arity();
        given.push(Given { name: &param.name, leaves });
    }
    let is_float = |ty: &Type| ty.elem().is_some_and(|e| e.is_float());
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
    let derivative = gradient_fun(&mut core, &entry, &fun, &chosen);
    let value = |ty: &Type| EntryType::Value { name: String::new(), ty: ty.clone() };
    let weights = derivative.params[fun.params.len()..].iter();
    let weights =
        weights.map(|p| EntryParam { name: "result_ct".to_owned(), ty: value(&p.ty), unique: false });
    core.entries = vec![Entry {
        name: derivative.name.clone(),
        fun: FunId(core.funs.len() as u32),
        params: entry.params.iter().cloned().chain(weights).collect(),
        results: derivative.ret.iter().map(|p| value(&p.ty)).collect(),
        ..entry
    }];
    core.funs.push(derivative);
    Ok(core)
}

/// The function that returns the adjoints of the chosen parameters.
fn gradient_fun(core: &mut Program, entry: &Entry, fun: &Fun, chosen: &[usize]) -> Fun {
    let mut renamed: HashMap<VarId, Atom> = HashMap::new();
    let fresh =
        |core: &mut Program, var: VarId, hint: &str, ty: &Type, renamed: &mut HashMap<VarId, Atom>| {
            let ty = ty.map_dims(&mut |d| d.as_var().and_then(|v| renamed.get(&v)).copied().unwrap_or(d));
            let param = Param { var: core.vars.fresh(hint), ty };
            renamed.insert(var, param.var.into());
            param
        };
    let hint_of = |core: &Program, var: VarId| core.vars.hint(var).to_owned();
    let mut params = Vec::new();
    for param in &fun.params {
        let hint = hint_of(core, param.var);
        params.push(fresh(core, param.var, &hint, &param.ty, &mut renamed));
    }
    let mut ret = Vec::new();
    let mut results = Vec::new();
    for result in &fun.ret {
        let ty = result.ty.map_dims(&mut |d| d.as_var().and_then(|v| renamed.get(&v)).copied().unwrap_or(d));
        results.push(Param { var: core.vars.fresh("result"), ty: ty.clone() });
        ret.push(ty);
    }
    let inner: Vec<Param> = chosen
        .iter()
        .map(|i| Param {
            var: core.vars.fresh(&hint_of(core, fun.params[*i].var)),
            ty: params[*i].ty.clone(),
        })
        .collect();
    let mut args: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
    for (i, param) in chosen.iter().zip(&inner) {
        args[*i] = param.var.into();
    }
    let loc = fun.loc;
    let call = Stm { pat: results.clone(), exp: Exp::Call { fun: entry.fun, args }, loc };
    let body = Body { stms: vec![call], result: results.iter().map(|p| p.var.into()).collect() };
    let lambda = Lambda { params: inner, body, ret: ret.clone() };
    let single = matches!(ret.as_slice(), [Type::Prim(ty)] if ty.is_float());
    let mut cotangents = Vec::new();
    for ty in &ret {
        cotangents.push(match ty {
            Type::Prim(prim) if single => Prim::one(*prim).into(),
            _ => {
                let param = Param { var: core.vars.fresh("result_ct"), ty: ty.clone() };
                params.push(param.clone());
                param.var.into()
            }
        });
    }
    let mut pat: Vec<Param> =
        ret.iter().map(|ty| Param { var: core.vars.fresh("result"), ty: ty.clone() }).collect();
    let mut adjoints = Vec::new();
    for i in chosen {
        let hint = format!("{}_adj", hint_of(core, fun.params[*i].var));
        let ty = params[*i].ty.clone();
        pat.push(Param { var: core.vars.fresh(&hint), ty: ty.clone() });
        adjoints.push(Param { var: core.vars.fresh(&hint), ty });
    }
    let args = chosen.iter().map(|i| params[*i].var.into()).collect();
    let result = pat[ret.len()..].iter().map(|p| p.var.into()).collect();
    let vjp = Stm { pat, exp: Exp::Vjp { lambda, args, cotangents }, loc: Loc::NONE };
    let name = format!("{}_grad", entry.name);
    Fun { name, params, ret: adjoints, body: Body { stms: vec![vjp], result }, loc }
}
