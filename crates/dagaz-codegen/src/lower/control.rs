//! Branches, loops, assertions and traces.

use dagaz_core::effects::cannot_fail;
use dagaz_core::exp::{Body, DimSlice, Exp, LoopForm, MsgPart, Stm as CoreStm};
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::placing::{Destination, Stays, before, stays_in_place};
use super::symbols::Symbols;
use super::{Lower, Lowered};
use crate::imp::{Expr, LoopKind, Operand, Runtime, Stm, Var};
use crate::scalar;
use crate::{Part, SiteKind};

/// How the result of a branch becomes that of both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is assigned.
    Assigned,
    /// It is made at a destination.
    Sent,
    /// It is an array that stays where it is.
    There,
}

/// How a parameter of a loop goes from one iteration to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carried {
    /// It is assigned.
    Anew,
    /// It never changes.
    Same,
    /// It is updated in place, and its variable owns it.
    Updated,
    /// It is updated in place, and somebody else owns it.
    Placed,
}

impl Lower<'_> {
    /// In a loop for vector units, elementary functions have to be outside of branches. Both are computed, memory is read
    /// only where the condition says so, and the result is chosen, without a branch in which the C compiler could put them
    /// again:
    ///
    ///     if (c) { x = xs[i]; r = expf(x); } else { r = 0; }    ==>    x = 0; if (c) x = xs[i]; e = expf(x); r = dz_select(c, e, 0);
    fn both_branches(&mut self, pat: &[Param], cond: Atom, then: &Body, otherwise: &Body) -> Lowered<()> {
        let cond = self.atom(cond);
        let outside = self.around.guard.take();
        let within = |cond: Expr| match &outside {
            Some(guard) => guard.op(BinOp::And, cond),
            None => cond,
        };
        let is_so = self.temp_with(PrimType::Bool, "so", within(cond.clone()));
        let is_not = self.temp_with(PrimType::Bool, "not", within(cond.clone().not()));
        let mut results = Vec::new();
        for (guard, body) in [(&is_so, then), (&is_not, otherwise)] {
            self.around.guard = Some(guard.clone());
            let built = self.body(body, &[], |l| {
                results.push(body.result.iter().map(|atom| l.atom(*atom)).collect::<Vec<Expr>>());
                Ok(())
            });
            if built.is_err() {
                self.around.guard = outside;
                return built;
            }
        }
        self.around.guard = outside;
        for (position, param) in pat.iter().enumerate() {
            let (so, not) = (results[0][position].clone(), results[1][position].clone());
            let ty = super::elem(&param.ty)?;
            let chosen = Expr::call(Runtime::Choose(ty), [cond.clone(), so, not]);
            self.set(&self.var_of(param)?, chosen);
        }
        Ok(())
    }

    pub(super) fn branches(
        &mut self,
        stm: &CoreStm,
        cond: Atom,
        then: &Body,
        otherwise: &Body,
    ) -> Lowered<()> {
        let pat = stm.pat.as_slice();
        if self.around.deferred.is_some() && (self.around.guard.is_some() || is_for_vectors(&stm.exp)) {
            return self.both_branches(pat, cond, then, otherwise);
        }
        let mut ends = Vec::new();
        for (position, param) in pat.iter().enumerate() {
            ends.push(self.end_of_branches(stm, position, param)?);
        }
        let cond = self.atom(cond);
        let (then_stms, ()) = self.nested(|l| l.branch(pat, &ends, then))?;
        let (else_stms, ()) = self.nested(|l| l.branch(pat, &ends, otherwise))?;
        self.out.push(Stm::branch(cond, then_stms, else_stms));
        for (param, result) in pat.iter().zip(&then.result).filter(|(p, _)| p.ty.is_acc()) {
            self.bind_acc(param.var, *result)?;
        }
        Ok(())
    }

    /// Declares a variable for a result of branches.
    fn end_of_branches(&mut self, stm: &CoreStm, position: usize, param: &Param) -> Lowered<End> {
        if let Some(array) = before(stm, position).filter(|array| self.memory.placed.contains(array)) {
            self.stay_in_place(param, array)?;
            return Ok(End::There);
        }
        if self.is_placed(param)? {
            return Ok(End::Sent);
        }
        self.declare(param);
        Ok(End::Assigned)
    }

    fn branch(&mut self, pat: &[Param], ends: &[End], body: &Body) -> Lowered<()> {
        let mut direct = Vec::new();
        for ((param, end), result) in pat.iter().zip(ends).zip(&body.result) {
            let is_there = match end {
                End::There => true,
                End::Sent => {
                    let (pointer, block) = (self.var_of(param)?.expr(), self.mem(param.var).expr());
                    self.send(body, *result, Destination { pointer, block, strides: None })
                }
                End::Assigned => false,
            };
            direct.push(is_there);
        }
        self.body(body, &[], |l| {
            let results = pat.iter().zip(ends).zip(&body.result).zip(direct);
            for (((param, end), result), _) in results.filter(|(_, is_direct)| !is_direct) {
                match end {
                    End::Sent => l.store(l.var_of(param)?, 0, &param.ty, *result)?,
                    End::There | End::Assigned => l.assign(&l.name(param.var), *result)?,
                }
            }
            Ok(())
        })
    }

    pub(super) fn loop_exp(
        &mut self,
        pat: &[Param],
        params: &[(Param, Atom)],
        form: &LoopForm,
        body: &Body,
    ) -> Lowered<()> {
        let mut carried = Vec::new();
        for ((param, value), result) in params.iter().zip(&body.result) {
            carried.push(self.start_carrying(param, *value, stays_in_place(body, param.var, *result))?);
        }
        self.with_copies(params, |l| l.loop_itself(params, &carried, form, body))?;
        for ((output, (param, _)), how) in pat.iter().zip(params).zip(carried) {
            if output.ty.is_acc() {
                self.bind_acc(output.var, param.var.into())?;
                continue;
            }
            if how == Carried::Placed {
                self.stay_in_place(output, param.var)?;
                continue;
            }
            self.declare(output);
            let (target, source) = (self.name(output.var), self.name(param.var));
            self.put_value(&target, &source, &output.ty);
        }
        Ok(())
    }

    fn loop_itself(
        &mut self,
        params: &[(Param, Atom)],
        carried: &[Carried],
        form: &LoopForm,
        body: &Body,
    ) -> Lowered<()> {
        match form {
            LoopForm::For { var, ty, bound } => {
                let bound_value = self.atom(*bound);
                let limit = match ty {
                    PrimType::U64 => bound_value.minimum(Prim::U64(i64::MAX as u64)),
                    _ => bound_value,
                };
                let limit = limit.cast(PrimType::I64);
                let is_short = is_short(body);
                let step = |l: &mut Self, i: &Var| {
                    if !is_short {
                        l.tick();
                    }
                    let counter = Param::new(*var, Type::Prim(*ty));
                    l.bind(&counter, false);
                    l.set(&l.var_of(&counter)?, i.cast(*ty));
                    l.iteration(params, carried, body)
                };
                let is_few = bound
                    .as_const()
                    .and_then(|p| p.as_i64())
                    .is_some_and(|n| n <= machine::ITERATIONS_BETWEEN_POLLS);
                self.repeatedly(|l| match is_short && !is_few {
                    true => l.in_chunks(limit, step),
                    false => l.for_loop(LoopKind::Sequential, limit, step),
                })?;
            }
            LoopForm::While { cond } => {
                let note = self.note();
                let (stms, ()) = self.nested(|l| {
                    l.repeatedly(|l| {
                        l.tick();
                        l.condition(params, carried, cond)?;
                        l.iteration(params, carried, body)
                    })
                })?;
                self.out.push(Stm::Forever { note, body: stms });
            }
        }
        Ok(())
    }

    /// A loop that can be interrupted between many iterations.
    fn in_chunks(&mut self, limit: Expr, step: impl FnOnce(&mut Self, &Var) -> Lowered<()>) -> Lowered<()> {
        let all = self.int("all", limit);
        let needed = (&all - 1) / machine::ITERATIONS_BETWEEN_POLLS + 1;
        let chunks = self.int("chunks", all.is_above(0).select(needed, 0));
        self.for_loop(LoopKind::Sequential, chunks, |l, chunk| {
            l.tick();
            let from = l.int("from", chunk * machine::ITERATIONS_BETWEEN_POLLS);
            let to = l.int("to", (&all - &from).minimum(machine::ITERATIONS_BETWEEN_POLLS) + &from);
            l.loop_from(LoopKind::Sequential, from, to, step)
        })
    }

    /// Leaves the loop if its condition does not hold.
    fn condition(&mut self, params: &[(Param, Atom)], carried: &[Carried], cond: &Body) -> Lowered<()> {
        self.bind_carried(params, carried);
        params
            .iter()
            .zip(carried)
            .filter(|(_, how)| **how == Carried::Anew)
            .for_each(|((p, _), _)| self.bind(p, false));
        let go_on = self.temp(PrimType::Bool, "go_on");
        self.unset(&go_on);
        self.block(|l| {
            l.body(cond, &[], |l| {
                let result = cond.result.first().ok_or("internal error: a condition without a result")?;
                l.assign(&go_on.name, *result)
            })
        })?;
        self.out.push(Stm::when(go_on.not(), vec![Stm::Break]));
        Ok(())
    }

    /// Declares a parameter of a loop with its first value.
    fn start_carrying(&mut self, param: &Param, value: Atom, stays: Option<Stays>) -> Lowered<Carried> {
        if param.ty.is_acc() {
            self.bind(param, false);
            self.bind_acc(param.var, value)?;
            return Ok(Carried::Anew);
        }
        let stays = stays.filter(|_| param.ty.is_array());
        if let (Some(Stays::Changed), Some(array)) =
            (stays, value.as_var().filter(|v| self.memory.placed.contains(v)))
        {
            self.stay_in_place(param, array)?;
            return Ok(Carried::Placed);
        }
        self.declare(param);
        let name = self.name(param.var);
        self.assign(&name, value)?;
        match stays {
            None => Ok(Carried::Anew),
            Some(Stays::Unchanged) => Ok(Carried::Same),
            Some(Stays::Changed) => {
                self.make_unique(&name, &param.ty)?;
                Ok(Carried::Updated)
            }
        }
    }

    /// Binds the parameters of a loop for one iteration.
    fn bind_carried(&mut self, params: &[(Param, Atom)], carried: &[Carried]) {
        for ((param, _), how) in params.iter().zip(carried).filter(|((p, _), _)| !p.ty.is_acc()) {
            self.bind(param, *how == Carried::Anew);
            if matches!(how, Carried::Updated | Carried::Placed) {
                self.memory.placed.insert(param.var);
            }
        }
    }

    fn iteration(&mut self, params: &[(Param, Atom)], carried: &[Carried], body: &Body) -> Lowered<()> {
        self.bind_carried(params, carried);
        let anew = || params.iter().zip(carried).enumerate().filter(|(_, (_, how))| **how == Carried::Anew);
        let own: Vec<Param> = params.iter().map(|(p, _)| p.clone()).filter(|p| !p.ty.is_acc()).collect();
        let mut next: Vec<(String, &Param, Atom)> = Vec::new();
        for (position, ((param, _), _)) in anew() {
            next.push((self.temp_name("next"), param, body.result[position]));
        }
        for (name, param, _) in &next {
            self.declare_as(name, &param.ty);
        }
        self.body(body, &own, |l| {
            for (name, _, result) in &next {
                l.assign(name, *result)?;
            }
            Ok(())
        })?;
        for (name, param, _) in next {
            self.put_value(&self.name(param.var), &name, &param.ty);
        }
        Ok(())
    }

    /// The statement that notes a value for a message.
    fn note_value(&self, value: Atom) -> Lowered<Stm> {
        match self.atom_type(value)? {
            Type::Prim(_) => Ok(Stm::Note(self.atom(value))),
            Type::Array { elem, dims } => {
                let dims = dims.iter().map(|dim| self.atom(*dim)).collect();
                Ok(Stm::NoteArray { elem, pointer: self.atom(value), dims })
            }
            Type::Acc { .. } => Err("internal error: an accumulator in a message".into()),
        }
    }

    pub(super) fn assert(&mut self, cond: Atom, message: &[MsgPart]) -> Lowered<()> {
        let mut parts = Vec::new();
        let mut then = Vec::new();
        for part in message {
            match part {
                MsgPart::Text(text) => parts.push(Part::Text(text.clone())),
                MsgPart::Value(atom) => {
                    parts.push(Part::Value);
                    then.push(self.note_value(*atom)?);
                }
            }
        }
        let site = self.site(SiteKind::Assert(parts));
        then.push(Stm::Fail(site));
        self.out.push(Stm::when_rarely(self.atom(cond).not(), then));
        Ok(())
    }

    pub(super) fn trace(&mut self, pat: &[Param], tag: &str, values: &[Atom]) -> Lowered<()> {
        let site = self.site(SiteKind::Trace(tag.to_string()));
        for value in values {
            if !self.atom_type(*value)?.is_acc() {
                let noted = self.note_value(*value)?;
                self.out.push(noted);
            }
        }
        self.out.push(Stm::Trace(site));
        self.alias(pat, values)
    }
}

