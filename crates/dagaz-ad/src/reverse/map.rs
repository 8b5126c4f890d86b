//! Reverse mode of `map` (thesis, section 3.4.5).
//!
//!     ys = map f xs        xs_adj += map (\x y_ct -> adjoint of x) xs ys_ct
//!
//! A free scalar gets the sum of what the iterations contribute; a free array becomes an accumulator, to which
//! the iterations add.

use dagaz_core::exp::{Exp, Lambda, Loc};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_lambda;

use std::collections::HashMap;

use crate::context::{Ad, Adj, Res};
use crate::rename::Renamer;

use super::adjoint::acc_type;
use super::one_hot::OneHotRows;

/// What a map in the return sweep is about.
struct MapReturn<'a> {
    width: Atom,
    arrays: &'a [VarId],
    lambda: &'a Lambda,
    cts: &'a [Option<Atom>],
    /// Free arrays, whose adjoints are accumulators.
    free_arrays: Vec<VarId>,
    free_scalars: Vec<VarId>,
    loc: Loc,
}

/// The cotangent of a row.
enum RowCt {
    Row(VarId),
    /// It is zero but in one place.
    OneHot {
        at: VarId,
        value: VarId,
    },
}

impl Ad<'_> {
    pub fn rev_map(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
        cts: &[Option<Atom>],
        loc: Loc,
    ) -> Res<()> {
        if let Some(hot) = self.one_hot(arrays, cts) {
            return self.rev_map_once(arrays, lambda, cts, hot, loc);
        }
        let free = self.active_among(free_vars_lambda(lambda));
        let (free_arrays, free_scalars): (Vec<VarId>, Vec<VarId>) =
            free.into_iter().partition(|v| self.ty_var(*v).is_array());
        let job = MapReturn { width, arrays, lambda, cts, free_arrays, free_scalars, loc };
        let to_wrap = job.free_arrays.iter().copied();
        let to_wrap: Vec<VarId> =
            to_wrap.filter(|v| !matches!(self.sweep.adj.get(v), Some(Adj::Acc(_)))).collect();
        let results =
            if to_wrap.is_empty() { self.return_map(&job)? } else { self.with_accumulators(&to_wrap, &job)? };
        let active: Vec<VarId> = self.active_rows(&job).into_iter().map(|(array, _)| array).collect();
        let (rows, scalars) = results.split_at(active.len());
        for (array, adjoint) in active.iter().zip(rows) {
            self.add_adj(*array, (*adjoint).into(), loc);
        }
        for (var, contributions) in job.free_scalars.iter().zip(scalars) {
            let ty = self.ty_var(*var);
            let sum = self.sum_rows(width, *contributions, &ty, loc);
            self.add_adj(*var, sum, loc);
        }
        Ok(())
    }

    /// The arrays whose rows have adjoints, with the parameters for the rows.
    fn active_rows<'a>(&self, job: &MapReturn<'a>) -> Vec<(VarId, &'a Param)> {
        let rows = job.arrays.iter().copied().zip(&job.lambda.params);
        rows.filter(|(array, p)| self.is_active_var(*array) && !p.ty.is_acc()).collect()
    }

    /// The map inside `with_acc` over the adjoints of the arrays.
    fn with_accumulators(&mut self, to_wrap: &[VarId], job: &MapReturn<'_>) -> Res<Vec<VarId>> {
        let loc = job.loc;
        let types: Vec<Type> = to_wrap.iter().map(|v| self.ty_var(*v)).collect();
        let mut inputs = Vec::new();
        let mut params = Vec::new();
        for (var, ty) in to_wrap.iter().zip(&types) {
            let base = self.adjoint(*var, loc);
            let base = self.as_var("adj", base, loc);
            inputs.push(self.sum_input(base, ty, loc));
            params.push(self.param("acc", acc_type(ty)));
        }
        // Accumulators from further out go through, as further results.
        let outer: Vec<VarId> = job.free_arrays.iter().copied().filter(|v| !to_wrap.contains(v)).collect();
        let outer_types: Vec<Type> = outer.iter().map(|v| acc_type(&self.ty_var(*v))).collect();
        for (var, param) in to_wrap.iter().zip(&params) {
            self.sweep.adj.insert(*var, Adj::Acc(param.var));
        }
        let (stms, results) = self.scope(|ad| ad.return_map(job))?;
        let acc_of = |ad: &mut Self, var: &VarId| ad.adjoint(*var, loc);
        let mut result: Vec<Atom> = to_wrap.iter().map(|v| acc_of(self, v)).collect();
        result.extend(outer.iter().map(|v| acc_of(self, v)));
        let mut results = results;
        let known: Vec<(usize, OneHotRows)> = (results.iter().enumerate())
            .filter_map(|(k, var)| Some((k, *self.sweep.one_hot_rows.get(var)?)))
            .collect();
        results.extend(known.iter().flat_map(|(_, rows)| [rows.at, rows.values]));
        result.extend(results.iter().map(|v| Atom::from(*v)));
        let rest: Vec<Type> = results.iter().map(|v| self.ty_var(*v)).collect();
        let ret = types.iter().map(acc_type).chain(outer_types.clone()).chain(rest.clone()).collect();
        let body = dagaz_core::exp::Body { stms, result };
        let exp = Exp::WithAcc { inputs, lambda: Lambda { params, body, ret } };
        let all: Vec<Type> = types.into_iter().chain(outer_types).chain(rest).collect();
        let vars = self.let_exps("adj", &all, exp, loc);
        let (summed, others) = vars.split_at(to_wrap.len());
        for (var, adjoint) in to_wrap.iter().zip(summed) {
            self.sweep.adj.insert(*var, Adj::Value((*adjoint).into()));
        }
        let (accs, results) = others.split_at(outer.len());
        for (var, acc) in outer.iter().zip(accs) {
            self.sweep.adj.insert(*var, Adj::Acc(*acc));
        }
        let (results, more) = results.split_at(results.len() - 2 * known.len());
        for ((k, _), rows) in known.iter().zip(more.chunks_exact(2)) {
            self.sweep.one_hot_rows.insert(results[*k], OneHotRows { at: rows[0], values: rows[1] });
        }
        Ok(results.to_vec())
    }

    /// Parameters for the rows of a cotangent.
    fn row_of(&mut self, ct: VarId, ty: &Type, params: &mut Vec<Param>, arrays: &mut Vec<VarId>) -> RowCt {
        let elem = ty.elem().filter(|_| ty.rank() == 1);
        if let (Some(known), Some(elem)) = (self.sweep.one_hot_rows.get(&ct).copied(), elem) {
            let (at, value) = (self.param("at", Type::I64), self.param("ct", elem.into()));
            let row = RowCt::OneHot { at: at.var, value: value.var };
            params.extend([at, value]);
            arrays.extend([known.at, known.values]);
            return row;
        }
        let param = self.param("ct", ty.clone());
        let row = RowCt::Row(param.var);
        params.push(param);
        arrays.push(ct);
        row
    }

    /// Adjoints of rows, then contributions to free scalars. The adjoints of free arrays are accumulators here.
    fn return_map(&mut self, job: &MapReturn<'_>) -> Res<Vec<VarId>> {
        let loc = job.loc;
        let mut renamer = Renamer::again(self, HashMap::new());
        let copy = renamer.lambda(job.lambda);
        let (mut params, mut arrays) = (Vec::new(), Vec::new());
        for (param, array) in copy.params.iter().zip(job.arrays) {
            match self.sweep.acc_adj.get(array).cloned() {
                Some(cts) => {
                    self.sweep.acc_adj.insert(param.var, cts);
                }
                None => {
                    params.push(param.clone());
                    arrays.push(*array);
                }
            }
        }
        let mut row_cts = Vec::new();
        for (ct, ty) in job.cts.iter().zip(&job.lambda.ret) {
            row_cts.push(ct.map(|ct| {
                let ct = self.as_var("ct", ct, loc);
                self.row_of(ct, ty, &mut params, &mut arrays)
            }));
        }
        let outer = std::mem::take(&mut self.sweep.adj);
        for var in &job.free_arrays {
            let param = self.param("acc", acc_type(&self.ty_var(*var)));
            if let Some(Adj::Acc(acc)) = outer.get(var) {
                arrays.push(*acc);
            }
            self.sweep.adj.insert(*var, Adj::Acc(param.var));
            params.push(param);
        }
        let rows: Vec<VarId> = (job.arrays.iter().zip(&copy.params))
            .filter(|(array, p)| self.is_active_var(**array) && !p.ty.is_acc())
            .map(|(_, p)| p.var)
            .collect();
        let mut ret: Vec<Type> = job.free_arrays.iter().map(|v| acc_type(&self.ty_var(*v))).collect();
        ret.extend(rows.iter().chain(&job.free_scalars).map(|v| self.ty_var(*v)));
        let mut known = Vec::new();
        let body = self.body(|ad| {
            let mut cts = Vec::with_capacity(row_cts.len());
            for (ct, ty) in row_cts.into_iter().zip(&job.lambda.ret) {
                cts.push(match ct {
                    Some(RowCt::Row(row)) => Some(row.into()),
                    Some(RowCt::OneHot { at, value }) => {
                        Some(ad.one_hot_vector(at.into(), value.into(), ty, loc)?)
                    }
                    None => None,
                });
            }
            ad.sweep(&copy.body, &cts, loc)?;
            let all = job.free_arrays.iter().chain(&rows).chain(&job.free_scalars);
            let mut result: Vec<Atom> = all.map(|v| ad.adjoint(*v, loc)).collect();
            known = ad.known_one_hots(&result);
            result.extend(known.iter().flat_map(|(_, hot)| [hot.at, hot.value]));
            Ok(result)
        })?;
        self.sweep.adj = outer;
        for (_, hot) in &known {
            ret.extend([Type::I64, self.ty(hot.value)]);
        }
        let types: Vec<Type> = ret.iter().map(|t| t.with_outer(&[job.width])).collect();
        let exp = Exp::Map { width: job.width, arrays, lambda: Lambda { params, body, ret } };
        let mut vars = self.let_exps("adj", &types, exp, loc);
        let more = vars.split_off(vars.len() - 2 * known.len());
        for ((k, _), row) in known.iter().zip(more.chunks_exact(2)) {
            self.sweep.one_hot_rows.insert(vars[*k], OneHotRows { at: row[0], values: row[1] });
        }
        let (accs, results) = vars.split_at(job.free_arrays.len());
        for (var, acc) in job.free_arrays.iter().zip(accs) {
            self.sweep.adj.insert(*var, Adj::Acc(*acc));
        }
        Ok(results.to_vec())
    }
}
