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

use super::Lower;
use super::polynomials::Polynomial;
use crate::imp::{LoopKind, Stm};

/// An element that is read or written in every iteration of a loop.
struct Access {
    /// Its type, as C writes it.
    ty: String,
    /// The array or what it is a view of, and the place in there.
    root: String,
    place: Polynomial,
    /// The number of the access in the body.
    number: usize,
    is_write: bool,
}

/// Some elements that are next to each other, in order: the numbers of their accesses.
struct Tile {
    name: String,
    ty: String,
    is_write: bool,
    from: String,
    place: Polynomial,
    accesses: Vec<usize>,
}

/// What is found in the body of a loop.
#[derive(Default)]
struct Search {
    pointers: HashMap<String, (String, Polynomial)>,
    values: HashMap<String, Polynomial>,
    types: HashMap<String, String>,
    /// What the loop declares and cannot be known before it.
    inside: HashSet<String>,
    /// Arrays of the loops around, which nothing else can be.
    own: HashSet<String>,
    accesses: Vec<Access>,
    count: usize,
    first_write: Option<usize>,
    last_read: Option<usize>,
}

impl Lower<'_> {
    /// Has the loop over so many chains that was made last read and write tiles. `own` are arrays that the chains have. What
    /// it reads is fetched for a later piece, too, if there are the row that this piece begins with and how far that is.
    pub(super) fn with_tiles(
        &mut self,
        chains: usize,
        own: impl Iterator<Item = String>,
        later: Option<(&str, &str)>,
    ) {
        let Some(Stm::Loop { kind, var, from, to, note, mut body }) = self.out.pop() else { return };
        let mut search = Search { own: own.collect(), ..Search::default() };
        search.pointers = self.pointers_by_name();
        search.body(&body);
        let tiles = search.tiles(self, chains);
        let targets: HashMap<usize, String> = tiles
            .iter()
            .flat_map(|tile| {
                let place = |(k, number): (usize, &usize)| (*number, format!("{}[{var}][{k}]", tile.name));
                tile.accesses.iter().enumerate().map(place).collect::<Vec<_>>()
            })
            .collect();
        replace(&mut body, &targets, &mut 0);
        let copies = |l: &mut Self, is_write: bool| {
            for tile in tiles.iter().filter(|tile| tile.is_write == is_write) {
                let (memory, row) = (&tile.from, format!("{}[{var}]", tile.name));
                let (target, source) = if is_write { (memory, &row) } else { (&row, memory) };
                let mut body = vec![format!("memcpy({target}, {source}, {chains} * sizeof({}));", tile.ty)];
                if let (Some((first, ahead)), false) = (later, is_write) {
                    let factor = tile.place.factor_of(first);
                    body.push(format!("DZ_FETCH({memory} + ({factor}L) * {ahead}, 0);"));
                }
                let (var, from, to, note) = (var.clone(), from.clone(), to.clone(), note.clone());
                let kind = LoopKind::Sequential;
                l.out.push(Stm::Loop {
                    kind,
                    var,
                    from,
                    to,
                    note,
                    body: body.into_iter().map(Stm::Line).collect(),
                });
            }
        };
        for tile in &tiles {
            self.line(format!("{} {}[{chains}][{chains}];", tile.ty, tile.name));
        }
        copies(self, false);
        self.out.push(Stm::Loop {
            kind,
            var: var.clone(),
            from: from.clone(),
            to: to.clone(),
            note: note.clone(),
            body,
        });
        copies(self, true);
    }

    /// The views of other arrays, and where these begin in those.
    fn pointers_by_name(&self) -> HashMap<String, (String, Polynomial)> {
        let own = HashMap::new();
        let place = |(view, (base, offset)): (&_, &(_, String))| {
            Some((self.name(*view), (self.name(*base), Polynomial::parse(offset, &own)?)))
        };
        self.pointers.iter().filter_map(place).collect()
    }
}

impl Search {
    fn body(&mut self, stms: &[Stm]) {
        for stm in stms {
            match stm {
                Stm::Declare { var, value: Some(value) } => self.declaration(&var.ty, &var.name, value),
                Stm::Declare { var, value: None } => {
                    self.types.insert(var.name.clone(), var.ty.clone());
                    self.inside.insert(var.name.clone());
                }
                Stm::Line(line) => self.assignment(line),
                Stm::Block(body) => self.body(body),
                // What happens there may not happen in every iteration.
                Stm::Loop { .. } | Stm::Parallel { .. } | Stm::Forever { .. } | Stm::If { .. } => {
                    self.count += 1;
                    self.first_write.get_or_insert(self.count);
                    self.last_read = Some(self.count);
                }
            }
        }
    }

