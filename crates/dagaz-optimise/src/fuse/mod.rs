//! Makes one pass over memory of several.
//!
//! A map goes into the operation that takes its results: another map, or a reduction, scan, histogram or scatter, which
//! applies it first. Operations of the same width that read the same array become one (see `horizontal`), and so do nests of maps
//! of which one reads it around each place (see `stencils`). Where a map has results that are needed elsewhere, too, the cheap
//! end of it may move (see `sink`). Branches and accumulators between the two are no obstacle (see `inwards`).
//!
//! ```text
//! let (ys: [n]f64) =                               let (s: f64) =
//!   map n (xs) \(x: f64) : (f64) ->                  reduce n (xs)
//!     let (y: f64) = f64.sin x                         pre \(x: f64) : (f64) ->
//!     in (y)                               ==>           let (y: f64) = f64.sin x
//! let (s: f64) = reduce n (ys) op (+) ...                in (y)
//!                                                      op (+) ...
//! ```
//!
//! No work is done twice: all results of the first map must go to that operation and nowhere else, or the second one is a
//! map, too, and gives the results of both, where both are scalar throughout or rows that only the second one needs are never
//! kept then. A map that may stop the program only moves where nothing else does, so that errors come in the same order, and no
//! read of an array moves past its update in place, which would cost a copy. Expects that dead results are gone; leaves
//! `let (x: t) = a` to [`crate::simplify`].

mod horizontal;
mod inwards;
mod sink;
mod stencils;
mod together;

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Program, Stm, Vars};
use dagaz_core::facts::uses;
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use self::sink::Widened;
use crate::sharing::Sharing;
use dagaz_core::effects::Effects;
use dagaz_core::visit::{bodies, bodies_mut, free_vars};

/// So many of the operations that read an array are looked at.
const MOST_CANDIDATES: usize = 4;

pub const FUSE_OPERATIONS: Pass = Pass::reporting(
    "fuse-operations",
    "Operations over the same rows become one, with what they compute inside of it.",
    fuse_operations,
);

/// Whether anything was fused.
pub fn fuse_operations(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let sharing = Sharing::of(program);
    let mut fuser = Fuser {
        effects,
        sharing,
        uses: uses(program),
        vars: &mut program.vars,
        has_changed: false,
        numbers: HashSet::new(),
        counters: HashSet::new(),
        widened: HashMap::new(),
    };
    program.funs.iter_mut().for_each(|fun| fuser.body(&mut fun.body));
    fuser.has_changed
}

struct Fuser<'p> {
    effects: Effects,
    sharing: Sharing,
    uses: HashMap<VarId, usize>,
    vars: &'p mut Vars,
    has_changed: bool,
    /// Arrays `start, start + step, …`, which take no memory to read.
    numbers: HashSet<VarId>,
    /// Of these, `0, 1, …`.
    counters: HashSet<VarId>,
    /// Arrays that are others with larger integers, and which.
    widened: HashMap<VarId, Widened>,
}

/// The statements of a body that were seen, and which of them may be fused with later ones.
#[derive(Default)]
struct Seen {
    stms: Vec<Stm>,
    /// The maps, by each of their results.
    maps: HashMap<VarId, usize>,
    /// The maps and branches, by each of their results.
    makers: HashMap<VarId, usize>,
    /// Arrays that are one value many times.
    copies: HashSet<VarId>,
    /// The operations that cannot stop the program, by the arrays they read; the latest ones last.
    readers: HashMap<VarId, Vec<usize>>,
    /// The nests of maps that cannot stop the program, by the arrays they read.
    nests: HashMap<VarId, Vec<usize>>,
}

/// How a map may be fused with the operation that takes its results.
enum Fusion {
    /// All its results go there.
    Whole(usize),
    /// The operation is a map, too, and will give its results as well.
    Shared(usize),
}

