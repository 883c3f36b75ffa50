//! What a step needs to be known before its samples are copied: the channels, their samples for the block, and the windows of
//! each group.

use super::super::DasWindow;
use super::super::memory::{Memory, Place};
use super::super::operand::Windowed;
use super::super::reach::rows;
use super::super::reading::Reading;
use super::super::shape::Shape;
use super::super::state::Task;
use super::memory::{CHANNELS, GroupMemory, HAS_MORE, IS_ODD, IS_THERE, Step, WINDOW, parity};
use cuda_std::half::F16;
use cuda_std::warp;
use cuda_std::warpgroup::Columns;
use num_complex::Complex;

/// A sample that is far from every delay.
const NOWHERE: u32 = <Complex<F16> as Windowed>::NOWHERE;

/// What comes before a round's first step: none.
#[inline(always)]
pub(super) const fn before(first_channel: u32) -> Step {
    [first_channel.wrapping_sub(CHANNELS), 0, 0, 0]
}

/// The step after another: the next chunk or the next channels.
#[inline(always)]
fn after([first_channel, chunk, flags, _]: Step, end: u32) -> Step {
    if flags & HAS_MORE != 0 {
        [first_channel, chunk + 1, flags & !HAS_MORE, 0]
    } else {
        let first_channel = first_channel.wrapping_add(CHANNELS);
        let is_there = if first_channel < end { IS_THERE } else { 0 };
        [first_channel, 0, flags & IS_ODD ^ IS_ODD | is_there, 0]
    }
}

/// Plans a step: writes the group's list, and `is_first` also step and rows.
///
/// A group's windows of a channel lie one behind the other within the chunk, so that each sample of it is in one of them, and begin
/// with the first that it needs, or earlier where the chunk would end before them. Two that follow each other in the list are a pair.
///
/// # Safety
///
/// One warp of each group makes this call, all of its lanes, and `is_first` is true in one warp of the block; the step before was
/// written before the block's last barrier, the round before the warp's.
#[inline(always)]
pub(super) unsafe fn plan<R: Reading>(p: &DasWindow<Complex<F16>>, number: u32, shape: Shape, is_first: bool) {
    const { assert!(CHANNELS == 8) };
    let Place { lane, warp } = Place::here();
    // SAFETY: the channel is one of the elements'; the caller's promise; a place is one lane's to write.
    unsafe {
        let (of_block, memory) = (Memory::of(shape, warp), GroupMemory::of(shape, warp));
        let end = Task::of(&of_block).channels[1];
        let [first_channel, chunk, flags, _] = after(memory.step(number.wrapping_sub(1)), end);
        if flags & IS_THERE == 0 {
            if is_first && lane == 0 {
                memory.store_step(number, [first_channel, chunk, flags, 0]);
            }
            return;
        }
        // The lowest lanes find the group's samples, the next ones the block's.
        let channel = first_channel + lane % CHANNELS;
        let whose = if lane < CHANNELS { 0 } else { 2 };
        let [first, last] = rows(
            &p.geometry,
            [of_block.bounds.load(whose), of_block.bounds.load(whose + 1)],
            channel.min(end - 1),
            channel < end,
            1,
            R::margin(&p.geometry),
        );
        let of_chunk = shape.rows.cast_signed();
        let shuffle = |value: i32, lane: u32| warp::shuffle(value.cast_unsigned(), lane).cast_signed();
        // From here on counted from the chunk.
        let first_of_block = shuffle(first, CHANNELS + lane % CHANNELS) + chunk.cast_signed() * of_chunk;
        let left = shuffle(last, CHANNELS + lane % CHANNELS) - first_of_block + 1;
        let window = WINDOW.cast_signed();
        // Whole windows.
        let n_rows = (left.clamp(0, of_chunk) + window - 1) / window * window;
        let has_more = warp::any(left > of_chunk);
        if is_first {
            if lane < CHANNELS {
                memory.store_rows(number, lane, [first_of_block.cast_unsigned(), n_rows.cast_unsigned()]);
            }
            if lane == 0 {
                let flags = if has_more { flags | HAS_MORE } else { flags };
                memory.store_step(number, [first_channel, chunk, flags, 0]);
            }
        }
        let (first, last) = ((first - first_of_block).max(0), (last - first_of_block).min(n_rows - 1));
        let count = if first > last { 0 } else { (last - first) / window + 1 };
        let start = first.min(n_rows - window * count);
        // A lane for each window that there may be.
        let (channel, later) = (lane / WINDOW, lane % WINDOW);
        let is_listed = later.cast_signed() < shuffle(count, channel);
        let row = shuffle(start, channel) + window * later.cast_signed();
        let mark = ((shuffle(first_of_block, channel) + row) as f32).to_bits();
        let place = (parity(flags) * CHANNELS + channel) * shape.voxels_per_warp;
        let of_channel = shape.rows * shape.items / 4;
        let piece = (number % 2 * CHANNELS + channel) * of_channel + 2 * row.cast_unsigned();
        let listed = warp::ballot(is_listed);
        let earlier = listed & ((1 << lane) - 1);
        let (index, total) = (earlier.count_ones(), listed.count_ones());
        // Of the pair's first, for its second.
        let company = 31_u32.wrapping_sub(earlier.leading_zeros()) % 32;
        let first_piece = warp::shuffle(piece, company);
        let channels = 1 << channel | 1 << (company / WINDOW);
        if lane == 0 {
            memory.store_pairs(number, total.div_ceil(2));
        }
        if is_listed {
            let is_second = index % 2 == 1;
            let columns = 2 * shape.rows;
            let both = Columns::new(first_piece, piece.wrapping_sub(first_piece), columns).place();
            memory.store_listed(number, index, [mark, place, both, channels]);
            // The odd one out has itself for company, with weights of 0.
            if !is_second && index + 1 == total {
                let alone = Columns::new(piece, 0, columns).place();
                memory.store_listed(number, index + 1, [NOWHERE, place, alone, 1 << channel]);
            }
        }
    }
}
