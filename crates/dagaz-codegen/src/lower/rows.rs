//! The rows that parallel operations take.

use dagaz_core::exp::{Body, Exp, Lambda, Stm as CoreStm};
use dagaz_core::types::{Param, Type, VarId};

use super::few_elements::elements;
use super::{Lower, Lowered};
use crate::imp::{Operand, Runtime, Stm, Var};

/// As many elements as there are in `dz_nothing`.
const SHORT: usize = 64;

impl Lower<'_> {
    /// Binds parameters to row `i` of the arrays. Arrays stay where they are; accumulators are passed on.
    pub(super) fn load_row(&mut self, arrays: &[VarId], params: &[Param], i: &Var) -> Lowered<()> {
        for (array, param) in arrays.iter().zip(params) {
            if param.ty.is_acc() {
                self.bind(param, false);
                self.bind_acc(param.var, (*array).into())?;
                continue;
            }
            let (_, dims) = self.array(*array)?;
            let (source, target) = (self.var(*array), self.var_of(param)?);
            let index = [i.expr()];
            if dims.len() == 1 {
                self.bind(param, false);
                let element = self.element(*array, &index)?;
                if self.counters(&[*array], std::slice::from_ref(param)).contains(&param.var) {
                    self.scope.below.insert(param.var, dims[0]);
                }
                self.set(&target, element);
            } else if self.needs_block(param) {
                self.bind(param, false);
                let offset = self.offset(&index, &dims);
                self.set_array(&target, source? + offset, self.mem(*array));
            } else {
                self.row_at(param, *array, &index)?;
            }
        }
        Ok(())
    }

    /// Declares and fills variables with what an operation combines in iteration `i`: the row, or what `pre` makes of it.
    pub(super) fn next_row(
        &mut self,
        arrays: &[VarId],
        pre: Option<&Lambda>,
        targets: &[Param],
        i: &Var,
    ) -> Lowered<()> {
        self.next_row_by(pre, targets, |l, params| l.load_row(arrays, params, i))
    }

    /// As [`Lower::next_row`], with rows that `load` binds to parameters.
    pub(super) fn next_row_by(
        &mut self,
        pre: Option<&Lambda>,
        targets: &[Param],
        load: impl FnOnce(&mut Self, &[Param]) -> Lowered<()>,
    ) -> Lowered<()> {
        let Some(pre) = pre else { return load(self, targets) };
        for target in targets {
            self.bind(target, true);
            self.declare(target);
        }
        self.block(|l| {
            load(l, &pre.params)?;
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
                self.fresh.extra += 1;
                Param::new(VarId(u32::MAX - self.fresh.extra), ty.clone())
            })
            .collect()
    }

    /// Iterations of scalar operations alone are for vector units.
    pub(super) fn is_simple(&self, lambda: &Lambda) -> bool {
        lambda.ret.iter().all(|ty| matches!(ty, Type::Prim(_))) && self.is_simple_body(&lambda.body)
    }

    fn is_simple_body(&self, body: &Body) -> bool {
        body.stms.iter().all(|stm| self.is_simple_stm(stm))
    }

    pub(super) fn is_simple_stm(&self, stm: &CoreStm) -> bool {
        match &stm.exp {
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
            Exp::Atom(_) => stm.pat.iter().all(|p| matches!(p.ty, Type::Prim(_))),
            Exp::Index { .. } => stm.pat.iter().all(|p| p.ty.rank() == 0 || self.is_short_row(p)),
            Exp::If { then, otherwise, .. } => {
                stm.pat.iter().all(|p| matches!(p.ty, Type::Prim(_)))
                    && self.is_simple_body(then)
                    && self.is_simple_body(otherwise)
            }
            _ => false,
        }
    }

    /// Whether a row has so few elements that there is something to read in its place if it is not there.
    fn is_short_row(&self, param: &Param) -> bool {
        !self.needs_block(param) && elements(param.ty.dims()).is_some_and(|count| count <= SHORT)
    }

    /// Asks now and then whether to go on.
    pub(super) fn tick(&mut self) {
        let site = self.site(crate::SiteKind::Stopped);
        self.out.push(Stm::Attempt { runtime: Runtime::Tick, operands: Vec::new(), site: Some(site) });
    }
}
