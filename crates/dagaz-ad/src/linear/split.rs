//! Takes the program of forward mode apart: what does not depend on tangents is run now, and the rest is a linear program
//! over tangents and residuals, the values that it needs of the first part.
//!
//!     map n (xs, xs_tan) \x x_tan ->              map n (xs) \x ->             -- now
//!       let (y) = sin x                             let (y) = sin x
//!       let (c) = cos x                             let (c) = cos x
//!       let (y_tan) = c * x_tan           ==>       in (y, c)
//!       in (y, y_tan)                             map n (xs_tan, cs) \x_tan c ->   -- linear
//!                                                   let (y_tan) = c * x_tan
//!                                                   in (y_tan)
//!
//! The residuals of a map are arrays, those of a loop are arrays over its iterations, and those of a branch are placeholders
//! in the other branch. Where a statement cannot be taken apart (a scan or histogram whose operator needs its
//! primal operands, sizes known only inside), the linear program runs all of it again.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{AccInput, Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{free_vars, free_vars_body};

use crate::context::{Ad, Res};
use crate::rename::Renamer;

/// The two parts of a body: statements to run now, and a linear body.
struct Parts {
    now: Vec<Stm>,
    linear: Body,
    /// What the linear part reads of what is bound inside.
    residuals: Vec<VarId>,
}

/// A component of an operator goes to one part or the other.
type Chosen<'a> = &'a dyn Fn(usize) -> bool;

