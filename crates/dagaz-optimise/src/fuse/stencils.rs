//! Two nests of maps over the same places become one, where one of them reads an array around each place, and the other one
//! reads this array as well.
//!
//! ```text
//! let (ys: [n]f64) = map n (is) \(i: i64) -> …xs[i - 1]…xs[i + 1]…     let (ys: [n]f64, zs: [n]f64) =
//! let (zs: [n]f64) = map n (xs) \(x: f64) -> …x…                 ==>     map n (is, xs) \(i: i64, x: f64) -> …
//! ```
//!
//! This is what the return sweep of a simulation does: the adjoint of one step goes back to the neighbours, and to what else the
//! step depends on. Nests have one map inside of another and otherwise scalar operations, as many maps in both and with the same
//! widths. The array is in the cache when it is read for the second time, so both must be cheap and read it at places
//! that are known without looking at data. The first one must not be able to stop the program, and nothing between the two may
//! need its results.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Stm};
use dagaz_core::machine;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{direct_operands, free_vars};

use super::horizontal::{beside, is_scalar_stm};
use super::together::Together;
use super::{Fuser, MOST_CANDIDATES, Seen, uses_any};

/// What a nest of maps over places reads.
#[derive(Default)]
pub(super) struct Nest {
    widths: Vec<Atom>,
    /// Arrays that are read row by row.
    rows: HashSet<VarId>,
    /// Arrays that are read at indices.
    around: HashSet<VarId>,
}

impl Nest {
    /// Whether both read an array, one of them at indices.
    fn shares_with(&self, other: &Nest) -> bool {
        let has = |nest: &Nest, array: &VarId| nest.rows.contains(array) || nest.around.contains(array);
        self.around.iter().any(|array| has(other, array)) || other.around.iter().any(|array| has(self, array))
    }

    pub(super) fn arrays(&self) -> impl Iterator<Item = VarId> {
        self.around.union(&self.rows).copied()
    }
}

impl Fuser<'_> {
    /// The nest that an operation is, if it is one.
    pub(super) fn nest(&self, exp: &Exp) -> Option<Nest> {
        let mut reading = Reading {
            numbers: &self.numbers,
            data: HashSet::new(),
            roots: HashMap::new(),
            nest: Nest::default(),
        };
        reading.map(exp)?;
        Some(reading.nest)
    }

    /// An earlier nest that the statement can be joined with.
    pub(super) fn neighbour(&self, stm: &Stm, seen: &Seen) -> Option<usize> {
        let nest = self.nest(&stm.exp)?;
        let positions: HashSet<usize> = nest
            .arrays()
            .filter_map(|array| seen.nests.get(&array))
            .flat_map(|positions| positions.iter().rev().take(MOST_CANDIDATES))
            .copied()
            .collect();
        positions.into_iter().filter(|position| self.are_neighbours(*position, stm, &nest, seen)).max()
    }

    fn are_neighbours(&self, position: usize, stm: &Stm, nest: &Nest, seen: &Seen) -> bool {
        let first = &seen.stms[position];
        let results: HashSet<VarId> = first.pat.iter().map(|p| p.var).collect();
        self.nest(&first.exp).is_some_and(|own| own.widths == nest.widths && own.shares_with(nest))
            && Together::of(&first.exp, &stm.exp).statements <= machine::JOINED_STATEMENTS
            && !seen.stms[position + 1..].iter().chain([stm]).any(|later| uses_any(later, &results))
            && self.can_move(position, stm, seen)
    }
}

impl Fuser<'_> {
    /// Joins a nest to a later one, which takes its results over. What one of them reads row by row and the other one at indices,
    /// both read at indices then, so that the same elements are read once.
    pub(super) fn join_nests(&self, first: Stm, stm: &mut Stm) {
        let nests = [self.nest(&first.exp), self.nest(&stm.exp)].into_iter().flatten();
        let around: HashSet<VarId> = nests.flat_map(|nest| nest.around).collect();
        join(first, stm);
        let Exp::Map { arrays, .. } = &stm.exp else { return };
        let rows: Vec<VarId> = arrays.iter().copied().filter(|array| around.contains(array)).collect();
        for array in rows {
            let mut exp = stm.exp.clone();
            if self.read_at_indices(&mut exp, array, (array, &[]), stm.loc).is_some() {
                stm.exp = exp;
            }
        }
    }

    /// Reads the elements of an array, of which `row` is the part at `indices`, without its rows.
    fn read_at_indices(
        &self,
        exp: &mut Exp,
        row: VarId,
        (array, indices): (VarId, &[Atom]),
        loc: Loc,
    ) -> Option<()> {
        let Exp::Map { arrays, lambda, .. } = exp else { return None };
        let counter = arrays.iter().position(|numbers| self.counters.contains(numbers))?;
        let indices: Vec<Atom> = indices.iter().copied().chain([lambda.params[counter].var.into()]).collect();
        while let Some(position) = arrays.iter().position(|input| *input == row) {
            arrays.remove(position);
            let param = lambda.params.remove(position);
            if matches!(param.ty, Type::Prim(_)) {
                let exp = Exp::Index { array, indices: indices.clone(), check: Check::Certified };
                lambda.body.stms.insert(0, Stm { pat: vec![param], exp, loc });
                continue;
            }
            let (last, others) = lambda.body.stms.split_last_mut()?;
            let is_used = |stm: &Stm| free_vars(&stm.exp).contains(&param.var);
            if others.iter().any(is_used) {
                return None;
            }
            if is_used(last) {
                self.read_at_indices(&mut last.exp, param.var, (array, &indices), loc)?;
                (!is_used(last)).then_some(())?;
            }
        }
        Some(())
    }
}

