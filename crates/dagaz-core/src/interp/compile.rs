//! From Core to [`Code`]: slots for variables, and the last use of each.
//!
//! Statements are visited from the last to the first, with the set of slots that are live after each. A use
//! of a slot that is not live afterwards moves the value out ([`Operand::Take`]), which leaves one owner,
//! so that an update can happen in place. A body that runs many times never moves out what was bound outside
//! of it.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::exp::{Body, DimSlice, Exp, Lambda, LoopForm, MsgPart, Program, Stm};
use crate::types::{Atom, Param, Type, VarId};
use crate::visit;

use super::block::{BlockCode, compile_fold, compile_map};
use super::code::{
    Code, CodeAcc, CodeAccOp, CodeBody, CodeConst, CodeDim, CodeFold, CodeForm, CodeFun, CodeLambda,
    CodeLoop, CodePart, CodeRows, CodeStm, CodeType, Instr, Needs, Operand,
};

/// A variable that is not in scope.
#[derive(Debug)]
pub(super) struct Unbound(pub(super) VarId);

type Compiled<T> = Result<T, Unbound>;

pub(super) fn compile(program: &Program) -> Compiled<Code> {
    let mut globals = Globals::default();
    let mut code = Code::default();
    for (index, stm) in program.consts.iter().enumerate() {
        let mut compiler = Compiler::new(&globals);
        let result = stm.pat.iter().map(|p| p.var.into()).collect();
        let body = compiler.fun_body(&[], std::slice::from_ref(stm), result)?;
        let (slots, needs) = (compiler.info.len(), compiler.needs);
        let slots_of_pat = stm.pat.iter().map(|p| globals.bind(p, index)).collect();
        code.consts.push(CodeConst { globals: slots_of_pat, body, slots, needs });
    }
    let mut needs = Vec::new();
    for fun in &program.funs {
        let mut compiler = Compiler::new(&globals);
        let body = compiler.fun_body(&fun.params, &fun.body.stms, fun.body.result.clone())?;
        let params = fun.params.iter().filter_map(|p| compiler.slots.get(&p.var).copied()).collect();
        code.funs.push(CodeFun { params, body, slots: compiler.info.len(), consts: Vec::new() });
        needs.push(compiler.needs);
    }
    for (index, need) in needs.iter().enumerate() {
        code.funs[index].consts = close(need, &needs, &code.consts);
    }
    code.globals = globals.slots.len();
    code.blocks = globals.blocks.get();
    Ok(code)
}

/// The constants reached from `start` through functions and constants. A constant comes after those it needs,
/// because it can only mention earlier ones.
fn close(start: &Needs, funs: &[Needs], consts: &[CodeConst]) -> Vec<usize> {
    let (mut seen_consts, mut seen_funs) = (HashSet::new(), HashSet::new());
    let mut work = vec![start];
    while let Some(needs) = work.pop() {
        for &c in &needs.consts {
            if seen_consts.insert(c) {
                work.extend(consts.get(c).map(|c| &c.needs));
            }
        }
        for &f in &needs.funs {
            if seen_funs.insert(f) {
                work.extend(funs.get(f));
            }
        }
    }
    let mut order: Vec<usize> = seen_consts.into_iter().collect();
    order.sort_unstable();
    order
}

#[derive(Default)]
struct Globals {
    /// Number of the global, and of the statement that defines it.
    slots: HashMap<VarId, (u32, usize)>,
    /// How many operations have a block form so far.
    blocks: Cell<usize>,
}

impl Globals {
    fn bind(&mut self, param: &Param, stm: usize) -> u32 {
        let slot = self.slots.len() as u32;
        self.slots.insert(param.var, (slot, stm));
        slot
    }
}

struct SlotInfo {
    /// The innermost repeated body around the binding.
    region: u32,
    /// Scalars are copied, never moved.
    scalar: bool,
}

struct Compiler<'g> {
    globals: &'g Globals,
    slots: HashMap<VarId, u32>,
    info: Vec<SlotInfo>,
    regions: u32,
    region: u32,
    live: HashSet<u32>,
    /// Slots of enclosing regions used since the statement of that region began.
    outer_uses: Vec<u32>,
    /// Slots that the current statement uses several times.
    repeated: HashSet<u32>,
    needs: Needs,
}

