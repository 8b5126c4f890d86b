//! Copies arrays that are consumed although they, or others that share their elements, are used again.
//!
//! ```text
//! let (zs: [n]f32) = ys with [0] = 1     ==>     let (ys': [n]f32) = copy ys
//! in (ys, zs)                                    let (zs: [n]f32) = ys' with [0] = 1
//!                                                in (ys, zs)
//! ```
//!
//! The source never does that, but values that are separate there may share a variable in Core, such as `xs` and
//! the first component of `zip xs ys`; and constants are shared by everybody.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Program, Stm, Vars};
use dagaz_core::pass::{Leaves, Pass};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::{bodies, bodies_mut, direct_operands, free_vars, free_vars_body};

use crate::sharing::Sharing;

pub const INSERT_COPIES: Pass = Pass::always(
    "insert-copies",
    "What is consumed although it is used again is copied first.",
    insert_copies,
)
.before_derivatives()
.leaving(Leaves::Consumed);

pub fn insert_copies(program: &mut Program) {
    let sharing = Sharing::of(program);
    let consts: Vec<Atom> =
        program.consts.iter().flat_map(|stm| stm.pat.iter().map(|p| Atom::Var(p.var))).collect();
    let kept = kept_params(program);
    let mut copier = Copier { sharing, live: Live::default(), vars: &mut program.vars };
    for (fun, kept) in program.funs.iter_mut().zip(kept) {
        copier.live = Live::default();
        consts.iter().chain(&kept).for_each(|atom| copier.use_atom(*atom));
        copier.body(&mut fun.body);
    }
    copier.live = Live::default();
    consts.iter().for_each(|constant| copier.use_atom(*constant));
    let mut body = Body { stms: std::mem::take(&mut program.consts), result: Vec::new() };
    copier.body(&mut body);
    program.consts = body.stms;
}

/// For each function, the parameters that it must leave as they are, because the user keeps the argument.
fn kept_params(program: &Program) -> Vec<Vec<Atom>> {
    let mut kept = vec![Vec::new(); program.funs.len()];
    for entry in &program.entries {
        let Some(fun) = program.fun(entry.fun) else { continue };
        let mut params = fun.params.iter().skip(entry.size_params);
        for param in &entry.params {
            let own = params.by_ref().take(param.ty.arity());
            if param.unique {
                own.for_each(drop);
            } else {
                kept[entry.fun.0 as usize].extend(own.map(|p| Atom::Var(p.var)));
            }
        }
    }
    kept
}

/// The arrays that are used later, with a log so that uses of a nested body can be taken back.
#[derive(Default)]
struct Live {
    set: HashSet<VarId>,
    /// How many of them may share each root.
    roots: HashMap<VarId, usize>,
    log: Vec<VarId>,
}

impl Live {
    fn insert(&mut self, var: VarId, sharing: &Sharing) {
        if self.set.insert(var) {
            sharing.roots(var.into()).for_each(|root| *self.roots.entry(root).or_default() += 1);
            self.log.push(var);
        }
    }

    fn remove(&mut self, var: VarId, sharing: &Sharing) -> bool {
        let was_there = self.set.remove(&var);
        if was_there {
            for root in sharing.roots(var.into()) {
                if let Some(count) = self.roots.get_mut(&root) {
                    *count -= 1;
                }
            }
        }
        was_there
    }

    fn shares(&self, root: VarId) -> bool {
        self.roots.get(&root).is_some_and(|count| *count > 0)
    }

    fn roll_back(&mut self, mark: usize, sharing: &Sharing) -> Vec<VarId> {
        let mut added = self.log.split_off(mark);
        added.retain(|var| self.remove(*var, sharing));
        added
    }
}

struct Copier<'a> {
    sharing: Sharing,
    /// What is used after the current statement.
    live: Live,
    vars: &'a mut Vars,
}

