//! Matrix products over the distinct samples of a voxel tile (ALG4).
//!
//! The sum is the module's. Data lie as for [`super::batch`]: `(transmit, channel, sample, batch)`, a sample's batch items
//! contiguous and padded to whole vectors of 16 bytes, [`SILENCE`] samples of zeros after the last channel of each
//! transmit. Nearest and linear interpolation only: the others take more neighbours than the tile's set holds.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: four warps, each with [`VOXELS`] consecutive voxels |
//! | grid | x: voxels, y: tiles of consecutive batch items, z: parts of the sum |
//! | shared memory | the form's: a warp has its own part, and no warp waits for another |
//! | barriers | none; warps meet by themselves |
//! | warp operations | a minimum and a union a channel, and a minimum or two a transmit |
//! | result | every lane writes its share of the warp's tile |
//!
//! A lane owns a voxel and finds delay and weight of one channel after the other. The samples that the warp's voxels need
//! of a channel are marked in a set: their number is the smallest plus a bit's place, their rank the bits below. The
//! two neighbours of a delay follow each other in the set, so a voxel's weights are at its sample's rank and at the one
//! after: nobody searches, and samples that no voxel needs take no part. Sets of consecutive channels are appended to
//! each other; whenever [`COLUMNS`] columns are full, their samples are requested, and the columns before them are
//! multiplied: weights (voxel, column) times samples (column, batch).
//!
//! A set spans [`COLUMNS`] samples; voxels whose delay lies further on wait for the next set of the same channel. At a
//! transmit's end silence fills the columns up. Voxels of a sparse list that are on different transmits in the same entry
//! take turns.
//!
//! Halves hold a voxel's weights times [`SCALE`], which the sums take back: amplitudes up to 15 neither overflow nor, down
//! to 2⁻²⁶, sink below the normal numbers.
//!
//! Unused samples of a set are multiplied by 0: what is not a number spreads over the tile's voxels within its batch
//! item.

#[cfg_attr(
    all(target_arch = "nvptx64", not(target_feature = "sm_80")),
    allow(dead_code, reason = "only `tiles` is built, with a part of it")
)]
mod columns;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod halves;
pub mod planes;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod split;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod tf32;
pub mod tiles;

use super::batch::SILENCE;
use super::geometry::Geometry;
use super::output::Output;
use super::sample::{Sample, Value};
use cuda_std::{Element, Global, Parameters, thread, warp};
use wavefield::sampling::{in_range, linear, nearest};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Voxels of a warp: one a lane.
pub const VOXELS: u32 = WARP;

/// Voxels of a block.
pub const VOXELS_PER_BLOCK: u32 = THREADS / WARP * VOXELS;

/// Columns that an instruction multiplies, and samples that a set spans.
pub const COLUMNS: u32 = 16;

/// Columns that a warp holds: those that are multiplied next, and those that are being filled.
const RING: u32 = 2 * COLUMNS;

/// What weights in halves are multiplied by.
pub const SCALE: f32 = 4096.0;

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DasDistinct<S: Sample> {
    /// Channel data, `(transmit, channel, sample, batch)`, contiguous but for the silence after each transmit; the batch
    /// a whole number of vectors.
    pub samples: Global<S>,
    /// Where everything is.
    pub geometry: Geometry<f32>,
    /// Where the sums go.
    pub output: Output<S::Value>,
    /// Batch items in `samples`, padding excluded.
    pub n_batch: u32,
    /// Vectors of 16 bytes in a sample's batch, in each plane if there are two.
    pub n_vectors: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Sample> Parameters for DasDistinct<S> {}

/// A sample in single precision, or of 16 bits, as two halves: the nearest one, and what is left of the number.
///
/// Each sample has a plane of the whole batch for the first, and one for the second behind it. What a sample of 16 bits
/// loses is nothing; one in single precision keeps 22 bits where it is not below 2⁻³.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct Split<S>(pub S);

// SAFETY: a number or two.
unsafe impl<S: Element> Element for Split<S> {}

impl<S: Sample> Sample for Split<S> {
    type Value = S::Value;
    const ZERO: Self = Self(S::ZERO);

    #[inline(always)]
    fn widen(self) -> S::Value {
        self.0.widen()
    }
}

/// The memory of a form, a ring of weights and rows of samples, does what it has to do with columns.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
macro_rules! ring {
    ($value:ty: |$form:ident, $column:ident, $weight:ident| $place:expr) => {
        #[inline(always)]
        unsafe fn clear(&self, half: u32) {
            // SAFETY: the caller's promise.
            unsafe { self.weights.clear(half) };
        }

        #[inline(always)]
        unsafe fn place(&self, $column: u32, $weight: $value) {
            let $form = self;
            // SAFETY: the caller's promise.
            unsafe { $place };
        }

        #[inline(always)]
        unsafe fn assign(&self, column: u32, vector: u32) {
            // SAFETY: the caller's promise.
            unsafe { self.rows.assign(column, vector) };
        }
    };
    (copies) => {
        #[inline(always)]
        unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>) {
            // SAFETY: the caller's promise.
            unsafe { self.rows.request(half, transmit) };
        }
    };
}
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
use ring;

