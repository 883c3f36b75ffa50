//! What the launching side needs to know: kernels by numbers, shapes of launches, parts.

use super::{Few, Gram, GramAdd, Number, Project, SIDE, THREADS, few, fma, gram, project, sm_80};
use cuda_std::{Kernel, Launch};
use num_complex::Complex;

/// Blocks that should be there, so that the last ones of every multiprocessor end at about the same time.
const ENOUGH_BLOCKS: u64 = 1056;

/// Columns that pay for a part.
const LEAST_COLUMNS: u64 = 512;

/// How products are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// By matrix instructions: `sm_80` and later.
    Matrix,
    /// By multiply-adds.
    Fma,
}

/// The kernels for a number.
pub trait Instance: Number {
    /// `gram_*`.
    fn gram(products: Products) -> Kernel<Gram>;

    /// `project_*`.
    fn project(products: Products) -> Kernel<Project>;

    /// `few_*`, from `sm_80` on.
    fn few() -> Kernel<Few>;

    /// The launch of `few_*`.
    fn few_launch(n_columns: u64) -> Launch {
        Launch {
            grid: [
                u32::try_from(n_columns.div_ceil(u64::from(SIDE))).unwrap_or(u32::MAX),
                1,
                1,
            ],
            threads: THREADS,
            shared_bytes: few::shared_bytes::<Self>(),
        }
    }

    /// The launch of `gram_*` for m rows.
    fn gram_launch(n_rows: u32, n_parts: u32) -> Launch {
        let n_tiles = n_rows.div_ceil(SIDE);
        Launch {
            grid: [n_tiles * (n_tiles + 1) / 2, n_parts, 1],
            threads: THREADS,
            shared_bytes: gram::shared_bytes::<Self>(),
        }
    }

    /// The launch of `project_*` for so many columns.
    fn project_launch(padded_rows: u32, n_columns: u64) -> Launch {
        let blocks = n_columns.div_ceil(u64::from(SIDE)) * u64::from(padded_rows / SIDE);
        Launch {
            grid: [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1],
            threads: THREADS,
            shared_bytes: project::shared_bytes::<Self>(),
        }
    }

    /// Columns of a part: a rule of the shape alone, so that results do not depend on the device.
    fn columns_per_part(n_rows: u32, n_columns: u64) -> u64 {
        let n_tiles = u64::from(n_rows.div_ceil(SIDE));
        let wanted = ENOUGH_BLOCKS.div_ceil(n_tiles * (n_tiles + 1) / 2);
        let parts = wanted.min(n_columns / LEAST_COLUMNS).max(1);
        n_columns.div_ceil(parts).next_multiple_of(u64::from(Self::DEPTH))
    }
}

macro_rules! instance {
    ($($number:ty: $gram_mma:ident, $project_mma:ident, $gram_fma:ident, $project_fma:ident, $few:ident;)*) => { $(
        impl Instance for $number {
            fn gram(products: Products) -> Kernel<Gram> {
                match products {
                    Products::Matrix => sm_80::$gram_mma,
                    Products::Fma => fma::$gram_fma,
                }
            }
            fn project(products: Products) -> Kernel<Project> {
                match products {
                    Products::Matrix => sm_80::$project_mma,
                    Products::Fma => fma::$project_fma,
                }
            }
            fn few() -> Kernel<Few> {
                sm_80::few::$few
            }
        }
    )* };
}

instance! {
    f32: gram_f32_mma, project_f32_mma, gram_f32_fma, project_f32_fma, few_f32;
    f64: gram_f64_mma, project_f64_mma, gram_f64_fma, project_f64_fma, few_f64;
    Complex<f32>: gram_cf32_mma, project_cf32_mma, gram_cf32_fma, project_cf32_fma, few_cf32;
    Complex<f64>: gram_cf64_mma, project_cf64_mma, gram_cf64_fma, project_cf64_fma, few_cf64;
}

impl GramAdd {
    /// The launch.
    pub fn launch(&self) -> Launch {
        Launch {
            grid: [(self.n_rows * self.words).div_ceil(THREADS), self.n_rows, 1],
            threads: THREADS,
            shared_bytes: 0,
        }
    }
}
