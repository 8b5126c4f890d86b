//! Effects: what references refer to while the program is evaluated.
//!
//! A handler has a *cell* for as long as its body is evaluated. The cell of `run_state` holds the current value, so that
//! `get` and `:=` leave no trace but the value itself; the cell of `run_accum` holds Core accumulators. A reference is
//! the number of a cell and a path in it.
//!
//! ```text
//! run_state 0 (\s -> loop () for x in xs do (s := get s + x))
//! ==>     loop (s: i64 = 0) for i < n do let x = xs[i]   let s' = s + x   in s'
//! ```
//!
//! What is evaluated in a scope of its own must hand on what it changed. Branches compare the cells before and after
//! ([`Simplifier::branch`]). Loops and maps must know beforehand which cells go round with them. They begin with none; a
//! write to another cell ends the attempt ([`Simplifier::in_region`]), and the next one has that cell. Functions that are
//! given references are inlined, so that this is all there is.

mod accumulate;
mod handler;
mod ordered;

mod reference;

use std::collections::BTreeMap;
use std::rc::Rc;

use dagaz_syntax::Name;
use dagaz_types::types::RefKind;

use crate::context::{Res, Simplifier};
use crate::value::SVal;
use crate::walk::{Kind, Token, flatten};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct CellId(pub u32);

/// What a handler keeps.
#[derive(Clone)]
pub(crate) struct Cell {
    pub kind: RefKind,
    /// The state; or a tuple of accumulators.
    pub value: SVal,
    /// Something that looks like what the references refer to; of an accumulator, the total.
    pub like: SVal,
    /// For each of the accumulators, where it is in the whole.
    pub places: Rc<[Place]>,
    /// Another one after every change.
    version: u64,
    /// How many regions there were around the handler.
    depth: usize,
}

/// Where an accumulator is in what a handler keeps.
pub(crate) struct Place {
    /// The fields that lead to it.
    pub fields: Vec<Name>,
    /// Over how many dimensions it is; if none, it is an array of one element nevertheless.
    pub rank: usize,
}

/// Code that does not run just once, in order, like what is around it.
struct Region {
    kind: RegionKind,
    /// The cells that it may change.
    carried: Vec<CellId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Loop,
    /// Runs in parallel, unless it changes state.
    For,
    /// Runs in parallel.
    Map,
    /// Cannot change anything, but may read: the condition of a loop.
    Condition,
    /// Must do with what it is given.
    Closed(&'static str),
}

#[derive(Default)]
pub(crate) struct Effects {
    cells: BTreeMap<CellId, Cell>,
    regions: Vec<Region>,
    /// The region that must be evaluated again, and the cell that it must carry.
    wanted: Option<(usize, CellId)>,
    next: u32,
}

impl Effects {
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

/// Whether a reference occurs in a value, be it in what a function captured.
pub(crate) fn mentions_reference(value: &SVal) -> bool {
    flatten(value).tokens.contains(&Token::Kind(Kind::Ref))
}

/// Cells.
impl Simplifier<'_> {
    fn new_cell(&mut self, kind: RefKind, value: SVal, like: SVal, places: Rc<[Place]>) -> CellId {
        let id = CellId(self.effects.next);
        self.effects.next += 1;
        let cell =
            Cell { kind, value, like, places, version: self.fresh_id(), depth: self.effects.regions.len() };
        self.effects.cells.insert(id, cell);
        id
    }

    /// The cell of a reference.
    pub(crate) fn cell(&self, id: CellId) -> Res<Cell> {
        match self.effects.cells.get(&id) {
            Some(cell) => Ok(cell.clone()),
            None => self.escaped(),
        }
    }

    fn escaped<T>(&self) -> Res<T> {
        self.misuse("reference-escape", "a reference is used after the handler that made it has ended")
    }

    /// The cell of a reference that is read.
    fn cell_to_read(&self, id: CellId) -> Res<Cell> {
        let cell = self.cell(id)?;
        for region in &self.effects.regions[cell.depth..] {
            if let RegionKind::Closed(what) = region.kind {
                return self.effect_inside(what);
            }
        }
        Ok(cell)
    }

