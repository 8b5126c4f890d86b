//! Results that are made where they belong, and arrays that change where they are.
//!
//! A map gives its lambda the place of the row that an iteration makes. What makes the row may be a statement that fills
//! memory, branches that do, or updates of an array that was made there:
//!
//!     map n (is) \i -> let xs = replicate m 0            xs: row i of the result
//!                      let ys = loop xs for j < m …      ys: the same place, where nobody asks who owns it
//!                      in ys
//!
//! An array is *placed* if nobody else uses its memory and it has no reference of its own to it: an update of it is the same
//! memory, and so is what a loop makes of it by updates.

use dagaz_core::exp::{Body, Exp, Stm as CoreStm};
use dagaz_core::types::{Atom, Param, VarId};

use super::accumulators::elementwise;
use super::overwriting::Overwrite;
use super::{Form, Lower, Lowered};
use crate::imp::{Expr, Operand};

/// Memory for the elements of an array.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) pointer: Expr,
    pub(super) block: Expr,
    /// How far apart rows and elements are, unless they are next to each other.
    pub(super) strides: Option<Vec<Expr>>,
}

/// What becomes of an array that stays where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stays {
    Unchanged,
    Changed,
}

impl Lower<'_> {
    /// Declares a variable for what is in the memory of a placed array.
    pub(super) fn stay_in_place(&mut self, param: &Param, array: VarId) -> Lowered<()> {
        let (source, target) = (self.var(array)?, self.var_of(param)?);
        self.set_array(&target, source, self.mem(array));
        self.bind(param, false);
        self.memory.placed.insert(param.var);
        Ok(())
    }

    /// Has a result of a body made in its place, if the body can do that.
    pub(super) fn send(&mut self, body: &Body, result: Atom, place: Destination) -> bool {
        let Atom::Var(mut var) = result else { return false };
        let is_repeated = body.result.iter().filter(|r| **r == result).count() > 1;
        if is_repeated {
            return false;
        }
        let mut is_changed = false;
        while let Some((stm, position)) = maker(body, var) {
            if let Some(before) = before(stm, position) {
                is_changed = true;
                var = before;
                continue;
            }
            match &stm.exp {
                Exp::Reshape { array, .. } if !is_changed && place.strides.is_none() => var = *array,
                exp if takes_place(exp, &place) && !self.memory.dests.contains_key(&var) => {
                    self.memory.dests.insert(var, place);
                    return true;
                }
                _ => return false,
            }
        }
        false
    }

    /// Prepares maps that write into arrays, before a statement.
    pub(super) fn prepare_maps(&mut self, plans: &[Overwrite], index: usize) -> Lowered<()> {
        for plan in plans.iter().filter(|plan| plan.first_use == index) {
            self.own_alone(plan.array)?;
        }
        for plan in plans.iter().filter(|plan| plan.map == index) {
            self.follow(plan)?;
        }
        Ok(())
    }

    /// Makes sure that nobody else has an array that a map will write to.
    fn own_alone(&mut self, array: VarId) -> Lowered<()> {
        let info = self.info(array)?;
        if info.form == (Form::Block { owned: true }) && info.region == self.around.region {
            let (name, ty) = (self.name(array), info.ty.clone());
            self.make_unique(&name, &ty)?;
            self.memory.alone.insert(array);
        }
        Ok(())
    }

    /// Has a map write into an array, if nobody else has it.
    fn follow(&mut self, plan: &Overwrite) -> Lowered<()> {
        let is_block = matches!(self.info(plan.array)?.form, Form::Block { .. });
        let is_own = self.memory.placed.contains(&plan.array) || self.memory.alone.contains(&plan.array);
        if is_block && is_own && !self.memory.dests.contains_key(&plan.result) {
            let (offset, strides) = self.layout(plan.array, &plan.slice)?;
            let (pointer, block) = (self.var(plan.array)?.plus(offset), self.mem(plan.array).expr());
            let strides = (!plan.is_block).then_some(strides);
            let place = Destination { pointer, block, strides };
            self.memory.dests.insert(plan.result, place);
            self.memory.written.insert(plan.updated);
        }
        Ok(())
    }

    /// Declares a variable in its place, if it has one.
    pub(super) fn is_placed(&mut self, param: &Param) -> Lowered<bool> {
        let Some(Destination { pointer, block, strides }) = self.memory.dests.remove(&param.var) else {
            return Ok(false);
        };
        let var = self.var_of(param)?;
        match strides {
            Some(strides) => {
                self.set(&var, pointer);
                self.bind_as(param, Form::View { strides });
            }
            None => {
                self.set_array(&var, pointer, block);
                self.bind(param, false);
                self.memory.placed.insert(param.var);
            }
        }
        Ok(true)
    }
}

