//! Where things are in the shared memory of a block whose warps multiply in groups of four.
//!
//! | | of | made for a step | used |
//! |---|---|---|---|
//! | steps, rows, lists | the block, the block, a group | two phases ahead | for its copies, and two phases later for its products |
//! | stages, weights, what is heard | the block, a warp, a warp | one phase ahead | for its products |

use super::super::memory::Layout;
use super::super::shape::Shape;
use cuda_std::Shared;

/// Steps that are kept: the one that is multiplied, the one that is copied, the one that is planned; a power of two.
const KEPT: u32 = 4;

/// Channels of a step.
pub(in super::super) const CHANNELS: u32 = 8;

/// Samples of a channel that are in shared memory at once: a lane copies real parts or imaginary ones of one.
pub(super) const ROWS: u32 = 16;

/// Samples of a window.
pub(in super::super) const WINDOW: u32 = 4;

/// Windows of a step for a group at most, a lane each.
const MOST_WINDOWS: u32 = 32;

/// Vectors of a list: the number of pairs, then two for each pair.
const LIST_VECTORS: u32 = 1 + MOST_WINDOWS;

/// Bytes of a group's lists.
pub(in super::super) const LIST_BYTES: u32 = 16 * KEPT * LIST_VECTORS;

/// Warps of a block at most.
const MOST_WARPS: u32 = 16;

/// Bytes of steps, rows and what is heard.
pub(in super::super) const PLANS_BYTES: u32 = KEPT * (16 + 8 * CHANNELS) + 2 * 4 * MOST_WARPS;

/// Bytes of a warp's weights for two steps.
pub(in super::super) const fn weighted_bytes(shape: Shape) -> u32 {
    2 * 16 * shape.weight_plane()
}

/// First channel, chunk, and flags.
pub(super) type Step = [u32; 4];

/// The step has channels.
pub(super) const IS_THERE: u32 = 1;
/// A channel of it has a further chunk.
pub(super) const HAS_MORE: u32 = 2;
/// Its weights are in the second half of the memory for them.
pub(super) const IS_ODD: u32 = 4;

/// A window of a group.
///
/// The first sample's number in single precision; where the channel's weights are. In a pair's second: [`Columns::place`] of both
/// windows, and a bit for each of their channels.
///
/// [`Columns::place`]: cuda_std::warpgroup::Columns::place
pub(super) type Listed = [u32; 4];

/// A warp's view.
#[derive(Clone, Copy)]
pub(super) struct GroupMemory {
    /// Pieces: the samples of two steps, `(stage, channel, column, sample, part)`.
    pub(super) stages: Shared<[u32; 4]>,
    /// For two steps, a voxel and channel each: the delay, then the weight's rows of the left operand, real and imaginary.
    pub(super) weighted: Shared<[u32; 4]>,
    /// For two steps a bit for each channel that a voxel of a warp hears.
    heard: Shared<u32>,
    /// The same, of the four warps of a group.
    heard_by_group: Shared<[u32; 4]>,
    lists: Shared<[u32; 4]>,
    steps: Shared<Step>,
    rows: Shared<[u32; 2]>,
}

impl GroupMemory {
    /// The memory of a warp.
    ///
    /// # Safety
    ///
    /// The launch gives a block as much as the layout says.
    #[inline(always)]
    pub(super) unsafe fn of(shape: Shape, warp: u32) -> Self {
        let layout = Layout::new(shape);
        let rows = layout.plans + 16 * KEPT;
        let heard = rows + 8 * KEPT * CHANNELS;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                stages: Shared::new(0, shape.plane_vectors()),
                weighted: Shared::new(layout.weighted.of_warp(warp), 2 * shape.weight_plane()),
                heard: Shared::new(heard, 2 * MOST_WARPS),
                heard_by_group: Shared::new(heard, 2 * MOST_WARPS / 4),
                lists: Shared::new(layout.lists.of_warp(warp / 4 * 4), KEPT * LIST_VECTORS),
                steps: Shared::new(layout.plans, KEPT),
                rows: Shared::new(rows, KEPT * CHANNELS),
            }
        }
    }

    /// A step.
    ///
    /// # Safety
    ///
    /// It was written before the block's last barrier.
    #[inline(always)]
    pub(super) unsafe fn step(&self, number: u32) -> Step {
        // SAFETY: the caller's promise.
        unsafe { self.steps.load(number % KEPT) }
    }

    /// Writes a step.
    ///
    /// # Safety
    ///
    /// One thread of the block makes this call, a barrier after the last use of the step [`KEPT`] before.
    #[inline(always)]
    pub(super) unsafe fn store_step(&self, number: u32, step: Step) {
        // SAFETY: the caller's promise.
        unsafe { self.steps.store(number % KEPT, step) };
    }

    /// The first sample and the number of samples of a step's channel.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn rows(&self, number: u32, channel: u32) -> [u32; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.rows.load(number % KEPT * CHANNELS + channel) }
    }

    /// Writes them.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`].
    #[inline(always)]
    pub(super) unsafe fn store_rows(&self, number: u32, channel: u32, rows: [u32; 2]) {
        // SAFETY: the caller's promise.
        unsafe { self.rows.store(number % KEPT * CHANNELS + channel, rows) };
    }

    /// The pairs of a step's list.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn pairs(&self, number: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.lists.load(number % KEPT * LIST_VECTORS)[0] }
    }

    /// Writes their number.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`], for the group.
    #[inline(always)]
    pub(super) unsafe fn store_pairs(&self, number: u32, pairs: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.lists.store(number % KEPT * LIST_VECTORS, [pairs, 0, 0, 0]) };
    }

    /// A window of a step's list.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn listed(&self, number: u32, window: u32) -> Listed {
        // SAFETY: the caller's promise.
        unsafe { self.lists.load(number % KEPT * LIST_VECTORS + 1 + window) }
    }

    /// Writes one.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`], for the group.
    #[inline(always)]
    pub(super) unsafe fn store_listed(&self, number: u32, window: u32, listed: Listed) {
        // SAFETY: the caller's promise.
        unsafe { self.lists.store(number % KEPT * LIST_VECTORS + 1 + window, listed) };
    }

    /// A bit for each channel that a voxel of a group hears, of a step with odd or even weights.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn heard(&self, flags: u32, warp: u32) -> u32 {
        // SAFETY: the caller's promise.
        let [first, second, third, fourth] =
            unsafe { self.heard_by_group.load(parity(flags) * (MOST_WARPS / 4) + warp / 4) };
        first | second | third | fourth
    }

    /// Writes a warp's.
    ///
    /// # Safety
    ///
    /// One lane of the warp makes this call, a barrier after the last use.
    #[inline(always)]
    pub(super) unsafe fn store_heard(&self, flags: u32, warp: u32, heard: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.heard.store(parity(flags) * MOST_WARPS + warp, heard) };
    }
}

/// Which half of the memory for weights a step has.
#[inline(always)]
pub(super) const fn parity(flags: u32) -> u32 {
    (flags & IS_ODD) / IS_ODD
}
