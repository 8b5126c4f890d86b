//! Moves statements that are the same in every iteration out of maps and loops.
//!
//! ```text
//! let (ys: [n]f64) =                            let (a: f64) = f64.sin x
//!   map n (xs) \(y: f64) : (f64) ->             let (ys: [n]f64) =
//!     let (a: f64) = f64.sin x           ==>      map n (xs) \(y: f64) : (f64) ->
//!     let (b: f64) = f64.mul a y                    let (b: f64) = f64.mul a y
//!     in (b)                                        in (b)
//! ```
//!
//! Only what cannot fail is moved, since the body may never run: scalar operations, `iota`s of sizes that arrays outside
//! have, views, and the folds of [`crate::speculatable`]. Reads stay, for their index may be in bounds only where they are, unless it
//! is a constant below a constant size. What has nothing to do with the accumulators of a `with_acc` moves out of it, checks
//! included: its body runs once, and other passes then see the values. Nothing gets in front of a check that it may rely on.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, LoopForm, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::speculatable::Anywhere;
use dagaz_core::effects::{cannot_fail, only_gives_values, relies_on_checks};
use dagaz_core::visit::{direct_operands, free_vars, lambdas_mut};

pub const HOIST_INVARIANTS: Pass = Pass::always(
    "hoist-invariants",
    "Statements that are the same in every iteration move out of maps and loops.",
    hoist_invariants,
);

pub fn hoist_invariants(program: &mut Program) {
    hoist(program, Hoister::default());
}

pub const HOIST_INDICES: Pass = Pass::always(
    "hoist-indices",
    "Indices and conditions that are the same in every iteration move out of maps and loops.",
    hoist_indices,
)
.before_derivatives();

/// Moves only numbers that have no derivatives: indices and conditions.
pub fn hoist_indices(program: &mut Program) {
    hoist(program, Hoister { only_indices: true, ..Hoister::default() });
}

fn hoist(program: &mut Program, mut hoister: Hoister) {
    for stm in &program.consts {
        hoister.bind(&stm.pat);
        hoister.anywhere.define(stm);
    }
    for fun in &mut program.funs {
        let mark = hoister.log.len();
        hoister.bind(&fun.params);
        hoister.stms(&mut fun.body.stms);
        hoister.leave(mark);
    }
}

#[derive(Default)]
struct Hoister {
    /// What is bound in the current scope and around it: the depth of the scope.
    bound: HashSet<VarId>,
    /// Sizes of arrays that exist.
    sizes: HashSet<VarId>,
    /// What was added, with whether it was bound or a size.
    log: Vec<(VarId, bool)>,
    anywhere: Anywhere,
    only_indices: bool,
}

