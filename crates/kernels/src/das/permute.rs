//! Channel data from any order of axes to batch-inner: `(transmit, channel, sample, batch)`, rounded on the way where
//! the storage differs, and scaled there by a power of two.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a tile of [`SAMPLES`] samples of a channel and transmit × [`tile_items`] batch items |
//! | grid | x: [`sample_tiles`] of every transmit, y: batch tiles |
//! | shared memory | [`shared_bytes`]: the tile, an odd number of words from sample to sample |
//! | barriers | one, between reading and writing |
//! | result | every element is written once; padding and rows of zeros are 0; a batch item with a sample that is not finite as it is stored is marked |
//!
//! A warp reads consecutive samples of a batch item and writes consecutive batch items of a sample, a word or a pair of
//! words a lane. Both ways the lanes of a warp meet different banks.

use super::batch::Rows;
use super::sample::Sample;
use super::scale::{Plane, Scaling, Stored};
use cuda_std::half::F16;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, Shared, thread};
use num_complex::Complex;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Samples of a tile.
pub const SAMPLES: u32 = 32;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Batch items of a tile: a warp's words.
pub const fn tile_items<D>() -> u32 {
    WARP * items_per_word::<D>()
}

/// Blocks along x for each transmit: its sample tiles with the margins, and one for the rows before the first channel and
/// the silence.
pub const fn sample_tiles(rows: Rows, n_channels: u32, n_samples: u32) -> u32 {
    n_channels * rows.of_channel(n_samples).div_ceil(SAMPLES) + 1
}

/// Bytes of shared memory.
pub const fn shared_bytes<D>() -> u32 {
    SAMPLES * pitch::<D>() * size_of::<D>() as u32
}

/// Items that a lane writes at once: half-words come in pairs.
const fn items_per_word<D>() -> u32 {
    if size_of::<D>() == 2 { 2 } else { 1 }
}