/// How a warp multiplies.
trait Form: Copy {
    /// A sample.
    type Stored: Sample<Value: Value<Real = f32>>;
    /// A lane's share of the tile's sums.
    type Sums;
    /// Batch items of a tile.
    const ITEMS: u32;
    /// Bytes of a warp's shared memory, a multiple of 32.
    #[cfg_attr(target_arch = "nvptx64", allow(dead_code, reason = "asked by the launching side"))]
    const BYTES: u32;
    /// What weights are multiplied by.
    const SCALE: f32;
    /// Planes of a sample, each of the whole batch.
    const PLANES: u32 = 1;

    /// The form of this warp, for a tile of batch items.
    ///
    /// # Safety
    ///
    /// The block has [`Form::BYTES`] of shared memory for each warp.
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self;

    /// No sums.
    fn zero() -> Self::Sums;

    /// Sets all weights of half a ring to 0.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, between two meetings.
    unsafe fn clear(&self, half: u32);

    /// Sets the weight of this lane's voxel in a column.
    ///
    /// # Safety
    ///
    /// The column was cleared before the last meeting.
    unsafe fn place(&self, column: u32, weight: ValueOf<Self>);

    /// Says which vector of a transmit a column's samples start at.
    ///
    /// # Safety
    ///
    /// No other lane says it too.
    unsafe fn assign(&self, column: u32, vector: u32);

    /// The smallest number of the warp.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    #[inline(always)]
    unsafe fn least(number: i32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { warp::reduce_min(number) }
    }

    /// The union of the warp's sets.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    #[inline(always)]
    unsafe fn union(set: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { warp::reduce_or(set) }
    }

    /// Requests the samples of half a ring.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, after a meeting that follows the assignments and the last product.
    unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>);

    /// Adds the product of half a ring's weights and the samples that were requested for it. Ends with a meeting.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums);

    /// Writes the sums.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call; the parameters' promises hold.
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums);
}

type ValueOf<F> = <<F as Form>::Stored as Sample>::Value;

/// What a lane knows of a channel.
#[derive(Clone, Copy)]
struct Contribution<V> {
    /// The first tap's sample; [`NONE`] if the channel does not count.
    sample: i32,
    fraction: f32,
    weight: V,
}

/// Behind every sample.
const NONE: i32 = i32::MAX;

/// The bit of a set that says that voxels wait for the next one.
const MORE: u32 = 1 << 31;

/// One channel's contribution to one voxel.
///
/// # Safety
///
/// The geometry holds the channel.
#[inline(always)]
unsafe fn contribution<V: Value<Real = f32>, const TAPS: u32>(
    geometry: &Geometry<f32>,
    position: [f32; 3],
    [offset, weight, phase]: [f32; 3],
    channel: u32,
    is_wanted: bool,
) -> Contribution<V> {
    // SAFETY: the caller's promise.
    let (distance, heard) = unsafe { geometry.receive(position, channel) };
    let delay = distance + offset;
    let amplitude = weight * heard;
    let (sample, fraction) = if TAPS == 1 {
        (nearest(delay), 0.0)
    } else {
        linear(delay)
    };
    let counts = is_wanted && in_range(delay, geometry.n_samples) && amplitude != 0.0;
    Contribution {
        sample: if counts { sample } else { NONE },
        fraction,
        weight: V::weight(amplitude, delay, geometry.turns, phase),
    }
}

