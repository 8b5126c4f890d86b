//! The version of a body in which arrays have only the elements that are read.

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::checks::assert_in_bounds;
use dagaz_core::effects::cannot_fail;
use dagaz_core::rename::Substitution;
use dagaz_core::visit::{bodies_mut, bound_inside, free_vars};

use super::demand::Demand;
use super::find::{Gathering, ReadPlace};

pub(super) struct Rewriter<'a> {
    pub b: &'a mut Builder,
    pub facts: &'a Facts,
    pub demand: &'a Demand<'a>,
    /// Bound in the region of which there are two versions.
    pub own: &'a HashSet<VarId>,
    pub places: Places,
    around: Around,
}

/// What goes before the statement of the body that is rewritten: arrays are read at the places once, and not inside of it.
#[derive(Default)]
struct Around {
    /// Bound inside of the statement.
    inside: HashSet<VarId>,
    before: Vec<Stm>,
    gathered: HashMap<(VarId, usize), VarId>,
}

/// What is read, and where.
pub(super) struct Places {
    /// How many elements are read.
    pub number: Atom,
    /// The places, as an array.
    at: VarId,
    /// The computation of the places, if nothing of the region is needed for it.
    pub first: Option<Vec<Stm>>,
    /// Arrays from outside of the region, as read at the places.
    pub gathered: Vec<Gathered>,
}

pub(super) struct Gathered {
    pub array: VarId,
    pub axis: usize,
    /// The array with the places only, and how it is read.
    pub new: VarId,
    pub stms: Vec<Stm>,
}

impl Places {
    pub fn new(b: &mut Builder, number: Atom) -> Places {
        Places { number, at: b.fresh("at"), first: None, gathered: Vec::new() }
    }

    /// All that can be done before the region.
    pub fn before(self) -> Vec<Stm> {
        let gathered = self.gathered.into_iter().flat_map(|gathered| gathered.stms);
        self.first.into_iter().flatten().chain(gathered).collect()
    }
}

