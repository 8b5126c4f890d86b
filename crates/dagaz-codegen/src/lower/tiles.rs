//! Rows that the chains of a scan read and write side by side.
//!
//! In a loop over chains, vector units have one number of each chain in a vector. Where the components of a row are next to each
//! other in memory, the C compiler reads and writes these numbers one by one. A tile has as many components as there are
//! chains: its rows are vectors, and what the loop takes from them is put together in registers:
//!
//!     for c < 4 { x = xs[at(c) * 4]; … w = xs[at(c) * 4 + 3]; … }
//!     ==>
//!     for c < 4 { copy of xs[at(c) * 4 …] to tile[c] }
//!     for c < 4 { x = tile[c][0]; … w = tile[c][3]; … }
//!
//! A piece of a scan is gone through twice, and the second time it is in the cache. Meanwhile, memory is asked for the piece
//! that the thread has next.
//!
//! Results go to a tile likewise, which is written after the loop. Elements are read before the loop if nothing that the
//! loop writes comes before them, and written after it if it reads nothing behind them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dagaz_core::prim::PrimType;

use super::Lower;
use super::polynomials::{Polynomial, expr_of, polynomial};
use crate::imp::{Expr, LoopKind, Operand, Place, Repr, Runtime, StackArray, Stm, Var};

/// An element that is read or written in every iteration of a loop.
struct Access {
    elem: PrimType,
    /// The array or what it is a view of, and the place in there.
    root: Var,
    place: Polynomial,
    /// The number of the access in the body.
    number: usize,
    is_write: bool,
}

/// Some elements that are next to each other, in order: the numbers of their accesses.
struct Tile {
    var: Var,
    elem: PrimType,
    is_write: bool,
    from: Expr,
    place: Polynomial,
    accesses: Vec<usize>,
}

/// What is found in the body of a loop.
#[derive(Default)]
struct Search {
    pointers: HashMap<Arc<str>, (Var, Polynomial)>,
    values: HashMap<Arc<str>, Polynomial>,
    /// What the loop declares and cannot be known before it.
    inside: HashSet<Arc<str>>,
    /// Arrays of the loops around, which nothing else can be.
    own: HashSet<Var>,
    accesses: Vec<Access>,
    count: usize,
    first_write: Option<usize>,
    last_read: Option<usize>,
}

impl Lower<'_> {
    /// Has the loop over so many chains that was made last read and write tiles. `own` are arrays that the chains have. What
    /// it reads is fetched for a later piece, too, if there are the row that this piece begins with and how far that is.
    pub(super) fn with_tiles<'v>(
        &mut self,
        chains: usize,
        own: impl Iterator<Item = &'v Var>,
        later: Option<(&Var, &Expr)>,
    ) {
        let Some(Stm::Loop { kind, var, from, to, note, mut body }) = self.out.pop() else { return };
        let mut search = Search { own: own.cloned().collect(), ..Search::default() };
        search.pointers = self.pointers_by_name();
        search.body(&body);
        let tiles = search.tiles(self, chains);
        let mut elements = HashMap::new();
        for tile in &tiles {
            let places = tile.accesses.iter().enumerate();
            elements.extend(places.map(|(k, number)| (*number, (tile.var.at(&var), k.expr()))));
        }
        replace(&mut body, &elements, &mut 0);
        let loop_over = |kind, body| Stm::Loop {
            kind,
            var: var.clone(),
            from: from.clone(),
            to: to.clone(),
            note: note.clone(),
            body,
        };
        let copies = |l: &mut Self, is_write: bool| {
            for tile in tiles.iter().filter(|tile| tile.is_write == is_write) {
                let copy = tile.copy(&var, chains, later);
                l.out.push(loop_over(LoopKind::Sequential, copy));
            }
        };
        for tile in &tiles {
            self.out.push(Stm::StackArray(StackArray {
                rows: Some(chains),
                ..StackArray::of(&tile.var, chains)
            }));
        }
        copies(self, false);
        self.out.push(loop_over(kind, body));
        copies(self, true);
    }

    /// The views of other arrays, and where these begin in those.
    fn pointers_by_name(&self) -> HashMap<Arc<str>, (Var, Polynomial)> {
        let own = HashMap::new();
        let place = |(view, (base, offset)): (&_, &(_, Expr))| {
            let offset = polynomial(offset, &own)?;
            Some((Arc::from(self.name(*view)), (self.var(*base).ok()?, offset)))
        };
        self.memory.pointers.iter().filter_map(place).collect()
    }
}

impl Tile {
    /// Copies the row of a chain between the tile and memory.
    fn copy(&self, chain: &Var, chains: usize, later: Option<(&Var, &Expr)>) -> Vec<Stm> {
        let row = self.var.at(chain);
        let copy = |to: &Expr, from: &Expr| {
            Stm::run(Runtime::Copy(self.elem), [to.clone(), from.clone(), chains.expr()])
        };
        if self.is_write {
            return vec![copy(&self.from, &row)];
        }
        let fetch = later.map(|(first, ahead)| {
            let distance = (self.place.factor_of(&first.name) as i64).times(ahead);
            Stm::run(Runtime::Fetch(self.elem), [self.from.clone(), distance, false.expr()])
        });
        std::iter::once(copy(&row, &self.from)).chain(fetch).collect()
    }
}

