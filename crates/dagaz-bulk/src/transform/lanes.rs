//! All iterations of a map at once, one lane each: what differs between iterations has a further, outermost dimension.
//!
//! A *mask* says which iterations are still running: those that have taken a branch, are still in a loop, and have not failed.
//! Without a mask all are. Operations do not need it, as they give a value whatever their operands are; it matters where
//! something is added to a shared accumulator, where a loop may not end, and where an iteration fails.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::Loc;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Body, Op, Stm};

use super::depend::differing;
use super::failures::Failure;
use super::{Transform, Transformed, is_assert, unsupported};

pub(super) struct Lanes {
    /// How many iterations there are.
    pub width: Atom,
    /// What variables have become, and whether they differ between iterations.
    pub names: HashMap<VarId, (Atom, bool)>,
    /// What will differ; loops have to know before they begin.
    pub differs: HashSet<VarId>,
    /// Variables that are sizes in types.
    pub sizes: HashSet<VarId>,
    /// The greatest value of sizes that differ between iterations (`ragged`).
    pub greatest: HashMap<VarId, Atom>,
    pub mask: Option<VarId>,
    /// The arrays of accumulators as they are now: every update is made to the last one before it, whichever branch it is in.
    pub current: HashMap<(usize, usize), VarId>,
    pub failures: Vec<Failure>,
}

