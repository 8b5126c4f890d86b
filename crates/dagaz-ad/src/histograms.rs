//! Accumulators as histograms, or scatters where they overwrite: every `+=` becomes an index and a value that the
//! iterations return.
//!
//!     with_acc (xs) \acc -> map n (is, acc) \i acc -> acc[i] += v   ==>   vs = map n (is) \i -> v
//!                                                                        hist (+) xs is vs
//!
//! Reverse mode and transposition have rules of their own only for accumulators that sum.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{AccInput, Body, Exp, Lambda, Loc, LoopForm, Program, Stm, Vars};
use dagaz_core::exp::{Check, DimSlice};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::rename::renamed_lambda;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies_mut, free_vars};

use crate::context::is_plus;
use crate::numbered::number_writes;

/// The reason is a noun phrase.
type Rewritten<T> = Result<T, String>;

/// What one `+=` adds, all iterations together.
#[derive(Clone)]
struct Written {
    /// The parameter of the accumulator.
    acc: VarId,
    /// One for each index, then one for each value.
    parts: Vec<(Atom, Type)>,
    /// The sizes of the iterations around it, from the outside.
    turns: Vec<Atom>,
}

impl Written {
    /// Whether the iterations inside of others, in which these variables are bound, are as many in all of them.
    fn is_regular(&self, own: &HashSet<VarId>) -> Rewritten<()> {
        let is_own = |turn: &Atom| turn.as_var().is_some_and(|var| own.contains(&var));
        match self.turns.iter().any(is_own) {
            true => Err("an accumulator inside iterations whose number differs".to_owned()),
            false => Ok(()),
        }
    }
}

/// Moves numbers of iterations out of the body of others, if they are the same in all of them.
fn move_counts(body: &mut Body, own: &mut HashSet<VarId>, stms: &mut Vec<Stm>) {
    for stm in std::mem::take(&mut body.stms) {
        let is_own = |atom: &Atom| atom.as_var().is_some_and(|var| own.contains(&var));
        let is_outside = match &stm.exp {
            Exp::BinOp(BinOp::Mul | BinOp::Max, PrimType::I64, x, y) => !is_own(x) && !is_own(y),
            Exp::Convert(from, PrimType::I64, x) => from.is_int() && !is_own(x),
            _ => false,
        };
        if is_outside {
            for param in &stm.pat {
                own.remove(&param.var);
            }
            stms.push(stm);
        } else {
            body.stms.push(stm);
        }
    }
}

/// What the statements of a body bind.
fn bound(body: &Body) -> impl Iterator<Item = VarId> + '_ {
    body.stms.iter().flat_map(|stm| &stm.pat).map(|p| p.var)
}

struct Rewriter<'a> {
    vars: &'a mut Vars,
    /// The accumulators by all their names.
    accs: HashMap<VarId, VarId>,
}

/// All accumulators of a program. The reason, if there is no other way, is a noun phrase.
pub fn accumulators_to_histograms(program: &mut Program) -> Rewritten<()> {
    let mut vars = std::mem::take(&mut program.vars);
    for fun in &mut program.funs {
        rewrite(&mut vars, &mut fun.body, &|_| true, in_boxes)?;
    }
    program.vars = vars;
    Ok(())
}

/// What an accumulation becomes.
type Rule = fn(&mut Vars, &Stm) -> Rewritten<Vec<Stm>>;

/// An accumulation, in whose bodies there is none that does not sum, without accumulators other than sums. Where the iterations around
/// every `+=` form a box, they return what is written; otherwise the writes are numbered.
pub(crate) fn rewrite_with_acc(vars: &mut Vars, stm: &Stm) -> Rewritten<Vec<Stm>> {
    in_boxes(vars, stm).or_else(|_| number_writes(vars, stm))
}

/// An accumulation as histograms of what iterations return, if they form a box.
fn in_boxes(vars: &mut Vars, stm: &Stm) -> Rewritten<Vec<Stm>> {
    let mut stms = Vec::new();
    if let Exp::WithAcc { inputs, lambda } = &stm.exp {
        let mut rewriter = Rewriter { vars, accs: HashMap::new() };
        rewriter.with_acc(&stm.pat, inputs.clone(), lambda.clone(), stm.loc, &mut stms)?;
    }
    Ok(stms)
}

