//! Forward mode as `linearize` wants it: so that the primal can be split off.
//!
//! The tangent of a reduction with any operator ⊙ is the sum of what each element contributes, with `l` the combination of
//! everything before it and `r` that of everything after it, which are residuals (cf. [`crate::reverse`]):
//!
//!     y_tan = sum (map (\l x r x_tan -> tangent of l ⊙ x ⊙ r) ls xs rs xs_tan)
//!
//! That of a minimum or maximum is the tangent of the element that it is. A `while` loop is run once to count its
//! iterations and then is a `for` loop, whose residuals have a place.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, LoopForm, Stm};
use dagaz_core::operator::ScalarOperator;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_lambda;

use crate::context::{Ad, Res, is_plus};
use crate::rename::Renamer;
use crate::reverse::{Fold, extremum};

impl Ad<'_> {
    /// The rule for a reduction, unless there is something simpler or nothing better.
    pub fn linear_reduce(&mut self, stm: &Stm) -> Res<bool> {
        let Exp::Reduce { width, arrays, op, neutral, .. } = &stm.exp else { return Ok(false) };
        let depends = free_vars_lambda(op).iter().any(|v| self.is_active_var(*v));
        if is_plus(op) || depends || neutral.iter().any(|a| self.is_active(*a)) {
            return Ok(false);
        }
        self.push(stm.clone());
        let fold = Fold { n: *width, arrays, op, neutral, loc: stm.loc };
        match extremum(op) {
            Some(known) => self.tangent_of_extremum(stm, &fold, known)?,
            None => self.tangents_of_elements(stm, &fold)?,
        }
        Ok(true)
    }

    fn tangent_of_extremum(&mut self, stm: &Stm, fold: &Fold<'_>, known: ScalarOperator) -> Res<()> {
        let (loc, row) = (fold.loc, stm.pat[0].ty.clone());
        let at: Atom = self.place_of_extremum(fold, known)?.into();
        let tangents = self.tan_var(fold.arrays[0], loc);
        let cond = self.b.le(PrimType::I64, Atom::i64(0), at, loc);
        let then = self.body(|ad| {
            let exp = Exp::Index { array: tangents, indices: vec![at], check: Check::Certified };
            Ok(vec![ad.let_exp("tan", row.clone(), exp, loc)])
        })?;
        let zero = Prim::zero(row.elem().unwrap_or(PrimType::F64)).into();
        let otherwise = Body { stms: Vec::new(), result: vec![zero] };
        self.set_tan(stm, Exp::If { cond, then, otherwise });
        Ok(())
    }

    fn tangents_of_elements(&mut self, stm: &Stm, fold: &Fold<'_>) -> Res<()> {
        let (n, loc, rows) = (fold.n, fold.loc, &fold.op.ret);
        let op = Renamer::new(self, HashMap::new()).lambda(fold.op);
        let scanned = self.scanned(n, fold.arrays.to_vec(), op, fold.neutral.to_vec(), loc);
        let lefts = self.shifted(n, &scanned, rows, fold.neutral, loc);
        let rights = self.combined_after(fold);
        let [l, x, r] = ["l", "x", "r"].map(|hint| self.params(hint, rows));
        let mut params = [l.clone(), x.clone(), r.clone()].concat();
        let mut inputs = [lefts.as_slice(), fold.arrays, &rights].concat();
        for (param, array) in x.iter().zip(fold.arrays) {
            if self.is_active_var(*array) {
                self.forward.active.insert(param.var);
                params.push(self.tan_param(param));
                inputs.push(self.tan_var(*array, loc));
            }
        }
        let active: Vec<usize> = (0..rows.len()).filter(|i| self.is_active_var(stm.pat[*i].var)).collect();
        let ret: Vec<Type> = active.iter().map(|i| rows[*i].clone()).collect();
        let lambda = self.lambda(params, ret.clone(), |ad| {
            let middle = ad.fwd_applied(fold, &atoms(&l), &atoms(&x))?;
            let all = ad.fwd_applied(fold, &middle, &atoms(&r))?;
            Ok(active.iter().map(|i| ad.tan_of(all[*i], loc)).collect())
        })?;
        let types: Vec<Type> = ret.iter().map(|ty| ty.with_outer(&[n])).collect();
        let contributions = self.let_exps("tan", &types, Exp::Map { width: n, arrays: inputs, lambda }, loc);
        self.forward.linear_vars.extend(&contributions);
        for (i, contribution) in active.iter().zip(contributions) {
            let (op, zero) = (self.plus_lambda(&rows[*i], loc), self.zero(&rows[*i], loc));
            // It belongs to the linear program, where it counts as zero.
            self.forward.linear_vars.extend(zero.as_var());
            let (arrays, neutral) = (vec![contribution], vec![zero]);
            let exp = Exp::Reduce { width: n, arrays, pre: None, op, neutral, commutative: true };
            let sum = self.let_exp("tan", rows[*i].clone(), exp, loc);
            self.forward.tan.insert(stm.pat[*i].var, sum);
        }
        Ok(())
    }

    /// `x ⊙ y` with tangents, in the scope that is open.
    fn fwd_applied(&mut self, fold: &Fold<'_>, xs: &[Atom], ys: &[Atom]) -> Res<Vec<Atom>> {
        let operands = xs.iter().chain(ys).copied();
        let map: HashMap<VarId, Atom> = fold.op.params.iter().map(|p| p.var).zip(operands).collect();
        let copy = Renamer::new(self, map).body(&fold.op.body);
        self.fwd_stms(&copy.stms)?;
        Ok(copy.result)
    }

    /// A `while` loop as a `for` loop.
    pub fn counted(&mut self, stm: &Stm) -> Res<Stm> {
        let Exp::Loop { params, form: LoopForm::While { cond }, body, hints } = &stm.exp else {
            return Ok(stm.clone());
        };
        let bound = self.count_iterations(params, cond, body, stm.loc)?;
        let var = self.b.fresh("i");
        self.b.types.insert(var, Type::I64);
        let form = LoopForm::For { var, ty: PrimType::I64, bound };
        let exp = Exp::Loop { params: params.clone(), form, body: body.clone(), hints: *hints };
        Ok(Stm { exp, ..stm.clone() })
    }
}

fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}
