//! Reductions and scans.
//!
//! Pieces of the rows are folded on their own, each from the neutral element, and their results are combined in order.
//! What the pieces are depends on the number of rows alone, so the result does not depend on the number of threads.
//! Within a piece, a sum can be in any order, for vector units.

use dagaz_core::cost::{Cost, scalar_cost};
use dagaz_core::exp::{Body, Check, Exp, Lambda};
use dagaz_core::machine;
use dagaz_core::operator::{ScalarOperator, components};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::accumulators::elementwise;
use super::gathers::gathers;
use super::{Lower, Lowered, lanes};
use crate::RemarkKind;
use crate::imp::{Combine, Expr, LoopKind, Operand, Repr, Runtime, StackArray, Stm, Var, any};

/// A fold at work: what it takes, and what it is made of.
pub(super) struct Fold<'a> {
    pub(super) width: Atom,
    pub(super) arrays: &'a [VarId],
    pub(super) pre: Option<&'a Lambda>,
    pub(super) op: &'a Lambda,
    pub(super) neutral: &'a [Atom],
}

impl Fold<'_> {
    /// The parameters that hold what there is so far, and those for the next row.
    pub(super) fn sides(&self) -> (&[Param], &[Param]) {
        self.op.params.split_at(self.neutral.len().min(self.op.params.len()))
    }
}

