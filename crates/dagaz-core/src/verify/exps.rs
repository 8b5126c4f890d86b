//! Types of expressions: scalars, arrays and control.

use std::collections::BTreeSet;

use crate::effects::viewed;
use crate::exp::{AxesOf, Body, DimSlice, Exp, LoopForm, MsgPart, Stm};
use crate::prim::{Prim, PrimType};
use crate::prim_eval::{PrimError, eval_binop, eval_cmpop, eval_ternop, eval_unop};
use crate::types::{Atom, FunId, Param, Type, VarId};

use super::{Verifier, substitute};

impl<'p> Verifier<'p> {
    pub(super) fn stm_exp(&mut self, stm: &'p Stm) {
        match &stm.exp {
            Exp::If { cond, then, otherwise } => self.if_exp(stm, *cond, then, otherwise),
            Exp::Loop { params, form, body, .. } => self.loop_exp(stm, params, form, body),
            Exp::Call { fun, args } => self.call(stm, *fun, args),
            _ => {
                let shared = self.shared_operand(&stm.exp);
                let types = self.exp(&stm.exp);
                self.bind_pattern(&stm.pat);
                if let Some(types) = types {
                    self.compare_pattern(stm, &types);
                }
                if let Some(roots) = shared {
                    stm.pat.iter().for_each(|p| self.share(p, roots.clone()));
                }
                if let (Exp::Atom(atom), [param]) = (&stm.exp, stm.pat.as_slice()) {
                    self.same.insert(param.var, *atom);
                }
            }
        }
    }

    fn bind_pattern(&mut self, pat: &[Param]) {
        pat.iter().for_each(|p| self.bind(p));
    }

    fn compare_pattern(&mut self, stm: &Stm, types: &[Type]) {
        if !self.expect_count(stm.pat.len(), types.len(), "variables in the pattern") {
            return;
        }
        for (param, ty) in stm.pat.iter().zip(types) {
            let mut ty = ty.clone();
            // The outer size of a concatenation is what the pattern calls it.
            if let (Exp::Concat { .. }, Type::Array { dims, .. }, Some(own)) =
                (&stm.exp, &mut ty, param.ty.dims().first())
            {
                dims[0] = *own;
            }
            self.expect_same(&param.ty, &ty, &format!("the variable {}", self.name(param.var)));
        }
    }

    /// The roots of the array that the result of an expression is a view of, if it may be one.
    fn shared_operand(&self, exp: &Exp) -> Option<BTreeSet<VarId>> {
        match exp {
            Exp::Trace { values, .. } => Some(values.iter().flat_map(|v| self.roots_of(*v)).collect()),
            _ => viewed(exp).map(|array| self.roots_of(array.into())),
        }
    }

    fn size(&mut self, atom: Atom, what: &str) {
        self.expect_type(atom, &Type::I64, what);
    }

    pub(super) fn sizes(&mut self, atoms: &[Atom], what: &str) {
        atoms.iter().for_each(|a| self.size(*a, what));
    }

    /// The type of an array that is used here.
    pub(super) fn array(&mut self, var: VarId) -> Option<(PrimType, Vec<Atom>)> {
        match self.var(var)? {
            Type::Array { elem, dims } => Some((elem, dims)),
            other => {
                let shown = self.show(&other);
                self.error(format!("{} has type {shown}, but an array is expected", self.name(var)));
                None
            }
        }
    }

