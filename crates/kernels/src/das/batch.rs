//! A group of lanes a voxel (ALG2): samples with the batch innermost, geometry shared by shuffles.
//!
//! Data lie as `(transmit, channel, sample, batch)`, a sample's batch items contiguous and padded to whole vectors of
//! 16 bytes, with rows of zeros before, between and after the channels of each transmit as [`Rows`] says
//! ([`super::permute`] makes them so).
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: four warps, each with `32 / LANES` consecutive voxels |
//! | grid | x: voxels, y: tiles of consecutive batch items, z: parts of the sum |
//! | shared memory, barriers | none |
//! | warp operations | three or four shuffles a channel (up to nine with any taps) and a vote every `LANES`, all 32 lanes in each |
//! | result | every lane writes its batch items of its group's voxel |
//!
//! `LANES` lanes share a voxel. Each finds delay and weight of another channel, and all of them then take one channel
//! after the other from the lane that has it, load both neighbouring samples of their batch items in vectors of
//! 16 bytes, and add. Channels and transmits come in the order of [`super::voxel`], with the same operations for each
//! item: the same bits but for the sign of a sum that underflowed to 0. Channels that do not count (out of range, weight
//! 0, beyond the last) take the zeros, so that nothing else reaches the sum, or are skipped where none of `LANES` counts for
//! any voxel of the warp. Lanes beyond the padded batch read its last vector, or what follows it ([`SLACK_VECTORS`]), groups
//! beyond the last voxel take its position and no channel: neither writes.
//!
//! The samples of two or four channels are requested before the first is used. Branches around the loads of channels that
//! do not count, and predicates on them, made the machine code wait for each channel's samples before it asked for the
//! next one's: hence the zeros. A branch that skips a few channels made it copy every sum: hence one for `LANES`.

use super::geometry::{Entry, Geometry};
use super::output::Output;
use super::sample::{RealOf, Sample, Value};
use cuda_std::half::F16;
use cuda_std::math::i16_pair_to_f32;
use cuda_std::{Global, Parameters, Resources, thread, warp};
use num_complex::Complex;
use wavefield::sampling::{MOST_TAPS, in_range, linear, nearest, taps};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Vectors that the memory of the samples has behind the last row. A lane's second vector is a fixed way behind its first
/// one, so that one address serves both, and may lie behind the row.
pub const SLACK_VECTORS: usize = 16;

/// Rows of zeros in the data of each transmit, a row a sample of all batch items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Rows {
    /// Before the first channel and after each: what taps beyond the recording's ends read.
    pub margin: u32,
    /// After the last channel and its margin: the taps of a channel that does not count.
    pub silence: u32,
}

impl Rows {
    /// For one and two taps, which never leave the recording.
    pub const INSIDE: Self = Self { margin: 0, silence: 2 };

    /// For any number of taps.
    pub const ANY: Self = Self {
        margin: 2,
        silence: MOST_TAPS as u32,
    };

    /// Rows from channel to channel.
    #[inline(always)]
    pub const fn of_channel(self, n_samples: u32) -> u32 {
        n_samples + self.margin
    }

    /// The first row of silence.
    #[inline(always)]
    pub const fn before_silence(self, n_channels: u32, n_samples: u32) -> u32 {
        self.margin + n_channels * self.of_channel(n_samples)
    }

    /// Rows of a transmit.
    #[inline(always)]
    pub const fn of_transmit(self, n_channels: u32, n_samples: u32) -> u64 {
        self.margin as u64 + n_channels as u64 * (n_samples as u64 + self.margin as u64) + self.silence as u64
    }
}

/// Batch items of a broad tile.
pub const BROAD_ITEMS: u32 = 128;

/// Batch items of a wide tile.
pub const WIDE_ITEMS: u32 = 64;

