//! The kernel's body: transmits in rounds, channels in steps, and in each step a warp's weights, then its products.

use super::super::sample::Value;
use super::DasWindow;
use super::operand::{WINDOW_ROWS, Weighted, Windowed};
use super::prepare::{Channel, Round, Step, prepare};
use super::reach::{Range, SCRATCH, range_of_warp, ranges_of_block, store_bounds};
use super::shape::{CHUNK_ROWS, Layout, STEP, Shape, WARP, padded_row};
use super::weigh::weigh;
use cuda_std::{Shared, copy, matrix, thread, warp};

/// A warp's parts of the block's shared memory, and the block's.
#[derive(Clone, Copy)]
struct Memory {
    /// The block's rows of two steps.
    stages: Shared<[u32; 4]>,
    /// Delays and weights of the warp's voxels for a step's channels.
    weighted: Shared<Weighted>,
    /// The warp's windows of two steps.
    channels: Shared<Channel>,
    /// The warp's voxels: first halves, then second halves.
    voxels: Shared<[f32; 4]>,
    /// The bounds of the warp's voxels, then of the block's.
    bounds: Shared<[f32; 4]>,
    /// For what warps tell each other.
    scratch: Shared<Range>,
}

impl Memory {
    /// The memory of this thread's warp.
    ///
    /// # Safety
    ///
    /// The launch gives a block as much as the layout says.
    #[inline(always)]
    unsafe fn new(shape: Shape) -> Self {
        let layout = Layout::new(shape);
        let warp = thread::thread_idx_x() / WARP;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                stages: Shared::new(0, 2 * layout.stage_vectors),
                weighted: Shared::new(layout.weighted.of_warp(warp), STEP * shape.voxels_per_warp),
                channels: Shared::new(layout.channels.of_warp(warp), 2 * STEP),
                voxels: Shared::new(layout.voxels.of_warp(warp), 2 * shape.voxels_per_warp),
                bounds: Shared::new(layout.bounds.of_warp(warp), 4),
                scratch: Shared::new(layout.scratch, SCRATCH),
            }
        }
    }
}

/// The sums of `GROUPS` groups of voxels, `VOXELS` in all, × `TILES` tiles of 8 batch items a warp, `WARPS` warps a
/// block; `VECTORS` is half of `TILES`, `PASSES` how often a warp is filled by its voxels × [`STEP`] channels.
///
/// # Safety
///
/// The slices hold what the counts say; as much shared memory as the instance's shape says; a block of the grid for every
/// tile of voxels, of the batch and for every part.
#[inline(always)]
pub(super) unsafe fn das_window<
    S: Windowed,
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
    const WARPS: u32,
    const PASSES: usize,