impl Hoister {
    fn bind<'a>(&mut self, params: impl IntoIterator<Item = &'a Param>) {
        for param in params {
            self.bind_var(param.var);
            self.anywhere.bind(param);
            self.exists(&param.ty);
        }
    }

    fn bind_var(&mut self, var: VarId) {
        if self.bound.insert(var) {
            self.log.push((var, true));
        }
    }

    fn exists(&mut self, ty: &Type) {
        for var in ty.all_dims().into_iter().filter_map(Atom::as_var) {
            if self.sizes.insert(var) {
                self.log.push((var, false));
            }
        }
    }

    fn leave(&mut self, mark: usize) {
        for (var, is_bound) in self.log.drain(mark..) {
            if is_bound {
                self.bound.remove(&var)
            } else {
                self.sizes.remove(&var)
            };
        }
    }

    fn stms(&mut self, stms: &mut Vec<Stm>) {
        let mut all = Vec::with_capacity(stms.len());
        for mut stm in std::mem::take(stms) {
            for hoisted in self.inside(&mut stm.exp) {
                self.bind(&hoisted.pat);
                all.push(hoisted);
            }
            self.bind(&stm.pat);
            self.anywhere.define(&stm);
            all.push(stm);
        }
        *stms = all;
    }

    /// Looks into the bodies of an expression, and gives the statements that may go before it.
    fn inside(&mut self, exp: &mut Exp) -> Vec<Stm> {
        let mut hoisted = Vec::new();
        match exp {
            Exp::If { then, otherwise, .. } => {
                for body in [then, otherwise] {
                    let mark = self.log.len();
                    self.stms(&mut body.stms);
                    self.leave(mark);
                }
            }
            Exp::Loop { params, form, body, .. } => {
                let params: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
                let counter = match form {
                    LoopForm::For { var, .. } => Some(*var),
                    LoopForm::While { cond } => {
                        hoisted.extend(self.iterated(&params, None, cond));
                        None
                    }
                };
                self.bind(hoisted.iter().flat_map(|stm: &Stm| &stm.pat));
                hoisted.extend(self.iterated(&params, counter, body));
            }
            Exp::WithAcc { lambda, .. } if !self.only_indices => {
                let mark = self.log.len();
                self.bind(&lambda.params);
                self.stms(&mut lambda.body.stms);
                self.leave(mark);
                let mark = self.log.len();
                let mut all_values = true;
                for stm in std::mem::take(&mut lambda.body.stms) {
                    let may_move = all_values || self.gives_values(&stm) && !relies_on_checks(&stm);
                    if may_move && self.is_known_outside(&stm) {
                        self.bind(&stm.pat);
                        hoisted.push(stm);
                    } else {
                        all_values &= self.gives_values(&stm);
                        lambda.body.stms.push(stm);
                    }
                }
                self.leave(mark);
            }
            _ => {
                if let Exp::Map { width, arrays, lambda } = &*exp {
                    self.anywhere.enter(*width, arrays, lambda);
                }
                for lambda in lambdas_mut(exp) {
                    let params = lambda.params.clone();
                    let more = self.iterated(&params, None, &mut lambda.body);
                    self.bind(more.iter().flat_map(|stm| &stm.pat));
                    hoisted.extend(more);
                }
            }
        }
        hoisted
    }

    /// The statements of a body that do not depend on the iteration, taken out of it.
    fn iterated(&mut self, params: &[Param], counter: Option<VarId>, body: &mut Body) -> Vec<Stm> {
        let mark = self.log.len();
        self.bind(params);
        counter.into_iter().for_each(|var| self.bind_var(var));
        self.stms(&mut body.stms);
        self.leave(mark);
        let mut hoisted = Vec::new();
        let mark = self.log.len();
        for stm in std::mem::take(&mut body.stms) {
            if self.is_invariant(&stm) {
                self.bind(&stm.pat);
                hoisted.push(stm);
            } else {
                body.stms.push(stm);
            }
        }
        self.leave(mark);
        hoisted
    }

    /// Whether all that a statement needs is bound in the current scope, sizes of its results included.
    fn is_known_outside(&self, stm: &Stm) -> bool {
        let sizes = stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var);
        let own = |var: &VarId| stm.pat.iter().any(|p| p.var == *var);
        free_vars(&stm.exp).into_iter().chain(sizes).all(|var| own(&var) || self.bound.contains(&var))
    }

    fn is_invariant(&mut self, stm: &Stm) -> bool {
        let has_derivative = |p: &Param| !matches!(p.ty, Type::Prim(prim) if !prim.is_float());
        if self.only_indices && stm.pat.iter().any(has_derivative) {
            return false;
        }
        let is_safe = match &stm.exp {
            Exp::BinOp(..) | Exp::UnOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
                cannot_fail(&stm.exp)
            }
            Exp::Rearrange { .. } => true,
            Exp::Iota { n, .. } => self.is_size(*n),
            Exp::Index { .. } => self.anywhere.is_read_of_existing(&stm.exp),
            Exp::Atom(_) | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) => false,
            // It may be consumed where it is, and would then have to be copied.
            Exp::Replicate { .. } => false,
            Exp::Contract { .. } => false,
            Exp::Reshape { .. } | Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => false,
            Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Assert { .. } => false,
            Exp::Map { .. } | Exp::Reduce { .. } => {
                free_vars(&stm.exp).iter().all(|v| self.bound.contains(v)) && self.anywhere.is_fold(&stm.exp)
            }
            Exp::Trace { .. } | Exp::Scan { .. } => false,
            Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => false,
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => false,
            Exp::Transpose { .. } | Exp::Detach(_) => false,
        };
        let mut is_known = is_safe;
        let mut see = |a: Atom| is_known &= a.as_var().is_none_or(|v| self.bound.contains(&v));
        direct_operands(&stm.exp, &mut see);
        stm.pat.iter().flat_map(|p| p.ty.all_dims()).for_each(see);
        is_known
    }

    /// Whether a statement gives its values and does nothing else in the current scope, whose arrays say which sizes are known
    /// not to be negative.
    fn gives_values(&self, stm: &Stm) -> bool {
        match &stm.exp {
            Exp::Iota { n, .. } => self.is_size(*n),
            Exp::Replicate { dims, .. } => dims.iter().all(|size| self.is_size(*size)),
            _ => only_gives_values(stm),
        }
    }

    fn is_size(&self, size: Atom) -> bool {
        match size {
            Atom::Var(var) => self.sizes.contains(&var),
            Atom::Const(c) => c.as_i64() >= Some(0),
        }
    }
}
