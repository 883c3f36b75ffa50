//! What a block works on.

use super::operand::WINDOW_ROWS;
use super::memory::Layout;

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
        Layout::new(self).bytes
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
