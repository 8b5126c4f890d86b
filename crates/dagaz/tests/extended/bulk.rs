//! Maps, folds, histograms, scatters and accumulators, one element after the other.

use std::rc::Rc;

use dagaz_core::exp::{AccInput, Lambda};
use dagaz_core::types::{Atom, VarId};

use super::scalar::Fallible;
use super::{Array, Machine, Value, parts};

/// An accumulator between the beginning and the end of its `with_acc`.
pub struct OpenAcc<'p> {
    shape: Vec<usize>,
    arrays: Vec<Array>,
    op: Option<&'p Lambda>,
}

type Rows = Vec<Vec<Value>>;

impl<'p> Machine<'p> {
    fn inputs(&mut self, width: Atom, arrays: &[VarId]) -> Fallible<Rows> {
        let width = self.size(width)?;
        let inputs: Vec<Value> = arrays.iter().map(|a| self.atom(Atom::Var(*a))).collect::<Fallible<_>>()?;
        for input in &inputs {
            match input {
                Value::Array(array) if array.shape[0] != width => {
                    return Err(format!("shape {:?} for width {width}", array.shape));
                }
                Value::Scalar(_) => return Err("rows of a scalar".to_owned()),
                Value::Array(_) | Value::Acc(_) => {}
            }
        }
        let row = |i| {
            let part = |input: &Value| match input {
                Value::Array(array) => array.row(i),
                Value::Scalar(_) | Value::Acc(_) => input.clone(),
            };
            inputs.iter().map(part).collect()
        };
        Ok((0..width).map(row).collect())
    }

    /// The rows, after the fused map if there is one.
    fn rows(&mut self, width: Atom, arrays: &[VarId], pre: Option<&'p Lambda>) -> Fallible<Rows> {
        let rows = self.inputs(width, arrays)?;
        match pre {
            None => Ok(rows),
            Some(pre) => rows.into_iter().map(|row| self.apply(pre, row)).collect(),
        }
    }

    pub fn map(&mut self, width: Atom, arrays: &[VarId], lambda: &'p Lambda) -> Fallible<Vec<Value>> {
        let outer = arrays.iter().map(|a| self.atom(Atom::Var(*a))).collect::<Fallible<Vec<_>>>()?;
        let mut accs = outer.into_iter().filter(|v| matches!(v, Value::Acc(_)));
        let rows = self.rows(width, arrays, Some(lambda))?;
        let mut results = Vec::new();
        for (i, ty) in lambda.ret.iter().enumerate() {
            if ty.is_acc() {
                results.push(accs.next().ok_or("an accumulator from nowhere")?);
            } else {
                let column = rows.iter().map(|row| vec![row[i].clone()]).collect();
                results.extend(self.stack(column, std::slice::from_ref(ty))?);
            }
        }
        Ok(results)
    }

    /// The last value of a fold, and all values.
    pub fn fold(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        pre: Option<&'p Lambda>,
        op: &'p Lambda,
        neutral: &[Atom],
    ) -> Fallible<(Vec<Value>, Rows)> {
        let mut so_far = self.atoms(neutral)?;
        let mut all = Vec::new();
        for row in self.rows(width, arrays, pre)? {
            so_far.extend(row);
            so_far = self.apply(op, so_far)?;
            all.push(so_far.clone());
        }
        Ok((so_far, all))
    }

    /// A histogram, or without an operator a scatter.
    pub fn write_rows(
        &mut self,
        (width, arrays, pre): (Atom, &[VarId], Option<&'p Lambda>),
        dests: &[VarId],
        shape: &[Atom],
        op: Option<&'p Lambda>,
    ) -> Fallible<Vec<Value>> {
        let shape = self.sizes(shape)?;
        let mut dests: Vec<Array> = dests.iter().map(|d| self.array(*d)).collect::<Fallible<_>>()?;
        for mut row in self.rows(width, arrays, pre)? {
            let values = row.split_off(shape.len());
            self.write(&mut dests, &shape, &row, values, op)?;
        }
        Ok(dests.into_iter().map(Value::Array).collect())
    }

    /// Writes to one place of several arrays, unless it is out of bounds.
    fn write(
        &mut self,
        dests: &mut [Array],
        shape: &[usize],
        indices: &[Value],
        values: Vec<Value>,
        op: Option<&'p Lambda>,
    ) -> Fallible<()> {
        let mut place = 0;
        for (index, &size) in indices.iter().zip(shape) {
            let Value::Scalar(index) = index else { return Err("an index is no scalar".to_owned()) };
            match usize::try_from(index.i64()?) {
                Ok(i) if i < size => place = place * size + i,
                Ok(_) | Err(_) => return Ok(()),
            }
        }
        let range = |dest: &Array| {
            let count: usize = dest.shape[shape.len()..].iter().product();
            place * count..(place + 1) * count
        };
        let values = match op {
            None => values,
            Some(op) => {
                let old = |dest: &Array| {
                    dest.gather(dest.shape[shape.len()..].to_vec(), &range(dest).collect::<Vec<_>>())
                };
                let args = dests.iter().map(old).chain(values).collect();
                self.apply(op, args)?
            }
        };
        for (dest, value) in dests.iter_mut().zip(values) {
            let range = range(dest);
            let (_, elems) = parts(value)?;
            Rc::make_mut(&mut dest.elems)[range].copy_from_slice(&elems);
        }
        Ok(())
    }

    pub fn with_acc(&mut self, inputs: &'p [AccInput], lambda: &'p Lambda) -> Fallible<Vec<Value>> {
        let base = self.accs.len();
        for input in inputs {
            let arrays = input.arrays.iter().map(|a| self.array(*a)).collect::<Fallible<_>>()?;
            let (shape, op) = (self.sizes(&input.shape)?, input.op.as_ref().map(|(op, _)| op));
            self.accs.push(OpenAcc { shape, arrays, op });
        }
        let results = self.apply(lambda, (base..self.accs.len()).map(Value::Acc).collect())?;
        let arrays = self.accs.split_off(base).into_iter().flat_map(|acc| acc.arrays);
        Ok(arrays.map(Value::Array).chain(results.into_iter().skip(inputs.len())).collect())
    }

    pub fn update_acc(&mut self, acc: VarId, indices: &[Atom], values: &[Atom]) -> Fallible<Vec<Value>> {
        let Value::Acc(id) = self.atom(Atom::Var(acc))? else { return Err("no accumulator".to_owned()) };
        let (indices, values) = (self.atoms(indices)?, self.atoms(values)?);
        let shape = self.accs[id].shape.clone();
        let op = self.accs[id].op;
        let mut arrays = std::mem::take(&mut self.accs[id].arrays);
        self.write(&mut arrays, &shape, &indices, values, op)?;
        self.accs[id].arrays = arrays;
        Ok(vec![Value::Acc(id)])
    }
}
