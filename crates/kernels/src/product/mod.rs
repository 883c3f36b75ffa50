//! Matrix products of operands with any strides: `out[b, i, j] = Σ_k x[b, i, k] · y[b, k, j]`.
//!
//! Rows i, columns j and batch items b are each the positions of up to [`MOST_AXES`] axes in memory, k those of one.
//!
//! | launch | |
//! |---|---|
//! | block | 128 or 64 threads ([`Tile`]), which share a tile of rows and columns |
//! | grid | x: tiles of rows, within tiles of columns, within batch items, within parts of the sum |
//! | shared memory | [`Instance::shared_bytes`]: [`DEPTH`] positions k of both operands, twice |
//! | barriers | one for every [`DEPTH`] positions |
//! | result | every element of the output, and of every part of the sum, is written once |
//!
//! A thread brings single elements, of neighbours in memory as far as the strides allow: hence any strides, and no copy. What
//! it brings is on its way while the elements before are multiplied. In shared memory both operands lie with rows or columns
//! side by side, and a thread reads 16 bytes at a time. Halves are multiplied and summed in single precision.

mod load;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod matrix;
mod multiply;
mod number;

use crate::copy::axes::{Axis, Divisor};
use cuda_std::half::F16;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources};
use multiply::product;
use num_complex::Complex;
pub use number::Number;

/// Axes of rows, of columns and of batch items at most.
pub const MOST_AXES: usize = 8;

/// Positions of the sum in shared memory at a time.
pub const DEPTH: u32 = 8;

/// An axis of batch items; strides in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BatchAxis {
    /// Positions along it.
    pub length: Divisor,
    /// From one to the next in the first operand, the second, and the output.
    pub strides: [i64; 3],
}

impl BatchAxis {
    /// An axis that a launch does not have.
    pub const NONE: Self = Self {
        length: Divisor::new(1),
        strides: [0; 3],
    };
}

/// An operand, without the axes of its rows or columns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Operand<T> {
    /// Its memory.
    pub memory: Global<T>,
    /// Where position 0 of all axes is.
    pub origin: i64,
    /// From one position of the sum to the next.
    pub stride: i64,
    /// Whether neighbouring lanes bring neighbours along the sum, not 0, or along rows or columns, 0.
    pub along_sum: u32,
}

/// The parameters; strides and origins in elements.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Product<T> {
    /// The operand with the rows.
    pub first: Operand<T>,
    /// The operand with the columns.
    pub second: Operand<T>,
    /// The output.
    pub output: GlobalMut<T>,
    /// Rows, 1 at least.
    pub n_rows: u32,
    /// Columns, 1 at least.
    pub n_columns: u32,
    /// Batch items, 1 at least.
    pub n_items: u32,
    /// Positions of the sum.
    pub n_summed: u32,
    /// Positions of a part of the sum, a multiple of [`DEPTH`]; one part where it is not less than all.
    pub n_summed_of_part: u32,
    /// How many axes rows, columns and batch items have; the others are `NONE`.
    pub n_axes: [u32; 3],
    /// Whether 16 bytes of neighbouring columns (two columns, by matrix instructions) lie side by side and aligned in the output, and
    /// columns come in such groups, not 0, or 0.
    pub is_wide: u32,
    /// Elements from one part of the sum to the next in the output.
    pub part_stride: i64,
    /// Rows, fastest first; input is the first operand.
    pub rows: [Axis; MOST_AXES],
    /// Columns, fastest first; input is the second operand.
    pub columns: [Axis; MOST_AXES],
    /// Batch items, fastest first.
    pub batch: [BatchAxis; MOST_AXES],
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<T: Element> Parameters for Product<T> {}

/// Instances: name, number, rows and columns of a thread, threads along rows and along columns, blocks of a multiprocessor,
/// registers.
macro_rules! instances {
    ($($name:ident: $number:ty, [$rows:literal, $columns:literal], [$down:literal, $across:literal], $blocks:literal,
        $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// Matrix products; the number and the tile's size are in the name.
            $name(p: Product<$number>),
            threads $down * $across, blocks $blocks,
            resources Resources { registers: $registers, barriers: 2, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { product::<$number, $rows, $columns, $down, $across>(&p) }
            }
        )* }
    };
}

