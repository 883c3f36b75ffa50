//! What a block works on.

use super::memory::Layout;

/// Lanes of a warp.
pub(super) const WARP: u32 = 32;

/// What a block of a kernel works on, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Consecutive voxels of a warp.
    pub voxels_per_warp: u32,
    /// Batch items.
    pub items: u32,
    /// Warps.
    pub warps: u32,
    /// Channels of a step.
    pub channels: u32,
    /// Rows of a channel that are in shared memory at once: a chunk.
    pub rows: u32,
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

    /// Vectors of 16 bytes from row to row in shared memory: 32 bytes more than a row has, so that a quarter of a warp,
    /// which reads 32 bytes of each of four rows, meets all banks.
    pub(super) const fn padded_row(self) -> u32 {
        self.items / 2 + 2
    }

    /// Vectors of a stage: the rows of a step's channels.
    pub(super) const fn stage_vectors(self) -> u32 {
        self.channels * self.rows * self.padded_row()
    }

    /// Bytes of shared memory.
    pub const fn shared_bytes(self) -> u32 {
        Layout::new(self).bytes
    }
}
