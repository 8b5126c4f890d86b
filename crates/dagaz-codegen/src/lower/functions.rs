//! Functions, top-level constants and entry points.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use dagaz_core::exp::{Body, Exp, Fun, Lambda, Loc, Program, Stm as CoreStm};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};
use dagaz_core::visit;

use super::emit::{block_of, repr};
use super::symbols::Symbols;
use super::{Around, Form, Fresh, Groups, Lower, Lowered, Memory, Scope, VarInfo, views};
use crate::SiteKind;
use crate::imp::{
    Expr, Function, InputPart, Module, Operand, OutputPart, Place, Runtime, Signature, Stm, Var,
};

/// Values at the border have so many dimensions at most.
const MAX_RANK: usize = 16;

pub(crate) fn lower(program: &Program, is_profiled: bool) -> Lowered<Module> {
    let mut consts = HashMap::new();
    for (index, stm) in program.consts.iter().enumerate() {
        stm.pat.iter().for_each(|p| {
            consts.insert(p.var, index);
        });
    }
    let mut lower = Lower {
        program,
        module: Module::default(),
        out: Vec::new(),
        loc: Loc::NONE,
        frames: Vec::new(),
        scope: Scope { consts, ..Scope::default() },
        accs: HashMap::new(),
        open: Vec::new(),
        memory: Memory::default(),
        around: Around::default(),
        groups: Groups::default(),
        fresh: Fresh { is_profiled, ..Fresh::default() },
    };
    let needs = reachable(program);
    for (index, stm) in program.consts.iter().enumerate() {
        if needs.consts.contains(&index) {
            lower.constant(index, stm)?;
        }
    }
    for (index, fun) in program.funs.iter().enumerate() {
        let id = FunId(u32::try_from(index).map_err(|e| e.to_string())?);
        if needs.funs.contains(&id) && !has_accs(fun) {
            lower.function(id, fun)?;
        }
    }
    for (index, entry) in program.entries.iter().enumerate() {
        let fun = program.fun(entry.fun).ok_or("internal error: an entry point without a function")?;
        lower.entry(index, entry.fun, fun)?;
    }
    match crate::imp::verify(&lower.module).first().filter(|_| cfg!(debug_assertions)) {
        Some(error) => Err(format!("internal error: Imp does not verify: {error}")),
        None => Ok(lower.module),
    }
}

struct Reachable {
    funs: HashSet<FunId>,
    consts: BTreeSet<usize>,
}

fn reachable(program: &Program) -> Reachable {
    let mut found = Reachable { funs: HashSet::new(), consts: BTreeSet::new() };
    for entry in &program.entries {
        let uses = closure(program, entry.fun);
        found.funs.extend(uses.funs);
        found.consts.extend(uses.consts);
    }
    found
}

/// The functions and constants that a function needs, itself included.
fn closure(program: &Program, start: FunId) -> Reachable {
    let owners: HashMap<VarId, usize> = program
        .consts
        .iter()
        .enumerate()
        .flat_map(|(i, stm)| stm.pat.iter().map(move |p| (p.var, i)))
        .collect();
    let mut found = Reachable { funs: HashSet::from([start]), consts: BTreeSet::new() };
    let mut uses = Uses::default();
    let mut todo_funs = vec![start];
    let mut todo_consts: Vec<usize> = Vec::new();
    loop {
        if let Some(id) = todo_funs.pop() {
            if let Some(fun) = program.fun(id) {
                uses.fun(fun);
            }
        } else if let Some(index) = todo_consts.pop() {
            uses.stm(&program.consts[index]);
        } else {
            return found;
        }
        todo_funs.extend(uses.funs.drain().filter(|f| found.funs.insert(*f)));
        let used = uses.vars.drain().filter_map(|v| owners.get(&v).copied());
        todo_consts.extend(used.filter(|c| found.consts.insert(*c)));
    }
}

/// Everything that is mentioned, in types too.
#[derive(Default)]
struct Uses {
    vars: HashSet<VarId>,
    funs: HashSet<FunId>,
}

