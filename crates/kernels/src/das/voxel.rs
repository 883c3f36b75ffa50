//! A thread a voxel (ALG1): samples in the order they come in, geometry in the kernel.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads, consecutive voxels |
//! | grid | x: voxels, y: tiles of consecutive batch items, z: parts of the sum |
//! | shared memory, barriers | none |
//! | result | every thread writes its voxel for each batch item of its tile |
//!
//! [`Tile::Items`] and [`Tile::Item`]: a thread computes delay and weight once and uses them for all batch items of its
//! tile. An item beyond the batch reads the last one's samples and writes nothing, so the tail costs no branch. Both give
//! the same bits.
//!
//! [`Tile::Transmits`], for few batch items: a thread finds the distance to an element once for several transmits of one
//! item. The carrier's phase is that of the distance, common to the transmits, times that of each transmit's offset, which
//! comes in at the end.
//!
//! Samples are used only where they count: in range, and with a weight other than 0.

use super::geometry::Geometry;
use super::output::{Items, Output};
use super::sample::{RealOf, Sample, Value};
use cuda_std::half::F16;
use cuda_std::math::Real;
use cuda_std::{Global, Parameters, Resources, thread};
use num_complex::Complex;
use wavefield::sampling::{in_range, linear, nearest, taps};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DasVoxel<S: Sample> {
    /// Channel data; samples contiguous, the other axes by their strides.
    pub samples: Global<S>,
    /// The geometry.
    pub geometry: Geometry<RealOf<S>>,
    /// The result.
    pub output: Output<S::Value>,
    /// Samples between two batch items.
    pub batch_stride: u64,
    /// Samples between two transmits.
    pub transmit_stride: u64,
    /// Samples between two channels.
    pub channel_stride: u64,
    /// Batch items.
    pub n_batch: u32,
    /// The first batch item of this launch.
    pub first_item: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Sample> Parameters for DasVoxel<S> {}

/// Taps of a kernel that takes the interpolation as it comes.
const ANY: usize = 0;

/// What lies between the samples from `first` on of `N_TAPS` (1: nearest, 2: linear), all of them in the recording.
///
/// # Safety
///
/// The slice holds them.
#[inline(always)]
unsafe fn interpolated<S: Sample, const N_TAPS: usize>(
    samples: Global<S>,
    first: u64,
    fraction: RealOf<S>,
) -> S::Value {
    // SAFETY: the caller's promise.
    unsafe {
        let here = samples.load(first).widen();
        if N_TAPS == 1 {
            here
        } else {
            here.interpolate(samples.load(first + 1).widen(), fraction)
        }
    }
}

/// The first tap and the fraction of a delay for 1 (nearest) or 2 taps (linear).
#[inline(always)]
fn first_tap<R: Real, const N_TAPS: usize>(delay: R) -> (i32, R) {
    if N_TAPS == 1 {
        (nearest(delay), R::ZERO)
    } else {
        linear(delay)
    }
}

/// Several batch items, one transmit at a time; for `N_TAPS` taps (1, 2, or any number) and tiles of `TILE` items.
///
/// # Safety
///
/// The slices hold what the strides and counts say; `(TILE − 1) · batch_stride` fits into 32 bits; a block of the grid
/// for every tile of the batch.
#[inline(always)]
unsafe fn das_items<S: Sample, const N_TAPS: usize, const TILE: usize>(p: DasVoxel<S>) {
    let g = p.geometry;
    let local = u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
    if local >= g.n_voxels {
        return;
    }
    let voxel = g.first_voxel + local;
    let first_item = p.first_item + thread::block_idx_y() * TILE as u32;
    let last_item = p.n_batch - 1 - first_item;
    let part = p.output.part(thread::block_idx_z(), g.n_transmits, g.n_channels);
    // SAFETY: the item is one of the batch's.
    if p.output.items != Items::All && !unsafe { is_any_wanted::<S, TILE>(&p, first_item, last_item) } {
        return;
    }
    let mut items = [0_u32; TILE];
    cuda_std::unroll!(ITEM in 0..TILE {
        items[ITEM] = (ITEM as u32).min(last_item) * p.batch_stride as u32;
    });
    // SAFETY: the voxel is one of the pitch's, the item one of the batch's.
    let (position, batch) = unsafe {
        (
            g.position(voxel),
            p.samples.from(u64::from(first_item) * p.batch_stride),
        )
    };
    let mut sums = [S::Value::ZERO; TILE];
    let [mut entry, end] = g.entries(part.transmits);
    while entry < end {
        // SAFETY: entry and voxel are in range.
        let transmit = unsafe { g.entry(entry, voxel, part.transmits) };
        entry += 1;
        // SAFETY: the transmit is in range.
        let samples = unsafe { batch.from(u64::from(transmit.transmit) * p.transmit_stride) };
        for channel in part.channels[0]..part.channels[1] {
            // SAFETY: the channel is in range.
            let (distance, heard) = unsafe { g.receive(position, channel) };
            let delay = distance + transmit.offset;
            let amplitude = transmit.weight * heard;
            if !in_range(delay, g.n_samples) || amplitude == <RealOf<S> as Real>::ZERO {
                continue;
            }
            let weight = S::Value::weight(amplitude, delay, g.turns, transmit.phase);
            // SAFETY: the channel is in range; so are the taps where the recording holds them, which for one and two is
            // everywhere because the delay is in range.
            unsafe {
                let signal = samples.from(u64::from(channel) * p.channel_stride);
                if N_TAPS == ANY {
                    let (first, weights) = taps(g.interpolation, delay);
                    let n_taps = g.interpolation.taps();
                    cuda_std::unroll!(TAP in [0, 1, 2, 3, 4, 5] {
                        let at = first + TAP as i32;
                        if TAP < n_taps && at >= 0 && at < g.n_samples {
                            let weight = weight.scale(weights[TAP]);
                            let mut values = [S::Value::ZERO; TILE];
                            cuda_std::unroll!(ITEM in 0..TILE {
                                values[ITEM] = signal.load(at as u64 + u64::from(items[ITEM])).widen();
                            });
                            cuda_std::unroll!(ITEM in 0..TILE {
                                sums[ITEM] = sums[ITEM].accumulate(weight, values[ITEM]);
                            });
                        }
                    });
                } else {
                    let (first, fraction) = first_tap::<_, N_TAPS>(delay);
                    let signal = signal.from(first as u64);
                    // All loads before the first use, so that they are in flight together.
                    let mut values = [(S::Value::ZERO, S::Value::ZERO); TILE];
                    cuda_std::unroll!(ITEM in 0..TILE {
                        let item = u64::from(items[ITEM]);
                        values[ITEM].0 = signal.load(item).widen();
                        if N_TAPS == 2 {
                            values[ITEM].1 = signal.load(item + 1).widen();
                        }
                    });
                    cuda_std::unroll!(ITEM in 0..TILE {
                        let (value, next) = values[ITEM];
                        let value = if N_TAPS == 1 { value } else { value.interpolate(next, fraction) };
                        sums[ITEM] = sums[ITEM].accumulate(weight, value);
                    });
                }
            }
        }
    }
    cuda_std::unroll!(ITEM in 0..TILE {
        if ITEM as u32 <= last_item {
            // SAFETY: item and voxel are in range, and this thread's own.
            unsafe { p.output.write(first_item + ITEM as u32, part.number, local, sums[ITEM]) };
        }
    });
}

/// Whether any item of a tile is to be written.
///
/// # Safety
///
/// The marks hold the batch.
#[inline(always)]
unsafe fn is_any_wanted<S: Sample, const TILE: usize>(p: &DasVoxel<S>, first_item: u32, last_item: u32) -> bool {
    let mut is_wanted = false;
    cuda_std::unroll!(ITEM in 0..TILE {
        // SAFETY: the caller's promise.
        is_wanted |= unsafe { p.output.is_wanted(first_item + (ITEM as u32).min(last_item)) };
    });
    is_wanted
}

/// One batch item, `TRANSMITS` transmits at a time; for `N_TAPS` taps (1, 2, or any number).
///
/// # Safety
///
/// The slices hold what the strides and counts say; a layer of the grid for every batch item.
#[inline(always)]
unsafe fn das_transmits<S: Sample, const N_TAPS: usize, const TRANSMITS: usize>(p: DasVoxel<S>) {
    let zero = <RealOf<S> as Real>::ZERO;
    let g = p.geometry;
    let local = u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
    if local >= g.n_voxels {
        return;
    }
    let voxel = g.first_voxel + local;
    let item = p.first_item + thread::block_idx_y();
    let part = p.output.part(thread::block_idx_z(), g.n_transmits, g.n_channels);
    // SAFETY: the item is one of the batch's, the voxel one of the pitch's.
    let (is_wanted, position, samples) = unsafe {
        (
            p.output.is_wanted(item),
            g.position(voxel),
            p.samples.from(u64::from(item) * p.batch_stride),
        )
    };
    if !is_wanted {
        return;
    }
    let mut total = S::Value::ZERO;
    let [mut first_entry, end] = g.entries(part.transmits);
    while first_entry < end {
        // A delay of −∞ is never in range.
        let mut offsets = [RealOf::<S>::from_f64(f64::NEG_INFINITY); TRANSMITS];
        let mut factors = [S::Value::ZERO; TRANSMITS];
        let mut rows = [0_u64; TRANSMITS];
        cuda_std::unroll!(TRANSMIT in 0..TRANSMITS {
            if first_entry + (TRANSMIT as u32) < end {
                // SAFETY: entry and voxel are in range.
                let entry = unsafe { g.entry(first_entry + TRANSMIT as u32, voxel, part.transmits) };
                if entry.weight != zero {
                    offsets[TRANSMIT] = entry.offset;
                    factors[TRANSMIT] = S::Value::weight(entry.weight, entry.offset, g.turns, entry.phase);
                    rows[TRANSMIT] = u64::from(entry.transmit) * p.transmit_stride;
                }
            }
        });
        first_entry += TRANSMITS as u32;
        let mut sums = [S::Value::ZERO; TRANSMITS];
        for channel in part.channels[0]..part.channels[1] {
            // SAFETY: the channel is in range.
            let (distance, heard) = unsafe { g.receive(position, channel) };
            if heard == zero {
                continue;
            }
            let weight = S::Value::weight(heard, distance, g.turns, zero);
            // SAFETY: the channel is in range; taps are read where the recording holds them, else its first samples, of
            // which it has two.
            unsafe {
                let signal = samples.from(u64::from(channel) * p.channel_stride);
                let mut values = [S::Value::ZERO; TRANSMITS];
                cuda_std::unroll!(TRANSMIT in 0..TRANSMITS {
                    let delay = distance + offsets[TRANSMIT];
                    let is_in_range = in_range(delay, g.n_samples);
                    let signal = signal.from(rows[TRANSMIT]);
                    if N_TAPS == ANY {
                        if is_in_range {
                            values[TRANSMIT] = sum_of_taps(&g, signal, delay);
                        }
                    } else {
                        let (first, fraction) = first_tap::<_, N_TAPS>(delay);
                        let first = if is_in_range { first as u64 } else { 0 };
                        let value = interpolated::<S, N_TAPS>(signal, first, fraction);
                        // Chosen, not multiplied by 0: what is not used may not be a number.
                        values[TRANSMIT] = if is_in_range { value } else { S::Value::ZERO };
                    }
                });
                cuda_std::unroll!(TRANSMIT in 0..TRANSMITS {
                    sums[TRANSMIT] = sums[TRANSMIT].accumulate(weight, values[TRANSMIT]);
                });
            }
        }
        cuda_std::unroll!(TRANSMIT in 0..TRANSMITS {
            total = total.accumulate(factors[TRANSMIT], sums[TRANSMIT]);
        });
    }
    // SAFETY: item and voxel are in range, and this thread's own.
    unsafe { p.output.write(item, part.number, local, total) };
}

/// The weighted sum of the taps of a delay in range that the recording holds.
///
/// # Safety
///
/// The slice holds the samples.
#[inline(always)]
unsafe fn sum_of_taps<S: Sample>(g: &Geometry<RealOf<S>>, signal: Global<S>, delay: RealOf<S>) -> S::Value {
    let (first, weights) = taps(g.interpolation, delay);
    let n_taps = g.interpolation.taps();
    let mut sum = S::Value::ZERO;
    cuda_std::unroll!(TAP in [0, 1, 2, 3, 4, 5] {
        let at = first + TAP as i32;
        if TAP < n_taps && at >= 0 && at < g.n_samples {
            // SAFETY: in the recording.
            sum = unsafe { signal.load(at as u64) }.widen().scale_add(weights[TAP], sum);
        }
    });
    sum
}

macro_rules! instances {
    ($($stored:ty { $(
        $items:ident $item:ident $transmits:ident: $taps:ident $n_taps:ident,
        $items_registers:literal $item_registers:literal $transmits_registers:literal;
    )* })*) => {
        cuda_std::kernels! { $($(
            /// A voxel a thread, several batch items; sample type and interpolation are in the name.
            $items(p: DasVoxel<$stored>),
            threads THREADS, blocks 1,
            resources Resources { registers: $items_registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_items::<$stored, $n_taps, { ITEMS as usize }>(p) }
            }
            /// A voxel a thread, one batch item; sample type and interpolation are in the name.
            $item(p: DasVoxel<$stored>),
            threads THREADS, blocks 1,
            resources Resources { registers: $item_registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_items::<$stored, $n_taps, 1>(p) }
            }
            /// A voxel a thread, several transmits; sample type and interpolation are in the name.
            $transmits(p: DasVoxel<$stored>),
            threads THREADS, blocks 1,
            resources Resources { registers: $transmits_registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_transmits::<$stored, $n_taps, { transmits($n_taps) }>(p) }
            }
        )*)* }

        cuda_std::on_host! { $(
            impl Instances for $stored {
                fn kernel(taps: Taps, tile: Tile) -> cuda_std::Kernel<DasVoxel<Self>> {
                    match (taps, tile) {
                        $(
                            (Taps::$taps, Tile::Items) => $items,
                            (Taps::$taps, Tile::Item) => $item,
                            (Taps::$taps, Tile::Transmits) => $transmits,
                        )*
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
    /// Those of the geometry's interpolation.
    Any,
}

const ONE: usize = 1;
const TWO: usize = 2;

/// What a thread works on at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// [`ITEMS`] batch items of one transmit.
    Items,
    /// One batch item of one transmit.
    Item,
    /// One batch item of [`TRANSMITS`] transmits.
    Transmits,
}

/// Batch items of a tile of several.
pub const ITEMS: u32 = 8;

/// Transmits of a tile of several.
pub const TRANSMITS: u32 = 4;

/// Transmits of a tile for a number of taps: with any number, taps outweigh distances, and so does their code.
const fn transmits(n_taps: usize) -> usize {
    if n_taps == ANY { 1 } else { TRANSMITS as usize }
}

impl Tile {
    /// Its batch items.
    pub const fn items(self) -> u32 {
        match self {
            Self::Items => ITEMS,
            Self::Item | Self::Transmits => 1,
        }
    }
}

cuda_std::on_host! {
    /// A sample type that this family has kernels for.
    pub trait Instances: Sample {
        /// The kernel for this interpolation and tile.
        fn kernel(taps: Taps, tile: Tile) -> cuda_std::Kernel<DasVoxel<Self>>;
    }
}

instances! {
    i16 {
        das_voxel_i16_nearest_items das_voxel_i16_nearest_item das_voxel_i16_nearest_transmits: One ONE, 63 43 63;
        das_voxel_i16_linear_items das_voxel_i16_linear_item das_voxel_i16_linear_transmits: Two TWO, 72 43 72;
        das_voxel_i16_any_items das_voxel_i16_any_item das_voxel_i16_any_transmits: Any ANY, 96 51 54;
    }
    F16 {
        das_voxel_f16_nearest_items das_voxel_f16_nearest_item das_voxel_f16_nearest_transmits: One ONE, 64 43 63;
        das_voxel_f16_linear_items das_voxel_f16_linear_item das_voxel_f16_linear_transmits: Two TWO, 72 43 72;
        das_voxel_f16_any_items das_voxel_f16_any_item das_voxel_f16_any_transmits: Any ANY, 94 51 54;
    }
    f32 {
        das_voxel_f32_nearest_items das_voxel_f32_nearest_item das_voxel_f32_nearest_transmits: One ONE, 63 43 63;
        das_voxel_f32_linear_items das_voxel_f32_linear_item das_voxel_f32_linear_transmits: Two TWO, 72 43 72;
        das_voxel_f32_any_items das_voxel_f32_any_item das_voxel_f32_any_transmits: Any ANY, 96 51 54;
    }
    f64 {
        das_voxel_f64_nearest_items das_voxel_f64_nearest_item das_voxel_f64_nearest_transmits: One ONE, 104 86 109;
        das_voxel_f64_linear_items das_voxel_f64_linear_item das_voxel_f64_linear_transmits: Two TWO, 110 88 110;
        das_voxel_f64_any_items das_voxel_f64_any_item das_voxel_f64_any_transmits: Any ANY, 115 88 92;
    }
    Complex<i16> {
        das_voxel_ci16_nearest_items das_voxel_ci16_nearest_item das_voxel_ci16_nearest_transmits: One ONE, 71 44 72;
        das_voxel_ci16_linear_items das_voxel_ci16_linear_item das_voxel_ci16_linear_transmits: Two TWO, 80 44 80;
        das_voxel_ci16_any_items das_voxel_ci16_any_item das_voxel_ci16_any_transmits: Any ANY, 96 54 58;
    }
    Complex<F16> {
        das_voxel_cf16_nearest_items das_voxel_cf16_nearest_item das_voxel_cf16_nearest_transmits: One ONE, 72 44 71;
        das_voxel_cf16_linear_items das_voxel_cf16_linear_item das_voxel_cf16_linear_transmits: Two TWO, 80 44 80;
        das_voxel_cf16_any_items das_voxel_cf16_any_item das_voxel_cf16_any_transmits: Any ANY, 96 54 58;
    }
    Complex<f32> {
        das_voxel_cf32_nearest_items das_voxel_cf32_nearest_item das_voxel_cf32_nearest_transmits: One ONE, 75 46 71;
        das_voxel_cf32_linear_items das_voxel_cf32_linear_item das_voxel_cf32_linear_transmits: Two TWO, 96 44 90;
        das_voxel_cf32_any_items das_voxel_cf32_any_item das_voxel_cf32_any_transmits: Any ANY, 100 56 56;
    }
    Complex<f64> {
        das_voxel_cf64_nearest_items das_voxel_cf64_nearest_item das_voxel_cf64_nearest_transmits: One ONE, 124 90 127;
        das_voxel_cf64_linear_items das_voxel_cf64_linear_item das_voxel_cf64_linear_transmits: Two TWO, 160 92 146;
        das_voxel_cf64_any_items das_voxel_cf64_any_item das_voxel_cf64_any_transmits: Any ANY, 148 96 100;
    }
}
