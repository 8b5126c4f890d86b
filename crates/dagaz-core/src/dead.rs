//! What is needed of statements, and what nobody needs: statements, and single results of parallel operations, branches and
//! loops.
//!
//! ```text
//! let (a: [n]i64, b: [n]i64) =               let (b: [n]i64) =
//!   map n (xs) \(x: i64) : (i64, i64) ->       map n (xs) \(x: i64) : (i64) ->
//!     let (c: i64) = i64.add x 1i64     ==>      let (d: i64) = i64.mul x 2i64
//!     let (d: i64) = i64.mul x 2i64              in (d)
//!     in (c, d)                              in (b)
//! in (b)
//! ```
//!
//! A variable is needed if a result depends on it, or a statement that has to stay, such as one that may stop the program. So a
//! parameter of a loop goes if only itself, and others that go, need it, and so does a component of a reduction or scan.

use std::collections::{HashMap, HashSet};

use crate::effects::bodies_that_run;
use crate::exp::{Body, Exp, Lambda, LoopForm, Stm};
use crate::types::{Atom, Param, Type, VarId};
use crate::visit::{bodies, bodies_mut, direct_operands, lambdas};

/// What variables need, and which are needed.
pub struct Needs<'a> {
    edges: HashMap<VarId, Vec<VarId>>,
    live: HashSet<VarId>,
    waiting: Vec<VarId>,
    /// Whether a statement has to stay because of what it does itself, whatever the bodies inside of it do.
    stays: &'a dyn Fn(&Stm) -> bool,
}

impl<'a> Needs<'a> {
    pub fn new(stays: &'a dyn Fn(&Stm) -> bool) -> Needs<'a> {
        Needs { edges: HashMap::new(), live: HashSet::new(), waiting: Vec::new(), stays }
    }

    /// Takes note of statements. Of these, only what has to stay is needed so far.
    pub fn stms(&mut self, stms: &[Stm]) {
        stms.iter().for_each(|stm| self.stm(stm));
    }

    pub fn need(&mut self, atoms: impl IntoIterator<Item = Atom>) {
        self.waiting.extend(atoms.into_iter().filter_map(Atom::as_var));
    }

    /// Finds all variables that are needed.
    pub fn find(&mut self) -> &HashSet<VarId> {
        while let Some(var) = self.waiting.pop() {
            if self.live.insert(var)
                && let Some(more) = self.edges.remove(&var)
            {
                self.waiting.extend(more);
            }
        }
        &self.live
    }

    fn edge(&mut self, from: VarId, to: impl IntoIterator<Item = Atom>) {
        self.edges.entry(from).or_default().extend(to.into_iter().filter_map(Atom::as_var));
    }

    fn bind(&mut self, param: &Param) {
        self.edge(param.var, param.ty.all_dims());
    }

    fn must_stay(&self, stm: &Stm) -> bool {
        let inside = |body: &Body| body.stms.iter().any(|stm| self.must_stay(stm));
        (self.stays)(stm) || bodies_that_run(&stm.exp).into_iter().any(inside)
    }

    fn stm(&mut self, stm: &Stm) {
        let mut shared = self.inside(stm);
        // Accumulators go on through all that they go into.
        shared.extend(stm.pat.iter().filter(|p| p.ty.is_acc()).map(|p| Atom::from(p.var)));
        for (i, p) in stm.pat.iter().enumerate() {
            self.bind(p);
            self.edge(p.var, shared.iter().copied().chain(own_operands(&stm.exp, i)));
        }
        if self.must_stay(stm) {
            self.need(shared);
            let results = stm.pat.iter().map(|p| Atom::from(p.var));
            match &stm.exp {
                Exp::Reduce { .. } | Exp::Scan { .. } => self.need(results.take(1)),
                exp if bodies(exp).is_empty() => self.need(results),
                _ => {}
            }
        }
    }

    /// What is needed whichever results are, after taking note of the bodies inside.
    fn inside(&mut self, stm: &Stm) -> Vec<Atom> {
        let exp = &stm.exp;
        bodies(exp).into_iter().for_each(|body| self.stms(&body.stms));
        if let Some((arrays, lambda)) = row_function(exp) {
            for (param, array) in lambda.params.iter().zip(arrays) {
                self.bind(param);
                self.edge(param.var, [Atom::from(*array)]);
            }
        }
        match exp {
            Exp::If { cond, .. } => vec![*cond],
            Exp::Loop { params, form, body, .. } => {
                let turns = match form {
                    LoopForm::For { bound, .. } => *bound,
                    LoopForm::While { cond } => cond.result[0],
                };
                for (i, (param, init)) in params.iter().enumerate() {
                    self.bind(param);
                    self.edge(param.var, [*init, body.result[i], turns]);
                    // A parameter and its result stay or go together.
                    self.edge(param.var, stm.pat.get(i).into_iter().flat_map(|p| p.ty.all_dims()));
                }
                vec![turns]
            }
            Exp::Map { width, .. } => vec![*width],
            Exp::Reduce { width, op, .. } | Exp::Scan { width, op, .. } => {
                for (i, param) in op.params.iter().enumerate() {
                    self.bind(param);
                    self.edge(param.var, [Atom::from(stm.pat[i % stm.pat.len()].var)]);
                }
                vec![*width]
            }
            Exp::WithAcc { inputs, .. } => whole(exp, inputs.len()),
            _ => whole(exp, usize::MAX),
        }
    }

    /// Removes what was not found to be needed of statements that were taken note of.
    pub fn retain(&self, stms: &mut Vec<Stm>) {
        stms.retain_mut(|stm| {
            let is_kept = stm.pat.iter().any(|p| self.is_live(p)) || self.must_stay(stm);
            if is_kept {
                self.retain_results(stm);
                bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.retain(&mut body.stms));
            }
            is_kept
        });
    }

