//! Forward mode: tangents are carried next to primals.
//!
//!     let (y: f64) = f64.sin x     ==>     let (y: f64) = f64.sin x
//!                                          let (c: f64) = f64.cos x
//!                                          let (y_tan: f64) = f64.mul c x_tan
//!
//! What moves elements does the same to tangents; a reduction, scan or histogram has the operator on pairs of
//! primal and tangent (dual numbers); an accumulator accumulates pairs.

use dagaz_core::exp::{AccInput, Body, Exp, Lambda, Loc, Stm};
use dagaz_core::prim::{Prim, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res};

impl Ad<'_> {
    /// The results of the function, then their tangents.
    pub fn jvp(&mut self, lambda: &Lambda, args: &[Atom], tangents: &[Atom], loc: Loc) -> Res<Vec<Atom>> {
        self.enter(lambda, args, loc);
        self.tan.clear();
        for (param, tangent) in lambda.params.iter().zip(tangents) {
            self.tan.insert(param.var, *tangent);
        }
        self.fwd_stms(&lambda.body.stms)?;
        let mut results = lambda.body.result.clone();
        for (result, ty) in lambda.body.result.iter().zip(&lambda.ret) {
            results.push(self.tangent(*result, ty, loc));
        }
        Ok(results)
    }

    fn fwd_stms(&mut self, stms: &[Stm]) -> Res<()> {
        stms.iter().try_for_each(|s| self.fwd_stm(s))
    }

    /// The tangent of an atom of the type; zero if it has none.
    fn tangent(&mut self, atom: Atom, ty: &Type, loc: Loc) -> Atom {
        match atom.as_var().and_then(|var| self.tan.get(&var)) {
            Some(tangent) => *tangent,
            None => self.zero(ty, loc),
        }
    }

    fn tan_of(&mut self, atom: Atom, loc: Loc) -> Atom {
        let ty = self.ty(atom);
        self.tangent(atom, &ty, loc)
    }

    fn tan_var(&mut self, var: VarId, loc: Loc) -> VarId {
        let tangent = self.tan_of(var.into(), loc);
        self.as_var("tan", tangent, loc)
    }

    fn tan_vars(&mut self, vars: &[VarId], loc: Loc) -> Vec<VarId> {
        vars.iter().map(|v| self.tan_var(*v, loc)).collect()
    }

    /// A parameter for the tangent of a variable.
    fn tan_param(&mut self, param: &Param) -> Param {
        let hint = self.hint(param.var, "_tan");
        let tangent = self.param(&hint, param.ty.clone());
        self.tan.insert(param.var, tangent.var.into());
        tangent
    }

    /// Parameters for the tangents of all active variables but accumulators, which hold their tangents themselves.
    fn tan_params(&mut self, params: &[Param]) -> Vec<Param> {
        let active = params.iter().filter(|p| self.is_active_var(p.var) && !p.ty.is_acc());
        let active: Vec<Param> = active.cloned().collect();
        active.iter().map(|p| self.tan_param(p)).collect()
    }

    /// The parameter, where accumulators of active values are of pairs.
    fn dual_param(&mut self, param: &Param) -> Param {
        let dual = Param { var: param.var, ty: self.dual_type(&param.ty, self.is_active_var(param.var)) };
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
    fn set_tan(&mut self, stm: &Stm, exp: Exp) {
        let param = &stm.pat[0];
        let hint = self.hint(param.var, "_tan");
        let tangent = self.let_exp(&hint, param.ty.clone(), exp, stm.loc);
        self.tan.insert(param.var, tangent);
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
            Exp::If { .. } | Exp::Loop { .. } => return self.fwd_control(stm),
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => return self.fwd_bulk(stm),
            Exp::Hist { .. } | Exp::Scatter { .. } => return self.fwd_into(stm),
            Exp::WithAcc { inputs, lambda } => return self.fwd_with_acc(stm, inputs, lambda),
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
                        self.active.insert(param.var);
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
            Exp::Atom(a) if self.ty(*a).is_acc() => return Ok(()),
            Exp::Atom(a) => {
                let tangent = self.tan_of(*a, loc);
                self.tan.insert(stm.pat[0].var, tangent);
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
                    self.tan.insert(param.var, tangent);
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
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => return Ok(()),
        };
        self.set_tan(stm, tangent);
        Ok(())
    }

    fn fwd_scalar(&mut self, stm: &Stm) -> Res<()> {
        let (param, loc) = (&stm.pat[0], stm.loc);
        self.push(stm.clone());
        let ty = param.ty.elem().unwrap_or(dagaz_core::prim::PrimType::F64);
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
        self.tan.insert(param.var, tangent);
        Ok(())
    }

    /// A body whose results are followed by the tangents of those that `active` says.
    fn fwd_body(&mut self, body: &Body, types: &[Type], active: &[bool], loc: Loc) -> Res<Body> {
        self.body(|ad| {
            ad.fwd_stms(&body.stms)?;
            let mut result = body.result.clone();
            for ((atom, ty), active) in body.result.iter().zip(types).zip(active) {
                if *active && !ty.is_acc() {
                    result.push(ad.tangent(*atom, ty, loc));
                }
            }
            Ok(result)
        })
    }

    fn fwd_lambda(&mut self, lambda: &Lambda, active: &[bool], loc: Loc) -> Res<Lambda> {
        let params = self.dual_params(&lambda.params);
        let tangents = self.tan_params(&lambda.params);
        let body = self.fwd_body(&lambda.body, &lambda.ret, active, loc)?;
        let mut ret: Vec<Type> = lambda.ret.iter().zip(active).map(|(t, a)| self.dual_type(t, *a)).collect();
        let duals = lambda.ret.iter().zip(active).filter(|(t, active)| **active && !t.is_acc());
        ret.extend(duals.map(|(t, _)| t.clone()));
        Ok(Lambda { params: [params, tangents].concat(), body, ret })
    }

    /// An operator on pairs: the primals and then the tangents of each side.
    fn fwd_operator(&mut self, op: &Lambda, loc: Loc) -> Res<Lambda> {
        op.params.iter().for_each(|p| {
            self.active.insert(p.var);
        });
        let active = vec![true; op.ret.len()];
        let mut dual = self.fwd_lambda(op, &active, loc)?;
        let n = op.ret.len();
        // Primals x, y and tangents x_tan, y_tan become x, x_tan, y, y_tan.
        dual.params[n..3 * n].rotate_left(n);
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
                let duals = self.dual_params(&own);
                let mut all: Vec<(Param, Atom)> =
                    duals.into_iter().zip(params.iter().map(|(_, init)| *init)).collect();
                for (param, init) in params {
                    if self.is_active_var(param.var) && !param.ty.is_acc() {
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
                if *active && !ty.is_acc() {
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
                let inputs: Vec<VarId> = (arrays.iter().zip(&lambda.params))
                    .filter(|(_, p)| self.is_active_var(p.var) && !p.ty.is_acc())
                    .map(|(a, _)| *a)
                    .collect();
                let tangents = self.tan_vars(&inputs, loc);
                let lambda = self.fwd_lambda(lambda, &active, loc)?;
                Exp::Map { width: *width, arrays: [arrays.clone(), tangents].concat(), lambda }
            }
            Exp::Reduce { width, arrays, op, neutral, commutative, .. } => {
                let arrays = [arrays.clone(), self.tan_vars(arrays, loc)].concat();
                let neutral = self.dual_atoms(neutral, loc);
                let op = self.fwd_operator(op, loc)?;
                Exp::Reduce { width: *width, arrays, pre: None, op, neutral, commutative: *commutative }
            }
            Exp::Scan { width, arrays, op, neutral, .. } => {
                let arrays = [arrays.clone(), self.tan_vars(arrays, loc)].concat();
                let neutral = self.dual_atoms(neutral, loc);
                let op = self.fwd_operator(op, loc)?;
                Exp::Scan { width: *width, arrays, pre: None, op, neutral }
            }
            _ => stm.exp.clone(),
        };
        let pat = self.dual_params(&stm.pat);
        let tangents = self.tan_params(&stm.pat);
        self.push(Stm { pat: [pat, tangents].concat(), exp, loc });
        Ok(())
    }

    fn dual_atoms(&mut self, atoms: &[Atom], loc: Loc) -> Vec<Atom> {
        let tangents: Vec<Atom> = atoms.iter().map(|a| self.tan_of(*a, loc)).collect();
        atoms.iter().copied().chain(tangents).collect()
    }

    fn fwd_into(&mut self, stm: &Stm) -> Res<()> {
        let loc = stm.loc;
        let exp = match &stm.exp {
            Exp::Hist { width, arrays, dests, shape, op, neutral, .. } => {
                let tangents = self.tan_vars(&arrays[shape.len()..], loc);
                let dest_tangents = self.tan_vars(dests, loc);
                let neutral = self.dual_atoms(neutral, loc);
                Exp::Hist {
                    width: *width,
                    arrays: [arrays.clone(), tangents].concat(),
                    pre: None,
                    dests: [dests.clone(), dest_tangents].concat(),
                    shape: shape.clone(),
                    op: self.fwd_operator(op, loc)?,
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

    /// Each input has its tangents behind its arrays, and so have the results.
    fn fwd_with_acc(&mut self, stm: &Stm, inputs: &[AccInput], lambda: &Lambda) -> Res<()> {
        let loc = stm.loc;
        let mut duals = Vec::new();
        let mut pat = Vec::new();
        let mut results = stm.pat.iter();
        for input in inputs {
            let arrays = [input.arrays.clone(), self.tan_vars(&input.arrays, loc)].concat();
            let op = match &input.op {
                Some((op, neutral)) => {
                    let neutral = self.dual_atoms(neutral, loc);
                    Some((self.fwd_operator(op, loc)?, neutral))
                }
                None => None,
            };
            duals.push(AccInput { shape: input.shape.clone(), arrays, op });
            let own: Vec<Param> = results.by_ref().take(input.arrays.len()).cloned().collect();
            let tangents = self.tan_params(&own);
            pat.extend(own.into_iter().chain(tangents));
        }
        let rest: Vec<Param> = results.cloned().collect();
        let active = vec![true; lambda.ret.len()];
        let lambda = self.fwd_lambda(lambda, &active, loc)?;
        let tangents = self.tan_params(&rest);
        pat.extend(rest.into_iter().chain(tangents));
        self.push(Stm { pat, exp: Exp::WithAcc { inputs: duals, lambda }, loc });
        Ok(())
    }
}
