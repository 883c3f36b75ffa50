//! A group of lanes a voxel (ALG2): samples with the batch innermost, geometry shared by shuffles.
//!
//! The sum is the module's. Data lie as `(transmit, channel, sample, batch)`, a sample's batch items contiguous and
//! padded to whole vectors of 16 bytes, with [`SILENCE`] samples of zeros after the last channel of each transmit
//! ([`super::permute`] makes them so).
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: four warps, each with `32 / LANES` consecutive voxels |
//! | grid | x: voxels, y: tiles of consecutive batch items |
//! | shared memory, barriers | none |
//! | warp operations | up to four shuffles a channel and a vote every `LANES`, all 32 lanes in each |
//! | result | every lane writes its batch items of its group's voxel |
//!
//! `LANES` lanes share a voxel. Each finds delay and weight of another channel, and all of them then take one channel
//! after the other from the lane that has it, load both neighbouring samples of their batch items in vectors of
//! 16 bytes, and add. Channels and transmits come in the order of [`super::voxel`], with the same operations for each
//! item: the same bits but for the sign of a sum that underflowed to 0. Channels that do not count (out of range, weight
//! 0, beyond the last) take the zeros, so that nothing else reaches the sum, or are skipped where none of `LANES` counts for
//! any voxel of the warp. Lanes beyond the padded batch read its last vector, groups beyond the
//! last voxel take its position and no channel: neither writes.
//!
//! The samples of two or four channels are requested before the first is used. Branches around the loads of channels that
//! do not count, and predicates on them, made the machine code wait for each channel's samples before it asked for the
//! next one's: hence the zeros. A branch that skips a few channels made it copy every sum: hence one for `LANES`.

use super::sample::{RealOf, Sample, Value};
use cuda_std::half::F16;
use cuda_std::math::i16_pair_to_f32;
use cuda_std::{Global, GlobalMut, Parameters, Resources, thread, warp};
use num_complex::Complex;
use wavefield::aperture::{Aperture, receive_weight};
use wavefield::geometry::length;
use wavefield::phase::TurnsPerSample;
use wavefield::sampling::{in_range, linear, nearest};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Samples of zeros after the last channel of each transmit: the taps of a channel that does not count.
pub const SILENCE: u32 = 2;

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
    /// Channel data, `(transmit, channel, sample, batch)`, contiguous but for the silence after each transmit; the batch
    /// a whole number of vectors.
    pub samples: Global<S>,
    /// Two pairs an element: x and y, z and nothing.
    pub elements: Global<[RealOf<S>; 2]>,
    /// Two pairs an element: the unit normal's x and y, its z and the cosine bound; empty if all elements hear alike.
    pub normals: Global<[RealOf<S>; 2]>,
    /// Voxel positions, `(3, voxel)`.
    pub voxels: Global<RealOf<S>>,
    /// Transmit offsets, `(transmit, voxel)`.
    pub offsets: Global<RealOf<S>>,
    /// Transmit weights, `(transmit, voxel)`.
    pub weights: Global<RealOf<S>>,
    /// Phase offsets in turns, `(transmit,)`.
    pub phases: Global<RealOf<S>>,
    /// The result, `(batch, voxel)`, from `first_voxel` on.
    pub output: GlobalMut<S::Value>,
    /// Voxels in the voxel arrays.
    pub voxel_pitch: u64,
    /// The first voxel of this launch.
    pub first_voxel: u64,
    /// Voxels of this launch; also the output's batch stride.
    pub n_voxels: u64,
    /// The receive aperture.
    pub aperture: Aperture<RealOf<S>>,
    /// The carrier.
    pub turns: TurnsPerSample<RealOf<S>>,
    /// Samples a channel.
    pub n_samples: i32,
    /// Receive channels.
    pub n_channels: u32,
    /// Transmits.
    pub n_transmits: u32,
    /// Batch items in `samples`, padding excluded.
    pub n_batch: u32,
    /// Vectors of 16 bytes in a sample's batch.
    pub n_vectors: u32,
    /// The output's batch item that the first one in `samples` is.
    pub first_item: u32,
    /// 1 if `normals` holds something.
    pub is_directive: u32,
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

