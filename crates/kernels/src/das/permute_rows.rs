//! Channel data from any order of axes to rows of neighbouring samples: `(transmit, channel, row, plane, batch)`, 8 bytes each,
//! rounded to halves on the way. There is one plane, or a second one, by a launch of its own, of what the first lost by that.
//!
//! A row holds two complex samples of a batch item as {re k, re k+1, im k, im k+1}, or four real ones. A channel has as many rows as
//! its samples fill; what the last row lacks is 0. The batch is padded to whole vectors of 16 bytes, two items each.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a tile of [`tile_samples`] samples of a channel and transmit × [`ITEMS`] batch items |
//! | grid | x: [`sample_tiles`] of every channel and transmit, y: batch tiles |
//! | shared memory | [`shared_bytes`]: the tile, an odd number of words from sample to sample |
//! | barriers | one, between reading and writing |
//! | result | every row of the plane is written once; padding is 0; a batch item with a sample that is not finite as a half is marked |
//!
//! A warp reads consecutive samples of a batch item and writes consecutive batch items of a row. Both ways the lanes of a
//! warp meet different banks.

use super::recorded::{Recorded, Tile, WARP, row_in_words};
use super::sample::Sample;
use super::scale::{Plane, Scaling, Stored};
use cuda_std::half::F16;
use cuda_std::{Element, GlobalMut, Parameters, Resources, Shared, thread};
use num_complex::Complex;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Samples of a tile: 64 rows.
pub const fn tile_samples<D: InRows>() -> u32 {
    64 * D::SAMPLES_PER_ROW
}

/// Batch items of a tile.
pub const ITEMS: u32 = 32;

/// Words from sample to sample in shared memory.
const PITCH: u32 = ITEMS + 1;

/// Bytes of shared memory.
pub const fn shared_bytes<D: InRows>() -> u32 {
    4 * row_in_words(tile_samples::<D>(), PITCH)
}

/// Blocks along x for each channel and transmit.
pub const fn sample_tiles<D: InRows>(n_samples: u32) -> u32 {
    n_samples.div_ceil(tile_samples::<D>())
}

/// A sample type that is stored in rows of 8 bytes.
pub trait InRows: Sample {
    /// Samples of a row.
    const SAMPLES_PER_ROW: u32;

    /// The sample's bits, in a word.
    fn word(self) -> u32;

    /// The sample with the bits of a word.
    fn of_word(word: u32) -> Self;

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
    fn of_word(word: u32) -> Self {
        Self::new(F16(word as u16), F16((word >> 16) as u16))
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
    fn of_word(word: u32) -> Self {
        Self(word as u16)
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
    /// The channel data.
    pub data: Recorded<S>,
    /// The rows, `(transmit, channel, row, plane, batch)`.
    pub output: GlobalMut<[u32; 2]>,
    /// What happens to the values on the way.
    pub scaling: Scaling,
    /// Batch items of a plane of the rows, padding included; even.
    pub batch_pitch: u32,
    /// Planes of the rows.
    pub n_planes: u32,
    /// The plane that is written.
    pub plane: Plane,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Element> Parameters for PermuteRows<S> {}

/// A block's tile in shared memory, as halves.
pub(super) struct Filled {
    words: Shared<u32>,
    /// The channel, counted through all transmits.
    pub(super) channel_of_all: u32,
    /// The first of the tile's samples.
    pub(super) first_sample: u32,
    /// The first of its batch items.
    pub(super) first_item: u32,
}

impl Filled {
    /// The bits of a sample, both counted from the tile's first.
    ///
    /// # Safety
    ///
    /// Sample and item are of the tile.
    #[inline(always)]
    pub(super) unsafe fn word(&self, sample: u32, item: u32) -> u32 {
        // SAFETY: a place of the tile, which is behind the barrier.
        unsafe { self.words.load(row_in_words(sample, PITCH) + item) }
    }
}

/// Brings the block's tile into shared memory, `GROUPS` times `READS` samples a thread, and lets the block meet there. What lies
/// beyond the data is 0. Items are marked, and what their sums have to be multiplied by is written, on the way.
///
/// # Safety
///
/// The slices hold what strides and counts say; [`shared_bytes`] of shared memory; a block of the grid for every tile; all
/// threads make this call.
#[inline(always)]
pub(super) unsafe fn fill<S: Stored<D>, D: InRows, const GROUPS: usize, const READS: usize>(
    data: &Recorded<S>,
    scaling: &Scaling,
    plane: Plane,
) -> Filled {
    const { assert!((GROUPS * READS) as u32 * THREADS == tile_samples::<D>() * ITEMS) };
    let tiles = sample_tiles::<D>(data.n_samples);
    let (channel_of_all, first_sample) = (
        thread::block_idx_x() / tiles,
        thread::block_idx_x() % tiles * tile_samples::<D>(),
    );
    let signal = [channel_of_all / data.n_channels, channel_of_all % data.n_channels];
    let first_item = thread::block_idx_y() * ITEMS;
    // SAFETY: the launch gives as much.
    let words = unsafe { Shared::<u32>::new(0, shared_bytes::<D>() / 4) };
    let tile = Tile::<S, THREADS>::new(data, signal, first_sample, first_item, tile_samples::<D>());
    // SAFETY: the caller's promise.
    let values = unsafe { tile.read::<GROUPS, READS>() };
    let mut factor = 1.0;
    cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
        let read = GROUP * READS + READ;
        let [sample, item] = tile.place(read);
        if tile.begins_item(read) && tile.has_item(item) {
            // SAFETY: the item is one of the scaling's arrays.
            factor = unsafe { scaling.factor(first_item + item) };
        }
        let stored: D = values[GROUP][READ].stored(factor, plane);
        // SAFETY: a place of the tile that is this thread's.
        unsafe { words.store(row_in_words(sample, PITCH) + item, stored.word()) };
    }); } });
    if scaling.is_marking != 0 {
        cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
            let [sample, item] = tile.place(GROUP * READS + READ);
            // SAFETY: a place of the tile that this thread wrote.
            let stored = D::of_word(unsafe { words.load(row_in_words(sample, PITCH) + item) });
            if !S::is_finite(stored) && tile.has_item(item) {
                // SAFETY: the item is one of the scaling's arrays.
                unsafe { scaling.mark(first_item + item) };
            }
        }); } });
    }
    let item = first_item + thread::thread_idx_x();
    if thread::block_idx_x() == 0 && thread::thread_idx_x() < ITEMS && item < data.n_batch {
        // SAFETY: the item is in range, and this thread's own.
        unsafe { scaling.write_inverse(item) };
    }
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    Filled {
        words,
        channel_of_all,
        first_sample,
        first_item,
    }
}