/// Whether there are elementary functions in branches, and nothing that must not run when it is not wanted.
fn is_for_vectors(exp: &Exp) -> bool {
    fn bodies(exp: &Exp) -> impl Iterator<Item = &Exp> {
        visit::bodies(exp).into_iter().flat_map(|body| &body.stms).map(|stm| &stm.exp)
    }
    fn has_function(exp: &Exp) -> bool {
        bodies(exp).any(|exp| match exp {
            Exp::UnOp(op, ty, _) => ty.is_float() && scalar::has_vector_variant(*op),
            Exp::BinOp(BinOp::Pow, ty, ..) => ty.is_float(),
            Exp::If { .. } => has_function(exp),
            _ => false,
        })
    }
    fn is_harmless(exp: &Exp) -> bool {
        bodies(exp).all(|exp| match exp {
            Exp::If { .. } => is_harmless(exp),
            Exp::UnOp(op, ty, _) => !scalar::is_call_of_host(*op, *ty),
            Exp::BinOp(..) => cannot_fail(exp),
            Exp::Atom(_) | Exp::CmpOp(..) | Exp::TernOp(..) | Exp::Convert(..) | Exp::Index { .. } => true,
            _ => false,
        })
    }
    has_function(exp) && is_harmless(exp)
}

/// Whether a body takes a few operations only.
fn is_short(body: &Body) -> bool {
    body.stms.iter().all(|stm| match &stm.exp {
        Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
        Exp::Atom(_) | Exp::Index { .. } | Exp::Slice { .. } => stm.pat.iter().all(|p| p.ty.rank() == 0),
        Exp::Update { dims, .. } => {
            let rank = stm.pat.first().map_or(0, |p| p.ty.rank());
            dims.len() == rank && dims.iter().all(|part| matches!(part, DimSlice::Fix(_)))
        }
        Exp::If { then, otherwise, .. } => is_short(then) && is_short(otherwise),
        _ => false,
    })
}