/// What one lane knows of a channel: where its samples are, and what becomes of them.
#[derive(Clone, Copy)]
struct Contribution<V> {
    /// The first tap's vector of the batch's first items, counted from the transmit's; the silence's if it does not
    /// count.
    vector: u32,
    fraction: f32,
    weight: V,
}

/// The first vector of a transmit's silence.
#[inline(always)]
fn silence<S: Sample>(p: &DasBatch<S>) -> u32 {
    p.n_channels * p.n_samples as u32 * p.n_vectors
}

/// One channel's contribution to one voxel.
///
/// # Safety
///
/// The slices hold `channel`.
#[inline(always)]
unsafe fn contribution<S: Packed, const TAPS: usize>(
    p: &DasBatch<S>,
    position: [f32; 3],
    [offset, weight, phase]: [f32; 3],
    channel: u32,
    is_wanted: bool,
) -> Contribution<S::Value> {
    // SAFETY: two pairs an element.
    let ([x, y], [z, _]) = unsafe {
        (
            p.elements.load(2 * u64::from(channel)),
            p.elements.load(2 * u64::from(channel) + 1),
        )
    };
    let from_element = [position[0] - x, position[1] - y, position[2] - z];
    let distance = length(from_element);
    let delay = distance + offset;
    let mut amplitude = weight;
    if p.is_directive != 0 {
        // SAFETY: as above.
        let ([x, y], [z, bound]) = unsafe {
            (
                p.normals.load(2 * u64::from(channel)),
                p.normals.load(2 * u64::from(channel) + 1),
            )
        };
        amplitude *= receive_weight(from_element, distance, [x, y, z], bound, &p.aperture);
    }
    if is_wanted && in_range(delay, p.n_samples) && amplitude != 0.0 {
        let (first, fraction) = if TAPS == 1 {
            (nearest(delay), 0.0)
        } else {
            linear(delay)
        };
        Contribution {
            vector: (channel * p.n_samples as u32 + first as u32) * p.n_vectors,
            fraction,
            weight: S::Value::weight(amplitude, delay, p.turns, phase),
        }
    } else {
        Contribution {
            vector: silence(p),
            fraction: 0.0,
            weight: S::Value::ZERO,
        }
    }
}

