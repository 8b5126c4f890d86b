//! Sums of elements that data choose from each of many rows are computed for all rows at once, from a table in which these
//! elements are neighbours.
//!
//! ```text
//! map r (rows) \(row: [m]i64) ->                       let (turned: [d][k]f64) = copy (rearrange (1, 0) xss)
//!   map k (xss) \(xs: [d]f64) : (f64) ->               map r (rows) \(row: [m]i64) ->
//!     let (s: f64) = reduce m (row)            ==>       map m (row) \(j: i64) : () -> xss[0][j]
//!       pre \(j: i64) : (f64) ->                         map k (iota k) \(q: i64) : (f64) ->
//!         let (x: f64) = xs[j]                             let (s: f64) = reduce m (row)
//!         in (x)                                             pre \(j: i64) : (f64) ->
//!       op (+) …                                               let (x: f64) = turned[j, q] certified
//!     in (s)                                                   in (x)  op (+) …
//! ```
//!
//! A loop along the columns of the table reads every `j` once, and vector units add up all sums. An index is the same for all
//! rows, so it is checked for the first of them. Turning the table has to pay: that is decided before the outermost iteration,
//! by how often it will be read, and what was there before stays for the other case. What is the same for all rows moves out
//! of their map, also if it can stop the program, as there are some rows.
//!
//! Reductions of such sums become maps and reductions of their results. Leaves the sums to [`crate::split_off_columns`].

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm, Program, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::precompute::{is_iteration, what_computes};
use dagaz_core::effects::cannot_fail;
use dagaz_core::rename::Substitution;
use dagaz_core::visit::{bodies_mut, bound_inside, each_stm, free_vars};

pub const INTERCHANGE_GATHERS: Pass = Pass::always(
    "interchange-gathers",
    "Sums of elements that data choose from many rows are computed for all rows at once, from a turned table.",
    interchange_gathers,
);

pub fn interchange_gathers(program: &mut Program) {
    let facts = Facts::of(program);
    let mut slices = HashMap::new();
    for stms in program.funs.iter().map(|fun| &fun.body.stms).chain([&program.consts]) {
        each_stm(stms, &mut |stm| {
            if let Exp::Slice { array, .. } = &stm.exp {
                slices.extend(stm.pat.iter().map(|p| (p.var, *array)));
            }
        });
    }
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass =
        Interchanger { b, facts, slices, inside: HashSet::new(), tables: Vec::new(), before: Vec::new() };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
}

/// A sum in a map over the rows of tables.
struct Found {
    /// The number of its statement.
    sum: usize,
    /// Which statements are the same for all rows.
    are_same: Vec<bool>,
    reads: Vec<Read>,
    /// The product of these is about how many elements of a row are read before the outermost iteration ends.
    count: Vec<Atom>,
}

/// The read of an element of a table.
struct Read {
    /// The number of its statement in the sum.
    number: usize,
    table: VarId,
    index: Atom,
    /// Whether rows of the table are parameters, rather than numbers of rows.
    is_of_row: bool,
    check: Check,
}

/// Tables as they are read in one iteration or several.
struct Tables {
    tables: Vec<VarId>,
    count: Vec<Atom>,
    pays: Atom,
    turned: Vec<VarId>,
}

struct Interchanger {
    b: Builder,
    facts: Facts,
    /// The arrays that slices are of.
    slices: HashMap<VarId, VarId>,
    /// What is bound in the outermost iteration.
    inside: HashSet<VarId>,
    /// Those that are made before it.
    tables: Vec<Tables>,
    before: Vec<Stm>,
}

/// The width, arrays and function of an operation whose results for rows are scalars.
fn row_function(exp: &Exp) -> Option<(Atom, &[VarId], &Lambda)> {
    let (width, arrays, lambda) = match exp {
        Exp::Map { width, arrays, lambda } => (width, arrays, lambda),
        Exp::Reduce { width, arrays, pre: Some(pre), op, .. } if is_plain(op) => (width, arrays, pre),
        _ => return None,
    };
    let is_scalar = |ty: &Type| matches!(ty, Type::Prim(_));
    (!lambda.ret.is_empty() && lambda.ret.iter().all(is_scalar)).then_some((*width, arrays, lambda))
}

