//! From Core to Imp.
//!
//! An array variable becomes two variables of Imp: a pointer to its first element, and the block that holds it. Elements are
//! contiguous and in row-major order; the sizes are those of the variable's type, which are variables themselves.
//!
//! Every array variable owns one reference to its block, except rows that a parallel operation looks at. The reference
//! moves on at the last use, and is released after it otherwise, so that an array which Core consumes has one owner and
//! changes in place; one that has more, which the verifier excludes, is copied first.

mod access;
mod accumulators;
mod arrays;
mod cache_blocking;
mod contract;
mod control;
mod copies;
mod cost;
mod emit;
mod fetching;
mod few_elements;
mod folds;
mod functions;
mod gathers;
mod histograms;
mod in_place;
mod joining;
mod lanes;
mod logged;
mod long_loops;
mod maps;
mod masked_checks;
mod overwriting;
mod packed_operands;
mod parallel_loops;
mod placing;
mod polynomials;
mod profile;
mod row_pointers;
mod rows;
mod scans;
mod shared_accumulators;
mod split_iteration_range;
mod state;
mod symbols;
mod tiles;
mod turned;
mod vectors;
mod views;

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::viewed;
use dagaz_core::exp::{Body, Exp, Loc, Program, Stm as CoreStm};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use crate::imp::{Expr, Module, Operand, Repr, Runtime, Stm, Var};

use emit::{block_of, repr};
use folds::Fold;
pub(crate) use functions::lower;
use histograms::Writes;
use state::{Around, Form, Frame, Fresh, Groups, LoopPart, Memory, OpenAcc, Scope, VarInfo};

type Lowered<T> = Result<T, String>;

struct Lower<'p> {
    program: &'p Program,
    module: Module,
    out: Vec<Stm>,
    loc: Loc,
    /// The bodies around the statement at hand.
    frames: Vec<Frame>,
    scope: Scope,
    accs: HashMap<VarId, usize>,
    open: Vec<OpenAcc>,
    memory: Memory,
    around: Around,
    groups: Groups,
    fresh: Fresh,
}

impl<'p> Lower<'p> {
    fn info(&self, var: VarId) -> Lowered<&VarInfo> {
        self.scope.vars.get(&var).ok_or_else(|| format!("internal error: {} is not bound", self.name(var)))
    }

    fn ty(&self, var: VarId) -> Lowered<Type> {
        Ok(self.info(var)?.ty.clone())
    }

    fn atom_type(&self, atom: Atom) -> Lowered<Type> {
        match atom {
            Atom::Var(var) => self.ty(var),
            Atom::Const(prim) => Ok(Type::Prim(prim.ty())),
        }
    }

    /// The element type and the sizes of an array.
    fn array(&self, var: VarId) -> Lowered<(PrimType, Vec<Atom>)> {
        match self.ty(var)? {
            Type::Array { elem, dims } => Ok((elem, dims)),
            Type::Prim(_) | Type::Acc { .. } => {
                Err(format!("internal error: {} is not an array", self.name(var)))
            }
        }
    }

    fn bind(&mut self, param: &Param, owned: bool) {
        self.bind_as(param, Form::Block { owned });
    }

    fn bind_as(&mut self, param: &Param, form: Form) {
        let info = VarInfo { ty: param.ty.clone(), region: self.around.region, form };
        self.memory.placed.remove(&param.var);
        self.memory.alone.remove(&param.var);
        self.memory.on_stack.remove(&param.var);
        self.memory.pointers.remove(&param.var);
        if let Some(deferred) = &mut self.around.deferred {
            deferred.inside.insert(param.var);
        }
        self.scope.vars.insert(param.var, info);
    }

    /// Whether an array has to be in a block of its own or a shared one.
    fn needs_block(&self, param: &Param) -> bool {
        param.ty.is_array() && self.memory.blocks.contains(&param.var)
    }

    /// Declares what holds a variable, without a value.
    fn declare(&mut self, param: &Param) {
        let name = self.name(param.var);
        self.declare_as(&name, &param.ty);
    }

    /// Declares what holds a value of some type, without a value: the variable with this name, which an accumulator has not.
    fn declare_as(&mut self, name: &str, ty: &Type) {
        let Ok(repr) = repr(ty) else { return };
        self.unset(&Var::new(repr, name));
        if ty.is_array() {
            self.unset(&block_of(name));
        }
    }

    /// Declares an array variable that is a pointer and a block.
    fn set_array(&mut self, var: &Var, pointer: impl Operand, block: impl Operand) {
        self.set(var, pointer);
        self.set(&block_of(&var.name), block);
    }