    fn declaration(&mut self, ty: &str, name: &str, value: &str) {
        self.types.insert(name.to_string(), ty.to_string());
        self.count += 1;
        if let Some((array, place)) = element(value) {
            self.inside.insert(name.to_string());
            return self.access(array, place, Some(ty), false);
        }
        if value.contains('[') {
            self.last_read = Some(self.count);
        }
        match (ty.strip_suffix(" *"), Polynomial::parse(value, &self.values)) {
            (Some(_), _) => {
                let (base, offset) = value.split_once(" + ").unwrap_or((value, "0"));
                match Polynomial::parse(offset, &self.values) {
                    Some(offset) if base.chars().all(is_of_name) => {
                        self.pointers.insert(name.to_string(), (base.to_string(), offset));
                    }
                    _ => drop(self.inside.insert(name.to_string())),
                }
            }
            (None, Some(value)) if ty == "i64" => drop(self.values.insert(name.to_string(), value)),
            (None, _) => drop(self.inside.insert(name.to_string())),
        }
    }

    fn assignment(&mut self, line: &str) {
        self.count += 1;
        let Some((target, value)) = line.strip_suffix(';').and_then(|line| line.split_once(" = ")) else {
            self.first_write.get_or_insert(self.count);
            self.last_read = Some(self.count);
            return;
        };
        if value.contains('[') {
            self.last_read = Some(self.count);
        }
        match element(target) {
            Some((array, place)) => {
                let ty = self.types.get(value).cloned();
                self.access(array, place, ty.as_deref(), true);
            }
            None => {
                // It has another value from here on.
                self.values.remove(target);
                self.pointers.remove(target);
                self.inside.insert(target.to_string());
            }
        }
    }

    fn access(&mut self, array: &str, place: &str, ty: Option<&str>, is_write: bool) {
        if self.own.contains(array) {
            return;
        }
        if is_write {
            self.first_write.get_or_insert(self.count);
        } else {
            self.last_read = Some(self.count);
        }
        let Some(mut place) = Polynomial::parse(place, &self.values) else { return };
        let mut root = array.to_string();
        while let Some((base, offset)) = self.pointers.get(&root) {
            place = place.plus(offset, 1);
            root = base.clone();
        }
        if let Some(ty) = ty.map(str::to_string) {
            self.accesses.push(Access { ty, root, place, number: self.count, is_write });
        }
    }

    /// The elements that are next to each other, and can be read before the loop or written after it.
    fn tiles(self, lower: &mut Lower<'_>, chains: usize) -> Vec<Tile> {
        let Search { inside, mut accesses, first_write, last_read, .. } = self;
        accesses.retain(|access| {
            let is_outside = |name: &String| !inside.contains(name);
            let is_in_order = match access.is_write {
                true => last_read.is_none_or(|last| last < access.number),
                false => first_write.is_none_or(|first| access.number < first),
            };
            is_in_order && is_outside(&access.root) && access.place.variables().all(is_outside)
        });
        let mut tiles = Vec::new();
        for start in &accesses {
            let next = |k: i64| {
                let mut same = accesses.iter().filter(|access| {
                    access.root == start.root
                        && access.is_write == start.is_write
                        && access.ty == start.ty
                        && access.place.minus(&start.place) == Some(k)
                });
                same.next().map(|access| access.number)
            };
            let numbers: Vec<usize> = (0..chains as i64).map_while(next).collect();
            let is_taken = |number: &usize| tiles.iter().any(|tile: &Tile| tile.accesses.contains(number));
            if numbers.len() == chains && !numbers.iter().any(is_taken) {
                let from = format!("{} + {}", start.root, start.place.text());
                let (name, ty) = (lower.temp("tile"), start.ty.clone());
                let (place, is_write) = (start.place.clone(), start.is_write);
                tiles.push(Tile { name, ty, is_write, from, place, accesses: numbers });
            }
        }
        tiles
    }
}

/// The array and the place of an element, if the text is one.
fn element(text: &str) -> Option<(&str, &str)> {
    let (array, place) = text.strip_suffix(']')?.split_once('[')?;
    let is_one = !array.is_empty() && array.chars().all(is_of_name) && !place.contains(['[', ']']);
    is_one.then_some((array, place))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Puts other places for those of accesses, by their numbers, which are those of a [`Search`].
fn replace(stms: &mut [Stm], places: &HashMap<usize, String>, count: &mut usize) {
    for stm in stms {
        match stm {
            Stm::Declare { value: None, .. } => {}
            Stm::Declare { value: Some(value), .. } => {
                *count += 1;
                if let Some(place) = places.get(count) {
                    value.clone_from(place);
                }
            }
            Stm::Line(line) => {
                *count += 1;
                if let (Some(place), Some((_, value))) = (places.get(count), line.split_once(" = ")) {
                    *line = format!("{place} = {value}");
                }
            }
            Stm::Block(body) => replace(body, places, count),
            Stm::Loop { .. } | Stm::Parallel { .. } | Stm::Forever { .. } | Stm::If { .. } => *count += 1,
        }
    }
}
