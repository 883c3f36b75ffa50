//! What a step needs before a warp can multiply: the block's rows in shared memory, and the list of the warp's windows.

use super::DasWindow;
use super::memory::{Memory, Place, again};
use super::operand::{WINDOW_ROWS, Windowed};
use super::pair::half_windows;
use super::reach::rows;
use super::reading::Reading;
use super::shape::{Shape, WARP};
use super::state::{Steps, Task};
use cuda_std::{copy, thread, warp};

/// Some channels, and which chunk of their rows.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) first_channel: u32,
    pub(super) chunk: u32,
    /// Which half of the memory it has, 0 or 1.
    pub(super) stage: u32,
}

/// Before the first step: one of no channels, so that every part stands once in the machine code.
#[inline(always)]
pub(super) fn first_steps(first_channel: u32, shape: Shape) -> Steps {
    [first_channel, 0, first_channel.wrapping_sub(shape.channels), 1]
}

/// One step further: the next one after has the next chunk or the next channels.
#[inline(always)]
pub(super) fn later_steps([first_channel, chunk, ..]: Steps, has_more: u32, shape: Shape) -> Steps {
    if has_more != 0 {
        [first_channel, chunk + 1, first_channel, chunk]
    } else {
        [first_channel.wrapping_add(shape.channels), 0, first_channel, chunk]
    }
}

/// One of a step's channels as all lanes of a warp read it.
///
/// The vector of the stages at which its first window begins; that window's first sample, as [`Windowed::mark`]; windows; the rows of
/// the chunk.
pub(super) type Channel = [u32; 4];

/// Starts to copy a step's rows, and lists the warp's windows; whether there is one of each channel, where they are whole.
///
/// # Safety
///
/// Every thread of the block makes this call, and none uses the stage; the samples are as the parameters say, with the
/// round's transmit and channels; round and bounds were written before the warp's last barrier.
#[inline(always)]
pub(super) unsafe fn prepare<S: Windowed, R: Reading>(p: &DasWindow<S>, step: Step, shape: Shape) -> bool {
    let here = Place::here();
    let lane = here.lane;
    // The lower lanes find the warp's rows, the upper ones the block's.
    let mine = lane % shape.channels;
    let is_for_warp = lane < shape.channels;
    let channel = step.first_channel + mine;
    let chunk = (step.chunk * shape.rows).cast_signed();
    // SAFETY: the channel is one of the elements'; the caller's promise.
    unsafe {
        let memory = Memory::of(shape, here.warp);
        let end = Task::of(&memory).channels[1];
        let whose = if is_for_warp { 0 } else { 2 };
        let [first, last] = rows(
            &again::<S>(&p.geometry, shape),
            [memory.bounds.load(whose), memory.bounds.load(whose + 1)],
            channel.min(end - 1),
            channel < end,
            S::SAMPLES_PER_ROW.cast_signed(),
            R::margin(&p.geometry),
        );
        // From here on counted from the chunk.
        let first_of_block = warp::shuffle(first.cast_unsigned(), shape.channels + mine).cast_signed() + chunk;
        let last_of_block = warp::shuffle(last.cast_unsigned(), shape.channels + mine).cast_signed();
        let rows_left = last_of_block - first_of_block + 1;
        let rows = if rows_left > 0 {
            let rows = rows_left.clamp(WINDOW_ROWS.cast_signed(), shape.rows.cast_signed());
            if shape.is_paired() { rows + rows % 2 } else { rows }
        } else {
            0
        };
        let has_more = warp::any(rows_left > shape.rows.cast_signed());
        if lane == 0 {
            memory.has_more.store(0, u32::from(has_more));
        }
        fill(p, step, shape, here, [first_of_block, rows]);
        let of_warp = [first - first_of_block, last - first_of_block];
        if shape.is_paired() {
            if is_for_warp {
                let of_channel = half_windows::<S>(of_warp, rows, first_of_block);
                memory
                    .half_windows
                    .store(step.stage * shape.channels + mine, of_channel);
            }
            return false;
        }
        let windows = windows(of_warp, rows);
        if is_for_warp {
            let [first, windows] = windows;
            let sample = (first_of_block + first.cast_signed()) * S::SAMPLES_PER_ROW.cast_signed();
            memory.lists.store(
                step.stage * shape.channels + mine,
                [
                    shape.row_vector(step.stage, mine, first),
                    S::mark(sample),
                    windows,
                    rows.cast_unsigned(),
                ],
            );
        }
        warp::all(!is_for_warp || windows[1] == 1)
    }
}

