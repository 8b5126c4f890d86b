//! Elements from anywhere in large arrays are fetched before they are needed.
//!
//! A loop that updates places which data decide waits for memory most of the time, if they are in more of it than the caches
//! hold. Where the places of later iterations are easy to tell, memory is asked for them early:
//!
//!     for i { k = is[i]; sums[k] += xs[i] }
//!     ==>
//!     for i { if (sums is large) { k = is[i + 64]; fetch sums[k] } k = is[i]; sums[k] += xs[i] }
//!
//! So it is where iterations add up rows of a matrix, or add to them:
//!
//!     for i { for j { sum[j] += xss[is[i], j] } }
//!     ==>
//!     if (xss is large) for i < 16 { fetch the row xss[is[i]] }
//!     for i { if (xss is large) { fetch the row xss[is[i + 16]] } for j { sum[j] += xss[is[i], j] } }
//!
//! A loop inside of others that only checks which rows data choose asks for these rows: they are needed next, unless the others
//! are there for checks, too.
//!
//! Neighbours are found by the processor itself, but late where rows are short: each is another stretch of memory. An iteration that
//! takes long for each element asks for the row of the next one, in the cache that is next to the nearest, before it begins:
//!
//!     for i { row = a + i * m; for j < m { ys[j] = exp(row[j]) … } }
//!     ==>
//!     for i { row = a + i * m; if (a is large && m is small) fetch row[m], … , row[2 * m - 1]; for j < m { … } }

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Body, Exp, Lambda, Stm as CoreStm};
use dagaz_core::machine;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, VarId};
use dagaz_core::visit;

use super::{Form, Lower, Lowered, elem};
use crate::imp::{Expr, LoopKind, Operand, Runtime, Stm, Var, any};

/// Places that an iteration reads or writes: elements of an array with this pointer, type and shape, or rows if it has more
/// dimensions than there are indices.
pub(super) struct Prefetched {
    pub(super) array: Var,
    pub(super) elem: PrimType,
    pub(super) shape: Vec<Atom>,
    pub(super) indices: Vec<Atom>,
    pub(super) is_written: bool,
}

/// What is fetched in each iteration.
pub(super) struct Fetch {
    /// The variable that says whether it is worth it.
    pub(super) is_worth: Var,
    /// So many iterations before the place is needed.
    ahead: usize,
    rows: Vec<(VarId, Param)>,
    stms: Vec<CoreStm>,
    places: Vec<Prefetched>,
}