fn is_plain(lambda: &Lambda) -> bool {
    lambda.body.stms.iter().all(|stm| cannot_fail(&stm.exp))
}

fn own_width(exp: &Exp) -> Option<Atom> {
    match exp {
        Exp::Map { width, .. } | Exp::Reduce { width, .. } | Exp::Scan { width, .. } => Some(*width),
        Exp::Loop { form: LoopForm::For { bound, .. }, .. } => Some(*bound),
        _ => None,
    }
}

impl Interchanger {
    fn body(&mut self, body: &mut Body) {
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            if is_iteration(&stm.exp) || matches!(stm.exp, Exp::WithAcc { .. }) {
                self.tables.clear();
                self.inside = bound_inside(&stm.exp);
                self.search_inside(&mut stm.exp, (0, &[]));
                done.append(&mut self.before);
            }
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(inner));
            done.push(stm);
        }
        body.stms = done;
    }

    /// Looks for sums inside of so many iterations, which have these widths as far as they are known. Branches may never be
    /// taken, and are left alone.
    fn search_inside(&mut self, exp: &mut Exp, (depth, widths): (usize, &[Atom])) {
        if matches!(exp, Exp::If { .. }) {
            return;
        }
        let own = own_width(exp).filter(|width| self.is_outside(*width));
        let widths = [widths, own.as_slice()].concat();
        let depth = depth + usize::from(is_iteration(exp));
        for body in bodies_mut(exp) {
            let mut done = Vec::with_capacity(body.stms.len());
            for mut stm in std::mem::take(&mut body.stms) {
                match self.find(&stm, &widths).filter(|_| depth > 0) {
                    Some(found) => done.extend(self.versions(stm, &found)),
                    None => {
                        self.search_inside(&mut stm.exp, (depth, &widths));
                        done.push(stm);
                    }
                }
            }
            body.stms = done;
        }
    }

    fn is_outside(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|var| !self.inside.contains(&var))
    }

    fn find(&self, stm: &Stm, widths: &[Atom]) -> Option<Found> {
        let (width, arrays, lambda) = row_function(&stm.exp)?;
        if !self.is_outside(width) {
            return None;
        }
        let (are_same, varying) = what_is_same(lambda);
        let sum = lambda.body.stms.iter().position(|stm| matches!(stm.exp, Exp::Reduce { .. }))?;
        let stms = &lambda.body.stms;
        let Exp::Reduce { width: depth, arrays: own, pre: Some(pre), op, neutral, .. } = &stms[sum].exp
        else {
            return None;
        };
        let is_safe = |stm: &Stm| {
            cannot_fail(&stm.exp) || matches!(stm.exp, Exp::Index { check: Check::Certified, .. })
        };
        let can_split = stms[..sum].iter().zip(&are_same).all(|(stm, is_same)| *is_same || is_safe(stm));
        let operands =
            own.iter().copied().chain([*depth].into_iter().chain(neutral.clone()).filter_map(Atom::as_var));
        let depends = operands.into_iter().any(|var| varying.contains(&var));
        if !can_split || depends || neutral.len() != 1 || !is_plain(op) {
            return None;
        }
        let numbers: HashSet<VarId> = self.counters(arrays, lambda).collect();
        let mut reads = Vec::new();
        for (number, stm) in pre.body.stms.iter().enumerate() {
            let Exp::Index { array, indices, check } = &stm.exp else {
                if cannot_fail(&stm.exp) { continue } else { return None }
            };
            let row = lambda.params.iter().position(|p| p.var == *array).map(|i| arrays[i]);
            let is_number = |atom: &Atom| atom.as_var().is_some_and(|var| numbers.contains(&var));
            let (table, index) = match (row, &indices[..]) {
                (Some(table), [index]) => (table, *index),
                (None, [number, index]) if is_number(number) => (*array, *index),
                _ => {
                    let is_element = stm.pat.iter().all(|p| p.ty.rank() == 0);
                    if row.is_none() && *check == Check::Certified && is_element {
                        continue;
                    } else {
                        return None;
                    }
                }
            };
            let rank = self.facts.types.get(&table)?.rank();
            if rank != 2 || !self.is_outside(table.into()) || !self.is_data((own, pre), index, &varying) {
                return None;
            }
            reads.push(Read { number, table, index, is_of_row: row.is_some(), check: *check });
        }
        let count = self.count(*depth, own, widths)?;
        (!reads.is_empty()).then_some(Found { sum, are_same, reads, count })
    }

    /// The parameters that are numbers of rows.
    fn counters<'a>(&'a self, arrays: &'a [VarId], lambda: &'a Lambda) -> impl Iterator<Item = VarId> + 'a {
        let rows = arrays.iter().zip(&lambda.params);
        rows.filter(|(array, _)| self.facts.is_counting(**array)).map(|(_, param)| param.var)
    }

    /// Whether an index depends on elements of arrays, and on nothing that differs between rows.
    fn is_data(&self, (arrays, pre): (&[VarId], &Lambda), index: Atom, varying: &HashSet<VarId>) -> bool {
        let Atom::Var(index) = index else { return false };
        let (_, needed) = what_computes([index], pre.body.stms.iter());
        let mut rows = arrays.iter().zip(&pre.params);
        let is_element =
            |(array, param): (&VarId, &Param)| needed.contains(&param.var) && !self.facts.is_counting(*array);
        rows.any(is_element) && needed.iter().all(|var| !varying.contains(var))
    }

    /// How many elements sums take before the outermost iteration ends: slices are guessed to be parts of an array that come
    /// one after the other.
    fn count(&self, depth: Atom, arrays: &[VarId], widths: &[Atom]) -> Option<Vec<Atom>> {
        if self.is_outside(depth) {
            return Some([widths, &[depth]].concat());
        }
        let sliced = arrays.iter().filter_map(|array| self.slices.get(array));
        let mut sizes = sliced.filter_map(|array| self.facts.types.get(array)?.dims().first());
        sizes.find(|size| self.is_outside(**size)).map(|size| vec![*size])
    }

    /// The statements that compute the sums from turned tables if that pays.
    fn versions(&mut self, stm: Stm, found: &Found) -> Vec<Stm> {
        let Stm { pat, exp, loc } = stm;
        let (width, arrays, lambda, reduce) = match exp {
            Exp::Map { width, arrays, lambda } => (width, arrays, lambda, None),
            Exp::Reduce { width, arrays, pre: Some(lambda), op, neutral, commutative } => {
                (width, arrays, lambda, Some((op, neutral, commutative)))
            }
            exp => return vec![Stm { pat, exp, loc }],
        };
        let (pays, turned) = self.turned(found, width, loc);
        let results: Vec<Param> = match &reduce {
            None => pat.clone(),
            Some(_) => {
                let hint = pat.first().map_or(String::new(), |p| self.b.hint(p.var));
                let array = |ty: &Type| ty.with_outer(&[width]);
                lambda.ret.iter().map(|ty| self.b.fresh_param(&hint, array(ty))).collect()
            }
        };
        let body = |stms: Vec<Stm>| Body { stms, result: results.iter().map(|p| p.var.into()).collect() };
        let original = Exp::Map { width, arrays: arrays.clone(), lambda: lambda.clone() };
        let otherwise = body(vec![Stm { pat: results.clone(), exp: original, loc }]);
        let then = body(self.with_turned((width, arrays, lambda), found, &turned, &results, loc));
        let then = renamed(&mut self.b.vars, &then);
        let otherwise = renamed(&mut self.b.vars, &otherwise);
        let choice = Exp::If { cond: pays, then, otherwise };
        let mut stms = vec![Stm { pat: results.clone(), exp: choice, loc }];
        if let Some((op, neutral, commutative)) = reduce {
            let arrays = results.iter().map(|p| p.var).collect();
            stms.push(Stm {
                pat,
                exp: Exp::Reduce { width, arrays, pre: None, op, neutral, commutative },
                loc,
            });
        }
        stms
    }

    /// Whether turned tables pay, and the table for each read.
    fn turned(&mut self, found: &Found, width: Atom, loc: Loc) -> (Atom, Vec<VarId>) {
        let mut tables: Vec<VarId> = Vec::new();
        for read in &found.reads {
            if !tables.contains(&read.table) {
                tables.push(read.table);
            }
        }
        let place = |all: &Tables| {
            let turned = found.reads.iter().filter_map(|read| {
                all.tables.iter().position(|table| *table == read.table).map(|i| all.turned[i])
            });
            (all.pays, turned.collect())
        };
        if let Some(known) = self.tables.iter().find(|all| all.tables == tables && all.count == found.count) {
            return place(known);
        }
        self.b.push_scope();
        let b = &mut self.b;
        let mut pays = b.le(PrimType::I64, Atom::i64(machine::TABLE_ROWS), width, loc);
        let count = b.product(&found.count, loc);
        let types: Vec<Type> =
            tables.iter().filter_map(|table| self.facts.types.get(table).cloned()).collect();
        for ty in &types {
            let is_read_often = b.le(PrimType::I64, ty.dims()[1], count, loc);
            pays = b.and(pays, is_read_often, loc);
        }
        let mut turned = Vec::new();
        for (table, ty) in tables.iter().zip(&types) {
            turned.push(turn(b, (*table, ty), pays, loc));
        }
        self.before.extend(self.b.pop_scope());
        let new = Tables { tables, count: found.count.clone(), pays, turned };
        let result = place(&new);
        self.tables.push(new);
        result
    }

    /// The map with sums of elements of turned tables, and what comes before it.
    fn with_turned(
        &mut self,
        (width, mut arrays, mut lambda): (Atom, Vec<VarId>, Lambda),
        found: &Found,
        turned: &[VarId],
        results: &[Param],
        loc: Loc,
    ) -> Vec<Stm> {
        let counter = self.counters(&arrays, &lambda).next();
        let counter = counter.unwrap_or_else(|| {
            let exp = Exp::Iota { ty: PrimType::I64, n: width, start: Atom::i64(0), step: Atom::i64(1) };
            let all = self.b.fresh_param("rows", Type::array(PrimType::I64, vec![width]));
            let own = self.b.fresh_param("row", Type::I64);
            arrays.push(all.var);
            lambda.params.push(own.clone());
            self.before.push(Stm { pat: vec![all], exp, loc });
            own.var
        });
        let mut same = Vec::new();
        let mut rest = Vec::new();
        for (number, mut stm) in std::mem::take(&mut lambda.body.stms).into_iter().enumerate() {
            if number == found.sum {
                same.extend(self.checks(&stm, found));
                read_turned(&mut stm, found, turned, counter);
            }
            let is_same = found.are_same[number] && number < found.sum;
            if is_same { same.push(stm) } else { rest.push(stm) }
        }
        lambda.body.stms = rest;
        same.push(Stm { pat: results.to_vec(), exp: Exp::Map { width, arrays, lambda }, loc });
        same
    }

    /// Checks of all indices, for the first row of each table.
    fn checks(&mut self, sum: &Stm, found: &Found) -> Vec<Stm> {
        let Exp::Reduce { width, arrays, pre: Some(pre), .. } = &sum.exp else { return Vec::new() };
        self.b.push_scope();
        let mut names = Substitution::default();
        let mut params = pre.params.clone();
        for param in &mut params {
            let hint = self.b.hint(param.var);
            let fresh = self.b.fresh(&hint);
            names.insert(param.var, fresh.into());
            param.var = fresh;
        }
        let mut known: Vec<(VarId, Atom)> = Vec::new();
        let mut inner = Vec::new();
        for read in found.reads.iter().filter(|read| read.check == Check::Checked) {
            let (Some(ty), Atom::Var(index)) = (self.facts.types.get(&read.table).cloned(), read.index)
            else {
                continue;
            };
            if known.contains(&(read.table, read.index)) {
                continue;
            }
            known.push((read.table, read.index));
            let loc = pre.body.stms[read.number].loc;
            let (stms, _) = what_computes([index], pre.body.stms.iter());
            inner.extend(names.copies(&mut self.b.vars, &stms));
            let index = names.of(read.index);
            let first = Atom::i64(0);
            let (array, indices) = match read.is_of_row {
                true => {
                    let row = self.b.index(read.table, &ty, vec![first], Check::Certified, loc);
                    (row.as_var().unwrap_or(read.table), vec![index])
                }
                false => (read.table, vec![first, index]),
            };
            let elem = ty.peel(2).unwrap_or(Type::I64);
            let pat = vec![self.b.fresh_param("elem", elem)];
            inner.push(Stm { pat, exp: Exp::Index { array, indices, check: Check::Checked }, loc });
        }
        let mut stms = self.b.pop_scope();
        if !inner.is_empty() {
            let body = Body { stms: inner, result: Vec::new() };
            let lambda = Lambda { params, body, ret: Vec::new() };
            let exp = Exp::Map { width: *width, arrays: arrays.clone(), lambda };
            stms.push(Stm { pat: Vec::new(), exp, loc: sum.loc });
        }
        stms
    }
}

