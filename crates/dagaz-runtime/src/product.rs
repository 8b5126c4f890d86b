//! Matrix products for generated code, by the `gemm` crate.
//!
//! A product is cut into panels, which depend on its sizes and on nothing else, and each is computed by one thread; so
//! results are the same bits however many threads there are.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ops::Range;

use dagaz_core::prim::PrimType;

use crate::host::Call;
use crate::kernels::Element;
use crate::packed::{self, Panels, Tiles};
use crate::threads::Threads;

/// `dz_strides` of the prelude, in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strides {
    pub(crate) batch: i64,
    pub(crate) row: i64,
    pub(crate) col: i64,
}

/// `dz_product` of the prelude.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    pub(crate) batch: i64,
    pub(crate) m: i64,
    pub(crate) n: i64,
    pub(crate) k: i64,
    pub(crate) a: Strides,
    pub(crate) b: Strides,
    pub(crate) c: Strides,
    pub(crate) add: bool,
    /// Whether there may be threads that have nothing to do.
    is_alone: bool,
    /// The right matrix in the order of [`crate::packed`], or nothing.
    packed: *const c_void,
}

impl Product {
    /// The same product with rows and columns exchanged, for which the left matrix is the right one.
    fn transposed(&self) -> Product {
        let swap = |s: &Strides| Strides { batch: s.batch, row: s.col, col: s.row };
        let (a, b, c) = (swap(&self.b), swap(&self.a), swap(&self.c));
        Product { m: self.n, n: self.m, a, b, c, ..*self }
    }
}

// SAFETY: what is packed is only read while products use it.
unsafe impl Sync for Product {}

/// A part of the result: of each matrix of some of the batch, some rows and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Panel {
    batch: Range<i64>,
    rows: Range<i64>,
    columns: Range<i64>,
}

/// Most rows and columns of a panel. Larger ones save copies of the operands, smaller ones occupy more threads.
const SIDE: i64 = 512;
/// As many panels are worth having, if they are not too small.
const MANY: i64 = 16;
/// The shortest side that is cut.
const LEAST_SIDE: i64 = 256;
/// Multiplications that are worth a panel of their own.
const LEAST_WORK: f64 = 1e6;
/// Panels begin at multiples of this, where they can: it is one of the blocks that products are computed in.
const BLOCK: i64 = 64;

/// The panels of a product, whatever runs them.
fn panels(batch: i64, m: i64, n: i64, k: i64) -> Vec<Panel> {
    let one = m as f64 * n as f64 * k as f64;
    // The number is at most that of the batch.
    let together = (LEAST_WORK / one.max(1.0)).ceil().clamp(1.0, batch.max(1) as f64) as i64;
    let batches = (batch / together).max(1);
    let (mut down, mut across) = ((m / SIDE).max(1), (n / SIDE).max(1));
    while batches * down * across < MANY && one / ((2 * down * across) as f64) >= LEAST_WORK {
        let (height, width) = (m / down, n / across);
        match height.max(width) {
            side if side < LEAST_SIDE => break,
            side if side == height => down *= 2,
            _ => across *= 2,
        }
    }
    let mut panels = Vec::new();
    for batch in parts(batch, batches, 1) {
        for rows in parts(m, down, BLOCK) {
            for columns in parts(n, across, BLOCK) {
                panels.push(Panel { batch: batch.clone(), rows: rows.clone(), columns });
            }
        }
    }
    panels
}

/// About equal parts of numbers up to a bound, which begin at multiples of `block`.
fn parts(bound: i64, count: i64, block: i64) -> impl Iterator<Item = Range<i64>> {
    (0..count).map(move |i| part(bound, count, block, i))
}

/// One of these parts.
pub(crate) fn part(bound: i64, count: i64, block: i64, i: i64) -> Range<i64> {
    let at = |i: i64| match i64::try_from(i128::from(bound) * i128::from(i) / i128::from(count)) {
        Ok(place) if i < count => place / block * block,
        Ok(_) | Err(_) => bound,
    };
    at(i)..at(i + 1)
}

/// The matrices, for several threads: panels are apart in `c`, and nothing is written to the others.
pub(crate) struct Matrices<T> {
    pub(crate) a: *const T,
    pub(crate) b: *const T,
    pub(crate) c: *mut T,
}

// SAFETY: by the contract of `run_panel`, threads write to different elements.
unsafe impl<T: Sync> Sync for Matrices<T> {}

