//! Parts of an array that are made where they belong: in a concatenation, or as rows of an array that is written out.
//!
//!     let xs = map n …                      memory for zs; xs: its first n elements
//!     let ys = map m …             ==>      ys: the m after them
//!     let zs = concat (xs, ys)              nothing to copy
//!
//! Nothing else uses the part, perhaps in another shape, and all sizes are known before the first of them is made.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::placing::Destination;
use super::{Lower, Lowered};
use crate::imp::Operand;

/// An array for which there is memory before some of its parts are made.
pub(super) struct Joint {
    /// The number of the first statement that makes a part.
    first: usize,
    result: Param,
    /// The parts that are made in their places: their positions, and the variables that are made.
    parts: Vec<(usize, VarId)>,
    /// The types of all parts.
    types: Vec<Type>,
}

/// What is known of an array with parts, from the time that it got its memory.
pub(super) struct Joined {
    /// The parts that are made there: their positions and variables.
    parts: Vec<(usize, VarId)>,
    is_placed: bool,
    is_on_stack: bool,
}

/// The arrays of a body whose parts can be made in their places. `known` has the types of what is bound outside.
pub(super) fn joints(body: &Body, known: impl Fn(VarId) -> Option<Type>) -> Vec<Joint> {
    if !body.stms.iter().any(|stm| parts_of(&stm.exp).is_some()) {
        return Vec::new();
    }
    let mut users: HashMap<VarId, usize> = HashMap::new();
    body.result.iter().filter_map(|a| a.as_var()).for_each(|var| *users.entry(var).or_default() += 1);
    for stm in &body.stms {
        visit::free_vars(&stm.exp).into_iter().for_each(|var| *users.entry(var).or_default() += 1);
    }
    body.stms.iter().filter_map(|stm| joint(body, stm, &users, &known)).collect()
}

/// The arrays that another one is put together from.
fn parts_of(exp: &Exp) -> Option<Vec<VarId>> {
    match exp {
        Exp::Concat { arrays } => Some(arrays.clone()),
        Exp::ArrayLit { row, elems } if row.is_array() => elems.iter().map(|elem| elem.as_var()).collect(),
        _ => None,
    }
}

fn joint(
    body: &Body,
    stm: &dagaz_core::exp::Stm,
    users: &HashMap<VarId, usize>,
    known: &impl Fn(VarId) -> Option<Type>,
) -> Option<Joint> {
    let (Some(arrays), [result]) = (parts_of(&stm.exp), stm.pat.as_slice()) else { return None };
    let maker = |var: VarId| body.stms.iter().position(|stm| stm.pat.iter().any(|p| p.var == var));
    let type_of = |var: VarId| match maker(var) {
        Some(index) => body.stms[index].pat.iter().find(|p| p.var == var).map(|p| p.ty.clone()),
        None => known(var),
    };
    let types: Vec<Type> = arrays.iter().map(|array| type_of(*array)).collect::<Option<_>>()?;
    let mut parts = Vec::new();
    let mut first = body.stms.len();
    for (position, array) in arrays.iter().enumerate() {
        let mut var = *array;
        let made = loop {
            if users.get(&var) != Some(&1) || arrays.iter().filter(|other| **other == var).count() > 1 {
                break None;
            }
            let Some(index) = maker(var) else { break None };
            match &body.stms[index].exp {
                Exp::Map { .. } | Exp::ArrayLit { .. } => break Some(index),
                Exp::Reshape { array, .. } => var = *array,
                _ => break None,
            }
        };
        if let Some(index) = made {
            first = first.min(index);
            parts.push((position, var));
        }
    }
    let late: HashSet<VarId> =
        body.stms.get(first..)?.iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
    let is_late = |dim: &Atom| dim.as_var().is_some_and(|var| late.contains(&var));
    let mut sizes = types.iter().chain([&result.ty]).flat_map(Type::all_dims);
    let fits = !parts.is_empty() && !sizes.any(|dim| is_late(&dim));
    drop(sizes);
    fits.then(|| Joint { first, result: result.clone(), parts, types })
}

impl Lower<'_> {
    /// Gives the parts of concatenations their places, before a statement.
    pub(super) fn prepare_joints(&mut self, joints: &[Joint], index: usize) -> Lowered<()> {
        for joint in joints.iter().filter(|joint| joint.first == index) {
            let var = joint.result.var;
            let have_places = joint.parts.iter().any(|(_, part)| self.memory.dests.contains_key(part));
            let is_apart = self.memory.dests.get(&var).is_some_and(|place| place.strides.is_some());
            if have_places || is_apart {
                continue;
            }
            self.allocate(&joint.result)?;
            let (is_placed, is_on_stack) =
                (self.memory.placed.contains(&var), self.memory.on_stack.contains(&var));
            let (target, block) = (self.var_of(&joint.result)?, self.mem(var));
            let mut offset = 0.expr();
            for (position, ty) in joint.types.iter().enumerate() {
                if let Some((_, part)) = joint.parts.iter().find(|(own, _)| *own == position) {
                    let (pointer, block) = (&target + &offset, block.clone().expr());
                    self.memory.dests.insert(*part, Destination { pointer, block, strides: None });
                }
                offset = offset + self.product(ty.dims());
            }
            self.memory.joined.insert(var, Joined { parts: joint.parts.clone(), is_placed, is_on_stack });
        }
        Ok(())
    }

    /// Memory for an array with parts, unless it has some. Gives the positions of the parts that are there already.
    pub(super) fn allocate_for_parts(&mut self, param: &Param) -> Lowered<HashSet<usize>> {
        let Some(joined) = self.memory.joined.remove(&param.var) else {
            self.allocate(param)?;
            return Ok(HashSet::new());
        };
        if joined.is_placed {
            self.bind(param, false);
            self.memory.placed.insert(param.var);
        }
        if joined.is_on_stack {
            self.memory.on_stack.insert(param.var);
        }
        let parts = joined.parts.into_iter().filter(|(_, part)| self.memory.dests.remove(part).is_none());
        Ok(parts.map(|(position, _)| position).collect())
    }
}
