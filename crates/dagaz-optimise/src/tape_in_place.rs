//! Has loops compute states where they are kept.
//!
//! When a derivative computes states once more to keep them, each one comes out of the one before, and is copied:
//!
//! ```text
//! let (x: t, kept: [n]t) =                                 let (first: [n]t) = if 0 < n then b with [0] = a else b
//!   loop (y: t = a, ks: [n]t = b) for i < n do             let (kept: [n]t) =
//!     let (later: [n]t) = ks with [i] = y            ==>     loop (ks: [n]t = first) for i < n - 1 do
//!     let (z: t) = map … y …                                   let (y: t) = ks[i]
//!     in (z, later)                                            let (z: t) = map … y …
//! … kept …                                                     let (later: [n]t) = ks with [i + 1] = z
//!                                                              in (later)
//! ```
//!
//! Machine code has the map write into the array. This is only for loops of which nothing else is used afterwards, and where
//! the rest of the last iteration, which nobody needs, cannot stop the program. For others, such as the way there of a
//! derivative, whose last state the program goes on with, the array gets one more row for the state after the loop:
//!
//! ```text
//! let (b: [k]t) = scratch [k, …]                           let (b: [k + 1]t) = scratch [k + 1, …]
//! let (x: t, kept: [k]t) =                                 let (first: [k + 1]t) = b with [0] = a
//!   loop (y: t = a, ks: [k]t = b) for i < n do             let (wide: [k + 1]t) =
//!     let (later: [k]t) = ks with [i] = y            ==>     loop (ks: [k + 1]t = first) for i < n do
//!     let (z: t) = map … y …                                   let (y: t) = ks[i]
//!     in (z, later)                                            let (z: t) = map … y …
//! … x … kept …                                                 let (later: [k + 1]t) = ks with [i + 1] = z
//!                                                              in (later)
//!                                                          let (kept: [k]t) = wide[0:k]
//!                                                          let (x: t) = wide[max n 0]
//! ```
//!
//! Where the program itself adds that row, in an array with room for it, `kept with [max n 0] = x`, there is nothing left to do for
//! it. Expects arrays to be plain values.

use std::collections::{HashMap, VecDeque};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::fuse::count_body;
use crate::peel_last_iteration::has_own_sizes;
use crate::walk::{for_each_body, keep};
use dagaz_core::effects::Effects;

pub const TAPE_IN_PLACE: Pass =
    Pass::reporting("tape-in-place", "Loops compute states where they are kept.", tape_in_place);

pub fn tape_in_place(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let mut uses = HashMap::new();
    program.funs.iter().for_each(|fun| count_body(&fun.body, &mut uses));
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = InPlace { b, effects, uses, has_changed: false };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
    pass.has_changed
}

struct InPlace {
    b: Builder,
    effects: Effects,
    uses: HashMap<VarId, usize>,
    has_changed: bool,
}

/// An array that keeps a state of a loop: the positions of both among its parameters.
struct TapedState {
    array: usize,
    state: usize,
    /// The statement that keeps the state.
    update: usize,
    /// The row of the state after the loop, where the program keeps that too.
    last: Option<Atom>,
}

/// Where the states go.
enum Room {
    /// Into the array as it is: the state after the last iteration is not used.
    Exact,
    /// Into the array with one row more.
    OneMore,
}

impl InPlace {
    fn body(&mut self, body: &mut Body) {
        let mut after = VecDeque::from(std::mem::take(&mut body.stms));
        while let Some(mut stm) = after.pop_front() {
            for_each_body(&mut stm.exp, &mut |_, _, body| self.body(body));
            let plan = self.shortened(&stm).or_else(|| self.widened(&stm, &body.stms, &after));
            let Some((kept, room)) = plan else {
                body.stms.push(stm);
                continue;
            };
            self.b.push_scope();
            match room {
                Room::Exact => self.shorten(stm, &kept),
                Room::OneMore => self.widen(stm, &kept, &mut body.stms, &mut after),
            }
            body.stms.extend(self.b.pop_scope());
            self.has_changed = true;
        }
    }