impl Transform<'_> {
    /// The results of a body for all rows at once. Arrays of accumulators are as they were, with all updates.
    pub(super) fn on_lanes(
        &mut self,
        width: Atom,
        rows: &[(VarId, VarId)],
        body: &Body,
        loc: Loc,
    ) -> Transformed<Vec<Atom>> {
        let body = self.without_stopping_folds(body);
        let mut lanes = Lanes {
            width,
            names: rows.iter().map(|(row, array)| (*row, (Atom::Var(*array), true))).collect(),
            differs: differing(&body, rows.iter().map(|(row, _)| *row), &self.shared),
            sizes: super::ragged::sizes_of(&body),
            greatest: HashMap::new(),
            mask: None,
            current: HashMap::new(),
            failures: Vec::new(),
        };
        rows.iter().for_each(|(row, _)| self.note_size(&mut lanes, *row));
        self.lane_stms(&mut lanes, &body.stms)?;
        self.b.loc = loc;
        let mut results = Vec::new();
        for atom in &body.result {
            results.push(match atom {
                Atom::Var(var) if self.shared.contains_key(var) => self.now(&lanes, *atom).0,
                _ => self.lifted(&mut lanes, *atom).into(),
            });
        }
        self.raise(&lanes);
        Ok(results)
    }

    pub(super) fn lane_stms(&mut self, lanes: &mut Lanes, stms: &[Stm]) -> Transformed<()> {
        for stm in stms {
            self.b.loc = stm.loc;
            // A body may be gone through again, in another scope.
            lanes.greatest.retain(|var, _| stm.pat.iter().all(|p| p.var != *var));
            self.lane_stm(lanes, stm)?;
            stm.pat.iter().for_each(|p| self.note_size(lanes, p.var));
        }
        Ok(())
    }

    /// What an atom has become, and whether it differs between iterations.
    pub(super) fn now(&self, lanes: &Lanes, atom: Atom) -> (Atom, bool) {
        let Atom::Var(var) = atom else { return (atom, false) };
        match self.shared.get(&var) {
            Some(key) => (lanes.current.get(key).copied().unwrap_or(var).into(), false),
            None => lanes.names.get(&var).copied().unwrap_or((atom, false)),
        }
    }

    /// The values of all iterations.
    pub(super) fn lifted(&mut self, lanes: &mut Lanes, atom: Atom) -> VarId {
        match self.now(lanes, atom) {
            (Atom::Var(var), true) => var,
            (atom, _) => self.b.replicate(&[lanes.width], atom),
        }
    }

    /// The values of all iterations, where a constant stands for itself.
    pub(super) fn operand(&mut self, lanes: &mut Lanes, atom: Atom) -> Atom {
        match self.now(lanes, atom).0 {
            constant @ Atom::Const(_) => constant,
            Atom::Var(_) => self.lifted(lanes, atom).into(),
        }
    }

    /// A size, or the greatest one where it differs between iterations.
    pub(super) fn lane_size(&self, lanes: &Lanes, size: Atom) -> Transformed<Atom> {
        match self.now(lanes, size) {
            (size, false) => Ok(size),
            (_, true) => match size.as_var().and_then(|var| lanes.greatest.get(&var)) {
                Some(greatest) => Ok(*greatest),
                None => {
                    unsupported("the size of an array differs between the iterations of a map", self.b.loc)
                }
            },
        }
    }

    pub(super) fn lane_sizes(&self, lanes: &Lanes, sizes: &[Atom]) -> Transformed<Vec<Atom>> {
        sizes.iter().map(|size| self.lane_size(lanes, *size)).collect()
    }

    /// The type with the sizes as they are now.
    pub(super) fn lane_type(&self, lanes: &Lanes, ty: &Type) -> Transformed<Type> {
        let Some(elem) = ty.elem() else {
            return unsupported(format!("a value of type {}", self.shown(ty)), self.b.loc);
        };
        Ok(Type::array(elem, self.lane_sizes(lanes, ty.dims())?))
    }

    /// New variables for those of a pattern. Types may mention earlier variables.
    pub(super) fn lane_pat(
        &mut self,
        lanes: &mut Lanes,
        pat: &[Param],
        differ: &[bool],
    ) -> Transformed<Vec<Param>> {
        let mut new = Vec::new();
        for (param, differs) in pat.iter().zip(differ) {
            let ty = self.lane_type(lanes, &param.ty)?;
            let ty = if *differs { ty.with_outer(&[lanes.width]) } else { ty };
            let own = self.b.param_like(param.var, ty);
            match self.shared.get(&param.var).copied() {
                Some(key) => {
                    self.shared.insert(own.var, key);
                    lanes.current.insert(key, own.var);
                }
                None => {
                    lanes.names.insert(param.var, (own.var.into(), *differs));
                }
            }
            new.push(own);
        }
        Ok(new)
    }

    /// Binds a pattern to an operation on all iterations.
    pub(super) fn lane_bind(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        differs: bool,
        op: Op,
    ) -> Transformed<()> {
        let pat = self.lane_pat(lanes, &stm.pat, &vec![differs; stm.pat.len()])?;
        self.b.push(pat, op);
        Ok(())
    }

    /// Whether a condition holds in iterations that are running.
    pub(super) fn masked(&mut self, lanes: &Lanes, cond: VarId) -> VarId {
        match lanes.mask {
            None => cond,
            Some(mask) => {
                let both = self.b.and(mask.into(), cond.into());
                self.b.as_var(both)
            }
        }
    }

    /// A value for each iteration that is true in all.
    pub(super) fn all_true(&mut self, lanes: &Lanes) -> VarId {
        self.b.replicate(&[lanes.width], Atom::bool(true))
    }

    /// The type of a scalar for each iteration.
    pub(super) fn lane_scalar(lanes: &Lanes, ty: PrimType) -> Type {
        Type::array(ty, vec![lanes.width])
    }

    /// Where `cond` holds `yes`, elsewhere `no`, for arrays with a value for each iteration.
    pub(super) fn select_lanes(&mut self, ty: &Type, cond: VarId, yes: Atom, no: Atom) -> Atom {
        if yes == no && yes.as_var().is_some() {
            return yes;
        }
        let cond = self.b.extend(cond, ty.dims());
        self.b.op("select", ty.clone(), Op::Select { cond: cond.into(), yes, no })
    }

    /// Reductions and scans whose operator may stop the program become loops, in which failures are known of.
    fn without_stopping_folds(&mut self, body: &Body) -> Body {
        self.b.open();
        for stm in &body.stms {
            self.b.loc = stm.loc;
            let mut stm = stm.clone();
            for inner in crate::visit::bodies_mut(&mut stm.op) {
                if crate::visit::any_stm(inner, &is_assert) {
                    *inner = self.without_stopping_folds(inner);
                }
            }
            self.b.loc = stm.loc;
            match &stm.op {
                Op::Reduce { op, .. } | Op::Scan { op, .. } if crate::visit::can_stop(&op.body) => {
                    self.fold_as_loop(&stm);
                }
                _ => self.b.push(stm.pat, stm.op),
            }
        }
        Body { stms: self.b.close(), result: body.result.clone() }
    }
}