/// The table with rows and columns exchanged, or nothing of it.
fn turn(b: &mut Builder, (table, ty): (VarId, &Type), pays: Atom, loc: Loc) -> VarId {
    let (Some(elem), &[rows, columns]) = (ty.elem(), ty.dims()) else { return table };
    let branch = |size: Atom| Body { stms: Vec::new(), result: vec![size] };
    let size = Exp::If { cond: pays, then: branch(columns), otherwise: branch(Atom::i64(0)) };
    let size = b.let_exp("size", Type::I64, size, loc);
    let view = Exp::Rearrange { perm: vec![1, 0], array: table };
    let view = b.let_var("view", Type::array(elem, vec![columns, rows]), view, loc);
    let range = |len: Atom| DimSlice::Range { start: Atom::i64(0), len, stride: Atom::i64(1) };
    let ty = Type::array(elem, vec![size, rows]);
    let part = Exp::Slice { array: view, dims: vec![range(size), range(rows)] };
    let part = b.let_var("part", ty.clone(), part, loc);
    b.let_var("turned", ty, Exp::Copy(part), loc)
}

/// Makes a sum read the turned tables.
fn read_turned(stm: &mut Stm, found: &Found, turned: &[VarId], counter: VarId) {
    let Exp::Reduce { pre: Some(pre), .. } = &mut stm.exp else { return };
    for (read, table) in found.reads.iter().zip(turned) {
        let indices = vec![read.index, counter.into()];
        pre.body.stms[read.number].exp = Exp::Index { array: *table, indices, check: Check::Certified };
    }
}

/// Which statements of a lambda do not depend on its parameters, and may run before it; and all that depends on them.
fn what_is_same(lambda: &Lambda) -> (Vec<bool>, HashSet<VarId>) {
    let mut varying: HashSet<VarId> = lambda.params.iter().map(|p| p.var).collect();
    let mut are_same = Vec::new();
    for stm in &lambda.body.stms {
        let can_move = match &stm.exp {
            Exp::Assert { .. } | Exp::Slice { .. } | Exp::Index { .. } => true,
            Exp::If { then, otherwise, .. } => then.stms.is_empty() && otherwise.stms.is_empty(),
            exp => cannot_fail(exp),
        };
        let sizes = stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var);
        let depends = free_vars(&stm.exp).into_iter().chain(sizes).any(|var| varying.contains(&var));
        if !can_move || depends {
            varying.extend(stm.pat.iter().map(|p| p.var));
        }
        are_same.push(can_move && !depends);
    }
    (are_same, varying)
}
