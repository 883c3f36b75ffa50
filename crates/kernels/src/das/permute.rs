//! Channel data from any order of axes to batch-inner: `(transmit, channel, sample, batch)`, rounded on the way where
//! the storage differs, and scaled there by a power of two.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a tile of [`tile_samples`] samples of a channel and transmit × [`tile_items`] batch items |
//! | grid | x: [`sample_tiles`] of every transmit, y: batch tiles |
//! | shared memory | [`shared_bytes`]: the tile, an odd number of words from sample to sample |
//! | barriers | one, between reading and writing |
//! | result | every element is written once; padding and rows of zeros are 0; a batch item with a sample that is not finite as it is stored is marked |
//!
//! A warp reads consecutive samples of a batch item and writes consecutive batch items of a sample, a word or a pair of
//! words a lane. Both ways the lanes of a warp meet different banks.

use super::batch::Rows;
use super::recorded::{Recorded, Tile, WARP, row_in_words};
use super::sample::Sample;
use super::scale::{Plane, Scaling, Stored};
use cuda_std::half::F16;
use cuda_std::{Element, GlobalMut, Parameters, Resources, Shared, thread};
use num_complex::Complex;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Samples of a tile.
pub const fn tile_samples<D>() -> u32 {
    reads::<D>() as u32 * THREADS / tile_items::<D>()
}

/// Batch items of a tile: a warp's words.
pub const fn tile_items<D>() -> u32 {
    WARP * items_per_word::<D>()
}

/// Samples that a thread reads, in registers all at once: about as many bytes whatever the type.
const fn reads<D>() -> usize {
    64 / size_of::<D>()
}

/// Blocks along x for each transmit: its sample tiles with the margins, and one for the rows before the first channel and
/// the silence.
pub const fn sample_tiles<D>(rows: Rows, n_channels: u32, n_samples: u32) -> u32 {
    n_channels * rows.of_channel(n_samples).div_ceil(tile_samples::<D>()) + 1
}

/// Bytes of shared memory.
pub const fn shared_bytes<D>() -> u32 {
    row::<D>(tile_samples::<D>()) * size_of::<D>() as u32
}

/// Items that a lane writes at once: half-words come in pairs.
const fn items_per_word<D>() -> u32 {
    if size_of::<D>() == 2 { 2 } else { 1 }
}

/// Where a sample's items are in shared memory, in items.
#[inline(always)]
const fn row<D>(sample: u32) -> u32 {
    row_in_words(sample, WARP + 1) * items_per_word::<D>()
}

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Permute<S, D> {
    /// The channel data.
    pub data: Recorded<S>,
    /// The result, `(transmit, channel, sample, batch)`, with the rows of zeros.
    pub output: GlobalMut<D>,
    /// What happens to the values on the way.
    pub scaling: Scaling,
    /// The rows of zeros.
    pub rows: Rows,
    /// Batch items of the result, padding included.
    pub batch_pitch: u32,
    /// Planes of the result: each sample has the whole batch's highs, and then perhaps the lows.
    pub n_planes: u32,
    /// The plane that is written.
    pub plane: Plane,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Element, D: Element> Parameters for Permute<S, D> {}

/// The kernel's body, with `GROUPS` times `READS` samples for each thread to read.
///
/// # Safety
///
/// The slices hold what strides and counts say; the output is aligned to 16 bytes and its batch pitch a multiple of as
/// many; [`shared_bytes`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn permute<S: Stored<D>, D: Sample, const GROUPS: usize, const READS: usize>(p: Permute<S, D>) {
    const { assert!(GROUPS * READS == reads::<D>()) };
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let Recorded {
        n_channels, n_samples, ..
    } = p.data;
    let rows_of_channel = p.rows.of_channel(n_samples);
    let tiles = sample_tiles::<D>(p.rows, n_channels, n_samples);
    let (transmit, tile) = (thread::block_idx_x() / tiles, thread::block_idx_x() % tiles);
    let tiles_of_channel = rows_of_channel.div_ceil(tile_samples::<D>());
    let (channel, first_sample) = (tile / tiles_of_channel, tile % tiles_of_channel * tile_samples::<D>());
    let first_item = thread::block_idx_y() * tile_items::<D>();
    let first_row = u64::from(transmit) * p.rows.of_transmit(n_channels, n_samples);
    // The last tile has no channel.
    if channel == n_channels {
        // SAFETY: the caller's promise.
        unsafe { write_zeros(&p, first_item, first_row, warp, lane) };
        if transmit == 0 {
            // SAFETY: the block writes the scales of its own batch items.
            unsafe { write_inverses(&p, first_item) };
        }
        return;
    }
    // SAFETY: the launch gives as much.
    let shared = unsafe { Shared::<D>::new(0, shared_bytes::<D>() / size_of::<D>() as u32) };
    let tile = Tile::<S, THREADS>::new(
        &p.data,
        [transmit, channel],
        first_sample,
        first_item,
        tile_samples::<D>(),
    );
    // SAFETY: the caller's promise.
    let values = unsafe { tile.read::<GROUPS, READS>() };
    let mut factor = 1.0;
    cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
        let read = GROUP * READS + READ;
        let [sample, item] = tile.place(read);
        if tile.begins_item(read) && tile.has_item(item) {
            // SAFETY: the item is one of the scaling's arrays.
            factor = unsafe { p.scaling.factor(first_item + item) };
        }
        let stored = values[GROUP][READ].stored(factor, p.plane);
        // SAFETY: a place of the tile that is this thread's.
        unsafe { shared.store(row::<D>(sample) + item, stored) };
    }); } });
    if p.scaling.is_marking != 0 {
        cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
            let [sample, item] = tile.place(GROUP * READS + READ);
            // SAFETY: a place of the tile that this thread wrote.
            let stored = unsafe { shared.load(row::<D>(sample) + item) };
            if !S::is_finite(stored) && tile.has_item(item) {
                // SAFETY: the item is one of the scaling's arrays.
                unsafe { p.scaling.mark(first_item + item) };
            }
        }); } });
    }
    // SAFETY: all threads of the block are here.
    unsafe { thread::sync_threads() };
    let item = first_item + lane * items_per_word::<D>();
    if item >= p.batch_pitch {
        return;
    }
    let n_rows = rows_of_channel - first_sample;
    let first_row = first_row + u64::from(p.rows.margin + channel * rows_of_channel + first_sample);
    // Samples of the tile, from warp to warp.
    let mut sample = warp;
    let mut to = p.place(first_row + u64::from(sample), item);
    let step = u64::from(THREADS / WARP * p.n_planes) * u64::from(p.batch_pitch);
    while sample < tile_samples::<D>() && sample < n_rows {
        let from = row::<D>(sample) + lane * items_per_word::<D>();
        // SAFETY: row and item are in range and this thread's; pairs begin at even places of both memories.
        unsafe {
            if items_per_word::<D>() == 2 {
                let pairs = Shared::<u32>::new(0, shared_bytes::<D>() / 4);
                p.output.cast::<u32>().store(to / 2, pairs.load(from / 2));
            } else {
                p.output.store(to, shared.load(from));
            }
        }
        sample += THREADS / WARP;
        to += step;
    }
}

