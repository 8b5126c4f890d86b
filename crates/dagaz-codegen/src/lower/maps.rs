//! Maps as loops.

use std::collections::HashSet;

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Body, Exp, Lambda};
use dagaz_core::machine;
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::folds::Fold;
use super::placing::Destination;
use super::split_iteration_range::interior;
use super::{Form, LoopPart, Lower, Lowered};
use crate::imp::{Expr, LoopKind, Operand, Stm, Var, lines};
use crate::scalar;

impl Lower<'_> {
    pub(super) fn map(
        &mut self,
        pat: &[Param],
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
    ) -> Lowered<()> {
        let has_strides =
            |l: &Self, p: &Param| l.memory.dests.get(&p.var).is_some_and(|place| place.strides.is_some());
        let interchanged = match pat.iter().any(|p| has_strides(self, p)) {
            true => None,
            false => self.interchangeable(pat, arrays, lambda),
        };
        if let Some(reduce) = interchanged {
            let Exp::Reduce { width: depth, arrays: own, pre, op, neutral, .. } = &reduce else {
                return Err("internal error: no reduction".into());
            };
            let fold = Fold { width: *depth, arrays: own, pre: pre.as_ref(), op, neutral };
            return self.map_of_columns(pat, (width, arrays, &lambda.params), &fold);
        }
        if self.is_outermost()
            && let Some((inner_width, rows, inner, reduce)) = self.nest_of_columns(pat, lambda)
            && let Exp::Reduce { width: depth, arrays: own, pre, op, neutral, .. } = &reduce
        {
            let fold = Fold { width: *depth, arrays: own, pre: pre.as_ref(), op, neutral };
            let outer = (width, arrays, lambda.params.as_slice());
            let inside = (inner_width, rows.as_slice(), inner.params.as_slice());
            return self
                .maps_of_columns(pat, outer, inside, &fold, |l| l.map_loops(pat, width, arrays, lambda));
        }
        self.allocate_results(pat, arrays, lambda)?;
        if let Some(part) = self.groups.part.take() {
            return self.map_for_part(part, pat, (width, arrays), lambda);
        }
        let own = usize::from(lambda.ret.is_empty());
        self.around.checking += own;
        let built = self.map_loops(pat, width, arrays, lambda);
        self.around.checking -= own;
        built
    }

    /// The loops of a map, whose results have their memory.
    fn map_loops(&mut self, pat: &[Param], width: Atom, arrays: &[VarId], lambda: &Lambda) -> Lowered<()> {
        let bound = self.atom(width);
        let with_elements = self.with_elements(width, lambda);
        let lambda = with_elements.as_ref().unwrap_or(lambda);
        if self.is_simple(lambda) {
            let cost = self.cost_of_map(width, arrays, lambda);
            self.pieces(bound, cost, false, |l, from, to| {
                l.map_by_parts(pat, (width, arrays), lambda, from, to, true)
            })?;
        } else if lambda.ret.iter().any(Type::is_acc) {
            self.map_with_accumulators(pat, width, arrays, lambda)?;
        } else {
            let cost = self.cost_of_map(width, arrays, lambda);
            self.pieces(bound, cost, true, |l, from, to| {
                l.map_by_parts(pat, (width, arrays), lambda, from, to, false)
            })?;
        }
        for (param, result) in pat.iter().zip(&lambda.body.result).filter(|(p, _)| p.ty.is_acc()) {
            self.bind_acc(param.var, *result)?;
        }
        Ok(())
    }

    /// The parameters that hold the number of the row.
    pub(super) fn counters(&self, arrays: &[VarId], params: &[Param]) -> HashSet<VarId> {
        let counts = |array: &VarId| {
            let form = self.scope.vars.get(array).map(|info| &info.form);
            form == Some(&Form::Range { start: 0.expr(), step: 1.expr() })
        };
        let counters = arrays.iter().zip(params).filter(|(array, _)| counts(array));
        counters.map(|(_, param)| param.var).collect()
    }

    /// The loop of a map; its middle part by itself, if it is simpler there.
    pub(super) fn map_by_parts(
        &mut self,
        pat: &[Param],
        (width, arrays): (Atom, &[VarId]),
        lambda: &Lambda,
        from: &Expr,
        to: &Expr,
        is_simple: bool,
    ) -> Lowered<()> {
        let with_rows;
        let lambda = match is_simple {
            true => {
                with_rows = self.with_row_pointers(lambda)?;
                &with_rows
            }
            false => lambda,
        };
        if is_simple && self.long_loop(pat, (width, arrays), lambda, (from, to))? {
            return Ok(());
        }
        let counters = self.counters(arrays, &lambda.params);
        let middle = match self.around.part.is_border() || (!is_simple && self.has_long_loops_only(lambda)) {
            true => None,
            false => interior(&self.scope.symbols, width, lambda, &counters),
        };
        let Some(middle) = middle else {
            return self.map_loop(pat, arrays, lambda, from, to, is_simple);
        };
        let first = self.limit("first", from, BinOp::Max, &middle.from);
        let last = self.limit("last", to, BinOp::Min, &middle.to);
        self.leave_out(first.is_at_least(&last), [&first, &last], to);
        let (first, last) = (first.expr(), last.expr());
        let becomes_simple = self.is_simple(&middle.lambda);
        let (middle_loop, ()) = self.nested(|l| match becomes_simple {
            true => l.simple_middle(pat, arrays, &middle.lambda, &first, &last),
            false => l.map_loop(pat, arrays, &middle.lambda, &first, &last, false),
        })?;
        self.around.part = LoopPart::Border;
        let parts = match is_simple {
            true => self.narrow_border(pat, arrays, lambda, [from, &first, &last, to], middle_loop),
            false => self.around(middle_loop, [from, &first, &last, to], |l, start, end| {
                l.around.part = LoopPart::OuterBorder;
                let border = l.map_loop(pat, arrays, lambda, start, end, false);
                l.around.part = LoopPart::Border;
                border
            }),
        };
        self.around.part = LoopPart::Whole;
        parts
    }

    /// The middle of a loop, which consists of scalar operations. Sizes are round numbers as a rule, and the border takes one
    /// or two from them: what is left fills no vectors.
    fn simple_middle(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
        from: &Expr,
        to: &Expr,
    ) -> Lowered<()> {
        let lambda = self.with_row_pointers(lambda)?;
        if statements(&lambda.body) <= machine::MOST_STATEMENTS_TWICE {
            self.around.part = LoopPart::Middle;
        }
        let built = self.map_loop(pat, arrays, &lambda, from, to, true);
        self.around.part = LoopPart::Whole;
        built
    }

    /// A border on both sides of a middle part, with the code for it once. In order, so that the first error is found first.
    pub(super) fn around(
        &mut self,
        middle: Vec<Stm>,
        [from, first, last, to]: [&Expr; 4],
        border: impl FnOnce(&mut Self, &Expr, &Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        self.for_loop(LoopKind::Sequential, 2, |l, side| {
            let start = l.int("start", side.is_above(0).select(last, from));
            let end = l.int("end", side.is_above(0).select(to, first));
            border(l, &start.expr(), &end.expr())?;
            l.out.push(Stm::when(side.equals(0), middle));
            Ok(())
        })
    }

    /// Has a middle part begin and end at the end of the loop if a condition holds: there is none then.
    pub(super) fn leave_out(&mut self, cond: Expr, [first, last]: [&Var; 2], to: &Expr) {
        self.out.push(Stm::when(cond, vec![Stm::assign(first, to), Stm::assign(last, to)]));
    }

    /// The parts of a loop of scalar operations. The border is a few iterations as a rule, over before vectors are set up;
    /// if it is more, the whole loop is for vectors and there is no middle. If there is much code, the border is for vectors
    /// in any case, and there once.
    fn narrow_border(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
        [from, first, last, to]: [&Expr; 4],
        middle: Vec<Stm>,
    ) -> Lowered<()> {
        if lines(&middle) > machine::MOST_LINES_TWICE {
            return self.around(middle, [from, first, last, to], |l, start, end| {
                l.map_loop(pat, arrays, lambda, start, end, true)
            });
        }
        let deferred = self.around.deferred.take();
        let parts = self.nested(|l| {
            l.one_by_one(pat, arrays, lambda, from, first)?;
            l.out.extend(middle);
            l.one_by_one(pat, arrays, lambda, last, to)
        });
        self.around.deferred = deferred;
        let (then, ()) = parts?;
        let (otherwise, ()) = self.nested(|l| l.map_loop(pat, arrays, lambda, from, to, true))?;
        let border = (first - from) + (to - last);
        self.out.push(Stm::branch(border.is_at_most(machine::NARROW_BORDER), then, otherwise));
        Ok(())
    }

    /// A loop of scalar operations without vectors.
    pub(super) fn one_by_one(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
        from: &Expr,
        to: &Expr,
    ) -> Lowered<()> {
        self.loop_from(LoopKind::Scalar, from, to, |l, i| {
            l.load_row(arrays, &lambda.params, i)?;
            l.body(&lambda.body, &lambda.params, |l| l.write_results(pat, lambda, i, &[]))
        })
    }

    fn map_loop(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
        from: &Expr,
        to: &Expr,
        is_simple: bool,
    ) -> Lowered<()> {
        if !is_simple && self.check_rows((arrays, lambda), (from, to))? {
            return Ok(());
        }
        if !is_simple {
            return self.iterate(from, to, |l, i| l.iteration_of_map(pat, arrays, lambda, i));
        }
        if self.around.part == LoopPart::OuterBorder && reads_elsewhere_in_branches(&lambda.body) {
            return self.one_by_one(pat, arrays, lambda, from, to);
        }
        self.in_turned_blocks(pat, from, to, &|l, from, to| {
            l.loop_of_whole_vectors(from, to, lambda, &|l, i| {
                l.load_row(arrays, &lambda.params, i)?;
                l.body(&lambda.body, &lambda.params, |l| l.write_wanted_results(pat, lambda, i))
            })
        })
    }

    /// As [`Lower::simple_loop`], for a map. Functions such as `exp` take nearly as long for one number as for a vector, so
    /// the iterations that do not fill one run together with the last ones before them, whose results nobody writes again:
    ///
    ///     for i < 14 { ys[i] = exp(xs[i]) }   ==>   for i < 8 { … } for k < 8 { i = 6 + k; if (i >= 8) ys[i] = exp(xs[i]) }
    ///
    /// So do those in the middle of a stencil.
    pub(super) fn loop_of_whole_vectors(
        &mut self,
        from: &Expr,
        to: &Expr,
        lambda: &Lambda,
        build: &dyn Fn(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        let is_safe = !lambda.body.stms.iter().any(|stm| can_fail(&stm.exp));
        let pays = self.around.part == LoopPart::Middle || calls_vector_functions(&lambda.body);
        if !is_safe || self.around.only_if.is_some() || !pays {
            return self.simple_loop(from, to, &[], build);
        }
        let count = self.int("count", to - from);
        let whole = self.int(
            "whole",
            count.is_below(machine::LANES_OF_F64).select(to, to - &count % machine::LANES_OF_F64),
        );
        self.simple_loop(from, &whole.expr(), &[], build)?;
        let last = self.nested(|l| {
            l.simple_loop(&0.expr(), &machine::LANES_OF_F64.expr(), &[], &|l, k| {
                let i = l.int("i", to - machine::LANES_OF_F64 + k);
                l.around.only_if = Some(i.is_at_least(&whole));
                let built = build(l, &i);
                l.around.only_if = None;
                built
            })
        });
        let (then, ()) = last?;
        self.out.push(Stm::when(whole.is_below(to), then));
        Ok(())
    }

    /// Writes the scalars that an iteration gives, unless it ran before.
    pub(super) fn write_wanted_results(&mut self, pat: &[Param], lambda: &Lambda, i: &Var) -> Lowered<()> {
        let Some(cond) = self.around.only_if.clone() else { return self.write_results(pat, lambda, i, &[]) };
        let (then, ()) = self.nested(|l| l.write_results(pat, lambda, i, &[]))?;
        self.out.push(Stm::when(cond, then));
        Ok(())
    }

    pub(super) fn iteration_of_map(
        &mut self,
        pat: &[Param],
        arrays: &[VarId],
        lambda: &Lambda,
        i: &Var,
    ) -> Lowered<()> {
        self.load_row(arrays, &lambda.params, i)?;
        let direct = self.set_destinations(pat, lambda, i)?;
        self.body(&lambda.body, &lambda.params, |l| l.write_results(pat, lambda, i, &direct))
    }

    /// Writes the results of an iteration to their rows, but for those that are there already.
    pub(super) fn write_results(
        &mut self,
        pat: &[Param],
        lambda: &Lambda,
        i: &Var,
        direct: &[usize],
    ) -> Lowered<()> {
        let mut position = 0;
        for param in pat {
            let (row, result) = (&lambda.ret[position], lambda.body.result[position]);
            if matches!(row, Type::Prim(_)) && param.ty.rank() > 1 {
                position += self.write_elements(param, i, &lambda.body.result[position..])?;
                continue;
            }
            position += 1;
            if row.is_acc() || direct.contains(&(position - 1)) {
                continue;
            }
            let target = self.var(param.var)?;
            if let Form::View { strides } = self.info(param.var)?.form.clone() {
                self.store_apart(target, (&i.expr(), &strides), row, result)?;
                continue;
            }
            self.store(target, i * self.product(row.dims()), row, result)?;
        }
        Ok(())
    }

    /// Whether a map consists of reductions that read along columns.
    pub(super) fn runs_along_columns(&self, pat: &[Param], arrays: &[VarId], lambda: &Lambda) -> bool {
        self.interchangeable(pat, arrays, lambda).is_some() || self.nest_of_columns(pat, lambda).is_some()
    }

    /// The map inside of a map, and the reduction that it consists of, if that reads along columns.
    fn nest_of_columns(&self, pat: &[Param], lambda: &Lambda) -> Option<(Atom, Vec<VarId>, Lambda, Exp)> {
        let ([param], [stm]) = (pat, lambda.body.stms.as_slice()) else { return None };
        let Exp::Map { width, arrays, lambda: inner } = &stm.exp else { return None };
        let is_result = lambda.body.result.as_slice() == [Atom::Var(stm.pat.first()?.var)];
        let is_own = |atom: &Atom| atom.as_var().is_some_and(|v| lambda.params.iter().any(|p| p.var == v));
        let reduce = self.interchangeable(&stm.pat, &[], inner)?;
        let Exp::Reduce { width: depth, arrays: own, neutral, .. } = &reduce else { return None };
        let depends = is_own(width)
            || is_own(depth)
            || neutral.iter().any(is_own)
            || own.iter().any(|array| is_own(&Atom::Var(*array)));
        let fits = param.ty.rank() == 2 && is_result && !depends;
        fits.then(|| (*width, arrays.clone(), inner.clone(), reduce))
    }

    /// The reduction that a map consists of, if it reads along columns: the index of the map is the last one somewhere,
    /// or the rows of the map are columns in memory.
    fn interchangeable(&self, pat: &[Param], rows: &[VarId], lambda: &Lambda) -> Option<Exp> {
        let ([param], [stm]) = (pat, lambda.body.stms.as_slice()) else { return None };
        let Exp::Reduce { width, arrays, pre, op, neutral, .. } = &stm.exp else { return None };
        let [start] = neutral.as_slice() else { return None };
        let is_own = |atom: &Atom| atom.as_var().is_some_and(|v| lambda.params.iter().any(|p| p.var == v));
        let is_column = |array: &VarId| {
            let source =
                lambda.params.iter().zip(rows).find(|(p, _)| p.var == *array).map(|(_, source)| source);
            source.and_then(|s| self.scope.vars.get(s)).is_some_and(|info| match &info.form {
                Form::View { strides } => {
                    strides.len() == 2 && strides[0] == 1.expr() && strides[1] != 1.expr()
                }
                Form::Block { .. } | Form::Range { .. } | Form::Fill { .. } => false,
            })
        };
        let own: Vec<&VarId> = arrays.iter().filter(|a| is_own(&Atom::Var(**a))).collect();
        let depends = is_own(width) || is_own(start) || !own.iter().all(|a| is_column(a));
        let is_simple = self.is_simple(op) && pre.as_ref().is_none_or(|pre| self.is_simple(pre));
        let pre_stms = pre.iter().flat_map(|pre| &pre.body.stms);
        let exps = || pre_stms.clone().chain(&op.body.stms).map(|stm| &stm.exp);
        let by_column = !own.is_empty()
            || exps().any(|exp| match exp {
                Exp::Index { indices, .. } => indices.len() > 1 && indices.last().is_some_and(is_own),
                _ => false,
            });
        let is_result = lambda.body.result.as_slice() == [Atom::Var(stm.pat.first()?.var)];
        let fits = param.ty.rank() == 1 && is_simple && by_column && is_result && !depends;
        (fits && !exps().any(can_fail)).then(|| stm.exp.clone())
    }

    /// Results that the lambda can write straight to where they belong. Gives their positions.
    fn set_destinations(&mut self, pat: &[Param], lambda: &Lambda, i: &Var) -> Lowered<Vec<usize>> {
        let mut direct = Vec::new();
        for (position, (param, result)) in pat.iter().zip(&lambda.body.result).enumerate() {
            let row = &lambda.ret[position];
            if !row.is_array() {
                continue;
            }
            let (size, strides) = match &self.info(param.var)?.form {
                Form::View { strides } => (strides[0].clone(), Some(strides[1..].to_vec())),
                _ => (self.product(row.dims()), None),
            };
            let (pointer, block) = (self.var(param.var)? + i * size, self.mem(param.var).expr());
            if self.send(&lambda.body, *result, Destination { pointer, block, strides }) {
                direct.push(position);
            }
        }
        Ok(direct)
    }
}

/// Whether there are functions that the C library has for vectors.
pub(super) fn calls_vector_functions(body: &Body) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::UnOp(op, ty, _) => ty.is_float() && scalar::has_vector_variant(*op),
        Exp::BinOp(BinOp::Pow, ty, ..) => ty.is_float(),
        Exp::If { then, otherwise, .. } => calls_vector_functions(then) || calls_vector_functions(otherwise),
        _ => false,
    })
}

/// How many statements there are, those in branches included.
pub(super) fn statements(body: &Body) -> usize {
    let inside = |exp: &Exp| match exp {
        Exp::If { then, otherwise, .. } => statements(then) + statements(otherwise),
        _ => 0,
    };
    body.stms.iter().map(|stm| 1 + inside(&stm.exp)).sum()
}

/// Whether memory is read in branches that is not in the row at hand or one near to it. Vector units would do so with masks,
/// which takes long where there is no memory.
fn reads_elsewhere_in_branches(body: &Body) -> bool {
    is_in_branches(body, &|exp| matches!(exp, Exp::Index { indices, .. } if indices.len() > 1))
}

/// Whether memory is read in branches.
pub(super) fn reads_in_branches(body: &Body) -> bool {
    is_in_branches(body, &|exp| matches!(exp, Exp::Index { .. }))
}

fn is_in_branches(body: &Body, is_it: &dyn Fn(&Exp) -> bool) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::If { then, otherwise, .. } => [then, otherwise]
            .into_iter()
            .any(|branch| branch.stms.iter().any(|stm| is_it(&stm.exp)) || is_in_branches(branch, is_it)),
        _ => false,
    })
}
