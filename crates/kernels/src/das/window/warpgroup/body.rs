//! The kernel's body: transmits in rounds, channels in steps, each step in three phases. A block does the phases of three steps at
//! once: one is listed, the one before is copied and weighed, and the one before that multiplied. The samples that channels need are
//! planned for four steps in one go.

use super::super::DasWindow;
use super::super::memory::{Memory, Place};
use super::super::operand::Windowed;
use super::super::reading::Reading;
use super::super::round::{for_each_round, task, voxel_at};
use super::super::shape::Shape;
use super::super::state::Task;
use super::fill::{begin, fill};
use super::memory::{CHANNELS, GroupMemory, IS_BEFORE, IS_THERE};
use super::multiply::multiply;
use super::plan::{BEFORE, first, is_last_planned, list, plan};
use super::weigh::{Pass, is_weighed, weigh, weigh_heard};
use cuda_std::half::F16;
use cuda_std::{bulk, thread, warp};
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
        begin(&p, shape);
        let mut number = 0;
        for_each_round!(&p, shape, first_channel => {
            number = add_round::<R, TILES>(&p, [first_channel, number], shape, &mut sums);
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

/// Adds what a round's channels contribute, of which there is a first one, in steps from a number on; the number of the next.
///
/// # Safety
///
/// As [`das_window`]; every thread of the block makes this call, and the warp's voxels, bounds and round were written before its
/// last barrier.
#[inline(always)]
unsafe fn add_round<R: Reading, const TILES: usize>(
    p: &DasWindow<Complex<F16>>,
    [first_channel, first_number]: [u32; 2],
    shape: Shape,
    sums: &mut [[f32; 4]; TILES],
) -> u32 {
    const { assert!(CHANNELS.is_multiple_of(2)) };
    // SAFETY: all threads go through together; what a phase writes is read behind the barrier that ends it, and what it overwrites was
    // used before the one that began it.
    unsafe {
        if thread::thread_idx_x() == 0 {
            let memory = GroupMemory::of(shape, 0);
            memory.store_step(first_number, first(first_channel));
            memory.store_step(first_number.wrapping_sub(1), BEFORE);
            memory.store_step(first_number.wrapping_sub(2), BEFORE);
        }
        if Role::here(shape).number == PLANS {
            plan::<R>(p, first_channel, shape, Place::here().warp == 0);
        }
        // The step that is listed; those before it are copied and weighed, and multiplied.
        let mut number = first_number;
        loop {
            thread::sync_threads();
            // Half of the groups prepare first, so that one half's arithmetic meets the other half's products.
            let mut turn = 0;
            while turn < 2 {
                if (turn == 0) == Role::here(shape).is_early {
                    prepare::<R>(p, number, shape);
                } else {
                    let multiplied = number.wrapping_sub(2);
                    let memory = GroupMemory::of(shape, Place::here().warp);
                    let step = memory.step(multiplied);
                    if step[2] & IS_THERE != 0 {
                        bulk::wait(memory.barriers, multiplied % 2, multiplied / 2 % 2);
                        multiply::<TILES>(multiplied, step, p.geometry.is_directive != 0, shape, sums);
                    }
                }
                turn += 1;
            }
            let memory = GroupMemory::of(shape, Place::here().warp);
            if memory.step(number.wrapping_sub(1))[2] & (IS_THERE | IS_BEFORE) == 0 {
                // The last one that was listed is none.
                return number - 1;
            }
            number += 1;
        }
    }
}

/// The roles of a group's warps: who plans, who lists and who copies, next to a part of the weights.
const PLANS: u32 = 0;
const LISTS: u32 = 1;
const COPIES: u32 = 2;

/// A warp's part in its group's preparation.
#[derive(Clone, Copy)]
struct Role {
    group: u32,
    /// One of the four, warp 0's being the first; those of a role are different schedulers'.
    number: u32,
    /// Whether the group prepares before it multiplies; these copy for all.
    is_early: bool,
}

impl Role {
    #[inline(always)]
    fn here(shape: Shape) -> Self {
        let Place { warp, .. } = Place::here();
        let group = warp / shape.group_warps;
        Self {
            group,
            number: (warp + shape.group_warps - group) % shape.group_warps,
            is_early: group.is_multiple_of(2),
        }
    }

    /// The group's warp that has a role.
    #[inline(always)]
    fn warp(self, number: u32, shape: Shape) -> u32 {
        self.group * shape.group_warps + (number + self.group) % shape.group_warps
    }
}

/// Lists a step, copies the one before and weighs its voxels: who does the former has less of the latter, so that the warps of a group
/// are through at once, as products need all of them.
///
/// # Safety
///
/// As [`add_round`].
#[inline(always)]
unsafe fn prepare<R: Reading>(p: &DasWindow<Complex<F16>>, number: u32, shape: Shape) {
    let role = Role::here(shape);
    let warp = Place::here().warp;
    let copied = number.wrapping_sub(1);
    let copies = role.number == COPIES && role.is_early;
    // SAFETY: the caller's promise.
    unsafe {
        let memory = GroupMemory::of(shape, warp);
        let step = memory.step(copied);
        if copies && step[2] & IS_THERE != 0 {
            fill(p, copied, shape);
        }
        if role.number == LISTS {
            list(number, shape, role.group == 0);
        }
        let is_relieved = role.number == LISTS || copies;
        // Who relieves the warp that lists, or the one that copies.
        let relieves = if role.number == PLANS {
            LISTS
        } else if role.number > COPIES && role.is_early {
            COPIES
        } else {
            role.number
        };
        if is_weighed(step) {
            let pass = |warp: u32, half: u32| Pass { warp, half };
            if p.geometry.is_directive != 0 {
                weigh_heard::<R>(&p.geometry, step, shape);
            } else {
                if !is_relieved {
                    weigh::<R, 2>(&p.geometry, step, [pass(warp, 0), pass(warp, 1)], shape);
                }
                if is_relieved || relieves != role.number {
                    let half = u32::from(!is_relieved);
                    weigh::<R, 1>(&p.geometry, step, [pass(role.warp(relieves, shape), half)], shape);
                }
            }
        }
        if role.number == PLANS {
            let step = memory.step(number);
            if is_last_planned(step, Task::of(&Memory::of(shape, warp)).channels) {
                plan::<R>(p, step[0] + CHANNELS, shape, warp == 0);
            }
        }
    }
}
