//! From [`CodeLambda`] to [`BlockCode`], where every instruction has a columnar form.

use std::collections::HashMap;

use crate::interp::code::{
    CodeBody, CodeFold, CodeForm, CodeLambda, CodeLoop, CodeRows, CodeStm, CodeType, Instr, Operand,
};

use super::{
    Arg, BlockBody, BlockCode, BlockForm, BlockLambda, BlockLoop, BlockOp, BlockReduce, BlockResult,
    BlockStm, KnownOp, Op,
};

/// The block form of a map whose results are scalars, if it has one.
pub(in crate::interp) fn compile_map(rows: &CodeRows, file: usize) -> Option<BlockCode> {
    let mut compiler = Compiler::default();
    let lambda = rows.lambda.as_ref()?;
    if lambda.ret.is_empty() || !scalars(&lambda.ret) {
        return None;
    }
    let lambda = compiler.lambda(lambda)?;
    Some(compiler.finish(file, Some(lambda), None))
}

/// The block form of a reduction or scan of scalars, if it has one.
pub(in crate::interp) fn compile_fold(fold: &CodeFold, file: usize) -> Option<BlockCode> {
    let mut compiler = Compiler::default();
    if !scalars(&fold.op.ret) {
        return None;
    }
    let pre = match &fold.rows.lambda {
        Some(lambda) => Some(compiler.lambda(lambda)?),
        None => None,
    };
    let lambda = compiler.operator(&fold.op)?;
    let known = known_operator(&lambda);
    let rows = fold.rows.arrays.iter().map(|_| compiler.fresh()).collect();
    Some(compiler.finish(file, pre, Some(BlockOp { lambda, known, rows })))
}

fn scalars(types: &[CodeType]) -> bool {
    types.iter().all(|ty| matches!(ty, CodeType::Value(_, dims) if dims.is_empty()))
}

#[derive(Default)]
struct Compiler {
    /// Variables that are bound inside.
    inner: HashMap<u32, u32>,
    slots: HashMap<u32, u32>,
    globals: HashMap<u32, u32>,
    imports: Vec<(u32, Operand)>,
    registers: u32,
    nests: bool,
}

impl Compiler {
    fn finish(self, file: usize, lambda: Option<BlockLambda>, op: Option<BlockOp>) -> BlockCode {
        let registers = self.registers as usize;
        BlockCode { file, registers, imports: self.imports, lambda, op, nests: self.nests }
    }

