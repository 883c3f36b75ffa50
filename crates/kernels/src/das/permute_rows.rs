//! Channel data from any order of axes to rows of neighbouring samples: `(transmit, channel, row, batch)`, 8 bytes each,
//! rounded to halves on the way.
//!
//! A row holds two complex samples of a batch item as {re k, re k+1, im k, im k+1}, or four real ones. A channel has as many rows as
//! its samples fill; what the last row lacks is 0. The batch is padded to whole vectors of 16 bytes, two items each.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a tile of [`SAMPLES`] samples of a channel and transmit × [`ITEMS`] batch items |
//! | grid | x: [`sample_tiles`] of every channel and transmit, y: batch tiles |
//! | shared memory | [`SHARED_BYTES`]: the tile, an odd number of words from sample to sample |
//! | barriers | one, between reading and writing |
//! | result | every row is written once; padding is 0; a batch item with a sample that is not finite as a half is marked |
//!
//! A warp reads consecutive samples of a batch item and writes consecutive batch items of a row. Both ways the lanes of a
//! warp meet different banks.

use super::sample::Sample;
use super::scale::{Plane, Scaling, Stored};
use cuda_std::half::F16;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, Shared, thread};
use num_complex::Complex;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Samples of a tile.
pub const SAMPLES: u32 = 32;

/// Batch items of a tile.
pub const ITEMS: u32 = 32;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Words from sample to sample in shared memory.
const PITCH: u32 = ITEMS + 1;

/// Bytes of shared memory.
pub const SHARED_BYTES: u32 = 4 * SAMPLES * PITCH;

/// Blocks along x for each channel and transmit.
pub const fn sample_tiles(n_samples: u32) -> u32 {
    n_samples.div_ceil(SAMPLES)
}

/// A sample type that is stored in rows of 8 bytes.
pub trait InRows: Sample {
    /// Samples of a row.
    const SAMPLES_PER_ROW: u32;

    /// The sample's bits, in a word.
    fn word(self) -> u32;

    /// A row of the samples with these bits; a row of two samples has no use for the last two.
    fn row(samples: [u32; 4]) -> [u32; 2];
}

impl InRows for Complex<F16> {
    const SAMPLES_PER_ROW: u32 = 2;

    #[inline(always)]
    fn word(self) -> u32 {
        u32::from(self.re.0) | u32::from(self.im.0) << 16
    }

    #[inline(always)]
    fn row([first, second, ..]: [u32; 4]) -> [u32; 2] {
        [first & 0xffff | second << 16, first >> 16 | second & 0xffff_0000]
    }
}

impl InRows for F16 {
    const SAMPLES_PER_ROW: u32 = 4;

    #[inline(always)]
    fn word(self) -> u32 {
        u32::from(self.0)
    }