/// Items from sample to sample in shared memory.
const fn pitch<D>() -> u32 {
    tile_items::<D>() + items_per_word::<D>()
}

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Permute<S, D> {
    /// The memory of the channel data.
    pub input: Global<S>,
    /// The result, `(transmit, channel, sample, batch)`, with the rows of zeros.
    pub output: GlobalMut<D>,
    /// What happens to the values on the way.
    pub scaling: Scaling,
    /// The rows of zeros.
    pub rows: Rows,
    /// Where in `input` the first sample of all is.
    pub origin: i64,
    /// Elements between two batch items of the input.
    pub batch_stride: i64,
    /// Elements between two channels of the input.
    pub channel_stride: i64,
    /// Elements between two transmits of the input.
    pub transmit_stride: i64,
    /// Elements between two samples of the input.
    pub sample_stride: i64,
    /// Batch items.
    pub n_batch: u32,
    /// Batch items of the result, padding included.
    pub batch_pitch: u32,
    /// Planes of the result: each sample has the whole batch's highs, and then perhaps the lows.
    pub n_planes: u32,
    /// The plane that is written.
    pub plane: Plane,
    /// Receive channels.
    pub n_channels: u32,
    /// Samples a channel.
    pub n_samples: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Element, D: Element> Parameters for Permute<S, D> {}

/// The kernel's body, with `READS` batch items of a tile for each warp to read.
///
/// # Safety
///
/// The slices hold what strides and counts say; the output is aligned to 16 bytes and its batch pitch a multiple of as
/// many; [`shared_bytes`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn permute<S: Stored<D>, D: Sample, const READS: usize>(p: Permute<S, D>) {
    const { assert!(READS as u32 * THREADS / WARP == tile_items::<D>()) };
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let rows_of_channel = p.rows.of_channel(p.n_samples);
    let tiles = sample_tiles(p.rows, p.n_channels, p.n_samples);
    let (transmit, tile) = (thread::block_idx_x() / tiles, thread::block_idx_x() % tiles);
    let tiles_of_channel = rows_of_channel.div_ceil(SAMPLES);
    let (channel, first_sample) = (tile / tiles_of_channel, tile % tiles_of_channel * SAMPLES);
    // The last tile has no channel: the margin before the first one, and the silence.
    let is_silence = channel == p.n_channels;
    let n_rows = if is_silence {
        p.rows.margin + p.rows.silence
    } else {
        rows_of_channel
    };
    let first_item = thread::block_idx_y() * tile_items::<D>();
    // SAFETY: the launch gives as much.
    let tile = unsafe { Shared::<D>::new(0, SAMPLES * pitch::<D>()) };
    let mut values = [D::ZERO; READS];
    let sample = first_sample + lane;
    let at = p.origin
        + i64::from(transmit) * p.transmit_stride
        + i64::from(channel) * p.channel_stride
        + i64::from(sample) * p.sample_stride;
    cuda_std::unroll!(READ in 0..READS {
        let item = first_item + warp + READ as u32 * (THREADS / WARP);
        if !is_silence && sample < p.n_samples && item < p.n_batch {
            // SAFETY: all four indices are in range, and so is the item of the scaling's arrays.
            values[READ] = unsafe {
                let value = p.input.load((at + i64::from(item) * p.batch_stride) as u64);
                p.scaling.store(value, item, p.plane)
            };
        }
    });
    cuda_std::unroll!(READ in 0..READS {
        let item = warp + READ as u32 * (THREADS / WARP);
        // SAFETY: a place of the tile that is this thread's.
        unsafe { tile.store(lane * pitch::<D>() + item, values[READ]) };
    });
    let item = first_item + thread::thread_idx_x();
    if is_silence
        && transmit == 0
        && p.plane == Plane::High
        && thread::thread_idx_x() < tile_items::<D>()
        && item < p.n_batch
    {
        // SAFETY: the item is in range, and this thread's own.
        unsafe { p.scaling.write_inverse(item) };
    }
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    // Samples of the tile, from warp to warp.
    let mut row_of_tile = warp;
    while row_of_tile < SAMPLES {
        let sample = first_sample + row_of_tile;
        let item = first_item + lane * items_per_word::<D>();
        if sample < n_rows && item < p.batch_pitch {
            let row_of_transmit = if !is_silence {
                p.rows.margin + channel * rows_of_channel + sample
            } else if sample < p.rows.margin {
                sample
            } else {
                p.rows.before_silence(p.n_channels, p.n_samples) + sample - p.rows.margin
            };
            let row = u64::from(transmit) * p.rows.of_transmit(p.n_channels, p.n_samples) + u64::from(row_of_transmit);
            let row_of_plane = row * u64::from(p.n_planes) + p.plane as u64;
            let to = row_of_plane * u64::from(p.batch_pitch) + u64::from(item);
            let from = row_of_tile * pitch::<D>() + lane * items_per_word::<D>();
            // SAFETY: sample and item are in range and this thread's; pairs begin at even places of both memories.
            unsafe {
                if items_per_word::<D>() == 2 {
                    let pairs = Shared::<u32>::new(0, SAMPLES * pitch::<D>() / 2);
                    p.output.cast::<u32>().store(to / 2, pairs.load(from / 2));
                } else {
                    p.output.store(to, tile.load(from));
                }
            }
        }
        row_of_tile += THREADS / WARP;
    }
}

macro_rules! instances {
    ($($name:ident: $input:ty => $output:ty, $reads:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// To batch-inner; the types are in the name.
            $name(p: Permute<$input, $output>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { permute::<$input, $output, $reads>(p) }
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
    permute_i16: i16 => i16, 8, 34;
    permute_f16: F16 => F16, 8, 32;
    permute_f32: f32 => f32, 4, 28;
    permute_ci16: Complex<i16> => Complex<i16>, 4, 30;
    permute_cf16: Complex<F16> => Complex<F16>, 4, 26;
    permute_cf32: Complex<f32> => Complex<f32>, 4, 30;
    permute_f32_to_f16: f32 => F16, 8, 30;
    permute_cf32_to_cf16: Complex<f32> => Complex<F16>, 4, 28;
    permute_i16_to_f16: i16 => F16, 8, 31;
    permute_ci16_to_cf16: Complex<i16> => Complex<F16>, 4, 30;
}
