//! Histograms, scatters and accumulators: many writes into arrays.

use smallvec::SmallVec;

use crate::prim::Prim;
use crate::value::{Array, Shape, Value};

use super::code::{CodeAcc, CodeAccOp, CodeFold, CodeLambda, CodeRows, Operand, Slot};
use super::error::{Fallible, internal};
use super::exec::{Frame, Machine, set_prim};
use super::parallel::{Row, levels};

/// An accumulator between the beginning and the end of its `with_acc`.
pub(super) struct OpenAcc<'c> {
    shape: Shape,
    arrays: SmallVec<[Array; 1]>,
    op: Option<&'c CodeAccOp>,
    /// The operator has its own frame, because updates may come from functions that were called.
    frame: Frame,
}

impl<'c> Machine<'c> {
    fn dests(&self, frame: &mut Frame, dests: &[Operand], shape: &[usize]) -> Fallible<SmallVec<[Array; 1]>> {
        let arrays: SmallVec<[Array; 1]> =
            dests.iter().map(|d| self.array(frame, *d)).collect::<Fallible<_>>()?;
        if arrays.iter().any(|a| a.shape().get(..shape.len()) != Some(shape)) {
            return Err(internal(format!("a destination does not have the shape {shape:?}")));
        }
        Ok(arrays)
    }

    /// `op` applied to the rows at a place and new values, written back.
    fn combine_into(
        &mut self,
        frame: &mut Frame,
        arrays: &mut [Array],
        place: (usize, usize),
        op: &'c CodeLambda,
        values: impl IntoIterator<Item = Slot, IntoIter: ExactSizeIterator>,
    ) -> Fallible<u64> {
        let (rank, row) = place;
        let values = values.into_iter();
        if op.params.len() != arrays.len() + values.len() {
            return Err(internal("an operator takes two values of each kind"));
        }
        for (slot, value) in op.params[arrays.len()..].iter().zip(values) {
            frame[*slot as usize] = value;
        }
        for (array, slot) in arrays.iter().zip(&op.params) {
            if let (true, Some(prim)) = (array.shape().len() == rank, array.get(row)) {
                set_prim(&mut frame[*slot as usize], prim);
                continue;
            }
            // A row is copied, for a view would make the array shared and the write a copy of everything.
            let old = match array.at(rank, row * array.stride_after(rank)) {
                Some(Value::Prim(prim)) => Slot::Prim(prim),
                Some(Value::Array(row)) => Slot::Array(row.deep_copy()),
                None => return Err(internal("an index misses the array")),
            };
            frame[*slot as usize] = old;
        }
        let mut span = 0;
        self.combine(frame, op, &mut span)?;
        if op.body.result.len() != arrays.len() {
            return Err(internal("an operator has one result per array"));
        }
        for (array, result) in arrays.iter_mut().zip(&op.body.result) {
            let value = self.read(frame, *result);
            self.write_row(array, (rank, row), value)?;
        }
        Ok(span)
    }

    fn write_row(&mut self, array: &mut Array, (rank, row): (usize, usize), value: Slot) -> Fallible<()> {
        if let (Slot::Prim(prim), true) = (&value, array.shape().len() == rank)
            && array.set(row, *prim)
        {
            self.work += 1;
            return Ok(());
        }
        let value = value.into_value()?;
        self.work += value.elements() as u64;
        let at = row * array.stride_after(rank);
        if array.shape()[rank..] != *value.shape() || !array.write(at, &value) {
            return Err(internal(format!(
                "a row of shape {:?} cannot hold {}",
                &array.shape()[rank..],
                value.type_text()
            )));
        }
        Ok(())
    }

    pub(super) fn hist(
        &mut self,
        frame: &mut Frame,
        fold: &'c CodeFold,
        dests: &[Operand],
        shape: &[Operand],
        pat: &[u32],
    ) -> Fallible<()> {
        let shape = self.shape(frame, shape, "a dimension")?;
        let mut arrays = self.dests(frame, dests, &shape)?;
        let mut rows = self.open_rows(frame, &fold.rows)?;
        let mut span = 0;
        for i in 0..rows.width {
            let mut row = self.next_row(frame, &mut rows, i)?;
            if row.len() != shape.len() + arrays.len() {
                return Err(internal("a histogram takes indices, then one value per destination"));
            }
            let Some(place) = row_number(&row[..shape.len()], &shape)? else { continue };
            let values = row.drain(shape.len()..);
            let place = (shape.len(), place);
            span = span.max(self.combine_into(frame, &mut arrays, place, &fold.op, values)?);
        }
        self.span += rows.span + span * levels(rows.width) + 1;
        self.bind_all(frame, pat, arrays.into_iter().map(Slot::Array))
    }