>(
    p: DasWindow<S>,
) {
    const { assert!(TILES == 2 * VECTORS && VOXELS == GROUPS as u32 * S::GROUP_VOXELS) };
    let mut sums = [[[0.0_f32; 4]; TILES]; GROUPS];
    // SAFETY: no thread returns before the end, and what the loops depend on is the same in all threads.
    unsafe { add_all::<S, GROUPS, VOXELS, VECTORS, TILES, WARPS, PASSES>(&p, &mut sums) };
    let lane = thread::lane();
    let part = p
        .output
        .part(thread::block_idx_z(), p.geometry.n_transmits, p.geometry.n_channels);
    let inverse_gain = f32::from_bits(0x7f00_0000 - p.gain.to_bits());
    let first_item = thread::block_idx_y() * 16 * VECTORS as u32 + 4 * (lane % 4);
    let first_voxel = first_of_warp(WARPS, VOXELS) + u64::from(lane / 4);
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
fn first_of_warp(warps: u32, voxels: u32) -> u64 {
    let warp = u64::from(thread::block_idx_x()) * u64::from(warps) + u64::from(thread::thread_idx_x() / WARP);
    warp * u64::from(voxels)
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
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
    const WARPS: u32,
    const PASSES: usize,
>(
    p: &DasWindow<S>,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    let shape = Shape {
        voxels_per_warp: VOXELS,
        items: 8 * TILES as u32,
        warps: WARPS,
    };
    let lane = thread::lane();
    let part = p
        .output
        .part(thread::block_idx_z(), p.geometry.n_transmits, p.geometry.n_channels);
    let local = first_of_warp(WARPS, VOXELS) + u64::from(lane % VOXELS);
    let has_voxel = local < p.geometry.n_voxels;
    // SAFETY: a place of the launch's.
    let voxel = p.geometry.first_voxel + unsafe { p.geometry.in_tiles(local.min(p.geometry.n_voxels - 1)) };
    // SAFETY: voxel and entries are in range, the shared memory is this warp's or used between barriers, and all threads go
    // through together.
    unsafe {
        let memory = Memory::new(shape);
        let [mut entry, end] = p.geometry.entries(part.transmits);
        while entry < end {
            let of_entry = p.geometry.entry(entry, voxel, part.transmits);
            let mut transmit = if p.geometry.is_sparse == 0 {
                entry
            } else {
                next_transmit(
                    memory.scratch,
                    WARPS,
                    part.transmits[0],
                    of_entry.transmit,
                    of_entry.weight != 0.0,
                )
            };
            while transmit < part.transmits[1] {
                // Read again: registers are scarce.
                let [x, y, z] = p.geometry.position(voxel);
                let of_entry = p.geometry.entry(entry, voxel, part.transmits);
                let takes_part = has_voxel && of_entry.transmit == transmit;
                let weight = if takes_part { of_entry.weight * p.gain } else { 0.0 };
                let counts = weight != 0.0;
                let of_warp = [
                    range_of_warp(x, true),
                    range_of_warp(y, true),
                    range_of_warp(z, true),
                    range_of_warp(of_entry.offset, counts),
                ];
                // The last round is over.
                thread::sync_threads();
                let of_block = ranges_of_block(of_warp, memory.scratch, WARPS);
                if lane < VOXELS {
                    memory.voxels.store(lane, [x, y, z, of_entry.offset]);
                    memory.voxels.store(VOXELS + lane, [weight, of_entry.phase, 0.0, 0.0]);
                }
                if lane == 0 {
                    store_bounds(memory.bounds, 0, of_warp);
                    store_bounds(memory.bounds, 2, of_block);
                }
                warp::sync_warp();
                let [earliest, latest] = of_block[3];
                if earliest <= latest {
                    let round = Round {
                        transmit,
                        first_channel: part.channels[0],
                        end: part.channels[1],
                    };
                    add_round::<S, GROUPS, VOXELS, VECTORS, TILES, PASSES>(p, round, shape, memory, sums);
                }
                transmit = if p.geometry.is_sparse == 0 {
                    u32::MAX
                } else {
                    next_transmit(
                        memory.scratch,
                        WARPS,
                        transmit + 1,
                        of_entry.transmit,
                        of_entry.weight != 0.0,
                    )
                };
            }
            entry += 1;
        }
    }
}

/// The least transmit from `from` on that some thread's voxel takes part in; `u32::MAX` if there is none.
///
/// # Safety
///
/// Every thread of the block makes this call.
#[inline(always)]
unsafe fn next_transmit(scratch: Shared<Range>, warps: u32, from: u32, transmit: u32, takes_part: bool) -> u32 {
    const NONE: u32 = i32::MAX.cast_unsigned();
    let candidate = if takes_part && transmit >= from { transmit } else { NONE };
    // SAFETY: the caller's promise; a pair is one lane's to write, and read behind the barrier.
    unsafe {
        let of_warp = warp::reduce_min(candidate.cast_signed());
        thread::sync_threads();
        if thread::lane() == 0 {
            scratch.store(
                thread::thread_idx_x() / WARP,
                [f32::from_bits(of_warp.cast_unsigned()), 0.0],
            );
        }
        thread::sync_threads();
        let lane = thread::lane();
        let candidate = if lane < warps {
            scratch.load(lane)[0].to_bits()
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
    const GROUPS: usize,
    const VOXELS: u32,
    const VECTORS: usize,
    const TILES: usize,
    const PASSES: usize,
>(
    p: &DasWindow<S>,
    round: Round,
    shape: Shape,
    memory: Memory,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    if round.first_channel >= round.end {
        return;
    }
    // One half of the warps that share a scheduler weighs ahead while the other half multiplies.
    let weighs_ahead = thread::thread_idx_x() / WARP / 4 % 2 == 1;
    // Before the first step comes one of no channels, so that every part stands once in the machine code.
    let mut step = Step::before(round.first_channel);
    let mut next = step.next(false);
    let mut heard = 0;
    // SAFETY: all threads go through together; a stage is filled behind the barrier that ends its last use, and opened by
    // the one that follows.
    unsafe {
        loop {
            let has_next = next.first_channel < round.end;
            copy::wait::<0>();
            thread::sync_threads();
            let mut has_more = false;
            if has_next {
                has_more = prepare(p, round, next, shape, memory.bounds, memory.stages, memory.channels);
                copy::commit();
            }
            let mut turn = 0;
            while turn < 2 {
                if (turn == 1) == weighs_ahead {
                    let of = if weighs_ahead { next } else { step };
                    if of.chunk == 0 && of.first_channel < round.end {
                        heard = weigh::<S, VOXELS, PASSES>(
                            &p.geometry,
                            memory.voxels,
                            of.first_channel,
                            round.end,
                            memory.weighted,
                        );
                    }
                } else if heard != 0 {
                    multiply::<S, GROUPS, VOXELS, VECTORS, TILES>(step.stage, heard, memory, sums);
                }
                turn += 1;
            }
            if !has_next {
                return;
            }
            step = next;
            next = step.next(has_more);
        }
    }
}

/// Multiplies and adds a step's windows, those of the channels that are heard.
///
/// # Safety
///
/// All 32 lanes of the warp make this call, behind the barriers of what they read.
#[inline(always)]
unsafe fn multiply<S: Windowed, const GROUPS: usize, const VOXELS: u32, const VECTORS: usize, const TILES: usize>(
    stage: u32,
    heard: u32,
    memory: Memory,
    sums: &mut [[[f32; 4]; TILES]; GROUPS],
) {
    let (group, place) = (thread::lane() / 4, thread::lane() % 4);
    let row = padded_row(8 * TILES as u32);
    let mut channel = 0;
    while channel < STEP {
        // SAFETY: the caller's promise; rows and voxels are in range.
        unsafe {
            let [first, last, first_sample, listed] = memory.channels.load(stage * STEP + channel);
            let mut windows = if heard >> channel & 1 == 0 { 0 } else { listed };
            let of_channel = (stage * STEP + channel) * CHUNK_ROWS * row + group;
            let mut own_row = first + place * row;
            let mut window = f32::from_bits(first_sample);
            while windows != 0 {
                // A row behind the chunk's last has no weight: any other will do.
                let at = of_channel + own_row.min(last);
                let mut samples = [[0; 4]; VECTORS];
                cuda_std::unroll!(VECTOR in 0..VECTORS {
                    samples[VECTOR] = memory.stages.load(at + 8 * VECTOR as u32);
                });
                cuda_std::unroll!(GROUP in 0..GROUPS {
                    let voxel = channel * VOXELS + GROUP as u32 * S::GROUP_VOXELS;
                    let left = S::left(memory.weighted, voxel, window, group, place);
                    cuda_std::unroll!(TILE in 0..TILES {
                        let vector = samples[TILE / 2];
                        let right = [vector[TILE % 2 * 2], vector[TILE % 2 * 2 + 1]];
                        sums[GROUP][TILE] = matrix::mma_m16n8k16_f16(left, right, sums[GROUP][TILE]);
                    });
                });
                own_row += WINDOW_ROWS * row;
                window += (WINDOW_ROWS * S::SAMPLES_PER_ROW) as f32;
                windows -= 1;
            }
        }
        channel += 1;
    }
}
