//! Accumulators around iterations whose number nobody knows beforehand: every `+=` gets a number.
//!
//! Where the iterations around a `+=` do not form a box, as in a `while` loop or where rows differ in length, what is written cannot be
//! returned as an array of that shape ([`crate::histograms`]). Instead, the body runs twice. An *inspector* counts the `+=` of each
//! iteration, so that a scan of the counts says at which number each iteration begins. Then the body runs with accumulators that sum,
//! in which the `+=` with the number `p` writes its index and its values to place `p` and nobody else does:
//!
//! ```text
//! with_acc (xs) (*) \acc ->                 counts = map n \i -> loop (c = 0) while … do c + 1
//!   map n (acc) \acc ->                     starts = exclusive scan (+) counts;  total = sum counts
//!     loop while … do acc[j] *= v    ==>    (js, vs) = with_acc (replicate total 0, replicate total -0.0) (+) \at_j at_v ->
//!                                             map n (starts) \p -> loop (p) while … do at_j[p] += j; at_v[p] += v; p + 1
//!                                           hist (*) xs js vs
//! ```
//!
//! The cost is that of the body once more for each level of maps around a `+=`, and the span gains a scan. A negative zero changes nothing
//! that it is added to.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{AccInput, Body, Exp, Lambda, Loc, Stm, Vars};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::rename::renamed_lambda;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

/// The reason is a noun phrase.
type Rewritten<T> = Result<T, String>;

/// A `with_acc` as histograms of numbered writes.
pub(crate) fn number_writes(vars: &mut Vars, stm: &Stm) -> Rewritten<Vec<Stm>> {
    let Exp::WithAcc { inputs, lambda } = &stm.exp else { return Ok(vec![stm.clone()]) };
    let mut numbering =
        Numbering { b: Builder::new(std::mem::take(vars)), accs: HashMap::new(), parts: Vec::new() };
    let done = numbering.with_acc(&stm.pat, inputs, lambda, stm.loc);
    let (all, stms) = numbering.b.finish();
    *vars = all;
    done.map(|()| stms)
}

/// The number of all accumulators of other forms around this one. An inspector must not write to them a second time.
const FROM_OUTSIDE: usize = usize::MAX;

struct Numbering {
    b: Builder,
    /// Which accumulator a variable is; in an inspector, also [`FROM_OUTSIDE`].
    accs: HashMap<VarId, usize>,
    /// For each accumulator, the types of what a `+=` writes: indices, then values.
    parts: Vec<Vec<Type>>,
}

/// What is known at a point of the body.
#[derive(Clone)]
struct State {
    /// For each accumulator, the number of the next `+=`.
    next: Vec<Atom>,
    /// For each accumulator, what takes its indices and values. Nothing in an inspector.
    places: Option<Vec<Vec<Param>>>,
}

impl State {
    /// The numbers, and then all accumulators of places.
    fn atoms(&self) -> Vec<Atom> {
        self.next.iter().copied().chain(self.places().map(|p| p.var.into())).collect()
    }

    fn types(&self) -> Vec<Type> {
        self.next.iter().map(|_| Type::I64).chain(self.places().map(|p| p.ty.clone())).collect()
    }

    fn places(&self) -> impl Iterator<Item = &Param> {
        self.places.iter().flatten().flatten()
    }
}

