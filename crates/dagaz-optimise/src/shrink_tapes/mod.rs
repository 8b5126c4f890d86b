//! Loops that keep states for a return sweep keep what it makes of them instead, if that is less.
//!
//! ```text
//! let (…, as: [n][m]f64, bs: [n][m]f64) =               let (…, ks: [n][m]f64) =
//!   loop (a: [m]f64, b: [m]f64, …) for i < n do           loop (a: [m]f64, b: [m]f64, …) for i < n do
//!     let (as': [n][m]f64) = as with [i] = a                let (c, d, k: [m]f64) = map m (a, b)
//!     let (bs': [n][m]f64) = bs with [i] = b                  \(x: f64, y: f64) : (f64, f64, f64) ->
//!     let (c, d: [m]f64) = map m (a, b)                         let (z: f64) = f64.mul x y
//!       \(x: f64, y: f64) : (f64, f64) ->           ==>         … z …
//!         let (z: f64) = f64.mul x y                        let (ks': [n][m]f64) = ks with [i] = k
//!         … z …                                             …
//! loop (…) for j < n do                                 loop (…) for j < n do
//!   let (e: [m]f64) = map m (as[i], bs[i], …)             let (e: [m]f64) = map m (ks[i], …)
//!     \(x: f64, y: f64, …) : (f64) ->                       \(z: f64, …) : (f64) ->
//!       let (z: f64) = f64.mul x y                            … z …
//!       … z …
//! ```
//!
//! Where a return sweep has nests of maps, these compute once more what it needs of the way there. All that it needs may be a
//! few numbers that come out of many: a density and a velocity out of what moves in each of many directions. The
//! nest in the loop gives these numbers as well, and arrays keep them. That is worth it if they have at most half the bytes of the states.
//!
//! Expects fused maps, in which all that happens to an element is in one place, and arrays that are plain values. Leaves
//! dead statements and parameters.

mod cut;
mod matching;

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm, Program, Stm, Vars};
use dagaz_core::facts::count_uses;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::columns::{fresh_like, rename};
use dagaz_core::effects::Effects;
use dagaz_core::rename::Substitution;
use dagaz_core::visit::{bodies, bodies_mut, direct_operands, each_stm, free_vars};

use cut::Flow;
use matching::{Levels, Matching, Step};

pub const SHRINK_TAPES: Pass = Pass::reporting(
    "shrink-tapes",
    "Loops that keep states for a return sweep keep what it makes of them, where that is less.",
    shrink_tapes,
);

/// Whether a loop keeps something else now.
pub fn shrink_tapes(program: &mut Program) -> bool {
    let effects = Effects::of(program);
    let Program { vars, funs, .. } = program;
    let mut has_changed = false;
    for fun in funs {
        let mut uses = HashMap::new();
        count_uses(&mut uses, &fun.body.stms, &fun.body.result);
        let mut counters = HashSet::new();
        each_stm(&fun.body.stms, &mut |stm| {
            if let (true, [param]) = (stm.exp.is_counting(), &stm.pat[..]) {
                counters.insert(param.var);
            }
        });
        let mut pass = Shrinker { vars: &mut *vars, effects: &effects, uses, counters, has_changed: false };
        pass.body(&mut fun.body);
        has_changed |= pass.has_changed;
    }
    has_changed
}

struct Shrinker<'p> {
    vars: &'p mut Vars,
    effects: &'p Effects,
    uses: HashMap<VarId, usize>,
    /// Arrays `0, 1, …`.
    counters: HashSet<VarId>,
    has_changed: bool,
}

/// An array in which a loop keeps a state.
#[derive(Clone)]
struct TapedState {
    array: VarId,
    /// What the loop calls the state, and the row for it.
    state: VarId,
    at: VarId,
    ty: Type,
}

impl TapedState {
    /// Whether both keep arrays of the same shape at the same time.
    fn is_like(&self, other: &TapedState) -> bool {
        self.ty.dims() == other.ty.dims() && self.at == other.at
    }
}

