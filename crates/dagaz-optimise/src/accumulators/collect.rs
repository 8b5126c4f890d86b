//! Finds every `+=` to one accumulator of a `with_acc`, and what encloses it: maps, branches and loops.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Loc, LoopForm, Stm};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Type, VarId};

/// A scope that the accumulator goes through; a number into [`Collected::scopes`]. The first is the body of the
/// `with_acc`.
pub(super) type ScopeId = usize;

pub(super) struct Scope {
    pub parent: Option<ScopeId>,
    pub kind: ScopeKind,
    /// The first variable that the statement around the scope binds: what the statement is known by.
    pub stm: Option<VarId>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum ScopeKind {
    WithAcc,
    /// One iteration of a map, or of a loop. What a loop carries besides the accumulator cannot be computed again.
    Iteration {
        width: Atom,
        is_loop: bool,
    },
    Branch {
        cond: Atom,
        taken: bool,
    },
}

pub(super) enum Def<'a> {
    /// A result of a statement. One that is bound further inside than the accumulator goes cannot be handed out.
    Stm { exp: &'a Exp, position: usize, ty: &'a Type, scope: ScopeId, is_inner: bool },
    /// A row of an array, in a map.
    Row { array: VarId, scope: ScopeId, ty: &'a Type },
    /// The counter of a loop.
    Counter { scope: ScopeId },
    /// What a loop carries from one iteration to the next.
    Carried { scope: ScopeId },
}

pub(super) struct Update<'a> {
    pub scope: ScopeId,
    pub indices: &'a [Atom],
    pub value: Atom,
    pub loc: Loc,
}

pub(super) struct Collected<'a> {
    pub scopes: Vec<Scope>,
    pub defs: HashMap<VarId, Def<'a>>,
    pub updates: Vec<Update<'a>>,
    /// What maps that the accumulator goes through give besides it, in the scopes of their iterations.
    pub plain_results: Vec<(ScopeId, Atom)>,
    /// The accumulator under all its names.
    pub accs: HashSet<VarId>,
}

/// Everything about the accumulator that is parameter `which` of the lambda; none if it goes ways that are not known.
pub(super) fn collect(lambda: &Lambda, which: usize) -> Option<Collected<'_>> {
    let outermost = Scope { parent: None, kind: ScopeKind::WithAcc, stm: None };
    let accs = HashSet::from([lambda.params[which].var]);
    let mut found = Collected {
        scopes: vec![outermost],
        defs: HashMap::new(),
        updates: Vec::new(),
        plain_results: Vec::new(),
        accs,
    };
    found.body(&lambda.body, 0)?;
    found.is_acc(*lambda.body.result.get(which)?).then_some(found)
}

