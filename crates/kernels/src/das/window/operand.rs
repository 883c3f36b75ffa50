//! The left operand of the matrix products: interpolation weights times each voxel's weight, and what the sums mean.
//!
//! | | complex | real |
//! |---|---|---|
//! | an instruction | 8 voxels × 8 samples | 16 voxels × 16 samples |
//! | rows of the left operand | 8 real parts, then 8 imaginary parts | 16 voxels |
//! | reduced dimension | 8 real parts, then 8 imaginary parts | 16 samples, a lane's four of them as its places 2 t, 2 t + 1, 2 t + 8, 2 t + 9 |
//! | a row of samples, 8 bytes a batch item | {re k, re k+1, im k, im k+1} | {k, k+1, k+2, k+3} |
//!
//! The interpolation weights are a `Reading`'s. A window is four rows of samples, and lane t of each group of four has row t.

use super::super::permute_rows::InRows;
use super::super::sample::Value;
use cuda_std::Shared;
use cuda_std::half::{F16, F16Pair};
use num_complex::Complex;
use wavefield::phase::TurnsPerSample;

/// Rows of samples in a window: one for each lane of a group of four.
pub const WINDOW_ROWS: u32 = 4;

/// What a lane keeps of a voxel and a channel: what its [`Reading`](super::reading::Reading) keeps of the delay, and the weight as
/// halves.
pub(super) type Weighted = [u32; 2];

/// A sample type that the windowed kernels take.
pub trait Windowed: InRows<Value: Value<Real = f32>> {
    /// Voxels of a matrix product's left operand.
    const GROUP_VOXELS: u32;

    /// The weight of a sample as halves: its amplitude, turned by the carrier's phase where samples are complex.
    fn halves(amplitude: f32, delay: f32, turns: TurnsPerSample<f32>, offset_turns: f32) -> F16Pair;

    /// The left operand's registers, for a lane whose voxels of the group have these weights, the second 8 after the first where the
    /// group has them; `pair` gives the interpolation weights of the first or the second voxel for two samples of the lane's row,
    /// which begin so many behind its first.
    fn left(weights: [F16Pair; 2], pair: impl Fn(usize, u32) -> F16Pair) -> [u32; 4];

    /// The sum of voxel `group + 8 · part` of the group, of the lane's lower or upper (`column` 0 or 1) batch item.
    fn sum(sums: [f32; 4], part: usize, column: usize) -> Self::Value;
}

/// A lane's voxels of a group, whose first is `voxel`.
///
/// # Safety
///
/// The voxels were written before the warp's last barrier.
#[inline(always)]
pub(super) unsafe fn voxels_of_group<S: Windowed>(weighted: Shared<Weighted>, voxel: u32) -> [Weighted; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        let first = weighted.load(voxel);
        if S::GROUP_VOXELS == 16 {
            [first, weighted.load(voxel + 8)]
        } else {
            [first, [0; 2]]
        }
    }
}

impl Windowed for Complex<F16> {
    const GROUP_VOXELS: u32 = 8;

    #[inline(always)]
    fn halves(amplitude: f32, delay: f32, turns: TurnsPerSample<f32>, offset_turns: f32) -> F16Pair {
        let weight: Complex<f32> = Value::weight(amplitude, delay, turns, offset_turns);
        F16Pair::from_f32([weight.re, weight.im])
    }

    #[inline(always)]
    fn left([weight, _]: [F16Pair; 2], pair: impl Fn(usize, u32) -> F16Pair) -> [u32; 4] {
        let pair = pair(0, 0);
        let cosine = pair.multiply(weight.low_twice());
        let sine = pair.multiply(weight.high_twice());
        // The same number once more: one register in two places of an operand would be copied for every product.
        let again = pair.multiply_add(weight.low_twice(), F16Pair::MINUS_ZERO);
        [cosine.0, sine.0, sine.negate().0, again.0]
    }

    #[inline(always)]
    fn sum(sums: [f32; 4], _part: usize, column: usize) -> Complex<f32> {
        Complex::new(sums[column], sums[2 + column])
    }
}

impl Windowed for F16 {
    const GROUP_VOXELS: u32 = 16;

    #[inline(always)]
    fn halves(amplitude: f32, _delay: f32, _turns: TurnsPerSample<f32>, _offset_turns: f32) -> F16Pair {
        F16Pair::from_f32([amplitude, amplitude])
    }

    #[inline(always)]
    fn left([lower, upper]: [F16Pair; 2], pair: impl Fn(usize, u32) -> F16Pair) -> [u32; 4] {
        [
            pair(0, 0).multiply(lower).0,
            pair(1, 0).multiply(upper).0,
            pair(0, 2).multiply(lower).0,
            pair(1, 2).multiply(upper).0,
        ]
    }

    #[inline(always)]
    fn sum(sums: [f32; 4], part: usize, column: usize) -> f32 {
        sums[2 * part + column]
    }
}