/// How a nest of maps reads states of an iteration.
pub(super) struct Reads {
    kept: Vec<TapedState>,
    /// The number of the iteration.
    row: Atom,
    /// Rows that have names, and the states they are.
    rows: HashMap<VarId, VarId>,
}

impl Reads {
    fn state(&self, array: VarId) -> Option<VarId> {
        self.kept.iter().find(|kept| kept.array == array).map(|kept| kept.state)
    }
}

/// Where a statement is: the way there, by the numbers of statements and of bodies in them, and its own number.
#[derive(Clone)]
struct StmPath {
    way: Vec<(usize, usize)>,
    number: usize,
}

/// A number to be kept.
struct Number {
    /// Its names in the return sweep and in the loop.
    here: VarId,
    there: VarId,
    /// The branches around it in the loop.
    path: Vec<Step>,
    ty: PrimType,
}

struct ShrunkTape {
    numbers: Vec<Number>,
    /// The statement of the loop that computes them.
    maker: usize,
    /// The row for them, in the loop.
    at: VarId,
    /// Where they are read, and of which iteration.
    reader: StmPath,
    row: Atom,
    /// The sizes of an array that keeps one.
    dims: Vec<Atom>,
    loc: Loc,
}

impl Shrinker<'_> {
    fn body(&mut self, own: &mut Body) {
        let mut number = 0;
        while number < own.stms.len() {
            bodies_mut(&mut own.stms[number].exp).into_iter().for_each(|inner| self.body(inner));
            if let Some(plan) = self.plan(own, number) {
                number += self.carry_out(own, number, &plan);
                self.has_changed = true;
            }
            number += 1;
        }
    }

    fn plan(&self, own: &Body, number: usize) -> Option<ShrunkTape> {
        let stm = &own.stms[number];
        let kept = kept_states(stm);
        if kept.len() < 2 {
            return None;
        }
        let mut readers = Vec::new();
        self.readers(own, number + 1, &kept, &mut Vec::new(), &mut readers);
        readers.into_iter().find_map(|(reader, reads)| self.plan_for(stm, own, reader, &reads))
    }

    /// The maps after a statement that read kept states which nothing else reads.
    fn readers(
        &self,
        body: &Body,
        from: usize,
        kept: &[TapedState],
        way: &mut Vec<(usize, usize)>,
        found: &mut Vec<(StmPath, Reads)>,
    ) {
        for (number, stm) in body.stms.iter().enumerate().skip(from) {
            match &stm.exp {
                Exp::Map { .. } => {
                    let reads = self.reads(&body.stms[..number], stm, kept);
                    found.extend(reads.map(|reads| (StmPath { way: way.clone(), number }, reads)));
                }
                Exp::Loop { .. } | Exp::If { .. } => {
                    for (k, inner) in bodies(&stm.exp).into_iter().enumerate() {
                        way.push((number, k));
                        self.readers(inner, 0, kept, way, found);
                        way.pop();
                    }
                }
                _ => {}
            }
        }
    }

    fn reads(&self, before: &[Stm], stm: &Stm, kept: &[TapedState]) -> Option<Reads> {
        let mut inside = HashMap::new();
        count_uses(&mut inside, [stm], &[]);
        let is_only_here = |var: VarId, more: usize| {
            let here = inside.get(&var).copied().unwrap_or(0) + more;
            here > 0 && self.uses.get(&var) == Some(&here)
        };
        let mut rows = HashMap::new();
        let mut found = Vec::new();
        let mut indices = HashSet::new();
        for own in kept {
            let mut named = 0;
            for stm in before {
                if let (Exp::Index { array, indices: at, .. }, [p]) = (&stm.exp, stm.pat.as_slice())
                    && *array == own.array
                    && at.len() == 1
                    && is_only_here(p.var, 0)
                {
                    named += 1;
                    rows.insert(p.var, own.state);
                    indices.insert(at[0]);
                }
            }
            let is_alike = found.first().is_none_or(|first: &TapedState| first.is_like(own));
            if is_alike && is_only_here(own.array, named) {
                found.push(own.clone());
            }
        }
        let arrays: HashSet<VarId> = found.iter().map(|kept| kept.array).collect();
        let is_index_alone = iterations_read(stm, &arrays, &mut indices);
        let [row] = indices.into_iter().collect::<Vec<_>>()[..] else { return None };
        let is_known = row.as_var().is_none_or(|var| !rows.is_empty() || free_vars(&stm.exp).contains(&var));
        (is_index_alone && is_known && found.len() > 1).then_some(Reads { kept: found, row, rows })
    }

    fn plan_for(&self, stm: &Stm, own: &Body, reader: StmPath, reads: &Reads) -> Option<ShrunkTape> {
        let Exp::Loop { body, .. } = &stm.exp else { return None };
        let at = reads.kept[0].at;
        let dims = reads.kept[0].ty.dims().to_vec();
        let later = levels(stm_at(own, &reader)?, &dims[1..])?;
        // There may be no such iteration where nothing is read.
        if reads.rows.is_empty() && !always_reads(&later.last()?.1.body, reads) {
            return None;
        }
        let all: usize = reads.kept.iter().filter_map(|kept| kept.ty.elem()).map(PrimType::bytes).sum();
        for (maker, earlier) in body.stms.iter().enumerate() {
            let Some(first) = levels(earlier, &dims[1..]) else { continue };
            let matching = Matching::of(reads, &self.counters, at, &first, &later);
            let Some(numbers) = self.numbers(reads, &matching, &later, all / 2) else { continue };
            let (row, loc) = (reads.row, earlier.loc);
            return Some(ShrunkTape { numbers, maker, at, reader, row, dims, loc });
        }
        None
    }

    /// The numbers from which a nest could compute its results without states, if these have no more bytes than this.
    fn numbers(
        &self,
        reads: &Reads,
        matching: &Matching<'_>,
        nest: &Levels<'_>,
        most: usize,
    ) -> Option<Vec<Number>> {
        let mut of_states: HashSet<VarId> = reads.kept.iter().map(|kept| kept.array).collect();
        of_states.extend(reads.rows.keys());
        for (depth, (arrays, lambda)) in nest.iter().enumerate() {
            let rows = arrays.iter().zip(&lambda.params).filter(|(array, _)| of_states.contains(array));
            let rows: Vec<VarId> = rows.map(|(_, param)| param.var).collect();
            of_states.extend(rows);
            let outer = if depth + 1 < nest.len() { lambda.body.stms.as_slice() } else { &[] };
            for stm in &outer[..outer.len().saturating_sub(1)] {
                if free_vars(&stm.exp).iter().any(|var| of_states.contains(var)) {
                    of_states.extend(stm.pat.iter().map(|p| p.var));
                }
            }
        }
        let innermost = &nest.last()?.1.body;
        let mut graph = Graph { flow: Flow::new(), types: HashMap::new(), of_states, matching, pass: self };
        graph.body(innermost);
        let results: HashSet<VarId> = innermost.result.iter().filter_map(|a| a.as_var()).collect();
        if results.iter().any(|var| graph.of_states.contains(var)) {
            return None;
        }
        results.into_iter().for_each(|var| graph.want(var));
        let types = graph.types;
        let number = |here: VarId| {
            let (there, path) = matching.first(here)?;
            Some(Number { here, there, path: path.to_vec(), ty: *types.get(&here)? })
        };
        let cut = graph.flow.cut(most)?;
        cut.into_iter().map(number).collect()
    }

    /// Gives the number of new statements before the loop.
    fn carry_out(&mut self, own: &mut Body, number: usize, plan: &ShrunkTape) -> usize {
        let loc = plan.loc;
        let types: Vec<Type> = plan.numbers.iter().map(|n| Type::array(n.ty, plan.dims.clone())).collect();
        let arrays: Vec<VarId> = types.iter().map(|_| self.vars.fresh("kept")).collect();
        self.read_kept(own, plan, &types, &arrays);
        let Exp::Loop { params, body, .. } = &mut own.stms[number].exp else { return 0 };
        let made = give_more(self.vars, &mut body.stms[plan.maker], plan.dims.len() - 1, &plan.numbers);
        let (mut rooms, mut pat) = (Vec::new(), Vec::new());
        for ((ty, array), row) in types.iter().zip(arrays).zip(made) {
            let [room, before, after] = [(); 3].map(|()| self.vars.fresh("kept"));
            let param = |var: VarId| Param { var, ty: ty.clone() };
            let exp = Exp::Scratch { elem: ty.elem().unwrap_or(PrimType::F64), dims: ty.dims().to_vec() };
            rooms.push(Stm { pat: vec![param(room)], exp, loc });
            params.push((param(before), room.into()));
            let dims = vec![DimSlice::Fix(plan.at.into())];
            let exp = Exp::Update { array: before, dims, value: row.into(), check: Check::Certified };
            body.stms.push(Stm { pat: vec![param(after)], exp, loc });
            body.result.push(after.into());
            pat.push(param(array));
        }
        own.stms[number].pat.extend(pat);
        let new = rooms.len();
        own.stms.splice(number..number, rooms);
        new
    }

    /// Has the nest of the return sweep read the numbers.
    fn read_kept(&mut self, own: &mut Body, plan: &ShrunkTape, types: &[Type], arrays: &[VarId]) {
        let Some(body) = body_at(own, &plan.reader.way) else { return };
        let mut rows = Vec::new();
        for (ty, array) in types.iter().zip(arrays) {
            let row = Param { var: self.vars.fresh("kept"), ty: ty.row().unwrap_or_else(|| ty.clone()) };
            rows.push(row.clone());
            let exp = Exp::Index { array: *array, indices: vec![plan.row], check: Check::Certified };
            body.stms.insert(plan.reader.number, Stm { pat: vec![row], exp, loc: plan.loc });
        }
        let nest = &mut body.stms[plan.reader.number + rows.len()];
        take_more(self.vars, nest, rows, &plan.numbers);
    }
}

