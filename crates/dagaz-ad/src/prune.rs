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

use dagaz_core::effects::{Effect, Effects, bodies_that_run, own_effect};
use dagaz_core::exp::{Body, Exp, Lambda, LoopForm, Stm};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies_mut, direct_operands, free_vars, lambdas};

/// The statements that the results need, and those that must stay.
pub(crate) fn prune(stms: Vec<Stm>, results: &[Atom], stays: &Stays<'_>) -> Vec<Stm> {
    let keeper = Keeper { live: live(&stms, results, stays).0, stays };
    stms.into_iter().filter_map(|stm| keeper.stm(stm)).collect()
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
    let (live, branches) = live(stms, results, stays);
    let chosen = Chosen { kept, live: &live, branches: &branches };
    bind(stms, &|var| kept.get(&var).map(|kept| kept.before).filter(|before| chosen.runs_anyway(*before)));
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

/// The variables that are needed, and the results of branches by each of them.
fn live(stms: &[Stm], results: &[Atom], stays: &Stays<'_>) -> (HashSet<VarId>, HashMap<VarId, Vec<VarId>>) {
    let mut needs = Needs { edges: HashMap::new(), roots: Vec::new(), branches: HashMap::new(), stays };
    stms.iter().for_each(|stm| needs.stm(stm, &[]));
    needs.need_all(results.iter().copied());
    let mut live = HashSet::new();
    let mut waiting = std::mem::take(&mut needs.roots);
    while let Some(var) = waiting.pop() {
        if live.insert(var)
            && let Some(more) = needs.edges.remove(&var)
        {
            waiting.extend(more);
        }
    }
    (live, needs.branches)
}

/// What each variable needs.
struct Needs<'a> {
    edges: HashMap<VarId, Vec<VarId>>,
    roots: Vec<VarId>,
    branches: HashMap<VarId, Vec<VarId>>,
    stays: &'a Stays<'a>,
}

impl Needs<'_> {
    fn need_all(&mut self, atoms: impl IntoIterator<Item = Atom>) {
        self.roots.extend(atoms.into_iter().filter_map(Atom::as_var));
    }

    fn edge(&mut self, from: VarId, to: impl IntoIterator<Item = Atom>) {
        self.edges.entry(from).or_default().extend(to.into_iter().filter_map(Atom::as_var));
    }

    fn ty(&mut self, from: VarId, ty: &Type) {
        self.edge(from, ty.all_dims());
    }

    /// `control` is what decides whether the statement is run.
    fn stm(&mut self, stm: &Stm, control: &[Atom]) {
        stm.pat.iter().for_each(|p| self.ty(p.var, &p.ty));
        if self.stays.must_stay(stm) {
            self.need_all(control.iter().copied());
            match inner_bodies(&stm.exp) {
                0 => {
                    direct_operands(&stm.exp, &mut |a| self.roots.extend(a.as_var()));
                    self.roots.extend(stm.pat.iter().map(|p| p.var));
                }
                _ => self.roots.extend(stm.pat.first().map(|p| p.var)),
            }
        }
        match &stm.exp {
            Exp::If { cond, then, otherwise } => {
                let inside = [control, &[*cond]].concat();
                self.body(then, &inside);
                self.body(otherwise, &inside);
                let all: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
                for (i, p) in stm.pat.iter().enumerate() {
                    self.edge(p.var, [*cond, then.result[i], otherwise.result[i]]);
                    self.branches.insert(p.var, all.clone());
                }
            }
            Exp::Loop { params, form, body, .. } => {
                let turns = match form {
                    LoopForm::For { bound, .. } => *bound,
                    LoopForm::While { cond } => cond.result[0],
                };
                let inside = [control, &[turns]].concat();
                if let LoopForm::While { cond } = form {
                    self.body(cond, &inside);
                }
                self.body(body, &inside);
                for (i, (param, init)) in params.iter().enumerate() {
                    self.ty(param.var, &param.ty);
                    self.edge(param.var, [*init, body.result[i], turns]);
                    if let Some(p) = stm.pat.get(i) {
                        self.edge(p.var, [param.var.into()]);
                        // A pattern variable and its parameter stay or go together.
                        self.edge(param.var, p.ty.all_dims());
                    }
                }
            }
            Exp::Map { width, arrays, lambda } => {
                let inside = [control, &[*width]].concat();
                self.body(&lambda.body, &inside);
                for (param, array) in lambda.params.iter().zip(arrays) {
                    self.ty(param.var, &param.ty);
                    self.edge(param.var, [Atom::from(*array)]);
                }
                let accs = lambda.ret.iter().zip(&lambda.body.result).filter(|(t, _)| t.is_acc());
                let accs: Vec<Atom> = accs.map(|(_, a)| *a).collect();
                for (i, p) in stm.pat.iter().enumerate() {
                    self.edge(p.var, accs.iter().copied().chain([*width, lambda.body.result[i]]));
                    self.edge(p.var, lambda.ret[i].all_dims());
                }
            }
            _ => {
                let mut all = Vec::new();
                direct_operands(&stm.exp, &mut |a| all.push(a));
                if let Exp::ArrayLit { row, .. } = &stm.exp {
                    all.extend(row.all_dims());
                }
                for lambda in lambdas(&stm.exp) {
                    self.body(&lambda.body, control);
                    all.extend(lambda.body.result.iter().copied());
                    all.extend(lambda.ret.iter().flat_map(Type::all_dims));
                    all.extend(lambda.params.iter().flat_map(|p| p.ty.all_dims()));
                }
                stm.pat.iter().for_each(|p| self.edge(p.var, all.iter().copied()));
            }
        }
    }

    fn body(&mut self, body: &Body, control: &[Atom]) {
        body.stms.iter().for_each(|stm| self.stm(stm, control));
    }
}

