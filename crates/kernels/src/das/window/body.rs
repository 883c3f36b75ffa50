//! The kernel's body: transmits in rounds, channels in steps, and in each step a warp's weights, then its products.

use super::super::geometry::Entry;
use super::super::sample::Value;
use super::DasWindow;
use super::memory::{Memory, Place};
use super::multiply::{multiply, multiply_listed};
use super::operand::{WINDOW_ROWS, Windowed};
use super::pair::{HALF_ROWS, multiply_pairs};
use super::prepare::{Prepared, Round, Step, prepare};
use super::reach::{Range, range_of_warp, ranges_of_block, store_bounds};
use super::reading::Reading;
use super::shape::Shape;
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
    S: Windowed,
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
    };
    let shape = Shape {
        voxels_per_warp: VOXELS,
        items: 8 * TILES as u32,
        warps: WARPS,
        channels: CHANNELS,
        rows: ROWS,
        window_rows: WINDOW,
        tap_words: R::WORDS,
    };
    let mut sums = [[[0.0_f32; 4]; TILES]; GROUPS];
    // SAFETY: no thread returns before the end, and what the loops depend on is the same in all threads.
    unsafe { add_all::<S, R, GROUPS, VOXELS, VECTORS, TILES>(&p, shape, &mut sums) };
    let Place { lane, warp } = Place::here();
    let part = p
        .output
        .part(thread::block_idx_z(), p.geometry.n_transmits, p.geometry.n_channels);
    let inverse_gain = f32::from_bits(0x7f00_0000 - p.gain.to_bits());
    let first_item = thread::block_idx_y() * 16 * VECTORS as u32 + 4 * (lane % 4);
    let first_voxel = first_of_warp(shape, warp) + u64::from(lane / 4);
    cuda_std::unroll!(GROUP in 0..GROUPS {
        cuda_std::unroll!(TILE in 0..TILES {
            let first = (
                first_item + (16 * (TILE / 2) + TILE % 2) as u32,
                first_voxel + u64::from(GROUP as u32 * S::GROUP_VOXELS),
            );
            let sums = sums[GROUP][TILE];
            // SAFETY: the sums are this lane's own.
            unsafe {
                write_sum(&p, part.number, first, sums, [0, 0], inverse_gain);
                write_sum(&p, part.number, first, sums, [0, 1], inverse_gain);
                if S::GROUP_VOXELS == 16 {
                    write_sum(&p, part.number, first, sums, [1, 0], inverse_gain);
                    write_sum(&p, part.number, first, sums, [1, 1], inverse_gain);
                }
            }
        });
    });
}

/// The first voxel of a warp, counted from the launch's first.
#[inline(always)]
fn first_of_warp(shape: Shape, warp: u32) -> u64 {
    let warp_of_all = u64::from(thread::block_idx_x()) * u64::from(shape.warps) + u64::from(warp);
    warp_of_all * u64::from(shape.voxels_per_warp)
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
            let voxel = p.geometry.in_tiles(at);
            p.output
                .write(item, part, voxel, S::sum(sums, place, column).scale(factor));
        }
    }
}

/// Adds what all entries contribute, a round for each transmit that an entry is of.
///
/// # Safety
///
/// As [`das_window`]; every thread of the block makes this call.
#[inline(always)]
unsafe fn add_all<
    S: Windowed,
    R: Reading,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
>(
    p: &DasWindow<S>,
    shape: Shape,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    let part = p
        .output
        .part(thread::block_idx_z(), p.geometry.n_transmits, p.geometry.n_channels);
    // SAFETY: the shared memory is this warp's or used between barriers, and all threads go through together.
    unsafe {
        let [mut entry, end] = p.geometry.entries(part.transmits);
        while entry < end {
            let mut transmit = entry;
            if p.geometry.is_sparse != 0 {
                transmit = next_transmit(p, shape, entry, part.transmits, part.transmits[0]);
            }
            while transmit < part.transmits[1] {
                let bounds = begin_round(p, shape, entry, part.transmits, transmit);
                let [earliest, latest] = bounds[3];
                if earliest <= latest {
                    let round = Round {
                        transmit,
                        first_channel: part.channels[0],
                        end: part.channels[1],
                    };
                    add_round::<S, R, GROUPS, VOXELS, VECTORS, TILES>(p, round, shape, sums);
                }
                transmit = if p.geometry.is_sparse == 0 {
                    u32::MAX
                } else {
                    next_transmit(p, shape, entry, part.transmits, transmit + 1)
                };
            }
            entry += 1;
        }
    }
}

/// A lane's voxel and its entry; the weight is 0 if there is no such voxel.
///
/// Read where it is needed: registers are scarce.
///
/// # Safety
///
/// The geometry's arrays hold the entry.
#[inline(always)]
unsafe fn own_entry<S: Windowed>(
    p: &DasWindow<S>,
    shape: Shape,
    here: Place,
    entry: u32,
    transmits: [u32; 2],
) -> ([f32; 3], Entry<f32>) {
    let local = first_of_warp(shape, here.warp) + u64::from(here.lane % shape.voxels_per_warp);
    // SAFETY: a place of the launch's.
    let voxel = p.geometry.first_voxel + unsafe { p.geometry.in_tiles(local.min(p.geometry.n_voxels - 1)) };
    // SAFETY: the voxel is in range; the caller's promise.
    unsafe {
        let position = p.geometry.position(voxel);
        let mut own = p.geometry.entry(entry, voxel, transmits);
        if local >= p.geometry.n_voxels {
            own.weight = 0.0;
        }
        (position, own)
    }
}

