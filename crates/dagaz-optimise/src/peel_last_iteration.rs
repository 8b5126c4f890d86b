//! Leaves out of the last iteration of a loop what only an iteration after it would need.
//!
//! When a derivative computes states once more to keep them, nobody needs the state after the last one that is kept:
//!
//! ```text
//! let (x: t, kept: [n]t) =                                 let (x: t, before: [n]t) =
//!   loop (y: t = a, ks: [n]t = b) for i < n do               loop (y: t = a, ks: [n]t = b) for i < n - 1 do …
//!     let (later: [n]t) = ks with [i] = y            ==>   let (kept: [n]t) =
//!     let (z: t) = map … y …                                 if 0 < n then let (later: [n]t) = before with [n - 1] = x
//!     in (z, later)                                                        in (later)
//! … kept …                                                   else in (before)
//! ```
//!
//! Only where what the last iteration still has to do is next to nothing, and the rest of it is not, and cannot stop the
//! program. Expects arrays to be plain values.

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, LoopForm, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit::free_vars;

use crate::fuse::count_body;
use crate::walk::{Substitution, bodies, for_each_body, keep};
use dagaz_core::effects::Effects;

pub const PEEL_LAST_ITERATIONS: Pass = Pass::reporting(
    "peel-last-iterations",
    "The last iteration of a loop leaves out what only one after it would need.",
    peel_last_iterations,
);

pub fn peel_last_iterations(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let mut uses = HashMap::new();
    program.funs.iter().for_each(|fun| count_body(&fun.body, &mut uses));
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = Peeler { b, effects, uses, has_changed: false };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
    pass.has_changed
}

struct Peeler {
    b: Builder,
    effects: Effects,
    uses: HashMap<VarId, usize>,
    has_changed: bool,
}

impl Peeler {
    fn body(&mut self, body: &mut Body) {
        for mut stm in std::mem::take(&mut body.stms) {
            for_each_body(&mut stm.exp, &mut |_, _, body| self.body(body));
            self.b.push_scope();
            let is_shorter = self.shorten(&stm).is_some();
            let new = self.b.pop_scope();
            self.has_changed |= is_shorter;
            match is_shorter {
                true => body.stms.extend(new),
                false => body.stms.push(stm),
            }
        }
    }

    fn shorten(&mut self, stm: &Stm) -> Option<()> {
        let Exp::Loop { form: LoopForm::For { var, ty: PrimType::I64, bound }, body, .. } = &stm.exp else {
            return None;
        };
        let is_used: Vec<bool> = stm.pat.iter().map(|p| self.uses.contains_key(&p.var)).collect();
        if is_used.iter().all(|used| *used) || has_own_sizes(&stm.pat) {
            return None;
        }
        let mut results = body.result.clone();
        keep(&mut results, &is_used);
        let last = self.little(body, &results)?;
        let (var, bound, loc) = (*var, *bound, stm.loc);
        let one = Atom::i64(1);
        let at_least_one = self.b.binop(BinOp::Max, PrimType::I64, bound, one, loc);
        let before_last = self.b.sub(PrimType::I64, at_least_one, one, loc);
        let mut shorter = stm.clone();
        let mut names = Substitution::default();
        let Exp::Loop { form: LoopForm::For { bound, .. }, params, .. } = &mut shorter.exp else {
            return None;
        };
        *bound = before_last;
        for (param, (inside, _)) in shorter.pat.iter_mut().zip(params) {
            let hint = self.b.vars.hint(param.var).to_owned();
            param.var = self.b.fresh(&hint);
            names.insert(inside.var, param.var.into());
        }
        names.insert(var, before_last);
        let mut otherwise: Vec<Atom> = shorter.pat.iter().map(|p| p.var.into()).collect();
        keep(&mut otherwise, &is_used);
        self.b.push(shorter);
        let stms = names.copies(&mut self.b.vars, &last);
        let then = Body { stms, result: results.into_iter().map(|a| names.of(a)).collect() };
        let otherwise = Body { stms: Vec::new(), result: otherwise };
        let cond = self.b.lt(PrimType::I64, Atom::i64(0), stm_bound(stm)?, loc);
        let mut pat = stm.pat.clone();
        keep(&mut pat, &is_used);
        self.b.push(Stm { pat, exp: Exp::If { cond, then, otherwise }, loc });
        Some(())
    }

    /// The statements that the results need, if these are no operations on arrays, and others are.
    fn little(&self, body: &Body, results: &[Atom]) -> Option<Vec<Stm>> {
        let mut needed: HashSet<VarId> = results.iter().filter_map(|a| a.as_var()).collect();
        let (mut little, mut saves) = (Vec::new(), false);
        for stm in body.stms.iter().rev() {
            if !stm.pat.iter().any(|p| needed.contains(&p.var)) {
                saves |= matches!(stm.exp, Exp::Map { .. } | Exp::Loop { .. } | Exp::Contract { .. });
                if !self.effects.is_removable(stm) {
                    return None;
                }
                continue;
            }
            if !bodies(&stm.exp).is_empty() || !is_little(&stm.exp) {
                return None;
            }
            needed.extend(free_vars(&stm.exp));
            little.push(stm.clone());
        }
        little.reverse();
        saves.then_some(little)
    }
}

fn stm_bound(stm: &Stm) -> Option<Atom> {
    match &stm.exp {
        Exp::Loop { form: LoopForm::For { bound, .. }, .. } => Some(*bound),
        _ => None,
    }
}

/// Whether sizes of results are results, too.
pub(crate) fn has_own_sizes(pat: &[Param]) -> bool {
    let names: HashSet<Atom> = pat.iter().map(|p| p.var.into()).collect();
    pat.iter().any(|p| p.ty.is_acc() || p.ty.all_dims().iter().any(|dim| names.contains(dim)))
}

fn is_little(exp: &Exp) -> bool {
    let is_scalar = matches!(
        exp,
        Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..)
    );
    let is_view = matches!(exp, Exp::Slice { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. });
    is_scalar || is_view || matches!(exp, Exp::Index { .. } | Exp::Update { .. })
}
