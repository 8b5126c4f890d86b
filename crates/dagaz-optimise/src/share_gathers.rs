//! Elements that several operations gather from a large array, at the same places, are gathered once.
//!
//! ```text
//! let (h: [k]f64) = hist m (is, ws, ks) …           let (large: bool) = i64.lt 131072 n
//!   pre \(i: i64, w: f64, k: i64) ->                let (h: [k]f64, ys: [m]f64) = if large then
//!     let (x: f64) = xs[i]                              let (gathered: [m]f64) = map m (is) \(i: i64) -> xs[i]
//!     …                                       ==>       let (h: [k]f64) = hist m (gathered, ws, ks) …
//! let (ys: [m]f64) = map m (is, zs)                     let (ys: [m]f64) = map m (gathered, zs) …
//!   \(i: i64, z: f64) : (f64) ->                        in (h, ys)
//!     let (x: f64) = xs[i] certified                  else … as before
//!     …
//! ```
//!
//! Both sweeps of a derivative read what a program gathers. An element from anywhere in a large array takes longer than one that
//! is written and read in order; where the cache has all of the array, it does not. Sizes decide when the program runs. The
//! result of the last operation often goes where the gathered elements were.
//!
//! Runs after all that fuses operations, which would put the gathering back into them. Leaves dead statements.

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Program, Stm, Vars};
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{free_vars, lambdas};

use crate::columns::{fresh_like, rename};
use crate::cse::key;
use crate::gathers::Region;
use crate::walk::{Substitution, bodies};
use dagaz_core::effects::cannot_fail;

/// Arrays of more bytes are large: no core has them in its own cache.
const LARGE: usize = 1 << 20;
/// More statements are not worth a second version.
const MOST: usize = 300;

pub const SHARE_GATHERS: Pass = Pass::reporting(
    "share-gathers",
    "Elements that several operations gather from a large array are gathered once.",
    share_gathers,
);

/// Whether there was something to gather.
pub fn share_gathers(program: &mut Program) -> bool {
    let mut known = Known::default();
    program.consts.iter().for_each(|stm| known.note(stm));
    let mut has_changed = false;
    for fun in &mut program.funs {
        let mut known = known.clone();
        known.types.extend(fun.params.iter().map(|p| (p.var, p.ty.clone())));
        let mut number = 0;
        while number < fun.body.stms.len() {
            let new = keep(&mut program.vars, &known, &mut fun.body, number);
            has_changed |= new.is_some();
            let next = new.unwrap_or(number) + 1;
            fun.body.stms[number..next].iter().for_each(|stm| known.note(stm));
            number = next;
        }
    }
    has_changed
}

/// What is bound so far.
#[derive(Clone, Default)]
struct Known {
    types: HashMap<VarId, Type>,
    /// Arrays `0, 1, …` and the like.
    counting: HashSet<VarId>,
}

impl Known {
    fn note(&mut self, stm: &Stm) {
        self.types.extend(stm.pat.iter().map(|p| (p.var, p.ty.clone())));
        if let Exp::Iota { .. } = stm.exp {
            self.counting.extend(stm.pat.iter().map(|p| p.var));
        }
    }
}

/// A read of an operation: the number of its statement, and of those that its indices need.
struct Read {
    number: usize,
    array: VarId,
    needed: Vec<usize>,
}

/// Two versions of a statement that gathers elements, and of those up to the last one that gathers the same. Gives the number
/// of the last new statement.
fn keep(vars: &mut Vars, known: &Known, body: &mut Body, number: usize) -> Option<usize> {
    let first = body.stms[number].clone();
    let mut reads = reads(known, &first);
    if reads.is_empty() {
        return None;
    }
    let mut last = number;
    let mut found = HashSet::new();
    for (later, stm) in body.stms.iter().enumerate().skip(number + 1) {
        for_each_operation(stm, &mut |stm| {
            for (read, _) in same_reads(&first, stm, &reads) {
                found.insert(read);
                last = later;
            }
        });
    }
    reads.retain(|read| found.contains(&read.number));
    let region = Region::of(body, number, last, |_| false);
    if reads.is_empty() || !may_come_first(&first, &reads) || !region.has_versions(MOST) {
        return None;
    }
    let mut b = Builder::new(std::mem::take(vars));
    b.push_scope();
    let is_large = are_large(&mut b, known, &reads, first.loc);
    let mut stms = b.pop_scope();
    *vars = b.finish().0;
    let (gather, gathered) = gathering(vars, &first, &reads)?;
    let mut kept = region.body.clone();
    for stm in &mut kept.stms {
        for_each_operation_mut(stm, &mut |stm| read_gathered(&first, stm, &reads, &gathered));
    }
    kept.stms.insert(0, gather);
    let (then, otherwise) = (renamed(vars, &kept), renamed(vars, &region.body));
    let exp = Exp::If { cond: is_large, then, otherwise };
    stms.push(Stm { pat: region.pat.clone(), exp, loc: first.loc });
    Some(region.replace(body, stms))
}

