//! Channel data to batch-inner as two halves a number ([`Split`]), in two planes: `(transmit, channel, sample, plane, batch)`.
//!
//! Splitting here costs a pass over the data that there is anyway. In the product it would cost six instructions for each
//! pair of numbers and voxel tile, as many again as the three products of a complex number.
//!
//! | launch | |
//! |---|---|
//! | block, grid | as in [`permute`](super::super::permute): for tiles of [`tile_items`] batch items |
//! | shared memory | [`shared_bytes`]: both planes of the tile |
//! | barriers | one, between reading and writing |
//! | result | every element is written once; padding, and the silence after a transmit's last channel, are 0 |

use super::super::batch::SILENCE;
use super::super::permute::{Permute, SAMPLES, THREADS, sample_tiles, tile_items};
use super::super::sample::Sample;
use super::{Split, WARP};
use cuda_std::half::F16;
use cuda_std::{Element, Resources, Shared, thread};
use num_complex::Complex;

/// Bytes of shared memory.
pub const fn shared_bytes<H>() -> u32 {
    2 * SAMPLES * pitch::<H>() * size_of::<H>() as u32
}

/// Numbers from sample to sample in shared memory: an odd number of words.
const fn pitch<H>() -> u32 {
    tile_items::<H>() + 4 / size_of::<H>() as u32
}

/// A number's nearest half, and the half nearest to the rest.
#[inline(always)]
pub(super) fn split(number: f32) -> [F16; 2] {
    let high = F16::from_f32(number);
    [high, F16::from_f32(number - high.to_f32())]
}

/// A value that is stored as two of `H`.
trait Halve<H>: Sized {
    /// The nearest one, and what it leaves.
    fn halve(self) -> [H; 2];
}

impl Halve<F16> for f32 {
    #[inline(always)]
    fn halve(self) -> [F16; 2] {
        split(self)
    }
}

impl Halve<Complex<F16>> for Complex<f32> {
    #[inline(always)]
    fn halve(self) -> [Complex<F16>; 2] {
        let ([re, re_low], [im, im_low]) = (split(self.re), split(self.im));
        [Complex::new(re, im), Complex::new(re_low, im_low)]
    }
}

/// The kernel's body, with `READS` batch items of a tile for each warp to read.
///
/// # Safety
///
/// The slices hold what strides and counts say; the output is aligned to 16 bytes and its batch pitch a multiple of as
/// many; [`shared_bytes`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn permute<S: Sample<Value: Halve<H>>, H: Sample + Element, const READS: usize>(p: Permute<S, Split<H>>) {
    const { assert!(READS as u32 * THREADS / WARP == tile_items::<H>()) };
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let tiles = sample_tiles(p.n_channels, p.n_samples);
    let (transmit, tile) = (thread::block_idx_x() / tiles, thread::block_idx_x() % tiles);
    let tiles_of_channel = p.n_samples.div_ceil(SAMPLES);
    let (channel, first_sample) = (tile / tiles_of_channel, tile % tiles_of_channel * SAMPLES);
    // The silence is two samples of a channel after the last.
    let is_silence = channel == p.n_channels;
    let n_samples = if is_silence { SILENCE } else { p.n_samples };
    let first_item = thread::block_idx_y() * tile_items::<H>();
    let plane = SAMPLES * pitch::<H>();
    // SAFETY: the launch gives as much.
    let (planes, words) = unsafe {
        (
            Shared::<H>::new(0, 2 * plane),
            Shared::<u32>::new(0, shared_bytes::<H>() / 4),
        )
    };
    let mut values = [S::ZERO; READS];
    let sample = first_sample + lane;
    let at = p.origin
        + i64::from(transmit) * p.transmit_stride
        + i64::from(channel) * p.channel_stride
        + i64::from(sample) * p.sample_stride;
    cuda_std::unroll!(READ in 0..READS {
        let item = first_item + warp + READ as u32 * (THREADS / WARP);
        if !is_silence && sample < n_samples && item < p.n_batch {
            // SAFETY: all four indices are in range.
            values[READ] = unsafe { p.input.load((at + i64::from(item) * p.batch_stride) as u64) };
        }
    });
    cuda_std::unroll!(READ in 0..READS {
        let place = lane * pitch::<H>() + warp + READ as u32 * (THREADS / WARP);
        let [high, low] = values[READ].widen().halve();
        // SAFETY: places of the planes that are this thread's.
        unsafe {
            planes.store(place, high);
            planes.store(place + plane, low);
        }
    });
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    let per_word = 4 / size_of::<H>() as u32;
    let item = first_item + lane * per_word;
    // Rows of the tile, those of the second plane behind those of the first.
    let mut row_of_planes = warp;
    while row_of_planes < 2 * SAMPLES {
        let (row, of_plane) = (row_of_planes % SAMPLES, row_of_planes / SAMPLES);
        if first_sample + row < n_samples && item < p.batch_pitch {
            let samples_of_transmit = u64::from(p.n_channels) * u64::from(p.n_samples) + u64::from(SILENCE);
            let sample = u64::from(transmit) * samples_of_transmit
                + u64::from(channel) * u64::from(p.n_samples)
                + u64::from(first_sample + row);
            let to = (2 * sample + u64::from(of_plane)) * u64::from(p.batch_pitch) + u64::from(item);
            let from = row_of_planes * pitch::<H>() + lane * per_word;
            // SAFETY: sample and item are in range and this thread's; words begin at even places of both memories.
            unsafe {
                p.output
                    .cast::<u32>()
                    .store(to / u64::from(per_word), words.load(from / per_word));
            }
        }
        row_of_planes += THREADS / WARP;
    }
}

macro_rules! instances {
    ($($name:ident: $input:ty => $half:ty, $reads:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// To batch-inner, two halves a number; the input's type is in the name.
            $name(p: Permute<$input, Split<$half>>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { permute::<$input, $half, $reads>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instances<$half> for $input {
                fn kernel() -> cuda_std::Kernel<Permute<Self, Split<$half>>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A sample type that is stored as two of `H`.
    pub trait Instances<H: Sample>: Sample {
        /// The kernel.
        fn kernel() -> cuda_std::Kernel<Permute<Self, Split<H>>>;
    }
}

instances! {
    permute_i16_to_split: i16 => F16, 8, 32;
    permute_f32_to_split: f32 => F16, 8, 32;
    permute_ci16_to_split: Complex<i16> => Complex<F16>, 4, 32;
    permute_cf32_to_split: Complex<f32> => Complex<F16>, 4, 32;
}
