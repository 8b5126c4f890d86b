//! Where arrays are only read by maps, at indices that depend on data.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies, direct_operands, free_vars};

/// Arrays of a body of which only some elements are read.
pub(super) struct Gathering {
    /// The numbers of the statements that read, in order.
    pub consumers: Vec<usize>,
    /// The arrays, and the dimension along which they are read at some places only.
    pub roots: HashMap<VarId, usize>,
    /// The size of that dimension.
    pub size: Atom,
    pub places: Vec<ReadPlace>,
}

/// The values of a variable in the iterations of a map, all of which are read at.
pub(super) struct ReadPlace {
    pub consumer: usize,
    pub var: VarId,
    pub width: Atom,
    /// What the variable is computed by, from rows of the arrays that the map takes.
    pub stms: Vec<Stm>,
}

/// A read of an array at a variable.
struct Read {
    stm: usize,
    array: VarId,
    axis: usize,
    var: VarId,
}

impl Gathering {
    /// Those that this statement is the first to read, for each size by itself.
    pub fn find(facts: &Facts, body: &Body, consumer: usize) -> Vec<Gathering> {
        let mut uses = Uses::default();
        uses.stm(facts, consumer, &body.stms[consumer]);
        // Most statements read nothing so, and bodies can be long.
        if uses.reads.is_empty() {
            return Vec::new();
        }
        let made: HashSet<VarId> =
            body.stms[..consumer].iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
        uses.reads.retain(|read| made.contains(&read.array));
        if uses.reads.is_empty() {
            return Vec::new();
        }
        let mut uses = Uses::default();
        body.stms.iter().enumerate().for_each(|(i, stm)| uses.stm(facts, i, stm));
        uses.plain.extend(body.result.iter().filter_map(|a| a.as_var()));
        let mut axes: HashMap<VarId, usize> = HashMap::new();
        for read in uses.reads.iter().filter(|read| made.contains(&read.array)) {
            if *axes.entry(read.array).or_insert(read.axis) != read.axis {
                uses.plain.insert(read.array);
            }
        }
        axes.retain(|array, _| !uses.plain.contains(array));
        uses.reads.retain(|read| axes.contains_key(&read.array));
        let size_of = |array: &VarId, axis: usize| facts.dims(*array).get(axis).copied();
        let mut sizes: Vec<Atom> = Vec::new();
        for read in uses.reads.iter().filter(|read| read.stm == consumer) {
            let size = size_of(&read.array, read.axis);
            sizes.extend(size.filter(|size| !sizes.contains(size)));
        }
        let of_size = |size: Atom| {
            let is_root = |(array, axis): &(&VarId, &usize)| size_of(array, **axis) == Some(size);
            let roots = axes.iter().filter(is_root).map(|(array, axis)| (*array, *axis)).collect();
            let mut gathering = Gathering { consumers: Vec::new(), roots, size, places: Vec::new() };
            for read in uses.reads.iter().filter(|read| size_of(&read.array, read.axis) == Some(size)) {
                gathering.add(body, read)?;
            }
            let is_first = gathering.consumers.first() == Some(&consumer);
            (is_first && gathering.is_known_before(body)).then_some(gathering)
        };
        sizes.into_iter().filter_map(of_size).collect()
    }

    fn add(&mut self, body: &Body, read: &Read) -> Option<()> {
        if self.consumers.last() != Some(&read.stm) {
            self.consumers.push(read.stm);
        }
        if self.places.iter().any(|place| place.var == read.var) {
            return Some(());
        }
        let Exp::Map { width, lambda, .. } = &body.stms[read.stm].exp else { return None };
        let stms = slice(lambda, read.var)?;
        self.places.push(ReadPlace { consumer: read.stm, var: read.var, width: *width, stms });
        Some(())
    }