/// Whether a loop writes all elements of the array that it begins with, and does nothing else with it:
/// `loop xs = … for i < n do xs with [i] = …`.
pub(super) fn writes_all(exp: &Exp, array: VarId, symbols: &Symbols) -> bool {
    let Exp::Loop { form: LoopForm::For { bound, .. }, .. } = exp else { return false };
    writes_row_by_row(exp, array).is_some_and(|size| symbols.sum(*bound) == symbols.sum(size))
}

/// How many rows there are in the array that a loop begins with, if it writes them one after the other, perhaps not to the
/// end, and does nothing else with it.
pub(super) fn writes_row_by_row(exp: &Exp, array: VarId) -> Option<Atom> {
    let Exp::Loop { params, form: LoopForm::For { var, ty: PrimType::I64, .. }, body, .. } = exp else {
        return None;
    };
    let is_it = |(_, value): &&(Param, Atom)| *value == Atom::Var(array);
    let (Some((param, _)), 1) = (params.iter().find(is_it), params.iter().filter(is_it).count()) else {
        return None;
    };
    let size = param.ty.dims().first()?;
    let users: Vec<&CoreStm> =
        body.stms.iter().filter(|stm| visit::free_vars(&stm.exp).contains(&param.var)).collect();
    let [CoreStm { exp: Exp::Update { array, dims, .. }, .. }] = users.as_slice() else { return None };
    let is_next = matches!(dims.as_slice(), [DimSlice::Fix(i)] if *i == Atom::Var(*var));
    let is_it = *array == param.var && is_next && !body.result.contains(&Atom::Var(param.var));
    is_it.then_some(*size)
}