/// The kernel's body for `TAPS` interpolation taps (1: nearest, 2: linear).
///
/// # Safety
///
/// The slices hold what the counts say, `samples` aligned to 16 bytes; fewer than 2³² vectors a transmit, silence
/// included; a block of the grid for every tile of the batch and every part; [`shared_bytes`] of shared memory.
#[inline(always)]
unsafe fn das_distinct<F: Form, const TAPS: u32>(p: DasDistinct<F::Stored>) {
    let lane = thread::lane();
    let warp = thread::block_idx_x() * (THREADS / WARP) + thread::thread_idx_x() / WARP;
    let geometry = &p.geometry;
    let first_voxel = u64::from(warp) * u64::from(VOXELS);
    let local = first_voxel + u64::from(lane);
    let has_voxel = local < geometry.n_voxels;
    let voxel = geometry.first_voxel + local.min(geometry.n_voxels - 1);
    let part = p
        .output
        .part(thread::block_idx_z(), geometry.n_transmits, geometry.n_channels);
    // SAFETY: the voxel is one of the pitch's, the launch gives the form its memory; vectors are aligned.
    let (position, form, samples) = unsafe {
        (
            geometry.position(voxel),
            F::new(&p, thread::block_idx_y()),
            p.samples.cast::<[u32; 4]>(),
        )
    };
    let pitch = F::PLANES * p.n_vectors;
    let silence = geometry.n_channels * geometry.n_samples as u32 * pitch;
    let vectors_of_transmit = u64::from(silence + SILENCE * pitch);
    let [first_channel, end] = part.channels;
    let mut sums = F::zero();
    // The ring's next column, and whether samples of the other half are on their way.
    let (mut column, mut is_under_way) = (0, false);
    // SAFETY: nothing returns, and counts and branches around calls of the whole warp are the same in all lanes.
    unsafe {
        form.clear(0);
        form.clear(1);
        warp::sync_warp();
        let [mut entry, last_entry] = geometry.entries(part.transmits);
        while entry < last_entry {
            let own_entry = geometry.entry(entry, voxel, part.transmits);
            let mut is_waiting = has_voxel && own_entry.weight != 0.0;
            loop {
                let transmit = F::least(if is_waiting { own_entry.transmit as i32 } else { NONE });
                if transmit == NONE {
                    break;
                }
                let is_on = is_waiting && own_entry.transmit == transmit as u32;
                is_waiting &= !is_on;
                let of_transmit = samples.from(transmit as u64 * vectors_of_transmit);
                let find = |channel: u32| {
                    let of_entry = [own_entry.offset, own_entry.weight * F::SCALE, own_entry.phase];
                    let is_wanted = is_on && channel < end;
                    contribution::<ValueOf<F>, TAPS>(geometry, position, of_entry, channel.min(end - 1), is_wanted)
                };
                let mut channel = first_channel;
                let mut own = find(channel);
                // One channel more: the silence.
                while channel <= end {
                    let following = find(channel + 1);
                    let least = F::least(own.sample);
                    let distance = own.sample.wrapping_sub(least) as u32;
                    let counts = own.sample != NONE;
                    let is_here = counts && distance <= COLUMNS - TAPS;
                    let taps = (1 << TAPS) - 1;
                    let set = F::union(if is_here {
                        taps << distance
                    } else if counts {
                        MORE
                    } else {
                        0
                    });
                    let (set, has_more) = (set & !MORE, set & MORE != 0);
                    let filled = column % COLUMNS;
                    let (set, first_vector, step) = if channel < end {
                        // Of an empty set it is any number.
                        let sample = (channel * geometry.n_samples as u32).wrapping_add(least as u32);
                        (set, sample.wrapping_mul(pitch), pitch)
                    } else {
                        // As many as are missing: none if nothing has begun.
                        ((1 << ((COLUMNS - filled) % COLUMNS)) - 1, silence, 0)
                    };
                    let count = set.count_ones();
                    let is_full = filled + count >= COLUMNS;
                    let half = column / COLUMNS;
                    if is_full && is_under_way {
                        form.multiply(1 - half, &mut sums);
                        form.clear(1 - half);
                        warp::sync_warp();
                    }
                    if is_here {
                        let at = column + below(set, distance);
                        if TAPS == 1 {
                            form.place(at % RING, own.weight);
                        } else {
                            form.place(at % RING, own.weight.scale(1.0 - own.fraction));
                            form.place((at + 1) % RING, own.weight.scale(own.fraction));
                        }
                    }
                    if set >> lane & 1 == 1 {
                        form.assign((column + below(set, lane)) % RING, first_vector + lane * step);
                    }
                    column = (column + count) % RING;
                    if is_full {
                        warp::sync_warp();
                        form.request(half, of_transmit);
                        is_under_way = true;
                    }
                    if has_more {
                        own.sample = if is_here { NONE } else { own.sample };
                    } else {
                        own = following;
                        channel += 1;
                    }
                }
            }
            entry += 1;
        }
        if is_under_way {
            form.multiply(1 - column / COLUMNS, &mut sums);
        }
        form.write(&p, part.number, first_voxel, sums);
    }
}

/// How many members a set has below a place.
#[inline(always)]
fn below(set: u32, place: u32) -> u32 {
    (set & ((1 << place) - 1)).count_ones()
}

