//! The registers of a block, and the instructions that run on them.

use std::mem;

use crate::interp::error::RuntimeError;
use crate::interp::exec::Machine;
use crate::prim::{BinOp, Prim};
use crate::prim_eval::{convert, eval_binop, eval_cmpop, eval_ternop, eval_unop};
use crate::value::{Array, Elems};

use super::columns::{self, Failed, Operand};
use super::{Arg, BlockBody, BlockResult, BlockStm, Op};

/// Why a block stopped.
pub(super) enum Stop {
    /// The ordinary path is to run these rows.
    Retry,
    /// A limit is reached.
    Error(Box<RuntimeError>),
}

pub(super) type Run<T> = Result<T, Stop>;

impl From<Failed> for Stop {
    fn from(_: Failed) -> Stop {
        Stop::Retry
    }
}

impl From<Box<RuntimeError>> for Stop {
    fn from(error: Box<RuntimeError>) -> Stop {
        Stop::Error(error)
    }
}

/// An array, or a part of it that indexing leaves: lane `l` has what begins at element `at + l * stride`.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The number of the array.
    pub(super) array: u32,
    pub(super) at: usize,
    pub(super) stride: i64,
    /// How many dimensions have been indexed.
    pub(super) indexed: usize,
}

/// What a register holds.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Empty,
    /// The same for all lanes.
    Scalar(Prim),
    /// The register's own column.
    Own,
    /// Elements of an array from a position of its buffer on.
    View {
        array: u32,
        at: usize,
    },
    Part(Part),
}

pub(super) struct Register {
    pub(super) content: Content,
    /// Lane `l` holds `start + l * step`, an `i64`: known for some columns.
    pub(super) affine: Option<(i64, i64)>,
    pub(super) column: Elems,
}

/// The registers, and what the lanes have cost so far.
pub(in crate::interp) struct Lanes {
    pub(super) registers: Vec<Register>,
    pub(super) arrays: Vec<Array>,
    pub(super) lanes: usize,
    /// The lanes that run, if not all do.
    pub(super) mask: Option<Vec<bool>>,
    pub(super) active: u64,
    pub(super) work: u64,
    /// The span that all lanes have in common.
    pub(super) span: u64,
    /// What lanes have beyond that, once they have parted.
    pub(super) own_span: Vec<u64>,
    positions: Vec<usize>,
    /// A column that is not in use.
    pub(super) spare: Elems,
    /// Blocks that the ordinary path had to run.
    pub(in crate::interp) failures: u32,
}

impl Lanes {
    pub(super) fn new(registers: usize) -> Lanes {
        let register = || Register { content: Content::Empty, affine: None, column: Elems::Bool(Vec::new()) };
        Lanes {
            registers: std::iter::repeat_with(register).take(registers).collect(),
            arrays: Vec::new(),
            lanes: 0,
            mask: None,
            active: 0,
            work: 0,
            span: 0,
            own_span: Vec::new(),
            positions: Vec::new(),
            spare: Elems::Bool(Vec::new()),
            failures: 0,
        }
    }

    /// Begins a block of so many lanes.
    pub(super) fn begin(&mut self, lanes: usize) {
        self.lanes = lanes;
        self.active = lanes as u64;
        self.mask = None;
        self.work = 0;
        self.span = 0;
        self.own_span.clear();
    }

    /// The greatest span of any lane.
    pub(super) fn greatest_span(&self) -> u64 {
        self.span + self.own_span.iter().copied().max().unwrap_or(0)
    }

    pub(super) fn set(&mut self, register: u32, content: Content) {
        let register = &mut self.registers[register as usize];
        register.content = content;
        register.affine = None;
    }