impl<'g> Compiler<'g> {
    fn new(globals: &'g Globals) -> Compiler<'g> {
        Compiler {
            globals,
            slots: HashMap::new(),
            info: Vec::new(),
            regions: 0,
            region: 0,
            live: HashSet::new(),
            outer_uses: Vec::new(),
            repeated: HashSet::new(),
            needs: Needs::default(),
        }
    }

    fn fun_body(&mut self, params: &[Param], stms: &[Stm], result: Vec<Atom>) -> Compiled<CodeBody> {
        params.iter().for_each(|p| {
            self.bind(p);
        });
        self.body(stms, &result)
    }

    fn bind(&mut self, param: &Param) -> u32 {
        self.bind_var(param.var, matches!(param.ty, Type::Prim(_)))
    }

    fn bind_var(&mut self, var: VarId, scalar: bool) -> u32 {
        let slot = self.info.len() as u32;
        self.info.push(SlotInfo { region: self.region, scalar });
        self.slots.insert(var, slot);
        slot
    }

    fn bound(&self, var: VarId) -> Compiled<u32> {
        self.slots.get(&var).copied().ok_or(Unbound(var))
    }

    /// Compiles what runs many times. What is bound outside stays there.
    fn repeated_body<T>(&mut self, build: impl FnOnce(&mut Self) -> Compiled<T>) -> Compiled<T> {
        self.regions += 1;
        let outside = std::mem::replace(&mut self.region, self.regions);
        let built = build(self);
        self.region = outside;
        built
    }

    fn body(&mut self, stms: &[Stm], result: &[Atom]) -> Compiled<CodeBody> {
        // Deeply nested programs must not overflow the stack of the compiler.
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || {
            for stm in stms {
                stm.pat.iter().for_each(|p| {
                    self.bind(p);
                });
            }
            let result = self.operands_once(result)?;
            let mut code = Vec::with_capacity(stms.len());
            for stm in stms.iter().rev() {
                code.push(self.stm(stm)?);
            }
            code.reverse();
            Ok(CodeBody { unused: Vec::new(), stms: code, result })
        })
    }

    /// The operands of a result, where one variable may occur several times.
    fn operands_once(&mut self, atoms: &[Atom]) -> Compiled<Vec<Operand>> {
        self.note_repeated(|f| atoms.iter().for_each(|a| f(*a)))?;
        self.operands(atoms)
    }

    fn note_repeated(&mut self, each: impl FnOnce(&mut dyn FnMut(Atom))) -> Compiled<()> {
        let mut seen = HashSet::new();
        self.repeated.clear();
        let (slots, repeated) = (&self.slots, &mut self.repeated);
        each(&mut |atom| {
            if let Atom::Var(var) = atom
                && let Some(&slot) = slots.get(&var)
                && !seen.insert(slot)
            {
                repeated.insert(slot);
            }
        });
        Ok(())
    }

    fn stm(&mut self, stm: &Stm) -> Compiled<CodeStm> {
        let mut drops = Vec::new();
        let mut pat = Vec::with_capacity(stm.pat.len());
        for param in &stm.pat {
            let slot = self.bound(param.var)?;
            if !self.live.remove(&slot) && !self.info[slot as usize].scalar {
                drops.push(slot);
            }
            pat.push(slot);
        }
        let live_after = self.live.clone();
        let outer = std::mem::take(&mut self.outer_uses);
        let op = self.exp(&stm.exp)?;
        let used_inside = std::mem::replace(&mut self.outer_uses, outer);
        for slot in used_inside {
            if self.info[slot as usize].region != self.region {
                self.outer_uses.push(slot);
            } else if !live_after.contains(&slot) && !drops.contains(&slot) {
                drops.push(slot);
            }
        }
        Ok(CodeStm { pat, op, loc: stm.loc, drops })
    }

    fn operand(&mut self, atom: Atom) -> Compiled<Operand> {
        match atom {
            Atom::Const(prim) => Ok(Operand::Const(prim)),
            Atom::Var(var) => self.var(var),
        }
    }

    fn operands(&mut self, atoms: &[Atom]) -> Compiled<Vec<Operand>> {
        atoms.iter().map(|a| self.operand(*a)).collect()
    }

    fn vars(&mut self, vars: &[VarId]) -> Compiled<Vec<Operand>> {
        vars.iter().map(|v| self.var(*v)).collect()
    }

    fn var(&mut self, var: VarId) -> Compiled<Operand> {
        let Some(&slot) = self.slots.get(&var) else {
            let (global, stm) = *self.globals.slots.get(&var).ok_or(Unbound(var))?;
            if !self.needs.consts.contains(&stm) {
                self.needs.consts.push(stm);
            }
            return Ok(Operand::Global(global));
        };
        let info = &self.info[slot as usize];
        if info.scalar {
            return Ok(Operand::Slot(slot));
        }
        let repeated = self.repeated.contains(&slot);
        let last = self.live.insert(slot);
        if info.region != self.region || repeated {
            self.outer_uses.push(slot);
            return Ok(Operand::Slot(slot));
        }
        Ok(if last { Operand::Take(slot) } else { Operand::Slot(slot) })
    }

