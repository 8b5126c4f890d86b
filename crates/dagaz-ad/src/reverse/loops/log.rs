//! A log of what updates in place overwrite, so that they can be undone (cf. thesis, section 3.5.2).
//!
//!     let (b: [n]f64) = a with [i] = x    ==>    let (old: f64) = a[i]
//!                                                let (vs': [c]f64) = vs with [top] = old
//!                                                let (is': [c]i64) = is with [top] = i
//!                                                let (top': i64) = i64.add top 1
//!                                                let (b: [n]f64) = a with [i] = x
//!
//! The log goes through branches and loops beside the array. All of its entries have one form: the same dimensions
//! are fixed, the others have lengths that do not change.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::bound_inside;

use crate::context::{Ad, Res};
use crate::rename::Renamer;

use super::super::part_type;
use super::super::scatter::Places;
use super::flow::{Flow, Site, update_of};
use super::recipe::Recipe;

/// A log where it stands: how many entries it has, their indices, and the old values.
#[derive(Clone)]
pub(crate) struct Log {
    pub top: Atom,
    /// None where entries are only counted.
    pub entries: Option<Entries>,
}

#[derive(Clone)]
pub(crate) struct Entries {
    pub indices: Vec<IndexOf>,
    pub values: VarId,
    /// The form of the entries.
    pub form: Site,
}

/// Where an index of an entry is found.
#[derive(Clone)]
pub(crate) enum IndexOf {
    Logged(VarId),
    /// There is one entry for each iteration, whose number decides.
    Computed(Recipe),
}

impl IndexOf {
    fn logged(&self) -> Option<VarId> {
        match self {
            IndexOf::Logged(var) => Some(*var),
            IndexOf::Computed(_) => None,
        }
    }
}

impl Entries {
    /// The entries in other arrays.
    pub fn at(&self, array: &impl Fn(VarId) -> VarId) -> Entries {
        let index = |index: &IndexOf| match index {
            IndexOf::Logged(indices) => IndexOf::Logged(array(*indices)),
            IndexOf::Computed(recipe) => IndexOf::Computed(recipe.clone()),
        };
        let indices = self.indices.iter().map(index).collect();
        Entries { indices, values: array(self.values), form: self.form.clone() }
    }
}

impl Log {
    pub fn atoms(&self) -> Vec<Atom> {
        let mut atoms = vec![self.top];
        if let Some(entries) = &self.entries {
            atoms.extend(entries.indices.iter().filter_map(IndexOf::logged).map(Atom::from));
            atoms.push(entries.values.into());
        }
        atoms
    }

    pub fn moved_to(&self, vars: &[VarId]) -> Log {
        let mut logged = vars[1..].iter();
        let mut moved = |index: &IndexOf| match index {
            IndexOf::Logged(old) => IndexOf::Logged(logged.next().copied().unwrap_or(*old)),
            IndexOf::Computed(recipe) => IndexOf::Computed(recipe.clone()),
        };
        let entries = self.entries.as_ref().map(|old| Entries {
            indices: old.indices.iter().map(&mut moved).collect(),
            values: vars[vars.len() - 1],
            form: old.form.clone(),
        });
        Log { top: vars[0].into(), entries }
    }
}

impl Log {
    /// As [`Log::moved_to`], where the height is not carried.
    pub fn entries_moved_to(&self, vars: &[VarId]) -> Log {
        let all: Vec<VarId> = vars.first().into_iter().chain(vars).copied().collect();
        Log { top: self.top, ..self.moved_to(&all) }
    }
}

/// Logs, and which arrays they are for.
#[derive(Default)]
pub(crate) struct Logs {
    pub all: Vec<Log>,
    of: HashMap<VarId, usize>,
}

impl Logs {
    pub fn add(&mut self, root: VarId, log: Log) -> usize {
        self.of.insert(root, self.all.len());
        self.all.push(log);
        self.all.len() - 1
    }
}

/// How often something updates an array.
pub(crate) enum Count {
    Once,
    Times(Atom, PrimType, Box<Count>),
    Sum(Vec<Count>),
    Max(Box<Count>, Box<Count>),
}

