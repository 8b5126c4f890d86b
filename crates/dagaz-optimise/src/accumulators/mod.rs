//! Accumulators that are really something simpler (thesis, section 3.5.1).
//!
//! Reverse mode turns the arrays that a map reads freely into accumulators. Where the indices of `+=` can be solved for
//! the iterations they come from, each element of the array is computed from those instead:
//!
//! - an update at the map's own indices is a result of a map;
//! - an update whose indices do not mention some enclosing map is a reduction over that map;
//! - an update at a shifted index is a gather;
//! - an update by zero is nothing;
//! - only indices that depend on data stay accumulators.
//!
//! ```text
//! let (ys: [m]f64) =                                 let (ys: [m]f64) =
//!   with_acc over [m] (zeros) ...                      map m (iota m) \(j: i64) : (f64) ->
//!     map n (xs, acc) \(x: f64, acc: acc) ->             let (s: f64) = reduce n (iota n)
//!       map m (iota m, zs, acc) \(j, z, acc) ->    ==>     pre \(i: i64) : (f64) ->
//!         let (v: f64) = f64.mul x z                         ... f64.mul xs[i] zs[j]
//!         let (acc: acc) = update_acc acc [j] (v)          op (+) neutral (0.0)
//!         in (acc)                                       in (s)
//! ```
//!
//! The sums are the same up to the order of summands and the sign of a zero. An update out of bounds is ignored, as before: no element asks for
//! it. The inner accumulators go first, so that the outer ones see plain maps.

mod affine;
mod collect;
mod emit;
mod leading;
mod nest;
mod shared;
mod solve;
mod strip;
mod tiles;

use std::collections::HashSet;

use dagaz_core::build::Builder;
use dagaz_core::exp::{AccInput, Body, Exp, Program, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::operator::scalar_operator;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, each_bound, each_stm};

use affine::Made;
use collect::{ScopeKind, collect};
use emit::Emitter;
use nest::Nest;
use shared::shared_values;
use solve::{Contribution, Wanted, contributions};
use strip::Stripper;

pub use leading::SINGLE_OUT_ROWS;
pub(crate) use leading::{leading_index, widths_of_others};

pub const SIMPLIFY_ACCUMULATORS: Pass = Pass::reporting(
    "simplify-accumulators",
    "Accumulators that are updated at every index in order become maps, reductions, scatters or histograms.",
    simplify_accumulators,
);

/// Says whether there was anything to do.
pub fn simplify_accumulators(program: &mut Program) -> bool {
    if !program.funs.iter().any(|fun| has_accumulators(&fun.body)) {
        return false;
    }
    let facts = Facts::of(program);
    let mut made = Made::new();
    note_made(&program.consts, &mut made);
    program.funs.iter().for_each(|fun| note_made(&fun.body.stms, &mut made));
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = Simplifier { b, facts, made };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
    true
}

fn has_accumulators(body: &Body) -> bool {
    body.stms.iter().any(|stm| {
        matches!(stm.exp, Exp::WithAcc { .. }) || bodies(&stm.exp).into_iter().any(has_accumulators)
    })
}

fn note_made(stms: &[Stm], made: &mut Made) {
    each_stm(stms, &mut |stm| {
        if let ([param], Exp::Iota { .. } | Exp::Replicate { .. } | Exp::BinOp(_, PrimType::I64, ..)) =
            (&stm.pat[..], &stm.exp)
        {
            made.insert(param.var, stm.exp.clone());
        }
    });
}

/// The values that the accumulators of a statement take.
struct Values {
    shared: HashSet<VarId>,
    /// Those that are results by now.
    handed: HashSet<VarId>,
    /// Whether sums of shared values are to be computed, too.
    may_sum: bool,
}

impl Values {
    fn wanted(&self, value: Atom) -> Wanted {
        match value {
            Atom::Var(var) if self.handed.contains(&var) => Wanted::Handed,
            Atom::Var(var) if self.shared.contains(&var) => Wanted::Shared,
            Atom::Var(_) | Atom::Const(_) => Wanted::Again,
        }
    }
}

struct Simplifier {
    b: Builder,
    facts: Facts,
    made: Made,
}