impl Ad<'_> {
    /// Emits what is to run now; what is left is linear in the tangents.
    pub fn split(&mut self, stms: Vec<Stm>, tangents: &[Param]) -> Res<Vec<Stm>> {
        let known = self.forward.tan.values().filter_map(|t| t.as_var());
        self.forward.linear_vars.extend(known.chain(tangents.iter().map(|p| p.var)));
        self.split_stms(stms)
    }

    fn is_linear(&self, var: VarId) -> bool {
        self.forward.linear_vars.contains(&var)
    }

    fn split_stms(&mut self, stms: Vec<Stm>) -> Res<Vec<Stm>> {
        let mut linear = Vec::new();
        for stm in stms {
            let bound = stm.pat.iter().map(|p| p.var);
            if !bound.chain(free_vars(&stm.exp)).any(|v| self.is_linear(v)) {
                self.push(stm);
                continue;
            }
            let parts = match &stm.exp {
                Exp::Map { width, arrays, lambda } => self.split_map(&stm, *width, arrays, lambda)?,
                Exp::If { cond, then, otherwise } => self.split_if(&stm, *cond, then, otherwise)?,
                Exp::Loop { params, form: LoopForm::For { var, ty, bound }, body, .. } => {
                    self.split_loop(&stm, params, (*var, *ty, *bound), body)?
                }
                Exp::Reduce { op, .. } | Exp::Scan { op, .. } | Exp::Hist { op, .. } => {
                    self.split_operator(&stm, op)?
                }
                Exp::Scatter { .. } => Some(self.split_components(&stm, None)),
                Exp::WithAcc { inputs, lambda } => self.split_with_acc(&stm, inputs, lambda)?,
                Exp::Loop { form: LoopForm::While { .. }, .. } => None,
                // Without bodies, and with one result that depends on tangents.
                _ => {
                    self.forward.linear_vars.extend(stm.pat.iter().map(|p| p.var));
                    linear.push(stm);
                    continue;
                }
            };
            match parts {
                Some(stms) => linear.extend(stms),
                None => linear.extend(self.run_again(stm)?),
            }
        }
        Ok(linear)
    }

    /// The parts of a body, of whose results those that `chosen` says are linear. None if a residual cannot
    /// be kept, since its size is not known outside.
    fn split_body(&mut self, body: &Body, local: &[VarId], chosen: Chosen<'_>) -> Res<Option<Parts>> {
        let (now, stms) = self.scope(|ad| ad.split_stms(body.stms.clone()))?;
        let linear_results = body.result.iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, a)| *a);
        let linear = Body { stms, result: linear_results.collect() };
        let linear = Renamer::new(self, copies(&now)).body(&linear);
        let mut bound: HashSet<VarId> = local.iter().copied().collect();
        bound.extend(now.iter().flat_map(|s| &s.pat).map(|p| p.var));
        let residuals: Vec<VarId> =
            free_vars_body(&linear).into_iter().filter(|v| bound.contains(v)).collect();
        let known = |ty: &Type| ty.all_dims().iter().all(|d| d.as_var().is_none_or(|v| !bound.contains(&v)));
        if residuals.iter().any(|v| !known(&self.ty_var(*v)) || self.ty_var(*v).is_acc()) {
            return Ok(None);
        }
        Ok(Some(Parts { now, linear, residuals }))
    }

    /// The two halves of a pattern: what is known now, and tangents.
    fn halves(&self, pat: &[Param]) -> (Vec<Param>, Vec<Param>) {
        pat.iter().cloned().partition(|p| !self.is_linear(p.var))
    }

    fn split_map(
        &mut self,
        stm: &Stm,
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
    ) -> Res<Option<Vec<Stm>>> {
        let rows: Vec<(VarId, Param)> = arrays.iter().copied().zip(lambda.params.iter().cloned()).collect();
        for (array, param) in &rows {
            if self.is_linear(*array) {
                self.forward.linear_vars.insert(param.var);
            }
        }
        let (linear_rows, rows): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|(_, p)| self.is_linear(p.var));
        let local: Vec<VarId> = rows.iter().map(|(_, p)| p.var).collect();
        let tangent: Vec<bool> = stm.pat.iter().map(|p| self.is_linear(p.var)).collect();
        let Some(parts) = self.split_body(&lambda.body, &local, &|i| tangent[i])? else { return Ok(None) };
        let (now_pat, linear_pat) = self.halves(&stm.pat);
        // Rows that the linear part reads are those of the arrays; everything else is kept.
        let kept: Vec<VarId> = parts.residuals.iter().copied().filter(|v| !local.contains(v)).collect();
        let mut pat = now_pat;
        let mut result = self.results_now(&lambda.body, &tangent);
        let mut ret: Vec<Type> =
            (lambda.ret.iter().zip(&tangent)).filter(|(_, t)| !**t).map(|(r, _)| r.clone()).collect();
        let mut inputs = linear_rows;
        let mut map = HashMap::new();
        for (array, param) in &rows {
            if parts.residuals.contains(&param.var) {
                let row = self.param("row", param.ty.clone());
                map.insert(param.var, row.var.into());
                inputs.push((*array, row));
            }
        }
        for var in kept {
            let ty = self.ty_var(var);
            let hint = self.b.vars.hint(var).to_owned();
            let (saved, row) =
                (self.param("residual", ty.with_outer(&[width])), self.param(&hint, ty.clone()));
            map.insert(var, row.var.into());
            inputs.push((saved.var, row));
            pat.push(saved);
            result.push(var.into());
            ret.push(ty);
        }
        let (arrays, params) = rows.into_iter().unzip();
        let now = Lambda { params, body: Body { stms: parts.now, result }, ret };
        self.push_unless_empty(pat, Exp::Map { width, arrays, lambda: now }, stm.loc);
        let (arrays, params) = inputs.into_iter().unzip();
        let ret = (lambda.ret.iter().zip(&tangent)).filter(|(_, t)| **t).map(|(r, _)| r.clone()).collect();
        let body = Renamer::new(self, map).body(&parts.linear);
        let lambda = Lambda { params, body, ret };
        Ok(Some(vec![Stm { pat: linear_pat, exp: Exp::Map { width, arrays, lambda }, loc: stm.loc }]))
    }

    fn results_now(&self, body: &Body, tangent: &[bool]) -> Vec<Atom> {
        body.result.iter().zip(tangent).filter(|(_, t)| !**t).map(|(a, _)| *a).collect()
    }

    fn push_unless_empty(&mut self, pat: Vec<Param>, exp: Exp, loc: Loc) {
        if !pat.is_empty() {
            self.push(Stm { pat, exp, loc });
        }
    }

    fn split_if(&mut self, stm: &Stm, cond: Atom, then: &Body, otherwise: &Body) -> Res<Option<Vec<Stm>>> {
        let own: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
        if depends_on(stm.pat.iter(), &own) {
            return Ok(None);
        }
        let tangent: Vec<bool> = stm.pat.iter().map(|p| self.is_linear(p.var)).collect();
        let Some(first) = self.split_body(then, &[], &|i| tangent[i])? else { return Ok(None) };
        let Some(second) = self.split_body(otherwise, &[], &|i| tangent[i])? else { return Ok(None) };
        let (mut pat, linear_pat) = self.halves(&stm.pat);
        let mut map = HashMap::new();
        for var in first.residuals.iter().chain(&second.residuals) {
            let kept = self.param("residual", self.ty_var(*var));
            map.insert(*var, Atom::from(kept.var));
            pat.push(kept);
        }
        let loc = stm.loc;
        let branch = |ad: &mut Self, body: &Body, parts: Parts, before: &[VarId], after: &[VarId]| {
            ad.body(|ad| {
                parts.now.into_iter().for_each(|s| ad.push(s));
                let mut result = ad.results_now(body, &tangent);
                for var in before {
                    result.push(ad.placeholder(*var, loc));
                }
                result.extend(parts.residuals.iter().map(|v| Atom::from(*v)));
                for var in after {
                    result.push(ad.placeholder(*var, loc));
                }
                Ok(result)
            })
        };
        let (kept, others) = (first.residuals.clone(), second.residuals.clone());
        let (linear_then, linear_otherwise) = (first.linear.clone(), second.linear.clone());
        let then = branch(self, then, first, &[], &others)?;
        let otherwise = branch(self, otherwise, second, &kept, &[])?;
        self.push_unless_empty(pat, Exp::If { cond, then, otherwise }, loc);
        let then = Renamer::new(self, map.clone()).body(&linear_then);
        let otherwise = Renamer::new(self, map).body(&linear_otherwise);
        Ok(Some(vec![Stm { pat: linear_pat, exp: Exp::If { cond, then, otherwise }, loc }]))
    }

    /// What stands for a residual of the branch that is not taken.
    fn placeholder(&mut self, var: VarId, loc: Loc) -> Atom {
        let ty = self.ty_var(var);
        self.zero(&ty, loc)
    }

    fn split_loop(
        &mut self,
        stm: &Stm,
        params: &[(Param, Atom)],
        (counter, ty, bound): (VarId, PrimType, Atom),
        body: &Body,
    ) -> Res<Option<Vec<Stm>>> {
        let loc = stm.loc;
        let own: Vec<VarId> = params.iter().map(|(p, _)| p.var).collect();
        if depends_on(params.iter().map(|(p, _)| p), &own) {
            return Ok(None);
        }
        let tangent: Vec<bool> = params.iter().map(|(p, _)| self.is_linear(p.var)).collect();
        let (linear_params, mut now_params): (Vec<_>, Vec<_>) =
            params.iter().cloned().partition(|(p, _)| self.is_linear(p.var));
        let local: Vec<VarId> = now_params.iter().map(|(p, _)| p.var).chain([counter]).collect();
        let Some(mut parts) = self.split_body(body, &local, &|i| tangent[i])? else { return Ok(None) };
        parts.residuals.retain(|v| *v != counter);
        let (mut pat, linear_pat) = self.halves(&stm.pat);
        let n = self.b.convert(ty, PrimType::I64, bound, loc);
        let n = self.i64_op(BinOp::Max, n, Atom::i64(0), loc);
        let mut saves = Vec::new();
        for var in &parts.residuals {
            let row = self.ty_var(*var);
            let all = row.with_outer(&[n]);
            let exp = Exp::Scratch { elem: row.elem().unwrap_or(PrimType::F64), dims: all.dims().to_vec() };
            let init = self.let_exp("residual", all.clone(), exp, loc);
            let (inside, outside) = (self.param("residual", all.clone()), self.param("residual", all));
            saves.push((*var, inside.clone(), outside.var));
            now_params.push((inside, init));
            pat.push(outside);
        }
        let now = self.body(|ad| {
            parts.now.into_iter().for_each(|s| ad.push(s));
            let mut result = ad.results_now(body, &tangent);
            let i = ad.b.convert(ty, PrimType::I64, counter.into(), loc);
            for (var, inside, _) in &saves {
                let (dims, value) = (vec![DimSlice::Fix(i)], (*var).into());
                let exp = Exp::Update { array: inside.var, dims, value, check: Check::Certified };
                result.push(ad.let_exp("residual", inside.ty.clone(), exp, loc));
            }
            Ok(result)
        })?;
        let form = LoopForm::For { var: counter, ty, bound };
        self.push_unless_empty(
            pat,
            Exp::Loop { params: now_params, form, body: now, hints: LoopHints::NONE },
            loc,
        );
        let again = self.b.fresh("i");
        self.b.types.insert(again, Type::Prim(ty));
        let body = self.body(|ad| {
            let mut map = HashMap::from([(counter, Atom::from(again))]);
            let i = ad.b.convert(ty, PrimType::I64, again.into(), loc);
            for (var, inside, outside) in &saves {
                let exp = Exp::Index { array: *outside, indices: vec![i], check: Check::Certified };
                let row = inside.ty.row().unwrap_or(Type::I64);
                let hint = ad.b.vars.hint(*var).to_owned();
                map.insert(*var, ad.let_exp(&hint, row, exp, loc));
            }
            let body = Renamer::new(ad, map).body(&parts.linear);
            body.stms.into_iter().for_each(|s| ad.push(s));
            Ok(body.result)
        })?;
        let form = LoopForm::For { var: again, ty, bound };
        Ok(Some(vec![Stm {
            pat: linear_pat,
            exp: Exp::Loop { params: linear_params, form, body, hints: LoopHints::NONE },
            loc,
        }]))
    }

    /// An operator whose tangents need no primals, such as a sum, is two operators.
    fn split_operator(&mut self, stm: &Stm, op: &Lambda) -> Res<Option<Vec<Stm>>> {
        let tangent: Vec<bool> = stm.pat.iter().map(|p| self.is_linear(p.var)).collect();
        let k = tangent.len();
        let operand_is_linear = |i: usize| tangent[i % k];
        for (i, param) in op.params.iter().enumerate() {
            if operand_is_linear(i) {
                self.forward.linear_vars.insert(param.var);
            }
        }
        let local: Vec<VarId> = (op.params.iter().enumerate())
            .filter(|(i, _)| !operand_is_linear(*i))
            .map(|(_, p)| p.var)
            .collect();
        let Some(parts) = self.split_body(&op.body, &local, &|i| tangent[i])? else { return Ok(None) };
        if !parts.residuals.is_empty() {
            return Ok(None);
        }
        let part = |linear: bool, body: Body| Lambda {
            params: (op.params.iter().enumerate())
                .filter(|(i, _)| operand_is_linear(*i) == linear)
                .map(|(_, p)| p.clone())
                .collect(),
            body,
            ret: (op.ret.iter().zip(&tangent))
                .filter(|(_, t)| **t == linear)
                .map(|(r, _)| r.clone())
                .collect(),
        };
        let now = Body { stms: parts.now, result: self.results_now(&op.body, &tangent) };
        let ops = (part(false, now), part(true, parts.linear));
        Ok(Some(self.split_components(stm, Some(ops))))
    }

    /// A reduction, scan, histogram or scatter of tuples, as one for the components known now (which is emitted) and one for
    /// tangents, with the operators of both.
    fn split_components(&mut self, stm: &Stm, ops: Option<(Lambda, Lambda)>) -> Vec<Stm> {
        let tangent: Vec<bool> = stm.pat.iter().map(|p| self.is_linear(p.var)).collect();
        let (now, linear) = ops.map_or((None, None), |(now, linear)| (Some(now), Some(linear)));
        let (now_pat, linear_pat) = self.halves(&stm.pat);
        let exp = components(&stm.exp, now, &|i| !tangent[i]);
        self.push_unless_empty(now_pat, exp, stm.loc);
        let exp = components(&stm.exp, linear, &|i| tangent[i]);
        vec![Stm { pat: linear_pat, exp, loc: stm.loc }]
    }

    /// The accumulators of tangents go to the linear program.
    fn split_with_acc(&mut self, stm: &Stm, inputs: &[AccInput], lambda: &Lambda) -> Res<Option<Vec<Stm>>> {
        // Accumulators of pairs of primals and tangents cannot be taken apart.
        if inputs.iter().any(|input| input.arrays.len() > 1) {
            return Ok(None);
        }
        let loc = stm.loc;
        let tangent: Vec<bool> = stm.pat.iter().map(|p| self.is_linear(p.var)).collect();
        let part = |linear: bool| {
            let inputs = inputs.iter().zip(&tangent).filter(move |(_, t)| **t == linear);
            let params = lambda.params.iter().zip(&tangent).filter(move |(_, t)| **t == linear);
            let ret = lambda.ret.iter().zip(&tangent).filter(move |(_, t)| **t == linear);
            let params: Vec<Param> = params.map(|(p, _)| p.clone()).collect();
            let inputs: Vec<AccInput> = inputs.map(|(i, _)| i.clone()).collect();
            (inputs, params, ret.map(|(r, _)| r.clone()).collect::<Vec<Type>>())
        };
        let (now_inputs, now_params, mut now_ret) = part(false);
        let (linear_inputs, linear_params, ret) = part(true);
        let local: Vec<VarId> = now_params.iter().map(|p| p.var).collect();
        let Some(parts) = self.split_body(&lambda.body, &local, &|i| tangent[i])? else { return Ok(None) };
        if std::mem::take(&mut self.forward.acc_not_split) {
            return Ok(None);
        }
        let (mut pat, linear_pat) = self.halves(&stm.pat);
        let mut result = self.results_now(&lambda.body, &tangent);
        let mut map = HashMap::new();
        if now_inputs.is_empty() {
            parts.now.into_iter().for_each(|s| self.push(s));
            self.bind(&pat, &result, loc);
        } else {
            for var in &parts.residuals {
                let ty = self.ty_var(*var);
                let kept = self.param("residual", ty.clone());
                map.insert(*var, Atom::from(kept.var));
                pat.push(kept);
                result.push((*var).into());
                now_ret.push(ty);
            }
            let body = Body { stms: parts.now, result };
            let lambda = Lambda { params: now_params, body, ret: now_ret };
            self.push(Stm { pat, exp: Exp::WithAcc { inputs: now_inputs, lambda }, loc });
        }
        let body = Renamer::new(self, map).body(&parts.linear);
        if linear_inputs.is_empty() {
            let names = linear_pat.iter().zip(&body.result).map(|(p, a)| Stm {
                pat: vec![p.clone()],
                exp: Exp::Atom(*a),
                loc,
            });
            let names: Vec<Stm> = names.collect();
            return Ok(Some(body.stms.into_iter().chain(names).collect()));
        }
        let lambda = Lambda { params: linear_params, body, ret };
        Ok(Some(vec![Stm { pat: linear_pat, exp: Exp::WithAcc { inputs: linear_inputs, lambda }, loc }]))
    }

    /// Runs the statement now with tangents of zero for what it gives but tangents, and once more in the linear program.
    fn run_again(&mut self, stm: Stm) -> Res<Vec<Stm>> {
        let loc = stm.loc;
        let tangents: Vec<VarId> = free_vars(&stm.exp).into_iter().filter(|v| self.is_linear(*v)).collect();
        let mut zeros = HashMap::new();
        for var in tangents {
            let ty = self.ty_var(var);
            // There is no accumulator for what is thrown away; all of the accumulation is run again instead.
            self.forward.acc_not_split |= ty.is_acc();
            zeros.insert(var, self.zero(&ty, loc));
        }
        let exp = Renamer::new(self, zeros).exp(&stm.exp);
        let mut pat = Vec::new();
        for param in &stm.pat {
            let unused = self.is_linear(param.var);
            pat.push(if unused { self.param("unused", param.ty.clone()) } else { param.clone() });
        }
        self.push(Stm { pat, exp, loc });
        let mut renamer = Renamer::again(self, HashMap::new());
        let exp = renamer.exp(&stm.exp);
        let pat: Vec<Param> = stm.pat.iter().map(|p| renamer.param(p)).collect();
        let again = Stm { pat, exp, loc };
        let mut linear = Vec::new();
        let mut names = Vec::new();
        for (param, new) in stm.pat.iter().zip(&again.pat) {
            if self.is_linear(param.var) {
                // The sizes are those of the first run, by other names.
                let exp = match &param.ty {
                    Type::Array { dims, .. } if param.ty != new.ty => {
                        Exp::Reshape { dims: dims.clone(), array: new.var }
                    }
                    Type::Array { .. } | Type::Prim(_) | Type::Acc { .. } => Exp::Atom(new.var.into()),
                };
                names.push(Stm { pat: vec![param.clone()], exp, loc });
            }
        }
        linear.push(again);
        linear.extend(names);
        Ok(linear)
    }
}

