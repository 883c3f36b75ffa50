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

/// Finds what is kept of a step's channels, if there is such a step and its channels are new.
///
/// # Safety
///
/// All 32 lanes of the warp make this call; the arrays hold the channels; step and voxels were written before the last barrier, behind
/// the last use of the places.
#[inline(always)]
pub(super) unsafe fn weigh<R: Reading>(geometry: &Geometry<f32>, [first, chunk, flags, _]: Step, shape: Shape) {
    const { assert!(CHANNELS == 2 * PER_PASS) };
    if flags & IS_THERE == 0 || chunk > 0 {
        return;
    }
    let Place { lane, warp } = Place::here();
    // SAFETY: the channels are the elements'; each lane has its places.
    unsafe {
        let of_warp = Memory::of(shape, warp);
        let memory = GroupMemory::of(shape, warp);
        let last = Task::of(&of_warp).channels[1] - 1;
        let (voxel, channel) = (lane % VOXELS, first + lane / VOXELS);
        let voxel = [of_warp.voxels.load(voxel), of_warp.voxels.load(VOXELS + voxel)];
        let place = parity(flags) * shape.weight_plane() + lane;
        let weigh = |geometry: &Geometry<f32>, pass: u32| {
            let channel = (channel + pass * PER_PASS).min(last);
            weigh_channel::<Complex<F16>, R>(geometry, voxel, channel, (&of_warp, shape), 0)
        };
        let store = |pass: u32, words: Words| memory.weighted.store(place + pass * WARP, kept(words));
        let mut heard = u32::MAX;
        if geometry.is_directive == 0 {
            let open = Geometry {
                is_directive: 0,
                ..*geometry
            };
            // Without branches between them both are found at once.
            let words = [weigh(&open, 0), weigh(&open, 1)];
            store(0, words[0]);
            store(1, words[1]);
        } else {
            heard = 0;
            let mut pass = 0;
            while pass < 2 {
                let words = weigh(geometry, pass);
                store(pass, words);
                heard |= heard_in_pass(words, VOXELS) << (pass * PER_PASS);
                pass += 1;
            }
        }
        if lane == 0 {
            memory.store_heard(flags, warp, heard);
        }
    }
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