impl Fuser<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut seen = Seen::default();
        for mut stm in std::mem::take(&mut body.stms) {
            if matches!(stm.exp, Exp::WithAcc { .. }) {
                self.enter_accumulation(&mut stm, &mut seen);
            }
            bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.body(body));
            if rows(&stm.exp).is_some_and(|(_, arrays)| arrays.iter().any(|a| seen.copies.contains(a)))
                && !has_function(&stm.exp)
            {
                // The function takes what is copied as it is.
                self.has_changed |= self.row_function(&mut stm.exp).is_some();
            }
            while let Some(fusion) = self.producer(&stm, &seen) {
                self.has_changed = true;
                match fusion {
                    Fusion::Whole(position) => {
                        let first = seen.take(position);
                        self.fuse(first, &mut stm, false);
                    }
                    Fusion::Shared(position) => {
                        let first = seen.take(position);
                        self.fuse(first, &mut stm, true);
                    }
                }
            }
            while self.sink(&mut stm, &seen) {
                self.has_changed = true;
            }
            if self.enter_branches(&mut stm, &mut seen) {
                seen.stms.push(stm);
                continue;
            }
            while let Some(position) = self.sibling(&stm, &seen) {
                self.has_changed = true;
                let first = seen.take(position);
                self.join(first, &mut stm);
            }
            while let Some(position) = self.neighbour(&stm, &seen) {
                self.has_changed = true;
                let first = seen.take(position);
                self.join_nests(first, &mut stm);
            }
            if let Some(position) = self.early_sibling(&stm, &seen) {
                self.has_changed = true;
                let first = seen.take(position);
                self.join(first, &mut stm);
                self.note(&stm, position, &mut seen);
                seen.stms[position] = stm;
                continue;
            }
            self.note(&stm, seen.stms.len(), &mut seen);
            seen.stms.push(stm);
        }
        body.stms = seen.stms;
        body.stms.retain(|stm| !is_taken(stm));
    }

    fn note(&mut self, stm: &Stm, position: usize, seen: &mut Seen) {
        if matches!(&stm.exp, Exp::Replicate { dims, .. } if dims.len() == 1) {
            seen.copies.extend(stm.pat.iter().map(|p| p.var));
        }
        if let Exp::Iota { ty, start, step, .. } = &stm.exp {
            self.numbers.extend(stm.pat.iter().map(|p| p.var));
            if (*ty, *start, *step) == (PrimType::I64, Atom::i64(0), Atom::i64(1)) {
                self.counters.extend(stm.pat.iter().map(|p| p.var));
            }
        }
        if stm.pat.iter().any(|p| p.ty.is_acc()) {
            return;
        }
        if matches!(stm.exp, Exp::Map { .. } | Exp::If { .. }) {
            seen.makers.extend(stm.pat.iter().map(|p| (p.var, position)));
        }
        let Some((_, arrays)) = rows(&stm.exp) else { return };
        if matches!(stm.exp, Exp::Map { .. }) {
            self.note_widened(stm);
            seen.maps.extend(stm.pat.iter().map(|p| (p.var, position)));
        }
        if !self.effects.is_removable(stm) {
            return;
        }
        for array in self.nest(&stm.exp).iter().flat_map(|nest| nest.arrays()) {
            seen.nests.entry(array).or_default().push(position);
        }
        // Many operations go over the same numbers; of those, reductions may compute the same of them.
        let is_sum = matches!(stm.exp, Exp::Reduce { pre: Some(_), .. });
        let counts = |array: &VarId| is_sum || !self.numbers.contains(array);
        for array in seen.with_origins(arrays).into_iter().filter(counts) {
            seen.readers.entry(array).or_default().push(position);
        }
    }

    /// A map that can go into the statement.
    fn producer(&self, stm: &Stm, seen: &Seen) -> Option<Fusion> {
        let (width, arrays) = rows(&stm.exp)?;
        let mut positions: Vec<usize> = arrays.iter().filter_map(|a| seen.maps.get(a)).copied().collect();
        positions.dedup();
        positions.into_iter().find_map(|position| {
            let first = &seen.stms[position];
            if !matches!(&first.exp, Exp::Map { width: own, .. } if *own == width)
                || !self.can_move(position, stm, seen)
            {
                return None;
            }
            let is_only_here = first.pat.iter().all(|p| {
                let here = arrays.iter().filter(|a| **a == p.var).count();
                here > 0 && self.uses.get(&p.var) == Some(&here)
            });
            if is_only_here {
                return Some(Fusion::Whole(position));
            }
            let results: HashSet<VarId> = first.pat.iter().map(|p| p.var).collect();
            let is_map = matches!(&stm.exp, Exp::Map { lambda, .. } if {
                let inside = dagaz_core::visit::free_vars_lambda(lambda);
                !inside.iter().any(|var| results.contains(var))
            });
            let is_waiting = seen.stms[position + 1..].iter().all(|between| !uses_any(between, &results));
            (is_map
                && is_waiting
                && (horizontal::is_worthwhile(&first.exp, &stm.exp) || self.saves_rows(first, arrays)))
            .then_some(Fusion::Shared(position))
        })
    }

    /// Whether a map makes rows for one operation alone, which reads these arrays: they are not kept for all iterations then. In the
    /// derivative of a mixture model, such rows are matrices, and all of them as large as the largest arrays.
    fn saves_rows(&self, map: &Stm, arrays: &[VarId]) -> bool {
        map.pat.iter().any(|p| {
            let here = arrays.iter().filter(|a| **a == p.var).count();
            p.ty.rank() > 1 && here > 0 && self.uses.get(&p.var) == Some(&here)
        })
    }

    /// Whether a later statement can do the work of an earlier one: what that reads must not be consumed before, or there,
    /// and if it may stop the program or print, everything up to there may not.
    fn can_move(&self, position: usize, to: &Stm, seen: &Seen) -> bool {
        let mut later = seen.stms[position + 1..].iter().chain([to]);
        if !self.effects.is_removable(&seen.stms[position])
            && !later.all(|stm| self.effects.is_removable(stm))
        {
            return false;
        }
        let mut consumed = HashSet::new();
        for stm in seen.stms[position + 1..].iter().chain([to]) {
            self.consumed_in(&stm.exp, &mut consumed);
        }
        if consumed.is_empty() {
            return true;
        }
        let reads = free_vars(&seen.stms[position].exp);
        let mut roots = reads.iter().flat_map(|var| self.sharing.roots((*var).into()).chain([*var]));
        !roots.any(|root| consumed.contains(&root))
    }

    fn consumed_in(&self, exp: &Exp, consumed: &mut HashSet<VarId>) {
        for atom in self.sharing.consumed_operands(exp) {
            consumed.extend(self.sharing.roots(atom));
            consumed.extend(atom.as_var());
        }
        for body in bodies(exp) {
            body.stms.iter().for_each(|stm| self.consumed_in(&stm.exp, consumed));
        }
    }

    /// Puts a map into the operation; if its results are needed elsewhere, too, the operation gives them as well.
    fn fuse(&mut self, first: Stm, stm: &mut Stm, is_shared: bool) {
        let Exp::Map { arrays: inputs, lambda, .. } = first.exp else { return };
        let loc = first.loc;
        let made: HashMap<VarId, Atom> =
            first.pat.iter().map(|p| p.var).zip(lambda.body.result.iter().copied()).collect();
        let Some((arrays, second)) = self.row_function(&mut stm.exp) else { return };
        let mut all = inputs;
        let (mut params, mut stms) = (lambda.params, lambda.body.stms);
        for (array, param) in std::mem::take(arrays).into_iter().zip(std::mem::take(&mut second.params)) {
            match made.get(&array) {
                Some(row) => {
                    stms.push(Stm { pat: vec![param], exp: Exp::Atom(*row), loc });
                    self.uses.entry(array).and_modify(|uses| *uses -= 1);
                }
                None => {
                    all.push(array);
                    params.push(param);
                }
            }
        }
        stms.append(&mut second.body.stms);
        second.body.stms = stms;
        second.params = params;
        *arrays = all;
        if is_shared {
            second.body.result.splice(0..0, lambda.body.result);
            second.ret.splice(0..0, lambda.ret);
            stm.pat.splice(0..0, first.pat);
        }
    }

    /// The arrays of the operation, and the function that it applies to their rows first.
    fn row_function<'e>(&mut self, exp: &'e mut Exp) -> Option<(&'e mut Vec<VarId>, &'e mut Lambda)> {
        match exp {
            Exp::Map { arrays, lambda, .. } => Some((arrays, lambda)),
            Exp::Reduce { arrays, pre, .. }
            | Exp::Scan { arrays, pre, .. }
            | Exp::Hist { arrays, pre, .. }
            | Exp::Scatter { arrays, pre, .. } => {
                if pre.is_none() {
                    let types = arrays.iter().map(|array| self.sharing.types.get(array)?.row());
                    *pre = Some(identity(self.vars, types.collect::<Option<Vec<Type>>>()?));
                }
                pre.as_mut().map(|pre| (arrays, pre))
            }
            _ => None,
        }
    }
}

