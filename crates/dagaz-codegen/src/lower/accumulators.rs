//! Accumulators, and what happens at one place of an array that many values go to.

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{AccInput, Exp, Lambda};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::emit::block_of;
use super::{Lower, Lowered, OpenAcc};
use crate::imp::{Expr, Operand, Runtime, Stm, all};

impl Lower<'_> {
    pub(super) fn bind_acc(&mut self, var: VarId, value: Atom) -> Lowered<()> {
        let known = value.as_var().and_then(|v| self.accs.get(&v).copied());
        let acc = known.ok_or("internal error: an accumulator from nowhere")?;
        self.accs.insert(var, acc);
        Ok(())
    }

    pub(super) fn write_row(
        &mut self,
        array: &Param,
        shape: &[Atom],
        indices: &[Expr],
        value: Atom,
    ) -> Lowered<()> {
        let offset = self.offset(indices, array.ty.dims());
        match array.ty.peel(shape.len()) {
            Some(row) => self.store(self.var_of(array)?, offset, &row, value),
            None => Ok(()),
        }
    }

    /// That indices are within bounds.
    pub(super) fn bounds(&self, indices: &[Expr], shape: &[Atom]) -> Vec<Expr> {
        indices.iter().zip(shape).map(|(i, d)| i.is_within(self.atom(*d))).collect()
    }

    /// As [`Lower::bounds`], but for the numbers of rows, which are below their count.
    fn open_bounds(&self, indices: &[Atom], shape: &[Atom]) -> Vec<Expr> {
        let is_open = |(index, size): &(&Atom, &Atom)| {
            !index.as_var().is_some_and(|var| self.scope.below.get(&var) == Some(*size))
        };
        let open = indices.iter().zip(shape).filter(is_open);
        let (indices, sizes): (Vec<Expr>, Vec<Atom>) = open.map(|(i, d)| (self.atom(*i), *d)).unzip();
        self.bounds(&indices, &sizes)
    }

    /// Runs something if the indices are within bounds, and else releases what it would have used.
    pub(super) fn within(
        &mut self,
        bounds: Vec<Expr>,
        unused: &[Param],
        build: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let (otherwise, ()) = self.nested(|l| {
            unused.iter().for_each(|param| l.release_owned(param.var));
            Ok(())
        })?;
        let inside = all(self.around.only_if.iter().cloned().chain(bounds));
        let (then, ()) = self.nested(build)?;
        self.out.push(match inside {
            None => Stm::Block(then),
            Some(inside) => Stm::branch(inside, then, otherwise),
        });
        Ok(())
    }

    /// The operator applied to the row at a place and to its last parameters, which are bound, written back.
    pub(super) fn combine_into(
        &mut self,
        arrays: &[Param],
        shape: &[Atom],
        indices: &[Expr],
        op: &Lambda,
    ) -> Lowered<()> {
        if let Some(scalar) = elementwise(op) {
            let place = |array: &Param| Ok(self.var_of(array)? + self.offset(indices, array.ty.dims()));
            let places: Vec<Expr> = arrays.iter().map(place).collect::<Lowered<_>>()?;
            return self.combine_rows(&places, op, scalar);
        }
        for (array, param) in arrays.iter().zip(&op.params) {
            self.bind(param, true);
            let (source, offset) = (self.var_of(array)?, self.offset(indices, array.ty.dims()));
            match &param.ty {
                Type::Prim(_) => self.set(&self.var_of(param)?, source.at(offset)),
                // A row is copied, for the operator may keep it while the array changes.
                Type::Array { elem, dims } => {
                    self.allocate_new(param)?;
                    let (target, count) = (self.var_of(param)?.expr(), self.product(dims));
                    self.run(Runtime::Copy(*elem), [target, source + offset, count]);
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

    /// Applies an operator on rows to rows in memory, given by pointers, and to its last parameters, which are bound: element
    /// by element, in place.
    pub(super) fn combine_rows(
        &mut self,
        places: &[Expr],
        op: &Lambda,
        (width, scalar): (Atom, &Lambda),
    ) -> Lowered<()> {
        let values = &op.params[places.len().min(op.params.len())..];
        let (left, right) = scalar.params.split_at(places.len().min(scalar.params.len()));
        let bound = self.atom(width);
        self.repeatedly(|l| {
            l.simple_loop(&0.expr(), &bound, &[], &|l, q| {
                for (param, place) in left.iter().zip(places) {
                    l.bind(param, true);
                    l.set(&l.var_of(param)?, place.at(q));
                }
                let rows: Vec<VarId> = values.iter().map(|p| p.var).collect();
                l.load_row(&rows, right, q)?;
                l.combine(scalar)?;
                for (param, place) in left.iter().zip(places) {
                    l.write(place, q, l.var_of(param)?);
                }
                Ok(())
            })
        })?;
        values.iter().for_each(|value| self.release_owned(value.var));
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
            let (shape, op) = (input.shape.clone(), input.op.clone());
            self.open.push(OpenAcc { shape, arrays: mine.to_vec(), op, is_copy: false, log: None });
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
        for (param, result) in rest.iter().zip(&lambda.body.result[inputs.len()..]) {
            match &param.ty {
                // A result can be another accumulator, from outside.
                Type::Acc { .. } => self.bind_acc(param.var, *result)?,
                // To Core these are new arrays, though they may be from outside, too.
                Type::Array { .. } => {
                    let name = self.name(param.var);
                    self.make_unique(&name, &param.ty)?;
                }
                Type::Prim(_) => {}
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
        let OpenAcc { shape, arrays, op, log, .. } = self.open[number].clone();
        let place: Vec<Expr> = indices.iter().map(|i| self.atom(*i)).collect();
        let bounds = self.open_bounds(indices, &shape);
        if let (Some(log), [array], [value]) = (log, arrays.as_slice(), values) {
            return self.log_addition(&log, array, (place, bounds), *value);
        }
        let Some((op, _)) = op else {
            return self.within(bounds, &[], |l| {
                for (array, value) in arrays.iter().zip(values) {
                    l.write_row(array, &shape, &place, *value)?;
                }
                Ok(())
            });
        };
        self.within(bounds, &[], |l| {
            let right = op.params[arrays.len()..].to_vec();
            for (param, value) in right.iter().zip(values) {
                l.declare(param);
                let target = l.var_of(param)?;
                l.put(&target, l.atom(*value));
                if let (Type::Array { .. }, Atom::Var(array)) = (&param.ty, *value) {
                    l.put(&block_of(&target.name), l.mem(array));
                    l.retain(&block_of(&target.name));
                }
            }
            l.repeatedly(|l| {
                right.iter().for_each(|p| l.bind(p, true));
                l.combine_into(&arrays, &shape, &place, &op)
            })
        })
    }
}

/// The operator on elements, if one on vectors consists of it and cannot fail: `\xs ys -> map2 f xs ys`. Also the size of
/// the vectors.
pub(super) fn elementwise(op: &Lambda) -> Option<(Atom, &Lambda)> {
    let [stm] = op.body.stms.as_slice() else { return None };
    let Exp::Map { width, arrays, lambda } = &stm.exp else { return None };
    let is_plain = arrays.iter().eq(op.params.iter().map(|p| &p.var))
        && op.body.result.iter().copied().eq(stm.pat.iter().map(|p| Atom::Var(p.var)))
        && lambda.params.iter().all(|p| matches!(p.ty, Type::Prim(_)))
        && lambda.body.stms.iter().all(|stm| {
            matches!(
                stm.exp,
                Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..)
            ) && !can_fail(&stm.exp)
        });
    is_plain.then_some((*width, lambda))
}
