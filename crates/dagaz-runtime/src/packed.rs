//! Products with a matrix that was brought into the order in which kernels read it.
//!
//! The order of elements that fills vector units is another than that of most arrays, and a product copies its right
//! matrix into it first. Where many products have the same right matrix, generated code keeps the copy: panels of a few
//! columns, each by rows.
//!
//! ```text
//! b: [k][n]   ==>   packed: [n / width][k][width]
//! ```
//!
//! Kernels read such a panel where it is, and short matrices that are in such an order by themselves. On machines whose kernels we do
//! not call ourselves, the `gemm` crate does that, if a panel meets few rows of the left matrix at a time.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::Range;

use dagaz_core::prim::PrimType;

use crate::kernels::{self, Element, Tile};
use crate::product::{Matrices, Product, part};

/// With more rows of the left matrix, a copy of the right one costs next to nothing.
const MOST_ROWS: i64 = 2048;
/// The most bytes of a copy that is kept.
const MOST_BYTES: i64 = 64 << 20;
/// As many rows meet a panel at once, at most: with more, `gemm` copies the panel.
const ROWS_AT_ONCE: i64 = 48;
/// Kernels compute as many rows at once.
const ROWS: i64 = kernels::ROWS as i64;
/// The depths of products whose matrices are best left where they are. A panel is in the first level of cache then, and calls
/// of kernels do not count; those of `gemm`, for columns that fill no vectors and on other machines, count for more.
const LEAST_DEPTH: i64 = 16;
const LEAST_DEPTH_OF_CALLS: i64 = 64;
const MOST_DEPTH: i64 = 256;
/// Bytes of a result that is in the cache from one such product to the next.
const MOST_NEAR: i64 = 4 << 20;

/// The columns that the kernel for elements of so many bytes computes at once: how many vectors, and elements of each.
fn vectors(bytes: usize) -> (i64, i64) {
    #[cfg(target_arch = "x86_64")]
    let (count, own) = if std::arch::is_x86_feature_detected!("avx512f") { (4, 64) } else { (3, 32) };
    #[cfg(not(target_arch = "x86_64"))]
    let (count, own) = (4, 16);
    (count, (own / bytes) as i64)
}

/// How many columns the kernel for elements of so many bytes computes at once.
fn width(bytes: usize) -> i64 {
    let (count, own) = vectors(bytes);
    count * own
}

/// The columns of one of the panels that `n` columns are cut into. A kernel for one vector waits for memory, and so the last panel
/// shares what it has with the one before:
///
/// ```text
/// 144 columns in vectors of 16:   64, 64, 16   ==>   64, 48, 32
/// ```
fn panel(n: i64, panel: i64, (vectors, own): (i64, i64)) -> Range<i64> {
    let width = vectors * own;
    let last = (n - 1) / width;
    let left = (n - last * width + own - 1) / own;
    // How much earlier the last panel begins.
    let moved = if last > 0 { (vectors - left) / 2 * own } else { 0 };
    let at = |i: i64| i * width - if i == last { moved } else { 0 };
    at(panel)..if panel == last { n } else { at(panel + 1) }
}

/// Called by generated code: copies `b` to `to`, if that is not null, and says how many elements the copy has. There are none
/// if it is not worth while.
pub(crate) unsafe extern "C" fn pack(
    ty: i32,
    shape: *const Product,
    b: *const c_void,
    to: *mut c_void,
) -> i64 {
    // SAFETY: the generated code passes a shape of its own, a matrix of this shape, and as much memory as was asked for.
    unsafe {
        let shape = &*shape;
        match usize::try_from(ty).ok().and_then(|ty| PrimType::ALL.get(ty)) {
            Some(PrimType::F32) => pack_columns::<f32>(shape, b.cast(), to.cast()),
            Some(PrimType::F64) => pack_columns::<f64>(shape, b.cast(), to.cast()),
            // The verifier allows no others.
            _ => 0,
        }
    }
}

/// # Safety
/// `b` has all elements that the shape says, and `to`, if it is not null, room for as many as this function says.
unsafe fn pack_columns<T: Copy + Default>(shape: &Product, b: *const T, to: *mut T) -> i64 {
    let width = width(size_of::<T>());
    let is_worth_while =
        shape.batch == 1 && shape.a.col == 1 && shape.c.col == 1 && shape.n >= width && shape.m <= MOST_ROWS;
    let elements = ((shape.n + width - 1) / width * width).saturating_mul(shape.k);
    if !is_worth_while || elements > MOST_BYTES / size_of::<T>() as i64 {
        return 0;
    }
    if !to.is_null() {
        for number in 0..(shape.n + width - 1) / width {
            let columns = panel(shape.n, number, vectors(size_of::<T>()));
            let panel = to.wrapping_offset((number * width * shape.k) as isize);
            let from = b.wrapping_offset((columns.start * shape.b.col) as isize);
            // SAFETY: by the contract, the elements are there, and there is room for them.
            unsafe { pack_panel(shape, from, panel, columns.end - columns.start, width) };
        }
    }
    elements
}

/// The rows of `from` that are copied before those of the next column, where columns are contiguous.
const DEPTH: i64 = 16;

/// # Safety
/// As for [`pack_columns`], of a panel with `own` columns.
unsafe fn pack_panel<T: Copy + Default>(shape: &Product, from: *const T, to: *mut T, own: i64, width: i64) {
    for first in (0..shape.k).step_by(DEPTH as usize) {
        let rows = first..shape.k.min(first + DEPTH);
        for column in 0..width {
            for row in rows.clone() {
                // SAFETY: by the contract.
                unsafe {
                    let element = match column < own {
                        true => *from.wrapping_offset((row * shape.b.row + column * shape.b.col) as isize),
                        false => T::default(),
                    };
                    *to.wrapping_offset((row * width + column) as isize) = element;
                }
            }
        }
    }
}