/// Whether a statement writes the first row of an array, perhaps in one of two branches, and then a loop the others, one after the
/// other, perhaps not to the end, and reads those it has written.
pub(super) fn writes_row_after_row(body: &Body, user: &CoreStm, array: VarId, symbols: &Symbols) -> bool {
    let begun = match &user.exp {
        Exp::If { then, otherwise, .. } => begun_by_branch(then, otherwise, array),
        _ => writes_first_row(user, array).then_some(0),
    };
    let Some(begun) = begun.map(|position| user.pat[position].var) else { return false };
    match users(body, begun).as_slice() {
        [only] if !body.result.contains(&Atom::Var(begun)) => goes_on(&body.stms[*only].exp, begun, symbols),
        _ => false,
    }
}

/// The result that is an array of which one branch has written the first row, and the other nothing.
fn begun_by_branch(then: &Body, otherwise: &Body, array: VarId) -> Option<usize> {
    let position = otherwise.result.iter().position(|result| *result == Atom::Var(array))?;
    let is_begun = matches!(users(then, array).as_slice(), [only] if writes_first_row(&then.stms[*only], array))
        && users(otherwise, array).is_empty()
        && otherwise.result.iter().filter(|result| **result == Atom::Var(array)).count() == 1
        && !then.result.contains(&Atom::Var(array));
    is_begun.then_some(position)
}