impl Uses {
    fn fun(&mut self, fun: &Fun) {
        fun.params.iter().chain(&fun.ret).for_each(|p| self.ty(&p.ty));
        self.body(&fun.body);
    }

    fn ty(&mut self, ty: &Type) {
        self.vars.extend(ty.all_dims().into_iter().filter_map(Atom::as_var));
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.stm(stm));
        self.vars.extend(body.result.iter().filter_map(|a| a.as_var()));
    }

    /// The types of a lambda; its body is one of those in the expression.
    fn signature(&mut self, lambda: &Lambda) {
        lambda.params.iter().for_each(|p| self.ty(&p.ty));
        lambda.ret.iter().for_each(|t| self.ty(t));
    }

    fn stm(&mut self, stm: &CoreStm) {
        stm.pat.iter().for_each(|p| self.ty(&p.ty));
        visit::direct_operands(&stm.exp, &mut |atom| self.vars.extend(atom.as_var()));
        if let Exp::Call { fun, .. } = &stm.exp {
            self.funs.insert(*fun);
        }
        if let Exp::Loop { params, .. } = &stm.exp {
            params.iter().for_each(|(p, _)| self.ty(&p.ty));
        }
        visit::lambdas(&stm.exp).into_iter().for_each(|lambda| self.signature(lambda));
        visit::bodies(&stm.exp).into_iter().for_each(|body| self.body(body));
    }
}

fn has_accs(fun: &Fun) -> bool {
    fun.params.iter().any(|p| p.ty.is_acc())
}

