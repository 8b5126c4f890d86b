//! Maps, reductions, scans, histograms and scatters of Core.
//!
//! ```text
//! reduce n (xs)                            let (y: [n]f64) = f64.sin xs
//!   pre \(x: f64) : (f64) -> … f64.sin x   ==>
//!   op (+) neutral (0.0)                   let (s: f64) = f64.reduce_add 0 y
//! ```

use dagaz_core::exp::{self, Exp, Loc};
use dagaz_core::types::{Atom, Param, VarId};

use crate::build::as_binop;
use crate::term::{Body, Combine, Op, neutral};

use super::{Acc, Bound, Transform, Transformed, unsupported};

impl Transform<'_> {
    pub(super) fn map(&mut self, stm: &exp::Stm) -> Transformed<()> {
        let Exp::Map { width, arrays, lambda } = &stm.exp else { return Ok(()) };
        let results = self.lambda_on_rows(*width, arrays, lambda, stm.loc)?;
        self.bind(&stm.pat, &results);
        Ok(())
    }

    /// The results of a function on all rows at once.
    fn lambda_on_rows(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        lambda: &exp::Lambda,
        loc: Loc,
    ) -> Transformed<Vec<Bound>> {
        let width = self.atom(width);
        let mut rows = Vec::new();
        for (param, array) in lambda.params.iter().zip(arrays) {
            if let Some(acc) = self.accs.get(array).cloned() {
                self.bind_acc(param.var, acc);
            } else {
                let array = self.array(*array);
                let param = self.param(param);
                rows.push((param.var, array));
            }
        }
        self.depth += 1;
        self.b.open();
        let result = self.body(&lambda.body);
        let stms = self.b.close();
        self.depth -= 1;
        let accs = self.accs_of(&lambda.body.result);
        let body = Body { stms, result: result? };
        self.b.loc = loc;
        let mut lifted = self.on_lanes(width, &rows, &body, loc)?.into_iter();
        let mut bound = Vec::new();
        for acc in accs {
            match acc {
                None => bound.extend(lifted.next().map(Bound::Value)),
                Some(acc) => {
                    let arrays = lifted.by_ref().take(acc.arrays.len()).filter_map(Atom::as_var).collect();
                    bound.push(Bound::Acc(Acc { arrays, ..acc }));
                }
            }
        }
        Ok(bound)
    }

    /// The arrays that an operation combines: what a fused map makes of rows, or the arrays themselves.
    fn prepared(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        pre: Option<&exp::Lambda>,
        loc: Loc,
    ) -> Transformed<Vec<VarId>> {
        let Some(pre) = pre else { return Ok(self.arrays(arrays)) };
        let results = self.lambda_on_rows(width, arrays, pre, loc)?;
        let each = results.into_iter().map(|bound| match bound {
            Bound::Value(atom) => Ok(self.b.as_var(atom)),
            Bound::Acc(_) => unsupported("an accumulator in front of a reduction, scan or histogram", loc),
        });
        each.collect()
    }

    pub(super) fn fold(&mut self, stm: &exp::Stm) -> Transformed<()> {
        let (width, arrays, pre, op, start) = match &stm.exp {
            Exp::Reduce { width, arrays, pre, op, neutral, .. }
            | Exp::Scan { width, arrays, pre, op, neutral } => (width, arrays, pre, op, neutral),
            _ => return Ok(()),
        };
        let arrays = self.prepared(*width, arrays, pre.as_ref(), stm.loc)?;
        let start = self.atoms(start);
        let op = self.lambda(op)?;
        self.b.loc = stm.loc;
        let folded = match (as_binop(&op), start.as_slice(), arrays.as_slice()) {
            (Some(binop), [Atom::Const(start)], [array]) if neutral(binop, start.ty()) == Some(*start) => {
                Some(Op::Fold { op: binop, ty: start.ty(), axis: 0, array: *array })
            }
            _ => None,
        };
        let op = match (&stm.exp, folded) {
            (Exp::Reduce { .. }, Some(folded)) => folded,
            (Exp::Reduce { .. }, None) => Op::Reduce { axis: 0, arrays, op, neutral: start },
            _ => Op::Scan { axis: 0, arrays, op, neutral: start },
        };
        self.bind_op(&stm.pat, &vec![None; stm.pat.len()], op);
        Ok(())
    }

    pub(super) fn scatter(&mut self, stm: &exp::Stm) -> Transformed<()> {
        let (width, arrays, pre, dests, shape, combine) = match &stm.exp {
            Exp::Hist { width, arrays, pre, dests, shape, op, neutral } => {
                (width, arrays, pre, dests, shape, self.combine(op, neutral)?)
            }
            Exp::Scatter { width, arrays, pre, dests, shape } => {
                (width, arrays, pre, dests, shape, Combine::Replace)
            }
            _ => return Ok(()),
        };
        let rows = self.prepared(*width, arrays, pre.as_ref(), stm.loc)?;
        let mut rows = rows.into_iter().map(Atom::Var);
        let indices = rows.by_ref().take(shape.len()).collect();
        let op = Op::Scatter { dests: self.arrays(dests), indices, values: rows.collect(), combine };
        let pat: Vec<Param> = stm.pat.iter().map(|p| self.param(p)).collect();
        self.b.loc = stm.loc;
        self.b.push(pat, op);
        Ok(())
    }
}