fn writes_first_row(stm: &CoreStm, array: VarId) -> bool {
    match &stm.exp {
        Exp::Update { array: updated, dims, .. } => {
            *updated == array && matches!(dims.as_slice(), [DimSlice::Fix(i)] if *i == Atom::i64(0))
        }
        _ => false,
    }
}

/// The numbers of the statements that use a variable.
fn users(body: &Body, var: VarId) -> Vec<usize> {
    let uses = |(_, stm): &(usize, &CoreStm)| visit::free_vars(&stm.exp).contains(&var);
    body.stms.iter().enumerate().filter(uses).map(|(index, _)| index).collect()
}

/// Whether a loop writes row after row of an array that has its first one, and reads nothing else of it.
fn goes_on(exp: &Exp, array: VarId, symbols: &Symbols) -> bool {
    let Exp::Loop { params, form: LoopForm::For { var, ty: PrimType::I64, .. }, body, .. } = exp else {
        return false;
    };
    let mut carried = params.iter().filter(|(_, value)| *value == Atom::Var(array));
    let (Some((param, _)), None) = (carried.next(), carried.next()) else { return false };
    let is_next = |stm: &CoreStm| match &stm.exp {
        Exp::Update { array, dims, .. } if *array == param.var => {
            matches!(dims.as_slice(), [DimSlice::Fix(i)] if symbols.difference(*i, (*var).into()) == Some(1))
        }
        _ => false,
    };
    let mut others = body.stms.iter().filter(|stm| !is_next(stm));
    body.stms.iter().any(is_next)
        && others.all(|stm| reads_only_row(&stm.exp, param.var, *var))
        && !body.result.contains(&Atom::Var(param.var))
}

fn reads_only_row(exp: &Exp, array: VarId, row: VarId) -> bool {
    if matches!(exp, Exp::Index { array: read, indices, .. } if *read == array && indices[0] == Atom::Var(row))
    {
        return true;
    }
    let mut is_operand = false;
    visit::direct_operands(exp, &mut |atom| is_operand |= atom == Atom::Var(array));
    let is_inside = |body: &Body| {
        body.stms.iter().all(|stm| reads_only_row(&stm.exp, array, row))
            && !body.result.contains(&Atom::Var(array))
    };
    !is_operand && visit::bodies(exp).into_iter().all(is_inside)
}