    fn ty(&mut self, ty: &Type) -> Compiled<CodeType> {
        match ty {
            Type::Prim(elem) => Ok(CodeType::Value(*elem, Vec::new())),
            Type::Array { elem, dims } => Ok(CodeType::Value(*elem, self.operands(dims)?)),
            Type::Acc { .. } => Ok(CodeType::Acc),
        }
    }

    fn lambda(&mut self, lambda: &Lambda) -> Compiled<CodeLambda> {
        let (params, body) = self.repeated_body(|c| {
            let params: Vec<u32> = lambda.params.iter().map(|p| c.bind(p)).collect();
            let body = c.body(&lambda.body.stms, &lambda.body.result)?;
            params.iter().for_each(|p| {
                c.live.remove(p);
            });
            Ok((params, body))
        })?;
        let ret = lambda.ret.iter().map(|t| self.ty(t)).collect::<Compiled<_>>()?;
        let independent = independent(&body, &params);
        Ok(CodeLambda { params, body, ret, independent })
    }

    fn branches(&mut self, then: &Body, otherwise: &Body) -> Compiled<(CodeBody, CodeBody)> {
        let after = self.live.clone();
        let mut then_code = self.body(&then.stms, &then.result)?;
        let then_live = std::mem::replace(&mut self.live, after);
        let mut else_code = self.body(&otherwise.stms, &otherwise.result)?;
        then_code.unused = self.own(self.live.difference(&then_live));
        else_code.unused = self.own(then_live.difference(&self.live));
        self.live.extend(then_live);
        Ok((then_code, else_code))
    }

