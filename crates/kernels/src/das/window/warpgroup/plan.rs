//! What is known of steps before their samples are copied: which samples block and group need of each channel, for as many channels as a
//! warp has lanes, and the pairs of a step's windows.

use super::super::super::geometry::Geometry;
use super::super::super::permute_columns::{COLUMN_ITEMS, PARTS};
use super::super::DasWindow;
use super::super::memory::{Memory, Place};
use super::super::operand::Windowed;
use super::super::reach::rows;
use super::super::reading::Reading;
use super::super::shape::{Shape, WARP};
use super::super::state::Task;
use super::memory::{CHANNELS, GroupMemory, IS_BEFORE, IS_ODD, IS_THERE, MOST_WINDOWS, Reach, Step, WINDOW, parity};
use cuda_std::half::F16;
use cuda_std::warpgroup::Rows;
use cuda_std::{thread, warp};
use num_complex::Complex;

/// A sample that is far from every delay.
const NOWHERE: u32 = <Complex<F16> as Windowed>::NOWHERE;

/// What comes before a round's first step.
pub(super) const BEFORE: Step = [0, 0, IS_BEFORE, 0];

/// What comes behind the last one.
const BEHIND: Step = [0; 4];

/// A round's first step.
pub(super) const fn first(first_channel: u32) -> Step {
    [first_channel, 0, IS_THERE, 0]
}

/// The step after another: the next chunk or the next channels.
#[inline(always)]
fn after([first_channel, chunk, flags, _]: Step, has_more: bool, end: u32) -> Step {
    if has_more {
        return [first_channel, chunk + 1, flags, 0];
    }
    let first_channel = first_channel + CHANNELS;
    let is_there = if flags & IS_THERE != 0 && first_channel < end {
        IS_THERE
    } else {
        0
    };
    [first_channel, 0, flags & IS_ODD ^ IS_ODD | is_there, 0]
}

/// Whether the channels behind a step's are to be planned while it is listed.
#[inline(always)]
pub(super) fn is_last_planned([first_channel, chunk, flags, _]: Step, [first, end]: [u32; 2]) -> bool {
    let is_last = first_channel.wrapping_sub(first) % WARP == WARP - CHANNELS;
    flags & IS_THERE != 0 && chunk == 0 && is_last && first_channel + CHANNELS < end
}

/// Writes which samples the group needs of the channels from a first one on, a lane a channel, and `is_first` also which the block does.
///
/// # Safety
///
/// One warp of each group makes this call, all of its lanes, and `is_first` is true in one warp of the block; the channel is one of
/// the round's; what was planned two times before was last used before the block's last barrier.
#[inline(always)]
pub(super) unsafe fn plan<R: Reading>(p: &DasWindow<Complex<F16>>, first_channel: u32, shape: Shape, is_first: bool) {
    let Place { lane, warp } = Place::here();
    // SAFETY: the channel is one of the elements'; the caller's promise; a place is one lane's to write.
    unsafe {
        let (of_warp, memory) = (Memory::of(shape, warp), GroupMemory::of(shape, warp));
        let [first_of_all, end] = Task::of(&of_warp).channels;
        let channel = first_channel + lane;
        // Nothing that is computed from it is kept where registers are scarcest.
        let geometry = Geometry {
            n_samples: thread::opaque(p.geometry.n_samples.cast_unsigned()).cast_signed(),
            ..p.geometry
        };
        let reach = |bounds: u32| {
            rows(
                &geometry,
                [of_warp.bounds.load(bounds), of_warp.bounds.load(bounds + 1)],
                channel.min(end - 1),
                channel < end,
                1,
                R::margin(&p.geometry),
            )
            .map(i32::cast_unsigned)
        };
        let at = channel - first_of_all;
        memory.store_reach_of_group(at, reach(0));
        if is_first {
            // From a whole window on, as they are in the columns.
            let [first, last] = reach(2);
            memory.store_reach(at, [first / WINDOW * WINDOW, last]);
        }
    }
}