impl Search {
    fn body(&mut self, stms: &[Stm]) {
        for stm in stms {
            self.count += usize::from(is_numbered(stm));
            match stm {
                Stm::Declare { var, value: Some(value) } => self.declaration(var, value),
                Stm::Declare { var, value: None } => drop(self.inside.insert(var.name.clone())),
                Stm::Assign(place, value) => self.assignment(place, value),
                Stm::Block(body) => self.body(body),
                // It may read and write anything, and not in every iteration.
                _ => {
                    self.first_write.get_or_insert(self.count);
                    self.last_read = Some(self.count);
                }
            }
        }
    }

    fn declaration(&mut self, var: &Var, value: &Expr) {
        if let Some((array, place)) = element(value) {
            self.inside.insert(var.name.clone());
            return self.access(array, place, false);
        }
        if value.has_load() {
            self.last_read = Some(self.count);
        }
        match var.repr {
            Repr::Pointer(..) => match self.view(value) {
                Some(view) => drop(self.pointers.insert(var.name.clone(), view)),
                None => drop(self.inside.insert(var.name.clone())),
            },
            Repr::I64 => match polynomial(value, &self.values) {
                Some(value) => drop(self.values.insert(var.name.clone(), value)),
                None => drop(self.inside.insert(var.name.clone())),
            },
            _ => drop(self.inside.insert(var.name.clone())),
        }
    }

    /// The array that a pointer leads into, and where.
    fn view(&self, pointer: &Expr) -> Option<(Var, Polynomial)> {
        match pointer {
            Expr::Var(base) => Some((base.clone(), Polynomial::default())),
            Expr::Offset(operands) => {
                let base = operands[0].as_var()?.clone();
                Some((base, polynomial(&operands[1], &self.values)?))
            }
            _ => None,
        }
    }

    fn assignment(&mut self, target: &Place, value: &Expr) {
        if value.has_load() {
            self.last_read = Some(self.count);
        }
        match target {
            Place::Element(Expr::Var(array), place) if !place.has_load() => self.access(array, place, true),
            Place::Var(var) => {
                // It has another value from here on.
                self.values.remove(&var.name);
                self.pointers.remove(&var.name);
                self.inside.insert(var.name.clone());
            }
            Place::Element(..) | Place::Result(_) | Place::Global(_) | Place::Output(..) => {
                self.first_write.get_or_insert(self.count);
                self.last_read = Some(self.count);
            }
        }
    }

    fn access(&mut self, array: &Var, place: &Expr, is_write: bool) {
        if self.own.contains(array) {
            return;
        }
        if is_write {
            self.first_write.get_or_insert(self.count);
        } else {
            self.last_read = Some(self.count);
        }
        let Repr::Pointer(elem, _) = array.repr else { return };
        let Some(mut place) = polynomial(place, &self.values) else { return };
        let mut root = array.clone();
        while let Some((base, offset)) = self.pointers.get(&root.name) {
            let Some(sum) = place.plus(1, offset) else { return };
            (place, root) = (sum, base.clone());
        }
        self.accesses.push(Access { elem, root, place, number: self.count, is_write });
    }

    /// The elements that are next to each other, and can be read before the loop or written after it.
    fn tiles(self, lower: &mut Lower<'_>, chains: usize) -> Vec<Tile> {
        let Search { inside, mut accesses, first_write, last_read, .. } = self;
        accesses.retain(|access| {
            let is_outside = |name: &Arc<str>| !inside.contains(name);
            let is_in_order = match access.is_write {
                true => last_read.is_none_or(|last| last < access.number),
                false => first_write.is_none_or(|first| access.number < first),
            };
            is_in_order && is_outside(&access.root.name) && access.place.variables().all(is_outside)
        });
        let mut tiles = Vec::new();
        for start in &accesses {
            let next = |k: i64| {
                let mut same = accesses.iter().filter(|access| {
                    access.root == start.root
                        && access.is_write == start.is_write
                        && access.elem == start.elem
                        && access.place.difference(&start.place) == Some(k)
                });
                same.next().map(|access| access.number)
            };
            let numbers: Vec<usize> = (0..chains as i64).map_while(next).collect();
            let is_taken = |number: &usize| tiles.iter().any(|tile: &Tile| tile.accesses.contains(number));
            if numbers.len() == chains && !numbers.iter().any(is_taken) {
                tiles.push(Tile {
                    var: lower.temp(Repr::pointer(start.elem), "tile"),
                    elem: start.elem,
                    is_write: start.is_write,
                    from: &start.root + expr_of(&start.place),
                    place: start.place.clone(),
                    accesses: numbers,
                });
            }
        }
        tiles
    }
}

/// The array and the place of an element that is read, if nothing else is.
fn element(value: &Expr) -> Option<(&Var, &Expr)> {
    let Expr::Load(operands) = value else { return None };
    let [array, place] = operands.as_ref();
    Some((array.as_var()?, place)).filter(|_| !place.has_load())
}

/// Whether a statement has a number: all do that can be an access or stand between two.
fn is_numbered(stm: &Stm) -> bool {
    !matches!(stm, Stm::Declare { value: None, .. } | Stm::Block(_))
}

/// Puts other places for those of accesses, by their numbers.
fn replace(stms: &mut [Stm], places: &HashMap<usize, (Expr, Expr)>, count: &mut usize) {
    for stm in stms {
        *count += usize::from(is_numbered(stm));
        if let Stm::Block(body) = stm {
            replace(body, places, count);
        } else if let Some((row, place)) = places.get(count) {
            match stm {
                Stm::Declare { value: Some(value), .. } => *value = row.at(place),
                Stm::Assign(target, _) => *target = Place::Element(row.clone(), place.clone()),
                _ => {}
            }
        }
    }
}