/// What the numbers of a body depend on.
struct Graph<'a> {
    flow: Flow,
    types: HashMap<VarId, PrimType>,
    /// Arrays and rows that are states, or made of states further out.
    of_states: HashSet<VarId>,
    matching: &'a Matching<'a>,
    pass: &'a Shrinker<'a>,
}

impl Graph<'_> {
    fn body(&mut self, body: &Body) {
        for stm in &body.stms {
            if let Exp::If { cond, then, otherwise } = &stm.exp {
                self.body(then);
                self.body(otherwise);
                for (k, param) in stm.pat.iter().enumerate() {
                    let needed = [*cond, then.result[k], otherwise.result[k]];
                    self.number(param, &needed.into_iter().filter_map(Atom::as_var).collect::<Vec<_>>());
                }
                continue;
            }
            let needed = free_vars(&stm.exp);
            stm.pat.iter().for_each(|param| self.number(param, &needed));
            // One that may stop the program is needed for that.
            if !self.pass.effects.is_removable(stm) {
                stm.pat.iter().for_each(|param| self.want(param.var));
            }
        }
    }

    fn number(&mut self, param: &Param, needed: &[VarId]) {
        let reads = needed.iter().any(|var| self.of_states.contains(var));
        let numbers: Vec<VarId> = needed.iter().copied().filter(|var| self.flow.has(*var)).collect();
        if !reads && numbers.is_empty() {
            return;
        }
        let ty = match param.ty {
            Type::Prim(ty) if ty.is_float() => Some(ty),
            _ => None,
        };
        let can_be_kept = ty.filter(|_| self.matching.first(param.var).is_some());
        self.flow.number(param.var, can_be_kept.map(PrimType::bytes));
        self.types.extend(ty.map(|ty| (param.var, ty)));
        if reads {
            self.flow.reads(param.var);
        }
        numbers.into_iter().for_each(|var| self.flow.depends(param.var, var));
    }

    fn want(&mut self, var: VarId) {
        if self.flow.has(var) {
            self.flow.is_wanted(var);
        }
    }
}