    /// The arrays that are used after a loop, if all of them keep states that are not.
    fn shortened(&self, stm: &Stm) -> Option<(Vec<TapedState>, Room)> {
        let Exp::Loop { body, .. } = &stm.exp else { return None };
        let all = self.all_kept(stm);
        let is_used = |position: &usize| self.uses.contains_key(&stm.pat[*position].var);
        let is_kept = |position: usize| all.iter().any(|kept| kept.array == position);
        let is_left = |index: usize| all.iter().any(|kept| kept.update == index);
        let mut rest = body.stms.iter().enumerate().filter(|(index, _)| !is_left(*index));
        let fits = !all.is_empty()
            && (0..stm.pat.len()).filter(is_used).all(is_kept)
            && rest.all(|(_, s)| self.effects.is_removable(s));
        fits.then_some((all, Room::Exact))
    }

    /// The arrays after a loop that keep states, and have room for one more or were made for the loop by statements before.
    fn widened(&self, stm: &Stm, before: &[Stm], after: &VecDeque<Stm>) -> Option<(Vec<TapedState>, Room)> {
        let Exp::Loop { params, form: LoopForm::For { bound, .. }, .. } = &stm.exp else { return None };
        let mut all = self.all_kept(stm);
        all.retain_mut(|kept| {
            let (array, state) = (stm.pat[kept.array].var, stm.pat[kept.state].var);
            kept.last = last_row(array, state, after).filter(|row| is_end(*row, *bound, before));
            let is_only_read = !after.iter().any(|stm| changes(&stm.exp, array));
            let is_used_once = |var: VarId| self.uses.get(&var) == Some(&1);
            let room = params[kept.array].1.as_var().filter(|room| is_used_once(*room));
            room.is_some_and(|room| match kept.last {
                Some(_) => is_used_once(array),
                None => is_only_read && scratch(before, room).is_some(),
            })
        });
        (!all.is_empty()).then_some((all, Room::OneMore))
    }

    /// The arrays used after a loop that keep states, each another one.
    fn all_kept(&self, stm: &Stm) -> Vec<TapedState> {
        let Exp::Loop { form: LoopForm::For { var, ty: PrimType::I64, .. }, params, body, .. } = &stm.exp
        else {
            return Vec::new();
        };
        let mut all: Vec<TapedState> = Vec::new();
        if has_own_sizes(&stm.pat) {
            return all;
        }
        for array in (0..stm.pat.len()).filter(|array| self.uses.contains_key(&stm.pat[*array].var)) {
            if let Some(kept) = self.kept_in(params, body, *var, array)
                && all.iter().all(|other| other.state != kept.state)
            {
                all.push(kept);
            }
        }
        all
    }