impl<S, D> Permute<S, D> {
    /// Where in the result a batch item of a row of all is.
    #[inline(always)]
    fn place(&self, row: u64, item: u32) -> u64 {
        (row * u64::from(self.n_planes) + self.plane as u64) * u64::from(self.batch_pitch) + u64::from(item)
    }
}

/// Writes the rows of zeros of a transmit that no channel's tiles write: the margin before the first one, and the silence.
///
/// # Safety
///
/// The output holds the rows, and nobody else writes these.
#[inline(always)]
unsafe fn write_zeros<S: Sample, D: Sample>(p: &Permute<S, D>, first_item: u32, first_row: u64, warp: u32, lane: u32) {
    let mut row = warp;
    while row < p.rows.margin + p.rows.silence {
        let row_of_transmit = if row < p.rows.margin {
            row
        } else {
            p.rows.before_silence(p.data.n_channels, p.data.n_samples) + row - p.rows.margin
        };
        for part in 0..items_per_word::<D>() {
            let item = first_item + part * WARP + lane;
            if item < p.batch_pitch {
                // SAFETY: row and item are in range and this thread's.
                unsafe {
                    p.output
                        .store(p.place(first_row + u64::from(row_of_transmit), item), D::ZERO);
                };
            }
        }
        row += THREADS / WARP;
    }
}

/// Writes what the sums of a tile's batch items have to be multiplied by.
///
/// # Safety
///
/// The scaling's arrays hold the items, and no other block writes them.
#[inline(always)]
unsafe fn write_inverses<S: Sample, D: Sample>(p: &Permute<S, D>, first_item: u32) {
    let item = first_item + thread::thread_idx_x();
    if p.plane == Plane::High && thread::thread_idx_x() < tile_items::<D>() && item < p.data.n_batch {
        // SAFETY: the item is in range, and this thread's own.
        unsafe { p.scaling.write_inverse(item) };
    }
}

macro_rules! instances {
    ($($name:ident: $input:ty => $output:ty, $groups:literal of $reads:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// To batch-inner; the types are in the name.
            $name(p: Permute<$input, $output>),
            threads THREADS, blocks 4,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { permute::<$input, $output, $groups, $reads>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instances<$output> for $input {
                fn kernel() -> Option<cuda_std::Kernel<Permute<Self, $output>>> {
                    Some($name)
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A sample type that can be permuted into storage as `D`.
    pub trait Instances<D>: Sample {
        /// The kernel; there is none for double precision.
        fn kernel() -> Option<cuda_std::Kernel<Permute<Self, D>>>;
    }

    impl Instances<f64> for f64 {
        fn kernel() -> Option<cuda_std::Kernel<Permute<Self, Self>>> {
            None
        }
    }

    impl Instances<Complex<f64>> for Complex<f64> {
        fn kernel() -> Option<cuda_std::Kernel<Permute<Self, Self>>> {
            None
        }
    }
}

instances! {
    permute_i16: i16 => i16, 2 of 16, 64;
    permute_f16: F16 => F16, 2 of 16, 64;
    permute_f32: f32 => f32, 1 of 16, 46;
    permute_ci16: Complex<i16> => Complex<i16>, 1 of 16, 44;
    permute_cf16: Complex<F16> => Complex<F16>, 1 of 16, 46;
    permute_cf32: Complex<f32> => Complex<f32>, 1 of 8, 56;
    permute_f32_to_f16: f32 => F16, 2 of 16, 64;
    permute_cf32_to_cf16: Complex<f32> => Complex<F16>, 1 of 16, 62;
    permute_i16_to_f16: i16 => F16, 2 of 16, 64;
    permute_ci16_to_cf16: Complex<i16> => Complex<F16>, 1 of 16, 58;
}
