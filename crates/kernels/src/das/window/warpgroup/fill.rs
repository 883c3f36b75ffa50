//! The copy of a step's samples: a lane copies a channel's run of a column of 64 batch items.

use super::super::super::permute_columns::{COLUMN_ITEMS, PARTS, ROW_VECTORS, samples_of_column};
use super::super::DasWindow;
use super::super::memory::{Memory, Place};
use super::super::shape::Shape;
use super::super::state::Task;
use super::memory::{CHANNELS, GroupMemory, WINDOW};
use super::plan::chunk_of;
use cuda_std::half::F16;
use cuda_std::{bulk, thread, warp};
use num_complex::Complex;

/// Vectors of a sample of a column.
const OF_SAMPLE: u32 = PARTS * ROW_VECTORS;

/// Columns of a tile of batch items.
const fn columns(shape: Shape) -> u32 {
    shape.items / COLUMN_ITEMS
}

/// Warps that copy: one of every other group.
const fn copying_warps(shape: Shape) -> u32 {
    shape.warps / (2 * shape.group_warps)
}

/// Starts to copy a step's samples, those of the warp's part of the runs.
///
/// # Safety
///
/// One warp of every other group makes this call, all of its lanes, and nobody uses the stage; step and plan were written before the
/// last barrier; the samples are as the parameters say.
#[inline(always)]
pub(super) unsafe fn fill(p: &DasWindow<Complex<F16>>, number: u32, shape: Shape) {
    let Place { lane, warp } = Place::here();
    let columns = columns(shape);
    let runs = CHANNELS * columns / copying_warps(shape);
    let run = warp / (2 * shape.group_warps) * runs + lane % runs;
    // SAFETY: the caller's promise; a run lies within the channel's samples of the column.
    unsafe {
        let (of_warp, memory) = (Memory::of(shape, warp), GroupMemory::of(shape, warp));
        let Task {
            tile,
            channels: [first_of_all, _],
            ..
        } = Task::of(&of_warp);
        let [first_channel, chunk, ..] = memory.step(number);
        let (channel, column) = (first_channel + run / columns, tile * columns + run % columns);
        let ([first, rows], _) = chunk_of(memory.reach(channel - first_of_all), chunk, shape);
        let rows = if lane < runs && column < p.n_vectors { rows } else { 0 };
        // Whole windows, so that few ballots count them.
        let of_bit = |bit: u32| warp::ballot((rows / WINDOW) >> bit & 1 != 0).count_ones() << bit;
        let rows_of_all = WINDOW * (of_bit(0) + of_bit(1) + of_bit(2));
        if lane == 0 {
            bulk::expect(memory.barriers, number % 2, 16 * OF_SAMPLE * rows_of_all);
        }
        if rows > 0 {
            let transmit = of_warp.round.load(0)[1];
            let channel_of_all = u64::from(transmit) * u64::from(p.geometry.n_channels) + u64::from(channel);
            let column_of_all = channel_of_all * u64::from(p.n_vectors) + u64::from(column);
            // Not kept from step to step: registers are scarce.
            let of_column = samples_of_column(thread::opaque(p.geometry.n_samples.cast_unsigned()));
            let from = (column_of_all * u64::from(of_column) + u64::from(first)) * u64::from(OF_SAMPLE);
            let to = (number % 2 * CHANNELS * columns + run) * shape.rows * OF_SAMPLE;
            bulk::start(
                (memory.stages, to),
                (p.samples, from),
                rows * OF_SAMPLE,
                (memory.barriers, number % 2),
            );
        }
    }
}

/// Clears the columns of both stages that the batch lacks, and makes the barriers.
///
/// # Safety
///
/// Every thread of the block makes this call, before all others and a barrier of the block.
#[inline(always)]
pub(super) unsafe fn begin(p: &DasWindow<Complex<F16>>, shape: Shape) {
    let Place { lane, warp } = Place::here();
    let (columns, of_column) = (columns(shape), shape.rows * OF_SAMPLE);
    // SAFETY: the caller's promise; a column is one warp's to clear, and one thread makes the barriers.
    unsafe {
        let (of_block, memory) = (Memory::of(shape, warp), GroupMemory::of(shape, warp));
        if thread::thread_idx_x() == 0 {
            bulk::begin(memory.barriers, 0, copying_warps(shape));
            bulk::begin(memory.barriers, 1, copying_warps(shape));
        }
        let mut column = warp;
        while column < 2 * CHANNELS * columns {
            let is_there = Task::of(&of_block).tile * columns + column % columns < p.n_vectors;
            let mut vector = lane;
            while !is_there && vector < of_column {
                memory.stages.store(column * of_column + vector, [0; 4]);
                vector += 32;
            }
            column += shape.warps;
        }
        cuda_std::warpgroup::publish();
    }
}
