//! Takes products with vectors that maps compute out of the maps, which are split for it.
//!
//! ```text
//! let (s: f64) =                                          let (vs: [n][k]f64) =
//!   reduce n (xs)                                           map n (xs) \(x: [k]f64) : ([k]f64) ->
//!     pre \(x: [k]f64) : (f64) ->                             … x …
//!       let (v: [k]f64) = … x …                           let (ys: [n][m]f64) =
//!       let (y: [m]f64) =                          ==>      contract [n, m] sum [k] w (1, 2) vs (0, 2)
//!         contract [m] sum [k] w (0, 1) v (1)             let (s: f64) =
//!       let (a: f64) = … y …                                reduce n (ys)
//!       in (a)                                                pre \(y: [m]f64) : (f64) ->
//!     op (+) neutral (0.0f64)                                   … y …
//! ```
//!
//! Where [`super::sink`] moves products that are results, this moves those that are needed inside. It takes memory for
//! all `v` and `y`, and is done where it makes products of matrices of products with vectors. What both halves need is kept
//! in memory too, unless it is next to no work. Of several maps around a product, all up to the one that gives the
//! matrices are split.

use std::collections::HashSet;

use dagaz_core::exp::{AxesOf, Body, Exp, Lambda, Loc, Program, Stm, Vars};
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, VarId};

use super::dot::{Level, constant};
use super::facts::{Def, Definitions};
use super::sink::{Source, outer_contract};
use dagaz_core::cost::is_elementary_function;
use dagaz_core::effects::{Effects, cannot_fail};
use dagaz_core::visit::{bodies_mut, free_vars, free_vars_body};

pub(super) fn distribute(program: &mut Program) -> bool {
    let (facts, effects) = (Definitions::of(program), Effects::of(program));
    let mut splitter = Splitter { facts, effects, vars: &mut program.vars, has_changed: false };
    program.funs.iter_mut().for_each(|fun| splitter.body(&mut fun.body));
    splitter.has_changed
}

struct Splitter<'p> {
    facts: Definitions,
    effects: Effects,
    vars: &'p mut Vars,
    has_changed: bool,
}

/// A map that is in two halves now, and the product in between.
struct Halves {
    first: Stm,
    product: Stm,
    second: Stm,
}

