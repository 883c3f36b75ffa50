//! The matrix products of a step.

use super::memory::{Memory, Place};
use super::operand::{WINDOW_ROWS, Weighted, Windowed, voxels_of_group};
use super::reading::Reading;
use super::shape::Shape;
use cuda_std::half::F16Pair;
use cuda_std::matrix;

/// Multiplies and adds a step's windows where there is one of each channel.
///
/// # Safety
///
/// All 32 lanes of the warp make this call, behind the barriers of what they read.
#[inline(always)]
pub(super) unsafe fn multiply<
    S: Windowed,
    R: Reading,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
>(
    stage: u32,
    shape: Shape,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    let here = Place::here();
    let (group, place) = (here.lane / 4, here.lane % 4);
    let own = place * shape.padded_row() + group;
    let own_sample = (place * S::SAMPLES_PER_ROW) as f32;
    let mut channel = 0;
    // SAFETY: the caller's promise; the channels, their rows and voxels are in range.
    unsafe {
        let memory = Memory::of(shape, here.warp);
        while channel < shape.channels {
            const TOGETHER: usize = 2;
            cuda_std::unroll!(CHANNEL in 0..TOGETHER {
                let channel = channel + CHANNEL as u32;
                let [vector, sample, ..] = memory.lists.load(stage * shape.channels + channel);
                let window = Window {
                    vector: vector + own,
                    sample: f32::from_bits(sample) + own_sample,
                    voxel: channel * VOXELS + group,
                };
                multiply_window::<S, R, GROUPS, VECTORS, TILES>(window, in_order::<S>(&memory), shape, &memory, sums);
            });
            channel += TOGETHER as u32;
        }
    }
}

/// Multiplies and adds a step's windows, those of the channels that are heard.
///
/// # Safety
///
/// As [`multiply`].
#[inline(always)]
pub(super) unsafe fn multiply_listed<
    S: Windowed,
    R: Reading,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
>(
    stage: u32,
    heard: u32,
    shape: Shape,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    let here = Place::here();
    let (group, place) = (here.lane / 4, here.lane % 4);
    let row = shape.padded_row();
    let mut channel = 0;
    while channel < shape.channels {
        // SAFETY: the caller's promise; the channels, their rows and voxels are in range.
        unsafe {
            let memory = Memory::of(shape, here.warp);
            let [vector, sample, listed, rows] = memory.lists.load(stage * shape.channels + channel);
            let mut windows = if heard >> channel & 1 == 0 { 0 } else { listed };
            let mut window = Window {
                vector: vector + place * row + group,
                sample: f32::from_bits(sample) + (place * S::SAMPLES_PER_ROW) as f32,
                voxel: channel * VOXELS + group,
            };
            while windows != 0 {
                multiply_window::<S, R, GROUPS, VECTORS, TILES>(window, in_order::<S>(&memory), shape, &memory, sums);
                // The second window ends with the chunk. What it has in common with the first has been multiplied.
                let later = rows.wrapping_sub(WINDOW_ROWS);
                window.vector = window.vector.wrapping_add(later.wrapping_mul(row));
                window.sample += if place.wrapping_add(later) < WINDOW_ROWS {
                    NOWHERE
                } else {
                    later.wrapping_mul(S::SAMPLES_PER_ROW) as f32
                };
                windows -= 1;
            }
        }
        channel += 1;
    }
}

/// How a lane finds its voxels where those of a channel are in order.
///
/// # Safety
///
/// As [`multiply_window`].
#[inline(always)]
unsafe fn in_order<S: Windowed>(memory: &Memory) -> impl Fn(&Window, usize) -> Voxels {
    let weighted = memory.weighted;
    move |window, group| {
        let first = window.voxel + group as u32 * S::GROUP_VOXELS;
        Voxels {
            // SAFETY: the caller's promise.
            weighted: unsafe { voxels_of_group::<S>(weighted, first) },
            places: [first, first + 8],
        }
    }
}

/// A lane's voxels of a group.
pub(super) struct Voxels {
    pub(super) weighted: [Weighted; 2],
    /// Their places among the step's.
    pub(super) places: [u32; 2],
}

/// A sample that is far from every delay.
pub(super) const NOWHERE: f32 = 1e30;

/// A window as a lane sees it.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// The vector of the stages at which the lane's samples begin.
    pub(super) vector: u32,
    /// The first sample of the lane's row.
    pub(super) sample: f32,
    /// The lane's voxel of the first group, among the weights.
    pub(super) voxel: u32,
}

/// Multiplies and adds one window; `voxels_of` gives the lane's voxels of a group.
///
/// # Safety
///
/// As [`multiply`]; the window's vectors and voxels are in range.
#[inline(always)]
pub(super) unsafe fn multiply_window<
    S: Windowed,
    R: Reading,
    const GROUPS: usize,
    const VECTORS: usize,
    const TILES: usize,
>(
    window: Window,
    voxels_of: impl Fn(&Window, usize) -> Voxels,
    shape: Shape,
    memory: &Memory,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut samples = [[0; 4]; VECTORS];
        cuda_std::unroll!(VECTOR in 0..VECTORS {
            samples[VECTOR] = memory.stages.load(window.vector + 8 * VECTOR as u32);
        });
        cuda_std::unroll!(GROUP in 0..GROUPS {
            let Voxels { weighted, places } = voxels_of(&window, GROUP);
            let pair = |voxel: usize, later: u32| {
                R::pair(memory, shape, places[voxel], weighted[voxel], window.sample, later)
            };
            let left = S::left(weighted.map(|[_, weight]| F16Pair(weight)), pair);
            cuda_std::unroll!(TILE in 0..TILES {
                let vector = samples[TILE / 2];
                let right = [vector[TILE % 2 * 2], vector[TILE % 2 * 2 + 1]];
                sums[GROUP][TILE] = matrix::mma_m16n8k16_f16(left, right, sums[GROUP][TILE]);
            });
        });
    }
}
