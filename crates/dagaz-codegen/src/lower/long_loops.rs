//! Loops of scalar operations with much code, for vector units.
//!
//! The C compiler needs long for such a loop, and needs that again for iterations that fill no vector; rows of a few dozen
//! elements would be such iterations for the most part. So the middle of the loop runs in blocks of a known size, with all
//! of its code once; the last block begins earlier, and iterations that ran before write nothing. The border, and rows shorter
//! than a block, run one by one:
//!
//!     for j { x = if top | j == 0 then a[j] else a[j - 1] + b[j]; … }
//!     ==>
//!     first = top ? 0 : 1; if (n - first < 16) first = n
//!     for j < first { as before }
//!     for each block in [first, n) { if (top) for k < 16 { x = a[j]; … } else for k < 16 { x = a[j - 1] + b[j]; … } }
//!
//! What decides a branch for the whole loop, as `top` does, has a loop of its own and no border around it.
//!
//! Elements of a byte or two, that are compared and nothing else, are made longer before each block: the C compiler would
//! make vectors with as many numbers as there are bytes. Where such elements are read from elsewhere, a block is too short for that,
//! and the loop is left to the C compiler.

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::maps::{reads_in_branches, statements};
use super::split_iteration_range::{Interior, interior, specialise};
use super::{Lower, Lowered};
use crate::imp::{Expr, LoopKind, Operand, Stm as Imp, Var, any};

/// A branch that some conditions from outside of a loop can decide.
struct Choice {
    cond: VarId,
    /// The condition is `decided` if one of these is.
    outside: Vec<VarId>,
    decided: bool,
}

/// What becomes of a loop.
struct LoopChoice {
    /// The loop when the choice is decided.
    decided: Option<(Choice, Lambda)>,
    middle: Interior,
}

impl Lower<'_> {
    /// Makes a loop of blocks if there is much code in it, and says whether it did.
    pub(super) fn long_loop(
        &mut self,
        pat: &[Param],
        (width, arrays): (Atom, &[VarId]),
        lambda: &Lambda,
        (from, to): (&Expr, &Expr),
    ) -> Lowered<bool> {
        let is_plain =
            self.around.only_if.is_none() && self.around.deferred.is_none() && !self.around.part.is_border();
        let plan = if is_plain { self.plan_of_long_loop(width, arrays, lambda) } else { None };
        let Some(LoopChoice { decided, middle }) = plan else { return Ok(false) };
        let first = self.limit("first", from, BinOp::Max, &middle.from);
        let last = self.limit("last", to, BinOp::Min, &middle.to);
        let (mut blocks, ()) = self.nested(|l| l.blocks(pat, arrays, &middle.lambda, (&first, &last)))?;
        if let Some((choice, lambda)) = &decided {
            let conditions = choice.outside.iter().map(|var| {
                let cond = self.atom((*var).into());
                if choice.decided { cond } else { cond.not() }
            });
            let decided = any(conditions).unwrap_or_else(|| false.expr());
            let decided = self.temp_with(PrimType::Bool, "decided", decided);
            self.out.push(Imp::when(&decided, vec![Imp::assign(&first, from), Imp::assign(&last, to)]));
            let (then, ()) = self.nested(|l| l.blocks(pat, arrays, lambda, (&first, &last)))?;
            blocks = vec![Imp::branch(decided, then, blocks)];
        }
        self.leave_out((&last - &first).is_below(machine::LANES_OF_F32), [&first, &last], to);
        self.around(blocks, [from, &first.expr(), &last.expr(), to], |l, start, end| {
            l.one_by_one(pat, arrays, lambda, start, end)
        })?;
        Ok(true)
    }

    fn plan_of_long_loop(&self, width: Atom, arrays: &[VarId], lambda: &Lambda) -> Option<LoopChoice> {
        let is_long = statements(&lambda.body) > machine::MOST_STATEMENTS_TWICE;
        if !is_long || lambda.body.stms.iter().any(|stm| can_fail(&stm.exp)) {
            return None;
        }
        let choice = choice_from_outside(lambda);
        let decided = choice.map(|choice| {
            let known = HashMap::from([(choice.cond, Atom::bool(choice.decided))]);
            let lambda = specialise(&self.scope.symbols, width, lambda, known);
            (choice, lambda)
        });
        let rest = match &decided {
            Some((choice, _)) => {
                let known = choice.outside.iter().map(|var| (*var, Atom::bool(!choice.decided))).collect();
                specialise(&self.scope.symbols, width, lambda, known)
            }
            None => lambda.clone(),
        };
        let counters = self.counters(arrays, &lambda.params);
        let middle = match interior(&self.scope.symbols, width, &rest, &counters) {
            Some(middle) => {
                Some(middle).filter(|middle| middle.has_narrow_border(&self.scope.symbols, width))?
            }
            None if decided.is_some() || lambda.params.iter().any(|p| is_widened(p, lambda)) => {
                Interior { from: Vec::new(), to: Vec::new(), lambda: rest }
            }
            None => return None,
        };
        (!reads_short_elements(&middle.lambda.body)).then_some(LoopChoice { decided, middle })
    }

    /// Whether the parallel operations in the body of a map are loops of blocks, in which nothing is gained by splitting the
    /// loops around them.
    pub(super) fn has_long_loops_only(&self, lambda: &Lambda) -> bool {
        let mut operations = lambda.body.stms.iter().filter(|stm| !self.is_simple_stm(stm)).peekable();
        let is_long = |stm: &Stm| {
            let Exp::Map { width, arrays, lambda } = &stm.exp else { return false };
            if !self.is_simple(lambda) {
                return self.has_long_loops_only(lambda);
            }
            self.plan_of_long_loop(*width, arrays, lambda).is_some_and(|LoopChoice { decided, middle }| {
                !reads_in_branches(&middle.lambda.body)
                    && decided.is_some_and(|(_, lambda)| !reads_in_branches(&lambda.body))
            })
        };
        operations.peek().is_some() && operations.all(is_long)
    }

    /// The iterations from `from` up to `to`, which are a block at least.
    fn blocks(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
        (from, to): (&Var, &Var),
    ) -> Lowered<()> {
        let lambda = self.with_row_pointers(lambda)?;
        let count = self.int("blocks", (to - from).parts_of(machine::LANES_OF_F32));
        self.for_loop(LoopKind::Sequential, count, |l, block| {
            let wanted = l.int("wanted", from + block * machine::LANES_OF_F32);
            let start = l.int("start", wanted.minimum(to - machine::LANES_OF_F32));
            let widened = l.widen(arrays, &lambda, &start)?;
            l.simple_loop(&0.expr(), &machine::LANES_OF_F32.expr(), &[], &|l, k| {
                let i = l.int("i", &start + k);
                for (array, param) in arrays.iter().zip(&lambda.params) {
                    match widened.get(&param.var) {
                        Some(wide) => {
                            l.bind(param, false);
                            l.set(&Var::new(PrimType::I32, l.name(param.var)), wide.at(k));
                        }
                        None => l.load_row(&[*array], std::slice::from_ref(param), &i)?,
                    }
                }
                l.around.only_if = Some(i.is_at_least(&wanted));
                let built =
                    l.body(&lambda.body, &lambda.params, |l| l.write_wanted_results(pat, &lambda, &i));
                l.around.only_if = None;
                built
            })
        })
    }

    /// Arrays with a block of the elements that are short, made longer; by the parameters that are bound to these elements.
    fn widen(&mut self, arrays: &[VarId], lambda: &Lambda, start: &Var) -> Lowered<HashMap<VarId, Var>> {
        let mut widened = HashMap::new();
        for (array, param) in arrays.iter().zip(&lambda.params).filter(|(_, p)| is_widened(p, lambda)) {
            let wide = self.stack_array(PrimType::I32, "wide", machine::LANES_OF_F32);
            self.for_loop(LoopKind::SIMD, machine::LANES_OF_F32, |l, k| {
                let element = l.element(*array, &[start + k])?;
                l.write(&wide, k, element.cast(PrimType::I32));
                Ok(())
            })?;
            widened.insert(param.var, wide);
        }
        Ok(widened)
    }
}

