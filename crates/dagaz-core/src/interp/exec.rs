//! Running bodies, scalar operations and control.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Instant;

use smallvec::SmallVec;

use crate::prim::{Prim, PrimType};
use crate::prim_eval::{convert, eval_binop, eval_cmpop, eval_ternop, eval_unop};
use crate::types::FunId;
use crate::value::{Array, live};

use super::Limits;
use super::block::Lanes;
use super::bulk::OpenAcc;
use super::code::{Code, CodeBody, CodeConst, CodeForm, CodeLoop, CodePart, CodeStm, Instr, Operand, Slot};
use super::error::{Fallible, fault, internal};

/// How many statements run between two looks at the clock.
const PATIENCE: u32 = 4096;

pub(super) type Frame = Vec<Slot>;

pub(super) struct Machine<'c> {
    pub(super) code: &'c Code,
    globals: &'c mut Vec<Slot>,
    limits: &'c Limits,
    /// The accumulators that are open, the innermost last.
    pub(super) accs: Vec<OpenAcc<'c>>,
    pub(super) work: u64,
    pub(super) span: u64,
    /// Whether scalar lambdas run by the block.
    pub(super) blockwise: bool,
    pub(super) register_files: Vec<Option<Box<Lanes>>>,
    patience: u32,
    depth: u32,
}

/// Reading variables.
impl<'c> Machine<'c> {
    pub(super) fn new(
        code: &'c Code,
        globals: &'c mut Vec<Slot>,
        limits: &'c Limits,
        blockwise: bool,
    ) -> Machine<'c> {
        Machine {
            code,
            globals,
            limits,
            accs: Vec::new(),
            work: 0,
            span: 0,
            blockwise,
            register_files: std::iter::repeat_with(|| None).take(code.blocks).collect(),
            patience: 0,
            depth: 0,
        }
    }

    /// The value, moved out if this is its last use.
    #[inline]
    pub(super) fn read(&self, frame: &mut Frame, operand: Operand) -> Slot {
        match operand {
            Operand::Slot(slot) => frame[slot as usize].clone(),
            Operand::Take(slot) => std::mem::take(&mut frame[slot as usize]),
            Operand::Global(global) => self.globals[global as usize].clone(),
            Operand::Const(prim) => Slot::Prim(prim),
        }
    }

    #[inline]
    pub(super) fn prim(&self, frame: &Frame, operand: Operand) -> Fallible<Prim> {
        let slot = match operand {
            Operand::Const(prim) => return Ok(prim),
            Operand::Slot(slot) | Operand::Take(slot) => &frame[slot as usize],
            Operand::Global(global) => &self.globals[global as usize],
        };
        match slot {
            Slot::Prim(prim) => Ok(*prim),
            Slot::Array(_) | Slot::Acc(_) => Err(internal("a scalar is expected")),
            Slot::Empty => Err(internal("a variable is used before it is bound")),
        }
    }

    #[inline]
    pub(super) fn i64(&self, frame: &Frame, operand: Operand) -> Fallible<i64> {
        match self.prim(frame, operand)? {
            Prim::I64(n) => Ok(n),
            other => Err(internal(format!("an i64 is expected, not {other}"))),
        }
    }

    pub(super) fn bool(&self, frame: &Frame, operand: Operand) -> Fallible<bool> {
        self.prim(frame, operand)?.as_bool().ok_or_else(|| internal("a bool is expected"))
    }

    /// A size. What the program calls it comes first in the message.
    pub(super) fn size(&self, frame: &Frame, operand: Operand, what: &str) -> Fallible<usize> {
        let n = self.i64(frame, operand)?;
        usize::try_from(n).map_err(|_| fault(format!("{what} is negative: {n}")))
    }

    /// The array, moved out if this is its last use.
    pub(super) fn array(&self, frame: &mut Frame, operand: Operand) -> Fallible<Array> {
        match self.read(frame, operand) {
            Slot::Array(array) => Ok(array),
            Slot::Empty => Err(internal("an array is used before it is bound, or after it was consumed")),
            Slot::Prim(_) | Slot::Acc(_) => Err(internal("an array is expected")),
        }
    }

    /// The array where it is.
    pub(super) fn array_ref<'a>(&'a self, frame: &'a Frame, operand: Operand) -> Fallible<&'a Array> {
        match self.slot(frame, operand) {
            Some(Slot::Array(array)) => Ok(array),
            Some(Slot::Empty) => {
                Err(internal("an array is used before it is bound, or after it was consumed"))
            }
            Some(Slot::Prim(_) | Slot::Acc(_)) | None => Err(internal("an array is expected")),
        }
    }

    /// The slot or global of a variable; none for a constant.
    pub(super) fn slot<'a>(&'a self, frame: &'a Frame, operand: Operand) -> Option<&'a Slot> {
        match operand {
            Operand::Slot(slot) | Operand::Take(slot) => Some(&frame[slot as usize]),
            Operand::Global(global) => Some(&self.globals[global as usize]),
            Operand::Const(_) => None,
        }
    }

    /// Forgets the value if this was its last use.
    pub(super) fn release(&self, frame: &mut Frame, operand: Operand) {
        if let Operand::Take(slot) = operand {
            frame[slot as usize] = Slot::Empty;
        }
    }

    /// Refuses memory beyond the limit. To be called before every allocation.
    pub(super) fn reserve(&self, elements: usize, ty: PrimType) -> Fallible<()> {
        let bytes = (elements as u64).saturating_mul(ty.bytes() as u64);
        let limit = self.limits.memory.unwrap_or(isize::MAX as u64);
        let alive = u64::try_from(live().bytes).unwrap_or(0);
        if alive.saturating_add(bytes) > limit {
            return Err(fault(format!(
                "out of memory: {elements} elements of {ty} do not fit in {limit} bytes"
            )));
        }
        Ok(())
    }

    pub(super) fn count(&mut self, elements: usize) {
        self.work += elements as u64;
        self.span += 1;
    }
}

