//! Indexing and slicing.
//!
//! Of an array of records, every component is indexed:
//!
//! ```text
//! xs[i]   with xs = Array n (Record ys zs)     ==>     let y = ys[i]   let z = zs[i]
//! ```

use dagaz_core::exp::{Check, DimSlice, Exp as CoreExp, MsgPart};
use dagaz_core::prim::{BinOp, CmpOp, PrimType, UnOp};
use dagaz_core::types::{Atom, Type};
use dagaz_types::typed::{Exp, SliceIndex};

use crate::context::{Res, Simplifier};
use crate::value::{ArrayVal, Env, SVal, as_var};
use crate::walk::{array_type, flatten, rebuild};

/// One position of a slice, evaluated.
pub(crate) enum Position {
    Index(Atom, Check),
    Slice { start: Option<Atom>, end: Option<Atom>, stride: Option<Atom> },
}

/// A slice that was checked against the sizes of an array.
pub(crate) struct Checked {
    pub dims: Vec<DimSlice>,
    /// The sizes that remain of the sliced dimensions.
    pub sizes: Vec<Atom>,
    /// Whether plain indices are still to be checked.
    pub check: Check,
}

impl Checked {
    /// Whether no dimension is left of those that were indexed.
    pub fn all_fixed(&self) -> bool {
        self.sizes.is_empty()
    }

    pub fn indices(&self) -> Vec<Atom> {
        let index = |dim: &DimSlice| match dim {
            DimSlice::Fix(i) => Some(*i),
            DimSlice::Range { .. } => None,
        };
        self.dims.iter().filter_map(index).collect()
    }

    /// One entry for every dimension of a leaf.
    pub fn padded(&self, leaf: &Type) -> Vec<DimSlice> {
        let mut dims = self.dims.clone();
        if let Type::Array { dims: all, .. } = leaf {
            for len in all.iter().skip(dims.len()) {
                dims.push(DimSlice::Range { start: Atom::i64(0), len: *len, stride: Atom::i64(1) });
            }
        }
        dims
    }
}

