//! Numbers that are two halves: single precision's accuracy at three products.
//!
//! Of the four products of (high + low) weights and (high + low) samples that of the low halves is left out.
//!
//! Only two samples of a window have a weight for a voxel, so the lane that weighs makes the entries of the operand, as pairs of halves:
//! each part of the voxel's weight times the two interpolation weights, high, and what that lost, low. A product finds where a
//! pair lies in its row of samples, k and k + 1, from the distance to the first of the two, and shifts it there by whole halves: by
//! none at distance 0, by one at 1 and −1; elsewhere it is 0.

use super::super::distinct::Split;
use super::super::geometry::Geometry;
use super::memory::Memory;
use super::operand::{Contribution, Operand, Windowed, Words};
use super::reading::TwoSamples;
use super::shape::Shape;
use cuda_std::half::{F16, F16Pair};
use cuda_std::math::permute_bytes;
use cuda_std::matrix::mma_m16n8k16_f16;
use num_complex::Complex;

/// A step of the marks: they count in both nibbles of a byte.
const STEP: u32 = 0x11;

/// The first sample of a pair, as a mark is subtracted from it: distance −1 becomes 1, 0 becomes `0x12`, 1 becomes `0x23`.
const ORIGIN: u32 = STEP + 1;

/// Distances from 2 on; those below −1 are large numbers.
const FAR: u32 = 3 * STEP + 1;

/// The bytes of selectors, two by two, at a distance's place: of the upper byte from the first on, of the lower from the second on.
///
/// A selector of 0x44 is two bytes of 0, of 0x10 the pair's first half, of 0x32 its second.
const SELECTORS: u32 = 0x4410_3244;

/// 1, twice.
const ONE: F16Pair = F16Pair(0x3c00_3c00);

/// The first sample of a pair, ready for [`selector`].
#[inline(always)]
fn origin(first: i32) -> u32 {
    first.cast_unsigned().wrapping_mul(STEP).wrapping_add(ORIGIN)
}

/// How [`permute_bytes`] brings a pair into the row that begins at `mark`.
#[inline(always)]
fn selector(origin: u32, mark: u32) -> u32 {
    permute_bytes(SELECTORS, SELECTORS, origin.wrapping_sub(mark).min(FAR))
}

/// A pair where the selector brings it.
#[inline(always)]
fn placed(pair: u32, selector: u32) -> u32 {
    permute_bytes(pair, 0, selector)
}

/// Two numbers' nearest halves, and those nearest to the rest.
#[inline(always)]
fn split(numbers: [f32; 2]) -> [u32; 2] {
    let high = F16Pair::from_f32(numbers);
    let of_high = F16::pair_to_f32(high.0);
    let low = F16Pair::from_f32([numbers[0] - of_high[0], numbers[1] - of_high[1]]);
    [high.0, low.0]
}

#[inline(always)]
fn times(number: f32, [first, second]: [f32; 2]) -> [f32; 2] {
    [number * first, number * second]
}

/// What is out of range, with the weight 0 and as if the delay were 0.
#[inline(always)]
fn in_range(contribution: Contribution) -> Contribution {
    let or_zero = |number: f32| if contribution.is_in_range { number } else { 0.0 };
    Contribution {
        delay: or_zero(contribution.delay),
        amplitude: or_zero(contribution.amplitude),
        ..contribution
    }
}

/// Of the products, in the order of their magnitudes.
///
/// # Safety
///
/// As [`Operand::multiply_add`].
#[inline(always)]
unsafe fn three_products([high, low]: &[[u32; 4]; 2], right: [[u32; 2]; 2], sums: [f32; 4]) -> [f32; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let sums = mma_m16n8k16_f16(*low, right[0], sums);
        let sums = mma_m16n8k16_f16(*high, right[1], sums);
        mma_m16n8k16_f16(*high, right[0], sums)
    }
}

/// What both have in common.
macro_rules! split {
    () => {
        const PLANES: u32 = 2;
        const WEIGHED_AT_ONCE: usize = 1;
        const NOWHERE: u32 = 1 << 31;

        #[inline(always)]
        fn mark(sample: i32) -> u32 {
            sample.cast_unsigned().wrapping_mul(STEP)
        }

        #[inline(always)]
        fn later(mark: u32, samples: u32) -> u32 {
            mark.wrapping_add(samples.wrapping_mul(STEP))
        }
    };
}

