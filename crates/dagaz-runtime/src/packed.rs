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
//! The `gemm` crate reads such a panel in place, if it meets few rows of the left matrix at a time.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::Range;

use dagaz_core::prim::PrimType;

use crate::product::{Matrices, Product, parts};

/// With more rows of the left matrix, a copy of the right one costs next to nothing.
const MOST_ROWS: i64 = 2048;
/// The most bytes of a copy that is kept.
const MOST_BYTES: i64 = 64 << 20;
/// As many rows meet a panel at once, at most: with more, `gemm` copies the panel.
const ROWS_AT_ONCE: i64 = 48;
/// Kernels compute as many rows at once.
const ROWS: i64 = 6;

/// How many columns the kernel for elements of so many bytes computes at once.
fn width(bytes: usize) -> i64 {
    #[cfg(target_arch = "x86_64")]
    let vectors = if std::arch::is_x86_feature_detected!("avx512f") { 4 * 64 } else { 3 * 32 };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = 4 * 16;
    (vectors / bytes) as i64
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
        for first in (0..shape.n).step_by(width as usize) {
            let own = width.min(shape.n - first);
            let panel = to.wrapping_offset((first * shape.k) as isize);
            let from = b.wrapping_offset((first * shape.b.col) as isize);
            // SAFETY: by the contract, the elements are there, and there is room for them.
            unsafe { pack_panel(shape, from, panel, own, width) };
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
pub(crate) fn tiles<T>(shape: &Product) -> Vec<(Range<i64>, Range<i64>)> {
    let width = width(size_of::<T>());
    let count = (shape.m + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    let mut tiles = Vec::new();
    for first in (0..shape.n).step_by(width as usize) {
        let columns = first..shape.n.min(first + width);
        tiles.extend(parts(shape.m, count, ROWS).map(|rows| (columns.clone(), rows)));
    }
    tiles
}

/// # Safety
/// `matrices.b` was packed for this shape, the others have all elements that it says, and nobody else uses this tile of `c`.
pub(crate) unsafe fn run_tile<T: From<f32> + 'static>(
    shape: &Product,
    matrices: &Matrices<T>,
    (columns, rows): &(Range<i64>, Range<i64>),
) {
    let size = |range: &Range<i64>| usize::try_from(range.end - range.start).unwrap_or(0);
    let width = width(size_of::<T>()) as isize;
    let c = matrices.c.wrapping_offset((rows.start * shape.c.row + columns.start) as isize);
    let panel = matrices.b.wrapping_offset((columns.start * shape.k) as isize);
    let a = matrices.a.wrapping_offset((rows.start * shape.a.row) as isize);
    // SAFETY: by the contract, the elements are there. What is transposed has its rows next to each other, as the kernel wants.
    unsafe {
        gemm::gemm(
            size(columns),
            size(rows),
            usize::try_from(shape.k).unwrap_or(0),
            c,
            shape.c.row as isize,
            1,
            shape.add,
            panel,
            width,
            1,
            a,
            shape.a.row as isize,
            1,
            T::from(1.0),
            T::from(1.0),
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
