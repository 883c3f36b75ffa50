//! Products of two half-windows: half of a product's samples are one channel's, the other half another's.
//!
//! Lanes t = 0 and 1 of each group of four have the two rows of one half-window, lanes 2 and 3 those of another: samples,
//! delays and weights are per lane, so the product is the same. A warp lists the half-windows of a step's channels, those of
//! even channels for the lower lanes and those of odd ones for the upper, where [`Shape::row_vector`] and [`place_of`] keep
//! the two in different banks; what one side has more goes to the other.

use super::memory::{Memory, Place};
use super::multiply::{Voxels, Window, multiply_window};
use super::operand::{MOST_WEIGHT_PLANES, Operand, Windowed, Words};
use super::reading::Reading;
use super::shape::Shape;
use cuda_std::warp;

/// Rows of a half-window.
pub(super) const HALF_ROWS: u32 = 2;

/// Half-windows of a channel that are listed at once: as many as two bits count.
pub(super) const LISTED: u32 = 3;

/// A channel's half-windows in a chunk: row of the first, rows from there to the last that a half-window can begin with,
/// and their number, 8 bits each; the first one's sample, as [`Windowed::mark`].
pub(super) type HalfWindows = [u32; 2];

/// A row of a half-window, as its lanes read it: the vector of the stages, and the channel's first pair of voxels, 16 bits
/// each; the row's first sample, as [`Windowed::mark`].
pub(super) type Half = [u32; 2];

/// Bits of the even channels.
const EVEN: u32 = 0x5555_5555;

/// Where the first pair of voxels of a channel is among the step's; with exclusive or to the others. So those of odd channels
/// are exchanged two by two.
#[inline(always)]
const fn first_pair(channel: u32) -> u32 {
    channel * 8 + channel % 2 * 2
}

/// The place among a step's weights of a channel's voxel: that of group 1 follows that of group 0.
#[inline(always)]
pub(super) const fn place_of(channel: u32, voxel: u32) -> u32 {
    (first_pair(channel) ^ (voxel % 8)) * 2 + voxel / 8
}

/// The half-windows of a channel for a warp that needs these rows of a chunk of `rows`, whose first is `first_of_chunk` of
/// the channel.
#[inline(always)]
pub(super) fn half_windows<S: Windowed>([first, last]: [i32; 2], rows: i32, first_of_chunk: i32) -> HalfWindows {
    let half = HALF_ROWS.cast_signed();
    let (first, last) = (first.max(0), last.min(rows - 1));
    if first > last {
        return [0, 0];
    }
    let count = (last - first) / half + 1;
    let start = first.min(rows - half * count).max(0);
    let sample = (first_of_chunk + start) * S::SAMPLES_PER_ROW.cast_signed();
    [
        (start | (rows - half - start) << 8 | count << 16).cast_unsigned(),
        S::mark(sample),
    ]
}

/// Multiplies and adds a step's half-windows, those of the channels that are heard.
///
/// # Safety
///
/// All 32 lanes of the warp make this call, behind the barriers of what they read.
#[inline(always)]
pub(super) unsafe fn multiply_pairs<
    S: Operand<R>,
    R: Reading,
    const GROUPS: usize,
    const VECTORS: usize,
    const TILES: usize,
