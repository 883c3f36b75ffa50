//! Where things are in the shared memory of a block whose warps multiply in groups of four.
//!
//! | | of | made | used |
//! |---|---|---|---|
//! | plans | the block, a group | for 32 channels, before the first of them is listed | for the lists and copies of these |
//! | steps | the block | a phase before they are listed | until they have been multiplied |
//! | lists | a group | two phases ahead | for products |
//! | stages, weights, what is heard | the block, a warp, a warp | one phase ahead | for products |

use super::super::memory::Layout;
use super::super::shape::{Shape, WARP};
use cuda_std::Shared;
use cuda_std::bulk::Barrier;
use cuda_std::warpgroup::Rows;

/// Steps that are kept: those that are next, listed, copied, multiplied.
const KEPT: u32 = 4;

/// Channels of a step.
pub(in super::super) const CHANNELS: u32 = 8;

/// Samples of a channel that are in shared memory at once.
pub(super) const ROWS: u32 = 16;

/// Samples of a window.
pub(in super::super) const WINDOW: u32 = 4;

/// Windows of a channel in a chunk at most.
pub(super) const MOST_WINDOWS: u32 = ROWS / WINDOW;

/// Pairs of windows of a step for a group at most.
const MOST_PAIRS: u32 = CHANNELS * MOST_WINDOWS / 2;

/// Vectors of a list: the number of pairs, their left operands, and their right ones.
const LIST_VECTORS: u32 = 1 + 2 * MOST_PAIRS;

/// Channels of two plans.
const PLANNED: u32 = 2 * WARP;

/// Bytes of a group's lists and plans.
pub(in super::super) const LIST_BYTES: u32 = 16 * KEPT * LIST_VECTORS + 8 * PLANNED;

/// Warps of a block at most.
const MOST_WARPS: u32 = 16;

/// Bytes of steps, plans, what is heard, and barriers.
pub(in super::super) const PLANS_BYTES: u32 = 16 * KEPT + 8 * PLANNED + 2 * 4 * MOST_WARPS + 2 * 8;

/// Bytes of a warp's weights for two steps.
pub(in super::super) const fn weighted_bytes(shape: Shape) -> u32 {
    2 * 16 * shape.weight_plane()
}

/// First channel, chunk, and flags.
pub(super) type Step = [u32; 4];

/// The step has channels.
pub(super) const IS_THERE: u32 = 1;
/// Its weights are in the second half of the memory for them.
pub(super) const IS_ODD: u32 = 2;
/// It comes before a round's first.
pub(super) const IS_BEFORE: u32 = 4;

/// The first and the last sample that are needed of a channel; of none the last comes before the first.
pub(super) type Reach = [u32; 2];

/// A window's left operand: where its channel's weights are, and the first sample's number in single precision.
pub(super) type Left = [u32; 2];