    /// Whether a loop keeps a state, which a map makes, in an array, and does nothing else to that.
    fn kept_in(
        &self,
        params: &[(Param, Atom)],
        body: &Body,
        counter: VarId,
        array: usize,
    ) -> Option<TapedState> {
        let is_used_once = |var: VarId| self.uses.get(&var) == Some(&1);
        let maker = |var: VarId| body.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == var));
        let (room, later) = (params[array].0.var, body.result[array].as_var()?);
        let update = maker(later)?;
        let Exp::Update { array: updated, dims, value: Atom::Var(value), check: Check::Certified } =
            &body.stms[update].exp
        else {
            return None;
        };
        let [DimSlice::Fix(Atom::Var(at))] = dims.as_slice() else { return None };
        let state = params.iter().position(|(param, _)| param.var == *value)?;
        let next = body.result[state].as_var()?;
        let is_made = matches!(body.stms[maker(next)?].exp, Exp::Map { .. });
        let fits = *updated == room
            && *at == counter
            && params[state].0.ty.is_array()
            && is_made
            && [room, later, next].into_iter().all(is_used_once);
        fits.then_some(TapedState { array, state, update, last: None })
    }

    /// The last iteration would make a state that nobody needs.
    fn shorten(&mut self, mut stm: Stm, all: &[TapedState]) {
        let loc = stm.loc;
        let Exp::Loop { form: LoopForm::For { bound, .. }, params, .. } = &mut stm.exp else { return };
        let one = Atom::i64(1);
        let at_least_one = self.b.binop(BinOp::Max, PrimType::I64, *bound, one, loc);
        let exists = self.b.lt(PrimType::I64, Atom::i64(0), *bound, loc);
        *bound = self.b.sub(PrimType::I64, at_least_one, one, loc);
        self.keep_first(exists, params, all, loc);
        self.keep_next(&mut stm, all);
        self.b.push(stm);
    }

    /// Has the loop keep its last state, too.
    fn widen(&mut self, mut stm: Stm, all: &[TapedState], before: &mut Vec<Stm>, after: &mut VecDeque<Stm>) {
        let loc = stm.loc;
        let Exp::Loop { form: LoopForm::For { bound, .. }, params, body, .. } = &mut stm.exp else { return };
        let end = self.b.binop(BinOp::Max, PrimType::I64, *bound, Atom::i64(0), loc);
        let mut views = Vec::new();
        for kept in all {
            let (first, state) = (params[kept.state].1, stm.pat[kept.state].clone());
            let (param, room) = &mut params[kept.array];
            let Some(array) = room.as_var() else { continue };
            if let Some(last) = kept.last {
                let whole = stm.pat[kept.array].var;
                *room = self.keep_row(param, array, first, loc);
                for update in after.iter_mut().filter(|stm| changes(&stm.exp, whole)) {
                    update.exp = Exp::Atom(whole.into());
                }
                views.push(row(state, whole, last, loc));
                continue;
            }
            let made = scratch(before, array).map(|at| before.remove(at));
            let Some(Stm { exp: Exp::Scratch { elem, mut dims }, .. }) = made else { continue };
            let rows = dims[0];
            dims[0] = self.b.add(PrimType::I64, rows, Atom::i64(1), loc);
            let hint = self.b.hint(param.var);
            param.ty = Type::array(elem, dims.clone());
            let wider = self.b.let_var(&hint, param.ty.clone(), Exp::Scratch { elem, dims }, loc);
            *room = self.keep_row(param, wider, first, loc);
            body.stms[kept.update].pat[0].ty = param.ty.clone();
            let wide = self.b.fresh_param(&hint, param.ty.clone());
            let part = |len: &Atom| DimSlice::Range { start: Atom::i64(0), len: *len, stride: Atom::i64(1) };
            let dims = std::iter::once(&rows).chain(&wide.ty.dims()[1..]).map(part).collect();
            views.push(row(state, wide.var, end, loc));
            let exp = Exp::Slice { array: wide.var, dims };
            let narrow = std::mem::replace(&mut stm.pat[kept.array], wide);
            views.push(Stm { pat: vec![narrow], exp, loc });
        }
        self.keep_next(&mut stm, all);
        self.b.push(stm);
        views.into_iter().for_each(|view| self.b.push(view));
    }

    /// The array of a parameter with a state in its first row.
    fn keep_row(&mut self, param: &Param, array: VarId, first: Atom, loc: Loc) -> Atom {
        let dims = vec![DimSlice::Fix(Atom::i64(0))];
        let exp = Exp::Update { array, dims, value: first, check: Check::Certified };
        let hint = self.b.hint(param.var);
        self.b.let_exp(&hint, param.ty.clone(), exp, loc)
    }

    /// Has every iteration read its state where the one before kept it, and keep the next one.
    fn keep_next(&mut self, stm: &mut Stm, all: &[TapedState]) {
        let loc = stm.loc;
        let Exp::Loop { form: LoopForm::For { var, .. }, params, body, .. } = &mut stm.exp else { return };
        self.b.push_scope();
        // Before the map, which writes there.
        let next = self.b.add(PrimType::I64, (*var).into(), Atom::i64(1), loc);
        for kept in all {
            let (room, state) = (params[kept.array].0.var, params[kept.state].0.clone());
            let exp = Exp::Index { array: room, indices: vec![(*var).into()], check: Check::Certified };
            self.b.push(Stm { pat: vec![state], exp, loc });
        }
        let is_update = |index: usize| all.iter().any(|kept| kept.update == index);
        let old = std::mem::take(&mut body.stms);
        let (updates, rest): (Vec<_>, Vec<_>) = old.into_iter().enumerate().partition(|(i, _)| is_update(*i));
        rest.into_iter().for_each(|(_, stm)| self.b.push(stm));
        for (index, mut update) in updates {
            let kept = all.iter().find(|kept| kept.update == index);
            if let (Exp::Update { dims, value, .. }, Some(kept)) = (&mut update.exp, kept) {
                (*dims, *value) = (vec![DimSlice::Fix(next)], body.result[kept.state]);
            }
            self.b.push(update);
        }
        body.stms = self.b.pop_scope();
        let stays: Vec<bool> = (0..params.len()).map(|i| all.iter().all(|kept| kept.state != i)).collect();
        keep(params, &stays);
        keep(&mut body.result, &stays);
        keep(&mut stm.pat, &stays);
    }

    /// Has the arrays begin with the states before the loop.
    fn keep_first(&mut self, exists: Atom, params: &mut [(Param, Atom)], all: &[TapedState], loc: Loc) {
        self.b.push_scope();
        let (mut pat, mut with, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for kept in all {
            let (room, before) = (params[kept.array].0.clone(), params[kept.array].1);
            let first = params[kept.state].1;
            let hint = self.b.hint(room.var);
            let before = self.b.atom_var(&hint, room.ty.clone(), before, loc);
            with.push(self.keep_row(&room, before, first, loc));
            without.push(params[kept.array].1);
            pat.push(self.b.fresh_param(&hint, room.ty));
        }
        let then = Body { stms: self.b.pop_scope(), result: with };
        let otherwise = Body { stms: Vec::new(), result: without };
        for (kept, param) in all.iter().zip(&pat) {
            params[kept.array].1 = param.var.into();
        }
        self.b.push(Stm { pat, exp: Exp::If { cond: exists, then, otherwise }, loc });
    }
}