/// What is a copy of something else. A copy is not kept beside that: two names of one size would become two sizes.
pub(super) fn copies(stms: &[Stm]) -> HashMap<VarId, Atom> {
    let mut copies = HashMap::new();
    for stm in stms {
        if let (Exp::Atom(atom), [param]) = (&stm.exp, &stm.pat[..]) {
            let known = atom.as_var().and_then(|var| copies.get(&var).copied());
            copies.insert(param.var, known.unwrap_or(*atom));
        }
    }
    copies
}

/// Whether types mention the variables.
fn depends_on<'a>(params: impl Iterator<Item = &'a Param>, vars: &[VarId]) -> bool {
    params.flat_map(|p| p.ty.all_dims()).any(|d| d.as_var().is_some_and(|v| vars.contains(&v)))
}

/// The expression with the components that `chosen` says, and the operator of these.
fn components(exp: &Exp, op: Option<Lambda>, chosen: Chosen<'_>) -> Exp {
    fn pick<T: Clone>(all: &[T], chosen: Chosen<'_>) -> Vec<T> {
        all.iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, x)| x.clone()).collect()
    }
    let indexed = |arrays: &[VarId], shape: &[Atom]| {
        let (indices, values) = arrays.split_at(shape.len());
        [indices.to_vec(), pick(values, chosen)].concat()
    };
    match (exp, op) {
        (Exp::Reduce { width, arrays, neutral, commutative, .. }, Some(op)) => Exp::Reduce {
            width: *width,
            arrays: pick(arrays, chosen),
            pre: None,
            op,
            neutral: pick(neutral, chosen),
            commutative: *commutative,
        },
        (Exp::Scan { width, arrays, neutral, .. }, Some(op)) => Exp::Scan {
            width: *width,
            arrays: pick(arrays, chosen),
            pre: None,
            op,
            neutral: pick(neutral, chosen),
        },
        (Exp::Hist { width, arrays, dests, shape, neutral, .. }, Some(op)) => Exp::Hist {
            width: *width,
            arrays: indexed(arrays, shape),
            pre: None,
            dests: pick(dests, chosen),
            shape: shape.clone(),
            op,
            neutral: pick(neutral, chosen),
        },
        (Exp::Scatter { width, arrays, dests, shape, .. }, None) => Exp::Scatter {
            width: *width,
            arrays: indexed(arrays, shape),
            pre: None,
            dests: pick(dests, chosen),
            shape: shape.clone(),
        },
        (other, _) => other.clone(),
    }
}
