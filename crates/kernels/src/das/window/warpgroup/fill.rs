//! The copy of a step's samples: a warp has a column of eight batch items, or shares it with others.

use super::super::DasWindow;
use super::super::memory::{Memory, Place};
use super::super::shape::Shape;
use super::super::state::Task;
use super::memory::{CHANNELS, GroupMemory};
use cuda_std::copy;
use cuda_std::half::F16;
use num_complex::Complex;

/// Starts to copy a step's samples; those that the columns lack become 0.
///
/// # Safety
///
/// Every thread of the block makes this call, and none uses the stage; step and rows were written before the last barrier; the
/// samples are as the parameters say.
#[inline(always)]
pub(super) unsafe fn fill(p: &DasWindow<Complex<F16>>, number: u32, shape: Shape) {
    let Place { lane, warp } = Place::here();
    let columns = shape.items / 8;
    let (column, turns) = (warp % columns, shape.warps / columns);
    // SAFETY: the caller's promise; what is copied lies within the channel's samples of the column.
    unsafe {
        let (of_block, memory) = (Memory::of(shape, warp), GroupMemory::of(shape, warp));
        let transmit = of_block.round.load(0)[1];
        let column_of_all = Task::of(&of_block).tile * columns + column;
        let n_samples = p.geometry.n_samples.cast_unsigned();
        // Of a column that there is not there are no samples.
        let n_there = if column_of_all < p.n_vectors { n_samples } else { 0 };
        let mut channel = warp / columns;
        let first_channel = memory.step(number)[0] + channel;
        let of_channel = u64::from(p.n_vectors) * u64::from(n_samples);
        let channel_of_all = u64::from(transmit) * u64::from(p.geometry.n_channels) + u64::from(first_channel);
        let mut at =
            2 * (channel_of_all * of_channel + u64::from(column_of_all) * u64::from(n_samples)) + u64::from(lane);
        let mut to = (number % 2 * CHANNELS + channel) * 2 * shape.rows * columns + 2 * shape.rows * column + lane;
        while channel < CHANNELS {
            let [first, rows] = memory.rows(number, channel);
            let there = n_there.saturating_sub(first).min(rows);
            if lane < 2 * rows {
                if lane < 2 * there {
                    let from = at + u64::from(2 * first);
                    copy::start::<[u32; 4], 16>(memory.stages, to, p.samples, from);
                } else {
                    memory.stages.store(to, [0; 4]);
                }
            }
            channel += turns;
            at += 2 * u64::from(turns) * of_channel;
            to += turns * 2 * shape.rows * columns;
        }
    }
}
