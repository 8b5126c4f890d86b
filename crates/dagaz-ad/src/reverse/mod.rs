//! Reverse mode by redundant execution (thesis, section 3.3): a body is run forwards, then its statements are visited
//! from the last to the first, each adding to the adjoints of what it reads. A nested body is run again where its own
//! return sweep needs its values; nothing is kept across scopes but the values that loops start their
//! iterations with, and numbers that branches need long to compute.
//!
//!     let (y: f64) = f64.mul x z     ==>     let (y: f64) = f64.mul x z
//!     in (y)                                 let (x_adj: f64) = f64.mul z ct
//!                                            let (z_adj: f64) = f64.mul x ct

mod acc;
mod adjoint;
mod control;
mod hist;
mod loops;
mod map;
mod neutral;
pub(crate) mod one_hot;
mod operator;
mod reduce;
mod scan;
mod scatter;
mod shift_and_reverse;
mod sorted;

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Res};
use crate::prune::{Stays, choose_kept, prune};
use crate::rename::Renamer;

use hist::Bins;
use loops::{Entries, SavedLoop, Site, SweepFlow, read_again, reads_again};
use scatter::Places;

pub(crate) use loops::{Restored, SkippableLoop, size_operation};
pub(crate) use operator::{Fold, extremum};

/// What the forward sweep keeps of a statement for the return sweep.
pub(crate) enum Saved {
    Nothing,
    Loop(Box<SavedLoop>),
    /// The parts of restored arrays that a statement has overwritten.
    Old(Vec<(VarId, Site, Atom)>),
    /// What a branch or a loop has overwritten of restored arrays: entries and their number.
    Log(Vec<(VarId, Entries, Atom)>),
}