/// Bodies, statements and calls.
impl<'c> Machine<'c> {
    pub(super) fn eval_const(&mut self, constant: &'c CodeConst) -> Fallible<()> {
        let mut frame = vec![Slot::Empty; constant.slots];
        self.body(&mut frame, &constant.body)?;
        for (&global, &operand) in constant.globals.iter().zip(&constant.body.result) {
            self.globals[global as usize] = self.read(&mut frame, operand);
        }
        Ok(())
    }

    pub(super) fn call(&mut self, fun: FunId, args: SmallVec<[Slot; 4]>) -> Fallible<SmallVec<[Slot; 4]>> {
        let code = self.code;
        let callee = code.funs.get(fun.0 as usize).ok_or_else(|| internal("no such function"))?;
        if callee.params.len() != args.len() {
            return Err(internal(format!("{} arguments for {} parameters", args.len(), callee.params.len())));
        }
        if self.depth >= self.limits.depth {
            return Err(fault(format!("recursion too deep: {} calls", self.depth)));
        }
        self.depth += 1;
        let results = stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || {
            let mut frame = vec![Slot::Empty; callee.slots];
            for (slot, arg) in callee.params.iter().zip(args) {
                frame[*slot as usize] = arg;
            }
            self.body(&mut frame, &callee.body)?;
            Ok(callee.body.result.iter().map(|r| self.read(&mut frame, *r)).collect())
        });
        self.depth -= 1;
        results
    }

    /// Runs the statements. The results are then to be read.
    pub(super) fn body(&mut self, frame: &mut Frame, body: &'c CodeBody) -> Fallible<()> {
        for slot in &body.unused {
            frame[*slot as usize] = Slot::Empty;
        }
        for stm in &body.stms {
            if let Err(mut error) = self.stm(frame, stm) {
                if error.loc == crate::exp::Loc::NONE && error.stack.is_empty() {
                    error.loc = stm.loc;
                } else if matches!(stm.op, Instr::Call { .. }) {
                    error.stack.push(stm.loc);
                }
                return Err(error);
            }
            for slot in &stm.drops {
                frame[*slot as usize] = Slot::Empty;
            }
        }
        Ok(())
    }

    /// Time passes: looks at the limits now and then.
    #[inline]
    pub(super) fn tick(&mut self) -> Fallible<()> {
        if self.patience > 0 {
            self.patience -= 1;
            return Ok(());
        }
        self.patience = PATIENCE;
        if self.limits.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(fault("cancelled"));
        }
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(fault("the time limit is reached"));
        }
        Ok(())
    }

    fn stm(&mut self, frame: &mut Frame, stm: &'c CodeStm) -> Fallible<()> {
        self.tick()?;
        let prim = match &stm.op {
            Instr::UnOp(op, x) => eval_unop(*op, self.prim(frame, *x)?)?,
            Instr::BinOp(op, x, y) => eval_binop(*op, self.prim(frame, *x)?, self.prim(frame, *y)?)?,
            Instr::CmpOp(op, x, y) => {
                Prim::Bool(eval_cmpop(*op, self.prim(frame, *x)?, self.prim(frame, *y)?)?)
            }
            Instr::Convert(to, x) => convert(*to, self.prim(frame, *x)?),
            Instr::TernOp(op, [x, y, z]) => {
                eval_ternop(*op, self.prim(frame, *x)?, self.prim(frame, *y)?, self.prim(frame, *z)?)?
            }
            _ => return self.compound(frame, stm),
        };
        self.count(1);
        match stm.pat.as_slice() {
            [slot] => {
                set_prim(&mut frame[*slot as usize], prim);
                Ok(())
            }
            _ => Err(internal("one variable is expected in the pattern")),
        }
    }

    /// Binds the only variable of a pattern.
    #[inline]
    pub(super) fn bind(&self, frame: &mut Frame, pat: &[u32], value: Slot) -> Fallible<()> {
        match pat {
            [slot] => {
                frame[*slot as usize] = value;
                Ok(())
            }
            _ => Err(internal("one variable is expected in the pattern")),
        }
    }

    fn compound(&mut self, frame: &mut Frame, stm: &'c CodeStm) -> Fallible<()> {
        let pat = &stm.pat;
        let value = match &stm.op {
            Instr::Atom(a) => self.read(frame, *a),
            Instr::Index { array, indices, check } => self.index(frame, *array, indices, *check)?,
            Instr::Slice { array, dims } => self.slice(frame, *array, dims)?,
            Instr::Update { array, dims, value } => self.update(frame, *array, dims, *value)?,
            Instr::UpdateAt { array, indices, value, check } => {
                self.update_at(frame, *array, indices, *value, *check)?
            }
            Instr::Copy(array) => self.copy(frame, *array)?,
            Instr::Iota { ty, n, start, step } => self.iota(frame, *ty, *n, *start, *step)?,
            Instr::Replicate { dims, value } => self.replicate(frame, dims, *value)?,
            Instr::Rearrange { perm, array } => self.rearrange(frame, perm, *array)?,
            Instr::Reshape { dims, array } => self.reshape(frame, dims, *array)?,
            Instr::Concat { arrays } => self.concat(frame, arrays)?,
            Instr::Contract { sizes, rank, left, right, plus, triangles } => {
                self.contract(frame, (sizes, *rank), left, right, *plus, triangles)?
            }
            Instr::Scratch { elem, dims } => self.scratch(frame, *elem, dims)?,
            Instr::ArrayLit { row, elems } => self.array_lit(frame, row, elems)?,
            Instr::UpdateAcc { acc, indices, values } => self.update_acc(frame, *acc, indices, values)?,
            Instr::If { cond, then, otherwise } => {
                let branch = if self.bool(frame, *cond)? { then } else { otherwise };
                self.body(frame, branch)?;
                return self.rebind(frame, &branch.result, pat, true);
            }
            Instr::Loop(code) => return self.run_loop(frame, code, pat),
            Instr::Call { fun, args } => {
                let args = args.iter().map(|a| self.read(frame, *a)).collect();
                let results = self.call(*fun, args)?;
                return self.bind_all(frame, pat, results);
            }
            Instr::Assert { cond, message } => return self.assert(frame, *cond, message),
            Instr::Trace { tag, values } => return self.trace(frame, tag, values, pat),
            Instr::Map(rows) => return self.map(frame, rows, pat),
            Instr::Reduce(fold) => return self.reduce(frame, fold, pat),
            Instr::Scan(fold) => return self.scan(frame, fold, pat),
            Instr::Hist { fold, dests, shape } => return self.hist(frame, fold, dests, shape, pat),
            Instr::Scatter { rows, dests, shape } => return self.scatter(frame, rows, dests, shape, pat),
            Instr::WithAcc { inputs, lambda } => return self.with_acc(frame, inputs, lambda, pat),
            Instr::UnOp(..)
            | Instr::BinOp(..)
            | Instr::CmpOp(..)
            | Instr::Convert(..)
            | Instr::TernOp(..) => {
                return Err(internal("a scalar operation is not compound"));
            }
        };
        self.bind(frame, pat, value)
    }

    pub(super) fn bind_all(
        &self,
        frame: &mut Frame,
        pat: &[u32],
        values: impl IntoIterator<Item = Slot, IntoIter: ExactSizeIterator>,
    ) -> Fallible<()> {
        let values = values.into_iter();
        if values.len() != pat.len() {
            return Err(internal(format!("{} results for {} variables", values.len(), pat.len())));
        }
        for (slot, value) in pat.iter().zip(values) {
            frame[*slot as usize] = value;
        }
        Ok(())
    }

    /// Moves results to targets; one by one if no result reads a target of another.
    pub(super) fn rebind(
        &self,
        frame: &mut Frame,
        results: &[Operand],
        targets: &[u32],
        independent: bool,
    ) -> Fallible<()> {
        if !independent {
            let values: SmallVec<[Slot; 4]> = results.iter().map(|r| self.read(frame, *r)).collect();
            return self.bind_all(frame, targets, values);
        }
        if results.len() != targets.len() {
            return Err(internal(format!("{} results for {} variables", results.len(), targets.len())));
        }
        for (result, target) in results.iter().zip(targets) {
            match self.read(frame, *result) {
                Slot::Prim(prim) => set_prim(&mut frame[*target as usize], prim),
                value => frame[*target as usize] = value,
            }
        }
        Ok(())
    }

    fn run_loop(&mut self, frame: &mut Frame, code: &'c CodeLoop, pat: &[u32]) -> Fallible<()> {
        for (param, init) in code.params.iter().zip(&code.init) {
            let value = self.read(frame, *init);
            frame[*param as usize] = value;
        }
        match &code.form {
            CodeForm::For { var, ty, bound } => {
                let bound = self.prim(frame, *bound)?;
                let bound = match bound {
                    Prim::U64(n) => i64::try_from(n).unwrap_or(i64::MAX),
                    other => other.as_i64().ok_or_else(|| internal("the bound of a loop is an integer"))?,
                };
                for i in 0..bound.max(0) {
                    self.tick()?;
                    frame[*var as usize] = Slot::Prim(Prim::of_i64(*ty, i));
                    self.body(frame, &code.body)?;
                    self.rebind(frame, &code.body.result, &code.params, code.independent)?;
                }
            }
            CodeForm::While { cond } => loop {
                self.tick()?;
                self.body(frame, cond)?;
                let [go_on] = cond.result.as_slice() else {
                    return Err(internal("the condition of a loop has one result"));
                };
                if !self.bool(frame, *go_on)? {
                    break;
                }
                self.body(frame, &code.body)?;
                self.rebind(frame, &code.body.result, &code.params, code.independent)?;
            },
        }
        let results: SmallVec<[Slot; 4]> =
            code.params.iter().map(|p| std::mem::take(&mut frame[*p as usize])).collect();
        self.bind_all(frame, pat, results)
    }

    fn assert(&mut self, frame: &mut Frame, cond: Operand, message: &[CodePart]) -> Fallible<()> {
        self.count(1);
        if self.bool(frame, cond)? {
            return Ok(());
        }
        let mut text = String::new();
        for part in message {
            match part {
                CodePart::Text(part) => text.push_str(part),
                CodePart::Value(operand) => match self.read(frame, *operand) {
                    Slot::Prim(prim) => text.push_str(&bare(prim)),
                    Slot::Array(array) => text.push_str(&crate::formats::text::print(&array.into())),
                    Slot::Acc(_) | Slot::Empty => text.push('?'),
                },
            }
        }
        Err(fault(text))
    }

    fn trace(&mut self, frame: &mut Frame, tag: &str, values: &[Operand], pat: &[u32]) -> Fallible<()> {
        let values: SmallVec<[Slot; 4]> = values.iter().map(|v| self.read(frame, *v)).collect();
        let mut text = String::new();
        for value in &values {
            let shown = match value {
                Slot::Prim(prim) => prim.to_string(),
                Slot::Array(array) => crate::formats::text::print(&array.clone().into()),
                Slot::Acc(_) => "<accumulator>".to_string(),
                Slot::Empty => return Err(internal("a traced variable is not bound")),
            };
            let _ = write!(text, "{}{shown}", if text.is_empty() { "" } else { " " });
        }
        eprintln!("{tag}: {text}");
        self.bind_all(frame, pat, values)
    }
}

/// Stores a scalar, mostly over another one, which needs no drop.
#[inline]
pub(super) fn set_prim(slot: &mut Slot, prim: Prim) {
    match slot {
        Slot::Prim(old) => *old = prim,
        Slot::Empty | Slot::Acc(_) | Slot::Array(_) => *slot = Slot::Prim(prim),
    }
}

/// A scalar in a message: without the suffix that says its type.
pub fn bare(prim: Prim) -> String {
    let text = prim.to_string();
    match prim {
        Prim::Bool(_) => text,
        _ if text.contains(".nan") || text.contains(".inf") => text,
        _ => text.trim_end_matches(prim.ty().name()).to_string(),
    }
}
