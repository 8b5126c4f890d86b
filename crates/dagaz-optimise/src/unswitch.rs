//! Moves branches around maps when they are the same for all elements.
//!
//! ```text
//! let (ys: [n]f64) =                            let (c: bool) = i64.eq k 0
//!   map n (as, bs) \(a: f64, b: f64) ->         let (ys: [n]f64) =
//!     let (c: bool) = i64.eq k 0                  if c then
//!     let (y: f64) =                                let (zs: [n]f64) =
//!       if c then                        ==>          map n (as) \(a: f64) -> … a …
//!         … a …                                     in (zs)
//!       else                                      else
//!         … b …                                     let (zs: [n]f64) =
//!     in (y)                                          map n (bs) \(b: f64) -> … b …
//!                                                   in (zs)
//! ```
//!
//! The derivative of reading the parts of an array by constant indices asks at every element which part it belongs to; this has
//! it asked once for a whole row. Only where the branch is all that the map does, so that no code is written twice. What is
//! before the branch, and the same for all elements, goes before the map. Other maps are not fused with these afterwards.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, Lambda, Loc, Program, Stm, Vars};
use dagaz_core::pass::Pass;
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, VarId};

use dagaz_core::effects::cannot_fail;
use dagaz_core::visit::{free_vars, free_vars_body, replace_stms};

pub const UNSWITCH_MAPS: Pass = Pass::reporting(
    "unswitch-maps",
    "Branches that are the same for all elements of a map go around it.",
    unswitch_maps,
);

pub fn unswitch_maps(program: &mut Program) -> bool {
    let mut pass = Unswitcher { vars: std::mem::take(&mut program.vars), has_changed: false };
    replace_stms(&mut program.funs, &mut |stm, out| pass.stm(stm, out));
    program.vars = pass.vars;
    pass.has_changed
}

struct Unswitcher {
    vars: Vars,
    has_changed: bool,
}

/// The map of a statement, taken apart.
struct Branching {
    width: Atom,
    arrays: Vec<VarId>,
    lambda: Lambda,
    /// Which results of the branch are those of the map.
    positions: Vec<usize>,
}

impl Unswitcher {
    /// From the inside out: a branch that left one map may leave the next.
    fn stm(&mut self, stm: Stm, out: &mut Vec<Stm>) {
        let Some(positions) = branching(&stm) else {
            out.push(stm);
            return;
        };
        let Stm { pat, exp: Exp::Map { width, arrays, mut lambda }, loc } = stm else { return };
        self.has_changed = true;
        let last = lambda.body.stms.pop();
        out.append(&mut lambda.body.stms);
        let Some(Exp::If { cond, then, otherwise }) = last.map(|stm| stm.exp) else { return };
        let map = Branching { width, arrays, lambda, positions };
        let then = self.branch(&map, then, &pat, loc);
        let otherwise = self.branch(&map, otherwise, &pat, loc);
        let otherwise = renamed(&mut self.vars, &otherwise);
        out.push(Stm { pat, exp: Exp::If { cond, then, otherwise }, loc });
    }

    /// The map of one branch, over what that needs.
    fn branch(&mut self, map: &Branching, mut body: Body, pat: &[Param], loc: Loc) -> Body {
        body.result = map.positions.iter().map(|position| body.result[*position]).collect();
        let needed = free_vars_body(&body);
        let (arrays, params) = map
            .arrays
            .iter()
            .zip(&map.lambda.params)
            .filter(|(_, param)| needed.contains(&param.var))
            .map(|(array, param)| (*array, param.clone()))
            .unzip();
        let lambda = Lambda { params, body, ret: map.lambda.ret.clone() };
        let rename = |param: &Param| {
            let hint = self.vars.hint(param.var).to_owned();
            Param::new(self.vars.fresh(&hint), param.ty.clone())
        };
        let pat: Vec<Param> = pat.iter().map(rename).collect();
        let result = pat.iter().map(|param| param.var.into()).collect();
        let mut stms = Vec::new();
        self.stm(Stm { pat, exp: Exp::Map { width: map.width, arrays, lambda }, loc }, &mut stms);
        Body { stms, result }
    }
}

/// Whether a map does nothing but branch, the same way for all elements: which results of the branch are those of the map.
fn branching(stm: &Stm) -> Option<Vec<usize>> {
    let Exp::Map { lambda, .. } = &stm.exp else { return None };
    let (last, before) = lambda.body.stms.split_last()?;
    let Exp::If { cond, .. } = &last.exp else { return None };
    let mut own: HashSet<VarId> = lambda.params.iter().map(|param| param.var).collect();
    let is_same = |own: &HashSet<VarId>, stm: &Stm| {
        cannot_fail(&stm.exp) && free_vars(&stm.exp).iter().all(|var| !own.contains(var))
    };
    if !before.iter().all(|stm| is_same(&own, stm)) || cond.as_var().is_some_and(|var| own.contains(&var)) {
        return None;
    }
    // Sizes of results that only the branch knows.
    own.extend(last.pat.iter().map(|param| param.var));
    let sizes = stm.pat.iter().chain(&last.pat).flat_map(|param| param.ty.all_dims());
    let has_own_sizes = sizes.filter_map(Atom::as_var).any(|size| own.contains(&size));
    let has_accumulators = stm.pat.iter().any(|param| param.ty.is_acc());
    let position = |result: &Atom| last.pat.iter().position(|param| *result == Atom::Var(param.var));
    let positions = lambda.body.result.iter().map(position).collect::<Option<Vec<usize>>>()?;
    (!has_own_sizes && !has_accumulators && !positions.is_empty()).then_some(positions)
}
