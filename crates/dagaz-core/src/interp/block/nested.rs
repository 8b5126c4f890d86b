//! Branches, loops and reductions inside of a block.

use std::mem;

use crate::interp::exec::Machine;
use crate::interp::parallel::levels;
use crate::prim::{Prim, PrimType};
use crate::value::Elems;

use super::columns::{self, Side};
use super::lanes::{Content, Lanes, Part, Run, Stop};
use super::{Arg, BlockBody, BlockForm, BlockLoop, BlockReduce, BlockResult};

impl Lanes {
    /// Runs something for some of the lanes. What it adds to the span is theirs alone, and returned.
    fn masked(&mut self, mask: Vec<bool>, run: impl FnOnce(&mut Lanes) -> Run<()>) -> Run<(Vec<bool>, u64)> {
        let before = self.span;
        self.active = mask.iter().filter(|m| **m).count() as u64;
        let outer = self.mask.replace(mask);
        let done = run(self);
        let mask = mem::replace(&mut self.mask, outer).unwrap_or_default();
        self.active = match &self.mask {
            Some(outer) => outer.iter().filter(|m| **m).count() as u64,
            None => self.lanes as u64,
        };
        let added = mem::replace(&mut self.span, before) - before;
        done.map(|()| (mask, added))
    }

    /// Adds to the span of some lanes.
    fn charge(&mut self, mask: &[bool], span: u64) {
        if span == 0 {
            return;
        }
        self.own_span.resize(self.lanes, 0);
        for (own, active) in self.own_span.iter_mut().zip(mask) {
            *own += if *active { span } else { 0 };
        }
    }

    /// The lanes that run and where the column holds.
    fn narrowed(&self, column: &[bool], wanted: bool) -> Vec<bool> {
        match &self.mask {
            None => column.iter().map(|c| *c == wanted).collect(),
            Some(mask) => column.iter().zip(mask).map(|(c, m)| *m && *c == wanted).collect(),
        }
    }

    pub(super) fn branch(
        &mut self,
        machine: &mut Machine<'_>,
        cond: Arg,
        (then, otherwise): (&BlockBody, &BlockBody),
        targets: &[u32],
    ) -> Run<()> {
        let (yes, no) = match self.operand(cond)?.side::<bool>(self.lanes)? {
            Side::One(cond) => {
                let taken = if cond { then } else { otherwise };
                self.body(machine, taken)?;
                return self.assign_all(targets, &taken.result);
            }
            Side::Many(column) => (self.narrowed(column, true), self.narrowed(column, false)),
        };
        for (mask, taken) in [(&yes, otherwise), (&no, then)] {
            if !mask.contains(&true) {
                self.body(machine, taken)?;
                return self.assign_all(targets, &taken.result);
            }
        }
        let (yes, then_span) = self.masked(yes, |lanes| lanes.body(machine, then))?;
        let (no, else_span) = self.masked(no, |lanes| lanes.body(machine, otherwise))?;
        let common = then_span.min(else_span);
        self.span += common;
        self.charge(&yes, then_span - common);
        self.charge(&no, else_span - common);
        for ((target, x), y) in targets.iter().zip(&then.result).zip(&otherwise.result) {
            self.fill(*target, |lanes, out| {
                Ok(columns::select(&yes, (lanes.operand(x.arg)?, lanes.operand(y.arg)?), out)?)
            })?;
        }
        Ok(())
    }

    pub(super) fn run_loop(
        &mut self,
        machine: &mut Machine<'_>,
        code: &BlockLoop,
        targets: &[u32],
    ) -> Run<()> {
        for (param, init) in code.params.iter().zip(&code.init) {
            self.assign(*param, BlockResult { arg: *init, movable: false })?;
        }
        match &code.form {
            BlockForm::For { var, ty, bound } => self.run_for(machine, code, (*var, *ty), *bound)?,
            BlockForm::While { cond } => self.run_while(machine, code, cond)?,
        }
        let results = code.params.iter().map(|p| BlockResult { arg: Arg::Reg(*p), movable: true });
        if targets.len() != code.params.len() {
            return Err(Stop::Retry);
        }
        targets.iter().zip(results).try_for_each(|(target, result)| self.assign(*target, result))
    }

    fn run_for(
        &mut self,
        machine: &mut Machine<'_>,
        code: &BlockLoop,
        (var, ty): (u32, PrimType),
        bound: Arg,
    ) -> Run<()> {
        let bound = match self.scalar(bound)? {
            Prim::U64(n) => i64::try_from(n).unwrap_or(i64::MAX),
            bound => bound.as_i64().ok_or(Stop::Retry)?,
        };
        for i in 0..bound.max(0) {
            machine.tick()?;
            self.set(var, Content::Scalar(Prim::of_i64(ty, i)));
            self.body(machine, &code.body)?;
            self.assign_all(&code.params, &code.body.result)?;
        }
        Ok(())
    }