    pub(super) fn scatter(
        &mut self,
        frame: &mut Frame,
        code: &'c CodeRows,
        dests: &[Operand],
        shape: &[Operand],
        pat: &[u32],
    ) -> Fallible<()> {
        let shape = self.shape(frame, shape, "a dimension")?;
        let mut arrays = self.dests(frame, dests, &shape)?;
        let mut rows = self.open_rows(frame, code)?;
        for i in 0..rows.width {
            let mut row = self.next_row(frame, &mut rows, i)?;
            if row.len() != shape.len() + arrays.len() {
                return Err(internal("a scatter takes indices, then one value per destination"));
            }
            let Some(place) = row_number(&row[..shape.len()], &shape)? else { continue };
            for (array, value) in arrays.iter_mut().zip(row.drain(shape.len()..)) {
                self.write_row(array, (shape.len(), place), value)?;
            }
        }
        self.span += rows.span + 1;
        self.bind_all(frame, pat, arrays.into_iter().map(Slot::Array))
    }

    pub(super) fn with_acc(
        &mut self,
        frame: &mut Frame,
        inputs: &'c [CodeAcc],
        lambda: &'c CodeLambda,
        pat: &[u32],
    ) -> Fallible<()> {
        let base = self.accs.len();
        if lambda.params.len() != inputs.len() {
            return Err(internal("with_acc has one parameter per accumulator"));
        }
        for (input, param) in inputs.iter().zip(&lambda.params) {
            let shape = self.shape(frame, &input.shape, "a dimension")?;
            let arrays = self.dests(frame, &input.arrays, &shape)?;
            let mut own = Vec::new();
            if let Some(op) = &input.op {
                own.resize(op.slots, Slot::Empty);
                for (slot, operand) in &op.captures {
                    own[*slot as usize] = self.read(frame, *operand);
                }
            }
            self.accs.push(OpenAcc { shape, arrays, op: input.op.as_ref(), frame: own });
            frame[*param as usize] = Slot::Acc(self.accs.len() as u32 - 1);
        }
        self.body(frame, &lambda.body)?;
        let results: Row = lambda.body.result.iter().map(|r| self.read(frame, *r)).collect();
        let returned = results.iter().take(inputs.len()).enumerate();
        for (i, result) in returned {
            if !matches!(result, Slot::Acc(id) if *id as usize == base + i) {
                return Err(internal("with_acc does not return its accumulators first"));
            }
        }
        let arrays = self.accs.drain(base..).flat_map(|acc| acc.arrays).map(Slot::Array);
        let all: Row = arrays.chain(results.into_iter().skip(inputs.len())).collect();
        self.bind_all(frame, pat, all)
    }

    pub(super) fn update_acc(
        &mut self,
        frame: &mut Frame,
        acc: Operand,
        indices: &[Operand],
        values: &[Operand],
    ) -> Fallible<Slot> {
        self.count(1);
        let Slot::Acc(id) = self.read(frame, acc) else { return Err(internal("an accumulator is expected")) };
        let indices: Row = indices.iter().map(|i| self.read(frame, *i)).collect();
        let values: Row = values.iter().map(|v| self.read(frame, *v)).collect();
        let open = self.accs.get_mut(id as usize).ok_or_else(|| internal("an accumulator is closed"))?;
        if values.len() != open.arrays.len() || indices.len() != open.shape.len() {
            return Err(internal("an update of an accumulator has other indices or values than it has"));
        }
        let Some(row) = row_number(&indices, &open.shape)? else { return Ok(Slot::Acc(id)) };
        let place = (indices.len(), row);
        let op = open.op;
        let mut arrays = std::mem::take(&mut open.arrays);
        match op {
            None => {
                for (array, value) in arrays.iter_mut().zip(values) {
                    self.write_row(array, place, value)?;
                }
            }
            Some(op) => {
                let mut own = std::mem::take(&mut open.frame);
                self.span += self.combine_into(&mut own, &mut arrays, place, &op.lambda, values)?;
                self.accs[id as usize].frame = own;
            }
        }
        self.accs[id as usize].arrays = arrays;
        Ok(Slot::Acc(id))
    }
}

/// The number of the row that the indices select, or none if they are out of bounds.
fn row_number(indices: &[Slot], shape: &[usize]) -> Fallible<Option<usize>> {
    let mut row = 0usize;
    for (index, &size) in indices.iter().zip(shape) {
        let Slot::Prim(Prim::I64(i)) = index else { return Err(internal("an index is an i64")) };
        match usize::try_from(*i) {
            Ok(i) if i < size => row = row * size + i,
            _ => return Ok(None),
        }
    }
    Ok(Some(row))
}
