//! How an array flows through code that updates it in place: which variables are the same array at different times.
//!
//!     let (b: [n]f64) = a with [i] = x         a, then b, then c are one array;
//!     let (r: [m]f64) = b[0 : m]               r is a view of it, which holds
//!     let (c: [n]f64) = if … b with [j] … b    until the array is updated again
//!
//! Everything here is about the order of statements: an array is *broken* where an older state of it is used after a
//! newer one was made, because then going back from the newest state does not reach what was used.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, DimSlice, Exp, LoopForm, Stm};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{free_vars, free_vars_body, lambdas};

/// The variable is the array that entered as `root`, or a view of it, at the time `stamp`.
#[derive(Clone, Copy)]
struct Mark {
    root: VarId,
    stamp: u32,
    view: bool,
}

/// A part of an array that is updated.
#[derive(Clone)]
pub(crate) enum Site {
    Part(Vec<DimSlice>),
    /// The places that a `scatter` writes its values to.
    Places {
        width: Atom,
        indices: Vec<VarId>,
        shape: Vec<Atom>,
        values: VarId,
    },
}

/// The array that an expression updates for its result `k`, and the part of it.
pub(crate) fn update_of(exp: &Exp, k: usize) -> Option<(VarId, Site)> {
    match exp {
        Exp::Update { array, dims, .. } => Some((*array, Site::Part(dims.clone()))),
        Exp::Scatter { width, arrays, dests, shape, .. } => {
            let (indices, values) = arrays.split_at(shape.len());
            let (indices, shape) = (indices.to_vec(), shape.clone());
            Some((*dests.get(k)?, Site::Places { width: *width, indices, shape, values: *values.get(k)? }))
        }
        _ => None,
    }
}

#[derive(Default)]
pub(crate) struct Flow {
    marks: HashMap<VarId, Mark>,
    /// The time of the newest state of each array.
    now: HashMap<VarId, u32>,
    last_stamp: u32,
    /// Arrays from outside of code that is run many times: it must not update them.
    frozen: HashSet<VarId>,
    broken: HashSet<VarId>,
    /// Bound variables that are new states, with their arrays.
    changed: HashMap<VarId, VarId>,
    /// The parts of each array that are updated.
    pub sites: HashMap<VarId, Vec<Site>>,
}

impl Flow {
    /// The variable is the present state of an array.
    pub fn enter(&mut self, var: VarId, root: VarId, view: bool) {
        self.marks.insert(var, Mark { root, stamp: 0, view });
        self.now.insert(root, 0);
    }

    pub fn is_broken(&self, root: VarId) -> bool {
        self.broken.contains(&root)
    }

    /// The array that a variable is a state of.
    pub fn root(&self, var: VarId) -> Option<VarId> {
        self.marks.get(&var).filter(|mark| !mark.view).map(|mark| mark.root)
    }

    /// The array that a variable is a view of.
    pub fn viewed(&self, var: VarId) -> Option<VarId> {
        self.marks.get(&var).filter(|mark| mark.view).map(|mark| mark.root)
    }

    /// The array that a variable is a state of which differs from the one before its statement.
    pub fn changed(&self, var: VarId) -> Option<VarId> {
        self.changed.get(&var).copied()
    }

    /// Follows a body, and says which results are the newest states of which arrays.
    pub fn body(&mut self, body: &Body) -> Vec<Option<VarId>> {
        body.stms.iter().for_each(|stm| self.stm(stm));
        body.result.iter().map(|atom| self.newest(*atom)).collect()
    }

    fn newest(&self, atom: Atom) -> Option<VarId> {
        let mark = self.marks.get(&atom.as_var()?)?;
        (!mark.view && self.now.get(&mark.root) == Some(&mark.stamp)).then_some(mark.root)
    }

    fn mark(&mut self, var: VarId, root: VarId, view: bool) {
        let stamp = self.now.get(&root).copied().unwrap_or(0);
        self.marks.insert(var, Mark { root, stamp, view });
    }

    /// A new state of an array begins.
    fn advance(&mut self, root: VarId) {
        if self.frozen.contains(&root) {
            self.broken.insert(root);
        }
        self.last_stamp += 1;
        self.now.insert(root, self.last_stamp);
    }

