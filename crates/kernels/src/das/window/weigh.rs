//! Delays and weights of a warp's voxels, a lane a voxel and a channel.

use super::super::geometry::Geometry;
use super::memory::{Memory, Place, again};
use super::operand::{Contribution, MOST_WEIGHT_PLANES, Operand, Words};
use super::pair::place_of;
use super::reading::Reading;
use super::shape::{Shape, WARP};
use cuda_std::warp;

/// A voxel as a warp keeps it for a round: its position and the transmit's delay; the transmit's weight and phase.
type Voxel = [[f32; 4]; 2];

/// Finds delays and weights of a warp's voxels for a step's channels; a bit for each channel that a voxel may hear.
///
/// Where all elements hear alike no bit is asked for: bounds say as much.
///
/// # Safety
///
/// All 32 lanes of the warp make this call; the arrays hold the channels before `end`; the warp's voxels were written
/// before its last barrier.
#[inline(always)]
pub(super) unsafe fn weigh<S: Operand<R>, R: Reading, const VOXELS: u32>(
    geometry: &Geometry<f32>,
    first_channel: u32,
    end: u32,
    shape: Shape,
) -> u32 {
    let here = Place::here();
    let lane = here.lane;
    let per_pass = WARP / VOXELS;
    // A pass has an even number of channels.
    let own = if shape.is_paired() {
        place_of(lane / VOXELS, lane % VOXELS)
    } else {
        lane
    };
    let passes = shape.channels / per_pass;
    let first_channel = first_channel + lane / VOXELS;
    // SAFETY: the channels are the elements'; each lane has its places in the warp's memory, which the others left before
    // the warp's barrier.
    unsafe {
        let memory = Memory::of(shape, here.warp);
        let voxels = memory.voxels;
        let voxel = [voxels.load(lane % VOXELS), voxels.load(VOXELS + lane % VOXELS)];
        let mut heard = 0;
        let geometry = &again::<S>(geometry, shape);
        warp::sync_warp();
        if R::WORDS == 0 && geometry.is_directive == 0 {
            let open = Geometry {
                is_directive: 0,
                ..*geometry
            };
            let mut pass = 0;
            while pass < passes {
                weigh_together::<S, R>(
                    &open,
                    voxel,
                    [first_channel + pass * per_pass, end],
                    per_pass,
                    (&memory, shape),
                    pass * WARP + own,
                );
                pass += S::WEIGHED_AT_ONCE as u32;
            }
            heard = u32::MAX;
        } else {
            let mut pass = 0;
            while pass < passes {
                let channel = first_channel + pass * per_pass;
                let place = pass * WARP + own;
                let words = weigh_channel::<S, R>(geometry, voxel, channel.min(end - 1), (&memory, shape), place);
                store::<S, R>(&memory, shape, place, words);
                heard |= heard_in_pass(words, VOXELS) << (pass * per_pass);
                pass += 1;
            }
        }
        warp::sync_warp();
        heard
    }
}

/// Finds and writes delays and weights of [`Windowed::WEIGHED_AT_ONCE`](super::operand::Windowed::WEIGHED_AT_ONCE) channels,
/// `per_pass` apart, to places [`WARP`] apart.
///
/// Without branches between them, they are all found at once.
///
/// # Safety
///
/// The arrays hold the channels before `end`; the places are this lane's.
#[inline(always)]
unsafe fn weigh_together<S: Operand<R>, R: Reading>(
    geometry: &Geometry<f32>,
    voxel: Voxel,
    [channel, end]: [u32; 2],
    per_pass: u32,
    memory: (&Memory, Shape),
    place: u32,
) {
    const { assert!(S::WEIGHED_AT_ONCE <= 4) };
    let mut words: [Words; 4] = [[0; 2 * MOST_WEIGHT_PLANES]; 4];
    // SAFETY: the caller's promise.
    unsafe {
        cuda_std::unroll!(PASS in [0, 1, 2, 3] { if PASS < S::WEIGHED_AT_ONCE {
            let channel = channel + PASS as u32 * per_pass;
            let place = place + PASS as u32 * WARP;
            words[PASS] = weigh_channel::<S, R>(geometry, voxel, channel.min(end - 1), memory, place);
        }});
        cuda_std::unroll!(PASS in [0, 1, 2, 3] { if PASS < S::WEIGHED_AT_ONCE {
            store::<S, R>(memory.0, memory.1, place + PASS as u32 * WARP, words[PASS]);
        }});
    }
}

/// Writes what is kept of a voxel and channel.
///
/// # Safety
///
/// The place is this lane's.
#[inline(always)]
unsafe fn store<S: Operand<R>, R: Reading>(memory: &Memory, shape: Shape, place: u32, words: Words) {
    cuda_std::unroll!(PLANE in [0, 1, 2] {
        if (PLANE as u32) < S::WEIGHT_PLANES {
            let at = PLANE as u32 * shape.weight_plane() + place;
            // SAFETY: the caller's promise.
            unsafe { memory.weighted.store(at, [words[2 * PLANE], words[2 * PLANE + 1]]) };
        }
    });
}

/// A bit for each channel of a pass that a voxel hears.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
pub(super) unsafe fn heard_in_pass([_, weights @ ..]: Words, voxels: u32) -> u32 {
    let all = weights[0] | weights[1] | weights[2] | weights[3] | weights[4];
    // SAFETY: the caller's promise.
    let hears = unsafe { warp::ballot(all != 0) };
    let mut heard = 0;
    let mut channel = 0;
    while channel < WARP / voxels {
        let of_channel = hears >> (channel * voxels) & (u32::MAX >> (WARP - voxels));
        heard |= u32::from(of_channel != 0) << channel;
        channel += 1;
    }
    heard
}

/// What is kept of one channel for a lane's voxel; the weights are 0 where it does not count.
///
/// # Safety
///
/// The arrays hold the channel; the place is this lane's.
#[inline(always)]
pub(super) unsafe fn weigh_channel<S: Operand<R>, R: Reading>(
    geometry: &Geometry<f32>,
    [[x, y, z, offset], [weight, phase, ..]]: Voxel,
    channel: u32,
    memory: (&Memory, Shape),
    place: u32,
) -> Words {
    // SAFETY: the caller's promise.
    let (distance, heard) = unsafe { geometry.receive([x, y, z], channel) };
    let delay = distance + offset;
    let contribution = Contribution {
        delay,
        // In range as numbers from 0 on are ordered: all others are more.
        is_in_range: delay.to_bits() < ((geometry.n_samples - 1) as f32).to_bits(),
        amplitude: weight * heard,
        phase,
    };
    // SAFETY: the caller's promise.
    unsafe { S::weigh(geometry, contribution, memory, place) }
}
