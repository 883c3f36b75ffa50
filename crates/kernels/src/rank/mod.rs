//! Products for singular components: a matrix A (m, n) with itself, `G = A Aᴴ`, and a small matrix with it, `Y = P A`.
//!
//! | launch | `gram_*` | `gram_add` | `project_*` | `few_*` |
//! |---|---|---|---|---|
//! | block | [`THREADS`] threads: 64 × 64 products | [`THREADS`] threads, a number each | as `gram_*` | [`THREADS`] threads: 64 columns |
//! | grid | x: tiles on and above the diagonal; y: parts of the columns | x: numbers of a row; y: rows | x: tiles of rows within tiles of columns | x: tiles of columns |
//! | shared memory | two buffers of two tiles | none | two buffers of two tiles | the same, or two of one and a product |
//! | barriers | one every 128 bytes of a row | none | one every 128 bytes' worth of rows | the same, and as many for the components |
//! | result | the upper triangle of each part | the upper triangle of their sum | every element | every element |
//!
//! Where few components are kept, or few are dropped, P has a low rank, or lacks little of the whole: `Y = U (W A)` or
//! `A + U (W A)` with W a few rows (`few_*`).
//!
//! Products and sums are in double precision for all types: a component 80 dB below the first has a share of 1e-8 in G, and
//! single precision would leave nothing of it. Products of `f32` are then exact. A complex product is three real ones.
//! Parts are added in their order, so the same matrix gives the same bits.

#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
mod few;
mod gram;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
mod mma;
mod number;
mod product;
mod project;
mod tile;

pub use number::{Factor, Number};

use cuda_std::{Global, GlobalMut, Parameters, Resources};
use product::Fma;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Rows and columns of a block's products.
pub const SIDE: u32 = 64;

/// Components of `few_*` at most.
pub const FEW: u32 = 32;

/// A matrix, row by row without gaps.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Matrix {
    /// Its elements by 16 bytes, where every row starts at a multiple of that; otherwise nobody reads them.
    pub units: Global<[u32; 4]>,
    /// Its elements by 4 bytes, for rows that do not.
    pub words: Global<u32>,
    /// m.
    pub n_rows: u32,
    /// 1 where every row starts at a multiple of 16 bytes, otherwise 0.
    pub is_aligned: u32,
    /// n.
    pub n_columns: u64,
}

/// The parameters of `gram_*`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Gram {
    /// A.
    pub matrix: Matrix,
    /// `(part, m, m)`, complex numbers as two.
    pub parts: GlobalMut<f64>,
    /// Columns of a part: whole 128 bytes.
    pub columns_per_part: u64,
}

/// The parameters of `gram_add`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GramAdd {
    /// `(part, m, m)`, complex numbers as two.
    pub parts: Global<f64>,
    /// `(m, m)`.
    pub output: GlobalMut<f64>,
    /// m.
    pub n_rows: u32,
    /// 1 for real numbers, 2 for complex ones.
    pub words: u32,
    /// Parts.
    pub n_parts: u32,
}

/// The parameters of `project_*`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Project {
    /// A.
    pub matrix: Matrix,
    /// P in double precision, `(padded_rows, padded_rows)`, zeros from row and column m on.
    pub small: Global<[u32; 4]>,
    /// `(row, column)`: Y, or magnitudes of its elements.
    pub output: GlobalMut<u32>,
    /// The first column of A that is multiplied: a multiple of 16 bytes.
    pub first_column: u64,
    /// The first one after that is not.
    pub end_column: u64,
    /// The column of A that is the output's first.
    pub output_first: u64,
    /// Columns of the output.
    pub output_pitch: u64,
    /// Rows of the output; of magnitudes there may be m + 1, the last one full of 1.
    pub n_output_rows: u32,
    /// The next multiple of [`SIDE`].
    pub padded_rows: u32,
    /// 1 for magnitudes, 0 for the elements themselves.
    pub is_magnitude: u32,
}