    /// The cell of a reference that is written, once all regions around are prepared for that.
    fn cell_to_change(&mut self, id: CellId) -> Res<Cell> {
        let cell = self.cell(id)?;
        let unprepared = (self.effects.regions.iter().enumerate().skip(cell.depth))
            .find(|(_, region)| !region.carried.contains(&id))
            .map(|(depth, region)| (depth, region.kind));
        let Some((depth, kind)) = unprepared else { return Ok(cell) };
        match (kind, cell.kind) {
            (RegionKind::Closed(what), _) => self.effect_inside(what),
            (RegionKind::Condition, _) => self.effect_inside("the condition of a loop"),
            (RegionKind::Map, RefKind::State) => self.misuse(
                "state-in-parallel",
                "state is changed by a function that is applied to many elements at once, in no order",
            ),
            (RegionKind::Loop | RegionKind::For, _) | (RegionKind::Map, RefKind::Accum) => {
                self.effects.wanted = Some((depth, id));
                self.bug("an attempt that was not repeated")
            }
        }
    }

    fn effect_inside<T>(&self, what: &str) -> Res<T> {
        self.misuse(
            "effect-inside",
            format!(
                "a reference from outside is used in {what}, which must have no effects on its surroundings"
            ),
        )
    }

    /// What a cell holds from now on.
    fn set_cell(&mut self, id: CellId, value: SVal) {
        let version = self.fresh_id();
        if let Some(cell) = self.effects.cells.get_mut(&id) {
            cell.value = value;
            cell.version = version;
        }
    }
}

/// Regions.
impl Simplifier<'_> {
    /// Evaluates a region, again and again until `run` is told of all cells that it changes.
    pub fn in_region<T>(
        &mut self,
        kind: RegionKind,
        mut run: impl FnMut(&mut Self, &[CellId]) -> Res<T>,
    ) -> Res<T> {
        let depth = self.effects.regions.len();
        let (loc, span) = (self.loc, self.span);
        let mut carried = Vec::new();
        loop {
            let before = self.effects.cells.clone();
            self.effects.regions.push(Region { kind, carried: carried.clone() });
            let result = run(self, &carried);
            self.effects.regions.truncate(depth);
            match (result, self.effects.wanted) {
                (Err(_), Some((wanted, cell))) if wanted == depth => {
                    self.effects.wanted = None;
                    self.effects.cells = before;
                    (self.loc, self.span) = (loc, span);
                    carried.push(cell);
                }
                (result, _) => return result,
            }
        }
    }

    /// Evaluates code that must not have effects on what is outside of it.
    pub fn without_effects<T>(
        &mut self,
        what: &'static str,
        run: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<T> {
        self.inside(RegionKind::Closed(what), run)
    }

    pub fn inside<T>(&mut self, kind: RegionKind, run: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let depth = self.effects.regions.len();
        self.effects.regions.push(Region { kind, carried: Vec::new() });
        let result = run(self);
        self.effects.regions.truncate(depth);
        result
    }

    pub fn cell_values(&self, cells: &[CellId]) -> Res<Vec<SVal>> {
        cells.iter().map(|id| Ok(self.cell(*id)?.value)).collect()
    }

    pub fn set_cells(&mut self, cells: &[CellId], values: impl IntoIterator<Item = SVal>) {
        for (cell, value) in cells.iter().zip(values) {
            self.set_cell(*cell, value);
        }
    }

    pub fn carries_state(&self, cells: &[CellId]) -> Res<bool> {
        for id in cells {
            if self.cell(*id)?.kind == RefKind::State {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What `run` gives, and the cells that it changes with what is in them then; they are as before afterwards.
    pub fn observed<T>(&mut self, run: impl FnOnce(&mut Self) -> Res<T>) -> Res<(T, BTreeMap<CellId, SVal>)> {
        let before = self.effects.cells.clone();
        let result = run(self)?;
        let after = std::mem::replace(&mut self.effects.cells, before);
        let is_changed = |id: &CellId, cell: &Cell| {
            self.effects.cells.get(id).is_some_and(|before| before.version != cell.version)
        };
        let changed = after.into_iter().filter(|(id, cell)| is_changed(id, cell));
        Ok((result, changed.map(|(id, cell)| (id, cell.value)).collect()))
    }
}