/// The arrays in which a loop keeps what its iterations start with.
fn kept_states(stm: &Stm) -> Vec<TapedState> {
    let Exp::Loop { params, form: LoopForm::For { var: counter, .. }, body, .. } = &stm.exp else {
        return Vec::new();
    };
    if has_own_sizes(&stm.pat) {
        return Vec::new();
    }
    let is_counter = |var: VarId| {
        let is_converted = |stm: &Stm| {
            matches!(stm.exp, Exp::Convert(_, _, from) if from == (*counter).into()) && stm.pat[0].var == var
        };
        var == *counter || body.stms.iter().any(is_converted)
    };
    let mut kept = Vec::new();
    for (k, (param, _)) in params.iter().enumerate() {
        let makes = |own: &&Stm| matches!(own.pat.as_slice(), [p] if body.result[k] == p.var.into());
        let Some(Exp::Update { array, dims, value: Atom::Var(value), check: Check::Certified }) =
            body.stms.iter().find(makes).map(|stm| &stm.exp)
        else {
            continue;
        };
        let [DimSlice::Fix(Atom::Var(at))] = dims.as_slice() else { continue };
        let is_state = params.iter().any(|(other, _)| other.var == *value && other.ty.is_array());
        if is_counter(*at) && is_state && *array == param.var {
            let (array, ty) = (stm.pat[k].var, stm.pat[k].ty.clone());
            kept.push(TapedState { array, state: *value, at: *at, ty });
        }
    }
    kept
}