/// The kernel's body, with `GROUPS` times `READS` samples for each thread to read.
///
/// # Safety
///
/// The slices hold what strides and counts say; [`shared_bytes`] of shared memory; a block of the grid for every tile.
#[inline(always)]
unsafe fn permute_rows<S: Stored<D>, D: InRows, const GROUPS: usize, const READS: usize>(p: PermuteRows<S>) {
    // SAFETY: the caller's promise.
    let tile = unsafe { fill::<S, D, GROUPS, READS>(&p.data, &p.scaling, p.plane) };
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let item = tile.first_item + lane;
    if item >= p.batch_pitch {
        return;
    }
    let rows_of_channel = p.data.n_samples.div_ceil(D::SAMPLES_PER_ROW);
    let first_row = tile.first_sample / D::SAMPLES_PER_ROW;
    let n_rows = rows_of_channel - first_row;
    // Rows of the tile, from warp to warp.
    let mut row = warp;
    let row_of_all = u64::from(tile.channel_of_all) * u64::from(rows_of_channel) + u64::from(first_row + row);
    let plane_of_all = row_of_all * u64::from(p.n_planes) + p.plane as u64;
    let mut to = plane_of_all * u64::from(p.batch_pitch) + u64::from(item);
    let step = u64::from(THREADS / WARP * p.n_planes) * u64::from(p.batch_pitch);
    while row < tile_samples::<D>() / D::SAMPLES_PER_ROW && row < n_rows {
        // A row of two has no third and fourth.
        let sample = |index: u32| {
            let sample = row * D::SAMPLES_PER_ROW + index.min(D::SAMPLES_PER_ROW - 1);
            // SAFETY: a row of the tile, and one of its items.
            unsafe { tile.word(sample, lane) }
        };
        let samples = [sample(0), sample(1), sample(2), sample(3)];
        // SAFETY: row and item are in range and this thread's.
        unsafe { p.output.store(to, D::row(samples)) };
        row += THREADS / WARP;
        to += step;
    }
}

macro_rules! instances {
    ($($name:ident: $input:ty => $output:ty, $groups:literal of $reads:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// To rows; the types are in the name.
            $name(p: PermuteRows<$input>),
            threads THREADS, blocks 4,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { permute_rows::<$input, $output, $groups, $reads>(p) }
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
    permute_rows_f16: F16 => F16, 2 of 16, 64;
    permute_rows_cf16: Complex<F16> => Complex<F16>, 1 of 16, 42;
    permute_rows_i16_to_f16: i16 => F16, 2 of 16, 64;
    permute_rows_ci16_to_cf16: Complex<i16> => Complex<F16>, 1 of 16, 62;
    permute_rows_f32_to_f16: f32 => F16, 2 of 16, 64;
    permute_rows_cf32_to_cf16: Complex<f32> => Complex<F16>, 1 of 16, 56;
}
