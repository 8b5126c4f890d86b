//! Removes what a derivative does not need: statements, and single results of loops, branches and maps.
//!
//!     let (s: f64, saved: [n]f64) = loop (…)              let (s: f64) = loop (…)
//!     let (x_adj: f64) = f64.mul ct 2.0            ==>    let (x_adj: f64) = f64.mul ct 2.0
//!     in (s, x_adj)                                       in (s, x_adj)
//!
//! Rules of reverse mode run code again and save whatever a return sweep might read; this is where it is found out
//! what is really read. A variable is needed if a result depends on it, or a statement that may stop the program:
//! a loop parameter that only feeds itself is not.

use std::collections::{HashMap, HashSet};

use dagaz_core::dead::Needs;
use dagaz_core::effects::{Effect, Effects, own_effect};
use dagaz_core::exp::{Exp, Stm};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, free_vars};

/// The statements that the results need, and those that must stay.
pub(crate) fn prune(mut stms: Vec<Stm>, results: &[Atom], stays: &Stays<'_>) -> Vec<Stm> {
    let must_stay = |stm: &Stm| stays.must_stay(stm);
    let mut needs = Needs::new(&must_stay);
    needs.stms(&stms);
    needs.need(results.iter().copied());
    needs.find();
    needs.retain(&mut stms);
    stms
}

/// Decides for each number of `kept`, which is bound to what a branch gives besides its results, whether to leave it at that.
/// A branch that is needed for such numbers alone would be run for nothing else: they are computed where they are needed.
pub(crate) fn choose_kept(
    stms: &mut [Stm],
    results: &[Atom],
    stays: &Stays<'_>,
    kept: &HashMap<VarId, SavedResult>,
) {
    if kept.is_empty() {
        return;
    }
    bind(stms, &|var| kept.get(&var).map(|kept| kept.again));
    let must_stay = |stm: &Stm| stays.must_stay(stm);
    let mut needs = Needs::new(&must_stay);
    needs.stms(stms);
    needs.need(results.iter().copied());
    let mut branches = HashMap::new();
    note_branches(stms, &mut branches);
    let chosen = Chosen { kept, live: needs.find(), branches: &branches };
    bind(stms, &|var| kept.get(&var).map(|kept| kept.before).filter(|before| chosen.runs_anyway(*before)));
}

/// The results of branches by each of them.
fn note_branches(stms: &[Stm], branches: &mut HashMap<VarId, Vec<VarId>>) {
    for stm in stms {
        if let Exp::If { .. } = &stm.exp {
            let all: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
            branches.extend(all.iter().map(|var| (*var, all.clone())));
        }
        bodies(&stm.exp).into_iter().for_each(|body| note_branches(&body.stms, branches));
    }
}

/// What decides where kept numbers come from.
struct Chosen<'a> {
    kept: &'a HashMap<VarId, SavedResult>,
    live: &'a HashSet<VarId>,
    branches: &'a HashMap<VarId, Vec<VarId>>,
}

impl Chosen<'_> {
    /// Whether the branch that gives a number is needed for something else. One that is a kept number itself comes from
    /// further out, or from a branch that is run again.
    fn runs_anyway(&self, var: VarId) -> bool {
        let is_needed = |pat: &Vec<VarId>| pat.iter().any(|p| self.live.contains(p));
        match self.kept.get(&var) {
            Some(further) => {
                self.runs_anyway(further.before) || self.branches.get(&further.again).is_some_and(is_needed)
            }
            None => self.branches.get(&var).is_none_or(is_needed),
        }
    }
}

/// What a number is equal to.
pub(crate) struct SavedResult {
    /// The result of a branch that has run before.
    pub before: VarId,
    /// What is computed again.
    pub again: VarId,
}

/// Binds variables to others.
fn bind(stms: &mut [Stm], value: &impl Fn(VarId) -> Option<VarId>) {
    for stm in stms {
        if let ([p], Exp::Atom(atom)) = (stm.pat.as_slice(), &mut stm.exp)
            && let Some(var) = value(p.var)
        {
            *atom = var.into();
        }
        bodies_mut(&mut stm.exp).into_iter().for_each(|body| bind(&mut body.stms, value));
    }
}

/// Which statements do more than to give their values: they may stop the program, or not end.
pub(crate) struct Stays<'a> {
    /// Statements that bind only these were run before without stopping the program, or will be.
    recomputed: &'a HashSet<VarId>,
    effects: Effects,
}

impl<'a> Stays<'a> {
    /// Of statements whose free variables have the types given.
    pub fn new(stms: &[Stm], types: &HashMap<VarId, Type>, recomputed: &'a HashSet<VarId>) -> Stays<'a> {
        let mut bound = HashSet::new();
        let mut outside = Vec::new();
        for stm in stms {
            // What statements use of what is bound outside exists there, and so do its sizes.
            outside.extend(free_vars(&stm.exp).into_iter().filter(|var| !bound.contains(var)));
            bound.extend(stm.pat.iter().map(|p| p.var));
        }
        let exist = outside.iter().filter_map(|var| types.get(var));
        Stays { recomputed, effects: Effects::within(stms, exist) }
    }

    /// Because of what the statement does itself, whatever the bodies inside of it do.
    fn must_stay(&self, stm: &Stm) -> bool {
        let anew = stm.pat.is_empty() || !stm.pat.iter().all(|p| self.recomputed.contains(&p.var));
        match own_effect(&stm.exp) {
            Effect::None => false,
            Effect::MayFail | Effect::MayNotEnd => anew,
            Effect::MakesArray => anew && !self.effects.is_makeable(stm),
            // A call that has run before has done all that it does.
            Effect::Acts => anew || !matches!(stm.exp, Exp::Call { .. }),
        }
    }
}
