//! What a step needs before a warp can multiply: the block's rows in shared memory, and the list of the warp's windows.

use super::memory::{Memory, Place};
use super::operand::{WINDOW_ROWS, Windowed};
use super::reach::rows;
use super::DasWindow;
use super::shape::{CHUNK_ROWS, STEP, Shape, WARP, padded_row, stage_vectors};
use cuda_std::{Shared, copy, thread, warp};

/// Some channels, and which chunk of their rows.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) first_channel: u32,
    pub(super) chunk: u32,
    /// Which half of the memory it has, 0 or 1.
    pub(super) stage: u32,
}

impl Step {
    /// No channels; the next step begins with `first_channel`.
    #[inline(always)]
    pub(super) fn before(first_channel: u32) -> Self {
        Self {
            first_channel: first_channel.wrapping_sub(STEP),
            chunk: 1,
            stage: 1,
        }
    }

    /// The step after, which has the next chunk or the next channels.
    #[inline(always)]
    pub(super) fn next(self, has_more: bool) -> Self {
        let stage = 1 - self.stage;
        if has_more {
            Self {
                chunk: self.chunk + 1,
                stage,
                ..self
            }
        } else {
            Self {
                first_channel: self.first_channel.wrapping_add(STEP),
                chunk: 0,
                stage,
            }
        }
    }
}

/// A round's transmit and channels.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub(super) transmit: u32,
    pub(super) first_channel: u32,
    pub(super) end: u32,
}

/// One of a step's channels as all lanes of a warp read it.
///
/// Vectors from the chunk's start to the first row of its first window and to its last row; the first window's first
/// sample; windows.
pub(super) type Channel = [u32; 4];

/// Starts to copy a step's rows and lists its windows; whether any of its channels has a further chunk.
///
/// # Safety
///
/// Every thread of the block makes this call, and none uses the stage; the samples are as the parameters say, with the
/// round's transmit and channels; the warp's and the block's bounds were written before the warp's last barrier.
#[inline(always)]
pub(super) unsafe fn prepare<S: Windowed>(
    p: &DasWindow<S>,
    round: Round,
    step: Step,
    shape: Shape,
) -> bool {
    let here = Place::here();
    let lane = here.lane;
    let channel = step.first_channel + lane % STEP;
    // SAFETY: the channel is one of the elements'; the caller's promise.
    unsafe {
        let memory = Memory::of(shape, here.warp);
        let whose = if lane < STEP { 0 } else { 2 };
        let of_lane = rows(
            &p.geometry,
            [memory.bounds.load(whose), memory.bounds.load(whose + 1)],
            channel.min(round.end - 1),
            channel < round.end,
            S::SAMPLES_PER_ROW as i32,
        );
        let of_block = rows_of(of_lane, STEP + lane % STEP);
        if lane < STEP {
            memory.channels.store(step.stage * STEP + lane, windows::<S>(step, of_lane, of_block, shape));
        }
        fill(p, round, step, shape, here, of_block, memory.stages);
        warp::any(of_block[1] >= of_block[0] + ((step.chunk + 1) * CHUNK_ROWS).cast_signed())
    }
}

/// The rows that another lane knows.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
unsafe fn rows_of(rows: [i32; 2], lane: u32) -> [i32; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            warp::shuffle(rows[0].cast_unsigned(), lane).cast_signed(),
            warp::shuffle(rows[1].cast_unsigned(), lane).cast_signed(),
        ]
    }
}

/// Which windows of a step a warp needs that needs these rows of a channel.
#[inline(always)]
fn windows<S: Windowed>(step: Step, of_warp: [i32; 2], of_block: [i32; 2], shape: Shape) -> Channel {
    let chunk = (step.chunk * CHUNK_ROWS).cast_signed();
    // Places in the chunk.
    let last_of_chunk = (of_block[1] - of_block[0] - chunk).min(CHUNK_ROWS.cast_signed() - 1);
    let first_needed = of_warp[0] - of_block[0] - chunk;
    let last = (of_warp[1] - of_block[0] - chunk).min(last_of_chunk);
    let first = first_needed.clamp(0, (CHUNK_ROWS - WINDOW_ROWS).cast_signed());
    let (first, windows) = if last < 0 || first_needed > last {
        (0, 0)
    } else if last < first + WINDOW_ROWS.cast_signed() {
        (first, 1)
    } else {
        // Both halves: windows must not overlap.
        (0, 2)
    };
    let first_sample = (of_block[0] + chunk + first) * S::SAMPLES_PER_ROW.cast_signed();
    let row = padded_row(shape.items);
    [
        first.cast_unsigned() * row,
        last_of_chunk.max(0).cast_unsigned() * row,
        (first_sample as f32).to_bits(),
        windows,
    ]
}

/// Starts to copy a step's rows, each warp its channels'; rows and vectors that the samples lack become 0.
///
/// # Safety
///
/// As [`prepare`].
#[inline(always)]
unsafe fn fill<S: Windowed>(
    p: &DasWindow<S>,
    round: Round,
    step: Step,
    shape: Shape,
    here: Place,
    of_block: [i32; 2],
    stages: Shared<[u32; 4]>,
) {
    let row_vectors = shape.items / 2;
    let rows_of_channel = (p.geometry.n_samples.cast_unsigned()).div_ceil(S::SAMPLES_PER_ROW);
    let first_vector = thread::block_idx_y() * row_vectors;
    let mut channel = here.warp;
    while channel < STEP {
        // SAFETY: the caller's promise; a copy reads within its channel's rows and the batch's vectors.
        unsafe {
            let [first, last] = rows_of(of_block, channel);
            let first = first + (step.chunk * CHUNK_ROWS).cast_signed();
            let count = (last - first + 1).clamp(0, CHUNK_ROWS.cast_signed()).cast_unsigned();
            let to = step.stage * stage_vectors(shape.items) + channel * CHUNK_ROWS * padded_row(shape.items);
            let first_of_channel = (u64::from(round.transmit) * u64::from(p.geometry.n_channels)
                + u64::from(step.first_channel + channel))
                * u64::from(rows_of_channel);
            let mut unit = here.lane;
            while unit < count * row_vectors {
                let (row, column) = (unit / row_vectors, unit % row_vectors);
                let vector = first_vector + column;
                let from = first.cast_unsigned().wrapping_add(row);
                let is_there = from < rows_of_channel && vector < p.n_vectors;
                let at = if is_there {
                    (first_of_channel + u64::from(from)) * u64::from(p.n_vectors) + u64::from(vector)
                } else {
                    0
                };
                copy::start_padded::<[u32; 4], 16>(
                    stages,
                    to + row * padded_row(shape.items) + column,
                    p.samples,
                    at,
                    u32::from(is_there),
                );
                unit += WARP;
            }
        }
        channel += shape.warps;
    }
}
