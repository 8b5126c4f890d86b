//! Arrays of which a few elements are read are computed at the places that are read.
//!
//! ```text
//! let (ys: [n]f64) = map n (xs) f                 let (few: bool) = i64.le (2 * m) n
//! let (zs: [m]f64) =                              let (zs: [m]f64) = if few then
//!   map m (is) \(i: i64) : (f64) ->                   let (at: [m]i64) = map m (is) \(i) -> min (max i 0) (n - 1)
//!     let (y: f64) = ys[i]                 ==>        let (xs: [m]f64) = map m (at) \(i) -> xs[i]
//!     in (y)                                          let (ys: [m]f64) = map m (xs) f
//!                                                     let (zs: [m]f64) = map m (is, iota m) \(i, j) -> ys[j]
//!                                                     in (zs)
//!                                                   else … as before
//! ```
//!
//! The array may have further dimensions, and operations on the way to it may be of many kinds ([`demand`]): what they take
//! is computed at the same places, as long as nothing else reads it, and read there otherwise ([`rewrite`]). Whether that is
//! less work is known when the program runs. Reads are those of maps, at an index that depends on data ([`find`]); where they
//! are inside of another operation, the choice is made before it. Elements that nobody reads may go since computing them
//! cannot stop the program; indices are checked as before.
//!
//! Leaves `iota`s and reads at the number of the iteration, for [`crate::read_rows`].

mod demand;
mod find;
mod rewrite;

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Loc, Program, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, VarId};

use dagaz_core::effects::Effects;
use dagaz_core::visit::{self, bodies, bodies_mut, count_stms, each_bound, free_vars};

use self::demand::Demand;
use self::find::Gathering;
use self::rewrite::{Places, Rewriter};

pub const COMPUTE_WHAT_IS_READ: Pass = Pass::reporting(
    "compute-what-is-read",
    "Arrays of which a few elements are read are computed at those places.",
    compute_what_is_read,
);

/// Whether there was such an array.
pub fn compute_what_is_read(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let facts = Facts::of(program);
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = DemandDriven { b, effects: &effects, facts: &facts };
    let mut has_changed = false;
    for fun in &mut program.funs {
        has_changed |= pass.function(&mut fun.body);
    }
    program.vars = pass.b.finish().0;
    has_changed
}

struct DemandDriven<'f> {
    b: Builder,
    effects: &'f Effects,
    facts: &'f Facts,
}

/// Whether statements were there from the beginning: those that this pass has made have variables of which nothing is known.
fn knows(facts: &Facts, stms: &[Stm]) -> bool {
    let mut are_known = true;
    each_bound(stms, &mut |var, _| are_known &= facts.types.contains_key(&var));
    are_known
}

impl<'f> DemandDriven<'f> {
    fn function(&mut self, body: &mut Body) -> bool {
        let mut has_changed = false;
        let mut next = 0;
        while next < body.stms.len() {
            let found = self.split(body, next).or_else(|| self.split_around(body, next));
            has_changed |= found.is_some();
            next = found.unwrap_or(next) + 1;
        }
        has_changed
    }

    /// Two versions of the operations on the way to what a statement is the first to read. Gives the number of the last new
    /// statement.
    fn split(&mut self, body: &mut Body, first: usize) -> Option<usize> {
        let (gathering, demand) = self.find(body, first)?;
        let last = *gathering.consumers.last()?;
        let region = Region::of(body, first, last, |stm| demand.is_narrow_stm(stm));
        let loc = body.stms[first].loc;
        let choice = self.choice(&region, &gathering, loc)?;
        let consumers: Vec<usize> = gathering.consumers.iter().map(|c| c - first + region.sunk).collect();
        let mut few = region.body.clone();
        let places = Places::new(&mut self.b, choice.number);
        let own = &region.own;
        let mut rewriter = Rewriter::new(&mut self.b, self.facts, &demand, own, places);
        rewriter.body_with_consumers(&mut few, &gathering, &consumers);
        few.stms.splice(0..0, rewriter.places.before());
        let new = self.versions(choice, few, &region, loc);
        Some(region.replace(body, new))
    }

