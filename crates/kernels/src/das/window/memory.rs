//! Where a thread is, and where things are in its block's shared memory.

use super::super::geometry::Geometry;
use super::operand::{Weighted, Windowed};
use super::pair::{HALF_ROWS, Half, HalfWindows, LISTED};
use super::prepare::Channel;
use super::reach::{Range, SCRATCH};
use super::shape::{Shape, WARP};
use super::state::{Round, STATE_BYTES, Steps};
use super::warpgroup;
use cuda_std::{Shared, thread};

/// A thread's lane and warp.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) lane: u32,
    pub(super) warp: u32,
}

impl Place {
    /// This thread's; what depends on it is found again after each call, because registers are scarce.
    #[inline(always)]
    pub(super) fn here() -> Self {
        let thread = thread::opaque(thread::thread_idx_x());
        Self {
            lane: thread % WARP,
            warp: thread / WARP,
        }
    }
}

/// The same number, of which the compiler knows nothing, as [`thread::opaque`].
#[inline(always)]
fn opaque(number: u64) -> u64 {
    let [low, high] = [number as u32, (number >> 32) as u32].map(thread::opaque);
    u64::from(low) | u64::from(high) << 32
}

/// The same geometry, of which nothing that is computed from its counts is kept where registers are scarcest: for samples in two
/// planes, and where warps multiply in groups; elsewhere that would cost a fiftieth of the time.
#[inline(always)]
pub(super) fn again<S: Windowed>(geometry: &Geometry<f32>, shape: Shape) -> Geometry<f32> {
    if S::PLANES == 1 && !shape.is_grouped() {
        return *geometry;
    }
    Geometry {
        n_samples: thread::opaque(geometry.n_samples.cast_unsigned()).cast_signed(),
        n_voxels: opaque(geometry.n_voxels),
        voxel_pitch: opaque(geometry.voxel_pitch),
        is_sparse: thread::opaque(geometry.is_sparse),
        ..*geometry
    }
}

/// A warp's parts of the block's shared memory, and the block's.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// The block's rows of two steps.
    pub(super) stages: Shared<[u32; 4]>,
    /// Delays and weights of the warp's voxels for a step's channels, plane by plane.
    pub(super) weighted: Shared<Weighted>,
    /// The same where products take windows of two channels: the two voxels of a lane together.
    pub(super) weighted_pairs: Shared<[u32; 4]>,
    /// Pairs of interpolation weights of the warp's voxels for a step's channels, where those are kept.
    pub(super) words: Shared<u32>,
    /// The warp's windows of two steps.
    pub(super) lists: Shared<Channel>,
    /// Instead of these, where products take windows of two channels, the half-windows of two steps' channels.
    pub(super) half_windows: Shared<HalfWindows>,
    /// And those that are multiplied, in the order of the lanes of groups of four.
    pub(super) halves: Shared<Half>,
    /// The warp's voxels: first halves, then second halves.
    pub(super) voxels: Shared<[f32; 4]>,
    /// The bounds of the warp's voxels, then of the block's.
    pub(super) bounds: Shared<[f32; 4]>,
    /// The [`Task`](super::state::Task).
    pub(super) task: Shared<[u32; 4]>,
    /// The round.
    pub(super) round: Shared<Round>,
    /// The steps.
    pub(super) steps: Shared<Steps>,
    /// 1 if a channel of the next step has a further chunk.
    pub(super) has_more: Shared<u32>,
    /// Which half of the memory the step has that is multiplied, 0 or 1; the next one has the other.
    pub(super) stage: Shared<u32>,
    /// For what warps tell each other.
    pub(super) scratch: Shared<Range>,
}

