//! Map, reduce and scan, as loops.

use dagaz_core::exp::{Exp, Lambda};
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
            | Exp::Scratch { .. }
            | Exp::ArrayLit { .. }
    )
}
