//! Histograms, scatters and accumulators: many writes into arrays, in order.

use dagaz_core::exp::{AccInput, Lambda};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{Lower, Lowered, OpenAcc};
use crate::imp::{LoopKind, Stm};

impl Lower<'_> {
    pub(super) fn bind_acc(&mut self, var: VarId, value: Atom) -> Lowered<()> {
        let known = value.as_var().and_then(|v| self.accs.get(&v).copied());
        let acc = known.ok_or("internal error: an accumulator from nowhere")?;
        self.accs.insert(var, acc);
        Ok(())
    }

    pub(super) fn many_writes(
        &mut self,
        pat: &[Param],
        width: Atom,
        (arrays, pre): (&[VarId], Option<&Lambda>),
        dests: &[VarId],
        shape: &[Atom],
        op: Option<&Lambda>,
    ) -> Lowered<()> {
        for (param, dest) in pat.iter().zip(dests) {
            self.take_unique(param, *dest)?;
        }
        let bound = self.atom(width);
        self.repeatedly(|l| {
            l.for_loop(LoopKind::Sequential, &bound, |l, i| {
                l.tick();
                let mut targets = l.unnamed(&vec![Type::I64; shape.len()]);
                let indices: Vec<String> = targets.iter().map(|p| l.name(p.var)).collect();
                match op {
                    Some(op) => targets.extend(op.params[pat.len()..].iter().cloned()),
                    None => {
                        let rows: Vec<Type> = pat.iter().filter_map(|p| p.ty.peel(shape.len())).collect();
                        targets.extend(l.unnamed(&rows));
                    }
                }
                l.next_row(arrays, pre, &targets, i)?;
                let values: Vec<Param> = targets.split_off(shape.len());
                let unused: Vec<Param> = if op.is_some() { values.clone() } else { Vec::new() };
                l.within(&indices, shape, &unused, |l| match op {
                    Some(op) => l.combine_into(pat, shape, &indices, op),
                    None => {
                        for (param, value) in pat.iter().zip(&values) {
                            l.write_row(param, shape, &indices, value.var.into())?;
                        }
                        Ok(())
                    }
                })?;
                // An operator releases its parameters itself.
                if op.is_none() {
                    values.iter().for_each(|v| l.release_owned(v.var));
                }
                Ok(())
            })
        })
    }

    fn write_row(&mut self, array: &Param, shape: &[Atom], indices: &[String], value: Atom) -> Lowered<()> {
        let offset = self.offset(indices, array.ty.dims());
        match array.ty.peel(shape.len()) {
            Some(row) => {
                let name = self.name(array.var);
                self.store(&name, &offset, &row, value)
            }
            None => Ok(()),
        }
    }

    /// Runs something if the indices are within bounds, and else releases what it would have used.
    fn within(
        &mut self,
        indices: &[String],
        shape: &[Atom],
        unused: &[Param],
        build: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let (otherwise, ()) = self.nested(|l| {
            unused.iter().for_each(|param| l.release_owned(param.var));
            Ok(())
        })?;
        let inside: Vec<String> =
            indices.iter().zip(shape).map(|(i, d)| format!("(u64){i} < (u64){}", self.atom(*d))).collect();
        let (then, ()) = self.nested(build)?;
        let cond = if inside.is_empty() { "true".to_string() } else { inside.join(" && ") };
        self.out.push(Stm::If { cond, then, otherwise });
        Ok(())
    }

    /// The operator applied to the row at a place and to its last parameters, which are bound, written back.
    fn combine_into(
        &mut self,
        arrays: &[Param],
        shape: &[Atom],
        indices: &[String],
        op: &Lambda,
    ) -> Lowered<()> {
        for (array, param) in arrays.iter().zip(&op.params) {
            self.bind(param, true);
            let (source, offset) = (self.name(array.var), self.offset(indices, array.ty.dims()));
            match &param.ty {
                Type::Prim(ty) => {
                    let name = self.name(param.var);
                    self.set(ty.to_string(), name, format!("{source}[{offset}]"));
                }
                // A row is copied, for the operator may keep it while the array changes.
                Type::Array { .. } => {
                    self.allocate_new(param)?;
                    let (name, count) = (self.name(param.var), self.product(param.ty.dims()));
                    let bytes = format!("({count}) * sizeof(*{name})");
                    self.line(format!("memcpy({name}, {source} + {offset}, {bytes});"));
                }
                Type::Acc { .. } => return Err("internal error: an accumulator of accumulators".into()),
            }
        }
        self.combine(op)?;
        for (array, param) in arrays.iter().zip(&op.params) {
            self.bind(param, true);
            self.write_row(array, shape, indices, param.var.into())?;
            self.release_owned(param.var);
        }
        Ok(())
    }

    pub(super) fn with_acc(&mut self, pat: &[Param], inputs: &[AccInput], lambda: &Lambda) -> Lowered<()> {
        let mut rest = pat;
        for (input, param) in inputs.iter().zip(&lambda.params) {
            let (mine, others) = rest.split_at(input.arrays.len().min(rest.len()));
            rest = others;
            for (target, array) in mine.iter().zip(&input.arrays) {
                self.take_unique(target, *array)?;
            }
            let op = input.op.as_ref().map(|(op, _)| op.clone());
            self.open.push(OpenAcc { shape: input.shape.clone(), arrays: mine.to_vec(), op });
            self.bind(param, false);
            self.accs.insert(param.var, self.open.len() - 1);
        }
        let rest: Vec<Param> = rest.to_vec();
        rest.iter().for_each(|param| self.declare(param));
        self.block(|l| {
            l.body(&lambda.body, &[], |l| {
                for (param, result) in rest.iter().zip(&lambda.body.result[inputs.len()..]) {
                    let name = l.name(param.var);
                    l.assign(&name, *result)?;
                }
                Ok(())
            })
        })?;
        // A result can be another accumulator, from outside.
        for (param, result) in rest.iter().zip(&lambda.body.result[inputs.len()..]) {
            if param.ty.is_acc() {
                self.bind_acc(param.var, *result)?;
            }
        }
        Ok(())
    }

    pub(super) fn update_acc(
        &mut self,
        pat: &[Param],
        acc: VarId,
        indices: &[Atom],
        values: &[Atom],
    ) -> Lowered<()> {
        let number = *self.accs.get(&acc).ok_or("internal error: an accumulator from nowhere")?;
        for param in pat {
            self.accs.insert(param.var, number);
        }
        let OpenAcc { shape, arrays, op } = self.open[number].clone();
        let texts: Vec<String> = indices.iter().map(|i| self.atom(*i)).collect();
        let Some(op) = op else {
            return self.within(&texts, &shape, &[], |l| {
                for (array, value) in arrays.iter().zip(values) {
                    l.write_row(array, &shape, &texts, *value)?;
                }
                Ok(())
            });
        };
        self.within(&texts, &shape, &[], |l| {
            let right = op.params[arrays.len()..].to_vec();
            for (param, value) in right.iter().zip(values) {
                l.declare(param);
                let (target, source) = (l.name(param.var), l.atom(*value));
                match param.ty.is_array() {
                    true => {
                        l.line(format!("{target} = {source}; {target}_mem = {source}_mem;"));
                        l.line(format!("dz_retain(ctx, {target}_mem);"));
                    }
                    false => l.line(format!("{target} = {source};")),
                }
            }
            l.repeatedly(|l| {
                right.iter().for_each(|p| l.bind(p, true));
                l.combine_into(&arrays, &shape, &texts, &op)
            })
        })
    }
}
