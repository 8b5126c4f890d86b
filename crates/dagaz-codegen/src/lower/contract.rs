//! Contractions, as matrix products.
//!
//! An axis of the result that both operands have numbers a batch of products; the others are rows (of the left operand)
//! or columns (of the right one). Axes that lie next to each other in all arrays become one: `[n][m]` elements are
//! `n * m` rows. A product has one axis of each kind, with any strides, so that transposition costs nothing; what is
//! left becomes loops around it. Triangles go to the product, if their axes are the last ones of rows, columns or depth.

use dagaz_core::exp::{AxesOf, Triangle};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, VarId};

use super::packed_operands::CopyOrder;
use super::{Lower, Lowered, elem, only};
use crate::imp::{Expr, LoopKind, Operand, Product, Runtime, Side, Stm, TriangleBounds};
use crate::{RemarkKind, SiteKind};

/// Axes that are one in memory, the outermost first.
type Merged = Vec<usize>;

/// The axes of a contraction by what they are to a matrix product.
#[derive(Default)]
struct Kinds {
    batch: Vec<Merged>,
    rows: Vec<Merged>,
    columns: Vec<Merged>,
    depth: Vec<Merged>,
}

impl Kinds {
    fn of(rank: usize, left: &[usize], right: &[usize]) -> Kinds {
        let result: Vec<usize> = (0..rank).collect();
        let arrays = [left, right, &result];
        let mut kinds = Kinds::default();
        for axis in &result {
            let kind = match (left.contains(axis), right.contains(axis)) {
                (true, true) => &mut kinds.batch,
                (true, false) => &mut kinds.rows,
                (false, _) => &mut kinds.columns,
            };
            add(kind, *axis, &arrays);
        }
        for axis in left.iter().filter(|axis| **axis >= rank) {
            add(&mut kinds.depth, *axis, &arrays);
        }
        kinds
    }
}

/// Adds an axis to the last of the merged axes, if it follows them in all arrays that have it, or else as a new one.
fn add(kind: &mut Vec<Merged>, axis: usize, arrays: &[&[usize]; 3]) {
    let position = |array: &[usize], axis: usize| array.iter().position(|a| *a == axis);
    let follows = |before: usize| {
        arrays.iter().all(|array| match (position(array, before), position(array, axis)) {
            (Some(before), Some(own)) => own == before + 1,
            (before, own) => before == own,
        })
    };
    match kind.last_mut() {
        Some(merged) if merged.last().is_some_and(|before| follows(*before)) => merged.push(axis),
        _ => kind.push(vec![axis]),
    }
}

/// The axes of one matrix product.
#[derive(Clone)]
struct Matrix {
    batch: Option<Merged>,
    rows: Option<Merged>,
    columns: Option<Merged>,
    depth: Option<Merged>,
    adds: bool,
}

impl Matrix {
    fn transposed(&self) -> Matrix {
        Matrix { rows: self.columns.clone(), columns: self.rows.clone(), ..self.clone() }
    }
}

/// A contraction that is being lowered: its sizes, and the pointers and axes of left, right and result.
struct Operands<'c> {
    sizes: &'c [Atom],
    arrays: [(Expr, Vec<usize>); 3],
    /// Of which there is more than this.
    is_part: bool,
    /// Of which the rest is not near, either.
    is_far: bool,
}