/// Notes the iterations of which elements of the arrays are read. Says whether elements and rows are all that is read.
fn iterations_read(stm: &Stm, arrays: &HashSet<VarId>, found: &mut HashSet<Atom>) -> bool {
    let mut others = 0;
    match &stm.exp {
        Exp::Index { array, indices, .. } if arrays.contains(array) => found.extend(indices.first()),
        exp => direct_operands(exp, &mut |atom| {
            others += usize::from(atom.as_var().is_some_and(|var| arrays.contains(&var)));
        }),
    }
    let inner = bodies(&stm.exp);
    others == 0 && inner.iter().all(|body| body.stms.iter().all(|stm| iterations_read(stm, arrays, found)))
}

/// Whether an element of a state is read in any case.
fn always_reads(body: &Body, reads: &Reads) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Index { array, .. } => reads.state(*array).is_some(),
        Exp::If { then, otherwise, .. } => always_reads(then, reads) && always_reads(otherwise, reads),
        _ => false,
    })
}

/// The levels of a nest of maps with these widths, each of which does nothing after the next one but give its results.
fn levels<'a>(stm: &'a Stm, widths: &[Atom]) -> Option<Levels<'a>> {
    let Exp::Map { width, arrays, lambda } = &stm.exp else { return None };
    let (first, rest) = widths.split_first()?;
    if first != width {
        return None;
    }
    let mut all = vec![(arrays.as_slice(), lambda)];
    if !rest.is_empty() {
        let inner = lambda.body.stms.last()?;
        let results = inner.pat.iter().map(|p| Atom::from(p.var));
        if !results.eq(lambda.body.result.iter().copied()) {
            return None;
        }
        all.extend(levels(inner, rest)?);
    }
    Some(all)
}

