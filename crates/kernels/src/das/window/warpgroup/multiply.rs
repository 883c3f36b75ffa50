//! The products of a group's pairs of windows.

use super::super::memory::Place;
use super::super::shape::Shape;
use super::memory::{GroupMemory, Step};
use super::weigh::rows;
use cuda_std::warpgroup::{self, Columns};

/// Multiplies and adds a step's pairs, but for those whose channels nobody in the group hears.
///
/// A pair's left operand is made while the product of the one before runs.
///
/// # Safety
///
/// All lanes of the group's warps make this call, behind the barriers of what they read.
#[inline(always)]
pub(super) unsafe fn multiply<const TILES: usize>(
    number: u32,
    [_, _, flags, _]: Step,
    shape: Shape,
    sums: &mut [[f32; 4]; TILES],
) {
    let Place { lane, warp } = Place::here();
    let (voxel, sample) = (lane / 4, (lane % 4) as f32);
    // SAFETY: the caller's promise; what is listed is in range.
    unsafe {
        let memory = GroupMemory::of(shape, warp);
        let heard = memory.heard(flags, warp);
        let pairs = memory.pairs(number);
        let next = |mut pair: u32| {
            if heard != u32::MAX {
                while pair < pairs && memory.listed(number, 2 * pair + 1)[3] & heard == 0 {
                    pair += 1;
                }
            }
            pair
        };
        let operands = |pair: u32| {
            let first = memory.listed(number, 2 * pair);
            let second = memory.listed(number, 2 * pair + 1);
            let left =
                |[mark, place, ..]: [u32; 4]| rows(memory.weighted.load(place + voxel), f32::from_bits(mark) + sample);
            let ([real, imaginary], [real_of_second, imaginary_of_second]) = (left(first), left(second));
            let right = Columns::at(second[2], 2 * shape.rows);
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