fn join(first: Stm, stm: &mut Stm) {
    let (Exp::Map { arrays, lambda, .. }, Exp::Map { arrays: others, lambda: second, .. }) =
        (first.exp, &mut stm.exp)
    else {
        return;
    };
    stm.pat.splice(0..0, first.pat);
    others.splice(0..0, arrays);
    let inner = lambda.body.stms.iter().position(is_map);
    beside(lambda, second);
    if let Some(inner) = inner {
        let first = second.body.stms.remove(inner);
        if let Some(stm) = second.body.stms.iter_mut().find(|stm| is_map(stm)) {
            join(first, stm);
        }
    }
}

fn is_map(stm: &Stm) -> bool {
    matches!(stm.exp, Exp::Map { .. })
}

/// Looks at a nest from the outside to the inside.
struct Reading<'f> {
    numbers: &'f HashSet<VarId>,
    /// Scalars that depend on elements of arrays.
    data: HashSet<VarId>,
    /// Which array a row, or a row of a row, is a part of.
    roots: HashMap<VarId, VarId>,
    nest: Nest,
}

impl Reading<'_> {
    fn map(&mut self, exp: &Exp) -> Option<()> {
        let Exp::Map { width, arrays, lambda } = exp else {
            return None;
        };
        self.nest.widths.push(*width);
        for (array, param) in arrays.iter().zip(&lambda.params) {
            if self.numbers.contains(array) {
                continue;
            }
            let root = self.roots.get(array).copied().unwrap_or(*array);
            match &param.ty {
                Type::Prim(_) => {
                    self.data.insert(param.var);
                    self.nest.rows.insert(root);
                }
                Type::Array { .. } => {
                    self.roots.insert(param.var, root);
                }
                _ => return None,
            }
        }
        self.inside(lambda)
    }

    /// One map that gives all results, or none at all, and scalar operations.
    fn inside(&mut self, lambda: &Lambda) -> Option<()> {
        let (maps, scalars): (Vec<&Stm>, Vec<&Stm>) = lambda.body.stms.iter().partition(|stm| is_map(stm));
        for stm in scalars {
            is_scalar_stm(stm).then_some(())?;
            self.scalar(stm)?;
        }
        match maps.as_slice() {
            [] => lambda.ret.iter().all(|ty| matches!(ty, Type::Prim(_))).then_some(()),
            [stm] if lambda.body.stms.last().is_some_and(is_map) => {
                let made: Vec<Atom> = stm.pat.iter().map(|p| p.var.into()).collect();
                (made == lambda.body.result).then_some(())?;
                self.map(&stm.exp)
            }
            _ => None,
        }
    }

    fn scalar(&mut self, stm: &Stm) -> Option<()> {
        let mut depends = false;
        direct_operands(&stm.exp, &mut |atom: Atom| {
            depends |= atom.as_var().is_some_and(|var| self.data.contains(&var));
        });
        match &stm.exp {
            Exp::Index { array, .. } => {
                // The operands are the array and the indices.
                (!depends).then_some(())?;
                match self.roots.get(array) {
                    Some(root) => self.nest.rows.insert(*root),
                    None => self.nest.around.insert(*array),
                };
                depends = true;
            }
            Exp::If { then, otherwise, .. } => {
                self.branch(then)?;
                self.branch(otherwise)?;
                let mut results = then.result.iter().chain(&otherwise.result).filter_map(|a| a.as_var());
                depends |= results.any(|var| self.data.contains(&var));
            }
            Exp::Call { .. } => return None,
            _ => {}
        }
        if depends {
            self.data.extend(stm.pat.iter().map(|p| p.var));
        }
        Some(())
    }

    fn branch(&mut self, body: &Body) -> Option<()> {
        body.stms.iter().try_for_each(|stm| self.scalar(stm))
    }
}