fn stm_at<'a>(mut body: &'a Body, place: &StmPath) -> Option<&'a Stm> {
    for (number, k) in &place.way {
        body = *bodies(&body.stms.get(*number)?.exp).get(*k)?;
    }
    body.stms.get(place.number)
}

fn body_at<'a>(mut body: &'a mut Body, way: &[(usize, usize)]) -> Option<&'a mut Body> {
    for (number, k) in way {
        body = bodies_mut(&mut body.stms.get_mut(*number)?.exp).into_iter().nth(*k)?;
    }
    Some(body)
}

/// Has a nest give more numbers for each element.
fn give_more(vars: &mut Vars, stm: &mut Stm, depth: usize, numbers: &[Number]) -> Vec<VarId> {
    let Exp::Map { width, lambda: Lambda { body, ret, .. }, .. } = &mut stm.exp else { return Vec::new() };
    let inner: Vec<(Atom, Type)> = match body.stms.last_mut() {
        Some(next) if depth > 1 => {
            let made = give_more(vars, next, depth - 1, numbers);
            let types = next.pat[next.pat.len() - made.len()..].iter().map(|p| p.ty.clone());
            made.into_iter().map(Atom::from).zip(types).collect()
        }
        _ => {
            let numbers = numbers.iter();
            numbers.map(|n| (out_of_branches(vars, body, &n.path, n), Type::Prim(n.ty))).collect()
        }
    };
    let mut made = Vec::new();
    for (result, ty) in inner {
        let var = vars.fresh("kept");
        stm.pat.push(Param { var, ty: ty.with_outer(&[*width]) });
        body.result.push(result);
        ret.push(ty);
        made.push(var);
    }
    made
}

/// A number that branches compute, as a further result of theirs; where they are not taken, nobody reads it.
fn out_of_branches(vars: &mut Vars, body: &mut Body, path: &[Step], number: &Number) -> Atom {
    let Some(((first, is_then), rest)) = path.split_first() else { return number.there.into() };
    let branch = body.stms.iter_mut().find(|stm| stm.pat.first().is_some_and(|p| p.var == *first));
    let Some(Stm { pat, exp: Exp::If { then, otherwise, .. }, .. }) = branch else {
        return number.there.into();
    };
    let (taken, other) = if *is_then { (then, otherwise) } else { (otherwise, then) };
    let result = out_of_branches(vars, taken, rest, number);
    taken.result.push(result);
    other.result.push(Prim::zero(number.ty).into());
    let var = fresh_like(vars, number.there);
    pat.push(Param { var, ty: Type::Prim(number.ty) });
    var.into()
}

/// Has a nest take rows, whose elements are the numbers that it had computed.
fn take_more(vars: &mut Vars, stm: &mut Stm, rows: Vec<Param>, numbers: &[Number]) {
    let Exp::Map { arrays, lambda: Lambda { params, body, .. }, .. } = &mut stm.exp else { return };
    let mut own = Vec::new();
    for row in rows {
        let Some(ty) = row.ty.row() else { return };
        arrays.push(row.var);
        own.push(Param { var: vars.fresh("kept"), ty });
    }
    params.extend(own.iter().cloned());
    if own.iter().any(|p| p.ty.is_array()) {
        if let Some(next) = body.stms.last_mut() {
            take_more(vars, next, own, numbers);
        }
        return;
    }
    let mut names = Substitution::default();
    numbers.iter().zip(own).for_each(|(number, param)| names.insert(number.here, param.var.into()));
    body.stms.iter_mut().for_each(|stm| rename(&names, &mut stm.exp));
    body.result.iter_mut().for_each(|atom| names.apply(atom));
}

/// Whether sizes of results are results, too.
fn has_own_sizes(pat: &[Param]) -> bool {
    let names: HashSet<Atom> = pat.iter().map(|p| p.var.into()).collect();
    pat.iter().any(|p| p.ty.is_acc() || p.ty.all_dims().iter().any(|dim| names.contains(dim)))
}