impl<'a> Rewriter<'a> {
    pub fn new(
        b: &'a mut Builder,
        facts: &'a Facts,
        demand: &'a Demand<'a>,
        own: &'a HashSet<VarId>,
        places: Places,
    ) -> Rewriter<'a> {
        Rewriter { b, facts, demand, own, places, around: Around::default() }
    }

    /// Rewrites the body, in which the consumers have the given numbers.
    pub fn body_with_consumers(&mut self, body: &mut Body, gathering: &Gathering, consumers: &[usize]) {
        let loc = consumers.first().map_or(Loc::NONE, |first| body.stms[*first].loc);
        let arrays_of = |place: &ReadPlace| {
            let position = gathering.consumers.iter().position(|c| *c == place.consumer);
            match position.map(|p| &body.stms[consumers[p]].exp) {
                Some(Exp::Map { arrays, lambda, .. }) => (arrays.clone(), lambda.params.clone()),
                _ => (Vec::new(), Vec::new()),
            }
        };
        let sources: Vec<_> = gathering.places.iter().map(arrays_of).collect();
        self.b.push_scope();
        let is_known_first = self.compute_places(gathering, &sources, loc);
        let mut narrow = self.b.pop_scope();
        if is_known_first {
            self.places.first = Some(std::mem::take(&mut narrow));
        }
        let (mut stms, mut rest) = (Vec::new(), Vec::new());
        for (i, mut stm) in std::mem::take(&mut body.stms).into_iter().enumerate() {
            let is_after = consumers.first().is_some_and(|first| i >= *first);
            if consumers.contains(&i) {
                self.consumer(&mut stm, gathering, &mut rest);
                rest.push(stm);
            } else if self.demand.is_narrow_stm(&stm) {
                self.outer_stm(stm, if is_after { &mut rest } else { &mut narrow });
            } else if is_after {
                rest.push(stm);
            } else {
                stms.push(stm);
            }
        }
        body.stms = [stms, narrow, rest].concat();
    }

    /// The array of all places, each within bounds. Gives whether nothing of the region is needed for that.
    fn compute_places(
        &mut self,
        gathering: &Gathering,
        sources: &[(Vec<VarId>, Vec<Param>)],
        loc: Loc,
    ) -> bool {
        let mut is_known_first = true;
        let mut parts = Vec::new();
        for (place, (arrays, params)) in gathering.places.iter().zip(sources) {
            let used: HashSet<VarId> = place.stms.iter().flat_map(|stm| free_vars(&stm.exp)).collect();
            let is_used = |p: &Param| used.contains(&p.var) || p.var == place.var;
            let rows: Vec<(VarId, Param)> = arrays.iter().copied().zip(params.iter().cloned()).collect();
            let rows: Vec<(VarId, Param)> = rows.into_iter().filter(|(_, p)| is_used(p)).collect();
            let inside: HashSet<VarId> = place.stms.iter().flat_map(|s| &s.pat).map(|p| p.var).collect();
            let is_row = |var: &VarId| rows.iter().any(|(_, p)| p.var == *var);
            let outside = used.iter().filter(|var| !inside.contains(var) && !is_row(var));
            let needs_own = outside.chain(rows.iter().map(|(array, _)| array)).any(|v| self.own.contains(v));
            let can_fail = !place.stms.iter().all(|stm| cannot_fail(&stm.exp));
            is_known_first &= !needs_own && !can_fail;
            parts.push(self.place(place, &rows, loc));
        }
        let all = match parts[..] {
            [one] => one,
            _ => {
                let ty = Type::array(PrimType::I64, vec![self.places.number]);
                self.b.let_var("at", ty, Exp::Concat { arrays: parts }, loc)
            }
        };
        let last = self.b.sub(PrimType::I64, gathering.size, Atom::i64(1), loc);
        let lambda = self.b.lambda(&[("i", Type::I64)], vec![Type::I64], |b, i| {
            let i = b.binop(BinOp::Max, PrimType::I64, i[0], Atom::i64(0), loc);
            vec![b.binop(BinOp::Min, PrimType::I64, i, last, loc)]
        });
        let exp = Exp::Map { width: self.places.number, arrays: vec![all], lambda };
        let pat = vec![Param::new(self.places.at, Type::array(PrimType::I64, vec![self.places.number]))];
        self.b.push(Stm { pat, exp, loc });
        is_known_first
    }

    /// The array of the values of a variable in all iterations.
    fn place(&mut self, place: &ReadPlace, rows: &[(VarId, Param)], loc: Loc) -> VarId {
        if let [(array, row)] = rows
            && row.var == place.var
        {
            return *array;
        }
        let mut copy = Substitution::default();
        let mut params = Vec::new();
        for (_, param) in rows {
            let hint = self.b.vars.hint(param.var).to_owned();
            let fresh = self.b.fresh_param(&hint, param.ty.clone());
            copy.insert(param.var, fresh.var.into());
            params.push(fresh);
        }
        let stms = copy.copies(&mut self.b.vars, &place.stms);
        let body = Body { stms, result: vec![copy.of(place.var.into())] };
        let lambda = Lambda { params, body, ret: vec![Type::I64] };
        let arrays = rows.iter().map(|(array, _)| *array).collect();
        let ty = Type::array(PrimType::I64, vec![place.width]);
        self.b.let_var("at", ty, Exp::Map { width: place.width, arrays, lambda }, loc)
    }

    /// Reads of the map are at the number of the iteration.
    fn consumer(&mut self, stm: &mut Stm, gathering: &Gathering, before: &mut Vec<Stm>) {
        let loc = stm.loc;
        let Exp::Map { width, arrays, lambda } = &mut stm.exp else { return };
        self.b.push_scope();
        let exp = Exp::Iota { ty: PrimType::I64, n: *width, start: Atom::i64(0), step: Atom::i64(1) };
        arrays.push(self.b.let_var("range", Type::array(PrimType::I64, vec![*width]), exp, loc));
        before.extend(self.b.pop_scope());
        let counter = self.b.fresh_param("j", Type::I64);
        lambda.params.push(counter.clone());
        self.b.push_scope();
        let mut numbers = HashMap::new();
        let mut offset = Atom::i64(0);
        for place in &gathering.places {
            let number = self.b.add(PrimType::I64, offset, counter.var.into(), loc);
            numbers.insert(place.var, number);
            offset = self.b.add(PrimType::I64, offset, place.width, loc);
        }
        let mut stms = self.b.pop_scope();
        self.reads(&mut lambda.body, gathering, &numbers);
        stms.append(&mut lambda.body.stms);
        lambda.body.stms = stms;
    }

    fn reads(&mut self, body: &mut Body, gathering: &Gathering, numbers: &HashMap<VarId, Atom>) {
        let mut stms = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            if let Exp::Index { array, indices, check } = &mut stm.exp
                && let Some(axis) = gathering.roots.get(array)
                && let Some(number) = indices[*axis].as_var().and_then(|var| numbers.get(&var))
            {
                if *check == Check::Checked {
                    self.b.push_scope();
                    assert_in_bounds(self.b, self.facts.dims(*array), indices, stm.loc);
                    stms.extend(self.b.pop_scope());
                    *check = Check::Certified;
                }
                indices[*axis] = *number;
            }
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.reads(inner, gathering, numbers));
            stms.push(stm);
        }
        body.stms = stms;
    }

    fn narrow_type(&self, ty: &Type, axis: usize) -> Type {
        match ty {
            Type::Array { elem, dims } => {
                let mut dims = dims.clone();
                dims[axis] = self.places.number;
                Type::array(*elem, dims)
            }
            Type::Prim(_) | Type::Acc { .. } => ty.clone(),
        }
    }

    fn narrow_param(&self, param: &mut Param) {
        if let Some(axis) = self.demand.axis(param.var) {
            param.ty = self.narrow_type(&param.ty, axis);
        }
    }

    /// The array with the places only.
    fn array(&mut self, array: &mut VarId, axis: usize, loc: Loc, out: &mut Vec<Stm>) {
        if self.demand.axis(*array) == Some(axis) {
            return;
        }
        let is_outside = self.places.first.is_some() && !self.own.contains(array);
        let known = self.places.gathered.iter().find(|known| known.array == *array && known.axis == axis);
        if let Some(known) = known.filter(|_| is_outside) {
            *array = known.new;
            return;
        }
        let is_around = !self.around.inside.contains(array);
        if let Some(known) = self.around.gathered.get(&(*array, axis)).filter(|_| is_around) {
            *array = *known;
            return;
        }
        let Some(ty) = self.facts.types.get(array).cloned() else { return };
        self.b.push_scope();
        let new = self.read_at_places(*array, &ty, axis, loc);
        let stms = self.b.pop_scope();
        if is_outside {
            self.places.gathered.push(Gathered { array: *array, axis, new, stms });
        } else if is_around {
            self.around.gathered.insert((*array, axis), new);
            self.around.before.extend(stms);
        } else {
            out.extend(stms);
        }
        *array = new;
    }

    fn read_at_places(&mut self, array: VarId, ty: &Type, axis: usize, loc: Loc) -> VarId {
        let row = ty.row().unwrap_or_else(|| ty.clone());
        let at = self.places.at;
        let (exp, new) = if axis == 0 {
            let lambda = self.b.lambda(&[("i", Type::I64)], vec![row], |b, i| {
                vec![b.index(array, ty, vec![i[0]], Check::Certified, loc)]
            });
            (Exp::Map { width: self.places.number, arrays: vec![at], lambda }, self.narrow_type(ty, 0))
        } else {
            let param = self.b.fresh_param("row", row.clone());
            self.b.push_scope();
            let inner = self.read_at_places(param.var, &row, axis - 1, loc);
            let body = Body { stms: self.b.pop_scope(), result: vec![inner.into()] };
            let lambda = Lambda { params: vec![param], body, ret: vec![self.narrow_type(&row, axis - 1)] };
            let width = ty.dims()[0];
            (Exp::Map { width, arrays: vec![array], lambda }, self.narrow_type(ty, axis))
        };
        self.b.let_var("read", new, exp, loc)
    }

    fn atom(&mut self, atom: &mut Atom, axis: usize, loc: Loc, out: &mut Vec<Stm>) {
        if let Atom::Var(var) = atom {
            self.array(var, axis, loc, out);
        }
    }

    /// Statements around the region, whose results the region reads at the places only.
    pub fn stms(&mut self, stms: impl IntoIterator<Item = Stm>) -> Vec<Stm> {
        let mut out = Vec::new();
        stms.into_iter().for_each(|stm| self.outer_stm(stm, &mut out));
        out
    }

    /// A statement that is not inside of another one.
    fn outer_stm(&mut self, stm: Stm, out: &mut Vec<Stm>) {
        self.around.inside = bound_inside(&stm.exp);
        let mut new = Vec::new();
        self.stm(stm, &mut new);
        out.append(&mut self.around.before);
        out.append(&mut new);
    }

    fn body(&mut self, body: &mut Body, axes: &[usize], loc: Loc) {
        let mut out = Vec::with_capacity(body.stms.len());
        for stm in std::mem::take(&mut body.stms) {
            if self.demand.is_narrow_stm(&stm) {
                self.stm(stm, &mut out);
            } else {
                out.push(stm);
            }
        }
        for (atom, axis) in body.result.iter_mut().zip(axes) {
            self.atom(atom, *axis, loc, &mut out);
        }
        body.stms = out;
    }

    /// A statement whose results have the places only.
    fn stm(&mut self, mut stm: Stm, out: &mut Vec<Stm>) {
        let loc = stm.loc;
        let axes: Vec<usize> = stm.pat.iter().filter_map(|p| self.demand.axis(p.var)).collect();
        match &mut stm.exp {
            Exp::Map { width, arrays, .. } if axes.iter().all(|axis| *axis == 0) => {
                *width = self.places.number;
                arrays.iter_mut().for_each(|array| self.array(array, 0, loc, out));
            }
            Exp::Map { arrays, lambda, .. } => {
                let inner: Vec<usize> = axes.iter().map(|axis| axis - 1).collect();
                for (param, array) in lambda.params.iter_mut().zip(arrays) {
                    if let Some(axis) = self.demand.axis(param.var) {
                        self.narrow_param(param);
                        self.array(array, axis + 1, loc, out);
                    }
                }
                for (ret, axis) in lambda.ret.iter_mut().zip(&inner) {
                    *ret = self.narrow_type(ret, *axis);
                }
                self.body(&mut lambda.body, &inner, loc);
            }
            Exp::If { then, otherwise, .. } => {
                self.body(then, &axes, loc);
                self.body(otherwise, &axes, loc);
            }
            Exp::Loop { params, body, .. } => {
                for ((param, init), axis) in params.iter_mut().zip(&axes) {
                    self.narrow_param(param);
                    self.atom(init, *axis, loc, out);
                }
                self.body(body, &axes, loc);
            }
            exp => {
                let axis = axes.first().copied().unwrap_or(0);
                self.operation(exp, axis, loc, out);
            }
        }
        stm.pat.iter_mut().for_each(|param| self.narrow_param(param));
        out.push(stm);
    }

    fn operation(&mut self, exp: &mut Exp, axis: usize, loc: Loc, out: &mut Vec<Stm>) {
        match exp {
            Exp::Atom(atom) => self.atom(atom, axis, loc, out),
            Exp::Copy(array) => self.array(array, axis, loc, out),
            Exp::Rearrange { perm, array } => self.array(array, perm[axis], loc, out),
            Exp::Reshape { dims, array } => {
                let from = super::demand::same_axis(self.facts.dims(*array), dims, axis);
                self.array(array, from.unwrap_or(axis), loc, out);
                dims[axis] = self.places.number;
            }
            Exp::Index { array, indices, .. } => self.array(array, axis + indices.len(), loc, out),
            Exp::Slice { array, dims } => {
                let from = super::demand::whole_axis(self.facts.dims(*array), dims, axis).unwrap_or(axis);
                self.array(array, from, loc, out);
                if let Some(DimSlice::Range { len, .. }) = dims.get_mut(from) {
                    *len = self.places.number;
                }
            }
            Exp::Update { array, dims, value, .. } => {
                self.array(array, axis, loc, out);
                self.atom(value, axis - dims.len(), loc, out);
            }
            Exp::Replicate { dims, value } => match axis.checked_sub(dims.len()) {
                Some(inner) => self.atom(value, inner, loc, out),
                None => dims[axis] = self.places.number,
            },
            Exp::ArrayLit { row, elems } => {
                *row = self.narrow_type(row, axis - 1);
                elems.iter_mut().for_each(|elem| self.atom(elem, axis - 1, loc, out));
            }
            Exp::Concat { arrays } => arrays.iter_mut().for_each(|array| self.array(array, axis, loc, out)),
            _ => debug_assert!(false, "demand knows which operations can be narrow"),
        }
    }
}