/// Panels of columns with the rows that meet them at once, whatever runs them.
pub(crate) struct Tiles {
    panels: i64,
    blocks: i64,
}

impl Tiles {
    pub(crate) fn of<T>(shape: &Product) -> Tiles {
        let width = width(size_of::<T>());
        Tiles { panels: (shape.n + width - 1) / width, blocks: (shape.m + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE }
    }

    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.panels * self.blocks).unwrap_or(0)
    }

    /// The numbers of the panel and of the block of rows of a tile. A packed matrix is larger than the rows and comes from further
    /// away, so that each of its panels meets all rows before the next one does.
    fn numbers(&self, tile: usize, panels: Panels) -> (i64, i64) {
        let tile = tile as i64;
        match panels {
            Panels::Packed => (tile / self.blocks, tile % self.blocks),
            Panels::InPlace => (tile % self.panels, tile / self.panels),
        }
    }
}

/// Whether kernels read both matrices where they are faster than copies of them: columns of the left one and rows of the right one
/// are contiguous, so that a tile reads whole lines of memory, and they are short, so that these stay near.
pub(crate) fn is_best_in_place<T: Element>(shape: &Product) -> bool {
    let bytes = size_of::<T>() as i64;
    let is_contiguous = shape.a.row == 1 && shape.b.col == 1 && shape.c.col == 1;
    let (_, own) = vectors(size_of::<T>());
    let calls_kernels = shape.n % own == 0 && T::kernel(1, 1).is_some();
    let least = if calls_kernels { LEAST_DEPTH } else { LEAST_DEPTH_OF_CALLS };
    let is_short = (least..=MOST_DEPTH).contains(&shape.k);
    let is_near = shape.m.saturating_mul(shape.n).saturating_mul(bytes) <= MOST_NEAR;
    shape.batch == 1 && is_contiguous && is_short && is_near && shape.n >= width(size_of::<T>())
}

/// Where the panels of the right matrix are: one after the other, or in the matrix itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Panels {
    Packed,
    InPlace,
}

/// # Safety
/// `matrices.b` was packed for this shape if panels say so, the matrices have all elements that it says, columns of `c` are next
/// to each other, and so are those of `b`, and nobody else uses this tile of `c`.
pub(crate) unsafe fn run_tile<T: Element>(
    shape: &Product,
    matrices: &Matrices<T>,
    panels: Panels,
    (tiles, tile): (&Tiles, usize),
) {
    let (number, block) = tiles.numbers(tile, panels);
    let columns = panel(shape.n, number, vectors(size_of::<T>()));
    let rows = part(shape.m, tiles.blocks, ROWS, block);
    let size = |range: &Range<i64>| usize::try_from(range.end - range.start).unwrap_or(0);
    let (start, by_depth) = match panels {
        Panels::Packed => (number * width(size_of::<T>()) * shape.k, width(size_of::<T>())),
        Panels::InPlace => (columns.start, shape.b.row),
    };
    let c = matrices.c.wrapping_offset((rows.start * shape.c.row + columns.start) as isize);
    let panel = matrices.b.wrapping_offset(start as isize);
    let a = matrices.a.wrapping_offset((rows.start * shape.a.row) as isize);
    let tile = Tile {
        rows: size(&rows),
        columns: size(&columns),
        depth: usize::try_from(shape.k).unwrap_or(0),
        add: shape.add,
        a,
        a_strides: (shape.a.row as isize, shape.a.col as isize),
        panel,
        panel_stride: by_depth as isize,
        c,
        c_stride: shape.c.row as isize,
    };
    let (_, own) = vectors(size_of::<T>());
    // A panel in the matrix itself may end with it.
    let has_whole_vectors = matches!(panels, Panels::Packed) || tile.columns.is_multiple_of(own as usize);
    // SAFETY: by the contract, the elements are there, and those that fill the last vector as well.
    if has_whole_vectors && unsafe { tile.run(own as usize) } {
        return;
    }
    // SAFETY: by the contract, the elements are there. What is transposed has its rows next to each other, as the kernel wants.
    unsafe {
        gemm::gemm(
            tile.columns,
            tile.rows,
            tile.depth,
            c,
            shape.c.row as isize,
            1,
            shape.add,
            panel,
            by_depth as isize,
            1,
            a,
            shape.a.row as isize,
            shape.a.col as isize,
            T::from(1.0),
            T::from(1.0),
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(n: i64) -> Vec<i64> {
        let of = |i: i64| panel(n, i, (4, 16));
        let panels: Vec<Range<i64>> = (0..(n + 63) / 64).map(of).collect();
        assert!(panels.windows(2).all(|pair| pair[0].end == pair[1].start));
        panels.iter().map(|panel| panel.end - panel.start).collect()
    }

    #[test]
    fn the_last_panels_share_columns() {
        assert_eq!(widths(5), [5]);
        assert_eq!(widths(64), [64]);
        assert_eq!(widths(65), [48, 17]);
        assert_eq!(widths(80), [48, 32]);
        assert_eq!(widths(90), [48, 42]);
        assert_eq!(widths(110), [64, 46]);
        assert_eq!(widths(144), [64, 48, 32]);
        assert_eq!(widths(256), [64, 64, 64, 64]);
    }
}
