//! Arrays that the return sweep restores: where the forward sweep updates one in place, the return sweep undoes that,
//! so that there is one array and never a copy of it.
//!
//!     let (b: [n]f64) = a with [i] = x    ==>    let (old: f64) = a[i]
//!                                                let (b: [n]f64) = a with [i] = x
//!     return sweep:                              let (a': [n]f64) = b with [i] = old
//!
//! What runs code again reads the array as it is at that time of the return sweep: `a'` for `a`.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Loc, Stm};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{bound_inside, free_vars};

use crate::context::{Ad, Res, not_yet};
use crate::rename::Renamer;

use super::super::Saved;
use super::flow::{Flow, update_of};
use super::log::{Entries, Logs, common_form};

/// A state of an array, or a view of one.
#[derive(Clone)]
struct ArrayState {
    root: VarId,
    /// How the view is made, and of which state.
    view: Option<(VarId, Exp)>,
}

#[derive(Clone, Default)]
pub(crate) struct Restored {
    places: HashMap<VarId, ArrayState>,
    /// The variable that holds each array at this time.
    now: HashMap<VarId, VarId>,
}

/// What a body does to the arrays.
pub(crate) struct SweepFlow {
    flow: Flow,
    /// Updates whose results are not read: the return sweep would only undo them.
    skipped: Vec<bool>,
}

/// Variables that stand for others while a statement is visited; the adjoints of some have moved to them.
pub(crate) struct Present {
    pub map: HashMap<VarId, Atom>,
    moved: Vec<(VarId, VarId)>,
}

impl Restored {
    pub fn root(&self, var: VarId) -> Option<VarId> {
        self.places.get(&var).filter(|place| place.view.is_none()).map(|place| place.root)
    }

    pub fn now(&self, root: VarId) -> Option<VarId> {
        self.now.get(&root).copied()
    }

    /// The array is held by another variable now.
    pub fn hold(&mut self, root: VarId, var: VarId) {
        self.places.insert(var, ArrayState { root, view: None });
        self.now.insert(root, var);
    }

    /// The variables that hold the arrays, where they differ from those of another time.
    pub fn moved_since(&self, before: &Restored) -> Vec<VarId> {
        let moved = before.now.iter().filter(|(root, var)| self.now.get(root) != Some(var));
        let mut roots: Vec<VarId> = moved.map(|(root, _)| *root).collect();
        roots.sort_unstable();
        roots
    }
}

