//! Division, indices, slices and updates: what is checked before it happens.

use dagaz_core::effects::may_fail_at;
use dagaz_core::exp::{Check, DimSlice};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::emit::block_of;
use super::{Form, Lower, Lowered, elem, only};
use crate::imp::{Access, Expr, LoopKind, Operand, Repr, Runtime, Stm, Var};
use crate::{RemarkKind, SiteKind};

/// What happens at an element of a slice, given its indices in the array and in the slice.
type EachElement<'e, L> = dyn FnMut(&mut L, &[Expr], &[Expr]) -> Lowered<()> + 'e;

impl Lower<'_> {
    pub(super) fn binop(&mut self, pat: &[Param], op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Lowered<()> {
        let (left, right) = (self.atom(x), self.atom(y));
        let divides = matches!(op, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem);
        let may_fail = may_fail_at(op, ty, y);
        let zero = Prim::zero(ty);
        let mut guard = None;
        if may_fail && divides {
            guard = self.fail_if(right.clone().equals(zero), SiteKind::DivisionByZero, &[&left]);
        }
        if may_fail && !divides {
            let is_negative = right.clone().is_below(zero);
            guard = self.fail_if(is_negative, SiteKind::NegativeExponent, &[&left, &right]);
        }
        // One is a divisor, and zero an exponent, whatever is to be divided or raised.
        let right = match (guard, divides) {
            (None, _) => right,
            (Some(bad), true) => right.op(BinOp::Or, bad.op(BinOp::And, 1).cast(ty)),
            (Some(bad), false) => right.op(BinOp::And, complement(bad).cast(ty)),
        };
        self.scalar(pat, Expr::BinOp(op, ty, Box::new([left, right])))
    }

    /// Stops the program if the condition holds, with values for the message. A loop for vector units goes on and
    /// remembers that it has to stop; then there is a mask to know the condition by.
    pub(super) fn fail_if(&mut self, cond: Expr, kind: SiteKind, notes: &[&Expr]) -> Option<Var> {
        if self.around.deferred.is_some() {
            return self.note_failure(cond);
        }
        let site = self.site(kind);
        let notes = notes.iter().map(|value| Stm::Note((*value).clone()));
        let then = notes.chain([Stm::Fail(site)]).collect();
        self.out.push(Stm::when_rarely(cond, then));
        None
    }

    pub(super) fn check_size(&mut self, size: Atom, what: &'static str) {
        if size.as_const().and_then(|p| p.as_i64()).is_some_and(|n| n >= 0) {
            return;
        }
        let size = self.atom(size);
        self.fail_if(size.clone().is_below(0), SiteKind::NegativeSize(what), &[&size]);
    }

    fn check_bounds(&mut self, indices: &[Atom], dims: &[Atom]) -> Option<Var> {
        let outside = indices.iter().zip(dims).map(|(i, d)| self.atom(*i).is_not_within(self.atom(*d)));
        // Vector units do not branch.
        let join = |x: Expr, y: Expr| match self.around.deferred.is_some() {
            true => x.op(BinOp::Or, y),
            false => x.either(y),
        };
        let outside = outside.reduce(join)?;
        let notes: Vec<Expr> = indices.iter().chain(dims).map(|a| self.atom(*a)).collect();
        let notes: Vec<&Expr> = notes.iter().collect();
        self.fail_if(outside, SiteKind::OutOfBounds { indices: indices.len() }, &notes)
    }

    /// The position of the first element that the indices select.
    pub(super) fn offset(&self, indices: &[Expr], dims: &[Atom]) -> Expr {
        let row = indices.iter().zip(dims).fold(0.expr(), |offset, (i, dim)| offset * self.atom(*dim) + i);
        row * self.product(&dims[indices.len().min(dims.len())..])
    }

    /// How far apart the rows and elements of an array are, per dimension.
    pub(super) fn strides(&self, array: VarId) -> Lowered<Vec<Expr>> {
        let (_, dims) = self.array(array)?;
        match &self.info(array)?.form {
            Form::View { strides } => Ok(strides.clone()),
            Form::Block { .. } => Ok(self.strides_in_order(&dims)),
            Form::Range { .. } | Form::Fill { .. } => Err("internal error: strides of no memory".into()),
        }
    }

    /// Whether the elements of an array are next to each other, and best copied all at once. Inside of parallel loops, the C
    /// compiler sees more in a loop over the elements of a view.
    fn is_in_order(&self, array: VarId) -> Lowered<bool> {
        let (_, dims) = self.array(array)?;
        Ok(match &self.info(array)?.form {
            Form::Block { .. } => true,
            Form::View { strides } => self.is_outermost() && *strides == self.strides_in_order(&dims),
            Form::Range { .. } | Form::Fill { .. } => false,
        })
    }

    fn strides_in_order(&self, dims: &[Atom]) -> Vec<Expr> {
        (1..=dims.len()).map(|axis| self.product(&dims[axis..])).collect()
    }

    /// The element at some indices.
    pub(super) fn element(&self, array: VarId, indices: &[Expr]) -> Lowered<Expr> {
        let (elem, dims) = self.array(array)?;
        Ok(match &self.info(array)?.form {
            Form::Block { .. } => self.var(array)?.at(self.offset(indices, &dims)),
            Form::View { strides } => self.var(array)?.at(strided(indices, strides)),
            Form::Range { start, step } => {
                let i = indices.first().cloned().unwrap_or_else(|| 0.expr());
                (start + step * i).cast(elem)
            }
            Form::Fill { value } => value.clone(),
        })
    }

    pub(super) fn index(
        &mut self,
        pat: &[Param],
        array: VarId,
        indices: &[Atom],
        check: Check,
    ) -> Lowered<()> {
        let param = only(pat)?;
        let (_, dims) = self.array(array)?;
        let bad = match check {
            Check::Checked => self.check_bounds(indices, &dims),
            Check::Certified => None,
        };
        let (safe, are_others) = self.safe_indices(indices, &dims, bad.as_ref());
        let has_memory = self.has_memory(array);
        if indices.len() < dims.len() {
            return match are_others && has_memory && !self.needs_block(param) {
                true => self.readable_row(param, array, &safe),
                false => self.row_at(param, array, &safe),
            };
        }
        let mut element = self.element(array, &safe)?;
        if let Expr::Load(operands) = &mut element
            && are_others
        {
            operands[0] = self.readable(array)?;
        }
        // What is not wanted is not read.
        if let Some(guard) = self.around.guard.clone().filter(|_| has_memory) {
            let var = self.var_of(param)?;
            self.set(&var, Prim::zero(elem(&param.ty)?));
            self.out.push(Stm::when(guard, vec![Stm::assign(&var, element)]));
            return Ok(());
        }
        self.scalar(pat, element)
    }

    /// As [`Lower::row_at`], where the row may not be there: then it is some other one, or nothing that can be read.
    fn readable_row(&mut self, param: &Param, array: VarId, indices: &[Expr]) -> Lowered<()> {
        let (elem, _) = self.array(array)?;
        let strides = self.strides(array)?;
        let offset = strided(indices, &strides);
        let readable = self.readable(array)?;
        self.bind_as(param, Form::View { strides: strides[indices.len()..].to_vec() });
        let target = Var::new(Repr::Pointer(elem, Access::ReadOnly), self.name(param.var));
        self.set(&target, readable + offset);
        Ok(())
    }

    pub(super) fn has_memory(&self, array: VarId) -> bool {
        self.scope
            .vars
            .get(&array)
            .is_some_and(|info| matches!(info.form, Form::Block { .. } | Form::View { .. }))
    }

    /// Binds a variable to the row at some indices, which stays where it is.
    pub(super) fn row_at(&mut self, param: &Param, array: VarId, indices: &[Expr]) -> Lowered<()> {
        let (_, dims) = self.array(array)?;
        if let form @ (Form::Fill { .. } | Form::Range { .. }) = self.info(array)?.form.clone() {
            self.bind_as(param, form);
            return Ok(());
        }
        let (source, target) = (self.var(array)?, self.var_of(param)?);
        if self.needs_block(param) {
            let offset = self.offset(indices, &dims);
            self.view(&target, source + offset, array);
            return Ok(());
        }
        let strides = self.strides(array)?;
        let offset = strided(indices, &strides);
        self.bind_as(param, Form::View { strides: strides[indices.len()..].to_vec() });
        self.set(&target, source + offset);
        Ok(())
    }

    /// Binds a variable to the same elements as another one.
    pub(super) fn view_whole(&mut self, param: &Param, array: VarId) -> Lowered<()> {
        let form = self.info(array)?.form.clone();
        if matches!(form, Form::Fill { .. } | Form::Range { .. }) {
            self.bind_as(param, form);
            return Ok(());
        }
        // A new shape has its own strides; only contiguous elements get one.
        let strides = match form {
            Form::View { strides } => strides,
            _ => self.strides_in_order(param.ty.dims()),
        };
        let (source, target) = (self.var(array)?, self.var_of(param)?);
        self.bind_as(param, Form::View { strides });
        self.set(&target, source);
        self.memory.pointers.insert(param.var, (array, 0.expr()));
        Ok(())
    }

    /// Declares a variable that shares the block of another array.
    fn view(&mut self, target: &Var, pointer: Expr, array: VarId) {
        self.set_array(target, pointer, self.mem(array));
        self.retain(&block_of(&target.name));
    }

    pub(super) fn slice(&mut self, pat: &[Param], array: VarId, slice: &[DimSlice]) -> Lowered<()> {
        let param = only(pat)?;
        let (_, dims) = self.array(array)?;
        let (source, target) = (self.var(array)?, self.var_of(param)?);
        if !self.needs_block(param) && !self.memory.dests.contains_key(&param.var) {
            return self.slice_view(param, array, slice);
        }
        let can_share =
            matches!(self.info(array)?.form, Form::Block { .. }) && !self.memory.on_stack.contains(&array);
        if let (Some(start), true) = (self.contiguous(slice, &dims), can_share) {
            self.view(&target, source + start, array);
            return Ok(());
        }
        self.remark(RemarkKind::Copy, "of a slice, because the result is passed on as a whole");
        self.allocate(param)?;
        self.selected(slice, &dims, &mut Vec::new(), &mut Vec::new(), &mut |l, inside, counters| {
            let from = l.element(array, inside)?;
            l.write(&target, l.offset(counters, param.ty.dims()), from);
            Ok(())
        })
    }

    fn slice_view(&mut self, param: &Param, array: VarId, slice: &[DimSlice]) -> Lowered<()> {
        let range = slice.iter().find_map(|part| match part {
            DimSlice::Range { start, stride, .. } => Some((self.atom(*start), self.atom(*stride))),
            DimSlice::Fix(_) => None,
        });
        match (self.info(array)?.form.clone(), range) {
            (form @ Form::Fill { .. }, _) => {
                self.bind_as(param, form);
                return Ok(());
            }
            (Form::Range { start, step }, Some((first, stride))) => {
                let form = Form::Range { start: start + &step * first, step: step * stride };
                self.bind_as(param, form);
                return Ok(());
            }
            _ => {}
        }
        let (offset, strides) = self.layout(array, slice)?;
        let (source, target) = (self.var(array)?, self.var_of(param)?);
        self.bind_as(param, Form::View { strides });
        self.set(&target, source + &offset);
        self.memory.pointers.insert(param.var, (array, offset));
        Ok(())
    }

    /// Where a slice begins, and how far apart its elements are.
    pub(super) fn layout(&self, array: VarId, slice: &[DimSlice]) -> Lowered<(Expr, Vec<Expr>)> {
        let strides = self.strides(array)?;
        let mut kept = Vec::new();
        let mut starts = Vec::new();
        for (part, old) in slice.iter().zip(&strides) {
            match part {
                DimSlice::Fix(i) => starts.push(self.atom(*i)),
                DimSlice::Range { start, stride, .. } => {
                    starts.push(self.atom(*start));
                    kept.push(self.atom(*stride) * old);
                }
            }
        }
        kept.extend(strides[slice.len().min(strides.len())..].iter().cloned());
        Ok((strided(&starts, &strides), kept))
    }

    /// Where the slice begins, if its elements are next to each other: fixed indices, then a range, then all.
    fn contiguous(&self, slice: &[DimSlice], dims: &[Atom]) -> Option<Expr> {
        let mut starts = Vec::new();
        let mut ranges = 0;
        for (part, dim) in slice.iter().zip(dims) {
            match part {
                DimSlice::Fix(_) if ranges > 0 => return None,
                DimSlice::Fix(i) => starts.push(self.atom(*i)),
                DimSlice::Range { start, stride, .. } if ranges == 0 => {
                    ranges = 1;
                    if *stride != Atom::i64(1) {
                        return None;
                    }
                    starts.push(self.atom(*start));
                }
                DimSlice::Range { start, len, stride } => {
                    if *start != Atom::i64(0) || *stride != Atom::i64(1) || len != dim {
                        return None;
                    }
                }
            }
        }
        Some(self.offset(&starts, dims))
    }

    /// Loops over the elements of a slice: the indices in the array, and those in the slice.
    fn selected(
        &mut self,
        slice: &[DimSlice],
        dims: &[Atom],
        inside: &mut Vec<Expr>,
        counters: &mut Vec<Expr>,
        each: &mut EachElement<'_, Self>,
    ) -> Lowered<()> {
        let axis = inside.len();
        if axis == dims.len() {
            return each(self, inside, counters);
        }
        let (bound, start, stride) = match slice.get(axis) {
            Some(DimSlice::Fix(i)) => {
                inside.push(self.atom(*i));
                self.selected(slice, dims, inside, counters, each)?;
                inside.pop();
                return Ok(());
            }
            Some(DimSlice::Range { start, len, stride }) => (*len, *start, *stride),
            None => (dims[axis], Atom::i64(0), Atom::i64(1)),
        };
        let (bound, start, stride) = (self.atom(bound), self.atom(start), self.atom(stride));
        self.for_loop(LoopKind::Sequential, bound, |l, i| {
            inside.push(start + i * stride);
            counters.push(i.expr());
            l.selected(slice, dims, inside, counters, each)?;
            inside.pop();
            counters.pop();
            Ok(())
        })
    }

    pub(super) fn update(
        &mut self,
        pat: &[Param],
        array: VarId,
        slice: &[DimSlice],
        value: Atom,
        check: Check,
    ) -> Lowered<()> {
        let param = only(pat)?;
        let (_, dims) = self.array(array)?;
        let fixed: Option<Vec<Atom>> = slice
            .iter()
            .map(|d| match d {
                DimSlice::Fix(i) => Some(*i),
                DimSlice::Range { .. } => None,
            })
            .collect();
        if let (Some(indices), Check::Checked) = (&fixed, check) {
            self.check_bounds(indices, &dims);
        }
        self.take_unique(param, array)?;
        if self.memory.written.remove(&param.var) {
            return Ok(());
        }
        let target = self.var_of(param)?.expr();
        if let Some(indices) = fixed {
            let places: Vec<Expr> = indices.iter().map(|i| self.atom(*i)).collect();
            let offset = self.offset(&places, &dims);
            let row = Type::array(elem(&param.ty)?, dims[indices.len()..].to_vec());
            return self.store(target, offset, &row, value);
        }
        let Atom::Var(source) = value else { return Err("internal error: a constant array".into()) };
        self.selected(slice, &dims, &mut Vec::new(), &mut Vec::new(), &mut |l, inside, counters| {
            let from = l.element(source, counters)?;
            l.write(&target, l.offset(inside, &dims), from);
            Ok(())
        })
    }

    /// Writes an element or a row to a position.
    pub(super) fn store(
        &mut self,
        target: impl Operand,
        offset: impl Operand,
        row: &Type,
        value: Atom,
    ) -> Lowered<()> {
        match (row, value) {
            (Type::Prim(_), _) => {
                self.write(target, offset, self.atom(value));
                Ok(())
            }
            (Type::Array { dims, .. }, Atom::Var(source)) => {
                self.copy_elements(target.expr(), (offset.expr(), None), dims, source)
            }
            (Type::Array { .. }, Atom::Const(_)) => Err("internal error: a constant array".into()),
            (Type::Acc { .. }, _) => Ok(()),
        }
    }

    /// Writes an element or a row to row `i` of an array with strides.
    pub(super) fn store_apart(
        &mut self,
        target: impl Operand,
        (i, strides): (&Expr, &[Expr]),
        row: &Type,
        value: Atom,
    ) -> Lowered<()> {
        let offset = strided(std::slice::from_ref(i), strides);
        match (row, value) {
            (Type::Array { dims, .. }, Atom::Var(source)) => {
                let rest = strides.get(1..).unwrap_or_default();
                self.copy_elements(target.expr(), (offset, Some(rest)), dims, source)
            }
            _ => self.store(target, offset, row, value),
        }
    }

    fn copy_elements(
        &mut self,
        target: Expr,
        (offset, strides): (Expr, Option<&[Expr]>),
        dims: &[Atom],
        source: VarId,
    ) -> Lowered<()> {
        if strides.is_none() && self.is_in_order(source)? {
            let (count, (elem, _), source) = (self.product(dims), self.array(source)?, self.var(source)?);
            let copy = match self.is_outermost() {
                true => Runtime::CopyOnThreads(elem),
                false => Runtime::Copy(elem),
            };
            self.run(copy, [target + offset, source.expr(), count]);
            return Ok(());
        }
        let near = match &self.info(source)?.form {
            Form::View { strides } => {
                strides.iter().rposition(|stride| *stride == 1.expr()).unwrap_or(dims.len())
            }
            Form::Block { .. } | Form::Range { .. } | Form::Fill { .. } => dims.len(),
        };
        self.for_all_indices(dims, near, &|l, counters| {
            let to = match strides {
                Some(strides) => strided(counters, strides),
                None => l.offset(counters, dims),
            };
            let from = l.element(source, counters)?;
            l.write(&target, &offset + to, from);
            Ok(())
        })
    }
}

/// The position of what the indices select.
pub(super) fn strided(indices: &[Expr], strides: &[Expr]) -> Expr {
    indices.iter().zip(strides).fold(0.expr(), |offset, (index, stride)| offset + index * stride)
}

/// All bits of a mask turned round.
pub(super) fn complement(mask: impl Operand) -> Expr {
    Expr::UnOp(UnOp::Not, PrimType::I64, Box::new(mask.expr()))
}
