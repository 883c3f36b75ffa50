//! The kernel's body: transmits in rounds, channels in steps, and each step in three phases, of which a block does one of three steps
//! at once: it is planned, its samples are copied and its voxels weighed, its windows are multiplied.

use super::super::DasWindow;
use super::super::memory::{Memory, Place};
use super::super::operand::Windowed;
use super::super::reading::Reading;
use super::super::round::{for_each_round, task, voxel_at};
use super::super::shape::Shape;
use super::super::state::Task;
use super::fill::fill;
use super::memory::{CHANNELS, GroupMemory, IS_THERE};
use super::multiply::multiply;
use super::plan::{before, plan};
use super::weigh::weigh;
use cuda_std::half::F16;
use cuda_std::{copy, thread, warp, warpgroup};
use num_complex::Complex;

/// The sums of [`VOXELS`](super::weigh::VOXELS) voxels × `TILES` tiles of 8 batch items a warp.
///
/// # Safety
///
/// As [`das_window`](super::super::body::das_window).
#[inline(always)]
pub(super) unsafe fn das_window<R: Reading, const TILES: usize>(p: DasWindow<Complex<F16>>, shape: Shape) {
    const { assert!(R::WORDS == 0) };
    let mut sums = [[0.0_f32; 4]; TILES];
    // SAFETY: the place is one lane's, and read behind the warp's barrier; no thread returns before the end, and what the loops depend
    // on is the same in all threads.
    unsafe {
        if thread::lane() == 0 {
            let warp = Place::here().warp;
            task(&p, shape, warp).store(&Memory::of(shape, warp));
        }
        warp::sync_warp();
        for_each_round(&p, shape, |first_channel| {
            add_round::<R, TILES>(&p, first_channel, shape, &mut sums);
        });
    }
    write::<TILES>(&p, shape, &sums);
}

/// Writes a lane's sums: two batch items a tile, of one voxel.
#[inline(always)]
fn write<const TILES: usize>(p: &DasWindow<Complex<F16>>, shape: Shape, sums: &[[f32; 4]; TILES]) {
    let Place { lane, warp } = Place::here();
    // SAFETY: written before all barriers.
    let task = unsafe { Task::of(&Memory::of(shape, warp)) };
    let inverse_gain = f32::from_bits(0x7f00_0000 - p.gain.to_bits());
    let at = task.first_voxel + u64::from(lane / 4);
    if at >= p.geometry.n_voxels {
        return;
    }
    // SAFETY: the place is one of the launch's.
    let voxel = unsafe { voxel_at(p, at) };
    let first_item = task.tile * shape.items + 2 * (lane % 4);
    cuda_std::unroll!(TILE in 0..TILES {
        cuda_std::unroll!(COLUMN in [0, 1] {
            let item = first_item + 8 * TILE as u32 + COLUMN as u32;
            if item < p.n_batch {
                let sum: Complex<f32> = Complex::<F16>::sum(sums[TILE], 0, COLUMN);
                let sum = Complex::new(sum.re * inverse_gain, sum.im * inverse_gain);
                // SAFETY: item and voxel are in range, and this lane's own.
                unsafe { p.output.write(item, task.part, voxel, sum) };
            }
        });
    });
}

/// Adds what a round's channels contribute, of which there is a first one.
///
/// # Safety
///
/// As [`das_window`]; every thread of the block makes this call, and the warp's voxels, bounds and round were written before its
/// last barrier.
#[inline(always)]
unsafe fn add_round<R: Reading, const TILES: usize>(
    p: &DasWindow<Complex<F16>>,
    first_channel: u32,
    shape: Shape,
    sums: &mut [[f32; 4]; TILES],
) {
    const { assert!(CHANNELS.is_multiple_of(2)) };
    // SAFETY: all threads go through together; what a phase writes is read behind the barrier that ends it, and what it overwrites was
    // used before the one that began it.
    unsafe {
        if thread::thread_idx_x() == 0 {
            let memory = GroupMemory::of(shape, 0);
            memory.store_step(u32::MAX, before(first_channel));
            memory.store_step(u32::MAX - 1, before(first_channel));
        }
        // The step that is planned; those before it are copied and multiplied.
        let mut number = 0_u32;
        loop {
            copy::wait::<0>();
            warpgroup::publish();
            thread::sync_threads();
            let Place { warp, .. } = Place::here();
            let group = warp / shape.group_warps;
            // A warp of each group, no two of them a scheduler's.
            if warp % shape.group_warps == group {
                plan::<R>(p, number, shape, warp == 0);
            }
            let memory = GroupMemory::of(shape, warp);
            let is_next_there = memory.step(number.wrapping_sub(1))[2] & IS_THERE != 0;
            if is_next_there {
                fill(p, number.wrapping_sub(1), shape);
                copy::commit();
            }
            // Half of the groups weigh first, so that one half's arithmetic meets the other half's products.
            let mut turn = 0;
            while turn < 2 {
                let memory = GroupMemory::of(shape, Place::here().warp);
                if turn == group % 2 {
                    weigh::<R>(&p.geometry, memory.step(number.wrapping_sub(1)), shape);
                } else {
                    let multiplied = number.wrapping_sub(2);
                    let step = memory.step(multiplied);
                    if step[2] & IS_THERE != 0 {
                        multiply::<TILES>(multiplied, step, shape, sums);
                    }
                }
                turn += 1;
            }
            if number > 0 && !is_next_there {
                return;
            }
            number += 1;
        }
    }
}
