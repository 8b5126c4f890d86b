//! Division, indices, slices and updates: what is checked before it happens.

use dagaz_core::exp::{Check, DimSlice};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{Lower, Lowered, elem, only};
use crate::SiteKind;
use crate::imp::{LoopKind, Stm};
use crate::scalar::{self, type_code};

/// What happens at an element of a slice, given its indices in the array and in the slice.
type EachElement<'e, L> = dyn FnMut(&mut L, &[String], &[String]) + 'e;

impl Lower<'_> {
    pub(super) fn binop(&mut self, pat: &[Param], op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Lowered<()> {
        let (left, right) = (self.atom(x), self.atom(y));
        let divides = matches!(op, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem);
        let is_known = y.as_const().and_then(|p| p.as_i64()).is_some_and(|n| n > 0);
        if ty.is_int() && divides && !is_known {
            let notes = [(ty, left.clone())];
            self.fail_if(&format!("{right} == 0"), SiteKind::DivisionByZero, &notes);
        }
        if ty.is_signed() && op == BinOp::Pow && !is_known {
            let notes = [(ty, left.clone()), (ty, right.clone())];
            self.fail_if(&format!("{right} < 0"), SiteKind::NegativeExponent, &notes);
        }
        self.scalar(pat, scalar::binop(op, ty, &left, &right))
    }

    /// Stops the program if the condition holds, with values for the message.
    pub(super) fn fail_if(&mut self, cond: &str, kind: SiteKind, notes: &[(PrimType, String)]) {
        let site = self.site(kind);
        let mut then: Vec<Stm> = Vec::new();
        for (ty, value) in notes {
            then.push(Stm::Line(format!("dz_note_scalar(ctx, {}, dz_bits_{ty}({value}));", type_code(*ty))));
        }
        then.push(Stm::Line(format!("return dz_fail(ctx, {site});")));
        self.out.push(Stm::If { cond: format!("DZ_UNLIKELY({cond})"), then, otherwise: Vec::new() });
    }

    pub(super) fn check_size(&mut self, size: Atom, what: &'static str) {
        if size.as_const().and_then(|p| p.as_i64()).is_some_and(|n| n >= 0) {
            return;
        }
        let size = self.atom(size);
        self.fail_if(&format!("{size} < 0"), SiteKind::NegativeSize(what), &[(PrimType::I64, size.clone())]);
    }

    fn check_bounds(&mut self, indices: &[Atom], dims: &[Atom]) {
        let outside: Vec<String> = indices
            .iter()
            .zip(dims)
            .map(|(i, d)| format!("(u64){} >= (u64){}", self.atom(*i), self.atom(*d)))
            .collect();
        let notes: Vec<(PrimType, String)> =
            indices.iter().chain(dims).map(|a| (PrimType::I64, self.atom(*a))).collect();
        let kind = SiteKind::OutOfBounds { indices: indices.len() };
        self.fail_if(&outside.join(" || "), kind, &notes);
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

    pub(super) fn index(
        &mut self,
        pat: &[Param],
        array: VarId,
        indices: &[Atom],
        check: Check,
    ) -> Lowered<()> {
        let param = only(pat)?;
        let (elem, dims) = self.array(array)?;
        if check == Check::Checked {
            self.check_bounds(indices, &dims);
        }
        let texts: Vec<String> = indices.iter().map(|i| self.atom(*i)).collect();
        let (source, target, offset) = (self.name(array), self.name(param.var), self.offset(&texts, &dims));
        if indices.len() == dims.len() {
            return self.scalar(pat, format!("{source}[{offset}]"));
        }
        self.view(elem, &target, &format!("{source} + {offset}"), &source);
        Ok(())
    }

    /// A variable that shares the block of another one.
    fn view(&mut self, elem: PrimType, target: &str, pointer: &str, source: &str) {
        self.line(format!("{elem} *{target} = {pointer}; dz_block *{target}_mem = {source}_mem;"));
        self.line(format!("dz_retain({target}_mem);"));
    }

    pub(super) fn slice(&mut self, pat: &[Param], array: VarId, slice: &[DimSlice]) -> Lowered<()> {
        let param = only(pat)?;
        let (elem, dims) = self.array(array)?;
        let (source, target) = (self.name(array), self.name(param.var));
        if let Some(start) = self.contiguous(slice, &dims) {
            self.view(elem, &target, &format!("{source} + {start}"), &source);
            return Ok(());
        }
        self.allocate(param)?;
        self.selected(slice, &dims, &mut Vec::new(), &mut Vec::new(), &mut |l, inside, counters| {
            let from = l.offset(inside, &dims);
            let to = l.offset(counters, param.ty.dims());
            l.line(format!("{target}[{to}] = {source}[{from}];"));
        })
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
            each(self, inside, counters);
            return Ok(());
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
        let target = self.name(param.var);
        let value_text = self.atom(value);
        if let Some(indices) = fixed {
            let texts: Vec<String> = indices.iter().map(|i| self.atom(*i)).collect();
            let offset = self.offset(&texts, &dims);
            let row = Type::array(elem(&param.ty)?, dims[indices.len()..].to_vec());
            self.store(&target, &offset, &row, &value_text);
            return Ok(());
        }
        let value_dims = self.atom_type(value)?.dims().to_vec();
        self.selected(slice, &dims, &mut Vec::new(), &mut Vec::new(), &mut |l, inside, counters| {
            let to = l.offset(inside, &dims);
            let from = l.offset(counters, &value_dims);
            l.line(format!("{target}[{to}] = {value_text}[{from}];"));
        })
    }

    /// Writes an element or a row to a position.
    pub(super) fn store(&mut self, target: &str, offset: &str, row: &Type, value: &str) {
        match row {
            Type::Prim(_) => self.line(format!("{target}[{offset}] = {value};")),
            Type::Array { elem, dims } => {
                let count = self.product(dims);
                self.line(format!("memcpy({target} + {offset}, {value}, ({count}) * sizeof({elem}));"));
            }
            Type::Acc { .. } => {}
        }
    }
}