instances! {
    product_f16: F16, [8, 8], [16, 8], 3, 168;
    product_f32: f32, [8, 8], [16, 8], 3, 168;
    product_f64: f64, [4, 8], [16, 8], 3, 168;
    product_cf16: Complex<F16>, [4, 8], [16, 8], 3, 168;
    product_cf32: Complex<f32>, [4, 8], [16, 8], 3, 168;
    product_cf64: Complex<f64>, [4, 4], [16, 8], 3, 168;
    product_small_f16: F16, [4, 4], [8, 8], 6, 168;
    product_small_f32: f32, [4, 4], [8, 8], 6, 168;
    product_small_f64: f64, [4, 4], [8, 8], 6, 168;
    product_small_cf16: Complex<F16>, [4, 4], [8, 8], 6, 168;
    product_small_cf32: Complex<f32>, [4, 4], [8, 8], 6, 168;
    product_small_cf64: Complex<f64>, [4, 4], [8, 8], 6, 168;
}

cuda_std::on_host! {
    /// How much of the output a block takes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tile {
        /// As much as registers allow.
        Large,
        /// 32 rows by 32 columns.
        Small,
    }

    impl Tile {
        /// Threads of a block along rows, and along columns.
        const fn threads(self) -> [u32; 2] {
            match self {
                Self::Large => [16, 8],
                Self::Small => [8, 8],
            }
        }
    }

    impl<T> Product<T> {
        /// Blocks for tiles of these rows and columns; too many for any device where they are more than a number holds.
        fn blocks(&self, [rows, columns]: [u32; 2]) -> u32 {
            let n_parts = self.n_summed.div_ceil(self.n_summed_of_part.max(1)).max(1);
            let blocks = u64::from(self.n_rows.div_ceil(rows))
                .saturating_mul(u64::from(self.n_columns.div_ceil(columns)))
                .saturating_mul(u64::from(self.n_items))
                .saturating_mul(u64::from(n_parts));
            u32::try_from(blocks).unwrap_or(u32::MAX)
        }
    }

    /// A number that there are kernels for.
    pub trait Instance: Number {
        /// Rows and columns of a thread in a large tile; in a small one it has four of each.
        const LARGE: [u32; 2];

        /// The kernel.
        fn kernel(tile: Tile) -> cuda_std::Kernel<Product<Self>>;

        /// The kernel with matrix instructions, which needs `sm_80`, for operands that are dense along the sum or not; that
        /// of `f32` rounds them to TF32.
        fn matrix_kernel(first: bool, second: bool) -> Option<cuda_std::Kernel<Product<Self>>>;

        /// Rows and columns of a tile.
        fn tile(tile: Tile) -> [u32; 2] {
            let [rows, columns] = match tile {
                Tile::Large => Self::LARGE,
                Tile::Small => [4, 4],
            };
            let [down, across] = tile.threads();
            [rows * down, columns * across]
        }

        /// Elements whose sums take 16 bytes.
        fn of_vector() -> u32 {
            Self::OF_VECTOR as u32
        }

        /// Bytes of shared memory.
        fn shared_bytes(tile: Tile) -> u32 {
            let [rows, columns] = Self::tile(tile);
            2 * DEPTH * ((rows + columns) * size_of::<Self::Sum>() as u32 + 2 * size_of::<Self::Vector>() as u32)
        }

        /// The launch of a kernel.
        fn launch(tile: Tile, p: &Product<Self>) -> cuda_std::Launch {
            let [rows, columns] = Self::tile(tile);
            cuda_std::Launch {
                grid: [p.blocks([rows, columns]), 1, 1],
                threads: tile.threads().iter().product(),
                shared_bytes: Self::shared_bytes(tile),
            }
        }
    }

    macro_rules! instance {
        ($($number:ty: $large:ident, $small:ident, $of_thread:expr, |$first:ident, $second:ident| $matrix:expr;)*) => { $(
            impl Instance for $number {
                const LARGE: [u32; 2] = $of_thread;

                fn kernel(tile: Tile) -> cuda_std::Kernel<Product<Self>> {
                    match tile {
                        Tile::Large => $large,
                        Tile::Small => $small,
                    }
                }

                fn matrix_kernel($first: bool, $second: bool) -> Option<cuda_std::Kernel<Product<Self>>> {
                    $matrix
                }
            }
        )* };
    }

    instance! {
        F16: product_f16, product_small_f16, [8, 8], |first, second| Some(matrix::halves(first, second));
        f32: product_f32, product_small_f32, [8, 8], |first, second| Some(matrix::tf32(first, second));
        f64: product_f64, product_small_f64, [4, 8], |_first, _second| None;
        Complex<F16>: product_cf16, product_small_cf16, [4, 8], |_first, _second| None;
        Complex<f32>: product_cf32, product_small_cf32, [4, 8], |_first, _second| None;
        Complex<f64>: product_cf64, product_small_cf64, [4, 4], |_first, _second| None;
    }
}
