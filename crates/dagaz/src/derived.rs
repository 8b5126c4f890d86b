//! Functions of Core that are derivatives of others.
//!
//! ```text
//! def f (n: i64, xs: [n]f64) : (s: f64) = …
//!     ==>
//! def f_grad (n: i64, xs: [n]f64) : (xs_adj: [n]f64) =
//!   let (s: f64, xs_adj: [n]f64) = vjp (\ys -> let s = call f (n, ys) in s) (xs) (1)
//!   in (xs_adj)
//! ```

use std::collections::HashMap;

use dagaz_core::exp::{Body, Entry, EntryParam, EntryType, Exp, Fun, Lambda, Loc, Program, Stm};
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

/// Which derivative a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Derivative {
    /// The adjoints, where the result is one floating-point number.
    Gradient,
    /// The result before them.
    ValueAndGradient,
    /// The adjoints, given the cotangents of the results after all parameters.
    Vjp,
    /// The results and their tangents, given the tangents of the chosen parameters after all parameters.
    Jvp,
    /// The tangents of the gradient, given the tangents of the chosen parameters after all parameters.
    HessianProduct,
}

impl Derivative {
    fn suffix(self) -> &'static str {
        match self {
            Derivative::Gradient => "grad",
            Derivative::ValueAndGradient => "value_and_grad",
            Derivative::Vjp => "vjp",
            Derivative::Jvp => "jvp",
            Derivative::HessianProduct => "hvp",
        }
    }

    fn needs_number(self) -> bool {
        match self {
            Derivative::Gradient | Derivative::ValueAndGradient | Derivative::HessianProduct => true,
            Derivative::Vjp | Derivative::Jvp => false,
        }
    }
}

/// The program with a derivative of an entry point with respect to one parameter as its only entry point, and the name of that.
pub(crate) fn add(
    core: &Program,
    name: &str,
    position: usize,
    derivative: Derivative,
) -> Result<(Program, String), String> {
    let mut core = core.clone();
    let (entry, fun) = find(&core, name)?;
    let param = entry.params.get(position).ok_or_else(|| format!("{name} has no parameter {position}"))?;
    let before: usize = entry.params[..position].iter().map(|param| param.ty.arity()).sum();
    let first = entry.size_params + before;
    let chosen: Vec<usize> = (first..first + param.ty.arity()).collect();
    if !chosen.iter().all(|i| is_float(&fun.params[*i].ty)) {
        return Err(format!(
            "the parameter {} of {name} has the type {}, which is not of floating-point numbers alone",
            param.name,
            param.ty.name()
        ));
    }
    if derivative.needs_number() && !is_single(&fun) {
        let names: Vec<&str> = entry.results.iter().map(EntryType::name).collect();
        return Err(format!("{name} gives {}, and not one floating-point number", names.join(", ")));
    }
    if !fun.ret.iter().all(|result| is_float(&result.ty)) {
        return Err(format!("the result of {name} is not of floating-point numbers alone"));
    }
    let function = function(&mut core, entry.fun, &fun, &chosen, derivative);
    let directions = match derivative {
        Derivative::Gradient | Derivative::ValueAndGradient => Vec::new(),
        Derivative::Vjp => entry.results.iter().map(|ty| direction("result_ct", ty)).collect(),
        Derivative::Jvp | Derivative::HessianProduct => vec![direction("direction", &param.ty)],
    };
    let results = match derivative {
        Derivative::Gradient | Derivative::Vjp | Derivative::HessianProduct => vec![param.ty.clone()],
        Derivative::ValueAndGradient => entry.results.iter().chain([&param.ty]).cloned().collect(),
        Derivative::Jvp => entry.results.iter().chain(&entry.results).cloned().collect(),
    };
    let params = entry.params.iter().cloned().chain(directions).collect();
    let name = function.name.clone();
    core.entries = vec![Entry { name: name.clone(), fun: next_fun(&core), params, results, ..entry }];
    core.funs.push(function);
    Ok((core, name))
}

fn direction(name: &str, ty: &EntryType) -> EntryParam {
    EntryParam { name: name.to_owned(), ty: ty.clone(), unique: false }
}

/// An entry point that has derivatives, and its function.
pub(crate) fn find(core: &Program, name: &str) -> Result<(Entry, Fun), String> {
    let entry = core.entries.iter().find(|entry| entry.name == name).cloned();
    let entry = entry.ok_or_else(|| format!("there is no entry point {name}"))?;
    let fun = core.fun(entry.fun).cloned().ok_or_else(|| format!("there is no function {name}"))?;
    if entry.size_results > 0 {
        return Err(format!("the sizes of the result of {name} are known only when it is computed"));
    }
    Ok((entry, fun))
}

pub(crate) fn is_float(ty: &Type) -> bool {
    ty.elem().is_some_and(|elem| elem.is_float())
}

/// Whether a function gives one floating-point number.
pub(crate) fn is_single(fun: &Fun) -> bool {
    matches!(fun.ret.as_slice(), [Param { ty: Type::Prim(ty), .. }] if ty.is_float())
}

/// The number of the function that comes next.
pub(crate) fn next_fun(core: &Program) -> FunId {
    FunId(core.funs.len() as u32)
}