/// The accumulators of a body that do not sum.
pub(crate) fn rewrite_all_but_sums(vars: &mut Vars, body: &mut Body) -> Rewritten<()> {
    rewrite(vars, body, &is_other_than_sum, rewrite_with_acc)
}

/// Innermost first, where `wanted`.
fn rewrite(vars: &mut Vars, body: &mut Body, wanted: &dyn Fn(&Exp) -> bool, rule: Rule) -> Rewritten<()> {
    let mut stms = Vec::new();
    for mut stm in std::mem::take(&mut body.stms) {
        for inner in bodies_mut(&mut stm.exp) {
            rewrite(vars, inner, wanted, rule)?;
        }
        match matches!(stm.exp, Exp::WithAcc { .. }) && wanted(&stm.exp) {
            true => stms.extend(rule(vars, &stm)?),
            false => stms.push(stm),
        }
    }
    body.stms = stms;
    Ok(())
}

impl Rewriter<'_> {
    fn param(&mut self, hint: &str, ty: Type) -> Param {
        Param { var: self.vars.fresh(hint), ty }
    }

    fn bind(&mut self, hint: &str, ty: Type, exp: Exp, loc: Loc, stms: &mut Vec<Stm>) -> VarId {
        let param = self.param(hint, ty);
        let var = param.var;
        stms.push(Stm { pat: vec![param], exp, loc });
        var
    }

    fn with_acc(
        &mut self,
        pat: &[Param],
        inputs: Vec<AccInput>,
        mut lambda: Lambda,
        loc: Loc,
        stms: &mut Vec<Stm>,
    ) -> Rewritten<()> {
        for param in &lambda.params {
            self.accs.insert(param.var, param.var);
        }
        let written = self.body(&mut lambda.body)?;
        stms.append(&mut lambda.body.stms);
        let mut results = pat.iter();
        for (input, acc) in inputs.iter().zip(&lambda.params) {
            let mut arrays = input.arrays.clone();
            let own: Vec<Param> = results.by_ref().take(arrays.len()).cloned().collect();
            for part in written.iter().filter(|w| w.acc == acc.var) {
                arrays = self.histogram(input, arrays, part, &own, loc, stms);
            }
            for (param, array) in own.iter().zip(&arrays) {
                stms.push(Stm { pat: vec![param.clone()], exp: Exp::Atom((*array).into()), loc });
            }
        }
        for (param, atom) in results.zip(&lambda.body.result[inputs.len()..]) {
            stms.push(Stm { pat: vec![param.clone()], exp: Exp::Atom(*atom), loc });
        }
        Ok(())
    }

    /// The arrays with one more `+=`.
    fn histogram(
        &mut self,
        input: &AccInput,
        arrays: Vec<VarId>,
        written: &Written,
        own: &[Param],
        loc: Loc,
        stms: &mut Vec<Stm>,
    ) -> Vec<VarId> {
        let width = match written.turns.split_first() {
            None => Atom::i64(1),
            Some((first, rest)) => rest.iter().fold(*first, |width, turn| {
                let exp = Exp::BinOp(BinOp::Mul, PrimType::I64, width, *turn);
                self.bind("count", Type::I64, exp, loc, stms).into()
            }),
        };
        let mut flat = Vec::new();
        for (atom, row) in &written.parts {
            let ty = row.with_outer(&[width]);
            let exp = match (written.turns.len(), atom) {
                (1, _) => Exp::Atom(*atom),
                (0, _) => Exp::Replicate { dims: vec![width], value: *atom },
                (_, Atom::Var(array)) => Exp::Reshape { dims: ty.dims().to_vec(), array: *array },
                (_, Atom::Const(_)) => Exp::Atom(*atom),
            };
            flat.push(self.bind("flat", ty, exp, loc, stms));
        }
        let pat: Vec<Param> = own.iter().map(|p| self.param("summed", p.ty.clone())).collect();
        let vars = pat.iter().map(|p| p.var).collect();
        let (pre, shape) = (None, input.shape.clone());
        let exp = match &input.op {
            Some((op, neutral)) => Exp::Hist {
                width,
                arrays: flat,
                pre,
                dests: arrays,
                shape,
                // There may be several.
                op: renamed_lambda(self.vars, op),
                neutral: neutral.clone(),
            },
            None => Exp::Scatter { width, arrays: flat, pre, dests: arrays, shape },
        };
        stms.push(Stm { pat, exp, loc });
        vars
    }

    fn is_acc(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.accs.contains_key(&v))
    }

    fn same(&mut self, new: VarId, old: Atom) {
        if let Some(acc) = old.as_var().and_then(|v| self.accs.get(&v)).copied() {
            self.accs.insert(new, acc);
        }
    }

    /// Takes accumulators out of statements. Results that are accumulators are left to whoever has the body.
    fn body(&mut self, body: &mut Body) -> Rewritten<Vec<Written>> {
        let mut written = Vec::new();
        let mut stms = Vec::new();
        for mut stm in std::mem::take(&mut body.stms) {
            match &mut stm.exp {
                Exp::UpdateAcc { acc, indices, values } if self.accs.contains_key(acc) => {
                    let root = self.accs[acc];
                    let types = match stm.pat.first().map(|p| &p.ty) {
                        Some(Type::Acc { elems, .. }) => elems.clone(),
                        _ => return Err("an accumulator of an unknown type".to_owned()),
                    };
                    let indices = indices.iter().map(|i| (*i, Type::I64));
                    let parts = indices.chain(values.iter().copied().zip(types)).collect();
                    written.push(Written { acc: root, parts, turns: Vec::new() });
                    self.same(stm.pat[0].var, (*acc).into());
                }
                Exp::Atom(a) if self.is_acc(*a) => self.same(stm.pat[0].var, *a),
                Exp::Map { .. } => written.extend(self.map(stm, &mut stms)?),
                Exp::If { .. } => written.extend(self.branches(stm, &mut stms)?),
                Exp::Loop { .. } => written.extend(self.looped(stm, &mut stms)?),
                Exp::WithAcc { .. } => written.extend(self.around_another(stm, &mut stms)?),
                exp if free_vars(exp).iter().any(|var| self.accs.contains_key(var)) => {
                    return Err("an accumulator that a function updates".to_owned());
                }
                _ => stms.push(stm),
            }
        }
        body.stms = stms;
        Ok(written)
    }

    /// An accumulation into other arrays, in which is written, too. It returns what is written after its own results.
    fn around_another(&mut self, mut stm: Stm, stms: &mut Vec<Stm>) -> Rewritten<Vec<Written>> {
        let Exp::WithAcc { inputs, lambda } = &mut stm.exp else { return Ok(Vec::new()) };
        let arrays = inputs.iter().map(|input| input.arrays.len()).sum();
        let mut written = self.body(&mut lambda.body)?;
        let mut own = bound(&lambda.body).collect();
        move_counts(&mut lambda.body, &mut own, stms);
        written.iter().try_for_each(|write| write.is_regular(&own))?;
        let mut rest = stm.pat.split_off(arrays);
        let mut results = lambda.body.result.split_off(inputs.len());
        let mut ret = lambda.ret.split_off(inputs.len());
        self.drop_accs(&mut rest, &mut results, Some(&mut ret));
        stm.pat.append(&mut rest);
        lambda.body.result.append(&mut results);
        lambda.ret.append(&mut ret);
        for write in &mut written {
            for (atom, row) in &mut write.parts {
                let ty = row.with_outer(&write.turns);
                let param = Param { var: self.vars.fresh("part"), ty: ty.clone() };
                lambda.body.result.push(std::mem::replace(atom, param.var.into()));
                lambda.ret.push(ty);
                stm.pat.push(param);
            }
        }
        stms.push(stm);
        Ok(written)
    }

    fn map(&mut self, mut stm: Stm, stms: &mut Vec<Stm>) -> Rewritten<Vec<Written>> {
        let Exp::Map { width, arrays, lambda } = &mut stm.exp else { return Ok(Vec::new()) };
        for (param, array) in lambda.params.iter().zip(arrays.iter()) {
            self.same(param.var, (*array).into());
        }
        arrays.retain(|a| !self.accs.contains_key(a));
        lambda.params.retain(|p| !self.accs.contains_key(&p.var));
        let inside = self.body(&mut lambda.body)?;
        let mut own = lambda.params.iter().map(|p| p.var).chain(bound(&lambda.body)).collect();
        move_counts(&mut lambda.body, &mut own, stms);
        inside.iter().try_for_each(|write| write.is_regular(&own))?;
        self.drop_accs(&mut stm.pat, &mut lambda.body.result, Some(&mut lambda.ret));
        let width = *width;
        let mut written = Vec::new();
        for mut write in inside {
            for (atom, row) in &mut write.parts {
                let ty = row.with_outer(&write.turns);
                lambda.body.result.push(*atom);
                lambda.ret.push(ty.clone());
                let param = Param { var: self.vars.fresh("part"), ty: ty.with_outer(&[width]) };
                *atom = param.var.into();
                stm.pat.push(param);
            }
            write.turns.insert(0, width);
            written.push(write);
        }
        if arrays.is_empty() {
            let iota = Exp::Iota { ty: PrimType::I64, n: width, start: Atom::i64(0), step: Atom::i64(1) };
            let ty = Type::array(PrimType::I64, vec![width]);
            arrays.push(self.bind("numbers", ty, iota, stm.loc, stms));
            lambda.params.push(Param { var: self.vars.fresh("number"), ty: Type::I64 });
        }
        stms.push(stm);
        Ok(written)
    }

    /// Takes out the results that are accumulators.
    fn drop_accs(&mut self, pat: &mut Vec<Param>, results: &mut Vec<Atom>, ret: Option<&mut Vec<Type>>) {
        let dropped: Vec<bool> = results.iter().map(|a| self.is_acc(*a)).collect();
        for (param, result) in pat.iter().zip(results.iter()) {
            self.same(param.var, *result);
        }
        let mut flags = dropped.iter();
        pat.retain(|_| !flags.next().copied().unwrap_or(false));
        let mut flags = dropped.iter();
        results.retain(|_| !flags.next().copied().unwrap_or(false));
        if let Some(ret) = ret {
            let mut flags = dropped.iter();
            ret.retain(|_| !flags.next().copied().unwrap_or(false));
        }
    }

    /// What the other branch would write goes to the index -1, which is out of bounds.
    fn branches(&mut self, mut stm: Stm, stms: &mut Vec<Stm>) -> Rewritten<Vec<Written>> {
        let Exp::If { then, otherwise, .. } = &mut stm.exp else { return Ok(Vec::new()) };
        let (first, second) = (self.body(then)?, self.body(otherwise)?);
        let mut pat = stm.pat.clone();
        self.drop_accs(&mut pat, &mut then.result, None);
        self.drop_accs(&mut stm.pat, &mut otherwise.result, None);
        let mut written = Vec::new();
        for (mine, mut write) in
            first.into_iter().map(|w| (true, w)).chain(second.into_iter().map(|w| (false, w)))
        {
            let (here, there) =
                if mine { (&mut *then, &mut *otherwise) } else { (&mut *otherwise, &mut *then) };
            let inside: HashSet<VarId> = bound(here).collect();
            let mut sizes = Vec::new();
            for turn in &mut write.turns {
                // A number of iterations that only this branch knows is one more result: none in the other.
                let known = *turn;
                let is_inside = known.as_var().is_some_and(|var| inside.contains(&var));
                sizes.push(if is_inside { Atom::i64(0) } else { known });
                if is_inside {
                    here.result.push(known);
                    there.result.push(Atom::i64(0));
                    let param = Param { var: self.vars.fresh("count"), ty: Type::I64 };
                    *turn = param.var.into();
                    stm.pat.push(param);
                }
            }
            for (atom, row) in &mut write.parts {
                let ty = row.with_outer(&sizes);
                let value = match ty.elem() {
                    Some(PrimType::I64) => Prim::I64(-1),
                    Some(elem) => Prim::zero(elem),
                    None => return Err("an accumulator of accumulators".to_owned()),
                };
                here.result.push(*atom);
                let placeholder = match ty.dims() {
                    [] => value.into(),
                    dims => {
                        let exp = Exp::Replicate { dims: dims.to_vec(), value: value.into() };
                        self.bind("nothing", ty.clone(), exp, stm.loc, &mut there.stms).into()
                    }
                };
                there.result.push(placeholder);
                let param = Param { var: self.vars.fresh("part"), ty: row.with_outer(&write.turns) };
                *atom = param.var.into();
                stm.pat.push(param);
            }
            written.push(write);
        }
        stms.push(stm);
        Ok(written)
    }

    fn looped(&mut self, mut stm: Stm, stms: &mut Vec<Stm>) -> Rewritten<Vec<Written>> {
        let loc = stm.loc;
        let Exp::Loop { params, form, body, .. } = &mut stm.exp else { return Ok(Vec::new()) };
        for (param, init) in params.iter() {
            self.same(param.var, *init);
        }
        params.retain(|(p, _)| !self.accs.contains_key(&p.var));
        let inside = self.body(body)?;
        self.drop_accs(&mut stm.pat, &mut body.result, None);
        let LoopForm::For { var, ty, bound } = form else {
            if inside.is_empty() {
                stms.push(stm);
                return Ok(Vec::new());
            }
            return Err("an accumulator inside a while loop".to_owned());
        };
        let (counter, limit, ty) = (*var, *bound, *ty);
        if inside.is_empty() {
            stms.push(stm);
            return Ok(Vec::new());
        }
        let params_and_counter = params.iter().map(|(p, _)| p.var).chain([counter]);
        let mut own = params_and_counter.chain(self::bound(body)).collect();
        move_counts(body, &mut own, stms);
        inside.iter().try_for_each(|write| write.is_regular(&own))?;
        let exp = Exp::Convert(ty, PrimType::I64, limit);
        let bound = self.bind("count", Type::I64, exp, loc, stms);
        let exp = Exp::BinOp(BinOp::Max, PrimType::I64, bound.into(), Atom::i64(0));
        let turns: Atom = self.bind("count", Type::I64, exp, loc, stms).into();
        let exp = Exp::Convert(ty, PrimType::I64, counter.into());
        let at: Atom = self.bind("at", Type::I64, exp, loc, &mut body.stms).into();
        let mut written = Vec::new();
        for mut write in inside {
            for (atom, row) in &mut write.parts {
                let all = row.with_outer(&write.turns).with_outer(&[turns]);
                let elem = all.elem().unwrap_or(PrimType::F64);
                let exp = Exp::Scratch { elem, dims: all.dims().to_vec() };
                let init = self.bind("kept", all.clone(), exp, loc, stms);
                let param = Param { var: self.vars.fresh("kept"), ty: all.clone() };
                let dims = vec![DimSlice::Fix(at)];
                let exp = Exp::Update { array: param.var, dims, value: *atom, check: Check::Certified };
                let next = self.bind("kept", all.clone(), exp, loc, &mut body.stms);
                params.push((param, init.into()));
                body.result.push(next.into());
                let result = Param { var: self.vars.fresh("kept"), ty: all };
                *atom = result.var.into();
                stm.pat.push(result);
            }
            write.turns.insert(0, turns);
            written.push(write);
        }
        stms.push(stm);
        Ok(written)
    }
}

/// Whether reverse mode needs the histogram.
pub(crate) fn is_other_than_sum(exp: &Exp) -> bool {
    let Exp::WithAcc { inputs, .. } = exp else { return false };
    inputs.iter().any(|input| input.op.as_ref().is_none_or(|(op, _)| !is_plus(op)))
}