    /// Assigns the pointer and the block of one array to another.
    fn put_array(&mut self, target: &str, source: &str, elem: PrimType) {
        let [target_pointer, source_pointer] =
            [target, source].map(|name| Var::new(Repr::pointer(elem), name));
        self.put(&target_pointer, source_pointer);
        self.put(&block_of(target), block_of(source));
    }

    /// Assigns what holds a value of some type, without counting the reference.
    fn put_value(&mut self, target: &str, source: &str, ty: &Type) {
        match ty {
            Type::Prim(ty) => self.put(&Var::new(*ty, target), Var::new(*ty, source)),
            Type::Array { elem, .. } => self.put_array(target, source, *elem),
            Type::Acc { .. } => {}
        }
    }

    /// Whether this is the last use of a variable that has a reference of its own.
    fn is_movable(&self, var: VarId) -> bool {
        let Some(info) = self.scope.vars.get(&var) else { return false };
        let here = self.frames.iter().rev().take_while(|f| f.region == self.around.region);
        info.form == Form::Block { owned: true }
            && info.region == self.around.region
            && here.into_iter().all(|f| {
                f.last_use.get(&var).is_none_or(|last| *last <= f.index) && !f.repeated.contains(&var)
            })
    }

    /// Assigns a value with a reference of its own to variables that are declared.
    fn assign(&mut self, target: &str, value: Atom) -> Lowered<()> {
        match self.atom_type(value)? {
            Type::Prim(ty) => self.put(&Var::new(ty, target), self.atom(value)),
            Type::Array { elem, .. } => {
                let Atom::Var(var) = value else { return Err("internal error: a constant array".into()) };
                let source = self.name(var);
                if source == target {
                    return Ok(());
                }
                self.put_array(target, &source, elem);
                match self.is_movable(var) {
                    true => self.put(&block_of(&source), Expr::Null),
                    false => self.retain(&block_of(target)),
                }
            }
            Type::Acc { .. } => {}
        }
        Ok(())
    }

    fn retain(&mut self, block: &Var) {
        self.run(Runtime::Retain, [block.expr()]);
    }

    fn release(&mut self, block: &Var) {
        self.run(Runtime::Release, [block.expr()]);
    }

    /// Runs the statements of a body, then `finish` to use its results, and releases what was bound.
    fn body(
        &mut self,
        body: &Body,
        params: &[Param],
        finish: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let arranged = self.with_followers(body);
        let body = arranged.as_ref().unwrap_or(body);
        let together = self.with_groups_together(body);
        let body = together.as_ref().unwrap_or(body);
        let last_use = self.last_uses(body);
        let bound = params.iter().chain(body.stms.iter().flat_map(|stm| &stm.pat));
        let bound: HashSet<VarId> = bound.map(|p| p.var).collect();
        let mut dying: HashMap<usize, Vec<VarId>> = HashMap::new();
        for (var, index) in &last_use {
            if bound.contains(var) {
                dying.entry(*index).or_default().push(*var);
            }
        }
        dying.values_mut().for_each(|vars| vars.sort_unstable());
        for param in params.iter().filter(|p| !last_use.contains_key(&p.var)) {
            self.release_owned(param.var);
        }
        let region = self.around.region;
        self.frames.push(Frame { last_use, index: 0, region, repeated: HashSet::new() });
        // What is bound elsewhere may be seen by variables from elsewhere.
        let mut plans = overwriting::plans(&self.scope.symbols, body);
        plans.retain(|plan| bound.contains(&plan.array));
        let joints = joining::joints(body, |var| self.scope.vars.get(&var).map(|info| info.ty.clone()));
        let mut covered = HashSet::new();
        let groups = self.groups(body);
        let mut released = Vec::new();
        for (index, stm) in body.stms.iter().enumerate() {
            let members = groups.iter().find(|group| group.members.contains(&index));
            if let Some(group) = members.filter(|group| group.members[0] == index) {
                self.begin_parts(group);
            }
            let repeated = self.repeated_in(&stm.exp);
            self.enter(index, repeated);
            let group = self.group(body, index);
            self.groups.following = group.map(|group| self.in_place(body, index, group));
            if let Some(group) = &self.groups.following {
                plans.retain(|plan| !group.covered.contains(&plan.map));
                covered.extend(group.covered.iter().copied());
            }
            self.prepare_maps(&plans, index)?;
            self.prepare_joints(&joints, index)?;
            if matches!(stm.exp, Exp::Replicate { .. } | Exp::Scratch { .. }) {
                self.look_for_writes(body, stm);
            }
            if !covered.contains(&index) {
                self.stm(stm)?;
            }
            let unused = stm.pat.iter().map(|p| p.var);
            released
                .extend(unused.filter(|v| self.frames.last().is_some_and(|f| !f.last_use.contains_key(v))));
            released.extend(dying.get(&index).into_iter().flatten().copied());
            match members {
                Some(group) if group.members.last() != Some(&index) => continue,
                Some(group) => self.end_parts(group)?,
                None => {}
            }
            released.drain(..).for_each(|var| self.release_owned(var));
        }
        let results: Vec<VarId> = body.result.iter().filter_map(|a| a.as_var()).collect();
        self.enter(body.stms.len(), repeated_among(&results));
        finish(self)?;
        for var in dying.get(&body.stms.len()).into_iter().flatten() {
            self.release_owned(*var);
        }
        self.frames.pop();
        Ok(())
    }