/// The first row of a warp's first window and the number of its windows, for a warp that needs these rows of a chunk of
/// `rows`.
#[inline(always)]
fn windows([first, last]: [i32; 2], rows: i32) -> [u32; 2] {
    let window = WINDOW_ROWS.cast_signed();
    let last = last.min(rows - 1);
    if last < 0 || first > last {
        return [0, 0];
    }
    let start = first.clamp(0, rows - window);
    if last < start + window {
        [start.cast_unsigned(), 1]
    } else {
        // One at either end of the chunk.
        [0, 2]
    }
}

/// Starts to copy a step's rows, each warp its channels'; rows and vectors that the samples lack become 0.
///
/// `of_lane` are the first row and the number of rows of the step's channel `lane % shape.channels`.
///
/// # Safety
///
/// As [`prepare`].
#[inline(always)]
unsafe fn fill<S: Windowed>(p: &DasWindow<S>, step: Step, shape: Shape, here: Place, of_lane: [i32; 2]) {
    let row_vectors = shape.items / 2;
    let rows_of_channel = again::<S>(&p.geometry, shape)
        .n_samples
        .cast_unsigned()
        .div_ceil(S::SAMPLES_PER_ROW);
    // Lanes go along one row, or along two neighbours at once.
    let at_once = WARP / row_vectors;
    let own_row = here.lane / row_vectors;
    let column = here.lane % row_vectors;
    // SAFETY: written before all of the warp's barriers.
    let tile = unsafe { Task::of(&Memory::of(shape, here.warp)).tile };
    let vector = tile * row_vectors + column;
    // The planes of a row follow each other.
    let n_vectors = if S::PLANES == 1 {
        p.n_vectors
    } else {
        thread::opaque(p.n_vectors)
    };
    let row_pitch = n_vectors * S::PLANES;
    // SAFETY: written before the warp's last barrier.
    let transmit = unsafe { Memory::of(shape, here.warp).round.load(0)[1] };
    let mut channel = here.warp;
    while channel < shape.channels {
        // SAFETY: the caller's promise; a copy reads within its channel's rows and the batch's vectors.
        unsafe {
            let first = warp::shuffle(of_lane[0].cast_unsigned(), channel);
            let rows = warp::shuffle(of_lane[1].cast_unsigned(), channel);
            let channel_of_all =
                u64::from(transmit) * u64::from(p.geometry.n_channels) + u64::from(step.first_channel + channel);
            let samples = if rows == 0 {
                p.samples
            } else {
                p.samples
                    .from(channel_of_all * u64::from(rows_of_channel) * u64::from(row_pitch))
            };
            let stages = Memory::of(shape, here.warp).stages;
            // A vector of a row, in each of its planes.
            let start = |to: u32, at: u32| {
                copy::start::<[u32; 4], 16>(stages, to, samples, u64::from(at));
                if S::PLANES == 2 {
                    let (to, at) = (to + shape.plane_vectors(), at.wrapping_add(p.n_vectors));
                    copy::start::<[u32; 4], 16>(stages, to, samples, u64::from(at));
                }
            };
            let clear = |to: u32| {
                stages.store(to, [0; 4]);
                if S::PLANES == 2 {
                    stages.store(to + shape.plane_vectors(), [0; 4]);
                }
            };
            // What the samples have, counted as a channel's rows are.
            let rows_there = if vector < p.n_vectors { rows_of_channel } else { 0 };
            let mut row = own_row;
            let mut from = first.wrapping_add(row);
            let mut at = from.wrapping_mul(row_pitch).wrapping_add(vector);
            if shape.is_paired() {
                // Rows of two channels alternate two by two: the way to every second row is the same.
                let there = rows_there.saturating_sub(first).min(rows);
                let mut to = shape.row_vector(step.stage, channel, own_row) + column;
                while row < there {
                    start(to, at);
                    if at_once == 1 && row + 1 < there {
                        start(to + shape.padded_row(), at.wrapping_add(row_pitch));
                    }
                    row += 2;
                    to += 4 * shape.padded_row();
                    at = at.wrapping_add(2 * row_pitch);
                }
                let mut row = there + own_row;
                while row < rows {
                    clear(shape.row_vector(step.stage, channel, row) + column);
                    row += at_once;
                }
            } else {
                // In one loop, because registers are scarce.
                while row < rows {
                    let to = shape.row_vector(step.stage, channel, row) + column;
                    if from < rows_there {
                        start(to, at);
                    } else {
                        clear(to);
                    }
                    row += at_once;
                    from = from.wrapping_add(at_once);
                    at = at.wrapping_add(at_once * row_pitch);
                }
            }
        }
        channel += shape.warps;
    }
}