/// Batch items of a narrow tile.
pub const NARROW_ITEMS: u32 = 32;

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DasBatch<S: Sample> {
    /// Channel data, `(transmit, channel, sample, batch)` with the rows of zeros; the batch a whole number of vectors, and
    /// behind all of it [`SLACK_VECTORS`].
    pub samples: Global<S>,
    /// The geometry.
    pub geometry: Geometry<RealOf<S>>,
    /// The result.
    pub output: Output<S::Value>,
    /// The rows of zeros.
    pub rows: Rows,
    /// Batch items in `samples`, padding excluded.
    pub n_batch: u32,
    /// Vectors of 16 bytes in a sample's batch.
    pub n_vectors: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Sample> Parameters for DasBatch<S> {}

/// Samples in a vector of 16 bytes.
pub const fn per_vector<S>() -> usize {
    16 / size_of::<S>()
}

/// A sample type that comes in vectors of 16 bytes.
pub trait Packed: Sample<Value: Shuffle> {
    /// The value of sample `index` of a vector.
    fn value(vector: [u32; 4], index: usize) -> Self::Value;
}

macro_rules! packed {
    ($($stored:ty: $part:expr;)*) => { $(
        impl Packed for $stored {
            #[inline(always)]
            fn value(vector: [u32; 4], index: usize) -> f32 {
                let part: fn([u32; 4], usize) -> f32 = $part;
                part(vector, index)
            }
        }

        impl Packed for Complex<$stored> {
            #[inline(always)]
            fn value(vector: [u32; 4], index: usize) -> Complex<f32> {
                Complex::new(<$stored>::value(vector, 2 * index), <$stored>::value(vector, 2 * index + 1))
            }
        }
    )* };
}

packed! {
    i16: |vector, index| i16_pair_to_f32(vector[index / 2])[index % 2];
    F16: |vector, index| F16::pair_to_f32(vector[index / 2])[index % 2];
    f32: |vector, index| f32::from_bits(vector[index]);
}

/// A weight that lanes can share.
pub trait Shuffle: Value<Real = f32> {
    /// What lane `source` holds.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the warp make this call.
    #[must_use]
    unsafe fn shuffle(self, source: u32) -> Self;
}

impl Shuffle for f32 {
    #[inline(always)]
    unsafe fn shuffle(self, source: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { warp::shuffle_f32(self, source) }
    }
}

impl Shuffle for Complex<f32> {
    #[inline(always)]
    unsafe fn shuffle(self, source: u32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Complex::new(warp::shuffle_f32(self.re, source), warp::shuffle_f32(self.im, source)) }
    }
}

/// Taps of a kernel that takes the interpolation as it comes.
const ANY: usize = 0;

/// What one lane knows of a channel: where its samples are, and what becomes of them.
#[derive(Clone, Copy)]
struct Contribution<V> {
    /// The first tap's vector of the batch's first items, counted from the transmit's; the silence's if it does not
    /// count.
    vector: u32,
    fraction: f32,
    weight: V,
    /// The weights of any number of taps.
    taps: [f32; MOST_TAPS],
}

/// One channel's contribution to one voxel.
///
/// # Safety
///
/// The geometry holds `channel`.
#[inline(always)]
unsafe fn contribution<S: Packed, const N_TAPS: usize>(
    p: &DasBatch<S>,
    silence: u32,
    position: [f32; 3],
    transmit: Entry<f32>,
    channel: u32,
    is_wanted: bool,
) -> Contribution<S::Value> {
    let g = &p.geometry;
    // SAFETY: the caller's promise.
    let (distance, heard) = unsafe { g.receive(position, channel) };
    let delay = distance + transmit.offset;
    let amplitude = transmit.weight * heard;
    if is_wanted && in_range(delay, g.n_samples) && amplitude != 0.0 {
        let mut weights = [0.0; MOST_TAPS];
        let (first, fraction) = match N_TAPS {
            1 => (nearest(delay), 0.0),
            2 => linear(delay),
            _ => {
                let first;
                (first, weights) = taps(g.interpolation, delay);
                (first, 0.0)
            }
        };
        let row = p.rows.margin + channel * p.rows.of_channel(g.n_samples as u32);
        Contribution {
            vector: row.wrapping_add_signed(first) * p.n_vectors,
            fraction,
            weight: S::Value::weight(amplitude, delay, g.turns, transmit.phase),
            taps: weights,
        }
    } else {
        Contribution {
            vector: silence,
            fraction: 0.0,
            weight: S::Value::ZERO,
            taps: [0.0; MOST_TAPS],
        }
    }
}

/// The kernel's body for `N_TAPS` interpolation taps (1: nearest, 2: linear, or any number), `LANES` lanes a voxel, and for each of them
/// `VECTORS` vectors with `ITEMS` batch items in all; `AHEAD` channels' samples are requested together.
///
/// # Safety
///
/// The slices hold what the counts say and the slack, `samples` aligned to 16 bytes; fewer than 2³² vectors a transmit,
/// rows of zeros included; a block of the grid for every tile of the batch.
#[inline(always)]
unsafe fn das_batch<
    S: Packed,
    const N_TAPS: usize,
    const LANES: u32,
    const VECTORS: usize,
    const ITEMS: usize,
    const AHEAD: usize,
