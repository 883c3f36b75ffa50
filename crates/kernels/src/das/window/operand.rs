//! The left operand of the matrix products: interpolation weights times each voxel's weight, and what the sums mean.
//!
//! | | complex | real |
//! |---|---|---|
//! | an instruction | 8 voxels × 8 samples | 16 voxels × 16 samples |
//! | rows of the left operand | 8 real parts, then 8 imaginary parts | 16 voxels |
//! | reduced dimension | 8 real parts, then 8 imaginary parts | 16 samples, a lane's four of them as its places 2 t, 2 t + 1, 2 t + 8, 2 t + 9 |
//! | a row of samples, 8 bytes a batch item | {re k, re k+1, im k, im k+1} | {k, k+1, k+2, k+3} |
//!
//! A window is four rows of samples, and lane t of each group of four has row t.

use super::super::permute_rows::InRows;
use super::super::sample::Value;
use cuda_std::Shared;
use cuda_std::half::{F16, F16Pair};
use cuda_std::math::hat;
use num_complex::Complex;

/// Rows of samples in a window: one for each lane of a group of four.
pub const WINDOW_ROWS: u32 = 4;

/// What a lane keeps of a voxel and a channel: the delay's bits, and the weight as halves.
pub(super) type Weighted = [u32; 2];

/// A sample type that the windowed kernels take.
pub trait Windowed: InRows<Value: Value<Real = f32>> {
    /// Voxels of a matrix product's left operand.
    const GROUP_VOXELS: u32;

    /// A weight as halves.
    fn halves(weight: Self::Value) -> F16Pair;

    /// The left operand's registers.
    ///
    /// The group's voxels are in `weighted` from `first` on, their delays less than `window` counted from the window's
    /// first sample; the lane is in group `group` and has place `place` there.
    ///
    /// # Safety
    ///
    /// The voxels were written before the warp's last barrier.
    unsafe fn left(weighted: Shared<Weighted>, first: u32, window: f32, group: u32, place: u32) -> [u32; 4];

    /// The sum of voxel `group + 8 · part` of the group, of the lane's lower or upper (`column` 0 or 1) batch item.
    fn sum(sums: [f32; 4], part: usize, column: usize) -> Self::Value;
}

/// Interpolation weights of the samples `sample` and `sample + 1` behind the first of a lane's row.
#[inline(always)]
fn two_hats(delay: f32, sample: f32) -> F16Pair {
    F16Pair::from_f32([hat(delay - sample), hat(delay - (sample + 1.0))])
}

/// A voxel's delay and weight.
///
/// # Safety
///
/// As [`Windowed::left`].
#[inline(always)]
unsafe fn weighted_voxel(weighted: Shared<Weighted>, index: u32) -> (f32, F16Pair) {
    // SAFETY: the caller's promise.
    let [delay, weight] = unsafe { weighted.load(index) };
    (f32::from_bits(delay), F16Pair(weight))
}

impl Windowed for Complex<F16> {
    const GROUP_VOXELS: u32 = 8;

    #[inline(always)]
    fn halves(weight: Complex<f32>) -> F16Pair {
        F16Pair::from_f32([weight.re, weight.im])
    }

    #[inline(always)]
    unsafe fn left(weighted: Shared<Weighted>, first: u32, window: f32, group: u32, place: u32) -> [u32; 4] {
        // SAFETY: the caller's promise.
        let (delay, weight) = unsafe { weighted_voxel(weighted, first + group) };
        let row = window + (2 * place) as f32;
        let hats = two_hats(delay - row, 0.0);
        let cosine = hats.multiply(weight.low_twice());
        let sine = hats.multiply(weight.high_twice());
        [cosine.0, sine.0, sine.negate().0, cosine.0]
    }

    #[inline(always)]
    fn sum(sums: [f32; 4], _part: usize, column: usize) -> Complex<f32> {
        Complex::new(sums[column], sums[2 + column])
    }
}

impl Windowed for F16 {
    const GROUP_VOXELS: u32 = 16;

    #[inline(always)]
    fn halves(weight: f32) -> F16Pair {
        F16Pair::from_f32([weight, weight])
    }

    #[inline(always)]
    unsafe fn left(weighted: Shared<Weighted>, first: u32, window: f32, group: u32, place: u32) -> [u32; 4] {
        // SAFETY: the caller's promise.
        let (lower, upper) = unsafe {
            (
                weighted_voxel(weighted, first + group),
                weighted_voxel(weighted, first + group + 8),
            )
        };
        let row = window + (4 * place) as f32;
        let hats = |delay: f32, sample: f32| two_hats(delay - row, sample);
        [
            hats(lower.0, 0.0).multiply(lower.1).0,
            hats(upper.0, 0.0).multiply(upper.1).0,
            hats(lower.0, 2.0).multiply(lower.1).0,
            hats(upper.0, 2.0).multiply(upper.1).0,
        ]
    }

    #[inline(always)]
    fn sum(sums: [f32; 4], part: usize, column: usize) -> f32 {
        sums[2 * part + column]
    }
}