    /// Two versions of a statement inside of which such arrays are, and of the operations on the way to what it reads at the
    /// same places only.
    fn split_around(&mut self, body: &mut Body, number: usize) -> Option<usize> {
        let stm = &body.stms[number];
        let loc = stm.loc;
        if bodies(&stm.exp).is_empty() {
            return None;
        }
        let alone = Region::of(body, number, number, |_| false);
        let mut few = alone.body.clone();
        let inner = bodies_mut(&mut few.stms[0].exp);
        let (choice, places) = inner.into_iter().find_map(|inner| self.inside(inner, &alone, loc))?;
        let left: HashSet<VarId> = free_vars(&few.stms[0].exp).into_iter().collect();
        let mut roots = HashMap::new();
        let from_outside = places.gathered.iter().filter(|gathered| !left.contains(&gathered.array));
        from_outside.for_each(|gathered| {
            roots.insert(gathered.array, gathered.axis);
        });
        let demand = Demand::of((self.facts, self.effects), body, &[number], &roots);
        let Some(demand) = demand.filter(|_| !roots.is_empty() && places.first.is_some()) else {
            few.stms.splice(0..0, places.before());
            let new = self.versions(choice, few, &alone, loc);
            return Some(alone.replace(body, new));
        };
        let region = Region::of(body, number, number, |stm| demand.is_narrow_stm(stm));
        let own = &region.own;
        let mut rewriter = Rewriter::new(&mut self.b, self.facts, &demand, own, places);
        let narrow = rewriter.stms(region.body.stms[..region.sunk].iter().cloned());
        let mut places = rewriter.places;
        let mut names = Vec::new();
        for gathered in std::mem::take(&mut places.gathered) {
            if demand.axis(gathered.array) == Some(gathered.axis) {
                let exp = Exp::Atom(gathered.array.into());
                let pat = gathered.stms.last().map(|stm| stm.pat.clone()).unwrap_or_default();
                names.push(Stm { pat, exp, loc });
            } else {
                places.gathered.push(gathered);
            }
        }
        few.stms.splice(0..0, [places.before(), narrow, names].concat());
        let new = self.versions(choice, few, &region, loc);
        Some(region.replace(body, new))
    }

    /// Arrays that the statement is the first to read some elements of, if that can save work.
    fn find(&self, body: &Body, consumer: usize) -> Option<(Gathering, Demand<'f>)> {
        Gathering::find(self.facts, body, consumer).into_iter().find_map(|gathering| {
            let demand =
                Demand::of((self.facts, self.effects), body, &gathering.consumers, &gathering.roots)?;
            demand.are_narrow(gathering.roots.keys()).then_some((gathering, demand))
        })
    }

