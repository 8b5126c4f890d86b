//! Forward mode: tangents are carried next to primals.
//!
//!     let (y: f64) = f64.sin x     ==>     let (y: f64) = f64.sin x
//!                                          let (c: f64) = f64.cos x
//!                                          let (y_tan: f64) = f64.mul c x_tan
//!
//! What moves elements does the same to tangents; a reduction, scan or histogram has the operator on pairs of
//! primal and tangent (dual numbers). An accumulator that sums has another one for tangents, so that what is derived
//! sums again; one with another operator accumulates pairs.

use std::collections::HashMap;

use dagaz_core::exp::{AccInput, Body, Exp, Lambda, Loc, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res, is_plus};
use crate::rename::Renamer;

impl Ad<'_> {
    /// The results of the function, then their tangents.
    pub fn jvp(&mut self, lambda: &Lambda, args: &[Atom], tangents: &[Atom], loc: Loc) -> Res<Vec<Atom>> {
        self.enter(lambda, args, loc);
        self.forward.tan.clear();
        for (param, tangent) in lambda.params.iter().zip(tangents) {
            self.forward.tan.insert(param.var, *tangent);
        }
        self.fwd_stms(&lambda.body.stms)?;
        let mut results = lambda.body.result.clone();
        for (result, ty) in lambda.body.result.iter().zip(&lambda.ret) {
            results.push(self.tangent(*result, ty, loc));
        }
        Ok(results)
    }

    pub fn fwd_stms(&mut self, stms: &[Stm]) -> Res<()> {
        stms.iter().try_for_each(|s| self.fwd_stm(s))
    }

    /// The tangent of an atom of the type; zero if it has none.
    pub fn tangent(&mut self, atom: Atom, ty: &Type, loc: Loc) -> Atom {
        match atom.as_var().and_then(|var| self.forward.tan.get(&var)) {
            Some(tangent) => *tangent,
            None => {
                let zero = self.zero(ty, loc);
                self.forward.linear_vars.extend(zero.as_var());
                zero
            }
        }
    }

    pub fn tan_of(&mut self, atom: Atom, loc: Loc) -> Atom {
        let ty = self.ty(atom);
        self.tangent(atom, &ty, loc)
    }

    pub fn tan_var(&mut self, var: VarId, loc: Loc) -> VarId {
        let tangent = self.tan_of(var.into(), loc);
        self.as_var("tan", tangent, loc)
    }

    fn tan_vars(&mut self, vars: &[VarId], loc: Loc) -> Vec<VarId> {
        vars.iter().map(|v| self.tan_var(*v, loc)).collect()
    }

    /// A parameter for the tangent of a variable.
    pub fn tan_param(&mut self, param: &Param) -> Param {
        let hint = self.hint(param.var, "_tan");
        let tangent = self.param(&hint, param.ty.clone());
        self.forward.tan.insert(param.var, tangent.var.into());
        tangent
    }

    /// Whether a variable has its tangent beside it; accumulators of pairs hold theirs themselves.
    fn has_tangent(&self, param: &Param) -> bool {
        self.is_active_var(param.var) && (!param.ty.is_acc() || self.forward.sums.contains(&param.var))
    }

    /// Names for accumulators that sum, where `others` do.
    fn note_sums(&mut self, params: &[Param], others: &[Atom]) {
        for (param, other) in params.iter().zip(others) {
            if self.is_sum(*other) {
                self.forward.sums.insert(param.var);
            }
        }
    }

    /// Parameters for the tangents that are beside their variables.
    fn tan_params(&mut self, params: &[Param]) -> Vec<Param> {
        let active = params.iter().filter(|p| self.has_tangent(p));
        let active: Vec<Param> = active.cloned().collect();
        active.iter().map(|p| self.tan_param(p)).collect()
    }

    /// The parameter, where accumulators of active values are of pairs.
    fn dual_param(&mut self, param: &Param) -> Param {
        let paired = self.is_active_var(param.var) && !self.forward.sums.contains(&param.var);
        let dual = Param { var: param.var, ty: self.dual_type(&param.ty, paired) };
        self.note(&dual);
        dual
    }

    fn dual_params(&mut self, params: &[Param]) -> Vec<Param> {
        params.iter().map(|p| self.dual_param(p)).collect()
    }

    fn dual_type(&self, ty: &Type, active: bool) -> Type {
        match ty {
            Type::Acc { index_dims, elems } if active => Type::Acc {
                index_dims: index_dims.clone(),
                elems: elems.iter().chain(elems).cloned().collect(),
            },
            Type::Prim(_) | Type::Array { .. } | Type::Acc { .. } => ty.clone(),
        }
    }

    /// Binds the pattern's one tangent.
    pub fn set_tan(&mut self, stm: &Stm, exp: Exp) {
        let param = &stm.pat[0];
        let hint = self.hint(param.var, "_tan");
        let tangent = self.let_exp(&hint, param.ty.clone(), exp, stm.loc);
        self.forward.tan.insert(param.var, tangent);
    }

    fn fwd_stm(&mut self, stm: &Stm) -> Res<()> {
        let loc = stm.loc;
        if !stm.pat.iter().any(|p| self.is_active_var(p.var)) {
            self.push(stm.clone());
            return Ok(());
        }
        match &stm.exp {
            Exp::UnOp(UnOp::ToBits | UnOp::FromBits, ..) => {}
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) => return self.fwd_scalar(stm),
            Exp::Reduce { .. } if self.forward.linear_ahead && self.linear_reduce(stm)? => return Ok(()),
            Exp::Loop { .. } if self.forward.linear_ahead => {
                let stm = self.counted(stm)?;
                return self.fwd_control(&stm);
            }
            Exp::If { .. } | Exp::Loop { .. } => return self.fwd_control(stm),
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => return self.fwd_bulk(stm),
            Exp::Hist { .. } | Exp::Scatter { .. } => return self.fwd_into(stm),
            Exp::WithAcc { inputs, lambda } => return self.fwd_with_acc(stm, inputs, lambda),
            Exp::Call { fun, args } => return self.fwd_call(stm, *fun, args),
            Exp::UpdateAcc { acc, indices, values } if self.forward.sums.contains(acc) => {
                self.push(stm.clone());
                self.note_sums(&stm.pat, &[(*acc).into()]);
                let acc = self.tan_var(*acc, loc);
                let values = values.iter().map(|v| self.tan_of(*v, loc)).collect();
                self.set_tan(stm, Exp::UpdateAcc { acc, indices: indices.clone(), values });
                return Ok(());
            }
            Exp::UpdateAcc { acc, indices, values } => {
                let pat = self.dual_params(&stm.pat);
                let tangents: Vec<Atom> = values.iter().map(|v| self.tan_of(*v, loc)).collect();
                let values = values.iter().copied().chain(tangents).collect();
                let exp = Exp::UpdateAcc { acc: *acc, indices: indices.clone(), values };
                self.push(Stm { pat, exp, loc });
                return Ok(());
            }
            Exp::WithVjp { lambda, args, .. } => {
                for (param, arg) in lambda.params.iter().zip(args) {
                    let copy = Stm { pat: vec![param.clone()], exp: Exp::Atom(*arg), loc };
                    if self.is_active(*arg) {
                        self.forward.active.insert(param.var);
                    }
                    self.fwd_stm(&copy)?;
                }
                self.analyse(&lambda.body);
                self.fwd_stms(&lambda.body.stms)?;
                for (param, result) in stm.pat.iter().zip(&lambda.body.result) {
                    self.fwd_stm(&Stm { pat: vec![param.clone()], exp: Exp::Atom(*result), loc })?;
                }
                return Ok(());
            }
            _ => {}
        }
        self.push(stm.clone());
        self.fwd_moves(stm)
    }

    /// What is linear: the tangent is the same of the tangents.
    fn fwd_moves(&mut self, stm: &Stm) -> Res<()> {
        let loc = stm.loc;
        let tangent = match &stm.exp {
            Exp::Atom(a) if self.ty(*a).is_acc() && !self.is_sum(*a) => {
                return Ok(());
            }
            Exp::Atom(a) => {
                let tangent = self.tan_of(*a, loc);
                self.note_sums(&stm.pat, &[*a]);
                self.forward.tan.insert(stm.pat[0].var, tangent);
                return Ok(());
            }
            Exp::UnOp(op @ (UnOp::ToBits | UnOp::FromBits), ty, a) => {
                Exp::UnOp(*op, *ty, self.tan_of(*a, loc))
            }
            Exp::Convert(from, to, a) => Exp::Convert(*from, *to, self.tan_of(*a, loc)),
            Exp::Index { array, indices, check } => {
                Exp::Index { array: self.tan_var(*array, loc), indices: indices.clone(), check: *check }
            }
            Exp::Slice { array, dims } => Exp::Slice { array: self.tan_var(*array, loc), dims: dims.clone() },
            Exp::Update { array, dims, value, check } => {
                let value_ty = self.ty(*value);
                Exp::Update {
                    array: self.tan_var(*array, loc),
                    dims: dims.clone(),
                    value: self.tangent(*value, &value_ty, loc),
                    check: *check,
                }
            }
            Exp::Copy(array) => Exp::Copy(self.tan_var(*array, loc)),
            Exp::Iota { ty: PrimType::I64, n, start, step } if self.is_active(*n) => {
                let own = self.tan_of(*n, loc);
                let start = self.tan_of(*start, loc);
                let start = self.i64_op(BinOp::Add, own, start, loc);
                Exp::Iota { ty: PrimType::I64, n: *n, start, step: self.tan_of(*step, loc) }
            }
            Exp::Iota { ty, n, start, step } => {
                Exp::Iota { ty: *ty, n: *n, start: self.tan_of(*start, loc), step: self.tan_of(*step, loc) }
            }
            Exp::Replicate { dims, value } => {
                Exp::Replicate { dims: dims.clone(), value: self.tan_of(*value, loc) }
            }
            Exp::Rearrange { perm, array } => {
                Exp::Rearrange { perm: perm.clone(), array: self.tan_var(*array, loc) }
            }
            Exp::Reshape { dims, array } => {
                Exp::Reshape { dims: dims.clone(), array: self.tan_var(*array, loc) }
            }
            Exp::Concat { arrays } => Exp::Concat { arrays: self.tan_vars(arrays, loc) },
            Exp::ArrayLit { row, elems } => {
                let elems = elems.iter().map(|e| self.tangent(*e, row, loc)).collect();
                Exp::ArrayLit { row: row.clone(), elems }
            }
            Exp::Trace { values, .. } => {
                for (param, value) in stm.pat.iter().zip(values) {
                    let tangent = self.tan_of(*value, loc);
                    self.forward.tan.insert(param.var, tangent);
                }
                return Ok(());
            }
            // Never active, or handled before.
            Exp::CmpOp(..) | Exp::Scratch { .. } | Exp::Assert { .. } | Exp::Call { .. } => return Ok(()),
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::If { .. } | Exp::Loop { .. } => {
                return Ok(());
            }
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } => return Ok(()),
            Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => return Ok(()),
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Detach(_) => return Ok(()),
            Exp::Transpose { .. } => return Ok(()),
            Exp::Contract { .. } => return Ok(()),
        };
        self.set_tan(stm, tangent);
        Ok(())
    }

    fn fwd_scalar(&mut self, stm: &Stm) -> Res<()> {
        let (param, loc) = (&stm.pat[0], stm.loc);
        self.push(stm.clone());
        let ty = param.ty.elem().unwrap_or(PrimType::F64);
        let mut sum: Option<Atom> = None;
        for (operand, partial) in self.partials(&stm.exp, param.var.into(), loc)? {
            if partial == Prim::zero(ty).into() || self.ty(operand).elem() != Some(ty) {
                continue;
            }
            let seed = self.tan_of(operand, loc);
            let term = self.times(ty, partial, seed, loc);
            sum = Some(match sum {
                Some(sum) => self.plus(ty, sum, term, loc),
                None => term,
            });
        }
        let tangent = sum.unwrap_or(Prim::zero(ty).into());
        let hint = self.hint(param.var, "_tan");
        let tangent = self.let_exp(&hint, param.ty.clone(), Exp::Atom(tangent), loc);
        self.forward.tan.insert(param.var, tangent);
        Ok(())
    }

    /// A body whose results are followed by the tangents of those that `active` says.
    fn fwd_body(&mut self, body: &Body, types: &[Type], active: &[bool], loc: Loc) -> Res<Body> {
        self.body(|ad| {
            ad.fwd_stms(&body.stms)?;
            let mut result = body.result.clone();
            for ((atom, ty), active) in body.result.iter().zip(types).zip(active) {
                if *active && (!ty.is_acc() || ad.is_sum(*atom)) {
                    result.push(ad.tangent(*atom, ty, loc));
                }
            }
            Ok(result)
        })
    }

    fn is_sum(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.forward.sums.contains(&v))
    }

    fn fwd_lambda(&mut self, lambda: &Lambda, active: &[bool], loc: Loc) -> Res<Lambda> {
        let params = self.dual_params(&lambda.params);
        let tangents = self.tan_params(&lambda.params);
        let body = self.fwd_body(&lambda.body, &lambda.ret, active, loc)?;
        let mut ret = Vec::new();
        let mut duals = Vec::new();
        for ((ty, atom), active) in lambda.ret.iter().zip(&lambda.body.result).zip(active) {
            let paired = ty.is_acc() && !self.is_sum(*atom);
            ret.push(self.dual_type(ty, *active && paired));
            if *active && !paired {
                duals.push(ty.clone());
            }
        }
        ret.extend(duals);
        Ok(Lambda { params: [params, tangents].concat(), body, ret })
    }

    /// An operator on pairs: the primals and then the tangents of each side, for the components that have them.
    fn fwd_operator(&mut self, op: &Lambda, active: &[bool], loc: Loc) -> Res<Lambda> {
        for (param, active) in op.params.iter().zip(active.iter().chain(active)) {
            if *active {
                self.forward.active.insert(param.var);
            }
        }
        let mut dual = self.fwd_lambda(op, active, loc)?;
        let (n, tangents) = (op.ret.len(), active.iter().filter(|a| **a).count());
        // Primals x, y and tangents x_tan, y_tan become x, x_tan, y, y_tan.
        dual.params[n..2 * n + tangents].rotate_left(n);
        Ok(dual)
    }

    fn active_pat(&self, pat: &[Param]) -> Vec<bool> {
        pat.iter().map(|p| self.is_active_var(p.var)).collect()
    }

    fn fwd_control(&mut self, stm: &Stm) -> Res<()> {
        let loc = stm.loc;
        let active = self.active_pat(&stm.pat);
        let types: Vec<Type> = stm.pat.iter().map(|p| p.ty.clone()).collect();
        let exp = match &stm.exp {
            Exp::If { cond, then, otherwise } => Exp::If {
                cond: *cond,
                then: self.fwd_branch(then, &types, &active, loc)?,
                otherwise: self.fwd_branch(otherwise, &types, &active, loc)?,
            },
            Exp::Loop { params, form, body, hints } => {
                let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
                let inits: Vec<Atom> = params.iter().map(|(_, init)| *init).collect();
                self.note_sums(&own, &inits);
                let duals = self.dual_params(&own);
                let mut all: Vec<(Param, Atom)> = duals.into_iter().zip(inits).collect();
                for (param, init) in params {
                    if self.has_tangent(param) {
                        let init_ty = self.ty(*init);
                        let init = self.tangent(*init, &init_ty, loc);
                        all.push((self.tan_param(param), init));
                    }
                }
                let body = self.fwd_branch(body, &types, &active, loc)?;
                Exp::Loop { params: all, form: form.clone(), body, hints: *hints }
            }
            _ => stm.exp.clone(),
        };
        match &stm.exp {
            Exp::If { then, .. } => self.note_sums(&stm.pat, &then.result),
            Exp::Loop { body, .. } => self.note_sums(&stm.pat, &body.result),
            _ => {}
        }
        let pat = self.dual_params(&stm.pat);
        let tangents = self.tan_params(&stm.pat);
        self.push(Stm { pat: [pat, tangents].concat(), exp, loc });
        Ok(())
    }

    /// Types of results may mention results, whose values are then those of the branch.
    fn fwd_branch(&mut self, body: &Body, types: &[Type], active: &[bool], loc: Loc) -> Res<Body> {
        self.body(|ad| {
            ad.fwd_stms(&body.stms)?;
            let mut result = body.result.clone();
            for ((atom, ty), active) in body.result.iter().zip(types).zip(active) {
                if *active && (!ty.is_acc() || ad.is_sum(*atom)) {
                    result.push(ad.tan_of(*atom, loc));
                }
            }
            Ok(result)
        })
    }

    fn fwd_bulk(&mut self, stm: &Stm) -> Res<()> {
        let loc = stm.loc;
        let active = self.active_pat(&stm.pat);
        let exp = match &stm.exp {
            Exp::Map { width, arrays, lambda } => {
                let given: Vec<Atom> = arrays.iter().map(|a| (*a).into()).collect();
                self.note_sums(&lambda.params, &given);
                let inputs: Vec<VarId> = (arrays.iter().zip(&lambda.params))
                    .filter(|(_, p)| self.has_tangent(p))
                    .map(|(a, _)| *a)
                    .collect();
                let tangents = self.tan_vars(&inputs, loc);
                let dual = self.fwd_lambda(lambda, &active, loc)?;
                self.note_sums(&stm.pat, &lambda.body.result);
                let lambda = dual;
                Exp::Map { width: *width, arrays: [arrays.clone(), tangents].concat(), lambda }
            }
            Exp::Reduce { width, arrays, op, neutral, commutative, .. } => {
                let tangents = self.tan_vars(&chosen(arrays, &active), loc);
                let arrays = [arrays.clone(), tangents].concat();
                let neutral = self.dual_atoms(neutral, &active, loc);
                let op = self.fwd_operator(op, &active, loc)?;
                Exp::Reduce { width: *width, arrays, pre: None, op, neutral, commutative: *commutative }
            }
            Exp::Scan { width, arrays, op, neutral, .. } => {
                let tangents = self.tan_vars(&chosen(arrays, &active), loc);
                let arrays = [arrays.clone(), tangents].concat();
                let neutral = self.dual_atoms(neutral, &active, loc);
                let op = self.fwd_operator(op, &active, loc)?;
                Exp::Scan { width: *width, arrays, pre: None, op, neutral }
            }
            _ => stm.exp.clone(),
        };
        let pat = self.dual_params(&stm.pat);
        let tangents = self.tan_params(&stm.pat);
        self.push(Stm { pat: [pat, tangents].concat(), exp, loc });
        Ok(())
    }

    fn dual_atoms(&mut self, atoms: &[Atom], active: &[bool], loc: Loc) -> Vec<Atom> {
        let tangents: Vec<Atom> = chosen(atoms, active).iter().map(|a| self.tan_of(*a, loc)).collect();
        atoms.iter().copied().chain(tangents).collect()
    }

    fn fwd_into(&mut self, stm: &Stm) -> Res<()> {
        let loc = stm.loc;
        let exp = match &stm.exp {
            Exp::Hist { width, arrays, dests, shape, op, neutral, .. } => {
                let active = self.active_pat(&stm.pat);
                let tangents = self.tan_vars(&chosen(&arrays[shape.len()..], &active), loc);
                let dest_tangents = self.tan_vars(&chosen(dests, &active), loc);
                let neutral = self.dual_atoms(neutral, &active, loc);
                Exp::Hist {
                    width: *width,
                    arrays: [arrays.clone(), tangents].concat(),
                    pre: None,
                    dests: [dests.clone(), dest_tangents].concat(),
                    shape: shape.clone(),
                    op: self.fwd_operator(op, &active, loc)?,
                    neutral,
                }
            }
            Exp::Scatter { width, arrays, dests, shape, .. } => {
                let (mut arrays, mut dests) = (arrays.clone(), dests.clone());
                for (i, param) in stm.pat.iter().enumerate() {
                    if self.is_active_var(param.var) {
                        arrays.push(self.tan_var(arrays[shape.len() + i], loc));
                        dests.push(self.tan_var(dests[i], loc));
                    }
                }
                Exp::Scatter { width: *width, arrays, pre: None, dests, shape: shape.clone() }
            }
            _ => stm.exp.clone(),
        };
        let tangents = self.tan_params(&stm.pat);
        self.push(Stm { pat: [stm.pat.clone(), tangents].concat(), exp, loc });
        Ok(())
    }

    /// An input that sums has another input for its tangents, behind all inputs; any other has them behind its
    /// arrays. So it is with the results.
    fn fwd_with_acc(&mut self, stm: &Stm, inputs: &[AccInput], lambda: &Lambda) -> Res<()> {
        let loc = stm.loc;
        let (mut duals, mut sums) = (Vec::new(), Vec::new());
        let (mut pat, mut sums_pat) = (Vec::new(), Vec::new());
        let mut results = stm.pat.iter();
        for (input, acc) in inputs.iter().zip(&lambda.params) {
            let own: Vec<Param> = results.by_ref().take(input.arrays.len()).cloned().collect();
            let tangents = self.tan_params(&own);
            let arrays = self.tan_vars(&input.arrays, loc);
            let Some((op, neutral)) = &input.op else {
                let arrays = [input.arrays.clone(), arrays].concat();
                duals.push(AccInput { shape: input.shape.clone(), arrays, op: None });
                pat.extend(own.into_iter().chain(tangents));
                continue;
            };
            if is_plus(op) {
                self.forward.sums.insert(acc.var);
                let op = Some((Renamer::new(self, HashMap::new()).lambda(op), neutral.clone()));
                duals.push(input.clone());
                sums.push(AccInput { shape: input.shape.clone(), arrays, op });
                pat.extend(own);
                sums_pat.extend(tangents);
                continue;
            }
            let arrays = [input.arrays.clone(), arrays].concat();
            let active = vec![true; neutral.len()];
            let neutral = self.dual_atoms(neutral, &active, loc);
            let op = Some((self.fwd_operator(op, &active, loc)?, neutral));
            duals.push(AccInput { shape: input.shape.clone(), arrays, op });
            pat.extend(own.into_iter().chain(tangents));
        }
        let rest: Vec<Param> = results.cloned().collect();
        let active = vec![true; lambda.ret.len()];
        let mut dual = self.fwd_lambda(lambda, &active, loc)?;
        // Accumulators and others, then their tangents, become accumulators of both kinds, then others of both kinds.
        let (accs, all) = (inputs.len(), lambda.ret.len());
        dual.body.result[accs..all + sums.len()].rotate_left(rest.len());
        dual.ret[accs..all + sums.len()].rotate_left(rest.len());
        // Among the others may be accumulators from outside.
        self.note_sums(&rest, &lambda.body.result[accs..]);
        let tangents = self.tan_params(&rest);
        let rest = self.dual_params(&rest);
        let pat = pat.into_iter().chain(sums_pat).chain(rest).chain(tangents).collect();
        let inputs = duals.into_iter().chain(sums).collect();
        self.push(Stm { pat, exp: Exp::WithAcc { inputs, lambda: dual }, loc });
        Ok(())
    }
}

/// The items that are active.
fn chosen<T: Copy>(items: &[T], active: &[bool]) -> Vec<T> {
    items.iter().zip(active).filter(|(_, active)| **active).map(|(item, _)| *item).collect()
}