>(
    p: DasBatch<S>,
) {
    const {
        assert!(
            ITEMS == VECTORS * per_vector::<S>()
                && (LANES as usize).is_multiple_of(AHEAD)
                && WARP.is_multiple_of(LANES)
                && (VECTORS - 1) * LANES as usize <= SLACK_VECTORS
        );
    };
    let g = p.geometry;
    let member = thread::lane() % LANES;
    let group = thread::lane() - member;
    let warp = thread::block_idx_x() * (THREADS / WARP) + thread::thread_idx_x() / WARP;
    let local = u64::from(warp) * u64::from(WARP / LANES) + u64::from(group / LANES);
    let has_voxel = local < g.n_voxels;
    let voxel = g.first_voxel + local.min(g.n_voxels - 1);
    let first_vector = thread::block_idx_y() * LANES * VECTORS as u32 + member;
    let part = p.output.part(thread::block_idx_z(), g.n_transmits, g.n_channels);
    let silence = p.rows.before_silence(g.n_channels, g.n_samples as u32) * p.n_vectors;
    let vectors_of_transmit = u64::from(silence) + u64::from(p.rows.silence * p.n_vectors);
    // SAFETY: the voxel is one of the pitch's; vectors are aligned and as many as the counts say.
    let (position, first_samples) = unsafe {
        let all = p.samples.cast::<[u32; 4]>();
        let mut samples = [all; VECTORS];
        let first = all.from(u64::from(first_vector.min(p.n_vectors - 1)));
        cuda_std::unroll!(VECTOR in 0..VECTORS {
            samples[VECTOR] = first.from(VECTOR as u64 * u64::from(LANES));
        });
        (g.position(voxel), samples)
    };
    let mut sums = [S::Value::ZERO; ITEMS];
    let [mut entry, end] = g.entries(part.transmits);
    while entry < end {
        // SAFETY: entry and voxel are in range.
        let transmit = unsafe { g.entry(entry, voxel, part.transmits) };
        entry += 1;
        let mut samples = first_samples;
        cuda_std::unroll!(VECTOR in 0..VECTORS {
            // SAFETY: the transmit is in range.
            samples[VECTOR] = unsafe { samples[VECTOR].from(u64::from(transmit.transmit) * vectors_of_transmit) };
        });
        let [mut first_channel, end_channel] = part.channels;
        while first_channel < end_channel {
            let channel = first_channel + member;
            let is_wanted = has_voxel && channel < end_channel;
            // SAFETY: the channel is one of the elements'.
            let own = unsafe {
                let channel = channel.min(end_channel - 1);
                contribution::<S, N_TAPS>(&p, silence, position, transmit, channel, is_wanted)
            };
            // The same in all lanes.
            // SAFETY: nothing above returns, and the loops' counts are the same in all lanes.
            let counts = unsafe { warp::any(own.vector != silence) };
            let mut source = group;
            while counts && source < group + LANES {
                let mut shared = [own; AHEAD];
                cuda_std::unroll!(CHANNEL in 0..AHEAD {
                    let lane = source + CHANNEL as u32;
                    // SAFETY: nothing above returns, and the loops' counts are the same in all lanes.
                    shared[CHANNEL] = unsafe { Contribution {
                        vector: warp::shuffle(own.vector, lane),
                        fraction: if N_TAPS == 2 { warp::shuffle_f32(own.fraction, lane) } else { 0.0 },
                        weight: own.weight.shuffle(lane),
                        taps: own.taps,
                    } };
                });
                // SAFETY: the vectors are of a delay in range or of the silence, and so are the taps after; for any number
                // of taps the rows of zeros hold what lies beyond the ends. All lanes are here.
                unsafe {
                    if N_TAPS == ANY {
                        add_any::<S, VECTORS, ITEMS>(&mut sums, &samples, &p, silence, &shared[0], source);
                    } else {
                        add::<S, N_TAPS, VECTORS, ITEMS, AHEAD>(&mut sums, &samples, p.n_vectors, &shared);
                    }
                }
                source += AHEAD as u32;
            }
            first_channel += LANES;
        }
    }
    if !has_voxel {
        return;
    }
    cuda_std::unroll!(ITEM in 0..ITEMS {
        let vector = first_vector + (ITEM / per_vector::<S>()) as u32 * LANES;
        let item = vector * per_vector::<S>() as u32 + (ITEM % per_vector::<S>()) as u32;
        if item < p.n_batch {
            // SAFETY: item and voxel are in range, and this lane's own.
            unsafe { p.output.write(item, part.number, local, sums[ITEM]) };
        }
    });
}