/// The first branch with reads that something from outside of a loop can decide.
fn choice_from_outside(lambda: &Lambda) -> Option<Choice> {
    let stms = &lambda.body.stms;
    let inside: HashSet<VarId> =
        stms.iter().flat_map(|stm| &stm.pat).chain(&lambda.params).map(|p| p.var).collect();
    let mut definitions = HashMap::new();
    for stm in stms {
        match (&stm.exp, stm.pat.as_slice()) {
            (Exp::BinOp(op @ (BinOp::And | BinOp::Or), _, a, b), [param]) => {
                definitions.insert(param.var, (*op, [*a, *b]));
            }
            (Exp::If { cond: Atom::Var(cond), then, otherwise }, _) => {
                let op = definitions.get(cond).map_or(BinOp::Or, |(op, _)| *op);
                let mut outside = Vec::new();
                operands(*cond, op, &definitions, &inside, &mut outside);
                let reads = |body: &Body| body.stms.iter().any(|s| matches!(s.exp, Exp::Index { .. }));
                if !outside.is_empty() && (reads(then) || reads(otherwise)) {
                    return Some(Choice { cond: *cond, outside, decided: op == BinOp::Or });
                }
            }
            _ => {}
        }
    }
    None
}

/// The operands of a chain of one operation that are not computed inside of a loop.
fn operands(
    var: VarId,
    op: BinOp,
    definitions: &HashMap<VarId, (BinOp, [Atom; 2])>,
    inside: &HashSet<VarId>,
    found: &mut Vec<VarId>,
) {
    if !inside.contains(&var) {
        found.push(var);
    }
    for operand in definitions.get(&var).filter(|(own, _)| *own == op).iter().flat_map(|(_, both)| both) {
        if let Some(operand) = operand.as_var() {
            operands(operand, op, definitions, inside, found);
        }
    }
}

/// Whether an element is made longer: it is a byte or two, and compared or asked for, and nothing else.
fn is_widened(param: &Param, lambda: &Lambda) -> bool {
    let Type::Prim(ty) = param.ty else { return false };
    ty.bytes() < 4 && !ty.is_float() && is_only_compared(param.var, &lambda.body)
}

/// Whether elements of a byte or two are read by their indices.
fn reads_short_elements(body: &Body) -> bool {
    let is_short = |param: &Param| matches!(param.ty, Type::Prim(ty) if ty.bytes() < 4);
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Index { .. } => stm.pat.iter().any(is_short),
        Exp::If { then, otherwise, .. } => reads_short_elements(then) || reads_short_elements(otherwise),
        _ => false,
    })
}

fn is_only_compared(var: VarId, body: &Body) -> bool {
    let is_fine = |stm: &Stm| match &stm.exp {
        Exp::CmpOp(..) => true,
        Exp::If { then, otherwise, .. } => is_only_compared(var, then) && is_only_compared(var, otherwise),
        exp => {
            let mut is_used = false;
            visit::direct_operands(exp, &mut |atom| is_used |= atom == Atom::Var(var));
            !is_used
        }
    };
    body.stms.iter().all(is_fine) && !body.result.contains(&Atom::Var(var))
}
