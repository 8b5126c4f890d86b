//! Reverse mode of branches (thesis, section 3.3.1): the branch that was taken is run again, and gives the adjoints
//! of all variables that either branch reads.
//!
//!     y = if c then x * x else z     ==>     (x_adj, z_adj) = if c then (2 * x * ct, 0) else (0, ct)
//!
//! Numbers that take longer to compute than to keep are further results, so that they are not computed again:
//!
//!     y = if c then let e = exp x in e * z else 0
//!       ==>     (y, kept) = if c then let e = exp x in (e * z, e) else (0, 0)
//!               (x_adj, z_adj) = if c then let e = kept in (e * z * ct, e * ct) else (0, 0)
//!
//! So branches inside of branches run twice, however deep they are, and not once more for each branch around them.

use std::borrow::Cow;
use std::collections::HashMap;

use dagaz_core::cost::{Cost, scalar_cost};
use dagaz_core::exp::{Body, Exp, Loc, Stm};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_body;

use crate::context::{Ad, Res};
use crate::prune::SavedResult;
use crate::rename::Renamer;

impl Ad<'_> {
    /// The body, in which branches also give the numbers that are better kept.
    pub fn with_kept_numbers<'b>(&mut self, body: &'b Body) -> Cow<'b, Body> {
        let is_branch = |stm: &Stm| {
            let active = stm.pat.iter().any(|p| self.is_active_var(p.var));
            // One that only updates arrays may never run forwards.
            active && stm.pat.iter().any(|p| matches!(p.ty, Type::Prim(_))) && takes_long(&stm.exp)
        };
        if !body.stms.iter().any(|stm| matches!(stm.exp, Exp::If { .. }) && is_branch(stm)) {
            return Cow::Borrowed(body);
        }
        let keep: Vec<bool> = body.stms.iter().map(is_branch).collect();
        let stms = body.stms.iter().zip(keep);
        let stms = stms.map(|(stm, keep)| if keep { self.keeping_numbers(stm) } else { stm.clone() });
        Cow::Owned(Body { stms: stms.collect(), result: body.result.clone() })
    }

    fn keeping_numbers(&mut self, stm: &Stm) -> Stm {
        let Exp::If { cond, then, otherwise } = &stm.exp else { return stm.clone() };
        let mut then = self.with_kept_numbers(then).into_owned();
        let mut otherwise = self.with_kept_numbers(otherwise).into_owned();
        let mut pat = stm.pat.clone();
        let mut others = numbers_to_keep(&otherwise);
        let mut kept: Vec<(PrimType, Atom, Atom)> = Vec::new();
        for (ty, number) in numbers_to_keep(&then) {
            let partner = others.iter().position(|(other, _)| *other == ty).map(|k| others.remove(k).1);
            kept.push((ty, number, partner.unwrap_or(Prim::zero(ty).into())));
        }
        kept.extend(others.into_iter().map(|(ty, number)| (ty, Prim::zero(ty).into(), number)));
        for (ty, number, other) in kept {
            pat.push(self.param("kept", Type::Prim(ty)));
            then.result.push(number);
            otherwise.result.push(other);
        }
        Stm { pat, exp: Exp::If { cond: *cond, then, otherwise }, loc: stm.loc }
    }

    pub fn rev_if(
        &mut self,
        pat: &[Param],
        cond: Atom,
        (then, otherwise): (&Body, &Body),
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        let free = free_vars_body(then).into_iter().chain(free_vars_body(otherwise));
        let free = self.active_among(free);
        let mut types: Vec<Type> = free.iter().map(|v| self.adjoint_type(*v)).collect();
        let (outer, known) = (self.sweep.adj.clone(), self.sweep.restored.clone());
        let mut then = self.rev_branch(pat, then, &free, cts, loc)?;
        self.sweep.adj = outer.clone();
        let after_then = std::mem::replace(&mut self.sweep.restored, known.clone());
        let mut otherwise = self.rev_branch(pat, otherwise, &free, cts, loc)?;
        self.sweep.adj = outer;
        let after_otherwise = std::mem::replace(&mut self.sweep.restored, known.clone());
        // Arrays that a branch has updated and restored are in other variables now.
        let mut moved = after_then.moved_since(&known);
        moved.extend(after_otherwise.moved_since(&known));
        moved.sort_unstable();
        moved.dedup();
        for root in &moved {
            then.result.extend(after_then.now(*root).map(Atom::from));
            otherwise.result.extend(after_otherwise.now(*root).map(Atom::from));
            types.extend(known.now(*root).map(|v| self.ty_var(v)));
        }
        let vars = self.let_exps("adj", &types, Exp::If { cond, then, otherwise }, loc);
        for (var, adjoint) in free.iter().zip(&vars) {
            self.move_adj(*var, *adjoint);
        }
        for (root, var) in moved.iter().zip(&vars[free.len()..]) {
            self.sweep.restored.hold(*root, *var);
        }
        Ok(())
    }

    fn rev_branch(
        &mut self,
        pat: &[Param],
        body: &Body,
        free: &[VarId],
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<Body> {
        self.body(|ad| {
            let copy = Renamer::again(ad, HashMap::new()).body(body);
            let numbers = copy.stms.iter().flat_map(|stm| &stm.pat);
            for made in numbers.filter(|made| matches!(made.ty, Type::Prim(_))) {
                let is_made =
                    |result: &Atom| *result == made.var.into() || original(&copy, *result) == made.var.into();
                let place = copy.result.iter().position(is_made);
                ad.sweep.known.extend(place.map(|k| (made.var, pat[k].var)));
            }
            ad.sweep(&copy, cts, loc)?;
            Ok(free.iter().map(|v| ad.adjoint(*v, loc)).collect())
        })
    }

    /// The statement with other names for those of its results that are known, and what gives these their values.
    pub fn with_known_numbers(&mut self, stm: &Stm) -> (Stm, Vec<Stm>) {
        let (mut stm, mut values) = (stm.clone(), Vec::new());
        for p in &mut stm.pat {
            if let Some(before) = self.sweep.known.get(&p.var).copied() {
                let made = self.like(p.var.into());
                self.sweep.recomputed.insert(made.var);
                if self.is_active_var(p.var) {
                    self.forward.active.insert(made.var);
                }
                self.sweep.kept.insert(p.var, SavedResult { before, again: made.var });
                let pat = vec![std::mem::replace(p, made)];
                values.push(Stm { pat, exp: Exp::Atom(before.into()), loc: stm.loc });
            }
        }
        (stm, values)
    }
}

