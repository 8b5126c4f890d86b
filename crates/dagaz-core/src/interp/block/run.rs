//! Maps, reductions and scans, block by block.

use smallvec::SmallVec;

use crate::interp::arrays::Collector;
use crate::interp::code::Slot;
use crate::interp::error::{Fallible, internal};
use crate::interp::exec::{Frame, Machine, set_prim};
use crate::interp::parallel::Rows;
use crate::prim::Prim;
use crate::prim_eval::eval_binop;
use crate::value::{Array, Elems};

use super::columns::Operand;
use super::lanes::{Content, Lanes, Part, Run, Stop};
use super::{Arg, BlockCode, BlockOp, LANES, known};

/// Fewer rows than this are not worth a block.
const FEW: usize = 4;
/// The same, where a reduction inside could run by the block itself.
const FEW_NESTS: usize = 8;
/// Rows longer than this are reduced one after the other, which reads memory in order.
const LONG: usize = 64;
/// After so many blocks that the ordinary path had to run, it runs all.
const PATIENCE: u32 = 16;

/// A parallel operation under way.
pub(in crate::interp) struct Blocks<'c> {
    code: &'c BlockCode,
    lanes: Box<Lanes>,
    /// The number of the first array of rows.
    first_row: usize,
}

impl<'c> Machine<'c> {
    /// Ready to run blocks, if the operation has a block form and it is worth it.
    pub(in crate::interp) fn open_blocks(
        &mut self,
        frame: &Frame,
        code: Option<&'c BlockCode>,
        rows: &Rows<'c>,
    ) -> Option<Blocks<'c>> {
        let code = code?;
        if !self.blockwise || rows.width < if code.nests { FEW_NESTS } else { FEW } {
            return None;
        }
        let long = |slot: &Slot| match slot {
            Slot::Array(array) => array.shape().len() > 1 && array.shape().last() > Some(&LONG),
            Slot::Empty | Slot::Prim(_) | Slot::Acc(_) => false,
        };
        if code.nests && rows.arrays.iter().any(long) {
            return None;
        }
        let lanes = self.register_files.get_mut(code.file)?.take();
        let lanes = lanes.unwrap_or_else(|| Box::new(Lanes::new(code.registers)));
        let mut blocks = Blocks { code, lanes, first_row: 0 };
        if blocks.lanes.failures < PATIENCE && self.import(frame, rows, &mut blocks) {
            return Some(blocks);
        }
        self.close_blocks(blocks);
        None
    }

    /// Puts what comes from outside into registers.
    fn import(&self, frame: &Frame, rows: &Rows<'c>, blocks: &mut Blocks<'c>) -> bool {
        for (register, operand) in &blocks.code.imports {
            let content = match self.slot(frame, *operand) {
                Some(Slot::Prim(prim)) => Content::Scalar(*prim),
                Some(Slot::Array(array)) => blocks.add_array(array),
                Some(Slot::Acc(_) | Slot::Empty) | None => return false,
            };
            blocks.lanes.set(*register, content);
        }
        blocks.first_row = blocks.lanes.arrays.len();
        rows.arrays.iter().all(|slot| match slot {
            Slot::Array(array) => {
                blocks.add_array(array);
                true
            }
            Slot::Acc(_) | Slot::Prim(_) | Slot::Empty => false,
        })
    }

    pub(in crate::interp) fn close_blocks(&mut self, mut blocks: Blocks<'c>) {
        blocks.lanes.arrays.clear();
        self.register_files[blocks.code.file] = Some(blocks.lanes);
    }

    /// How many rows the next block has.
    pub(in crate::interp) fn block_size(&self, rows: &Rows<'c>, at: usize) -> usize {
        LANES.min(rows.width - at)
    }

    /// Whether the block is done, and counted.
    fn settle(&mut self, blocks: &mut Blocks<'c>, done: Run<()>) -> Fallible<bool> {
        match done {
            Ok(()) => {
                self.work += blocks.lanes.work;
                Ok(true)
            }
            Err(Stop::Retry) => {
                blocks.lanes.failures += 1;
                Ok(false)
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// Runs a map on a block of rows; false if the ordinary path is to do it.
    pub(in crate::interp) fn map_block(
        &mut self,
        blocks: &mut Blocks<'c>,
        rows: &mut Rows<'c>,
        (at, size): (usize, usize),
        outputs: &mut [Option<Collector>],
    ) -> Fallible<bool> {
        let done = blocks.mapped(self, at, size);
        let done = done.and_then(|results| {
            let lanes = &mut blocks.lanes;
            for (output, result) in outputs.iter().zip(&results) {
                let ty = lanes.operand(*result)?.ty();
                if output.as_ref().is_none_or(|output| !output.takes(ty)) {
                    return Err(Stop::Retry);
                }
            }
            for (output, result) in outputs.iter_mut().flatten().zip(&results) {
                match lanes.operand(*result)? {
                    Operand::One(prim) => output.extend(&Elems::filled(prim, size), 0, size)?,
                    Operand::Many(elems, from) => output.extend(elems, from, size)?,
                }
                lanes.work += size as u64;
            }
            rows.span = rows.span.max(lanes.greatest_span());
            Ok(())
        });
        self.settle(blocks, done)
    }

    /// Folds a block of rows into the values that the slots hold; false if the ordinary path is to do it.
    pub(in crate::interp) fn reduce_block(
        &mut self,
        frame: &mut Frame,
        blocks: &mut Blocks<'c>,
        rows: &mut Rows<'c>,
        (at, size): (usize, usize),
        (totals, span): (&[u32], &mut u64),
    ) -> Fallible<bool> {
        let done = totals_of(frame, totals).and_then(|mut values| {
            let results = blocks.mapped(self, at, size)?;
            let row_span = blocks.lanes.greatest_span();
            let op = blocks.code.op.as_ref().ok_or(Stop::Retry)?;
            let op_span = match &op.known {
                Some(ops) => {
                    for ((known, value), result) in ops.iter().zip(&mut values).zip(&results) {
                        *value = known::fold(*known, *value, blocks.lanes.operand(*result)?, size)?;
                    }
                    blocks.lanes.work += (size * ops.len()) as u64;
                    ops.len() as u64
                }
                None => {
                    let mut greatest = 0;
                    for lane in 0..size {
                        let one = blocks.combine(self, op, &mut values, (&results, lane))?;
                        greatest = greatest.max(one);
                    }
                    greatest
                }
            };
            for (slot, value) in totals.iter().zip(values) {
                set_prim(&mut frame[*slot as usize], value);
            }
            rows.span = rows.span.max(row_span);
            *span = (*span).max(op_span);
            Ok(())
        });
        self.settle(blocks, done)
    }

    /// As [`Machine::reduce_block`], with all values on the way.
    pub(in crate::interp) fn scan_block(
        &mut self,
        frame: &mut Frame,
        blocks: &mut Blocks<'c>,
        rows: &mut Rows<'c>,
        (at, size): (usize, usize),
        (totals, span): (&[u32], &mut u64),
        outputs: &mut [Option<Collector>],
    ) -> Fallible<bool> {
        let done = totals_of(frame, totals).and_then(|mut values| {
            let results = blocks.mapped(self, at, size)?;
            let row_span = blocks.lanes.greatest_span();
            let op = blocks.code.op.as_ref().ok_or(Stop::Retry)?;
            let mut scanned: Vec<Elems> =
                values.iter().map(|value| Elems::with_capacity(value.ty(), size)).collect();
            let mut op_span = 0;
            for lane in 0..size {
                let one = blocks.combine(self, op, &mut values, (&results, lane))?;
                op_span = op_span.max(one);
                if !scanned.iter_mut().zip(&values).all(|(column, value)| column.push(*value)) {
                    return Err(Stop::Retry);
                }
            }
            for (output, column) in outputs.iter_mut().zip(&scanned) {
                let output = output.as_mut().ok_or_else(|| internal("a scan of accumulators"))?;
                output.extend(column, 0, size)?;
                blocks.lanes.work += size as u64;
            }
            for (slot, value) in totals.iter().zip(values) {
                set_prim(&mut frame[*slot as usize], value);
            }
            rows.span = rows.span.max(row_span);
            *span = (*span).max(op_span);
            Ok(())
        });
        self.settle(blocks, done)
    }
}

impl<'c> Blocks<'c> {
    fn add_array(&mut self, array: &Array) -> Content {
        let number = self.lanes.arrays.len() as u32;
        self.lanes.arrays.push(array.clone());
        Content::Part(Part { array: number, at: 0, stride: 0, indexed: 0 })
    }

    /// Runs what is mapped over the rows, and says where its results are.
    fn mapped(&mut self, machine: &mut Machine<'c>, at: usize, size: usize) -> Run<SmallVec<[Arg; 4]>> {
        machine.tick()?;
        self.lanes.begin(size);
        let Some(lambda) = &self.code.lambda else {
            let op = self.code.op.as_ref().ok_or(Stop::Retry)?;
            self.load_rows(&op.rows, at)?;
            self.lanes.work += (size * op.rows.len()) as u64;
            self.lanes.span += 1;
            return Ok(op.rows.iter().map(|r| Arg::Reg(*r)).collect());
        };
        self.load_rows(&lambda.params, at)?;
        self.lanes.body(machine, &lambda.body)?;
        Ok(lambda.body.result.iter().map(|r| r.arg).collect())
    }

    fn load_rows(&mut self, params: &[u32], at: usize) -> Run<()> {
        if params.len() != self.lanes.arrays.len() - self.first_row {
            return Err(Stop::Retry);
        }
        for (number, param) in (self.first_row..).zip(params) {
            let rest = self.lanes.arrays[number].stride_after(1);
            let part = Part { array: number as u32, at: at * rest, stride: rest as i64, indexed: 1 };
            self.lanes.put_part(*param, part)?;
            let affine = self.lanes.progression(*param);
            self.lanes.registers[*param as usize].affine = affine;
        }
        Ok(())
    }

    /// Applies the operator to the values so far and those of a lane, and says what span it has.
    fn combine(
        &mut self,
        machine: &mut Machine<'c>,
        op: &BlockOp,
        values: &mut [Prim],
        (results, lane): (&[Arg], usize),
    ) -> Run<u64> {
        let lanes = &mut self.lanes;
        if let Some(ops) = &op.known {
            for ((known, value), result) in ops.iter().zip(values).zip(results) {
                let x = lanes.operand(*result)?.get(lane).ok_or(Stop::Retry)?;
                let (a, b) = if known.swapped { (x, *value) } else { (*value, x) };
                *value = eval_binop(known.op, a, b).map_err(|_| Stop::Retry)?;
            }
            lanes.work += ops.len() as u64;
            return Ok(ops.len() as u64);
        }
        let before = lanes.span;
        let (old, new) = op.lambda.params.split_at(values.len());
        for (((old, new), value), result) in old.iter().zip(new).zip(values.iter()).zip(results) {
            let x = lanes.operand(*result)?.get(lane).ok_or(Stop::Retry)?;
            lanes.set(*old, Content::Scalar(*value));
            lanes.set(*new, Content::Scalar(x));
        }
        lanes.active = 1;
        lanes.body(machine, &op.lambda.body)?;
        for (value, result) in values.iter_mut().zip(&op.lambda.body.result) {
            *value = lanes.scalar(result.arg)?;
        }
        Ok(std::mem::replace(&mut lanes.span, before) - before)
    }
}

/// What has been combined so far.
fn totals_of(frame: &Frame, slots: &[u32]) -> Run<SmallVec<[Prim; 4]>> {
    let prims = slots.iter().map(|slot| match &frame[*slot as usize] {
        Slot::Prim(prim) => Ok(*prim),
        Slot::Array(_) | Slot::Acc(_) | Slot::Empty => Err(Stop::Retry),
    });
    prims.collect()
}