impl Splitter<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut waiting: Vec<Stm> = std::mem::take(&mut body.stms);
        waiting.reverse();
        while let Some(mut stm) = waiting.pop() {
            let path = self.path(&stm, &mut Vec::new());
            if let Some(halves) = path.and_then(|path| self.lift(&stm, &path)) {
                self.has_changed = true;
                // Both halves may have more products.
                waiting.extend([halves.second, halves.product, halves.first]);
                continue;
            }
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(inner));
            body.stms.push(stm);
        }
    }

    /// Where a product is that the outermost of the levels makes a product of matrices: the position at every level.
    fn path(&self, stm: &Stm, levels: &mut Vec<Level>) -> Option<Vec<usize>> {
        let (width, arrays, lambda) = rows(&stm.exp)?;
        levels.push(Level::new(width, arrays, lambda));
        let found = lambda.body.stms.iter().enumerate().find_map(|(at, inner)| match &inner.exp {
            Exp::Contract { .. } => {
                let is_best = self.is_gain(&inner.exp, levels) && !self.is_inner_gain(&inner.exp, levels);
                is_best.then(|| vec![at])
            }
            _ => {
                let rest = self.path(inner, levels)?;
                Some([at].into_iter().chain(rest).collect())
            }
        });
        levels.pop();
        found
    }

    /// Whether a product with a vector has the same matrix in all iterations of the outermost level, but another vector.
    fn is_gain(&self, exp: &Exp, levels: &[Level]) -> bool {
        let Exp::Contract { sizes, rank, left, right, plus: None, .. } = exp else { return false };
        let is_bound =
            |atom: &Atom| atom.as_var().is_some_and(|v| levels.iter().any(|l| l.bound.contains(&v)));
        if sizes.iter().any(is_bound) || levels.iter().any(|level| is_bound(&level.width)) {
            return false;
        }
        let has_own =
            |one: &AxesOf, other: &AxesOf| one.axes.iter().any(|a| a < rank && !other.axes.contains(a));
        let (matrix, vector) = match (has_own(left, right), has_own(right, left)) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return false,
        };
        !self.changes(matrix.array, levels) && self.changes(vector.array, levels)
    }

    /// Whether fewer levels are enough for a product of matrices: then there is need for the vectors of these alone at a
    /// time.
    fn is_inner_gain(&self, exp: &Exp, levels: &[Level]) -> bool {
        let is_small = |level: &Level| constant(level.width).is_some_and(|n| n < 8);
        (1..levels.len()).any(|from| !is_small(&levels[from]) && self.is_gain(exp, &levels[from..]))
    }

    /// Whether an array differs between the iterations of the outermost level.
    fn changes(&self, mut array: VarId, levels: &[Level]) -> bool {
        loop {
            let Some(level) = levels.iter().position(|level| level.bound.contains(&array)) else {
                return false;
            };
            array = match (levels[level].rows.get(&array), self.facts.defs.get(&array)) {
                (Some(_), _) if level == 0 => return true,
                (Some(whole), _) => *whole,
                (None, Some(Def::Rearranged { array, .. } | Def::Alias(array))) => *array,
                (None, _) => return true,
            };
        }
    }

    /// Takes the product at the end of the path out of the statement.
    fn lift(&mut self, stm: &Stm, path: &[usize]) -> Option<Halves> {
        let mut stm = stm.clone();
        let (at, rest) = path.split_first()?;
        let mut at = *at;
        if !rest.is_empty() {
            let (_, _, lambda) = rows_mut(&mut stm.exp)?;
            let Halves { first, product, second } = self.lift(&lambda.body.stms[at], rest)?;
            lambda.body.stms.splice(at..=at, [first, product, second]);
            at += 1;
        }
        self.split(stm, at)
    }

    /// Splits an operation at a product in its function.
    fn split(&mut self, mut stm: Stm, at: usize) -> Option<Halves> {
        let loc = stm.loc;
        let (width, arrays, lambda) = rows_mut(&mut stm.exp)?;
        let mut product = lambda.body.stms.remove(at);
        let inputs = arrays.clone();
        let Exp::Contract { left, right, .. } = &product.exp else { return None };
        let is_bound = bound(lambda);
        let rows: Vec<(VarId, VarId)> =
            lambda.params.iter().map(|p| p.var).zip(inputs.iter().copied()).collect();
        let of = |operand: &AxesOf| self.facts.operand(operand, &rows, &is_bound);
        let operands = [of(left)?, of(right)?];
        let inside: Vec<VarId> = operands.iter().filter_map(|o| o.array.inside()).collect();
        let needed = self.needed(lambda, at, &inside)?;
        let shared = shared(lambda, &needed);
        let given: Vec<Param> = lambda.body.stms[..at]
            .iter()
            .flat_map(|stm| &stm.pat)
            .filter(|p| inside.contains(&p.var) || shared.contains(&p.var))
            .cloned()
            .collect();
        if given
            .iter()
            .any(|p| p.ty.all_dims().iter().any(|d| d.as_var().is_some_and(|v| is_bound.contains(&v))))
        {
            return None;
        }
        let first = self.first(width, &inputs, lambda, &needed, &given);
        let pat: Vec<Param> =
            given.iter().map(|p| Param::new(self.vars.fresh("rows"), p.ty.with_outer(&[width]))).collect();
        let whole = |var: VarId| given.iter().position(|p| p.var == var).map(|i| pat[i].var);
        // The second half gets what the first one has kept.
        for (param, all) in given.iter().zip(&pat).filter(|(p, _)| shared.contains(&p.var)) {
            lambda.params.push(param.clone());
            arrays.push(all.var);
        }
        lambda.body.stms.retain(|stm| !stm.pat.iter().any(|p| shared.contains(&p.var)));
        let [left, right] = operands.map(|operand| {
            let array = match &operand.array {
                Source::Outside(array) => Some(*array),
                Source::Inside(param) => whole(param.var),
            };
            array.map(|array| operand.at(array))
        });
        product.exp = outer_contract(product.exp, width, [left?, right?])?;
        let row = product.pat.pop()?;
        let all = Param::new(self.vars.fresh("product"), row.ty.with_outer(&[width]));
        lambda.params.push(row);
        arrays.push(all.var);
        self.facts.types.extend(pat.iter().chain([&all]).map(|p| (p.var, p.ty.clone())));
        product.pat.push(all);
        let first = Stm { pat, exp: first, loc };
        Some(Halves { first, product, second: stm })
    }

    /// The half that computes what the product needs, from those rows alone that this takes.
    fn first(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
        needed: &HashSet<usize>,
        given: &[Param],
    ) -> Exp {
        let all = lambda.body.stms.iter().enumerate();
        let own: Vec<Stm> = all.filter(|(i, _)| needed.contains(i)).map(|(_, stm)| stm.clone()).collect();
        let result = given.iter().map(|p| p.var.into()).collect();
        let mut body = Body { stms: own, result };
        let used: HashSet<VarId> = free_vars_body(&body).into_iter().collect();
        let (mut params, mut inputs) = (Vec::new(), Vec::new());
        for (param, array) in lambda.params.iter().zip(arrays).filter(|(p, _)| used.contains(&p.var)) {
            let hint = self.vars.hint(param.var).to_owned();
            let own = Param::new(self.vars.fresh(&hint), param.ty.clone());
            let exp = Exp::Atom(own.var.into());
            body.stms.insert(0, Stm { pat: vec![param.clone()], exp, loc: Loc::NONE });
            params.push(own);
            inputs.push(*array);
        }
        let body = renamed(self.vars, &body);
        let ret = given.iter().map(|p| p.ty.clone()).collect();
        Exp::Map { width, arrays: inputs, lambda: Lambda { params, body, ret } }
    }

    /// The statements before a position that variables need, if all of them can be run by themselves.
    fn needed(&self, lambda: &Lambda, at: usize, inside: &[VarId]) -> Option<HashSet<usize>> {
        let mut wanted: HashSet<VarId> = inside.iter().copied().collect();
        let mut needed = HashSet::new();
        for (i, stm) in lambda.body.stms[..at].iter().enumerate().rev() {
            if !stm.pat.iter().any(|p| wanted.contains(&p.var)) {
                continue;
            }
            if stm.pat.iter().any(|p| p.ty.is_acc()) || !self.effects.is_removable(stm) {
                return None;
            }
            wanted.extend(free_vars(&stm.exp));
            wanted.extend(stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var));
            needed.insert(i);
        }
        let is_acc = |p: &Param| p.ty.is_acc() && wanted.contains(&p.var);
        (!lambda.params.iter().any(is_acc)).then_some(needed)
    }
}

