//! Maps that write straight into the array that an update would copy their result to.
//!
//!     let rest = map m (a[k+1:, k+1:], …) …               rest: a view of a
//!     let b = a with [k+1:, k+1:] = rest                   nothing to copy
//!
//! Only the update uses the result, and between the map and the update nobody uses that part of the array. The map itself
//! reads other parts, which [`Symbols`] can tell apart, or each element before it is written: the rows of that very part
//! are what the map and the maps inside of it take.
//!
//! Products, and what loops fill, are made there, too, if the part is contiguous, and may be read before the update:
//!
//!     let p = contract … x … w …                           p: row i of a
//!     let y = map n (p) …
//!     let b = a with [i] = p                               nothing to copy

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::{can_fail, viewed};
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Stm as CoreStm};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit;

use super::placing::{before, maker};
use super::symbols::{Indices, Region, Symbols, are_apart};

/// A map that writes into an array, or another statement that does.
pub(super) struct Overwrite {
    /// The number of the map's statement, and its result.
    pub(super) map: usize,
    pub(super) result: VarId,
    /// Whether the result has to be contiguous.
    pub(super) is_block: bool,
    /// The array as it is at the map, the first statement that uses it, and the part that is written.
    pub(super) array: VarId,
    pub(super) first_use: usize,
    pub(super) slice: Vec<DimSlice>,
    /// The array after the update.
    pub(super) updated: VarId,
}

/// What a variable shows of the array.
#[derive(Clone)]
struct Seen {
    region: Region,
    /// Dimensions are in their order, and none of them was split or joined.
    is_straight: bool,
}

struct Analysis<'a> {
    symbols: &'a Symbols,
    written: Region,
    seen: HashMap<VarId, Seen>,
}

/// The plans for the statements of a body.
pub(super) fn plans(symbols: &Symbols, body: &Body) -> Vec<Overwrite> {
    body.stms.iter().enumerate().filter_map(|(index, stm)| plan(symbols, body, index, stm)).collect()
}

fn plan(symbols: &Symbols, body: &Body, index: usize, stm: &CoreStm) -> Option<Overwrite> {
    let Exp::Update { array, dims, value: Atom::Var(value), check } = &stm.exp else { return None };
    let is_fixed = dims.iter().all(|part| matches!(part, DimSlice::Fix(_)));
    if *check == Check::Checked && is_fixed || symbols.dims(*value).is_empty() {
        return None;
    }
    let made_by_map = only_maker(symbols, body, *value);
    let is_block = made_by_map.is_none();
    let (result, map) = made_by_map.or_else(|| first_maker(body, *value, index).filter(|_| is_fixed))?;
    let between = body.stms.get(map + 1..index)?;
    let bound: HashSet<VarId> =
        body.stms[map..index].iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
    let mut needed: Vec<VarId> = symbols.dims(*array).iter().filter_map(|d| d.as_var()).collect();
    visit::direct_operands(&stm.exp, &mut |atom| needed.extend(atom.as_var()));
    let is_late = |var: &VarId| bound.contains(var) && !symbols.dims(*var).is_empty();
    // Whether the part is within the array may be asserted after the map.
    let asserts = between.iter().any(|stm| matches!(stm.exp, Exp::Assert { .. }));
    if asserts || needed.iter().any(|var| bound.contains(var) && !is_late(var)) {
        return None;
    }
    let mut current = *array;
    while bound.contains(&current) {
        let (stm, _) = maker(body, current)?;
        let Exp::Update { array, .. } = &stm.exp else { return None };
        current = *array;
    }
    let mut analysis =
        Analysis { symbols, written: symbols.select(&symbols.whole(*array), dims), seen: HashMap::new() };
    analysis.is_possible(body, *array, map, index, result)?;
    let uses = |stm: &CoreStm| visit::free_vars(&stm.exp).contains(&current);
    let first_use = body.stms.iter().position(uses)?;
    let updated = stm.pat.first()?.var;
    Some(Overwrite { map, result, is_block, array: current, first_use, slice: dims.clone(), updated })
}

/// The map that makes an array which nobody else uses, perhaps under another name.
fn only_maker(symbols: &Symbols, body: &Body, value: VarId) -> Option<(VarId, usize)> {
    let mut var = value;
    loop {
        let users = body.stms.iter().filter(|stm| visit::free_vars(&stm.exp).contains(&var)).count();
        if users != 1 || body.result.contains(&Atom::Var(var)) {
            return None;
        }
        let index = body.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == var))?;
        match &body.stms[index].exp {
            Exp::Map { .. } => return Some((var, index)),
            Exp::Reshape { array, .. } if symbols.renames.contains(&var) => var = *array,
            _ => return None,
        }
    }
}

