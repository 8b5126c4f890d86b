//! The rows that parallel operations take.

use dagaz_core::exp::{Exp, Lambda};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{Lower, Lowered};
use crate::imp::LoopKind;

impl Lower<'_> {
    /// Binds parameters to row `i` of the arrays. Arrays stay where they are; accumulators are passed on.
    pub(super) fn load_row(&mut self, arrays: &[VarId], params: &[Param], i: &str) -> Lowered<()> {
        for (array, param) in arrays.iter().zip(params) {
            if param.ty.is_acc() {
                self.bind(param, false);
                self.bind_acc(param.var, (*array).into())?;
                continue;
            }
            self.bind(param, false);
            let (elem, dims) = self.array(*array)?;
            let (source, target) = (self.name(*array), self.name(param.var));
            if dims.len() == 1 {
                self.line(format!("{elem} {target} = {source}[{i}];"));
                continue;
            }
            let size = self.product(&dims[1..]);
            self.line(format!("{elem} *{target} = {source} + {i} * ({size});"));
            self.line(format!("dz_block *{target}_mem = {source}_mem;"));
        }
        Ok(())
    }

    /// Declares and fills variables with what an operation combines in iteration `i`: the row, or what `pre` makes of it.
    pub(super) fn next_row(
        &mut self,
        arrays: &[VarId],
        pre: Option<&Lambda>,
        targets: &[Param],
        i: &str,
    ) -> Lowered<()> {
        let Some(pre) = pre else { return self.load_row(arrays, targets, i) };
        for target in targets {
            self.bind(target, true);
            self.declare(target);
        }
        self.block(|l| {
            l.load_row(arrays, &pre.params, i)?;
            l.body(&pre.body, &pre.params, |l| {
                for (target, result) in targets.iter().zip(&pre.body.result) {
                    let name = l.name(target.var);
                    l.assign(&name, *result)?;
                }
                Ok(())
            })
        })
    }

    /// New variables for values that Core has no names for.
    pub(super) fn unnamed(&mut self, types: &[Type]) -> Vec<Param> {
        types
            .iter()
            .map(|ty| {
                self.extra += 1;
                Param::new(VarId(u32::MAX - self.extra), ty.clone())
            })
            .collect()
    }

    /// Iterations of scalar operations alone are for vector units.
    pub(super) fn loop_kind(&self, lambda: &Lambda) -> LoopKind {
        let is_scalar = |exp: &Exp| {
            matches!(
                exp,
                Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..)
            )
        };
        let scalar_index = |exp: &Exp| match exp {
            Exp::Index { array, indices, .. } => {
                self.vars.get(array).is_some_and(|info| info.ty.rank() == indices.len())
            }
            _ => false,
        };
        let simple = lambda.body.stms.iter().all(|stm| is_scalar(&stm.exp) || scalar_index(&stm.exp));
        if simple && lambda.ret.iter().all(|ty| matches!(ty, Type::Prim(_))) {
            LoopKind::Simd
        } else if lambda.ret.iter().any(Type::is_acc) {
            LoopKind::Sequential
        } else {
            LoopKind::Parallel
        }
    }

    /// Asks now and then whether to go on.
    pub(super) fn tick(&mut self) {
        let site = self.site(crate::SiteKind::Stopped);
        self.line(format!("if (DZ_TICK(ctx)) return dz_fail(ctx, {site});"));
    }

    pub(super) fn width(&self, width: Atom) -> String {
        self.atom(width)
    }
}
