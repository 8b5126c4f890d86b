//! Brings a map and the operation that takes its results together, where one of them is inside of a branch or the function
//! of a `with_acc`.
//!
//! ```text
//! let (ys: [n]f64) = if c then                     let (s: f64) = if c then
//!     let (as: [n]f64) = map n (xs) f                  let (as: [n]f64) = map n (xs) f
//!     in (as)                                          let (s: f64) = reduce n (as) op (+) …
//!   else                                    ==>        in (s)
//!     let (bs: [n]f64) = map n (xs) g                else
//!     in (bs)                                          let (bs: [n]f64) = map n (xs) g
//! let (s: f64) = reduce n (ys) op (+) …                …
//!
//! let (ys: [n]f64) = map n (xs) f                  let (zs: [m]f64) = with_acc …
//! let (zs: [m]f64) = with_acc …              ==>     let (ys: [n]f64) = map n (xs) f
//!     map n (ys, acc) …                              map n (ys, acc) …
//! ```
//!
//! Both run once, as before. What is used elsewhere stays, and so does an operation that is too large to be there twice, or that
//! has folds inside: sums of products are to leave the maps around them, and cannot leave a branch or the function of a
//! `with_acc`.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Exp, Stm};
use dagaz_core::facts::count_uses;
use dagaz_core::machine;
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{bodies, count_stms, stms_inside};

use super::{Fuser, Seen, rows};

impl Fuser<'_> {
    /// Maps whose results only a `with_acc` needs go inside of it.
    pub(super) fn enter_accumulation(&mut self, stm: &mut Stm, seen: &mut Seen) {
        let is_plain = |first: &Stm| matches!(first.exp, Exp::Map { .. }) && !has_folds_inside(&first.exp);
        while let Some(position) = self.sole_producer(stm, seen, is_plain) {
            let Exp::WithAcc { lambda, .. } = &mut stm.exp else { return };
            lambda.body.stms.insert(0, seen.take(position));
            self.has_changed = true;
        }
    }

    /// An operation goes to the ends of the branches that make what it takes.
    pub(super) fn enter_branches(&mut self, stm: &mut Stm, seen: &mut Seen) -> bool {
        let is_branch = |first: &Stm| matches!(first.exp, Exp::If { .. });
        let Some(position) = self.sole_producer(stm, seen, is_branch) else { return false };
        if count_stms(stms_inside(&stm.exp)) > machine::SECOND_VERSION_STATEMENTS
            || has_folds_inside(&stm.exp)
        {
            return false;
        }
        let first = seen.take(position);
        let Exp::If { cond, then, otherwise } = first.exp else { return false };
        let result: Vec<Atom> = stm.pat.iter().map(|p| p.var.into()).collect();
        let mut with_end = |mut branch: Body| {
            let results = first.pat.iter().zip(branch.result);
            let names =
                results.map(|(p, value)| Stm { pat: vec![p.clone()], exp: Exp::Atom(value), loc: first.loc });
            branch.stms.extend(names);
            branch.stms.push(stm.clone());
            branch.result = result.clone();
            let branch = renamed(self.vars, &branch);
            // What was counted before stays so: variables that seem to be used more often are left alone.
            count_uses(&mut self.uses, &branch.stms, &branch.result);
            branch
        };
        let (then, otherwise) = (with_end(then), with_end(otherwise));
        stm.exp = Exp::If { cond, then, otherwise };
        self.has_changed = true;
        true
    }

    /// A statement of the given kind that makes rows for this one, and nothing that is used elsewhere.
    fn sole_producer(&self, stm: &Stm, seen: &Seen, is_kind: impl Fn(&Stm) -> bool) -> Option<usize> {
        let taken = rows_taken(&stm.exp);
        if taken.is_empty() {
            return None;
        }
        let mut here = HashMap::new();
        match &stm.exp {
            // The arrays that it accumulates into are read before its function runs.
            Exp::WithAcc { lambda, .. } => count_uses(&mut here, &lambda.body.stms, &lambda.body.result),
            _ => count_uses(&mut here, [stm], &[]),
        }
        taken.into_iter().find_map(|(array, width)| {
            let position = *seen.makers.get(&array)?;
            let first = &seen.stms[position];
            let is_only_here = |var: &VarId| here.get(var).is_some_and(|n| self.uses.get(var) == Some(n));
            let fits = is_kind(first)
                && makes_rows(first, array, width)
                && first.pat.iter().all(|p| is_only_here(&p.var))
                && self.can_move(position, stm, seen);
            fits.then_some(position)
        })
    }
}

/// The arrays whose rows an operation takes, or those inside of a `with_acc`, and how many rows.
fn rows_taken(exp: &Exp) -> Vec<(VarId, Atom)> {
    let of = |exp: &Exp| -> Vec<(VarId, Atom)> {
        rows(exp).into_iter().flat_map(|(width, arrays)| arrays.iter().map(move |a| (*a, width))).collect()
    };
    match exp {
        Exp::WithAcc { lambda, .. } => lambda.body.stms.iter().flat_map(|stm| of(&stm.exp)).collect(),
        exp => of(exp),
    }
}

/// Whether a map makes the array, or one in each branch.
fn makes_rows(stm: &Stm, array: VarId, width: Atom) -> bool {
    let Some(number) = stm.pat.iter().position(|p| p.var == array) else { return false };
    match &stm.exp {
        Exp::Map { width: own, .. } => *own == width,
        Exp::If { then, otherwise, .. } => [then, otherwise].into_iter().all(|branch| {
            let result = branch.result[number].as_var();
            let is_made = |stm: &Stm| stm.pat.iter().any(|p| Some(p.var) == result);
            let maker = branch.stms.iter().find(|stm| is_made(stm));
            maker.is_some_and(|stm| matches!(&stm.exp, Exp::Map { width: own, .. } if *own == width))
        }),
        _ => false,
    }
}

fn has_folds_inside(exp: &Exp) -> bool {
    bodies(exp).into_iter().flat_map(|body| &body.stms).any(|stm| {
        let is_fold = matches!(
            &stm.exp,
            Exp::Reduce { .. }
                | Exp::Scan { .. }
                | Exp::Hist { .. }
                | Exp::Scatter { .. }
                | Exp::Loop { .. }
                | Exp::WithAcc { .. }
                | Exp::Contract { .. }
        );
        is_fold || has_folds_inside(&stm.exp)
    })
}
