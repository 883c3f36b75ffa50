//! The products of a group's pairs of windows.

use super::super::memory::Place;
use super::super::shape::Shape;
use super::memory::{GroupMemory, Left, Step};
use super::weigh::rows;
use cuda_std::warp;
use cuda_std::warpgroup;

/// Multiplies and adds a step's pairs, but for those whose channels nobody in the group hears.
///
/// A pair's left operand is made while the product of the one before runs. Each product in the machine code has registers of its own
/// for it, which nothing else may use: hence two of them, and no way from one back to itself without a wait.
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
    let (voxel, sample) = (lane / 4, (lane % 4) as f32);
    // SAFETY: the caller's promise; what is listed is in range.
    unsafe {
        let memory = GroupMemory::of(shape, warp);
        let count = memory.pairs(number);
        let mut pairs = (1 << count) - 1;
        if is_directive {
            // A lane looks at a pair.
            let heard = memory.heard(flags, warp);
            let is_heard = lane < count && memory.right(number, lane).1 & heard != 0;
            pairs = warp::ballot(is_heard);
        }
        let weighted = GroupMemory::weighted_of_voxel(shape, warp, voxel);
        let operands = |pair: u32| {
            let [first, second] = memory.lefts(number, pair);
            let left = |[place, mark]: Left| rows(weighted.load(place), f32::from_bits(mark) + sample);
            let ([real, imaginary], [real_of_second, imaginary_of_second]) = (left(first), left(second));
            let (right, _) = memory.right(number, pair);
            ([real, imaginary, real_of_second, imaginary_of_second], right)
        };
        while pairs != 0 {
            let (left, right) = operands(pairs.trailing_zeros());
            warpgroup::wait::<0>();
            warpgroup::begin();
            warpgroup::multiply(left, memory.stages, right, sums);
            warpgroup::commit();
            pairs &= pairs - 1;
            if pairs == 0 {
                break;
            }
            let (left, right) = operands(pairs.trailing_zeros());
            warpgroup::wait::<0>();
            warpgroup::begin();
            warpgroup::multiply(left, memory.stages, right, sums);
            warpgroup::commit();
            pairs &= pairs - 1;
        }
        warpgroup::wait::<0>();
    }
}