impl<'a> Collected<'a> {
    pub fn is_acc(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(var) if self.accs.contains(&var))
    }

    /// The scopes from the outermost to this one.
    pub fn chain(&self, scope: ScopeId) -> Vec<ScopeId> {
        let mut chain = vec![scope];
        let mut at = scope;
        while let Some(parent) = self.scopes[at].parent {
            chain.push(parent);
            at = parent;
        }
        chain.reverse();
        chain
    }

    fn enter(&mut self, parent: ScopeId, kind: ScopeKind, stm: &Stm) -> ScopeId {
        let stm = stm.pat.first().map(|p| p.var);
        self.scopes.push(Scope { parent: Some(parent), kind, stm });
        self.scopes.len() - 1
    }

    fn body(&mut self, body: &'a Body, scope: ScopeId) -> Option<()> {
        body.stms.iter().try_for_each(|stm| self.stm(stm, scope))
    }

    fn stm(&mut self, stm: &'a Stm, scope: ScopeId) -> Option<()> {
        for (position, param) in stm.pat.iter().enumerate() {
            let def = Def::Stm { exp: &stm.exp, position, ty: &param.ty, scope, is_inner: false };
            self.defs.insert(param.var, def);
        }
        match &stm.exp {
            Exp::UpdateAcc { acc, indices, values } if self.accs.contains(acc) => {
                let [value] = values[..] else { return None };
                self.updates.push(Update { scope, indices, value, loc: stm.loc });
                self.accs.extend(stm.pat.iter().map(|p| p.var));
            }
            Exp::Atom(atom) if self.is_acc(*atom) => self.accs.extend(stm.pat.iter().map(|p| p.var)),
            Exp::Map { width, arrays, lambda } if arrays.iter().any(|a| self.accs.contains(a)) => {
                let kind = ScopeKind::Iteration { width: *width, is_loop: false };
                let inner = self.enter(scope, kind, stm);
                for (array, param) in arrays.iter().zip(&lambda.params) {
                    if self.accs.contains(array) {
                        self.accs.insert(param.var);
                    }
                    let row = Def::Row { array: *array, scope: inner, ty: &param.ty };
                    self.defs.insert(param.var, row);
                }
                self.body(&lambda.body, inner)?;
                self.results(stm, &lambda.body, 0);
                let results = lambda.body.result.iter().zip(&lambda.ret);
                self.plain_results.extend(results.filter(|(_, ty)| !ty.is_acc()).map(|(a, _)| (inner, *a)));
            }
            Exp::If { cond, then, otherwise } if stm.pat.iter().any(|p| p.ty.is_acc()) => {
                for (taken, body) in [(true, then), (false, otherwise)] {
                    let inner = self.enter(scope, ScopeKind::Branch { cond: *cond, taken }, stm);
                    self.body(body, inner)?;
                }
                self.results(stm, then, 0);
            }
            Exp::Loop { params, form, body, .. } if params.iter().any(|(_, init)| self.is_acc(*init)) => {
                let LoopForm::For { var, ty: PrimType::I64, bound } = form else { return None };
                let kind = ScopeKind::Iteration { width: *bound, is_loop: true };
                let inner = self.enter(scope, kind, stm);
                for (param, init) in params {
                    if self.is_acc(*init) {
                        self.accs.insert(param.var);
                    } else {
                        self.defs.insert(param.var, Def::Carried { scope: inner });
                    }
                }
                self.defs.insert(*var, Def::Counter { scope: inner });
                self.body(body, inner)?;
                self.results(stm, body, 0);
            }
            Exp::WithAcc { inputs, lambda } if stm.pat.iter().any(|p| p.ty.is_acc()) => {
                let inner = self.enter(scope, ScopeKind::WithAcc, stm);
                self.body(&lambda.body, inner)?;
                let arrays: usize = inputs.iter().map(|i| i.arrays.len()).sum();
                let results = lambda.body.result[inputs.len()..].iter().zip(&stm.pat[arrays..]);
                let names: Vec<VarId> =
                    results.filter(|(a, _)| self.is_acc(**a)).map(|(_, p)| p.var).collect();
                self.accs.extend(names);
            }
            _ => {}
        }
        Some(())
    }

    /// The results of the statement that are the accumulator.
    fn results(&mut self, stm: &Stm, body: &Body, first: usize) {
        let results = body.result.iter().zip(&stm.pat[first..]);
        let names: Vec<VarId> = results.filter(|(a, _)| self.is_acc(**a)).map(|(_, p)| p.var).collect();
        self.accs.extend(names);
    }

    /// Makes what is bound in a body that the accumulator does not go through known, and says what that is.
    pub fn note_inner(&mut self, body: &'a Body, scope: ScopeId) -> Vec<VarId> {
        let mut bound = Vec::new();
        for stm in &body.stms {
            for (position, param) in stm.pat.iter().enumerate() {
                let def = || Def::Stm { exp: &stm.exp, position, ty: &param.ty, scope, is_inner: true };
                self.defs.entry(param.var).or_insert_with(def);
                bound.push(param.var);
            }
        }
        bound
    }
}