/// The numbers that the statements of a branch compute for long, other than its results.
fn numbers_to_keep(body: &Body) -> Vec<(PrimType, Atom)> {
    let long = body.stms.iter().filter(|stm| takes_long(&stm.exp));
    let numbers = long.flat_map(|stm| &stm.pat).filter_map(|p| match p.ty {
        Type::Prim(ty) => Some((ty, Atom::from(p.var))),
        Type::Array { .. } | Type::Acc { .. } => None,
    });
    let results: Vec<Atom> =
        body.result.iter().flat_map(|result| [*result, original(body, *result)]).collect();
    numbers.filter(|(_, number)| !results.contains(number)).collect()
}

/// What a body has first called a number; results of functions get further names.
fn original(body: &Body, mut number: Atom) -> Atom {
    for stm in body.stms.iter().rev() {
        if let ([p], Exp::Atom(before)) = (stm.pat.as_slice(), &stm.exp)
            && number == p.var.into()
        {
            number = *before;
        }
    }
    number
}

/// Whether it takes longer to compute a number than to keep it.
fn takes_long(exp: &Exp) -> bool {
    match exp {
        Exp::UnOp(_, ty, _) | Exp::BinOp(_, ty, ..) => ty.is_float() && scalar_cost(exp) >= Some(Cost::Long),
        Exp::If { then, otherwise, .. } => {
            then.stms.iter().chain(&otherwise.stms).any(|stm| takes_long(&stm.exp))
        }
        Exp::Loop { .. } | Exp::Reduce { .. } => true,
        _ => false,
    }
}
