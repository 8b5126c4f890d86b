//! Functions that call themselves. They cannot be inlined, so their derivatives are functions, which call themselves likewise:
//!
//!     def f (x) = … call f (y) …           def f_jvp (x, x_tan)  = … call f_jvp (y, y_tan) …        results, then tangents
//!                                          def f_vjp (x, ct)     = … call f_vjp (y, y_ct) …         adjoints of the parameters
//!
//! What `f_vjp` needs of the primal it computes again, calls included: a chain of `n` calls becomes `n` chains, but a
//! recursion that halves its argument costs a logarithm more. In between the parameters and the cotangents stand the
//! results of `f` that are sizes of other results, and so of their cotangents.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Exp, Fun, Lambda, Loc, Stm};
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};
use dagaz_core::visit::{calls, type_mut};

use crate::context::{Ad, Res, not_yet};
use crate::rename::Renamer;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mode {
    Forward,
    Reverse,
}

/// The derivatives of functions that call themselves.
pub(crate) struct Recursive {
    recursive: HashSet<FunId>,
    known: HashMap<(FunId, Mode), FunId>,
    /// Those that are only named so far, in the order of their names.
    waiting: Vec<(FunId, Mode, FunId)>,
    /// The derivatives that are made, after the functions of the program.
    pub made: Vec<Fun>,
}

impl Recursive {
    pub fn of(funs: &[Fun]) -> Recursive {
        let calls: Vec<Vec<FunId>> = funs.iter().map(|fun| calls(&fun.body.stms)).collect();
        let reaches = |id: usize| {
            let mut seen: HashSet<FunId> = HashSet::new();
            let mut todo: Vec<FunId> = calls[id].clone();
            while let Some(next) = todo.pop() {
                if seen.insert(next) {
                    todo.extend(calls.get(next.0 as usize).into_iter().flatten());
                }
            }
            seen.contains(&FunId(id as u32))
        };
        let recursive = (0..funs.len()).filter(|id| reaches(*id)).map(|id| FunId(id as u32)).collect();
        Recursive { recursive, known: HashMap::new(), waiting: Vec::new(), made: Vec::new() }
    }

    pub fn contains(&self, fun: FunId) -> bool {
        self.recursive.contains(&fun)
    }

    /// Whether a derivative of a function was asked for.
    pub fn is_used(&self) -> bool {
        !self.known.is_empty()
    }
}

