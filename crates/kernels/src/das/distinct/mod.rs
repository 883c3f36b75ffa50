//! Matrix products over the distinct samples of a voxel tile (ALG4).
//!
//! The sum is the module's. Data lie as for [`super::batch`]: `(transmit, channel, sample, batch)`, a sample's batch items
//! contiguous and padded to whole vectors of 16 bytes, two samples of zeros after the last channel of each
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
//! Weights are multiplied by a gain, which the sums take back: with the largest near [`NEAR_TOP`] they neither overflow as
//! halves nor, down to 2⁻²⁶ of it, sink below the normal numbers.
//!
//! Unused samples of a set are multiplied by 0: what is not a number spreads over the tile's voxels within its batch
//! item.

#[cfg_attr(
    all(target_arch = "nvptx64", not(target_feature = "sm_80")),
    allow(dead_code, reason = "only `tiles` is built, with a part of it")
)]
mod columns;
mod form;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod halves;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod split;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod tf32;
pub mod tiles;
#[cfg(not(target_arch = "nvptx64"))]
mod variants;
#[cfg(not(target_arch = "nvptx64"))]
pub use variants::{Instances, Instructions, Taps, Tile, Variant};

use super::batch::Rows as Zeros;
use super::geometry::Geometry;
use super::output::Output;
use super::sample::{Sample, Value};
use cuda_std::{Element, Global, Parameters, thread, warp};
use form::{Form, ValueOf};
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

/// Where the largest weight should come to lie.
pub const NEAR_TOP: f32 = 4096.0;

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
    /// A power of two between 2⁻¹²⁰ and 2¹²⁰ that brings the weights near [`NEAR_TOP`]: they are multiplied by it before they
    /// are rounded, and the sums divided.
    pub gain: f32,
    /// Batch items in `samples`, padding excluded.
    pub n_batch: u32,
    /// Vectors of 16 bytes in a sample's batch, in each plane if there are two.
    pub n_vectors: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Sample> Parameters for DasDistinct<S> {}

impl<S: Sample> DasDistinct<S> {
    /// What takes the gain back.
    #[inline(always)]
    fn inverse_gain(&self) -> f32 {
        f32::from_bits(0x7f00_0000 - self.gain.to_bits())
    }
}

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

/// The samples that a warp's voxels need of a channel, as far as they lie within one span.
struct Set {
    /// The first one.
    least: i32,
    /// How far from there this lane's first tap is.
    distance: u32,
    /// Whether this lane's taps are among them.
    is_here: bool,
    /// A bit for each sample that some voxel needs, from the first one on.
    members: u32,
    /// Whether some voxel's taps lie further on.
    has_more: bool,
}

/// The set of what is left of a channel, where this lane's first tap is `sample`.
///
/// # Safety
///
/// All lanes of the warp make this call.
#[inline(always)]
unsafe fn set<F: Form, const TAPS: u32>(sample: i32) -> Set {
    // SAFETY: the caller's promise.
    unsafe {
        let least = F::least(sample);
        let distance = sample.wrapping_sub(least).cast_unsigned();
        let counts = sample != NONE;
        let is_here = counts && distance <= COLUMNS - TAPS;
        let taps = (1 << TAPS) - 1;
        let members = F::union(if is_here {
            taps << distance
        } else if counts {
            MORE
        } else {
            0
        });
        Set {
            least,
            distance,
            is_here,
            members: members & !MORE,
            has_more: members & MORE != 0,
        }
    }
}

/// Places the weights of a contribution's taps from a column on.
///
/// # Safety
///
/// As [`Form::place`].
#[inline(always)]
unsafe fn place<F: Form, const TAPS: u32>(form: &F, column: u32, own: &Contribution<ValueOf<F>>) {
    // SAFETY: the caller's promise.
    unsafe {
        if TAPS == 1 {
            form.place(column % RING, own.weight);
        } else {
            form.place(column % RING, own.weight.scale(1.0 - own.fraction));
            form.place((column + 1) % RING, own.weight.scale(own.fraction));
        }
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
    // SAFETY: a place of the launch's.
    let voxel = geometry.first_voxel + unsafe { geometry.in_tiles(local.min(geometry.n_voxels - 1)) };
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
    let vectors_of_transmit = u64::from(silence + Zeros::INSIDE.silence * pitch);
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
                    let of_entry = [own_entry.offset, own_entry.weight * p.gain, own_entry.phase];
                    let is_wanted = is_on && channel < end;
                    contribution::<ValueOf<F>, TAPS>(geometry, position, of_entry, channel.min(end - 1), is_wanted)
                };
                let mut channel = first_channel;
                let mut own = find(channel);
                // One channel more: the silence.
                while channel <= end {
                    let following = find(channel + 1);
                    let Set {
                        least,
                        distance,
                        is_here,
                        members,
                        has_more,
                    } = set::<F, TAPS>(own.sample);
                    let filled = column % COLUMNS;
                    let (members, first_vector, step) = if channel < end {
                        // Of an empty set it is any number.
                        let sample = (channel * geometry.n_samples as u32).wrapping_add(least as u32);
                        (members, sample.wrapping_mul(pitch), pitch)
                    } else {
                        // As many as are missing: none if nothing has begun.
                        ((1 << ((COLUMNS - filled) % COLUMNS)) - 1, silence, 0)
                    };
                    let count = members.count_ones();
                    let is_full = filled + count >= COLUMNS;
                    let half = column / COLUMNS;
                    if is_full && is_under_way {
                        form.multiply(1 - half, &mut sums);
                        form.clear(1 - half);
                        warp::sync_warp();
                    }
                    if is_here {
                        place::<F, TAPS>(&form, column + below(members, distance), &own);
                    }
                    if members >> lane & 1 == 1 {
                        form.assign((column + below(members, lane)) % RING, first_vector + lane * step);
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