/// Adds what one channel contributes by any number of taps, whose weights lane `source` has.
///
/// Two taps at a time; one beyond the last reads the silence, so that no sample is multiplied by 0 that is not used.
///
/// # Safety
///
/// The samples hold the channel's taps; all 32 lanes make this call.
#[inline(always)]
unsafe fn add_any<S: Packed, const VECTORS: usize, const ITEMS: usize>(
    sums: &mut [S::Value; ITEMS],
    samples: &[Global<[u32; 4]>; VECTORS],
    p: &DasBatch<S>,
    silence: u32,
    channel: &Contribution<S::Value>,
    source: u32,
) {
    const { assert!(MOST_TAPS == 6) };
    let n_taps = p.geometry.interpolation.taps();
    cuda_std::unroll!(PAIR in [0, 1, 2] {
        if 2 * PAIR < n_taps {
            let first = channel.vector + 2 * PAIR as u32 * p.n_vectors;
            let second = if 2 * PAIR + 1 < n_taps { first + p.n_vectors } else { silence };
            // SAFETY: the count of taps is the same in all lanes; the caller's promise.
            let weights = unsafe {
                [
                    channel.weight.scale(warp::shuffle_f32(channel.taps[2 * PAIR], source)),
                    channel.weight.scale(warp::shuffle_f32(channel.taps[2 * PAIR + 1], source)),
                ]
            };
            let mut vectors = [[[0_u32; 4]; 2]; VECTORS];
            cuda_std::unroll!(VECTOR in 0..VECTORS {
                // SAFETY: the caller's promise.
                vectors[VECTOR] = unsafe {
                    [samples[VECTOR].load(u64::from(first)), samples[VECTOR].load(u64::from(second))]
                };
            });
            cuda_std::unroll!(ITEM in 0..ITEMS {
                let (vector, index) = (ITEM / per_vector::<S>(), ITEM % per_vector::<S>());
                sums[ITEM] = sums[ITEM]
                    .accumulate(weights[0], S::value(vectors[vector][0], index))
                    .accumulate(weights[1], S::value(vectors[vector][1], index));
            });
        }
    });
}

/// Adds what `AHEAD` channels contribute to a lane's batch items.
///
/// # Safety
///
/// The samples hold each channel's vector, and for two taps the one `n_vectors` further.
#[inline(always)]
unsafe fn add<S: Packed, const N_TAPS: usize, const VECTORS: usize, const ITEMS: usize, const AHEAD: usize>(
    sums: &mut [S::Value; ITEMS],
    samples: &[Global<[u32; 4]>; VECTORS],
    n_vectors: u32,
    channels: &[Contribution<S::Value>; AHEAD],
) {
    let mut taps = [[[[0_u32; 4]; N_TAPS]; VECTORS]; AHEAD];
    cuda_std::unroll!(CHANNEL in 0..AHEAD {
        let vector = u64::from(channels[CHANNEL].vector);
        cuda_std::unroll!(VECTOR in 0..VECTORS {
            // SAFETY: the caller's promise.
            unsafe {
                taps[CHANNEL][VECTOR][0] = samples[VECTOR].load(vector);
                if N_TAPS == 2 {
                    taps[CHANNEL][VECTOR][N_TAPS - 1] = samples[VECTOR].from(u64::from(n_vectors)).load(vector);
                }
            }
        });
    });
    cuda_std::unroll!(CHANNEL in 0..AHEAD {
        let Contribution { fraction, weight, .. } = channels[CHANNEL];
        cuda_std::unroll!(ITEM in 0..ITEMS {
            let (vector, index) = (ITEM / per_vector::<S>(), ITEM % per_vector::<S>());
            let value = S::value(taps[CHANNEL][vector][0], index);
            let value = if N_TAPS == 1 {
                value
            } else {
                value.interpolate(S::value(taps[CHANNEL][vector][N_TAPS - 1], index), fraction)
            };
            sums[ITEM] = sums[ITEM].accumulate(weight, value);
        });
    });
}