    /// Whether all that places depend on is known before the first of the consumers.
    fn is_known_before(&self, body: &Body) -> bool {
        let Some(first) = self.consumers.first() else { return false };
        let late: HashSet<VarId> =
            body.stms[*first..].iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
        let is_late = |atom: Atom| atom.as_var().is_some_and(|var| late.contains(&var));
        self.places.iter().all(|place| {
            let Exp::Map { arrays, .. } = &body.stms[place.consumer].exp else { return false };
            let free = place.stms.iter().flat_map(|stm| free_vars(&stm.exp)).chain(arrays.iter().copied());
            !is_late(place.width) && !free.into_iter().any(|var| is_late(var.into()))
        })
    }
}

/// The statements that compute a scalar of an iteration, unless they are more than reads and scalar operations.
fn slice(lambda: &Lambda, var: VarId) -> Option<Vec<Stm>> {
    let mut needed = HashSet::from([var]);
    let mut stms = Vec::new();
    for stm in lambda.body.stms.iter().rev() {
        if !stm.pat.iter().any(|p| needed.contains(&p.var)) {
            continue;
        }
        let is_read = matches!(stm.exp, Exp::Index { .. } | Exp::Slice { .. });
        let fits = is_read || matches!(stm.exp, Exp::Atom(_)) || is_scalar_operation(&stm.exp);
        if !fits {
            return None;
        }
        needed.extend(free_vars(&stm.exp));
        stms.push(stm.clone());
    }
    stms.reverse();
    Some(stms)
}

fn is_scalar_operation(exp: &Exp) -> bool {
    matches!(exp, Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..))
}

/// How the arrays of a body are used.
#[derive(Default)]
struct Uses {
    reads: Vec<Read>,
    /// What is used in any other way.
    plain: HashSet<VarId>,
}

impl Uses {
    fn stm(&mut self, facts: &Facts, number: usize, stm: &Stm) {
        match &stm.exp {
            Exp::Map { arrays, lambda, .. } => {
                self.plain.extend(arrays);
                let data = data_of(facts, arrays, lambda);
                self.body(number, &lambda.body, &data);
            }
            exp => self.plain.extend(free_vars(exp)),
        }
    }

    fn body(&mut self, number: usize, body: &Body, data: &HashSet<VarId>) {
        for stm in &body.stms {
            if let Exp::Index { array, indices, .. } = &stm.exp
                && let Some((axis, var)) = data_index(indices, data)
            {
                self.reads.push(Read { stm: number, array: *array, axis, var });
                self.plain.extend(indices.iter().filter_map(|a| a.as_var()));
            } else {
                direct_operands(&stm.exp, &mut |a| self.plain.extend(a.as_var()));
            }
            bodies(&stm.exp).into_iter().for_each(|inner| self.body(number, inner, data));
        }
        self.plain.extend(body.result.iter().filter_map(|a| a.as_var()));
    }
}

fn data_index(indices: &[Atom], data: &HashSet<VarId>) -> Option<(usize, VarId)> {
    let found = indices.iter().enumerate().rev();
    found.filter_map(|(axis, index)| Some((axis, index.as_var()?))).find(|(_, var)| data.contains(var))
}

/// The scalars of an iteration that depend on data, and not on its number alone.
fn data_of(facts: &Facts, arrays: &[VarId], lambda: &Lambda) -> HashSet<VarId> {
    let rows = arrays.iter().zip(&lambda.params).filter(|(array, _)| !facts.ranges.contains_key(array));
    let mut data: HashSet<VarId> = rows.map(|(_, p)| p.var).collect();
    for stm in &lambda.body.stms {
        let is_read = matches!(stm.exp, Exp::Index { .. });
        if bodies(&stm.exp).is_empty() && (is_read || free_vars(&stm.exp).iter().any(|v| data.contains(v))) {
            data.extend(stm.pat.iter().map(|p| p.var));
        }
    }
    data.retain(|var| facts.types.get(var) == Some(&Type::I64));
    data
}
