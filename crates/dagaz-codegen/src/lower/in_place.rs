//! Maps that write over an array that they read for the last time.
//!
//!     loop sums = … do { …; map2 (+) sums new }      each step changes the one array
//!
//! What an iteration writes must be what no other one reads, and what it has read itself: the rows of the array go to the
//! iterations of the map, their elements to those of the map inside of it, and nowhere else after these have begun. Whether
//! somebody else keeps the array is known when the program runs; then there is new memory.

use dagaz_core::exp::{Exp, Lambda, Stm as CoreStm};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::emit::block_of;
use super::overwriting::{fails, may_share};
use super::{Lower, Lowered, elem};
use crate::RemarkKind;
use crate::imp::{Expr, Operand, Runtime, Stm};

impl Lower<'_> {
    /// Memory for the results of a map.
    pub(super) fn allocate_results(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
    ) -> Lowered<()> {
        let mut taken = Vec::new();
        for (position, param) in pat.iter().enumerate().filter(|(_, p)| !p.ty.is_acc()) {
            let over = self.array_to_overwrite((position, param), arrays, lambda, &taken);
            match over {
                Some(array) => {
                    taken.push(array);
                    self.allocate_over(param, &[array])?;
                }
                None => self.allocate(param)?,
            }
        }
        Ok(())
    }

    fn array_to_overwrite(
        &self,
        (position, param): (usize, &Param),
        arrays: &[VarId],
        lambda: &Lambda,
        taken: &[VarId],
    ) -> Option<VarId> {
        // Rows may be there as single elements; and a loop that has failed runs again, with what it began with.
        let is_regular = lambda.ret.get(position) == param.ty.row().as_ref() && self.is_outermost();
        if !is_regular || self.memory.dests.contains_key(&param.var) || fails(&lambda.body) {
            return None;
        }
        let fits = |(input, array): (usize, &VarId)| {
            !taken.contains(array)
                && self.is_movable(*array)
                && !self.memory.on_stack.contains(array)
                && self.scope.vars.get(array).is_some_and(|info| info.ty == param.ty)
                && goes_along(lambda, input, position)
        };
        let fitting =
            || arrays.iter().enumerate().filter(|candidate| fits(*candidate)).map(|(_, array)| *array);
        // The caller mostly keeps what it has given; what was made here nobody else has.
        let is_argument = |array: &VarId| {
            self.program.funs.iter().flat_map(|fun| &fun.params).any(|param| param.var == *array)
        };
        fitting().find(|array| !is_argument(array)).or_else(|| fitting().next())
    }

    /// Declares an array that is where others are, which share their memory, if nobody else has that.
    pub(super) fn allocate_over(&mut self, param: &Param, arrays: &[VarId]) -> Lowered<()> {
        let Some(array) = arrays.first().copied() else { return self.allocate(param) };
        let (target, source, elem) = (self.var_of(param)?, self.var(array)?, elem(&param.ty)?);
        let (block, shared) = (block_of(&target.name), block_of(&source.name));
        let hint = self.program.vars.hint(array).to_owned();
        self.remark(RemarkKind::InPlace, format!("'{hint}' changes, if nobody else has it"));
        self.unset(&target);
        self.unset(&block);
        let (otherwise, ()) = self.nested(|l| {
            let fresh = l.fresh_block(param)?;
            l.put(&block, fresh);
            l.out.push(Stm::Require(block.clone()));
            l.put(&target, Expr::Data(elem, Box::new(block.clone().expr())));
            Ok(())
        })?;
        let then = vec![
            Stm::assign(&target, source),
            Stm::assign(&block, &shared),
            Stm::run(Runtime::Retain, [block.expr()]),
        ];
        let cond = match arrays.len() {
            1 => Expr::call(Runtime::IsUnique, [shared.expr()]),
            all => Expr::call(Runtime::IsSharedBy, [shared.expr(), all.expr()]),
        };
        self.out.push(Stm::branch(cond, then, otherwise));
        Ok(())
    }
}

/// Whether the elements of an input go to the iterations that make the same elements of a result, and to others only before
/// these are made.
fn goes_along(lambda: &Lambda, input: usize, position: usize) -> bool {
    let (param, result) = (&lambda.params[input], lambda.body.result[position]);
    if matches!(param.ty, Type::Prim(_)) {
        return true;
    }
    let Atom::Var(made) = result else { return false };
    let stms = &lambda.body.stms;
    let Some(at) = stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == made)) else { return false };
    let CoreStm { pat, exp: Exp::Map { arrays, lambda: inner, .. }, .. } = &stms[at] else { return false };
    let Some(further) = arrays.iter().position(|array| *array == param.var) else { return false };
    let Some(written) = pat.iter().position(|p| p.var == made) else { return false };
    let uses = |stm: &CoreStm, var: VarId| visit::free_vars(&stm.exp).contains(&var);
    let is_once = |var: VarId, all: &mut dyn Iterator<Item = VarId>| all.filter(|v| *v == var).count() == 1;
    let is_read_before = |stm: &CoreStm| !uses(stm, param.var) || !may_share(&stm.exp);
    is_once(param.var, &mut arrays.iter().copied())
        && is_once(made, &mut lambda.body.result.iter().filter_map(|a| a.as_var()))
        && !lambda.body.result.contains(&Atom::Var(param.var))
        && stms[..at].iter().all(is_read_before)
        && !stms[at + 1..].iter().any(|stm| uses(stm, param.var) || uses(stm, made))
        && !visit::free_vars_lambda(inner).contains(&param.var)
        && inner.ret.get(written) == pat[written].ty.row().as_ref()
        && goes_along(inner, further, written)
}