    fn fresh(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn bind(&mut self, slot: u32) -> u32 {
        let register = self.fresh();
        self.inner.insert(slot, register);
        register
    }

    fn arg(&mut self, operand: Operand) -> Arg {
        let known = match operand {
            Operand::Const(prim) => return Arg::Const(prim),
            Operand::Slot(slot) | Operand::Take(slot) => {
                self.inner.get(&slot).or_else(|| self.slots.get(&slot))
            }
            Operand::Global(global) => self.globals.get(&global),
        };
        if let Some(register) = known {
            return Arg::Reg(*register);
        }
        let register = self.fresh();
        let import = match operand {
            Operand::Slot(slot) | Operand::Take(slot) => {
                self.slots.insert(slot, register);
                Operand::Slot(slot)
            }
            Operand::Global(global) => {
                self.globals.insert(global, register);
                operand
            }
            Operand::Const(_) => operand,
        };
        self.imports.push((register, import));
        Arg::Reg(register)
    }

    fn args(&mut self, operands: &[Operand]) -> Vec<Arg> {
        operands.iter().map(|o| self.arg(*o)).collect()
    }

    fn array(&mut self, operand: Operand) -> Option<u32> {
        match self.arg(operand) {
            Arg::Reg(register) => Some(register),
            Arg::Const(_) => None,
        }
    }

    fn lambda(&mut self, lambda: &CodeLambda) -> Option<BlockLambda> {
        let params: Vec<u32> = lambda.params.iter().map(|p| self.bind(*p)).collect();
        let body = self.body(&lambda.body)?;
        Some(BlockLambda { params, body })
    }

    /// An operator, whose results go to its first parameters.
    fn operator(&mut self, lambda: &CodeLambda) -> Option<BlockLambda> {
        if lambda.params.len() != 2 * lambda.body.result.len() {
            return None;
        }
        let mut compiled = self.lambda(lambda)?;
        if !lambda.independent {
            self.detach_results(&mut compiled.body);
        }
        Some(compiled)
    }

    /// Copies the results, so that they can be written to parameters one after the other.
    fn detach_results(&mut self, body: &mut BlockBody) {
        for result in &mut body.result {
            let copy = self.fresh();
            body.stms.push(BlockStm { targets: vec![copy], op: Op::Atom(result.arg) });
            *result = BlockResult { arg: Arg::Reg(copy), movable: true };
        }
    }

    fn body(&mut self, body: &CodeBody) -> Option<BlockBody> {
        let mut stms: Vec<BlockStm> = Vec::with_capacity(body.stms.len());
        for stm in &body.stms {
            stms.push(self.stm(stm)?);
        }
        let args = self.args(&body.result);
        let own = |arg: &Arg| match arg {
            Arg::Const(_) => false,
            Arg::Reg(r) => stms.iter().any(|stm| stm.targets.contains(r)),
        };
        let once = |arg: &Arg| match arg {
            Arg::Const(_) => false,
            Arg::Reg(r) => args.iter().filter(|a| matches!(a, Arg::Reg(other) if other == r)).count() == 1,
        };
        let result = args.iter().map(|arg| BlockResult { arg: *arg, movable: own(arg) && once(arg) });
        let result = result.collect();
        Some(BlockBody { stms, result })
    }

    fn stm(&mut self, stm: &CodeStm) -> Option<BlockStm> {
        let op = self.op(&stm.op)?;
        let targets = stm.pat.iter().map(|slot| self.bind(*slot)).collect();
        Some(BlockStm { targets, op })
    }

    fn op(&mut self, instr: &Instr) -> Option<Op> {
        Some(match instr {
            Instr::Atom(a) => Op::Atom(self.arg(*a)),
            Instr::UnOp(op, a) => Op::Un(*op, self.arg(*a)),
            Instr::BinOp(op, a, b) => Op::Bin(*op, self.arg(*a), self.arg(*b)),
            Instr::TernOp(op, [a, b, c]) => Op::Tern(*op, [self.arg(*a), self.arg(*b), self.arg(*c)]),
            Instr::CmpOp(op, a, b) => Op::Cmp(*op, self.arg(*a), self.arg(*b)),
            Instr::Convert(to, a) => Op::Convert(*to, self.arg(*a)),
            Instr::Index { array, indices, .. } => {
                Op::Index { array: self.array(*array)?, indices: self.args(indices) }
            }
            Instr::Assert { cond, .. } => Op::Assert(self.arg(*cond)),
            Instr::If { cond, then, otherwise } => {
                Op::If { cond: self.arg(*cond), then: self.body(then)?, otherwise: self.body(otherwise)? }
            }
            Instr::Loop(code) => Op::Loop(Box::new(self.loop_op(code)?)),
            Instr::Reduce(fold) => Op::Reduce(Box::new(self.reduce(fold)?)),
            // Arrays that are made inside, and effects, have no columns.
            Instr::Slice { .. }
            | Instr::UpdateAt { .. }
            | Instr::Update { .. }
            | Instr::Copy(_)
            | Instr::Iota { .. }
            | Instr::Replicate { .. }
            | Instr::Rearrange { .. }
            | Instr::Reshape { .. }
            | Instr::Concat { .. }
            | Instr::Contract { .. }
            | Instr::Scratch { .. }
            | Instr::ArrayLit { .. } => return None,
            Instr::Call { .. } | Instr::Trace { .. } | Instr::Map(_) | Instr::Scan(_) => return None,
            Instr::Hist { .. } | Instr::Scatter { .. } | Instr::WithAcc { .. } | Instr::UpdateAcc { .. } => {
                return None;
            }
        })
    }

    fn loop_op(&mut self, code: &CodeLoop) -> Option<BlockLoop> {
        let init = self.args(&code.init);
        let bound = match &code.form {
            CodeForm::For { bound, .. } => Some(self.arg(*bound)),
            CodeForm::While { .. } => None,
        };
        let params = code.params.iter().map(|p| self.bind(*p)).collect();
        let form = match (&code.form, bound) {
            (CodeForm::For { var, ty, .. }, Some(bound)) => {
                BlockForm::For { var: self.bind(*var), ty: *ty, bound }
            }
            (CodeForm::While { cond }, _) => BlockForm::While { cond: self.body(cond)? },
            (CodeForm::For { .. }, None) => return None,
        };
        let mut body = self.body(&code.body)?;
        if !code.independent {
            self.detach_results(&mut body);
        }
        Some(BlockLoop { params, init, form, body })
    }

    fn reduce(&mut self, fold: &CodeFold) -> Option<BlockReduce> {
        if !scalars(&fold.op.ret) {
            return None;
        }
        self.nests = true;
        let width = self.arg(fold.rows.width);
        let arrays = fold.rows.arrays.iter().map(|a| self.array(*a)).collect::<Option<_>>()?;
        let neutral = self.args(&fold.neutral);
        let pre = match &fold.rows.lambda {
            Some(lambda) => Some(self.lambda(lambda)?),
            None => None,
        };
        let op = self.operator(&fold.op)?;
        Some(BlockReduce { width, arrays, pre, op, neutral })
    }
}

/// The operation of each component, for an operator such as `\(a, b, x, y) -> (a + x, max b y)`.
fn known_operator(lambda: &BlockLambda) -> Option<Vec<KnownOp>> {
    let results = &lambda.body.result;
    let (old, new) = lambda.params.split_at(results.len());
    if lambda.body.stms.len() != results.len() {
        return None;
    }
    let known = results.iter().enumerate().map(|(i, result)| {
        let Arg::Reg(register) = result.arg else { return None };
        let stm = lambda.body.stms.iter().find(|stm| stm.targets == [register])?;
        match stm.op {
            Op::Bin(op, Arg::Reg(x), Arg::Reg(y)) if (x, y) == (old[i], new[i]) => {
                Some(KnownOp { op, swapped: false })
            }
            Op::Bin(op, Arg::Reg(x), Arg::Reg(y)) if (x, y) == (new[i], old[i]) => {
                Some(KnownOp { op, swapped: true })
            }
            _ => None,
        }
    });
    known.collect()
}