    fn stm(&mut self, stm: &Stm) {
        for var in free_vars(&stm.exp) {
            if let Some(mark) = self.marks.get(&var)
                && self.now.get(&mark.root) != Some(&mark.stamp)
            {
                self.broken.insert(mark.root);
            }
        }
        match &stm.exp {
            Exp::Atom(Atom::Var(var)) => {
                if let (Some(mark), [pat]) = (self.marks.get(var).copied(), stm.pat.as_slice()) {
                    self.marks.insert(pat.var, mark);
                }
            }
            Exp::Index { array, .. } | Exp::Slice { array, .. } => self.view(stm, *array),
            Exp::Rearrange { array, .. } | Exp::Reshape { array, .. } => self.view(stm, *array),
            Exp::Update { .. } | Exp::Scatter { .. } => {
                (0..stm.pat.len()).for_each(|k| self.update(stm, k));
            }
            Exp::If { then, otherwise, .. } => self.branches(stm, then, otherwise),
            Exp::Loop { .. } => self.inner_loop(stm),
            _ => {
                let outside = self.frozen.clone();
                self.frozen.extend(self.now.keys().copied());
                for lambda in lambdas(&stm.exp) {
                    self.body(&lambda.body);
                }
                self.frozen = outside;
            }
        }
    }

    fn update(&mut self, stm: &Stm, k: usize) {
        let Some((array, site)) = update_of(&stm.exp, k) else { return };
        let Some(mark) = self.marks.get(&array).copied() else { return };
        if mark.view || self.now.get(&mark.root) != Some(&mark.stamp) {
            self.broken.insert(mark.root);
            return;
        }
        self.sites.entry(mark.root).or_default().push(site);
        self.advance(mark.root);
        self.mark(stm.pat[k].var, mark.root, false);
        self.changed.insert(stm.pat[k].var, mark.root);
    }

    fn view(&mut self, stm: &Stm, array: VarId) {
        if let Some(mark) = self.marks.get(&array).copied()
            && stm.pat[0].ty.is_array()
        {
            self.marks.insert(stm.pat[0].var, Mark { view: true, ..mark });
        }
    }

    fn branches(&mut self, stm: &Stm, then: &Body, otherwise: &Body) {
        let before = self.now.clone();
        let then_results = self.body(then);
        let after_then = std::mem::replace(&mut self.now, before.clone());
        let otherwise_results = self.body(otherwise);
        let after_otherwise = std::mem::replace(&mut self.now, before.clone());
        let both = |k: usize| then_results[k].filter(|root| otherwise_results[k] == Some(*root));
        let same: Vec<Option<VarId>> = (0..stm.pat.len()).map(both).collect();
        let mut new = HashSet::new();
        for (root, stamp) in &before {
            if after_then.get(root) != Some(stamp) || after_otherwise.get(root) != Some(stamp) {
                new.insert(*root);
                self.advance(*root);
                if !same.contains(&Some(*root)) {
                    self.broken.insert(*root);
                }
            }
        }
        self.bind_results(stm, &same, &new);
    }

    fn bind_results(&mut self, stm: &Stm, roots: &[Option<VarId>], new: &HashSet<VarId>) {
        for (pat, root) in stm.pat.iter().zip(roots) {
            let Some(root) = root else { continue };
            self.mark(pat.var, *root, false);
            if new.contains(root) {
                self.changed.insert(pat.var, *root);
            }
        }
    }

    /// An array that a loop carries is an array of its own inside.
    fn inner_loop(&mut self, stm: &Stm) {
        let Exp::Loop { params, form, body, .. } = &stm.exp else { return };
        let carried: Vec<Option<VarId>> = params.iter().map(|(_, init)| self.newest(*init)).collect();
        let outside = self.frozen.clone();
        self.frozen.extend(self.now.keys().copied());
        for ((param, _), _) in params.iter().zip(&carried).filter(|(_, root)| root.is_some()) {
            self.enter(param.var, param.var, false);
        }
        let mut inside = free_vars_body(body);
        if let LoopForm::While { cond } = form {
            self.body(cond);
            inside.extend(free_vars_body(cond));
        }
        let results = self.body(body);
        self.frozen = outside;
        let mut same = vec![None; params.len()];
        let mut new = HashSet::new();
        for (k, root) in carried.iter().enumerate() {
            let (Some(root), (param, _)) = (root, &params[k]) else { continue };
            if results[k] != Some(param.var) || self.broken.contains(&param.var) {
                continue;
            }
            same[k] = Some(*root);
            if self.now.get(&param.var) == Some(&0) {
                continue;
            }
            let sites = self.sites.get(&param.var).cloned().unwrap_or_default();
            self.sites.entry(*root).or_default().extend(sites);
            let read = inside.iter().any(|v| self.marks.get(v).is_some_and(|mark| mark.root == *root));
            if read || !new.insert(*root) {
                self.broken.insert(*root);
            }
        }
        new.iter().for_each(|root| self.advance(*root));
        self.bind_results(stm, &same, &new);
    }
}