impl Simplifier {
    fn body(&mut self, body: &mut Body) {
        // Arrays that this run of the body has made in full, so that going over them once more costs little.
        let mut made_here: HashSet<VarId> = HashSet::new();
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.body(body));
            let new = match stm.exp {
                Exp::WithAcc { .. } => self.with_acc(stm, &made_here),
                _ => vec![stm],
            };
            for stm in new {
                if matches!(
                    stm.exp,
                    Exp::Map { .. } | Exp::Replicate { .. } | Exp::Scan { .. } | Exp::Copy(_)
                ) {
                    made_here.extend(stm.pat.iter().map(|p| p.var));
                }
                done.push(stm);
            }
        }
        body.stms = done;
    }

    /// The statement without the accumulators that could be solved, and what computes their arrays.
    fn with_acc(&mut self, mut stm: Stm, made_here: &HashSet<VarId>) -> Vec<Stm> {
        let mut after = Vec::new();
        let shared = match &stm.exp {
            Exp::WithAcc { inputs, lambda } => shared_values(lambda, inputs.len()),
            _ => HashSet::new(),
        };
        let mut values = Values { shared, handed: HashSet::new(), may_sum: false };
        // Sums of shared values come last: by then the values may be there.
        for may_sum in [false, true] {
            values.may_sum = may_sum;
            let mut which = 0;
            while let Exp::WithAcc { inputs, lambda } = &stm.exp
                && which < inputs.len()
            {
                self.note_new(&lambda.body.stms);
                match self.solve(&mut stm, which, made_here, &mut values) {
                    Some(new) => after.extend(new),
                    None => which += 1,
                }
            }
        }
        match stm.exp {
            Exp::WithAcc { inputs, lambda } if inputs.is_empty() => {
                let mut all = lambda.body.stms;
                for (param, atom) in stm.pat.into_iter().zip(lambda.body.result) {
                    all.push(Stm { pat: vec![param], exp: Exp::Atom(atom), loc: stm.loc });
                }
                all.extend(after);
                all
            }
            _ => [vec![stm], after].concat(),
        }
    }

    /// Takes one accumulator out of the statement and gives the statements that compute its array.
    fn solve(
        &mut self,
        stm: &mut Stm,
        which: usize,
        made_here: &HashSet<VarId>,
        values: &mut Values,
    ) -> Option<Vec<Stm>> {
        let Exp::WithAcc { inputs, lambda } = &stm.exp else { return None };
        let (base, elem) = self.sum_of_scalars(&inputs[which])?;
        let shape = inputs[which].shape.clone();
        let mut found = collect(lambda, which)?;
        let position: usize = inputs[..which].iter().map(|i| i.arrays.len()).sum();
        let param = stm.pat[position].clone();
        let mut updates = std::mem::take(&mut found.updates);
        if !self.facts.is_used(param.var) {
            // Nobody reads the array, so nobody misses what was added.
            updates.clear();
        }
        // Second derivatives add zeros where the first ones are linear.
        updates.retain(|update| update.value != Atom::Const(Prim::zero(elem)));
        let mut all = Vec::new();
        for update in &updates {
            let wanted = values.wanted(update.value);
            let new = contributions(&mut found, &self.made, (update, wanted), &shape)?;
            if !values.may_sum && wanted == Wanted::Shared && new.iter().any(Contribution::is_sum) {
                return None;
            }
            all.extend(new);
        }
        let is_zeros = matches!(
            self.made.get(&base),
            Some(Exp::Replicate { value: Atom::Const(value), .. }) if *value == Prim::zero(elem)
        );
        let base_to_add = (!is_zeros).then_some(base);
        let nest = Nest { shape: &shape, elem, base: base_to_add, loc: stm.loc, made: &self.made };
        let is_covered = || all.iter().all(|c| c.covers(&found, &shape)) || nest.is_tiled(&found, &all);
        let is_cheap = is_zeros || made_here.contains(&base) || is_covered();
        if !is_cheap && !all.is_empty() {
            return None;
        }
        self.b.push_scope();
        let mut e = Emitter::new(&mut self.b, &mut found, &self.facts.types, stm.loc);
        let exp = match all.is_empty() {
            true => Some(Exp::Atom(base.into())),
            false => nest.build(&mut e, &all),
        };
        let handed = e.handed;
        let mut new = self.b.pop_scope();
        new.push(Stm { pat: vec![param], exp: exp?, loc: stm.loc });
        values.handed.extend(handed.iter().filter_map(|handed| handed.atom.as_var()));
        let (accs, scopes) = (found.accs, found.scopes);
        let mut stripper = Stripper { b: &mut self.b, accs, scopes, handed };
        let Exp::WithAcc { inputs, lambda } = &mut stm.exp else { return None };
        stripper.body(&mut lambda.body);
        inputs.remove(which);
        lambda.params.remove(which);
        lambda.ret.remove(which);
        lambda.body.result.remove(which);
        stm.pat.remove(position);
        for (atom, ty, name) in stripper.handed_from(|s| s.kind == ScopeKind::WithAcc && s.stm.is_none()) {
            lambda.body.result.push(atom);
            lambda.ret.push(ty.clone());
            stm.pat.push(Param { var: name, ty });
        }
        self.note_new(&new);
        Some(new)
    }

    fn note_new(&mut self, stms: &[Stm]) {
        each_bound(stms, &mut |var, ty| drop(self.facts.types.insert(var, ty.clone())));
        note_made(stms, &mut self.made);
    }

    /// The array behind an accumulator that sums scalars, and the type of its elements.
    fn sum_of_scalars(&self, input: &AccInput) -> Option<(VarId, PrimType)> {
        let ([base], Some((op, _))) = (&input.arrays[..], &input.op) else { return None };
        let Type::Array { elem, dims } = self.facts.types.get(base)? else { return None };
        (dims.len() == input.shape.len() && scalar_operator(op).is_some_and(|own| own.op == BinOp::Add))
            .then_some((*base, *elem))
    }
}