/// Writes down the warp's voxels and the bounds for a round; the block's ranges.
///
/// # Safety
///
/// Every thread of the block makes this call; the geometry's arrays hold the entry.
#[inline(always)]
unsafe fn begin_round<S: Windowed>(
    p: &DasWindow<S>,
    shape: Shape,
    entry: u32,
    transmits: [u32; 2],
    transmit: u32,
) -> [Range; 4] {
    let here = Place::here();
    let lane = here.lane;
    // SAFETY: the caller's promise; each place is one lane's.
    unsafe {
        let memory = Memory::of(shape, here.warp);
        let ([x, y, z], own) = own_entry(p, shape, here, entry, transmits);
        let weight = if own.transmit == transmit {
            own.weight * p.gain
        } else {
            0.0
        };
        let of_warp = [
            range_of_warp(x, true),
            range_of_warp(y, true),
            range_of_warp(z, true),
            range_of_warp(own.offset, weight != 0.0),
        ];
        // The last round is over.
        thread::sync_threads();
        if lane < shape.voxels_per_warp {
            memory.voxels.store(lane, [x, y, z, own.offset]);
            memory
                .voxels
                .store(shape.voxels_per_warp + lane, [weight, own.phase, 0.0, 0.0]);
        }
        let of_block = ranges_of_block(of_warp, memory.scratch, shape.warps, here);
        if lane == 0 {
            store_bounds(memory.bounds, 0, of_warp);
            store_bounds(memory.bounds, 2, of_block);
        }
        warp::sync_warp();
        of_block
    }
}

/// The least transmit from `from` on that a voxel of the block takes part in with an entry; `u32::MAX` if there is none.
///
/// # Safety
///
/// Every thread of the block makes this call; the geometry's arrays hold the entry.
#[inline(always)]
unsafe fn next_transmit<S: Windowed>(
    p: &DasWindow<S>,
    shape: Shape,
    entry: u32,
    transmits: [u32; 2],
    from: u32,
) -> u32 {
    const NONE: u32 = i32::MAX.cast_unsigned();
    let here = Place::here();
    // SAFETY: the caller's promise; a pair is one lane's to write, and read behind the barrier.
    unsafe {
        let (_, own) = own_entry(p, shape, here, entry, transmits);
        let takes_part = own.weight != 0.0 && own.transmit >= from;
        let candidate = if takes_part { own.transmit } else { NONE };
        let of_warp = warp::reduce_min(candidate.cast_signed());
        let scratch = Memory::of(shape, here.warp).scratch;
        thread::sync_threads();
        if here.lane == 0 {
            scratch.store(here.warp, [f32::from_bits(of_warp.cast_unsigned()), 0.0]);
        }
        thread::sync_threads();
        let candidate = if here.lane < shape.warps {
            scratch.load(here.lane)[0].to_bits()
        } else {
            NONE
        };
        let least = warp::reduce_min(candidate.cast_signed()).cast_unsigned();
        if least == NONE { u32::MAX } else { least }
    }
}

/// Adds what a round's channels contribute.
///
/// # Safety
///
/// As [`das_window`]; every thread of the block makes this call, and the warp's voxels and bounds were written before its
/// last barrier.
#[inline(always)]
unsafe fn add_round<
    S: Windowed,
    R: Reading,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
>(
    p: &DasWindow<S>,
    round: Round,
    shape: Shape,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    if round.first_channel >= round.end {
        return;
    }
    // One half of the warps that share a scheduler weighs ahead while the other half multiplies.
    let weighs_ahead = Place::here().warp / 4 % 2 == 1;
    // Before the first step comes one of no channels, so that every part stands once in the machine code.
    let mut step = Step::before(round.first_channel, shape);
    let mut next = step.next(false, shape);
    let mut heard = 0;
    let mut is_simple = false;
    let all = (1 << shape.channels) - 1;
    // SAFETY: all threads go through together; a stage is filled behind the barrier that ends its last use, and opened by
    // the one that follows.
    unsafe {
        loop {
            let has_next = next.first_channel < round.end;
            copy::wait::<0>();
            thread::sync_threads();
            let mut prepared = Prepared {
                has_more: false,
                is_simple: false,
            };
            if has_next {
                prepared = prepare::<S, R>(p, round, next, shape);
                copy::commit();
            }
            let mut turn = 0;
            while turn < 2 {
                if (turn == 1) == weighs_ahead {
                    let of = if weighs_ahead { next } else { step };
                    if of.chunk == 0 && of.first_channel < round.end {
                        heard = weigh::<S, R, VOXELS>(&p.geometry, of.first_channel, round.end, shape);
                    }
                } else if shape.is_paired() {
                    if heard != 0 {
                        multiply_pairs::<S, R, GROUPS, VECTORS, TILES>(step.stage, heard, shape, sums);
                    }
                } else if is_simple && heard & all == all {
                    multiply::<S, R, GROUPS, VOXELS, VECTORS, TILES>(step.stage, shape, sums);
                } else if heard != 0 {
                    multiply_listed::<S, R, GROUPS, VOXELS, VECTORS, TILES>(step.stage, heard, shape, sums);
                }
                turn += 1;
            }
            if !has_next {
                return;
            }
            step = next;
            next = step.next(prepared.has_more, shape);
            is_simple = prepared.is_simple;
        }
    }
}
