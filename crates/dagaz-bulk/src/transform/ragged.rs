//! Arrays whose size differs between the iterations of a map: rows of different lengths.
//!
//! Such an array is as long as the longest of them, and nothing is said of the elements beyond its own length. Most operations do not mind.
//! Those that would count these elements leave them out: folds have the neutral element there, products zeros, and scatters
//! write them to no place.
//!
//! ```text
//! map n (ms) \(m: i64) : (i64) ->         let (most: i64) = i64.reduce_max 0 ms
//!   let (is: [m]i64) = iota i64 m     ==>   let (is: [most]i64) = iota i64 most
//!   … i64.reduce_add 0 is                   … i64.reduce_add 1 (select (is < ms) is 0)
//! ```

use std::collections::HashSet;

use dagaz_core::exp::AxesOf;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::term::{Body, Op, Span, Stm, neutral};
use crate::visit::bodies;

use super::depend::differing;
use super::lanes::Lanes;
use super::{Transform, Transformed, unsupported};

/// The variables that are sizes of what a body binds.
pub(super) fn sizes_of(body: &Body) -> HashSet<VarId> {
    let mut sizes = HashSet::new();
    for stm in &body.stms {
        sizes.extend(stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var));
        bodies(&stm.op).into_iter().for_each(|inner| sizes.extend(sizes_of(inner)));
    }
    sizes
}

