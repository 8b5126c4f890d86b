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
//! Machine code has the map write into the array. Only where all that is used afterwards are such arrays, and the rest of the
//! last iteration, which nobody needs, cannot stop the program. Expects arrays to be plain values.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, Program, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, VarId};

use crate::effects::Effects;
use crate::fuse::count_body;
use crate::last::has_own_sizes;
use crate::walk::{for_each_body, keep};

pub fn compute_where_kept(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let mut uses = HashMap::new();
    program.funs.iter().for_each(|fun| count_body(&fun.body, &mut uses));
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = Pass { b, effects, uses, has_changed: false };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
    pass.has_changed
}

struct Pass {
    b: Builder,
    effects: Effects,
    uses: HashMap<VarId, usize>,
    has_changed: bool,
}

/// An array that keeps a state of a loop: the positions of both among its parameters.
struct Kept {
    array: usize,
    state: usize,
    /// The statement that keeps the state.
    update: usize,
}

impl Pass {
    fn body(&mut self, body: &mut Body) {
        for mut stm in std::mem::take(&mut body.stms) {
            for_each_body(&mut stm.exp, &mut |_, _, body| self.body(body));
            let Some(kept) = self.kept(&stm) else {
                body.stms.push(stm);
                continue;
            };
            self.b.push_scope();
            self.rewrite(stm, &kept);
            body.stms.extend(self.b.pop_scope());
            self.has_changed = true;
        }
    }

    /// The arrays that are used after a loop, if all of them keep states that are not.
    fn kept(&self, stm: &Stm) -> Option<Vec<Kept>> {
        let Exp::Loop { form: LoopForm::For { var, ty: PrimType::I64, .. }, params, body, .. } = &stm.exp
        else {
            return None;
        };
        let is_used = |position: usize| self.uses.contains_key(&stm.pat[position].var);
        let mut all: Vec<Kept> = Vec::new();
        for array in (0..stm.pat.len()).filter(|position| is_used(*position)) {
            let kept = self.kept_in(params, body, *var, array)?;
            let is_other = !is_used(kept.state) && all.iter().all(|other| other.state != kept.state);
            is_other.then_some(())?;
            all.push(kept);
        }
        let is_left = |index: usize| all.iter().any(|kept| kept.update == index);
        let mut rest = body.stms.iter().enumerate().filter(|(index, _)| !is_left(*index));
        let fits =
            !all.is_empty() && !has_own_sizes(&stm.pat) && rest.all(|(_, s)| self.effects.is_removable(s));
        fits.then_some(all)
    }

    /// Whether a loop keeps a state, which a map makes, in an array, and does nothing else to that.
    fn kept_in(&self, params: &[(Param, Atom)], body: &Body, counter: VarId, array: usize) -> Option<Kept> {
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
        fits.then_some(Kept { array, state, update })
    }

    fn rewrite(&mut self, mut stm: Stm, all: &[Kept]) {
        let loc = stm.loc;
        let Exp::Loop { form: LoopForm::For { var, bound, .. }, params, body, .. } = &mut stm.exp else {
            return;
        };
        let one = Atom::i64(1);
        let at_least_one = self.b.binop(BinOp::Max, PrimType::I64, *bound, one, loc);
        let exists = self.b.lt(PrimType::I64, Atom::i64(0), *bound, loc);
        *bound = self.b.sub(PrimType::I64, at_least_one, one, loc);
        self.keep_first(exists, params, all, loc);
        self.b.push_scope();
        // Before the map, which writes there.
        let next = self.b.add(PrimType::I64, (*var).into(), one, loc);
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
        self.b.push(stm);
    }

    /// Has the arrays begin with the states before the loop.
    fn keep_first(&mut self, exists: Atom, params: &mut [(Param, Atom)], all: &[Kept], loc: Loc) {
        self.b.push_scope();
        let (mut pat, mut with, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for kept in all {
            let (room, before) = (params[kept.array].0.clone(), params[kept.array].1);
            let first = params[kept.state].1;
            let hint = self.b.hint(room.var);
            let before = self.b.atom_var(&hint, room.ty.clone(), before, loc);
            let dims = vec![DimSlice::Fix(Atom::i64(0))];
            let exp = Exp::Update { array: before, dims, value: first, check: Check::Certified };
            with.push(self.b.let_exp(&hint, room.ty.clone(), exp, loc));
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