impl Lower<'_> {
    /// What to fetch for a loop over rows of arrays, whose body uses some places and reads others.
    pub(super) fn fetch(
        &mut self,
        (arrays, params): (&[VarId], &[Param]),
        body: &Body,
        used: Vec<Prefetched>,
    ) -> Option<Fetch> {
        let mut places = used;
        self.places_read(body, &mut places);
        self.fetch_places((arrays, params), body, places, machine::ELEMENTS_AHEAD)
    }

    /// What to fetch for a loop over rows of arrays whose iterations read rows of others, element by element: the last index
    /// is one of the counters.
    pub(super) fn fetch_rows_read(
        &mut self,
        (arrays, params): (&[VarId], &[Param]),
        body: &Body,
        counters: &HashSet<VarId>,
    ) -> Option<Fetch> {
        let mut places = Vec::new();
        for stm in &body.stms {
            let Exp::Index { array, indices, .. } = &stm.exp else { continue };
            let is_fetched = arrays.iter().any(|list| self.around.fetched.contains(&(*list, *array)));
            if is_fetched || !is_along_row(indices, counters) {
                continue;
            }
            places.extend(self.place_read(*array, indices).map(|mut place| {
                place.indices.pop();
                place
            }));
        }
        self.fetch_places((arrays, params), body, places, machine::ROWS_AHEAD)
    }

    /// What to fetch for a loop whose iterations update rows of accumulators.
    pub(super) fn fetch_rows_updated(&mut self, arrays: &[VarId], lambda: &Lambda) -> Lowered<Option<Fetch>> {
        let mut places = Vec::new();
        let mut names = self.names_of_accumulators(arrays, &lambda.params, &HashMap::new());
        for stm in &lambda.body.stms {
            let Exp::Map { arrays: inner, lambda: along, .. } = &stm.exp else { continue };
            let mut own = self.names_of_accumulators(inner, &along.params, &names);
            let counters = self.counters(inner, &along.params);
            for stm in &along.body.stms {
                let Exp::UpdateAcc { acc, indices, .. } = &stm.exp else { continue };
                let Some(number) = own.get(acc).copied() else { continue };
                own.extend(stm.pat.iter().map(|param| (param.var, number)));
                if is_along_row(indices, &counters) {
                    self.places_of_accumulator(number, &indices[..indices.len() - 1], &mut places)?;
                }
            }
            for (param, result) in stm.pat.iter().zip(&along.body.result) {
                let number = result.as_var().and_then(|var| own.get(&var).copied());
                names.extend(number.map(|number| (param.var, number)));
            }
        }
        Ok(self.fetch_places((arrays, &lambda.params), &lambda.body, places, machine::ROWS_AHEAD))
    }

    /// The accumulators that parameters stand for, which may have been given names before.
    fn names_of_accumulators(
        &self,
        arrays: &[VarId],
        params: &[Param],
        known: &HashMap<VarId, usize>,
    ) -> HashMap<VarId, usize> {
        let number = |array: &VarId| known.get(array).or_else(|| self.accs.get(array)).copied();
        let named = arrays.iter().zip(params).filter_map(|(array, p)| Some((p.var, number(array)?)));
        named.collect()
    }

    /// Adds where an accumulator is updated, unless that is logged: logged additions are fetched when they are made.
    fn places_of_accumulator(
        &self,
        number: usize,
        indices: &[Atom],
        places: &mut Vec<Prefetched>,
    ) -> Lowered<()> {
        let direct = self.open[number].log.is_none();
        for array in self.open[number].arrays.iter().filter(|_| direct) {
            places.push(Prefetched {
                array: self.var_of(array)?,
                elem: elem(&array.ty)?,
                shape: array.ty.dims().to_vec(),
                indices: indices.to_vec(),
                is_written: true,
            });
        }
        Ok(())
    }

    /// The places of accumulators that an iteration without loops updates.
    pub(super) fn places_updated(&self, arrays: &[VarId], lambda: &Lambda) -> Lowered<Vec<Prefetched>> {
        let mut used = Vec::new();
        let mut names = self.names_of_accumulators(arrays, &lambda.params, &HashMap::new());
        for stm in &lambda.body.stms {
            let Exp::UpdateAcc { acc, indices, .. } = &stm.exp else { continue };
            let Some(number) = names.get(acc).copied() else { continue };
            names.extend(stm.pat.iter().map(|param| (param.var, number)));
            self.places_of_accumulator(number, indices, &mut used)?;
        }
        Ok(used)
    }

    /// What to fetch of places, those that are easy to tell.
    fn fetch_places(
        &mut self,
        (arrays, params): (&[VarId], &[Param]),
        body: &Body,
        mut places: Vec<Prefetched>,
        ahead: usize,
    ) -> Option<Fetch> {
        let mut needed: HashSet<VarId> = HashSet::new();
        places.retain(|place| self.are_told_by_data((arrays, params), body, &place.indices, &mut needed));
        let mut sizes: Vec<Expr> = Vec::new();
        for place in &places {
            let is_large = self.is_large(place.elem, &place.shape);
            if !sizes.contains(&is_large) {
                sizes.push(is_large);
            }
        }
        let is_worth = self.temp_with(PrimType::Bool, "is_large", any(sizes)?);
        let rows = arrays.iter().zip(params).filter(|(_, param)| needed.contains(&param.var));
        let rows = rows.map(|(array, param)| (*array, param.clone())).collect();
        let is_needed = |stm: &&CoreStm| stm.pat.iter().any(|param| needed.contains(&param.var));
        let stms = body.stms.iter().filter(is_needed).cloned().collect();
        Some(Fetch { is_worth, ahead, rows, stms, places })
    }

    /// Whether an array has more bytes than there are in the cache of a core.
    fn is_large(&self, elem: PrimType, shape: &[Atom]) -> Expr {
        let bytes = self.product(shape).cast(PrimType::F64).times(elem.bytes() as f64);
        bytes.is_above(machine::CACHED_BYTES as f64)
    }

    /// Asks for what the first iterations need, as those before them would have done.
    pub(super) fn fetch_first(&mut self, fetch: Option<&Fetch>, from: &Expr, to: &Expr) -> Lowered<()> {
        let Some(fetch) = fetch else { return Ok(()) };
        let (then, ()) = self.nested(|l| {
            let end = (from + fetch.ahead).minimum(to);
            l.loop_from(LoopKind::Sequential, from, end, |l, i| l.fetch_now(fetch, i))
        })?;
        self.out.push(Stm::when(fetch.is_worth.clone(), then));
        Ok(())
    }

    /// Asks for what the iteration some way after `i` needs.
    pub(super) fn fetch_ahead(&mut self, fetch: Option<&Fetch>, i: &Var, to: &Expr) -> Lowered<()> {
        let Some(fetch) = fetch else { return Ok(()) };
        let (then, ()) = self.nested(|l| l.fetch_later(fetch, i, to))?;
        self.out.push(Stm::when(fetch.is_worth.clone(), then));
        Ok(())
    }

    /// The same if it is known to be worth it.
    pub(super) fn fetch_later(&mut self, fetch: &Fetch, i: &Var, to: &Expr) -> Lowered<()> {
        let later = i + fetch.ahead;
        let ahead = self.int("ahead", later.is_below(to).select(&later, i));
        self.fetch_now(fetch, &ahead)
    }

    /// Asks for what an iteration needs.
    fn fetch_now(&mut self, fetch: &Fetch, i: &Var) -> Lowered<()> {
        for (array, param) in &fetch.rows {
            self.load_row(&[*array], std::slice::from_ref(param), i)?;
        }
        for stm in &fetch.stms {
            self.stm(stm)?;
        }
        for Prefetched { array, elem, shape, indices, is_written } in &fetch.places {
            let indices: Vec<Expr> = indices.iter().map(|index| self.atom(*index)).collect();
            let place = [array.expr(), self.offset(&indices, shape), is_written.expr()];
            let row = &shape[indices.len().min(shape.len())..];
            if row.is_empty() {
                self.run(Runtime::Fetch(*elem), place);
                continue;
            }
            let [array, offset, is_written] = place;
            self.run(Runtime::FetchRow(*elem), [array, offset, self.product(row), is_written]);
        }
        Ok(())
    }

    /// The loop of a map that checks rows, if it is one.
    pub(super) fn check_rows(
        &mut self,
        (arrays, lambda): (&[VarId], &Lambda),
        (from, to): (&Expr, &Expr),
    ) -> Lowered<bool> {
        let is_row = |stm: &&CoreStm| {
            matches!(stm.exp, Exp::Index { .. }) && stm.pat.iter().all(|param| param.ty.is_array())
        };
        let stms = || lambda.body.stms.iter();
        let are_scalar = stms().filter(|stm| !is_row(stm)).all(|stm| self.is_simple_stm(stm));
        let rows: Vec<(VarId, Param)> = stms()
            .filter(is_row)
            .filter_map(|stm| match (&stm.exp, stm.pat.as_slice()) {
                (Exp::Index { array, .. }, [row]) => Some((*array, row.clone())),
                _ => None,
            })
            .filter(|(array, _)| {
                self.scope.vars.get(array).is_some_and(|info| matches!(info.form, Form::Block { .. }))
            })
            .collect();
        let is_before_use = lambda.ret.is_empty() && self.around.checking == 1 && !self.is_outermost();
        if !is_before_use || !are_scalar || rows.is_empty() {
            return Ok(false);
        }
        self.around
            .fetched
            .extend(arrays.iter().flat_map(|list| rows.iter().map(|(array, _)| (*list, *array))));
        let mut sizes = Vec::new();
        for (array, _) in &rows {
            let (elem, dims) = self.array(*array)?;
            sizes.push(self.is_large(elem, &dims));
        }
        let is_worth = any(sizes).unwrap_or_else(|| false.expr());
        let is_worth = self.temp_with(PrimType::Bool, "is_large", is_worth);
        self.iterate(from, to, |l, i| {
            l.load_row(arrays, &lambda.params, i)?;
            l.body(&lambda.body, &lambda.params, |l| {
                for (_, row) in &rows {
                    let row_here = [l.var(row.var)?.expr(), 0.expr(), l.product(row.ty.dims()), false.expr()];
                    let fetch = Stm::run(Runtime::FetchRow(elem(&row.ty)?), row_here);
                    l.out.push(Stm::when(&is_worth, vec![fetch]));
                }
                Ok(())
            })
        })?;
        Ok(true)
    }

    /// Asks for the row that the next iteration of the loop around reads elements of, by a function that takes long.
    pub(super) fn fetch_next_row(
        &mut self,
        (array, indices): (VarId, &[Atom]),
        row: &Param,
        lambda: &Lambda,
    ) -> Lowered<()> {
        let around = self.frames.last().map(|frame| frame.region);
        let is_counter = |var: VarId| {
            self.scope.below.contains_key(&var) && self.scope.vars.get(&var).map(|info| info.region) == around
        };
        let is_next = indices.last().and_then(|index| index.as_var()).is_some_and(is_counter);
        if !is_next || self.cost_of_scalars(lambda) < machine::FETCHING_OPERATIONS {
            return Ok(());
        }
        let (elem, dims) = self.array(array)?;
        let (pointer, count) = (self.var_of(row)?, self.product(row.ty.dims()));
        let is_short = (&count * elem.bytes()).is_at_most(machine::FETCHED_ROW_BYTES);
        let fetch = Stm::run(Runtime::FetchNextRow(elem), [pointer.expr(), count]);
        self.out.push(Stm::when(self.is_large(elem, &dims).both(is_short), vec![fetch]));
        Ok(())
    }

    /// Elements that a body reads from arrays in blocks.
    fn places_read(&self, body: &Body, places: &mut Vec<Prefetched>) {
        for stm in &body.stms {
            match &stm.exp {
                Exp::Index { array, indices, .. } => places.extend(self.place_read(*array, indices)),
                exp @ Exp::If { .. } => {
                    visit::bodies(exp).into_iter().for_each(|body| self.places_read(body, places));
                }
                _ => {}
            }
        }
    }

    /// An element of an array in a block.
    fn place_read(&self, array: VarId, indices: &[Atom]) -> Option<Prefetched> {
        let info = self.scope.vars.get(&array)?;
        let is_block = matches!(info.form, Form::Block { .. });
        (is_block && info.ty.rank() == indices.len()).then_some(Prefetched {
            array: self.var(array).ok()?,
            elem: elem(&info.ty).ok()?,
            shape: info.ty.dims().to_vec(),
            indices: indices.to_vec(),
            is_written: false,
        })
    }

    /// Whether indices are easily computed from the elements of rows. Adds what that takes to `needed`.
    fn are_told_by_data(
        &self,
        (arrays, params): (&[VarId], &[Param]),
        body: &Body,
        indices: &[Atom],
        needed: &mut HashSet<VarId>,
    ) -> bool {
        let mut found: HashSet<VarId> = indices.iter().filter_map(|index| index.as_var()).collect();
        for stm in body.stms.iter().rev() {
            if !stm.pat.iter().any(|param| found.contains(&param.var)) {
                continue;
            }
            let is_easy = match &stm.exp {
                Exp::BinOp(..) => !can_fail(&stm.exp),
                Exp::Atom(_) | Exp::UnOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
                _ => false,
            };
            if !is_easy {
                return false;
            }
            found.extend(visit::free_vars(&stm.exp));
        }
        // What is bound in a branch is not known before it.
        let bound: HashSet<VarId> =
            params.iter().chain(body.stms.iter().flat_map(|stm| &stm.pat)).map(|p| p.var).collect();
        let is_known = |var: &VarId| bound.contains(var) || self.scope.vars.contains_key(var);
        let from_data = arrays
            .iter()
            .zip(params)
            .any(|(array, param)| found.contains(&param.var) && self.has_memory(*array));
        let fits = from_data && found.iter().all(is_known);
        if fits {
            needed.extend(found);
        }
        fits
    }
}

/// Whether the last of several indices is a counter.
fn is_along_row(indices: &[Atom], counters: &HashSet<VarId>) -> bool {
    let last = indices.last().and_then(|index| index.as_var());
    indices.len() > 1 && last.is_some_and(|var| counters.contains(&var))
}