impl Seen {
    /// The latest operations that read any of the arrays, or other results of the maps that made them.
    fn readers_of(&self, arrays: &[VarId]) -> impl Iterator<Item = usize> {
        let arrays = self.with_origins(arrays).into_iter();
        let readers = arrays.filter_map(|array| self.readers.get(&array));
        readers.flat_map(|positions| positions.iter().rev().take(MOST_CANDIDATES)).copied()
    }

    /// The arrays, and the first results of the maps that made them: what reads different results of a map may become one,
    /// and then the map may go into it.
    fn with_origins(&self, arrays: &[VarId]) -> Vec<VarId> {
        let mut all = arrays.to_vec();
        for array in arrays {
            let first = self.maps.get(array).and_then(|position| self.stms[*position].pat.first());
            if let Some(first) = first.filter(|first| !all.contains(&first.var)) {
                all.push(first.var);
            }
        }
        all
    }

    /// Takes a statement out, and leaves a place that nobody finds.
    fn take(&mut self, position: usize) -> Stm {
        let stm = &mut self.stms[position];
        let empty = Stm { pat: Vec::new(), exp: Exp::Atom(Atom::bool(false)), loc: stm.loc };
        let stm = std::mem::replace(stm, empty);
        stm.pat.iter().for_each(|p| {
            self.maps.remove(&p.var);
            self.makers.remove(&p.var);
        });
        stm
    }
}