    fn is_live(&self, param: &Param) -> bool {
        self.live.contains(&param.var)
    }

    /// Removes the results that nobody needs, where they can go one by one, and the arrays whose rows nobody does.
    fn retain_results(&self, stm: &mut Stm) {
        let mut live: Vec<bool> = stm.pat.iter().map(|p| self.is_live(p)).collect();
        match &mut stm.exp {
            Exp::Map { lambda, .. } => keep_results(lambda, &live),
            Exp::WithAcc { inputs, lambda } => {
                let arrays: usize = inputs.iter().map(|i| i.arrays.len()).sum();
                live[..arrays].fill(true);
                keep_results(lambda, &[&vec![true; inputs.len()], &live[arrays..]].concat());
            }
            Exp::If { then, otherwise, .. } => {
                keep(&mut then.result, &live);
                keep(&mut otherwise.result, &live);
            }
            Exp::Loop { params, body, .. } => {
                live = params.iter().map(|(p, _)| self.is_live(p)).collect();
                keep(params, &live);
                keep(&mut body.result, &live);
            }
            Exp::Reduce { arrays, pre, op, neutral, .. } | Exp::Scan { arrays, pre, op, neutral, .. } => {
                keep(neutral, &live);
                keep(&mut op.params, &[live.as_slice(), &live].concat());
                keep_results(op, &live);
                match pre {
                    Some(pre) => keep_results(pre, &live),
                    None => keep(arrays, &live),
                }
            }
            exp => {
                debug_assert!(!has_own_results(exp));
                live.fill(true);
            }
        }
        keep(&mut stm.pat, &live);
        let (arrays, lambda) = match &mut stm.exp {
            Exp::Map { arrays, lambda, .. } => (arrays, lambda),
            Exp::Reduce { arrays, pre: Some(pre), .. } | Exp::Scan { arrays, pre: Some(pre), .. } => {
                (arrays, pre)
            }
            Exp::Hist { arrays, pre: Some(pre), .. } | Exp::Scatter { arrays, pre: Some(pre), .. } => {
                (arrays, pre)
            }
            _ => return,
        };
        let rows: Vec<bool> = lambda.params.iter().map(|p| self.is_live(p)).collect();
        keep(arrays, &rows);
        keep(&mut lambda.params, &rows);
    }
}