impl Ad<'_> {
    /// The results of the function, then the adjoints of its arguments.
    pub fn vjp(&mut self, lambda: &Lambda, args: &[Atom], cotangents: &[Atom], loc: Loc) -> Res<Vec<Atom>> {
        self.sweep.adj.clear();
        self.sweep.acc_adj.clear();
        self.sweep.known.clear();
        self.sweep.kept.clear();
        self.sweep.restored = Restored::default();
        let (mut stms, results) = self.scope(|ad| {
            ad.enter(lambda, args, loc);
            let cts: Vec<Option<Atom>> = cotangents.iter().copied().map(Some).collect();
            ad.sweep(&lambda.body, &cts, loc)?;
            let adjoints: Vec<Atom> = lambda.params.iter().map(|p| ad.adjoint(p.var, loc)).collect();
            Ok([lambda.body.result.clone(), adjoints].concat())
        })?;
        let stays = Stays::new(&stms, &self.b.types, &self.sweep.recomputed);
        choose_kept(&mut stms, &results, &stays, &self.sweep.kept);
        let needed = prune(stms, &results, &stays);
        needed.into_iter().for_each(|stm| self.push(stm));
        Ok(results)
    }

    /// Both sweeps over a body, given the cotangents of its results; none is a zero.
    pub fn sweep(&mut self, body: &Body, cts: &[Option<Atom>], loc: Loc) -> Res<()> {
        let body = &*self.with_start_values(body)?;
        let body = &*self.with_kept_numbers(body);
        let plan = self.plan(body, loc)?;
        let mut saved = Vec::with_capacity(body.stms.len());
        for (index, stm) in body.stms.iter().enumerate() {
            saved.push(match &plan {
                Some(plan) => self.forward_planned(stm, plan, index)?,
                None => self.forward_sweep(stm)?,
            });
        }
        for (result, ct) in body.result.iter().zip(cts) {
            if let (Atom::Var(var), Some(ct)) = (result, ct) {
                let ct = self.shaped_as(*ct, *result, loc);
                self.add_adj(*var, ct, loc);
            }
        }
        for (stm, saved) in body.stms.iter().zip(saved).rev() {
            self.return_sweep(stm, saved)?;
        }
        Ok(())
    }

    fn forward_planned(&mut self, stm: &Stm, plan: &SweepFlow, index: usize) -> Res<Saved> {
        if let Some(saved) = self.forward_restored(stm, plan, index)? {
            return Ok(saved);
        }
        let saved = self.forward_sweep(stm)?;
        self.hold_results(stm, plan);
        Ok(saved)
    }

    pub fn forward_sweep(&mut self, stm: &Stm) -> Res<Saved> {
        if !stm.pat.iter().any(|p| self.sweep.known.contains_key(&p.var)) {
            return self.run_forwards(stm);
        }
        let (stm, known) = self.with_known_numbers(stm);
        let saved = self.run_forwards(&stm)?;
        known.into_iter().for_each(|stm| self.push(stm));
        Ok(saved)
    }

    fn run_forwards(&mut self, stm: &Stm) -> Res<Saved> {
        let active = stm.pat.iter().any(|p| self.is_active_var(p.var));
        if let Some(saved) = self.use_skippable(stm) {
            return Ok(saved);
        }
        match &stm.exp {
            Exp::Loop { params, form, body, hints } if active => {
                self.save_loop(stm, params, form, body, *hints)
            }
            Exp::WithVjp { lambda, args, .. } => {
                let map = lambda.params.iter().map(|p| p.var).zip(args.iter().copied()).collect();
                let body = Renamer::new(self, map).body(&lambda.body);
                body.stms.into_iter().for_each(|s| self.push(s));
                self.bind(&stm.pat, &body.result, stm.loc);
                Ok(Saved::Nothing)
            }
            _ => {
                if let Some(stm) = self.without_accs(stm) {
                    self.push(stm);
                }
                Ok(Saved::Nothing)
            }
        }
    }

    fn return_sweep(&mut self, stm: &Stm, saved: Saved) -> Res<()> {
        let loc = stm.loc;
        self.undo_saved(&saved, loc)?;
        let cts: Vec<Option<Atom>> = stm.pat.iter().map(|p| self.take_adj(p.var)).collect();
        let with_accs = stm.pat.iter().any(|p| self.sweep.acc_adj.contains_key(&p.var));
        if cts.iter().all(Option::is_none) && !with_accs {
            return match saved {
                Saved::Loop(job) => self.undo_loop(&job, loc),
                Saved::Nothing | Saved::Old(_) | Saved::Log(_) => Ok(()),
            };
        }
        if !reads_again(&stm.exp) {
            return self.rev_exp(stm, saved, &cts);
        }
        let keys: Vec<Atom> = match &stm.exp {
            Exp::Loop { params, .. } => params.iter().map(|(_, init)| *init).collect(),
            _ => Vec::new(),
        };
        let present = self.present(&read_again(&stm.exp, &keys), loc);
        if present.map.is_empty() {
            return self.rev_exp(stm, saved, &cts);
        }
        let saved = match saved {
            Saved::Loop(job) => Saved::Loop(Box::new(self.loop_at_present(&job, &present.map))),
            Saved::Nothing | Saved::Old(_) | Saved::Log(_) => saved,
        };
        let exp = Renamer::new(self, present.map.clone()).exp(&stm.exp);
        self.rev_exp(&Stm { pat: stm.pat.clone(), exp, loc }, saved, &cts)?;
        self.past(present);
        Ok(())
    }

    /// Adds to the adjoints of what a statement reads.
    fn rev_exp(&mut self, stm: &Stm, saved: Saved, cts: &[Option<Atom>]) -> Res<()> {
        let loc = stm.loc;
        match &stm.exp {
            Exp::If { cond, then, otherwise } => self.rev_if(&stm.pat, *cond, (then, otherwise), cts, loc),
            Exp::Loop { .. } => match saved {
                Saved::Loop(saved) => self.rev_loop(stm, &saved, cts),
                Saved::Nothing | Saved::Old(_) | Saved::Log(_) => Ok(()),
            },
            Exp::Map { width, arrays, lambda } => self.rev_map(*width, arrays, lambda, cts, loc),
            Exp::Reduce { width, arrays, op, neutral, .. } => {
                self.rev_reduce(&Fold { n: *width, arrays, op, neutral, loc }, cts)
            }
            Exp::Scan { width, arrays, op, neutral, .. } => {
                let results: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
                self.rev_scan(&Fold { n: *width, arrays, op, neutral, loc }, &results, cts)
            }
            Exp::Hist { width, arrays, dests, shape, op, neutral, .. } => {
                let (indices, values) = arrays.split_at(shape.len());
                let results: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
                let places = Places { width: *width, indices, shape, loc };
                self.rev_hist(&Bins { places, values, dests, results: &results, op, neutral }, cts)
            }
            Exp::Scatter { width, arrays, dests, shape, .. } => {
                let (indices, values) = arrays.split_at(shape.len());
                self.rev_scatter(&Places { width: *width, indices, shape, loc }, values, dests, cts)
            }
            Exp::WithAcc { inputs, lambda } => self.rev_with_acc(inputs, lambda, cts, loc),
            Exp::UpdateAcc { acc, indices, values } => self.rev_update_acc(*acc, indices, values, loc),
            Exp::WithVjp { rule, args, .. } => self.rev_custom(stm, rule, args, cts),
            Exp::Call { fun, args } => self.rev_call(stm, *fun, args, cts),
            Exp::Trace { values, .. } => {
                for (value, ct) in values.iter().zip(cts) {
                    self.add_to(*value, *ct, loc);
                }
                Ok(())
            }
            _ => match cts[0] {
                Some(ct) => self.rev_simple(stm, ct),
                None => Ok(()),
            },
        }
    }

    fn rev_custom(&mut self, stm: &Stm, rule: &Lambda, args: &[Atom], cts: &[Option<Atom>]) -> Res<()> {
        let mut inputs: Vec<Atom> = stm.pat.iter().map(|p| p.var.into()).collect();
        for (param, ct) in stm.pat.iter().zip(cts) {
            inputs.push(self.or_zero(*ct, &param.ty, stm.loc));
        }
        let map: HashMap<VarId, Atom> = rule.params.iter().map(|p| p.var).zip(inputs).collect();
        let body = Renamer::new(self, map).body(&rule.body);
        body.stms.into_iter().for_each(|s| self.push(s));
        for (arg, adjoint) in args.iter().zip(body.result) {
            self.add_to(*arg, Some(adjoint), stm.loc);
        }
        Ok(())
    }

    /// Expressions with one result and no bodies inside.
    fn rev_simple(&mut self, stm: &Stm, ct: Atom) -> Res<()> {
        let (loc, pat) = (stm.loc, &stm.pat[0]);
        match &stm.exp {
            Exp::Atom(a) => self.add_to(*a, Some(ct), loc),
            Exp::UnOp(op @ (UnOp::ToBits | UnOp::FromBits), ty, a) => {
                let back = if *op == UnOp::ToBits { UnOp::FromBits } else { UnOp::ToBits };
                let ct = self.b.unop(back, op.result(*ty), ct, loc);
                self.add_to(*a, Some(ct), loc);
            }
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) => return self.rev_scalar(stm, ct),
            Exp::Convert(from, to, a) => {
                let back = self.b.convert(*to, *from, ct, loc);
                self.add_to(*a, Some(back), loc);
            }
            Exp::Index { array, indices, .. } => {
                let dims: Vec<DimSlice> = indices.iter().map(|i| DimSlice::Fix(*i)).collect();
                self.add_at(*array, &dims, ct, &pat.ty, loc);
            }
            Exp::Slice { array, dims } => self.add_at(*array, dims, ct, &pat.ty, loc),
            Exp::Update { array, dims, value, .. } => self.rev_update(*array, dims, *value, ct, loc),
            Exp::Copy(array) => self.add_adj(*array, ct, loc),
            Exp::Iota { ty, n, start, step } => self.rev_iota(*ty, *n, *start, *step, ct, loc),
            Exp::Replicate { dims, value } => self.rev_replicate(dims, *value, ct, loc),
            Exp::Rearrange { perm, array } => {
                let mut back = vec![0; perm.len()];
                perm.iter().enumerate().for_each(|(i, p)| back[*p] = i);
                let ct = self.as_var("ct", ct, loc);
                let ty = self.ty_var(*array);
                let exp = Exp::Rearrange { perm: back, array: ct };
                let ct = self.let_exp("ct", ty, exp, loc);
                self.add_adj(*array, ct, loc);
            }
            Exp::Reshape { array, .. } => {
                let ty = self.ty_var(*array);
                let ct = self.as_var("ct", ct, loc);
                let exp = Exp::Reshape { dims: ty.dims().to_vec(), array: ct };
                let reshaped = self.let_exp("ct", ty, exp, loc);
                self.same_one_hot(ct, reshaped);
                self.add_adj(*array, reshaped, loc);
            }
            Exp::Concat { arrays } => self.rev_concat(arrays, ct, &pat.ty, loc),
            Exp::ArrayLit { row, elems } => {
                let ct = self.as_var("ct", ct, loc);
                for (i, elem) in elems.iter().enumerate().filter(|(_, e)| e.as_var().is_some()) {
                    if self.is_active(*elem) {
                        let indices = vec![Atom::i64(i as i64)];
                        let exp = Exp::Index { array: ct, indices, check: Check::Certified };
                        let part = self.let_exp("ct", row.clone(), exp, loc);
                        self.add_to(*elem, Some(part), loc);
                    }
                }
            }
            // Never active, or handled before.
            Exp::CmpOp(..) | Exp::Scratch { .. } | Exp::Assert { .. } | Exp::Call { .. } => {}
            Exp::If { .. } | Exp::Loop { .. } | Exp::Trace { .. } | Exp::Map { .. } => {}
            Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } | Exp::Scatter { .. } => {}
            Exp::WithAcc { .. } | Exp::UpdateAcc { .. } | Exp::Contract { .. } => {}
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Detach(_) => {}
            Exp::Transpose { .. } => {}
        }
        Ok(())
    }

    fn rev_scalar(&mut self, stm: &Stm, ct: Atom) -> Res<()> {
        let (loc, pat) = (stm.loc, &stm.pat[0]);
        let Some(ty) = pat.ty.elem() else { return Ok(()) };
        for (operand, partial) in self.partials(&stm.exp, pat.var.into(), loc)? {
            if partial == Prim::zero(ty).into() || self.ty(operand).elem() != Some(ty) {
                continue;
            }
            let term = self.times(ty, partial, ct, loc);
            self.add_to(operand, Some(term), loc);
        }
        Ok(())
    }

    /// `y = x with [i] = v`: the adjoint of `v` is what is at `i`, and that of `x` is zero there.
    fn rev_update(&mut self, array: VarId, dims: &[DimSlice], value: Atom, ct: Atom, loc: Loc) {
        let array_ty = self.ty_var(array);
        let ct = self.as_var("ct", ct, loc);
        let part_ty = part_type(&array_ty, dims);
        if self.is_active(value) {
            let mut part = self.read_at(ct, dims, &part_ty, loc);
            if let (true, Atom::Var(var)) = (part_ty.is_array(), part) {
                // The part is overwritten next; a copy of it is cheaper than one of the whole.
                part = self.let_exp("part", part_ty.clone(), Exp::Copy(var), loc);
            }
            self.add_to(value, Some(part), loc);
        }
        if self.is_active_var(array) {
            let zero = self.zero(&part_ty, loc);
            let exp = Exp::Update { array: ct, dims: dims.to_vec(), value: zero, check: Check::Certified };
            let rest = self.let_exp("ct", array_ty, exp, loc);
            self.add_adj(array, rest, loc);
        }
    }

    fn rev_iota(&mut self, ty: PrimType, n: Atom, start: Atom, step: Atom, ct: Atom, loc: Loc) {
        let row = Type::Prim(ty);
        let ct = self.as_var("ct", ct, loc);
        // Whole numbers move with their count, by convention.
        let moved = [start, n].into_iter().take(if ty == PrimType::I64 { 2 } else { 1 });
        let moved: Vec<Atom> = moved.filter(|a| self.is_active(*a)).collect();
        if !moved.is_empty() {
            let sum = self.sum_rows(n, ct, &row, loc);
            moved.into_iter().for_each(|a| self.add_to(a, Some(sum), loc));
        }
        if self.is_active(step) {
            let array = Type::array(ty, vec![n]);
            let (zero, one) = (Prim::zero(ty).into(), Prim::one(ty).into());
            let exp = Exp::Iota { ty, n, start: zero, step: one };
            let steps = self.let_var("iota", array.clone(), exp, loc);
            let lambda = self.b.binop_lambda(BinOp::Mul, ty, loc);
            let exp = Exp::Map { width: n, arrays: vec![steps, ct], lambda };
            let scaled = self.let_var("scaled", array, exp, loc);
            let sum = self.sum_rows(n, scaled, &row, loc);
            self.add_to(step, Some(sum), loc);
        }
    }

    fn rev_replicate(&mut self, dims: &[Atom], value: Atom, ct: Atom, loc: Loc) {
        let row = self.ty(value);
        let mut ct = self.as_var("ct", ct, loc);
        let n = self.b.product(dims, loc);
        if dims.len() > 1 {
            let ty = row.with_outer(&[n]);
            let exp = Exp::Reshape { dims: ty.dims().to_vec(), array: ct };
            ct = self.let_var("ct", ty, exp, loc);
        }
        let sum = self.sum_rows(n, ct, &row, loc);
        self.add_to(value, Some(sum), loc);
    }

    fn rev_concat(&mut self, arrays: &[VarId], ct: Atom, ty: &Type, loc: Loc) {
        let ct = self.as_var("ct", ct, loc);
        let mut start = Atom::i64(0);
        for array in arrays {
            let own = self.ty_var(*array);
            let Some(len) = own.dims().first().copied() else { continue };
            if self.is_active_var(*array) {
                let mut dims = vec![DimSlice::Range { start, len, stride: Atom::i64(1) }];
                dims.extend(ty.dims().iter().skip(1).map(|d| whole(*d)));
                let part = self.let_exp("ct", own.clone(), Exp::Slice { array: ct, dims }, loc);
                self.add_adj(*array, part, loc);
            }
            start = self.i64_op(BinOp::Add, start, len, loc);
        }
    }
}

pub(crate) use operator::needed;

/// All of a dimension.
pub(crate) fn whole(len: Atom) -> DimSlice {
    DimSlice::Range { start: Atom::i64(0), len, stride: Atom::i64(1) }
}

/// The type of what a slice of an array is.
pub(crate) fn part_type(array: &Type, dims: &[DimSlice]) -> Type {
    let rest = array.dims().get(dims.len()..).unwrap_or(&[]);
    let ranges = dims.iter().filter_map(|d| match d {
        DimSlice::Fix(_) => None,
        DimSlice::Range { len, .. } => Some(*len),
    });
    Type::array(array.elem().unwrap_or(PrimType::F64), ranges.chain(rest.iter().copied()).collect())
}