impl Windowed for Split<Complex<F16>> {
    split!();
    type Rows = Complex<F16>;
    const GROUP_VOXELS: u32 = 8;
    const WEIGHT_PLANES: u32 = 3;
    // There are no registers for them.
    const HAS_STEP_SUMS: bool = false;

    #[inline(always)]
    fn sum(sums: [f32; 4], part: usize, column: usize) -> Complex<f32> {
        Complex::<F16>::sum(sums, part, column)
    }
}

impl<R: TwoSamples> Operand<R> for Split<Complex<F16>> {
    /// High and low.
    type Left = [[u32; 4]; 2];

    #[inline(always)]
    unsafe fn weigh(geometry: &Geometry<f32>, contribution: Contribution, _: (&Memory, Shape), _: u32) -> Words {
        let contribution = in_range(contribution);
        let (first, weights) = R::two_samples(contribution.delay);
        let weight: Complex<f32> = contribution.weight(geometry.turns);
        let [cosine, cosine_low] = split(times(weight.re, weights));
        let [sine, sine_low] = split(times(weight.im, weights));
        [origin(first), cosine, sine, cosine_low, sine_low, 0]
    }

    #[inline(always)]
    unsafe fn left([voxel, _]: [Words; 2], _: [u32; 2], mark: u32, _: (&Memory, Shape)) -> [[u32; 4]; 2] {
        let [origin, cosine, sine, cosine_low, sine_low, _] = voxel;
        let selector = selector(origin, mark);
        let registers = |cosine: u32, sine: u32| {
            let (cosine, sine) = (placed(cosine, selector), F16Pair(placed(sine, selector)));
            // The same number once more: one register in two places of an operand would be copied for every product.
            [cosine, sine.0, sine.negate().0, F16Pair(cosine).multiply(ONE).0]
        };
        [registers(cosine, sine), registers(cosine_low, sine_low)]
    }

    #[inline(always)]
    unsafe fn multiply_add(left: &[[u32; 4]; 2], right: [[u32; 2]; 2], sums: [f32; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        let products = unsafe { three_products(left, right, [0.0; 4]) };
        [
            sums[0] + products[0],
            sums[1] + products[1],
            sums[2] + products[2],
            sums[3] + products[3],
        ]
    }
}

impl Windowed for Split<F16> {
    split!();
    type Rows = F16;
    const GROUP_VOXELS: u32 = 16;
    const WEIGHT_PLANES: u32 = 2;
    const HAS_STEP_SUMS: bool = true;

    #[inline(always)]
    fn sum(sums: [f32; 4], part: usize, column: usize) -> f32 {
        F16::sum(sums, part, column)
    }
}

impl<R: TwoSamples> Operand<R> for Split<F16> {
    /// High and low.
    type Left = [[u32; 4]; 2];

    #[inline(always)]
    unsafe fn weigh(_: &Geometry<f32>, contribution: Contribution, _: (&Memory, Shape), _: u32) -> Words {
        let contribution = in_range(contribution);
        let (first, weights) = R::two_samples(contribution.delay);
        let [high, low] = split(times(contribution.amplitude, weights));
        [origin(first), high, low, 0, 0, 0]
    }

    #[inline(always)]
    unsafe fn left([lower, upper]: [Words; 2], _: [u32; 2], mark: u32, _: (&Memory, Shape)) -> [[u32; 4]; 2] {
        let selectors = |voxel: Words| [selector(voxel[0], mark), selector(voxel[0], Self::later(mark, 2))];
        let (of_lower, of_upper) = (selectors(lower), selectors(upper));
        let registers = |plane: usize| {
            [
                placed(lower[plane], of_lower[0]),
                placed(upper[plane], of_upper[0]),
                placed(lower[plane], of_lower[1]),
                placed(upper[plane], of_upper[1]),
            ]
        };
        [registers(1), registers(2)]
    }

    #[inline(always)]
    unsafe fn multiply_add(left: &[[u32; 4]; 2], right: [[u32; 2]; 2], sums: [f32; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { three_products(left, right, sums) }
    }
}
