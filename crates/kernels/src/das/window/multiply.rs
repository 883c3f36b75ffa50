//! The matrix products of a step.

use super::memory::{Memory, Place};
use super::operand::{MOST_WEIGHT_PLANES, Operand, WINDOW_ROWS, Windowed, Words};
use super::reading::Reading;
use super::shape::Shape;

/// Multiplies and adds a step's windows where there is one of each channel.
///
/// # Safety
///
/// All 32 lanes of the warp make this call, behind the barriers of what they read.
#[inline(always)]
pub(super) unsafe fn multiply<
    S: Operand<R>,
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
                    mark: S::later(sample, place * S::SAMPLES_PER_ROW),
                    voxel: channel * VOXELS + group,
                };
                multiply_window::<S, R, GROUPS, VECTORS, TILES>(window, in_order::<S>(&memory, shape), shape, &memory, sums);
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
    S: Operand<R>,
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
                mark: S::later(sample, place * S::SAMPLES_PER_ROW),
                voxel: channel * VOXELS + group,
            };
            while windows != 0 {
                multiply_window::<S, R, GROUPS, VECTORS, TILES>(
                    window,
                    in_order::<S>(&memory, shape),
                    shape,
                    &memory,
                    sums,
                );
                // The second window ends with the chunk. What it has in common with the first has been multiplied.
                let later = rows.wrapping_sub(WINDOW_ROWS);
                window.vector = window.vector.wrapping_add(later.wrapping_mul(row));
                window.mark = if place.wrapping_add(later) < WINDOW_ROWS {
                    S::NOWHERE
                } else {
                    S::later(window.mark, later.wrapping_mul(S::SAMPLES_PER_ROW))
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
unsafe fn in_order<S: Windowed>(memory: &Memory, shape: Shape) -> impl Fn(&Window, usize) -> Voxels {
    let weighted = memory.weighted;
    let words = move |voxel: u32| {
        let mut words = [0; 2 * MOST_WEIGHT_PLANES];
        cuda_std::unroll!(PLANE in [0, 1, 2] {
            if (PLANE as u32) < S::WEIGHT_PLANES {
                // SAFETY: the caller's promise.
                let pair = unsafe { weighted.load(PLANE as u32 * shape.weight_plane() + voxel) };
                (words[2 * PLANE], words[2 * PLANE + 1]) = (pair[0], pair[1]);
            }
        });
        words
    };
    move |window, group| {
        let first = window.voxel + group as u32 * S::GROUP_VOXELS;
        let second = if S::GROUP_VOXELS == 16 {
            words(first + 8)
        } else {
            [0; 2 * MOST_WEIGHT_PLANES]
        };
        Voxels {
            words: [words(first), second],
            places: [first, first + 8],
        }
    }
}

/// A lane's voxels of a group.
pub(super) struct Voxels {
    pub(super) words: [Words; 2],
    /// Their places among the step's.
    pub(super) places: [u32; 2],
}

/// A window as a lane sees it.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// The vector of the stages at which the lane's samples begin.
    pub(super) vector: u32,
    /// The first sample of the lane's row, as [`Windowed::mark`].
    pub(super) mark: u32,
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
    S: Operand<R>,
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
        let left = |group: usize| {
            let Voxels { words, places } = voxels_of(&window, group);
            S::left(words, places, window.mark, (memory, shape))
        };
        let right = |vector: [u32; 4], tile: usize| [vector[2 * tile], vector[2 * tile + 1]];
        if S::PLANES == 1 {
            let mut samples = [[0; 4]; VECTORS];
            cuda_std::unroll!(VECTOR in 0..VECTORS {
                samples[VECTOR] = memory.stages.load(window.vector + 8 * VECTOR as u32);
            });
            cuda_std::unroll!(GROUP in 0..GROUPS {
                let left = left(GROUP);
                cuda_std::unroll!(TILE in 0..TILES {
                    let right = right(samples[TILE / 2], TILE % 2);
                    sums[GROUP][TILE] = S::multiply_add(&left, [right, [0; 2]], sums[GROUP][TILE]);
                });
            });
        } else {
            // Two planes of all samples would not find room in registers; of the left operand they do.
            let mut lefts = [S::Left::default(); GROUPS];
            cuda_std::unroll!(GROUP in 0..GROUPS {
                lefts[GROUP] = left(GROUP);
            });
            cuda_std::unroll!(VECTOR in 0..VECTORS {
                let at = window.vector + 8 * VECTOR as u32;
                let [high, low] = [memory.stages.load(at), memory.stages.load(at + shape.plane_vectors())];
                cuda_std::unroll!(TILE in [0, 1] {
                    let right = [right(high, TILE), right(low, TILE)];
                    cuda_std::unroll!(GROUP in [0, 1] {
                        if GROUP < GROUPS {
                            let sums = &mut sums[GROUP][2 * VECTOR + TILE];
                            *sums = S::multiply_add(&lefts[GROUP], right, *sums);
                        }
                    });
                });
            });
        }
    }
}
