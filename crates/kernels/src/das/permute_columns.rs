//! Complex channel data from any order of axes to columns of eight batch items: `(transmit, channel, column, sample, part)`, vectors
//! of 16 bytes, rounded to halves on the way. `sm_90a` alone: nobody else's products read them so.
//!
//! Part 0 of a sample holds the eight items' real parts, part 1 the imaginary ones; item 2 w of a column is the low half of
//! word w, item 2 w + 1 the high one. So a channel's samples of a column follow each other, 32 bytes each: a run of them in shared
//! memory is an operand of [`cuda_std::warpgroup`] as it is, a sample two of its rows. The batch is padded to whole columns.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a tile of [`tile_samples`] samples of a channel and transmit × [`ITEMS`] batch items |
//! | grid | x: [`sample_tiles`] of every channel and transmit, y: [`ITEMS`] items of all columns |
//! | shared memory | [`shared_bytes`]: the tile, an odd number of words from sample to sample |
//! | barriers | one, between reading and writing |
//! | result | every vector is written once; padding is 0; a batch item with a sample that is not finite as a half is marked |
//!
//! A warp reads consecutive samples of a batch item, as [`super::permute_rows`] does, and writes both parts of 16 consecutive
//! samples of a column, 512 bytes. Two lanes share a word of shared memory there, the others meet different banks.

use super::permute_rows::{self, fill};
use super::recorded::Recorded;
use super::scale::{Plane, Scaling, Stored};
use cuda_std::half::F16;
use cuda_std::math::permute_bytes;
use cuda_std::{Element, GlobalMut, Parameters, Resources, thread};
use num_complex::Complex;

pub use super::permute_rows::{ITEMS, THREADS};

/// Batch items of a column.
pub const COLUMN_ITEMS: u32 = 8;

/// Vectors of a sample of a column: its parts.
pub const PARTS: u32 = 2;

/// Samples of a tile.
pub const fn tile_samples() -> u32 {
    permute_rows::tile_samples::<Complex<F16>>()
}

/// Bytes of shared memory.
pub const fn shared_bytes() -> u32 {
    permute_rows::shared_bytes::<Complex<F16>>()
}

/// Blocks along x for each channel and transmit.
pub const fn sample_tiles(n_samples: u32) -> u32 {
    permute_rows::sample_tiles::<Complex<F16>>(n_samples)
}

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PermuteColumns<S> {
    /// The channel data.
    pub data: Recorded<S>,
    /// The columns, `(transmit, channel, column, sample, part)`.
    pub output: GlobalMut<[u32; 4]>,
    /// What happens to the values on the way.
    pub scaling: Scaling,
    /// Columns of the output, which hold all batch items and may hold more.
    pub n_columns: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Element> Parameters for PermuteColumns<S> {}

/// The kernel's body.
///
/// # Safety
///
/// The slices hold what strides and counts say; [`shared_bytes`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn permute_columns<S: Stored<Complex<F16>>>(p: PermuteColumns<S>) {
    // A vector of each column for every thread.
    const { assert!(tile_samples() * PARTS == THREADS) };
    // SAFETY: the caller's promise.
    let tile = unsafe { fill::<S, Complex<F16>, 1, 16>(&p.data, &p.scaling, Plane::High) };
    let vector = thread::thread_idx_x();
    let sample = vector / PARTS;
    if tile.first_sample + sample >= p.data.n_samples {
        return;
    }
    // The low halves of two samples, or the high ones.
    let selector = if vector.is_multiple_of(PARTS) { 0x5410 } else { 0x7632 };
    let vectors_of_column = u64::from(p.data.n_samples) * u64::from(PARTS);
    let first_column = tile.first_item / COLUMN_ITEMS;
    let column_of_all = u64::from(tile.channel_of_all) * u64::from(p.n_columns) + u64::from(first_column);
    let mut to = column_of_all * vectors_of_column + u64::from(tile.first_sample * PARTS + vector);
    let mut column = 0;
    while column < ITEMS / COLUMN_ITEMS && first_column + column < p.n_columns {
        let pair = |word: u32| {
            let item = column * COLUMN_ITEMS + 2 * word;
            // SAFETY: items of the tile, and one of its samples.
            let [even, odd] = unsafe { [tile.word(sample, item), tile.word(sample, item + 1)] };
            permute_bytes(even, odd, selector)
        };
        let pairs = [pair(0), pair(1), pair(2), pair(3)];
        // SAFETY: column and sample are in range and this thread's.
        unsafe { p.output.store(to, pairs) };
        column += 1;
        to += vectors_of_column;
    }
}

cuda_std::on_host! {
    /// A sample type that can be permuted into columns.
    pub trait Instances: Stored<Complex<F16>> {
        /// The kernel.
        fn kernel() -> cuda_std::Kernel<PermuteColumns<Self>>;
    }
}

macro_rules! instances {
    ($($name:ident: $input:ty, $registers:literal;)*) => {
        cuda_std::kernels! { for sm_90a; $(
            /// To columns; the types are in the name.
            $name(p: PermuteColumns<$input>),
            threads THREADS, blocks 4,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { permute_columns::<$input>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instances for $input {
                fn kernel() -> cuda_std::Kernel<PermuteColumns<Self>> {
                    $name
                }
            }
        )* }
    };
}

instances! {
    permute_columns_cf16: Complex<F16>, 46;
    permute_columns_ci16_to_cf16: Complex<i16>, 54;
    permute_columns_cf32_to_cf16: Complex<f32>, 56;
}
