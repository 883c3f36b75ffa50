//! What a block works on.

use super::memory::Layout;
use super::operand::WINDOW_ROWS;

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
    /// Rows of a channel that are in shared memory at once: a chunk. Of a warp group a row is a sample.
    pub rows: u32,
    /// Rows of a window: [`WINDOW_ROWS`], or half as many, so that a product takes windows of two channels.
    pub window_rows: u32,
    /// Warps that share windows and products: 1, or the 4 of a warp group, whose samples are in columns.
    pub group_warps: u32,
    /// Planes of samples.
    pub planes: u32,
    /// Pairs of words that are kept of a voxel and channel.
    pub weight_planes: u32,
    /// Words of interpolation weights that are kept of a voxel and channel; 0 where they are made from the delay.
    pub tap_words: u32,
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

    /// Whether the warps of a group multiply together.
    pub const fn is_grouped(self) -> bool {
        self.group_warps > 1
    }

    /// Vectors of a stage's plane: the rows of a step's channels.
    const fn stage_vectors(self) -> u32 {
        self.channels
            * self.rows
            * if self.is_grouped() {
                self.items / 4
            } else {
                self.padded_row()
            }
    }

    /// Vectors of a plane of both stages, and from each of its rows to that of the next plane.
    pub(super) const fn plane_vectors(self) -> u32 {
        2 * self.stage_vectors()
    }

    /// Voxels and channels of a step: a plane of what is kept of them.
    pub(super) const fn weight_plane(self) -> u32 {
        self.channels * self.voxels_per_warp
    }

    /// Whether a product takes the windows of two channels, listed by each warp.
    pub(super) const fn is_paired(self) -> bool {
        self.window_rows < WINDOW_ROWS
    }

    /// The vector of the stages at which a row begins.
    ///
    /// Where products take windows of two channels, two rows of an even channel and two of the odd one after it alternate,
    /// so that two rows of either meet all banks, wherever they begin.
    #[inline(always)]
    pub(super) const fn row_vector(self, stage: u32, channel: u32, row: u32) -> u32 {
        if self.is_paired() {
            let row = stage * self.rows + row;
            let first = channel / 2 * 4 * self.rows + channel % 2 * 2;
            (first + row / 2 * 4 + row % 2) * self.padded_row()
        } else {
            ((stage * self.channels + channel) * self.rows + row) * self.padded_row()
        }
    }

    /// Words from one of a voxel and channel to its next, so that the lanes of a voxel, which read neighbouring ones, meet
    /// different banks.
    pub(super) const fn word_plane(self) -> u32 {
        let of_step = self.channels * self.voxels_per_warp;
        if self.is_paired() { of_step + 1 } else { of_step + 8 }
    }

    /// A word of the voxel and channel at a place.
    #[inline(always)]
    pub(super) const fn word(self, word: u32, place: u32) -> u32 {
        word * self.word_plane() + place
    }

    /// The word that has the weight of the sample `sample`, an even number.
    #[inline(always)]
    pub(super) const fn word_of_sample(self, sample: u32, place: u32) -> u32 {
        sample / 2 * self.word_plane() + place
    }

    /// Bytes of shared memory.
    pub const fn shared_bytes(self) -> u32 {
        Layout::new(self).bytes
    }
}