impl Count {
    /// Factors of the number, if it is a product.
    pub fn turns(&self) -> Option<Vec<Atom>> {
        match self {
            Count::Once => Some(Vec::new()),
            Count::Times(bound, _, inner) => inner.turns().map(|inner| [vec![*bound], inner].concat()),
            Count::Sum(parts) => match parts.as_slice() {
                [part] => part.turns(),
                [] | [_, _, ..] => None,
            },
            Count::Max(..) => None,
        }
    }

    /// Whether it is always reached.
    pub fn is_exact(&self) -> bool {
        match self {
            Count::Once => true,
            Count::Times(_, _, inner) => inner.is_exact(),
            Count::Sum(parts) => parts.iter().all(Count::is_exact),
            Count::Max(..) => false,
        }
    }
}

/// The form that all of these parts have, if they have one; `inside` is what may change in between.
pub(crate) fn common_form(sites: &[Site], inside: &HashSet<VarId>) -> Option<Site> {
    let steady = |atom: Atom| atom.as_var().is_none_or(|v| !inside.contains(&v));
    let dim = |dim: &DimSlice| match dim {
        DimSlice::Fix(_) => Some(None),
        DimSlice::Range { len, stride, .. } => {
            (steady(*len) && steady(*stride)).then_some(Some((*len, *stride)))
        }
    };
    // The number of dimensions that are fixed, then what they are or how many places there are.
    let form = |site: &Site| match site {
        Site::Part(dims) => Some((dims.iter().map(dim).collect::<Option<Vec<_>>>()?, None)),
        Site::Places { width, shape, .. } => (steady(*width) && shape.iter().all(|d| steady(*d)))
            .then(|| (vec![None; shape.len()], Some(*width))),
    };
    let first = form(sites.first()?)?;
    sites.iter().all(|site| form(site).as_ref() == Some(&first)).then(|| sites[0].clone())
}

impl Site {
    /// The type of what is there in an array.
    pub fn part(&self, array: &Type) -> Type {
        match self {
            Site::Part(dims) => part_type(array, dims),
            Site::Places { width, shape, .. } => {
                array.peel(shape.len()).unwrap_or_else(|| array.clone()).with_outer(&[*width])
            }
        }
    }

    /// The indices of each dimension: one, or one for each place.
    pub fn indices(&self) -> Vec<Atom> {
        match self {
            Site::Part(dims) => dims.iter().map(first_index).collect(),
            Site::Places { indices, .. } => indices.iter().map(|v| Atom::from(*v)).collect(),
        }
    }
}

/// Where a dimension of a part begins.
fn first_index(dim: &DimSlice) -> Atom {
    match dim {
        DimSlice::Fix(i) => *i,
        DimSlice::Range { start, .. } => *start,
    }
}

/// How often a body updates an array, if that can be said from what is known outside of `inside`.
pub(crate) fn count(body: &Body, root: VarId, flow: &Flow, inside: &HashSet<VarId>) -> Option<Count> {
    let parts = body.stms.iter().map(|stm| count_stm(stm, root, flow, inside));
    Some(Count::Sum(parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect()))
}

fn count_stm(stm: &Stm, root: VarId, flow: &Flow, inside: &HashSet<VarId>) -> Option<Option<Count>> {
    let Some(k) = stm.pat.iter().position(|p| flow.changed(p.var) == Some(root)) else { return Some(None) };
    match &stm.exp {
        Exp::If { then, otherwise, .. } => {
            let then = count(then, root, flow, inside)?;
            let otherwise = count(otherwise, root, flow, inside)?;
            Some(Some(Count::Max(Box::new(then), Box::new(otherwise))))
        }
        Exp::Loop { params, form: LoopForm::For { bound, ty, .. }, body, .. } => {
            let inner = count(body, params[k].0.var, flow, inside)?;
            let known = bound.as_var().is_none_or(|v| !inside.contains(&v));
            known.then(|| Some(Count::Times(*bound, *ty, Box::new(inner))))
        }
        Exp::Loop { form: LoopForm::While { .. }, .. } => None,
        _ => Some(Some(Count::Once)),
    }
}