impl Ad<'_> {
    pub fn fun(&self, id: FunId) -> Option<&Fun> {
        let id = id.0 as usize;
        self.program.funs.get(id).or_else(|| self.program.recursive.made.get(id - self.program.funs.len()))
    }

    /// Makes all derivatives of functions that were asked for, and those that these ask for.
    pub fn make_derivatives(&mut self) -> Res<()> {
        let mut next = 0;
        while let Some((fun, mode, _)) = self.program.recursive.waiting.get(next).copied() {
            next += 1;
            let Some(fun) = self.fun(fun).cloned() else {
                return Err(not_yet(Loc::NONE, "the derivative of an unknown function"));
            };
            let made = match mode {
                Mode::Forward => self.forward_function(&fun)?,
                Mode::Reverse => self.reverse_function(&fun)?,
            };
            self.program.recursive.made.push(made);
        }
        Ok(())
    }

    fn derivative_of(&mut self, fun: FunId, mode: Mode, loc: Loc) -> Res<FunId> {
        if let Some(known) = self.program.recursive.known.get(&(fun, mode)) {
            return Ok(*known);
        }
        let has_accs = |fun: &Fun| fun.params.iter().chain(&fun.ret).any(|p| p.ty.is_acc());
        if self.fun(fun).is_some_and(has_accs) {
            return Err(not_yet(loc, "the derivative of a recursive function of accumulators"));
        }
        let id = FunId((self.program.funs.len() + self.program.recursive.waiting.len()) as u32);
        self.program.recursive.known.insert((fun, mode), id);
        self.program.recursive.recursive.insert(id);
        self.program.recursive.waiting.push((fun, mode, id));
        Ok(id)
    }

    /// Which results of a function are sizes of others, also if the function is only named so far.
    fn sizes_of_results(&self, fun: FunId) -> Vec<usize> {
        if let Some(fun) = self.fun(fun) {
            return size_results(&fun.ret);
        }
        match self.program.recursive.waiting.iter().find(|(.., derivative)| *derivative == fun) {
            Some((of, Mode::Forward, _)) => self.sizes_of_results(*of),
            Some((_, Mode::Reverse, _)) | None => Vec::new(),
        }
    }

    pub fn fwd_call(&mut self, stm: &Stm, fun: FunId, args: &[Atom]) -> Res<()> {
        let loc = stm.loc;
        let derivative = self.derivative_of(fun, Mode::Forward, loc)?;
        let mut all = args.to_vec();
        for arg in args {
            let ty = self.ty(*arg);
            all.push(self.tangent(*arg, &ty, loc));
        }
        let mut pat = stm.pat.clone();
        for param in &stm.pat {
            let tangent = self.tan_param(param);
            self.forward.tan.insert(param.var, tangent.var.into());
            pat.push(tangent);
        }
        self.push(Stm { pat, exp: Exp::Call { fun: derivative, args: all }, loc });
        Ok(())
    }

    pub fn rev_call(&mut self, stm: &Stm, fun: FunId, args: &[Atom], cts: &[Option<Atom>]) -> Res<()> {
        let loc = stm.loc;
        let derivative = self.derivative_of(fun, Mode::Reverse, loc)?;
        let sizes = self.sizes_of_results(fun);
        let mut all = args.to_vec();
        all.extend(sizes.iter().filter_map(|i| stm.pat.get(*i)).map(|p| Atom::from(p.var)));
        for (param, ct) in stm.pat.iter().zip(cts) {
            all.push(self.or_zero(*ct, &param.ty, loc));
        }
        let types: Vec<Type> = args.iter().map(|arg| self.ty(*arg)).collect();
        let exp = Exp::Call { fun: derivative, args: all };
        let adjoints = self.let_exps("adj", &types, exp, loc);
        for (arg, adjoint) in args.iter().zip(adjoints) {
            self.add_to(*arg, Some(adjoint.into()), loc);
        }
        Ok(())
    }

    /// The function as a lambda of new variables, ready to be differentiated.
    fn as_lambda(&mut self, fun: &Fun, ret: Vec<Type>) -> Res<Lambda> {
        fun.params.iter().for_each(|p| self.note(p));
        let lambda = Lambda { params: fun.params.clone(), body: fun.body.clone(), ret };
        let lambda = Renamer::new(self, HashMap::new()).lambda(&lambda);
        self.expand_for_derivative(&lambda)
    }

    fn forward_function(&mut self, fun: &Fun) -> Res<Fun> {
        let (params, names) = self.renamed_params(&fun.params, HashMap::new());
        let mut tangents = Vec::with_capacity(params.len());
        for param in &params {
            let hint = self.hint(param.var, "_tan");
            tangents.push(self.param(&hint, param.ty.clone()));
        }
        let (ret, _) = self.renamed_params(&fun.ret, names);
        let mut all = ret.clone();
        for param in &ret {
            let hint = self.hint(param.var, "_tan");
            all.push(self.param(&hint, param.ty.clone()));
        }
        let lambda = self.as_lambda(fun, fun.ret.iter().map(|p| p.ty.clone()).collect())?;
        let (args, seeds) = (atoms(&params), atoms(&tangents));
        let body = self.body(|ad| ad.jvp(&lambda, &args, &seeds, fun.loc))?;
        let name = format!("{}_jvp", fun.name);
        Ok(Fun { name, params: [params, tangents].concat(), ret: all, body, loc: fun.loc })
    }

    fn reverse_function(&mut self, fun: &Fun) -> Res<Fun> {
        let (params, mut names) = self.renamed_params(&fun.params, HashMap::new());
        let mut sizes = Vec::new();
        for i in size_results(&fun.ret) {
            let size = self.param("size", Type::I64);
            names.insert(fun.ret[i].var, size.var.into());
            sizes.push(size);
        }
        let mut cts = Vec::with_capacity(fun.ret.len());
        for param in &fun.ret {
            cts.push(self.param("ct", with_names(&param.ty, &names)));
        }
        let ret: Vec<Param> = params.iter().map(|p| self.param("adj", p.ty.clone())).collect();
        let lambda = self.as_lambda(fun, cts.iter().map(|p| p.ty.clone()).collect())?;
        let (args, seeds) = (atoms(&params), atoms(&cts));
        let body = self.body(|ad| {
            let mut results = ad.vjp(&lambda, &args, &seeds, fun.loc)?;
            Ok(results.split_off(fun.ret.len()))
        })?;
        let name = format!("{}_vjp", fun.name);
        Ok(Fun { name, params: [params, sizes, cts].concat(), ret, body, loc: fun.loc })
    }

    /// New parameters like these, whose types may mention earlier ones.
    fn renamed_params(
        &mut self,
        params: &[Param],
        mut names: HashMap<VarId, Atom>,
    ) -> (Vec<Param>, HashMap<VarId, Atom>) {
        let mut new = Vec::with_capacity(params.len());
        for param in params {
            let hint = self.b.hint(param.var);
            let copy = self.param(&hint, with_names(&param.ty, &names));
            names.insert(param.var, copy.var.into());
            new.push(copy);
        }
        (new, names)
    }
}

fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}

fn with_names(ty: &Type, names: &HashMap<VarId, Atom>) -> Type {
    let mut ty = ty.clone();
    type_mut(&mut ty, &mut |atom| {
        if let Some(name) = atom.as_var().and_then(|var| names.get(&var)) {
            *atom = *name;
        }
    });
    ty
}

/// The positions of results that are sizes of other results.
fn size_results(ret: &[Param]) -> Vec<usize> {
    let is_size = |param: &Param| ret.iter().any(|p| p.ty.all_dims().contains(&param.var.into()));
    (0..ret.len()).filter(|i| is_size(&ret[*i])).collect()
}
