//! Which arrays may share elements, and which are consumed: what [`crate::copies`] decides by.
//!
//! The *roots* of an array are itself and all arrays whose elements it may share, because it is a view of them or
//! one of several results of a branch, loop or call. Consuming an array consumes its roots.

use std::collections::{BTreeSet, HashMap, HashSet};

use dagaz_core::effects::viewed;
use dagaz_core::exp::{Body, Exp, Fun, Lambda, LoopForm, Program, Stm};
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

/// What a call does to its arguments.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Effects {
    /// Positions of parameters that the function consumes.
    pub consumes: BTreeSet<usize>,
    /// Per result, the positions of parameters that it may share elements with.
    pub shares: Vec<BTreeSet<usize>>,
}

#[derive(Default)]
pub(crate) struct Sharing {
    roots: HashMap<VarId, BTreeSet<VarId>>,
    pub types: HashMap<VarId, Type>,
    pub consumed: HashSet<VarId>,
    pub effects: Vec<Effects>,
}

impl Sharing {
    pub fn of(program: &Program) -> Sharing {
        let mut effects = vec![Effects::default(); program.funs.len()];
        // Effects depend on those of other functions and only grow.
        loop {
            let mut sharing = Sharing { effects, ..Sharing::default() };
            sharing.stms(&program.consts);
            let found: Vec<Effects> = program.funs.iter().map(|fun| sharing.fun(fun)).collect();
            if found == sharing.effects {
                return sharing;
            }
            effects = found;
        }
    }

    /// Empty for everything but arrays.
    pub fn roots(&self, atom: Atom) -> impl Iterator<Item = VarId> + '_ {
        let roots = match atom {
            Atom::Var(var) => self.roots.get(&var),
            Atom::Const(_) => None,
        };
        roots.into_iter().flatten().copied()
    }

    pub fn effects(&self, fun: FunId) -> Effects {
        self.effects.get(fun.0 as usize).cloned().unwrap_or_default()
    }

    pub fn is_consumed(&self, param: &Param) -> bool {
        self.consumed.contains(&param.var)
    }

    fn fun(&mut self, fun: &Fun) -> Effects {
        fun.params.iter().for_each(|p| self.bind(p, []));
        self.body(&fun.body);
        let consumes = (0..fun.params.len()).filter(|i| self.is_consumed(&fun.params[*i])).collect();
        let shared = |atom: &Atom| {
            let roots: Vec<VarId> = self.roots(*atom).collect();
            (0..fun.params.len()).filter(|i| roots.contains(&fun.params[*i].var)).collect()
        };
        Effects { consumes, shares: fun.body.result.iter().map(shared).collect() }
    }

    fn bind(&mut self, param: &Param, shared: impl IntoIterator<Item = VarId>) {
        self.types.insert(param.var, param.ty.clone());
        if matches!(param.ty, Type::Array { .. }) {
            let roots = self.roots.entry(param.var).or_default();
            roots.insert(param.var);
            roots.extend(shared);
        }
    }

    fn consume(&mut self, atom: Atom) {
        let roots: Vec<VarId> = self.roots(atom).collect();
        self.consumed.extend(roots);
    }

    fn body(&mut self, body: &Body) {
        self.stms(&body.stms);
    }

    fn stms(&mut self, stms: &[Stm]) {
        stms.iter().for_each(|stm| self.stm(stm));
    }

    /// Everything that an atom or another may share.
    fn all_roots(&self, atoms: &[Atom]) -> Vec<VarId> {
        atoms.iter().flat_map(|atom| self.roots(*atom)).collect()
    }

    fn stm(&mut self, stm: &Stm) {
        self.inner(&stm.exp);
        for atom in self.consumed_operands(&stm.exp) {
            self.consume(atom);
        }
        for (i, param) in stm.pat.iter().enumerate() {
            let shared = match &stm.exp {
                Exp::Trace { values, .. } => self.all_roots(values),
                Exp::If { then, otherwise, .. } => self.all_roots(&[then.result[i], otherwise.result[i]]),
                Exp::Loop { params, body, .. } => {
                    let (own, init) = &params[i];
                    let mut shared = self.all_roots(&[body.result[i]]);
                    if !self.is_consumed(own) {
                        shared.extend(self.roots(*init));
                    }
                    shared
                }
                Exp::Call { fun, args } => {
                    let effects = self.effects(*fun);
                    let shares = effects.shares.get(i).cloned().unwrap_or_default();
                    shares.iter().filter_map(|p| args.get(*p)).flat_map(|arg| self.roots(*arg)).collect()
                }
                exp => viewed(exp).into_iter().flat_map(|array| self.roots(array.into())).collect(),
            };
            self.bind(param, shared);
        }
    }

    fn inner(&mut self, exp: &Exp) {
        match exp {
            Exp::If { then, otherwise, .. } => {
                self.body(then);
                self.body(otherwise);
            }
            Exp::Loop { params, form, body, .. } => {
                params.iter().for_each(|(p, _)| self.bind(p, []));
                if let LoopForm::While { cond } = form {
                    self.body(cond);
                }
                self.body(body);
            }
            _ => dagaz_core::visit::lambdas(exp).into_iter().for_each(|lambda| self.lambda(lambda)),
        }
    }

    fn lambda(&mut self, lambda: &Lambda) {
        lambda.params.iter().for_each(|p| self.bind(p, []));
        self.body(&lambda.body);
    }

    /// The arrays that an expression consumes, once what is inside it was looked at.
    pub fn consumed_operands(&self, exp: &Exp) -> Vec<Atom> {
        let rows = |arrays: &[VarId], lambda: &Lambda| -> Vec<Atom> {
            let pairs = arrays.iter().zip(&lambda.params);
            pairs.filter(|(_, p)| self.is_consumed(p)).map(|(array, _)| (*array).into()).collect()
        };
        match exp {
            Exp::Update { array, .. } | Exp::Contract { plus: Some(array), .. } => vec![(*array).into()],
            Exp::Hist { dests, arrays, pre, .. } | Exp::Scatter { dests, arrays, pre, .. } => {
                let fused = pre.iter().flat_map(|lambda| rows(arrays, lambda));
                dests.iter().map(|d| (*d).into()).chain(fused).collect()
            }
            Exp::Reduce { arrays, pre, .. } | Exp::Scan { arrays, pre, .. } => {
                pre.iter().flat_map(|lambda| rows(arrays, lambda)).collect()
            }
            Exp::WithAcc { inputs, .. } => {
                inputs.iter().flat_map(|input| &input.arrays).map(|array| (*array).into()).collect()
            }
            Exp::Map { arrays, lambda, .. } => rows(arrays, lambda),
            Exp::Loop { params, .. } => {
                params.iter().filter(|(p, _)| self.is_consumed(p)).map(|(_, init)| *init).collect()
            }
            Exp::Call { fun, args } => {
                self.effects(*fun).consumes.iter().filter_map(|i| args.get(*i)).copied().collect()
            }
            Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) => Vec::new(),
            Exp::Convert(..) | Exp::Index { .. } | Exp::Slice { .. } | Exp::Copy(_) => Vec::new(),
            Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => {
                Vec::new()
            }
            Exp::Concat { .. } | Exp::Contract { plus: None, .. } | Exp::Scratch { .. } => Vec::new(),
            Exp::ArrayLit { .. } | Exp::If { .. } | Exp::Assert { .. } | Exp::Trace { .. } => Vec::new(),
            Exp::UpdateAcc { .. } | Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => Vec::new(),
            Exp::Transpose { .. } | Exp::Detach(_) => Vec::new(),
        }
    }
}
