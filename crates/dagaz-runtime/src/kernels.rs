//! The innermost loops of matrix products: a few rows of the left matrix with a few vectors of columns of the right one.
//!
//! The kernels are those of the `gemm` crate. It chooses among them, and copies operands into their order, in every call, which
//! counts where a product is many small ones: there they are called from here.
#![allow(unsafe_code)]

/// As many rows of the left matrix meet a panel of the right one at once.
pub(crate) const ROWS: usize = 6;
/// Products are computed in parts that are not deeper than this, so that a panel stays near.
const DEPTH: usize = 512;
/// A kernel for so many products or more takes longer than memory does, which is then asked for the result before.
const DEEP: usize = 64;

/// What a kernel takes: the vectors' elements, rows and depth; the result and both operands; how far apart are rows of the
/// result, its columns, rows of the panel, and in the left matrix the columns and rows; by what the result and the product are
/// multiplied, and whether by 0, 1 or another number; three flags for complex numbers; and what comes next.
type Kernel<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    *const T,
    *const T,
    isize,
    isize,
    isize,
    isize,
    isize,
    T,
    T,
    u8,
    bool,
    bool,
    bool,
    *const T,
);

/// Types of elements that there are kernels for.
pub(crate) trait Element: Copy + Default + From<f32> + Sync + 'static {
    /// The kernel for so many vectors and rows, if this machine has such vectors.
    fn kernel(vectors: usize, rows: usize) -> Option<Kernel<Self>>;
}

#[cfg(target_arch = "x86_64")]
macro_rules! kernels {
    ($ty: ident, $kernels: path) => {
        impl Element for $ty {
            fn kernel(vectors: usize, rows: usize) -> Option<Kernel<$ty>> {
                use $kernels as kernels;
                if !std::arch::is_x86_feature_detected!("avx512f") {
                    return None;
                }
                kernels::UKR.get(vectors.checked_sub(1)?)?.get(rows.checked_sub(1)?).copied()
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
kernels!(f32, gemm_f32::microkernel::avx512f::f32);
#[cfg(target_arch = "x86_64")]
kernels!(f64, gemm_f64::microkernel::avx512f::f64);
#[cfg(not(target_arch = "x86_64"))]
impl Element for f32 {
    fn kernel(_: usize, _: usize) -> Option<Kernel<f32>> {
        None
    }
}
#[cfg(not(target_arch = "x86_64"))]
impl Element for f64 {
    fn kernel(_: usize, _: usize) -> Option<Kernel<f64>> {
        None
    }
}

/// A panel of columns, and the rows that it meets.
pub(crate) struct Tile<T> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) depth: usize,
    /// Whether the product is added to what is there.
    pub(crate) add: bool,
    /// The left matrix, and how far apart its rows and columns are.
    pub(crate) a: *const T,
    pub(crate) a_strides: (isize, isize),
    /// The panel, whose columns are next to each other, and how far apart its rows are.
    pub(crate) panel: *const T,
    pub(crate) panel_stride: isize,
    /// The result, as the panel.
    pub(crate) c: *mut T,
    pub(crate) c_stride: isize,
}

impl<T: Element> Tile<T> {
    /// Computes the tile by kernels for vectors of so many elements. Without such kernels, nothing happens, and the result says
    /// so.
    ///
    /// # Safety
    /// All elements are there, also those of the panel that fill its last vector, and nobody else uses the result.
    pub(crate) unsafe fn run(&self, vector: usize) -> bool {
        let vectors = self.columns.div_ceil(vector);
        let kernels = (T::kernel(vectors, ROWS), T::kernel(vectors, (self.rows % ROWS).max(1)));
        let (Some(most), Some(last)) = kernels else { return false };
        for from in (0..self.depth.max(1)).step_by(DEPTH) {
            for row in (0..self.rows).step_by(ROWS) {
                let kernel = if row + ROWS <= self.rows { most } else { last };
                // SAFETY: by the contract, and the machine has such vectors.
                unsafe { self.run_rows(kernel, row, from) };
            }
        }
        true
    }

    /// A part of the depth, for some of the rows.
    ///
    /// # Safety
    /// As for [`Tile::run`], and the kernel is one for these rows and this machine.
    unsafe fn run_rows(&self, kernel: Kernel<T>, row: usize, from: usize) {
        let (rows, depth) = ((self.rows - row).min(ROWS), (self.depth - from).min(DEPTH));
        let (row, from, is_added) = (row as isize, from as isize, self.add || from > 0);
        let (by_row, by_column) = self.a_strides;
        let a = self.a.wrapping_offset(row * by_row + from * by_column);
        let panel = self.panel.wrapping_offset(from * self.panel_stride);
        let c = self.c.wrapping_offset(row * self.c_stride);
        if depth >= DEEP {
            (0..rows as isize).for_each(|i| fetch(c.wrapping_offset(i * self.c_stride), self.columns));
        }
        let one = T::from(1.0);
        // SAFETY: by the contract, the elements are there.
        unsafe {
            kernel(
                self.columns,
                rows,
                depth,
                c,
                panel,
                a,
                self.c_stride,
                1,
                self.panel_stride,
                by_column,
                by_row,
                T::from(f32::from(u8::from(is_added))),
                one,
                u8::from(is_added),
                false,
                false,
                false,
                panel,
            );
        }
    }
}

/// Asks memory for elements that are written later, while the kernel computes them.
fn fetch<T>(from: *mut T, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..count * size_of::<T>()).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: this only asks, and any place may be asked for.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(from.cast::<i8>().wrapping_add(line)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A product of whole numbers, which has one result in any order, added to ones if so asked.
    fn check<T: Element + PartialEq + std::fmt::Debug>(rows: usize, columns: usize, depth: usize, add: bool) {
        let vector = 64 / size_of::<T>();
        let (width, stride) = (columns.div_ceil(vector) * vector, columns + 3);
        let number = |i: usize| T::from((i % 5) as f32 - 2.0);
        let a: Vec<T> = (0..rows * depth).map(number).collect();
        let panel: Vec<T> = (0..width * depth).map(|i| number(3 * i + 1)).collect();
        let mut c = vec![T::from(1.0); rows * stride];
        let tile = Tile {
            rows,
            columns,
            depth,
            add,
            a: a.as_ptr(),
            a_strides: (depth as isize, 1),
            panel: panel.as_ptr(),
            panel_stride: width as isize,
            c: c.as_mut_ptr(),
            c_stride: stride as isize,
        };
        // SAFETY: the matrices are as large as the tile says.
        if !unsafe { tile.run(vector) } {
            return;
        }
        for (i, row) in c.chunks(stride).enumerate() {
            for (j, found) in row.iter().enumerate() {
                let term = |k: usize| ((i * depth + k) % 5) as f32 - 2.0;
                let other = |k: usize| ((3 * (k * width + j) + 1) % 5) as f32 - 2.0;
                let sum: f32 = (0..depth).map(|k| term(k) * other(k)).sum();
                let expected = if j < columns { sum + f32::from(u8::from(add)) } else { 1.0 };
                assert_eq!(*found, T::from(expected), "row {i}, column {j}");
            }
        }
    }

    #[test]
    fn tiles_of_all_sizes_are_products() {
        for (rows, columns, depth) in
            [(6, 64, 80), (48, 64, 5), (13, 32, 600), (1, 17, 3), (5, 30, 1), (7, 8, 0)]
        {
            for add in [false, true] {
                check::<f32>(rows, columns, depth, add);
                check::<f64>(rows, columns.min(32), depth, add);
            }
        }
    }
}