impl Lower<'_> {
    pub(super) fn is_simple_fold(&self, fold: &Fold<'_>) -> bool {
        self.is_simple(fold.op) && fold.pre.is_none_or(|pre| self.is_simple(pre))
    }

    pub(super) fn reduce(&mut self, pat: &[Param], fold: &Fold<'_>) -> Lowered<()> {
        self.remark_fused(fold.pre);
        let is_simple = self.is_simple_fold(fold);
        let is_scalar = pat.iter().all(|p| matches!(p.ty, Type::Prim(_)));
        if let Some(scalar) = elementwise(fold.op) {
            return self.reduce_vectors(pat, fold, scalar);
        }
        if !is_scalar {
            return self.fold_in_order(
                pat,
                fold.width,
                (fold.arrays, fold.pre),
                fold.op,
                fold.neutral,
                false,
            );
        }
        let (left, _) = fold.sides();
        let bound = self.atom(fold.width);
        pat.iter().for_each(|param| self.declare(param));
        if !self.is_outermost() {
            return self.block(|l| {
                let (from, to) = l.narrow(fold, &0.expr(), &bound);
                let is_narrow = (&from, &to) != (&0.expr(), &bound);
                l.repeatedly(|l| match lanes::lanes_for(fold).filter(|_| is_simple && !is_narrow) {
                    Some(lanes) => {
                        l.start_from(left, fold.neutral)?;
                        l.fold_in_lanes(fold, lanes, (&from, &to))
                    }
                    None => l.fold_piece(fold, fold.neutral, (&from, &to), is_simple, &mut |_, _| Ok(())),
                })?;
                for (param, output) in left.iter().zip(pat) {
                    l.put(&l.var_of(output)?, l.var_of(param)?);
                }
                Ok(())
            });
        }
        self.block(|l| {
            let lambdas: Vec<&Lambda> = fold.pre.into_iter().chain([fold.op]).collect();
            let grain = l.grain(&bound, &lambdas);
            let parts = l.part_arrays(fold.op)?;
            let start = piece_start(fold.op, fold.neutral);
            l.pieces_of(&bound, &grain, |l, from, to| {
                let (first, last) = l.narrow(fold, from, to);
                l.fold_piece(fold, &start, (&first, &last), is_simple, &mut |_, _| Ok(()))?;
                for (param, part) in left.iter().zip(&parts) {
                    l.write(part, from / &grain, l.var_of(param)?);
                }
                Ok(())
            })?;
            l.combine_parts(pat, (fold.op, fold.neutral), &parts, (&bound, &grain))
        })
    }

    /// Combines the results of pieces, in order.
    pub(super) fn combine_parts(
        &mut self,
        pat: &[Param],
        (op, neutral): (&Lambda, &[Atom]),
        parts: &[Var],
        (bound, grain): (&Expr, &Var),
    ) -> Lowered<()> {
        let (left, right) = op.params.split_at(neutral.len().min(op.params.len()));
        self.start_from(left, neutral)?;
        self.repeatedly(|l| {
            l.for_loop(LoopKind::Sequential, bound.parts_of(grain), |l, piece| {
                l.bind_elements(right, parts, piece)?;
                l.combine(op)
            })
        })?;
        for (param, output) in left.iter().zip(pat) {
            self.put(&self.var_of(output)?, self.var_of(param)?);
        }
        Ok(())
    }

    /// Binds scalars to the elements at a place of some arrays.
    pub(super) fn bind_elements(
        &mut self,
        params: &[Param],
        arrays: &[Var],
        place: impl Operand,
    ) -> Lowered<()> {
        for (param, array) in params.iter().zip(arrays) {
            self.bind(param, true);
            self.set(&self.var_of(param)?, array.at(&place));
        }
        Ok(())
    }

    /// Writes scalars to a place of some arrays.
    pub(super) fn write_elements_to(
        &mut self,
        arrays: &[Var],
        place: impl Operand,
        values: &[Param],
    ) -> Lowered<()> {
        for (array, value) in arrays.iter().zip(values) {
            self.write(array, &place, self.var_of(value)?);
        }
        Ok(())
    }

    /// A function before an operation was a map of its own, or part of one.
    pub(super) fn remark_fused(&mut self, pre: Option<&Lambda>) {
        if pre.is_some() {
            self.remark(
                RemarkKind::Fused,
                "what is computed for each element is used at once, and never stored",
            );
        }
    }

    /// A variable with the number of rows in a piece.
    pub(super) fn grain(&mut self, bound: &Expr, lambdas: &[&Lambda]) -> Var {
        let cost = self.cost(lambdas);
        self.int("grain", Expr::call(Runtime::Grain, [bound.clone(), cost]))
    }

    /// Arrays on the stack, one for each component of an operator, with an element for each piece.
    pub(super) fn part_arrays(&mut self, op: &Lambda) -> Lowered<Vec<Var>> {
        let mut parts = Vec::new();
        for ty in &op.ret {
            let part = self.temp(Repr::pointer(super::elem(ty)?), "part");
            let room = Var::new(part.repr, format!("{part}_room"));
            self.out.push(Stm::StackArray(StackArray::of(&room, machine::MOST_PIECES)));
            self.set(&part, room);
            parts.push(part);
        }
        Ok(parts)
    }

    /// Declares the left parameters, with these values.
    fn start_from(&mut self, left: &[Param], values: &[Atom]) -> Lowered<()> {
        for (param, value) in left.iter().zip(values) {
            self.bind(param, true);
            self.declare(param);
            let name = self.name(param.var);
            self.assign(&name, *value)?;
        }
        Ok(())
    }

    /// Folds the rows of a piece of scalars into the left parameters of the operator. `each` can use every row.
    pub(super) fn fold_piece(
        &mut self,
        fold: &Fold<'_>,
        start: &[Atom],
        (from, to): (&Expr, &Expr),
        is_simple: bool,
        each: &mut dyn FnMut(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        let (left, right) = fold.sides();
        self.start_from(left, start)?;
        let each = std::cell::RefCell::new(each);
        let step = |l: &mut Self, i: &Var| {
            l.next_row(fold.arrays, fold.pre, right, i)?;
            each.borrow_mut()(l, i)?;
            left.iter().for_each(|p| l.bind(p, true));
            l.combine(fold.op)
        };
        if !is_simple {
            return self.iterate(from, to, step);
        }
        match sum_operators(fold.op) {
            Some(operators) => {
                let vars = left.iter().map(|param| self.var_of(param)).collect::<Lowered<Vec<Var>>>()?;
                let sums: Vec<(Combine, Var)> = operators.into_iter().zip(vars).collect();
                if !sums.iter().any(is_extremum) {
                    if fold.pre.is_some_and(gathers) {
                        return self.sum_of_gathers(fold, (from, to), &mut |l, i| each.borrow_mut()(l, i));
                    }
                    return self.simple_loop(from, to, &sums, &step);
                }
                let one_by_one = |l: &mut Self| l.loop_from(LoopKind::Sequential, from, to, step);
                let quick = |l: &mut Self, i: &Var| {
                    l.next_row(fold.arrays, fold.pre, right, i)?;
                    each.borrow_mut()(l, i)?;
                    for ((combine, so_far), param) in sums.iter().zip(right) {
                        let next = l.var_of(param)?;
                        let is_better = match combine {
                            Combine::Min => next.is_below(so_far),
                            _ => next.is_above(so_far),
                        };
                        l.put(so_far, is_better.select(next, so_far));
                    }
                    Ok(())
                };
                let is_quick = are_extrema(&sums, left, start);
                let (otherwise, ()) = self.nested(|l| {
                    match is_quick {
                        true => l.simple_loop(from, to, &sums, &quick)?,
                        false => l.simple_loop(from, to, &sums, &step)?,
                    }
                    l.zeros_in_order(left, start, &sums, one_by_one)
                })?;
                let deferred = self.around.deferred.take();
                let few = self.nested(one_by_one);
                self.around.deferred = deferred;
                let (then, ()) = few?;
                self.out.push(Stm::branch(
                    (to - from).is_below(machine::SCALAR_EXTREMUM_ROWS),
                    then,
                    otherwise,
                ));
                Ok(())
            }
            None => {
                self.remark(
                    RemarkKind::InOrder,
                    "the operator is not a sum, product, minimum or maximum: a piece is folded in order",
                );
                self.loop_from(LoopKind::Sequential, from, to, step)
            }
        }
    }

    /// Of zeros with different signs, the first one is the least and the greatest, but vector units know no first one: a
    /// fold that gave a zero is done again.
    fn zeros_in_order(
        &mut self,
        left: &[Param],
        start: &[Atom],
        sums: &[(Combine, Var)],
        again: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let is_float = |param: &Param| param.ty.elem().is_some_and(PrimType::is_float);
        let extrema = sums.iter().zip(left).filter(|(sum, param)| is_extremum(sum) && is_float(param));
        let is_zero = |((_, var), param): (&(Combine, Var), &Param)| {
            let zero = Prim::zero(param.ty.elem()?);
            Some(var.equals(zero))
        };
        let Some(is_zero) = any(extrema.filter_map(is_zero)) else { return Ok(()) };
        let outside = self.around.deferred.take();
        let inside = self.nested(|l| {
            for (param, value) in left.iter().zip(start) {
                let name = l.name(param.var);
                l.assign(&name, *value)?;
            }
            again(l)
        });
        self.around.deferred = outside;
        let (then, ()) = inside?;
        self.out.push(Stm::when(is_zero, then));
        Ok(())
    }

    /// A reduction, or a scan, which also keeps what there is after every row.
    pub(super) fn fold_in_order(
        &mut self,
        pat: &[Param],
        width: Atom,
        (arrays, pre): (&[VarId], Option<&Lambda>),
        op: &Lambda,
        neutral: &[Atom],
        is_scan: bool,
    ) -> Lowered<()> {
        self.remark(
            RemarkKind::InOrder,
            if is_scan { "a scan of arrays, or inside of a parallel loop" } else { "a reduction of arrays" },
        );
        let (left, right) = op.params.split_at(neutral.len().min(op.params.len()));
        for (param, value) in left.iter().zip(neutral) {
            self.declare(param);
            let name = self.name(param.var);
            self.assign(&name, *value)?;
        }
        if is_scan {
            for param in pat {
                self.allocate(param)?;
            }
        }
        let bound = self.atom(width);
        let is_simple = self.is_simple(op) && pre.is_none_or(|p| self.is_simple(p));
        self.repeatedly(|l| {
            l.for_loop(LoopKind::Sequential, &bound, |l, i| {
                if !is_simple {
                    l.tick();
                }
                l.next_row(arrays, pre, right, i)?;
                left.iter().for_each(|p| l.bind(p, true));
                l.combine(op)?;
                for (param, (output, row)) in left.iter().zip(pat.iter().zip(&op.ret)).filter(|_| is_scan) {
                    l.store(l.var_of(output)?, i * l.product(row.dims()), row, param.var.into())?;
                }
                Ok(())
            })
        })?;
        for (param, output) in left.iter().zip(pat) {
            self.bind(param, true);
            let name = self.name(param.var);
            if is_scan {
                self.release_owned(param.var);
                continue;
            }
            self.declare(output);
            let target = self.name(output.var);
            self.put_value(&target, &name, &output.ty);
            if output.ty.is_array() {
                // To Core this is a new array, though it may be a row or the neutral element.
                self.make_unique(&target, &output.ty)?;
            }
        }
        Ok(())
    }

    /// Applies an operator to its parameters, whose first half then holds the results.
    pub(super) fn combine(&mut self, op: &Lambda) -> Lowered<()> {
        let left: Vec<Param> = op.params[..op.body.result.len().min(op.params.len())].to_vec();
        self.block(|l| {
            let next: Vec<(String, Param)> = left.iter().map(|p| (l.temp_name("next"), p.clone())).collect();
            for (name, param) in &next {
                l.declare_as(name, &param.ty);
            }
            l.body(&op.body, &op.params, |l| {
                for ((name, _), result) in next.iter().zip(&op.body.result) {
                    l.assign(name, *result)?;
                }
                Ok(())
            })?;
            for (name, param) in &next {
                l.put_value(&l.name(param.var), name, &param.ty);
            }
            Ok(())
        })
    }
}

