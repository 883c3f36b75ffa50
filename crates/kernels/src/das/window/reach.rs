//! Which samples a tile of voxels may need of a channel, from bounds on the tile alone.
//!
//! The distances from an element to the points of a box lie between those to its nearest point and to its farthest
//! corner. So a lane knows a channel's samples before any voxel's delay is computed, and 32 lanes those of 32 channels.

use super::super::geometry::Geometry;
use super::memory::Place;
use cuda_std::math::Real;
use cuda_std::{Shared, thread, warp};
use wavefield::geometry::length;

/// A delay's rounding, and that of the bounds on it, as a part of distance and offset: 16 units in the last place.
const ROUNDING: f32 = 1e-6;

/// The least and the largest of some numbers; of none, from infinity to −infinity.
pub(super) type Range = [f32; 2];

/// A range of nothing.
pub(super) const NOTHING: Range = [f32::INFINITY, f32::NEG_INFINITY];

/// Ranges of a tile of voxels: x, y, z and the transmit offset.
pub(super) const RANGES: usize = 4;

/// Most warps of a block.
const MOST_WARPS: u32 = 16;

/// Ranges that warps exchange.
pub(super) const SCRATCH: u32 = RANGES as u32 * MOST_WARPS;

/// Writes a tile's ranges to `to`, from vector `first` on.
///
/// # Safety
///
/// The two vectors are there, and no other thread touches them.
#[inline(always)]
pub(super) unsafe fn store_bounds(to: Shared<[f32; 4]>, first: u32, [x, y, z, offset]: [Range; RANGES]) {
    // SAFETY: the caller's promise.
    unsafe {
        to.store(first, [x[0], x[1], y[0], y[1]]);
        to.store(first + 1, [z[0], z[1], offset[0], offset[1]]);
    }
}

/// Integers in the order of the numbers; its own inverse but for the types.
#[inline(always)]
fn ordered(value: f32) -> i32 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 31) & i32::MAX)
}

#[inline(always)]
fn from_ordered(value: i32) -> f32 {
    f32::from_bits((value ^ ((value >> 31) & i32::MAX)).cast_unsigned())
}

/// The range of a warp's numbers, of those that are finite and count.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
pub(super) unsafe fn range_of_warp(value: f32, counts: bool) -> Range {
    let counts = counts && Real::abs(value) <= f32::MAX;
    let [low, high] = if counts { [value, value] } else { NOTHING };
    // SAFETY: the caller's promise.
    unsafe {
        [
            from_ordered(warp::reduce_min(ordered(low))),
            from_ordered(warp::reduce_max(ordered(high))),
        ]
    }
}

/// The block's ranges from its warps'.
///
/// # Safety
///
/// Every thread of the block makes this call, with the same ranges in all lanes of a warp; `scratch` has [`SCRATCH`]
/// ranges and is not used between the barriers before and after.
#[inline(always)]
pub(super) unsafe fn ranges_of_block<const COUNT: usize>(
    of_warp: [Range; COUNT],
    scratch: Shared<Range>,
    warps: u32,
    here: Place,
) -> [Range; COUNT] {
    // SAFETY: the caller's promise; a range is one lane's to write, and read behind the barrier.
    unsafe {
        cuda_std::unroll!(RANGE in 0..COUNT {
            if here.lane == 0 {
                scratch.store(RANGE as u32 * MOST_WARPS + here.warp, of_warp[RANGE]);
            }
        });
        thread::sync_threads();
        ranges_of_warps(scratch, [0, warps], here.lane)
    }
}

/// The ranges of some of the block's warps, given by the first and their number.
///
/// # Safety
///
/// All 32 lanes of the warp make this call, behind [`ranges_of_block`].
#[inline(always)]
pub(super) unsafe fn ranges_of_warps<const COUNT: usize>(
    scratch: Shared<Range>,
    [first, warps]: [u32; 2],
    lane: u32,
) -> [Range; COUNT] {
    const { assert!(COUNT <= RANGES) };
    let mut ranges = [NOTHING; COUNT];
    // SAFETY: the caller's promise.
    unsafe {
        cuda_std::unroll!(RANGE in 0..COUNT {
            let [low, high] = if lane < warps {
                scratch.load(RANGE as u32 * MOST_WARPS + first + lane)
            } else {
                NOTHING
            };
            ranges[RANGE] = [
                from_ordered(warp::reduce_min(ordered(low))),
                from_ordered(warp::reduce_max(ordered(high))),
            ];
        });
    }
    ranges
}

/// The first and the last row, of `samples_per_row` samples, that a tile may need of a channel; 0 and −1 if it needs none. Beyond
/// the two neighbours of a delay on either side it may need `margin` samples.
///
/// # Safety
///
/// The geometry's arrays hold the channel.
#[inline(always)]
pub(super) unsafe fn rows(
    geometry: &Geometry<f32>,
    [x_and_y, z_and_offset]: [[f32; 4]; 2],
    channel: u32,
    is_wanted: bool,
    samples_per_row: i32,
    margin: i32,
) -> [i32; 2] {
    // SAFETY: two pairs an element.
    let ([x, y], [z, _]) = unsafe {
        (
            geometry.elements.load(2 * u64::from(channel)),
            geometry.elements.load(2 * u64::from(channel) + 1),
        )
    };
    let [earliest, latest] = [z_and_offset[2], z_and_offset[3]];
    let near_and_far = |[low, high]: Range, element: f32| {
        let (from_low, from_high) = (low - element, high - element);
        let near = from_low.max(-from_high).max(0.0);
        (near, Real::abs(from_low).max(Real::abs(from_high)))
    };
    let (x_near, x_far) = near_and_far([x_and_y[0], x_and_y[1]], x);
    let (y_near, y_far) = near_and_far([x_and_y[2], x_and_y[3]], y);
    let (z_near, z_far) = near_and_far([z_and_offset[0], z_and_offset[1]], z);
    let (near, far) = ([x_near, y_near, z_near], [x_far, y_far, z_far]);
    let farthest = length(far);
    let slack = ROUNDING * (farthest + Real::abs(earliest).max(Real::abs(latest)));
    let last_sample = geometry.n_samples - 1;
    let first = (length(near) + earliest - slack).max(0.0);
    let last = (farthest + latest + slack).min(last_sample as f32);
    if is_wanted && first <= last {
        // The last sample of the last delay is at least the second of two.
        let last = (last.floor_i32() + 1 + margin).min(last_sample);
        let first = (first.floor_i32() - margin).max(0);
        [first / samples_per_row, last / samples_per_row]
    } else {
        [0, -1]
    }
}
