//! What a block works on, and where things are in its shared memory.

use super::operand::WINDOW_ROWS;
use super::reach::SCRATCH;

/// Lanes of a warp.
pub(super) const WARP: u32 = 32;

/// Channels of a step.
pub const STEP: u32 = 8;

/// Rows of a channel that are in shared memory at once.
pub const CHUNK_ROWS: u32 = 2 * WINDOW_ROWS;

/// What a block of a kernel works on, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Consecutive voxels of a warp.
    pub voxels_per_warp: u32,
    /// Batch items.
    pub items: u32,
    /// Warps.
    pub warps: u32,
}

impl Shape {
    /// Threads.
    pub const fn threads(self) -> u32 {
        WARP * self.warps
    }

    /// Voxels.
    pub const fn voxels(self) -> u32 {
        self.voxels_per_warp * self.warps
    }

    /// Bytes of shared memory.
    pub const fn shared_bytes(self) -> u32 {
        let layout = Layout::new(self);
        layout.scratch + 8 * SCRATCH
    }
}

/// Vectors of 16 bytes from row to row in shared memory: 32 bytes more than a row has, so that a quarter of a warp, which reads
/// 32 bytes of each of four rows, meets all banks.
pub(super) const fn padded_row(items: u32) -> u32 {
    items / 2 + 2
}

/// Vectors of a stage: the rows of a step's channels.
pub(super) const fn stage_vectors(items: u32) -> u32 {
    STEP * CHUNK_ROWS * padded_row(items)
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
    pub(super) stage_vectors: u32,
    pub(super) weighted: OfWarps,
    pub(super) channels: OfWarps,
    pub(super) voxels: OfWarps,
    pub(super) bounds: OfWarps,
    pub(super) scratch: u32,
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
            items,
            warps,
        } = shape;
        let weighted = OfWarps {
            first: 16 * 2 * stage_vectors(items),
            bytes: 8 * STEP * voxels_per_warp,
        };
        let channels = after(weighted, warps, 16 * 2 * STEP);
        let voxels = after(channels, warps, 16 * 2 * voxels_per_warp);
        let bounds = after(voxels, warps, 16 * 4);
        Self {
            stage_vectors: stage_vectors(items),
            weighted,
            channels,
            voxels,
            bounds,
            scratch: bounds.of_warp(warps),
        }
    }
}