/// Whether this is the place of a statement that was taken.
fn is_taken(stm: &Stm) -> bool {
    stm.pat.is_empty() && matches!(stm.exp, Exp::Atom(_))
}

/// Whether an operation applies a function to its rows.
fn has_function(exp: &Exp) -> bool {
    match exp {
        Exp::Map { .. } => true,
        Exp::Reduce { pre, .. } | Exp::Scan { pre, .. } => pre.is_some(),
        Exp::Hist { pre, .. } | Exp::Scatter { pre, .. } => pre.is_some(),
        _ => false,
    }
}

/// Whether a statement mentions any of these variables.
fn uses_any(stm: &Stm, vars: &HashSet<VarId>) -> bool {
    free_vars(&stm.exp).iter().any(|var| vars.contains(var))
}

/// The function that gives its arguments.
fn identity(vars: &mut Vars, types: Vec<Type>) -> Lambda {
    let params: Vec<Param> =
        types.iter().map(|ty| Param { var: vars.fresh("row"), ty: ty.clone() }).collect();
    let result = params.iter().map(|p| p.var.into()).collect();
    Lambda { params, body: Body { stms: Vec::new(), result }, ret: types }
}

/// The width and the arrays of a parallel operation: all of them can apply a function to rows first.
fn rows(exp: &Exp) -> Option<(Atom, &[VarId])> {
    match exp {
        Exp::Map { width, arrays, .. } => Some((*width, arrays)),
        Exp::Reduce { width, arrays, .. } | Exp::Scan { width, arrays, .. } => Some((*width, arrays)),
        Exp::Hist { width, arrays, .. } | Exp::Scatter { width, arrays, .. } => Some((*width, arrays)),
        _ => None,
    }
}