/// The statement that makes an array without values.
fn scratch(stms: &[Stm], array: VarId) -> Option<usize> {
    let makes = |stm: &Stm| stm.pat[0].var == array && matches!(stm.exp, Exp::Scratch { .. });
    stms.iter().position(|stm| stm.pat.len() == 1 && makes(stm))
}

/// Whether an expression is an update of an array.
fn changes(exp: &Exp, updated: VarId) -> bool {
    matches!(exp, Exp::Update { array, .. } if *array == updated)
}

/// The row of an array that later statements set to a state.
fn last_row(array: VarId, state: VarId, after: &VecDeque<Stm>) -> Option<Atom> {
    after.iter().find_map(|stm| match &stm.exp {
        Exp::Update { array: updated, dims, value, check: Check::Certified }
            if *updated == array && *value == Atom::Var(state) =>
        {
            match dims.as_slice() {
                [DimSlice::Fix(row)] => Some(*row),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Whether an atom is the number of iterations of a loop, as known before it.
fn is_end(atom: Atom, bound: Atom, before: &[Stm]) -> bool {
    let is_end_of = |stm: &Stm| match &stm.exp {
        Exp::BinOp(BinOp::Max, PrimType::I64, a, b) => {
            [(*a, *b), (*b, *a)].contains(&(bound, Atom::i64(0))) && atom == Atom::Var(stm.pat[0].var)
        }
        _ => false,
    };
    atom == bound || before.iter().any(is_end_of)
}

/// Reads a row of an array.
fn row(param: Param, array: VarId, row: Atom, loc: Loc) -> Stm {
    let exp = Exp::Index { array, indices: vec![row], check: Check::Certified };
    Stm { pat: vec![param], exp, loc }
}