/// The rows that an operation is about, and what happens to them first.
fn operation(exp: &Exp) -> Option<(Atom, &[VarId], &Lambda)> {
    match exp {
        Exp::Map { width, arrays, lambda } => Some((*width, arrays, lambda)),
        Exp::Reduce { width, arrays, pre: Some(pre), .. }
        | Exp::Scan { width, arrays, pre: Some(pre), .. }
        | Exp::Hist { width, arrays, pre: Some(pre), .. }
        | Exp::Scatter { width, arrays, pre: Some(pre), .. } => Some((*width, arrays, pre)),
        _ => None,
    }
}

fn operation_mut(exp: &mut Exp) -> Option<(&mut Vec<VarId>, &mut Lambda)> {
    match exp {
        Exp::Map { arrays, lambda, .. } => Some((arrays, lambda)),
        Exp::Reduce { arrays, pre: Some(pre), .. }
        | Exp::Scan { arrays, pre: Some(pre), .. }
        | Exp::Hist { arrays, pre: Some(pre), .. }
        | Exp::Scatter { arrays, pre: Some(pre), .. } => Some((arrays, pre)),
        _ => None,
    }
}

/// The statement, and those in its branches or with its accumulators.
fn for_each_operation(stm: &Stm, f: &mut impl FnMut(&Stm)) {
    f(stm);
    if let Exp::If { .. } | Exp::WithAcc { .. } = stm.exp {
        for body in outer_bodies(&stm.exp) {
            body.stms.iter().for_each(|stm| for_each_operation(stm, f));
        }
    }
}

fn outer_bodies(exp: &Exp) -> Vec<&Body> {
    match exp {
        Exp::If { then, otherwise, .. } => vec![then, otherwise],
        Exp::WithAcc { lambda, .. } => vec![&lambda.body],
        _ => Vec::new(),
    }
}

fn for_each_operation_mut(stm: &mut Stm, f: &mut impl FnMut(&mut Stm)) {
    f(stm);
    let inner = match &mut stm.exp {
        Exp::If { then, otherwise, .. } => vec![then, otherwise],
        Exp::WithAcc { lambda, .. } => vec![&mut lambda.body],
        _ => Vec::new(),
    };
    for body in inner {
        body.stms.iter_mut().for_each(|stm| for_each_operation_mut(stm, f));
    }
}

/// The elements that an operation reads at places which data tell.
fn reads(known: &Known, stm: &Stm) -> Vec<Read> {
    let Some((_, arrays, lambda)) = operation(&stm.exp) else { return Vec::new() };
    let params: HashMap<VarId, VarId> =
        lambda.params.iter().zip(arrays).map(|(param, array)| (param.var, *array)).collect();
    let stms = &lambda.body.stms;
    let mut found = Vec::new();
    for (number, stm) in stms.iter().enumerate() {
        let Exp::Index { array, indices, .. } = &stm.exp else { continue };
        let is_whole = known.types.get(array).is_some_and(|ty| ty.rank() == indices.len());
        let mut wanted: HashSet<VarId> = indices.iter().filter_map(|index| index.as_var()).collect();
        let mut needed = Vec::new();
        for (earlier, stm) in stms[..number].iter().enumerate().rev() {
            if stm.pat.iter().any(|param| wanted.contains(&param.var)) {
                needed.push(earlier);
                wanted.extend(free_vars(&stm.exp));
            }
        }
        needed.reverse();
        let is_list = |var: &VarId| params.get(var).is_some_and(|array| !known.counting.contains(array));
        let are_easy = needed.iter().all(|number| cannot_fail(&stms[*number].exp));
        if is_whole && are_easy && wanted.iter().any(is_list) {
            found.push(Read { number, array: *array, needed });
        }
    }
    found
}

/// The reads that another operation makes as well, and the numbers of the statements there.
fn same_reads(first: &Stm, later: &Stm, reads: &[Read]) -> Vec<(usize, usize)> {
    let (Some((width, arrays, lambda)), Some((same, others, other))) =
        (operation(&first.exp), operation(&later.exp))
    else {
        return Vec::new();
    };
    if width != same {
        return Vec::new();
    }
    let mut names = Substitution::default();
    for (array, param) in arrays.iter().zip(&lambda.params) {
        if let Some(place) = others.iter().position(|other| other == array)
            && other.params[place].var != param.var
        {
            names.insert(param.var, other.params[place].var.into());
        }
    }
    let mut found = Vec::new();
    let is_of_use = |number: &usize| reads.iter().any(|r| r.number == *number || r.needed.contains(number));
    for number in (0..lambda.body.stms.len()).filter(is_of_use) {
        let stm = &lambda.body.stms[number];
        let mut exp = stm.exp.clone();
        rename(&names, &mut exp);
        let own = key(&Stm { pat: stm.pat.clone(), exp, loc: stm.loc });
        let equal = |stm: &Stm| key(stm).is_some_and(|other| Some(other) == own);
        let Some(place) = other.body.stms.iter().position(equal) else { continue };
        for (param, same) in stm.pat.iter().zip(&other.body.stms[place].pat) {
            if param.var != same.var {
                names.insert(param.var, same.var.into());
            }
        }
        if reads.iter().any(|read| read.number == number) {
            found.push((number, place));
        }
    }
    found
}