    /// The types of the results; none if an error makes them unknown.
    fn exp(&mut self, exp: &'p Exp) -> Option<Vec<Type>> {
        match exp {
            Exp::Atom(a) => Some(vec![self.atom(*a)?]),
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
                self.scalar(exp)
            }
            Exp::Index { array, indices, .. } => {
                let (elem, dims) = self.array(*array)?;
                self.sizes(indices, "index");
                let Some(rest) = dims.get(indices.len()..) else {
                    self.error(format!("{} indices for {} dimensions", indices.len(), dims.len()));
                    return None;
                };
                Some(vec![Type::array(elem, rest.to_vec())])
            }
            Exp::Slice { array, dims } => {
                let (elem, shape) = self.array(*array)?;
                if !dims.iter().any(|d| matches!(d, DimSlice::Range { .. })) || dims.len() != shape.len() {
                    self.error("a slice has one part per dimension, and at least one is a range");
                }
                Some(vec![self.slice_type(elem, &shape, dims)?])
            }
            Exp::Update { array, dims, value, .. } => self.update(*array, dims, *value),
            Exp::Copy(array) => {
                let (elem, dims) = self.array(*array)?;
                Some(vec![Type::array(elem, dims)])
            }
            Exp::Iota { ty, n, start, step } => {
                self.size(*n, "size");
                self.expect_type(*start, &Type::Prim(*ty), "start");
                self.expect_type(*step, &Type::Prim(*ty), "step");
                if !ty.is_int() {
                    self.error("iota is of an integer type");
                }
                Some(vec![Type::array(*ty, vec![*n])])
            }
            Exp::Replicate { dims, value } => {
                self.sizes(dims, "size");
                Some(vec![self.atom(*value)?.with_outer(dims)])
            }
            Exp::Rearrange { perm, array } => self.rearrange(perm, *array),
            Exp::Reshape { dims, array } => {
                self.sizes(dims, "size");
                let (elem, _) = self.array(*array)?;
                Some(vec![Type::array(elem, dims.clone())])
            }
            Exp::Concat { arrays } => self.concat(arrays),
            Exp::Contract { sizes, rank, left, right, plus, triangles } => {
                let types = self.contract(sizes, *rank, left, right)?;
                if triangles.iter().any(|t| t.low == t.high || t.low.max(t.high) >= sizes.len()) {
                    self.error("a triangle has two different axes of the contraction");
                }
                if let Some(array) = plus {
                    self.expect_type((*array).into(), &types[0], "what is added to");
                    if [left, right].iter().any(|o| self.may_share(*array, o.array.into())) {
                        self.error("an operand shares elements with the array that is added to");
                    }
                    self.consume(*array);
                }
                Some(types)
            }
            Exp::Scratch { elem, dims } => {
                self.sizes(dims, "size");
                Some(vec![Type::array(*elem, dims.clone())])
            }
            Exp::ArrayLit { row, elems } => {
                self.sizes(&row.all_dims(), "size");
                elems.iter().for_each(|e| self.expect_type(*e, row, "element"));
                Some(vec![row.with_outer(&[Atom::i64(elems.len() as i64)])])
            }
            Exp::Assert { cond, message } => {
                self.expect_type(*cond, &Type::BOOL, "condition");
                for part in message {
                    if let MsgPart::Value(value) = part {
                        self.atom(*value);
                    }
                }
                Some(vec![])
            }
            Exp::Trace { values, .. } => values.iter().map(|v| self.atom(*v)).collect(),
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } => self.bulk(exp),
            Exp::Scatter { .. } | Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => self.bulk(exp),
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Transpose { .. } => {
                self.expect_forms();
                self.derivative(exp)
            }
            Exp::Detach(a) => {
                self.expect_forms();
                Some(vec![self.atom(*a)?])
            }
            Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => None,
        }
    }

    fn update(&mut self, array: VarId, dims: &[DimSlice], value: Atom) -> Option<Vec<Type>> {
        let (elem, shape) = self.array(array)?;
        let part = self.slice_type(elem, &shape, dims)?;
        self.expect_type(value, &part, "the new value");
        if self.may_share(array, value) {
            self.error("the new value shares elements with the array that is updated");
        }
        self.consume(array);
        Some(vec![Type::array(elem, shape)])
    }

    fn rearrange(&mut self, perm: &[usize], array: VarId) -> Option<Vec<Type>> {
        let (elem, dims) = self.array(array)?;
        let mut sorted = perm.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..dims.len()) {
            self.error(format!("not a permutation of {} dimensions", dims.len()));
            return None;
        }
        Some(vec![Type::array(elem, perm.iter().map(|p| dims[*p]).collect())])
    }

    fn contract(&mut self, sizes: &[Atom], rank: usize, left: &AxesOf, right: &AxesOf) -> Option<Vec<Type>> {
        self.sizes(sizes, "size");
        let mut elems = Vec::new();
        for operand in [left, right] {
            let (elem, dims) = self.array(operand.array)?;
            elems.push(elem);
            let own: Option<Vec<Atom>> = operand.axes.iter().map(|axis| sizes.get(*axis).copied()).collect();
            if own.as_ref() != Some(&dims) {
                self.error(format!("the axes of {} have other sizes", self.name(operand.array)));
            }
            let distinct: BTreeSet<usize> = operand.axes.iter().copied().collect();
            if distinct.len() != operand.axes.len() {
                self.error(format!("{} has an axis twice", self.name(operand.array)));
            }
        }
        let is_used = |axis: usize| {
            let (of_left, of_right) = (left.axes.contains(&axis), right.axes.contains(&axis));
            if axis < rank { of_left || of_right } else { of_left && of_right }
        };
        if rank == 0 || rank > sizes.len() || !(0..sizes.len()).all(is_used) {
            self.error(
                "a contraction gives an array; its axes belong to an operand, those of the sum to both",
            );
            return None;
        }
        if elems[0] != elems[1] || !matches!(elems[0], PrimType::F32 | PrimType::F64) {
            self.error("a contraction is of two arrays of f32 or of f64");
        }
        Some(vec![Type::array(elems[0], sizes[..rank].to_vec())])
    }

    fn scalar(&mut self, exp: &Exp) -> Option<Vec<Type>> {
        let (operands, ty, ill_typed, result) = match exp {
            Exp::UnOp(op, ty, a) => {
                let tried = eval_unop(*op, Prim::one(*ty));
                (vec![(*a, *ty)], *ty, tried == Err(PrimError::IllTyped), op.result(*ty))
            }
            Exp::BinOp(op, ty, a, b) => {
                let second = op.second(*ty);
                let tried = eval_binop(*op, Prim::one(*ty), Prim::one(second));
                (vec![(*a, *ty), (*b, second)], *ty, tried == Err(PrimError::IllTyped), *ty)
            }
            Exp::TernOp(op, ty, [a, b, c]) => {
                let one = Prim::one(*ty);
                let tried = eval_ternop(*op, one, one, one);
                (vec![(*a, *ty), (*b, *ty), (*c, *ty)], *ty, tried == Err(PrimError::IllTyped), *ty)
            }
            Exp::CmpOp(op, ty, a, b) => {
                let tried = eval_cmpop(*op, Prim::one(*ty), Prim::one(*ty));
                (vec![(*a, *ty), (*b, *ty)], *ty, tried.is_err(), PrimType::Bool)
            }
            Exp::Convert(from, to, a) => (vec![(*a, *from)], *from, false, *to),
            _ => return None,
        };
        for (operand, ty) in operands {
            self.expect_type(operand, &Type::Prim(ty), "operand");
        }
        if ill_typed {
            self.error(format!("the operation does not exist for {ty}"));
        }
        Some(vec![Type::Prim(result)])
    }

    fn slice_type(&mut self, elem: PrimType, shape: &[Atom], dims: &[DimSlice]) -> Option<Type> {
        let Some(rest) = shape.get(dims.len()..) else {
            self.error(format!("{} indices for {} dimensions", dims.len(), shape.len()));
            return None;
        };
        let mut result = Vec::new();
        for dim in dims {
            match dim {
                DimSlice::Fix(i) => self.size(*i, "index"),
                DimSlice::Range { start, len, stride } => {
                    self.sizes(&[*start, *len, *stride], "part of a slice");
                    result.push(*len);
                }
            }
        }
        result.extend_from_slice(rest);
        Some(Type::array(elem, result))
    }

    fn concat(&mut self, arrays: &[VarId]) -> Option<Vec<Type>> {
        let types: Option<Vec<_>> = arrays.iter().map(|a| self.array(*a)).collect();
        let types = types?;
        let Some((elem, dims)) = types.first() else {
            self.error("a concatenation of nothing");
            return None;
        };
        for (other, other_dims) in &types {
            let (row, first) =
                (Type::array(*other, other_dims[1..].to_vec()), Type::array(*elem, dims[1..].to_vec()));
            self.expect_same(&row, &first, "a row");
        }
        Some(vec![Type::array(*elem, dims.clone())])
    }

    fn if_exp(&mut self, stm: &'p Stm, cond: Atom, then: &'p Body, otherwise: &'p Body) {
        self.expect_type(cond, &Type::BOOL, "condition");
        let before = self.consumed.clone();
        let mut after = before.clone();
        let mut shared: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); stm.pat.len()];
        for branch in [then, otherwise] {
            self.consumed = before.clone();
            let wanted: Vec<Type> =
                stm.pat.iter().map(|p| substitute(&p.ty, &stm.pat, &branch.result)).collect();
            self.body_with(branch, |v| {
                v.check_results(&branch.result, &wanted);
                for (shared, result) in shared.iter_mut().zip(&branch.result) {
                    shared.extend(v.roots_of(*result));
                }
            });
            after.extend(self.consumed.drain());
        }
        // What one branch consumes, the other may give back: nobody else can use it after the branches, but several
        // results may share it.
        for root in after.difference(&before) {
            let sharing = stm.pat.iter().zip(&mut shared).filter(|(_, roots)| roots.contains(root));
            let mut owner = None;
            for (param, roots) in sharing {
                roots.remove(root);
                roots.insert(*owner.get_or_insert(param.var));
            }
        }
        self.consumed = after;
        self.bind_pattern(&stm.pat);
        for (param, roots) in stm.pat.iter().zip(shared) {
            self.share(param, roots);
        }
    }

    fn loop_exp(&mut self, stm: &'p Stm, params: &'p [(Param, Atom)], form: &'p LoopForm, body: &'p Body) {
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let inits: Vec<Atom> = params.iter().map(|(_, init)| *init).collect();
        for (param, init) in params {
            self.expect_type(*init, &substitute(&param.ty, &own, &inits), "initial value");
        }
        if let LoopForm::For { ty, bound, .. } = form {
            self.expect_type(*bound, &Type::Prim(*ty), "bound");
        }
        let before = self.consumed.clone();
        let mut shared: Vec<BTreeSet<VarId>> = Vec::new();
        let consumed_params = self.scoped(|v| {
            own.iter().for_each(|p| v.bind(p));
            match form {
                LoopForm::For { var, ty, .. } => v.bind_var(*var, Type::Prim(*ty)),
                LoopForm::While { cond } => {
                    v.body_with(cond, |v| v.check_results(&cond.result, &[Type::BOOL]))
                }
            }
            v.body_with(body, |v| {
                let wanted: Vec<Type> = own.iter().map(|p| substitute(&p.ty, &own, &body.result)).collect();
                v.check_results(&body.result, &wanted);
                shared = body.result.iter().map(|r| v.roots_of(*r)).collect();
            });
            own.iter().map(|p| v.consumed.contains(&p.var)).collect::<Vec<bool>>()
        });
        self.forbid_outer_consumption(&before, "the loop");
        let roots: Vec<BTreeSet<VarId>> = inits.iter().map(|i| self.roots_of(*i)).collect();
        for (init, consumed) in inits.iter().zip(&consumed_params) {
            if *consumed {
                self.consume_atom(*init);
            }
        }
        let results: Vec<Atom> = stm.pat.iter().map(|p| p.var.into()).collect();
        self.bind_pattern(&stm.pat);
        if self.expect_count(stm.pat.len(), own.len(), "variables in the pattern") {
            for (i, param) in stm.pat.iter().enumerate() {
                let wanted = substitute(&own[i].ty, &own, &results);
                self.expect_same(&param.ty, &wanted, &format!("the variable {}", self.name(param.var)));
                if !consumed_params[i] {
                    self.share(param, roots[i].clone());
                }
                self.share(param, shared.get(i).cloned().unwrap_or_default());
            }
        }
    }

    fn call(&mut self, stm: &'p Stm, id: FunId, args: &'p [Atom]) {
        let arg_types: Vec<Option<Type>> = args.iter().map(|a| self.atom(*a)).collect();
        let roots: Vec<BTreeSet<VarId>> = args.iter().map(|a| self.roots_of(*a)).collect();
        let program = self.program;
        let Some(fun) = program.fun(id) else {
            self.error("there is no such function");
            return self.bind_pattern(&stm.pat);
        };
        if self.expect_count(args.len(), fun.params.len(), "arguments") {
            for (ty, param) in arg_types.into_iter().zip(&fun.params) {
                let wanted = substitute(&param.ty, &fun.params, args);
                if let Some(ty) = ty {
                    self.expect_same(&ty, &wanted, &format!("the argument for {}", self.name(param.var)));
                }
            }
        }
        let effects = self.effects.get(id.0 as usize).cloned().unwrap_or_default();
        for position in &effects.consumes {
            if let Some(arg) = args.get(*position) {
                self.consume_atom(*arg);
            }
        }
        self.bind_pattern(&stm.pat);
        let results: Vec<Atom> = stm.pat.iter().map(|p| p.var.into()).collect();
        if self.expect_count(stm.pat.len(), fun.ret.len(), "variables in the pattern") {
            for (i, (param, ret)) in stm.pat.iter().zip(&fun.ret).enumerate() {
                let wanted = substitute(&substitute(&ret.ty, &fun.params, args), &fun.ret, &results);
                self.expect_same(&param.ty, &wanted, &format!("the variable {}", self.name(param.var)));
                let shared = effects.shares.get(i).into_iter().flatten();
                self.share(param, shared.filter_map(|p| roots.get(*p)).flatten().copied().collect());
            }
        }
    }
}