    /// Rewrites the first body that has such arrays, inside of a region.
    fn inside(&mut self, body: &mut Body, region: &Region, loc: Loc) -> Option<(Choice, Places)> {
        for consumer in 0..body.stms.len() {
            if let Some((gathering, demand)) = self.find(body, consumer)
                && let Some(choice) = self.choice(region, &gathering, loc)
            {
                let (places, own) = (Places::new(&mut self.b, choice.number), &region.own);
                let mut rewriter = Rewriter::new(&mut self.b, self.facts, &demand, own, places);
                rewriter.body_with_consumers(body, &gathering, &gathering.consumers);
                return Some((choice, rewriter.places));
            }
            for inner in bodies_mut(&mut body.stms[consumer].exp) {
                if let Some(found) = self.inside(inner, region, loc) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// The condition for the version that computes what is read, if it can be decided before the region.
    fn choice(&mut self, region: &Region, gathering: &Gathering, loc: Loc) -> Option<Choice> {
        let sizes: Vec<Atom> = gathering.places.iter().map(|place| place.width).collect();
        let mut known = sizes.iter().chain([&gathering.size]);
        if !region.has_versions(machine::DEMANDED_REGION_STATEMENTS)
            || known.any(|d| is_among(*d, &region.own))
        {
            return None;
        }
        self.b.push_scope();
        let number = self.b.sum(&sizes, loc);
        let doubled = self.b.mul(PrimType::I64, number, Atom::i64(machine::DEMANDED_SHARE), loc);
        let are_few = self.b.le(PrimType::I64, doubled, gathering.size, loc);
        Some(Choice { number, are_few, stms: self.b.pop_scope() })
    }

    fn versions(&mut self, choice: Choice, few: Body, region: &Region, loc: Loc) -> Vec<Stm> {
        let then = renamed(&mut self.b.vars, &few);
        let otherwise = renamed(&mut self.b.vars, &region.body);
        let pat = region.pat.clone();
        let mut stms = choice.stms;
        stms.push(Stm { pat, exp: Exp::If { cond: choice.are_few, then, otherwise }, loc });
        stms
    }
}

/// Statements of a body that are to have two versions.
pub(crate) struct Region {
    /// The statements, and what of them is used later.
    pub(crate) body: Body,
    pub(crate) pat: Vec<Param>,
    /// All that is bound in them.
    own: HashSet<VarId>,
    /// Their numbers. So many of them come from further up.
    numbers: Vec<usize>,
    sunk: usize,
    first: usize,
}

impl Region {
    /// From the first to the last of the given numbers, and what is to sink to them from further up.
    pub(crate) fn of(body: &Body, first: usize, last: usize, sinks: impl Fn(&Stm) -> bool) -> Region {
        let is_part = |(i, stm): &(usize, &Stm)| (first..=last).contains(i) || *i < first && sinks(stm);
        let parts: Vec<(usize, &Stm)> = body.stms.iter().enumerate().filter(is_part).collect();
        let mut later: HashSet<VarId> = body.result.iter().filter_map(|a| a.as_var()).collect();
        for stm in &body.stms[last + 1..] {
            later.extend(free_vars(&stm.exp));
            later.extend(stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var));
        }
        let bound = parts.iter().flat_map(|(_, stm)| &stm.pat);
        let pat: Vec<Param> = bound.filter(|p| later.contains(&p.var)).cloned().collect();
        let result = pat.iter().map(|p| p.var.into()).collect();
        let numbers: Vec<usize> = parts.iter().map(|(i, _)| *i).collect();
        let whole = Body { stms: parts.into_iter().map(|(_, stm)| stm.clone()).collect(), result };
        let own = visit::bound(&whole.stms);
        let sunk = numbers.len() - (last + 1 - first);
        Region { body: whole, pat, own, numbers, sunk, first }
    }

    /// Whether the region can be in branches: that gives something, whose sizes are known before, and has so many statements at
    /// most.
    pub(crate) fn has_versions(&self, most: usize) -> bool {
        let mut sizes = self.pat.iter().flat_map(|p| p.ty.all_dims());
        let has_acc = self.pat.iter().any(|p| p.ty.is_acc());
        let are_known = sizes.all(|d| !is_among(d, &self.own));
        !self.pat.is_empty() && !has_acc && are_known && count_stms(&self.body.stms) <= most
    }

    /// Puts new statements in place of the region. Gives the number of the last of them.
    pub(crate) fn replace(&self, body: &mut Body, new: Vec<Stm>) -> usize {
        let mut new = Some(new);
        let mut stms = Vec::with_capacity(body.stms.len());
        let mut last = 0;
        for (i, stm) in std::mem::take(&mut body.stms).into_iter().enumerate() {
            if i == self.first {
                stms.extend(new.take().into_iter().flatten());
                last = stms.len() - 1;
            }
            if !self.numbers.contains(&i) {
                stms.push(stm);
            }
        }
        body.stms = stms;
        last
    }
}

/// Whether few elements are read, and how many.
struct Choice {
    number: Atom,
    are_few: Atom,
    stms: Vec<Stm>,
}

fn is_among(atom: Atom, vars: &HashSet<VarId>) -> bool {
    atom.as_var().is_some_and(|var| vars.contains(&var))
}