/// The kernel's body for `TAPS` interpolation taps (1: nearest, 2: linear), `LANES` lanes a voxel, and for each of them
/// `VECTORS` vectors with `ITEMS` batch items in all; `AHEAD` channels' samples are requested together.
///
/// # Safety
///
/// The slices hold what the counts say, `samples` aligned to 16 bytes; fewer than 2³² vectors a transmit, silence included; a block of
/// the grid for every tile of the batch.
#[inline(always)]
unsafe fn das_batch<
    S: Packed,
    const TAPS: usize,
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
        );
    };
    let member = thread::lane() % LANES;
    let group = thread::lane() - member;
    let warp = thread::block_idx_x() * (THREADS / WARP) + thread::thread_idx_x() / WARP;
    let local = u64::from(warp) * u64::from(WARP / LANES) + u64::from(group / LANES);
    let has_voxel = local < p.n_voxels;
    let voxel = p.first_voxel + local.min(p.n_voxels - 1);
    let first_vector = thread::block_idx_y() * LANES * VECTORS as u32 + member;
    // SAFETY: the voxel is one of the pitch's; vectors are aligned and as many as the counts say.
    let (position, mut samples) = unsafe {
        let all = p.samples.cast::<[u32; 4]>();
        let mut samples = [all; VECTORS];
        cuda_std::unroll!(VECTOR in 0..VECTORS {
            let vector = first_vector + VECTOR as u32 * LANES;
            samples[VECTOR] = all.from(u64::from(vector.min(p.n_vectors - 1)));
        });
        (
            [
                p.voxels.load(voxel),
                p.voxels.load(p.voxel_pitch + voxel),
                p.voxels.load(2 * p.voxel_pitch + voxel),
            ],
            samples,
        )
    };
    let mut sums = [S::Value::ZERO; ITEMS];
    for transmit in 0..p.n_transmits {
        let at = u64::from(transmit) * p.voxel_pitch + voxel;
        // SAFETY: transmit and voxel are in range.
        let of_transmit = unsafe {
            [
                p.offsets.load(at),
                p.weights.load(at),
                p.phases.load(u64::from(transmit)),
            ]
        };
        let mut first_channel = 0;
        while first_channel < p.n_channels {
            let channel = first_channel + member;
            let is_wanted = has_voxel && channel < p.n_channels;
            // SAFETY: the channel is one of the elements'.
            let own =
                unsafe { contribution::<S, TAPS>(&p, position, of_transmit, channel.min(p.n_channels - 1), is_wanted) };
            // The same in all lanes.
            // SAFETY: nothing above returns, and the loops' counts are the same in all lanes.
            let counts = unsafe { warp::any(own.vector != silence(&p)) };
            let mut source = group;
            while counts && source < group + LANES {
                let mut shared = [own; AHEAD];
                cuda_std::unroll!(CHANNEL in 0..AHEAD {
                    let lane = source + CHANNEL as u32;
                    // SAFETY: nothing above returns, and the loops' counts are the same in all lanes.
                    shared[CHANNEL] = unsafe { Contribution {
                        vector: warp::shuffle(own.vector, lane),
                        fraction: if TAPS == 1 { 0.0 } else { warp::shuffle_f32(own.fraction, lane) },
                        weight: own.weight.shuffle(lane),
                    } };
                });
                source += AHEAD as u32;
                // SAFETY: the vectors are of a delay in range or of the silence, and so is the tap after.
                unsafe { add::<S, TAPS, VECTORS, ITEMS, AHEAD>(&mut sums, &samples, p.n_vectors, &shared) };
            }
            first_channel += LANES;
        }
        let vectors_of_transmit = u64::from(silence(&p) + SILENCE * p.n_vectors);
        if transmit + 1 < p.n_transmits {
            cuda_std::unroll!(VECTOR in 0..VECTORS {
                // SAFETY: there is another transmit.
                samples[VECTOR] = unsafe { samples[VECTOR].from(vectors_of_transmit) };
            });
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
            unsafe { p.output.store(u64::from(p.first_item + item) * p.n_voxels + local, sums[ITEM]) };
        }
    });
}

/// Adds what `AHEAD` channels contribute to a lane's batch items.
///
/// # Safety
///
/// The samples hold each channel's vector, and for two taps the one `n_vectors` further.
#[inline(always)]
unsafe fn add<S: Packed, const TAPS: usize, const VECTORS: usize, const ITEMS: usize, const AHEAD: usize>(
    sums: &mut [S::Value; ITEMS],
    samples: &[Global<[u32; 4]>; VECTORS],
    n_vectors: u32,
    channels: &[Contribution<S::Value>; AHEAD],
) {
    let mut taps = [[[[0_u32; 4]; TAPS]; VECTORS]; AHEAD];
    cuda_std::unroll!(CHANNEL in 0..AHEAD {
        let vector = u64::from(channels[CHANNEL].vector);
        cuda_std::unroll!(VECTOR in 0..VECTORS {
            // SAFETY: the caller's promise.
            unsafe {
                taps[CHANNEL][VECTOR][0] = samples[VECTOR].load(vector);
                if TAPS == 2 {
                    taps[CHANNEL][VECTOR][TAPS - 1] = samples[VECTOR].from(u64::from(n_vectors)).load(vector);
                }
            }
        });
    });
    cuda_std::unroll!(CHANNEL in 0..AHEAD {
        let Contribution { fraction, weight, .. } = channels[CHANNEL];
        cuda_std::unroll!(ITEM in 0..ITEMS {
            let (vector, index) = (ITEM / per_vector::<S>(), ITEM % per_vector::<S>());
            let value = S::value(taps[CHANNEL][vector][0], index);
            let value = if TAPS == 1 {
                value
            } else {
                value.interpolate(S::value(taps[CHANNEL][vector][TAPS - 1], index), fraction)
            };
            sums[ITEM] = sums[ITEM].accumulate(weight, value);
        });
    });
}