impl Lower<'_> {
    /// Constants that are used, as local variables.
    fn load_constants(&mut self, uses: &Uses) -> Lowered<()> {
        let mut used: Vec<VarId> =
            uses.vars.iter().copied().filter(|v| self.scope.consts.contains_key(v)).collect();
        used.sort_unstable();
        for var in used {
            let index = self.scope.consts[&var];
            let Some(param) = self.program.consts[index].pat.iter().find(|p| p.var == var).cloned() else {
                continue;
            };
            self.scope.vars.insert(
                var,
                VarInfo { ty: param.ty.clone(), region: u32::MAX, form: Form::Block { owned: false } },
            );
            for part in parts(&param, &self.name(var))? {
                self.set(&part, Expr::Global(part.clone()));
            }
        }
        Ok(())
    }

    fn constant(&mut self, index: usize, stm: &CoreStm) -> Lowered<()> {
        for param in &stm.pat {
            self.module.globals.extend(parts(param, &self.name(param.var))?);
        }
        let is_done = Var::new(PrimType::Bool, format!("constant_{index}_done"));
        self.module.globals.push(is_done.clone());
        let mut uses = Uses::default();
        uses.stm(stm);
        stm.pat.iter().for_each(|p| {
            uses.vars.remove(&p.var);
        });
        let (body, ()) = self.nested(|l| {
            l.out.push(Stm::when(Expr::Global(is_done.clone()), vec![Stm::Return]));
            l.load_constants(&uses)?;
            let result = stm.pat.iter().map(|p| p.var.into()).collect();
            let body = Body { stms: vec![stm.clone()], result };
            l.scope.symbols = Symbols::of(&[], &body);
            l.memory.blocks = views::needing_blocks(&body, &l.scope.symbols.renames);
            l.body(&body, &[], |l| {
                for param in &stm.pat {
                    for part in parts(param, &l.name(param.var))? {
                        l.out.push(Stm::Assign(Place::Global(part.clone()), part.expr()));
                    }
                    if param.ty.is_array() {
                        l.retain(&l.mem(param.var));
                    }
                }
                l.out.push(Stm::Assign(Place::Global(is_done), true.expr()));
                Ok(())
            })
        })?;
        let signature = Signature::Internal { params: Vec::new(), results: Vec::new() };
        self.module.functions.push(Function { name: constant_name(index), signature, body });
        Ok(())
    }

    fn function(&mut self, id: FunId, fun: &Fun) -> Lowered<()> {
        let (mut params, mut results) = (Vec::new(), Vec::new());
        for param in &fun.params {
            params.extend(parts(param, &self.name(param.var))?);
        }
        for (i, result) in fun.ret.iter().enumerate() {
            results.extend(parts(result, &format!("out{i}"))?);
        }
        let mut uses = Uses::default();
        uses.fun(fun);
        self.loc = Loc::NONE;
        self.scope.vars.clear();
        self.accs.clear();
        self.scope.symbols = Symbols::of(&fun.params, &fun.body);
        self.memory.blocks = views::needing_blocks(&fun.body, &self.scope.symbols.renames);
        let (body, ()) = self.nested(|l| {
            let site = l.site(SiteKind::TooDeep);
            l.out.push(Stm::Attempt { runtime: Runtime::Enter, operands: Vec::new(), site: Some(site) });
            l.load_constants(&uses)?;
            fun.params.iter().for_each(|p| l.bind(p, true));
            l.body(&fun.body, &fun.params, |l| {
                for (i, result) in fun.body.result.iter().enumerate() {
                    let local = format!("result{i}");
                    l.declare_as(&local, &fun.ret[i].ty);
                    l.assign(&local, *result)?;
                    let outs = parts(&fun.ret[i], &format!("out{i}"))?;
                    for (out, part) in outs.into_iter().zip(parts(&fun.ret[i], &local)?) {
                        l.out.push(Stm::Assign(Place::Result(out), part.expr()));
                    }
                }
                Ok(())
            })?;
            l.run(Runtime::Leave, []);
            Ok(())
        })?;
        let signature = Signature::Internal { params, results };
        self.module.functions.push(Function { name: function_name(self.program, id), signature, body });
        Ok(())
    }

    pub(super) fn call(&mut self, pat: &[Param], id: FunId, args: &[Atom]) -> Lowered<()> {
        let program = self.program;
        let fun = program.fun(id).ok_or("internal error: no such function")?;
        if has_accs(fun) {
            return self.inline(pat, id, fun, args);
        }
        let mut operands = Vec::new();
        for (arg, param) in args.iter().zip(&fun.params) {
            if !param.ty.is_array() {
                operands.push(self.atom(*arg));
                continue;
            }
            let temp = self.temp_name("arg");
            self.declare_as(&temp, &param.ty);
            self.assign(&temp, *arg)?;
            operands.extend(parts(param, &temp)?.into_iter().map(Expr::Var));
        }
        let outs: Vec<(String, &Param)> = pat.iter().map(|p| (self.temp_name("out"), p)).collect();
        let mut results = Vec::new();
        for (temp, param) in &outs {
            self.declare_as(temp, &param.ty);
            results.extend(parts(param, temp)?);
        }
        let (function, site) = (function_name(program, id), Some(self.site(SiteKind::Call)));
        self.out.push(Stm::Call { function, operands, results, site });
        for (temp, param) in outs {
            self.declare(param);
            self.put_value(&self.name(param.var), &temp, &param.ty);
        }
        Ok(())
    }

    /// A function that takes accumulators stands where it is called, where their operators are known.
    fn inline(&mut self, pat: &[Param], id: FunId, fun: &Fun, args: &[Atom]) -> Lowered<()> {
        if self.around.inlined.contains(&id) {
            return Err(format!("'{}' is recursive and takes an accumulator", fun.name));
        }
        pat.iter().for_each(|param| self.declare(param));
        self.around.inlined.push(id);
        self.block(|l| {
            let mut uses = Uses::default();
            uses.fun(fun);
            l.load_constants(&uses)?;
            let symbols = Symbols::of(&fun.params, &fun.body);
            l.memory.blocks.extend(views::needing_blocks(&fun.body, &symbols.renames));
            let outside = std::mem::replace(&mut l.scope.symbols, symbols);
            for (param, arg) in fun.params.iter().zip(args) {
                l.bind(param, !param.ty.is_acc());
                if param.ty.is_acc() {
                    l.bind_acc(param.var, *arg)?;
                    continue;
                }
                l.declare(param);
                let name = l.name(param.var);
                l.assign(&name, *arg)?;
            }
            l.body(&fun.body, &fun.params, |l| {
                for (param, result) in pat.iter().zip(&fun.body.result) {
                    let name = l.name(param.var);
                    l.assign(&name, *result)?;
                }
                Ok(())
            })?;
            l.scope.symbols = outside;
            Ok(())
        })?;
        self.around.inlined.pop();
        for (param, result) in pat.iter().zip(&fun.body.result).filter(|(p, _)| p.ty.is_acc()) {
            self.bind_acc(param.var, *result)?;
        }
        Ok(())
    }

    fn entry(&mut self, index: usize, id: FunId, fun: &Fun) -> Lowered<()> {
        let is_too_deep = |p: &Param| p.ty.rank() > MAX_RANK;
        if fun.params.iter().chain(&fun.ret).any(is_too_deep) {
            return Err(format!("'{}' has an array of more than {MAX_RANK} dimensions", fun.name));
        }
        let consts = closure(self.program, id).consts;
        self.loc = Loc::NONE;
        let (body, ()) = self.nested(|l| {
            for constant in consts {
                let function = constant_name(constant);
                l.out.push(Stm::Call { function, operands: Vec::new(), results: Vec::new(), site: None });
            }
            let mut operands = Vec::new();
            for (i, param) in fun.params.iter().enumerate() {
                let inputs: &[InputPart] = match &param.ty {
                    Type::Prim(ty) => &[InputPart::Scalar(*ty)],
                    Type::Array { elem, .. } => &[InputPart::Data(*elem), InputPart::Block],
                    Type::Acc { .. } => return Err("an entry point takes an accumulator".into()),
                };
                operands.extend(inputs.iter().map(|part| Expr::Input(i, *part)));
            }
            let mut results = Vec::new();
            for param in &fun.ret {
                l.declare(param);
                results.extend(parts(param, &l.name(param.var))?);
            }
            let function = function_name(l.program, id);
            l.out.push(Stm::Call { function, operands, results, site: None });
            l.outputs(fun)
        })?;
        let name = format!("dz_entry_{index}");
        self.module.functions.push(Function {
            name: name.as_str().into(),
            signature: Signature::Entry,
            body,
        });
        self.module.entries.push(name);
        Ok(())
    }

    fn outputs(&mut self, fun: &Fun) -> Lowered<()> {
        // Sizes of results can be parameters of the function.
        let position = |var: VarId| fun.params.iter().position(|p| p.var == var);
        for (i, param) in fun.ret.iter().enumerate() {
            let outputs: &[OutputPart] = match param.ty.is_array() {
                true => &[OutputPart::Data, OutputPart::Block],
                false => &[OutputPart::Scalar],
            };
            for (output, part) in outputs.iter().zip(parts(param, &self.name(param.var))?) {
                self.out.push(Stm::Assign(Place::Output(i, *output), part.expr()));
            }
            for (axis, dim) in param.ty.dims().iter().enumerate() {
                let constant = dim.as_var().filter(|var| self.scope.consts.contains_key(var));
                let size = match (dim.as_var().and_then(position), constant) {
                    (Some(at), _) => Expr::Input(at, InputPart::Scalar(PrimType::I64)),
                    (None, Some(var)) => Expr::Global(Var::new(PrimType::I64, self.name(var))),
                    (None, None) => self.atom(*dim),
                };
                self.out.push(Stm::Assign(Place::Output(i, OutputPart::Dim(axis)), size));
            }
        }
        Ok(())
    }
}

fn constant_name(index: usize) -> Arc<str> {
    format!("constant_{index}").into()
}

fn function_name(program: &Program, id: FunId) -> Arc<str> {
    let hint = program.fun(id).map_or("", |f| f.name.as_str());
    let clean: String = hint.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("f_{clean}_{}", id.0).into()
}

/// What holds a value that has this name: a scalar, or the pointer and the block of an array.
fn parts(param: &Param, name: &str) -> Lowered<Vec<Var>> {
    let var = Var::new(repr(&param.ty)?, name);
    let block = param.ty.is_array().then(|| block_of(name));
    Ok(std::iter::once(var).chain(block).collect())
}