    /// The statements that use variables for the last time; after the last one, the results do.
    fn last_uses(&mut self, body: &Body) -> HashMap<VarId, usize> {
        let mut last_use = HashMap::new();
        for (index, stm) in body.stms.iter().enumerate() {
            last_use.extend(visit::free_vars(&stm.exp).into_iter().map(|var| (var, index)));
        }
        let results = body.result.iter().filter_map(|a| a.as_var());
        last_use.extend(results.map(|var| (var, body.stms.len())));
        for stm in &body.stms {
            if let ([param], Some(array)) = (stm.pat.as_slice(), viewed(&stm.exp))
                && param.ty.is_array()
                && !self.memory.blocks.contains(&param.var)
            {
                self.memory.bases.insert(param.var, array);
            }
        }
        // What a view looks at lives as long as the view, which can be one from outside.
        for (view, until) in last_use.clone() {
            let mut var = view;
            while let Some(base) = self.memory.bases.get(&var) {
                last_use.entry(*base).and_modify(|last| *last = until.max(*last));
                var = *base;
            }
        }
        last_use
    }

    /// What a statement uses more than once, itself or through views.
    fn repeated_in(&self, exp: &Exp) -> HashSet<VarId> {
        let mut direct = Vec::new();
        visit::direct_operands(exp, &mut |atom| direct.extend(atom.as_var()));
        let mut inside: Vec<VarId> = visit::bodies(exp).into_iter().flat_map(visit::free_vars_body).collect();
        inside.extend(visit::lambdas(exp).into_iter().flat_map(visit::free_vars_lambda));
        direct.iter_mut().chain(&mut inside).for_each(|var| {
            while let Some(base) = self.memory.bases.get(var) {
                *var = *base;
            }
        });
        let used: HashSet<VarId> = direct.iter().copied().collect();
        let mut repeated = repeated_among(&direct);
        repeated.extend(inside.into_iter().filter(|v| used.contains(v)));
        repeated
    }

