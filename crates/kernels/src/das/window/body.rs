//! The kernel's body: transmits in rounds, channels in steps, and in each step a warp's weights, then its products.

use super::super::sample::Value;
use super::DasWindow;
use super::memory::{Memory, Place};
use super::multiply::{multiply, multiply_listed};
use super::operand::{Operand, WINDOW_ROWS, Windowed};
use super::pair::{HALF_ROWS, multiply_pairs};
use super::prepare::{Step, first_steps, later_steps, prepare};
use super::reading::Reading;
use super::round::{for_each_round, task, voxel_at};
use super::shape::Shape;
use super::state::Task;
use super::weigh::weigh;
use cuda_std::{copy, thread, warp};

/// The sums of `GROUPS` groups of voxels, `VOXELS` in all, × `TILES` tiles of 8 batch items a warp, `WARPS` warps a
/// block, `CHANNELS` channels a step, `ROWS` rows a chunk, `WINDOW` rows a window; `VECTORS` is half of `TILES`.
///
/// # Safety
///
/// The slices hold what the counts say; as much shared memory as the instance's shape says; a block of the grid for every
/// tile of voxels, of the batch and for every part.
#[inline(always)]
pub(super) unsafe fn das_window<
    S: Operand<R>,
    R: Reading,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
    const WARPS: u32,
    const CHANNELS: u32,
    const ROWS: u32,
    const WINDOW: u32,
>(
    p: DasWindow<S>,
) {
    const {
        assert!(TILES == 2 * VECTORS && VOXELS == GROUPS as u32 * S::GROUP_VOXELS);
        // A warp copies one or two rows at once, and the first row of a stage is an even one.
        assert!(VECTORS == 2 || VECTORS == 4);
        assert!(ROWS.is_multiple_of(2));
        assert!(WINDOW == WINDOW_ROWS || WINDOW == HALF_ROWS && GROUPS == 2 && S::GROUP_VOXELS == 8);
        assert!(S::PLANES == 1 || GROUPS <= 2);
    };
    let shape = Shape {
        voxels_per_warp: VOXELS,
        items: 8 * TILES as u32,
        warps: WARPS,
        channels: CHANNELS,
        rows: ROWS,
        window_rows: WINDOW,
        group_warps: 1,
        planes: S::PLANES,
        weight_planes: S::WEIGHT_PLANES,
        tap_words: R::WORDS,
    };
    let mut sums = [[[0.0_f32; 4]; TILES]; GROUPS];
    // SAFETY: the place is one lane's, and read behind the warp's barrier.
    unsafe {
        if thread::lane() == 0 {
            let warp = Place::here().warp;
            task(&p, shape, warp).store(&Memory::of(shape, warp));
        }
        warp::sync_warp();
    }
    // SAFETY: no thread returns before the end, and what the loops depend on is the same in all threads.
    unsafe {
        for_each_round!(&p, shape, first_channel => {
            add_round::<S, R, GROUPS, VOXELS, VECTORS, TILES>(&p, first_channel, shape, &mut sums);
        });
    }
    let Place { lane, warp } = Place::here();
    // SAFETY: written before all barriers.
    let task = unsafe { Task::of(&Memory::of(shape, warp)) };
    let inverse_gain = f32::from_bits(0x7f00_0000 - p.gain.to_bits());
    let first_item = task.tile * 16 * VECTORS as u32 + 4 * (lane % 4);
    let first_voxel = task.first_voxel + u64::from(lane / 4);
    cuda_std::unroll!(GROUP in 0..GROUPS {
        cuda_std::unroll!(TILE in 0..TILES {
            let first = (
                first_item + (16 * (TILE / 2) + TILE % 2) as u32,
                first_voxel + u64::from(GROUP as u32 * S::GROUP_VOXELS),
            );
            let sums = sums[GROUP][TILE];
            // SAFETY: the sums are this lane's own.
            unsafe {
                write_sum(&p, task.part, first, sums, [0, 0], inverse_gain);
                write_sum(&p, task.part, first, sums, [0, 1], inverse_gain);
                if S::GROUP_VOXELS == 16 {
                    write_sum(&p, task.part, first, sums, [1, 0], inverse_gain);
                    write_sum(&p, task.part, first, sums, [1, 1], inverse_gain);
                }
            }
        });
    });
}