/// Called by generated code.
pub(crate) unsafe extern "C" fn product(
    call: *const Call<'_>,
    ty: i32,
    shape: *const Product,
    a: *const c_void,
    b: *const c_void,
    c: *mut c_void,
) {
    // SAFETY: the generated code passes the call that it is in, a shape of its own, and matrices of this shape.
    unsafe {
        let (threads, shape) = ((*call).threads, &*shape);
        match usize::try_from(ty).ok().and_then(|ty| PrimType::ALL.get(ty)) {
            Some(PrimType::F32) => {
                run(threads, shape, &Matrices::<f32> { a: a.cast(), b: b.cast(), c: c.cast() })
            }
            Some(PrimType::F64) => {
                run(threads, shape, &Matrices::<f64> { a: a.cast(), b: b.cast(), c: c.cast() })
            }
            // The verifier allows no others.
            _ => {}
        }
    }
}

/// # Safety
/// The matrices have all elements that the shape says, and those of `c` are different ones.
unsafe fn run<T: Element>(threads: &Threads, shape: &Product, matrices: &Matrices<T>) {
    let swapped = shape.transposed();
    let (a, b, c) = (matrices.a, matrices.b, matrices.c);
    // SAFETY: parts of the result are apart from each other, and the generated code has had the matrix packed.
    let in_tiles = |shape: &Product, matrices: Matrices<T>, panels: Panels| {
        let tiles = Tiles::of::<T>(shape);
        let one = |i: usize| unsafe { packed::run_tile(shape, &matrices, panels, (&tiles, i)) };
        run_parts(threads, shape, tiles.count(), one);
    };
    if !shape.packed.is_null() {
        in_tiles(shape, Matrices { a, b: shape.packed.cast(), c }, Panels::Packed);
    } else if packed::is_best_in_place::<T>(shape) {
        in_tiles(shape, Matrices { a, b, c }, Panels::InPlace);
    } else if packed::is_best_in_place::<T>(&swapped) {
        in_tiles(&swapped, Matrices { a: b, b: a, c }, Panels::InPlace);
    } else {
        let panels = panels(shape.batch, shape.m, shape.n, shape.k);
        // SAFETY: as above.
        run_parts(threads, shape, panels.len(), |i| unsafe { run_panel(shape, matrices, &panels[i]) });
    }
}

fn run_parts(threads: &Threads, shape: &Product, count: usize, one: impl Fn(usize) + Sync) {
    if shape.is_alone {
        threads.each(count, one);
    } else {
        (0..count).for_each(one);
    }
}

/// # Safety
/// As for [`run`], and nobody else uses this part of `c`.
unsafe fn run_panel<T: From<f32> + 'static>(shape: &Product, matrices: &Matrices<T>, panel: &Panel) {
    let size = |range: &Range<i64>| usize::try_from(range.end - range.start).unwrap_or(0);
    let at = |strides: &Strides, part: i64, row: i64, col: i64| {
        (part * strides.batch + row * strides.row + col * strides.col) as isize
    };
    let (row, col) = (panel.rows.start, panel.columns.start);
    for part in panel.batch.clone() {
        let a = matrices.a.wrapping_offset(at(&shape.a, part, row, 0));
        let b = matrices.b.wrapping_offset(at(&shape.b, part, 0, col));
        let c = matrices.c.wrapping_offset(at(&shape.c, part, row, col));
        // SAFETY: by the contract, the elements are there.
        unsafe {
            gemm::gemm(
                size(&panel.rows),
                size(&panel.columns),
                usize::try_from(shape.k).unwrap_or(0),
                c,
                shape.c.col as isize,
                shape.c.row as isize,
                shape.add,
                a,
                shape.a.col as isize,
                shape.a.row as isize,
                b,
                shape.b.col as isize,
                shape.b.row as isize,
                T::from(1.0),
                T::from(1.0),
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(batch: i64, m: i64, n: i64, k: i64, expected: usize) {
        let panels = panels(batch, m, n, k);
        assert_eq!(panels.len(), expected);
        let size = |range: &Range<i64>| range.end - range.start;
        let covered: i64 = panels.iter().map(|p| size(&p.batch) * size(&p.rows) * size(&p.columns)).sum();
        assert_eq!(covered, batch * m * n);
        for (i, panel) in panels.iter().enumerate() {
            let meets = |a: &Range<i64>, b: &Range<i64>| a.start < b.end && b.start < a.end;
            let apart = |other: &Panel| {
                !(meets(&panel.batch, &other.batch)
                    && meets(&panel.rows, &other.rows)
                    && meets(&panel.columns, &other.columns))
            };
            assert!(panels[i + 1..].iter().all(apart));
        }
    }

    #[test]
    fn panels_cover_the_result_once() {
        check(1, 10, 10, 10, 1);
        check(1, 1024, 1024, 1024, 16);
        check(1, 102, 768, 192, 4);
        check(1, 3, 5000, 70, 9);
        check(3, 1500, 1100, 7, 24);
        check(1000, 16, 16, 16, 4);
    }
}