/// Samples that a value is interpolated from.
pub use super::voxel::Taps;

/// Batch items of a warp's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// 64 complex or 128 real ones.
    Wide,
    /// 32 complex or 64 real ones.
    Narrow,
}

/// Which instructions multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// `mma.sync`, and copies past the registers; from `sm_80` on. Samples in single precision are multiplied in TF32.
    Mma,
    /// `wmma`; from `sm_70` on, for halves.
    Wmma,
}

/// Kernels of a form, with taps, blocks of a multiprocessor, registers, warp operations and matrix operations.
macro_rules! kernels_of {
    ($($name:ident: $form:ty, $taps:literal, $blocks:literal, $registers:literal, $warp:literal, $matrix:literal;)*) => {
        cuda_std::kernels! { $(
            /// Distinct samples of 32 voxels; sample type, interpolation and batch tile are in the name.
            $name(p: super::DasDistinct<<$form as Form>::Stored>),
            threads super::THREADS, blocks $blocks,
            resources cuda_std::Resources {
                registers: $registers,
                barriers: 0,
                warp_operations: $warp,
                matrix_operations: $matrix,
            },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_distinct::<$form, $taps>(p) }
            }
        )* }
    };
}
use kernels_of;

/// What the launching side needs to know: for each sample type, instructions and tile the form, and its kernels for linear
/// and nearest interpolation.
macro_rules! instances {
    ($($stored:ty { $(
        $instructions:ident, $tile:ident: $module:ident::$form:ident<$($number:literal),*>, $linear:ident, $nearest:ident;
    )* })*) => {
        cuda_std::on_host! { $(
            impl Instances for $stored {
                fn variant(instructions: Instructions, taps: Taps, tile: Tile) -> Option<Variant<Self>> {
                    let (kernel, items, bytes_of_warp) = match (instructions, tile, taps) {
                        $((Instructions::$instructions, Tile::$tile, _) => (
                            if taps == Taps::One { $module::$nearest } else { $module::$linear },
                            <$module::$form<$($number),*> as Form>::ITEMS,
                            <$module::$form<$($number),*> as Form>::BYTES,
                        ),)*
                        #[allow(unreachable_patterns, reason = "some types have every variant")]
                        _ => return None,
                    };
                    Some(Variant { kernel, items, shared_bytes: THREADS / WARP * bytes_of_warp })
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    use cuda_std::half::F16;
    use num_complex::Complex;

    /// A kernel and what its launch needs.
    pub struct Variant<S: Sample> {
        /// The kernel.
        pub kernel: cuda_std::Kernel<DasDistinct<S>>,
        /// Batch items of a tile.
        pub items: u32,
        /// Bytes of a block's shared memory.
        pub shared_bytes: u32,
    }

    /// A sample type, and this family's kernels for it.
    pub trait Instances: Sample {
        /// The kernel with these instructions, this interpolation and this tile, where there is one.
        fn variant(instructions: Instructions, taps: Taps, tile: Tile) -> Option<Variant<Self>>;
    }
}

instances! {
    F16 {
        Mma, Wide: halves::RealHalves<16, 16>, das_distinct_f16_linear_wide, das_distinct_f16_nearest_wide;
        Mma, Narrow: halves::RealHalves<8, 8>, das_distinct_f16_linear_narrow, das_distinct_f16_nearest_narrow;
        Wmma, Narrow: tiles::RealTiles<4, 8>, das_distinct_f16_linear_wmma, das_distinct_f16_nearest_wmma;
    }
    Complex<F16> {
        Mma, Wide: halves::ComplexHalves<8, 16>, das_distinct_cf16_linear_wide, das_distinct_cf16_nearest_wide;
        Mma, Narrow: halves::ComplexHalves<4, 8>, das_distinct_cf16_linear_narrow, das_distinct_cf16_nearest_narrow;
        Wmma, Narrow: tiles::ComplexTiles<4, 8>, das_distinct_cf16_linear_wmma, das_distinct_cf16_nearest_wmma;
    }
    Split<F16> {
        Mma, Narrow: split::RealSplit<8, 16>, das_distinct_split_linear, das_distinct_split_nearest;
    }
    Split<Complex<F16>> {
        Mma, Narrow: split::ComplexSplit<4, 16>, das_distinct_csplit_linear, das_distinct_csplit_nearest;
    }
    f32 {
        Mma, Narrow: tf32::RealTf32<8, 16>, das_distinct_tf32_linear, das_distinct_tf32_nearest;
    }
    Complex<f32> {
        Mma, Narrow: tf32::ComplexTf32<4, 16>, das_distinct_ctf32_linear, das_distinct_ctf32_nearest;
    }
}
