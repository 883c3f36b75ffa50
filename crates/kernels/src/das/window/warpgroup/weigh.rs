//! Delays and weights of a warp's voxels for a step's channels, a lane a voxel and a channel.

use super::super::super::geometry::Geometry;
use super::super::memory::{Memory, Place};
use super::super::operand::Words;
use super::super::reading::Reading;
use super::super::shape::{Shape, WARP};
use super::super::state::Task;
use super::super::weigh::{heard_in_pass, weigh_channel};
use super::memory::{CHANNELS, GroupMemory, IS_THERE, Step, parity};
use cuda_std::half::{F16, F16Pair};
use cuda_std::math::permute_bytes;
use num_complex::Complex;

/// Voxels of a warp.
pub(super) const VOXELS: u32 = 8;

/// Channels that a warp weighs at once.
const PER_PASS: u32 = WARP / VOXELS;

/// A part of a group's weights: those of a warp's voxels for one half of a step's channels.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) warp: u32,
    pub(super) half: u32,
}

/// Whether a step's channels are to be weighed: there is such a step, and they are new.
#[inline(always)]
pub(super) const fn is_weighed([_, chunk, flags, _]: Step) -> bool {
    flags & IS_THERE != 0 && chunk == 0
}

/// Finds what is kept of a step's channels where all elements hear alike, some passes at once.
///
/// # Safety
///
/// All 32 lanes of the warp make this call; the arrays hold the channels; step and voxels were written before the block's last barrier,
/// behind the last use of the places; nobody else has the passes.
#[inline(always)]
pub(super) unsafe fn weigh<R: Reading, const PASSES: usize>(
    geometry: &Geometry<f32>,
    step: Step,
    passes: [Pass; PASSES],
    shape: Shape,
) {
    let open = Geometry {
        is_directive: 0,
        ..*geometry
    };
    let mut words = [[0; 4]; PASSES];
    // SAFETY: the caller's promise. Without branches between them all are found at once.
    unsafe {
        cuda_std::unroll!(PASS in [0, 1] { if PASS < PASSES {
            words[PASS] = kept(weigh_pass::<R>(&open, step, passes[PASS], shape));
        } });
        cuda_std::unroll!(PASS in [0, 1] { if PASS < PASSES {
            store(step, passes[PASS], shape, words[PASS]);
        } });
    }
}

/// Finds what is kept of a step's channels for the warp's own voxels, and which of them these hear.
///
/// # Safety
///
/// As [`weigh`].
#[inline(always)]
pub(super) unsafe fn weigh_heard<R: Reading>(geometry: &Geometry<f32>, step: Step, shape: Shape) {
    let Place { lane, warp } = Place::here();
    let (mut heard, mut half) = (0, 0);
    // SAFETY: the caller's promise.
    unsafe {
        while half < CHANNELS / PER_PASS {
            let pass = Pass { warp, half };
            let words = weigh_pass::<R>(geometry, step, pass, shape);
            store(step, pass, shape, kept(words));
            heard |= heard_in_pass(words, VOXELS) << (half * PER_PASS);
            half += 1;
        }
        if lane == 0 {
            GroupMemory::of(shape, warp).store_heard(step[2], warp, heard);
        }
    }
}

/// What is kept of a lane's voxel and channel.
///
/// # Safety
///
/// As [`weigh`].
#[inline(always)]
unsafe fn weigh_pass<R: Reading>(geometry: &Geometry<f32>, step: Step, pass: Pass, shape: Shape) -> Words {
    let Place { lane, .. } = Place::here();
    // SAFETY: the channel is one of the elements'.
    unsafe {
        let of_warp = Memory::of(shape, pass.warp);
        let voxel = lane % VOXELS;
        let voxel = [of_warp.voxels.load(voxel), of_warp.voxels.load(VOXELS + voxel)];
        let channel = step[0] + pass.half * PER_PASS + lane / VOXELS;
        let last = Task::of(&of_warp).channels[1] - 1;
        weigh_channel::<Complex<F16>, R>(geometry, voxel, channel.min(last), (&of_warp, shape), 0)
    }
}

/// Writes it.
///
/// # Safety
///
/// As [`weigh`].
#[inline(always)]
unsafe fn store([_, _, flags, _]: Step, pass: Pass, shape: Shape, kept: [u32; 4]) {
    let place = parity(flags) * shape.weight_plane() + pass.half * WARP + Place::here().lane;
    // SAFETY: a place is one lane's.
    unsafe { GroupMemory::of(shape, pass.warp).weighted.store(place, kept) };
}

/// The delay, and the weight as the rows of a left operand have it: of real and imaginary sample, for the real sum, then for the
/// imaginary one.
#[inline(always)]
fn kept([delay, weight, ..]: Words) -> [u32; 4] {
    let for_real = weight ^ 0x8000_0000;
    [delay, for_real, permute_bytes(weight, 0, 0x1032), 0]
}

/// A voxel's rows of a left operand, for the sample that `mark` stands for.
#[inline(always)]
pub(super) fn rows([delay, for_real, for_imaginary, _]: [u32; 4], mark: f32) -> [u32; 2] {
    let weight = F16Pair::from_f32([cuda_std::math::hat(f32::from_bits(delay) - mark); 2]);
    [for_real, for_imaginary].map(|row| weight.multiply(F16Pair(row)).0)
}
