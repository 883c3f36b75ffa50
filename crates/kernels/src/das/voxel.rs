//! A thread a voxel (ALG1): samples in the order they come in, geometry in the kernel.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads, consecutive voxels |
//! | grid | x: voxels, y: tiles of consecutive batch items |
//! | shared memory, barriers | none |
//! | result | every thread writes its voxel for each batch item of its tile |
//!
//! A thread computes delay and weight once and uses them for all batch items of its tile. An item beyond the batch
//! reads the last one's samples and writes nothing, so the tail costs no branch. Samples are read only where they
//! count: in range, and with a weight other than 0.

use super::sample::{RealOf, Sample, Value};
use cuda_std::half::F16;
use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut, Parameters, Resources, thread};
use num_complex::Complex;
use wavefield::aperture::{Aperture, receive_weight};
use wavefield::geometry::length;
use wavefield::phase::TurnsPerSample;
use wavefield::sampling::{in_range, linear, nearest};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DasVoxel<S: Sample> {
    /// Channel data; samples contiguous, the other axes by their strides.
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
    /// Samples between two batch items.
    pub batch_stride: u64,
    /// Samples between two transmits.
    pub transmit_stride: u64,
    /// Samples between two channels.
    pub channel_stride: u64,
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
    /// Batch items.
    pub n_batch: u32,
    /// The first batch item of this launch.
    pub first_item: u32,
    /// 1 if `normals` holds something.
    pub is_directive: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Sample> Parameters for DasVoxel<S> {}

/// The kernel's body for `TAPS` interpolation taps (1: nearest, 2: linear) and tiles of `TILE` batch items.
///
/// # Safety
///
/// The slices hold what the strides and counts say; `(TILE − 1) · batch_stride` fits into 32 bits; a block of the grid
/// for every tile of the batch.
#[inline(always)]
unsafe fn das_voxel<S: Sample, const TAPS: usize, const TILE: usize>(p: DasVoxel<S>) {
    let local = u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
    if local >= p.n_voxels {
        return;
    }
    let voxel = p.first_voxel + local;
    let first_item = p.first_item + thread::block_idx_y() * TILE as u32;
    let last_item = p.n_batch - 1 - first_item;
    let mut items = [0_u32; TILE];
    cuda_std::unroll!(ITEM in 0..TILE {
        items[ITEM] = (ITEM as u32).min(last_item) * p.batch_stride as u32;
    });
    // SAFETY: the voxel is one of the pitch's, the item one of the batch's.
    let (position, batch) = unsafe {
        (
            [
                p.voxels.load(voxel),
                p.voxels.load(p.voxel_pitch + voxel),
                p.voxels.load(2 * p.voxel_pitch + voxel),
            ],
            p.samples.from(u64::from(first_item) * p.batch_stride),
        )
    };
    let mut sums = [S::Value::ZERO; TILE];
    for transmit in 0..p.n_transmits {
        let at = u64::from(transmit) * p.voxel_pitch + voxel;
        // SAFETY: transmit and voxel are in range.
        let (offset, weight, phase, samples) = unsafe {
            (
                p.offsets.load(at),
                p.weights.load(at),
                p.phases.load(u64::from(transmit)),
                batch.from(u64::from(transmit) * p.transmit_stride),
            )
        };
        for channel in 0..p.n_channels {
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
                amplitude = amplitude * receive_weight(from_element, distance, [x, y, z], bound, &p.aperture);
            }
            if in_range(delay, p.n_samples) && amplitude != <RealOf<S> as Real>::ZERO {
                let weight = S::Value::weight(amplitude, delay, p.turns, phase);
                let (first, fraction) = if TAPS == 1 {
                    (nearest(delay), <RealOf<S> as Real>::ZERO)
                } else {
                    linear(delay)
                };
                // SAFETY: 0 ≤ first, and first + TAPS ≤ samples, because the delay is in range.
                unsafe {
                    let taps = samples.from(u64::from(channel) * p.channel_stride).from(first as u64);
                    // All loads before the first use, so that they are in flight together.
                    let mut values = [(S::Value::ZERO, S::Value::ZERO); TILE];
                    cuda_std::unroll!(ITEM in 0..TILE {
                        let item = u64::from(items[ITEM]);
                        values[ITEM].0 = taps.load(item).widen();
                        if TAPS == 2 {
                            values[ITEM].1 = taps.load(item + 1).widen();
                        }
                    });
                    cuda_std::unroll!(ITEM in 0..TILE {
                        let (value, next) = values[ITEM];
                        let value = if TAPS == 1 { value } else { value.interpolate(next, fraction) };
                        sums[ITEM] = sums[ITEM].accumulate(weight, value);
                    });
                }
            }
        }
    }
    cuda_std::unroll!(ITEM in 0..TILE {
        if ITEM as u32 <= last_item {
            // SAFETY: item and voxel are in range, and this thread's own.
            unsafe { p.output.store(u64::from(first_item + ITEM as u32) * p.n_voxels + local, sums[ITEM]) };
        }
    });
}

