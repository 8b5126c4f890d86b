//! Division, indices, slices and updates: what is checked before it happens.

use dagaz_core::effects::may_fail_at;
use dagaz_core::exp::{Check, DimSlice};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{Form, Lower, Lowered, elem, only};
use crate::imp::{LoopKind, Stm};
use crate::scalar::{self, type_code};
use crate::{RemarkKind, SiteKind};

/// What happens at an element of a slice, given its indices in the array and in the slice.
type EachElement<'e, L> = dyn FnMut(&mut L, &[String], &[String]) -> Lowered<()> + 'e;

impl Lower<'_> {
    pub(super) fn binop(&mut self, pat: &[Param], op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Lowered<()> {
        let (left, right) = (self.atom(x), self.atom(y));
        let divides = matches!(op, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem);
        let may_fail = may_fail_at(op, ty, y);
        let mut guard = None;
        if may_fail && divides {
            let notes = [(ty, left.clone())];
            guard = self.fail_if(&format!("{right} == 0"), SiteKind::DivisionByZero, &notes);
        }
        if may_fail && !divides {
            let notes = [(ty, left.clone()), (ty, right.clone())];
            guard = self.fail_if(&format!("{right} < 0"), SiteKind::NegativeExponent, &notes);
        }
        // One is a divisor, and zero an exponent, whatever is to be divided or raised.
        let right = match (guard, divides) {
            (None, _) => right,
            (Some(bad), true) => format!("({right} | ({ty})({bad} & 1))"),
            (Some(bad), false) => format!("({right} & ({ty})~{bad})"),
        };
        self.scalar(pat, scalar::binop(op, ty, &left, &right))
    }

    /// Stops the program if the condition holds, with values for the message. A loop for vector units goes on and
    /// remembers that it has to stop; then there is a mask to know the condition by.
    pub(super) fn fail_if(
        &mut self,
        cond: &str,
        kind: SiteKind,
        notes: &[(PrimType, String)],
    ) -> Option<String> {
        if let Some(bad) = self.note_failure(cond) {
            return Some(bad);
        }
        let site = self.site(kind);
        let mut then: Vec<Stm> = Vec::new();
        for (ty, value) in notes {
            then.push(Stm::Line(format!("dz_note_scalar(ctx, {}, dz_bits_{ty}({value}));", type_code(*ty))));
        }
        then.push(Stm::Line(format!("return dz_fail(ctx, {site});")));
        self.out.push(Stm::If { cond: format!("DZ_UNLIKELY({cond})"), then, otherwise: Vec::new() });
        None
    }

    pub(super) fn check_size(&mut self, size: Atom, what: &'static str) {
        if size.as_const().and_then(|p| p.as_i64()).is_some_and(|n| n >= 0) {
            return;
        }
        let size = self.atom(size);
        self.fail_if(&format!("{size} < 0"), SiteKind::NegativeSize(what), &[(PrimType::I64, size.clone())]);
    }

    fn check_bounds(&mut self, indices: &[Atom], dims: &[Atom]) -> Option<String> {
        let outside = indices.iter().zip(dims);
        let outside: Vec<String> =
            outside.map(|(i, d)| format!("(u64){} >= (u64){}", self.atom(*i), self.atom(*d))).collect();
        // Vector units do not branch.
        let outside = match self.deferred.is_some() && outside.len() > 1 {
            true => format!("({})", outside.join(") | (")),
            false => outside.join(" || "),
        };
        let notes: Vec<(PrimType, String)> =
            indices.iter().chain(dims).map(|a| (PrimType::I64, self.atom(*a))).collect();
        let kind = SiteKind::OutOfBounds { indices: indices.len() };
        self.fail_if(&outside, kind, &notes)
    }

    /// The position of the first element that the indices select.
    pub(super) fn offset(&self, indices: &[String], dims: &[Atom]) -> String {
        let mut offset = String::new();
        for (index, dim) in indices.iter().zip(dims) {
            offset = match offset.is_empty() {
                true => index.clone(),
                false => format!("({offset}) * {} + {index}", self.atom(*dim)),
            };
        }
        match (&dims[indices.len().min(dims.len())..], offset.is_empty()) {
            (_, true) => "0".to_string(),
            ([], false) => offset,
            (rest, false) => format!("({offset}) * ({})", self.product(rest)),
        }
    }

    /// How far apart the rows and elements of an array are, per dimension.
    pub(super) fn strides(&self, array: VarId) -> Lowered<Vec<String>> {
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

    fn strides_in_order(&self, dims: &[Atom]) -> Vec<String> {
        (1..=dims.len()).map(|axis| self.stride_product(&dims[axis..])).collect()
    }

    fn stride_product(&self, dims: &[Atom]) -> String {
        if dims.is_empty() { "1".to_string() } else { format!("({})", self.product(dims)) }
    }

    /// An element as a C expression.
    pub(super) fn element(&self, array: VarId, indices: &[String]) -> Lowered<String> {
        let (elem, dims) = self.array(array)?;
        let name = self.name(array);
        Ok(match &self.info(array)?.form {
            Form::Block { .. } => format!("{name}[{}]", self.offset(indices, &dims)),
            Form::View { strides } => format!("{name}[{}]", strided(indices, strides)),
            Form::Range { start, step } => {
                let i = indices.first().map_or("0", |i| i);
                let value = match (start.as_str(), step.as_str()) {
                    ("0L", "1L") => i.to_string(),
                    (_, "1L") => format!("({start} + {i})"),
                    _ => format!("({start} + {step} * {i})"),
                };
                if elem == PrimType::I64 { value } else { format!("({elem}){value}") }
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
        let (texts, are_others) = self.safe_indices(indices, &dims, bad.as_deref());
        let has_memory = self.has_memory(array);
        if indices.len() < dims.len() {
            return match are_others && has_memory && !self.needs_block(param) {
                true => self.readable_row(param, array, &texts),
                false => self.row_at(param, array, &texts),
            };
        }
        let mut element = self.element(array, &texts)?;
        if let Some((_, offset)) = element.split_once('[').filter(|_| are_others && has_memory) {
            let readable = self.readable(array)?;
            element = format!("{readable}[{offset}");
        }
        // What is not wanted is not read.
        if let Some(guard) = self.guard.clone().filter(|_| has_memory) {
            let name = self.name(param.var);
            self.set(elem(&param.ty)?.to_string(), name.as_str(), "0");
            let then = vec![Stm::Line(format!("{name} = {element};"))];
            self.out.push(Stm::If { cond: guard, then, otherwise: Vec::new() });
            return Ok(());
        }
        self.scalar(pat, element)
    }

    /// As [`Lower::row_at`], where the row may not be there: then it is some other one, or nothing that can be read.
    fn readable_row(&mut self, param: &Param, array: VarId, indices: &[String]) -> Lowered<()> {
        let (elem, _) = self.array(array)?;
        let strides = self.strides(array)?;
        let offset = strided(indices, &strides);
        let readable = self.readable(array)?;
        self.bind_as(param, Form::View { strides: strides[indices.len()..].to_vec() });
        let target = self.name(param.var);
        self.set(format!("const {elem} *"), target, format!("{readable} + {offset}"));
        Ok(())
    }

    pub(super) fn has_memory(&self, array: VarId) -> bool {
        self.vars.get(&array).is_some_and(|info| matches!(info.form, Form::Block { .. } | Form::View { .. }))
    }

    /// Binds a variable to the row at some indices, which stays where it is.
    pub(super) fn row_at(&mut self, param: &Param, array: VarId, indices: &[String]) -> Lowered<()> {
        let (elem, dims) = self.array(array)?;
        if let form @ (Form::Fill { .. } | Form::Range { .. }) = self.info(array)?.form.clone() {
            self.bind_as(param, form);
            return Ok(());
        }
        let (source, target) = (self.name(array), self.name(param.var));
        if self.needs_block(param) {
            let offset = self.offset(indices, &dims);
            self.view(elem, &target, &format!("{source} + {offset}"), &source);
            return Ok(());
        }
        let strides = self.strides(array)?;
        let offset = strided(indices, &strides);
        self.bind_as(param, Form::View { strides: strides[indices.len()..].to_vec() });
        self.set(format!("{elem} *"), target, format!("{source} + {offset}"));
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
            _ => {
                let dims = param.ty.dims();
                (1..=dims.len()).map(|axis| self.stride_product(&dims[axis..])).collect()
            }
        };
        let (source, target) = (self.name(array), self.name(param.var));
        self.bind_as(param, Form::View { strides });
        self.set(format!("{} *", elem(&param.ty)?), target, source);
        self.pointers.insert(param.var, (array, "0".to_string()));
        Ok(())
    }

    /// A variable that shares the block of another one.
    fn view(&mut self, elem: PrimType, target: &str, pointer: &str, source: &str) {
        self.set_array(elem, target, pointer, &format!("{source}_mem"));
        self.line(format!("dz_retain(ctx, {target}_mem);"));
    }

    pub(super) fn slice(&mut self, pat: &[Param], array: VarId, slice: &[DimSlice]) -> Lowered<()> {
        let param = only(pat)?;
        let (elem, dims) = self.array(array)?;
        let (source, target) = (self.name(array), self.name(param.var));
        if !self.needs_block(param) && !self.dests.contains_key(&param.var) {
            return self.slice_view(param, array, slice);
        }
        let can_share =
            matches!(self.info(array)?.form, Form::Block { .. }) && !self.on_stack.contains(&array);
        if let (Some(start), true) = (self.contiguous(slice, &dims), can_share) {
            self.view(elem, &target, &format!("{source} + {start}"), &source);
            return Ok(());
        }
        self.remark(RemarkKind::Copy, "of a slice, because the result is passed on as a whole");
        self.allocate(param)?;
        self.selected(slice, &dims, &mut Vec::new(), &mut Vec::new(), &mut |l, inside, counters| {
            let from = l.element(array, inside)?;
            let to = l.offset(counters, param.ty.dims());
            l.line(format!("{target}[{to}] = {from};"));
            Ok(())
        })
    }

    fn slice_view(&mut self, param: &Param, array: VarId, slice: &[DimSlice]) -> Lowered<()> {
        let (elem, _) = self.array(array)?;
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
                let form = Form::Range {
                    start: format!("({start} + {step} * {first})"),
                    step: format!("({step} * {stride})"),
                };
                self.bind_as(param, form);
                return Ok(());
            }
            _ => {}
        }
        let (offset, strides) = self.layout(array, slice)?;
        let (source, target) = (self.name(array), self.name(param.var));
        self.bind_as(param, Form::View { strides });
        self.set(format!("{elem} *"), target, format!("{source} + {offset}"));
        self.pointers.insert(param.var, (array, offset));
        Ok(())
    }

    /// Where a slice begins, and how far apart its elements are.
    pub(super) fn layout(&self, array: VarId, slice: &[DimSlice]) -> Lowered<(String, Vec<String>)> {
        let strides = self.strides(array)?;
        let mut kept = Vec::new();
        let mut starts = Vec::new();
        for (part, old) in slice.iter().zip(&strides) {
            match part {
                DimSlice::Fix(i) => starts.push(self.atom(*i)),
                DimSlice::Range { start, stride, .. } => {
                    starts.push(self.atom(*start));
                    let by = self.atom(*stride);
                    kept.push(match (by.as_str(), old.as_str()) {
                        ("1L", _) => old.clone(),
                        (_, "1") => by,
                        _ => format!("({by} * {old})"),
                    });
                }
            }
        }
        kept.extend(strides[slice.len().min(strides.len())..].iter().cloned());
        Ok((strided(&starts, &strides), kept))
    }

    /// Where the slice begins, if its elements are next to each other: fixed indices, then a range, then all.
    fn contiguous(&self, slice: &[DimSlice], dims: &[Atom]) -> Option<String> {
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
        inside: &mut Vec<String>,
        counters: &mut Vec<String>,
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
        self.for_loop(LoopKind::Sequential, &bound, |l, i| {
            inside.push(format!("({start} + {i} * {stride})"));
            counters.push(i.to_string());
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
        if self.written.remove(&param.var) {
            return Ok(());
        }
        let target = self.name(param.var);
        if let Some(indices) = fixed {
            let texts: Vec<String> = indices.iter().map(|i| self.atom(*i)).collect();
            let offset = self.offset(&texts, &dims);
            let row = Type::array(elem(&param.ty)?, dims[indices.len()..].to_vec());
            return self.store(&target, &offset, &row, value);
        }
        let Atom::Var(source) = value else { return Err("internal error: a constant array".into()) };
        self.selected(slice, &dims, &mut Vec::new(), &mut Vec::new(), &mut |l, inside, counters| {
            let to = l.offset(inside, &dims);
            let from = l.element(source, counters)?;
            l.line(format!("{target}[{to}] = {from};"));
            Ok(())
        })
    }

    /// Writes an element or a row to a position.
    pub(super) fn store(&mut self, target: &str, offset: &str, row: &Type, value: Atom) -> Lowered<()> {
        match (row, value) {
            (Type::Prim(_), _) => {
                let value = self.atom(value);
                self.line(format!("{target}[{offset}] = {value};"));
                Ok(())
            }
            (Type::Array { dims, .. }, Atom::Var(source)) => {
                self.copy_elements((target, offset, None), dims, source)
            }
            (Type::Array { .. }, Atom::Const(_)) => Err("internal error: a constant array".into()),
            (Type::Acc { .. }, _) => Ok(()),
        }
    }

    /// Writes an element or a row to row `i` of an array with strides.
    pub(super) fn store_apart(
        &mut self,
        target: &str,
        (i, strides): (&str, &[String]),
        row: &Type,
        value: Atom,
    ) -> Lowered<()> {
        let offset = strided(&[i.to_string()], strides);
        match (row, value) {
            (Type::Array { dims, .. }, Atom::Var(source)) => {
                let rest = strides.get(1..).unwrap_or_default().to_vec();
                self.copy_elements((target, &offset, Some(&rest)), dims, source)
            }
            _ => self.store(target, &offset, row, value),
        }
    }

    fn copy_elements(
        &mut self,
        (target, offset, strides): (&str, &str, Option<&[String]>),
        dims: &[Atom],
        source: VarId,
    ) -> Lowered<()> {
        if strides.is_none() && self.is_in_order(source)? {
            let (count, (elem, _), source) = (self.product(dims), self.array(source)?, self.name(source));
            let bytes = format!("({count}) * sizeof({elem})");
            self.line(match self.is_outermost() {
                true => format!("dz_copy(ctx, {target} + {offset}, {source}, {bytes});"),
                false => format!("memcpy({target} + {offset}, {source}, {bytes});"),
            });
            return Ok(());
        }
        let near = match &self.info(source)?.form {
            Form::View { strides } => strides.iter().rposition(|stride| stride == "1").unwrap_or(dims.len()),
            Form::Block { .. } | Form::Range { .. } | Form::Fill { .. } => dims.len(),
        };
        self.for_all_indices(dims, near, &|l, counters| {
            let to = match strides {
                Some(strides) => strided(counters, strides),
                None => l.offset(counters, dims),
            };
            let from = l.element(source, counters)?;
            let place = if offset == "0" { to } else { format!("{offset} + {to}") };
            l.line(format!("{target}[{place}] = {from};"));
            Ok(())
        })
    }
}

/// The position of what the indices select.
pub(super) fn strided(indices: &[String], strides: &[String]) -> String {
    let parts: Vec<String> = indices
        .iter()
        .zip(strides)
        .filter(|(index, _)| !matches!(index.as_str(), "0" | "0L"))
        .map(|(index, stride)| if stride == "1" { index.clone() } else { format!("{index} * {stride}") })
        .collect();
    if parts.is_empty() { "0".to_string() } else { parts.join(" + ") }
}