    #[inline(always)]
    fn row([first, second, third, fourth]: [u32; 4]) -> [u32; 2] {
        [first | second << 16, third | fourth << 16]
    }
}

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PermuteRows<S> {
    /// The memory of the channel data.
    pub input: Global<S>,
    /// The rows, `(transmit, channel, row, batch)`.
    pub output: GlobalMut<[u32; 2]>,
    /// What happens to the values on the way.
    pub scaling: Scaling,
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
    /// Batch items of the rows, padding included; even.
    pub batch_pitch: u32,
    /// Receive channels.
    pub n_channels: u32,
    /// Samples a channel.
    pub n_samples: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Element> Parameters for PermuteRows<S> {}

/// The kernel's body, with `READS` batch items of a tile for each warp to read.
///
/// # Safety
///
/// The slices hold what strides and counts say; [`SHARED_BYTES`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn permute_rows<S: Stored<D>, D: InRows, const READS: usize>(p: PermuteRows<S>) {
    const { assert!(READS as u32 * THREADS == SAMPLES * ITEMS) };
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let tiles = sample_tiles(p.n_samples);
    let (channel_of_all, first_sample) = (thread::block_idx_x() / tiles, thread::block_idx_x() % tiles * SAMPLES);
    let (transmit, channel) = (channel_of_all / p.n_channels, channel_of_all % p.n_channels);
    let first_item = thread::block_idx_y() * ITEMS;
    // SAFETY: the launch gives as much.
    let tile = unsafe { Shared::<u32>::new(0, SAMPLES * PITCH) };
    let mut words = [0; READS];
    let sample = first_sample + lane;
    let at = p.origin
        + i64::from(transmit) * p.transmit_stride
        + i64::from(channel) * p.channel_stride
        + i64::from(sample) * p.sample_stride;
    cuda_std::unroll!(READ in 0..READS {
        let item = first_item + warp + READ as u32 * (THREADS / WARP);
        if sample < p.n_samples && item < p.n_batch {
            // SAFETY: all four indices are in range, and so is the item of the scaling's arrays.
            words[READ] = unsafe {
                let value = p.input.load((at + i64::from(item) * p.batch_stride) as u64);
                let stored: D = p.scaling.store(value, item, Plane::High);
                stored.word()
            };
        }
    });
    cuda_std::unroll!(READ in 0..READS {
        let item = warp + READ as u32 * (THREADS / WARP);
        // SAFETY: a place of the tile that is this thread's.
        unsafe { tile.store(lane * PITCH + item, words[READ]) };
    });
    let item = first_item + thread::thread_idx_x();
    if thread::block_idx_x() == 0 && thread::thread_idx_x() < ITEMS && item < p.n_batch {
        // SAFETY: the item is in range, and this thread's own.
        unsafe { p.scaling.write_inverse(item) };
    }
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    let rows_of_channel = p.n_samples.div_ceil(D::SAMPLES_PER_ROW);
    let first_row = first_sample / D::SAMPLES_PER_ROW;
    // Rows of the tile, from warp to warp.
    let mut row_of_tile = warp;
    while row_of_tile < SAMPLES / D::SAMPLES_PER_ROW {
        let row = first_row + row_of_tile;
        let item = first_item + lane;
        if row < rows_of_channel && item < p.batch_pitch {
            // A row of two has no third and fourth.
            let sample = |index: u32| {
                let sample = row_of_tile * D::SAMPLES_PER_ROW + index.min(D::SAMPLES_PER_ROW - 1);
                // SAFETY: a row of the tile, which is behind the barrier.
                unsafe { tile.load(sample * PITCH + lane) }
            };
            let samples = [sample(0), sample(1), sample(2), sample(3)];
            let row_of_all = u64::from(channel_of_all) * u64::from(rows_of_channel) + u64::from(row);
            // SAFETY: row and item are in range and this thread's.
            unsafe {
                p.output
                    .store(row_of_all * u64::from(p.batch_pitch) + u64::from(item), D::row(samples));
            };
        }
        row_of_tile += THREADS / WARP;
    }
}

macro_rules! instances {
    ($($name:ident: $input:ty => $output:ty, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// To rows; the types are in the name.
            $name(p: PermuteRows<$input>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { permute_rows::<$input, $output, 4>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instances<$output> for $input {
                fn kernel() -> cuda_std::Kernel<PermuteRows<Self>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A sample type that can be permuted into rows of `D`.
    pub trait Instances<D: InRows>: Stored<D> {
        /// The kernel.
        fn kernel() -> cuda_std::Kernel<PermuteRows<Self>>;
    }
}

instances! {
    permute_rows_f16: F16 => F16, 40;
    permute_rows_cf16: Complex<F16> => Complex<F16>, 40;
    permute_rows_i16_to_f16: i16 => F16, 40;
    permute_rows_ci16_to_cf16: Complex<i16> => Complex<F16>, 40;
    permute_rows_f32_to_f16: f32 => F16, 40;
    permute_rows_cf32_to_cf16: Complex<f32> => Complex<F16>, 40;
}
