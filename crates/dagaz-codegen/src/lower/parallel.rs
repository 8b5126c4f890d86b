//! Map, reduce and scan, as loops.

use dagaz_core::exp::{Check, Exp, Lambda};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, VarId};

use super::{Lower, Lowered};
use crate::imp::LoopKind;

impl Lower<'_> {
    pub(super) fn map(
        &mut self,
        pat: &[Param],
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
    ) -> Lowered<()> {
        if let Some(reduce) = self.interchangeable(pat, lambda) {
            return self.reduce_rows(pat, width, arrays, lambda, &reduce);
        }
        for param in pat.iter().filter(|p| !p.ty.is_acc()) {
            self.allocate(param)?;
        }
        let kind = self.loop_kind(lambda);
        let bound = self.width(width);
        self.repeatedly(|l| {
            l.for_loop(kind, &bound, |l, i| {
                if kind != LoopKind::Simd {
                    l.tick();
                }
                l.load_row(arrays, &lambda.params, i)?;
                let direct = l.set_destinations(pat, lambda, i);
                l.body(&lambda.body, &lambda.params, |l| {
                    for (position, (param, result)) in pat.iter().zip(&lambda.body.result).enumerate() {
                        let row = &lambda.ret[position];
                        if row.is_acc() || direct.contains(&position) {
                            continue;
                        }
                        let (target, value) = (l.name(param.var), l.atom(*result));
                        let size = l.product(row.dims());
                        let offset = if row.is_array() { format!("{i} * ({size})") } else { i.to_string() };
                        l.store(&target, &offset, row, &value);
                    }
                    Ok(())
                })
            })
        })?;
        for (param, result) in pat.iter().zip(&lambda.body.result).filter(|(p, _)| p.ty.is_acc()) {
            self.bind_acc(param.var, *result)?;
        }
        Ok(())
    }

    /// The reduction that a map consists of, if it reads along columns: the index of the map is the last one somewhere.
    fn interchangeable(&self, pat: &[Param], lambda: &Lambda) -> Option<Exp> {
        let ([param], [stm]) = (pat, lambda.body.stms.as_slice()) else { return None };
        let Exp::Reduce { width, arrays, pre: Some(pre), op, neutral, .. } = &stm.exp else { return None };
        let [start] = neutral.as_slice() else { return None };
        let is_own = |atom: &Atom| atom.as_var().is_some_and(|v| lambda.params.iter().any(|p| p.var == v));
        let depends = is_own(width) || is_own(start) || arrays.iter().any(|a| is_own(&Atom::Var(*a)));
        let is_simple = self.loop_kind(op) == LoopKind::Simd && self.loop_kind(pre) == LoopKind::Simd;
        let exps = || pre.body.stms.iter().chain(&op.body.stms).map(|stm| &stm.exp);
        let by_column = exps().any(|exp| match exp {
            Exp::Index { indices, .. } => indices.len() > 1 && indices.last().is_some_and(is_own),
            _ => false,
        });
        let is_result = lambda.body.result.as_slice() == [Atom::Var(stm.pat.first()?.var)];
        let fits = param.ty.rank() == 1 && is_simple && by_column && is_result && !depends;
        (fits && !exps().any(can_fail)).then(|| stm.exp.clone())
    }

    /// A map of reductions as a reduction of rows, each result in the same order as before:
    ///
    ///     for q { s = 0; for p { s += xs[p, q] }; out[q] = s }    ==>    out = 0; for p { for q { out[q] += xs[p, q] } }
    fn reduce_rows(
        &mut self,
        pat: &[Param],
        width: Atom,
        rows: &[VarId],
        lambda: &Lambda,
        reduce: &Exp,
    ) -> Lowered<()> {
        let Exp::Reduce { width: depth, arrays, pre, op, neutral, .. } = reduce else { return Ok(()) };
        let (param, [start]) = (super::only(pat)?, neutral.as_slice()) else { return Ok(()) };
        self.allocate(param)?;
        let (target, start, bound) = (self.name(param.var), self.atom(*start), self.atom(width));
        self.for_loop(LoopKind::Simd, &bound, |l, q| {
            l.line(format!("{target}[{q}] = {start};"));
            Ok(())
        })?;
        let depth = self.atom(*depth);
        let (left, right) = op.params.split_at(1);
        self.repeatedly(|l| {
            l.for_loop(LoopKind::Sequential, &depth, |l, p| {
                l.tick();
                l.for_loop(LoopKind::Simd, &bound, |l, q| {
                    l.load_row(rows, &lambda.params, q)?;
                    l.next_row(arrays, pre.as_ref(), right, p)?;
                    l.bind(&left[0], true);
                    l.declare(&left[0]);
                    let sum = l.name(left[0].var);
                    l.line(format!("{sum} = {target}[{q}];"));
                    l.combine(op)?;
                    l.line(format!("{target}[{q}] = {sum};"));
                    Ok(())
                })
            })
        })
    }

    /// Results that the lambda can write straight to where they belong. Gives their positions.
    fn set_destinations(&mut self, pat: &[Param], lambda: &Lambda, i: &str) -> Vec<usize> {
        let mut direct = Vec::new();
        for (position, (param, result)) in pat.iter().zip(&lambda.body.result).enumerate() {
            let Atom::Var(var) = *result else { continue };
            let row = &lambda.ret[position];
            let is_repeated = lambda.body.result.iter().filter(|r| *r == result).count() > 1;
            let makes_it = lambda.body.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == var));
            if row.is_array() && !is_repeated && makes_it.is_some_and(|stm| takes_destination(&stm.exp)) {
                let (target, size) = (self.name(param.var), self.product(row.dims()));
                self.dests.insert(var, (format!("{target} + {i} * ({size})"), format!("{target}_mem")));
                direct.push(position);
            }
        }
        direct
    }

    /// A reduction, or a scan, which also keeps what there is after every row.
    pub(super) fn fold(
        &mut self,
        pat: &[Param],
        width: Atom,
        (arrays, pre): (&[VarId], Option<&Lambda>),
        op: &Lambda,
        neutral: &[Atom],
        is_scan: bool,
    ) -> Lowered<()> {
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
        let bound = self.width(width);
        let is_simple =
            self.loop_kind(op) == LoopKind::Simd && pre.is_none_or(|p| self.loop_kind(p) == LoopKind::Simd);
        self.repeatedly(|l| {
            l.for_loop(LoopKind::Sequential, &bound, |l, i| {
                if !is_simple {
                    l.tick();
                }
                l.next_row(arrays, pre, right, i)?;
                left.iter().for_each(|p| l.bind(p, true));
                l.combine(op)?;
                for (param, (output, row)) in left.iter().zip(pat.iter().zip(&op.ret)).filter(|_| is_scan) {
                    let (target, value, size) =
                        (l.name(output.var), l.name(param.var), l.product(row.dims()));
                    l.store(&target, &format!("{i} * ({size})"), row, &value);
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
            match output.ty.is_array() {
                true => self.line(format!("{target} = {name}; {target}_mem = {name}_mem;")),
                false => self.line(format!("{target} = {name};")),
            }
        }
        Ok(())
    }

    /// Applies an operator to its parameters, whose first half then holds the results.
    pub(super) fn combine(&mut self, op: &Lambda) -> Lowered<()> {
        let left: Vec<Param> = op.params[..op.body.result.len().min(op.params.len())].to_vec();
        self.block(|l| {
            let next: Vec<(String, Param)> = left.iter().map(|p| (l.temp("next"), p.clone())).collect();
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
                let target = l.name(param.var);
                match param.ty.is_array() {
                    true => l.line(format!("{target} = {name}; {target}_mem = {name}_mem;")),
                    false => l.line(format!("{target} = {name};")),
                }
            }
            Ok(())
        })
    }
}

/// Whether a scalar operation can stop the program.
fn can_fail(exp: &Exp) -> bool {
    match exp {
        Exp::Index { check, .. } => *check == Check::Checked,
        Exp::BinOp(op, ty, ..) => {
            let fails = matches!(op, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem | BinOp::Pow);
            ty.is_int() && fails
        }
        _ => false,
    }
}

/// Whether the lowering of an expression begins with [`Lower::allocate`] for all of its variables.
fn takes_destination(exp: &Exp) -> bool {
    matches!(
        exp,
        Exp::Map { .. }
            | Exp::Scan { .. }
            | Exp::Copy(_)
            | Exp::Iota { .. }
            | Exp::Replicate { .. }
            | Exp::Rearrange { .. }
            | Exp::Concat { .. }
            | Exp::Contract { .. }
            | Exp::Scratch { .. }
            | Exp::ArrayLit { .. }
    )
}