/// The statement that allocates what becomes an array by updates, and the array at that time. Nobody uses what it was before, and
/// what it is in the end is read before the update at `update`, if at all, by statements that keep nothing of it.
fn first_maker(body: &Body, value: VarId, update: usize) -> Option<(VarId, usize)> {
    let (mut var, mut next) = (value, update);
    loop {
        let index = body.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == var))?;
        let is_result = body.result.contains(&Atom::Var(var));
        let mut users = body.stms.iter().enumerate().filter(|(at, stm)| {
            let is_reader = var == value && *at < update && !may_share(&stm.exp);
            *at != next && !is_reader && visit::free_vars(&stm.exp).contains(&var)
        });
        if is_result || users.next().is_some() {
            return None;
        }
        let stm = &body.stms[index];
        let position = stm.pat.iter().position(|p| p.var == var)?;
        match (before(stm, position), &stm.exp) {
            (Some(before), _) => (var, next) = (before, index),
            (None, Exp::Scratch { .. } | Exp::Contract { plus: None, .. }) => {
                return Some((var, index));
            }
            (None, _) => return None,
        }
    }
}

impl Analysis<'_> {
    /// Whether the map can write to the array, which has several names.
    fn is_possible(
        &mut self,
        body: &Body,
        array: VarId,
        map: usize,
        update: usize,
        result: VarId,
    ) -> Option<()> {
        let mut name = Some(array);
        while let Some(var) = name {
            self.seen.insert(var, Seen { region: self.symbols.whole(var), is_straight: true });
            name = maker(body, var).and_then(|(stm, position)| before(stm, position));
        }
        for stm in &body.stms[..map] {
            self.look(stm);
        }
        match &body.stms[map].exp {
            Exp::Map { arrays, lambda, .. } => {
                let position = body.stms[map].pat.iter().position(|p| p.var == result)?;
                self.map(arrays, lambda, position)?;
            }
            _ => self.use_elsewhere(&body.stms[map])?,
        }
        for stm in &body.stms[map + 1..update] {
            self.use_elsewhere(stm)?;
        }
        Some(())
    }

    /// Notes what the variables of a statement show of the array.
    fn look(&mut self, stm: &CoreStm) {
        let seen = |l: &Self, array: &VarId| l.seen.get(array).cloned();
        let fixed = |indices: &[Atom]| indices.iter().map(|i| DimSlice::Fix(*i)).collect::<Vec<_>>();
        let shown = match &stm.exp {
            Exp::Atom(Atom::Var(array)) => seen(self, array),
            Exp::Index { array, indices, .. } => {
                seen(self, array).map(|seen| self.select(seen, &fixed(indices)))
            }
            Exp::Slice { array, dims } => seen(self, array).map(|seen| self.select(seen, dims)),
            Exp::Reshape { array, .. } if stm.pat.iter().all(|p| self.symbols.renames.contains(&p.var)) => {
                seen(self, array)
            }
            Exp::Rearrange { array, .. } | Exp::Reshape { array, .. } => {
                seen(self, array).map(|seen| Seen { is_straight: false, ..seen })
            }
            exp if may_share(exp) => {
                let from = visit::free_vars(&stm.exp).into_iter().find_map(|var| seen(self, &var));
                from.map(|seen| Seen {
                    region: vec![Indices::Unknown; seen.region.len()],
                    is_straight: false,
                })
            }
            _ => None,
        };
        let Some(shown) = shown else { return };
        for param in stm.pat.iter().filter(|p| p.ty.is_array()) {
            self.seen.entry(param.var).or_insert_with(|| shown.clone());
        }
    }

    fn select(&self, seen: Seen, slice: &[DimSlice]) -> Seen {
        match seen.is_straight {
            true => Seen { region: self.symbols.select(&seen.region, slice), is_straight: true },
            false => seen,
        }
    }

    /// Whether a variable shows nothing of what is written.
    fn is_apart(&self, var: VarId) -> bool {
        self.seen.get(&var).is_none_or(|seen| are_apart(&seen.region, &self.written))
    }

    /// A statement that runs while or after the part is written, and must not use it.
    fn use_elsewhere(&mut self, stm: &CoreStm) -> Option<()> {
        match &stm.exp {
            Exp::Slice { .. } | Exp::Reshape { .. } | Exp::Rearrange { .. } | Exp::Atom(_) => {}
            Exp::Index { .. } if stm.pat.iter().all(|p| p.ty.is_array()) => {}
            Exp::Index { array, indices, .. } => {
                if let Some(seen) = self.seen.get(array) {
                    let element: Vec<DimSlice> = indices.iter().map(|i| DimSlice::Fix(*i)).collect();
                    let element = self.select(seen.clone(), &element);
                    are_apart(&element.region, &self.written).then_some(())?;
                }
            }
            Exp::Update { array, dims, value, .. } if self.seen.contains_key(array) => {
                let part = self.symbols.select(&self.symbols.whole(*array), dims);
                are_apart(&part, &self.written).then_some(())?;
                value.as_var().is_none_or(|value| self.is_apart(value)).then_some(())?;
            }
            exp => {
                let mut direct = Vec::new();
                visit::direct_operands(exp, &mut |atom| direct.extend(atom.as_var()));
                direct.iter().all(|var| self.is_apart(*var)).then_some(())?;
                for body in visit::bodies(exp) {
                    self.body_elsewhere(body)?;
                }
            }
        }
        self.look(stm);
        Some(())
    }

    fn body_elsewhere(&mut self, body: &Body) -> Option<()> {
        for stm in &body.stms {
            self.use_elsewhere(stm)?;
        }
        let results = body.result.iter().filter_map(|atom| atom.as_var());
        results.into_iter().all(|var| self.is_apart(var)).then_some(())
    }

    /// The map whose result is written.
    fn map(&mut self, arrays: &[VarId], lambda: &Lambda, position: usize) -> Option<()> {
        let mut own = HashSet::new();
        for (array, param) in arrays.iter().zip(&lambda.params) {
            let Some(seen) = self.seen.get(array).filter(|_| !self.is_apart(*array)) else { continue };
            if !seen.is_straight || seen.region != self.written {
                return None;
            }
            own.insert(param.var);
        }
        // A loop that failed runs again to find out why, and must find what it found before.
        if !own.is_empty() && fails(&lambda.body) {
            return None;
        }
        self.rows(lambda, own, position)
    }

    /// An iteration of the map, or of a map inside of it. `own` are the old elements of what it makes.
    fn rows(&mut self, lambda: &Lambda, own: HashSet<VarId>, position: usize) -> Option<()> {
        let is_scalar = matches!(lambda.ret.get(position)?, Type::Prim(_));
        if is_scalar || own.is_empty() {
            return self.body_elsewhere(&lambda.body);
        }
        let result = lambda.body.result.get(position)?.as_var()?;
        let at = lambda.body.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == result))?;
        let mut views = own.clone();
        for (index, stm) in lambda.body.stms.iter().enumerate() {
            let used = visit::free_vars(&stm.exp).into_iter().any(|var| views.contains(&var));
            if index < at {
                // The row may be read, before it is written.
                self.use_elsewhere(stm)?;
                if used && may_share(&stm.exp) {
                    views.extend(stm.pat.iter().filter(|p| p.ty.is_array()).map(|p| p.var));
                }
            } else if index > at {
                self.use_elsewhere(stm)?;
                (!used).then_some(())?;
            } else {
                let Exp::Map { arrays, lambda, .. } = &stm.exp else { return None };
                arrays.iter().all(|array| own.contains(array) || self.is_apart(*array)).then_some(())?;
                let inside = visit::free_vars_lambda(lambda);
                (!inside.iter().any(|var| views.contains(var))).then_some(())?;
                let is_view = |array: &VarId| views.contains(array) && !own.contains(array);
                (!arrays.iter().any(is_view)).then_some(())?;
                let rows = arrays.iter().zip(&lambda.params).filter(|(array, _)| own.contains(array));
                let rows = rows.map(|(_, param)| param.var).collect();
                let position = stm.pat.iter().position(|p| p.var == result)?;
                self.rows(lambda, rows, position)?;
            }
        }
        let others = lambda.body.result.iter().enumerate().filter(|(i, _)| *i != position);
        let is_old = |atom: &Atom| atom.as_var().is_some_and(|var| views.contains(&var));
        (!others.into_iter().any(|(_, atom)| is_old(atom))).then_some(())
    }
}

/// Whether results can be arrays that there were before, or parts of them.
pub(super) fn may_share(exp: &Exp) -> bool {
    viewed(exp).is_some()
        || matches!(exp, Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Trace { .. })
}

/// Whether something inside of a body can stop the program.
pub(super) fn fails(body: &Body) -> bool {
    body.stms.iter().any(|stm| can_fail(&stm.exp))
}