impl Numbering {
    fn with_acc(&mut self, pat: &[Param], inputs: &[AccInput], lambda: &Lambda, loc: Loc) -> Rewritten<()> {
        for param in &lambda.params {
            let Type::Acc { index_dims, elems } = &param.ty else {
                return Err("an accumulator of an unknown type".to_owned());
            };
            self.parts.push(index_dims.iter().map(|_| Type::I64).chain(elems.iter().cloned()).collect());
        }
        let inspector = renamed_lambda(&mut self.b.vars, lambda);
        self.accs.extend(inspector.params.iter().enumerate().map(|(i, param)| (param.var, i)));
        let outside = free_accumulators(&inspector.body);
        let inspected = self.without(outside, |numbering| numbering.inspected(inspector.body))?;
        inspected.body.stms.into_iter().for_each(|stm| self.b.push(stm));
        let totals = inspected.state.next;
        let arrays = self.write_all(pat, inputs, lambda, &totals, loc)?;
        let mut results = pat;
        for ((input, written), total) in inputs.iter().zip(arrays).zip(&totals) {
            let (own, rest) = results.split_at(input.arrays.len());
            let (width, arrays, pre) = (*total, written, None);
            let (dests, shape) = (input.arrays.clone(), input.shape.clone());
            let exp = match &input.op {
                Some((op, neutral)) => {
                    let (op, neutral) = (op.clone(), neutral.clone());
                    Exp::Hist { width, arrays, pre, dests, shape, op, neutral }
                }
                None => Exp::Scatter { width, arrays, pre, dests, shape },
            };
            self.b.push(Stm { pat: own.to_vec(), exp, loc });
            results = rest;
        }
        Ok(())
    }

