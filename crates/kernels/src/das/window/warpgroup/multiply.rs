//! The products of a group's pairs of windows.

use super::super::memory::Place;
use super::super::shape::Shape;
use super::memory::{GroupMemory, Left, Step};
use super::weigh::rows;
use cuda_std::warp;
use cuda_std::warpgroup;

/// Multiplies and adds a step's pairs, but for those whose channels nobody in the group hears.
///
/// # Safety
///
/// All lanes of the group's warps make this call, behind the barriers of what they read.
#[inline(always)]
pub(super) unsafe fn multiply<const TILES: usize>(
    number: u32,
    [_, _, flags, _]: Step,
    is_directive: bool,
    shape: Shape,
    sums: &mut [[f32; 4]; TILES],
) {
    let Place { lane, warp } = Place::here();
    // SAFETY: the caller's promise.
    unsafe {
        let memory = GroupMemory::of(shape, warp);
        let pairs = memory.pairs(number);
        if !is_directive {
            multiply_pairs(number, pairs, |pair| pair, shape, sums);
        } else {
            // A lane looks at a pair.
            let heard = memory.heard(flags, warp);
            let is_heard = lane < pairs && memory.right(number, lane).1 & heard != 0;
            let are_heard = warp::ballot(is_heard);
            multiply_pairs(
                number,
                pairs,
                |pair| pair + (are_heard >> pair).trailing_zeros(),
                shape,
                sums,
            );
        }
    }
}

/// Multiplies and adds pairs, from that on that `next` finds in the place of each or behind it.
///
/// A pair's left operand is made while the product of the one before runs.
///
/// # Safety
///
/// As [`multiply`].
#[inline(always)]
unsafe fn multiply_pairs<const TILES: usize>(
    number: u32,
    pairs: u32,
    next: impl Fn(u32) -> u32,
    shape: Shape,
    sums: &mut [[f32; 4]; TILES],
) {
    let Place { lane, warp } = Place::here();
    let (voxel, sample) = (lane / 4, (lane % 4) as f32);
    // SAFETY: the caller's promise; what is listed is in range.
    unsafe {
        let memory = GroupMemory::of(shape, warp);
        let weighted = GroupMemory::weighted_of_voxel(shape, warp, voxel);
        let operands = |pair: u32| {
            let [first, second] = memory.lefts(number, pair);
            let left = |[mark, place]: Left| rows(weighted.load(place), f32::from_bits(mark) + sample);
            let ([real, imaginary], [real_of_second, imaginary_of_second]) = (left(first), left(second));
            let (right, _) = memory.right(number, pair);
            ([real, imaginary, real_of_second, imaginary_of_second], right)
        };
        let mut pair = next(0);
        if pair >= pairs {
            return;
        }
        // Two a turn, so that a left operand does not take the registers of the product that runs; and no way from a product back to
        // itself without a wait.
        loop {
            let (left, right) = operands(pair);
            warpgroup::wait::<0>();
            warpgroup::begin();
            warpgroup::multiply(left, memory.stages, right, sums);
            warpgroup::commit();
            pair = next(pair + 1);
            if pair >= pairs {
                break;
            }
            let (left, right) = operands(pair);
            warpgroup::wait::<0>();
            warpgroup::begin();
            warpgroup::multiply(left, memory.stages, right, sums);
            warpgroup::commit();
            pair = next(pair + 1);
            if pair >= pairs {
                break;
            }
        }
        warpgroup::wait::<0>();
    }
}