impl Copier<'_> {
    /// From the last statement to the first.
    fn body(&mut self, body: &mut Body) {
        body.result.iter().for_each(|atom| self.use_atom(*atom));
        let mut result = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms).into_iter().rev() {
            let copies = self.statement(&mut stm);
            result.push(stm);
            result.extend(copies);
        }
        result.reverse();
        body.stms = result;
    }

    fn use_atom(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            self.live.insert(var, &self.sharing);
        }
    }

    /// The copies that a statement needs before it.
    fn statement(&mut self, stm: &mut Stm) -> Vec<Stm> {
        // What is bound here is not used before; it may share elements with what goes into it.
        for param in &stm.pat {
            self.live.remove(param.var, &self.sharing);
        }
        let mark = self.live.log.len();
        self.inner_bodies(&mut stm.exp);
        // A loop or branch has used what is inside it when it consumes its operands, except for repetitions.
        let inner = self.live.roll_back(mark, &self.sharing);
        let mut copies = Vec::new();
        for atom in self.sharing.consumed_operands(&stm.exp) {
            let Atom::Var(var) = atom else { continue };
            if !self.is_needed_again(&stm.exp, atom, &inner) {
                continue;
            }
            let Some(ty) = self.sharing.types.get(&var).cloned() else { continue };
            let copy = self.vars.fresh("copy");
            copies.push(Stm { pat: vec![Param { var: copy, ty }], exp: Exp::Copy(var), loc: stm.loc });
            replace_consumed(&self.sharing, &mut stm.exp, var, copy);
        }
        inner.into_iter().for_each(|var| self.live.insert(var, &self.sharing));
        direct_operands(&stm.exp, &mut |atom| self.use_atom(atom));
        copies.iter().for_each(|stm| direct_operands(&stm.exp, &mut |atom| self.use_atom(atom)));
        copies
    }

    /// Whether something that shares elements with a consumed operand is used later, inside, or beside it.
    fn is_needed_again(&self, exp: &Exp, atom: Atom, inner: &[VarId]) -> bool {
        let roots: Vec<VarId> = self.sharing.roots(atom).collect();
        if roots.iter().any(|root| self.live.shares(*root)) {
            return true;
        }
        if inner.iter().any(|var| self.sharing.roots((*var).into()).any(|root| roots.contains(&root))) {
            return true;
        }
        let mut sharing_operands = 0;
        direct_operands(exp, &mut |operand| {
            if self.sharing.roots(operand).any(|root| roots.contains(&root)) {
                sharing_operands += 1;
            }
        });
        sharing_operands > 1
    }

    fn inner_bodies(&mut self, exp: &mut Exp) {
        if let Exp::If { then, otherwise, .. } = exp {
            let mark = self.live.log.len();
            self.body(then);
            let used_by_then = self.live.roll_back(mark, &self.sharing);
            self.body(otherwise);
            used_by_then.into_iter().for_each(|var| self.live.insert(var, &self.sharing));
            return;
        }
        let mut has_bodies = false;
        bodies_mut(exp).into_iter().for_each(|_| has_bodies = true);
        if !has_bodies {
            return;
        }
        // A body that is run again uses again what it has from outside.
        if !matches!(exp, Exp::WithAcc { .. }) {
            let inside: HashSet<VarId> = bodies(exp).into_iter().flat_map(free_vars_body).collect();
            for var in free_vars(exp).into_iter().filter(|var| inside.contains(var)) {
                self.use_atom(var.into());
            }
        }
        // The condition of a loop is looked at before its body, and so after it.
        bodies_mut(exp).into_iter().rev().for_each(|body| self.body(body));
    }
}

/// The consumed operand `from` becomes `to`.
fn replace_consumed(sharing: &Sharing, exp: &mut Exp, from: VarId, to: VarId) {
    let replace = |var: &mut VarId| {
        if *var == from {
            *var = to;
        }
    };
    match exp {
        Exp::Update { array, .. } | Exp::Contract { plus: Some(array), .. } => replace(array),
        Exp::Hist { dests, arrays, .. } | Exp::Scatter { dests, arrays, .. } => {
            dests.iter_mut().chain(arrays).for_each(replace);
        }
        Exp::Reduce { arrays, .. } | Exp::Scan { arrays, .. } => arrays.iter_mut().for_each(replace),
        Exp::WithAcc { inputs, .. } => {
            inputs.iter_mut().flat_map(|input| &mut input.arrays).for_each(replace)
        }
        Exp::Map { arrays, .. } => arrays.iter_mut().for_each(replace),
        // Only one of several equal operands: the next one gets a copy of its own.
        Exp::Loop { params, .. } => {
            let wanted = |(p, init): &&mut (Param, Atom)| sharing.is_consumed(p) && *init == Atom::Var(from);
            if let Some((_, init)) = params.iter_mut().find(wanted) {
                *init = to.into();
            }
        }
        Exp::Call { fun, args } => {
            let consumes = sharing.effects(*fun).consumes;
            let wanted = |(i, arg): &(usize, &mut Atom)| consumes.contains(i) && **arg == Atom::Var(from);
            if let Some((_, arg)) = args.iter_mut().enumerate().find(wanted) {
                *arg = to.into();
            }
        }
        _ => {}
    }
}