impl Simplifier<'_> {
    pub fn eval_slice(&mut self, env: &mut Env, slice: &[SliceIndex]) -> Res<Vec<Position>> {
        let mut positions = Vec::with_capacity(slice.len());
        for index in slice {
            positions.push(match index {
                SliceIndex::Index(exp) => self.eval_index(env, exp)?,
                SliceIndex::Slice { start, end, stride } => {
                    let mut part =
                        |part: &Option<Box<Exp>>| part.as_ref().map(|e| self.eval_scalar(env, e)).transpose();
                    Position::Slice { start: part(start)?, end: part(end)?, stride: part(stride)? }
                }
            });
        }
        Ok(positions)
    }

    pub fn index(&mut self, array: &SVal, slice: Vec<Position>) -> Res<SVal> {
        if let SVal::Ref(reference) = array {
            return self.index_reference(reference, &slice);
        }
        if let ([Position::Index(i, check)], SVal::Array(array)) = (slice.as_slice(), array) {
            return self.element(array, *i, *check);
        }
        if slice.is_empty() {
            return Ok(array.clone());
        }
        let (elem, sizes) = self.below(array, slice.len())?;
        let checked = self.check_slice(&slice, &sizes);
        self.take(&elem, &sizes, &checked)
    }

    /// The element at one position.
    pub fn element(&mut self, array: &ArrayVal, index: Atom, check: Check) -> Res<SVal> {
        let flat = flatten(&array.elem);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            let Some(array) = as_var(leaf.atom) else { return self.bug("an array that is a constant") };
            let exp = CoreExp::Index { array, indices: vec![index], check };
            leaves.push(self.emit("elem", leaf.ty.clone(), exp));
        }
        Ok(rebuild(&array.elem, &flat.dims, &leaves))
    }

    /// What is below so many dimensions of an array, and their sizes.
    pub fn below(&self, array: &SVal, dimensions: usize) -> Res<(SVal, Vec<Atom>)> {
        let mut sizes = Vec::with_capacity(dimensions);
        let mut value = array.clone();
        for _ in 0..dimensions {
            let SVal::Array(array) = &value else { return self.bug("too many indices") };
            sizes.push(array.dim);
            value = array.elem.clone();
        }
        Ok((value, sizes))
    }

    /// The part of an array that a checked slice describes; `elem` is what is below its dimensions.
    pub fn take(&mut self, elem: &SVal, sizes: &[Atom], checked: &Checked) -> Res<SVal> {
        let flat = flatten(elem);
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            let Some(array) = as_var(leaf.atom) else { return self.bug("an array that is a constant") };
            let ty = below_sizes(&checked.sizes, &leaf.ty);
            let exp = if checked.all_fixed() {
                CoreExp::Index { array, indices: checked.indices(), check: checked.check }
            } else {
                CoreExp::Slice { array, dims: checked.padded(&below_sizes(sizes, &leaf.ty)) }
            };
            leaves.push(self.emit("part", ty, exp));
        }
        let elem = rebuild(elem, &flat.dims, &leaves);
        Ok(checked.sizes.iter().rev().fold(elem, |elem, size| SVal::array(*size, elem)))
    }

    /// Start, length and stride of every dimension. A slice is asserted to be within bounds; plain indices
    /// are left to the operation, which checks them itself.
    pub fn check_slice(&mut self, slice: &[Position], sizes: &[Atom]) -> Checked {
        let mut dims = Vec::with_capacity(slice.len());
        let mut result_sizes = Vec::new();
        let mut valid = Atom::bool(true);
        let mut shown = vec![MsgPart::Text("Index [".into())];
        let sliced = slice.iter().any(|p| matches!(p, Position::Slice { .. }));
        for (k, (position, size)) in slice.iter().zip(sizes).enumerate() {
            if k > 0 {
                shown.push(MsgPart::Text(", ".into()));
            }
            match position {
                Position::Index(i, check) => {
                    shown.push(MsgPart::Value(*i));
                    if sliced && *check == Check::Checked {
                        let ok = self.in_bounds(*i, *size);
                        valid = self.and(valid, ok);
                    }
                    dims.push(DimSlice::Fix(*i));
                }
                Position::Slice { start, end, stride } => {
                    show_slice(*start, *end, *stride, &mut shown);
                    let (dim, len, ok) = self.slice_dim(*size, *start, *end, *stride);
                    valid = self.and(valid, ok);
                    result_sizes.push(len);
                    dims.push(dim);
                }
            }
        }
        if sliced {
            shown.push(MsgPart::Text("] out of bounds for array of shape [".into()));
            for (k, size) in sizes.iter().enumerate() {
                if k > 0 {
                    shown.push(MsgPart::Text("][".into()));
                }
                shown.push(MsgPart::Value(*size));
            }
            shown.push(MsgPart::Text("].".into()));
            self.assert(valid, shown);
        }
        let unchecked = |p: &Position| matches!(p, Position::Index(_, Check::Checked));
        let check = if slice.iter().any(unchecked) { Check::Checked } else { Check::Certified };
        Checked { dims, sizes: result_sizes, check }
    }

    pub fn in_bounds(&mut self, index: Atom, size: Atom) -> Atom {
        let low = self.cmp(CmpOp::Le, PrimType::I64, Atom::i64(0), index);
        let high = self.cmp(CmpOp::Lt, PrimType::I64, index, size);
        self.and(low, high)
    }

    /// The slice of one dimension, its length, and whether it is valid. An empty slice always is, as long as its
    /// stride is not zero.
    fn slice_dim(
        &mut self,
        size: Atom,
        start: Option<Atom>,
        end: Option<Atom>,
        stride: Option<Atom>,
    ) -> (DimSlice, Atom, Atom) {
        let (zero, one) = (Atom::i64(0), Atom::i64(1));
        let ty = PrimType::I64;
        let stride = stride.unwrap_or(one);
        let backwards = self.cmp(CmpOp::Lt, ty, stride, zero);
        let last = self.sub(size, one);
        if let (None, None) = (start, end)
            && stride == Atom::i64(-1)
        {
            return (DimSlice::Range { start: last, len: size, stride }, size, Atom::bool(true));
        }
        let start = start.unwrap_or_else(|| self.select(backwards, ty, last, zero));
        let end = end.unwrap_or_else(|| self.select(backwards, ty, Atom::i64(-1), size));
        let distance = self.sub(end, start);
        let stride_is_zero = self.cmp(CmpOp::Eq, ty, stride, zero);
        let divisor = self.select(stride_is_zero, ty, one, stride);
        let len = if divisor == one {
            distance
        } else {
            // Division that rounds away from zero.
            let sign = self.unop(UnOp::Signum, ty, divisor);
            let rounding = self.sub(divisor, sign);
            let sum = self.add(distance, rounding);
            self.binop(BinOp::Quot, ty, sum, divisor)
        };
        let before_last = self.sub(len, one);
        let reach = self.mul(before_last, stride);
        let final_index = self.add(start, reach);
        let ordered = {
            let up = self.cmp(CmpOp::Le, ty, start, end);
            let down = self.cmp(CmpOp::Le, ty, end, start);
            self.select(backwards, PrimType::Bool, down, up)
        };
        let start_ok = self.in_bounds(start, size);
        let final_ok = self.in_bounds(final_index, size);
        let bounded = self.and(start_ok, final_ok);
        let within = self.and(ordered, bounded);
        let empty = self.cmp(CmpOp::Eq, ty, len, zero);
        let acceptable = self.or(empty, within);
        let nonzero = self.not(stride_is_zero);
        let ok = self.and(nonzero, acceptable);
        // An empty slice may start anywhere, but Core wants positions of the array.
        let start = if start == zero { start } else { self.select(empty, ty, zero, start) };
        (DimSlice::Range { start, len, stride }, len, ok)
    }
}

/// The type with more sizes in front.
pub(crate) fn below_sizes(sizes: &[Atom], ty: &Type) -> Type {
    match ty {
        Type::Prim(elem) => array_type(*elem, sizes),
        Type::Array { elem, dims } => array_type(*elem, &[sizes, dims.as_slice()].concat()),
        Type::Acc { .. } => ty.clone(),
    }
}

fn show_slice(start: Option<Atom>, end: Option<Atom>, stride: Option<Atom>, shown: &mut Vec<MsgPart>) {
    shown.extend(start.map(MsgPart::Value));
    shown.push(MsgPart::Text(":".into()));
    shown.extend(end.map(MsgPart::Value));
    if let Some(stride) = stride {
        shown.push(MsgPart::Text(":".into()));
        shown.push(MsgPart::Value(stride));
    }
}