impl Ad<'_> {
    pub fn emit_count(&mut self, count: &Count, loc: Loc) -> Atom {
        match count {
            Count::Once => Atom::i64(1),
            Count::Times(bound, ty, inner) => {
                let inner = self.emit_count(inner, loc);
                let turns = self.b.convert(*ty, PrimType::I64, *bound, loc);
                let turns = self.i64_op(BinOp::Max, turns, Atom::i64(0), loc);
                self.i64_op(BinOp::Mul, turns, inner, loc)
            }
            Count::Sum(parts) => {
                let mut sum = Atom::i64(0);
                for part in parts {
                    let part = self.emit_count(part, loc);
                    sum = self.i64_op(BinOp::Add, sum, part, loc);
                }
                sum
            }
            Count::Max(a, b) => {
                let (a, b) = (self.emit_count(a, loc), self.emit_count(b, loc));
                self.i64_op(BinOp::Max, a, b, loc)
            }
        }
    }

    /// How many entries a statement adds at most to the log of an array: computed, or found by running a copy of the
    /// statement that only counts.
    pub fn capacity(&mut self, stm: &Stm, root: VarId, flow: &Flow) -> Res<Atom> {
        let inside = bound_inside(&stm.exp);
        if let Some(Some(count)) = count_stm(stm, root, flow, &inside) {
            return Ok(self.emit_count(&count, stm.loc));
        }
        let mut logs = Logs::default();
        let counter = self.param("count", Type::I64);
        logs.add(root, Log { top: counter.var.into(), entries: None });
        let (stms, ()) = self.scope(|ad| ad.logged_stm(stm, flow, &mut logs))?;
        let body = Body { stms, result: vec![logs.all[0].top] };
        let copy = Renamer::before(self, HashMap::from([(counter.var, Atom::i64(0))])).body(&body);
        copy.stms.into_iter().for_each(|s| self.push(s));
        Ok(copy.result[0])
    }

    /// An empty log with room for entries of the form, and perhaps recipes for their indices.
    pub fn new_log(
        &mut self,
        array: &Type,
        form: &Site,
        recipes: Vec<Option<Recipe>>,
        room: Atom,
        loc: Loc,
    ) -> Log {
        let indices = recipes.into_iter().map(|recipe| match recipe {
            Some(recipe) => IndexOf::Computed(recipe),
            None => {
                let dims = match form {
                    Site::Part(_) => vec![room],
                    Site::Places { width, .. } => vec![room, *width],
                };
                let ty = Type::array(PrimType::I64, dims.clone());
                let exp = Exp::Scratch { elem: PrimType::I64, dims };
                IndexOf::Logged(self.let_var("undo_at", ty, exp, loc))
            }
        });
        let indices = indices.collect();
        let part = form.part(array).with_outer(&[room]);
        let elem = part.elem().unwrap_or(PrimType::F64);
        let exp = Exp::Scratch { elem, dims: part.dims().to_vec() };
        let values = self.let_var("undo", part, exp, loc);
        Log { top: Atom::i64(0), entries: Some(Entries { indices, values, form: form.clone() }) }
    }

    /// The statements of a body, which also write the logs; gives the results of the body.
    pub fn logged(&mut self, body: &Body, flow: &Flow, logs: &mut Logs) -> Res<Vec<Atom>> {
        body.stms.iter().try_for_each(|stm| self.logged_stm(stm, flow, logs))?;
        Ok(body.result.clone())
    }

    pub fn logged_stm(&mut self, stm: &Stm, flow: &Flow, logs: &mut Logs) -> Res<()> {
        let changed: Vec<(usize, VarId)> = (stm.pat.iter().enumerate())
            .filter_map(|(k, p)| {
                flow.changed(p.var).filter(|root| logs.of.contains_key(root)).map(|r| (k, r))
            })
            .collect();
        if changed.is_empty() {
            self.push(stm.clone());
            return Ok(());
        }
        let used: Vec<usize> = changed.iter().map(|(_, root)| logs.of[root]).collect();
        let only_counts = used.iter().all(|l| logs.all[*l].entries.is_none());
        if only_counts && let [(_, root)] = changed.as_slice() {
            let inside = bound_inside(&stm.exp);
            if let Some(Some(count)) = count_stm(stm, *root, flow, &inside)
                && count.is_exact()
            {
                let more = self.emit_count(&count, stm.loc);
                let top = logs.all[used[0]].top;
                logs.all[used[0]].top = self.i64_op(BinOp::Add, top, more, stm.loc);
                self.push(stm.clone());
                return Ok(());
            }
        }
        match &stm.exp {
            Exp::Update { .. } | Exp::Scatter { .. } => {
                for ((k, _), l) in changed.iter().zip(&used) {
                    if let Some((array, site)) = update_of(&stm.exp, *k) {
                        self.log_entry(array, &site, &mut logs.all[*l], stm.loc)?;
                    }
                }
                self.push(stm.clone());
                Ok(())
            }
            Exp::If { cond, then, otherwise } => {
                let before = logs.all.clone();
                let then = self.logged_body(then, flow, logs, &used)?;
                logs.all.clone_from(&before);
                let otherwise = self.logged_body(otherwise, flow, logs, &used)?;
                logs.all = before;
                self.push_logged(stm, Exp::If { cond: *cond, then, otherwise }, logs, &used);
                Ok(())
            }
            Exp::Loop { params, form, body, hints } => {
                let before = logs.all.clone();
                let mut params = params.clone();
                for (k, root) in &changed {
                    logs.of.insert(params[*k].0.var, logs.of[root]);
                }
                for l in &used {
                    let inits = logs.all[*l].atoms();
                    let own: Vec<Param> = inits.iter().map(|a| self.like(*a)).collect();
                    let vars: Vec<VarId> = own.iter().map(|p| p.var).collect();
                    logs.all[*l] = logs.all[*l].moved_to(&vars);
                    params.extend(own.into_iter().zip(inits));
                }
                let body = self.logged_body(body, flow, logs, &used)?;
                logs.all = before;
                let exp = Exp::Loop { params, form: form.clone(), body, hints: *hints };
                self.push_logged(stm, exp, logs, &used);
                Ok(())
            }
            _ => {
                self.push(stm.clone());
                Ok(())
            }
        }
    }

    /// A parameter of the type and name of an atom.
    pub fn like(&mut self, atom: Atom) -> Param {
        let hint = atom.as_var().map_or("top".to_owned(), |v| self.b.vars.hint(v).to_owned());
        let ty = self.ty(atom);
        self.param(&hint, ty)
    }

    fn logged_body(&mut self, body: &Body, flow: &Flow, logs: &mut Logs, used: &[usize]) -> Res<Body> {
        self.body(|ad| {
            let mut results = ad.logged(body, flow, logs)?;
            results.extend(used.iter().flat_map(|l| logs.all[*l].atoms()));
            Ok(results)
        })
    }

    fn push_logged(&mut self, stm: &Stm, exp: Exp, logs: &mut Logs, used: &[usize]) {
        let mut pat = stm.pat.clone();
        for l in used {
            let own: Vec<Param> = logs.all[*l].atoms().into_iter().map(|a| self.like(a)).collect();
            let vars: Vec<VarId> = own.iter().map(|p| p.var).collect();
            logs.all[*l] = logs.all[*l].moved_to(&vars);
            pat.extend(own);
        }
        self.push(Stm { pat, exp, loc: stm.loc });
    }

    fn log_entry(&mut self, array: VarId, site: &Site, log: &mut Log, loc: Loc) -> Res<()> {
        let top = log.top;
        log.top = self.i64_op(BinOp::Add, top, Atom::i64(1), loc);
        let Some(entries) = &mut log.entries else { return Ok(()) };
        let at = vec![DimSlice::Fix(top)];
        for (value, indices) in site.indices().into_iter().zip(&mut entries.indices) {
            let IndexOf::Logged(indices) = indices else { continue };
            let exp = Exp::Update { array: *indices, dims: at.clone(), value, check: Check::Certified };
            *indices = self.let_var("undo_at", self.ty_var(*indices), exp, loc);
        }
        let old = self.old_part(array, site, loc)?;
        let exp = Exp::Update { array: entries.values, dims: at, value: old, check: Check::Certified };
        entries.values = self.let_var("undo", self.ty_var(entries.values), exp, loc);
        Ok(())
    }

    /// A part of an array that is about to be overwritten; the indices are checked as the update will check them.
    pub fn old_part(&mut self, array: VarId, site: &Site, loc: Loc) -> Res<Atom> {
        let part = site.part(&self.ty_var(array));
        let dims = match site {
            Site::Part(dims) => dims,
            Site::Places { width, indices, shape, values } => {
                let places = Places { width: *width, indices, shape, loc };
                return self.gather(&places, array, *values, None);
            }
        };
        let fixed: Option<Vec<Atom>> = dims
            .iter()
            .map(|d| match d {
                DimSlice::Fix(i) => Some(*i),
                DimSlice::Range { .. } => None,
            })
            .collect();
        Ok(match fixed {
            Some(indices) => {
                let exp = Exp::Index { array, indices, check: Check::Checked };
                let old = self.let_var("old", part, exp, loc);
                self.sweep.recomputed.insert(old);
                old.into()
            }
            None => self.read_at(array, dims, &part, loc),
        })
    }

    /// The array with old values put back.
    pub fn put_back(&mut self, array: VarId, site: &Site, old: Atom, loc: Loc) -> VarId {
        let ty = self.ty_var(array);
        let hint = self.b.vars.hint(array).to_owned();
        let exp = match site {
            Site::Part(dims) => {
                Exp::Update { array, dims: dims.clone(), value: old, check: Check::Certified }
            }
            Site::Places { width, indices, shape, .. } => {
                let old = self.as_var("old", old, loc);
                let arrays = indices.iter().copied().chain([old]).collect();
                Exp::Scatter { width: *width, arrays, pre: None, dests: vec![array], shape: shape.clone() }
            }
        };
        self.let_var(&hint, ty, exp, loc)
    }

    /// Takes `turns` entries off the log, from the one before `top` down to `bottom`, and gives the array as it was
    /// before.
    pub fn undo(
        &mut self,
        array: VarId,
        entries: &Entries,
        top: Atom,
        bottom: Atom,
        turns: Atom,
        loc: Loc,
    ) -> Res<VarId> {
        if turns == Atom::i64(1) {
            return Ok(self.undo_entry(array, entries, bottom, loc));
        }
        let ty = self.ty_var(array);
        let hint = self.b.vars.hint(array).to_owned();
        let param = self.param(&hint, ty.clone());
        let counter = self.b.fresh("k");
        self.b.types.insert(counter, Type::I64);
        let body = self.body(|ad| {
            let last = ad.i64_op(BinOp::Sub, top, Atom::i64(1), loc);
            let at = ad.i64_op(BinOp::Sub, last, counter.into(), loc);
            Ok(vec![ad.undo_entry(param.var, entries, at, loc).into()])
        })?;
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: turns };
        let params = vec![(param, array.into())];
        let exp = Exp::Loop { params, form, body, hints: LoopHints::NONE };
        Ok(self.let_var(&hint, ty, exp, loc))
    }

    fn undo_entry(&mut self, array: VarId, entries: &Entries, at: Atom, loc: Loc) -> VarId {
        let read = |ad: &mut Self, from: VarId| {
            let ty = ad.ty_var(from).row().unwrap_or(Type::I64);
            let exp = Exp::Index { array: from, indices: vec![at], check: Check::Certified };
            ad.let_exp("at", ty, exp, loc)
        };
        let mut found = Vec::with_capacity(entries.indices.len());
        for indices in &entries.indices {
            found.push(match indices {
                IndexOf::Logged(indices) => read(self, *indices),
                IndexOf::Computed(recipe) => self.follow(recipe, at, loc),
            });
        }
        let value = read(self, entries.values);
        let dim = |(dim, index): (&DimSlice, &Atom)| match dim {
            DimSlice::Fix(_) => DimSlice::Fix(*index),
            DimSlice::Range { len, stride, .. } => {
                DimSlice::Range { start: *index, len: *len, stride: *stride }
            }
        };
        let site = match &entries.form {
            Site::Part(dims) => Site::Part(dims.iter().zip(&found).map(dim).collect()),
            Site::Places { width, shape, values, .. } => {
                let indices = found.iter().filter_map(|a| a.as_var()).collect();
                Site::Places { width: *width, indices, shape: shape.clone(), values: *values }
            }
        };
        self.put_back(array, &site, value, loc)
    }
}