/// The statement of a body that binds a variable, and which of its variables it is.
pub(super) fn maker(body: &Body, var: VarId) -> Option<(&CoreStm, usize)> {
    body.stms.iter().find_map(|stm| {
        let position = stm.pat.iter().position(|p| p.var == var)?;
        Some((stm, position))
    })
}

/// What becomes of an array between the beginning of a body, where it is `from`, and the end, where it is `to`.
pub(super) fn stays_in_place(body: &Body, from: VarId, to: Atom) -> Option<Stays> {
    if to == Atom::Var(from) {
        return Some(Stays::Unchanged);
    }
    let is_repeated = body.result.iter().filter(|r| **r == to).count() > 1;
    let start = to.as_var().filter(|_| !is_repeated)?;
    (origin(body, start) == from).then_some(Stays::Changed)
}

/// The array that a variable of a body was before all updates of it.
fn origin(body: &Body, mut var: VarId) -> VarId {
    while let Some(before) = maker(body, var).and_then(|(stm, position)| before(stm, position)) {
        var = before;
    }
    var
}

/// The array that a result of a statement is after updates.
pub(super) fn before(stm: &CoreStm, position: usize) -> Option<VarId> {
    match &stm.exp {
        Exp::Update { array, .. } | Exp::Contract { plus: Some(array), .. } => Some(*array),
        Exp::Scatter { dests, .. } | Exp::Hist { dests, .. } => dests.get(position).copied(),
        Exp::WithAcc { inputs, .. } => inputs.iter().flat_map(|input| &input.arrays).nth(position).copied(),
        Exp::Loop { params, body, .. } => {
            let (param, value) = params.get(position)?;
            let stays = param.ty.is_array()
                && stays_in_place(body, param.var, *body.result.get(position)?) == Some(Stays::Changed);
            value.as_var().filter(|_| stays)
        }
        Exp::If { then, otherwise, .. } => {
            if !stm.pat.get(position)?.ty.is_array() {
                return None;
            }
            let start = |body: &Body| {
                let result = body.result.get(position)?.as_var()?;
                let start = origin(body, result);
                let is_outside = maker(body, start).is_none();
                let is_repeated = body.result.iter().filter(|r| **r == Atom::Var(result)).count() > 1;
                (is_outside && !is_repeated).then_some((start, start != result))
            };
            let ((left, left_changes), (right, right_changes)) = (start(then)?, start(otherwise)?);
            (left == right && (left_changes || right_changes)).then_some(left)
        }
        _ => None,
    }
}

/// Whether the lowering of an expression begins with [`Lower::allocate`] for all of its variables.
fn takes_place(exp: &Exp, place: &Destination) -> bool {
    match exp {
        Exp::Map { .. } => true,
        Exp::Scan { .. }
        | Exp::Copy(_)
        | Exp::Iota { .. }
        | Exp::Replicate { .. }
        | Exp::Rearrange { .. }
        | Exp::Concat { .. }
        | Exp::Contract { plus: None, .. }
        | Exp::Scratch { .. }
        | Exp::ArrayLit { .. }
        | Exp::If { .. } => place.strides.is_none(),
        Exp::Reduce { op, .. } => place.strides.is_none() && elementwise(op).is_some(),
        _ => false,
    }
}
