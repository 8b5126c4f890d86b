//! Branches, loops and maps whose results or parameters are known without running them.

use std::collections::HashSet;

use dagaz_core::dead::keep;
use dagaz_core::exp::{Body, Exp, Lambda, Loc, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{Rewrite, Simplifier};

impl Simplifier {
    pub(super) fn branch(&mut self, cond: Atom, then: &Body, otherwise: &Body, loc: Loc) -> Option<Rewrite> {
        if let Atom::Const(Prim::Bool(cond)) = cond {
            return Some(Rewrite::Splice(if cond { then.clone() } else { otherwise.clone() }));
        }
        if let Some(atom) = self.connective(cond, then, otherwise, loc) {
            return Some(Rewrite::Alias(vec![atom]));
        }
        if !then.stms.is_empty() || !otherwise.stms.is_empty() {
            return None;
        }
        if then.result == otherwise.result {
            return Some(Rewrite::Alias(then.result.clone()));
        }
        let (yes, no) = (Atom::bool(true), Atom::bool(false));
        match (&then.result[..], &otherwise.result[..]) {
            ([a], [b]) if (*a, *b) == (yes, no) => Some(Rewrite::Alias(vec![cond])),
            ([a], [b]) if (*a, *b) == (no, yes) => {
                Some(Rewrite::Become(Box::new(Exp::UnOp(UnOp::Not, PrimType::Bool, cond))))
            }
            _ => None,
        }
    }

    /// `if a then b else false` is `a and b` where `b` takes next to no work and cannot fail: without the branch, parts that
    /// are the same in every iteration can move out of it.
    fn connective(&mut self, cond: Atom, then: &Body, otherwise: &Body, loc: Loc) -> Option<Atom> {
        let ([a], [b]) = (&then.result[..], &otherwise.result[..]) else { return None };
        let (is_then_known, known) = match (a, b) {
            (Atom::Var(_), Atom::Const(Prim::Bool(b))) if otherwise.stms.is_empty() => (false, *b),
            (Atom::Const(Prim::Bool(a)), Atom::Var(_)) if then.stms.is_empty() => (true, *a),
            _ => return None,
        };
        let (computed, result) = if is_then_known { (otherwise, *b) } else { (then, *a) };
        if computed.stms.len() > 4 || !computed.stms.iter().all(|stm| is_slight(&stm.exp)) {
            return None;
        }
        computed.stms.iter().for_each(|stm| self.b.push(stm.clone()));
        // The known result is that of the operator when the condition decides.
        let operator = if known { BinOp::Or } else { BinOp::And };
        let cond = match is_then_known == known {
            true => cond,
            false => self.emit("not", Type::BOOL, Exp::UnOp(UnOp::Not, PrimType::Bool, cond), loc),
        };
        Some(self.emit(operator.name(), Type::BOOL, Exp::BinOp(operator, PrimType::Bool, cond, result), loc))
    }

    /// Results that are the same atom whichever branch is taken.
    pub(super) fn same_in_both(&mut self, stm: &mut Stm) {
        let Exp::If { then, otherwise, .. } = &mut stm.exp else { return };
        let differs: Vec<bool> = then.result.iter().zip(&otherwise.result).map(|(a, b)| a != b).collect();
        if differs.iter().all(|d| *d) {
            return;
        }
        for (param, (atom, differs)) in stm.pat.iter().zip(then.result.iter().zip(&differs)) {
            if !differs {
                self.subst.insert(param.var, *atom);
            }
        }
        keep(&mut then.result, &differs);
        keep(&mut otherwise.result, &differs);
        keep(&mut stm.pat, &differs);
        self.subst.params(&mut stm.pat);
    }

    /// Results of a use of accumulators that are bound outside of it.
    pub(super) fn results_from_outside(&mut self, stm: &mut Stm) {
        let Exp::WithAcc { inputs, lambda } = &mut stm.exp else { return };
        let bound: HashSet<VarId> = lambda.params.iter().map(|p| p.var).collect();
        let made = |var: VarId| lambda.body.stms.iter().any(|stm| stm.pat.iter().any(|p| p.var == var));
        let is_inside = |atom: &Atom| atom.as_var().is_some_and(|var| bound.contains(&var) || made(var));
        let arrays: usize = inputs.iter().map(|input| input.arrays.len()).sum();
        let results = &lambda.body.result[inputs.len()..];
        let stays: Vec<bool> = results.iter().map(is_inside).collect();
        if stays.iter().all(|stays| *stays) {
            return;
        }
        for ((param, atom), stays) in stm.pat[arrays..].iter().zip(results).zip(&stays) {
            if !stays {
                self.subst.insert(param.var, *atom);
            }
        }
        let with = |count: usize| [vec![true; count], stays.clone()].concat();
        let (of_pat, of_lambda) = (with(arrays), with(inputs.len()));
        keep(&mut lambda.ret, &of_lambda);
        keep(&mut lambda.body.result, &of_lambda);
        keep(&mut stm.pat, &of_pat);
        self.subst.params(&mut stm.pat);
    }

    /// Parameters of a loop that every iteration passes on as they are.
    pub(super) fn invariant_params(&mut self, stm: &mut Stm) {
        let Exp::Loop { params, body, .. } = &mut stm.exp else { return };
        let own: Vec<VarId> = params.iter().map(|(p, _)| p.var).collect();
        let mut changes = Vec::with_capacity(params.len());
        for ((param, init), result) in params.iter().zip(&body.result) {
            // The type of the parameter may name other parameters, where that of the initial value has their values.
            let is_plain = !param.ty.is_acc()
                && param.ty.dims().iter().all(|d| !own.iter().any(|var| *d == Atom::Var(*var)));
            let is_invariant = *result == Atom::Var(param.var) && is_plain && self.same_type(param, *init);
            changes.push(!is_invariant);
        }
        if changes.iter().all(|c| *c) {
            return;
        }
        for (((param, init), bound), changes) in params.iter().zip(&stm.pat).zip(&changes) {
            if !changes {
                self.subst.insert(param.var, *init);
                self.subst.insert(bound.var, *init);
            }
        }
        keep(params, &changes);
        keep(&mut body.result, &changes);
        keep(&mut stm.pat, &changes);
    }

    fn same_type(&self, param: &Param, atom: Atom) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(var) => self.types.get(&var).is_some_and(|ty| {
                let own = param.ty.map_dims(&mut |d| self.subst.of(d));
                *ty == own
            }),
        }
    }

    /// Rows that are the same in every iteration, or the same as those of another array; and rows full of an element of another
    /// array, which is read instead.
    pub(super) fn known_rows(&mut self, arrays: &mut Vec<VarId>, lambda: &mut Lambda, loc: Loc) {
        for (array, param) in arrays.iter_mut().zip(&mut lambda.params) {
            if let Some((source, dims)) = self.broadcast.get(array).cloned()
                && let Some(ty) = self.types.get(&source).and_then(Type::row)
            {
                *array = source;
                let element = Param { var: self.b.fresh("elem"), ty };
                let row = std::mem::replace(param, element);
                let exp = Exp::Replicate { dims, value: param.var.into() };
                lambda.body.stms.insert(0, Stm { pat: vec![row], exp, loc });
            }
        }
        let mut needed = Vec::with_capacity(arrays.len());
        for (i, (array, param)) in arrays.iter().zip(&lambda.params).enumerate() {
            let row = match self.defs.get(array) {
                _ if param.ty.is_acc() => None,
                Some(Exp::Replicate { dims, value }) if dims.len() == 1 => Some(*value),
                Some(Exp::Replicate { dims, value }) => {
                    let exp = Exp::Replicate { dims: dims[1..].to_vec(), value: *value };
                    Some(self.emit("row", param.ty.clone(), exp, loc))
                }
                _ => arrays[..i].iter().position(|a| a == array).map(|j| lambda.params[j].var.into()),
            };
            needed.push(row.is_none());
            if let Some(row) = row {
                self.subst.insert(param.var, row);
            }
        }
        keep(arrays, &needed);
        keep(&mut lambda.params, &needed);
    }

    /// Results of a map that are rows as they came, or the same in every iteration, or the same as another one.
    pub(super) fn plain_results(&mut self, stm: &mut Stm) {
        let Exp::Map { width, arrays, lambda } = &mut stm.exp else { return };
        let mut computed = Vec::with_capacity(stm.pat.len());
        let mut replicated = Vec::new();
        let stms = lambda.body.stms.iter().flat_map(|stm| &stm.pat);
        let bound: HashSet<VarId> = lambda.params.iter().chain(stms).map(|p| p.var).collect();
        let is_bound = |atom: Atom| atom.as_var().is_some_and(|var| bound.contains(&var));
        for (i, (param, result)) in stm.pat.iter().zip(&lambda.body.result).enumerate() {
            let twin = lambda.body.result[..i].iter().position(|earlier| earlier == result);
            let own = lambda.params.iter().position(|p| *result == Atom::Var(p.var));
            let same_array = own.map(|i| arrays[i]).filter(|a| self.types.get(a) == Some(&param.ty));
            let is_known = match (param.ty.is_acc(), same_array, result) {
                (true, ..) => false,
                (false, None, _) if let Some(twin) = twin.filter(|i| stm.pat[*i].ty == param.ty) => {
                    self.subst.insert(param.var, stm.pat[twin].var.into());
                    true
                }
                (false, Some(array), _) => {
                    self.subst.insert(param.var, array.into());
                    true
                }
                (false, None, _) if !is_bound(*result) => {
                    replicated.push((param.clone(), vec![*width], *result));
                    true
                }
                (false, None, _) => match filled(lambda, *result) {
                    Some((dims, _)) if dims.iter().any(|dim| is_bound(*dim)) => false,
                    Some((dims, value)) if !is_bound(value) => {
                        replicated.push((param.clone(), [&[*width], dims].concat(), value));
                        true
                    }
                    Some((dims, value)) => {
                        let own = lambda.params.iter().position(|p| value == Atom::Var(p.var));
                        if let Some(own) = own.filter(|own| !lambda.params[*own].ty.is_acc()) {
                            self.broadcast.insert(param.var, (arrays[own], dims.to_vec()));
                        }
                        false
                    }
                    None => false,
                },
            };
            computed.push(!is_known);
        }
        if computed.iter().all(|c| *c) {
            return;
        }
        keep(&mut lambda.ret, &computed);
        keep(&mut lambda.body.result, &computed);
        keep(&mut stm.pat, &computed);
        for (param, dims, value) in replicated {
            let exp = Exp::Replicate { dims, value };
            self.stm(Stm { pat: vec![param], exp, loc: stm.loc });
        }
    }
}

/// The sizes of a result that is an array full of one value, and the value.
fn filled(lambda: &Lambda, result: Atom) -> Option<(&[Atom], Atom)> {
    let is_result = |stm: &&Stm| stm.pat.iter().any(|p| result == Atom::Var(p.var));
    match &lambda.body.stms.iter().find(is_result)?.exp {
        Exp::Replicate { dims, value } => Some((dims, *value)),
        _ => None,
    }
}

/// Comparisons and sums, which cost less than a branch.
fn is_slight(exp: &Exp) -> bool {
    match exp {
        Exp::CmpOp(..) | Exp::Atom(_) => true,
        Exp::UnOp(op, ..) => matches!(op, UnOp::Not | UnOp::Neg),
        Exp::BinOp(op, ..) => {
            matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor)
        }
        Exp::Convert(from, to, _) => from.is_int() && to.is_int(),
        _ => false,
    }
}