/// The parameters of `few_*`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Few {
    /// A.
    pub matrix: Matrix,
    /// W in double precision, `(FEW, padded_rows)`, zeros from row `n_few` and column m on.
    pub rows: Global<[u32; 4]>,
    /// U in double precision, `(padded_rows, FEW)`, zeros from row m and column `n_few` on.
    pub columns: Global<[u32; 4]>,
    /// Y, `(row, column)`.
    pub output: GlobalMut<u32>,
    /// The next multiple of [`SIDE`] from m on.
    pub padded_rows: u32,
    /// Rows of W, at most [`FEW`].
    pub n_few: u32,
    /// 1 where A is added, otherwise 0.
    pub is_added: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Few {}
// SAFETY: as above.
unsafe impl Parameters for Gram {}
// SAFETY: as above.
unsafe impl Parameters for GramAdd {}
// SAFETY: as above.
unsafe impl Parameters for Project {}

/// Instances: names, number, engine, registers of either, matrix instructions of either.
macro_rules! instances {
    ($($gram:ident, $project:ident: $number:ty, $engine:ty, $gram_registers:literal, $project_registers:literal,
        $operations:literal;)*) => {
        cuda_std::kernels! { $(
            /// Products of all pairs of rows; the numbers' type and how they are multiplied are in the name.
            $gram(p: $crate::rank::Gram),
            threads $crate::rank::THREADS, blocks 1,
            resources cuda_std::Resources {
                registers: $gram_registers,
                barriers: 1,
                warp_operations: 0,
                matrix_operations: $operations,
            },
            {
                // SAFETY: the launching side's promise.
                unsafe { $crate::rank::gram::gram::<$number, $engine>(&p) }
            }

            /// A small matrix with all columns; the numbers' type and how they are multiplied are in the name.
            $project(p: $crate::rank::Project),
            threads $crate::rank::THREADS, blocks 1,
            resources cuda_std::Resources {
                registers: $project_registers,
                barriers: 1,
                warp_operations: 0,
                matrix_operations: $operations,
            },
            {
                // SAFETY: the launching side's promise.
                unsafe { $crate::rank::project::project::<$number, $engine>(&p) }
            }
        )* }
    };
}

/// Products by multiply-adds.
pub mod fma {
    use super::Fma;
    use num_complex::Complex;

    instances! {
        gram_f32_fma, project_f32_fma: f32, Fma, 255, 160, 0;
        gram_f64_fma, project_f64_fma: f64, Fma, 160, 144, 0;
        gram_cf32_fma, project_cf32_fma: Complex<f32>, Fma, 192, 232, 0;
        gram_cf64_fma, project_cf64_fma: Complex<f64>, Fma, 216, 216, 0;
    }
}

/// Products by matrix instructions.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod sm_80 {
    use super::mma::Matrix;
    use num_complex::Complex;

    /// Instances for few components: name, number, registers, matrix instructions.
    macro_rules! few {
        ($($name:ident: $number:ty, $registers:literal, $operations:literal;)*) => {
            cuda_std::kernels! { $(
                /// Few components with all columns; the numbers' type is in the name.
                $name(p: super::super::Few),
                threads super::super::THREADS, blocks 1,
                resources cuda_std::Resources {
                    registers: $registers,
                    barriers: 3,
                    warp_operations: 0,
                    matrix_operations: $operations,
                },
                {
                    // SAFETY: the launching side's promise.
                    unsafe { super::super::few::few::<$number, super::Matrix>(&p) }
                }
            )* }
        };
    }

    /// For few components.
    pub mod few {
        use num_complex::Complex;

        few! {
            few_f32: f32, 144, 96;
            few_f64: f64, 144, 48;
            few_cf32: Complex<f32>, 224, 144;
            few_cf64: Complex<f64>, 240, 72;
        }
    }

    instances! {
        gram_f32_mma, project_f32_mma: f32, Matrix, 128, 128, 64;
        gram_f64_mma, project_f64_mma: f64, Matrix, 128, 128, 32;
        gram_cf32_mma, project_cf32_mma: Complex<f32>, Matrix, 192, 208, 96;
        gram_cf64_mma, project_cf64_mma: Complex<f64>, Matrix, 192, 192, 48;
    }
}

cuda_std::kernels! {
    /// Adds parts.
    gram_add(p: GramAdd),
    threads THREADS, blocks 1,
    resources Resources { registers: 48, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { gram::add(&p) }
    }
}

cuda_std::on_host! {
    mod launch;
    pub use launch::{Instance, Products};
}