/// Samples that a value is interpolated from.
pub use super::voxel::Taps;

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
        $name:ident: $taps:ident $n_taps:literal, $tile:ident $lanes:literal lanes of $items:literal in $vectors:literal,
        ahead $ahead:literal, $registers:literal, $shuffles:literal;
    )* })*) => {
        cuda_std::kernels! { $($(
            /// A group of lanes a voxel; sample type, interpolation and batch tile are in the name.
            $name(p: DasBatch<$stored>),
            threads THREADS, blocks 1,
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
        das_batch_i16_linear_wide: Two 2, Wide 8 lanes of 8 in 1, ahead 4, 96, 13;
        das_batch_i16_linear_narrow: Two 2, Narrow 4 lanes of 8 in 1, ahead 4, 92, 13;
        das_batch_i16_nearest_wide: One 1, Wide 8 lanes of 8 in 1, ahead 4, 64, 9;
        das_batch_i16_nearest_narrow: One 1, Narrow 4 lanes of 8 in 1, ahead 4, 64, 9;
    }
    F16 {
        das_batch_f16_linear_wide: Two 2, Wide 8 lanes of 8 in 1, ahead 4, 96, 13;
        das_batch_f16_linear_narrow: Two 2, Narrow 4 lanes of 8 in 1, ahead 4, 93, 13;
        das_batch_f16_nearest_wide: One 1, Wide 8 lanes of 8 in 1, ahead 4, 80, 17;
        das_batch_f16_nearest_narrow: One 1, Narrow 4 lanes of 8 in 1, ahead 4, 61, 9;
    }
    f32 {
        das_batch_f32_linear_wide: Two 2, Wide 16 lanes of 4 in 1, ahead 4, 80, 13;
        das_batch_f32_linear_narrow: Two 2, Narrow 8 lanes of 4 in 1, ahead 4, 112, 25;
        das_batch_f32_nearest_wide: One 1, Wide 16 lanes of 4 in 1, ahead 4, 128, 33;
        das_batch_f32_nearest_narrow: One 1, Narrow 8 lanes of 4 in 1, ahead 4, 80, 17;
    }
    Complex<i16> {
        das_batch_ci16_linear_broad: Two 2, Broad 16 lanes of 8 in 2, ahead 2, 116, 9;
        das_batch_ci16_nearest_broad: One 1, Broad 16 lanes of 8 in 2, ahead 4, 96, 13;
        das_batch_ci16_linear_wide: Two 2, Wide 16 lanes of 4 in 1, ahead 4, 102, 17;
        das_batch_ci16_linear_narrow: Two 2, Narrow 8 lanes of 4 in 1, ahead 4, 102, 17;
        das_batch_ci16_nearest_wide: One 1, Wide 16 lanes of 4 in 1, ahead 4, 72, 13;
        das_batch_ci16_nearest_narrow: One 1, Narrow 8 lanes of 4 in 1, ahead 4, 72, 13;
    }
    Complex<F16> {
        das_batch_cf16_linear_broad: Two 2, Broad 16 lanes of 8 in 2, ahead 2, 112, 9;
        das_batch_cf16_nearest_broad: One 1, Broad 16 lanes of 8 in 2, ahead 4, 96, 13;
        das_batch_cf16_linear_wide: Two 2, Wide 16 lanes of 4 in 1, ahead 4, 102, 17;
        das_batch_cf16_linear_narrow: Two 2, Narrow 8 lanes of 4 in 1, ahead 4, 102, 17;
        das_batch_cf16_nearest_wide: One 1, Wide 16 lanes of 4 in 1, ahead 4, 72, 13;
        das_batch_cf16_nearest_narrow: One 1, Narrow 8 lanes of 4 in 1, ahead 4, 72, 13;
    }
    Complex<f32> {
        das_batch_cf32_linear_wide: Two 2, Wide 16 lanes of 4 in 2, ahead 4, 127, 17;
        das_batch_cf32_linear_narrow: Two 2, Narrow 8 lanes of 4 in 2, ahead 4, 127, 17;
        das_batch_cf32_nearest_wide: One 1, Wide 16 lanes of 4 in 2, ahead 4, 94, 13;
        das_batch_cf32_nearest_narrow: One 1, Narrow 8 lanes of 4 in 2, ahead 4, 94, 13;
    }
}