    /// In step while all lanes go on; then lane by lane under a mask.
    fn run_while(&mut self, machine: &mut Machine<'_>, code: &BlockLoop, cond: &BlockBody) -> Run<()> {
        let &[BlockResult { arg: goes_on, .. }] = cond.result.as_slice() else { return Err(Stop::Retry) };
        let mut mask = loop {
            machine.tick()?;
            self.body(machine, cond)?;
            match self.operand(goes_on)?.side::<bool>(self.lanes)? {
                Side::One(false) => return Ok(()),
                Side::One(true) => {}
                Side::Many(column) => {
                    let mask = self.narrowed(column, true);
                    let running = mask.iter().filter(|m| **m).count() as u64;
                    if running == 0 {
                        return Ok(());
                    }
                    if running < self.active {
                        break mask;
                    }
                }
            }
            self.body(machine, &code.body)?;
            self.assign_all(&code.params, &code.body.result)?;
        };
        while mask.contains(&true) {
            machine.tick()?;
            let (ran, span) = self.masked(mask, |lanes| {
                lanes.body(machine, &code.body)?;
                lanes.blend(&code.params, &code.body.result)?;
                lanes.body(machine, cond)
            })?;
            self.charge(&ran, span);
            mask = match self.operand(goes_on)?.side::<bool>(self.lanes)? {
                Side::One(true) => ran,
                Side::One(false) => return Ok(()),
                Side::Many(column) => column.iter().zip(&ran).map(|(c, r)| *c && *r).collect(),
            };
        }
        Ok(())
    }

    /// Writes results to parameters in the lanes that run.
    fn blend(&mut self, params: &[u32], results: &[BlockResult]) -> Run<()> {
        let Some(mask) = self.mask.take() else { return self.assign_all(params, results) };
        let mut done = Ok(());
        for (param, result) in params.iter().zip(results) {
            done = done.and_then(|()| {
                let mut out = mem::replace(&mut self.spare, Elems::Bool(Vec::new()));
                let (new, old) = (self.operand(result.arg)?, self.operand(Arg::Reg(*param))?);
                columns::select(&mask, (new, old), &mut out)?;
                self.spare = mem::replace(&mut self.registers[*param as usize].column, out);
                self.set(*param, Content::Own);
                Ok(())
            });
        }
        self.mask = Some(mask);
        done
    }

    pub(super) fn reduce(
        &mut self,
        machine: &mut Machine<'_>,
        code: &BlockReduce,
        targets: &[u32],
    ) -> Run<()> {
        let Prim::I64(width) = self.scalar(code.width)? else { return Err(Stop::Retry) };
        let width = usize::try_from(width).map_err(|_| Stop::Retry)?;
        let n = code.neutral.len();
        let (old, new) = code.op.params.split_at(n);
        for (param, neutral) in old.iter().zip(&code.neutral) {
            self.assign(*param, BlockResult { arg: *neutral, movable: false })?;
        }
        let rows = code.pre.as_ref().map_or(new, |pre| &pre.params);
        if rows.len() != code.arrays.len() {
            return Err(Stop::Retry);
        }
        for array in &code.arrays {
            let part = self.part(*array)?;
            if self.shape(part).first() != Some(&width) {
                return Err(Stop::Retry);
            }
        }
        let (mut row_span, mut op_span) = (0, 0);
        let start = self.span;
        let own_before = self.own_span.iter().sum::<u64>();
        for i in 0..width {
            machine.tick()?;
            for (target, array) in rows.iter().zip(&code.arrays) {
                let part = self.part(*array)?;
                let rest: usize = self.shape(part).iter().skip(1).product();
                let row = Part { at: part.at + i * rest, indexed: part.indexed + 1, ..part };
                self.put_part(*target, row)?;
            }
            match &code.pre {
                Some(pre) => {
                    self.body(machine, &pre.body)?;
                    self.assign_all(new, &pre.body.result)?;
                    row_span = row_span.max(self.span - start);
                }
                None => {
                    self.work += self.active * code.arrays.len() as u64;
                    row_span = row_span.max(1);
                }
            }
            self.span = start;
            self.body(machine, &code.op.body)?;
            op_span = op_span.max(self.span - start);
            self.span = start;
            self.assign_all(old, &code.op.body.result)?;
        }
        // Lanes that part inside have spans of which each takes its own greatest: not known here.
        if self.own_span.iter().sum::<u64>() != own_before {
            return Err(Stop::Retry);
        }
        self.span += row_span + op_span * levels(width) + 1;
        if targets.len() != n {
            return Err(Stop::Retry);
        }
        let results = old.iter().map(|p| BlockResult { arg: Arg::Reg(*p), movable: true });
        targets.iter().zip(results).try_for_each(|(target, result)| self.assign(*target, result))
    }
}
