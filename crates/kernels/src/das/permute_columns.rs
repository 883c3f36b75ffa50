//! Complex channel data from any order of axes to columns of 64 batch items: `(transmit, channel, column, sample, part)`, rows of 128
//! bytes, rounded to halves on the way. `sm_90a` alone: nobody else's products read them so.
//!
//! Part 0 of a sample holds the items' real parts, part 1 the imaginary ones: of each a row of eight vectors of 16 bytes, eight items
//! each, item 2 w in the low half of word w, item 2 w + 1 in the high one. Vector c of row r = 2 · sample + part is at place c ⊕ r mod 8.
//! So a channel's samples of a column follow each other, and a run of them from every fourth sample on is an operand of
//! [`cuda_std::warpgroup`] as it is. The batch is padded to whole columns, and the samples to whole fours, with 0.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a tile of [`tile_samples`] samples of a channel and transmit × [`ITEMS`] batch items |
//! | grid | x: [`sample_tiles`] of every channel and transmit, y: [`ITEMS`] items of all columns |
//! | shared memory | [`shared_bytes`]: the tile, an odd number of words from sample to sample |
//! | barriers | one, between reading and writing |
//! | result | every vector is written once; padding is 0; a batch item with a sample that is not finite as a half is marked |
//!
//! A warp reads consecutive samples of a batch item, as [`super::permute_rows`] does, and writes four vectors of each of eight rows,
//! 64 bytes together. The two parts of a sample share words of shared memory there; all others meet different banks.

use super::permute_rows::{self, fill};
use super::recorded::Recorded;
use super::scale::{Plane, Scaling, Stored};
use cuda_std::half::F16;
use cuda_std::math::permute_bytes;
use cuda_std::{Element, GlobalMut, Parameters, Resources, thread};
use num_complex::Complex;

pub use super::permute_rows::{ITEMS, THREADS};

/// Batch items of a column.
pub const COLUMN_ITEMS: u32 = 64;

/// Vectors of a row.
pub const ROW_VECTORS: u32 = COLUMN_ITEMS / VECTOR_ITEMS;

/// Batch items of a vector.
const VECTOR_ITEMS: u32 = 8;

/// Rows of a sample: its parts.
pub const PARTS: u32 = 2;

/// Samples that padding makes whole.
pub const WHOLE_SAMPLES: u32 = 4;

/// Samples of a column, padding included.
pub const fn samples_of_column(n_samples: u32) -> u32 {
    n_samples.next_multiple_of(WHOLE_SAMPLES)
}

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
    // Of a tile four vectors a row.
    const VECTORS: u32 = ITEMS / VECTOR_ITEMS;
    const { assert!(tile_samples() * PARTS == THREADS && tile_samples().is_multiple_of(WHOLE_SAMPLES)) };
    // SAFETY: the caller's promise.
    let tile = unsafe { fill::<S, Complex<F16>, 1, 16>(&p.data, &p.scaling, Plane::High) };
    let samples_of_column = samples_of_column(p.data.n_samples);
    let vector = thread::thread_idx_x() % VECTORS;
    let mut row = thread::thread_idx_x() / VECTORS;
    let (column, first_vector) = (
        tile.first_item / COLUMN_ITEMS,
        tile.first_item % COLUMN_ITEMS / VECTOR_ITEMS,
    );
    if column >= p.n_columns {
        return;
    }
    let column_of_all = u64::from(tile.channel_of_all) * u64::from(p.n_columns) + u64::from(column);
    // Tiles begin at a multiple of eight rows.
    let first_row = u64::from(tile.first_sample) * u64::from(PARTS);
    let first = (column_of_all * u64::from(samples_of_column) * u64::from(PARTS) + first_row) * u64::from(ROW_VECTORS);
    while row < PARTS * (samples_of_column - tile.first_sample).min(tile_samples()) {
        // The low halves of two items, or the high ones.
        let selector = if row.is_multiple_of(PARTS) { 0x5410 } else { 0x7632 };
        let pair = |word: u32| {
            let item = vector * VECTOR_ITEMS + 2 * word;
            // SAFETY: items of the tile, and one of its samples.
            let [even, odd] = unsafe { [tile.word(row / PARTS, item), tile.word(row / PARTS, item + 1)] };
            permute_bytes(even, odd, selector)
        };
        let pairs = [pair(0), pair(1), pair(2), pair(3)];
        let place = ROW_VECTORS * row + ((first_vector + vector) ^ (row % ROW_VECTORS));
        // SAFETY: column and row are in range and this thread's.
        unsafe { p.output.store(first + u64::from(place), pairs) };
        row += THREADS / VECTORS;
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