/// A warp's view.
#[derive(Clone, Copy)]
pub(super) struct GroupMemory {
    /// The samples of two steps, `(stage, channel, column, sample, part)`, rows of 64 batch items.
    pub(super) stages: Shared<[u32; 4]>,
    /// For two steps, a voxel and channel each: the delay, then the weight's rows of the left operand, real and imaginary.
    pub(super) weighted: Shared<[u32; 4]>,
    /// For two steps a bit for each channel that a voxel of a warp hears.
    heard: Shared<u32>,
    /// The same, of the four warps of a group.
    heard_by_group: Shared<[u32; 4]>,
    lists: Shared<[u32; 4]>,
    /// Windows' parts of these.
    lefts: Shared<Left>,
    reach_of_group: Shared<Reach>,
    steps: Shared<Step>,
    reach: Shared<Reach>,
    /// Of the copies to the two stages.
    pub(super) barriers: Shared<Barrier>,
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
        let reach = layout.plans + 16 * KEPT;
        let heard = reach + 8 * PLANNED;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                stages: Shared::new(0, shape.plane_vectors()),
                weighted: Shared::new(layout.weighted.of_warp(warp), 2 * shape.weight_plane()),
                heard: Shared::new(heard, 2 * MOST_WARPS),
                heard_by_group: Shared::new(heard, 2 * MOST_WARPS / 4),
                lists: Shared::new(layout.lists.of_warp(warp / 4 * 4), KEPT * LIST_VECTORS),
                lefts: Shared::new(layout.lists.of_warp(warp / 4 * 4), 2 * KEPT * LIST_VECTORS),
                reach_of_group: Shared::new(layout.lists.of_warp(warp / 4 * 4) + 16 * KEPT * LIST_VECTORS, PLANNED),
                steps: Shared::new(layout.plans, KEPT),
                reach: Shared::new(reach, PLANNED),
                barriers: Shared::new(heard + 2 * 4 * MOST_WARPS, 2),
            }
        }
    }

    /// A warp's weights as the lanes of a voxel see them: at the places of channels.
    ///
    /// # Safety
    ///
    /// There is such a voxel.
    #[inline(always)]
    pub(super) unsafe fn weighted_of_voxel(shape: Shape, warp: u32, voxel: u32) -> Shared<[u32; 4]> {
        let first = Layout::new(shape).weighted.of_warp(warp);
        // SAFETY: the caller's promise.
        unsafe { Shared::new(first + 16 * voxel, 2 * shape.weight_plane() - voxel) }
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

    /// What a plan says of the block and a channel, counted from the part's first.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn reach(&self, channel: u32) -> Reach {
        // SAFETY: the caller's promise.
        unsafe { self.reach.load(channel % PLANNED) }
    }

    /// Writes it.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`].
    #[inline(always)]
    pub(super) unsafe fn store_reach(&self, channel: u32, reach: Reach) {
        // SAFETY: the caller's promise.
        unsafe { self.reach.store(channel % PLANNED, reach) };
    }

    /// What it says of the group.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn reach_of_group(&self, channel: u32) -> Reach {
        // SAFETY: the caller's promise.
        unsafe { self.reach_of_group.load(channel % PLANNED) }
    }

    /// Writes that.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`], for the group.
    #[inline(always)]
    pub(super) unsafe fn store_reach_of_group(&self, channel: u32, reach: Reach) {
        // SAFETY: the caller's promise.
        unsafe { self.reach_of_group.store(channel % PLANNED, reach) };
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

    /// The left operands of a pair of a step's list.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn lefts(&self, number: u32, pair: u32) -> [Left; 2] {
        // SAFETY: the caller's promise.
        let [place, mark, place_of_second, mark_of_second] =
            unsafe { self.lists.load(number % KEPT * LIST_VECTORS + 1 + pair) };
        [[place, mark], [place_of_second, mark_of_second]]
    }

    /// Writes a window's.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`], for the group.
    #[inline(always)]
    pub(super) unsafe fn store_left(&self, number: u32, window: u32, left: Left) {
        // SAFETY: the caller's promise.
        unsafe { self.lefts.store(2 * (number % KEPT * LIST_VECTORS + 1) + window, left) };
    }

    /// The right operand of a pair, and a bit for each of its channels.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::step`].
    #[inline(always)]
    pub(super) unsafe fn right(&self, number: u32, pair: u32) -> (Rows, u32) {
        // SAFETY: the caller's promise.
        let [first, later, channels, _] =
            unsafe { self.lists.load(number % KEPT * LIST_VECTORS + 1 + MOST_PAIRS + pair) };
        (Rows::from_words([first, later]), channels)
    }

    /// Writes them.
    ///
    /// # Safety
    ///
    /// As [`GroupMemory::store_step`], for the group.
    #[inline(always)]
    pub(super) unsafe fn store_right(&self, number: u32, pair: u32, right: Rows, channels: u32) {
        let [first, later] = right.words();
        let at = number % KEPT * LIST_VECTORS + 1 + MOST_PAIRS + pair;
        // SAFETY: the caller's promise.
        unsafe { self.lists.store(at, [first, later, channels, 0]) };
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