impl Transform<'_> {
    /// Finds the greatest value of a variable that is a size and differs between iterations.
    pub(super) fn note_size(&mut self, lanes: &mut Lanes, var: VarId) {
        let (Atom::Var(values), true) = self.now(lanes, var.into()) else { return };
        if !lanes.sizes.contains(&var) || lanes.greatest.contains_key(&var) {
            return;
        }
        let ty = Self::lane_scalar(lanes, PrimType::I64);
        let values = match lanes.mask {
            Some(mask) => self.select_lanes(&ty, mask, values.into(), Atom::i64(0)),
            None => values.into(),
        };
        let values = self.b.as_var(values);
        let most = self.b.fold(BinOp::Max, PrimType::I64, 0, values);
        let most = self.b.binop(BinOp::Max, PrimType::I64, most, Atom::i64(0));
        lanes.greatest.insert(var, most);
    }

    pub(super) fn is_ragged(&self, lanes: &Lanes, size: Atom) -> bool {
        self.now(lanes, size).1
    }

    /// Which elements of an array of these sizes exist, for each iteration; none if all do. Only `axes` are looked at.
    fn existing(&mut self, lanes: &mut Lanes, dims: &[Atom], axes: &[usize]) -> Transformed<Option<VarId>> {
        let ragged: Vec<usize> =
            axes.iter().copied().filter(|axis| self.is_ragged(lanes, dims[*axis])).collect();
        let all: Vec<Atom> = [lanes.width].into_iter().chain(self.lane_sizes(lanes, dims)?).collect();
        let mut exists = Atom::bool(true);
        for axis in ragged {
            let size = self.lifted(lanes, dims[axis]);
            let (at, size) = (self.b.iota_along(axis + 1, &all), self.b.extend(size, &all));
            let inside = self.b.cmp(CmpOp::Lt, PrimType::I64, at.into(), size.into());
            exists = self.b.and(exists, inside);
        }
        Ok(exists.as_var())
    }

    /// The array for all iterations, with a constant in place of the elements that do not exist along some axes.
    fn filled_up(
        &mut self,
        lanes: &mut Lanes,
        array: VarId,
        axes: &[usize],
        with: Prim,
    ) -> Transformed<VarId> {
        let dims = self.b.dims_of(array);
        let wide = self.lifted(lanes, array.into());
        let Some(exists) = self.existing(lanes, &dims, axes)? else { return Ok(wide) };
        let ty = self.b.type_of(wide.into());
        let filled = self.select_lanes(&ty, exists, wide.into(), with.into());
        Ok(self.b.as_var(filled))
    }

    /// Operations that would count what does not exist; whether this is one of them.
    pub(super) fn lane_ragged(&mut self, lanes: &mut Lanes, stm: &Stm) -> Transformed<bool> {
        let size = |t: &Self, array: VarId, axis: usize| t.b.dims_of(array).get(axis).copied();
        match &stm.op {
            Op::Fold { op, ty, axis, array } => {
                if !size(self, *array, *axis).is_some_and(|size| self.is_ragged(lanes, size)) {
                    return Ok(false);
                }
                let start = neutral(*op, *ty).unwrap_or(Prim::zero(*ty));
                let array = self.filled_up(lanes, *array, &[*axis], start)?;
                let op = Op::Fold { op: *op, ty: *ty, axis: axis + 1, array };
                self.lane_bind(lanes, stm, true, op)?;
            }
            Op::Reduce { axis, arrays, .. } => {
                let size = arrays.first().and_then(|array| size(self, *array, *axis));
                if !size.is_some_and(|size| self.is_ragged(lanes, size)) {
                    return Ok(false);
                }
                self.b.open();
                self.fold_as_loop(stm);
                let body = Body { stms: self.b.close(), result: Vec::new() };
                lanes.differs = differing(&body, lanes.differs.iter().copied(), &self.shared);
                self.lane_stms(lanes, &body.stms)?;
            }
            Op::Dot { sizes, rank, left, right } => {
                if !sizes[*rank..].iter().any(|size| self.is_ragged(lanes, *size)) {
                    return Ok(false);
                }
                let op = self.ragged_dot(lanes, sizes, *rank, [left, right])?;
                self.lane_bind(lanes, stm, true, op)?;
            }
            Op::Concat { axis, arrays } => {
                let sizes: Vec<Atom> = arrays.iter().filter_map(|array| size(self, *array, *axis)).collect();
                if sizes.into_iter().any(|size| self.is_ragged(lanes, size)) {
                    return unsupported(
                        "arrays whose size differs between iterations are concatenated",
                        stm.loc,
                    );
                }
                return Ok(false);
            }
            Op::Reshape { dims, array } => return self.ragged_reshape(lanes, stm, dims, *array),
            // Element by element, or row by row, what does not exist stays apart from what does.
            Op::Atom(_) | Op::UnOp(..) | Op::BinOp(..) | Op::TernOp(..) | Op::CmpOp(..) | Op::Convert(..) => {
                return Ok(false);
            }
            Op::Select { .. } | Op::Iota { .. } | Op::Broadcast { .. } | Op::Transpose { .. } => {
                return Ok(false);
            }
            Op::Slice { .. } | Op::Stack { .. } | Op::Gather { .. } => return Ok(false),
            // What comes before an element does not depend on what does not exist behind it.
            Op::Scan { .. } => return Ok(false),
            // These leave it out themselves, or are lifted by their bodies.
            Op::Update { .. } | Op::Scatter { .. } | Op::If { .. } | Op::Loop { .. } => return Ok(false),
            Op::Call { .. } | Op::Assert { .. } => return Ok(false),
        }
        Ok(true)
    }

    fn ragged_dot(
        &mut self,
        lanes: &mut Lanes,
        sizes: &[Atom],
        rank: usize,
        operands: [&AxesOf; 2],
    ) -> Transformed<Op> {
        let mut wide = Vec::new();
        for operand in operands {
            let summed: Vec<usize> =
                (0..operand.axes.len()).filter(|own| operand.axes[*own] >= rank).collect();
            let elem = self.b.type_of(operand.array.into()).elem().unwrap_or(PrimType::F64);
            let array = self.filled_up(lanes, operand.array, &summed, Prim::zero(elem))?;
            wide.push(AxesOf {
                array,
                axes: [0].into_iter().chain(operand.axes.iter().map(|a| a + 1)).collect(),
            });
        }
        let sizes = [lanes.width].into_iter().chain(self.lane_sizes(lanes, sizes)?).collect();
        let (Some(right), Some(left)) = (wide.pop(), wide.pop()) else {
            return unsupported("a product of one operand", self.b.loc);
        };
        Ok(Op::Dot { sizes, rank: rank + 1, left, right })
    }

    /// Sizes that are equal in each iteration may have different greatest values, if some iterations fail.
    fn ragged_reshape(
        &mut self,
        lanes: &mut Lanes,
        stm: &Stm,
        dims: &[Atom],
        array: VarId,
    ) -> Transformed<bool> {
        let own = self.b.dims_of(array);
        if !own.iter().chain(dims).any(|size| self.is_ragged(lanes, *size)) {
            return Ok(false);
        }
        let renamed = own.iter().zip(dims).filter(|(x, y)| self.now(lanes, **x).0 != self.now(lanes, **y).0);
        if own.len() != dims.len() || renamed.count() > 1 {
            return unsupported("an array whose size differs between iterations is reshaped", stm.loc);
        }
        let wide = self.lifted(lanes, array.into());
        let spans = [lanes.width].into_iter().chain(self.lane_sizes(lanes, dims)?).map(Span::all).collect();
        self.lane_bind(lanes, stm, true, Op::Slice { array: wide, dims: spans })?;
        Ok(true)
    }

    /// The value with the sizes of the type, shortened or lengthened.
    pub(super) fn fitted(&mut self, value: Atom, ty: &Type) -> Atom {
        let Atom::Var(var) = value else { return value };
        if self.b.dims_of(var) == ty.dims() {
            return value;
        }
        self.b.slice(var, ty.dims().iter().map(|size| Span::all(*size)).collect()).into()
    }

    /// Indices of what a scatter or update writes; what does not exist is written to no place.
    pub(super) fn only_existing(
        &mut self,
        lanes: &mut Lanes,
        indices: &mut [Atom],
        dims: &[Atom],
    ) -> Transformed<()> {
        let axes: Vec<usize> = (0..dims.len()).collect();
        let Some(exists) = self.existing(lanes, dims, &axes)? else { return Ok(()) };
        let all = self.b.dims_of(exists);
        let ty = Type::array(PrimType::I64, all);
        if let Some(first) = indices.first_mut() {
            *first = self.select_lanes(&ty, exists, *first, Atom::i64(-1));
        }
        Ok(())
    }
}