    fn enter(&mut self, index: usize, repeated: HashSet<VarId>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.index = index;
            frame.repeated = repeated;
        }
    }

    fn release_owned(&mut self, var: VarId) {
        let is_owned = self
            .scope
            .vars
            .get(&var)
            .is_some_and(|info| info.form == Form::Block { owned: true } && info.ty.is_array());
        if is_owned || self.memory.sharing.contains(&var) {
            self.release(&self.mem(var));
        }
    }

    fn stm(&mut self, stm: &CoreStm) -> Lowered<()> {
        let outside = self.loc;
        if stm.loc != Loc::NONE {
            self.loc = stm.loc;
        }
        for param in &stm.pat {
            self.bind(param, true);
        }
        let lowered = if self.is_timed(&stm.exp) { self.timed(stm) } else { self.exp(stm) };
        self.loc = outside;
        lowered
    }

    fn exp(&mut self, stm: &CoreStm) -> Lowered<()> {
        let pat = stm.pat.as_slice();
        match &stm.exp {
            Exp::Atom(atom) => self.alias(pat, &[*atom]),
            Exp::UnOp(op, ty, x) => self.scalar(pat, Expr::UnOp(*op, *ty, Box::new(self.atom(*x)))),
            Exp::BinOp(op, ty, x, y) => self.binop(pat, *op, *ty, *x, *y),
            Exp::TernOp(op, ty, operands) => {
                let operands = operands.map(|operand| self.atom(operand));
                self.scalar(pat, Expr::TernOp(*op, *ty, Box::new(operands)))
            }
            Exp::CmpOp(op, ty, x, y) => {
                let operands = [self.atom(*x), self.atom(*y)];
                self.scalar(pat, Expr::CmpOp(*op, *ty, Box::new(operands)))
            }
            Exp::Convert(from, to, x) => {
                let value = Expr::Convert(*from, *to, Box::new(self.atom(*x)));
                self.scalar(pat, value)
            }
            Exp::Index { array, indices, check } => self.index(pat, *array, indices, *check),
            Exp::Slice { array, dims } => self.slice(pat, *array, dims),
            Exp::Update { array, dims, value, check } => self.update(pat, *array, dims, *value, *check),
            Exp::Copy(array) => self.copy(pat, *array),
            Exp::Iota { ty, n, start, step } => self.iota(pat, *ty, *n, *start, *step),
            Exp::Replicate { dims, value } => self.replicate(pat, dims, *value),
            Exp::Rearrange { perm, array } => self.rearrange(pat, perm, *array),
            Exp::Reshape { dims, array } => self.reshape(pat, dims, *array),
            Exp::Concat { arrays } => self.concat(pat, arrays),
            Exp::Contract { sizes, rank, left, right, plus, triangles } => {
                self.contract(pat, (sizes, *rank), left, right, *plus, triangles)
            }
            Exp::Scratch { elem, dims } => self.scratch(pat, *elem, dims),
            Exp::ArrayLit { row, elems } => self.array_lit(pat, row, elems),
            Exp::If { cond, then, otherwise } => self.branches(stm, *cond, then, otherwise),
            Exp::Loop { params, form, body, .. } => self.loop_exp(pat, params, form, body),
            Exp::Call { fun, args } => self.call(pat, *fun, args),
            Exp::Assert { cond, message } => self.assert(*cond, message),
            Exp::Trace { tag, values } => self.trace(pat, tag, values),
            Exp::Map { width, arrays, lambda } => self.map(pat, *width, arrays, lambda),
            Exp::Reduce { width, arrays, pre, op, neutral, .. } => {
                self.reduce(pat, &Fold { width: *width, arrays, pre: pre.as_ref(), op, neutral })
            }
            Exp::Scan { width, arrays, pre, op, neutral } => {
                self.scan(pat, &Fold { width: *width, arrays, pre: pre.as_ref(), op, neutral })
            }
            Exp::Hist { width, arrays, pre, dests, shape, op, neutral } => {
                let op = Some((op, neutral.as_slice()));
                self.many_writes(pat, dests, &Writes { width: *width, arrays, pre: pre.as_ref(), shape, op })
            }
            Exp::Scatter { width, arrays, pre, dests, shape } => {
                let pre = pre.as_ref();
                self.many_writes(pat, dests, &Writes { width: *width, arrays, pre, shape, op: None })
            }
            Exp::WithAcc { inputs, lambda } => self.with_acc(pat, inputs, lambda),
            Exp::UpdateAcc { acc, indices, values } => self.update_acc(pat, *acc, indices, values),
            Exp::Jvp { .. }
            | Exp::Vjp { .. }
            | Exp::WithVjp { .. }
            | Exp::Transpose { .. }
            | Exp::Detach(_) => Err("internal error: run `ad` first".into()),
        }
    }

    /// Binds the only variable of a pattern to a scalar.
    fn scalar(&mut self, pat: &[Param], value: impl Operand) -> Lowered<()> {
        let var = self.var_of(only(pat)?)?;
        self.set(&var, value);
        Ok(())
    }

    /// Binds variables to values that exist.
    fn alias(&mut self, pat: &[Param], values: &[Atom]) -> Lowered<()> {
        for (param, value) in pat.iter().zip(values) {
            if param.ty.is_acc() {
                self.bind_acc(param.var, *value)?;
                continue;
            }
            if let (Atom::Var(array), true) = (*value, param.ty.is_array() && !self.needs_block(param)) {
                self.view_whole(param, array)?;
                continue;
            }
            self.declare(param);
            let name = self.name(param.var);
            self.assign(&name, *value)?;
        }
        Ok(())
    }
}

fn repeated_among(vars: &[VarId]) -> HashSet<VarId> {
    let mut seen = HashSet::new();
    vars.iter().copied().filter(|v| !seen.insert(*v)).collect()
}

fn only(pat: &[Param]) -> Lowered<&Param> {
    match pat {
        [param] => Ok(param),
        _ => Err("internal error: one variable is expected in the pattern".into()),
    }
}

fn elem(ty: &Type) -> Lowered<PrimType> {
    ty.elem().ok_or_else(|| "internal error: an accumulator is not a value".into())
}

/// Words that begin names of the generated code itself, and end in a number as those of variables do.
const TAKEN: [&str; 5] = ["task", "env", "site", "sites", "constant"];

/// The hint and the number.
fn name(program: &Program, var: VarId) -> String {
    let hint = program.vars.hint(var);
    let clean: String = hint.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let is_taken = TAKEN.contains(&clean.as_str()) || clean.starts_with("f_") || clean.starts_with("dz_");
    let is_name = clean.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_taken;
    let start = if is_name { "" } else { "v" };
    format!("{start}{clean}_{}", var.0)
}