/// What the rest of a function needs of some of its statements, and is too much work to do again.
fn shared(lambda: &Lambda, first: &HashSet<usize>) -> HashSet<VarId> {
    let mut wanted: HashSet<VarId> = lambda.body.result.iter().filter_map(|a| a.as_var()).collect();
    let mut shared = HashSet::new();
    for (i, stm) in lambda.body.stms.iter().enumerate().rev() {
        let is_wanted = stm.pat.iter().any(|p| wanted.contains(&p.var));
        if first.contains(&i) && !is_wanted {
            continue;
        }
        if first.contains(&i) && !is_slight(stm) {
            shared.extend(stm.pat.iter().map(|p| p.var));
            continue;
        }
        wanted.extend(free_vars(&stm.exp));
    }
    shared
}

/// Whether a statement is next to no work.
fn is_slight(stm: &Stm) -> bool {
    match &stm.exp {
        Exp::Atom(_)
        | Exp::Slice { .. }
        | Exp::Rearrange { .. }
        | Exp::Reshape { .. }
        | Exp::Index { .. } => true,
        Exp::Iota { .. } | Exp::Replicate { .. } => true,
        exp => cannot_fail(exp) && !is_elementary_function(exp),
    }
}

fn bound(lambda: &Lambda) -> HashSet<VarId> {
    let stms = lambda.body.stms.iter().flat_map(|stm| &stm.pat);
    lambda.params.iter().chain(stms).map(|p| p.var).collect()
}

/// The operations that apply a function to rows, once for each.
fn rows(exp: &Exp) -> Option<(Atom, &[VarId], &Lambda)> {
    match exp {
        Exp::Map { width, arrays, lambda }
        | Exp::Reduce { width, arrays, pre: Some(lambda), .. }
        | Exp::Scan { width, arrays, pre: Some(lambda), .. } => Some((*width, arrays, lambda)),
        _ => None,
    }
}

fn rows_mut(exp: &mut Exp) -> Option<(Atom, &mut Vec<VarId>, &mut Lambda)> {
    match exp {
        Exp::Map { width, arrays, lambda }
        | Exp::Reduce { width, arrays, pre: Some(lambda), .. }
        | Exp::Scan { width, arrays, pre: Some(lambda), .. } => Some((*width, arrays, lambda)),
        _ => None,
    }
}