    fn own<'s>(&self, slots: impl Iterator<Item = &'s u32>) -> Vec<u32> {
        slots.copied().filter(|s| self.info[*s as usize].region == self.region).collect()
    }

    fn exp(&mut self, exp: &Exp) -> Compiled<Instr> {
        // Nested bodies first: what they use is then live at the operands, which leave it in place.
        match exp {
            Exp::If { cond, then, otherwise } => {
                let (then, otherwise) = self.branches(then, otherwise)?;
                Ok(Instr::If {
                    cond: self.operand(*cond)?,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                })
            }
            Exp::Loop { params, form, body, .. } => self.loop_exp(exp, params, form, body),
            Exp::Map { width, arrays, lambda } => {
                let mut rows = self.rows(exp, *width, arrays, Some(lambda))?;
                rows.block = self.block(|file| compile_map(&rows, file));
                Ok(Instr::Map(Box::new(rows)))
            }
            Exp::Reduce { width, arrays, pre, op, neutral, .. } => {
                let mut fold = self.fold(exp, *width, arrays, pre.as_ref(), op, neutral)?;
                fold.block = self.block(|file| compile_fold(&fold, file));
                Ok(Instr::Reduce(Box::new(fold)))
            }
            Exp::Scan { width, arrays, pre, op, neutral } => {
                let mut fold = self.fold(exp, *width, arrays, pre.as_ref(), op, neutral)?;
                fold.block = self.block(|file| compile_fold(&fold, file));
                Ok(Instr::Scan(Box::new(fold)))
            }
            Exp::Hist { width, arrays, pre, dests, shape, op, neutral } => {
                let fold = self.fold(exp, *width, arrays, pre.as_ref(), op, neutral)?;
                Ok(Instr::Hist {
                    fold: Box::new(fold),
                    dests: self.vars(dests)?,
                    shape: self.operands(shape)?,
                })
            }
            Exp::Scatter { width, arrays, pre, dests, shape } => {
                let rows = self.rows(exp, *width, arrays, pre.as_ref())?;
                Ok(Instr::Scatter {
                    rows: Box::new(rows),
                    dests: self.vars(dests)?,
                    shape: self.operands(shape)?,
                })
            }
            Exp::WithAcc { inputs, lambda } => {
                let lambda = Box::new(self.lambda(lambda)?);
                let ops = inputs.iter().map(|i| i.op.as_ref().map(|(op, _)| self.acc_op(op)).transpose());
                let ops: Vec<_> = ops.collect::<Compiled<_>>()?;
                self.note_direct(exp)?;
                let with_ops = inputs.iter().zip(ops);
                let inputs = with_ops.map(|(input, op)| {
                    let shape = self.operands(&input.shape)?;
                    Ok(CodeAcc { shape, arrays: self.vars(&input.arrays)?, op })
                });
                Ok(Instr::WithAcc { inputs: inputs.collect::<Compiled<_>>()?, lambda })
            }
            _ => {
                self.note_direct(exp)?;
                self.simple(exp)
            }
        }
    }

    fn acc_op(&mut self, op: &Lambda) -> Compiled<CodeAccOp> {
        let mut inner = Compiler::new(self.globals);
        let mut captures = Vec::new();
        for var in visit::free_vars_lambda(op) {
            if let Some(&outside) = self.slots.get(&var) {
                let scalar = self.info[outside as usize].scalar;
                let slot = inner.bind_var(var, scalar);
                self.repeated.insert(outside);
                captures.push((slot, self.var(var)?));
            }
        }
        let lambda = inner.lambda(op)?;
        self.needs.consts.extend(inner.needs.consts);
        self.needs.funs.extend(inner.needs.funs);
        Ok(CodeAccOp { lambda, slots: inner.info.len(), captures })
    }

    fn note_direct(&mut self, exp: &Exp) -> Compiled<()> {
        self.note_repeated(|f| visit::direct_operands(exp, &mut |a| f(a)))
    }

    fn rows(
        &mut self,
        exp: &Exp,
        width: Atom,
        arrays: &[VarId],
        lambda: Option<&Lambda>,
    ) -> Compiled<CodeRows> {
        let lambda = lambda.map(|l| self.lambda(l)).transpose()?;
        self.note_direct(exp)?;
        Ok(CodeRows { width: self.operand(width)?, arrays: self.vars(arrays)?, lambda, block: None })
    }

    /// The block form under the next number, if there is one.
    fn block(&self, build: impl FnOnce(usize) -> Option<BlockCode>) -> Option<BlockCode> {
        let number = self.globals.blocks.get();
        let block = build(number)?;
        self.globals.blocks.set(number + 1);
        Some(block)
    }

    fn fold(
        &mut self,
        exp: &Exp,
        width: Atom,
        arrays: &[VarId],
        pre: Option<&Lambda>,
        op: &Lambda,
        neutral: &[Atom],
    ) -> Compiled<CodeFold> {
        let op = self.lambda(op)?;
        let rows = self.rows(exp, width, arrays, pre)?;
        Ok(CodeFold { rows, op, neutral: self.operands(neutral)?, block: None })
    }

    fn loop_exp(
        &mut self,
        exp: &Exp,
        params: &[(Param, Atom)],
        form: &LoopForm,
        body: &Body,
    ) -> Compiled<Instr> {
        let (slots, var, code, cond) = self.repeated_body(|c| {
            let slots: Vec<u32> = params.iter().map(|(p, _)| c.bind(p)).collect();
            let var = match form {
                LoopForm::For { var, .. } => Some(c.bind_var(*var, true)),
                LoopForm::While { .. } => None,
            };
            let code = c.body(&body.stms, &body.result)?;
            let cond = match form {
                LoopForm::For { .. } => None,
                LoopForm::While { cond } => Some(c.repeated_body(|c| c.body(&cond.stms, &cond.result))?),
            };
            slots.iter().for_each(|p| {
                c.live.remove(p);
            });
            Ok((slots, var, code, cond))
        })?;
        self.note_direct(exp)?;
        let init = params.iter().map(|(_, a)| self.operand(*a)).collect::<Compiled<_>>()?;
        let form = match (form, var, cond) {
            (LoopForm::For { ty, bound, .. }, Some(var), _) => {
                CodeForm::For { var, ty: *ty, bound: self.operand(*bound)? }
            }
            (_, _, cond) => CodeForm::While { cond: cond.unwrap_or_default() },
        };
        let independent = independent(&code, &slots);
        Ok(Instr::Loop(Box::new(CodeLoop { params: slots, init, form, body: code, independent })))
    }

    fn dims(&mut self, dims: &[DimSlice]) -> Compiled<Vec<CodeDim>> {
        dims.iter()
            .map(|dim| match dim {
                DimSlice::Fix(i) => Ok(CodeDim::Fix(self.operand(*i)?)),
                DimSlice::Range { start, len, stride } => Ok(CodeDim::Range {
                    start: self.operand(*start)?,
                    len: self.operand(*len)?,
                    stride: self.operand(*stride)?,
                }),
            })
            .collect()
    }

    /// Expressions without nested bodies.
    fn simple(&mut self, exp: &Exp) -> Compiled<Instr> {
        Ok(match exp {
            Exp::Atom(a) => Instr::Atom(self.operand(*a)?),
            Exp::UnOp(op, _, a) => Instr::UnOp(*op, self.operand(*a)?),
            Exp::BinOp(op, _, a, b) => Instr::BinOp(*op, self.operand(*a)?, self.operand(*b)?),
            Exp::TernOp(op, _, [a, b, c]) => {
                Instr::TernOp(*op, [self.operand(*a)?, self.operand(*b)?, self.operand(*c)?])
            }
            Exp::CmpOp(op, _, a, b) => Instr::CmpOp(*op, self.operand(*a)?, self.operand(*b)?),
            Exp::Convert(_, to, a) => Instr::Convert(*to, self.operand(*a)?),
            Exp::Index { array, indices, check } => {
                Instr::Index { array: self.var(*array)?, indices: self.operands(indices)?, check: *check }
            }
            Exp::Slice { array, dims } => Instr::Slice { array: self.var(*array)?, dims: self.dims(dims)? },
            Exp::Update { array, dims, value, check } => {
                let (array, dims, value) = (self.var(*array)?, self.dims(dims)?, self.operand(*value)?);
                let fixed: Option<Vec<Operand>> = dims.iter().map(CodeDim::fixed).collect();
                match fixed {
                    Some(indices) => Instr::UpdateAt { array, indices, value, check: *check },
                    None => Instr::Update { array, dims, value },
                }
            }
            Exp::Copy(array) => Instr::Copy(self.var(*array)?),
            Exp::Iota { ty, n, start, step } => Instr::Iota {
                ty: *ty,
                n: self.operand(*n)?,
                start: self.operand(*start)?,
                step: self.operand(*step)?,
            },
            Exp::Replicate { dims, value } => {
                Instr::Replicate { dims: self.operands(dims)?, value: self.operand(*value)? }
            }
            Exp::Rearrange { perm, array } => {
                Instr::Rearrange { perm: perm.clone(), array: self.var(*array)? }
            }
            Exp::Reshape { dims, array } => {
                Instr::Reshape { dims: self.operands(dims)?, array: self.var(*array)? }
            }
            Exp::Concat { arrays } => Instr::Concat { arrays: self.vars(arrays)? },
            Exp::Contract { sizes, rank, left, right, plus, triangles } => Instr::Contract {
                sizes: self.operands(sizes)?,
                rank: *rank,
                left: (self.var(left.array)?, left.axes.clone()),
                right: (self.var(right.array)?, right.axes.clone()),
                plus: plus.map(|array| self.var(array)).transpose()?,
                triangles: triangles.clone(),
            },
            Exp::Scratch { elem, dims } => Instr::Scratch { elem: *elem, dims: self.operands(dims)? },
            Exp::ArrayLit { row, elems } => {
                Instr::ArrayLit { row: self.ty(row)?, elems: self.operands(elems)? }
            }
            Exp::Call { fun, args } => {
                let index = fun.0 as usize;
                if !self.needs.funs.contains(&index) {
                    self.needs.funs.push(index);
                }
                Instr::Call { fun: *fun, args: self.operands(args)? }
            }
            Exp::Assert { cond, message } => {
                Instr::Assert { cond: self.operand(*cond)?, message: self.message(message)? }
            }
            Exp::Trace { tag, values } => Instr::Trace { tag: tag.clone(), values: self.operands(values)? },
            Exp::UpdateAcc { acc, indices, values } => Instr::UpdateAcc {
                acc: self.var(*acc)?,
                indices: self.operands(indices)?,
                values: self.operands(values)?,
            },
            Exp::If { .. } | Exp::Loop { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => {
                return self.exp(exp);
            }
            Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } => return self.exp(exp),
            // What derivatives mean is for `ad` to say.
            Exp::Jvp { .. }
            | Exp::Vjp { .. }
            | Exp::WithVjp { .. }
            | Exp::Transpose { .. }
            | Exp::Detach(_) => Instr::Assert {
                cond: self.operand(Atom::bool(false))?,
                message: vec![CodePart::Text("internal error: run `ad` first".to_owned())],
            },
        })
    }

    fn message(&mut self, message: &[MsgPart]) -> Compiled<Vec<CodePart>> {
        message
            .iter()
            .map(|part| match part {
                MsgPart::Text(text) => Ok(CodePart::Text(text.clone())),
                MsgPart::Value(atom) => Ok(CodePart::Value(self.operand(*atom)?)),
            })
            .collect()
    }
}

/// Whether no result reads a target, other than the one it goes to.
fn independent(body: &CodeBody, targets: &[u32]) -> bool {
    body.result.iter().enumerate().all(|(i, operand)| match operand {
        Operand::Slot(slot) | Operand::Take(slot) => {
            targets.iter().position(|t| t == slot).is_none_or(|at| at == i)
        }
        Operand::Global(_) | Operand::Const(_) => true,
    })
}