impl Ad<'_> {
    pub fn plan(&self, body: &Body, loc: Loc) -> Res<Option<SweepFlow>> {
        if self.sweep.restored.places.is_empty() {
            return Ok(None);
        }
        let mut flow = Flow::default();
        for (var, place) in &self.sweep.restored.places {
            flow.enter(*var, place.root, place.view.is_some());
        }
        flow.body(body);
        if self.sweep.restored.now.keys().any(|root| flow.is_broken(*root)) {
            return Err(not_yet(loc, "the reverse derivative of these updates"));
        }
        let mut needed: HashSet<VarId> = HashSet::new();
        let mut skipped = vec![false; body.stms.len()];
        for (skip, stm) in skipped.iter_mut().zip(&body.stms).rev() {
            let changed: Option<Vec<VarId>> = stm.pat.iter().map(|p| flow.changed(p.var)).collect();
            let only_updates = matches!(stm.exp, Exp::Update { .. } | Exp::Scatter { .. } | Exp::If { .. });
            *skip = only_updates && changed.is_some_and(|roots| !roots.iter().any(|r| needed.contains(r)));
            // A branch is run again in the return sweep, and reads then what it reads now.
            if !*skip || matches!(stm.exp, Exp::If { .. }) {
                let read = free_vars(&stm.exp);
                needed.extend(read.iter().filter_map(|v| flow.root(*v).or(flow.viewed(*v))));
            }
        }
        Ok(Some(SweepFlow { flow, skipped }))
    }

    /// The forward sweep of a statement that concerns a restored array; none if it does not.
    pub fn forward_restored(&mut self, stm: &Stm, plan: &SweepFlow, index: usize) -> Res<Option<Saved>> {
        let flow = &plan.flow;
        let changed: Vec<(VarId, VarId)> = (stm.pat.iter())
            .filter_map(|p| flow.changed(p.var).map(|root| (p.var, root)))
            .filter(|(_, root)| self.sweep.restored.now.contains_key(root))
            .collect();
        if changed.is_empty() {
            self.note_places(stm, flow);
            return Ok(None);
        }
        if plan.skipped[index] {
            for (var, root) in changed {
                self.sweep.restored.places.insert(var, ArrayState { root, view: None });
            }
            return Ok(Some(Saved::Nothing));
        }
        if let Exp::Update { .. } | Exp::Scatter { .. } = &stm.exp {
            let mut saved = Vec::new();
            for (k, pat) in stm.pat.iter().enumerate() {
                let Some((_, root)) = changed.iter().find(|(var, _)| *var == pat.var) else { continue };
                let Some((array, site)) = update_of(&stm.exp, k) else { continue };
                let mut old = self.old_part(array, &site, stm.loc)?;
                let part = self.ty(old);
                if let (true, Atom::Var(var)) = (part.is_array(), old) {
                    old = self.let_exp("old", part, Exp::Copy(var), stm.loc);
                }
                self.sweep.restored.hold(*root, pat.var);
                saved.push((*root, site, old));
            }
            self.push(stm.clone());
            return Ok(Some(Saved::Old(saved)));
        }
        let is_active_loop =
            matches!(stm.exp, Exp::Loop { .. }) && stm.pat.iter().any(|p| self.is_active_var(p.var));
        if is_active_loop {
            return Ok(None);
        }
        self.forward_logged(stm, flow, &changed).map(Some)
    }

    /// A branch, or a loop without derivatives, that updates arrays: it logs what it overwrites.
    fn forward_logged(&mut self, stm: &Stm, flow: &Flow, changed: &[(VarId, VarId)]) -> Res<Saved> {
        let Some(stm) = self.without_accs(stm) else { return Ok(Saved::Nothing) };
        let inside = bound_inside(&stm.exp);
        let mut logs = Logs::default();
        for (_, root) in changed {
            let sites = flow.sites.get(root).cloned().unwrap_or_default();
            let (Some(form), Some(array)) = (common_form(&sites, &inside), self.sweep.restored.now(*root))
            else {
                return Err(not_yet(stm.loc, "the reverse derivative of these updates"));
            };
            let room = self.capacity(&stm, *root, flow)?;
            let recipes = vec![None; form.indices().len()];
            let log = self.new_log(&self.ty_var(array), &form, recipes, room, stm.loc);
            logs.add(*root, log);
        }
        self.logged_stm(&stm, flow, &mut logs)?;
        let mut undo = Vec::new();
        for ((var, root), log) in changed.iter().zip(&logs.all) {
            self.sweep.restored.hold(*root, *var);
            if let Some(entries) = &log.entries {
                undo.push((*root, entries.clone(), log.top));
            }
        }
        Ok(Saved::Log(undo))
    }

    /// Remembers new names for states, and views.
    pub fn note_places(&mut self, stm: &Stm, flow: &Flow) {
        for pat in &stm.pat {
            if let Some(root) = flow.root(pat.var).filter(|r| self.sweep.restored.now.contains_key(r)) {
                self.sweep.restored.places.insert(pat.var, ArrayState { root, view: None });
            }
            if let Some(root) = flow.viewed(pat.var)
                && let Some(state) = self.sweep.restored.now(root)
            {
                let view = Some((state, stm.exp.clone()));
                self.sweep.restored.places.insert(pat.var, ArrayState { root, view });
            }
        }
    }

    /// After the forward sweep of a loop: the arrays are what it gives.
    pub fn hold_results(&mut self, stm: &Stm, plan: &SweepFlow) {
        for pat in &stm.pat {
            if let Some(root) = plan.flow.changed(pat.var)
                && self.sweep.restored.now.contains_key(&root)
            {
                self.sweep.restored.hold(root, pat.var);
            }
        }
    }

    /// Goes back over a statement that updated arrays.
    pub fn undo_saved(&mut self, saved: &Saved, loc: Loc) -> Res<()> {
        match saved {
            Saved::Nothing | Saved::Loop(_) => Ok(()),
            Saved::Old(parts) => {
                for (root, site, old) in parts {
                    let Some(array) = self.sweep.restored.now(*root) else { continue };
                    let before = self.put_back(array, site, *old, loc);
                    self.sweep.restored.hold(*root, before);
                }
                Ok(())
            }
            Saved::Log(logs) => {
                for (root, entries, top) in logs {
                    self.undo_all(*root, entries, *top, loc)?;
                }
                Ok(())
            }
        }
    }

    /// Undoes everything in a log.
    pub fn undo_all(&mut self, root: VarId, entries: &Entries, top: Atom, loc: Loc) -> Res<()> {
        if let Some(array) = self.sweep.restored.now(root) {
            let before = self.undo(array, entries, top, Atom::i64(0), top, loc)?;
            self.sweep.restored.hold(root, before);
        }
        Ok(())
    }

    /// What the variables that code reads are called at this time.
    pub fn present(&mut self, vars: &[VarId], loc: Loc) -> Present {
        let mut present = Present { map: HashMap::new(), moved: Vec::new() };
        for var in vars {
            let Some(other) = self.present_var(*var, loc).filter(|other| other != var) else { continue };
            present.map.insert(*var, other.into());
            if self.is_active_var(*var) {
                self.forward.active.insert(other);
            }
            if !self.sweep.adj.contains_key(&other) {
                if let Some(adj) = self.sweep.adj.remove(var) {
                    self.sweep.adj.insert(other, adj);
                }
                present.moved.push((*var, other));
            }
        }
        present
    }

    fn present_var(&mut self, var: VarId, loc: Loc) -> Option<VarId> {
        let place = self.sweep.restored.places.get(&var)?.clone();
        let now = self.sweep.restored.now(place.root)?;
        let Some((state, exp)) = place.view else { return Some(now) };
        if state == now {
            return Some(var);
        }
        let array = match &exp {
            Exp::Index { array, .. } | Exp::Slice { array, .. } => *array,
            Exp::Rearrange { array, .. } | Exp::Reshape { array, .. } => *array,
            Exp::Atom(Atom::Var(var)) => return self.present_var(*var, loc),
            _ => return Some(var),
        };
        let viewed = self.present_var(array, loc)?;
        let exp = Renamer::again(self, HashMap::from([(array, viewed.into())])).exp(&exp);
        let (ty, hint) = (self.ty_var(var), self.b.vars.hint(var).to_owned());
        let again = self.let_var(&hint, ty, exp.clone(), loc);
        self.sweep.restored.places.insert(again, ArrayState { root: place.root, view: Some((now, exp)) });
        Some(again)
    }

    /// The adjoints go back to the variables of the original.
    pub fn past(&mut self, present: Present) {
        for (var, other) in present.moved {
            if let Some(adj) = self.sweep.adj.remove(&other) {
                self.sweep.adj.insert(var, adj);
            }
        }
    }
}

/// Whether the return sweep of an expression reads the values of its operands.
pub(crate) fn reads_again(exp: &Exp) -> bool {
    match exp {
        Exp::If { .. } | Exp::Loop { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => true,
        Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::WithVjp { .. } => true,
        Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => false,
        Exp::Atom(_) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) => false,
        Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => false,
        Exp::Call { .. } => true,
        Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => false,
        Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } | Exp::Contract { .. } => false,
        Exp::Jvp { .. } | Exp::Vjp { .. } => false,
        Exp::Transpose { .. } | Exp::Detach(_) => false,
    }
}

/// The operands whose values are read again; `keys` are only names of adjoints.
pub(crate) fn read_again(exp: &Exp, keys: &[Atom]) -> Vec<VarId> {
    let mut vars = free_vars(exp);
    vars.retain(|v| !keys.contains(&Atom::from(*v)));
    vars
}