/// The first sample of a step's chunk that the block needs of a channel, and their number, in whole windows; and whether there are
/// more behind it.
#[inline(always)]
pub(super) fn chunk_of([first, last]: Reach, chunk: u32, shape: Shape) -> ([u32; 2], bool) {
    let first = first + chunk * shape.rows;
    // None, where the last comes before the first.
    let left = (last.wrapping_sub(first).wrapping_add(1))
        .cast_signed()
        .max(0)
        .cast_unsigned();
    (
        [first, left.min(shape.rows).next_multiple_of(WINDOW)],
        left > shape.rows,
    )
}

/// Lists a group's windows of a step, of which two that follow each other are a pair; `is_first` also writes the next step.
///
/// A group's windows of a channel lie one behind the other within the chunk, so that each sample of it is in one of them, and begin
/// with the first that it needs, or earlier where the chunk would end before them.
///
/// # Safety
///
/// One warp of each group makes this call, all of its lanes, and `is_first` is true in one warp of the block; the step, and the plan
/// of its channels if there are some, were written before the block's last barrier.
#[inline(always)]
pub(super) unsafe fn list(number: u32, shape: Shape, is_first: bool) {
    const { assert!(CHANNELS * MOST_WINDOWS == WARP) };
    let Place { lane, warp } = Place::here();
    // A lane for each window that there may be.
    let (channel, later) = (lane / MOST_WINDOWS, lane % MOST_WINDOWS);
    // SAFETY: the caller's promise; a place is one lane's to write.
    unsafe {
        let memory = GroupMemory::of(shape, warp);
        let [first_of_all, end] = Task::of(&Memory::of(shape, warp)).channels;
        let step = memory.step(number);
        let [first_channel, chunk, flags, _] = step;
        if flags & IS_THERE == 0 {
            if is_first && lane == 0 {
                memory.store_step(number.wrapping_add(1), BEHIND);
            }
            return;
        }
        let at = first_channel - first_of_all + channel;
        let ([first_of_chunk, n_rows], has_more) = chunk_of(memory.reach(at), chunk, shape);
        if is_first {
            let has_more = warp::any(has_more);
            if lane == 0 {
                memory.store_step(number.wrapping_add(1), after(step, has_more, end));
            }
        }
        // Counted from the chunk.
        let [first, last] = memory
            .reach_of_group(at)
            .map(|sample| sample.wrapping_sub(first_of_chunk).cast_signed());
        let (n_rows, window) = (n_rows.cast_signed(), WINDOW.cast_signed());
        let (first, last) = (first.max(0), last.min(n_rows - 1));
        let count = if first > last { 0 } else { (last - first) / window + 1 };
        let row = (first.min(n_rows - window * count)).cast_unsigned() + WINDOW * later;
        let is_listed = later.cast_signed() < count;
        let mark = ((first_of_chunk + row) as f32).to_bits();
        let place = (parity(flags) * CHANNELS + channel) * shape.voxels_per_warp;
        // The row of the stages at which the window begins.
        let of_column = PARTS * shape.rows;
        let of_channel = shape.items / COLUMN_ITEMS * of_column;
        let begins = (number % 2 * CHANNELS + channel) * of_channel + PARTS * row;
        let listed = warp::ballot(is_listed);
        let earlier = listed & ((1 << lane) - 1);
        let (index, total) = (earlier.count_ones(), listed.count_ones());
        // Of the pair's first, for its second.
        let company = 31_u32.wrapping_sub(earlier.leading_zeros()) % WARP;
        let begins_of_first = warp::shuffle(begins, company);
        if lane == 0 {
            memory.store_pairs(number, total.div_ceil(2));
        }
        if is_listed {
            let is_second = index % 2 == 1;
            memory.store_left(number, index, [place, mark]);
            if is_second {
                let right = Rows::new(begins_of_first, begins.wrapping_sub(begins_of_first), of_column);
                memory.store_right(number, index / 2, right, 1 << channel | 1 << (company / MOST_WINDOWS));
            } else if index + 1 == total {
                // The odd one out has itself for company, with weights of 0.
                memory.store_left(number, index + 1, [place, NOWHERE]);
                memory.store_right(number, index / 2, Rows::new(begins, 0, of_column), 1 << channel);
            }
        }
    }
}