/// Whether the reads can be made before all else that an operation does: an index that is wrong is still what goes wrong first.
fn may_come_first(stm: &Stm, reads: &[Read]) -> bool {
    let Some((_, _, lambda)) = operation(&stm.exp) else { return false };
    let is_checked = |stm: &Stm| matches!(stm.exp, Exp::Index { check: Check::Checked, .. });
    let is_read = |number: usize| reads.iter().any(|read| read.number == number);
    let mut others = lambda.body.stms.iter().enumerate().filter(|(number, _)| !is_read(*number));
    let all = lambdas(&stm.exp);
    let mut rest = all.iter().filter(|own| !std::ptr::eq(**own, lambda)).flat_map(|own| &own.body.stms);
    reads.iter().all(|read| !is_checked(&lambda.body.stms[read.number]))
        || others.all(|(_, stm)| is_harmless(stm)) && rest.all(is_harmless)
}

fn is_harmless(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Atom(_) | Exp::UpdateAcc { .. } | Exp::Index { check: Check::Certified, .. } => true,
        exp @ Exp::If { .. } => bodies(exp).into_iter().flat_map(|body| &body.stms).all(is_harmless),
        exp => cannot_fail(exp),
    }
}

/// Whether all the arrays have more elements than a cache.
fn are_large(b: &mut Builder, known: &Known, reads: &[Read], loc: Loc) -> Atom {
    let mut arrays: Vec<VarId> = reads.iter().map(|read| read.array).collect();
    arrays.sort_unstable();
    arrays.dedup();
    let mut all = None;
    for ty in arrays.iter().filter_map(|array| known.types.get(array)) {
        let most = LARGE / ty.elem().map_or(1, PrimType::bytes);
        let elements = b.product(ty.dims(), loc);
        let is_large = b.lt(PrimType::I64, Atom::i64(most as i64), elements, loc);
        all = Some(all.map_or(is_large, |others| b.and(others, is_large, loc)));
    }
    all.unwrap_or(Atom::bool(false))
}

/// A map that makes the reads, and the array that has what each gives.
fn gathering(vars: &mut Vars, stm: &Stm, reads: &[Read]) -> Option<(Stm, HashMap<usize, VarId>)> {
    let (width, arrays, lambda) = operation(&stm.exp)?;
    let is_wanted = |number: &usize| reads.iter().any(|r| r.number == *number || r.needed.contains(number));
    let numbers: Vec<usize> = (0..lambda.body.stms.len()).filter(is_wanted).collect();
    let stms: Vec<Stm> = numbers.iter().map(|number| lambda.body.stms[*number].clone()).collect();
    let used: HashSet<VarId> = stms.iter().flat_map(|stm| free_vars(&stm.exp)).collect();
    let mut names = Substitution::default();
    let mut own = Vec::new();
    for (param, array) in lambda.params.iter().zip(arrays).filter(|(param, _)| used.contains(&param.var)) {
        let fresh = fresh_like(vars, param.var);
        names.insert(param.var, fresh.into());
        own.push((Param { var: fresh, ty: param.ty.clone() }, *array));
    }
    let (params, lists): (Vec<Param>, Vec<VarId>) = own.into_iter().unzip();
    let copies = names.copies(vars, &stms);
    let (mut pat, mut ret, mut result, mut gathered) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
    for (number, copy) in numbers.iter().zip(&copies) {
        let [element] = copy.pat.as_slice() else { return None };
        if reads.iter().any(|read| read.number == *number) {
            let all = vars.fresh("gathered");
            pat.push(Param { var: all, ty: element.ty.with_outer(&[width]) });
            ret.push(element.ty.clone());
            result.push(element.var.into());
            gathered.insert(*number, all);
        }
    }
    let lambda = Lambda { params, body: Body { stms: copies, result }, ret };
    Some((Stm { pat, exp: Exp::Map { width, arrays: lists, lambda }, loc: stm.loc }, gathered))
}

/// Gives an operation the gathered elements instead of its reads.
fn read_gathered(first: &Stm, stm: &mut Stm, reads: &[Read], gathered: &HashMap<usize, VarId>) {
    let same = same_reads(first, stm, reads);
    let Some((arrays, lambda)) = operation_mut(&mut stm.exp) else { return };
    for (read, place) in &same {
        if let (Some(all), [element]) = (gathered.get(read), lambda.body.stms[*place].pat.as_slice()) {
            arrays.push(*all);
            lambda.params.push(element.clone());
        }
    }
    let mut number = 0;
    lambda.body.stms.retain(|_| {
        number += 1;
        !same.iter().any(|(_, place)| *place == number - 1)
    });
}