/// The operators that an operator consists of, one for each component, if their order does not matter.
pub(super) fn sum_operators(op: &Lambda) -> Option<Vec<Combine>> {
    let operator = |ScalarOperator { op, ty, .. }| match op {
        _ if ty == PrimType::F16 => None,
        BinOp::Add => Some(Combine::Add),
        BinOp::Mul => Some(Combine::Multiply),
        BinOp::And => Some(Combine::And),
        BinOp::Or => Some(Combine::Or),
        BinOp::Xor => Some(Combine::Xor),
        BinOp::Min => Some(Combine::Min),
        BinOp::Max => Some(Combine::Max),
        _ => None,
    };
    components(op)?.into_iter().map(operator).collect()
}

fn is_extremum((combine, _): &(Combine, Var)) -> bool {
    matches!(combine, Combine::Min | Combine::Max)
}

/// Whether a fold is for the least or greatest numbers only and starts with numbers. Then no value so far is a NaN, and a
/// comparison, which is false for NaN, leaves out those that come.
fn are_extrema(sums: &[(Combine, Var)], left: &[Param], start: &[Atom]) -> bool {
    let is_number = |atom: &Atom| match atom {
        Atom::Const(Prim::F32(x)) => !x.is_nan(),
        Atom::Const(Prim::F64(x)) => !x.is_nan(),
        Atom::Const(_) | Atom::Var(_) => false,
    };
    let is_float = |param: &Param| matches!(param.ty.elem(), Some(PrimType::F32 | PrimType::F64));
    sums.iter().all(is_extremum) && left.iter().all(is_float) && start.iter().all(is_number)
}