struct Keeper<'a> {
    live: HashSet<VarId>,
    stays: &'a Stays<'a>,
}

impl Keeper<'_> {
    fn body(&self, body: &mut Body, keep: Option<&[bool]>) {
        body.stms = std::mem::take(&mut body.stms).into_iter().filter_map(|s| self.stm(s)).collect();
        if let Some(keep) = keep {
            retain(&mut body.result, keep);
        }
    }

    fn lambda(&self, lambda: &mut Lambda) {
        self.body(&mut lambda.body, None);
    }

    fn stm(&self, mut stm: Stm) -> Option<Stm> {
        let is_live = |var: &VarId| self.live.contains(var);
        if !stm.pat.iter().any(|p| is_live(&p.var)) && !self.stays.must_stay(&stm) {
            return None;
        }
        match &mut stm.exp {
            Exp::If { then, otherwise, .. } => {
                let keep: Vec<bool> = stm.pat.iter().map(|p| is_live(&p.var)).collect();
                retain(&mut stm.pat, &keep);
                self.body(then, Some(&keep));
                self.body(otherwise, Some(&keep));
            }
            Exp::Loop { params, form, body, .. } => {
                let keep: Vec<bool> = params.iter().map(|(p, _)| is_live(&p.var)).collect();
                retain(&mut stm.pat, &keep);
                retain(params, &keep);
                self.body(body, Some(&keep));
                if let LoopForm::While { cond } = form {
                    self.body(cond, None);
                }
            }
            Exp::Map { arrays, lambda, .. } => {
                let accs = lambda.ret.iter().map(Type::is_acc);
                let keep: Vec<bool> =
                    stm.pat.iter().zip(accs).map(|(p, acc)| acc || is_live(&p.var)).collect();
                let rows: Vec<bool> = lambda.params.iter().map(|p| is_live(&p.var)).collect();
                retain(&mut stm.pat, &keep);
                retain(&mut lambda.ret, &keep);
                self.body(&mut lambda.body, Some(&keep));
                retain(arrays, &rows);
                retain(&mut lambda.params, &rows);
            }
            Exp::Reduce { pre, op, .. } | Exp::Scan { pre, op, .. } | Exp::Hist { pre, op, .. } => {
                pre.iter_mut().chain([op]).for_each(|l| self.lambda(l));
            }
            Exp::Scatter { pre, .. } => pre.iter_mut().for_each(|l| self.lambda(l)),
            Exp::WithAcc { inputs, lambda } => {
                inputs.iter_mut().filter_map(|i| i.op.as_mut()).for_each(|(op, _)| self.lambda(op));
                self.lambda(lambda);
            }
            Exp::Jvp { lambda, .. } | Exp::Vjp { lambda, .. } => self.lambda(lambda),
            Exp::Transpose { lambda, .. } => self.lambda(lambda),
            Exp::WithVjp { lambda, rule, .. } => {
                self.lambda(lambda);
                self.lambda(rule);
            }
            Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) => {}
            Exp::Convert(..) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } => {}
            Exp::Copy(_) | Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } => {}
            Exp::Reshape { .. } | Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => {}
            Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } | Exp::UpdateAcc { .. } => {}
            Exp::Contract { .. } | Exp::Detach(_) => {}
        }
        Some(stm)
    }
}

fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}

/// How many bodies an expression has whose statements are looked at one by one.
fn inner_bodies(exp: &Exp) -> usize {
    match exp {
        Exp::If { .. } => 2,
        Exp::Loop { .. } | Exp::Map { .. } => 1,
        _ => 0,
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

    fn must_stay(&self, stm: &Stm) -> bool {
        let anew = stm.pat.is_empty() || !stm.pat.iter().all(|p| self.recomputed.contains(&p.var));
        let own = match own_effect(&stm.exp) {
            Effect::None => false,
            Effect::MayFail | Effect::MayNotEnd => anew,
            Effect::MakesArray => anew && !self.effects.is_makeable(stm),
            // A call that has run before has done all that it does.
            Effect::Acts => anew || !matches!(stm.exp, Exp::Call { .. }),
        };
        let inside = |body: &Body| body.stms.iter().any(|stm| self.must_stay(stm));
        own || bodies_that_run(&stm.exp).into_iter().any(inside)
    }
}