impl Lower<'_> {
    pub(super) fn contract(
        &mut self,
        pat: &[Param],
        (sizes, rank): (&[Atom], usize),
        left: &AxesOf,
        right: &AxesOf,
        plus: Option<VarId>,
        triangles: &[Triangle],
    ) -> Lowered<()> {
        let param = only(pat)?;
        let elem = elem(&param.ty)?;
        self.module.products.insert(elem);
        self.remark(RemarkKind::Product, format!("a product of matrices of {elem}, by a tuned kernel"));
        match plus {
            Some(array) => self.take_unique(param, array)?,
            None => self.allocate(param)?,
        }
        let axes = (0..rank).collect();
        let arrays = [
            (self.var(left.array)?.expr(), left.axes.clone()),
            (self.var(right.array)?.expr(), right.axes.clone()),
            (self.var_of(param)?.expr(), axes),
        ];
        let matrices = [left.array, right.array];
        for other in [left, right].iter().filter(|operand| !operand.axes.contains(&0)) {
            let (_, dims) = self.array(other.array)?;
            self.reads_again(&dims);
        }
        let Some(part) = self.groups.part.take() else {
            let operands = Operands { sizes, arrays, is_part: false, is_far: false };
            return self.products(elem, rank, operands, matrices, plus.is_some(), triangles);
        };
        self.for_part(part, |l, part| {
            l.bind(&part.count, true);
            let sizes = [&[Atom::from(part.count.var)], &sizes[1..]].concat();
            let arrays = arrays.map(|(pointer, own)| match own.first() {
                Some(0) => {
                    let stride = l.stride(&vec![0], &own, &sizes);
                    (pointer + &part.from * stride, own)
                }
                _ => (pointer, own),
            });
            let is_far = [left, right].iter().any(|o| o.axes.contains(&0) && !part.made.contains(&o.array));
            let operands = Operands { sizes: &sizes, arrays, is_part: true, is_far };
            l.products(elem, rank, operands, matrices, plus.is_some(), triangles)
        })
    }

    /// Matrix products whose results have their memory.
    fn products(
        &mut self,
        elem: PrimType,
        rank: usize,
        operands: Operands<'_>,
        matrices: [VarId; 2],
        is_sum: bool,
        triangles: &[Triangle],
    ) -> Lowered<()> {
        let sizes = operands.sizes;
        let [(_, left), (_, right), (target, _)] = &operands.arrays;
        let mut kinds = Kinds::of(rank, left, right);
        let (rows, columns, depth) = (kinds.rows.pop(), kinds.columns.pop(), kinds.depth.pop());
        let adds = is_sum || !kinds.depth.is_empty();
        let mut outer = kinds.batch;
        outer.append(&mut kinds.rows);
        outer.append(&mut kinds.columns);
        let batch = (!outer.is_empty()).then(|| outer.remove(0));
        outer.append(&mut kinds.depth);
        if adds && !is_sum {
            self.run(Runtime::Zero(elem), [target.clone(), self.product(&sizes[..rank])]);
        }
        let mut triangle = self.triangle(&[&rows, &columns, &depth], sizes, triangles);
        triangle.iter_mut().for_each(|bounds| bounds.is_far = operands.is_far);
        if triangle.is_some() {
            self.module.triangles.insert(elem);
        }
        let kinds = Matrix { batch, rows, columns, depth, adds };
        // A copy would be one of the first part.
        let is_one_product = outer.is_empty() && kinds.batch.is_none() && !operands.is_part;
        if is_one_product && self.product_with_copy(&kinds, &operands, matrices, elem, triangles) {
            return Ok(());
        }
        self.outer_axes(&outer, operands, &mut |l, o| {
            let product = Product { triangle: triangle.clone(), ..l.matrix_product(elem, &kinds, o) };
            l.out.push(Stm::Product(Box::new(product)));
        })
    }

    /// A product without triangles.
    fn matrix_product(&self, elem: PrimType, kinds: &Matrix, o: &Operands<'_>) -> Product {
        let Matrix { batch, rows, columns, depth, adds } = kinds;
        let size = |axis: &Option<Merged>| axis.as_ref().map_or(1.expr(), |a| self.extent(a, o.sizes));
        let strides = |axes: [&Option<Merged>; 3], array| axes.map(|axis| self.stride_in(axis, o, array));
        Product {
            elem,
            sizes: [batch, rows, columns, depth].map(size),
            strides: [
                strides([batch, rows, depth], 0),
                strides([batch, depth, columns], 1),
                strides([batch, rows, columns], 2),
            ],
            adds: *adds,
            triangle: None,
            operands: o.arrays.clone().map(|(pointer, _)| pointer),
            copy: None,
        }
    }

    fn stride_in(&self, axis: &Option<Merged>, o: &Operands<'_>, array: usize) -> Expr {
        axis.as_ref().map_or(0.expr(), |a| self.stride(a, &o.arrays[array].1, o.sizes))
    }

    /// A product in a loop, of which the matrix with the last axis of the result is the same in every iteration: it is copied into
    /// the order of kernels once. Tells whether it is one.
    fn product_with_copy(
        &mut self,
        kinds: &Matrix,
        operands: &Operands<'_>,
        [left, right]: [VarId; 2],
        elem: PrimType,
        triangles: &[Triangle],
    ) -> bool {
        let [l, r, result] = &operands.arrays;
        let last = result.1.last();
        let is_in_rows = kinds.rows.as_ref().is_some_and(|rows| rows.last() == last);
        // The transposed product has its rows next to each other.
        let (kinds, arrays, same) = match is_in_rows {
            true => (kinds.transposed(), [r, l, result], left),
            false => (kinds.clone(), [l, r, result], right),
        };
        let arrays = arrays.map(Clone::clone);
        let operands = Operands { arrays, ..*operands };
        let (down, across) =
            (self.stride_in(&kinds.depth, &operands, 1), self.stride_in(&kinds.columns, &operands, 1));
        let is_for_kernels = kinds.columns.as_ref().is_some_and(|columns| columns.last() == last)
            && self.stride_in(&kinds.depth, &operands, 0) == self.product(&[]);
        if !is_for_kernels {
            return false;
        }
        let triangle = self.triangle(&[&kinds.rows, &kinds.columns, &kinds.depth], operands.sizes, triangles);
        let order = CopyOrder { strides: [down, across], triangle: triangle.clone() };
        let Some(copy) = self.kept_copy(same, order) else { return false };
        let copy = Some((copy, self.site(SiteKind::Memory)));
        let product = Product { triangle, copy, ..self.matrix_product(elem, &kinds, &operands) };
        self.out.push(Stm::Product(Box::new(product)));
        true
    }

    /// The triangles of a product with these rows, columns and depth.
    fn triangle(
        &self,
        [rows, columns, depth]: &[&Option<Merged>; 3],
        sizes: &[Atom],
        triangles: &[Triangle],
    ) -> Option<Box<TriangleBounds>> {
        let last = |side: &Option<Merged>| side.as_ref().and_then(|axes| axes.last().copied());
        let side = |axis: usize| match axis {
            axis if last(rows) == Some(axis) => Some(Side::Row),
            axis if last(columns) == Some(axis) => Some(Side::Column),
            axis if depth.as_deref() == Some(&[axis]) => Some(Side::Depth),
            _ => None,
        };
        let bounds: Vec<(Side, Side)> =
            triangles.iter().filter_map(|t| Some((side(t.low)?, side(t.high)?))).collect();
        let period = |side: Side, axes: &Option<Merged>| {
            let is_bound = bounds.iter().any(|(low, high)| *low == side || *high == side);
            axes.as_ref().map_or(1.expr(), |axes| {
                let own = if is_bound { &axes[axes.len() - 1..] } else { axes };
                self.extent(&own.to_vec(), sizes)
            })
        };
        let (row_period, column_period) = (period(Side::Row, rows), period(Side::Column, columns));
        let triangle = TriangleBounds { row_period, column_period, bounds, is_far: false };
        (!triangle.bounds.is_empty()).then(|| Box::new(triangle))
    }

    /// Loops over axes, with the pointers moved along.
    fn outer_axes(
        &mut self,
        axes: &[Merged],
        operands: Operands<'_>,
        inside: &mut dyn FnMut(&mut Self, &Operands<'_>),
    ) -> Lowered<()> {
        let Some((axis, rest)) = axes.split_first() else {
            inside(self, &operands);
            return Ok(());
        };
        let sizes = operands.sizes;
        let bound = self.extent(axis, sizes);
        self.for_loop(LoopKind::Sequential, bound, |l, i| {
            let arrays = operands.arrays.map(|(pointer, own)| {
                let stride = l.stride(axis, &own, sizes);
                (pointer + i * stride, own)
            });
            l.outer_axes(rest, Operands { arrays, ..operands }, inside)
        })
    }

    fn extent(&self, axis: &Merged, sizes: &[Atom]) -> Expr {
        let dims: Vec<Atom> = axis.iter().map(|a| sizes[*a]).collect();
        self.product(&dims)
    }

    /// How far apart the elements along an axis are in an array; nothing, if the array does not have it.
    fn stride(&self, axis: &Merged, own: &[usize], sizes: &[Atom]) -> Expr {
        let position = axis.last().and_then(|last| own.iter().position(|a| a == last));
        match position {
            Some(at) => {
                let dims: Vec<Atom> = own[at + 1..].iter().map(|a| sizes[*a]).collect();
                self.product(&dims)
            }
            None => 0.expr(),
        }
    }
}