/// Whether a scan keeps what it has computed of its rows until it goes over them again: not if that is as cheap as to read it.
pub(super) fn keeps_rows(fold: &Fold<'_>) -> bool {
    fold.pre.is_some_and(|pre| {
        cheap_statements(&pre.body).is_none_or(|count| count > machine::RECOMPUTED_STATEMENTS)
    })
}

/// The number of statements, if none of them takes much longer than an addition, and none can stop the program.
pub(super) fn cheap_statements(body: &Body) -> Option<usize> {
    let costs = body.stms.iter().map(|stm| match &stm.exp {
        Exp::Atom(_) => Some(0),
        Exp::UnOp(..) | Exp::BinOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
            (scalar_cost(&stm.exp) == Some(Cost::Simple)).then_some(1)
        }
        Exp::Index { check: Check::Certified, .. } => Some(1),
        Exp::If { then, otherwise, .. } => Some(1 + cheap_statements(then)? + cheap_statements(otherwise)?),
        _ => None,
    });
    costs.sum()
}

/// What pieces begin with: what changes nothing, where that is known. What the program gives can be a start value, which
/// counts once.
pub(super) fn piece_start(op: &Lambda, given: &[Atom]) -> Vec<Atom> {
    let known = |ScalarOperator { op, ty, .. }| match op {
        BinOp::Add => Some(Prim::of_f64(ty, -0.0).unwrap_or(Prim::zero(ty))),
        BinOp::Mul => Some(Prim::one(ty)),
        BinOp::Or | BinOp::Xor => Some(Prim::zero(ty)),
        BinOp::And if ty == PrimType::Bool => Some(Prim::Bool(true)),
        BinOp::And => Some(Prim::of_i64(ty, -1)),
        BinOp::Min => Some(Prim::highest(ty)),
        BinOp::Max => Some(Prim::lowest(ty)),
        _ => None,
    };
    let known: Option<Vec<Prim>> =
        components(op).and_then(|operations| operations.into_iter().map(known).collect());
    known.map_or_else(|| given.to_vec(), |prims| prims.into_iter().map(Atom::Const).collect())
}