/// Writes one sum of a lane's registers, if there are such an item and such a voxel.
///
/// # Safety
///
/// No other thread writes it.
#[inline(always)]
unsafe fn write_sum<S: Windowed>(
    p: &DasWindow<S>,
    part: u32,
    (first_item, first_voxel): (u32, u64),
    sums: [f32; 4],
    [place, column]: [usize; 2],
    factor: f32,
) {
    let (item, at) = (first_item + 2 * column as u32, first_voxel + 8 * place as u64);
    if item < p.n_batch && at < p.geometry.n_voxels {
        // SAFETY: item and voxel are in range; the caller's promise.
        unsafe {
            let voxel = voxel_at(p, at);
            p.output
                .write(item, part, voxel, S::sum(sums, place, column).scale(factor));
        }
    }
}

/// Adds what a round's channels contribute, of which there is a first one.
///
/// # Safety
///
/// As [`das_window`]; every thread of the block makes this call, and the warp's voxels, bounds and round were written before its
/// last barrier.
#[inline(always)]
unsafe fn add_round<
    S: Operand<R>,
    R: Reading,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
>(
    p: &DasWindow<S>,
    first_channel: u32,
    shape: Shape,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    // One half of the warps that share a scheduler weighs ahead while the other half multiplies.
    let weighs_ahead = Place::here().warp / 4 % 2 == 1;
    let all = (1 << shape.channels) - 1;
    let mut heard = 0;
    let mut is_simple = false;
    // SAFETY: all threads go through together; a stage is filled behind the barrier that ends its last use, and opened by
    // the one that follows; steps and stage are written by one lane, behind a barrier of the warp after their last use, and read
    // behind one of the block.
    unsafe {
        let memory = || Memory::of(shape, Place::here().warp);
        if Place::here().lane == 0 {
            memory().steps.store(0, first_steps(first_channel, shape));
            memory().stage.store(0, 1);
        }
        loop {
            copy::wait::<0>();
            thread::sync_threads();
            let [first_channel, chunk, ..] = memory().steps.load(0);
            let has_next = first_channel < Task::of(&memory()).channels[1];
            let mut is_next_simple = false;
            if has_next {
                let step = Step {
                    first_channel,
                    chunk,
                    stage: 1 - memory().stage.load(0),
                };
                is_next_simple = prepare::<S, R>(p, step, shape);
                copy::commit();
            }
            let mut turn = 0;
            while turn < 2 {
                if (turn == 1) == weighs_ahead {
                    let [next, next_chunk, now, chunk_now] = memory().steps.load(0);
                    let [first_channel, chunk] = if weighs_ahead {
                        [next, next_chunk]
                    } else {
                        [now, chunk_now]
                    };
                    let end = Task::of(&memory()).channels[1];
                    if chunk == 0 && first_channel < end {
                        heard = weigh::<S, R, VOXELS>(&p.geometry, first_channel, end, shape);
                    }
                } else if heard != 0 {
                    let mut sums_of_step = [[[0.0_f32; 4]; TILES]; GROUPS];
                    let to = if S::HAS_STEP_SUMS {
                        &mut sums_of_step
                    } else {
                        &mut *sums
                    };
                    let stage = memory().stage.load(0);
                    if shape.is_paired() {
                        multiply_pairs::<S, R, GROUPS, VECTORS, TILES>(stage, heard, shape, to);
                    } else if is_simple && heard & all == all {
                        multiply::<S, R, GROUPS, VOXELS, VECTORS, TILES>(stage, shape, to);
                    } else {
                        multiply_listed::<S, R, GROUPS, VOXELS, VECTORS, TILES>(stage, heard, shape, to);
                    }
                    if S::HAS_STEP_SUMS {
                        add(sums, &sums_of_step);
                    }
                }
                turn += 1;
            }
            if !has_next {
                return;
            }
            warp::sync_warp();
            if Place::here().lane == 0 {
                let memory = memory();
                let steps = later_steps(memory.steps.load(0), memory.has_more.load(0), shape);
                memory.steps.store(0, steps);
                memory.stage.store(0, 1 - memory.stage.load(0));
            }
            is_simple = is_next_simple;
        }
    }
}

/// Adds a step's sums in single precision.
#[inline(always)]
fn add<const GROUPS: usize, const TILES: usize>(
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
    of_step: &[[[f32; 4]; TILES]; GROUPS],
) {
    cuda_std::unroll!(GROUP in 0..GROUPS {
        cuda_std::unroll!(TILE in 0..TILES {
            let (sum, summand) = (&mut sums[GROUP][TILE], of_step[GROUP][TILE]);
            *sum = [sum[0] + summand[0], sum[1] + summand[1], sum[2] + summand[2], sum[3] + summand[3]];
        });
    });
}