macro_rules! instances {
    ($($stored:ty { $($name:ident: $taps:ident $n_taps:literal, $tile:ident $n_items:literal, $registers:literal;)* })*) => {
        cuda_std::kernels! { $($(
            /// A voxel a thread; sample type, interpolation and batch tile are in the name.
            $name(p: DasVoxel<$stored>),
            threads THREADS, blocks 1,
            resources Resources { registers: $registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_voxel::<$stored, $n_taps, $n_items>(p) }
            }
        )*)* }

        cuda_std::on_host! { $(
            impl Instances for $stored {
                fn kernel(taps: Taps, tile: Tile) -> cuda_std::Kernel<DasVoxel<Self>> {
                    match (taps, tile) {
                        $((Taps::$taps, Tile::$tile) => $name,)*
                    }
                }
            }
        )* }
    };
}

/// Samples that a value is interpolated from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taps {
    /// The nearest one.
    One,
    /// The two neighbours.
    Two,
}

/// Batch items that a thread works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// One.
    One,
    /// [`ITEMS`].
    Many,
}

/// Batch items of a tile of many.
pub const ITEMS: u32 = 8;

cuda_std::on_host! {
    /// A sample type that this family has kernels for.
    pub trait Instances: Sample {
        /// The kernel for this interpolation and tile.
        fn kernel(taps: Taps, tile: Tile) -> cuda_std::Kernel<DasVoxel<Self>>;
    }
}

instances! {
    i16 {
        das_voxel_i16_linear_b1: Two 2, One 1, 31;
        das_voxel_i16_linear_b8: Two 2, Many 8, 72;
        das_voxel_i16_nearest_b1: One 1, One 1, 31;
        das_voxel_i16_nearest_b8: One 1, Many 8, 64;
    }
    F16 {
        das_voxel_f16_linear_b1: Two 2, One 1, 31;
        das_voxel_f16_linear_b8: Two 2, Many 8, 66;
        das_voxel_f16_nearest_b1: One 1, One 1, 31;
        das_voxel_f16_nearest_b8: One 1, Many 8, 63;
    }
    f32 {
        das_voxel_f32_linear_b1: Two 2, One 1, 31;
        das_voxel_f32_linear_b8: Two 2, Many 8, 72;
        das_voxel_f32_nearest_b1: One 1, One 1, 31;
        das_voxel_f32_nearest_b8: One 1, Many 8, 63;
    }
    f64 {
        das_voxel_f64_linear_b1: Two 2, One 1, 48;
        das_voxel_f64_linear_b8: Two 2, Many 8, 110;
        das_voxel_f64_nearest_b1: One 1, One 1, 52;
        das_voxel_f64_nearest_b8: One 1, Many 8, 83;
    }
    Complex<i16> {
        das_voxel_ci16_linear_b1: Two 2, One 1, 32;
        das_voxel_ci16_linear_b8: Two 2, Many 8, 94;
        das_voxel_ci16_nearest_b1: One 1, One 1, 32;
        das_voxel_ci16_nearest_b8: One 1, Many 8, 75;
    }
    Complex<F16> {
        das_voxel_cf16_linear_b1: Two 2, One 1, 32;
        das_voxel_cf16_linear_b8: Two 2, Many 8, 80;
        das_voxel_cf16_nearest_b1: One 1, One 1, 32;
        das_voxel_cf16_nearest_b8: One 1, Many 8, 74;
    }
    Complex<f32> {
        das_voxel_cf32_linear_b1: Two 2, One 1, 32;
        das_voxel_cf32_linear_b8: Two 2, Many 8, 96;
        das_voxel_cf32_nearest_b1: One 1, One 1, 32;
        das_voxel_cf32_nearest_b8: One 1, Many 8, 75;
    }
    Complex<f64> {
        das_voxel_cf64_linear_b1: Two 2, One 1, 54;
        das_voxel_cf64_linear_b8: Two 2, Many 8, 159;
        das_voxel_cf64_nearest_b1: One 1, One 1, 56;
        das_voxel_cf64_nearest_b8: One 1, Many 8, 123;
    }
}