/// Whether each result of an expression can go by itself. The results of all others stay or go together.
fn has_own_results(exp: &Exp) -> bool {
    match exp {
        Exp::If { .. } | Exp::Loop { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => true,
        // Those behind the accumulators.
        Exp::WithAcc { .. } => true,
        Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) => false,
        Exp::Convert(..) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) => false,
        Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => false,
        Exp::Concat { .. } | Exp::Contract { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => false,
        Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => false,
        Exp::Hist { .. } | Exp::Scatter { .. } | Exp::UpdateAcc { .. } => false,
        Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Transpose { .. } => false,
        Exp::Detach(_) => false,
    }
}

/// What is needed for one result alone.
fn own_operands(exp: &Exp, i: usize) -> Vec<Atom> {
    let result = |lambda: &Lambda, i: usize| [vec![lambda.body.result[i]], lambda.ret[i].all_dims()].concat();
    match exp {
        Exp::If { then, otherwise, .. } => vec![then.result[i], otherwise.result[i]],
        Exp::Loop { params, .. } => vec![params[i].0.var.into()],
        Exp::Map { lambda, .. } => result(lambda, i),
        Exp::Reduce { arrays, pre, op, neutral, .. } | Exp::Scan { arrays, pre, op, neutral, .. } => {
            let combined = pre.as_ref().map_or_else(|| vec![arrays[i].into()], |pre| result(pre, i));
            [result(op, i), combined, vec![neutral[i]]].concat()
        }
        Exp::WithAcc { inputs, lambda } => {
            let arrays: usize = inputs.iter().map(|i| i.arrays.len()).sum();
            i.checked_sub(arrays).map_or_else(Vec::new, |i| result(lambda, inputs.len() + i))
        }
        exp => {
            debug_assert!(!has_own_results(exp));
            Vec::new()
        }
    }
}

/// All operands of an expression whose results belong together, but for arrays that are needed row by row. Of the results of
/// its last lambda, so many count.
fn whole(exp: &Exp, results: usize) -> Vec<Atom> {
    let mut all = Vec::new();
    direct_operands(exp, &mut |atom| all.push(atom));
    if let Exp::ArrayLit { row, .. } = exp {
        all.extend(row.all_dims());
    }
    let rows = row_function(exp);
    if let Some((arrays, _)) = rows {
        all.retain(|atom| !atom.as_var().is_some_and(|var| arrays.contains(&var)));
    }
    if let Exp::Hist { dests, .. } | Exp::Scatter { dests, .. } = exp {
        all.extend(dests.iter().map(|dest| Atom::from(*dest)));
    }
    let lambdas = lambdas(exp);
    for (i, lambda) in lambdas.iter().enumerate() {
        let count = if i + 1 == lambdas.len() { results } else { usize::MAX };
        all.extend(lambda.body.result.iter().take(count));
        all.extend(lambda.ret.iter().take(count).flat_map(Type::all_dims));
        if rows.is_none_or(|(_, function)| !std::ptr::eq(function, *lambda)) {
            all.extend(lambda.params.iter().flat_map(|p| p.ty.all_dims()));
        }
    }
    all
}

/// The arrays of a parallel operation and the function that takes their rows.
fn row_function(exp: &Exp) -> Option<(&[VarId], &Lambda)> {
    match exp {
        Exp::Map { arrays, lambda, .. } => Some((arrays, lambda)),
        Exp::Reduce { arrays, pre: Some(pre), .. } | Exp::Scan { arrays, pre: Some(pre), .. } => {
            Some((arrays, pre))
        }
        Exp::Hist { arrays, pre: Some(pre), .. } | Exp::Scatter { arrays, pre: Some(pre), .. } => {
            Some((arrays, pre))
        }
        _ => None,
    }
}

fn keep_results(lambda: &mut Lambda, live: &[bool]) {
    keep(&mut lambda.ret, live);
    keep(&mut lambda.body.result, live);
}

/// Keeps the items whose flag is set.
pub fn keep<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}