    /// Runs the body with the numbers of its writes. For each accumulator, gives arrays of the indices and values in that order.
    fn write_all(
        &mut self,
        pat: &[Param],
        inputs: &[AccInput],
        lambda: &Lambda,
        totals: &[Atom],
        loc: Loc,
    ) -> Rewritten<Vec<Vec<VarId>>> {
        self.accs.extend(lambda.params.iter().enumerate().map(|(i, param)| (param.var, i)));
        let (mut new_inputs, mut places, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for (parts, total) in self.parts.clone().iter().zip(totals) {
            let mut own = Vec::new();
            for part in parts {
                let stored = stored_as(part)?;
                new_inputs.push(self.places_of(&stored, *total, loc));
                own.push(self.b.fresh_param("at", accumulator(&stored, *total)));
                written.push(self.b.fresh_param("written", stored.with_outer(&[*total])));
            }
            places.push(own);
        }
        let params: Vec<Param> = places.iter().flatten().cloned().collect();
        let state = State { next: vec![Atom::i64(0); inputs.len()], places: Some(places) };
        let Inside { mut body, state, .. } = self.inside(lambda.body.clone(), state)?;
        body.result.splice(0..0, state.places().map(|p| p.var.into()));
        let types = state.places().map(|p| p.ty.clone());
        let ret = types.chain(lambda.ret[inputs.len()..].iter().cloned()).collect();
        let lambda = Lambda { params, body, ret };
        let arrays: usize = inputs.iter().map(|input| input.arrays.len()).sum();
        let all = written.iter().chain(&pat[arrays..]).cloned().collect();
        self.b.push(Stm { pat: all, exp: Exp::WithAcc { inputs: new_inputs, lambda }, loc });
        let mut written = written.into_iter();
        let mut by_acc = Vec::new();
        for (parts, total) in self.parts.clone().iter().zip(totals) {
            let own = parts.iter().zip(written.by_ref());
            by_acc.push(own.map(|(part, stored)| self.as_part(stored.var, part, *total, loc)).collect());
        }
        Ok(by_acc)
    }

    /// An array of so many places, for writes that add to nothing.
    fn places_of(&mut self, row: &Type, total: Atom, loc: Loc) -> AccInput {
        let elem = row.elem().unwrap_or(PrimType::I64);
        let nothing = Prim::of_f64(elem, -0.0).unwrap_or(Prim::zero(elem));
        let ty = row.with_outer(&[total]);
        let exp = Exp::Replicate { dims: ty.dims().to_vec(), value: nothing.into() };
        let array = self.b.let_var("places", ty, exp, loc);
        let neutral = match row.dims() {
            [] => nothing.into(),
            dims => {
                let exp = Exp::Replicate { dims: dims.to_vec(), value: nothing.into() };
                self.b.let_exp("nothing", row.clone(), exp, loc)
            }
        };
        AccInput { shape: vec![total], arrays: vec![array], op: Some((self.plus(row, loc), vec![neutral])) }
    }

    /// `\x y -> x + y` on rows of the type.
    fn plus(&mut self, row: &Type, loc: Loc) -> Lambda {
        match row {
            Type::Array { elem, dims } => {
                let inner = self.plus(&Type::array(*elem, dims[1..].to_vec()), loc);
                let params = [("x", row.clone()), ("y", row.clone())];
                let width = dims[0];
                self.b.lambda(&params, vec![row.clone()], |b, xy| {
                    let arrays = xy.iter().filter_map(|atom| atom.as_var()).collect();
                    vec![b.let_exp("sum", row.clone(), Exp::Map { width, arrays, lambda: inner }, loc)]
                })
            }
            Type::Prim(elem) => self.b.binop_lambda(BinOp::Add, *elem, loc),
            Type::Acc { .. } => self.b.binop_lambda(BinOp::Add, PrimType::I64, loc),
        }
    }

    /// What was stored, with the type that it has for the accumulator.
    fn as_part(&mut self, stored: VarId, part: &Type, total: Atom, loc: Loc) -> VarId {
        if *part != Type::BOOL {
            return stored;
        }
        let lambda = self.b.lambda(&[("x", PrimType::I8.into())], vec![Type::BOOL], |b, x| {
            vec![b.convert(PrimType::I8, PrimType::Bool, x[0], loc)]
        });
        let exp = Exp::Map { width: total, arrays: vec![stored], lambda };
        self.b.let_var("written", part.with_outer(&[total]), exp, loc)
    }

    fn index_of(&self, atom: Atom) -> Option<usize> {
        atom.as_var().and_then(|var| self.accs.get(&var)).copied()
    }

    /// Adds statements without the accumulators to the scope at hand.
    fn stms(&mut self, stms: Vec<Stm>, state: &mut State) -> Rewritten<()> {
        stms.into_iter().try_for_each(|stm| self.stm(stm, state))
    }

    fn stm(&mut self, stm: Stm, state: &mut State) -> Rewritten<()> {
        if !visit::free_vars(&stm.exp).iter().any(|var| self.accs.contains_key(var)) {
            self.b.push(stm);
            return Ok(());
        }
        let Stm { pat, exp, loc } = stm;
        match exp {
            Exp::Atom(acc) => {
                self.without_accs(&pat, &[self.index_of(acc)]);
                Ok(())
            }
            Exp::UpdateAcc { acc, indices, values } => {
                let acc = self.index_of(acc.into());
                self.without_accs(&pat, &[acc]);
                let parts: Vec<Atom> = indices.into_iter().chain(values).collect();
                acc.map_or(Ok(()), |acc| self.write(acc, &parts, state, loc))
            }
            Exp::Map { width, arrays, lambda } => self.map((pat, loc), (width, arrays, lambda), state),
            Exp::If { cond, then, otherwise } => {
                let then = self.inside(then, state.clone())?;
                let otherwise = self.inside(otherwise, state.clone())?;
                let pat = self.pattern(&pat, &then.accs, state);
                let exp = Exp::If { cond, then: then.with_state(), otherwise: otherwise.with_state() };
                self.b.push(Stm { pat, exp, loc });
                Ok(())
            }
            Exp::Loop { params, form, body, hints } => {
                let (given, params): (Vec<_>, Vec<_>) =
                    params.into_iter().partition(|(_, init)| self.index_of(*init).is_some());
                let accs: Vec<Option<usize>> = given.iter().map(|(_, init)| self.index_of(*init)).collect();
                let own: Vec<Param> = given.into_iter().map(|(param, _)| param).collect();
                self.without_accs(&own, &accs);
                let mut inner = state.clone();
                let added = self.pattern(&[], &[], &mut inner);
                let params = params.into_iter().chain(added.into_iter().zip(state.atoms())).collect();
                let inside = self.inside(body, inner)?;
                let pat = self.pattern(&pat, &inside.accs, state);
                let exp = Exp::Loop { params, form, body: inside.with_state(), hints };
                self.b.push(Stm { pat, exp, loc });
                Ok(())
            }
            Exp::WithAcc { inputs, lambda } => {
                let inside = self.inside(lambda.body, state.clone())?;
                let ret = kept(&lambda.ret, &inside.accs).chain(state.types()).collect();
                let arrays: usize = inputs.iter().map(|input| input.arrays.len()).sum();
                let rest = self.pattern(&pat[arrays..], &inside.accs[inputs.len()..], state);
                let pat = pat[..arrays].iter().cloned().chain(rest).collect();
                let lambda = Lambda { params: lambda.params, body: inside.with_state(), ret };
                self.b.push(Stm { pat, exp: Exp::WithAcc { inputs, lambda }, loc });
                Ok(())
            }
            _ => Err("an accumulator that a function updates".to_owned()),
        }
    }

    /// A body without the accumulators, and what is known at its end.
    fn inside(&mut self, body: Body, mut state: State) -> Rewritten<Inside> {
        self.b.push_scope();
        let done = self.stms(body.stms, &mut state);
        let stms = self.b.pop_scope();
        done?;
        let accs: Vec<Option<usize>> = body.result.iter().map(|atom| self.index_of(*atom)).collect();
        let result = kept(&body.result, &accs).collect();
        Ok(Inside { body: Body { stms, result }, accs, state })
    }

    /// A body of an inspector, which counts from zero.
    fn inspected(&mut self, body: Body) -> Rewritten<Inside> {
        self.inside(body, State { next: vec![Atom::i64(0); self.parts.len()], places: None })
    }

    /// Does something where an inspector begins, for which the accumulators that come from outside of it are to go.
    fn without<T>(&mut self, mut outside: Vec<VarId>, what: impl FnOnce(&mut Self) -> T) -> T {
        outside.retain(|var| !self.accs.contains_key(var));
        self.accs.extend(outside.iter().map(|var| (*var, FROM_OUTSIDE)));
        let done = what(self);
        for var in outside {
            self.accs.remove(&var);
        }
        done
    }

    /// The variables that are not bound to accumulators; the others are new names of these.
    fn without_accs(&mut self, pat: &[Param], accs: &[Option<usize>]) -> Vec<Param> {
        for (param, acc) in pat.iter().zip(accs) {
            self.accs.extend(acc.map(|acc| (param.var, acc)));
        }
        kept(pat, accs).collect()
    }

    /// A pattern for results without accumulators and with the state, which has these names from here on.
    fn pattern(&mut self, pat: &[Param], accs: &[Option<usize>], state: &mut State) -> Vec<Param> {
        let mut pat = self.without_accs(pat, accs);
        for next in &mut state.next {
            let param = self.b.fresh_param("number", Type::I64);
            *next = param.var.into();
            pat.push(param);
        }
        for place in state.places.iter_mut().flatten().flatten() {
            *place = self.b.fresh_param("at", place.ty.clone());
            pat.push(place.clone());
        }
        pat
    }

    /// One `+=`.
    fn write(&mut self, acc: usize, parts: &[Atom], state: &mut State, loc: Loc) -> Rewritten<()> {
        if acc == FROM_OUTSIDE {
            return Ok(());
        }
        let at = state.next[acc];
        if let Some(places) = &mut state.places {
            for ((place, part), ty) in places[acc].iter_mut().zip(parts).zip(&self.parts[acc]) {
                let value = match *ty == Type::BOOL {
                    true => self.b.convert(PrimType::Bool, PrimType::I8, *part, loc),
                    false => *part,
                };
                let exp = Exp::UpdateAcc { acc: place.var, indices: vec![at], values: vec![value] };
                *place = self.b.fresh_param("at", place.ty.clone());
                self.b.push(Stm { pat: vec![place.clone()], exp, loc });
            }
        }
        state.next[acc] = self.b.add(PrimType::I64, at, Atom::i64(1), loc);
        Ok(())
    }

    /// In an inspector, iterations give how much they write. Otherwise, that is found out first, and each iteration begins at the number
    /// where the one before it ends.
    fn map(
        &mut self,
        (pat, loc): (Vec<Param>, Loc),
        (width, arrays, lambda): (Atom, Vec<VarId>, Lambda),
        state: &mut State,
    ) -> Rewritten<()> {
        let counts = match state.places {
            None => self.counting_map((pat, loc), (width, arrays, lambda))?,
            Some(_) => {
                let copy = renamed_lambda(&mut self.b.vars, &lambda);
                let mut outside = free_accumulators(&copy.body);
                outside.extend(accumulators_among(&arrays, &lambda.params));
                let others = pat.iter().map(|p| self.b.fresh_param("inspected", p.ty.clone())).collect();
                let map = (width, arrays.clone(), copy);
                let counts = self.without(outside, |numbering| numbering.counting_map((others, loc), map))?;
                self.writing_map((pat, loc), (width, arrays, lambda), &counts, state)?;
                counts
            }
        };
        for (next, count) in state.next.iter_mut().zip(counts) {
            let op = self.b.binop_lambda(BinOp::Add, PrimType::I64, loc);
            let (arrays, neutral) = (vec![count], vec![Atom::i64(0)]);
            let exp = Exp::Reduce { width, arrays, pre: None, op, neutral, commutative: true };
            let total = self.b.let_exp("total", Type::I64, exp, loc);
            *next = self.b.add(PrimType::I64, *next, total, loc);
        }
        Ok(())
    }

    /// For each accumulator, how much each iteration writes.
    fn counting_map(
        &mut self,
        (pat, loc): (Vec<Param>, Loc),
        (width, mut arrays, mut lambda): (Atom, Vec<VarId>, Lambda),
    ) -> Rewritten<Vec<VarId>> {
        self.drop_operands(&mut arrays, &mut lambda.params);
        if arrays.is_empty() {
            let exp = Exp::Iota { ty: PrimType::I64, n: width, start: Atom::i64(0), step: Atom::i64(1) };
            arrays.push(self.b.let_var("numbers", Type::array(PrimType::I64, vec![width]), exp, loc));
            lambda.params.push(self.b.fresh_param("number", Type::I64));
        }
        let inside = self.inspected(lambda.body)?;
        let mut pat = self.without_accs(&pat, &inside.accs);
        let ret = kept(&lambda.ret, &inside.accs).chain(inside.state.types()).collect();
        let mut counts = Vec::new();
        for _ in &self.parts {
            let param = self.b.fresh_param("counts", Type::array(PrimType::I64, vec![width]));
            counts.push(param.var);
            pat.push(param);
        }
        let lambda = Lambda { params: lambda.params, body: inside.with_state(), ret };
        self.b.push(Stm { pat, exp: Exp::Map { width, arrays, lambda }, loc });
        Ok(counts)
    }

    /// The map in which iterations write, each from its own number on.
    fn writing_map(
        &mut self,
        (pat, loc): (Vec<Param>, Loc),
        (width, mut arrays, mut lambda): (Atom, Vec<VarId>, Lambda),
        counts: &[VarId],
        state: &mut State,
    ) -> Rewritten<()> {
        self.drop_operands(&mut arrays, &mut lambda.params);
        for (next, count) in state.next.iter().zip(counts) {
            arrays.push(self.starts(width, *count, *next, loc));
        }
        arrays.extend(state.places().map(|p| p.var));
        let mut inner = state.clone();
        let added = self.pattern(&[], &[], &mut inner);
        lambda.params.extend(added);
        let mut inside = self.inside(lambda.body, inner)?;
        inside.body.result.extend(inside.state.places().map(|p| Atom::from(p.var)));
        let types = state.places().map(|p| p.ty.clone());
        let ret = kept(&lambda.ret, &inside.accs).chain(types).collect();
        let mut pat = self.without_accs(&pat, &inside.accs);
        for place in state.places.iter_mut().flatten().flatten() {
            *place = self.b.fresh_param("at", place.ty.clone());
            pat.push(place.clone());
        }
        let lambda = Lambda { params: lambda.params, body: inside.body, ret };
        self.b.push(Stm { pat, exp: Exp::Map { width, arrays, lambda }, loc });
        Ok(())
    }

    /// Takes accumulators out of the operands of a map; its parameters are other names of them.
    fn drop_operands(&mut self, arrays: &mut Vec<VarId>, params: &mut Vec<Param>) {
        let accs: Vec<Option<usize>> = arrays.iter().map(|array| self.index_of((*array).into())).collect();
        *params = self.without_accs(params, &accs);
        *arrays = kept(arrays, &accs).collect();
    }

    /// The number at which each iteration begins, if the first one begins at `first`.
    fn starts(&mut self, width: Atom, counts: VarId, first: Atom, loc: Loc) -> VarId {
        let ty = Type::array(PrimType::I64, vec![width]);
        let op = self.b.binop_lambda(BinOp::Add, PrimType::I64, loc);
        let exp = Exp::Scan { width, arrays: vec![counts], pre: None, op, neutral: vec![Atom::i64(0)] };
        let ends = self.b.let_var("ends", ty.clone(), exp, loc);
        let params = [("end", Type::I64), ("count", Type::I64)];
        let lambda = self.b.lambda(&params, vec![Type::I64], |b, row| {
            let start = b.sub(PrimType::I64, row[0], row[1], loc);
            vec![b.add(PrimType::I64, start, first, loc)]
        });
        self.b.let_var("starts", ty, Exp::Map { width, arrays: vec![ends, counts], lambda }, loc)
    }
}

/// A body without accumulators.
struct Inside {
    body: Body,
    /// Which of the results that it had were accumulators.
    accs: Vec<Option<usize>>,
    /// At its end.
    state: State,
}

impl Inside {
    /// The body, which gives the state after its own results.
    fn with_state(self) -> Body {
        let Body { stms, mut result } = self.body;
        result.extend(self.state.atoms());
        Body { stms, result }
    }
}

/// The accumulators that a body takes from its surroundings.
fn free_accumulators(body: &Body) -> Vec<VarId> {
    let mut found = Vec::new();
    collect_accumulators(body, &mut found);
    visit::free_vars_body(body).into_iter().filter(|var| found.contains(var)).collect()
}

/// The accumulators that a map takes.
fn accumulators_among(arrays: &[VarId], params: &[Param]) -> impl Iterator<Item = VarId> {
    arrays.iter().zip(params).filter(|(_, param)| param.ty.is_acc()).map(|(array, _)| *array)
}

fn collect_accumulators(body: &Body, found: &mut Vec<VarId>) {
    for Stm { pat, exp, .. } in &body.stms {
        match exp {
            Exp::UpdateAcc { acc, .. } => found.push(*acc),
            Exp::Map { arrays, lambda, .. } => found.extend(accumulators_among(arrays, &lambda.params)),
            Exp::Loop { params, .. } => {
                let accs = params.iter().filter(|(param, _)| param.ty.is_acc());
                found.extend(accs.filter_map(|(_, init)| init.as_var()));
            }
            Exp::Atom(atom) if pat[0].ty.is_acc() => found.extend(atom.as_var()),
            Exp::If { then, otherwise, .. } => {
                let results = pat.iter().zip(then.result.iter().zip(&otherwise.result));
                let accs = results.filter(|(param, _)| param.ty.is_acc());
                found.extend(accs.flat_map(|(_, (a, b))| [*a, *b]).filter_map(|atom| atom.as_var()));
            }
            _ => {}
        }
        visit::bodies(exp).into_iter().for_each(|inner| collect_accumulators(inner, found));
    }
}

/// What is not an accumulator.
fn kept<T: Clone>(all: &[T], accs: &[Option<usize>]) -> impl Iterator<Item = T> {
    all.iter().zip(accs).filter(|(_, acc)| acc.is_none()).map(|(item, _)| item.clone())
}

/// The type of the places for a part. There is no sum of booleans, so they are kept as numbers.
fn stored_as(part: &Type) -> Rewritten<Type> {
    match part {
        Type::Prim(PrimType::Bool) => Ok(PrimType::I8.into()),
        Type::Array { elem: PrimType::Bool, .. } => Err("an accumulator of arrays of booleans".to_owned()),
        Type::Prim(_) | Type::Array { .. } => Ok(part.clone()),
        Type::Acc { .. } => Err("an accumulator of accumulators".to_owned()),
    }
}

fn accumulator(row: &Type, total: Atom) -> Type {
    Type::Acc { index_dims: vec![total], elems: vec![row.clone()] }
}