impl Memory {
    /// The memory of a warp.
    ///
    /// # Safety
    ///
    /// The launch gives a block as much as the layout says.
    #[inline(always)]
    pub(super) unsafe fn of(shape: Shape, warp: u32) -> Self {
        let layout = Layout::new(shape);
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                stages: Shared::new(0, shape.planes * shape.plane_vectors()),
                weighted: Shared::new(
                    layout.weighted.of_warp(warp),
                    shape.weight_planes * shape.weight_plane(),
                ),
                weighted_pairs: Shared::new(
                    layout.weighted.of_warp(warp),
                    if shape.is_paired() {
                        shape.weight_planes * shape.weight_plane() / 2
                    } else {
                        0
                    },
                ),
                words: Shared::new(layout.words.of_warp(warp), shape.tap_words * shape.word_plane()),
                lists: Shared::new(
                    layout.lists.of_warp(warp),
                    if shape.is_paired() { 0 } else { 2 * shape.channels },
                ),
                half_windows: Shared::new(
                    layout.lists.of_warp(warp),
                    if shape.is_paired() { 2 * shape.channels } else { 0 },
                ),
                halves: Shared::new(
                    layout.lists.of_warp(warp) + 8 * 2 * shape.channels,
                    if shape.is_paired() {
                        LISTED * HALF_ROWS * shape.channels
                    } else {
                        0
                    },
                ),
                voxels: Shared::new(layout.voxels.of_warp(warp), 2 * shape.voxels_per_warp),
                bounds: Shared::new(layout.bounds.of_warp(warp), 4),
                task: Shared::new(layout.state.of_warp(warp), 2),
                round: Shared::new(layout.state.of_warp(warp) + 32, 1),
                steps: Shared::new(layout.state.of_warp(warp) + 48, 1),
                has_more: Shared::new(layout.state.of_warp(warp) + 40, 1),
                stage: Shared::new(layout.state.of_warp(warp) + 44, 1),
                scratch: Shared::new(layout.scratch, SCRATCH),
            }
        }
    }
}

/// The bytes of a kind that each warp has.
#[derive(Clone, Copy)]
pub(super) struct OfWarps {
    first: u32,
    bytes: u32,
}

impl OfWarps {
    /// Where a warp's bytes begin.
    #[inline(always)]
    pub(super) const fn of_warp(self, warp: u32) -> u32 {
        self.first + warp * self.bytes
    }
}

/// Where things are in a block's shared memory; two stages come first.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) weighted: OfWarps,
    words: OfWarps,
    pub(super) lists: OfWarps,
    voxels: OfWarps,
    bounds: OfWarps,
    pub(super) state: OfWarps,
    scratch: u32,
    /// What the warps of groups know of steps.
    pub(super) plans: u32,
    /// Bytes in all.
    pub(super) bytes: u32,
}

impl Layout {
    /// The layout for a shape.
    #[inline(always)]
    pub(super) const fn new(shape: Shape) -> Self {
        const fn after(before: OfWarps, warps: u32, bytes: u32) -> OfWarps {
            OfWarps {
                first: before.of_warp(warps),
                bytes,
            }
        }
        let Shape {
            voxels_per_warp,
            warps,
            channels,
            ..
        } = shape;
        let weighted = OfWarps {
            first: 16 * shape.planes * shape.plane_vectors(),
            bytes: if shape.is_grouped() {
                warpgroup::memory::weighted_bytes(shape)
            } else {
                8 * shape.weight_planes * shape.weight_plane()
            },
        };
        let list = if shape.is_grouped() {
            warpgroup::memory::LIST_BYTES / shape.group_warps
        } else if shape.is_paired() {
            8 * (2 + LISTED * HALF_ROWS) * channels
        } else {
            16 * 2 * channels
        };
        let words = after(
            weighted,
            warps,
            (4 * shape.tap_words * shape.word_plane()).next_multiple_of(16),
        );
        let lists = after(words, warps, list);
        let voxels = after(lists, warps, 16 * 2 * voxels_per_warp);
        let bounds = after(voxels, warps, 16 * 4);
        let state = after(bounds, warps, STATE_BYTES);
        let scratch = state.of_warp(warps);
        let plans = scratch + 8 * SCRATCH;
        let of_plans = if shape.is_grouped() {
            warpgroup::memory::PLANS_BYTES
        } else {
            0
        };
        Self {
            weighted,
            words,
            lists,
            voxels,
            bounds,
            state,
            scratch,
            plans,
            bytes: plans + of_plans,
        }
    }
}