>(
    stage: u32,
    heard: u32,
    shape: Shape,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    let mut listed = 0;
    // SAFETY: the caller's promise; the listed rows and voxels are in range.
    unsafe {
        loop {
            let Listed { pairs, has_more } = list::<S>(stage, heard, listed, shape);
            if pairs == 0 {
                return;
            }
            let here = Place::here();
            let (group, place) = (here.lane / 4, here.lane % 4);
            let memory = Memory::of(shape, here.warp);
            let mut at = place;
            let last = 4 * (pairs - 1) + place;
            let mut half = memory.halves.load(at);
            loop {
                let next = memory.halves.load((at + 4).min(last));
                let [vector_and_voxel, mark] = half;
                let window = Window {
                    vector: (vector_and_voxel >> 16) + group,
                    mark,
                    voxel: (vector_and_voxel & 0xffff) ^ group,
                };
                let mut voxels: [Words; 2] = [[0; 2 * MOST_WEIGHT_PLANES]; 2];
                cuda_std::unroll!(PLANE in [0, 1, 2] {
                    if (PLANE as u32) < S::WEIGHT_PLANES {
                        let at = PLANE as u32 * shape.weight_plane() / 2 + window.voxel;
                        let pairs = memory.weighted_pairs.load(at);
                        (voxels[0][2 * PLANE], voxels[0][2 * PLANE + 1]) = (pairs[0], pairs[1]);
                        (voxels[1][2 * PLANE], voxels[1][2 * PLANE + 1]) = (pairs[2], pairs[3]);
                    }
                });
                let of_group = |_: &Window, group: usize| Voxels {
                    words: [voxels[group], [0; 2 * MOST_WEIGHT_PLANES]],
                    places: [2 * window.voxel + group as u32; 2],
                };
                multiply_window::<S, R, GROUPS, VECTORS, TILES>(window, of_group, shape, &memory, sums);
                half = next;
                if at == last {
                    break;
                }
                at += 4;
            }
            if !has_more {
                return;
            }
            listed += LISTED;
        }
    }
}

/// What was listed.
struct Listed {
    pairs: u32,
    /// Whether a channel has half-windows that are not listed yet.
    has_more: bool,
}

/// Lists each channel's half-windows from its number `listed` on, [`LISTED`] at most.
///
/// # Safety
///
/// As [`multiply_pairs`].
#[inline(always)]
unsafe fn list<S: Windowed>(stage: u32, heard: u32, listed: u32, shape: Shape) -> Listed {
    let Place { lane, warp } = Place::here();
    let channel = lane % shape.channels;
    let side = channel % 2;
    // SAFETY: the caller's promise; a place of the list is one lane's to write, and read behind the warp's barrier.
    unsafe {
        let memory = Memory::of(shape, warp);
        let [packed, first_mark] = memory.half_windows.load(stage * shape.channels + channel);
        let (start, room, of_channel) = (packed & 0xff, packed >> 8 & 0xff, packed >> 16);
        let is_listed = lane < shape.channels && heard >> channel & 1 != 0;
        let left = if is_listed {
            of_channel.saturating_sub(listed)
        } else {
            0
        };
        let count = left.min(LISTED);
        let has_more = warp::any(left > LISTED);
        let (ones, twos) = (warp::ballot(count & 1 != 0), warp::ballot(count & 2 != 0));
        let sum = |lanes: u32| (ones & lanes).count_ones() + 2 * (twos & lanes).count_ones();
        let total = sum(u32::MAX);
        let pairs = total.div_ceil(2);
        let of_side = EVEN << side;
        let before = sum(of_side & ((1 << lane) - 1));
        let others = total - sum(of_side);
        let mut number = 0;
        // What was listed before has been read.
        warp::sync_warp();
        while number < count {
            let later = HALF_ROWS * (listed + number);
            let row = start + later.min(room);
            let mark = S::later(first_mark, later.min(room) * S::SAMPLES_PER_ROW);
            let index = before + number;
            let (pair, side) = if index < pairs {
                (index, side)
            } else {
                (others + index - pairs, 1 - side)
            };
            // The odd one out has itself for company, with weights of 0.
            let is_alone = 2 * pair + 2 > total;
            let put = |row_of_half: u32, mark: u32| {
                let vector = shape.row_vector(stage, channel, row + row_of_half);
                let vector_and_voxel = vector << 16 | first_pair(channel);
                let at = 4 * pair + row_of_half;
                memory.halves.store(at + HALF_ROWS * side, [vector_and_voxel, mark]);
                if is_alone {
                    memory
                        .halves
                        .store(at + HALF_ROWS * (1 - side), [vector_and_voxel, S::NOWHERE]);
                }
            };
            // The last one ends with the chunk. What it has in common with the one before has been multiplied.
            put(0, if later > room { S::NOWHERE } else { mark });
            put(1, S::later(mark, S::SAMPLES_PER_ROW));
            number += 1;
        }
        warp::sync_warp();
        Listed { pairs, has_more }
    }
}
