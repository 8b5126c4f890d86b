//! Map, reduce and scan. They run in order; only the span knows that they are parallel.

use smallvec::SmallVec;

use crate::value::Value;

use super::arrays::Collector;
use super::code::{CodeFold, CodeLambda, CodeRows, CodeType, Operand, Slot};
use super::error::{Fallible, internal};
use super::exec::{Frame, Machine, set_prim};

/// The values of one iteration.
pub(super) type Row = SmallVec<[Slot; 4]>;

/// The inputs of a parallel operation, held outside of the frame while it runs.
pub(super) struct Rows<'c> {
    pub(super) width: usize,
    pub(super) arrays: Row,
    lambda: Option<&'c CodeLambda>,
    /// The longest chain of any application of the lambda so far.
    pub(super) span: u64,
}

/// How many levels a balanced tree over so many leaves has, at least one.
pub(super) fn levels(width: usize) -> u64 {
    u64::from(width.max(2).next_power_of_two().trailing_zeros())
}

impl<'c> Machine<'c> {
    pub(super) fn open_rows(&mut self, frame: &mut Frame, rows: &'c CodeRows) -> Fallible<Rows<'c>> {
        let width = self.size(frame, rows.width, "the width of a parallel operation")?;
        let arrays: Row = rows.arrays.iter().map(|a| self.read(frame, *a)).collect();
        for array in &arrays {
            match array {
                Slot::Array(array) if array.outer() != width => {
                    let (got, shape) = (array.outer(), array.shape());
                    return Err(internal(format!(
                        "an array of outer size {got} ({shape:?}) for width {width}"
                    )));
                }
                Slot::Array(_) | Slot::Acc(_) => {}
                Slot::Prim(_) => return Err(internal("a parallel operation takes arrays")),
                Slot::Empty => return Err(internal("an array is used after it was consumed")),
            }
        }
        Ok(Rows { width, arrays, lambda: rows.lambda.as_ref(), span: 0 })
    }

    /// Row `i` of the inputs into slots.
    fn load_row(&self, frame: &mut Frame, rows: &Rows<'c>, i: usize, targets: &[u32]) -> Fallible<()> {
        if targets.len() != rows.arrays.len() {
            return Err(internal(format!("{} arrays for {} parameters", rows.arrays.len(), targets.len())));
        }
        for (target, array) in targets.iter().zip(&rows.arrays) {
            match array {
                Slot::Array(array) if array.shape().len() == 1 => {
                    let elem = array.get(i).ok_or_else(|| internal("a row misses the array"))?;
                    set_prim(&mut frame[*target as usize], elem);
                }
                Slot::Array(_) | Slot::Acc(_) | Slot::Prim(_) | Slot::Empty => {
                    frame[*target as usize] = row_of(array, i)?;
                }
            }
        }
        Ok(())
    }

    /// What the operation combines in iteration `i`: the row, or what the lambda makes of it.
    pub(super) fn next_row(&mut self, frame: &mut Frame, rows: &mut Rows<'c>, i: usize) -> Fallible<Row> {
        let Some(lambda) = rows.lambda else {
            self.tick()?;
            self.work += rows.arrays.len() as u64;
            rows.span = rows.span.max(1);
            return rows.arrays.iter().map(|a| row_of(a, i)).collect();
        };
        self.apply(frame, rows, lambda, i)?;
        Ok(lambda.body.result.iter().map(|r| self.read(frame, *r)).collect())
    }

    /// As [`Machine::next_row`], into slots.
    fn next_into(
        &mut self,
        frame: &mut Frame,
        rows: &mut Rows<'c>,
        i: usize,
        targets: &[u32],
    ) -> Fallible<()> {
        let Some(lambda) = rows.lambda else {
            self.tick()?;
            self.work += rows.arrays.len() as u64;
            rows.span = rows.span.max(1);
            return self.load_row(frame, rows, i, targets);
        };
        self.apply(frame, rows, lambda, i)?;
        self.rebind(frame, &lambda.body.result, targets, true)
    }

    /// Runs the lambda on row `i`; its results are then to be read.
    fn apply(
        &mut self,
        frame: &mut Frame,
        rows: &mut Rows<'c>,
        lambda: &'c CodeLambda,
        i: usize,
    ) -> Fallible<()> {
        self.tick()?;
        let before = self.span;
        self.load_row(frame, rows, i, &lambda.params)?;
        self.body(frame, &lambda.body)?;
        rows.span = rows.span.max(self.span - before);
        self.span = before;
        Ok(())
    }

    pub(super) fn collectors(
        &self,
        frame: &Frame,
        types: &[CodeType],
        width: usize,
    ) -> Fallible<SmallVec<[Option<Collector>; 4]>> {
        let each = types.iter().map(|ty| match ty {
            CodeType::Acc => Ok(None),
            CodeType::Value(elem, dims) => {
                let row = self.shape(frame, dims, "a dimension")?;
                let elements = crate::value::elements_of(&row).and_then(|n| n.checked_mul(width));
                let elements = elements.ok_or_else(|| super::error::fault("an array is too large"))?;
                self.reserve(elements, *elem)?;
                Ok(Some(Collector::new(*elem, &row, width)))
            }
        });
        each.collect()
    }

    pub(super) fn map(&mut self, frame: &mut Frame, code: &'c CodeRows, pat: &[u32]) -> Fallible<()> {
        let mut rows = self.open_rows(frame, code)?;
        let Some(lambda) = rows.lambda else { return Err(internal("a map without a function")) };
        let mut outputs = self.collectors(frame, &lambda.ret, rows.width)?;
        let mut last: Row = SmallVec::from_elem(Slot::Empty, lambda.ret.len());
        if lambda.body.result.len() != outputs.len() {
            return Err(internal(format!(
                "{} results for {} types",
                lambda.body.result.len(),
                outputs.len()
            )));
        }
        let mut blocks = self.open_blocks(frame, code.block.as_ref(), &rows);
        let mut at = 0;
        while at < rows.width {
            let size = self.block_size(&rows, at);
            if let Some(blocks) = &mut blocks
                && self.map_block(blocks, &mut rows, (at, size), &mut outputs)?
            {
                at += size;
                continue;
            }
            for i in at..at + size {
                self.apply(frame, &mut rows, lambda, i)?;
                for ((output, result), last) in outputs.iter_mut().zip(&lambda.body.result).zip(&mut last) {
                    match output {
                        Some(collector) => self.work += self.collect(frame, *result, collector)?,
                        None => *last = self.read(frame, *result),
                    }
                }
            }
            at += size;
        }
        if let Some(blocks) = blocks {
            self.close_blocks(blocks);
        }
        self.span += rows.span + 1;
        // An accumulator result is the accumulator that went in, which matters when nothing ran.
        let mut accs = rows.arrays.iter().filter(|a| matches!(a, Slot::Acc(_))).cloned();
        let mut results = Row::new();
        for (output, last) in outputs.into_iter().zip(last) {
            results.push(match (output, last) {
                (Some(collector), _) => Slot::Array(collector.finish()?),
                (None, Slot::Empty) => accs.next().ok_or_else(|| internal("an accumulator from nowhere"))?,
                (None, acc) => acc,
            });
        }
        self.bind_all(frame, pat, results)
    }

    /// Appends a result, and says how many elements moved.
    fn collect(&self, frame: &mut Frame, result: Operand, collector: &mut Collector) -> Fallible<u64> {
        let moved = match self.slot(frame, result) {
            Some(slot) => {
                collector.push(slot)?;
                moved(slot)
            }
            None => {
                collector.push(&self.read(frame, result))?;
                1
            }
        };
        self.release(frame, result);
        Ok(moved)
    }

    /// Applies an operator to what its parameters hold; its results are then to be read.
    pub(super) fn combine(&mut self, frame: &mut Frame, op: &'c CodeLambda, span: &mut u64) -> Fallible<()> {
        let before = self.span;
        self.body(frame, &op.body)?;
        *span = (*span).max(self.span - before);
        self.span = before;
        Ok(())
    }

    fn start_fold(&mut self, frame: &mut Frame, fold: &'c CodeFold) -> Fallible<usize> {
        let n = fold.neutral.len();
        if fold.op.params.len() != 2 * n || fold.op.body.result.len() != n {
            return Err(internal("an operator takes two values of each kind and gives one"));
        }
        for (slot, neutral) in fold.op.params.iter().zip(&fold.neutral) {
            let value = self.read(frame, *neutral);
            frame[*slot as usize] = value;
        }
        Ok(n)
    }

    pub(super) fn reduce(&mut self, frame: &mut Frame, fold: &'c CodeFold, pat: &[u32]) -> Fallible<()> {
        let mut rows = self.open_rows(frame, &fold.rows)?;
        let n = self.start_fold(frame, fold)?;
        let mut span = 0;
        let mut blocks = self.open_blocks(frame, fold.block.as_ref(), &rows);
        let totals = &fold.op.params[..n];
        let mut at = 0;
        while at < rows.width {
            let size = self.block_size(&rows, at);
            if let Some(blocks) = &mut blocks
                && self.reduce_block(frame, blocks, &mut rows, (at, size), (totals, &mut span))?
            {
                at += size;
                continue;
            }
            for i in at..at + size {
                self.next_into(frame, &mut rows, i, &fold.op.params[n..])?;
                self.combine(frame, &fold.op, &mut span)?;
                self.rebind(frame, &fold.op.body.result, totals, fold.op.independent)?;
            }
            at += size;
        }
        if let Some(blocks) = blocks {
            self.close_blocks(blocks);
        }
        self.span += rows.span + span * levels(rows.width) + 1;
        let results: Row =
            fold.op.params[..n].iter().map(|p| std::mem::take(&mut frame[*p as usize])).collect();
        self.bind_all(frame, pat, results)
    }

    pub(super) fn scan(&mut self, frame: &mut Frame, fold: &'c CodeFold, pat: &[u32]) -> Fallible<()> {
        let mut rows = self.open_rows(frame, &fold.rows)?;
        let n = self.start_fold(frame, fold)?;
        let mut outputs = self.collectors(frame, &fold.op.ret, rows.width)?;
        let mut span = 0;
        let mut blocks = self.open_blocks(frame, fold.block.as_ref(), &rows);
        let totals = &fold.op.params[..n];
        let mut at = 0;
        while at < rows.width {
            let size = self.block_size(&rows, at);
            if let Some(blocks) = &mut blocks
                && self.scan_block(frame, blocks, &mut rows, (at, size), (totals, &mut span), &mut outputs)?
            {
                at += size;
                continue;
            }
            self.scan_rows(frame, fold, &mut rows, at..at + size, (&mut span, &mut outputs))?;
            at += size;
        }
        if let Some(blocks) = blocks {
            self.close_blocks(blocks);
        }
        self.span += rows.span + span * levels(rows.width) + 1;
        let mut results = Row::new();
        for output in outputs.into_iter().flatten() {
            results.push(Slot::Array(output.finish()?));
        }
        self.bind_all(frame, pat, results)
    }

    fn scan_rows(
        &mut self,
        frame: &mut Frame,
        fold: &'c CodeFold,
        rows: &mut Rows<'c>,
        range: std::ops::Range<usize>,
        (span, outputs): (&mut u64, &mut [Option<Collector>]),
    ) -> Fallible<()> {
        let n = fold.neutral.len();
        for i in range {
            self.next_into(frame, rows, i, &fold.op.params[n..])?;
            self.combine(frame, &fold.op, span)?;
            self.rebind(frame, &fold.op.body.result, &fold.op.params[..n], fold.op.independent)?;
            for (output, slot) in outputs.iter_mut().zip(&fold.op.params) {
                let value = &frame[*slot as usize];
                self.work += moved(value);
                match output {
                    Some(collector) => collector.push(value)?,
                    None => return Err(internal("a scan of accumulators")),
                }
            }
        }
        Ok(())
    }
}

/// How many elements move when a result is stored.
fn moved(value: &Slot) -> u64 {
    match value {
        Slot::Array(array) => array.len() as u64,
        Slot::Prim(_) => 1,
        Slot::Acc(_) | Slot::Empty => 0,
    }
}

fn row_of(array: &Slot, i: usize) -> Fallible<Slot> {
    match array {
        Slot::Array(array) => match array.row(i) {
            Some(Value::Prim(prim)) => Ok(Slot::Prim(prim)),
            Some(Value::Array(row)) => Ok(Slot::Array(row)),
            None => Err(internal("a row misses the array")),
        },
        Slot::Acc(acc) => Ok(Slot::Acc(*acc)),
        Slot::Prim(_) | Slot::Empty => Err(internal("a parallel operation takes arrays")),
    }
}
