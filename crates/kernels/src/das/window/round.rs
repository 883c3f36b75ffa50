//! What a warp has to do, and what it needs of its voxels for a transmit: a round.

use super::super::geometry::{Entry, Geometry};
use super::DasWindow;
use super::memory::{Memory, Place, again};
use super::operand::Windowed;
use super::reach::{Range, range_of_warp, ranges_of_block, ranges_of_warps, store_bounds};
use super::shape::Shape;
use super::state::{Round, Task};
use cuda_std::{thread, warp};

/// What a warp has to do.
#[inline(always)]
pub(super) fn task<S: Windowed>(p: &DasWindow<S>, shape: Shape, warp: u32) -> Task {
    let part = p
        .output
        .part(thread::block_idx_z(), p.geometry.n_transmits, p.geometry.n_channels);
    let warp_of_all = u64::from(thread::block_idx_x()) * u64::from(shape.warps) + u64::from(warp);
    Task {
        first_voxel: warp_of_all * u64::from(shape.voxels_per_warp),
        tile: thread::block_idx_y(),
        part: part.number,
        transmits: part.transmits,
        channels: part.channels,
    }
}

/// The voxel at a place of the launch's; whether there is an order is asked each time, because registers are scarce.
///
/// # Safety
///
/// The launch has the place.
#[inline(always)]
pub(super) unsafe fn voxel_at<S: Windowed>(p: &DasWindow<S>, place: u64) -> u64 {
    let geometry = Geometry {
        is_ordered: thread::opaque(p.geometry.is_ordered),
        ..p.geometry
    };
    // SAFETY: the caller's promise.
    unsafe { geometry.in_tiles(place) }
}

/// A lane's voxel and its entry; the weight is 0 if there is no such voxel.
///
/// Read where it is needed: registers are scarce.
///
/// # Safety
///
/// The geometry's arrays hold the entry.
#[inline(always)]
unsafe fn own_entry<S: Windowed>(p: &DasWindow<S>, shape: Shape, here: Place, entry: u32) -> ([f32; 3], Entry<f32>) {
    // SAFETY: written before all of the warp's barriers.
    let task = unsafe { Task::of(&Memory::of(shape, here.warp)) };
    let local = task.first_voxel + u64::from(here.lane % shape.voxels_per_warp);
    let geometry = again::<S>(&p.geometry, shape);
    // SAFETY: a place of the launch's.
    let voxel = geometry.first_voxel + unsafe { voxel_at(p, local.min(geometry.n_voxels - 1)) };
    // SAFETY: the voxel is in range; the caller's promise.
    unsafe {
        let position = geometry.position(voxel);
        let mut own = geometry.entry(entry, voxel, task.transmits);
        if local >= geometry.n_voxels {
            own.weight = 0.0;
        }
        (position, own)
    }
}

/// Writes down the warp's voxels and the bounds for a round, of those that share its windows and of the block, and which it is; the
/// block's ranges.
///
/// # Safety
///
/// Every thread of the block makes this call; the geometry's arrays hold the entry.
#[inline(always)]
pub(super) unsafe fn begin_round<S: Windowed>(p: &DasWindow<S>, shape: Shape, round: Round) -> [Range; 4] {
    let [entry, transmit] = round;
    let here = Place::here();
    let lane = here.lane;
    // SAFETY: the caller's promise; each place is one lane's.
    unsafe {
        let memory = Memory::of(shape, here.warp);
        let ([x, y, z], own) = own_entry(p, shape, here, entry);
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
        let of_tile = if shape.group_warps == 1 {
            of_warp
        } else {
            let first = here.warp / shape.group_warps * shape.group_warps;
            ranges_of_warps(memory.scratch, [first, shape.group_warps], lane)
        };
        if lane == 0 {
            store_bounds(memory.bounds, 0, of_tile);
            store_bounds(memory.bounds, 2, of_block);
            memory.round.store(0, round);
        }
        warp::sync_warp();
        of_block
    }
}

/// The parameters' geometry, as [`again`].
#[inline(always)]
pub(super) fn geometry_again<S: Windowed>(p: &DasWindow<S>, shape: Shape) -> Geometry<f32> {
    again::<S>(&p.geometry, shape)
}

/// No transmit: behind all that a reduction can find.
pub(super) const NONE: u32 = i32::MAX.cast_unsigned();

/// The least of the part's transmits from `from` on that a voxel of the block takes part in with an entry; [`NONE`] if there is none.
///
/// # Safety
///
/// Every thread of the block makes this call; the geometry's arrays hold the entry.
#[inline(always)]
pub(super) unsafe fn next_transmit<S: Windowed>(p: &DasWindow<S>, shape: Shape, entry: u32, from: u32) -> u32 {
    let here = Place::here();
    // SAFETY: the caller's promise; a pair is one lane's to write, and read behind the barrier.
    unsafe {
        let (_, own) = own_entry(p, shape, here, entry);
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
        warp::reduce_min(candidate.cast_signed()).cast_unsigned()
    }
}

/// Does something in each round of a part that has channels, and in which a voxel takes part: one for each transmit that an entry is
/// of. The first channel has the name that is given.
///
/// A macro, because a call would cost registers. Every thread of the block comes here, with the task written; the geometry's arrays hold
/// the part's entries.
macro_rules! for_each_round {
    ($p:expr, $shape:expr, $first_channel:ident => $body:block) => {{
        use $crate::das::window::memory::{Memory, Place};
        use $crate::das::window::round::{NONE, begin_round, geometry_again, next_transmit};
        use $crate::das::window::state::Task;

        let (p, shape) = ($p, $shape);
        let memory = || Memory::of(shape, Place::here().warp);
        let geometry = || geometry_again(p, shape);
        let [mut entry, _] = geometry().entries(Task::of(&memory()).transmits);
        while entry < geometry().entries(Task::of(&memory()).transmits)[1] {
            let mut transmit = entry;
            if geometry().is_sparse != 0 {
                transmit = next_transmit(p, shape, entry, 0);
            }
            while transmit != NONE {
                let bounds = begin_round(p, shape, [entry, transmit]);
                let [earliest, latest] = bounds[3];
                let [$first_channel, end] = Task::of(&memory()).channels;
                if earliest <= latest && $first_channel < end $body
                [entry, transmit] = memory().round.load(0);
                transmit = if geometry().is_sparse == 0 {
                    NONE
                } else {
                    next_transmit(p, shape, entry, transmit + 1)
                };
            }
            entry += 1;
        }
    }};
}
pub(super) use for_each_round;
