//! Every operation for all iterations at once. What an operation reads and is the same in all iterations is broadcast, if
//! anything else that it reads differs; if nothing does, the operation is done once.
//!
//! ```text
//! transpose (1, 0) x     ==>   transpose (0, 2, 1) xs
//! f64.reduce_add 0 x     ==>   f64.reduce_add 1 xs
//! gather x [i]           ==>   gather xs [lane, is]       or   gather x [is]
//! ```

use dagaz_core::exp::AxesOf;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::term::{Body, Combine, Lambda, LoopForm, Op, Span, Stm};
use crate::visit::{free_vars, operands, operands_mut};

use super::lanes::Lanes;
use super::{Transform, Transformed, unsupported};

impl Transform<'_> {
    pub(super) fn lane_stm(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<()> {
        let differs = operands(&stm.op).into_iter().any(|atom| self.now(lanes, atom).1);
        if self.lane_ragged(lanes, stm)? {
            return Ok(());
        }
        match &stm.op {
            Op::Atom(atom) => {
                let value = self.now(lanes, *atom);
                lanes.names.extend(stm.pat.iter().map(|p| (p.var, value)));
                let greatest = atom.as_var().and_then(|var| lanes.greatest.get(&var)).copied();
                lanes.greatest.extend(stm.pat.iter().zip(greatest).map(|(p, greatest)| (p.var, greatest)));
                Ok(())
            }
            // All iterations have the longest one.
            Op::Iota { ty, n } => {
                let op = Op::Iota { ty: *ty, n: self.lane_size(lanes, *n)? };
                self.lane_bind(lanes, stm, false, op)
            }
            Op::Broadcast { dims, axes, value } if !self.now(lanes, *value).1 => {
                let (dims, value) = (self.lane_sizes(lanes, dims)?, self.now(lanes, *value).0);
                self.lane_bind(lanes, stm, false, Op::Broadcast { dims, axes: axes.clone(), value })
            }
            Op::If { cond, then, otherwise } => match self.now(lanes, *cond) {
                (cond, false) => self.lane_if(lanes, stm, cond, then, otherwise),
                (_, true) => self.lane_select(lanes, stm, *cond, then, otherwise),
            },
            Op::Loop { form: LoopForm::For { .. }, .. } => self.lane_for(lanes, stm),
            Op::Loop { form: LoopForm::While { .. }, .. } => self.lane_while(lanes, stm),
            Op::Assert { cond, message } => self.lane_assert(lanes, *cond, message),
            Op::Call { .. } => {
                unsupported("a call of a function that may call itself inside of a map", stm.loc)
            }
            Op::Reduce { .. } | Op::Scan { .. } => self.lane_fold(lanes, stm),
            Op::Scatter { dests, .. } if dests.iter().any(|var| self.shared.contains_key(var)) => {
                self.lane_accumulate(lanes, stm)
            }
            Op::Scatter { .. } => self.lane_scatter(lanes, stm, differs),
            _ if !differs => {
                let mut op = stm.op.clone();
                operands_mut(&mut op, &mut |atom| *atom = self.now(lanes, *atom).0);
                self.lane_bind(lanes, stm, false, op)
            }
            Op::Slice { array, dims } => self.lane_slice(lanes, stm, *array, dims),
            Op::Update { array, dims, value } => self.lane_update(lanes, stm, *array, dims, *value),
            Op::Gather { array, indices } => self.lane_gather(lanes, stm, *array, indices),
            Op::UnOp(..) | Op::BinOp(..) | Op::TernOp(..) | Op::CmpOp(..) | Op::Convert(..) => {
                self.lane_differing(lanes, stm)
            }
            Op::Select { .. } | Op::Broadcast { .. } | Op::Transpose { .. } | Op::Reshape { .. } => {
                self.lane_differing(lanes, stm)
            }
            Op::Concat { .. } | Op::Stack { .. } | Op::Fold { .. } | Op::Dot { .. } => {
                self.lane_differing(lanes, stm)
            }
        }
    }

    fn lane_differing(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<()> {
        let op = self.lane_op(lanes, &stm.op)?;
        self.lane_bind(lanes, stm, true, op)
    }

    /// Operations without bodies of which some operand differs.
    fn lane_op(&mut self, lanes: &mut Lanes, op: &Op) -> Transformed<Op> {
        let width = lanes.width;
        Ok(match op {
            Op::Broadcast { dims, axes, value } => {
                let dims = self.lane_sizes(lanes, dims)?;
                let dims = [width].into_iter().chain(dims).collect();
                let axes = [0].into_iter().chain(axes.iter().map(|axis| axis + 1)).collect();
                Op::Broadcast { dims, axes, value: self.lifted(lanes, *value).into() }
            }
            Op::Transpose { perm, array } => {
                let perm = [0].into_iter().chain(perm.iter().map(|p| p + 1)).collect();
                Op::Transpose { perm, array: self.lifted(lanes, (*array).into()) }
            }
            Op::Reshape { dims, array } => {
                let dims = self.lane_sizes(lanes, dims)?;
                let dims = [width].into_iter().chain(dims).collect();
                Op::Reshape { dims, array: self.lifted(lanes, (*array).into()) }
            }
            Op::Concat { axis, arrays } => {
                let arrays = arrays.iter().map(|a| self.lifted(lanes, (*a).into())).collect();
                Op::Concat { axis: axis + 1, arrays }
            }
            Op::Stack { row, elems } => return self.lane_stack(lanes, row, elems),
            Op::Fold { op, ty, axis, array } => {
                Op::Fold { op: *op, ty: *ty, axis: axis + 1, array: self.lifted(lanes, (*array).into()) }
            }
            Op::Dot { sizes, rank, left, right } => {
                let sizes = self.lane_sizes(lanes, sizes)?;
                let sizes = [width].into_iter().chain(sizes).collect();
                let (left, right) = (self.lane_axes(lanes, left), self.lane_axes(lanes, right));
                Op::Dot { sizes, rank: rank + 1, left, right }
            }
            // Each operand has the shape of the result, or is a constant.
            Op::UnOp(..)
            | Op::BinOp(..)
            | Op::TernOp(..)
            | Op::CmpOp(..)
            | Op::Convert(..)
            | Op::Select { .. } => {
                let mut new = op.clone();
                let wide: Vec<Atom> = operands(op).into_iter().map(|a| self.operand(lanes, a)).collect();
                let mut wide = wide.into_iter();
                operands_mut(&mut new, &mut |atom| *atom = wide.next().unwrap_or(*atom));
                new
            }
            Op::Atom(_) | Op::Iota { .. } | Op::Slice { .. } | Op::Update { .. } | Op::Gather { .. } => {
                unreachable!("{op:?} is lifted elsewhere")
            }
            Op::Scatter { .. } | Op::Reduce { .. } | Op::Scan { .. } | Op::If { .. } | Op::Loop { .. } => {
                unreachable!("{op:?} is lifted elsewhere")
            }
            Op::Call { .. } | Op::Assert { .. } => unreachable!("{op:?} is lifted elsewhere"),
        })
    }

    /// An operand that is the same in all iterations does not have their axis.
    fn lane_axes(&mut self, lanes: &Lanes, operand: &AxesOf) -> AxesOf {
        let axes = operand.axes.iter().map(|axis| axis + 1);
        match self.now(lanes, operand.array.into()) {
            (Atom::Var(array), true) => AxesOf { array, axes: [0].into_iter().chain(axes).collect() },
            (atom, _) => AxesOf { array: atom.as_var().unwrap_or(operand.array), axes: axes.collect() },
        }
    }

    fn lane_stack(&mut self, lanes: &mut Lanes, row: &Type, elems: &[Atom]) -> Transformed<Op> {
        let row = self.lane_type(lanes, row)?.with_outer(&[lanes.width]);
        let elems: Vec<Atom> = elems.iter().map(|e| self.lifted(lanes, *e).into()).collect();
        let n = Atom::i64(i64::try_from(elems.len()).unwrap_or(i64::MAX));
        let ty = row.with_outer(&[n]);
        let perm = [1, 0].into_iter().chain(2..ty.rank()).collect();
        let stacked = self.b.var("stack", ty, Op::Stack { row, elems });
        Ok(Op::Transpose { perm, array: stacked })
    }

    /// Indices of all iterations: in front the number of the iteration if `of_lane`, then those given, all of the shape
    /// `dims`, whose first dimension is that of iterations.
    fn lane_indices(&mut self, lanes: &mut Lanes, indices: &[Atom], of_lane: bool) -> Vec<Atom> {
        let own = indices.iter().find_map(|index| match self.now(lanes, *index) {
            (Atom::Var(var), differs) => Some((var, differs)),
            (Atom::Const(_), _) => None,
        });
        let dims = match own {
            Some((var, true)) => self.b.dims_of(var),
            Some((var, false)) => [lanes.width].into_iter().chain(self.b.dims_of(var)).collect(),
            None => vec![lanes.width],
        };
        let mut all = Vec::new();
        if of_lane {
            all.push(self.b.iota_along(0, &dims).into());
        }
        for index in indices {
            all.push(self.operand(lanes, *index));
        }
        all
    }

    fn lane_gather(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        array: VarId,
        indices: &[Atom],
    ) -> Transformed<()> {
        let (now, differs) = self.now(lanes, array.into());
        let indices = self.lane_indices(lanes, indices, differs);
        let array = now.as_var().unwrap_or(array);
        self.lane_bind(lanes, stm, true, Op::Gather { array, indices })
    }

    /// Whether a part of an array is the same part in all iterations, and which.
    fn same_part(&self, lanes: &Lanes, dims: &[Span]) -> Transformed<Option<Vec<Span>>> {
        let mut spans = Vec::new();
        for span in dims {
            let len = self.lane_size(lanes, span.len)?;
            let (start, stride) = (self.now(lanes, span.start), self.now(lanes, span.stride));
            if start.1 || stride.1 {
                return Ok(None);
            }
            spans.push(Span { start: start.0, len, stride: stride.0 });
        }
        Ok(Some(spans))
    }

    /// For each dimension of a part that differs between iterations, the indices of all its elements.
    fn part_indices(&mut self, lanes: &mut Lanes, dims: &[Span]) -> Transformed<Vec<Atom>> {
        let lens: Vec<Atom> =
            dims.iter().map(|span| self.lane_size(lanes, span.len)).collect::<Transformed<_>>()?;
        let all: Vec<Atom> = [lanes.width].into_iter().chain(lens).collect();
        let ty = Type::array(PrimType::I64, all.clone());
        let mut indices = Vec::new();
        for (axis, span) in dims.iter().enumerate() {
            let mut index = Atom::Var(self.b.iota_along(axis + 1, &all));
            for (op, operand) in [(BinOp::Mul, span.stride), (BinOp::Add, span.start)] {
                let operand = self.operand(lanes, operand);
                let operand = match operand {
                    Atom::Var(var) => self.b.extend(var, &all).into(),
                    Atom::Const(_) => operand,
                };
                index = match (op, operand.as_const().and_then(|c| c.as_i64())) {
                    (BinOp::Mul, Some(1)) | (BinOp::Add, Some(0)) => index,
                    _ => self.b.op("at", ty.clone(), Op::BinOp(op, PrimType::I64, index, operand)),
                };
            }
            indices.push(index);
        }
        Ok(indices)
    }

    fn lane_slice(&mut self, lanes: &mut Lanes, stm: &Stm, array: VarId, dims: &[Span]) -> Transformed<()> {
        let (now, differs) = self.now(lanes, array.into());
        let now = now.as_var().unwrap_or(array);
        if let Some(spans) = self.same_part(lanes, dims)? {
            let dims = [Span::all(lanes.width)].into_iter().chain(spans).collect();
            return self.lane_bind(lanes, stm, true, Op::Slice { array: now, dims });
        }
        let mut indices = self.part_indices(lanes, dims)?;
        if differs {
            let all = self.b.dims_of(indices.first().and_then(|i| i.as_var()).unwrap_or(now));
            indices.insert(0, self.b.iota_along(0, &all).into());
        }
        self.lane_bind(lanes, stm, true, Op::Gather { array: now, indices })
    }

    fn lane_update(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        array: VarId,
        dims: &[Span],
        value: VarId,
    ) -> Transformed<()> {
        let (array, value) = (self.lifted(lanes, array.into()), self.lifted(lanes, value.into()));
        let lens: Vec<Atom> = dims.iter().map(|span| span.len).collect();
        let is_ragged = lens.iter().any(|len| self.is_ragged(lanes, *len));
        if let Some(spans) = self.same_part(lanes, dims)?.filter(|_| !is_ragged) {
            let dims = [Span::all(lanes.width)].into_iter().chain(spans).collect();
            return self.lane_bind(lanes, stm, true, Op::Update { array, dims, value });
        }
        let mut indices = self.part_indices(lanes, dims)?;
        self.only_existing(lanes, &mut indices, &lens)?;
        let all = self.b.dims_of(value);
        indices.insert(0, self.b.iota_along(0, &all).into());
        let (dests, values) = (vec![array], vec![value.into()]);
        let op = Op::Scatter { dests, indices, values, combine: Combine::Replace };
        self.lane_bind(lanes, stm, true, op)
    }

    /// How elements are combined, which is the same in all iterations.
    fn lane_combine(&mut self, lanes: &Lanes, stm: &Stm) -> Transformed<Combine> {
        let Op::Scatter { combine, .. } = &stm.op else { return Ok(Combine::Replace) };
        let Combine::Op(op, neutral) = combine else { return Ok(combine.clone()) };
        let own = free_vars(&stm.op);
        let mut names = std::collections::HashMap::new();
        for var in own {
            names.insert(var, self.now(lanes, var.into()));
        }
        let inside = crate::visit::free_vars_body(&op.body);
        let start = neutral.iter().filter_map(|atom| atom.as_var());
        if inside.into_iter().chain(start).any(|var| names.get(&var).is_some_and(|(_, differs)| *differs)) {
            return unsupported("a histogram inside of a map whose operator uses what differs", stm.loc);
        }
        if crate::visit::can_stop(&op.body) {
            return unsupported("a histogram inside of a map whose operator may stop the program", stm.loc);
        }
        let neutral = neutral.iter().map(|atom| self.now(lanes, *atom).0).collect();
        let names = names.into_iter().map(|(var, (atom, _))| (var, atom)).collect();
        let op = crate::visit::Copy { vars: &mut self.b.vars, names }.lambda(op);
        self.note_all(&op);
        Ok(Combine::Op(op, neutral))
    }

    fn lane_scatter(&mut self, lanes: &mut Lanes, stm: &Stm, differs: bool) -> Transformed<()> {
        let Op::Scatter { dests, indices, values, .. } = &stm.op else { return Ok(()) };
        let combine = self.lane_combine(lanes, stm)?;
        let own = indices.iter().find_map(|i| i.as_var()).map_or(Vec::new(), |i| self.b.dims_of(i));
        // Iterations that write the same to the same places may write different numbers of times.
        if !differs && !own.iter().any(|size| self.is_ragged(lanes, *size)) {
            let dests = dests.iter().filter_map(|d| self.now(lanes, (*d).into()).0.as_var()).collect();
            let each = |atoms: &[Atom]| atoms.iter().map(|atom| self.now(lanes, *atom).0).collect();
            let op = Op::Scatter { dests, indices: each(indices), values: each(values), combine };
            return self.lane_bind(lanes, stm, false, op);
        }
        let dests = dests.iter().map(|d| self.lifted(lanes, (*d).into())).collect();
        let mut indices = self.lane_indices(lanes, indices, true);
        self.only_existing(lanes, &mut indices, &own)?;
        let values = values.iter().map(|v| self.operand(lanes, *v)).collect();
        self.lane_bind(lanes, stm, true, Op::Scatter { dests, indices, values, combine })
    }

    /// All iterations scatter to the same arrays, those that are not running to no place at all.
    fn lane_accumulate(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<()> {
        let Op::Scatter { dests, indices, values, .. } = &stm.op else { return Ok(()) };
        let combine = self.lane_combine(lanes, stm)?;
        let mut wide = self.lane_indices(lanes, indices, false);
        let Some(first) = wide.first().copied() else {
            return unsupported("an accumulator without dimensions inside of a map", stm.loc);
        };
        let own = wide.iter().find_map(|index| index.as_var());
        let dims = own.map_or(vec![lanes.width], |var| self.b.dims_of(var));
        let ty = Type::array(PrimType::I64, dims.clone());
        let first = match lanes.mask {
            Some(mask) => self.select_lanes(&ty, mask, first, Atom::i64(-1)),
            None if own.is_none() => self.b.replicate(&dims, first).into(),
            None => first,
        };
        wide[0] = first;
        let own = indices.iter().find_map(|i| i.as_var()).map_or(Vec::new(), |i| self.b.dims_of(i));
        self.only_existing(lanes, &mut wide, &own)?;
        let values = values.iter().map(|v| self.operand(lanes, *v)).collect();
        let dests: Vec<VarId> =
            dests.iter().filter_map(|d| self.now(lanes, (*d).into()).0.as_var()).collect();
        self.lane_bind(lanes, stm, false, Op::Scatter { dests, indices: wide, values, combine })
    }

    fn lane_fold(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<()> {
        let (axis, arrays, op, neutral) = match &stm.op {
            Op::Reduce { axis, arrays, op, neutral } | Op::Scan { axis, arrays, op, neutral } => {
                (*axis, arrays, op, neutral)
            }
            _ => return Ok(()),
        };
        let differs = stm.pat.iter().any(|p| lanes.differs.contains(&p.var));
        let (arrays, neutral): (Vec<VarId>, Vec<Atom>) = if differs {
            let arrays = arrays.iter().map(|a| self.lifted(lanes, (*a).into())).collect();
            (arrays, neutral.iter().map(|n| self.lifted(lanes, *n).into()).collect())
        } else {
            let arrays = arrays.iter().filter_map(|a| self.now(lanes, (*a).into()).0.as_var()).collect();
            (arrays, neutral.iter().map(|n| self.now(lanes, *n).0).collect())
        };
        let op = self.lane_lambda(lanes, op, differs)?;
        let axis = axis + usize::from(differs);
        let lifted = match &stm.op {
            Op::Scan { .. } => Op::Scan { axis, arrays, op, neutral },
            _ => Op::Reduce { axis, arrays, op, neutral },
        };
        self.b.loc = stm.loc;
        self.lane_bind(lanes, stm, differs, lifted)
    }

    /// An operator on the slices of all iterations.
    fn lane_lambda(&mut self, lanes: &mut Lanes, op: &Lambda, differs: bool) -> Transformed<Lambda> {
        let params = self.lane_pat(lanes, &op.params, &vec![differs; op.params.len()])?;
        let mut ret = Vec::new();
        for ty in &op.ret {
            let ty = self.lane_type(lanes, ty)?;
            ret.push(if differs { ty.with_outer(&[lanes.width]) } else { ty });
        }
        self.b.open();
        let result = self.lane_results(lanes, &op.body, &vec![differs; ret.len()]);
        let stms = self.b.close();
        Ok(Lambda { params, body: Body { stms, result: result? }, ret })
    }

    /// The statements of a body in the open scope, and its results, lifted where they have to be.
    pub(super) fn lane_results(
        &mut self,
        lanes: &mut Lanes,
        body: &Body,
        differ: &[bool],
    ) -> Transformed<Vec<Atom>> {
        self.lane_stms(lanes, &body.stms)?;
        let mut results = Vec::new();
        for (atom, differs) in body.result.iter().zip(differ) {
            results.push(if *differs { self.lifted(lanes, *atom).into() } else { self.now(lanes, *atom).0 });
        }
        Ok(results)
    }
}