/// The derivative of a function with respect to some of its parameters. What it needs besides is added to the program.
pub(crate) fn function(
    core: &mut Program,
    id: FunId,
    fun: &Fun,
    chosen: &[usize],
    derivative: Derivative,
) -> Fun {
    if derivative == Derivative::HessianProduct {
        let gradient = function(core, id, fun, chosen, Derivative::Gradient);
        let id = next_fun(core);
        core.funs.push(gradient.clone());
        let mut product = function(core, id, &gradient, chosen, Derivative::Jvp);
        let results = gradient.ret.len();
        product.ret.drain(..results);
        product.body.result.drain(..results);
        product.name = format!("{}_{}", fun.name, derivative.suffix());
        return product;
    }
    let mut copy = Copied::of(core, fun);
    let lambda = copy.lambda(core, id, fun, chosen);
    let args: Vec<Atom> = chosen.iter().map(|i| copy.params[*i].var.into()).collect();
    let values = copy.fresh_results(core, "result");
    let (exp, derivatives) = match derivative {
        Derivative::Jvp => {
            let types: Vec<Type> = chosen.iter().map(|i| copy.params[*i].ty.clone()).collect();
            let tangents = types.iter().map(|ty| copy.direction(core, "direction", ty)).collect();
            (Exp::Jvp { lambda, args, tangents }, copy.fresh_results(core, "result_tan"))
        }
        Derivative::Gradient
        | Derivative::ValueAndGradient
        | Derivative::Vjp
        | Derivative::HessianProduct => {
            let types = copy.ret.clone();
            let cotangents = types.iter().map(|ty| match ty {
                Type::Prim(prim) if derivative.needs_number() => Prim::one(*prim).into(),
                _ => copy.direction(core, "result_ct", ty),
            });
            let cotangents = cotangents.collect();
            let adjoints = chosen.iter().map(|i| {
                let hint = format!("{}_adj", core.vars.hint(fun.params[*i].var));
                Param { var: core.vars.fresh(&hint), ty: copy.params[*i].ty.clone() }
            });
            let adjoints = adjoints.collect();
            (Exp::Vjp { lambda, args, cotangents }, adjoints)
        }
    };
    let kept: Vec<&Param> = match derivative {
        Derivative::ValueAndGradient | Derivative::Jvp => values.iter().chain(&derivatives).collect(),
        Derivative::Gradient | Derivative::Vjp | Derivative::HessianProduct => derivatives.iter().collect(),
    };
    let result = kept.iter().map(|p| p.var.into()).collect();
    let ret = kept.iter().map(|p| {
        let hint = core.vars.hint(p.var).to_owned();
        Param { var: core.vars.fresh(&hint), ty: p.ty.clone() }
    });
    let ret = ret.collect();
    let pat = values.into_iter().chain(derivatives).collect();
    let stm = Stm { pat, exp, loc: Loc::NONE };
    let name = format!("{}_{}", fun.name, derivative.suffix());
    Fun { name, params: copy.params, ret, body: Body { stms: vec![stm], result }, loc: fun.loc }
}

/// The parameters and the types of results of a function, with names of their own.
struct Copied {
    params: Vec<Param>,
    ret: Vec<Type>,
}

impl Copied {
    fn of(core: &mut Program, fun: &Fun) -> Copied {
        let mut renamed: HashMap<VarId, Atom> = HashMap::new();
        let with_own_sizes = |ty: &Type, renamed: &HashMap<VarId, Atom>| {
            ty.map_dims(&mut |d| d.as_var().and_then(|v| renamed.get(&v)).copied().unwrap_or(d))
        };
        let mut params = Vec::new();
        for param in &fun.params {
            let hint = core.vars.hint(param.var).to_owned();
            let own = Param { var: core.vars.fresh(&hint), ty: with_own_sizes(&param.ty, &renamed) };
            renamed.insert(param.var, own.var.into());
            params.push(own);
        }
        let ret = fun.ret.iter().map(|result| with_own_sizes(&result.ty, &renamed)).collect();
        Copied { params, ret }
    }

    /// The function with parameters for what is chosen alone.
    fn lambda(&self, core: &mut Program, id: FunId, fun: &Fun, chosen: &[usize]) -> Lambda {
        let mut args: Vec<Atom> = self.params.iter().map(|p| p.var.into()).collect();
        let mut params = Vec::new();
        for i in chosen {
            let hint = core.vars.hint(fun.params[*i].var).to_owned();
            let param = Param { var: core.vars.fresh(&hint), ty: self.params[*i].ty.clone() };
            args[*i] = param.var.into();
            params.push(param);
        }
        let pat = self.fresh_results(core, "result");
        let result = pat.iter().map(|p| p.var.into()).collect();
        let call = Stm { pat, exp: Exp::Call { fun: id, args }, loc: fun.loc };
        Lambda { params, body: Body { stms: vec![call], result }, ret: self.ret.clone() }
    }

    fn fresh_results(&self, core: &mut Program, hint: &str) -> Vec<Param> {
        self.ret.iter().map(|ty| Param { var: core.vars.fresh(hint), ty: ty.clone() }).collect()
    }

    /// One more parameter.
    fn direction(&mut self, core: &mut Program, hint: &str, ty: &Type) -> Atom {
        let param = Param { var: core.vars.fresh(hint), ty: ty.clone() };
        self.params.push(param.clone());
        param.var.into()
    }
}