/// Samples that a value is interpolated from.
pub use super::voxel::Taps;

const ONE: usize = 1;
const TWO: usize = 2;

/// Batch items that a warp works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// [`BROAD_ITEMS`]; for complex samples of 16 bits, whose geometry and shuffles weigh most.
    Broad,
    /// [`WIDE_ITEMS`].
    Wide,
    /// [`NARROW_ITEMS`], for twice as many voxels.
    Narrow,
}

impl Tile {
    /// Its batch items.
    pub const fn items(self) -> u32 {
        match self {
            Self::Broad => BROAD_ITEMS,
            Self::Wide => WIDE_ITEMS,
            Self::Narrow => NARROW_ITEMS,
        }
    }
}

macro_rules! instances {
    ($($stored:ty { $(
        $name:ident: $taps:ident $n_taps:ident, $tile:ident $lanes:literal lanes of $items:literal in $vectors:literal,
        ahead $ahead:literal, $blocks:literal blocks, $registers:literal, $shuffles:literal;
    )* })*) => {
        cuda_std::kernels! { $($(
            /// A group of lanes a voxel; sample type, interpolation and batch tile are in the name.
            $name(p: DasBatch<$stored>),
            threads THREADS, blocks $blocks,
            resources Resources {
                registers: $registers,
                barriers: 0,
                warp_operations: $shuffles,
                matrix_operations: 0,
            },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_batch::<$stored, $n_taps, $lanes, $vectors, $items, $ahead>(p) }
            }
        )*)* }

        cuda_std::on_host! { $(
            impl Instances for $stored {
                fn kernel(taps: Taps, tile: Tile) -> Option<cuda_std::Kernel<DasBatch<Self>>> {
                    $(const { assert!($lanes * $items == Tile::$tile.items()) };)*
                    #[allow(unreachable_patterns, reason = "some types have every tile")]
                    match (taps, tile) {
                        $((Taps::$taps, Tile::$tile) => Some($name),)*
                        _ => None,
                    }
                }

                fn voxels_per_block(tile: Tile) -> u32 {
                    #[allow(unreachable_patterns, reason = "the same for every interpolation; some types have every tile")]
                    match tile {
                        $(Tile::$tile => THREADS / $lanes,)*
                        _ => THREADS,
                    }
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// Whether there are kernels for a sample type.
    pub fn has_kernels<S: Instances>() -> bool {
        S::kernel(Taps::Two, Tile::Wide).is_some()
    }

    /// A sample type, and this family's kernels for it.
    pub trait Instances: Sample {
        /// The kernel for this interpolation and tile; there is none for double precision, and not every tile.
        fn kernel(taps: Taps, tile: Tile) -> Option<cuda_std::Kernel<DasBatch<Self>>>;

        /// Voxels that a block of that kernel works on.
        fn voxels_per_block(tile: Tile) -> u32;
    }

    impl Instances for f64 {
        fn kernel(_: Taps, _: Tile) -> Option<cuda_std::Kernel<DasBatch<Self>>> {
            None
        }

        fn voxels_per_block(_: Tile) -> u32 {
            THREADS
        }
    }

    impl Instances for Complex<f64> {
        fn kernel(_: Taps, _: Tile) -> Option<cuda_std::Kernel<DasBatch<Self>>> {
            None
        }

        fn voxels_per_block(_: Tile) -> u32 {
            THREADS
        }
    }
}

instances! {
    i16 {
        das_batch_i16_linear_wide: Two TWO, Wide 8 lanes of 8 in 1, ahead 4, 6 blocks, 95, 13;
        das_batch_i16_linear_narrow: Two TWO, Narrow 4 lanes of 8 in 1, ahead 4, 6 blocks, 91, 13;
        das_batch_i16_nearest_wide: One ONE, Wide 8 lanes of 8 in 1, ahead 4, 6 blocks, 72, 9;
        das_batch_i16_nearest_narrow: One ONE, Narrow 4 lanes of 8 in 1, ahead 4, 6 blocks, 71, 9;
        das_batch_i16_any_narrow: Any ANY, Narrow 4 lanes of 8 in 1, ahead 1, 6 blocks, 71, 9;
    }
    F16 {
        das_batch_f16_linear_wide: Two TWO, Wide 8 lanes of 8 in 1, ahead 4, 6 blocks, 101, 13;
        das_batch_f16_linear_narrow: Two TWO, Narrow 4 lanes of 8 in 1, ahead 4, 6 blocks, 96, 13;
        das_batch_f16_nearest_wide: One ONE, Wide 8 lanes of 8 in 1, ahead 4, 6 blocks, 92, 17;
        das_batch_f16_nearest_narrow: One ONE, Narrow 4 lanes of 8 in 1, ahead 4, 6 blocks, 72, 9;
        das_batch_f16_any_narrow: Any ANY, Narrow 4 lanes of 8 in 1, ahead 1, 6 blocks, 70, 9;
    }
    f32 {
        das_batch_f32_linear_wide: Two TWO, Wide 16 lanes of 4 in 1, ahead 4, 6 blocks, 90, 13;
        das_batch_f32_linear_narrow: Two TWO, Narrow 8 lanes of 4 in 1, ahead 4, 6 blocks, 120, 25;
        das_batch_f32_nearest_wide: One ONE, Wide 16 lanes of 4 in 1, ahead 4, 5 blocks, 128, 33;
        das_batch_f32_nearest_narrow: One ONE, Narrow 8 lanes of 4 in 1, ahead 4, 6 blocks, 92, 17;
        das_batch_f32_any_narrow: Any ANY, Narrow 8 lanes of 4 in 1, ahead 1, 6 blocks, 64, 9;
    }
    Complex<i16> {
        das_batch_ci16_linear_broad: Two TWO, Broad 16 lanes of 8 in 2, ahead 2, 5 blocks, 116, 9;
        das_batch_ci16_nearest_broad: One ONE, Broad 16 lanes of 8 in 2, ahead 4, 6 blocks, 118, 13;
        das_batch_ci16_linear_wide: Two TWO, Wide 16 lanes of 4 in 1, ahead 4, 6 blocks, 106, 17;
        das_batch_ci16_linear_narrow: Two TWO, Narrow 8 lanes of 4 in 1, ahead 4, 6 blocks, 106, 17;
        das_batch_ci16_nearest_wide: One ONE, Wide 16 lanes of 4 in 1, ahead 4, 6 blocks, 79, 13;
        das_batch_ci16_nearest_narrow: One ONE, Narrow 8 lanes of 4 in 1, ahead 4, 6 blocks, 79, 13;
        das_batch_ci16_any_narrow: Any ANY, Narrow 8 lanes of 4 in 1, ahead 1, 6 blocks, 79, 10;
    }
    Complex<F16> {
        das_batch_cf16_linear_broad: Two TWO, Broad 16 lanes of 8 in 2, ahead 2, 6 blocks, 116, 9;
        das_batch_cf16_nearest_broad: One ONE, Broad 16 lanes of 8 in 2, ahead 4, 6 blocks, 110, 13;
        das_batch_cf16_linear_wide: Two TWO, Wide 16 lanes of 4 in 1, ahead 4, 6 blocks, 107, 17;
        das_batch_cf16_linear_narrow: Two TWO, Narrow 8 lanes of 4 in 1, ahead 4, 6 blocks, 107, 17;
        das_batch_cf16_nearest_wide: One ONE, Wide 16 lanes of 4 in 1, ahead 4, 6 blocks, 79, 13;
        das_batch_cf16_nearest_narrow: One ONE, Narrow 8 lanes of 4 in 1, ahead 4, 6 blocks, 79, 13;
        das_batch_cf16_any_narrow: Any ANY, Narrow 8 lanes of 4 in 1, ahead 1, 6 blocks, 80, 10;
    }
    Complex<f32> {
        das_batch_cf32_linear_wide: Two TWO, Wide 16 lanes of 4 in 2, ahead 4, 5 blocks, 128, 17;
        das_batch_cf32_linear_narrow: Two TWO, Narrow 8 lanes of 4 in 2, ahead 4, 5 blocks, 128, 17;
        das_batch_cf32_nearest_wide: One ONE, Wide 16 lanes of 4 in 2, ahead 4, 5 blocks, 96, 13;
        das_batch_cf32_nearest_narrow: One ONE, Narrow 8 lanes of 4 in 2, ahead 4, 5 blocks, 96, 13;
        das_batch_cf32_any_narrow: Any ANY, Narrow 8 lanes of 4 in 2, ahead 1, 5 blocks, 83, 10;
    }
}