    #[inline]
    pub(super) fn operand(&self, arg: Arg) -> Run<Operand<'_>> {
        let register = match arg {
            Arg::Const(prim) => return Ok(Operand::One(prim)),
            Arg::Reg(register) => &self.registers[register as usize],
        };
        match register.content {
            Content::Scalar(prim) => Ok(Operand::One(prim)),
            Content::Own => Ok(Operand::Many(&register.column, 0)),
            Content::View { array, at } => Ok(Operand::Many(self.arrays[array as usize].elems().0, at)),
            Content::Part(_) | Content::Empty => Err(Stop::Retry),
        }
    }

    pub(super) fn scalar(&self, arg: Arg) -> Run<Prim> {
        match self.operand(arg)? {
            Operand::One(prim) => Ok(prim),
            Operand::Many(..) => Err(Stop::Retry),
        }
    }

    pub(super) fn part(&self, register: u32) -> Run<Part> {
        match self.registers[register as usize].content {
            Content::Part(part) => Ok(part),
            Content::Empty | Content::Scalar(_) | Content::Own | Content::View { .. } => Err(Stop::Retry),
        }
    }

    /// Where lane `l` holds `start + l * step`, exactly.
    fn affine(&self, arg: Arg) -> Option<(i64, i64)> {
        match arg {
            Arg::Const(Prim::I64(n)) => Some((n, 0)),
            Arg::Const(_) => None,
            Arg::Reg(register) => match &self.registers[register as usize] {
                Register { content: Content::Scalar(Prim::I64(n)), .. } => Some((*n, 0)),
                register => register.affine,
            },
        }
    }

    /// The steps of a view of an array of `i64`, if they are all the same.
    pub(super) fn progression(&self, register: u32) -> Option<(i64, i64)> {
        let Content::View { array, at } = self.registers[register as usize].content else { return None };
        let Elems::I64(all) = self.arrays[array as usize].elems().0 else { return None };
        let column = all.get(at..at + self.lanes)?;
        let start = *column.first()?;
        let step = column.get(1).map_or(Some(0), |next| next.checked_sub(start))?;
        last_of(start, step, self.lanes)?;
        column.windows(2).all(|w| w[1].wrapping_sub(w[0]) == step).then_some((start, step))
    }

    #[inline]
    fn affine_result(&self, op: BinOp, x: Arg, y: Arg) -> Option<(i64, i64)> {
        let ((a, s), (b, t)) = (self.affine(x)?, self.affine(y)?);
        let (start, step) = match op {
            BinOp::Add => (a.checked_add(b)?, s.checked_add(t)?),
            BinOp::Sub => (a.checked_sub(b)?, s.checked_sub(t)?),
            BinOp::Mul if s == 0 => (a.checked_mul(b)?, a.checked_mul(t)?),
            BinOp::Mul if t == 0 => (a.checked_mul(b)?, s.checked_mul(b)?),
            _ => return None,
        };
        last_of(start, step, self.lanes)?;
        Some((start, step))
    }

    /// Runs an operation into the column of a register.
    pub(super) fn fill(&mut self, register: u32, f: impl FnOnce(&Lanes, &mut Elems) -> Run<()>) -> Run<()> {
        let mut column = mem::replace(&mut self.registers[register as usize].column, Elems::Bool(Vec::new()));
        let done = f(self, &mut column);
        let register = &mut self.registers[register as usize];
        register.column = column;
        register.content = Content::Own;
        register.affine = None;
        done
    }

    /// Copies what an operand holds to a register; a column is taken if it may be.
    pub(super) fn assign(&mut self, target: u32, source: BlockResult) -> Run<()> {
        let from = match source.arg {
            Arg::Const(prim) => {
                self.set(target, Content::Scalar(prim));
                return Ok(());
            }
            Arg::Reg(from) if from == target => return Ok(()),
            Arg::Reg(from) => from,
        };
        let content = self.registers[from as usize].content;
        let affine = self.registers[from as usize].affine;
        match content {
            Content::Empty => return Err(Stop::Retry),
            Content::Scalar(_) | Content::View { .. } | Content::Part(_) => self.set(target, content),
            Content::Own if source.movable => {
                let pair = self.registers.get_disjoint_mut([from as usize, target as usize]);
                let [from, target] = pair.map_err(|_| Stop::Retry)?;
                mem::swap(&mut from.column, &mut target.column);
                from.content = Content::Empty;
                target.content = Content::Own;
            }
            Content::Own => self.fill(target, |lanes, out| {
                Ok(columns::copy(lanes.operand(source.arg)?, lanes.lanes, out)?)
            })?,
        }
        self.registers[target as usize].affine = affine;
        Ok(())
    }

    pub(super) fn assign_all(&mut self, targets: &[u32], sources: &[BlockResult]) -> Run<()> {
        if targets.len() != sources.len() {
            return Err(Stop::Retry);
        }
        targets.iter().zip(sources).try_for_each(|(target, source)| self.assign(*target, *source))
    }

    pub(super) fn body(&mut self, machine: &mut Machine<'_>, body: &BlockBody) -> Run<()> {
        body.stms.iter().try_for_each(|stm| self.stm(machine, stm))
    }

    fn stm(&mut self, machine: &mut Machine<'_>, stm: &BlockStm) -> Run<()> {
        match &stm.op {
            Op::If { cond, then, otherwise } => {
                return self.branch(machine, *cond, (then, otherwise), &stm.targets);
            }
            Op::Loop(code) => return self.run_loop(machine, code, &stm.targets),
            Op::Reduce(code) => return self.reduce(machine, code, &stm.targets),
            Op::Assert(cond) => {
                self.work += self.active;
                self.span += 1;
                return self.assert(*cond);
            }
            Op::Atom(_) | Op::Un(..) | Op::Bin(..) | Op::Tern(..) => {}
            Op::Cmp(..) | Op::Convert(..) | Op::Index { .. } => {}
        }
        let &[target] = stm.targets.as_slice() else { return Err(Stop::Retry) };
        match &stm.op {
            Op::Atom(arg) => return self.assign(target, BlockResult { arg: *arg, movable: false }),
            Op::Index { array, indices } => self.index(target, *array, indices)?,
            op => self.scalar_op(target, op)?,
        }
        self.work += self.active;
        self.span += 1;
        Ok(())
    }

    fn scalar_op(&mut self, target: u32, op: &Op) -> Run<()> {
        let mut column = Elems::Bool(Vec::new());
        mem::swap(&mut column, &mut self.registers[target as usize].column);
        let done = self.compute(op, &mut column);
        let affine = match op {
            Op::Bin(op, x, y) => self.affine_result(*op, *x, *y),
            _ => None,
        };
        let register = &mut self.registers[target as usize];
        mem::swap(&mut column, &mut register.column);
        register.content = done?.map_or(Content::Own, Content::Scalar);
        register.affine = affine;
        Ok(())
    }

    /// The result, if no operand differs between lanes; otherwise it is in the column.
    #[inline]
    fn compute(&self, op: &Op, out: &mut Elems) -> Run<Option<Prim>> {
        let (n, mask) = (self.lanes, self.mask.as_deref());
        let done = match op {
            Op::Un(op, x) => match self.operand(*x)? {
                Operand::One(x) => eval_unop(*op, x),
                x => return Ok(columns::un(*op, x, n, out).map(|()| None)?),
            },
            Op::Bin(op, x, y) => match (self.operand(*x)?, self.operand(*y)?) {
                (Operand::One(x), Operand::One(y)) => eval_binop(*op, x, y),
                xy => return Ok(columns::bin(*op, xy, n, out, mask).map(|()| None)?),
            },
            Op::Tern(op, [x, y, z]) => match [self.operand(*x)?, self.operand(*y)?, self.operand(*z)?] {
                [Operand::One(x), Operand::One(y), Operand::One(z)] => eval_ternop(*op, x, y, z),
                xyz => return Ok(columns::tern(*op, xyz, n, out).map(|()| None)?),
            },
            Op::Cmp(op, x, y) => match (self.operand(*x)?, self.operand(*y)?) {
                (Operand::One(x), Operand::One(y)) => eval_cmpop(*op, x, y).map(Prim::Bool),
                xy => return Ok(columns::cmp(*op, xy, n, out).map(|()| None)?),
            },
            Op::Convert(to, x) => match self.operand(*x)? {
                Operand::One(x) => Ok(convert(*to, x)),
                x => return Ok(columns::to_type(*to, x, n, out).map(|()| None)?),
            },
            Op::Atom(_) | Op::Index { .. } | Op::Assert(_) => return Err(Stop::Retry),
            Op::If { .. } | Op::Loop(_) | Op::Reduce(_) => return Err(Stop::Retry),
        };
        done.map(Some).map_err(|_| Stop::Retry)
    }

    fn assert(&self, cond: Arg) -> Run<()> {
        let holds = match self.operand(cond)?.side::<bool>(self.lanes)? {
            columns::Side::One(holds) => holds,
            columns::Side::Many(holds) => match &self.mask {
                None => holds.iter().all(|h| *h),
                Some(mask) => holds.iter().zip(mask).all(|(holds, active)| *holds || !*active),
            },
        };
        if holds { Ok(()) } else { Err(Stop::Retry) }
    }

    /// The shape of what a part leaves of its array.
    pub(super) fn shape(&self, part: Part) -> &[usize] {
        self.arrays[part.array as usize].shape().get(part.indexed..).unwrap_or(&[])
    }

    /// Puts a part with nothing left to index, one element per lane, into a register; or else the part.
    pub(super) fn put_part(&mut self, target: u32, part: Part) -> Run<()> {
        if !self.shape(part).is_empty() {
            self.set(target, Content::Part(part));
            return Ok(());
        }
        let (elems, own) = self.arrays[part.array as usize].elems();
        let at = own.start + part.at;
        match usize::try_from(part.stride).map_err(|_| Stop::Retry)? {
            0 => {
                let prim = elems.get(at).ok_or(Stop::Retry)?;
                self.set(target, Content::Scalar(prim));
                Ok(())
            }
            1 => {
                self.set(target, Content::View { array: part.array, at });
                Ok(())
            }
            stride => self.fill(target, |lanes, out| {
                let elems = lanes.arrays[part.array as usize].elems().0;
                Ok(columns::strided(elems, at, stride, lanes.lanes, out)?)
            }),
        }
    }

    fn index(&mut self, target: u32, array: u32, indices: &[Arg]) -> Run<()> {
        let part = self.part(array)?;
        match self.affine_index(part, indices) {
            Some(part) => self.put_part(target, part),
            None => self.gather(target, part, indices),
        }
    }

    /// The part that indices select which advance by the same step from lane to lane, within bounds.
    fn affine_index(&self, part: Part, indices: &[Arg]) -> Option<Part> {
        let shape = self.shape(part);
        let mut selected = Part { indexed: part.indexed + indices.len(), ..part };
        let mut rest: usize = shape.iter().product();
        for (index, &size) in indices.iter().zip(shape) {
            let (start, step) = self.affine(*index)?;
            let last = last_of(start, step, self.lanes)?;
            let within = |i: i64| usize::try_from(i).is_ok_and(|i| i < size);
            if !within(start) || !within(last) {
                return None;
            }
            rest /= size;
            selected.at += start as usize * rest;
            selected.stride += step * rest as i64;
        }
        (indices.len() <= shape.len() && selected.stride >= 0).then_some(selected)
    }

    /// An element per lane at indices that are anything. Lanes that do not run read the first element.
    fn gather(&mut self, target: u32, part: Part, indices: &[Arg]) -> Run<()> {
        let mut positions = mem::take(&mut self.positions);
        let found = self.find_positions(part, indices, &mut positions);
        let gathered = found.and_then(|()| {
            self.fill(target, |lanes, out| {
                let (elems, own) = lanes.arrays[part.array as usize].elems();
                Ok(columns::gather(elems, own, &positions, out)?)
            })
        });
        self.positions = positions;
        gathered
    }

    fn find_positions(&self, part: Part, indices: &[Arg], positions: &mut Vec<usize>) -> Run<()> {
        let shape = self.shape(part);
        if shape.len() != indices.len() || shape.contains(&0) {
            return Err(Stop::Retry);
        }
        let stride = usize::try_from(part.stride).map_err(|_| Stop::Retry)?;
        positions.clear();
        positions.extend((0..self.lanes).map(|lane| part.at + lane * stride));
        let mut rest: usize = shape.iter().product();
        for (index, &size) in indices.iter().zip(shape) {
            rest /= size;
            let mut outside = false;
            match self.operand(*index)?.side::<i64>(self.lanes)? {
                columns::Side::One(i) => {
                    outside = i < 0 || i as usize >= size;
                    positions.iter_mut().for_each(|p| *p = p.wrapping_add((i as usize).wrapping_mul(rest)));
                }
                columns::Side::Many(is) => match &self.mask {
                    None => {
                        for (p, &i) in positions.iter_mut().zip(is) {
                            outside |= i < 0 || i as usize >= size;
                            *p = p.wrapping_add((i as usize).wrapping_mul(rest));
                        }
                    }
                    Some(mask) => {
                        for ((p, &i), &active) in positions.iter_mut().zip(is).zip(mask) {
                            outside |= active && (i < 0 || i as usize >= size);
                            *p = if active { p.wrapping_add((i as usize).wrapping_mul(rest)) } else { 0 };
                        }
                    }
                },
            }
            if outside {
                return Err(Stop::Retry);
            }
        }
        if let Some(mask) = &self.mask {
            positions.iter_mut().zip(mask).filter(|(_, active)| !**active).for_each(|(p, _)| *p = 0);
        }
        Ok(())
    }
}

/// What the last lane holds of a column that advances by a step, unless that cannot be represented.
pub(super) fn last_of(start: i64, step: i64, lanes: usize) -> Option<i64> {
    let steps = i64::try_from(lanes).ok()?.checked_sub(1)?;
    start.checked_add(step.checked_mul(steps)?)
}
